"""Tables in Parquet files: labels, frequencies and whatever else other programs may want to read.

>>> import tempfile, numpy as np
>>> path = Path(tempfile.mkdtemp(), "words.parquet")
>>> write_table(path, {"word": ["dog-n", "cat-n"], "count": np.array([5, 3])})
>>> read_table(path, ["word"]).to_pydict()
{'word': ['dog-n', 'cat-n']}
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from composita.store.errors import CorruptError, StoreError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Column: TypeAlias = NDArray[Any] | Sequence[str] | pa.Array | pa.ChunkedArray


def write_table(path: str | os.PathLike[str], columns: Mapping[str, Column], *, lasting: bool = True) -> None:
    """Write columns of one length to a Parquet file, with the same bytes for the same columns and pyarrow.

    What lives no longer than the run is not ``lasting``: it is written quickly rather than small.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: _as_arrow(column) for name, column in columns.items()})
    packing: dict[str, Any] = {"compression": "zstd"} if lasting else {"compression": "none", "use_dictionary": False}
    pq.write_table(table, os.fspath(path), write_page_checksum=True, **packing)


def _as_arrow(column: Column) -> pa.Array | pa.ChunkedArray:
    """Take a list as text even when it is empty and does not show what it holds."""
    import pyarrow as pa

    if isinstance(column, pa.Array | pa.ChunkedArray):  # which `pa.array` would take apart, value by value
        return column
    return pa.array(column, pa.string() if isinstance(column, list | tuple) else None)


def read_table(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file, or some of its columns in the order asked for, and check that it is sound."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    if not path.is_file():
        raise CorruptError(f"{path}: expected a Parquet file, found none")
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            wanted = file.schema_arrow.names if columns is None else list(columns)
            for name in wanted:
                if name not in file.schema_arrow.names:
                    raise CorruptError(f"{path}: expected a column {name!r}, found none of this name")
            table = file.read(wanted)
        # Indices and UTF-8 out of bounds would be noticed much later, or not at all.
        table.validate(full=True)
        return table.select(wanted)
    except PermissionError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        reason = " ".join(str(error).split())
        raise CorruptError(f"{path}: not a Parquet file that we can read: {reason}") from error
