"""Forms: how the words of a vocabulary are written in the corpus, so that no tagger is needed to read a sentence later.

The table has a row for each lower-cased form of each word, with how often it was that, and how many tokens of the form
there are in all: *saw* is ``see-v`` and ``saw-n``, and *the* is hardly ever the ``the-n`` that a parser took it for.

>>> one = pa.table({"form": ["saw", "saw"], "label": ["see-v", "saw-n"], "count": [8, 1], "tokens": [10, 10]})
>>> add_forms([one, one]).to_pydict()
{'form': ['saw', 'saw'], 'label': ['see-v', 'saw-n'], 'count': [16, 2], 'tokens': [20, 20]}
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from composita.counting import kernels
from composita.counting.slices import Lookup
from composita.store.folder import FileEntry, write_file
from composita.store.tables import read_table, write_table

if TYPE_CHECKING:
    from composita.corpus.columns import Tokens
    from composita.corpus.corpus import Shard
    from composita.counting.job import Job

ANY = -1
"""Stands for all tokens of a form, in place of the number of a word."""
_NOTHING = pa.table(
    {"form": pa.array([], pa.string()), "word": pa.array([], pa.int32()), "count": pa.array([], pa.int64())}
)


def count_forms(job: Job, shard: Shard, tokens: Tokens) -> pa.Table:
    """Count the forms of each word in some sentences: a table of form, number of the word or `ANY`, and count."""
    lookup = Lookup.of(tokens, shard, job.vocabulary.tables)
    argument = lookup.arguments(np.arange(len(tokens), dtype=np.int32))
    lowered = pc.utf8_lower(tokens.form.values).dictionary_encode()
    forms, size = len(lowered.dictionary), max(1, len(job.vocabulary.words))
    # Nearly every form is always the same word; what is not is counted by sorting.
    usual, often = np.full(forms, -1, np.int32), np.zeros(forms, np.int64)
    rest = np.empty((2, len(tokens) + 1), np.int64)
    codes = lowered.indices.to_numpy()
    left = kernels.count_forms(codes, tokens.form.codes, argument, usual, often, *rest)
    every = np.zeros(forms, np.int64)
    np.add.at(every, codes, np.bincount(tokens.form.codes, minlength=len(codes)))
    known, present = np.flatnonzero(often), np.flatnonzero(every)
    keys, counts = np.unique(rest[0, :left] * size + rest[1, :left], return_counts=True)
    return pa.table({
        "form": lowered.dictionary.take(pa.array(np.concatenate([known, keys // size, present]))),
        "word": pa.array(np.concatenate([usual[known], keys % size, np.full(len(present), ANY)]).astype(np.int32)),
        "count": pa.array(np.concatenate([often[known], counts, every[present]])),
    })  # fmt: skip


def write_forms(path: Path, parts: Sequence[pa.Table]) -> FileEntry:
    """Write what the slices of a shard gave."""
    table = pa.concat_tables([_NOTHING, *parts])
    with write_file(path) as new:
        write_table(new.path, {name: table.column(name).combine_chunks() for name in ("form", "word", "count")})
    return new.entry


def merge_forms(paths: Sequence[Path], words: Sequence[str]) -> pa.Table:
    """Add up what the shards gave, a few at a time, and write the words out."""
    total = _NOTHING
    for start in range(0, len(paths), 64):
        total = _summed([total, *(read_table(path) for path in paths[start : start + 64])], "word")
    whole = pc.equal(total.column("word"), ANY)
    found, every = total.filter(pc.invert(whole)), total.filter(whole)
    labels = pa.array(words, pa.string()).take(found.column("word").combine_chunks())
    table = pa.table({"form": found.column("form"), "label": labels, "count": found.column("count")})
    return _in_order(_with_tokens(table, every.column("form"), every.column("count")))


def add_forms(tables: Sequence[pa.Table]) -> pa.Table:
    """Add up tables of forms; tokens of a form that one of them never took for a word are not known there."""
    total = _summed([table.select(["form", "label", "count"]) for table in tables], "label")
    if not all("tokens" in table.column_names for table in tables):
        return _in_order(total)
    every = [table.group_by("form").aggregate([("tokens", "max")]) for table in tables]
    summed = pa.concat_tables(every).group_by("form").aggregate([("tokens_max", "sum")])
    return _in_order(_with_tokens(total, summed.column("form"), summed.column("tokens_max_sum")))


def _with_tokens(table: pa.Table, forms: pa.ChunkedArray, tokens: pa.ChunkedArray) -> pa.Table:
    """Write beside each row how many tokens its form has."""
    return table.append_column("tokens", tokens.take(pc.index_in(table.column("form"), forms.combine_chunks())))


def _summed(tables: Sequence[pa.Table], word: str) -> pa.Table:
    total = pa.concat_tables(tables).group_by(["form", word]).aggregate([("count", "sum")])
    return total.rename_columns(["form", word, "count"])


def _in_order(table: pa.Table) -> pa.Table:
    """Sort by form, the commonest word of each first."""
    return table.sort_by([("form", "ascending"), ("count", "descending"), ("label", "ascending")])
