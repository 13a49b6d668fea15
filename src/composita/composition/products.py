"""Methods that multiply vectors: element by element, and as outer products."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from composita.composition.meanings import Outer, Values, Vectors
from composita.composition.rows import times

if TYPE_CHECKING:
    from composita.composition.method import Batch


def multiply(batch: Batch) -> Vectors:
    """Multiply element by element: ``v * o * s``."""
    return Vectors(reduce(times, batch.arguments, batch.head_vectors))


def kronecker(batch: Batch) -> Values:
    """Multiply outer products element by element: ``(v (x) v) * (o (x) s)``, that is ``(v * o) (x) (v * s)``."""
    if batch.arity == 1:
        return multiply(batch)
    return Outer(tuple(times(batch.head_vectors, rows) for rows in batch.arguments))
