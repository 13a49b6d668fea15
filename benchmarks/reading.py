"""Reading CoNLL-U into columns in memory, against the package ``conllu`` and polars' CSV reader on one thread.

Times are of the processor, not of the clock on the wall, so that other programs on the machine count less.
"""

from __future__ import annotations

import io
import os
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Row, best, faster
from benchmarks.texts import plain_text


def run() -> list[Row]:
    """Measure on one file of about a million tokens."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    import conllu
    import polars as pl

    from composita.corpus.columns import STRING_COLUMNS
    from composita.corpus.reading import read_tokens

    with tempfile.TemporaryDirectory() as folder:
        path, what = plain_text(Path(folder))
        text = path.read_text(encoding="utf-8")
        tokens = len(read_tokens(path))
        names = ["id", *STRING_COLUMNS[:4], "feats", "head", "relation", "deps", "misc"]
        options = {"separator": "\t", "has_header": False, "quote_char": None, "comment_prefix": "#"}
        plain = dict.fromkeys(names, pl.String)
        coded = {name: pl.Categorical if name in STRING_COLUMNS else pl.String for name in names}

        ours, strings, categories = best(
            lambda: read_tokens(path),
            lambda: pl.read_csv(path, schema=plain, **options),  # type: ignore[arg-type]
            lambda: pl.read_csv(path, schema=coded, **options),  # type: ignore[arg-type]
            repeat=9,
            clock=time.process_time,
        )
        lists, stream = best(
            lambda: conllu.parse(text),
            lambda: sum(1 for _ in conllu.parse_incr(io.StringIO(text))),
            repeat=1,
            clock=time.process_time,
        )
    title = f"CoNLL-U to columns, {what}"
    return [
        faster(title, tokens, "tokens", ours, "conllu.parse (in memory)", lists, ">= 80"),
        faster(title, tokens, "tokens", ours, "conllu.parse_incr (one by one)", stream),
        faster(title, tokens, "tokens", ours, "polars, strings, 1 thread", strings, "> 1"),
        faster(title, tokens, "tokens", ours, "polars, categories, 1 thread", categories),
    ]
