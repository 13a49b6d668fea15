"""The loops of counting, over integers only.

They follow Gustavson's way of multiplying sparse matrices: the occurrences of one item are gathered, the contexts of
each are added up in a row that lies in the cache, and the row is written out in the order of its columns. Which columns
were touched is kept as bits, and which words of bits as bits again, so that writing out costs no sorting whatever the
row.

Nothing is allocated here: callers know how much there can be at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from composita.store.kernels import bare_kernel

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]
Listed = npt.NDArray[Any]
Row = npt.NDArray[Any]
"""32 bits where no sum can be larger, otherwise 64."""
Bools = npt.NDArray[np.bool_]

_intrinsic: Any = intrinsic  # types that only Numba understands

_ZERO, _ONE, _SIX, _BELOW = (np.uint64(number) for number in (0, 1, 6, 63))


def bit_words(columns: int) -> int:
    """Give how many 64-bit words hold one bit a column."""
    return columns // 64 + 1


# ---------------------------------------------------------------- tokens


@bare_kernel
def look_up(
    places: Ints, lemma: Ints, row: Ints, form: Ints, form_row: Ints, tag: Ints, class_of: Bytes,
    table: npt.NDArray[np.int32], which: int, found: Ints,
) -> None:  # fmt: skip
    """Give some tokens their numbers in a table of lemmas and classes; -1, for no token, stays.

    ``row`` has the row of each lemma in the table, 0 for those that are not in it, -1 where the form stands for it.
    """
    for i in range(len(places)):
        found[i] = -1
        if places[i] >= 0:
            t = np.uint64(places[i])
            place = row[np.uint64(lemma[t])]
            if place < 0:
                place = form_row[np.uint64(form[t])]
            found[i] = table[np.uint64(place), np.uint64(class_of[np.uint64(tag[t])]), which]


@bare_kernel
def read_tokens(
    starts: Longs, lemma: Ints, row: Ints, form: Ints, form_row: Ints, tag: Ints, class_of: Bytes,
    both: npt.NDArray[np.int32], count: npt.NDArray[np.int64],
    start: Ints, listed: Listed, word: Ints, sentence: Ints, token: Ints, beside: Ints,
) -> int:  # fmt: skip
    """List the contexts of each sentence, and the occurrences of all targets with the context that each is itself.

    Nothing is asked of a token: what it is not is written as well, and overwritten by the next. ``start`` says where
    the contexts of each sentence begin in ``listed``, ``count`` gets the tokens of each row and class; the number of
    occurrences is returned.
    """
    size, found = _ZERO, _ZERO
    for s in range(len(starts) - 1):
        start[s] = size
        for t in range(np.uint64(starts[s]), np.uint64(starts[s + 1])):
            at = row[np.uint64(lemma[t])]
            if at < 0:  # hardly ever
                at = form_row[np.uint64(form[t])]
            place, kind = np.uint64(at), np.uint64(class_of[np.uint64(tag[t])])
            count[place, kind] += 1
            target, context = both[place, kind, 0], both[place, kind, 1]
            word[found] = target
            sentence[found] = s
            token[found] = t
            beside[found] = context
            found += np.uint64(target >= 0)
            listed[size] = context
            size += np.uint64(context >= 0)
    start[len(starts) - 1] = size
    return np.int64(found)  # type: ignore[return-value]


@bare_kernel
def place_targets(word: Ints, sentence: Ints, own: Ints, at: Longs, placed: Ints, own_placed: Ints) -> None:
    """Sort occurrences by their words; ``at`` says where those of each begin, and afterwards where they end."""
    for i in range(np.uint64(len(word))):
        target = np.uint64(word[i])
        place = np.uint64(at[target])
        at[target] += 1
        placed[place] = sentence[i]
        own_placed[place] = own[i]


@bare_kernel
def mark_sentences(word: Ints, sentence: Ints, wanted: Bools, starts: Longs, marked: Bools) -> int:
    """Mark the sentences that have a wanted target, and count their tokens."""
    total = 0
    for i in range(len(word)):
        if wanted[word[i]] and not marked[sentence[i]]:
            marked[sentence[i]] = True
            total += starts[sentence[i] + 1] - starts[sentence[i]]
    return total


@bare_kernel
def list_tokens(starts: Longs, marked: Bools, lengths: Longs, places: Ints) -> None:
    """List the tokens of the marked sentences."""
    sentences, size = 0, 0
    for s in range(len(starts) - 1):
        if marked[s]:
            lengths[sentences] = starts[s + 1] - starts[s]
            sentences += 1
            for t in range(starts[s], starts[s + 1]):
                places[size] = t
                size += 1


@bare_kernel
def count_forms(
    lemma: Ints, row: Ints, form: Ints, form_row: Ints, tag: Ints, class_of: Bytes, argument: npt.NDArray[np.int32],
    usual: Ints, often: Longs, every: Longs, other_form: Ints, other_word: Ints,
) -> int:  # fmt: skip
    """Count the tokens of each form, and each form as the word that it was first.

    What is another word is listed, and how many these are is returned.
    """
    size = _ZERO
    for t in range(len(form)):
        code = np.uint64(form[t])
        every[code] += 1
        at = row[np.uint64(lemma[t])]
        if at < 0:  # hardly ever
            at = form_row[code]
        word = argument[np.uint64(at), np.uint64(class_of[np.uint64(tag[t])])]
        if word >= 0:
            if usual[code] < 0:
                usual[code] = word
            same = usual[code] == word
            often[code] += same
            other_form[size] = form[t]
            other_word[size] = word
            size += np.uint64(not same)
    return np.int64(size)  # type: ignore[return-value]


# ---------------------------------------------------------------- one row


@bare_kernel
def add(row: Row, bits: Bits, over: Bits, column: np.uint64, amount: int) -> None:
    """Add to one cell of the row at hand.

    Marking a cell that is marked costs less than asking: half of the answers would be guessed wrong.
    """
    word = column >> _SIX
    bits[word] |= _ONE << (column & _BELOW)
    over[word >> _SIX] |= _ONE << (word & _BELOW)
    row[column] += amount


@_intrinsic
def _trailing_zeros(_: Any, bits: Any) -> Any:  # noqa: ANN401 - Numba's types
    """Count the zeros below the lowest bit that is set, by the processor's own instruction."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), build


@bare_kernel
def lowest(bits: np.uint64) -> np.uint64:
    """Give the place of the lowest bit that is set."""
    place: np.uint64 = _trailing_zeros(bits)
    return place


@bare_kernel
def write_out(row: Row, bits: Bits, over: Bits, columns: Ints, values: Row, size: int) -> int:
    """Append the cells of the row that are not 0, in the order of columns, and clear it; return the new size."""
    end = np.uint64(size)
    for i in range(np.uint64(len(over))):
        upper = over[i]
        over[i] = _ZERO
        while upper != _ZERO:
            word = (i << _SIX) | lowest(upper)
            upper &= upper - _ONE
            left = bits[word]
            bits[word] = _ZERO
            while left != _ZERO:
                column = (word << _SIX) | lowest(left)
                left &= left - _ONE
                value = row[column]
                row[column] = 0
                columns[end] = column
                values[end] = value
                end += np.uint64(value != 0)  # a cell that became 0 again is overwritten by the next
    return np.int64(end)  # type: ignore[return-value]


# ---------------------------------------------------------------- rows of items


@bare_kernel
def bound_sentences(rows: Longs, sentence: Ints, start: Ints, columns: int) -> int:
    """Give the most cells that there can be."""
    total = 0
    for r in range(len(rows) - 1):
        most = 0
        for o in range(rows[r], rows[r + 1]):
            most += start[sentence[o] + 1] - start[sentence[o]]
        total += min(most, columns)
    return total


@bare_kernel
def count_sentences(
    rows: Longs, sentence: Ints, own: npt.NDArray[np.int32], start: Ints, listed: Listed,
    row: Row, bits: Bits, over: Bits, columns: Ints, values: Row, ends: Longs,
) -> int:  # fmt: skip
    """Count each item with the contexts of its sentences, but for those that are its own tokens.

    ``rows`` says where the occurrences of each item begin in ``sentence`` and ``own``, which has the contexts that the
    tokens of each occurrence are, -1 for none.
    """
    size = 0
    for r in range(len(rows) - 1):
        for o in range(rows[r], rows[r + 1]):
            s = np.uint64(sentence[o])
            for i in range(np.uint64(start[s]), np.uint64(start[s + _ONE])):
                add(row, bits, over, np.uint64(listed[i]), 1)
            for j in range(own.shape[1]):
                if own[o, j] >= 0:
                    row[np.uint64(own[o, j])] -= 1
        size = write_out(row, bits, over, columns, values, size)
        ends[r] = size
    return size


@bare_kernel
def nearest(token: int, own: npt.NDArray[np.int32], o: int, left: int, right: int) -> int:
    """Give the distance to the nearest own token whose window holds the token; 0 for an own token, -1 for none."""
    best = -1
    for j in range(own.shape[1]):
        if own[o, j] >= 0:
            distance = own[o, j] - token
            if distance == 0:
                return 0
            if distance < 0:
                distance = -distance if -distance <= right else 0
            elif distance > left:
                distance = 0
            if distance > 0 and (best < 0 or distance < best):
                best = distance
    return best


@bare_kernel
def count_windows(
    rows: Longs, sentence: Ints, own: npt.NDArray[np.int32], context: Ints, starts: Longs, left: int, right: int,
    shares: Longs, row: Row, bits: Bits, over: Bits, columns: Ints, values: Row, ends: Longs,
) -> int:  # fmt: skip
    """Count each item with the contexts that are near to any of its tokens, by their distance to the nearest."""
    size = 0
    for r in range(len(rows) - 1):
        for o in range(rows[r], rows[r + 1]):
            s = sentence[o]
            first = starts[s + 1]
            last = starts[s]
            for j in range(own.shape[1]):
                if own[o, j] >= 0:
                    first = min(first, own[o, j] - left)
                    last = max(last, own[o, j] + right + 1)
            for t in range(max(first, starts[s]), min(last, starts[s + 1])):
                if context[t] >= 0:
                    distance = nearest(t, own, o, left, right)
                    if distance > 0:
                        add(row, bits, over, np.uint64(context[t]), shares[distance])
        size = write_out(row, bits, over, columns, values, size)
        ends[r] = size
    return size


@bare_kernel
def bound_links(rows: Longs, own: npt.NDArray[np.int32], start: Longs, columns: int) -> int:
    """Give the most cells that there can be."""
    total = 0
    for r in range(len(rows) - 1):
        most = 0
        for o in range(rows[r], rows[r + 1]):
            for j in range(own.shape[1]):
                if own[o, j] >= 0:
                    most += start[own[o, j] + 1] - start[own[o, j]]
        total += min(most, columns)
    return total


@bare_kernel
def count_links(
    rows: Longs, own: npt.NDArray[np.int32], start: Longs, other: Ints, column: Ints,
    row: Row, bits: Bits, over: Bits, columns: Ints, values: Row, ends: Longs,
) -> int:  # fmt: skip
    """Count each item with the links between its tokens and others."""
    size = 0
    for r in range(len(rows) - 1):
        for o in range(rows[r], rows[r + 1]):
            for j in range(own.shape[1]):
                if own[o, j] < 0:
                    continue
                for i in range(start[own[o, j]], start[own[o, j] + 1]):
                    outside = True
                    for k in range(own.shape[1]):
                        outside = outside and own[o, k] != other[i]
                    if outside:
                        add(row, bits, over, np.uint64(column[i]), 1)
        size = write_out(row, bits, over, columns, values, size)
        ends[r] = size
    return size


# ---------------------------------------------------------------- phrases


@bare_kernel
def group_links(source: Ints, start: Longs, order: Longs) -> None:
    """Sort links by their source, in the order in which they come; ``start`` has two entries more than tokens."""
    for i in range(len(source)):
        start[source[i] + 2] += 1
    for t in range(1, len(start)):
        start[t] += start[t - 1]
    for i in range(len(source)):
        order[start[source[i] + 1]] = i
        start[source[i] + 1] += 1


@bare_kernel
def find_candidates(
    h: int, roles: int, classes: int, list_bit: int, join: bool, start: Longs, code: Bytes, other: Ints, marker: Ints,
    usable: Bools, argument: Ints, kind: Bytes, lists: Longs, found: Ints, markers: Ints,
) -> int:  # fmt: skip
    """Find the words that can fill one place of a pattern beside the head ``h``, each once."""
    size = 0
    for i in range(start[h], start[h + 1]):
        t = other[i]
        if not usable[i] or not (roles >> code[i]) & 1 or not (classes >> kind[t]) & 1 or argument[t] < 0 or t == h:
            continue
        if (join or list_bit >= 0) and marker[i] < 0:
            continue
        if list_bit >= 0 and not (lists[marker[i]] >> list_bit) & 1:
            continue
        known = False
        for j in range(size):
            known = known or found[j] == t
        if not known:
            found[size] = t
            markers[size] = marker[i]
            size += 1
    return size


@bare_kernel
def is_absent(h: int, roles: int, list_bit: int, start: Longs, code: Bytes, marker: Ints, lists: Longs) -> bool:
    """Whether the head has nothing in a place, not even what cannot be an argument."""
    for i in range(start[h], start[h + 1]):
        if (roles >> code[i]) & 1 and (list_bit < 0 or (marker[i] >= 0 and (lists[marker[i]] >> list_bit) & 1)):
            return False
    return True


@bare_kernel
def find_phrases(
    heads: Ints, places: npt.NDArray[np.int64], without: int, start: Longs, code: Bytes, other: Ints, marker: Ints,
    usable: Bools, argument: Ints, kind: Bytes, lists: Longs, found: npt.NDArray[np.int32],
    markers: npt.NDArray[np.int32], number: Longs, picked: Longs, out: npt.NDArray[np.int32],
) -> int:  # fmt: skip
    """Find all ways to fill the places of a pattern, and return how many there are.

    ``places`` has a row a place: roles, classes, bit of its list of prepositions or -1, optional, joined. An occurrence
    is written as head, four arguments and the preposition joined, -1 for none; nothing is written beyond the end of
    ``out``.
    """
    size = 0
    for n in range(len(heads)):
        h = heads[n]
        has = 0
        for i in range(start[h], start[h + 1]):
            has |= 1 << code[i]
        if has & without:
            continue
        ways = 1
        for p in range(len(places)):
            number[p] = find_candidates(
                h, places[p, 0], places[p, 1], places[p, 2], places[p, 4] != 0, start, code, other, marker, usable,
                argument, kind, lists, found[p], markers[p],
            )  # fmt: skip
            if number[p] == 0 and places[p, 3] and is_absent(h, places[p, 0], places[p, 2], start, code, marker, lists):
                found[p, 0] = -1
                markers[p, 0] = -1
                number[p] = 1
            ways *= number[p]
            picked[p] = 0
        for _ in range(ways):
            size = write_phrase(h, places, found, markers, picked, out, size)
            for p in range(len(places)):
                picked[p] += 1
                if picked[p] < number[p]:
                    break
                picked[p] = 0
    return size


@bare_kernel
def write_phrase(
    h: int, places: npt.NDArray[np.int64], found: npt.NDArray[np.int32], markers: npt.NDArray[np.int32], picked: Longs,
    out: npt.NDArray[np.int32], size: int,
) -> int:  # fmt: skip
    """Write one way to fill the places, unless it uses a token twice or leaves all places empty."""
    filled = False
    for p in range(len(places)):
        t = found[p, picked[p]]
        filled = filled or t >= 0
        for q in range(p):
            if t >= 0 and found[q, picked[q]] == t:
                return size
    if not filled:
        return size
    if size < len(out):
        out[size, 0] = h
        for p in range(1, 6):
            out[size, p] = -1
        for p in range(len(places)):
            out[size, p + 1] = found[p, picked[p]]
            if places[p, 4]:
                out[size, 5] = markers[p, picked[p]]
    return size + 1


# ---------------------------------------------------------------- merging


@bare_kernel
def less(upper: Longs, lower: Longs, a: int, b: int) -> bool:
    """Whether the key in row ``a`` comes before that in row ``b``; of equal keys the one that stands first."""
    if upper[a] != upper[b]:
        before: bool = upper[a] < upper[b]
    elif lower[a] != lower[b]:
        before = lower[a] < lower[b]
    else:
        before = a < b
    return before


@bare_kernel
def sink(heap: Longs, size: int, place: int, upper: Longs, lower: Longs) -> None:
    """Restore the order of the heap below a place."""
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and less(upper, lower, heap[child + 1], heap[child]):
            child += 1
        if less(upper, lower, heap[place], heap[child]):
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@bare_kernel
def merge_order(parts: Longs, upper: Longs, lower: Longs, heap: Longs, ends: Longs, order: Longs, first: Longs) -> int:
    """Merge sorted parts: write the order of all rows, and where each distinct key begins in it; count these.

    ``parts`` says where each part begins in the keys, and ``heap`` and ``ends`` have an entry a part. ``first`` has one
    entry more than rows.
    """
    size = 0
    for p in range(len(parts) - 1):
        if parts[p] < parts[p + 1]:
            heap[size] = parts[p]
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        sink(heap, size, place, upper, lower)
    for p in range(len(parts) - 1):
        ends[p] = parts[p + 1]
    distinct = 0
    for i in range(parts[len(parts) - 1]):
        r = heap[0]
        order[i] = r
        if i == 0 or upper[r] != upper[order[i - 1]] or lower[r] != lower[order[i - 1]]:
            first[distinct] = i
            distinct += 1
        # A row is the last of its part where the next one begins another.
        if ends[np.searchsorted(ends, r, side="right")] == r + 1:
            size -= 1
            heap[0] = heap[size]
        else:
            heap[0] = r + 1
        sink(heap, size, 0, upper, lower)
    first[distinct] = parts[len(parts) - 1]
    return distinct


@bare_kernel
def add_rows(
    first: Longs, order: Longs, indptr: Longs, columns_in: Ints, values_in: Row, row: Row, bits: Bits, over: Bits,
    columns: Ints, values: Row, ends: Longs,
) -> int:  # fmt: skip
    """Add up the rows that have the same key."""
    size = 0
    for k in range(len(first) - 1):
        if first[k + 1] - first[k] == 1:
            r = order[first[k]]
            for i in range(indptr[r], indptr[r + 1]):
                columns[size] = columns_in[i]
                values[size] = values_in[i]
                size += 1
        else:
            for j in range(first[k], first[k + 1]):
                r = order[j]
                for i in range(indptr[r], indptr[r + 1]):
                    add(row, bits, over, np.uint64(columns_in[i]), values_in[i])
            size = write_out(row, bits, over, columns, values, size)
        ends[k] = size
    return size
