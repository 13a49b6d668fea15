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


def read_words(path: str | Path, letter: str = "") -> list[str]:
    """Read the distinct words of a file, in the order of their labels, or of one part of speech only.

    A list has one word a line, ``chase-v``, or ``chase`` where ``letter`` says what it is; empty lines and lines that begin
    with ``#`` are skipped. A benchmark is known by its first line, which names columns such as ``verb``, ``landmark``,
    ``subject``, ``object``, ``noun``, ``adj_subj``.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "verbs.txt")
    >>> _ = path.write_text("chase\\ndog-n\\nbark-v\\n")
    >>> read_words(path, "v"), read_words(path.with_name("none.txt"))
    Traceback (most recent call last):
    composita.store.errors.UsageError: cannot read .../none.txt: No such file or directory
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8, found the byte {error.object[error.start]:#04x}", source=path) from None
    # Only line feeds end lines: stray carriage returns are stripped with the other blanks.
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    columns = {place: _COLUMNS[name] for place, name in enumerate(lines[0][1].split()) if name in _COLUMNS} if lines else {}
    found = _of_benchmark(lines, columns, path) if len(columns) > 1 else _of_list(lines, letter, path)
    words = sorted(set(found), key=order_of)
    words = [word for word in words if not letter or word[-1] == letter]
    if not words:
        raise InputError("no words in it: expected one a line, such as chase-v", source=path)
    return words


def _of_list(lines: list[tuple[int, str]], letter: str, path: str | Path) -> list[str]:
    found = []
    for number, line in lines:
        label = line.lower() if split_label(line.lower()) or not letter else f"{line.lower()}-{letter}"
        if split_label(label) is None or len(line.split()) > 1:
            raise InputError(f"expected one word such as chase-v, got {line[:60]!r}", source=path, line=number)
        found.append(label)
    return found


def _of_benchmark(lines: list[tuple[int, str]], columns: dict[int, str], path: str | Path) -> list[str]:
    found = []
    for number, line in lines[1:]:
        cells = line.lower().split()
        if len(cells) <= max(columns):
            raise InputError(f"expected at least {max(columns) + 1} columns, got {len(cells)}", source=path, line=number)
        found += [f"{cells[place]}-{letter}" for place, letter in columns.items()]
    return found


def suggest(word: str, known: Iterable[str]) -> str:
    """Say which known words are like this one, for error messages; empty where none is.

    >>> suggest("chsae-v", ["chase-v", "dog-n"])
    '; did you mean chase-v?'
    """
    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.75)
    return f"; did you mean {' or '.join(near)}?" if near else ""
