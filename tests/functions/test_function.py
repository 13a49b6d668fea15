import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import composita
from composita.functions.examples import Examples
from composita.functions.function import Function
from composita.functions.multistep import MultiStep
from composita.functions.onestep import OneStep
from composita.functions.rows import Rows
from composita.functions.training import Training
from composita.store.arrays import read_arrays, write_arrays
from composita.store.errors import InputError, UsageError


def terms(rng, arity=2, count=6, *, affine=False, weighted=True, sizes=(3, 4, 2), q=5):
    """A random sum of terms with shared rows, rows of zeros, weights and constants."""
    factors = [
        Rows(rng.normal(size=(4, d)), rng.integers(-1, 4, count), rng.normal(size=count) if affine else None)
        for d in sizes[:arity]
    ]
    output = Rows(rng.normal(size=(3, q)), rng.integers(-1, 3, count))
    return Function(output, tuple(factors), rng.normal(size=count) if weighted else None)


def extended(x):
    return np.concatenate([x, np.ones((len(x), 1))], axis=1)


def by_einsum(f, *xs):
    tensor = f.dense(homogeneous=True)
    xs = [extended(x) if one else x for x, one in zip(xs, f.affine, strict=True)]
    letters = "abc"[: len(xs)]
    spec = f"q{letters[::-1]},{','.join('n' + c for c in letters)}->nq"
    return np.einsum(spec, tensor, *xs)


def explicit(f):
    """Add up the terms, one outer product at a time."""
    total = 0
    for t in range(f.terms):
        product = f.output.rows(t, t + 1)[0] * (1 if f.weights is None else f.weights[t])
        for factor in f.factors[::-1]:
            product = np.multiply.outer(product, factor.rows(t, t + 1, extended=factor.constant is not None)[0])
        total = total + product
    return total


FORMS = [(arity, affine) for arity in (1, 2, 3) for affine in (False, True)]


@pytest.mark.parametrize(("arity", "affine"), FORMS)
def test_terms_and_tensor_are_the_same_function(arity, affine):
    rng = np.random.default_rng(arity)
    f = terms(rng, arity, affine=affine)
    np.testing.assert_allclose(f.dense(homogeneous=True), explicit(f), atol=1e-12)
    xs = [rng.normal(size=(7, d)) for d in f.sizes]
    expected = by_einsum(f, *xs)
    for g in (f, f.as_dense()):
        np.testing.assert_allclose(g.apply_all(*xs), expected, atol=1e-12)
        one_by_one = g
        batch = g
        for x in xs:
            one_by_one, batch = one_by_one(x[0]), batch(x)
        np.testing.assert_allclose(one_by_one, expected[0], atol=1e-12)
        np.testing.assert_allclose(batch, expected, atol=1e-12)
        assert g.shape == (5, *reversed(g.sizes)) and g.arity == arity


def test_blocks_do_not_show(monkeypatch):
    from composita.functions import function

    rng = np.random.default_rng(0)
    f = terms(rng, affine=True, count=50)
    xs = [rng.normal(size=(100, d)) for d in f.sizes]
    expected = f.apply_all(*xs)
    monkeypatch.setattr(function, "BLOCK", 100)
    np.testing.assert_allclose(f.apply_all(*xs), expected, atol=1e-12)
    np.testing.assert_allclose(f.as_dense().apply_all(*xs), expected, atol=1e-12)


def test_one_vector_may_stand_for_a_batch():
    rng = np.random.default_rng(1)
    f = terms(rng)
    x, y = rng.normal(size=3), rng.normal(size=(6, 4))
    expected = np.array([f(x)(row) for row in y])
    np.testing.assert_allclose(f.apply_all(x, y), expected)
    np.testing.assert_allclose(f(np.tile(x, (6, 1)))(y), expected)
    np.testing.assert_allclose(f(x)(y), expected)
    batch = f(rng.normal(size=(6, 3)))
    assert (batch.arity, batch.type, len(batch), repr(batch)) == (1, "N -> S", 6, "Batch(6 of N -> S)")
    np.testing.assert_allclose(batch(y[0]), [batch[i](y[0]) for i in range(6)])


def test_mismatches_name_the_argument_and_both_sizes():
    f = terms(np.random.default_rng(2))
    with pytest.raises(UsageError, match="the object must have 3 numbers, got 4"):
        f(np.ones(4))
    with pytest.raises(UsageError, match="the subject must have 4 numbers, got 3"):
        f(np.ones(3))(np.ones(3))
    with pytest.raises(UsageError, match=r"got an array of shape \(1, 2, 3\)"):
        f(np.ones((1, 2, 3)))
    with pytest.raises(UsageError, match="expected the vector of the object, got str"):
        f("cat-n")
    with pytest.raises(UsageError, match="expected 2 arguments, got 1"):
        f.apply_all(np.ones(3))
    with pytest.raises(UsageError, match="expected batches of one length, got 2 and 3"):
        f.apply_all(np.ones((2, 3)), np.ones((3, 4)))
    with pytest.raises(UsageError, match="expected 2 vectors of the subject, got 3"):
        f(np.ones((2, 3)))(np.ones((3, 4)))
    with pytest.raises(UsageError, match="would take 0.0 GB"):
        f.dense(limit=10)
    with pytest.raises(UsageError, match="cannot be added: they differ in type or shape"):
        f + terms(np.random.default_rng(2), arity=1)
    with pytest.raises(UsageError, match="have no inner product"):
        f.inner(terms(np.random.default_rng(2), arity=1))
    with pytest.raises(UsageError, match="this function is affine"):
        terms(np.random.default_rng(2), affine=True).dense()
    with pytest.raises(UsageError, match="cannot be explained"):
        f.as_dense().explain(np.ones(3), np.ones(4))
    with pytest.raises(UsageError, match="got a batch"):
        f.explain(np.ones((2, 3)), np.ones(4))
    with pytest.raises(UsageError, match="expected a tensor"):
        Function.from_dense(np.ones(3))
    with pytest.raises(UsageError, match="have 5 and 6 terms"):
        Function(Rows(np.ones((5, 2))), (Rows(np.ones((6, 2))),))


@pytest.mark.parametrize(("arity", "affine"), FORMS)
def test_arithmetic_is_that_of_tensors(arity, affine):
    rng = np.random.default_rng(3)
    f, g = terms(rng, arity, affine=affine), terms(rng, arity, affine=affine, weighted=False)
    a, b = f.dense(homogeneous=True), g.dense(homogeneous=True)
    for left, right in ((f, g), (f.as_dense(), g), (f, g.as_dense()), (f.as_dense(), g.as_dense())):
        np.testing.assert_allclose((2 * left + right).dense(homogeneous=True), 2 * a + b, atol=1e-12)
        np.testing.assert_allclose((left - right * 0.5).dense(homogeneous=True), a - b / 2, atol=1e-12)
        assert left.inner(right) == pytest.approx((a * b).sum())
        assert left.norm() == pytest.approx(np.linalg.norm(a))
        assert left.cosine(right) == pytest.approx((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))
        values = np.zeros(5)
        true = np.linalg.svd(a.reshape(5, -1), compute_uv=False)
        values[: len(true)] = true
        np.testing.assert_allclose(np.resize(np.append(left.singular_values(), np.zeros(5)), 5), values, atol=1e-6)


def test_affine_and_linear_functions_add_up():
    rng = np.random.default_rng(4)
    f, g = terms(rng, affine=True), terms(rng)
    xs = [rng.normal(size=(7, d)) for d in f.sizes]
    for left, right in ((f, g), (g.as_dense(), f), (f.as_dense(), g.as_dense())):
        np.testing.assert_allclose((left + right).apply_all(*xs), f.apply_all(*xs) + g.apply_all(*xs), atol=1e-12)
        padded = np.pad(g.dense(), [(0, 0), (0, 1), (0, 1)])
        both = {id(f): f.dense(homogeneous=True), id(g): padded}
        assert left.inner(right) == pytest.approx((both[id(f)] * padded).sum())


def test_effective_rank():
    f = Function.from_dense(np.diag([1.0, 1.0, 1.0, 0.0]))
    assert f.effective_rank() == pytest.approx(3)
    np.testing.assert_allclose(Function.from_dense(np.diag([3.0, 1.0])).singular_values(), [3, 1])


# ---------------------------------------------------------------- compression


@pytest.mark.parametrize(("arity", "affine"), FORMS)
@pytest.mark.parametrize("tolerance", [1e-9, 0.1, 0.5])
def test_compression_keeps_its_distance(arity, affine, tolerance):
    rng = np.random.default_rng(5)
    low = terms(rng, arity, count=500, affine=affine, sizes=(9, 8, 7), q=10)
    for f in (low, low.as_dense()):
        g = f.compress(tolerance)
        assert g.nbytes <= f.nbytes and g.sizes == f.sizes and g.affine == f.affine
        distance = np.linalg.norm(g.dense(homogeneous=True) - f.dense(homogeneous=True))
        assert distance <= (tolerance + 1e-7) * f.norm()


def test_compression_finds_few_directions():
    rng = np.random.default_rng(6)
    core = rng.normal(size=(2, 2, 2))
    bases = [rng.normal(size=(20, 2)) for _ in range(3)]
    f = Function.from_dense(np.einsum("abc,ia,jb,kc->ijk", core, *bases))
    g = f.compress(1e-6)
    assert g.terms == 4 and g.nbytes < f.nbytes / 10
    np.testing.assert_allclose(g.dense(), f.dense(), atol=1e-4)
    zero = (0 * f).compress()
    assert zero.terms == 0 and not zero.dense().any()
    with pytest.raises(UsageError, match="between 0 and 1, got 2"):
        f.compress(2)


# ---------------------------------------------------------------- properties

DRAWN = st.tuples(st.integers(0, 10_000), st.integers(1, 3), st.booleans())


@settings(max_examples=50, deadline=None)
@given(DRAWN, st.floats(-3, 3), st.floats(-3, 3))
def test_it_is_linear_in_each_argument(drawn, s, t):
    seed, arity, _ = drawn
    rng = np.random.default_rng(seed)
    f = terms(rng, arity)
    for place in range(arity):
        xs = [rng.normal(size=(1, d)) for d in f.sizes]
        y = rng.normal(size=xs[place].shape)
        mixed, other = list(xs), list(xs)
        mixed[place], other[place] = s * xs[place] + t * y, y
        np.testing.assert_allclose(
            f.apply_all(*mixed), s * f.apply_all(*xs) + t * f.apply_all(*other), rtol=1e-8, atol=1e-8
        )


@settings(max_examples=50, deadline=None)
@given(DRAWN)
def test_storage_loses_nothing(drawn):
    seed, arity, affine = drawn
    rng = np.random.default_rng(seed)
    f = terms(rng, arity, affine=affine)
    for g in (f, f.as_dense(), 2 * f):
        again = Function.from_arrays(g.to_arrays(), names=g.names, types=g.types)
        np.testing.assert_array_equal(again.dense(homogeneous=True), g.dense(homogeneous=True))
        assert repr(again) == repr(g)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["multistep", "product", "affine", "additive"]), st.booleans())
def test_explanations_sum_to_the_result(seed, learner, centre):
    rng = np.random.default_rng(seed)
    objects, subjects = np.repeat(rng.normal(size=(4, 3)), 3, axis=0), rng.normal(size=(12, 4))
    y = rng.normal(size=(12, 2))
    labels = [f"phrase {i}" for i in range(12)]
    made = MultiStep(centre=centre, storage="terms")
    if learner != "multistep":
        made = OneStep(kernel=learner, centre=centre, storage="terms")
    f = made.fit(objects, subjects, y, labels=labels)
    f = Function.from_arrays(f.to_arrays(), labels=f.labels)
    a, b = rng.normal(size=3), rng.normal(size=4)
    whole, later = f.explain(a, b), f(a).explain(b)
    np.testing.assert_allclose(whole.total, f(a)(b), atol=1e-8)
    np.testing.assert_array_equal(later.weights, whole.weights)
    order = [int(label.split()[1]) for label in whole.labels]
    np.testing.assert_allclose(whole.outputs, y[order], atol=1e-6)
    assert whole.shares.sum() == pytest.approx(1)
    assert len(whole.top(3)) == 3 and "phrase" in str(whole)


def test_a_sum_of_functions_is_explained_by_its_terms():
    rng = np.random.default_rng(7)
    f, g = terms(rng), terms(rng)
    a, b = rng.normal(size=3), rng.normal(size=4)
    np.testing.assert_allclose((f + g).explain(a, b).total, f(a)(b) + g(a)(b))
    np.testing.assert_allclose((f + g)(a).explain(b).total, f(a)(b) + g(a)(b))


# ---------------------------------------------------------------- storage


def test_rows_that_others_hold_are_stored_as_numbers(tmp_path):
    rng = np.random.default_rng(8)
    vectors = rng.normal(size=(50, 6)).astype(np.float32)
    ids = rng.integers(0, 50, (40, 2))
    examples = Examples.from_arrays((vectors, vectors), ids, rng.normal(size=(40, 5)).astype(np.float32))
    f = OneStep(kernel="affine", storage="terms").learn(examples)
    whole, shared = f.to_arrays(), f.to_arrays(shared=True)
    assert "argument1.rows" in whole and "argument1.source" in shared and "argument1.rows" not in shared
    write_arrays(tmp_path / "f.safetensors", shared)
    again = Function.from_arrays(read_arrays(tmp_path / "f.safetensors"), vectors=(vectors, vectors))
    x, y = vectors[:9], vectors[9:18]
    np.testing.assert_array_equal(again.apply_all(x, y), f.apply_all(x, y))
    with pytest.raises(ValueError, match="the vectors that they stand for are missing"):
        Function.from_arrays(shared)
    steps = MultiStep(min_examples=1, storage="terms").learn(examples)
    again = Function.from_arrays(steps.to_arrays(shared=True), outputs=examples.outputs)
    np.testing.assert_array_equal(again.apply_all(x, y), steps.apply_all(x, y))
    broken = whole | {"output.index": np.full(40, 99, np.int32)}
    with pytest.raises(ValueError, match="rows of output that are not there"):
        Function.from_arrays(broken)


def test_reports_travel_as_json():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    for learner in (MultiStep(), OneStep(), OneStep(constants=(0.5,))):
        report = learner.fit(x, y).training
        text = json.dumps(report.to_dict())
        assert Training.from_dict(json.loads(text)).to_dict() == report.to_dict()
        assert json.loads(text)["parameters"]["learner"] in ("multistep", "onestep")


def test_large_tensors_are_not_made_where_terms_are_fewer():
    rng = np.random.default_rng(10)
    f = OneStep(kernel="product").fit(
        rng.normal(size=(10, 200)), rng.normal(size=(10, 200)), rng.normal(size=(10, 200))
    )
    assert not f.is_dense and f.nbytes < f.dense_nbytes / 100
    g = OneStep(kernel="product").fit(*rng.normal(size=(2, 200, 3)), rng.normal(size=(200, 4)))
    assert g.is_dense


# ---------------------------------------------------------------- examples


def test_equal_rows_get_one_number():
    x = np.array([[1.0, 2], [3, 4], [1, 2]])
    examples = Examples.from_arrays(x, np.eye(3), np.ones((3, 2)))
    assert examples.ids[:, 0].tolist() == [0, 1, 0] and examples.shape == (2, 3, 2)
    np.testing.assert_array_equal(examples.inputs(0), x)
    assert repr(examples) == "Examples(3 of arity 2: 2 object, 3 subject -> 2)"
    part = examples.select(np.array([True, False, True]))
    assert len(part) == 2 and part.label(1) == "example 1"


def test_examples_that_do_not_fit_together_are_refused():
    x = np.eye(3)
    with pytest.raises(UsageError, match="got 1 array"):
        Examples.from_arrays(x)
    with pytest.raises(UsageError, match=r"expected numbers of shape \(3, 1\)"):
        Examples.from_arrays((x,), np.zeros((2, 1), int), x)
    with pytest.raises(UsageError, match="the argument has numbers from 0 to 3, but 3 vectors"):
        Examples.from_arrays((x,), np.array([[0], [1], [3]]), x)
    with pytest.raises(UsageError, match="expected 3 labels, one for each example, got 1"):
        Examples.from_arrays(x, x, labels=["a"])
    with pytest.raises(UsageError, match="expected 1 name of arguments"):
        Examples.from_arrays(x, x, names=["a", "b"])
    with pytest.raises(InputError, match="the vectors of argument hold"):
        Examples.from_arrays(np.where(x, x, np.inf), x)


def test_they_are_public():
    assert composita.Function is Function and composita.MultiStep is MultiStep and composita.OneStep is OneStep


@pytest.mark.parametrize("source", [[-1], [3], [2**62]])
def test_rows_that_stand_for_vectors_that_are_not_there_are_refused(source):
    with pytest.raises(ValueError, match="vectors that are not there"):
        Rows.from_arrays("argument1", {"argument1.source": np.array(source)}, np.eye(3))
