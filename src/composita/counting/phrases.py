"""Phrases: every way in which the words of a sentence fill a pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from composita.corpus.columns import MISSING, STRING_COLUMNS, Column, Tokens, words
from composita.corpus.labels import Role
from composita.corpus.roles import Links, Roles, Via
from composita.counting import kernels
from composita.counting.keys import JOINT_MASK, pack
from composita.counting.patterns import MOST_ARGUMENTS, OF, Pattern
from composita.store.errors import InputError

if TYPE_CHECKING:
    from composita.corpus.tags import Tagset
    from composita.counting.job import Job, Switches

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

WHOLE = 0.6
"""The share of tokens from which on it is quicker to look at all of them than to pick out sentences."""


# ---------------------------------------------------------------- some of the sentences


def pick_sentences(tokens: Tokens, marked: BoolArray, size: int, tagset: Tagset) -> tuple[Tokens, Int32Array]:
    """Give some sentences, of ``size`` tokens, by themselves, with the strings that they use, and where they were.

    Forms are many, and kept only if somebody will ask for them: where a lemma is missing, or where no tag tells
    relative words.
    """
    lengths, places = np.empty(int(marked.sum()), np.int64), np.empty(size, np.int32)
    kernels.list_tokens(tokens.starts, marked, lengths, places)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    columns = {name: _pick(getattr(tokens, name), places) for name in STRING_COLUMNS if name != "form"}
    missing = pa.array(MISSING, pa.string())
    told = [columns["lemma"], columns[tagset.form_column]]
    whole = bool(tagset.relative) and not any(pc.any(pc.is_in(c.values, missing)).as_py() for c in told)
    no_forms = Column(np.zeros(len(places), np.int32), pa.array([""], pa.string()))
    columns["form"] = no_forms if whole else _pick(tokens.form, places)
    return Tokens(starts, tokens.head[places], **columns), places


def _pick(column: Column, places: Int32Array) -> Column:
    codes = column.codes[places]
    used = np.zeros(len(column.values), bool)
    used[codes] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return Column(number[codes], column.values.take(pa.array(np.flatnonzero(used))))


# ---------------------------------------------------------------- links, in both directions


def admitted(switches: Switches) -> BoolArray:
    """Say for each `Via` whether the switches admit links that were found so."""
    allowed = np.ones(len(Via), bool)
    allowed[[Via.RELATIVE, Via.REDUCED]] = switches.relatives
    allowed[Via.CONJUNCT] = switches.conjuncts
    allowed[Via.SHARED] = switches.shared_subjects
    return allowed


@dataclass(frozen=True)
class Neighbours:
    """The links of some tokens, those of each together: token t has ``start[t]`` to ``start[t + 1]``."""

    start: Int64Array
    code: npt.NDArray[np.uint8]  # a role, plus `OF` where the other word is the governor
    other: Int32Array
    marker: Int32Array
    usable: BoolArray  # whether the switches admit it

    @classmethod
    def of(cls, links: Links, switches: Switches, size: int, sources: BoolArray, codes: int) -> Neighbours:
        """Sort the links by source, where a source is a token of interest; ``codes`` has a bit for each one needed."""
        allowed = admitted(switches)
        needed = np.array([(codes >> code) & 1 for code in range(2 * OF)], bool)
        parts = []
        for source, other, shift in ((links.predicate, links.argument, 0), (links.argument, links.predicate, OF)):
            if needed[shift : shift + OF].any():
                chosen = np.flatnonzero(needed[shift : shift + OF][links.role] & sources[source])
                code = links.role[chosen] + np.uint8(shift)
                parts.append((source[chosen], code, other[chosen], links.marker[chosen], allowed[links.via[chosen]]))
        source, code, other, marker, usable = (np.concatenate([part[i] for part in parts]) for i in range(5))
        start, order = np.zeros(size + 2, np.int64), np.empty(len(source), np.int64)
        kernels.group_links(source, start, order)
        return cls(start[:-1], code[order], other[order], marker[order], usable[order])


# ---------------------------------------------------------------- phrases


@dataclass(frozen=True)
class Phrases:
    """Occurrences of phrases, sorted by key."""

    upper: Int64Array
    lower: Int64Array
    own: Int32Array  # (occurrences, 7) head, arguments, preposition and particle joined; -1 for none
    joints: tuple[str, ...]  # the words joined to heads; the number in a key is the place, from 1

    def __len__(self) -> int:
        return len(self.upper)


def find_phrases(
    job: Job, tokens: Tokens, roles: Roles, links: Links, target: Int32Array, argument: Int32Array
) -> Phrases:
    """Find the phrases of all patterns of a job.

    Parameters
    ----------
    job
        Patterns, heads and switches.
    tokens, roles, links
        Sentences, and what their words are to each other.
    target, argument
        The number of each token as a head and as an argument, -1 for none.

    """
    # The last column is for tokens that are no target, whose number is -1.
    wanted = np.column_stack([job.wanted, np.zeros(len(job.patterns), bool)])
    heads: BoolArray = np.any(wanted, axis=0, keepdims=True)[0][target]
    if not job.switches.passives:
        heads &= ~roles.passive
    neighbours = Neighbours.of(links, job.switches, len(tokens), heads, _codes(job.patterns))
    column = _spoken(job, tokens)
    lists = _preposition_lists(job.patterns, column)
    width = int(np.diff(neighbours.start).max(initial=0)) + 1
    found, markers = (np.empty((MOST_ARGUMENTS, width), np.int32) for _ in range(2))
    rows = []
    for number, pattern in enumerate(job.patterns):
        mine = np.flatnonzero(heads & wanted[number][target]).astype(np.int32)
        counted = (np.zeros(MOST_ARGUMENTS, np.int64), np.zeros(MOST_ARGUMENTS, np.int64))
        fixed = (
            mine, _places(pattern, job.patterns), pattern.without_mask, neighbours.start, neighbours.code,
            neighbours.other, neighbours.marker, neighbours.usable, argument, roles.kind, lists, found, markers,
            *counted,
        )  # fmt: skip
        out = np.empty((len(mine) * 2, COLUMNS - 1), np.int32)
        size = kernels.find_phrases(*fixed, out)
        if size > len(out):  # long coordinations; now that the number is known, once more
            out = np.empty((size, COLUMNS - 1), np.int32)
            kernels.find_phrases(*fixed, out)
        rows.append(out[:size])
    pattern_of = np.repeat(np.arange(1, len(rows) + 1), [len(part) for part in rows])
    own = np.full((len(pattern_of), COLUMNS), -1, np.int32)
    own[:, :-1] = np.concatenate(rows)
    if job.switches.join_particles:
        own[:, -1] = _particles(neighbours)[own[:, 0]]
    return _sorted_by_key(pattern_of, own, column, target, argument)


def _spoken(job: Job, tokens: Tokens) -> Column:
    """The words of prepositions and particles, if any pattern asks for them."""
    asked = any(a.join or a.prepositions for pattern in job.patterns for a in pattern.arguments)
    if asked or job.switches.join_particles:
        return words(tokens)
    return Column(np.zeros(len(tokens), np.int32), pa.array([""], pa.string()))


COLUMNS = 1 + MOST_ARGUMENTS + 2
"""The tokens of an occurrence: the head, its arguments, and the preposition and the particle that are joined to it."""


def _codes(patterns: Sequence[Pattern]) -> int:
    """Collect the roles that matter, as bits."""
    codes = 1 << Role.PARTICLE
    for pattern in patterns:
        codes |= pattern.without_mask
        for argument in pattern.arguments:
            codes |= argument.role_mask
    return codes


def _lists(patterns: Sequence[Pattern]) -> list[tuple[str, ...]]:
    """The lists of prepositions that the patterns ask for, each once."""
    found = {argument.prepositions for pattern in patterns for argument in pattern.arguments}
    return sorted(found - {()})


def _preposition_lists(patterns: Sequence[Pattern], column: Column) -> Int64Array:
    """Say for each token in which lists of prepositions it is, as bits."""
    masks = np.zeros(len(column.values), np.int64)
    for bit, prepositions in enumerate(_lists(patterns)):
        known = pc.is_in(column.values, pa.array(prepositions, pa.string()))
        masks |= known.to_numpy(zero_copy_only=False).astype(np.int64) << bit
    return masks[column.codes]


def _places(pattern: Pattern, patterns: Sequence[Pattern]) -> Int64Array:
    """Write the arguments of a pattern as numbers, a row each, for `kernels.find_phrases`."""
    lists = _lists(patterns)
    return np.array(
        [
            [a.role_mask, a.class_mask, lists.index(a.prepositions) if a.prepositions else -1, a.optional, a.join]
            for a in pattern.arguments
        ],
        np.int64,
    )


def _particles(neighbours: Neighbours) -> Int32Array:
    """Find the first particle of each token, -1 for none."""
    size = len(neighbours.start) - 1
    particle = np.full(size, -1, np.int32)
    places = np.flatnonzero(neighbours.code == Role.PARTICLE)[::-1]
    sources = np.searchsorted(neighbours.start, places, side="right") - 1
    particle[sources] = neighbours.other[places]  # the first is written last
    return particle


def _sorted_by_key(
    pattern: Int64Array, own: Int32Array, column: Column, target: Int32Array, argument: Int32Array
) -> Phrases:
    """Give occurrences their keys and sort them."""
    numbers = np.where(own >= 0, np.append(argument, np.int32(-1))[own], -1)[:, 1 : 1 + MOST_ARGUMENTS]
    joint, joints = _joints(own[:, -1], own[:, -2], column)
    upper, lower = pack(pattern, target[own[:, 0]], joint, numbers)
    order = np.lexsort((lower, upper)) if lower.any() else np.argsort(upper, kind="stable")
    return Phrases(upper[order], lower[order], own[order], joints)


def _joints(particle: Int32Array, preposition: Int32Array, column: Column) -> tuple[Int64Array, tuple[str, ...]]:
    """Number what is joined to the head of each occurrence: ``up``, ``in``, ``up_with``; 0 for nothing."""
    codes = np.append(column.codes, np.int32(-1))
    pairs = (codes[particle].astype(np.int64) + 1) << 32 | (codes[preposition].astype(np.int64) + 1)
    distinct, inverse = np.unique(pairs, return_inverse=True)
    strings = []
    for pair in distinct.tolist():
        parts = [column.values[code - 1].as_py() for code in (pair >> 32, pair & 0xFFFFFFFF) if code]
        strings.append("_".join(parts))
    joints = tuple(sorted(set(strings) - {""}, key=str.encode))
    if len(joints) > JOINT_MASK:
        raise InputError(
            f"{len(joints):,} different prepositions and particles in one shard, expected at most {JOINT_MASK:,}"
        )
    place = {word: i for i, word in enumerate(("", *joints))}
    return np.array([place[word] for word in strings], np.int64)[inverse], joints
