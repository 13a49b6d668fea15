from itertools import pairwise

import numpy as np
import pytest

from composita.functions.examples import Examples
from composita.functions.function import Function
from composita.functions.gram import MapOutputs
from composita.functions.multistep import MultiStep
from composita.functions.onestep import OneStep
from composita.functions.regression import VectorOutputs, regress
from composita.store.errors import TooFewError, UsageError
from tests.functions import oracle


def ragged(rng, arity, d, q, *, groups=5, sizes=(3, 4, 6)):
    """Make a ragged table: (arrays of arguments, outputs), with every group large enough, shuffled."""
    rows = [()]
    for place in range(arity):
        new = []
        for row in rows:
            count = groups if place == 0 else int(rng.choice(sizes))
            new += [(*row, rng.normal(size=d[place])) for _ in range(count)]
        rows = new
    rows = [rows[i] for i in rng.permutation(len(rows))]
    arguments = [np.array([row[place] for row in rows]) for place in range(arity)]
    return arguments, rng.normal(size=(len(rows), q))


CASES = [
    # arity, sizes of the arguments, output
    (1, (8,), 3),  # fewer members than dimensions
    (1, (3,), 4),  # more
    (2, (6, 7), 3),
    (2, (3, 2), 4),
    (2, (4, 9), 1),
    (3, (3, 5, 4), 2),
    (3, (6, 2, 3), 3),
]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("arity", "d", "q"), CASES)
@pytest.mark.parametrize("penalty", [None, 0.3])
def test_the_dual_form_is_the_recursion_of_the_paper(arity, d, q, weighted, intercept, penalty):
    rng = np.random.default_rng(arity * 100 + sum(d) + q)
    arguments, outputs = ragged(rng, arity, d, q)
    weights = rng.uniform(0.2, 3, len(outputs)) if weighted else None
    learner = MultiStep(intercept=intercept, penalty=penalty, storage="terms")
    function = learner.fit(*arguments, outputs, weights=weights)
    expected = oracle.multistep([*arguments, outputs], weights=weights, intercept=intercept, penalty=penalty)
    found = function.dense(homogeneous=True)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("way", ["blocks", "maps", "combined"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("maps", "size"), [(4, 6), (9, 3)])
def test_three_ways_to_the_lengths_of_maps(way, intercept, maps, size, monkeypatch):
    from composita.functions import gram

    monkeypatch.setattr(gram, "ROWS", 7)
    monkeypatch.setattr(gram, "SLICE", 60)
    rng = np.random.default_rng(11)
    lengths = rng.integers(1, 6, maps)
    bounds = np.cumsum([0, *lengths])
    outputs, dual = rng.normal(size=(bounds[-1], 5)), rng.normal(size=(bounds[-1], 4))
    dense = np.array([outputs[a:b].T @ dual[a:b] for a, b in pairwise(bounds)]).reshape(maps, -1)
    inputs, weights = rng.normal(size=(maps, size)), rng.uniform(0.5, 2, maps)
    found = regress(
        inputs, np.array([0, maps]), MapOutputs((outputs, dual), bounds, way), weights=weights, intercept=intercept
    )
    expected = regress(inputs, np.array([0, maps]), VectorOutputs(dense), weights=weights, intercept=intercept)
    np.testing.assert_allclose(found.choice.curve, expected.choice.curve, rtol=1e-9)
    np.testing.assert_allclose(found.dual, expected.dual, atol=1e-10)


def test_the_way_is_chosen_by_its_cost():
    def way(maps, each, size=300):
        bounds = np.arange(0, maps * each + 1, each)
        parts = (np.empty((bounds[-1], size), np.float32), np.empty((bounds[-1], size), np.float32))
        return MapOutputs(parts, bounds).chosen_way(0, maps, min(maps, size))

    assert way(324, 3) == "blocks"
    assert way(200, 40) == "maps"
    assert way(4000, 25) == "combined"
    three = MapOutputs((np.empty((90, 4)),) * 3, np.arange(0, 91, 3))
    assert three.chosen_way(0, 30, 4) == "blocks"


def test_small_groups_are_dropped_at_every_level_and_counted():
    rng = np.random.default_rng(12)
    objects, subjects = rng.normal(size=(5, 3)), rng.normal(size=(9, 3))
    sizes = [4, 3, 3, 2, 1]
    ids = np.array([[o, s] for o, size in enumerate(sizes) for s in range(size)])
    examples = Examples.from_arrays((objects, subjects), ids, rng.normal(size=(13, 2)))
    f = MultiStep(storage="terms").learn(examples)
    assert f.training.dropped == {"fewer than 3 of the subject for the same arguments before": 3}
    assert (f.training.used, f.training.levels[1].regressions, f.training.levels[0].sizes) == (10, 3, (3.0, 3.0, 3.0))
    assert list(f.labels) == [f"example {i}" for i in range(10)]
    with pytest.raises(TooFewError, match="expected at least 4 examples in each regression"):
        MultiStep(min_examples=4).learn(examples)
    text = str(f.training)
    assert text.startswith("10 of 13 examples; object: 1 regression, subject: 3 regressions; 3 dropped: fewer than 3")


def test_three_levels_drop_from_the_deepest_up():
    rng = np.random.default_rng(13)
    rows = []
    for theme in range(4):
        for recipient in range(4 if theme < 3 else 2):
            count = 2 if (theme, recipient) == (0, 0) else 3
            rows += [(theme, recipient, subject) for subject in range(count)]
    vectors = tuple(rng.normal(size=(4, d)) for d in (3, 4, 2))
    arrays = [v[np.array(rows)[:, i]] for i, v in enumerate(vectors)]
    outputs = rng.normal(size=(len(rows), 3))
    f = MultiStep(storage="terms").fit(*arrays, outputs)
    assert sum(f.training.dropped.values()) == 2 + 6
    np.testing.assert_allclose(f.dense(), oracle.multistep([*arrays, outputs]), atol=1e-8)
    assert f.names == ("theme", "recipient", "subject") and f.type == "N -> N -> N -> S"


def test_groups_may_be_named():
    rng = np.random.default_rng(14)
    objects, subjects, y = rng.normal(size=(12, 3)), rng.normal(size=(12, 4)), rng.normal(size=(12, 2))
    groups = np.array(list("aaaabbbbcccc"))
    f = MultiStep(storage="terms").fit(objects, subjects, y, groups=groups)
    means = np.repeat([objects[i : i + 4].mean(0) for i in (0, 4, 8)], 4, axis=0)
    np.testing.assert_allclose(f.dense(), MultiStep(storage="terms").fit(means, subjects, y).dense(), atol=1e-8)
    same = MultiStep(storage="terms").fit(means, subjects, y, groups=groups)
    np.testing.assert_allclose(same.dense(), f.dense(), atol=1e-8)
    with pytest.raises(UsageError, match=r"expected groups of shape \(12, 1\)"):
        MultiStep().fit(objects, subjects, y, groups=groups[:3])


def test_one_penalty_for_each_level():
    rng = np.random.default_rng(15)
    arguments, outputs = ragged(rng, 2, (4, 5), 3)
    f = MultiStep(per="level").fit(*arguments, outputs)
    assert [len(level.penalty["lambda"]) for level in f.training.levels] == [1, 1]
    assert all(level.penalty["pooled"] for level in f.training.levels)
    with pytest.raises(UsageError, match="expected per='group' or per='level', got 'verb'"):
        MultiStep(per="verb")
    with pytest.raises(UsageError, match="min_examples of at least 1"):
        MultiStep(min_examples=0)


def test_a_pooled_penalty_finds_planted_maps_better_where_groups_are_small():
    rng = np.random.default_rng(16)
    tensor = rng.normal(size=(8, 6, 6))
    objects = np.repeat(rng.normal(size=(30, 6)), 4, axis=0)
    subjects = rng.normal(size=(120, 6))
    y = np.einsum("qji,ni,nj->nq", tensor, objects, subjects) + 12 * rng.normal(size=(120, 8))
    true = Function.from_dense(tensor)
    apart, pooled = (MultiStep(per=per).fit(objects, subjects, y).cosine(true) for per in ("group", "level"))
    assert pooled > apart


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_same_bits_with_any_number_of_workers(workers):
    from composita.store.engine import Engine, Task, run_tasks

    rng = np.random.default_rng(17)
    tables = []
    for _ in range(4):
        arguments, outputs = ragged(rng, 2, (20, 20), 20, groups=25, sizes=(3, 5, 30))
        tables.append(Examples.from_arrays(*arguments, outputs))
    tasks = [Task(str(i), _arrays_of, (i, table)) for i, table in enumerate(tables)]
    found = dict(receipt for _, receipt in run_tasks(tasks, engine=Engine(workers=workers)))
    for i, table in enumerate(tables):
        (_, alone), *_ = [r for _, r in run_tasks([Task("", _arrays_of, (i, table))])]
        for name, array in alone.items():
            np.testing.assert_array_equal(found[i][name], array)


def _arrays_of(number, table):
    both = MultiStep().learn(table).to_arrays() | {f"one {k}": v for k, v in OneStep().learn(table).to_arrays().items()}
    return number, both
