"""The commands that make and show corpora, as a user meets them: streams, exit codes, one-line errors."""

import bz2
import gzip
import json
import lzma
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from composita.cli.main import main
from composita.corpus.synthetic import write_synthetic
from tests.corpus.test_sources import zstd
from tests.corpus.texts import CONLLU, WACKY, sentence
from tests.data import shared

COMMAND = [sys.executable, "-m", "composita"]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "dogs.conllu"
    path.write_bytes(CONLLU)
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    write_synthetic(folder / "x.conllu", 5000)
    assert main(["encode", str(folder / "x.conllu"), "--out", str(folder / "corpus"), "--quiet"]) == 0
    return folder / "corpus"


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_encode_says_what_it_did(text, tmp_path, capsys):
    code, out, err = run(capsys, "encode", text, "--out", tmp_path / "corpus")
    assert code == 0
    assert re.search(r"^tokens +11$", out, re.MULTILINE) and re.search(r"^sentences +2$", out, re.MULTILINE)
    assert "Traceback" not in err


def test_encode_for_machines(text, tmp_path, capsys):
    code, out, _ = run(capsys, "encode", text, "--out", tmp_path / "corpus", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["tokens"], found["sentences"], found["shards"]) == (11, 2, 1)
    assert found["kinds"] == ["1 source: format conllu, encoding utf-8, tags upos, labels ud"]


def test_encode_reports_drops(tmp_path, capsys):
    path = tmp_path / "x.conllu"
    path.write_bytes(CONLLU + b"oops\n\n")
    code, out, _ = run(capsys, "encode", path, "--out", tmp_path / "corpus", "--on-error", "skip")
    assert code == 0
    assert "1 wrong column count" in out and "x.conllu:18: wrong column count: expected 10 columns" in out


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zstd])
def test_encode_from_standard_input(pack, text, tmp_path):
    text.write_bytes(pack(CONLLU + sentence(*(f"w{i}" for i in range(9000))) * 12))
    with text.open("rb") as stream:
        command = [*COMMAND, "encode", "-", "--out", tmp_path / "corpus"]
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "format conllu" in done.stderr
    assert json.loads((tmp_path / "corpus" / "meta.json").read_text())["tokens"] == 11 + 12 * 9000


BAD_COMMANDS = [  # arguments, exit code, what the one line says
    (["encode", "{tmp}/none.conllu", "--out", "{tmp}/c"], 1, "none.conllu: no such file; check the path"),
    (["encode", "{tmp}", "--out", "{tmp}/c"], 1, "this is a folder, expected a file"),
    (["encode", "{text}"], 2, "Missing option '--out'; see --help"),
    (["encode", "--out", "{tmp}/c"], 2, "Missing argument 'SOURCE'"),
    (["encode", "{text}", "--out", "{tmp}/c", "--format", "conll"], 2, "unknown format 'conll': choose one of auto"),
    (["encode", "{text}", "--out", "{tmp}/c", "--labels", "nix"], 2, "nix"),
    (["encode", "{text}", "--out", "{tmp}/c", "--tags", "nix"], 2, "nix"),
    (["encode", "{text}", "--out", "{tmp}/c", "--on-error", "go"], 2, "unknown --on-error 'go': choose stop or skip"),
    (["encode", "{text}", "--out", "{tmp}/c", "--workers", "-1"], 2, "'--workers'.*greater than or equal to 0"),
    (["encode", "{text}", "--out", "{text}"], 1, "is not a folder; choose another place"),
    (["encode", "{text}", "--out", "{tmp}/c", "--format", "text"], 2, "pass --model FILE"),
    (
        ["encode", "{text}", "--out", "{tmp}/c", "--format", "wacky"],
        1,
        "no sentence could be read",
    ),
    (["encode", "{plain}", "--out", "{tmp}/c"], 1, "plain.txt:1: this is not a format of parsed text"),
    (["parse", "{plain}", "--out", "{tmp}/o.conllu", "--model", "{tmp}/none.udpipe"], 1, "none.udpipe"),
    (["parse", "{plain}", "--out", "{tmp}/o.conllu", "--model", "{plain}"], 1, "plain.txt"),
    (["synth", "--out", "{tmp}/x", "--tokens", "many"], 2, "expected a whole number such as 500, 10K or 2.5M"),
    (["synth", "--out", "{tmp}/no/x"], 2, "is not a folder"),
    (["info", "{tmp}/none"], 1, "expected a folder of composita, found nothing"),
    (["info", "{text}"], 1, "expected a folder of composita, found a file"),
    (["sentences", "{tmp}/none", "--lemma", "dog"], 1, "found nothing"),
    (["sentences", "{corpus}"], 2, "say which word: --lemma, --form, --pos or --relation"),
    (["sentences", "{corpus}", "--lemma", "zebra"], 1, "no such word in"),
    (["sentences", "{corpus}", "--pos", "x"], 2, "unknown part of speech 'x': choose n, v, a, r or p"),
    (["nonsense"], 2, "No such command 'nonsense'"),
    (["encode", "--nonsense"], 2, "--nonsense"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), BAD_COMMANDS)
def test_errors_are_one_line(arguments, code, message, text, tmp_path, corpus, capsys):
    plain = tmp_path / "plain.txt"
    plain.write_text("Dogs chase cats.\n")
    places = {"tmp": tmp_path, "text": text, "corpus": corpus, "plain": plain}
    found, out, err = run(capsys, *(argument.format(**places) for argument in arguments))
    assert found == code
    assert out == ""
    assert re.search(message, err), err
    assert len([line for line in err.splitlines() if line.startswith("composita: ")]) == 1
    assert "Traceback" not in err


def test_info(corpus, capsys):
    code, out, _ = run(capsys, "info", corpus, "--check")
    assert code == 0
    for expected in ("5,0", "with both", "relation", "nsubj", "noun", "Checked 1 file: all as written."):
        assert expected in out
    assert not any(line != line.rstrip() for line in out.splitlines())
    code, out, _ = run(capsys, "info", corpus, "--json")
    found = json.loads(out)
    assert (
        found["tokens"] >= 5000 and found["classes"]["noun"] > 0 and 0 < found["with_both"] < found["with_subject"] < 1
    )


def test_info_finds_damage(text, tmp_path, capsys):
    main(["encode", str(text), "--out", str(tmp_path / "c")])
    (shard,) = (tmp_path / "c").glob("*.parquet")
    data = bytearray(shard.read_bytes())
    data[100] ^= 1
    shard.write_bytes(data)
    code, _, err = run(capsys, "info", tmp_path / "c", "--check")
    assert code == 1
    assert f"{shard}: expected SHA-256" in err and "1 of 1 file not as written" in err


def test_sentences_mark_word_and_arguments(text, tmp_path, capsys):
    main(["encode", str(text), "--out", str(tmp_path / "c"), "--quiet"])
    capsys.readouterr()
    code, out, _ = run(capsys, "sentences", tmp_path / "c", "--lemma", "CHASE", "--pos", "v")
    assert code == 0
    assert out == "The [dogs]subject do n't *chase* \" [cafés]object #\n"
    code, out, _ = run(capsys, "sentences", tmp_path / "c", "--form", "dogs", "--json")
    (found,) = json.loads(out)
    assert (found["position"], found["tokens"][1][1]) == (1, "dog")


def test_wacky(tmp_path, capsys):
    path = tmp_path / "x.xml"
    path.write_bytes(WACKY.decode().encode("latin-1"))
    code, _, err = run(capsys, "encode", path, "--out", tmp_path / "c", "--tags", "treetagger")
    assert code == 0, err
    code, out, _ = run(capsys, "sentences", tmp_path / "c", "--form", "naïve")
    assert "*naïve*" in out


@pytest.mark.parametrize("columns", ["40", "200"])
def test_output_for_pipes_is_never_folded_or_coloured(columns, corpus):
    done = subprocess.run(
        [*COMMAND, "info", corpus], capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": columns}
    )  # fmt: skip
    assert "\x1b" not in done.stdout
    assert any(line.startswith("noun") and line.count("-n ") == 6 for line in done.stdout.splitlines())


def test_a_reader_who_has_seen_enough(corpus):
    command = " ".join(COMMAND)
    done = subprocess.run(
        ["sh", "-c", f"{command} sentences {corpus} --pos v -n 0 | head -1"], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout.count("\n") == 1 and done.stderr == ""


def test_interrupting_and_going_on(tmp_path):
    text = tmp_path / "x.conllu"
    write_synthetic(text, 6_000_000)
    start = subprocess.Popen(
        [*COMMAND, "encode", text, "--out", tmp_path / "c", "--workers", "1"], stderr=subprocess.PIPE, text=True
    )
    while not list((tmp_path / "c").glob("*.parquet")):
        assert start.poll() is None, start.stderr.read()
        time.sleep(0.02)
    start.send_signal(signal.SIGINT)
    _, err = start.communicate(timeout=60)
    if start.returncode == 0:
        pytest.skip("it was done before it could be interrupted")
    assert start.returncode == 130
    assert "composita: stopped; run the same command again to go on where it was" in err and "Traceback" not in err
    done = subprocess.run(
        [*COMMAND, "encode", text, "--out", tmp_path / "c", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["resumed"] >= 1


def test_two_at_once(text, tmp_path, capsys):
    from composita.store.folder import open_writer

    with open_writer(tmp_path / "c", "corpus"):
        code, _, err = run(capsys, "encode", text, "--out", tmp_path / "c")
    assert code == 1
    assert "another process" in err or "writing" in err


def test_nothing_asked_is_a_call_for_help(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["composita"])
    assert main() == 0
    assert "Usage: composita" in capsys.readouterr().out


# ---------------------------------------------------------------- raw text


def test_raw_text_from_standard_input(tmp_path):
    model = shared("models/english-ewt.udpipe")
    command = [*COMMAND, "encode", "-", "--format", "text", "--model", model, "--out", tmp_path / "c", "--workers", "1"]
    done = subprocess.run(command, input="The dog chased the cats.\n", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "c" / "meta.json").read_text())["tokens"] == 6


def test_raw_text_to_corpus(tmp_path, capsys):
    model = shared("models/english-ewt.udpipe")
    text = tmp_path / "story.txt"
    text.write_text("The dog chased the cats. The cats are chased by big dogs.\n\nKids sing songs.\n" * 3)
    code, out, err = run(
        capsys, "parse", text, "--out", tmp_path / "story.conllu.gz", "--model", model, "--workers", "1"
    )
    assert code == 0, err
    assert "sentences  9" in out
    code, _, err = run(
        capsys, "encode", text, "--format", "text", "--model", model, "--out", tmp_path / "a", "--workers", "1"
    )
    assert code == 0, err
    code, _, err = run(capsys, "encode", tmp_path / "story.conllu.gz", "--out", tmp_path / "b")
    assert code == 0, err
    assert not (tmp_path / "a" / "parsing").exists()
    code, one, _ = run(capsys, "sentences", tmp_path / "a", "--lemma", "chase")
    code, two, _ = run(capsys, "sentences", tmp_path / "b", "--lemma", "chase")
    assert one == two
    assert one.startswith(
        "The [dog]subject *chased* the [cats]object .\nThe [cats]object are *chased* by big [dogs]subject:by .\n"
    )


def test_parsed_text_is_kept_when_encoding_is_interrupted(tmp_path, monkeypatch):
    from composita.corpus import encoding
    from composita.corpus.encoding import Options, encode

    model = shared("models/english-ewt.udpipe")
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"Dogs chase {name[0]} cat.\n")
    sources = [tmp_path / "a.txt", tmp_path / "b.txt"]
    options = Options(format="text", model=str(model))
    make = encoding.make_plan
    monkeypatch.setattr(encoding, "make_plan", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        encode(sources, tmp_path / "c", options)
    parsed = sorted((tmp_path / "c" / "parsing").rglob("*.conllu.zst"))
    times = [path.stat().st_mtime_ns for path in parsed]
    assert [path.name for path in parsed] == ["a.conllu.zst", "b.conllu.zst"]

    def plan(*arguments):
        assert [path.stat().st_mtime_ns for path in parsed] == times
        return make(*arguments)

    monkeypatch.setattr(encoding, "make_plan", plan)
    assert encode(sources, tmp_path / "c", options).sentences == 2
