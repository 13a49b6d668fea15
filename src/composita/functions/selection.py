"""Which phrases of a space become the examples of which functions, and why others do not.

A plan is made before anything is learned: it is small, it can be looked at, and the same space and options always give
the same plan.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.counting.keys import JOINT_BITS, JOINT_MASK
from composita.counting.words import LETTERS, split_label, suggest
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.spaces.items import Phrases
    from composita.spaces.space import Space

logger = logging.getLogger("composita")

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

ARGUMENTS = ("nouns", "names", "pronouns")


@dataclass(frozen=True)
class Selection:
    """Which phrases are examples, and in which form.

    Parameters
    ----------
    min_examples
        Words with fewer phrases get no function.
    min_nonzero
        Phrases with fewer dimensions that are not 0, before reduction, are no examples.
    min_frequency
        Rarer phrases are no examples.
    max_examples
        Of more phrases the most frequent are taken; None for all.
    arguments
        What may be an argument: ``nouns`` (of the core), ``names`` (nouns outside the core), ``pronouns``.
    normalise
        Whether arguments are brought to length 1; composed ones are, too, when the function is applied to them.
    normalise_outputs
        Whether the vectors of phrases are.

    """

    min_examples: int = 3
    min_nonzero: int = 10
    min_frequency: int = 1
    max_examples: int | None = None
    arguments: tuple[str, ...] = ARGUMENTS
    normalise: bool = True
    normalise_outputs: bool = True

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.arguments if kind not in ARGUMENTS]
        if unknown or not self.arguments:
            raise UsageError(f"arguments: expected some of {', '.join(ARGUMENTS)}, got {', '.join(unknown) or 'none'}")
        for name in ("min_examples", "min_nonzero", "min_frequency"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name}: expected a number from 0, got {getattr(self, name)}")
        if self.max_examples is not None and self.max_examples < 1:
            raise UsageError(f"max_examples: expected a number from 1, got {self.max_examples}")

    def parameters(self) -> dict[str, Any]:
        """Give the options as JSON can say them."""
        return asdict(self) | {"arguments": list(self.arguments)}


@dataclass(frozen=True)
class Head:
    """One word of one pattern: the phrases that are its examples, and how many others are not."""

    word: str
    rows: Int64Array  # (N,) in the space
    ids: Int64Array  # (N, arity) rows of the words that have vectors
    frequency: Int64Array  # (N,)
    dropped: Mapping[str, int]


@dataclass(frozen=True)
class Plan:
    """The heads of one pattern that functions are learned for."""

    pattern: str
    names: tuple[str, ...]
    heads: tuple[Head, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Words with too few examples, and how many they have."""

    @property
    def examples(self) -> int:
        """How many examples there are."""
        return sum(len(head.rows) for head in self.heads)


def choose_patterns(space: Space, patterns: str | Sequence[str] | None) -> list[str]:
    """Find the patterns asked for, or all of the space that have arguments.

    Phrases without an argument that is optional are left out later, with the others that lack a vector.
    """
    known = list(pattern_names(space))
    if patterns is None:
        return known
    asked = patterns.split(",") if isinstance(patterns, str) else list(patterns)
    for name in asked:
        if name not in known:
            have = f"choose {', '.join(known)}" if known else "it has no phrases; count some with --phrases"
            raise UsageError(f"the space has no phrases of the pattern {name!r}: {have}")
    return [name for name in known if name in asked]


def pattern_names(space: Space) -> dict[str, tuple[str, ...]]:
    """Give the patterns of a space, with the names of their arguments."""
    return {
        pattern.name: tuple(argument.name for argument in pattern.arguments)
        for pattern in space.items.names.patterns
        if len(space.phrases(pattern.name).rows)
    }


def plan(space: Space, pattern: str, selection: Selection, heads: Collection[str] | None = None) -> Plan:
    """Choose the examples of all heads of a pattern."""
    phrases = space.phrases(pattern)
    names = pattern_names(space)[pattern]
    reasons = _reasons(space, phrases, selection)
    place = _places(space)
    found, left_out = [], {}
    for word, members in _of_heads(space, phrases, heads):
        kept = members[reasons[members] == 0]
        dropped = _tally(reasons[members])
        if len(kept) < max(1, selection.min_examples):
            left_out[word] = len(kept)
            continue
        if selection.max_examples is not None and len(kept) > selection.max_examples:
            order = np.argsort(-phrases.frequency[kept], kind="stable")[: selection.max_examples]
            dropped["beyond the most frequent"] = len(kept) - len(order)
            kept = kept[np.sort(order)]
        rows, ids = phrases.rows[kept].astype(np.int64), place[phrases.arguments[kept]]
        found.append(Head(word, rows, ids, phrases.frequency[kept].astype(np.int64), dropped))
    return Plan(pattern, names, tuple(found), left_out)


REASONS = ("", "an argument is absent or has no vector", "arguments not asked for", "too rare", "too few dimensions")


def _reasons(space: Space, phrases: Phrases, selection: Selection) -> npt.NDArray[np.int8]:
    """Say of each phrase why it is no example; 0 where it is one."""
    arguments = phrases.arguments
    has_vector = np.append(np.asarray(space.word_rows) >= 0, False)
    kinds = np.append(_kinds(space), -1)
    wanted = [number for number, kind in enumerate(ARGUMENTS) if kind in selection.arguments] + [len(ARGUMENTS)]
    reasons = np.zeros(len(arguments), np.int8)
    reasons[space.nonzeros[phrases.rows] < selection.min_nonzero] = 4
    reasons[phrases.frequency < selection.min_frequency] = 3
    reasons[~np.isin(kinds[arguments], wanted).all(axis=1)] = 2
    reasons[~has_vector[arguments].all(axis=1)] = 1
    return reasons


def _kinds(space: Space) -> npt.NDArray[np.int8]:
    """Say of each word what it is as an argument: noun, name, pronoun, or anything else."""
    letters = np.array([LETTERS.index(w[-1]) if split_label(w) else 0 for w in space.words], np.int8)
    core = np.zeros(len(space.words), bool)
    rows = np.asarray(space.word_rows, np.int64)
    core[rows >= 0] = np.asarray(space.core)[rows[rows >= 0]]
    kinds = np.full(len(space.words), len(ARGUMENTS), np.int8)
    kinds[letters == LETTERS.index("n")] = 1
    kinds[(letters == LETTERS.index("n")) & core] = 0
    kinds[letters == LETTERS.index("p")] = 2
    return kinds


def _places(space: Space) -> Int64Array:
    """Give the place of each word among those that have vectors; -1 for the others and for no word."""
    held = np.asarray(space.word_rows) >= 0
    return np.append(np.where(held, np.cumsum(held) - 1, -1), -1)


def _tally(reasons: npt.NDArray[np.int8]) -> dict[str, int]:
    counts = np.bincount(reasons, minlength=len(REASONS)).tolist()
    return {reason: count for reason, count in zip(REASONS, counts, strict=True) if reason and count}


def _of_heads(space: Space, phrases: Phrases, heads: Collection[str] | None) -> Iterator[tuple[str, Int64Array]]:
    """Give each head asked for with its phrases; ``live-v`` asks for ``live_in-v`` too."""
    keys = phrases.heads.astype(np.int64) << JOINT_BITS | phrases.joints
    order = np.argsort(keys, kind="stable")
    distinct, first = np.unique(keys[order], return_index=True)
    ends = np.append(first[1:], len(keys))
    wanted = None if heads is None else set(heads)
    for key, start, end in zip(distinct.tolist(), first.tolist(), ends.tolist(), strict=True):
        word, joint = space.words[key >> JOINT_BITS], key & JOINT_MASK
        label = f"{word[:-2]}_{space.items.names.joints[joint - 1]}{word[-2:]}" if joint else word
        if wanted is None or label in wanted or word in wanted:
            yield label, order[start:end]


def check_heads(heads: Collection[str], plans: Sequence[Plan]) -> None:
    """Say when no word gets a function; refuse when words were asked for and none of them does."""
    if any(plan.heads for plan in plans):
        return
    if not heads:
        most = max((count for plan in plans for count in plan.left_out.values()), default=0)
        logger.warning(
            "nothing is learned: no word has enough examples, the most that one has is %d; lower the minimum of "
            "examples or of dimensions, or count more text", most,
        )  # fmt: skip
        return
    known = {word for plan in plans for word in plan.left_out}
    first = min(heads)
    if known:
        raise UsageError(
            f"none of the {len(known)} words asked for that have phrases has enough examples: {first!r} has "
            f"{max(plan.left_out.get(first, 0) for plan in plans)}; lower the minimum of examples or of dimensions"
        )
    raise UsageError(f"none of the {len(heads)} words asked for heads a phrase of the space{suggest(first, known)}")
