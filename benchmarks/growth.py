"""Encoding 1M, 10M and 100M tokens of synthetic text: time per token and peak memory, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Row
from composita.corpus.synthetic import write_synthetic

SIZES = tuple(int(size) * 10**6 for size in os.environ.get("GROWTH_SIZES", "1 10 100").split())

PROGRAM = """
import resource, sys, time
from composita.corpus.encoding import encode
encode([sys.argv[3]], sys.argv[2] + "-first")
begin = time.process_time()
tokens = encode([sys.argv[1]], sys.argv[2]).tokens
seconds = time.process_time() - begin
print(tokens, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def run() -> list[Row]:
    """Measure each size against the smallest."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        text, small = Path(name, "text.conllu"), Path(name, "small.conllu")
        write_synthetic(small, 10_000)  # encoded first in each process, so that start-up is left out
        first = (0.0, 0.0)
        for size in SIZES:
            write_synthetic(text, size)
            out = Path(name, f"corpus-{size}")
            command = [sys.executable, "-c", PROGRAM, str(text), str(out), str(small)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            tokens, seconds, peak = map(float, done.stdout.split())
            if not rows:
                first = seconds / tokens, peak
            what = f"encode {size // 10**6}M tokens"
            least = f"{min(SIZES) // 10**6}M tokens"
            rows.append(
                Row(f"{what}, CPU", tokens / seconds, "tokens/s", least, 1 / first[0], first[0] * tokens / seconds)
            )
            rows.append(Row(f"{what}, peak memory", peak / 1e6, "MB", least, first[1] / 1e6, first[1] / peak))
    return rows
