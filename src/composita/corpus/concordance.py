"""Words in their sentences, with their arguments marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from composita.corpus.columns import Column, Token, Tokens, words
from composita.corpus.labels import Role
from composita.corpus.tags import LETTERS
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.corpus.corpus import Shard

_SHOWN = range(Role.SUBJECT, Role.PREDICATIVE + 1)


@dataclass(frozen=True)
class Argument:
    """An argument or modifier of a word: its place in the sentence, counted from 0."""

    position: int
    role: str
    preposition: str | None = None

    @property
    def label(self) -> str:
        """The role, with its preposition: ``subject``, ``oblique:with``."""
        return self.role if self.preposition is None else f"{self.role}:{self.preposition}"


@dataclass(frozen=True)
class Occurrence:
    """A word in its sentence; ``position`` is its place, counted from 0."""

    shard: str
    sentence: int  # counted from 0 in the shard
    position: int
    tokens: tuple[Token, ...]
    arguments: tuple[Argument, ...]
    passive: bool = False

    def __str__(self) -> str:
        """The sentence with the word between asterisks and its arguments between brackets."""
        labels: dict[int, list[str]] = {}
        for argument in self.arguments:
            labels.setdefault(argument.position, []).append(argument.label)
        parts = []
        for place, token in enumerate(self.tokens):
            text = f"*{token.form}*" if place == self.position else token.form
            parts.append(f"[{text}]{','.join(labels[place])}" if place in labels else text)
        return " ".join(parts)


def find_occurrences(
    shards: Iterable[Shard],
    *,
    lemma: str | None,
    form: str | None,
    pos: str | None,
    relation: str | None,
    limit: int | None,
) -> Iterator[Occurrence]:
    """Find words by all that is given of them; see `Corpus.sentences`."""
    if pos is not None and (not pos or pos not in LETTERS):
        raise UsageError(f"unknown part of speech {pos!r}: choose n, v, a, r or p")
    if limit is not None and limit < 0:
        raise UsageError(f"expected a number of sentences from 0, got {limit}")
    left = limit
    for shard in shards:
        if left == 0:
            return
        tokens = shard.load()
        mask = np.ones(len(tokens), bool)
        if lemma is not None:
            mask &= _equals(words(tokens), lemma)
        if form is not None:
            mask &= _equals(tokens.form, form)
        if relation is not None:
            mask &= _equals(tokens.relation, relation)
        if pos is not None and mask.any():
            mask &= np.array([letter == pos for letter in LETTERS])[shard.classes(tokens)]
        hits = np.flatnonzero(mask)[:left]
        yield from _occurrences(shard, tokens, hits)
        left = None if left is None else left - len(hits)


def _equals(column: Column, word: str) -> npt.NDArray[np.bool_]:
    wanted = pc.utf8_lower(pa.array([word], pa.string()))[0]
    matches = pc.equal(pc.utf8_lower(column.values), wanted).to_numpy(zero_copy_only=False)
    return np.asarray(matches[column.codes], bool)


def _occurrences(shard: Shard, tokens: Tokens, hits: npt.NDArray[np.int64]) -> Iterator[Occurrence]:
    """Cut the sentences of the hits out of the shard, and find roles in these only."""
    numbers = np.searchsorted(tokens.starts, hits, side="right") - 1
    for hit, number in zip(hits, numbers, strict=True):
        start, end = int(tokens.starts[number]), int(tokens.starts[number + 1])
        sentence = cut(tokens, start, end)
        roles = shard.roles(sentence)
        (readable,) = sentence
        place = int(hit) - start
        arguments = {
            Argument(link.argument, link.role.name.lower(), _preposition(readable, link.marker))
            for link in roles.links()
            if link.predicate == place and link.role in _SHOWN
        }
        yield Occurrence(
            shard.path.name, int(number), place, tuple(readable),
            tuple(sorted(arguments, key=lambda a: (a.position, a.role))), bool(roles.passive[place]),
        )  # fmt: skip


def _preposition(sentence: list[Token], marker: int) -> str | None:
    return sentence[marker].form.lower() if marker >= 0 else None


def cut(tokens: Tokens, start: int, end: int) -> Tokens:
    """Return one sentence by itself, with the strings that it uses."""
    columns: dict[str, Any] = {}
    for name in ("form", "lemma", "upos", "xpos", "relation"):
        column: Column = getattr(tokens, name)
        used, codes = np.unique(column.codes[start:end], return_inverse=True)
        columns[name] = Column(codes.astype(np.int32), column.values.take(pa.array(used)))
    return Tokens(np.array([0, end - start]), tokens.head[start:end], **columns)
