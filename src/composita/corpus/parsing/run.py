"""Parsing with many workers: chunks go out, and come back in the order of the text.

Workers write what they make to files in a temporary folder and return its size in words; the files are
taken in order. So memory stays small also where one chunk takes long and others overtake it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from composita.corpus.output import replacing
from composita.corpus.parsing.chunks import CHUNK_BYTES, Chunk, OnError, Text, blocks_of, chunks
from composita.corpus.parsing.conversion import Parsed, number_sentences
from composita.corpus.parsing.parsers import cached_parser, check_parser
from composita.store.engine import Engine, Task, run_tasks
from composita.store.errors import InputError
from composita.store.progress import Cancellation, ProgressCallback, silent


def parse_chunk(parser: str, model: str, chunk: Chunk, target: str) -> Parsed:
    """Parse a chunk into a file: the task of a worker."""
    conllu, parsed = number_sentences(cached_parser(parser, model).parse(chunk.text), chunk)
    Path(target).write_bytes(conllu.encode())
    return parsed


def parsed_chunks(
    texts: Iterable[Text],
    model: Path | str,
    *,
    parser: str = "udpipe",
    on_error: OnError = "stop",
    chunk_bytes: int = CHUNK_BYTES,
    engine: Engine | None = None,
    total: float | None = None,
    folder: Path | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Iterator[tuple[bytes, Parsed]]:
    """Parse texts and give the CoNLL-U of each chunk, in order, with its counts.

    ``total`` is the number of bytes to come, for the progress; the output is the same for any engine. What workers
    have made waits in a folder within ``folder``, by default one of the system for temporary files.
    """
    model = str(model)
    check_parser(parser, model)
    with tempfile.TemporaryDirectory(prefix="composita-parse-", dir=folder) as waiting:

        def file(number: int) -> Path:
            return Path(waiting) / f"{number}.conllu"

        tasks = (
            Task(f"{c.source}, chunk {c.number}", parse_chunk, (parser, model, c, str(file(c.number))), c.size)
            for c in chunks(texts, on_error=on_error, size=chunk_bytes)
        )
        done: dict[int, Parsed] = {}
        following = 1
        for task, parsed in run_tasks(
            tasks,
            engine=engine or Engine(),
            progress=progress,
            stage="parsing",
            unit="bytes",
            total=total,
            cancel=cancel,
        ):
            done[task.arguments[2].number] = parsed
            while following in done:
                conllu = file(following).read_bytes()
                file(following).unlink()
                yield conllu, done.pop(following)
                following += 1


def parsed_blocks(
    texts: Iterable[Text],
    model: Path | str,
    *,
    parser: str = "udpipe",
    on_error: OnError = "stop",
    workers: int = 1,
    chunk_bytes: int = CHUNK_BYTES,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Iterator[bytes]:
    """Parse texts, each a name and blocks of bytes, and give CoNLL-U in blocks of whole sentences."""
    engine = Engine(workers, "processes")
    for conllu, _ in parsed_chunks(
        texts, model, parser=parser, on_error=on_error, chunk_bytes=chunk_bytes, engine=engine,
        progress=progress, cancel=cancel,
    ):  # fmt: skip
        yield conllu


def parse_text(
    sources: Sequence[Path],
    model: Path | str,
    *,
    out: Path | str,
    parser: str = "udpipe",
    on_error: OnError = "stop",
    engine: Engine | None = None,
    workers: int = 1,
    chunk_bytes: int = CHUNK_BYTES,
    open_source: Callable[[Path], Iterable[bytes]] | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Parsed:
    """Parse files of raw text into one file of CoNLL-U, compressed where its name ends in .gz or .zst.

    Parameters
    ----------
    sources
        Files of UTF-8 text, paragraphs separated by blank lines.
    model
        What the parser needs: a file for udpipe, a name or a folder for spacy and stanza.
    out
        The file to write. It appears when it is whole.
    parser
        udpipe, spacy or stanza.
    on_error
        At bytes that are not UTF-8: stop with an `InputError`, or skip them, leaving U+FFFD in their place.
    engine, workers
        Where to work; by default in so many processes. Each worker loads the model. The output is the same for any.
    chunk_bytes
        The longest piece of text that is parsed at a time; paragraphs beyond it are cut.
    open_source
        Reads a file in blocks of bytes, for files that are not plain.
    progress, cancel
        Hear of the progress; ask to stop.

    """
    texts = ((str(path), (open_source or read_plain)(path)) for path in sources)
    total = None if open_source else float(sum(_size(path) for path in sources))
    parsed = Parsed()
    with replacing(Path(out)) as write:
        for conllu, counts in parsed_chunks(
            texts, model, parser=parser, on_error=on_error, chunk_bytes=chunk_bytes,
            engine=engine or Engine(workers, "processes"), total=total, progress=progress, cancel=cancel,
            folder=Path(out).absolute().parent if engine and engine.executor else None,
        ):  # fmt: skip
            write(conllu)
            parsed += counts
    return parsed


def read_plain(path: Path) -> Iterator[bytes]:
    """Read a plain file in blocks."""
    try:
        with path.open("rb") as file:
            yield from blocks_of(file)
    except OSError as error:
        raise _unreadable(path, error) from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot read this text ({error.strerror or type(error).__name__}): expected a file", source=path)
