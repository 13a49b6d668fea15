"""Steps: what is done to the core and repeated on whatever is projected; a chain of them makes a space.

A step is fitted on the core and keeps what it needs to be applied to other rows: column statistics, the columns that
were kept, the basis of a reduction. Its first line of printing is its name in a chain: ``counts -> ppmi -> svd 300``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from composita.counting.counts import Matrix
from composita.spaces import kernels
from composita.spaces.cells import product
from composita.spaces.nmf import Factors, gram, least_squares
from composita.spaces.svd import Decomposition
from composita.spaces.weighting import Weighting
from composita.store.errors import InputError, UsageError

Array = npt.NDArray[Any]
Float32Array = npt.NDArray[np.float32]
Rows: TypeAlias = Matrix | Float32Array

NORMS = ("l1", "l2")
PROJECTIONS = ("nnls", "pinv")


@runtime_checkable
class Step(Protocol):
    """What every step can do."""

    kind: ClassVar[str]

    def apply(self, matrix: Any, /) -> Rows:  # noqa: ANN401 - sparse or dense rows
        """Do it to some rows."""

    def parameters(self) -> dict[str, Any]:
        """Say what JSON can say of it."""

    def arrays(self) -> dict[str, Array]:
        """Give the arrays that it needs."""


# ---------------------------------------------------------------- columns


@dataclass(frozen=True)
class Selection:
    """Keep some columns.

    ``by`` says how they were chosen: ``count`` (at least so many in the core), ``sum`` or ``length`` (the largest).
    """

    columns: npt.NDArray[np.int64]
    size: int
    by: str

    kind: ClassVar[str] = "selection"

    @classmethod
    def fit(cls, core: Matrix, *, top: int | None = None, by: str = "length", min_count: float = 0) -> Selection:
        """Choose the columns with the largest sum or length, or with at least ``min_count`` in all."""
        amounts = np.zeros(core.shape[1])
        if by not in ("sum", "length"):
            raise UsageError(f"columns are chosen by sum or length, got {by!r}")
        if top is not None and top < 1:
            raise UsageError(f"expected at least 1 column to keep, got {top}")
        cells = core.data.astype(np.float64)
        np.add.at(amounts, core.indices, cells**2 if by == "length" and top is not None else np.abs(cells))
        if top is None:
            kept = np.flatnonzero(amounts >= min_count)
        else:
            # The largest, the first of equal ones; in their old order.
            kept = np.sort(np.lexsort((np.arange(len(amounts)), -amounts))[:top])
        kept = kept[amounts[kept] > 0]
        if not len(kept):
            raise InputError("no column is left: all are empty, or have fewer counts than asked for")
        return cls(kept, core.shape[1], "count" if top is None else by)

    def __str__(self) -> str:
        return f"columns {len(self.columns)} by {self.by}"

    def apply(self, matrix: Rows) -> Rows:
        """Drop the other columns."""
        if matrix.shape[1] != self.size:
            raise UsageError(f"expected rows of {self.size:,} columns, got {matrix.shape[1]:,}")
        if not isinstance(matrix, Matrix):
            return np.ascontiguousarray(matrix[:, self.columns])
        number = np.full(self.size, -1, np.int32)
        number[self.columns] = np.arange(len(self.columns))
        ends = np.empty(matrix.shape[0], np.int64)
        indices, data = np.empty(len(matrix.indices), np.int32), np.empty_like(matrix.data)
        used = kernels.keep_columns(matrix.indptr, matrix.indices, matrix.data, number, ends, indices, data)
        indptr = np.concatenate([[0], ends]).astype(np.int64)
        return Matrix(indptr, indices[:used], data[:used], (matrix.shape[0], len(self.columns)))

    def parameters(self) -> dict[str, Any]:
        """Say what JSON can say of it."""
        return {"size": self.size, "by": self.by}

    def arrays(self) -> dict[str, Array]:
        """Give the columns."""
        return {"columns": self.columns}

    @classmethod
    def restore(cls, said: Mapping[str, Any], arrays: Mapping[str, Array]) -> Selection:
        """Make it again from what was saved."""
        return cls(arrays["columns"], said["size"], said["by"])


# ---------------------------------------------------------------- rows


@dataclass(frozen=True)
class Normalisation:
    """Divide each row by the sum of its amounts (``l1``) or by its length (``l2``); zeros stay zeros.

    >>> Normalisation("l2").apply(np.array([[3, 4], [0, 0]], np.float32))
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """

    norm: str

    kind: ClassVar[str] = "normalisation"

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise UsageError(f"expected the norm l1 or l2, got {self.norm!r}")

    def __str__(self) -> str:
        return self.norm

    def apply(self, matrix: Rows) -> Rows:
        """Divide each row."""
        if isinstance(matrix, Matrix):
            lengths = np.empty(matrix.shape[0])
            kernels.row_lengths(matrix.indptr, matrix.data, self.norm == "l2", lengths)
            data = np.empty(len(matrix.data), np.float32)
            kernels.divide_rows(matrix.indptr, matrix.data, lengths, data)
            return matrix._replace(data=data)
        amounts = np.linalg.norm(matrix.astype(np.float64), ord=1 if self.norm == "l1" else 2, axis=1, keepdims=True)
        divided: Float32Array = (matrix / np.where(amounts == 0, 1, amounts)).astype(np.float32)
        return divided

    def parameters(self) -> dict[str, Any]:
        """Say what JSON can say of it."""
        return {"norm": self.norm}

    def arrays(self) -> dict[str, Array]:
        """Give none."""
        return {}

    @classmethod
    def restore(cls, said: Mapping[str, Any], arrays: Mapping[str, Array]) -> Normalisation:
        """Make it again from what was saved."""
        return cls(said["norm"])


# ---------------------------------------------------------------- dimensions


@dataclass(frozen=True)
class Svd:
    """Rows become x V Sigma^(power - 1): of a row of the core, that is its row of U Sigma^power.

    The first ``drop`` dimensions are left out, which often say only how frequent a word is.
    """

    values: npt.NDArray[np.float64]  # all that were computed
    vectors: Float32Array  # (columns, k)
    power: float = 1.0
    drop: int = 0
    residual: float = 0.0

    kind: ClassVar[str] = "svd"

    @classmethod
    def of(cls, found: Decomposition, *, power: float = 1.0, drop: int = 0) -> Svd:
        """Take the vectors that are wanted of a decomposition."""
        if len(found.values) <= drop:
            raise InputError(f"the core has rank {len(found.values)}: no dimension is left when {drop} are dropped")
        return cls(found.values, found.vectors, power, drop, found.residual)

    def __str__(self) -> str:
        said = [f"svd {len(self.values) - self.drop}"]
        said += [f"power {self.power:g}"] if self.power != 1 else []
        said += [f"without the first {self.drop}"] if self.drop else []
        return " ".join(said)

    @cached_property
    def basis(self) -> Float32Array:
        """What rows are multiplied by."""
        scale = self.values[self.drop :] ** (self.power - 1)
        basis: Float32Array = np.ascontiguousarray(self.vectors[:, self.drop :] * scale, np.float32)
        return basis

    def apply(self, matrix: Rows) -> Rows:
        """Multiply rows by the basis."""
        if matrix.shape[1] != len(self.vectors):
            raise UsageError(f"expected rows of {len(self.vectors):,} columns, got {matrix.shape[1]:,}")
        if isinstance(matrix, Matrix):
            return product(matrix._replace(data=matrix.data.astype(np.float32, copy=False)), self.basis)
        return (matrix @ self.basis).astype(np.float32)

    def parameters(self) -> dict[str, Any]:
        """Say what JSON can say of it."""
        return {"power": self.power, "drop": self.drop, "residual": self.residual}

    def arrays(self) -> dict[str, Array]:
        """Give singular values and vectors."""
        return {"values": self.values, "vectors": self.vectors}

    @classmethod
    def restore(cls, said: Mapping[str, Any], arrays: Mapping[str, Array]) -> Svd:
        """Make it again from what was saved."""
        return cls(arrays["values"], arrays["vectors"], said["power"], said["drop"], said["residual"])


@dataclass(frozen=True)
class Nmf:
    """Rows become the w >= 0 with the least |x / N - w H|, N the sum of the core; or by ``pinv`` x / N times pinv(H).

    The latter is what DISSECT does, and gives negative numbers. With least squares, rows of the core get their row of W
    once more, as good as H allows.
    """

    patterns: Float32Array  # H (k, columns), rows of length 1
    total: float
    projection: str = "nnls"
    solver: str = "hals"
    report: tuple[tuple[float, float], ...] = ()  # of each iteration the relative error and projected gradient

    kind: ClassVar[str] = "nmf"

    def __post_init__(self) -> None:
        if self.projection not in PROJECTIONS:
            raise UsageError(f"rows are projected by {' or '.join(PROJECTIONS)}, got {self.projection!r}")

    @classmethod
    def of(cls, found: Factors, solver: str, projection: str) -> Nmf:
        """Take what was found."""
        report = tuple((step.error, step.gradient) for step in found.report)
        return cls(found.patterns, found.total, projection, solver, report)

    def __str__(self) -> str:
        said = [f"nmf {len(self.patterns)}"]
        said += [f"by {self.solver}"] if self.solver != "hals" else []
        said += ["projected by pinv"] if self.projection == "pinv" else []
        return " ".join(said)

    @cached_property
    def _turned(self) -> Float32Array:
        """H^T, or pinv(H), each divided by N."""
        turned = self.patterns.T if self.projection == "nnls" else np.linalg.pinv(self.patterns.astype(np.float64))
        divided: Float32Array = np.ascontiguousarray(turned / self.total, np.float32)
        return divided

    @cached_property
    def _gram(self) -> npt.NDArray[np.float64]:
        return gram(np.ascontiguousarray(self.patterns.T))

    def apply(self, matrix: Rows) -> Rows:
        """Find the weights of rows."""
        if matrix.shape[1] != self.patterns.shape[1]:
            raise UsageError(f"expected rows of {self.patterns.shape[1]:,} columns, got {matrix.shape[1]:,}")
        if isinstance(matrix, Matrix):
            against = product(matrix._replace(data=matrix.data.astype(np.float32, copy=False)), self._turned)
        else:
            against = matrix @ self._turned
        if self.projection == "pinv":
            return against.astype(np.float32)
        weights = np.zeros(against.shape, np.float32)
        least_squares(against, self._gram, weights)
        return weights

    def parameters(self) -> dict[str, Any]:
        """Say what JSON can say of it."""
        report = [list(step) for step in self.report]
        return {"total": self.total, "projection": self.projection, "solver": self.solver, "report": report}

    def arrays(self) -> dict[str, Array]:
        """Give H."""
        return {"patterns": self.patterns}

    @classmethod
    def restore(cls, said: Mapping[str, Any], arrays: Mapping[str, Array]) -> Nmf:
        """Make it again from what was saved."""
        report = tuple((float(error), float(gradient)) for error, gradient in said["report"])
        return cls(arrays["patterns"], said["total"], said["projection"], said["solver"], report)


# ---------------------------------------------------------------- chains

STEPS: dict[str, Any] = {step.kind: step for step in (Weighting, Selection, Normalisation, Svd, Nmf)}

Chain: TypeAlias = tuple[Step, ...]


def apply_chain(chain: Sequence[Step], rows: Rows) -> tuple[Rows, npt.NDArray[np.int32]]:
    """Do all steps to some rows; also give how many cells each had when it was last sparse."""
    lengths = _lengths(rows)
    for step in chain:
        rows = step.apply(rows)
        if isinstance(rows, Matrix):
            lengths = _lengths(rows)
    return rows, lengths


def _lengths(rows: Rows) -> npt.NDArray[np.int32]:
    counted = np.diff(rows.indptr) if isinstance(rows, Matrix) else np.count_nonzero(rows, axis=1)
    return counted.astype(np.int32)


def is_sparse(chain: Sequence[Step]) -> bool:
    """Whether rows are sparse at the end of a chain."""
    return not any(step.kind in ("svd", "nmf") for step in chain)


def describe(source: str, chain: Sequence[Step]) -> str:
    """Write a chain for people."""
    return " -> ".join([source, *map(str, chain)])
