"""Telling what came out: all files of a run, from the scores of its stages."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from composita.experiment.against import common_sheets, pair_sheets, pairs, with_common
from composita.experiment.cache import Receipt
from composita.experiment.differences import HEADS, Difference, corrected, paired
from composita.experiment.report.figures import Curve, Prediction
from composita.experiment.report.page import Sheet, Story, Timing, figures, page
from composita.experiment.report.pdf import to_pdf
from composita.experiment.results import Reference, Results, Row
from composita.experiment.scores import Scored, read_order, read_scored
from composita.experiment.stages import LEARNED, Plan
from composita.experiment.table import score_tables, write_tables
from composita.experiment.training import gcv_curves, lambdas, summaries, training_sheet
from composita.store.folder import Folder
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent
from composita.store.strict_json import dump_json
from composita.store.tables import write_table

if TYPE_CHECKING:
    from composita.functions.lexicon import Lexicon

PROGRAMS = ("composita", "numpy", "scipy", "numba", "pyarrow")
RESAMPLES = 2000


def tell(
    plan: Plan,
    receipts: Mapping[str, Receipt],
    *,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> dict[str, Any]:
    """Make all files of a run: bytes, or functions that write to a path."""
    progress(Progress("report", 0, 3, "steps"))
    scored = collect(plan, receipts)
    results = with_common(gather(plan, scored), scored)
    check(cancel)
    progress(Progress("report", 1, 3, "steps"))
    differences = compare_families(plan, scored)
    number = min(RESAMPLES, plan.experiment.evaluate.bootstrap)
    each_two = pairs(results, scored, number=number, seed=plan.experiment.seed) if number else []
    against = [*common_sheets(results), *pair_sheets(each_two)]
    story = _story(plan, receipts, scored, results, differences, against)
    check(cancel)
    progress(Progress("report", 2, 3, "steps"))
    files: dict[str, Any] = {
        "results.json": dump_json([row.to_json() for row in results.rows]),
        "humans.json": dump_json([reference.to_json() for reference in results.references]),
        "differences.json": dump_json([_plain(one) for one in differences]),
        "pairs.json": dump_json(each_two),
        "order.json": dump_json(orders(plan, receipts)),
        "timings.json": dump_json([
            {"stage": t.stage, "seconds": round(t.seconds, 3), "peak_bytes": t.peak_bytes} for t in story.timings
        ]),
        "training.json": dump_json({name: lambdas(lexicon) for name, lexicon in _lexicons(plan, receipts).items()}),
        "predictions.parquet": partial(_write_predictions, scored),
        "ratings.parquet": partial(_write_ratings, scored),
        "table.txt": write_tables(score_tables(results)).encode(),
        "report.html": page(story).encode(),
    }  # fmt: skip
    if plan.experiment.given:
        files["experiment.toml"] = plan.experiment.given.encode()
    for figure in figures(story):
        files |= {f"{figure.name}.svg": figure.alone().encode(), f"{figure.name}.pdf": to_pdf(figure)}
    progress(Progress("report", 3, 3, "steps"))
    return files


# ---------------------------------------------------------------- gathering


def collect(plan: Plan, receipts: Mapping[str, Receipt]) -> list[Scored]:
    """Read the scores of all stages; a method that is *learned* is called by its learner."""
    found = []
    for scoring in plan.scorings:
        one = read_scored(receipts[scoring.stage.id].path, scoring.space)
        if scoring.learner is not None:
            one = one.renamed(lambda method, learner=scoring.learner: _called(method, learner))  # type: ignore[misc]
        found.append(one)
    return found


def _called(method: str, learner: str) -> str:
    stem, plus, rest = method.partition("+")
    return f"{learner}{plus}{rest}" if stem == "learned" else method


def gather(plan: Plan, scored: Sequence[Scored]) -> Results:
    """Put all rows in the order of the benchmarks, methods and spaces of the experiment, with those left out."""
    rows = {(row.benchmark, row.method, row.space): row for one in scored for row in one.rows}
    learners = [learner.name for learner in plan.experiment.learners]
    methods: list[str] = []
    for method in plan.experiment.evaluate.methods:
        names = [_called(method, learner) for learner in learners] if method.startswith("learned") else [method]
        methods += [name for name in names if name not in methods]
    found = []
    for name, benchmark in plan.benchmarks.items():
        for method in methods:
            for space in plan.spaces:
                row = rows.get((name, method, space))
                found.append(row or Row.left_out(name, method, space, len(benchmark.items)))
    references: dict[str, Reference] = {}
    for one in scored:
        references.setdefault(one.reference.benchmark, one.reference)
    tried = {row.method for row in rows.values()}
    return Results(tuple(row for row in found if row.method in tried), tuple(references.values()))


def _lexicons(plan: Plan, receipts: Mapping[str, Receipt]) -> dict[str, Lexicon]:
    from composita.functions.lexicon import Lexicon

    return {
        f"{space} {learner}": Lexicon.open(receipts[stage.id].path) for (space, learner), stage in plan.lexicons.items()
    }


def is_learned(method: str, learners: Sequence[str]) -> bool:
    """Say whether a method applies functions that were learned word by word, as the paper's does."""
    stem = method.partition("+")[0]
    return stem in LEARNED or stem in learners


def compare_families(plan: Plan, scored: Sequence[Scored]) -> list[Difference]:
    """Compare, on each benchmark, the best learned method with the best other one in every space."""
    learners = [learner.name for learner in plan.experiment.learners]
    number = min(RESAMPLES, plan.experiment.evaluate.bootstrap) or 1
    found: list[Difference] = []
    for benchmark in plan.benchmarks:
        mine = [one for one in scored if one.reference.benchmark == benchmark]
        if not mine or not len(mine[0].rating_items):
            continue
        rated = mine[0].rated()
        predicted: dict[tuple[str, str], tuple[Row, np.ndarray[Any, Any]]] = {}
        for one in mine:
            predicted |= {(row.method, row.space): (row, one.predicted(row.method)) for row in one.rows}
        for convention in ("rho_individual", "rho_mean"):
            scores = {key: row.score(convention) for key, (row, _) in predicted.items()}
            known = {key: score for key, score in scores.items() if score is not None}
            best = max((key for key in known if is_learned(key[0], learners)), key=known.__getitem__, default=None)
            for space in plan.spaces:
                others = [key for key in known if key[1] == space and not is_learned(key[0], learners)]
                if best is None or not others:
                    continue
                other = max(others, key=known.__getitem__)
                difference = paired(
                    rated, convention, (", ".join(best), predicted[best][1]), (", ".join(other), predicted[other][1]),
                    number=number, seed=plan.experiment.seed,
                )  # fmt: skip
                found += [difference] if difference else []
    return corrected(found)


def _plain(one: Difference) -> dict[str, Any]:
    return {
        "benchmark": one.benchmark, "convention": one.convention, "first": one.first, "second": one.second,
        "scores": list(one.scores), "difference": one.value, "interval": list(one.bounds), "p": one.p,
        "p_corrected": one.p_corrected, "items": one.items,
    }  # fmt: skip


# ---------------------------------------------------------------- tables on disk


def _write_predictions(scored: Sequence[Scored], path: Path) -> None:
    import pyarrow as pa

    rows = [
        (one.reference.benchmark, row.method, one.space, item, one.names[item], *one.pairs[item], one.groups[item],
         float(one.means[item]), float(value))
        for one in scored
        for row in one.rows
        for item, value in enumerate(one.predicted(row.method))
    ]  # fmt: skip
    columns = list(zip(*rows, strict=True)) or [()] * 10
    texts, numbers = [pa.string()] * 3, [pa.float64()] * 2
    kinds = (*texts, pa.int32(), *texts, pa.string(), *numbers)
    names = ("benchmark", "method", "space", "item", "name", "left", "right", "group", "rating", "predicted")
    arrays = {
        name: pa.array([None if value != value else value for value in column], kind)  # not NaN
        for name, column, kind in zip(names, columns, kinds, strict=True)
    }
    write_table(path, arrays)


def _write_ratings(scored: Sequence[Scored], path: Path) -> None:
    import pyarrow as pa

    once = {one.reference.benchmark: one for one in scored}
    rows = [
        (name, int(item), float(rating))
        for name, one in once.items()
        for item, rating in zip(one.rating_items, one.rating_values, strict=True)
    ]
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    write_table(path, {
        "benchmark": pa.array(columns[0], pa.string()), "item": pa.array(columns[1], pa.int32()),
        "rating": pa.array(columns[2], pa.float64()),
    })  # fmt: skip


# ---------------------------------------------------------------- the report


def _story(
    plan: Plan, receipts: Mapping[str, Receipt], scored: Sequence[Scored], results: Results,
    differences: Sequence[Difference], against: Sequence[Sheet],
) -> Story:  # fmt: skip
    lexicons = _lexicons(plan, receipts)
    found = [summary for name, lexicon in lexicons.items() for summary in summaries(name, lexicon)]
    curves: dict[str, Sequence[Curve]] = {}
    for name, lexicon in lexicons.items():
        curves |= {f"{name}, {key}": value for key, value in gcv_curves(lexicon).items()}
    predictions = [
        Prediction(
            one.reference.benchmark, row.method, one.space, one.names[item], one.groups[item], float(one.means[item]),
            None if np.isnan(value) else float(value),
        )
        for one in scored
        for row in one.rows
        for item, value in enumerate(one.predicted(row.method))
    ]  # fmt: skip
    sheets = []
    if differences:
        sheets.append(Sheet(
            "Against the baselines", HEADS, tuple(one.cells for one in differences),
            "The best learned method beside the best other method of each space, on the items that both cover; p "
            "corrected (Holm) for there being several. Both are the best of several on these very items, which "
            "flatters both.",
        ))  # fmt: skip
    sheets += [*against, *_separation_sheets(results)]
    if results.references:
        sheets.append(_agreement_sheet(results.references))
    if turned := orders(plan, receipts):
        sheets.append(_order_sheet(turned))
    if found:
        sheets.append(training_sheet(found))
    timings = [
        Timing(stage.id, receipt.seconds, receipt.peak_bytes, receipt.reused, stage.fingerprint)
        for stage in plan.stages
        if (receipt := receipts[stage.id]).stage.given is None
    ]
    return Story(
        plan.experiment.name, results, predictions, timings, _facts(plan, receipts), sheets, {}, curves,
        {key: reason for one in scored for key, reason in one.main_reasons().items()}, plan.experiment.given,
        plan.experiment.to_table(), {stage.id: stage.fingerprint for stage in plan.stages}, versions(),
    )  # fmt: skip


def _facts(plan: Plan, receipts: Mapping[str, Receipt]) -> dict[str, str]:
    counts = Folder.open(receipts[plan.counts.id].path).meta
    said = {"about": plan.experiment.about} if plan.experiment.about else {}
    said |= {"corpus": f"{counts['tokens']:,} tokens in {counts['sentences']:,} sentences"}
    if plan.benchmarks:
        said["benchmarks"] = ", ".join(f"{name} ({len(b.items):,} items)" for name, b in plan.benchmarks.items())
    else:
        said["benchmarks"] = "none: nothing was scored; see [evaluate] benchmarks"
    return said | {"preset": plan.experiment.preset}


def _agreement_sheet(references: Sequence[Reference]) -> Sheet:
    names = list(dict.fromkeys(name for reference in references for name in reference.agreement))
    rows = tuple(
        (
            reference.benchmark, f"{reference.items:,}", f"{reference.ratings:,}", f"{reference.participants:,}",
            *(f"{reference.agreement[name]:.3f}" if name in reference.agreement else "-" for name in names),
        )
        for reference in references
    )  # fmt: skip
    heads = ("benchmark", "items", "ratings", "people", *(name.replace("_", " ") for name in names))
    return Sheet(
        "How far people agree", heads, rows,
        "Pairwise agreement stands on top of scores with individual ratings, leave one out on top of those with means.",
    )  # fmt: skip


def _separation_sheets(results: Results) -> list[Sheet]:
    """Show how methods tell items that the designers expect to be high from those that they expect to be low."""
    sheets: list[Sheet] = []
    for benchmark in results.benchmarks:
        rows = tuple(
            (row.method, row.space, *(f"{row.more[key]:.3f}" for key in ("high", "low", "separation")))
            for row in results.rows
            if row.benchmark == benchmark and row.more.get("separation") is not None
        )
        if rows:
            sheets.append(Sheet(
                "High and low items", ("method", "space", "mean of high", "mean of low", "high over low"), rows,
                "" if sheets else "What methods predict on average for items that the designers of a benchmark expect "
                "to be high, and to be low; and how often a high one is predicted above a low one, of which chance "
                "gives 0.5.",
                benchmark,
            ))  # fmt: skip
    return sheets


def orders(plan: Plan, receipts: Mapping[str, Receipt]) -> list[dict[str, Any]]:
    """Gather which methods tell sentences from their twins, in every space."""
    return [
        {"space": space, **row, "method": _called(row["method"], learner)}
        for (space, learner), stage in plan.orders.items()
        for row in read_order(receipts[stage.id].path)
    ]


def _order_sheet(rows: Sequence[Mapping[str, Any]]) -> Sheet:
    cells = tuple(
        (
            row["method"], row["space"], f"{row['composed']:,} of {row['sentences']:,}",
            "-" if row["gap"] is None else f"{row['gap']:.3f}",
            "-" if row["right"] is None else f"{row['right']:.3f}",
            "-" if row["interval"] is None else "[{:.3f}, {:.3f}]".format(*row["interval"]), row["note"],
        )
        for row in rows
    )  # fmt: skip
    return Sheet(
        "Word order", ("method", "space", "composed", "gap", "right", "95% interval", ""), cells,
        "Attested sentences, and what they are with subject and object exchanged (pandas eat bamboo, bamboo eats "
        "pandas). Gap: one minus the cosine of the two. Right: how often the true one is nearer to the vector of the "
        "attested phrase, which nothing was learned from; a method that cannot tell has 0.5.",
    )  # fmt: skip


def versions() -> dict[str, str]:
    """Name the programs that made a run."""
    import composita

    found = {"Python": platform.python_version(), "composita": composita.__version__}
    for name in PROGRAMS[1:]:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
