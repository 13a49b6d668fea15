"""Writing a miniature world to a folder: its text, its benchmarks, and a note that says what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from composita.corpus.miniature import ratings
from composita.corpus.miniature.planting import Truth, plant
from composita.corpus.miniature.sentences import to_conllu
from composita.corpus.miniature.text import sentences

NOTE = """This is synthetic text, written by composita (seed {seed}): {tokens:,} tokens in {sentences:,} sentences.

The words are English; the sentences are not, and mean only what was planted: see composita.corpus.miniature. The
files of ratings have the formats of the benchmarks they are named after, but no human has rated anything: simulated
annotators did, by the true similarity and noise.
"""


@dataclass(frozen=True)
class Miniature:
    """A miniature world as written to a folder.

    Parameters
    ----------
    folder
        Where it is.
    text
        The parsed text, in CoNLL-U.
    benchmarks
        The files of ratings: ``gs2011``, ``ml2008`` and ``gs2012`` in the formats of these.
    truth
        What was planted.
    tokens, sentences
        How much text there is.

    """

    folder: Path
    text: Path
    benchmarks: Mapping[str, Path]
    truth: Truth
    tokens: int
    sentences: int


def write_miniature(folder: str | Path, seed: int = 0) -> Miniature:
    """Write the text and the benchmarks of a miniature world.

    >>> import tempfile
    >>> made = write_miniature(tempfile.mkdtemp())
    >>> made.text.name, sorted(made.benchmarks)
    ('miniature.conllu', ['gs2011', 'gs2012', 'ml2008'])
    >>> made.tokens > 200_000
    True
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written, truth = sentences(plant(seed))
    text = folder / "miniature.conllu"
    text.write_text("".join(map(to_conllu, written)), encoding="utf-8", newline="\n")
    benchmarks = {}
    for name, make in (("gs2011", ratings.gs2011), ("ml2008", ratings.ml2008), ("gs2012", ratings.gs2012)):
        benchmarks[name] = folder / f"miniature-{name}.txt"
        benchmarks[name].write_text(make(truth), encoding="utf-8", newline="\n")
    tokens = sum(map(len, written))
    note = NOTE.format(seed=seed, tokens=tokens, sentences=len(written))
    (folder / "README.txt").write_text(note, encoding="utf-8", newline="\n")
    return Miniature(folder, text, benchmarks, truth, tokens, len(written))
