"""Files that can hold sparse spaces: DISSECT's ``.sm``, and ``.npz``."""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from composita.corpus.output import replacing
from composita.counting.counts import Matrix
from composita.counting.exchange import original_label, read_labels
from composita.spaces.cells import from_scipy, slice_rows
from composita.spaces.exchange import ROWS, column_names, file_labels, items_of, write_labels
from composita.store.errors import InputError

if TYPE_CHECKING:
    from composita.spaces.space import Space

SUSPECT, MOST_TIMES = 1 << 28, 200
"""Beyond so many bytes, an array may be so many times as large as it is when compressed; one of zeros alone is 1000."""


def read(path: Path, kind: str, pos: str | None) -> Space:
    """Read a file of one of these formats."""
    return _read_sm(path, pos) if kind == "sm" else _read_npz(path, pos)


def write(space: Space, path: Path, kind: str) -> None:
    """Write a file of one of these formats."""
    if kind == "sm":
        _write_sm(space, path)
    else:
        _write_npz(space, path)


def _space(labels: list[str], rows: Matrix | npt.NDArray[Any], path: Path, pos: str | None) -> Space:
    from composita.spaces.space import Space

    made = Space.from_vectors([str(number) for number in range(len(labels))], rows)
    return replace(made, items=items_of(labels, path, pos))


# ---------------------------------------------------------------- .sm


def _read_sm(path: Path, pos: str | None) -> Space:
    """Read row, column and number from lines; what comes twice is added up, as DISSECT does."""
    import scipy.sparse as sp

    rows, columns = read_labels(path.with_suffix(".rows")), read_labels(path.with_suffix(".cols"))
    found: list[list[npt.NDArray[Any]]] = [[], [], []]
    before = 0
    for table in _triples(path):
        for number, labels in enumerate((rows, columns)):
            places = pc.index_in(table.column(number), pa.array(labels, pa.string()))
            if places.null_count:
                line = int(np.flatnonzero(pc.is_null(places).to_numpy(zero_copy_only=False))[0])
                raise InputError(
                    f"{table.column(number)[line].as_py()!r} is not in the {('.rows', '.cols')[number]}",
                    source=path, line=before + line + 1,
                )  # fmt: skip
            found[number].append(places.to_numpy())
        found[2].append(table.column(2).to_numpy().astype(np.float32))
        before += len(table)
    if not found[2]:
        raise InputError("it is empty: expected lines of row, column and number", source=path)
    row, column, value = (np.concatenate(parts) for parts in found)
    if not np.isfinite(value).all():
        line = int(np.flatnonzero(~np.isfinite(value))[0]) + 1
        raise InputError("a number is not finite", source=path, line=line)
    cells = from_scipy(sp.csr_array((value, (row, column)), (len(rows), len(columns))))
    names = tuple(original_label(label) for label in columns)
    return replace(_space(rows, cells, path, pos), columns=names)


def _triples(path: Path) -> Any:  # noqa: ANN401 - batches of rows of Arrow's
    """Give the lines of a file in batches."""
    try:
        with path.open("rb") as file:
            tab = b"\t" in file.readline()
        names = ["row", "column", "value"]
        kinds = dict(zip(names, (pa.string(), pa.string(), pa.float64()), strict=True))
        with pyarrow.csv.open_csv(
            path,
            pyarrow.csv.ReadOptions(column_names=names),
            pyarrow.csv.ParseOptions(delimiter="\t" if tab else " ", quote_char=False),
            pyarrow.csv.ConvertOptions(column_types=kinds, strings_can_be_null=False),
        ) as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=path) from None
    except pa.ArrowException as error:
        if "Empty" in str(error):
            return
        raise InputError(
            f"expected row, column and number: {' '.join(str(error).split())[:200]}", source=path
        ) from None


def _write_sm(space: Space, path: Path) -> None:
    write_labels(space, path)
    columns = np.array(column_names(space), object)
    with replacing(path) as write_bytes:
        for first in range(0, len(space), ROWS):
            last = min(len(space), first + ROWS)
            labels = file_labels(space, np.arange(first, last))
            if isinstance(space.rows_data, Matrix):
                part = slice_rows(space.rows_data, first, last)
                row = np.repeat(np.arange(last - first), np.diff(part.indptr))
                column, value = part.indices.astype(np.int64), part.data
            else:
                row, column = np.nonzero(space.rows_data[first:last])
                value = space.rows_data[first:last][row, column]
            write_bytes("".join(
                f"{labels[r]} {c} {v:.9g}\n"
                for r, c, v in zip(row.tolist(), columns[column].tolist(), value.tolist(), strict=True)
            ).encode())  # fmt: skip


# ---------------------------------------------------------------- .npz


def _refuse_bombs(path: Path) -> None:
    """Refuse an archive that would become very much larger than numbers ever do."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            times = info.file_size / max(info.compress_size, 1)
            if info.file_size > SUSPECT and times > MOST_TIMES:
                raise InputError(
                    f"{info.filename} would become {times:,.0f} times as large as it is, expected at most "
                    f"{MOST_TIMES} times: save it without compression",
                    source=path,
                )


def _read_npz(path: Path, pos: str | None) -> Space:
    """Read labels and vectors, or a sparse matrix as SciPy writes it with labels beside."""
    import scipy.sparse as sp

    try:
        _refuse_bombs(path)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=path) from None
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise InputError(f"not an .npz file that we can read: {error}", source=path) from None
    if "labels" not in arrays or arrays["labels"].dtype.kind != "U" or arrays["labels"].ndim != 1:
        raise InputError(
            f"expected an array of strings 'labels', found {', '.join(sorted(arrays)) or 'none'}", source=path
        )
    labels = arrays["labels"].tolist()
    if "vectors" in arrays:
        if arrays["vectors"].ndim != 2 or arrays["vectors"].dtype.kind not in "fiu":
            raise InputError("expected 'vectors' to be a table of numbers", source=path)
        rows: Any = arrays["vectors"]
    elif {"indptr", "indices", "data", "shape"} <= arrays.keys():
        try:
            parts = arrays["data"].astype(np.float32), arrays["indices"], arrays["indptr"]
            sparse = sp.csr_array(parts, shape=tuple(arrays["shape"].tolist()))
            sparse.check_format(full_check=True)
        except (ValueError, TypeError) as error:
            raise InputError(f"its cells do not fit together: {error}", source=path) from None
        rows = from_scipy(sparse)
    else:
        raise InputError("expected 'vectors', or the indptr, indices, data and shape of a sparse matrix", source=path)
    if rows.shape[0] != len(labels):
        raise InputError(f"expected {len(labels):,} rows, one for each label, got {rows.shape[0]:,}", source=path)
    made = _space(labels, rows, path, pos)
    return replace(made, columns=tuple(arrays["columns"].tolist())) if "columns" in arrays else made


def _write_npz(space: Space, path: Path) -> None:
    """Write the arrays one after the other, the vectors in blocks."""
    labels = np.array(file_labels(space, np.arange(len(space))), str)
    arrays: dict[str, npt.NDArray[Any]] = {"labels": labels}
    if isinstance(space.rows_data, Matrix):
        cells = space.rows_data
        arrays |= {
            "indptr": cells.indptr, "indices": cells.indices, "data": cells.data, "shape": np.array(cells.shape),
            "format": np.array(b"csr"), "columns": np.array(column_names(space), str),
        }  # fmt: skip
    else:
        arrays["vectors"] = space.rows_data
    with replacing(path) as write_bytes:
        stream = _Unseekable(write_bytes)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            for name, array in arrays.items():
                # One date for all, so that the same space gives the same bytes.
                entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
                with archive.open(entry, "w", force_zip64=True) as member:
                    head = {
                        "descr": np.lib.format.dtype_to_descr(array.dtype),
                        "fortran_order": False,
                        "shape": array.shape,
                    }
                    np.lib.format.write_array_header_1_0(member, head)
                    for first in range(0, len(array) if array.ndim else 1, 1 << 16):
                        block = array[first : first + (1 << 16)] if array.ndim else array
                        member.write(np.ascontiguousarray(block).tobytes())


class _Unseekable(io.RawIOBase):
    """A stream that can only be written to from end to end."""

    def __init__(self, write_bytes: Any) -> None:  # noqa: ANN401
        super().__init__()
        self._write = write_bytes

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:  # noqa: ANN401
        self._write(bytes(data))
        return len(data)
