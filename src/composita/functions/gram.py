"""Lengths of combinations of learned maps, without the maps: the outputs of the upper levels of multi-step regression.

A map is the sum of the terms of its examples, y_e (x) a_e (x) ..., so the inner product of two maps is the sum of a
block of the element-wise product of Gram matrices,

    G[g, g'] = sum over e in g, e' in g' of (Y Y')[e, e'] (A A')[e, e'] ...

For N examples of G maps from d to q numbers there are three ways to what is needed, chosen by their cost:

- ``blocks``: that sum, N^2 (d + q) / 2 multiplications, best for small groups;
- ``maps``: the maps themselves, by slices of their outputs, N d q + G^2 d q / 2;
- ``combined``: only the combinations asked for, k of them, by slices: N d q + k G d q; no G x G matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from composita.functions.examples import Array, Int64Array

ROWS = 512  # examples in a block of rows
SLICE = 1 << 21  # numbers of a slice of maps: what a processor keeps near
OVERHEAD = 30  # what an element of a block costs beside its multiplications, in multiplications


@dataclass(frozen=True, eq=False)
class MapOutputs:
    """Maps as outputs, each the sum of the terms of some examples that follow each other.

    Parameters
    ----------
    parts
        The vectors of the examples whose products make the terms, outputs first: each (N, size).
    bounds
        Where the examples of each map begin and end.
    way
        ``blocks``, ``maps``, ``combined``; or by cost.

    """

    parts: tuple[Array, ...]
    bounds: Int64Array
    way: str = ""
    grams: dict[int, Array] = field(default_factory=dict)

    def energies(self, members: Int64Array, combinations: Array) -> Array:
        """Give the squared lengths of combinations (B, m, k) of the maps of members (B, m)."""
        found = np.empty((len(members), combinations.shape[2]))
        for place, (row, weights) in enumerate(zip(members, combinations, strict=True)):
            first, last = int(row[0]), int(row[-1]) + 1
            if self.chosen_way(first, last, weights.shape[1]) == "combined":
                found[place] = self._combined(first, last, weights)
            else:
                gram = self.gram(first, last)
                found[place] = np.einsum("mk,mk->k", weights, gram @ weights)
        return found

    def total(self, members: Int64Array, weights: Array | None, centred: bool) -> Array:
        """Give the summed, weighted squared lengths of the maps, or of their distances from the mean."""
        found = np.empty(len(members))
        for place, row in enumerate(members):
            first, last = int(row[0]), int(row[-1]) + 1
            weight = np.ones(len(row)) if weights is None else weights[place]
            lengths = np.diagonal(self.grams[first]) if first in self.grams else self._lengths(first, last)
            found[place] = weight @ lengths
            if centred:
                sums = self.energies(row[None], weight[None, :, None])[0, 0]
                found[place] -= sums / weight.sum()
        return found

    # ------------------------------------------------------------ which way

    def chosen_way(self, first: int, last: int, count: int) -> str:
        """Say how combinations of some maps are found."""
        if self.way:
            return self.way
        sizes = [part.shape[1] for part in self.parts]
        examples, maps = float(self.bounds[last] - self.bounds[first]), float(last - first)
        costs = {"blocks": examples**2 / 2 * (sum(sizes) + OVERHEAD * len(sizes))}
        if len(sizes) == 2:  # products of more vectors would be too large
            numbers = float(np.prod(sizes))
            costs["maps"] = numbers * (examples + maps**2 / 2)
            costs["combined"] = numbers * (examples + maps * count)
            if maps > 4 * max(sizes):  # no matrix of all pairs of so many maps
                del costs["maps"], costs["blocks"]
        return min(costs, key=lambda way: costs[way])

    def gram(self, first: int, last: int) -> Array:
        """Give the inner products of some maps: (m, m)."""
        if first not in self.grams:
            self.grams.clear()  # one is asked for several times in a row
            by_maps = self.chosen_way(first, last, 1 << 62) == "maps"
            self.grams[first] = self._by_maps(first, last) if by_maps else self._by_blocks(first, last)
        return self.grams[first]

    # ------------------------------------------------------------ by blocks

    def _by_blocks(self, first: int, last: int) -> Array:
        bounds = self.bounds[first : last + 1]
        gram = np.zeros((last - first, last - first))
        for start, end in _runs(bounds, ROWS):
            rows = slice(bounds[start], bounds[end])
            columns = slice(bounds[start], bounds[-1])  # the lower half is the upper one
            product = self.parts[0][rows] @ self.parts[0][columns].T
            for part in self.parts[1:]:
                product *= part[rows] @ part[columns].T
            sums = np.add.reduceat(product, bounds[start:-1] - bounds[start], axis=1, dtype=np.float64)
            gram[start:end, start:] = np.add.reduceat(sums, bounds[start:end] - bounds[start], axis=0)
        upper = np.triu(gram)
        return upper + np.triu(upper, 1).T

    def _lengths(self, first: int, last: int) -> Array:
        """Give the squared lengths of some maps."""
        found = np.empty(last - first)
        for place in range(first, last):
            rows = slice(self.bounds[place], self.bounds[place + 1])
            product = self.parts[0][rows] @ self.parts[0][rows].T
            for part in self.parts[1:]:
                product = product * (part[rows] @ part[rows].T)
            found[place - first] = product.sum(dtype=np.float64)
        return found

    # ------------------------------------------------------------ by maps

    def _slices(self, first: int, last: int) -> Iterator[Array]:
        """Give the maps, those with few examples first, some of their outputs at a time: (m, slice x d)."""
        rows, stacks = _by_size(self.bounds[first : last + 1])
        outputs, inputs = (part[self.bounds[first] : self.bounds[last]] for part in self.parts)
        if rows is not None:
            inputs = inputs[rows]
        size, width = outputs.shape[1], inputs.shape[1]
        step = min(max(SLICE // ((last - first) * width), 8), size)
        held = np.empty((last - first) * step * width, inputs.dtype)  # each slice takes the place of the one before
        for start in range(0, size, step):
            part = np.ascontiguousarray(outputs[:, start : start + step])
            part = part if rows is None else part[rows]
            maps = held[: (last - first) * part.shape[1] * width].reshape(last - first, part.shape[1], width)
            place = end = 0
            for count, each in stacks:
                some = slice(end, end + count * each)
                left = part[some].reshape(count, each, -1).swapaxes(1, 2)
                np.matmul(left, inputs[some].reshape(count, each, -1), out=maps[place : place + count])
                place, end = place + count, end + count * each
            yield maps.reshape(last - first, -1)

    def _by_maps(self, first: int, last: int) -> Array:
        gram = np.zeros((last - first, last - first))
        for maps in self._slices(first, last):
            gram += maps @ maps.T
        place = np.argsort(np.argsort(np.diff(self.bounds[first : last + 1]), kind="stable"))
        return gram[np.ix_(place, place)]

    def _combined(self, first: int, last: int, weights: Array) -> Array:
        found = np.zeros(weights.shape[1])
        order = np.argsort(np.diff(self.bounds[first : last + 1]), kind="stable")
        across = np.ascontiguousarray(weights[order].T)
        for maps in self._slices(first, last):
            along = across.astype(maps.dtype) @ maps
            found += np.einsum("kn,kn->k", along, along, dtype=np.float64)
        return found


def _by_size(bounds: Int64Array) -> tuple[Int64Array | None, list[tuple[int, int]]]:
    """Order the examples of some maps by how many these have; and count the maps of each size.

    >>> _by_size(np.array([10, 12, 13, 15]))
    (array([2, 0, 1, 3, 4]), [(1, 1), (2, 2)])
    >>> _by_size(np.array([10, 12, 14]))
    (None, [(2, 2)])
    """
    lengths = np.diff(bounds)
    sizes, counts = np.unique(lengths, return_counts=True)
    stacks = [(count, size) for count, size in zip(counts.tolist(), sizes.tolist(), strict=True)]
    if (np.diff(lengths) >= 0).all():
        return None, stacks
    return np.argsort(np.repeat(lengths, lengths), kind="stable"), stacks


def _runs(bounds: Sequence[int] | Int64Array, size: int) -> Iterator[tuple[int, int]]:
    """Put maps together until they have about so many examples: first and last of each run."""
    start = 0
    for place in range(1, len(bounds)):
        if place == len(bounds) - 1 or bounds[place + 1] - bounds[start] > size:
            yield start, place
            start = place
