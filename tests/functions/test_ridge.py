from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import composita
from composita.functions.penalty import Spectrum, choose, relative_grid
from composita.functions.regression import VectorOutputs, regress
from composita.functions.ridge import ridge
from composita.store.errors import InputError, TooFewError, UsageError
from tests.functions import oracle


def data(rng, m, d, q=3, weighted=False):
    return rng.normal(size=(m, d)), rng.normal(size=(m, q)), rng.uniform(0.2, 3, m) if weighted else None


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("m", "d"), [(5, 12), (12, 5), (8, 8), (3, 1), (20, 2)])
def test_gcv_is_its_definition_by_the_hat_matrix(m, d, weighted, intercept):
    rng = np.random.default_rng(m * d)
    x, y, w = data(rng, m, d, weighted=weighted)
    found = ridge(x, y, weights=w, intercept=intercept).training.levels[0].penalty
    w = None if w is None else w / w.mean()
    expected = [oracle.gcv(x, y, penalty, w, intercept) for penalty in found["grid"]]
    # At the lower end 1 - leverage comes down to differences of nearly equal numbers in the hat matrix itself.
    np.testing.assert_allclose(found["curve"], expected, rtol=1e-5)
    np.testing.assert_allclose(found["curve"][30:], expected[30:], rtol=1e-9)
    assert found["lambda"] == [pytest.approx(oracle.best_penalty(x, y, w, intercept))]


@pytest.mark.parametrize("intercept", [False, True])
def test_leverages_are_the_diagonal_of_the_hat_matrix(intercept):
    rng = np.random.default_rng(5)
    for m, d in ((4, 9), (9, 4)):
        x, y, w = data(rng, m, d, weighted=True)
        level = regress(x, np.array([0, m]), VectorOutputs(y), weights=w, intercept=intercept, penalty=0.7)
        np.testing.assert_allclose(level.leverage, np.diag(oracle.hat_matrix(x, 0.7, w, intercept)), atol=1e-12)


def test_pooled_gcv_is_that_of_all_regressions_together():
    rng = np.random.default_rng(1)
    sizes = [3, 5, 3, 9, 4]
    x, y, _ = data(rng, sum(sizes), 4)
    bounds = np.cumsum([0, *sizes])
    level = regress(x, bounds, VectorOutputs(y), pooled=True)
    curve = []
    for penalty in level.choice.grid:
        wrong = free = 0.0
        for first, last in pairwise(bounds):
            left = np.eye(last - first) - oracle.hat_matrix(x[first:last], penalty)
            wrong += ((left @ y[first:last]) ** 2).sum()
            free += np.trace(left)
        curve.append(wrong / sum(sizes) / (free / sum(sizes)) ** 2)
    np.testing.assert_allclose(level.choice.curve, curve, rtol=1e-8)
    assert len(set(level.choice.penalties)) == 1


def test_many_small_regressions_are_those_done_one_by_one():
    rng = np.random.default_rng(2)
    sizes = rng.integers(2, 9, 60)
    x, y, w = data(rng, sizes.sum(), 5, weighted=True)
    bounds = np.cumsum([0, *sizes])
    level = regress(x, bounds, VectorOutputs(y), weights=w, intercept=True)
    for g, (first, last) in enumerate(pairwise(bounds)):
        rows = slice(first, last)
        alone = regress(x[rows], np.array([0, last - first]), VectorOutputs(y[rows]), weights=w[rows], intercept=True)
        if level.choice.verdicts[g] != "flat":
            np.testing.assert_allclose(level.dual[rows], alone.dual, atol=1e-9)
            np.testing.assert_allclose(level.choice.gcv[g], alone.choice.gcv[0])


# ---------------------------------------------------------------- degenerate cases


def test_a_flat_curve_takes_the_pooled_penalty():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(14, 6))
    x[:3] = np.eye(6)[:3] * 2  # K is a multiple of the identity: every lambda scores the same
    x[3:6] = 0  # K = 0
    y = rng.normal(size=(14, 2))
    y[6:10] = 0  # nothing to predict
    level = regress(x, np.array([0, 3, 6, 10, 14]), VectorOutputs(y))
    pooled = regress(x, np.array([0, 3, 6, 10, 14]), VectorOutputs(y), pooled=True)
    assert level.choice.verdicts[:3] == ["flat", "flat", "flat"]
    assert set(level.choice.penalties[:3]) == set(pooled.choice.penalties)
    assert not level.dual[3:6].any() and np.isfinite(level.dual).all()


def test_one_example_and_nothing_but_zeros_give_finite_maps():
    for x, y in ((np.ones((1, 3)), np.ones((1, 2))), (np.eye(3), np.zeros((3, 2)))):
        for intercept in (False, True):
            f = ridge(x, y, intercept=intercept, storage="terms")
            assert np.isfinite(f(x)).all()
            assert f.training.levels[0].penalty["verdicts"] == {"flat": 1}
    with pytest.raises(TooFewError, match="no example with vectors"):
        ridge(np.zeros((3, 2)), np.ones((3, 2)))


def test_noise_has_no_signal_and_no_noise_interpolates():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 20))
    noise = ridge(x, rng.normal(size=(200, 500)))
    assert noise.training.levels[0].penalty["verdicts"] == {"no signal": 1}
    exact = ridge(x, x @ rng.normal(size=(20, 3)))
    assert exact.training.levels[0].penalty["verdicts"] == {"interpolates": 1}


def test_equal_inputs_are_one_weighted_example():
    rng = np.random.default_rng(6)
    x, y, w = data(rng, 6, 4, weighted=True)
    twice, both = np.concatenate([x, x[:2]]), np.concatenate([y, y[:2] + 1])
    weights = np.concatenate([w, [0.5, 0.5]])
    found = ridge(twice, both, weights=weights, penalty=0.1, storage="terms")
    assert found.training.used == 6
    total = w + np.concatenate([[0.5, 0.5], np.zeros(4)])
    expected = oracle.dense_ridge(twice, both, 0.1, weights / total.mean())
    np.testing.assert_allclose(found.dense(), expected, atol=1e-12)


def test_float32_chooses_as_float64_does():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(40, 60)) * np.arange(1, 61) ** -1.0
    y = x @ rng.normal(size=(60, 10)) + rng.normal(size=(40, 10))
    exact, single = ridge(x, y), ridge(x.astype(np.float32), y.astype(np.float32))
    assert single.dtype == np.float32 and exact.dtype == np.float64
    np.testing.assert_allclose(
        single.training.levels[0].penalty["lambda"], exact.training.levels[0].penalty["lambda"], rtol=1e-5
    )
    np.testing.assert_allclose(single(x), exact(x), atol=1e-4)


def test_what_is_refused():
    x = np.ones((3, 2))
    with pytest.raises(UsageError, match="lambda above 0, got -1"):
        ridge(x * [[1], [2], [3]], x, penalty=-1)
    with pytest.raises(UsageError, match="expected as many rows in each array, got 3, 2"):
        ridge(x, x[:2])
    with pytest.raises(InputError, match="outputs hold numbers that are not finite"):
        ridge(x, x * np.nan)
    with pytest.raises(UsageError, match="one vector a row"):
        ridge(x, x[0])
    with pytest.raises(UsageError, match="expected weights above 0"):
        ridge(x, x, weights=np.zeros(3))
    with pytest.raises(UsageError, match="expected the storage"):
        ridge(x, x, storage="sparse")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 8), st.integers(1, 8), st.booleans())
def test_scaling_the_outputs_scales_the_map(seed, m, d, intercept):
    rng = np.random.default_rng(seed)
    x, y, _ = data(rng, m, d)
    a, b = (ridge(x, scale * y, intercept=intercept, storage="terms") for scale in (1.0, 8.0))
    np.testing.assert_allclose(8 * a(x), b(x), rtol=1e-6, atol=1e-9)


def test_gcv_of_a_stack_needs_no_listed_zeros():
    rng = np.random.default_rng(8)
    values, energies = rng.uniform(0.1, 2, (2, 3)), rng.uniform(0, 1, (2, 3))
    short = Spectrum(values, energies, np.array([0.3, 0.4]), 5)
    padded = np.zeros((2, 2))
    full = Spectrum(
        np.concatenate([values, padded], 1), np.concatenate([energies, [[0.3, 0], [0, 0.4]]], 1), np.zeros(2), 5
    )
    np.testing.assert_allclose(choose([short]).gcv, choose([full]).gcv)
    assert len(relative_grid()) == 91 and relative_grid()[0] == pytest.approx(1e-6)


def test_it_is_public():
    assert composita.ridge is ridge
