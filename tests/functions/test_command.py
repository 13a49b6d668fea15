"""``composita learn`` and ``composita info`` of a lexicon, as they are typed."""

import json

import pytest

from composita.cli.main import main
from composita.functions.lexicon import Lexicon
from tests.functions.worlds import miniature_space


@pytest.fixture(scope="module")
def space():
    return str(miniature_space().path)


@pytest.fixture(scope="module")
def heads(tmp_path_factory):
    path = tmp_path_factory.mktemp("heads") / "heads.txt"
    path.write_text("give\nobey-v\nbitter-a\n")
    return str(path)


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_learning(space, heads, capsys, tmp_path):
    code, out, err = run(capsys, "learn", space, "--out", tmp_path / "l", "--heads", heads)
    assert (code, err) == (0, "")
    assert "learner      onestep:" in out
    assert "the paper" in out and "1,360,000" in out and "324" in out
    assert "give-v" in out and "bitter-a" in out
    code, shown, _ = run(capsys, "info", tmp_path / "l", "--check")
    assert code == 0 and shown.startswith(out[:40]) and "files: all as written" in shown
    code, out, _ = run(capsys, "info", tmp_path / "l", "--json")
    found = json.loads(out)
    assert {word["word"] for word in found["functions_by_word"]} == {"give-v", "obey-v", "bitter-a"}
    assert found["patterns"]["svo"]["words"] == 2 and found["heldout"] == []
    assert found["selection"]["arguments"] == ["nouns", "names", "pronouns"]
    assert Lexicon.open(tmp_path / "l").fingerprint == found["fingerprint"]


def test_the_paper(space, capsys, tmp_path):
    code, out, _ = run(
        capsys, "learn", space, "--out", tmp_path / "l", "--preset", "paper", "--phrases", "svo", "--json"
    )
    found = json.loads(out)
    assert code == 0
    assert found["learner"] | {"learner": "multistep", "per": "group", "min_examples": 3} == found["learner"]
    assert found["selection"]["min_nonzero"] == 10 and found["normalise"]
    word = found["functions_by_word"][0]
    assert len(word["regressions"]) == len(word["penalties"]) == 2 and word["regressions"][0] == 1


@pytest.mark.parametrize(
    ("options", "learner"),
    [
        (["--learner", "plsr", "--option", "components=3"], {"regression": "PartialLeastSquares", "components": 3}),
        (["--regression", "lstsq"], {"regression": "LeastSquares", "min_examples": 3}),
        (["--learner", "multistep", "--regression", "ridge", "--penalty-per", "level", "--min-examples", "2"],
         {"learner": "multistep", "per": "level", "min_examples": 2}),
        (["--kernel", "object", "--weights", "--no-centre"],
         {"learner": "onestep", "kernel": "object", "weights": True, "centre": False}),
        (["--preset", "paper", "--centre", "--intercept"], {"learner": "multistep", "centre": True, "intercept": True}),
    ],
)  # fmt: skip
def test_learners(options, learner, space, heads, capsys, tmp_path):
    arguments = ["--phrases", "svo", "--heads", heads, "--json", *options]
    code, out, err = run(capsys, "learn", space, "--out", tmp_path / "l", *arguments)
    assert code == 0, err
    found = json.loads(out)["learner"]
    assert found | learner == found


def test_choosing_phrases(space, heads, capsys, tmp_path):
    code, out, _ = run(
        capsys, "learn", space, "--out", tmp_path / "l", "--heads", heads, "--phrases", "svo", "--max-examples", "20",
        "--min-frequency", "1", "--min-nonzero", "5", "--arguments", "nouns, pronouns", "--normalise", "arguments",
        "--min-examples", "4", "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert found["selection"] == {
        "min_examples": 4, "min_nonzero": 5, "min_frequency": 1, "max_examples": 20,
        "arguments": ["nouns", "pronouns"], "normalise": True, "normalise_outputs": False,
    }  # fmt: skip
    assert max(word["phrases"] for word in found["functions_by_word"]) == 20


def test_comparing_learners(space, heads, capsys, tmp_path):
    code, out, _ = run(
        capsys, "learn", space, "--out", tmp_path / "l", "--heads", heads, "--phrases", "svo", "--cross-validate", "3",
        "--compare", "lstsq,multistep:per=level, shared",
    )  # fmt: skip
    assert code == 0
    assert "Held-out phrases, their arguments new: the rank of the true one" in out
    rows = [line.split() for line in out.splitlines()]
    ranks = {row[0]: float(row[5]) for row in rows if row[1:3] == ["svo", "object"]}
    assert set(ranks) == {"chosen", "alone", "lstsq", "multistep:per=level", "shared"}
    assert ranks["chosen"] < 0.5
    assert [row[0] for row in rows if row[1:3] == ["svo", "object"]] == sorted(ranks, key=ranks.get)
    (mean,) = [row for row in rows if row[:5] == ["the", "mean", "alone", "svo", "object"]]
    assert float(mean[7]) == pytest.approx(0.5, abs=0.01)
    words = next(row for row in rows if row[:2] == ["give-v", "svo"])
    (rank,) = [cell for cell in words[-3:] if cell.startswith("0.")]  # remarks may follow
    assert 0 <= float(rank) < 0.5 and "held out" in out
    assert "Held-out phrases" in run(capsys, "info", tmp_path / "l")[1]


def test_leaning(space, capsys, tmp_path):
    code, out, _ = run(
        capsys, "learn", space, "--out", tmp_path / "l", "--phrases", "svo", "--lean", "shared", "--max-examples", "8",
        "--cross-validate", "2", "--compare", "none",
    )  # fmt: skip
    assert code == 0
    assert "leans on     the shared function, as much as helps" in out and "leans" in out
    assert {"chosen", "alone"} <= {line.split()[0] for line in out.splitlines() if line.strip()}
    assert Lexicon.open(tmp_path / "l").shared("svo", "give-v").arity == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--preset", "best"], "unknown preset 'best': choose paper or recommended"),
        (["--learner", "multistp"], "unknown learner 'multistp'"),
        (["--learner", "onestep", "--regression", "lstsq"], "--regression belongs to the learner multistep"),
        (["--learner", "multistep", "--kernel", "product"], "does not take these options"),
        (["--option", "components"], "expected an option NAME=VALUE such as components=20"),
        (["--normalise", "all"], "unknown --normalise 'all': choose both, arguments, outputs or none"),
        (["--phrases", "svx"], "no phrases of the pattern 'svx'"),
        (["--lean", "very"], "lean: choose none, whole, shared, similar"),
        (["--cross-validate", "2", "--compare", "multistp"], "unknown learner 'multistp'"),
        (["--cross-validate", "2", "--compare", "paper:per=level"], "'paper' takes no options"),
        (["--cross-validate", "2", "--compare", "plsr:20"], "expected an option NAME=VALUE"),
        (["--cross-validate", "1"], "Input should be greater than or equal to 2"),
        (["--arguments", "verbs"], "expected some of nouns, names, pronouns"),
    ],
)
def test_wrong_use(options, message, space, capsys, tmp_path):
    code, _, err = run(capsys, "learn", space, "--out", tmp_path / "l", *options)
    assert code == 2
    assert message in err and err.count("\n") == 1


def test_something_that_is_no_space(capsys, tmp_path):
    code, _, err = run(capsys, "learn", tmp_path, "--out", tmp_path / "l")
    assert code == 1 and "expected a folder of kind 'space'" in err
