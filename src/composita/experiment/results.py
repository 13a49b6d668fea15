"""What an experiment found: rows of scores, and what people and oracles reach on the same ratings.

>>> row = Row("gs2011", "add", "svd", 0.21, (0.12, 0.3), 0.28, (0.15, 0.4), 199, 199)
>>> Row.from_json(row.to_json()) == row
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from composita.store.errors import CorruptError

Interval = tuple[float, float]

CONVENTIONS = {
    "rho_individual": "Spearman's rho with individual ratings",
    "rho_mean": "Spearman's rho with the mean rating of each item",
    "mean_average_precision": "mean average precision",
}
"""What is scored, never mixed in a column; the last for rankings, which nobody rated."""


@dataclass(frozen=True)
class Row:
    """The score of one method in one space on one benchmark; None where there is none."""

    benchmark: str
    method: str
    space: str
    rho_individual: float | None
    rho_individual_interval: Interval | None
    rho_mean: float | None
    rho_mean_interval: Interval | None
    items: int
    covered: int
    more: Mapping[str, Any] = field(default_factory=dict)  # further figures, by name

    @classmethod
    def left_out(cls, benchmark: str, method: str, space: str, items: int) -> Row:
        """Make the row of a method that the experiment leaves out in this space."""
        return cls(benchmark, method, space, None, None, None, None, items, 0)

    def score(self, convention: str) -> float | None:
        """Give the score by a convention."""
        if convention in ("rho_individual", "rho_mean"):
            return self.rho_individual if convention == "rho_individual" else self.rho_mean
        return self.more.get(convention)

    def interval(self, convention: str) -> Interval | None:
        """Give the 95% interval of the score by a convention."""
        if convention in ("rho_individual", "rho_mean"):
            return self.rho_individual_interval if convention == "rho_individual" else self.rho_mean_interval
        found = self.more.get(f"{convention}_interval")
        return None if found is None else (found[0], found[1])

    @property
    def scored(self) -> bool:
        """Whether there is any score."""
        return any(self.score(convention) is not None for convention in CONVENTIONS)

    def to_json(self) -> dict[str, Any]:
        """Give the row as JSON has it."""
        said = asdict(self)
        more = said.pop("more")
        for key in ("rho_individual_interval", "rho_mean_interval"):
            said[key] = None if said[key] is None else list(said[key])
        return said | dict(more)

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Row:
        """Read a row."""
        try:
            known = {name: said[name] for name in cls.__dataclass_fields__ if name != "more"}
        except (KeyError, TypeError) as error:
            raise CorruptError(f"not a row of results: {error}") from None
        for key in ("rho_individual_interval", "rho_mean_interval"):
            known[key] = None if known[key] is None else (known[key][0], known[key][1])
        return cls(**known, more={key: value for key, value in said.items() if key not in known})


@dataclass(frozen=True)
class Reference:
    """What frames the scores on a benchmark: people above, an oracle as ceiling, shuffled predictions as floor.

    ``agreement`` has the definitions by name; ``humans``, ``ceiling`` and ``floor`` say what stands in the table for
    each of the two conventions.
    """

    benchmark: str
    items: int
    ratings: int
    participants: int
    humans: Mapping[str, float | None]
    ceiling: Mapping[str, float | None]
    floor: Mapping[str, float | None] = field(default_factory=dict)
    agreement: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        return asdict(self)

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Reference:
        """Read it."""
        try:
            return cls(**said)
        except TypeError as error:
            raise CorruptError(f"not what people and oracles reach: {error}") from None


@dataclass(frozen=True)
class Results:
    """All rows of an experiment, with what frames them."""

    rows: tuple[Row, ...]
    references: tuple[Reference, ...] = ()

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks, in their order."""
        return tuple(dict.fromkeys(row.benchmark for row in self.rows))

    @property
    def spaces(self) -> tuple[str, ...]:
        """The spaces, in their order."""
        return tuple(dict.fromkeys(row.space for row in self.rows))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, in their order."""
        return tuple(dict.fromkeys(row.method for row in self.rows))

    def conventions(self, benchmark: str) -> tuple[str, ...]:
        """Give what a benchmark is scored by; both correlations where nothing could be scored."""
        rows = [row for row in self.rows if row.benchmark == benchmark]
        known = tuple(name for name in CONVENTIONS if any(row.score(name) is not None for row in rows))
        return known or ("rho_individual", "rho_mean")

    def find(self, benchmark: str, method: str, space: str) -> Row | None:
        """Give one row, if there is such a one."""
        for row in self.rows:
            if (row.benchmark, row.method, row.space) == (benchmark, method, space):
                return row
        return None

    def reference(self, benchmark: str) -> Reference | None:
        """Give what frames the scores on a benchmark."""
        return next((r for r in self.references if r.benchmark == benchmark), None)

    @classmethod
    def from_json(cls, rows: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]] = ()) -> Results:
        """Read the contents of ``results.json`` and ``humans.json``."""
        return cls(tuple(map(Row.from_json, rows)), tuple(map(Reference.from_json, references)))
