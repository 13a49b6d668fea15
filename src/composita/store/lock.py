"""One writer at a time: a lock that the system frees when its holder dies.

The lock is on the open file, not on the file's existence, so that a killed process never leaves a folder
locked. The file itself stays: its first word marks the folder as ours even before anything is committed, and
while the lock is held it also names the process, for the error message of the others.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from composita.store.errors import LockedError, StoreError
from composita.store.progress import Cancellation, check

MARK = b"composita"
_BUSY = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}
_PAUSE = 0.05  # seconds between two attempts

if sys.platform == "win32":
    import msvcrt

    # Locked bytes cannot be read by others on Windows, so a byte far behind the text is locked instead.
    _FAR = 1 << 30

    def _lock(file: int) -> None:
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def _unlock(file: int) -> None:
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def hold_lock(path: Path, *, wait: float = 0.0, cancel: Cancellation | None = None) -> Iterator[None]:
    """Hold the lock at ``path`` while the block runs, waiting for it at most ``wait`` seconds.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, hold_lock(Path(folder, "lock")):
    ...     with hold_lock(Path(folder, "lock")):
    ...         pass
    Traceback (most recent call last):
        ...
    composita.store.errors.LockedError: another process (number ...) is writing to ...
    """
    # Never through a link: a folder from elsewhere could make us empty a file of the user's.
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        file = os.open(path, flags, 0o666)
    except OSError as error:
        raise StoreError(f"cannot write to {path.parent}: {error.strerror}") from error
    try:
        _acquire(file, path, wait, cancel)
        try:
            _sign(file, str(os.getpid()))
            yield
        finally:
            _sign(file, "")
            _unlock(file)
    finally:
        os.close(file)


def is_marked(path: Path) -> bool:
    """Whether the file is a lock of ours, held or not."""
    with suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            with path.open("rb") as file:
                return file.read(len(MARK)) == MARK
    return False


def _acquire(file: int, path: Path, wait: float, cancel: Cancellation | None) -> None:
    """Take the lock, or say who has it when the time is over."""
    end = time.monotonic() + wait
    while True:
        try:
            return _lock(file)
        except OSError as error:
            if error.errno not in _BUSY:
                raise StoreError(f"the file system of {path.parent} cannot lock: {error.strerror}") from error
        check(cancel)
        if time.monotonic() >= end:
            raise LockedError(f"another process{_holder(file)} is writing to {path.parent}: wait for it, or stop it")
        time.sleep(_PAUSE)


def _holder(file: int) -> str:
    os.lseek(file, 0, os.SEEK_SET)
    found = re.match(MARK + rb" ([0-9]{1,10})\b", os.read(file, 64))
    return f" (number {found[1].decode()})" if found else ""


def _sign(file: int, holder: str) -> None:
    """Write who holds the lock, always in as many bytes, so that the mark is never gone for a moment.

    It is a courtesy, so a full disk is no reason to fail here.
    """
    with suppress(OSError):
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, MARK + f" {holder:<10}\n".encode())
