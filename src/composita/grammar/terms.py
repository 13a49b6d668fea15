r"""Terms: meanings in the simply typed lambda calculus, made of words, variables, application and abstraction.

>>> passive = parse_term(r"\x. chase-v(x)(dog-n)")          # chased by dogs
>>> print(reduce(App(passive, Const("cat-n"))))
chase-v(cat-n)(dog-n)

Reducing renames variables where they would be caught, and ends in the same term by whatever way:

>>> print(reduce(parse_term(r"(\x y. x)(y)")))
λy1. y
>>> same(reduce(parse_term(r"(\x. x)(\y. f(y))")), parse_term(r"\z. f(z)"))
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from composita.counting.words import split_label
from composita.grammar.operations import OPERATIONS
from composita.grammar.signs import Reader, Sign, read_signs
from composita.grammar.types import Type
from composita.store.errors import UsageError

MOST_STEPS = 10_000
MOST_NODES = 20_000
DEEPEST = 100


@dataclass(frozen=True)
class Var:
    """A variable: bound by an abstraction, or free."""

    name: str

    @cached_property
    def free(self) -> frozenset[str]:
        """The free variables of the term."""
        return frozenset((self.name,))

    @property
    def size(self) -> int:
        """How many nodes the term has."""
        return 1

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Const:
    """A named constant: a word such as ``chase-v``, or an operation such as ``and``.

    The type tells the uses of a word apart: *chase* with and without an object.
    """

    name: str
    type: Type | None = None

    free: frozenset[str] = field(default=frozenset(), init=False, repr=False, compare=False)

    @property
    def size(self) -> int:
        """How many nodes the term has."""
        return 1

    @property
    def is_word(self) -> bool:
        """Whether it is a word, of a lexicon."""
        return split_label(self.name) is not None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Lam:
    """An abstraction: the function that takes a variable to a body."""

    name: str
    body: Term

    @cached_property
    def free(self) -> frozenset[str]:
        """The free variables of the term."""
        return self.body.free - {self.name}

    @cached_property
    def size(self) -> int:
        """How many nodes the term has."""
        return 1 + self.body.size

    def __str__(self) -> str:
        names, body = [self.name], self.body
        while isinstance(body, Lam):
            names.append(body.name)
            body = body.body
        return f"λ{' '.join(names)}. {body}"


@dataclass(frozen=True)
class App:
    """An application of a function to one argument."""

    function: Term
    argument: Term

    @cached_property
    def free(self) -> frozenset[str]:
        """The free variables of the term."""
        return self.function.free | self.argument.free

    @cached_property
    def size(self) -> int:
        """How many nodes the term has."""
        return 1 + self.function.size + self.argument.size

    def __str__(self) -> str:
        function = f"({self.function})" if isinstance(self.function, Lam) else str(self.function)
        return f"{function}({self.argument})"


Term: TypeAlias = Var | Const | Lam | App


def apply(function: Term, *arguments: Term) -> Term:
    """Apply a term to arguments, one after the other.

    >>> print(apply(Const("chase-v"), Const("cat-n"), Const("dog-n")))
    chase-v(cat-n)(dog-n)
    """
    for argument in arguments:
        function = App(function, argument)
    return function


def spine(term: Term) -> tuple[Term, tuple[Term, ...]]:
    """Take applications apart: what is applied in the end, and its arguments in order.

    >>> head, arguments = spine(parse_term("chase-v(cat-n)(dog-n)"))
    >>> print(head, *arguments)
    chase-v cat-n dog-n
    """
    arguments = []
    while isinstance(term, App):
        arguments.append(term.argument)
        term = term.function
    return term, tuple(reversed(arguments))


def constants(term: Term) -> Iterator[Const]:
    """Go through the constants, from left to right."""
    if isinstance(term, Const):
        yield term
    elif isinstance(term, Lam):
        yield from constants(term.body)
    elif isinstance(term, App):
        yield from constants(term.function)
        yield from constants(term.argument)


# ---------------------------------------------------------------- substitution and reduction


def substitute(term: Term, values: Mapping[str, Term]) -> Term:
    """Put terms in the place of free variables, all at once; bound variables that would catch others are renamed."""
    if not any(name in term.free for name in values):
        return term
    if isinstance(term, Var):
        return values.get(term.name, term)
    if isinstance(term, App):
        return App(substitute(term.function, values), substitute(term.argument, values))
    if isinstance(term, Const):
        return term
    inside = {name: value for name, value in values.items() if name in term.free}
    caught = frozenset[str]().union(*(value.free for value in inside.values()))
    if term.name in caught:
        fresh = _fresh(term.name, caught | term.body.free)
        return Lam(fresh, substitute(term.body, inside | {term.name: Var(fresh)}))
    return Lam(term.name, substitute(term.body, inside))


def _fresh(name: str, taken: frozenset[str]) -> str:
    stem, number = name.rstrip("0123456789") or name, 1
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"


def reduce(term: Term) -> Term:
    """Apply all functions to their arguments: the beta-normal form, the same whatever is applied first."""
    try:
        return _Reduction().normal(term)
    except RecursionError:
        raise UsageError("a meaning is nested too deeply to be worked out: use a shorter sentence") from None


class _Reduction:
    """Reduction from the outside in, with a bound on the steps: terms without types may have no normal form."""

    def __init__(self) -> None:
        self.steps = 0

    def normal(self, term: Term) -> Term:
        """Reduce until nothing is left to apply."""
        term = self.head(term)
        if isinstance(term, Lam):
            body = self.normal(term.body)
            return term if body is term.body else Lam(term.name, body)
        if isinstance(term, App):
            function, argument = self.normal(term.function), self.normal(term.argument)
            kept = function is term.function and argument is term.argument
            return joined(term if kept else App(function, argument))
        return term

    def head(self, term: Term) -> Term:
        """Reduce until it is clear whether there is a function to apply."""
        while isinstance(term, App):
            function = self.head(term.function)
            if not isinstance(function, Lam):
                return term if function is term.function else App(function, term.argument)
            term = self.contract(function, term.argument)
        return term

    def contract(self, function: Lam, argument: Term) -> Term:
        self.steps += 1
        result = substitute(function.body, {function.name: argument})
        if self.steps > MOST_STEPS or result.size > MOST_NODES:
            raise UsageError(
                f"a meaning grows too large: expected at most {MOST_STEPS:,} steps and {MOST_NODES:,} parts; "
                "use a shorter sentence"
            )
        return result


def joined(term: Term) -> Term:
    """Join a verb and its preposition or particle into one word: ``join(live-v)(in)`` is ``live_in-v``."""
    head, arguments = spine(term)
    if not isinstance(head, Const) or head.name != "join" or len(arguments) != 2:
        return term
    verb, word = arguments
    parts = split_label(verb.name) if isinstance(verb, Const) else None
    if parts is None or not isinstance(verb, Const) or not isinstance(word, Const):
        return term
    return replace(verb, name=f"{parts[0]}_{word.name}-{parts[1]}")


def same(one: Term, other: Term, names: Mapping[str, str] | None = None) -> bool:
    """Say whether two terms are equal but for the names of bound variables."""
    names = names or {}
    if isinstance(one, Var) and isinstance(other, Var):
        bound = one.name in names or other.name in names.values()
        return names.get(one.name) == other.name if bound else one.name == other.name
    if isinstance(one, Lam) and isinstance(other, Lam):
        kept = {mine: theirs for mine, theirs in names.items() if theirs != other.name}
        return same(one.body, other.body, kept | {one.name: other.name})
    if isinstance(one, App) and isinstance(other, App):
        return same(one.function, other.function, names) and same(one.argument, other.argument, names)
    return one == other


# ---------------------------------------------------------------- reading


def parse_term(text: str) -> Term:
    r"""Read a term: ``chase-v(x)(dog-n)`` or ``chase-v(x, dog-n)``, ``\x. bark-v(x)``.

    Names with the letter of a word class behind a hyphen are words; others are variables, but for the operations.
    """
    reader = Reader(read_signs(text, 1), f"term {text!r}")
    term = read_term(reader)
    reader.expect_end()
    return term


class Scope:
    """What names mean where a term is read; by itself it takes them for words and variables."""

    def name(self, sign: Sign, reader: Reader) -> Term:
        """Give what a name that is not bound stands for."""
        known = sign.text in OPERATIONS or split_label(sign.text) is not None
        return Const(sign.text) if known else Var(sign.text)


def read_term(reader: Reader, scope: Scope | None = None, bound: frozenset[str] = frozenset(), depth: int = 0) -> Term:
    """Read a term from signs."""
    scope = scope or Scope()
    if depth > DEEPEST:
        raise reader.error(f"expected a meaning of at most {DEEPEST} levels", reader.next)
    if reader.next.kind == "lambda":
        return _read_abstraction(reader, scope, bound, depth)
    if reader.takes("("):
        term = read_term(reader, scope, bound, depth + 1)
        reader.expect("a closing parenthesis", text=")")
    else:
        sign = reader.expect("a meaning such as VP(NP)", kind="name")
        term = Var(sign.text) if sign.text in bound else scope.name(sign, reader)
    while reader.takes("("):
        term = App(term, read_term(reader, scope, bound, depth + 1))
        while reader.takes(","):
            term = App(term, read_term(reader, scope, bound, depth + 1))
        reader.expect("a closing parenthesis", text=")")
    return term


def _read_abstraction(reader: Reader, scope: Scope, bound: frozenset[str], depth: int) -> Term:
    reader.take()
    names = [reader.expect("a variable such as x", kind="name").text]
    while reader.next.kind == "name":
        names.append(reader.take().text)
    reader.expect("a full stop behind the variable", text=".")
    body = read_term(reader, scope, bound | frozenset(names), depth + 1)
    for name in reversed(names):
        body = Lam(name, body)
    return body
