"""Forms: how the words of a vocabulary are written in the corpus, so that no tagger is needed to read a sentence later.

The table has a row for each lower-cased form of each word, with how often it was that: *saw* is ``see-v``, ``saw-n``.

>>> one = pa.table({"form": ["dogs", "saw"], "label": ["dog-n", "see-v"], "count": [2, 1]})
>>> add_forms([one, one]).to_pydict()
{'form': ['dogs', 'saw'], 'label': ['dog-n', 'see-v'], 'count': [4, 2]}
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

COLUMNS = ("form", "label", "count")
_NOTHING = pa.table(
    {"form": pa.array([], pa.string()), "word": pa.array([], pa.int32()), "count": pa.array([], pa.int64())}
)


def count_forms(job: Job, shard: Shard, tokens: Tokens) -> pa.Table:
    """Count the forms of each word in some sentences: a table of form, number of the word, and count."""
    lookup = Lookup.of(tokens, shard, job.vocabulary.tables)
    argument = lookup.arguments(np.arange(len(tokens), dtype=np.int32))
    lowered = pc.utf8_lower(tokens.form.values).dictionary_encode()
    forms, size = len(lowered.dictionary), max(1, len(job.vocabulary.words))
    # Nearly every form is always the same word; what is not is counted by sorting.
    usual, often = np.full(forms, -1, np.int32), np.zeros(forms, np.int64)
    rest = np.empty((2, len(tokens) + 1), np.int64)
    left = kernels.count_forms(lowered.indices.to_numpy(), tokens.form.codes, argument, usual, often, *rest)
    known = np.flatnonzero(often)
    keys, counts = np.unique(rest[0, :left] * size + rest[1, :left], return_counts=True)
    return pa.table({
        "form": lowered.dictionary.take(pa.array(np.concatenate([known, keys // size]))),
        "word": pa.array(np.concatenate([usual[known], keys % size]).astype(np.int32)),
        "count": pa.array(np.concatenate([often[known], counts])),
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
    labels = pa.array(words, pa.string()).take(total.column("word").combine_chunks())
    return _in_order(pa.table({"form": total.column("form"), "label": labels, "count": total.column("count")}))


def add_forms(tables: Sequence[pa.Table]) -> pa.Table:
    """Add up tables of form, label and count."""
    return _in_order(_summed(tables, "label"))


def _summed(tables: Sequence[pa.Table], word: str) -> pa.Table:
    total = pa.concat_tables(tables).group_by(["form", word]).aggregate([("count", "sum")])
    return total.rename_columns(["form", word, "count"])


def _in_order(table: pa.Table) -> pa.Table:
    """Sort by form, the commonest word of each first."""
    return table.sort_by([("form", "ascending"), ("count", "descending"), ("label", "ascending")])
