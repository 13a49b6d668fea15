"""Meanings: what a method makes of phrases, and how two of them are compared.

A meaning is a vector, or, by the methods that multiply outer products, a matrix. Both are compared by the cosine, which
for matrices is that of Frobenius: the sum of the products of their cells, over the product of their lengths. Matrices
are kept as what they are made of, and their inner products are computed from the factors, so that no matrix of all
dimensions by all dimensions is formed for each phrase:

    <x (x) y, x' (x) y'>  =  <x, x'> <y, y'>
    <R * (x (x) y), R' * (x' (x) y')>  =  (x * x')^T (R * R') (y * y')

>>> left, right = np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]])
>>> outer = Outer((left, right))
>>> float(outer.inner(Outer((right, right)))[0])  # (1 * 3 + 2 * 1) * (3 * 3 + 1 * 1)
50.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from composita.composition.relations import Relations
from composita.composition.rows import Float64Array, FloatArray, IntArray, Rows, dense, inner, take, times
from composita.grammar.phrase import Phrase
from composita.store.errors import UsageError

LEAST = 1e-30
"""Lengths up to this are taken as none at all."""


class Values(Protocol):
    """The meanings of several phrases, all of one form."""

    @property
    def form(self) -> tuple[str, int, int]:
        """Only meanings of the same form can be compared: what it is, its order, its dimensions."""
        ...

    def __len__(self) -> int: ...

    def take(self, ids: IntArray) -> Values:
        """Give some of them."""
        ...

    def inner(self, other: Any) -> Float64Array:  # noqa: ANN401 - of the same form
        """Give the inner products, one with one."""
        ...


@dataclass(frozen=True)
class Vectors:
    """One vector a phrase."""

    rows: Rows  # (n, d)

    @property
    def form(self) -> tuple[str, int, int]:
        """A vector of so many dimensions."""
        return "vector", 1, self.rows.shape[1]

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def take(self, ids: IntArray) -> Vectors:
        """Give some of them."""
        return Vectors(take(self.rows, ids))

    def inner(self, other: Vectors) -> Float64Array:
        """Give the inner products, one with one."""
        return inner(self.rows, other.rows)


@dataclass(frozen=True)
class Outer:
    """One outer product a phrase: a matrix of rank one, or a tensor of more axes."""

    factors: tuple[Rows, ...]  # each (n, d)

    @property
    def form(self) -> tuple[str, int, int]:
        """A tensor of so many axes, each of so many dimensions."""
        return "matrix", len(self.factors), self.factors[0].shape[1]

    def __len__(self) -> int:
        return int(self.factors[0].shape[0])

    def take(self, ids: IntArray) -> Outer:
        """Give some of them."""
        return Outer(tuple(take(factor, ids) for factor in self.factors))

    def inner(self, other: Outer) -> Float64Array:
        """Multiply the inner products of the factors."""
        products = [inner(x, y) for x, y in zip(self.factors, other.factors, strict=True)]
        total: Float64Array = np.multiply.reduce(products)
        return total


@dataclass(frozen=True)
class Related:
    """One matrix a phrase: the head's sum of outer products, element by element with that of the arguments."""

    relations: Relations
    heads: IntArray  # (n,) which relation of `relations`
    arguments: tuple[Rows, ...]  # each (n, d)

    @property
    def form(self) -> tuple[str, int, int]:
        """A tensor of so many axes, each of so many dimensions."""
        return "matrix", len(self.arguments), self.arguments[0].shape[1]

    def __len__(self) -> int:
        return len(self.heads)

    def take(self, ids: IntArray) -> Related:
        """Give some of them."""
        return Related(self.relations, self.heads[ids], tuple(take(rows, ids) for rows in self.arguments))

    def inner(self, other: Related) -> Float64Array:
        """Give the inner products, those of the same two heads together."""
        products = tuple(times(x, y) for x, y in zip(self.arguments, other.arguments, strict=True))
        pairs, which = np.unique(np.stack([self.heads, other.heads], axis=1), axis=0, return_inverse=True)
        which = which.reshape(-1)
        order, result = np.argsort(which, kind="stable"), np.zeros(len(self))
        ends = np.searchsorted(which[order], np.arange(len(pairs) + 1))
        for number, (mine, theirs) in enumerate(pairs.tolist()):
            ids = order[ends[number] : ends[number + 1]]
            chosen = tuple(take(rows, ids) for rows in products)
            result[ids] = self.relations.inner(mine, other.relations, theirs, chosen)
        return result


@dataclass(frozen=True, repr=False)
class Meanings:
    """What a method made of phrases, in their order.

    Parameters
    ----------
    method
        The name of the method.
    phrases
        The phrases.
    groups
        The meanings of those that could be composed: the numbers of the phrases, and their values.
    reasons
        For each phrase that could not be composed, why.
    notes
        For each phrase that was composed with less than its method asks for, what was done instead.
    warnings
        What is doubtful about all of them, such as negative numbers where the method multiplies.

    """

    method: str
    phrases: tuple[Phrase, ...]
    groups: tuple[tuple[IntArray, Values], ...]
    reasons: dict[int, str] = field(default_factory=dict)
    notes: dict[int, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.phrases)

    def __repr__(self) -> str:
        kinds = ", ".join(sorted({f"{kind}s" if kind == "vector" else "matrices" for _, kind in self.forms.items()}))
        done = len(self) - len(self.reasons)
        return f"Meanings({done} of {len(self)} phrases by {self.method}{f', {kinds}' if kinds else ''})"

    @cached_property
    def _places(self) -> tuple[IntArray, IntArray]:
        """For each phrase its group and its place in it; -1 where there is no meaning."""
        group, place = np.full(len(self), -1), np.full(len(self), -1)
        for number, (ids, _) in enumerate(self.groups):
            group[ids], place[ids] = number, np.arange(len(ids))
        return group, place

    @cached_property
    def lengths(self) -> Float64Array:
        """The length of each meaning; NaN where there is none."""
        found = np.full(len(self), np.nan)
        for ids, values in self.groups:
            found[ids] = np.sqrt(np.maximum(values.inner(values), 0))
        return found

    @property
    def composed(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether each phrase has a meaning."""
        return self._places[0] >= 0

    @cached_property
    def forms(self) -> dict[int, str]:
        """For each composed phrase ``vector`` or ``matrix``."""
        return {int(i): values.form[0] for ids, values in self.groups for i in ids}

    @property
    def vectors(self) -> FloatArray:
        """All meanings as dense rows, ``(n, d)``; NaN where there is none. Refused for matrices."""
        if any(values.form[0] != "vector" for _, values in self.groups):
            raise UsageError(f"{self.method} gives matrices here, not vectors: compare them with .similarity(...)")
        width = self.groups[0][1].form[2] if self.groups else 0
        found = np.full((len(self), width), np.nan, np.float32)
        for ids, values in self.groups:
            assert isinstance(values, Vectors)
            found[ids] = dense(values.rows)
        return found

    def vector(self, number: int = 0) -> FloatArray:
        """Give the vector of one phrase; `UsageError` where there is none."""
        group, place = self._places[0][number], self._places[1][number]
        if group < 0:
            raise UsageError(f"{self.phrases[number].display()}: {self.reasons.get(number, 'not composed')}")
        values = self.groups[group][1]
        if not isinstance(values, Vectors):
            raise UsageError(f"{self.method} gives a matrix here, not a vector: compare it with .similarity(...)")
        found: FloatArray = dense(values.rows[place : place + 1])[0]
        return found

    def take(self, ids: Sequence[int] | IntArray) -> Meanings:
        """Give the meanings of some phrases, in the order asked for."""
        ids = np.asarray(ids, np.int64)
        group, place = self._places[0][ids], self._places[1][ids]
        groups = tuple(
            (np.flatnonzero(group == number), values.take(place[group == number]))
            for number, (_, values) in enumerate(self.groups)
            if (group == number).any()
        )
        old = ids.tolist()
        return Meanings(
            self.method, tuple(self.phrases[i] for i in old), groups,
            {n: self.reasons[i] for n, i in enumerate(old) if i in self.reasons},
            {n: self.notes[i] for n, i in enumerate(old) if i in self.notes}, self.warnings,
        )  # fmt: skip

    def similarity(self, other: Meanings) -> Float64Array:
        """Give the cosine of each meaning with the same one of ``other``, and NaN where they cannot be compared.

        That is where one of them was not composed, is zero, or where a vector meets a matrix; `obstacles` says which.
        """
        if len(self) != len(other):
            raise UsageError(f"expected as many meanings on both sides, got {len(self)} and {len(other)}")
        found = np.full(len(self), np.nan)
        (mine, place), (theirs, other_place) = self._places, other._places
        for a, (_, values) in enumerate(self.groups):
            for b, (_, others) in enumerate(other.groups):
                ids = np.flatnonzero((mine == a) & (theirs == b))
                if len(ids) and values.form == others.form:
                    # Before the lengths: matrices that are too large to be kept give them on the way.
                    together = values.take(place[ids]).inner(others.take(other_place[ids]))
                    size = self.lengths[ids] * other.lengths[ids]
                    usable = (self.lengths[ids] > LEAST) & (other.lengths[ids] > LEAST)
                    found[ids] = np.where(usable, together / np.where(usable, size, 1), np.nan)
        clipped: Float64Array = np.clip(found, -1, 1)
        return clipped

    def obstacles(self, other: Meanings) -> dict[int, str]:
        """Say for each pair that cannot be compared why not."""
        said = {}
        mine, theirs = self._places[0], other._places[0]
        for number in range(len(self)):
            for meanings in (self, other):
                if number in meanings.reasons:
                    said[number] = f"{meanings.phrases[number].display()}: {meanings.reasons[number]}"
                elif not meanings.lengths[number] > LEAST:
                    said[number] = f"{meanings.phrases[number].display()}: its meaning is zero in every dimension"
            if number in said:
                continue
            left, right = self.groups[mine[number]][1].form, other.groups[theirs[number]][1].form
            if left != right:
                said[number] = f"{self.method} makes {_described(left)} of one and {_described(right)} of the other"
        return said


def _described(form: tuple[str, int, int]) -> str:
    kind, order, size = form
    if kind == "vector":
        return f"a vector of {size:,} numbers"
    return f"a {'matrix' if order == 2 else f'tensor of order {order}'} of {' x '.join([f'{size:,}'] * order)}"
