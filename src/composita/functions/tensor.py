"""The dense tensor of a sum of terms.

One argument's rows are shared by many terms. So the terms of each of its rows are added up first, to a map of the other
arguments, and only that is multiplied with the row: N q d + R q d^2 multiplications for R rows instead of N q d^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from composita.functions.examples import Array, Int64Array
from composita.functions.rows import Rows

if TYPE_CHECKING:
    from composita.functions.function import Function

BLOCK = 1 << 25  # numbers of an intermediate result


def dense_tensor(function: Function) -> Array:
    """Add up the terms: (output, last argument, ..., first argument), affine arguments with a constant coordinate."""
    output = function.output
    assert output is not None
    used = [len(np.unique(factor.numbered())) for factor in function.factors]
    place = int(np.argmin(used))
    shared = function.factors[place]
    others = [factor for number, factor in enumerate(function.factors) if number != place][::-1]
    sizes = [factor.size + int(factor.constant is not None) for factor in others]
    width, size = output.size * prod(sizes), shared.size + int(shared.constant is not None)
    found = np.zeros((width, size), function.dtype)
    numbers = shared.numbered()
    order = np.argsort(numbers, kind="stable")
    for first, last in _runs(numbers[order], width):
        rows, maps = _maps(function, output, others, order[first:last], numbers[order[first:last]])
        found[:, : shared.size] += maps.T @ shared.array[rows]
    if shared.constant is not None:
        for first, last in _runs(np.zeros(function.terms, np.int64), width):
            terms = np.arange(first, last)
            _, maps = _maps(function, output, others, terms, np.zeros(len(terms), np.int64), shared.constant[terms])
            found[:, -1] += maps[0]
    tensor = found.reshape(output.size, *sizes, size)
    axes = [number for number in range(function.arity) if number != place][::-1]
    return np.ascontiguousarray(tensor.transpose(0, *_back(axes, place)))


def _back(axes: Sequence[int], place: int) -> list[int]:
    """Say where each axis is to come from: the last argument first."""
    where = {axis: number for number, axis in enumerate([*axes, place], 1)}
    return [where[axis] for axis in sorted(where, reverse=True)]


def _runs(numbers: Int64Array, width: int) -> list[tuple[int, int]]:
    """Cut sorted numbers where few different ones, and few terms, are together."""
    start = int(np.searchsorted(numbers, 0))  # rows of zeros need not be added up
    cuts = np.flatnonzero(np.diff(numbers[start:], prepend=-1)) + start
    groups = max(BLOCK // width, 1)
    terms = max(BLOCK // width, 1 << 12)
    runs, place = [], 0
    while place < len(cuts):
        end = int(cuts[place + groups]) if place + groups < len(cuts) else len(numbers)
        runs += [(first, min(first + terms, end)) for first in range(int(cuts[place]), end, terms)]
        place += groups
    return runs


def _maps(
    function: Function, output: Rows, others: Sequence[Rows], terms: Int64Array, numbers: Int64Array,
    scale: Array | None = None,
) -> tuple[Int64Array, Array]:  # fmt: skip
    """Add up some terms, without the shared argument, by its rows: the rows (g,) and the maps (g, width)."""
    left = output.at(terms)
    for weights in (None if function.weights is None else function.weights[terms], scale):
        left = left if weights is None else left * weights[:, None]
    right = np.ones((len(terms), 1), function.dtype)
    for factor in others:
        rows = factor.at(terms, extended=factor.constant is not None)
        right = (right[:, :, None] * rows[:, None, :]).reshape(len(terms), -1)
    bounds = np.append(np.flatnonzero(np.diff(numbers, prepend=-1)), len(terms))
    maps = np.empty((len(bounds) - 1, output.size, right.shape[1]), function.dtype)
    for group in range(len(maps)):
        part = slice(bounds[group], bounds[group + 1])
        np.matmul(left[part].T, right[part], out=maps[group])
    return numbers[bounds[:-1]], maps.reshape(len(maps), -1)
