"""Ridge regression: a linear (or affine) map from inputs to outputs.

    W = argmin sum_e w_e |y_e - W x_e|^2 + lambda |W|^2

with lambda chosen by generalised cross-validation (see `composita.functions.penalty`).

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> nouns, matrix = rng.normal(size=(50, 3)), np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])
>>> sing = ridge(nouns, nouns @ matrix.T)
>>> sing
Function(N -> S: 2 x 3, dense)
>>> np.allclose(sing(nouns[0]), matrix @ nouns[0], atol=1e-4)
True
>>> sing.training.levels[0].penalty["verdicts"]
{'interpolates': 1}
"""

from __future__ import annotations

from typing import Any

from composita.functions.examples import Array, Examples
from composita.functions.function import Function
from composita.functions.multistep import MultiStep
from composita.functions.preparing import Storage


def ridge(
    inputs: Any,  # noqa: ANN401 - what NumPy takes
    outputs: Any,  # noqa: ANN401 - what NumPy takes
    *,
    penalty: float | None = None,
    intercept: bool = False,
    centre: bool = False,
    weights: Array | None = None,
    storage: Storage = "auto",
    **about: Any,  # noqa: ANN401 - frequency, names, labels
) -> Function:
    """Learn a map from inputs (m, d) to outputs (m, q): a function of one argument.

    Parameters
    ----------
    inputs, outputs
        One example a row.
    penalty
        Lambda; by default it is chosen by generalised cross-validation.
    intercept
        Whether a constant is learned without penalty.
    centre
        Whether the mean of the outputs is taken off before, and added to the result.
    weights
        How much each example counts.
    storage
        ``terms`` (can be explained), ``dense``, or ``auto``: dense where that takes less than half of the memory.
    about
        ``frequency``, ``names``, ``labels``, as `Examples` have them.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(20, 3))
    >>> furry = ridge(x, x @ np.diag([1.0, 2.0, 0.5]))
    >>> furry(np.ones(3)).round(2)
    array([1. , 2. , 0.5])

    """
    examples = Examples.from_arrays(inputs, outputs, weights=weights, **about)
    learner = MultiStep(min_examples=1, penalty=penalty, intercept=intercept, centre=centre, storage=storage)
    return learner.learn(examples)
