"""The lexicon: what it says, what it refuses, and what it is on disk."""

import json
import shutil
import time

import numpy as np
import pytest

from composita.functions.function import Function
from composita.functions.learn import learn
from composita.functions.lexicon import Chunk, Entry, Lexicon, pooled_chunk, unit_rows
from composita.functions.multistep import MultiStep
from composita.functions.onestep import OneStep
from composita.functions.pools import pool, unpool
from composita.spaces.space import Space
from composita.store.errors import CorruptError, NotFoundError, UsageError
from composita.store.folder import Folder
from tests.functions.worlds import miniature_space


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("lexicon") / "lexicon"
    learn(miniature_space(), out=path)
    return path


@pytest.fixture(scope="module")
def lexicon(folder):
    return Lexicon.open(folder)


# ---------------------------------------------------------------- words and functions


def test_words(lexicon):
    space = miniature_space()
    word = lexicon.words[3]
    assert np.array_equal(lexicon.vector(word), space.vector(word))
    assert np.isclose(np.linalg.norm(lexicon.argument(word)), 1)
    composed = np.arange(20.0)
    assert np.allclose(lexicon.argument(composed), composed / np.linalg.norm(composed))
    assert lexicon.arguments(list(lexicon.words[:4])).shape == (4, 20)
    assert word in lexicon and "nothing-n" not in lexicon
    assert lexicon.frequency[lexicon.find(word)] == space.frequency[space.find(word)]


def test_functions(lexicon):
    word = lexicon.heads("svo")[0]
    assert (word, 2) in lexicon and (word, "svo") in lexicon and (word, 7) not in lexicon
    function = lexicon.function(word, 2)
    assert function.type == "N -> N -> S" and function.names == ("object", "subject")
    assert lexicon.function(word, "svo") is function
    adjective = lexicon.heads("an")[0]
    assert lexicon.function(adjective).type == "N -> N"
    assert lexicon.arities(adjective) == (1,)
    assert len(lexicon) == len(lexicon.heads("sv")) + len(lexicon.heads("svo")) + len(lexicon.heads("an"))
    assert repr(lexicon) == "Lexicon(238 words, 55 functions: 6 an, 32 sv, 17 svo)"


def test_a_word_of_two_arities(lexicon):
    both = set(lexicon.heads(1)) & set(lexicon.heads(2))
    for word in both:
        assert lexicon.arities(word) == (1, 2)
        with pytest.raises(UsageError, match=r"has the functions sv \(arity 1\), svo \(arity 2\): say which"):
            lexicon.function(word)


def test_functions_are_what_was_learned(lexicon):
    for pattern in ("sv", "svo", "an"):
        word = lexicon.heads(pattern)[1]
        examples = lexicon.examples(word, pattern)
        again = OneStep().learn(examples)
        inputs = [examples.inputs(place) for place in range(examples.arity)]
        assert np.allclose(lexicon.function(word, pattern).apply_all(*inputs), again.apply_all(*inputs), atol=1e-5)


def test_examples_are_the_phrases_of_the_space(lexicon):
    space = miniature_space()
    word = lexicon.heads("svo")[2]
    examples = lexicon.examples(word, 2)
    rows = lexicon.attested("svo", word)
    assert list(examples.labels) == space.labels(rows)
    assert np.allclose(examples.outputs, unit_rows(space.take(rows)))
    assert np.array_equal(examples.frequency, space.frequency[rows])
    assert np.allclose(examples.inputs(0)[0], lexicon.argument(examples.labels[0].split("(")[1].split(",")[0]))


def test_explanations_name_phrases(lexicon):
    word = lexicon.heads("svo")[0]
    function, x = lexicon.function(word, 2), lexicon.arguments(list(lexicon.words[:2]))
    explained = function.explain(*x)
    assert explained.labels[0].startswith(f"{word}(")
    assert np.allclose(explained.total, function(x[0])(x[1]), atol=1e-4)


def test_explanations_where_examples_were_dropped(tmp_path):
    """A function that was learned from some of the examples still names the right ones."""
    lexicon = learn(miniature_space(), learner=MultiStep(min_examples=4), patterns="svo", out=tmp_path / "l")
    word = next(w for w in lexicon.heads() if lexicon.function(w).training.used < len(lexicon.examples(w)))
    function, examples = lexicon.function(word), lexicon.examples(word)
    again = MultiStep(min_examples=4).learn(examples)
    x = lexicon.arguments(list(lexicon.words[:2]))
    ours, theirs = function.explain(*x), again.explain(*x)
    assert ours.top(5)[0][0] == theirs.top(5)[0][0]
    assert list(ours.labels) == list(theirs.labels)
    assert np.allclose(ours.total, theirs.total, atol=1e-5)


def test_nearest_functions(lexicon):
    word = lexicon.heads("svo")[0]
    found = lexicon.nearest(word, 5, arity=2)
    assert len(found) == 5 and word not in [w for w, _ in found]
    dense = {w: lexicon.function(w, 2).dense(homogeneous=True).ravel() for w in lexicon.heads(2)}
    cosines = {w: d @ dense[word] / np.linalg.norm(d) / np.linalg.norm(dense[word]) for w, d in dense.items()}
    for other, cosine in found:
        assert np.isclose(cosine, cosines[other], atol=1e-4)
    part = lexicon.function(word, 2)(lexicon.argument(lexicon.words[0]))
    assert part.type == "N -> S"
    assert {w for w, _ in lexicon.nearest(part, 100)} <= set(lexicon.heads("sv"))
    assert [w for w, _ in lexicon.nearest(part, 100, words=[word])] in ([word], [])


def test_reports(lexicon):
    reports = lexicon.reports()
    assert len(reports) == len(lexicon)
    report = lexicon.report(lexicon.heads("svo")[0], 2)
    assert report["phrases"] == report["training"]["found"] > report["groups_of_three"]
    assert report["effective_rank"] > 1
    assert lexicon.function(lexicon.heads("svo")[0], 2).training.used == report["training"]["used"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda lexicon: lexicon.vector("chhild-n"), "'chhild-n' has no vector in this lexicon"),
        (lambda lexicon: lexicon.function("nothing-v", 2), "'nothing-v' has no function in this lexicon"),
        (lambda lexicon: lexicon.function(lexicon.heads("an")[0], 2), r"has the functions an \(arity 1\): say which"),
    ],
)
def test_wrong_questions(lexicon, call, message):
    with pytest.raises(UsageError, match=message):
        call(lexicon)


# ---------------------------------------------------------------- without functions


def test_of_a_sparse_space():
    from composita.counting.counts import Counts

    counts = Counts.from_cells({"dog-n": {"bark-v": 2, "tail-n": 1}, "cat-n": {"tail-n": 3}})
    space = Space.from_counts(counts, weighting="none", reduce="none")
    lexicon = Lexicon.from_space(space)
    assert lexicon.is_sparse and len(lexicon) == 0
    assert np.array_equal(lexicon.vector("dog-n"), space.vector("dog-n"))
    assert lexicon.space is space
    assert lexicon.prepared.shape == (2, 2)


def test_sparse_vectors_are_saved(tmp_path):
    from composita.counting.counts import Counts

    counts = Counts.from_cells({"dog-n": {"bark-v": 2, "tail-n": 1}, "cat-n": {"tail-n": 3}})
    lexicon = Lexicon.from_space(Space.from_counts(counts, weighting="none", reduce="none"))
    lexicon.save(tmp_path / "l")
    again = Lexicon.open(tmp_path / "l")
    assert again.is_sparse and np.array_equal(again.prepared, lexicon.prepared)
    with pytest.raises(NotFoundError, match="in a space that was never saved"):
        _ = again.space


def test_words_without_a_vector_of_their_own():
    space = miniature_space()
    words = {word for word, row in zip(space.words, space.word_rows, strict=True) if row >= 0}
    assert set(Lexicon.from_space(space).words) == words


# ---------------------------------------------------------------- on disk


def test_saving_again(lexicon, tmp_path):
    for source in (lexicon, lexicon.in_memory()):
        source.save(tmp_path / "again")
        again = Lexicon.open(tmp_path / "again")
        assert again.entries == lexicon.entries and again.fingerprint == lexicon.fingerprint
        word = lexicon.heads("svo")[0]
        x = lexicon.arguments(list(lexicon.words[:2]))
        assert np.array_equal(again.function(word, 2)(x[0])(x[1]), lexicon.function(word, 2)(x[0])(x[1]))
        assert again.report(word, 2) == lexicon.report(word, 2)
        assert list(again.examples(word, 2).labels) == list(lexicon.examples(word, 2).labels)
        if lexicon.forms is not None:
            assert again.forms.equals(lexicon.forms)


def test_the_folder_needs_nothing_else(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "moved")
    moved = Lexicon.open(tmp_path / "moved")
    word = moved.heads("svo")[0]
    assert np.isfinite(moved.function(word, 2)(moved.prepared[0])(moved.prepared[1])).all()
    assert Folder.open(tmp_path / "moved", "lexicon").verify() == []


def test_the_space_is_found_and_recognised(folder, tmp_path):
    lexicon = Lexicon.open(folder)
    assert lexicon.space.fingerprint == miniature_space().fingerprint
    place = tmp_path / "other"
    Space.from_vectors(["dog-n"], np.ones((1, 2))).save(place)
    shutil.copytree(folder, tmp_path / "l")
    meta = json.loads((tmp_path / "l" / "meta.json").read_text())
    meta["origin"]["path"] = str(place)
    (tmp_path / "l" / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(NotFoundError, match="is no more the space that this lexicon was learned in"):
        _ = Lexicon.open(tmp_path / "l").space


def test_damaged_folders(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "l")
    meta = json.loads((tmp_path / "l" / "meta.json").read_text())
    meta["chunks"] = meta["chunks"][:1]
    (tmp_path / "l" / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(CorruptError, match="not a lexicon that can be read"):
        Lexicon.open(tmp_path / "l")
    next((tmp_path / "l").glob("functions*.parquet")).unlink()
    with pytest.raises(CorruptError, match="found no file"):
        Lexicon.open(tmp_path / "l")


def test_what_the_format_says_is_what_is_written(folder):
    """The format of docs/formats-lexicon.md, by its files, their columns and arrays."""
    from composita.store.arrays import read_arrays
    from composita.store.tables import read_table

    saved = Folder.open(folder, "lexicon")
    names = {name.partition(".")[0].rstrip("0123456789") + name[name.index(".") :] for name in saved.files}
    forms = {"forms.parquet"} if "forms.parquet" in names else set()
    assert names - forms == {
        "words.parquet", "words.safetensors", "functions.parquet", "functions-.safetensors", "examples-.safetensors",
        "reports-.parquet",
    }  # fmt: skip
    assert {"kind", "format", "files", "chunks", "failed", "fingerprint", "fingerprints", "learned", "normalise",
            "origin", "parameters"} == set(saved.meta)  # fmt: skip
    assert set(saved.meta["chunks"][0]) == {"pattern", "arguments", "functions", "examples", "reports"}
    assert read_table(saved.file("functions.parquet")).column_names == [
        "word", "pattern", "arity", "chunk", "place", "first", "last"
    ]  # fmt: skip
    assert read_table(saved.file("words.parquet")).column_names == ["label", "frequency"]
    assert set(read_arrays(saved.file("examples-00000.safetensors"))) == {"ids", "rows", "outputs", "frequency"}
    assert read_table(saved.file("reports-00000.parquet")).column_names == ["places", "report"]


def golden_lexicon():
    """Make a lexicon of round numbers, without learning."""
    vectors = np.array([[1, 0], [0, 2], [3, 4]], np.float32)
    tensor = np.arange(4, dtype=np.float32).reshape(2, 2)
    from composita.functions.training import Training

    function = Function.from_dense(tensor, names=("subject",))
    report = {"training": Training({}, 1, 1, {}, ()).to_dict(), "phrases": 1}
    examples = {
        "ids": np.array([[1]], np.int32), "rows": np.array([7]), "outputs": np.array([[0.6, 0.8]], np.float32),
        "frequency": np.array([5]),
    }  # fmt: skip
    chunk = pooled_chunk("sv", ("subject",), examples, [function], [report], [None])
    return Lexicon(
        ("cat-n", "dog-n", "bark-v"), vectors, np.array([3, 4, 5]), (Entry("bark-v", "sv", 1, 0, 0, 0, 1),), (chunk,),
        parameters={"patterns": {"sv": ["subject"]}}, origin={"fingerprint": "0" * 64, "path": None, "history": "none"},
    )  # fmt: skip


def test_golden_file(tmp_path):
    """What was written once can be read for ever, and is written so still."""
    from pathlib import Path

    golden = Path(__file__).parent / "golden" / "lexicon"
    golden_lexicon().save(tmp_path / "l")
    old, new = Lexicon.open(golden), Lexicon.open(tmp_path / "l")
    for lexicon in (old, new):
        assert lexicon.function("bark-v")(np.array([1.0, 2.0])).tolist() == [2.0, 8.0]
        assert lexicon.examples("bark-v").label(0) == "bark-v(dog-n)"
        assert lexicon.vector("bark-v").tolist() == [3.0, 4.0]
        assert lexicon.attested("sv", "bark-v").tolist() == [7]
    assert old.fingerprint == new.fingerprint
    for name in ("words.safetensors", "functions-00000.safetensors", "examples-00000.safetensors"):
        assert (golden / name).read_bytes() == (tmp_path / "l" / name).read_bytes()


def test_ten_thousand_functions_open_at_once(tmp_path):
    one = golden_lexicon()
    (chunk,) = one.chunks
    count = 10_000
    many = Chunk("sv", ("subject",), chunk.functions, chunk.examples, chunk.places * count, chunk.reports * count)
    entries = tuple(Entry(f"w{number}-v", "sv", 1, 0, number, 0, 1) for number in range(count))
    from dataclasses import replace

    replace(one, entries=entries, chunks=(many,)).save(tmp_path / "l")
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        opened = Lexicon.open(tmp_path / "l")
        best = min(best, time.perf_counter() - start)
    assert len(opened) == count and opened.function("w9999-v").arity == 1
    assert best < 0.5


def test_pools():
    rng = np.random.default_rng(0)
    functions = [
        {name: rng.normal(size=rng.integers(0, 4, rng.integers(0, 4))) for name in "abc"[: rng.integers(1, 4)]}
        for _ in range(20)
    ]
    pooled, places = pool(functions)
    for arrays, place in zip(functions, places, strict=True):
        again = unpool(pooled, json.loads(json.dumps(place)))
        assert again.keys() == arrays.keys()
        assert all(np.array_equal(again[name], arrays[name]) for name in arrays)
    with pytest.raises(CorruptError, match="does not fit into its pool"):
        unpool(pooled, {"a": [0, 10**6]})
    assert pool([]) == ({}, [])
