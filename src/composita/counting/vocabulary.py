"""The vocabulary: which words are counted, which may be arguments, and which are contexts."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from composita.corpus.tags import LETTERS as CLASS_LETTERS
from composita.corpus.tags import Class
from composita.counting.words import LETTERS, check_label, order_of, suggest
from composita.store.errors import CorruptError, UsageError
from composita.store.folder import Folder, fingerprint, open_writer
from composita.store.progress import Cancellation, ProgressCallback, silent
from composita.store.tables import read_table, write_table

if TYPE_CHECKING:
    from composita.corpus.corpus import Corpus
    from composita.store.engine import Engine

logger = logging.getLogger("composita")

KIND, VERSION = "vocabulary", 1
MOST_WORDS = (1 << 20) - 2
"""A word must fit into 20 bits of a phrase's key."""

ALPHABETIC = r"[^\W\d_]+(?:['’.-][^\W\d_]+)*\.?"
"""What a word looks like: letters, with single apostrophes, hyphens or full stops between them."""

Standing = Literal["nouns", "arguments", "no"]
"""What names and pronouns are: nouns like others, arguments of phrases only, or nothing."""

CLASSES = len(Class)
FEW = 3
"""For so many unknown words, suggestions are made."""
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Choice:
    """How the words of a vocabulary were chosen; see `Vocabulary.from_corpus`."""

    nouns: int | None = 8000
    verbs: int | None = 4000
    adjectives: int | None = 0
    adverbs: int | None = 0
    contexts: int | None = 10_000
    stop: int = 300
    min_frequency: int = 1
    proper: Standing = "arguments"
    pronouns: Standing = "arguments"
    alphabetic: str = ALPHABETIC

    def __post_init__(self) -> None:
        for name in ("nouns", "verbs", "adjectives", "adverbs", "contexts", "stop", "min_frequency"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise UsageError(f"expected {name} from 0, got {value}")
        for name in ("proper", "pronouns"):
            if getattr(self, name) not in ("nouns", "arguments", "no"):
                raise UsageError(f"unknown {name} {getattr(self, name)!r}: choose nouns, arguments or no")
        try:
            re.compile(self.alphabetic)
        except re.error as error:
            raise UsageError(f"{self.alphabetic!r} is not a regular expression: {error}") from None


@dataclass(frozen=True)
class Tables:
    """What each lemma means in each class: ids, -1 for none; the first row is for lemmas that are not here."""

    lemmas: Any  # pyarrow.StringArray
    both: Int32Array  # (lemmas + 1, classes, 2) the word that a token is counted as, and the context that it is
    argument: Int32Array  # (lemmas + 1, classes) the word that it is as an argument
    words: int
    contexts: int


@dataclass(frozen=True)
class Vocabulary:
    """The words that are counted and their contexts, in the order of their labels.

    Parameters
    ----------
    words
        Labels such as ``dog-n``: nouns, verbs, adjectives, adverbs, pronouns, each by the bytes of its lemma.
    frequencies
        How often each was found in the corpus from which they were chosen.
    core
        Which of them define weights and latent dimensions: nouns and verbs, not what only may be an argument.
    contexts, context_frequencies
        The same of the contexts.
    choice
        How they were chosen. What names and pronouns are, it says also for counting.

    Examples
    --------
    >>> import pyarrow as pa
    >>> words = {"dog": 9, "cat": 7, "bird": 7}
    >>> table = pa.table({"word": list(words), "class": [Class.NOUN] * 3, "count": list(words.values())})
    >>> vocabulary = Vocabulary.from_frequencies(table, nouns=2, contexts=2, stop=1)
    >>> vocabulary.words, vocabulary.contexts      # bird comes before cat where both are equally frequent
    (('bird-n', 'dog-n'), ('bird-n', 'cat-n'))

    """

    words: tuple[str, ...]
    frequencies: tuple[int, ...]
    core: tuple[bool, ...]
    contexts: tuple[str, ...]
    context_frequencies: tuple[int, ...]
    choice: Choice = Choice()

    def __post_init__(self) -> None:
        for labels, numbers in ((self.words, self.frequencies), (self.contexts, self.context_frequencies)):
            keys = [order_of(check_label(label, "vocabulary")) for label in labels]
            if any(after <= before for before, after in pairwise(keys)):
                raise UsageError("expected each word once, in the order of n v a r p and of the bytes of the lemmas")
            if len(numbers) != len(labels) or len(labels) > MOST_WORDS:
                raise UsageError(f"expected one frequency a word and at most {MOST_WORDS:,} words, got {len(labels):,}")
        if len(self.core) != len(self.words):
            raise UsageError(f"expected for each of {len(self.words)} words whether it is of the core")

    @classmethod
    def from_corpus(
        cls,
        corpus: Corpus,
        *,
        nouns: int | None = 8000,
        verbs: int | None = 4000,
        adjectives: int | None = 0,
        adverbs: int | None = 0,
        contexts: int | None = 10_000,
        stop: int = 300,
        min_frequency: int = 1,
        proper: Standing = "arguments",
        pronouns: Standing = "arguments",
        alphabetic: str = ALPHABETIC,
        include: Collection[str] = (),
        stop_words: Collection[str] = (),
        engine: Engine | None = None,
        workers: int = 1,
        progress: ProgressCallback = silent,
        cancel: Cancellation | None = None,
    ) -> Vocabulary:
        r"""Choose the most frequent words of a corpus; among equally frequent ones the first in the alphabet.

        Parameters
        ----------
        corpus
            An encoded corpus.
        nouns, verbs, adjectives, adverbs
            How many of each are counted, the most frequent; None for all. Adjectives and adverbs are outside the core.
        contexts, stop
            How many content words are contexts, and how many still more frequent ones are skipped.
        min_frequency
            Rarer words are neither counted nor contexts.
        proper
            Names: ``nouns`` are nouns like others, ranked and counted with them, and may be contexts; ``arguments`` may
            be arguments of phrases, and are counted outside the core if they are as frequent as the rarest noun;
            ``no``.
        pronouns
            The same of pronouns, which are never contexts. As ``nouns`` they are of the core.
        alphabetic
            The regular expression that a whole lemma must match. ``.+`` admits all.
        include
            Words that must be in, however rare: labels such as ``chase-v``.
        stop_words
            Words that are neither counted nor contexts; labels, or lemmas of any part of speech.
        engine, workers, progress, cancel
            As in `Corpus.frequencies`.

        """
        choice = Choice(
            nouns, verbs, adjectives, adverbs, contexts, stop, min_frequency, proper, pronouns, alphabetic
        )  # fmt: skip
        table = corpus.frequencies(engine=engine, workers=workers, progress=progress, cancel=cancel)
        return cls._choose(table, choice, include, stop_words)

    @classmethod
    def from_frequencies(
        cls,
        table: pa.Table,
        *,
        include: Collection[str] = (),
        stop_words: Collection[str] = (),
        **choice: Any,  # noqa: ANN401
    ) -> Vocabulary:
        """Choose from a table such as `Corpus.frequencies` gives; the options are those of `from_corpus`."""
        return cls._choose(table, Choice(**choice), include, stop_words)

    @classmethod
    def _choose(
        cls, table: pa.Table, choice: Choice, include: Collection[str], stop_words: Collection[str]
    ) -> Vocabulary:
        found = _Candidates(table, choice, include, stop_words)
        words, core = found.words()
        contexts = found.contexts()
        logger.debug("vocabulary of %d words and %d contexts", len(words), len(contexts))
        ordered = sorted(words, key=order_of)
        columns = sorted(contexts, key=order_of)
        return cls(
            tuple(ordered), tuple(words[w] for w in ordered), tuple(w in core for w in ordered),
            tuple(columns), tuple(contexts[c] for c in columns), choice,
        )  # fmt: skip

    @cached_property
    def ids(self) -> dict[str, int]:
        """The number of each word, which is its place."""
        return {label: i for i, label in enumerate(self.words)}

    def id(self, label: str) -> int:
        """Give the number of a word, or suggest others."""
        if (found := self.ids.get(label)) is None:
            raise UsageError(f"{label!r} is not in the vocabulary{suggest(label, self.words)}")
        return found

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that bears on counting."""
        standing = [self.choice.proper, self.choice.pronouns]
        return fingerprint("vocabulary-1", self.words, self.core, self.contexts, standing)

    @cached_property
    def tables(self) -> Tables:
        """The vocabulary as arrays, for whoever reads tokens."""
        frequent: dict[str, int] = {}
        for labels, counts in ((self.words, self.frequencies), (self.contexts, self.context_frequencies)):
            for label, count in zip(labels, counts, strict=True):
                frequent[label[:-2]] = max(count, frequent.get(label[:-2], 0))
        # The frequent ones together, so that the rows that most tokens need stay in the processor's cache.
        lemmas = sorted(frequent, key=lambda lemma: (-frequent[lemma], lemma))
        row = {lemma: i for i, lemma in enumerate(lemmas, 1)}
        both, argument = (
            np.full((len(lemmas) + 1, CLASSES, 2), -1, np.int32),
            np.full((len(lemmas) + 1, CLASSES), -1, np.int32),
        )
        target, context = both[:, :, 0], both[:, :, 1]
        proper, pronouns = self.choice.proper, self.choice.pronouns
        for number, label in enumerate(self.words):
            classes = _classes(label[-1], names=proper != "no" or not self.core[number], pronouns=pronouns != "no")
            argument[row[label[:-2]], classes] = number
            # A name spelt like a noun of the core is not counted among its occurrences, unless names are nouns.
            classes = _classes(label[-1], names=proper == "nouns" or not self.core[number], pronouns=pronouns != "no")
            target[row[label[:-2]], classes] = number
        for number, label in enumerate(self.contexts):
            context[row[label[:-2]], _classes(label[-1], names=proper == "nouns", pronouns=False)] = number
        sizes = len(self.words), len(self.contexts)
        return Tables(pa.array(lemmas, pa.string()), both, argument, *sizes)

    def table(self) -> pa.Table:
        """Give all words as a table, the most frequent first: label, lemma, pos, frequency, and what each is."""
        labels = sorted({*self.words, *self.contexts}, key=order_of)
        words = dict(zip(self.words, zip(self.frequencies, self.core, strict=True), strict=True))
        contexts = dict(zip(self.contexts, self.context_frequencies, strict=True))
        columns = {
            "label": labels,
            "lemma": [label[:-2] for label in labels],
            "pos": [label[-1] for label in labels],
            "frequency": np.array([max(words.get(w, (0,))[0], contexts.get(w, 0)) for w in labels], np.int64),
            "word": np.array([w in words for w in labels], bool),
            "core": np.array([w in words and words[w][1] for w in labels], bool),
            "context": np.array([w in contexts for w in labels], bool),
        }
        return pa.table(columns).sort_by([("frequency", "descending"), ("lemma", "ascending"), ("pos", "ascending")])

    def __repr__(self) -> str:
        kinds = [f"{sum(w[-1] == letter for w in self.words):,} {letter}" for letter in LETTERS]
        return f"Vocabulary({', '.join(k for k in kinds if k[0] != '0')}, {len(self.contexts):,} contexts)"

    def __str__(self) -> str:
        """The twenty most frequent words, as a table."""
        rows = self.table().slice(0, 20).to_pylist()
        signs = [" ".join(kind for kind in ("core", "word", "context") if row[kind]) for row in rows]
        width = max([5, *(len(row["label"]) for row in rows)])
        lines = [
            f"{row['label']:{width}}  {row['frequency']:>12,}  {sign.replace('core word', 'core')}"
            for row, sign in zip(rows, signs, strict=True)
        ]
        return "\n".join([repr(self), *lines])

    def save(self, path: str | Path) -> None:
        """Write the vocabulary to a folder: two tables, in the order of the labels."""
        with open_writer(path, KIND, VERSION) as writer:
            with writer.new_file("words.parquet") as new:
                write_table(new.path, {
                    "label": self.words, "frequency": np.array(self.frequencies, np.int64),
                    "core": np.array(self.core, bool),
                })  # fmt: skip
            with writer.new_file("contexts.parquet") as new:
                frequency = np.array(self.context_frequencies, np.int64)
                write_table(new.path, {"label": self.contexts, "frequency": frequency})
            writer.commit({"parameters": asdict(self.choice), "fingerprint": self.fingerprint})
            writer.sweep()

    @classmethod
    def open(cls, path: str | Path) -> Vocabulary:
        """Read a vocabulary that was saved."""
        folder = Folder.open(path, KIND, VERSION)
        words = read_table(folder.file("words.parquet"), ["label", "frequency", "core"]).to_pydict()
        contexts = read_table(folder.file("contexts.parquet"), ["label", "frequency"]).to_pydict()
        try:
            choice = Choice(**folder.meta["parameters"])
            return cls(
                tuple(words["label"]), tuple(words["frequency"]), tuple(words["core"]),
                tuple(contexts["label"]), tuple(contexts["frequency"]), choice,
            )  # fmt: skip
        except (KeyError, TypeError, AttributeError, UsageError) as error:
            raise CorruptError(f"{folder.path}: not a vocabulary that can be read: {error}") from None


def _classes(letter: str, *, names: bool, pronouns: bool) -> list[int]:
    """The classes of the tokens that are a word with this letter."""
    found = [kind for kind in Class if CLASS_LETTERS[kind] == letter]
    return [int(k) for k in found if (k != Class.PROPER or names) and (k != Class.PRONOUN or pronouns)]


class _Candidates:
    """The words of a corpus that may be chosen, ranked within each part of speech."""

    def __init__(self, table: pa.Table, choice: Choice, include: Collection[str], stop_words: Collection[str]) -> None:
        self.choice = choice
        self.include = {check_label(label, "include") for label in include}
        self.tables = {kind: _of_class(table, kind) for kind in Class if CLASS_LETTERS[kind]}
        if choice.proper == "nouns":
            both = pa.concat_tables([self.tables[Class.NOUN], self.tables[Class.PROPER]])
            merged = both.group_by("word").aggregate([("count", "sum")]).rename_columns(["word", "count"])
            self.tables[Class.NOUN] = merged
        allowed = re.compile(choice.alphabetic).fullmatch
        stopped = set(stop_words)
        self.ranked = {
            kind: _ranked(rows, CLASS_LETTERS[kind], choice.min_frequency, allowed, stopped)
            for kind, rows in self.tables.items()
        }

    def words(self) -> tuple[dict[str, int], set[str]]:
        """Choose the words, with their frequencies, and say which are of the core."""
        choice = self.choice
        sizes = {
            Class.NOUN: choice.nouns, Class.VERB: choice.verbs,
            Class.ADJECTIVE: choice.adjectives, Class.ADVERB: choice.adverbs,
        }  # fmt: skip
        words: dict[str, int] = {}
        for kind, size in sizes.items():
            words |= dict(self.ranked[kind][:size])
        nouns = [count for label, count in words.items() if label[-1] == "n"]
        words |= self._included(words)
        core = {label for label in words if label[-1] in "nv"}
        rarest = min(nouns, default=1)
        if choice.proper == "arguments":
            names = {label: count for label, count in self.ranked[Class.PROPER] if count >= rarest}
            words |= {label: count for label, count in names.items() if label not in words}
        if choice.pronouns != "no":
            pronouns = {label: count for label, count in self.ranked[Class.PRONOUN] if count >= rarest}
            words |= pronouns
            core |= pronouns.keys() if choice.pronouns == "nouns" else set()
        return words, core

    def _included(self, chosen: Mapping[str, int]) -> dict[str, int]:
        """Find the words that must be in; those that the corpus lacks are named in a warning."""
        found: dict[str, int] = {}
        wanted = self.include - chosen.keys()
        for kind, rows in self.tables.items():
            letter = CLASS_LETTERS[kind]
            if kind == Class.PROPER or not any(label[-1] == letter for label in wanted):
                continue
            lemmas = pa.array(sorted(label[:-2] for label in wanted if label[-1] == letter), pa.string())
            rows = rows.filter(pc.is_in(rows.column("word"), lemmas))
            pairs = zip(rows.column("word").to_pylist(), rows.column("count").to_pylist(), strict=True)
            found |= {f"{lemma}-{letter}": count for lemma, count in pairs}
        if missing := sorted(wanted - found.keys(), key=order_of):
            shown = ", ".join(missing[:10]) + (f" and {len(missing) - 10} more" if len(missing) > 10 else "")
            near = suggest(missing[0], chosen) if len(missing) <= FEW else ""
            logger.warning("not in the corpus, and left out: %s%s", shown, near)
        return found

    def contexts(self) -> dict[str, int]:
        """Choose the content words that come after the most frequent ones, over all parts of speech."""
        kinds = (Class.NOUN, Class.VERB, Class.ADJECTIVE, Class.ADVERB)
        ranked = sorted((pair for kind in kinds for pair in self.ranked[kind]), key=_rank)
        size = self.choice.contexts
        return dict(ranked[self.choice.stop :][:size])


def _of_class(table: pa.Table, kind: Class) -> pa.Table:
    return table.filter(pc.equal(table.column("class"), int(kind))).select(["word", "count"])


def _rank(pair: tuple[str, int]) -> tuple[int, bytes, str]:
    return -pair[1], pair[0][:-2].encode(), pair[0][-1]


def _ranked(
    rows: pa.Table,
    letter: str,
    least: int,
    allowed: Callable[[str], object],
    stopped: set[str],
) -> list[tuple[str, int]]:
    """Sort the words of a class, the most frequent first, then by their bytes."""
    rows = rows.filter(pc.greater_equal(rows.column("count"), least))
    pairs: Iterable[tuple[str, int]] = zip(
        rows.column("word").to_pylist(), rows.column("count").to_pylist(), strict=True
    )
    labelled = ((f"{lemma}-{letter}", count) for lemma, count in pairs if allowed(lemma) and lemma not in stopped)
    return sorted((pair for pair in labelled if pair[0] not in stopped), key=_rank)


def restrict(labels: Sequence[str], vocabulary: Vocabulary, where: str) -> list[str]:
    """Check that words are in a vocabulary, and name those that are not."""
    unknown = [label for label in labels if check_label(label, where) not in vocabulary.ids]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise UsageError(f"{where}: {unknown[0]!r}{more} not in the vocabulary{suggest(unknown[0], vocabulary.words)}")
    return list(labels)
