"""Correlations, and how sure they are: intervals by resampling items, and paired differences.

What is resampled are *items*, never ratings: the ratings of one item depend on each other, and one wants to know about
other items. A resample says how often each item was drawn, so that a resampled correlation is a correlation with these
weights, and all resamples are computed together as matrix products:

    rho(w) = cov_w(R, S) / sqrt(var_w(R) var_w(S))       R, S: mid-ranks of predictions and ratings under the weights

>>> predicted = np.array([[0.1, 0.4, 0.2, 0.9]])
>>> ratings = Observations.of_means(np.array([1.0, 5.0, 2.0, 6.0]))
>>> correlations(predicted, ratings).round(3)
array([[1.]])
>>> spearman([1, 2, 3, 4], [1, 3, 2, 4])
0.8
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from composita.store.errors import UsageError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

RESAMPLES = 2000
CONFIDENCE = 0.95
CHUNK = 20_000_000
"""How many numbers a chunk of resamples may have, so that memory stays small whatever the benchmark."""


def mid_ranks(values: npt.ArrayLike) -> FloatArray:
    """Rank from 1, equal values sharing the mean of their ranks.

    >>> mid_ranks([10, 30, 20, 20])
    array([1. , 4. , 2.5, 2.5])
    """
    _, inverse, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]


def pearson(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Compute the product-moment correlation; NaN where one side does not vary.

    >>> pearson([1, 2, 3], [2, 4, 7]).__round__(4)
    0.9934
    """
    left, right = _pair(x, y)
    left, right = left - left.mean(), right - right.mean()
    size = float(np.sqrt((left @ left) * (right @ right)))
    return float(np.clip(left @ right / size, -1, 1)) if size > 0 else float("nan")


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Compute the rank correlation: Pearson's of the mid-ranks."""
    x, y = _pair(x, y)
    return pearson(mid_ranks(x), mid_ranks(y))


def spearman_without_ties(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Compute ``1 - 6 sum d^2 / (n (n^2 - 1))``, which is right only where no values are equal.

    Early papers print it for ratings, of which many are equal; it comes out too high then.

    >>> spearman_without_ties([1, 1, 1, 2], [1, 1, 2, 2]), round(spearman([1, 1, 1, 2], [1, 1, 2, 2]), 3)
    (0.7, 0.577)
    """
    x, y = _pair(x, y)
    n, d = len(x), mid_ranks(x) - mid_ranks(y)
    return float(1 - 6 * (d @ d) / (n * (n * n - 1))) if n > 1 else float("nan")


def kendall(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Compute Kendall's tau-b.

    >>> round(kendall([1, 2, 3, 4], [1, 3, 2, 4]), 4)
    0.6667
    """
    from scipy.stats import kendalltau

    x, y = _pair(x, y)
    return float(kendalltau(x, y).statistic) if len(x) > 1 else float("nan")


def _pair(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise UsageError(f"expected two rows of as many numbers, got shapes {x.shape} and {y.shape}")
    if len(x) == 0:
        raise UsageError("expected numbers to correlate, got none")
    return x, y


@dataclass(frozen=True)
class Observations:
    """Ratings of items, as how often each value was given to each item.

    Parameters
    ----------
    items
        How many items there are.
    item, value, count
        The cells: an item, the number of a value, how often it was given; each (cells,).
    values
        The distinct values, ascending.

    """

    items: int
    item: IntArray
    value: IntArray
    count: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, item: npt.ArrayLike, rating: npt.ArrayLike, items: int) -> Observations:
        """Take individual ratings: the item of each, and what it was rated."""
        values, value = np.unique(np.asarray(rating, np.float64), return_inverse=True)
        key = np.asarray(item, np.int64) * max(1, len(values)) + value
        cells, counts = np.unique(key, return_counts=True)
        return cls(items, cells // max(1, len(values)), cells % max(1, len(values)), counts.astype(float), values)

    @classmethod
    def of_means(cls, means: FloatArray) -> Observations:
        """Take one rating for each item; NaN for an item without."""
        rated = np.flatnonzero(~np.isnan(means))
        return cls.of(rated, means[rated], len(means))

    def only(self, kept: BoolArray) -> Observations:
        """Keep the ratings of some items; the others stay as items that nobody rated."""
        cells = kept[self.item]
        return Observations(self.items, self.item[cells], self.value[cells], self.count[cells], self.values)

    def per_item(self) -> FloatArray:
        """How many ratings each item has, (items,)."""
        return np.bincount(self.item, self.count, self.items).astype(np.float64)


def resamples(items: int, number: int, seed: int | Sequence[int]) -> FloatArray:
    """Draw items with replacement: how often each item is in each resample, (number, items).

    >>> resamples(4, 2, seed=0).sum(axis=1)
    array([4., 4.])
    """
    random = np.random.default_rng(seed)
    drawn = random.integers(items, size=(number, items)) + np.arange(number)[:, None] * items
    counts: FloatArray = np.bincount(drawn.ravel(), minlength=number * items).reshape(number, items).astype(np.float64)
    return counts


def correlations(
    predictions: FloatArray, ratings: Observations, weights: FloatArray | None = None, *, ranked: bool = True
) -> FloatArray:
    """Correlate predictions with ratings, once for each resample.

    Parameters
    ----------
    predictions
        One row for each method, (methods, items); what is NaN is not counted.
    ratings
        The ratings.
    weights
        How often each item counts in each resample, (resamples, items); by default each once.
    ranked
        Whether ranks are correlated (Spearman) or the numbers themselves (Pearson).

    Returns
    -------
    (methods, resamples); NaN where one side does not vary.

    """
    weights = np.ones((1, ratings.items)) if weights is None else weights
    found = np.full((len(predictions), len(weights)), np.nan)
    step = max(1, CHUNK // max(1, 4 * (ratings.items + len(ratings.values))))
    for first in range(0, len(weights), step):
        part = slice(first, first + step)
        # Methods that score the same items share the ranks of the ratings.
        for mask in np.unique(~np.isnan(predictions), axis=0):
            rows = np.flatnonzero((np.isnan(predictions) != mask).all(axis=1))
            kept = ratings.only(mask)
            table, per_item = _table(kept), kept.per_item()
            heard = weights[part] @ table  # (resamples, values): how often each value was given
            levels = _weighted_ranks(heard) if ranked else np.broadcast_to(kept.values, heard.shape)
            for row in rows.tolist():
                mass = weights[part] * per_item
                x = _ranks_of_items(predictions[row], mass, mask) if ranked else np.where(mask, predictions[row], 0.0)
                found[row, part] = _weighted_correlation(x, mass, levels, heard, weights[part], table)
    return found


def _table(ratings: Observations) -> FloatArray:
    """Lay out the cells, (items, values), sparse."""
    from scipy.sparse import csr_array

    shape = (ratings.items, len(ratings.values))
    table: FloatArray = csr_array((ratings.count, (ratings.item, ratings.value)), shape=shape)
    return table


def _weighted_ranks(mass: FloatArray) -> FloatArray:
    """Rank values that stand in ascending order, given how often each occurs."""
    last = np.cumsum(mass, axis=1)
    return last - (mass - 1) / 2


def _ranks_of_items(predicted: FloatArray, mass: FloatArray, mask: BoolArray) -> FloatArray:
    """Rank items by their predictions under weights, (resamples, items)."""
    _, inverse = np.unique(np.where(mask, predicted, np.inf), return_inverse=True)
    levels = int(inverse.max(initial=-1)) + 1
    if levels == len(inverse):
        order = np.argsort(inverse)
        return _weighted_ranks(mass[:, order])[:, inverse]
    ties = np.zeros((len(inverse), levels))
    ties[np.arange(len(inverse)), inverse] = 1
    return _weighted_ranks(mass @ ties)[:, inverse]


def _weighted_correlation(
    x: FloatArray, mass: FloatArray, levels: FloatArray, heard: FloatArray, weights: FloatArray, table: FloatArray
) -> FloatArray:
    """Correlate items' numbers with rating levels: x is (resamples, items) or (items,), levels (resamples, values)."""
    total = np.maximum(mass.sum(axis=1), 1e-300)
    raw = (mass * x * x).sum(axis=1), (heard * levels * levels).sum(axis=1)
    x = x - ((mass * x).sum(axis=1) / total)[:, None]
    levels = levels - ((heard * levels).sum(axis=1) / total)[:, None]
    covariance = (((weights * x) @ table) * levels).sum(axis=1)
    spread = (mass * x * x).sum(axis=1), (heard * levels * levels).sum(axis=1)
    # What is left by rounding of numbers that are all equal is no variation.
    varies = (spread[0] > 1e-20 * raw[0]) & (spread[1] > 1e-20 * raw[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(varies, covariance / np.sqrt(spread[0] * spread[1]), np.nan)
    return np.clip(found, -1, 1)


def interval(samples: FloatArray, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Give the percentile interval of resampled numbers; NaN where there are none.

    >>> low, high = interval(np.arange(41.0), 0.95)
    >>> round(low, 6), round(high, 6)
    (1.0, 39.0)
    """
    samples = samples[~np.isnan(samples)]
    if not len(samples):
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low, high = np.quantile(samples, [tail, 1 - tail])
    return float(low), float(high)


def two_sided(differences: FloatArray) -> float:
    """Give the p value of resampled differences: how often they lie on the other side of zero, both sides counted.

    One resample that shows nothing is added, so that p is never 0.

    >>> two_sided(np.array([0.1, 0.2, 0.3, -0.1])), round(two_sided(np.full(999, 0.5)), 3)
    (0.8, 0.002)
    """
    differences = differences[~np.isnan(differences)]
    below, above = (differences <= 0).sum() + 1, (differences >= 0).sum() + 1
    return float(min(1.0, 2 * min(below, above) / (len(differences) + 1)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for there being many of them (Holm 1979): the smallest times n, the next times n - 1, ...

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(np.asarray(p_values), kind="stable")
    corrected, largest = [0.0] * len(p_values), 0.0
    for place, number in enumerate(order.tolist()):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[number]))
        corrected[number] = largest
    return corrected


def step_down(differences: npt.ArrayLike, resampled: npt.ArrayLike) -> FloatArray:
    """Compute p values of many differences together, from the largest one of each resample (Romano & Wolf 2005).

    Each difference is taken in its own standard errors. The surest is held against the largest of all by which a
    resample strays from what was found, the next against the largest of those that are left, ... That differences share
    methods and items is heeded, as correcting each p value by itself cannot do; and with a thousand resamples a hundred
    differences can still be sure, whose least p of 0.002 Holm multiplies by a hundred.

    Parameters
    ----------
    differences
        What was found, (n,).
    resampled
        What was found on resamples of items, (n, resamples).

    >>> strays = np.random.default_rng(0).normal(size=(3, 999))
    >>> step_down([4.0, 0.5, 0.0], strays + [[4.0], [0.5], [0.0]]).round(2)
    array([0.  , 0.88, 1.  ])
    """
    found, drawn = np.asarray(differences, np.float64), np.asarray(resampled, np.float64)
    if not len(found) or not drawn.shape[-1]:
        return np.full(len(found), np.nan)
    known = np.maximum(1, (~np.isnan(drawn)).sum(axis=1))
    strays = drawn - (np.nansum(drawn, axis=1) / known)[:, None]
    error = np.sqrt(np.nansum(strays**2, axis=1) / known)  # (n,)
    usable = (error > 1e-9) & ~np.isnan(found)  # two methods that say the same do not stray
    size = np.where(usable, np.abs(found) / np.where(usable, error, 1), 0.0)
    strays = np.abs(drawn - found[:, None]) / np.where(usable, error, np.inf)[:, None]
    order = np.argsort(-size, kind="stable")
    # From the last backwards: the largest stray of this and of all less sure ones, (n, resamples).
    largest = np.fmax.accumulate(strays[order][::-1], axis=0)[::-1]
    above = (largest >= size[order][:, None] * (1 - 1e-12)).sum(axis=1)
    together = np.empty(len(found))
    together[order] = np.maximum.accumulate((1 + above) / (1 + drawn.shape[1]))
    return np.where(usable, together, 1.0)


def average_precision(scores: npt.ArrayLike, relevant: npt.ArrayLike) -> float:
    """Compute how early the relevant ones stand when all are sorted by their scores, the highest first.

    Among equal scores the relevant ones are taken to come last, so that a method that cannot tell things apart gains
    nothing by it.

    >>> round(average_precision([0.9, 0.8, 0.7, 0.6], [True, False, True, False]), 4)  # (1/1 + 2/3) / 2
    0.8333
    """
    scores, relevant = np.asarray(scores, np.float64), np.asarray(relevant, bool)
    if not relevant.any():
        return float("nan")
    order = np.lexsort((relevant, -np.where(np.isnan(scores), -np.inf, scores)))
    hits = relevant[order]
    return float((np.cumsum(hits)[hits] / (np.flatnonzero(hits) + 1)).mean())


def area_under_curve(scores: npt.ArrayLike, positive: npt.ArrayLike) -> float:
    """Compute how often a positive has a higher score than a negative, ties counted half.

    >>> area_under_curve([3, 2, 2, 1], [True, True, False, False])
    0.875
    """
    scores, positive = np.asarray(scores, np.float64), np.asarray(positive, bool)
    mine, theirs = int(positive.sum()), int((~positive).sum())
    if not mine or not theirs:
        return float("nan")
    return float((mid_ranks(scores)[positive].sum() - mine * (mine + 1) / 2) / (mine * theirs))
