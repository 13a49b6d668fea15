"""Fuzzing that is guided by coverage: for development, with `atheris`, which is no dependency of ours.

    python -m tests.faults.guided --seconds 120 --found FOLDER [TARGET...]

Each target is a process of its own, in which the package's Python, its kernels uncompiled, is instrumented; it ends at
the first input that is neither read nor refused with one line, and keeps it in the folder. Such inputs belong into the
lists ``FOUND`` of the tests. Without targets all take their turn.
"""

import argparse
import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FORMATS = ("conllu", "conllx", "wacky")
STAGES = ("encode", "choose", "count", "space", "learn", "run")
QUERIES = [
    b"/api/compose\0sentence=dogs+chase+cats", b"/api/neighbours\0word=dog-n&count=5", b"/api/map\0words=dog-n,cat-n",
    b"/static/main.js\0", b"/\0", b"/openapi.json\0", b"/api/explain\0sentence=dogs+sleep&method=one-step",
]  # fmt: skip


def targets():
    """Give for each target how its files begin to be made and what is done with one, which may only refuse."""
    from tests.faults import test_fuzz

    found = {kind: about for kind, about in test_fuzz.FILES.items() if kind != "parsed text"}
    for kind, (read, seeds) in test_fuzz.TEXTS_OF_USERS.items():
        found[f"text of a {kind}"] = (read, [seed.encode() for seed in seeds], None)
    for form in FORMATS:
        found[form] = (reader(form), None, ".conllu")
    for stage in STAGES:
        found[f"artefact of {stage}"] = (stage, None, None)
    found["http"] = (None, QUERIES, None)
    return found


def reader(form):
    """Give a function that reads bytes of a format in two pieces."""

    def read(data):
        from composita.corpus.formats import FORMATS as KNOWN
        from composita.corpus.reading import Reader

        reading = Reader(KNOWN[form])
        half = len(data) // 2
        reading.feed(data[:half])
        reading.feed(data[half:])
        list(reading.tokens())

    return read


# ---------------------------------------------------------------- one target


def fuzz(name, seconds, found):
    """Fuzz a target for some time in this process; it does not return."""
    import atheris

    with atheris.instrument_imports(include=["composita"]):
        read, seeds, suffix = targets()[name]
        from composita.store.errors import CompositaError

        folder = Path(tempfile.mkdtemp(prefix="guided-"))
        if name in FORMATS:
            from tests.corpus.texts import TEXTS

            once, seeds = read, [text for form, text in TEXTS.items() if form.startswith(name)] or list(TEXTS.values())
        elif name == "http":
            once = asker(folder)
        elif name.startswith("artefact of "):
            once, seeds = forger(read, folder)
        elif suffix is None:

            def once(data):
                read(data.decode(errors="replace"))

        else:
            path = folder / f"file{suffix}"

            def once(data):
                path.write_bytes(data)
                read(path)

    def one(data):
        try:
            once(data)
        except CompositaError as error:
            said = str(error)
            if not said or "\n" in said or len(said) > 2000:
                raise AssertionError(repr(said)) from error

    start = folder / "seeds"
    start.mkdir()
    for number, seed in enumerate(seeds):
        (start / str(number)).write_bytes(seed)
    found.mkdir(parents=True, exist_ok=True)
    atheris.Setup(
        [sys.argv[0], str(start), f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=3000", "-max_len=4096",
         "-verbosity=0", "-print_final_stats=1", f"-artifact_prefix={found}/{name.replace(' ', '-')}-"],
        one,
    )  # fmt: skip
    atheris.Fuzz()


def forger(stage, folder):
    """Give what opens an artefact with one file exchanged and its checksum put right, and its files as seeds."""
    from composita.corpus.corpus import Corpus
    from composita.counting.counts import Counts
    from composita.counting.vocabulary import Vocabulary
    from composita.experiment.run import Run
    from composita.functions.lexicon import Lexicon
    from composita.spaces.space import Space

    whole = Path(os.environ["COMPOSITA_ARTEFACTS"]) / stage
    meta = json.loads((whole / "meta.json").read_bytes())
    names = ["meta.json", *sorted(meta["files"])]
    opened = {
        "encode": lambda path: [shard.load() for shard in Corpus.open(path).shards()],
        "choose": lambda path: Vocabulary.open(path).table(),
        "count": lambda path: (Counts.open(path).labels(), Counts.open(path).matrix()),
        "space": lambda path: (Space.open(path).labels(), Space.open(path).nearest(Space.open(path).array[:1], 2)),
        "learn": lambda path: (Lexicon.open(path).reports(), [Lexicon.open(path).heads(n) for n in (1, 2)]),
        "run": lambda path: (str(Run.open(path)), Run.open(path).results),
    }[stage]
    copy = folder / "copy"

    def once(data):
        if not data:
            return
        name, content = names[data[0] % len(names)], data[1:]
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(whole, copy)
        (copy / name).write_bytes(content)
        if name != "meta.json":
            said = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            (copy / "meta.json").write_text(json.dumps({**meta, "files": {**meta["files"], name: said}}))
        opened(copy)

    seeds = [bytes([place]) + (whole / name).read_bytes() for place, name in enumerate(names)]
    return once, [seed for seed in seeds if len(seed) <= 60_000]


def asker(folder):
    """Give what asks the application of the explorer for a path and a query, divided by a zero byte."""
    from composita.explorer.app import create_app
    from composita.explorer.view import View

    app = create_app(View.open(Path(os.environ["COMPOSITA_ARTEFACTS"]) / "run"), hosts=frozenset({"127.0.0.1"}))

    def once(data):
        path, _, query = data.partition(b"\0")
        query, _, more = query.partition(b"\0")
        sent, heard = [], [{"type": "http.request", "body": b"", "more_body": False}]

        async def send(message):
            sent.append(message)

        async def receive():
            return heard.pop() if heard else {"type": "http.disconnect"}

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
            "path": "/" + path.decode("utf-8", "replace").lstrip("/"), "raw_path": path, "root_path": "",
            "query_string": query, "headers": [(b"host", b"127.0.0.1"), (b"accept", more)],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        }  # fmt: skip
        asyncio.run(app(scope, receive, send))
        status = sent[0]["status"]
        assert status < 500 or status == 503, (status, sent[1:])

    return once


# ---------------------------------------------------------------- all of them


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seconds", type=int, default=120, help="for each target")
    parser.add_argument("--found", type=Path, default=Path("found"), help="where inputs are kept that were not refused")
    parser.add_argument("--artefacts", type=Path, help="where the artefacts are, or are to be made")
    asked = parser.parse_args()
    if len(asked.targets) == 1:
        fuzz(asked.targets[0], asked.seconds, asked.found.absolute())
    place = asked.artefacts or asked.found / "artefacts"
    if not (place / "run").exists():
        from tests.faults.stages import make_inputs, smaller_steps

        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        smaller_steps()
        make_inputs(place)
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "COMPOSITA_ARTEFACTS": str(place.absolute())}
    for name in asked.targets or targets():
        command = [sys.executable, "-m", "tests.faults.guided", name, "--seconds", str(asked.seconds)]
        done = subprocess.run(
            [*command, "--found", str(asked.found)], env=environment, capture_output=True, text=True, check=False
        )
        said = [line.split(":")[-1].strip() for line in done.stderr.splitlines() if "number_of_executed_units" in line]
        print(f"{name}: {said[-1] if said else 'no'} inputs, exit {done.returncode}", flush=True)  # noqa: T201
        if done.returncode:
            print("\n".join(done.stderr.splitlines()[-40:]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
