"""Writing a text file that appears when it is whole, compressed by its suffix.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     with replacing(Path(folder) / "text.gz") as write:
...         _ = write(b"whole")
...     import gzip; gzip.open(Path(folder) / "text.gz").read()
b'whole'
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from composita.store.errors import UsageError

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}


@contextmanager
def replacing(path: Path) -> Iterator[Callable[[bytes], object]]:
    """Give a function that writes bytes; the file takes its name when the block ends without an error.

    The bytes depend on what is written alone: pyarrow puts no time into the head of a gzip file.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder: expected the name of a file to write")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent} is not a folder: make it first, or write elsewhere")
    # In the same folder, because a name can be given atomically only within one file system; with a random
    # part, so that two programs writing the same file do not mix their bytes.
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.partial")
    compression = COMPRESSIONS.get(path.suffix)
    try:
        with partial.open("xb") as raw:
            stream = pa.PythonFile(raw, mode="w")
            if compression:
                with pa.CompressedOutputStream(stream, compression) as packed:
                    yield packed.write
            else:
                yield raw.write
            if not raw.closed:
                raw.flush()
                os.fsync(raw.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
