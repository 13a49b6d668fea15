"""The paper's experiment, rehearsed on synthetic text of growing size: what each stage takes, and what more would take.

    python -m benchmarks.rehearsal --sizes 1M,10M,100M,280M --functions 10M --lin 10M --folder scratch
    python -m benchmarks.rehearsal --page docs/scaling.md

Sizes may also be rehearsed one by one: what the file of results says of other sizes stays there. Each stage is the
command that a user would give, in a process of its own: its time on the wall, the time of all its threads and
processes on the processor, the largest memory of them all together, and what it writes. Growth is fitted to the time
on the processor, which other programs on the machine disturb least. Everything made is removed again, but for the
texts where a folder was named.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.measure import RESULTS, human
from composita.cli.output import parse_count
from composita.counting.keys import pack
from composita.counting.labels import Names
from composita.counting.patterns import load_patterns
from composita.spaces.items import Items
from composita.spaces.space import Space

Int64Array = npt.NDArray[np.int64]

PIECE = 1_000_000
"""Tokens a file of text."""
HEADS = range(60, 132)
"""Which verbs, by rank, head phrases: at 280M tokens these 72 have about as many phrases as the paper's 72."""
INTRANSITIVE, OBJECTS, SUBJECTS = 281, 324, 15
"""The paper's examples: phrases of an intransitive verb; objects of a transitive one, and subjects of each."""
ITEMS, RATERS, RATED = 199, 25, 100
"""As in the benchmark of transitive sentences: pairs, people, and how many pairs each of them rated."""
FURTHER = (2_800_000_000, 1_000_000_000_000)
LOOKS = 0.25  # seconds between two looks at the memory


@dataclass(frozen=True)
class Stage:
    """What one stage took."""

    tokens: int
    stage: str
    wall: float
    cpu: float
    memory: int
    disk: int


# ---------------------------------------------------------------- measuring


def measured(tokens: int, stage: str, command: Sequence[str], makes: Path | None = None) -> Stage:
    """Run a command in a process group of its own and say what it took."""
    peak, ended = [0], threading.Event()
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, process_group=0
    )
    watch = threading.Thread(target=_watch, args=(process.pid, peak, ended))
    watch.start()
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    ended.set()
    watch.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {said.decode()}")
    memory = max(peak[0], usage.ru_maxrss * 1024)
    disk = 0 if makes is None else sum(file.stat().st_size for file in makes.rglob("*") if file.is_file())
    done = Stage(tokens, stage, wall, usage.ru_utime + usage.ru_stime, memory, disk)
    print(f"{human(tokens):>6} {stage:<22} {wall:8.1f} s {done.cpu:8.1f} s of CPU {memory / 1e6:8.0f} MB of memory "
          f"{disk / 1e6:8.0f} MB of disk", flush=True)  # fmt: skip
    return done


def _watch(group: int, peak: list[int], ended: threading.Event) -> None:
    """Keep the largest sum of the resident sizes of a group's processes."""
    page = os.sysconf("SC_PAGE_SIZE")
    while not ended.wait(LOOKS):
        total = 0
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == group:
                    total += int(fields[21]) * page
            except (OSError, ValueError, IndexError):
                continue
        peak[0] = max(peak[0], total)


# ---------------------------------------------------------------- one size


def rehearse(
    tokens: int, texts: Sequence[Path], folder: Path, workers: int, *, lin: bool, functions: bool
) -> tuple[list[Stage], dict[str, int]]:
    """Run all stages on some files of text; ``functions`` also at the paper's numbers of examples."""
    many = ["-q", "--workers", str(workers)]
    corpus, counts, heads, ratings = (folder / name for name in ("corpus", "counts", "heads.txt", "ratings.txt"))
    ppmi, svd, nmf, lexicon = (folder / name for name in ("ppmi", "svd", "nmf", "lexicon"))
    done: list[Stage] = []

    def do(stage: str, makes: Path | None, *command: str | Path) -> None:
        done.append(measured(tokens, stage, ["composita", *map(str, command)], makes))

    def evaluate(stage: str, path: Path, methods: str) -> None:
        do(stage, None, "evaluate", path, "-b", ratings, "--methods", methods, "-q")

    heads.write_text("".join(f"{verb}-v\n" for verb in verbs()))
    do("encode", corpus, "encode", *texts, "--out", corpus, *many)
    do("count", counts, "count", corpus, "--out", counts, "--phrases", "sv,svo", "--heads", heads, *many)
    do("ppmi", ppmi, "space", counts, "--out", ppmi, "--reduce", "none", *many)
    do("svd 300", svd, "space", counts, "--out", svd, "--reduce", "svd", *many)
    do("nmf 300", nmf, "space", counts, "--out", nmf, "--reduce", "nmf", *many)
    about = _about(counts)
    write_ratings(Space.open(svd), ratings)
    do("functions as attested", lexicon, "learn", svd, "--out", lexicon, "--preset", "paper", *many)
    evaluate("evaluate, ppmi", ppmi, "verb,add,multiply,kronecker")
    evaluate("evaluate, svd", lexicon, "verb,add,learned")
    evaluate("evaluate, nmf", nmf, "verb,add,multiply,kronecker")
    shutil.rmtree(lexicon)
    if functions:
        for space in (svd, nmf):
            write_examples(space, folder / "examples")
            do(f"functions, {space.name}", lexicon, "learn", folder / "examples", "--out", lexicon, "--preset", "paper",
               *many)  # fmt: skip
            evaluate(f"evaluate functions, {space.name}", lexicon, "learned")
            shutil.rmtree(lexicon)
            shutil.rmtree(folder / "examples")
    if lin:
        out = folder / "lin"
        do("nmf 300, lin", out, "space", counts, "--out", out, "--reduce", "nmf", "--solver", "lin", *many)
    return done, about


def verbs() -> list[str]:
    """Name the verbs that head phrases."""
    from composita.corpus.synthetic.words import spell

    return [spell("VERB", rank) for rank in HEADS]


def _about(counts: Path) -> dict[str, int]:
    """Say how large the counts are."""
    from composita.counting.counts import Counts

    found = Counts.open(counts)
    return {"phrases": len(found) - len(found.rows("word")), "cells": len(found.matrix().data)}


def write_examples(source: Path, out: Path) -> None:
    """Write a space whose phrases are as many as the paper had of each verb, with vectors of phrases that there are."""
    space, rng = Space.open(source), np.random.default_rng(0)
    words = space.items.rows("word")
    number = {word: place for place, word in enumerate(space.items.words)}
    nouns = np.array([number[label] for label in space.labels() if label.endswith("-n") and "(" not in label])
    frequency = space.frequency[space.items.word_rows[nouns]]
    nouns = nouns[np.argsort(-frequency, kind="stable")[:2000]]
    heads = np.array([number[f"{verb}-v"] for verb in verbs() if f"{verb}-v" in number])
    keys = []
    for head in heads:
        alone = rng.choice(nouns, INTRANSITIVE, replace=False)
        keys.append(_phrase_keys(1, head, alone[:, None]))
        objects = np.repeat(rng.choice(nouns, OBJECTS, replace=False), SUBJECTS)
        subjects = np.concatenate([rng.choice(nouns, SUBJECTS, replace=False) for _ in range(OBJECTS)])
        keys.append(_phrase_keys(2, head, np.stack([objects, subjects], 1)))
    upper, lower = (np.concatenate(part) for part in zip(*keys, strict=True))
    order = np.lexsort((lower, upper))
    attested = np.flatnonzero(space.items.fields.pattern > 0)
    rows = np.concatenate([words, rng.choice(attested, len(order))])
    names = Names(space.items.names.words, load_patterns("sv,svo"), ())
    items = Items(names, np.r_[space.items.upper[words], upper[order]], np.r_[space.items.lower[words], lower[order]])
    core = np.r_[space.core[words], np.zeros(len(order), bool)]
    Space(
        items, np.asarray(space.array)[rows], core, np.ones(len(rows), np.int64), np.full(len(rows), 100, np.int32),
        source="vectors", source_fingerprint="rehearsal",
    ).save(out)  # fmt: skip


def _phrase_keys(pattern: int, head: int, arguments: Int64Array) -> tuple[Int64Array, Int64Array]:
    places = np.full((len(arguments), 4), -1, np.int64)
    places[:, : arguments.shape[1]] = arguments
    same = np.ones(len(arguments), np.int64)
    return pack(same * pattern, same * head, same * 0, places)


def write_ratings(space: Space, path: Path) -> None:
    """Write pairs of sentences and what people might have said of them."""
    rng = np.random.default_rng(0)
    known = [verb for verb in verbs() if space.find(f"{verb}-v") is not None]
    nouns = [label[:-2] for label in space.labels()[:20_000] if label.endswith("-n") and "(" not in label][:2000]
    items = [(*rng.choice(known, 2, replace=False), *rng.choice(nouns, 2, replace=False)) for _ in range(ITEMS)]
    lines = ["participant verb subject object landmark input hilo"]
    for person in range(RATERS):
        for place in rng.choice(ITEMS, RATED, replace=False):
            verb, landmark, subject, object_ = items[place]
            lines.append(f"p{person} {verb} {subject} {object_} {landmark} {rng.integers(1, 8)} HIGH")
    path.write_text("\n".join(lines) + "\n")


# ---------------------------------------------------------------- growth


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Fit the power of a size that values grow with; of a single one, 0.

    >>> round(exponent([1, 10, 100], [3, 30, 300]), 3)
    1.0
    """
    if len(sizes) < 2 or min(values) <= 0:
        return 0.0
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def growth(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Say for each stage how it grows, and what it would take for more tokens.

    The exponent is that of the three largest sizes, or of the last two if it is larger: on small ones the start of the
    program weighs most, and makes growth look less than it is. A stage of one
    size has none: it is one that does not depend on how much text there is, or is not part of the paper's experiment.
    """
    found = []
    for name in dict.fromkeys(stage.stage for stage in stages):
        some = sorted((s for s in stages if s.stage == name), key=lambda s: s.tokens)[-3:]
        sizes, last = [s.tokens for s in some], some[-1]
        row: dict[str, Any] = {"stage": name}
        for what in ("cpu", "memory", "disk"):
            values = [float(getattr(s, what)) for s in some]
            # Start-up bends the line upwards: what the last two say is nearer to what comes after them.
            power = max(exponent(sizes, values), exponent(sizes[-2:], values[-2:]))
            row[f"{what}_exponent"] = round(power, 3)
            row[f"{what}_projected"] = {
                str(more): values[-1] * (more / last.tokens) ** max(power, 0.0) for more in FURTHER
            }
        found.append(row)
    return found


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Print how stages grow."""
    print(f"\n{'stage':<22} {'CPU grows by':>12} {'memory by':>10}   CPU and memory at {human(FURTHER[0])} tokens")
    for row in rows:
        cpu, memory = (row[f"{what}_projected"] for what in ("cpu", "memory"))
        values = [cpu[str(FURTHER[0])], memory[str(FURTHER[0])]]
        print(f"{row['stage']:<22} {row['cpu_exponent']:>12} {row['memory_exponent']:>10}   "
              f"{values[0]:8.0f} s {values[1] / 1e9:6.2f} GB")  # fmt: skip


# ---------------------------------------------------------------- the page

BEGIN, END = "<!-- rehearsal: {} -->", "<!-- end -->"
PRICE = 0.05
"""US dollars for an hour of one core with 4 GB, of a rented machine."""
LEAST = 3
"""From fewer sizes nothing is projected."""
CORES = 64
"""Of the machines for a trillion tokens."""


def tables(said: dict[str, Any]) -> dict[str, list[str]]:
    """Give the tables of the page, in Markdown, by their names."""
    stages = [Stage(**stage) for stage in said["stages"]]
    sizes = sorted({stage.tokens for stage in stages})
    names = list(dict.fromkeys(stage.stage for stage in stages))
    found = {(stage.stage, stage.tokens): stage for stage in stages}
    rows: dict[str, dict[str, Any]] = {row["stage"]: row for row in growth(stages)}
    head = ["stage", *(f"{human(size)} tokens" for size in sizes)]

    def measured_table(show: Callable[[Stage], str], last: str, key: str) -> list[str]:
        body = [
            [name, *(show(found[name, size]) if (name, size) in found else "" for size in sizes),
             f"{rows[name][f'{key}_exponent']:.2f}" if sum((name, size) in found for size in sizes) > 1 else ""]
            for name in names
        ]  # fmt: skip
        return markdown([[*head, last], *body])

    paper = [row for name, row in rows.items() if is_paper(name)]
    totals: dict[int, float] = {more: sum(row["cpu_projected"][str(more)] for row in paper) for more in FURTHER}
    body: list[list[str]] = [
        [name, *(f"{row['cpu_projected'][str(more)]:,.0f} s" for more in FURTHER),
         f"{row['memory_projected'][str(FURTHER[0])] / 1e9:.1f} GB",
         *(f"{row['disk_projected'][str(more)] / 1e9:,.1f} GB" for more in FURTHER)]
        for name, row in rows.items() if is_paper(name)
    ]  # fmt: skip
    hours = totals[FURTHER[1]] / 3600
    lacking = [name for name in names if is_paper(name) and "functions" not in name
               and sum((name, size) in found for size in sizes) < LEAST]  # fmt: skip
    few, enough = f"Not projected: that takes {LEAST} sizes of every stage.", not lacking
    return {
        "time": measured_table(lambda stage: f"{stage.cpu:,.1f} s", "grows by", "cpu"),
        "memory": measured_table(lambda stage: f"{stage.memory / 1e6:,.0f} MB", "grows by", "memory"),
        "disk": measured_table(lambda stage: f"{stage.disk / 1e6:,.0f} MB" if stage.disk else "", "grows by", "disk"),
        "counts": markdown([
            ["", *(f"{human(size)} tokens" for size in sizes)],
            *([what, *(f"{n:,}" if (n := said["sizes"].get(str(size), {}).get(key)) else "" for size in sizes)]
              for what, key in (("phrases", "phrases"), ("cells", "cells"), ("bytes of text, compressed", "text"))),
        ]),
        "projection": [few] if not enough else markdown([
            ["stage", "time, 2.8G", "time, 1T", "memory, 2.8G", "disk, 2.8G", "disk, 1T"], *body,
            ["together", *(f"{totals[more]:,.0f} s" for more in FURTHER), "", "", ""],
        ]),
        "cost": [] if not enough else [
            f"At 2.8 billion tokens all stages together take {totals[FURTHER[0]] / 3600:.1f} hours of one core, so at "
            f"least {totals[FURTHER[0]] / 7200:.1f} hours on two. At a trillion they take {hours:,.0f} hours of one "
            f"core: {hours / CORES:,.0f} hours of one machine with {CORES} cores, {hours / CORES / 16:,.1f} hours of "
            f"16 such machines, or {hours * PRICE:,.0f} US dollars, where an hour of one core costs {PRICE:.2f}.",
        ],
    }  # fmt: skip


def is_paper(stage: str) -> bool:
    """Whether a stage belongs to the paper's experiment, rather than to a comparison."""
    return stage not in ("nmf 300, lin", "functions as attested", "evaluate, svd")


def markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write a table."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "|---" + "|--:" * (len(rows[0]) - 1) + "|", *lines[1:]]


def renew(page: Path, said: dict[str, Any]) -> None:
    """Put the tables into a page, each between its marks."""
    text = page.read_text()
    for name, lines in tables(said).items():
        before, mark, rest = text.partition(BEGIN.format(name))
        text = before + mark + "\n" + "\n".join(lines) + "\n" + END + rest.partition(END)[2]
    page.write_text(text)


# ---------------------------------------------------------------- the command


def make_texts(tokens: int, folder: Path) -> list[Path]:
    """Write files of synthetic text, each with its own seed, where they are not there yet."""
    from composita.corpus.synthetic import write_synthetic

    paths = [folder / f"text-{number:05d}.conllu.zst" for number in range(-(-tokens // PIECE))]
    for number, path in enumerate(paths):
        if not path.exists():
            write_synthetic(path, min(PIECE, tokens - number * PIECE), seed=number)
    return paths


def main() -> None:
    """Rehearse each size, and keep what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", default="1M,10M", help="how many tokens, such as 1M,10M,100M,280M")
    parser.add_argument("--folder", type=Path, help="where to work; by default in a temporary folder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--functions", default="", help="at which sizes to learn from the paper's numbers of examples")
    parser.add_argument("--lin", default="", help="at which sizes to factorise also by the paper's own algorithm")
    parser.add_argument("--out", type=Path, default=RESULTS / "rehearsal.json", help="the file of results")
    parser.add_argument("--page", type=Path, help="measure nothing, but renew the tables of this page")
    asked = parser.parse_args()
    if asked.page:
        renew(asked.page, json.loads(asked.out.read_text()))
        return
    sizes, functions, lin = (
        sorted(parse_count(size) for size in words.split(",") if size)
        for words in (asked.sizes, asked.functions, asked.lin)
    )
    if asked.folder:
        asked.folder.mkdir(parents=True, exist_ok=True)
    stages, abouts = earlier(asked.out, sizes)
    with tempfile.TemporaryDirectory(prefix="rehearsal-", dir=asked.folder) as name:
        folder = Path(name)
        for tokens in sizes:
            texts, place = make_texts(tokens, asked.folder or folder), folder / "work"
            place.mkdir()
            abouts[tokens] = {"text": sum(path.stat().st_size for path in texts)}
            done, about = rehearse(
                tokens, texts, place, asked.workers, lin=tokens in lin, functions=tokens in functions
            )
            stages += done
            abouts[tokens] |= about
            print(f"{human(tokens):>6} {abouts[tokens]}", flush=True)
            shutil.rmtree(place)
            _keep(asked.out, asked.workers, stages, abouts, growth(stages))
    show(growth(stages))


def earlier(path: Path, sizes: Sequence[int]) -> tuple[list[Stage], dict[int, dict[str, int]]]:
    """Read what is known of other sizes."""
    if not path.exists():
        return [], {}
    said = json.loads(path.read_text())
    stages = [Stage(**stage) for stage in said["stages"] if stage["tokens"] not in sizes]
    return stages, {int(size): about for size, about in said["sizes"].items() if int(size) not in sizes}


def _keep(out: Path, workers: int, stages: Sequence[Stage], abouts: dict[int, dict[str, int]], rows: object) -> None:
    """Write down what is known by now."""
    said = {
        "machine": platform.machine(), "python": platform.python_version(), "workers": workers,
        "sizes": dict(sorted(abouts.items())), "stages": [asdict(stage) for stage in stages], "growth": rows,
    }  # fmt: skip
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main()
