"""Parts: the counts of some sentences in a file, and how several are added up.

A part is a safetensors file with sorted rows, so that any range of rows can be read and merged without the rest: counts
of any size are added up in bounded memory. Sums of integers do not depend on the order, so nor does the result.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from composita.counting import kernels
from composita.counting.keys import HEAD_SHIFT, PATTERN_SHIFT, groups, renumber_joints
from composita.counting.slices import Part, join_numbers
from composita.store.arrays import read_arrays, read_metadata, write_arrays
from composita.store.folder import write_scratch

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Summary:
    """What is known of a part without reading its rows."""

    group: Int64Array  # pattern and head together
    occurrences: Int64Array  # of each group
    cells: Int64Array
    column_keys: Int64Array
    context_frequency: Int64Array
    joints: tuple[str, ...]
    tokens: int
    sentences: int


def write_part(path: Path, part: Part) -> None:
    """Write a part; the file gets its name when it is whole.

    It is brought to the disk, but without a checksum, which would take longer than the counting: parts live only as
    long as the run.
    """
    group, first = np.unique(groups(part.upper), return_index=True)
    lengths = np.diff(part.ends, prepend=0)
    arrays = {
        "upper": part.upper, "lower": part.lower, "frequency": _small(part.frequency), "ends": part.ends,
        "columns": _small(part.columns), "values": _small(part.values),
        "group": group, "occurrences": _sums(part.frequency, first), "cells": _sums(lengths, first),
        "column_keys": part.column_keys, "context_frequency": part.context_frequency,
    }  # fmt: skip
    about = {"joints": json.dumps(part.joints), "tokens": str(part.tokens), "sentences": str(part.sentences)}
    with write_scratch(path) as new:
        write_arrays(new, arrays, about)


def _small(numbers: npt.NDArray[np.int64] | npt.NDArray[np.int32]) -> npt.NDArray[Any]:
    """Give non-negative numbers in the smallest type that holds them all."""
    most = int(numbers.max(initial=0))
    return numbers.astype(np.min_scalar_type(most))


def _sums(numbers: Int64Array, first: Int64Array) -> Int64Array:
    return np.add.reduceat(numbers, first) if len(first) else np.empty(0, np.int64)


def read_summary(path: Path) -> Summary:
    """Read what is known of a part without its rows."""
    arrays, about = read_arrays(path), read_metadata(path)
    return Summary(
        np.array(arrays["group"]), np.array(arrays["occurrences"]), np.array(arrays["cells"]),
        np.array(arrays["column_keys"]), np.array(arrays["context_frequency"]),
        tuple(json.loads(about["joints"])), int(about["tokens"]), int(about["sentences"]),
    )  # fmt: skip


def read_part(path: Path, first: int, last: int) -> Part:
    """Read the rows of some groups, ``first`` to ``last`` without the last; the rest of the file is not touched."""
    arrays, about = read_arrays(path), read_metadata(path)
    begin, end = (int(np.searchsorted(arrays["upper"], np.int64(group) << HEAD_SHIFT)) for group in (first, last))
    ends = arrays["ends"][begin:end].astype(np.int64)
    start = int(arrays["ends"][begin - 1]) if begin else 0
    stop = int(ends[-1]) if len(ends) else start
    # Copies, so that the file is released and its pages do not add up.
    return Part(
        np.array(arrays["upper"][begin:end]), np.array(arrays["lower"][begin:end]),
        arrays["frequency"][begin:end].astype(np.int64), ends - start,
        arrays["columns"][start:stop].astype(np.int32), arrays["values"][start:stop].astype(np.int64),
        np.array(arrays["column_keys"]), np.empty(0, np.int64), tuple(json.loads(about["joints"])), 0, 0,
    )  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """What the parts have in common once they are merged."""

    joints: tuple[str, ...]
    columns: int
    column_keys: Int64Array
    context_frequency: Int64Array
    tokens: int
    sentences: int

    @classmethod
    def of(cls, summaries: Sequence[Summary], contexts: int) -> Frame:
        """Unite the joints and the columns."""
        joints = tuple(sorted({joint for summary in summaries for joint in summary.joints}, key=str.encode))
        keys = [renumber_joints(s.column_keys, join_numbers(s.joints, joints)) for s in summaries]
        united = np.unique(np.concatenate(keys)) if keys else np.empty(0, np.int64)
        frequency = np.zeros(contexts, np.int64)
        for summary in summaries:
            frequency += summary.context_frequency
        return cls(
            joints, len(united) or contexts, united, frequency,
            sum(s.tokens for s in summaries), sum(s.sentences for s in summaries),
        )  # fmt: skip


def fit(part: Part, frame: Frame) -> Part:
    """Give a part the numbers that the frame gives to joints and columns; order does not change."""
    numbers = join_numbers(part.joints, frame.joints)
    columns = part.columns
    if len(part.column_keys):
        places = np.searchsorted(frame.column_keys, renumber_joints(part.column_keys, numbers))
        columns = places.astype(np.int32)[columns]
    return Part(
        renumber_joints(part.upper, numbers), part.lower, part.frequency, part.ends, columns, part.values,
        frame.column_keys, frame.context_frequency, frame.joints, frame.tokens, frame.sentences,
    )  # fmt: skip


def merge_parts(parts: Sequence[Part], size: int, min_frequency: int = 1) -> Part:
    """Add up parts that have the same joints and columns; drop phrases that are rarer than ``min_frequency``."""
    rows = np.cumsum([0, *(len(part.upper) for part in parts)], dtype=np.int64)
    cells = np.cumsum([0, *(len(part.columns) for part in parts)], dtype=np.int64)
    upper, lower, frequency, columns, values = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("upper", "lower", "frequency", "columns", "values")
    )
    indptr = np.concatenate([[0], *(part.ends + before for part, before in zip(parts, cells, strict=False))]).astype(
        np.int64
    )
    order, first = np.empty(len(upper), np.int64), np.empty(len(upper) + 1, np.int64)
    scratch = (np.empty(len(parts), np.int64), np.empty(len(parts), np.int64))
    distinct = kernels.merge_order(rows, upper, lower, *scratch, order, first)
    first = first[: distinct + 1]
    total = np.add.reduceat(frequency[order], first[:-1]) if distinct else np.empty(0, np.int64)
    if min_frequency > 1:
        order, first, total = _drop_rare(order, first, total, upper, min_frequency)
    bits = kernels.bit_words(size)
    row = (np.zeros(size, np.int64), np.zeros(bits, np.uint64), np.zeros(kernels.bit_words(bits), np.uint64))
    out_columns, out_values = np.empty(len(columns), np.int32), np.empty(len(columns), np.int64)
    ends = np.empty(len(total), np.int64)
    used = kernels.add_rows(first, order, indptr, columns, values, *row, out_columns, out_values, ends)
    kept, model = order[first[:-1]], parts[0]
    return Part(
        upper[kept], lower[kept], total, ends, out_columns[:used], out_values[:used],
        model.column_keys, model.context_frequency, model.joints, model.tokens, model.sentences,
    )  # fmt: skip


def _drop_rare(
    order: Int64Array, first: Int64Array, total: Int64Array, upper: Int64Array, least: int
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Keep words, and phrases that are frequent enough."""
    is_word = upper[order[first[:-1]]] >> PATTERN_SHIFT == 0
    kept = is_word | (total >= least)
    lengths = np.diff(first)
    rows = order[np.repeat(kept, lengths)]
    return rows, np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64), total[kept]
