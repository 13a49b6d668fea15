"""Small counts and matrices for the tests of spaces."""

import numpy as np
import scipy.sparse as sp

from composita.counting.counts import Counts
from composita.counting.exchange import read_dissect
from composita.spaces.cells import from_scipy

TABLE = {
    "dog-n": {"bark-v": 4, "tail-n": 2, "road-n": 1},
    "cat-n": {"tail-n": 3, "purr-v": 3},
    "car-n": {"road-n": 5, "tail-n": 1},
}

CELLS = """\
car-n road-n 5
car-n tail-n 1
cat-n tail-n 3
cat-n purr-v 3
dog-n bark-v 4
dog-n tail-n 2
dog-n road-n 1
chase-v bark-v 2
chase-v tail-n 2
furry-a tail-n 2
svo:chase-v(cat-n,dog-n) tail-n 2
svo:chase-v(cat-n,dog-n) bark-v 1
svo:chase-v(car-n,dog-n) road-n 1
sv:chase-v(dog-n) bark-v 2
vo:chase-v(dog-n) road-n 2
"""
EMPTY_ROW = "svo:chase-v(dog-n,dog-n)"


def words():
    return Counts.from_cells(TABLE)


def counts_with_phrases(folder):
    """Counts of words and of phrases in three patterns; furry-a is outside the core, and one phrase has no contexts."""
    (folder / "small.sm").write_text(CELLS)
    labels = dict.fromkeys(line.split()[0] for line in CELLS.splitlines())
    (folder / "small.rows").write_text("".join(f"{label}\n" for label in [*labels, EMPTY_ROW]))
    (folder / "small.cols").write_text("road-n\ntail-n\nbark-v\npurr-v\n")
    return read_dissect(folder / "small")


def random_cells(rows=60, columns=40, density=0.3, seed=0, whole=True):
    random = np.random.default_rng(seed)
    found = sp.random_array((rows, columns), density=density, rng=random, format="csr")
    found.data = random.integers(1, 30, len(found.data)).astype(np.int32) if whole else random.random(len(found.data))
    return from_scipy(found)


def dense(matrix):
    found = np.zeros(matrix.shape)
    found[np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices] = matrix.data
    return found
