"""One-step regression of many examples: lambda by a sample, the solution by elimination or by conjugate gradients.

With N examples the eigenvectors of their kernel take some 10 N^3 steps. Lambda is a property of the noise and of the
size of the tensor's entries, so that a random sample tells it nearly as well as all examples. At a given lambda
elimination (Cholesky) takes N^3 / 3. For still more examples no N x N matrix is made: the dense tensor T solves

    (F' D F + lambda) T = F' D Y        F: the Kronecker products of the arguments, never formed

by conjugate gradients. To apply F, the tensor is contracted with each different first argument once, and what comes out
with the second arguments of its examples. In the eigenvectors of the two arguments' second moments F' D F is nearly
diagonal, N s_i t_j, as it were if all pairs of arguments occurred; that is the preconditioner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from composita.functions.examples import Array, Int64Array
from composita.functions.kernelridge import Solution, solve
from composita.functions.kernels import Kernel
from composita.functions.penalty import Choice, Spectrum, choose
from composita.functions.preparing import Prepared
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.functions.onestep import OneStep

SAMPLE = 1000
TOLERANCE = 1e-3
STEPS = 60
BLOCK = 1 << 22  # numbers of the maps of a block of first arguments


def sampled_choice(prepared: Prepared, kernel: Kernel, options: OneStep) -> tuple[Choice, int]:
    """Choose lambda on a random sample, always the same one."""
    from composita.functions.onestep import kernel_matrix

    if options.penalty is not None:
        nothing = Spectrum(np.ones((1, 1)), np.ones((1, 1)), np.zeros(1), 2)
        return choose([nothing], penalty=options.penalty), 0
    count = min(SAMPLE, options.exact, len(prepared.examples))
    rows = np.sort(np.random.default_rng(0).choice(len(prepared.examples), count, replace=False))
    weights = None if prepared.weights is None else prepared.weights[rows]
    mean = prepared.mean_weights
    examples = prepared.examples.select(rows)
    solution = solve(
        kernel_matrix(examples, kernel), prepared.outputs[rows], weights=weights, intercept=options.intercept,
        ids=examples.ids if options.criterion == "arguments" else None, mean=None if mean is None else mean[rows],
    )  # fmt: skip
    return solution.choice, count


def by_elimination(matrix: Array, prepared: Prepared, intercept: bool, choice: Choice) -> Solution:
    """Solve for the coefficients at a given lambda; the kernel matrix is overwritten."""
    from scipy.linalg import cho_factor, cho_solve

    count, penalty = len(matrix), float(choice.penalties[0])
    outputs = prepared.outputs.astype(np.float64)
    ridge = penalty if prepared.weights is None else penalty / prepared.weights
    matrix[np.diag_indices(count)] += ridge
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    constant = None
    if intercept:
        ones = cho_solve(factor, np.ones(count))
        constant = (ones @ outputs) / ones.sum()
        outputs -= constant
    found = cho_solve(factor, outputs, overwrite_b=True)
    return Solution(found, constant, choice, np.empty((count, 0)), np.empty(0))


# ---------------------------------------------------------------- conjugate gradients


@dataclass(frozen=True, eq=False)
class Approximate:
    """A tensor in homogeneous coordinates where the kernel has constants, and how near the solution it is."""

    tensor: Array
    steps: int
    residual: float

    @property
    def note(self) -> str:
        """What is to be said of it."""
        return f"the tensor is approximate: conjugate gradients left {self.residual:.1e} after {self.steps} steps"


@dataclass(frozen=True, eq=False)
class _Operator:
    """F' D F + lambda for examples sorted by their first argument, in rotated coordinates.

    ``first`` (V, d1) and ``second`` (W, d2) are the different arguments, ``bounds`` where the examples of each first
    argument begin, ``seconds`` the second argument of each example.
    """

    first: Array
    second: Array
    bounds: Int64Array
    seconds: Int64Array
    weights: Array | None
    penalty: float
    centred: bool

    def forward(self, tensor: Array) -> Array:
        """Apply the tensor (q, d2, d1) to all examples: (N, q)."""
        size, inner, outer = tensor.shape
        found = np.empty((len(self.seconds), size), tensor.dtype)
        flat = tensor.reshape(-1, outer).T
        for start, end in self._blocks(size * inner):
            maps = (self.first[start:end] @ flat).reshape(-1, size, inner)
            for place in range(start, end):
                rows = slice(self.bounds[place], self.bounds[place + 1])
                np.matmul(self.second[self.seconds[rows]], maps[place - start].T, out=found[rows])
        return self.centre(found)

    def backward(self, values: Array) -> Array:
        """Add up the terms of all examples with these outputs (N, q), weighted: (q, d2, d1)."""
        values = values if self.weights is None else values * self.weights[:, None]
        size, inner = values.shape[1], self.second.shape[1]
        found = np.zeros((size * inner, self.first.shape[1]), values.dtype)
        for start, end in self._blocks(size * inner):
            maps = np.empty((end - start, size, inner), values.dtype)
            for place in range(start, end):
                rows = slice(self.bounds[place], self.bounds[place + 1])
                np.matmul(values[rows].T, self.second[self.seconds[rows]], out=maps[place - start])
            found += maps.reshape(end - start, -1).T @ self.first[start:end]
        return found.reshape(size, inner, -1)

    def __call__(self, tensor: Array) -> Array:
        image: Array = self.backward(self.forward(tensor)) + tensor.dtype.type(self.penalty) * tensor
        return image

    def centre(self, values: Array) -> Array:
        """Take off the weighted mean, where there is an intercept."""
        return values - self.mean(values).astype(values.dtype) if self.centred else values

    def mean(self, values: Array) -> Array:
        """Give the weighted mean of rows."""
        mean: Array = np.average(values, axis=0, weights=self.weights)
        return mean

    def _blocks(self, size: int) -> list[tuple[int, int]]:
        step = max(BLOCK // size, 1)
        return [(start, min(start + step, len(self.first))) for start in range(0, len(self.first), step)]


def by_gradients(prepared: Prepared, kernel: Kernel, intercept: bool, choice: Choice) -> Approximate:
    """Solve for the dense tensor of a product of two factors."""
    examples = prepared.examples
    if examples.arity != 2 or len(kernel.parts) != 1 or kernel.deviations:
        raise UsageError(
            f"{len(examples):,} examples of arity {examples.arity} are too many for the kernel {kernel!r}: "
            "take the multi-step learner, or the product or affine kernel without deviations"
        )
    swapped = len(np.unique(examples.ids[:, 0])) > len(np.unique(examples.ids[:, 1]))
    places = (1, 0) if swapped else (0, 1)  # the one with fewer different arguments is contracted with the tensor
    order = np.lexsort((examples.ids[:, places[1]], examples.ids[:, places[0]]))
    vectors, numbers, rotations, moments = [], [], [], []
    for place in places:
        found, number = _extended(prepared, kernel, place)
        number = number[order]
        values, rotation = _moments(found, number, prepared, order)
        vectors.append((found @ rotation).astype(examples.dtype))
        numbers.append(number)
        rotations.append(rotation)
        moments.append(values)
    firsts = np.flatnonzero(np.diff(numbers[0], prepend=-1))
    weights = None if prepared.weights is None else prepared.weights[order].astype(examples.dtype)
    operator = _Operator(
        vectors[0],
        vectors[1],
        np.append(firsts, len(order)),
        numbers[1],
        weights,
        float(choice.penalties[0]),
        intercept,
    )
    outputs = prepared.outputs[order].astype(examples.dtype, copy=False)
    spread = len(order) * np.outer(moments[1], moments[0]) + operator.penalty
    tensor, steps, residual = _descend(operator, operator.centre(outputs), spread.astype(examples.dtype))
    constant = prepared.mean
    if intercept:
        constant = operator.mean(outputs) - operator.mean(replace(operator, centred=False).forward(tensor))
    tensor = np.einsum("qji,aj->qai", tensor, rotations[1], optimize=True) @ rotations[0].T
    tensor = tensor.swapaxes(1, 2) if swapped else tensor
    return Approximate(_homogeneous(tensor, kernel, constant).astype(examples.dtype), steps, residual)


def _extended(prepared: Prepared, kernel: Kernel, place: int) -> tuple[Array, Int64Array]:
    """Give the different vectors of an argument, with the root of its constant, and the number of each example's."""
    examples, factor = prepared.examples, kernel.parts[0][place]
    used, numbers = np.unique(examples.ids[:, place], return_inverse=True)
    vectors = examples.vectors[place][used].astype(np.float64)
    if not factor.used:
        vectors = vectors[:, :0]
    if factor.extended:
        vectors = np.concatenate([vectors, np.full((len(vectors), 1), np.sqrt(factor.constant))], axis=1)
    return vectors, numbers.reshape(-1)


def _moments(vectors: Array, numbers: Int64Array, prepared: Prepared, order: Int64Array) -> tuple[Array, Array]:
    """Give eigenvalues and eigenvectors of the second moments of an argument over the examples."""
    weights = None if prepared.weights is None else prepared.weights[order]
    counts = np.bincount(numbers, weights, len(vectors)) / len(numbers)
    values, rotation = np.linalg.eigh(vectors.T @ (counts[:, None] * vectors))
    return np.clip(values, 0, None), rotation


def _descend(operator: _Operator, outputs: Array, spread: Array) -> tuple[Array, int, float]:
    """Take conjugate gradient steps, for each output by itself, until the gradients are small: preconditioned norm."""
    residual = operator.backward(outputs)
    tensor = np.zeros_like(residual)
    scaled = residual / spread
    direction = scaled.copy()
    size = np.einsum("qji,qji->q", residual, scaled, dtype=np.float64)
    start = np.where(size > 0, size, 1.0)
    left, steps = 1.0, 0
    for steps in range(1, STEPS + 1):  # noqa: B007 - how many there were is reported
        image = operator(direction)
        curve = np.einsum("qji,qji->q", direction, image, dtype=np.float64)
        stride = np.where(curve > 0, size / np.where(curve > 0, curve, 1.0), 0.0).astype(tensor.dtype)[:, None, None]
        tensor += stride * direction
        residual -= stride * image
        np.divide(residual, spread, out=scaled)
        new = np.einsum("qji,qji->q", residual, scaled, dtype=np.float64)
        left = float(np.sqrt((new / start).max(initial=0.0)))
        if left <= TOLERANCE:
            break
        turn = np.where(size > 0, new / np.where(size > 0, size, 1.0), 0.0).astype(tensor.dtype)[:, None, None]
        direction *= turn
        direction += scaled
        size = new
    return tensor, steps, left


def _homogeneous(tensor: Array, kernel: Kernel, constant: Array | None) -> Array:
    """Turn coordinates that end with the root of a constant into ones that end with 1, and add a constant."""
    first, second = kernel.parts[0]
    if first.extended:
        tensor[..., -1] *= np.sqrt(first.constant)
    if second.extended:
        tensor[:, -1] *= np.sqrt(second.constant)
    if constant is not None:
        tensor = np.pad(tensor, [(0, 0), (0, int(not second.extended)), (0, int(not first.extended))])
        tensor[:, -1, -1] += constant
    return tensor
