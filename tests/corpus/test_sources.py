"""Sources: compression, cutting into segments and blocks, and everything that can be wrong with a file."""

import bz2
import gzip
import io
import lzma
import random
import sys
from itertools import groupby

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.corpus import sources
from composita.corpus.formats import FORMATS, guess_format
from composita.corpus.sources import Source, count_lines, find_sources, open_text, segment_starts, sentence_blocks
from composita.store.errors import InputError, NotFoundError, UsageError
from tests.corpus.texts import CONLLU, CONLLX, TEXTS, WACKY


def zstd(data):
    return pa.compress(data, codec="zstd", asbytes=True)


COMPRESSED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd, "": bytes}


def read_all(source, start=0, end=None):
    with open_text(source, start, end) as stream:
        return b"".join(iter(stream.read, b""))


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_every_compression_is_known_by_its_first_bytes(suffix, tmp_path):
    path = tmp_path / "no-suffix"
    path.write_bytes(COMPRESSED[suffix](CONLLU * 3))
    (source,) = find_sources([path])
    assert read_all(source) == CONLLU * 3
    assert source.splits == (suffix == "")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_members_one_after_the_other(suffix, tmp_path):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(COMPRESSED[suffix](CONLLU) + COMPRESSED[suffix](WACKY))
    assert read_all(find_sources([path])[0]) == CONLLU + WACKY


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("keep", [0.3, 0.9, 0.999])
def test_a_stream_cut_short_is_an_error(suffix, keep, tmp_path):
    whole = COMPRESSED[suffix](random.Random(1).randbytes(50_000))
    path = tmp_path / f"x{suffix}"
    path.write_bytes(whole[: int(len(whole) * keep)])
    with pytest.raises(InputError, match=r"stream is cut short or broken after [\d,]+ bytes of text"):
        read_all(find_sources([path])[0])


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_damaged_stream_is_an_error(suffix, tmp_path):
    whole = bytearray(COMPRESSED[suffix](random.Random(1).randbytes(50_000)))
    whole[len(whole) // 2] ^= 255
    path = tmp_path / f"x{suffix}"
    path.write_bytes(whole)
    if suffix == ".zst":
        # pyarrow writes zstd without a checksum; then damage may show in the text only.
        return
    with pytest.raises(InputError, match="cut short or broken"):
        read_all(find_sources([path])[0])


def test_finding_sources(tmp_path):
    for name in ("b.conllu", "a.conllu", "c.txt"):
        (tmp_path / name).write_bytes(CONLLU)
    assert [s.name for s in find_sources([f"{tmp_path}/*.conllu"])] == ["a.conllu", "b.conllu"]
    assert [s.name for s in find_sources([tmp_path / "c.txt", f"{tmp_path}/a*"])] == ["c.txt", "a.conllu"]
    with pytest.raises(NotFoundError, match="no such file; check the path"):
        find_sources([tmp_path / "d"])
    with pytest.raises(InputError, match="this is a folder, expected a file"):
        find_sources([tmp_path])
    with pytest.raises(UsageError, match="named twice: .*a.conllu"):
        find_sources([f"{tmp_path}/a*", f"{tmp_path}/*.conllu"])
    with pytest.raises(UsageError, match="no source given"):
        find_sources([])


def test_a_file_name_with_pattern_signs_is_a_file(tmp_path):
    path = tmp_path / "a[1].conllu"
    path.write_bytes(CONLLU)
    assert find_sources([path])[0].path == str(path)


def test_byte_order_marks(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbf" + CONLLU)
    with open_text(find_sources([path])[0]) as stream:
        assert b"".join(bytes(b.data) for b in sentence_blocks(stream, FORMATS["conllu"])) == CONLLU
    path.write_bytes(CONLLU.decode().encode("utf-16"))
    with (
        open_text(find_sources([path])[0]) as stream,
        pytest.raises(InputError, match="this is UTF-16: convert it"),
    ):
        list(sentence_blocks(stream, FORMATS["conllu"]))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CONLLU, "conllu"),
        (CONLLX, "conllx"),
        (WACKY, "wacky"),
        (CONLLX.replace(b"\t_\t_\n", b"\t_\t_\n"), "conllx"),
        (b"1\ta\ta\tNOUN\tNN\t_\t0\troot\t_\t_\n\n", "conllu"),
        (b"1\ta\ta\tN\tNN\t_\t0\troot\t_\t_\n\n", "conllx"),
        (b"1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\ta\tN\tN\t_\t0\tx\t_\t_\n", "conllu"),
        (b"#\t#\t#\t1\t0\tROOT\n", "wacky"),
        (b"<s>\n<\t<\tSYM\t1\t0\tROOT\n", "wacky"),
    ],
)
def test_guessing_the_format(text, name):
    assert guess_format(text, "x").name == name


# ---------------------------------------------------------------- segments and blocks


def segments(path, form, chunk=None, monkeypatch=None):
    source = find_sources([path])[0] if path != "-" else Source("-")
    with open_text(source) as stream:
        blocks = list(sentence_blocks(stream, form))
    found = []
    for number, group in groupby(blocks, key=lambda block: block.segment):
        members = list(group)
        found.append((number, members[0].start, b"".join(bytes(b.data) for b in members)))
    return found


@pytest.fixture
def small(monkeypatch):
    def shrink(segment=200, chunk=64, longest=1000):
        monkeypatch.setattr(sources, "SEGMENT", segment)
        monkeypatch.setattr(sources, "CHUNK", chunk)
        monkeypatch.setattr(sources, "LONGEST", longest)
        monkeypatch.setattr(sources.TextStream.read, "__defaults__", (chunk,))

    return shrink


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_the_cut_depends_on_the_text_alone(form, ending, small, tmp_path, monkeypatch):
    text = (TEXTS[form] * 7).replace(b"\n", ending)
    results = []
    for chunk in (64, 200, 10_000):
        small(chunk=chunk)
        for suffix in COMPRESSED:
            path = tmp_path / f"x{suffix}"
            path.write_bytes(COMPRESSED[suffix](text))
            results.append(segments(path, FORMATS[form]))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        results.append(segments("-", FORMATS[form]))
    first = results[0]
    assert all(result == first for result in results)
    assert b"".join(data for _, _, data in first) == text
    assert len(first) > 2
    plain = find_sources([tmp_path / "x"])[0]
    assert segment_starts(plain, FORMATS[form]) == [start for _, start, _ in first]
    for _, start, data in first:
        assert read_all(plain, start, start + len(data)) == data
        assert count_lines(plain, start) == text[:start].count(b"\n")


@given(st.lists(st.sampled_from([b"a\n", b"\n", b"bb\r\n", b"\r\n", b"c" * 50 + b"\n", b"\n\n"]), max_size=60))
@settings(max_examples=200, deadline=None)
def test_segments_of_any_text_begin_after_a_boundary(parts):
    text = b"".join(parts)
    before = sources.SEGMENT, sources.CHUNK, sources.TextStream.read.__defaults__
    try:
        sources.SEGMENT, sources.CHUNK = 40, 16
        results = []
        for chunk in (3, 16, 500):
            sources.TextStream.read.__defaults__ = (chunk,)
            stream = sources.TextStream(Source("x"), io.BytesIO(text))
            blocks = list(sentence_blocks(stream, FORMATS["conllu"]))
            assert b"".join(bytes(b.data) for b in blocks) == text
            starts = [next(g).start for _, g in groupby(blocks, key=lambda b: b.segment)]
            results.append(starts)
        assert results[0] == results[1] == results[2]
        ends = [m.end() for m in FORMATS["conllu"].boundary.finditer(text)]
        assert all(start in ends or start == 0 for start in results[0])
    finally:
        sources.SEGMENT, sources.CHUNK, sources.TextStream.read.__defaults__ = before


def test_a_sentence_without_end_is_passed_over(small, tmp_path):
    small(longest=500)
    path = tmp_path / "x"
    endless = b"x" * 2000
    path.write_bytes(CONLLU + endless + b"\n\n" + CONLLU)
    with open_text(find_sources([path])[0]) as stream:
        blocks = list(sentence_blocks(stream, FORMATS["conllu"]))
    assert [block.endless for block in blocks].count(True) == 1
    assert b"".join(bytes(b.data) for b in blocks if not b.endless) == CONLLU * 2


def test_a_last_sentence_without_end(small, tmp_path):
    small(longest=500)
    path = tmp_path / "x"
    path.write_bytes(CONLLU + b"x" * 2000)
    with open_text(find_sources([path])[0]) as stream:
        blocks = list(sentence_blocks(stream, FORMATS["conllu"]))
    assert blocks[-1].endless
