"""How long the explorer takes to answer: the median over sentences and words that differ, asked over HTTP, one by one.

The lexicon is made up: 100 verbs, each with 60 objects of 15 subjects, over 2,000 nouns, at 300 dimensions, so that
neighbours are looked for among 92,000 rows. There is no other program that answers the same, so times stand against
the goals. The same for a run of yours:

    python -m benchmarks.explorer RUN
"""

from __future__ import annotations

import json
import random
import re
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode, urljoin

from benchmarks.composition import make_space
from benchmarks.measure import Row, report
from composita.functions.learn import learn
from composita.functions.onestep import OneStep
from composita.spaces.space import Space

VERBS, OBJECTS, SUBJECTS, ASKED, EXPLAINED = 100, 60, 15, 40, 10
FIRST, ANSWER, REASON = 1.0, 0.1, 1.0
"""Seconds: the goals for the first page, for an answer, and for its explanation, which comes after it."""


def run(path: Path | None = None) -> list[Row]:
    """Measure the first page, composing, explaining and words, on a run or on a made-up lexicon."""
    if path is not None:
        return _measure(path)
    with TemporaryDirectory() as folder:
        space = make_space(VERBS, OBJECTS, SUBJECTS)
        space.save(Path(folder) / "space")
        learn(Space.open(Path(folder) / "space"), learner=OneStep(), patterns="svo", out=Path(folder) / "lexicon")
        return _measure(Path(folder) / "lexicon")


def _measure(path: Path) -> list[Row]:
    """Serve a folder in a process of its own, and ask it."""
    command = [sys.executable, "-m", "composita", "explore", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://[^/]+", server.stdout.readline())
            assert found is not None, "the server says where it can be asked"
            return list(_rows(found[0]))
        finally:
            server.terminate()


def _rows(address: str) -> list[Row]:
    begun = time.perf_counter()
    about = _first_page(address)
    rows = [_row("the first page", time.perf_counter() - begun, FIRST)]
    verbs = [word for word in about["words_to_try"] if word.endswith("-v")]
    nouns = [word for word in about["map_to_try"] if word.endswith("-n") and "(" not in word]
    draw = random.Random(0)
    pairs = [draw.sample(nouns, 2) for _ in range(ASKED)]
    phrases = [f"{draw.choice(verbs)}({one}, {other})" for one, other in pairs]
    words = [one for one, _ in pairs]
    for what, name, key, asked, goal in (
        ("composing", "compose", "s", phrases, ANSWER), ("explaining", "explain", "s", phrases[:EXPLAINED], REASON),
        ("a noun, with its neighbours", "word", "w", words, ANSWER),
        ("a verb, with its functions", "word", "w", verbs, ANSWER),
    ):  # fmt: skip
        times = []
        for given in dict.fromkeys(asked):
            begun = time.perf_counter()
            _ask(f"{address}/api/{name}?{urlencode({key: given})}")
            times.append(time.perf_counter() - begun)
        rows.append(_row(f"{what} (median of {len(times)})", statistics.median(times), goal))
    return rows


def _first_page(address: str) -> dict[str, list[str]]:
    """Load what a browser loads for the first page, one after the other."""
    seen, left = set(), ["/"]
    while left:
        place = left.pop()
        if place in seen:
            continue
        seen.add(place)
        text = _ask(address + place).decode()
        left += [
            urljoin(place, name) for name in re.findall(r'(?:(?:src|href)="|from ")(/static/[^"]+|\.[^"]+)"', text)
        ]
    about: dict[str, list[str]] = json.loads(_ask(f"{address}/api/about"))
    return about


def _ask(url: str) -> bytes:
    """Ask, and ask again as the pages do while the server is busy with it."""
    while True:
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                body: bytes = answer.read()
            return body
        except urllib.error.HTTPError as error:
            with error:
                if "Retry-After" not in error.headers:
                    raise
        time.sleep(0.1)


def _row(what: str, seconds: float, goal: float) -> Row:
    return Row(what, 1000 * seconds, "ms", "the goal", 1000 * goal, goal / seconds, f"below {1000 * goal:.0f} ms")


if __name__ == "__main__":
    report("explorer", run(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
