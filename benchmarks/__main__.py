"""Run all benchmarks, or those named: ``python -m benchmarks [NAME...]``."""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks.measure import report

NAMES = ("reading", "encoding", "synthetic", "growth", "counting", "spaces", "functions", "composition", "explorer")


def main() -> None:
    """Print a table for each benchmark."""
    chosen = sys.argv[1:] or NAMES
    for name in chosen:
        if name not in NAMES:
            sys.exit(f"no benchmark is called {name!r}: choose from {', '.join(NAMES)}")
        report(name, import_module(f"benchmarks.{name}").run())


if __name__ == "__main__":
    main()
