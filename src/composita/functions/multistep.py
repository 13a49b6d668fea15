"""Multi-step regression: a function of several arguments, learned one argument at a time, the last one first.

Examples with the same first arguments are a group. In the deepest step the last argument of a group's examples is
mapped to their outputs; in the next the argument before to the maps that came out; and so on to the first
(Grefenstette, Dinu, Zhang, Sadrzadeh & Baroni 2013). All in dual form: see `composita.functions.regression`.

>>> rng = np.random.default_rng(1)
>>> tensor = rng.normal(size=(4, 3, 3))
>>> objects, subjects = np.repeat(rng.normal(size=(6, 3)), 5, axis=0), rng.normal(size=(30, 3))
>>> sentences = np.einsum("qsd,nd,ns->nq", tensor, objects, subjects)
>>> chase = MultiStep(storage="terms").fit(objects, subjects, sentences)
>>> chase
Function(N -> N -> S: 4 x 3 x 3, 30 terms)
>>> np.allclose(chase.dense(), tensor, atol=1e-4)
True
>>> print(chase.training)
30 of 30 examples; object: 1 regression, subject: 6 regressions
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from composita.functions.examples import Array, Examples, Int64Array
from composita.functions.function import Attested, Function
from composita.functions.gram import MapOutputs
from composita.functions.preparing import Prepared, Storage, prepare, stored
from composita.functions.regression import Level, VectorOutputs, regress
from composita.functions.rows import Rows
from composita.functions.training import Training, level_report
from composita.store.errors import TooFewError, UsageError, plural


@dataclass(frozen=True, kw_only=True)
class MultiStep:
    """Multi-step ridge regression.

    Parameters
    ----------
    per
        ``group``: lambda is chosen for each regression by itself, as in the paper; ``level``: one for all of a level.
    min_examples
        The fewest members of a regression, at every level; what belongs to smaller groups is dropped.
    intercept
        Whether the maps of every level are affine.
    centre
        Whether the mean of the outputs is taken off before, and added to the result.
    weights
        Whether frequent examples count more: f / (f + 2) for the frequency f; otherwise the weights of the examples.
    penalty
        A lambda for all regressions, instead of choosing by generalised cross-validation.
    storage
        ``terms``, ``dense``, or ``auto``: dense where that takes less than half of the memory.

    >>> rng = np.random.default_rng(0)
    >>> objects, subjects = np.repeat(rng.normal(size=(6, 3)), 5, axis=0), rng.normal(size=(30, 3))
    >>> sentences = np.einsum("sij,ni,nj->ns", rng.normal(size=(2, 3, 3)), subjects, objects)
    >>> chase = MultiStep().fit(objects, subjects, sentences)
    >>> bool(np.allclose(chase(objects[0])(subjects[0]), sentences[0], atol=0.01))
    True

    """

    per: str = "group"
    min_examples: int = 3
    intercept: bool = False
    centre: bool = False
    weights: bool = False
    penalty: float | None = None
    storage: Storage = "auto"

    def __post_init__(self) -> None:
        if self.per not in ("group", "level"):
            raise UsageError(f"expected per='group' or per='level', got {self.per!r}")
        if self.min_examples < 1:
            raise UsageError(f"expected min_examples of at least 1, got {self.min_examples}")

    def parameters(self) -> dict[str, Any]:
        """Give the name and the options."""
        return {"learner": "multistep", **asdict(self)}

    def fit(self, *arrays: Any, groups: Any = None, **about: Any) -> Function:  # noqa: ANN401 - what NumPy takes
        """Learn from one array for each argument and one of outputs, example by example.

        Examples of a group are those with equal first arguments, unless ``groups`` names the group of each example; the
        argument of such a group is the mean of its members'.
        """
        return self.learn(Examples.from_arrays(*arrays, **about), groups=groups)

    def learn(self, examples: Examples, *, groups: Any = None) -> Function:  # noqa: ANN401 - what NumPy takes
        """Learn from a table of examples."""
        if groups is not None:
            examples = _regrouped(examples, np.asarray(groups))
        prepared = prepare(examples, weighted=self.weights, centre=self.centre)
        steps = fit_steps(prepared, self)
        function = _function(prepared, steps, self)
        return stored(function, self.storage)


@dataclass(frozen=True, eq=False)
class Steps:
    """What multi-step regression found: the examples kept, in order, and the levels, the first argument's first."""

    kept: Int64Array
    ids: Int64Array
    levels: tuple[Level, ...]
    members: tuple[Int64Array, ...]
    dropped: dict[str, int]


def fit_steps(prepared: Prepared, options: MultiStep) -> Steps:
    """Do the regressions of all levels, the deepest first."""
    examples = prepared.examples
    order = np.lexsort(examples.ids.T[::-1])
    order, dropped = _large_enough(examples.ids[order], order, options.min_examples, examples.names)
    if not len(order):
        raise TooFewError(
            f"expected at least {plural(options.min_examples, 'example')} in each regression, "
            f"but no group of the {plural(len(examples), 'example')} is as large"
        )
    ids, outputs = examples.ids[order], prepared.outputs[order]
    weights = None if prepared.weights is None else prepared.weights[order]
    number = _prefix_numbers(ids)  # (arity + 1) arrays of group numbers, from all together to each by itself
    levels: list[Level] = []
    members: list[Int64Array] = []
    for place in range(examples.arity - 1, -1, -1):
        firsts = np.flatnonzero(np.diff(number[place + 1], prepend=-1))  # one example for each member
        bounds = np.append(np.flatnonzero(np.diff(number[place][firsts], prepend=-1)), len(firsts))
        inputs = examples.vectors[place][ids[firsts, place]]
        if place == examples.arity - 1:
            found: Any = VectorOutputs(outputs)
        else:
            spread = [_spread(level.extended, number[i + 1]) for i, level in _numbered(levels, examples.arity)]
            parts = [part.astype(examples.dtype, copy=False) for part in (outputs, *spread)]
            found = MapOutputs(tuple(parts), np.append(firsts, len(ids)))
        level = regress(
            inputs, bounds, found, weights=_summed(weights, firsts), intercept=options.intercept,
            pooled=options.per == "level", penalty=options.penalty,
        )  # fmt: skip
        levels.insert(0, level)
        members.insert(0, number[place + 1])
    return Steps(order, ids, tuple(levels), tuple(members), dropped)


def _numbered(levels: Sequence[Level], arity: int) -> list[tuple[int, Level]]:
    return list(enumerate(levels, arity - len(levels)))


def _spread(rows: Array, numbers: Int64Array) -> Array:
    """Give each example the row of its member; where members are examples, the rows are theirs already."""
    return rows if len(rows) == len(numbers) else rows[numbers]


def _summed(weights: Array | None, firsts: Int64Array) -> Array | None:
    """Weigh each member by the sum of its examples, with a mean of 1."""
    if weights is None:
        return None
    sums: Array = np.add.reduceat(weights, firsts)
    sums /= sums.mean()
    return sums


def _prefix_numbers(ids: Int64Array) -> list[Int64Array]:
    """Number the groups of sorted examples that share their first 0, 1, ... arguments; then each example by itself."""
    numbers = [np.zeros(len(ids), np.int64)]
    changed = np.zeros(len(ids), bool)
    for column in ids.T:
        changed |= np.diff(column, prepend=column[:1] - 1) != 0
        numbers.append(np.cumsum(changed) - 1)
    return numbers


def _large_enough(
    ids: Int64Array, order: Int64Array, least: int, names: Sequence[str]
) -> tuple[Int64Array, dict[str, int]]:
    """Drop the examples of groups with too few members, the deepest level first."""
    dropped: dict[str, int] = {}
    for place in range(ids.shape[1] - 1, -1, -1):
        if not len(ids):
            break
        number = _prefix_numbers(ids)
        firsts = np.flatnonzero(np.diff(number[place + 1], prepend=-1))
        sizes = np.bincount(number[place][firsts])
        keep = sizes[number[place]] >= least
        if not keep.all():
            what = f"fewer than {least} of the {names[place]}" + (" for the same arguments before" if place else "")
            dropped[what] = int((~keep).sum())
        ids, order = ids[keep], order[keep]
    return order, dropped


def _regrouped(examples: Examples, groups: Array) -> Examples:
    """Number the first arguments by the groups named, with the means of their members' vectors."""
    columns = groups[:, None] if groups.ndim == 1 else groups
    if columns.shape != (len(examples), examples.arity - 1):
        raise UsageError(f"expected groups of shape {(len(examples), examples.arity - 1)}, got {groups.shape}")
    vectors, ids = list(examples.vectors), examples.ids.copy()
    for place, column in enumerate(columns.T):
        names, firsts, numbers = np.unique(column, return_index=True, return_inverse=True)
        rows = examples.inputs(place)
        sums = np.zeros((len(names), rows.shape[1]))
        np.add.at(sums, numbers, rows)
        means = sums / np.bincount(numbers)[:, None]
        same = np.ones(len(names), bool)
        np.logical_and.at(same, numbers, (rows == rows[firsts][numbers]).all(1))
        vectors[place] = np.where(same[:, None], rows[firsts], means).astype(rows.dtype)
        ids[:, place] = numbers
    from dataclasses import replace

    return replace(examples, vectors=tuple(vectors), ids=ids)


def _function(prepared: Prepared, steps: Steps, options: MultiStep) -> Function:
    """Put the levels together: one term for each example, and one for the mean where it was taken off."""
    examples, dtype = prepared.examples, prepared.examples.dtype
    count, extra = len(steps.kept), int(prepared.mean is not None)
    outputs = prepared.outputs[steps.kept]
    source = prepared.numbers[steps.kept] if prepared.mean is None and prepared.numbers is not None else None
    output = Rows(outputs.astype(dtype, copy=False), source=source)
    factors = []
    for level, numbers in zip(steps.levels, steps.members, strict=True):
        index = None if len(level.dual) == count else numbers
        constant = None if level.constant is None else _spread(level.constant, numbers).astype(dtype)
        factors.append(Rows(level.dual.astype(dtype), index, constant))
    if extra:
        assert prepared.mean is not None
        output = output.joined(Rows(prepared.mean[None].astype(dtype)))
        factors = [factor.joined(_one(factor.size, dtype)) for factor in factors]
    attested = Attested(count, 0.0, _kept(prepared.weights, steps.kept), "centre" if extra else "none")
    levels = [level_report(name, level) for name, level in zip(examples.names, steps.levels, strict=True)]
    training = Training(
        options.parameters(), prepared.found, count, prepared.dropped | steps.dropped, tuple(levels),
    )  # fmt: skip
    labels = prepared.labels(steps.kept)
    return Function(output, tuple(factors), names=examples.names, labels=labels, attested=attested, training=training)


def _one(size: int, dtype: Any) -> Rows:  # noqa: ANN401 - a type of numbers
    """Give the form that is 1 whatever the argument."""
    return Rows(np.empty((0, size), dtype), np.array([-1]), np.ones(1, dtype))


def _kept(weights: Array | None, rows: Int64Array) -> Array | None:
    return None if weights is None else weights[rows]
