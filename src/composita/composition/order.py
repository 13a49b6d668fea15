"""Word order: whether a method knows who did what to whom.

Each sentence, such as *pandas eat bamboo*, is composed as it is and with its arguments exchanged, *bamboo eats
pandas*. The *gap* is 1 minus the cosine of the two: 0 says that the method cannot tell them apart. Where the sentence
is attested in the corpus it has a vector of its own, and a method is *right* where the true order is nearer to that
vector than the exchanged one; ties count one half, so 0.5 is chance.

The attested sentences that are asked about are not learned from: the functions of their verbs are learned anew without
them, and so is whatever a method fits to all phrases. (Relational methods never see the vectors of phrases, but they
leave out these pairs as well.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from composita.composition.ground import Ground
from composita.composition.meanings import Meanings, Vectors
from composita.composition.method import Method
from composita.composition.rows import Float64Array, IntArray
from composita.grammar.phrase import Phrase
from composita.store.engine import one_blas_thread
from composita.store.errors import InputError, UsageError
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent

if TYPE_CHECKING:
    from composita.functions.lexicon import Lexicon

TIE = 1e-6
"""Cosines that differ by less are the same."""


@dataclass(frozen=True)
class OrderRow:
    """What a method made of sentences and of what they are with their arguments exchanged.

    Parameters
    ----------
    method, title
        The method.
    sentences, composed
        How many there are, and how many it composed in both orders.
    gap
        The mean of 1 minus the cosine of both orders; None where nothing was composed.
    compared
        How many of them are attested and gave vectors of the space, so that `right` could be found.
    right
        How often the true order is nearer to the attested phrase than the other; ties count one half.
    interval
        Where that lies with 95% confidence, by the bootstrap over sentences.
    note
        Why there are no figures, or what was done for want of something.

    """

    method: str
    title: str
    sentences: int
    composed: int
    gap: float | None
    compared: int
    right: float | None
    interval: tuple[float, float] | None
    note: str = ""


@dataclass(frozen=True)
class OrderTest:
    """The sentences, and a row for each method."""

    sentences: tuple[Phrase, ...]
    swapped: tuple[Phrase, ...]
    attested: IntArray
    held_out: bool
    rows: tuple[OrderRow, ...]
    gaps: dict[str, Float64Array]


def swap(phrase: Phrase) -> Phrase:
    """Exchange the first and the last argument.

    >>> swap(Phrase.parse("eat-v(bamboo-n, panda-n)")).display()
    'bamboo eat panda'
    """
    if phrase.arity < 2:
        raise UsageError(f"{phrase.display()!r} has no two arguments to exchange")
    first, *others, last = phrase.arguments
    return Phrase(phrase.head, (last, *others, first))


def attested_sentences(
    lexicon: Lexicon | Ground, *, pattern: str = "svo", count: int = 500, per_head: int = 20, min_frequency: int = 2
) -> list[Phrase]:
    """Choose attested phrases of a pattern, the most frequent first, that mean something in the other order too.

    Their arguments are two different nouns of the core (no names, no pronouns), and the phrase with the arguments
    exchanged was not attested as often. At most ``per_head`` are of one head; where the lexicon has functions of the
    pattern, only of heads that have one.
    """
    ground = Ground.of(lexicon)
    if pattern not in ground.patterns:
        raise UsageError(
            f"the space has no phrases of the pattern {pattern!r}: choose {', '.join(ground.patterns) or 'none'}"
        )
    words, learned = ground.lexicon.words, set(ground.lexicon.heads(pattern))
    nouns = _core_nouns(ground)
    found: list[tuple[int, int, str, tuple[int, ...]]] = []
    for head, phrases in ground.attested(pattern, seen=False).items():
        if learned and head not in learned:
            continue
        frequency = {tuple(ids): f for ids, f in zip(phrases.ids.tolist(), phrases.frequency.tolist(), strict=True)}
        mine = [
            (-f, ids)
            for ids, f in frequency.items()
            if f >= min_frequency and len(ids) > 1 and ids[0] != ids[-1] and {ids[0], ids[-1]} <= nouns
            and frequency.get((ids[-1], *ids[1:-1], ids[0]), 0) < f
        ]  # fmt: skip
        found += [(f, place, head, ids) for place, (f, ids) in enumerate(sorted(mine)[:per_head])]
    chosen = sorted(found)[:count]
    return [Phrase(head, tuple(Phrase(words[i]) for i in ids)) for _, _, head, ids in chosen]


def _core_nouns(ground: Ground) -> set[int]:
    space, ids = ground.space, ground.lexicon.ids
    core = np.asarray(space.core)
    places = zip(space.words, space.word_rows.tolist(), strict=True)
    return {ids[word] for word, row in places if row >= 0 and core[row] and word.endswith("-n") and word in ids}


@one_blas_thread
def word_order(
    lexicon: Lexicon,
    sentences: Sequence[Phrase],
    methods: Sequence[Method],
    *,
    hold_out: bool = True,
    resamples: int = 2000,
    seed: int = 0,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> OrderTest:
    """Compose sentences in both orders by each method.

    Parameters
    ----------
    lexicon
        Vectors and functions.
    sentences
        Phrases of two arguments or more.
    methods
        The methods.
    hold_out
        Whether attested ones among the sentences are left out of what is learned from.
    resamples, seed
        For the bootstrap.
    progress, cancel
        See `composita.store.progress`.

    """
    sentences = tuple(sentences)
    if not sentences:
        raise UsageError("no sentences to test: expected at least one with a subject and an object")
    swapped = tuple(map(swap, sentences))
    ground = Ground.of(lexicon)
    attested = np.array([ground.row_of(phrase) for phrase in sentences])
    without = set(attested[attested >= 0].tolist()) if hold_out else set()
    standing = Ground(lexicon, without) if without else ground
    draws = np.random.default_rng(seed).integers(0, len(sentences), (resamples, len(sentences)))
    rows, gaps = [], {}
    for done, method in enumerate(methods):
        check(cancel)
        progress(Progress("word order", done, len(methods), "methods"))
        both = method.compose(standing, sentences), method.compose(standing, swapped)
        row, gaps[method.name] = _row(method, ground, both, attested, draws)
        rows.append(row)
    progress(Progress("word order", len(methods), len(methods), "methods"))
    return OrderTest(sentences, swapped, attested, bool(without), tuple(rows), gaps)


def _row(
    method: Method, ground: Ground, both: tuple[Meanings, Meanings], attested: IntArray, draws: IntArray
) -> tuple[OrderRow, Float64Array]:
    true, other = both
    gaps = 1 - true.similarity(other)
    known = np.flatnonzero(np.isfinite(gaps))
    right = np.full(len(gaps), np.nan)
    compared = known[attested[known] >= 0]
    if len(compared) and all(isinstance(v, Vectors) and v.form[2] == ground.lexicon.dimensions for _, v in true.groups):
        phrases = tuple(true.phrases[i] for i in compared.tolist())
        own = Meanings(
            "attested", phrases, ((np.arange(len(compared)), Vectors(ground.rows_of_space[attested[compared]])),)
        )
        ahead = true.take(compared).similarity(own) - other.take(compared).similarity(own)
        right[compared] = np.where(np.isnan(ahead), np.nan, np.where(np.abs(ahead) < TIE, 0.5, ahead > 0))
    judged = int(np.isfinite(right).sum())
    reasons = list({**true.reasons, **other.reasons}.values())
    note = reasons[0] if reasons and not len(known) else ""
    if len(known) and not judged:
        note = (
            "matrices: no vectors to compare with attested phrases" if method.result == "matrix" else "none is attested"
        )
    return OrderRow(
        method.name, method.title, len(gaps), len(known), float(gaps[known].mean()) if len(known) else None, judged,
        float(np.nanmean(right)) if judged else None, _interval(right, draws) if judged else None, note,
    ), gaps  # fmt: skip


def _interval(right: Float64Array, draws: IntArray) -> tuple[float, float]:
    known, values = np.isfinite(right), np.nan_to_num(right)
    counts = known[draws].sum(axis=1)
    means = values[draws].sum(axis=1)[counts > 0] / counts[counts > 0]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def read_sentences(path: Path) -> list[str]:
    """Read sentences or phrases, one a line; empty lines and those that begin with # are passed over."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"expected text in UTF-8: {error.reason}", source=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=path) from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
