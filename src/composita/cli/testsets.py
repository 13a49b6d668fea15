"""Commands for test sets of one's own: ``testset make``, ``testset read``, ``testset twins``."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from composita.cli.output import JsonOption, QuietOption, console, print_error, print_json, print_table
from composita.store.errors import UsageError, plural

testset_app = typer.Typer(
    help="Test sets of your own: pairs of sentences from your corpus, forms to rate them on, and what came back.",
    rich_markup_mode=None, no_args_is_help=True,
)  # fmt: skip
KINDS_HELP = "swapped, arguments, passives, with commas between them."


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    testset_app.command(epilog="Example: composita testset make counts --out testset --forms 10")(make)
    testset_app.command(epilog="Example: composita testset read testset/key.tsv ann.tsv bob.tsv --out ratings.tsv")(
        read
    )
    testset_app.command(epilog="Example: composita testset twins lexicon testset/key.tsv --methods add,learned")(twins)
    app.add_typer(testset_app, name="testset")


def make(
    counts: Annotated[Path, typer.Argument(metavar="COUNTS", help="Counts with the phrases sv and svo.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the key and the forms go.")],
    kinds: Annotated[str, typer.Option(metavar="LIST", help=KINDS_HELP)] = "swapped,arguments,passives",
    number: Annotated[
        int, typer.Option("--number", "-n", metavar="N", help="How many pairs of each kind.", min=1)
    ] = 30,
    per_verb: Annotated[
        int, typer.Option(metavar="N", help="How many of a kind at most have the same verb.", min=1)
    ] = 2,
    min_frequency: Annotated[
        int, typer.Option(metavar="N", help="How often a phrase must have been counted.", min=1)
    ] = 2,
    forms: Annotated[int, typer.Option(metavar="N", help="How many forms, each in an order of its own.", min=1)] = 1,
    scale: Annotated[int, typer.Option(metavar="N", help="The highest rating; the lowest is 1.", min=2)] = 7,
    lemmas: Annotated[
        bool, typer.Option("--lemmas", help="Say phrases by their lemmas, for languages other than English.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="From which pairs are drawn.")] = 0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw pairs of sentences, and write forms on which people rate them."""
    from composita.counting.counts import Counts
    from composita.evaluation.testsets import english_sayer, lemma_sayer, make_pairs, write_forms

    found = Counts.open(counts)
    pairs = make_pairs(
        found, [kind.strip() for kind in kinds.split(",")], number=number, per_verb=per_verb,
        min_frequency=min_frequency, seed=seed, sayer=lemma_sayer if lemmas else english_sayer(found),
    )  # fmt: skip
    written = write_forms(pairs, out, forms=forms, scale=scale, seed=seed)
    if json:
        print_json({"files": [str(path) for path in written], "pairs": [
            {"kind": p.kind, "band": p.band, "said": list(p.said), "phrases": [str(p.first), str(p.second)],
             "frequency": p.frequency} for p in pairs
        ]})  # fmt: skip
        return
    rows = [
        [kind, str(count), *next(pair.said for pair in pairs if pair.kind == kind)]
        for kind, count in Counter(pair.kind for pair in pairs).items()
    ]
    print_table(["kind", "pairs", "such as", "beside"], rows)
    if not quiet:
        for kind in rows:
            if int(kind[1]) < number:
                print_error(
                    f"{kind[1]} of the {number} pairs of the kind {kind[0]} that were asked for: for more, raise "
                    f"--per-verb, lower --min-frequency, or count more text and more verbs"
                )
        console().print(
            f"\nThe key is {written[0]}; {plural(forms, 'form')} beside it, as tables and as pages to print."
        )


def read(
    key: Annotated[Path, typer.Argument(metavar="KEY", help="The key that was written with the forms.")],
    forms: Annotated[list[Path], typer.Argument(metavar="FORM...", help="Forms with numbers in the column rating.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file of ratings to write.")] = Path("ratings.tsv"),
    scale: Annotated[int, typer.Option(metavar="N", help="The highest rating.", min=2)] = 7,
    json: JsonOption = False,
) -> None:
    """Put filled-in forms together as a benchmark; annotators are called as their files."""
    from composita.evaluation.agreement import agreement
    from composita.evaluation.benchmarks import Benchmark
    from composita.evaluation.testsets import read_forms

    text = read_forms(key, forms, scale=scale)
    try:
        out.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
    benchmark = Benchmark.load(out)
    found = agreement(benchmark.ratings)
    if json:
        print_json(asdict(found) | {"file": str(out)})
        return
    by = plural(max(1, found.participants), "annotator")
    console().print(f"{out}: {plural(found.items, 'item')}, {plural(found.ratings, 'rating')} by {by}")
    if found.pairs:
        console().print(f"Annotators agree with a mean pairwise Spearman's rho of {found.pairwise:.3f}")


def twins(
    lexicon: Annotated[Path, typer.Argument(metavar="LEXICON", help="A lexicon or a run.")],
    key: Annotated[Path, typer.Argument(metavar="KEY", help="The key of a test set.")],
    methods: Annotated[
        str, typer.Option(metavar="LIST", help="The methods, with commas between them.")
    ] = "add,learned",
    bootstrap: Annotated[int, typer.Option(metavar="N", help="How many times pairs are resampled.", min=0)] = 2000,
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of resampling.")] = 0,
    json: JsonOption = False,
) -> None:
    """Ask methods, without any ratings, whether they tell attested sentences from their twins.

    A method is right where its meaning is nearer to the vector of the attested phrase than that of the twin is. The
    attested phrases are left out of what is learned from.
    """
    from composita.composition.methods import methods_named
    from composita.composition.model import open_model
    from composita.evaluation.testsets import read_key
    from composita.evaluation.testsets import twins as ask

    found = ask(
        open_model(lexicon).lexicon, read_key(key), methods_named(methods), bootstrap=bootstrap, seed=seed
    )  # fmt: skip
    if json:
        print_json([asdict(one) for one in found])
        return
    rows = [
        [f"{one.method}, {one.kind}", f"{one.compared}/{one.pairs}",
         *((f"{one.right:.1%}", "{:.1%} to {:.1%}".format(*one.interval)) if one.compared else ("-", ""))]
        for one in found
    ]  # fmt: skip
    print_table(["method, kind", "compared", "right", "95%"], rows, "Nearer to the attested phrase than its twin")
