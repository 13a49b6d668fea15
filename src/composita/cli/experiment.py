"""Commands for experiments: ``run``, ``compare``, ``demo``, and what ``info`` says of runs and sweeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from composita.cli.output import (
    ClusterOption,
    JsonOption,
    QuietOption,
    WorkersOption,
    console,
    human_bytes,
    parse_count,
    print_facts,
    print_json,
    print_table,
    show_progress,
    working,
)
from composita.store.errors import UsageError, plural

if TYPE_CHECKING:
    from composita.cli.inspect import Look
    from composita.experiment.config import Experiment
    from composita.experiment.run import Run
    from composita.experiment.sweep import Sweep

TableOption = Annotated[
    str, typer.Option("--table", metavar="FORM", help="How the table is printed: text, markdown or latex.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(epilog="Example: composita run experiment.toml --out run")(run)
    app.command(epilog="Example: composita extend run more.conllu.gz --out larger-run")(extend)
    app.command(epilog="Example: composita compare run other-run")(compare)
    app.command(epilog="Example: composita demo --out demo")(demo)


# ---------------------------------------------------------------- run


def run(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="An experiment, described in TOML.")],
    out: Annotated[
        Path | None, typer.Option(metavar="RUN", help="The folder to make; without it, one called as the experiment.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only say which stages there are, and which are done.")] = False,
    learning_curve: Annotated[
        str | None,
        typer.Option(metavar="SIZES", help="Run it on growing parts of the corpus, such as 5M,10M,20M,all tokens."),
    ] = None,
    table: TableOption = "text",
    memory: Annotated[str, typer.Option(metavar="SIZE", help="The budget of counting, such as 4G.")] = "4G",
    tidy: Annotated[
        bool, typer.Option("--tidy", help="Afterwards remove what stages made for earlier configurations.")
    ] = False,
    workers: WorkersOption = 0,
    cluster: ClusterOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run an experiment, from text to table and report.

    What has been done is not done again: run the same command after a change of the experiment, or after it was
    stopped, and it makes only what is missing.
    """
    from composita.experiment.config import Experiment
    from composita.experiment.run import run as run_experiment
    from composita.experiment.sweep import learning_curve as sweep_over_sizes
    from composita.experiment.sweep import run_sweep
    from composita.experiment.table import FORMATS

    if table not in FORMATS:
        raise UsageError(f"unknown --table {table!r}: choose {', '.join(FORMATS)}")
    described = Experiment.load(experiment)
    if learning_curve is not None:
        sizes = [None if size.strip() == "all" else parse_count(size) for size in learning_curve.split(",")]
        described = sweep_over_sizes(described, sizes)
    place = out or Path(experiment.stem)
    with show_progress(quiet or json) as progress, working(workers, cluster, place) as (engine, (target,)):
        if plan:
            _print_plan(described, target, json)
            return
        if described.sweep:
            sweep = run_sweep(described, target, engine=engine, memory=memory, progress=progress)
            _print_sweep(sweep, table, json)
            return
        made = run_experiment(described, target, engine=engine, memory=memory, progress=progress)
        if tidy:
            from composita.experiment.run import tidy_stages

            tidy_stages(made)
    _print_run(made, table, json)


def extend(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run that is finished.")],
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="New text: files or patterns in quotes.")],
    out: Annotated[Path, typer.Option(metavar="NEW", help="The folder to make.")],
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the files are that the experiment names; by default beside RUN."),
    ] = None,
    table: TableOption = "text",
    memory: Annotated[str, typer.Option(metavar="SIZE", help="The budget of counting, such as 4G.")] = "4G",
    workers: WorkersOption = 0,
    cluster: ClusterOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Add text to a finished run: only that is counted, and only functions whose phrases it has are learned again.

    The words, weights and dimensions of the run stay as they are. To let the new text change them too, name all text in
    the experiment and use run.
    """
    from composita.experiment.extend import extend as extend_run
    from composita.experiment.run import Run
    from composita.experiment.table import FORMATS

    if table not in FORMATS:
        raise UsageError(f"unknown --table {table!r}: choose {', '.join(FORMATS)}")
    with show_progress(quiet or json) as progress, working(workers, cluster, out, run) as (engine, (target, before)):
        made = extend_run(
            Run.open(before), sources, target, folder=folder, engine=engine, memory=memory, progress=progress
        )
    _print_run(made, table, json)


def _print_plan(experiment: Experiment, out: Path, json: bool) -> None:
    from composita.experiment.cache import Cache
    from composita.experiment.run import STAGES
    from composita.experiment.stages import make_plan

    found = []
    for chosen, one in experiment.variations() if experiment.sweep else [({}, experiment)]:
        cache = Cache(out / STAGES)
        for stage in make_plan(one, out / STAGES).stages:
            state = "given" if stage.given else "done" if cache.find(stage) else "to do"
            found.append({"stage": stage.id, "state": state, "fingerprint": stage.fingerprint, "variation": chosen})
    if json:
        print_json(found)
    else:
        rows = [[str(one["stage"]), str(one["state"]), str(one["fingerprint"])[:12]] for one in found]
        print_table(["stage", "state", "fingerprint"], rows)


def _print_run(run: Run, table: str, json: bool) -> None:
    from composita.experiment.table import write_tables

    if json:
        print_json({
            "run": str(run.path), "report": str(run.report), "results": run.json("results.json"),
            "humans": run.json("humans.json"), "timings": run.timings,
        })  # fmt: skip
        return
    typer.echo(write_tables(run.tables(), table), nl=False)
    if table == "text":
        typer.echo(f"\nreport: {run.report}")


def _print_sweep(sweep: Sweep, table: str, json: bool) -> None:
    from composita.experiment.table import write_tables

    if json:
        print_json({"sweep": str(sweep.path), "results": sweep.to_json()})
        return
    typer.echo(write_tables(sweep.tables(), table), nl=False)
    if table == "text":
        typer.echo(f"\nreport: {sweep.report}")


# ---------------------------------------------------------------- compare


def compare(
    first: Annotated[Path, typer.Argument(metavar="RUN", help="A run.")],
    second: Annotated[Path, typer.Argument(metavar="RUN", help="Another run.")],
    resamples: Annotated[int, typer.Option(metavar="N", help="How often items are drawn for intervals.", min=1)] = 2000,
    json: JsonOption = False,
) -> None:
    """Compare two runs: what was asked differently, and what came out differently."""
    from composita.experiment.compare import compare as compare_runs
    from composita.experiment.differences import HEADS
    from composita.experiment.run import Run

    found = compare_runs(Run.open(first), Run.open(second), number=resamples)
    if json:
        print_json(found.to_json())
        return
    if found.configuration:
        print_table(["key", str(first), str(second)], found.configuration, "Asked differently")
    else:
        console().print("The two runs were asked for the same.")
    if found.differences:
        print_table(HEADS, [one.cells for one in found.differences], "Came out; differences are second minus first")
    for name, only in ((first, found.only_first), (second, found.only_second)):
        if only:
            console().print(f"Only in {name}: {'; '.join(', '.join(key) for key in only)}")


# ---------------------------------------------------------------- demo


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to make.")] = Path("demo"),
    text: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own raw text, in place of the built-in corpus.")
    ] = None,
    corpus: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Your own parsed text: files or quoted patterns.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="MODEL", help="For raw text: the parser's model.")] = None,
    workers: WorkersOption = 0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run the whole experiment on a small synthetic corpus, or on your own text, in about a minute."""
    from composita.demo import demonstrate
    from composita.store.engine import Engine

    if text is not None and corpus:
        raise UsageError("--text and --corpus exclude each other: give raw text, or parsed text")
    from composita.cli.output import worker_count

    with show_progress(quiet or json) as progress:
        found = demonstrate(
            out, text=text, corpus=corpus, model=model, engine=Engine(worker_count(workers)), progress=progress,
            say=(lambda line: None) if json else typer.echo,
        )  # fmt: skip
    if json:
        print_json(found)


# ---------------------------------------------------------------- info


def describe_run(look: Look) -> tuple[dict[str, Any], Callable[[], None]]:
    """Describe a run for ``composita info``: what it holds, and every value that it was made with."""
    from composita.experiment.report.page import flat
    from composita.experiment.run import Run

    run = Run.open(look.path)
    size = sum(path.stat().st_size for path in run.path.rglob("*") if path.is_file())
    described = {
        "path": str(run.path), "kind": "run", "name": run.name, "bytes": size, "corpus": run.meta["corpus"],
        "spaces": run.meta["spaces"], "lexicons": run.meta["lexicons"], "stages": run.meta["stages"],
        "results": run.json("results.json"), "experiment": run.configuration, "fingerprint": run.meta["fingerprint"],
    }  # fmt: skip

    def show() -> None:
        print_facts({
            "run": f"{run.path} ({run.name})", "size": human_bytes(size),
            "spaces": ", ".join(run.meta["spaces"]),
            "lexicons": ", ".join(one["name"] for one in run.meta["lexicons"]) or "none",
            "stages": plural(len(run.meta["stages"]), "stage"), "report": str(run.report),
            "fingerprint": run.meta["fingerprint"][:16],
        })  # fmt: skip
        typer.echo(f"\n{run}")
        print_table(["key", "value"], list(flat(run.configuration)), "Every value it was made with")

    return described, show


def describe_sweep(look: Look) -> tuple[dict[str, Any], Callable[[], None]]:
    """Describe a sweep for ``composita info``."""
    from composita.experiment.sweep import Sweep
    from composita.experiment.table import write_tables

    sweep = Sweep.open(look.path)
    described = {"path": str(sweep.path), "kind": "sweep", "results": sweep.to_json()}
    return described, lambda: typer.echo(write_tables(sweep.tables()), nl=False)
