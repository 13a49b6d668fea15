"""What there was to learn from, beside what the paper had, and how lambda was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from composita.experiment.report.figures import Curve
from composita.experiment.report.page import Sheet
from composita.functions.penalty import relative_grid

if TYPE_CHECKING:
    from composita.functions.lexicon import Lexicon

THREE = 3
"""The paper asks for at least so many examples in a regression."""
PAPER = {
    "sv": ("the paper, sv", "320,000", "-", "281", "-", "-"),
    "svo": ("the paper, svo", "1,360,000", "-", "4,860", "324", "15.0"),
}
"""Grefenstette, Dinu, Zhang, Sadrzadeh & Baroni (2013), section 4: in the form of a row of the sheet below."""
HEADS = (
    "learner and pattern", "phrases", "words", "phrases per word", "first arguments with 3 phrases, per word",
    "phrases of each",
)  # fmt: skip
CURVES = 6


@dataclass(frozen=True)
class Summary:
    """What the functions of one pattern were learned from."""

    name: str
    pattern: str
    words: int
    phrases: int
    occurrences: int
    groups: int
    grouped: int

    @property
    def row(self) -> tuple[str, ...]:
        """Write it as a row of a sheet."""
        words = max(1, self.words)
        groups = f"{self.groups / words:,.1f}" if self.groups else "-"
        each = f"{self.grouped / self.groups:,.1f}" if self.groups else "-"
        return (
            f"{self.name}, {self.pattern}", f"{self.phrases:,}", f"{self.words:,}", f"{self.phrases / words:,.0f}",
            groups, each,
        )  # fmt: skip


def summaries(name: str, lexicon: Lexicon) -> list[Summary]:
    """Count, for each pattern, what the functions of a lexicon were learned from."""
    found = []
    for pattern in lexicon.patterns:
        sums = dict.fromkeys(("phrases", "occurrences", "groups", "grouped"), 0)
        heads = lexicon.heads(pattern)
        for word in heads:
            examples = lexicon.examples(word, pattern)
            counts = np.unique(np.asarray(examples.ids)[:, 0], return_counts=True)[1]
            sums["phrases"] += len(examples)
            frequency = examples.frequency
            sums["occurrences"] += 0 if frequency is None else int(np.sum(frequency))
            if examples.ids.shape[1] > 1:  # there is more than one step to be made
                sums["groups"] += int((counts >= THREE).sum())
                sums["grouped"] += int(counts[counts >= THREE].sum())
        found.append(Summary(name, pattern, len(heads), **sums))
    return found


def training_sheet(found: Sequence[Summary]) -> Sheet:
    """Put what there was to learn from beside what the paper had."""
    rows = []
    for pattern in dict.fromkeys(one.pattern for one in found):
        rows += [one.row for one in found if one.pattern == pattern]
        rows += [PAPER[pattern]] if pattern in PAPER else []
    return Sheet(
        "What there was to learn from", HEADS, tuple(rows),
        "The paper's two steps make one matrix from the phrases of each verb and object that has at least 3 of them; "
        "the two last columns say how many there were for a verb, and of how many phrases each. One-step regression "
        "uses all.",
    )  # fmt: skip


# ---------------------------------------------------------------- the choice of lambda


def gcv_curves(lexicon: Lexicon) -> dict[str, list[Curve]]:
    """Give the curves of generalised cross-validation of the words with most examples, by pattern and argument.

    Lambda is given in terms of the largest eigenvalue, and the curve in terms of its lowest value.
    """
    found: dict[str, list[Curve]] = {}
    reports = sorted(lexicon.reports(), key=lambda report: -int(report.get("phrases", 0)))
    for report in reports:
        for level in _training(report).get("levels", []):
            key = f"{report['pattern']}, {level['name']}"
            curve = _curve(str(report["word"]), level.get("penalty", {}))
            if curve is not None and len(found.setdefault(key, [])) < CURVES:
                found[key].append(curve)
    return {key: curves for key, curves in found.items() if curves}


def _training(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what the learner itself told of a training."""
    found: Mapping[str, Any] = report.get("training", report)
    return found


def _curve(name: str, penalty: Mapping[str, Any]) -> Curve | None:
    pairs = [
        (x, y)
        for x, y in zip(penalty.get("grid", []), penalty.get("curve", []), strict=True)
        if y is not None and x > 0 and np.isfinite(x)
    ]
    if len(pairs) < THREE:
        return None
    least = min(y for _, y in pairs)
    largest = max(x for x, _ in pairs) / float(relative_grid()[-1])  # eigenvalue
    if not least > 0:
        return None
    # Beyond three times the least nothing can be seen of where the curve turns.
    return Curve(name, tuple((x / largest, min(y / least, 3.0)) for x, y in pairs))


def lambdas(lexicon: Lexicon) -> list[dict[str, Any]]:
    """Give, for each function, what it was learned from and the lambdas that were chosen."""
    found = []
    for report in lexicon.reports():
        training = _training(report)
        levels = [
            {"argument": level["name"], "regressions": level["regressions"], "lambda": level["penalty"].get("lambda"),
             "gcv": level["penalty"].get("gcv"), "gcv_without": level["penalty"].get("gcv_without"),
             "verdicts": level["penalty"].get("verdicts")}
            for level in training.get("levels", [])
        ]  # fmt: skip
        found.append({
            "word": report["word"], "pattern": report["pattern"], "found": training.get("found"),
            "used": training.get("used"), "dropped": training.get("dropped"), "levels": levels,
        })  # fmt: skip
    return found
