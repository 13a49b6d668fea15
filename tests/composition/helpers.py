"""A small world of random vectors: words, attested phrases, a lexicon, all with seeds."""

import numpy as np
from scipy import sparse

from composita.counting.counts import Matrix
from composita.counting.keys import pack, word_keys
from composita.counting.labels import Names
from composita.counting.patterns import load_patterns
from composita.counting.words import order_of
from composita.functions.lexicon import Lexicon
from composita.spaces.items import Items
from composita.spaces.space import Space

NOUNS = ["cat-n", "dog-n", "mouse-n", "bamboo-n", "panda-n", "song-n", "kid-n", "bone-n"]
VERBS = ["chase-v", "eat-v", "sing-v", "sleep-v"]
ADJECTIVES = ["angry-a", "furry-a"]
WORDS = sorted([*NOUNS, *VERBS, *ADJECTIVES, "rare-v", "new-a"], key=order_of)
DIMENSIONS = 6


def tiny_space(*, positive=True, sparse_rows=False, seed=0, patterns="sv,svo,vo,an", dimensions=DIMENSIONS):
    """Make a space of the words above, with phrases of most heads; rare-v and new-a have none."""
    rng = np.random.default_rng(seed)
    names = Names(tuple(WORDS), load_patterns(patterns), ())
    ids = names.ids
    upper, lower = [word_keys(np.arange(len(WORDS)))], [np.zeros(len(WORDS), np.int64)]
    for number, pattern in enumerate(names.patterns, 1):
        heads = {"v": VERBS, "a": ADJECTIVES}[pattern.head]
        for head in heads:
            if (head, pattern.name) in {("sleep-v", "svo"), ("sleep-v", "vo"), ("eat-v", "sv")}:
                continue
            size = len(pattern.arguments)
            pairs = sorted({tuple(rng.choice(len(NOUNS), size).tolist()) for _ in range(20)})
            arguments = np.full((len(pairs), 4), -1)
            arguments[:, :size] = np.array([[ids[NOUNS[a]] for a in pair] for pair in pairs])
            same = np.full(len(pairs), number), np.full(len(pairs), ids[head]), np.zeros(len(pairs), np.int64)
            keys = pack(*same, arguments)
            upper.append(keys[0])
            lower.append(keys[1])
    upper, lower = np.concatenate(upper), np.concatenate(lower)
    order = np.lexsort((lower, upper))
    items = Items(names, upper[order], lower[order])
    rows = rng.normal(size=(len(items), dimensions)).astype(np.float32)
    rows = np.abs(rows) if positive else rows
    if sparse_rows:
        rows = sparse.csr_array(np.where(rng.random(rows.shape) < 0.7, rows, 0).astype(np.float32))
        rows = Matrix(rows.indptr.astype(np.int64), rows.indices, rows.data, rows.shape)
    core, nonzeros = items.fields.pattern == 0, np.full(len(items), 50, np.int32)
    return Space(items, rows, core, rng.integers(1, 9, len(items)), nonzeros, source="vectors")


def tiny_lexicon(**options):
    """Make a lexicon of it, without functions."""
    return Lexicon.from_space(tiny_space(**options))
