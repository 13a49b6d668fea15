"""Non-negative matrix factorisation: X ~ W H by squared error, with nothing below 0.

``hals`` (the default) lowers one coordinate after the other (hierarchical alternating least squares, Cichocki et al.
2007), several sweeps for each product with X, as long as they pay (Gillis and Glineur 2012). ``lin`` is the paper's:
alternating non-negative least squares, each by projected gradients with Lin's (2007) line search and his rule when to
stop. Both begin with NNDSVD (Boutsidis and Gallopoulos 2008), which is the same every time, or with random numbers.

Lin's rule compares the norm of the projected gradient with that of the beginning, so it does not depend on the scale of
X; here X is divided by its norm before anything else, so that the first step of the line search has a sensible size
too. (An absolute tolerance stops at the starting point when X sums to 1.) The rows of H get length 1, as those of V in
svd; so what a row of W says of similarity does not hang on how the scale fell between W and H. Dimensions are sorted by
how much they carry.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from composita.counting.counts import Matrix
from composita.spaces import kernels
from composita.spaces.cells import product, spread, transpose
from composita.spaces.svd import check_dimensions, svd
from composita.store.engine import Engine, one_blas_thread
from composita.store.errors import InputError, UsageError
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent

logger = logging.getLogger("composita")

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]

SOLVERS = ("hals", "lin")
STARTS = ("nndsvd", "random")
SWEEPS = 8
_PIECE = 512


class Iteration(NamedTuple):
    """Where the factorisation stood: both numbers are relative, the second to the beginning."""

    error: float  # |X - W H|^2 / |X|^2
    gradient: float  # the norm of the projected gradient / that of the beginning
    seconds: float


@dataclass(frozen=True)
class Factors:
    """What was found: X ~ W H times the sum of X, the rows of H of length 1."""

    weights: Float32Array  # W (rows, k)
    patterns: Float32Array  # H (k, columns)
    total: float  # the sum of X
    report: tuple[Iteration, ...]
    stopped: str  # tolerance, iterations or time


def nmf(
    matrix: Matrix,
    dimensions: int,
    *,
    solver: str = "hals",
    start: str = "nndsvd",
    tolerance: float = 1e-3,
    iterations: int = 100,
    seconds: float | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Factors:
    """Factorise a sparse matrix without negative cells.

    Parameters
    ----------
    matrix
        The matrix; it is scaled to the sum 1.
    dimensions
        How many rows H has; fewer where the rank is smaller.
    solver
        ``hals`` or ``lin``.
    start
        ``nndsvd``, or ``random`` with a ``seed``.
    tolerance
        It stops when the norm of the projected gradient is below this times that of the beginning.
    iterations, seconds
        It stops after so many, or so long; the latter is looked at between iterations.
    seed, engine, progress, cancel
        For random numbers; how many threads; who is told, and may stop it.

    """
    check_dimensions(dimensions, matrix.shape)
    if solver not in SOLVERS or start not in STARTS:
        raise UsageError(f"expected the solver {' or '.join(SOLVERS)} and the start {' or '.join(STARTS)}")
    if iterations < 1 or tolerance < 0:
        raise UsageError(f"expected at least 1 iteration and a tolerance from 0, got {iterations} and {tolerance:g}")
    if (matrix.data < 0).any():
        raise InputError("nmf needs weights without negative numbers, such as ppmi: choose another weighting")
    norm = float(np.linalg.norm(matrix.data.astype(np.float64)))
    if not norm:
        raise InputError("all cells of the core are 0: there are no dimensions")
    scaled = matrix._replace(data=(matrix.data / norm).astype(np.float32))
    with one_blas_thread:
        weights, patterns = _begin(scaled, dimensions, start, seed, engine, cancel)
        kind = _Hals if solver == "hals" else _Lin
        work = kind(scaled, weights, patterns, engine)
        report, stopped = _iterate(work, iterations, tolerance, seconds, progress, cancel)
    if stopped != "tolerance":
        logger.debug("nmf stopped by %s at a gradient of %.1e", stopped, report[-1].gradient)
    total = float(matrix.data.sum(dtype=np.float64))
    lengths = np.linalg.norm(work.patterns.astype(np.float64), axis=1)
    weights = (work.weights * lengths * (norm / total)).astype(np.float32)
    order = np.lexsort((np.arange(len(lengths)), -np.linalg.norm(weights, axis=0)))
    alive = order[lengths[order] > 0]
    patterns = (work.patterns[alive] / lengths[alive, None]).astype(np.float32)
    return Factors(np.ascontiguousarray(weights[:, alive]), patterns, total, tuple(report), stopped)


def _iterate(
    work: _Hals | _Lin, iterations: int, tolerance: float, seconds: float | None, progress: ProgressCallback,
    cancel: Cancellation | None,
) -> tuple[list[Iteration], str]:  # fmt: skip
    """Work until it is enough; the report's first entry is the beginning."""
    begin = time.perf_counter()
    report: list[Iteration] = []
    first = 1.0
    while True:
        check(cancel)
        error, gradient = work.look()
        first = gradient if not report else first
        report.append(Iteration(error, gradient / first if first else 0.0, time.perf_counter() - begin))
        progress(Progress("nmf", len(report) - 1, iterations, "iterations"))
        logger.debug("nmf %d: error %.6f, gradient %.2e", len(report) - 1, error, report[-1].gradient)
        if report[-1].gradient <= tolerance:
            return report, "tolerance"
        if len(report) > iterations:
            return report, "iterations"
        if seconds is not None and report[-1].seconds >= seconds:
            return report, "time"
        work.step(report[-1].gradient)


# ---------------------------------------------------------------- where to begin


def _begin(
    matrix: Matrix, dimensions: int, start: str, seed: int, engine: Engine | None, cancel: Cancellation | None
) -> tuple[Float32Array, Float32Array]:
    """Give the first W and H."""
    if start == "random":
        random = np.random.default_rng(seed)
        scale = np.sqrt(matrix.data.sum(dtype=np.float64) / matrix.shape[0] / matrix.shape[1] / dimensions)
        shapes = (matrix.shape[0], dimensions), (dimensions, matrix.shape[1])
        first, second = (
            np.abs(random.standard_normal(shape)).astype(np.float32) * np.float32(scale) for shape in shapes
        )
        return first, second
    found = svd(matrix, dimensions, tolerance=1e-2, seed=seed, engine=engine, cancel=cancel)
    left = product(matrix, found.vectors, engine=engine) / found.values
    return nndsvd(left, found.values, found.vectors)


def nndsvd(left: npt.NDArray[Any], values: Float64Array, right: npt.NDArray[Any]) -> tuple[Float32Array, Float32Array]:
    """Take of each pair of singular vectors the positive or the negative part, whichever carries more.

    >>> nndsvd(np.array([[1.0], [0.0]]), np.array([4.0]), np.array([[1.0], [0.0]]))[0].tolist()
    [[2.0], [0.0]]
    """
    weights, patterns = [], []
    for u, s, v in zip(left.T.astype(np.float64), values, right.T.astype(np.float64), strict=True):
        parts = [(np.clip(sign * u, 0, None), np.clip(sign * v, 0, None)) for sign in (1, -1)]
        sizes = [(np.linalg.norm(x), np.linalg.norm(y)) for x, y in parts]
        which = int(sizes[1][0] * sizes[1][1] > sizes[0][0] * sizes[0][1])
        (x, y), (m, n) = parts[which], sizes[which]
        scale = np.sqrt(s * m * n)
        weights.append(scale * x / m if m else x)
        patterns.append(scale * y / n if n else y)
    return (
        np.ascontiguousarray(np.array(weights).T, np.float32),
        np.ascontiguousarray(np.array(patterns), np.float32),
    )


# ---------------------------------------------------------------- solvers


class _Solver:
    """W and H, and their products with X, as far as they are known."""

    def __init__(self, matrix: Matrix, weights: Float32Array, patterns: Float32Array, engine: Engine | None) -> None:
        self.matrix, self.turned, self.engine = matrix, transpose(matrix), engine
        self.weights, self.columns = weights, np.ascontiguousarray(patterns.T)  # W (n, k), H^T (m, k)
        self.norm = float((matrix.data.astype(np.float64) ** 2).sum())
        self.against_w: Any = product(self.turned, self.weights, engine=engine)  # X^T W
        self.against_h: Any = None  # X H^T

    @property
    def patterns(self) -> Float32Array:
        """H."""
        return self.columns.T

    def look(self) -> tuple[float, float]:
        """Compute the relative error and the norm of the projected gradient where we are."""
        self.against_h = product(self.matrix, self.columns, engine=self.engine)
        of_h, of_w = gram(self.columns), gram(self.weights)
        crossed = float(np.einsum("ij,ij->", self.weights, self.against_h, dtype=np.float64))
        error = self.norm - 2 * crossed + float((of_w * of_h).sum())
        slopes = (
            (self.weights, self.weights @ of_h.astype(np.float32) - self.against_h),
            (self.columns, self.columns @ of_w.astype(np.float32) - self.against_w),
        )
        squares = sum(float((g[(g < 0) | (w > 0)].astype(np.float64) ** 2).sum()) for w, g in slopes)
        return max(error, 0.0) / self.norm, float(np.sqrt(squares))


class _Hals(_Solver):
    """Coordinate descent, row by row."""

    def step(self, gradient: float) -> None:
        """Lower the error over W, then over H."""
        least_squares(
            self.against_h, gram(self.columns), self.weights, sweeps=SWEEPS, enough=0.01, engine=self.engine
        )  # fmt: skip
        self.against_w = product(self.turned, self.weights, engine=self.engine)
        least_squares(
            self.against_w, gram(self.weights), self.columns, sweeps=SWEEPS, enough=0.01, engine=self.engine
        )  # fmt: skip


class _Lin(_Solver):
    """Projected gradients."""

    def __init__(self, matrix: Matrix, weights: Float32Array, patterns: Float32Array, engine: Engine | None) -> None:
        super().__init__(matrix, weights, patterns, engine)
        self.first: float | None = None
        self.tolerances = [0.0, 0.0]

    def look(self) -> tuple[float, float]:
        """Compute error and gradient; the first time they set how exactly each half is solved."""
        error, gradient = super().look()
        if self.first is None:
            self.first = gradient
            self.tolerances = [1e-3 * gradient, 1e-3 * gradient]
        return error, gradient

    def step(self, gradient: float) -> None:
        """Solve for W, then for H; a half that is solved at once is solved ten times more exactly from then on."""
        self.weights, steps = projected_gradients(
            self.against_h, gram(self.columns), self.weights, self.tolerances[0]
        )  # fmt: skip
        self.tolerances[0] *= 0.1 if steps == 1 else 1.0
        self.against_w = product(self.turned, self.weights, engine=self.engine)
        self.columns, steps = projected_gradients(
            self.against_w, gram(self.weights), self.columns, self.tolerances[1]
        )  # fmt: skip
        self.tolerances[1] *= 0.1 if steps == 1 else 1.0


def gram(rows: npt.NDArray[Any]) -> Float64Array:
    """Compute the products of all columns with each other in double precision."""
    result = np.zeros((rows.shape[1], rows.shape[1]))
    for first in range(0, len(rows), 2048):
        block = rows[first : first + 2048].astype(np.float64)
        result += block.T @ block
    return result


def least_squares(
    against: Float32Array,
    gram_matrix: Float64Array,
    weights: Float32Array,
    *,
    sweeps: int = 500,
    enough: float = 0.0,
    tolerance: float = 1e-6,
    engine: Engine | None = None,
) -> None:
    """Minimise |x - wH| over w >= 0 for all rows at once, in place; ``against`` is X H^T, ``gram_matrix`` H H^T.

    >>> weights = np.zeros((1, 2), np.float32)
    >>> least_squares(np.array([[2.0, -1.0]], np.float32), np.array([[1.0, 0.0], [0.0, 1.0]]), weights)
    >>> weights
    array([[2., 0.]], dtype=float32)
    """
    products = np.ascontiguousarray(gram_matrix, np.float32)

    def work(first: int, last: int) -> None:
        gradient = weights[first:last] @ products - against[first:last]
        kernels.descend(weights[first:last], gradient, products, sweeps, tolerance, enough, 0, last - first)

    size = len(weights)
    pieces = [(first, min(size, first + _PIECE)) for first in range(0, size, _PIECE)]
    spread(work, pieces, engine=engine if size > _PIECE else None)


def projected_gradients(
    against: Float32Array, gram_matrix: Float64Array, weights: Float32Array, tolerance: float, most: int = 1000
) -> tuple[Float32Array, int]:
    """Solve one half by Lin's projected gradient method (his ``nlssubprob``), and say in how many steps."""
    w, b, alpha = weights.astype(np.float64), against.astype(np.float64), 1.0
    step = 0
    while step < most:
        step += 1
        gradient = w @ gram_matrix - b
        if np.linalg.norm(gradient[(gradient < 0) | (w > 0)]) < tolerance:
            break
        shrinking, last = False, w
        for trial in range(20):
            new = np.clip(w - alpha * gradient, 0, None)
            d = new - w
            enough = 0.99 * float((gradient * d).sum()) + 0.5 * float(((d @ gram_matrix) * d).sum()) < 0
            shrinking = not enough if trial == 0 else shrinking
            if shrinking and enough:
                w = new
                break
            if not shrinking and (not enough or np.array_equal(last, new)):
                w = last
                break
            if shrinking:
                alpha *= 0.1
            else:
                alpha, last = alpha * 10, new
    return w.astype(np.float32), step
