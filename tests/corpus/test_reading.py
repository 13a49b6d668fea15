"""The compiled reader against the oracle, on small texts, real files and damaged bytes."""

import random
import unicodedata
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.corpus.formats import FORMATS
from composita.corpus.reading import Reader, read_tokens
from composita.store.errors import CompositaError, InputError
from tests.corpus import reader_oracle
from tests.corpus.texts import CONLLU, TEXTS, WACKY, sentence
from tests.data import shared


def read(text, form, encoding="utf-8", pieces=None):
    reader = Reader(FORMATS[form], encoding)
    for piece in pieces or [text]:
        reader.feed(piece)
    tokens = reader.tokens()
    return [[tuple(t) for t in sentence] for sentence in tokens], [(d.line, d.reason) for d in reader.drops]


def check(text, form):
    assert read(text, form) == reader_oracle.read(text, form)


@pytest.mark.parametrize("form", TEXTS)
def test_small_texts(form):
    sentences, drops = read(TEXTS[form], form)
    assert (sentences, drops) == reader_oracle.read(TEXTS[form], form)
    assert len(sentences) == 2 and not drops


def test_ranges_and_empty_nodes_are_skipped_before_heads_become_distances():
    reader = Reader(FORMATS["conllu"])
    reader.feed(CONLLU)
    tokens = reader.tokens()
    assert tokens.form.strings()[:5] == ["The", "dogs", "do", "n't", "chase"]
    assert tokens.head[:5].tolist() == [1, 3, 2, 1, 0]


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("ending", [b"\r\n", b"\r\r\n"])
def test_line_ends(form, ending):
    assert read(TEXTS[form].replace(b"\n", ending), form) == read(TEXTS[form], form)


@pytest.mark.parametrize("form", TEXTS)
def test_missing_last_line_end(form):
    assert read(TEXTS[form].rstrip(b"\n"), form) == read(TEXTS[form], form)


LINE = b"1\ta\ta\tNOUN\tNN\t_\t0\troot\t_\t_\n"
BAD = {  # what is wrong: (format, text, line)
    "wrong column count": ("conllu", LINE.replace(b"\t_\t_\n", b"\n"), 1),
    "token number out of sequence": ("conllu", LINE + LINE, 2),
    "head is not a number": ("conllu", LINE.replace(b"\t0\t", b"\t-1\t"), 1),
    "head out of range": ("conllu", LINE.replace(b"\t0\t", b"\t2\t"), 1),
    "no root": ("conllu", b"# c\n" + LINE.replace(b"\t0\t", b"\t1\t"), 2),
    "cycle of heads": (
        "conllu",
        LINE + b"2\tb\tb\tX\tX\t_\t3\tx\t_\t_\n3\tc\tc\tX\tX\t_\t2\tx\t_\t_\n",
        2,
    ),
    "empty field": ("conllu", LINE.replace(b"\ta\ta\t", b"\t\ta\t"), 1),
    "not valid UTF-8": ("conllu", LINE.replace(b"\ta\ta\t", b"\ta\xff\ta\t"), 1),
    "control character": ("conllu", LINE.replace(b"\ta\ta\t", b"\ta\0\ta\t"), 1),
    "line too long": ("conllu", LINE.replace(b"\ta\ta\t", b"\t" + b"a" * 10_000_000 + b"\ta\t"), 1),
    "sentence too long": (
        "conllu",
        b"".join(b"%d\ta\ta\tX\tX\t_\t0\troot\t_\t_\n" % i for i in range(1, 50_001)),
        10_001,
    ),
}


@pytest.mark.parametrize("reason", BAD)
def test_bad_sentences_are_dropped_with_line_and_reason(reason):
    form, text, line = BAD[reason]
    good = sentence("before"), sentence("after", "it")
    whole = good[0] + text + b"\n" + good[1]
    sentences, drops = read(whole, form)
    assert drops == [(2 + line, reason)]
    assert [[token[0] for token in s] for s in sentences] == [["before"], ["after", "it"]]
    check(whole, form)


def test_all_reasons_are_tried():
    from composita.corpus import scan

    assert set(BAD) == set(scan.REASONS.values())


@pytest.mark.parametrize("reason", BAD)
def test_reading_stops_at_the_line(reason, tmp_path):
    form, text, line = BAD[reason]
    path = tmp_path / "bad.conllu"
    path.write_bytes(sentence("before") + text + b"\n" + sentence("after"))
    with pytest.raises(InputError) as error:
        read_tokens(path, form, "utf-8")
    assert (error.value.source, error.value.line) == (str(path), 2 + line)
    assert error.value.reason.startswith(reason + ": ")


def test_strings_are_composed_once():
    decomposed = unicodedata.normalize("NFD", "café")
    reader = Reader(FORMATS["conllu"])
    reader.feed(sentence("café", decomposed, "cafe"))
    tokens = reader.tokens()
    assert tokens.form.strings() == ["café", "café", "cafe"]
    assert sorted(tokens.form.values.to_pylist()) == ["cafe", "café"]


def test_latin_1():
    text = WACKY.decode().encode("latin-1")
    assert read(text, "wacky", "latin-1") == read(WACKY, "wacky")
    assert [reason for _, reason in read(text, "wacky")[1]] == ["not valid UTF-8"]


@pytest.mark.parametrize("size", [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 1000])
def test_long_strings_are_told_apart(size):
    words = [f"{'x' * size}{i}" for i in range(40)] + ["y" * size, "y" * (size + 1)]
    check(sentence(*words, *words), "conllu")


def test_many_strings_outgrow_the_tables():
    rng = random.Random(1)
    words = [f"w{rng.randrange(10**6)}" for _ in range(90_000)]
    text = b"".join(sentence(*words[i : i + 30], relation=f"r{i}") for i in range(0, len(words), 30))
    sentences, drops = read(text, "conllu")
    assert [token[0] for s in sentences for token in s] == words
    assert len({s[0][5] for s in sentences}) == 3000 and not drops


@pytest.mark.parametrize("form", TEXTS)
@given(seed=st.integers(0, 2**32), data=st.data())
@settings(max_examples=300, deadline=None)
def test_damaged_bytes_agree_with_the_oracle(form, seed, data):
    check(damage(TEXTS[form] * 2, random.Random(seed)), form)


def damage(text, rng):
    """Change, remove, insert or double a few bytes and lines."""
    text = bytearray(text)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(text))
        kind = rng.randrange(6)
        if kind == 0:
            text[at] = rng.choice(b"\t\n\r #<>0123456789-.\0\x80\xc3\xe2\xff_as")
        elif kind == 1:
            del text[at : at + rng.choice([1, 1, 2, 5, 40])]
        elif kind == 2:
            text[at:at] = bytes(rng.choices(b"\t\n\r#<0159-.\xc3\xa9\xf0\x9f\xed\xa0", k=rng.randrange(1, 4)))
        elif kind == 3:
            text[at] ^= 1 << rng.randrange(8)
        elif kind == 4:
            start = text.rfind(b"\n", 0, at) + 1
            text[start:start] = text[start : text.find(b"\n", start) + 1]
        else:
            del text[at:]
        if not text:
            break
    return bytes(text)


@given(st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_bytes(data):
    for form in FORMATS:
        check(data, form)


@given(st.lists(st.integers(0, len(CONLLU) * 3)))
def test_pieces_do_not_matter_where_sentences_end(cuts):
    text = CONLLU * 3
    ends = [0, *sorted({text.find(b"\n\n", cut) + 2 for cut in cuts if text.find(b"\n\n", cut) >= 0}), len(text)]
    pieces = [text[a:b] for a, b in pairwise(ends) if b > a]
    assert read(text, "conllu", pieces=pieces) == read(text, "conllu")


REAL = {
    "corpora/enwiki-0000.conllu.zst": "conllu",
    "corpora/ud_english_ewt-dev.conllu": "conllu",
    "corpora/ukwac_sample_wacky.txt": "wacky",
}


def real_text(name, size=6_000_000):
    with pa.input_stream(str(shared(name)), compression="detect") as stream:
        text = stream.read(size)
    return text[: text.rfind(b"\n") + 1]


@pytest.mark.parametrize("name", REAL)
def test_real_files_agree_with_the_oracle_token_by_token(name):
    text = real_text(name)
    expected, drops = reader_oracle.read(text, REAL[name])
    assert read(text, REAL[name]) == (expected, drops)
    assert len(expected) > 300


@pytest.mark.parametrize("name", REAL)
def test_damaged_real_files_agree_with_the_oracle(name):
    rng = random.Random(name)
    text = real_text(name, 200_000)
    for _ in range(20):
        start = rng.randrange(len(text) // 2)
        check(damage(text[start : start + 20_000], rng), REAL[name])


def test_read_tokens_knows_the_real_files():
    assert len(read_tokens(shared("corpora/ud_english_ewt-dev.conllu"))) == 25147
    wacky = read_tokens(shared("corpora/ukwac_sample_wacky.txt"))
    assert (len(wacky), wacky.sentences) == (9239, 340)


def test_unknown_text_is_refused(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text("Dogs chase cats.\n")
    with pytest.raises(CompositaError, match=r"plain.txt:1: this is not a format .*'Dogs chase cats.'.*--format"):
        read_tokens(path)
