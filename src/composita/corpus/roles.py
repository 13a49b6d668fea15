"""Roles: who does what to whom in each sentence, whatever the treebank's labels.

>>> from composita.corpus.columns import Tokens
>>> from composita.corpus.labels import Scheme
>>> from composita.corpus.tags import Tagset
>>> sentence = [
...     ("Cats", "cat", "NOUN", "NNS", 3, "nsubj:pass"),
...     ("are", "be", "AUX", "VBP", 3, "aux:pass"),
...     ("chased", "chase", "VERB", "VBN", 0, "root"),
...     ("by", "by", "ADP", "IN", 5, "case"),
...     ("dogs", "dog", "NOUN", "NNS", 3, "obl:agent"),
... ]
>>> roles = resolve(Tokens.from_sentences([sentence]), Scheme.load("ud"), Tagset.load("upos"))
>>> roles.governor.tolist(), roles.marker.tolist(), roles.passive.tolist()
([2, 2, -1, -1, 2], [-1, -1, -1, -1, 3], [False, False, True, False, False])
>>> for link in roles.links():
...     print(sentence[link.predicate][1], link.role.name, sentence[link.argument][1])
chase OBJECT cat
chase AUXILIARY be
chase SUBJECT dog

Nothing is said twice: a token has at most one governor, and what follows from it (the antecedent of a
relative word, the further conjuncts of an argument, the subject that conjoined verbs share) is kept beside
it, so that counting may use it or not. `Roles.links` puts all of it into one list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from composita.corpus import role_kernels as loops
from composita.corpus.columns import Column, Int32Array, Tokens
from composita.corpus.labels import RULES, Role, Scheme, Word
from composita.corpus.paths import CLASSES, NOMINAL, Automaton
from composita.corpus.rulefiles import MISSING
from composita.corpus.tags import Tagset

UInt8Array = npt.NDArray[np.uint8]
UInt16Array = npt.NDArray[np.uint16]
BoolArray = npt.NDArray[np.bool_]

BLOCK = 1 << 15
"""About how many tokens are resolved at a time."""


_WORD_FLAGS = {
    Word.BE: loops.IS_BE,
    Word.AGENT: loops.IS_AGENT,
    Word.RECIPIENT: loops.IS_RECIPIENT,
    Word.GIVE: loops.IS_GIVE,
    Word.ADJUNCT: loops.IS_ADJUNCT,
    Word.GENITIVE: loops.IS_GENITIVE,
}


class Via(IntEnum):
    """How a link was found."""

    TREE = 0  # the argument depends on the predicate
    RELATIVE = 1  # dogs that chase: the argument is the antecedent of a relative word
    REDUCED = 2  # dogs chasing, cats chased, cats dogs chase: the argument is the noun that the clause modifies
    CONJUNCT = 3  # dogs and cats chase: the argument is a further conjunct
    SHARED = 4  # dogs bark and chase: the argument is the subject of the first of conjoined verbs


class Link(NamedTuple):
    """One argument or modifier of one word."""

    predicate: int
    role: Role
    argument: int
    marker: int
    via: Via


@dataclass(frozen=True)
class Links:
    """Links as columns, in the order of their arguments within each `Via`."""

    predicate: Int32Array
    role: UInt8Array
    argument: Int32Array
    marker: Int32Array  # the preposition, -1 for none
    via: UInt8Array

    def __len__(self) -> int:
        return len(self.predicate)

    def __iter__(self) -> Iterator[Link]:
        columns = (self.predicate, self.role, self.argument, self.marker, self.via)
        for predicate, role, argument, marker, via in zip(*(c.tolist() for c in columns), strict=True):
            yield Link(predicate, Role(role), argument, marker, Via(via))


@dataclass(frozen=True)
class Roles:
    """What the tokens are to each other: one entry a token in every array, -1 for no token.

    Parameters
    ----------
    kind
        The coarse `Class` of each token.
    governor, role
        The verb, noun or other word that the token belongs to, past auxiliaries and prepositions, and its
        deep `Role` there.
    marker
        The preposition that introduces it; for a verb with ``gap`` OBLIQUE the stranded one.
    passive
        Whether the clause of this verb is passive.
    antecedent
        For a relative word with a role: the noun that it stands for.
    gap
        For a verb with the role RELATIVE: the role in its clause of the noun that it modifies, where no
        relative word has it.
    first
        For a CONJUNCT: the first word of its coordination.
    shared, shared_role
        For a conjoined verb without a subject: the first verb's subject, and its deep role here.

    """

    kind: UInt8Array
    governor: Int32Array
    role: UInt8Array
    marker: Int32Array
    passive: BoolArray
    antecedent: Int32Array
    gap: UInt8Array
    first: Int32Array
    shared: Int32Array
    shared_role: UInt8Array

    def links(self) -> Links:
        """Give every link; a relative word is replaced by its antecedent."""
        tokens = np.arange(len(self.role), dtype=np.int32)
        meant = np.where(self.antecedent >= 0, self.antecedent, tokens)
        nowhere = np.int32(-1)

        own = np.flatnonzero(self.role)
        gap = np.flatnonzero(self.gap)
        further = self._shared_arguments()
        first = self.first[further]
        verb = np.flatnonzero(self.shared_role)
        own_marker = np.where(self.role[own] == Role.RELATIVE, nowhere, self.marker[own])  # it is the gap's
        further_marker = np.where(self.marker[further] >= 0, self.marker[further], self.marker[first])
        parts = [  # predicate, role, argument, marker, via
            (self.governor[own], self.role[own], meant[own], own_marker, Via.TREE),
            (tokens[gap], self.gap[gap], self.governor[gap], self.marker[gap], Via.REDUCED),
            (self.governor[first], self.role[first], tokens[further], further_marker, Via.CONJUNCT),
            (
                tokens[verb],
                self.shared_role[verb],
                meant[self.shared[verb]],
                np.full_like(tokens[verb], -1),
                Via.SHARED,
            ),
        ]
        via = np.repeat([part[4] for part in parts], [len(part[0]) for part in parts]).astype(np.uint8)
        via[: len(own)][self.antecedent[own] >= 0] = Via.RELATIVE
        predicate, role, argument, marker = (np.concatenate([part[i] for part in parts]) for i in range(4))
        return Links(predicate, role, argument, marker, via)

    def _shared_arguments(self) -> npt.NDArray[np.int64]:
        """Find the conjuncts of arguments and modifiers that are of the same sort as the first of them."""
        further = np.flatnonzero(self.first >= 0)
        first = self.first[further]
        nominal = np.isin(np.arange(CLASSES), NOMINAL)
        alike = (self.kind[further] == self.kind[first]) | (nominal[self.kind[further]] & nominal[self.kind[first]])
        role = self.role[first]
        chosen: npt.NDArray[np.int64] = further[alike & (role >= Role.SUBJECT) & (role <= Role.PREDICATIVE)]
        return chosen


_FIELDS = tuple(field.name for field in fields(Roles))
_TYPES: dict[str, type] = dict.fromkeys(("kind", "role", "gap", "shared_role"), np.uint8) | {"passive": np.bool_}


def resolve(tokens: Tokens, scheme: Scheme, tagset: Tagset) -> Roles:
    """Find the role of every token.

    Strings are looked up once for each distinct value; the rest is a few passes over integers, linear in the
    tokens and done block by block, so that what is needed in between stays in the processor's cache.

    Parameters
    ----------
    tokens
        Whole sentences. A head outside of its sentence counts as a root; cycles and several roots do no harm.
    scheme
        What the relations mean.
    tagset
        What the tags mean.

    """
    size = len(tokens)
    tables = _Tables.of(tokens, scheme, tagset)
    roles = Roles(**{name: np.empty(size, _TYPES.get(name, np.int32)) for name in _FIELDS})
    for first, last in _blocks(tokens.starts):
        begin, end = int(tokens.starts[first]), int(tokens.starts[last])
        part = Roles(**{name: getattr(roles, name)[begin:end] for name in _FIELDS})
        _resolve_block(tables, tokens, slice(begin, end), tokens.starts[first : last + 1] - begin, part)
        for positions in (part.governor, part.marker, part.antecedent, part.first, part.shared):
            loops.shift(positions, begin)
    return roles


def _blocks(starts: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of sentences with about `BLOCK` tokens together, at least one sentence each."""
    first, sentences = 0, len(starts) - 1
    while first < sentences:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + BLOCK, side="right")) - 1)
        yield first, last
        first = last


@dataclass(frozen=True)
class _Tables:
    """What each distinct string of a shard means."""

    kind_column: str
    kind: UInt8Array  # by tag
    relation: Int32Array  # by relation: the first symbol of the automaton, before the class
    lemma: UInt16Array  # bits (``IS_*``) by lemma
    form: UInt16Array  # bits by form, for tokens without a lemma
    no_lemma: BoolArray  # by lemma
    tag_column: str
    tag: UInt16Array  # bits by tag
    no_tag: BoolArray  # by tag: it says nothing of relative words
    relative: UInt16Array  # bit by form, for tokens with such a tag
    rules: int
    automaton: Automaton

    @classmethod
    def of(cls, tokens: Tokens, scheme: Scheme, tagset: Tagset) -> _Tables:
        tags = [tagset.first(tag) for tag in _values(getattr(tokens, tagset.form_column))]
        meanings = _meanings(scheme)
        return cls(
            kind_column=tagset.column,
            kind=tagset.classify(_values(getattr(tokens, tagset.column))),
            relation=scheme.numbers(_values(tokens.relation)) * np.int32(CLASSES),
            lemma=_word_flags(tokens.lemma, meanings),
            form=_word_flags(tokens.form, meanings),
            no_lemma=pc.fill_null(pc.equal(tokens.lemma.values, MISSING), True).to_numpy(zero_copy_only=False),
            tag_column=tagset.form_column,
            tag=_tag_flags(tags, tagset),
            no_tag=np.array([not tagset.relative or tag == MISSING for tag in tags], np.bool_),
            relative=_word_flags(tokens.form, dict.fromkeys(scheme.lemmas(Word.RELATIVE), loops.IS_RELATIVE)),
            rules=sum(1 << place for place, rule in enumerate(RULES) if rule in scheme.rules),
            automaton=scheme.automaton,
        )

    def flags(self, tokens: Tokens, part: slice) -> UInt16Array:
        """Tell what each token is by its word and its tag, as bits (``IS_*``)."""
        lemma, tag = tokens.lemma.codes[part], getattr(tokens, self.tag_column).codes[part]
        flags = self.lemma[lemma]
        if self.no_lemma.any():
            flags = np.where(self.no_lemma[lemma], self.form[tokens.form.codes[part]], flags)
        flags |= self.tag[tag]
        if self.no_tag.any():
            flags |= np.where(self.no_tag[tag], self.relative[tokens.form.codes[part]], np.uint16(0))
        return flags


def _resolve_block(tables: _Tables, tokens: Tokens, part: slice, starts: npt.NDArray[np.int64], out: Roles) -> None:
    """Fill ``out`` for some sentences; positions count from their first token."""
    size = len(out.role)
    flags, rules, automaton = tables.flags(tokens, part), tables.rules, tables.automaton
    out.kind[:] = tables.kind[getattr(tokens, tables.kind_column).codes[part]]
    symbol = tables.relation[tokens.relation.codes[part]] + out.kind
    parent, top, below, bottom, subject, next_object, stranded = (np.empty(size, np.int32) for _ in range(7))
    surface, function = (np.empty(size, np.uint8) for _ in range(2))
    has = np.zeros(size, np.uint16)
    kind, governor, role, marker, passive = out.kind, out.governor, out.role, out.marker, out.passive

    loops.parents(starts, tokens.head[part], parent)
    loops.find_functions(parent, symbol, kind, automaton.step, automaton.accept, automaton.marker, surface, top, marker)
    loops.find_chains(surface, top, flags, rules, below, bottom)
    loops.follow_chains(surface, top, marker, flags, rules, below, bottom, function, governor, has)
    loops.mark_heads(parent, flags, has)
    loops.describe_clauses(function, governor, kind, flags, has, subject, next_object, marker, stranded)
    loops.find_passives(function, governor, kind, flags, rules, has, passive)
    loops.find_roles(function, governor, kind, flags, rules, has, next_object, marker, passive, role)
    loops.find_antecedents(parent, bottom, governor, role, flags, has, out.antecedent)
    loops.find_gaps(function, governor, kind, role, flags, rules, has, passive, stranded, out.gap, marker)
    loops.find_coordinations(governor, role, kind, has, subject, passive, out.first, out.shared, out.shared_role)


def _values(column: Column) -> list[str]:
    return [MISSING if value is None else value for value in column.values.to_pylist()]


def _meanings(scheme: Scheme) -> dict[str, int]:
    """The bits of every word that a scheme lists."""
    meanings: dict[str, int] = {}
    for word, flag in _WORD_FLAGS.items():
        for lemma in scheme.lemmas(word):
            meanings[lemma] = meanings.get(lemma, 0) | flag
    return meanings


def _word_flags(column: Column, meanings: dict[str, int]) -> UInt16Array:
    """Give each distinct string the bits of what it means in lower case, without making it a string of Python."""
    found = pc.index_in(pc.utf8_lower(column.values), pa.array(list(meanings), pa.string()))
    places = pc.fill_null(found, -1).to_numpy(zero_copy_only=False)
    flags: UInt16Array = np.array([*meanings.values(), 0], np.uint16)[places]
    return flags


def _tag_flags(tags: Sequence[str], tagset: Tagset) -> UInt16Array:
    lists = (
        (tagset.participle, loops.IS_PARTICIPLE),
        (tagset.gerund, loops.IS_GERUND),
        (tagset.relative, loops.IS_RELATIVE),
    )
    return np.array([sum(flag for known, flag in lists if tag in known) for tag in tags], np.uint16)
