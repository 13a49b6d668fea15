"""Building a space: which steps, fitted on the core of counts, and all rows sent through them piece by piece."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.counting.counts import Counts, Matrix
from composita.spaces.cells import count_pieces, cut, slice_rows, spread, stack, take_rows
from composita.spaces.items import Items
from composita.spaces.nmf import nmf
from composita.spaces.steps import (
    NORMS,
    PROJECTIONS,
    Chain,
    Nmf,
    Normalisation,
    Rows,
    Selection,
    Step,
    Svd,
    apply_chain,
    is_sparse,
)
from composita.spaces.svd import check_dimensions, svd
from composita.spaces.weighting import Weighting, check_weighting
from composita.store.errors import InputError, UsageError
from composita.store.folder import Folder, fingerprint
from composita.store.progress import Cancellation, ProgressCallback, silent

if TYPE_CHECKING:
    from composita.spaces.weighting import OwnWeighting
    from composita.store.engine import Engine

logger = logging.getLogger("composita")

Float32Array = npt.NDArray[np.float32]
Int64Array = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]

REDUCTIONS = ("svd", "nmf", "none")
NMF_OPTIONS = ("solver", "start", "tolerance", "iterations", "seconds", "projection")
NOT_ASKED = ("residual", "report")
"""Parameters of steps that say what came of them."""


@dataclass(frozen=True)
class Plan:
    """What is to be done to the core, before anything is computed; the parameters are those of `Space.from_counts`."""

    weighting: str | OwnWeighting = "ppmi"
    smoothing: float = 1.0
    shift: float = 0.0
    min_count: float = 0
    columns: int | None = None
    columns_by: str = "length"
    normalise: str | None = None
    reduce: str = "none"
    dimensions: int = 300
    power: float = 1.0
    drop: int = 0
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.weighting, str):
            check_weighting(self.weighting, smoothing=self.smoothing, shift=self.shift)
        if self.reduce not in REDUCTIONS:
            raise UsageError(f"unknown reduction {self.reduce!r}: choose {', '.join(REDUCTIONS)}")
        if self.normalise is not None and self.normalise not in NORMS:
            raise UsageError(f"expected the norm l1 or l2, got {self.normalise!r}")
        if self.reduce != "none" and self.dimensions < 1:
            raise UsageError(f"expected at least 1 dimension, got {self.dimensions}")
        if self.drop < 0 or (self.drop and self.reduce != "svd"):
            raise UsageError(f"drop: expected a number of dimensions of svd from 0, got {self.drop}")
        if self.power != 1 and self.reduce != "svd":
            raise UsageError("power belongs to svd")
        allowed = NMF_OPTIONS if self.reduce == "nmf" else ()
        for name in self.options:
            if name not in allowed:
                raise UsageError(f"unknown option {name!r} of {self.reduce}: choose {', '.join(allowed) or 'none'}")
        if self.options.get("projection", "nnls") not in PROJECTIONS:
            raise UsageError(f"rows are projected by {' or '.join(PROJECTIONS)}, got {self.options['projection']!r}")


# ---------------------------------------------------------------- which rows


def core_rows(counts: Counts) -> Int64Array:
    """Find the rows that define weights and dimensions: the words that are of the core."""
    rows = counts.rows("word")
    found: Int64Array = rows[counts.core[counts.fields.head[rows]]]
    if not len(found):
        raise InputError("the counts have no core, the nouns and verbs that define weights and dimensions")
    return found


def choose_rows(counts: Counts, rows: str | Sequence[int] | npt.NDArray[Any] | None) -> Int64Array | None:
    """Give the numbers of the rows that a space is to have, sorted; None for all."""
    if rows is None:
        return None
    if isinstance(rows, str):
        if rows not in ("words", "word"):
            raise UsageError(f"rows: expected None, 'words' or numbers, got {rows!r}")
        return counts.rows("word")
    given = np.asarray(rows)
    return np.flatnonzero(given) if given.dtype == np.bool_ else np.unique(given.astype(np.int64))


def check_columns(columns: tuple[str, ...], counts: Counts) -> None:
    """Refuse counts whose columns are not those of the core."""
    if counts.columns == columns:
        return
    ours, theirs = set(columns), set(counts.columns)
    other = sorted(theirs - ours) or sorted(ours - theirs)
    where = "the counts" if theirs - ours else "the space"
    raise UsageError(
        f"the counts have {len(counts.columns):,} contexts, the space was made of {len(columns):,}, and only {where} "
        f"have {other[0]!r}: count with the vocabulary of the space"
        if other
        else "the contexts of counts and space are the same, but in another order: count again"
    )


# ---------------------------------------------------------------- fitting


def fit_counts(
    counts: Counts,
    core: Int64Array,
    plan: Plan,
    *,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Chain:
    """Fit all steps of a plan on the core of counts."""
    matrix = stack([piece for _, piece in count_pieces(counts, core)], counts.shape[1])
    steps, _ = fit(matrix, plan, unit=counts.unit, engine=engine, progress=progress, cancel=cancel)
    empty = int((np.diff(matrix.indptr) == 0).sum())
    if empty:
        logger.info("%d words of the core were found beside no context: their vectors are 0", empty)
    return steps


def fit(
    rows: Rows,
    plan: Plan,
    *,
    unit: int = 1,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> tuple[Chain, Rows]:
    """Fit the steps of a plan on rows, one after the other, and give them with what became of the rows but reduced."""
    steps: list[Step] = []

    def do(step: Step) -> Rows:
        steps.append(step)
        return step.apply(rows)

    if plan.min_count:
        rows = do(Selection.fit(_sparse(rows), min_count=plan.min_count * unit))
    if plan.weighting != "none" or unit != 1:
        made = Weighting.fit(
            _sparse(rows), plan.weighting, unit=unit, smoothing=plan.smoothing, shift=plan.shift
        )  # fmt: skip
        rows = do(made)
    if plan.columns is not None:
        rows = do(Selection.fit(_sparse(rows), top=plan.columns, by=plan.columns_by))
    if plan.normalise is not None:
        rows = do(Normalisation(plan.normalise))
    if plan.reduce != "none":
        steps.append(_reduce(rows, plan, engine=engine, progress=progress, cancel=cancel))
    return tuple(steps), rows


def _sparse(rows: Rows) -> Matrix:
    if not isinstance(rows, Matrix):
        raise UsageError("the space is dense: weights and columns are of sparse rows; do it before the reduction")
    return rows


def _reduce(
    rows: Rows, plan: Plan, *, engine: Engine | None, progress: ProgressCallback, cancel: Cancellation | None
) -> Step:
    """Fit the reduction."""
    from composita.spaces.cells import from_scipy

    if not isinstance(rows, Matrix):
        import scipy.sparse as sp

        rows = from_scipy(sp.csr_array(rows))
    rows = rows._replace(data=rows.data.astype(np.float32, copy=False))
    wanted = plan.dimensions + plan.drop
    check_dimensions(wanted, rows.shape)
    logger.info("%s", memory_note(plan.reduce, rows.shape, len(rows.indices), wanted))
    if plan.reduce == "nmf":
        options = {"solver": "hals", "projection": "nnls", **plan.options}
        projection = options.pop("projection")
        factors = nmf(
            rows, wanted, seed=plan.seed, engine=engine, progress=progress, cancel=cancel, **options
        )  # fmt: skip
        last = factors.report[-1]
        logger.info("nmf: error %.4f of the whole after %d iterations", last.error, len(factors.report) - 1)
        return Nmf.of(factors, options["solver"], projection)
    found = svd(rows, wanted, seed=plan.seed, engine=engine, progress=progress, cancel=cancel)
    return Svd.of(found, power=plan.power, drop=plan.drop)


def memory_needed(method: str, shape: tuple[int, int], cells: int, dimensions: int) -> int:
    """Estimate how many bytes a reduction needs beside the counts."""
    both_ways = 2 * 8 * cells
    if method == "svd":
        basis = min(max(shape), 6 * dimensions + 128)
        return both_ways + 4 * (shape[0] + shape[1]) * basis + 3 * 8 * basis**2
    return both_ways + 4 * 4 * (shape[0] + shape[1]) * dimensions


def memory_note(method: str, shape: tuple[int, int], cells: int, dimensions: int) -> str:
    """Say beforehand what a reduction is going to need."""
    needed = memory_needed(method, shape, cells, dimensions)
    return (
        f"{method} to {dimensions:,} dimensions of {shape[0]:,} x {shape[1]:,} with {cells:,} cells: "
        f"about {max(1, round(needed / 1e6)):,} MB"
    )


# ---------------------------------------------------------------- all rows


def project_rows(
    counts: Counts,
    rows: Int64Array | None,
    chain: Chain,
    *,
    write: Callable[[int, Float32Array], None] | None = None,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> tuple[Rows, Int32Array]:
    """Send rows of counts through a chain, a piece at a time, in threads.

    ``write`` is given dense results with the number of their first row; without it they are kept in memory.
    """
    size = len(counts) if rows is None else len(rows)
    nonzeros = np.empty(size, np.int32)
    sparse = is_sparse(chain)
    results: dict[int, Matrix] = {}
    dense = np.empty((0 if sparse or write else size, dimensions_of(chain, counts)), np.float32)

    def work(first: int, piece: Matrix) -> None:
        done, lengths = apply_chain(chain, piece)
        nonzeros[first : first + len(lengths)] = lengths
        if isinstance(done, Matrix):
            # Copies, because what was cut off would stay in memory with the piece.
            results[first] = done._replace(
                indices=done.indices.astype(np.int32), data=done.data.astype(np.float32)
            )  # fmt: skip
        elif write is not None:
            write(first, done)
        else:
            dense[first : first + len(done)] = done

    def pieces() -> Any:  # noqa: ANN401 - of arguments and weights
        begin = 0
        for numbers, piece in count_pieces(counts, rows):
            yield begin, piece
            begin += len(numbers)

    spread_lazily(work, pieces(), size, engine=engine, progress=progress, cancel=cancel)
    if sparse:
        return stack([results[first] for first in sorted(results)], dimensions_of(chain, counts)), nonzeros
    return dense, nonzeros


def spread_lazily(
    work: Callable[[int, Matrix], None],
    pieces: Any,  # noqa: ANN401
    total: int,
    *,
    engine: Engine | None,
    progress: ProgressCallback,
    cancel: Cancellation | None,
) -> None:
    """Do pieces as they are cut, so that not all of them are in memory at once."""
    from composita.spaces.cells import in_threads
    from composita.store.engine import Task, run_tasks

    tasks = (Task(f"rows from {first}", work, (first, piece), piece.shape[0]) for first, piece in pieces)
    threads = in_threads(engine)
    for _ in run_tasks(
        tasks, engine=threads, progress=progress, stage="projecting", unit="rows", total=total, cancel=cancel
    ):
        pass


def dimensions_of(chain: Sequence[Step], counts: Counts) -> int:
    """Tell how many columns rows have at the end of a chain."""
    empty = Matrix(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32), (0, counts.shape[1]))
    return int(apply_chain(chain, empty)[0].shape[1])


def extend(
    rows: Rows,
    core: BoolArray,
    plan: Plan,
    *,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> tuple[Chain, Rows, Int32Array | None]:
    """Fit further steps on the core of rows, and do them to all; also say the new lengths where they are sparse."""
    if not core.any():
        raise UsageError("these rows were projected: do further steps to the space of the core, and project again")
    chosen = np.flatnonzero(core)
    basis = take_rows(rows, chosen) if isinstance(rows, Matrix) else rows[chosen]
    steps, _ = fit(basis, plan, engine=engine, progress=progress, cancel=cancel)
    if not isinstance(rows, Matrix):
        return steps, apply_chain(steps, rows)[0], None
    done: list[tuple[Rows, Int32Array] | None] = [None] * len(parts := cut(rows.indptr))

    def work(place: int, first: int, last: int) -> None:
        done[place] = apply_chain(steps, slice_rows(rows, first, last))

    spread(work, [(place, *part) for place, part in enumerate(parts)], engine=engine, cancel=cancel)
    results = [result for result in done if result is not None]
    lengths = np.concatenate([length for _, length in results])
    sparse = [result for result, _ in results if isinstance(result, Matrix)]
    if sparse:
        return steps, stack(sparse, sparse[0].shape[1]), lengths
    return steps, np.vstack([result for result, _ in results if not isinstance(result, Matrix)]), lengths


# ---------------------------------------------------------------- fingerprints


def counts_fingerprint(counts: Counts) -> str:
    """Give the fingerprint of counts: the one that is saved with them, or a hash of what they hold."""
    if counts.path is not None:
        return str(Folder.open(counts.path).meta["fingerprint"])
    arrays: list[npt.NDArray[Any]] = [counts.upper, counts.lower, counts.frequency]
    for segment in counts.segments:
        arrays += [np.diff(segment.indptr), segment.indices, segment.data]
    return fingerprint("counts", counts.names.words, counts.columns, [_digest(array) for array in arrays], counts.unit)


def content_fingerprint(labels: Sequence[str], rows: Rows) -> str:
    """Compute a hash of labels and numbers."""
    arrays: list[npt.NDArray[Any]] = [rows.indptr, rows.indices, rows.data] if isinstance(rows, Matrix) else [rows]
    return fingerprint("vectors", list(labels), [_digest(array) for array in arrays])


def space_fingerprint(source: str, chain: Chain, items: Items) -> str:
    """Compute a hash of what a space was made of, how, and which rows it has."""
    rows = items.plain or [_digest(items.upper), _digest(items.lower), items.words]
    return fingerprint("space-1", source, [[step.kind, identity(step)] for step in chain], rows)


def identity(step: Step) -> dict[str, Any]:
    """Say what a step was asked to do, not what came of it."""
    sizes = {name: list(array.shape) for name, array in step.arrays().items()}
    return {name: value for name, value in step.parameters().items() if name not in NOT_ASKED} | {"sizes": sizes}


def _digest(array: npt.NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()
