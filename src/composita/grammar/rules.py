"""Rules: a category, what it is made of, and the meaning of the whole in terms of the meanings of the parts."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TypeAlias

from composita.grammar.terms import Term


@dataclass(frozen=True)
class Category:
    """A category, such as ``NP``, or ``V[ing]`` with a feature."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Word:
    """A word as it stands in the sentence, in lower case."""

    form: str

    def __str__(self) -> str:
        return f'"{self.form}"'


@dataclass(frozen=True)
class WordClass:
    """Any word of some parts of speech, if its form fits: ``<n p>``, ``<v *ing>``, ``<v !*ing>``, ``<n p !who !whom>``.

    A form that is the lemma is not inflected and never fits a pattern: *sing* is no *-ing* form of ``sing-v``.
    """

    letters: tuple[str, ...]
    forms: tuple[str, ...] = ()
    fits: bool = True

    def admits(self, form: str, label: str) -> bool:
        """Say whether a form of a word is of the class.

        >>> finite = WordClass(("v",), ("*ing",), fits=False)
        >>> [finite.admits(form, "sing-v") for form in ("sings", "sing", "singing")]
        [True, True, False]
        >>> WordClass(("n", "p"), ("who", "whom"), fits=False).admits("who", "who-p")
        False
        """
        if label[-1] not in self.letters:
            return False
        return not self.forms or any(_fits(form, label, pattern) for pattern in self.forms) == self.fits

    def __str__(self) -> str:
        said = [form if self.fits else f"!{form}" for form in self.forms]
        return f"<{' '.join([*self.letters, *said])}>"


def _fits(form: str, label: str, pattern: str) -> bool:
    return form == pattern if "*" not in pattern else fnmatchcase(form, pattern) and form != label[:-2]


Symbol: TypeAlias = Category | Word | WordClass


@dataclass(frozen=True)
class Rule:
    """A rule such as ``VP -> Vt NP : Vt(NP)``.

    Parameters
    ----------
    left, right
        The category, and what it is made of.
    meaning
        A term whose free variables are ``names``; for words alone that is a constant.
    names
        What the meaning calls each part; empty for words.
    line
        Where it stands in the text.

    """

    left: str
    right: tuple[Symbol, ...]
    meaning: Term
    names: tuple[str, ...]
    line: int

    @property
    def is_lexical(self) -> bool:
        """Whether it admits words of a lexicon."""
        return isinstance(self.right[0], WordClass)

    def __str__(self) -> str:
        right = f"{self.left} -> {' '.join(map(str, self.right))}"
        return right if self.is_lexical else f"{right} : {self.meaning}"


@dataclass(frozen=True)
class Refusal:
    """Words that a grammar does not take, or a construction, and why.

    Parameters
    ----------
    forms
        The words, or patterns of words; none for a construction.
    reason
        Why.
    rule
        The construction, as a rule whose meaning is never used.

    """

    forms: tuple[str, ...]
    reason: str
    rule: Rule | None = None

    def covers(self, form: str) -> bool:
        """Say whether a form is one of them; ``*`` stands for any letters."""
        return form in self._plain or any(fnmatchcase(form, pattern) for pattern in self._patterns)

    @cached_property
    def _plain(self) -> frozenset[str]:
        return frozenset(self.forms) - frozenset(self._patterns)

    @cached_property
    def _patterns(self) -> tuple[str, ...]:
        return tuple(form for form in self.forms if set(form) & set("*?["))
