"""What a lexicon holds: for each pattern and each word from how much it was learned, and how well that went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from composita.functions.heldout import HELDOUT, overall
from composita.functions.lexicon import ANY, Lexicon
from composita.store.folder import Folder
from composita.store.tables import read_table

PAPER = {
    "sv": {"phrases": 320_000, "per_word": 281},
    "svo": {"phrases": 1_360_000, "groups_per_word": 324, "examples_per_group": 15},
}
"""What Grefenstette et al. (2013) trained on: phrases in all, and per verb."""


@dataclass(frozen=True)
class PatternFacts:
    """The functions of one pattern.

    Parameters
    ----------
    arguments
        What the arguments are called, in the order of application.
    words, phrases, per_word
        How many functions, of how many phrases, and how many phrases on average.
    groups_per_word, examples_per_group
        Groups of at least three phrases with the same first argument, per word, and their mean size.
    left_out, failed
        Words with too few phrases, and words of whose phrases nothing could be learned.
    shared
        Whether there is a function for all words.
    paper
        The same figures of the paper, as far as it gives them.

    """

    arguments: tuple[str, ...]
    words: int
    phrases: int
    per_word: float
    groups_per_word: float
    examples_per_group: float
    left_out: int
    failed: int
    shared: bool
    paper: Mapping[str, float]


@dataclass(frozen=True)
class WordFacts:
    """One function.

    Parameters
    ----------
    word, pattern
        Which.
    phrases, used
        How many examples it has, and how many it was learned from.
    groups
        How many first arguments it has with at least three phrases.
    regressions
        How many regressions there were for each argument, the first first.
    penalties
        Lambda of each of these levels; the median where there were several.
    gain
        The GCV error at the last level as a share of that of predicting nothing, or the mean where that was taken off.
    effective_rank
        How many directions its outputs really use.
    strength
        How much it leans on others; None where it was not asked to.
    verdicts
        What is to be said of the choice of lambda, such as ``no signal``.

    """

    word: str
    pattern: str
    phrases: int
    used: int
    groups: int
    regressions: tuple[int, ...]
    penalties: tuple[float | None, ...]
    gain: float | None
    effective_rank: float
    strength: float | None
    verdicts: Mapping[str, int]


@dataclass(frozen=True)
class Description:
    """All that ``composita info`` says of a lexicon; of held-out phrases for each word, and averaged over words."""

    path: str
    bytes: int
    words: int
    dimensions: int
    functions: int
    normalise: bool
    learner: Mapping[str, Any]
    selection: Mapping[str, Any]
    lean: str
    space: Mapping[str, Any]
    forms: int
    patterns: Mapping[str, PatternFacts]
    functions_by_word: Sequence[WordFacts]
    heldout: Sequence[Mapping[str, Any]]
    heldout_overall: Sequence[Mapping[str, Any]]
    fingerprint: str


def describe(path: str | Path) -> Description:
    """Describe a saved lexicon."""
    folder, lexicon = Folder.open(path, "lexicon"), Lexicon.open(path)
    reports = lexicon.reports()
    said = lexicon.parameters
    patterns = {
        name: _pattern_facts(name, [r for r in reports if r["pattern"] == name], lexicon, folder.meta)
        for name in said.get("patterns", {})
    }
    kept = any(name.startswith(HELDOUT.partition(".")[0]) for name in folder.files)
    heldout = read_table(folder.file(HELDOUT)).to_pylist() if kept else []
    return Description(
        str(path), sum(entry.bytes for entry in folder.files.values()), len(lexicon.words), lexicon.dimensions,
        len(lexicon), lexicon.normalise, said.get("learner", {}), said.get("selection", {}), said.get("lean", "none"),
        dict(lexicon.origin), 0 if lexicon.forms is None else len(lexicon.forms), patterns,
        tuple(map(_word_facts, reports)),
        heldout, overall(heldout), lexicon.fingerprint,
    )  # fmt: skip


def _pattern_facts(
    name: str, reports: Sequence[Mapping[str, Any]], lexicon: Lexicon, meta: Mapping[str, Any]
) -> PatternFacts:
    words = max(1, len(reports))
    groups = sum(r.get("groups_of_three", 0) for r in reports)
    phrases = sum(r["phrases"] for r in reports)
    return PatternFacts(
        tuple(lexicon.parameters["patterns"][name]), len(reports), phrases, phrases / words, groups / words,
        sum(r.get("examples_in_groups_of_three", 0) for r in reports) / max(1, groups),
        len(lexicon.parameters.get("left_out", {}).get(name, {})),
        sum(key.partition(" ")[0] == name for key in meta.get("failed", {})),
        (ANY, name) in lexicon, PAPER.get(name, {}),
    )  # fmt: skip


def _word_facts(report: Mapping[str, Any]) -> WordFacts:
    training = report["training"]
    levels = training["levels"]
    verdicts: dict[str, int] = {}
    for level in levels:
        for verdict, count in level["penalty"].get("verdicts", {}).items():
            verdicts[verdict] = verdicts.get(verdict, 0) + count
    last = levels[-1]["penalty"] if levels else {}
    without = last.get("gcv_without")
    gain = last["gcv"] / without if without and last.get("gcv") is not None else None
    penalties = tuple(
        float(np.median(level["penalty"]["lambda"])) if level["penalty"].get("lambda") else None for level in levels
    )
    return WordFacts(
        report["word"], report["pattern"], report["phrases"], training["used"],
        report.get("groups_of_three", 0),
        tuple(level["regressions"] for level in levels), penalties, gain, report["effective_rank"],
        report.get("leaning", {}).get("strength"), verdicts,
    )  # fmt: skip
