"""Tables in Parquet files."""

from contextlib import suppress

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from composita.store.errors import CompositaError, CorruptError
from composita.store.tables import _as_arrow, read_table, write_table

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "words.parquet"


COLUMNS = {
    "word": ["dog-n", "быть-v", ""],
    "count": np.array([5, 3, -2]),
    "weight": np.array([0.5, 1, 2], np.float32),
    "tag": pa.array(["N", "V", "N"]).dictionary_encode(),
}


def test_round_trip_with_types(path):
    write_table(path, COLUMNS)
    table = read_table(path)
    assert table.column_names == list(COLUMNS)
    assert table["word"].to_pylist() == COLUMNS["word"]
    assert table["count"].to_numpy().tolist() == [5, 3, -2]
    assert table["weight"].type == pa.float32()
    assert pa.types.is_dictionary(table["tag"].type)
    assert read_table(path, ["tag", "word"]).column_names == ["tag", "word"]
    assert read_table(path, []).num_columns == 0


def test_arrow_columns_are_written_as_they_are(path):
    chunked = pa.chunked_array([["a", "b"], [], ["c"]], pa.string())
    assert _as_arrow(chunked) is chunked  # `pa.array` would take it apart in Python
    write_table(path, {"word": chunked, "count": pa.array([1, 2, 3], pa.int32())}, lasting=False)
    table = read_table(path)
    assert table.to_pydict() == {"word": ["a", "b", "c"], "count": [1, 2, 3]}
    assert table.schema.types == [pa.string(), pa.int32()]


@quick
@given(st.lists(st.tuples(st.text(st.characters(codec="utf-8")), st.integers(-(2**63), 2**63 - 1))))
def test_any_words(path, rows):
    words, counts = [row[0] for row in rows], np.array([row[1] for row in rows], np.int64)
    write_table(path, {"word": words, "count": counts})
    assert read_table(path).to_pydict() == {"word": words, "count": counts.tolist()}


def test_the_same_bytes_every_time_and_others_can_read(path, tmp_path):
    write_table(path, COLUMNS)
    write_table(tmp_path / "again.parquet", COLUMNS)
    assert path.read_bytes() == (tmp_path / "again.parquet").read_bytes()
    assert duckdb.sql(f"select sum(count) from '{path}'").fetchall() == [(6,)]


def test_what_is_broken_is_said(path, tmp_path):
    write_table(path, COLUMNS)
    with pytest.raises(CorruptError, match="expected a column 'colour'"):
        read_table(path, ["word", "colour"])
    with pytest.raises(CorruptError, match="expected a Parquet file"):
        read_table(tmp_path)
    raw = path.read_bytes()
    for broken in (b"", b"PAR1", raw[:100], raw[:-1], b"x" * 1000):
        path.write_bytes(broken)
        with pytest.raises(CorruptError, match=r"words\.parquet: ") as caught:
            read_table(path)
        assert "\n" not in str(caught.value)


@quick
@given(st.data())
def test_mutated_bytes_never_raise_anything_else(path, data):
    write_table(path, COLUMNS)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    with suppress(CompositaError):
        read_table(path).to_pydict()
