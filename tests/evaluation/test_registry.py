"""The registry: fetching from a server of our own that does everything wrong, and keeping files."""

import hashlib
import io
import threading
import time
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from composita.evaluation import download as downloading
from composita.evaluation import registry
from composita.evaluation.benchmarks import Benchmark
from composita.evaluation.download import DownloadError, download, unzipped
from composita.evaluation.registry import REGISTRY, add, data_home, fetch, known_by_checksum, listed, registered
from composita.store.errors import CancelledError, InputError, NotFoundError, StoreError, UsageError
from composita.store.progress import Cancellation
from tests.data import shared

TEXT = "participant verb noun landmark input hilo\n" + "".join(
    f"p{who} glow noun{number} burn {1 + (number + who) % 7} high\n" for number in range(40) for who in (1, 2, 3)
)
DATA = TEXT.encode()


class Server(ThreadingHTTPServer):
    """Serves `content`; ``plan`` says what goes wrong with each request in turn."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.plan, self.requests, self.edition = DATA, [], [], '"one"'

    def handle_error(self, request, client_address):
        pass  # the client went away, as tests want it


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        server = self.server
        server.requests.append(dict(self.headers))
        trouble = server.plan.pop(0) if server.plan else "none"
        if isinstance(trouble, int):
            self.send_error(trouble)
            return
        if trouble == "slow":
            time.sleep(1.5)
        first, content = 0, server.content
        asked = self.headers.get("Range")
        if asked and self.headers.get("If-Range") == server.edition and trouble != "no ranges":
            first = int(asked.removeprefix("bytes=").removesuffix("-"))
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(content) - first))
        if server.edition:
            self.send_header("ETag", server.edition)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        rest = content[first:]
        self.wfile.write(rest[: len(rest) // 2] if trouble == "cut" else rest)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(downloading, "PAUSE", 0.01)
    # No proxy of the machine stands between us and ourselves.
    monkeypatch.setenv("no_proxy", "*")
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPOSITA_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def url(server, path="file.txt"):
    return f"http://127.0.0.1:{server.server_port}/{path}"


def known(monkeypatch, **changes):
    """Pretend that the registry knows our server's file as ml2008."""
    entry = replace(registered("ml2008"), checksums=(hashlib.sha256(DATA).hexdigest(),), items=40, **changes)
    monkeypatch.setattr(registry, "REGISTRY", (entry, *(e for e in REGISTRY if e.name != "ml2008")))


# ------------------------------------------------------------ downloading


def test_download(server, tmp_path):
    heard = []
    assert download([url(server)], tmp_path / "x", progress=heard.append) == DATA
    assert heard[-1].done == len(DATA) and heard[-1].total == len(DATA)
    assert list(tmp_path.iterdir()) == []


def test_interrupted_download_goes_on_where_it_was(server, tmp_path):
    server.plan = ["cut"]
    assert download([url(server)], tmp_path / "x") == DATA
    assert [request.get("Range") for request in server.requests] == [None, f"bytes={len(DATA) // 2}-"]


def test_next_run_goes_on_too(server, tmp_path):
    server.plan = ["cut", 500, 503]
    with pytest.raises(DownloadError, match="500 .*503 .*are you offline"):
        download([url(server)], tmp_path / "x")
    assert (tmp_path / "x").stat().st_size == len(DATA) // 2
    assert download([url(server)], tmp_path / "x") == DATA
    assert server.requests[-1]["Range"] == f"bytes={len(DATA) // 2}-"


def test_changed_file_is_loaded_anew(server, tmp_path):
    server.plan = ["cut", 500, 500]
    with pytest.raises(DownloadError):
        download([url(server)], tmp_path / "x")
    server.content, server.edition = DATA[::-1], '"two"'
    assert download([url(server)], tmp_path / "x") == DATA[::-1]


@pytest.mark.parametrize("trouble", ["no ranges", 416])
def test_server_without_ranges(server, tmp_path, trouble):
    server.plan = ["cut", trouble]
    assert download([url(server)], tmp_path / "x") == DATA


def test_server_without_editions_is_asked_for_all(server, tmp_path):
    server.edition, server.plan = "", ["cut"]
    assert download([url(server)], tmp_path / "x") == DATA
    assert all("Range" not in request for request in server.requests)


def test_time_out(server, tmp_path):
    server.plan = ["slow"] * 3
    with pytest.raises(DownloadError, match="no answer within 0.2 seconds"):
        download([url(server)], tmp_path / "x", timeout=0.2)


def test_next_place_is_tried_and_a_missing_file_only_once(server, tmp_path):
    server.plan = [404]
    assert download([url(server, "a"), url(server, "b")], tmp_path / "x") == DATA
    assert len(server.requests) == 2


def test_offline(tmp_path, server):
    port = server.server_port
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match="are you offline") as caught:
        download([f"http://127.0.0.1:{port}/x"], tmp_path / "x")
    assert "\n" not in str(caught.value) and caught.value.exit_code == 1


def test_only_http(tmp_path):
    with pytest.raises(UsageError, match="expected an address that begins with http"):
        download(["file:///etc/passwd"], tmp_path / "x")


def test_too_large(server, tmp_path, monkeypatch):
    monkeypatch.setattr(downloading, "LARGEST", 10)
    with pytest.raises(InputError, match="too many for a benchmark"):
        download([url(server)], tmp_path / "x")


def test_cancelled(server, tmp_path):
    stop = Cancellation()
    stop.cancel()
    with pytest.raises(CancelledError):
        download([url(server)], tmp_path / "x", cancel=stop)


def archive(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, content in files.items():
            made.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


def test_archives():
    assert unzipped(archive(**{"SICK__SICK.txt": "a", "readme": "b"}), "SICK.txt") == b"a"
    with pytest.raises(InputError, match="there is no SICK.txt in the archive, but readme"):
        unzipped(archive(readme="b"), "SICK.txt")
    with pytest.raises(InputError, match="not an archive"):
        unzipped(b"PK\x03\x04nonsense", "SICK.txt")


# ------------------------------------------------------------ fetching and keeping


def test_fetch(server, home, monkeypatch):
    known(monkeypatch, urls=(url(server),))
    kept = fetch("ml2008")
    assert kept.known and kept.path == home / "benchmarks" / "ml2008" / "ML2008.txt" and kept.remarks == ()
    assert kept.path.read_bytes() == DATA
    assert [path.name for path in kept.path.parent.iterdir()] == ["ML2008.txt"]
    assert Benchmark.load("ml2008").name == "ml2008" and len(Benchmark.load("ml2008")) == 40


def test_fetch_from_an_archive(server, home, monkeypatch):
    server.content = archive(**{"data__ML2008.txt": DATA})
    known(monkeypatch, urls=(url(server),))
    assert fetch("ml2008").path.read_bytes() == DATA


def test_wrong_checksum_is_not_kept(server, home, monkeypatch):
    known(monkeypatch, urls=(url(server),))
    server.content = DATA + b"p9 glow sun burn 1 high\n"
    with pytest.raises(InputError, match="SHA-256 .* expected .*: it was not kept"):
        fetch("ml2008")
    with pytest.raises(NotFoundError):
        Benchmark.load("ml2008")


def test_structure_is_checked_where_no_checksum_is_known(server, home):
    kept = fetch("ks2014", urls=[url(server)])
    assert not kept.known and kept.remarks[0] == "it has 40 items, expected 108"


def test_what_is_no_benchmark_is_not_kept(server, home):
    server.content = b"<html>not found</html>"
    with pytest.raises(InputError, match="not a benchmark that is known"):
        fetch("ks2014", urls=[url(server)])
    assert not (home / "benchmarks" / "ks2014" / "KS2014.txt").exists()


def test_without_address_the_page_is_told(home):
    with pytest.raises(NotFoundError, match="get ML2008.txt from http.*composita data add ML2008.txt"):
        fetch("ml2008")


def test_add_own_ratings(home, tmp_path):
    path = tmp_path / "My Ratings.tsv"
    path.write_text("sentence1\tsentence2\tannotator\trating\ndog-n\tcat-n\tann\t3\n")
    kept = add(path)
    assert kept.name == "my-ratings" and not kept.known
    assert len(Benchmark.load("my-ratings")) == 1
    assert [one.name for entry, one in listed() if entry is None] == ["my-ratings"]
    path.write_text("sentence1\tsentence2\tannotator\trating\ndog-n\tcat-n\tann\t3\ndog-n\tcar-n\tann\t1\n")
    assert add(path, "mine").path.parent.name == "mine"
    assert Benchmark.load("mine").name == "mine"  # as it is kept, not as its file is called
    with pytest.raises(UsageError, match="expected a name of letters"):
        add(path, "../elsewhere")
    with pytest.raises(UsageError, match="there is no such file"):
        add(tmp_path / "nothing")


def test_add_knows_by_checksum_whatever_the_name(home, tmp_path):
    path = tmp_path / "renamed.txt"
    path.write_bytes(shared("benchmarks/GS2011data.txt").read_bytes())
    kept = add(path)
    assert kept.name == "gs2011" and kept.known


def test_add_knows_by_structure(home, tmp_path):
    path = tmp_path / "other.txt"
    path.write_bytes(shared("benchmarks/GS2011data.txt").read_bytes().replace(b"\n", b"\r\n"))
    kept = add(path)
    assert kept.name == "gs2011" and not kept.known
    assert "its checksum is none of those known" in kept.remarks[0]


def test_add_replaces(home, tmp_path):
    for name in ("one.tsv", "two.tsv"):
        (tmp_path / name).write_text("sentence1\tsentence2\trating\ndog-n\tcat-n\t3\n")
        kept = add(tmp_path / name, "mine")
    assert [path.name for path in kept.path.parent.iterdir()] == ["two.tsv"]


def test_unwritable_home(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COMPOSITA_DATA_HOME", str(tmp_path / "file"))
    (tmp_path / "x.tsv").write_text("sentence1\tsentence2\trating\ndog-n\tcat-n\t3\n")
    with pytest.raises(StoreError, match="set COMPOSITA_DATA_HOME"):
        add(tmp_path / "x.tsv")


def test_data_home(monkeypatch, tmp_path):
    monkeypatch.delenv("COMPOSITA_DATA_HOME", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_home() == tmp_path / "composita"
    monkeypatch.setattr("sys.platform", "darwin")
    assert data_home().parts[-3:] == ("Library", "Application Support", "composita")
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert data_home() == tmp_path / "composita" / "data"


def test_registry_is_consistent():
    names = [entry.name for entry in REGISTRY]
    assert len(set(names)) == len(names)
    for entry in REGISTRY:
        assert entry.page and entry.file and entry.citation
        assert all(len(checksum) == 64 for checksum in entry.checksums)
        assert all(place.startswith(("http://", "https://")) for place in (*entry.urls, entry.page))
    for name, file in (("gs2011", "GS2011data.txt"), ("ml2008", "ML2008.txt"), ("men", "MEN_dataset_lemma_form_full")):
        checksum = hashlib.sha256(shared(f"benchmarks/{file}").read_bytes()).hexdigest()
        assert known_by_checksum(checksum).name == name
