"""Items: what the rows of a space are, words and phrases by keys as in counts, or names from elsewhere as they are.

>>> items = Items.from_labels(["dog-n", "cat-n"])
>>> items.labels(), items.find("cat-n")
(['dog-n', 'cat-n'], 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from composita.counting.counts import Counts
from composita.counting.keys import Fields, unpack, word_keys
from composita.counting.labels import ABSENT, Names
from composita.counting.patterns import MOST_ARGUMENTS
from composita.counting.words import order_of, split_label, suggest
from composita.store.errors import InputError, UsageError

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class Phrases(NamedTuple):
    """The phrases of a pattern: what functions are learned from."""

    rows: Int64Array  # (m,)
    heads: Int64Array  # (m,) numbers of words
    joints: Int64Array  # (m,) numbers of the words joined to the heads, from 1; 0 for none
    arguments: Int64Array  # (m, n) numbers of words, in the order of application; -1 where one is absent
    frequency: Int64Array  # (m,)


@dataclass(frozen=True)
class Items:
    """What the rows are: keys with the names of what they are made of; or, where ``plain``, strings."""

    names: Names
    upper: Int64Array
    lower: Int64Array
    plain: tuple[str, ...] | None = None

    @classmethod
    def from_counts(cls, counts: Counts, rows: Int64Array | None = None) -> Items:
        """Take the items of all rows of counts or of some."""
        if rows is None:
            return cls(counts.names, counts.upper, counts.lower)
        return cls(counts.names, counts.upper[rows], counts.lower[rows])

    @classmethod
    def from_labels(cls, labels: Sequence[str]) -> Items:
        """Take labels: words such as ``dog-n`` if all are, otherwise strings that mean nothing to us."""
        seen: set[str] = set()
        for place, label in enumerate(labels, 1):
            if not label or label in seen:
                raise InputError(f"label {place} is {label!r}: expected each once, and none empty")
            seen.add(label)
        if all(split_label(label) for label in labels):
            names = Names(tuple(sorted(labels, key=order_of)), (), ())
            upper = word_keys(np.array([names.ids[label] for label in labels], np.int64))
            return cls(names, upper, np.zeros(len(labels), np.int64))
        none = np.empty(0, np.int64)
        return cls(Names(tuple(labels), (), ()), none, none, tuple(labels))

    def __len__(self) -> int:
        return len(self.upper) if self.plain is None else len(self.plain)

    # ------------------------------------------------------------ words and phrases

    @cached_property
    def fields(self) -> Fields:
        """What the keys are made of."""
        if self.plain is None:
            return unpack(self.upper, self.lower)
        zero = np.zeros(len(self), np.int64)
        return Fields(zero, np.arange(len(self)), zero, np.full((len(self), MOST_ARGUMENTS), -1, np.int64))

    @property
    def words(self) -> tuple[str, ...]:
        """All words that rows or arguments are made of."""
        return self.names.words

    @cached_property
    def word_rows(self) -> Int64Array:
        """The row of each of `words`, -1 for one that has none."""
        rows = np.full(len(self.words), -1, np.int64)
        is_word = np.flatnonzero((self.fields.pattern == 0) & (self.fields.joint == 0))
        rows[self.fields.head[is_word]] = is_word
        return rows

    @property
    def patterns(self) -> tuple[str, ...]:
        """The names of the patterns."""
        return tuple(pattern.name for pattern in self.names.patterns)

    def rows(self, pattern: str | None = None, head: str | None = None) -> Int64Array:
        """Find the rows of words (``pattern="word"``), of a pattern, of a head, in their order."""
        chosen = np.ones(len(self), bool)
        if pattern is not None:
            known = ["word", *self.patterns]
            if pattern not in known:
                raise UsageError(f"the space has no pattern {pattern!r}: choose {', '.join(known)}")
            chosen &= self.fields.pattern == known.index(pattern)
        if head is not None:
            chosen &= self._has_head(head)
        return np.flatnonzero(chosen)

    def _has_head(self, head: str) -> BoolArray:
        """Find the rows of a head: ``live-v`` also where something is joined, ``live_in-v`` only with that."""
        if head in self.names.ids:
            return np.asarray(self.fields.head == self.names.ids[head])
        found = [(number, joint) for number, joint in self.names._head_keys(head) if joint]  # noqa: SLF001 - one idea
        if not found:
            raise UsageError(f"{head!r} is no word of this space{suggest(head, self.words)}")
        number, joint = found[0]
        return np.asarray((self.fields.head == number) & (self.fields.joint == joint))

    def phrases(self, pattern: str, frequency: Int64Array) -> Phrases:
        """Give the phrases of a pattern with their parts."""
        if pattern not in self.patterns:
            raise UsageError(f"the space has no phrases {pattern!r}: choose {', '.join(self.patterns) or 'none'}")
        rows, fields = self.rows(pattern), self.fields
        size = len(self.names.patterns[self.patterns.index(pattern)].arguments)
        return Phrases(
            rows, fields.head[rows], fields.joint[rows], fields.arguments[rows, :size], frequency[rows]
        )  # fmt: skip

    # ------------------------------------------------------------ labels

    def labels(self, rows: Any = None) -> list[str]:  # noqa: ANN401 - whatever numbers rows
        """The labels of all rows or of some."""
        chosen = slice(None) if rows is None else np.asarray(rows)
        if self.plain is not None:
            return list(self.plain) if rows is None else [self.plain[row] for row in np.asarray(rows).tolist()]
        return self.names.labels(self.upper[chosen], self.lower[chosen])

    def label_array(self) -> pa.Array:
        """The labels of all rows, as Arrow's strings."""
        return pa.array(self.plain) if self.plain is not None else self.names.label_array(self.upper, self.lower)

    def display(self, rows: Any = None) -> list[str]:  # noqa: ANN401
        """The items of all rows or of some, as people say them."""
        if self.plain is not None:
            return self.labels(rows)
        chosen = slice(None) if rows is None else np.asarray(rows)
        return self.names.display(self.upper[chosen], self.lower[chosen])

    @cached_property
    def _order(self) -> Int64Array | None:
        """How the rows are sorted by their keys; None where they lie so."""
        if len(self) < 2:
            return None
        later = (self.upper[1:] > self.upper[:-1]) | (
            (self.upper[1:] == self.upper[:-1]) & (self.lower[1:] >= self.lower[:-1])
        )
        return None if later.all() else np.lexsort((self.lower, self.upper))

    def _row_of(self, upper: int, lower: int) -> int | None:
        """Find a key."""
        order = self._order
        uppers, lowers = (self.upper, self.lower) if order is None else (self.upper[order], self.lower[order])
        first, last = np.searchsorted(uppers, [upper, upper + 1])
        place = int(first + np.searchsorted(lowers[first:last], lower))
        if place == last or lowers[place] != lower:
            return None
        return place if order is None else int(order[place])

    def candidates(self, label: str) -> list[tuple[str, int]]:
        """Find the rows that a label can mean: the name of the pattern, and the row."""
        if self.plain is not None:
            row = self.names.ids.get(label)
            return [] if row is None else [("word", row)]
        name, colon, rest = label.partition(":")
        named = bool(colon) and name in self.patterns
        found = [(self._row_of(upper, lower), upper) for upper, lower in self.names.key(rest if named else label)]
        patterns = ["word", *self.patterns]
        hits = [(patterns[self.fields.pattern[row]], row) for row, _ in found if row is not None]
        return [(pattern, row) for pattern, row in hits if not named or pattern == name]

    def find(self, label: str) -> int:
        """Give the row of a word or phrase; see `Counts.find`."""
        found = self.candidates(label)
        if len(found) == 1:
            return found[0][1]
        if not found:
            raise UsageError(f"{label!r} is not in the space{self._near(label)}")
        said = " or ".join(f"{pattern}:{label}" for pattern, _ in found)
        raise UsageError(f"{label!r} is in the space by several patterns: say {said}")

    def _near(self, label: str) -> str:
        """Suggest labels: similar words, or, of a phrase, its words that are not known."""
        if "(" not in label or self.plain is not None:
            bare = [word for word in self.words if word[:-2] == label] if self.plain is None else []
            return f"; did you mean {' or '.join(bare)}?" if bare else suggest(label, self.words)
        parts = label.partition(":")[2] if label.partition(":")[0] in self.patterns else label
        words = [part.strip() for part in chain(*(piece.split(",") for piece in parts.rstrip(")").split("(")))]
        unknown = [word for word in words if word not in self.names.ids and word != ABSENT]
        if unknown:
            return f": {unknown[0]!r} is no word of it{suggest(unknown[0], self.words)}"
        return ": all its words are, but no such phrase was counted"

    # ------------------------------------------------------------ choosing

    def take(self, rows: Int64Array) -> Items:
        """Give some rows."""
        if self.plain is not None:
            return Items.from_labels([self.plain[row] for row in rows.tolist()])
        return Items(self.names, self.upper[rows], self.lower[rows])
