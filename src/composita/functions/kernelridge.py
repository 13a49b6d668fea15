"""Kernel ridge regression of one set of examples, by the eigenvectors of their kernel.

With weights D and, for an intercept, the projection P that takes out the root of the weights, the eigenpairs of
P D^1/2 K D^1/2 P give lambda by GCV and the coefficients C = D^1/2 P U (s + lambda)^-1 U' P D^1/2 Y; the prediction is
k(x)' C, plus the weighted mean of Y - K C where there is an intercept. With M = D^1/2 P U (s + lambda)^-1 U' P D^1/2,
so that C = M Y, the error on a set S of examples when they are left out is (M_SS)^-1 C_S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from composita.functions.examples import Array, Int64Array
from composita.functions.penalty import Choice, Spectrum, choice_of, choose, relative_grid

EVERY = 5
"""Of the grid of lambda every fifth value is tried where each takes a pass over the examples."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The coefficients (N, q) of a kernel ridge regression.

    Parameters
    ----------
    coefficients
        C.
    constant
        The intercept (q,), or None.
    choice
        How lambda was chosen.
    roots
        The eigenvectors times the roots of the weights, D^1/2 P U: (N, k).
    values
        The eigenvalues (k,).

    """

    coefficients: Array
    constant: Array | None
    choice: Choice
    roots: Array
    values: Array

    @property
    def penalty(self) -> float:
        """Lambda."""
        return float(self.choice.penalties[0])


def solve(
    kernel: Array,
    outputs: Array,
    *,
    weights: Array | None = None,
    intercept: bool = False,
    penalty: float | None = None,
    ids: Int64Array | None = None,
    mean: Array | None = None,
) -> Solution:
    """Solve for the coefficients; the kernel (N, N) is overwritten.

    Lambda is the one given; or, with the numbers of the arguments (N, n), the best for new arguments; or that of GCV.
    ``mean`` is as for `left_out`.
    """
    count, targets = len(kernel), outputs.astype(np.float64)
    values, roots = decompose(kernel.copy() if intercept else kernel, weights, intercept)
    along = roots.T @ targets
    if ids is not None and penalty is None:
        choice = choose_by_arguments(values, roots, targets, ids, weights, mean)
    else:
        energies = np.einsum("kq,kq->k", along, along)
        spectrum = Spectrum(values[None], energies[None], np.zeros(1), count, intercept)
        choice = choose([spectrum], penalty=penalty)
    coefficients = roots @ (along / (values + choice.penalties[0])[:, None])
    constant = None
    if intercept:
        constant = np.average(targets - kernel @ coefficients, axis=0, weights=weights)
    return Solution(coefficients, constant, choice, roots, values)


def decompose(kernel: Array, weights: Array | None, intercept: bool) -> tuple[Array, Array]:
    """Give the eigenvalues and D^1/2 P U of a kernel, which is overwritten."""
    from scipy.linalg import eigh

    root = np.ones(len(kernel)) if weights is None else np.sqrt(weights)
    if weights is not None:
        kernel *= root
        kernel *= root[:, None]
    direction = root / np.linalg.norm(root)
    if intercept:
        across = kernel @ direction
        kernel -= np.outer(direction, across) + np.outer(across, direction)
        kernel += (direction @ across) * np.outer(direction, direction)
    values, vectors = eigh(kernel, overwrite_a=True, check_finite=False)
    np.clip(values, 0, None, out=values)
    if intercept:
        values[0] = 0.0
        vectors -= np.outer(direction, direction @ vectors)
    if weights is not None:
        vectors *= root[:, None]
    return values, vectors


def left_out(solution: Solution, outputs: Array, sets: Sequence[Int64Array], mean: Array | None = None) -> Array:
    """Predict each set of examples from all others, in closed form: (N, q).

    ``mean`` gives the weights of the examples in the mean that was taken off the outputs, which then is the mean of the
    others too.
    """
    others = _means_of_others(outputs, sets, mean)
    scaled, solved = _solved(solution.values, solution.roots, _along(solution.roots, outputs), solution.penalty)
    return outputs - _errors(scaled, solution.roots, solved, outputs, sets, others)


def choose_by_arguments(
    values: Array, roots: Array, outputs: Array, ids: Int64Array, weights: Array | None, mean: Array | None
) -> Choice:
    """Choose lambda by the error on examples of which one argument is new, in turn each of them.

    Generalised cross-validation leaves single examples out, whose arguments others share: among phrases of a few
    arguments it takes what is peculiar to these for what the word does with any, and lambda comes out too small.
    """
    grid = float(values.max(initial=0.0) or 1.0) * relative_grid()[::EVERY]
    scale = np.ones(len(outputs)) if weights is None else weights
    every = [sets_of(column) for column in ids.T]
    means = [_means_of_others(outputs, sets, mean) for sets in every]
    nothing = sum(float(scale @ ((outputs - others) ** 2).sum(1)) for others in means)
    along, curve = _along(roots, outputs), np.zeros(len(grid))
    for place, penalty in enumerate(grid):
        scaled, solved = _solved(values, roots, along, penalty)
        for sets, others in zip(every, means, strict=True):
            errors = _errors(scaled, roots, solved, outputs, sets, others)
            curve[place] += float(scale @ (errors**2).sum(1))
    return choice_of(grid, curve / ids.size, nothing / ids.size, "new arguments")


def sets_of(column: Int64Array) -> list[Int64Array]:
    """Give the places of each different number."""
    order = np.argsort(column, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(column[order])) + 1)


def _along(roots: Array, outputs: Array) -> Array:
    """Give what lies along the eigenvectors: of the outputs, and of ones: (k, q + 1)."""
    found: Array = roots.T @ np.column_stack([outputs, np.ones(len(outputs))])
    return found


def _solved(values: Array, roots: Array, along: Array, penalty: float) -> tuple[Array, Array]:
    """Give M as one of two factors, of which the other are the roots; and M times the outputs and ones."""
    scaled = roots / (values + penalty)
    return scaled, scaled @ along


def _means_of_others(outputs: Array, sets: Sequence[Int64Array], mean: Array | None) -> Array:
    """Give for each example the mean of those not left out with it; zeros where no mean was taken off."""
    found = np.zeros(outputs.shape)
    if mean is None:
        return found
    total, size = mean @ outputs, float(mean.sum())
    for rows in sets:
        rest = size - float(mean[rows].sum())
        if rest > 0:
            found[rows] = (total - mean[rows] @ outputs[rows]) / rest
    return found


def _errors(
    scaled: Array, roots: Array, solved: Array, outputs: Array, sets: Sequence[Int64Array], others: Array
) -> Array:
    """Give the errors of all sets: (M_SS)^-1 (M (Y - the mean of the others))_S."""
    right = solved[:, :-1] - solved[:, -1:] * others
    found: Array = right / np.einsum("nk,nk->n", scaled, roots)[:, None]
    for rows in sets:
        if len(rows) == len(found):
            found[rows] = outputs[rows]  # nothing is left to learn from
        elif len(rows) > 1:
            found[rows] = np.linalg.solve(scaled[rows] @ roots[rows].T, right[rows])
    return found
