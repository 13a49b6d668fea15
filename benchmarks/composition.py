"""Composing 10,000 transitive sentences and comparing them, by several methods, against one sentence at a time.

The lexicon is made up: 50 verbs, each with 60 objects of 15 subjects, over 2,000 nouns, at 300 dimensions. Loading is
not timed; reading functions from the lexicon is, in what is called the first time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.measure import REPEAT, Row, best
from composita.composition.methods import METHODS
from composita.counting.keys import pack, word_keys
from composita.counting.labels import Names
from composita.counting.patterns import load_patterns
from composita.functions.learn import learn
from composita.functions.lexicon import Lexicon
from composita.functions.multistep import MultiStep
from composita.grammar.phrase import Phrase
from composita.spaces.items import Items
from composita.spaces.space import Space

NOUNS, VERBS, OBJECTS, SUBJECTS, DIMENSIONS, SENTENCES = 2000, 50, 60, 15, 300, 10_000
GOAL = f"at least {SENTENCES // 2:,}/s"
ONE_BY_ONE = 200


def run() -> list[Row]:
    """Measure the methods of the goal, and some of each family."""
    lexicon = make_lexicon()
    phrases = make_sentences()
    rows = []
    for name in ("regression", "regression+head", "add", "multiply", "kronecker", "relational", "frobenius-add"):
        once = _first(lexicon, name, phrases)
        ours, theirs = best(
            lambda name=name: together(lexicon, name, phrases),  # type: ignore[misc]
            lambda name=name: one_by_one(lexicon, name, phrases[:ONE_BY_ONE]),  # type: ignore[misc]
            repeat=max(2, REPEAT // 2),
        )
        speed, slow = len(phrases) / ours, ONE_BY_ONE / theirs
        goal = GOAL if name.startswith("regression") else ""
        what = f"{name}: compose and compare {len(phrases):,} (the first time {len(phrases) / once:,.0f}/s)"
        rows.append(Row(what, speed, "sentences/s", "one by one", slow, speed / slow, goal))
    return rows


def make_lexicon() -> Lexicon:
    """Make a lexicon of random vectors; the numbers are positive, so that all methods apply."""
    rng = np.random.default_rng(0)
    words = tuple([f"noun{n:04d}-n" for n in range(NOUNS)] + [f"verb{n:03d}-v" for n in range(VERBS)])
    names = Names(words, load_patterns("svo"), ())
    count = VERBS * OBJECTS * SUBJECTS
    arguments = np.full((count, 4), -1)
    arguments[:, 0] = np.repeat(rng.integers(0, NOUNS, VERBS * OBJECTS), SUBJECTS)
    arguments[:, 1] = rng.integers(0, NOUNS, count)
    heads = np.repeat(NOUNS + np.arange(VERBS), OBJECTS * SUBJECTS)
    upper, lower = pack(np.ones(count, np.int64), heads, np.zeros(count, np.int64), arguments)
    keys = np.unique(np.stack([upper, lower], axis=1), axis=0)
    items = Items(names, np.append(word_keys(np.arange(len(words))), keys[:, 0]),
                  np.append(np.zeros(len(words), np.int64), keys[:, 1]))  # fmt: skip
    vectors = np.abs(rng.normal(size=(len(items), DIMENSIONS))).astype(np.float32)
    frequency, nonzeros = np.ones(len(items), np.int64), np.full(len(items), 100, np.int32)
    space = Space(items, vectors, items.fields.pattern == 0, frequency, nonzeros, source="vectors")
    return learn(space, learner=MultiStep(), patterns="svo")


def make_sentences() -> list[Phrase]:
    """Make sentences of the words of the lexicon."""
    rng = np.random.default_rng(1)
    numbers = zip(rng.integers(0, VERBS, SENTENCES), rng.integers(0, NOUNS, (SENTENCES, 2)), strict=True)
    return [Phrase(f"verb{v:03d}-v", (Phrase(f"noun{o:04d}-n"), Phrase(f"noun{s:04d}-n"))) for v, (o, s) in numbers]


def together(lexicon: Lexicon, name: str, phrases: list[Phrase]) -> object:
    """Compose all sentences, and compare each with the next."""
    meanings = METHODS[name].compose(lexicon, phrases)
    return meanings.similarity(meanings.take(np.roll(np.arange(len(phrases)), -1)))


def one_by_one(lexicon: Lexicon, name: str, phrases: list[Phrase]) -> object:
    """Compose each sentence and the next by themselves, and compare the two."""
    method = METHODS[name]
    return [
        method.compose(lexicon, [phrase]).similarity(method.compose(lexicon, [other]))
        for phrase, other in zip(phrases, [*phrases[1:], phrases[0]], strict=True)
    ]


def _first(lexicon: Lexicon, name: str, phrases: list[Phrase]) -> float:
    return timed(lambda: together(lexicon, name, phrases))


def timed(work: Callable[[], object]) -> float:
    """Give the seconds that something takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
