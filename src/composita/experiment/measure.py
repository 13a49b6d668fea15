"""How long a stage takes, and how much memory at its peak.

On Linux the kernel keeps the largest resident size and can be asked to forget it, so that each stage has a peak of
its own. Elsewhere only the largest of the whole process is known, which later stages inherit.

>>> with Meter() as meter:
...     _ = bytearray(10**6)
>>> meter.seconds >= 0, meter.peak_bytes > 10**6
(True, True)
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

_PROCESS = Path("/proc/self")


class Meter:
    """Measures the block that it stands around."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.peak_bytes = 0
        self._start = 0.0

    def __enter__(self) -> Meter:
        with suppress(OSError):
            (_PROCESS / "clear_refs").write_text("5")  # forget the peak so far
        self._start = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.perf_counter() - self._start
        self.peak_bytes = peak_bytes()


def peak_bytes() -> int:
    """Give the largest resident size of this process since it began, or since its peak was last forgotten."""
    with suppress(OSError, IndexError, ValueError):
        for line in (_PROCESS / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return 0
    largest = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return largest if sys.platform == "darwin" else largest * 1024
