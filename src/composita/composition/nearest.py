"""What lies near a meaning: words, and phrases that are attested.

>>> import numpy as np
>>> from composita.composition.methods import METHODS
>>> from composita.functions.lexicon import Lexicon
>>> from composita.grammar.phrase import Phrase
>>> from composita.spaces.space import Space
>>> space = Space.from_vectors(["dog-n", "cat-n", "bark-v"], np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]))
>>> meanings = METHODS["add"].compose(Lexicon.from_space(space), [Phrase.parse("bark-v(dog-n)")])
>>> nearest(space, meanings, 1)[0].words
[Near(label='cat-n', text='cat', similarity=0.989...)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from composita.composition.meanings import Meanings, Vectors
from composita.composition.rows import IntArray
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.spaces.space import Space

NOMINAL = ("an", "nn")
"""Patterns whose phrases are nouns; all others are sentences or parts of them."""


class Near(NamedTuple):
    """A word or phrase, and the cosine."""

    label: str
    text: str
    similarity: float


@dataclass(frozen=True)
class Nearest:
    """The words and the attested phrases that lie nearest, the nearest first."""

    words: list[Near]
    phrases: list[Near]


def nearest(
    space: Space, meanings: Meanings, n: int = 10, *, kinds: tuple[str, ...] = ("words", "phrases")
) -> list[Nearest]:
    """Find what is nearest to each meaning; meanings that are no vectors of the space have none.

    What was composed is not shown itself where it is attested, since it was perhaps learned from, and a word is no
    neighbour of itself.
    """
    found = [Nearest([], []) for _ in range(len(meanings))]
    usable = [
        number
        for ids, values in meanings.groups
        if isinstance(values, Vectors) and values.form[2] == space.dimensions
        for number in ids.tolist()
        if meanings.lengths[number] > 0
    ]
    if not usable:
        return found
    vectors = np.array([meanings.vector(number) for number in usable], np.float32)
    for kind in kinds:
        rows = rows_of(space, kind)
        if not len(rows):
            continue
        for number, near in zip(usable, space.nearest(vectors, min(n + 4, len(rows)), rows=rows), strict=True):
            numbers = np.array([row for row, _ in near], np.int64)
            said = zip(space.labels(numbers), space.display(numbers), (value for _, value in near), strict=True)
            own = str(meanings.phrases[number])
            getattr(found[number], kind).extend([Near(*each) for each in said if each[0] != own][:n])
    return found


def rows_of(space: Space, kind: str) -> IntArray:
    """Give the rows of ``words`` or of ``phrases``."""
    words = space.rows("word")
    if kind == "words":
        return words
    if kind == "phrases":
        others = np.ones(len(space), bool)
        others[words] = False
        return np.flatnonzero(others)
    raise UsageError(f"unknown kind {kind!r}: choose words or phrases")
