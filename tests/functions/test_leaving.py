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


@pytest.mark.parametrize("options", [{}, {"centre": True}, {"intercept": True}, {"kernel": "additive"}])
def test_lambda_for_new_arguments_is_where_relearning_errs_least(options):
    rng = np.random.default_rng(5)
    tensor, examples = rng.normal(size=(2, 4, 3)), table(rng, groups=8, each=6)
    planted = np.einsum("qsd,nd,ns->nq", tensor, examples.inputs(0), examples.inputs(1))
    examples = Examples(examples.vectors, examples.ids, planted + rng.normal(size=(48, 2)), weights=examples.weights)
    learner = OneStep(criterion="arguments", **options)
    report = learner.learn(examples).training.levels[0].penalty
    weights = examples.weights / examples.weights.mean()

    def error(penalty):
        wrong = [
            relearned(OneStep(**options), examples, sets_of(examples, by), penalty) - examples.outputs
            for by in examples.names
        ]
        return sum(weights @ (part**2).sum(1) for part in wrong) / examples.ids.size

    places = [0, 6, 9, 12, 18]
    expected = [error(report["grid"][place]) for place in places]
    np.testing.assert_allclose(np.array(report["curve"])[places], expected, rtol=1e-6)
    assert report["lambda"] == [report["grid"][int(np.argmin(report["curve"]))]]
    assert report["criterion"] == "new arguments"


def test_arguments_that_tell_nothing_are_seen_as_such():
    rng = np.random.default_rng(2)
    examples = Examples.from_arrays(rng.normal(size=(60, 9)), rng.normal(size=(60, 9)), rng.normal(size=(60, 3)) + 1)
    report = OneStep(criterion="arguments", centre=True).learn(examples).training.levels[0].penalty
    assert report["gcv"] > 0.95 * report["gcv_without"]
    assert report["lambda"][0] > OneStep(centre=True).learn(examples).training.levels[0].penalty["lambda"][0]


def test_an_unknown_criterion_is_refused():
    with pytest.raises(UsageError, match="criterion gcv or arguments, got 'loo'"):
        OneStep(criterion="loo")
