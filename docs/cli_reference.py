"""Write the command reference: the ``--help`` of every command, between two marks in ``docs/cli.md``.

    python docs/cli_reference.py           write it anew
    python docs/cli_reference.py --check   only say whether it is fresh, by the exit code

The commands are those that are registered with the command line, in the order of the alphabet.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("cli.md")
BEGIN = "<!-- begin of what docs/cli_reference.py writes -->\n"
END = "<!-- end of what docs/cli_reference.py writes -->\n"
COLUMNS = "80"


def commands() -> dict[str, Any]:
    """Find every command by its full name, such as ``encode`` or ``data list``, in the order of the alphabet."""
    from typer.main import get_command

    from composita.cli.main import app

    return dict(sorted(_below(get_command(app), "")))


def _below(group: Any, name: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - typer's own types are private
    for part, command in group.commands.items():
        full = f"{name} {part}".strip()
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from _below(command, full)
        else:
            yield full, command


def help_text(name: str) -> str:
    """Return what ``composita NAME --help`` prints on a terminal of fixed width."""
    from composita.cli.main import main

    text = StringIO()
    with _columns(), redirect_stdout(text):
        main([*name.split(), "--help"])
    return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())


@contextmanager
def _columns() -> Iterator[None]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def reference() -> str:
    """Write the part of the page between the marks."""
    parts = [f"```text\n{help_text('')}\n```\n"]
    parts += [f"## composita {name}\n\n```text\n{help_text(name)}\n```\n" for name in commands()]
    return "\n" + "\n".join(parts) + "\n"


def renewed(page: str) -> str:
    """Return the page with the part between the marks as it should be."""
    head, rest = page.split(BEGIN)
    _, tail = rest.split(END)
    return head + BEGIN + reference() + END + tail


def main(arguments: list[str]) -> int:
    """Renew the page, or check it."""
    page = PAGE.read_text(encoding="utf-8")
    fresh = renewed(page)
    if "--check" in arguments:
        return int(page != fresh)
    if page != fresh:
        PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
