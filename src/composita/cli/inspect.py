"""Commands that look: ``info``, ``sentences``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from composita.cli.output import (
    JsonOption,
    QuietOption,
    WorkersOption,
    console,
    human_bytes,
    print_error,
    print_facts,
    print_json,
    print_table,
    show_progress,
    worker_count,
)
from composita.store.errors import CorruptError, UsageError, plural
from composita.store.progress import ProgressCallback

if TYPE_CHECKING:
    from composita.corpus.concordance import Occurrence
    from composita.corpus.describe import Description
    from composita.corpus.together import Together

RELATIONS_SHOWN = 12

_PRINTERS = {
    "corpus": "composita.cli.inspect:describe_corpus",
    "counts": "composita.cli.counting:describe_counts",
    "space": "composita.cli.spaces:describe_space",
    "lexicon": "composita.cli.functions:describe_lexicon",
    "run": "composita.cli.experiment:describe_run",
    "sweep": "composita.cli.experiment:describe_sweep",
}
"""For each kind of folder the function that looks at one: it gives a table of facts and a function that prints them."""


@dataclass(frozen=True)
class Look:
    """What is to be described, and how."""

    path: Path
    checked: int | None  # how many files were compared with their checksums
    workers: int
    progress: ProgressCallback


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(epilog="Example: composita info corpus --check")(info)
    app.command(epilog="Example: composita sentences corpus --lemma chase --pos v -n 10")(sentences)


def info(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A folder that composita made, or an experiment in TOML.")
    ],
    check: Annotated[bool, typer.Option("--check", help="Read every file and compare its checksum.")] = False,
    workers: WorkersOption = 0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say what a folder holds, where it came from and how big it is; of an experiment every value, resolved."""
    from composita.store.folder import Folder

    if path.is_file() and path.suffix == ".toml":
        _print_experiment(path, json=json)
        return
    folder = Folder.open(path, version=None)
    with show_progress(quiet or json) as progress:
        if check:
            problems = folder.verify(progress)
            for problem in problems:
                print_error(problem)
            if problems:
                raise CorruptError(f"{path}: {len(problems)} of {plural(len(folder.files), 'file')} not as written")
        kind = folder.meta["kind"]
        module, function = _PRINTERS.get(kind, "composita.cli.inspect:describe_folder").split(":")
        look = Look(path, len(folder.files) if check else None, worker_count(workers), progress)
        description, show = getattr(import_module(module), function)(look)
    if json:
        print_json(description | ({} if look.checked is None else {"checked_files": look.checked}))
        return
    show()
    if look.checked is not None:
        console().print(f"Checked {plural(look.checked, 'file')}: all as written.")


def _print_experiment(path: Path, *, json: bool) -> None:
    """Print every value of an experiment, those of its preset too, before it is run."""
    from composita.experiment.config import Experiment
    from composita.experiment.report.page import flat

    values = Experiment.load(path).to_table()
    if json:
        print_json({"path": str(path), "kind": "experiment", "experiment": values})
    else:
        print_table(["key", "value"], list(flat(values)), f"{path}: every value, those of its preset too")


def describe_folder(look: Look) -> tuple[dict[str, Any], Callable[[], None]]:
    """Describe a folder of a kind that has no more to say of itself, such as a stage of an experiment."""
    from composita.store.folder import Folder

    folder = Folder.open(look.path, version=None)
    size = sum(path.stat().st_size for path in look.path.rglob("*") if path.is_file())
    described = {
        "path": str(look.path), "kind": folder.meta["kind"], "bytes": size, "files": sorted(folder.files),
        "parameters": folder.meta.get("parameters"), "fingerprint": folder.meta.get("fingerprint"),
    }  # fmt: skip

    def show() -> None:
        facts = {"kind": described["kind"], "path": described["path"], "size": human_bytes(size)}
        facts |= {"files": ", ".join(described["files"]), "fingerprint": str(described["fingerprint"] or "")[:16]}
        print_facts({name: value for name, value in facts.items() if value})

    return described, show


def describe_corpus(look: Look) -> tuple[dict[str, Any], Callable[[], None]]:
    """Describe a corpus."""
    from composita.corpus.corpus import Corpus
    from composita.corpus.describe import describe

    description = describe(Corpus.open(look.path), workers=look.workers, progress=look.progress)
    return asdict(description), lambda: _print_corpus(description)


def _print_corpus(found: Description) -> None:
    length = found.sentence_length
    facts = {
        "corpus": found.path,
        "tokens": f"{found.tokens:,} in {found.sentences:,} sentences",
        "size": f"{human_bytes(found.bytes)} in {plural(found.shards, 'shard')}",
        "sources": f"{found.sources:,}: {'; '.join(found.formats)}",
        "types": f"{found.forms:,} word forms, {found.words:,} words (lemma and class)",
        "sentence length": f"mean {length['mean']:.1f}, median {length['median']:.0f}, "
        f"longest {length['longest']:.0f} tokens",
        "with a subject": f"{found.with_subject:.1%} of sentences have a verb with a subject",
        "with both": f"{found.with_both:.1%} of sentences have a verb with a subject and an object",
        "passive": f"{found.passive:.1%} of verbs",
        "duplicates": f"{plural(found.duplicates, 'sentence')} dropped",
        "dropped": ", ".join(f"{count:,} {reason}" for reason, count in found.dropped.items()),
        "without lemma": f"{found.without_lemma:.1%} of tokens, counted by their form"
        if found.without_lemma > 0.0005
        else "",
        "fingerprint": found.fingerprint[:16],
    }
    if not found.duplicates:
        del facts["duplicates"]
    print_facts({name: value for name, value in facts.items() if value})
    _print_shares("class", found.classes, found.tokens)
    _print_shares("relation", dict(list(found.relations.items())[:RELATIONS_SHOWN]), found.tokens)
    rows = [
        [kind, ", ".join(f"{word} {count:,}" for word, count in list(words.items())[:6])]
        for kind, words in found.frequent.items()
        if words
    ]
    console().print("\nMost frequent", style="italic")
    print_facts(dict(rows))


def _print_shares(name: str, counts: dict[str, int], total: int) -> None:
    rows = [[key, f"{count:,}", f"{count / max(1, total):.1%}"] for key, count in counts.items()]
    print_table([name, "tokens", "share"], rows)


def sentences(
    path: Annotated[Path, typer.Argument(metavar="CORPUS", help="An encoded corpus.")],
    lemma: Annotated[str | None, typer.Option(help="The word's lemma.")] = None,
    form: Annotated[str | None, typer.Option(help="The word as it stands in the text.")] = None,
    pos: Annotated[str | None, typer.Option(help="Its part of speech: n, v, a, r or p.")] = None,
    relation: Annotated[str | None, typer.Option(help="Its relation to its head.")] = None,
    phrase: Annotated[
        str | None,
        typer.Option(metavar="PHRASE", help="Instead: a word with its arguments, such as chase-v(cat-n, dog-n)."),
    ] = None,
    number: Annotated[
        int, typer.Option("--number", "-n", metavar="N", help="How many to show at most; 0 for all.", min=0)
    ] = 10,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show a word in its sentences, with its arguments marked."""
    from composita.corpus.corpus import Corpus

    word = {"lemma": lemma, "form": form, "pos": pos, "relation": relation}
    if phrase is None and not any(word.values()):
        raise UsageError("say which word: --lemma, --form, --pos or --relation; or a --phrase")
    if phrase is not None and any(word.values()):
        raise UsageError("say which word, or a --phrase, not both")
    found: Iterator[Occurrence | Together] = (
        Corpus.open(path).sentences(**word, limit=number or None)
        if phrase is None
        else Corpus.open(path).together(*_head_and_arguments(phrase), limit=number or None)
    )
    if json:
        print_json([asdict(occurrence) for occurrence in found])
        return
    screen = console()
    nothing = True
    for occurrence in found:
        nothing = False
        screen.print(_marked(occurrence))
    if nothing:
        if not quiet:
            print_error(f"no such word in {path}; see its frequent ones with: composita info {path}")
        raise typer.Exit(1)


def _head_and_arguments(phrase: str) -> tuple[str, list[str]]:
    """Take a phrase of plain words apart."""
    from composita.grammar.phrase import Phrase

    read = Phrase.parse(phrase)
    if not read.arguments or any(argument.arguments for argument in read.arguments):
        raise UsageError(f"expected a word with words as arguments, such as chase-v(cat-n, dog-n), got {phrase!r}")
    return read.head, [argument.head for argument in read.arguments]


def _marked(occurrence: Occurrence | Together) -> object:
    """Colour the word and its arguments; the plain marks stay, for those who read without colours."""
    from rich.text import Text

    text = Text(str(occurrence))
    text.highlight_regex(r"\*[^ ]+\*", "bold red")
    text.highlight_regex(r"\[[^ ]+\][a-z:,]*", "cyan")
    return text
