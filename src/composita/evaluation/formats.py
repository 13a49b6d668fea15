"""The formats of benchmark files: what each looks like, and how a line becomes a pair of phrases with a rating.

A format is known by the names in its first line, or, where there is no such line, by the shape of its lines. To add
one, write a function from the cells of a line to a `Rated` and give it an entry in `FORMATS`.

>>> lines = ["participant verb subject object landmark input hilo", "p1 provide family home supply 4 HIGH"]
>>> [(str(rated.item.left), str(rated.item.right), rated.rating) for rated in read_lines(lines).rows]
[('provide-v(home-n, family-n)', 'supply-v(home-n, family-n)', 4.0)]
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from composita.counting.words import split_label
from composita.grammar.phrase import Phrase
from composita.store.errors import InputError, UsageError

AND = "and"
"""The head of a coordination of sentences: its meaning is the sum of theirs."""

_LETTERS = {"n": "n", "v": "v", "a": "a", "j": "a", "r": "r", "noun": "n", "verb": "v", "adjective": "a", "adj": "a",
            "s": "a", "adverb": "r", "adv": "r"}  # fmt: skip


@dataclass(frozen=True)
class Item:
    """Two phrases whose likeness people rated.

    Parameters
    ----------
    left, right
        The phrases. A sentence of running text is a phrase without arguments whose head is the text, until a grammar
        has read it.
    name
        The item as it is shown.
    group
        What it belongs to, such as the verb whose senses are tested; in a ranking, the term.
    label
        What the designers expect, ``high`` or ``low``; not a rating.

    """

    left: Phrase
    right: Phrase
    name: str
    group: str = ""
    label: str = ""


class Rated(NamedTuple):
    """One line of a benchmark: an item, who rated it (empty for a mean of many), and how."""

    item: Item
    participant: str
    rating: float


Cells = Mapping[str, str]
"""The cells of a line by the names of their columns, in lower case."""


@dataclass(frozen=True)
class Format:
    """How one kind of file is written.

    Parameters
    ----------
    name, about
        What it is called, and what it holds.
    columns
        The names in the first line by which it is known; empty where there is no such line.
    read
        Makes an item and its rating of the cells of a line; None for a line that holds none.
    shape
        For files without names: a pattern of their lines.
    order
        For files without names: the names of their columns.
    kind
        ``pairs``, or ``ranking`` where the right ones are to be found among all.

    """

    name: str
    about: str
    columns: tuple[str, ...]
    read: Callable[[Cells], Rated | None]
    shape: str = ""
    order: tuple[str, ...] = ()
    kind: str = "pairs"


class Contents(NamedTuple):
    """What a file holds."""

    format: Format
    rows: tuple[Rated, ...]


# ------------------------------------------------------------ making phrases


def word(text: str, letter: str) -> Phrase:
    """Make a word of a cell, which may say its letter itself.

    >>> word("Dog", "n"), word("bright-j", "n")
    (Phrase(head='dog-n', arguments=()), Phrase(head='bright-a', arguments=()))
    """
    lemma, dash, said = text.strip().lower().rpartition("-")
    if dash and lemma and said in ("n", "v", "a", "j", "r"):
        return Phrase(f"{lemma}-{_LETTERS[said]}")
    if not text.strip():
        raise ValueError("expected a word, found nothing")
    return Phrase(f"{text.strip().lower().replace(' ', '_')}-{letter}")


def clause(verb: str, *arguments: str | Phrase) -> Phrase:
    """Make a verb with its arguments in order of application: the object before the subject."""
    said = tuple(word(argument, "n") if isinstance(argument, str) else argument for argument in arguments)
    return Phrase(word(verb, "v").head, said)


def modified(adjective: str, noun: str) -> Phrase:
    """Make an adjective with its noun."""
    return Phrase(word(adjective, "a").head, (word(noun, "n"),))


def said_phrase(text: str) -> Phrase:
    """Read a phrase that a user wrote: ``chase-v(cat-n, dog-n)``, ``dog-n``, or running text.

    >>> said_phrase("dog-n").head, said_phrase("Dogs chase cats").head
    ('dog-n', 'Dogs chase cats')
    """
    text = " ".join(text.split())
    if _APPLIED.search(text):
        try:
            return Phrase.parse(text)
        except UsageError as error:
            raise ValueError(str(error)) from None
    if not text:
        raise ValueError("expected a sentence, found nothing")
    return Phrase(text)


def is_text(phrase: Phrase) -> bool:
    """Say whether a phrase is running text that no grammar has read."""
    return not phrase.arguments and split_label(phrase.head) is None


_APPLIED = re.compile(r"-[nvarp]\s*\(")
"""What no running text has: a word applied to others."""


def _number(text: str) -> float:
    value = float(text)
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(text)
    return value


def _pair(left: Phrase, right: Phrase, cells: Cells, rating: str, who: str = "", **more: str) -> Rated:
    name = more.pop("name", f"{_shown(left)} / {_shown(right)}")
    try:
        number = _number(rating)
    except ValueError:
        raise ValueError(f"expected a number as rating, got {rating!r}") from None
    label = cells.get("hilo", cells.get("label", "")).lower()
    return Rated(Item(left, right, name, more.pop("group", ""), label), who, number)


def _shown(phrase: Phrase) -> str:
    if phrase.head == AND and phrase.arguments:
        return " and ".join(part.display() for part in phrase.arguments)
    return phrase.head if is_text(phrase) else phrase.display()


# ------------------------------------------------------------ the formats


def _gs2011(c: Cells) -> Rated:
    left, right = (clause(c[verb], c["object"], c["subject"]) for verb in ("verb", "landmark"))
    name = f"{c['verb']} {c['subject']} {c['object']} {c['landmark']}"
    return _pair(left, right, c, c["input"], c["participant"], name=name, group=left.head)


def _ml2008(c: Cells) -> Rated:
    left, right = (clause(c[verb], c["noun"]) for verb in ("verb", "landmark"))
    name = f"{c['verb']} {c['noun']} {c['landmark']}"
    return _pair(left, right, c, c["input"], c["participant"], name=name, group=left.head)


def _gs2012(c: Cells) -> Rated:
    # Here the column `landmark` is the ambiguous verb and `verb` its paraphrase, the other way round than in GS2011.
    object_, subject = modified(c["adj_obj"], c["obj"]), modified(c["adj_subj"], c["subj"])
    left, right = (clause(c[verb], object_, subject) for verb in ("landmark", "verb"))
    name = f"{c['adj_subj']} {c['subj']} {c['landmark']} {c['verb']} {c['adj_obj']} {c['obj']}"
    return _pair(left, right, c, c["annotator_score"], c["annotator_id"], name=name, group=left.head)


def _ks2014(c: Cells) -> Rated:
    left, right = (clause(c[f"verb{n}"], c[f"object{n}"], c[f"subject{n}"]) for n in (1, 2))
    return _pair(left, right, c, c["score"], c.get("annotator", c.get("participant", "")))


def _ml2010(c: Cells) -> Rated:
    def phrase(n: int) -> Phrase:
        first, second = c[f"word{n}1"], c[f"word{n}2"]
        if c["type"] == "adjectivenouns":
            return modified(first, second)
        if c["type"] == "compoundnouns":
            return Phrase(word(first, "n").head, (word(second, "n"),))
        return clause(second, first)  # the file has the object before the verb

    return _pair(phrase(1), phrase(2), c, c["rating"], c["participant"], group=c["type"])


def _ellipsis(c: Cells) -> Rated:
    left, right = (elliptic(c[side]) for side in ("sent1", "sent2"))
    return _pair(left, right, c, c["score"], c["participant"], group=left.arguments[0].head)


def elliptic(text: str) -> Phrase:
    """Read *man draw sword and artist does too*: the second subject does with the object what the first does.

    >>> print(elliptic("man draw sword and artist does too"))
    and(draw-v(sword-n, man-n), draw-v(sword-n, artist-n))
    """
    words = text.lower().split()
    if len(words) != 7 or words[3] != "and" or words[5:] != ["does", "too"]:
        raise ValueError(f"expected a sentence such as 'man draw sword and artist does too', got {text!r}")
    subject, verb, object_, _, other = words[:5]
    return Phrase(AND, (clause(verb, object_, subject), clause(verb, object_, other)))


def _sick(c: Cells) -> Rated:
    left, right = said_phrase(c["sentence_a"]), said_phrase(c["sentence_b"])
    return _pair(left, right, c, c["relatedness_score"], group=c.get("semeval_set", "").lower())


def _ours(c: Cells) -> Rated:
    left, right = said_phrase(c["sentence1"]), said_phrase(c["sentence2"])
    return _pair(left, right, c, c["rating"], c.get("annotator", ""), group=c.get("group", ""))


def _simlex(c: Cells) -> Rated:
    letter = _letter(c["pos"])
    return _words(c["word1"], c["word2"], letter, c["simlex999"])


def _simverb(c: Cells) -> Rated:
    return _words(c["word1"], c["word2"], _letter(c["pos"]), c["score"])


def _wordsim(c: Cells) -> Rated:
    return _words(c["word 1"], c["word 2"], "n", c["human (mean)"])


def _men(c: Cells) -> Rated:
    return _words(c["word1"], c["word2"], "n", c["score"])


def _letter(tag: str) -> str:
    try:
        return _LETTERS[tag.strip().lower()]
    except KeyError:
        raise ValueError(f"expected a part of speech such as N, V or A, got {tag!r}") from None


def _words(first: str, second: str, letter: str, rating: str) -> Rated:
    left, right = word(first, letter), word(second, letter)
    group = "".join(sorted({left.head[-1], right.head[-1]}))
    return _pair(left, right, {}, rating, name=f"{left.head} {right.head}", group=group)


_RELPRON = re.compile(
    r"^(?P<role>SBJ|OBJ)\s+(?P<term>\S+)_N:\s+(?P<head>\S+)_N\s+that\s+(?P<first>\S+)_(?P<tag>[NV])\s+(?P<second>\S+)_[NV]\s*$"
)


def _relpron(c: Cells) -> Rated:
    found = _RELPRON.match(c["line"])
    if found is None:
        raise ValueError(
            f"expected a line such as 'OBJ garrison_N: organization_N that army_N install_V', got {c['line'][:80]!r}"
        )
    head, first, second = found["head"], found["first"], found["second"]
    # The relative clause is read as the sentence that it makes with its head noun.
    phrase = clause(first, second, head) if found["tag"] == "V" else clause(second, head, first)
    term = word(found["term"], "n")
    name = f"{found['term'].lower()}: {head.lower()} that {first.lower()} {second.lower()}"
    return Rated(Item(phrase, term, name, term.head, found["role"].lower()), "", 1.0)


_NUMBER = r"-?\d+(?:[.,]\d+)?"

FORMATS: tuple[Format, ...] = (
    Format("gs2011", "transitive verbs in context", ("participant", "verb", "subject", "object", "landmark", "input"),
           _gs2011),
    Format("ml2008", "intransitive verbs in context", ("participant", "verb", "noun", "landmark", "input"), _ml2008),
    Format("gs2012", "transitive verbs in context, with adjectives",
           ("annotator_id", "adj_subj", "subj", "landmark", "verb", "adj_obj", "obj", "annotator_score"), _gs2012),
    Format("ks2014", "pairs of transitive sentences",
           ("subject1", "verb1", "object1", "subject2", "verb2", "object2", "score"), _ks2014),
    Format("ellipsis", "pairs of sentences with ellipsis", ("participant", "sent1", "sent2", "score"), _ellipsis),
    Format("sick", "pairs of sentences", ("sentence_a", "sentence_b", "relatedness_score"), _sick),
    Format("ratings", "pairs of sentences in composita's own format", ("sentence1", "sentence2", "rating"), _ours),
    Format("simlex", "pairs of words", ("word1", "word2", "pos", "simlex999"), _simlex),
    Format("wordsim", "pairs of words", ("word 1", "word 2", "human (mean)"), _wordsim),
    Format("ml2010", "pairs of short phrases", (), _ml2010,
           rf"^\S+\s+(?:adjectivenouns|verbobjects|compoundnouns)(?:\s+\S+){{5}}\s+{_NUMBER}$",
           ("participant", "type", "group", "word11", "word12", "word21", "word22", "rating")),
    Format("relpron", "terms and relative clauses that describe them", (), _relpron,
           r"^(?:SBJ|OBJ)\s+\S+_N:\s", ("line",), "ranking"),
    Format("simverb", "pairs of verbs", (), _simverb, rf"^\S+\t\S+\t[A-Za-z]\t{_NUMBER}(?:\t\S+)?$",
           ("word1", "word2", "pos", "score", "relation")),
    Format("men", "pairs of words", (), _men, rf"^\S+\s+\S+\s+{_NUMBER}$", ("word1", "word2", "score")),
)  # fmt: skip
"""All formats; the first that fits is taken."""


# ------------------------------------------------------------ reading


def read_lines(lines: Sequence[str], source: str = "benchmark") -> Contents:
    """Recognise the format of lines and read them; stray carriage returns and empty lines do no harm."""
    numbered = [(n, line.strip("\r\n \ufeff")) for n, line in enumerate(lines, 1)]
    numbered = [(n, line) for n, line in numbered if line and not line.startswith("#")]
    if not numbered:
        raise InputError("it is empty, expected a benchmark", source=source)
    form, separator, names, first = _recognise([line for _, line in numbered], source)
    rows = []
    for number, line in numbered[first:]:
        cells = _cells(line, separator, names, form, source, number)
        try:
            rated = form.read(cells)
        except ValueError as error:
            raise InputError(str(error), source=source, line=number) from None
        if rated is not None:
            rows.append(rated)
    if not rows:
        raise InputError("there are names of columns and nothing below", source=source)
    return Contents(form, tuple(rows))


def _recognise(lines: list[str], source: str) -> tuple[Format, str | None, tuple[str, ...], int]:
    """Find the format, what separates cells, the names of the columns, and the first line of data."""
    for separator in ("\t", ",", ";", None):
        names = tuple(name.strip().lower().lstrip("\ufeff") for name in _split(lines[0], separator))
        for form in FORMATS:
            if form.columns and set(form.columns) <= set(names):
                return form, separator, names, 1
    for form in FORMATS:
        # Behind a first line that names columns nobody knows, there may be lines of a shape that is known.
        for first in (0, 1):
            if form.shape and len(lines) > first and re.match(form.shape, lines[first]):
                return form, ("\t" if "\t" in lines[first] else None), form.order, first
    known = "; ".join(f"{form.name} ({' '.join(form.columns)})" for form in FORMATS if form.columns)
    raise InputError(
        f"not a benchmark that is known: the first line is {lines[0][:80]!r}, expected the columns of {known}; "
        "see docs/evaluation.md",
        source=source, line=1,
    )  # fmt: skip


def _split(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    if separator in ",;":
        try:
            return next(csv.reader([line], delimiter=separator), [])
        except csv.Error:  # a stray carriage return, or a cell of some hundred thousand letters
            return line.split(separator)
    return line.split(separator)


def _cells(
    line: str, separator: str | None, names: tuple[str, ...], form: Format, source: str, number: int
) -> dict[str, str]:
    if form.order == ("line",):
        return {"line": line}
    cells = [cell.strip() for cell in _split(line, separator)]
    needed = max((names.index(name) + 1 for name in form.columns), default=len(form.order) - (form.name == "simverb"))
    if len(cells) < needed or (separator is None and len(cells) > len(names)):
        wanted = f"{len(names)} cells ({' '.join(names)})"
        raise InputError(f"expected {wanted}, got {len(cells)}: {line[:80]!r}", source=source, line=number)
    return dict(zip(names, cells, strict=False))


def iterate_formats() -> Iterator[tuple[str, str]]:
    """Give the names of the formats, each with what it holds."""
    for form in FORMATS:
        yield form.name, form.about
