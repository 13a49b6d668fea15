r"""Reading parsed text into columns: `read_tokens` for a whole source, `Reader` for block after block.

>>> text = b"1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
>>> from composita.corpus.formats import FORMATS
>>> reader = Reader(FORMATS["conllu"])
>>> reader.feed(text)
>>> tokens = reader.tokens()
>>> tokens.lemma.strings(), tokens.head
(['dog', 'bark'], array([1, 0], dtype=int32))
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from composita.corpus import scan
from composita.corpus.columns import STRING_COLUMNS, Column, Int32Array, Int64Array, Tokens
from composita.corpus.formats import Format, find_format, guess_format
from composita.corpus.sources import find_sources, open_text, read_sample, sentence_blocks
from composita.store.errors import InputError

STEP = 1 << 19
"""Bytes that are scanned at a time: what the processor's cache holds."""

ROOM = 1 << 21
"""Tokens for which there is room before anything has to grow."""

LONGEST_LINE = 1 << 20
LONGEST_SENTENCE = 10_000

_HINTS = {
    scan.COLUMNS: "expected {columns} columns between tabs",
    scan.INDEX: "expected the numbers 1, 2, 3, ... within a sentence",
    scan.HEAD: "expected 0 for a root or the number of a token",
    scan.HEAD_RANGE: "expected at most the number of tokens in the sentence",
    scan.NO_ROOT: "expected at least one token with head 0",
    scan.CYCLE: "expected every token to lead to a root",
    scan.EMPTY: "expected a word, or _ where there is none",
    scan.UTF8: "if the file is Latin-1, pass --encoding latin-1",
    scan.CONTROL: "expected text without NUL and other control characters",
    scan.LONG_LINE: f"expected at most {LONGEST_LINE:,} bytes",
    scan.LONG_SENTENCE: f"expected at most {LONGEST_SENTENCE:,} tokens, and an empty line behind each sentence",
}


@dataclass(frozen=True)
class Drop:
    """A sentence that could not be read: the line that broke it and a code of `scan.REASONS`."""

    line: int
    code: int

    @property
    def reason(self) -> str:
        """Why, in a few words."""
        return scan.REASONS[self.code]

    def describe(self, form: Format) -> str:
        """Why, and what was expected."""
        columns = f"{form.fewest} to {len(form.columns)}" if form.fewest < len(form.columns) else str(form.fewest)
        return f"{self.reason}: {_HINTS[self.code].format(columns=columns)}"


class _Tables:
    """The strings seen so far, a hash table for each column, in the flat arrays that the kernels want."""

    def __init__(self) -> None:
        slots = [1 << 17, 1 << 17, 1 << 10, 1 << 10, 1 << 10, 1 << 18]
        self.layout = np.zeros((len(slots), 6), np.int64)
        self.layout[0, 5] = 1  # place 0 of the arena stays unused: it marks a free slot
        self._lay_out(slots)
        self.slots = np.zeros(sum(slots), np.uint64)
        self.entries = np.zeros(sum(slots) // 2, np.int64)
        self.arena = np.zeros(1 << 20, np.uint64)
        self.analyses = np.zeros((slots[scan.ANALYSES] // 2, scan.RELATIONS), np.int32)

    def _lay_out(self, slots: list[int]) -> None:
        """Place the tables one after the other; a table is at most half full."""
        sizes = np.array(slots, np.int64)
        self.layout[:, 0] = np.cumsum(sizes) - sizes
        self.layout[:, 1] = sizes - 1
        self.layout[:, 2] = self.layout[:, 0] // 2
        self.layout[:, 3] = sizes // 2

    def grow(self, longest: int) -> None:
        """Make room where little is left; ``longest`` are the words that one sentence may add to the arena."""
        if len(self.arena) - self.layout[0, 5] < longest:
            self.arena = np.concatenate([self.arena, np.zeros(max(len(self.arena), longest), np.uint64)])
        full = self.layout[:, 4] >= self.layout[:, 3]
        if not full.any():
            return
        old = self.layout.copy()
        slots = np.where(full, 2, 1) * (old[:, 1] + 1)
        self._lay_out(slots.tolist())
        entries = np.zeros(slots.sum() // 2, np.int64)
        for table, (_, _, first, _, count, _) in enumerate(old):
            start = self.layout[table, 2]
            entries[start : start + count] = self.entries[first : first + count]
        self.entries = entries
        self.slots = np.zeros(slots.sum(), np.uint64)
        for table in range(len(old)):
            scan.rehash(self.layout, table, self.slots, self.entries, self.arena, windows(self.arena.view(np.uint8)))
        if full[scan.ANALYSES]:
            self.analyses = np.concatenate([self.analyses, np.zeros_like(self.analyses)])

    def strings(self, table: int, codes: npt.NDArray[np.int64]) -> Any:  # noqa: ANN401 - pyarrow
        """Return the strings of these codes as an Arrow array."""
        entries = self.entries[self.layout[table, 2] + codes]
        lengths = (self.arena[entries] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        offsets = np.zeros(len(codes) + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        data = np.empty(offsets[len(codes)], np.uint8)
        scan.gather(self.arena.view(np.uint8), entries, offsets, data)
        return pa.StringArray.from_buffers(len(codes), pa.py_buffer(offsets), pa.py_buffer(data))


class Reader:
    """Turns blocks of whole sentences into columns; keeps what it dropped in ``drops``.

    Parameters
    ----------
    form
        The format of the text.
    encoding
        ``utf-8`` or ``latin-1``.
    most_drops
        Stop reading (see ``stopped``) when so many sentences were dropped.
    """

    def __init__(self, form: Format, encoding: str = "utf-8", most_drops: int | None = None) -> None:
        self.form = form
        self.encoding = encoding
        self.most_drops = most_drops
        self.drops: list[Drop] = []
        self._options = _options(form)
        self._span = np.array([STRING_COLUMNS.index(name) for name in _span(form)], np.int64)
        self._state = np.zeros(5, np.int64)
        self._tables = _Tables()
        if "upos" not in form.columns:
            self._add_placeholder()
        # Memory that is not touched costs nothing, so there is room for a usual shard from the beginning.
        self._codes = np.empty((2, ROOM), np.int32)
        self._heads = np.empty(ROOM, np.int32)
        self._starts = np.zeros(ROOM // 8, np.int64)
        self._drops = np.empty((1 if most_drops == 1 else 1024, 2), np.int64)
        self._lines = np.empty(LONGEST_SENTENCE, np.int64)
        self._seen = np.empty(LONGEST_SENTENCE, np.int32)
        self._make_text(STEP)

    def _add_placeholder(self) -> None:
        """Make ``_`` the first universal tag, where the format has none."""
        text = np.zeros(16, np.uint8)
        text[0] = ord("_")
        tables = self._tables
        scan.intern(text, windows(text), 0, 1, scan.UPOS, tables.layout, tables.slots, tables.entries, tables.arena)

    @property
    def lines(self) -> int:
        """How many lines were read since `start_lines`."""
        return int(self._state[1])

    def start_lines(self) -> None:
        """Count lines from here on: the next block begins a new source."""
        self._state[1] = 0

    @property
    def stopped(self) -> bool:
        """Whether so many sentences were dropped that reading ended."""
        return self.most_drops is not None and len(self.drops) >= self.most_drops

    @property
    def sentences(self) -> int:
        """How many sentences were kept."""
        return int(self._state[3])

    def feed(self, block: bytes | memoryview) -> None:
        """Read a block of whole sentences."""
        if self.encoding == "latin-1":
            block = bytes(block).decode("latin-1").encode()
        at = 0
        while at < len(block) and not self.stopped:
            end = len(block)
            if end - at > STEP and (match := self.form.boundary.search(block, at + STEP)):
                end = match.end()
            self._scan(memoryview(block)[at:end])
            at = end

    def _make_text(self, size: int) -> None:
        """Make room for a text of this size, its separators and its lines."""
        self._text = np.zeros((size + 2 * scan.PADDING) // 8 * 8, np.uint8)
        self._separators = np.empty(len(self._text) + 1, np.int32)
        self._ends = np.empty(len(self._text) + 1, np.int32)

    def _scan(self, piece: memoryview) -> None:
        size = len(piece)
        if size + scan.PADDING > len(self._text):
            self._make_text(size + size // 4)
        self._text[:size] = np.frombuffer(piece, np.uint8)
        self._text[size : size + scan.PADDING] = 0
        lines = scan.index_separators(self._text, size, self._separators, self._ends)
        self._state[0] = 0
        while not self.stopped:
            tables = self._tables
            why = scan.scan_sentences(
                self._text, windows(self._text), self._separators, self._ends[:lines], self._state, self._span,
                self._options, self._codes, self._heads, self._starts, self._drops, self._lines, self._seen,
                tables.layout, tables.slots, tables.entries, tables.arena, tables.analyses,
            )  # fmt: skip
            if why == scan.DONE:
                break
            self._make_room(why, size)
        self._state[1] += lines
        self._take_drops()

    def _make_room(self, why: int, size: int) -> None:
        if why == scan.ROOM_TOKENS:
            room = max(2 * len(self._heads), 2 * LONGEST_SENTENCE)
            tokens = int(self._state[2])
            codes = np.empty((len(self._codes), room), np.int32)
            codes[:, :tokens] = self._codes[:, :tokens]
            heads = np.empty(room, np.int32)
            heads[:tokens] = self._heads[:tokens]
            self._codes, self._heads = codes, heads
        elif why == scan.ROOM_SENTENCES:
            self._starts = np.concatenate([self._starts, np.zeros_like(self._starts)])
        elif why == scan.ROOM_DROPS:
            self._take_drops()
        else:
            # A short line makes five strings and an analysis, each with a word for its length and one to fill up.
            self._tables.grow(size)

    def _take_drops(self) -> None:
        count = int(self._state[4])
        self.drops.extend(Drop(int(line), int(code)) for line, code in self._drops[:count])
        self._state[4] = 0

    def pass_over(self, lines: int) -> None:
        """Note a sentence without end that was passed over unread."""
        self.drops.append(Drop(self.lines + 1, scan.LONG_SENTENCE))
        self._state[1] += lines

    def tokens(self) -> Tokens:
        """Return all that was read, its strings in order of frequency."""
        tokens, sentences = int(self._state[2]), int(self._state[3])
        relations, relation = by_frequency(self._codes[1, :tokens], self._known(scan.RELATIONS))
        columns = {"relation": _normalised(Column(relation, self._tables.strings(scan.RELATIONS, relations)))}
        columns |= self._analysed(self._codes[0, :tokens])
        return Tokens(self._starts[: sentences + 1].copy(), self._heads[:tokens].copy(), **columns)

    def _known(self, table: int) -> int:
        return int(self._tables.layout[table, 4])

    def _analysed(self, codes: Int32Array) -> dict[str, Column]:
        """Take the analyses of all tokens apart into form, lemma and tags."""
        counts = np.zeros(self._known(scan.ANALYSES), np.int64)
        scan.count_codes(codes, counts)
        columns = {}
        for table in range(scan.RELATIONS):
            parts = self._tables.analyses[: len(counts), table]
            totals = np.zeros(self._known(table), np.int64)
            np.add.at(totals, parts, counts)
            order, ranks = _ranked(totals)
            column = np.empty(len(codes), np.int32)
            scan.replace_codes(codes, ranks[parts], column)
            columns[STRING_COLUMNS[table]] = _normalised(Column(column, self._tables.strings(table, order)))
        return columns


def windows(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """View the word of eight bytes that begins at each byte.

    >>> hex(windows(np.arange(16, dtype=np.uint8))[1])
    '0x807060504030201'
    """
    return np.ndarray((len(text) - 7,), np.uint64, text, 0, (1,))


def by_frequency(codes: Int32Array, known: int) -> tuple[Int64Array, Int32Array]:
    """Return the codes in use by falling frequency, then by their old order, and every token's place in that list."""
    counts = np.zeros(known, np.int64)
    scan.count_codes(codes, counts)
    order, ranks = _ranked(counts)
    ranked = np.empty(len(codes), np.int32)
    scan.replace_codes(codes, ranks, ranked)
    return order, ranked


def _ranked(counts: Int64Array) -> tuple[Int64Array, Int32Array]:
    """Return the codes that occur by falling count, and the place of each code in that list."""
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    ranks = np.zeros(len(counts), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return order, ranks


def _normalised(column: Column) -> Column:
    """Bring the strings into Unicode's composed form (NFC), and merge those that become the same."""
    if pc.all(pc.string_is_ascii(column.values), min_count=0).as_py():
        return column
    values = pc.utf8_normalize(column.values, "NFC")
    if values.equals(column.values):
        return column
    merged = values.dictionary_encode()
    return Column(merged.indices.to_numpy().astype(np.int32)[column.codes], merged.dictionary)


def _span(form: Format) -> list[str]:
    """List the columns of form, lemma and tags, which stand side by side in every format."""
    return [name for name in form.columns if name in STRING_COLUMNS and name != "relation"]


def _options(form: Format) -> npt.NDArray[np.int64]:
    values = {
        "fewest columns": form.fewest,
        "most columns": len(form.columns),
        "hash begins a comment": form.comments,
        "markup lines": form.markup,
        "sub-tokens": form.subtokens,
        "index column": form.columns.index("index"),
        "head column": form.columns.index("head"),
        "relation column": form.columns.index("relation"),
        "first column of the span": form.columns.index("form"),
        "most bytes a line": LONGEST_LINE,
        "most tokens a sentence": LONGEST_SENTENCE,
    }
    return np.array([values[name] for name in scan.OPTIONS], np.int64)


def guess_encoding(sample: bytes, form: Format) -> str:
    r"""Tell UTF-8 from Latin-1, in which only WaCky files may be without being told: by what most of it can be.

    >>> guess_encoding("naïve cafés\n".encode() + b"\xff\n", find_format("wacky"))
    'utf-8'
    >>> guess_encoding("naïve cafés\n".encode("latin-1"), find_format("wacky"))
    'latin-1'
    """
    if not form.dirty or sample.isascii():
        return "utf-8"
    whole_lines = sample[: sample.rfind(b"\n") + 1] or sample
    letters = whole_lines.decode("utf-8", "surrogateescape")
    stray = sum("\udc80" <= letter <= "\udcff" for letter in letters)
    return "latin-1" if 2 * stray > sum(letter > "\x7f" for letter in letters) else "utf-8"


def read_tokens(path: str | Path, format: str = "auto", encoding: str = "auto") -> Tokens:  # noqa: A002 - the word
    """Read a whole source into memory, stopping at the first sentence that is broken.

    Parameters
    ----------
    path
        A file, plain or compressed.
    format
        ``conllu``, ``conllx``, ``wacky``, or ``auto``.
    encoding
        ``utf-8``, ``latin-1``, or ``auto``.
    """
    (source,) = find_sources([path])
    sample = read_sample(source)
    form = guess_format(sample, source.path) if format == "auto" else find_format(format)
    reader = Reader(form, guess_encoding(sample, form) if encoding == "auto" else encoding, most_drops=1)
    with open_text(source) as stream:
        for block in sentence_blocks(stream, form):
            if block.endless:
                reader.pass_over(block.lines)
            else:
                reader.feed(block.data)
            if reader.stopped:
                drop = reader.drops[0]
                raise InputError(drop.describe(form), source=source.path, line=drop.line)
    return reader.tokens()
