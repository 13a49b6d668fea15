"""How well what was planted is found again.

A learner's space has other axes than the planted one, so the two are aligned first: one linear map, the same for all
words, from the vectors of attested phrases in the learner's space to the meanings that were planted for them. Then
each word's learned function is applied to arguments *that the text never shows it with*, and the aligned results are
compared with the planted meanings, after taking off the mean of each, so that being right on average counts for
nothing.

The floor is what the same comparison gives with the planted meanings shuffled among the arguments of the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from composita.corpus.miniature.planting import FloatArray, Truth
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.functions.lexicon import Lexicon

UNSEEN = 400
"""With how many combinations of arguments a word is tried at most."""

RIDGE = 1e-3


class Recovered(NamedTuple):
    """How well one word was found again.

    ``cosine`` compares what is meant with what was learned, over arguments that the text does not show the word with,
    both centred: 1 is perfect, ``floor`` is chance. ``method`` says how meanings were composed.
    """

    word: str
    arity: int
    method: str
    attested: int
    unseen: int
    cosine: float
    floor: float


def recovery(lexicon: Lexicon, truth: Truth, method: str = "learned") -> list[Recovered]:
    """Compare each planted tensor with the function that was learned for its word.

    Parameters
    ----------
    lexicon
        What was learned from the miniature text.
    truth
        What was planted, as `write_miniature` gives it.
    method
        The method that composes: ``learned`` for the lexicon's own functions, or any other, for comparison.

    """
    from composita.composition.methods import method_named
    from composita.grammar.phrase import Phrase

    if not truth.attested:
        raise UsageError("expected the truth that write_miniature returns, which knows what the text shows")
    composer, random = method_named(method), np.random.default_rng([truth.seed, 6])
    words = [(word, arity) for word, arity in truth.tensors if word in lexicon.ids]
    tried = {key: _unseen(truth, key, random) for key in words}
    phrases = [
        Phrase(word, tuple(map(Phrase, arguments))) for (word, arity), each in tried.items() for arguments in each
    ]
    found = composer.compose(lexicon, phrases, back_off=False)
    if any(form != "vector" for form in found.forms.values()):
        raise UsageError(f"{method} gives matrices here: what was planted are vectors; choose another method")
    vectors = found.vectors.astype(np.float64)
    align = _alignment(lexicon, truth)
    rows, first = [], 0
    for word, arity in words:
        arguments = tried[word, arity]
        mine, first = vectors[first : first + len(arguments)], first + len(arguments)
        if len(mine) < 2 or np.isnan(mine).any():
            continue
        planted = np.array([truth.compose(word, *each) for each in arguments])
        learned = _unit(mine) @ align
        rows.append(Recovered(
            word, arity, composer.name, len(truth.attested[word, arity]), len(arguments), _centred(learned, planted),
            _centred(learned, planted[random.permutation(len(planted))]),
        ))  # fmt: skip
    return rows


def _unseen(truth: Truth, key: tuple[str, int], random: np.random.Generator) -> list[tuple[str, ...]]:
    """Choose combinations of different nouns that the text does not have."""
    nouns, arity = list(truth.nouns), key[1]
    seen = truth.attested.get(key, frozenset())
    every: Sequence[tuple[str, ...]]
    if arity < 3:
        every = [each for each in product(nouns, repeat=arity) if len(set(each)) == arity and each not in seen]
    else:
        drawn = random.integers(len(nouns), size=(4 * UNSEEN, arity)).tolist()
        named = dict.fromkeys(tuple(nouns[i] for i in each) for each in drawn)
        every = [each for each in named if len(set(each)) == arity and each not in seen]
    return [every[i] for i in random.permutation(len(every))[:UNSEEN].tolist()]


def _alignment(lexicon: Lexicon, truth: Truth) -> FloatArray:
    """Fit the linear map from the learner's space to the planted one, on the phrases that the text shows."""
    space, rows, outputs = lexicon.space, list[int](), list[FloatArray]()
    words = space.words
    for pattern in ("sv", "svo", "svoo", "an"):
        if pattern not in {known.name for known in space.items.names.patterns}:
            continue
        phrases = space.phrases(pattern)
        for row, head, numbers in zip(phrases.rows, phrases.heads, phrases.arguments.tolist(), strict=True):
            arguments = tuple(words[number] for number in numbers)
            if arguments in truth.attested.get((words[head], len(arguments)), ()):
                rows.append(int(row))
                outputs.append(truth.compose(words[head], *arguments))
    if not rows:
        raise UsageError("this lexicon has no phrases of the miniature text")
    x, y = _unit(space.take(np.array(rows)).astype(np.float64)), np.array(outputs)
    gram = x.T @ x
    gram[np.diag_indices(len(gram))] += RIDGE * np.trace(gram) / len(gram)
    return np.linalg.solve(gram, x.T @ y).astype(np.float64)


def _unit(rows: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def _centred(left: FloatArray, right: FloatArray) -> float:
    """Compute the cosine of two tables, the mean row taken off each."""
    left, right = left - left.mean(axis=0), right - right.mean(axis=0)
    size = np.sqrt((left * left).sum() * (right * right).sum())
    return float((left * right).sum() / size) if size > 0 else float("nan")
