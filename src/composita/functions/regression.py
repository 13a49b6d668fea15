"""Many ridge regressions at once, in dual form: what a level of multi-step regression is made of.

A linear map learned by ridge regression from inputs X (m x d) and outputs Y (m x q) is Y' A with the dual rows
A = (X X' + lambda I)^-1 X: a sum of its outputs, weighted by linear forms of the input. What the outputs are does not
matter, as long as the length of a combination of them is known; so they may be maps themselves.

With weights D and centring (x - mean, an intercept) let Z = D^1/2 (X - 1 mean'). Where m <= d the eigenpairs of Z Z'
are found, else those of Z' Z; both give eigenvalues s, the energies of the outputs and, for lambda,

    A = D^1/2 U (s + lambda)^-1 U' Z    or    A = D^1/2 Z V (s + lambda)^-1 V'

The constant of a row is then w / sum(w) - A . mean, and the leverage of an example is the diagonal of the hat matrix.
Regressions of one size are done as one stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from composita.functions.examples import Array, Int64Array
from composita.functions.penalty import Choice, Spectrum, choose

BLOCK = 1 << 17  # numbers in a stack of matrices: what a processor keeps near
TINY = 1e-12  # eigenvalues below this part of the largest are rounding errors of 0


class Outputs(Protocol):
    """The outputs of regressions, of which only lengths are asked."""

    def energies(self, members: Int64Array, combinations: Array) -> Array:
        """Give the squared lengths of combinations (B, m, k) of the outputs of members (B, m): (B, k)."""

    def total(self, members: Int64Array, weights: Array | None, centred: bool) -> Array:
        """Give the summed, weighted squared lengths of outputs, or of their distances from the mean: (B,)."""


@dataclass(frozen=True, eq=False)
class VectorOutputs:
    """Outputs that are vectors (M, q)."""

    vectors: Array

    def energies(self, members: Int64Array, combinations: Array) -> Array:
        """Combine and square."""
        along = combinations.swapaxes(1, 2) @ self.vectors[members].astype(np.float64)
        lengths: Array = np.einsum("bkq,bkq->bk", along, along)
        return lengths

    def total(self, members: Int64Array, weights: Array | None, centred: bool) -> Array:
        """Square and sum."""
        vectors = self.vectors[members].astype(np.float64)  # (B, m, q)
        if centred:
            vectors = vectors - _mean(vectors, weights)
        squares = np.einsum("bmq,bmq->bm", vectors, vectors)
        total: Array = squares.sum(1) if weights is None else (squares * weights).sum(1)
        return total


@dataclass(frozen=True, eq=False)
class Level:
    """The regressions of one level.

    Parameters
    ----------
    dual
        The dual row of each member: (M, d).
    constant
        What is added to the linear form of each member, or None without intercept.
    leverage
        The diagonal of the hat matrices.
    choice
        The penalties.
    bounds
        Where the members of each regression begin and end: (B + 1,).

    """

    dual: Array
    constant: Array | None
    leverage: Array
    choice: Choice
    bounds: Int64Array

    @property
    def extended(self) -> Array:
        """The dual rows, with their constants as a last coordinate where they have one."""
        return self.dual if self.constant is None else np.concatenate([self.dual, self.constant[:, None]], axis=1)


@dataclass(frozen=True, eq=False)
class _Stack:
    """Decomposed regressions of one size: eigenvectors of Z Z' (dual), or of Z' Z."""

    members: Int64Array
    vectors: Array
    spectrum: Spectrum
    is_dual: bool


def regress(
    inputs: Array,
    bounds: Int64Array,
    outputs: Outputs,
    *,
    weights: Array | None = None,
    intercept: bool = False,
    pooled: bool = False,
    penalty: float | None = None,
) -> Level:
    """Do one ridge regression for each part of the inputs, from one bound to the next."""
    stacks = [_decompose(inputs, members, outputs, weights, intercept) for members in _stacked(bounds, inputs.shape[1])]
    choice = choose([stack.spectrum for stack in stacks], pooled=pooled, penalty=penalty)
    count = int(bounds[-1])
    dual, leverage = np.empty((count, inputs.shape[1])), np.empty(count)
    constant = np.empty(count) if intercept else None
    order, first = [], 0
    for stack in stacks:
        last = first + len(stack.members)
        _solve(stack, inputs, weights, choice.penalties[first:last], (dual, constant, leverage))
        order.append(stack.members[:, 0])
        first = last
    return Level(dual, constant, leverage, _reordered(choice, np.argsort(np.concatenate(order))), bounds)


def _stacked(bounds: Int64Array, size: int) -> Iterator[Int64Array]:
    """Give the members of the regressions, those of one size together: (B, m)."""
    lengths = np.diff(bounds)
    for length in np.unique(lengths).tolist():
        starts = bounds[:-1][lengths == length]
        step = max(BLOCK // (length * max(length, size)), 1)
        for first in range(0, len(starts), step):
            yield starts[first : first + step, None] + np.arange(length)


def _mean(rows: Array, weights: Array | None) -> Array:
    """Give the weighted mean of stacked rows: (B, m, d), (B, m) -> (B, 1, d)."""
    mean: Array
    if weights is None:
        mean = rows.mean(1, keepdims=True)
    else:
        mean = (weights[:, None, :] @ rows) / weights.sum(1)[:, None, None]
    return mean


def _prepared(inputs: Array, members: Int64Array, weights: Array | None, intercept: bool) -> tuple[Array, Array | None]:
    """Give Z and the means of the inputs."""
    rows = inputs[members].astype(np.float64)
    mean = _mean(rows, None if weights is None else weights[members]) if intercept else None
    if mean is not None:
        rows -= mean
    if weights is not None:
        rows *= np.sqrt(weights[members])[:, :, None]
    return rows, mean


def _direction(members: Int64Array, weights: Array | None) -> Array:
    """Give the unit vector along the root of the weights, which an intercept takes out: (B, m)."""
    if weights is None:
        return np.full(members.shape, members.shape[1] ** -0.5)
    root = np.sqrt(weights[members])
    direction: Array = root / np.sqrt((root**2).sum(1, keepdims=True))
    return direction


def _decompose(inputs: Array, members: Int64Array, outputs: Outputs, weights: Array | None, intercept: bool) -> _Stack:
    rows, _ = _prepared(inputs, members, weights, intercept)
    count, is_dual = members.shape[1], members.shape[1] <= rows.shape[2]
    gram = rows @ rows.swapaxes(1, 2) if is_dual else rows.swapaxes(1, 2) @ rows
    values, vectors = np.linalg.eigh(gram)
    largest = values[:, -1:]
    np.clip(values, 0, None, out=values)
    if intercept and is_dual:
        values[:, 0] = 0.0
    if is_dual:
        combinations = vectors
        if intercept:
            direction = _direction(members, weights)[:, :, None]
            combinations = vectors - direction * (direction.swapaxes(1, 2) @ vectors)
    else:
        small = values <= TINY * largest
        combinations = (rows @ vectors) * np.where(small, 0.0, np.where(small, 1.0, values) ** -0.5)[:, None, :]
        values[small] = 0.0
    if weights is not None:
        combinations = combinations * np.sqrt(weights[members])[:, :, None]
    energies = outputs.energies(members, combinations)
    np.clip(energies, 0, None, out=energies)
    rest = np.zeros(len(members))
    if not is_dual:
        total = outputs.total(members, None if weights is None else weights[members], intercept)
        rest = np.clip(total - energies.sum(1), 0, None)
    return _Stack(members, vectors, Spectrum(values, energies, rest, count, intercept), is_dual)


def _solve(
    stack: _Stack, inputs: Array, weights: Array | None, penalties: Array, into: tuple[Array, Array | None, Array]
) -> None:
    """Write dual rows, constants and leverages of a stack to their places."""
    dual, constant, leverage = into
    members, values, intercept = stack.members, stack.spectrum.values, constant is not None
    rows, mean = _prepared(inputs, members, weights, intercept)
    inverse = 1 / (values + penalties[:, None])  # (B, k)
    if stack.is_dual:
        found = ((stack.vectors * inverse[:, None, :]) @ stack.vectors.swapaxes(1, 2)) @ rows
        levers = (stack.vectors**2 @ (values * inverse)[:, :, None])[..., 0]
    else:
        along = rows @ stack.vectors
        found = (along * inverse[:, None, :]) @ stack.vectors.swapaxes(1, 2)
        levers = (along**2 @ inverse[:, :, None])[..., 0]
    if weights is not None:
        found *= np.sqrt(weights[members])[:, :, None]
    if constant is not None:
        assert mean is not None
        direction = _direction(members, weights)
        levers += direction**2
        constant[members] = direction**2 - (found @ mean.swapaxes(1, 2))[..., 0]
    dual[members] = found
    leverage[members] = levers


def _reordered(choice: Choice, order: Int64Array) -> Choice:
    """Put the choices into the order of the regressions."""
    return Choice(
        choice.penalties[order], choice.gcv[order], choice.without[order], [choice.verdicts[i] for i in order.tolist()],
        choice.pooled, choice.grid, choice.curve,
    )  # fmt: skip
