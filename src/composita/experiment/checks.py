"""What a value in a TOML file may be, said once: for checking it, for error messages and for documentation.

>>> Whole(1).read(300, "[space] dimensions")
300
>>> Whole(1).read(0, "[space] dimensions")
Traceback (most recent call last):
    ...
composita.store.errors.UsageError: [space] dimensions is 0, expected a whole number from 1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from math import isfinite
from typing import Any, TypeVar

from composita.counting.words import suggest
from composita.store.errors import UsageError
from composita.store.strict_json import shown

T = TypeVar("T")


class Check:
    """What a value may be."""

    def read(self, value: Any, where: str) -> Any:  # noqa: ANN401 - whatever TOML can say
        """Give the value as it is kept, or say what is wrong with it and where it stands."""
        raise NotImplementedError

    @property
    def allowed(self) -> str:
        """Say what is allowed, to go on after *expected*."""
        raise NotImplementedError

    def refuse(self, value: object, where: str, near: str = "") -> UsageError:
        """Say that a value is not allowed."""
        return UsageError(f"{where} is {shown(value)}, expected {self.allowed}{near}")


@dataclass(frozen=True)
class Whole(Check):
    """A whole number, such as 8000, or the word ``all`` for no limit, which is kept as None."""

    least: int = 0
    most: int | None = None
    or_all: bool = False

    def read(self, value: Any, where: str) -> Any:  # noqa: ANN401
        """Give the number."""
        if self.or_all and value == "all":
            return None
        if type(value) is not int or value < self.least or (self.most is not None and value > self.most):
            raise self.refuse(value, where)
        return value

    @property
    def allowed(self) -> str:
        """Say which numbers."""
        bounds = f"from {self.least}" + ("" if self.most is None else f" to {self.most}")
        return f"a whole number {bounds}" + (' or "all"' if self.or_all else "")


@dataclass(frozen=True)
class Number(Check):
    """A number, whole or not."""

    least: float = 0.0
    most: float | None = None

    def read(self, value: Any, where: str) -> Any:  # noqa: ANN401
        """Give the number."""
        good = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
        if not good or value < self.least or value > (float("inf") if self.most is None else self.most):
            raise self.refuse(value, where)
        return float(value)

    @property
    def allowed(self) -> str:
        """Say which numbers."""
        return f"a number from {self.least:g}" + ("" if self.most is None else f" to {self.most:g}")


@dataclass(frozen=True)
class Flag(Check):
    """True or false."""

    def read(self, value: Any, where: str) -> Any:  # noqa: ANN401
        """Give the flag."""
        if not isinstance(value, bool):
            raise self.refuse(value, where)
        return value

    @property
    def allowed(self) -> str:
        """Say what."""
        return "true or false"


@dataclass(frozen=True)
class Text(Check):
    """Some text; where ``choices`` are given, one of them."""

    choices: tuple[str, ...] = ()
    what: str = "some text"
    or_none: bool = False
    starts: tuple[str, ...] = ()  # beginnings of further values, such as ``window:5``

    def read(self, value: Any, where: str) -> Any:  # noqa: ANN401
        """Give the text."""
        if self.or_none and value == "none":
            return None
        if not isinstance(value, str) or not value:
            raise self.refuse(value, where)
        if self.choices and value not in self.choices and not value.startswith(self.starts or ("\0",)):
            raise self.refuse(value, where, suggest(value, self.choices))
        return value

    @property
    def allowed(self) -> str:
        """Say which."""
        said = f"one of {', '.join((*self.choices, *self.starts))}" if self.choices else self.what
        return said + (' or "none"' if self.or_none else "")


@dataclass(frozen=True)
class Texts(Check):
    """A list of texts, or one text for a list of one; where ``choices`` are given, each one of them."""

    choices: tuple[str, ...] = ()
    what: str = "a list of texts"
    least: int = 0

    def read(self, value: Any, where: str) -> Any:  # noqa: ANN401
        """Give the texts."""
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, list | tuple) or not all(isinstance(v, str) and v for v in given):
            raise self.refuse(value, where)
        for text in given:
            if self.choices and text not in self.choices:
                raise UsageError(f"{where} has {shown(text)}, expected {self.allowed}{suggest(text, self.choices)}")
        if len(set(given)) != len(given) or len(given) < self.least:
            raise UsageError(f"{where} is {shown(value)}, expected {self.allowed}, each once and at least {self.least}")
        return tuple(given)

    @property
    def allowed(self) -> str:
        """Say which."""
        return f"a list of {', '.join(self.choices)}" if self.choices else self.what


@dataclass(frozen=True)
class Table(Check):
    """A table whose values are for somebody else to check."""

    def read(self, value: Any, where: str) -> Any:  # noqa: ANN401
        """Give the table."""
        if not isinstance(value, Mapping):
            raise self.refuse(value, where)
        return dict(value)

    @property
    def allowed(self) -> str:
        """Say what."""
        return "a table"


def described(check: Check, about: str) -> dict[str, Any]:
    """Say of a field what its value may be, and what it means."""
    return {"check": check, "about": about}


def option(check: Check, default: Any = MISSING, *, about: str) -> Any:  # noqa: ANN401 - a field of any type
    """Declare a field of a part of the configuration, with a default that cannot be changed."""
    return field(default=default, metadata=described(check, about))


def options_of(kind: type[Any]) -> dict[str, Check]:
    """Give the options of a part, with what each may be."""
    return {f.name: f.metadata["check"] for f in fields(kind) if "check" in f.metadata}


def check_keys(table: Mapping[str, Any], allowed: Mapping[str, Any] | tuple[str, ...], where: str, source: str) -> None:
    """Refuse a key that means nothing, for a misspelt one would silently do nothing."""
    for key in table:
        if key not in allowed:
            near = suggest(key, allowed) or f"; allowed are {', '.join(allowed)}"
            raise UsageError(f"{source}: unknown key {shown(key)}{f' in {where}' if where else ''}{near}")


def read_part(kind: type[T], table: object, where: str, source: str, **more: Any) -> T:  # noqa: ANN401
    """Make a part of the configuration from its table; ``more`` gives fields that are no options."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{source}: {where} is {shown(table)}, expected a table")
    checks = options_of(kind)
    check_keys(table, checks, where, source)
    given: dict[str, Any] = {}
    known = fields(kind)  # type: ignore[arg-type]  # parts of the configuration are dataclasses
    optional = {f.name for f in known if f.default is None or getattr(checks.get(f.name), "or_all", False)}
    for key, value in table.items():
        if value is None and key in optional:  # TOML has no null, but tables that come out of a run have
            given[key] = None
            continue
        try:
            given[key] = checks[key].read(value, f"{where} {key}".strip())
        except UsageError as error:
            raise UsageError(f"{source}: {error}") from None
    return kind(**given, **more)
