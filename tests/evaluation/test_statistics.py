"""Correlations and resampling, against SciPy, NumPy and arithmetic done by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from composita.evaluation import statistics
from composita.evaluation.statistics import (
    Observations,
    area_under_curve,
    average_precision,
    correlations,
    holm,
    interval,
    kendall,
    mid_ranks,
    pearson,
    resamples,
    spearman,
    spearman_without_ties,
    step_down,
    two_sided,
)
from composita.store.errors import UsageError

# Whole numbers, so that there are many ties.
NUMBERS = st.lists(st.integers(-4, 4), min_size=2, max_size=30)


@settings(max_examples=50, deadline=None)
@given(NUMBERS, st.integers(0, 10**6))
def test_correlations_are_those_of_scipy(values, seed):
    x, y = np.array(values, float), np.random.default_rng(seed).integers(-3, 3, len(values)).astype(float)
    assert np.array_equal(mid_ranks(x), stats.rankdata(x))
    if np.ptp(x) > 0 and np.ptp(y) > 0:
        assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
        assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
        assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    else:
        assert np.isnan(spearman(x, y)) and np.isnan(pearson(x, y))


def test_formula_without_ties_is_the_right_one_without_ties_and_too_high_with():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 20))
    assert spearman_without_ties(x, y) == pytest.approx(spearman(x, y))
    # By hand: ranks (1.5 1.5 3) and (1 2.5 2.5), d^2 = 0.25 + 1 + 0.25, 1 - 6 * 1.5 / 24.
    assert spearman_without_ties([1, 1, 2], [1, 2, 2]) == pytest.approx(1 - 6 * 1.5 / 24)
    assert spearman([1, 1, 2], [1, 2, 2]) == pytest.approx(0.5)
    assert np.isnan(spearman_without_ties([1], [1]))


def test_unlike_rows_are_refused():
    with pytest.raises(UsageError, match="got shapes \\(2,\\) and \\(3,\\)"):
        spearman([1, 2], [1, 2, 3])
    with pytest.raises(UsageError, match="got none"):
        pearson([], [])


# Resampled correlations are computed with weights; the obvious way is to repeat what was drawn.


def rated_items(random, items=25, ratings=160):
    item = random.integers(items, size=ratings)
    return item, random.integers(1, 8, size=ratings).astype(float)


def by_repetition(predicted, item, rating, weights, correlation):
    x, y = [], []
    for number, times in enumerate(weights.astype(int)):
        mine = rating[item == number] if not np.isnan(predicted[number]) else []
        for _ in range(times):
            x += [predicted[number]] * len(mine)
            y += list(mine)
    return correlation(x, y).statistic


@pytest.mark.parametrize("ranked", [True, False])
def test_weighted_correlations_are_those_of_what_was_drawn(ranked):
    random = np.random.default_rng(1)
    item, rating = rated_items(random)
    predictions = random.normal(size=(4, 25))
    predictions[1] = np.round(predictions[1])  # ties
    predictions[2, :8] = np.nan  # not all items
    predictions[3, ::2] = np.nan
    weights = resamples(25, 7, seed=3)
    found = correlations(predictions, Observations.of(item, rating, 25), weights, ranked=ranked)
    obvious = stats.spearmanr if ranked else stats.pearsonr
    expected = [[by_repetition(p, item, rating, w, obvious) for w in weights] for p in predictions]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_means_are_observations_too():
    random = np.random.default_rng(2)
    means, predicted = random.normal(size=12), random.normal(size=12)
    means[3] = np.nan
    kept = ~np.isnan(means)
    found = correlations(predicted[None], Observations.of_means(means))
    assert found[0, 0] == pytest.approx(stats.spearmanr(predicted[kept], means[kept]).statistic)


def test_chunks_change_nothing(monkeypatch):
    random = np.random.default_rng(4)
    item, rating = rated_items(random)
    predictions, weights = random.normal(size=(2, 25)), resamples(25, 50, seed=0)
    whole = correlations(predictions, Observations.of(item, rating, 25), weights)
    monkeypatch.setattr(statistics, "CHUNK", 1)
    np.testing.assert_allclose(correlations(predictions, Observations.of(item, rating, 25), weights), whole, atol=1e-15)


def test_what_does_not_vary_has_no_correlation():
    ratings = Observations.of([0, 1, 2], [1.0, 2.0, 3.0], 3)
    found = correlations(np.array([[0.7, 0.7, 0.7], [np.nan] * 3, [1e-9, 2e-9, 3e-9]]), ratings)
    assert np.isnan(found[0, 0]) and np.isnan(found[1, 0]) and found[2, 0] == pytest.approx(1)
    linear = correlations(np.array([[0.1, 0.1, 0.1], [1e-9, 2e-9, 3e-9]]), ratings, ranked=False)
    assert np.isnan(linear[0, 0]) and linear[1, 0] == pytest.approx(1)


def test_resamples_are_seeded_and_of_the_right_size():
    first = resamples(30, 200, seed=5)
    assert (first.sum(axis=1) == 30).all()
    assert np.array_equal(first, resamples(30, 200, seed=5)) and not np.array_equal(first, resamples(30, 200, seed=6))
    # On average about 1 - 1/e of the items are in a resample.
    assert (first > 0).mean() == pytest.approx(1 - 1 / np.e, abs=0.02)


def test_interval_covers_as_often_as_it_says():
    """Of 95% intervals of the correlation of normal pairs, about 95% hold the true one."""
    random, rho, held = np.random.default_rng(7), 0.5, 0
    truth = 6 / np.pi * np.arcsin(rho / 2)  # Spearman's of a normal pair
    for _ in range(200):
        x, noise = random.normal(size=(2, 60))
        y = rho * x + np.sqrt(1 - rho**2) * noise
        drawn = correlations(x[None], Observations.of_means(y), resamples(60, 300, seed=int(random.integers(10**9))))
        low, high = interval(drawn[0])
        held += low <= truth <= high
    assert 0.88 <= held / 200 <= 0.99


def test_p_values():
    assert two_sided(np.array([-1.0, 1.0])) == 1
    assert two_sided(np.full(1999, 0.2)) == pytest.approx(2 / 2000)
    assert two_sided(np.array([np.nan, 0.1, 0.2, 0.3])) == pytest.approx(2 * 1 / 4)


def test_holm_by_hand():
    # Sorted: 0.001 x 4, 0.01 x 3, 0.02 x 2 (= 0.04), 0.03 x 1 but no less than the one before.
    assert holm([0.02, 0.001, 0.03, 0.01]) == pytest.approx([0.04, 0.004, 0.04, 0.03])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_step_down_is_what_it_says():
    random = np.random.default_rng(1)
    found = np.array([1.5, -0.2, 0.9, 0.0])
    drawn = found[:, None] + random.normal(size=(4, 300)) * np.array([[0.5], [0.3], [0.3], [1.0]])
    error = drawn.std(axis=1)
    size = np.abs(found) / error
    expected, left, before = np.empty(4), list(np.argsort(-size)), 0.0
    while left:  # the surest of those that are left, against the largest stray of these
        largest = np.max([np.abs(drawn[i] - found[i]) / error[i] for i in left], axis=0)
        first = left.pop(0)
        before = expected[first] = max(before, (1 + (largest >= size[first]).sum()) / (1 + len(largest)))
    assert step_down(found, drawn) == pytest.approx(expected)
    assert step_down(found[:1], drawn[:1])[0] <= step_down(found, drawn)[0]


def test_step_down_says_what_it_cannot():
    nothing = np.full(50, np.nan)
    assert step_down([0.0, np.nan, 0.3], [np.zeros(50), nothing, nothing]).tolist() == [1.0, 1.0, 1.0]
    assert step_down([], np.empty((0, 50))).tolist() == []
    assert np.isnan(step_down([0.1], np.empty((1, 0)))).all()


def test_step_down_seldom_errs_where_nothing_is_different():
    random = np.random.default_rng(2)
    wrong = 0
    for _ in range(200):  # twenty differences that share what they stray by, all of them truly 0
        found = random.normal(size=20) + random.normal()
        drawn = found[:, None] + random.normal(size=(20, 200)) + random.normal(size=200)
        wrong += bool((step_down(found, drawn) < 0.05).any())
    assert wrong < 25


def test_average_precision_by_hand():
    assert average_precision([4, 3, 2, 1], [0, 1, 0, 1]) == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert average_precision([1, 1, 1, 1], [1, 0, 0, 0]) == pytest.approx(1 / 4)  # ties gain nothing
    assert average_precision([np.nan, 1, 0.5], [1, 0, 0]) == pytest.approx(1 / 3)  # not scored: last
    assert np.isnan(average_precision([1, 2], [0, 0]))


def test_average_precision_is_that_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(0)
    for _ in range(20):
        scores, relevant = random.normal(size=40), random.random(40) < 0.2
        relevant[0] = True
        assert average_precision(scores, relevant) == pytest.approx(metrics.average_precision_score(relevant, scores))


@settings(max_examples=30, deadline=None)
@given(NUMBERS)
def test_area_under_curve_counts_pairs(values):
    scores, positive = np.array(values), np.arange(len(values)) % 2 == 0
    pairs = [(a > b) + (a == b) / 2 for a in scores[positive] for b in scores[~positive]]
    assert area_under_curve(scores, positive) == pytest.approx(np.mean(pairs))
