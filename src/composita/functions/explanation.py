"""Explanations: of which attested phrases, with which weights, the result of a function is the sum.

With the dual rows of multi-step regression the weight of an example is the product of its linear forms. In one-step
ridge regression it is an entry of (K + lambda I)^-1 k(x), for which one system of equations is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from composita.functions.examples import Array
from composita.functions.rows import Rows
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.functions.function import Attested, Function


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The weights (N,) and vectors (N, q) of attested phrases; ``weights @ outputs`` is the result.

    >>> parts = Explanation(["dog bark", "cat sleep"], np.array([0.5, 0.1]), np.eye(2))
    >>> parts.total
    array([0.5, 0.1])
    >>> print(parts)
     weight   share  phrase
     0.5000   96.2%  dog bark
     0.1000    3.8%  cat sleep
    """

    labels: Sequence[str]
    weights: Array
    outputs: Array = field(repr=False)

    @property
    def total(self) -> Array:
        """The result."""
        total: Array = self.weights @ self.outputs
        return total

    @property
    def shares(self) -> Array:
        """How much of the length of the result each phrase makes, along its direction; they sum to 1."""
        total = self.total
        length = float(total @ total)
        shares: Array = self.weights * (self.outputs @ total) / (length or 1.0)
        return shares

    def top(self, count: int = 10) -> list[tuple[str, float, float]]:
        """Give the phrases with the largest shares, of either sign: label, weight, share."""
        shares = self.shares
        order = np.argsort(-np.abs(shares), kind="stable")[:count]
        return [(self.labels[i], float(self.weights[i]), float(shares[i])) for i in order.tolist()]

    def __len__(self) -> int:
        return len(self.weights)

    def __str__(self) -> str:
        lines = [f"{weight:7.4f}  {share:6.1%}  {label}" for label, weight, share in self.top()]
        return "\n".join([" weight   share  phrase", *lines])

    def __repr__(self) -> str:
        return f"Explanation({len(self):,} phrases)"


def explain(function: Function, arguments: Sequence[Array]) -> Explanation:
    """Explain the result of a function of all its arguments."""
    if function.parts:
        return _joined([(strength, part.explain(*arguments), part) for strength, part in function.parts])
    if function.output is None:
        raise UsageError("a function that is held as a dense tensor cannot be explained: learn it with storage='terms'")
    values = np.ones(function.terms) if function.weights is None else function.weights.astype(np.float64)
    for factor, x in zip(function.factors, arguments, strict=True):
        values = values * factor.values(x[None])[0]
    about = function.attested
    if about is None:
        return _by_argument(function, values) or Explanation(
            [f"term {i}" for i in range(function.terms)], values, function.output.rows()
        )
    labels = function.labels if function.labels is not None else [f"example {i}" for i in range(about.count)]
    if about.penalty:
        weights, outputs = _solved(function, about, values)
    else:
        numbers = function.output.numbered()
        linear = numbers < about.count
        weights = np.bincount(numbers[linear], values[linear], about.count)
        outputs = function.output.array[: about.count]
    if about.mean == "centre":
        mean = function.output.array[about.count]
        weights = weights + (1 - weights.sum()) * _mean_weights(about)
        outputs = outputs if about.penalty else outputs + mean
    return Explanation(labels, weights, outputs)


def _joined(parts: Sequence[tuple[float, Explanation, Function]]) -> Explanation:
    """Explain a sum of functions by what explains each; what is not a phrase says that it is of a shared function."""
    labels: list[str] = []
    for _, why, part in parts:
        first = part if part.origin is None else part.origin[0]
        labels += why.labels if first.attested else [f"{label}, by the shared function" for label in why.labels]
    weights = np.concatenate([strength * why.weights for strength, why, _ in parts])
    return Explanation(labels, weights, np.concatenate([why.outputs for _, why, _ in parts]))


def _by_argument(function: Function, values: Array) -> Explanation | None:
    """Explain a sum of one matrix for each argument by what each gives; None where terms look at several."""
    looked = np.array([factor.numbered() >= 0 for factor in function.factors])  # (arguments, terms)
    if (looked.sum(0) > 1).any():
        return None
    owners = np.where(looked.any(0), looked.argmax(0), len(looked))
    labels = [*(f"the {name}" for name in function.names), "the same for all"]
    assert function.output is not None
    rows = function.output.rows().astype(np.float64)
    found = {owner: values[owners == owner] @ rows[owners == owner] for owner in np.unique(owners).tolist()}
    return Explanation([labels[owner] for owner in found], np.ones(len(found)), np.stack(list(found.values())))


def _mean_weights(about: Attested) -> Array:
    weights = np.ones(about.count) if about.weights is None else about.weights.astype(np.float64)
    shares: Array = weights / weights.sum()
    return shares


def _solved(function: Function, about: Attested, values: Array) -> tuple[Array, Array]:
    """Solve for the weights of the examples, and get their outputs back from the coefficients.

    With the coefficients C the outputs are K C + lambda D^-1 C + the constant; with an intercept the weights sum to 1.
    """
    count, output = about.count, function.output
    assert output is not None
    numbers = output.numbered()
    linear = numbers < count
    similar = np.bincount(numbers[linear], values[linear], count)  # k(x)
    coefficients = output.array[:count].astype(np.float64)
    constant = output.array[count].astype(np.float64) if len(output.array) > count else np.zeros(1)
    kernel = _kernel_of(function, count)
    outputs = kernel @ coefficients
    ridge = np.full(count, about.penalty) if about.weights is None else about.penalty / about.weights
    outputs += ridge[:, None] * coefficients + constant
    kernel[np.diag_indices(count)] += ridge
    if about.mean == "intercept":
        bordered = np.ones((count + 1, count + 1))
        bordered[:count, :count], bordered[count, count] = kernel, 0.0
        return np.linalg.solve(bordered, np.append(similar, 1.0))[:count], outputs
    return np.linalg.solve(kernel, similar), outputs


def _kernel_of(function: Function, count: int) -> Array:
    """Give the kernel between the examples.

    The terms of a sum of kernels follow each other part by part, each in the order of the examples; where a part does
    not look at an argument, its terms have no row for it.
    """
    parts = max(function.terms // count, 1)
    scale = np.ones(function.terms) if function.weights is None else function.weights
    points = [_points(factor, count, parts) for factor in function.factors]
    kernel = np.zeros((count, count))
    for part in range(parts):
        first, last = part * count, (part + 1) * count
        product = np.broadcast_to(scale[first:last].astype(np.float64), (count, count)).copy()
        for factor, x in zip(function.factors, points, strict=True):
            similar = x @ factor.rows(first, last).T.astype(np.float64)
            product *= similar if factor.constant is None else similar + factor.constant[first:last]
        kernel += product
    return kernel


def _points(factor: Rows, count: int, parts: int) -> Array:
    """Give an argument of all examples, from a part that looks at it."""
    numbers = factor.numbered()
    for part in range(parts):
        if (numbers[part * count : (part + 1) * count] >= 0).all():
            return factor.rows(part * count, (part + 1) * count).astype(np.float64)
    return np.zeros((count, factor.size))
