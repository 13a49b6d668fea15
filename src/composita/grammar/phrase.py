"""Phrases: words applied to words, the form in which sentences reach every method of composition.

A phrase is a head with its arguments in order of application, each a phrase itself; a bare word has none. It is the
normal form of a sentence's meaning where that is first-order: *angry dogs chase furry cats* is

>>> cats, dogs = Phrase("furry-a", (Phrase("cat-n"),)), Phrase("angry-a", (Phrase("dog-n"),))
>>> sentence = Phrase("chase-v", (cats, dogs))
>>> print(sentence)
chase-v(furry-a(cat-n), angry-a(dog-n))
>>> sentence.display()
'angry dog chase furry cat'
>>> Phrase.parse(str(sentence)) == sentence
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from composita.store.errors import UsageError

_SIGNS = re.compile(r"\s*([(),]|[^(),\s][^(),]*)")
DEEPEST = 50
OPERATIONS = ("and", "that")
"""Heads that are no words: coordination, and a noun with a clause that it has a part in."""


@dataclass(frozen=True, order=True)
class Phrase:
    """A head, such as ``chase-v``, with its arguments in order of application: the object before the subject."""

    head: str
    arguments: tuple[Phrase, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Phrase:
        """Read a phrase such as ``chase-v(cat-n, dog-n)``."""
        signs = [(found[1].strip(), found.start(1)) for found in _SIGNS.finditer(text)]
        phrase, place = _parse(text, signs, 0, 0)
        if place != len(signs):
            raise _unexpected(text, signs, place, "the end")
        return phrase

    @property
    def arity(self) -> int:
        """How many arguments the head is applied to."""
        return len(self.arguments)

    def words(self) -> Iterator[str]:
        """Give all words, the head first."""
        yield self.head
        for argument in self.arguments:
            yield from argument.words()

    def __str__(self) -> str:
        return f"{self.head}({', '.join(map(str, self.arguments))})" if self.arguments else self.head

    def display(self) -> str:
        """Write the phrase as people say it: *dog chase cat*, *furry cat*."""
        said = [argument.display() for argument in self.arguments]
        if self.head in OPERATIONS:
            return f" {self.head} ".join(said)
        lemma = self.head[:-2].replace("_", " ")
        if self.head.endswith("-v") and said:
            return " ".join([said[-1], lemma, *said[-2::-1]])
        return " ".join([lemma, *said])


def _parse(text: str, signs: list[tuple[str, int]], place: int, depth: int) -> tuple[Phrase, int]:
    """Read the phrase that begins at a sign, and give the place behind it."""
    if depth > DEEPEST:
        raise UsageError(f"{text[:60]!r}: expected a phrase of at most {DEEPEST} levels")
    if place == len(signs) or signs[place][0] in "(),":
        raise _unexpected(text, signs, place, "a word such as dog-n")
    head, arguments = signs[place][0], []
    place += 1
    if place < len(signs) and signs[place][0] == "(":
        while place < len(signs) and signs[place][0] in "(,":
            argument, place = _parse(text, signs, place + 1, depth + 1)
            arguments.append(argument)
        if place == len(signs) or signs[place][0] != ")":
            raise _unexpected(text, signs, place, "a closing parenthesis")
        place += 1
    return Phrase(head, tuple(arguments)), place


def _unexpected(text: str, signs: list[tuple[str, int]], place: int, expected: str) -> UsageError:
    found, column = signs[place] if place < len(signs) else ("the end", len(text))
    return UsageError(f"{text!r}, column {column + 1}: expected {expected}, found {found!r}")
