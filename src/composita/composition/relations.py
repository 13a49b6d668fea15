"""Relations: a verb as the sum of the outer products of the arguments that it was seen with.

After Grefenstette & Sadrzadeh (2011): *chase* is ``R = sum_e f_e o_e (x) s_e`` over its attested object-subject pairs,
each weighted by how often it occurred. With d dimensions R has d x d cells, or none at all where the space is not
reduced: then only the rows and columns that a question needs are made. Pairs with the same object are added up
beforehand, ``R = sum_o o (x) (sum_e f_e s_e)``, or those with the same subject where there are fewer of these.

>>> objects, subjects = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 1.0], [1.0, 0.0]])
>>> relations = Relations(2)
>>> chase = relations.add("chase-v", Relation(np.array([1.0, 3.0]), (objects, subjects)))
>>> relations.matrix(chase).tolist()
[[1.0, 1.0], [6.0, 0.0]]
>>> relations[chase].apply(1, np.array([[1.0, 2.0]])).tolist()  # R s, over the objects
[[3.0, 6.0]]
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from scipy import sparse

from composita.composition.rows import Float64Array, FloatArray, IntArray, Rows, dense, is_sparse, scale

FORMED = 2000
"""Up to so many dimensions the matrix of a relation is formed, once for each head."""
KEPT = 256
BLOCK = 1024


@dataclass(frozen=True)
class Relation:
    """Weighted attested arguments of one head."""

    weights: FloatArray  # (m,)
    arguments: tuple[Rows, ...]  # each (m, d), in order of application

    @property
    def arity(self) -> int:
        """How many arguments."""
        return len(self.arguments)

    def sum(self) -> Rows:
        """Add up the weighted arguments of a head of one argument: ``(1, d)``."""
        total = self.weights @ self.arguments[0]
        return total.reshape(1, -1) if not is_sparse(self.arguments[0]) else sparse.csr_array(np.atleast_2d(total))

    def apply(self, place: int, rows: Rows) -> Rows:
        """Contract the argument at a place with vectors, ``(n, d) -> (n, d)``; for relations of two arguments."""
        other = scale(self.arguments[1 - place], self.weights)
        return (rows @ self.arguments[place].T) @ other


def attested_relation(vectors: Rows, ids: IntArray, frequency: IntArray) -> Relation:
    """Make the relation of a head from the arguments it was seen with, ``(m, arity)`` rows of ``vectors``.

    >>> vectors, ids = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([[0, 1], [0, 2], [1, 2]])
    >>> relation = attested_relation(vectors, ids, np.array([1, 3, 1]))
    >>> [rows.tolist() for rows in relation.arguments]  # two distinct objects, with what their subjects add up to
    [[[1.0, 0.0], [0.0, 2.0]], [[3.0, 5.0], [1.0, 1.0]]]
    """
    weights = frequency.astype(np.float32)
    if ids.shape[1] != 2:
        return Relation(weights, tuple(vectors[column] for column in ids.T))
    distinct, groups = zip(*(np.unique(column, return_inverse=True) for column in ids.T), strict=True)
    place = 0 if len(distinct[0]) <= len(distinct[1]) else 1
    shape = len(distinct[place]), len(distinct[1 - place])
    found = sparse.csr_array((weights, (groups[place], groups[1 - place])), shape)
    arguments = vectors[distinct[place]], found @ vectors[distinct[1 - place]]
    return Relation(np.ones(shape[0], np.float32), arguments if place == 0 else arguments[::-1])


class Relations:
    """The relations of one arity, by number; matrices are formed when asked for, and the last ones kept."""

    def __init__(self, arity: int) -> None:
        self.arity = arity
        self.numbers: dict[str, int] = {}
        self._all: list[Relation] = []
        self._matrices: OrderedDict[int, FloatArray] = OrderedDict()
        self._squares: dict[tuple[int, bytes], float] = {}  # inner products with themselves, found on the way

    def __getitem__(self, number: int) -> Relation:
        return self._all[number]

    def add(self, name: str, relation: Relation) -> int:
        """Keep a relation and give its number."""
        self.numbers[name] = len(self._all)
        self._all.append(relation)
        return self.numbers[name]

    def matrix(self, number: int) -> FloatArray:
        """Form the matrix of a relation of two arguments: objects by subjects."""
        if number in self._matrices:
            self._matrices.move_to_end(number)
            return self._matrices[number]
        relation = self._all[number]
        first, second = relation.arguments
        formed = dense(scale(first, relation.weights).T @ second)
        self._matrices[number] = formed
        if len(self._matrices) > KEPT:
            self._matrices.popitem(last=False)
        return formed

    def inner(self, mine: int, others: Relations, theirs: int, products: tuple[Rows, ...]) -> Float64Array:
        """Give ``<R * (x (x) y), R' * (x' (x) y')>`` for rows of ``x * x'`` and ``y * y'``."""
        if self.arity != 2:
            return _by_examples(self[mine], others[theirs], products)
        first, second = products
        if first.shape[1] <= FORMED:
            both = self.matrix(mine).astype(np.float64) * others.matrix(theirs)
            found: Float64Array = np.einsum("nd,nd->n", dense(first) @ both, dense(second))
            return found
        return np.array([
            self._by_block(mine, others, theirs, first[n : n + 1], second[n : n + 1]) for n in range(first.shape[0])
        ])  # fmt: skip

    def _by_block(self, mine: int, others: Relations, theirs: int, first: Rows, second: Rows) -> float:
        """Form only the rows and columns of two matrices in which both pairs of arguments are not zero.

        Forming them is nearly all the work, so their products with themselves, which cosines need too, are remembered.
        """
        first, second = sparse.csr_array(first), sparse.csr_array(second)
        of = b"".join(part.tobytes() for rows in (first, second) for part in (rows.indices, rows.data))
        key = blake2b(of, digest_size=16).digest()
        alone = others[theirs] is self[mine]
        if alone and (mine, key) in self._squares:
            return self._squares[mine, key]
        left, right = first.data.astype(np.float64), second.data.astype(np.float64)
        block = _block(self[mine], first.indices, second.indices)
        self._squares[mine, key] = float(left @ (block * block) @ right)
        if alone:
            return self._squares[mine, key]
        other = _block(others[theirs], first.indices, second.indices)
        others._squares[theirs, key] = float(left @ (other * other) @ right)
        return float(left @ (block * other) @ right)


def _block(relation: Relation, rows: IntArray, columns: IntArray) -> Float64Array:
    total = np.zeros((len(rows), len(columns)))
    for begin in range(0, len(relation.weights), BLOCK):
        part = slice(begin, begin + BLOCK)
        left = dense(sparse.csr_array(relation.arguments[0][part])[:, rows])
        right = dense(sparse.csr_array(relation.arguments[1][part])[:, columns])
        total += (left * relation.weights[part, None]).T @ right
    return total


def _by_examples(relation: Relation, other: Relation, products: tuple[Rows, ...]) -> Float64Array:
    """Sum over pairs of examples, which serves any number of arguments."""
    found = np.zeros(products[0].shape[0])
    weights = np.outer(relation.weights, other.weights).astype(np.float64)
    for n in range(len(found)):
        total = weights.copy()
        for mine, theirs, product in zip(relation.arguments, other.arguments, products, strict=True):
            total *= dense(_scale_columns(mine, dense(product[n : n + 1])[0]) @ theirs.T)
        found[n] = total.sum()
    return found


def _scale_columns(rows: Rows, factors: FloatArray) -> Rows:
    if is_sparse(rows):
        return sparse.csr_array(rows @ sparse.diags_array(factors))
    return rows * factors
