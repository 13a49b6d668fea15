"""Weightings: each formula by hand on a table of three by three, and against dense formulas on random tables."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from composita.counting.counts import Matrix
from composita.spaces import kernels
from composita.spaces.weighting import INFORMATION, WEIGHTINGS, Table, Weighting
from composita.store.errors import InputError, UsageError
from tests.spaces.helpers import dense, random_cells

ln = np.log

# Rows sum to 10, 6, 4; columns to 8, 8, 4; all to 20.
HAND = np.array([[6, 3, 1], [2, 4, 0], [0, 1, 3]])
MATRIX = Matrix(
    np.array([0, 3, 5, 7]), np.array([0, 1, 2, 0, 1, 1, 2], np.int32), HAND[HAND > 0].astype(np.int32), (3, 3)
)

# What chance would give: 4 4 2 / 2.4 2.4 1.2 / 1.6 1.6 0.8.
BY_HAND = {
    "none": HAND,
    "log": [[ln(6), ln(3), 0], [ln(2), ln(4), 0], [0, 0, ln(3)]],
    "log1p": [[ln(7), ln(4), ln(2)], [ln(3), ln(5), 0], [0, ln(2), ln(4)]],
    "pmi": [[ln(6 / 4), ln(3 / 4), ln(1 / 2)], [ln(2 / 2.4), ln(4 / 2.4), 0], [0, ln(1 / 1.6), ln(3 / 0.8)]],
    "ppmi": [[ln(6 / 4), 0, 0], [0, ln(4 / 2.4), 0], [0, 0, ln(3 / 0.8)]],
    "lmi": [[6 * ln(6 / 4), 0, 0], [0, 4 * ln(4 / 2.4), 0], [0, 0, 3 * ln(3 / 0.8)]],
    "epmi": [[6 / 4, 3 / 4, 1 / 2], [2 / 2.4, 4 / 2.4, 0], [0, 1 / 1.6, 3 / 0.8]],
    "t-score": [[2 / 6**0.5, 0, 0], [0, 1.6 / 2, 0], [0, 0, 2.2 / 3**0.5]],
    "z-score": [[2 / 4**0.5, 0, 0], [0, 1.6 / 2.4**0.5, 0], [0, 0, 2.2 / 0.8**0.5]],
    "simple-ll": [
        [2 * (6 * ln(6 / 4) - 2), 0, 0],
        [0, 2 * (4 * ln(4 / 2.4) - 1.6), 0],
        [0, 0, 2 * (3 * ln(3 / 0.8) - 2.2)],
    ],
    "dice": [[12 / 18, 6 / 18, 2 / 14], [4 / 14, 8 / 14, 0], [0, 2 / 12, 6 / 8]],
    # Two of the three rows have the first column, three the second, two the third.
    "tf-idf": [[6 * ln(3 / 2), 0, ln(3 / 2)], [2 * ln(3 / 2), 0, 0], [0, 0, 3 * ln(3 / 2)]],
    # 20 (6 * 8 - 4 * 2)^2 / (10 * 8 * 10 * 12); 20 (4 * 10 - 2 * 4)^2 / (6 * 8 * 14 * 12);
    # 20 (3 * 15 - 1)^2 / (4 * 4 * 16 * 16)
    "chi-squared": [[20 * 40**2 / 9600, 0, 0], [0, 20 * 32**2 / 8064, 0], [0, 0, 20 * 44**2 / 4096]],
    "log-likelihood": [
        [2 * (6 * ln(6 / 4) + 4 * ln(4 / 6) + 2 * ln(2 / 4) + 8 * ln(8 / 6)), 0, 0],
        [0, 2 * (4 * ln(4 / 2.4) + 2 * ln(2 / 3.6) + 4 * ln(4 / 5.6) + 10 * ln(10 / 8.4)), 0],
        [0, 0, 2 * (3 * ln(3 / 0.8) + 1 * ln(1 / 3.2) + 1 * ln(1 / 3.2) + 15 * ln(15 / 12.8))],
    ],
}


@pytest.mark.parametrize("name", WEIGHTINGS)
def test_formulas_by_hand(name):
    weighted = Weighting.fit(MATRIX, name).apply(MATRIX)
    np.testing.assert_allclose(dense(weighted), np.array(BY_HAND[name], float), rtol=1e-5, atol=1e-6)
    assert (weighted.data != 0).all(), "no cell that became 0 is kept"


@pytest.mark.parametrize("name", ["chi-squared", "log-likelihood"])
def test_tables_of_two_by_two_against_scipy(name):
    total, found = HAND.sum(), Weighting.fit(MATRIX, name).apply(MATRIX)
    for row in range(3):
        for column in range(3):
            n, r, c = HAND[row, column], HAND[row].sum(), HAND[:, column].sum()
            if n > r * c / total:
                two = [[n, r - n], [c - n, total - r - c + n]]
                kind = "log-likelihood" if name == "log-likelihood" else "pearson"
                expected = chi2_contingency(two, correction=False, lambda_=kind).statistic
                np.testing.assert_allclose(dense(found)[row, column], expected, rtol=1e-5)


def test_smoothing_by_hand():
    # Column sums 8, 8, 4 to the power 0.5: 2.828, 2.828, 2, together 7.657.
    chance = np.array([8**0.5, 8**0.5, 2]) / (2 * 8**0.5 + 2)
    expected = ln(np.where(HAND, HAND, 1) / HAND.sum(axis=1, keepdims=True) / chance) * (HAND > 0)
    found = Weighting.fit(MATRIX, "pmi", smoothing=0.5).apply(MATRIX)
    np.testing.assert_allclose(dense(found), expected, rtol=1e-5)
    found = Weighting.fit(MATRIX, "epmi", smoothing=0.5).apply(MATRIX)
    np.testing.assert_allclose(dense(found), np.exp(expected) * (HAND > 0), rtol=1e-5)


def test_shift_by_hand():
    found = Weighting.fit(MATRIX, "ppmi", shift=ln(1.6)).apply(MATRIX)
    np.testing.assert_allclose(
        dense(found), [[0, 0, 0], [0, ln(4 / 2.4 / 1.6), 0], [0, 0, ln(3 / 0.8 / 1.6)]], rtol=1e-5
    )


def test_own_function():
    def root_of_dice(cells: Table):
        return np.sqrt(2 * cells.n / (cells.r + cells.c))

    found = Weighting.fit(MATRIX, root_of_dice)
    np.testing.assert_allclose(dense(found.apply(MATRIX)), np.sqrt(np.array(BY_HAND["dice"], float)), rtol=1e-5)
    assert str(found) == "own root_of_dice"
    again = Weighting.restore(found.parameters(), found.arrays())
    with pytest.raises(UsageError, match="is not saved with a space"):
        again.apply(MATRIX)
    with pytest.raises(UsageError, match="one finite number for each of 7 cells"):
        Weighting.fit(MATRIX, lambda cells: np.full(len(cells.n), np.nan)).apply(MATRIX)


@pytest.mark.parametrize("name", ["pmi", "ppmi", "lmi", "epmi"])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32])
def test_random_tables_against_the_dense_formula(name, kind):
    matrix = random_cells()
    matrix = matrix._replace(data=(matrix.data * 1000 if kind == np.int64 else matrix.data).astype(kind))
    n = dense(matrix)
    ratio = n * n.sum() / (n.sum(axis=1, keepdims=True) * n.sum(axis=0))
    with np.errstate(divide="ignore"):
        pmi = np.where(n > 0, ln(ratio), 0)
    expected = {"pmi": pmi, "ppmi": pmi.clip(0), "lmi": n * pmi.clip(0), "epmi": ratio}[name]
    found = Weighting.fit(matrix, name).apply(matrix)
    np.testing.assert_allclose(dense(found), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", WEIGHTINGS)
def test_projected_rows_use_the_columns_of_the_core(name):
    """Core rows that are sent through again come out the same; other rows have the core's sums and their own."""
    core = random_cells(seed=1)
    made = Weighting.fit(core, name)
    some = np.array([3, 0, 59])
    np.testing.assert_array_equal(dense(made.apply(core, some)), dense(made.apply(core))[some])
    assert np.isfinite(made.apply(random_cells(seed=2)).data).all()


def test_what_the_core_lacks_weighs_nothing():
    core = Matrix(np.array([0, 1]), np.array([0], np.int32), np.array([2], np.int32), (1, 2))
    row = Matrix(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, 1], np.int32), (1, 2))
    for name in set(WEIGHTINGS) - {"none", "log", "log1p"}:
        found = Weighting.fit(core, name).apply(row)
        assert 1 not in found.indices, name


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 9), st.integers(0, 1000), st.sampled_from(["pmi", "ppmi", "epmi"]))
def test_information_does_not_depend_on_scale(factor, seed, name):
    matrix = random_cells(12, 9, seed=seed)
    larger = matrix._replace(data=matrix.data * factor)
    one, other = (Weighting.fit(m, name).apply(m) for m in (matrix, larger))
    np.testing.assert_allclose(dense(one), dense(other), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", WEIGHTINGS)
def test_units_are_fractions(name):
    """Counts with distance weights are whole numbers of a unit: the same as counts divided by it."""
    matrix = random_cells(20, 10)
    parts = matrix._replace(data=matrix.data / np.float32(4))
    one, other = Weighting.fit(matrix, name, unit=4).apply(matrix), Weighting.fit(parts, name).apply(parts)
    np.testing.assert_allclose(dense(one), dense(other), rtol=1e-5, atol=1e-6)


def test_what_chance_gives_is_nothing():
    """Rounding leaves 1e-16 of the information of cells that are just what chance gives; it is no weight."""
    even = Matrix(np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32), np.array([2, 2, 14, 14], np.int32), (2, 2))
    for name in ("ppmi", "lmi"):
        assert not len(Weighting.fit(even, name).apply(even).data)


def test_empty_rows_and_columns():
    matrix = Matrix(np.array([0, 0, 1, 1]), np.array([2], np.int32), np.array([3], np.int32), (3, 4))
    for name in WEIGHTINGS:
        found = Weighting.fit(matrix, name).apply(matrix)
        assert found.indptr[1] == 0 and len(found.indptr) == 4 and np.isfinite(found.data).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Weighting.fit(MATRIX, "ppni"), "unknown weighting 'ppni'.*did you mean"),
        (lambda: Weighting.fit(MATRIX, "log", smoothing=0.5), "smoothing belongs to pmi, ppmi, lmi, epmi"),
        (lambda: Weighting.fit(MATRIX, smoothing=2), "above 0 and up to 1, got 2"),
        (lambda: Weighting.fit(MATRIX, "dice", shift=1), "got 1 for dice"),
        (lambda: Weighting.fit(MATRIX).apply(random_cells()), "expected rows of 3 columns as the core has, got 40"),
    ],
)
def test_wrong_use(call, message):
    with pytest.raises(UsageError, match=message):
        call()


def test_all_zero():
    nothing = Matrix(np.zeros(3, np.int64), np.empty(0, np.int32), np.empty(0, np.int32), (2, 2))
    with pytest.raises(InputError, match="no counts at all"):
        Weighting.fit(nothing)


def plain_information(matrix, made, clip, local):
    """Write (positive, local) information cell by cell, as the formula says it."""
    indptr, indices, values = [0], [], []
    for first, last in pairwise(matrix.indptr.tolist()):
        r = sum(int(n) for n in matrix.data[first:last]) / made.unit
        for cell in range(first, last):
            n, c = matrix.data[cell] / made.unit, made.columns[matrix.indices[cell]]
            value = math.log(n * made.total / (r * c)) - made.shift if n and c else 0.0
            value = (value if value > 1e-12 else 0.0) if clip else value
            value *= n if local else 1
            if value:
                indices.append(int(matrix.indices[cell]))
                values.append(value)
        indptr.append(len(indices))
    return indptr, indices, values


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_information_against_a_plain_loop(data):
    """Rows of small, of large and of mixed counts, of zeros and of nothing, in columns that the core lacks too."""
    sizes = st.sampled_from([0, 1, 2, 7, 300, 16_383, 16_384, 70_000, 2**31 - 1])
    lists = data.draw(st.lists(st.lists(sizes, max_size=9), min_size=1, max_size=6))
    kind = data.draw(st.sampled_from([np.int32, np.int64]))
    lengths = [len(cells) for cells in lists]
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    indices = np.concatenate([np.sort(random.permutation(9)[:length]) for length in lengths]).astype(np.int32)
    matrix = Matrix(
        np.cumsum([0, *lengths]), indices, np.array([n for cells in lists for n in cells], kind), (len(lists), 9)
    )
    core = random_cells(20, 9, density=0.4)
    core.indices[core.indices == 4] = 5  # a column that the core lacks
    name = data.draw(st.sampled_from(["pmi", "ppmi", "lmi"]))
    made = Weighting.fit(
        core, name, unit=data.draw(st.sampled_from([1, 3])), shift=data.draw(st.sampled_from([0, 1.0]))
    )
    found = made.apply(matrix)
    indptr, indices, values = plain_information(matrix, made, *INFORMATION[name])
    np.testing.assert_array_equal(found.indptr, indptr)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.data, values, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", WEIGHTINGS)
def test_negative_numbers_are_refused_wherever_they_are(name):
    """They would be looked up beside the table of logarithms."""
    for kind in (np.int32, np.int64, np.float32):
        whole = Matrix(np.array([0, 6]), np.arange(6, dtype=np.int32), np.arange(1, 7).astype(kind), (1, 6))
        made = Weighting.fit(whole, name)
        for place in range(6):
            signs = np.where(np.arange(6) == place, -1, 1).astype(kind)
            with pytest.raises(InputError, match="a number is negative"):
                made.apply(whole._replace(data=whole.data * signs))


def test_kernels_in_plain_python():
    """The loops are the same without the compiler, which does not check bounds."""
    rows, args = np.arange(3), (MATRIX.indptr, MATRIX.indices, MATRIX.data)
    made = Weighting.fit(MATRIX, "log-likelihood")
    ends, out = np.empty(3, np.int64), (np.empty(7, np.int32), np.empty(7, np.float32))
    about = kernels.LL, made.columns, made.found, made.total, 3.0
    used = kernels.weigh_by_score.py_func(*args, rows, 1.0, *about, ends, *out)
    compiled = made.apply(MATRIX)
    np.testing.assert_allclose(out[1][:used], compiled.data, rtol=1e-6)
    plain = np.empty((3, 2), np.float32)
    dense_part = np.arange(6, dtype=np.float32).reshape(3, 2)
    kernels.times.py_func(*args, dense_part, plain, 0, 3)
    np.testing.assert_allclose(plain, HAND @ dense_part)
