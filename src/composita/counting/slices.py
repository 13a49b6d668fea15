"""Counting some sentences of a shard: tokens in, sorted sparse rows out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from composita.corpus.columns import MISSING, STRING_COLUMNS, Column, Tokens, words
from composita.corpus.labels import Role
from composita.corpus.roles import Links
from composita.counting import kernels
from composita.counting.keys import column_keys, renumber_joints, word_keys
from composita.counting.patterns import OF, ROLES
from composita.counting.phrases import WHOLE, Phrases, admitted, find_phrases, pick_sentences
from composita.counting.vocabulary import Tables

if TYPE_CHECKING:
    from composita.corpus.corpus import Shard
    from composita.counting.job import Job

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
UInt8Array = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Part:
    """Counts of some sentences, rows sorted by key."""

    upper: Int64Array
    lower: Int64Array
    frequency: Int64Array
    ends: Int64Array  # where the cells of each row end
    columns: Int32Array
    values: npt.NDArray[Any]  # int32, or int64 where that is too narrow
    column_keys: Int64Array  # what the columns are, for dependency contexts
    context_frequency: Int64Array  # tokens of each context
    joints: tuple[str, ...]  # particles and prepositions in keys, numbered from 1
    tokens: int
    sentences: int


@dataclass(frozen=True)
class _Items:
    """Words or phrases, sorted by key, and their occurrences."""

    upper: Int64Array
    lower: Int64Array
    starts: Int64Array  # (items + 1,) into the next two
    sentence: Int32Array  # (occurrences,)
    own: Int32Array  # (occurrences, tokens of one), or the contexts that these are, which is all that sentences ask


@dataclass(frozen=True)
class _Dependents:
    """For every token the words that it is linked to, as columns of dependency contexts."""

    start: Int64Array
    other: Int32Array
    column: Int32Array
    keys: Int64Array


def take_sentences(tokens: Tokens, first: int, last: int) -> Tokens:
    """Give a range of sentences, without copying."""
    begin, end = int(tokens.starts[first]), int(tokens.starts[last])
    columns: dict[str, Any] = {}
    for name in STRING_COLUMNS:
        column: Column = getattr(tokens, name)
        columns[name] = Column(column.codes[begin:end], column.values)
    return Tokens(tokens.starts[first : last + 1] - begin, tokens.head[begin:end], **columns)


# ---------------------------------------------------------------- numbers of tokens


@dataclass(frozen=True)
class _Numbers:
    """What the tokens are: the occurrences of words, in their order, and the contexts of each sentence."""

    word: Int32Array  # (occurrences,)
    sentence: Int32Array  # (occurrences,)
    token: Int32Array  # (occurrences,)
    beside: Int32Array  # (occurrences,) the context that the token is, -1 for none
    frequency: Int64Array  # (words,) tokens of each
    context_frequency: Int64Array  # (contexts,)
    start: Int32Array  # (sentences + 1,) where the contexts of each sentence begin in the list
    listed: npt.NDArray[Any]  # uint16 where they fit, for this list is what the processor's cache has to hold


@dataclass(frozen=True)
class Lookup:
    """How tokens of a shard become numbers: by the lemma and the class of each."""

    lemma: Int32Array  # (tokens,)
    row: Int32Array  # by lemma: its row in the tables of the vocabulary, 0 for none, -1 where the form stands for it
    form: Int32Array  # (tokens,)
    form_row: Int32Array  # by form
    tag: Int32Array  # (tokens,)
    class_of: UInt8Array  # by tag
    tables: Tables

    @classmethod
    def of(cls, tokens: Tokens, shard: Shard, tables: Tables) -> Lookup:
        """Look up each distinct lemma and tag once; a token without a lemma is known by its form."""
        row = _rows(tokens.lemma, tables)
        without = pc.is_in(tokens.lemma.values, pa.array(MISSING, pa.string())).to_numpy(zero_copy_only=False)
        form_row = np.zeros(1, np.int32)
        if without.any():
            row[without] = -1
            form_row = _rows(tokens.form, tables)
        tag: Column = getattr(tokens, shard.tagset.column)
        class_of = shard.tagset.classify(tag.values.to_pylist())
        return cls(tokens.lemma.codes, row, tokens.form.codes, form_row, tag.codes, class_of, tables)

    @property
    def _given(self) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, UInt8Array]:
        return self.lemma, self.row, self.form, self.form_row, self.tag, self.class_of

    def read(self, starts: Int64Array) -> _Numbers:
        """List the occurrences of words and the contexts of sentences, and count both."""
        room, both = len(self.lemma) + 1, self.tables.both  # one more, for what is overwritten
        count = np.zeros(both.shape[:2], np.int64)
        start = np.empty(len(starts), np.int32)
        listed = np.empty(room, np.uint16 if self.tables.contexts <= 1 << 16 else np.int32)
        word, sentence, token, beside = (np.empty(room, np.int32) for _ in range(4))
        size = kernels.read_tokens(
            starts, *self._given, both, count, start, listed, word, sentence, token, beside
        )  # fmt: skip
        frequency, context_frequency = (
            np.bincount(both[:, :, which].ravel() + 1, count.ravel(), number + 1)[1:].astype(np.int64)
            for which, number in enumerate((self.tables.words, self.tables.contexts))
        )
        return _Numbers(
            word[:size], sentence[:size], token[:size], beside[:size], frequency, context_frequency, start, listed
        )  # fmt: skip

    def targets(self, places: Int32Array) -> Int32Array:
        """The words that some tokens are counted as; -1 for none."""
        return self._look_up(places, self.tables.both, 0)

    def contexts(self, places: Int32Array) -> Int32Array:
        """The contexts that some tokens are."""
        return self._look_up(places, self.tables.both, 1)

    def arguments(self, places: Int32Array) -> Int32Array:
        """The words that some tokens are as arguments."""
        return self._look_up(places, self.tables.argument[:, :, None], 0)

    def count_forms(self, *out: npt.NDArray[Any]) -> int:
        """Count forms into the arrays of `kernels.count_forms`."""
        return kernels.count_forms(*self._given, self.tables.argument, *out)

    def within(self, first: int, last: int) -> Lookup:
        """The same for a range of tokens, without copying."""
        some = slice(first, last)
        return replace(self, lemma=self.lemma[some], form=self.form[some], tag=self.tag[some])

    def _look_up(self, places: Int32Array, table: Int32Array, which: int) -> Int32Array:
        found = np.empty(places.shape, np.int32)
        kernels.look_up(places.reshape(-1), *self._given, table, which, found.reshape(-1))
        return found


def _rows(column: Column, tables: Tables) -> Int32Array:
    """The row of each distinct string, in lower case."""
    found = pc.fill_null(pc.index_in(pc.utf8_lower(column.values), tables.lemmas), -1)
    rows: Int32Array = found.to_numpy(zero_copy_only=False).astype(np.int32) + np.int32(1)
    return rows


# ---------------------------------------------------------------- the work


def count_sentences(job: Job, shard: Shard, tokens: Tokens, lookup: Lookup | None = None) -> Part:
    """Count the words and phrases of some sentences of a shard; of several slices the lookup is made once."""
    lookup = lookup or Lookup.of(tokens, shard, job.vocabulary.tables)
    numbers = lookup.read(tokens.starts)
    by_sentence, by_dependency = (job.context.kind == kind for kind in ("sentence", "dependency"))
    context = np.empty(0, np.int32) if by_sentence else lookup.contexts(np.arange(len(tokens), dtype=np.int32))
    phrases, links = _find(job, shard, tokens, lookup, numbers, whole=by_dependency)
    joints: tuple[str, ...] = phrases.joints if phrases else ()
    dependents = None
    if by_dependency:
        prepositions, said = _prepositions(tokens, links)
        merged = tuple(sorted({*joints, *prepositions}, key=str.encode))
        if phrases:
            phrases = replace(phrases, upper=renumber_joints(phrases.upper, join_numbers(joints, merged)))
        marker = join_numbers(prepositions, merged)[said]
        dependents, joints = _dependents(job, links, marker, context), merged
    items = [_word_items(numbers, numbers.beside if by_sentence else numbers.token)] if job.words else []
    if phrases:
        items.append(_phrase_items(phrases, tokens, lookup.contexts(phrases.own) if by_sentence else phrases.own))
    size = len(dependents.keys) if dependents else len(job.vocabulary.contexts)
    longest = int(np.diff(tokens.starts).max(initial=0))
    most = 2 * len(tokens) * longest * max(job.context.shares)
    ends, columns, values = _count(items, _way_of_counting(job, tokens, numbers, context, dependents, size), size, most)
    return Part(
        np.concatenate([np.empty(0, np.int64), *(i.upper for i in items)]),
        np.concatenate([np.empty(0, np.int64), *(i.lower for i in items)]),
        np.concatenate([np.empty(0, np.int64), *(np.diff(i.starts) for i in items)]),
        ends, columns, values,
        dependents.keys if dependents else np.empty(0, np.int64),
        numbers.context_frequency, joints, len(tokens), tokens.sentences,
    )  # fmt: skip


def join_numbers(own: Sequence[str], merged: Sequence[str]) -> Int64Array:
    """Give the number of each joint in a longer list; 0, for none, stays."""
    place = {word: i for i, word in enumerate(merged, 1)}
    return np.array([0, *(place[word] for word in own)], np.int64)


def _find(
    job: Job, shard: Shard, tokens: Tokens, lookup: Lookup, numbers: _Numbers, *, whole: bool
) -> tuple[Phrases | None, Links | None]:
    """Find phrases, looking only at sentences with a head where these are few, and the links of whole slices."""
    if not job.patterns and not whole:
        return None, None
    marked = np.zeros(tokens.sentences, bool)
    wanted = np.any(job.wanted, axis=0, keepdims=True)[0]
    size = kernels.mark_sentences(numbers.word, numbers.sentence, wanted, tokens.starts, marked)
    picked = not whole and size < WHOLE * len(tokens)
    some, places = tokens, np.arange(len(tokens), dtype=np.int32)
    if picked:
        some, places = pick_sentences(tokens, marked, size, shard.tagset)
    roles = shard.roles(some)
    links = roles.links()
    if not job.patterns:
        return None, links
    phrases = find_phrases(job, some, roles, links, lookup.targets(places), lookup.arguments(places))
    if picked:
        phrases = replace(phrases, own=np.append(places, np.int32(-1))[phrases.own])
    return phrases, links


def _word_items(numbers: _Numbers, what: Int32Array) -> _Items:
    """Sort the occurrences by their words, with ``what`` is to be known of the token of each."""
    counts = numbers.frequency
    ends = np.cumsum(counts)
    sentence, own = np.empty_like(numbers.sentence), np.empty_like(what)
    kernels.place_targets(numbers.word, numbers.sentence, what, ends - counts, sentence, own)
    present = np.flatnonzero(counts)
    starts = np.concatenate([[0], ends[present]]).astype(np.int64)
    return _Items(word_keys(present), np.zeros(len(present), np.int64), starts, sentence, own[:, None])


def _phrase_items(phrases: Phrases, tokens: Tokens, own: Int32Array) -> _Items:
    """Put the occurrences of each phrase together; they are sorted."""
    upper, lower = phrases.upper, phrases.lower
    new = np.ones(len(upper), bool)
    new[1:] = (upper[1:] != upper[:-1]) | (lower[1:] != lower[:-1])
    first = np.flatnonzero(new)
    sentence = np.searchsorted(tokens.starts, phrases.own[:, 0], side="right").astype(np.int32) - np.int32(1)
    starts = np.append(first, len(upper)).astype(np.int64)
    return _Items(upper[first], lower[first], starts, sentence, own)


# ---------------------------------------------------------------- contexts

Way = tuple[Callable[[_Items], int], Callable[..., int]]
"""How many cells items can have at most, and how to count them into the arrays that follow."""


def _way_of_counting(
    job: Job, tokens: Tokens, numbers: _Numbers, context: Int32Array, dependents: _Dependents | None, size: int
) -> Way:
    """Choose the loop for the kind of context."""
    start, listed = numbers.start, numbers.listed
    starts = tokens.starts
    if dependents is not None:
        links = dependents

        def bound_links(items: _Items) -> int:
            return kernels.bound_links(items.starts, items.own, links.start, size)

        def count_links(items: _Items, *out: Any) -> int:  # noqa: ANN401 - arrays
            return kernels.count_links(items.starts, items.own, links.start, links.other, links.column, *out)

        return bound_links, count_links

    def bound(items: _Items) -> int:
        return kernels.bound_sentences(items.starts, items.sentence, start, size)

    def count(items: _Items, *out: Any) -> int:  # noqa: ANN401 - arrays
        return kernels.count_sentences(items.starts, items.sentence, items.own, start, listed, *out)

    def count_windows(items: _Items, *out: Any) -> int:  # noqa: ANN401 - arrays
        shares = np.array(job.context.shares, np.int64)
        sides = job.context.left, job.context.right
        return kernels.count_windows(
            items.starts, items.sentence, items.own, context, starts, *sides, shares, *out
        )  # fmt: skip

    return bound, count if job.context.kind == "sentence" else count_windows


def _count(items: Sequence[_Items], way: Way, size: int, most: int) -> tuple[Int64Array, Int32Array, npt.NDArray[Any]]:
    """Count all items, one kind after the other, into common arrays; no cell can be larger than ``most``."""
    bound, count = way
    room = sum(bound(kind) for kind in items)
    kind_of_sum = np.int32 if most < 1 << 31 else np.int64
    columns, values = np.empty(room, np.int32), np.empty(room, kind_of_sum)
    bits = kernels.bit_words(size)
    row = (np.zeros(size, kind_of_sum), np.zeros(bits, np.uint64), np.zeros(kernels.bit_words(bits), np.uint64))
    ends, used = [np.empty(0, np.int64)], 0
    for kind in items:
        end = np.empty(len(kind.upper), np.int64)
        filled = count(kind, *row, columns[used:], values[used:], end)
        ends.append(end + used)
        used += filled
    return np.concatenate(ends), columns[:used], values[:used]


def _prepositions(tokens: Tokens, links: Links | None) -> tuple[tuple[str, ...], Int64Array]:
    """Find the prepositions of the links that have one: the words, and the number of each link's from 1."""
    assert links is not None
    column = words(tokens)
    with_one = (links.role == Role.OBLIQUE) & (links.marker >= 0)
    codes = np.where(with_one, np.append(column.codes, np.int32(-1))[links.marker], -1)
    distinct, inverse = np.unique(codes, return_inverse=True)
    strings = ["" if code < 0 else column.values[code].as_py() for code in distinct.tolist()]
    listed = tuple(sorted(set(strings) - {""}, key=str.encode))
    place = {word: i for i, word in enumerate(("", *listed))}
    return listed, np.array([place[word] for word in strings], np.int64)[inverse]


def _dependents(job: Job, links: Links | None, joint: Int64Array, context: Int32Array) -> _Dependents:
    """Make columns of links: role, direction, preposition and the word at the other end."""
    assert links is not None
    named = np.zeros(OF, bool)
    named[[number for number in ROLES.values() if number < OF]] = True
    chosen = named[links.role] & admitted(job.switches)[links.via]
    parts = []
    for source, other, inverse in ((links.predicate, links.argument, 0), (links.argument, links.predicate, 1)):
        which = np.flatnonzero(chosen & (context[other] >= 0))
        keys = column_keys(
            links.role[which], inverse, joint[which], context[other[which]]
        )  # fmt: skip
        parts.append((source[which], other[which], keys))
    source, other, keys = (np.concatenate([part[i] for part in parts]) for i in range(3))
    distinct, column = np.unique(keys, return_inverse=True)
    start, order = np.zeros(len(context) + 2, np.int64), np.empty(len(source), np.int64)
    kernels.group_links(source, start, order)
    return _Dependents(start[:-1], other[order], column[order].astype(np.int32), distinct)
