"""Methods in which a verb is the sum of the outer products of its attested arguments.

R is the matrix of a transitive verb (objects by subjects), the vector of an intransitive verb or an adjective. What
copies the subject or the object (Kartsaklis, Sadrzadeh & Pulman 2012) gives vectors, and needs no matrix at all:
``R^T o = sum_e f_e (o_e . o) s_e``. For one argument all of them are ``R * s``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from composita.composition.ground import assemble
from composita.composition.meanings import Outer, Related, Values, Vectors
from composita.composition.relations import Relation, Relations
from composita.composition.rows import IntArray, Rows, times

if TYPE_CHECKING:
    from composita.composition.method import Batch


def relational(batch: Batch) -> Values:
    """Multiply the verb's matrix by that of its arguments, element by element: ``R * (o (x) s)``."""
    if batch.arity == 1:
        return _one_argument(batch)
    relations, numbers = _relations(batch)
    return Related(relations, numbers, batch.arguments)


def copy_subject(batch: Batch) -> Values:
    """Keep the subject: ``s * (R^T o)``."""
    return _of_vectors(batch, lambda subject, object_: subject)


def copy_object(batch: Batch) -> Values:
    """Keep the object: ``o * (R s)``."""
    return _of_vectors(batch, lambda subject, object_: object_)


def frobenius_add(batch: Batch) -> Values:
    """Add both: ``s * (R^T o) + o * (R s)``."""
    return _of_vectors(batch, lambda subject, object_: subject + object_)


def frobenius_multiply(batch: Batch) -> Values:
    """Multiply both: ``(s * (R^T o)) * (o * (R s))``."""
    return _of_vectors(batch, times)


def frobenius_outer(batch: Batch) -> Values:
    """Multiply both as an outer product: ``(o * (R s)) (x) (s * (R^T o))``."""
    if batch.arity == 1:
        return _one_argument(batch)
    subject, object_ = _copies(batch)
    return Outer((object_, subject))


def _of_vectors(batch: Batch, join: Callable[[Rows, Rows], Rows]) -> Values:
    return _one_argument(batch) if batch.arity == 1 else Vectors(join(*_copies(batch)))


def _one_argument(batch: Batch) -> Vectors:
    relations, numbers = _relations(batch)
    distinct, inverse = np.unique(numbers, return_inverse=True)
    sums = assemble([(np.array([n]), relations[k].sum()) for n, k in enumerate(distinct.tolist())], len(distinct))
    return Vectors(times(sums[inverse.reshape(-1)], batch.arguments[0]))


def _copies(batch: Batch) -> tuple[Rows, Rows]:
    """Give the vectors that copy the subject and the object."""
    if batch.arity > 2:
        for place in range(len(batch)):
            batch.fail(place, "copying an argument is defined for verbs of one or two arguments")
        return batch.arguments[0], batch.arguments[1]
    relations, numbers = _relations(batch)
    subject, object_ = [], []
    for number in np.unique(numbers).tolist():
        ids = np.flatnonzero(numbers == number)
        objects, subjects = batch.part(ids)
        subject.append((ids, times(subjects, relations[number].apply(0, objects))))
        object_.append((ids, times(objects, relations[number].apply(1, subjects))))
    return assemble(subject, len(batch)), assemble(object_, len(batch))


def _relations(batch: Batch) -> tuple[Relations, IntArray]:
    """Find the relation of each head; one that was never seen with so many arguments is its own outer product."""
    relations, numbers = batch.ground.relations(batch.arity), np.zeros(len(batch), np.int64)
    for head, places in batch.by_head.items():
        number = batch.ground.relation(head, batch.arity)
        if number < 0:
            batch.note(places, f"{head} was never seen with {_arguments(batch.arity)}: its own vector stands for them")
            vector = batch.head_vectors[places[:1]]
            name = f"{head} itself"
            number = relations.numbers.get(name, -1)
            if number < 0:
                number = relations.add(name, Relation(np.ones(1, np.float32), (vector,) * batch.arity))
        numbers[places] = number
    return relations, numbers


def _arguments(count: int) -> str:
    return "an argument" if count == 1 else f"{count} arguments"
