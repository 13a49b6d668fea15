"""Takes the pictures of the explorer in these pages: python docs/screenshots.py RUN SENTENCE [FOLDER].

They are of a real run in a real browser, Debian's Chromium, driven by Playwright: ``explorer.png`` of the page Compose,
and with ``--all`` one of each page in light, in dark and on a phone, to be looked at after a change.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
LOOKS = {
    "light": {"viewport": {"width": 1200, "height": 900}},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 800}, "is_mobile": True, "has_touch": True},
}


@contextmanager
def served(run: str) -> Iterator[str]:
    """Serve a run as ``composita explore`` does, and give its address."""
    command = [sys.executable, "-m", "composita", "explore", run, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline() if server.stdout else ""
            yield re.findall(r"http://[^/]+", line)[0]
        finally:
            server.terminate()


def take(browser: Browser, address: str, out: Path, *, whole: bool = True, **look: object) -> None:
    """Take a picture of a page when all of it is there."""
    context = browser.new_context(**look)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#page[data-ready]", timeout=120_000)
    page.wait_for_selector("[aria-busy=true]", state="detached", timeout=120_000)
    page.screenshot(path=out, full_page=whole)
    context.close()
    sys.stdout.write(f"{out}\n")


def pages(sentence: str) -> dict[str, str]:
    """Give the address of each page."""
    words = sentence.split()
    swapped = " ".join([*words[-1:], *words[1:-1], *words[:1]])
    return {
        "home": "/",
        "compose": f"/compose?{urlencode({'s': sentence})}",
        "compare": f"/compare?{urlencode([('s', sentence), ('s', swapped)])}",
        "map": "/map",
        "experiment": "/experiment",
    }


def main(run: str, sentence: str, folder: Path, *, every: bool) -> None:
    """Take the picture of the documentation, or those of every page."""
    chromium = shutil.which("chromium") or sys.exit("no Chromium here: install Debian's package chromium")
    with sync_playwright() as playwright, served(run) as address:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        if every:
            for look, options in LOOKS.items():
                for name, place in pages(sentence).items():
                    take(browser, address + place, folder / f"{name}-{look}.png", **options)
        else:
            place = pages(sentence)["compose"]
            look = {"viewport": {"width": 1100, "height": 1150}}
            take(browser, address + place, folder / "explorer.png", whole=False, **look)
        browser.close()


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--all"]
    target = Path(given[2]) if len(given) > 2 else Path(__file__).parent
    main(given[0], given[1], target, every="--all" in sys.argv)
