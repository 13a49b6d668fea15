"""Functions that need not be learned again, because nothing that they were learned from has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.functions.lexicon import Chunk, ChunkFiles, Entry, Lexicon, chunk_writers, unit_rows, words_of
from composita.functions.selection import Head, Plan, Selection
from composita.store.folder import FolderWriter
from composita.store.strict_json import dump_json

if TYPE_CHECKING:
    from composita.spaces.space import Space

Array = npt.NDArray[Any]
ChunkNames = tuple[str, tuple[str, ...], tuple[str, str, str]]
SAME = ("learner", "selection", "lean", "shared")
"""Parameters of which each bears on every function."""


@dataclass(frozen=True)
class Kept:
    """A function that is kept: where it was, and where its examples are now."""

    entry: Entry
    head: Head
    source: Chunk


def unchanged(
    space: Space,
    plans: Sequence[Plan],
    selection: Selection,
    parameters: Mapping[str, Any],
    since: Lexicon | None,
) -> dict[tuple[str, str], Kept]:
    """Find the heads of plans whose examples are the same in an earlier lexicon, by pattern and word.

    There are none if it was learned in another way, with other vectors of words, or leans on other words.
    """
    if since is None or parameters["lean"] != "none" or parameters["shared"] is not None or since.is_sparse:
        return {}
    if any(dump_json({"of": parameters[key]}) != dump_json({"of": since.parameters.get(key)}) for key in SAME):
        return {}
    names, rows = words_of(space)
    if names != since.words or not np.array_equal(np.asarray(space.array[rows]), np.asarray(since.vectors)):
        return {}
    before = {(entry.pattern, entry.word): entry for entry in since.entries}
    found = {}
    for plan in plans:
        for head in plan.heads:
            entry = before.get((plan.pattern, head.word))
            if entry is None:
                continue
            source = since.chunks[entry.chunk]
            chunk: Chunk = source.chunk if isinstance(source, ChunkFiles) else source
            if _is_same(space, selection, head, chunk.examples, slice(entry.first, entry.last)):
                found[plan.pattern, head.word] = Kept(entry, head, chunk)
    return found


def _is_same(space: Space, selection: Selection, head: Head, stored: Mapping[str, Array], part: slice) -> bool:
    if len(head.rows) != part.stop - part.start or not np.array_equal(head.ids, stored["ids"][part]):
        return False
    outputs = np.asarray(space.array[head.rows])
    now = unit_rows(outputs) if selection.normalise_outputs else outputs
    return np.array_equal(head.frequency, stored["frequency"][part]) and np.array_equal(now, stored["outputs"][part])


def others_than(kept: Mapping[tuple[str, str], Kept], plans: Sequence[Plan]) -> list[Plan]:
    """Give the plans without the heads that are kept."""
    return [
        replace(plan, heads=tuple(head for head in plan.heads if (plan.pattern, head.word) not in kept))
        for plan in plans
    ]


def take_over(
    kept: Mapping[tuple[str, str], Kept], writer: FolderWriter, first: int
) -> tuple[list[ChunkNames], list[Entry]]:
    """Copy the chunks of functions that are kept, numbered from ``first``, and say where these are now.

    A chunk is copied as it is, together with functions that are not kept; only the rows that examples have in the
    space are put right.
    """
    numbers: dict[int, int] = {}
    taken: list[ChunkNames] = []
    entries = [
        one.entry._replace(chunk=first + numbers.setdefault(one.entry.chunk, len(numbers))) for one in kept.values()
    ]
    for old, number in numbers.items():
        mine = [one for one in kept.values() if one.entry.chunk == old]
        chunk, rows = mine[0].source, np.array(mine[0].source.examples["rows"])
        for one in mine:
            rows[one.entry.first : one.entry.last] = one.head.rows
        chunk = replace(chunk, examples={**chunk.examples, "rows": rows})
        names = []
        for name, write in chunk_writers(chunk, first + number):
            with writer.new_file(name) as new:
                write(new.path)
            names.append(new.entry.name)
        taken.append((chunk.pattern, chunk.names, (names[0], names[1], names[2])))
    return taken, entries
