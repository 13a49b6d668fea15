"""What methods predict for a benchmark: the likeness of the two phrases of each item.

>>> import numpy as np
>>> from composita.evaluation.formats import Item
>>> from composita.functions.lexicon import Lexicon
>>> lexicon = Lexicon.from_vectors({"dog-n": np.array([1.0, 2.0]), "cat-n": np.array([2.0, 1.0])})
>>> item = Item(Phrase("dog-n"), Phrase("cat-n"), "dog cat")
>>> predict(METHODS["add"], lexicon, [item]).similarity.round(3)
array([0.8])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from composita.composition.methods import METHODS
from composita.evaluation.benchmarks import Benchmark
from composita.evaluation.formats import AND, Item, is_text
from composita.evaluation.statistics import FloatArray, IntArray
from composita.grammar.phrase import Phrase
from composita.store.errors import CompositaError

if TYPE_CHECKING:
    from composita.composition.meanings import Meanings
    from composita.composition.method import Method
    from composita.functions.lexicon import Lexicon

SAME = 1e-12
"""Cosines nearer to 1 than this are 1: sums of the same words in another order differ by rounding only, and ranks of
rounding are no predictions."""

__all__ = ["METHODS", "Prediction", "predict", "predict_ranking", "read_sentences"]


@dataclass(frozen=True)
class Prediction:
    """What one method says of all items.

    Parameters
    ----------
    similarity
        For each item the likeness of its phrases, NaN where there is none; in a ranking that of each item with each
        term, (terms, items).
    reasons
        For each item without a prediction, why.
    notes
        For each item that was composed with less than the method asks for, what was done instead.
    warnings
        What is doubtful about all of them.

    """

    similarity: FloatArray
    reasons: dict[int, str] = field(default_factory=dict)
    notes: dict[int, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def predict(method: Method, lexicon: Lexicon, items: Sequence[Item], *, back_off: bool = True) -> Prediction:
    """Compose both phrases of each item and compare them.

    A coordination of sentences is the sum of their meanings.
    """
    meanings, places = _composed(method, lexicon, items, back_off)
    similarity = np.full(len(items), np.nan)
    left, right = ([[places[part] for part in _parts(p)] for p in side] for side in _sides(items))
    plain = np.array([n for n in range(len(items)) if len(left[n]) == len(right[n]) == 1], np.int64)
    first, second = (meanings.take([parts[n][0] for n in plain.tolist()]) for parts in (left, right))
    similarity[plain] = first.similarity(second)
    reasons = {int(plain[n]): reason for n, reason in first.obstacles(second).items()}
    for number in sorted(set(range(len(items))) - set(plain.tolist())):
        similarity[number] = _of_sums(meanings, left[number], right[number])
        blocked = [meanings.reasons[i] for i in (*left[number], *right[number]) if i in meanings.reasons]
        if np.isnan(similarity[number]):
            reasons[number] = blocked[0] if blocked else "its parts cannot be compared"
    notes = {
        n: tuple(dict.fromkeys(note for i in (*left[n], *right[n]) for note in meanings.notes.get(i, ())))
        for n in range(len(items))
    }
    said = {n: noted for n, noted in notes.items() if noted}
    return Prediction(_without_rounding(similarity), reasons, said, meanings.warnings)


def _without_rounding(similarity: FloatArray) -> FloatArray:
    """Take what is the same but for rounding as the same."""
    return np.where(np.abs(similarity) > 1 - SAME, np.sign(similarity), similarity)


def predict_ranking(
    method: Method, lexicon: Lexicon, benchmark: Benchmark, *, back_off: bool = True
) -> Prediction:  # fmt: skip
    """Compare each description with each term, (terms, items)."""
    meanings, places = _composed(method, lexicon, benchmark.items, back_off)
    descriptions = [places[item.left] for item in benchmark.items]
    terms = [places[Phrase(term)] for term in benchmark.groups]
    similarity = np.full((len(terms), len(descriptions)), np.nan)
    for row, term in enumerate(terms):
        similarity[row] = meanings.take([term] * len(descriptions)).similarity(meanings.take(descriptions))
    reasons = {n: meanings.reasons[i] for n, i in enumerate(descriptions) if i in meanings.reasons}
    notes = {n: meanings.notes[i] for n, i in enumerate(descriptions) if i in meanings.notes}
    for number in np.flatnonzero(np.isnan(similarity).all(axis=0)).tolist():
        reasons.setdefault(number, f"{method.name} makes what cannot be compared with a word")
    return Prediction(_without_rounding(similarity), reasons, notes, meanings.warnings)


def _sides(items: Sequence[Item]) -> tuple[list[Phrase], list[Phrase]]:
    return [item.left for item in items], [item.right for item in items]


def _parts(phrase: Phrase) -> tuple[Phrase, ...]:
    """Give the sentences of a coordination."""
    return phrase.arguments if phrase.head == AND and phrase.arguments else (phrase,)


def _composed(
    method: Method, lexicon: Lexicon, items: Sequence[Item], back_off: bool
) -> tuple[Meanings, dict[Phrase, int]]:
    """Compose every distinct phrase once."""
    distinct = dict.fromkeys(part for item in items for phrase in (item.left, item.right) for part in _parts(phrase))
    places = {phrase: number for number, phrase in enumerate(distinct)}
    return method.compose(lexicon, list(distinct), back_off=back_off), places


def _of_sums(meanings: Meanings, left: list[int], right: list[int]) -> float:
    """Compute the cosine of two sums by the inner products of their parts."""

    def inner(mine: list[int], theirs: list[int]) -> float:
        pairs: IntArray = np.array([(i, j) for i in mine for j in theirs])
        cosines = meanings.take(pairs[:, 0]).similarity(meanings.take(pairs[:, 1]))
        return float((cosines * meanings.lengths[pairs[:, 0]] * meanings.lengths[pairs[:, 1]]).sum())

    size = inner(left, left) * inner(right, right)
    return float(np.clip(inner(left, right) / np.sqrt(size), -1, 1)) if size > 0 else float("nan")


def read_sentences(
    benchmark: Benchmark, read: Callable[[str], Phrase]
) -> tuple[Benchmark, dict[str, str]]:  # fmt: skip
    """Read the running text of a benchmark; give it, and for each sentence that could not be read why."""
    unread: dict[str, str] = {}

    def attempt(text: str) -> Phrase | None:
        try:
            return read(text)
        except CompositaError as error:
            unread[text] = str(error)
            return None

    return benchmark.parsed(attempt), unread


def unread_reasons(items: Sequence[Item], unread: dict[str, str]) -> dict[int, str]:
    """Say of each item with a sentence that could not be read why."""
    found: dict[int, str] = {}
    for number, item in enumerate(items):
        for phrase in (item.left, item.right):
            if is_text(phrase) and phrase.head in unread:
                found.setdefault(number, f"not read: {unread[phrase.head]}")
    return found
