"""Learning and applying tensors against the textbook: dense two-step regression, and `np.einsum` on the dense tensor.

The sizes are the paper's: a transitive verb with 324 objects of 15 subjects each, 300 dimensions, float32. The
vectors are drawn at random, with directions that matter less and less, as those of a space do.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Row, best, faster, peak_memory
from composita.functions.examples import Examples
from composita.functions.function import Function
from composita.functions.multistep import MultiStep
from composita.functions.onestep import OneStep
from composita.store.arrays import write_arrays
from composita.store.engine import one_blas_thread

Array = npt.NDArray[np.float32]
SIZE, GROUPS, EACH, PAIRS = 300, 324, 15, 10_000
EINSUM_PAIRS = 200
"""So many pairs are given to `np.einsum`: it makes a matrix of each, 3.6 GB for all of them."""


def run() -> list[Row]:
    """Measure everything on one thread."""
    with one_blas_thread:
        examples = transitive(GROUPS, EACH)
        function = MultiStep(storage="terms").learn(examples)
        return [
            *_learning(examples),
            *_sizes(function),
            *_applying(function),
            *_growth(),
            *_memory(),
        ]


# ---------------------------------------------------------------- examples


def vectors(rng: np.random.Generator, count: int, size: int = SIZE) -> Array:
    """Draw vectors of length 1 with unequal directions."""
    drawn = rng.standard_normal((count, size), dtype=np.float32) * np.arange(1, size + 1, dtype=np.float32) ** -0.5
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def transitive(groups: int, each: int, *, seed: int = 0, arity: int = 2, size: int = SIZE) -> Examples:
    """Draw examples in groups of equal first arguments."""
    rng = np.random.default_rng(seed)
    arguments = tuple(vectors(rng, max(groups, 2000), size) for _ in range(arity))
    ids = np.empty((groups * each, arity), np.int64)
    ids[:, 0] = np.repeat(np.arange(groups), each)
    for place in range(1, arity - 1):
        ids[:, place] = np.tile(np.repeat(rng.choice(2000, 4, replace=False), -(-each // 4))[:each], groups)
    ids[:, -1] = np.concatenate([rng.choice(2000, each, replace=False) for _ in range(groups)])
    outputs = vectors(rng, len(ids), size)
    for place, rows in enumerate(arguments):
        outputs += rows[ids[:, place]]
    outputs /= np.linalg.norm(outputs, axis=1, keepdims=True)
    return Examples.from_arrays(arguments, ids, outputs)


# ---------------------------------------------------------------- the textbook


def textbook(examples: Examples) -> Array:
    """Learn the dense tensor in two steps: one thin SVD for each regression, all lambdas at once."""
    order = np.argsort(examples.ids[:, 0], kind="stable")
    subjects, outputs = examples.vectors[1][examples.ids[order, 1]], examples.outputs[order]
    objects, firsts = np.unique(examples.ids[order, 0], return_index=True)
    bounds = [*firsts.tolist(), len(order)]
    maps = np.empty((len(objects), outputs.shape[1] * subjects.shape[1]), np.float32)
    for group, (first, last) in enumerate(pairwise(bounds)):
        maps[group] = svd_ridge(subjects[first:last], outputs[first:last]).reshape(-1)
    return svd_ridge(examples.vectors[0][objects], maps).reshape(outputs.shape[1], subjects.shape[1], -1)


def svd_ridge(inputs: Array, outputs: Array) -> Array:
    """Give the matrix of ridge regression with lambda by generalised cross-validation."""
    left, roots, right = np.linalg.svd(inputs, full_matrices=False)
    along = left.T @ outputs
    energies = np.einsum("kq,kq->k", along, along, dtype=np.float64)
    rest = max(float(np.vdot(outputs, outputs)) - energies.sum(), 0.0)
    values = roots.astype(np.float64) ** 2
    penalties = values[0] * np.logspace(-6, 3, 91)
    inverse = 1 / (values + penalties[:, None])
    zeros = len(inputs) - len(values)
    above, below = inverse**2 @ energies + rest / penalties**2, inverse.sum(1) + zeros / penalties
    penalty = penalties[np.argmin(above / below**2)]
    found: Array = (along.T * (roots / (values + penalty)).astype(np.float32)) @ right
    return found


# ---------------------------------------------------------------- comparisons


def _learning(examples: Examples) -> list[Row]:
    learner = MultiStep(storage="terms")
    ours, theirs = learner.learn(examples).dense(), textbook(examples)
    if np.abs(ours - theirs).max() > 0.01 * np.abs(theirs).max():
        raise SystemExit("the tensor differs from that of the textbook")
    mine, dense = best(lambda: learner.learn(examples), lambda: textbook(examples))
    first = f"a verb of {GROUPS} x {EACH} examples"
    peaks = [learning_memory(way) for way in ("ours", "textbook")]
    return [
        faster(first, 1, "verbs", mine, "dense two steps, NumPy", dense, ">= 3"),
        Row(f"{first}: memory", peaks[0], "bytes", "dense two steps, NumPy", peaks[1], peaks[1] / peaks[0], ">= 8"),
        Row(f"{first}: time", mine, "s", "DISSECT, as it was measured", 124, 124 / mine, ">= 100"),
    ]


def _sizes(function: Function) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "function.safetensors")
        write_arrays(path, function.to_arrays())
        saved = path.stat().st_size
    dense = SIZE**3 * 4
    return [Row("the function saved", saved, "bytes", "the dense tensor", dense, dense / saved, ">= 8")]


def _applying(function: Function) -> list[Row]:
    rng = np.random.default_rng(1)
    objects, subjects = vectors(rng, PAIRS), vectors(rng, PAIRS)
    tensor, some = function.dense(), slice(EINSUM_PAIRS)

    def einsum() -> Array:
        found: Array = np.einsum("qsd,bd,bs->bq", tensor, objects[some], subjects[some], optimize=True)
        return found

    if np.abs(einsum() - function.apply_all(objects[some], subjects[some])).max() > 1e-4:
        raise SystemExit("applying differs from np.einsum")
    (ours,) = best(lambda: function.apply_all(objects, subjects), repeat=3)
    (theirs,) = best(einsum, repeat=3)
    ratio = (theirs / EINSUM_PAIRS) / (ours / PAIRS)
    other = f"np.einsum, {EINSUM_PAIRS} pairs"
    return [Row(f"applying to {PAIRS:,} pairs", PAIRS / ours, "pairs/s", other, EINSUM_PAIRS / theirs, ratio, ">= 3")]


def _growth() -> list[Row]:
    """Learn some verbs and ten times as many."""
    few, many = 100, 1000
    tables = [transitive(60, 5, seed=seed) for seed in range(10)]
    rows = []
    for name, learner in (("one-step", OneStep(kernel="product")), ("two-step", MultiStep())):
        times = []
        for count in (few, many):
            start = time.perf_counter()
            for number in range(count):
                learner.learn(tables[number % len(tables)])
            times.append((time.perf_counter() - start) / count)
        what = f"{many:,} verbs of 300 examples, {name}"
        rows.append(Row(what, 1 / times[1], "verbs/s", f"{few} verbs", 1 / times[0], times[0] / times[1], ">= 0.9"))
    return rows


# ---------------------------------------------------------------- memory, in processes of their own

PEAK = """
import sys
from benchmarks.functions import *
learn = {"ours": MultiStep(storage="terms").learn, "textbook": textbook}[sys.argv[1]]
with one_blas_thread:
    examples = transitive(GROUPS, EACH)
    learn(transitive(5, 5, size=20))
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    learn(examples)
print(resident("VmHWM") - before)
"""


def learning_memory(way: str) -> int:
    """Learn in a process of its own and give by how much its peak memory exceeds what it held before: Linux only."""
    run = subprocess.run([sys.executable, "-c", PEAK, way], capture_output=True, text=True, check=True)
    return int(run.stdout)


def resident(what: str) -> int:
    """Give the memory that this process holds (VmRSS), or held at its peak (VmHWM), in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(what))


LARGE = """
import sys
from benchmarks.functions import *
groups, each, arity, learner = sys.argv[1:]
examples = transitive(int(groups), int(each), arity=int(arity))
with one_blas_thread:
    (MultiStep() if learner == "two-step" else OneStep(kernel="product")).learn(examples)
"""


def _memory() -> list[Row]:
    three = peak_memory(LARGE, "250", "20", "3", "two-step")
    many = peak_memory(LARGE, "4000", "25", "2", "two-step")
    dense, pairs = SIZE**4 * 4, (4000 * 25) ** 2 * 8
    return [
        Row("arity 3, 5,000 examples: memory", three, "bytes", "promised", 2e9, 2e9 / three, ">= 1"),
        Row("arity 3, 5,000 examples: memory", three, "bytes", "the dense tensor", dense, dense / three),
        Row("100,000 examples: memory", many, "bytes", "promised", 4e9, 4e9 / many, ">= 1"),
        Row("100,000 examples: memory", many, "bytes", "an N x N matrix", pairs, pairs / many),
    ]


if __name__ == "__main__":
    sys.exit("python -m benchmarks functions")
