"""A cluster: the same tasks, done by the workers of a Dask scheduler that is running already.

Tasks carry paths, so all machines must see the data under the same names, and composita in the same version; both
are looked at before any work goes out. What is made is the same to the bit as on one machine, because a task does
not know where it runs. A worker that dies costs only the tasks that it had: the scheduler gives them to others.

Nothing but the messages between scheduler and workers is pickled; connect to a scheduler of your own only.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import composita
from composita.store.engine import Engine
from composita.store.errors import MissingExtraError, StoreError, UsageError, plural
from composita.store.strict_json import parse_json

CONNECTING = 20.0  # seconds
_ADDRESS = re.compile(r"(?:[a-z]+://)?(?:[^\s:/\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}")


@contextmanager
def cluster(address: str, folders: Sequence[str | Path] = ()) -> Iterator[Engine]:
    """Connect to the scheduler at an address, such as ``tcp://10.0.0.1:8786``, and give an engine that works there.

    Parameters
    ----------
    address
        The address that ``dask scheduler`` prints when it starts, or the path of its scheduler file.
    folders
        Folders that every worker must be able to write to under the same name; absolute paths.

    """
    try:
        distributed: Any = import_module("distributed")  # ships types for half of what it offers
    except ImportError:
        raise MissingExtraError("working on a cluster", package="distributed", extra="cluster") from None
    place = _scheduler_of(address)
    try:
        client = distributed.Client(place, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise _nobody(address, " ".join(str(error).split()) or type(error).__name__) from None
    with client:
        threads = client.nthreads()
        if not threads:
            raise UsageError(f"the scheduler at {address} has no workers: start some with `dask worker {address}`")
        _check_versions(client.run(_installed, on_error="return"))
        for folder in folders:
            _check_sight(client, Path(folder))
        yield Engine(sum(threads.values()), executor=client.get_executor(pure=False))


def _scheduler_of(address: str) -> str:
    """Give the address of the scheduler, out of its file where that is named.

    A client that is given something else does not let go of its thread when it fails.
    """
    place = address
    if Path(address).is_file():
        try:
            place = str(parse_json(Path(address).read_bytes())["address"])
        except (OSError, ValueError, KeyError, TypeError):
            raise _nobody(address, "it is no file that a scheduler wrote") from None
    if not _ADDRESS.fullmatch(place):
        raise _nobody(address, "it is no address of a machine and a port")
    return place


def _nobody(address: str, reason: str) -> UsageError:
    return UsageError(
        f"no scheduler of Dask answers at {address} ({reason}): give the address that `dask scheduler` printed, "
        "such as tcp://10.0.0.1:8786"
    )


def _installed() -> tuple[str, str]:
    """Name the versions that decide whether tasks and their results can travel."""
    return composita.__version__, ".".join(platform.python_version_tuple()[:2])


def _check_versions(found: dict[str, Any]) -> None:
    """Refuse workers that have another composita or another Python than we."""
    for worker, versions in sorted(found.items()):
        if isinstance(versions, Exception):
            raise UsageError(f"the worker {worker} cannot load composita: {versions}; install it there")
        if tuple(versions) != _installed():
            (theirs, their_python), (ours, our_python) = versions, _installed()
            raise UsageError(
                f"the worker {worker} has composita {theirs} and Python {their_python}, but here are composita {ours} "
                f"and Python {our_python}: install the same"
            )


def _check_sight(client: Any, folder: Path) -> None:  # noqa: ANN401 - a client of a package that ships no types
    """Refuse workers that do not see the same files."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / f".sight-{secrets.token_hex(4)}"
    try:
        mark.touch()
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror}") from None
    try:
        seen = client.run(_sees, str(mark))
    finally:
        with suppress(OSError):
            mark.unlink()
    blind = sorted(worker for worker, sees in seen.items() if not sees)
    if blind:
        raise UsageError(
            f"{plural(len(blind), 'worker')} of the cluster, {blind[0]} among them, cannot write to {folder}: the data "
            "must lie on a file system that all machines share, under the same name, and be writable there"
        )


def _sees(mark: str) -> bool:
    return os.path.exists(mark) and os.access(os.path.dirname(mark), os.W_OK)  # noqa: PTH110, PTH120
