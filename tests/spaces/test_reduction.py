"""Reductions against LAPACK, ARPACK, scikit-learn and exact non-negative least squares."""

import logging
import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.counting.counts import Matrix
from composita.spaces import kernels
from composita.spaces import svd as svd_module
from composita.spaces.cells import from_scipy, product, to_scipy
from composita.spaces.nmf import gram, least_squares, nmf
from composita.spaces.steps import Nmf, Normalisation, Selection, Svd
from composita.spaces.svd import svd
from composita.spaces.weighting import Weighting
from composita.store.engine import Engine
from composita.store.errors import CancelledError, InputError, UsageError
from composita.store.progress import Cancellation
from tests.spaces.helpers import dense, random_cells


@pytest.fixture(scope="module")
def ppmi():
    """A matrix with the slowly falling spectrum of real ones, too large for the dense way."""
    random = np.random.default_rng(0)
    topics = random.dirichlet(np.full(30, 0.3), 1300) @ random.dirichlet(np.full(1200, 0.05), 30)
    counts = random.poisson(topics * random.lognormal(6, 1, (1300, 1)))
    matrix = from_scipy(sp.csr_array(counts.astype(np.int32)))
    return Weighting.fit(matrix).apply(matrix)


# ---------------------------------------------------------------- svd


@pytest.mark.parametrize("size", [1, 5, 60])
def test_block_lanczos_against_lapack(ppmi, size):
    found = svd(ppmi, size)
    assert found.basis, "not the dense way"
    exact = np.linalg.svd(dense(ppmi), compute_uv=False)[:size]
    np.testing.assert_allclose(found.values, exact, rtol=1e-6)
    back = dense(ppmi).T @ (dense(ppmi) @ found.vectors.astype(float))
    residual = np.linalg.norm(back - found.vectors * found.values**2, axis=0) / found.values**2
    assert residual.max() < 1e-4
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(size), atol=1e-5)


def test_values_are_ordered_and_signs_are_fixed(ppmi):
    found = svd(ppmi, 20)
    assert (np.diff(found.values) <= 0).all()
    assert (found.vectors[np.abs(found.vectors).argmax(axis=0), np.arange(20)] > 0).all()


def test_the_same_bits_with_any_number_of_workers(ppmi):
    one, two, again = svd(ppmi, 20), svd(ppmi, 20, engine=Engine(3)), svd(ppmi, 20)
    for other in (two, again):
        np.testing.assert_array_equal(one.vectors, other.vectors)
        np.testing.assert_array_equal(one.values, other.values)


def test_seeds_agree_on_the_values(ppmi):
    np.testing.assert_allclose(svd(ppmi, 20, seed=1).values, svd(ppmi, 20, seed=2).values, rtol=1e-6)


@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (1, 5), (5, 1)])
def test_dense_way_against_lapack(shape):
    matrix = random_cells(*shape, density=0.8, whole=False)
    size = min(shape)
    found = svd(matrix, size)
    np.testing.assert_allclose(found.values, np.linalg.svd(dense(matrix), compute_uv=False), rtol=1e-5)


def low_rank(rows, columns, rank):
    random = np.random.default_rng(3)
    return from_scipy(sp.csr_array(random.random((rows, rank)) @ random.random((rank, columns))))


@pytest.mark.parametrize(("rows", "columns"), [(40, 30), (1200, 1100)])
def test_fewer_dimensions_where_the_rank_is_smaller(rows, columns, caplog):
    with caplog.at_level(logging.WARNING):
        found = svd(low_rank(rows, columns, 7), 12)
    assert len(found.values) == found.vectors.shape[1] == found.rank == 7
    assert "rank 7: of the 12 dimensions asked for there are only 7" in caplog.text


def test_equal_singular_values():
    """All values of this one are the same: every block that follows from the first vanishes, and is replaced."""
    size = svd_module.SMALL + 200
    found = svd(from_scipy(sp.csr_array(sp.eye_array(size))), 40)
    np.testing.assert_allclose(found.values, np.ones(40), rtol=1e-6)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(40), atol=1e-5)


@pytest.mark.parametrize(
    ("size", "error", "message"),
    [(0, UsageError, "at least 1 dimension"), (41, UsageError, "60 rows x 40 columns has at most 40 dimensions")],
)
def test_impossible_dimensions(size, error, message):
    with pytest.raises(error, match=message):
        svd(random_cells(), size)


def test_nothing_to_reduce():
    nothing = Matrix(np.zeros(4, np.int64), np.empty(0, np.int32), np.empty(0, np.float32), (3, 3))
    for reduce in (svd, nmf):
        with pytest.raises(InputError, match="all cells of the core are 0"):
            reduce(nothing, 2)


def test_svd_can_be_stopped(ppmi):
    stop = Cancellation()
    stop.cancel()
    with pytest.raises(CancelledError):
        svd(ppmi, 10, cancel=stop)


def test_projection_reproduces_the_core_and_powers(ppmi):
    u, s, _ = np.linalg.svd(dense(ppmi), full_matrices=False)
    for power, drop in ((1.0, 0), (0.5, 0), (0.0, 2), (1.0, 3)):
        step = Svd.of(svd(ppmi, 12 + drop), power=power, drop=drop)
        rows = step.apply(ppmi)
        expected = u[:, drop : 12 + drop] * s[drop : 12 + drop] ** power
        np.testing.assert_allclose(np.abs(rows), np.abs(expected), atol=2e-4 * np.abs(expected).max())
        np.testing.assert_array_equal(step.apply(dense(ppmi).astype(np.float32)).round(2), rows.round(2) + 0.0)


# ---------------------------------------------------------------- nmf


def error_of(matrix, found):
    whole = dense(matrix)
    return (
        np.linalg.norm(whole / whole.sum() - found.weights.astype(float) @ found.patterns) ** 2
        / np.linalg.norm(whole / whole.sum()) ** 2
    )


@pytest.mark.parametrize("solver", ["hals", "lin"])
@pytest.mark.parametrize("start", ["nndsvd", "random"])
def test_factors_are_as_reported(solver, start):
    matrix = random_cells(80, 50)
    found = nmf(matrix, 6, solver=solver, start=start)
    assert (found.weights >= 0).all() and (found.patterns >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(found.patterns, axis=1), 1, rtol=1e-5)
    assert found.report[-1].error == pytest.approx(error_of(matrix, found), rel=1e-3)
    errors = [step.error for step in found.report]
    assert all(b <= a * (1 + 1e-5) for a, b in pairwise(errors)), "it never gets worse"
    assert found.stopped in ("tolerance", "iterations")
    assert found.report[0].gradient == 1


@pytest.mark.parametrize("solver", ["hals", "lin"])
def test_as_good_as_scikit_learn(solver):
    from sklearn.decomposition import NMF

    matrix = random_cells(80, 50)
    whole = dense(matrix)
    theirs = NMF(6, init="nndsvd", solver="cd", max_iter=200, tol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it needs more iterations
        weights = theirs.fit_transform(whole)
    error = np.linalg.norm(whole - weights @ theirs.components_) ** 2 / np.linalg.norm(whole) ** 2
    assert nmf(matrix, 6, solver=solver, tolerance=1e-5, iterations=200).report[-1].error < error * 1.01


@settings(max_examples=15, deadline=None)
@given(st.floats(1e-6, 1e6), st.sampled_from(["hals", "lin"]))
def test_nothing_depends_on_scale(factor, solver):
    """An absolute tolerance stops at the starting point when X sums to 1."""
    matrix = random_cells(30, 20)
    scaled = matrix._replace(data=matrix.data * factor)
    one, other = (nmf(m, 4, solver=solver, iterations=10) for m in (matrix, scaled))
    assert len(one.report) == len(other.report) > 2
    np.testing.assert_allclose(one.weights, other.weights, rtol=0.02, atol=1e-3 * one.weights.max())


def test_nmf_stops_by_what_was_asked_for():
    matrix = random_cells(80, 50)
    assert nmf(matrix, 5, iterations=3, tolerance=0).stopped == "iterations"
    assert len(nmf(matrix, 5, iterations=3, tolerance=0).report) == 4
    assert nmf(matrix, 5, seconds=0).stopped == "time"
    assert nmf(matrix, 5, tolerance=0.5).report[-1].gradient <= 0.5


def test_nmf_is_deterministic():
    matrix = random_cells(80, 50)
    for start in ("nndsvd", "random"):
        one, other = nmf(matrix, 5, start=start), nmf(matrix, 5, start=start, engine=Engine(2))
        np.testing.assert_array_equal(one.weights, other.weights)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_least_squares_against_scipy(seed):
    random = np.random.default_rng(seed)
    patterns = random.random((6, 9)) * (random.random((6, 9)) < 0.6)
    rows = random.random((4, 9)) - 0.2
    expected = np.array([scipy.optimize.nnls(patterns.T, row)[1] for row in rows])
    weights = np.zeros((4, 6), np.float32)
    least_squares((rows @ patterns.T).astype(np.float32), gram(patterns.T), weights)
    assert (weights >= 0).all()
    found = np.linalg.norm(rows - weights @ patterns, axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_projected_core_rows_are_the_optimum():
    matrix = random_cells(80, 50)
    found = nmf(matrix, 6, tolerance=1e-4, iterations=300)
    step = Nmf.of(found, "hals", "nnls")
    whole = dense(matrix) / found.total
    expected = np.array([scipy.optimize.nnls(found.patterns.T.astype(float), row)[0] for row in whole])
    np.testing.assert_allclose(step.apply(matrix), expected, atol=1e-3 * expected.max())
    np.testing.assert_allclose(step.apply(matrix), found.weights, atol=0.05 * expected.max())


def test_projection_by_pinv_can_be_negative():
    matrix = random_cells(80, 50)
    found = nmf(matrix, 6)
    step = Nmf.of(found, "hals", "pinv")
    expected = dense(matrix) / found.total @ np.linalg.pinv(found.patterns.astype(float))
    np.testing.assert_allclose(step.apply(matrix), expected, atol=1e-5 * np.abs(expected).max())
    assert (step.apply(matrix) < 0).any() and "pinv" in str(step)


def test_wrong_nmf():
    signed = random_cells()._replace(data=-random_cells().data)
    with pytest.raises(InputError, match="without negative numbers, such as ppmi"):
        nmf(signed, 3)
    with pytest.raises(UsageError, match="hals or lin"):
        nmf(random_cells(), 3, solver="mu")
    with pytest.raises(UsageError, match="nnls or pinv"):
        Nmf.of(nmf(random_cells(), 3), "hals", "lstsq")


def test_descend_in_plain_python():
    random = np.random.default_rng(0)
    patterns = random.random((4, 7))
    rows = random.random((3, 7))
    inside = (patterns @ patterns.T).astype(np.float32)
    against = (rows @ patterns.T).astype(np.float32)
    one, other = np.zeros((3, 4), np.float32), np.zeros((3, 4), np.float32)
    kernels.descend(one, -against.copy(), inside, 50, 1e-6, 0.0, 0, 3)
    kernels.descend.py_func(other, -against.copy(), inside, 50, 1e-6, 0.0, 0, 3)
    np.testing.assert_allclose(one, other, atol=1e-5)


# ---------------------------------------------------------------- columns and rows


def test_selection_by_hand():
    matrix = from_scipy(sp.csr_array(np.array([[3.0, 0, 1, 1], [0, 0, 2, 1], [0, 0, 2, 1]])))
    kept = {by: Selection.fit(matrix, top=2, by=by).columns.tolist() for by in ("sum", "length")}
    assert kept == {"sum": [2, 3], "length": [0, 2]} or kept == {"sum": [0, 2], "length": [0, 2]}
    assert Selection.fit(matrix, min_count=4).columns.tolist() == [2]
    step = Selection.fit(matrix, top=3)
    np.testing.assert_array_equal(dense(step.apply(matrix)), dense(matrix)[:, [0, 2, 3]])
    np.testing.assert_array_equal(step.apply(dense(matrix).astype(np.float32)), dense(matrix)[:, [0, 2, 3]])
    with pytest.raises(InputError, match="no column is left"):
        Selection.fit(matrix, min_count=9)


@pytest.mark.parametrize(("norm", "order"), [("l1", 1), ("l2", 2)])
def test_normalisation(norm, order):
    matrix = random_cells(10, 8, density=0.2)
    whole = dense(matrix)
    lengths = np.linalg.norm(whole, ord=order, axis=1, keepdims=True)
    expected = whole / np.where(lengths > 0, lengths, 1)
    np.testing.assert_allclose(dense(Normalisation(norm).apply(matrix)), expected, rtol=1e-6)
    np.testing.assert_allclose(Normalisation(norm).apply(whole), expected, rtol=1e-6)


def test_products_against_scipy():
    matrix = random_cells(300, 40, whole=False)._replace()
    other = np.random.default_rng(0).random((40, 7)).astype(np.float32)
    found = product(matrix._replace(data=matrix.data.astype(np.float32)), other, engine=Engine(2))
    np.testing.assert_allclose(found, to_scipy(matrix) @ other, rtol=1e-5)
