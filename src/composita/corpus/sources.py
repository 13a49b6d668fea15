"""Where text comes from: files, globs and standard input, plain or compressed, as blocks of whole sentences.

A source is cut into segments at fixed distances of decompressed text: segment k begins at the first end of a sentence
at or after byte k * `SEGMENT`. The cut depends on the text alone, so the same text gives the same segments whether it
comes plain, compressed or through a pipe, and however many workers read it.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import hashlib
import io
import lzma
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from composita.corpus.formats import Format
from composita.store.errors import InputError, NotFoundError, UsageError

SEGMENT = 1 << 26
"""Bytes of text between two cuts of a source."""

CHUNK = 1 << 22
"""Bytes asked of a stream at a time."""

LOOKED_AT = 1 << 20
"""Bytes of standard input that are read before its format is known."""

LONGEST = 1 << 24
"""Bytes in which a sentence must end."""

STDIN = "-"

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Source:
    """A file of text, or standard input."""

    path: str
    compression: str | None = None
    size: int = 0  # bytes on disk
    changed: int = 0  # time of the last change, by which a later run knows the file again
    start: bytes = field(default=b"", repr=False)  # of standard input, what was read to look at it

    @property
    def name(self) -> str:
        """The name without folders, as it is kept in an artefact."""
        return "stdin" if self.path == STDIN else Path(self.path).name

    @property
    def splits(self) -> bool:
        """Whether one can begin to read in the middle."""
        return self.path != STDIN and self.compression is None


def find_sources(patterns: Iterable[str | Path]) -> list[Source]:
    """Resolve files and globs, in the order given, a glob's files in the order of their names."""
    paths: list[str] = []
    for pattern in map(str, patterns):
        if pattern == STDIN or Path(pattern).exists():
            paths.append(pattern)
        elif found := sorted(glob.glob(pattern, recursive=True)):
            paths.extend(path for path in found if not Path(path).is_dir())
        else:
            raise NotFoundError(
                f"{pattern}: no such file; check the path, or quote a pattern such as 'texts/*.conllu.gz'"
            )
    if not paths:
        raise UsageError("no source given: name a file, a pattern, or - for standard input")
    twice = {path for path in paths if paths.count(path) > 1} if len(paths) < 1000 else set()
    if twice or len(set(paths)) < len(paths):
        raise UsageError(f"a source is named twice: {', '.join(sorted(twice)[:3]) or 'see the patterns'}")
    return [_look(path) for path in paths]


def _look(path: str) -> Source:
    """Find out size and compression of a path."""
    if path == STDIN:
        start = sys.stdin.buffer.read(LOOKED_AT)
        return Source(path, _compression(start), start=start)
    file = Path(path)
    if file.is_dir():
        raise InputError(f"this is a folder, expected a file; to read all in it, pass '{path}/*'", source=path)
    try:
        with file.open("rb") as stream:
            status = file.stat()
            return Source(path, _compression(stream.read(8)), status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=path) from None


def _compression(start: bytes) -> str | None:
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


class _Replayed:
    """A stream of which the first bytes were looked at already."""

    def __init__(self, start: bytes, stream: Any) -> None:  # noqa: ANN401 - anything with read(n)
        self._start = start
        self._stream = stream

    def read(self, size: int) -> bytes:
        if self._start:
            start, self._start = self._start[:size], self._start[size:]
            return start
        return bytes(self._stream.read(size))

    def readable(self) -> bool:
        return True

    @property
    def closed(self) -> bool:
        return False


def _decompressed(raw: BinaryIO | _Replayed, compression: str | None) -> Any:  # noqa: ANN401 - anything with read(n)
    if compression == "gzip":
        return gzip.GzipFile(fileobj=raw)  # type: ignore[arg-type]
    if compression == "bzip2":
        return bz2.BZ2File(raw)  # type: ignore[arg-type]
    if compression == "xz":
        return lzma.LZMAFile(raw)  # type: ignore[arg-type]
    if compression == "zstd":
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
    return raw


class TextStream:
    """Decompressed bytes of a source, with errors that name it."""

    def __init__(self, source: Source, raw: BinaryIO | _Replayed, start: int = 0, end: int | None = None) -> None:
        self.source = source
        self.position = start
        self._left = None if end is None else end - start
        self._stream = _decompressed(raw, source.compression)

    def read(self, size: int = CHUNK) -> bytes:
        """Return up to ``size`` bytes, none at the end."""
        if self._left is not None:
            size = min(size, self._left)
        try:
            chunk = bytes(self._stream.read(size)) if size else b""
        except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
            raise InputError(
                f"the {self.source.compression or 'file'} stream is cut short or broken after "
                f"{self.position:,} bytes of text ({error}): get the file again",
                source=self.source.path,
            ) from None
        self.position += len(chunk)
        if self._left is not None:
            self._left -= len(chunk)
        return chunk


@contextmanager
def open_text(source: Source, start: int = 0, end: int | None = None) -> Iterator[TextStream]:
    """Open a source for reading its decompressed bytes, for plain files those from ``start`` to ``end``."""
    if source.path == STDIN:
        yield TextStream(source, _Replayed(source.start, sys.stdin.buffer))
        return
    try:
        raw = Path(source.path).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=source.path) from None
    with raw:
        raw.seek(start)
        yield TextStream(source, raw, start, end)


def read_sample(source: Source, size: int = 1 << 20) -> bytes:
    """Read the first bytes of a source, to tell its format by; what is behind them stays to be read."""
    if source.path == STDIN:
        parts: list[bytes] = []
        with suppress(InputError):  # a compressed stream is cut short here
            parts.extend(_first(TextStream(source, io.BytesIO(source.start)), size))
        return _without_mark(b"".join(parts), source)
    with open_text(source) as stream:
        return _without_mark(b"".join(_first(stream, size)), source)


def _first(stream: TextStream, size: int) -> Iterator[bytes]:
    while size > 0 and (chunk := stream.read(min(size, 1 << 16))):
        yield chunk
        size -= len(chunk)


@dataclass(frozen=True)
class Block:
    """Whole sentences of one segment, or the beginning of an endless one: see `LONGEST`."""

    segment: int
    start: int
    data: bytes | memoryview
    endless: bool = False
    lines: int = 0  # of an endless sentence


def sentence_blocks(stream: TextStream, form: Format) -> Iterator[Block]:
    """Cut a stream into blocks of whole sentences, none of which crosses the end of its segment."""
    start = stream.position
    limit = (start // SEGMENT + 1) * SEGMENT
    rest = b""
    while chunk := stream.read():
        if not rest and not start:
            chunk = _without_mark(chunk, stream.source)
            start = stream.position - len(chunk)
        rest += chunk
        end = _last_boundary(rest, form, len(rest) - len(chunk))
        while end and start + end >= limit:
            cut = _first_boundary(rest, form, max(0, limit - start), end)
            yield Block(limit // SEGMENT - 1, start, rest[:cut])
            start, rest, end = start + cut, rest[cut:], end - cut
            limit = (max(start, limit) // SEGMENT + 1) * SEGMENT
        if end:
            yield Block(limit // SEGMENT - 1, start, memoryview(rest)[:end])
            start, rest = start + end, rest[end:]
        elif len(rest) > LONGEST:
            following, left, lines = _past_boundary(stream, form, rest)
            yield Block(limit // SEGMENT - 1, start, rest, endless=True, lines=lines)
            start, rest = following, left
    if rest:
        yield Block(limit // SEGMENT - 1, start, rest)


def _without_mark(chunk: bytes, source: Source) -> bytes:
    """Drop a byte order mark, and refuse UTF-16."""
    if chunk.startswith(_WIDE):
        raise InputError(
            "this is UTF-16: convert it to UTF-8 first, e.g. iconv -f UTF-16 -t UTF-8", source=source.path, line=1
        )
    return chunk.removeprefix(_BOM)


def _last_boundary(data: bytes, form: Format, fresh: int) -> int:
    """Return the end of the last sentence that ends in ``data``, 0 for none; before ``fresh`` there is none."""
    window = 1 << 14
    low = len(data)
    while low > fresh:
        low = max(fresh, len(data) - window)
        # A boundary may begin a little before the window.
        found = [match.end() for match in form.boundary.finditer(data, max(0, low - 64))]
        if found:
            return found[-1]
        window *= 4
    return 0


def _first_boundary(data: bytes, form: Format, position: int, default: int) -> int:
    """Return the first end of a sentence at or after ``position``."""
    at = max(0, position - 64)
    while match := form.boundary.search(data, at):
        if match.end() >= position:
            return match.end()
        at = match.end()
    return default


def _past_boundary(stream: TextStream, form: Format, rest: bytes) -> tuple[int, bytes, int]:
    """Read on until a sentence ends; return the position after it, the bytes read beyond, and the lines passed."""
    tail = rest[-64:]
    lines = rest.count(b"\n") - tail.count(b"\n")
    while chunk := stream.read():
        tail += chunk
        if match := form.boundary.search(tail):
            lines += tail.count(b"\n", 0, match.end())
            return stream.position - len(tail) + match.end(), tail[match.end() :], lines
        lines += tail.count(b"\n", 0, -64)
        tail = tail[-64:]
    return stream.position, b"", lines + tail.count(b"\n")


def segment_starts(source: Source, form: Format) -> list[int]:
    """Find where the segments of a plain file begin, without reading what lies between."""
    starts = [0]
    for limit in range(SEGMENT, source.size, SEGMENT):
        if starts[-1] >= limit:  # a sentence ran on over more than one limit
            continue
        with open_text(source, max(0, limit - 64)) as stream:
            base, data = stream.position, b""
            while stream.position < limit + SEGMENT and (chunk := stream.read(1 << 16)):
                data += chunk
                found = _first_boundary(data, form, limit - base, 0)
                if found:
                    if base + found < source.size:
                        starts.append(base + found)
                    break
    return starts


def count_lines(source: Source, end: int) -> int:
    """Count the line ends in the first bytes of a plain file."""
    lines = 0
    with open_text(source, 0, end) as stream:
        while chunk := stream.read():
            lines += chunk.count(b"\n")
    return lines


def text_digest() -> Any:  # noqa: ANN401 - hashlib's private type
    """Return the hash by which a segment of text is recognised."""
    return hashlib.sha256()
