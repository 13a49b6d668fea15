"""Kernels over the arguments of a function: which arguments count, and how they work together.

A kernel is a sum of products with one factor for each argument: (constant + x . x'), x . x', or 1. Each kernel is a
model of composition:

========== ============================ =================================================================
product    K_1 * K_2 * ...              a tensor
affine     (a + K_1) * (b + K_2) ...    a tensor, a matrix for each argument, and a constant
additive   K_1 + K_2 + ...              a matrix for each argument (the practical lexical function)
object     K_1                          a matrix for the argument of that name; the others do not matter
========== ============================ =================================================================

>>> named("affine", ("object", "subject"), (1.0, 0.5))
Kernel((1.0 + object) * (0.5 + subject))
>>> named("additive", ("object", "subject"))
Kernel(object + subject)
>>> kernel = named("product", ("object", "subject"))
>>> kernel.matrix([np.eye(2), np.ones((2, 2))])
array([[1., 0.],
       [0., 1.]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from composita.functions.examples import Array
from composita.store.errors import UsageError, plural

KERNELS = ("product", "affine", "additive")


@dataclass(frozen=True)
class Factor:
    """One factor of a product: ``constant``, and the similarity of the argument where it is ``used``."""

    used: bool = True
    constant: float = 0.0

    @property
    def extended(self) -> bool:
        """Whether there is a constant."""
        return self.constant != 0.0 or not self.used


@dataclass(frozen=True, repr=False)
class Kernel:
    """A sum of products of factors, one for each argument.

    ``deviations`` adds that much of [same first argument] * K_last: what examples of the same first argument have in
    common, beyond what is known of arguments like it. It takes part in the learning only, because it says nothing of an
    argument that was never seen.
    """

    names: tuple[str, ...]
    parts: tuple[tuple[Factor, ...], ...]
    deviations: float = 0.0

    def matrix(self, similarities: Sequence[Array]) -> Array:
        """Give the kernel of examples from the Gram matrices of each argument, without deviations."""
        total: Array | None = None
        for part in self.parts:
            product = np.ones_like(similarities[0])
            for factor, similarity in zip(part, similarities, strict=True):
                if factor.used:
                    product *= similarity + factor.constant if factor.constant else similarity
                else:
                    product *= factor.constant
            total = product if total is None else total + product
        assert total is not None
        return total

    @property
    def used(self) -> tuple[bool, ...]:
        """For each argument whether the kernel looks at it at all."""
        return tuple(any(part[place].used for part in self.parts) for place in range(len(self.names)))

    @property
    def is_additive(self) -> bool:
        """Whether each part looks at one argument, so that a concatenation of the arguments has this kernel."""
        return all(sum(factor.used for factor in part) == 1 for part in self.parts) and not self.deviations

    def __repr__(self) -> str:
        parts = [" * ".join(filter(None, map(_shown, part, self.names))) or "1" for part in self.parts]
        if self.deviations:
            parts.append(f"{self.deviations:g} * [same {self.names[0]}] * {self.names[-1]}")
        return f"Kernel({' + '.join(parts)})"


def _shown(factor: Factor, name: str) -> str:
    if not factor.used:
        return "" if factor.constant == 1 else f"{factor.constant}"
    return f"({factor.constant} + {name})" if factor.constant else name


def named(
    name: str, arguments: Sequence[str], constants: Sequence[float] | float = 1.0, deviations: float = 0.0
) -> Kernel:
    """Give a kernel by its name for the arguments of these names; ``constants`` are those of the affine one."""
    arity, names = len(arguments), tuple(arguments)
    given = [float(constants)] * arity if isinstance(constants, (int, float)) else [float(c) for c in constants]
    if len(given) != arity or not all(np.isfinite(c) and c >= 0 for c in given):
        raise UsageError(f"expected {plural(arity, 'constant')} of at least 0, got {', '.join(map(str, given))}")
    if deviations < 0 or (deviations and arity == 1):
        raise UsageError("deviations must be at least 0, and need a second argument")
    if name == "product":
        parts = [(Factor(),) * arity]
    elif name == "affine":
        parts = [tuple(Factor(constant=c) for c in given)]
    elif name == "additive":
        parts = [_only(place, arity) for place in range(arity)]
    elif name in names:
        parts = [_only(names.index(name), arity)]
    else:
        raise UsageError(f"no kernel is called {name!r}: choose {', '.join((*KERNELS, *names))}")
    return Kernel(names, tuple(parts), deviations)


def _only(place: int, arity: int) -> tuple[Factor, ...]:
    return tuple(Factor() if i == place else Factor(used=False, constant=1.0) for i in range(arity))
