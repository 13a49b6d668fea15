"""The tasks of counting: a shard into parts, and parts into what is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from composita.counting.forms import count_forms
from composita.counting.keys import WORD_BITS, unpack, word_keys
from composita.counting.labels import ABSENT, Names
from composita.counting.parts import Frame, Summary, fit, merge_parts, read_part, write_part
from composita.counting.patterns import MOST_ARGUMENTS
from composita.counting.slices import Lookup, Part, count_sentences, take_sentences
from composita.store.arrays import write_arrays
from composita.store.folder import FileEntry, write_file, write_scratch
from composita.store.strict_json import dump_json, parse_json
from composita.store.tables import write_table

if TYPE_CHECKING:
    from composita.corpus.corpus import Shard
    from composita.counting.job import Job

Int64Array = npt.NDArray[np.int64]

SEGMENT = 1 << 23
"""About how many cells one file of the result has."""
CELLS_EACH = 12
"""About how many contexts an occurrence has."""


# ---------------------------------------------------------------- a shard


def count_shard(job: Job, number: int, shard: Shard) -> list[str]:
    """Count a shard into one file, or into several where memory is short, and note which; give their names."""
    folder = Path(job.folder)
    note = folder / f"shard-{number:06d}.json"
    if (names := _read_note(note)) is not None:
        return names
    tokens = shard.load()
    lookup = Lookup.of(tokens, shard, job.vocabulary.tables)
    names = []
    for first, last in _slices(tokens.starts, job.limits.slice_tokens):
        names.append(f"shard-{number:06d}-{len(names):04d}.safetensors")
        here = lookup.within(int(tokens.starts[first]), int(tokens.starts[last]))
        write_part(folder / names[-1], count_sentences(job, shard, take_sentences(tokens, first, last), here))
    forms = forms_path(folder, number)
    with write_scratch(forms) as new:
        counted = count_forms(tokens, lookup)
        write_table(new, dict(zip(counted.column_names, counted.columns, strict=True)), lasting=False)
    sizes = [{"name": path.name, "bytes": path.stat().st_size} for path in (*(folder / n for n in names), forms)]
    with write_file(note) as noted:
        noted.path.write_bytes(dump_json({"files": sizes[:-1], "forms": sizes[-1]}))
    return names


def forms_path(folder: Path, number: int) -> Path:
    """Where the forms of a shard are kept until all are added up."""
    return folder / f"forms-{number:06d}.parquet"


def _read_note(path: Path) -> list[str] | None:
    """Find what an earlier run made of a shard, unless it is not whole."""
    try:
        said = parse_json(path.read_bytes())
        files = said["files"]
        whole = all((path.parent / file["name"]).stat().st_size == file["bytes"] for file in (*files, said["forms"]))
        return [file["name"] for file in files] if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _slices(starts: Int64Array, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of sentences with at most so many tokens, at least one sentence each."""
    first, sentences = 0, len(starts) - 1
    while first < sentences:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + most, side="right")) - 1)
        yield first, last
        first = last


# ---------------------------------------------------------------- merging


@dataclass(frozen=True)
class Segment:
    """Rows that are merged by one task, step by step: the groups where each step begins, and the end."""

    number: int
    bounds: tuple[int, ...]


@dataclass(frozen=True)
class Merged:
    """What a merging task made."""

    number: int
    rows: int
    cells: int
    files: tuple[FileEntry, ...] = ()

    def about(self) -> dict[str, Any]:
        """What ``meta.json`` says of it."""
        return {"rows": self.rows, "cells": self.cells, "counts": self.files[0].name, "items": self.files[1].name}


def plan_segments(job: Job, summaries: Sequence[Summary], frame: Frame, *, all_words: bool) -> list[Segment]:
    """Divide the rows: into segments by how often they occur, which no order of work changes, and these into steps."""
    lists = [
        np.arange(len(job.vocabulary.words)) if all_words else np.empty(0, np.int64),
        *(s.group for s in summaries),
    ]
    group = np.unique(np.concatenate(lists)).astype(np.int64)
    occurrences, cells = np.zeros(len(group), np.int64), np.zeros(len(group), np.int64)
    for summary in summaries:
        places = np.searchsorted(group, summary.group)
        occurrences[places] += summary.occurrences
        cells[places] += summary.cells
    if not len(group):  # what was read without finding anything is told all the same
        return [Segment(0, (0, 0))]
    is_phrase = group >> WORD_BITS > 0
    weight = occurrences * CELLS_EACH + 1
    weight[~is_phrase] = np.minimum(weight[~is_phrase], frame.columns + 1)
    before = np.cumsum(weight) - weight
    split = int((~is_phrase).sum())
    before[split:] -= before[split] if split < len(group) else 0
    segment = before // SEGMENT
    segment[split:] += segment[split - 1] + 1 if split else 0
    found = []
    for number, first in enumerate(np.unique(segment, return_index=True)[1].tolist()):
        last = first + int((segment == segment[first]).sum())
        step = (np.cumsum(cells[first:last]) - cells[first:last]) // max(1, job.limits.merge_cells)
        starts = np.unique(step, return_index=True)[1] + first
        found.append(Segment(number, (*group[starts].tolist(), int(group[last - 1]) + 1)))
    return found


def _merge(job: Job, frame: Frame, files: Sequence[str], segment: Segment, least: int, *, all_words: bool) -> Part:
    """Merge the rows of a segment, step by step."""
    folder = Path(job.folder)
    done: list[Part] = []
    for first, last in zip(segment.bounds[:-1], segment.bounds[1:], strict=True):
        parts = [fit(read_part(folder / name, first, last), frame) for name in files]
        if all_words and first < 1 << WORD_BITS:
            parts.append(_empty_rows(frame, first, min(last, len(job.vocabulary.words))))
        done.append(merge_parts(parts, frame.columns, least))
    if len(done) == 1:
        return done[0]
    before = np.cumsum([0, *(len(part.columns) for part in done[:-1])])
    return replace(
        done[0],
        upper=np.concatenate([part.upper for part in done]),
        lower=np.concatenate([part.lower for part in done]),
        frequency=np.concatenate([part.frequency for part in done]),
        ends=np.concatenate([part.ends + shift for part, shift in zip(done, before, strict=True)]),
        columns=np.concatenate([part.columns for part in done]),
        values=np.concatenate([part.values for part in done]),
    )


def _empty_rows(frame: Frame, first: int, last: int) -> Part:
    """Rows without counts for words, so that all of the vocabulary are there."""
    size, none = max(0, last - first), np.empty(0, np.int64)
    zero = np.zeros(size, np.int64)
    return Part(
        word_keys(np.arange(first, first + size)), zero, zero, zero, np.empty(0, np.int32), none,
        frame.column_keys, frame.context_frequency, frame.joints, frame.tokens, frame.sentences,
    )  # fmt: skip


def merge_to_part(job: Job, frame: Frame, files: Sequence[str], segment: Segment, stem: str) -> Merged:
    """Merge some rows into a part, to be merged with others later."""
    part = _merge(job, frame, files, segment, 1, all_words=False)
    if segment.number:  # what belongs to no row is told once
        part = replace(part, context_frequency=np.zeros_like(part.context_frequency), tokens=0, sentences=0)
    write_part(Path(job.folder) / f"{stem}-{segment.number:04d}.safetensors", part)
    return Merged(segment.number, len(part.upper), len(part.columns))


def merge_to_result(job: Job, frame: Frame, files: Sequence[str], segment: Segment, names: tuple[str, str]) -> Merged:
    """Merge some rows into files of the result, beside the folder of the parts."""
    part = _merge(job, frame, files, segment, job.min_frequency, all_words=job.words)
    target = Path(job.folder).parent
    entries = write_segment(target, names, part, Names(job.vocabulary.words, job.patterns, frame.joints))
    return Merged(segment.number, len(part.upper), len(part.columns), entries)


def write_segment(folder: Path, files: tuple[str, str], part: Part, names: Names) -> tuple[FileEntry, FileEntry]:
    """Write rows: their cells as arrays, and what they are as a table."""
    small = part.values.max(initial=0) < 1 << 31
    arrays: dict[str, npt.NDArray[Any]] = {
        "indptr": np.concatenate([[0], part.ends]).astype(np.int64),
        "indices": part.columns,
        "data": part.values.astype(np.int32) if small else part.values,
    }
    with write_file(folder / files[0]) as cells:
        write_arrays(cells.path, arrays)
    with write_file(folder / files[1]) as items:
        write_table(items.path, item_columns(part, names))
    return cells.entry, items.entry


def item_columns(part: Part, names: Names) -> dict[str, Any]:
    """Describe rows for people and other programs."""
    fields = unpack(part.upper, part.lower)
    patterns = pa.array(["word", *(pattern.name for pattern in names.patterns)], pa.string())
    joints = pa.array([ABSENT, *names.joints], pa.string())
    columns: dict[str, Any] = {
        "label": names.label_array(part.upper, part.lower),
        "pattern": pa.DictionaryArray.from_arrays(pa.array(fields.pattern.astype(np.int8)), patterns),
        "head": fields.head.astype(np.int32),
        "joint": pa.DictionaryArray.from_arrays(pa.array(fields.joint.astype(np.int32)), joints),
    }
    for place in range(MOST_ARGUMENTS):
        columns[f"argument_{place + 1}"] = fields.arguments[:, place].astype(np.int32)
    columns["frequency"] = part.frequency
    columns["contexts"] = np.diff(part.ends, prepend=0)
    return columns
