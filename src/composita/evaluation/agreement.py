"""How far people agree with each other, by every definition that this literature uses.

The definitions differ much on the same ratings, so that a figure without its definition says little:

- *pairwise*: Spearman's correlation of each two annotators on the items that both rated, averaged over pairs.
- *pairwise without ties*: the same by the formula ``1 - 6 sum d^2 / (n (n^2 - 1))``, which ignores that many ratings
  are equal and comes out too high. Early papers printed it.
- *leave one out*: each annotator against the mean of the others, averaged over annotators. It is higher, because means
  are less noisy than people; it is what a good method should be held against when it is scored on mean ratings.
- *split half*: the means of a random half of the annotators against those of the other, averaged over many halvings and
  corrected for the halves being halves (Spearman-Brown): how reliable the mean ratings are.
- *alpha*: Krippendorff's, for intervals: one minus the disagreement within items over that between all ratings.

An *oracle* that predicts each item's mean rating is the ceiling for scores on individual ratings.

>>> ratings = Ratings.of([(0, "a", 1), (1, "a", 4), (2, "a", 6), (0, "b", 2), (1, "b", 5), (2, "b", 7)])
>>> agreement(ratings).pairwise
1.0
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from composita.evaluation.statistics import (
    FloatArray,
    IntArray,
    Observations,
    correlations,
    spearman,
    spearman_without_ties,
)

if TYPE_CHECKING:
    import pyarrow as pa

FEWEST = 3
"""How many items two annotators must share to be compared."""

HALVINGS = 200


@dataclass(frozen=True)
class Ratings:
    """Who rated which item how.

    Parameters
    ----------
    item, participant, rating
        One entry for each rating: the number of the item, the number of the person, the rating.
    participants
        The names of the persons. Empty where a file has only mean ratings: then there are no individual ones.
    items
        How many items there are, rated or not.

    """

    item: IntArray
    participant: IntArray
    rating: FloatArray
    participants: tuple[str, ...]
    items: int

    @classmethod
    def of(cls, rows: Iterable[tuple[int, str, float]], items: int | None = None) -> Ratings:
        """Make ratings of rows (item, participant, rating); a participant without a name has given means."""
        found = list(rows)
        names = tuple(dict.fromkeys(name for _, name, _ in found if name))
        numbers = {name: number for number, name in enumerate(names)} | {"": -1}
        item = np.array([number for number, _, _ in found], np.int64)
        who = np.array([numbers[name] for _, name, _ in found], np.int64)
        size = items if items is not None else int(item.max(initial=-1)) + 1
        return cls(item, who, np.array([rating for _, _, rating in found], np.float64), names, size)

    def __len__(self) -> int:
        return len(self.item)

    @property
    def individual(self) -> bool:
        """Whether single persons' ratings are known, rather than only means."""
        return len(self.participants) > 1

    @cached_property
    def means(self) -> FloatArray:
        """The mean rating of each item, (items,); NaN where nobody rated it."""
        counts = np.bincount(self.item, minlength=self.items)
        sums = np.bincount(self.item, self.rating, self.items)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    @cached_property
    def observations(self) -> Observations:
        """The individual ratings, as they are correlated with predictions."""
        return Observations.of(self.item, self.rating, self.items)

    @cached_property
    def mean_observations(self) -> Observations:
        """The mean ratings, as they are correlated with predictions."""
        return Observations.of_means(self.means)

    @cached_property
    def table(self) -> FloatArray:
        """What each person gave each item, (participants, items); NaN for nothing, the mean for several times."""
        shape = len(self.participants), self.items
        named = self.participant >= 0
        key = self.participant[named] * self.items + self.item[named]
        counts = np.bincount(key, minlength=shape[0] * shape[1])
        sums = np.bincount(key, self.rating[named], shape[0] * shape[1])
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan).reshape(shape)

    def to_arrow(self) -> pa.Table:
        """Give a table with the columns item, participant, rating."""
        import pyarrow as pa

        names = [self.participants[number] if number >= 0 else "" for number in self.participant.tolist()]
        return pa.table({"item": self.item, "participant": names, "rating": self.rating})


@dataclass(frozen=True)
class Agreement:
    """How far the annotators of a benchmark agree; NaN where it cannot be said.

    Parameters
    ----------
    participants, ratings, items
        How many there are.
    pairwise, pairwise_without_ties, leave_one_out, split_half, alpha
        By the definitions of this module.
    pairs
        How many pairs of annotators share enough items.
    ceiling
        The correlation of each item's mean rating with the individual ratings: what an oracle reaches.

    """

    participants: int
    ratings: int
    items: int
    pairwise: float
    pairwise_without_ties: float
    leave_one_out: float
    split_half: float
    alpha: float
    pairs: int
    ceiling: float


def agreement(ratings: Ratings, seed: int = 0) -> Agreement:
    """Measure how far people agree."""
    table = ratings.table
    pairwise, without, pairs = _pairwise(table)
    return Agreement(
        len(ratings.participants), len(ratings), int((~np.isnan(ratings.means)).sum()), pairwise, without,
        _leave_one_out(table), _split_half(table, seed), _alpha(ratings), pairs, ceiling(ratings),
    )  # fmt: skip


def ceiling(ratings: Ratings) -> float:
    """Correlate each item's mean rating with the individual ratings."""
    if not ratings.individual:
        return float("nan")
    return float(correlations(ratings.means[None], ratings.observations)[0, 0])


def _pairwise(table: FloatArray) -> tuple[float, float, int]:
    """Average over pairs of annotators, with and without regard to ties."""
    found, without = [], []
    rated = ~np.isnan(table)
    for first in range(len(table)):
        for second in range(first + 1, len(table)):
            both = rated[first] & rated[second]
            if both.sum() >= FEWEST:
                x, y = table[first, both], table[second, both]
                if np.ptp(x) > 0 and np.ptp(y) > 0:
                    found.append(spearman(x, y))
                    without.append(spearman_without_ties(x, y))
    return _mean(found), _mean(without), len(found)


def _leave_one_out(table: FloatArray) -> float:
    """Average the correlation of each annotator with the mean of the others, on the items that others rated too."""
    counts, sums = (~np.isnan(table)).sum(axis=0), np.nansum(table, axis=0)
    found = []
    for mine in table:
        both = ~np.isnan(mine) & (counts > 1)
        if both.sum() >= FEWEST and np.ptp(mine[both]) > 0:
            others = (sums[both] - mine[both]) / (counts[both] - 1)
            found.append(spearman(mine[both], others))
    return _mean(found)


def _split_half(table: FloatArray, seed: int) -> float:
    """Correlate the means of random halves of the raters of each item, corrected by Spearman-Brown."""
    random, found = np.random.default_rng([seed, 11]), []
    rated = ~np.isnan(table)
    if not len(table):
        return float("nan")
    for _ in range(HALVINGS):
        # A random order of each item's own raters, so that both halves have as many whatever each person rated.
        order = np.argsort(np.argsort(np.where(rated, random.random(table.shape), 2.0), axis=0), axis=0)
        first = rated & (order < rated.sum(axis=0) // 2)
        second = rated & ~first
        both = first.any(axis=0) & second.any(axis=0)
        if both.sum() < FEWEST:
            continue
        x, y = (np.where(half, table, 0).sum(0)[both] / half.sum(0)[both] for half in (first, second))
        found.append(spearman(x, y))
    half = _mean(found)
    return 2 * half / (1 + half)


def _alpha(ratings: Ratings) -> float:
    """Compute Krippendorff's alpha for intervals."""
    counts = np.bincount(ratings.item, minlength=ratings.items)
    kept = counts[ratings.item] > 1
    if not ratings.individual or not kept.any():
        return float("nan")
    item, rating = ratings.item[kept], ratings.rating[kept]
    n, sums = np.bincount(item, minlength=ratings.items), np.bincount(item, rating, ratings.items)
    squares = np.bincount(item, rating * rating, ratings.items)
    some = n > 1
    # The sum over ordered pairs of (a - b)^2 within a set of n numbers is 2 (n sum a^2 - (sum a)^2).
    within = (2 * (n * squares - sums * sums)[some] / (n[some] - 1)).sum()
    total = len(rating)
    between = 2 * (total * (rating @ rating) - rating.sum() ** 2) / (total - 1)
    return float(1 - within / between) if between > 0 else float("nan")


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
