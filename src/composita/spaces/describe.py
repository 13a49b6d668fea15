"""What a space holds, as data: for ``composita info`` and for whoever wants to see it at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from composita.counting.counts import Matrix
from composita.spaces.steps import Nmf, Svd
from composita.store.folder import Folder

if TYPE_CHECKING:
    from composita.spaces.space import Space


def describe(space: Space) -> dict[str, Any]:
    """Describe a space.

    >>> from composita.spaces.space import Space
    >>> found = describe(Space.from_vectors(["dog", "cat"], np.eye(2)))
    >>> found["words"], found["dimensions"], found["history"]
    (2, 2, 'vectors')
    """
    pattern = space.items.fields.pattern
    sizes = np.bincount(pattern, minlength=len(space.items.patterns) + 1).tolist()
    cells = len(space.rows_data.indices) if isinstance(space.rows_data, Matrix) else 0
    size = 0 if space.path is None else sum(file.bytes for file in Folder.open(space.path).files.values())
    return {
        "path": str(space.path) if space.path else "in memory",
        "history": space.history,
        "words": sizes[0],
        "core": int(space.core.sum()),
        "phrases": dict(zip(space.items.patterns, sizes[1:], strict=True)),
        "dimensions": space.dimensions,
        "columns": len(space.columns),
        "sparse": space.is_sparse,
        "density": cells / max(1, len(space) * space.dimensions),
        "zero_rows": int((space.nonzeros == 0).sum()),
        "bytes": size,
        "reduction": _reduction(space),
        "source": space.source,
        "fingerprints": {space.source: space.source_fingerprint},
        "fingerprint": space.fingerprint,
    }


def _reduction(space: Space) -> str:
    """Say how the reduction went."""
    for step in space.chain:
        if isinstance(step, Svd):
            kept = step.values[step.drop :]
            return (
                f"singular values from {kept[0]:.4g} to {kept[-1]:.4g}, residual at most {step.residual:.1e} of their "
                "squares"
            )
        if isinstance(step, Nmf) and step.report:
            error, gradient = step.report[-1]
            return (
                f"error {error:.4f} of the whole after {len(step.report) - 1} iterations, projected gradient "
                f"{gradient:.1e} of the first"
            )
    return ""
