import gzip
import sys
from io import BytesIO
from types import ModuleType, SimpleNamespace

import conllu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from composita.corpus.parsing import parse_text, parsed_blocks, parsers
from composita.corpus.parsing.chunks import Chunk, blocks_of, chunks, clean, cut, decode, paragraphs
from composita.corpus.parsing.conversion import from_spacy, from_stanza, from_udpipe, number_sentences
from composita.corpus.parsing.parsers import (
    SpacyParser,
    StanzaParser,
    UdpipeParser,
    check_parser,
    load_parser,
)
from composita.corpus.parsing.run import parsed_chunks
from composita.store.errors import CancelledError, InputError, MissingExtraError, UsageError
from composita.store.progress import Cancellation
from tests.data import DATA

MODEL = DATA / "models" / "english-ewt.udpipe"
GOLD = DATA / "corpora" / "ud_english_ewt-dev.conllu"
needs_model = pytest.mark.skipif(not MODEL.is_file(), reason=f"the model of UDPipe is not at {MODEL}")


def assert_valid(text):
    """Ids 1..n, one root, every head there, no empty field, no two sentences with one id."""
    sentences = conllu.parse(text)
    assert len({s.metadata["sent_id"] for s in sentences}) == len(sentences)
    for line in text.splitlines():
        assert not line or line.startswith("# ") or (line.count("\t") == 9 and all(line.split("\t")))
    for sentence in sentences:
        words = [token for token in sentence if isinstance(token["id"], int)]
        assert [word["id"] for word in words] == list(range(1, len(words) + 1))
        assert [word["head"] for word in words].count(0) == 1
        assert all(0 <= word["head"] <= len(words) for word in words)
        sentence.to_tree()
    return sentences


# Chunks

LETTERS = [
    b"a",
    b"dog ",
    b"\n",
    b"\n\n",
    b" ",
    b"\r\n",
    "é".encode(),
    "\U0001f600".encode(),
    b"\xff",
    b"\x80\x80",
    b"\0",
]
RAW = st.lists(st.sampled_from(LETTERS), max_size=60).map(b"".join)


@given(RAW, st.integers(4, 40), st.integers(1, 50), st.integers(1, 50))
def test_chunks_are_the_text_however_it_is_read(raw, size, block, other_block):
    pieces = list(cut(blocks_of(BytesIO(raw), block), size))
    assert b"".join(piece.data for piece in pieces) == raw
    assert all(0 < len(piece.data) <= size for piece in pieces)
    assert pieces == list(cut(blocks_of(BytesIO(raw), other_block), size))
    at = 0
    for piece in pieces:
        assert piece.line == 1 + raw.count(b"\n", 0, at)
        at += len(piece.data)


@given(st.text(st.sampled_from("añ\u20ac\U0001f600 \n"), max_size=80), st.integers(4, 20))
def test_characters_are_never_cut(text, size):
    assert "".join(piece.data.decode() for piece in cut([text.encode()], size)) == text


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", []),
        (b"aa bb\n\ncc dd\n", [b"aa bb\n\n", b"cc dd\n"]),  # at a blank line
        (b"aa\r\n\r\nbb cc dd", [b"aa\r\n\r\n", b"bb cc dd"]),
        (b"aa bb\ncc dd ee", [b"aa bb\n", b"cc dd ee"]),  # else at a line
        (b"aa bb ccc", [b"aa bb ", b"ccc"]),  # else at a space
        (b"aaaaaaaabb", [b"aaaaaaaa", b"bb"]),  # else anywhere
        (b"a\n\n\n \n\n\nbb", [b"a\n\n\n \n\n\n", b"bb"]),
    ],
)
def test_cuts_are_made_where_least_is_lost(raw, expected):
    assert [piece.data for piece in cut([raw], 8)] == expected


@pytest.mark.parametrize(
    ("raw", "opens"),
    [
        (b"aa bb\n\ncc", True),
        (b"aaaaaaa\n\ncc", True),  # the blank line itself is cut
        (b"aaaaaaa\n \ncc", True),
        (b"aaaaaaa\ncc", False),
        (b"aaaaaaa \ncc", False),
        (b"aaaaaaaaa\n\ncc", False),
    ],
)
def test_a_piece_knows_whether_it_opens_a_paragraph(raw, opens):
    assert [piece.opens_paragraph for piece in cut([raw], 8)] == [True, opens]


def test_chunks_are_numbered_over_all_sources():
    texts = [("a", [b"one two\n\nthree"]), ("b", [b" \n\n \n"]), ("c", [b"four"])]
    made = [(c.number, c.source, c.text.strip(), c.opens_source, c.opens_paragraph) for c in chunks(texts, size=9)]
    assert made == [
        (1, "a", "one two", True, True),
        (2, "a", "three", False, True),
        (3, "c", "four", True, True),
    ]


def test_a_chunk_must_hold_a_character():
    with pytest.raises(UsageError, match="at least 4"):
        list(cut([b"abc"], 3))


@given(st.text())
def test_cleaned_text_has_no_traps(text):
    cleaned = clean(text)
    assert cleaned.splitlines() == cleaned.split("\n")[: len(cleaned.splitlines())]
    assert not any(ord(c) < 32 and c not in "\n\t" for c in cleaned)
    assert clean(cleaned) == cleaned


def test_bad_bytes_name_their_line():
    pieces = list(cut([b"one\n\ntwo\nthr\xffee\n"], 6))
    with pytest.raises(InputError, match=r"^x\.txt:4: byte 0xff is not UTF-8"):
        [decode(piece, "x.txt") for piece in pieces]
    assert "".join(decode(piece, "x.txt", "skip") for piece in pieces) == "one\n\ntwo\nthr\ufffdee\n"


def test_a_chunk_within_a_paragraph_opens_none():
    conllu_text = "# newpar\n# text = a\n1\ta\n\n# newpar\n# text = b\n1\tb\n\n"
    chunk = Chunk(2, "x", "a\n\nb", 4, opens_source=False, opens_paragraph=False)
    text, parsed = number_sentences(conllu_text, chunk)
    assert text.startswith("# sent_id = x-000002-1\n# text = a")
    assert text.count("# newpar") == 1
    assert (parsed.sentences, parsed.tokens, parsed.chunks) == (2, 2, 1)


# spaCy, by stand-ins with the attributes of its Doc, Span and Token


class Token(SimpleNamespace):
    """Like spacy.tokens.Token: ``head`` is a token, a root is its own head."""

    @property
    def is_space(self):
        return self.text.isspace()

    @property
    def head(self):
        return self.doc[self.head_at]


def spacy_doc(*sentences):
    doc, spans = [], []
    for sentence in sentences:
        start = len(doc)
        for text, lemma, pos, tag, head, dep in sentence:
            doc.append(
                Token(
                    doc=doc,
                    i=len(doc),
                    text=text,
                    lemma_=lemma,
                    pos_=pos,
                    tag_=tag,
                    head_at=start + head,
                    dep_=dep,
                    morph="",
                    whitespace_="" if text == "bark" else " ",
                )
            )
        span = Span(doc[start:])
        span.text = " ".join(token.text for token in span)
        spans.append(span)
    return SimpleNamespace(sents=spans, has_annotation=lambda name: True)


class Span(list):
    text = ""


DOGS = [("Dogs", "dog", "NOUN", "NNS", 1, "nsubj"), ("bark", "bark", "VERB", "VBP", 1, "ROOT")]


def test_spacy_sentences_are_converted():
    doc = spacy_doc([*DOGS, (".", ".", "PUNCT", ".", 1, "punct")], DOGS)
    assert from_spacy(doc).split("\n\n")[0].split("\n") == [
        "# newpar",
        "# text = Dogs bark .",
        "1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_",
        "2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\tSpaceAfter=No",
        "3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_",
    ]
    chunk = Chunk(1, "x", "", 0, True, True)
    assert len(assert_valid(number_sentences(from_spacy(doc), chunk)[0])) == 2


def test_white_space_is_no_word_of_spacy():
    space = ("  ", "  ", "SPACE", "_SP", 3, "")
    doc = spacy_doc(
        [
            ("a", "a", "DET", "DT", 2, "det"),
            space,
            ("dog", "dog", "NOUN", "NN", 1, "nsubj"),
            ("barks", "bark", "VERB", "VBZ", 3, "ROOT"),
        ],
        [("x", "x", "X", "XX", 1, "dep"), (" ", " ", "SPACE", "_SP", 1, "ROOT"), ("y", "", "X", "XX", 1, "")],
    )  # fmt: skip
    first, second = assert_valid(number_sentences(from_spacy(doc), Chunk(1, "x", "", 0, True, True))[0])
    assert [(w["form"], w["head"], w["deprel"]) for w in first] == [
        ("a", 2, "det"),
        ("dog", 3, "nsubj"),
        ("barks", 0, "root"),
    ]
    assert [(w["form"], w["lemma"], w["head"], w["deprel"]) for w in second] == [
        ("x", "x", 0, "root"),
        ("y", "y", 1, "dep"),
    ]


def fake_module(monkeypatch, name, **content):
    module = ModuleType(name)
    for key, value in content.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


def test_spacy_parses_by_paragraph(monkeypatch):
    seen = []

    def pipe(texts):
        seen.extend(texts)
        return (spacy_doc(DOGS) for _ in seen)

    fake_module(monkeypatch, "spacy", load=lambda model, exclude: SimpleNamespace(pipe=pipe))
    assert SpacyParser("en").parse("Dogs\nbark\n\nDogs bark").count("# newpar") == 2
    assert seen == ["Dogs bark", "Dogs bark"]


def test_spacy_without_a_parser_is_said(monkeypatch):
    doc = SimpleNamespace(has_annotation=lambda name: False)
    fake_module(monkeypatch, "spacy", load=lambda model, exclude: SimpleNamespace(pipe=lambda texts: [doc]))
    with pytest.raises(InputError, match="no dependency parser"):
        SpacyParser("en").parse("Dogs bark.")


def test_a_missing_spacy_model_is_said(monkeypatch):
    def load(model, exclude):
        raise OSError("[E050] Can't find model 'en'.\n")

    fake_module(monkeypatch, "spacy", load=load)
    with pytest.raises(
        InputError,
        match=r"spaCy cannot load this model \(\[E050\] Can't find model 'en'.\): expected",
    ):
        load_parser("spacy", "en")


# Stanza, by stand-ins with the attributes of its Document


def stanza_document():
    def word(number, text, lemma, head, relation):
        return SimpleNamespace(
            id=number, text=text, lemma=lemma, upos="X", xpos=None, feats=None, head=head, deprel=relation
        )

    go, to, the, end = (
        word(1, "Va", "ir", 0, "root"),
        word(2, "a", "a", 4, "case"),
        word(3, "el", None, 4, "det"),
        word(4, "fin", "fin", 1, "obl"),
    )
    tokens = [
        SimpleNamespace(id=(1,), text="Va", words=[go], spaces_after=" "),
        SimpleNamespace(id=(2, 3), text="al", words=[to, the], spaces_after=" "),
        SimpleNamespace(id=(4,), text="fin", words=[end], spaces_after=""),
    ]
    return SimpleNamespace(sentences=[SimpleNamespace(text="Va al fin", tokens=tokens)])


def test_stanza_sentences_are_converted_with_ranges():
    assert from_stanza(stanza_document()).split("\n")[:-2] == [
        "# text = Va al fin",
        "1\tVa\tir\tX\t_\t_\t0\troot\t_\t_",
        "2-3\tal\t_\t_\t_\t_\t_\t_\t_\t_",
        "2\ta\ta\tX\t_\t_\t4\tcase\t_\t_",
        "3\tel\tel\tX\t_\t_\t4\tdet\t_\t_",
        "4\tfin\tfin\tX\t_\t_\t1\tobl\t_\tSpaceAfter=No",
    ]
    text, parsed = number_sentences(from_stanza(stanza_document()), Chunk(1, "x", "", 0, True, True))
    assert_valid(text)
    assert parsed.tokens == 4


def test_stanza_never_downloads(monkeypatch, tmp_path):
    asked = []

    def pipeline(*arguments, **options):
        asked.append((arguments, options))
        return lambda text: stanza_document()

    fake_module(monkeypatch, "torch", set_num_threads=lambda n: None)
    fake_module(monkeypatch, "stanza", Pipeline=pipeline)
    folder = tmp_path / "es"
    folder.mkdir()
    StanzaParser("es").parse("Va al fin")
    StanzaParser(str(folder)).parse("Va al fin")
    assert [arguments for arguments, _ in asked] == [("es",), ("es",)]
    assert [options.get("dir") for _, options in asked] == [None, str(tmp_path)]
    assert all(options["download_method"] is None for _, options in asked)


def test_missing_stanza_models_are_said(monkeypatch):
    def pipeline(*arguments, **options):
        raise FileNotFoundError("no resources.json")

    fake_module(monkeypatch, "torch", set_num_threads=lambda n: None)
    fake_module(monkeypatch, "stanza", Pipeline=pipeline)
    with pytest.raises(InputError, match=r"xx: Stanza cannot load this model \(no resources.json\)"):
        load_parser("stanza", "xx")


# What is missing or broken


@pytest.mark.parametrize(
    ("parser", "module", "install"),
    [("udpipe", "ufal.udpipe", "parse"), ("spacy", "spacy", "spacy"), ("stanza", "stanza", "stanza")],
)
def test_a_missing_package_says_how_to_install_it(monkeypatch, parser, module, install):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'composita\[{install}\]'"):
        load_parser(parser, "any")
    parsers.cached_parser.cache_clear()
    with pytest.raises(MissingExtraError):
        check_parser(parser, "any")


@pytest.mark.parametrize(
    "content", [None, b"", b"\x12", bytes(range(200)), b"\x12morphodita_parsito" + b"\x03\x7f" * 500]
)
def test_a_bad_model_is_said_and_kills_nothing(tmp_path, content):
    pytest.importorskip("ufal.udpipe")
    model = tmp_path / "bad.udpipe"
    if content is not None:
        model.write_bytes(content)
    with pytest.raises(InputError, match=r"bad.udpipe: (expected a model of UDPipe 1|cannot read this model)"):
        parse_text([], model, out=tmp_path / "out.conllu")
    assert not (tmp_path / "out.conllu").exists()


def test_a_folder_is_no_model(tmp_path):
    pytest.importorskip("ufal.udpipe")
    with pytest.raises(InputError, match="cannot read this model"):
        check_parser("udpipe", str(tmp_path))


@needs_model
def test_a_cut_model_is_said(tmp_path):
    model = tmp_path / "cut.udpipe"
    with MODEL.open("rb") as file:
        model.write_bytes(file.read(1_000_000))
    with pytest.raises(InputError, match="damaged"):
        check_parser("udpipe", str(model))


# UDPipe


def test_white_space_in_words_of_udpipe_is_made_plain():
    comments = "# newdoc\n# newpar\n# sent_id = 1\n# text = x\n"
    raw = comments + "1\t\u00a0a\u00a0\u00a0b\ta\tX\tX\t_\t0\troot\t_\t_\n\n"
    assert from_udpipe(raw) == "# newpar\n# text = x\n1\ta b\ta\tX\tX\t_\t0\troot\t_\t_\n\n"


@pytest.fixture(scope="module")
def udpipe():
    return parsers.cached_parser("udpipe", str(MODEL))


@needs_model
def test_udpipe_agrees_with_gold_trees(udpipe):
    gold = conllu.parse(GOLD.read_text(encoding="utf-8"))[:300]
    words = lambda sentence: [w for w in sentence if isinstance(w["id"], int)]  # noqa: E731
    by_form = {tuple(w["form"] for w in words(s)): words(s) for s in gold}
    raw = "\n\n".join(s.metadata["text"] for s in gold)
    right = total = 0
    for sentence in assert_valid(number_sentences(udpipe.parse(clean(raw)), Chunk(1, "x", "", 0, True, True))[0]):
        found = words(sentence)
        if expected := by_form.get(tuple(w["form"] for w in found)):
            total += len(found)
            right += sum(a["head"] == b["head"] for a, b in zip(found, expected, strict=True))
    assert total > 2500
    assert right / total > 0.75


HOSTILE = {
    "nothing": "",
    "space": " \n\n\t ",
    "NUL": "Dogs ba\0rk.\0\0 Cats sleep.",
    "controls": "\ufeffDogs\x01 bark\x7f \x85 \u2028 cats\x0b. \x1c\x1d",
    "long token": "a" * 60_000,
    "long line": "dog " * 2000,
    "signs": "." * 5000,
    "emoji": "\U0001f600" * 5000,
    "accents": "e" + "\u0301" * 5000,
    "like CoNLL-U": "# sent_id = 1\n1\tx\tx\n# newpar\n\n2-3\ta\n",
    "spaces": "the\u00a0dog 10\u202f000 \u3000 runs",
    "no characters": "\uffff \U0010ffff \ufdd0",
}


@needs_model
@pytest.mark.parametrize("name", HOSTILE)
def test_udpipe_survives(udpipe, name):
    text = number_sentences(udpipe.parse(clean(HOSTILE[name])), Chunk(1, "x", "", 0, True, True))[0]
    assert bool(assert_valid(text)) == (name not in {"nothing", "space"})


@needs_model
@given(raw=st.binary(max_size=300) | st.text(max_size=150).map(lambda text: text.encode(errors="replace")))
def test_udpipe_survives_anything(raw):
    parser = parsers.cached_parser("udpipe", str(MODEL))
    text = decode(next(cut([raw or b" "])), "x", "skip")
    assert_valid(number_sentences(parser.parse(text), Chunk(1, "x", "", 0, True, True))[0])


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    gold = GOLD.read_text(encoding="utf-8").splitlines()
    lines = [line[9:] for line in gold if line.startswith("# text = ")]
    (folder / "a.txt").write_text("\n\n".join(lines[:60]), encoding="utf-8")
    (folder / "b.txt").write_text("\n".join(lines[60:100]), encoding="utf-8")
    return [folder / "a.txt", folder / "b.txt"]


@needs_model
def test_any_number_of_workers_writes_the_same_bytes(texts, tmp_path):
    steps = []
    one = parse_text(texts, MODEL, out=tmp_path / "1.conllu", chunk_bytes=1500, progress=steps.append)
    two = parse_text(texts, MODEL, out=tmp_path / "2.conllu.gz", chunk_bytes=1500, workers=2)
    text = (tmp_path / "1.conllu").read_text(encoding="utf-8")
    assert one == two
    assert one.chunks > 5
    assert gzip.decompress((tmp_path / "2.conllu.gz").read_bytes()).decode() == text
    sentences = assert_valid(text)
    assert len(sentences) == one.sentences
    assert sum(isinstance(w["id"], int) for s in sentences for w in s) == one.tokens
    assert [s.metadata["newdoc id"] for s in sentences if "newdoc id" in s.metadata] == ["a", "b"]
    assert steps[-1].done == steps[-1].total == sum(path.stat().st_size for path in texts)
    blocks = parsed_blocks([(str(p), [p.read_bytes()]) for p in texts], MODEL, chunk_bytes=1500)
    assert b"".join(blocks).decode() == text
    assert len(list(tmp_path.iterdir())) == 2


@needs_model
def test_a_source_can_be_opened_by_others(texts, tmp_path):
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(b"Dogs bark.\n"))
    out = tmp_path / "a.conllu"
    parse_text([packed], MODEL, out=out, open_source=lambda path: [gzip.decompress(path.read_bytes())])
    assert out.read_text(encoding="utf-8").startswith(
        "# newdoc id = a\n# sent_id = a-000001-1\n# newpar\n# text = Dogs bark."
    )


@needs_model
def test_errors_leave_no_file(texts, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"Dogs bark.\ncaf\xe9")
    out = tmp_path / "out.conllu"
    with pytest.raises(InputError, match=r"bad.txt:2: byte 0xe9"):
        parse_text([bad], MODEL, out=out)
    with pytest.raises(InputError, match=r"none.txt: cannot read this text \(No such file"):
        parse_text([tmp_path / "none.txt"], MODEL, out=out)
    cancel = Cancellation()
    cancel.cancel()
    with pytest.raises(CancelledError):
        parse_text(texts, MODEL, out=out, cancel=cancel)
    assert list(tmp_path.iterdir()) == [bad]
    parse_text([bad], MODEL, out=out, on_error="skip")
    assert "caf\ufffd" in out.read_text(encoding="utf-8")


@needs_model
def test_stopping_early_is_clean(texts):
    made = parsed_chunks([("a", [texts[0].read_bytes()])], MODEL, chunk_bytes=1000)
    assert next(made)[1].chunks == 1
    made.close()


@needs_model
def test_empty_text_makes_empty_output(tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    assert parse_text([empty], MODEL, out=tmp_path / "out.conllu").sentences == 0
    assert (tmp_path / "out.conllu").read_bytes() == b""


def test_paragraphs_are_lines():
    assert paragraphs("\n\n a\nb \n\t\n\n c") == ["a b", "c"]


@needs_model
def test_the_parser_is_loaded_once():
    assert parsers.cached_parser("udpipe", str(MODEL)) is parsers.cached_parser("udpipe", str(MODEL))
    assert isinstance(parsers.cached_parser("udpipe", str(MODEL)), UdpipeParser)
