"""``composita count`` and ``composita info`` as they are typed."""

import json

import pytest

from composita.cli.main import main
from tests.counting.helpers import make_corpus
from tests.counting.test_counts import SENTENCES

SMALL = ["--nouns", "10", "--verbs", "10", "--contexts", "20", "--stop", "0", "--quiet"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return str(make_corpus(tmp_path_factory.mktemp("command"), SENTENCES * 3).path)


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_counting(corpus, capsys, tmp_path):
    code, out, _ = run(capsys, "count", corpus, "--out", tmp_path / "c", *SMALL)
    assert code == 0
    assert "dog chase cat 3" in out
    assert "svo" in out
    code, shown, _ = run(capsys, "info", tmp_path / "c", "--check")
    assert code == 0
    assert "files: all as written" in shown
    assert shown.startswith(out[:40])
    code, out, _ = run(capsys, "info", tmp_path / "c", "--json")
    found = json.loads(out)
    assert found["patterns"]["svo"]["frequent"] == {"dog chase cat": 3, "cat chase it": 3}
    assert sum(found["patterns"]["svo"]["contexts"].values()) == 2
    assert (found["words"], found["core"], found["tokens"]) == (6, 5, 33)


def test_options(corpus, capsys, tmp_path):
    heads = tmp_path / "heads.txt"
    heads.write_text("run\nfurry-a\nchase-v\n")
    code, out, _ = run(
        capsys, "count", corpus, "--out", tmp_path / "c", *SMALL, "--heads", heads, "--phrases", "sv,an,svpo",
        "--sv-without-object", "--pronouns", "no", "--context", "window:2:linear", "--min-frequency", "2",
        "--workers", "2", "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert found["context"] == "window:2:linear"
    assert {name: p["frequent"] for name, p in found["patterns"].items()} == {
        "an": {"furry cat": 3}, "sv": {"dog run": 3}, "svpo": {"dog chase in house": 3},
    }  # fmt: skip
    code, out, _ = run(capsys, "count", corpus, "--out", tmp_path / "w", *SMALL, "--phrases", "none", "--json")
    assert json.loads(out)["phrases"] == 0


def test_dependency_contexts(corpus, capsys, tmp_path):
    from composita.counting.counts import Counts

    code, _, _ = run(capsys, "count", corpus, "--out", tmp_path / "c", *SMALL, "--context", "dependency")
    assert code == 0
    counts = Counts.open(tmp_path / "c")
    assert counts.row("chase-v") == {"subject:cat-n": 3, "subject:dog-n": 3, "object:cat-n": 3, "oblique_in:house-n": 3}
    assert counts.row("house-n") == {"oblique_in-of:chase-v": 3}
    assert counts.row("svo:chase-v(cat-n, dog-n)") == {"modifier:furry-a": 3, "oblique_in:house-n": 3}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--phrases", "svx"], "unknown pattern 'svx': choose sv, svo"),
        (["--phrases", "an"], "pattern an: no word of the vocabulary"),
        (["--memory", "1M"], "too little"),
        (["--memory", "lots"], "expected an amount of memory"),
        (["--nouns", "many"], "expected a whole number such as 500"),
        (["--proper", "yes"], "unknown --proper 'yes': choose nouns, arguments or no"),
        (["--context", "paragraph"], "unknown context 'paragraph': choose sentence"),
        (["--heads", "HEADS"], "none of the 1 words is in the corpus, the first is 'chsae-v'; did you mean chase-v"),
        (["--heads", "none.txt"], "cannot read none.txt"),
        (["--min-frequency", "0"], "see --help"),
    ],
)
def test_wrong_use(options, message, corpus, capsys, tmp_path):
    (tmp_path / "heads.txt").write_text("chsae\n")
    options = [str(tmp_path / "heads.txt") if option == "HEADS" else option for option in options]
    code, out, err = run(capsys, "count", corpus, "--out", tmp_path / "c", *SMALL, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert len([line for line in err.split("\n") if line.startswith("composita:")]) == 1
    assert not (tmp_path / "c").exists()


def test_wrong_places(corpus, capsys, tmp_path):
    code, _, err = run(capsys, "count", tmp_path, "--out", tmp_path / "c")
    assert (code, "expected a folder of kind 'corpus'" in err) == (1, True)
    code, _, err = run(capsys, "count", corpus, "--out", corpus, *SMALL)
    assert (code, "choose another place" in err) == (1, True)
