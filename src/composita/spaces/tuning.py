"""Tuning: weightings and reductions compared by how well they order pairs of words, as the paper chose PMI.

Every combination is made from the same counts of words. One SVD serves all its smaller numbers of dimensions.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from composita.counting.counts import Counts
from composita.spaces.building import Plan
from composita.spaces.similarity import check_measure
from composita.spaces.space import Space
from composita.spaces.svd import check_dimensions
from composita.spaces.svg import Drawing, nice_ticks
from composita.spaces.wordpairs import WordPairs
from composita.store.errors import UsageError
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent

if TYPE_CHECKING:
    from composita.store.engine import Engine


@dataclass(frozen=True)
class Trial:
    """One combination on one benchmark."""

    weighting: str
    reduction: str
    dimensions: int
    power: float
    benchmark: str
    rho: float
    low: float
    high: float
    covered: int
    pairs: int
    seconds: float  # that weighting and reduction took

    @property
    def name(self) -> str:
        """The combination, for people."""
        size = "" if self.reduction == "none" else f" {self.dimensions}"
        power = "" if self.power == 1 else f" power {self.power:g}"
        return f"{self.weighting}, {'full' if self.reduction == 'none' else self.reduction}{size}{power}"


def tune(
    counts: Counts,
    benchmarks: Sequence[WordPairs],
    *,
    weightings: Sequence[str] = ("ppmi", "lmi", "log", "none"),
    reductions: Sequence[str] = ("none", "svd"),
    dimensions: Sequence[int] = (300,),
    powers: Sequence[float] = (1.0,),
    measure: str = "cosine",
    seed: int = 0,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> list[Trial]:
    """Make a space of words for every combination, and score it on every benchmark."""
    if not benchmarks:
        raise UsageError("expected at least one file of word pairs")
    _check(weightings, reductions, measure)
    raw = Space.from_counts(counts, weighting="none", reduce="none", rows="words", engine=engine)
    if set(reductions) != {"none"}:
        check_dimensions(max(dimensions), (int(raw.core.sum()), raw.dimensions))
    raw = raw.select(_needed(raw, benchmarks))
    trials: list[Trial] = []
    total = len(weightings) * len(reductions)
    for place, (weighting, reduction) in enumerate((w, r) for w in weightings for r in reductions):
        check(cancel)
        progress(Progress("tuning", place, total, "combinations"))
        start = time.perf_counter()
        weighted = raw.weighted(weighting) if weighting != "none" else raw
        for size, power, space in _reduced(weighted, reduction, dimensions, powers, seed, engine):
            seconds = time.perf_counter() - start
            for pairs in benchmarks:
                found = pairs.score(space, measure=measure, seed=seed)
                trials.append(Trial(
                    weighting, reduction, size, power, pairs.name, found.rho, found.low, found.high, found.covered,
                    found.pairs, seconds,
                ))  # fmt: skip
    progress(Progress("tuning", total, total, "combinations"))
    return trials


def _check(weightings: Sequence[str], reductions: Sequence[str], measure: str) -> None:
    """Refuse before anything is computed what would fail after some of it."""
    check_measure(measure)
    for weighting in weightings:
        for reduction in reductions:
            Plan(weighting=weighting, reduce=reduction)
    if "pmi" in weightings and "nmf" in reductions:
        raise UsageError("pmi has negative numbers, which nmf cannot reduce: leave one of them out")
    if measure == "lin" and ("pmi" in weightings or "svd" in reductions):
        raise UsageError("Lin's measure is of numbers that are not negative: leave out pmi and svd")


def _needed(raw: Space, benchmarks: Sequence[WordPairs]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Find the rows of the core and of the words asked for."""
    asked = np.concatenate([pairs.rows(raw).ravel() for pairs in benchmarks])
    return np.union1d(np.flatnonzero(raw.core), asked[asked >= 0]).astype(np.int64)


def _reduced(
    weighted: Space, reduction: str, dimensions: Sequence[int], powers: Sequence[float], seed: int,
    engine: Engine | None,
) -> list[tuple[int, float, Space]]:  # fmt: skip
    """Reduce to every number of dimensions, by one svd for all."""
    if reduction == "none":
        return [(weighted.dimensions, 1.0, weighted)]
    if reduction != "svd":
        return [(size, 1.0, weighted.reduced(reduction, size, seed=seed, engine=engine)) for size in dimensions]
    largest = weighted.reduced("svd", max(dimensions), seed=seed, engine=engine)
    step = largest.chain[-1]
    values = step.arrays()["values"]
    return [
        (size, power, replace(largest, rows_data=(largest.array[:, :size] * values[:size] ** (power - 1)).astype("f4")))
        for size in dimensions
        for power in powers
    ]


# ---------------------------------------------------------------- the plot

_COLOURS = ("#1f5fa8", "#b3541e", "#2f7d4f", "#7a4a9e", "#8a6d00", "#a8326b")


def draw_trials(trials: Sequence[Trial], path: str | Path) -> None:
    """Draw each combination with its interval, a colour for each benchmark, best first."""
    benchmarks = list(dict.fromkeys(trial.benchmark for trial in trials))
    known = [trial for trial in trials if np.isfinite(trial.rho)]
    if not known:
        raise UsageError("no combination could be scored: the words of the benchmarks are not in the counts")
    mean = {trial.name: np.mean([t.rho for t in known if t.name == trial.name]) for trial in known}
    names = sorted(mean, key=lambda name: -mean[name])
    left, line = 12 + 7.2 * max(map(len, names)), 14 * len(benchmarks) + 12
    width, top = 860.0, 40.0
    height = top + line * len(names) + 50
    low, high = min(0.0, *(t.low for t in known)), max(t.high for t in known)
    ticks = nice_ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])

    def across(value: float) -> float:
        return left + (width - left - 30) * (value - low) / (high - low)

    drawing = Drawing(width, height, "Spearman's correlation with human ratings, and 95% intervals over pairs")
    for tick in ticks:
        drawing.line(across(tick), top - 6, across(tick), height - 40, "#d5d5d5")
        drawing.text(across(tick), height - 22, f"{tick:g}", anchor="middle")
    for place, benchmark in enumerate(benchmarks):
        x = left + 130 * place
        drawing.dot(x + 5, 16, 4.5, _COLOURS[place % len(_COLOURS)], benchmark)
        drawing.text(x + 14, 20, benchmark)
    for row, name in enumerate(names):
        y = top + line * row + 8
        drawing.text(left - 12, y + 7 * (len(benchmarks) - 1) + 4, name, anchor="end")
        for place, benchmark in enumerate(benchmarks):
            for trial in (t for t in known if t.name == name and t.benchmark == benchmark):
                at, colour = y + 14 * place, _COLOURS[place % len(_COLOURS)]
                drawing.line(across(trial.low), at, across(trial.high), at, colour, 2)
                said = f"{name}, {benchmark}: {trial.rho:.3f} ({trial.low:.3f} to {trial.high:.3f})"
                drawing.dot(across(trial.rho), at, 4.5, colour, said)
    drawing.save(path)
