"""Commands that make corpora: ``encode``, ``parse``, ``synth``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from composita.cli.output import (
    ClusterOption,
    JsonOption,
    QuietOption,
    WorkersOption,
    human_bytes,
    parse_count,
    print_facts,
    print_json,
    show_progress,
    working,
)
from composita.store.errors import plural

Sources = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE", help="Files, quoted patterns, or - for standard input; .gz .bz2 .xz .zst too."),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(epilog="Example: composita encode 'texts/*.conllu.gz' --out corpus")(encode)
    app.command(epilog="Example: composita parse novel.txt --model english-ewt.udpipe --out novel.conllu.zst")(parse)
    app.command(epilog="Example: composita synth --tokens 10M --out x.conllu")(synth)


def encode(
    sources: Sources,
    out: Annotated[Path, typer.Option(metavar="CORPUS", help="The folder to make, or to append to.")],
    format: Annotated[  # noqa: A002 - the word for it
        str, typer.Option(metavar="FORMAT", help="auto, conllu, conllx, wacky, or text (needs --model).")
    ] = "auto",
    labels: Annotated[
        str, typer.Option(metavar="SCHEME", help="What relations mean: auto, ud, clear, malt, or a TOML file.")
    ] = "auto",
    tags: Annotated[
        str, typer.Option(metavar="TAGSET", help="What tags mean: auto, upos, penn, treetagger, claws, or a TOML file.")
    ] = "auto",
    encoding: Annotated[str, typer.Option(metavar="NAME", help="auto, utf-8 or latin-1.")] = "auto",
    on_error: Annotated[
        str | None,
        typer.Option(
            metavar="stop|skip",
            help="Stop at a broken sentence, or skip and count it. Without it: stop, but skip in wacky files "
            "while at most 1% is broken.",
        ),
    ] = None,
    dedupe: Annotated[
        bool, typer.Option("--dedupe", help="Keep only the first of sentences with the same words.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Encode text that is in the corpus already.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Discard what an interrupted run has left.")] = False,
    parser: Annotated[str, typer.Option(metavar="NAME", help="For text: udpipe, spacy or stanza.")] = "udpipe",
    model: Annotated[str | None, typer.Option(metavar="MODEL", help="For text: the parser's model.")] = None,
    workers: WorkersOption = 0,
    cluster: ClusterOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Encode parsed text into a corpus that everything later reads at memory speed.

    A run that was interrupted is finished by the same command. More sources can be appended later.
    """
    from composita.corpus.encoding import Options
    from composita.corpus.encoding import encode as encode_sources

    options = Options(
        format=format, labels=labels, tags=tags, encoding=encoding, on_error=on_error, dedupe=dedupe,
        force=force, restart=restart, parser=parser, model=model and _located(model, cluster),
    )  # fmt: skip
    with show_progress(quiet or json) as progress, working(workers, cluster, out, *sources) as (engine, paths):
        encoded = encode_sources([str(path) for path in paths[1:]], paths[0], options, engine=engine, progress=progress)
    if json:
        print_json(encoded)
        return
    facts = {"corpus": str(out), "tokens": f"{encoded.tokens:,}", "sentences": f"{encoded.sentences:,}"}
    facts["shards"] = f"{encoded.shards:,}" + (f" ({encoded.resumed:,} made before)" if encoded.resumed else "")
    if dedupe:
        facts["duplicates"] = f"{plural(encoded.duplicates, 'sentence')} dropped"
    if encoded.dropped:
        facts["dropped"] = ", ".join(f"{count:,} {reason}" for reason, count in encoded.dropped.items())
        facts["for example"] = "\n".join(encoded.examples)
    print_facts(facts)


def _located(model: str, cluster: str | None) -> str:
    """Give the absolute path of a model that is a file or folder here, where other machines are to find it."""
    return str(Path(model).absolute()) if cluster and Path(model).exists() else model


def parse(
    sources: Sources,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The CoNLL-U file to write; .gz or .zst is compressed.")],
    model: Annotated[str, typer.Option(metavar="MODEL", help="A UDPipe file, or a spaCy or Stanza model.")],
    parser: Annotated[str, typer.Option(metavar="NAME", help="udpipe, spacy or stanza.")] = "udpipe",
    on_error: Annotated[
        str, typer.Option(metavar="stop|skip", help="Stop at text that cannot be read, or skip and count it.")
    ] = "stop",
    workers: WorkersOption = 0,
    cluster: ClusterOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Parse raw text into CoNLL-U: sentences, words, lemmas, parts of speech, dependencies."""
    from composita.corpus.rawtext import parse_sources

    with show_progress(quiet or json) as progress, working(workers, cluster, out, *sources) as (engine, paths):
        parsed = parse_sources(
            paths[1:], paths[0], model=_located(model, cluster), parser=parser, on_error=on_error, engine=engine,
            progress=progress,
        )  # fmt: skip
    if json:
        print_json(parsed)
    else:
        print_facts({"file": str(out), "tokens": f"{parsed.tokens:,}", "sentences": f"{parsed.sentences:,}"})


def synth(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write; .gz or .zst is compressed.")],
    tokens: Annotated[str, typer.Option(metavar="N", help="How many tokens at least: 500, 10K, 2.5M, 1G.")] = "1M",
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same text.", min=0)] = 0,
    format: Annotated[str, typer.Option(metavar="FORMAT", help="conllu, conllx or wacky.")] = "conllu",  # noqa: A002
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write synthetic parsed text, for benchmarks and tests: nonsense words in the proportions of real text."""
    from composita.corpus.synthetic import write_synthetic

    with show_progress(quiet or json) as progress:
        made = write_synthetic(out, parse_count(tokens), seed, format, progress)
    if json:
        print_json(made)
    else:
        facts = {"file": str(out), "tokens": f"{made.tokens:,}", "sentences": f"{made.sentences:,}"}
        print_facts({**facts, "text": human_bytes(made.bytes)})
