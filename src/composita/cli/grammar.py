"""Commands about grammars: ``types``."""

from __future__ import annotations

from typing import Annotated

import typer

from composita.cli.output import JsonOption, parse_count, print_json
from composita.store.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(epilog="Example: composita types english --dimensions N=300,S=100")(types)


def types(
    grammar: Annotated[
        str, typer.Argument(metavar="GRAMMAR", help="paper, english, german, or the file of a grammar.")
    ],
    dimensions: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="The dimensions of the basic types: N=300,S=100, or 300 for all of them."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show the type of each category of a grammar, and the space and shape of its tensors."""
    from composita.grammar.grammar import Grammar

    found = Grammar.load(grammar)
    table = found.types(None if dimensions is None else parse_dimensions(dimensions, found.basic))
    if json:
        entries = [
            {
                "category": entry.category,
                "type": str(entry.type),
                "space": entry.space,
                "shape": None if entry.shape is None else list(entry.shape),
                "lexical": entry.lexical,
                "words": entry.words,
            }
            for entry in table.entries
        ]
        print_json({"grammar": found.name, "basic": list(found.basic), "categories": entries})
        return
    print(table)  # noqa: T201


def parse_dimensions(text: str, basic: tuple[str, ...]) -> dict[str, int]:
    """Read the dimensions of basic types.

    >>> parse_dimensions("N=300, S=100", ("S", "N")), parse_dimensions("300", ("S", "N"))
    ({'N': 300, 'S': 100}, {'S': 300, 'N': 300})
    """
    if "=" not in text:
        return dict.fromkeys(basic, _dimension(text, text))
    found: dict[str, int] = {}
    for part in text.split(","):
        name, sign, number = (piece.strip() for piece in part.partition("="))
        if not sign or not name or name in found:
            raise UsageError(f"expected the dimension of each basic type once, as in N=300,S=100, got {text!r}")
        found[name] = _dimension(number, text)
    if missing := [name for name in basic if name not in found]:
        raise UsageError(f"no dimension is given for the basic type {missing[0]}, as in {text},{missing[0]}=300")
    return found


def _dimension(number: str, text: str) -> int:
    size = parse_count(number) if number else 0
    if size < 1:
        raise UsageError(f"expected dimensions from 1, as in N=300,S=100, got {text!r}")
    return size
