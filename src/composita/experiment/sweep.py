"""Sweeps: one experiment in all variations of some of its values, with everything shared that they have in common."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from composita.experiment.config import Experiment
from composita.experiment.report.figures import Curve, curve_figure
from composita.experiment.report.page import Sheet, Story, page
from composita.experiment.report.pdf import to_pdf
from composita.experiment.report.svg import Figure
from composita.experiment.results import CONVENTIONS, Results, Row
from composita.experiment.run import STAGES, Run, run
from composita.experiment.table import Table, score_cell, write_tables
from composita.store.engine import HERE, Engine
from composita.store.errors import UsageError
from composita.store.folder import Folder, fingerprint, is_plain, open_writer
from composita.store.progress import Cancellation, ProgressCallback, silent
from composita.store.strict_json import dump_json

KIND, VERSION = "sweep", 1
TOKENS = "corpus.tokens"
"""The key whose sweep is a learning curve."""
logger = logging.getLogger("composita")


@dataclass(frozen=True)
class Sweep:
    """The runs of a sweep, each with the values that were chosen for it."""

    path: Path
    runs: tuple[tuple[dict[str, Any], Run], ...]

    @classmethod
    def open(cls, path: str | Path) -> Sweep:
        """Open the folder of a sweep that was finished."""
        folder = Folder.open(path, KIND, VERSION)
        return cls(
            folder.path, tuple((one["chosen"], Run.open(folder.other(one["path"]))) for one in folder.meta["runs"])
        )

    def tables(self) -> list[Table]:
        """Give one table for each benchmark and convention: variations, methods and spaces by their scores."""
        benchmarks = list(dict.fromkeys(name for _, one in self.runs for name in one.results.benchmarks))
        return [
            self._table(name, convention)
            for name in benchmarks
            for convention in self.runs[0][1].results.conventions(name)
        ]

    def _table(self, benchmark: str, convention: str) -> Table:
        rows = [
            (title_of(chosen), row.space, row.method, score_cell(row, convention))
            for chosen, one in self.runs
            for row in one.results.rows
            if row.benchmark == benchmark and row.score(convention) is not None
        ]
        title = f"{benchmark}: {CONVENTIONS[convention]}"
        return Table(title, ("variation", "space", "method", convention), tuple(rows))

    def to_json(self) -> list[dict[str, Any]]:
        """Give all rows, each with the values that were chosen."""
        return [{"variation": chosen, **row.to_json()} for chosen, one in self.runs for row in one.results.rows]

    @property
    def report(self) -> Path:
        """The page to read."""
        return self.path / "report.html"


def learning_curve(experiment: Experiment, sizes: Sequence[int | None]) -> Experiment:
    """Give the sweep over growing parts of the corpus, so many tokens each; None stands for all of it."""
    if experiment.sweep:
        raise UsageError("the experiment has a [sweep] already: expected one without, for a learning curve")
    if len(sizes) < 2:
        raise UsageError(f"expected at least two sizes such as 5M,10M,all, got {len(sizes)}")
    return replace(experiment, sweep=((TOKENS, tuple("all" if size is None else size for size in sizes)),))


def title_of(chosen: Mapping[str, Any]) -> str:
    """Write the values that were chosen.

    >>> title_of({"space.reduce": "svd", "space.dimensions": 100})
    'space.reduce=svd space.dimensions=100'
    """
    return " ".join(f"{key}={value}" for key, value in chosen.items())


def folder_of(chosen: Mapping[str, Any]) -> str:
    """Make a folder's name of the values that were chosen.

    >>> folder_of({"space.reduce": "svd"})
    'space.reduce-svd'
    """
    name = "-".join(f"{key}-{value}" for key, value in chosen.items()).replace(" ", "")
    return name if is_plain(name) and len(name) < 80 else f"variation-{fingerprint(dict(chosen))[:12]}"


def run_sweep(
    experiment: Experiment,
    out: str | Path,
    *,
    engine: Engine = HERE,
    memory: int | str = "4G",
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Sweep:
    """Run all variations, each into a folder of its own; stages that several have in common are made once."""
    variations = experiment.variations()
    if not experiment.sweep:
        raise UsageError("the experiment has no [sweep]: use `Experiment.run`")
    out = Path(out)
    with open_writer(out, KIND, VERSION, cancel=cancel) as writer:
        found = []
        for number, (chosen, one) in enumerate(variations, 1):
            logger.info("variation %d of %d: %s", number, len(variations), title_of(chosen))
            place = folder_of(chosen)
            made = run(
                one, out / place, engine=engine, memory=memory, stages=out / STAGES, progress=progress, cancel=cancel
            )
            found.append((chosen, place, made))
        sweep = Sweep(out, tuple((chosen, made) for chosen, _, made in found))
        meta = {
            "name": experiment.name,
            "runs": [{"chosen": chosen, "path": place} for chosen, place, _ in found],
            "fingerprint": fingerprint("sweep", [made.meta["fingerprint"] for _, _, made in found]),
        }
        if writer.meta is None or writer.meta.get("fingerprint") != meta["fingerprint"]:
            if writer.meta is not None:
                writer.commit({**meta, "runs": [], "fingerprint": ""}, keep=())
            for name, content in tell(experiment, sweep).items():
                with writer.new_file(name) as new:
                    new.path.write_bytes(content)
            writer.commit(meta, keep=())
            writer.sweep()
    return sweep


# ---------------------------------------------------------------- telling


def tell(experiment: Experiment, sweep: Sweep) -> dict[str, bytes]:
    """Make the files of a sweep: results, a report, and for growing parts of a corpus the learning curves."""
    drawn = learning_figures(sweep) if [key for key, _ in experiment.sweep] == [TOKENS] else []
    sheets = [Sheet(table.title, table.heads, table.rows) for table in sweep.tables()]
    story = Story(
        experiment.name, Results(()), sheets=sheets, pictures={"Learning curves": drawn} if drawn else {},
        facts={"sweep": "; ".join(f"{key} = {', '.join(map(str, values))}" for key, values in experiment.sweep)},
        configuration=experiment.given,
    )  # fmt: skip
    return {
        "results.json": dump_json(sweep.to_json()), "report.html": page(story).encode(),
        "table.txt": write_tables(sweep.tables()).encode(),
        **{f"{figure.name}.svg": figure.alone().encode() for figure in drawn},
        **{f"{figure.name}.pdf": to_pdf(figure) for figure in drawn},
    }  # fmt: skip


def learning_figures(sweep: Sweep) -> list[Figure]:
    """Draw rho of every method against the size of the corpus, a picture for each benchmark, convention and space."""
    tokens = [Folder.open(one.place(one.meta["counts"])).meta["tokens"] for _, one in sweep.runs]
    if len(set(tokens)) < len(tokens):
        logger.warning("some sizes are the same, for only whole shards of the corpus are taken: %s tokens", tokens)
    results = [one.results for _, one in sweep.runs]
    found = []
    for benchmark in results[0].benchmarks:
        for convention, space in product(results[0].conventions(benchmark), results[0].spaces):
            curves = [
                curve
                for method in results[0].methods
                if (curve := _curve(method, [r.find(benchmark, method, space) for r in results], tokens, convention))
            ]
            if curves:
                found.append(curve_figure(
                    f"learning-{benchmark}-{convention}-{space}",
                    f"{benchmark}, {space}: {CONVENTIONS[convention]} by tokens read",
                    curves, x_title="tokens", y_title=f"{benchmark}, {space}: {convention}", log=True,
                ))  # fmt: skip
    return found


def _curve(method: str, rows: Sequence[Row | None], tokens: Sequence[int], convention: str) -> Curve | None:
    known = [
        (size, score, row)
        for size, row in zip(tokens, rows, strict=True)
        if row is not None and (score := row.score(convention)) is not None
    ]
    said = tuple(f"{size:,} tokens: {score_cell(row, convention).strip()}" for size, _, row in known)
    points = tuple((float(size), score) for size, score, _ in known)
    return Curve(method, points, said=said) if len(points) > 1 else None
