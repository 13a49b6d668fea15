"""The largest singular values of a sparse matrix, with their right vectors: by block Lanczos; of small ones densely.

Block Lanczos builds an orthonormal basis Q of the space that X^T X spans from a random block, and takes the best
approximations that lie in it (Rayleigh-Ritz): the eigenpairs of (XQ)^T (XQ). It needs few passes over the matrix, each
with a block of vectors at once; where ARPACK takes one vector a pass, and starts anew from a small basis again and
again, here the basis simply grows until the residuals are small. Randomised methods with fixed numbers of steps do not
look at the residuals, and lose several per cent of the trailing values of a PPMI matrix, whose spectrum hardly falls.

Precision: the basis is in single precision and orthogonalised twice; what decides, the matrix (XQ)^T (XQ), is added up
in double precision, and a last Rayleigh-Ritz step over the vectors found corrects what rounding has mixed.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from composita.counting.counts import Matrix
from composita.spaces.cells import product, to_scipy, transpose
from composita.store.engine import Engine, one_blas_thread
from composita.store.errors import InputError, UsageError
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent

logger = logging.getLogger("composita")

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]

BLOCK = 32
SMALL = 1000  # the shorter side of a matrix that is decomposed densely
TOLERANCE = 1e-5
_CHUNK = 2048


@dataclass(frozen=True)
class Decomposition:
    """The largest singular values, right vectors as columns, and how they were found."""

    values: Float64Array  # (k,) from the largest
    vectors: Float32Array  # (columns, k) the largest entry of each is positive
    rank: int | None  # of the whole matrix, where it is known
    residual: float  # the largest |X^T X v - s^2 v| / s^2
    basis: int  # how many vectors the basis had; 0 where the matrix was decomposed densely


def check_dimensions(dimensions: int, shape: tuple[int, int]) -> None:
    """Refuse numbers of dimensions that no matrix of this shape has."""
    if dimensions < 1:
        raise UsageError(f"expected at least 1 dimension, got {dimensions}")
    if dimensions > min(shape):
        raise UsageError(
            f"a core of {shape[0]:,} rows x {shape[1]:,} columns has at most {min(shape):,} dimensions, "
            f"asked for {dimensions:,}: ask for fewer"
        )


def svd(
    matrix: Matrix,
    dimensions: int,
    *,
    tolerance: float = TOLERANCE,
    seed: int = 0,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Decomposition:
    """Compute the ``dimensions`` largest singular values of a sparse matrix, and their right vectors.

    Where the rank is smaller there are as many as the rank. The same matrix, seed and machine give the same bits.
    ``tolerance`` bounds |X^T X v - s^2 v| / s^2 for each vector; the error of a value is of the order of its square.
    """
    check_dimensions(dimensions, matrix.shape)
    if not matrix.data.any():
        raise InputError("all cells of the core are 0: there are no dimensions")
    with one_blas_thread:
        if min(matrix.shape) <= max(SMALL, 3 * dimensions):
            found = _dense(matrix, dimensions)
        else:
            found = _Lanczos(matrix, dimensions, tolerance, seed, engine, progress, cancel).run()
    if len(found.values) < dimensions:
        logger.warning(
            "the core has rank %d: of the %d dimensions asked for there are only %d", len(found.values), dimensions,
            len(found.values),
        )  # fmt: skip
    return found


def _dense(matrix: Matrix, dimensions: int) -> Decomposition:
    """Decompose a matrix with a short side by LAPACK, in double precision."""
    whole = to_scipy(matrix).toarray().astype(np.float64)
    _, values, turned = scipy.linalg.svd(whole, full_matrices=False, check_finite=False)
    rank = int((values > values[0] * max(matrix.shape) * np.finfo(np.float32).eps / 4).sum())
    kept = min(rank, dimensions)
    vectors = _fix_signs(turned[:kept].T)
    return Decomposition(values[:kept], vectors, rank, 0.0, 0)


def _fix_signs(vectors: npt.NDArray[Any]) -> Float32Array:
    """Turn each column so that its largest entry is positive."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    fixed: Float32Array = np.ascontiguousarray(vectors * np.where(largest < 0, -1.0, 1.0), np.float32)
    return fixed


class _Lanczos:
    """A basis that grows block by block until the singular vectors wanted lie in it."""

    def __init__(
        self, matrix: Matrix, dimensions: int, tolerance: float, seed: int, engine: Engine | None,
        progress: ProgressCallback, cancel: Cancellation | None,
    ) -> None:  # fmt: skip
        self.matrix, self.turned = matrix, transpose(matrix)
        self.wanted, self.tolerance, self.engine = dimensions, tolerance, engine
        self.progress, self.cancel = progress, cancel
        self.random = np.random.default_rng(seed)
        rows, columns = matrix.shape
        self.most = min(columns, rows + BLOCK)
        self.basis = np.empty((columns, 0), np.float32, order="F")  # Q
        self.image = np.empty((rows, 0), np.float32, order="F")  # XQ
        self.gram = np.empty((0, 0))  # (XQ)^T (XQ)
        self.size = 0

    def run(self) -> Decomposition:
        """Grow the basis and look at the residuals, seldom at first."""
        block = self._orthonormal(self.random.standard_normal((self.matrix.shape[1], BLOCK)).astype(np.float32))[0]
        look = min(self.most, 4 * self.wanted + 2 * BLOCK)  # sooner it is seldom enough
        while True:
            check(self.cancel)
            self._append(block)
            back = product(self.turned, self.image[:, self.size - block.shape[1] : self.size], engine=self.engine)
            width = block.shape[1]
            block, rest = self._orthonormal(back)
            self.progress(Progress("svd", self.size, None, "vectors"))
            if self.size < look and block.shape[1]:
                continue
            values, mix = self._ritz()
            worst = float((np.linalg.norm(rest @ mix[-width:], axis=0) / values**2).max())
            logger.debug("basis of %d: residual %.1e", self.size, worst)
            if worst <= self.tolerance or self.size >= self.most or not block.shape[1]:
                return self._finish(mix, worst)
            look = min(self.most, self.size + max(2 * BLOCK, self.wanted // 4))

    def _append(self, block: Float32Array) -> None:
        """Add a block to the basis, with what the matrix makes of it."""
        if self.size + block.shape[1] > self.basis.shape[1]:
            room = max(self.size + block.shape[1], min(self.most, max(2 * self.size, 5 * self.wanted)))
            for name in ("basis", "image"):
                old = getattr(self, name)
                new = np.empty((old.shape[0], room), np.float32, order="F")
                new[:, : self.size] = old[:, : self.size]
                setattr(self, name, new)
        begin, self.size = self.size, self.size + block.shape[1]
        self.basis[:, begin : self.size] = block
        self.image[:, begin : self.size] = product(self.matrix, block, engine=self.engine)

    def _orthonormal(self, block: Float32Array) -> tuple[Float32Array, Float64Array]:
        """Take from a block what lies in the basis, and make it orthonormal; also give it in terms of the result.

        Directions that vanish, because the basis already holds all that they lead to, are replaced by random ones.
        """
        known = self.basis[:, : self.size]
        scale = float(np.linalg.norm(block, axis=0).max(initial=0.0))
        width = min(block.shape[1], self.most - self.size)
        rest = np.zeros((0, block.shape[1]))
        block = block - known @ (known.T @ block)
        left, values, right = scipy.linalg.svd(block.astype(np.float64), full_matrices=False, check_finite=False)
        alive = values > 1e-5 * scale
        rest = (values[:, None] * right)[alive]
        found = left[:, alive][:, :width].astype(np.float32)
        rest = rest[: found.shape[1]]
        if found.shape[1] < width:
            fresh = self.random.standard_normal((len(block), width - found.shape[1])).astype(np.float32)
            found = np.hstack([found, fresh])
            rest = np.vstack([rest, np.zeros((fresh.shape[1], rest.shape[1]))])
        for _ in range(1 if alive.all() else 2):
            found = found - known @ (known.T @ found)
            found = np.linalg.qr(found.astype(np.float64))[0].astype(np.float32)
        return found, rest

    def _ritz(self) -> tuple[Float64Array, Float64Array]:
        """Give the best singular values in the basis, and the vectors in terms of it."""
        old = len(self.gram)
        gram = np.zeros((self.size, self.size))
        gram[:old, :old] = self.gram
        for first in range(0, self.image.shape[0], _CHUNK):
            rows = self.image[first : first + _CHUNK, : self.size].astype(np.float64)
            gram[:, old:] += rows.T @ rows[:, old:]
        gram[old:, :old] = gram[:old, old:].T
        self.gram = gram
        wanted = min(self.wanted, self.size)
        squares, mix = scipy.linalg.eigh(gram, subset_by_index=(self.size - wanted, self.size - 1), check_finite=False)
        values = np.sqrt(np.clip(squares[::-1], np.finfo(np.float64).tiny, None))
        return values, mix[:, ::-1]

    def _finish(self, mix: Float64Array, residual: float) -> Decomposition:
        """Form the vectors, and let the matrix say once more what their values are."""
        vectors = np.linalg.qr(self.basis[:, : self.size].astype(np.float64) @ mix)[0]
        image = product(self.matrix, vectors, engine=self.engine)
        squares, turn = scipy.linalg.eigh(image.T @ image, check_finite=False)
        values = np.sqrt(np.clip(squares[::-1], 0.0, None))
        kept = int((values > values[0] * max(self.matrix.shape) * np.finfo(np.float32).eps / 4).sum())
        rank = kept if kept < self.wanted else None
        return Decomposition(
            values[:kept], _fix_signs((vectors @ turn[:, ::-1])[:, :kept]), rank, residual, self.size
        )  # fmt: skip
