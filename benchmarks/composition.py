"""Composing 10,000 transitive sentences and comparing them, by several methods, against one sentence at a time.

The lexicon is made up: 50 verbs, each with 60 objects of 15 subjects, over 2,000 nouns, at 300 dimensions. Loading is
not timed; reading functions from the lexicon is, in what is called the first time.

Besides, how long a lexicon of 10,000 functions takes to open, and a sentence of the English fragment to be parsed, with
all its derivations, where each word can be two. For parsing there is no alternative with meanings: the time stands
against the goal.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.measure import REPEAT, Row, best
from composita.composition.methods import METHODS
from composita.counting.keys import pack, word_keys
from composita.counting.labels import Names
from composita.counting.patterns import load_patterns
from composita.functions.learn import learn
from composita.functions.lexicon import Lexicon
from composita.functions.multistep import MultiStep
from composita.functions.onestep import OneStep
from composita.grammar.grammar import Grammar
from composita.grammar.phrase import Phrase
from composita.spaces.items import Items
from composita.spaces.space import Space

NOUNS, VERBS, OBJECTS, SUBJECTS, DIMENSIONS, SENTENCES = 2000, 50, 60, 15, 300, 10_000
GOAL = f"at least {SENTENCES // 2:,}/s"
ONE_BY_ONE = 200
FUNCTIONS, OPENING, PARSING = 10_000, 0.5, 0.05
SENTENCE = "old men that see young women sing songs and books"
FORMS = {
    "old": ["old-a", "old-n"], "men": ["man-n", "man-v"], "see": ["see-v", "see-n"], "young": ["young-a", "young-n"],
    "women": "woman-n", "sing": "sing-v", "songs": "song-n", "books": ["book-n", "book-v"],
}  # fmt: skip


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
    return [*rows, open_many(), parse_one()]


def open_many() -> Row:
    """Open a lexicon of very many functions, against reading all that it holds."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lexicon"
        learn(make_space(FUNCTIONS, 3, 2, dimensions=50), learner=OneStep(), patterns="svo", out=path)
        assert len(Lexicon.open(path)) == FUNCTIONS
        ours, theirs = best(lambda: Lexicon.open(path), lambda: Lexicon.open(path).in_memory())
    what, goal = f"opening {FUNCTIONS:,} functions", f"below {1000 * OPENING:.0f} ms"
    return Row(what, 1000 * ours, "ms", "reading all", 1000 * theirs, theirs / ours, goal)


def parse_one() -> Row:
    """Parse a sentence of ten words, and work out the meaning of each derivation."""
    english = Grammar.load("english")
    count = len(english.derivations(SENTENCE, FORMS))
    (ours,) = best(lambda: english.derivations(SENTENCE, FORMS))
    what = f"parsing {len(SENTENCE.split())} words, {count} derivations"
    return Row(what, 1000 * ours, "ms", "the goal", 1000 * PARSING, PARSING / ours, f"below {1000 * PARSING:.0f} ms")


def make_lexicon() -> Lexicon:
    """Make a lexicon of random vectors; the numbers are positive, so that all methods apply."""
    return learn(make_space(VERBS, OBJECTS, SUBJECTS), learner=MultiStep(), patterns="svo")


def make_space(verbs: int, objects: int, subjects: int, dimensions: int = DIMENSIONS) -> Space:
    """Make a space of so many verbs, each with so many objects of so many subjects."""
    rng = np.random.default_rng(0)
    words = tuple([f"noun{n:04d}-n" for n in range(NOUNS)] + [f"verb{n:03d}-v" for n in range(verbs)])
    names = Names(words, load_patterns("svo"), ())
    count = verbs * objects * subjects
    arguments = np.full((count, 4), -1)
    arguments[:, 0] = np.repeat(rng.integers(0, NOUNS, verbs * objects), subjects)
    arguments[:, 1] = rng.integers(0, NOUNS, count)
    heads = np.repeat(NOUNS + np.arange(verbs), objects * subjects)
    upper, lower = pack(np.ones(count, np.int64), heads, np.zeros(count, np.int64), arguments)
    keys = np.unique(np.stack([upper, lower], axis=1), axis=0)
    items = Items(names, np.append(word_keys(np.arange(len(words))), keys[:, 0]),
                  np.append(np.zeros(len(words), np.int64), keys[:, 1]))  # fmt: skip
    vectors = np.abs(rng.normal(size=(len(items), dimensions))).astype(np.float32)
    frequency, nonzeros = np.ones(len(items), np.int64), np.full(len(items), 100, np.int32)
    return Space(items, vectors, items.fields.pattern == 0, frequency, nonzeros, source="vectors")


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
