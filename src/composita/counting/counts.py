"""Counts: how often each word and phrase was found beside each context, with labels.

>>> small = Counts.from_cells({"dog-n": {"bark-v": 2, "tail-n": 1}, "cat-n": {"tail-n": 3}})
>>> small
Counts(2 words, 0 phrases x 2 contexts, 3 cells)
>>> small.row("dog-n")
{'tail-n': 1, 'bark-v': 2}
>>> (small + small).row("cat-n")
{'tail-n': 6}
>>> small[["cat-n"], ["bark-v"]].matrix().data
array([], dtype=int32)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from composita.counting.forms import add_forms
from composita.counting.keys import Fields, pack, renumber_joints, unpack, word_keys
from composita.counting.labels import Names, column_labels
from composita.counting.parts import Frame, fit, merge_parts
from composita.counting.patterns import MOST_ARGUMENTS, Pattern
from composita.counting.slices import Part, join_numbers
from composita.counting.tasks import item_columns, write_segment
from composita.counting.vocabulary import Vocabulary
from composita.counting.words import check_label, order_of, suggest
from composita.store.arrays import read_arrays
from composita.store.errors import CorruptError, UsageError
from composita.store.folder import Folder, FolderWriter, fingerprint, open_writer
from composita.store.tables import read_table, write_table

KIND, VERSION = "counts", 1

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class Matrix(NamedTuple):
    """A sparse matrix by rows, as `scipy.sparse.csr_array` takes it: ``csr_array((data, indices, indptr), shape)``."""

    indptr: Int64Array
    indices: Int32Array
    data: npt.NDArray[Any]
    shape: tuple[int, int]


@dataclass(frozen=True)
class Segment:
    """Some rows that lie together in one file."""

    indptr: Int64Array
    indices: Int32Array
    data: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.indptr) - 1


@dataclass(frozen=True, repr=False)
class Counts:
    """A labelled sparse matrix of whole numbers, items by contexts; words first, then the phrases of each pattern.

    Parameters
    ----------
    names
        The words, patterns and joined prepositions that the numbers in keys stand for.
    core
        For each word of ``names`` whether it defines weights and latent dimensions.
    contexts, context_frequency
        The context words, and how many tokens of each were read.
    column_keys
        For dependency contexts: what each column is. Otherwise empty, and the columns are the contexts.
    upper, lower
        The keys of the rows; see `composita.counting.keys`.
    frequency
        How often the item of each row occurred.
    segments
        The cells.
    unit
        What a whole occurrence counts: 1, or with distance weights a larger number of which they are fractions.
    tokens, sentences
        How much was read.
    parameters
        What was counted, as ``meta.json`` tells it.
    forms
        How the words were written: a table of form, label, count, and tokens of the form; None where that is not known.

    Examples
    --------
    >>> counts = Counts.from_cells({"dog-n": {"bark-v": 2, "tail-n": 1}, "cat-n": {"tail-n": 3}})
    >>> counts.columns, counts.row("dog-n")
    (('tail-n', 'bark-v'), {'tail-n': 1, 'bark-v': 2})

    """

    names: Names
    core: BoolArray
    contexts: tuple[str, ...]
    context_frequency: Int64Array
    column_keys: Int64Array
    upper: Int64Array
    lower: Int64Array
    frequency: Int64Array
    segments: tuple[Segment, ...]
    unit: int = 1
    tokens: int = 0
    sentences: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None
    forms: pa.Table | None = None

    # ------------------------------------------------------------ making, opening and saving

    @classmethod
    def from_cells(cls, cells: Mapping[str, Mapping[str, int]], frequency: Mapping[str, int] | None = None) -> Counts:
        """Make counts of words from a dictionary of rows, for small examples and imports.

        ``frequency`` says how often each word occurred; by default the largest cell of its row.
        """
        words = sorted(cells, key=lambda w: order_of(check_label(w, "row")))
        contexts = sorted({c for row in cells.values() for c in row}, key=lambda w: order_of(check_label(w, "column")))
        place = {context: i for i, context in enumerate(contexts)}
        rows = [sorted((place[c], n) for c, n in cells[w].items() if n) for w in words]
        flat = np.array([pair for row in rows for pair in row], np.int64).reshape(-1, 2)
        occurrences = [(frequency or {}).get(w, max(cells[w].values(), default=0)) for w in words]
        indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(
            Names(tuple(words), (), ()), np.ones(len(words), bool), tuple(contexts),
            np.bincount(flat[:, 0], flat[:, 1], len(contexts)).astype(np.int64), np.empty(0, np.int64),
            word_keys(np.arange(len(words))), np.zeros(len(words), np.int64), np.array(occurrences, np.int64),
            (_segment(indptr[1:], flat[:, 0].astype(np.int32), flat[:, 1]),),
        )  # fmt: skip

    @classmethod
    def open(cls, path: str | Path) -> Counts:
        """Open saved counts; the cells stay in their files until they are used."""
        folder = Folder.open(path, KIND, VERSION)
        try:
            return _read(folder)
        except (KeyError, TypeError, ValueError, IndexError, UsageError, pa.ArrowException) as error:
            raise CorruptError(f"{folder.path}: not counts that can be read: {error}; count again") from None

    def save(self, path: str | Path) -> None:
        """Write the counts to a folder."""
        part = self.part()
        bounds = [0, *np.cumsum([len(segment) for segment in self.segments]).tolist()]
        with open_writer(path, KIND, VERSION) as writer:
            about = []
            for number, (first, last) in enumerate(pairwise(bounds)):
                files = (
                    writer.fresh_name(f"counts-{number:05d}.safetensors"),
                    writer.fresh_name(f"items-{number:05d}.parquet"),
                )
                rows = _rows_of(part, first, last)
                for entry in write_segment(writer.path, files, rows, self.names):
                    writer.add(entry)
                about.append({"rows": last - first, "cells": len(rows.columns), "counts": files[0], "items": files[1]})
            self._write_frame(writer)
            if self.forms is not None:
                write_forms(writer, self.forms)
            writer.commit({**self._about(), "segments": about}, keep=())
            writer.sweep()

    def _about(self) -> dict[str, Any]:
        said = self.parameters | {"patterns": {p.name: p.to_table() for p in self.names.patterns}}
        return {
            "parameters": said, "fingerprint": self.fingerprint, "fingerprints": {},
            "joints": list(self.names.joints), "tokens": self.tokens, "sentences": self.sentences, "unit": self.unit,
        }  # fmt: skip

    def _write_frame(self, writer: FolderWriter) -> None:
        _write_tables(
            writer, self.names.words, self.core, self.contexts, self.context_frequency, self.column_keys,
            self.names.joints
        )  # fmt: skip

    def in_memory(self) -> Counts:
        """Copy the cells into memory, so that the folder can go."""
        return replace(
            self, path=None,
            segments=tuple(Segment(s.indptr.copy(), s.indices.copy(), s.data.copy()) for s in self.segments),
        )  # fmt: skip

    # ------------------------------------------------------------ looking

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.upper), len(self.column_keys) or len(self.contexts)

    def __len__(self) -> int:
        return len(self.upper)

    @property
    def cells(self) -> int:
        """How many cells are not 0."""
        return sum(len(segment.indices) for segment in self.segments)

    @cached_property
    def fields(self) -> Fields:
        """What the keys of the rows are made of."""
        return unpack(self.upper, self.lower)

    @cached_property
    def distinct_contexts(self) -> Int64Array:
        """In how many different contexts each item was found."""
        return np.concatenate([np.empty(0, np.int64), *(np.diff(s.indptr) for s in self.segments)])

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The labels of the columns."""
        if not len(self.column_keys):
            return self.contexts
        return tuple(column_labels(self.column_keys, self.contexts, self.names.joints))

    @property
    def fingerprint(self) -> str:
        """A hash of labels and cells."""
        matrix = self.matrix()
        arrays = (self.upper, self.lower, self.frequency, matrix.indptr, matrix.indices, matrix.data.astype(np.int64))
        digests = [fingerprint(np.ascontiguousarray(array).tobytes().hex()) for array in arrays]
        return fingerprint("counts-1", self.names.words, self.columns, digests, self.unit)

    def labels(self, rows: Int64Array | None = None) -> list[str]:
        """The labels of all rows or of some."""
        return self.names.labels(*self._keys(rows))

    def display(self, rows: Int64Array | None = None) -> list[str]:
        """The items of all rows or of some, as people say them."""
        return self.names.display(*self._keys(rows))

    def _keys(self, rows: Int64Array | None) -> tuple[Int64Array, Int64Array]:
        return (self.upper, self.lower) if rows is None else (self.upper[rows], self.lower[rows])

    def rows(self, pattern: str | None = None, head: str | None = None) -> Int64Array:
        """Find the rows of words (``pattern="word"``), of a pattern, of a head, in their order.

        >>> Counts.from_cells({"dog-n": {}, "cat-n": {}}).rows("word")
        array([0, 1])
        """
        chosen = np.ones(len(self), bool)
        if pattern is not None:
            known = ["word", *(p.name for p in self.names.patterns)]
            if pattern not in known:
                raise UsageError(f"no pattern {pattern!r} was counted: choose {', '.join(known)}")
            chosen &= self.fields.pattern == known.index(pattern)
        if head is not None:
            if head not in self.names.ids:
                raise UsageError(f"{head!r} is no word of these counts{suggest(head, self.names.words)}")
            chosen &= self.fields.head == self.names.ids[head]
        return np.flatnonzero(chosen)

    def find(self, label: str) -> int:
        """Give the row of a word or phrase: ``dog-n``, ``chase-v(cat-n, dog-n)``.

        Patterns of as many arguments can have the same label; ``sv:bark-v(dog-n)`` says which is meant.
        """
        name, colon, rest = label.partition(":")
        numbers = {p.name: i for i, p in enumerate(self.names.patterns, 1)}
        named = bool(colon) and name in numbers
        found: list[int] = []
        for upper, lower in self.names.key(rest if named else label):
            hits = np.flatnonzero((self.upper == upper) & (self.lower == lower))
            found += [int(row) for row in hits if not named or self.fields.pattern[row] == numbers[name]]
        if len(found) == 1:
            return found[0]
        if not found:
            near = suggest(label, self.names.words) if "(" not in label else ""
            raise UsageError(f"{label!r} was not counted{near}")
        patterns = [self.names.patterns[self.fields.pattern[row] - 1].name for row in found]
        raise UsageError(
            f"{label!r} was counted in several patterns: say {' or '.join(f'{p}:{label}' for p in patterns)}"
        )

    def row(self, label: str) -> dict[str, float]:
        """Give the contexts of an item, with how often it was found beside each."""
        part = self._matrix_of(np.array([self.find(label)]))
        return {
            self.columns[column]: value / self.unit if self.unit > 1 else value
            for column, value in zip(part.indices.tolist(), part.data.tolist(), strict=True)
        }

    def matrix(self, rows: Int64Array | None = None) -> Matrix:
        """Give the cells of all rows or of some, as whole numbers; divided by ``unit`` they are the counts."""
        if rows is not None:
            return self._matrix_of(np.asarray(rows))
        if len(self.segments) == 1:
            only = self.segments[0]
            return Matrix(only.indptr, only.indices, only.data, self.shape)
        ends = np.concatenate([[0], np.cumsum(self.distinct_contexts)]).astype(np.int64)
        indices = np.concatenate([np.empty(0, np.int32), *(s.indices for s in self.segments)])
        data = np.concatenate([np.empty(0, np.int32), *(s.data for s in self.segments)])
        return Matrix(ends, indices, data, self.shape)

    def _matrix_of(self, rows: Int64Array) -> Matrix:
        first = np.cumsum([0, *(len(segment) for segment in self.segments)])
        which = np.searchsorted(first, rows, side="right") - 1
        lengths = self.distinct_contexts[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        wide = any(s.data.dtype == np.int64 for s in self.segments)
        indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int64 if wide else np.int32)
        for number in np.unique(which).tolist():
            segment, mine = self.segments[number], np.flatnonzero(which == number)
            begin = segment.indptr[rows[mine] - first[number]]
            inside = np.arange(lengths[mine].sum()) - np.repeat(np.cumsum(lengths[mine]) - lengths[mine], lengths[mine])
            source, target = np.repeat(begin, lengths[mine]) + inside, np.repeat(indptr[mine], lengths[mine]) + inside
            indices[target], data[target] = segment.indices[source], segment.data[source]
        return Matrix(indptr, indices, data, (len(rows), self.shape[1]))

    def items(self) -> pa.Table:
        """Describe the rows: label, pattern, head, arguments, frequency, and in how many contexts each was found."""
        return pa.table(item_columns(self.part(cells=False), self.names))

    # ------------------------------------------------------------ slicing and adding

    def __getitem__(self, labels: Sequence[str] | tuple[Sequence[str], Sequence[str]]) -> Counts:
        """Give some rows, or some rows and columns, by their labels."""
        rows, columns = labels if isinstance(labels, tuple) else (labels, None)
        return self.select([self.find(label) for label in rows], columns)

    def select(
        self, rows: Sequence[int] | npt.NDArray[Any] | None = None, columns: Collection[str] | None = None
    ) -> Counts:
        """Give some rows, by their numbers or a mask, and some columns, by their labels; columns keep their order."""
        chosen = np.arange(len(self)) if rows is None else np.asarray(rows)
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        cells = self._matrix_of(chosen)
        picked = replace(
            self, upper=self.upper[chosen], lower=self.lower[chosen], frequency=self.frequency[chosen], path=None,
            segments=(Segment(cells.indptr, cells.indices, cells.data),),
        )  # fmt: skip
        return picked if columns is None else _with_columns(picked, columns)

    def part(self, *, cells: bool = True) -> Part:
        """The counts as a part, to be merged or written."""
        ends = np.cumsum(self.distinct_contexts)
        matrix = self.matrix() if cells else Matrix(ends, np.empty(0, np.int32), np.empty(0, np.int64), self.shape)
        return Part(
            self.upper, self.lower, self.frequency, ends, matrix.indices, matrix.data.astype(np.int64),
            self.column_keys, self.context_frequency, self.names.joints, self.tokens, self.sentences,
        )  # fmt: skip

    def __add__(self, other: Counts) -> Counts:
        """Add up the counts of two corpora over all labels of either, exactly.

        What was counted must be the same: contexts, weights, switches and the patterns that both have. A word that one
        of them did not count has only the counts of the other.
        """
        _check_alike(self, other)
        words = tuple(sorted({*self.names.words, *other.names.words}, key=order_of))
        contexts = tuple(sorted({*self.contexts, *other.contexts}, key=order_of))
        patterns = {p.name: p for counts in (self, other) for p in counts.names.patterns}
        sorted_patterns = tuple(patterns[name] for name in sorted(patterns))
        parts = [_renumbered(counts, words, contexts, sorted_patterns) for counts in (self, other)]
        joints = tuple(sorted({*self.names.joints, *other.names.joints}, key=str.encode))
        united = np.unique(
            np.concatenate([renumber_joints(p.column_keys, join_numbers(p.joints, joints)) for p in parts])
        )  # fmt: skip
        frame = Frame(
            joints, len(united) or len(contexts), united, parts[0].context_frequency + parts[1].context_frequency,
            self.tokens + other.tokens, self.sentences + other.sentences,
        )  # fmt: skip
        part = merge_parts([_in_order(fit(p, frame)) for p in parts], frame.columns)
        core = np.zeros(len(words), bool)
        for counts in (self, other):
            core[_places(counts.names.words, words)] |= counts.core
        return Counts(
            Names(words, sorted_patterns, joints), core, contexts, frame.context_frequency, united,
            part.upper, part.lower, part.frequency, (_segment(part.ends, part.columns, part.values),),
            self.unit, frame.tokens, frame.sentences, _common(self.parameters, other.parameters),
            forms=_add_forms(self.forms, other.forms),
        )  # fmt: skip

    def __repr__(self) -> str:
        words = int((self.fields.pattern == 0).sum())
        return (
            f"Counts({words:,} words, {len(self) - words:,} phrases x {self.shape[1]:,} contexts, {self.cells:,} cells)"
        )


# ---------------------------------------------------------------- slicing


def _with_columns(counts: Counts, labels: Collection[str]) -> Counts:
    place = {label: i for i, label in enumerate(counts.columns)}
    for label in labels:
        if label not in place:
            raise UsageError(f"{label!r} is no context of these counts{suggest(label, counts.columns)}")
    kept = np.array(sorted({place[label] for label in labels}), np.int64)
    number = np.full(len(counts.columns), -1, np.int32)
    number[kept] = np.arange(len(kept))
    (segment,) = counts.segments
    inside = number[segment.indices] >= 0
    ends = np.concatenate([[0], np.cumsum(inside)])[segment.indptr]
    cells = Segment(ends.astype(np.int64), number[segment.indices[inside]], segment.data[inside])
    if len(counts.column_keys):
        return replace(counts, column_keys=counts.column_keys[kept], segments=(cells,))
    contexts = tuple(counts.contexts[i] for i in kept.tolist())
    return replace(counts, contexts=contexts, context_frequency=counts.context_frequency[kept], segments=(cells,))


# ---------------------------------------------------------------- adding


def _renumbered(
    counts: Counts, words: tuple[str, ...], contexts: tuple[str, ...], patterns: tuple[Pattern, ...]
) -> Part:
    """The counts with the numbers that words, contexts and patterns have in longer lists."""
    part = counts.part()
    word, context = _places(counts.names.words, words), _places(counts.contexts, contexts)
    place = {pattern.name: i for i, pattern in enumerate(patterns, 1)}
    pattern = np.array([0, *(place[p.name] for p in counts.names.patterns)], np.int64)
    fields = counts.fields
    arguments = np.where(fields.arguments < 0, -1, np.append(word, -1)[fields.arguments])
    upper, lower = pack(pattern[fields.pattern], word[fields.head], fields.joint, arguments)
    frequency = np.zeros(len(contexts), np.int64)
    frequency[context] = counts.context_frequency
    keys, columns = counts.column_keys, part.columns
    if len(keys):
        mask = (1 << 20) - 1
        keys = (keys & ~mask) | context[keys & mask]
    else:
        if len(columns) and not 0 <= columns.min() <= columns.max() < len(context):
            raise CorruptError("counts: damaged, there are cells in columns that are not there; count again")
        columns = context.astype(np.int32)[columns]
    return replace(
        part, upper=upper, lower=lower, column_keys=keys, columns=columns, context_frequency=frequency
    )  # fmt: skip


def _check_alike(one: Counts, other: Counts) -> None:
    """Refuse to add what was counted differently."""
    for key in ("context", "switches"):
        ours, theirs = one.parameters.get(key), other.parameters.get(key)
        if ours != theirs:
            raise UsageError(f"cannot add counts with different {key}: {ours} and {theirs}; count one of them again")
    by_dependency = {bool(len(counts.column_keys)) for counts in (one, other) if counts.cells}
    if one.unit != other.unit or len(by_dependency) > 1:
        raise UsageError("cannot add counts of different kinds of contexts; count one of them again")
    for key in ("proper", "pronouns"):
        standing = {str((counts.parameters.get("vocabulary") or {}).get(key)) for counts in (one, other)}
        if len(standing) > 1 and "None" not in standing:
            raise UsageError(f"cannot add counts with different {key}: {' and '.join(sorted(standing))}")
    patterns = {p.name: p for p in one.names.patterns}
    for pattern in other.names.patterns:
        if patterns.get(pattern.name, pattern) != pattern:
            raise UsageError(f"cannot add counts whose patterns {pattern.name!r} differ: rename one, and count again")


def _common(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the parameters on which both agree."""
    return {key: value for key, value in one.items() if other.get(key) == value}


def _add_forms(one: pa.Table | None, other: pa.Table | None) -> pa.Table | None:
    known = [table for table in (one, other) if table is not None]
    return add_forms(known) if known else None


def _places(some: Sequence[str], longer: Sequence[str]) -> Int64Array:
    place = {label: i for i, label in enumerate(longer)}
    return np.array([place[label] for label in some], np.int64)


def _in_order(part: Part) -> Part:
    """Sort the rows by key; slices can have them in any order."""
    order = np.lexsort((part.lower, part.upper))
    if np.array_equal(order, np.arange(len(order))):
        return part
    lengths = np.diff(part.ends, prepend=0)
    new = lengths[order]
    cells = np.repeat(part.ends[order] - new, new) + np.arange(len(part.columns)) - np.repeat(np.cumsum(new) - new, new)
    return replace(
        part, upper=part.upper[order], lower=part.lower[order], frequency=part.frequency[order], ends=np.cumsum(new),
        columns=part.columns[cells], values=part.values[cells],
    )  # fmt: skip


def _segment(ends: Int64Array, columns: Int32Array, values: Int64Array) -> Segment:
    small = values.max(initial=0) < 1 << 31
    return Segment(
        np.concatenate([[0], ends]).astype(np.int64), columns, values.astype(np.int32) if small else values,
    )  # fmt: skip


def _rows_of(part: Part, first: int, last: int) -> Part:
    start = int(part.ends[first - 1]) if first else 0
    stop = int(part.ends[last - 1]) if last else 0
    return replace(
        part, upper=part.upper[first:last], lower=part.lower[first:last], frequency=part.frequency[first:last],
        ends=part.ends[first:last] - start, columns=part.columns[start:stop], values=part.values[start:stop],
    )  # fmt: skip


# ---------------------------------------------------------------- files


def write_frame(writer: FolderWriter, vocabulary: Vocabulary, frame: Frame) -> None:
    """Write the tables of words and contexts."""
    core = np.array(vocabulary.core, bool)
    _write_tables(
        writer, vocabulary.words, core, vocabulary.contexts, frame.context_frequency, frame.column_keys, frame.joints
    )  # fmt: skip


def write_forms(writer: FolderWriter, forms: pa.Table) -> None:
    """Write the table of forms."""
    with writer.new_file("forms.parquet") as new:
        write_table(new.path, {name: forms.column(name).combine_chunks() for name in forms.column_names})


def _write_tables(
    writer: FolderWriter, words: Sequence[str], core: BoolArray, contexts: Sequence[str], frequency: Int64Array,
    keys: Int64Array, joints: Sequence[str],
) -> None:  # fmt: skip
    with writer.new_file("words.parquet") as new:
        write_table(new.path, {
            "label": list(words), "lemma": [w[:-2] for w in words], "pos": [w[-1] for w in words], "core": core,
        })  # fmt: skip
    with writer.new_file("contexts.parquet") as new:
        write_table(new.path, {
            "label": list(contexts), "lemma": [w[:-2] for w in contexts], "pos": [w[-1] for w in contexts],
            "frequency": frequency,
        })  # fmt: skip
    if len(keys):
        with writer.new_file("columns.parquet") as new:
            write_table(new.path, {"label": column_labels(keys, contexts, joints), "key": keys})


def _read(folder: Folder) -> Counts:
    """Read the tables, and map the cells."""
    meta = folder.meta
    words = read_table(folder.file("words.parquet"), ["label", "core"])
    contexts = read_table(folder.file("contexts.parquet"), ["label", "frequency"])
    tables = meta["parameters"]["patterns"]
    patterns = tuple(Pattern.from_table(name, tables[name]) for name in sorted(tables))
    names = Names(tuple(words.column("label").to_pylist()), patterns, tuple(meta["joints"]))
    keys = np.empty(0, np.int64)
    forms = None
    if any(name.startswith("forms.") for name in folder.files):
        forms = read_table(folder.file("forms.parquet"))
    if any(name.startswith("columns.") for name in folder.files):
        keys = read_table(folder.file("columns.parquet"), ["key"]).column("key").to_numpy()
    uppers, lowers, frequencies, segments = (
        [np.empty(0, np.int64)],
        [np.empty(0, np.int64)],
        [np.empty(0, np.int64)],
        [],
    )
    for about in meta["segments"]:
        upper, lower, frequency = _read_items(folder.file(about["items"]), names)
        cells = read_arrays(folder.file(about["counts"]))
        segment = Segment(cells["indptr"], cells["indices"], cells["data"])
        if len(segment) != len(upper) or not segment.indptr[-1] == len(segment.indices) == len(segment.data):
            raise ValueError(f"{about['counts']} does not fit to {about['items']}")
        uppers.append(upper)
        lowers.append(lower)
        frequencies.append(frequency)
        segments.append(segment)
    return Counts(
        names, words.column("core").to_numpy(), tuple(contexts.column("label").to_pylist()),
        contexts.column("frequency").to_numpy(), keys, np.concatenate(uppers), np.concatenate(lowers),
        np.concatenate(frequencies), tuple(segments), meta["unit"], meta["tokens"], meta["sentences"],
        meta["parameters"], folder.path, forms,
    )  # fmt: skip


def _read_items(path: Path, names: Names) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Read the keys and frequencies of a segment."""
    places = [f"argument_{place + 1}" for place in range(MOST_ARGUMENTS)]
    table = read_table(path, ["pattern", "head", "joint", *places, "frequency"])
    pattern = _numbers(table.column("pattern"), ["word", *(p.name for p in names.patterns)])
    joint = _numbers(table.column("joint"), ["_", *names.joints])
    arguments = np.column_stack([table.column(place).to_numpy() for place in places])
    upper, lower = pack(pattern, table.column("head").to_numpy(), joint, arguments)
    return upper, lower, table.column("frequency").to_numpy()


def _numbers(column: pa.ChunkedArray, strings: Sequence[str]) -> Int64Array:
    """Give the place of each string of a column in a list."""
    place = {string: i for i, string in enumerate(strings)}
    whole = (
        column.unify_dictionaries().combine_chunks()
        if pa.types.is_dictionary(column.type)
        else column.dictionary_encode()
    )
    whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    numbers = np.array([place[string] for string in whole.dictionary.to_pylist()], np.int64)
    found: Int64Array = numbers[whole.indices.to_numpy()]
    return found
