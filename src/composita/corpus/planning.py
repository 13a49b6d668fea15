"""The plan of an encoding: what the sources are, and which pieces of them go into one task.

Format, encoding, tagset and label scheme are told from the beginning of each source before the work begins. Sources
from one folder with one ending are most likely of one kind, which is told from a few of them; a source whose own
beginning shows another is read as that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from composita.corpus.formats import FORMATS, Format, find_format, guess_format
from composita.corpus.labels import Scheme
from composita.corpus.reading import guess_encoding
from composita.corpus.sources import SEGMENT, Source, find_sources, read_sample, segment_starts
from composita.corpus.tags import Tagset
from composita.store.errors import InputError, UsageError, plural

SAMPLE = 1 << 19
"""Bytes of a source by which the kind of a group is told."""

SAMPLED = 4
"""How many sources of a group tell its kind."""

GLANCE = 1 << 14
"""Bytes of each source that can show that it is of another kind than its group."""

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
    teller = _Teller(format, labels, tags, encoding)
    kinds: dict[Kind, list[Source]] = {}
    for group in _groups(sources):
        for source, kind in zip(group, teller.kinds(group), strict=True):
            kinds.setdefault(kind, []).append(source)
    tasks = [task for number, (kind, members) in enumerate(kinds.items()) for task in _tasks(number, kind, members)]
    counts = tuple(map(len, kinds.values()))
    schemes = {kind.labels: teller.schemes[kind.labels] for kind in kinds}
    tagsets = {kind.tags: teller.tagsets[kind.tags] for kind in kinds}
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


@dataclass(frozen=True)
class _Look:
    """What the beginning of a source shows."""

    form: Format
    encoding: str | None  # None where it can be either
    relations: Counter[str]
    upos: Counter[str]
    xpos: Counter[str]

    @classmethod
    def at(cls, sample: bytes, form: Format) -> _Look:
        """Count relations and tags in the lines that have the columns of the format."""
        rows = [line.rstrip(b"\r").split(b"\t") for line in sample.split(b"\n")]
        rows = [row for row in rows if form.fewest <= len(row) <= len(form.columns)]

        def count(name: str) -> Counter[str]:
            place = form.columns.index(name) if name in form.columns else len(form.columns)
            found = Counter(row[place] for row in rows if place < len(row))
            return Counter({value.decode("utf-8", "replace"): number for value, number in found.items()})

        encoding = None if form.dirty and sample.isascii() else guess_encoding(sample, form)
        return cls(form, encoding, count("relation"), count("upos"), count("xpos"))


class _Teller:
    """Tells of what kind sources are; what is asked for overrules what the text shows."""

    def __init__(self, format: str, labels: str, tags: str, encoding: str) -> None:  # noqa: A002
        self.schemes: dict[str, Scheme] = {}
        self.tagsets: dict[str, Tagset] = {}
        self._form = None if format == "auto" else find_format(format)
        self._encoding = None if encoding == "auto" else encoding
        self._labels = None if labels == "auto" else self._scheme(Scheme.load(labels))
        self._tags = None if tags == "auto" else self._tagset(Tagset.load(tags))

    def kinds(self, group: Sequence[Source]) -> list[Kind]:
        """Tell the kind of each source of a group."""
        chosen = group[:: max(1, len(group) // SAMPLED)][:SAMPLED]
        first = self._look(chosen[0], SAMPLE)
        looks = [first, *(self._look(source, SAMPLE, first.form) for source in chosen[1:])]
        encodings = {look.encoding for look in looks}
        usual = Kind(
            first.form.name,
            self._encoding or ("latin-1" if "latin-1" in encodings else "utf-8"),
            self._labels or self._scheme(_of_all(_scheme_of, looks)),
            self._tags or self._tagset(_of_all(_tagset_of, looks)),
        )
        return [usual] if len(group) == 1 else [self._own(source, usual) for source in group]

    def _own(self, source: Source, usual: Kind) -> Kind:
        """Tell the kind of a source of a group: the usual one, but for what its beginning shows to be different."""
        look = self._look(source, GLANCE, FORMATS[usual.format])
        return Kind(
            look.form.name,
            self._encoding or look.encoding or usual.encoding,
            self._labels or self._scheme(Scheme.guess(look.relations, usual.labels)),
            self._tags or self._tagset(Tagset.guess(look.xpos, look.upos, usual.tags)),
        )

    def _look(self, source: Source, size: int, usual: Format | None = None) -> _Look:
        """Look at the beginning of a source; where it is of no known format, as one of the usual format."""
        sample = read_sample(source, size)
        form = self._form
        if form is None:
            try:
                form = guess_format(sample, source.path)
            except InputError:
                if usual is None:
                    raise
                form = usual
        return _Look.at(sample, form)

    def _scheme(self, scheme: Scheme) -> str:
        self.schemes[scheme.name] = scheme
        return scheme.name

    def _tagset(self, tagset: Tagset) -> str:
        self.tagsets[tagset.name] = tagset
        return tagset.name


T = TypeVar("T", Scheme, Tagset)


def _of_all(tell: Callable[[_Look], T], looks: Sequence[_Look]) -> T:
    """Tell from all looks together, or, where these do not agree, from the first that tells."""
    merged = _Look(
        looks[0].form,
        None,
        *(sum((getattr(look, name) for look in looks), Counter()) for name in ("relations", "upos", "xpos")),
    )
    if not merged.relations:
        # Nothing could be read; which names are noted does not matter, the reader will say what is wrong.
        merged = replace(merged, relations=Counter({"root": 1}), upos=Counter({"X": 1}))
    try:
        return tell(merged)
    except UsageError:
        for look in looks:
            with suppress(UsageError):
                return tell(look)
        raise


def _scheme_of(look: _Look) -> Scheme:
    return Scheme.guess(look.relations)


def _tagset_of(look: _Look) -> Tagset:
    return Tagset.guess(look.xpos, look.upos)


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
