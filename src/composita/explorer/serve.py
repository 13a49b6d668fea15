"""Serving the explorer: on this machine only, unless somebody asks for more, and then behind a token."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from composita.explorer.guard import is_loopback
from composita.store.engine import one_blas_thread
from composita.store.errors import MissingExtraError, StoreError, UsageError
from composita.store.folder import LOCK, META

HERE = "127.0.0.1"
PORT = 8765
STAGES = "stages"


@dataclass(frozen=True)
class Place:
    """Where the explorer is served, and what a visitor must show."""

    host: str
    port: int
    token: str | None

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    @property
    def hosts(self) -> frozenset[str]:
        """The names that a Host header may have; any for an address that stands for all."""
        if self.host in ("0.0.0.0", "::"):
            return frozenset()
        return frozenset({self.host.lower(), *(("localhost", HERE, "::1") if is_loopback(self.host) else ())})


def serve(
    path: str | Path,
    *,
    host: str = HERE,
    port: int = PORT,
    announce: Callable[[Place, str], None] = lambda place, why: None,
) -> None:
    """Show a run, a lexicon or a space in the browser until Ctrl-C.

    Parameters
    ----------
    path
        The folder to show.
    host
        The address to listen at. Any other than this machine's own needs a random token, which is part of the address.
    port
        The port; 0 for one that is free.
    announce
        Called with the place once it can be opened, and with the reason if what is there cannot be read now: a run
        that is still being made, or is damaged. The pages say so, and show it as soon as it can be read.

    """
    try:
        import starlette  # noqa: F401 - looked for first, so that what else cannot be imported is not taken for it
        import uvicorn
    except ImportError:
        raise MissingExtraError("the explorer", package="starlette", extra="web") from None
    from composita.explorer.app import create_app
    from composita.explorer.questions import example_sentences
    from composita.explorer.view import Showing

    showing = Showing(Path(path), prepare=lambda view: view.prepare(example_sentences(view)))
    unreadable = ""
    try:
        showing.view()
    except StoreError as error:
        if not _may_become_readable(Path(path)):
            raise
        unreadable = str(error)
    listening = _listen(host, port)
    place = Place(host, listening.getsockname()[1], None if is_loopback(host) else secrets.token_urlsafe(24))
    server: Any = uvicorn.Server(server_config(create_app(showing, hosts=place.hosts, token=place.token)))
    announce(place, unreadable)
    # Several questions are answered at a time: more threads of linear algebra would only get in each other's way.
    # Ctrl-C is how the explorer is left; uvicorn raises it once more when it has closed.
    with one_blas_thread, listening, suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def server_config(app: Any) -> Any:  # noqa: ANN401 - uvicorn's, which is imported only here
    """Say how the application is served: HTTP/1.1 only, with bounds on connections and headers."""
    import uvicorn

    return uvicorn.Config(
        app, log_level="warning", access_log=False, http="h11", ws="none", server_header=False, limit_concurrency=200,
        timeout_keep_alive=20, h11_max_incomplete_event_size=64 << 10,
    )  # fmt: skip


def _may_become_readable(path: Path) -> bool:
    """Whether a folder looks like one of ours: half-written, damaged or newer."""
    return any((path / name).exists() for name in (META, LOCK, STAGES))


def _listen(host: str, port: int) -> socket.socket:
    """Take the port, or say who else may have it."""
    if not 0 <= port <= 65535:
        raise UsageError(f"expected a port from 0 to 65535, got {port}")
    listening = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)  # before anybody is told the address
    except OSError as error:
        if listening is not None:
            listening.close()
        reason = error.strerror or str(error)
        raise UsageError(f"cannot listen at {host}, port {port} ({reason}): choose another --port, or 0") from None
    return listening
