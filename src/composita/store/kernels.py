"""Compiled loops: how they are declared, where the machine code is kept, and what is said when it is made.

Numba compiles a kernel at its first call and keeps the machine code in a folder. Its own index looks at the
file of the kernel only, and misses an edit in another module that the kernel calls; here the folder's name is
a hash of the source of the kernel's room and of all rooms to its left, which is all that it may use, so that no stale
code can run. The folder lives in the user's cache and only the user can write to it, because loading machine code runs
it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config, event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

logger = logging.getLogger("composita")
ROOMS = ("store", "corpus", "counting", "spaces", "functions", "grammar", "composition")
"""The rooms that have kernels, in the order of the flow: each uses only those to its left."""
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# Numba's settings are made at run time, out of a type checker's sight.
_settings: Any = config
_events: Any = event


def cache_home() -> Path:
    """Give the user's cache folder for composita: ``$COMPOSITA_CACHE``, or where the system keeps caches."""
    if chosen := os.environ.get("COMPOSITA_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "composita" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/composita"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "composita"


def source_hash(package: Path, rooms: Sequence[str] = ("",)) -> str:
    """Compute a hash of every source file in some folders of a package, by default in all, and of what compiles it."""
    versions = f"{sys.version} {numba.__version__} {np.__version__}"
    digest = hashlib.sha256(versions.encode())
    for path in sorted(path for room in rooms for path in (package / room).rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def rooms_of(module: str) -> tuple[str, ...]:
    """Name the rooms whose source a module may use: its own and those to its left; all for a module of the user.

    >>> rooms_of("composita.counting.kernels"), rooms_of("mine")
    (('store', 'corpus', 'counting'), ('',))
    """
    parts = module.split(".")
    if parts[0] == "composita" and len(parts) > 1 and parts[1] in ROOMS:
        return ROOMS[: ROOMS.index(parts[1]) + 1]
    return ("",)


@cache
def kernel_folder(rooms: tuple[str, ...] = ("",)) -> Path | None:
    """Make the folder for machine code; None, said once, where there can be none that is the user's alone."""
    try:
        kernels = cache_home() / "kernels"
        folder = kernels / source_hash(Path(__file__).parents[1], rooms)
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        for path in (cache_home(), kernels, folder):
            _check_private(path, ours=path != cache_home())
        if not os.access(folder, os.W_OK):
            raise PermissionError("it is read-only")
    except (OSError, RuntimeError) as error:
        _warn("compiled kernels cannot be kept", error)
        return None
    return folder


def _check_private(folder: Path, ours: bool) -> None:
    """Refuse a folder where others may put machine code, or exchange a folder of ours for one of theirs.

    Above our own folders it may belong to the system, and be open to all if it is sticky, as ``/tmp`` is.
    """
    if os.name == "posix":
        status = folder.stat()
        owners, shared = {os.geteuid()}, stat.S_IWGRP | stat.S_IWOTH
        if not ours:
            owners.add(0)
            shared = 0 if status.st_mode & stat.S_ISVTX else stat.S_IWOTH
        if status.st_uid not in owners or status.st_mode & shared:
            raise PermissionError(f"others may write to {folder}")


def _warn(problem: str, error: Exception) -> None:
    """Say once what is wrong with the cache; nothing but time is lost."""
    if "warning" not in _said:
        _said.add("warning")
        logger.warning(
            "%s (%s): every run compiles them again; set COMPOSITA_CACHE to a folder of your own",
            problem,
            str(error) or type(error).__name__,
        )


class _Place(CompileResultCacheImpl):
    """Keeps machine code in the folder chosen, and never, as Numba would, in another when that one fails."""

    _locator_classes = [UserProvidedCacheLocator]  # noqa: RUF012 - as the base class has it


class _KernelCache(FunctionCache):
    """Numba's cache, but a full disk or a damaged file costs a compilation instead of the run."""

    _impl_class = _Place

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            _warn(f"compiled kernels cannot be kept in {self.cache_path}", error)
            with suppress(Exception):
                self.flush()  # type: ignore[no-untyped-call]


class _Announcer(event.Listener):
    """Says that compiling takes a moment, when the first of our kernels is compiled rather than loaded."""

    def on_start(self, event: Any) -> None:  # noqa: ANN401 - Numba's event
        if event.data["dispatcher"].py_func in _declared and "compiling" not in _said:
            _said.add("compiling")
            logger.info("compiling (once): the first use on this machine takes some seconds")

    def on_end(self, event: Any) -> None:  # noqa: ANN401 - Numba's event
        """Say nothing."""


_said: set[str] = set()
_declared: set[Callable[..., Any]] = set()
_events.register("numba:compile", _Announcer())


def kernel(function: Kernel) -> Kernel:
    """Declare a compiled loop that releases the interpreter lock and is kept on disk.

    ``function.py_func`` is the same loop in plain Python, for tests.

    >>> @kernel
    ... def total(numbers):
    ...     result = 0
    ...     for number in numbers:
    ...         result += number
    ...     return result
    >>> total(np.arange(5)), total.py_func(range(5))
    (10, 10)
    """
    return _declare(function)


def bare_kernel(function: Kernel) -> Kernel:
    """Declare a compiled loop that makes no arrays, and so need not count who holds the arrays that it is given.

    Where loops call each other for every token, that counting takes most of the time.

    >>> @bare_kernel
    ... def twice(number):
    ...     return 2 * number
    >>> twice(21)
    42
    """
    return _declare(function, _nrt=False)


def inlined_kernel(function: Kernel) -> Kernel:
    """Declare a bare kernel that becomes a part of the loops that call it, for what runs once a token.

    >>> @inlined_kernel
    ... def half(number):
    ...     return number // 2
    >>> half(42)
    21
    """
    return _declare(function, _nrt=False, forceinline=True)


def _declare(function: Kernel, **options: bool) -> Kernel:
    """Compile a function at its first call, and keep the machine code in our folder."""
    _declared.add(function)
    compile_later: Any = numba.njit
    compiled: Any = compile_later(nogil=True, error_model="numpy", **options)(function)
    folder = kernel_folder(rooms_of(function.__module__))
    before = _settings.CACHE_DIR
    try:
        _settings.CACHE_DIR = str(folder)
        # A function typed at a prompt has no source file by which it could be known again.
        if folder is not None and Path(function.__code__.co_filename).exists():
            cache_file: Any = _KernelCache
            compiled._cache = cache_file(function)  # noqa: SLF001 - what njit(cache=True) sets
    except (OSError, RuntimeError) as error:
        _warn(f"compiled kernels cannot be kept in {folder}", error)
    finally:
        _settings.CACHE_DIR = before
    return cast("Kernel", compiled)
