"""The commands: what they print, their JSON, and their errors."""

import json

import numpy as np
import pytest

from composita.cli.main import main
from composita.functions.lexicon import Lexicon

RATED = "participant verb subject object landmark input hilo\n" + "".join(
    f"p{who} chase {s} {o} {landmark} {(who + place) % 7 + 1} {hilo}\n"
    for who in range(4)
    for place, (s, o, landmark, hilo) in enumerate(
        (s, o, landmark, hilo)
        for s in ("dog", "cat")
        for o in ("car", "ball", "lion")
        for landmark, hilo in (("follow", "HIGH"), ("hunt", "LOW"))
    )
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPOSITA_DATA_HOME", str(tmp_path / "home"))
    random = np.random.default_rng(0)
    words = ["dog-n", "cat-n", "car-n", "ball-n", "chase-v", "follow-v", "hunt-v"]
    Lexicon.from_vectors({word: random.normal(size=4) for word in words}).save(tmp_path / "lexicon")
    (tmp_path / "rated.txt").write_text(RATED)
    return tmp_path


def run(capsys, *arguments):
    code = main(list(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_evaluate(folder, capsys):
    code, out, err = run(capsys, "evaluate", "lexicon", "-b", "rated.txt", "--methods", "verb,add", "--bootstrap", "50",
                         "--groups", "--differences")  # fmt: skip
    assert code == 0
    assert "rated: 12 items, 48 ratings by 4 annotators" in out
    assert "with individual ratings" in out and "with mean ratings" in out
    for name in ("verb", "add", "(people)", "(oracle)", "(shuffled)", "verb - add", "chase-v"):
        assert f"\n{name}" in out or name == "chase-v"
    assert "8/12" in out and "On the 8 items that all score" in out
    assert "add scores 8 of 12 items; most often: " in err and "lion-n has no vector" in err


def test_evaluate_as_json_with_items(folder, capsys):
    code, out, err = run(capsys, "evaluate", "lexicon", "-b", "rated.txt", "--methods", "add", "--bootstrap", "20",
                         "--json", "--items", "items.tsv")  # fmt: skip
    said = json.loads(out)
    assert code == 0 and err == ""
    row = said[0]["scores"][0]
    assert (row["benchmark"], row["method"], row["items"], row["covered"]) == ("rated", "add", 12, 8)
    assert len(row["rho_individual_interval"]) == 2
    lines = (folder / "items.tsv").read_text().splitlines()
    assert len(lines) == 13 and lines[0].split("\t")[:6] == ["benchmark", "item", "group", "label", "ratings", "rating"]
    assert run(capsys, "evaluate", "lexicon", "-b", "rated.txt", "--items", "no/folder.tsv", "--methods", "add")[0] == 2


def test_evaluate_errors(folder, capsys):
    for arguments, message in (
        (("lexicon", "-b", "nothing.txt"), "there is no such file"),
        (("lexicon", "-b", "gs2011"), "composita data fetch gs2011"),
        (("nothing", "-b", "rated.txt"), "nothing"),
        (("lexicon", "-b", "rated.txt", "--methods", "ad"), "did you mean 'add'"),
    ):
        code, out, err = run(capsys, "evaluate", *arguments)
        assert code in (1, 2) and out == "" and message in err and err.count("\n") == 1


def test_spellings(folder, capsys):
    (folder / "mine.txt").write_text("lion-n cat-n\n")
    code, out, err = run(capsys, "evaluate", "lexicon", "-b", "rated.txt", "--methods", "add", "--bootstrap", "0",
                         "--spellings", "mine.txt")  # fmt: skip
    assert code == 0 and "12/12" in out and "1 word exchanged for other spellings: lion-n -> cat-n" in err


def test_data(folder, capsys):
    code, out, _ = run(capsys, "data", "list")
    assert code == 0 and "\ngs2011 " in out and "None is shipped" in out
    code, out, _ = run(capsys, "data", "list", "gs2011")
    assert code == 0 and "e733f60f" in out and "199 items, 2,500 ratings" in out
    assert run(capsys, "data", "list", "gs2001")[0] == 2
    code, out, err = run(capsys, "data", "add", "rated.txt", "--name", "mine")
    assert code == 0 and "by its structure only" in out
    code, out, _ = run(capsys, "data", "list", "--json")
    assert [one["name"] for one in json.loads(out) if one["path"]] == ["mine"]
    assert run(capsys, "data", "list", "mine")[0] == 0
    code, out, err = run(capsys, "data", "fetch", "ml2008")
    assert code == 1 and "composita data add ML2008.txt" in err
    assert run(capsys, "evaluate", "lexicon", "-b", "mine", "--methods", "verb", "--bootstrap", "0")[0] == 0


def test_ranking(folder, capsys):
    (folder / "relpron.txt").write_text(
        "OBJ dog_N: cat_N that car_N chase_V\nSBJ ball_N: cat_N that follow_V dog_N\n"
        "SBJ dog_N: cat_N that hunt_V ball_N\n"
    )
    code, out, _ = run(capsys, "evaluate", "lexicon", "-b", "relpron.txt", "--methods", "add,verb", "--bootstrap", "20",
                       "--differences", "--items", "items.tsv")  # fmt: skip
    assert code == 0 and "3 descriptions of 2 terms" in out and "mean average precision" in out
    assert (folder / "items.tsv").read_text().startswith("benchmark\tterm\tadd\tverb")


def test_means_only(folder, capsys):
    (folder / "words.txt").write_text("dog-n cat-n 8.0\ndog-n car-n 1.0\ncat-n ball-n 2\nball-n car-n 3\n")
    code, out, _ = run(capsys, "evaluate", "lexicon", "-b", "words.txt", "--methods", "add", "--bootstrap", "20")
    assert code == 0 and "individual" not in out and "4 ratings, means only" in out


def test_what_cannot_be_said_is_null_and_not_shown(folder, capsys):
    same = "sentence1\tsentence2\tannotator\trating\n" + "".join(
        f"dog-n\tdog-n\t{who}\t3\ncat-n\tcat-n\t{who}\t5\ncar-n\tcar-n\t{who}\t{n}\nball-n\tball-n\t{who}\t1\n"
        for n, who in enumerate("ab")
    )
    (folder / "same.tsv").write_text(same)
    arguments = ["evaluate", "lexicon", "-b", "same.tsv", "--methods", "add,multiply", "--bootstrap", "20", "-q"]
    code, out, _ = run(capsys, *arguments, "--differences")
    assert code == 0 and "nan" not in out and "Paired differences" not in out
    code, out, _ = run(capsys, *arguments, "--json")
    (said,) = json.loads(out, parse_constant=pytest.fail)
    assert code == 0 and said["differences"][0]["difference"] is None


def test_differences_without_resampling(folder, capsys):
    code, out, _ = run(capsys, "evaluate", "lexicon", "-b", "rated.txt", "--methods", "verb,add", "--bootstrap", "0",
                       "--differences", "-q")  # fmt: skip
    assert code == 0 and "verb - add" in out and "nan" not in out
