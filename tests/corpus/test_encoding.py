"""Encoding: the same corpus whatever the workers, interruptions and compression; nothing lost, nothing half-written."""

import gzip
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from composita import Corpus
from composita.corpus import duplicates, planning, sources
from composita.corpus.encoding import PENDING, Options, encode
from composita.corpus.synthetic import write_synthetic
from composita.store.engine import Engine
from composita.store.errors import CompositaError, InputError, StoreError, UsageError
from composita.store.progress import Cancellation
from tests.corpus.test_reading import BAD
from tests.corpus.texts import CONLLU, CONLLX, WACKY, sentence
from tests.data import shared


@pytest.fixture
def small_segments(monkeypatch):
    for module in (sources, planning):
        monkeypatch.setattr(module, "SEGMENT", 20_000)
    monkeypatch.setattr("composita.corpus.encoding.SEGMENT", 20_000)


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory):
    path = tmp_path_factory.mktemp("synthetic") / "x.conllu"
    write_synthetic(path, 20_000, seed=1)
    return path


def digest(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir()) if p.name != "lock"}


def tokens_of(corpus):
    return [tuple(token) for shard in corpus.shards() for s in shard.load() for token in s]


def test_any_number_of_workers_gives_the_same_bytes(synthetic, tmp_path, small_segments):
    found = []
    for workers in (1, 2, 5):
        Corpus.build([synthetic], tmp_path / str(workers), workers=workers)
        found.append(digest(tmp_path / str(workers)))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 20


def test_compression_changes_nothing_but_the_names(synthetic, tmp_path, small_segments):
    plain = Corpus.build([synthetic], tmp_path / "plain")
    path = tmp_path / "x.conllu.gz"
    path.write_bytes(gzip.compress(synthetic.read_bytes()))
    packed = Corpus.build([path], tmp_path / "packed")
    assert packed.fingerprint == plain.fingerprint
    assert tokens_of(packed) == tokens_of(plain)


def test_small_files_share_shards(tmp_path):
    for number in range(50):
        (tmp_path / f"{number:02d}.conllu").write_bytes(sentence(f"w{number}"))
    corpus = Corpus.build([f"{tmp_path}/*.conllu"], tmp_path / "out")
    assert len(list(corpus.shards())) == 1
    assert [token[0] for token in tokens_of(corpus)] == [f"w{number}" for number in range(50)]


def test_several_formats_in_one_corpus(tmp_path):
    for name, text in (("a.conllu", CONLLU), ("b.conll", CONLLX), ("c.xml", WACKY.decode().encode("latin-1"))):
        (tmp_path / name).write_bytes(text)
    corpus = Corpus.build([tmp_path / n for n in ("a.conllu", "b.conll", "c.xml")], tmp_path / "out", tags="penn")
    rows = corpus.meta["shards"]
    assert [row["format"] for row in rows] == ["conllu", "conllx", "wacky"]
    assert [row["encoding"] for row in rows] == ["utf-8", "utf-8", "latin-1"]
    assert [row["labels"] for row in rows] == ["ud", "malt", "malt"]
    assert corpus.sentence_count == 6
    assert "naïve" in [token[0] for token in tokens_of(corpus)]


def test_appending(tmp_path, synthetic):
    (tmp_path / "a.conllu").write_bytes(CONLLU)
    first = Corpus.build([tmp_path / "a.conllu"], tmp_path / "out")
    before = tokens_of(first)
    both = Corpus.build([synthetic], tmp_path / "out")
    assert tokens_of(both)[: len(before)] == before
    assert both.token_count == first.token_count + Corpus.build([synthetic], tmp_path / "other").token_count
    assert both.fingerprint != first.fingerprint
    assert both.meta["batches"] == [{"shards": 1, "sources": 1}] * 2


def test_the_same_text_twice_is_refused_unless_forced(tmp_path, synthetic):
    Corpus.build([synthetic], tmp_path / "out")
    renamed = tmp_path / "renamed.conllu.gz"
    renamed.write_bytes(gzip.compress(synthetic.read_bytes()))
    before = (tmp_path / "out" / "meta.json").read_bytes()
    with pytest.raises(UsageError, match=r"renamed.conllu.gz .* has the same text as x.conllu, already .*--force"):
        Corpus.build([renamed], tmp_path / "out")
    assert (tmp_path / "out" / "meta.json").read_bytes() == before
    tokens = Corpus.open(tmp_path / "out").token_count
    assert Corpus.build([renamed], tmp_path / "out", force=True).token_count == 2 * tokens


def test_a_part_of_the_same_source_is_refused(tmp_path, synthetic, small_segments):
    text = synthetic.read_bytes()
    Corpus.build([synthetic], tmp_path / "out")
    part = tmp_path / "part.conllu"
    part.write_bytes(text[: text.find(b"\n\n", 70_000) + 2])
    with pytest.raises(UsageError, match="has the same text"):
        Corpus.build([part], tmp_path / "out")


@pytest.mark.parametrize("workers", [1, 3])
def test_duplicates(workers, tmp_path, small_segments, monkeypatch):
    monkeypatch.setattr(duplicates, "PART", 100)
    rng = random.Random(2)
    written = [[f"w{rng.randrange(30)}" for _ in range(rng.randrange(1, 4))] for _ in range(3000)]
    path = tmp_path / "x.conllu"
    path.write_bytes(b"".join(sentence(*words) for words in written))
    corpus = Corpus.build([path], tmp_path / "out", dedupe=True, workers=workers)
    expected = list(dict.fromkeys(tuple(words) for words in written))
    found = [tuple(t.form for t in s) for shard in corpus.shards() for s in shard.load()]
    assert found == expected
    assert corpus.meta["duplicates"] == len(written) - len(expected)
    assert corpus.sentence_count == len(expected) == sum(shard.sentences for shard in corpus.shards())
    assert corpus.token_count == sum(map(len, expected))
    assert not list((tmp_path / "out").glob("*.safetensors"))
    # More of the same adds nothing but what is new.
    more = tmp_path / "more.conllu"
    more.write_bytes(sentence(*written[0]) + sentence("new"))
    assert Corpus.build([more], tmp_path / "out", dedupe=True).sentence_count == len(expected) + 1
    with pytest.raises(UsageError, match="was encoded with --dedupe: append to it in the same way"):
        Corpus.build([path], tmp_path / "out")


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("reason", BAD)
def test_errors_name_file_and_line(reason, tmp_path, small_segments, synthetic):
    form, text, line = BAD[reason]
    good = synthetic.read_bytes()
    cut = good.find(b"\n\n", 50_000) + 2
    path = tmp_path / "bad.conllu"
    path.write_bytes(good[:cut] + text + b"\n" + good[cut:])
    with pytest.raises(InputError) as error:
        Corpus.build([path], tmp_path / "out", format=form, encoding="utf-8")
    expected = good.count(b"\n", 0, cut) + line
    assert str(error.value).startswith(f"{path}:{expected}: {reason}")
    assert not (tmp_path / "out" / "meta.json").exists()
    corpus = Corpus.build([path], tmp_path / "out", format=form, encoding="utf-8", on_error="skip")
    assert corpus.meta["dropped"] == {reason: 1}
    clean = Corpus.build([synthetic], tmp_path / "clean")
    assert tokens_of(corpus) == tokens_of(clean)


def test_examples_of_drops_have_lines_of_the_whole_file(tmp_path, small_segments, synthetic):
    good = synthetic.read_bytes()
    cuts = [good.find(b"\n\n", at) + 2 for at in (10_000, 100_000, 300_000)]
    text = good[: cuts[0]] + b"oops\n\n" + good[cuts[0] : cuts[1]] + b"oops\n\n" + good[cuts[1] :]
    path = tmp_path / "x.conllu"
    path.write_bytes(text)
    encoded = encode([path], tmp_path / "out", Options(on_error="skip"))
    lines = [number for number, line in enumerate(text.split(b"\n"), 1) if line == b"oops"]
    assert [int(example.split(":")[1]) for example in encoded.examples] == lines
    assert encoded.dropped == {"wrong column count": 2}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_lines_are_those_of_the_file_whatever_its_compression(pack, tmp_path, small_segments, synthetic):
    good = synthetic.read_bytes()
    cut = good.find(b"\n\n", 500_000) + 2
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = tmp_path / "a" / "x.conllu", tmp_path / "b" / "x.conllu"
    first.write_bytes(pack(CONLLU + b"oops\n\n"))
    second.write_bytes(pack(good[:cut] + b"oops\n\n"))
    lines = [CONLLU.count(b"\n") + 1, good.count(b"\n", 0, cut) + 1]
    encoded = encode([first, second], tmp_path / "out", Options(on_error="skip"))
    assert [int(example.split(":")[1]) for example in encoded.examples] == lines
    with pytest.raises(InputError, match=rf"x.conllu:{lines[1]}: wrong column count"):
        encode([second], tmp_path / "other")
    # Some shards were made before the error; the line is the same when they are found there.
    assert list((tmp_path / "other").glob("*.parquet"))
    with pytest.raises(InputError, match=rf"x.conllu:{lines[1]}: wrong column count"):
        encode([second], tmp_path / "other")


def test_lines_after_a_sentence_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "LONGEST", 5000)
    monkeypatch.setattr(sources.TextStream.read, "__defaults__", (1000,))
    path = tmp_path / "x.conllu"
    endless = b"".join(b"%d\ta\ta\tX\tX\t_\t0\troot\t_\t_\n" % i for i in range(1, 2000)) + b"\n"
    path.write_bytes(CONLLU + endless + CONLLU + b"oops\n\n")
    encoded = encode([path], tmp_path / "out", Options(on_error="skip"))
    assert encoded.dropped == {"sentence too long": 1, "wrong column count": 1}
    found = [int(example.split(":")[1]) for example in encoded.examples]
    assert found == [CONLLU.count(b"\n") + 1, 2 * CONLLU.count(b"\n") + 2000 + 1]


def test_dirty_formats_are_tolerated_up_to_one_in_a_hundred(tmp_path):
    good = b"<s>\nYes\tyes\tUH\t1\t0\tROOT\n</s>\n"
    bad = b"<s>\nYes\tyes\tUH\t1\tROOT\n</s>\n"
    path = tmp_path / "x.xml"
    path.write_bytes(good * 99 + bad)
    assert Corpus.build([path], tmp_path / "a", tags="treetagger").meta["dropped"] == {"wrong column count": 1}
    path.write_bytes(good * 98 + bad * 2)
    with pytest.raises(InputError, match=r"2 of 100 sentences are broken, more than 1%; the first: x.xml:296: wrong"):
        Corpus.build([path], tmp_path / "b", tags="treetagger")
    assert Corpus.build([path], tmp_path / "b", tags="treetagger", on_error="skip").sentence_count == 98
    with pytest.raises(InputError, match=r"x.xml:296: wrong column count: expected 6 columns"):
        Corpus.build([path], tmp_path / "c", tags="treetagger", on_error="stop")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "x.conllu: the file is empty"),
        (b"\n\n\n", "x.conllu:1: this is not a format of parsed text that composita knows; its first lines are empty"),
        (gzip.compress(CONLLU)[:-6], "cut short or broken"),
        (b"\0" * 100, "not a format"),
        (b"# only\n# comments\n", "not a format"),
    ],
)
def test_hopeless_files(content, message, tmp_path):
    path = tmp_path / "x.conllu"
    path.write_bytes(content)
    with pytest.raises(CompositaError, match=message):
        Corpus.build([path], tmp_path / "out")


def test_options_are_checked(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_bytes(CONLLU)
    for options in (
        {"format": "conll"},
        {"labels": "nix"},
        {"tags": "nix"},
        {"encoding": "utf-16"},
        {"on_error": "ignore"},
        {"workers": 0},
        {"format": "text"},
    ):
        with pytest.raises(CompositaError):
            Corpus.build([path], tmp_path / "out", **options)


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_bytes(CONLLU)
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter.parquet").write_text("mine")
    with pytest.raises(StoreError, match="neither empty nor ours"):
        Corpus.build([path], out)
    assert [p.name for p in out.iterdir()] == ["chapter.parquet"]


def test_damaged_corpora_are_told(tmp_path, synthetic):
    out = tmp_path / "out"
    corpus = Corpus.build([synthetic], out)
    (shard,) = out.glob("*.parquet")
    whole = shard.read_bytes()
    damaged = bytearray(whole)
    damaged[len(damaged) // 3] ^= 1
    shard.write_bytes(damaged)
    assert corpus.verify()
    with pytest.raises(StoreError, match=shard.name):
        tokens_of(corpus)
    shard.write_bytes(whole[:-1])
    with pytest.raises(StoreError, match="expected .* bytes, found"):
        Corpus.open(out)
    shard.write_bytes(whole)
    meta = json.loads((out / "meta.json").read_text())
    for key in ("tokens", "shards", "label_schemes", "fingerprint"):
        (out / "meta.json").write_text(json.dumps({k: v for k, v in meta.items() if k != key}))
        with pytest.raises(StoreError, match="does not describe a corpus"):
            Corpus.open(out)


# ---------------------------------------------------------------- interruptions


def test_cancelling_and_going_on(tmp_path, synthetic, small_segments):
    Corpus.build([synthetic], tmp_path / "whole")
    cancel = Cancellation()

    def stop(step):
        if step.stage == "encoding" and step.done > 200_000:
            cancel.cancel()

    with pytest.raises(CompositaError, match="stopped on request"):
        Corpus.build([synthetic], tmp_path / "out", progress=stop, cancel=cancel)
    made = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "out").glob("*.parquet")}
    assert made
    encoded = encode([synthetic], tmp_path / "out", engine=Engine(2))
    assert encoded.resumed == len(made)
    assert {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in made} == made
    assert digest(tmp_path / "out") == digest(tmp_path / "whole")


def test_other_sources_do_not_mix_with_an_unfinished_run(tmp_path, synthetic, small_segments):
    cancel = Cancellation()
    with pytest.raises(CompositaError):
        Corpus.build([synthetic], tmp_path / "out", progress=lambda step: step.done and cancel.cancel(), cancel=cancel)
    (tmp_path / "a.conllu").write_bytes(CONLLU)
    with pytest.raises(StoreError, match=r"holds \d+ shards? of an unfinished encoding of other sources.*--restart"):
        Corpus.build([tmp_path / "a.conllu"], tmp_path / "out")
    corpus = Corpus.build([tmp_path / "a.conllu"], tmp_path / "out", restart=True)
    assert corpus.sentence_count == 2
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 1
    assert not (tmp_path / "out" / PENDING).exists()


def test_a_mended_file_is_encoded_without_more_ado(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_bytes(b"1\toops\n\n" + CONLLU)
    with pytest.raises(InputError):
        Corpus.build([path], tmp_path / "out")
    path.write_bytes(CONLLU)
    assert Corpus.build([path], tmp_path / "out").sentence_count == 2


def test_a_mended_file_keeps_what_was_encoded_of_others(tmp_path, synthetic, small_segments):
    path = tmp_path / "y.conllu"
    path.write_bytes(CONLLU + b"1\toops\n\n")
    with pytest.raises(InputError, match=r"y.conllu:18: wrong column count"):
        Corpus.build([synthetic, path], tmp_path / "out")
    made = len(list((tmp_path / "out").glob("*.parquet")))
    assert made > 5
    path.write_bytes(CONLLU)
    encoded = encode([synthetic, path], tmp_path / "out")
    assert encoded.resumed == made


def test_a_refused_run_leaves_nothing(tmp_path, synthetic):
    Corpus.build([synthetic], tmp_path / "out")
    before = digest(tmp_path / "out")
    with pytest.raises(UsageError, match="has the same text"):
        Corpus.build([synthetic], tmp_path / "out")
    assert digest(tmp_path / "out") == before
    (tmp_path / "a.conllu").write_bytes(CONLLU)
    Corpus.build([tmp_path / "a.conllu"], tmp_path / "out")


def test_utf_16_is_told(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_bytes(CONLLU.decode().encode("utf-16"))
    with pytest.raises(InputError, match="this is UTF-16: convert it to UTF-8 first"):
        Corpus.build([path], tmp_path / "out")


def test_a_byte_order_mark_does_no_harm(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_bytes(b"\xef\xbb\xbf" + CONLLU)
    assert Corpus.build([path], tmp_path / "out").sentence_count == 2


def test_two_tables_of_one_name_are_refused(tmp_path):
    (tmp_path / "a.conllu").write_bytes(CONLLU)
    (tmp_path / "b.conllu").write_bytes(sentence("b"))
    table = 'name = "mine"\ncolumn = "xpos"\n[classes]\nnoun = ["NN", "NNS"]\n'
    (tmp_path / "mine.toml").write_text(table)
    Corpus.build([tmp_path / "a.conllu"], tmp_path / "out", tags=str(tmp_path / "mine.toml"))
    (tmp_path / "mine.toml").write_text(table.replace('"NNS"', '"NNP"'))
    with pytest.raises(UsageError, match="another table named 'mine': give yours another name"):
        Corpus.build([tmp_path / "b.conllu"], tmp_path / "out", tags=str(tmp_path / "mine.toml"))


KILLED = """
import sys
from composita.corpus import sources, planning, encoding
for module in (sources, planning, encoding):
    module.SEGMENT = 20_000
from composita.corpus.encoding import Options, encode
from composita.store.engine import Engine
print("ready", flush=True)
encode([sys.argv[1]], sys.argv[2], Options(dedupe=True), engine=Engine(2))
"""


def test_killed_at_any_moment(tmp_path, synthetic, small_segments):
    Corpus.build([synthetic], tmp_path / "whole", dedupe=True)
    rng = random.Random(3)
    out = tmp_path / "out"
    for _ in range(8):
        run = subprocess.Popen(
            [sys.executable, "-c", KILLED, synthetic, out], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        run.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.5))
        run.send_signal(signal.SIGKILL)
        run.communicate()
        if (out / "meta.json").exists():
            break
    if not (out / "meta.json").exists():
        Corpus.build([synthetic], out, dedupe=True)
    assert digest(out) == digest(tmp_path / "whole")


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
from composita.cli.main import main
sys.exit(main(["encode", sys.argv[1], "--out", sys.argv[2]]))
"""


@pytest.mark.parametrize("room", [100, 3000, 50_000])
def test_no_room(room, tmp_path, synthetic):
    environment = {**os.environ, "COMPOSITA_CACHE": str(tmp_path / "cache")} if room < 3000 else None
    run = subprocess.run(
        [sys.executable, "-c", FULL, synthetic, tmp_path / "out", str(room)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert run.returncode == 1, run.stderr
    assert "no room for" in run.stderr and "Traceback" not in run.stderr
    assert not list((tmp_path / "out").glob("*.p*"))
    assert Corpus.build([synthetic], tmp_path / "out").token_count > 20_000


# ---------------------------------------------------------------- real files


def test_real_corpora(tmp_path):
    names = ("corpora/ud_english_ewt-dev.conllu", "corpora/ukwac_sample_wacky.txt")
    corpus = Corpus.build([shared(name) for name in names], tmp_path / "out")
    rows = corpus.meta["shards"]
    assert [(row["format"], row["labels"], row["tags"]) for row in rows] == [
        ("conllu", "ud", "upos"),
        ("wacky", "malt", "treetagger"),
    ]
    assert corpus.token_count == 25147 + 9239


def test_smaller_than_the_gzipped_source(tmp_path):
    import pyarrow as pa

    with pa.input_stream(str(shared("corpora/enwiki-0000.conllu.zst")), compression="zstd") as stream:
        text = stream.read()
    path = tmp_path / "x.conllu"
    path.write_bytes(text)
    corpus = Corpus.build([path], tmp_path / "out")
    assert corpus.bytes < len(gzip.compress(text))


def test_a_run_that_was_killed_after_its_commit_is_done(synthetic, tmp_path, monkeypatch):
    """What is left to do then is to forget the plan; found by killing runs at random."""
    from composita.corpus import encoding

    with monkeypatch.context() as patch:
        patch.setattr(encoding._Encoder, "_forget", lambda self: None)
        first = encode([synthetic], tmp_path / "out")
    before = digest(tmp_path / "out")
    assert (tmp_path / "out" / PENDING).exists()
    again = encode([synthetic], tmp_path / "out")
    assert (again.tokens, again.sentences, again.shards) == (first.tokens, first.sentences, first.shards)
    assert not (tmp_path / "out" / PENDING).exists()
    assert digest(tmp_path / "out") == {name: mark for name, mark in before.items() if name != PENDING}
    with pytest.raises(UsageError, match="already in the corpus"):
        encode([synthetic], tmp_path / "out")
