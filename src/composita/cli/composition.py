"""Commands that compose: ``compose``, ``similar``, ``explain``, ``neighbours``, ``order``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from composita.cli.output import (
    JsonOption,
    QuietOption,
    console,
    print_error,
    print_facts,
    print_json,
    print_table,
    show_progress,
)
from composita.store.errors import InputError, UsageError, plural

if TYPE_CHECKING:
    from composita.composition.meanings import Meanings
    from composita.composition.method import Method
    from composita.composition.model import Model, Reading
    from composita.composition.nearest import Near, Nearest
    from composita.composition.order import OrderTest
    from composita.grammar.phrase import Phrase

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run, a lexicon or a space.")]
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method", "-m", metavar="NAME",
        help="The method. Without it: learned, or add where the lexicon has no functions.",
    ),
]  # fmt: skip
MethodsOption = Annotated[
    str, typer.Option(metavar="LIST", help="The methods, with commas between them; all for every one that can be used.")
]
NumberOption = Annotated[int, typer.Option("--number", "-n", metavar="N", help="How many to show.", min=1)]
BackOffOption = Annotated[
    bool, typer.Option(help="Where a function is missing: whether something less may be done, and said.")
]
GrammarOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="paper, english, german, or a file. Without it: the run's, or english."),
]
FILE_HELP = "Sentences or phrases, one a line."
Read: TypeAlias = "tuple[str, Callable[[], Reading]]"
"""A text, and how it is read."""


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(epilog='Example: composita compose run "angry dogs chase furry cats" -n 5')(compose)
    app.command(epilog='Example: composita similar run "kids sing" "kids sing songs" --methods all')(similar)
    app.command(epilog='Example: composita explain run "dogs chase cats" --method one-step')(explain)
    app.command(epilog='Example: composita neighbours run dog-n "dogs chase cats"')(neighbours)
    app.command(epilog="Example: composita order run --from corpus --methods add,learned")(order)


# ---------------------------------------------------------------- compose


def compose(
    run: RunArgument,
    sentences: Annotated[
        list[str] | None,
        typer.Argument(metavar="SENTENCE...", help="Sentences, or phrases such as chase-v(cat-n, dog-n)."),
    ] = None,
    file: Annotated[Path | None, typer.Option(metavar="FILE", help=FILE_HELP)] = None,
    parsed: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Parsed text, such as CoNLL-U: sentences are derived from their trees."),
    ] = None,
    labels: Annotated[
        str, typer.Option(metavar="NAME", help="Of --parsed: the label scheme, as for composita encode.")
    ] = "auto",
    tags: Annotated[
        str, typer.Option(metavar="NAME", help="Of --parsed: the tagset, as for composita encode.")
    ] = "auto",
    method: MethodOption = None,
    number: NumberOption = 5,
    derivation: Annotated[
        int, typer.Option(metavar="N", help="Which derivation of an ambiguous sentence; 1 is the likeliest.", min=1)
    ] = 1,
    tree: Annotated[
        bool, typer.Option("--tree", help="Show the tree, the contraction of tensors, and the other derivations.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the derivation of the first sentence into a file.")
    ] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="With --json: the numbers of the vectors, too.")] = False,
    back_off: BackOffOption = True,
    grammar: GrammarOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compose sentences: how, of which types, and what the result is near to."""
    from composita.composition.nearest import nearest

    model = _model(run, grammar)
    chosen = _method(model, method)
    read: list[Read] = [(text, partial(model.read, text, derivation)) for text in _said(sentences, file)]
    if parsed is not None:
        read += _from_trees(model, parsed, labels, tags)
    if not read:
        raise UsageError('expected a sentence, such as "dogs chase cats", or --file, or --parsed')
    readings, unread = _readings(read)
    known = [reading for reading in readings if reading is not None]
    if svg is not None:
        _draw(known, svg)
    with show_progress(quiet or json):
        meanings = chosen.compose(model.lexicon, [reading.phrase for reading in known], back_off=back_off)
        near = nearest(model.space, meanings, number) if model.ground.has_space else None
    found: list[dict[str, Any]] = []
    done = 0
    for place, reading in enumerate(readings):
        if reading is None:
            found.append({"text": unread[place][0], "method": chosen.name, "reason": unread[place][1]})
            continue
        found.append(_composed(model, meanings, near, done, reading))
        if vectors and meanings.forms.get(done) == "vector":
            found[-1]["vector"] = meanings.vector(done).tolist()
        done += 1
    if json:
        print_json(found)
    else:
        for reading, each in zip(readings, found, strict=True):
            _print_composed(each)
            if tree and reading is not None:
                _print_tree(model, reading)
    if len(meanings.reasons) == len(known):
        raise typer.Exit(1)


def _said(sentences: Sequence[str] | None, file: Path | None) -> list[str]:
    """Give the sentences of the command line, and those of a file."""
    from composita.composition.order import read_sentences

    return [*(sentences or ()), *(read_sentences(file) if file is not None else ())]


def _from_trees(model: Model, parsed: Path, labels: str, tags: str) -> list[Read]:
    """Give the sentences of parsed text, which are derived from their trees."""
    from composita.grammar.dependencies import derive_file

    refusing = model.grammar if model.grammar.refusals else None
    found = derive_file(parsed, labels=labels, tags=tags, grammar=refusing)
    return [(" ".join(each.words), partial(model.derived, each)) for each in found]


def _readings(read: Sequence[Read]) -> tuple[list[Reading | None], dict[int, tuple[str, str]]]:
    """Read sentences; those of several that cannot be read are no error, but given with the reason."""
    readings: list[Reading | None] = []
    unread: dict[int, tuple[str, str]] = {}
    for place, (text, reader) in enumerate(read):
        try:
            readings.append(reader())
        except UsageError as error:
            if len(read) == 1:
                raise
            unread[place] = text, str(error)
            readings.append(None)
    return readings, unread


def _draw(readings: Sequence[Reading], path: Path) -> None:
    """Write the picture of the first derivation."""
    first = next((reading.derivation for reading in readings if reading.derivation is not None), None)
    if first is None:
        raise UsageError("there is no derivation to draw: expected a sentence, such as 'dogs chase cats'")
    try:
        path.write_text(first.svg(), encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _print_tree(model: Model, reading: Reading) -> None:
    """Print the tree of a derivation, its contraction, and what else the sentence could be."""
    if reading.derivation is None:
        return
    sizes = dict.fromkeys((*model.grammar.basic, "N", "S"), model.lexicon.dimensions)
    shown, contraction = reading.derivation.tree(types=True, compact=True), reading.derivation.contraction(sizes)
    print_facts({"tree": shown, "contraction": contraction})
    if reading.derivations > 1:
        said = [f"{n}  {other.term}" for n, other in enumerate(model.derivations(reading.text), 1)]
        print_facts({"derivations": "\n".join(said)})
    console().print()


def _composed(
    model: Model, meanings: Meanings, near: list[Nearest] | None, number: int, reading: Reading
) -> dict[str, Any]:  # fmt: skip
    """Gather what is known of one composed sentence."""
    phrase = reading.phrase
    row = model.ground.row_of(phrase)
    words, phrases = (near[number].words, near[number].phrases) if near else ([], [])
    return {
        "text": reading.text, "method": meanings.method, "phrase": str(phrase), "derivation": reading.term,
        "derivations": reading.derivations, "types": model.types(reading), "result": meanings.forms.get(number),
        "reason": meanings.reasons.get(number), "notes": list(meanings.notes.get(number, ())),
        "left_out": list(reading.left_out), "attested": int(model.space.frequency[row]) if row >= 0 else 0,
        "words": [near._asdict() for near in words], "phrases": [near._asdict() for near in phrases],
    }  # fmt: skip


def _print_composed(found: dict[str, Any]) -> None:
    if "phrase" not in found:
        print_facts({"sentence": found["text"], "not composed": found["reason"]})
        console().print()
        return
    more = found["derivations"] - 1
    print_facts({
        "sentence": found["text"],
        "derivation": found["derivation"] + (f"  ({plural(more, 'other')})" if more > 0 else ""),
        "types": "\n".join(f"{word} : {type_}" for word, type_ in found["types"].items()),
        "method": found["method"] + (f", a {found['result']}" if found["result"] else ""),
        **({"attested": plural(found["attested"], "time")} if found["attested"] else {}),
        **({"note": "\n".join(found["notes"])} if found["notes"] else {}),
        **({"left out": ", ".join(found["left_out"])} if found["left_out"] else {}),
        **({"not composed": found["reason"]} if found["reason"] else {}),
        **{
            f"near {kind}": ", ".join(f"{near[key]} {near['similarity']:.2f}" for near in found[kind])
            for kind, key in (("words", "label"), ("phrases", "text")) if found[kind]
        },
    })  # fmt: skip
    if found["result"] == "matrix":
        console().print("  (a matrix lies near no vectors: compare it by composita similar)", style="italic")
    console().print()


# ---------------------------------------------------------------- similar


def similar(
    run: RunArgument,
    sentences: Annotated[
        list[str] | None, typer.Argument(metavar="SENTENCE...", help="Two or more sentences, phrases or words.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Pairs, one a line, with a tab between them.")
    ] = None,
    methods: MethodsOption = "",
    back_off: BackOffOption = True,
    grammar: GrammarOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare sentences: the first with each of the others, or the pairs of a file; by many methods in one table."""
    model, pairs = _model(run, grammar), _pairs(sentences, file)
    chosen = _methods(model, methods)
    phrases, unread = _phrases(model, [text for pair in pairs for text in pair], only=len(pairs) == 1)
    usable = [n for n, pair in enumerate(pairs) if all(text in phrases for text in pair)]
    left, right = ([phrases[pairs[n][side]] for n in usable] for side in (0, 1))
    columns: dict[str, list[float]] = {}
    remarks: dict[str, list[str]] = {"not read": list(unread.values())} if unread else {}
    with show_progress(quiet or json):
        for method in chosen:
            x, y = (method.compose(model.lexicon, side, back_off=back_off) for side in (left, right))
            columns[method.name] = [math.nan] * len(pairs)
            for n, value in zip(usable, x.similarity(y).tolist(), strict=True):
                columns[method.name][n] = value
            notes = [note for m in (x, y) for said in m.notes.values() for note in said]
            remarks[method.name] = list(dict.fromkeys([*x.obstacles(y).values(), *notes]))
    if json:
        rows = [
            {"left": a, "right": b, **{name: _number(values[n]) for name, values in columns.items()}}
            for n, (a, b) in enumerate(pairs)
        ]
        print_json({"pairs": rows, "remarks": {name: said for name, said in remarks.items() if said}})
    else:
        _print_similar(pairs, columns)
    if not (json or quiet):
        for name, said in remarks.items():
            for remark in said[:3]:
                print_error(f"{name}: {remark}")
    if all(math.isnan(value) for values in columns.values() for value in values):
        raise typer.Exit(1)


def _print_similar(pairs: Sequence[tuple[str, str]], columns: dict[str, list[float]]) -> None:
    """Print a row for each pair, or for each method where these are more."""
    said = [f"{a} / {b}" for a, b in pairs]
    if len(columns) <= len(pairs):
        print_table(
            ["pair", *columns], [[text, *(_shown(v[n]) for v in columns.values())] for n, text in enumerate(said)]
        )
        return
    if len(pairs) > 1:
        print_facts({f"{n})": text for n, text in enumerate(said, 1)})
    heads = [f"{n})" for n in range(1, len(pairs) + 1)] if len(pairs) > 1 else [said[0]]
    print_table(["method", *heads], [[name, *map(_shown, values)] for name, values in columns.items()])


def _pairs(sentences: Sequence[str] | None, file: Path | None) -> list[tuple[str, str]]:
    if file is not None:
        from composita.composition.order import read_sentences

        rows = [(place, line.split("\t")) for place, line in enumerate(read_sentences(file), 1)]
        for place, row in rows:
            if len(row) < 2:
                raise InputError(
                    f"pair {place}: expected two sentences with a tab between them, got {row[0]!r}", source=file
                )
        return [(row[0].strip(), row[1].strip()) for _, row in rows]
    if not sentences or len(sentences) < 2:
        raise UsageError("expected two sentences or more, or --file with pairs")
    return [(sentences[0], other) for other in sentences[1:]]


# ---------------------------------------------------------------- explain, neighbours


def explain(
    run: RunArgument,
    sentence: Annotated[str, typer.Argument(metavar="SENTENCE", help="A sentence or a phrase.")],
    method: MethodOption = None,
    number: NumberOption = 10,
    grammar: GrammarOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say of which attested phrases, or words, a meaning is made, with their weights."""
    from composita.composition.explain import explain as explain_phrase

    model = _model(run, grammar)
    found = explain_phrase(model.lexicon, model.phrase(sentence), _method(model, method))
    if json:
        rows = [part._asdict() for part in found.rows[:number]]
        print_json({"text": sentence, "phrase": str(found.phrase), "method": found.method, "parts": found.parts,
                    "notes": list(found.notes), "rows": rows})  # fmt: skip
        return
    print_facts({"sentence": sentence, "meaning": str(found.phrase), "method": found.method})
    table = [[part.text, f"{part.weight:.4f}", f"{part.share:.1%}"] for part in found.rows[:number]]
    print_table([f"made of {plural(found.parts, 'part')}", "weight", "share"], table)
    _warn(found.notes, quiet)


def neighbours(
    run: RunArgument,
    items: Annotated[list[str], typer.Argument(metavar="ITEM...", help="Words, phrases or sentences.")],
    method: MethodOption = None,
    of: Annotated[str, typer.Option(metavar="KIND", help="Among what: words, phrases or both.")] = "words",
    number: NumberOption = 10,
    grammar: GrammarOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show the words, or the attested phrases, that are nearest to a word or to the meaning of a sentence."""
    from composita.composition.nearest import nearest
    from composita.counting.words import suggest

    kinds = ("words", "phrases") if of == "both" else (of,)
    model = _model(run, grammar)
    phrases, unread = _phrases(model, items, only=len(items) == 1)
    items = [text for text in items if text in phrases]
    meanings = _method(model, method).compose(model.lexicon, [phrases[text] for text in items])
    with show_progress(quiet or json):
        found = nearest(model.space, meanings, number, kinds=kinds)
    if json:
        print_json([
            {"text": text, "phrase": str(meanings.phrases[n]), "method": meanings.method,
             "reason": meanings.reasons.get(n),
             **{kind: [near._asdict() for near in getattr(found[n], kind)] for kind in kinds}}
            for n, text in enumerate(items)
        ] + [{"text": text, "reason": reason} for text, reason in unread.items()])  # fmt: skip
    else:
        for n, text in enumerate(items):
            for kind in kinds:
                _print_near(text, kind, getattr(found[n], kind))
        for text, reason in {**unread, **{items[n]: reason for n, reason in meanings.reasons.items()}}.items():
            near = suggest(text, model.lexicon.ids) if reason == f"{text} has no vector" else ""
            print_error(reason if text in unread else f"{text}: {reason}{near}")
        _warn(dict.fromkeys(note for said in meanings.notes.values() for note in said), quiet)
    if len(meanings.reasons) == len(items):
        raise typer.Exit(1)


def _print_near(text: str, kind: str, found: list[Near]) -> None:
    if found:
        rows = [[near.label if kind == "words" else near.text, f"{near.similarity:.4f}"] for near in found]
        print_table([f"{kind} near {text!r}", "similarity"], rows)


# ---------------------------------------------------------------- order


def order(
    run: RunArgument,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help=f"{FILE_HELP} Each is compared with its twin.")
    ] = None,
    source: Annotated[
        str, typer.Option("--from", metavar="SOURCE", help="corpus: take attested sentences; file: those of FILE.")
    ] = "",
    number: Annotated[int, typer.Option("--number", "-n", metavar="N", help="How many attested ones.", min=1)] = 500,
    methods: MethodsOption = "all",
    hold_out: Annotated[
        bool, typer.Option(help="Whether the attested ones are left out of what functions are learned from.")
    ] = True,
    grammar: GrammarOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Exchange subject and object, and see which methods tell *pandas eat bamboo* from *bamboo eats pandas*."""
    from composita.composition.order import attested_sentences, read_sentences, word_order

    if source not in ("", "corpus", "file") or (source == "corpus") == (file is not None):
        raise UsageError("expected either a FILE with sentences, or --from corpus")
    model = _model(run, grammar)
    chosen = _methods(model, methods)
    if file is None:
        sentences = attested_sentences(model.lexicon, count=number)
    else:
        texts = read_sentences(file)
        phrases, unread = _phrases(model, texts, only=len(texts) == 1)
        sentences = [phrases[text] for text in texts if text in phrases]
        _warn(unread.values(), quiet)
    with show_progress(quiet or json) as progress:
        found = word_order(model.lexicon, sentences, chosen, hold_out=hold_out, progress=progress)
    if json:
        print_json({
            "held_out": found.held_out, "sentences": [str(s) for s in found.sentences],
            "rows": [asdict(row) for row in found.rows],
            "gaps": {name: [_number(gap) for gap in gaps.tolist()] for name, gaps in found.gaps.items()},
        })  # fmt: skip
        return
    _print_order(found)


def _print_order(found: OrderTest) -> None:
    known = int((found.attested >= 0).sum())
    print_facts({
        "sentences": f"{len(found.sentences):,}, such as {found.sentences[0].display()!r} "
        f"and {found.swapped[0].display()!r}",
        "attested": f"{known:,}" + (", left out of what is learned from" if found.held_out else ""),
    })  # fmt: skip
    rows = [
        [
            row.title, f"{row.composed:,}", _shown(row.gap), "-" if row.right is None else f"{row.right:.3f}",
            "-" if row.interval is None else f"{row.interval[0]:.3f} to {row.interval[1]:.3f}", row.note,
        ]
        for row in found.rows
    ]  # fmt: skip
    print_table(["method", "composed", "gap", "right", "95%", ""], rows)


# ---------------------------------------------------------------- shared


def _model(run: Path, grammar: str | None) -> Model:
    from dataclasses import replace

    from composita.composition.model import open_model

    model = open_model(run)
    return model if grammar is None else replace(model, grammar_name=grammar)


def _phrases(model: Model, texts: Iterable[str], *, only: bool) -> tuple[dict[str, Phrase], dict[str, str]]:
    """Read sentences; those that cannot be read are left out, with the reasons, unless there are no others."""
    phrases: dict[str, Phrase] = {}
    unread: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        try:
            phrases[text] = model.phrase(text)
        except UsageError as error:
            if only:
                raise
            unread[text] = str(error)
    return phrases, unread


def _method(model: Model, name: str | None) -> Method:
    from composita.composition.methods import method_named

    chosen = model.default_method if name is None else method_named(name)
    reason = chosen.impossible(model.lexicon)
    if reason:
        raise UsageError(reason)
    return chosen


def _methods(model: Model, names: str) -> list[Method]:
    """Find the methods asked for; of all of them those that can be used."""
    from composita.composition.methods import methods_named

    if not names:
        return [model.default_method]
    chosen = methods_named(names)
    return [m for m in chosen if not m.impossible(model.lexicon)] if names.strip() == "all" else chosen


def _warn(remarks: Iterable[str], quiet: bool) -> None:
    if not quiet:
        for remark in remarks:
            print_error(remark)


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _shown(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.4f}"
