"""The encoded corpus: opening it, going through its shards, counting its words, and looking at its sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from composita.corpus.columns import Tokens, words
from composita.corpus.concordance import Occurrence, find_occurrences
from composita.corpus.encoding import KIND, VERSION, Options, encode
from composita.corpus.labels import Scheme
from composita.corpus.roles import Roles, resolve
from composita.corpus.shards import read_shard
from composita.corpus.tags import Class, Tagset
from composita.corpus.together import Together, find_together
from composita.store.engine import Engine, Task, run_tasks
from composita.store.errors import CorruptError, plural
from composita.store.folder import Folder
from composita.store.progress import Cancellation, ProgressCallback, silent


@dataclass(frozen=True)
class Shard:
    """One shard of a corpus, and how its tags and relations are to be read."""

    path: Path
    sentences: int
    token_count: int
    scheme: Scheme
    tagset: Tagset

    def load(self) -> Tokens:
        """Read the columns: arrays of integers, and each distinct string once."""
        return read_shard(self.path)

    def classes(self, tokens: Tokens) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Return the coarse class (`Class`) of every token."""
        column = getattr(tokens, self.tagset.column)
        kinds = self.tagset.classify(column.values.to_pylist())
        return np.asarray(kinds[column.codes])

    def roles(self, tokens: Tokens) -> Roles:
        """Find out who does what to whom in every sentence."""
        return resolve(tokens, self.scheme, self.tagset)


class Corpus:
    """A parsed corpus on disk, encoded so that everything later reads it at the speed of memory.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from composita import Corpus
    >>> from composita.corpus.synthetic import write_synthetic
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = write_synthetic(folder / "small.conllu", 2000)
    >>> corpus = Corpus.build([folder / "small.conllu"], folder / "corpus")
    >>> corpus
    Corpus(2,0... tokens, ... sentences, 1 shard)
    >>> for shard in corpus.shards():
    ...     tokens = shard.load()
    >>> tokens.lemma.codes.dtype, tokens.starts[0]
    (dtype('int32'), np.int64(0))
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    @classmethod
    def open(cls, path: str | Path) -> Corpus:
        """Open an encoded corpus."""
        folder = Folder.open(path, KIND, VERSION)
        _check_meta(folder)
        return cls(folder)

    @classmethod
    def build(
        cls,
        sources: Iterable[str | Path],
        out: str | Path,
        *,
        format: str = "auto",  # noqa: A002 - the word for it
        labels: str = "auto",
        tags: str = "auto",
        encoding: str = "auto",
        on_error: str | None = None,
        dedupe: bool = False,
        force: bool = False,
        restart: bool = False,
        parser: str = "udpipe",
        model: str | Path | None = None,
        workers: int = 1,
        progress: ProgressCallback = silent,
        cancel: Cancellation | None = None,
    ) -> Corpus:
        """Encode parsed text into a new corpus, or append it to the corpus that is there.

        Parameters
        ----------
        sources
            Files, patterns such as ``texts/*.conllu.gz``, or ``-`` for standard input; plain, .gz, .bz2, .xz or .zst.
        out
            The folder of the corpus.
        format
            ``conllu``, ``conllx``, ``wacky``, ``text`` for raw text, or ``auto`` to tell it from the first lines.
        labels
            What the relations mean: ``ud``, ``clear``, ``malt``, a TOML file, or ``auto``.
        tags
            What the tags mean: ``upos``, ``penn``, ``treetagger``, ``claws``, a TOML file, or ``auto``.
        encoding
            ``utf-8``, ``latin-1``, or ``auto``.
        on_error
            ``stop`` at the first broken sentence or ``skip`` it. By default ``stop``, but for WaCky files ``skip`` as
            long as at most one sentence in a hundred is broken.
        dedupe
            Keep only the first of sentences with the same words.
        force
            Encode text that is in the corpus already.
        restart
            Discard what an interrupted run with other sources or options has left.
        parser, model
            For raw text: ``udpipe``, ``spacy`` or ``stanza``, and its model.
        workers
            How many threads encode, or processes parse; the corpus is the same to the byte.
        progress, cancel
            See `composita.store.progress`.
        """
        options = Options(
            format=format,
            labels=labels,
            tags=tags,
            encoding=encoding,
            on_error=on_error,
            dedupe=dedupe,
            force=force,
            restart=restart,
            parser=parser,
            model=None if model is None else str(model),
        )
        encode(sources, out, options, engine=Engine(workers), progress=progress, cancel=cancel)
        return cls.open(out)

    def __repr__(self) -> str:
        parts = (self.token_count, "token"), (self.sentence_count, "sentence"), (len(self.meta["shards"]), "shard")
        return f"Corpus({', '.join(plural(count, noun) for count, noun in parts)})"

    @property
    def path(self) -> Path:
        """The folder."""
        return self._folder.path

    @property
    def meta(self) -> dict[str, Any]:
        """What ``meta.json`` says."""
        return self._folder.meta

    @property
    def token_count(self) -> int:
        """How many tokens there are."""
        return int(self.meta["tokens"])

    @property
    def sentence_count(self) -> int:
        """How many sentences there are."""
        return int(self.meta["sentences"])

    @property
    def fingerprint(self) -> str:
        """A hash of the text and of how it was read."""
        return str(self.meta["fingerprint"])

    @property
    def bytes(self) -> int:
        """How many bytes the shards take."""
        return sum(entry.bytes for entry in self._folder.files.values())

    @cached_property
    def _schemes(self) -> dict[str, Scheme]:
        return {name: Scheme.from_table(table, name) for name, table in self.meta["label_schemes"].items()}

    @cached_property
    def _tagsets(self) -> dict[str, Tagset]:
        return {name: Tagset.from_table(table, name) for name, table in self.meta["tagsets"].items()}

    def shards(self) -> Iterator[Shard]:
        """Go through the shards in order."""
        for row in self.meta["shards"]:
            yield Shard(
                self._folder.file(row["file"]),
                row["sentences"],
                row["tokens"],
                self._schemes[row["labels"]],
                self._tagsets[row["tags"]],
            )

    def verify(self, progress: ProgressCallback = silent) -> list[str]:
        """Read every file and list what is wrong with it; empty is good."""
        return self._folder.verify(progress)

    def frequencies(
        self, *, engine: Engine | None = None, workers: int = 1, progress: ProgressCallback = silent,
        cancel: Cancellation | None = None,
    ) -> pa.Table:  # fmt: skip
        """Count the words of each class: a table of word, class (of `Class`) and count.

        The most frequent come first, and among equals the first in the order of the alphabet.
        """
        tasks = [Task(shard.path.name, count_words, (shard,), shard.token_count) for shard in self.shards()]
        run = run_tasks(
            tasks, engine=engine or Engine(workers), progress=progress, stage="counting words", unit="tokens",
            cancel=cancel,
        )  # fmt: skip
        parts = [part for _, part in run]
        return merge_counts(parts, ["word", "class"])

    def sentences(
        self,
        *,
        lemma: str | None = None,
        form: str | None = None,
        pos: str | None = None,
        relation: str | None = None,
        limit: int | None = 10,
    ) -> Iterator[Occurrence]:
        """Find words in their sentences, in the order of the corpus.

        Parameters
        ----------
        lemma, form
            The word, upper or lower case.
        pos
            Its coarse part of speech, one of n v a r p.
        relation
            Its relation to its head, as the corpus has it.
        limit
            How many to find at most; None for all.
        """
        return find_occurrences(self.shards(), lemma=lemma, form=form, pos=pos, relation=relation, limit=limit)

    def together(
        self, head: str, arguments: Sequence[str], *, limit: int | None = 10, cancel: Cancellation | None = None
    ) -> Iterator[Together]:
        """Find the sentences in which a word such as ``chase-v`` has all of some arguments; see `find_together`."""
        return find_together(self.shards(), head, arguments, limit=limit, cancel=cancel)


def _check_meta(folder: Folder) -> None:
    """Refuse a ``meta.json`` that does not describe a corpus, before anything relies on it."""
    meta = folder.meta
    numbers = ("sentences", "tokens", "duplicates")
    tables = ("label_schemes", "tagsets", "dropped")
    try:
        sound = (
            all(isinstance(meta[key], int) for key in numbers)
            and all(isinstance(meta[key], dict) for key in tables)
            and isinstance(meta["fingerprint"], str)
            and all(
                isinstance(row["sentences"], int)
                and isinstance(row["tokens"], int)
                and row["labels"] in meta["label_schemes"]
                and row["tags"] in meta["tagsets"]
                and row["file"] in folder.files
                for row in meta["shards"]
            )
            and all(isinstance(batch["sources"], int) for batch in meta["batches"])
        )
    except (KeyError, TypeError):
        sound = False
    if not sound:
        raise CorruptError(f"{folder.path / 'meta.json'}: does not describe a corpus; encode it again")


def count_words(shard: Shard) -> pa.Table:
    """Count the words of each class in one shard."""
    tokens = shard.load()
    column = words(tokens)
    keys = column.codes.astype(np.int64) * len(Class) + shard.classes(tokens)
    counts = np.bincount(keys, minlength=0)
    present = np.flatnonzero(counts)
    return pa.table({
        "word": column.values.take(pa.array(present // len(Class))),
        "class": pa.array((present % len(Class)).astype(np.uint8)),
        "count": pa.array(counts[present]),
    })  # fmt: skip


def merge_counts(parts: Sequence[pa.Table], keys: Sequence[str]) -> pa.Table:
    """Add up tables of counts, the largest first, ties in the order of the keys."""
    total = pa.concat_tables(parts).group_by(list(keys)).aggregate([("count", "sum")])
    total = total.rename_columns([*keys, "count"])
    order = [("count", "descending"), *((key, "ascending") for key in keys)]
    return total.sort_by(order)
