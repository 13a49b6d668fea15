"""Commands that hold methods against people: ``evaluate``, ``data list|fetch|add``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from composita.cli.output import (
    JsonOption,
    QuietOption,
    console,
    human_count,
    print_error,
    print_facts,
    print_json,
    print_table,
    show_progress,
)
from composita.store.errors import UsageError, plural

if TYPE_CHECKING:
    from composita.evaluation.scoring import Difference, Score, Scores

DEFAULT_METHODS = "verb,add,multiply,kronecker,relational,learned"
TITLES = {
    "rho_individual": "with individual ratings", "rho_mean": "with mean ratings",
    "mean_average_precision": "mean average precision",
}  # fmt: skip

data_app = typer.Typer(
    help="Benchmarks: which there are, where they come from, and those that you keep.",
    rich_markup_mode=None, no_args_is_help=True,
)  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(epilog="Example: composita evaluate lexicon --benchmark gs2011 --methods verb,add,learned")(evaluate)
    data_app.command("list", epilog="Example: composita data list gs2011")(list_data)
    data_app.command("fetch", epilog="Example: composita data fetch gs2011")(fetch)
    data_app.command("add", epilog="Example: composita data add GS2011data.txt")(add)
    app.add_typer(data_app, name="data")


# ---------------------------------------------------------------- evaluate


def evaluate(
    lexicon: Annotated[Path, typer.Argument(metavar="LEXICON", help="A lexicon, a space or a run.")],
    benchmark: Annotated[
        list[str],
        typer.Option("--benchmark", "-b", metavar="NAME", help="A benchmark's name or file; may be repeated."),
    ],
    methods: Annotated[
        str, typer.Option(metavar="LIST", help="The methods, with commas between them; all for every one.")
    ] = DEFAULT_METHODS,
    bootstrap: Annotated[int, typer.Option(metavar="N", help="How many times items are resampled.", min=0)] = 2000,
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of resampling.")] = 0,
    spelling: Annotated[
        bool, typer.Option("--spelling", help="Exchange words that the lexicon lacks for other spellings that it has.")
    ] = False,
    spellings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of such words, two a line; implies --spelling.")
    ] = None,
    back_off: Annotated[
        bool, typer.Option(help="Where a function is missing: whether something less may be done, and counted.")
    ] = True,
    groups: Annotated[bool, typer.Option("--groups", help="Show each group of items too, such as each verb.")] = False,
    differences: Annotated[
        bool, typer.Option("--differences", help="Show the paired difference between each two methods.")
    ] = False,
    items: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what is predicted for each item to a TSV file.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Hold methods against human ratings.

    Scores stand by both conventions, with 95% intervals over items, beside how far people agree.
    """
    from composita.composition.model import open_model
    from composita.evaluation.benchmarks import Benchmark
    from composita.evaluation.scoring import evaluate as score
    from composita.evaluation.spelling import read_table

    chosen: Any = read_table(spellings) if spellings else spelling
    loaded = [Benchmark.load(name) for name in benchmark]
    model = open_model(lexicon)
    with show_progress(quiet or json) as progress:
        found = [
            score(
                model, one, methods, bootstrap=bootstrap, seed=seed, spelling=chosen, back_off=back_off,
                progress=progress,
            )
            for one in loaded
        ]  # fmt: skip
    if items:
        _write_items(items, found)
    if json:
        print_json([scores.to_json() for scores in found])
        return
    for scores in found:
        _print_scores(scores, groups=groups, differences=differences, quiet=quiet)


def _print_scores(scores: Scores, *, groups: bool, differences: bool, quiet: bool) -> None:
    benchmark = scores.benchmark
    if benchmark.kind == "ranking":
        rows = [[row.method, *_figures(row, "mean_average_precision"), _coverage(row)] for row in scores.rows]
        heads, conventions = ["method", TITLES["mean_average_precision"], "95%", "covered"], ["mean_average_precision"]
    else:
        conventions = ["rho_individual", "rho_mean"] if benchmark.ratings.individual else ["rho_mean"]
        rows = [
            [row.method, *(cell for name in conventions for cell in _figures(row, name)), _coverage(row), _share(row)]
            for row in scores.rows
        ]
        rows += _frame(scores, conventions)
        heads = ["Spearman's rho", *(cell for name in conventions for cell in (TITLES[name], "95%"))]
        heads += ["covered", "high over low"]
        if not any(row[-1] for row in rows):
            heads, rows = heads[:-1], [row[:-1] for row in rows]
    print_table(heads, rows, _title(scores))
    _print_common(scores, conventions)
    if groups:
        _print_groups(scores, conventions)
    if differences:
        _print_differences(scores, conventions)
    if not quiet:
        for remark in _remarks(scores):
            print_error(remark)


def _title(scores: Scores) -> str:
    benchmark = scores.benchmark
    if benchmark.kind == "ranking":
        return f"{benchmark.name}: {plural(len(benchmark), 'description')} of {plural(len(benchmark.groups), 'term')}"
    ratings = benchmark.ratings
    by = f" by {plural(len(ratings.participants), 'annotator')}" if ratings.individual else ", means only"
    return f"{benchmark.name}: {plural(len(benchmark), 'item')}, {plural(len(ratings), 'rating')}{by}"


def _figures(row: Score, name: str) -> tuple[str, str]:
    low, high = getattr(row, f"{name}_interval")
    value = getattr(row, name)
    return _number(value), "" if math.isnan(value) or math.isnan(low) else f"{low:.3f} to {high:.3f}"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _coverage(row: Score) -> str:
    back = f", {row.backed_off} in part" if row.backed_off else ""
    return f"{row.covered:,}/{row.items:,}{back}"


def _share(row: Score) -> str:
    return "" if math.isnan(row.separation) else f"{row.separation:.1%}"


def _frame(scores: Scores, conventions: list[str]) -> list[list[str]]:
    """People above, an oracle as the ceiling, shuffled predictions as the floor."""
    humans, rows = scores.humans, []
    if scores.benchmark.ratings.individual:
        people = {"rho_individual": humans.pairwise, "rho_mean": humans.leave_one_out}
        rows.append(["(people)", *(cell for name in conventions for cell in (_number(people[name]), "")), "", ""])
        rows.append(["(oracle)", _number(humans.ceiling), "", "", "", "", ""])
    chance = [
        (_number(mean), f"{low:.3f} to {high:.3f}")
        for mean, (low, high) in (scores.floor[name] for name in conventions)
    ]
    return [*rows, ["(shuffled)", *(cell for pair in chance for cell in pair), "", ""]]


def _print_common(scores: Scores, conventions: list[str]) -> None:
    """Where methods score different items, compare them on those that all of them score."""
    if scores.benchmark.kind == "ranking" or len({row.covered for row in scores.rows if row.covered}) < 2:
        return
    rows = [[row.method, *(_number(getattr(row, f"{name}_common")) for name in conventions)] for row in scores.rows]
    common = max(row.common for row in scores.rows)
    print_table(["method", *(TITLES[name] for name in conventions)], rows, f"On the {common:,} items that all score")


def _print_groups(scores: Scores, conventions: list[str]) -> None:
    methods = [row.method for row in scores.rows]
    name = conventions[-1]
    table: dict[str, dict[str, str]] = {}
    for one in scores.groups:
        table.setdefault(one.group, {"items": str(one.items)})[one.method] = _number(getattr(one, name))
    rows = [[group, cells["items"], *(cells.get(method, "-") for method in methods)] for group, cells in table.items()]
    if rows:
        print_table(["group", "items", *methods], rows, f"Each group, {TITLES[name]}")


def _print_differences(scores: Scores, conventions: list[str]) -> None:
    for name in conventions:
        rows = [
            [
                f"{one.first} - {one.second}", f"{one.difference:+.3f}", *_sureness(one), str(one.items),
            ]
            for one in scores.differences if one.convention == name and not math.isnan(one.difference)
        ]  # fmt: skip
        if rows:
            heads = ["difference", "by", "95%", "p", "p, corrected", "items"]
            print_table(heads, rows, f"Paired differences, {TITLES[name]}")


def _sureness(one: Difference) -> tuple[str, str, str]:
    """Give the interval and p; nothing where nothing was resampled."""
    if math.isnan(one.p):
        return "", "", ""
    return "{:+.3f} to {:+.3f}".format(*one.interval), f"{one.p:.4f}", f"{one.corrected:.4f}"


def _remarks(scores: Scores) -> list[str]:
    said = [f"{scores.benchmark.name}: {remark}" for remark in scores.benchmark.remarks]
    if scores.exchanged:
        pairs = ", ".join(f"{old} -> {new}" for old, new in scores.exchanged.items())
        said.append(f"{plural(len(scores.exchanged), 'word')} exchanged for other spellings: {pairs}")
    for row in scores.rows:
        reasons = list(scores.reasons[row.method].values())
        if reasons:
            usual = max(set(reasons), key=lambda reason: (reasons.count(reason), reason))
            said.append(f"{row.method} scores {row.covered:,} of {row.items:,} items; most often: {usual}")
    return list(dict.fromkeys(said))


def _write_items(path: Path, found: list[Scores]) -> None:
    """Write one line for each item of each benchmark."""
    import csv

    rows = [{"benchmark": scores.benchmark.name, **row} for scores in found for row in scores.items()]
    for row in rows:
        missing = row.pop("missing", {})
        row |= {f"{method}: why not": reason for method, reason in missing.items()}
    names = list(dict.fromkeys(name for row in rows for name in row))
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names, delimiter="\t", lineterminator="\n", restval="")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


# ---------------------------------------------------------------- data


def list_data(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One benchmark, to be told everything of.")] = None,
    json: JsonOption = False,
) -> None:
    """List benchmarks: what they are, where they were published, and whether you have them."""
    from dataclasses import asdict

    from composita.evaluation.registry import data_home, listed

    found = [(entry, kept) for entry, kept in listed() if name is None or kept.name == name.lower()]
    if name is not None and not found:
        from composita.evaluation.registry import registered

        registered(name)
    if json:
        print_json([
            {"name": kept.name, "path": None if kept.path is None else str(kept.path), "checksum": kept.checksum,
             "known": kept.known, "registered": None if entry is None else asdict(entry)}
            for entry, kept in found
        ])  # fmt: skip
        return
    if name is not None:
        entry, kept = found[0]
        _print_entry(entry, kept.path, kept.checksum, known=kept.known)
        return
    rows = [
        [
            kept.name,
            "yes" if kept.path else "-",
            _count(entry.items if entry else 0),
            entry.title if entry else "your own",
        ]
        for entry, kept in found
    ]
    widest = max(len(row[-1]) for row in rows)
    print_table(["name", "here", "items", "what".ljust(widest)], [[*row[:-1], row[-1].ljust(widest)] for row in rows])
    console().print(f"\nKept in {data_home() / 'benchmarks'}. None is shipped: composita data fetch NAME, or add FILE.")


def _print_entry(entry: Any, path: Path | None, checksum: str, *, known: bool) -> None:  # noqa: ANN401
    if entry is None:
        print_facts({"file": str(path), "SHA-256": checksum})
        return
    facts = {
        "name": entry.name, "what": entry.title, "citation": entry.citation, "licence": entry.licence,
        "published at": "\n".join(dict.fromkeys([*entry.urls, entry.page])),
        "structure": ", ".join(
            human_count(n, unit) for n, unit in ((entry.items, "items"), (entry.ratings, "ratings"),
                                                 (entry.participants, "annotators")) if n
        ) + f" (format {entry.format})",
        "SHA-256": "\n".join(entry.checksums) or "not known: its structure is checked",
        "here": str(path) if path else "no",
        "its SHA-256": f"{checksum} {'as published' if known else 'not one of those above'}" if path else "",
    }  # fmt: skip
    print_facts({key: value for key, value in facts.items() if value})


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which benchmark: see composita data list.")],
    url: Annotated[list[str] | None, typer.Option(metavar="URL", help="Another address; may be repeated.")] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for an answer.", min=0.1)] = 30.0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Download a benchmark from where it was published, and check it.

    A download that was interrupted goes on where it was.
    """
    from composita.evaluation.registry import fetch as fetch_benchmark

    with show_progress(quiet or json) as progress:
        kept = fetch_benchmark(name, urls=url or (), timeout=timeout, progress=progress)
    _print_kept(kept, json=json, quiet=quiet)


def add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A benchmark's file, or your own ratings.")],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What it is to be called; without it, what it is found to be.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Keep a file that you have, known by its checksum or by its structure."""
    from composita.evaluation.registry import add as add_benchmark

    _print_kept(add_benchmark(file, name), json=json, quiet=quiet)


def _print_kept(kept: Any, *, json: bool, quiet: bool) -> None:  # noqa: ANN401
    if json:
        print_json({"name": kept.name, "path": str(kept.path), "checksum": kept.checksum, "known": kept.known,
                    "remarks": list(kept.remarks)})  # fmt: skip
        return
    facts = {"name": kept.name, "file": str(kept.path), "SHA-256": kept.checksum}
    print_facts(facts | {"checked": "by its checksum" if kept.known else "by its structure only"})
    if not quiet:
        for remark in kept.remarks:
            print_error(remark)
