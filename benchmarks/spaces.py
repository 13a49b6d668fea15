"""Weighting, reducing and projecting the core of real counts, against SciPy, scikit-learn and the memory's own speed.

The core has the paper's sizes: 8,000 nouns and 4,000 verbs beside 10,000 contexts, PPMI, 300 dimensions. The counts are
those of the parsed Wikipedia beside the repository, made in some minutes, or the folder that COMPOSITA_COUNTS names; or
of synthetic text where there is neither. Times are of one thread, on the processor.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Row, best, faster, peak_memory
from composita.corpus.corpus import Corpus
from composita.counting.count import count
from composita.counting.counts import Counts, Matrix
from composita.counting.vocabulary import Vocabulary
from composita.spaces.building import core_rows, project_rows
from composita.spaces.cells import count_pieces, product, stack, to_scipy, transpose
from composita.spaces.items import Items
from composita.spaces.nmf import nmf
from composita.spaces.saving import write_stream
from composita.spaces.steps import Svd
from composita.spaces.svd import svd
from composita.spaces.weighting import Weighting
from composita.store.engine import one_blas_thread

SHARED = Path(__file__).parents[2] / "shared" / "data"
SIZE = 300
ITERATIONS = 100
PHRASES = 500_000
ITEMS = 1_680_000
"""The paper's phrases: so many vectors are searched for neighbours."""


def run() -> list[Row]:
    """Measure everything; scikit-learn's part takes the most time by far."""
    with one_blas_thread, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = _counts(folder)
        matrix = stack([piece for _, piece in count_pieces(counts, core_rows(counts))], counts.shape[1])
        made = Weighting.fit(matrix, "ppmi", unit=counts.unit)
        weighted = made.apply(matrix)
        rows, step = _svd(weighted)
        return [
            *_weighting(matrix),
            *rows,
            *_projecting(counts, made, step),
            *_neighbours(folder),
            *_memory(counts, folder),
            *_nmf(weighted),
        ]


def _counts(folder: Path) -> Counts:
    """Give counts that were made before, or make them."""
    if given := os.environ.get("COMPOSITA_COUNTS"):
        return Counts.open(given)
    files = sorted((SHARED / "corpora").glob("enwiki-*.conllu.zst"))
    if not files:
        from composita.corpus.synthetic import write_synthetic

        files = [folder / "synthetic.conllu"]
        write_synthetic(files[0], 20_000_000)
    corpus = Corpus.build(files, folder / "corpus")
    return count(corpus, Vocabulary.from_corpus(corpus), phrases="sv,svo,vo", out=folder / "counts")


# ---------------------------------------------------------------- weighting


def _weighting(matrix: Matrix) -> list[Row]:
    """Compare with a copy of the cells, which is one pass over them and no more."""

    def copy() -> object:
        return matrix.indices.copy(), matrix.data.copy()

    rows = []
    for name in ("ppmi", "lmi"):
        made = Weighting.fit(matrix, name)
        ours, theirs = best(lambda made=made: made.apply(matrix), copy, clock=time.process_time)  # type: ignore[misc]
        cells = len(matrix.indices)
        rows.append(faster(f"{name} of {cells:,} cells", cells, "cells", ours, "copying them", theirs, ">= 0.5"))
    return rows


# ---------------------------------------------------------------- singular values


def _svd(matrix: Matrix) -> tuple[list[Row], Svd]:
    """Compare with ARPACK in both precisions, which begins with the same starting vector each time."""
    import scipy.sparse.linalg as spl

    start = np.random.default_rng(0).standard_normal(min(matrix.shape))
    found, ours = _timed(lambda: svd(matrix, SIZE))
    image = product(matrix, found.vectors) / found.values
    rows, exact = [], np.empty(0)
    for kind, goal in ((np.float32, "> 1"), (np.float64, ">= 3")):
        theirs_of = to_scipy(matrix).astype(kind)
        triplets, theirs = _timed(lambda a=theirs_of, k=kind: spl.svds(a, SIZE, v0=start.astype(k)))  # type: ignore[misc]
        order = np.argsort(-triplets[1])
        u, s, v = triplets[0][:, order], triplets[1][order], triplets[2][order].T
        name = f"svds, {np.dtype(kind).name}"
        rows.append(Row(f"svd {SIZE}: time", ours, "s", name, theirs, theirs / ours, goal))
        if kind is np.float32:
            mine, other = residual(matrix, image, found.values, found.vectors), residual(matrix, u, s, v)
            rows.append(Row(f"svd {SIZE}: residual", mine, "of s1", name, other, other / mine, ">= 1"))
        exact = s
    worst = float(np.abs(found.values / exact - 1).max())
    rows.append(Row(f"svd {SIZE}: worst error of a value", worst, "of it", "promised", 1e-4, 1e-4 / worst, ">= 1"))
    return rows, Svd.of(found)


def residual(matrix: Matrix, u: npt.NDArray[Any], s: npt.NDArray[Any], v: npt.NDArray[Any]) -> float:
    """Give the largest of |A v - s u| and |A^T u - s v| over all triplets, relative to the largest value."""
    exact = matrix._replace(data=matrix.data.astype(np.float64))
    u, v = u.astype(np.float64), v.astype(np.float64)
    there = np.linalg.norm(product(exact, v) - u * s, axis=0)
    back = np.linalg.norm(product(transpose(exact), u) - v * s, axis=0)
    return float(max(there.max(), back.max()) / s[0])


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin


# ---------------------------------------------------------------- non-negative factors


def _nmf(matrix: Matrix) -> list[Row]:
    """Take the error that scikit-learn has after so many iterations, and see when we are there."""
    from sklearn.decomposition import NMF

    theirs = NMF(SIZE, init="nndsvd", solver="cd", tol=0.0, max_iter=ITERATIONS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it needs more iterations
        weights, seconds = _timed(lambda: theirs.fit_transform(to_scipy(matrix)))
    goal = error_of(matrix, weights, theirs.components_)
    times: list[float] = []
    begin = time.process_time()
    ours = nmf(
        matrix, SIZE, tolerance=0.0, iterations=ITERATIONS, progress=lambda _: times.append(time.process_time() - begin)
    )  # fmt: skip
    there = [spent for spent, step in zip(times[-len(ours.report) :], ours.report, strict=True) if step.error <= goal]
    reached = there[0] if there else float("nan")
    what = f"nmf {SIZE} to an error of {goal:.5f}"
    rows = [Row(what, reached, "s", f"scikit-learn cd, {ITERATIONS} iterations", seconds, seconds / reached, ">= 2")]
    lin, spent = _timed(lambda: nmf(matrix, SIZE, solver="lin"))
    last = lin.report[-1]
    about = f"Lin's nmf {SIZE}, {len(lin.report) - 1} iterations, {spent:.0f} s: gradient"
    return [*rows, Row(about, last.gradient, "of the first", "his rule", 1e-3, 1e-3 / last.gradient, ">= 1")]


def error_of(matrix: Matrix, weights: npt.NDArray[Any], patterns: npt.NDArray[Any]) -> float:
    """Compute |X - W H|^2 / |X|^2 in double precision."""
    w, h = weights.astype(np.float64), patterns.astype(np.float64)
    exact = matrix._replace(data=matrix.data.astype(np.float64))
    whole = float(exact.data @ exact.data)
    crossed = float(np.einsum("ij,ij->", product(exact, np.ascontiguousarray(h.T)), w))
    return (whole - 2 * crossed + float(np.einsum("ij,ij->", w.T @ w, h @ h.T))) / whole


# ---------------------------------------------------------------- many rows


def _projecting(counts: Counts, made: Weighting, step: Svd) -> list[Row]:
    phrases = np.flatnonzero(counts.fields.pattern > 0)
    chosen = np.sort(np.random.default_rng(0).permutation(phrases)[:PHRASES])
    _, spent = _timed(lambda: project_rows(counts, chosen, (made, step)))
    return [Row(f"projecting {len(chosen):,} phrases", spent, "s", "promised", 30, 30 / spent, ">= 1")]


SEARCH = """
import sys, tracemalloc
import numpy as np
from composita import Space
space = Space.open(sys.argv[1])
tracemalloc.start()
space.neighbours("w7", 10)
print(tracemalloc.get_traced_memory()[1])
"""


def _neighbours(folder: Path) -> list[Row]:
    """Search very many vectors in their file; what is allocated beside the mapped file is small."""
    random = np.random.default_rng(0)
    bounds = [*range(0, ITEMS, 1 << 14), ITEMS]
    blocks = (random.standard_normal((last - first, SIZE), dtype=np.float32) for first, last in pairwise(bounds))
    write_stream(
        folder / "many", (ITEMS, SIZE), blocks, lambda: Items.from_labels([f"w{number}" for number in range(ITEMS)])
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", SEARCH, folder / "many"], capture_output=True, text=True, check=True)
    beside, matrix = float(done.stdout), 4.0 * ITEMS * SIZE
    what = f"neighbours among {ITEMS:,} x {SIZE}: memory"
    return [Row(what, beside, "bytes", "a copy of the vectors", matrix, matrix / beside, ">= 4")]


CHAIN = """
import sys
import numpy as np
from composita import Space
from composita.counting.counts import Counts
path, out, method, phrases = sys.argv[1:]
counts = Counts.open(path)
pattern = counts.fields.pattern
rows = np.concatenate([np.flatnonzero(pattern == 0), np.flatnonzero(pattern > 0)[:int(phrases)]])
options = {"iterations": 2} if method == "nmf" else {}
Space.from_counts(counts, reduce=method, rows=rows, out=out, **options)
"""


def _memory(counts: Counts, folder: Path) -> list[Row]:
    """Make a whole space in a process of its own; two iterations of nmf need as much memory as a hundred."""
    rows = []
    for method in ("svd", "nmf"):
        peak = peak_memory(CHAIN, str(counts.path), str(folder / method), method, str(PHRASES))
        rows.append(Row(f"counts to {method} {SIZE}: memory", peak, "bytes", "promised", 3e9, 3e9 / peak, ">= 1"))
    return rows
