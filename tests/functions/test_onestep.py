import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.functions.examples import Examples
from composita.functions.iterative import by_gradients, sampled_choice
from composita.functions.kernels import named
from composita.functions.onestep import OneStep, kernel_matrix
from composita.functions.preparing import prepare
from composita.store.errors import UsageError
from tests.functions import oracle

CONSTANTS = (0.7, 0.2, 0.4)


def features(kernel, arguments):
    """The features whose inner product the kernel is."""
    if kernel == "product":
        return oracle.kronecker(arguments)
    if kernel == "affine":
        return oracle.kronecker(arguments, CONSTANTS)
    return np.concatenate(arguments, axis=1) if kernel == "additive" else arguments[0]


@pytest.mark.parametrize("kernel", ["product", "affine", "additive", "first"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("arity", [1, 2, 3])
@pytest.mark.parametrize("count", [12, 40])
def test_it_is_dense_ridge_on_kronecker_products(kernel, intercept, weighted, arity, count):
    rng = np.random.default_rng(arity * count)
    arguments = [rng.normal(size=(count, d)) for d in (3, 4, 2)[:arity]]
    outputs = rng.normal(size=(count, 3))
    weights = rng.uniform(0.2, 3, count) if weighted else None
    names = ("first", "second", "third")[:arity]
    learner = OneStep(kernel=kernel, constants=CONSTANTS[:arity], intercept=intercept, storage="terms")
    f = learner.fit(*arguments, outputs, weights=weights, names=names)
    phi, w = features(kernel, arguments), None if weights is None else weights / weights.mean()
    (penalty,) = f.training.levels[0].penalty["lambda"]
    assert penalty == pytest.approx(oracle.best_penalty(phi, outputs, w, intercept))
    matrix = oracle.dense_ridge(phi, outputs, penalty, w, intercept)
    new = [rng.normal(size=(7, a.shape[1])) for a in arguments]
    expected = (oracle.extend(features(kernel, new)) if intercept else features(kernel, new)) @ matrix.T
    np.testing.assert_allclose(f.apply_all(*new), expected, atol=1e-9)
    np.testing.assert_allclose(f.as_dense().apply_all(*new), expected, atol=1e-9)
    whole = f.explain(*(x[0] for x in new))
    np.testing.assert_allclose(whole.total, expected[0], atol=1e-9)
    np.testing.assert_allclose(whole.outputs, outputs, atol=1e-9)
    if intercept:
        assert whole.weights.sum() == pytest.approx(1)


def test_centred_outputs_come_back_in_results_and_explanations():
    rng = np.random.default_rng(0)
    a, b, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 4)), rng.normal(size=(20, 2)) + 5
    f = OneStep(kernel="product", centre=True, storage="terms").fit(a, b, y)
    plain = OneStep(kernel="product", storage="terms").fit(a, b, y - y.mean(0))
    np.testing.assert_allclose(f.apply_all(a, b), plain.apply_all(a, b) + y.mean(0), atol=1e-10)
    whole = f.explain(a[0], b[0])
    np.testing.assert_allclose(whole.total, f(a[0])(b[0]), atol=1e-10)
    np.testing.assert_allclose(whole.outputs, y, atol=1e-10)


def test_weights_by_frequency():
    rng = np.random.default_rng(1)
    x, y, f = rng.normal(size=(9, 3)), rng.normal(size=(9, 2)), np.array([1, 2, 3, 4, 5, 6, 7, 8, 100])
    by_frequency = OneStep(weights=True).fit(x, y, frequency=f)
    by_weight = OneStep().fit(x, y, weights=f / (f + 2))
    np.testing.assert_allclose(by_frequency(x), by_weight(x))
    with pytest.raises(UsageError, match="need the frequency"):
        OneStep(weights=True).fit(x, y)


def test_a_planted_tensor_is_found_from_exact_and_from_noisy_examples():
    rng = np.random.default_rng(2)
    tensor = rng.normal(size=(5, 4, 3))
    a, b = rng.normal(size=(300, 3)), rng.normal(size=(300, 4))
    y = np.einsum("qji,ni,nj->nq", tensor, a, b)
    exact = OneStep(kernel="product").fit(a, b, y).dense()
    np.testing.assert_allclose(exact, tensor, atol=1e-3)
    noisy = OneStep(kernel="product").fit(a, b, y + rng.normal(size=y.shape)).dense()
    cosine = (noisy * tensor).sum() / np.linalg.norm(noisy) / np.linalg.norm(tensor)
    assert cosine > 0.98


def test_every_example_counts_though_its_arguments_occur_once():
    rng = np.random.default_rng(3)
    a, b, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    assert OneStep().fit(a, b, y).training.used == 20


def test_arguments_without_a_vector_are_dropped_and_counted():
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(5, 3))
    vectors[4] = 0
    ids = np.array([[0, 1], [1, 2], [2, 3], [3, -1], [0, 4], [3, 0]])
    f = OneStep().learn(Examples.from_arrays((vectors, vectors), ids, rng.normal(size=(6, 2))))
    assert (f.training.found, f.training.used) == (6, 4)
    assert f.training.dropped == {"an argument without a vector": 2}


def test_deviations_take_part_in_learning_only():
    rng = np.random.default_rng(5)
    objects, subjects = np.repeat(rng.normal(size=(8, 4)), 6, axis=0), rng.normal(size=(48, 4))
    y = rng.normal(size=(48, 3))
    examples = Examples.from_arrays(objects, subjects, y)
    kernel = named("product", ("object", "subject"), deviations=0.5)
    matrix = kernel_matrix(examples, kernel)
    same = (objects[:, None] == objects).all(2)
    np.testing.assert_allclose(matrix, (objects @ objects.T + 0.5 * same) * (subjects @ subjects.T), atol=1e-12)
    f = OneStep(kernel="product", deviations=0.5, storage="terms").learn(examples)
    (penalty,) = f.training.levels[0].penalty["lambda"]
    coefficients = np.linalg.solve(matrix + penalty * np.eye(48), y)
    expected = np.einsum("nq,nj,ni->qji", coefficients, subjects, objects)
    np.testing.assert_allclose(f.dense(), expected, atol=1e-9)
    assert repr(kernel) == "Kernel(object * subject + 0.5 * [same object] * subject)"


# ---------------------------------------------------------------- many examples


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", ["product", "affine"])
@pytest.mark.parametrize("swapped", [False, True])
def test_elimination_and_gradients_come_to_the_exact_solution(kernel, intercept, swapped):
    rng = np.random.default_rng(6)
    few, many = rng.normal(size=(12, 5))[rng.integers(0, 12, 300)], rng.normal(size=(300, 4))
    a, b = (many, few) if swapped else (few, many)
    y = np.einsum("qji,ni,nj->nq", rng.normal(size=(3, b.shape[1], a.shape[1])), a, b) + rng.normal(size=(300, 3))
    weights = rng.uniform(0.5, 2, 300)
    options = {"kernel": kernel, "constants": (0.5, 0.8), "intercept": intercept, "penalty": 0.5}
    exact = OneStep(**options, storage="terms").fit(a, b, y, weights=weights)
    eliminated = OneStep(**options, exact=100, storage="terms").fit(a, b, y, weights=weights)
    np.testing.assert_allclose(eliminated.apply_all(a, b), exact.apply_all(a, b), atol=1e-9)
    descended = OneStep(**options, exact=100, storage="dense").fit(a, b, y, weights=weights)
    assert descended.is_dense and "conjugate gradients left" in descended.training.notes[0]
    error = np.linalg.norm(descended.apply_all(a, b) - exact.apply_all(a, b)) / np.linalg.norm(exact.apply_all(a, b))
    assert error < 2e-3


def test_a_sample_gives_nearly_the_same_penalty():
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(2, 900, 6))
    y = np.einsum("qji,ni,nj->nq", rng.normal(size=(8, 6, 6)), a, b) + 3 * rng.normal(size=(900, 8))
    examples = Examples.from_arrays(a, b, y)
    exact, sampled = OneStep(kernel="product"), OneStep(kernel="product", exact=300)
    f, g = exact.learn(examples), sampled.learn(examples)
    assert "lambda is approximate: chosen by 300 random examples" in g.training.notes
    new = rng.normal(size=(2, 500, 6))
    difference = np.linalg.norm(f.apply_all(*new) - g.apply_all(*new)) / np.linalg.norm(f.apply_all(*new))
    assert difference < 0.05
    np.testing.assert_array_equal(g.apply_all(*new), sampled.learn(examples).apply_all(*new))


def test_what_is_too_large_for_a_dense_tensor_is_refused():
    rng = np.random.default_rng(8)
    examples = Examples.from_arrays(*rng.normal(size=(3, 30, 2)), np.ones((30, 2)))
    options = OneStep(kernel="product", exact=5)
    prepared, kernel = prepare(examples), options.kernel_of(examples.names)
    choice, count = sampled_choice(prepared, kernel, options)
    assert count == 5
    with pytest.raises(UsageError, match="30 examples of arity 3 are too many for the kernel"):
        by_gradients(prepared, kernel, False, choice)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(["product", "affine", "additive", "object", "subject"]), st.booleans())
def test_the_order_of_examples_does_not_matter(seed, kernel, centre):
    rng = np.random.default_rng(seed)
    a, b, y = rng.normal(size=(10, 2)), rng.normal(size=(10, 3)), rng.normal(size=(10, 2))
    learner, turn = OneStep(kernel=kernel, centre=centre), rng.permutation(10)
    f, g = learner.fit(a, b, y), learner.fit(a[turn], b[turn], y[turn])
    np.testing.assert_allclose(f.apply_all(a, b), g.apply_all(a, b), atol=1e-6)


def test_unknown_options_are_refused():
    x = np.eye(3)
    with pytest.raises(
        UsageError, match="no kernel is called 'gaussian': choose product, affine, additive, object, subject"
    ):
        OneStep(kernel="gaussian").fit(x, x, x)
    with pytest.raises(UsageError, match="expected 2 constants of at least 0, got 1.0, 2.0, 3.0"):
        OneStep(constants=(1.0, 2.0, 3.0)).fit(x, x, x)
    with pytest.raises(UsageError, match="choose intercept or centre"):
        OneStep(intercept=True, centre=True)
    with pytest.raises(UsageError, match="deviations must be"):
        named("product", ("object",), deviations=1.0)
