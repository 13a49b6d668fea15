"""Synthetic text as a stream of blocks: skeletons from the grammar, filled with words by a compiled loop.

A few thousand sentences are drawn from the grammar once and written out in the format asked for, with gaps
where words of open classes are to come. Making text is then choosing a skeleton and filling its gaps, some
hundred nanoseconds a token. The numbers of every block come from the seed and the block's number alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from composita.corpus.output import replacing
from composita.corpus.synthetic.grammar import OPEN_CLASSES, Grammar, Slot
from composita.corpus.synthetic.malt import to_malt
from composita.corpus.synthetic.words import (
    CAPITAL,
    INFLECTIONS,
    LONGEST_WORD,
    Bytes,
    copy_bytes,
    letters,
    ranks,
    write_word,
)
from composita.store.errors import UsageError
from composita.store.kernels import kernel
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent

Int64Array = npt.NDArray[np.int64]

FORMATS = ("conllu", "conllx", "wacky")

SKELETONS = 4096
SENTENCES_A_BLOCK = 1024
SENTENCES_A_DOCUMENT = 32
LONGEST_SENTENCE = 120


@dataclass(frozen=True)
class Synthetic:
    """How much text was made."""

    tokens: int
    sentences: int
    bytes: int


@dataclass(frozen=True)
class Layout:
    """How a format writes a token around its form and lemma, and what stands around sentences."""

    before: Callable[[int, Slot], str]
    after: Callable[[int, Slot], str]
    # Before and behind the number of a document, the same for a sentence, end of sentence, end of document.
    frame: tuple[str, ...]
    numbered: bool  # whether sentences are
    malt: bool


LAYOUTS = {
    "conllu": Layout(
        lambda i, t: f"{i}\t",
        lambda i, t: f"\t{t.upos}\t{t.xpos}\t_\t{t.head}\t{t.relation}\t_\t_\n",
        ("# newdoc id = synthetic-", "\n", "# sent_id = synthetic-", "\n", "\n", ""),
        numbered=True,
        malt=False,
    ),
    "conllx": Layout(
        lambda i, t: f"{i}\t",
        lambda i, t: f"\t{t.xpos}\t{t.xpos}\t_\t{t.head}\t{t.relation}\t_\t_\n",
        ("", "", "", "", "\n", ""),
        numbered=False,
        malt=True,
    ),
    "wacky": Layout(
        lambda i, t: "",
        lambda i, t: f"\t{t.xpos}\t{i}\t{t.head}\t{t.relation}\n",
        ('<text id="synthetic:', '">\n', "<s>\n", "", "</s>\n", "</text>\n"),
        numbered=False,
        malt=True,
    ),
}


@dataclass(frozen=True)
class Skeletons:
    """Sentences with gaps: each is a run of steps, a step being a literal text and the gap behind it."""

    text: Bytes  # the literals, one after the other
    literal: Int64Array  # (steps + 1,) where each step's literal begins
    word: Int64Array  # (steps,) class of the gap behind the literal, -1 for none
    inflection: Int64Array  # (steps,)
    steps: Int64Array  # (skeletons + 1,) first step of each skeleton
    tokens: Int64Array  # (skeletons,)
    frame: Bytes
    frame_bounds: Int64Array
    numbered_documents: bool
    numbered_sentences: bool

    @property
    def longest(self) -> int:
        """Bytes that a sentence can take, with what stands around it."""
        first, last = self.steps[:-1], self.steps[1:]
        literal = self.literal[last] - self.literal[first]
        return int((literal + (last - first) * 2 * LONGEST_WORD).max()) + len(self.frame) + 64


@cache
def skeletons(layout: str) -> Skeletons:
    """Draw the sentences and write them out in a format."""
    form = LAYOUTS[layout]
    grammar = Grammar(seed=0)
    literals: list[str] = []
    gaps: list[tuple[int, int]] = []
    steps, tokens = [0], list[int]()
    while len(tokens) < SKELETONS:
        sentence = grammar.sentence()
        if len(sentence) > LONGEST_SENTENCE:
            continue
        pending = ""
        for i, slot in enumerate(to_malt(sentence) if form.malt else sentence, 1):
            pending += form.before(i, slot)
            if slot.form:
                # TreeTagger has one lemma for all numbers.
                lemma = "@card@" if form.malt and slot.xpos == "CD" else slot.lemma
                pending += f"{slot.form}\t{lemma}{form.after(i, slot)}"
            else:
                literals.append(pending)
                gaps.append((OPEN_CLASSES.index(slot.upos), _inflection(sentence[i - 1].xpos, first=i == 1)))
                pending = form.after(i, slot)
        literals.append(pending)
        gaps.append((-1, 0))
        steps.append(len(gaps))
        tokens.append(len(sentence))
    return _pack(form, literals, np.array(gaps, np.int64), steps, tokens)


def _inflection(tag: str, *, first: bool) -> int:
    return INFLECTIONS.get(tag, 0) | (CAPITAL if first else 0)


def _pack(form: Layout, literals: list[str], gaps: Int64Array, steps: list[int], tokens: list[int]) -> Skeletons:
    return Skeletons(
        np.frombuffer("".join(literals).encode(), np.uint8),
        np.cumsum([0, *map(len, literals)], dtype=np.int64),
        np.ascontiguousarray(gaps[:, 0]),
        np.ascontiguousarray(gaps[:, 1]),
        np.array(steps, np.int64),
        np.array(tokens, np.int64),
        np.frombuffer("".join(form.frame).encode(), np.uint8),
        np.cumsum([0, *map(len, form.frame)], dtype=np.int64),
        numbered_documents=bool(form.frame[0]),
        numbered_sentences=form.numbered,
    )


# The kernel's random numbers are SplitMix64 (Steele, Lea & Flood 2014): a counter and a mixing function.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@kernel
def _mix(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@kernel
def _write_number(number: int, out: Bytes, at: int) -> int:
    """Write a number in decimal digits."""
    size = 1
    while size * 10 <= number:
        size *= 10
    while size > 0:
        out[at] = 48 + number // size % 10
        at += 1
        size //= 10
    return at


@kernel
def _draw_rank(
    word: int,
    state: np.uint64,
    threshold: npt.NDArray[np.uint32],
    alias: npt.NDArray[np.uint16],
    start: Int64Array,
    width: Int64Array,
) -> int:
    """Draw a rank of a class by the alias tables; takes two steps of the generator."""
    bits = _mix(state + _GOLDEN)
    cell = np.int64(((bits >> _S32) * np.uint64(len(start))) >> _S32)
    if (bits & _LOW) >= np.uint64(threshold[word, cell]):
        cell = np.int64(alias[word, cell])
    if width[cell] == 1:
        return int(start[cell])
    within = ((_mix(state + _GOLDEN + _GOLDEN) >> _S32) * np.uint64(width[cell])) >> _S32
    return int(start[cell] + np.int64(within))


@kernel
def _write_block(
    key: np.uint64,
    first_sentence: int,
    wanted: int,
    literals: Bytes,
    literal: Int64Array,
    word: Int64Array,
    inflection: Int64Array,
    steps: Int64Array,
    lengths: Int64Array,
    frame: Bytes,
    frame_bounds: Int64Array,
    numbered_documents: bool,
    numbered_sentences: bool,
    threshold: npt.NDArray[np.uint32],
    alias: npt.NDArray[np.uint16],
    start: Int64Array,
    width: Int64Array,
    text: Bytes,
    bounds: Int64Array,
    out: Bytes,
) -> tuple[int, int, int]:
    """Write sentences until the block is full or has the tokens wanted; count bytes, tokens and sentences."""
    state = key
    at, tokens, sentences = 0, 0, 0
    while sentences < SENTENCES_A_BLOCK and tokens < wanted:
        number = first_sentence + sentences
        if number % SENTENCES_A_DOCUMENT == 0:
            if number > 0:
                at = copy_bytes(frame, frame_bounds[5], frame_bounds[6], out, at)
            at = copy_bytes(frame, frame_bounds[0], frame_bounds[1], out, at)
            if numbered_documents:
                at = _write_number(number // SENTENCES_A_DOCUMENT, out, at)
            at = copy_bytes(frame, frame_bounds[1], frame_bounds[2], out, at)
        at = copy_bytes(frame, frame_bounds[2], frame_bounds[3], out, at)
        if numbered_sentences:
            at = _write_number(number, out, at)
        at = copy_bytes(frame, frame_bounds[3], frame_bounds[4], out, at)
        state += _GOLDEN
        skeleton = np.int64(((_mix(state) >> _S32) * np.uint64(len(lengths))) >> _S32)
        for step in range(steps[skeleton], steps[skeleton + 1]):
            at = copy_bytes(literals, literal[step], literal[step + 1], out, at)
            if word[step] >= 0:
                rank = _draw_rank(word[step], state, threshold, alias, start, width)
                state += _GOLDEN + _GOLDEN
                at = write_word(word[step], rank, inflection[step], text, bounds, out, at)
                out[at] = 9
                at = write_word(word[step], rank, 0, text, bounds, out, at + 1)
        at = copy_bytes(frame, frame_bounds[4], frame_bounds[5], out, at)
        tokens += lengths[skeleton]
        sentences += 1
    return at, tokens, sentences


def _key(seed: int, block: int) -> np.uint64:
    """Say where the generator starts for a block: a hash, so that near seeds have nothing in common."""
    digest = hashlib.blake2b(f"{seed} {block}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def _blocks(tokens: int, seed: int, layout: str) -> Iterator[tuple[bytes, Synthetic]]:
    """Blocks, each with the totals up to its end."""
    if layout not in LAYOUTS:
        raise UsageError(f"unknown format of synthetic text {layout!r}: expected one of {', '.join(FORMATS)}")
    if tokens < 0:
        raise UsageError(f"the number of tokens is {tokens}, expected 0 or more")
    s, r, table = skeletons(layout), ranks(), letters()
    out = np.empty(SENTENCES_A_BLOCK * s.longest, np.uint8)
    done = Synthetic(0, 0, 0)
    block = 0
    while done.tokens < tokens:
        size, made, sentences = _write_block(
            _key(seed, block), done.sentences, tokens - done.tokens,
            s.text, s.literal, s.word, s.inflection, s.steps, s.tokens,
            s.frame, s.frame_bounds, s.numbered_documents, s.numbered_sentences,
            r.threshold, r.alias, r.start, r.width, table.text, table.bounds, out,
        )  # fmt: skip
        data = out[:size].tobytes()
        done = replace(done, tokens=done.tokens + made, sentences=done.sentences + sentences)
        if done.tokens >= tokens:
            data += LAYOUTS[layout].frame[5].encode()
        done = replace(done, bytes=done.bytes + len(data))
        yield data, done
        block += 1


def synthetic_blocks(tokens: int, seed: int = 0, format: str = "conllu") -> Iterator[bytes]:  # noqa: A002
    r"""Make parsed text of at least so many tokens, up to the end of a sentence, block by block.

    The same tokens and seed give the same bytes everywhere; a longer text of the same seed begins with the
    same sentences. ``format`` is conllu (Universal Dependencies, Penn tags), conllx or wacky (MaltParser's
    relations, TreeTagger's tags): the same sentences in each.

    >>> sum(block.count(b"\n\n") for block in synthetic_blocks(1000, seed=3))  # sentences
    51
    """
    for data, _ in _blocks(tokens, seed, format):
        yield data


def write_synthetic(
    path: Path | str,
    tokens: int,
    seed: int = 0,
    format: str = "conllu",  # noqa: A002 - the word of the command line
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Synthetic:
    """Write synthetic text to a file, compressed where its name ends in .gz or .zst.

    The file appears when it is whole; until then there is a file with ``.partial`` at the end of its name.
    """
    done = Synthetic(0, 0, 0)
    with replacing(Path(path)) as write:
        for data, done in _blocks(tokens, seed, format):
            check(cancel)
            write(data)
            progress(Progress("writing synthetic text", done.tokens, tokens, "tokens"))
    return done
