"""Arrays of many functions in one file: each kind of array end to end, with a note of where each function's part lies.

Ten thousand small files would be slow to open and to copy, and a file with ten thousand names slow to read. So the
arrays that functions have under the same name are joined, whatever their shapes, and a function is given views of them.

>>> pooled, places = pool([{"a": np.ones((2, 3)), "b": np.array([7])}, {"a": np.zeros((1, 4))}])
>>> sorted(pooled), places[1]
(['a', 'b'], {'a': [6, 1, 4]})
>>> unpool(pooled, places[0])["b"], unpool(pooled, places[1])["a"]
(array([7]), array([[0., 0., 0., 0.]]))
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from composita.store.errors import CorruptError

Array: TypeAlias = npt.NDArray[Any]
Places: TypeAlias = dict[str, list[int]]
"""For each array of a function where it begins in the pool, and its shape."""


def pool(functions: Sequence[Mapping[str, Array]]) -> tuple[dict[str, Array], list[Places]]:
    """Join the arrays of functions by name, and say where each lies."""
    parts: dict[str, list[Array]] = {}
    ends: dict[str, int] = {}
    places: list[Places] = []
    for arrays in functions:
        place: Places = {}
        for name, array in sorted(arrays.items()):
            place[name] = [ends.get(name, 0), *array.shape]
            parts.setdefault(name, []).append(array.reshape(-1))
            ends[name] = ends.get(name, 0) + array.size
        places.append(place)
    return {name: np.concatenate(flat) for name, flat in parts.items()}, places


def unpool(pooled: Mapping[str, Array], places: Mapping[str, Sequence[int]]) -> dict[str, Array]:
    """Give the arrays of one function, in place."""
    found = {}
    for name, (start, *shape) in places.items():
        count = math.prod(shape)
        if name not in pooled or start < 0 or min(shape, default=0) < 0 or start + count > len(pooled[name]):
            raise CorruptError(f"the array {name!r} of a function does not fit into its pool; learn again")
        found[name] = pooled[name][start : start + count].reshape(shape)
    return found
