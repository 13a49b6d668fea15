"""The text that benchmarks read: the parsed Wikipedia beside the checkout, or synthetic text where it is absent."""

from __future__ import annotations

import os
from pathlib import Path

from composita.corpus.sources import find_sources, open_text
from composita.corpus.synthetic import write_synthetic

DATA = Path(os.environ.get("COMPOSITA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
WIKIPEDIA = DATA / "corpora" / "enwiki-0000.conllu.zst"


def plain_text(folder: Path) -> tuple[Path, str]:
    """Write about a million tokens of CoNLL-U into the folder; return the file and what it is."""
    path = folder / "text.conllu"
    if not WIKIPEDIA.exists():
        write_synthetic(path, 1_000_000)
        return path, "synthetic text"
    (source,) = find_sources([WIKIPEDIA])
    with open_text(source) as stream, path.open("wb") as file:
        while block := stream.read():
            file.write(block)
    return path, "Wikipedia"
