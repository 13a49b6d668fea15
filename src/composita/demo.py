"""The demonstration: the whole experiment on a miniature world with planted meaning, or on one's own text.

The built-in text is synthetic: English words in sentences that mean only what was planted. So it can be said how well
each planted tensor was found again, which no real text can tell.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from composita.store.engine import HERE, Engine
from composita.store.errors import CompositaError, StoreError, UsageError, plural
from composita.store.progress import ProgressCallback, silent

if TYPE_CHECKING:
    from composita.corpus.miniature import Miniature
    from composita.experiment.run import Run

MINIATURE = """# The experiment of `composita demo`: a small world with planted meaning. Change it, and run it again:
#
#     composita run {folder}/experiment.toml --out {folder}/run

name = "miniature"
about = "Synthetic text with planted meaning, simulated ratings: what comes out says nothing of English or of people."
preset = "recommended"

[corpus]
sources = ["text/miniature.conllu"]

[vocabulary]
adjectives = 100
contexts = 500
stop = 0

[count]
phrases = ["sv", "svo", "vo", "an", "svoo"]
heads = "all"

[space]
dimensions = 16

[spaces.full]
reduce = "none"

[spaces.svd]
reduce = "svd"
without = ["multiply", "kronecker", "categorical"]

[spaces.nmf]
reduce = "nmf"

[learners.onestep]
preset = "recommended"

[learners.multistep]
preset = "paper"

[evaluate]
benchmarks = ["text/miniature-gs2011.txt", "text/miniature-ml2008.txt", "text/miniature-gs2012.txt"]
methods = ["verb", "add", "multiply", "kronecker", "categorical", "regression", "one-step"]
bootstrap = 1000
word_order = 200
"""

OWN = """# The experiment of `composita demo` on your own text. Change it, and run it again:
#
#     composita run {folder}/experiment.toml --out {folder}/run

name = "own-text"
preset = "recommended"

[corpus]
sources = {sources}
format = "{format}"
{model}
[vocabulary]
adjectives = 1000
stop = {stop}

[count]
heads = "all"

[space]
dimensions = {dimensions}

[evaluate]
benchmarks = {benchmarks}
methods = ["verb", "add", "multiply", "kronecker", "categorical", "regression", "one-step"]
bootstrap = 1000
"""

EXAMPLE = "the angry wolf charged the royal castle"
SHOWN = 8
LARGE = 3_000_000
"""Tokens from which a text can bear the usual number of dimensions and of words that are skipped."""
WIDE = 100

Say = Callable[[str], Any]


def demonstrate(
    out: str | Path,
    *,
    text: Path | None = None,
    corpus: Sequence[str] | None = None,
    model: str | None = None,
    engine: Engine = HERE,
    progress: ProgressCallback = silent,
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """Run the whole experiment, tell what comes of it line by line, and give it as data.

    Parameters
    ----------
    out
        The folder to make.
    text, corpus
        One's own text: raw, in a file, or parsed, in files or patterns. By default the miniature world.
    model
        For raw text: the model of the parser.
    engine, progress
        Where the work is done, and who is told how far it has come.
    say
        What is called with each line.

    """
    from composita.experiment.config import Experiment

    begun = time.perf_counter()
    out = Path(out)
    made: Miniature | None = None
    if text is None and not corpus:
        made = _write_miniature(out, say)
    else:
        _write_own(out, text, corpus or (), model, engine, progress, say)
    say(f"The experiment is described in {out / 'experiment.toml'}.\n")
    run = Experiment.load(out / "experiment.toml").run(out / "run", engine=engine, progress=progress)
    say(str(run) if run.results.rows else "No ratings, hence no scores: see `composita data list` for benchmarks.")
    found: dict[str, Any] = {
        "run": str(run.path), "report": str(run.report), "results": run.json("results.json"),
        "word_order": run.word_order,
    }  # fmt: skip
    _tell_differences(run, say)
    _tell_order(run, say)
    found["explained"] = _explain(run, EXAMPLE if made else None, say)
    if made:
        found["recovery"] = _tell_recovery(run, made, say)
    found["seconds"] = round(time.perf_counter() - begun, 1)
    say(f"\nReport: {run.report}   (in all {found['seconds']:.0f} s)")
    # The sentence of one's own text is known by its lemmas only, which a grammar need not be able to read.
    example = EXAMPLE if made else found["explained"] and found["explained"]["phrase"]
    say(f'Go on:  composita compose {run.path} "{example}"' if example else f"Go on:  composita info {run.path}")
    return found


# ---------------------------------------------------------------- what is read


def _write_miniature(out: Path, say: Say) -> Miniature:
    from composita.corpus.miniature import write_miniature

    _room_in(out)
    made = write_miniature(out / "text")
    say(
        f"This is synthetic text: {made.tokens:,} tokens in {made.sentences:,} sentences that mean only what was "
        "planted in them,\nwith simulated ratings. The figures below say whether composita finds it again, and nothing "
        "of English."
    )
    _describe(out, MINIATURE.format(folder=out.as_posix()))
    return made


def _write_own(
    out: Path, text: Path | None, corpus: Sequence[str], model: str | None, engine: Engine, progress: ProgressCallback,
    say: Say,
) -> None:  # fmt: skip
    """Describe the experiment on one's own text; encode it first, to see how many dimensions it can bear."""
    import json

    from composita.corpus.corpus import Corpus
    from composita.counting.vocabulary import Vocabulary
    from composita.experiment.cache import Cache
    from composita.experiment.config import Experiment
    from composita.experiment.run import KIND, STAGES, VERSION
    from composita.experiment.stages import make_plan
    from composita.store.folder import open_writer

    _room_in(out)
    sources = [str(Path(source).absolute()) for source in ([str(text)] if text is not None else corpus)]
    values = {
        "folder": out.as_posix(), "sources": json.dumps(sources), "format": "text" if text is not None else "auto",
        "model": f"model = {json.dumps(_place(model))}\n" if model else "",
        "benchmarks": json.dumps(_known_benchmarks()),
    }  # fmt: skip

    def describe(dimensions: int, stop: int) -> str:
        return OWN.format(dimensions=dimensions, stop=stop, **values)

    stages = out / "run" / STAGES
    cache = Cache(stages, engine, progress=progress)
    with open_writer(out / "run", KIND, VERSION):  # the folder of the run to come
        plan = make_plan(Experiment.from_toml(describe(300, 300), folder=out), stages, progress=progress)
        assert plan.corpus is not None, "the description names sources"
        encoded = Corpus.open(cache.run(plan.corpus).path)
        stop = 300 if encoded.token_count >= LARGE else 50
        plan = make_plan(Experiment.from_toml(describe(300, stop), folder=out), stages, progress=progress)
        assert plan.vocabulary is not None, "the description has no counts"
        vocabulary = Vocabulary.open(cache.run(plan.vocabulary).path)
    dimensions = bearable(encoded.token_count, sum(vocabulary.core), len(vocabulary.contexts))
    say(
        f"Your text has {plural(encoded.token_count, 'token')} in {plural(encoded.sentence_count, 'sentence')}, with "
        f"{plural(sum(vocabulary.core), 'different word')} (nouns and verbs) and "
        f"{plural(len(vocabulary.contexts), 'context')}; {plural(dimensions, 'dimension')} will be kept."
    )
    _describe(out, describe(dimensions, stop))


def _room_in(out: Path) -> None:
    """Make the folder, or say that it cannot be made."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not os.access(out, os.W_OK):
            raise PermissionError(errno.EACCES, "no permission to write there")
    except OSError as error:
        raise StoreError(f"cannot write to {out}: {error.strerror}; choose another place with --out") from None


def _describe(out: Path, text: str) -> None:
    """Write the description of the experiment, unless there is one that somebody has changed."""
    path = out / "experiment.toml"
    if path.exists() and path.read_bytes() != text.encode():
        raise UsageError(
            f"{path} is not what would be written there: run it by `composita run {path} --out {out / 'run'}`, or "
            "choose another place with --out"
        )
    path.write_bytes(text.encode())


def bearable(tokens: int, words: int, contexts: int) -> int:
    """Choose how many dimensions a text can bear: fewer than the usual 300 where there is little of it.

    >>> bearable(46_000_000, 12_000, 10_000), bearable(300_000, 2_000, 3_000), bearable(1_000, 40, 60)
    (300, 100, 10)
    """
    return max(1, min(300 if tokens >= LARGE else 100, words // 4, contexts // 4))


def _place(model: str) -> str:
    return str(Path(model).absolute()) if Path(model).exists() else model


def _known_benchmarks() -> list[str]:
    """Name the benchmarks of sentences that are kept in the user's data folder."""
    from composita.evaluation.benchmarks import Benchmark

    found = []
    for name in ("gs2011", "ml2008", "gs2012"):
        try:
            Benchmark.load(name)
        except CompositaError:
            continue
        found.append(name)
    return found


# ---------------------------------------------------------------- what is told


def _tell_differences(run: Run, say: Say) -> None:
    """Say on each benchmark how much better the best learned method is than that other one which comes closest."""
    closest: dict[str, dict[str, Any]] = {}
    for row in run.json("differences.json"):
        if row["convention"] == "rho_individual":
            known = closest.setdefault(row["benchmark"], row)
            closest[row["benchmark"]] = min(known, row, key=lambda one: float(one["difference"]))
    if closest:
        say("\nThe best learned method against the other one that comes closest, on individual ratings")
        say("(difference of rho, paired on the items that both score, with its 95% interval):")
    for name, row in closest.items():
        low, high = row["interval"]
        said = f"{row['first']} against {row['second']}"
        say(f"  {name:<17} {row['difference']:+.3f} [{low:+.3f}, {high:+.3f}]  {said}")


def _tell_order(run: Run, say: Say) -> None:
    rows = [row for row in run.word_order if row["gap"] is not None]
    if not rows:
        return
    say(f"\nWord order: {rows[0]['sentences']:,} attested sentences, and what they are with their arguments exchanged.")
    say("Right: how often the true one is nearer to the vector of the attested phrase, which nothing was learned from;")
    say("0.5 is chance. Gap: one minus the cosine of the two; a method without a gap cannot tell them apart.")
    for row in rows:
        right = "-" if row["right"] is None else f"{row['right']:.3f}"
        say(f"  {row['method']:<14} {row['space']:<6} right {right:<6} gap {row['gap']:.3f}  {row['note']}".rstrip())


def _explain(run: Run, sentence: str | None, say: Say) -> dict[str, Any] | None:
    """Say what the meaning of a sentence is made of: the one given, or the most frequent transitive one."""
    from composita.composition.explain import explain
    from composita.composition.model import open_model
    from composita.composition.order import attested_sentences

    model = open_model(run.path)
    try:
        attested = [] if sentence else [
            phrase for least in (2, 1) for phrase in attested_sentences(model.lexicon, count=1, min_frequency=least)
        ]  # fmt: skip
        if not sentence and not attested:
            raise UsageError("of no verb was enough learned from sentences with a subject and an object")
        phrase = model.phrase(sentence) if sentence else attested[0]
        found = explain(model.lexicon, phrase, "learned")
    except CompositaError as error:
        say(f"\nNo sentence to explain: {error}")
        return None
    rows = found.rows[:SHOWN]
    say(f"\n{sentence or phrase.display()!r}, which is {phrase},")
    say(
        f"is a weighted sum of {found.parts:,} parts: attested phrases, and what a function that all words share\n"
        f"gives (docs/lexicon.md). Those with the largest shares:"
    )
    for part in rows:
        say(f"  {part.share:>7.1%}  {part.text}")
    return {
        "sentence": sentence or phrase.display(), "phrase": str(phrase), "parts": found.parts,
        "rows": [{"text": part.text, "weight": float(part.weight), "share": float(part.share)} for part in rows],
    }  # fmt: skip


def _tell_recovery(run: Run, made: Miniature, say: Say) -> list[dict[str, Any]]:
    """Say how well each planted tensor was found again."""
    from composita.corpus.miniature import recovery

    found = recovery(run.lexicon(), made.truth)
    if not found:
        raise UsageError("no planted word has a function: expected the miniature text")
    say("\nPlanted tensors found again: the cosine of what was planted and what was learned, over arguments that")
    say("the text does not show the word with (1 is perfect; in brackets: chance):")
    for arity, name in ((1, "one argument"), (2, "two arguments"), (3, "three arguments")):
        rows = [row for row in found if row.arity == arity]
        if rows:
            mean, floor = (sum(getattr(row, key) for row in rows) / len(rows) for key in ("cosine", "floor"))
            say(f"  {name}, mean {mean:.2f} ({floor:.2f}):")
            said = "  ".join(f"{row.word}~{row.cosine:.2f}" for row in rows)  # a word stays beside its figure
            for line in wrap(said, WIDE, break_on_hyphens=False):
                say(f"    {line.replace('~', ' ')}")
    return [row._asdict() for row in found]


# ---------------------------------------------------------------- make demo


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``composita demo``, as ``make demo`` does."""
    from composita.cli.main import main as command

    logging.getLogger("composita").setLevel(logging.WARNING)
    return command(["demo", *(sys.argv[1:] if arguments is None else arguments)])


if __name__ == "__main__":
    sys.exit(main())
