"""Ridge regression with generalised cross-validation as an estimator of scikit-learn.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> inputs = rng.normal(size=(30, 4))
>>> regression = RidgeGCV().fit(inputs, inputs @ [1.0, 2.0, 3.0, 4.0] + 5)
>>> regression.predict(np.zeros((1, 4))).round(3), regression.coef_.round(3)
(array([5.]), array([1., 2., 3., 4.]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from composita.functions.examples import Array
from composita.functions.penalty import Choice
from composita.functions.regression import VectorOutputs, regress
from composita.store.errors import MissingExtraError

try:
    from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError("an estimator of scikit-learn", package="scikit-learn", extra="learners") from error


class RidgeGCV(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear least squares with a penalty on the coefficients, chosen by generalised cross-validation.

    Parameters
    ----------
    fit_intercept
        Whether a constant is learned, without penalty.
    alpha
        The penalty, instead of choosing it.

    Attributes
    ----------
    coef_, intercept_
        The coefficients, (d,) or (q, d), and the constants.
    alpha_
        The penalty.
    alphas_, curve_
        The penalties tried, and the criterion at each.
    verdict_
        What is to be said of the choice: ``""``, ``flat``, ``no signal`` or ``interpolates``.

    """

    def __init__(self, *, fit_intercept: bool = True, alpha: float | None = None) -> None:
        self.fit_intercept = fit_intercept
        self.alpha = alpha

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RidgeGCV:  # noqa: ANN401, N803 - as scikit-learn has it
        """Learn from inputs (m, d) and outputs (m,) or (m, q)."""
        inputs, targets = validate_data(self, X, y, multi_output=True, y_numeric=True, dtype=(np.float64, np.float32))
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, inputs, dtype=np.float64, ensure_non_negative=True)
        inputs, outputs, weights = _merged(inputs, np.asarray(targets, np.float64).reshape(len(inputs), -1), weights)
        level = regress(
            inputs, np.array([0, len(inputs)]), VectorOutputs(outputs), weights=weights,
            intercept=self.fit_intercept, penalty=self.alpha,
        )  # fmt: skip
        coefficients = outputs.T @ level.dual
        constants = np.zeros(outputs.shape[1]) if level.constant is None else outputs.T @ level.constant
        choice: Choice = level.choice
        self.coef_ = coefficients[0] if targets.ndim == 1 else coefficients
        self.intercept_ = constants[0] if targets.ndim == 1 else constants
        self.alpha_ = float(choice.penalties[0])
        self.alphas_, self.curve_, self.verdict_ = choice.grid, choice.curve, choice.verdicts[0]
        return self

    def predict(self, X: Any) -> Array:  # noqa: ANN401, N803 - as scikit-learn has it
        """Predict the outputs of inputs (n, d)."""
        check_is_fitted(self)
        inputs = validate_data(self, X, reset=False, dtype=(np.float64, np.float32))
        predictions: Array = inputs @ self.coef_.T + self.intercept_
        return predictions


def _merged(inputs: Array, outputs: Array, weights: Array | None) -> tuple[Array, Array, Array | None]:
    """Leave out examples that weigh nothing, and merge those of equal inputs, so that weights are repetitions."""
    if weights is not None:
        kept = weights > 0
        if not kept.any():
            raise ValueError("expected at least one sample weight above 0")
        inputs, outputs, weights = inputs[kept], outputs[kept], weights[kept]
    rows, numbers = np.unique(inputs, axis=0, return_inverse=True)
    if len(rows) == len(inputs):
        return inputs, outputs, weights
    given = np.ones(len(inputs)) if weights is None else weights
    sums, means = np.bincount(numbers.reshape(-1), given), np.zeros((len(rows), outputs.shape[1]))
    np.add.at(means, numbers.reshape(-1), outputs * given[:, None])
    return rows, means / sums[:, None], sums
