"""The plan of an encoding: what the sources are, and which pieces of them go into one task.

Sources from one folder with one ending are taken to be of one kind; format, encoding, tagset and label scheme are
told from the beginnings of a few of them, once, before the work begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from composita.corpus.formats import FORMATS, find_format, guess_format
from composita.corpus.labels import Scheme
from composita.corpus.reading import Reader, guess_encoding
from composita.corpus.sources import SEGMENT, Source, find_sources, read_sample, segment_starts
from composita.corpus.tags import Tagset
from composita.store.errors import InputError, plural

SAMPLE = 1 << 19
"""Bytes of a source by which its kind is told."""

SAMPLED = 4
"""How many sources of a group are looked at."""

EXPANSION = 8
"""How many bytes of text a byte of a compressed file is taken to hold, when small files are put together."""

_COMPRESSED = frozenset({".gz", ".bz2", ".xz", ".zst"})


@dataclass(frozen=True)
class Kind:
    """What sources are, and how they are to be read."""

    format: str
    encoding: str
    labels: str
    tags: str


@dataclass(frozen=True)
class Piece:
    """A part of a source: all of it, or the bytes from ``start`` to ``end`` of a plain file."""

    source: Source
    start: int = 0
    end: int | None = None


@dataclass(frozen=True)
class PlannedTask:
    """Pieces of one kind that are encoded together."""

    kind: int
    pieces: tuple[Piece, ...]
    bytes: int  # on disk


@dataclass(frozen=True)
class Plan:
    """What is to be done, decided before it begins."""

    sources: tuple[Source, ...]
    kinds: tuple[Kind, ...]
    tasks: tuple[PlannedTask, ...]
    schemes: dict[str, Scheme]
    tagsets: dict[str, Tagset]
    counts: tuple[int, ...]  # sources of each kind

    def describe(self) -> list[str]:
        """Say what was decided of the sources, a line a kind."""
        return [
            f"{plural(count, 'source')}: format {kind.format}, encoding {kind.encoding}, "
            f"tags {kind.tags}, labels {kind.labels}"
            for kind, count in zip(self.kinds, self.counts, strict=True)
        ]

    def tables(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the label schemes and tagsets in use, as plain tables, to be kept with the corpus."""
        return (
            {name: scheme.to_table() for name, scheme in self.schemes.items()},
            {name: tagset.to_table() for name, tagset in self.tagsets.items()},
        )

    def identities(self) -> list[Any]:
        """Describe each task, so that a later run can tell whether it is the same."""
        tables = list(self.tables())
        return [
            [asdict(self.kinds[task.kind]), tables, [
                [piece.source.path, piece.source.size, piece.source.changed, piece.start, piece.end]
                for piece in task.pieces
            ]]
            for task in self.tasks
        ]  # fmt: skip


def make_plan(
    patterns: Iterable[str | Path],
    format: str,  # noqa: A002 - the word for it
    labels: str,
    tags: str,
    encoding: str,
) -> Plan:
    """Look at the sources and plan their encoding."""
    sources = find_sources(patterns)
    for source in sources:
        if source.size == 0 and source.path != "-":
            raise InputError("the file is empty", source=source.path)
    schemes: dict[str, Scheme] = {}
    tagsets: dict[str, Tagset] = {}
    kinds: dict[Kind, list[Source]] = {}
    for group in _groups(sources):
        kind = _kind_of(group, format, labels, tags, encoding, schemes, tagsets)
        kinds.setdefault(kind, []).extend(group)
    tasks = [task for number, (kind, members) in enumerate(kinds.items()) for task in _tasks(number, kind, members)]
    counts = tuple(map(len, kinds.values()))
    return Plan(tuple(sources), tuple(kinds), tuple(tasks), schemes, tagsets, counts)


def _groups(sources: Iterable[Source]) -> list[list[Source]]:
    """Put sources of one folder and one ending together."""
    groups: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        path = Path(source.path)
        if path.suffix in _COMPRESSED:
            path = path.with_suffix("")
        groups.setdefault((str(path.parent), path.suffix), []).append(source)
    return list(groups.values())


def _kind_of(
    group: Sequence[Source], format: str, labels: str, tags: str, encoding: str,  # noqa: A002
    schemes: dict[str, Scheme], tagsets: dict[str, Tagset],
) -> Kind:  # fmt: skip
    """Tell what the sources of a group are, and load their tables."""
    samples = [
        (source.path, read_sample(source, SAMPLE)) for source in group[:: max(1, len(group) // SAMPLED)][:SAMPLED]
    ]
    path, sample = samples[0]
    form = guess_format(sample, path) if format == "auto" else find_format(format)
    if encoding == "auto":
        found = {guess_encoding(sample, form) for _, sample in samples}
        encoding = "latin-1" if "latin-1" in found else "utf-8"
    relations: Counter[str] = Counter()
    upos: Counter[str] = Counter()
    xpos: Counter[str] = Counter()
    for _, sample in samples:
        reader = Reader(form, encoding)
        whole = max((match.end() for match in form.boundary.finditer(sample)), default=len(sample))
        reader.feed(sample[:whole])
        tokens = reader.tokens()
        for counter, column in ((relations, tokens.relation), (upos, tokens.upos), (xpos, tokens.xpos)):
            counter.update(column.strings())
    if not relations:
        # Nothing could be read; which names are noted does not matter, the reader will say what is wrong.
        relations, upos = Counter({"root": 1}), Counter({"X": 1})
    scheme = Scheme.guess(relations) if labels == "auto" else Scheme.load(labels)
    tagset = Tagset.guess(xpos, upos) if tags == "auto" else Tagset.load(tags)
    schemes[scheme.name], tagsets[tagset.name] = scheme, tagset
    return Kind(form.name, encoding, scheme.name, tagset.name)


def _tasks(number: int, kind: Kind, sources: Iterable[Source]) -> Iterable[PlannedTask]:
    """Cut large plain files into pieces, and put small files together until they make a shard."""
    small: list[Piece] = []
    small_bytes = 0
    for source in sources:
        estimate = source.size if source.splits else source.size * EXPANSION
        if small and small_bytes + estimate > SEGMENT:
            yield PlannedTask(number, tuple(small), sum(piece.source.size for piece in small))
            small, small_bytes = [], 0
        if source.splits and source.size > SEGMENT:
            starts = segment_starts(source, FORMATS[kind.format])
            for start, end in zip(starts, [*starts[1:], source.size], strict=True):
                yield PlannedTask(number, (Piece(source, start, end),), end - start)
        else:
            small.append(Piece(source))
            small_bytes += estimate
    if small:
        yield PlannedTask(number, tuple(small), sum(piece.source.size for piece in small))
