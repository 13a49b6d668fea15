"""Forms: from a word of a sentence to the words of a lexicon that it can be, without a tagger.

>>> import pyarrow as pa
>>> table = pa.table({"form": ["saw", "saw", "dogs"], "label": ["see-v", "saw-n", "dog-n"], "count": [90, 10, 50]})
>>> forms = Forms(table)
>>> forms.find("saw")
[Reading(label='see-v', count=90, share=0.9), Reading(label='saw-n', count=10, share=0.1)]
>>> forms.suggest("doggs")
['dogs']
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from composita.counting.words import split_label

LETTERS = "abcdefghijklmnopqrstuvwxyzäöüßàâçéèêëîïôûñåøæ"


@dataclass(frozen=True, slots=True)
class Reading:
    """A word that a form can be, how often it was, and in what share of the form's occurrences."""

    label: str
    count: int
    share: float


class Forms:
    """The forms of words, as counting found them in a corpus.

    Parameters
    ----------
    table
        A pyarrow table of form, label and count, such as ``Counts.forms``; None for none. Where it also has the tokens
        of each form, shares are shares of these.
    labels
        Words that are also known by their lemmas, as the words of a lexicon are, if no form of the table is theirs.
    least
        Readings with a smaller share in their form are taken for mistakes of the tagger and left out.
    names
        Which labels are proper names, so that *queens* is not Queens where it is written with a small letter.

    """

    def __init__(
        self,
        table: Any = None,  # noqa: ANN401 - pyarrow has no types
        labels: Iterable[str] = (),
        *,
        least: float = 0.01,
        names: Collection[str] = (),
    ) -> None:
        self._least = least
        self.names = frozenset(names)
        self._table = table
        self._labels = tuple(labels)

    @classmethod
    def of(cls, forms: Any) -> Forms:  # noqa: ANN401 - whatever describes forms
        """Take forms as they are, or make them.

        A table has form, label and count; a dictionary the words of each form; a list of words makes each the form of
        its own lemma; None is for no words at all.
        """
        if isinstance(forms, Forms):
            return forms
        if isinstance(forms, Mapping):
            import pyarrow as pa

            pairs = [(f.lower(), w) for f, ws in forms.items() for w in ([ws] if isinstance(ws, str) else ws)]
            columns = {"form": [f for f, _ in pairs], "label": [w for _, w in pairs], "count": [1] * len(pairs)}
            return cls(pa.table(columns))
        if forms is None or hasattr(forms, "column_names"):
            return cls(forms)
        return cls(None, forms)

    @cached_property
    def _found(self) -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = {}
        if self._table is not None:
            columns = (self._table.column(name).to_pylist() for name in ("form", "label", "count"))
            for form, label, count in zip(*columns, strict=True):
                found.setdefault(form, []).append((label, count))
        seen = {label for readings in found.values() for label, _ in readings}
        for label in self._labels:
            if label not in seen and (parts := split_label(label)) is not None:
                found.setdefault(parts[0], []).append((label, 1))
        return found

    @cached_property
    def _tokens(self) -> dict[str, int]:
        if self._table is None or "tokens" not in self._table.column_names:
            return {}
        return dict(zip(self._table.column("form").to_pylist(), self._table.column("tokens").to_pylist(), strict=True))

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, form: str) -> bool:
        return form in self._found

    def find(self, form: str) -> list[Reading]:
        """Give what a lower-cased form can be, the likeliest first; a label, such as ``dog-n``, is what it says."""
        readings = self._found.get(form)
        if readings is None:
            return [Reading(form, 1, 1.0)] if split_label(form) is not None else []
        total = self._tokens.get(form) or sum(count for _, count in readings)
        ordered = sorted(readings, key=lambda pair: (-pair[1], pair[0]))
        return [Reading(label, n, n / total) for label, n in ordered if n >= self._least * total]

    def suggest(self, form: str) -> list[str]:
        """Give forms that are like an unknown one: a slip of the pen away, the frequent first, or else similar."""
        counts = {near: sum(n for _, n in self._found[near]) for near in _slips(form) if near in self._found}
        if counts:
            return sorted(counts, key=lambda near: (-counts[near], near))[:3]
        near = [known for known in self._found if abs(len(known) - len(form)) < 3 and known[:1] == form[:1]]
        return difflib.get_close_matches(form, near, n=3, cutoff=0.75)


def _slips(form: str) -> Iterator[str]:
    """Give what a form may be if one letter is missing, too many, wrong, or exchanged with the next.

    >>> {"dogs", "gos", "adgos", "dgos"} <= set(_slips("dgos"))
    True
    """
    for place in range(len(form) + 1):
        before, after = form[:place], form[place:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in LETTERS:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]
