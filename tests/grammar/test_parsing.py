"""Parsing: all derivations, as a slow enumeration finds them; their order; and how far it got."""

import itertools
import time

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from composita import CompositaError, Grammar
from composita.grammar import parsing
from composita.grammar.forms import Forms
from composita.grammar.rules import Category

# ---------------------------------------------------------------- against an enumeration

symbols = st.sampled_from(["A", "B", "C", '"a"', '"b"'])
random_rules = st.lists(
    st.tuples(st.sampled_from("ABC"), st.lists(symbols, min_size=1, max_size=3)), min_size=2, max_size=7
)


def grammar_of(rules):
    """A grammar of word rules for all categories, and of random rules; meanings do not matter here."""
    lines = ['A -> "a" : a-n', 'B -> "b" : b-n', 'C -> "a" "b" : c-n']
    lines += [f"{left} -> {' '.join(right)} : x-n" for left, right in rules]
    return Grammar.parse("start A, B\nbasic N\ntype A : N\ntype B : N\ntype C : N\n" + "\n".join(lines))


def enumerate_all(rules, category, words):
    """Give all derivations of words, as nested tuples of rule numbers: try every rule and every way to divide."""
    found = []
    for number, rule in enumerate(rules):
        if rule.left == category:
            found += [(number, parts) for parts in divide(rules, rule.right, words)]
    return found


def divide(rules, right, words):
    if not right:
        return [()] if not words else []
    found = []
    for size in range(1, len(words) - len(right) + 2):
        first = right[0]
        if isinstance(first, Category):
            if size == len(words) and len(right) == 1:
                heads = enumerate_all(rules, first.name, words)
            else:
                heads = enumerate_all(rules, first.name, words[:size])
        else:
            heads = [first.form] if words[:size] == (first.form,) else []
        if heads:
            found += [(head, *rest) for head in heads for rest in divide(rules, right[1:], words[size:])]
    return found


def shape(made, words):
    return (made.rule, tuple(words[p.place] if isinstance(p, parsing.Leaf) else shape(p, words) for p in made.parts))


@settings(max_examples=40, deadline=None)
@given(random_rules)
def test_derivations_are_those_of_an_enumeration(rules):
    try:
        grammar = grammar_of(rules)
    except CompositaError:
        assume(False)  # a circle of units
    for size in range(1, 5):
        for words in itertools.product("ab", repeat=size):
            for category in "AB":
                expected = enumerate_all(grammar.rules, category, words)
                try:
                    found = parsing.parse(grammar._compiled, words, Forms(), [category], 10_000)
                except CompositaError:
                    assert not expected
                    continue
                shapes = [shape(made, words) for made in found.derivations]
                assert sorted(map(str, shapes)) == sorted(map(str, expected))
                assert found.number == len(expected)
                costs = [made.cost for made in found.derivations]
                assert costs == sorted(costs)
                few = parsing.parse(grammar._compiled, words, Forms(), [category], 3)
                assert [made.cost for made in few.derivations] == costs[:3]
                assert few.number == len(expected)


def test_many_derivations_are_counted_and_not_written_out():
    grammar = Grammar.parse('start N\nN -> "a" : a-n\nN -> N N : and(N_1, N_2)')
    start = time.process_time()
    found = parsing.parse(grammar._compiled, ["a"] * 40, Forms(), ["N"], 20)
    assert found.number == 680425371729975800390  # the 39th Catalan number
    assert len(found.derivations) == 20
    assert time.process_time() - start < 5
    assert len(grammar.derivations("a " * 12, most=7)) == 7


# ---------------------------------------------------------------- words

TABLE = pa.table(
    {
        "form": ["dogs", "saw", "saw", "saws", "cats", "that", "dogs"],
        "label": ["dog-n", "see-v", "saw-n", "saw-n", "cat-n", "that-n", "dog-v"],
        "count": [999, 90, 10, 5, 50, 5, 1],
    }
)


def test_the_likelier_word_comes_first():
    grammar = Grammar.parse(
        "start N, V\nX -> N : N\nN -> <n>\nV -> <v>\nNP -> V : V\nNP -> N : N".replace("X -> N : N\n", "")
    )
    forms = Forms(TABLE)
    (saw,) = grammar.derivations("saw", forms)
    assert (str(saw.term), saw.likelihood) == ("saw-n", pytest.approx(0.1))
    both = grammar.derivations("saw", forms, start="NP")
    assert [str(d.term) for d in both] == ["see-v", "saw-n"]
    known = grammar.derivations("saw", forms, start="NP", known=lambda word: word.name == "saw-n")
    assert [str(d.term) for d in known] == ["saw-n", "see-v"]


def test_rare_readings_are_left_out():
    forms = Forms(TABLE)
    assert [r.label for r in forms.find("dogs")] == ["dog-n"]
    assert [r.label for r in Forms(TABLE, least=0).find("dogs")] == ["dog-n", "dog-v"]


def test_words_that_are_mostly_something_else():
    table = TABLE.append_column("tokens", pa.array([1001, 100, 100, 5, 50, 5000, 1001]))
    assert Forms(table).find("saw")[0].share == pytest.approx(0.9)
    assert Forms(table).find("that") == []
    with pytest.raises(CompositaError, match="word 2: the grammar has no place for 'that'"):
        Grammar.load("paper").derivations("dogs that", table)


def test_kinds_of_forms():
    paper = Grammar.load("paper")
    for forms in (
        Forms(TABLE),
        TABLE,
        {"dogs": "dog-n", "saw": ["see-v", "saw-n"], "Cats": "cat-n"},
        Forms(None, ["dog-n", "cat-n", "see-v"]),
        ["dog-n", "cat-n", "see-v"],
    ):
        by_lemma = forms is not TABLE and not isinstance(forms, dict) and "dogs" not in Forms.of(forms)
        sentence = "dog see cat" if by_lemma else "Dogs saw cats!"
        assert str(paper.derivations(sentence, forms)[0].phrase) == "see-v(cat-n, dog-n)"
    assert str(paper.derivations(["dog-n", "see-v", "cat-n"])[0].phrase) == "see-v(cat-n, dog-n)"
    assert str(paper.derivations("dog-n see-v cat-n")[0].phrase) == "see-v(cat-n, dog-n)"
    # A lemma of the lexicon that has no form in the table is its own form.
    assert Forms(TABLE, ["mouse-n", "dog-n"]).find("mouse")[0].label == "mouse-n"
    assert Forms(TABLE, ["mouse-n", "dog-n"]).find("dog") == []


def test_sentences_are_split():
    assert parsing.split_words("The dogs, which bark, chase O'Neill's e-mail...") == [
        "The", "dogs", ",", "which", "bark", ",", "chase", "O'Neill's", "e-mail"
    ]  # fmt: skip
    assert parsing.split_words("Don’t  go!") == ["Don't", "go"]
    assert parsing.split_words("cafe\u0301") == ["café"]
    assert parsing.split_words("give_up-v hope-n") == ["give_up-v", "hope-n"]
    assert parsing.split_words(" . ") == []


# ---------------------------------------------------------------- what is no sentence


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("", "expected a sentence, got no words"),
        ("...", "expected a sentence, got no words"),
        ("dogs saw cats?", "questions have no meaning here"),
        ("doggs saw cats", r"word 1: 'doggs' is unknown; did you mean dogs\?"),
        ("doggs saw catts", "word 1: 'doggs' is unknown; .*; word 3: 'catts' is unknown; did you mean cats"),
        ("saw dogs", r"behind 'saw' found 'dogs' .word 2., expected a verb \(Vt Vi\)"),
        ("dogs saw cats saw", "behind 'dogs saw cats' found 'saw' .word 4., expected the end"),
        ("dogs, cats", "word 2: the grammar has no place for ','"),
        ("狗 追 猫", "word 1: '狗' is unknown"),
        ("собаки \u202e видят", "unknown"),
        ("dogs " * 201, "expected at most 200 words, got 201"),
        ("dogs " * 500, "expected at most 200 words, got 500"),
    ],
)
def test_what_is_no_sentence_is_explained(sentence, reason):
    with pytest.raises(CompositaError, match=reason) as caught:
        Grammar.load("paper").derivations(sentence, TABLE)
    assert len(str(caught.value)) < 400
    assert caught.value.exit_code == 2


def test_what_could_have_come_is_said_in_words():
    """Categories of a class are named together, without their features; words of the grammar stand as they are."""
    english = Grammar.load("english")
    words = {"dogs": "dog-n", "cats": "cat-n", "chase": "chase-v"}
    with pytest.raises(CompositaError, match=r"the end came too soon, expected .*a noun or pronoun \(N\)") as caught:
        english.derivations("dogs chase cats and the", words)
    assert "an adjective (ADJ)" in str(caught.value)
    with pytest.raises(CompositaError, match=r"expected a verb \(Vt Vi\), \"is\""):
        Grammar.parse(
            "S -> NP VP : VP(NP)\nNP -> N : N\nN -> <n p>\nVP -> Vt NP : Vt(NP)\nVP -> Vi : Vi\nVP -> IS VP : VP\n"
            'Vt -> <v>\nVi -> <v>\nIS -> "is"'
        ).derivations("dogs cats", words)


def test_names_are_rare_in_small_letters():
    """*Queens* is the name where it is written so, and otherwise more than one queen."""
    table = pa.table({"form": ["queens", "queens"], "label": ["queens-n", "queen-n"], "count": [60, 40]})
    grammar, forms = Grammar.parse("start N\nN -> <n>"), Forms(table, names=["queens-n"])
    named, several = (grammar.derivations(word, forms) for word in ("Queens", "queens"))
    assert [str(d.term) for d in named] == ["queens-n", "queen-n"]
    assert [str(d.term) for d in several] == ["queen-n", "queens-n"]
    assert several[1].likelihood == pytest.approx(0.6 / parsing.RARELY)
    assert several[0].words == ("queens",)


def test_words_of_the_grammar_are_rarely_of_the_lexicon():
    """*The cats like dogs*: *like* is a preposition of the fragment, but it may be a verb."""
    words = {"cats": "cat-n", "dogs": "dog-n", "like": "like-v"}
    assert str(Grammar.load("english").derivations("cats like dogs", words)[0].term) == "like-v(dog-n)(cat-n)"
    grammar = Grammar.parse('start X, Y\nX -> "a" : a-n\nX -> N : N\nY -> N : N\nN -> <n>')
    found = grammar.derivations("a", {"a": "a-n"})
    assert [d.likelihood for d in found] == [1, pytest.approx(1 / parsing.RARELY)]


def test_derivations_that_can_be_worked_out_come_first():
    grammar = Grammar.parse("start S\nS -> NP VP : VP(NP)\nNP -> N : N\nN -> <n>\nVP -> <v>")
    table = pa.table({"form": ["a", "a", "b"], "label": ["a-n", "x-n", "b-v"], "count": [90, 10, 1]})
    far = pa.table({"form": ["a", "a", "b"], "label": ["a-n", "x-n", "b-v"], "count": [10_000, 90, 1]})
    for forms, first in ((table, "x-n"), (far, "a-n")):  # but what is a hundred times less likely stays behind
        found = grammar.derivations("a b", Forms(forms, least=0), known=lambda word: word.name != "a-n")
        assert str(found[0].phrase) == f"b-v({first})"


def test_without_forms():
    with pytest.raises(CompositaError, match="no word forms are known: give the forms of a corpus"):
        Grammar.load("paper").derivations("dogs saw cats")
    grammar = Grammar.parse('S -> NP VP : VP(NP)\nNP -> "dogs" : dog-n\nVP -> "bark" : bark-v')
    assert str(grammar.derivations("dogs bark")[0].phrase) == "bark-v(dog-n)"
    with pytest.raises(CompositaError, match=r"'dog' is unknown; did you mean dogs\?"):
        grammar.derivations("dog bark")


def test_wrong_calls():
    paper = Grammar.load("paper")
    with pytest.raises(CompositaError, match="'VPP' is no category of the grammar; did you mean VP"):
        paper.derivations("dogs saw cats", TABLE, start="VPP")
    with pytest.raises(CompositaError, match="at least 1 derivation"):
        paper.derivations("dogs saw cats", TABLE, most=0)
    (phrase,) = paper.derivations("saw cats", TABLE, start="VP")
    assert (str(phrase.term), phrase.phrase) == ("see-v(cat-n)", None)


def test_long_and_ambiguous_sentences_are_bounded():
    english = Grammar.load("english")
    words = {"dogs": "dog-n", "say": "say-v", "old": "old-a", "see": ["see-v", "see-n"], "run": ["run-v", "run-n"]}
    sentences = [
        "dogs " + "and dogs " * 98 + "run",
        "dogs say " * 40 + "dogs run",
        ("old " * 150) + "dogs run",
        "dogs see run " * 30,
        "dogs " + "that see dogs " * 25 + "run",
    ]
    for sentence in sentences:
        start = time.process_time()
        said = ""
        try:
            found = english.derivations(sentence, words, most=5)
            assert str(found[0].phrase)
        except CompositaError as error:
            said = str(error)
        endings = ("too ambiguous", "too deeply", "too large", "is no S", "is refused")
        assert not said or any(part in said for part in endings)
        assert len(said) < 400
        assert time.process_time() - start < 20


def test_ten_words_are_parsed_quickly():
    english = Grammar.load("english")
    words = {
        "old": "old-a", "young": "young-a", "men": "man-n", "women": "woman-n", "see": ["see-v", "see-n"],
        "sing": "sing-v", "songs": "song-n", "books": ["book-n", "book-v"], "write": "write-v",
    }  # fmt: skip
    sentence = "old men that see young women who sing songs write books"
    best = 1.0
    english.derivations(sentence, words)
    for _ in range(5):
        start = time.process_time()
        assert english.derivations(sentence, words)
        best = min(best, time.process_time() - start)
    assert best < 0.05
