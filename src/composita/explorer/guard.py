"""What every request passes before it is answered: whose it is, how long it may be, and what a page may load.

The server is for the people at this machine. Another page that is open in their browser must not be able to ask it, by
whatever name it finds it (so the Host header is checked), and no word of a corpus can run as a script in its pages (so
the policy allows only our own files).
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, urlsplit

from composita.store.strict_json import dump_json

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LONGEST_QUERY = 16_000  # bytes, percent signs included
LONGEST_PATH = 200
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Guard:
    """Wraps an application: refuses what is not for it, and adds the headers that keep pages to themselves.

    Parameters
    ----------
    app
        What answers.
    hosts
        The names under which the server may be asked, in lower case and without port; empty for any.
    token
        What a request must show, in the address, a header or a cookie; None where only this machine can ask.

    """

    app: Application
    hosts: frozenset[str] = frozenset()
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with a sentence."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        shown_in_address = self.token is not None and self._in_address(scope)

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                ours = {name.lower().encode() for name in HEADERS}
                kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in ours]
                kept += [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                if shown_in_address:
                    kept.append((b"set-cookie", _cookie(self.token or "").encode()))
                message["headers"] = kept
            await send(message)

        if refusal is None:
            await self.app(scope, receive, send_guarded)
        else:
            await _refuse(send_guarded, *refusal, as_page=wants_page(scope["headers"]))

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = _host(headers.get(b"host", b"").decode("latin-1"))
        if self.hosts and host not in self.hosts:
            return 421, f"this server is not called {host[:80]!r}: use the address that composita explore printed"
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "expected GET: the explorer shows and changes nothing"
        if len(scope["path"]) > LONGEST_PATH:
            return 414, f"expected a path of at most {LONGEST_PATH} letters"
        if len(scope["query_string"]) > LONGEST_QUERY:
            return 414, f"expected an address of at most {LONGEST_QUERY:,} letters: ask for less at once"
        if self.token is not None and not (self._in_address(scope) or self._in_headers(headers)):
            return 401, "expected the access token: use the whole address that composita explore printed"
        return None

    def _in_address(self, scope: Scope) -> bool:
        try:
            query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=1000)
        except ValueError:
            return False
        return any(self._is_token(given) for given in query.get("token", []))

    def _in_headers(self, headers: dict[bytes, bytes]) -> bool:
        cookies = headers.get(b"cookie", b"").decode("latin-1").split(";")
        given = [cookie.strip().partition("=")[2] for cookie in cookies]
        return any(self._is_token(one) for one in [headers.get(b"x-token", b"").decode("latin-1"), *given])

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), (self.token or "").encode()) and bool(given)


def _cookie(token: str) -> str:
    """Write the cookie that holds the token; each token has a name of its own, for cookies know no ports.

    >>> _cookie("secret")
    'composita-2bb80d53=secret; HttpOnly; SameSite=Strict; Path=/'
    """
    name = sha256(token.encode()).hexdigest()[:8]
    return f"composita-{name}={token}; HttpOnly; SameSite=Strict; Path=/"


def _host(header: str) -> str:
    """Give the name in a Host header without its port, in lower case.

    >>> _host("LOCALHOST:8765"), _host("[::1]:8765"), _host("a b:c:d")
    ('localhost', '::1', '')
    """
    try:
        return (urlsplit(f"//{header.strip()}").hostname or "").rstrip(".") if " " not in header.strip() else ""
    except ValueError:
        return ""


def wants_page(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a person looks at the answer in a browser, rather than a program.

    >>> wants_page([(b"accept", b"text/html,application/xhtml+xml")]), wants_page([(b"accept", b"*/*")])
    (True, False)
    """
    return any(name.lower() == b"accept" and b"text/html" in value for name, value in headers)


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>composita</title>
<h1>composita</h1><p>{}</p></html>
"""


async def _refuse(send: Send, status: int, reason: str, *, as_page: bool) -> None:
    body = PAGE.format(escape(reason)).encode() if as_page else dump_json({"error": reason})
    kind = b"text/html; charset=utf-8" if as_page else b"application/json"
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
