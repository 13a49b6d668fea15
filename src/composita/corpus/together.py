"""Sentences in which a word has given arguments: where an attested phrase was found.

Whole shards are searched for sentences that have all the words; only these few are looked at closely.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from composita.corpus.columns import Tokens, words
from composita.corpus.concordance import cut
from composita.corpus.tags import LETTERS
from composita.store.errors import UsageError
from composita.store.progress import Cancellation, check

if TYPE_CHECKING:
    from composita.corpus.corpus import Shard

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Together:
    """A sentence with the places of a head and of its arguments in it, counted from 0."""

    shard: str
    sentence: int  # counted from 0 in the shard
    forms: tuple[str, ...]
    head: int
    arguments: tuple[int, ...]

    def __str__(self) -> str:
        """The sentence with the head between asterisks and the arguments between brackets."""
        parts = [f"[{form}]" if place in self.arguments else form for place, form in enumerate(self.forms)]
        parts[self.head] = f"*{self.forms[self.head]}*"
        return " ".join(parts)


def find_together(
    shards: Iterable[Shard],
    head: str,
    arguments: Sequence[str],
    *,
    limit: int | None = 10,
    cancel: Cancellation | None = None,
) -> Iterator[Together]:
    """Find sentences in which a word is linked to all of some others, in the order of the corpus.

    Parameters
    ----------
    shards
        Where to look.
    head, arguments
        Words such as ``chase-v`` and ``cat-n``. An argument must be linked to the head, in whatever role.
    limit
        How many sentences to find at most; None for all.
    cancel
        Asks to stop.

    """
    wanted = [_split(label) for label in (head, *arguments)]
    found = 0
    for shard in shards:
        if limit is not None and found >= limit:
            return
        check(cancel)
        tokens = shard.load()
        masks = _masks(shard, tokens, wanted)
        if masks is None:
            continue
        inside = np.ones(tokens.sentences, bool)
        for mask in masks:
            has = np.zeros(tokens.sentences, bool)
            has[np.searchsorted(tokens.starts, np.flatnonzero(mask), side="right") - 1] = True
            inside &= has
        for number in np.flatnonzero(inside).tolist():
            check(cancel)
            for place in _linked(shard, tokens, masks, number):
                yield place
                found += 1
                if limit is not None and found >= limit:
                    return


def _split(label: str) -> tuple[str, str]:
    lemma, dash, letter = label.rpartition("-")
    if not (dash and lemma and letter and letter in LETTERS):
        raise UsageError(f"expected a word such as chase-v, got {label!r}")
    return lemma, letter


def _masks(shard: Shard, tokens: Tokens, wanted: Sequence[tuple[str, str]]) -> list[BoolArray] | None:
    """Mark the tokens of each word; None where one of them is not in the shard at all."""
    column = words(tokens)
    places = pc.index_in(pa.array([lemma for lemma, _ in wanted], pa.string()), value_set=column.values).to_pylist()
    if None in places:
        return None
    classes = shard.classes(tokens)
    return [
        (column.codes == place) & np.array([each == letter for each in LETTERS])[classes]
        for place, (_, letter) in zip(places, wanted, strict=True)
    ]


def _linked(shard: Shard, tokens: Tokens, masks: Sequence[BoolArray], number: int) -> Iterator[Together]:
    """Look at one sentence: heads with a link to a token of each argument."""
    start, end = int(tokens.starts[number]), int(tokens.starts[number + 1])
    sentence = cut(tokens, start, end)
    beside: dict[int, set[int]] = {}
    for link in shard.roles(sentence).links():
        beside.setdefault(link.predicate, set()).add(link.argument)
        beside.setdefault(link.argument, set()).add(link.predicate)
    for head in np.flatnonzero(masks[0][start:end]).tolist():
        chosen: list[int] = []
        for mask in masks[1:]:
            free = sorted(place for place in beside.get(head, ()) if mask[start + place] and place not in chosen)
            if not free:
                break
            chosen.append(free[0])
        else:
            yield Together(shard.path.name, number, tuple(sentence.form.strings()), head, tuple(chosen))
