import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from composita.functions.estimator import RidgeGCV
from tests.functions import oracle


@parametrize_with_checks([RidgeGCV(), RidgeGCV(fit_intercept=False)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shape", [(9, 20), (40, 6)])
def test_at_its_penalty_it_is_the_ridge_of_scikit_learn(shape, intercept):
    rng = np.random.default_rng(3)
    x, y, weights = rng.normal(size=shape), rng.normal(size=(shape[0], 3)), rng.uniform(0.5, 2, shape[0])
    ours = RidgeGCV(fit_intercept=intercept).fit(x, y, sample_weight=weights)
    theirs = Ridge(alpha=ours.alpha_, fit_intercept=intercept).fit(x, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
    assert ours.alpha_ == pytest.approx(oracle.best_penalty(x, y, weights, intercept))
