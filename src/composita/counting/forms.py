"""Forms: how the words of a vocabulary are written in the corpus, so that no tagger is needed to read a sentence later.

The table has a row for each lower-cased form of each word, with how often it was that, and how many tokens of the form
there are in all: *saw* is ``see-v`` and ``saw-n``, and *the* is hardly ever the ``the-n`` that a parser took it for.

>>> one = pa.table({"form": ["saw", "saw"], "label": ["see-v", "saw-n"], "count": [8, 1], "tokens": [10, 10]})
>>> add_forms([one, one]).to_pydict()
{'form': ['saw', 'saw'], 'label': ['see-v', 'saw-n'], 'count': [16, 2], 'tokens': [20, 20]}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from composita.store.tables import read_table

if TYPE_CHECKING:
    from composita.corpus.columns import Tokens
    from composita.counting.slices import Lookup

ANY = -1
"""Stands for all tokens of a form, in place of the number of a word."""
MANY = 1 << 20
"""Rows that are gathered before they are added up."""
_NOTHING = pa.table(
    {"form": pa.array([], pa.string()), "word": pa.array([], pa.int32()), "count": pa.array([], pa.int64())}
)


def count_forms(tokens: Tokens, lookup: Lookup) -> pa.Table:
    """Count the forms of each word in a shard: a table of form, number of the word or `ANY`, and count.

    Forms that differ in case only have a row each, to be added up with those of other shards.
    """
    forms = len(tokens.form.values)
    # Nearly every form is always the same word; what is not is counted by sorting.
    usual, often, every = np.full(forms, -1, np.int32), np.zeros(forms, np.int64), np.zeros(forms, np.int64)
    rest = np.empty((2, len(tokens) + 1), np.int32)
    left = lookup.count_forms(usual, often, every, *rest)
    known, present = np.flatnonzero(often), np.flatnonzero(every)
    pairs = rest[0, :left].astype(np.int64) << 32 | rest[1, :left]
    keys, counts = np.unique(pairs, return_counts=True)
    words = [usual[known], (keys & 0xFFFFFFFF).astype(np.int32), np.full(len(present), ANY, np.int32)]
    return pa.table({
        "form": pc.utf8_lower(tokens.form.values).take(pa.array(np.concatenate([known, keys >> 32, present]))),
        "word": pa.array(np.concatenate(words)),
        "count": pa.array(np.concatenate([often[known], counts, every[present]])),
    })  # fmt: skip


def merge_forms(paths: Sequence[Path], words: Sequence[str]) -> pa.Table:
    """Add up what the shards gave, and write the words out.

    Only forms that were a word somewhere are kept, so that memory is bounded by the vocabulary and not by the text.
    """
    found = _summed_up((_rows(path, known=None) for path in paths), "word")
    distinct = pc.unique(found.column("form"))
    every = _summed_up((_rows(path, known=distinct) for path in paths), "word")
    labels = pa.array(words, pa.string()).take(found.column("word").combine_chunks())
    table = pa.table({"form": found.column("form"), "label": labels, "count": found.column("count")})
    return _in_order(_with_tokens(table, every.column("form"), every.column("count")))


def _rows(path: Path, known: pa.Array | None) -> pa.Table:
    """Read the rows of words that a shard gave, or of all tokens of the forms that are known."""
    table = read_table(path)
    whole = pc.equal(table.column("word"), ANY)
    if known is None:
        return table.filter(pc.invert(whole))
    table = table.filter(whole)
    return table.filter(pc.is_in(table.column("form"), known))


def _summed_up(tables: Iterable[pa.Table], word: str) -> pa.Table:
    """Add up many tables, some at a time."""
    total, gathered = _NOTHING, [_NOTHING]
    for table in tables:
        gathered.append(table)
        if sum(map(len, gathered)) > MANY:
            total, gathered = _summed([total, *gathered], word), [_NOTHING]
    return _summed([total, *gathered], word)


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
