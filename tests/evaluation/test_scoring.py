"""Scores: the two conventions, coverage, differences, framing, rankings; by hand and by lexicons."""

import numpy as np
import pytest
from scipy import stats

from composita.composition.methods import METHODS
from composita.evaluation.benchmarks import Benchmark
from composita.evaluation.formats import Item
from composita.evaluation.prediction import predict
from composita.evaluation.scoring import evaluate, plain, score, shuffled
from composita.evaluation.spelling import candidates, exchange, read_table, respelled
from composita.functions.lexicon import Lexicon
from composita.grammar.phrase import Phrase
from composita.store.errors import InputError, UsageError
from tests.data import shared

HEAD = "participant verb noun landmark input hilo\n"


def made(items=30, people=6, seed=0):
    """A benchmark of the format of ML2008 whose ratings follow a hidden likeness."""
    random = np.random.default_rng(seed)
    truth = random.random(items)
    lines = [
        f"p{who} verb{number % 3} noun{number} other{number % 3} {rating} {'high' if truth[number] > 0.5 else 'low'}\n"
        for number in range(items)
        for who in range(people)
        for rating in [int(np.clip(np.rint(1 + 6 * truth[number] + random.normal()), 1, 7))]
    ]
    return Benchmark.from_text(HEAD + "".join(lines), "made"), truth


def test_both_conventions_are_those_of_scipy():
    benchmark, truth = made()
    predicted = truth + np.random.default_rng(1).normal(size=30) / 3
    row = score(benchmark, {"m": predicted}, bootstrap=200)["m"]
    ratings = benchmark.ratings
    each = predicted[ratings.item]
    assert row.rho_individual == pytest.approx(stats.spearmanr(each, ratings.rating).statistic)
    assert row.rho_mean == pytest.approx(stats.spearmanr(predicted, ratings.means).statistic)
    assert row.pearson_individual == pytest.approx(stats.pearsonr(each, ratings.rating).statistic)
    assert row.pearson_mean == pytest.approx(stats.pearsonr(predicted, ratings.means).statistic)
    assert row.kendall_mean == pytest.approx(stats.kendalltau(predicted, ratings.means).statistic)
    assert row.rho_individual < row.rho_mean
    for name in ("rho_individual", "rho_mean"):
        low, high = getattr(row, f"{name}_interval")
        assert low < getattr(row, name) < high
    assert (row.items, row.covered, row.common) == (30, 30, 30)
    high = np.array([item.label == "high" for item in benchmark.items])
    assert row.separation == pytest.approx(stats.mannwhitneyu(predicted[high], predicted[~high]).statistic
                                           / (high.sum() * (~high).sum()))  # fmt: skip
    assert row.high == pytest.approx(predicted[high].mean())


def test_coverage_and_common_items():
    benchmark, truth = made()
    partial = truth.copy()
    partial[:10] = np.nan
    scores = score(benchmark, {"all": truth, "some": partial, "none": np.full(30, np.nan)}, bootstrap=50)
    assert [row.covered for row in scores.rows] == [30, 20, 0]
    assert {row.common for row in scores.rows} == {20}
    assert scores["all"].rho_mean_common == scores["some"].rho_mean == scores["some"].rho_mean_common
    assert np.isnan(scores["none"].rho_mean) and scores["none"].to_json()["rho_mean_interval"] is None
    pairs = {(d.first, d.second, d.convention): d for d in scores.differences}
    assert pairs["all", "some", "rho_mean"].difference == 0 and pairs["all", "some", "rho_mean"].items == 20
    assert not any("none" in key for key in pairs)


def test_paired_differences_see_what_intervals_hide():
    """Two methods with the same errors differ surely, however wide the interval of each is."""
    benchmark, truth = made(items=60)
    random = np.random.default_rng(2)
    shared_error = random.normal(size=60) / 2
    better, worse = truth + shared_error, truth / 2 + shared_error + random.normal(size=60) / 20
    scores = score(benchmark, {"better": better, "worse": worse, "same": better}, bootstrap=500)
    by = {(d.first, d.second): d for d in scores.differences if d.convention == "rho_mean"}
    assert by["better", "worse"].interval[0] > 0 and by["better", "worse"].corrected < 0.05
    assert scores["better"].rho_mean_interval[0] < scores["worse"].rho_mean_interval[1]
    assert by["better", "same"].difference == 0 and by["better", "same"].corrected == 1
    assert all(d.corrected >= d.p for d in scores.differences)
    assert len(scores.differences) == 6


def test_same_seed_same_scores():
    benchmark, truth = made()
    predicted = {"a": truth, "b": np.round(truth, 1)}
    first, again = (score(benchmark, predicted, bootstrap=100, seed=3).to_json() for _ in range(2))
    assert first == again
    assert first != score(benchmark, predicted, bootstrap=100, seed=4).to_json()


def test_without_resampling_there_are_no_intervals():
    benchmark, truth = made()
    found = score(benchmark, {"a": truth, "b": truth}, bootstrap=0)
    assert found["a"].to_json()["rho_mean_interval"] is None and found["a"].rho_mean > 0.8
    assert found.to_json()["differences"][0]["p"] is None


def test_framing():
    benchmark, truth = made()
    scores = score(benchmark, {"a": truth, "oracle": benchmark.ratings.means}, bootstrap=50)
    reference = scores.reference()
    assert scores["oracle"].rho_mean == pytest.approx(1)
    assert reference["ceiling"]["rho_individual"] == pytest.approx(scores["oracle"].rho_individual)
    assert reference["humans"] == {"rho_individual": scores.humans.pairwise, "rho_mean": scores.humans.leave_one_out}
    for name in ("rho_individual", "rho_mean"):
        mean, (low, high) = scores.floor[name]
        assert abs(mean) < 0.02 and low < 0 < high
    assert shuffled(benchmark.ratings, 1) == shuffled(benchmark.ratings, 1)
    groups = {(g.group, g.method): g for g in scores.groups}
    assert len(groups) == 6 and groups["verb0-v", "oracle"].rho_mean == pytest.approx(1)
    assert groups["verb0-v", "a"].items == 10


def test_items_are_told():
    benchmark, truth = made()
    truth[3] = np.nan
    told = score(benchmark, {"a": truth}, bootstrap=0).items()
    assert told[0]["item"] == "verb0 noun0 other0" and told[0]["a"] == truth[0] and told[0]["ratings"] == 6
    assert told[3]["a"] is None


def test_mean_ratings_only():
    benchmark = Benchmark.from_text("dog-n cat-n 8.5\ndog-n car-n 1\ncat-n car-n 2\ncat-n lion-n 7\n")
    found = score(benchmark, {"a": [0.9, 0.1, 0.2, 0.8]}, bootstrap=20)
    assert found["a"].rho_mean == 1 and np.isnan(found["a"].rho_individual)
    assert {d.convention for d in found.differences} <= {"rho_mean"}
    assert found.reference()["humans"] == {"rho_individual": None, "rho_mean": None}


def test_wrong_use():
    benchmark, truth = made()
    with pytest.raises(UsageError, match="expected predictions of shape \\(30,\\), got \\(29,\\)"):
        score(benchmark, {"a": truth[:-1]})
    with pytest.raises(UsageError, match="one method at least"):
        score(benchmark, {})
    with pytest.raises(UsageError, match="expected 0 or more"):
        score(benchmark, {"a": truth}, bootstrap=-1)
    with pytest.raises(UsageError, match="'b' was not scored: choose a"):
        score(benchmark, {"a": truth}, bootstrap=0)["b"]


def test_plain():
    assert plain(float("nan")) is None and plain((1.0, float("nan"))) == [1.0, None] and plain(()) == []
    assert plain("x") == "x"


@pytest.mark.parametrize(("file", "ceiling"), [("GS2011data.txt", 0.764), ("ML2008.txt", 0.665)])
def test_oracle_on_published_files(file, ceiling):
    benchmark = Benchmark.load(shared(f"benchmarks/{file}"))
    scores = score(benchmark, {"oracle": benchmark.ratings.means}, bootstrap=100)
    assert round(scores["oracle"].rho_individual, 3) == ceiling
    assert scores["oracle"].rho_mean == pytest.approx(1)
    assert abs(scores.floor["rho_individual"][0]) < 0.01


# ------------------------------------------------------------ with a lexicon


def small_lexicon(**more):
    random = np.random.default_rng(0)
    words = ["dog-n", "cat-n", "car-n", "behavior-n", "paper-n", "chase-v", "follow-v", "bark-v", "big-a"]
    return Lexicon.from_vectors({word: random.normal(size=5) for word in words} | more)


def test_predictions_are_cosines():
    lexicon = small_lexicon()
    item = Item(Phrase.parse("chase-v(cat-n, dog-n)"), Phrase.parse("follow-v(cat-n, dog-n)"), "x")
    missing = Item(Phrase.parse("chase-v(lion-n, dog-n)"), Phrase.parse("bark-v(dog-n)"), "y")
    found = predict(METHODS["add"], lexicon, [item, missing, item])

    def unit(word):
        vector = lexicon.vector(word)
        return vector / np.linalg.norm(vector)

    left, right = (unit(verb) + unit("cat-n") + unit("dog-n") for verb in ("chase-v", "follow-v"))
    expected = left @ right / np.linalg.norm(left) / np.linalg.norm(right)
    assert found.similarity[[0, 2]] == pytest.approx(expected) and np.isnan(found.similarity[1])
    assert list(found.reasons) == [1] and "lion-n has no vector" in found.reasons[1]


def test_what_differs_by_rounding_only_is_the_same():
    random = np.random.default_rng(5)
    lexicon = Lexicon.from_vectors({f"{w}-{p}": random.normal(size=50) for p in "nv" for w in "abcdef"})
    pairs = [("a", "b", "c"), ("b", "c", "d"), ("d", "e", "f"), ("e", "f", "a")]
    items = [
        Item(Phrase.parse(f"{v}-v({o}-n, {s}-n)"), Phrase.parse(f"{v}-v({s}-n, {o}-n)"), f"{v}{o}{s}")
        for v, o, s in pairs
    ]
    similarity = predict(METHODS["add"], lexicon, items).similarity
    assert similarity.tolist() == [1.0] * len(items)
    found = score(benchmark_of(items), {"add": similarity}, bootstrap=10)
    assert np.isnan(found["add"].rho_mean)


def benchmark_of(items):
    lines = [f"{item.left}\t{item.right}\t{who}\t{n}" for n, item in enumerate(items) for who in "ab"]
    return Benchmark.from_text(OURS + "\n".join(lines))


@pytest.mark.parametrize("method", ["add", "kronecker"])
def test_coordinations_are_sums(method):
    lexicon = small_lexicon()
    left = Phrase("and", (Phrase.parse("chase-v(cat-n, dog-n)"), Phrase.parse("chase-v(cat-n, car-n)")))
    right = Phrase("and", (Phrase.parse("follow-v(cat-n, dog-n)"), Phrase.parse("follow-v(cat-n, car-n)")))
    single, lost = Phrase.parse("chase-v(cat-n, dog-n)"), Phrase("and", (Phrase.parse("chase-v(cat-n, lion-n)"), left))
    found = predict(METHODS[method], lexicon, [Item(left, right, "x"), Item(left, single, "y"), Item(lost, right, "z")])

    def meaning(phrase):
        if phrase.head == "and":
            return sum(meaning(part) for part in phrase.arguments)
        v, o, s = (lexicon.vector(word) / np.linalg.norm(lexicon.vector(word)) for word in phrase.words())
        return v + o + s if method == "add" else np.outer(v, v) * np.outer(o, s)

    for number, other in enumerate((right, single)):
        x, y = meaning(left).ravel(), meaning(other).ravel()
        assert found.similarity[number] == pytest.approx(x @ y / np.linalg.norm(x) / np.linalg.norm(y))
    assert np.isnan(found.similarity[2]) and "lion-n" in found.reasons[2]


OURS = "sentence1\tsentence2\tannotator\trating\n"


def test_evaluate_with_exchanged_words():
    lines = ["chase-v(papers-n, dog-n)\tfollow-v(papers-n, dog-n)\ta\t3", "behaviour-n\tdog-n\ta\t1",
             "cat-n\tdog-n\ta\t6", "cat-n\tdog-n\tb\t5", "unicorn-n\tdog-n\tb\t5"]  # fmt: skip
    benchmark = Benchmark.from_text(OURS + "\n".join(lines))
    lexicon = small_lexicon()
    assert evaluate(lexicon, benchmark, "add", bootstrap=10)["add"].covered == 1
    scores = evaluate(lexicon, benchmark, ["add", METHODS["verb"]], bootstrap=10, spelling=True, space="s")
    assert (
        scores["add"].covered == 3 and scores["add"].space == "s" and [r.method for r in scores.rows] == ["add", "verb"]
    )
    assert scores.exchanged == {"papers-n": "paper-n", "behaviour-n": "behavior-n"}
    own = evaluate(lexicon, benchmark, "add", bootstrap=10, spelling={"unicorn-n": "cat-n"})
    assert own["add"].covered == 4 and own.exchanged["unicorn-n"] == "cat-n"
    assert "unicorn-n has no vector" in scores.reasons["add"][3]


def test_evaluate_reads_running_text():
    lines = ["dog-n\tcat-n\ta\t3", "dogs chase cats\tchase-v(cat-n, dog-n)\ta\t5", "?!\tdog-n\ta\t1"]
    scores = evaluate(small_lexicon(), Benchmark.from_text(OURS + "\n".join(lines)), "add", bootstrap=0)
    assert scores["add"].covered >= 1 and "not read" in scores.reasons["add"][2]


def test_unknown_method():
    with pytest.raises(UsageError, match="no method is called 'ad': did you mean 'add'"):
        evaluate(small_lexicon(), made()[0], "ad")


# ------------------------------------------------------------ rankings


RELPRON = """OBJ garrison_N: organization_N that army_N install_V
SBJ garrison_N: organization_N that protect_V city_N
SBJ telescope_N: device_N that detect_V planet_N
OBJ telescope_N: device_N that astronomer_N use_V
"""


def test_mean_average_precision_by_hand():
    benchmark = Benchmark.from_text(RELPRON)
    assert (
        benchmark.kind == "ranking"
        and benchmark.groups == ("garrison-n", "telescope-n")
        and "2 terms" in repr(benchmark)
    )
    predicted = np.array([[0.9, 0.1, 0.5, 0.2], [0.0, 0.1, 0.8, 0.9]])
    scores = score(benchmark, {"m": predicted, "n": np.full((2, 4), np.nan)}, bootstrap=50)
    # garrison: its two stand at places 1 and 4; telescope: at 1 and 2.
    assert scores["m"].mean_average_precision == pytest.approx(((1 / 1 + 2 / 4) / 2 + 1) / 2)
    assert scores["m"].covered == 4 and scores["n"].covered == 0 and np.isnan(scores["n"].mean_average_precision)
    assert [group.mean_average_precision for group in scores.groups[:2]] == pytest.approx([0.75, 1])
    assert scores.items()[0] == {"term": "garrison-n", "m": pytest.approx(0.75), "n": None}


def test_ranking_by_a_lexicon():
    benchmark = Benchmark.from_text(RELPRON)
    random = np.random.default_rng(0)
    words = [word for word in benchmark.words if word != "city-n"]
    lexicon = Lexicon.from_vectors({word: random.random(6) for word in words})
    scores = evaluate(lexicon, benchmark, "add,kronecker", bootstrap=20)
    assert scores["add"].covered == 3 and "city-n has no vector" in scores.reasons["add"][1]
    assert scores["kronecker"].covered == 0 and "cannot be compared" in scores.reasons["kronecker"][0]
    assert 0 < scores["add"].mean_average_precision <= 1
    assert scores.to_json()["scores"][0]["rho_mean"] is None


# ------------------------------------------------------------ spelling

SPELLED = [
    ("papers-n", "paper-n"), ("behaviour-n", "behavior-n"), ("behavior-n", "behaviour-n"), ("favour-n", "favor-n"),
    ("offence-n", "offense-n"), ("sniffing-n", "sniff-n"), ("centre-n", "center-n"), ("theater-n", "theatre-n"),
    ("organise-v", "organize-v"), ("studies-n", "study-n"), ("running-v", "run-v"), ("made-up-n", "made_up-n"),
    ("grey-a", "gray-a"), ("women-n", "woman-n"), ("boxes-n", "box-n"), ("hoping-v", "hope-v"),
    ("programme-n", "program-n"),
]  # fmt: skip


@pytest.mark.parametrize(("word", "other"), SPELLED)
def test_other_spellings(word, other):
    found = list(candidates(word))
    assert other in found and word not in found
    assert all(candidate.endswith(word[-2:]) for candidate in found)


@pytest.mark.parametrize(("word", "other"), [("clothes-n", "cloth-n"), ("physics-n", "physic-n"), ("bus-n", "bu-n")])
def test_words_that_only_look_like_others(word, other):
    assert other not in candidates(word)


def test_known_words_stay():
    assert exchange(["papers-n", "paper-n", "xyz-n", "no label"], {"papers-n", "paper-n"}) == {}
    assert respelled({})(Phrase.parse("chase-v(cat-n)")) == Phrase.parse("chase-v(cat-n)")


def test_table_of_ones_own(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("# mine\npapers-n paper-n  # plural\n\n")
    assert read_table(path) == {"papers-n": "paper-n"}
    path.write_text("papers paper")
    with pytest.raises(InputError, match="words.txt:1: expected two words"):
        read_table(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_table(tmp_path / "nothing")
