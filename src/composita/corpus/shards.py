"""Shards: the Parquet files of an encoded corpus, one row a token.

The columns are ``sentence`` (counted from 0 in each shard), ``form``, ``lemma``, ``upos``, ``xpos``, ``relation``
(strings, dictionary-encoded), and ``head`` (the distance from a token to its head, 0 for a root), so that DuckDB,
Polars and pandas read a shard as it is. What was read into the shard stands as JSON in the file's metadata, under the
key ``composita``.

A shard is one row group, because each row group has dictionaries of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from composita.corpus.columns import STRING_COLUMNS, Column, Tokens
from composita.store.errors import CorruptError, StoreError
from composita.store.strict_json import parse_json

_KEY = b"composita"
_COLUMNS = ("sentence", *STRING_COLUMNS, "head")


def write_shard(path: str | PathLike[str], tokens: Tokens, about: Mapping[str, Any]) -> None:
    """Write tokens to a Parquet file, the same bytes for the same tokens."""
    lengths = np.diff(tokens.starts)
    sentence = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    columns = {
        "sentence": pa.array(sentence),
        **{name: _dictionary(getattr(tokens, name)) for name in STRING_COLUMNS},
        "head": pa.array(tokens.head),
    }
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about, sort_keys=True)})
    pq.write_table(
        table,
        fspath(path),
        row_group_size=max(1, len(table)),
        compression="zstd",
        compression_level=1,
        use_dictionary=[*STRING_COLUMNS, "head"],
        dictionary_pagesize_limit=1 << 30,
        column_encoding={"sentence": "DELTA_BINARY_PACKED"},
        write_statistics=False,
        write_page_checksum=True,
        store_schema=True,
    )


def _dictionary(column: Column) -> Any:  # noqa: ANN401 - pyarrow
    return pa.DictionaryArray.from_arrays(pa.array(column.codes), column.values)


def read_about(path: str | PathLike[str]) -> dict[str, Any] | None:
    """Return what a shard says of itself, or None where the file is no shard."""
    try:
        with pq.ParquetFile(fspath(path)) as file:
            about = parse_json((file.schema_arrow.metadata or {}).get(_KEY, b"null"))
    except (pa.ArrowException, OSError, ValueError):
        return None
    return about if isinstance(about, dict) else None


def read_shard(path: str | PathLike[str]) -> Tokens:
    """Read a shard into columns; strings are not copied, each stands once."""
    path = Path(path)
    try:
        with pq.ParquetFile(path, read_dictionary=list(STRING_COLUMNS), page_checksum_verification=True) as file:
            if tuple(file.schema_arrow.names) != _COLUMNS:
                raise CorruptError(f"{path}: expected the columns {', '.join(_COLUMNS)}")
            table = file.read()
        columns = {name: _column(table.column(name)) for name in STRING_COLUMNS}
        sentence, head = (table.column(name).to_numpy() for name in ("sentence", "head"))
    except PermissionError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise CorruptError(f"{path}: not a shard that can be read: {' '.join(str(error).split())}") from error
    starts = np.flatnonzero(np.diff(sentence, prepend=-1, append=-1)).astype(np.int64)
    if not len(sentence):
        starts = np.zeros(1, np.int64)
    return Tokens(starts, np.ascontiguousarray(head, np.int32), **columns)


def _column(chunked: Any) -> Column:  # noqa: ANN401 - pyarrow
    if chunked.num_chunks != 1:
        chunked = chunked.unify_dictionaries().combine_chunks()
        chunked = chunked if isinstance(chunked, pa.ChunkedArray) else pa.chunked_array([chunked])
    if not chunked.num_chunks:
        return Column(np.zeros(0, np.int32), pa.array([], pa.string()))
    array = chunked.chunk(0)
    array.validate(full=True)
    return Column(array.indices.to_numpy(), array.dictionary)
