"""A function shared by all words of a category, for which the word itself is one more argument, its first.

Applied to a verb's vector it is a function of the verb's arguments, also where the verb was never seen in training.
With the additive kernel it is the full additive model of Guevara (2010) and Zanzotto et al. (2010), a matrix for the
word and one for each argument,

    f(v)(x)(z) = W_v v + W_x x + W_z z + b

fitted here in its primal form, a ridge regression on (v, x, z, 1) whose size does not depend on the number of examples;
with the product kernel it is a tensor for the category.

>>> rng = np.random.default_rng(0)
>>> x, z = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
>>> f = Additive(penalty=1e-8).fit(x, z, 2 * x - z)
>>> f(np.ones(3))(np.ones(3)).round(3)
array([1., 1., 1.])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from composita.functions.examples import Examples
from composita.functions.function import Function
from composita.functions.rows import Rows
from composita.functions.training import LevelReport, Training
from composita.store.errors import TooFewError

Array = npt.NDArray[Any]

BLOCK = 8192
"""Examples that are added to the sums at a time."""
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
            raise TooFewError("no example has vectors for all arguments")
        sizes = [vectors.shape[1] for vectors in some.vectors]
        return self.solve(Sums.of(some), sizes, some.names, some.dtype, (len(examples), len(some)))

    def solve(
        self,
        sums: Sums,
        sizes: Sequence[int],
        names: Sequence[str],
        dtype: npt.DTypeLike,
        counts: tuple[int, int] = (0, 0),
    ) -> Function:
        """Make the function of what was added up over examples; ``counts`` are those found and those used."""
        gram, cross, energy = _centred(sums) if self.constant else (sums.gram, sums.cross, sums.energy)
        values, vectors = np.linalg.eigh(gram)
        values = np.clip(values, 0, None)
        turned = vectors.T @ cross  # (D, q)
        penalty, curve = self.penalty, None
        without = energy / (sums.total - int(self.constant)) ** 2 * sums.total if sums.total > 1 else None
        if penalty is None:
            penalty, curve = _choose(values, (turned**2).sum(axis=1), energy, sums.total, int(self.constant))
        matrix = vectors @ (turned / (values + penalty)[:, None])  # (D, q)
        constant = (sums.output - sums.input @ matrix) / sums.total if self.constant else None
        about = {"regressions": 1, "pooled": False, "lambda": [penalty], "gcv": curve, "gcv_without": without}
        levels = (LevelReport(" + ".join(names), 1, (float(counts[1]),) * 3, about),)
        report = Training(self.parameters(), *counts, {}, levels)
        return replace(
            additive_function(np.split(matrix.T, np.cumsum(sizes)[:-1], axis=1), constant, names, dtype),
            training=report,
        )  # fmt: skip


@dataclass(frozen=True)
class Sums:
    """Sums over examples: of products of inputs, of inputs and outputs, of both, and of the outputs' squares."""

    gram: Array  # (D, D)
    cross: Array  # (D, q)
    input: Array  # (D,)
    output: Array  # (q,)
    energy: float
    total: float

    @classmethod
    def of(cls, examples: Examples) -> Sums:
        """Add up over examples."""
        return _added(examples)

    def __add__(self, other: Sums) -> Sums:
        """Add up over the examples of both."""
        gram, cross, inputs, output, energy, total = (a + b for a, b in zip(self._parts(), other._parts(), strict=True))
        return Sums(gram, cross, inputs, output, energy, total)

    def __sub__(self, other: Sums) -> Sums:
        """Leave some examples out."""
        gram, cross, inputs, output, energy, total = (a - b for a, b in zip(self._parts(), other._parts(), strict=True))
        return Sums(gram, cross, inputs, output, energy, total)

    def _parts(self) -> tuple[Any, ...]:
        return self.gram, self.cross, self.input, self.output, self.energy, self.total

    def to_arrays(self) -> dict[str, Array]:
        """Give all numbers as named arrays."""
        return {field.name: np.asarray(part) for field, part in zip(fields(self), self._parts(), strict=True)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Sums:
        """Make it of the arrays of `to_arrays`."""
        gram, cross, inputs, output, energy, total = (arrays[field.name] for field in fields(cls))
        return cls(gram, cross, inputs, output, float(energy), float(total))


def _added(examples: Examples) -> Sums:
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
    return Sums(gram, cross, inputs, outputs, energy, float(weights.sum()))


def _centred(sums: Sums) -> tuple[Array, Array, float]:
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


def joined_with_heads(vectors: Array, heads: Sequence[int], examples: Sequence[Examples]) -> Examples:
    """Join the examples of several words, each word's own vector being the first argument of its examples."""
    ids = [np.column_stack([np.full(len(some), head), some.ids]) for head, some in zip(heads, examples, strict=True)]
    first = examples[0]
    return Examples.from_arrays(
        (vectors, *first.vectors), np.concatenate(ids), np.concatenate([some.outputs for some in examples]),
        frequency=joined_columns([some.frequency for some in examples]), names=("word", *first.names),
    )  # fmt: skip


def joined_columns(parts: Sequence[Array | None]) -> Array | None:
    """Join a column of several tables; None where one of them lacks it."""
    some = [part for part in parts if part is not None]
    return np.concatenate(some) if len(some) == len(parts) else None
