"""JSON as we write it, and JSON from strangers: a writer with one result, a reader that believes nothing."""

from __future__ import annotations

import json
import reprlib
from typing import Any

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def shown(value: object) -> str:
    """Show a value from outside in an error message: escaped, on one line and never long.

    >>> print(shown(["two", "lines"]), len(shown("long" * 1000)))
    ['two', 'lines'] 60
    """
    return _short.repr(value)


def dump_json(value: object) -> bytes:
    """Write a value as JSON of one possible form: sorted keys, one item a line, UTF-8, a final newline.

    >>> print(dump_json({"b": 1, "a": "é"}).decode(), end="")
    {
     "a": "é", "b": 1
    }
    """
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def parse_json(data: bytes) -> Any:  # noqa: ANN401 - JSON is any of its types
    """Read JSON strictly, with `ValueError` for whatever is wrong with it.

    Python's own reader takes NaN, the last of several equal keys, and halves of surrogate pairs, which no
    program can write back.

    >>> parse_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
        ...
    ValueError: the key 'a' occurs twice
    """
    text = data.decode("utf-8")
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_double)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _no_double(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {shown(key)} occurs twice")
        found[key] = value
    return found
