"""A lexicon: what each word is, a vector or a function, and what its functions were learned from.

A verb may be several functions: *kids sing* applies one of arity 1, *kids sing songs* another of arity 2. Each is known
by its word and its pattern; by word and arity the one that takes a subject is meant where there are two.

A lexicon is a folder that needs nothing else: it holds the vectors of all words of its space, the functions, and the
examples they were learned from. Functions are read when they are asked for.

>>> import numpy as np
>>> lexicon = Lexicon.from_vectors({"dog-n": np.array([3.0, 4.0]), "cat-n": np.array([1.0, 0.0])})
>>> lexicon
Lexicon(2 words, 0 functions)
>>> lexicon.vector("dog-n"), lexicon.argument("dog-n")
(array([3., 4.]), array([0.6, 0.8]))
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from composita.counting.words import suggest
from composita.functions.examples import Examples
from composita.functions.function import Function
from composita.functions.pools import pool, unpool
from composita.functions.training import Training
from composita.store.arrays import read_arrays, write_arrays
from composita.store.errors import CorruptError, NotFoundError, UsageError
from composita.store.folder import Folder, FolderWriter, fingerprint, open_writer
from composita.store.tables import read_table, write_table

if TYPE_CHECKING:
    from composita.spaces.space import Space

KIND, VERSION = "lexicon", 1
KEPT = 256
"""How many functions stay in memory once they were asked for."""
_loading = threading.RLock()

ANY = "*"
"""What stands for the word of a shared function."""
NOMINAL = ("an", "nn")
"""Patterns whose phrases are nouns."""

Array = npt.NDArray[Any]
Int64Array = npt.NDArray[np.int64]


class Entry(NamedTuple):
    """One function of a lexicon: what it is called, and where its arrays and its examples lie."""

    word: str
    pattern: str
    arity: int
    chunk: int
    place: int
    first: int
    last: int


@dataclass(frozen=True)
class Chunk:
    """Functions of one pattern that lie together, with their examples, all in pooled arrays."""

    pattern: str
    names: tuple[str, ...]
    functions: Mapping[str, Array]
    examples: Mapping[str, Array]
    places: tuple[Mapping[str, Sequence[int]], ...]
    reports: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class ChunkFiles:
    """Where a chunk lies on disk."""

    pattern: str
    names: tuple[str, ...]
    functions: Path
    examples: Path
    reports: Path

    @cached_property
    def chunk(self) -> Chunk:
        """The chunk itself, its arrays mapped."""
        table = read_table(self.reports, ["places", "report"]).to_pydict()
        return Chunk(
            self.pattern, self.names, read_arrays(self.functions), read_arrays(self.examples),
            tuple(json.loads(text) for text in table["places"]), tuple(json.loads(text) for text in table["report"]),
        )  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False)
class Lexicon:
    """Words with their vectors, and the functions learned for some of them.

    Parameters
    ----------
    words, vectors
        What has a vector, and the vectors as they are in the space: (V, d), dense or sparse.
    entries
        The functions.
    chunks
        Where their arrays are.
    normalise
        Whether arguments are brought to length 1 before a function is applied.
    parameters
        How the functions were learned.
    forms
        Which words the forms of a text can be (form, label, count), or None.
    origin
        The space: its ``fingerprint``, ``history`` and ``path`` where these are known.

    >>> lexicon = Lexicon.from_vectors({"dog-n": np.array([0.0, 3.0]), "bark-v": np.array([1.0, 0.0])})
    >>> lexicon, "dog-n" in lexicon, lexicon.argument("dog-n")
    (Lexicon(2 words, 0 functions), True, array([0., 1.]))

    """

    words: tuple[str, ...]
    vectors: Any
    frequency: Int64Array
    entries: tuple[Entry, ...] = ()
    chunks: tuple[Any, ...] = ()
    normalise: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)
    forms: pa.Table | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    loaded_space: Any = None

    # ------------------------------------------------------------ making, opening and saving

    @classmethod
    def from_vectors(cls, vectors: Mapping[str, Array], *, normalise: bool = True) -> Lexicon:
        """Make a lexicon without functions of a dictionary of vectors."""
        words = tuple(vectors)
        return cls(words, np.array([vectors[w] for w in words]), np.zeros(len(words), np.int64), normalise=normalise)

    @classmethod
    def from_space(cls, space: Space, *, normalise: bool = True) -> Lexicon:
        """Make a lexicon without functions, for methods that need none; the space may be sparse."""
        words, rows = words_of(space)
        vectors = space.matrix if space.is_sparse else space.array
        return cls(
            words, vectors[rows], np.asarray(space.frequency)[rows], normalise=normalise, forms=space.forms,
            origin=origin_of(space), loaded_space=space,
        )  # fmt: skip

    @classmethod
    def open(cls, path: str | Path) -> Lexicon:
        """Open a saved lexicon; vectors and functions stay in their files until they are used."""
        folder = Folder.open(path, KIND, VERSION)
        try:
            return _read(folder)
        except (KeyError, TypeError, ValueError, IndexError, pa.ArrowException) as error:
            raise CorruptError(f"{folder.path}: not a lexicon that can be read: {error}; learn again") from None

    def save(self, path: str | Path) -> None:
        """Write the lexicon to a folder."""
        with open_writer(path, KIND, VERSION) as writer:
            about = []
            for number, source in enumerate(self.chunks):
                chunk = source.chunk if isinstance(source, ChunkFiles) else source
                names = []
                for name, write in chunk_writers(chunk, number):
                    with writer.new_file(name) as new:
                        write(new.path)
                    names.append(new.entry.name)
                about.append(chunk_about(chunk.pattern, chunk.names, names))
            write_frame(writer, self)
            writer.commit({**self.about(), "chunks": about}, keep=())
            writer.sweep()

    def about(self) -> dict[str, Any]:
        """Give what ``meta.json`` says of the lexicon, all but its files."""
        return {
            "parameters": dict(self.parameters), "normalise": self.normalise, "origin": dict(self.origin),
            "fingerprint": self.fingerprint, "fingerprints": {"space": self.origin.get("fingerprint")},
        }  # fmt: skip

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the space and of how the functions were learned."""
        names = [[entry.word, entry.pattern, entry.last - entry.first] for entry in self.entries]
        space = self.origin.get("fingerprint") or [list(self.words), np.asarray(self._dense_head()).tolist()]
        return fingerprint("lexicon-1", space, dict(self.parameters), self.normalise, names)

    def _dense_head(self) -> Array:
        some = self.vectors[: min(len(self.words), 8)]
        dense: Array = some.toarray() if self.is_sparse else np.asarray(some)
        return dense

    def __getstate__(self) -> dict[str, Any]:
        """Give what travels to another process: not the space, nor what was kept because it was asked for before."""
        return {part.name: getattr(self, part.name) for part in fields(self)} | {"loaded_space": None}

    def in_memory(self) -> Lexicon:
        """Copy all arrays into memory, so that the folder can go."""
        return replace(
            self, path=None, vectors=self.vectors if self.is_sparse else np.array(self.vectors),
            chunks=tuple(_copied(c.chunk if isinstance(c, ChunkFiles) else c) for c in self.chunks),
        )  # fmt: skip

    # ------------------------------------------------------------ words

    @property
    def is_sparse(self) -> bool:
        """Whether the vectors of words are sparse."""
        return not isinstance(self.vectors, np.ndarray)

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(self.vectors.shape[1])

    @cached_property
    def ids(self) -> dict[str, int]:
        """The row of each word that has a vector."""
        return {word: row for row, word in enumerate(self.words)}

    def find(self, word: str) -> int:
        """Give the row of a word, or suggest others."""
        if (row := self.ids.get(word)) is None:
            raise UsageError(f"{word!r} has no vector in this lexicon{suggest(word, self.words)}")
        return row

    def vector(self, word: str) -> Array:
        """Give the vector of a word as it is in the space."""
        found: Array = self.vectors_of([word])[0]
        return found

    def vectors_of(self, words: Iterable[str]) -> Array:
        """Give the vectors of words, one a row; those of a sparse space are made dense."""
        found = self.vectors[np.array([self.find(word) for word in words], np.int64)]
        dense: Array = found.toarray() if self.is_sparse else np.asarray(found)
        return dense

    def argument(self, word: str | Array) -> Array:
        """Give the vector of a word, or a composed vector, as the functions take it: of length 1 if they do so."""
        found: Array = self.arguments([word] if isinstance(word, str) else np.asarray(word)[None])[0]
        return found

    def arguments(self, words: Sequence[str] | Array) -> Array:
        """Give the vectors of words, or composed vectors, one a row, as the functions take them."""
        rows = words if isinstance(words, np.ndarray) else self.vectors_of(words)
        return unit_rows(rows) if self.normalise else rows

    @cached_property
    def prepared(self) -> Array:
        """The vectors of all words as the functions take them."""
        rows = self.vectors.toarray() if self.is_sparse else np.asarray(self.vectors)
        return unit_rows(rows) if self.normalise else rows

    # ------------------------------------------------------------ functions

    def __len__(self) -> int:
        return sum(entry.word != ANY for entry in self.entries)

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of which there are functions."""
        return tuple(sorted({entry.pattern for entry in self.entries}))

    @cached_property
    def _numbers(self) -> dict[tuple[str, str], int]:
        return {(entry.word, entry.pattern): number for number, entry in enumerate(self.entries)}

    @cached_property
    def _by_arity(self) -> dict[tuple[str, int], int]:
        """The function of a word and arity: of several the one whose last argument is a subject, as in ``sv``."""
        found: dict[tuple[str, int], int] = {}
        for number, entry in enumerate(self.entries):
            key = (entry.word, entry.arity)
            if key not in found or _preferred(entry.pattern) < _preferred(self.entries[found[key]].pattern):
                found[key] = number
        return found

    def __contains__(self, key: object) -> bool:
        """Whether there is a function ``(word, arity)`` or ``(word, pattern)``, or a vector of a word."""
        if isinstance(key, str):
            return key in self.ids
        return key in self._by_arity or key in self._numbers

    def entry(self, word: str, arity: int | str | None = None) -> int:
        """Give the number of the function of a word, by arity or by pattern; or say which there are."""
        if arity is None:
            found = [number for number, entry in enumerate(self.entries) if entry.word == word]
            if len(found) == 1:
                return found[0]
        else:
            number = self._numbers.get((word, arity)) if isinstance(arity, str) else self._by_arity.get((word, arity))
            if number is not None:
                return number
        others = [entry for entry in self.entries if entry.word == word]
        if others:
            have = ", ".join(f"{entry.pattern} (arity {entry.arity})" for entry in others)
            raise UsageError(f"{word!r} has the functions {have}: say which, by its arity or its pattern")
        near = suggest(word, self.heads())
        raise UsageError(f"{word!r} has no function in this lexicon{near}")

    def function(self, word: str, arity: int | str | None = None) -> Function:
        """Give the function of a word, by its arity or its pattern, which can be left out where it has only one."""
        return self._load(self.entry(word, arity))

    @cached_property
    def cache(self) -> dict[str, Any]:
        """What others found out about the lexicon and want to keep as long as it lives."""
        return {}

    @cached_property
    def _kept(self) -> dict[int, Function]:
        return {}

    def _load(self, number: int) -> Function:
        """Read a function, or give it again; the one that was not asked for longest is forgotten."""
        with _loading:
            found = self._kept.pop(number, None) or self._read_function(number)
            self._kept[number] = found
            if len(self._kept) > KEPT:
                self._kept.pop(next(iter(self._kept)), None)
            return found

    def _chunk(self, number: int) -> Chunk:
        source = self.chunks[number]
        chunk: Chunk = source.chunk if isinstance(source, ChunkFiles) else source
        return chunk

    def _read_function(self, number: int) -> Function:
        entry = self.entries[number]
        chunk = self._chunk(entry.chunk)
        arrays = unpool(chunk.functions, chunk.places[entry.place])
        part = slice(entry.first, entry.last)
        report = chunk.reports[entry.place]
        used, borrowed = arrays.pop("examples"), arrays.pop("borrowed", None)
        function = Function.from_arrays(
            arrays, vectors=[self.prepared] * entry.arity, outputs=chunk.examples["outputs"][part], names=chunk.names,
            types=types_of(entry.pattern, entry.arity), training=Training.from_dict(report["training"]),
            labels=Labels(entry.word, self.words, chunk.examples["ids"][part], used, borrowed),
        )  # fmt: skip
        leaning = report.get("leaning", {})
        if leaning.get("towards") != "shared" or not leaning["strength"]:
            return function
        return leaned(function, self.shared(entry.pattern, entry.word), leaning["strength"])

    def shared(self, pattern: str, word: str | Array | None = None) -> Function:
        """Give the function that all words of a pattern share, applied to a word, so that it has the others' arity.

        Without a word it is the function whose first argument is the word.
        """
        if (ANY, pattern) not in self._numbers:
            raise UsageError(f"no shared function of the pattern {pattern!r} was learned: learn with shared='additive'")
        function = self._load(self._numbers[ANY, pattern])
        if word is None:
            return function
        vector = self.argument(own_word(word, self.ids)) if isinstance(word, str) else self.argument(word)
        applied: Function = function(vector)
        return applied

    def arities(self, word: str) -> tuple[int, ...]:
        """Give the arities that a word has functions of."""
        return tuple(sorted({entry.arity for entry in self.entries if entry.word == word}))

    def heads(self, arity: int | str | None = None) -> list[str]:
        """Give the words that have functions: of any, of an arity, or of a pattern."""
        wanted = (
            entry.word
            for entry in self.entries
            if entry.word != ANY
            and (arity is None or (entry.pattern if isinstance(arity, str) else entry.arity) == arity)
        )
        return list(dict.fromkeys(wanted))

    def examples(self, word: str, pattern: int | str | None = None) -> Examples:
        """Give the examples that the function of a word was learned from."""
        entry = self.entries[self.entry(word, pattern)]
        chunk = self._chunk(entry.chunk)
        part = {name: array[entry.first : entry.last] for name, array in chunk.examples.items()}
        return make_examples(self.prepared, part, chunk.names, Labels(entry.word, self.words, part["ids"]))

    def attested(self, pattern: int | str, head: str) -> Int64Array:
        """Give the rows that the examples of a head have in the space."""
        entry = self.entries[self.entry(head, pattern)]
        rows: Int64Array = self._chunk(entry.chunk).examples["rows"][entry.first : entry.last]
        return rows

    def report(self, word: str, arity: int | str | None = None) -> dict[str, Any]:
        """Give what is known of the training of a function."""
        entry = self.entries[self.entry(word, arity)]
        return dict(self._chunk(entry.chunk).reports[entry.place])

    def reports(self) -> list[dict[str, Any]]:
        """Give what is known of the training of every function, with its word and pattern."""
        return [
            {"word": entry.word, "pattern": entry.pattern, "arity": entry.arity}
            | dict(self._chunk(entry.chunk).reports[entry.place])
            for entry in self.entries
            if entry.word != ANY
        ]

    def nearest(
        self,
        function: str | Function,
        n: int = 10,
        *,
        arity: int | str | None = None,
        words: Collection[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Give the words whose functions are nearest by the angle between tensors, from their Gram matrices.

        Parameters
        ----------
        function
            A word, or any function, such as ``lexicon.function("eat-v", 2)(lexicon.argument("meat-n"))``, which is
            compared with all others of the type N -> S.
        n
            How many.
        arity
            Of which of the word's functions; and for a function, which ones it is compared with: by default those of
            its type, or those of a pattern.
        words
            Compare with these only.

        """
        own = function if isinstance(function, str) else None
        asked = self.function(function, arity) if isinstance(function, str) else function
        pattern = arity if isinstance(arity, str) else None
        if pattern is None and own is not None:
            pattern = self.entries[self.entry(own, arity)].pattern
        found: dict[str, float] = {}
        for number, entry in enumerate(self.entries):
            same = " -> ".join(types_of(entry.pattern, entry.arity)) == asked.type
            alike = entry.pattern == pattern if pattern else same
            if entry.word in (own, ANY) or not alike or (words is not None and entry.word not in words):
                continue
            cosine = asked.cosine(self._load(number))
            found[entry.word] = max(cosine, found.get(entry.word, -1.0))
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:n]

    @cached_property
    def space(self) -> Space:
        """The space that the lexicon was learned in, with all its phrases, where it is still at its place."""
        if self.loaded_space is not None:
            found: Space = self.loaded_space
            return found
        from composita.spaces.space import Space

        path = self.origin.get("path")
        if path is None:
            raise NotFoundError("this lexicon was learned in a space that was never saved: save it, and learn again")
        place = _found_place(Path(path), self.path)
        space = Space.open(place)
        if space.fingerprint != self.origin.get("fingerprint"):
            raise NotFoundError(f"{place} is no more the space that this lexicon was learned in: learn again")
        return space

    def __repr__(self) -> str:
        sizes = [f"{len(self.heads(pattern)):,} {pattern}" for pattern in self.patterns]
        inside = f": {', '.join(sizes)}" if sizes else ""
        return f"Lexicon({len(self.words):,} words, {len(self):,} functions{inside})"


class Labels(Sequence[str]):
    """The labels of the examples that a function was learned from, written when they are asked for.

    ``used`` numbers them among a word's own examples, or from -1 downwards among those ``borrowed``, whose first column
    is the word that they are of.

    >>> Labels("chase-v", ("cat-n", "dog-n"), np.array([[0, 1], [1, 1]]))[0]
    'chase-v(cat-n, dog-n)'
    """

    def __init__(
        self, head: str, words: Sequence[str], ids: Array, used: Array | None = None, borrowed: Array | None = None
    ) -> None:
        self.head, self.words, self.ids, self.borrowed = head, words, ids, borrowed
        self.used = np.arange(len(ids)) if used is None else used

    def __len__(self) -> int:
        return len(self.used)

    def __getitem__(self, number: Any) -> Any:  # noqa: ANN401 - a number and a label, or a slice and labels
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        place = int(self.used[number])
        if place >= 0 or self.borrowed is None:
            head, ids = self.head, self.ids[place].tolist()
        else:
            first, *ids = self.borrowed[-1 - place].tolist()
            head = self.words[first]
        return f"{head}({', '.join(self.words[i] for i in ids)})"


def own_word(head: str, words: Collection[str]) -> str:
    """Give the word whose vector stands for a head: itself, or without what is joined, ``live-v`` for ``live_in-v``.

    >>> own_word("live_in-v", {"live-v"}), own_word("give_up-v", {"give_up-v"})
    ('live-v', 'give_up-v')
    """
    lemma, joint, _ = head[:-2].partition("_")
    return f"{lemma}{head[-2:]}" if head not in words and joint else head


def types_of(pattern: str, arity: int) -> tuple[str, ...]:
    """Give the types of the arguments of a pattern, and of its result: a noun where a word modifies one.

    >>> types_of("svo", 2), types_of("an", 1)
    (('N', 'N', 'S'), ('N', 'N'))
    """
    return (*["N"] * arity, "N" if pattern in NOMINAL else "S")


def leaned(function: Function, prior: Function, strength: float) -> Function:
    """Add up what a word has of its own and what it has of others."""
    if not strength:
        return function
    return replace(function + strength * prior, training=function.training, parts=((1.0, function), (strength, prior)))


def unit_rows(rows: Array) -> Array:
    """Bring each row to length 1; rows of zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    lengths = np.sqrt(np.einsum("...i,...i->...", rows, rows, dtype=np.float64))[..., None]
    scaled: Array = (rows / np.where(lengths > 0, lengths, 1)).astype(rows.dtype, copy=False)
    return scaled


def make_examples(
    vectors: Array, part: Mapping[str, Array], names: Sequence[str], labels: Sequence[str] | None = None
) -> Examples:
    """Make examples of a part of a chunk's arrays."""
    return Examples.from_arrays(
        tuple(vectors for _ in names), part["ids"], part["outputs"], weights=part.get("weights"),
        frequency=part["frequency"], names=tuple(names), labels=labels,
    )  # fmt: skip


def words_of(space: Space) -> tuple[tuple[str, ...], Int64Array]:
    """Give the words of a space that have rows, and their rows."""
    rows = np.asarray(space.word_rows, np.int64)
    held = np.flatnonzero(rows >= 0)
    return tuple(space.words[i] for i in held.tolist()), rows[held]


def origin_of(space: Space) -> dict[str, Any]:
    """Say which space it is."""
    path = getattr(space, "path", None)
    return {
        "fingerprint": space.fingerprint, "path": None if path is None else str(Path(path).absolute()),
        "history": json.loads(json.dumps(space.history, default=str)),
    }  # fmt: skip


def _found_place(path: Path, beside: Path | None) -> Path:
    """Look for the space where it was, or beside the lexicon under the same name."""
    if not path.exists() and beside is not None and (beside.parent / path.name).exists():
        return beside.parent / path.name
    return path


def _preferred(pattern: str) -> tuple[bool, bool, str]:
    return pattern != "an", not pattern.startswith("sv"), pattern


# ---------------------------------------------------------------- files


def chunk_writers(chunk: Chunk, number: int) -> list[tuple[str, Any]]:
    """Give the names of a chunk's files, and what writes each to a path."""
    columns = {
        "places": [json.dumps(places, sort_keys=True) for places in chunk.places],
        "report": [json.dumps(report, sort_keys=True, ensure_ascii=False) for report in chunk.reports],
    }
    return [
        (f"functions-{number:05d}.safetensors", lambda path: write_arrays(path, chunk.functions)),
        (f"examples-{number:05d}.safetensors", lambda path: write_arrays(path, chunk.examples)),
        (f"reports-{number:05d}.parquet", lambda path: write_table(path, columns)),
    ]


def chunk_about(pattern: str, names: Sequence[str], files: Sequence[str]) -> dict[str, Any]:
    """Give what ``meta.json`` says of a chunk."""
    functions, examples, reports = files
    return {
        "pattern": pattern,
        "arguments": list(names),
        "functions": functions,
        "examples": examples,
        "reports": reports,
    }


def write_frame(writer: FolderWriter, lexicon: Lexicon) -> None:
    """Write words, vectors, the list of functions and the forms."""
    with writer.new_file("words.parquet") as new:
        write_table(new.path, {"label": list(lexicon.words), "frequency": np.asarray(lexicon.frequency, np.int64)})
    with writer.new_file("words.safetensors") as new:
        write_arrays(new.path, _vector_arrays(lexicon.vectors))
    entries = lexicon.entries
    with writer.new_file("functions.parquet") as new:
        columns: dict[str, Any] = {name: [getattr(entry, name) for entry in entries] for name in Entry._fields[:2]}
        columns |= {name: np.array([getattr(e, name) for e in entries], np.int64) for name in Entry._fields[2:]}
        write_table(new.path, columns)
    if lexicon.forms is not None:
        with writer.new_file("forms.parquet") as new:
            write_table(new.path, {name: lexicon.forms.column(name) for name in lexicon.forms.column_names})


def _vector_arrays(vectors: Any) -> dict[str, Array]:  # noqa: ANN401 - dense or sparse
    if isinstance(vectors, np.ndarray):
        return {"vectors": vectors}
    rows = vectors.tocsr()
    return {
        "indptr": rows.indptr.astype(np.int64), "indices": rows.indices.astype(np.int32), "data": rows.data,
        "shape": np.array(rows.shape, np.int64),
    }  # fmt: skip


def _read_vectors(path: Path) -> Any:  # noqa: ANN401 - dense or sparse
    arrays = read_arrays(path)
    if "vectors" in arrays:
        return arrays["vectors"]
    from scipy.sparse import csr_array

    rows, columns = arrays["shape"].tolist()
    return csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), (rows, columns))


def _read(folder: Folder) -> Lexicon:
    meta = folder.meta
    words = read_table(folder.file("words.parquet"), ["label", "frequency"])
    table = read_table(folder.file("functions.parquet"), list(Entry._fields))
    entries = tuple(map(Entry._make, zip(*table.to_pydict().values(), strict=True)))
    vectors = _read_vectors(folder.file("words.safetensors"))
    if vectors.shape[0] != len(words):
        raise ValueError(f"{len(words)} words, but {vectors.shape[0]} vectors")
    chunks = tuple(
        ChunkFiles(
            chunk["pattern"], tuple(chunk["arguments"]), folder.file(chunk["functions"]),
            folder.file(chunk["examples"]), folder.file(chunk["reports"]),
        )
        for chunk in meta["chunks"]
    )  # fmt: skip
    if entries and not max(entry.chunk for entry in entries) < len(chunks):
        raise ValueError("a function lies in a chunk that is not there")
    forms = None
    if any(name.startswith("forms.") for name in folder.files):
        forms = read_table(folder.file("forms.parquet"))
    return Lexicon(
        tuple(words.column("label").to_pylist()), vectors, words.column("frequency").to_numpy(), entries, chunks,
        meta["normalise"], meta["parameters"], forms, meta["origin"], folder.path,
    )  # fmt: skip


def _copied(chunk: Chunk) -> Chunk:
    copies = [{name: np.array(array) for name, array in part.items()} for part in (chunk.functions, chunk.examples)]
    return Chunk(chunk.pattern, chunk.names, copies[0], copies[1], chunk.places, chunk.reports)


def pooled_chunk(
    pattern: str, names: Sequence[str], examples: Mapping[str, Array], functions: Sequence[Function],
    reports: Sequence[Mapping[str, Any]], borrowed: Sequence[Array | None],
) -> Chunk:  # fmt: skip
    """Pool the arrays of functions that were learned together.

    The labels of the examples they were learned from are numbers: of the word's own examples, or from -1 downwards of
    those that were ``borrowed`` of other words.
    """
    stored = []
    for function, others in zip(functions, borrowed, strict=True):
        arrays = function.to_arrays(shared=True)
        arrays["examples"] = np.array([int(label) for label in function.labels or ()], np.int32)
        if others is not None:
            arrays["borrowed"] = others
        stored.append(arrays)
    pooled, places = pool(stored)
    return Chunk(pattern, tuple(names), pooled, examples, tuple(places), tuple(reports))
