"""Tokens as columns: what every reader makes and every later room reads.

A `Tokens` holds whole sentences. Strings are kept once each, in a dictionary a column, and tokens refer to them
by code, so that loops run over integers only.

>>> sentence = [("Dogs", "dog", "NOUN", "NNS", 2, "nsubj"), ("bark", "bark", "VERB", "VBP", 0, "root")]
>>> tokens = Tokens.from_sentences([sentence])
>>> tokens.form.codes, tokens.form.values.to_pylist()
(array([0, 1], dtype=int32), ['Dogs', 'bark'])
>>> tokens.head          # distance to the head; 0 is a root
array([1, 0], dtype=int32)
>>> tokens.starts        # where each sentence begins, and the end
array([0, 2])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

STRING_COLUMNS = ("form", "lemma", "upos", "xpos", "relation")
"""The columns of strings, in the order in which files store them."""


class Token(NamedTuple):
    """One word of a sentence; ``head`` is the position of its head, counted from 1, and 0 for a root."""

    form: str
    lemma: str
    upos: str
    xpos: str
    head: int
    relation: str


@dataclass(frozen=True)
class Column:
    """A column of strings: a code for each token, and the string of each code."""

    codes: Int32Array  # (tokens,)
    values: Any  # pyarrow.StringArray (codes,)

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> Column:
        """Give each string the code of its first appearance."""
        seen: dict[str, int] = {}
        codes = np.fromiter((seen.setdefault(s, len(seen)) for s in strings), np.int32)
        return cls(codes, pa.array(list(seen), pa.string()))

    def strings(self) -> list[str]:
        """The string of every token."""
        values = self.values.to_pylist()
        return [values[code] for code in self.codes]


@dataclass(frozen=True)
class Tokens:
    """The tokens of whole sentences, one array a column."""

    starts: Int64Array  # (sentences + 1,) first token of each sentence, and the number of tokens
    head: Int32Array  # (tokens,) distance to the head, 0 for a root
    form: Column
    lemma: Column
    upos: Column
    xpos: Column
    relation: Column

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[Sequence[str | int]]]) -> Tokens:
        """Make columns of sentences given token by token, as (form, lemma, upos, xpos, head, relation)."""
        rows = [[Token._make(token) for token in sentence] for sentence in sentences]
        flat = [token for row in rows for token in row]
        starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        head = [t.head - i if t.head else 0 for row in rows for i, t in enumerate(row, 1)]
        columns = {name: Column.from_strings(getattr(t, name) for t in flat) for name in STRING_COLUMNS}
        return cls(starts, np.array(head, np.int32), **columns)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def sentences(self) -> int:
        """How many sentences there are."""
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[list[Token]]:
        """Go through the sentences as lists of `Token`: for people and tests, slow."""
        columns = [getattr(self, name).strings() for name in ("form", "lemma", "upos", "xpos")]
        relation = self.relation.strings()
        for start, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            heads = [int(h) + i + 1 if h else 0 for i, h in enumerate(self.head[start:end])]
            yield [
                Token._make((*strings, head, rel))
                for *strings, head, rel in zip(
                    *(column[start:end] for column in columns), heads, relation[start:end], strict=True
                )
            ]


MISSING = ("_", "<unknown>")
"""What stands in the column of lemmas where there is none, in CoNLL and in TreeTagger's output."""


def words(tokens: Tokens) -> Column:
    """Return the word of each token: its lemma, or its form where it has none, in lower case.

    >>> sentence = [("Dogs", "Dog", "NOUN", "_", 2, "x"), ("BARK", "_", "VERB", "_", 0, "x")]
    >>> words(Tokens.from_sentences([sentence])).strings()
    ['dog', 'bark']
    """
    lemmas = tokens.lemma.values.to_pylist()
    without = np.array([lemma in MISSING for lemma in lemmas], bool)
    lowered = pc.utf8_lower(tokens.lemma.values)
    if not without.any():
        merged = lowered.dictionary_encode()
        return Column(merged.indices.to_numpy()[tokens.lemma.codes], merged.dictionary)
    forms = pc.utf8_lower(tokens.form.values)
    merged = pa.concat_arrays([lowered, forms]).dictionary_encode()
    codes = merged.indices.to_numpy()
    by_form = codes[len(lowered) :][tokens.form.codes]
    return Column(np.where(without[tokens.lemma.codes], by_form, codes[tokens.lemma.codes]), merged.dictionary)
