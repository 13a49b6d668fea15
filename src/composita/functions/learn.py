"""Learning: a function for each word that has enough phrases, by as many workers as there are, resumable.

The examples are first copied out of the space into the folder of the lexicon, which so needs no space any more, nor do
the tasks. A task learns the functions of some words of one pattern, as many as take about a second, so that what is
learned does not depend on who learns it.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.functions.function import Function
from composita.functions.learners import Learner, make_learner
from composita.functions.lexicon import (
    KIND,
    VERSION,
    ChunkFiles,
    Entry,
    Lexicon,
    chunk_about,
    chunk_writers,
    make_examples,
    origin_of,
    pooled_chunk,
    unit_rows,
    words_of,
    write_frame,
)
from composita.functions.selection import Head, Plan, Selection, check_heads, choose_patterns, plan
from composita.store.arrays import read_arrays, write_arrays
from composita.store.engine import Engine, Task, run_tasks
from composita.store.errors import TooFewError, UsageError
from composita.store.folder import FileEntry, FolderWriter, fingerprint, open_writer, write_file
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent
from composita.store.strict_json import dump_json, parse_json

if TYPE_CHECKING:
    from composita.spaces.space import Space

logger = logging.getLogger("composita")

Array = npt.NDArray[Any]

PENDING = "pending"
CHUNK_SECONDS = 1.0
CHUNK_BYTES = 64 << 20
RATE = 4e9
"""Multiplications in a second, roughly; only the size of the chunks depends on it."""


@dataclass(frozen=True)
class Words:
    """What a task learns: some words of a pattern, and where the examples of each begin and end in the chunk."""

    number: int
    pattern: str
    names: tuple[str, ...]
    heads: tuple[str, ...]
    bounds: tuple[int, ...]
    files: tuple[str, str, str]  # functions, examples, reports

    def spans(self) -> list[tuple[int, int]]:
        """Give the first and the last example of each word, the last exclusive."""
        return list(pairwise(self.bounds))


@dataclass(frozen=True)
class Job:
    """What every task needs to know."""

    folder: str
    learner: Learner


@dataclass(frozen=True)
class Learned:
    """The receipt of a task: its files, and of each word why it has no function, empty where it has one."""

    number: int
    files: tuple[FileEntry, ...]
    reasons: tuple[str, ...]


def learn(
    space: Space,
    *,
    learner: str | Learner = "onestep",
    patterns: str | Sequence[str] | None = None,
    heads: Collection[str] | None = None,
    selection: Selection | None = None,
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
    out
        The folder to write; a run that was interrupted is taken up there. None keeps the lexicon in memory.
    engine, workers
        Where the work is done; by default in so many threads.
    progress, cancel
        See `composita.store.progress`.
    **options
        Options of `Selection`, such as ``min_examples=3``.

    """
    if space.is_sparse:
        raise UsageError("the space is sparse: reduce it first (composita space ... --reduce svd), then learn")
    chosen = replace(selection or Selection(), **options) if options else selection or Selection()
    made = make_learner(learner) if isinstance(learner, str) else learner
    plans = [plan(space, pattern, chosen, heads) for pattern in choose_patterns(space, patterns)]
    check_heads(heads or (), plans)
    engine = engine or Engine(workers)
    if out is not None:
        return _learn_into(space, made, chosen, plans, Path(out), engine, progress, cancel)
    with tempfile.TemporaryDirectory(prefix="composita-") as folder:
        found = _learn_into(space, made, chosen, plans, Path(folder, "lexicon"), engine, progress, cancel).in_memory()
    return replace(found, loaded_space=space)


def _learn_into(
    space: Space, learner: Learner, selection: Selection, plans: Sequence[Plan], out: Path, engine: Engine,
    progress: ProgressCallback, cancel: Cancellation | None,
) -> Lexicon:  # fmt: skip
    """Learn into a folder, going on where an interrupted run with the same task was."""
    heads = [[found.pattern, [[head.word, len(head.rows)] for head in found.heads]] for found in plans]
    parameters = {
        "learner": learner.parameters(), "selection": selection.parameters(),
        "patterns": {found.pattern: list(found.names) for found in plans},
        "left_out": {found.pattern: dict(found.left_out) for found in plans},
    }  # fmt: skip
    asked = fingerprint("learn-1", space.fingerprint, parameters, heads)
    with open_writer(out, KIND, VERSION, cancel=cancel) as writer:
        if writer.meta is not None and writer.meta.get("learned") == asked:
            logger.info("%s holds these functions already", out)
            return Lexicon.open(out)
        pending = writer.path / PENDING
        _prepare(pending, asked)
        names, rows = words_of(space)
        vectors = np.asarray(space.array[rows])
        if not (pending / "words.safetensors").exists():
            with write_file(pending / "words.safetensors") as new:
                write_arrays(new.path, {"vectors": unit_rows(vectors) if selection.normalise else vectors})
        job = Job(str(writer.path), learner)
        chunks = _chunks(plans, learner, space.dimensions, writer)
        receipts = _run(space, selection, job, chunks, engine, progress, cancel)
        lexicon = Lexicon(
            names, vectors, np.asarray(space.frequency, np.int64)[rows], _entries(chunks, receipts),
            tuple(ChunkFiles(w.pattern, w.names, *(writer.path / name for name in w.files)) for w, _ in chunks),
            selection.normalise, parameters, space.forms, origin_of(space),
        )  # fmt: skip
        _commit(writer, lexicon, chunks, receipts, asked)
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
    plans: Sequence[Plan], learner: Learner, dimensions: int, writer: FolderWriter
) -> list[tuple[Words, tuple[Head, ...]]]:
    """Divide the words into chunks, by the data alone."""
    chunks: list[tuple[Words, tuple[Head, ...]]] = []
    for found in plans:
        some: list[Head] = []
        seconds = size = 0.0
        for place, head in enumerate(found.heads):
            some.append(head)
            seconds += cost(len(head.rows), dimensions) / RATE
            size += 4.0 * len(head.rows) * dimensions
            if seconds >= CHUNK_SECONDS or size >= CHUNK_BYTES or place == len(found.heads) - 1:
                number = len(chunks)
                files = [f"{kind}-{number:05d}" for kind in ("functions", "examples", "reports")]
                suffixes = ("safetensors", "safetensors", "parquet")
                fresh = [writer.fresh_name(f"{stem}.{suffix}") for stem, suffix in zip(files, suffixes, strict=True)]
                bounds = (0, *np.cumsum([len(head.rows) for head in some]).tolist())
                words = Words(
                    number, found.pattern, found.names, tuple(head.word for head in some), bounds,
                    (fresh[0], fresh[1], fresh[2]),
                )  # fmt: skip
                chunks.append((words, tuple(some)))
                some, seconds, size = [], 0.0, 0.0
    return chunks


def cost(examples: int, dimensions: int) -> float:
    """Estimate the multiplications that learning from examples takes: Gram matrices and an eigendecomposition.

    >>> cost(1000, 300) / cost(100, 300) > 100
    True
    """
    return 10.0 * examples**3 + 4.0 * dimensions * examples**2 + 1e6


# ---------------------------------------------------------------- running


def _run(
    space: Space, selection: Selection, job: Job, chunks: Sequence[tuple[Words, tuple[Head, ...]]], engine: Engine,
    progress: ProgressCallback, cancel: Cancellation | None,
) -> list[Learned]:  # fmt: skip
    """Learn all chunks that an earlier run has not learned yet."""
    found = {words.number: receipt for words, _ in chunks if (receipt := _receipt(job, words)) is not None}
    total = float(sum(words.bounds[-1] for words, _ in chunks))
    before = float(sum(words.bounds[-1] for words, _ in chunks if words.number in found))

    def shifted(step: Progress) -> None:
        progress(replace(step, done=step.done + before, total=total))

    def tasks() -> Iterator[Task[Learned]]:
        for words, heads in chunks:
            if words.number not in found:
                check(cancel)
                entry = _write_examples(space, selection, Path(job.folder) / words.files[1], heads)
                arguments = (job, words, entry)
                yield Task(f"{words.pattern} {words.heads[0]}", learn_chunk, arguments, float(words.bounds[-1]))

    run = run_tasks(
        tasks(), engine=engine, progress=shifted, stage="learning", unit="examples", total=total, cancel=cancel
    )
    found |= {receipt.number: receipt for _, receipt in run}
    return [found[words.number] for words, _ in chunks]


def _write_examples(space: Space, selection: Selection, path: Path, heads: Sequence[Head]) -> FileEntry:
    """Copy the examples of some heads out of the space."""
    rows = np.concatenate([head.rows for head in heads])
    outputs = np.asarray(space.array[rows])
    arrays = {
        "ids": np.concatenate([head.ids for head in heads]).astype(np.int32), "rows": rows,
        "outputs": unit_rows(outputs) if selection.normalise_outputs else outputs,
        "frequency": np.concatenate([head.frequency for head in heads]),
    }  # fmt: skip
    if selection.weights == "frequency":
        arrays["weights"] = np.concatenate([frequency_weights(head.frequency) for head in heads])
    with write_file(path) as new:
        write_arrays(new.path, arrays)
    return new.entry


def learn_chunk(job: Job, words: Words, stored: FileEntry) -> Learned:
    """Learn the functions of some words, and write them."""
    folder = Path(job.folder)
    vectors = read_arrays(folder / PENDING / "words.safetensors")["vectors"]
    arrays = read_arrays(folder / words.files[1])
    functions, reports, reasons = [], [], []
    for first, last in words.spans():
        part = {name: array[first:last] for name, array in arrays.items()}
        # Labels are what says, later, which examples a function was learned from.
        examples = make_examples(vectors, part, words.names, list(map(str, range(last - first))))
        try:
            function = job.learner.learn(examples)
        except TooFewError as error:
            reasons.append(str(error))
            continue
        functions.append(function)
        reports.append(describe_training(function, part["ids"], part["frequency"]))
        reasons.append("")
    chunk = pooled_chunk(words.pattern, words.names, arrays, functions, reports)
    written = [stored]
    for name, (kind, write) in zip(words.files, chunk_writers(chunk, words.number), strict=True):
        if not kind.startswith("examples"):
            with write_file(folder / name) as new:
                write(new.path)
            written.append(new.entry)
    receipt = Learned(words.number, tuple(written), tuple(reasons))
    with write_file(folder / PENDING / f"chunk-{words.number:05d}.json") as new:
        new.path.write_bytes(dump_json({"files": [list(e) for e in map(_fields, written)], "reasons": reasons}))
    return receipt


def frequency_weights(frequency: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Weigh phrases by f / (f + 2), with mean 1.

    >>> frequency_weights(np.array([1, 2, 1000])).round(2)
    array([0.55, 0.82, 1.63])
    """
    raw = frequency / (frequency + 2.0)
    weights: npt.NDArray[np.float64] = raw / raw.mean()
    return weights


def describe_training(function: Function, ids: Array, frequency: Array) -> dict[str, Any]:
    """Give the report of a function as JSON can say it."""
    counts = np.unique(ids[:, 0], return_counts=True)[1]
    return {
        "training": function.training.to_dict(), "effective_rank": function.effective_rank(),
        "phrases": len(ids), "occurrences": int(frequency.sum()), "first_arguments": len(counts),
        "first_arguments_of_three": int((counts >= 3).sum()),
    }  # fmt: skip


def _fields(entry: FileEntry) -> tuple[str, int, str]:
    return entry.name, entry.bytes, entry.sha256


def _receipt(job: Job, words: Words) -> Learned | None:
    """Find what an earlier run learned."""
    folder = Path(job.folder)
    try:
        said: Mapping[str, Any] = parse_json((folder / PENDING / f"chunk-{words.number:05d}.json").read_bytes())
        files = tuple(FileEntry(*fields) for fields in said["files"])
        reasons = tuple(said["reasons"])
        whole = all((folder / entry.name).stat().st_size == entry.bytes for entry in files)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    same = {entry.name for entry in files} == set(words.files) and len(reasons) == len(words.heads)
    return Learned(words.number, files, reasons) if whole and same else None


# ---------------------------------------------------------------- the result


def _entries(chunks: Sequence[tuple[Words, tuple[Head, ...]]], receipts: Sequence[Learned]) -> tuple[Entry, ...]:
    """List the functions that were learned, with the places of their arrays."""
    entries = []
    for (words, _), receipt in zip(chunks, receipts, strict=True):
        place = 0
        for head, reason, (first, last) in zip(words.heads, receipt.reasons, words.spans(), strict=True):
            if not reason:
                entries.append(Entry(head, words.pattern, len(words.names), words.number, place, first, last))
                place += 1
    return tuple(entries)


def _commit(
    writer: FolderWriter, lexicon: Lexicon, chunks: Sequence[tuple[Words, tuple[Head, ...]]],
    receipts: Sequence[Learned], asked: str,
) -> None:  # fmt: skip
    """Make what was learned the lexicon."""
    for receipt in receipts:
        for entry in receipt.files:
            writer.add(entry)
    write_frame(writer, lexicon)
    failed = {
        f"{words.pattern} {head}": reason
        for (words, _), receipt in zip(chunks, receipts, strict=True)
        for head, reason in zip(words.heads, receipt.reasons, strict=True)
        if reason
    }
    about = [chunk_about(words.pattern, words.files) for words, _ in chunks]
    writer.commit({**lexicon.about(), "chunks": about, "failed": failed, "learned": asked}, keep=())
