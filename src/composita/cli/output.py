"""What the command line shows: tables and JSON on stdout, progress and errors on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from composita.store.errors import UsageError
from composita.store.progress import Progress, ProgressCallback, silent

if TYPE_CHECKING:
    from rich.console import Console

    from composita.store.engine import Engine

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no remarks.")]

WorkersOption = Annotated[
    int, typer.Option(metavar="N", help="How many at once; by default one on each core.", min=0, show_default=False)
]
ClusterOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Work on the Dask cluster whose scheduler has this address or file."),
]

_SUFFIXES = {"K": 10**3, "M": 10**6, "G": 10**9}


def worker_count(asked: int) -> int:
    """Return how many workers to use: as many as asked for, or for 0 one on each core."""
    from composita.store.engine import available_cores

    return asked or available_cores()


@contextmanager
def working(workers: int, cluster: str | None, *paths: str | Path) -> Iterator[tuple[Engine, list[Path]]]:
    """Give the engine that was asked for, and paths as it needs them: absolute where other machines are to find them.

    The first path is what is to be written.
    """
    from composita.store.engine import Engine

    if cluster is None:
        yield Engine(worker_count(workers)), [Path(path) for path in paths]
        return
    from composita.store import cluster as clusters

    absolute = [path if str(path) == "-" else path.absolute() for path in map(Path, paths)]
    with clusters.cluster(cluster, [absolute[0].parent]) as engine:
        yield engine, absolute


def parse_count(text: str) -> int:
    """Read a number such as ``500``, ``10K``, ``2.5M`` or ``1G``.

    >>> parse_count("10M"), parse_count("2.5k"), parse_count("1_000")
    (10000000, 2500, 1000)
    """
    plain = text.strip().replace("_", "").replace(",", "")
    factor = _SUFFIXES.get(plain[-1:].upper(), 1)
    try:
        number = float(plain[:-1] if factor > 1 else plain) * factor
        if number < 0 or number != int(number):
            raise ValueError
    except (ValueError, OverflowError):
        raise UsageError(f"expected a whole number such as 500, 10K or 2.5M, got {text!r}") from None
    return int(number)


def console() -> Console:
    """Return the console for results; lines are not folded when they go to a file or a pipe."""
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=10_000, soft_wrap=True)


def print_error(message: str) -> None:
    """Print one line to stderr, whatever the message holds."""
    line = " ".join(message.split())
    printable = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    stream = sys.stderr
    encoding = stream.encoding or "utf-8"
    print(f"composita: {printable}".encode(encoding, "replace").decode(encoding), file=stream)


def print_json(data: Any) -> None:  # noqa: ANN401 - anything JSON can say
    """Print data, or a dataclass, as JSON; what is not a number is null."""
    if is_dataclass(data) and not isinstance(data, type):
        data = asdict(data)
    print(json.dumps(_plain(data), ensure_ascii=False, indent=1, allow_nan=False))  # noqa: T201


def _plain(data: Any) -> Any:  # noqa: ANN401
    """Put None for NaN and what is infinite, all the way down, for JSON has neither."""
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def print_facts(facts: Mapping[str, str]) -> None:
    """Print names and values in two columns."""
    from rich.text import Text

    width = max(map(len, facts), default=0) + 2
    screen = console()
    for name, value in facts.items():
        lines = value.split("\n")
        for place, line in enumerate(lines):
            screen.print(Text(("" if place else name).ljust(width), style="bold") + Text(line, style="not bold"))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table; columns after the first are aligned to the right."""
    from rich.text import Text

    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = (
            c.rjust(w) if place else c.ljust(w) for place, (c, w) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join([first, *others]).rstrip()

    screen = console()
    screen.print(Text(f"\n{title}" if title else "", style="italic"))
    screen.print(Text(line(heads), style="bold"))
    for row in rows:
        screen.print(Text(line(row)))


def human_bytes(count: float) -> str:
    """Write a number of bytes for people.

    >>> human_bytes(999), human_bytes(23_686_692)
    ('999 B', '23.7 MB')
    """
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def human_count(count: float, unit: str) -> str:
    """Write a quantity of some unit for people.

    >>> human_count(1_234_567, "tokens"), human_count(1_234_567, "bytes")
    ('1.2M tokens', '1.2 MB')
    """
    if unit == "bytes":
        return human_bytes(count)
    for size, suffix in ((10**9, "G"), (10**6, "M"), (10**4, "K")):
        if count >= size:
            return f"{count / (10**3 if suffix == 'K' else size):.1f}{suffix} {unit}"
    return f"{count:,.0f} {unit}"


@contextmanager
def show_progress(quiet: bool) -> Iterator[ProgressCallback]:
    """Show a bar on a terminal, and nothing otherwise."""
    import logging

    before = logging.getLogger("composita").level
    if quiet:
        logging.getLogger("composita").setLevel(logging.WARNING)
    try:
        if quiet or not sys.stderr.isatty():
            yield silent
            return
        with _bar() as update:
            yield update
    finally:
        logging.getLogger("composita").setLevel(before)


@contextmanager
def _bar() -> Iterator[ProgressCallback]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[amount]}"), TimeRemainingColumn(),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        stages: dict[str, TaskID] = {}

        def update(step: Progress) -> None:
            if step.stage not in stages:
                stages[step.stage] = bar.add_task(step.stage, total=step.total, amount="")
            task = bar.tasks[stages[step.stage]]
            rate = f", {human_count(task.speed, step.unit)}/s" if task.speed else ""
            amount = human_count(step.done, step.unit) + rate
            bar.update(stages[step.stage], completed=step.done, total=step.total, amount=amount)

        yield update
