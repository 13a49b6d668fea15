"""Whole experiments: from text to table, reused, killed and resumed, swept and compared."""

import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from composita.cli.main import main
from composita.composition.model import open_model
from composita.experiment.compare import compare
from composita.experiment.config import Experiment
from composita.experiment.run import Run, tidy_stages
from composita.experiment.sweep import Sweep, learning_curve, run_sweep
from composita.store.errors import LockedError, NotFoundError, StoreError, UsageError
from composita.store.folder import open_writer
from composita.store.lock import hold_lock
from tests.experiment.helpers import TOML, write_small

RESULTS = ("results.json", "humans.json", "predictions.parquet", "ratings.parquet", "differences.json", "order.json",
           "training.json", "table.txt")  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiment")
    write_small(folder)
    Experiment.load(folder / "small.toml").run(folder / "run")
    return folder


def changed(place, name, *pairs):
    """Describe the experiment with some text exchanged."""
    text = TOML
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path = place / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return Experiment.load(path)


def made_stages(caplog):
    """Name the stages that were not reused."""
    lines = [r.getMessage().split() for r in caplog.records if r.name == "composita"]
    return [line[0] for line in lines if line[1:] == ["..."]]


def contents(run):
    return {name: run.folder.file(name).read_bytes() for name in RESULTS}


def test_the_result(place):
    run = Run.open(place / "run")
    rows = run.json("results.json")
    assert [(r["method"], r["space"]) for r in rows] == [
        (method, space)
        for method in ("verb", "add", "multiply", "regression", "onestep", "multistep")
        for space in ("full", "svd")
    ]
    keys = {"benchmark", "method", "space", "rho_individual", "rho_individual_interval", "rho_mean",
            "rho_mean_interval", "items", "covered"}  # fmt: skip
    assert all(keys <= row.keys() for row in rows)
    by = {(r["method"], r["space"]): r for r in rows}
    assert by["multiply", "svd"]["rho_mean"] is None and by["regression", "full"]["rho_individual"] is None
    low, high = by["onestep", "svd"]["rho_mean_interval"]
    assert low <= by["onestep", "svd"]["rho_mean"] <= high
    assert by["onestep", "svd"]["rho_mean"] > by["add", "svd"]["rho_mean"]
    assert by["regression", "svd"]["rho_mean"] == by["multistep", "svd"]["rho_mean"]
    assert {t["stage"] for t in run.timings} >= {"corpus", "counts", "space-svd", "lexicon-svd-onestep"}
    assert all(t["peak_bytes"] > 10**7 and t["seconds"] > 0 for t in run.timings)
    assert run.predictions.num_rows == 160 * 8
    assert "humans" in str(run) and "ceiling" in str(run)
    assert "High and low items" in run.report.read_text()
    assert repr(run) == "Run(small: miniature-gs2011; spaces full, svd)"
    assert run.folder.verify() == []


def test_what_it_was_made_of_can_be_opened(place):
    run = Run.open(place / "run")
    assert run.corpus.sentence_count == 2500
    assert run.counts.tokens == run.corpus.token_count
    assert run.space("svd").dimensions == 8
    assert len(run.lexicon()) and len(run.lexicon(learner="multistep"))
    with pytest.raises(UsageError, match="choose full, svd"):
        run.space("nmf")
    with pytest.raises(UsageError, match="choose svd onestep, svd multistep"):
        run.lexicon(learner="plsr")
    model = open_model(run.path)
    assert model.corpus == run.corpus.path
    assert model.lexicon.fingerprint == run.lexicon("svd", "onestep").fingerprint


def test_a_run_can_be_moved(place, tmp_path):
    (place / "run").rename(tmp_path / "elsewhere")
    try:
        model = open_model(tmp_path / "elsewhere")
        assert str(model.space.path).startswith(str(tmp_path))
    finally:
        (tmp_path / "elsewhere").rename(place / "run")


def test_running_again_does_nothing(place, caplog):
    before = {path: path.stat().st_mtime_ns for path in (place / "run").rglob("*") if path.name != "lock"}
    with caplog.at_level(logging.INFO):
        Experiment.load(place / "small.toml").run(place / "run")
    assert made_stages(caplog) == []
    assert before == {path: path.stat().st_mtime_ns for path in (place / "run").rglob("*") if path.name != "lock"}


def test_twice_is_identical_whatever_the_workers(place, tmp_path):
    experiment = Experiment.load(place / "small.toml")
    assert contents(experiment.run(tmp_path / "again", workers=2)) == contents(Run.open(place / "run"))


def test_a_change_counts_nothing_again(place, tmp_path, caplog):
    shutil.copytree(place / "run", tmp_path / "run")
    one = ('learner = "onestep"', 'learner = "onestep"\noptions.penalty = 0.5')
    with caplog.at_level(logging.INFO):
        run = changed(place, "penalty", one).run(tmp_path / "run")
    assert made_stages(caplog) == ["lexicon-svd-onestep", "scores-miniature-gs2011-svd-onestep", "order-svd-onestep"]
    assert run.json("results.json") != Run.open(place / "run").json("results.json")
    caplog.clear()
    with caplog.at_level(logging.INFO):
        back = Experiment.load(place / "small.toml").run(tmp_path / "run")
    assert made_stages(caplog) == [], "what was made for the first values is still there"
    assert contents(back) == contents(Run.open(place / "run"))
    assert len(tidy_stages(back)) == 3


@pytest.mark.parametrize(
    ("pairs", "first"),
    [
        ([("bootstrap = 50", "bootstrap = 60")], "scores-miniature-gs2011-full"),
        ([("dimensions = 8", "dimensions = 9")], "space-svd"),
        ([('phrases = ["sv", "svo"]', 'phrases = ["svo"]')], "counts"),
        ([("stop = 0", "stop = 1")], "vocabulary"),
    ],
)
def test_what_changes_with_what(place, tmp_path, pairs, first):
    from composita.experiment.stages import make_plan

    before = {s.id: s.fingerprint for s in make_plan(Experiment.load(place / "small.toml"), tmp_path).stages}
    after = {s.id: s.fingerprint for s in make_plan(changed(place, "what", *pairs), tmp_path).stages}
    assert next(name for name in after if after[name] != before[name]) == first


def test_another_run_at_the_same_time_is_refused(place, tmp_path):
    (tmp_path / "run").mkdir()
    with hold_lock(tmp_path / "run" / "lock"), pytest.raises(LockedError):
        Experiment.load(place / "small.toml").run(tmp_path / "run")


def test_a_folder_of_somebody_else_is_refused(place, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match="neither empty nor ours"):
        Experiment.load(place / "small.toml").run(tmp_path / "letters")
    with open_writer(tmp_path / "notes", "notes") as writer:
        writer.commit({})
    with pytest.raises(StoreError, match="expected 'run'"):
        Experiment.load(place / "small.toml").run(tmp_path / "notes")


def test_lost_files_are_made_again(place, tmp_path):
    shutil.copytree(place / "run", tmp_path / "run")
    (tmp_path / "run" / "report.html").unlink()
    (tmp_path / "run" / "results.json").write_text("[]")
    run = Experiment.load(place / "small.toml").run(tmp_path / "run")
    assert contents(run) == contents(Run.open(place / "run"))


def test_an_unfinished_run_says_so(tmp_path):
    with open_writer(tmp_path / "run", "run") as writer:
        writer.commit({"unfinished": True})
    with pytest.raises(NotFoundError, match="the run is not finished"):
        Run.open(tmp_path / "run")


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_killed_at_random_moments_and_resumed(place, tmp_path):
    command = [
        sys.executable,
        "-m",
        "composita",
        "run",
        str(place / "small.toml"),
        "--out",
        str(tmp_path / "run"),
        "-q",
    ]
    moments = random.Random(5)
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.8, 4.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
    run = Experiment.load(place / "small.toml").run(tmp_path / "run")
    assert contents(run) == contents(Run.open(place / "run"))
    assert not list((tmp_path / "run").rglob("*.partial"))


def test_sweeps_share_what_they_have_in_common(place, tmp_path, caplog):
    experiment = changed(place, "sweep", ("word_order = 20", "word_order = 0\n[sweep]\nlearn.min_nonzero = [1, 5]"),
                         ('[learners.onestep]\nlearner = "onestep"\n', '[learn]\nlearner = "onestep"'),
                         ('[learners.multistep]\nlearner = "multistep"\n', ""))  # fmt: skip
    with caplog.at_level(logging.INFO):
        sweep = run_sweep(experiment, tmp_path / "sweep")
    made = made_stages(caplog)
    assert made.count("counts") == made.count("space-svd") == 1 and made.count("lexicon-svd-onestep") == 2
    assert [chosen for chosen, _ in Sweep.open(tmp_path / "sweep").runs] == [
        {"learn.min_nonzero": 1}, {"learn.min_nonzero": 5}
    ]  # fmt: skip
    assert {row["variation"]["learn.min_nonzero"] for row in sweep.to_json()} == {1, 5}
    assert "learn.min_nonzero=5" in sweep.tables()[0].to_text()
    with pytest.raises(UsageError, match="the experiment is a sweep"):
        experiment.run(tmp_path / "other")


def test_a_learning_curve_needs_sizes_and_draws_lines(place, tmp_path):
    experiment = Experiment.load(place / "small.toml")
    with pytest.raises(UsageError, match="at least two sizes"):
        learning_curve(experiment, [None])
    curve = learning_curve(changed(place, "short", ("bootstrap = 50", "bootstrap = 0")), [10_000, None])
    sweep = run_sweep(curve, tmp_path / "curve")
    assert [path.name for path in sorted((tmp_path / "curve").glob("figure-learning-*.svg"))]
    report = sweep.report.read_text()
    assert "Learning curves" in report
    tokens = sweep.runs[-1][1].counts.tokens
    assert f"<title>add: {tokens:,} tokens: " in report  # point at it


def test_comparing(place, tmp_path):
    other = changed(place, "other", ("dimensions = 8", "dimensions = 4")).run(tmp_path / "other")
    found = compare(Run.open(place / "run"), other, number=50)
    assert ("spaces.svd.dimensions", "8", "4") in found.configuration
    same = [d for d in found.differences if d.first.startswith("add, full")]
    assert same and all(d.value == 0 and d.bounds == (0, 0) and d.p == 1 for d in same)
    assert any(d.value != 0 for d in found.differences)
    assert json.dumps(found.to_json())
    itself = compare(other, other, number=20)
    assert itself.configuration == () and all(d.value == 0 for d in itself.differences)


# The commands.


def test_the_commands(place, tmp_path, capsys):
    toml, out = str(place / "small.toml"), str(place / "run")
    assert main(["run", toml, "--out", out, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 12
    assert main(["run", toml, "--out", out, "--table", "latex", "-q"]) == 0
    assert capsys.readouterr().out.count(r"\begin{tabular}") == 2
    assert main(["run", toml, "--out", str(tmp_path / "new"), "--plan"]) == 0
    assert "lexicon-svd-onestep" in capsys.readouterr().out
    assert main(["info", out]) == 0
    said = capsys.readouterr().out
    assert "spaces.svd.dimensions" in said and "humans" in said
    assert main(["info", out, "--json", "--check"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "run"
    assert main(["info", toml]) == 0
    said = capsys.readouterr().out
    assert "spaces.svd.dimensions" in said and "learners.multistep.min_examples" in said
    assert main(["info", toml, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["experiment"]["seed"] == 7
    stages = {stage["stage"]: place / "run" / stage["path"] for stage in Run.open(out).meta["stages"]}
    for kind in ("vocabulary", "scores", "order"):
        assert main(["info", str(stages[kind]), "--check"]) == 0
        assert capsys.readouterr().out.split()[:2] == ["kind", kind]
    assert main(["compare", out, out, "--resamples", "10"]) == 0
    assert "asked for the same" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "absent.toml"], "cannot read absent.toml"),
        (["run", "{toml}", "--table", "word"], "unknown --table 'word': choose text, markdown, latex"),
        (["run", "{toml}", "--learning-curve", "5M"], "at least two sizes"),
        (["compare", "{toml}", "{toml}"], "expected a folder of kind 'run', found"),
        (["demo", "--text", "a", "--corpus", "b"], "--text and --corpus exclude each other"),
    ],
)
def test_wrong_commands_say_so_in_one_line(place, capsys, arguments, message):
    arguments = [argument.format(toml=place / "small.toml") for argument in arguments]
    assert main(arguments) in (1, 2)
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


def test_words_that_only_the_rooms_know_are_checked_before_anything_runs(place, tmp_path):
    for old, new, message in (
        ('"verb", "add"', '"verb", "ad"', r"\[evaluate\] methods: no method is called 'ad'"),
        ('learner = "onestep"', 'learner = "onestp"', r"\[learners.onestep\]: unknown learner 'onestp'.*onestep\?"),
        ('learner = "onestep"', 'learner = "onestep"\noptions.x = 1', r"\[learners.onestep\]: .* these options"),
        ("dimensions = 8", 'weighting = "pmmi"', r"weighting: unknown weighting 'pmmi'"),
        ("small.conllu", "none.conllu", "none.conllu"),
        ("miniature-gs2011.txt", "none.txt", "none.txt"),
    ):
        with pytest.raises((UsageError, NotFoundError), match=message):
            changed(place, "wrong", (old, new)).run(tmp_path / "wrong")
        assert not list(tmp_path.glob("wrong/stages/*-*"))
