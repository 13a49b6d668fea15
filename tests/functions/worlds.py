"""A small space with phrases of planted meaning, made once for all tests."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from composita.corpus.corpus import Corpus
from composita.corpus.miniature import write_miniature
from composita.counting.count import count
from composita.counting.vocabulary import Vocabulary
from composita.spaces.space import Space


@cache
def miniature_space(dimensions: int = 20) -> Space:
    """Count the miniature corpus and reduce it."""
    folder = Path(mkdtemp(prefix="composita-world-"))
    made = write_miniature(folder / "text")
    corpus = Corpus.build([made.text], folder / "corpus")
    words = Vocabulary.from_corpus(corpus, nouns=200, verbs=60, adjectives=20, contexts=400, stop=10)
    counts = count(corpus, words, phrases="sv,svo,an")
    space = Space.from_counts(counts, reduce="svd", dimensions=dimensions)
    space.save(folder / "space")
    return Space.open(folder / "space")
