"""Paired differences: whether one method is better than another on the same items, and how sure that is.

Both are scored on the items that both cover, and every resample of items scores both, so that what makes a set of items
easy or hard cancels out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from composita.evaluation.statistics import Observations, correlations, holm, interval, resamples, two_sided

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """How much higher the first scores than the second, with the 95% interval of the difference over items."""

    benchmark: str
    convention: str
    first: str
    second: str
    scores: tuple[float, float]
    value: float
    bounds: tuple[float, float]
    p: float
    items: int
    p_corrected: float = float("nan")

    @property
    def cells(self) -> tuple[str, ...]:
        """Write it as cells of a table: what, the two scores, their difference, its interval, p, items."""
        low, high = self.bounds
        corrected = "" if np.isnan(self.p_corrected) else f"{self.p_corrected:.3f}"
        return (
            self.benchmark, self.convention, self.first, self.second, f"{self.scores[0]:.3f}", f"{self.scores[1]:.3f}",
            f"{self.value:+.3f}", f"[{low:+.3f}, {high:+.3f}]", f"{self.p:.3f}", corrected, str(self.items),
        )  # fmt: skip


HEADS = (
    "benchmark", "scored on", "first", "second", "rho first", "rho second", "difference", "95% interval", "p",
    "p corrected", "items",
)  # fmt: skip


@dataclass(frozen=True)
class Rated:
    """The items of a benchmark with their ratings, in the two ways of scoring."""

    benchmark: str
    observations: dict[str, Observations]  # by convention
    items: int

    @classmethod
    def of(cls, benchmark: str, item: Sequence[int], rating: Sequence[float], items: int) -> Rated:
        """Take individual ratings: the item of each, and what it was rated."""
        numbers, values = np.asarray(item, np.int64), np.asarray(rating, np.float64)
        counts = np.bincount(numbers, minlength=items)
        means = np.where(counts > 0, np.bincount(numbers, values, items) / np.maximum(counts, 1), np.nan)
        return cls(benchmark, {
            "rho_individual": Observations.of(numbers, values, items), "rho_mean": Observations.of_means(means),
        }, items)  # fmt: skip


def paired(
    rated: Rated, convention: str, first: tuple[str, FloatArray], second: tuple[str, FloatArray], *, number: int,
    seed: int = 0,
) -> Difference | None:  # fmt: skip
    """Compare two methods, each a name with its predictions, (items,), NaN for what it does not cover.

    None where one of the two has no score on the items that both cover.

    >>> rated = Rated.of("mine", [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], 5)
    >>> good, bad = np.array([1.0, 2, 3, 4, np.nan]), np.array([4.0, 3, 2, 1, 0])
    >>> found = paired(rated, "rho_mean", ("good", good), ("bad", bad), number=100)
    >>> found.value, found.items
    (2.0, 4)
    """
    both = ~np.isnan(first[1]) & ~np.isnan(second[1])
    if both.sum() < 2:
        return None
    rows = np.stack([np.where(both, first[1], np.nan), np.where(both, second[1], np.nan)])
    observations = rated.observations[convention]
    scores = correlations(rows, observations)[:, 0]
    if np.isnan(scores).any():  # one of them says the same of all items
        return None
    drawn = correlations(rows, observations, resamples(rated.items, max(1, number), seed))
    differences = drawn[0] - drawn[1]
    return Difference(
        rated.benchmark, convention, first[0], second[0], (float(scores[0]), float(scores[1])),
        float(scores[0] - scores[1]), interval(differences), two_sided(differences), int(both.sum()),
    )  # fmt: skip


def corrected(differences: Sequence[Difference]) -> list[Difference]:
    """Correct the p values of differences that were looked at together."""
    from dataclasses import replace

    together = holm([one.p for one in differences])
    return [replace(one, p_corrected=p) for one, p in zip(differences, together, strict=True)]
