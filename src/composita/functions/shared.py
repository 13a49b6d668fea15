"""What the words of a category have in common: one function for all, and learning that leans on others.

**A shared function** takes the word itself as one more argument, its first: applied to a verb's vector it is a
function of the verb's arguments, also where the verb was never seen in training. With the additive kernel it is the
full additive model of Guevara (2010) and Zanzotto et al. (2010), a matrix for the word and one for each argument,

    f(v)(x)(z) = W_v v + W_x x + W_z z + b

fitted here in its primal form, a ridge regression on (v, x, z, 1) whose size does not depend on the number of examples;
with the product kernel it is a tensor for the category.

**Leaning.** A word with few examples learns better when it starts from what others do: from a function f_0 (the shared
one, applied to the word), or with the examples of similar words. In the first case ridge shrinks towards s f_0 instead
of 0,

    f = s f_0 + ridge(x -> y - s f_0(x))

in the second the examples of similar words are added with the weight s times their similarity, their mean moved to the
word's. The strength s is chosen, for each word, by the error on the word's own phrases with new arguments; 0 leaves the
word to itself.

>>> rng = np.random.default_rng(0)
>>> x, z = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
>>> f = Additive(penalty=1e-8).fit(x, z, 2 * x - z)
>>> f(np.ones(3))(np.ones(3)).round(3)
array([1., 1., 1.])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from composita.functions.examples import Examples
from composita.functions.function import Function
from composita.functions.heldout import apply_ids, folds
from composita.functions.learners import Learner
from composita.functions.rows import Rows
from composita.store.errors import TooFewError, UsageError

Array = npt.NDArray[Any]

BLOCK = 8192
"""Examples that are added to the sums at a time."""
STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
BORROWING = (0.0, 0.03, 0.1, 0.3, 1.0)
GRID = np.logspace(-6, 3, 91)
"""Values of lambda, times the largest eigenvalue, as everywhere."""


@dataclass(frozen=True, kw_only=True)
class Additive:
    """A matrix for each argument and a constant, by ridge regression in primal form, lambda by GCV.

    Parameters
    ----------
    penalty
        Lambda; None to choose it.
    constant
        Whether there is a constant vector, which is not shrunk.

    """

    penalty: float | None = None
    constant: bool = True

    def fit(self, *arrays: Any) -> Function:  # noqa: ANN401 - arrays
        """Learn from one array for each argument, in the order of application, and one of outputs."""
        return self.learn(Examples.from_arrays(*arrays))

    def parameters(self) -> dict[str, Any]:
        """Give name and options, as JSON can say them."""
        return {"learner": "additive", **asdict(self)}

    def learn(self, examples: Examples) -> Function:
        """Learn a function of examples."""
        some = examples.select(examples.known())
        if not len(some):
            raise UsageError("no example has vectors for all arguments")
        sums = _sums(some)
        gram, cross, energy = _centred(sums) if self.constant else (sums.gram, sums.cross, sums.energy)
        values, vectors = np.linalg.eigh(gram)
        values = np.clip(values, 0, None)
        turned = vectors.T @ cross  # (D, q)
        penalty, curve = self.penalty, None
        if penalty is None:
            penalty, curve = _choose(values, (turned**2).sum(axis=1), energy, sums.total, int(self.constant))
        matrix = vectors @ (turned / (values + penalty)[:, None])  # (D, q)
        constant = (sums.output - sums.input @ matrix) / sums.total if self.constant else None
        sizes = [v.shape[1] for v in some.vectors]
        report = {"learner": self.parameters(), "examples": len(some), "lambda": penalty, "gcv": curve}
        return replace(
            additive_function(np.split(matrix.T, np.cumsum(sizes)[:-1], axis=1), constant, some.names, some.dtype),
            training=report,
        )  # fmt: skip


@dataclass(frozen=True)
class _Sums:
    """Sums over the examples: of products of inputs, of inputs and outputs, of both, and of the outputs' squares."""

    gram: Array  # (D, D)
    cross: Array  # (D, q)
    input: Array  # (D,)
    output: Array  # (q,)
    energy: float
    total: float


def _sums(examples: Examples) -> _Sums:
    """Add up, block by block, with weights of mean 1."""
    size = sum(v.shape[1] for v in examples.vectors)
    width = examples.outputs.shape[1]
    gram, cross = np.zeros((size, size)), np.zeros((size, width))
    inputs, outputs, energy = np.zeros(size), np.zeros(width), 0.0
    weights = np.ones(len(examples)) if examples.weights is None else examples.weights / np.mean(examples.weights)
    for start in range(0, len(examples), BLOCK):
        part = slice(start, start + BLOCK)
        ids = examples.ids[part]
        x = np.concatenate([v[ids[:, i]] for i, v in enumerate(examples.vectors)], axis=1).astype(np.float64)
        y = np.asarray(examples.outputs[part], np.float64)
        weighted = x * weights[part, None]
        gram += weighted.T @ x
        cross += weighted.T @ y
        inputs += weighted.sum(axis=0)
        outputs += weights[part] @ y
        energy += float(weights[part] @ np.einsum("ij,ij->i", y, y))
    return _Sums(gram, cross, inputs, outputs, energy, float(weights.sum()))


def _centred(sums: _Sums) -> tuple[Array, Array, float]:
    """Take the means out of the sums."""
    gram = sums.gram - np.outer(sums.input, sums.input) / sums.total
    cross = sums.cross - np.outer(sums.input, sums.output) / sums.total
    return gram, cross, sums.energy - float(sums.output @ sums.output) / sums.total


def _choose(values: Array, turned: Array, energy: float, count: float, constant: int) -> tuple[float, float]:
    """Choose lambda by generalised cross-validation: residuals over the square of what is left of the examples."""
    grid = GRID * max(float(values.max()), np.finfo(float).tiny)
    shrunk = 1 / (values[None] + grid[:, None])  # (L, D)
    # |Y - X B|^2 = |Y|^2 - sum_k t_k (s_k + 2 lambda) / (s_k + lambda)^2 for t_k the energy along direction k
    residual = energy - ((values + 2 * grid[:, None]) * shrunk**2) @ turned
    left = count - constant - (values * shrunk).sum(axis=1)
    curve = count * np.clip(residual, 0, None) / np.clip(left, 1e-9, None) ** 2
    best = int(np.argmin(curve))
    return float(grid[best]), float(curve[best])


def additive_function(
    matrices: Sequence[Array], constant: Array | None, names: Sequence[str], dtype: Any,  # noqa: ANN401
) -> Function:  # fmt: skip
    """Make a function that adds up a matrix (q, d) for each argument: a term for each column, and one for the constant.

    Every term looks at one argument only; for the others its linear form is the constant 1.
    """
    columns = [matrix.T for matrix in matrices] + ([] if constant is None else [constant[None]])
    counts = [len(part) for part in columns]
    owner = np.repeat(np.arange(len(columns)), counts)
    factors = []
    for place, matrix in enumerate(matrices):
        size = matrix.shape[1]
        index = np.full(len(owner), -1, np.int64)
        index[owner == place] = np.arange(size)
        factors.append(Rows(np.eye(size, dtype=dtype), index, (owner != place).astype(dtype)))
    return Function(Rows(np.concatenate(columns).astype(dtype)), tuple(factors), names=tuple(names))


# ---------------------------------------------------------------- a function for all words of a category


def with_head(vectors: Array, heads: Sequence[int], examples: Sequence[Examples]) -> Examples:
    """Join the examples of several words, each word's own vector being the first argument of its examples."""
    ids = [
        np.column_stack([np.full(len(some), head), some.ids])
        for head, some in zip(heads, examples, strict=True)
    ]  # fmt: skip
    first = examples[0]
    weights = None
    if first.weights is not None:
        weights = np.concatenate([np.asarray(some.weights) for some in examples])
    return Examples.from_arrays(
        (vectors, *first.vectors), np.concatenate(ids), np.concatenate([some.outputs for some in examples]),
        weights=weights, names=("word", *first.names),
    )  # fmt: skip


# ---------------------------------------------------------------- leaning on others


@dataclass(frozen=True)
class Leaning:
    """How much a word leans on others, and what that does to the error on new arguments.

    Parameters
    ----------
    strength
        The strength chosen.
    strengths, errors
        Those tried, with the held-out error of each as a share of the error of foretelling nothing.

    """

    strength: float
    strengths: tuple[float, ...]
    errors: tuple[float, ...]


def lean_on_function(
    examples: Examples, prior: Function, learner: Learner, strengths: Sequence[float] = STRENGTHS, count: int = 4
) -> tuple[Function, Leaning]:
    """Learn what a prior function leaves unexplained; the result is to be added to ``strength`` times the prior."""
    expected = np.asarray(apply_ids(prior, examples, np.arange(len(examples))), np.float64)

    def rest(strength: float) -> Examples:
        return replace(examples, outputs=(examples.outputs - strength * expected).astype(examples.outputs.dtype))

    def errors(strength: float, fold: Array) -> float:
        return _error(rest(strength), learner, fold, ())

    leaning = _choose_strength(examples, strengths, errors, count)
    return learner.learn(rest(leaning.strength)), leaning


def lean_on_examples(
    examples: Examples, borrowed: Examples, learner: Learner, strengths: Sequence[float] = BORROWING, count: int = 4
) -> tuple[Function, Leaning]:
    """Learn from a word's own examples and, with less weight, from others whose weights say how similar they are."""

    def errors(strength: float, fold: Array) -> float:
        return _error(examples, learner, fold, (borrowed, strength))

    leaning = _choose_strength(examples, strengths, errors, count)
    return learner.learn(joined(examples, borrowed, leaning.strength)), leaning


def joined(examples: Examples, borrowed: Examples, strength: float) -> Examples:
    """Add borrowed examples with their weights times a strength; none with strength 0."""
    if strength == 0 or not len(borrowed):
        return examples
    own = np.ones(len(examples)) if examples.weights is None else np.asarray(examples.weights, np.float64)
    weights = np.concatenate([own, strength * np.asarray(borrowed.weights)])
    labels = None
    if examples.labels is not None and borrowed.labels is not None:
        labels = [*examples.labels, *borrowed.labels]
    return replace(
        examples, ids=np.concatenate([examples.ids, borrowed.ids]),
        outputs=np.concatenate([examples.outputs, borrowed.outputs]), weights=weights / weights.mean(), frequency=None,
        labels=labels,
    )  # fmt: skip


def _choose_strength(examples: Examples, strengths: Sequence[float], errors: Any, count: int) -> Leaning:  # noqa: ANN401
    """Try all strengths on the same folds; the smallest error wins, among equals the least leaning."""
    fold = folds(examples.ids[:, 0], count)
    nothing = float((np.asarray(examples.outputs, np.float64) ** 2).sum()) or 1.0
    if fold.max(initial=0) == 0:  # one argument only: nothing can be held out, so the others are believed
        return Leaning(max(strengths), tuple(strengths), ())
    found = tuple(errors(strength, fold) / nothing for strength in strengths)
    return Leaning(strengths[int(np.argmin(found))], tuple(strengths), found)


def _error(examples: Examples, learner: Learner, fold: Array, borrowed: tuple[Any, ...]) -> float:
    """Give the squared error on held-out examples, summed over folds; what cannot be learned foretells nothing."""
    total = 0.0
    for number in range(int(fold.max()) + 1):
        inside = fold == number
        truth = np.asarray(examples.outputs[inside], np.float64)
        rest = examples.select(~inside)
        try:
            function = learner.learn(joined(rest, *borrowed) if borrowed else rest)
        except TooFewError:
            total += float((truth**2).sum())
            continue
        made = apply_ids(function, examples, np.flatnonzero(inside))
        total += float(((made - truth) ** 2).sum())
    return total


def borrow(vectors: Array, examples: Examples, others: Sequence[tuple[float, Examples]], most: int) -> Examples | None:
    """Make examples to be borrowed of those of similar words, given with their similarity, from the most similar on.

    Their outputs are moved so that their mean is the word's own; at most ``most`` are taken, shared among the words.
    """
    own = np.asarray(examples.outputs, np.float64).mean(axis=0)
    ids, outputs, weights = [], [], []
    for similarity, some in others:
        frequency = np.zeros(len(some)) if some.frequency is None else some.frequency
        order = np.argsort(-frequency, kind="stable")[: max(1, most // len(others))]
        mean = np.asarray(some.outputs, np.float64).mean(axis=0)
        ids.append(some.ids[order])
        outputs.append((some.outputs[order] - mean + own).astype(examples.outputs.dtype))
        weights.append(np.full(len(ids[-1]), similarity))
    if not ids:
        return None
    return Examples.from_arrays(
        tuple(vectors for _ in examples.names), np.concatenate(ids), np.concatenate(outputs),
        weights=np.concatenate(weights), names=examples.names,
    )  # fmt: skip
