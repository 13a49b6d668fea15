"""Encoding into shards on disk: speed by compression and workers, memory by size, disk beside the gzipped source."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from benchmarks.measure import Row, best, faster, peak_memory
from benchmarks.texts import plain_text

COPIES = 4  # the text is joined from so many differing parts, to have work for two

MEMORY = """
import sys
from composita.corpus.encoding import encode
encode([sys.argv[1]], sys.argv[2])
"""


def run() -> list[Row]:
    """Measure on about four million tokens, the time after start-up and compilation."""
    from composita.corpus.encoding import Options, encode
    from composita.corpus.sources import find_sources, open_text
    from composita.store.engine import Engine

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, what = plain_text(folder)
        text = small.read_bytes()
        path = folder / "large.conllu"
        path.write_bytes(b"".join(text.replace(b"\tand\tand\t", b"\tand%d\tand\t" % i) for i in range(COPIES)))
        packed = {".gz": folder / "large.conllu.gz", ".zst": folder / "large.conllu.zst"}
        packed[".gz"].write_bytes(gzip.compress(path.read_bytes(), 6))
        packed[".zst"].write_bytes(pa.compress(path.read_bytes(), codec="zstd", asbytes=True))

        def encoded(source: Path, workers: int = 1) -> int:
            out = folder / "corpus"
            shutil.rmtree(out, ignore_errors=True)
            return encode([source], out, Options(), engine=Engine(workers)).tokens

        def decompressed(source: Path) -> None:
            (found,) = find_sources([source])
            with open_text(found) as stream:
                while stream.read():
                    pass

        tokens = encoded(path)
        rows = []
        cpu_one, cpu_two = best(lambda: encoded(path), lambda: encoded(path, 2), clock=time.process_time)
        one, two = best(lambda: encoded(path), lambda: encoded(path, 2))
        rows.append(
            Row(f"encode, plain, 1 worker, {what}", tokens / one, "tokens/s", "goal", 3e6, tokens / one / 3e6, ">= 1")
        )
        for suffix, source in packed.items():
            whole, bare = best(lambda s=source: encoded(s), lambda s=source: decompressed(s), repeat=3)  # type: ignore[misc]
            rows.append(
                faster(f"encode, {suffix}", tokens, "tokens", whole, "decompress + encode plain", bare + one, ">= 0.67")
            )
        rows.append(
            Row(
                "CPU of 1 worker / CPU of 2",
                tokens / cpu_two,
                "tokens/s",
                "1 worker",
                tokens / cpu_one,
                cpu_one / cpu_two,
                ">= 0.87",
            )
        )
        rows.append(faster("encode, 2 workers", tokens, "tokens", two, "1 worker", one))
        encoded(small)
        size = sum(file.stat().st_size for file in (folder / "corpus").glob("*.parquet"))
        gz = len(gzip.compress(text, 6))
        rows.append(
            Row(
                "bytes a token on disk",
                size / tokens * COPIES,
                "B",
                "source, gzip -6",
                gz / tokens * COPIES,
                gz / size,
                "> 1",
            )
        )
        peaks = []
        for source in (small, path):
            shutil.rmtree(folder / "corpus", ignore_errors=True)
            peaks.append(peak_memory(MEMORY, str(source), str(folder / "corpus")))
        rows.append(Row("peak memory, 4M tokens", peaks[1] / 1e6, "MB", "goal", 1000.0, 1e9 / peaks[1], ">= 1"))
        rows.append(
            Row("peak memory, 4M tokens", peaks[1] / 1e6, "MB", "1M tokens", peaks[0] / 1e6, peaks[0] / peaks[1])
        )
    return rows
