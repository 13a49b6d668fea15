"""Files of vectors: round trips, what other programs make of them, and what is said of bad ones."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.spaces.adapters import to_frame, to_gensim, to_xarray
from composita.spaces.cells import from_scipy
from composita.spaces.convert import convert
from composita.spaces.exchange import FORMATS, read_space, write_space
from composita.spaces.space import Space
from composita.store.errors import InputError, UsageError
from tests.spaces.helpers import counts_with_phrases

NAMES = {
    "word2vec": "v.vec", "word2vec-binary": "v.bin", "glove": "v.txt", "tsv": "v.tsv", "dm": "v.dm", "sm": "v.sm",
    "npz": "v.npz",
}  # fmt: skip


def same(one, other):
    assert one.labels() == other.labels()
    rows = np.arange(len(one))
    np.testing.assert_array_equal(one.take(rows), other.take(rows))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("to_folder", [False, True])
def test_round_trip_of_words_and_phrases(kind, to_folder, tmp_path):
    space = Space.from_counts(counts_with_phrases(tmp_path), dimensions=3)
    # A row of zeros has no cells in the sparse file, but its label.
    write_space(space, tmp_path / NAMES[kind])
    found = read_space(tmp_path / NAMES[kind], out=tmp_path / "back" if to_folder else None)
    same(found, space)
    assert found.items.patterns == space.items.patterns
    np.testing.assert_array_equal(found.phrases("svo").arguments, space.phrases("svo").arguments)
    np.testing.assert_array_equal(found.nonzeros, np.count_nonzero(space.array, axis=1))


@pytest.mark.parametrize("kind", ["sm", "npz", "dm", "tsv"])
def test_round_trip_of_a_sparse_space(kind, tmp_path):
    space = Space.from_counts(counts_with_phrases(tmp_path), reduce="none")
    write_space(space, tmp_path / NAMES[kind])
    found = read_space(tmp_path / NAMES[kind])
    same(found, space)
    assert found.is_sparse == (kind in ("sm", "npz"))
    if found.is_sparse:
        assert found.columns == space.columns


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.text("abc é%\"'#-(),:", min_size=1, max_size=6).filter(str.strip), min_size=1, max_size=5, unique=True),
    st.sampled_from(FORMATS),
    st.integers(0, 1000),
)
def test_any_label_and_any_number(tmp_path_factory, labels, kind, seed):
    folder = tmp_path_factory.mktemp("any")
    random = np.random.default_rng(seed)
    array = (random.standard_normal((len(labels), 3)) * 10.0 ** random.integers(-30, 30, (len(labels), 3))).astype("f4")
    space = Space.from_vectors(labels, array)
    write_space(space, folder / NAMES[kind])
    same(read_space(folder / NAMES[kind]), space)


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".bz2"])
def test_compressed(suffix, tmp_path):
    space = Space.from_vectors(["dog", "cat"], np.eye(2))
    write_space(space, tmp_path / f"v.txt{suffix}")
    same(read_space(tmp_path / f"v.txt{suffix}"), space)


def test_gensim_reads_and_writes_the_same(tmp_path):
    KeyedVectors = pytest.importorskip("gensim.models").KeyedVectors  # noqa: N806 - the name of a class

    space = Space.from_vectors(["dog", "cat", "größe"], np.random.default_rng(0).random((3, 4)))
    for name, binary in (("v.vec", False), ("v.bin", True)):
        write_space(space, tmp_path / name)
        theirs = KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=binary)
        assert theirs.index_to_key == space.labels()
        np.testing.assert_allclose(theirs.vectors, space.array)
        theirs.save_word2vec_format(str(tmp_path / f"their-{name}"), binary=binary)
        same(read_space(tmp_path / f"their-{name}"), space)


def test_scipy_reads_the_same(tmp_path):
    space = Space.from_counts(counts_with_phrases(tmp_path), reduce="none")
    write_space(space, tmp_path / "v.npz")
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "v.npz").toarray(), space.matrix.toarray())


def test_the_same_bytes_each_time(tmp_path):
    space = Space.from_vectors(["dog", "cat"], np.eye(2))
    for name in ("a.npz", "b.npz"):
        write_space(space, tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_fasttext_glove_and_word2vec_by_their_first_lines(tmp_path):
    (tmp_path / "fast.vec").write_text("2 3\ndog 1 2 3 \ncat 4 5 6 \n")  # fastText ends lines with a blank
    (tmp_path / "glove.txt").write_text("dog 1 2 3\ncat 4 5 6")
    (tmp_path / "also.txt").write_text("2 3\ndog 1 2 3\ncat 4 5 6\n")
    (tmp_path / "blanks.txt").write_text("dog 1 2 3\n. . . 4 5 6\n")  # as in the large GloVe
    one, other, third = (read_space(tmp_path / name) for name in ("fast.vec", "glove.txt", "also.txt"))
    same(one, other)
    same(one, third)
    assert read_space(tmp_path / "blanks.txt").labels() == ["dog", ". . ."]


def test_letters_are_put_behind(tmp_path):
    (tmp_path / "glove.txt").write_text("dog 1 2\ncat 4 5\n")
    found = read_space(tmp_path / "glove.txt", pos="n")
    assert found.labels() == ["dog-n", "cat-n"] and found.rows("word").tolist() == [0, 1]
    with pytest.raises(UsageError, match="letters n v a r p"):
        read_space(tmp_path / "glove.txt", pos="x")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("v.vec", b"dog 1 2\n", "v.vec:1: expected the numbers of rows and dimensions, got 'dog 1 2'.*it is 'glove'"),
        ("v.vec", b"3 2\ndog 1 2\n", "expected 3 rows as line 1 says, found 1"),
        ("v.vec", b"2 2\ndog 1 2\ncat 1\n", "v.vec:3: expected a label and 2 numbers, got 2 parts"),
        ("v.vec", b"2 2\ndog 1 2\ncat 1 x\n", "v.vec:3: expected 2 numbers behind the label, got '1 x'"),
        ("v.txt", b"dog 1 2\ncat 3 4 5\n", "v.txt:2: expected a label and 2 numbers, got 4 parts"),
        ("v.txt", b"dog 1 2\ncat nan 2\n", "v.txt:2: a number is not finite"),
        ("v.txt", b"dog 1 2\ncat 1e99 2\n", "v.txt:2: a number is not finite"),
        ("v.txt", b"dog 1 2\ndog 3 4\n", "the label 'dog' of row 2 was there before"),
        ("v.txt", b"", "expected a label and numbers, got nothing"),
        ("v.txt", b"\xff\xfe 1 2\n", "expected UTF-8"),
        ("v.tsv", b"dog\t1\t2\ncat\t1\t2\t3\n", "v.tsv:2: expected a label and 2 numbers, got 4 parts"),
        ("v.bin", b"2 2\ndog " + bytes(8) + b"\ncat " + bytes(5), "it ends in row 2 of 2: it was cut short"),
        ("v.bin", b"2 2\ndog " + bytes(8), "it ends in row 2 of 2, or is no binary"),
        ("v.bin", b"1 2\ndog " + bytes(8) + b"\ncat " + bytes(8), "there is more behind the 1 rows"),
        ("v.bin", b"1 1\ndog \x00\x00\xc0\x7f", "the vector of 'dog' has a number that is not finite"),
        ("v.bin", b"nothing here", "expected the numbers of rows and dimensions"),
        ("v.npz", b"nothing", "not an .npz file"),
        ("v.txt.gz", b"not packed", "v.txt.gz: cannot be"),
        ("v.sm", b"dog x 1\n", "'x' is not in the .cols"),
        ("v.sm", b"dog tail 1\ncow tail 1\n", "v.sm:2: 'cow' is not in the .rows"),
        ("v.sm", b"dog tail inf\n", "not finite"),
        ("v.sm", b"dog tail\n", "expected row, column and number"),
        ("v.sm", b"", "it is empty"),
    ],
)
def test_bad_files(name, data, message, tmp_path):
    (tmp_path / "v.rows").write_text("dog\n")
    (tmp_path / "v.cols").write_text("tail\n")
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_space(tmp_path / name)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"vectors": np.eye(2)}, "array of strings 'labels', found vectors"),
        ({"labels": np.array(["a", "b"])}, "expected 'vectors', or the indptr"),
        ({"labels": np.array(["a"]), "vectors": np.eye(2)}, "expected 1 rows, one for each label, got 2"),
        ({"labels": np.array(["a"]), "vectors": np.array(["x"])}, "a table of numbers"),
        (
            {"labels": np.array(["a"]), "indptr": [0, 1], "indices": [7], "data": [1.0], "shape": [1, 2]},
            "do not fit together",
        ),
    ],
)
def test_bad_npz(arrays, message, tmp_path):
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(InputError, match=message):
        read_space(tmp_path / "v.npz")


def test_nothing_is_unpickled(tmp_path):
    np.savez(tmp_path / "v.npz", labels=np.array(["a"], object), vectors=np.eye(1))
    with pytest.raises(InputError, match="not an .npz file that we can read"):
        read_space(tmp_path / "v.npz")


def test_unknown_names(tmp_path):
    with pytest.raises(UsageError, match="format of v.doc cannot be told by its name"):
        read_space(tmp_path / "v.doc")
    with pytest.raises(UsageError, match="unknown format 'w2v'"):
        read_space(tmp_path / "v.vec", file_format="w2v")
    with pytest.raises(InputError, match="no such file"):
        read_space(tmp_path / "v.vec")


def test_convert(tmp_path):
    space = Space.from_counts(counts_with_phrases(tmp_path), dimensions=3)
    space.save(tmp_path / "space")
    assert convert(tmp_path / "space", tmp_path / "words.txt", rows="word") == (5, 3)
    assert convert(tmp_path / "words.txt", tmp_path / "words.bin") == (5, 3)
    assert convert(tmp_path / "words.bin", tmp_path / "again") == (5, 3)
    same(Space.open(tmp_path / "again"), space.select(space.rows("word")))
    with pytest.raises(UsageError, match="no format is written to .doc files"):
        convert(tmp_path / "space", tmp_path / "words.doc")
    with pytest.raises(UsageError, match="expected a file of vectors, or a space"):
        convert(tmp_path / "nothing", tmp_path / "words.txt")
    assert not list(tmp_path.glob(".convert-*"))


def test_streamed_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("composita.spaces.exchange.ROWS", 7)
    monkeypatch.setattr("composita.spaces.sparse_exchange.ROWS", 7)
    array = np.random.default_rng(0).random((50, 3)).astype("f4")
    space = Space.from_vectors([f"w{i}" for i in range(50)], array)
    for kind in FORMATS:
        write_space(space, tmp_path / NAMES[kind])
        same(read_space(tmp_path / NAMES[kind]), space)
    with gzip.open(tmp_path / "v.txt.gz", "wb") as file:
        file.write((tmp_path / "v.txt").read_bytes())
    same(read_space(tmp_path / "v.txt.gz"), space)


def test_for_gensim():
    pytest.importorskip("gensim")
    keyed = to_gensim(Space.from_vectors(["dog", "cat"], np.array([[1, 2], [3, 4]])))
    assert keyed["cat"].tolist() == [3, 4]


def test_for_other_libraries():
    space = Space.from_vectors(["dog", "cat"], np.array([[1, 2], [3, 4]]))
    frame, array = to_frame(space), to_xarray(space)
    assert frame.loc["cat"].tolist() == [3, 4]
    assert array.sel(item="cat").values.tolist() == [3, 4]
    sparse = Space.from_vectors(["dog", "cat"], from_scipy(sp.csr_array(np.eye(2))))
    assert to_frame(sparse).loc["cat"].tolist() == [0, 1]
