"""Learners: everything that makes a function of examples, by name, and the regressions that are not ridge.

A regression that is not ridge learns a function of any arity by the same recursion as multi-step ridge: from the last
argument to the first, the maps that were learned at one level are the outputs of the level above. Least squares and
partial least squares are linear combinations of their outputs, Y^T A, where A needs only the inputs X and the outputs'
Gram matrix G = Y Y^T; so they stay in dual form and never make a tensor:

    least squares           A = (X X^T)^+ X, the solution of minimum norm
    partial least squares   A = T (U^T K T)^-1 U^T X, with the scores T, U of the kernel form (Rosipal & Trejo 2001)

Other regressions, such as ridge with a lambda for each output, the lasso and whatever else of scikit-learn takes
several outputs, are given the outputs themselves; above one argument these are whole matrices, and the result is a
dense tensor.

>>> rng = np.random.default_rng(0)
>>> inputs, tensor = rng.normal(size=(8, 3)), rng.normal(size=(2, 3))
>>> f = LEARNERS["lstsq"]().fit(inputs, inputs @ tensor.T)
>>> np.allclose(f.dense(), tensor)
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from composita.counting.words import suggest
from composita.functions.examples import Examples
from composita.functions.function import Attested, Function
from composita.functions.multistep import MultiStep
from composita.functions.onestep import OneStep
from composita.functions.penalty import Spectrum, choose
from composita.functions.rows import Rows
from composita.functions.training import LevelReport, Training
from composita.store.errors import InputError, MissingExtraError, TooFewError, UsageError

Array = npt.NDArray[Any]

DENSE_BYTES = 1 << 31
"""The most that the matrices of one word may take in a regression that needs them as they are."""


@runtime_checkable
class Learner(Protocol):
    """What makes functions of examples."""

    def learn(self, examples: Examples) -> Function:
        """Learn a function."""
        ...

    def fit(self, *arrays: Any) -> Function:  # noqa: ANN401 - arrays
        """Learn from one array for each argument and one of outputs."""
        ...

    def parameters(self) -> dict[str, Any]:
        """Give name and options, as JSON can say them."""
        ...


# ---------------------------------------------------------------- regressions


@dataclass(frozen=True, kw_only=True)
class LeastSquares:
    """Least squares; of all solutions the one of minimum norm.

    Parameters
    ----------
    tolerance
        Directions of the inputs with less than this share of the largest eigenvalue of X X^T count as none.

    """

    tolerance: float = 1e-10

    def dual(self, inputs: Array, gram: Array, weights: Array | None) -> Array:
        """Give A for inputs (m, d): the map is Y^T A."""
        x = np.asarray(inputs, np.float64)
        root = np.ones(len(x)) if weights is None else np.sqrt(weights)
        scaled = root[:, None] * x
        kernel = scaled @ scaled.T
        return root[:, None] * (np.linalg.pinv(kernel, rcond=self.tolerance, hermitian=True) @ scaled)


@dataclass(frozen=True, kw_only=True)
class PartialLeastSquares:
    """Partial least squares regression, as Baroni & Zamparelli (2010) and Guevara (2010) learned adjectives.

    Parameters
    ----------
    components
        How many latent directions are used at most; fewer where the data has no more.

    """

    components: int = 20

    def __post_init__(self) -> None:
        if self.components < 1:
            raise UsageError(f"expected at least 1 component, got {self.components}")

    def dual(self, inputs: Array, gram: Array, weights: Array | None) -> Array:
        """Give A for inputs (m, d) and the Gram matrix of the outputs: the map is Y^T A."""
        x = np.asarray(inputs, np.float64)
        root = np.ones(len(x)) if weights is None else np.sqrt(weights)
        x = root[:, None] * x
        outputs = root[:, None] * np.asarray(gram, np.float64) * root
        kernel = x @ x.T
        left, right = scores(kernel, outputs, self.components)
        if not left.shape[1]:
            return np.zeros_like(x)
        inner = right.T @ kernel @ left
        dual: Array = left @ np.linalg.solve(inner, right.T @ x)
        return root[:, None] * dual


def scores(kernel: Array, gram: Array, components: int) -> tuple[Array, Array]:
    """Give the latent scores T, U of kernel partial least squares: (m, k) each, k at most ``components``.

    The next score t is the dominant eigenvector of K G, after the scores before it were taken out of both; u = G t.
    """
    m = len(kernel)
    k, g = kernel.copy(), gram.copy()
    least = 1e-10 * float(np.trace(kernel)) * float(np.trace(gram))
    left, right = [], []
    for _ in range(min(components, m)):
        t = _dominant(k, g)
        if t is None or float(t @ k @ (g @ t)) <= least:
            break
        u = g @ t
        left.append(t)
        right.append(u / np.linalg.norm(u))
        for matrix in (k, g):  # (I - t t^T) M (I - t t^T)
            column = matrix @ t
            matrix -= np.outer(t, column) + np.outer(column, t) - float(t @ column) * np.outer(t, t)
    empty = np.empty((m, 0))
    return (np.stack(left, 1), np.stack(right, 1)) if left else (empty, empty)


def _dominant(kernel: Array, gram: Array) -> Array | None:
    """Find the dominant eigenvector of a product of two positive semi-definite matrices, by the power method."""
    t = kernel @ gram.sum(axis=1) + kernel.diagonal() * gram.diagonal()
    for _ in range(500):
        length = np.linalg.norm(t)
        if not length > 0:
            return None
        t = t / length
        found = kernel @ (gram @ t)
        size = np.linalg.norm(found)
        if size == 0:
            return None
        if np.linalg.norm(found / size - t) < 1e-9:
            return found / size  # type: ignore[no-any-return]
        t = found
    return t / np.linalg.norm(t)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class RidgePerOutput:
    """Ridge regression with a lambda for each output, by generalised cross-validation.

    The rows of A differ from output to output, so it has no dual form.
    """

    name: ClassVar[str] = "ridge-per-output"

    def coefficients(self, inputs: Array, outputs: Array, weights: Array | None) -> Array:
        """Give the matrix (q, d) learned from inputs (m, d) and outputs (m, q)."""
        root = np.ones(len(inputs)) if weights is None else np.sqrt(weights)
        x, y = (root[:, None] * np.asarray(part, np.float64) for part in (inputs, outputs))
        left, roots, right = np.linalg.svd(x, full_matrices=False)
        along, values = left.T @ y, roots**2  # (k, q), (k,)
        rest = np.clip((y**2).sum(0) - (along**2).sum(0), 0, None)
        each = np.broadcast_to(values, (y.shape[1], len(values)))
        penalties = choose([Spectrum(each, (along**2).T, rest, len(x))]).penalties
        found: Array = (along * roots[:, None] / (values[:, None] + penalties)).T @ right
        return found


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """A regression of scikit-learn that is linear and takes several outputs.

    Parameters
    ----------
    make
        Called to get a new estimator, with ``fit`` and then ``coef_`` of shape (outputs, inputs). It should have no
        intercept; one that it has is refused, because the map would not be linear.
    name, options
        What it is called in reports.

    """

    make: Callable[..., Any]
    name: str
    options: tuple[tuple[str, Any], ...] = ()

    def coefficients(self, inputs: Array, outputs: Array, weights: Array | None) -> Array:
        """Give the matrix (q, d) learned from inputs (m, d) and outputs (m, q)."""
        estimator = self.make(**dict(self.options))
        x, y = np.asarray(inputs, np.float64), np.asarray(outputs, np.float64)
        try:
            estimator.fit(x, y) if weights is None else estimator.fit(x, y, sample_weight=weights)
        except TypeError:
            raise UsageError(f"{self.name} takes no weights of examples: learn without them") from None
        intercept = getattr(estimator, "intercept_", 0.0)
        if np.any(np.asarray(intercept) != 0):
            raise UsageError(f"{self.name} learned an intercept, so it is not linear: make it with fit_intercept=False")
        found = np.asarray(estimator.coef_, np.float64)
        if found.shape != (y.shape[1], x.shape[1]):
            raise UsageError(f"{self.name}: expected coefficients of {(y.shape[1], x.shape[1])}, got {found.shape}")
        if not np.isfinite(found).all():
            raise InputError(f"{self.name} found coefficients that are not finite")
        return found


def _linear_model(name: str) -> Callable[..., Any]:
    """Give a class of scikit-learn's linear models."""
    try:
        from sklearn import linear_model
    except ImportError:
        raise MissingExtraError(f"the regression {name}", package="scikit-learn", extra="learners") from None
    found: Callable[..., Any] = getattr(linear_model, name)
    return found


def lasso(*, alpha: float = 1e-4, max_iterations: int = 2000) -> Estimator:
    """Give the lasso: the squared error with ``alpha`` times the sum of the coefficients' sizes."""
    options = (("alpha", alpha), ("fit_intercept", False), ("max_iter", max_iterations))
    return Estimator(make=_linear_model("Lasso"), name="lasso", options=options)


def elastic_net(*, alpha: float = 1e-4, mix: float = 0.5, max_iterations: int = 2000) -> Estimator:
    """Give the elastic net: the lasso's penalty, mixed with that of ridge regression."""
    options = (("alpha", alpha), ("l1_ratio", mix), ("fit_intercept", False), ("max_iter", max_iterations))
    return Estimator(make=_linear_model("ElasticNet"), name="elasticnet", options=options)


# ---------------------------------------------------------------- functions of any arity


@dataclass(frozen=True, kw_only=True)
class Stepwise:
    """Learn functions of any arity by a regression at each level, from the last argument to the first.

    Parameters
    ----------
    regression
        `LeastSquares`, `PartialLeastSquares`, `RidgePerOutput` or an `Estimator`.
    min_examples
        Groups with fewer members are dropped, at every level.

    """

    regression: Any
    min_examples: int = 3

    def fit(self, *arrays: Any) -> Function:  # noqa: ANN401 - arrays
        """Learn from one array for each argument, in the order of application, and one of outputs."""
        return self.learn(Examples.from_arrays(*arrays))

    def learn(self, examples: Examples) -> Function:
        """Learn a function of examples."""
        known = np.flatnonzero(examples.known())
        kept = surviving(examples.ids[known], self.min_examples)
        rows = known[kept]
        if not len(rows):
            raise TooFewError(
                f"none of {len(examples)} examples is in a group of {self.min_examples} at every level: "
                "lower min_examples, or learn in one step"
            )
        some = examples.select(rows)
        dense = hasattr(self.regression, "coefficients")
        function = _learn_dense(some, self.regression) if dense else _learn_dual(some, self.regression, rows)
        levels = tuple(
            LevelReport(some.names[place], len(sizes), tuple(float(x) for x in np.quantile(sizes, [0, 0.5, 1])))
            for place, sizes in reversed([(place, np.bincount(group)) for place, _, group in _levels(some.ids)])
        )
        dropped = {
            "an argument without a vector": len(examples) - len(known),
            f"in groups of fewer than {self.min_examples}": len(known) - len(rows),
        }  # fmt: skip
        report = Training(
            self.parameters(), len(examples), len(rows), {why: n for why, n in dropped.items() if n}, levels
        )
        return replace(function, training=report, labels=some.labels)

    def parameters(self) -> dict[str, Any]:
        """Give name and options, as JSON can say them."""
        kind = type(self.regression).__name__
        if isinstance(self.regression, Estimator):
            options: dict[str, Any] = {"name": self.regression.name} | dict(self.regression.options)
        else:
            options = {field.name: getattr(self.regression, field.name) for field in fields(self.regression)}
        return {"learner": "stepwise", "regression": kind, "min_examples": self.min_examples} | options


def surviving(ids: Array, least: int) -> npt.NDArray[np.int64]:
    """Give the examples whose groups have enough members at every level.

    A group at a level are the members that share all arguments but those from that level on; members of the last level
    are examples, of one above it groups.

    >>> surviving(np.array([[0, 1], [0, 2], [1, 1]]), 2)
    array([], dtype=int64)
    >>> surviving(np.array([[0, 1], [0, 2], [1, 1], [1, 3], [2, 1]]), 2)
    array([0, 1, 2, 3])
    """
    rows = np.arange(len(ids))
    for place in range(ids.shape[1] - 1, -1, -1):
        if not len(rows):
            break
        # Members of this level: distinct arguments up to and with this place. Examples with equal arguments are one.
        members, member = _numbered(ids[rows, : place + 1])
        group = _numbered(members[:, :place])[1]
        enough = np.bincount(group) >= least
        rows = rows[enough[group][member]]
    return rows


def _numbered(ids: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """Number the distinct rows of some columns; without columns all are the same."""
    if not ids.shape[1]:
        return ids[:1], np.zeros(len(ids), np.int64)
    distinct, numbers = np.unique(ids, axis=0, return_inverse=True)
    return distinct, numbers.reshape(-1).astype(np.int64)


def _levels(ids: Array) -> Iterator[tuple[int, Array, Array]]:
    """Give, from the last argument to the first, its place, the member of each example and the group of each member."""
    for place in range(ids.shape[1] - 1, -1, -1):
        members, member = _numbered(ids[:, : place + 1])
        yield place, member, _numbered(members[:, :place])[1]


def _learn_dual(examples: Examples, regression: Any, source: Array) -> Function:  # noqa: ANN401 - a regression
    """Learn in dual form: a row for each example and argument, from the Gram matrices alone."""
    outputs = np.asarray(examples.outputs, np.float64)
    gram = outputs @ outputs.T  # (N, N), of the outputs below, each example's part
    share: Array = np.ones(len(outputs)) if examples.weights is None else np.asarray(examples.weights, np.float64)
    factors: list[Rows] = []
    for place, member, group in _levels(examples.ids):
        weight = np.bincount(member, share)
        mean = share / weight[member] if place == examples.arity - 1 else np.ones(len(share))
        # Examples with equal arguments are one member, whose output is their mean.
        spread = np.zeros((len(group), len(member)))
        spread[member, np.arange(len(member))] = mean
        below = spread @ gram @ spread.T  # (M, M)
        first = np.zeros(len(group), np.int64)
        first[member[::-1]] = np.arange(len(member))[::-1]
        inputs = examples.vectors[place][examples.ids[first, place]]
        dual = np.zeros((len(group), inputs.shape[1]))
        for number in range(group.max() + 1):
            some = np.flatnonzero(group == number)
            weights = None if examples.weights is None else weight[some] / weight[some].mean()
            dual[some] = regression.dual(inputs[some], below[np.ix_(some, some)], weights)
        rows = dual[member] * mean[:, None]
        gram = gram * (rows @ rows.T)
        factors.append(Rows(rows.astype(examples.dtype)) if place == examples.arity - 1 else
                       Rows(dual.astype(examples.dtype), member.astype(np.int64)))  # fmt: skip
    output = Rows(examples.outputs.astype(examples.dtype, copy=False), source=source)
    return Function(output, tuple(factors[::-1]), names=examples.names, attested=Attested(len(examples)))


def _learn_dense(examples: Examples, regression: Estimator | RidgePerOutput) -> Function:
    """Learn with the outputs themselves; those above the last argument are whole matrices."""
    sizes = [vectors.shape[1] for vectors in examples.vectors]
    outputs = np.asarray(examples.outputs, np.float64)
    share: Array = np.ones(len(outputs)) if examples.weights is None else np.asarray(examples.weights, np.float64)
    ids = examples.ids
    for place in range(examples.arity - 1, -1, -1):
        members, member = _numbered(ids)
        weight = np.bincount(member, share)
        merged = np.zeros((len(members), outputs.shape[1]))
        np.add.at(merged, member, outputs * share[:, None])
        merged /= weight[:, None]
        inputs = examples.vectors[place][members[:, place]]
        groups, group = _numbered(members[:, :place])
        needed = 8 * len(groups) * outputs.shape[1] * sizes[place]
        if needed > DENSE_BYTES:
            raise UsageError(
                f"{regression.name} needs {needed / 1e9:,.1f} GB for {len(groups)} matrices: take fewer dimensions, "
                "or a regression that stays in dual form (ridge, lstsq, plsr)"
            )
        found = np.empty((len(groups), outputs.shape[1] * sizes[place]))
        for number in range(len(groups)):
            some = np.flatnonzero(group == number)
            weights = None if examples.weights is None else weight[some] / weight[some].mean()
            found[number] = regression.coefficients(inputs[some], merged[some], weights).reshape(-1)
        outputs, ids, share = found, groups, np.bincount(group, weight).astype(np.float64)
    tensor = outputs.reshape(examples.outputs.shape[1], *sizes[::-1]).astype(examples.dtype)
    return Function.from_dense(tensor, names=examples.names)


# ---------------------------------------------------------------- by name

REGRESSIONS: dict[str, Callable[..., Any]] = {
    "lstsq": LeastSquares, "plsr": PartialLeastSquares, "ridge-per-output": RidgePerOutput, "lasso": lasso,
    "elasticnet": elastic_net,
}  # fmt: skip


def stepwise(name: str) -> Callable[..., Learner]:
    """Give what makes the stepwise learner with a regression, all options by name."""

    def make(*, min_examples: int = 3, **options: Any) -> Learner:  # noqa: ANN401
        return Stepwise(regression=REGRESSIONS[name](**options), min_examples=min_examples)

    return make


LEARNERS: dict[str, Callable[..., Learner]] = {
    "multistep": MultiStep, "onestep": OneStep, **{name: stepwise(name) for name in REGRESSIONS},
}  # fmt: skip
"""What a learner is made with, by its name."""


def make_learner(name: str, options: Mapping[str, Any] | None = None) -> Learner:
    """Make a learner by its name.

    >>> make_learner("plsr", {"components": 5}).parameters()["components"]
    5
    >>> make_learner("lstqs")
    Traceback (most recent call last):
    composita.store.errors.UsageError: unknown learner 'lstqs': choose multistep, onestep, ...; did you mean lstsq?
    """
    if name not in LEARNERS:
        raise UsageError(f"unknown learner {name!r}: choose {', '.join(LEARNERS)}{suggest(name, LEARNERS)}")
    try:
        return LEARNERS[name](**dict(options or {}))
    except TypeError as error:
        raise UsageError(f"the learner {name} does not take these options: {error}") from None
