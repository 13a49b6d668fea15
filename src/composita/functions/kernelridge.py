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
from composita.functions.penalty import Choice, Spectrum, choose


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

    def inverse(self, penalty: float | None = None) -> Array:
        """Give M, at the lambda chosen or at another."""
        scaled = self.roots / (self.values + (penalty or self.penalty))
        return scaled @ self.roots.T


def solve(
    kernel: Array,
    outputs: Array,
    *,
    weights: Array | None = None,
    intercept: bool = False,
    penalty: float | None = None,
) -> Solution:
    """Solve for the coefficients; the kernel (N, N) is overwritten."""
    count, targets = len(kernel), outputs.astype(np.float64)
    values, roots = decompose(kernel.copy() if intercept else kernel, weights, intercept)
    along = roots.T @ targets
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


def left_out(inverse: Array, outputs: Array, sets: Sequence[Int64Array], mean: Array | None = None) -> Array:
    """Predict each set of examples from all others, in closed form: (N, q).

    ``mean`` gives the weights of the examples in the mean that was taken off the outputs, which then is the mean of the
    others too.
    """
    solved = inverse @ outputs
    ones = inverse.sum(1)
    found = np.empty(outputs.shape)
    total = None if mean is None else mean @ outputs
    for rows in sets:
        block = inverse[np.ix_(rows, rows)]
        found[rows] = outputs[rows] - np.linalg.solve(block, solved[rows])
        if mean is not None:
            others = (total - mean[rows] @ outputs[rows]) / (mean.sum() - mean[rows].sum())
            share = 1 - np.linalg.solve(block, ones[rows])
            found[rows] += np.outer(1 - share, others)
    return found
