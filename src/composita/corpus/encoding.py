"""Encoding: parsed text in, a folder of shards out, by as many workers as there are, resumable and repeatable.

The work is planned before it begins, from the sizes of the sources alone: a task is a list of pieces of sources that
share a format, a label scheme and a tagset, and makes one shard for about `SEGMENT` bytes of text. The plan lies in
the folder while the work goes on; an interrupted run that is started again with the same sources finds it, keeps the
shards that are whole, and makes the rest. Replacing ``meta.json`` ends it.
"""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from composita.corpus.duplicates import drop_duplicates
from composita.corpus.formats import FORMATS
from composita.corpus.planning import Kind, Piece, Plan, make_plan
from composita.corpus.rawtext import PARSING, parse_for_encoding
from composita.corpus.reading import Drop, Reader
from composita.corpus.shards import read_about, write_shard
from composita.corpus.sources import SEGMENT, Block, count_lines, open_text, sentence_blocks, text_digest
from composita.store.engine import Engine, Task, run_tasks
from composita.store.errors import InputError, StoreError, UsageError, plural
from composita.store.folder import FileEntry, FolderWriter, fingerprint, open_writer, write_file
from composita.store.progress import Cancellation, ProgressCallback, silent
from composita.store.strict_json import dump_json, parse_json

logger = logging.getLogger("composita")

KIND, VERSION = "corpus", 1
PENDING = "pending.json"
TOLERATED = 0.01
"""The share of sentences that may be dropped from a dirty format before encoding stops."""

FULL = 0.9
"""A shard is full with this share of `SEGMENT`: segments end with sentences, and so may be a little shorter."""

SHOWN_DROPS = 5


@dataclass(frozen=True)
class Options:
    """How to encode; see `Corpus.build`."""

    format: str = "auto"
    labels: str = "auto"
    tags: str = "auto"
    encoding: str = "auto"
    on_error: str | None = None
    dedupe: bool = False
    force: bool = False
    restart: bool = False
    parser: str = "udpipe"
    model: str | None = None

    def __post_init__(self) -> None:
        if self.on_error not in (None, "stop", "skip"):
            raise UsageError(f"unknown --on-error {self.on_error!r}: choose stop or skip")
        if self.encoding not in ("auto", "utf-8", "latin-1"):
            raise UsageError(f"unknown encoding {self.encoding!r}: choose auto, utf-8 or latin-1")


@dataclass(frozen=True)
class Receipt:
    """What a worker tells of a shard that it made: the shard's entry, and what the shard says of itself."""

    entry: FileEntry
    about: dict[str, Any]


@dataclass(frozen=True)
class Encoded:
    """What encoding did."""

    sentences: int
    tokens: int
    shards: int
    resumed: int  # shards that an interrupted run had made
    dropped: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)  # a few of the dropped, with file and line
    duplicates: int = 0
    kinds: list[str] = field(default_factory=list)  # what was decided of the sources


def encode(
    sources: Iterable[str | Path],
    out: str | Path,
    options: Options | None = None,
    *,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Encoded:
    """Encode sources into a new corpus, or append them to the one that is there."""
    options = options or Options()
    engine = engine or Engine()
    if options.format != "text":
        plan = _plan(sources, options)
        with open_writer(out, KIND, VERSION, cancel=cancel) as writer:
            return _Encoder(writer, plan, options).run(engine, progress, cancel)
    with open_writer(out, KIND, VERSION, cancel=cancel) as writer:
        parsed = parse_for_encoding(
            sources, writer.path, model=options.model, parser=options.parser, on_error=options.on_error,
            engine=engine, progress=progress, cancel=cancel,
        )  # fmt: skip
        options = replace(options, format="conllu")
        encoded = _Encoder(writer, _plan(parsed, options), options).run(engine, progress, cancel)
        shutil.rmtree(writer.path / PARSING)
        return encoded


def _plan(sources: Iterable[str | Path], options: Options) -> Plan:
    plan = make_plan(sources, options.format, options.labels, options.tags, options.encoding)
    for line in plan.describe():
        logger.info("%s", line)
    return plan


class _Encoder:
    """One run of encoding into a folder that is locked."""

    def __init__(self, writer: FolderWriter, plan: Plan, options: Options) -> None:
        self.writer = writer
        self.plan = plan
        self.options = options
        self.meta: dict[str, Any] = dict(writer.meta or {})
        self.batch = len(self.meta.get("batches", []))
        schemes, tagsets = plan.tables()
        self.schemes = self._joined("label_schemes", schemes)
        self.tagsets = self._joined("tagsets", tagsets)

    def run(self, engine: Engine, progress: ProgressCallback, cancel: Cancellation | None) -> Encoded:
        """Make the shards, check them together, and commit."""
        if self._is_done():
            logger.info("%s holds these sources already", self.writer.path)
            self._forget()
            return self._last_batch()
        before = self._prepare()
        known = {
            segment["sha256"]: f"{segment['source']}, already in the corpus"
            for shard in self.meta.get("shards", [])
            for segment in shard["segments"]
        }
        made: dict[int, list[Receipt]] = {}
        run = run_tasks(
            self._tasks(), engine=engine, progress=progress, stage="encoding", unit="bytes",
            total=sum(task.bytes for task in self.plan.tasks), cancel=cancel,
        )  # fmt: skip
        for task, receipts in run:
            try:
                self._refuse_repeated(receipts, known)
            except UsageError:
                self._forget()
                raise
            made[int(task.key.split()[-1])] = receipts
        shards = [receipt for number in sorted(made) for receipt in made[number]]
        examples = self._check_drops(shards)
        if self.options.dedupe:
            paths = [self.writer.path / shard["file"] for shard in self.meta.get("shards", [])]
            shards = drop_duplicates(paths, shards, self.writer.path, engine, progress, cancel)
        self._commit(shards)
        return _summary(shards, before, examples, self.plan)

    def _is_done(self) -> bool:
        """Whether a run with this plan was stopped after its commit, before it could forget the plan."""
        plan = [fingerprint(task, self.batch - 1, self.options.dedupe) for task in self.plan.identities()]
        return self.batch > 0 and _read_pending(self.writer.path / PENDING) == plan

    def _last_batch(self) -> Encoded:
        """Say what the last commit added."""
        rows = self.meta["shards"][-self.meta["batches"][-1]["shards"] :]
        dropped: Counter[str] = Counter(self.meta["dropped"])
        return Encoded(
            sum(row["sentences"] for row in rows), sum(row["tokens"] for row in rows), len(rows), len(rows),
            dict(dropped.most_common()), [], sum(row["duplicates"] for row in rows), self.plan.describe(),
        )  # fmt: skip

    def _prepare(self) -> int:
        """Find what an interrupted run left, and refuse what does not fit; return how many shards it had made."""
        if self.batch and bool(self.meta["dedupe"]) != self.options.dedupe:
            had = "with" if self.meta["dedupe"] else "without"
            raise UsageError(f"{self.writer.path} was encoded {had} --dedupe: append to it in the same way")
        pending = self.writer.path / PENDING
        before = _read_pending(pending)
        plan = [fingerprint(task, self.batch, self.options.dedupe) for task in self.plan.identities()]
        made: list[Path] = []
        stale: list[Path] = []
        for path in sorted(self.writer.path.glob(f"{_prefix(self.batch)}*.parquet")):
            number = int(path.stem.split("-")[2])
            (made if before[number : number + 1] == plan[number : number + 1] != [] else stale).append(path)
        if stale and before and not self.options.restart:
            raise StoreError(
                f"{self.writer.path} holds {plural(len(stale), 'shard')} of an unfinished encoding of other sources, "
                "files that changed, or other options: run that command again to finish it, or pass --restart to "
                "discard it"
            )
        kept = [] if self.options.restart else made
        self.writer.sweep(keep=[path.name for path in kept])
        with write_file(pending) as new:
            new.path.write_bytes(dump_json(plan))
        return len(kept)

    def _tasks(self) -> Iterator[Task[list[Receipt]]]:
        for number, task in enumerate(self.plan.tasks):
            kind = self.plan.kinds[task.kind]
            stem = f"{_prefix(self.batch)}{number:06d}"
            most = self._most_drops(kind)
            yield Task(
                f"shard {number}", encode_task, (str(self.writer.path), stem, kind, task.pieces, most), task.bytes
            )

    def _most_drops(self, kind: Kind) -> int | None:
        """One drop is too many when reading is to stop at errors."""
        skips = self.options.on_error == "skip" or (self.options.on_error is None and FORMATS[kind.format].dirty)
        return None if skips else 1

    def _refuse_repeated(self, receipts: Sequence[Receipt], known: dict[str, str]) -> None:
        """Refuse text that is in the corpus already, or comes twice in this run."""
        for receipt in receipts:
            for segment in receipt.about["segments"]:
                twin = known.get(segment["sha256"])
                if twin is not None and not self.options.force:
                    raise UsageError(
                        f"{segment['source']} (bytes {segment['start']:,} to {segment['end']:,}) has the same text "
                        f"as {twin}; pass --force to encode it all the same"
                    )
                known[segment["sha256"]] = segment["source"]

    def _forget(self) -> None:
        """Leave the folder as it was before this run."""
        (self.writer.path / PENDING).unlink(missing_ok=True)
        self.writer.sweep()

    def _check_drops(self, shards: Sequence[Receipt]) -> list[str]:
        """Refuse to go on where too much was dropped; return a few examples of what was."""
        examples = _examples(shards)
        dropped = sum(sum(shard.about["dropped"].values()) for shard in shards)
        kept = sum(shard.about["sentences"] for shard in shards)
        if not kept:
            first = f"; the first: {examples[0]}" if examples else ""
            raise InputError(f"no sentence could be read from the sources{first}")
        if self.options.on_error is None and dropped > TOLERATED * (kept + dropped):
            raise InputError(
                f"{dropped:,} of {plural(kept + dropped, 'sentence')} are broken, more than {TOLERATED:.0%}; "
                f"the first: {examples[0]}; pass --on-error skip to go on without them"
            )
        return examples

    def _commit(self, shards: Sequence[Receipt]) -> None:
        """Make the new shards part of the corpus."""
        rows = [*self.meta.get("shards", []), *({"file": s.entry.name, **_kept(s.about)} for s in shards)]
        dropped: Counter[str] = Counter(self.meta.get("dropped", {}))
        for shard in shards:
            dropped.update(shard.about["dropped"])
        reading = [
            [segment["sha256"], *(row[key] for key in ("format", "encoding", "labels", "tags"))]
            for row in rows
            for segment in row["segments"]
        ]
        meta = {
            "batches": [*self.meta.get("batches", []), {"sources": len(self.plan.sources), "shards": len(shards)}],
            "sentences": sum(row["sentences"] for row in rows),
            "tokens": sum(row["tokens"] for row in rows),
            "dropped": dict(sorted(dropped.items())),
            "duplicates": sum(row["duplicates"] for row in rows),
            "dedupe": self.options.dedupe,
            "shards": rows,
            "label_schemes": self.schemes,
            "tagsets": self.tagsets,
            "fingerprint": fingerprint("encode-1", reading, self.schemes, self.tagsets, self.options.dedupe),
        }
        for shard in shards:
            self.writer.add(shard.entry)
        self.writer.commit(meta)
        self._forget()

    def _joined(self, key: str, tables: dict[str, Any]) -> dict[str, Any]:
        """Join the tables in use with those of the corpus; a name can mean one table only."""
        known: dict[str, Any] = self.meta.get(key, {})
        for name in tables.keys() & known.keys():
            if tables[name] != known[name]:
                raise UsageError(f"{self.writer.path} has another table named {name!r}: give yours another name")
        return {**known, **tables}


def _read_pending(path: Path) -> list[str]:
    """Read what the tasks of an unfinished run were."""
    try:
        found = parse_json(path.read_bytes())
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _prefix(batch: int) -> str:
    return f"tokens-{batch:03d}-"


def _kept(about: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in about.items() if key not in ("drops", "dropped")}


def _summary(shards: Sequence[Receipt], resumed: int, examples: list[str], plan: Plan) -> Encoded:
    dropped: Counter[str] = Counter()
    for shard in shards:
        dropped.update(shard.about["dropped"])
    return Encoded(
        sentences=sum(shard.about["sentences"] for shard in shards),
        tokens=sum(shard.about["tokens"] for shard in shards),
        shards=len(shards),
        resumed=resumed,
        dropped=dict(dropped.most_common()),
        examples=examples,
        duplicates=sum(shard.about["duplicates"] for shard in shards),
        kinds=plan.describe(),
    )


def _examples(shards: Sequence[Receipt]) -> list[str]:
    """Name file, line and reason of the first few drops; the lines of a file go on from segment to segment."""
    found = []
    lines = 0
    for shard in shards:
        for number, segment in enumerate(shard.about["segments"]):
            lines = 0 if segment["first"] else lines
            found += [
                f"{segment['source']}:{lines + line}: {reason}"
                for place, line, reason in shard.about["drops"]
                if place == number
            ]
            lines += segment["lines"]
    return found[:SHOWN_DROPS]


# ---------------------------------------------------------------- inside a task


def encode_task(folder: str, stem: str, kind: Kind, pieces: Sequence[Piece], most_drops: int | None) -> list[Receipt]:
    """Encode pieces of sources into shards ``stem-0.parquet``, ``stem-1.parquet``, ... and return their receipts."""
    receipts: list[Receipt] = []
    shard: _Shard | None = None
    for piece in pieces:
        lines = 0  # of this piece in segments that are read
        with open_text(piece.source, piece.start, piece.end) as stream:
            for number, blocks in groupby(sentence_blocks(stream, FORMATS[kind.format]), key=_segment_of):
                shard = shard or _Shard(Path(folder, f"{stem}-{len(receipts)}.parquet"), kind, most_drops)
                lines += shard.take(piece, blocks, number == 0, lines)
                if shard.bytes >= FULL * SEGMENT:
                    receipts.append(shard.finish())
                    shard = None
    if shard is not None:
        receipts.append(shard.finish())
    return receipts


def _segment_of(block: Block) -> int:
    return block.segment


class _Shard:
    """A shard in the making; where the file is there already, only the text is passed over."""

    def __init__(self, path: Path, kind: Kind, most_drops: int | None) -> None:
        self.path = path
        self.kind = kind
        self.bytes = 0
        self.about = read_about(path)
        self.segments: list[dict[str, Any]] = []
        self.drops: list[tuple[int, Drop]] = []  # the first of them
        self.reasons: Counter[str] = Counter()
        self.form = FORMATS[kind.format]
        self.reader = Reader(self.form, kind.encoding, most_drops)

    def take(self, piece: Piece, blocks: Iterable[Block], first: bool, earlier: int) -> int:
        """Read one segment of text and return its lines; ``earlier`` are the lines of the piece before it."""
        if self.about is not None:
            self.bytes += sum(len(block.data) for block in blocks)
            self.segments.append(self.about["segments"][len(self.segments)])
            return int(self.segments[-1]["lines"])
        digest = text_digest()
        start = end = -1
        self.reader.start_lines()
        for block in blocks:
            start = block.start if start < 0 else start
            end = block.start + len(block.data)
            digest.update(block.data)
            if block.endless:
                self.reader.pass_over(block.lines)
            else:
                self.reader.feed(block.data)
            if self.reader.stopped:
                self._stop(piece, earlier)
            self._count_drops()
        self.bytes += end - start
        lines = self.reader.lines
        self.segments.append({
            "source": piece.source.name, "first": first, "start": start, "end": end, "lines": lines,
            "sha256": digest.hexdigest(),
        })  # fmt: skip
        return lines

    def _count_drops(self) -> None:
        """Count what was dropped, and keep a few examples: a file of nothing but broken sentences has millions."""
        drops, self.reader.drops = self.reader.drops, []
        self.reasons.update(drop.reason for drop in drops)
        self.drops += [(len(self.segments), drop) for drop in drops[: SHOWN_DROPS - len(self.drops)]]

    def _stop(self, piece: Piece, earlier: int) -> None:
        """Raise the error of the first drop, with its line counted from the beginning of the file."""
        drop = self.reader.drops[0]
        before = count_lines(piece.source, piece.start) if piece.start else 0
        raise InputError(drop.describe(self.form), source=piece.source.path, line=before + earlier + drop.line)

    def finish(self) -> Receipt:
        """Write the shard, unless it is there, and say what is in it."""
        if self.about is not None:
            return Receipt(_entry_of(self.path), self.about)
        tokens = self.reader.tokens()
        self.about = {
            **asdict(self.kind),
            "sentences": tokens.sentences,
            "tokens": len(tokens),
            "segments": self.segments,
            "dropped": dict(sorted(self.reasons.items())),
            "drops": [[i, drop.line, drop.describe(self.form)] for i, drop in self.drops],
            "duplicates": 0,
        }
        with write_file(self.path) as new:
            write_shard(new.path, tokens, self.about)
        return Receipt(new.entry, self.about)


def _entry_of(path: Path) -> FileEntry:
    """Describe a shard that an earlier run had finished."""
    digest = text_digest()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return FileEntry(path.name, path.stat().st_size, digest.hexdigest())
