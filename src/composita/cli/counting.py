"""Commands that count: ``count``, and what ``info`` says of counts."""

from __future__ import annotations

import logging
from collections.abc import Callable
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
    from composita.counting.describe import Description
    from composita.counting.vocabulary import Standing, Vocabulary

DEFAULT_PHRASES = "sv,svo,vo,an"
logger = logging.getLogger("composita")


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(epilog="Example: composita count corpus --out counts --phrases sv,svo --heads verbs.txt")(count)


def count(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="An encoded corpus.")],
    out: Annotated[Path, typer.Option(metavar="COUNTS", help="The folder to make.")],
    nouns: Annotated[
        str, typer.Option(metavar="N", help="How many nouns are counted, the most frequent; or all.")
    ] = "8000",
    verbs: Annotated[str, typer.Option(metavar="N", help="How many verbs.")] = "4000",
    adjectives: Annotated[str, typer.Option(metavar="N", help="How many adjectives, outside the core.")] = "0",
    adverbs: Annotated[str, typer.Option(metavar="N", help="How many adverbs, outside the core.")] = "0",
    contexts: Annotated[str, typer.Option(metavar="N", help="How many content words are contexts.")] = "10000",
    stop: Annotated[str, typer.Option(metavar="N", help="How many still more frequent ones are skipped.")] = "300",
    min_word_frequency: Annotated[int, typer.Option(metavar="N", help="How often a word must occur.", min=0)] = 1,
    include: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Words that must be in: a list, or a benchmark.")
    ] = None,
    stop_list: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Words, such as dog-n, that must not be in.")
    ] = None,
    alphabetic: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="What a whole lemma must match; by default letters with - ' . inside."),
    ] = None,
    proper: Annotated[
        str,
        typer.Option(
            metavar="nouns|arguments|no", help="Names: as nouns, as arguments of phrases only, or not at all."
        ),
    ] = "arguments",
    pronouns: Annotated[
        str, typer.Option(metavar="nouns|arguments|no", help="Pronouns, clitics among them: likewise.")
    ] = "arguments",
    phrases: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Patterns: sv, svo, vo, an, nn, svoo, svpo, TOML files; none for words only. "
            f"Without it: those of {DEFAULT_PHRASES} that have heads.",
        ),
    ] = None,
    heads: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="The heads of phrases: a list of words, or a benchmark. Without it: all."),
    ] = None,
    min_frequency: Annotated[int, typer.Option(metavar="N", help="How often a phrase must occur.", min=1)] = 1,
    context: Annotated[
        str,
        typer.Option(metavar="KIND", help="sentence, window:5, window:5,0 (left, right), window:5:linear, dependency."),
    ] = "sentence",
    passives: Annotated[bool, typer.Option(help="Cats are chased by dogs: whether passive clauses count.")] = True,
    conjuncts: Annotated[
        bool, typer.Option(help="Dogs chase cats and mice: whether further conjuncts are arguments.")
    ] = True,
    shared_subjects: Annotated[
        bool, typer.Option(help="Dogs bark and chase cats: whether conjoined verbs share a subject.")
    ] = True,
    relatives: Annotated[
        bool, typer.Option(help="Dogs that chase cats: whether the noun is an argument in the clause.")
    ] = True,
    join_particles: Annotated[
        bool, typer.Option("--join-particles", help="Give up: join the particle, give_up-v.")
    ] = False,
    sv_without_object: Annotated[
        bool, typer.Option("--sv-without-object", help="Let sv ask for a verb without an object.")
    ] = False,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="The budget, such as 4G.")] = "4G",
    workers: WorkersOption = 0,
    cluster: ClusterOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Count words and phrases beside their contexts.

    A run that was interrupted is finished by the same command.
    """
    from composita.corpus.corpus import Corpus
    from composita.counting.count import count as count_corpus
    from composita.counting.describe import describe
    from composita.counting.vocabulary import ALPHABETIC, Vocabulary
    from composita.counting.words import read_words

    named = (
        sorted({word for path in heads or [] for word in read_words(path, bare="v", columns="va")}) if heads else None
    )
    included = {word for path in include or [] for word in read_words(path)} | set(named or ())
    with show_progress(quiet or json) as progress, working(workers, cluster, out, corpus) as (engine, (place, source)):
        found = Corpus.open(source)
        vocabulary = Vocabulary.from_corpus(
            found, nouns=_number(nouns), verbs=_number(verbs), adjectives=_number(adjectives), adverbs=_number(adverbs),
            contexts=_number(contexts), stop=parse_count(stop), min_frequency=min_word_frequency,
            proper=_standing("proper", proper), pronouns=_standing("pronouns", pronouns),
            alphabetic=ALPHABETIC if alphabetic is None else alphabetic, include=included,
            stop_words=read_words(stop_list, bare="*") if stop_list else (), engine=engine, progress=progress,
        )  # fmt: skip
        known = None if named is None else _known_heads(named, vocabulary)
        count_corpus(
            found, vocabulary, phrases=_phrases(phrases, vocabulary, known), heads=known, context=context,
            min_frequency=min_frequency, passives=passives, conjuncts=conjuncts, shared_subjects=shared_subjects,
            relatives=relatives, join_particles=join_particles, sv_without_object=sv_without_object, out=place,
            memory=memory, engine=engine, progress=progress,
        )  # fmt: skip
    description = describe(out)
    if json:
        print_json(description)
    else:
        print_counts(description)


def _number(text: str) -> int | None:
    return None if text.strip().lower() == "all" else parse_count(text)


def _standing(name: str, text: str) -> Standing:
    if text not in ("nouns", "arguments", "no"):
        raise UsageError(f"unknown --{name} {text!r}: choose nouns, arguments or no")
    return text  # type: ignore[return-value]


def _known_heads(named: list[str], vocabulary: Vocabulary) -> list[str]:
    """Keep the heads that the corpus has; the others were named when the vocabulary was made."""
    known = [word for word in named if word in vocabulary.ids]
    if not known:
        from composita.counting.words import suggest

        near = suggest(named[0], vocabulary.words)
        raise UsageError(f"--heads: none of the {len(named)} words is in the corpus, the first is {named[0]!r}{near}")
    return known


def _phrases(names: str | None, vocabulary: Vocabulary, heads: list[str] | None) -> str:
    """Choose the patterns: those asked for, or those of the default that have heads."""
    if names is not None:
        return "" if names.strip() == "none" else names
    from composita.counting.patterns import load_patterns

    words = heads if heads is not None else vocabulary.words
    letters = {word[-1] for word in words}
    found = [pattern.name for pattern in load_patterns(DEFAULT_PHRASES) if pattern.head in letters]
    if "an" not in found:
        logger.info("no adjectives are counted, hence no phrases of the pattern an; see --adjectives and --heads")
    return ",".join(found)


def describe_counts(look: Look) -> tuple[dict[str, Any], Callable[[], None]]:
    """Describe counts for ``composita info``."""
    from composita.counting.describe import describe

    description = describe(look.path)
    return asdict(description), lambda: print_counts(description)


def print_counts(found: Description) -> None:
    """Print what counts hold."""
    from composita.counting.job import Switches

    usual = asdict(Switches())
    changed = [name if on else f"no {name}" for name, on in found.switches.items() if on != usual.get(name)]
    facts = {
        "counts": found.path,
        "of": f"{found.tokens:,} tokens in {found.sentences:,} sentences",
        "size": human_bytes(found.bytes),
        "contexts": f"{found.columns:,}, {found.context}",
        "words": f"{found.words:,}, {found.core:,} of them core, with {found.word_contexts:,.0f} contexts on average",
        "phrases": f"{found.phrases:,}" + (f" that occur at least {found.minimum} times" if found.minimum > 1 else ""),
        "density": f"{found.density:.3%}, {found.cells:,} cells",
        "switches": ", ".join(changed).replace("_", " "),
        "fingerprint": found.fingerprints["counts"][:16],
    }
    print_facts({name: value for name, value in facts.items() if value})
    rows = [
        [
            name,
            f"{p.types:,}",
            f"{p.tokens:,}",
            f"{p.heads:,}",
            f"{p.per_head:,.1f}",
            f"{p.most_per_head:,}",
            f"{p.with_ten_contexts:,}",
        ]
        for name, p in found.patterns.items()
    ]
    if not rows:
        return
    print_table(["pattern", "phrases", "tokens", "heads", "per head", "at most", "10 contexts or more"], rows)
    bins = list(next(iter(found.patterns.values())).contexts)
    histogram = [[name, *(f"{p.contexts[b]:,}" for b in bins)] for name, p in found.patterns.items()]
    print_table(["contexts of a phrase", *bins], histogram)
    console().print("Most frequent", style="italic")
    print_facts({name: _listed(p.frequent) for name, p in found.patterns.items()})
    console().print("Heads with most phrases", style="italic")
    print_facts({name: _listed(p.heads_with_most) for name, p in found.patterns.items()})


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{label} {count:,}" for label, count in list(counts.items())[:6])
