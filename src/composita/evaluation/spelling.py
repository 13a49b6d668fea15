"""Words of benchmarks that a corpus spells otherwise or has under another lemma.

Files have *papers*, *behaviour*, *sniffing* where a corpus may have only *paper*, *behavior*, *sniff*. A word is
exchanged only where that is asked for, the lexicon lacks it, and has another spelling of it; what was exchanged is
told.

>>> list(candidates("behaviour-n"))
['behavior-n']
>>> exchange(["papers-n", "behaviour-n", "dog-n"], {"paper-n", "dog-n"})
{'papers-n': 'paper-n'}
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from composita.counting.words import split_label
from composita.grammar.phrase import Phrase
from composita.store.errors import InputError, UsageError

VARIANTS = (
    ("our", "or"), ("tre", "ter"), ("ence", "ense"), ("ise", "ize"), ("yse", "yze"), ("isation", "ization"),
    ("ogue", "og"), ("elled", "eled"), ("elling", "eling"), ("eller", "eler"), ("amme", "am"), ("lment", "llment"),
)  # fmt: skip
"""Endings of British and American spelling; each is exchanged both ways."""

WORDS = (
    ("grey", "gray"), ("tyre", "tire"), ("kerb", "curb"), ("plough", "plow"), ("sceptic", "skeptic"),
    ("aluminium", "aluminum"), ("pyjamas", "pajamas"), ("jewellery", "jewelry"), ("cheque", "check"),
    ("storey", "story"), ("mould", "mold"), ("draught", "draft"), ("licence", "license"), ("practise", "practice"),
    ("aeroplane", "airplane"), ("manoeuvre", "maneuver"), ("tonne", "ton"), ("disc", "disk"),
)  # fmt: skip
"""Whole words, likewise both ways."""

IRREGULAR = {
    "men": "man", "women": "woman", "children": "child", "teeth": "tooth", "feet": "foot", "mice": "mouse",
    "lives": "life", "wives": "wife", "knives": "knife", "leaves": "leaf", "wolves": "wolf", "data": "datum",
    "media": "medium", "criteria": "criterion",
}  # fmt: skip


def candidates(label: str) -> Iterator[str]:
    """Give other spellings and lemmas of a word, the likeliest first; most of them are no words at all."""
    parts = split_label(label)
    if parts is None:
        return
    lemma, letter = parts
    found: dict[str, None] = {}
    for british, american in WORDS:
        found |= {american: None} if lemma == british else {british: None} if lemma == american else {}
    for british, american in VARIANTS:
        for old, new in ((british, american), (american, british)):
            if lemma.endswith(old) and len(lemma) > len(old) + 2 and not (old == "or" and lemma.endswith("our")):
                found.setdefault(lemma[: -len(old)] + new)
    for other in (*_lemmas(lemma), lemma.replace("-", "_"), lemma.replace("-", ""), lemma.replace("_", "-")):
        found.setdefault(other)
    found.pop(lemma, None)
    yield from (f"{other}-{letter}" for other in found if other)


def _lemmas(lemma: str) -> Iterator[str]:
    """Take off the endings of plurals, participles and past tenses."""
    if lemma in IRREGULAR:
        yield IRREGULAR[lemma]
    if lemma.endswith("ies") and len(lemma) > 4:
        yield lemma[:-3] + "y"
    if lemma.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        yield lemma[:-2]
    # Mathematics is no mathematic.
    if lemma.endswith("s") and not lemma.endswith(("ss", "ics", "us", "is")) and len(lemma) > 3:
        yield lemma[:-1]
    for ending in ("ing", "ed"):
        if lemma.endswith(ending) and len(lemma) > len(ending) + 2:
            stem = lemma[: -len(ending)]
            yield stem
            if stem[-1] == stem[-2]:
                yield stem[:-1]
            yield stem + "e"


def exchange(words: Iterable[str], known: Collection[str], table: Mapping[str, str] | None = None) -> dict[str, str]:
    """Find for each word that is not known another spelling that is: by a table of one's own, or else by rule."""
    found: dict[str, str] = {}
    for word in words:
        if word not in known:
            own = [table[word]] if table and word in table else []
            found |= next(({word: other} for other in (*own, *candidates(word)) if other in known), {})
    return found


def respelled(exchanged: Mapping[str, str]) -> Callable[[Phrase], Phrase]:
    """Make the function that exchanges words in a phrase.

    >>> print(respelled({"papers-n": "paper-n"})(Phrase.parse("write-v(papers-n, student-n)")))
    write-v(paper-n, student-n)
    """

    def change(phrase: Phrase) -> Phrase:
        return Phrase(exchanged.get(phrase.head, phrase.head), tuple(change(a) for a in phrase.arguments))

    return change


def read_table(path: str | Path) -> dict[str, str]:
    """Read a table of one's own: two words a line, with their letters and a blank between; ``#`` begins a remark."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    found = {}
    for number, line in enumerate(lines, 1):
        cells = line.partition("#")[0].split()
        if cells and (len(cells) != 2 or any(split_label(cell) is None for cell in cells)):
            raise InputError(
                f"expected two words such as 'papers-n paper-n', got {line[:60]!r}", source=path, line=number
            )
        if cells:
            found[cells[0]] = cells[1]
    return found
