"""Test sets of one's own: pairs of sentences from any counted corpus, forms to rate them on, and what came back.

What the paper leaves for later: sentences with different numbers of arguments, *the kids sing* beside *the kids sing
the song*; actives beside passives; sentences with exchanged arguments. Pairs are drawn evenly from sentences of rare,
middling and frequent words, and few of each verb. Arguments are exchanged where each noun was seen in both places of
the verb, as long as there are enough such sentences, so that the exchanged one makes sense. No ratings are needed for
one question that can be put to every method: is the meaning that it composes nearer to the vector of the attested
phrase than that of its twin is?
"""

from __future__ import annotations

import csv
import html
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from composita.evaluation.english import say
from composita.evaluation.statistics import interval, resamples
from composita.grammar.phrase import Phrase
from composita.store.errors import InputError, UsageError

if TYPE_CHECKING:
    from composita.composition.method import Method
    from composita.counting.counts import Counts
    from composita.functions.lexicon import Lexicon

KINDS = {
    "swapped": "a sentence and the same with its arguments exchanged",
    "arguments": "a verb with a subject, and the same with an object too",
    "passives": "an active sentence beside a passive one, which in half of the pairs says the reverse",
}
BANDS = ("rare", "middling", "frequent")
LIGHT = frozenset(("be-v", "have-v", "do-v", "get-v", "become-v"))
"""Verbs that mean little by themselves."""

KEY, RATINGS = "key.tsv", "ratings.tsv"
_KEY_COLUMNS = (
    "number",
    "kind",
    "band",
    "group",
    "sentence1",
    "sentence2",
    "phrase1",
    "phrase2",
    "frequency",
)
_FORM_COLUMNS = ("number", "sentence1", "sentence2", "rating")


@dataclass(frozen=True)
class Pair:
    """Two sentences to be compared.

    Parameters
    ----------
    kind, band
        One of `KINDS`, and of `BANDS`.
    first, second
        The phrases; the first is attested in the corpus.
    said
        The sentences as people read them.
    frequency
        How often the attested one was counted.

    """

    kind: str
    band: str
    first: Phrase
    second: Phrase
    said: tuple[str, str]
    frequency: int

    @property
    def group(self) -> str:
        """The verb."""
        return self.first.head


Sayer = Callable[..., str]
"""Says a phrase, ``say(phrase, passive=...)``."""


def make_pairs(
    counts: Counts, kinds: Sequence[str] = tuple(KINDS), *, number: int = 30, per_verb: int = 2, min_frequency: int = 2,
    seed: int = 0, sayer: Sayer = say,
) -> list[Pair]:  # fmt: skip
    """Draw pairs of sentences from counted phrases.

    Parameters
    ----------
    counts
        Counts with the phrases ``svo``, and for the kind ``arguments`` also ``sv``.
    kinds
        Which kinds of pairs.
    number
        How many of each kind, evenly from sentences of rare, middling and frequent words.
    per_verb
        How many of one kind at most are of one verb.
    min_frequency
        How often a phrase must have been counted.
    seed
        From which it is drawn.
    sayer
        How phrases are said; by default in English.

    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise UsageError(f"unknown kind of pairs {unknown[0]!r}: choose {', '.join(KINDS)}")
    transitive = _attested(counts, "svo", min_frequency)
    rows = counts.rows("word")
    known = dict(zip(counts.labels(rows), counts.frequency[rows].tolist(), strict=True))
    found: list[Pair] = []
    for kind in kinds:
        random = np.random.default_rng([seed, list(KINDS).index(kind)])
        candidates = _candidates(kind, counts, transitive, min_frequency, number)
        for band, frequency, phrase in _drawn(candidates, known, number, per_verb, random):
            found.append(_pair(kind, band, phrase, frequency, reverse=bool(random.random() < 0.5), sayer=sayer))
    if not found:
        raise UsageError(f"no phrases for such pairs: fewer than expected occur {min_frequency} times; count more text")
    return found


def _attested(counts: Counts, pattern: str, least: int) -> dict[Phrase, int]:
    """Give the phrases of a pattern whose arguments are different common nouns, with how often they occurred."""
    if pattern not in {known.name for known in counts.names.patterns}:
        raise UsageError(f"expected counts with phrases of the pattern {pattern}: composita count --phrases sv,svo")
    rows = counts.rows(pattern)
    rows = rows[counts.frequency[rows] >= least]
    words, fields = counts.names.words, counts.fields
    common = np.array([bool(core) and word.endswith("-n") for word, core in zip(words, counts.core, strict=True)])
    size = len(next(p for p in counts.names.patterns if p.name == pattern).arguments)
    arguments = fields.arguments[rows][:, :size]
    kept = (arguments >= 0).all(axis=1) & common[np.maximum(arguments, 0)].all(axis=1) & (fields.joint[rows] == 0)
    found = {}
    for row, numbers in zip(rows[kept].tolist(), arguments[kept].tolist(), strict=True):
        head = words[fields.head[row]]
        if head not in LIGHT and len(set(numbers)) == len(numbers):
            found[Phrase(head, tuple(Phrase(words[n]) for n in numbers))] = int(counts.frequency[row])
    return found


def _candidates(
    kind: str, counts: Counts, transitive: Mapping[Phrase, int], least: int, number: int
) -> dict[Phrase, int]:
    """Give the attested phrases of which a pair of this kind can be made."""
    if kind == "arguments":
        intransitive = _attested(counts, "sv", least)
        return {p: n for p, n in transitive.items() if Phrase(p.head, p.arguments[-1:]) in intransitive}
    # What was said in both orders is no question.
    found = {p: n for p, n in transitive.items() if Phrase(p.head, p.arguments[::-1]) not in transitive}
    places = {(p.head, place, noun) for p in transitive for place, noun in enumerate(p.arguments)}
    both = {p: n for p, n in found.items() if {(p.head, 1, p.arguments[0]), (p.head, 0, p.arguments[1])} <= places}
    return both if len(both) >= 3 * number else found


def _drawn(
    candidates: Mapping[Phrase, int], known: Mapping[str, int], number: int, per_verb: int, random: np.random.Generator
) -> Iterator[tuple[str, int, Phrase]]:
    """Draw evenly from three bands of how frequent the words are; few of each verb."""

    def rank(pair: tuple[Phrase, int]) -> tuple[float, str]:
        return sum(log(1 + known.get(word, 0)) for word in pair[0].words()), str(pair[0])

    ranked, used = sorted(candidates.items(), key=rank), Counter[str]()
    bounds = [len(ranked) * band // len(BANDS) for band in range(len(BANDS) + 1)]
    for band, name in enumerate(BANDS):
        part = ranked[bounds[band] : bounds[band + 1]]
        wanted = number * (band + 1) // len(BANDS) - number * band // len(BANDS)
        for place in random.permutation(len(part)).tolist():
            phrase, frequency = part[place]
            if wanted and used[phrase.head] < per_verb:
                used[phrase.head] += 1
                wanted -= 1
                yield name, frequency, phrase


def _pair(kind: str, band: str, phrase: Phrase, frequency: int, *, reverse: bool, sayer: Sayer) -> Pair:
    exchanged = Phrase(phrase.head, phrase.arguments[::-1])
    if kind == "arguments":
        shorter = Phrase(phrase.head, phrase.arguments[-1:])
        return Pair(kind, band, phrase, shorter, (sayer(phrase), sayer(shorter)), frequency)
    if kind == "passives":
        other = exchanged if reverse else phrase
        return Pair(kind, band, phrase, other, (sayer(phrase), sayer(other, passive=True)), frequency)
    return Pair(kind, band, phrase, exchanged, (sayer(phrase), sayer(exchanged)), frequency)


# ------------------------------------------------------------ forms for people


def write_forms(
    pairs: Sequence[Pair], folder: str | Path, *, forms: int = 1, scale: int = 7, seed: int = 0
) -> list[Path]:
    """Write the key, and for each annotator a form in an order of its own, as a table and as a page to be printed.

    Give the paths of what was written. Forms that are there already, and other than these, are not overwritten.
    """
    if forms < 1 or scale < 2:
        raise UsageError(f"expected at least 1 form and a scale to at least 2, got {forms} and {scale}")
    folder, random = Path(folder), np.random.default_rng([seed, 5])
    key = [
        (n, p.kind, p.band, p.group, *p.said, str(p.first), str(p.second), p.frequency) for n, p in enumerate(pairs, 1)
    ]
    written = [_write(folder / KEY, _table(_KEY_COLUMNS, key))]
    for number in range(1, forms + 1):
        rows = []
        for place in random.permutation(len(pairs)).tolist():
            said = pairs[place].said if random.random() < 0.5 else pairs[place].said[::-1]
            rows.append((place + 1, *said, ""))
        written.append(_write(folder / f"form-{number}.tsv", _table(_FORM_COLUMNS, rows)))
        written.append(_write(folder / f"form-{number}.html", page(rows, scale, f"Form {number}")))
    return written


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_bytes() != text.encode():
            raise UsageError(f"{path} is there already, perhaps with ratings: choose another folder")
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return path


STYLE = """
body { font: 12pt/1.5 Georgia, serif; max-width: 42em; margin: 2em auto; color: #111; background: #fff }
ol { padding: 0; list-style: none } li { break-inside: avoid; border-top: 1px solid #999; padding: .7em 0 }
.number { float: left; width: 3em; color: #555 } .pair { margin-left: 3em } .pair p { margin: 0 }
.scale { display: flex; gap: 1.2em; margin: .5em 0 0 3em; align-items: center }
.scale span { display: inline-block; width: 1.8em; height: 1.8em; border: 1px solid #111; border-radius: 50%;
  text-align: center; line-height: 1.8em } .scale small { color: #555 }
"""


def page(rows: Sequence[Sequence[Any]], scale: int, title: str) -> str:
    """Write a form as a page that prints well and needs nothing from elsewhere."""
    circles = "".join(f"<span>{value}</span>" for value in range(1, scale + 1))
    questions = "\n".join(
        f'<li><span class="number">{number}</span><div class="pair"><p>{html.escape(first)}</p>'
        f"<p>{html.escape(second)}</p></div>"
        f'<div class="scale"><small>different</small>{circles}<small>the same</small></div></li>'
        for number, first, second, _ in rows
    )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style></head>
<body><h1>{html.escape(title)}</h1>
<p>Your name or number: ______________________</p>
<p>How alike in meaning are the two sentences of each pair? Ring one number: 1 if they mean something quite different,
{scale} if they mean the same. Trust your first impression; there are no right answers.</p>
<ol>
{questions}
</ol></body></html>
"""


# ------------------------------------------------------------ what came back


def read_forms(key: str | Path, forms: Sequence[str | Path], *, scale: int = 7) -> str:
    """Put filled-in forms together as a file of ratings, in composita's own format.

    An annotator is called as the form's file. Pairs that were left open are left out.
    """
    pairs = {row["number"]: row for _, row in _rows(key, _KEY_COLUMNS)}
    rated = []
    for form in forms:
        for line, row in _rows(form, _FORM_COLUMNS):
            text = row["rating"].strip()
            if not text:
                continue
            if row["number"] not in pairs:
                raise InputError(f"there is no pair {row['number']!r} in {key}", source=form, line=line)
            try:
                rating = float(text.replace(",", "."))
                if not 1 <= rating <= scale:
                    raise ValueError
            except ValueError:
                raise InputError(f"expected a rating from 1 to {scale}, got {text!r}", source=form, line=line) from None
            said = pairs[row["number"]]
            rated.append((said["phrase1"], said["phrase2"], Path(form).stem, f"{rating:g}", said["kind"], ""))
    if not rated:
        raise InputError("no ratings in any of the forms: expected numbers in the column rating", source=forms[0])
    return _table(("sentence1", "sentence2", "annotator", "rating", "group", "label"), rated)


def _rows(path: str | Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError("expected UTF-8", source=path) from None
    lines = [line.strip("\r") for line in text.split("\n")]
    # Spreadsheets like to put semicolons or commas where tabs were.
    separator = next((s for s in "\t;," if s in lines[0]), "\t")
    try:
        reader = csv.DictReader(lines, delimiter=separator)
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        rows = list(enumerate(reader, 2))
    except csv.Error as error:
        raise InputError(f"expected a table: {error}", source=path) from None
    if missing:
        raise InputError(f"expected columns {', '.join(columns)}; {missing[0]} is missing", source=path, line=1)
    for line, row in rows:
        if any(row.get(column) is None for column in columns):
            raise InputError(f"expected {len(columns)} cells", source=path, line=line)
        yield line, {column: row[column] for column in columns}


def read_key(path: str | Path) -> list[Pair]:
    """Read the pairs of a key."""
    found = []
    for line, row in _rows(path, _KEY_COLUMNS):
        try:
            phrases = Phrase.parse(row["phrase1"]), Phrase.parse(row["phrase2"])
            frequency = int(row["frequency"])
        except (UsageError, ValueError) as error:
            raise InputError(str(error), source=path, line=line) from None
        said = row["sentence1"], row["sentence2"]
        found.append(Pair(row["kind"], row["band"], *phrases, said, frequency))
    return found


# ------------------------------------------------------------ without ratings


@dataclass(frozen=True)
class TwinScore:
    """How often a method's meaning is nearer to the attested phrase than that of its twin is; 0.5 is chance."""

    method: str
    kind: str
    pairs: int
    compared: int
    right: float
    interval: tuple[float, float]


def twins(
    lexicon: Lexicon, pairs: Sequence[Pair], methods: Sequence[Method], *, bootstrap: int = 2000, seed: int = 0
) -> list[TwinScore]:
    """Ask each method whether it tells an attested sentence from its exchanged or shortened twin.

    The attested phrases are left out of what functions are learned from.
    """
    from composita.composition.ground import Ground

    ground = Ground.of(lexicon)
    rows = np.array([ground.row_of(pair.first) for pair in pairs])
    standing = Ground(lexicon, {int(row) for row in rows if row >= 0})
    found = []
    for method in methods:
        ahead = _ahead(method, standing, pairs, rows)
        for kind in dict.fromkeys(pair.kind for pair in pairs):
            mine = np.array([pair.kind == kind and pair.first != pair.second for pair in pairs])
            known = ahead[mine & ~np.isnan(ahead)]
            right = np.where(np.abs(known) < 1e-6, 0.5, known > 0)
            drawn = resamples(len(known), bootstrap, [seed, 7]) @ right / len(known) if len(known) else np.empty(0)
            share = float(right.mean()) if len(known) else float("nan")
            found.append(TwinScore(method.name, kind, int(mine.sum()), len(known), share, interval(drawn)))
    return found


def _ahead(method: Method, standing: Any, pairs: Sequence[Pair], rows: Any) -> Any:  # noqa: ANN401 - arrays
    """How much nearer to the attested vector the first meaning is than the second; NaN where it cannot be said."""
    first = method.compose(standing, [pair.first for pair in pairs])
    second = method.compose(standing, [pair.second for pair in pairs])
    ahead = np.full(len(pairs), np.nan)
    usable = np.flatnonzero(first.composed & second.composed & (rows >= 0))
    if any(form != "vector" for form in (*first.forms.values(), *second.forms.values())) or not len(usable):
        return ahead
    attested = standing.space.take(rows[usable]).astype(float)

    def near(vectors: Any) -> Any:  # noqa: ANN401
        vectors = vectors[usable].astype(float)
        size = np.linalg.norm(vectors, axis=1) * np.linalg.norm(attested, axis=1)
        return np.where(size > 0, (vectors * attested).sum(axis=1) / np.where(size > 0, size, 1), np.nan)

    ahead[usable] = near(first.vectors) - near(second.vectors)
    return ahead


def english_sayer(counts: Counts) -> Sayer:
    """Make a function that says phrases in English, with the participles that the corpus has."""
    if counts.forms is None:
        return say
    columns = (counts.forms.column(name).to_pylist() for name in ("form", "count"))
    known: Counter[str] = Counter()
    for form, count in zip(*columns, strict=True):
        if form.endswith("ed"):
            known[form] += count

    def sayer(phrase: Phrase, *, passive: bool = False) -> str:
        return say(phrase, passive=passive, forms=known)

    return sayer


def lemma_sayer(phrase: Phrase, *, passive: bool = False) -> str:
    """Say a phrase by its lemmas, in any language: *dog chase cat*; a passive is marked."""
    return f"{phrase.display()} (passive)" if passive else phrase.display()
