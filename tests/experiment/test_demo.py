"""The demonstration on one's own text, and what it tells; on the built-in text it is run by the page docs/start.md."""

import json

import pytest

from composita.cli.main import main
from composita.demo import _tell_differences, bearable, demonstrate
from composita.experiment.run import Run
from composita.store.errors import UsageError
from tests.data import shared
from tests.experiment.helpers import write_small


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    write_small(folder)
    return folder


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPOSITA_DATA_HOME", str(tmp_path / "home"))


def test_ones_own_parsed_text(place, capsys):
    arguments = ["demo", "--corpus", str(place / "text" / "small.conllu"), "--out", str(place / "own"), "-q"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    for words in ("Your text has ", " dimensions will be kept.", "No ratings, hence no scores", "Word order: ",
                  "is a weighted sum of ", "Go on:  composita compose "):  # fmt: skip
        assert words in said, words
    assert "Planted" not in said
    assert main([*arguments, "--json"]) == 0  # once more: nothing stands in the way of what is there
    found = json.loads(capsys.readouterr().out)
    assert found["results"] == [] and found["explained"]["rows"] and found["word_order"]
    assert Run.open(place / "own" / "run").report.exists()
    assert main(["compose", found["run"], found["explained"]["phrase"]]) == 0


def test_ratings_that_are_kept_are_used(place, capsys, monkeypatch):
    rated = "participant verb noun landmark input hilo\n" + "".join(
        f"p{who} {verb} {noun} {other} {(who + place) % 7 + 1} HIGH\n"
        for who in range(3)
        for place, (verb, noun, other) in enumerate(
            (v, n, o) for v in ("glow", "burn") for n in ("fire", "face", "cannon") for o in ("beam", "burn")
        )
    )
    (place / "rated.txt").write_text(rated)
    assert main(["data", "add", str(place / "rated.txt"), "--name", "ml2008"]) == 0
    said = []
    text = str(place / "text" / "small.conllu")
    found = demonstrate(place / "rated", corpus=[text], say=said.append)
    assert {row["benchmark"] for row in found["results"]} == {"ml2008"}
    assert any("ml2008: Spearman's rho with individual ratings" in line for line in said)


def test_raw_text(place, capsys):
    pytest.importorskip("ufal.udpipe")
    model = shared("models/english-ewt.udpipe")
    parsed = (place / "text" / "small.conllu").read_text(encoding="utf-8").split("\n\n")[:200]
    sentences = (
        " ".join(line.split("\t")[1] for line in sentence.splitlines() if line[:1].isdigit()) for sentence in parsed
    )
    (place / "raw.txt").write_text("\n\n".join(sentences), encoding="utf-8")
    arguments = ["--text", str(place / "raw.txt"), "--model", str(model), "--out", str(place / "raw"), "-q"]
    assert main(["demo", *arguments]) == 0
    said = capsys.readouterr().out
    assert "Your text has " in said and "Report: " in said


def test_no_verb_has_learned_anything(place, capsys):
    (place / "tiny.conllu").write_text(
        "1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
    )
    with pytest.raises(UsageError, match="the vocabulary has no contexts: make one of a larger corpus"):
        demonstrate(place / "tiny", corpus=[str(place / "tiny.conllu")], say=print)
    few = "".join(
        f"1\tN\tnoun{end}\tNOUN\tNN\t_\t2\tnsubj\t_\t_\n2\tV\tverb{end}\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
        for end in (first + second for first in "abcdefgh" for second in "abcdefgh")
    )
    (place / "few.conllu").write_text(few)
    found = demonstrate(place / "few", corpus=[str(place / "few.conllu")], say=print)
    assert found["explained"] is None
    said = capsys.readouterr().out
    assert "No sentence to explain: " in said and "Go on:  composita info" in said


def test_what_somebody_changed_is_kept(place, tmp_path, capsys):
    (tmp_path / "experiment.toml").write_text("name = 'mine'")
    arguments = ["demo", "--corpus", str(place / "text" / "small.conllu"), "--out", str(tmp_path), "-q"]
    assert main(arguments) == 2
    assert "experiment.toml is not what would be written there: run it by" in capsys.readouterr().err
    assert (tmp_path / "experiment.toml").read_text() == "name = 'mine'"


@pytest.mark.parametrize("more", [[], ["--corpus", "text.conllu"]])
def test_a_place_that_cannot_be_written(tmp_path, capsys, more):
    (tmp_path / "file").write_text("")
    assert main(["demo", "--out", str(tmp_path / "file" / "demo"), "-q", *more]) == 1
    said = capsys.readouterr().err
    assert "choose another place with --out" in said and said.count("\n") == 1


class Stub:
    """A run with differences."""

    def json(self, name):
        rows = [("rho_mean", 0.1, "mean"), ("rho_individual", 0.4, "far"), ("rho_individual", 0.2, "near")]
        return [
            {"benchmark": "mine", "convention": c, "difference": d, "interval": [d - 0.1, d + 0.1],
             "first": "one-step, svd", "second": other} for c, d, other in rows
        ]  # fmt: skip


def test_the_closest_other_method_is_told():
    said = []
    _tell_differences(Stub(), said.append)
    assert said[-1].split() == ["mine", "+0.200", "[+0.100,", "+0.300]", "one-step,", "svd", "against", "near"]


def test_dimensions():
    assert bearable(10**9, 12_000, 10_000) == 300 and bearable(10, 1, 1) == 1
