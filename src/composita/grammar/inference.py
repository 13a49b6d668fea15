"""Type inference: the types of all categories, found by unification over the rules.

Every category has one type. A rule ``S -> NP VP : VP(NP)`` says that VP takes what NP is to what S is; rules together
leave few types free, and these are the basic ones.

>>> from composita.grammar.reading import read_grammar
>>> typing = infer(read_grammar('''
... S -> NP VP : VP(NP)
... NP -> N : N
... VP -> Vt NP : Vt(NP)
... '''))
>>> print(typing.categories["Vt"], typing.categories["VP"], typing.basic)
N -> N -> S N -> S ('S', 'N')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from composita.counting.words import suggest
from composita.grammar.operations import OPERATIONS
from composita.grammar.reading import Text, covered
from composita.grammar.rules import Category, Rule
from composita.grammar.terms import App, Const, Lam, Term, Var
from composita.grammar.types import WORD, Arrow, Basic, Open, Type, arity, axes_of, open_in
from composita.store.errors import InputError


@dataclass(frozen=True)
class Typing:
    """What inference found.

    Parameters
    ----------
    categories
        The type of each category.
    basic
        The basic types, that of the start first.
    meanings
        The meaning of each rule, its constants with their types.

    """

    categories: Mapping[str, Type]
    basic: tuple[str, ...]
    meanings: tuple[Term, ...]


class ClashError(Exception):
    """Two types that cannot be made equal."""


class Unifier:
    """Equations between types, solved one by one."""

    def __init__(self) -> None:
        self.known: dict[int, Type] = {}
        self.made = 0

    def fresh(self) -> Open:
        """Make a type that nothing is known of."""
        self.made += 1
        return Open(self.made - 1)

    def find(self, kind: Type) -> Type:
        """Follow what is known of an open type, at the top only."""
        while isinstance(kind, Open) and kind.number in self.known:
            kind = self.known[kind.number]
        return kind

    def resolve(self, kind: Type) -> Type:
        """Put in all that is known."""
        kind = self.find(kind)
        if isinstance(kind, Arrow):
            return Arrow(self.resolve(kind.argument), self.resolve(kind.result))
        return kind

    def unify(self, one: Type, other: Type) -> None:
        """Make two types equal, or raise `ClashError`."""
        one, other = self.find(one), self.find(other)
        if one == other:
            return
        if isinstance(one, Open):
            if any(inside == one for inside in open_in(self.resolve(other))):
                raise ClashError
            self.known[one.number] = other
        elif isinstance(other, Open):
            self.unify(other, one)
        elif isinstance(one, Arrow) and isinstance(other, Arrow):
            self.unify(one.argument, other.argument)
            self.unify(one.result, other.result)
        else:
            raise ClashError

    def can(self, one: Type, other: Type) -> bool:
        """Say whether two types could be made equal; nothing changes."""
        before = dict(self.known)
        try:
            self.unify(one, other)
        except ClashError:
            return False
        finally:
            self.known = before
        return True


def infer(text: Text, source: str | None = None) -> Typing:
    """Find the types of the categories of a grammar, or say where they clash or stay open."""
    inference = _Inference(text, source)
    inference.declare()
    meanings = [inference.rule(rule) for rule in text.rules]
    inference.close()
    return Typing(
        {name: inference.unifier.resolve(kind) for name, kind in inference.categories.items()},
        tuple(inference.basic),
        tuple(inference.with_types(meaning) for meaning in meanings),
    )


class _Inference:
    def __init__(self, text: Text, source: str | None) -> None:
        self.text, self.source = text, source
        self.unifier = Unifier()
        self.categories: dict[str, Type] = {}
        for rule in text.rules:
            for name in (rule.left, *(s.name for s in rule.right if isinstance(s, Category))):
                if name not in self.categories:
                    self.categories[name] = self.unifier.fresh()
        self.basic: list[str] = list(text.basic)
        self.settled: dict[str, int] = {}  # the line that first said something of a category's type
        self.vectors: list[tuple[Rule, str, Type]] = []

    # ------------------------------------------------------------ what is given

    def declare(self) -> None:
        """Take over what the text declares."""
        for name, (kind, line) in self.text.types.items():
            known = set(self.text.basic)
            if known:
                self._check_names(kind, known, line)
            for category in covered(name, self.categories):
                self.unifier.unify(self.categories[category], kind)
                self.settled[category] = line
        for name in self.text.basic:
            for category in covered(name, self.categories):
                if not self.unifier.can(self.categories[category], Basic(name)):
                    kind = self.unifier.resolve(self.categories[category])
                    raise self._error(f"{category} is declared both basic and {kind}: drop one of the two")
                self.unifier.unify(self.categories[category], Basic(name))

    def _check_names(self, kind: Type, known: set[str], line: int) -> None:
        if isinstance(kind, Arrow):
            self._check_names(kind.argument, known, line)
            self._check_names(kind.result, known, line)
        elif str(kind) not in known:
            raise self._error(f"{kind} is no basic type of the grammar{suggest(str(kind), known)}", line)

    # ------------------------------------------------------------ rules

    def rule(self, rule: Rule) -> Term:
        """Learn from a rule, and give its meaning, constants with their (perhaps still open) types."""
        if rule.is_lexical:
            return rule.meaning
        before = {name: self.unifier.resolve(kind) for name, kind in self.categories.items()}
        scope = {
            name: self.categories[symbol.name]
            for name, symbol in zip(rule.names, rule.right, strict=True)
            if isinstance(symbol, Category)
        }
        kind, meaning = self.term(rule, rule.meaning, scope)
        try:
            self.unifier.unify(self.categories[rule.left], kind)
        except ClashError:
            raise self._clash_of_sides(rule, kind) from None
        for name, old in before.items():
            if isinstance(old, Open) and not isinstance(self.unifier.find(self.categories[name]), Open):
                self.settled.setdefault(name, rule.line)
        return meaning

    def term(self, rule: Rule, term: Term, scope: Mapping[str, Type]) -> tuple[Type, Term]:
        """Find the type of a term."""
        if isinstance(term, Var):
            return scope[term.name], term
        if isinstance(term, Const):
            return self._constant(rule, term)
        if isinstance(term, Lam):
            variable = self.unifier.fresh()
            kind, body = self.term(rule, term.body, {**scope, term.name: variable})
            return Arrow(variable, kind), Lam(term.name, body)
        function, of = self.term(rule, term.function, scope)
        argument, what = self.term(rule, term.argument, scope)
        result = self.unifier.fresh()
        if not self.unifier.can(function, Arrow(argument, result)):
            raise self._clash(rule, term, function, argument)
        self.unifier.unify(function, Arrow(argument, result))
        return result, App(of, what)

    def _constant(self, rule: Rule, term: Const) -> tuple[Type, Term]:
        if term.type is not None:
            return term.type, term
        if term.name not in OPERATIONS:
            kind: Type = self.unifier.fresh()
            return kind, Const(term.name, kind)
        operation = OPERATIONS[term.name]
        fresh: dict[int, Open] = {}

        def renewed(kind: Type) -> Type:
            if isinstance(kind, Arrow):
                return Arrow(renewed(kind.argument), renewed(kind.result))
            if isinstance(kind, Open):
                return fresh.setdefault(kind.number, self.unifier.fresh())
            return kind

        kind = renewed(operation.type)
        if operation.vectors:
            self.vectors += [(rule, term.name, variable) for variable in fresh.values()]
        return kind, Const(term.name, kind)

    # ------------------------------------------------------------ what stays open

    def close(self) -> None:
        """Let open types that are a category's be basic, and complain of what is still open."""
        if not self.text.basic:
            self._name_basic()
        else:
            self._check_open()
        for name, kind in self.categories.items():
            found = self.unifier.resolve(kind)
            if any(open_in(found)):
                line = next((r.line for r in self.text.rules if name in (r.left, *map(str, r.right))), None)
                raise self._error(
                    f"the type of {name} stays open: {self._shown(found)}; "
                    f"declare it above, as in: type {name} : {_example(found, self.basic)}",
                    line,
                )
            if isinstance(found, Arrow) and str(WORD) in axes_of(found):
                raise self._error(
                    f"{name} : {self._shown(found)} is applied to a function word without a meaning of its own; "
                    "only join(V, P) takes one"
                )
        for rule, name, kind in self.vectors:
            found = self.unifier.resolve(kind)
            if isinstance(found, Arrow):
                raise self._error(
                    f"in {rule}: {name!r} joins vectors, and {found} is a type of functions; "
                    rf"apply them first, as in \x. {name}(F(x), G(x))",
                    rule.line,
                )

    def _name_basic(self) -> None:
        """Name the open types of categories: after the start, or else after a category that is made of words."""
        made = {rule.left for rule in self.text.rules if not rule.is_lexical}
        start = self.text.start or [self.text.rules[0].left]
        ranked = [start[0], *(c for c in self.categories if c not in made), *self.categories]
        for category in ranked:
            kind = self.unifier.find(self.categories[category])
            if isinstance(kind, Open):
                name = category.partition("[")[0]
                self.unifier.unify(kind, Basic(name))
                if name not in self.basic:
                    self.basic.append(name)

    def _check_open(self) -> None:
        still = [name for name, kind in self.categories.items() if any(open_in(self.unifier.resolve(kind)))]
        if still:
            shown = ", ".join(f"{name} : {self._shown(self.unifier.resolve(self.categories[name]))}" for name in still)
            raise self._error(
                f"types stay open: {shown}; the basic types are {', '.join(self.basic)}: add one, or declare a type, "
                f"as in: type {still[0]} : {self.basic[0]}"
            )

    def with_types(self, term: Term) -> Term:
        """Write into the constants of a meaning what was found."""
        if isinstance(term, Const):
            return term if term.type is None else Const(term.name, self.unifier.resolve(term.type))
        if isinstance(term, Lam):
            return Lam(term.name, self.with_types(term.body))
        if isinstance(term, App):
            return App(self.with_types(term.function), self.with_types(term.argument))
        return term

    # ------------------------------------------------------------ errors

    def _shown(self, kind: Type) -> str:
        """Write a type, calling open ones after the categories that have them, or else a, b, c."""
        names: dict[int, str] = {}
        for category, own in self.categories.items():
            found = self.unifier.find(own)
            if isinstance(found, Open):
                names.setdefault(found.number, category)
        letters = iter("abcdefghijklmnopqrstuvw" * 50)

        def renamed(part: Type) -> Type:
            if isinstance(part, Arrow):
                return Arrow(renamed(part.argument), renamed(part.result))
            if isinstance(part, Open):
                if part.number not in names:
                    names[part.number] = next(letters)
                return Basic(names[part.number])
            return part

        return str(renamed(self.unifier.resolve(kind)))

    def _clash(self, rule: Rule, term: App, function: Type, argument: Type) -> InputError:
        f, a = term.function, term.argument
        said = f"in {rule}: cannot apply {f} : {self._shown(function)} to {a} : {self._shown(argument)}"
        if self.unifier.resolve(argument) == WORD:
            return self._error(f"{said}; {a} is a function word without a meaning of its own", rule.line)
        if self.unifier.can(argument, Arrow(function, self.unifier.fresh())):
            return self._error(f"{said}; did you mean {a}({f})?", rule.line)
        if isinstance(self.unifier.find(function), Open):
            return self._error(f"{said}; nothing can be applied to itself", rule.line)
        return self._error(f"{said}{self._origins(rule, (f, a))}", rule.line)

    def _clash_of_sides(self, rule: Rule, kind: Type) -> InputError:
        left = self.categories[rule.left]
        said = f"in {rule}: the meaning is of type {self._shown(kind)}, but {rule.left} of {self._shown(left)}"
        here, there = arity(self.unifier.resolve(kind)), arity(self.unifier.resolve(left))
        hint = ""
        if WORD in (self.unifier.resolve(kind), self.unifier.resolve(left)):
            hint = "; words alone have no meaning: give them one, as in : dog-n"
        elif here > there:
            hint = "; an argument seems to be missing in the meaning"
        elif here < there:
            hint = "; an argument too many seems to be in the meaning"
        return self._error(f"{said}{self._origins(rule, (Var(rule.left),))}{hint}", rule.line)

    def _origins(self, rule: Rule, terms: Iterable[Term]) -> str:
        """Say which lines fixed the types of the categories that clash."""
        named = {term.name for term in terms if isinstance(term, Var)}
        symbols = {name: s.name for name, s in zip(rule.names, rule.right, strict=True) if isinstance(s, Category)}
        found = []
        for name in sorted(named):
            category = symbols.get(name, name)
            if (line := self.settled.get(category)) is not None and line != rule.line:
                found.append(f"line {line} made {category} {self._shown(self.categories[category])}")
        return f"; {' and '.join(found)}" if found else ""

    def _error(self, reason: str, line: int | None = None) -> InputError:
        return InputError(reason, source=self.source or "grammar", line=line)


def _example(kind: Type, basic: list[str]) -> str:
    """Write a type with a basic one for whatever is open in it."""

    def filled(part: Type) -> Type:
        if isinstance(part, Arrow):
            return Arrow(filled(part.argument), filled(part.result))
        return Basic(basic[0] if basic else "N") if isinstance(part, Open) else part

    return str(filled(kind))
