"""Arrays in safetensors files: written with the same bytes every time, read without copying.

The format is eight bytes of header length (little-endian), a header in JSON, then the numbers, without holes:

    {"__metadata__": {"rows": "nouns"}, "V": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}

We write the data from a multiple of 64 bytes on, wider types first, then by name; so every array starts at a
multiple of its own item size, and can be used where it lies in the mapped file.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp(), "arrays.safetensors")
>>> write_arrays(path, {"V": np.eye(2, dtype=np.float32), "n": np.array(7)}, {"rows": "nouns"})
>>> arrays = read_arrays(path)
>>> arrays["V"], int(arrays["n"]), read_metadata(path)
(array([[1., 0.], [0., 1.]], dtype=float32), 7, {'rows': 'nouns'})
"""

from __future__ import annotations

import json
import math
import mmap
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from composita.store.errors import CorruptError, StoreError, UsageError
from composita.store.strict_json import parse_json, shown

DTYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "F16": "<f2", "U32": "<u4", "I32": "<i4",
    "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
}  # fmt: skip
_TAGS = {np.dtype(code): tag for tag, code in DTYPES.items()}
_METADATA = "__metadata__"
_HEADER_LIMIT = 100_000_000  # bytes, as in the reference implementation
_ALIGNMENT = 64
_BLOCK = 1 << 24  # bytes written at once where an array has to be laid out anew


@dataclass(frozen=True)
class _Place:
    """Where one array lies in the file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.count * self.dtype.itemsize


# ---------------------------------------------------------------- writing


def write_arrays(
    path: str | os.PathLike[str],
    arrays: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write arrays to a safetensors file, block by block, so that memory-mapped ones need no memory."""
    little = {name: _dtype(name, array.dtype) for name, array in arrays.items()}
    order = sorted(arrays, key=lambda name: (-little[name].itemsize, name.encode()))
    with Path(path).open("wb") as file:
        file.write(_head({name: (little[name], arrays[name].shape) for name in order}, metadata))
        for name in order:
            file.writelines(_as_bytes(block, little[name]) for block in _blocks(arrays[name]))


def reserve_array(path: str | os.PathLike[str], name: str, dtype: npt.DTypeLike, shape: Sequence[int]) -> int:
    """Make a file for one array of zeros, and give the place of its first number, so that it can be filled in pieces.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "zeros.safetensors")
    >>> reserve_array(path, "V", np.float32, (2, 3)), read_arrays(path)["V"].tolist()
    (128, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    """
    kind = _dtype(name, np.dtype(dtype))
    head = _head({name: (kind, tuple(shape))}, None)
    with Path(path).open("wb") as file:
        file.write(head)
        file.truncate(len(head) + math.prod(shape) * kind.itemsize)
    return len(head)


def _head(arrays: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]], metadata: Mapping[str, str] | None) -> bytes:
    """Write what stands before the numbers, of arrays in the order in which they follow."""
    header: dict[str, Any] = {_METADATA: dict(sorted(metadata.items()))} if metadata else {}
    end = 0
    for name, (dtype, shape) in arrays.items():
        start, end = end, end + math.prod(shape) * dtype.itemsize
        header[name] = {"dtype": _TAGS[dtype], "shape": list(shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    if len(text) > _HEADER_LIMIT:
        raise UsageError(f"{len(arrays)} arrays and their metadata are too many for one file")
    return len(text).to_bytes(8, "little") + text


def _dtype(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Give the little-endian type of an array that may be written."""
    little = dtype.newbyteorder("<")
    if name == _METADATA or little not in _TAGS:
        raise UsageError(f"the array {name!r} of type {dtype} has no place in a safetensors file")
    return little


def _as_bytes(array: NDArray[Any], dtype: np.dtype[Any]) -> memoryview:
    return np.ascontiguousarray(array, dtype).reshape(-1).view(np.uint8).data


def _blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Cut an array into pieces in the order of C: one where it lies so already, else bounded slices."""
    if array.flags.c_contiguous or array.nbytes <= _BLOCK:
        yield array
    elif array.nbytes // len(array) > _BLOCK:
        for part in array:
            yield from _blocks(part)
    else:
        rows = _BLOCK // (array.nbytes // len(array))
        for start in range(0, len(array), rows):
            yield array[start : start + rows]


# ---------------------------------------------------------------- reading


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Map a safetensors file and give its arrays by name, read-only and in place.

    Only arrays that another program laid at odd places are copied. The file must not change while it is used.
    """
    path = Path(path)
    with _open(path) as file:
        places, _, start = _read_header(file, path)
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return {name: _view(path, mapped, name, place, start) for name, place in places.items()}


def read_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the texts that a safetensors file carries beside its arrays."""
    with _open(Path(path)) as file:
        return _read_header(file, Path(path))[1]


def _view(path: Path, mapped: mmap.mmap, name: str, place: _Place, start: int) -> NDArray[Any]:
    if not place.count:
        array = np.empty(place.shape, place.dtype)
    else:
        flat = np.frombuffer(mapped, place.dtype, place.count, start + place.offset)
        array = flat.reshape(place.shape)
        if not array.flags.aligned:
            array = array.copy()
    if place.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise CorruptError(f"{path}: the array {shown(name)} has other values than true and false")
    array.flags.writeable = False
    return array


def _open(path: Path) -> BinaryIO:
    try:
        if stat.S_ISREG(path.stat().st_mode):
            return path.open("rb")
    except FileNotFoundError:
        raise CorruptError(f"{path}: expected a safetensors file, found nothing") from None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    raise CorruptError(f"{path}: expected a safetensors file, found something that is not a file")


def _read_header(file: BinaryIO, path: Path) -> tuple[dict[str, _Place], dict[str, str], int]:
    """Read and check the header: the places of the arrays, the metadata, and where the data starts."""
    try:
        size = os.fstat(file.fileno()).st_size
        if size < 8:
            raise ValueError(f"expected at least 8 bytes, found {size}")
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(_HEADER_LIMIT, size - 8):
            raise ValueError(f"a header of {length} bytes does not fit into a file of {size}")
        header = parse_json(file.read(length))
        if not isinstance(header, dict):
            raise ValueError(f"expected an object as header, found {shown(header)}")
        metadata = _parse_metadata(header.pop(_METADATA, {}))
        places = {name: _parse_place(name, entry) for name, entry in header.items()}
        _check_cover(places, size - 8 - length)
    except ValueError as error:
        raise CorruptError(f"{path}: not a safetensors file that we can read: {error}") from None
    return places, metadata, 8 + length


def _parse_metadata(metadata: object) -> dict[str, str]:
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise ValueError(f"expected metadata from text to text, found {shown(metadata)}")
    return metadata


def _parse_place(name: str, entry: object) -> _Place:
    """Check what the header says of one array, by itself."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"expected dtype, shape and data_offsets of {shown(name)}, found {shown(entry)}")
    tag, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(tag, str) or tag not in DTYPES:
        raise ValueError(f"{shown(name)} has the unknown type {shown(tag)}")
    if not _are_sizes(shape) or len(shape) > 32:  # the most axes that every NumPy can have
        raise ValueError(f"{shown(name)} has the impossible shape {shown(shape)}")
    if not _are_sizes(offsets) or len(offsets) != 2:
        raise ValueError(f"{shown(name)} has the impossible offsets {shown(offsets)}")
    place = _Place(np.dtype(DTYPES[tag]), tuple(shape), offsets[0])
    # NumPy refuses also empty arrays whose other axes are too long.
    if math.prod(axis or 1 for axis in shape) * place.dtype.itemsize >= 1 << 63:
        raise ValueError(f"{shown(name)} has the impossible shape {shown(shape)}")
    if offsets[1] - offsets[0] != place.nbytes:
        raise ValueError(f"{shown(name)} needs {place.nbytes} bytes, its offsets are {shown(offsets)}")
    return place


def _are_sizes(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def _check_cover(places: dict[str, _Place], size: int) -> None:
    """Check that the arrays fill the data from end to end, without holes or overlaps."""
    end = 0
    for name, place in sorted(places.items(), key=lambda item: (item[1].offset, item[1].nbytes)):
        if place.offset != end:
            raise ValueError(f"{shown(name)} starts at {place.offset}, expected {end}")
        end += place.nbytes
    if end != size:
        raise ValueError(f"expected {end} bytes of data, found {size}")
