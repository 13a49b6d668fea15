"""Held-out predictions in closed form: what would be predicted for examples that had been left out.

At a fixed lambda nothing need be learned again. With the matrix M of the regression (coefficients M Y) a set S of
examples that is left out is predicted with the error (M_SS)^-1 (M Y)_S. In two-step regression a new first argument,
whose map W_g is left out of the upper step, leaves

    W_g x_e - (W_g x_e - f) / (1 - h_g)

where f is the prediction for the example in training and h_g the leverage of the map; a new example, whose first
argument is known by others, f - h_g h_e / (1 - h_e) (y_e - W_g x_e).

>>> from composita.functions.onestep import OneStep
>>> rng = np.random.default_rng(0)
>>> examples = Examples.from_arrays(rng.normal(size=(9, 4)), rng.normal(size=(9, 4)), rng.normal(size=(9, 2)))
>>> found = left_out(OneStep(), examples, by="object")
>>> found
LeftOut(9 of 9 examples, a new object each)
>>> bool(found.error > 0)
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from composita.functions import kernelridge
from composita.functions.examples import Array, Examples, Int64Array
from composita.functions.multistep import MultiStep, Steps, fit_steps
from composita.functions.preparing import Prepared, prepare
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.functions.onestep import OneStep


@dataclass(frozen=True, eq=False, repr=False)
class LeftOut:
    """What was predicted for examples that were left out.

    Parameters
    ----------
    examples
        The examples that there are predictions for.
    predictions
        The predicted outputs: (N, q).
    by
        What was left out with each: ``example``, or the name of an argument.
    given
        How many examples there were.

    """

    examples: Examples
    predictions: Array
    by: str
    given: int

    @property
    def error(self) -> float:
        """The mean squared error, over that of predicting zeros."""
        wrong = ((self.predictions - self.examples.outputs) ** 2).sum()
        return float(wrong / (self.examples.outputs.astype(np.float64) ** 2).sum())

    def __repr__(self) -> str:
        what = "itself" if self.by == "example" else f"a new {self.by}"
        return f"LeftOut({len(self.examples):,} of {self.given:,} examples, {what} each)"


def left_out(learner: OneStep | MultiStep, examples: Examples, *, by: str = "example") -> LeftOut:
    """Predict each example without itself, or without all examples that share an argument with it.

    Parameters
    ----------
    learner
        One-step regression of at most as many examples as it solves exactly; or multi-step regression, by example or by
        the first argument.
    examples
        What to learn from.
    by
        ``example``, or the name of an argument.

    """
    if by != "example" and by not in examples.names:
        raise UsageError(f"expected example, {', '.join(examples.names)}, got {by!r}")
    prepared = prepare(examples, weighted=learner.weights, centre=learner.centre)
    if isinstance(learner, MultiStep):
        return _multistep(learner, prepared, by)
    return _onestep(learner, prepared, by)


def _onestep(learner: OneStep, prepared: Prepared, by: str) -> LeftOut:
    from composita.functions.onestep import solve_examples

    examples = prepared.examples
    if len(examples) > learner.exact:
        raise UsageError(f"{len(examples):,} examples are more than the {learner.exact:,} that are solved exactly")
    solution = solve_examples(prepared, learner.kernel_of(examples.names), learner)
    if by == "example":
        sets = list(np.arange(len(examples))[:, None])
    else:
        sets = kernelridge.sets_of(examples.ids[:, examples.names.index(by)])
    outputs = examples.outputs.astype(np.float64)
    found = kernelridge.left_out(solution, outputs, sets, prepared.mean_weights)
    return LeftOut(examples, found, by, prepared.found)


def _multistep(learner: MultiStep, prepared: Prepared, by: str) -> LeftOut:
    examples = prepared.examples
    if examples.arity > 2 or by not in ("example", examples.names[0]):
        raise UsageError("multi-step regression tells of new examples, and of a new first argument of one or two")
    steps = fit_steps(prepared, learner)
    kept = examples.select(steps.kept)
    outputs = prepared.outputs[steps.kept].astype(np.float64)
    if examples.arity == 1:  # a new argument is a new example
        own = _within(steps, kept, outputs)
        found = outputs - (outputs - own) / (1 - steps.levels[0].leverage)[:, None]
    else:
        found = _two_steps(steps, kept, outputs, by)
    if prepared.mean is not None:
        found += prepared.mean
    order = np.argsort(steps.kept)
    return LeftOut(kept.select(order), found[order], by, prepared.found)


def _two_steps(steps: Steps, kept: Examples, outputs: Array, by: str) -> Array:
    upper, lower = steps.levels
    above, groups = upper.leverage[steps.members[0]][:, None], steps.members[0]
    own = _within(steps, kept, outputs)
    whole = _whole(steps, kept, outputs, groups)
    found: Array
    if by != "example":
        found = own - (own - whole) / (1 - above)
    else:
        beside = lower.leverage[:, None]
        found = whole - above * beside / (1 - beside) * (outputs - own)
    return found


def _within(steps: Steps, kept: Examples, outputs: Array) -> Array:
    """Predict each example by the regression of its own group: W_g x_e."""
    level, found = steps.levels[-1], np.empty(outputs.shape)
    inputs = kept.inputs(kept.arity - 1).astype(np.float64)
    for first, last in zip(level.bounds[:-1], level.bounds[1:], strict=True):
        rows = slice(first, last)
        forms = inputs[rows] @ level.dual[rows].T
        found[rows] = (forms if level.constant is None else forms + level.constant[rows]) @ outputs[rows]
    return found


def _whole(steps: Steps, kept: Examples, outputs: Array, groups: Int64Array) -> Array:
    """Predict each example by the whole function."""
    found = np.empty(outputs.shape)
    upper, lower = steps.levels
    step = 512
    for first in range(0, len(found), step):
        rows = slice(first, first + step)
        above = kept.inputs(0)[rows].astype(np.float64) @ upper.dual.T
        below = kept.inputs(1)[rows].astype(np.float64) @ lower.dual.T
        above = above if upper.constant is None else above + upper.constant
        below = below if lower.constant is None else below + lower.constant
        found[rows] = (above[:, groups] * below) @ outputs
    return found
