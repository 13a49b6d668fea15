"""Tasks of learning: what a worker does, from the files of the examples to the files of the functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.linalg  # noqa: F401 - loaded before tasks start, so that it is kept to one thread, too

from composita.functions.examples import Examples
from composita.functions.function import Function
from composita.functions.leaning import BORROWED, SIMILAR, Leaning, TowardsFunction, WithOthers, borrow
from composita.functions.learners import Learner
from composita.functions.lexicon import chunk_writers, make_examples, pooled_chunk, unit_rows
from composita.functions.pools import unpool
from composita.functions.selection import Head, Selection
from composita.functions.shared import Additive, Sums, joined_with_heads
from composita.store.arrays import read_arrays, write_arrays
from composita.store.errors import TooFewError
from composita.store.folder import FileEntry, write_file
from composita.store.strict_json import dump_json, parse_json
from composita.store.tables import read_table

if TYPE_CHECKING:
    from composita.spaces.space import Space

Array = npt.NDArray[Any]

PENDING = "pending"
WORDS_FILE = "words.safetensors"


@dataclass(frozen=True)
class Words:
    """What a task learns: some words of a pattern, and where the examples of each begin and end in the chunk."""

    number: int
    pattern: str
    names: tuple[str, ...]
    heads: tuple[str, ...]
    head_rows: tuple[int, ...]  # of the words among those with vectors; -1 for none
    bounds: tuple[int, ...]
    dropped: tuple[Mapping[str, int], ...]
    files: tuple[str, str, str]  # functions, examples, reports

    def spans(self) -> list[tuple[int, int]]:
        """Give the first and the last example of each word, the last exclusive."""
        return list(pairwise(self.bounds))


@dataclass(frozen=True)
class Job:
    """What every task needs to know: where, how, and on what words lean."""

    folder: str
    learner: Learner
    lean: str = "none"
    sharing: str = ""
    shared: Mapping[str, Words] = field(default_factory=dict)
    others: Mapping[str, tuple[Words, ...]] = field(default_factory=dict)

    def vectors(self) -> Array:
        """The vectors of all words, as functions take them."""
        return read_arrays(Path(self.folder) / PENDING / WORDS_FILE)["vectors"]


@dataclass(frozen=True)
class Learned:
    """The receipt of a task: its files, and of each word why it has no function, empty where it has one."""

    number: int
    files: tuple[FileEntry, ...]
    reasons: tuple[str, ...]


# ---------------------------------------------------------------- examples


def write_examples(space: Space, selection: Selection, folder: Path, words: Words, heads: Sequence[Head]) -> FileEntry:
    """Copy the examples of some words out of the space."""
    rows = np.concatenate([head.rows for head in heads])
    outputs = np.asarray(space.array[rows])
    arrays = {
        "ids": np.concatenate([head.ids for head in heads]).astype(np.int32), "rows": rows,
        "outputs": unit_rows(outputs) if selection.normalise_outputs else outputs,
        "frequency": np.concatenate([head.frequency for head in heads]),
    }  # fmt: skip
    with write_file(folder / words.files[1]) as new:
        write_arrays(new.path, arrays)
    return new.entry


def read_examples(folder: Path, vectors: Array, words: Words, number: int) -> Examples:
    """Give the examples of one word; their labels are their numbers, which say later what was learned from."""
    first, last = words.spans()[number]
    part = {name: array[first:last] for name, array in read_arrays(folder / words.files[1]).items()}
    return make_examples(vectors, part, words.names, list(map(str, range(last - first))))


# ---------------------------------------------------------------- functions


def learn_chunk(job: Job, words: Words, stored: FileEntry) -> Learned:
    """Learn the functions of some words, and write them."""
    folder, vectors = Path(job.folder), job.vectors()
    shared = read_shared(folder, vectors, job.shared[words.pattern]) if words.pattern in job.shared else None
    functions, reports, reasons, borrowed = [], [], [], []
    for number, dropped in enumerate(words.dropped):
        examples = read_examples(folder, vectors, words, number)
        learner = _leaning(job, words, number, examples, shared, vectors)
        try:
            function, leaning = (
                (learner.learn(examples), None) if learner is job.learner else learner.learn_part(examples)
            )
        except TooFewError as error:
            reasons.append(str(error))
            continue
        functions.append(function)
        reports.append(describe_training(function, examples, dropped, job.lean, leaning))
        others = learner.used(leaning) if isinstance(learner, WithOthers) and leaning is not None else None
        borrowed.append(others)
        reasons.append("")
    return write_functions(job, words, stored, functions, reports, reasons, borrowed)


def _leaning(job: Job, words: Words, number: int, examples: Examples, shared: Function | None, vectors: Array) -> Any:  # noqa: ANN401 - a learner, or one that leans
    """Give the learner of a word: the plain one, or one that leans on others."""
    row = words.head_rows[number]
    if job.lean == "whole" and shared is not None and row >= 0:
        return TowardsFunction(learner=job.learner, prior=shared(vectors[row]), strengths=(1.0,))
    if job.lean == "shared" and shared is not None and row >= 0:
        trial = _without(job, words, row, examples, vectors)
        return TowardsFunction(learner=job.learner, prior=shared(vectors[row]), trial=trial)
    if job.lean == "similar" and row >= 0:
        near = similar_heads(job.others[words.pattern], words.heads[number], row, vectors)
        folder = Path(job.folder)
        others = [(s, read_examples(folder, vectors, w, i)) for s, w, i in near]
        found = borrow(examples, others, BORROWED, [w.head_rows[i] for _, w, i in near])
        if found is not None:
            return WithOthers(learner=job.learner, borrowed=found[0], heads=found[1])
    return job.learner


def _without(job: Job, words: Words, row: int, examples: Examples, vectors: Array) -> Function | None:
    """Give the shared function as it would be without a word's own examples, where that is quickly had."""
    path = Path(job.folder) / PENDING / f"sums-{words.pattern}.safetensors"
    if not path.exists():
        return None
    arrays = dict(read_arrays(path))
    own = joined_with_heads(vectors, [row], [most_frequent(examples, int(arrays.pop("each")))])
    sums = Sums.from_arrays(arrays) - Sums.of(own)
    if sums.total < 1:
        return None
    sizes = [vectors.shape[1]] * (len(words.names) + 1)
    function = Additive().solve(sums, sizes, own.names, own.dtype)
    applied: Function = function(vectors[row])
    return applied


def most_frequent(examples: Examples, count: int) -> Examples:
    """Give the most frequent examples, in their order."""
    order = np.argsort(-np.asarray(examples.frequency), kind="stable")[:count]
    return examples.select(np.sort(order))


def similar_heads(
    others: Sequence[Words], word: str, row: int, vectors: Array, count: int = SIMILAR
) -> list[tuple[float, Words, int]]:
    """Find the words of a pattern whose own vectors are nearest, with their cosines."""
    known = [(w, i) for w in others for i, r in enumerate(w.head_rows) if r >= 0 and w.heads[i] != word]
    if not known:
        return []
    rows = np.array([w.head_rows[i] for w, i in known])
    near = unit_rows(vectors[rows].astype(np.float64)) @ unit_rows(vectors[row : row + 1].astype(np.float64))[0]
    order = np.argsort(-near, kind="stable")[:count]
    return [(float(near[k]), *known[k]) for k in order.tolist() if near[k] > 0]


def learn_shared(job: Job, learner: Learner, words: Words, most: int, sources: Sequence[Words]) -> Learned:
    """Learn one function for all words of a pattern, the word itself being its first argument."""
    folder, vectors = Path(job.folder), job.vectors()
    count = sum(row >= 0 for w in sources for row in w.head_rows)
    each = max(1, most // max(1, count))
    heads, parts = [], []
    for w in sources:
        for number, row in enumerate(w.head_rows):
            if row >= 0:
                parts.append(most_frequent(read_examples(folder, vectors, w, number), each))
                heads.append(row)
    empty: dict[str, Array] = {
        "ids": np.empty((0, len(words.names)), np.int32), "rows": np.empty(0, np.int64),
        "outputs": np.empty((0, parts[0].outputs.shape[1] if parts else 0), np.float32),
        "frequency": np.empty(0, np.int64),
    }  # fmt: skip
    with write_file(folder / words.files[1]) as new:
        write_arrays(new.path, empty)
    try:
        if not parts:
            raise TooFewError(f"no word of the pattern {words.pattern} has a vector of its own")
        every = joined_with_heads(vectors, heads, parts)
        function = own_rows(learner.learn(every))
        if isinstance(learner, Additive):
            with write_file(folder / PENDING / f"sums-{words.pattern}.safetensors") as sums:
                write_arrays(sums.path, Sums.of(every).to_arrays() | {"each": np.array(each)})
    except TooFewError as error:
        return write_functions(job, words, new.entry, [], [], [str(error)], [])
    report = {
        "training": function.training.to_dict(), "phrases": sum(map(len, parts)), "words": len(parts),
        "effective_rank": function.effective_rank(),
    }  # fmt: skip
    return write_functions(job, words, new.entry, [replace(function, labels=None)], [report], [""], [None])


def read_shared(folder: Path, vectors: Array, words: Words) -> Function | None:
    """Read a shared function from the files of its task; None where there was nothing to learn from."""
    places = read_table(folder / words.files[2], ["places"]).column("places").to_pylist()
    if not places:
        return None
    arrays = unpool(read_arrays(folder / words.files[0]), parse_json(places[0].encode()))
    return Function.from_arrays(arrays, vectors=[vectors] * len(words.names), names=words.names)


def own_rows(function: Function) -> Function:
    """Give a function that refers to no outputs of examples, because these are not kept, or not as it has them."""
    if function.output is None:
        return function
    return replace(function, output=replace(function.output, source=None))


def write_functions(
    job: Job, words: Words, stored: FileEntry, functions: Sequence[Function], reports: Sequence[Mapping[str, Any]],
    reasons: Sequence[str], borrowed: Sequence[Array | None],
) -> Learned:  # fmt: skip
    """Write what was learned, and the receipt by which an interrupted run knows it."""
    folder = Path(job.folder)
    chunk = pooled_chunk(words.pattern, words.names, {}, functions, reports, borrowed)
    written = [stored]
    for name, (kind, write) in zip(words.files, chunk_writers(chunk, words.number), strict=True):
        if not kind.startswith("examples"):
            with write_file(folder / name) as new:
                write(new.path)
            written.append(new.entry)
    files = [[entry.name, entry.bytes, entry.sha256] for entry in written]
    with write_file(folder / PENDING / f"chunk-{words.number:05d}.json") as new:
        new.path.write_bytes(dump_json({"files": files, "reasons": list(reasons)}))
    return Learned(words.number, tuple(written), tuple(reasons))


def read_receipt(job: Job, words: Words) -> Learned | None:
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


def describe_training(
    function: Function, examples: Examples, dropped: Mapping[str, int], lean: str, leaning: Leaning | None
) -> dict[str, Any]:
    """Give the report of a function as JSON can say it."""
    counts = np.unique(examples.ids[:, 0], return_counts=True)[1]
    groups = counts[counts >= 3]
    said: dict[str, Any] = {
        "training": function.training.to_dict(), "effective_rank": function.effective_rank(),
        "phrases": len(examples), "dropped": dict(dropped), "first_arguments": len(counts),
        "groups_of_three": len(groups), "examples_in_groups_of_three": int(groups.sum()),
        "occurrences": 0 if examples.frequency is None else int(examples.frequency.sum()),
    }  # fmt: skip
    if leaning is None:
        return said
    return said | {"leaning": {"towards": "similar" if lean == "similar" else "shared"} | leaning.to_dict()}
