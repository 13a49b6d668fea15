"""Counting against `scipy.sparse`, with phrases, with two workers, and in bounded memory.

The sizes are the paper's: 8,000 nouns and 4,000 verbs beside 10,000 contexts, within the sentence, without names. The
text is the parsed Wikipedia beside the repository, or synthetic where it is missing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Row, best, faster
from composita.corpus.columns import Tokens
from composita.corpus.corpus import Corpus, Shard
from composita.counting.contexts import Context
from composita.counting.count import count
from composita.counting.job import Job, Switches
from composita.counting.slices import Lookup, Part, count_sentences
from composita.counting.vocabulary import Vocabulary
from composita.counting.words import read_words

SHARED = Path(__file__).parents[2] / "shared" / "data"
FILES = 8
PHRASES = "sv,svo,vo"
BUDGET = "1G"
SIZES = (10_000_000, 100_000_000)


def run() -> list[Row]:
    """Measure speed on about eight million tokens, and memory on synthetic text of growing size."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, vocabulary, heads = _corpus(folder)
        return [*_one_shard(corpus, vocabulary), *_whole(corpus, vocabulary, heads, folder / "counts"), *_memory()]


def _corpus(folder: Path) -> tuple[Corpus, Vocabulary, tuple[str, ...]]:
    """Encode some text, and choose its words; the heads are the verbs of two benchmarks."""
    files = sorted((SHARED / "corpora").glob("enwiki-*.conllu.zst"))[:FILES]
    if not files:
        from composita.corpus.synthetic import write_synthetic

        files = [folder / "synthetic.conllu"]
        write_synthetic(files[0], FILES * 1_000_000)
    corpus = Corpus.build(files, folder / "corpus")
    found = [SHARED / "benchmarks" / name for name in ("GS2011data.txt", "ML2008.txt")]
    verbs = sorted({word for path in found if path.exists() for word in read_words(path, columns="v")})
    vocabulary = Vocabulary.from_corpus(corpus, proper="no", pronouns="no", include=verbs)
    verbs = verbs or [word for word in vocabulary.words if word[-1] == "v"][:72]
    return corpus, vocabulary, tuple(verb for verb in verbs if verb in vocabulary.ids)


def _job(vocabulary: Vocabulary) -> Job:
    return Job(vocabulary, (), None, Context(), Switches(), True, 1, "")


# ---------------------------------------------------------------- one shard, in memory


def _one_shard(corpus: Corpus, vocabulary: Vocabulary) -> list[Row]:
    """Compare the counting of one shard that has been read with the product of two sparse matrices."""
    job, shard = _job(vocabulary), next(iter(corpus.shards()))
    tokens = shard.load()
    numbers = _numbers_by_numpy(vocabulary, shard, tokens)
    _check(vocabulary, count_sentences(job, shard, tokens), _product(*numbers, vocabulary))
    ours, theirs, product = best(
        lambda: count_sentences(job, shard, tokens),
        lambda: _product(*_numbers_by_numpy(vocabulary, shard, tokens), vocabulary),
        lambda: _product(*numbers, vocabulary),
    )
    (counted,) = best(_counting_alone(job, shard, tokens, *numbers))
    size = len(tokens)
    return [
        faster("words of a shard in memory", size, "tokens", ours, "scipy T.T @ S, NumPy", theirs, ">= 3"),
        faster("the same, tokens numbered before", size, "tokens", counted, "scipy T.T @ S", product, ">= 3"),
    ]


def _numbers_by_numpy(vocabulary: Vocabulary, shard: Shard, tokens: Tokens) -> tuple[Any, Any, Any]:
    """Give sentence, target and context of every token, by NumPy."""
    tables = vocabulary.tables
    lookup, kind = Lookup.of(tokens, shard, tables), shard.classes(tokens)
    row = lookup.row[tokens.lemma.codes]
    by_form = np.flatnonzero(row < 0)
    row[by_form] = lookup.form_row[tokens.form.codes[by_form]]
    sentence = np.repeat(np.arange(tokens.sentences), np.diff(tokens.starts))
    return sentence, tables.both[row, kind, 0], tables.both[row, kind, 1]


def _product(sentence: Any, target: Any, context: Any, vocabulary: Vocabulary) -> Any:  # noqa: ANN401 - arrays, matrix
    """Multiply sentences x words, transposed, by sentences x contexts, and take off the words themselves."""
    import scipy.sparse as sp

    sizes = len(vocabulary.words), len(vocabulary.contexts)
    sentences = int(sentence[-1]) + 1
    matrices = []
    for number, size in zip((target, context), sizes, strict=True):
        places = np.flatnonzero(number >= 0)
        ones = np.ones(len(places), np.int32)
        matrices.append(sp.csr_array((ones, (sentence[places], number[places])), (sentences, size)))
    both = np.flatnonzero((target >= 0) & (context >= 0))
    own = sp.csr_array((np.ones(len(both), np.int32), (target[both], context[both])), sizes)
    product = sp.csr_array(matrices[0].T @ matrices[1] - own)
    product.eliminate_zeros()
    product.sort_indices()
    return product


def _check(vocabulary: Vocabulary, part: Part, product: Any) -> None:  # noqa: ANN401 - scipy
    """Refuse to compare what is not the same."""
    import scipy.sparse as sp

    lengths = np.zeros(len(vocabulary.words) + 1, np.int64)
    lengths[(part.upper >> 37) + 1] = np.diff(part.ends, prepend=0)
    mine = sp.csr_array((part.values, part.columns, np.cumsum(lengths)), product.shape)
    if (mine != product).nnz:
        raise SystemExit("the counts differ from those of scipy")


def _counting_alone(
    job: Job,
    shard: Shard,
    tokens: Tokens,
    sentence: Any,  # noqa: ANN401 - an array
    target: Any,  # noqa: ANN401
    context: Any,  # noqa: ANN401
) -> Callable[[], object]:
    """Give the work that begins with numbered tokens: listing contexts, sorting occurrences, adding up."""
    from composita.counting import slices

    numbers = Lookup.of(tokens, shard, job.vocabulary.tables).read(tokens.starts)
    size = len(job.vocabulary.contexts)

    def work() -> object:
        places = np.flatnonzero(target >= 0)
        listed = context[context >= 0].astype(numbers.listed.dtype)
        word, where = target[places], sentence[places].astype(np.int32)
        again = replace(numbers, word=word, sentence=where, beside=context[places], listed=listed)
        items = [slices._word_items(again, again.beside)]  # noqa: SLF001 - a part of the whole is measured
        way = slices._way_of_counting(job, tokens, again, context, None, size)  # noqa: SLF001
        return slices._count(items, way, size, 1 << 20)  # noqa: SLF001

    return work


# ---------------------------------------------------------------- from the encoded corpus to saved counts


def _whole(corpus: Corpus, vocabulary: Vocabulary, heads: tuple[str, ...], out: Path) -> list[Row]:
    def whole(phrases: str = "", workers: int = 1) -> Callable[[], object]:
        def work() -> None:
            shutil.rmtree(out, ignore_errors=True)
            count(corpus, vocabulary, phrases=phrases, heads=heads, out=out, workers=workers)

        return work

    for warm in (whole(PHRASES), whole(PHRASES, 2)):
        warm()
    words, both, two = best(whole(), whole(PHRASES), whole(workers=2))
    cpu_words, cpu_both, cpu_two = best(whole(), whole(PHRASES), whole(workers=2), clock=time.process_time)
    size = corpus.token_count
    named = f"{PHRASES} of {len(heads)} verbs"
    return [
        Row("words, corpus to saved counts", size / words, "tokens/s", "promised", 4e6, size / words / 4e6, ">= 1"),
        faster(f"words and {named}", size, "tokens", cpu_both, "words alone (CPU)", cpu_words, ">= 0.67"),
        faster("words, two workers", size, "tokens", cpu_two, "one worker (CPU)", cpu_words, ">= 0.87"),
        faster("words, two workers", size, "tokens", two, "one worker", words),
        faster(f"words and {named}", size, "tokens", both, "words alone", words),
    ]


# ---------------------------------------------------------------- memory

COUNT = """
import json, resource, sys, time
from composita.corpus.corpus import Corpus
from composita.counting.count import count
from composita.counting.vocabulary import Vocabulary
folder, phrases, budget = sys.argv[1:]
corpus, vocabulary = Corpus.open(folder + "/corpus"), Vocabulary.open(folder + "/vocabulary")
heads = [word for word in vocabulary.words if word[-1] == "v"][:72]
start = time.perf_counter()
count(corpus, vocabulary, phrases=phrases, heads=heads, memory=budget, out=folder + "/counts")
seconds = time.perf_counter() - start
print(json.dumps([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, seconds]))
"""

MAKE = """
import pathlib, sys
from composita.corpus.corpus import Corpus
from composita.corpus.synthetic import write_synthetic
from composita.counting.vocabulary import Vocabulary
folder, size = pathlib.Path(sys.argv[1]), int(sys.argv[2])
write_synthetic(folder / "text.conllu.zst", size)
Vocabulary.from_corpus(Corpus.build([folder / "text.conllu.zst"], folder / "corpus")).save(folder / "vocabulary")
"""


def _memory() -> list[Row]:
    """Compare peak memory and time on little and on much text, each in a process of its own."""
    found = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-c", MAKE, folder, str(size)], check=True)
            run = [sys.executable, "-c", COUNT, folder, PHRASES, BUDGET]
            subprocess.run(run, check=True, capture_output=True)  # compiles
            shutil.rmtree(Path(folder, "counts"))
            found.append(json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout))
    (little, short), (much, long) = found
    what = f"{SIZES[1] // 10**6}M tokens, --memory {BUDGET}"
    other = f"{SIZES[0] // 10**6}M tokens"
    speeds = SIZES[1] / long, SIZES[0] / short
    return [
        Row(what, much, "bytes", other, little, little / much, ">= 0.91"),
        Row(what, speeds[0], "tokens/s", other, speeds[1], speeds[0] / speeds[1], ">= 0.9"),
    ]
