"""Made-up words: how often each is used, and how it is spelled.

*Frequency.* A word is a class and a rank, from 0 up to 2^31. As in natural text (Gerlach & Altmann,
Stochastic Model for the Vocabulary Growth in Natural Languages, 2013) its frequency falls as 1 / rank up to
the size of a kernel vocabulary, then as 1 / rank^1.75, so that the vocabulary never stops growing with the
text. Ranks are drawn by the alias method over the first ranks one by one and over blocks of later ranks,
each 1/16 further out than the one before: 26 KB of tables a class, whatever the vocabulary.

*Spelling.* The rank is written in syllables as a number is in digits, so that frequent words are short and
no table of words is needed; the ending tells the class, so that no two classes share a word.

>>> [spell("NOUN", rank) for rank in (0, 1, 1000, 1_000_000)], spell("NOUN", 1, "NNS")
(['nivek', 'nizom', 'froklivek', 'fregrenivek'], 'nizoms')
>>> [spell("VERB", 6, tag) for tag in ("VB", "VBZ", "VBD", "VBN", "VBG")]
['vezad', 'vezads', 'vezaded', 'vezaded', 'vezading']
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from composita.corpus.synthetic.grammar import OPEN_CLASSES
from composita.store.kernels import kernel

Bytes = npt.NDArray[np.uint8]

KERNEL_VOCABULARY = {"NOUN": 3000, "VERB": 700, "ADJ": 1500, "ADV": 250, "PROPN": 7000}
"""The rank of each class from which on frequencies fall faster."""

FLATTENING = {"NOUN": 12.0, "VERB": 8.0, "ADJ": 8.0, "ADV": 4.0, "PROPN": 60.0}
"""Mandelbrot's addition to the rank: names have no very frequent member, adverbs have."""

SINGLE_RANKS = 4096
LAST_RANK = 1 << 31

ONSETS = (
    "b",
    "d",
    "f",
    "g",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "t",
    "v",
    "z",
    "br",
    "dr",
    "fr",
    "gr",
    "kl",
    "pl",
    "sp",
)
SYLLABLES = [onset + vowel for onset in ONSETS for vowel in "aeiou"]
ENDINGS = {
    "NOUN": ("vek", "zom", "gub", "jin"),
    "VERB": ("dov", "mik", "zad", "rulk"),
    "ADJ": ("vosh", "dral", "nix", "mup"),
    "ADV": ("voshly", "drally", "nixly", "muply"),
    "PROPN": ("vorn", "dax", "zoth", "quil"),
}
LONGEST_WORD = 32
"""No word with its inflection has more letters: at most five syllables of three."""

INFLECTIONS = {
    "NNS": 1, "VBZ": 1, "VBD": 2, "VBN": 3, "VBG": 4, "JJR": 5, "JJS": 6,
}  # fmt: skip
"""Code of the ending that a tag asks for; other tags ask for none."""
STRONG = 5  # verbs of the last ending are strong: rulkt, rulken
SUFFIXES = ("", "s", "ed", "ed", "ing", "er", "est", "t", "en")
CAPITAL = 16
"""Added to the inflection of a word that opens a sentence."""


@dataclass(frozen=True)
class Ranks:
    """Alias tables for drawing ranks, one row a class."""

    threshold: npt.NDArray[np.uint32]  # (classes, cells) stay in the cell below this
    alias: npt.NDArray[np.uint16]  # (classes, cells) the other cell
    start: npt.NDArray[np.int64]  # (cells,) first rank
    width: npt.NDArray[np.int64]  # (cells,) number of ranks


@cache
def ranks() -> Ranks:
    """Make the tables, by operations that IEEE arithmetic rounds alike on every machine."""
    bounds = list(range(SINGLE_RANKS))
    while bounds[-1] < LAST_RANK:
        bounds.append(bounds[-1] + max(1, bounds[-1] // 16))
    edges = np.array(bounds, np.int64)
    start, width = edges[:-1], edges[1:] - edges[:-1]
    middle = start + (width + 1) / 2
    tables = [_alias(width * _frequency(middle, word)) for word in OPEN_CLASSES]
    return Ranks(np.stack([t for t, _ in tables]), np.stack([a for _, a in tables]), start, width)


def _frequency(rank: npt.NDArray[np.float64], word: str) -> npt.NDArray[np.float64]:
    # x^0.75 as two square roots: `pow` may differ in the last bit from one machine to the next.
    shifted = rank + FLATTENING[word]
    beyond = np.maximum(1.0, shifted / KERNEL_VOCABULARY[word])
    root = np.sqrt(beyond)
    return np.asarray(1.0 / (shifted * root * np.sqrt(root)))


def _alias(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint16]]:
    """Vose's alias tables: a cell is drawn uniformly, and kept or exchanged for its alias."""
    n = len(weights)
    scaled = (weights * (n / np.cumsum(weights)[-1])).tolist()
    small = [i for i, w in enumerate(scaled) if w < 1]
    large = [i for i, w in enumerate(scaled) if w >= 1]
    keep, alias = [1.0] * n, list(range(n))
    while small and large:
        low, high = small.pop(), large[-1]
        keep[low], alias[low] = scaled[low], high
        scaled[high] -= 1.0 - scaled[low]
        if scaled[high] < 1:
            small.append(large.pop())
    threshold = np.minimum(np.floor(np.array(keep) * 2.0**32), 2.0**32 - 1)
    return threshold.astype(np.uint32), np.array(alias, np.uint16)


@dataclass(frozen=True)
class Letters:
    """The strings that words are made of, as bytes with bounds."""

    text: Bytes
    bounds: npt.NDArray[np.int64]  # syllables, then four endings a class, then suffixes


@cache
def letters() -> Letters:
    """Make the table that `write_word` reads."""
    endings = [ending for word in OPEN_CLASSES for ending in ENDINGS[word]]
    strings = [*SYLLABLES, *endings, *SUFFIXES]
    bounds = np.cumsum([0, *map(len, strings)], dtype=np.int64)
    return Letters(np.frombuffer("".join(strings).encode(), np.uint8), bounds)


_SYLLABLES = len(SYLLABLES)
_ENDINGS_AT = _SYLLABLES
_SUFFIXES_AT = _SYLLABLES + 4 * len(OPEN_CLASSES)
_VERB, _NAME = OPEN_CLASSES.index("VERB"), OPEN_CLASSES.index("PROPN")


@kernel
def copy_bytes(source: Bytes, start: int, end: int, out: Bytes, at: int) -> int:
    """Copy a stretch of bytes; returns where it ends."""
    for i in range(start, end):
        out[at + i - start] = source[i]
    return at + end - start


@kernel
def write_word(
    word: int, rank: int, inflection: int, text: Bytes, bounds: npt.NDArray[np.int64], out: Bytes, at: int
) -> int:
    """Spell a word in some inflection into ``out`` at ``at``; returns where it ends."""
    first = at
    number = rank // 4
    size = _SYLLABLES
    while number >= size:  # words of one syllable come first, then those of two, ...
        number -= size
        size *= _SYLLABLES
    # Neighbours in rank should not look alike; the factor has no divisor in common with a power of the base.
    number = (number * 7919 + 37) % size
    while size > 1:
        size //= _SYLLABLES
        syllable = number // size % _SYLLABLES
        at = copy_bytes(text, bounds[syllable], bounds[syllable + 1], out, at)
    ending = _ENDINGS_AT + word * 4 + rank % 4
    at = copy_bytes(text, bounds[ending], bounds[ending + 1], out, at)
    suffix = inflection & 15
    if word == _VERB and rank % 4 == 3 and (suffix == 2 or suffix == 3):
        suffix += STRONG
    at = copy_bytes(text, bounds[_SUFFIXES_AT + suffix], bounds[_SUFFIXES_AT + suffix + 1], out, at)
    if word == _NAME or inflection & 16:
        out[first] -= 32
    return at


def spell(upos: str, rank: int, tag: str = "") -> str:
    """Spell the word of a class and rank, in the inflection of a tag."""
    out = np.zeros(LONGEST_WORD, np.uint8)
    table = letters()
    end = write_word(OPEN_CLASSES.index(upos), rank, INFLECTIONS.get(tag, 0), table.text, table.bounds, out, 0)
    return out[:end].tobytes().decode()
