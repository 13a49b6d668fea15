r"""Raw text in chunks: pieces that workers can parse one by one, cut where nothing is lost.

Raw text is UTF-8; paragraphs are separated by blank lines, and a line break within a paragraph is a space.
A chunk ends after the last blank line within its limit; a paragraph longer than the limit is cut after its
last line break, else after its last space, else between two characters. So the cuts depend on the text
alone: not on how it is read, not on the number of workers.

>>> from io import BytesIO
>>> pieces = cut(blocks_of(BytesIO(b"Dogs bark.\n\nCats sleep.\nBirds sing.")), size=24)
>>> [(piece.line, piece.data) for piece in pieces]
[(1, b'Dogs bark.\n\n'), (3, b'Cats sleep.\nBirds sing.')]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

from composita.store.errors import InputError, UsageError

CHUNK_BYTES = 1 << 16
"""The longest chunk: some ten thousand words, a few seconds of parsing."""

OnError = Literal["stop", "skip"]
Text = tuple[str, Iterable[bytes]]
"""A source of raw text: its name and its bytes, in blocks of any length."""

_BLANK_LINE = re.compile(rb"\n[ \t\r\f\v]*\n\s*")
_LINE_BREAK = re.compile(rb".*\n", re.DOTALL)
_SPACE = re.compile(rb".*\s", re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """A stretch of a text, and where it was cut."""

    data: bytes
    opens_paragraph: bool
    line: int  # of the text, from 1


@dataclass(frozen=True)
class Chunk:
    """A piece of work for a parser."""

    number: int  # from 1 over all sources
    source: str
    text: str
    size: int  # bytes read for it
    opens_source: bool
    opens_paragraph: bool


def blocks_of(file: BinaryIO, size: int = 1 << 20) -> Iterator[bytes]:
    """Read a binary file in blocks."""
    while block := file.read(size):
        yield block


def cut(blocks: Iterable[bytes], size: int = CHUNK_BYTES) -> Iterator[Piece]:
    """Cut a text into pieces of at most ``size`` bytes; joined, they are the text."""
    if size < 4:
        raise UsageError(f"a chunk of {size} bytes is too short: expected at least 4, the longest character")
    buffer, line, after = bytearray(), 1, "paragraph"
    for block in blocks:
        buffer += block
        at = 0
        while len(buffer) - at > size:
            window = bytes(buffer[at : at + size])
            length, behind = _cut_at(window)
            yield Piece(window[:length], _opens_paragraph(after, window), line)
            line += window.count(b"\n", 0, length)
            after = behind
            at += length
        del buffer[:at]
    if buffer:
        yield Piece(bytes(buffer), _opens_paragraph(after, buffer), line)


def _opens_paragraph(after: str, data: bytes | bytearray) -> bool:
    """Tell whether text behind a cut begins a paragraph: a cut may part the line breaks of a blank line."""
    return after == "paragraph" or (after == "line" and data.lstrip(b" \t\r\f\v").startswith(b"\n"))


def _cut_at(window: bytes) -> tuple[int, str]:
    """Find where to cut a window that is not the end of its text, and what the cut comes after."""
    after_blank = max((blank.end() for blank in _BLANK_LINE.finditer(window)), default=0)
    if after_blank:
        return after_blank, "paragraph"
    for pattern, after in ((_LINE_BREAK, "line"), (_SPACE, "space")):
        if found := pattern.match(window):
            return found.end(), after
    # Bytes 10xxxxxx continue a character; bad UTF-8 may have any number of them.
    for back in range(min(4, len(window))):
        if window[-1 - back] & 0xC0 != 0x80:
            starts_whole = back == 0 and window[-1] < 0x80
            keep = len(window) if starts_whole else len(window) - 1 - back
            return keep or len(window), "character"
    return len(window), "character"


_LINE_ENDS = re.compile("\r+\n|\r|\x85|\u2028")
_CONTROLS = {code: " " for code in (*range(32), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}
_UNWANTED = {**_CONTROLS, 0xFEFF: None, 0x2029: "\n\n"}


def clean(text: str) -> str:
    r"""Make text harmless: one kind of line break, no control characters, no byte order marks.

    NUL ends strings in the parsers' C++, and a line separator within a word would break lines for who reads
    the output.

    >>> clean("\ufeffA\x00 dog\r\nbarks.\u2028It\x1b sleeps.")
    'A  dog\nbarks.\nIt  sleeps.'
    """
    return _LINE_ENDS.sub("\n", text).translate(_UNWANTED)


def decode(piece: Piece, source: str, on_error: OnError = "stop") -> str:
    r"""Give the text of a piece, cleaned; bytes that are not UTF-8 stop the work, or become U+FFFD.

    >>> decode(Piece(b"caf\xe9", True, 1), "a.txt", "skip")
    'caf\ufffd'
    >>> decode(Piece(b"one\ncaf\xe9", True, 7), "a.txt")
    Traceback (most recent call last):
        ...
    composita.store.errors.InputError: a.txt:8: byte 0xe9 is not UTF-8: convert the text, or ...
    """
    try:
        text = piece.data.decode()
    except UnicodeDecodeError as error:
        if on_error == "skip":
            text = piece.data.decode(errors="replace")
        else:
            line = piece.line + piece.data.count(b"\n", 0, error.start)
            reason = f"byte 0x{piece.data[error.start]:02x} is not UTF-8"
            advice = "convert the text, or replace bad bytes with --on-error skip"
            raise InputError(f"{reason}: {advice}", source=source, line=line) from None
    return clean(text)


def chunks(texts: Iterable[Text], *, on_error: OnError = "stop", size: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """Cut texts into chunks, numbered over all of them; white space alone makes no chunk."""
    number = 0
    for source, blocks in texts:
        opens_source = True
        for piece in cut(blocks, size):
            text = decode(piece, source, on_error)
            if not text.strip():
                continue
            number += 1
            yield Chunk(number, source, text, len(piece.data), opens_source, piece.opens_paragraph)
            opens_source = False


_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")


def paragraphs(text: str) -> list[str]:
    r"""Give the paragraphs of cleaned text, each on one line.

    >>> paragraphs("\nDogs\nbark.\n \nCats sleep.\n")
    ['Dogs bark.', 'Cats sleep.']
    """
    return [" ".join(part.split()) for part in _PARAGRAPHS.split(text) if part.strip()]
