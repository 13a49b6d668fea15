"""The JSON interface, declared: each question with its parameters and their limits, and the OpenAPI document of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import composita
from composita.store.errors import UsageError
from composita.store.strict_json import shown

if TYPE_CHECKING:
    from composita.explorer.view import View

Given = Mapping[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a question; a text may be ``most`` letters long, a number at most ``most``."""

    name: str
    about: str
    kind: Literal["text", "texts", "number"] = "text"
    default: str | int | None = None  # None: it must be given, or for texts: at least one
    most: int = 2000
    least: int = 0
    times: int = 40  # how often it may be given

    def read(self, values: Sequence[str]) -> str | int | list[str]:
        """Take the parameter out of what was given, or say what is wrong with it."""
        values = [value for value in values if value.strip()]
        if len(values) > (self.times if self.kind == "texts" else 1):
            raise UsageError(f"{self.name} was given {len(values)} times: expected at most {self.times}")
        for value in values:
            if len(value) > self.most and self.kind != "number":
                raise UsageError(f"{self.name} has {len(value):,} letters: expected at most {self.most:,}")
        if self.kind == "texts":
            if not values and self.default is None:
                raise UsageError(f"{self.name} is missing: {self.about}")
            return [" ".join(value.split()) for value in values]
        if not values:
            if self.default is None:
                raise UsageError(f"{self.name} is missing: {self.about}")
            return self.default
        return self._number(values[0]) if self.kind == "number" else " ".join(values[0].split())

    def _number(self, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and self.least <= int(text) <= self.most):
            raise UsageError(f"{self.name}: expected a number from {self.least} to {self.most}, got {shown(text)}")
        return int(text)

    def schema(self) -> dict[str, Any]:
        """Describe the parameter as OpenAPI does."""
        text = {"type": "string", "maxLength": self.most}
        one: dict[str, Any] = {
            "text": text,
            "texts": {"type": "array", "items": text, "maxItems": self.times},
            "number": {"type": "integer", "minimum": self.least, "maximum": self.most},
        }[self.kind]
        if self.default not in (None, ""):
            one = one | {"default": self.default}
        return {
            "name": self.name, "in": "query", "required": self.default is None, "description": self.about,
            "schema": one,
        }  # fmt: skip


@dataclass(frozen=True)
class Endpoint:
    """A question that can be asked at ``/api/<name>``."""

    name: str
    about: str
    answer: Callable[[View, Given], Answer]
    parameters: tuple[Parameter, ...] = ()
    gives: Mapping[str, str] = field(default_factory=dict)  # what the answer has under each of its keys

    def read(self, given: Mapping[str, Sequence[str]]) -> Given:
        """Read all parameters; unknown ones are refused, for they are probably misspelt."""
        known = {parameter.name for parameter in self.parameters} | {"token"}
        for name in given:
            if name not in known:
                raise UsageError(
                    f"unknown parameter {shown(name)}: choose {', '.join(sorted(known - {'token'})) or '-'}"
                )
        return {parameter.name: parameter.read(given.get(parameter.name, ())) for parameter in self.parameters}


_REFUSALS = {
    "400": "A parameter is wrong, or what was asked for cannot be composed.",
    "401": "The access token is missing; only where other machines may ask.",
    "413": "The answer would be too large.",
    "414": "The address is too long.",
    "421": "The Host header names another server.",
    "503": "It takes too long, or cannot be read now; with Retry-After something is being learned for it.",
}


def _refusal(about: str) -> dict[str, Any]:
    """Describe an answer that says in a sentence what was wrong."""
    schema = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _answer(endpoint: Endpoint) -> dict[str, Any]:
    """Describe what is given, key by key."""
    keys = {name: {"description": about} for name, about in endpoint.gives.items()}
    return {"type": "object", "required": list(keys), "properties": keys}


def openapi(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Describe the whole interface as an OpenAPI 3.1 document."""
    paths = {
        f"/api/{endpoint.name}": {
            "get": {
                "operationId": endpoint.name.replace("/", "_"),
                "summary": endpoint.about,
                "parameters": [parameter.schema() for parameter in endpoint.parameters],
                "responses": {
                    "200": {
                        "description": "The answer.",
                        "content": {"application/json": {"schema": _answer(endpoint)}},
                    },
                    **{status: _refusal(about) for status, about in _REFUSALS.items()},
                },
            }
        }
        for endpoint in endpoints
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "composita explorer",
            "version": composita.__version__,
            "description": "What a run learned: composed meanings, comparisons, words, maps and scores. Read only.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
    }
