"""Counting a corpus: one pass over its shards, by as many workers as there are, resumable, in bounded memory."""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from composita.counting.contexts import Context
from composita.counting.counts import KIND, VERSION, Counts, write_forms, write_frame
from composita.counting.forms import merge_forms
from composita.counting.job import Job, Limits, Switches
from composita.counting.parts import Frame, read_summary
from composita.counting.patterns import Pattern, load_patterns
from composita.counting.tasks import Merged, count_shard, forms_path, merge_to_part, merge_to_result, plan_segments
from composita.counting.vocabulary import Vocabulary, restrict
from composita.store.engine import Engine, Task, run_tasks
from composita.store.errors import UsageError
from composita.store.folder import FolderWriter, open_writer, write_file
from composita.store.progress import Cancellation, Progress, ProgressCallback, silent
from composita.store.strict_json import dump_json, parse_json

if TYPE_CHECKING:
    from composita.corpus.corpus import Corpus, Shard

logger = logging.getLogger("composita")

PENDING = "pending"
_SIZES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}

# Measured on a parsed Wikipedia; see benchmarks/counting.py.
BASE_BYTES = 250 << 20
"""What Python, NumPy, pyarrow and the compiled loops take by themselves."""
LOAD_BYTES = 70
"""Memory for each token of a shard, while it is read."""
SLICE_BYTES = 110
"""Memory for each token that is counted at a time; more where the roles of all tokens are looked at."""
ROLE_BYTES = 150
CELL_BYTES = 40
"""Memory for each cell that is merged at a time."""
LEAST_SLICE = 1 << 14
LEAST_CELLS = 1 << 20


def parse_memory(size: int | str) -> int:
    """Read an amount of memory in bytes: ``4G``, ``500M``.

    >>> parse_memory("4G"), parse_memory("1.5M")
    (4000000000, 1500000)
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)B?\s*", str(size), re.IGNORECASE)
    if not found:
        raise UsageError(f"expected an amount of memory such as 4G or 500M, got {size!r}")
    return int(float(found[1]) * _SIZES[found[2].upper()])


def count(
    corpus: Corpus,
    vocabulary: Vocabulary,
    *,
    phrases: str | Iterable[str | Pattern] = (),
    heads: Collection[str] | None = None,
    context: str | Context = "sentence",
    words: bool = True,
    min_frequency: int = 1,
    passives: bool = True,
    conjuncts: bool = True,
    shared_subjects: bool = True,
    relatives: bool = True,
    join_particles: bool = False,
    sv_without_object: bool = False,
    out: str | Path | None = None,
    memory: int | str = "4G",
    engine: Engine | None = None,
    workers: int = 1,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Counts:
    """Count the words of a vocabulary, and phrases, with their contexts, in one pass over a corpus.

    Parameters
    ----------
    corpus, vocabulary
        What is read, and which words are counted, may be arguments and are contexts.
    phrases
        Patterns: names such as ``"sv,svo"``, TOML files, or `Pattern` objects.
    heads
        The words that head phrases, such as ``chase-v``; None for all of the vocabulary with the right part of speech.
    context
        ``sentence``, ``window:5``, ``window:5,0`` (left, right), ``window:5:linear`` or ``:harmonic``, ``dependency``.
    words
        Whether words are counted, or phrases only.
    min_frequency
        How often a phrase must occur to be kept.
    passives, conjuncts, shared_subjects, relatives, join_particles
        What counts as an argument; see `Switches`.
    sv_without_object
        Whether the pattern ``sv`` asks for a verb without an object.
    out
        The folder to write; a run that was interrupted is taken up there. None keeps the counts in memory.
    memory
        The budget, such as ``4G``. Counts that do not fit are written out and merged from there.
    engine, workers
        Where the work is done; by default in so many threads.
    progress, cancel
        See `composita.store.progress`.

    Examples
    --------
    >>> import tempfile
    >>> from composita.corpus.corpus import Corpus
    >>> from composita.corpus.synthetic import write_synthetic
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = write_synthetic(folder / "text.conllu", 2_000)
    >>> corpus = Corpus.build([folder / "text.conllu"], folder / "corpus")
    >>> vocabulary = Vocabulary.from_corpus(corpus, nouns=50, verbs=20, contexts=100, stop=5)
    >>> count(corpus, vocabulary, phrases="sv").shape[1]
    100

    """
    engine = engine or Engine(workers)
    chosen = _patterns(phrases, sv_without_object=sv_without_object)
    asked = Context.parse(context) if isinstance(context, str) else context
    if not words and not chosen:
        raise UsageError("nothing to count: ask for words, for phrases, or for both")
    if min_frequency < 1:
        raise UsageError(f"expected a minimum frequency from 1, got {min_frequency}")
    if not vocabulary.contexts:
        raise UsageError("the vocabulary has no contexts: make one of a larger corpus, or with a smaller stop")
    names = None if heads is None else tuple(restrict(sorted(set(heads)), vocabulary, "heads"))
    switches = Switches(passives, conjuncts, shared_subjects, relatives, join_particles)
    job = Job(vocabulary, chosen, names, asked, switches, words, min_frequency, "")
    for pattern, wanted in zip(chosen, job.wanted, strict=True):
        if not wanted.any():
            raise UsageError(
                f"pattern {pattern.name}: no word of the vocabulary with the letter {pattern.head!r} can be its head: "
                "choose some (as with --adjectives), name them as heads, or leave the pattern out"
            )
    job = replace(job, limits=limits(job, corpus, parse_memory(memory), engine))
    if out is not None:
        return count_into(job, corpus, Path(out), engine, progress, cancel)
    with tempfile.TemporaryDirectory(prefix="composita-") as folder:
        return count_into(job, corpus, Path(folder, "counts"), engine, progress, cancel).in_memory()


def count_phrases(
    corpus: Corpus,
    vocabulary: Vocabulary,
    phrases: str | Iterable[str | Pattern],
    **options: Any,  # noqa: ANN401
) -> Counts:
    """Count phrases only; the options are those of `count`.

    >>> import tempfile
    >>> from composita.corpus.corpus import Corpus
    >>> from composita.corpus.synthetic import write_synthetic
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = write_synthetic(folder / "text.conllu", 2_000)
    >>> corpus = Corpus.build([folder / "text.conllu"], folder / "corpus")
    >>> vocabulary = Vocabulary.from_corpus(corpus, nouns=50, verbs=20, contexts=100, stop=5)
    >>> len(count_phrases(corpus, vocabulary, "svo").rows("word"))
    0
    """
    return count(corpus, vocabulary, phrases=phrases, words=False, **options)


def _patterns(phrases: str | Iterable[str | Pattern], *, sv_without_object: bool) -> tuple[Pattern, ...]:
    given = [phrases] if isinstance(phrases, str) else list(phrases)
    named = [name for part in given if isinstance(part, str) for name in part.split(",")]
    found = {pattern.name: pattern for pattern in load_patterns(named, sv_without_object=sv_without_object)}
    for part in given:
        if isinstance(part, Pattern) and found.setdefault(part.name, part) != part:
            raise UsageError(f"the pattern {part.name!r} is given twice: rename one")
    return tuple(found[name] for name in sorted(found))


def limits(job: Job, corpus: Corpus, memory: int, engine: Engine) -> Limits:
    """Divide the memory among the workers, or say how much is needed at least."""
    largest = max((shard.token_count for shard in corpus.shards()), default=0)
    each = SLICE_BYTES + (ROLE_BYTES if job.patterns or job.context.kind == "dependency" else 0)
    least = min(LEAST_SLICE, largest) * each
    needed = BASE_BYTES + engine.workers * max(largest * LOAD_BYTES + least, LEAST_CELLS * CELL_BYTES)
    if memory < needed:
        fewer = " or fewer workers" if engine.workers > 1 else ""
        raise UsageError(
            f"{memory / 1e6:,.0f}M of memory is too little for {engine.workers} worker{'s' * (engine.workers > 1)}: "
            f"expected at least {-(-needed // 10**6):,}M; pass more memory{fewer}"
        )
    room = (memory - BASE_BYTES) // engine.workers
    return Limits(
        slice_tokens=max(LEAST_SLICE, min(Limits.slice_tokens, (room - largest * LOAD_BYTES) // each)),
        merge_cells=max(1, min(Limits.merge_cells, room // (2 * CELL_BYTES))),
    )


# ---------------------------------------------------------------- a run


def count_into(
    job: Job, corpus: Corpus, out: Path, engine: Engine, progress: ProgressCallback, cancel: Cancellation | None
) -> Counts:
    """Count into a folder, going on where an interrupted run with the same task was."""
    asked = job.fingerprint(corpus.fingerprint)
    with open_writer(out, KIND, VERSION, cancel=cancel) as writer:
        if writer.meta is not None and writer.meta.get("fingerprint") == asked:
            logger.info("%s holds these counts already", out)
            shutil.rmtree(writer.path / PENDING, ignore_errors=True)  # of a run that was stopped at its very end
            writer.sweep()
            return Counts.open(out)
        pending = writer.path / PENDING
        _prepare(pending, asked)
        run = _Run(replace(job, folder=str(pending)), engine, progress, cancel)
        shards = list(corpus.shards())
        files = run.count_shards(shards)
        frame, merged = run.merge(files, writer)
        write_forms(writer, merge_forms([forms_path(pending, n) for n in range(len(shards))], job.vocabulary.words))
        _commit(job, corpus, writer, frame, merged, asked)
        shutil.rmtree(pending)
        writer.sweep()
    return Counts.open(out)


def _prepare(pending: Path, asked: str) -> None:
    """Keep the parts that an interrupted run made for the same task; discard others."""
    plan = pending / "plan.json"
    try:
        same = parse_json(plan.read_bytes()) == {"fingerprint": asked}
    except (OSError, ValueError):
        same = False
    if same:
        logger.info("going on where the last run was stopped")
        return
    shutil.rmtree(pending, ignore_errors=True)
    pending.mkdir(parents=True)
    with write_file(plan) as new:
        new.path.write_bytes(dump_json({"fingerprint": asked}))


@dataclass
class _Run:
    """One run: what it is about, and how far it has come."""

    job: Job
    engine: Engine
    progress: ProgressCallback
    cancel: Cancellation | None

    def count_shards(self, shards: Sequence[Shard]) -> list[str]:
        """Count all shards, some dozens at a time, and merge those of each group before going on to the next."""
        total, before = sum(shard.token_count for shard in shards), 0
        fan = self.job.limits.fan
        found: list[str] = []
        for start in range(0, len(shards), fan):
            group = shards[start : start + fan]
            stem = f"group-{start // fan:06d}"
            files = self._whole_group(stem)
            if files is None:
                files = self._count_group(group, start, before, total)
                if len(shards) > fan:
                    files = self._merge_group(files, stem)
            found += files
            before += sum(shard.token_count for shard in group)
        return found

    def _count_group(self, shards: Sequence[Shard], start: int, before: int, total: int) -> list[str]:
        def shifted(step: Progress) -> None:
            self.progress(replace(step, done=step.done + before, total=total))

        tasks = [
            Task(f"shard {number}", count_shard, (self.job, number, shard), shard.token_count)
            for number, shard in enumerate(shards, start)
        ]
        run = run_tasks(
            tasks, engine=self.engine, progress=shifted, stage="counting", unit="tokens", cancel=self.cancel
        )  # fmt: skip
        return sorted(name for _, names in run for name in names)

    def _whole_group(self, stem: str) -> list[str] | None:
        """Find what an earlier run merged."""
        folder = Path(self.job.folder)
        try:
            files: list[str] = parse_json((folder / f"{stem}.json").read_bytes())["files"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return files if all((folder / name).exists() for name in files) else None

    def _merge_group(self, files: Sequence[str], stem: str) -> list[str]:
        """Merge the parts of a group of shards, and remove them."""
        folder = Path(self.job.folder)
        frame, tasks = self._plan(files, all_words=False)
        merging = [
            Task(f"{stem} {segment.number}", merge_to_part, (self.job, frame, files, segment, stem), weight)
            for segment, weight in tasks
        ]
        made = [receipt for _, receipt in self._run_merges(merging)]
        names = sorted(f"{stem}-{receipt.number:04d}.safetensors" for receipt in made)
        with write_file(folder / f"{stem}.json") as new:
            new.path.write_bytes(dump_json({"files": names}))
        for name in files:
            (folder / name).unlink()
        return names

    def _plan(self, files: Sequence[str], *, all_words: bool) -> tuple[Frame, list[tuple[Any, float]]]:
        summaries = [read_summary(Path(self.job.folder) / name) for name in files]
        frame = Frame.of(summaries, len(self.job.vocabulary.contexts))
        segments = plan_segments(self.job, summaries, frame, all_words=all_words)
        return frame, [(segment, float(len(segment.bounds) - 1)) for segment in segments]

    def _run_merges(self, tasks: list[Task[Merged]]) -> Iterator[tuple[Task[Merged], Merged]]:
        return run_tasks(
            tasks, engine=self.engine, progress=self.progress, stage="merging", unit="steps", cancel=self.cancel
        )

    def merge(self, files: Sequence[str], writer: FolderWriter) -> tuple[Frame, list[Merged]]:
        """Merge all parts into the files of the result."""
        frame, tasks = self._plan(files, all_words=self.job.words)
        merging = []
        for segment, weight in tasks:
            names = tuple(
                writer.fresh_name(name)
                for name in (f"counts-{segment.number:05d}.safetensors", f"items-{segment.number:05d}.parquet")
            )
            merging.append(
                Task(f"segment {segment.number}", merge_to_result, (self.job, frame, files, segment, names), weight)
            )
        made = [receipt for _, receipt in self._run_merges(merging)]
        return frame, sorted(made, key=lambda receipt: receipt.number)


def _commit(job: Job, corpus: Corpus, writer: FolderWriter, frame: Frame, merged: Sequence[Merged], asked: str) -> None:
    """Make the merged files the counts."""
    for receipt in merged:
        for entry in receipt.files:
            writer.add(entry)
    write_frame(writer, job.vocabulary, frame)
    writer.commit(
        {
            "parameters": job.parameters(),
            "fingerprint": asked,
            "fingerprints": {"corpus": corpus.fingerprint, "vocabulary": job.vocabulary.fingerprint},
            "joints": list(frame.joints),
            "tokens": frame.tokens,
            "sentences": frame.sentences,
            "unit": job.context.unit,
            "segments": [receipt.about() for receipt in merged],
        },
        keep=(),
    )
