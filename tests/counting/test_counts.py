"""Counts by themselves: labels, slices, saving, exchange; and patterns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.counting.contexts import Context
from composita.counting.counts import Counts
from composita.counting.exchange import read_dissect, read_matrix_market, write_dissect, write_matrix_market
from composita.counting.patterns import load_patterns
from composita.store.errors import InputError, UsageError
from composita.store.folder import Folder
from tests.counting.helpers import count_directly, dictionaries, make_corpus, vocabulary  # noqa: F401

SENTENCES = [
    [("Dogs", "dog", "NOUN", "NNS", 2, "nsubj"), ("chase", "chase", "VERB", "VBP", 0, "ROOT"),
     ("furry", "furry", "ADJ", "JJ", 4, "amod"), ("cats", "cat", "NOUN", "NNS", 2, "dobj"),
     ("in", "in", "ADP", "IN", 2, "prep"), ("houses", "house", "NOUN", "NNS", 5, "pobj")],
    [("Cats", "cat", "NOUN", "NNS", 2, "nsubj"), ("chase", "chase", "VERB", "VBP", 0, "ROOT"),
     ("it", "it", "PRON", "PRP", 2, "dobj")],
    [("Dogs", "dog", "NOUN", "NNS", 2, "nsubj"), ("run", "run", "VERB", "VBP", 0, "ROOT")],
]  # fmt: skip
CORE = ["dog-n", "cat-n", "house-n", "chase-v", "run-v"]
CONTEXTS = ["dog-n", "cat-n", "house-n", "chase-v", "furry-a"]
LABELS = ["dog-n", "chase-v(cat-n)", "chase-v(cat-n, dog-n)", "chase_in-v(house-n, dog-n)", "furry-a(cat-n)"]


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    from composita.counting.count import count

    corpus = make_corpus(tmp_path_factory.mktemp("small"), SENTENCES)
    words = vocabulary(CORE, ["it-p", "furry-a"], CONTEXTS)
    return count(corpus, words, phrases="sv,svo,vo,an,svpo")


def test_rows_by_label(counts):
    assert counts.row("dog-n") == {"chase-v": 1, "cat-n": 1, "furry-a": 1, "house-n": 1}
    assert counts.row("chase-v(cat-n, dog-n)") == {"furry-a": 1, "house-n": 1}
    assert counts.row("svo:chase-v(cat-n, dog-n)") == counts.row("chase-v(cat-n, dog-n)")
    assert counts.row("chase_in-v(house-n, dog-n)") == {"cat-n": 1, "furry-a": 1}
    assert counts.row("sv:chase-v(cat-n)") == {}
    assert counts.row("vo:chase-v(cat-n)") == {"dog-n": 1, "furry-a": 1, "house-n": 1}
    with pytest.raises(UsageError, match=r"several patterns: say sv:chase-v\(cat-n\) or vo:chase-v\(cat-n\)"):
        counts.row("chase-v(cat-n)")
    with pytest.raises(UsageError, match=r"'dgo-n' was not counted; did you mean dog-n"):
        counts.row("dgo-n")
    for label in ("chase-v(dog-n, house-n)", "svo:run-v(dog-n)", "", "chase-v()", "(", "chase-v(cat-n, dog-n", "a:b:c"):
        with pytest.raises(UsageError, match="was not counted"):
            counts.find(label)


def test_every_label_is_found(counts):
    patterns = ["word", *(p.name for p in counts.names.patterns)]
    for row, (label, pattern) in enumerate(zip(counts.labels(), counts.fields.pattern.tolist(), strict=True)):
        assert counts.find(f"{patterns[pattern]}:{label}" if pattern else label) == row


def test_display(counts):
    said = dict(zip(counts.labels(), counts.display(), strict=True))
    assert said["chase-v(cat-n, dog-n)"] == "dog chase cat"
    assert said["chase_in-v(house-n, dog-n)"] == "dog chase in house"
    assert said["furry-a(cat-n)"] == "furry cat"
    assert said["run-v"] == "run"


def test_rows_by_pattern_and_head(counts):
    assert counts.labels(counts.rows("svo", "chase-v")) == ["chase-v(cat-n, dog-n)", "chase-v(it-p, cat-n)"]
    with pytest.raises(UsageError, match="no pattern 'nn' was counted: choose word, an, sv"):
        counts.rows("nn")
    with pytest.raises(UsageError, match="'chas-v' is no word of these counts; did you mean chase-v"):
        counts.rows("svo", "chas-v")


def test_slices(counts):
    part = counts[["run-v", "dog-n"], ["chase-v", "dog-n"]]
    assert (part.labels(), part.columns) == (["run-v", "dog-n"], ("dog-n", "chase-v"))
    assert (part.row("run-v"), part.row("dog-n")) == ({"dog-n": 1}, {"chase-v": 1})
    assert part.shape == (2, 2)
    mask = counts.fields.pattern == 0
    assert counts.select(mask).labels() == list(counts.names.words)
    assert dictionaries(counts.select(mask) + counts.select(~mask))[1].keys() == dictionaries(counts)[1].keys()
    backwards = counts.select(np.arange(len(counts))[::-1])
    assert dictionaries(backwards + counts) == dictionaries(counts + counts)
    with pytest.raises(UsageError, match="'cow-n' is no context of these counts"):
        counts[["dog-n"], ["cow-n"]]


def test_matrix_is_what_scipy_takes(counts):
    sparse = pytest.importorskip("scipy.sparse")
    m = counts.matrix()
    dense = sparse.csr_array((m.data, m.indices, m.indptr), m.shape).toarray()
    assert dense[counts.find("dog-n")].tolist() == [1, 0, 1, 1, 1]
    assert np.array_equal((dense > 0).sum(axis=1), counts.distinct_contexts)


def test_saving(counts, tmp_path):
    for name, part in (("all", counts), ("some", counts.select(counts.rows("svo"), ["dog-n", "house-n"]))):
        part.save(tmp_path / name)
        again = Counts.open(tmp_path / name)
        assert dictionaries(again) == dictionaries(part)
        assert (again.columns, again.labels(), repr(again)) == (part.columns, part.labels(), repr(part))
        assert not any(segment.data.flags.writeable for segment in again.segments)
        assert Folder.open(tmp_path / name).verify() == []
    counts.save(tmp_path / "some")
    assert dictionaries(Counts.open(tmp_path / "some")) == dictionaries(counts)


def test_items_are_a_table(counts, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    counts.save(tmp_path / "c")
    query = (
        f"select label, frequency, contexts from '{tmp_path}/c/items-*.parquet' where pattern = 'svo' order by label"
    )
    assert duckdb.sql(query).fetchall() == [("chase-v(cat-n, dog-n)", 1, 2), ("chase-v(it-p, cat-n)", 1, 0)]
    assert counts.items().column("label").to_pylist() == counts.labels()


@pytest.mark.parametrize(("write", "read"), [(write_dissect, read_dissect), (write_matrix_market, read_matrix_market)])
def test_exchange(write, read, counts, tmp_path):
    write(counts, tmp_path / "x.y")
    again = read(tmp_path / "x.y")
    assert dictionaries(again)[0] == dictionaries(counts)[0]
    assert set(again.labels()) == set(counts.labels())
    assert again.columns == counts.columns
    assert "svo:chase-v(cat-n,dog-n)" in (tmp_path / "x.y.rows").read_text().split()
    empty = counts.select([counts.find("sv:chase-v(cat-n)")])
    write(empty, tmp_path / "empty")
    assert read(tmp_path / "empty").shape == empty.shape


def test_matrix_market_is_read_by_scipy(counts, tmp_path):
    io = pytest.importorskip("scipy.io")
    write_matrix_market(counts, tmp_path / "x")
    m = counts.matrix()
    found = io.mmread(tmp_path / "x.mtx").tocsr()
    assert np.array_equal(found.indptr, m.indptr)
    assert np.array_equal(found.indices, m.indices)
    assert np.array_equal(found.data, m.data)


lemma = st.text(st.sampled_from("ab é%(),_-:\"'\u00a0"), min_size=1, max_size=5).filter(lambda s: s == s.strip())
label = st.builds(lambda lemma, letter: f"{lemma}-{letter}", lemma, st.sampled_from("nvar"))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.dictionaries(label, st.dictionaries(label, st.integers(1, 1 << 40), max_size=3), min_size=1, max_size=5))
def test_strange_words_survive(cells):
    import tempfile
    from pathlib import Path

    counts = Counts.from_cells(cells)
    if not counts.columns:
        return
    with tempfile.TemporaryDirectory() as folder:
        for number, (write, read) in enumerate(
            ((write_dissect, read_dissect), (write_matrix_market, read_matrix_market))
        ):
            write(counts, Path(folder, f"x{number}"))
            assert dictionaries(read(Path(folder, f"x{number}")))[0] == dictionaries(counts)[0]
        counts.save(Path(folder, "saved"))
        assert dictionaries(Counts.open(Path(folder, "saved"))) == dictionaries(counts)
    for word, row in cells.items():
        assert counts.row(word) == row


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"sm": "dog-n big-a 1\n", "rows": "cat-n\n", "cols": "big-a\n"}, r"x.sm:1: 'dog-n' is not in .*x.rows"),
        ({"sm": "dog-n big-a 1.5\n", "rows": "dog-n\n", "cols": "big-a\n"}, "whole numbers from 0"),
        ({"sm": "dog-n big-a\n", "rows": "dog-n\n", "cols": "big-a\n"}, "expected row, column and count"),
        ({"sm": "dog big-a 1\n", "rows": "dog\n", "cols": "big-a\n"}, "x.rows:1: expected dog-n or svo"),
        ({"sm": "dog-n big 1\n", "rows": "dog-n\n", "cols": "big\n"}, "x.cols:1: expected a word such as dog-n"),
        ({"sm": "", "rows": "dog-n\ndog-n\n", "cols": "big-a\n"}, "each label once"),
        ({"rows": "dog-n\n", "cols": "big-a\n"}, "x.sm: cannot be read"),
    ],
)
def test_broken_dissect_files(files, message, tmp_path):
    for suffix, text in files.items():
        (tmp_path / f"x.{suffix}").write_text(text)
    with pytest.raises(InputError, match=message):
        read_dissect(tmp_path / "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%%MatrixMarket matrix array real general\n", "expected '%%MatrixMarket matrix coordinate integer general'"),
        ("%%MatrixMarket matrix coordinate integer general\n% x\n1 2 1\n", "expected 1 rows and 1 columns"),
        ("%%MatrixMarket matrix coordinate integer general\n1 1\n", "numbers of rows, columns and cells"),
        ("%%MatrixMarket matrix coordinate integer general\n1 1 2\n1 1 3\n", "expected 2 cells, got 1"),
        ("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 2 3\n", "expected columns from 1 to 1, got 2"),
    ],
)
def test_broken_matrix_market_files(text, message, tmp_path):
    (tmp_path / "x.mtx").write_text(text)
    (tmp_path / "x.rows").write_text("dog-n\n")
    (tmp_path / "x.cols").write_text("big-a\n")
    with pytest.raises(InputError, match=message):
        read_matrix_market(tmp_path / "x")


# Patterns and contexts.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[x]\nhead = 'v'", "'arguments' is None, expected a list of tables"),
        ("[x]\nhead = 'q'\narguments = [{role = 'object'}]", "'head' is 'q', expected one of n, v, a, r"),
        ("[x]\nhead = 'v'\narguments = [{role = 'objekt'}]", r"unknown role 'objekt': choose subject, object"),
        ("[x]\nhead = 'v'\narguments = [{}]", "an argument has no role"),
        ("[x]\nhead = 'v'\narguments = [{role = 'object', pos = ['x']}]", "unknown part of speech 'x'"),
        ("[x]\nhead = 'v'\narguments = [{role = 'object', optional = 1}]", "'optional' is 1, expected true or false"),
        ("[x]\nhead = 'v'\narguments = [{role = 'object', optional = true}]", "an argument that is not optional"),
        (
            "[x]\nhead = 'v'\narguments = [{role = 'object'}, {role = 'object'}]",
            "two arguments begin with the role 'object'",
        ),
        ("[x]\nhead = 'v'\nargument = []", "unknown key 'argument'; allowed are head, arguments"),
        (
            "[x]\nhead = 'v'\narguments = [{role = 'object'}]\ndisplay = ['head']",
            "'display' is .* expected head, object",
        ),
        ("[X]\nhead = 'v'\narguments = [{role = 'object'}]", "'X' cannot name a pattern"),
        ("x = 1", "is 1, expected a table"),
        ("[x", "not a TOML file"),
        ("", "found none"),
        ("[svo]\nhead = 'v'\narguments = [{role = 'object'}]", "'svo' is given twice"),
    ],
)
def test_wrong_patterns(text, message, tmp_path):
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        load_patterns(f"svo,{tmp_path / 'own.toml'}")


def test_patterns_stand_in_order():
    assert [p.name for p in load_patterns("vo, sv,svo,sv")] == ["sv", "svo", "vo"]
    assert load_patterns("sv", sv_without_object=True)[0].without == ("object",)


@pytest.mark.parametrize(
    "text", ["sentence", "dependency", "window:5", "window:5,0", "window:3:linear", "window:2,4:harmonic"]
)
def test_contexts_are_read_and_written(text):
    assert str(Context.parse(text)) == text


def test_shares_are_exact():
    context = Context.parse("window:20:harmonic")
    assert all(context.shares[d] * d == context.unit for d in range(1, 21))
    assert Context.parse("window:4:linear").shares == (0, 4, 3, 2, 1)
