"""Types: ``N``, ``S``, ``N -> S``; a type fixes the space in which the tensors of a word lie.

>>> transitive = parse_type("N -> N -> S")
>>> print(transitive, space_of(transitive), shape_of(transitive, {"N": 300, "S": 100}))
N -> N -> S S⊗N⊗N (100, 300, 300)

The first argument that a word is applied to is the last axis, so that applying is contracting the last axis:

>>> print(space_of(parse_type("N -> S")), parse_type("(N -> S) -> N -> S"), space_of(parse_type("(N -> S) -> N -> S")))
S⊗N (N -> S) -> N -> S S⊗N⊗S⊗N
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from composita.grammar.signs import Reader, read_signs
from composita.store.errors import UsageError

DEEPEST = 50


@dataclass(frozen=True, order=True)
class Basic:
    """A basic type, such as ``N``: what is of it are the vectors of one space."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Arrow:
    """The type of functions."""

    argument: Type
    result: Type

    def __str__(self) -> str:
        left = f"({self.argument})" if isinstance(self.argument, Arrow) else str(self.argument)
        return f"{left} -> {self.result}"


@dataclass(frozen=True)
class Open:
    """A type that is not known (yet)."""

    number: int

    def __str__(self) -> str:
        letter, round_ = "abcdefghijklmnopqrstuvwxyz"[self.number % 26], self.number // 26
        return f"{letter}{round_}" if round_ else letter


Type: TypeAlias = Basic | Arrow | Open

WORD = Basic("word")
"""The type of function words, which are no vectors: *the*, *that*, *in*."""


def arrow(*types: Type) -> Type:
    """Make a function type of its arguments and its result.

    >>> print(arrow(Basic("N"), Basic("N"), Basic("S")))
    N -> N -> S
    """
    *arguments, result = types
    for argument in reversed(arguments):
        result = Arrow(argument, result)
    return result


def arguments_of(kind: Type) -> tuple[Type, ...]:
    """Give the types of all arguments, in the order of application."""
    found = []
    while isinstance(kind, Arrow):
        found.append(kind.argument)
        kind = kind.result
    return tuple(found)


def result_of(kind: Type) -> Type:
    """Give what is left when a function has all its arguments."""
    while isinstance(kind, Arrow):
        kind = kind.result
    return kind


def arity(kind: Type) -> int:
    """How many arguments a function takes; 0 for a vector."""
    return len(arguments_of(kind))


def axes_of(kind: Type) -> tuple[str, ...]:
    """Give the basic type of each axis of the tensors of a type.

    >>> axes_of(parse_type("N -> N -> S"))
    ('S', 'N', 'N')
    """
    if isinstance(kind, Arrow):
        return axes_of(kind.result) + axes_of(kind.argument)
    return (str(kind),)


def space_of(kind: Type) -> str:
    """Write the space in which the tensors of a type lie: ``S⊗N⊗N``."""
    return "⊗".join(axes_of(kind))


def shape_of(kind: Type, dimensions: Mapping[str, int]) -> tuple[int, ...]:
    """Give the shape of the tensors of a type, when the dimension of each basic type is known."""
    for name in axes_of(kind):
        if name not in dimensions:
            raise UsageError(f"no dimension is given for the basic type {name} of {kind}: expected e.g. {name}=300")
    return tuple(dimensions[name] for name in axes_of(kind))


def open_in(kind: Type) -> Iterator[Open]:
    """Go through the open types inside a type."""
    if isinstance(kind, Open):
        yield kind
    elif isinstance(kind, Arrow):
        yield from open_in(kind.argument)
        yield from open_in(kind.result)


def parse_type(text: str) -> Type:
    """Read a type such as ``(N -> S) -> N -> S``."""
    reader = Reader(read_signs(text, 1), f"type {text!r}")
    kind = read_type(reader)
    reader.expect_end()
    return kind


def read_type(reader: Reader, depth: int = 0) -> Type:
    """Read a type from signs."""
    if depth > DEEPEST:
        raise reader.error(f"expected a type of at most {DEEPEST} levels", reader.next)
    if reader.takes("("):
        left = read_type(reader, depth + 1)
        reader.expect("a closing parenthesis", text=")")
    else:
        left = Basic(reader.expect("a type such as N", kind="name").text)
    if reader.next.kind == "arrow":
        reader.take()
        return Arrow(left, read_type(reader, depth + 1))
    return left
