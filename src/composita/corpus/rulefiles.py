"""TOML tables of rules: the built-in ones that ship with the package, and the user's own, read with care.

>>> sorted(built_in("tagsets"))
['claws', 'penn', 'treetagger', 'upos']
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from composita.store.errors import UsageError

MISSING = "_"
"""What a treebank writes where a column says nothing."""


def built_in(kind: str) -> list[str]:
    """Give the names of the tables that ship with the package."""
    return [
        p.name.removesuffix(".toml") for p in files(__package__).joinpath(kind).iterdir() if p.name.endswith(".toml")
    ]


def read_table(name_or_path: str | Path, kind: str, option: str) -> tuple[dict[str, Any], str]:
    """Read a table by its built-in name or from a file; also says what to call it in messages."""
    names = sorted(built_in(kind))
    if str(name_or_path) in names:
        source = f"{name_or_path}.toml"
        text = files(__package__).joinpath(kind, source).read_text(encoding="utf-8")
    else:
        source = str(name_or_path)
        try:
            text = Path(name_or_path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{option} {name_or_path}: expected one of {', '.join(names)} "
                f"or a TOML file that can be read, got: {error}"
            ) from None
    try:
        return tomllib.loads(text), source
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source}: not a TOML file: {error}") from None


def check_keys(table: Mapping[str, Any], allowed: Collection[str], source: str, section: str = "") -> None:
    """Refuse a key that means nothing here, for a misspelt rule would silently do nothing."""
    for key in table:
        if key not in allowed:
            raise UsageError(f"{source}: unknown key '{section}{key}'; allowed are {', '.join(allowed)}")


def strings(table: Mapping[str, Any], key: str, source: str, section: str = "") -> tuple[str, ...]:
    """Give the list of strings under a key, empty where the key is absent."""
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
        raise UsageError(f"{source}: '{section}{key}' is {value!r}, expected a list of non-empty strings")
    return tuple(value)


def string(table: Mapping[str, Any], key: str, source: str, allowed: Collection[str] = (), default: str = "") -> str:
    """Give the string under a key, one of those allowed if there are any."""
    value = table.get(key, default)
    if not isinstance(value, str) or not value or (allowed and value not in allowed):
        expected = f"one of {', '.join(allowed)}" if allowed else "a non-empty string"
        raise UsageError(f"{source}: '{key}' is {value!r}, expected {expected}")
    return value


def section(table: Mapping[str, Any], key: str, source: str) -> dict[str, Any]:
    """Give the table under a key, empty where the key is absent."""
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise UsageError(f"{source}: '{key}' is {value!r}, expected a table: [{key}]")
    return value


def best_covered(
    coverage: Mapping[str, tuple[int, int]],
    unknown: Mapping[str, Mapping[str, int]],
    what: str,
    option: str,
    usual: str | None = None,
) -> str:
    """Give the name that covers most; the first of those that agree to a per cent; an error under 90%.

    ``coverage`` is (known, all) occurrences for each name, in the order in which ties are resolved. Where a ``usual``
    one is named, it wins ties, and stands in place of the error.
    """
    percent = {name: 100 * known // total if total else 0 for name, (known, total) in coverage.items()}
    best = max(percent, key=lambda name: (percent[name], name == usual))  # max gives the first of equals
    if percent[best] < 90:
        if usual is not None:
            return usual
        strange = sorted(unknown[best].items(), key=lambda item: (-item[1], item[0]))[:10]
        shown = ", ".join(f"{value!r} ({count})" for value, count in strange) or "none at all"
        raise UsageError(
            f"cannot tell which {what} this is: the nearest, {best}, knows {percent[best]}% of the "
            f"occurrences, expected at least 90%; unknown: {shown}; "
            f"pass {option} with one of {', '.join(coverage)} or a TOML file"
        )
    return best
