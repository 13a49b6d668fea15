r"""File formats of parsed text: which column is what, and where a sentence ends.

>>> FORMATS["wacky"].columns
('form', 'lemma', 'xpos', 'index', 'head', 'relation')
>>> guess_format(b"<text id='1'>\n<s>\nDogs\tdog\tNNS\t1\t2\tSBJ\n", "sample").name
'wacky'
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from composita.store.errors import InputError, UsageError


@dataclass(frozen=True)
class Format:
    """The layout of a format: tab-separated columns, one token a line."""

    name: str
    columns: tuple[str, ...]
    fewest: int  # a line may have this many columns up to all of them
    boundary: re.Pattern[bytes] = field(repr=False)  # matches what ends a sentence, to its last byte
    comments: bool = False  # a line that begins with '#' is a comment
    markup: bool = False  # sentences stand between <s> and </s>
    subtokens: bool = False  # there are ranges (2-3) and empty nodes (2.1), to be skipped
    dirty: bool = False  # known to have broken lines: skip them unless told otherwise


LOOKED_AT = 1 << 16
"""Bytes by which a format is told."""

# Of several blank lines the first ends the sentence: then ends never overlap, and nothing before the sentence matters.
_BLANK_LINE = re.compile(rb"[^\r\n]\r{0,8}\n\r{0,8}\n")
_END_TAG = re.compile(rb"(?<![^\n])</s>[^\t\n]{0,40}\n")
_CONLL = ("index", "form", "lemma", "upos", "xpos", "feats", "head", "relation")

FORMATS = {
    form.name: form
    for form in (
        Format("conllu", (*_CONLL, "deps", "misc"), 10, _BLANK_LINE, comments=True, subtokens=True),
        Format("conllx", (*_CONLL, "phead", "prelation"), 8, _BLANK_LINE),
        Format(
            "wacky",
            ("form", "lemma", "xpos", "index", "head", "relation"),
            6,
            _END_TAG,
            markup=True,
            dirty=True,
        ),
    )
}

_MARKUP = re.compile(rb"\s*</?(text|s)[\s>]")
_NUMBERED = re.compile(rb"\d+\t[^\t]*\t")
_SUBTOKEN = re.compile(rb"\d+[-.]\d+\t")
_WORD_FIRST = re.compile(rb"([^\t]*\t){3}\d+\t\d+\t[^\t]*")


def find_format(name: str) -> Format:
    """Return the format of this name."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}: choose one of auto, {', '.join(FORMATS)}, text")
    return FORMATS[name]


def guess_format(sample: bytes, source: str) -> Format:
    """Tell the format from the first lines of a source.

    WaCky files open with markup, or with the word in the first of six columns. Where token numbers stand in the
    first, comments, ranges or universal parts of speech in ten columns mean CoNLL-U, anything else CoNLL-X.
    """
    start = sample[:LOOKED_AT]
    lines = [line.rstrip(b"\r") for line in start.split(b"\n")[:-1] or [start]]
    lines = [line for line in lines if line]
    if _MARKUP.match(start) or (lines and _WORD_FIRST.fullmatch(lines[0])):
        return FORMATS["wacky"]
    tokens = [line for line in lines if not line.startswith(b"#")]
    subtokens = any(_SUBTOKEN.match(line) for line in tokens)
    numbered = sum(1 for line in tokens if _NUMBERED.match(line) or _SUBTOKEN.match(line))
    if 2 * numbered > len(tokens):  # a broken line is the reader's business
        universal = subtokens or len(tokens) < len(lines) or _looks_universal(tokens)
        return FORMATS["conllu" if universal else "conllx"]
    begins = f"it begins with {lines[0][:60].decode('utf-8', 'replace')!r}" if lines else "its first lines are empty"
    raise InputError(
        f"this is not a format of parsed text that composita knows; {begins}; columns "
        f"must be separated by tabs; if it is one all the same, pass --format {', '.join(FORMATS)} or text",
        source=source,
        line=1,
    )


_UPOS = frozenset(b"ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _".split())


def _looks_universal(tokens: list[bytes]) -> bool:
    """Whether the lines have ten columns and universal parts of speech."""
    rows = [token.split(b"\t") for token in tokens]
    return 2 * sum(len(row) == 10 and row[3] in _UPOS for row in rows) > len(rows)
