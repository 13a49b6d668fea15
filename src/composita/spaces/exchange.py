"""Vectors for other programs, and from them: word2vec, GloVe, fastText's text, DISSECT, NumPy's ``.npz``, tables.

    word2vec           a line with the numbers of rows and of dimensions, then a label and its numbers a line
    word2vec-binary    the same with the numbers as 32-bit floats
    glove              like word2vec without the first line
    tsv                a label and its numbers, divided by tabs
    dm                 DISSECT: STEM.dm like tsv, with STEM.rows and STEM.cols
    sm                 DISSECT: STEM.sm with row, column, number; STEM.rows, STEM.cols
    npz                labels, vectors; or of sparse spaces what `scipy.sparse.load_npz` reads, and labels

Files are read and written in blocks of rows. Labels have no blanks in them: ``svo:chase-v(cat-n,dog-n)``; a blank
within a word is ``%20``. Compressed text (``.gz``, ``.bz2``, ``.zst``) is read and written as such.

>>> import tempfile
>>> from composita.spaces.space import Space
>>> path = Path(tempfile.mkdtemp(), "small.vec")
>>> write_space(Space.from_vectors(["dog", "cat"], np.array([[1, 0.5], [0, 2]])), path)
>>> print(path.read_text(), end="")
2 2
dog 1 0.5
cat 0 2
>>> read_space(path).vector("cat")
array([0., 2.], dtype=float32)
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from composita.corpus.output import COMPRESSIONS, replacing
from composita.counting.exchange import PHRASE, file_label, original_label, parse_rows
from composita.counting.patterns import built_in
from composita.counting.words import split_label
from composita.spaces.items import Items
from composita.store.errors import InputError, UsageError

if TYPE_CHECKING:
    from composita.spaces.space import Space

Float32Array = npt.NDArray[np.float32]
Block = tuple[list[str], Float32Array]

FORMATS = ("word2vec", "word2vec-binary", "glove", "tsv", "dm", "sm", "npz")
_SUFFIXES = {
    ".vec": "word2vec", ".w2v": "word2vec", ".bin": "word2vec-binary", ".txt": "glove", ".glove": "glove",
    ".tsv": "tsv", ".dm": "dm", ".sm": "sm", ".npz": "npz",
}  # fmt: skip
ROWS = 2048
_LONGEST = 1 << 26  # bytes of a line or label; more is no vector file


def format_of(path: Path, named: str | None = None) -> str:
    """Tell the format of a file by its name, or check the one that was named.

    >>> format_of(Path("glove.6B.300d.txt.gz")), format_of(Path("v.bin"), "word2vec")
    ('glove', 'word2vec')
    """
    if named is not None:
        if named not in FORMATS:
            raise UsageError(f"unknown format {named!r}: choose {', '.join(FORMATS)}")
        return named
    suffix = _bare(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise UsageError(
            f"the format of {path.name} cannot be told by its name: expected one of {' '.join(_SUFFIXES)}, or say it: "
            f"{', '.join(FORMATS)}"
        )
    return _SUFFIXES[suffix]


def _bare(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in COMPRESSIONS else path


# ---------------------------------------------------------------- reading


@dataclass(frozen=True)
class Vectors:
    """A file of vectors that is open: its size, and its rows in blocks."""

    size: int
    dimensions: int
    blocks: Iterator[Block]


def read_space(
    path: str | Path,
    *,
    file_format: str | None = None,
    pos: str | None = None,
    out: str | Path | None = None,
) -> Space:
    """Read a file of vectors.

    Parameters
    ----------
    path
        The file; of DISSECT's the one that ends in ``.dm`` or ``.sm``.
    file_format
        One of `FORMATS`; by default told by the name, and for text by the first line.
    pos
        A letter to put behind each label: with ``n``, *dog* becomes ``dog-n``.
    out
        A folder to write the space to as it is read, where it would not fit into memory.

    """
    path = Path(path)
    kind = format_of(path, file_format)
    if pos is not None and (len(pos) != 1 or pos not in "nvarp"):
        raise UsageError(f"expected one of the letters n v a r p to put behind words, got {pos!r}")
    if kind in ("sm", "npz"):
        from composita.spaces import sparse_exchange

        space = sparse_exchange.read(path, kind, pos)
        if out is None:
            return space
        space.save(out)
        return type(space).open(out)
    return _collect(path, kind, pos, None if out is None else Path(out))


def _collect(path: Path, kind: str, pos: str | None, out: Path | None) -> Space:
    """Put the blocks of a file together, in memory or in a folder."""
    from composita.spaces import saving
    from composita.spaces.space import Space

    labels: list[str] = []
    with open_vectors(path, kind) as vectors:
        shape = vectors.size, vectors.dimensions

        def blocks() -> Iterator[Float32Array]:
            for names, block in vectors.blocks:
                labels.extend(names)
                yield block

        if out is None:
            array = np.empty(shape, np.float32)
            first = 0
            for block in blocks():
                array[first : first + len(block)] = block
                first += len(block)
            return replace(
                Space.from_vectors([str(i) for i in range(len(array))], array), items=items_of(labels, path, pos)
            )
        saving.write_stream(out, shape, blocks(), lambda: items_of(labels, path, pos))
    return Space.open(out)


def items_of(labels: Sequence[str], path: Path, pos: str | None = None) -> Items:
    """Read the labels of a file: words, phrases with their pattern, or what they are."""
    if pos is not None:
        return _checked([f"{label}-{pos}" for label in labels], path)
    known = built_in()
    phrases = [PHRASE.fullmatch(label) for label in labels]
    ours = all(
        split_label(label) or (found and found[1] in known) for label, found in zip(labels, phrases, strict=True)
    )
    original = [original_label(label) for label in labels]
    if not ours or not any(phrases):
        return _checked(original, path)
    _check_once(original, path)
    return Items(*parse_rows(original, path))


def _checked(labels: list[str], path: Path) -> Items:
    _check_once(labels, path)
    return Items.from_labels(labels)


def _check_once(labels: Sequence[str], path: Path) -> None:
    seen: set[str] = set()
    for place, label in enumerate(labels, 1):
        if label in seen:
            raise InputError(f"the label {label!r} of row {place} was there before: expected each once", source=path)
        seen.add(label)


@contextmanager
def open_vectors(path: Path, kind: str) -> Iterator[Vectors]:
    """Open a file of dense vectors: look how large it is, and give its rows in blocks."""
    try:
        if kind == "word2vec-binary":
            with _stream(path) as file:
                size, dimensions = _header(path, file.readline(200))
                yield Vectors(size, dimensions, _binary_blocks(path, file, size, dimensions))
            return
        with _stream(path) as file:
            first = file.readline(_LONGEST)
            lines = int(bool(first)) + _count_lines(file)
        skipped = int(kind in ("word2vec", "glove") and _is_header(first))
        if kind == "word2vec" and not skipped:
            raise InputError(
                f"expected the numbers of rows and dimensions, got {_shown(first)}; without them it is 'glove'",
                source=path, line=1,
            )  # fmt: skip
        with _stream(path) as file:
            if skipped:
                size, dimensions = _header(path, file.readline(_LONGEST))
                if lines - 1 != size:
                    raise InputError(f"expected {size:,} rows as line 1 says, found {lines - 1:,}", source=path)
            else:
                size, dimensions = lines, len(_split(first)) - 1
            if not size or dimensions < 1:
                raise InputError(f"expected a label and numbers, got {_shown(first)}", source=path, line=1)
            yield Vectors(size, dimensions, _text_blocks(path, file, dimensions, skipped + 1))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=path) from None
    except pa.ArrowException as error:
        raise InputError(f"cannot be unpacked: {error}", source=path) from None


@contextmanager
def _stream(path: Path) -> Iterator[Any]:
    """Open a file, unpacked by its suffix."""
    if not path.is_file():
        raise InputError("no such file" if not path.exists() else "expected a file, found a folder", source=path)
    packed = COMPRESSIONS.get(path.suffix)
    with path.open("rb") as raw:
        if packed is None:
            yield raw
        else:
            yield io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), packed))


def _count_lines(file: Any) -> int:  # noqa: ANN401 - a stream
    """Count the lines that are left; the last may lack its end."""
    count, last = 0, b"\n"
    while block := file.read(1 << 22):
        count, last = count + block.count(b"\n"), block[-1:]
    return count + (last != b"\n")


def _is_header(line: bytes) -> bool:
    parts = line.split()
    return len(parts) == 2 and all(part.isdigit() for part in parts)


def _header(path: Path, line: bytes) -> tuple[int, int]:
    if not _is_header(line):
        raise InputError(f"expected the numbers of rows and dimensions, got {_shown(line)}", source=path, line=1)
    size, dimensions = (int(part) for part in line.split())
    if not 0 < dimensions <= 1 << 20 or not 0 < size <= 1 << 40:
        raise InputError(f"impossible size: {size} rows of {dimensions} dimensions", source=path, line=1)
    return size, dimensions


def _shown(line: bytes) -> str:
    text = line[:60].decode("utf-8", "replace").strip()
    return repr(text) if text else "nothing"


def _split(line: bytes) -> list[bytes]:
    """Part a line: at tabs if it has any, because then labels may have blanks."""
    line = line.rstrip()
    return line.split(b"\t") if b"\t" in line else line.split()


def _text_blocks(path: Path, file: Any, dimensions: int, line: int) -> Iterator[Block]:  # noqa: ANN401
    """Read lines into blocks."""
    labels: list[str] = []
    block = np.empty((ROWS, dimensions), np.float32)
    while text := file.readline(_LONGEST):
        label, numbers = _parse_line(path, line, text, dimensions)
        block[len(labels)] = numbers
        labels.append(label)
        if len(labels) == ROWS:
            yield labels, block
            labels, block = [], np.empty((ROWS, dimensions), np.float32)
        line += 1
    if labels:
        yield labels, block[: len(labels)]


def _parse_line(path: Path, line: int, text: bytes, dimensions: int) -> tuple[str, Float32Array]:
    """Read a label and its numbers; a label of some blanks, as GloVe has them, is what is before the last numbers.

    If the last part of such a label is a number too, the line has one number too many.
    """
    parts = _split(text)
    if len(parts) < dimensions + 1:
        raise InputError(f"expected a label and {dimensions} numbers, got {len(parts)} parts", source=path, line=line)
    head = parts[: len(parts) - dimensions]
    if len(head) > 1 and (b"\t" in text or _is_number(head[-1])):
        raise InputError(f"expected a label and {dimensions} numbers, got {len(parts)} parts", source=path, line=line)
    try:
        with np.errstate(over="ignore"):  # infinity is refused below
            numbers = np.array(parts[-dimensions:], np.float32)
    except ValueError:
        raise InputError(
            f"expected {dimensions} numbers behind the label, got {_shown(b' '.join(parts[1:]))}",
            source=path, line=line,
        ) from None  # fmt: skip
    if not np.isfinite(numbers).all():
        raise InputError("a number is not finite", source=path, line=line)
    try:
        return b" ".join(head).decode("utf-8"), numbers
    except UnicodeDecodeError:
        raise InputError(f"expected UTF-8, got the label {_shown(parts[0])}", source=path, line=line) from None


def _is_number(part: bytes) -> bool:
    try:
        float(part)
    except ValueError:
        return False
    return True


def _binary_blocks(path: Path, file: Any, size: int, dimensions: int) -> Iterator[Block]:  # noqa: ANN401
    """Read labels, each with its numbers as bytes behind it."""
    width = 4 * dimensions
    labels: list[str] = []
    numbers = bytearray()
    for row in range(1, size + 1):
        label = bytearray()
        while (sign := file.read(1)) != b" ":
            if not sign or len(label) > 10_000:
                raise InputError(f"it ends in row {row:,} of {size:,}, or is no binary word2vec file", source=path)
            label += sign
        found = file.read(width)
        if len(found) < width:
            raise InputError(f"it ends in row {row:,} of {size:,}: it was cut short", source=path)
        numbers += found
        try:
            labels.append(label.lstrip(b"\n").decode("utf-8"))
        except UnicodeDecodeError:
            raise InputError(
                f"row {row:,}: expected UTF-8, got the label {_shown(bytes(label))}", source=path
            ) from None
        if len(labels) == ROWS or row == size:
            block = np.frombuffer(bytes(numbers), "<f4").reshape(-1, dimensions)
            bad = np.flatnonzero(~np.isfinite(block).all(axis=1))
            if len(bad):
                raise InputError(f"the vector of {labels[bad[0]]!r} has a number that is not finite", source=path)
            yield labels, block
            labels, numbers = [], bytearray()
    if file.read(2).strip():
        raise InputError(f"there is more behind the {size:,} rows that line 1 tells of", source=path)


# ---------------------------------------------------------------- writing


def file_labels(space: Space, rows: npt.NDArray[np.int64]) -> list[str]:
    """Write labels without blanks, phrases with their pattern."""
    labels = space.labels(rows)
    if space.items.plain is not None:
        return [file_label(label) for label in labels]
    patterns = ["", *(f"{name}:" for name in space.items.patterns)]
    numbers = space.items.fields.pattern[rows].tolist()
    return [
        patterns[pattern] + file_label(label.replace(", ", ",") if pattern else label)
        for pattern, label in zip(numbers, labels, strict=True)
    ]


def column_names(space: Space) -> list[str]:
    """Name the columns: the contexts, or ``d1``, ``d2`` and so on where there are none any more."""
    if space.columns and len(space.columns) == space.dimensions:
        return [file_label(label) for label in space.columns]
    return [f"d{number}" for number in range(1, space.dimensions + 1)]


def write_space(space: Space, path: str | Path, *, file_format: str | None = None) -> None:
    """Write the vectors of a space to a file, in blocks of rows; ``file_format`` is one of `FORMATS`."""
    path = Path(path)
    kind = format_of(path, file_format)
    if kind in ("sm", "npz"):
        from composita.spaces import sparse_exchange

        sparse_exchange.write(space, path, kind)
        return
    if kind == "dm":
        write_labels(space, _bare(path))
    with replacing(path) as write:
        if kind.startswith("word2vec"):
            write(f"{len(space)} {space.dimensions}\n".encode())
        for first in range(0, len(space), ROWS):
            rows = np.arange(first, min(len(space), first + ROWS))
            write(_lines(file_labels(space, rows), space.take(rows), kind))


def write_labels(space: Space, path: Path) -> None:
    """Write ``STEM.rows`` and ``STEM.cols``."""
    for suffix, labels in ((".rows", file_labels(space, np.arange(len(space)))), (".cols", column_names(space))):
        with replacing(path.with_suffix(suffix)) as write:
            write("".join(f"{label}\n" for label in labels).encode())


def _lines(labels: Sequence[str], block: Float32Array, kind: str) -> bytes:
    if kind == "word2vec-binary":
        rows = np.ascontiguousarray(block, "<f4")
        return b"".join(label.encode() + b" " + row.tobytes() + b"\n" for label, row in zip(labels, rows, strict=True))
    between = "\t" if kind in ("tsv", "dm") else " "
    # Nine digits tell every 32-bit float from every other.
    rows_of_text: Callable[[Any], str] = lambda row: between.join(f"{value:.9g}" for value in row)  # noqa: E731
    return "".join(
        f"{label}{between}{rows_of_text(row)}\n" for label, row in zip(labels, block.tolist(), strict=True)
    ).encode()
