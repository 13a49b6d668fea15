"""Compression: a function of fewer terms that is as near as asked.

Terms with the same linear forms are added up; then each axis of the tensor is restricted to the directions that
matter: the leading eigenvectors of the tensor's moments along that axis, found from Gram matrices. What remains is a
small core, written as terms again, one for each combination of directions of all axes but one. The squared distances
of the axes add up, so that each may take an equal share of the tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from composita.functions.examples import Array
from composita.functions.function import Function
from composita.functions.rows import Rows
from composita.store.errors import UsageError

LIMIT = 1 << 27  # numbers of a core


def compress(function: Function, tolerance: float) -> Function:
    """Give a function of fewer numbers, at most ``tolerance`` times its norm away; itself where there is none."""
    if not 0 < tolerance < 1:
        raise UsageError(f"expected a tolerance between 0 and 1, got {tolerance}")
    if function.norm() == 0:
        return _zero(function)
    whole = function.dense(homogeneous=True).astype(np.float64) if function.is_dense else None
    axes = _axes(function) if whole is None else None
    share = tolerance**2 * function.norm() ** 2 / (function.arity + 1)
    bases = []
    for axis in range(function.arity + 1):
        moments = _moments(function, axis) if whole is None else _unfolded_moments(whole, axis)
        bases.append(_leading(moments, share))
    if prod(basis.shape[1] for basis in bases) > LIMIT:
        return function
    core = _core(axes, function.weights, bases) if axes is not None else _projected(whole, bases)
    found = _from_core(function, core, bases)
    return found if found.nbytes < function.nbytes else function


def _zero(function: Function) -> Function:
    """Give the function that is zero, without terms."""
    dtype = function.dtype
    factors = tuple(
        Rows(np.empty((0, size), dtype), None, np.empty(0, dtype) if one else None)
        for size, one in zip(function.sizes, function.affine, strict=True)
    )
    output = Rows(np.empty((0, function.output_size), dtype))
    return Function(output, factors, names=function.names, types=function.types, training=function.training)


def _axes(function: Function) -> list[Rows]:
    """Give output and arguments as axes of the tensor, the constants of affine arguments as a last coordinate."""
    assert function.output is not None
    found = [function.output]
    for factor in function.factors:
        if factor.constant is None:
            found.append(factor)
        else:
            found.append(Rows(factor.rows(extended=True)))
    return found


def _moments(function: Function, axis: int) -> Array:
    """Give the sum over all pairs of terms of their vectors along an axis, times the inner products of the rest."""
    rows = _axes(function)
    own = rows.pop(axis)
    weights = np.ones(function.terms) if function.weights is None else function.weights.astype(np.float64)
    moments = np.zeros((own.size, own.size))
    step = 2048
    for first in range(0, function.terms, step):
        last = min(first + step, function.terms)
        total = np.zeros((last - first, own.size))
        for start in range(0, function.terms, step):
            end = min(start + step, function.terms)
            block = weights[first:last, None] * weights[start:end]
            for other in rows:
                block = block * (other.rows(first, last).astype(np.float64) @ other.rows(start, end).T)
            total += block @ own.rows(start, end)
        moments += own.rows(first, last).T.astype(np.float64) @ total
    return (moments + moments.T) / 2


def _unfolded_moments(whole: Array, axis: int) -> Array:
    """Give the moments of a dense tensor along the output (0) or an argument, in the order of application."""
    place = 0 if axis == 0 else whole.ndim - axis
    unfolded = np.moveaxis(whole, place, 0).reshape(whole.shape[place], -1)
    moments: Array = unfolded @ unfolded.T
    return moments


def _leading(moments: Array, share: float) -> Array:
    """Give the leading eigenvectors that leave at most so much outside: (size, rank)."""
    values, vectors = np.linalg.eigh(moments)
    outside = np.cumsum(np.clip(values, 0, None))
    rank = max(len(values) - int(np.searchsorted(outside, share, side="right")), 1)
    leading: Array = vectors[:, -rank:]
    return leading


def _core(axes: Sequence[Rows], weights: Array | None, bases: Sequence[Array]) -> Array:
    """Give the tensor in the bases: (output, first argument, ..., last argument)."""
    small = [axis.array.astype(np.float64) @ basis for axis, basis in zip(axes, bases, strict=True)]
    ranks = [basis.shape[1] for basis in bases]
    core = np.zeros((prod(ranks[:-1]), ranks[-1]))
    terms = axes[0].terms
    step = max((1 << 22) // len(core), 16)
    for first in range(0, terms, step):
        last = min(first + step, terms)
        parts = [replace(axis, array=array).rows(first, last) for axis, array in zip(axes, small, strict=True)]
        product = parts[0] if weights is None else parts[0] * weights[first:last, None]
        for part in parts[1:-1]:
            product = (product[:, :, None] * part[:, None, :]).reshape(last - first, -1)
        core += product.T @ parts[-1]
    return core.reshape(ranks)


def _projected(whole: Any, bases: Sequence[Array]) -> Array:  # noqa: ANN401 - an array
    """Give a dense tensor in the bases, its axes in the order of application."""
    core = whole.transpose(0, *range(whole.ndim - 1, 0, -1))
    for axis, basis in enumerate(bases):
        core = np.moveaxis(np.tensordot(basis.T, core, (1, axis)), 0, axis)
    return np.ascontiguousarray(core)


def _from_core(function: Function, core: Array, bases: Sequence[Array]) -> Function:
    """Write a core as terms: the longest axis is summed up in each, the others are run through."""
    dtype, chosen = function.dtype, int(np.argmax(core.shape))
    others = [axis for axis in range(core.ndim) if axis != chosen]
    grid = np.indices([core.shape[axis] for axis in others]).reshape(len(others), -1)
    rows: list[Rows] = [Rows(np.empty((0, 0)))] * core.ndim
    rows[chosen] = Rows(np.moveaxis(core, chosen, -1).reshape(-1, core.shape[chosen]) @ bases[chosen].T)
    for axis, numbers in zip(others, grid, strict=True):
        rows[axis] = Rows(np.ascontiguousarray(bases[axis].T), numbers)
    factors = [
        _split(row.astype(dtype)) if one else row.astype(dtype)
        for row, one in zip(rows[1:], function.affine, strict=True)
    ]
    about: dict[str, Any] = {"names": function.names, "types": function.types, "training": function.training}
    return Function(rows[0].astype(dtype), tuple(factors), **about).smaller()


def _split(row: Rows) -> Rows:
    """Make the last coordinate the constant again."""
    return Rows(np.ascontiguousarray(row.array[:, :-1]), row.index, row.array[:, -1][row.numbered()])
