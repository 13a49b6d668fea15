"""Methods against each other: the same numbers as scoring gives for one space, across spaces."""

from dataclasses import replace

import numpy as np
import pytest

from composita.evaluation.benchmarks import Benchmark
from composita.evaluation.scoring import score
from composita.experiment.against import common_sheets, pair_sheets, pairs, with_common
from composita.experiment.differences import paired
from composita.experiment.results import Results
from composita.experiment.scores import scored_of
from composita.store.strict_json import dump_json

LINES = [f"w{n}-n\tx{n}-n\t{who}\t{(n * 5 + 2 * (who == 'b')) % 7}" for n in range(12) for who in "ab"]
BENCHMARK = Benchmark.from_text("\n".join(["sentence1\tsentence2\tannotator\trating", *LINES]), name="mine")
RANDOM = np.random.default_rng(3)
MEANS = BENCHMARK.ratings.means
PREDICTED = {
    "good": MEANS + RANDOM.normal(0, 0.1, 12),
    "poor": RANDOM.normal(size=12),
    "half": np.where(np.arange(12) % 2, MEANS, np.nan),
    "none": np.full(12, np.nan),
}


def scored(names, space):
    found = scored_of(score(BENCHMARK, {name: PREDICTED[name] for name in names}, bootstrap=200), {n: n for n in names})
    return replace(found, space=space, rows=tuple(replace(row, space=space) for row in found.rows))


ALL = [scored(["good", "none"], "one"), scored(["poor", "half"], "two")]
RESULTS = Results(tuple(row for one in ALL for row in one.rows), (ALL[0].reference,))


def test_pairs_across_spaces_are_those_of_scoring_them_together():
    together = score(BENCHMARK, {name: PREDICTED[name] for name in ("good", "poor", "half")}, bootstrap=200)
    expected = {(d.convention, d.first, d.second): d for d in together.differences}
    found = pairs(RESULTS, ALL, number=200, seed=0)
    assert len(found) == len(expected) == 6
    for one in found:
        other = expected[one["convention"], one["first"].split(",")[0], one["second"].split(",")[0]]
        assert (one["items"], one["p"], one["corrected"]) == (other.items, other.p, other.corrected)
        assert [one["difference"], *one["interval"]] == pytest.approx([other.difference, *other.interval])


def test_common_items_are_those_that_all_methods_score_in_all_spaces():
    found = with_common(RESULTS, ALL)
    kept = ~np.isnan(PREDICTED["half"])
    expected = score(BENCHMARK, {n: np.where(kept, PREDICTED[n], np.nan) for n in ("good", "poor")}, bootstrap=0)
    for row in found.rows:
        if row.method == "none":  # what scores nothing leaves the others alone
            assert row.covered == 0
        else:
            assert row.more["common"] == 6
    for name in ("good", "poor"):
        row = next(row for row in found.rows if row.method == name)
        assert row.more["rho_individual_common"] == pytest.approx(expected[name].rho_individual)
        assert row.more["rho_mean_common"] == pytest.approx(expected[name].rho_mean)


def test_a_method_that_says_the_same_of_all_items_has_no_differences():
    found = scored_of(score(BENCHMARK, {"flat": np.ones(12), "good": PREDICTED["good"]}, bootstrap=20),
                      {"flat": "flat", "good": "good"})  # fmt: skip
    one = replace(found, space="one", rows=tuple(replace(row, space="one") for row in found.rows))
    results = with_common(Results(one.rows, (one.reference,)), [one])
    compared = pairs(results, [one], number=20, seed=0)
    assert [(row["difference"], row["interval"]) for row in compared] == [(None, None)] * 2
    assert dump_json(compared) and pair_sheets(compared) == []
    rated = one.rated()
    assert paired(rated, "rho_mean", ("flat", np.ones(12)), ("good", PREDICTED["good"]), number=20) is None


def test_sheets():
    (sheet,) = common_sheets(with_common(RESULTS, ALL))
    assert sheet.fold == "mine: 6 of 12 items"
    assert [row[:3] for row in sheet.rows] == [("good", "one", "12"), ("poor", "two", "12"), ("half", "two", "6")]
    whole = with_common(replace(RESULTS, rows=RESULTS.rows[:1]), ALL[:1])
    assert common_sheets(whole) == []  # nothing to be set right
    tables = pair_sheets(pairs(RESULTS, ALL, number=200, seed=0))
    assert [table.fold for table in tables] == ["mine, rho_individual", "mine, rho_mean"]
    for table in tables:
        names = table.heads[1:]
        assert names == ("good, one", "poor, two", "half, two")
        cells = {(row[0], name): cell for row in table.rows for name, cell in zip(names, row[1:], strict=True)}
        for first in names:
            assert cells[first, first] == ""
            for second in names:
                if first != second:
                    mine, theirs = cells[first, second], cells[second, first]
                    assert float(mine.strip("*")) == -float(theirs.strip("*")) and mine.count("*") == theirs.count("*")
