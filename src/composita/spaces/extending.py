"""More text for a space that exists: its words and dimensions stay as they are, and phrases are added to it.

A phrase that the new text does not have keeps its vector to the bit, so that what was learned from it need not be
learned again. All others are weighted and projected with the numbers of the core, as the first ones were.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.counting.counts import Counts, Matrix
from composita.counting.keys import renumber_joints
from composita.counting.slices import join_numbers
from composita.spaces import building
from composita.spaces.cells import stack, take_rows
from composita.spaces.items import Items
from composita.spaces.space import Space
from composita.store.errors import UsageError
from composita.store.progress import Cancellation, ProgressCallback, silent

if TYPE_CHECKING:
    from composita.store.engine import Engine

Int64Array = npt.NDArray[np.int64]


def extend_space(
    before: Space,
    counts: Counts,
    *,
    out: str | Path | None = None,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Space:
    """Give a space with the phrases of larger counts, and with the words and dimensions that it has.

    Parameters
    ----------
    before
        A space that was made of counts.
    counts
        Those counts and more, of the same words and contexts.
    out
        A folder to write to; None keeps the space in memory.
    engine, progress, cancel
        How many threads, and who is told.

    """
    if before.source != "counts":
        raise UsageError("vectors from elsewhere have no columns: counts cannot be projected into them")
    building.check_columns(before.columns, counts)
    if before.words != counts.names.words:
        raise UsageError("the counts are of other words than the space: count with the vocabulary that it was made of")
    kept = kept_rows(before, counts)
    rows = np.flatnonzero(kept < 0)
    made, lengths = building.project_rows(counts, rows, before.chain, engine=engine, progress=progress, cancel=cancel)
    known = kept >= 0
    nonzeros = np.empty(len(counts), np.int32)
    nonzeros[known], nonzeros[rows] = np.asarray(before.nonzeros)[kept[known]], lengths
    core = np.zeros(len(counts), bool)
    core[known] = np.asarray(before.core)[kept[known]]
    space = replace(
        before, items=Items.from_counts(counts), rows_data=_joined(before.rows_data, made, kept, rows), core=core,
        frequency=counts.frequency, nonzeros=nonzeros, path=None, forms=counts.forms,
        source_fingerprint=building.counts_fingerprint(counts),
    )  # fmt: skip
    if out is None:
        return space
    space.save(out)
    return Space.open(out)


def kept_rows(before: Space, counts: Counts) -> Int64Array:
    """Find for each row of counts the row of the space whose vector it keeps, -1 where it gets another one.

    Words keep theirs. A phrase does if it was not found again: each time it is, its frequency grows.
    """
    numbers = join_numbers(before.items.names.joints, counts.names.joints)
    keys = np.stack([renumber_joints(before.items.upper, numbers), before.items.lower])  # (2, rows of the space)
    order = np.lexsort(keys[::-1])
    place = _places(keys[:, order], np.stack([counts.upper, counts.lower]))
    found = np.where(place >= 0, order[place], -1)
    same = np.asarray(before.frequency)[found] == counts.frequency
    kept: Int64Array = np.where((found >= 0) & (same | (counts.fields.pattern == 0)), found, -1)
    return kept


def _places(known: Int64Array, asked: Int64Array) -> Int64Array:
    """Find the columns of one sorted array in another; -1 for those that it lacks."""
    both = np.concatenate([known, asked], axis=1)
    source = np.concatenate([np.arange(known.shape[1]), np.full(asked.shape[1], -1)])
    order = np.lexsort((source < 0, both[1], both[0]))  # a known key stands before the same that is asked for
    sorted_keys = both[:, order]
    same = np.append(False, (sorted_keys[:, 1:] == sorted_keys[:, :-1]).all(axis=0))
    place = np.full(asked.shape[1], -1, np.int64)
    hits = np.flatnonzero(same & (source[order] < 0))
    place[order[hits] - known.shape[1]] = source[order[hits - 1]]
    return place


def _joined(before: Any, made: Any, kept: Int64Array, rows: Int64Array) -> Any:  # noqa: ANN401 - dense or sparse
    """Put rows that are kept and rows that were made in their order."""
    known = np.flatnonzero(kept >= 0)
    if isinstance(made, Matrix):
        order = np.empty(len(kept), np.int64)
        order[known], order[rows] = np.arange(len(known)), len(known) + np.arange(len(rows))
        return take_rows(stack([take_rows(before, kept[known]), made], made.shape[1]), order)
    joined = np.empty((len(kept), made.shape[1]), np.float32)
    joined[known], joined[rows] = np.asarray(before)[kept[known]], made
    return joined
