"""What a corpus holds, at a glance: for `composita info`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from composita.corpus.columns import Int64Array
from composita.corpus.corpus import Corpus, Shard, count_words, merge_counts
from composita.corpus.labels import Role
from composita.corpus.tags import LETTERS, Class
from composita.store.engine import Engine, Task, run_tasks
from composita.store.progress import Cancellation, ProgressCallback, silent

FREQUENT = 10


@dataclass(frozen=True)
class Description:
    """Figures of a corpus; every dictionary has its largest entries first."""

    path: str
    tokens: int
    sentences: int
    shards: int
    bytes: int
    sources: int
    formats: list[str]
    fingerprint: str
    dropped: dict[str, int]
    duplicates: int
    forms: int  # different word forms
    words: int  # different words of a class: lemma and part of speech
    sentence_length: dict[str, float]  # mean, median, longest
    lengths: dict[int, int]  # sentences of each length
    classes: dict[str, int]
    relations: dict[str, int]
    frequent: dict[str, dict[str, int]]  # the most frequent words of n, v, a, r
    passive: float  # share of verbs
    with_subject: float  # share of sentences with a verb that has a subject
    with_both: float  # share of sentences with a verb that has a subject and an object
    without_lemma: float  # share of tokens


@dataclass(frozen=True)
class _Part:
    words: pa.Table
    forms: pa.Table
    relations: Counter[str]
    lengths: Int64Array
    verbs: int
    passive: int
    with_subject: int
    with_both: int
    without_lemma: int


def describe(
    corpus: Corpus, *, workers: int = 1, progress: ProgressCallback = silent, cancel: Cancellation | None = None
) -> Description:
    """Read the whole corpus once and count what is in it."""
    tasks = [Task(shard.path.name, _describe_shard, (shard,), shard.token_count) for shard in corpus.shards()]
    run = run_tasks(tasks, engine=Engine(workers), progress=progress, stage="looking", unit="tokens", cancel=cancel)
    parts = [part for _, part in sorted(run, key=lambda done: done[0].key)]
    words = merge_counts([part.words for part in parts], ["word", "class"])
    relations: Counter[str] = Counter()
    for part in parts:
        relations.update(part.relations)
    lengths = np.concatenate([part.lengths for part in parts])
    values, counts = np.unique(lengths, return_counts=True)
    classes = _by_class(words)
    meta = corpus.meta
    sentences = max(1, corpus.sentence_count)
    kinds = Counter(
        f"{row['format']} ({row['encoding']}, tags {row['tags']}, labels {row['labels']})" for row in meta["shards"]
    )
    return Description(
        path=str(corpus.path),
        tokens=corpus.token_count,
        sentences=corpus.sentence_count,
        shards=len(meta["shards"]),
        bytes=corpus.bytes,
        sources=sum(batch["sources"] for batch in meta["batches"]),
        formats=[kind for kind, _ in kinds.most_common()],
        fingerprint=corpus.fingerprint,
        dropped=meta["dropped"],
        duplicates=meta["duplicates"],
        forms=len(merge_counts([part.forms for part in parts], ["form"])),
        words=len(words),
        sentence_length={
            "mean": round(float(lengths.mean()), 2) if len(lengths) else 0.0,
            "median": float(np.median(lengths)) if len(lengths) else 0.0,
            "longest": int(lengths.max(initial=0)),
        },
        lengths=dict(zip(values.tolist(), counts.tolist(), strict=True)),
        classes=classes,
        relations=dict(sorted(relations.items(), key=lambda item: (-item[1], item[0]))),
        frequent=_frequent(words),
        passive=sum(part.passive for part in parts) / max(1, sum(part.verbs for part in parts)),
        with_subject=sum(part.with_subject for part in parts) / sentences,
        with_both=sum(part.with_both for part in parts) / sentences,
        without_lemma=sum(part.without_lemma for part in parts) / max(1, corpus.token_count),
    )


def _describe_shard(shard: Shard) -> _Part:
    tokens = shard.load()
    roles = shard.roles(tokens)
    links = roles.links()
    verbs = roles.kind == Class.VERB
    subject, both = np.zeros(len(tokens), bool), np.zeros(len(tokens), bool)
    subject[links.predicate[links.role == Role.SUBJECT]] = True
    both[links.predicate[links.role == Role.OBJECT]] = True
    both &= subject
    sentence = np.repeat(np.arange(tokens.sentences), np.diff(tokens.starts))
    relations = np.bincount(tokens.relation.codes, minlength=len(tokens.relation.values)).tolist()
    forms = np.bincount(tokens.form.codes, minlength=len(tokens.form.values))
    without = [i for i, lemma in enumerate(tokens.lemma.values.to_pylist()) if lemma == "_"]
    return _Part(
        words=count_words(shard),
        forms=pa.table({"form": tokens.form.values, "count": pa.array(forms)}),
        relations=Counter(dict(zip(tokens.relation.values.to_pylist(), relations, strict=True))),
        lengths=np.diff(tokens.starts),
        verbs=int(verbs.sum()),
        passive=int((roles.passive & verbs).sum()),
        with_subject=len(np.unique(sentence[subject & verbs])),
        with_both=len(np.unique(sentence[both & verbs])),
        without_lemma=int(np.isin(tokens.lemma.codes, without).sum()),
    )


def _by_class(words: pa.Table) -> dict[str, int]:
    counts = np.bincount(
        words.column("class").to_numpy(), weights=words.column("count").to_numpy(), minlength=len(Class)
    )
    named: dict[str, int] = {kind.name.lower(): int(counts[kind]) for kind in Class if counts[kind]}
    return dict(sorted(named.items(), key=lambda item: -item[1]))


def _frequent(words: pa.Table) -> dict[str, dict[str, int]]:
    """Find the most frequent words of each open class; proper nouns stand by themselves."""
    classes = words.column("class").to_numpy()
    found: dict[str, dict[str, int]] = {}
    for kind in (Class.NOUN, Class.PROPER, Class.VERB, Class.ADJECTIVE, Class.ADVERB):
        rows: Any = words.take(np.flatnonzero(classes == kind)[:FREQUENT])
        labels = [f"{word}-{LETTERS[kind]}" for word in rows.column("word").to_pylist()]
        found[kind.name.lower()] = dict(zip(labels, rows.column("count").to_pylist(), strict=True))
    return found
