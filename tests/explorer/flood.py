"""Requests that nobody should send, by the hundred thousand, to a server that must answer all of them.

``python -m tests.explorer.flood RUN 100000`` serves a run in a process of its own, sends so many, and says what came
back and how much memory the server took. The tests send a few thousand.
"""

import contextlib
import random
import re
import socket
import string
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote_plus

from composita.explorer.questions import ENDPOINTS

LETTERS = string.printable + "é\u202e\u0000\U0001f600<>&\"'%=;"
WORDS = [
    "wolf",
    "charged",
    "castle",
    "wolf-n",
    "charge-v",
    "charge-v(castle-n, wolf-n)",
    "add",
    "learned",
    "svd",
    "pca",
]
DONE = re.compile(rb"HTTP/1\.1 (\d+)")


def text(draw: random.Random) -> str:
    """Make up what somebody gives for a parameter."""
    if draw.random() < 0.5:
        return " ".join(draw.choices(WORDS, k=draw.randrange(4)))
    return "".join(draw.choices(LETTERS, k=draw.choice([0, 1, 5, 40, 300])))


def request(draw: random.Random, host: bytes) -> bytes:
    """Make up a request: sensible, misspelt, oversized, or no HTTP at all."""
    kind = draw.randrange(12)
    path, line = "/", b""
    if kind < 6:
        endpoint = draw.choice(ENDPOINTS)
        names = [p.name for p in endpoint.parameters] + ["nonsense"] * (draw.random() < 0.1)
        given = [f"{name}={quote_plus(text(draw))}" for name in names for _ in range(draw.choice([0, 1, 1, 1, 2]))]
        path = f"/api/{endpoint.name}?" + "&".join(given)
    elif kind == 6:
        path = "/" + quote_plus(text(draw), safe="/.%")
    elif kind == 7:
        path = "/api/compose?s=" + "x" * draw.choice([400, 600, 15_000, 17_000, 60_000])
    elif kind == 8:
        path = "/static/" + draw.choice(
            ["../app.py", "%2e%2e/app.py", "..%2f..%2fapp.py", "main.js", "x" * 500, "\\..\\app.py"]
        )
    elif kind == 9:
        line = draw.choice([b"POST", b"PUT", b"DELETE", b"BREW", b"OPTIONS"]) + b" /api/about HTTP/1.1\r\n"
    elif kind == 10:
        host = draw.choice([b"evil.example", b"", b"[::1", b"x" * 3000, b"127.0.0.1@evil.example"])
    else:
        return draw.choice([
            draw.randbytes(draw.randrange(1, 300)) + b"\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: " + host + b"\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: " + host + b"\r\nContent-Length: nonsense\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: " + host + b"\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"GET / HTTP/1.1\r\nHost: " + host,
        ])  # fmt: skip
    line = line or b"GET " + path.encode("latin-1", "replace").replace(b" ", b"+") + b" HTTP/1.1\r\n"
    return line + b"Host: " + host + b"\r\n\r\n"


def flood(port: int, count: int, seed: int = 0) -> Counter[int]:
    """Send requests one after the other, and count the answers by their status; 0 where the connection was closed."""
    draw, found = random.Random(seed), Counter[int]()
    connection = None
    for _ in range(count):
        if connection is None:
            connection = socket.create_connection(("127.0.0.1", port), timeout=60)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sent = request(draw, f"127.0.0.1:{port}".encode())
        whole = sent.endswith(b"\r\n\r\n")
        status, open_still = 0, False
        with contextlib.suppress(ConnectionError):
            connection.sendall(sent)
            if not whole:
                connection.shutdown(socket.SHUT_WR)
            status, open_still = _answer(connection)
        found[status] += 1
        if not (whole and open_still):
            connection.close()
            connection = None
    if connection is not None:
        connection.close()
    return found


def _answer(connection: socket.socket) -> tuple[int, bool]:
    """Read one answer; say its status, and whether another request may follow."""
    got = b""
    while b"\r\n\r\n" not in got:
        part = connection.recv(65_536)
        if not part:
            return 0, False
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    size = re.search(rb"(?i)content-length: (\d+)", head)
    while size and len(body) < int(size[1]):
        part = connection.recv(65_536)
        if not part:
            break
        body += part
    closed = b"connection: close" in head.lower() or size is None
    found = DONE.match(head)
    return (int(found[1]) if found else 0), not closed


def memory(process: int) -> float:
    """Give how many megabytes a process holds."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[1]) / 1024


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(run: str, count: int) -> None:
    """Flood a server in a process of its own, and watch its memory."""
    command = [sys.executable, "-m", "composita", "explore", run, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
            total, begun = Counter[int](), time.perf_counter()
            for part in range(10):
                total += flood(port, count // 10, seed=part)
                seconds = time.perf_counter() - begun
                say(f"{sum(total.values()):>8,} sent  {memory(server.pid):7.1f} MB  {seconds:6.0f} s")
            say(f"{dict(sorted(total.items()))}, {'still running' if server.poll() is None else 'ended'}")
        finally:
            server.terminate()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
