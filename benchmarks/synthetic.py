"""How fast synthetic text is made, beside a plain Python loop that makes as many bytes of the same kind.

python benchmarks/synthetic.py [--tokens 5000000] [--seed 0]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator

from composita.corpus.synthetic import FORMATS, synthetic_blocks


def plain_blocks(size: int, seed: int) -> Iterator[bytes]:
    """Make at least ``size`` bytes of CoNLL-U token by token, without structure, spelling or grammar."""
    draw = random.Random(seed)
    words = [f"w{i}" for i in range(60_000)]
    made = 0
    while made < size:
        lines = []
        for i in range(1, 21):
            lemma = words[int(60_000 ** draw.random()) - 1]
            lines.append(f"{i}\t{lemma}s\t{lemma}\tNOUN\tNNS\t_\t{i - 1}\tnmod\t_\t_\n")
        block = ("".join(lines) + "\n").encode()
        made += len(block)
        yield block


def measure(make: Callable[[], Iterator[bytes]]) -> tuple[float, int, int]:
    """Seconds, bytes and lines of text."""
    size = lines = 0
    begin = time.perf_counter()
    for block in make():
        size += len(block)
        lines += block.count(b"\n")
    return time.perf_counter() - begin, size, lines


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tokens", type=int, default=5_000_000)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    for name in FORMATS:  # compile, and draw the sentences
        list(synthetic_blocks(1000, chosen.seed, name))
    print(f"{'format':10} {'M tokens/s':>10} {'MB/s':>8} {'bytes/line':>10} {'times plain Python':>19}")
    share = chosen.tokens // 10
    seconds, plain, lines = measure(lambda: plain_blocks(share * 40, chosen.seed))
    slow = plain / seconds
    print(f"{'(plain)':10} {lines / seconds / 1e6:10.2f} {slow / 1e6:8.1f} {plain / lines:10.1f} {1:19.1f}")
    for name in FORMATS:
        seconds, size, lines = measure(lambda name=name: synthetic_blocks(chosen.tokens, chosen.seed, name))  # type: ignore[misc]
        rate = size / seconds
        speed = chosen.tokens / seconds / 1e6
        print(f"{name:10} {speed:10.2f} {rate / 1e6:8.1f} {size / lines:10.1f} {rate / slow:19.1f}")


if __name__ == "__main__":
    main()
