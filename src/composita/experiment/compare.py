"""Comparing two runs: what was asked differently, and what came out differently, with paired intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from composita.experiment.differences import Difference, Rated, corrected, paired
from composita.experiment.report.page import flat
from composita.experiment.run import Run
from composita.store.errors import UsageError

RESAMPLES = 2000


@dataclass(frozen=True)
class Comparison:
    """What is different between two runs.

    Parameters
    ----------
    configuration
        The keys whose values differ, with both values; ``-`` for a key that one run does not have.
    differences
        For each method that both runs scored, by both conventions: how much higher the second run scores.
    only_first, only_second
        The scores that only one run has: benchmark, method and space.

    """

    configuration: tuple[tuple[str, str, str], ...]
    differences: tuple[Difference, ...]
    only_first: tuple[tuple[str, str, str], ...]
    only_second: tuple[tuple[str, str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        from dataclasses import asdict

        said = asdict(self)
        for row in said["differences"]:
            row["scores"], row["bounds"] = list(row["scores"]), list(row["bounds"])
        return said


def compare(first: Run, second: Run, *, number: int = RESAMPLES, seed: int = 0) -> Comparison:
    """Compare two runs; differences are positive where the second is better."""
    one, other = dict(flat(first.configuration)), dict(flat(second.configuration))
    keys = list(dict.fromkeys([*one, *other]))
    changed = tuple(
        (key, one.get(key, "-"), other.get(key, "-")) for key in keys if one.get(key, "-") != other.get(key, "-")
    )
    mine, theirs = predictions(first), predictions(second)
    both = [key for key in mine if key in theirs]
    rated = ratings(first)
    found = []
    for key in both:
        benchmark, method, space = key
        _check_same(mine[key], theirs[key], key)
        for convention in ("rho_individual", "rho_mean") if benchmark in rated else ():
            name = f"{method}, {space}"
            difference = paired(
                rated[benchmark], convention, (f"{name}, second run", theirs[key][1]),
                (f"{name}, first run", mine[key][1]), number=number, seed=seed,
            )  # fmt: skip
            found += [difference] if difference else []
    return Comparison(
        changed, tuple(corrected(found)), tuple(key for key in mine if key not in theirs),
        tuple(key for key in theirs if key not in mine),
    )  # fmt: skip


Key = tuple[str, str, str]
Predicted = tuple[tuple[str, ...], np.ndarray[Any, np.dtype[np.float64]]]


def _check_same(mine: Predicted, theirs: Predicted, key: Key) -> None:
    if mine[0] != theirs[0]:
        raise UsageError(f"the two runs have different items of {key[0]}: expected the same file in both")


def predictions(run: Run) -> dict[Key, Predicted]:
    """Give what each method predicted: the names of the items, and the numbers, NaN for what it could not."""
    table = run.predictions
    columns = [table.column(name).to_pylist() for name in ("benchmark", "method", "space", "name", "predicted")]
    found: dict[Key, list[tuple[str, float]]] = {}
    for benchmark, method, space, name, predicted in zip(*columns, strict=True):
        found.setdefault((benchmark, method, space), []).append((name, np.nan if predicted is None else predicted))
    return {
        key: (tuple(name for name, _ in rows), np.array([value for _, value in rows], np.float64))
        for key, rows in found.items()
    }


def ratings(run: Run) -> dict[str, Rated]:
    """Give the ratings of the benchmarks of a run."""
    from composita.store.tables import read_table

    table = read_table(run.folder.file("ratings.parquet"), ["benchmark", "item", "rating"])
    columns = [table.column(name).to_pylist() for name in ("benchmark", "item", "rating")]
    found: dict[str, list[tuple[int, float]]] = {}
    for benchmark, item, rating in zip(*columns, strict=True):
        found.setdefault(benchmark, []).append((item, rating))
    sizes = {row.benchmark: row.items for row in run.results.rows}
    return {
        name: Rated.of(name, [i for i, _ in rows], [r for _, r in rows], sizes[name]) for name, rows in found.items()
    }
