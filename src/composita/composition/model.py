"""Models: what can compose, a lexicon with a grammar, opened from a run, a lexicon or a space.

>>> import numpy as np
>>> from composita.functions.lexicon import Lexicon
>>> model = Model(Lexicon.from_vectors({"dog-n": np.array([0.0, 3.0]), "bark-v": np.array([1.0, 0.0])}), "tiny")
>>> model.phrase("bark-v(dog-n)").display()
'dog bark'
>>> model.compose(["bark-v(dog-n)"], "add").vectors.tolist()
[[1.0, 1.0]]
>>> model.meaning("bark-v(dog-n)", "add")
Meaning('bark-v(dog-n)': bark-v(dog-n) by add)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from composita.composition.ground import Ground
from composita.composition.meanings import Meanings
from composita.composition.method import Method
from composita.composition.methods import METHODS, method_named
from composita.composition.rows import FloatArray
from composita.functions.lexicon import Lexicon
from composita.grammar.phrase import OPERATIONS, Phrase
from composita.store.errors import NotFoundError, UsageError, plural
from composita.store.folder import Folder

if TYPE_CHECKING:
    from composita.composition.explain import Explained
    from composita.composition.nearest import Nearest
    from composita.grammar.dependencies import Found
    from composita.grammar.derivation import Derivation
    from composita.grammar.forms import Forms
    from composita.grammar.grammar import Grammar
    from composita.grammar.terms import Const
    from composita.spaces.space import Space

KINDS = ("run", "lexicon", "space")


@dataclass(frozen=True)
class Reading:
    """What a text means: its phrase and term, how many derivations there are, which was taken, what it passes over."""

    text: str
    phrase: Phrase
    term: str
    derivations: int
    derivation: Derivation | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Model:
    """A lexicon, and the grammar by which sentences are read.

    Parameters
    ----------
    lexicon
        Vectors and functions.
    name
        What it is called.
    grammar_name
        ``paper``, ``english``, or the path of a grammar.
    corpus
        The encoded corpus that it came from, where that is known.
    path
        Where it was opened.

    """

    lexicon: Lexicon
    name: str
    grammar_name: str = "english"
    corpus: Path | None = None
    path: Path | None = None

    @property
    def space(self) -> Space:
        """The space of the lexicon, with its attested phrases."""
        return self.lexicon.space

    @property
    def ground(self) -> Ground:
        """What methods stand on; what they learned is kept there."""
        return Ground.of(self.lexicon)

    @cached_property
    def grammar(self) -> Grammar:
        """The grammar."""
        from composita.grammar.grammar import Grammar

        return Grammar.load(self.grammar_name)

    @cached_property
    def forms(self) -> Forms:
        """Which words the forms of a text can be; without a table of them only lemmas are known."""
        from composita.grammar.forms import Forms

        return Forms(self.lexicon.forms, self.lexicon.words, names=self.ground.names)

    @property
    def default_method(self) -> Method:
        """The lexicon's own functions where it has some, and otherwise Add."""
        return METHODS["learned" if len(self.lexicon) else "add"]

    def derivations(self, text: str) -> list[Derivation]:
        """Give all derivations of a sentence: first those whose words are known, and of these the likeliest."""
        return self.grammar.derivations(text, self.forms, known=self.knows)

    def knows(self, word: Const) -> bool:
        """Say whether there is a vector, or a function of so many arguments, for a word of a type."""
        from composita.grammar.types import arity

        count = 0 if word.type is None else arity(word.type)
        if count and (word.name, count) in self.lexicon:
            return True
        return word.name in self.lexicon.ids and not (count and len(self.lexicon))

    def read(self, text: str, number: int = 1) -> Reading:
        """Read a sentence, ``dogs chase cats``, or a phrase, ``chase-v(cat-n, dog-n)``.

        Parameters
        ----------
        text
            The sentence or phrase.
        number
            Which derivation of an ambiguous sentence is taken, from 1, in the order of `derivations`.

        """
        bare = text.strip()
        if "(" in bare or bare in self.lexicon.ids:
            phrase = Phrase.parse(bare)
            return Reading(text, phrase, str(phrase), 1)
        found = self.derivations(bare)
        if not 1 <= number <= len(found):
            raise UsageError(f"{text!r} has {plural(len(found), 'derivation')}: expected one of them, got {number}")
        chosen = found[number - 1]
        if chosen.phrase is None:
            raise UsageError(
                f"{text!r} means {chosen.term}, which is not made of words applied to words: no method takes it"
            )
        return Reading(text, chosen.phrase, str(chosen.term), len(found), chosen)

    def phrase(self, text: str) -> Phrase:
        """Read a sentence or a phrase; see `read`."""
        return self.read(text).phrase

    def types(self, phrase: Phrase | Reading) -> dict[str, str]:
        """Give the type of each word: ``chase-v : N -> N -> S``; that of the grammar where it was derived by one."""
        found: dict[str, str] = {}
        if isinstance(phrase, Phrase) or phrase.derivation is None:
            _types(phrase if isinstance(phrase, Phrase) else phrase.phrase, found)
            return found
        uses: dict[str, dict[str, None]] = {}
        for word in phrase.derivation.constants:
            uses.setdefault(word.name, {})[str(word.type)] = None
        return {name: ", ".join(types) for name, types in uses.items()}

    def phrases(self, texts: Sequence[str]) -> list[Phrase]:
        """Read many; equal ones only once."""
        known = {text: self.phrase(text) for text in dict.fromkeys(texts)}
        return [known[text] for text in texts]

    def derived(self, found: Found) -> Reading:
        """Take a derivation that was made of a dependency tree; see `composita.grammar.dependencies`."""
        if found.derivation is None or found.derivation.phrase is None:
            raise UsageError(found.reason or "its meaning is not made of words applied to words")
        term, text = str(found.derivation.term), " ".join(found.words)
        return Reading(text, found.derivation.phrase, term, 1, found.derivation, found.left_out)

    def compose(
        self, texts: Sequence[str], method: str | Method | None = None, *, back_off: bool = True
    ) -> Meanings:  # fmt: skip
        """Compose sentences or phrases by a method, by default `default_method`."""
        chosen = self.default_method if method is None else method_named(method) if isinstance(method, str) else method
        return chosen.compose(self.lexicon, self.phrases(texts), back_off=back_off)

    def meaning(self, text: str, method: str | Method | None = None, *, back_off: bool = True) -> Meaning:
        """Compose one sentence or phrase, and keep all that is known of it."""
        chosen = self.default_method if method is None else method_named(method) if isinstance(method, str) else method
        reading = self.read(text)
        meanings = chosen.compose(self.lexicon, [reading.phrase], back_off=back_off)
        if meanings.reasons:
            raise UsageError(f"{text!r} cannot be composed by {chosen.name}: {meanings.reasons[0]}")
        return Meaning(self, reading, chosen, meanings)


@dataclass(frozen=True, repr=False)
class Meaning:
    """The meaning of one sentence, and how it came about; in a notebook it shows its derivation."""

    model: Model
    reading: Reading
    method: Method
    meanings: Meanings

    @property
    def vector(self) -> FloatArray:
        """The vector; `UsageError` where the method gives a matrix."""
        return self.meanings.vector(0)

    @property
    def phrase(self) -> Phrase:
        """The words applied to words."""
        return self.reading.phrase

    @property
    def derivation(self) -> Derivation | None:
        """How the sentence was derived; None for what was given as a phrase."""
        return self.reading.derivation

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done for want of something."""
        return self.meanings.notes.get(0, ())

    def similarity(self, other: Meaning) -> float:
        """Give the cosine with another meaning; NaN where they cannot be compared."""
        return float(self.meanings.similarity(other.meanings)[0])

    def nearest(self, n: int = 10) -> Nearest:
        """Find the words and the attested phrases that are nearest."""
        from composita.composition.nearest import nearest

        return nearest(self.model.space, self.meanings, n)[0]

    def explain(self) -> Explained:
        """Say of which attested phrases or words it is made."""
        from composita.composition.explain import explain

        return explain(self.model.lexicon, self.phrase, self.method)

    def __repr__(self) -> str:
        return f"Meaning({self.reading.text!r}: {self.phrase} by {self.method.name})"

    def _repr_svg_(self) -> str | None:
        return None if self.derivation is None else self.derivation.svg()


def open_model(path: str | Path) -> Model:
    """Open a run, a lexicon or a space."""
    folder = Folder.open(path, version=None)
    kind, name = folder.meta["kind"], folder.path.name
    if kind == "run":
        about = folder.meta
        if not about.get("lexicon"):
            raise NotFoundError(
                f"{path}: this run learned no functions; name a space or a lexicon of its folder stages/"
            )
        corpus = about.get("corpus")
        return Model(
            Lexicon.open(folder.other(about["lexicon"])), str(about.get("name", name)),
            _grammar_of(folder.path, str(about.get("grammar") or "english")),
            None if corpus is None else folder.other(corpus), folder.path,
        )  # fmt: skip
    if kind == "lexicon":
        return Model(Lexicon.open(path), name, path=folder.path)
    if kind == "space":
        from composita.spaces.space import Space

        return Model(Lexicon.from_space(Space.open(path)), name, path=folder.path)
    raise NotFoundError(f"{path} holds {kind!r}: expected a {', a '.join(KINDS[:-1])} or a {KINDS[-1]}")


def _types(phrase: Phrase, found: dict[str, str]) -> str:
    """Find the types of all words; a modifier gives what it takes, a verb gives S."""
    taken = [_types(argument, found) for argument in phrase.arguments]
    if phrase.head in OPERATIONS:
        given = taken[0]
    elif not taken:
        given = "S" if phrase.head.endswith("-v") else "N"
    else:
        given = "S" if phrase.head.endswith("-v") else taken[-1]
    found[phrase.head] = " -> ".join([*taken, given])
    return given


def _grammar_of(run: Path, name: str) -> str:
    """Find the grammar of a run: the name of a built-in one, or a file, relative to the run's folder."""
    beside = run / name
    return str(beside) if beside.is_file() else name
