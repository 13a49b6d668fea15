"""Commands that learn: ``learn``, and what ``info`` says of a lexicon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
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
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.cli.inspect import Look
    from composita.functions.describe import Description
    from composita.functions.learners import Learner
    from composita.functions.recipes import Recipe

WORDS_SHOWN = 20
COMPARED = "multistep,onestep,lstsq,plsr"

LEANS_ON = {
    "none": "", "whole": "the shared function", "shared": "the shared function, as much as helps",
    "similar": "similar words, as much as helps",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(epilog="Example: composita learn space --out lexicon --phrases sv,svo --cross-validate 5")(learn)


def learn(
    space: Annotated[Path, typer.Argument(metavar="SPACE", help="A space with phrases.")],
    out: Annotated[Path, typer.Option(metavar="LEXICON", help="The folder to make.")],
    preset: Annotated[
        str, typer.Option(metavar="paper|recommended", help="All options below at once; those given change it.")
    ] = "recommended",
    learner: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="onestep, multistep, lstsq, plsr, ridge-per-output, lasso or elasticnet."),
    ] = None,
    regression: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of multistep: ridge, lstsq, plsr, ridge-per-output, lasso or elasticnet."),
    ] = None,
    phrases: Annotated[
        str | None, typer.Option(metavar="LIST", help="Patterns, such as sv,svo; without it all of the space.")
    ] = None,
    heads: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="The words to learn: a list, or a benchmark. Without it: all."),
    ] = None,
    min_examples: Annotated[
        int | None, typer.Option(metavar="N", help="How many phrases a word, and each regression, must have.", min=1)
    ] = None,
    min_nonzero: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many dimensions of a phrase must not be 0 before reduction.", min=0),
    ] = None,
    min_frequency: Annotated[
        int | None, typer.Option(metavar="N", help="How often a phrase must occur.", min=0)
    ] = None,
    max_examples: Annotated[
        str | None, typer.Option(metavar="N", help="Take only the most frequent phrases of each word; or all.")
    ] = None,
    arguments: Annotated[
        str | None, typer.Option(metavar="LIST", help="What may be an argument: some of nouns,names,pronouns.")
    ] = None,
    normalise: Annotated[
        str | None,
        typer.Option(metavar="WHAT", help="What is brought to length 1: both, arguments, outputs or none."),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of onestep: product, affine, additive, or the one argument to look at."),
    ] = None,
    penalty_per: Annotated[
        str | None, typer.Option(metavar="group|level", help="Of multistep: a lambda for each, or for each level.")
    ] = None,
    centre: Annotated[
        bool | None, typer.Option("--centre/--no-centre", help="Take off the mean of the outputs before.")
    ] = None,
    intercept: Annotated[
        bool | None, typer.Option("--intercept/--no-intercept", help="Learn a constant without penalty.")
    ] = None,
    weights: Annotated[
        bool | None, typer.Option("--weights/--no-weights", help="Let frequent phrases count more: f / (f + 2).")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Any other option of the learner: components=20.")
    ] = None,
    lean: Annotated[
        str | None,
        typer.Option(metavar="none|whole|shared|similar", help="On what words lean that have few phrases."),
    ] = None,
    shared: Annotated[
        str | None,
        typer.Option(metavar="KERNEL", help="Learn a function for all words of a pattern: additive, product, or none."),
    ] = None,
    cross_validate: Annotated[
        int | None, typer.Option(metavar="FOLDS", help="Foretell held-out phrases, with each learner.", min=2)
    ] = None,
    compare: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="What is compared with the chosen one: learners, multistep:per=level, paper, shared, lean-whole, "
            "lean-shared, lean-similar; or none.",
        ),
    ] = COMPARED,
    workers: WorkersOption = 0,
    cluster: ClusterOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn what words do: a function for each verb and adjective that has phrases.

    A run that was interrupted is finished by the same command.
    """
    from composita.counting.words import read_words
    from composita.functions.comparison import compared, read_options
    from composita.functions.describe import describe
    from composita.functions.heldout import cross_validate as foretell
    from composita.functions.heldout import keep
    from composita.functions.learn import learn as learn_space
    from composita.functions.recipes import recipe
    from composita.spaces.space import Space

    named = None if not heads else {word for path in heads for word in read_words(path, bare="v", columns="va")}
    selection = {
        "min_examples": min_examples, "min_nonzero": min_nonzero, "min_frequency": min_frequency,
        "arguments": None if arguments is None else tuple(part.strip() for part in arguments.split(",")),
    }  # fmt: skip
    asked = {
        "kernel": kernel, "per": penalty_per, "centre": centre, "intercept": intercept, "weights": weights,
    }  # fmt: skip
    chosen = recipe(preset).changed(
        _learner(learner, regression, kernel, penalty_per), _given(asked) | read_options(option or ()),
        _given(selection) | _most(max_examples) | _normalise(normalise), lean, shared,
    )  # fmt: skip
    chosen = _with_least(chosen, min_examples)
    made = chosen.make()
    learners = {} if cross_validate is None else _chosen(made, chosen.lean) | compared(compare, made)
    with show_progress(quiet or json) as progress, working(workers, cluster, out, space) as (engine, (place, source)):
        lexicon = learn_space(
            Space.open(source), learner=made, patterns=phrases, heads=named, selection=chosen.selection,
            lean=chosen.lean, shared=chosen.shared, out=place, engine=engine, progress=progress,
        )  # fmt: skip
        if cross_validate is not None:
            keep(place, foretell(lexicon, learners, count=cross_validate, engine=engine, progress=progress))
    description = describe(out)
    if json:
        print_json(description)
    else:
        print_lexicon(description)


def _learner(learner: str | None, regression: str | None, kernel: str | None, per: str | None) -> str | None:
    """Find which learner is meant; some options name it."""
    if regression is not None:
        if learner not in (None, "multistep"):
            raise UsageError(f"--regression belongs to the learner multistep, not to {learner}")
        return "multistep" if regression == "ridge" else regression
    if learner is None and kernel is not None:
        return "onestep"
    return "multistep" if learner is None and per is not None else learner


def _given(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if value is not None}


def _most(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    return {"max_examples": None if text.strip().lower() == "all" else parse_count(text)}


def _normalise(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    if text not in ("both", "arguments", "outputs", "none"):
        raise UsageError(f"unknown --normalise {text!r}: choose both, arguments, outputs or none")
    return {"normalise": text in ("both", "arguments"), "normalise_outputs": text in ("both", "outputs")}


def _with_least(chosen: Recipe, least: int | None) -> Recipe:
    """Let the minimum of examples hold for regressions, too, where the learner has groups."""
    if least is None or chosen.learner == "onestep":
        return chosen
    return chosen.changed(None, {"min_examples": least}, {})


def _chosen(made: Learner, lean: str) -> dict[str, Any]:
    """Give the learner that was chosen; where words lean on others also as it is without."""
    from composita.functions.leaning import Towards

    return {"chosen": made} if lean == "none" else {"chosen": Towards(lean=lean, learner=made), "alone": made}


# ---------------------------------------------------------------- info


def describe_lexicon(look: Look) -> tuple[dict[str, Any], Callable[[], None]]:
    """Describe a lexicon for ``composita info``."""
    from composita.functions.describe import describe

    description = describe(look.path)
    return asdict(description), lambda: print_lexicon(description)


def print_lexicon(found: Description) -> None:
    """Print what a lexicon holds."""
    learner = dict(found.learner)
    name = learner.pop("learner", "none")
    selection = ", ".join(f"{key.replace('_', ' ')} {_said(value)}" for key, value in found.selection.items())
    facts = {
        "lexicon": found.path,
        "size": human_bytes(found.bytes),
        "words": f"{found.words:,} with vectors of {found.dimensions} dimensions",
        "functions": f"{found.functions:,}",
        "learner": f"{name}: {', '.join(f'{key} {_said(value)}' for key, value in learner.items())}",
        "examples": selection,
        "leans on": LEANS_ON[found.lean],
        "word forms": f"{found.forms:,}" if found.forms else "",
        "space": str(found.space.get("history") or ""),
        "fingerprint": found.fingerprint[:16],
    }
    print_facts({key: value for key, value in facts.items() if value})
    _print_patterns(found)
    _print_words(found)
    _print_heldout(found)


def _said(value: object) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "any" if value is None else str(value)


def _print_patterns(found: Description) -> None:
    heads = ["pattern", "words", "phrases", "per word", "groups per word", "of phrases", "too few", "shared"]
    rows = []
    for name, p in found.patterns.items():
        several = len(p.arguments) > 1
        groups = [f"{p.groups_per_word:,.0f}", f"{p.examples_per_group:.1f}"] if several else ["", ""]
        left = f"{p.left_out + p.failed:,}"
        rows.append(
            [name, f"{p.words:,}", f"{p.phrases:,}", f"{p.per_word:,.0f}", *groups, left, "yes" if p.shared else "no"]
        )
        if p.paper:
            paper = [
                f"{p.paper[key]:,}" if key in p.paper else ""
                for key in ("per_word", "groups_per_word", "examples_per_group")
            ]
            rows.append(["  the paper", "", f"{p.paper['phrases']:,}", *paper, "", ""])
    if rows:
        print_table(heads, rows)


def _print_words(found: Description) -> None:
    """Print the functions with most phrases."""
    words = sorted(found.functions_by_word, key=lambda word: (-word.phrases, word.word, word.pattern))
    if not words:
        return
    leans = any(word.strength is not None for word in words)
    foretold = _foretold(found)
    rows = [
        [
            word.word, word.pattern, f"{word.phrases:,}", f"{word.used:,}",
            f"{word.groups:,}" if len(found.patterns[word.pattern].arguments) > 1 else "",
            "+".join(map(str, word.regressions)),
            " ".join("-" if p is None else f"{p:.2g}" for p in word.penalties),
            "-" if word.gain is None else f"{word.gain:.3f}", f"{word.effective_rank:.0f}",
            *(["-" if word.strength is None else f"{word.strength:g}"] if leans else []),
            *([foretold.get((word.word, word.pattern), "-")] if foretold else []),
            ", ".join(f"{count}x {verdict}" if count > 1 else verdict for verdict, count in word.verdicts.items()),
        ]
        for word in words[:WORDS_SHOWN]
    ]  # fmt: skip
    heads = ["word", "pattern", "phrases", "used", "groups", "regressions", "lambda", "error", "rank"]
    print_table([*heads, *(["leans"] if leans else []), *(["held out"] if foretold else []), "remarks"], rows)
    if len(words) > WORDS_SHOWN:
        _note(f"... and {len(words) - WORDS_SHOWN:,} more; --json shows all")
    _note("groups: first arguments with at least 3 phrases; error: of GCV, 1 where the arguments tell nothing")
    if foretold:
        _note("held out: the rank of held-out phrases, as below, of the learner that was chosen")


def _foretold(found: Description) -> dict[tuple[str, str], str]:
    """Give the rank of each word's held-out phrases, the mean over its arguments."""
    ranks: dict[tuple[str, str], list[float]] = {}
    for row in found.heldout:
        if row["learner"] == "chosen":
            ranks.setdefault((row["word"], row["pattern"]), []).append(row["rank"])
    return {key: f"{sum(some) / len(some):.3f}" for key, some in ranks.items()}


def _print_heldout(found: Description) -> None:
    """Print how well held-out phrases were foretold."""
    from composita.functions.heldout import overall

    if not found.heldout:
        return
    title = "Held-out phrases, their arguments new: the rank of the true one (0 is best, 0.5 is chance) and the cosine"
    every, common = found.heldout_overall, overall(found.heldout, common=True)
    _print_ranks(every, title)
    _note("rank: among the word's phrases that were held out together; among all: also among those learned from")
    _note("centred: when the mean of the phrases learned from is taken from all vectors")
    if any(row["words"] != same["words"] for row in every for same in common if _same_trial(row, same)):
        _print_ranks(common, "The same, of the words that all learners could foretell")


def _same_trial(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(row[name] == other[name] for name in ("learner", "pattern", "argument"))


def _print_ranks(rows: Sequence[Mapping[str, Any]], title: str) -> None:
    """Print the learners by their rank, for each argument that was new, and below them what the mean alone reaches."""
    cells = []
    order = sorted(rows, key=lambda row: (row["pattern"], row["argument"], row["rank"]))
    for number, row in enumerate(order):
        what = [row["pattern"], row["argument"], f"{row['words']:,}", f"{row['foretold']:,}"]
        measured = ("rank", "rank_centred", "rank_all", "cosine", "centred")
        cells.append([row["learner"], *what, *(f"{row[measure]:.3f}" for measure in measured)])
        last = number + 1 == len(order) or any(order[number + 1][name] != row[name] for name in ("pattern", "argument"))
        if last:
            widest = max(
                (other for other in order if all(other[name] == row[name] for name in ("pattern", "argument"))),
                key=lambda other: other["words"],
            )
            mean = (f"{widest[f'centroid_{measure}']:.3f}" for measure in ("rank", "rank_all", "cosine"))
            rank, among, cosine = mean
            what[2:] = [f"{widest['words']:,}", f"{widest['foretold']:,}"]
            cells.append(["the mean alone", *what, rank, "0.500", among, cosine, "0.000"])
    heads = [
        "learner", "pattern", "new", "words", "phrases", "rank", "centred rank", "rank among all", "cosine",
        "centred cosine",
    ]  # fmt: skip
    print_table(heads, cells, title)


def _note(text: str) -> None:
    console().print(text, style="italic")
