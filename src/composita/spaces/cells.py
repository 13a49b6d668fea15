"""Sparse rows: pieces of counts, their products with dense matrices, and how the work is divided.

The boundaries of the pieces depend on the data only, never on how many workers there are, so that sums have one order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.counting.counts import Counts, Matrix
from composita.spaces import kernels
from composita.store.engine import HERE, Engine, Task, available_cores, run_tasks
from composita.store.errors import CorruptError
from composita.store.progress import Cancellation, ProgressCallback, silent

if TYPE_CHECKING:
    import scipy.sparse as sp

Int64Array = npt.NDArray[np.int64]
Float32Array = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.floating[Any]]

PIECE_ROWS = 1 << 14
PIECE_CELLS = 1 << 19


def in_threads(engine: Engine | None) -> Engine:
    """Give the threads for work on arrays in memory, whatever engine was asked for: a cluster's workers lack them."""
    if engine is None:
        return HERE
    return Engine(engine.workers if engine.executor is None else available_cores())


def spread(
    work: Callable[..., Any],
    pieces: Sequence[tuple[Any, ...]],
    *,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    stage: str = "working",
    unit: str = "pieces",
    weights: Sequence[float] | None = None,
    cancel: Cancellation | None = None,
) -> None:
    """Call a function for each piece, in threads; it writes what it makes to where it belongs."""
    shares = [1.0] * len(pieces) if weights is None else weights
    tasks = [
        Task(f"{stage} {place}", work, piece, share)
        for place, (piece, share) in enumerate(zip(pieces, shares, strict=True), 1)
    ]
    threads = in_threads(engine)
    for _ in run_tasks(tasks, engine=threads, progress=progress, stage=stage, unit=unit, cancel=cancel):
        pass


def cut(indptr: Int64Array, rows: int = PIECE_ROWS, cells: int = PIECE_CELLS) -> list[tuple[int, int]]:
    """Cut rows into pieces of at most so many rows, and of so many cells or one row.

    >>> cut(np.array([0, 2, 4, 6, 8]), rows=3, cells=4)
    [(0, 2), (2, 4)]
    """
    bounds, size = [0], len(indptr) - 1
    while bounds[-1] < size:
        first = bounds[-1]
        fitting = int(np.searchsorted(indptr, indptr[first] + cells, side="right")) - 1
        bounds.append(min(size, first + rows, max(fitting, first + 1)))
    return list(pairwise(bounds))


def check_pointers(matrix: Matrix, where: object) -> None:
    """Refuse rows that do not follow each other, because the kernels would read beside the arrays."""
    bounds = matrix.indptr
    good = len(bounds) == matrix.shape[0] + 1 and bounds[0] == 0 and bounds[-1] == len(matrix.indices)
    if not good or len(matrix.indices) != len(matrix.data) or (np.diff(bounds) < 0).any():
        raise CorruptError(f"{where}: damaged, the cells do not fit to the rows; make it again")


def check_cells(matrix: Matrix, where: object) -> None:
    """Refuse cells in columns that there are not, for the same reason."""
    if len(matrix.indices) and not 0 <= matrix.indices.min() <= matrix.indices.max() < matrix.shape[1]:
        raise CorruptError(f"{where}: damaged, there are cells in columns that are not there; make it again")


def slice_rows(matrix: Matrix, first: int, last: int) -> Matrix:
    """Give some neighbouring rows where they lie."""
    start, stop = int(matrix.indptr[first]), int(matrix.indptr[last])
    pointers = matrix.indptr[first : last + 1] - start
    return Matrix(pointers, matrix.indices[start:stop], matrix.data[start:stop], (last - first, matrix.shape[1]))


def count_pieces(counts: Counts, rows: Int64Array | None = None) -> Iterator[tuple[Int64Array, Matrix]]:
    """Give the cells of all rows or of some in pieces: the numbers of the rows, and a matrix of them."""
    first, where = 0, counts.path or "counts"
    for segment in counts.segments:
        whole = Matrix(segment.indptr, segment.indices, segment.data, (len(segment), counts.shape[1]))
        check_pointers(whole, where)
        for begin, end in cut(segment.indptr):
            numbers = np.arange(first + begin, first + end)
            if rows is None:
                piece = slice_rows(whole, begin, end)
            elif len(kept := np.intersect1d(numbers, rows, assume_unique=True)):
                numbers, piece = kept, take_rows(whole, kept - first)
            else:
                continue
            check_cells(piece, where)
            yield numbers, piece
        first += len(segment)


def take_rows(matrix: Matrix, rows: Int64Array) -> Matrix:
    """Copy some rows, in the order given."""
    begin = matrix.indptr[rows]
    lengths = matrix.indptr[rows + 1] - begin
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    cells = np.arange(indptr[-1]) + np.repeat(begin - indptr[:-1], lengths)
    return Matrix(indptr, matrix.indices[cells], matrix.data[cells], (len(rows), matrix.shape[1]))


def stack(pieces: Sequence[Matrix], columns: int) -> Matrix:
    """Put matrices one below the other."""
    ends = np.cumsum([0, *(len(piece.indices) for piece in pieces)])
    pointers = [piece.indptr[1:] + before for piece, before in zip(pieces, ends, strict=False)]
    indptr = np.concatenate([np.zeros(1, np.int64), *pointers]).astype(np.int64)
    indices = np.concatenate([np.empty(0, np.int32), *(piece.indices for piece in pieces)])
    kind = np.result_type(*(piece.data for piece in pieces)) if pieces else np.dtype(np.float32)
    data = np.concatenate([np.empty(0, kind), *(piece.data for piece in pieces)])
    return Matrix(indptr, indices, data, (len(indptr) - 1, columns))


def to_scipy(matrix: Matrix) -> sp.csr_array:
    """Give the matrix as SciPy's, where it lies."""
    import scipy.sparse as sp

    small = len(matrix.indices) < 1 << 31
    pointers = matrix.indptr.astype(np.int32) if small else matrix.indptr
    return sp.csr_array((matrix.data, matrix.indices, pointers), matrix.shape, copy=False)


def from_scipy(matrix: sp.csr_array) -> Matrix:
    """Take SciPy's matrix as ours, with sorted columns, each once, and no zeros in it."""
    import scipy.sparse as sp

    rows = sp.csr_array(matrix)
    if not rows.has_canonical_format or (rows.data == 0).any():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return Matrix(rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), rows.data, rows.shape)


def transpose(matrix: Matrix) -> Matrix:
    """Turn rows into columns."""
    turned = to_scipy(matrix).tocsc()
    return Matrix(
        turned.indptr.astype(np.int64), turned.indices.astype(np.int32, copy=False), turned.data, matrix.shape[::-1]
    )


def product(
    matrix: Matrix, dense: FloatArray, *, engine: Engine | None = None, out: FloatArray | None = None
) -> FloatArray:
    """Multiply a sparse matrix by a dense one, by pieces of rows."""
    dense = np.ascontiguousarray(dense)
    result = np.empty((matrix.shape[0], dense.shape[1]), dense.dtype) if out is None else out
    pieces = [
        (matrix.indptr, matrix.indices, matrix.data, dense, result, first, last)
        for first, last in cut(matrix.indptr, cells=1 << 18)
    ]
    spread(kernels.times, pieces, engine=engine)
    return result
