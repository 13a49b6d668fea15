r"""Word similarity: how well a space orders pairs of words as people do.

The files are those of MEN (``sun-n sunlight-n 50.0``, or without letters), SimLex-999 and SimVerb-3500 (tabs, with a
column for the part of speech), WordSim-353 (commas or tabs): two words, perhaps a part of speech, and the first number
of the line. What a space lacks is left out and counted. The interval is of a bootstrap over the pairs.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp(), "small.txt")
>>> _ = path.write_text("dog-n cat-n 9\ndog-n car-n 1\ncat-n car-n 2\ndog-n unicorn-n 3\n")
>>> from composita.spaces.space import Space
>>> space = Space.from_vectors(["dog-n", "cat-n", "car-n"], np.array([[1, 0.1], [1, 0.3], [0, 1]]))
>>> score = WordPairs.read(path).score(space)
>>> score.rho, score.covered, score.pairs
(1.0, 3, 4)
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from composita.counting.words import LETTERS, split_label
from composita.store.errors import InputError, UsageError

if TYPE_CHECKING:
    from composita.spaces.space import Space

Float64Array = npt.NDArray[np.float64]

DRAWS = 1000
_TAGS = {"n": "n", "nn": "n", "noun": "n", "v": "v", "vb": "v", "verb": "v", "a": "a", "j": "a", "jj": "a", "adj": "a",
         "r": "r", "rb": "r", "adv": "r"}  # fmt: skip


class Score(NamedTuple):
    """How well a space did."""

    rho: float  # Spearman's correlation over the pairs covered; NaN for fewer than 3
    low: float  # where 95 of 100 draws of pairs lie
    high: float
    covered: int
    pairs: int
    missing: tuple[str, ...]  # words that the space lacks


@dataclass(frozen=True)
class WordPairs:
    """Pairs of words with their ratings."""

    name: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    ratings: Float64Array

    @classmethod
    def read(cls, path: str | Path) -> WordPairs:
        """Read a file of word pairs."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise InputError(f"expected UTF-8, found the byte {error.object[error.start]:#04x}", source=path) from None
        rows = [(number, _cells(line)) for number, line in enumerate(text.splitlines(), 1) if _is_content(line)]
        if rows and _rating(rows[0][1]) is None:
            rows = rows[1:]  # names of columns
        if not rows:
            raise InputError("no pairs in it: expected lines such as 'sun-n sunlight-n 50.0'", source=path)
        left: list[str] = []
        right: list[str] = []
        ratings: list[float] = []
        for number, cells in rows:
            rating = _rating(cells)
            if len(cells) < 3 or rating is None:
                raise InputError(
                    f"expected two words and a number, got {' '.join(cells)[:60]!r}", source=path, line=number
                )  # fmt: skip
            letter = _TAGS.get(cells[2].lower())
            for words, word in ((left, cells[0]), (right, cells[1])):
                words.append(_label(word, letter))
            ratings.append(rating)
        return cls(_name(path), tuple(left), tuple(right), np.array(ratings))

    def __len__(self) -> int:
        return len(self.ratings)

    def rows(self, space: Space) -> npt.NDArray[np.int64]:
        """Find the rows of both words of each pair in a space, -1 for what it lacks: (pairs, 2).

        A word without a letter is the most frequent of those that are spelt so; one with a letter is found without it
        in a space whose words have none.
        """
        found: dict[str, int] = {}
        for word in (*self.left, *self.right):
            if word not in found:
                found[word] = _row(space, word)
        return np.array([[found[a], found[b]] for a, b in zip(self.left, self.right, strict=True)], np.int64)

    def score(self, space: Space, *, measure: str = "cosine", draws: int = DRAWS, seed: int = 0) -> Score:
        """Correlate the similarities of a space with the ratings."""
        rows = self.rows(space)
        known = (rows >= 0).all(axis=1)
        values = np.full(len(self), np.nan)
        if known.any():
            values[known] = space.similarity_of(rows[known], measure)
        missing = {
            word
            for place, pair in enumerate(zip(self.left, self.right, strict=True))
            for word, row in zip(pair, rows[place], strict=True)
            if row < 0
        }
        return self.of(values, draws=draws, seed=seed, missing=tuple(sorted(missing)))

    def of(self, values: Float64Array, *, draws: int = DRAWS, seed: int = 0, missing: tuple[str, ...] = ()) -> Score:
        """Correlate numbers, NaN where there is none, with the ratings."""
        known = np.isfinite(values)
        x, y = values[known], self.ratings[known]
        rho = spearman(x, y)
        random = np.random.default_rng(seed)
        places = random.integers(0, max(1, len(x)), (draws if len(x) > 2 else 0, len(x)))
        drawn = np.array([spearman(x[place], y[place]) for place in places])
        drawn = drawn[np.isfinite(drawn)]
        low, high = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (np.nan, np.nan)
        return Score(rho, float(low), float(high), int(known.sum()), len(self), missing)


def spearman(x: Float64Array, y: Float64Array) -> float:
    """Compute Spearman's correlation, with mean ranks for ties; NaN where one of them is constant.

    >>> round(spearman(np.array([1.0, 2, 2, 4]), np.array([1.0, 3, 2, 9])), 4)
    0.9487
    """
    from scipy.stats import rankdata

    if len(x) < 3:
        return float("nan")
    a, b = rankdata(x) - (len(x) + 1) / 2, rankdata(y) - (len(y) + 1) / 2
    below = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / below) if below > 0 else float("nan")


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _cells(line: str) -> list[str]:
    """Part a line at tabs, commas or blanks, the first of these that it has."""
    for sign in ("\t", ","):
        if sign in line:
            try:
                cells = next(csv.reader([line], delimiter=sign))
            except csv.Error:  # a cell of some hundred thousand letters
                cells = line.split(sign)
            return [cell.strip() for cell in cells]
    return line.split()


def _rating(cells: Sequence[str]) -> float | None:
    """Give the first number behind the two words."""
    for cell in cells[2:]:
        try:
            value = float(cell)
        except ValueError:
            continue
        return value if np.isfinite(value) else None
    return None


def _label(word: str, letter: str | None) -> str:
    """Write a word as we do; MEN's ``-j`` is our ``-a``."""
    plain = word.lower()
    if plain.endswith("-j"):
        return f"{plain[:-2]}-a"
    if split_label(plain) is not None:
        return plain
    return f"{plain}-{letter}" if letter else plain


def _row(space: Space, word: str) -> int:
    """Find a word: as it is, with any letter, or without its own."""
    spelt = [word] if split_label(word) else [word, *(f"{word}-{letter}" for letter in LETTERS)]
    if space.items.plain is not None and split_label(word):
        spelt.append(word[:-2])
    rows: list[Any] = [row for label in spelt for pattern, row in space.items.candidates(label) if pattern == "word"]
    return max(rows, key=lambda row: (space.frequency[row], -row)) if rows else -1


def _name(path: Path) -> str:
    known = {
        "men_dataset": "men",
        "simlex": "simlex",
        "simverb": "simverb",
        "wordsim": "wordsim",
        "combined": "wordsim",
    }
    return next((name for start, name in known.items() if path.name.lower().startswith(start)), path.stem)


def find_pairs(name: str) -> Path:
    """Give the file of word pairs: a path, or a name that `composita data` knows."""
    path = Path(name)
    if path.exists():
        return path
    if path.suffix or path.parent != Path():
        raise UsageError(f"cannot read {name}: no such file")
    from importlib import import_module

    try:
        registry = import_module("composita.evaluation.registry")
    except ImportError:
        raise UsageError(f"cannot read {name}: no such file") from None
    found: Path = registry.local_file(name)
    return found
