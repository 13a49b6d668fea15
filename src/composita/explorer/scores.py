"""Questions about the experiment: the table with its intervals, and the items of one score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from composita.grammar.phrase import Phrase
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.experiment.run import Run
    from composita.explorer.endpoints import Answer, Given
    from composita.explorer.view import View

CONVENTIONS = ("rho_individual", "rho_mean")


def experiment(view: View, given: Given) -> Answer:
    """Give the table of the run: every score with its interval, by both conventions."""
    run = _run(view)
    results = run.results
    rows = []
    for row in results.rows:
        said: Answer = {
            "benchmark": row.benchmark, "method": row.method, "space": row.space, "items": row.items,
            "covered": row.covered,
        }  # fmt: skip
        for name in CONVENTIONS:
            low, high = row.interval(name) or (None, None)
            said |= {name: row.score(name), f"{name}_low": low, f"{name}_high": high}
        rows.append(said)
    benchmarks = []
    for name in results.benchmarks:
        about: Answer = {"name": name, "text": "", "ceiling_individual": None, "ceiling_mean": None}
        if (reference := results.reference(name)) is not None:
            about |= {
                "text": f"{reference.items:,} items, {reference.ratings:,} ratings, {reference.participants:,} people",
                "ceiling_individual": reference.ceiling.get("rho_individual"),
                "ceiling_mean": reference.ceiling.get("rho_mean"),
            }
        benchmarks.append(about)
    return {"name": run.name, "rows": rows, "benchmarks": benchmarks, "notes": []}


def items(view: View, given: Given) -> Answer:
    """Give what a method predicted for each item of a benchmark, beside what people said, and rho by head."""
    import pyarrow.compute as pc

    run = _run(view)
    table = run.predictions
    for name in ("benchmark", "method", "space"):
        table = table.filter(pc.equal(table.column(name), given[name]))
    if not table.num_rows:
        raise UsageError(
            f"this run has no predictions of {given['method']} in {given['space']} for {given['benchmark']}"
        )
    rows = table.to_pylist()
    found = [_item(row) for row in rows]
    scored = run.results.find(given["benchmark"], given["method"], given["space"])
    said = "" if scored is None or scored.rho_individual is None else _said(scored)
    return {
        "title": f"{given['benchmark']}: {given['method']} in {given['space']}",
        "text": said,
        "items": found,
        "groups": _groups(found),
    }


def _said(row: Any) -> str:  # noqa: ANN401 - experiment.results.Row
    mean = "" if row.rho_mean is None else f", ρ with mean ratings {row.rho_mean:.3f}"
    return f"ρ with individual ratings {row.rho_individual:.3f}{mean}; {row.covered} of {row.items} items composed."


def _item(row: Answer) -> Answer:
    left, right = row["left"], row["right"]
    return {
        "name": row["name"], "left": left, "right": right, "head": Phrase.parse(left).head if left else "",
        "group": row["group"] or "", "predicted": _finite(row["predicted"]), "rated": _finite(row["rating"]),
    }  # fmt: skip


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _groups(found: list[Answer]) -> list[Answer]:
    """Correlate within the items of each head."""
    from composita.evaluation.statistics import spearman

    by_head: dict[str, list[Answer]] = {}
    for item in found:
        by_head.setdefault(item["group"], []).append(item)
    groups = []
    for head, mine in sorted(by_head.items()):
        scored = [(i["predicted"], i["rated"]) for i in mine if i["predicted"] is not None and i["rated"] is not None]
        rho = float(spearman(*zip(*scored, strict=True))) if len(scored) > 2 else math.nan
        groups.append({"head": head, "items": len(mine), "rho": rho if math.isfinite(rho) else None})
    return groups


def _run(view: View) -> Run:
    if view.run is None:
        raise UsageError("this folder is no run, so that there are no scores: explore what `composita run` made")
    return view.run
