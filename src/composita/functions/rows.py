"""Rows of vectors to which many terms refer by number, so that what terms share is stored once.

A term of a function looks at an argument x through a linear form: row . x + constant. Constants are what homogeneous
coordinates (each argument extended by a 1) come to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from composita.functions.examples import Array, Int64Array


@dataclass(frozen=True, eq=False)
class Rows:
    """Vectors (R, d), and for each term the number of its row.

    Parameters
    ----------
    array
        The vectors.
    index
        For each of T terms its row, or -1 for a row of zeros; None if the terms are the rows, in their order.
    constant
        What is added to the linear form of each term; None if nothing.
    source
        For each row of ``array`` which row it is of the vectors that were learned from, where it is one of them.

    >>> forms = Rows(np.eye(2), np.array([0, 1, 0, -1]), np.array([0.0, 0.0, 1.0, 1.0]))
    >>> forms.values(np.array([[3.0, 5.0]]))
    array([[3., 5., 4., 1.]])
    """

    array: Array
    index: Int64Array | None = None
    constant: Array | None = None
    source: Int64Array | None = None

    @property
    def terms(self) -> int:
        """How many terms refer to the rows."""
        return len(self.array) if self.index is None else len(self.index)

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        return int(self.array.shape[1])

    @property
    def nbytes(self) -> int:
        """How much memory the numbers take."""
        parts = (self.array, self.index, self.constant)
        return sum(part.nbytes for part in parts if part is not None)

    def values(self, x: Array) -> Array:
        """Give the value of every term's form at each vector: (B, d) -> (B, T)."""
        found = x @ self.array.T  # (B, R)
        if self.index is not None:
            found = self.spread(found)
        return found if self.constant is None else found + self.constant

    def spread(self, values: Array) -> Array:
        """Give each term the value of its row: (B, R) -> (B, T)."""
        if self.index is None:
            return values
        if len(self.array) == 0:
            return np.zeros((len(values), len(self.index)), values.dtype)
        spread = np.take(values, np.maximum(self.index, 0), axis=1)
        if len(self.index) and self.index.min() < 0:
            spread[:, self.index < 0] = 0
        return spread

    def rows(self, first: int = 0, last: int | None = None, *, extended: bool = False) -> Array:
        """Give the row of each of some terms, if asked for with its constant as a last coordinate: (T, d[+1])."""
        return self.at(slice(first, last), extended=extended)

    def at(self, terms: Array | slice, *, extended: bool = False) -> Array:
        """Give the rows of the terms of these numbers."""
        if self.index is None:
            rows = self.array[terms]
        else:
            index = self.index[terms]
            rows = self.array[np.maximum(index, 0)] if len(self.array) else np.zeros((len(index), self.size))
            if len(index) and index.min() < 0:
                rows[index < 0] = 0
        if not extended:
            return rows
        constant = np.zeros(len(rows), rows.dtype) if self.constant is None else self.constant[terms]
        return np.concatenate([rows, constant[:, None].astype(rows.dtype)], axis=1)

    def numbered(self) -> Int64Array:
        """Give the row number of each term, also where the terms are the rows."""
        return np.arange(len(self.array)) if self.index is None else self.index

    def select(self, terms: Array) -> Rows:
        """Keep some terms, and the rows that they need."""
        numbers = self.numbered()[terms]
        used, index = np.unique(numbers, return_inverse=True)
        index = index.reshape(-1).astype(np.int64)
        if len(used) and used[0] < 0:
            used, index = used[1:], index - 1
        constant = None if self.constant is None else self.constant[terms]
        source = None if self.source is None else self.source[used]
        in_order = len(used) == len(index) and bool((index == np.arange(len(index))).all())
        return Rows(self.array[used], None if in_order else index, constant, source)

    def joined(self, other: Rows) -> Rows:
        """Give the terms of both, these first."""
        theirs = other.numbered()
        index = np.concatenate([self.numbered(), np.where(theirs < 0, -1, theirs + len(self.array))])
        constant = None
        if self.constant is not None or other.constant is not None:
            constant = np.concatenate([_constants(self), _constants(other)])
        both = self.source is not None and other.source is not None
        source = np.concatenate([self.source, other.source]) if both else None
        in_order = bool((index == np.arange(len(index))).all()) and len(index) == len(self.array) + len(other.array)
        return Rows(np.concatenate([self.array, other.array]), None if in_order else index, constant, source)

    def astype(self, dtype: Any) -> Rows:  # noqa: ANN401 - what NumPy takes
        """Store the numbers in another type."""
        constant = None if self.constant is None else self.constant.astype(dtype, copy=False)
        return replace(self, array=self.array.astype(dtype, copy=False), constant=constant)

    # ------------------------------------------------------------ storage

    def to_arrays(self, name: str, *, shared: bool = False) -> dict[str, Array]:
        """Give the parts by name; with ``shared`` only the numbers of rows that others hold too."""
        arrays: dict[str, Array] = {}
        if shared and self.source is not None:
            arrays[f"{name}.source"] = self.source
        else:
            arrays[f"{name}.rows"] = self.array
        if self.index is not None:
            arrays[f"{name}.index"] = self.index.astype(np.int32)
        if self.constant is not None:
            arrays[f"{name}.constant"] = self.constant
        return arrays

    @classmethod
    def from_arrays(cls, name: str, arrays: Mapping[str, Array], held: Array | None = None) -> Rows:
        """Put the parts together again; ``held`` are the vectors whose numbers were stored."""
        source = arrays.get(f"{name}.source")
        if source is None:
            array = arrays[f"{name}.rows"]
        elif held is None:
            raise ValueError(
                f"the rows of {name} are stored as numbers, and the vectors that they stand for are missing"
            )
        elif len(source) and not 0 <= source.min() <= source.max() < len(held):
            raise ValueError(f"rows of {name} stand for vectors that are not there")
        else:
            array = held[source]
        index = arrays.get(f"{name}.index")
        if index is not None and len(index) and not -1 <= index.min() <= index.max() < max(len(array), 1):
            raise ValueError(f"terms refer to rows of {name} that are not there")
        return cls(array, index, arrays.get(f"{name}.constant"), source)


def _constants(rows: Rows) -> Array:
    return np.zeros(rows.terms, rows.array.dtype) if rows.constant is None else rows.constant
