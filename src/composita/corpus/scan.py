"""The compiled reader: bytes of whole sentences in, integer columns out.

Two passes over a block of text. `index_separators` notes where every tab and line end is.
`scan_sentences` then goes from line to line, gives every string the code of its first appearance (hash tables beside
an arena), turns heads into distances, and checks each sentence when it is complete; a sentence that fails any check is
taken back as a whole and noted in a list of drops. Form, lemma and tags of a token are looked up as one string, an
*analysis*, because nearly every token repeats one that was seen before.

Safety: a block carries eight spare bytes behind its text, so that a word of eight bytes can be read at every place.
Every index is derived from positions below the size of the text, every array is asked for room before it is written,
and when room is short the kernel stops at the start of the sentence, says so, and is called again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from composita.store.kernels import bare_kernel, inlined_kernel

# Why a sentence is dropped.
COLUMNS, INDEX, HEAD, HEAD_RANGE, NO_ROOT, CYCLE, EMPTY, UTF8, CONTROL, LONG_LINE, LONG_SENTENCE = range(1, 12)
REASONS = {
    COLUMNS: "wrong column count",
    INDEX: "token number out of sequence",
    HEAD: "head is not a number",
    HEAD_RANGE: "head out of range",
    NO_ROOT: "no root",
    CYCLE: "cycle of heads",
    EMPTY: "empty field",
    UTF8: "not valid UTF-8",
    CONTROL: "control character",
    LONG_LINE: "line too long",
    LONG_SENTENCE: "sentence too long",
}

# The tables of strings: the columns of `columns.STRING_COLUMNS` in that order, and the analyses.
FORMS, LEMMAS, UPOS, XPOS, RELATIONS, ANALYSES = range(6)

OPTIONS = (
    "fewest columns", "most columns", "hash begins a comment", "markup lines", "sub-tokens",
    "index column", "head column", "relation column", "first column of the span",
    "most bytes a line", "most tokens a sentence",
)  # fmt: skip

NO_ROOM = -100

# Why the kernel returned.
DONE, ROOM_TOKENS, ROOM_SENTENCES, ROOM_DROPS, ROOM_STRINGS = range(5)

PADDING = 8
"""Bytes that must follow the text of a block."""

_TAB, _FEED, _CR, _HASH, _LESS = 9, 10, 13, 35, 60
_MIX = np.uint64(0x9E3779B97F4A7C15)
_NONE, _ONE, _THREE, _SEVEN, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(7), np.uint64(8)
_LOW = np.uint64((1 << 32) - 1)
_TEN, _SIXTEEN, _SIXTY_FOUR = np.uint64(10), np.uint64(16), np.uint64(64)
_HUNDRED, _TEN_THOUSAND = np.uint64(100), np.uint64(10_000)
_ZEROS, _SIXES, _HIGH_HALVES = (np.uint64(0x0101010101010101 * byte) for byte in (0x30, 0x06, 0xF0))
_PAIRS, _FOURS = np.uint64(0x000000FF000000FF), np.uint64(0xFFFF)
_SHIFT = np.uint64(32)


@bare_kernel
def index_separators(
    text: npt.NDArray[np.uint8],
    size: int,
    separators: npt.NDArray[np.int32],
    ends: npt.NDArray[np.int32],
) -> int:
    """Write where tabs and line feeds are, and which of these separators are line feeds; return how many lines.

    ``separators`` and ``ends`` have room for ``size + 1``. A line feed that is missing at the end is taken to be there.
    Both loops write always and move on only where it counts, because a branch that cannot be foreseen costs more.
    """
    count = np.uint64(0)
    for i in range(np.uint64(size)):
        byte = text[i]
        separators[count] = np.int32(i)
        count += np.uint64((byte == _TAB) | (byte == _FEED))
    if size > 0 and text[size - 1] != _FEED:
        separators[count] = np.int32(size)
        count += np.uint64(1)
    lines = np.uint64(0)
    for k in range(count):
        ends[lines] = np.int32(k)
        at = separators[k]
        lines += np.uint64((at == size) | (text[at] == _FEED))
    return np.int64(lines)


@inlined_kernel
def string_hash(words: npt.NDArray[np.uint64], start: np.uint64, length: np.uint64) -> np.uint64:
    """Mix the length and the bytes of a string into a word of which the upper bits are the best."""
    mixed = length
    while length >= _EIGHT:
        mixed = (mixed ^ words[start]) * _MIX
        mixed ^= mixed >> _SHIFT
        start += _EIGHT
        length -= _EIGHT
    if length:
        mixed ^= words[start] & ((_ONE << (length << _THREE)) - _ONE)
    mixed *= _MIX
    return (mixed ^ (mixed >> _SHIFT)) * _MIX


@bare_kernel
def utf8_fault(text: npt.NDArray[np.uint8], start: int, end: int) -> int:
    """Return 0 for valid UTF-8 without control characters, else the reason to drop the string."""
    i = start
    while i < end:
        byte = text[i]
        if byte < 0x80:
            if byte < 0x20 or byte == 0x7F:
                return CONTROL
            i += 1
            continue
        if 0xC2 <= byte <= 0xDF:
            need, low, high = 1, 0x80, 0xBF
        elif 0xE0 <= byte <= 0xEF:
            need, low, high = 2, 0xA0 if byte == 0xE0 else 0x80, 0x9F if byte == 0xED else 0xBF
        elif 0xF0 <= byte <= 0xF4:
            need, low, high = 3, 0x90 if byte == 0xF0 else 0x80, 0x8F if byte == 0xF4 else 0xBF
        else:
            return UTF8
        if i + need >= end or not low <= text[i + 1] <= high:
            return UTF8
        for k in range(2, need + 1):
            if not 0x80 <= text[i + k] <= 0xBF:
                return UTF8
        i += need + 1
    return 0


@inlined_kernel
def same_string(
    words: npt.NDArray[np.uint64],
    start: np.uint64,
    arena: npt.NDArray[np.uint64],
    entry: np.uint64,
    length: np.uint64,
) -> bool:
    """Whether the string at ``start`` is the one that the arena holds at ``entry``."""
    if (arena[entry] & _LOW) != length:
        return False
    while length >= _EIGHT:
        entry += _ONE
        if words[start] != arena[entry]:
            return False
        start += _EIGHT
        length -= _EIGHT
    if length == _NONE:
        return True
    return (words[start] & ((_ONE << (length << _THREE)) - _ONE)) == arena[entry + _ONE]


@inlined_kernel
def find(
    words: npt.NDArray[np.uint64],
    start: np.uint64,
    length: np.uint64,
    hashed: np.uint64,
    table: int,
    layout: npt.NDArray[np.int64],
    slots: npt.NDArray[np.uint64],
    arena: npt.NDArray[np.uint64],
) -> int:
    """Return the code of a string in a table, or ``-1 - slot`` with the free slot where it belongs.

    The tables lie one after the other in flat arrays, because to pick an array from a tuple costs more than the
    look-up. ``layout[table]`` is (first slot, slots - 1, first code, room for codes, codes, _), and ``layout[0, 5]``
    the used words of the arena. A slot holds the upper half of the hash above the string's place in the arena, or 0
    while it is free; there lie one word with the code above the length, and the bytes. So a look-up reads at random
    two places only, and frequent strings, which come early, lie together.
    """
    base = np.uint64(layout[table, 0])
    mask = np.uint64(layout[table, 1])
    slot = (hashed >> _TEN) & mask
    while True:
        value = slots[base + slot]
        if value == _NONE:
            return -1 - np.int64(slot)
        if (value ^ hashed) <= _LOW:
            entry = value & _LOW
            if same_string(words, start, arena, entry, length):
                return np.int64(arena[entry] >> _SHIFT)
        slot = (slot + _ONE) & mask


@bare_kernel
def add(
    words: npt.NDArray[np.uint64],
    start: np.uint64,
    length: np.uint64,
    hashed: np.uint64,
    slot: int,
    table: int,
    layout: npt.NDArray[np.int64],
    slots: npt.NDArray[np.uint64],
    entries: npt.NDArray[np.int64],
    arena: npt.NDArray[np.uint64],
) -> int:
    """Give a new string the next code, in the slot that `find` named; return the code or `NO_ROOM`."""
    code = layout[table, 4]
    entry = np.uint64(layout[0, 5])
    end = entry + ((length + _SEVEN) >> _THREE) + _ONE
    if code == layout[table, 3] or end > np.uint64(len(arena)):
        return NO_ROOM
    slots[layout[table, 0] + slot] = (hashed & ~_LOW) | entry
    entries[layout[table, 2] + code] = np.int64(entry)
    arena[entry] = (np.uint64(code) << _SHIFT) | length
    while length >= _EIGHT:
        entry += _ONE
        arena[entry] = words[start]
        start += _EIGHT
        length -= _EIGHT
    if length:
        arena[entry + _ONE] = words[start] & ((_ONE << (length << _THREE)) - _ONE)
    layout[table, 4] = code + 1
    layout[0, 5] = np.int64(end)
    return code


@inlined_kernel
def intern(
    text: npt.NDArray[np.uint8],
    words: npt.NDArray[np.uint64],
    start: int,
    end: int,
    table: int,
    layout: npt.NDArray[np.int64],
    slots: npt.NDArray[np.uint64],
    entries: npt.NDArray[np.int64],
    arena: npt.NDArray[np.uint64],
) -> int:
    """Return the code of ``text[start:end]``, adding it when new; below zero is a reason to drop, or `NO_ROOM`."""
    if end == start:
        return -EMPTY
    begin, length = np.uint64(start), np.uint64(end - start)
    hashed = string_hash(words, begin, length)
    code = find(words, begin, length, hashed, table, layout, slots, arena)
    if code >= 0:
        return code
    fault = utf8_fault(text, start, end)
    if fault:
        return -fault
    return add(words, begin, length, hashed, -1 - code, table, layout, slots, entries, arena)


@bare_kernel
def rehash(
    layout: npt.NDArray[np.int64],
    table: int,
    slots: npt.NDArray[np.uint64],
    entries: npt.NDArray[np.int64],
    arena: npt.NDArray[np.uint64],
    windows: npt.NDArray[np.uint64],
) -> None:
    """Fill the empty slots of a table anew from the strings that it holds; ``windows`` are those of the arena."""
    base = np.uint64(layout[table, 0])
    mask = np.uint64(layout[table, 1])
    for code in range(layout[table, 4]):
        entry = np.uint64(entries[layout[table, 2] + code])
        hashed = string_hash(windows, (entry + _ONE) << _THREE, arena[entry] & _LOW)
        slot = (hashed >> _TEN) & mask
        while slots[base + slot] != _NONE:
            slot = (slot + _ONE) & mask
        slots[base + slot] = (hashed & ~_LOW) | entry


@bare_kernel
def gather(
    arena: npt.NDArray[np.uint8],
    entries: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int32],
    data: npt.NDArray[np.uint8],
) -> None:
    """Copy the strings at these places of the arena, seen as bytes, one behind the other into ``data``."""
    for i in range(len(entries)):
        start = 8 * (entries[i] + 1) - offsets[i]
        for k in range(offsets[i], offsets[i + 1]):
            data[k] = arena[start + k]


@bare_kernel
def count_codes(codes: npt.NDArray[np.int32], counts: npt.NDArray[np.int64]) -> None:
    """Add to ``counts[code]`` how often each code occurs; a code without a place is not counted."""
    for i in range(len(codes)):
        code = codes[i]
        if 0 <= code < len(counts):
            counts[code] += 1


@bare_kernel
def replace_codes(
    codes: npt.NDArray[np.int32], new_codes: npt.NDArray[np.int32], replaced: npt.NDArray[np.int32]
) -> None:
    """Write the new code of every code into ``replaced``."""
    for i in range(len(codes)):
        replaced[i] = new_codes[codes[i]]


@bare_kernel
def combine_hashes(
    starts: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int32],
    words: npt.NDArray[np.uint64],
    hashes: npt.NDArray[np.uint64],
) -> None:
    """Hash each sentence from the hashes (codes, 2) of its words, into ``hashes`` (sentences, 2)."""
    for sentence in range(len(starts) - 1):
        for half in range(2):
            mixed = np.uint64(starts[sentence + 1] - starts[sentence])
            for token in range(starts[sentence], starts[sentence + 1]):
                mixed = (mixed ^ words[codes[token], half]) * _MIX
                mixed ^= mixed >> _SHIFT
            hashes[sentence, half] = mixed * _MIX


@inlined_kernel
def parse_number(words: npt.NDArray[np.uint64], start: int, end: int) -> int:
    """Read an unsigned decimal number of at most seven digits, all at once, or return -1."""
    length = end - start
    if length < 1 or length > 7:
        return -1
    empty = np.uint64(64 - 8 * length)
    digits = (words[np.uint64(start)] << empty) | (_ZEROS >> (_SIXTY_FOUR - empty))
    if (digits & _HIGH_HALVES) != _ZEROS or ((digits + _SIXES) & _HIGH_HALVES) != _ZEROS:
        return -1
    # Neighbours are joined: digits to pairs, pairs to fours, fours to the number.
    digits -= _ZEROS
    pairs = digits * _TEN + (digits >> _EIGHT)
    fours = ((pairs & _PAIRS) * _HUNDRED) + ((pairs >> _SIXTEEN) & _PAIRS)
    return np.int64((fours & _FOURS) * _TEN_THOUSAND + ((fours >> _SHIFT) & _FOURS))


@bare_kernel
def is_subtoken(text: npt.NDArray[np.uint8], words: npt.NDArray[np.uint64], start: int, end: int) -> bool:
    """Whether a CoNLL-U token number is a range ``2-3`` or an empty node ``2.1``."""
    for i in range(start + 1, end - 1):
        if text[i] == 45 or text[i] == 46:
            return parse_number(words, start, i) >= 0 and parse_number(words, i + 1, end) >= 0
    return False


@bare_kernel
def is_markup(text: npt.NDArray[np.uint8], start: int, end: int) -> bool:
    """Whether a WaCky line without tabs is ``<s``, ``</s``, ``<text`` or ``</text`` with anything behind."""
    i = start + 1
    if i < end and text[i] == 47:
        i += 1
    if i >= end:
        return False
    if i + 4 <= end and text[i] == 116 and text[i + 1] == 101 and text[i + 2] == 120 and text[i + 3] == 116:
        i += 4
    elif text[i] == 115:
        i += 1
    else:
        return False
    return i == end or text[i] == 62 or text[i] == 32


@bare_kernel
def tree_fault(heads: npt.NDArray[np.int32], start: int, end: int, seen: npt.NDArray[np.int32]) -> tuple[int, int]:
    """Return (0, 0) when every token climbs to a root, else the reason and the token's place in the sentence.

    ``heads`` are positions from 1 within the sentence, 0 for a root. Each climb stops where an earlier one has
    passed, so that all climbs together take linear time.
    """
    length = end - start
    roots = 0
    for i in range(length):
        head = heads[start + i]
        if head > length:
            return HEAD_RANGE, i
        roots += head == 0
        seen[i] = 0
    if roots == 0:
        return NO_ROOT, 0
    for i in range(length):
        at = i
        while seen[at] == 0:
            seen[at] = i + 1
            head = heads[start + at]
            if head == 0:
                break
            at = head - 1
        else:
            if seen[at] == i + 1:
                return CYCLE, i
    return 0, 0


@inlined_kernel
def analyse(
    text: npt.NDArray[np.uint8],
    words: npt.NDArray[np.uint64],
    begin: int,
    separators: npt.NDArray[np.int32],
    first: int,
    columns: npt.NDArray[np.int64],
    layout: npt.NDArray[np.int64],
    slots: npt.NDArray[np.uint64],
    entries: npt.NDArray[np.int64],
    arena: npt.NDArray[np.uint64],
    analyses: npt.NDArray[np.int32],
) -> int:
    """Return the code of an analysis: form, lemma and tags side by side, looked up as one string.

    ``columns`` are the tables of its fields; the first begins at ``begin`` and ends at separator ``first``. A new
    analysis gets a row in ``analyses``, the codes of its fields.
    """
    start = np.uint64(begin)
    length = np.uint64(separators[first + len(columns) - 1] - begin)
    hashed = string_hash(words, start, length)
    code = find(words, start, length, hashed, ANALYSES, layout, slots, arena)
    if code >= 0:
        return code
    row = layout[ANALYSES, 4]
    if row == len(analyses):
        return NO_ROOM
    for i in range(len(columns)):
        end = np.int64(separators[first + i])
        part = intern(text, words, begin, end, columns[i], layout, slots, entries, arena)
        if part < 0:
            return part
        analyses[row, columns[i]] = part
        begin = end + 1
    return add(words, start, length, hashed, -1 - code, ANALYSES, layout, slots, entries, arena)


@bare_kernel
def scan_sentences(  # noqa: C901 - one state machine, told in order
    text: npt.NDArray[np.uint8],
    words: npt.NDArray[np.uint64],
    separators: npt.NDArray[np.int32],
    ends: npt.NDArray[np.int32],
    state: npt.NDArray[np.int64],
    span: npt.NDArray[np.int64],
    options: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int32],
    heads: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    drops: npt.NDArray[np.int64],
    lines: npt.NDArray[np.int64],
    seen: npt.NDArray[np.int32],
    layout: npt.NDArray[np.int64],
    slots: npt.NDArray[np.uint64],
    entries: npt.NDArray[np.int64],
    arena: npt.NDArray[np.uint64],
    analyses: npt.NDArray[np.int32],
) -> int:
    """Read sentences until the block ends or room is short; return why.

    Parameters
    ----------
    text, words
        The block, with `PADDING` behind the text, and for each of its bytes the word of eight that begins there.
    separators, ends
        From `index_separators`, ``ends`` only as many as there are lines.
    state
        [next line of the block, lines before the block, tokens, sentences, drops], updated in place.
    span
        Which table each of the columns form, lemma and tags goes to, in the order of the file.
    options
        See `OPTIONS`.
    codes, heads, starts
        The codes of analyses and relations, (2, room), the heads, (room,), which become distances, and where sentences
        begin, (room,).
    drops
        Line and reason of every sentence that was dropped, (room, 2).
    lines, seen
        Scratch, with room for the longest sentence.
    layout, slots, entries, arena, analyses
        The tables of strings, see `find` and `analyse`.
    """
    line, before = state[0], state[1]
    tokens, sentences, dropped = state[2], state[3], state[4]
    fewest, most, comments, markup, subtokens = options[0], options[1], options[2], options[3], options[4]
    index_column, head_column, relation_column, span_column = options[5], options[6], options[7], options[8]
    longest_line, longest_sentence = options[9], options[10]

    while line < len(ends):
        # One sentence; remember its beginning, to take it back, or to start again when room is short.
        first_line, first_token = line, tokens
        if tokens + longest_sentence > len(heads):
            return ROOM_TOKENS
        if sentences + 2 > len(starts):
            return ROOM_SENTENCES
        if dropped + 1 > len(drops):
            return ROOM_DROPS
        fault, fault_line, length = 0, 0, 0
        while line < len(ends):
            first = np.int64(ends[line - 1]) + 1 if line else np.int64(0)
            last = np.int64(ends[line])
            start = np.int64(separators[first - 1]) + 1 if line else np.int64(0)
            end = np.int64(separators[last])
            columns = last - first + 1
            line += 1
            while end > start and text[end - 1] == _CR:
                end -= 1
            if columns == 1 and (end == start or (markup and text[start] == _LESS and is_markup(text, start, end))):
                break
            if fault or (comments and text[start] == _HASH):
                continue
            if end - start > longest_line:
                fault, fault_line = LONG_LINE, line
                continue
            if columns < fewest or columns > most:
                fault, fault_line = COLUMNS, line
                continue
            begin = np.int64(separators[first + index_column - 1]) + 1 if index_column else start
            stop = np.int64(separators[first + index_column])
            if parse_number(words, begin, stop) != length + 1:
                if not (subtokens and is_subtoken(text, words, begin, stop)):
                    fault, fault_line = INDEX, line
                continue
            if length == longest_sentence:
                fault, fault_line = LONG_SENTENCE, line
                continue
            begin = np.int64(separators[first + head_column - 1]) + 1
            head = parse_number(words, begin, np.int64(separators[first + head_column]))
            if head < 0:
                fault, fault_line = HEAD, line
                continue
            begin = np.int64(separators[first + span_column - 1]) + 1 if span_column else start
            code = analyse(
                text, words, begin, separators, first + span_column, span, layout, slots, entries, arena, analyses
            )
            if code >= 0:
                codes[0, tokens] = code
                begin = np.int64(separators[first + relation_column - 1]) + 1
                stop = end if relation_column == columns - 1 else np.int64(separators[first + relation_column])
                code = intern(text, words, begin, stop, RELATIONS, layout, slots, entries, arena)
            if code < 0:
                if code == NO_ROOM:
                    state[0], state[2], state[3], state[4] = first_line, first_token, sentences, dropped
                    return ROOM_STRINGS
                fault, fault_line = -code, line
                continue
            codes[1, tokens] = code
            heads[tokens] = head
            lines[length] = line
            length += 1
            tokens += 1
        if length and not fault:
            fault, place = tree_fault(heads, first_token, tokens, seen)
            fault_line = lines[place]
        if fault:
            drops[dropped, 0], drops[dropped, 1] = before + fault_line, fault
            dropped += 1
            tokens = first_token
        elif length:
            for i in range(length):
                head = np.int64(heads[first_token + i])
                heads[first_token + i] = head - i - 1 if head else 0
            sentences += 1
            starts[sentences] = tokens
        state[0], state[2], state[3], state[4] = line, tokens, sentences, dropped
    state[0] = line
    return DONE
