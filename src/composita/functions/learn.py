"""Learning: a function for each word that has enough phrases, by as many workers as there are, resumable.

The examples are first copied out of the space into the folder of the lexicon, which so needs no space any more, nor do
the tasks. A task learns the functions of some words of one pattern, as many as take about a second, so that what is
learned does not depend on who learns it.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from composita.functions.keeping import others_than, take_over, unchanged
from composita.functions.learners import Learner, make_learner
from composita.functions.lexicon import (
    ANY,
    KIND,
    VERSION,
    ChunkFiles,
    Entry,
    Lexicon,
    chunk_about,
    origin_of,
    own_word,
    unit_rows,
    words_of,
    write_frame,
)
from composita.functions.onestep import OneStep
from composita.functions.selection import Head, Plan, Selection, check_heads, choose_patterns, plan
from composita.functions.shared import Additive
from composita.functions.tasks import (
    PENDING,
    WORDS_FILE,
    Job,
    Learned,
    Words,
    learn_chunk,
    learn_shared,
    read_receipt,
    write_examples,
)
from composita.store.arrays import write_arrays
from composita.store.engine import Engine, Task, run_tasks
from composita.store.errors import UsageError
from composita.store.folder import FolderWriter, fingerprint, open_writer, write_file
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent
from composita.store.strict_json import dump_json, parse_json

if TYPE_CHECKING:
    from composita.spaces.space import Space

logger = logging.getLogger("composita")

Chunked: TypeAlias = tuple[Words, tuple[Head, ...]]

CHUNK_SECONDS = 1.0
CHUNK_BYTES = 64 << 20
RATE = 4e9
"""Multiplications in a second, roughly; only the size of the chunks depends on it."""
LEANS = ("none", "whole", "shared", "similar")
TRIALS = 20
"""How many times as long it takes to choose how much a word leans on others, roughly."""
SHARED_EXAMPLES = {"additive": 200_000, "product": 3000}
"""How many examples a shared function is learned from at most; a kernel other than the additive one has them all in one
matrix."""


def learn(
    space: Space,
    *,
    learner: str | Learner = "onestep",
    patterns: str | Sequence[str] | None = None,
    heads: Collection[str] | None = None,
    selection: Selection | None = None,
    lean: str = "none",
    shared: str | None = None,
    since: Lexicon | None = None,
    out: str | Path | None = None,
    engine: Engine | None = None,
    workers: int = 1,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
    **options: Any,  # noqa: ANN401
) -> Lexicon:
    """Learn a function for each word of a space that has enough phrases.

    Parameters
    ----------
    space
        A space with phrases.
    learner
        A learner, or the name of one of `composita.functions.learners.LEARNERS`.
    patterns
        Which patterns, such as ``"sv,svo"``; None for all that the space has.
    heads
        Which words get functions; None for all.
    selection
        Which phrases are examples; instead of it the options of `Selection` can be given by name.
    lean
        On what words lean: ``none``; ``whole``, the function that all words of the pattern share, from which each
        begins; ``shared``, the same, and how much is chosen for each word; ``similar``, the examples of the words whose
        vectors are nearest, and how much likewise. See `composita.functions.leaning`.
    shared
        The kernel of a shared function to be learned, for words that have none of their own: ``additive`` or
        ``product``; None for no such function.
    since
        What was learned before, in the same way. A function whose examples are still the same, to the bit, is taken
        from there, unless it leans on others.
    out
        The folder to write; a run that was interrupted is taken up there. None keeps the lexicon in memory.
    engine, workers
        Where the work is done; by default in so many threads.
    progress, cancel
        See `composita.store.progress`.
    **options
        Options of `Selection`, such as ``min_examples=3``.

    >>> from composita.corpus.miniature import write_miniature
    >>> from composita import Corpus, Space, Vocabulary, count
    >>> folder = Path(tempfile.mkdtemp())
    >>> corpus = Corpus.build([write_miniature(folder / "text").text], folder / "corpus")
    >>> words = Vocabulary.from_corpus(corpus, nouns=400, verbs=60, contexts=400, stop=0)
    >>> space = Space.from_counts(count(corpus, words, phrases="svo"), dimensions=16)
    >>> learn(space, patterns="svo")
    Lexicon(268 words, 17 functions: 17 svo)

    """
    if space.is_sparse:
        raise UsageError("the space is sparse: reduce it first (composita space ... --reduce svd), then learn")
    if lean not in LEANS:
        raise UsageError(f"lean: choose {', '.join(LEANS)}, got {lean!r}")
    chosen = replace(selection or Selection(), **options) if options else selection or Selection()
    made = make_learner(learner) if isinstance(learner, str) else learner
    plans = [plan(space, pattern, chosen, heads) for pattern in choose_patterns(space, patterns)]
    check_heads(heads or (), plans)
    how = How(made, chosen, lean, shared or ("additive" if lean in ("whole", "shared") else None))
    engine = engine or Engine(workers)
    if out is not None:
        return _learn_into(space, how, plans, since, Path(out), engine, progress, cancel)
    with tempfile.TemporaryDirectory(prefix="composita-") as folder:
        found = _learn_into(space, how, plans, since, Path(folder, "lexicon"), engine, progress, cancel).in_memory()
    return replace(found, loaded_space=space)


@dataclass(frozen=True)
class How:
    """How functions are learned."""

    learner: Learner
    selection: Selection
    lean: str
    sharing: str | None

    def parameters(self, plans: Sequence[Plan]) -> dict[str, Any]:
        """Say so for ``meta.json``."""
        return {
            "learner": self.learner.parameters(), "selection": self.selection.parameters(), "lean": self.lean,
            "shared": self.sharing, "patterns": {found.pattern: list(found.names) for found in plans},
            "left_out": {found.pattern: dict(found.left_out) for found in plans},
        }  # fmt: skip


def _learn_into(
    space: Space, how: How, plans: Sequence[Plan], since: Lexicon | None, out: Path, engine: Engine,
    progress: ProgressCallback, cancel: Cancellation | None,
) -> Lexicon:  # fmt: skip
    """Learn into a folder, going on where an interrupted run with the same task was."""
    parameters, selection = how.parameters(plans), how.selection
    heads = [[found.pattern, [[head.word, len(head.rows)] for head in found.heads]] for found in plans]
    asked = fingerprint("learn-1", space.fingerprint, parameters, heads)
    with open_writer(out, KIND, VERSION, cancel=cancel) as writer:
        if writer.meta is not None and writer.meta.get("learned") == asked:
            logger.info("%s holds these functions already", out)
            shutil.rmtree(writer.path / PENDING, ignore_errors=True)  # of a run that was stopped at its very end
            writer.sweep()
            return Lexicon.open(out)
        kept = unchanged(space, plans, selection, parameters, since)
        if since is not None:
            wanted = sum(len(found.heads) for found in plans)
            logger.info("%d functions are learned anew, %d are kept", wanted - len(kept), len(kept))
        pending = writer.path / PENDING
        _prepare(pending, fingerprint(asked, sorted(kept)) if kept else asked)
        names, rows = words_of(space)
        vectors = np.asarray(space.array[rows])
        if not (pending / WORDS_FILE).exists():
            with write_file(pending / WORDS_FILE) as new:
                write_arrays(new.path, {"vectors": unit_rows(vectors) if selection.normalise else vectors})
        chunks = _chunks(others_than(kept, plans), how, space.dimensions, names, writer)
        shared = _shared_words(plans, how, len(chunks), writer)
        others = {w.pattern: tuple(v for v, _ in chunks if v.pattern == w.pattern) for w, _ in chunks}
        job = Job(
            str(writer.path), how.learner, how.lean, how.sharing or "", shared, others if how.lean == "similar" else {}
        )
        receipts = _run(space, selection, job, chunks, engine, progress, cancel)
        every = [*(words for words, _ in chunks), *shared.values()]
        taken, entries = take_over(kept, writer, len(every))
        files = [(w.pattern, w.names, w.files) for w in every] + taken
        lexicon = Lexicon(
            names, vectors, np.asarray(space.frequency, np.int64)[rows],
            _in_order(plans, [*_entries(every, receipts), *entries]),
            tuple(ChunkFiles(p, arguments, *(writer.path / file for file in some)) for p, arguments, some in files),
            selection.normalise, parameters, space.forms, origin_of(space),
        )  # fmt: skip
        _commit(writer, lexicon, every, receipts, asked, files)
        shutil.rmtree(pending)
        writer.sweep()
    return Lexicon.open(out)


def _prepare(pending: Path, asked: str) -> None:
    """Keep what an interrupted run made for the same task; discard the rest."""
    done = pending / "plan.json"
    try:
        same = parse_json(done.read_bytes()) == {"fingerprint": asked}
    except (OSError, ValueError):
        same = False
    if same:
        logger.info("going on where the last run was stopped")
        return
    shutil.rmtree(pending, ignore_errors=True)
    pending.mkdir(parents=True)
    with write_file(done) as new:
        new.path.write_bytes(dump_json({"fingerprint": asked}))


def _chunks(
    plans: Sequence[Plan], how: How, dimensions: int, names: Sequence[str], writer: FolderWriter
) -> list[Chunked]:
    """Divide the words into chunks, by the data alone."""
    chunks: list[Chunked] = []
    row = {word: place for place, word in enumerate(names)}
    trials = 1 if how.lean in ("none", "whole") else TRIALS
    for found in plans:
        some: list[Head] = []
        seconds = size = 0.0
        for place, head in enumerate(found.heads):
            some.append(head)
            seconds += trials * cost(len(head.rows), dimensions) / RATE
            size += 4.0 * len(head.rows) * dimensions
            if seconds >= CHUNK_SECONDS or size >= CHUNK_BYTES or place == len(found.heads) - 1:
                bounds = (0, *np.cumsum([len(head.rows) for head in some]).tolist())
                words = tuple(head.word for head in some)
                chunk = Words(
                    len(chunks), found.pattern, found.names, words, tuple(row.get(own_word(w, row), -1) for w in words),
                    bounds, tuple(head.dropped for head in some), _files(len(chunks), writer),
                )  # fmt: skip
                chunks.append((chunk, tuple(some)))
                some, seconds, size = [], 0.0, 0.0
    return chunks


def _shared_words(plans: Sequence[Plan], how: How, number: int, writer: FolderWriter) -> dict[str, Words]:
    """Give the functions to be shared chunks of their own, after the others."""
    if how.sharing is None:
        return {}
    some = [found for found in plans if found.heads]
    return {
        found.pattern: Words(
            place, found.pattern, ("word", *found.names), (ANY,), (-1,), (0, 0), ({},), _files(place, writer)
        )
        for place, found in enumerate(some, number)
    }


def _files(number: int, writer: FolderWriter) -> tuple[str, str, str]:
    """Name the files of a chunk."""
    functions, examples, reports = (
        writer.fresh_name(f"{kind}-{number:05d}.{suffix}")
        for kind, suffix in (("functions", "safetensors"), ("examples", "safetensors"), ("reports", "parquet"))
    )
    return functions, examples, reports


def cost(examples: int, dimensions: int) -> float:
    """Estimate the multiplications that learning from examples takes: Gram matrices and an eigendecomposition.

    >>> cost(1000, 300) / cost(100, 300) > 100
    True
    """
    return 10.0 * examples**3 + 4.0 * dimensions * examples**2 + 1e6


# ---------------------------------------------------------------- running


def _run(
    space: Space, selection: Selection, job: Job, chunks: Sequence[Chunked], engine: Engine,
    progress: ProgressCallback, cancel: Cancellation | None,
) -> list[Learned]:  # fmt: skip
    """Learn all chunks that an earlier run has not learned yet."""
    folder = Path(job.folder)
    found = {words.number: receipt for words, _ in chunks if (receipt := read_receipt(job, words)) is not None}
    total = float(sum(words.bounds[-1] for words, _ in chunks))
    before = float(sum(words.bounds[-1] for words, _ in chunks if words.number in found))

    def shifted(step: Progress) -> None:
        progress(replace(step, done=step.done + before, total=total))

    left = [(words, heads) for words, heads in chunks if words.number not in found]
    stored = {}
    if job.lean != "none" or job.shared:  # words need the examples of others
        for words, heads in left:
            check(cancel)
            stored[words.number] = write_examples(space, selection, folder, words, heads)
    _share(job, [words for words, _ in chunks], found, engine, cancel)

    def tasks() -> Iterator[Task[Learned]]:
        for words, heads in left:
            check(cancel)
            entry = stored.get(words.number) or write_examples(space, selection, folder, words, heads)
            yield Task(f"{words.pattern} {words.heads[0]}", learn_chunk, (job, words, entry), float(words.bounds[-1]))

    run = run_tasks(
        tasks(), engine=engine, progress=shifted, stage="learning", unit="examples", total=total, cancel=cancel
    )
    found |= {receipt.number: receipt for _, receipt in run}
    return [found[number] for number in sorted(found)]


def _share(
    job: Job, chunks: Sequence[Words], found: dict[int, Learned], engine: Engine, cancel: Cancellation | None
) -> None:
    """Learn the functions that all words of a pattern share."""
    tasks = []
    for pattern, words in job.shared.items():
        if (receipt := read_receipt(job, words)) is not None:
            found[words.number] = receipt
            continue
        sources = [w for w in chunks if w.pattern == pattern]
        learner: Learner = Additive() if job.sharing == "additive" else OneStep(kernel=job.sharing)
        most = SHARED_EXAMPLES.get(job.sharing, SHARED_EXAMPLES["product"])
        tasks.append(Task(f"{pattern} shared", learn_shared, (job, learner, words, most, sources)))
    run = run_tasks(tasks, engine=engine, stage="sharing", cancel=cancel)
    found.update({receipt.number: receipt for _, receipt in run})


# ---------------------------------------------------------------- the result


def _entries(chunks: Sequence[Words], receipts: Sequence[Learned]) -> tuple[Entry, ...]:
    """List the functions that were learned, with the places of their arrays."""
    entries = []
    for words, receipt in zip(chunks, receipts, strict=True):
        place = 0
        for head, reason, (first, last) in zip(words.heads, receipt.reasons, words.spans(), strict=True):
            if not reason:
                entries.append(Entry(head, words.pattern, len(words.names), words.number, place, first, last))
                place += 1
    return tuple(entries)


def _in_order(plans: Sequence[Plan], entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Sort functions as they were planned, whoever learned them; those that are shared come last."""
    keys = ((found.pattern, head.word) for found in plans for head in found.heads)
    place = {key: number for number, key in enumerate(keys)}
    return tuple(sorted(entries, key=lambda entry: place.get((entry.pattern, entry.word), len(place))))


def _commit(
    writer: FolderWriter, lexicon: Lexicon, chunks: Sequence[Words], receipts: Sequence[Learned], asked: str,
    files: Sequence[tuple[str, tuple[str, ...], tuple[str, str, str]]],
) -> None:  # fmt: skip
    """Make what was learned the lexicon."""
    for receipt in receipts:
        for entry in receipt.files:
            writer.add(entry)
    write_frame(writer, lexicon)
    failed = {
        f"{words.pattern} {head}": reason
        for words, receipt in zip(chunks, receipts, strict=True)
        for head, reason in zip(words.heads, receipt.reasons, strict=True)
        if reason
    }
    about = [chunk_about(*some) for some in files]
    writer.commit({**lexicon.about(), "chunks": about, "failed": failed, "learned": asked}, keep=())
