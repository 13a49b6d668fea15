"""Word similarity, tuning, the map of words, and the commands."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from scipy.stats import spearmanr

from composita.cli.main import main
from composita.spaces.space import Space
from composita.spaces.tuning import draw_trials, tune
from composita.spaces.wordmap import draw_map, place_labels
from composita.spaces.wordpairs import WordPairs, spearman
from composita.store.errors import InputError, UsageError
from tests.data import DATA
from tests.spaces.helpers import counts_with_phrases

MEN = "dog-n cat-n 45.0\ncar-n dog-n 12.0\ncat-n car-n 10.0\nchase-v dog-n 20.0\nunicorn-n dog-n 5.0\n"


@pytest.fixture
def counts(tmp_path):
    return counts_with_phrases(tmp_path)


@pytest.fixture
def men(tmp_path):
    (tmp_path / "men.txt").write_text(MEN)
    return tmp_path / "men.txt"


# ---------------------------------------------------------------- word pairs


@pytest.mark.parametrize(
    ("text", "pair", "rating"),
    [
        ("sun-n sunlight-n 50.0\n", ("sun-n", "sunlight-n"), 50),  # MEN, lemmas
        ("old-j new-j 3\n", ("old-a", "new-a"), 3),  # MEN's letter of adjectives
        ("sun sunlight 50.0\n", ("sun", "sunlight"), 50),  # MEN, natural
        ("word1\tword2\tPOS\tSimLex999\tconc(w1)\nold\tnew\tA\t1.58\t2.72\n", ("old-a", "new-a"), 1.58),  # SimLex-999
        ("take\tremove\tV\t6.81\tSYNONYMS\n", ("take-v", "remove-v"), 6.81),  # SimVerb-3500
        ("Word 1,Word 2,Human (mean)\nlove,sex,6.77\n", ("love", "sex"), 6.77),  # WordSim-353
        ("# comment\nWord 1\tWord 2\tHuman (Mean)\nLove\tSex\t6.77\n", ("love", "sex"), 6.77),
    ],
)
def test_formats(text, pair, rating, tmp_path):
    (tmp_path / "pairs.txt").write_text(text)
    found = WordPairs.read(tmp_path / "pairs.txt")
    assert (found.left[0], found.right[0], found.ratings[0], len(found)) == (*pair, rating, 1)


@pytest.mark.skipif(not (DATA / "benchmarks").is_dir(), reason="needs the benchmarks of others")
@pytest.mark.parametrize(("name", "size"), [("MEN_dataset_lemma_form_full", 3000), ("SimLex-999.txt", 999)])
def test_real_files(name, size):
    assert len(WordPairs.read(DATA / "benchmarks" / name)) == size


def test_score_by_hand(counts, men):
    space = Space.from_counts(counts, reduce="none")
    found = WordPairs.read(men).score(space)
    pairs = [("dog-n", "cat-n"), ("car-n", "dog-n"), ("cat-n", "car-n"), ("chase-v", "dog-n")]
    expected = spearmanr([space.similarity(*pair) for pair in pairs], [45, 12, 10, 20]).statistic
    assert found.rho == pytest.approx(expected)
    assert (found.covered, found.pairs, found.missing) == (4, 5, ("unicorn-n",))
    assert found.low <= found.rho <= found.high


def test_the_interval_is_that_of_a_bootstrap():
    random = np.random.default_rng(0)
    ratings = random.random(300)
    values = ratings + random.standard_normal(300) * 0.5
    pairs = WordPairs("x", ("a",) * 300, ("b",) * 300, ratings)
    found = pairs.of(values)
    # The standard error of a correlation r over n pairs is about (1 - r^2) / sqrt(n).
    error = (1 - found.rho**2) / 300**0.5
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.25)
    assert pairs.of(values) == found


def test_spearman_against_scipy():
    random = np.random.default_rng(1)
    for _ in range(20):
        x, y = random.integers(0, 6, 12).astype(float), random.integers(0, 6, 12).astype(float)
        assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)
    assert np.isnan(spearman(np.ones(4), np.arange(4.0))) and np.isnan(spearman(np.ones(2), np.ones(2)))


def test_words_without_letters(men, tmp_path):
    (tmp_path / "bare.txt").write_text("run walk 3\nrun sun 1\nsun walk 2\n")
    space = Space.from_vectors(["run-n", "run-v", "walk-v", "sun-n"], np.eye(4), frequency=np.array([1, 5, 3, 2]))
    assert WordPairs.read(tmp_path / "bare.txt").rows(space).tolist() == [[1, 2], [1, 3], [3, 2]]
    bare = Space.from_vectors(["dog", "cat", "car", "chase"], np.eye(4) + 1)
    assert WordPairs.read(men).score(bare).covered == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no pairs in it"), ("a b 1\na b\n", "pairs.txt:2: expected two words and a number, got 'a b'")],
)
def test_bad_pairs(text, message, tmp_path):
    (tmp_path / "pairs.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        WordPairs.read(tmp_path / "pairs.txt")
    with pytest.raises(UsageError, match="cannot read"):
        WordPairs.read(tmp_path / "nothing.txt")


# ---------------------------------------------------------------- tuning


def test_tuning_is_what_spaces_give(counts, men):
    pairs = WordPairs.read(men)
    trials = tune(
        counts, [pairs], weightings=["ppmi", "none"], reductions=["none", "svd", "nmf"], dimensions=[2, 3],
        powers=[1.0, 0.5],
    )  # fmt: skip
    assert len(trials) == 2 * (1 + 4 + 2)
    for trial in trials:
        options = {"power": trial.power} if trial.reduction == "svd" else {}
        space = Space.from_counts(
            counts, weighting=trial.weighting, reduce=trial.reduction, dimensions=trial.dimensions, **options
        )  # fmt: skip
        assert trial.rho == pytest.approx(pairs.score(space).rho, abs=1e-6), trial.name


def test_plot(counts, men, tmp_path):
    trials = tune(counts, [WordPairs.read(men)], weightings=["ppmi"], reductions=["none", "svd"], dimensions=[2])
    draw_trials(trials, tmp_path / "plot.svg")
    texts = [node.text for node in ET.parse(tmp_path / "plot.svg").iter() if node.tag.endswith("text")]
    assert {"ppmi, full", "ppmi, svd 2", "men"} <= set(texts)
    again = tune(counts, [WordPairs.read(men)], weightings=["ppmi"], reductions=["none", "svd"], dimensions=[2])
    draw_trials(again, tmp_path / "again.svg")
    assert (tmp_path / "plot.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()


# ---------------------------------------------------------------- the map


def test_labels_do_not_cover_each_other():
    random = np.random.default_rng(0)
    x, y = 300 + 60 * random.random(40), 300 + 60 * random.random(40)
    places = place_labels(x, y, ["word"] * 40)
    boxes = [(a, b - 11, a + 4 * 7.4, b + 3) for a, b in places]
    for place, (a, b, c, d) in enumerate(boxes):
        assert not any(a < g and c > e and b < h and d > f for e, f, g, h in boxes[:place])


def test_map(counts, tmp_path):
    space = Space.from_counts(counts, dimensions=3)
    draw_map(space, ["dog-n", "cat-n", "car-n", "chase-v", "chase-v(cat-n, dog-n)"], tmp_path / "map.svg")
    texts = {node.text for node in ET.parse(tmp_path / "map.svg").iter() if node.tag.endswith("text")}
    assert {"dog", "cat", "car", "chase", "dog chase cat", "nouns", "verbs"} <= texts
    with pytest.raises(UsageError, match="at least 3 words"):
        draw_map(space, ["dog-n"], tmp_path / "map.svg")
    with pytest.raises(UsageError, match="is 0: it has no place on a map"):
        draw_map(space, ["dog-n", "cat-n", "chase-v(dog-n, dog-n)"], tmp_path / "map.svg")


# ---------------------------------------------------------------- commands


def run(capsys, *words):
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_commands(counts, men, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts.save("counts")
    code, out, _ = run(capsys, "space", "counts", "--out", "space", "--dimensions", "3", "--workers", "2")
    assert code == 0 and "counts -> ppmi -> svd 3" in out and "sv 1, svo 3, vo 1" in out
    code, out, _ = run(capsys, "info", "space", "--json", "--check")
    assert code == 0 and json.loads(out)["words"] == 5
    code, out, _ = run(capsys, "tune", "counts", "--benchmark", men, "--dimensions", "2,3", "--plot", "plot.svg")
    assert code == 0 and "men: 4 of 5 pairs covered" in out and (tmp_path / "plot.svg").exists()
    code, out, _ = run(capsys, "convert", "space", "v.txt", "--rows", "word")
    assert code == 0 and (tmp_path / "v.txt").read_text().startswith("car-n ")
    code, out, _ = run(capsys, "convert", "v.txt", "back")
    assert code == 0 and Space.open("back").shape == (5, 3)
    code, out, _ = run(capsys, "map", "space", "dog-n", "cat-n", "car-n", "--out", "map.svg")
    assert code == 0 and "3 words drawn" in out
    nmf = ("--reduce", "nmf", "--solver", "lin", "--iterations", "5", "--tolerance", "0.1", "--projection", "pinv")
    code, out, _ = run(capsys, "space", "counts", "--out", "nmf", "--dimensions", "2", "--words-only", *nmf)
    assert code == 0 and "nmf 2 by lin projected by pinv" in out and "phrases      none" in out
    code, out, _ = run(capsys, "space", "counts", "--out", "json", "--reduce", "none", "--json")
    assert code == 0 and json.loads(out)["sparse"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("space", "counts", "--out", "x", "--weighting", "ppni"), "unknown weighting 'ppni'"),
        (("space", "counts", "--out", "x"), "at most 4 dimensions, asked for 300"),
        (("tune", "counts", "--benchmark", "nothing.txt"), "cannot read nothing.txt: no such file"),
        (("tune", "counts", "--benchmark", "men.txt", "--dimensions", "x"), "--dimensions: expected whole numbers"),
        (("tune", "counts", "--benchmark", "men.txt", "--power", "x"), "--power: expected numbers"),
        (("tune", "counts", "--benchmark", "men.txt", "--reduce", ","), "expected names or numbers"),
        (("tune", "counts", "--benchmark", "men.txt", "--weighting", "ppmi,magic"), "unknown weighting 'magic'"),
        (("tune", "counts", "--benchmark", "men.txt", "--reduce", "nmf", "--weighting", "pmi"), "pmi has negative"),
        (("tune", "counts", "--benchmark", "men.txt", "--measure", "lin"), "leave out pmi and svd"),
        (("convert", "counts", "v.txt"), "expected a folder of kind|holds 'counts', expected 'space'"),
        (("convert", "men.txt", "y", "--to", "magic"), "unknown format 'magic'"),
    ],
)
def test_wrong_commands(counts, men, tmp_path, capsys, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    assert men.exists()
    counts.save("counts")
    code, out, err = run(capsys, *words)
    assert code in (1, 2) and not out
    lines = [line for line in err.splitlines() if line.startswith("composita: ")]
    assert len(lines) == 1
    assert any(part in lines[0] for part in message.split("|"))
