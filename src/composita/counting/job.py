"""What is to be counted: one plain description that every task gets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from composita.counting.contexts import Context
from composita.counting.patterns import Pattern
from composita.counting.vocabulary import Vocabulary
from composita.store.folder import fingerprint


@dataclass(frozen=True)
class Switches:
    """What counts as an argument beyond what depends on the verb itself.

    Parameters
    ----------
    passives
        *cats are chased by dogs*: whether passive clauses count, with the passive subject as object and the by-agent as
        subject.
    conjuncts
        *dogs chase cats and mice*: whether further conjuncts are arguments, each in a phrase of its own.
    shared_subjects
        *dogs bark and chase cats*: whether conjoined verbs share the subject of the first.
    relatives
        *dogs that chase cats*, *cats chased by dogs*: whether the noun that a clause modifies is an argument in it.
    join_particles
        *give up*: whether the particle is joined to the verb, ``give_up-v``, or passed over.

    """

    passives: bool = True
    conjuncts: bool = True
    shared_subjects: bool = True
    relatives: bool = True
    join_particles: bool = False


@dataclass(frozen=True)
class Limits:
    """How much is done at once; what is counted does not depend on it."""

    slice_tokens: int = 1 << 22
    """Tokens whose counts are held in memory before they are written out."""
    merge_cells: int = 1 << 22
    """Cells, of all parts together, that are merged at a time."""
    fan: int = 64
    """How many shards are merged at a time."""


@dataclass(frozen=True)
class Job:
    """Everything that a task must know."""

    vocabulary: Vocabulary
    patterns: tuple[Pattern, ...]
    heads: tuple[str, ...] | None  # None for all words of the right part of speech
    context: Context
    switches: Switches
    words: bool  # whether words are counted, or only phrases
    min_frequency: int
    folder: str  # where the parts are written
    limits: Limits = field(default=Limits(), compare=False)

    def parameters(self) -> dict[str, Any]:
        """What was asked for, as ``meta.json`` tells it."""
        return {
            "context": str(self.context),
            "patterns": {pattern.name: pattern.to_table() for pattern in self.patterns},
            "switches": asdict(self.switches),
            "words": self.words,
            "min_frequency": self.min_frequency,
            "heads": None if self.heads is None else list(self.heads),
            "vocabulary": asdict(self.vocabulary.choice),
        }

    def fingerprint(self, corpus: str) -> str:
        """A hash of the corpus and of all that bears on the result."""
        asked = {key: value for key, value in self.parameters().items() if key != "vocabulary"}
        return fingerprint("count-2", corpus, self.vocabulary.fingerprint, asked)

    @cached_property
    def wanted(self) -> npt.NDArray[np.bool_]:
        """Whether each word heads phrases of each pattern: (patterns, words)."""
        words = self.vocabulary.words
        letter = np.array([label[-1] for label in words], "U1")
        if self.heads is None:  # names and pronouns outside the core are there to be arguments
            fits = np.array(self.vocabulary.core, bool) | (letter == "a") | (letter == "r")
        else:
            fits = np.zeros(len(words), bool)
            fits[[self.vocabulary.ids[label] for label in self.heads]] = True
        return np.array([fits & (letter == pattern.head) for pattern in self.patterns]).reshape(-1, len(words))
