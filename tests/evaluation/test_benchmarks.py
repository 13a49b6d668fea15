"""Benchmark files: each format with its quirks, errors that name the line, and the facts about the published files."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.evaluation.agreement import FEWEST, Ratings, agreement
from composita.evaluation.benchmarks import Benchmark
from composita.evaluation.formats import FORMATS, elliptic, iterate_formats, read_lines
from composita.evaluation.statistics import spearman
from composita.grammar.phrase import Phrase
from composita.store.errors import InputError, NotFoundError, UsageError
from tests.data import shared

GS2011 = "participant verb subject object landmark input hilo"
ML2008 = "participant verb noun landmark input hilo"
GS2012 = "sentence_id annotator_id adj_subj subj landmark verb adj_obj obj annotator_score"

# format, lines, the phrases of the first item, its rating, participant, group, label
READ = [
    # Word order: the object comes before the subject in a phrase.
    ("gs2011", [GS2011, "p1 provide family home supply 4 HIGH"],
     "provide-v(home-n, family-n)", "supply-v(home-n, family-n)", 4, "p1", "provide-v", "high"),
    ("ml2008", [ML2008, "p20 stray thought roam 7 low"], "stray-v(thought-n)", "roam-v(thought-n)", 7, "p20", "stray-v",
     "low"),
    # Here `landmark` is the ambiguous verb.
    ("gs2012", [GS2012, "1 9 statistical table show express good result 6"],
     "show-v(good-a(result-n), statistical-a(table-n))", "express-v(good-a(result-n), statistical-a(table-n))", 6, "9",
     "show-v", ""),
    ("ks2014", ["annotator subject1 verb1 object1 subject2 verb2 object2 score",
                "a1 project present problem programme face difficulty 5"],
     "present-v(problem-n, project-n)", "face-v(difficulty-n, programme-n)", 5, "a1", "", ""),
    # As published in 2013: other columns before the sentences.
    ("ks2014", ["id annotator subject1 verb1 object1 subject2 verb2 object2 score",
                "7 a1 man shut door man close gate 6"],
     "shut-v(door-n, man-n)", "close-v(gate-n, man-n)", 6, "a1", "", ""),
    ("ml2010", ["participant20 adjectivenouns 1 vast amount large quantity 7"], "vast-a(amount-n)",
     "large-a(quantity-n)", 7, "participant20", "adjectivenouns", ""),
    # With names of columns, whatever they are; the object stands before its verb.
    ("ml2010", ["Who Type Group A B C D Sim", "p2 verbobjects 3 knowledge use influence exercise 5"],
     "use-v(knowledge-n)", "exercise-v(influence-n)", 5, "p2", "verbobjects", ""),
    ("ml2010", ["p2 compoundnouns 0 market leader party official 2"], "market-n(leader-n)", "party-n(official-n)", 2,
     "p2", "compoundnouns", ""),
    ("ellipsis", ["participant\tsent1\tsent2\tscore",
                  "p2\tman draw sword and artist does too\tman depict sword and artist does too\t3"],
     "and(draw-v(sword-n, man-n), draw-v(sword-n, artist-n))",
     "and(depict-v(sword-n, man-n), depict-v(sword-n, artist-n))", 3, "p2", "draw-v", ""),
    ("sick", ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment",
              "1\tA dog runs\tA cat runs\t3.5\tN"],
     "A dog runs", "A cat runs", 3.5, "", "", ""),
    ("simlex", ["word1\tword2\tPOS\tSimLex999\tconc(w1)", "old\tnew\tA\t1.58\t2.7"], "old-a", "new-a", 1.58,
     "", "a", ""),
    ("wordsim", ["Word 1,Word 2,Human (mean)", "love,sex,6.77"], "love-n", "sex-n", 6.77, "", "n", ""),
    ("wordsim", ["Word 1\tWord 2\tHuman (Mean)", "tiger\tcat\t7.35"], "tiger-n", "cat-n", 7.35, "", "n", ""),
    ("simverb", ["take\tremove\tV\t6.81\tSYNONYMS"], "take-v", "remove-v", 6.81, "", "v", ""),
    ("men", ["sun-n sunlight-n 50.000000"], "sun-n", "sunlight-n", 50, "", "n", ""),
    ("men", ["bright-j sun-n 40.0"], "bright-a", "sun-n", 40, "", "an", ""),
    ("relpron", ["OBJ garrison_N: organization_N that army_N install_V"], "install-v(organization-n, army-n)",
     "garrison-n", 1, "", "garrison-n", "obj"),
    ("relpron", ["SBJ telescope_N: device_N that detect_V planet_N"], "detect-v(planet-n, device-n)", "telescope-n", 1,
     "", "telescope-n", "sbj"),
    ("ratings", ["sentence1\tsentence2\tannotator\trating", "chase-v(cat-n, dog-n)\tdog-n\tann\t2"],
     "chase-v(cat-n, dog-n)", "dog-n", 2, "ann", "", ""),
    ("ratings", ["Rating\tSentence1\tSentence2\tgroup\tlabel", "2.5\tDogs bark\tbark-v(dog-n)\tbark\tHigh"],
     "Dogs bark", "bark-v(dog-n)", 2.5, "", "bark", "high"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "lines", "left", "right", "rating", "participant", "group", "label"), READ)
@pytest.mark.parametrize("ends", ["", "\r", "\r\r"], ids=["LF", "CRLF", "CRCRLF"])
def test_formats(form, lines, left, right, rating, participant, group, label, ends):
    contents = read_lines(["\ufeff" + lines[0] + ends, *(line + ends for line in lines[1:]), ends, ""])
    assert contents.format.name == form
    row = contents.rows[0]
    assert (str(row.item.left), str(row.item.right)) == (left, right)
    assert (row.rating, row.participant, row.item.group, row.item.label) == (rating, participant, group, label)


def test_every_format_is_tested():
    assert {form for form, *_ in READ} == {form.name for form in FORMATS} == {name for name, _ in iterate_formats()}


# lines, what the message says
BROKEN = [
    ([GS2011, "p1 provide family home supply 4 HIGH", "p1 provide family home"], ":3: expected 7 cells .*got 4"),
    ([GS2011, "p1 provide family home supply four HIGH"], ":2: expected a number as rating, got 'four'"),
    ([GS2011, "p1 provide family home supply nan HIGH"], ":2: expected a number"),
    ([GS2011, "p1 provide family home supply 4 HIGH extra"], ":2: expected 7 cells"),
    ([GS2011], "nothing below"),
    ([], "it is empty"),
    (["what is this"], ":1: not a benchmark that is known: the first line is 'what is this'"),
    (["participant\tsent1\tsent2\tscore", "p\tman draws\tman draws\t1"], ":2: expected a sentence such as"),
    (["sentence1\tsentence2\trating", "chase-v(cat-n\tdog-n\t1", "x(\ty\t1"], ":2: .*closing parenthesis"),
    (["sentence1\tsentence2\trating", "chase-v(,)\tdog-n\t1"], ":2: .*expected a word such as dog-n"),
    (["sentence1\tsentence2\trating", "\tdog-n\t1"], ":2: expected"),
    (["word1\tword2\tPOS\tSimLex999", "old\tnew\tX\t1.58"], ":2: expected a part of speech"),
    (["OBJ a_N: b_N that c_N d_V", "OBJ a_N: b_N which c_N d_V"], ":2: expected a line such as"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "message"), BROKEN)
def test_errors_name_file_and_line(lines, message, tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=message) as caught:
        Benchmark.load(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


LINE = st.text(st.sampled_from("ab-n1.5 \t,;()_:%\r\ufeffé"), max_size=40)
HEADS = [" ".join(form.columns) for form in FORMATS if form.columns]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["", *HEADS, *(head.replace(" ", "\t") for head in HEADS)]), st.lists(LINE, max_size=4))
def test_whatever_a_file_holds_is_read_or_refused(head, lines):
    try:
        benchmark = Benchmark.from_text("\n".join([head, *lines]))
    except InputError:
        return
    assert len(benchmark) > 0 and (benchmark.kind == "ranking" or np.isfinite(benchmark.ratings.rating).all())


def test_items_are_merged_and_ratings_kept(tmp_path):
    path = tmp_path / "twice.txt"
    lines = [GS2011, "p1 meet system criterion visit 1 LOW", "p2 meet system criterion visit 3 LOW",
             "p1 meet system criterion visit 2 HIGH", "p1 Meet system criterion satisfy 7 HIGH"]  # fmt: skip
    path.write_text("\n".join(lines))
    benchmark = Benchmark.load(path)
    assert len(benchmark) == 2 and len(benchmark.ratings) == 4 and benchmark.name == "twice"
    assert benchmark.ratings.means.tolist() == [2, 7]
    assert any("who had rated it before" in remark for remark in benchmark.remarks)
    assert benchmark.words == ("meet-v", "criterion-n", "system-n", "visit-v", "satisfy-v")
    assert benchmark.groups == ("meet-v",)
    table = benchmark.ratings.to_arrow()
    assert table.column("participant").to_pylist() == ["p1", "p2", "p1", "p1"]


def test_latin_1_is_read(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9-n tea-n 3.0\n")
    assert str(Benchmark.load(path).items[0].left) == "café-n"


def test_missing_files_and_names(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPOSITA_DATA_HOME", str(tmp_path))
    with pytest.raises(NotFoundError, match="there is no such file"):
        Benchmark.load(tmp_path / "nothing.txt")
    with pytest.raises(NotFoundError, match="there is no such file"):
        Benchmark.load("folder/nothing")
    with pytest.raises(NotFoundError, match="composita data fetch gs2011"):
        Benchmark.load("gs2011")
    with pytest.raises(UsageError, match="no benchmark is called 'gs2010'; did you mean"):
        Benchmark.load("gs2010")


def test_text_is_parsed_once_and_what_cannot_be_stays():
    lines = ["sentence1\tsentence2\trating", "Dogs bark\tCats bark\t1", "Dogs bark\tBark!\t2"]
    benchmark, asked = Benchmark.from_text("\n".join(lines)), []

    def read(text):
        asked.append(text)
        return None if text == "Bark!" else Phrase("bark-v", (Phrase(text.split()[0].lower()[:-1] + "-n"),))

    parsed = benchmark.parsed(read)
    assert benchmark.has_text and asked == ["Dogs bark", "Cats bark", "Bark!"]
    assert str(parsed.items[0].right) == "bark-v(cat-n)" and str(parsed.items[1].right) == "Bark!" and parsed.has_text


def test_selection_keeps_ratings_of_its_items():
    benchmark = Benchmark.from_text("\n".join(
        [ML2008, "p1 stray thought roam 7 low", "p2 stray thought roam 5 low", "p1 glow fire burn 6 high"]
    ))  # fmt: skip
    kept = benchmark.select(lambda item: item.label == "high")
    assert len(kept) == 1 and kept.ratings.means.tolist() == [6]
    with pytest.raises(UsageError, match="no item is left"):
        benchmark.select(lambda item: False)


def test_ellipsis():
    assert elliptic("Man draw sword and artist does too").arguments[1].arguments[1] == Phrase("artist-n")
    with pytest.raises(ValueError, match="expected a sentence such as"):
        elliptic("man draw sword")


# ------------------------------------------------------------ agreement


def test_agreement_by_hand():
    ratings = Ratings.of([(i, who, r) for who, values in (("a", [1, 2, 3, 4]), ("b", [1, 2, 4, 3]), ("c", [2, 2, 5, 6]))
                          for i, r in enumerate(values)])  # fmt: skip
    found = agreement(ratings)
    pairs = [
        spearman([1, 2, 3, 4], [1, 2, 4, 3]),
        spearman([1, 2, 3, 4], [2, 2, 5, 6]),
        spearman([1, 2, 4, 3], [2, 2, 5, 6]),
    ]
    assert found.pairwise == pytest.approx(np.mean(pairs)) and found.pairs == 3
    others = [
        spearman([1, 2, 3, 4], [3, 4, 9, 9]),
        spearman([1, 2, 4, 3], [3, 4, 8, 10]),
        spearman([2, 2, 5, 6], [2, 4, 7, 7]),
    ]
    assert found.leave_one_out == pytest.approx(np.mean(others))
    assert (found.participants, found.ratings, found.items) == (3, 12, 4)


def test_alpha_by_hand():
    # Two items rated (1, 2) and (3, 3): within 2 * 1 / 1 = 2 over ordered pairs of an item, divided by n - 1 = 1;
    # between all ordered pairs of 1 2 3 3: 2 * (1 + 4 + 4 + 1 + 1 + 0) = 22, over 3; alpha = 1 - 2 / (22 / 3).
    ratings = Ratings.of([(0, "a", 1), (0, "b", 2), (1, "a", 3), (1, "b", 3)])
    assert agreement(ratings).alpha == pytest.approx(1 - 2 / (22 / 3))


def test_agreement_where_there_is_none_to_measure():
    means = Ratings.of([(0, "", 1.0), (1, "", 2.0)])
    found = agreement(means)
    assert not means.individual and np.isnan([found.pairwise, found.alpha, found.ceiling, found.split_half]).all()
    few = agreement(Ratings.of([(i, who, i) for who in "ab" for i in range(FEWEST - 1)]))
    assert np.isnan(few.pairwise) and few.pairs == 0


# ------------------------------------------------------------ the published files


# file, name, items, ratings, annotators, pairwise, leave one out, ceiling
PUBLISHED = [
    ("GS2011data.txt", "gs2011", 199, 2500, 25, 0.60, 0.74, 0.764),
    ("ML2008.txt", "ml2008", 120, 3600, 60, 0.45, 0.66, 0.665),
    ("GS2012data.txt", "gs2012", 194, 9700, 50, None, None, None),
]


@pytest.mark.parametrize(("file", "name", "items", "ratings", "people", "pairwise", "others", "ceiling"), PUBLISHED)
def test_facts_about_published_files(file, name, items, ratings, people, pairwise, others, ceiling):
    benchmark = Benchmark.load(shared(f"benchmarks/{file}"))
    assert (benchmark.name, len(benchmark), len(benchmark.ratings)) == (name, items, ratings)
    assert len(benchmark.ratings.participants) == people
    if pairwise:
        found = agreement(benchmark.ratings)
        assert round(found.pairwise, 2) == pairwise and round(found.leave_one_out, 2) == others
        assert round(found.ceiling, 3) == ceiling


def test_oddities_of_gs2011():
    benchmark = Benchmark.load(shared("benchmarks/GS2011data.txt"))
    assert sorted(benchmark.ratings.rating.tolist())[:2] == [0, 1]
    counts = np.bincount(benchmark.ratings.participant)
    assert (counts == 100).all()
    assert any("1 rating of 0" in remark for remark in benchmark.remarks)
    assert any("'meet system criterion visit' occurs" in remark for remark in benchmark.remarks)
    # The paper prints 0.62; the formula without ties gives it.
    assert round(agreement(benchmark.ratings).pairwise_without_ties, 3) == 0.625


@pytest.mark.parametrize(("file", "items"), [("MEN_dataset_lemma_form_full", 3000), ("SimLex-999.txt", 999)])
def test_word_similarity(file, items):
    benchmark = Benchmark.load(shared(f"benchmarks/{file}"))
    assert len(benchmark) == items and not benchmark.ratings.individual and "means" in repr(benchmark)


def test_ml2008_with_plain_line_ends_is_the_same(tmp_path):
    path = tmp_path / "ML2008.txt"
    path.write_bytes(shared("benchmarks/ML2008.txt").read_bytes().replace(b"\r", b""))
    plain, published = Benchmark.load(path), Benchmark.load(shared("benchmarks/ML2008.txt"))
    assert plain.name == "ml2008" and plain.checksum != published.checksum
    assert plain.items == published.items
    for name in (field.name for field in dataclasses.fields(Ratings) if field.name not in ("participants", "items")):
        assert np.array_equal(getattr(plain.ratings, name), getattr(published.ratings, name))
