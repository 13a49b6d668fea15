"""Methods of a run held against each other: on the items that all of them score, and each two on those that both do.

What is compared are methods in spaces, ``one-step, svd`` with ``multiply, full``, wherever they were scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from composita.evaluation.scoring import Difference, each_two, plain
from composita.evaluation.statistics import Observations, correlations, resamples
from composita.experiment.report.page import Sheet
from composita.experiment.results import Results, Row
from composita.experiment.scores import Scored

FloatArray = npt.NDArray[np.float64]
Key = tuple[str, str]
"""A method and a space."""
SURE = 0.05
"""A corrected p below this is marked."""


def predictions(scored: Sequence[Scored], benchmark: str) -> dict[Key, FloatArray]:
    """Gather what was predicted for the items of a benchmark, leaving out methods that could score nothing."""
    return {
        (row.method, one.space): one.predicted(row.method)
        for one in scored
        if one.reference.benchmark == benchmark
        for row in one.rows
        if row.covered and not np.isnan(one.predicted(row.method)).all()
    }


def with_common(results: Results, scored: Sequence[Scored]) -> Results:
    """Add to each row its scores on the items that all methods score, in whatever space, and how many these are."""
    added: dict[tuple[str, str, str], dict[str, Any]] = {}
    for benchmark in results.benchmarks:
        mine, found = _rated(scored, benchmark), predictions(scored, benchmark)
        if mine is None or not found:
            continue
        table = np.stack(list(found.values()))
        common = ~np.isnan(table).any(axis=0)
        for convention, observed in _observed(results, mine):
            rho = correlations(np.where(common, table, np.nan), observed)[:, 0]
            for (method, space), value in zip(found, rho, strict=True):
                said = added.setdefault((benchmark, method, space), {"common": int(common.sum())})
                said[f"{convention}_common"] = None if np.isnan(value) else float(value)
    rows = tuple(
        replace(row, more={**row.more, **added.get((row.benchmark, row.method, row.space), {})}) for row in results.rows
    )
    return replace(results, rows=rows)


def pairs(results: Results, scored: Sequence[Scored], *, number: int, seed: int) -> list[dict[str, Any]]:
    """Compare each two methods, in whatever spaces, by both conventions; p corrected within a benchmark and convention.

    A method is called by its name and its space, with a comma between.
    """
    found: list[dict[str, Any]] = []
    for benchmark in results.benchmarks:
        mine, made = _rated(scored, benchmark), predictions(scored, benchmark)
        if mine is None or len(made) < 2:
            continue
        table, names = np.stack(list(made.values())), [", ".join(key) for key in made]
        weights = resamples(table.shape[1], number, [seed, 1])
        for convention, observed in _observed(results, mine):
            compared = each_two(convention, names, table, observed, weights, correlations(table, observed, weights))
            found += [{"benchmark": benchmark, **_plain(one)} for one in compared]
    return found


def _plain(one: Difference) -> dict[str, Any]:
    """Give it as JSON has it; a method that says the same of all items has no score, hence no difference either."""
    return {name: plain(value) for name, value in vars(one).items()}


def _observed(results: Results, mine: Scored) -> list[tuple[str, Observations]]:
    """Give the ratings in each of the two ways of scoring that there are."""
    known = results.conventions(mine.reference.benchmark)
    return [(name, observed) for name, observed in mine.rated().observations.items() if name in known]


def _rated(scored: Sequence[Scored], benchmark: str) -> Scored | None:
    """Give scores of a benchmark that people rated."""
    return next((one for one in scored if one.reference.benchmark == benchmark and len(one.rating_items)), None)


# ---------------------------------------------------------------- for the report


def common_sheets(results: Results) -> list[Sheet]:
    """Compare the methods of each benchmark on common items, where they do not all score the same."""
    sheets: list[Sheet] = []
    for benchmark in results.benchmarks:
        rows = [row for row in results.rows if row.benchmark == benchmark and row.covered and "common" in row.more]
        if len({row.covered for row in rows}) < 2:
            continue
        cells = tuple((row.method, row.space, f"{row.covered:,}", *_common_cells(row)) for row in rows)
        sheets.append(Sheet(
            "On common items",
            ("method", "space", "covered", "rho_individual", "on common items", "rho_mean", "on common items"), cells,
            "" if sheets else "Methods that score different items are compared on those that all of them score.",
            f"{benchmark}: {rows[0].more['common']:,} of {rows[0].items:,} items",
        ))  # fmt: skip
    return sheets


def _common_cells(row: Row) -> list[str]:
    return [
        "-" if value is None else f"{value:.3f}"
        for convention in ("rho_individual", "rho_mean")
        for value in (row.score(convention), row.more.get(f"{convention}_common"))
    ]


def pair_sheets(found: Sequence[Mapping[str, Any]]) -> list[Sheet]:
    """Lay out the differences of each benchmark and convention, each method in a row and in a column."""
    tables: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in found:
        if one["difference"] is not None:
            tables.setdefault((one["benchmark"], one["convention"]), []).append(one)
    sheets: list[Sheet] = []
    for (benchmark, convention), rows in tables.items():
        names = list(dict.fromkeys(name for one in rows for name in (one["first"], one["second"])))
        cells = {}
        for one in rows:
            mark = "*" if one["corrected"] < SURE else ""
            cells[one["first"], one["second"]] = f"{one['difference']:+.3f}{mark}"
            cells[one["second"], one["first"]] = f"{-one['difference']:+.3f}{mark}"
        sheets.append(Sheet(
            "Each two methods", ("", *names),
            tuple((name, *(cells.get((name, other), "") for other in names)) for name in names),
            "" if sheets else "How much higher the method of the row scores than that of the column, on the items that "
            f"both score. * where p, corrected for all pairs of the table, is below {SURE:g}. The file "
            "pairs.json has the intervals.",
            f"{benchmark}, {convention}",
        ))  # fmt: skip
    return sheets
