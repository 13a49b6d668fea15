"""Functions shared by a category, and leaning on others."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from composita.functions.examples import Examples
from composita.functions.function import Function
from composita.functions.heldout import apply_ids
from composita.functions.leaning import (
    Towards,
    TowardsFunction,
    WithOthers,
    borrow,
    joined,
    learn_joined,
    similar_words,
    without_own,
)
from composita.functions.learn import learn
from composita.functions.onestep import OneStep
from composita.functions.shared import Additive, Sums, joined_with_heads
from composita.store.errors import TooFewError, UsageError
from tests.functions.worlds import miniature_space


def random_examples(count=40, seed=0, weights=False, d=4, q=3):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(15, d)), rng.normal(size=(12, d + 1))
    ids = np.column_stack([rng.integers(0, 15, count), rng.integers(0, 12, count)])
    ids = np.unique(ids, axis=0)
    outputs = vectors[0][ids[:, 0]] @ rng.normal(size=(d, q)) + vectors[1][ids[:, 1]] @ rng.normal(size=(d + 1, q)) + 1
    outputs += 0.3 * rng.normal(size=outputs.shape)
    about = {"weights": rng.uniform(0.5, 2, len(ids))} if weights else {}
    return Examples.from_arrays(vectors, ids, outputs, frequency=np.arange(1, len(ids) + 1), **about)


# ---------------------------------------------------------------- the additive model


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_additive_against_ridge_on_all_arguments(constant, weights):
    examples = random_examples(weights=weights)
    function = Additive(penalty=0.7, constant=constant).learn(examples)
    inputs = np.hstack([examples.inputs(0), examples.inputs(1)])
    weight = None if examples.weights is None else examples.weights / examples.weights.mean()
    ridge = Ridge(alpha=0.7, fit_intercept=constant).fit(inputs, examples.outputs, sample_weight=weight)
    assert np.allclose(function.apply_all(examples.inputs(0), examples.inputs(1)), ridge.predict(inputs))


@pytest.mark.parametrize("constant", [False, True])
def test_its_lambda_against_the_definition_of_gcv(constant):
    examples = random_examples(25)
    x = np.hstack([examples.inputs(0), examples.inputs(1)])
    n, y = len(examples), examples.outputs
    if constant:
        x, y = x - x.mean(axis=0), y - y.mean(axis=0)

    def gcv(penalty):
        hat = x @ np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T) + constant / n
        left = np.eye(n) - hat
        return n * ((left @ y) ** 2).sum() / np.trace(left) ** 2

    grid = np.linalg.eigvalsh(x.T @ x)[-1] * np.logspace(-6, 3, 91)
    scores = [gcv(penalty) for penalty in grid]
    about = Additive(constant=constant).learn(examples).training.levels[0].penalty
    assert about["lambda"] == [pytest.approx(grid[int(np.argmin(scores))])]
    assert about["gcv"] == pytest.approx(min(scores))
    assert about["gcv_without"] == pytest.approx(n * (y**2).sum() / (n - constant) ** 2)


def test_sums_can_be_taken_apart():
    examples = random_examples()
    half = np.arange(len(examples)) < 20
    some, rest = examples.select(half), examples.select(~half)
    total = Sums.of(some) + Sums.of(rest)
    for a, b in zip((total - Sums.of(rest))._parts(), Sums.of(some)._parts(), strict=True):
        assert np.allclose(a, b)
    again = Sums.from_arrays(total.to_arrays())
    assert all(np.array_equal(a, b) for a, b in zip(again._parts(), total._parts(), strict=True))


def test_blocks_do_not_matter(monkeypatch):
    examples = random_examples()
    whole = Sums.of(examples)
    monkeypatch.setattr("composita.functions.shared.BLOCK", 7)
    assert all(np.allclose(a, b) for a, b in zip(Sums.of(examples)._parts(), whole._parts(), strict=True))


def test_the_word_is_the_first_argument():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 4))
    matrices = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    parts, heads = [], list(range(5))
    for head in heads:
        ids = np.arange(5, 20)[:, None]
        parts.append(Examples.from_arrays((vectors,), ids, vectors[head] @ matrices[0].T + vectors[5:] @ matrices[1].T))
    every = joined_with_heads(vectors, heads, parts)
    assert every.names == ("word", "argument")
    verb = Additive(penalty=1e-9).learn(every)(vectors[7])  # a word never seen as a head
    assert np.allclose(verb(vectors[3]), vectors[7] @ matrices[0].T + vectors[3] @ matrices[1].T)


def test_nothing_to_learn_from():
    with pytest.raises(TooFewError, match="no example has vectors"):
        Additive().learn(random_examples().select(np.zeros(0, np.int64)))


# ---------------------------------------------------------------- leaning


def planted(count, seed, tensor, noise=0.2):
    rng = np.random.default_rng(seed)
    vectors = np.random.default_rng(99).normal(size=(30, tensor.shape[2]))
    ids = np.unique(rng.integers(0, 30, (count, 2)), axis=0)
    outputs = np.einsum("qba,na,nb->nq", tensor, vectors[ids[:, 0]], vectors[ids[:, 1]])
    outputs = outputs + noise * rng.normal(size=outputs.shape)
    return Examples.from_arrays((vectors, vectors), ids, outputs, frequency=np.ones(len(ids), int),
                                labels=list(map(str, range(len(ids)))))  # fmt: skip


TENSOR = np.random.default_rng(5).normal(size=(3, 4, 4))
LEARNER = OneStep(kernel="product")


def error(function, tensor):
    return float(((function.dense() - tensor) ** 2).sum() / (tensor**2).sum())


def test_a_good_prior_is_leant_on_and_a_bad_one_is_not():
    few = planted(12, 1, TENSOR)
    prior = Function.from_dense(TENSOR + 0.1 * np.random.default_rng(2).normal(size=TENSOR.shape), names=few.names)
    bad = Function.from_dense(-TENSOR, names=few.names)
    alone = LEARNER.learn(few)
    towards = TowardsFunction(learner=LEARNER, prior=prior)
    assert towards.learn_part(few)[1].strength == 1.0
    assert error(towards.learn(few), TENSOR) < 0.1 * error(alone, TENSOR)
    part, leaning = TowardsFunction(learner=LEARNER, prior=bad).learn_part(few)
    assert leaning.strength == 0.0
    assert np.allclose(part.dense(), alone.dense())


def test_the_formula_of_leaning_on_a_function():
    examples = planted(20, 1, TENSOR)
    prior = Function.from_dense(np.random.default_rng(2).normal(size=TENSOR.shape), names=examples.names)
    function = TowardsFunction(learner=OneStep(kernel="product", penalty=0.5), prior=prior, strengths=(0.5,)).learn(
        examples
    )
    features = np.einsum("na,nb->nba", examples.inputs(0), examples.inputs(1)).reshape(len(examples), -1)
    start = 0.5 * prior.dense().reshape(3, -1)
    ridge = Ridge(alpha=0.5, fit_intercept=False).fit(features, examples.outputs - features @ start.T)
    assert np.allclose(function.dense().reshape(3, -1), start + ridge.coef_)


def test_the_trial_decides():
    few = planted(12, 1, TENSOR)
    prior, bad = (Function.from_dense(sign * TENSOR, names=few.names) for sign in (1, -1))
    assert TowardsFunction(learner=LEARNER, prior=prior, trial=bad).learn_part(few)[1].strength == 0.0


def test_similar_words_help():
    few, many = planted(8, 1, TENSOR), planted(200, 2, TENSOR)
    borrowed, whose = borrow(few, [(0.8, many)], 1000, [17])
    assert set(whose.tolist()) == {17}
    assert np.allclose(borrowed.outputs.mean(axis=0), few.outputs.mean(axis=0))
    learner = WithOthers(learner=LEARNER, borrowed=borrowed, heads=whose)
    function, leaning = learner.learn_part(few)
    assert leaning.strength > 0
    assert error(function, TENSOR) < 0.5 * error(LEARNER.learn(few), TENSOR)
    assert learner.used(leaning).shape == (len(borrowed), 3)


def test_borrowing_takes_each_phrase_once():
    few, one, two = planted(8, 1, TENSOR), planted(50, 2, TENSOR), planted(50, 3, TENSOR)
    borrowed, whose = borrow(few, [(0.9, one), (0.5, two)], 60, [3, 4])
    assert len(np.unique(borrowed.ids, axis=0)) == len(borrowed) <= 60
    assert (np.asarray(borrowed.weights)[whose == 3] == 0.9).all()
    every = joined(few, borrowed, 0.1)
    assert len(np.unique(every.ids, axis=0)) == len(every)
    assert every.labels[: len(few)] == [str(i) for i in range(len(few))]
    assert all(int(label) < 0 for label in every.labels[len(few) :])


def test_borrowing_with_little_weight_changes_little():
    few, many = planted(30, 1, TENSOR), planted(200, 2, -TENSOR)
    borrowed, _ = borrow(few, [(1.0, many)], 1000, [0])
    alone, nearly = LEARNER.learn(few), learn_joined(LEARNER, few, borrowed, 1e-6)
    assert np.allclose(nearly.dense(), alone.dense(), atol=1e-3 * np.abs(alone.dense()).max())


def test_nobody_to_borrow_from():
    assert borrow(planted(8, 1, TENSOR), [], 100, []) is None


# ---------------------------------------------------------------- in a lexicon


@pytest.fixture(scope="module")
def lexicons():
    space = miniature_space()
    return {lean: learn(space, lean=lean, patterns="svo", max_examples=12) for lean in ("shared", "similar")}


def test_leaning_in_a_lexicon(lexicons):
    for lean, lexicon in lexicons.items():
        strengths = [report["leaning"]["strength"] for report in lexicon.reports()]
        assert max(strengths) > 0
        word = lexicon.reports()[int(np.argmax(strengths))]["word"]
        function, examples = lexicon.function(word, 2), lexicon.examples(word, 2)
        made = apply_ids(function, examples, np.arange(len(examples)))
        assert np.corrcoef(made.ravel(), examples.outputs.ravel())[0, 1] > 0.5
        if lean == "shared":
            assert (word, 2) in lexicon and ("*", "svo") in lexicon
        else:
            labels = function.explain(examples.inputs(0)[0], examples.inputs(1)[0]).labels
            assert len({label.partition("(")[0] for label in labels}) > 1  # also phrases of other words


def test_a_leaning_function_is_the_sum_of_its_parts(lexicons):
    lexicon = lexicons["shared"]
    report = next(r for r in lexicon.reports() if r["leaning"]["strength"])
    word, strength = report["word"], report["leaning"]["strength"]
    examples = lexicon.examples(word, 2)
    everything = np.arange(len(examples))
    prior = apply_ids(lexicon.shared("svo", word), examples, everything)
    rest = replace(examples, outputs=(examples.outputs - strength * prior).astype(np.float32))
    own = OneStep().learn(rest)
    expected = apply_ids(own, examples, everything) + strength * prior
    assert np.allclose(apply_ids(lexicon.function(word, 2), examples, everything), expected, atol=1e-4)


def test_a_word_without_a_function_composes(lexicons):
    lexicon = lexicons["shared"]
    unseen = next(w for w in lexicon.words if w.endswith("-v") and w not in lexicon.heads())
    function = lexicon.shared("svo", unseen)
    assert function.type == "N -> N -> S"
    assert np.isfinite(function(lexicon.prepared[0])(lexicon.prepared[1])).all()
    assert lexicon.shared("svo").arity == 3
    with pytest.raises(UsageError, match="no shared function of the pattern 'sv'"):
        lexicon.shared("sv", unseen)


def test_what_is_leant_on_has_not_seen_the_word(lexicons):
    lexicon = lexicons["shared"]
    word = lexicon.heads("svo")[0]
    examples = lexicon.examples(word, 2)
    others = [h for h in lexicon.heads("svo") if h != word]
    every = joined_with_heads(lexicon.prepared, [lexicon.find(h) for h in others],
                              [lexicon.examples(h, 2) for h in others])  # fmt: skip
    expected = Additive().learn(every)(lexicon.argument(word))
    rows = np.arange(len(examples))
    assert np.allclose(apply_ids(without_own(lexicon, word, "svo"), examples, rows),
                       apply_ids(expected, examples, rows), atol=1e-4)  # fmt: skip


def test_similar_words(lexicons):
    lexicon = lexicons["similar"]
    word = lexicon.heads("svo")[0]
    found = similar_words(lexicon, word, "svo")
    assert [s for s, _ in found] == sorted((s for s, _ in found), reverse=True)
    assert word not in [w for _, w in found]
    learner = Towards(lean="similar", learner=LEARNER, strengths=(1.0,))(lexicon, word, "svo")
    assert isinstance(learner, WithOthers)
    assert learner.learn(lexicon.examples(word, 2)).arity == 2
