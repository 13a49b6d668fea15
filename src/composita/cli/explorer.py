"""The command that shows a run in the browser: ``explore``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from composita.explorer.serve import Place


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command(epilog="Example: composita explore run --port 8765 --open")(explore)


def explore(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run, a lexicon or a space.")],
    port: Annotated[int, typer.Option(metavar="N", help="The port to listen at; 0 for one that is free.")] = 8765,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="The address to listen at; others than this machine's need a token, which is shown."
        ),
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Look at what was learned, in the browser, until Ctrl-C."""
    from composita.explorer.serve import serve

    def announce(place: Place, unreadable: str) -> None:
        if unreadable:
            typer.echo(f"{unreadable}. The page says so, and shows the run as soon as it can be read.", err=True)
        typer.echo(f"{run} is shown at {place.address} until Ctrl-C")
        if place.token:
            typer.echo("Whoever has this address can look; it is not encrypted on its way.", err=True)
        if browser:
            import webbrowser

            webbrowser.open(place.address)

    serve(run, host=host, port=port, announce=announce)
