"""What is planted: a vector for each noun, and a tensor for each verb and adjective.

A meaning is a distribution over topics: a vector of shares that sum to 1. A tensor maps such vectors to such a vector,
multilinearly; each of its columns (one for each topic of each argument) is such a vector itself. The columns of a verb
with two senses are, for the topics that select a sense, nearly those of the landmark of this sense:

>>> truth = plant(seed=0)
>>> truth.tensors["charge-v", 2].shape  # sentence, subject, object
(10, 10, 10)
>>> fires, faces = truth.nouns["fire-n"], truth.nouns["face-n"]
>>> glow, burn, beam = (truth.tensors[verb, 1] for verb in ("glow-v", "burn-v", "beam-v"))
>>> bool(cosine(glow @ fires, burn @ fires) > 0.8 > cosine(glow @ fires, beam @ fires))
True
>>> bool(cosine(glow @ faces, beam @ faces) > 0.8 > cosine(glow @ faces, burn @ faces))
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from composita.corpus.miniature.words import (
    ADJECTIVES,
    DITRANSITIVE,
    INTRANSITIVE,
    NOUNS,
    TOPICS,
    TRANSITIVE,
    Verb,
    topic_numbers,
)

FloatArray = npt.NDArray[np.float64]

MAIN, SECOND = 0.72, 0.2  # shares of a noun's two topics; the rest is its own
SPARSE = 0.12  # of the Dirichlet distribution of columns: most of a column is one topic, a little another
SENSES = 0.65, 0.45  # how much of a verb's columns is the sense, the stronger one first
ELSEWHERE = 0.4  # how much of a landmark's columns is its sense where the verb has another
TOGETHER = 0.4  # how much of a column is of all arguments together, rather than of each alone
SHARED = 0.85  # how much a verb and the landmark of the sense have in common
PASSED = 0.2  # how much of the arguments' own meaning is in a phrase's


@dataclass(frozen=True)
class Truth:
    """What was planted, and which argument combinations the text shows.

    Parameters
    ----------
    seed
        From which everything was drawn.
    nouns
        The vector of each noun, (topics,).
    tensors
        For each word and arity the tensor, with the axes of the paper: the first argument applied is the last axis.
    attested
        For each word and arity the arguments it was written with, in order of application.

    """

    seed: int
    nouns: Mapping[str, FloatArray]
    tensors: Mapping[tuple[str, int], FloatArray]
    attested: dict[tuple[str, int], frozenset[tuple[str, ...]]] = field(default_factory=dict)

    def compose(self, head: str, *arguments: str | FloatArray) -> FloatArray:
        """Apply a word to its arguments, nouns or meanings, in order of application.

        >>> truth = plant(seed=0)
        >>> round(float(truth.compose("charge-v", "wolf-n", truth.compose("angry-a", "judge-n")).sum()), 6)
        1.0
        """
        meaning = self.tensors[head, len(arguments)]
        for argument in arguments:
            meaning = meaning @ (self.nouns[argument] if isinstance(argument, str) else argument)
        return meaning


def cosine(left: FloatArray, right: FloatArray) -> float:
    """Compute the cosine of two vectors."""
    return float(left @ right / np.sqrt((left @ left) * (right @ right)))


def plant(seed: int = 0) -> Truth:
    """Draw the vectors and tensors."""
    random = np.random.default_rng([seed, 1])
    nouns = {
        f"{noun}-n": _noun(main, second, random)
        for main, line in NOUNS.items()
        for noun, second in (pair.split(":") for pair in line.split())
    }
    tensors: dict[tuple[str, int], FloatArray] = {}
    for arity, verbs in enumerate((INTRANSITIVE, TRANSITIVE, DITRANSITIVE), 1):
        for name, verb in verbs.items():
            if verb.senses or arity == 3:
                tensors |= _family(name, verb, arity, random)
    tensors |= {(f"{adjective}-a", 1): _columns(1, random) for adjective in ADJECTIVES}
    return Truth(seed, nouns, {key: _pass_on(columns) for key, columns in tensors.items()})


def _noun(main: str, second: str, random: np.random.Generator) -> FloatArray:
    own = random.dirichlet(np.full(len(TOPICS), 0.3))
    vector = (1 - MAIN - SECOND) * own
    vector[topic_numbers(main)] += MAIN
    vector[topic_numbers(second)] += SECOND
    return vector


def _columns(arity: int, random: np.random.Generator) -> FloatArray:
    """Draw a tensor: sentence, then the arguments, the first one applied last."""
    topics = len(TOPICS)
    drawn = random.dirichlet(np.full(topics, SPARSE), topics**arity)  # (columns, sentence)
    columns = np.ascontiguousarray(drawn.T).reshape((topics,) * (arity + 1))
    if arity == 1:
        return columns
    # What each argument does alone, so that a few hundred sentences are enough to learn from.
    alone = [_along(random.dirichlet(np.full(topics, SPARSE), topics).T, axis, arity) for axis in range(1, arity + 1)]
    return TOGETHER * columns + (1 - TOGETHER) * sum(alone, np.zeros(1)) / arity


def _along(columns: FloatArray, axis: int, arity: int) -> FloatArray:
    """Let columns stand for the topics of one argument, whatever the others are."""
    return np.expand_dims(columns, tuple(other for other in range(1, arity + 1) if other != axis))


def _family(name: str, verb: Verb, arity: int, random: np.random.Generator) -> dict[tuple[str, int], FloatArray]:
    """Draw the tensors of a verb and of the landmarks of its senses.

    What a sense means is much the same for all that select it, and akin to them. A landmark means it elsewhere too, but
    less; where its sense is selected it is nearly the verb's own.
    """
    columns, found = _columns(arity, random), {}
    senses = []
    for (_, selecting), share in zip(verb.senses, SENSES, strict=False):
        sense = 0.5 * random.dirichlet(np.full(len(TOPICS), SPARSE))
        sense += 0.5 * np.eye(len(TOPICS))[topic_numbers(selecting)].mean(axis=0)
        senses.append(sense.reshape((-1,) + (1,) * arity))
        chosen = _selected(verb, selecting, arity)
        columns[chosen] = share * senses[-1] + (1 - share) * columns[chosen]
    for (landmark, selecting), sense in zip(verb.senses, senses, strict=True):
        own = ELSEWHERE * sense + (1 - ELSEWHERE) * _columns(arity, random)
        chosen = _selected(verb, selecting, arity)
        own[chosen] = SHARED * columns[chosen] + (1 - SHARED) * own[chosen]
        found[f"{landmark}-v", arity] = own
    return {(f"{name}-v", arity): columns} | found


def _selected(verb: Verb, selecting: str, arity: int) -> tuple[slice | list[int], ...]:
    """Index the columns of the topics that select a sense."""
    places: list[slice | list[int]] = [slice(None)] * (arity + 1)
    places[1 if verb.selector == "subject" else arity] = topic_numbers(selecting)
    return tuple(places)


def _pass_on(columns: FloatArray) -> FloatArray:
    """Mix in the arguments' own meaning."""
    topics, arity = len(columns), columns.ndim - 1
    passed = np.zeros_like(columns)
    for axis in range(1, arity + 1):
        passed += _along(np.eye(topics), axis, arity) / arity
    return (1 - PASSED) * columns + PASSED * passed
