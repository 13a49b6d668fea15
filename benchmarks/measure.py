"""Measuring: the best of several runs, side by side, and peak memory in a process of its own."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
REPEAT = 5


@dataclass(frozen=True)
class Row:
    """One comparison: how many times better ours is than the alternative; above 1 is better."""

    what: str
    ours: float
    unit: str
    alternative: str
    theirs: float
    ratio: float
    goal: str = ""


def best(
    *runs: Callable[[], object], repeat: int = REPEAT, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Return the shortest time of each run; they take turns, so that a busy moment of the machine meets them all."""
    times = [float("inf")] * len(runs)
    for _ in range(repeat):
        for place, run in enumerate(runs):
            begin = clock()
            run()
            times[place] = min(times[place], clock() - begin)
    return times


def faster(what: str, count: float, unit: str, ours: float, alternative: str, theirs: float, goal: str = "") -> Row:
    """Compare two times in which ``count`` things of a unit were done."""
    return Row(what, count / ours, f"{unit}/s", alternative, count / theirs, theirs / ours, goal)


def peak_memory(code: str, *arguments: str) -> int:
    """Run Python code in a process of its own and return its peak resident memory in bytes."""
    program = f"{code}\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    run = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return int(run.stdout.split()[-1])


def human(number: float) -> str:
    """Write a number in three digits.

    >>> human(4_321_000), human(0.123), human(98.76)
    ('4.32M', '0.123', '98.8')
    """
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "K")):
        if number >= size:
            return f"{number / (1e3 if suffix == 'K' else size):.3g}{suffix}"
    return f"{number:.3g}"


def report(name: str, rows: Sequence[Row]) -> None:
    """Print the rows as a table and keep them as JSON."""
    print(f"\n{name}")
    heads = ("what", "ours", "", "alternative", "theirs", "ratio", "goal")
    cells = [(r.what, human(r.ours), r.unit, r.alternative, human(r.theirs), f"{r.ratio:.2f}", r.goal) for r in rows]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for line in (heads, *cells):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    RESULTS.mkdir(exist_ok=True)
    about = {"machine": platform.machine(), "python": platform.python_version(), "rows": [asdict(row) for row in rows]}
    (RESULTS / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n")
