"""Raw text: opened like every other source, parsed, and kept until it is encoded."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import cast

from composita.corpus.parsing import Parsed, check_parser, parse_text
from composita.corpus.parsing.chunks import OnError
from composita.corpus.sources import STDIN, Source, find_sources, open_text
from composita.store.engine import Engine
from composita.store.errors import UsageError
from composita.store.folder import fingerprint
from composita.store.progress import Cancellation, ProgressCallback, silent
from composita.store.strict_json import dump_json, parse_json

PARSING = "parsing"
"""The folder, within that of a corpus, where parsed text waits to be encoded."""


def parse_sources(
    sources: Iterable[str | Path],
    out: Path,
    *,
    model: str,
    parser: str = "udpipe",
    on_error: str = "stop",
    engine: Engine | None = None,
    workers: int = 1,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Parsed:
    """Parse raw text, plain or compressed, files or standard input, into one file of CoNLL-U."""
    return _parse(find_sources(sources), out, model, parser, on_error, engine or Engine(workers), progress, cancel)


def _parse(
    sources: Iterable[Source], out: Path, model: str, parser: str, on_error: str, engine: Engine,
    progress: ProgressCallback, cancel: Cancellation | None,
) -> Parsed:  # fmt: skip
    if on_error not in ("stop", "skip"):
        raise UsageError(f"unknown --on-error {on_error!r}: choose stop or skip")
    found = {Path(source.path): source for source in sources}
    return parse_text(
        list(found),
        model,
        out=out,
        parser=parser,
        on_error=cast("OnError", on_error),
        engine=engine if engine.executor else Engine(engine.workers, "processes"),
        open_source=lambda path: _blocks(found[path]),
        progress=progress,
        cancel=cancel,
    )


def _blocks(source: Source) -> Iterator[bytes]:
    with ExitStack() as stack:
        stream = stack.enter_context(open_text(source))
        while block := stream.read():
            yield block


def parse_for_encoding(
    sources: Iterable[str | Path],
    folder: Path,
    *,
    model: str | None,
    parser: str,
    on_error: str | None,
    engine: Engine,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> list[Path]:
    """Parse each source into a file of its own in the folder of a corpus; those that are there already are kept.

    So an interrupted run goes on with the source at which it was.
    """
    if model is None:
        raise UsageError(
            "raw text needs a parser's model: pass --model FILE, e.g. a UDPipe model from lindat.mff.cuni.cz"
        )
    check_parser(parser, model)
    made = []
    for number, source in enumerate(find_sources(sources)):
        place = folder / PARSING / f"{number:06d}"
        out = place / f"{Path(source.name).stem}.conllu.zst"
        status = Path(model).stat() if Path(model).is_file() else None
        identity = [
            source.path, source.size, source.changed, parser, model, on_error,
            status and [status.st_size, status.st_mtime_ns],
        ]  # fmt: skip
        record = place / "source.json"
        if source.path == STDIN or not out.exists() or _recorded(record) != fingerprint(identity):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            _parse([source], out, model, parser, on_error or "stop", engine, progress, cancel)
            record.write_bytes(dump_json(fingerprint(identity)))
        made.append(out)
    return made


def _recorded(record: Path) -> object:
    try:
        return parse_json(record.read_bytes())
    except (OSError, ValueError):
        return None
