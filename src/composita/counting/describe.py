"""What counts hold, at a glance: for ``composita info``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from composita.counting.counts import Counts
from composita.store.folder import Folder

FREQUENT = 10
LEAST_CONTEXTS = 10
"""As many non-zero dimensions the paper asks of a phrase."""
BINS = (1, 2, 5, 10, 20, 50, 100, 1000)


@dataclass(frozen=True)
class Pattern:
    """The phrases of one pattern."""

    types: int
    tokens: int
    heads: int
    per_head: float  # types, on average
    most_per_head: int
    with_ten_contexts: int  # types
    frequent: dict[str, int]
    heads_with_most: dict[str, int]
    contexts: dict[str, int]  # how many types have so many contexts


@dataclass(frozen=True)
class Description:
    """Figures of counts."""

    path: str
    bytes: int
    tokens: int
    sentences: int
    context: str
    words: int
    core: int
    phrases: int
    columns: int
    cells: int
    density: float
    word_contexts: float  # on average
    minimum: int
    switches: dict[str, bool]
    patterns: dict[str, Pattern]
    fingerprints: dict[str, str]


def describe(path: str | Path) -> Description:
    """Open counts and describe them."""
    counts = Counts.open(path)
    folder = Folder.open(path)
    words = counts.rows("word")
    size = max(1, counts.shape[0] * counts.shape[1])
    return Description(
        path=str(path),
        bytes=sum(entry.bytes for entry in folder.files.values()),
        tokens=counts.tokens,
        sentences=counts.sentences,
        context=str(counts.parameters.get("context", "")),
        words=len(words),
        core=int(counts.core.sum()),
        phrases=len(counts) - len(words),
        columns=counts.shape[1],
        cells=counts.cells,
        density=counts.cells / size,
        word_contexts=float(counts.distinct_contexts[words].mean()) if len(words) else 0.0,
        minimum=int(counts.parameters.get("min_frequency", 1)),
        switches=counts.parameters.get("switches", {}),
        patterns={pattern.name: _describe_pattern(counts, pattern.name) for pattern in counts.names.patterns},
        fingerprints={"counts": folder.meta["fingerprint"], **folder.meta["fingerprints"]},
    )


def _describe_pattern(counts: Counts, name: str) -> Pattern:
    rows = counts.rows(name)
    frequency, contexts = counts.frequency[rows], counts.distinct_contexts[rows]
    best = rows[np.argsort(-frequency, kind="stable")[:FREQUENT]]
    types = np.bincount(counts.fields.head[rows], minlength=len(counts.names.words))
    order = np.argsort(-types, kind="stable")[:FREQUENT]
    places = np.searchsorted(BINS, contexts, side="right")
    names = ["0", *(_bin(*pair) for pair in zip(BINS, (*BINS[1:], 0), strict=True))]
    return Pattern(
        types=len(rows),
        tokens=int(frequency.sum()),
        heads=int((types > 0).sum()),
        per_head=len(rows) / max(1, int((types > 0).sum())),
        most_per_head=int(types.max(initial=0)),
        with_ten_contexts=int((contexts >= LEAST_CONTEXTS).sum()),
        frequent=dict(zip(counts.display(best), counts.frequency[best].tolist(), strict=True)),
        heads_with_most={counts.names.words[i]: int(types[i]) for i in order.tolist() if types[i]},
        contexts=dict(zip(names, np.bincount(places, minlength=len(names)).tolist(), strict=True)),
    )


def _bin(first: int, after: int) -> str:
    if not after:
        return f"{first:,}+"
    return str(first) if after == first + 1 else f"{first}-{after - 1}"
