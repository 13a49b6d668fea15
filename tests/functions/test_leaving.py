import numpy as np
import pytest

from composita.functions.examples import Examples
from composita.functions.leaving import left_out
from composita.functions.multistep import MultiStep
from composita.functions.onestep import OneStep
from composita.store.errors import UsageError


def table(rng, groups=6, each=5):
    objects, subjects = rng.normal(size=(groups, 3)), rng.normal(size=(12, 4))
    ids = np.array([[g, s] for g in range(groups) for s in rng.choice(12, each, replace=False)])
    outputs = rng.normal(size=(len(ids), 2)) + 1
    return Examples.from_arrays((objects, subjects), ids, outputs, weights=rng.uniform(0.5, 2, len(ids)))


def relearned(learner, examples, sets, penalty):
    """Predict each set by a function learned without it, at the same penalty and the same scale of the weights."""
    found = np.empty(examples.outputs.shape)
    for rows in sets:
        rest = np.setdiff1d(np.arange(len(examples)), rows)
        part = examples.select(rest)
        scale = 1.0 if examples.weights is None else (part.weights / examples.weights.mean()).mean()
        f = type(learner)(**learner.__dict__ | {"penalty": penalty / scale}).learn(part)
        found[rows] = f.apply_all(*(examples.inputs(place)[rows] for place in range(examples.arity)))
    return found


def sets_of(examples, by):
    if by == "example":
        return [np.array([i]) for i in range(len(examples))]
    column = examples.ids[:, examples.names.index(by)]
    return [np.flatnonzero(column == value) for value in np.unique(column)]


@pytest.mark.parametrize("by", ["example", "object", "subject"])
@pytest.mark.parametrize("options", [{}, {"intercept": True}, {"centre": True}, {"kernel": "additive"}])
def test_one_step_predicts_what_it_would_without_the_examples(by, options):
    learner, examples = OneStep(**options), table(np.random.default_rng(0))
    found = left_out(learner, examples, by=by)
    (penalty,) = learner.learn(examples).training.levels[0].penalty["lambda"]
    np.testing.assert_allclose(
        found.predictions, relearned(learner, examples, sets_of(examples, by), penalty), atol=1e-8
    )
    assert found.error == pytest.approx(
        ((found.predictions - examples.outputs) ** 2).sum() / (examples.outputs**2).sum()
    )


@pytest.mark.parametrize("by", ["example", "object"])
def test_two_steps_predict_what_they_would_without_the_examples(by):
    examples = table(np.random.default_rng(1))
    examples = Examples(examples.vectors, examples.ids, examples.outputs)
    learner = MultiStep(penalty=0.8)
    found = left_out(learner, examples, by=by)
    np.testing.assert_allclose(found.predictions, relearned(learner, examples, sets_of(examples, by), 0.8), atol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_one_argument(intercept):
    rng = np.random.default_rng(2)
    examples = Examples.from_arrays(rng.normal(size=(9, 4)), rng.normal(size=(9, 2)))
    learner = MultiStep(penalty=0.8, intercept=intercept)
    expected = relearned(learner, examples, sets_of(examples, "example"), 0.8)
    np.testing.assert_allclose(left_out(learner, examples).predictions, expected, atol=1e-9)
    one = left_out(OneStep(kernel="product", penalty=0.8, intercept=intercept), examples)
    np.testing.assert_allclose(one.predictions, expected, atol=1e-9)


def test_what_cannot_be_told_is_refused():
    examples = table(np.random.default_rng(3))
    with pytest.raises(UsageError, match="expected example, object, subject, got 'verb'"):
        left_out(OneStep(), examples, by="verb")
    with pytest.raises(UsageError, match="of a new first argument"):
        left_out(MultiStep(), examples, by="subject")
    with pytest.raises(UsageError, match="more than the 10 that are solved exactly"):
        left_out(OneStep(exact=10), examples)
