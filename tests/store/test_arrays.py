"""Arrays in safetensors files: against the reference implementation, and against strangers."""

import json
import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from composita.store.arrays import DTYPES, read_arrays, read_metadata, write_arrays
from composita.store.errors import CompositaError, CorruptError, UsageError

ALL_TYPES = [np.dtype(code) for code in DTYPES.values()]
quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.safetensors"


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


def sample():
    rng = np.random.default_rng(3)
    arrays = {
        f"{dtype}-{shape}": (rng.random(shape) * 100).astype(dtype)
        for dtype in ALL_TYPES
        for shape in [(), (0,), (0, 3), (1,), (3,), (2, 3), (2, 1, 5)]
    }
    return {name: np.asarray(array) for name, array in arrays.items()}


def test_the_reference_reads_what_we_write(path):
    write_arrays(path, sample(), {"who": "wé"})
    assert_same(load_file(path), sample())
    with safe_open(path, "numpy") as file:
        assert file.metadata() == {"who": "wé"} == read_metadata(path)


def test_we_read_what_the_reference_writes(path):
    save_file(sample(), path, {"who": "they"})
    assert_same(read_arrays(path), sample())
    assert read_metadata(path) == {"who": "they"}


array = hnp.arrays(st.sampled_from(ALL_TYPES), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
text = st.text(st.characters(codec="utf-8"), max_size=9)
arrays = st.dictionaries(text.filter(lambda name: name != "__metadata__"), array, max_size=5)
texts = st.dictionaries(text, text, max_size=3)


@quick
@given(arrays, texts)
def test_round_trip(path, arrays, metadata):
    write_arrays(path, arrays, metadata)
    first = path.read_bytes()
    found = read_arrays(path)
    assert_same(found, arrays)
    assert read_metadata(path) == metadata
    for array in found.values():
        assert array.flags.aligned
        assert not array.flags.writeable
    write_arrays(path, dict(reversed(arrays.items())), dict(reversed(metadata.items())))
    assert path.read_bytes() == first


def test_data_starts_at_a_multiple_of_64_and_is_mapped(path):
    big = np.arange(1000, dtype=np.float32)
    write_arrays(path, {"byte": np.ones(3, np.uint8), "big": big})
    (length,) = struct.unpack("<Q", path.read_bytes()[:8])
    assert (8 + length) % 64 == 0
    found = read_arrays(path)["big"]
    assert not found.flags.owndata
    assert found.ctypes.data % 64 == 0
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        found.flags.writeable = True


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 24])
def test_any_memory_order_and_byte_order(path, monkeypatch, block):
    monkeypatch.setattr("composita.store.arrays._BLOCK", block)
    base = np.arange(5 * 4 * 3).reshape(5, 4, 3)
    given = {
        "fortran": np.asfortranarray(base),
        "strided": base[::2, ::-1, 1:],
        "transposed": base.T,
        "big-endian": base.astype(">i4"),
        "broadcast": np.broadcast_to(np.float32(1.5), (3, 2)),
        "read-only": np.frombuffer(b"12345678", "<u4"),
    }
    write_arrays(path, given)
    for name, array in read_arrays(path).items():
        assert array.tolist() == given[name].tolist(), name
    assert read_arrays(path)["big-endian"].dtype == np.dtype("<i4")


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.zeros(1, complex), np.zeros(1, "M8[s]")])
def test_types_without_a_place(path, array):
    with pytest.raises(UsageError, match="has no place"):
        write_arrays(path, {"a": array})
    with pytest.raises(UsageError, match="has no place"):
        write_arrays(path, {"__metadata__": np.zeros(1)})


def test_unaligned_arrays_of_others_are_copied(path):
    header = {
        "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
        "b": {"dtype": "F64", "shape": [2], "data_offsets": [1, 17]},
    }
    data = b"\x07" + np.array([1.5, 2.5]).tobytes()
    path.write_bytes(packed(header, data))
    found = read_arrays(path)
    assert found["b"].tolist() == [1.5, 2.5]
    assert found["b"].flags.aligned
    assert not found["b"].flags.writeable


# ---------------------------------------------------------------- strangers


def packed(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype="F32", shape=(1,), offsets=(0, 4), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


HOSTILE = {
    "nothing": b"",
    "too short": b"1234567",
    "length beyond the file": struct.pack("<Q", 99) + b"{}",
    "length beyond everything": struct.pack("<Q", 2**64 - 1) + b"{}",
    "no header": struct.pack("<Q", 0),
    "not UTF-8": packed(b'{"\xff": 1}'),
    "not JSON": packed(b"{]"),
    "not an object": packed([]),
    "deep": packed(b'{"a":' * 50_000),
    "twice": packed(b'{"a": %s, "a": %s}' % ((json.dumps(entry()).encode(),) * 2), b"1234"),
    "metadata of numbers": packed({"__metadata__": {"a": 1}}),
    "metadata in a list": packed({"__metadata__": []}),
    "entry in a list": packed({"a": []}),
    "entry with more": packed({"a": entry(more=1)}, b"1234"),
    "entry with less": packed({"a": {"dtype": "F32", "shape": [1]}}, b"1234"),
    "unknown type": packed({"a": entry("F31")}, b"1234"),
    "type in a list": packed({"a": entry(["F32"])}, b"1234"),
    "negative shape": packed({"a": entry(shape=[-1])}, b"1234"),
    "fractional shape": packed({"a": entry(shape=[1.0])}, b"1234"),
    "true shape": packed({"a": entry(shape=[True])}, b"1234"),
    "huge shape": packed({"a": entry(shape=[2**62, 2**62])}, b"1234"),
    "huge empty shape": packed({"a": entry(shape=[0, 2**62, 2**62], offsets=(0, 0))}),
    "too many axes": packed({"a": entry(shape=[1] * 65)}, b"1234"),
    "shape and offsets differ": packed({"a": entry(shape=[2])}, b"1234"),
    "one offset": packed({"a": entry(offsets=[0])}, b"1234"),
    "backwards": packed({"a": entry(offsets=(4, 0))}, b"1234"),
    "negative offset": packed({"a": entry(offsets=(-4, 0))}, b"1234"),
    "beyond the end": packed({"a": entry(offsets=(4, 8))}, b"1234"),
    "hole": packed({"a": entry(), "b": entry(offsets=(8, 12))}, b"123456789012"),
    "overlap": packed({"a": entry(), "b": entry(offsets=(0, 4))}, b"1234"),
    "data missing": packed({"a": entry()}, b"123"),
    "data left over": packed({"a": entry()}, b"12345"),
    "neither true nor false": packed({"a": entry("BOOL", [4])}, b"\0\1\2\1"),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files(path, data):
    path.write_bytes(data)
    with pytest.raises(CorruptError, match=r"a\.safetensors: ") as caught:
        read_arrays(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))


def test_no_file(tmp_path):
    with pytest.raises(CorruptError, match="found nothing"):
        read_arrays(tmp_path / "a")
    with pytest.raises(CorruptError, match="not a file"):
        read_arrays(tmp_path)


@quick
@given(st.data())
def test_mutated_bytes_never_raise_anything_else(path, data):
    write_arrays(path, {"a": np.arange(3), "b": np.array([True]), "c": np.zeros((0, 2))}, {"k": "v"})
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        where = data.draw(st.integers(0, max(0, len(raw) - 1)))
        raw[where : where + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(0, len(raw)))]
    path.write_bytes(raw)
    with suppress(CompositaError):
        for array in read_arrays(path).values():
            array.sum()
