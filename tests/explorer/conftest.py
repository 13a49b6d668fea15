"""A run of the miniature world, served as `composita explore` does, and a browser to look at it."""

import shutil
import socket
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from composita.corpus.miniature import write_miniature
from composita.experiment.config import Experiment
from composita.explorer.app import create_app
from composita.explorer.questions import example_sentences
from composita.explorer.serve import Place, server_config
from composita.explorer.view import Showing, View

EXPERIMENT = """
name = "miniature"
preset = "recommended"
[corpus]
sources = ["text/miniature.conllu"]
[vocabulary]
adjectives = 100
contexts = 500
stop = 0
[count]
phrases = ["sv", "svo", "vo", "an"]
heads = "all"
[space]
dimensions = 16
[spaces.full]
reduce = "none"
[spaces.svd]
reduce = "svd"
[learners.onestep]
learner = "onestep"
[evaluate]
benchmarks = ["text/miniature-gs2011.txt"]
methods = ["verb", "add", "one-step"]
bootstrap = 100
"""


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """Make a run of a small experiment."""
    folder = tmp_path_factory.mktemp("explored")
    write_miniature(folder / "text")
    (folder / "experiment.toml").write_text(EXPERIMENT)
    Experiment.load(folder / "experiment.toml").run(folder / "run")
    return folder / "run"


@contextmanager
def served(path, *, token=None, seconds=20.0, prepare=True):
    """Serve a folder, or what is shown of one, in a thread; give its address."""
    shown = path if isinstance(path, Showing) else View.open(path)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        port = listening.getsockname()[1]
        app = create_app(shown, hosts=Place("127.0.0.1", port, token).hosts, token=token, seconds=seconds)
        server = uvicorn.Server(server_config(app))
        if prepare and isinstance(shown, View):
            shown.prepare(example_sentences(shown))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session")
def address(run):
    with served(run) as found:
        yield found


@pytest.fixture(scope="session")
def chromium():
    """Give a browser, or say why there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    place = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if place is None:
        pytest.skip("no Chromium here: install Debian's package chromium to test the pages")
    flags = [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
    ]  # fmt: skip
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=Path(place), args=flags)
        yield browser
        browser.close()


class Tab:
    """A page in the browser, with whatever it complained about."""

    def __init__(self, browser, address, **options):
        self.context = browser.new_context(**({"viewport": {"width": 1200, "height": 900}} | options))
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.address = address
        self.complaints = []
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, place):
        self.page.goto(self.address + place)
        self.wait(place)
        return self.page

    def wait(self, start=""):
        self.page.wait_for_function(
            "start => { const now = document.querySelector('#page').dataset.ready; "
            "return now !== undefined && now === location.pathname + location.search && now.startsWith(start); }",
            arg=start.partition("?")[0],
        )


@pytest.fixture
def tab(chromium, address):
    """Open a tab; at the end it must not have complained."""
    found = Tab(chromium, address)
    yield found
    found.context.close()
    assert found.complaints == []
