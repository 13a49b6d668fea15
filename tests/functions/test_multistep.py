import numpy as np
import pytest

from composita.functions.multistep import MultiStep
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
