"""The report of a training: what was used and dropped, and how the penalties were chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from composita.functions.penalty import summary
from composita.functions.regression import Level
from composita.store.errors import plural


@dataclass(frozen=True)
class LevelReport:
    """The regressions of one argument.

    Parameters
    ----------
    name
        The argument.
    regressions
        How many there were.
    sizes
        How many members they had: the fewest, the median and the most.
    penalty
        How lambda was chosen, as `composita.functions.penalty.summary` tells it.

    """

    name: str
    regressions: int
    sizes: tuple[float, ...]
    penalty: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Training:
    """What a function was learned from.

    Parameters
    ----------
    parameters
        The learner and its options.
    found, used
        How many examples there were, and how many of them (after merging) the function was learned from.
    dropped
        How many were not used, by reason.
    levels
        The regressions for each argument, the first first; of one-step regression only one.
    notes
        What else is to be said, such as that something is approximate.

    """

    parameters: Mapping[str, Any]
    found: int
    used: int
    dropped: Mapping[str, int]
    levels: tuple[LevelReport, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give all as plain values, for JSON."""
        return {
            "parameters": dict(self.parameters), "found": self.found, "used": self.used, "dropped": dict(self.dropped),
            "levels": [
                {"name": level.name, "regressions": level.regressions, "sizes": list(level.sizes),
                 "penalty": dict(level.penalty)}
                for level in self.levels
            ],
            "notes": list(self.notes),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, about: Mapping[str, Any]) -> Training:
        """Make a report of what `to_dict` gave."""
        levels = tuple(
            LevelReport(level["name"], level["regressions"], tuple(level["sizes"]), level["penalty"])
            for level in about["levels"]
        )
        return cls(about["parameters"], about["found"], about["used"], about["dropped"], levels, tuple(about["notes"]))

    def __str__(self) -> str:
        steps = ", ".join(f"{level.name}: {plural(level.regressions, 'regression')}" for level in self.levels)
        dropped = "".join(f"; {count:,} dropped: {why}" for why, count in self.dropped.items())
        notes = "".join(f"; {note}" for note in self.notes)
        return f"{self.used:,} of {plural(self.found, 'example')}; {steps}{dropped}{notes}"


def level_report(name: str, level: Level) -> LevelReport:
    """Report the regressions of an argument."""
    sizes = np.diff(level.bounds)
    return LevelReport(
        name, len(sizes), tuple(float(x) for x in np.quantile(sizes, [0, 0.5, 1])), summary(level.choice)
    )
