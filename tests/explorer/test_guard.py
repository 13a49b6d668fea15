"""The guard: who may ask, how much, and what a page may load."""

import asyncio
import json

import pytest

from composita.explorer.endpoints import Endpoint, Parameter, openapi
from composita.explorer.guard import HEADERS, LONGEST_PATH, LONGEST_QUERY, Guard
from composita.explorer.serve import Place, serve
from composita.store.errors import UsageError


async def hello(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"hello"})


def ask(guard, path="/", query=b"", method="GET", **headers):
    """Ask once, and give status, headers and body."""
    sent = []
    sent_headers = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": sent_headers}

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b""}

    asyncio.run(guard(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


@pytest.fixture
def here():
    return Guard(hello, Place("127.0.0.1", 8765, None).hosts)


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]:8765", "localhost."])
def test_this_machine_may_ask(here, host):
    status, headers, body = ask(here, host=host)
    assert (status, body) == (200, b"hello")
    assert headers[b"content-security-policy"] == HEADERS["Content-Security-Policy"].encode()
    assert headers[b"content-type"] == b"text/plain"
    assert b"set-cookie" not in headers


@pytest.mark.parametrize(
    "host", ["evil.example", "", "127.0.0.1.evil.example", "127.0.0.1@evil.example:80", "[::1", "a b", "é", "x" * 5000]
)
def test_another_name_is_refused(here, host):
    status, headers, body = ask(here, host=host)
    assert status == 421
    assert b"this server is not called" in body
    assert b"content-security-policy" in headers


def test_no_host_at_all_is_refused(here):
    assert ask(here)[0] == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "NONSENSE"])
def test_nothing_can_be_changed(here, method):
    assert ask(here, host="localhost", method=method)[0] == 405


def test_long_addresses_are_refused(here):
    assert ask(here, path="/" + "x" * LONGEST_PATH, host="localhost")[0] == 414
    assert ask(here, query=b"s=" + b"x" * LONGEST_QUERY, host="localhost")[0] == 414
    assert ask(here, query=b"s=" + b"x" * (LONGEST_QUERY - 2), host="localhost")[0] == 200


def test_where_others_may_ask_they_need_the_token():
    place = Place("0.0.0.0", 80, "secret-token")
    guard = Guard(hello, place.hosts, place.token)
    assert place.address == "http://0.0.0.0:80/?token=secret-token"
    assert ask(guard, host="any.example")[0] == 401
    assert ask(guard, query=b"token=wrong")[0] == 401
    assert ask(guard, query=b"token=")[0] == 401
    assert ask(guard, query=b"&".join([b"a=1"] * 3000))[0] == 401
    status, headers, _ = ask(guard, query=b"token=secret-token")
    assert status == 200
    cookie = headers[b"set-cookie"].decode()
    assert cookie.endswith("=secret-token; HttpOnly; SameSite=Strict; Path=/")
    assert ask(guard, cookie=f"a=1; {cookie.partition(';')[0]}")[0] == 200
    assert ask(guard, cookie="composita-0=other")[0] == 401
    assert ask(guard, x_token="secret-token")[0] == 200
    assert ask(guard, x_token="secret-tokén")[0] == 401


def test_a_port_that_is_taken_is_said(tmp_path):
    import socket

    from composita.explorer.serve import _listen

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="choose another --port"):
            _listen("127.0.0.1", taken.getsockname()[1])
    for port in (-1, 70000):
        with pytest.raises(UsageError, match="expected a port"):
            _listen("127.0.0.1", port)
    with pytest.raises(UsageError, match="cannot listen"):
        _listen("no such host.invalid", 0)


def test_nothing_to_show_is_said_before_anything_is_served(tmp_path):
    from composita.store.errors import NotFoundError

    with pytest.raises(NotFoundError):
        serve(tmp_path / "nothing", port=0)


TEXT = Parameter("s", "a sentence", most=10)
TEXTS = Parameter("w", "words", "texts", times=2, most=5)
NUMBER = Parameter("n", "how many", "number", default=3, least=1, most=9)
QUESTION = Endpoint("ask", "Asks.", lambda view, given: dict(given), (TEXT, TEXTS, NUMBER))


def test_parameters_are_read():
    found = QUESTION.read({"s": [" a  b "], "w": ["x", "", "y"], "n": ["7"], "token": ["t"]})
    assert found == {"s": "a b", "w": ["x", "y"], "n": 7}
    assert QUESTION.read({"s": ["a"], "w": ["x"]})["n"] == 3


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"w": ["x"]}, "s is missing: a sentence"),
        ({"s": ["  "], "w": ["x"]}, "s is missing"),
        ({"s": ["a"]}, "w is missing"),
        ({"s": ["a", "b"], "w": ["x"]}, "s was given 2 times"),
        ({"s": ["a"], "w": ["x", "y", "z"]}, "w was given 3 times: expected at most 2"),
        ({"s": ["a" * 11], "w": ["x"]}, "s has 11 letters: expected at most 10"),
        ({"s": ["a"], "w": ["x"], "n": ["0"]}, "expected a number from 1 to 9"),
        ({"s": ["a"], "w": ["x"], "n": ["١"]}, "expected a number"),
        ({"s": ["a"], "w": ["x"], "n": ["1e9"]}, "expected a number"),
        ({"s": ["a"], "w": ["x"], "n": ["9" * 5000]}, "expected a number"),
        ({"s": ["a"], "w": ["x"], "q": ["1"]}, "unknown parameter 'q': choose n, s, w"),
    ],
)
def test_wrong_parameters_are_refused(given, reason):
    with pytest.raises(UsageError, match=reason):
        QUESTION.read(given)


def test_the_document_says_what_is_read():
    document = json.loads(json.dumps(openapi([QUESTION])))
    parameters = {p["name"]: p for p in document["paths"]["/api/ask"]["get"]["parameters"]}
    assert parameters["s"]["required"]
    assert parameters["n"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 3}
    assert parameters["w"]["schema"]["maxItems"] == 2
