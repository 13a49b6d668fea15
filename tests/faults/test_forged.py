"""Artefacts of ours that somebody changed together with their checksums: read, or refused with an error of ours.

Each is opened and used in a child of its own, so that a crash of compiled code would be seen as what it is.
"""

import hashlib
import json
import os
import random
import shutil
import sys
import traceback
import warnings
from pathlib import Path

import pytest

from composita.composition.methods import METHODS
from composita.corpus.corpus import Corpus
from composita.counting.count import count
from composita.counting.counts import Counts
from composita.counting.vocabulary import Vocabulary
from composita.experiment.run import Run
from composita.functions.learn import learn
from composita.functions.lexicon import Lexicon
from composita.grammar.phrase import Phrase
from composita.spaces.space import Space
from composita.store.errors import CompositaError
from composita.store.folder import META, Folder
from tests.faults.stages import STAGES

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs fork")
TIMES = int(os.environ.get("COMPOSITA_FORGED", "12"))


def use_corpus(path, artefacts):
    corpus = Corpus.open(path)
    vocabulary = Vocabulary.from_corpus(corpus, nouns=50, verbs=20, contexts=50, stop=5)
    count(corpus, vocabulary, phrases="sv,svo")
    list(corpus.sentences(lemma="a", limit=3))


def use_vocabulary(path, artefacts):
    count(Corpus.open(artefacts / "encode"), Vocabulary.open(path), phrases="sv")


def use_counts(path, artefacts):
    counts = Counts.open(path)
    counts.labels(), counts.display(), counts.matrix(), (counts + counts)
    Space.from_counts(counts, dimensions=4)


def use_space(path, artefacts):
    space = Space.open(path)
    space.labels(), space.nearest(space.array[:1], 3)
    learn(space, min_nonzero=1)


def use_lexicon(path, artefacts):
    lexicon = Lexicon.open(path)
    nouns = [word for word in lexicon.space.labels() if word.endswith("-n")][:2]
    for arity in (1, 2):
        phrases = [Phrase(head, tuple(Phrase(noun) for noun in nouns[:arity])) for head in lexicon.heads(arity)[:5]]
        METHODS["learned"].compose(lexicon, phrases)
    lexicon.reports()


def use_run(path, artefacts):
    run = Run.open(path)
    str(run), run.results, run.lexicon()


USE = {
    "encode": use_corpus, "choose": use_vocabulary, "count": use_counts, "space": use_space, "learn": use_lexicon,
    "run": use_run,
}  # fmt: skip
AWKWARD = [b"\x00" * 4, b"\xff" * 4, b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"[]", b"null", b"-1", b'"x"', b"1e9"]


def forge(path, rng):
    """Change some bytes of a file of the folder, and its manifest so that nobody can tell; give the file's name."""
    meta = json.loads((path / META).read_bytes())
    name = rng.choice([META, *sorted(meta["files"]), *(["meta.json"] if len(meta["files"]) > 2 else [])])
    data = bytearray((path / name).read_bytes())
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(max(1, len(data)))
        match rng.randrange(4):
            case 0 if data:
                data[place] ^= 1 << rng.randrange(8)
            case 1:
                new = rng.choice(AWKWARD)
                data[place : place + len(new)] = new
            case 2:
                other = rng.randrange(max(1, len(data)))
                data[place : place + 8] = data[other : other + 8]
            case _:
                del data[place : place + rng.choice([1, 4, 100])]
    (path / name).write_bytes(data)
    if name != META:
        meta["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        (path / META).write_text(json.dumps(meta))
    return name


def in_a_child(function, *arguments):
    """Call it in a child, and give what it died of: nothing, or an error that is none of ours."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        said = b""
        try:
            warnings.simplefilter("ignore")
            function(*arguments)
        except CompositaError as error:
            said = b"" if "\n" not in str(error) else str(error).encode()
        except BaseException:  # what the test is about
            said = traceback.format_exc().encode()
        finally:
            os.write(write, said[-4000:])
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said or (f"died of signal {-status}" if status else "")


@pytest.mark.parametrize("stage", STAGES)
def test_forged(stage, artefacts, tmp_path):
    rng = random.Random(f"{stage} {TIMES}")
    assert not in_a_child(USE[stage], artefacts / stage, artefacts)
    for number in range(TIMES):
        copy = Path(shutil.copytree(artefacts / stage, tmp_path / f"{number}"))
        name = forge(copy, rng)
        said = in_a_child(USE[stage], copy, artefacts)
        assert not said, f"{name} in {copy}: {said}"
        shutil.rmtree(copy)


def test_forgeries_are_not_noticed_by_checksum(artefacts, tmp_path):
    """Otherwise the test above would test nothing."""
    copy = Path(shutil.copytree(artefacts / "count", tmp_path / "copy"))
    rng = random.Random(1)
    assert any(forge(copy, rng) != META for _ in range(5))
    assert Folder.open(copy).verify() == []
