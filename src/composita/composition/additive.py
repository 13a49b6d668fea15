"""Methods that add vectors: the verb alone, sums, weighted sums, dilation, and a matrix for each place.

Trained ones are fitted to all attested phrases of a pattern together, in closed form, since they have few parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from composita.composition.ground import Pooled
from composita.composition.meanings import Vectors
from composita.composition.rows import Float64Array, FloatArray, IntArray, Rows, dense, inner, scale

if TYPE_CHECKING:
    from composita.composition.method import Batch

DILATION = 2.0
"""Mitchell and Lapata's lambda where there are no phrases to learn it from, as in DISSECT."""


def verb(batch: Batch) -> Vectors:
    """Give the head's own vector: ``v``."""
    return Vectors(batch.head_vectors)


def add(batch: Batch) -> Vectors:
    """Add the vectors of all words, each of length 1: ``v + o + s``."""
    return Vectors(sum(batch.arguments, start=batch.head_vectors))


def weighted_add(batch: Batch) -> Vectors:
    """Add vectors with a weight for each place: ``a v + b o + c s``, fitted by least squares to attested phrases."""
    total = None
    for pattern, places in _by_pattern(batch).items():
        weights = _fitted(batch, "weighted-add", pattern, fit_weights)
        if weights is None:
            batch.note(places, f"no attested phrases of {batch.arity + 1} words to learn weights from: words added")
            weights = np.ones(1 + batch.arity)
        factors = np.zeros((1 + batch.arity, len(batch)))
        factors[:, places] = weights[:, None]
        parts = [scale(rows, f) for rows, f in zip((batch.head_vectors, *batch.arguments), factors, strict=True)]
        total = sum(parts, start=total) if total is not None else sum(parts[1:], start=parts[0])
    assert total is not None
    return Vectors(total)


def _fitted(
    batch: Batch, name: str, pattern: str | None, train: Callable[[Pooled | None], FloatArray | None]
) -> FloatArray | None:
    """Give what was fitted to the phrases of a pattern; None where there are none."""
    ground = batch.ground
    return None if pattern is None else ground.trained((name, pattern), lambda: train(ground.pooled(pattern)))


def _by_pattern(batch: Batch) -> dict[str | None, IntArray]:
    """Give the places of the phrases by the pattern that their heads were seen in, or would be."""
    found: dict[str | None, list[IntArray]] = {}
    for head, places in batch.by_head.items():
        found.setdefault(batch.ground.pattern_of(head, batch.arity), []).append(places)
    return {pattern: np.sort(np.concatenate(places)) for pattern, places in found.items()}


def fit_weights(pooled: Pooled | None) -> Float64Array | None:
    """Find the weights w that bring ``sum_i w_i x_i`` nearest to the phrases' vectors, by least squares."""
    if pooled is None:
        return None
    count = pooled.ids.shape[1] - 1
    gram, right = np.zeros((count, count)), np.zeros(count)
    for *parts, output in pooled.blocks():
        gram += [[inner(x, y).sum() for y in parts] for x in parts]
        right += [inner(x, output).sum() for x in parts]
    found: Float64Array = np.linalg.lstsq(gram, right, rcond=None)[0]
    return found


def dilation(batch: Batch) -> Vectors:
    """Stretch the head along each argument in turn: ``(x . x) v + (lambda - 1) (x . v) x``."""
    strengths = np.full((batch.arity, len(batch)), DILATION)
    for pattern, places in _by_pattern(batch).items():
        learned = _fitted(batch, "dilation", pattern, fit_dilation)
        if learned is None:
            batch.note(places, f"no attested phrases of {batch.arity + 1} words to learn lambda from: lambda is 2")
        else:
            strengths[:, places] = learned[:, None]
    rows = batch.head_vectors
    for argument, strength in zip(batch.arguments, strengths, strict=True):
        rows = dilate(rows, argument, strength)
    return Vectors(rows)


def dilate(rows: Rows, along: Rows, strength: Float64Array) -> Rows:
    """Stretch rows along others, ``strength`` times in that direction."""
    return scale(rows, inner(along, along)) + scale(along, (strength - 1) * inner(along, rows))


def fit_dilation(pooled: Pooled | None) -> Float64Array | None:
    """Find lambda for each place in turn: least squares of the phrase on the head as it is and on its shadow."""
    if pooled is None:
        return None
    count = pooled.ids.shape[1] - 2
    found = np.ones(count)
    for place in range(count):
        gram, right = np.zeros((2, 2)), np.zeros(2)
        for head, *arguments, output in pooled.blocks():
            for known in range(place):
                head = dilate(head, arguments[known], np.full(head.shape[0], found[known]))
            x = arguments[place]
            parts = scale(head, inner(x, x)), scale(x, inner(x, head))
            gram += [[inner(a, b).sum() for b in parts] for a in parts]
            right += [inner(a, output).sum() for a in parts]
        straight, along = np.linalg.lstsq(gram, right, rcond=None)[0]
        found[place] = 1 + along / straight if straight > 0 else DILATION
    return found


def full_additive(batch: Batch) -> Vectors:
    """Add what a matrix for each place makes of the vectors: ``A v + B o + C s``, by ridge regression."""
    total = np.zeros(batch.head_vectors.shape, np.float32)
    parts = [dense(rows) for rows in (batch.head_vectors, *batch.arguments)]
    for pattern, places in _by_pattern(batch).items():
        matrices = _fitted(batch, "full-additive", pattern, fit_matrices)
        if matrices is None:
            batch.note(places, f"no attested phrases of {batch.arity + 1} words to learn matrices from: words added")
        chosen = [rows[places] for rows in parts]
        total[places] = (
            np.sum(chosen, axis=0) if matrices is None else np.concatenate(chosen, axis=1) @ matrices
        )  # fmt: skip
    return Vectors(total)


def fit_matrices(pooled: Pooled | None) -> FloatArray | None:
    """Find the matrices, one above the other, by ridge regression; lambda by generalised cross-validation.

    With X (m x p) the vectors of head and arguments side by side, X^T X = Q diag(s) Q^T and B = Q^T X^T Y,

        GCV(lambda) = |Y - X W|^2 / (m - sum_k s_k / (s_k + lambda))^2
        |Y - X W|^2 = |Y|^2 - sum_k |B_k|^2 (s_k + 2 lambda) / (s_k + lambda)^2
    """
    if pooled is None:
        return None
    d = pooled.space.shape[1]
    width = (pooled.ids.shape[1] - 1) * d
    gram, right, size = np.zeros((width, width)), np.zeros((width, d)), 0.0
    for *parts, output in pooled.blocks():
        x, y = np.concatenate([dense(p) for p in parts], axis=1).astype(np.float64), dense(output).astype(np.float64)
        gram += x.T @ x
        right += x.T @ y
        size += float((y * y).sum())
    s, q = np.linalg.eigh(gram)
    s, b = np.maximum(s, 0), q.T @ right
    count, energy = len(pooled.ids), (b * b).sum(axis=1)
    grid = s[-1] * np.logspace(-6, 3, 46)
    errors = [
        max(0.0, size - (energy * (s + 2 * t) / (s + t) ** 2).sum()) / max(count - (s / (s + t)).sum(), 1e-9) ** 2
        for t in grid
    ]
    best = grid[int(np.argmin(errors))]
    found: FloatArray = (q @ (b / (s + best)[:, None])).astype(np.float32)
    return found
