"""The text of the miniature world: which sentences are written, and the context words of each.

Each context word of a sentence is drawn by the sentence's meaning: first a topic by the composed meaning, then a word
of this topic, those named first more often; some words are noise. This is the assumption of distributional semantics
taken at its word, which no real text keeps so well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from composita.corpus.miniature.planting import FloatArray, Truth
from composita.corpus.miniature.sentences import Noun, Token, nominal, verbal
from composita.corpus.miniature.words import (
    ADJECTIVES,
    DITRANSITIVE,
    INTRANSITIVE,
    NOISE,
    TOPICS,
    TRANSITIVE,
    Verb,
)

NOISY = 0.15  # of the context words
WITH_ADJECTIVE = 0.08  # of the arguments of verbs
PASSIVE = 0.2  # of the transitive sentences
TO = 0.5  # of the ditransitive sentences: give a book to the girl, beside give the girl a book
CONTEXT = 12  # words a sentence


class Frame(NamedTuple):
    """How many argument combinations each verb of an arity is written with, and how often each.

    ``usual`` is how many different nouns there are in each place of argument; 0 is for all. What is given, and to
    whom, repeats itself, so that a regression for each pair of these has examples to learn from.
    """

    arity: int
    combinations: int
    times: int
    usual: tuple[int, ...]


FRAMES = (Frame(1, 44, 4, (0,)), Frame(2, 180, 2, (0, 0)), Frame(3, 300, 2, (12, 5, 0)))
NOUN_SENTENCES = 20  # of each noun alone
ADJECTIVE_NOUNS, ADJECTIVE_TIMES = 40, 3  # of each adjective


class _Hearing:
    """Draws the words in which meanings are heard."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.words = [line.split() for line in TOPICS.values()]
        self.noise = [word for line in NOISE.values() for word in line.split()]
        # Words of a topic are of unequal frequency, as words are.
        weights = 1 / (3 + np.arange(len(self.words[0])))
        self.shares = np.cumsum(weights / weights.sum())

    def context(self, meaning: FloatArray) -> list[str]:
        chance, topic, word = self.random.random((3, CONTEXT))
        topics = np.searchsorted(np.cumsum(meaning)[:-1], topic)
        ranks = np.searchsorted(self.shares[:-1], word)
        return [
            self.noise[int(w * len(self.noise))] if c < NOISY else self.words[t][r]
            for c, t, r, w in zip(chance.tolist(), topics.tolist(), ranks.tolist(), word.tolist(), strict=True)
        ]


def sentences(truth: Truth) -> tuple[list[list[Token]], Truth]:
    """Write the sentences of a world, and say with which arguments each word was written."""
    random = np.random.default_rng([truth.seed, 2])
    hearing, nouns = _Hearing(random), [label[:-2] for label in truth.nouns]
    attested: dict[tuple[str, int], set[tuple[str, ...]]] = {}
    found = [*_nominal(truth, hearing, nouns, attested)]
    for verbs, frame in zip((INTRANSITIVE, TRANSITIVE, DITRANSITIVE), FRAMES, strict=True):
        for name, verb in verbs.items():
            for chosen in _combinations(random, len(nouns), frame):
                arguments = [nouns[i] for i in chosen]
                attested.setdefault((f"{name}-v", frame.arity), set()).add(tuple(f"{a}-n" for a in arguments))
                found += [_verbal(truth, hearing, name, verb, arguments) for _ in range(frame.times)]
    random.shuffle(found)
    return found, replace(truth, attested={key: frozenset(each) for key, each in attested.items()})


def _nominal(
    truth: Truth, hearing: _Hearing, nouns: list[str], attested: dict[tuple[str, int], set[tuple[str, ...]]]
) -> Iterator[list[Token]]:
    for noun in nouns:
        for _ in range(NOUN_SENTENCES):
            yield nominal(Noun(noun), hearing.context(truth.nouns[f"{noun}-n"]))
    for adjective in ADJECTIVES:
        head = f"{adjective}-a"
        for place in hearing.random.permutation(len(nouns))[:ADJECTIVE_NOUNS].tolist():
            attested.setdefault((head, 1), set()).add((f"{nouns[place]}-n",))
            meaning = truth.compose(head, f"{nouns[place]}-n")
            for _ in range(ADJECTIVE_TIMES):
                yield nominal(Noun(nouns[place], adjective), hearing.context(meaning))


def _combinations(random: np.random.Generator, nouns: int, frame: Frame) -> list[tuple[int, ...]]:
    """Choose argument combinations, those of different nouns; some nouns are more usual than others with a verb."""
    usual = random.dirichlet(np.full(nouns, 0.8), frame.arity)
    for share, size in zip(usual, frame.usual, strict=True):
        if size:
            share[:] = 0
            share[random.permutation(nouns)[:size]] = 1 / size
    chosen: dict[tuple[int, ...], None] = {}
    while len(chosen) < frame.combinations:
        drawn = tuple(int(random.choice(nouns, p=share)) for share in usual)
        if len(set(drawn)) == len(drawn):
            chosen[drawn] = None
    return list(chosen)


def _verbal(truth: Truth, hearing: _Hearing, name: str, verb: Verb, arguments: list[str]) -> list[Token]:
    random, said, meanings = hearing.random, [], []
    for noun in arguments:
        adjective = ADJECTIVES[int(random.random() * len(ADJECTIVES))] if random.random() < WITH_ADJECTIVE else ""
        said.append(Noun(noun, adjective))
        vector = truth.nouns[f"{noun}-n"]
        meanings.append(truth.compose(f"{adjective}-a", vector) if adjective else vector)
    context = hearing.context(truth.compose(f"{name}-v", *meanings))
    if len(arguments) == 2 and random.random() < PASSIVE:
        return verbal((name, verb.participle), said, context=context, passive=True)
    with_to = len(arguments) == 3 and random.random() < TO
    return verbal((name, verb.past), said, context=context, with_to=with_to)
