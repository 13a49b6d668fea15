"""The command ``composita``: its parts, and what becomes of errors.

Results go to stdout, everything else to stderr. A wrong command ends with exit code 2, a failure with 1, an
interruption with 130; each with one line that says what was expected, what came and what to do.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Annotated, Any

import typer

import composita
from composita.cli import (
    composition,
    corpus,
    counting,
    evaluation,
    experiment,
    explorer,
    functions,
    grammar,
    inspect,
    spaces,
    testsets,
)
from composita.cli.output import print_error
from composita.store.errors import CompositaError

INTERRUPTED = 130
"""The exit code that typer returns for Ctrl-C."""

app = typer.Typer(
    name="composita",
    help="Compositional distributional semantics: from a parsed corpus to the meaning of sentences.",
    epilog="Documentation: the folder docs/ of the source.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
corpus.register(app)
counting.register(app)
composition.register(app)
evaluation.register(app)
testsets.register(app)
experiment.register(app)
explorer.register(app)
functions.register(app)
grammar.register(app)
inspect.register(app)
spaces.register(app)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"composita {composita.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    try:
        code: Any = app(args=arguments or sys.argv[1:] or ["--help"], prog_name="composita", standalone_mode=False)
    except CompositaError as error:
        print_error(str(error))
        return error.exit_code
    except typer.TyperException as error:
        print_error(f"{_one_line(error.format_message())}; see --help")
        return error.exit_code
    except BrokenPipeError:
        # Whoever read our output has seen enough; say nothing when Python flushes the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        print_error("out of memory: use fewer --workers, or a machine with more")
        return 1
    except Exception as error:
        if os.environ.get("COMPOSITA_DEBUG"):
            raise
        print_error(
            f"internal error, {type(error).__name__}: {_one_line(str(error))}; this is a fault of composita: "
            "please report it with the traceback that COMPOSITA_DEBUG=1 shows"
        )
        return 1
    if code == INTERRUPTED:
        print_error("stopped; run the same command again to go on where it was")
    return code if isinstance(code, int) else 0


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def run() -> None:
    """Run the command line and exit."""
    sys.exit(main())
