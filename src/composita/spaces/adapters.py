"""Spaces as objects of other libraries, which need not be there.

>>> from composita.spaces.space import Space
>>> to_frame(Space.from_vectors(["dog", "cat"], np.eye(2))).loc["dog"].tolist()
[1.0, 0.0]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from composita.spaces.exchange import column_names
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.spaces.space import Space


def to_gensim(space: Space) -> Any:  # noqa: ANN401 - of a library that need not be there
    """Give gensim's ``KeyedVectors`` of all rows, with their labels."""
    models = _library("gensim.models", "gensim")
    keyed = models.KeyedVectors(vector_size=space.dimensions)
    keyed.add_vectors(space.labels(), space.take(np.arange(len(space))))
    return keyed


def to_xarray(space: Space) -> Any:  # noqa: ANN401
    """Give an ``xarray.DataArray`` with the axes ``item`` and ``dimension``."""
    xarray = _library("xarray", "xarray")
    coordinates = {"item": space.labels(), "dimension": column_names(space)}
    attributes = {"history": space.history, "fingerprint": space.fingerprint}
    values = space.take(np.arange(len(space))) if space.is_sparse else space.array
    return xarray.DataArray(values, dims=("item", "dimension"), coords=coordinates, attrs=attributes)


def to_frame(space: Space) -> Any:  # noqa: ANN401
    """Give a ``pandas.DataFrame`` with a row for each item; the columns of a sparse space stay sparse."""
    pandas = _library("pandas", "pandas")
    labels, columns = space.labels(), column_names(space)
    if space.is_sparse:
        return pandas.DataFrame.sparse.from_spmatrix(space.matrix, index=labels, columns=columns)
    return pandas.DataFrame(space.array, index=labels, columns=columns)


def _library(module: str, package: str) -> Any:  # noqa: ANN401
    try:
        return import_module(module)
    except ImportError:
        raise UsageError(f"this needs the package {package}: pip install {package}") from None
