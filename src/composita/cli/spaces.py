"""Commands of spaces: ``space``, ``tune``, ``convert``, ``map``, and what ``info`` says of a space."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from composita.cli.output import (
    JsonOption,
    QuietOption,
    WorkersOption,
    console,
    human_bytes,
    print_facts,
    print_json,
    print_table,
    show_progress,
    worker_count,
)
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.cli.inspect import Look
    from composita.spaces.space import Space
    from composita.spaces.tuning import Trial

logger = logging.getLogger("composita")


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(epilog="Example: composita space counts --out space --weighting ppmi --reduce svd --dimensions 300")(
        space
    )
    app.command(epilog="Example: composita tune counts --benchmark men.txt --weighting ppmi,lmi --dimensions 100,300")(
        tune
    )
    app.command(epilog="Example: composita convert glove.6B.300d.txt space")(convert)
    app.command("map", epilog="Example: composita map space dog-n cat-n car-n bus-n --out map.svg")(draw)


# ---------------------------------------------------------------- space


def space(
    counts: Annotated[Path, typer.Argument(metavar="COUNTS", help="Counts, as composita count makes them.")],
    out: Annotated[Path, typer.Option(metavar="SPACE", help="The folder to make.")],
    weighting: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="ppmi, pmi, lmi, epmi, log, log1p, t-score, z-score, chi-squared, simple-ll, log-likelihood, dice, "
            "tf-idf, none.",
        ),
    ] = "ppmi",
    smoothing: Annotated[
        float, typer.Option(metavar="A", help="Of pmi, ppmi, lmi, epmi: the power of context counts, such as 0.75.")
    ] = 1.0,
    shift: Annotated[
        float, typer.Option(metavar="S", help="Of pmi, ppmi, lmi: what is taken off, such as ln 5 = 1.609.")
    ] = 0.0,
    min_count: Annotated[
        float, typer.Option(metavar="N", help="Drop contexts with fewer counts in the core.", min=0)
    ] = 0,
    columns: Annotated[
        int | None, typer.Option(metavar="N", help="Keep so many contexts, those with most weight.", min=1)
    ] = None,
    columns_by: Annotated[str, typer.Option(metavar="length|sum", help="What most weight is.")] = "length",
    normalise: Annotated[
        str | None, typer.Option(metavar="l1|l2", help="Divide weighted rows by their sum or length.")
    ] = None,
    reduce: Annotated[str, typer.Option(metavar="svd|nmf|none", help="How dimensions are reduced.")] = "svd",
    dimensions: Annotated[int, typer.Option(metavar="N", help="To how many.", min=1)] = 300,
    power: Annotated[float, typer.Option(metavar="P", help="Of svd: the power of the singular values.")] = 1.0,
    drop: Annotated[int, typer.Option(metavar="N", help="Of svd: leave out the first dimensions.", min=0)] = 0,
    solver: Annotated[str | None, typer.Option(metavar="hals|lin", help="Of nmf.")] = None,
    iterations: Annotated[int | None, typer.Option(metavar="N", help="Of nmf: at most so many; 100.", min=1)] = None,
    tolerance: Annotated[
        float | None, typer.Option(metavar="T", help="Of nmf: when the projected gradient has fallen to this; 0.001.")
    ] = None,
    projection: Annotated[
        str | None, typer.Option(metavar="nnls|pinv", help="Of nmf: how rows are projected; nnls.")
    ] = None,
    words_only: Annotated[bool, typer.Option("--words-only", help="Leave out phrases.")] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Where reductions begin.")] = 0,
    workers: WorkersOption = 0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Turn counts into vectors: weigh and reduce the core of nouns and verbs, and project all else into it."""
    from composita.counting.counts import Counts
    from composita.spaces.space import Space
    from composita.store.engine import Engine

    given = {"solver": solver, "iterations": iterations, "tolerance": tolerance, "projection": projection}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with show_progress(quiet or json) as progress:
        made = Space.from_counts(
            Counts.open(counts), weighting=weighting, smoothing=smoothing, shift=shift, min_count=min_count,
            columns=columns, columns_by=columns_by, normalise=normalise, reduce=reduce, dimensions=dimensions,
            power=power, drop=drop, seed=seed, rows="words" if words_only else None, out=out,
            engine=Engine(worker_count(workers)), progress=progress, **options,
        )  # fmt: skip
    _show(made, json)


def _show(made: Space, json: bool) -> None:
    from composita.spaces.describe import describe

    description = describe(made)
    if json:
        print_json(description)
    else:
        print_space(description)


def describe_space(look: Look) -> tuple[dict[str, Any], Callable[[], None]]:
    """Describe a space for ``composita info``."""
    from composita.spaces.describe import describe
    from composita.spaces.space import Space

    description = describe(Space.open(look.path))
    return description, lambda: print_space(description)


def print_space(found: dict[str, Any]) -> None:
    """Print what a space holds."""
    facts = {
        "space": found["path"],
        "history": found["history"],
        "words": f"{found['words']:,}, {found['core']:,} of them core",
        "phrases": ", ".join(f"{name} {count:,}" for name, count in found["phrases"].items() if count) or "none",
        "dimensions": f"{found['dimensions']:,}"
        + (f", {found['density']:.2%} of them filled" if found["sparse"] else ""),
        "size": human_bytes(found["bytes"]) if found["bytes"] else "",
        "empty rows": f"{found['zero_rows']:,} were found beside no context that counts: their vectors are 0"
        if found["zero_rows"]
        else "",
        "reduction": found["reduction"],
        "made of": ", ".join(f"{kind} {value[:16]}" for kind, value in found["fingerprints"].items()),
        "fingerprint": found["fingerprint"][:16],
    }
    print_facts({name: value for name, value in facts.items() if value})


# ---------------------------------------------------------------- tune


def tune(
    counts: Annotated[Path, typer.Argument(metavar="COUNTS", help="Counts, as composita count makes them.")],
    benchmark: Annotated[
        list[str], typer.Option(metavar="FILE", help="Word pairs with ratings: MEN, SimLex-999, WordSim-353, SimVerb.")
    ],
    weighting: Annotated[str, typer.Option(metavar="LIST", help="Weightings.")] = "ppmi,lmi,log,none",
    reduce: Annotated[str, typer.Option(metavar="LIST", help="Reductions: svd, nmf, none.")] = "none,svd",
    dimensions: Annotated[str, typer.Option(metavar="LIST", help="Numbers of dimensions.")] = "300",
    power: Annotated[str, typer.Option(metavar="LIST", help="Of svd: powers of the singular values.")] = "1",
    measure: Annotated[str, typer.Option(metavar="NAME", help="cosine, dot, euclidean, lin or pearson.")] = "cosine",
    plot: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Draw the result.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Where reductions and intervals begin.")] = 0,
    workers: WorkersOption = 0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare weightings and reductions by how well they order pairs of words as people do.

    Numbers are Spearman's correlation, with 95% intervals over pairs; covered are the pairs whose words were counted.
    """
    from composita.counting.counts import Counts
    from composita.spaces.tuning import draw_trials
    from composita.spaces.tuning import tune as try_out
    from composita.store.engine import Engine

    pairs = [_word_pairs(name) for name in benchmark]
    with show_progress(quiet or json) as progress:
        trials = try_out(
            Counts.open(counts), pairs, weightings=_list(weighting), reductions=_list(reduce),
            dimensions=[_number("dimensions", text) for text in _list(dimensions)],
            powers=[_decimal("power", text) for text in _list(power)], measure=measure, seed=seed,
            engine=Engine(worker_count(workers)), progress=progress,
        )  # fmt: skip
    if plot is not None:
        draw_trials(trials, plot)
    if json:
        print_json([asdict(trial) for trial in trials])
        return
    print_trials(trials)


def _word_pairs(name: str) -> Any:  # noqa: ANN401 - of a room that is loaded late
    """Read a file of word pairs, or one that is known by a name."""
    from composita.spaces.wordpairs import WordPairs, find_pairs

    return WordPairs.read(find_pairs(name))


def _list(text: str) -> list[str]:
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise UsageError(f"expected names or numbers, divided by commas, got {text!r}")
    return found


def _number(name: str, text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise UsageError(f"--{name}: expected whole numbers from 1, divided by commas, got {text!r}")
    return int(text)


def _decimal(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--{name}: expected numbers, divided by commas, got {text!r}") from None


def print_trials(trials: list[Trial]) -> None:
    """Print a table for each benchmark, best first."""
    for benchmark in dict.fromkeys(trial.benchmark for trial in trials):
        mine = sorted((t for t in trials if t.benchmark == benchmark), key=lambda t: (t.rho != t.rho, -t.rho))
        rows = [
            [t.name, f"{t.rho:.3f}", f"{t.low:.3f} to {t.high:.3f}", f"{t.seconds:.1f}"] for t in mine
        ]  # fmt: skip
        title = f"{benchmark}: {mine[0].covered:,} of {mine[0].pairs:,} pairs covered"
        print_table(["space", "rho", "95% interval", "seconds"], rows, title)


# ---------------------------------------------------------------- convert


def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="A file of vectors, or a space.")],
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file, or the folder of a space, to make.")],
    source_format: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FORMAT", help="word2vec, word2vec-binary, glove, tsv, dm, sm, npz; by its name."
        ),
    ] = None,
    target_format: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="One of these, or space; by its name.")
    ] = None,
    pos: Annotated[
        str | None, typer.Option(metavar="n|v|a|r", help="A letter to put behind words: dog becomes dog-n.")
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="word|PATTERN", help="Only words, or the phrases of a pattern such as svo.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Convert vectors: between spaces and the files of word2vec, GloVe, fastText (text), DISSECT, NumPy, and tables.

    Names tell formats: .vec .w2v (word2vec text), .bin (binary), .txt .glove (GloVe, or word2vec by its first line),
    .tsv, .dm, .sm, .npz, each text also with .gz, .bz2 or .zst; what has no such name is a space.
    """
    from composita.spaces.convert import convert as convert_vectors

    made = convert_vectors(source, target, source_format=source_format, target_format=target_format, pos=pos, rows=rows)
    if not quiet:
        logger.info("%s vectors of %s dimensions written to %s", f"{made[0]:,}", f"{made[1]:,}", target)


# ---------------------------------------------------------------- map


def draw(
    path: Annotated[Path, typer.Argument(metavar="SPACE", help="A space.")],
    words: Annotated[
        list[str], typer.Argument(metavar="WORD...", help="Words or phrases, or a file that lists words.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE.svg", help="The picture to write.")],
    raw: Annotated[bool, typer.Option("--raw", help="Do not bring vectors to length 1 first.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Draw a map of words: those near each other are used alike (the first two principal axes)."""
    from composita.counting.words import read_words
    from composita.spaces.space import Space
    from composita.spaces.wordmap import draw_map

    labels = list(dict.fromkeys(w for word in words for w in (read_words(word) if Path(word).is_file() else [word])))
    draw_map(Space.open(path), labels, out, normalise=not raw)
    if not quiet:
        console().print(f"{len(labels)} words drawn in {out}")
