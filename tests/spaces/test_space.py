"""Spaces: made, projected, saved, opened, asked; and what becomes of bad input."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import composita
from composita.counting.counts import Counts, Matrix
from composita.spaces import similarity
from composita.spaces.cells import from_scipy
from composita.spaces.space import Space
from composita.store.engine import Engine
from composita.store.errors import CorruptError, InputError, UsageError, VersionError
from tests.spaces.helpers import EMPTY_ROW, counts_with_phrases, dense, words

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def counts(tmp_path):
    return counts_with_phrases(tmp_path)


@pytest.fixture
def space(counts):
    return Space.from_counts(counts, dimensions=3)


# ---------------------------------------------------------------- making


def test_core_defines_and_the_rest_is_projected(counts):
    """The words of the core alone give the same vectors, and those of the phrases follow from them."""
    whole = Space.from_counts(counts, dimensions=3)
    core = counts.select(np.flatnonzero([label[-1] in "nv" and "(" not in label for label in counts.labels()]))
    alone = Space.from_counts(core, dimensions=3)
    np.testing.assert_allclose(whole.vectors(core.labels()), alone.array, atol=1e-6)
    again = alone.project(counts)
    np.testing.assert_allclose(again.array, whole.array, atol=1e-6)
    assert not again.core.any() and whole.core.sum() == len(core)


def test_by_hand(counts):
    """The PPMI of a projected phrase has its own sum and the core's columns, and is multiplied by V."""
    space = Space.from_counts(counts, dimensions=3)
    core = np.array([counts.matrix().indptr[0]])
    rows = [i for i, is_core in enumerate(space.core) if is_core]
    n = dense(counts.matrix(np.array(rows)))
    row = dense(counts.matrix(np.array([counts.find("svo:chase-v(cat-n, dog-n)")])))[0]
    with np.errstate(divide="ignore"):
        ppmi = np.clip(np.log(row * n.sum() / (row.sum() * n.sum(axis=0))), 0, None)
        x = np.clip(np.log(n * n.sum() / np.outer(n.sum(axis=1), n.sum(axis=0))), 0, None)
    _, _, v = np.linalg.svd(x)
    found = space.vector("chase-v(cat-n, dog-n)")
    np.testing.assert_allclose(np.abs(found), np.abs(v[:3] @ ppmi), atol=1e-5)
    assert core.shape == (1,)


@pytest.mark.parametrize("reduce", ["svd", "nmf", "none"])
def test_written_piece_by_piece_is_the_same(counts, tmp_path, reduce):
    options = {"weighting": "ppmi", "reduce": reduce, "dimensions": 3}
    memory = Space.from_counts(counts, **options)
    disk = Space.from_counts(counts, **options, out=tmp_path / "space", engine=Engine(2))
    np.testing.assert_array_equal(memory.take(np.arange(len(memory))), disk.take(np.arange(len(disk))))
    np.testing.assert_array_equal(memory.nonzeros, disk.nonzeros)
    assert memory.fingerprint == disk.fingerprint and memory.history == disk.history
    memory.save(tmp_path / "saved")
    assert Space.open(tmp_path / "saved").fingerprint == disk.fingerprint


def test_steps_one_by_one_are_the_same(counts):
    at_once = Space.from_counts(
        counts, min_count=4, weighting="lmi", columns=3, normalise="l2", dimensions=2, power=0.5
    )  # fmt: skip
    raw = Space.from_counts(counts, weighting="none", reduce="none")
    stepwise = (
        raw.with_columns(min_count=4).weighted("lmi").with_columns(3).normalised("l2").reduced("svd", 2, power=0.5)
    )
    np.testing.assert_allclose(stepwise.array, at_once.array, atol=1e-6)
    np.testing.assert_array_equal(stepwise.nonzeros, at_once.nonzeros)
    assert stepwise.history == at_once.history
    assert at_once.history == "counts -> columns 3 by count -> lmi -> columns 3 by length -> l2 -> svd 2 power 0.5"


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["ppmi", "log", "t-score"]), st.sampled_from(["svd", "nmf", "none"]))
def test_a_chain_is_replayed(seed, weighting, reduce):
    """Projecting the counts that a space was made of gives the space."""
    random = np.random.default_rng(seed)
    cells = {
        f"{'abcdefgh'[i]}-n": {f"{'stuvwxyz'[j]}-n": int(random.integers(0, 9)) for j in range(8)} for i in range(8)
    }
    counts = Counts.from_cells(cells)
    space = Space.from_counts(counts, weighting=weighting, reduce=reduce, dimensions=2)
    np.testing.assert_array_equal(space.project(counts).take(np.arange(8)), space.take(np.arange(8)))


def test_rows_can_be_chosen(counts):
    words_only = Space.from_counts(counts, dimensions=3, rows="words")
    whole = Space.from_counts(counts, dimensions=3)
    assert words_only.labels() == [label for label in whole.labels() if "(" not in label]
    np.testing.assert_array_equal(words_only.array, whole.array[: len(words_only)])
    some = Space.from_counts(counts, dimensions=3, rows=[5, 0])
    np.testing.assert_array_equal(some.array, whole.array[[0, 5]])


def test_empty_rows_are_zeros_and_counted(space):
    row = space.find(f"svo:{EMPTY_ROW.split(':')[1].replace(',', ', ')}")
    assert space.nonzeros[row] == 0 and not space.array[row].any()
    assert np.isnan(space.similarity(space.labels([row])[0], "dog-n"))


def test_nonzeros_are_of_the_weighted_row(counts):
    sparse, reduced = Space.from_counts(counts, reduce="none"), Space.from_counts(counts, dimensions=2)
    np.testing.assert_array_equal(sparse.nonzeros, np.diff(sparse.matrix.indptr))
    np.testing.assert_array_equal(sparse.nonzeros, reduced.nonzeros)


def test_forms_come_along(counts, tmp_path):
    forms = pa.table({"form": ["dogs"], "label": ["dog-n"], "count": [3]})
    space = Space.from_counts(counts, dimensions=2)
    replace(space, forms=forms).save(tmp_path / "space")
    assert Space.open(tmp_path / "space").forms.to_pydict() == forms.to_pydict()


# ---------------------------------------------------------------- looking


def test_items(space):
    assert space.shape == (len(space), 3) and not space.is_sparse
    assert space.labels()[:3] == ["car-n", "cat-n", "dog-n"]
    assert space.display(space.rows("svo")) == ["dog chase car", "dog chase cat", "dog chase dog"]
    assert space.rows("svo", "chase-v").tolist() == space.rows("svo").tolist()
    assert "dog-n" in space and "chase-v(cat-n, dog-n)" in space and "unicorn-n" not in space
    for label in ("dog-n", "chase-v(cat-n, dog-n)", "sv:chase-v(dog-n)"):
        assert space.labels([space.find(label)])[0] == label.rpartition(":")[2]
    assert space.words[space.items.fields.head[space.find("dog-n")]] == "dog-n"
    np.testing.assert_array_equal(space.word_rows, [space.find(word) for word in space.words])


def test_phrases(space):
    found = space.phrases("svo")
    said = [
        (space.words[head], *(space.words[a] for a in arguments))
        for head, arguments in zip(found.heads, found.arguments, strict=True)
    ]
    assert said == [("chase-v", "car-n", "dog-n"), ("chase-v", "cat-n", "dog-n"), ("chase-v", "dog-n", "dog-n")]
    assert found.frequency.tolist() == [1, 2, 0] and found.joints.tolist() == [0, 0, 0]
    with pytest.raises(UsageError, match="no phrases 'an': choose sv, svo, vo"):
        space.phrases("an")


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("dgo-n", "'dgo-n' is not in the space; did you mean dog-n"),
        ("dog", "did you mean dog-n?"),
        ("chase-v(unicorn-n, dog-n)", "'unicorn-n' is no word of it"),
        ("chase-v(cat-n, cat-n)", "all its words are, but no such phrase was counted"),
        ("chase-v(dog-n)", r"several patterns: say sv:chase-v\(dog-n\) or vo:chase-v\(dog-n\)"),
    ],
)
def test_what_is_not_there(space, label, message):
    with pytest.raises(UsageError, match=message):
        space.find(label)


def test_select_in_any_order(space):
    some = space.select(["dog-n", "chase-v(cat-n, dog-n)", "car-n"])
    assert some.labels() == ["dog-n", "chase-v(cat-n, dog-n)", "car-n"]
    assert [some.find(label) for label in some.labels()] == [0, 1, 2]
    np.testing.assert_array_equal(some.vector("car-n"), space.vector("car-n"))
    sparse = Space.from_vectors(["a", "b"], from_scipy(sp.csr_array(np.eye(2))))
    assert sparse.select([1]).vector("b").tolist() == [0, 1]


def test_nothing_changes_a_space(space):
    for change in (lambda: setattr(space, "chain", ()), lambda: space.__delattr__("core")):
        with pytest.raises(AttributeError):
            change()


def test_public_name():
    assert composita.Space is Space


# ---------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weighting": "pmmi"}, "unknown weighting 'pmmi'"),
        ({"reduce": "pca"}, "unknown reduction 'pca': choose svd, nmf, none"),
        ({"dimensions": 0}, "at least 1 dimension"),
        ({"dimensions": 5}, "4 rows x 4 columns has at most 4 dimensions, asked for 5: ask for fewer"),
        ({"normalise": "l3"}, "norm l1 or l2, got 'l3'"),
        ({"reduce": "none", "drop": 1}, "drop"),
        ({"reduce": "nmf", "power": 0.5}, "power belongs to svd"),
        ({"solver": "lin"}, "unknown option 'solver' of svd"),
        ({"reduce": "nmf", "projection": "x"}, "nnls or pinv"),
        ({"columns": 0}, "at least 1 column"),
        ({"columns": 2, "columns_by": "variance", "dimensions": 1}, "sum or length"),
        ({"rows": "phrases"}, "'words' or numbers"),
    ],
)
def test_wrong_options(counts, options, message):
    with pytest.raises(UsageError, match=message):
        Space.from_counts(counts, **options)


def test_counts_without_a_core():
    adjectives = replace(Counts.from_cells({"red-a": {"tail-n": 1}}), core=np.zeros(1, bool))
    with pytest.raises(InputError, match="no core, the nouns and verbs"):
        Space.from_counts(adjectives)
    with pytest.raises(InputError, match="no counts at all"):
        Space.from_counts(Counts.from_cells({"dog-n": {}}))


def test_counts_with_other_columns(space):
    other = Counts.from_cells({"dog-n": {"bark-v": 4, "moon-n": 2}})
    with pytest.raises(UsageError, match="only the counts have 'moon-n': count with the vocabulary of the space"):
        space.project(other)
    with pytest.raises(UsageError, match="only the space have"):
        space.project(words().select(None, ["tail-n"]))
    with pytest.raises(UsageError, match="vectors from elsewhere have no columns"):
        Space.from_vectors(["dog-n"], np.eye(1)).project(other)


def test_damaged_cells_are_refused(counts):
    """The kernels do not look whether a column is there: that is done before."""
    segment = counts.segments[0]
    for damage in (
        {"indices": segment.indices + 4},
        {"indices": segment.indices - 1},
        {"indptr": np.where(np.arange(len(segment.indptr)) == 2, 40, segment.indptr)},
        {"data": segment.data[:-1]},
    ):
        damaged = replace(counts, segments=(replace(segment, **damage), *counts.segments[1:]))
        with pytest.raises(CorruptError, match="counts: damaged"):
            Space.from_counts(damaged, dimensions=2)
    beside = Matrix(np.array([0, 1]), np.array([2], np.int32), np.ones(1, np.float32), (1, 2))
    with pytest.raises(CorruptError, match="columns that are not there"):
        Space.from_vectors(["a"], beside)


def test_wrong_vectors():
    for labels, array, message in (
        (["a", "a"], np.eye(2), "label 2 is 'a': expected each once"),
        (["a", ""], np.eye(2), "label 2 is ''"),
        (["a"], np.eye(2), "expected 1 rows"),
        (["a", "b"], np.array([[1, 2], [np.nan, 1]]), "the vector of 'b' has a number that is not finite"),
        (["a", "b"], np.ones(2), "one for each label"),
    ):
        with pytest.raises((InputError, UsageError), match=message):
            Space.from_vectors(labels, array)


def test_dense_spaces_have_no_matrix(space):
    with pytest.raises(UsageError, match="use .array"):
        _ = space.matrix
    with pytest.raises(UsageError, match="use .matrix"):
        _ = Space.from_counts(words(), reduce="none").array
    with pytest.raises(UsageError, match="do it before the reduction"):
        space.weighted("ppmi")


# ---------------------------------------------------------------- similarity


@pytest.mark.parametrize("measure", similarity.MEASURES)
def test_measures_agree(measure):
    random = np.random.default_rng(0)
    one, other = random.random((7, 5)) * (random.random((7, 5)) < 0.7), random.random((7, 5))
    one[3] = 0
    single = np.array([similarity.pairs(x[None], y[None], measure)[0] for x, y in zip(one, other, strict=True)])
    np.testing.assert_allclose(similarity.pairs(one, other, measure), single)
    np.testing.assert_allclose(np.diag(similarity.table(one, other, measure)), single, rtol=1e-6)
    space = Space.from_vectors([f"w{i}" for i in range(7)], one)
    sparse = Space.from_vectors([f"w{i}" for i in range(7)], from_scipy(sp.csr_array(one.astype(np.float32))))
    expected = similarity.table(other[:1], one, measure)[0]
    for kind in (space, sparse):
        found = dict(kind.nearest(other[:1].astype(np.float32), 7, measure=measure)[0])
        assert found.keys() == set(np.flatnonzero(~np.isnan(expected)).tolist())
        np.testing.assert_allclose([found[row] for row in found], expected[list(found)], rtol=1e-3)


def test_measures_by_hand():
    x, y = np.array([1.0, 2, 0]), np.array([2.0, 0, 2])
    found = {measure: similarity.pairs(x, y, measure)[0] for measure in similarity.MEASURES}
    assert found["dot"] == 2
    assert found["cosine"] == pytest.approx(2 / (5**0.5 * 8**0.5))
    assert found["euclidean"] == pytest.approx(1 / (1 + 3))
    assert found["lin"] == pytest.approx(3 / 7)
    assert found["pearson"] == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_neighbours_against_all(monkeypatch):
    monkeypatch.setattr(similarity.blocks, "__defaults__", (13,))
    array = np.random.default_rng(1).standard_normal((100, 6)).astype(np.float32)
    space = Space.from_vectors([f"w{i}" for i in range(100)], array)
    cosines = similarity.table(array[:1], array)[0]
    order = np.argsort(-cosines, kind="stable")[1:11]
    assert [label for label, _ in space.neighbours("w0", 10)] == [f"w{i}" for i in order]
    some = np.array([5, 7, 50])
    assert {label for label, _ in space.neighbours("w0", 10, rows=some)} == {"w5", "w7", "w50"}
    assert space.neighbours(array[3], 1)[0][0] == "w3"


def test_wrong_questions(space):
    with pytest.raises(UsageError, match="unknown measure 'manhattan': choose cosine"):
        space.neighbours("dog-n", measure="manhattan")
    with pytest.raises(UsageError, match="at least 1 neighbour"):
        space.neighbours("dog-n", 0)
    with pytest.raises(UsageError, match="vectors of 3 numbers, got 2"):
        space.neighbours(np.ones(2))
    with pytest.raises(InputError, match="without negative numbers"):
        space.neighbours("dog-n", measure="lin")


# ---------------------------------------------------------------- files


def golden_space(tmp_path):
    return Space.from_counts(counts_with_phrases(tmp_path), dimensions=2)


@pytest.mark.parametrize("name", ["space", "sparse", "vectors"])
def test_golden_files_can_be_read(name, tmp_path):
    """Spaces that an earlier version has written are read by every later one."""
    found = Space.open(GOLDEN / name)
    expected = {
        "space": golden_space,
        "sparse": lambda folder: Space.from_counts(counts_with_phrases(folder), reduce="none"),
        "vectors": lambda folder: Space.from_vectors(["dog", "cat"], np.array([[1, 2], [3, 4]])),
    }[name](tmp_path)
    assert found.labels() == expected.labels() and found.history == expected.history
    rows = np.arange(len(found))
    np.testing.assert_allclose(found.take(rows), expected.take(rows), atol=1e-6)
    assert found.fingerprint == expected.fingerprint
    np.testing.assert_array_equal(found.nonzeros, expected.nonzeros)
    if name != "vectors":
        again = found.project(counts_with_phrases(tmp_path))
        np.testing.assert_allclose(again.take(rows), found.take(rows), atol=1e-6)


def changed(folder, tmp_path, change):
    target = tmp_path / "changed"
    shutil.copytree(folder, target)
    meta = json.loads((target / "meta.json").read_text())
    change(meta)
    (target / "meta.json").write_text(json.dumps(meta))
    return target


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda meta: meta.update(format=2), VersionError, "upgrade composita"),
        (lambda meta: meta.update(shape=[3, 2]), CorruptError, "not a space that can be read"),
        (lambda meta: meta.update(shape=[11, 3]), CorruptError, "not a space that can be read"),
        (lambda meta: meta["steps"][0].update(kind="magic"), CorruptError, "unknown step 'magic'"),
        (lambda meta: meta["steps"][0].update(parameters={}), CorruptError, "not a space that can be read"),
        (lambda meta: meta.update(sparse=True), CorruptError, "lists no file"),
        (lambda meta: meta.pop("joints"), CorruptError, "not a space that can be read"),
    ],
)
def test_damaged_folders(tmp_path, change, error, message):
    with pytest.raises(error, match=message):
        Space.open(changed(GOLDEN / "space", tmp_path, change))


def test_cut_file(tmp_path):
    folder = changed(GOLDEN / "space", tmp_path, lambda _: None)
    (folder / "vectors.safetensors").write_bytes(b"short")
    with pytest.raises(CorruptError, match="vectors.safetensors"):
        Space.open(folder)
