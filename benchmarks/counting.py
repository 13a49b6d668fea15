"""Counting against `scipy.sparse`, by itself, with phrases, with two workers, and in memory.

    python benchmarks/counting.py CORPUS            # an encoded corpus, such as the parsed Wikipedia
    python benchmarks/counting.py --memory          # peak memory on synthetic text of growing size

All is measured side by side in one run, each figure the median of several turns; ratios are what counts, for machines differ.
The sizes are the paper's: 8,000 nouns and 4,000 verbs beside 10,000 contexts, within the sentence, without names.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from composita.corpus.columns import Tokens
from composita.corpus.corpus import Corpus, Shard
from composita.counting.contexts import Context
from composita.counting.count import count
from composita.counting.job import Job, Switches
from composita.counting.patterns import load_patterns
from composita.counting.slices import Lookup, Part, count_sentences
from composita.counting.vocabulary import Vocabulary
from composita.counting.words import read_words
from composita.store.engine import Engine

TURNS = 7
PHRASES = "sv,svo,vo"


@dataclass(frozen=True)
class Took:
    """Seconds of one turn."""

    wall: float
    cpu: float


def measure(*works: Callable[[], object], turns: int = TURNS) -> list[Took]:
    """Run works in turns, after one to warm up, and give the median of each."""
    times: list[list[Took]] = [[] for _ in works]
    for turn in range(turns + 1):
        for work, taken in zip(works, times, strict=True):
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            if turn:
                taken.append(Took(time.perf_counter() - wall, time.process_time() - cpu))
    return [Took(statistics.median(t.wall for t in taken), statistics.median(t.cpu for t in taken)) for taken in times]


def by_scipy(job: Job, shard: Shard, tokens: Tokens) -> sp.csr_array:
    """The same counts as one product of two sparse matrices: sentences x words, sentences x contexts."""
    lookup = Lookup.of(tokens, shard, job.vocabulary.tables)
    target, context = lookup.targets_and_contexts()
    sentence = np.repeat(np.arange(tokens.sentences), np.diff(tokens.starts))
    words, contexts = len(job.vocabulary.words), len(job.vocabulary.contexts)
    matrices = []
    for number, size in ((target, words), (context, contexts)):
        places = np.flatnonzero(number >= 0)
        ones = np.ones(len(places), np.int32)
        matrices.append(sp.csr_array((ones, (sentence[places], number[places])), (tokens.sentences, size)))
    both = np.flatnonzero((target >= 0) & (context >= 0))
    own = sp.csr_array((np.ones(len(both), np.int32), (target[both], context[both])), (words, contexts))
    product = sp.csr_array(matrices[0].T @ matrices[1] - own)
    product.eliminate_zeros()
    product.sort_indices()
    return product


def check(job: Job, part: Part, product: sp.csr_array) -> None:
    """Both ways give the same counts."""
    rows = part.upper >> 37
    indptr = np.zeros(len(job.vocabulary.words) + 1, np.int64)
    indptr[rows + 1] = np.diff(part.ends, prepend=0)
    mine = sp.csr_array((part.values, part.columns, np.cumsum(indptr)), product.shape)
    if (mine != product).nnz:
        raise SystemExit("the counts differ from those of scipy")


def speed(corpus: Corpus, benchmarks: Path) -> None:
    """Print speeds and ratios on a corpus."""
    heads = sorted({w for f in ("GS2011data.txt", "ML2008.txt") for w in read_words(benchmarks / f, columns="v")})
    vocabulary = Vocabulary.from_corpus(corpus, proper="no", pronouns="no", include=heads)
    known = tuple(head for head in heads if head in vocabulary.ids)
    plain = Job(vocabulary, (), None, Context(), Switches(), True, 1, "")
    phrases = Job(vocabulary, load_patterns(PHRASES), known, Context(), Switches(), True, 1, "")
    shard = next(iter(corpus.shards()))
    tokens = shard.load()
    check(plain, count_sentences(plain, shard, tokens), by_scipy(plain, shard, tokens))

    ours, scipys, load = measure(
        lambda: count_sentences(plain, shard, tokens), lambda: by_scipy(plain, shard, tokens), shard.load
    )
    size = len(tokens) / 1e6
    print(f"one shard of {size:.1f}M tokens, in memory")
    print(f"  words                 {size / ours.wall:6.1f}M tokens/s")
    print(
        f"  scipy.sparse T.T @ S  {size / scipys.wall:6.1f}M tokens/s; ratio {scipys.wall / ours.wall:.1f} (promised: 3)"
    )
    print(f"  reading the shard     {size / load.wall:6.1f}M tokens/s")

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "counts")

        def whole(job: Job, workers: int = 1) -> Callable[[], object]:
            def work() -> None:
                shutil.rmtree(out, ignore_errors=True)
                names = [p.name for p in job.patterns]
                count(corpus, vocabulary, phrases=names, heads=job.heads, out=out, workers=workers)

            return work

        words, both, two = measure(whole(plain), whole(phrases), whole(plain, 2), turns=3)
    size = corpus.token_count / 1e6
    print(f"{size:.0f}M tokens, from the encoded corpus to saved counts")
    print(f"  words                 {size / words.wall:6.1f}M tokens/s (promised: 4)")
    print(
        f"  with {PHRASES} of {len(known)} verbs: {size / both.wall:.1f}M tokens/s; ratio {both.cpu / words.cpu:.2f} of CPU (promised: 1.5)"
    )
    print(
        f"  two workers: {two.cpu / words.cpu:.2f} times the CPU of one (promised: 1.15), {words.wall / two.wall:.2f} times as fast"
    )


def memory(sizes: Sequence[int], budget: str) -> None:
    """Print peak memory and time on synthetic text of growing size, each in a process of its own."""
    print(f"peak memory with --memory {budget}, synthetic text")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            run = [sys.executable, __file__, "--one", str(size), "--folder", folder, "--budget", budget]
            made = subprocess.run([*run, "--make"], check=False).returncode
            found = (
                json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout) if not made else {}
            )
            print(
                f"  {size / 1e6:6.0f}M tokens  {found['peak'] / 1e6:6.0f} MB  {size / 1e6 / found['seconds']:5.1f}M tokens/s"
            )


def one(size: int, folder: Path, budget: str, *, make: bool) -> None:
    """Make a corpus, or count it and say how much memory that took."""
    if make:
        from composita.corpus.synthetic import write_synthetic

        write_synthetic(folder / "text.conllu", size)
        Corpus.build([folder / "text.conllu"], folder / "corpus")
        (folder / "text.conllu").unlink()
        corpus = Corpus.open(folder / "corpus")
        Vocabulary.from_corpus(corpus).save(folder / "vocabulary")
        return
    corpus, vocabulary = Corpus.open(folder / "corpus"), Vocabulary.open(folder / "vocabulary")
    heads = [word for word in vocabulary.words if word[-1] == "v"][:72]
    start = time.perf_counter()
    count(corpus, vocabulary, phrases=PHRASES, heads=heads, memory=budget, out=folder / "counts", engine=Engine(1))
    seconds = time.perf_counter() - start
    print(json.dumps({"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "seconds": seconds}))


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", help="an encoded corpus")
    parser.add_argument("--benchmarks", type=Path, default=Path(__file__).parents[2] / "shared/data/benchmarks")
    parser.add_argument("--memory", action="store_true", help="measure memory on synthetic text")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000_000, 30_000_000, 100_000_000])
    parser.add_argument("--budget", default="1G")
    for hidden in ("--one", "--folder"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        one(int(asked.one), Path(asked.folder), asked.budget, make=asked.make)
    if asked.corpus:
        speed(Corpus.open(asked.corpus), asked.benchmarks)
    if asked.memory:
        memory(asked.sizes, asked.budget)


if __name__ == "__main__":
    main()
