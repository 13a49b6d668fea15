"""Exact duplicate sentences: found across all shards by a hash of 128 bits, and removed but for the first of each.

Two sentences are duplicates when their word forms are the same, one by one. Each shard's hashes are sorted and laid
beside it; then they are merged part by part, so that memory stays bounded however large the corpus is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from composita.corpus.columns import STRING_COLUMNS, Column, Tokens
from composita.corpus.reading import by_frequency
from composita.corpus.scan import combine_hashes
from composita.corpus.shards import read_about, read_shard, write_shard
from composita.store.arrays import read_arrays, write_arrays
from composita.store.engine import Engine, Task, run_tasks
from composita.store.folder import write_file
from composita.store.progress import Cancellation, ProgressCallback

if TYPE_CHECKING:
    from composita.corpus.encoding import Receipt

PART = 1 << 23
"""About how many sentences are merged at a time."""


def sentence_hashes(tokens: Tokens) -> npt.NDArray[np.uint64]:
    """Hash the forms of every sentence: (sentences, 2) words of 64 bits.

    >>> twice = Tokens.from_sentences([[("a", "a", "X", "X", 0, "root")]] * 2)
    >>> first, second = sentence_hashes(twice)
    >>> bool((first == second).all())
    True
    """
    digests = b"".join(
        hashlib.blake2b(form.encode(), digest_size=16).digest() for form in tokens.form.values.to_pylist()
    )
    forms = np.frombuffer(digests, "<u8").reshape(-1, 2)
    hashes = np.empty((tokens.sentences, 2), np.uint64)
    combine_hashes(tokens.starts, tokens.form.codes, forms, hashes)
    return hashes


def hash_task(shard: str, out: str) -> int:
    """Write the sorted hashes of a shard's sentences beside their numbers; return how many there are."""
    hashes = sentence_hashes(read_shard(shard))
    order = np.lexsort((np.arange(len(hashes)), hashes[:, 1], hashes[:, 0]))
    with write_file(out) as new:
        write_arrays(new.path, {"hashes": hashes[order], "sentences": order.astype(np.int64)})
    return len(hashes)


def drop_task(path: str, drop: npt.NDArray[np.int64]) -> Receipt:
    """Write a shard anew without these sentences."""
    from composita.corpus.encoding import Receipt

    tokens = read_shard(path)
    about: dict[str, Any] = read_about(path) or {}
    left = without_sentences(tokens, drop)
    about |= {
        "sentences": left.sentences,
        "tokens": len(left),
        "duplicates": about["duplicates"] + len(drop),
    }
    with write_file(path) as new:
        write_shard(new.path, left, about)
    return Receipt(new.entry, about)


def without_sentences(tokens: Tokens, drop: npt.NDArray[np.int64]) -> Tokens:
    """Leave out sentences, and the strings that nobody uses any more."""
    keep = np.ones(tokens.sentences, bool)
    keep[drop] = False
    lengths = np.diff(tokens.starts)
    mask = np.repeat(keep, lengths)
    columns = {name: _shrink(getattr(tokens, name), mask) for name in STRING_COLUMNS}
    return Tokens(np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64), tokens.head[mask], **columns)


def _shrink(column: Column, mask: npt.NDArray[np.bool_]) -> Column:
    order, codes = by_frequency(column.codes[mask], len(column.values))
    return Column(codes, column.values.take(pa.array(order)))


def find_duplicates(files: Sequence[Path], total: int) -> list[npt.NDArray[np.int64]]:
    """Find for each file of hashes the sentences that occur before: in an earlier file, or earlier in the same."""
    parts = max(1, -(-total // PART))
    edges = [((part << 64) // parts) for part in range(1, parts)]
    stored = [read_arrays(file) for file in files]
    cuts = [
        np.searchsorted(arrays["hashes"][:, 0], np.array(edges, np.uint64)) if edges else np.zeros(0, np.int64)
        for arrays in stored
    ]
    found: list[list[npt.NDArray[np.int64]]] = [[] for _ in files]
    for part in range(parts):
        slices = [
            slice(int(cut[part - 1]) if part else 0, int(cut[part]) if part < parts - 1 else len(arrays["hashes"]))
            for arrays, cut in zip(stored, cuts, strict=True)
        ]
        hashes = np.concatenate([arrays["hashes"][s] for arrays, s in zip(stored, slices, strict=True)])
        sentences = np.concatenate([arrays["sentences"][s] for arrays, s in zip(stored, slices, strict=True)])
        owner = np.repeat(np.arange(len(files)), [s.stop - s.start for s in slices])
        # Stable sorts keep the order of files and, within them, of sentences.
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))
        same = (hashes[order[1:]] == hashes[order[:-1]]).all(1)
        repeated = order[1:][same]
        for number in np.unique(owner[repeated]):
            found[number].append(sentences[repeated[owner[repeated] == number]])
    return [np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64) for parts in found]


def drop_duplicates(
    before: Sequence[Path], shards: Sequence[Receipt], folder: Path, engine: Engine,
    progress: ProgressCallback, cancel: Cancellation | None,
) -> list[Receipt]:  # fmt: skip
    """Remove from new shards every sentence that stands in an earlier shard, or earlier in the same."""
    paths = [*before, *(folder / shard.entry.name for shard in shards)]
    files = [folder / f"hashes-{number:06d}.safetensors" for number in range(len(paths))]
    try:
        tasks = [Task(path.name, hash_task, (str(path), str(file))) for path, file in zip(paths, files, strict=True)]
        run = run_tasks(
            tasks, engine=engine, progress=progress, stage="looking for duplicates", unit="shards", cancel=cancel
        )
        total = sum(count for _, count in run)
        found = find_duplicates(files, total)[len(before) :]
    finally:
        for file in files:
            file.unlink(missing_ok=True)
    doubled = [number for number, drop in enumerate(found) if len(drop)]
    work = [Task(str(n), drop_task, (str(folder / shards[n].entry.name), found[n])) for n in doubled]
    result = [replace(shard) for shard in shards]
    for task, receipt in run_tasks(
        work, engine=engine, progress=progress, stage="dropping duplicates", unit="shards", cancel=cancel
    ):
        result[int(task.key)] = receipt
    return result
