"""Similarity: of pairs, of all with all in blocks, and the nearest neighbours of a vector.

    cosine      x . y / (|x| |y|)
    dot         x . y
    euclidean   1 / (1 + |x - y|)
    lin         sum of x_i + y_i where both are positive / sum of all x_i + y_i (Lin 1998); no number may be negative
    pearson     cosine of x and y after their means are taken off

What is not defined (the cosine of a row of zeros) is NaN, and never among the neighbours.

>>> pairs(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 1.0]]), "cosine")
array([0.70710678,        nan])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from composita.store.errors import InputError, UsageError

Array = npt.NDArray[Any]
Float64Array = npt.NDArray[np.float64]

MEASURES = ("cosine", "dot", "euclidean", "lin", "pearson")
BLOCK = 1 << 14


def check_measure(measure: str) -> None:
    """Refuse a measure that there is not."""
    if measure not in MEASURES:
        raise UsageError(f"unknown measure {measure!r}: choose {', '.join(MEASURES)}")


def pairs(one: Array, other: Array, measure: str = "cosine") -> Float64Array:
    """Compute the similarity of each row of one matrix with the same row of the other."""
    check_measure(measure)
    x, y = np.atleast_2d(one).astype(np.float64), np.atleast_2d(other).astype(np.float64)
    if x.shape != y.shape:
        raise UsageError(f"expected two matrices of one shape, got {x.shape} and {y.shape}")
    if measure == "pearson":
        x, y = _centred(x), _centred(y)
    if measure == "dot":
        return _filled(np.einsum("ij,ij->i", x, y))
    if measure == "euclidean":
        return _filled(1 / (1 + np.linalg.norm(x - y, axis=1)))
    if measure == "lin":
        _check_positive(x, y)
        both = (x > 0) & (y > 0)
        return _divide(((x + y) * both).sum(axis=1), x.sum(axis=1) + y.sum(axis=1))
    return _divide(np.einsum("ij,ij->i", x, y), np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1))


def table(one: Array, other: Array, measure: str = "cosine") -> Float64Array:
    """Compute the similarity of each row of one matrix with each row of the other: (n, d), (m, d) -> (n, m)."""
    check_measure(measure)
    x, y = np.atleast_2d(one).astype(np.float64), np.atleast_2d(other).astype(np.float64)
    if x.shape[1] != y.shape[1]:
        raise UsageError(f"expected vectors of one size, got {x.shape[1]} and {y.shape[1]}")
    if measure == "lin":
        _check_positive(x, y)
        shared = np.stack([((row + y) * ((row > 0) & (y > 0))).sum(axis=1) for row in x])
        return _divide(shared, x.sum(axis=1)[:, None] + y.sum(axis=1))
    if measure == "pearson":
        x, y = _centred(x), _centred(y)
    dots = x @ y.T
    if measure == "dot":
        return dots
    squares = np.einsum("ij,ij->i", x, x)[:, None], np.einsum("ij,ij->i", y, y)[None, :]
    if measure == "euclidean":
        return _filled(1 / (1 + np.sqrt(np.clip(squares[0] + squares[1] - 2 * dots, 0, None))))
    return _divide(dots, np.sqrt(squares[0] * squares[1]))


class Comparison:
    """The rows most similar to some vectors, found while all rows pass by in blocks."""

    def __init__(self, vectors: Array, measure: str) -> None:
        check_measure(measure)
        self.measure = measure
        self.vectors = np.ascontiguousarray(_centred(vectors.astype(np.float64)) if measure == "pearson" else vectors)
        self.vectors = self.vectors.astype(np.float32)
        if measure == "lin":
            _check_positive(self.vectors)
        self.squares = np.einsum("ij,ij->i", self.vectors, self.vectors, dtype=np.float64)
        self.rows = [np.empty(0, np.int64) for _ in vectors]
        self.values = [np.empty(0) for _ in vectors]

    def add(
        self,
        block: Any,  # noqa: ANN401 - sparse or dense rows
        numbers: npt.NDArray[np.int64],
        n: int,
        squared: Float64Array | None = None,
    ) -> None:
        """Compare a block of rows, whose squared lengths may be given, and keep the best so far."""
        for place, values in enumerate(self._compare(block, squared)):
            found = best(values, n)
            rows = np.concatenate([self.rows[place], numbers[found]])
            both = np.concatenate([self.values[place], values[found]])
            kept = best(both, n)
            self.rows[place], self.values[place] = rows[kept], both[kept]

    def _compare(self, block: Any, squared: Float64Array | None) -> Float64Array:  # noqa: ANN401
        """Give the similarities of a block: (vectors, rows)."""
        if self.measure == "lin" or (self.measure == "pearson" and not isinstance(block, np.ndarray)):
            dense = block if isinstance(block, np.ndarray) else block.toarray()
            return table(self.vectors, dense, self.measure)
        if self.measure == "pearson":
            block, squared = _centred(block.astype(np.float64)).astype(np.float32), None
        dots = np.asarray((block @ self.vectors.T).T, np.float64)
        if self.measure == "dot":
            return dots
        if squared is None:
            squared = squares(block)
        if self.measure == "euclidean":
            return _filled(1 / (1 + np.sqrt(np.clip(self.squares[:, None] + squared - 2 * dots, 0, None))))
        return _divide(dots, np.sqrt(self.squares[:, None] * squared))

    def result(self, n: int) -> list[list[tuple[int, float]]]:
        """Give numbers and similarities of the best rows, for each vector."""
        return [
            list(zip(rows[:n].tolist(), values[:n].tolist(), strict=True))
            for rows, values in zip(self.rows, self.values, strict=True)
        ]


def squares(block: Any) -> Float64Array:  # noqa: ANN401 - sparse or dense rows
    """Give the squared length of each row."""
    if isinstance(block, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", block, block), np.float64)
    return np.asarray(block.multiply(block).sum(axis=1), np.float64).reshape(-1)


def blocks(size: int, block: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Divide so many rows into blocks."""
    for first in range(0, size, block):
        yield first, min(size, first + block)


def best(similarities: Float64Array, count: int) -> npt.NDArray[np.int64]:
    """Give the places of the largest, from the largest; equal ones in their order, NaN not at all.

    >>> best(np.array([0.1, np.nan, 0.5, 0.5]), 2)
    array([2, 3])
    """
    known = np.flatnonzero(~np.isnan(similarities))
    values = similarities[known]
    if len(known) > 4 * count + 16:
        least = np.partition(values, len(values) - count)[len(values) - count]
        known, values = known[values >= least], values[values >= least]
    order = np.argsort(-values, kind="stable")[:count]
    return known[order]


def _centred(rows: Float64Array) -> Float64Array:
    centred: Float64Array = rows - rows.mean(axis=1, keepdims=True)
    # What is left of a constant row is rounding.
    centred[np.ptp(rows, axis=1) == 0] = 0
    return centred


def _divide(above: Float64Array, below: Float64Array) -> Float64Array:
    result = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result


def _filled(values: Any) -> Float64Array:  # noqa: ANN401 - NumPy's arithmetic forgets what it gives
    return np.asarray(values, np.float64)


def _check_positive(*matrices: Float64Array) -> None:
    if any((matrix < 0).any() for matrix in matrices):
        raise InputError("Lin's measure is of vectors without negative numbers: use the cosine, or a space without svd")
