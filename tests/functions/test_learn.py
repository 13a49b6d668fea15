"""Learning a lexicon: which phrases, the same bits by anybody's hands, and going on after an interruption."""

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from composita.functions import learn as learning
from composita.functions import tasks
from composita.functions.learn import cost, learn
from composita.functions.lexicon import Lexicon
from composita.functions.multistep import MultiStep
from composita.functions.selection import Selection, choose_patterns, plan
from composita.spaces.space import Space
from composita.store.engine import Engine
from composita.store.errors import CancelledError, StoreError, UsageError
from composita.store.progress import Cancellation
from tests.functions.worlds import miniature_space


def content(path):
    """Give the bytes of all files but the lock."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(path.iterdir())
        if file.name != "lock"
    }


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(learning, "CHUNK_SECONDS", 0.001)


# ---------------------------------------------------------------- which phrases


def slowly(space, pattern, selection):
    """Choose the phrases of each word one by one."""
    found = {}
    phrases = space.phrases(pattern)
    core = {w for w, row in zip(space.words, space.word_rows, strict=True) if row >= 0 and space.core[row]}
    for row, head, arguments, frequency in zip(*(phrases[i].tolist() for i in (0, 1, 3, 4)), strict=True):
        words = [space.words[i] if i >= 0 else "_" for i in arguments]
        kinds = {
            "pronouns" if w.endswith("-p") else "nouns" if w in core else "names"
            for w in words
            if w.endswith(("-n", "-p"))
        }
        if (
            kinds <= set(selection.arguments)
            and all(w in space for w in words)
            and frequency >= selection.min_frequency
            and space.nonzeros[row] >= selection.min_nonzero
        ):
            found.setdefault(space.words[head], []).append((row, frequency))
    cut = {}
    for word, some in found.items():
        if len(some) >= selection.min_examples:
            some = sorted(some, key=lambda pair: -pair[1])[: selection.max_examples]
            cut[word] = sorted(row for row, _ in some)
    return cut


@pytest.mark.parametrize(
    "selection",
    [
        Selection(), Selection(min_nonzero=0, min_examples=1), Selection(min_nonzero=25, min_examples=10),
        Selection(min_frequency=20, min_examples=5), Selection(max_examples=7), Selection(arguments=("nouns",)),
        Selection(arguments=("pronouns", "nouns")), Selection(arguments=("names",), min_examples=1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("pattern", ["sv", "svo", "an"])
def test_selection_against_a_slow_one(selection, pattern):
    space = miniature_space()
    found = plan(space, pattern, selection)
    assert {head.word: sorted(head.rows.tolist()) for head in found.heads} == slowly(space, pattern, selection)
    for head in found.heads:
        labels = space.labels(head.rows)
        words = Lexicon.from_space(space).words
        again = [f"{head.word}({', '.join(words[i] for i in row)})" for row in head.ids.tolist()]
        assert labels == again
        assert np.array_equal(head.frequency, space.frequency[head.rows])


def test_every_phrase_is_accounted_for():
    space = miniature_space()
    rows = space.phrases("svo").rows
    dimensions, rare = int(np.quantile(space.nonzeros[rows], 0.3)), int(np.quantile(space.frequency[rows], 0.3)) + 1
    found = plan(space, "svo", Selection(min_nonzero=dimensions, min_frequency=rare, max_examples=9, min_examples=1))
    total = sum(len(head.rows) + sum(head.dropped.values()) for head in found.heads)
    assert total == len(rows) - sum(len(space.rows("svo", word)) for word in found.left_out)
    assert {"too rare", "beyond the most frequent"} <= {reason for head in found.heads for reason in head.dropped}


def test_patterns():
    space = miniature_space()
    assert choose_patterns(space, None) == ["an", "sv", "svo"]
    assert choose_patterns(space, "svo,sv") == ["sv", "svo"]
    with pytest.raises(UsageError, match="no phrases of the pattern 'svoo': choose an, sv, svo"):
        choose_patterns(space, "svoo")
    with pytest.raises(UsageError, match="it has no phrases; count some with --phrases"):
        choose_patterns(Space.from_vectors(["dog-n"], np.ones((1, 2))), "sv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arguments": ("noun",)}, "expected some of nouns, names, pronouns, got noun"),
        ({"min_examples": -1}, "min_examples: expected a number from 0"),
        ({"max_examples": 0}, "max_examples: expected a number from 1"),
        ({"lean": "much"}, "lean: choose none, whole, shared, similar"),
        ({"heads": ["nothing-v"]}, "none of the 1 words asked for heads a phrase"),
        ({"heads": ["give-v"], "min_examples": 1000}, "'give-v' has [0-9]+; lower the minimum"),
        ({"learner": "none"}, "unknown learner 'none'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(UsageError, match=message):
        learn(miniature_space(), **options)


def test_sparse_spaces_are_refused():
    from composita.counting.counts import Counts

    counts = Counts.from_cells({"dog-n": {"bark-v": 2}})
    with pytest.raises(UsageError, match="the space is sparse: reduce it first"):
        learn(Space.from_counts(counts, weighting="none", reduce="none"))


# ---------------------------------------------------------------- the same by anybody


@pytest.mark.parametrize("lean", ["none", "shared"])
def test_bits_do_not_depend_on_the_workers(lean, small_chunks, tmp_path):
    options = {"patterns": "svo", "lean": lean, "max_examples": 10}
    learn(miniature_space(), out=tmp_path / "one", **options)
    learn(miniature_space(), out=tmp_path / "two", engine=Engine(3), **options)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert len(Lexicon.open(tmp_path / "one").chunks) > 3
    if lean == "none":
        with ProcessPoolExecutor(2, get_context("spawn")) as pool:
            learn(miniature_space(), out=tmp_path / "three", engine=Engine(2, executor=pool), **options)
        assert content(tmp_path / "one") == content(tmp_path / "three")


def test_chunks_do_not_change_the_functions(tmp_path, monkeypatch):
    whole = learn(miniature_space(), patterns="svo")
    monkeypatch.setattr(learning, "CHUNK_SECONDS", 0.001)
    parts = learn(miniature_space(), patterns="svo")
    word, x = whole.heads()[0], whole.arguments(list(whole.words[:2]))
    assert len(parts.chunks) > len(whole.chunks)
    assert np.array_equal(whole.function(word)(x[0])(x[1]), parts.function(word)(x[0])(x[1]))


def test_in_memory(tmp_path):
    lexicon = learn(miniature_space(), patterns="an")
    assert lexicon.path is None and lexicon.space is miniature_space()
    learn(miniature_space(), patterns="an", out=tmp_path / "l")
    assert Lexicon.open(tmp_path / "l").fingerprint == lexicon.fingerprint


def test_what_nothing_can_be_learned_of(tmp_path):
    lexicon = learn(miniature_space(), learner=MultiStep(min_examples=9), patterns="svo", out=tmp_path / "l")
    failed = json.loads((tmp_path / "l" / "meta.json").read_text())["failed"]
    assert failed and all(reason.startswith("expected at least 9 examples") for reason in failed.values())
    assert {f"svo {word}" for word in lexicon.heads()}.isdisjoint(failed)
    for word in lexicon.heads():
        assert lexicon.function(word).training.used >= 9


# ---------------------------------------------------------------- interruptions


def test_an_interrupted_run_is_taken_up(small_chunks, tmp_path, monkeypatch):
    learn(miniature_space(), patterns="svo", out=tmp_path / "whole")
    stop, done = Cancellation(), []

    def progress(step):
        done.append(step.done)
        if step.done > 300:
            stop.cancel()

    with pytest.raises(CancelledError):
        learn(miniature_space(), patterns="svo", out=tmp_path / "l", progress=progress, cancel=stop)
    with pytest.raises(StoreError, match="if composita was stopped while writing it, run it again"):
        Lexicon.open(tmp_path / "l")
    learned = []
    before = tasks.learn_chunk
    monkeypatch.setattr(learning, "learn_chunk", lambda *a: learned.append(a) or before(*a))
    learn(miniature_space(), patterns="svo", out=tmp_path / "l")
    assert 0 < len(learned) < len(Lexicon.open(tmp_path / "l").chunks)
    assert content(tmp_path / "l") == content(tmp_path / "whole")
    assert not (tmp_path / "l" / "pending").exists()


def test_another_task_begins_anew(small_chunks, tmp_path):
    stop = Cancellation()
    with pytest.raises(CancelledError):
        learn(miniature_space(), patterns="svo", out=tmp_path / "l", cancel=stop,
              progress=lambda step: step.done > 300 and stop.cancel())  # fmt: skip
    learn(miniature_space(), patterns="svo", learner=MultiStep(), out=tmp_path / "l")
    learn(miniature_space(), patterns="svo", learner=MultiStep(), out=tmp_path / "m")
    assert content(tmp_path / "l") == content(tmp_path / "m")


def test_what_is_there_is_not_learned_again(tmp_path, monkeypatch):
    learn(miniature_space(), patterns="an", out=tmp_path / "l")
    before = content(tmp_path / "l")
    monkeypatch.setattr(learning, "learn_chunk", None)
    learn(miniature_space(), patterns="an", out=tmp_path / "l")
    assert content(tmp_path / "l") == before


def test_learning_into_a_folder_that_holds_other_functions(tmp_path):
    old = learn(miniature_space(), patterns="an", out=tmp_path / "l")
    word, x = old.heads()[0], old.prepared[0]
    expected = old.function(word)(x)
    learn(miniature_space(), patterns="svo", out=tmp_path / "l")
    new = Lexicon.open(tmp_path / "l")
    assert new.patterns == ("svo",)
    assert np.array_equal(old.function(word)(x), expected)  # readers of the old one were not disturbed
    learn(miniature_space(), patterns="svo", out=tmp_path / "m")
    x = new.arguments(list(new.words[:2]))
    other = Lexicon.open(tmp_path / "m")
    assert np.array_equal(new.function(new.heads()[0])(x[0])(x[1]), other.function(new.heads()[0])(x[0])(x[1]))


def test_cost_grows_with_the_cube():
    assert cost(4000, 300) > 4 * cost(2000, 300)
    assert cost(0, 300) > 0


def test_optional_arguments_are_left_out():
    """A phrase whose argument is absent is no example."""
    space = miniature_space()
    found = plan(space, "svo", Selection(min_examples=1, min_nonzero=0))
    assert all((head.ids >= 0).all() for head in found.heads)


def test_learning_nothing_is_said(caplog):
    space = miniature_space()
    with caplog.at_level("WARNING", logger="composita"):
        assert len(learn(space, min_examples=10_000).entries) == 0
    assert "nothing is learned: no word has enough examples, the most that one has is" in caplog.text


def test_tasks_keep_every_library_to_one_thread():
    """What does linear algebra is loaded with the tasks; what is loaded later would not be limited."""
    source = (
        "import composita.functions.{0}\n"
        "from composita.store.engine import one_blas_thread\n"
        "with one_blas_thread:\n"
        "    import scipy.linalg, threadpoolctl\n"
        "    print([one['num_threads'] for one in threadpoolctl.threadpool_info() if one['user_api'] == 'blas'])\n"
    )
    for module in ("tasks", "heldout"):
        said = subprocess.run([sys.executable, "-c", source.format(module)], capture_output=True, text=True, check=True)
        assert set(json.loads(said.stdout)) == {1}
