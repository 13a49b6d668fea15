"""Regressions other than ridge, against scikit-learn and against the recursion written out with whole matrices."""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Lars, LinearRegression, Ridge

from composita.functions.examples import Examples
from composita.functions.learners import (
    LEARNERS,
    Estimator,
    LeastSquares,
    PartialLeastSquares,
    Stepwise,
    lasso,
    make_learner,
    surviving,
)
from composita.functions.ridge import ridge
from composita.store.errors import TooFewError, UsageError

RAGGED = [(0, 5), (1, 3), (2, 4), (3, 3), (4, 2)]  # object, and how many subjects it is seen with


def ragged_examples(seed=0, d=4, q=3, arity=2, noise=0.0, weights=False):
    """Make examples of a planted tensor in groups of unequal size."""
    rng = np.random.default_rng(seed)
    vectors = tuple(rng.normal(size=(12, d + place)) for place in range(arity))
    if arity == 1:
        ids = np.arange(9)[:, None]
    elif arity == 2:
        ids = np.array([(o, s) for o, count in RAGGED for s in rng.choice(12, count, replace=False)])
    else:
        ids = np.array(
            [(t, o, s) for t in range(4) for o in range(3 + t % 2) for s in rng.choice(12, 3 + o, replace=False)]
        )
    tensor = rng.normal(size=(q, *(v.shape[1] for v in reversed(vectors))))
    letters = "cba"[-arity:]
    terms = ",".join(f"n{letter}" for letter in letters[::-1])
    outputs = np.einsum(f"q{letters},{terms}->nq", tensor, *(v[ids[:, i]] for i, v in enumerate(vectors)))
    outputs = outputs + noise * rng.normal(size=outputs.shape)
    about = {"weights": rng.uniform(0.5, 2, len(ids))} if weights else {}
    return Examples.from_arrays(vectors, ids, outputs, **about), tensor


def whole_matrices(examples, fit, least):
    """Do the recursion with matrices as they are: fit(inputs, outputs, weights) gives the matrix of a group."""
    ids = [tuple(row) for row in examples.ids.tolist()]
    share = np.ones(len(ids)) if examples.weights is None else examples.weights
    found = {}
    for row, output, weight in zip(ids, examples.outputs, share, strict=True):
        found.setdefault(row, []).append((output, weight))
    level = {k: (sum(o * w for o, w in v) / sum(w for _, w in v), sum(w for _, w in v)) for k, v in found.items()}
    for place in range(examples.arity - 1, -1, -1):
        groups = {}
        for row, value in sorted(level.items()):
            groups.setdefault(row[:-1], []).append((row[-1], value))
        level = {}
        for group, members in groups.items():
            if len(members) < least:
                continue
            inputs = np.array([examples.vectors[place][m] for m, _ in members])
            outputs = np.array([value.reshape(-1) for _, (value, _) in members])
            weights = np.array([weight for _, (_, weight) in members])
            matrix = fit(inputs, outputs, None if examples.weights is None else weights / weights.mean())
            level[group] = (matrix.reshape(*members[0][1][0].shape, inputs.shape[1]), weights.sum())
    return level[()][0]


def least_squares(inputs, outputs, weights):
    return LinearRegression(fit_intercept=False).fit(inputs, outputs, sample_weight=weights).coef_


def partial_least_squares(components):
    def fit(inputs, outputs, weights):
        root = np.ones(len(inputs)) if weights is None else np.sqrt(weights)
        x, y = inputs * root[:, None], outputs * root[:, None]
        most = min(components, np.linalg.matrix_rank(x))
        # scikit-learn centres; with every row also negated the means are 0 and the directions the same.
        both = PLSRegression(most, scale=False, tol=1e-14, max_iter=100_000)
        return both.fit(np.vstack([x, -x]), np.vstack([y, -y])).coef_

    return fit


@pytest.mark.parametrize("arity", [1, 2, 3])
@pytest.mark.parametrize("weights", [False, True])
def test_least_squares_against_whole_matrices(arity, weights):
    examples, _ = ragged_examples(arity=arity, noise=0.3, weights=weights)
    kept = examples.select(surviving(examples.ids, 3))
    function = Stepwise(regression=LeastSquares()).learn(examples)
    assert np.allclose(function.dense(), whole_matrices(kept, least_squares, 3), atol=1e-8)


@pytest.mark.parametrize("arity", [1, 2])
@pytest.mark.parametrize("components", [1, 2])
def test_partial_least_squares_against_scikit_learn(arity, components):
    examples, _ = ragged_examples(arity=arity, noise=0.3, seed=1)
    kept = examples.select(surviving(examples.ids, 3))
    function = Stepwise(regression=PartialLeastSquares(components=components)).learn(examples)
    assert np.allclose(function.dense(), whole_matrices(kept, partial_least_squares(components), 3), atol=1e-5)


@pytest.mark.parametrize("weights", [False, True])
def test_enough_components_are_least_squares(weights):
    examples, _ = ragged_examples(arity=1, noise=0.3, weights=weights)
    many = Stepwise(regression=PartialLeastSquares(components=50)).learn(examples)
    assert np.allclose(many.dense(), Stepwise(regression=LeastSquares()).learn(examples).dense(), atol=1e-6)


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_estimators_against_whole_matrices(arity):
    def fit(inputs, outputs, _):
        return Ridge(alpha=0.5, fit_intercept=False).fit(inputs, outputs).coef_

    examples, _ = ragged_examples(arity=arity, noise=0.3)
    kept = examples.select(surviving(examples.ids, 3))
    estimator = Estimator(make=Ridge, name="ridge", options=(("alpha", 0.5), ("fit_intercept", False)))
    function = Stepwise(regression=estimator).learn(examples)
    assert function.is_dense
    assert np.allclose(function.dense(), whole_matrices(kept, fit, 3))


@pytest.mark.parametrize("arity", [1, 2, 3])
@pytest.mark.parametrize("weights", [False, True])
def test_a_lambda_for_each_output_is_a_ridge_regression_for_each(arity, weights):
    def fit(inputs, outputs, weights):
        each = [ridge(inputs, output[:, None], weights=weights, storage="dense") for output in outputs.T]
        return np.concatenate([function.dense() for function in each])

    examples, _ = ragged_examples(arity=arity, noise=0.3, weights=weights)
    kept = examples.select(surviving(examples.ids, 3))
    function = make_learner("ridge-per-output").learn(examples)
    # Where the curve of an output is nearly flat at its lower end, rounding decides which small lambda is taken.
    assert np.allclose(function.dense(), whole_matrices(kept, fit, 3), atol=1e-8 if arity == 1 else 1e-4)


@pytest.mark.parametrize("name", sorted(LEARNERS))
@pytest.mark.parametrize("arity", [1, 2])
def test_every_learner_finds_a_planted_tensor(name, arity):
    rng = np.random.default_rng(3)
    arguments = [np.repeat(rng.normal(size=(12, 4)), 8, axis=0), rng.normal(size=(96, 4))][2 - arity :]
    tensor = rng.normal(size=(3, *[4] * arity))
    outputs = np.einsum("qba,na,nb->nq", tensor, *arguments) if arity == 2 else arguments[0] @ tensor.T
    options = {"kernel": "product"} if name == "onestep" else {}
    learner = make_learner(name, options)
    function = learner.fit(*arguments, outputs)
    foretold = function.apply_all(*arguments)
    assert function.arity == arity
    assert np.abs(foretold - outputs).max() < 0.02 * np.abs(outputs).max()
    assert function.training.used == 96
    assert learner.parameters() == make_learner(name, options).parameters()


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_learner_is_one_of_outputs_scaled(name):
    """Twice the outputs make twice the function (with a penalty on it, about so)."""
    examples, _ = ragged_examples(arity=1, noise=0.1)
    one = make_learner(name).learn(examples)
    two = make_learner(name).fit(examples.inputs(0), 2 * examples.outputs)
    x = np.random.default_rng(0).normal(size=(5, 4))
    assert np.allclose(2 * one(x), two(x), atol=0.05)


def test_too_few():
    examples, _ = ragged_examples()
    with pytest.raises(TooFewError, match="none of 17 examples is in a group of 9"):
        Stepwise(regression=LeastSquares(), min_examples=9).learn(examples)


def test_reports_what_was_dropped():
    examples, _ = ragged_examples()
    function = Stepwise(regression=LeastSquares()).learn(examples)
    assert function.training.found == 17
    assert function.training.used == 15
    assert function.training.dropped == {"in groups of fewer than 3": 2}
    assert [(level.name, level.regressions) for level in function.training.levels] == [("object", 1), ("subject", 4)]


def test_explanations_sum_to_the_result():
    examples, _ = ragged_examples(noise=0.2)
    for regression in (LeastSquares(), PartialLeastSquares(components=2)):
        function = Stepwise(regression=regression).learn(examples)
        x, y = examples.vectors[0][0], examples.vectors[1][1]
        assert np.allclose(function.explain(x, y).total, function(x)(y))


def test_what_estimators_may_not_do():
    examples, _ = ragged_examples(arity=1, weights=True)
    with pytest.raises(UsageError, match="lars takes no weights of examples"):
        Stepwise(regression=Estimator(make=Lars, name="lars")).learn(examples)
    examples, _ = ragged_examples(arity=1)
    with pytest.raises(UsageError, match="learned an intercept, so it is not linear"):
        Stepwise(regression=Estimator(make=Ridge, name="ridge")).learn(examples)


def test_matrices_that_are_too_large(monkeypatch):
    monkeypatch.setattr("composita.functions.learners.DENSE_BYTES", 100)
    examples, _ = ragged_examples()
    with pytest.raises(UsageError, match="take fewer dimensions, or a regression that stays in dual form"):
        Stepwise(regression=lasso()).learn(examples)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("plsrr", {}, "did you mean plsr"),
        ("plsr", {"components": 0}, "expected at least 1 component"),
        ("plsr", {"kernel": "product"}, "does not take these options"),
        ("onestep", {"components": 3}, "does not take these options"),
    ],
)
def test_wrong_learners(name, options, message):
    with pytest.raises(UsageError, match=message):
        make_learner(name, options)
