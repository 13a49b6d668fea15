"""The stages of the pipeline on a small text, each as one function of a folder of inputs and of what it makes.

Run as a program this is the nursery: it imports everything once, and for each line it reads it has a child of its own
do a stage, so that a hundred runs that are killed take seconds and not minutes.
"""

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

from composita.corpus import encoding, planning, sources
from composita.corpus.corpus import Corpus
from composita.corpus.encoding import encode
from composita.corpus.synthetic import write_synthetic
from composita.counting import count as counting
from composita.counting.job import Limits
from composita.counting.vocabulary import Vocabulary
from composita.experiment.config import Experiment
from composita.functions import learn as learning
from composita.functions.lexicon import Lexicon
from composita.functions.tasks import learn_chunk  # noqa: F401 - imported before any child is made
from composita.spaces.space import Space
from composita.store.engine import Engine
from composita.store.folder import Folder, without_generation

EXPERIMENT = """
name = "faults"

[corpus]
sources = ["text-*.conllu"]

[vocabulary]
nouns = 120
verbs = 40
contexts = 100
stop = 5

[count]
phrases = ["sv", "svo"]
heads = "all"

[space]
dimensions = 8

[spaces.svd]
reduce = "svd"

[learners.onestep]
learner = "onestep"
min_nonzero = 1

[evaluate]
methods = ["verb", "add", "one-step"]
bootstrap = 50
benchmarks = ["pairs.tsv"]
"""


def _encode(inputs, out):
    encode(sorted(inputs.glob("text-*.conllu")), out, engine=Engine(2))


def _choose(inputs, out):
    corpus = Corpus.open(inputs / "encode")
    Vocabulary.from_corpus(corpus, nouns=120, verbs=40, contexts=100, stop=5).save(out)


def _count(inputs, out):
    corpus, vocabulary = Corpus.open(inputs / "encode"), Vocabulary.open(inputs / "choose")
    counting.count(corpus, vocabulary, phrases="sv,svo", out=out, engine=Engine(2))


def _space(inputs, out):
    Space.from_counts(counting.Counts.open(inputs / "count"), dimensions=8, out=out, engine=Engine(2))


def _learn(inputs, out):
    learning.learn(Space.open(inputs / "space"), min_nonzero=1, out=out, engine=Engine(2))


def _run(inputs, out):
    Experiment.from_toml(EXPERIMENT, folder=inputs).run(out, workers=2)


STAGES = {"encode": _encode, "choose": _choose, "count": _count, "space": _space, "learn": _learn, "run": _run}
"""In order: each takes what those before it made."""


def make_inputs(folder):
    """Write the text, and some pairs of phrases of it with ratings."""
    for number in range(3):
        write_synthetic(folder / f"text-{number}.conllu", 8_000, seed=number)
    for name in list(STAGES)[:-1]:
        STAGES[name](folder, folder / name)
    lexicon = Lexicon.open(folder / "learn")
    words, (verb, other) = lexicon.space.labels()[:4], lexicon.heads(2)[:2]
    lines = [f"{verb}({a}, {b})\t{other}({a}, {b})\tann\t{i}" for i, a in enumerate(words) for b in words]
    text = "\n".join(["sentence1\tsentence2\tannotator\trating", *lines]) + "\n"
    (folder / "pairs.tsv").write_text(text)
    STAGES["run"](folder, folder / "run")


def smaller_steps(put=setattr):
    """Have every stage take many steps, so that there are many moments at which to end it."""
    for module in (sources, planning, encoding):
        put(module, "SEGMENT", 20_000)
    put(counting, "limits", lambda *_: Limits(slice_tokens=4000, merge_cells=3000, fan=2))
    put(learning, "CHUNK_SECONDS", 0.002)


def content(folder):
    """What a folder says when all is well: its files by name and checksum; of a run those of its stages, too."""
    folder = Path(folder)
    found = {}
    for meta in sorted(folder.rglob("meta.json")):
        place = Folder.open(meta.parent, version=None)
        if problems := place.verify():
            raise ValueError(problems[0])
        name = meta.parent.relative_to(folder).as_posix()
        for entry in place.files.values():
            # A report tells how long things took.
            if Path(entry.name).suffix in (".parquet", ".safetensors"):
                found[f"{name}/{without_generation(entry.name)}"] = entry.sha256
    return found


# ---------------------------------------------------------------- the nursery


def _child(asked):
    """Do one stage under the circumstances that were asked for, and say what came of it."""
    limits = {}
    if "room" in asked:
        limits[resource.RLIMIT_FSIZE] = asked["room"]
    if "memory" in asked:
        held = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        limits[resource.RLIMIT_AS] = held + asked["memory"]
    for limit, most in limits.items():
        resource.setrlimit(limit, (most, resource.RLIM_INFINITY))
    if asked.get("clock"):
        begun, way = time.time(), iter(range(1 << 30))
        time.time = lambda: begun + (-1) ** next(way) * 1e8
    if "at_once" in asked:  # children that are to meet begin together
        while not Path(asked["at_once"]).exists():
            time.sleep(0.001)
    try:
        STAGES[asked["stage"]](Path(asked["inputs"]), Path(asked["out"]))
        said = {"error": "", "message": ""}
    except BaseException as error:  # a test reads it
        said = {"error": type(error).__name__, "message": str(error)}
    for limit in limits:
        resource.setrlimit(limit, (resource.RLIM_INFINITY,) * 2)
    Path(asked["report"]).write_text(json.dumps(said))


def _answer(**said):
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def main():
    """Have children, as they are asked for."""
    smaller_steps()
    _answer(ready=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            _, status = os.waitpid(asked["wait"], 0)
            _answer(status=os.waitstatus_to_exitcode(status))
            continue
        child = os.fork()
        if not child:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            code = 1
            try:
                _child(asked)
                code = 0
            finally:
                os._exit(code)
        _answer(child=child)


if __name__ == "__main__":
    main()
