"""One-step tensor ridge regression: the whole tensor at once, by a kernel that multiplies the arguments' similarities.

With the Gram matrices K_i of the arguments of N examples and K = K_1 * K_2 * ... (element by element), the coefficients
C = (K + lambda I)^-1 Y make the tensor sum_e c_e (x) x^n_e (x) ... (x) x^1_e. It is ridge regression on the Kronecker
products of the arguments, which are never formed. Every example counts, also where its arguments occur only once.

>>> rng = np.random.default_rng(1)
>>> tensor = rng.normal(size=(4, 3, 3))
>>> objects, subjects = rng.normal(size=(2, 40, 3))
>>> sentences = np.einsum("qsd,nd,ns->nq", tensor, objects, subjects)
>>> chase = OneStep(kernel="product").fit(objects, subjects, sentences)
>>> np.allclose(chase.dense(), tensor, atol=1e-4)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from composita.functions.examples import Array, Examples
from composita.functions.function import Attested, Function
from composita.functions.kernelridge import Solution, solve
from composita.functions.kernels import Kernel, named
from composita.functions.penalty import summary
from composita.functions.preparing import Prepared, Storage, prepare, stored
from composita.functions.regression import VectorOutputs, regress
from composita.functions.rows import Rows
from composita.functions.training import LevelReport, Training, level_report
from composita.store.errors import UsageError

Criterion: TypeAlias = Literal["gcv", "arguments"]
EXACT = 3000
"""Up to so many examples the eigenvectors of their kernel give lambda and solution; beyond, a sample gives lambda."""
LARGEST = 10_000
"""Up to so many examples there is a kernel matrix of all of them; beyond, the dense tensor is solved for."""


@dataclass(frozen=True, kw_only=True)
class OneStep:
    """One-step tensor ridge regression.

    Parameters
    ----------
    kernel
        ``product``, ``affine``, ``additive``, or the name of the only argument to look at; see
        `composita.functions.kernels`.
    constants
        The constants of the affine kernel, one for all arguments or one for each.
    deviations
        How much examples of the same first argument have in common beyond what is known of arguments like it.
    intercept
        Whether a constant is learned without penalty.
    centre
        Whether the mean of the outputs is taken off before, and added to the result.
    weights
        Whether frequent examples count more: f / (f + 2) for the frequency f; otherwise the weights of the examples.
    criterion
        How lambda is chosen: ``gcv``, generalised cross-validation, or ``arguments``, by the error on examples of which
        one argument is new, in closed form.
    penalty
        Lambda, instead of choosing it.
    exact
        Up to how many examples lambda is chosen by all of them; beyond, by a random sample. Beyond 10,000 the dense
        tensor is solved for by conjugate gradients, which is approximate too.
    storage
        ``terms``, ``dense``, or ``auto``: dense where that takes less than half of the memory.

    >>> rng = np.random.default_rng(0)
    >>> objects, subjects = np.repeat(rng.normal(size=(6, 3)), 5, axis=0), rng.normal(size=(30, 3))
    >>> sentences = np.einsum("sij,ni,nj->ns", rng.normal(size=(2, 3, 3)), subjects, objects)
    >>> chase = OneStep().fit(objects, subjects, sentences)
    >>> bool(np.allclose(chase(objects[0])(subjects[0]), sentences[0], atol=0.01))
    True

    """

    kernel: str = "affine"
    constants: float | tuple[float, ...] = 1.0
    deviations: float = 0.0
    intercept: bool = False
    centre: bool = False
    weights: bool = False
    criterion: Criterion = "gcv"
    penalty: float | None = None
    exact: int = EXACT
    storage: Storage = "auto"

    def __post_init__(self) -> None:
        if self.intercept and self.centre:
            raise UsageError("an intercept centres the outputs too: choose intercept or centre")
        if self.criterion not in get_args(Criterion):
            raise UsageError(f"expected the criterion {' or '.join(get_args(Criterion))}, got {self.criterion!r}")
        if self.exact < 1:
            raise UsageError(f"expected exact of at least 1, got {self.exact}")

    def parameters(self) -> dict[str, Any]:
        """Give the name and the options."""
        constants = list(self.constants) if isinstance(self.constants, tuple) else self.constants
        return {"learner": "onestep", **asdict(self), "constants": constants}

    def fit(self, *arrays: Any, **about: Any) -> Function:  # noqa: ANN401 - what NumPy takes
        """Learn from one array for each argument and one of outputs, example by example."""
        return self.learn(Examples.from_arrays(*arrays, **about))

    def kernel_of(self, names: Sequence[str]) -> Kernel:
        """Give the kernel for arguments of these names."""
        if len(names) == 1 and self.kernel == "additive":
            return named("product", names)
        deviations = self.deviations if len(names) > 1 else 0.0
        return named(self.kernel, names, self.constants, deviations)

    def learn(self, examples: Examples) -> Function:
        """Learn from a table of examples."""
        prepared = prepare(examples, weighted=self.weights, centre=self.centre)
        kernel = self.kernel_of(examples.names)
        count = len(prepared.examples)
        if kernel.is_additive and (self.criterion == "gcv" or self.penalty is not None):
            function = _by_features(prepared, kernel, self)
        elif count <= self.exact:
            function = _by_kernel(prepared, kernel, self)
        else:
            function = _at_sampled_penalty(prepared, kernel, self)
        return stored(function, self.storage)


# ---------------------------------------------------------------- kernels that are a few features


def _by_features(prepared: Prepared, kernel: Kernel, options: OneStep) -> Function:
    """Regress on the arguments themselves, one beside the other, where each part of the kernel looks at one."""
    examples, dtype = prepared.examples, prepared.examples.dtype
    count, places = len(examples), [[f.used for f in part].index(True) for part in kernel.parts]
    root = np.sqrt(kernel.parts[0][0].constant)  # the affine kernel of one argument
    blocks = [examples.inputs(place).astype(np.float64) for place in places]
    inputs = np.concatenate([*blocks, np.full((count, 1), root)] if root else blocks, axis=1)
    level = regress(
        inputs, np.array([0, count]), VectorOutputs(prepared.outputs), weights=prepared.weights,
        intercept=options.intercept, penalty=options.penalty,
    )  # fmt: skip
    rows, shared = level.dual.astype(dtype), level.constant
    if root:
        shared = root * level.dual[:, -1] if shared is None else shared + root * level.dual[:, -1]
        rows = np.ascontiguousarray(rows[:, :-1])
    outputs = prepared.outputs.astype(dtype, copy=False)
    few = count > 2 * inputs.shape[1] and options.storage != "terms"
    constants = [] if prepared.mean is None else [prepared.mean]
    if few:  # the matrices, column by column, instead of their examples
        if shared is not None:
            constants.append(shared @ outputs)
        outputs, rows = rows.T @ outputs, np.eye(rows.shape[1], dtype=dtype)
    output, factors = _feature_terms(examples, places, outputs, rows, few)
    if shared is not None and not few:
        factors[places[0]] = _constants_added(factors[places[0]], shared.astype(dtype))
    output, factors = _with_constant(output, factors, constants, dtype)
    attested = None
    if not few:
        attested = Attested(count, 0.0, prepared.weights, "none" if prepared.mean is None else "centre")
    report = level_report(repr(kernel)[7:-1], level)
    return _made(prepared, output, factors, attested, report, options, ())


def _feature_terms(
    examples: Examples, places: Sequence[int], outputs: Array, rows: Array, few: bool
) -> tuple[Rows, list[Rows]]:
    """Make one term for each example and argument, or with ``few`` one for each number of an argument."""
    sizes = [examples.vectors[place].shape[1] for place in places]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    lengths = sizes if few else [len(outputs)] * len(places)
    total = sum(lengths)
    index = None if few or len(places) == 1 else np.tile(np.arange(len(outputs)), len(places))
    factors: list[Rows | None] = [None] * examples.arity
    first = 0
    for number, (place, length) in enumerate(zip(places, lengths, strict=True)):
        columns = slice(starts[number], starts[number + 1])
        array = np.ascontiguousarray(rows[columns, columns] if few else rows[:, columns])
        numbers, constant = np.full(total, -1), np.ones(total, rows.dtype)
        numbers[first : first + length] = np.arange(length)
        constant[first : first + length] = 0
        alone = length == total
        factors[place] = Rows(array, None if alone else numbers, None if alone else constant)
        first += length
    ones = np.ones(total, rows.dtype)
    found = [
        factor or Rows(np.empty((0, examples.vectors[place].shape[1]), rows.dtype), np.full(total, -1), ones)
        for place, factor in enumerate(factors)
    ]
    return Rows(outputs, index), found


def _constants_added(factor: Rows, shared: Array) -> Rows:
    """Add the constants of the examples to their terms of the first part."""
    constant = np.zeros(factor.terms, shared.dtype) if factor.constant is None else factor.constant.copy()
    constant[: len(shared)] += shared
    return Rows(factor.array, factor.index, constant)


# ---------------------------------------------------------------- kernels in general


def _by_kernel(prepared: Prepared, kernel: Kernel, options: OneStep) -> Function:
    """Solve with the kernel matrix of all examples."""
    solution = solve_examples(prepared, kernel, options)
    report = LevelReport(repr(kernel)[7:-1], 1, (float(len(prepared.examples)),) * 3, summary(solution.choice))
    return function_of(prepared, kernel, options, solution, report)


def _at_sampled_penalty(prepared: Prepared, kernel: Kernel, options: OneStep) -> Function:
    """Choose lambda by a sample; solve with the kernel matrix while that fits, then for the dense tensor."""
    from composita.functions.iterative import Approximate, by_elimination, by_gradients, sampled_choice

    examples, name = prepared.examples, repr(kernel)[7:-1]
    choice, sample = sampled_choice(prepared, kernel, options)
    if kernel.is_additive:
        return _by_features(prepared, kernel, replace(options, penalty=float(choice.penalties[0])))
    report = LevelReport(name, 1, (float(len(examples)),) * 3, summary(choice))
    note = "" if options.penalty else f"lambda is approximate: chosen by {sample:,} random examples"
    if len(examples) <= max(LARGEST, options.exact) and options.storage != "dense":
        solution = by_elimination(kernel_matrix(examples, kernel), prepared, options.intercept, choice)
        return function_of(prepared, kernel, options, solution, report, tuple(filter(None, [note])))
    found: Approximate = by_gradients(prepared, kernel, options.intercept, choice)
    training = Training(
        options.parameters(), prepared.found, len(examples), prepared.dropped, (report,),
        tuple(filter(None, [note, found.note])),
    )  # fmt: skip
    sizes = tuple(vectors.shape[1] for vectors in examples.vectors)
    return Function(None, (), tensor=found.tensor, sizes=sizes, names=examples.names, training=training)


def solve_examples(prepared: Prepared, kernel: Kernel, options: OneStep) -> Solution:
    """Solve for the coefficients of all examples."""
    return solve(
        kernel_matrix(prepared.examples, kernel), prepared.outputs, weights=prepared.weights,
        intercept=options.intercept, penalty=options.penalty,
        ids=prepared.examples.ids if options.criterion == "arguments" else None, mean=prepared.mean_weights,
    )  # fmt: skip


def kernel_matrix(examples: Examples, kernel: Kernel) -> Array:
    """Give the kernel between all examples, in float64, with deviations."""
    similarities = [_similarity(examples, place, used) for place, used in enumerate(kernel.used)]
    matrix = kernel.matrix(similarities)
    if kernel.deviations:
        same = examples.ids[:, :1] == examples.ids[:, 0]
        matrix += kernel.deviations * same * _similarity(examples, examples.arity - 1, True)
    return matrix


def _similarity(examples: Examples, place: int, used: bool) -> Array:
    """Give the Gram matrix of an argument of all examples, from that of the different arguments."""
    count = len(examples)
    if not used:
        return np.ones((count, count))
    distinct, numbers = np.unique(examples.ids[:, place], return_inverse=True)
    vectors = examples.vectors[place][distinct].astype(np.float64)
    return (vectors @ vectors.T)[np.ix_(numbers.reshape(-1), numbers.reshape(-1))]


def function_of(
    prepared: Prepared, kernel: Kernel, options: OneStep, solution: Solution, report: LevelReport,
    notes: tuple[str, ...] = (),
) -> Function:  # fmt: skip
    """Make the function of some coefficients: a term for each example and part of the kernel."""
    examples, dtype = prepared.examples, prepared.examples.dtype
    count, parts = len(examples), len(kernel.parts)
    index = None if parts == 1 else np.tile(np.arange(count), parts)
    output = Rows(solution.coefficients.astype(dtype), index)
    factors = []
    for place in range(examples.arity):
        used, numbers = np.unique(examples.ids[:, place], return_inverse=True)
        rows = examples.vectors[place][used].astype(dtype, copy=False)
        chosen = [part[place] for part in kernel.parts]
        index = np.concatenate([numbers.reshape(-1) if f.used else np.full(count, -1) for f in chosen])
        constant = None
        if any(f.extended for f in chosen):
            constant = np.repeat([f.constant for f in chosen], count).astype(dtype)
        factors.append(Rows(rows, index, constant, used))
    constants = [row for row in (prepared.mean, solution.constant) if row is not None]
    output, factors = _with_constant(output, factors, constants, dtype)
    mean = "centre" if prepared.mean is not None else "intercept" if solution.constant is not None else "none"
    attested = None if kernel.deviations else Attested(count, solution.penalty, prepared.weights, mean)
    return _made(prepared, output, factors, attested, report, options, notes)


def _with_constant(
    output: Rows, factors: list[Rows], constants: Sequence[Array], dtype: Any  # noqa: ANN401 - a type of numbers
) -> tuple[Rows, list[Rows]]:  # fmt: skip
    """Add a term that is the same for all arguments."""
    if not constants:
        return output, factors
    row = np.sum(constants, axis=0)[None].astype(dtype)
    one = np.ones(1, dtype)
    joined = [f.joined(Rows(np.empty((0, f.size), dtype), np.array([-1]), one, np.empty(0, np.int64))) for f in factors]
    return output.joined(Rows(row)), joined


def _made(
    prepared: Prepared, output: Rows, factors: Sequence[Rows], attested: Attested | None,
    report: LevelReport, options: OneStep, notes: tuple[str, ...],
) -> Function:  # fmt: skip
    examples = prepared.examples
    training = Training(options.parameters(), prepared.found, len(examples), prepared.dropped, (report,), notes)
    labels = prepared.labels(np.arange(len(examples)))
    return Function(output, tuple(factors), names=examples.names, labels=labels, attested=attested, training=training)
