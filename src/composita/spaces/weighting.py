r"""Weightings: what a count becomes, so that telling contexts weigh more than frequent ones.

With n the cell, r and c the sums of its row and column, N the sum of all cells of the core, and E = r c / N what chance
would give (c, N and all else that is known of columns is the core's; r is the row's own sum, also of projected rows):

    none                n
    log                 max(0, ln n)
    log1p               ln(1 + n)
    pmi                 ln(n / E)
    ppmi                max(0, ln(n / E) - shift)
    lmi                 n max(0, ln(n / E))
    epmi                n / E
    t-score             (n - E) / sqrt(n)                         for n > E, otherwise 0
    z-score             (n - E) / sqrt(E)                         likewise
    chi-squared         N (n o22 - o12 o21)^2 / (r c (N - r) (N - c))   likewise; o: the table of two by two
    simple-ll           2 (n ln(n / E) - (n - E))                 likewise
    log-likelihood      2 sum o ln(o / e) over the table          likewise
    dice                2 n / (r + c)
    tf-idf              n ln(D / d)       D: rows of the core, d: those of them that have the column

``smoothing`` raises column sums to a power in pmi, ppmi, lmi and epmi, so that rare contexts get less:
c^a / sum c^a stands for c / N. ``shift`` is the logarithm of the number of negative samples in word2vec's terms.
Absent cells stay absent, and those that become 0 are dropped. A column that the core does not have weighs nothing,
because there is nothing to compare with.

>>> table = Matrix(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.array([2, 1, 3]), (2, 2))
>>> ppmi = Weighting.fit(table, "ppmi")
>>> ppmi.apply(table).data                      # ln(2 * 6 / (3 * 2)), ln(3 * 6 / (3 * 4)); ln(1 * 6 / (3 * 4)) < 0
array([0.6931472, 0.4054651], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from composita.counting.counts import Matrix
from composita.counting.words import suggest
from composita.spaces import kernels
from composita.store.errors import InputError, UsageError

FloatArray = npt.NDArray[np.float64]

INFORMATION = {"pmi": (False, False), "ppmi": (True, False), "lmi": (True, True)}
"""For each of these whether it is clipped at 0, and multiplied by the count."""

SCORES = {
    "none": kernels.NONE, "log": kernels.LOG, "log1p": kernels.LOG1P, "epmi": kernels.EPMI,
    "t-score": kernels.TSCORE, "z-score": kernels.ZSCORE, "chi-squared": kernels.CHI_SQUARED,
    "simple-ll": kernels.SIMPLE_LL, "log-likelihood": kernels.LL, "dice": kernels.DICE, "tf-idf": kernels.TFIDF,
}  # fmt: skip
WEIGHTINGS = (*INFORMATION, *SCORES)
_SMOOTHED = (*INFORMATION, "epmi")
_LOGS = 1 << 14
OWN = "own "
"""What the name of a user's own function begins with."""


class Table(NamedTuple):
    """What a weighting of one's own gets: arrays with one entry a cell, and the size of the whole."""

    n: FloatArray
    r: FloatArray
    c: FloatArray
    total: float


OwnWeighting = Callable[[Table], npt.NDArray[Any]]


@dataclass(frozen=True)
class Weighting:
    """A weighting with what it knows of the core.

    Parameters
    ----------
    name
        One of `WEIGHTINGS`, or the name of a function of one's own.
    columns, found
        The sum of each column over the core, and how many rows of the core have it.
    size
        How many rows the core has.
    unit
        What a whole occurrence counts, as `Counts.unit` says.
    smoothing, shift
        See above.
    function
        A function of one's own; it is not saved.

    """

    name: str
    columns: FloatArray
    found: FloatArray
    size: int
    unit: int = 1
    smoothing: float = 1.0
    shift: float = 0.0
    function: OwnWeighting | None = field(default=None, compare=False)

    kind: ClassVar[str] = "weighting"

    @classmethod
    def fit(
        cls,
        core: Matrix | Iterable[tuple[Matrix, npt.NDArray[np.int64]]],
        name: str | OwnWeighting = "ppmi",
        *,
        unit: int = 1,
        smoothing: float = 1.0,
        shift: float = 0.0,
    ) -> Weighting:
        """Take from the core what the weighting needs; ``core`` is a matrix, or pieces with the rows that matter."""
        function = None if isinstance(name, str) else name
        label = name if isinstance(name, str) else OWN + getattr(name, "__name__", "function")
        check_weighting(label, smoothing=smoothing, shift=shift)
        pieces = [(core, np.arange(core.shape[0]))] if isinstance(core, Matrix) else core
        sums = np.empty(0)
        found, size = np.empty(0), 0
        for matrix, rows in pieces:
            if not len(sums):
                sums, found = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
            kernels.add_columns(matrix.indptr, matrix.indices, matrix.data, rows, sums, found)
            size += len(rows)
        if not sums.any():
            raise InputError("the core has no counts at all: there is nothing to weigh by")
        return cls(label, sums / unit, found, size, unit, smoothing, shift, function)

    def __str__(self) -> str:
        options = {"smoothing": (self.smoothing, 1.0), "shift": (self.shift, 0.0)}
        said = [f"{key} {value:g}" for key, (value, usual) in options.items() if value != usual]
        return " ".join([self.name, *said])

    @property
    def total(self) -> float:
        """The sum of all cells of the core."""
        return float(self.columns.sum())

    @cached_property
    def _log_column(self) -> FloatArray:
        """Compute ln(N / n_c), or with smoothing the logarithm of what stands for it."""
        powers = self.columns**self.smoothing
        with np.errstate(divide="ignore"):
            logs: FloatArray = np.log(powers.sum()) - np.log(powers)
        logs[self.columns <= 0] = -np.inf
        return logs

    @cached_property
    def _smoothed(self) -> FloatArray:
        """Give column sums of the same total, smoothed."""
        powers = self.columns**self.smoothing
        smoothed: FloatArray = powers * (self.total / powers.sum())
        return smoothed

    def apply(self, matrix: Matrix, rows: npt.NDArray[np.int64] | None = None) -> Matrix:
        """Weigh all rows of a matrix or some."""
        if matrix.shape[1] != len(self.columns):
            raise UsageError(f"expected rows of {len(self.columns):,} columns as the core has, got {matrix.shape[1]:,}")
        chosen = np.arange(matrix.shape[0]) if rows is None else rows
        if self.name.startswith(OWN):
            return self._apply_own(matrix, chosen)
        most = len(matrix.indices) if rows is None else int((matrix.indptr[chosen + 1] - matrix.indptr[chosen]).sum())
        ends = np.empty(len(chosen), np.int64)
        out = np.empty(most, np.int32), np.empty(most, np.float32)
        cells = matrix.indptr, matrix.indices, matrix.data, chosen, float(self.unit)
        if self.name in INFORMATION:
            whole = matrix.data.dtype.kind in "iu"
            with np.errstate(divide="ignore"):
                logs = np.log(np.arange(_LOGS if whole else 0) / self.unit)
            clip, local = INFORMATION[self.name]
            used = kernels.weigh_by_information(*cells, self._log_column, logs, self.shift, clip, local, ends, *out)
        else:
            columns = self._smoothed if self.name in _SMOOTHED else self.columns
            about = SCORES[self.name], columns, self.found, self.total, float(self.size)
            used = kernels.weigh_by_score(*cells, *about, ends, *out)
        if used < 0:
            raise InputError(f"{self.name} weighs counts, and a number is negative: expected none below 0")
        return _matrix(ends, out[0][:used], out[1][:used], matrix.shape[1])

    def _apply_own(self, matrix: Matrix, rows: npt.NDArray[np.int64]) -> Matrix:
        """Weigh by the function that the user gave."""
        if self.function is None:
            raise UsageError(
                f"the function of the weighting {self.name!r} is not saved with a space: nothing can be projected"
            )
        from composita.spaces.cells import take_rows

        picked = take_rows(matrix, rows)
        sums = np.empty(len(rows))
        kernels.row_sums(picked.indptr, picked.data, sums)
        n, c = picked.data / self.unit, self.columns[picked.indices]
        r = np.repeat(sums / self.unit, np.diff(picked.indptr))
        values = np.asarray(self.function(Table(n, r, c, self.total)), np.float32)
        if values.shape != n.shape or not np.isfinite(values).all():
            raise UsageError(f"the weighting {self.name!r} must give one finite number for each of {len(n):,} cells")
        kept = np.concatenate([[0], np.cumsum(values != 0)]).astype(np.int64)
        return _matrix(kept[picked.indptr[1:]], picked.indices[values != 0], values[values != 0], matrix.shape[1])

    def parameters(self) -> dict[str, Any]:
        """Say what JSON can say of it."""
        return {
            "name": self.name, "size": self.size, "unit": self.unit, "smoothing": self.smoothing, "shift": self.shift,
        }  # fmt: skip

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Give the arrays that it needs."""
        return {"columns": self.columns, "found": self.found}

    @classmethod
    def restore(cls, said: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Weighting:
        """Make it again from what was saved."""
        check_weighting(said["name"], smoothing=said["smoothing"], shift=said["shift"])
        return cls(
            said["name"], arrays["columns"], arrays["found"], said["size"], said["unit"], said["smoothing"],
            said["shift"],
        )  # fmt: skip


def _matrix(
    ends: npt.NDArray[np.int64], indices: npt.NDArray[np.int32], data: npt.NDArray[Any], columns: int
) -> Matrix:
    indptr = np.concatenate([[0], ends]).astype(np.int64)
    return Matrix(indptr, indices, data, (len(ends), columns))


def check_weighting(name: str, *, smoothing: float = 1.0, shift: float = 0.0) -> None:
    """Refuse a weighting that there is not, and options that it does not have."""
    if name not in WEIGHTINGS and not name.startswith(OWN):
        raise UsageError(f"unknown weighting {name!r}: choose {', '.join(WEIGHTINGS)}{suggest(name, WEIGHTINGS)}")
    if not 0 < smoothing <= 1:
        raise UsageError(f"smoothing: expected a power above 0 and up to 1, got {smoothing:g}")
    if smoothing != 1 and name not in _SMOOTHED:
        raise UsageError(f"smoothing belongs to {', '.join(_SMOOTHED)}, not to {name}")
    if shift < 0 or (shift and name not in INFORMATION):
        raise UsageError(f"shift: expected a number from 0, for {', '.join(INFORMATION)}, got {shift:g} for {name}")
