r"""Benchmarks: pairs of phrases that people have rated, read from the files in which they were published.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp(), "mine.tsv")
>>> _ = path.write_text("sentence1\tsentence2\tannotator\trating\n"
...                     "chase-v(cat-n, dog-n)\tfollow-v(cat-n, dog-n)\tann\t6\n"
...                     "chase-v(cat-n, dog-n)\tfollow-v(cat-n, dog-n)\tbob\t4\n")
>>> benchmark = Benchmark.load(path)
>>> benchmark
Benchmark('mine', 1 item, 2 ratings by 2 annotators)
>>> benchmark.items[0].left.display(), benchmark.ratings.means
('dog chase cat', array([5.]))
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from composita.evaluation.agreement import Ratings
from composita.evaluation.formats import AND, Item, is_text, read_lines
from composita.grammar.phrase import Phrase
from composita.store.errors import InputError, NotFoundError, UsageError, plural

LARGEST = 200_000_000
"""Files beyond this many bytes are no benchmarks."""


@dataclass(frozen=True, repr=False)
class Benchmark:
    """Items and how they were rated.

    Parameters
    ----------
    name
        What it is called: as in the registry if the file is known, otherwise as its file.
    kind
        ``pairs``: how alike two phrases are. ``ranking``: which descriptions belong to which term.
    format
        The format of its file.
    items
        The pairs, each once, in the order of the file.
    ratings
        Who rated which how. Empty for a ranking.
    remarks
        What is odd about the file, for whoever wants to know.
    checksum
        The SHA-256 of the file.

    >>> lines = "participant verb noun landmark input hilo", "p1 stray eye roam 7 HIGH", "p2 stray eye roam 5 HIGH"
    >>> Benchmark.from_text(chr(10).join(lines), "mine")
    Benchmark('mine', 1 item, 2 ratings by 2 annotators)

    """

    name: str
    kind: str
    format: str
    items: tuple[Item, ...]
    ratings: Ratings
    remarks: tuple[str, ...] = ()
    checksum: str = ""

    @classmethod
    def load(cls, source: str | Path) -> Benchmark:
        """Read a file, or a benchmark that is kept in the user's data folder, by its name.

        A file that is published is called as the registry has it, one that is kept as it is kept, another by its name.
        """
        from composita.evaluation.registry import known_by_checksum, local_file

        path = Path(source)
        name = path.stem.lower()
        if not path.is_file():
            if isinstance(source, Path) or path.suffix or len(path.parts) > 1:
                raise NotFoundError(f"{source}: there is no such file; expected a benchmark's file or its name")
            path, name = local_file(str(source)), str(source).lower()
        data = _read(path)
        checksum = hashlib.sha256(data).hexdigest()
        known = known_by_checksum(checksum)
        return cls.from_text(_decode(data), known.name if known else name, str(path), checksum)

    @classmethod
    def from_text(cls, text: str, name: str = "benchmark", source: str = "", checksum: str = "") -> Benchmark:
        """Read the text of a file."""
        # Only line feeds end lines: some files end theirs with two carriage returns and a line feed.
        contents = read_lines(text.split("\n"), source or name)
        numbers: dict[tuple[Phrase, Phrase, str], int] = {}
        items: list[Item] = []
        rows = []
        for item, participant, rating in contents.rows:
            key = (item.left, item.right, item.group if contents.format.kind == "ranking" else "")
            if key not in numbers:
                numbers[key] = len(items)
                items.append(item)
            rows.append((numbers[key], participant, rating))
        ranking = contents.format.kind == "ranking"
        ratings = Ratings.of([] if ranking else rows, len(items))
        return cls(
            name, contents.format.kind, contents.format.name, tuple(items), ratings, tuple(_remarks(items, ratings)),
            checksum,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        if self.kind == "ranking":
            return f"Benchmark({self.name!r}, {plural(len(self), 'item')} of {plural(len(self.groups), 'term')})"
        by = f"{plural(len(self.ratings), 'rating')} by {plural(len(self.ratings.participants), 'annotator')}"
        return f"Benchmark({self.name!r}, {plural(len(self), 'item')}, {by if self.ratings.participants else 'means'})"

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of items, such as verbs, in their order."""
        return tuple(dict.fromkeys(item.group for item in self.items if item.group))

    @property
    def words(self) -> tuple[str, ...]:
        """The words that occur, each once, in their order; not those of running text."""
        return tuple(dict.fromkeys(
            word for item in self.items for phrase in (item.left, item.right) if not is_text(phrase)
            for word in _words(phrase)
        ))  # fmt: skip

    @property
    def has_text(self) -> bool:
        """Whether there are sentences that a grammar must read first."""
        return any(is_text(phrase) for item in self.items for phrase in (item.left, item.right))

    def map_phrases(self, change: Callable[[Phrase], Phrase]) -> Benchmark:
        """Change every phrase, such as by other spellings; items stay items, whatever they are like then."""
        items = tuple(replace(item, left=change(item.left), right=change(item.right)) for item in self.items)
        return replace(self, items=items)

    def parsed(self, read: Callable[[str], Phrase | None]) -> Benchmark:
        """Read running text by a function from a sentence to its phrase; what it cannot read stays text."""
        known: dict[str, Phrase] = {}

        def change(phrase: Phrase) -> Phrase:
            if not is_text(phrase):
                return phrase
            if phrase.head not in known:
                known[phrase.head] = read(phrase.head) or phrase
            return known[phrase.head]

        return self.map_phrases(change)

    def select(self, keep: Callable[[Item], bool]) -> Benchmark:
        """Keep some items with their ratings."""
        chosen = [number for number, item in enumerate(self.items) if keep(item)]
        if not chosen:
            raise UsageError(f"{self.name}: no item is left")
        numbers = {old: new for new, old in enumerate(chosen)}
        table = self.ratings.to_arrow().to_pylist()
        rows = [(numbers[row["item"]], row["participant"], row["rating"]) for row in table if row["item"] in numbers]
        return replace(
            self, items=tuple(self.items[number] for number in chosen), ratings=Ratings.of(rows, len(chosen))
        )


def _words(phrase: Phrase) -> Iterator[str]:
    return (word for word in phrase.words() if word != AND)


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path.stat().st_size:,} bytes are too many for a benchmark", source=path)
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _decode(data: bytes) -> str:
    """Read text as UTF-8, or else as Latin-1, in which every byte means something."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _remarks(items: Sequence[Item], ratings: Ratings) -> Iterator[str]:
    """Say what is odd about a file."""
    if not ratings.individual:
        return
    counts: Mapping[float, int] = Counter(ratings.rating.tolist())
    for value, count in sorted(counts.items()):
        if count < 0.001 * len(ratings) and value in (min(counts), max(counts)):
            yield f"{plural(count, 'rating')} of {value:g}, which hardly anybody gave: outside the scale?"
    pairs = Counter(zip(ratings.item.tolist(), ratings.participant.tolist(), strict=True))
    if twice := sum(count - 1 for count in pairs.values() if count > 1):
        yield f"{plural(twice, 'rating')} of an item by somebody who had rated it before"
    per_item = Counter(ratings.item.tolist())
    usual = Counter(per_item.values()).most_common(1)[0][0]
    for number, count in per_item.items():
        if count >= 1.9 * usual:
            yield f"{items[number].name!r} occurs {count} times, usual are {usual}"
