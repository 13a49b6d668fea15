r"""Grammar: rules for syntax and meaning side by side, as linguists write them on the board.

>>> grammar = Grammar.parse('''
... S  -> NP VP  : VP(NP)
... NP -> ADJ NP : ADJ(NP)
... NP -> N      : N
... VP -> Vt NP  : Vt(NP)
... ''')
>>> print(grammar.types())
category  type         space
S         S            S
NP        N            N
VP        N -> S       S⊗N
ADJ       N -> N       N⊗N      words
N         N            N        words
Vt        N -> N -> S  S⊗N⊗N    words
>>> grammar.types()["VP"]
Arrow(argument=Basic(name='N'), result=Basic(name='S'))
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from math import exp
from pathlib import Path
from typing import Any

from composita.counting.words import suggest
from composita.grammar import parsing
from composita.grammar.derivation import Derivation, Tree
from composita.grammar.forms import Forms
from composita.grammar.inference import Typing, infer
from composita.grammar.reading import Text, check_rules, read_grammar, starts
from composita.grammar.rules import Category, Refusal, Rule, WordClass
from composita.grammar.terms import Const, Term, reduce, substitute
from composita.grammar.types import WORD, Type, shape_of, space_of
from composita.store.errors import InputError, UsageError

MOST_CHARACTERS = 1_000_000
SHOWN = 4
KNOWN = 100_000
"""Of so many words it is kept whether they are refused."""


@dataclass(frozen=True)
class Entry:
    """The type of a category, the space of its tensors, and whether it is of words."""

    category: str
    type: Type
    space: str
    shape: tuple[int, ...] | None
    lexical: bool
    words: str = ""


class Types(Mapping[str, Type]):
    """The types of the categories of a grammar; as text, the table of the paper."""

    def __init__(self, entries: Sequence[Entry], basic: tuple[str, ...]) -> None:
        self.entries = tuple(entries)
        self.basic = basic
        self._types = {entry.category: entry.type for entry in entries}

    def __getitem__(self, category: str) -> Type:
        if category not in self._types:
            raise KeyError(f"no category {category!r}{suggest(category, self._types)}")
        return self._types[category]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def rows(self) -> list[list[str]]:
        """Give the table, its heads first: category, type, space, shape where dimensions are known, words."""
        shaped = any(entry.shape for entry in self.entries)
        rows = [["category", "type", "space", *(["shape"] if shaped else []), ""]]
        for e in self.entries:
            shape = " × ".join(map(str, e.shape or ()))
            rows.append([e.category, str(e.type), e.space, *([shape] if shaped else []), e.words])
        return rows

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )

    def __repr__(self) -> str:
        return f"Types({', '.join(f'{entry.category}: {entry.type}' for entry in self.entries)})"


class Grammar:
    """A typed grammar: from a sentence to its derivations, and from these to meanings.

    >>> grammar = Grammar.load("paper")
    >>> grammar
    Grammar(paper, 9 rules, basic types S, N)
    >>> words = {"dogs": "dog-n", "chase": "chase-v", "cats": "cat-n"}
    >>> grammar.derivations("Dogs chase cats.", words)
    [Derivation('dogs chase cats': chase-v(cat-n)(dog-n))]
    """

    def __init__(self, text: Text, name: str = "grammar") -> None:
        check_rules(text, name)
        self._text = text
        self.name = name
        self.typing: Typing = infer(text, name)
        self._refused: dict[str, Refusal | None] = {}

    # ------------------------------------------------------------ making

    @classmethod
    def parse(cls, text: str, name: str = "grammar") -> Grammar:
        """Read the text of a grammar."""
        return cls(read_grammar(text, name), name)

    @classmethod
    def load(cls, name: str | os.PathLike[str]) -> Grammar:
        """Read a built-in grammar, ``paper``, ``english`` or ``german``, or a file."""
        if isinstance(name, str) and name in built_in():
            text = files(__package__).joinpath(f"grammars/{name}.grammar").read_text(encoding="utf-8")
            return cls.parse(text, name)
        path = Path(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            near = suggest(str(name), built_in())
            raise UsageError(
                f"no grammar {str(name)!r}{near or ': choose ' + ', '.join(built_in()) + ', or a file that is there'}"
            ) from None
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        if len(data) > MOST_CHARACTERS:
            raise InputError(f"expected a grammar of at most {MOST_CHARACTERS:,} bytes, got {len(data):,}", source=path)
        try:
            return cls.parse(data.decode("utf-8-sig"), str(path))
        except UnicodeDecodeError as error:
            raise InputError(f"expected UTF-8, found the byte {error.object[error.start]:#04x}", source=path) from None

    # ------------------------------------------------------------ looking

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, one for each value of their features."""
        return tuple(self._text.rules)

    @cached_property
    def rule_texts(self) -> list[str]:
        """The rules as they are written."""
        return [str(rule) for rule in self.rules]

    @property
    def start(self) -> tuple[str, ...]:
        """The categories in which derivations end; the first that fits is taken."""
        return starts(self._text.start or [self._text.rules[0].left], list(self.typing.categories))

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The words and constructions that are not taken, and why."""
        return tuple(self._text.refusals)

    def refusal(self, form: str) -> Refusal | None:
        """Find the refusal that covers a lower-cased word; None where it is taken."""
        if form not in self._refused:
            if len(self._refused) >= KNOWN:
                self._refused.clear()
            self._refused[form] = next((refusal for refusal in self.refusals if refusal.covers(form)), None)
        return self._refused[form]

    @property
    def basic(self) -> tuple[str, ...]:
        """The basic types."""
        return self.typing.basic

    def __repr__(self) -> str:
        return f"Grammar({self.name}, {len(self.rules)} rules, basic types {', '.join(self.basic)})"

    def types(self, dimensions: Mapping[str, int] | None = None) -> Types:
        """Give the type of each category, the space of its tensors, and with dimensions of the basic types the shapes.

        Parameters
        ----------
        dimensions
            For each basic type the dimension of its space, such as ``{"N": 300, "S": 100}``.

        """
        for name in dimensions or {}:
            if name not in self.basic:
                raise UsageError(f"{name!r} is no basic type of the grammar: expected {', '.join(self.basic)}")
        named = {name: self._collapsed(name) for name in self.typing.categories}
        classes: dict[str, list[str]] = {}
        for rule in self.rules:
            if rule.is_lexical:
                classes.setdefault(named[rule.left], []).append(str(rule.right[0]))
        made = {rule.left for rule in self.rules}
        entries: dict[str, Entry] = {}
        for category, kind in self.typing.categories.items():
            name = named[category]
            lexical = name in classes or category not in made
            if kind == WORD:
                forms = [" ".join(map(str, rule.right)) for rule in self.rules if named[rule.left] == name]
                shown = ", ".join(forms[:SHOWN]) + (", ..." if len(forms) > SHOWN else "")
                entries.setdefault(name, Entry(name, kind, "-", None, lexical=False, words=shown))
                continue
            shape = None if dimensions is None else shape_of(kind, dimensions)
            words = " ".join(classes.get(name, ["words"] if lexical else []))
            entries.setdefault(name, Entry(name, kind, space_of(kind), shape, lexical, words))
        return Types(list(entries.values()), self.basic)

    def _collapsed(self, category: str) -> str:
        """Write one name for a category with any of its features, if all are of one type: ``VP[f]``."""
        base, bracket, value = category.partition("[")
        for feature, values in self._text.features.items():
            if bracket and value.rstrip("]") in values:
                kinds = {self.typing.categories.get(f"{base}[{other}]") for other in values} - {None}
                return f"{base}[{feature}]" if len(kinds) == 1 else category
        return category

    # ------------------------------------------------------------ deriving

    @cached_property
    def _compiled(self) -> parsing.Compiled:
        return parsing.Compiled(self.rules, self.refusals)

    def derivations(
        self,
        sentence: str | Sequence[str],
        forms: Any = None,  # noqa: ANN401 - a table, words, or Forms
        *,
        start: str | None = None,
        most: int = parsing.MOST_DERIVATIONS,
        known: Callable[[Const], bool] | None = None,
    ) -> list[Derivation]:
        """Find the derivations of a sentence, the likeliest first.

        Parameters
        ----------
        sentence
            The sentence, or its words.
        forms
            What words can be: `Counts.forms`, `Forms`, a dictionary such as ``{"dogs": "dog-n"}``, or words such as
            ``dog-n``, which are then known by their lemmas. None for grammars that name their words themselves.
        start
            The category to be derived; by default the first of those that the grammar starts with that fits.
        most
            How many derivations to give at most.
        known
            Whether there is a vector or function for a word of some type, such as ``live_in-v : N -> N -> S``.
            Derivations with fewer unknown words come first, but for those a hundred times less likely than the best.

        """
        written = parsing.split_words(sentence) if isinstance(sentence, str) else list(sentence)
        words = [word.lower() for word in written]
        wanted = self.start if start is None else starts([start], list(self.typing.categories))
        if most < 1:
            raise UsageError(f"expected at least 1 derivation, got most={most}")
        try:
            found = parsing.parse(self._compiled, written, Forms.of(forms), wanted, most)
            write = _Writer(self, words)
            derivations = [
                Derivation(tuple(words), write.tree(made), exp(-made.cost.words / parsing.SCALE))
                for made in found.derivations
            ]
        except RecursionError:
            raise UsageError(f"{parsing.shorten(words)!r} is nested too deeply: use a shorter sentence") from None
        if known is None:
            return derivations
        sure = {word: known(word) for d in derivations for word in d.constants if word.is_word}
        best = max(d.likelihood for d in derivations)

        def doubt(derivation: Derivation) -> tuple[bool, int]:
            far_fetched = derivation.likelihood * parsing.RARELY < best
            return far_fetched, sum(not sure[word] for word in set(derivation.constants) if word.is_word)

        return sorted(derivations, key=doubt)


class _Writer:
    """Derivations written out, with the meaning of each part; parts that several have in common are written once."""

    def __init__(self, grammar: Grammar, words: Sequence[str]) -> None:
        self.grammar, self.words = grammar, words
        self.done: dict[int, Tree] = {}

    def tree(self, made: parsing.Made) -> Tree:
        """Write out what a part is made of."""
        if id(made) not in self.done:  # all parts are held by their derivations, so no number is used twice
            self.done[id(made)] = self._tree(made)
        return self.done[id(made)]

    def _tree(self, made: parsing.Made) -> Tree:
        grammar, words = self.grammar, self.words
        rule, written = grammar.rules[made.rule], grammar.rule_texts[made.rule]
        kind = grammar.typing.categories[rule.left]
        if isinstance(rule.right[0], WordClass):
            (leaf,) = made.parts
            assert isinstance(leaf, parsing.Leaf)
            assert leaf.reading is not None
            word = Const(leaf.reading.label, kind)
            return Tree(
                rule.left, kind, word, (Tree("", kind, word, form=words[leaf.place], place=leaf.place),), rule=written
            )
        parts: list[Tree] = []
        values: dict[str, Term] = {}
        for name, symbol, part in zip(rule.names, rule.right, made.parts, strict=True):
            if isinstance(symbol, Category):
                assert isinstance(part, parsing.Made)
                parts.append(self.tree(part))
                values[name] = parts[-1].meaning
            else:
                assert isinstance(part, parsing.Leaf)
                form = words[part.place]
                parts.append(Tree("", WORD, Const(form, WORD), form=form, place=part.place))
        meaning = reduce(substitute(grammar.typing.meanings[made.rule], values))
        return Tree(rule.left, kind, meaning, tuple(parts), rule=written)


def built_in() -> tuple[str, ...]:
    """The names of the grammars that ship with the package."""
    return ("paper", "english", "german")
