"""Words: how they are written (``dog-n``), in which order they stand, and lists of them in files.

>>> split_label("give_up-v"), split_label("dog")
(('give_up', 'v'), None)
>>> sorted(["dog-n", "bark-v", "cat-n"], key=order_of)
['cat-n', 'dog-n', 'bark-v']
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from composita.store.errors import InputError, UsageError

LETTERS = "nvarp"
"""Noun, verb, adjective, adverb, pronoun: the order in which words stand in every table."""

_COLUMNS = {
    "verb": "v", "landmark": "v", "subject": "n", "object": "n", "noun": "n", "subj": "n", "obj": "n",
    "adj_subj": "a", "adj_obj": "a", "adjective": "a",
}  # fmt: skip
"""The columns of the benchmarks' files that hold words."""


def split_label(label: str) -> tuple[str, str] | None:
    """Take a label apart into lemma and letter; None where it is no label."""
    lemma, dash, letter = label.rpartition("-")
    return (lemma, letter) if dash and lemma and len(letter) == 1 and letter in LETTERS else None


def order_of(label: str) -> tuple[int, bytes]:
    """Give the sort key of a label: nouns, verbs, adjectives, adverbs, pronouns, each by the bytes of the lemma."""
    return LETTERS.index(label[-1]), label[:-2].encode()


def check_label(label: str, where: str) -> str:
    """Give a label as it is, or say that it is none."""
    if split_label(label) is None:
        raise UsageError(f"{where}: expected a word such as dog-n or chase-v, got {label!r}")
    return label


def read_words(path: str | Path, *, bare: str = "", columns: str = "nva") -> list[str]:
    r"""Read the distinct words of a file, in their order.

    A list has one word a line, such as ``chase-v``; empty lines and lines that begin with ``#`` are skipped. A
    benchmark is known by its first line, which names columns such as ``verb``, ``landmark``, ``subject``, ``object``,
    ``noun``, ``adj_subj``.

    Parameters
    ----------
    path
        The file.
    bare
        The letter that a word without one gets; ``*`` to leave it as it is.
    columns
        The letters of the words that are taken from a benchmark.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "verbs.txt")
    >>> _ = path.write_text("chase\nbark-v\n")
    >>> read_words(path, bare="v")
    ['bark-v', 'chase-v']
    >>> read_words(path)
    Traceback (most recent call last):
    composita.store.errors.InputError: .../verbs.txt:1: expected one word such as chase-v, got 'chase'

    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8, found the byte {error.object[error.start]:#04x}", source=path) from None
    # Only line feeds end lines: stray carriage returns are stripped with the other blanks.
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1)]
    lines = [(number, line.lower()) for number, line in lines if line and not line.startswith("#")]
    places = (
        {place: _COLUMNS[name] for place, name in enumerate(lines[0][1].split()) if name in _COLUMNS} if lines else {}
    )
    if len(places) > 1:
        places = {place: letter for place, letter in places.items() if letter in columns}
        found = _of_benchmark(lines[1:], places, path)
    else:
        found = _of_list(lines, bare, path)
    if not found:
        raise InputError("no words in it: expected one a line, such as chase-v", source=path)
    return sorted(set(found), key=lambda word: order_of(word) if split_label(word) else (-1, word.encode()))


def _of_list(lines: list[tuple[int, str]], bare: str, path: str | Path) -> list[str]:
    found = []
    for number, line in lines:
        known = split_label(line) is not None or bare == "*"
        if len(line.split()) > 1 or not (known or bare):
            raise InputError(f"expected one word such as chase-v, got {line[:60]!r}", source=path, line=number)
        found.append(line if known else f"{line}-{bare}")
    return found


def _of_benchmark(lines: list[tuple[int, str]], places: dict[int, str], path: str | Path) -> list[str]:
    found = []
    for number, line in lines:
        cells = line.split()
        if len(cells) <= max(places, default=0):
            raise InputError(f"expected at least {max(places) + 1} columns, got {len(cells)}", source=path, line=number)
        found += [f"{cells[place]}-{letter}" for place, letter in places.items()]
    return found


def suggest(word: str, known: Iterable[str]) -> str:
    """Say which known words are like this one, for error messages; empty where none is.

    >>> suggest("chsae-v", ["chase-v", "dog-n"])
    '; did you mean chase-v?'
    """
    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.75)
    return f"; did you mean {' or '.join(near)}?" if near else ""
