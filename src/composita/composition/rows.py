"""Rows of vectors, dense or sparse, with the few operations that methods of composition are made of.

>>> rows = np.array([[3.0, 4.0], [0.0, 0.0]])
>>> unit(rows).round(3).tolist(), inner(rows, rows).tolist()
([[0.6, 0.8], [0.0, 0.0]], [25.0, 0.0])
>>> from scipy.sparse import csr_array
>>> inner(times(csr_array(rows), csr_array(rows)), csr_array(rows)).tolist()
[91.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
Float64Array: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
Rows: TypeAlias = Any
"""``(n, d)``: a NumPy array, or a ``scipy.sparse.csr_array``."""


def is_sparse(rows: Rows) -> bool:
    """Say whether rows are a sparse matrix."""
    return bool(sparse.issparse(rows))


def is_dense(rows: Rows) -> TypeGuard[FloatArray]:
    """Say whether rows are a NumPy array."""
    return not sparse.issparse(rows)


def times(x: Rows, y: Rows) -> Rows:
    """Multiply element by element."""
    if is_dense(x) and is_dense(y):
        return x * y
    return sparse.csr_array(x).multiply(sparse.csr_array(y)).tocsr()


def scale(x: Rows, factors: FloatArray) -> Rows:
    """Multiply each row by a number of its own."""
    if is_dense(x):
        return x * factors[:, None].astype(x.dtype)
    scaled = sparse.csr_array(x, copy=True)
    scaled.data = scaled.data * np.repeat(factors.astype(scaled.data.dtype), np.diff(scaled.indptr))
    return scaled


def inner(x: Rows, y: Rows) -> Float64Array:
    """Give the inner product of each row of ``x`` with the same row of ``y``, in float64."""
    if is_dense(x) and is_dense(y):
        found: Float64Array = np.einsum("nd,nd->n", x, y, dtype=np.float64)
        return found
    product = sparse.csr_array(x).astype(np.float64).multiply(sparse.csr_array(y).astype(np.float64))
    return cast(Float64Array, np.asarray(product.sum(axis=1), np.float64).reshape(-1))


def lengths(x: Rows) -> Float64Array:
    """Give the Euclidean length of each row."""
    return np.sqrt(inner(x, x))


def unit(x: Rows) -> Rows:
    """Divide each row by its length; a row of zeros stays as it is."""
    length = lengths(x)
    return scale(x, 1 / np.where(length > 0, length, 1))


def take(x: Rows, ids: IntArray) -> Rows:
    """Give some rows."""
    return x[ids]


def stack(parts: Sequence[Rows]) -> Rows:
    """Put rows under one another."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if all(map(is_dense, parts)) else sparse.vstack(parts, format="csr")


def zeros(count: int, like: Rows) -> Rows:
    """Give rows of zeros, as many columns and as sparse as others."""
    shape = (count, like.shape[1])
    return np.zeros(shape, like.dtype) if is_dense(like) else sparse.csr_array(shape, dtype=like.dtype)


def dense(x: Rows) -> FloatArray:
    """Give rows as a NumPy array."""
    return x if is_dense(x) else cast(FloatArray, x.toarray())
