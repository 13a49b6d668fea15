r"""Operations: what meanings can be made of besides words applied to words, each with a closed form.

| operation | type | closed form |
|---|---|---|
| `and` | a -> a -> a | u/\|u\| + v/\|v\| of all that is coordinated, scaled to length 1; a is a basic type |
| `that` | a -> b -> a | the same of a noun and the clause that it has a part in; a and b have as many dimensions |
| `join` | a -> word -> a | the function of a verb with its preposition: ``join(live-v)(in)`` is ``live_in-v`` |

>>> import numpy as np
>>> normalised_sum([np.array([2.0, 0.0]), np.array([0.0, 3.0])])
array([0.70710678, 0.70710678])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from composita.grammar.types import WORD, Open, Type, arrow
from composita.store.errors import UsageError


@dataclass(frozen=True)
class Operation:
    """An operation of the language of meanings.

    Parameters
    ----------
    name
        How meanings call it.
    type
        Its type; open types stand for any type.
    formula
        The closed form, for people.
    combine
        What it makes of the values of its arguments; None where reduction does away with it.
    vectors
        Whether its open types must be basic ones.

    """

    name: str
    type: Type
    formula: str
    combine: Callable[[Sequence[Any]], Any] | None = None
    vectors: bool = True


def normalised_sum(vectors: Sequence[Any]) -> Any:  # noqa: ANN401 - arrays of any kind
    """Add up vectors scaled to length 1, and scale the sum; along the last axis, so that batches work likewise.

    A vector of zeros stays what it is, and so does the sum where all cancels out.
    """
    import numpy as np

    sizes = {np.shape(vector)[-1] for vector in vectors}
    if len(sizes) > 1:
        raise UsageError(
            f"cannot add vectors of {' and '.join(map(str, sorted(sizes)))} dimensions: and, relative clauses and "
            "adverbs need nouns and sentences in spaces of as many dimensions"
        )
    return _unit(sum(_unit(np.asarray(vector)) for vector in vectors))


def _unit(vector: Any) -> Any:  # noqa: ANN401 - arrays of any kind
    import numpy as np

    length = np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.divide(vector, length, out=np.zeros_like(vector, dtype=float), where=length > 0)


_A, _B = Open(0), Open(1)

OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("and", arrow(_A, _A, _A), "(u/|u| + v/|v|) / |...|", normalised_sum),
        Operation("that", arrow(_A, _B, _A), "(n/|n| + s/|s|) / |...|", normalised_sum),
        Operation("join", arrow(_A, WORD, _A), "one word: live_in-v", None, vectors=False),
    )
}
