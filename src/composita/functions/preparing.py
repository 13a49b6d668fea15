"""What all learners do with examples first: drop, merge, weigh, centre; and last: choose how the function is held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from composita.functions.examples import Array, Examples, Int64Array
from composita.functions.function import Function
from composita.store.errors import TooFewError, UsageError

Storage = Literal["auto", "terms", "dense"]
DAMPING = 2.0
"""A phrase found f times weighs f / (f + 2)."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """Examples as learners take them: each combination of arguments once.

    Parameters
    ----------
    examples
        Those left.
    outputs
        Their outputs, less the mean where that was taken off.
    weights
        Their weights, with a mean of 1; None if all are the same.
    mean
        The mean that was taken off.
    numbers
        The number of each in the table given; None where some were merged.
    found
        How many there were.
    dropped
        How many were dropped, by reason.

    """

    examples: Examples
    outputs: Array
    weights: Array | None
    mean: Array | None
    numbers: Int64Array | None
    found: int
    dropped: dict[str, int]

    @property
    def mean_weights(self) -> Array | None:
        """The weights of the examples in the mean that was taken off; None where none was."""
        if self.mean is None:
            return None
        return np.ones(len(self.examples)) if self.weights is None else self.weights

    def labels(self, rows: Int64Array) -> Sequence[str]:
        """Name some of the examples."""
        return self.examples.labels_of(rows)


def prepare(examples: Examples, *, weighted: bool = False, centre: bool = False) -> Prepared:
    """Drop examples without vectors, merge those with equal arguments, weigh and centre the rest."""
    found, dropped = len(examples), {}
    known = examples.known()
    numbers: Int64Array | None = np.flatnonzero(known)
    if not known.all():
        dropped["an argument without a vector"] = int((~known).sum())
        examples = examples.select(known)
    if not len(examples):
        raise TooFewError(f"no example with vectors for all arguments among the {found:,} given")
    weights = _weights(examples, weighted)
    merged = _merged(examples, weights)
    if merged is not None:
        dropped["merged with one of the same arguments"] = len(examples) - len(merged[0])
        (examples, weights), numbers = merged, None
    if weights is not None:
        weights = weights / weights.mean()
    outputs, mean = examples.outputs, None
    if centre:
        mean = np.average(outputs, axis=0, weights=weights).astype(np.float64)
        outputs = (outputs - mean).astype(outputs.dtype)
    return Prepared(examples, outputs, weights, mean, numbers, found, dropped)


def _weights(examples: Examples, weighted: bool) -> Array | None:
    if not weighted:
        return None if examples.weights is None else examples.weights.astype(np.float64)
    if examples.frequency is None:
        raise UsageError("weights need the frequency of the examples, which is missing: give it, or say weights=False")
    weights: Array = examples.frequency / (examples.frequency + DAMPING)
    return weights if examples.weights is None else weights * examples.weights


def _merged(examples: Examples, weights: Array | None) -> tuple[Examples, Array] | None:
    """Merge examples of equal arguments into one, with the mean of their outputs and the sum of their weights."""
    _, firsts, numbers = np.unique(examples.ids, axis=0, return_index=True, return_inverse=True)
    if len(firsts) == len(examples):
        return None
    ranks = np.argsort(np.argsort(firsts))  # in the order of the examples
    numbers = ranks[numbers.reshape(-1)]
    firsts = np.sort(firsts)
    given = np.ones(len(examples)) if weights is None else weights
    sums = np.bincount(numbers, given)
    outputs = np.zeros((len(firsts), examples.outputs.shape[1]))
    np.add.at(outputs, numbers, examples.outputs * given[:, None])
    outputs = (outputs / sums[:, None]).astype(examples.outputs.dtype)
    kept = examples.select(firsts)
    frequency = None if examples.frequency is None else np.bincount(numbers, examples.frequency)
    return replace(kept, outputs=outputs, weights=sums, frequency=frequency), sums


def stored(function: Function, storage: Storage) -> Function:
    """Hold the function as asked."""
    if storage not in ("auto", "terms", "dense"):
        raise UsageError(f"expected the storage auto, terms or dense, got {storage!r}")
    if storage == "auto":
        return function.smaller()
    return function.as_dense() if storage == "dense" else function
