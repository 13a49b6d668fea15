"""What a method is: a function of phrases whose arguments have been composed, and what is to be known of it.

A method is a function of a `Batch`, phrases with as many arguments whose arguments have been composed already. This one
keeps the longest vector:

>>> import numpy as np
>>> from composita.functions.lexicon import Lexicon
>>> def longest(batch):
...     rows = np.stack([batch.head_vectors, *batch.arguments])  # (1 + arity, phrases, dimensions)
...     best = np.linalg.norm(rows, axis=2).argmax(axis=0)
...     return Vectors(np.take_along_axis(rows, best[None, :, None], axis=0)[0])
>>> method = Method("longest", "Longest", "the longest of v, o, s", longest, unit=False)
>>> lexicon = Lexicon.from_vectors({"dog-n": np.array([0.0, 3.0]), "bark-v": np.array([1.0, 1.0])})
>>> method.compose(lexicon, [Phrase.parse("bark-v(dog-n)")]).vectors.tolist()
[[0.0, 3.0]]
>>> method.compose(lexicon, [Phrase.parse("bark-v(dog-n)"), Phrase.parse("bark-v(cat-n)")]).reasons
{1: 'cat-n has no vector'}
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from composita.composition.ground import Ground, assemble
from composita.composition.meanings import Meanings, Values, Vectors
from composita.composition.rows import IntArray, Rows, unit
from composita.grammar.phrase import OPERATIONS, Phrase

if TYPE_CHECKING:
    from composita.functions.lexicon import Lexicon

logger = logging.getLogger("composita")


@dataclass
class Batch:
    """Phrases of one arity that are to be composed together.

    Parameters
    ----------
    ground
        Vectors, attested phrases and functions.
    heads
        The head of each phrase.
    arguments
        For each place of argument, in order of application, the composed arguments of all phrases: ``(n, d)`` each.
    phrases
        The phrases themselves.
    unit
        Whether vectors of heads are to have length 1.
    back_off
        Whether something less may be done where what the method asks for is missing.

    """

    ground: Ground
    heads: tuple[str, ...]
    arguments: tuple[Rows, ...]
    phrases: tuple[Phrase, ...]
    unit: bool = True
    back_off: bool = True
    reasons: dict[int, str] = field(default_factory=dict)
    notes: dict[int, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def arity(self) -> int:
        """How many arguments each phrase has."""
        return len(self.arguments)

    @cached_property
    def head_vectors(self) -> Rows:
        """The vectors of the heads, ``(n, d)``; a phrase whose head has none cannot be composed.

        A verb joined with its preposition, *live_in*, has rarely a vector of its own: then that of *live* is taken.
        """
        words = list(dict.fromkeys(self.heads))
        numbers = {word: number for number, word in enumerate(words)}
        stems = [self.ground.stem(word) if self.arity else word for word in words]
        for word, stem in zip(words, stems, strict=True):
            if stem != word:
                self.note(self.by_head[word], f"{word} has no vector: that of {stem} was taken")
        rows, missing = self.ground.vectors(stems)
        if missing:
            for place, head in enumerate(self.heads):
                if numbers[head] in missing:
                    self.fail(place, missing[numbers[head]])
        return (unit(rows) if self.unit else rows)[np.array([numbers[head] for head in self.heads])]

    @cached_property
    def by_head(self) -> dict[str, IntArray]:
        """The places of the phrases of each head."""
        found: dict[str, list[int]] = {}
        for place, head in enumerate(self.heads):
            found.setdefault(head, []).append(place)
        return {head: np.array(places) for head, places in found.items()}

    def fail(self, place: int, reason: str) -> None:
        """Say why a phrase cannot be composed."""
        self.reasons.setdefault(place, reason)

    def note(self, places: IntArray, text: str) -> None:
        """Say what was done instead of what the method asks for; where that is not allowed, it is a failure."""
        for place in places.tolist():
            if self.back_off:
                self.notes.setdefault(place, []).append(text)
            else:
                self.fail(place, text)

    def part(self, places: IntArray) -> tuple[Rows, ...]:
        """Give the arguments of some phrases."""
        return tuple(rows[places] for rows in self.arguments)


@dataclass(frozen=True)
class Method:
    """A way to get the meaning of a phrase.

    Parameters
    ----------
    name
        What it is called in commands, such as ``frobenius-add``.
    title
        What it is called in tables.
    formula
        What it computes for a subject s, a verb v and an object o.
    combine
        The function that computes it.
    result
        What comes out: ``vector``, or ``matrix`` for phrases of two arguments and more.
    reference
        Where it comes from.
    unit
        Whether the vectors of words are brought to length 1 first; None for as the lexicon's functions take them.
    renew
        Whether composed arguments are brought to length 1 again.
    products
        Whether it multiplies vectors element by element, which means nothing where they have negative numbers.
    ignores_arguments
        Whether arguments need no vectors.
    needs
        What must be there beside vectors: ``phrases`` (attested ones) or ``functions``; empty for nothing.
    dense
        Whether it asks for a reduced space, since it trains matrices of all dimensions by all dimensions.

    """

    name: str
    title: str
    formula: str
    combine: Callable[[Batch], Values]
    result: str = "vector"
    reference: str = ""
    unit: bool | None = True
    renew: bool = True
    products: bool = False
    ignores_arguments: bool = False
    needs: str = ""
    dense: bool = False

    @property
    def comparison(self) -> str:
        """How two results are compared."""
        return "cosine" if self.result == "vector" else "Frobenius cosine"

    def impossible(self, lexicon: Lexicon | Ground) -> str:
        """Say why the method cannot be used with this lexicon at all; empty where it can."""
        ground = Ground.of(lexicon)
        if self.dense and ground.lexicon.is_sparse:
            return (
                f"{self.name} learns matrices of {ground.lexicon.dimensions:,} x {ground.lexicon.dimensions:,}: "
                "it needs a reduced space"
            )
        if self.needs == "phrases" and not ground.patterns:
            return f"{self.name} needs attested phrases, and this lexicon's space has none"
        if self.needs == "functions" and not len(ground.lexicon):
            return f"{self.name} needs functions, and this lexicon has none: learn some with composita learn"
        return ""

    def doubtful(self, lexicon: Lexicon | Ground) -> str:
        """Say what makes the method's results doubtful with this lexicon; empty where nothing does."""
        if self.products and Ground.of(lexicon).negative:
            return (
                f"{self.name} multiplies numbers of this space, and some are negative: the products mean little; "
                "use a space reduced by nmf or not at all"
            )
        return ""

    def compose(self, lexicon: Lexicon | Ground, phrases: Sequence[Phrase], *, back_off: bool = True) -> Meanings:
        """Compose phrases.

        Parameters
        ----------
        lexicon
            Vectors and functions.
        phrases
            The phrases, nested as deep as they may be.
        back_off
            Whether something less may be done, and noted, where what the method asks for is missing, such as a
            function of so many arguments. Otherwise that is the reason why a phrase is not composed.

        """
        ground, phrases = Ground.of(lexicon), tuple(phrases)
        reason = self.impossible(ground)
        if reason:
            return Meanings(self.name, phrases, (), dict.fromkeys(range(len(phrases)), reason))
        doubt = self.doubtful(ground)
        if doubt:
            ground.once("negative", lambda: logger.warning("%s", doubt))
        work = _Work(self, ground, back_off)
        for level in _levels(phrases):
            work.compose_level(level)
        return work.meanings(phrases, (doubt,) if doubt else ())


def _levels(phrases: Sequence[Phrase]) -> list[list[Phrase]]:
    """Give all distinct parts of phrases, words first, then phrases whose arguments come before them."""
    depths: dict[Phrase, int] = {}

    def depth(phrase: Phrase) -> int:
        known = depths.get(phrase)
        if known is None:
            known = 1 + max((depth(argument) for argument in phrase.arguments), default=-1)
            depths[phrase] = known
        return known

    for phrase in phrases:
        depth(phrase)
    levels: list[list[Phrase]] = [[] for _ in range(1 + max(depths.values(), default=-1))]
    for phrase, level in depths.items():
        levels[level].append(phrase)
    return levels


class _Work:
    """The parts of phrases, composed level by level; equal parts only once."""

    def __init__(self, method: Method, ground: Ground, back_off: bool) -> None:
        self.method, self.ground, self.back_off = method, ground, back_off
        self.unit = ground.lexicon.normalise if method.unit is None else method.unit
        self.renew = method.renew and (method.unit is not None or ground.lexicon.normalise)
        self.groups: list[Values] = []
        self.places: dict[Phrase, tuple[int, int]] = {}
        self.reasons: dict[Phrase, str] = {}
        self.notes: dict[Phrase, tuple[str, ...]] = {}

    def compose_level(self, level: list[Phrase]) -> None:
        """Compose phrases whose arguments have been composed."""
        by_arity: dict[int, list[Phrase]] = {}
        for phrase in level:
            blocked = self._blocked(phrase)
            if blocked:
                self.reasons[phrase] = blocked
            else:
                by_arity.setdefault(phrase.arity, []).append(phrase)
        for arity, phrases in sorted(by_arity.items()):
            joined = [phrase for phrase in phrases if phrase.head in OPERATIONS]
            applied = [phrase for phrase in phrases if phrase.head not in OPERATIONS]
            if applied:
                self._compose_arity(arity, tuple(applied))
            if joined:
                self._join(arity, joined)

    def _blocked(self, phrase: Phrase) -> str:
        """Say which argument stands in the way of a phrase."""
        if self.method.ignores_arguments and phrase.head not in OPERATIONS:
            return ""
        for argument in phrase.arguments:
            if argument in self.reasons:
                return self.reasons[argument]
            group, _ = self.places[argument]
            if not isinstance(self.groups[group], Vectors):
                return f"{argument.display()} is a matrix by {self.method.name}, which cannot be an argument"
        return ""

    def _compose_arity(self, arity: int, phrases: tuple[Phrase, ...]) -> None:
        ignored = self.method.ignores_arguments
        empty = np.empty((len(phrases), 0))
        arguments = tuple(
            empty if ignored else self._gather([p.arguments[place] for p in phrases]) for place in range(arity)
        )
        batch = Batch(
            self.ground, tuple(p.head for p in phrases), arguments, phrases, self.unit, self.back_off
        )  # fmt: skip
        values = self.method.combine(batch) if arity else Vectors(batch.head_vectors)
        for place, phrase in enumerate(phrases):
            if place in batch.reasons:
                self.reasons[phrase] = batch.reasons[place]
                continue
            self.places[phrase] = len(self.groups), place
            said = [note for argument in phrase.arguments for note in self.notes.get(argument, ())]
            said += batch.notes.get(place, [])
            if said:
                self.notes[phrase] = tuple(dict.fromkeys(said))
        self.groups.append(values)

    def _join(self, arity: int, phrases: list[Phrase]) -> None:
        """Join what is coordinated, or a noun and its relative clause, in the same way for every method."""
        rows = [unit(self._gather([p.arguments[place] for p in phrases])) for place in range(arity)]
        for place, phrase in enumerate(phrases):
            self.places[phrase] = len(self.groups), place
            said = [note for argument in phrase.arguments for note in self.notes.get(argument, ())]
            if said:
                self.notes[phrase] = tuple(dict.fromkeys(said))
        self.groups.append(Vectors(unit(sum(rows[1:], start=rows[0]))))

    def _gather(self, arguments: list[Phrase]) -> Rows:
        """Give the vectors of composed arguments, ``(n, d)``."""
        found = np.array([self.places[argument] for argument in arguments])
        composed = np.array([argument.arity > 0 for argument in arguments])
        parts = []
        for group in np.unique(found[:, 0]).tolist():
            mine = np.flatnonzero(found[:, 0] == group)
            values = self.groups[group]
            assert isinstance(values, Vectors)
            rows = values.rows[found[mine, 1]]
            parts.append((mine, unit(rows) if self.renew and composed[mine[0]] else rows))
        return assemble(parts, len(arguments))

    def meanings(self, phrases: tuple[Phrase, ...], warnings: tuple[str, ...]) -> Meanings:
        """Give the meanings of the phrases that were asked for."""
        found: dict[int, tuple[list[int], list[int]]] = {}
        for number, phrase in enumerate(phrases):
            if phrase in self.places:
                group, place = self.places[phrase]
                ids, places = found.setdefault(group, ([], []))
                ids.append(number)
                places.append(place)
        groups = tuple(
            (np.array(ids), self.groups[group].take(np.array(places))) for group, (ids, places) in sorted(found.items())
        )
        return Meanings(
            self.method.name, phrases, groups,
            {n: self.reasons[p] for n, p in enumerate(phrases) if p in self.reasons},
            {n: self.notes[p] for n, p in enumerate(phrases) if p in self.notes}, warnings,
        )  # fmt: skip
