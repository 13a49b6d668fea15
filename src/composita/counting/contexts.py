"""Contexts: what is counted beside an item, as ``--context`` says it.

>>> Context.parse("window:5")
Context(kind='window', left=5, right=5, weights='flat')
>>> str(Context.parse("window:2,0:harmonic"))
'window:2,0:harmonic'
>>> Context.parse("window:2:harmonic").shares, Context.parse("window:2:harmonic").unit
((0, 2, 1), 2)
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from composita.store.errors import UsageError

WIDEST = 1000
WIDEST_HARMONIC = 20
"""The least common multiple of 1 to 20 leaves room for 39 billion occurrences in 63 bits."""

_WINDOW = re.compile(r"window:([0-9]{1,4})(?:,([0-9]{1,4}))?(?::(flat|linear|harmonic))?")


@dataclass(frozen=True)
class Context:
    """A kind of context.

    Parameters
    ----------
    kind
        ``sentence``: the content words of the sentence; ``window``: those near by; ``dependency``: those that the item
        governs or is governed by, with the role.
    left, right
        For a window: how many tokens before and after the item, of all tokens of its sentence.
    weights
        For a window: ``flat``, or less with the distance d: ``linear`` (1 - (d - 1) / k, k the wider side) or
        ``harmonic`` (1 / d).

    """

    kind: Literal["sentence", "window", "dependency"] = "sentence"
    left: int = 0
    right: int = 0
    weights: str = "flat"

    @classmethod
    def parse(cls, text: str) -> Context:
        """Read ``sentence``, ``dependency``, ``window:5``, ``window:5,0`` (left, right) or ``window:5:linear``."""
        if text == "sentence":
            return cls()
        if text == "dependency":
            return cls("dependency")
        found = _WINDOW.fullmatch(text)
        if not found:
            raise UsageError(
                f"unknown context {text!r}: choose sentence, dependency, window:5, window:5,0 (left, right), "
                "window:5:linear or window:5:harmonic"
            )
        left, right, weights = int(found[1]), int(found[2] or found[1]), found[3] or "flat"
        widest = WIDEST_HARMONIC if weights == "harmonic" else WIDEST
        if not 0 < max(left, right) <= widest:
            raise UsageError(f"context {text!r}: expected a window of 1 to {widest} tokens")
        return cls("window", left, right, weights)

    def __str__(self) -> str:
        if self.kind != "window":
            return self.kind
        sides = str(self.left) if self.left == self.right else f"{self.left},{self.right}"
        return f"window:{sides}" + ("" if self.weights == "flat" else f":{self.weights}")

    @property
    def unit(self) -> int:
        """How much one occurrence counts; weights are fractions of it, so that sums of them stay exact."""
        widest = max(self.left, self.right)
        return {"flat": 1, "linear": max(1, widest), "harmonic": math.lcm(*range(1, widest + 1))}[self.weights]

    @cached_property
    def shares(self) -> tuple[int, ...]:
        """What a context at each distance counts, in fractions of the unit; nothing at distance 0."""
        widest = max(self.left, self.right)
        distances = range(1, max(1, widest) + 1)
        if self.weights == "flat":
            return (0, *(1 for _ in distances))
        return (0, *((self.unit // d if self.weights == "harmonic" else widest - d + 1) for d in distances))
