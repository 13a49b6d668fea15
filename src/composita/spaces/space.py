"""Space: the vectors of words and phrases, with all that was done to make them.

>>> from composita.counting.counts import Counts
>>> counts = Counts.from_cells({
...     "dog-n": {"bark-v": 3, "tail-n": 2}, "cat-n": {"tail-n": 2, "purr-v": 2}, "car-n": {"road-n": 3},
... })
>>> space = Space.from_counts(counts, reduce="none")
>>> space
Space(3 words, 0 phrases x 4 dimensions, sparse: counts -> ppmi)
>>> [label for label, _ in space.neighbours("dog-n", 1)]
['cat-n']
>>> space.reduced("svd", 2)
Space(3 words, 0 phrases x 2 dimensions: counts -> ppmi -> svd 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from composita.counting.counts import Counts, Matrix
from composita.spaces import building, similarity
from composita.spaces.cells import check_cells, check_pointers, take_rows, to_scipy
from composita.spaces.items import Items, Phrases
from composita.spaces.steps import Chain, Rows, describe
from composita.store.errors import InputError, UsageError
from composita.store.progress import Cancellation, ProgressCallback, silent

if TYPE_CHECKING:
    import scipy.sparse as sp

    from composita.spaces.weighting import OwnWeighting
    from composita.store.engine import Engine

Float32Array = npt.NDArray[np.float32]
Int64Array = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, repr=False, eq=False)
class Space:
    """Labelled vectors: words, then phrases. It is never changed; every operation gives a new one.

    Parameters
    ----------
    items
        What the rows are.
    rows_data
        The rows, dense or sparse; see `array` and `matrix`.
    core
        For each row whether weights and dimensions were made of it.
    frequency
        How often the item of each row occurred; 0 where that is not known.
    nonzeros
        How many dimensions of each row were not 0 before the reduction.
    chain
        What was done, to be repeated on whatever is projected.
    columns
        The labels of the columns of the counts; empty for vectors from elsewhere.
    source, fingerprint
        What it was made of (``counts``, ``vectors``), and a hash of that.
    forms
        How often each word form was seen: a table of form, label, count; None where that is not known.

    Examples
    --------
    >>> space = Space.from_vectors(["dog-n", "cat-n", "car-n"], np.array([[1, 0.2], [0.9, 0.3], [0, 1]]))
    >>> space.neighbours("dog-n", 1)[0][0], space.vector("car-n").tolist()
    ('cat-n', [0.0, 1.0])

    """

    items: Items
    rows_data: Rows
    core: BoolArray
    frequency: Int64Array
    nonzeros: Int32Array
    chain: Chain = ()
    columns: tuple[str, ...] = ()
    source: str = "counts"
    source_fingerprint: str = ""
    forms: pa.Table | None = None
    path: Path | None = field(default=None)

    # ------------------------------------------------------------ making, opening and saving

    @classmethod
    def from_counts(
        cls,
        counts: Counts,
        *,
        weighting: str | OwnWeighting = "ppmi",
        smoothing: float = 1.0,
        shift: float = 0.0,
        min_count: float = 0,
        columns: int | None = None,
        columns_by: str = "length",
        normalise: str | None = None,
        reduce: str = "svd",
        dimensions: int = 300,
        power: float = 1.0,
        drop: int = 0,
        seed: int = 0,
        rows: str | Sequence[int] | npt.NDArray[Any] | None = None,
        out: str | Path | None = None,
        engine: Engine | None = None,
        progress: ProgressCallback = silent,
        cancel: Cancellation | None = None,
        **reduction: Any,  # noqa: ANN401 - options of the reduction
    ) -> Space:
        """Weigh and reduce the core of counts, and project all other rows into it.

        Parameters
        ----------
        counts
            The counts; words that are ``core`` define weights and dimensions.
        weighting, smoothing, shift
            One of `composita.spaces.weighting.WEIGHTINGS`, with its options, or a function of one's own.
        min_count
            Columns with fewer counts in the core are dropped before they are weighted.
        columns, columns_by
            How many columns are kept after that, those with the largest ``sum`` or ``length``; None for all.
        normalise
            ``l1`` or ``l2``: divide each weighted row by its sum or length, before the reduction.
        reduce, dimensions
            ``svd``, ``nmf`` or ``none``, and to how many dimensions.
        power, drop
            Of svd: the power of the singular values, and how many of the first dimensions are left out.
        seed
            Where the reduction begins.
        rows
            Which rows the space has: None for all, ``words``, or their numbers.
        out
            A folder to write to, piece by piece; needed where the vectors would not fit into memory.
        engine, progress, cancel
            How many threads, and who is told.
        reduction
            Further options of nmf; see `composita.spaces.nmf.nmf`.

        """
        chosen = building.choose_rows(counts, rows)
        plan = building.Plan(
            weighting, smoothing, shift, min_count, columns, columns_by, normalise, reduce, dimensions, power, drop,
            seed, reduction,
        )  # fmt: skip
        core = building.core_rows(counts)
        chain = building.fit_counts(counts, core, plan, engine=engine, progress=progress, cancel=cancel)
        is_core = np.zeros(len(counts), bool)
        is_core[core] = True
        frame = cls(
            Items.from_counts(counts, chosen), np.empty((0, 0), np.float32),
            is_core if chosen is None else is_core[chosen],
            counts.frequency if chosen is None else counts.frequency[chosen], np.empty(0, np.int32), chain,
            counts.columns, "counts", building.counts_fingerprint(counts), getattr(counts, "forms", None),
        )  # fmt: skip
        return _filled(frame, counts, chosen, out, engine=engine, progress=progress, cancel=cancel)

    def project(
        self,
        counts: Counts,
        *,
        rows: str | Sequence[int] | npt.NDArray[Any] | None = None,
        out: str | Path | None = None,
        engine: Engine | None = None,
        progress: ProgressCallback = silent,
        cancel: Cancellation | None = None,
    ) -> Space:
        """Map the rows of counts into this space, which they do not change: the same steps with the core's numbers.

        Their contexts must be the same. None of the rows is of the core.
        """
        if self.source != "counts":
            raise UsageError("vectors from elsewhere have no columns: counts cannot be projected into them")
        building.check_columns(self.columns, counts)
        chosen = building.choose_rows(counts, rows)
        frame = replace(
            self, items=Items.from_counts(counts, chosen),
            core=np.zeros(len(counts) if chosen is None else len(chosen), bool),
            frequency=counts.frequency if chosen is None else counts.frequency[chosen], path=None,
            forms=getattr(counts, "forms", None), source_fingerprint=building.counts_fingerprint(counts),
        )  # fmt: skip
        return _filled(frame, counts, chosen, out, engine=engine, progress=progress, cancel=cancel)

    @classmethod
    def from_vectors(
        cls, labels: Sequence[str], array: npt.NDArray[Any] | Matrix, frequency: npt.NDArray[Any] | None = None
    ) -> Space:
        """Take vectors that were made elsewhere.

        >>> Space.from_vectors(["dog", "cat"], np.eye(2))
        Space(2 words, 0 phrases x 2 dimensions: vectors)
        """
        items = Items.from_labels(labels)
        numbers = array if isinstance(array, Matrix) else np.ascontiguousarray(array, np.float32)
        if len(numbers.shape) != 2 or numbers.shape[0] != len(labels):
            raise UsageError(f"expected {len(labels)} rows, one for each label, got the shape {tuple(numbers.shape)}")
        if isinstance(numbers, Matrix):
            check_pointers(numbers, "vectors")
            check_cells(numbers, "vectors")
        values = numbers.data if isinstance(numbers, Matrix) else numbers
        if not np.isfinite(values).all():
            row = "" if isinstance(numbers, Matrix) else labels[int(np.argmin(np.isfinite(numbers).all(axis=1)))]
            raise InputError(f"the vector of {row!r} has a number that is not finite")
        nonzeros = np.diff(numbers.indptr) if isinstance(numbers, Matrix) else np.count_nonzero(numbers, axis=1)
        if frequency is None:
            frequency = np.zeros(len(labels), np.int64)
        return cls(
            items, numbers, np.ones(len(labels), bool), np.asarray(frequency, np.int64), nonzeros.astype(np.int32),
            source="vectors", source_fingerprint=building.content_fingerprint(labels, numbers),
        )  # fmt: skip

    @classmethod
    def open(cls, path: str | Path) -> Space:
        """Open a saved space; the vectors stay in their file until they are used."""
        from composita.spaces import saving

        return saving.read(Path(path))

    def save(self, path: str | Path) -> None:
        """Write the space to a folder."""
        from composita.spaces import saving

        saving.write(self, Path(path))

    # ------------------------------------------------------------ looking

    def __len__(self) -> int:
        return len(self.items)

    @property
    def dimensions(self) -> int:
        """The size of each vector."""
        return int(self.rows_data.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and dimensions."""
        return len(self), self.dimensions

    @property
    def is_sparse(self) -> bool:
        """Whether `matrix` holds the rows, rather than `array`."""
        return isinstance(self.rows_data, Matrix)

    @property
    def array(self) -> Float32Array:
        """The vectors as rows of a dense array."""
        if isinstance(self.rows_data, Matrix):
            raise UsageError("the space is sparse: use .matrix, or .vectors(labels) for some rows")
        return self.rows_data

    @cached_property
    def matrix(self) -> sp.csr_array:
        """The vectors as rows of a sparse matrix of SciPy's."""
        if not isinstance(self.rows_data, Matrix):
            raise UsageError("the space is dense: use .array")
        return to_scipy(self.rows_data)

    @property
    def history(self) -> str:
        """What was done, for people.

        >>> Space.from_vectors(["dog", "cat"], np.eye(2)).normalised("l2").history
        'vectors -> l2'
        """
        return describe(self.source, self.chain)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what the space was made of, and how."""
        return building.space_fingerprint(self.source_fingerprint, self.chain, self.items)

    def __repr__(self) -> str:
        words = int((self.items.fields.pattern == 0).sum())
        kind = ", sparse" if self.is_sparse else ""
        return (
            f"Space({words:,} words, {len(self) - words:,} phrases x {self.dimensions:,} dimensions{kind}: "
            f"{self.history})"
        )

    def labels(self, rows: Any = None) -> list[str]:  # noqa: ANN401 - whatever numbers rows
        """The labels of all rows or of some: ``dog-n``, ``chase-v(cat-n, dog-n)``."""
        return self.items.labels(rows)

    def display(self, rows: Any = None) -> list[str]:  # noqa: ANN401
        """The items of all rows or of some, as people say them: *dog*, *dog chase cat*."""
        return self.items.display(rows)

    def find(self, label: str) -> int:
        """Give the row of a label; where patterns share it, ``sv:bark-v(dog-n)`` says which is meant."""
        return self.items.find(label)

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and bool(self.items.candidates(label))

    def rows(self, pattern: str | None = None, head: str | None = None) -> Int64Array:
        """Find the rows of words (``pattern="word"``), of a pattern, of a head, in their order."""
        return self.items.rows(pattern, head)

    def phrases(self, pattern: str) -> Phrases:
        """Give the phrases of a pattern: rows, heads and arguments, from which functions are learned."""
        return self.items.phrases(pattern, self.frequency)

    @property
    def words(self) -> tuple[str, ...]:
        """All words that rows or arguments are made of; their places are the numbers in `phrases`."""
        return self.items.words

    @property
    def word_rows(self) -> Int64Array:
        """The row of each of `words`, -1 for one that has none."""
        return self.items.word_rows

    def vector(self, label: str) -> Float32Array:
        """Give the vector of a word or phrase."""
        vector: Float32Array = self.take(np.array([self.find(label)]))[0]
        return vector

    def vectors(self, labels: Sequence[str]) -> Float32Array:
        """Give the vectors of some words or phrases, as rows."""
        return self.take(np.array([self.find(label) for label in labels], np.int64))

    def take(self, rows: npt.NDArray[Any]) -> Float32Array:
        """Give the vectors of some rows, by their numbers, dense."""
        if isinstance(self.rows_data, Matrix):
            dense = np.zeros((len(rows), self.dimensions), np.float32)
            picked = take_rows(self.rows_data, np.asarray(rows, np.int64))
            dense[np.repeat(np.arange(len(rows)), np.diff(picked.indptr)), picked.indices] = picked.data
            return dense
        return np.asarray(self.rows_data[rows], np.float32)

    def select(self, rows: Any) -> Space:  # noqa: ANN401
        """Give a space of some rows, by their numbers, a mask or their labels.

        >>> Space.from_vectors(["dog", "cat"], np.eye(2)).select(["cat"]).labels()
        ['cat']
        """
        if len(rows) and isinstance(rows[0], str):
            chosen = np.array([self.find(label) for label in rows], np.int64)
        else:
            given = np.asarray(rows)
            chosen = np.flatnonzero(given) if given.dtype == np.bool_ else given.astype(np.int64)
        if isinstance(self.rows_data, Matrix):
            data: Rows = take_rows(self.rows_data, chosen)
        else:
            data = self.rows_data[chosen]
        return replace(
            self, items=self.items.take(chosen), rows_data=data, core=self.core[chosen],
            frequency=self.frequency[chosen], nonzeros=self.nonzeros[chosen], path=None,
        )  # fmt: skip

    # ------------------------------------------------------------ further steps

    def weighted(self, name: str | OwnWeighting = "ppmi", *, smoothing: float = 1.0, shift: float = 0.0) -> Space:
        """Weigh the rows; column sums are those of the core."""
        plan = building.Plan(weighting=name, smoothing=smoothing, shift=shift)
        return self._then(plan)

    def with_columns(self, columns: int | None = None, *, by: str = "length", min_count: float = 0) -> Space:
        """Keep the columns that have the largest sum or length in the core, or at least so many counts."""
        return self._then(building.Plan("none", min_count=min_count, columns=columns, columns_by=by))

    def normalised(self, norm: str = "l2") -> Space:
        """Divide each row by the sum of its amounts, or by its length."""
        return self._then(building.Plan("none", normalise=norm))

    def reduced(
        self,
        method: str = "svd",
        dimensions: int = 300,
        *,
        power: float = 1.0,
        drop: int = 0,
        seed: int = 0,
        engine: Engine | None = None,
        progress: ProgressCallback = silent,
        cancel: Cancellation | None = None,
        **reduction: Any,  # noqa: ANN401 - options of the reduction
    ) -> Space:
        """Reduce the dimensions to those of the core; see `from_counts`."""
        plan = building.Plan(
            "none", reduce=method, dimensions=dimensions, power=power, drop=drop, seed=seed, options=reduction
        )  # fmt: skip
        return self._then(plan, engine=engine, progress=progress, cancel=cancel)

    def _then(
        self, plan: building.Plan, *, engine: Engine | None = None, progress: ProgressCallback = silent,
        cancel: Cancellation | None = None,
    ) -> Space:  # fmt: skip
        """Do further steps to the rows as they are."""
        steps, data, nonzeros = building.extend(
            self.rows_data, self.core, plan, engine=engine, progress=progress, cancel=cancel
        )  # fmt: skip
        kept = self.nonzeros if nonzeros is None else nonzeros
        return replace(self, rows_data=data, chain=(*self.chain, *steps), nonzeros=kept, path=None)

    # ------------------------------------------------------------ similarity

    def similarity(self, one: str, other: str, measure: str = "cosine") -> float:
        """Compute how similar two items are; NaN where that is not defined."""
        return float(similarity.pairs(self.vectors([one]), self.vectors([other]), measure)[0])

    def similarities(self, pairs: Sequence[tuple[str, str]], measure: str = "cosine") -> npt.NDArray[np.float64]:
        """Compute the similarities of many pairs."""
        rows = np.array([[self.find(one), self.find(other)] for one, other in pairs], np.int64).reshape(-1, 2)
        return self.similarity_of(rows, measure)

    def similarity_of(self, rows: npt.NDArray[Any], measure: str = "cosine") -> npt.NDArray[np.float64]:
        """Compute the similarities of many pairs of rows, given by their numbers: (n, 2) -> (n,)."""
        found = [
            similarity.pairs(self.take(rows[first:last, 0]), self.take(rows[first:last, 1]), measure)
            for first, last in similarity.blocks(len(rows), 1024)
        ]
        return np.concatenate([np.empty(0), *found])

    def neighbours(
        self,
        item: str | npt.NDArray[Any],
        n: int = 10,
        *,
        rows: npt.NDArray[Any] | None = None,
        measure: str = "cosine",
    ) -> list[tuple[str, float]]:
        """Give the most similar items of all rows or of some, from the nearest; a label is no neighbour of itself.

        All rows are compared, block by block, so that also spaces that are larger than memory can be asked.
        """
        if n < 1:
            raise UsageError(f"expected at least 1 neighbour, got {n}")
        own = self.find(item) if isinstance(item, str) else -1
        vector = self.take(np.array([own]))[0] if isinstance(item, str) else np.asarray(item)
        found = self.nearest(vector[None, :], n + (own >= 0), rows=rows, measure=measure)[0]
        kept = [(row, value) for row, value in found if row != own][:n]
        return list(zip(self.labels(np.array([row for row, _ in kept], np.int64)), [v for _, v in kept], strict=True))

    def nearest(
        self,
        vectors: npt.NDArray[Any],
        n: int = 10,
        *,
        rows: npt.NDArray[Any] | None = None,
        measure: str = "cosine",
    ) -> list[list[tuple[int, float]]]:
        """Give for each of some vectors the numbers of the most similar rows, with their similarities."""
        if vectors.shape[1] != self.dimensions:
            raise UsageError(f"expected vectors of {self.dimensions} numbers, got {vectors.shape[1]}")
        compared = similarity.Comparison(vectors, measure)
        chosen = np.arange(len(self)) if rows is None else np.asarray(rows)
        for first, last in similarity.blocks(len(chosen)):
            numbers = chosen[first:last]
            # Rows that follow each other are looked at where they are; others are copied.
            follow = np.array_equal(numbers, np.arange(numbers[0], numbers[0] + len(numbers)))
            part = slice(int(numbers[0]), int(numbers[0]) + len(numbers)) if follow else numbers
            if isinstance(self.rows_data, Matrix):
                compared.add(self.matrix[part], numbers, n)
            else:
                block = self.rows_data[part]
                compared.add(block, numbers, n, self._squares_of(part, block))
        return compared.result(n)

    @cached_property
    def _squares(self) -> npt.NDArray[np.float64]:
        """The squared length of each row, as far as it has been needed; NaN elsewhere."""
        return np.full(len(self), np.nan)

    def _squares_of(self, part: Any, block: npt.NDArray[Any]) -> npt.NDArray[np.float64]:  # noqa: ANN401
        found: npt.NDArray[np.float64] = self._squares[part]
        if np.isnan(found).any():
            found = similarity.squares(block)
            self._squares[part] = found
        return found


def _filled(
    frame: Space, counts: Counts, rows: Int64Array | None, out: str | Path | None, *, engine: Engine | None,
    progress: ProgressCallback, cancel: Cancellation | None,
) -> Space:  # fmt: skip
    """Compute the rows of a space that has all but them, in memory or into a folder."""
    if out is not None:
        from composita.spaces import saving

        saving.write_projected(frame, counts, rows, Path(out), engine=engine, progress=progress, cancel=cancel)
        return Space.open(out)
    data, nonzeros = building.project_rows(counts, rows, frame.chain, engine=engine, progress=progress, cancel=cancel)
    return replace(frame, rows_data=data, nonzeros=nonzeros)
