"""Whole runs: any number of workers, any order, short memory, killed runs, and the sum of two corpora."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from composita.corpus.corpus import Corpus
from composita.corpus.synthetic import write_synthetic
from composita.counting import count as counting
from composita.counting.count import count, count_phrases, parse_memory
from composita.counting.counts import Counts
from composita.counting.job import Limits
from composita.counting.patterns import Pattern, load_patterns
from composita.counting.tasks import count_sentences as whole
from composita.counting.vocabulary import Vocabulary
from composita.store.engine import Engine
from composita.store.errors import CancelledError, CorruptError, UsageError
from composita.store.folder import Folder
from composita.store.progress import Cancellation
from tests.counting import oracle
from tests.counting.helpers import dictionaries

PHRASES = "sv,svo,vo,an,svpo"
OPTIONS = {"nouns": 120, "verbs": 60, "adjectives": 40, "contexts": 300, "stop": 5}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Six shards of synthetic text."""
    folder = tmp_path_factory.mktemp("corpora")
    for number in range(6):
        write_synthetic(folder / f"{number}.conllu", 1500 + 200 * number, seed=number)
        Corpus.build([folder / f"{number}.conllu"], folder / "corpus")
    return Corpus.open(folder / "corpus")


@pytest.fixture(scope="module")
def vocabulary(corpus):
    return Vocabulary.from_corpus(corpus, **OPTIONS)


@pytest.fixture(scope="module")
def expected(corpus, vocabulary):
    return count(corpus, vocabulary, phrases=PHRASES)


def files_of(path):
    return {name: entry.sha256 for name, entry in Folder.open(path).files.items()}


def test_agrees_with_the_oracle(corpus, vocabulary, expected):
    sentences = [sentence for shard in corpus.shards() for sentence in shard.load()]
    core = {w for w, c in zip(vocabulary.words, vocabulary.core, strict=True) if c}
    known = oracle.Words(core, set(vocabulary.words) - core, vocabulary.contexts)
    cells, frequency = oracle.count(sentences, "ud", "upos", known, PHRASES.split(","))
    assert dictionaries(expected) == (cells, frequency)
    assert len(expected.rows("svo")) > 30
    assert expected.tokens == sum(map(len, sentences))
    assert expected.sentences == len(sentences)


class Shuffled(ThreadPoolExecutor):
    """Finishes what it is given in another order."""

    delays = (0.3, 0.0, 0.2, 0.1)

    def submit(self, function, /, *arguments):
        delay = self.delays[self._work_queue.qsize() % 4]
        return super().submit(lambda: (time.sleep(delay), function(*arguments))[1])


def test_workers_and_orders_give_the_same_bits(corpus, vocabulary, tmp_path, monkeypatch):
    monkeypatch.setattr("composita.counting.tasks.SEGMENT", 1 << 12)
    with Shuffled(6) as executor:
        for name, engine in (("one", Engine(1)), ("three", Engine(3)), ("given", Engine(6, executor=executor))):
            count(corpus, vocabulary, phrases=PHRASES, out=tmp_path / name, engine=engine)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "three") == files_of(tmp_path / "given")
    assert len(Counts.open(tmp_path / "one").segments) > 3


def test_processes_give_the_same_bits(corpus, vocabulary, tmp_path):
    for name, engine in (("threads", Engine(2)), ("processes", Engine(2, "processes"))):
        count(corpus, vocabulary, phrases=PHRASES, out=tmp_path / name, engine=engine)
    assert files_of(tmp_path / "threads") == files_of(tmp_path / "processes")


def test_short_memory_gives_the_same_files(corpus, vocabulary, tmp_path, monkeypatch):
    count(corpus, vocabulary, phrases=PHRASES, out=tmp_path / "plenty")
    tight = Limits(slice_tokens=500, merge_cells=600, fan=2)
    monkeypatch.setattr(counting, "limits", lambda *_: tight)
    count(corpus, vocabulary, phrases=PHRASES, out=tmp_path / "tight")
    assert files_of(tmp_path / "tight") == files_of(tmp_path / "plenty")
    monkeypatch.setattr(counting, "limits", lambda *_: replace(tight, fan=64))
    for context in ("dependency", "window:2:harmonic"):
        ample = count(corpus, vocabulary, phrases="svo,svpo", context=context)
        monkeypatch.setattr(counting, "limits", lambda *_: Limits())
        assert dictionaries(count(corpus, vocabulary, phrases="svo,svpo", context=context)) == dictionaries(ample)
        monkeypatch.setattr(counting, "limits", lambda *_: tight)


KILLED = """
import os, signal, sys
from composita.corpus.corpus import Corpus
from composita.counting import tasks
from composita.counting.count import count
from composita.counting.vocabulary import Vocabulary
at, out, corpus, vocabulary = sys.argv[1:]
name, calls = at.split(":")
whole, left = getattr(tasks, name), [int(calls)]
def kills(*arguments):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(*arguments)
setattr(tasks, name, kills)
count(Corpus.open(corpus), Vocabulary.open(vocabulary), phrases="PHRASES", out=out)
""".replace("PHRASES", PHRASES)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("at", ["count_sentences:3", "write_part:2", "write_segment:0"])
def test_killed_runs_are_taken_up(at, corpus, vocabulary, expected, tmp_path, monkeypatch):
    vocabulary.save(tmp_path / "vocabulary")
    paths = (tmp_path / "counts", corpus.path, tmp_path / "vocabulary")
    done = subprocess.run([sys.executable, "-c", KILLED, at, *map(str, paths)], check=False)
    assert done.returncode == -9
    calls = []
    monkeypatch.setattr("composita.counting.tasks.count_sentences", lambda *a: calls.append(a) or whole(*a))
    result = count(corpus, Vocabulary.open(paths[2]), phrases=PHRASES, out=paths[0])
    assert len(calls) == {"count_sentences:3": 3, "write_part:2": 4, "write_segment:0": 0}[at]
    assert dictionaries(result) == dictionaries(expected)
    assert not (paths[0] / "pending").exists()
    assert Folder.open(paths[0]).verify() == []


def test_parts_of_another_task_are_discarded(corpus, vocabulary, expected, tmp_path):
    stop = Cancellation()

    def impatient(step):
        if step.done > 4000:
            stop.cancel()

    with pytest.raises(CancelledError):
        count(corpus, vocabulary, phrases="sv", out=tmp_path / "c", progress=impatient, cancel=stop)
    assert list((tmp_path / "c" / "pending").glob("shard-*.json"))
    assert dictionaries(count(corpus, vocabulary, phrases=PHRASES, out=tmp_path / "c")) == dictionaries(expected)


def test_a_damaged_part_is_made_anew(corpus, vocabulary, expected, tmp_path, monkeypatch):
    monkeypatch.setattr("composita.counting.tasks.write_segment", lambda *_: 1 / 0)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        count(corpus, vocabulary, phrases=PHRASES, out=tmp_path / "c")
    monkeypatch.undo()
    parts = sorted((tmp_path / "c" / "pending").glob("*.safetensors"))
    parts[0].unlink()
    parts[1].write_bytes(parts[1].read_bytes()[:-8])
    (tmp_path / "c" / "pending" / "shard-000002.json").write_text("{")
    assert dictionaries(count(corpus, vocabulary, phrases=PHRASES, out=tmp_path / "c")) == dictionaries(expected)


def test_counting_again(corpus, vocabulary, tmp_path, caplog):
    caplog.set_level("INFO")
    count(corpus, vocabulary, phrases="sv", out=tmp_path / "c")
    before = files_of(tmp_path / "c")
    count(corpus, vocabulary, phrases="sv", out=tmp_path / "c")
    assert "holds these counts already" in caplog.text
    assert files_of(tmp_path / "c") == before
    other = count(corpus, vocabulary, phrases="svo", out=tmp_path / "c")
    assert [p.name for p in other.names.patterns] == ["svo"]
    assert set(files_of(tmp_path / "c")) == {p.name for p in (tmp_path / "c").iterdir()} - {"meta.json", "lock"}


@pytest.mark.parametrize("context", ["sentence", "window:2:linear", "dependency"])
def test_sums_are_the_counts_of_both_corpora(context, corpus, vocabulary, tmp_path):
    texts = [corpus.path.parent / f"{number}.conllu" for number in range(6)]
    for name, chosen in (("left", texts[:2]), ("right", texts[2:])):
        Corpus.build(chosen, tmp_path / name)
    left, right = (Corpus.open(tmp_path / name) for name in ("left", "right"))
    options = {"phrases": PHRASES, "context": context}
    both = count(corpus, vocabulary, **options)
    one, other = count(left, vocabulary, **options), count(right, vocabulary, **options)
    for total in (one + other, other + one):
        assert dictionaries(total) == dictionaries(both)
        assert (total.labels(), total.columns) == (both.labels(), both.columns)
        assert np.array_equal(total.frequency, both.frequency)
        assert (total.tokens, total.sentences) == (both.tokens, both.sentences)
        assert np.array_equal(total.context_frequency, both.context_frequency)
    # Other words on each side: the union of the labels, and each cell as it was.
    small = Vocabulary.from_corpus(right, **OPTIONS | {"nouns": 40, "contexts": 80})
    different = count(right, small, phrases="sv,an", context=context)
    mixed = dictionaries(one + different)
    for mine, other, total in zip(dictionaries(one), dictionaries(different), mixed, strict=True):
        assert total.keys() == mine.keys() | other.keys()
        for item, value in total.items():
            if isinstance(value, dict):
                a, b = mine.get(item, {}), other.get(item, {})
                assert value == {c: a.get(c, 0) + b.get(c, 0) for c in a.keys() | b.keys()}
            else:
                assert value == mine.get(item, 0) + other.get(item, 0)


def test_what_cannot_be_added(corpus, vocabulary, expected):
    with pytest.raises(UsageError, match=r"different context: sentence and window:2; count one"):
        expected + count(corpus, vocabulary, context="window:2")
    with pytest.raises(UsageError, match="different switches"):
        expected + count(corpus, vocabulary, passives=False)
    with pytest.raises(UsageError, match="patterns 'sv' differ"):
        expected + count(corpus, vocabulary, phrases="sv", sv_without_object=True)


def test_options(corpus, vocabulary, expected):
    frequent = count(corpus, vocabulary, phrases=PHRASES, min_frequency=3)
    cells, frequency = dictionaries(expected)
    kept = {item: n for item, n in frequency.items() if item[0] == "word" or n >= 3}
    assert dictionaries(frequent) == ({i: row for i, row in cells.items() if i in kept}, kept)
    heads = [vocabulary.words[i] for i in expected.fields.head[expected.rows("svo")][:3]]
    only = count_phrases(corpus, vocabulary, load_patterns("svo"), heads=heads)
    found = {item: row for item, row in cells.items() if item[0] == "svo" and item[1].split("(")[0] in heads}
    assert dictionaries(only)[0] == found


def test_wrong_calls(corpus, vocabulary, tmp_path):
    verb = next(w for w in vocabulary.words if w[-1] == "v")
    for options, message in (
        ({"phrases": "svx"}, "unknown pattern 'svx': choose sv, svo"),
        ({"phrases": "sv", "heads": [verb[:-3] + "q-v"]}, "not in the vocabulary"),
        ({"context": "window"}, "unknown context 'window': choose sentence"),
        ({"context": "window:0"}, "expected a window of 1 to 1000"),
        ({"context": "window:21:harmonic"}, "expected a window of 1 to 20"),
        ({"memory": "100M"}, "too little for 1 worker: expected at least"),
        ({"memory": "much"}, "expected an amount of memory such as 4G"),
        ({"words": False}, "nothing to count"),
        ({"min_frequency": 0}, "from 1, got 0"),
    ):
        with pytest.raises(UsageError, match=message):
            count(corpus, vocabulary, out=tmp_path / "c", **options)
    with pytest.raises(UsageError, match="pattern an: no word of the vocabulary with the letter 'a'"):
        count(corpus, Vocabulary.from_corpus(corpus, **OPTIONS | {"adjectives": 0}), phrases="an")
    with pytest.raises(UsageError, match="no contexts"):
        count(corpus, Vocabulary.from_corpus(corpus, stop=10**6), phrases="sv")
    assert not (tmp_path / "c").exists()


def test_memory_is_divided(corpus, vocabulary):
    assert parse_memory("2.5g") == 2_500_000_000
    job = counting.Job(vocabulary, (), None, counting.Context(), counting.Switches(), True, 1, "")
    ample = counting.limits(job, corpus, parse_memory("4G"), Engine(1))
    scarce = counting.limits(job, corpus, parse_memory("330M"), Engine(1))
    assert scarce.merge_cells < ample.merge_cells
    assert scarce.slice_tokens < ample.slice_tokens


def test_damaged_counts_are_refused(corpus, vocabulary, tmp_path):
    count(corpus, vocabulary, phrases="sv", out=tmp_path / "c")
    meta = tmp_path / "c" / "meta.json"
    whole = json.loads(meta.read_text())
    for change in ({"segments": None}, {"unit": "x", "segments": [{}]}, {"parameters": {}}, {"joints": 3}):
        meta.write_text(json.dumps(whole | change))
        with pytest.raises(CorruptError):
            Counts.open(tmp_path / "c")


def test_own_patterns(corpus, vocabulary, tmp_path):
    own = tmp_path / "own.toml"
    own.write_text(
        '[live]\nhead = "v"\ndisplay = ["subject", "head", "oblique"]\n'
        'arguments = [{ role = "oblique", prepositions = ["in"] }, { role = "subject", optional = true }]\n'
    )
    counts = count(corpus, vocabulary, phrases=f"{own},svpo")
    some = counts.rows("live")
    assert len(some)
    assert (counts.fields.arguments[some, 1] == -1).any()
    assert "_ " in " ".join(counts.display(some))
    (pattern,) = load_patterns(str(own))
    assert Pattern.from_table("live", pattern.to_table()) == pattern
    full = counts.fields.arguments[some, 1] >= 0
    pairs = {label: int(n) for label, n in zip(counts.labels(some[full]), counts.frequency[some[full]], strict=True)}
    svpo = counts.rows("svpo")
    joined = {
        label.replace("_in-v", "-v"): int(n)
        for label, n in zip(counts.labels(svpo), counts.frequency[svpo], strict=True)
        if "_in-v(" in label
    }
    assert pairs == joined
    assert Path(own).exists()
