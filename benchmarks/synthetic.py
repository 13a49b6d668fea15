"""How fast synthetic text is made, beside a plain Python loop that makes as many bytes of the same kind."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.measure import Row, best, faster
from composita.corpus.synthetic import FORMATS, synthetic_blocks

TOKENS = 2_000_000
SHARE = 20  # the plain loop makes one part in so many


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


def run() -> list[Row]:
    """Measure each format."""
    rows = []
    size = sum(map(len, synthetic_blocks(TOKENS)))
    (plain,) = best(lambda: sum(map(len, plain_blocks(size // SHARE, 0))), repeat=3)
    for form in FORMATS:
        made = sum(map(len, synthetic_blocks(TOKENS, 0, form)))
        (ours,) = best(lambda f=form: sum(map(len, synthetic_blocks(TOKENS, 0, f))), repeat=3)  # type: ignore[misc]
        rows.append(
            faster(f"synthetic text, {form}", made, "bytes", ours, "plain Python loop", plain * SHARE * made / size)
        )
    return rows
