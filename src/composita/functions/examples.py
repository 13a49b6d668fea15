"""Examples: what a function is learned from, argument vectors and the vector of the phrase that they make.

>>> objects = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
>>> subjects, sentences = np.eye(3), np.ones((3, 4))
>>> examples = Examples.from_arrays(objects, subjects, sentences)
>>> examples
Examples(3 of arity 2: 2 object, 3 subject -> 4)
>>> examples.ids[:, 0]
array([1, 1, 0])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from composita.store.errors import InputError, UsageError, plural

Array: TypeAlias = npt.NDArray[Any]
Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

NAMES = {1: ("argument",), 2: ("object", "subject"), 3: ("theme", "recipient", "subject")}


def names_of(arity: int) -> tuple[str, ...]:
    """Give the usual names of arguments, in the order of application.

    >>> names_of(2), names_of(5)[0]
    (('object', 'subject'), 'argument 1')
    """
    return NAMES.get(arity) or tuple(f"argument {place}" for place in range(1, arity + 1))


@dataclass(frozen=True, eq=False, repr=False)
class Examples:
    """A table of examples: which arguments, by number, and the output that belongs to them.

    Parameters
    ----------
    vectors
        For each argument, in the order of application, the vectors that its numbers stand for: (V, d).
    ids
        The numbers of the arguments: (N, arity); -1 where an argument has no vector.
    outputs
        The vectors of the phrases: (N, q).
    weights
        How much each example counts; None if all count the same.
    frequency
        How often each phrase was found.
    names
        What the arguments are called.
    labels
        What the examples are called.

    """

    vectors: tuple[Array, ...]
    ids: Int64Array
    outputs: Array
    weights: Array | None = None
    frequency: Array | None = None
    names: tuple[str, ...] = ()
    labels: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if not self.names:
            object.__setattr__(self, "names", names_of(self.arity))
        _check(self)

    @classmethod
    def from_arrays(
        cls,
        *arrays: Any,  # noqa: ANN401 - arrays, or a tuple of them with numbers
        weights: Array | None = None,
        frequency: Array | None = None,
        names: Sequence[str] = (),
        labels: Sequence[str] | None = None,
    ) -> Examples:
        """Make examples of one array for each argument and one of outputs, row by row; equal rows get one number.

        Or of a tuple of arrays of vectors, the numbers of the arguments in them, and the outputs.
        """
        about: dict[str, Any] = {
            "weights": None if weights is None else np.asarray(weights),
            "frequency": None if frequency is None else np.asarray(frequency),
            "names": tuple(names), "labels": labels,
        }  # fmt: skip
        if len(arrays) == 3 and isinstance(arrays[0], (tuple, list)):
            vectors, ids, outputs = arrays
            numbers = np.asarray(ids, np.int64)
            return cls(tuple(map(_matrix, vectors)), numbers, _matrix(outputs), **about)
        if len(arrays) < 2:
            raise UsageError(
                f"expected an array for each argument and one of outputs, got {plural(len(arrays), 'array')}"
            )
        *arguments, outputs = (_matrix(array) for array in arrays)
        lengths = [len(array) for array in (*arguments, outputs)]
        if len(set(lengths)) > 1:
            raise UsageError(f"expected as many rows in each array, got {', '.join(map(str, lengths))}")
        merged = [_merge(array) for array in arguments]
        ids = np.stack([numbers for _, numbers in merged], axis=1)
        return cls(tuple(rows for rows, _ in merged), ids, outputs, **about)

    # ------------------------------------------------------------ looking

    @property
    def arity(self) -> int:
        """How many arguments."""
        return len(self.vectors)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor that these examples are of: output, last argument, ..., first argument."""
        return (self.outputs.shape[1], *(vectors.shape[1] for vectors in reversed(self.vectors)))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that functions learned from these are stored in: float64 if all arrays are, else float32."""
        types = [self.outputs.dtype, *(vectors.dtype for vectors in self.vectors)]
        return np.dtype(np.float64 if all(np.result_type(t, np.float32) == np.float64 for t in types) else np.float32)

    def inputs(self, place: int) -> Array:
        """Give the vectors of an argument, one a row: (N, d)."""
        return self.vectors[place][self.ids[:, place]]

    def label(self, number: int) -> str:
        """Give the name of an example."""
        return f"example {number}" if self.labels is None else self.labels[number]

    def labels_of(self, rows: Int64Array) -> Sequence[str]:
        """Give the names of some examples."""
        return SomeLabels(self.labels, rows)

    def __repr__(self) -> str:
        sizes = (f"{len(np.unique(self.ids[:, i]))} {name}" for i, name in enumerate(self.names))
        return f"Examples({len(self)} of arity {self.arity}: {', '.join(sizes)} -> {self.outputs.shape[1]})"

    # ------------------------------------------------------------ choosing

    def select(self, rows: Array) -> Examples:
        """Give some of the examples, by number or mask."""
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows, np.int64)
        return replace(
            self, ids=self.ids[rows], outputs=self.outputs[rows],
            weights=None if self.weights is None else self.weights[rows],
            frequency=None if self.frequency is None else self.frequency[rows],
            labels=None if self.labels is None else self.labels_of(rows),
        )  # fmt: skip

    def known(self) -> BoolArray:
        """Say which examples have vectors for all arguments, and these not zero."""
        known: BoolArray = np.all(self.ids >= 0, axis=1).reshape(-1)
        for place, vectors in enumerate(self.vectors):
            used, numbers = np.unique(self.ids[known, place], return_inverse=True)
            known[known] = vectors[used].any(1)[numbers.reshape(-1)]
        return known


class SomeLabels(Sequence[str]):
    """The labels of some of the examples, looked up when they are asked for; without any the examples' numbers.

    >>> list(SomeLabels(["a", "b", "c"], np.array([2, 0]))), SomeLabels(None, np.array([2, 0]))[0]
    (['c', 'a'], 'example 2')
    """

    def __init__(self, labels: Sequence[str] | None, rows: Int64Array) -> None:
        self.labels, self.rows = labels, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: Any) -> Any:  # noqa: ANN401 - a number and a label, or a slice and labels
        if isinstance(number, slice):
            return SomeLabels(self.labels, self.rows[number])
        row = int(self.rows[number])
        return f"example {row}" if self.labels is None else self.labels[row]


def _matrix(array: Any) -> Array:  # noqa: ANN401 - what NumPy takes
    """Give an array of numbers with two axes."""
    matrix = np.asarray(array)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise UsageError(f"expected numbers in two dimensions, one vector a row, got {matrix.dtype} {matrix.shape}")
    return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)


def _merge(array: Array) -> tuple[Array, Int64Array]:
    """Find equal rows."""
    rows, numbers = np.unique(array, axis=0, return_inverse=True)
    return rows, numbers.reshape(-1).astype(np.int64)


def _check(examples: Examples) -> None:
    """Refuse tables whose parts do not fit together."""
    count, ids = len(examples.outputs), examples.ids
    if ids.shape != (count, examples.arity):
        raise UsageError(f"expected numbers of shape {(count, examples.arity)} for the arguments, got {ids.shape}")
    if len(examples.names) != examples.arity:
        raise UsageError(f"expected {plural(examples.arity, 'name')} of arguments, got {', '.join(examples.names)}")
    for name, vectors, column in zip(examples.names, examples.vectors, ids.T, strict=True):
        if count and not -1 <= column.min() <= column.max() < len(vectors):
            raise UsageError(
                f"the {name} has numbers from {column.min()} to {column.max()}, but {len(vectors)} vectors"
            )
    for what in ("weights", "frequency", "labels"):
        if (values := getattr(examples, what)) is not None and len(values) != count:
            raise UsageError(f"expected {count} {what}, one for each example, got {len(values)}")
    if examples.weights is not None and not (np.isfinite(examples.weights).all() and (examples.weights > 0).all()):
        raise UsageError("expected weights above 0")
    arrays = {"outputs": examples.outputs} | dict(zip(examples.names, examples.vectors, strict=True))
    for what, array in arrays.items():
        # The sum is not finite where a number is not; it needs no second array.
        if not np.isfinite(np.sum(array, dtype=np.float64)) and not np.isfinite(array).all():
            raise InputError(f"the vectors of {what} hold numbers that are not finite")
