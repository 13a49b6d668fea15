"""Texts of grammars: what they say, and what is wrong with them."""

import pytest

from composita import CompositaError, Grammar
from composita.grammar.reading import read_grammar
from composita.grammar.rules import Category, Word, WordClass


def test_rules_and_meanings():
    text = read_grammar(
        """
        # a comment
start S, NP
S  -> NP VP : VP(NP)   # another
VP -> Vd NP NP : Vd(NP_2)(NP_1)
"""
    )
    assert [str(rule) for rule in text.rules] == ["S -> NP VP : VP(NP)", "VP -> Vd NP NP : Vd(NP_2)(NP_1)"]
    assert text.rules[1].names == ("Vd", "NP_1", "NP_2")
    assert text.rules[1].line == 5
    assert text.start == ["S", "NP"]


def test_alternatives_words_and_classes():
    text = read_grammar('N -> <n p !who !whom>\nP -> "in" | "in" "front" "of"\nV -> <v !*ing>\nA -> <a *er *est>')
    assert [rule.right for rule in text.rules] == [
        (WordClass(("n", "p"), ("who", "whom"), fits=False),),
        (Word("in"),),
        (Word("in"), Word("front"), Word("of")),
        (WordClass(("v",), ("*ing",), fits=False),),
        (WordClass(("a",), ("*er", "*est")),),
    ]
    assert str(text.rules[2].meaning) == "in_front_of"
    assert [str(text.rules[n]) for n in (0, 3, 4)] == ["N -> <n p !who !whom>", "V -> <v !*ing>", "A -> <a *er *est>"]


def test_what_a_class_admits():
    who = WordClass(("n", "p"), ("who", "whom"), fits=False)
    assert [who.admits(*word) for word in (("who", "who-p"), ("dogs", "dog-n"), ("runs", "run-v"))] == [0, 1, 0]
    degrees = WordClass(("a",), ("*er", "*est"))
    assert [degrees.admits(*word) for word in (("older", "old-a"), ("oldest", "old-a"), ("old", "old-a"))] == [1, 1, 0]
    assert not degrees.admits("clever", "clever-a")  # the lemma itself is not inflected
    bare = WordClass(("v",), ("*ing", "*ed"), fits=False)
    assert [bare.admits(*word) for word in (("sings", "sing-v"), ("sing", "sing-v"), ("asked", "ask-v"))] == [1, 1, 0]


def test_constructions_can_be_refused():
    text = read_grammar(
        'feature f : fin, ing\nVP[f] -> V[f] NP : V(NP)\nrefuse VP[f] -> V[f] V[ing] | V[f] "that" NP : "why not"'
    )
    rules = [refusal.rule for refusal in text.refusals]
    assert [(rule.left, *map(str, rule.right)) for rule in rules] == [
        ("VP[fin]", "V[fin]", "V[ing]"), ("VP[ing]", "V[ing]", "V[ing]"),
        ("VP[fin]", "V[fin]", '"that"', "NP"), ("VP[ing]", "V[ing]", '"that"', "NP"),
    ]  # fmt: skip
    assert {refusal.reason for refusal in text.refusals} == {"why not"}
    assert not any(refusal.covers("that") for refusal in text.refusals)


def test_lines_that_go_on_and_line_ends():
    text = read_grammar('DET -> "a"\r\n  | "the"\r\n\r\nrefuse "no",\r\n\t"not"\r\n  : "why"\r\n')
    assert [str(rule.right[0]) for rule in text.rules] == ['"a"', '"the"']
    assert text.refusals[0].forms == ("no", "not")


def test_features_make_rules():
    text = read_grammar("feature f : fin, ing\nVP[f] -> V[f] NP : V(NP)\nVP[fin] -> BE VP[ing] : VP")
    assert [(rule.left, rule.right[0].name) for rule in text.rules] == [
        ("VP[fin]", "V[fin]"), ("VP[ing]", "V[ing]"), ("VP[fin]", "BE")
    ]  # fmt: skip
    assert text.rules[0].right[1] == Category("NP")


def test_words_of_the_format_can_be_categories():
    text = read_grammar("start -> type : type\ntype -> basic : basic")
    assert [rule.left for rule in text.rules] == ["start", "type"]


WRONG = [
    # signs
    ("S -> NP VP : VP(NP", "1: column 19: expected a closing parenthesis, found the end of the line"),
    ("S -> NP ; VP", "1: column 9: expected a name, found ';'"),
    ('S -> "a NP', r'1: column 6: expected a name, found \'"\', which is never closed: a word is written "the"'),
    ("S -> <n NP", "column 6: .* never closed: a class of words is written <n>"),
    ("S NP VP : VP(NP)", "1: column 3: expected '->' behind the category, found 'NP'"),
    ("\n\nS ->", "3: column 5: expected a symbol such as NP, found 'the end of the line': a rule cannot be empty"),
    ("S -> : x", "a rule cannot be empty"),
    ("S -> NP | : NP", "a rule cannot be empty"),
    ('"a" -> N : N', "expected a category on the left"),
    ("S -> NP VP", r"1: column 11: expected ':' and the meaning, such as : VP\(NP\)"),
    ("S -> NP", "the meaning, such as : NP"),
    ("S -> NP : ", "expected a meaning such as VP"),
    ("S -> NP : NP NP", "column 14: expected the end of the line, found 'NP'"),
    ("S -> NP = NP", "found '='"),
    ("S -> " + "NP " * 20 + ": NP", "expected at most 12 symbols, got 20"),
    ('S -> "a b" : NP', "expected one word in quotes"),
    ('S -> "" : NP', "expected one word in quotes"),
    # meanings
    ("S -> NP VP : VP(NPP)", "1: column 17: 'NPP' is unknown in this meaning; did you mean NP"),
    ("S -> NP VP : foo(NP)", "'foo' is unknown in this meaning: expected one of NP, VP, and, that, join, or a word"),
    ("VP -> Vd NP NP : Vd(NP)", "column 21: 'NP' is unknown in this meaning; say which: NP_1 or NP_2"),
    ("VP -> Vd NP_1 NP_1 : Vd(NP_1)", "column 15: two parts are called NP_1"),
    (r"VP -> V : \x V(x)", "expected a full stop"),
    ("N -> <n> : cat-n", "the meaning of <n> is the word itself"),
    ("N -> <n> N : N", "expected <n> alone: write a rule V -> <n>"),
    ("N -> <x>", "expected letters of n v a r p"),
    ("N -> <>", "expected letters of n v a r p"),
    ("N -> <n *a !*b>", "expected letters of n v a r p and perhaps forms such as"),
    ("N -> <n who>", "expected letters of n v a r p"),
    # directives
    ("start S,", "expected a category such as S, found the end"),
    ("start X\nS -> N : N\nN -> <n>", "start X: there is no such category"),
    ("type X : N\nS -> N : N\nN -> <n>", "type X: there is no such category"),
    ("type S N", "expected ':' and a type"),
    ("type S : N\ntype S : N", "2: column 6: the type of S is declared twice"),
    ("feature f fin", "expected ':' and the values"),
    ("feature f : a\nfeature f : b", "the feature f is declared twice"),
    ("feature f : fin, ing\nVP[finn] -> N : N", "'finn' is no feature; did you mean fin"),
    ("VP[x] -> N : N", r"'x' is no feature; declare it above: feature f : x"),
    ('refuse no : "why"', "1: column 8: expected a word in quotes such as \"no\", or a construction .*, found 'no'"),
    ('refuse no', "expected a word in quotes such as"),
    ('S -> N : N\nrefuse S -> N : "why"', "2: column 8: expected a construction of two parts or more"),
    ('S -> N : N\nrefuse S -> N N', "expected ':' and the reason in quotes"),
    ('S -> N : N\nN -> <n>\nrefuse S -> M N : "why"', "grammar:3: refuse .*: no rule makes M"),
    ('S -> N : N\nN -> <n>\nrefuse NN -> N N : "why"', "no rule makes NN"),
    ('refuse "no"', "expected ':' and the reason in quotes"),
    ('refuse "no" : because', "expected the reason in quotes"),
    ("# nothing", "no rules in it: expected lines such as"),
    ("", "no rules in it"),
    # rules together
    ("S -> NPP VP : VP(NPP)\nVP -> <v>\nNP -> <n>", "1: NPP is used, but no rule makes it; did you mean NP"),
    ("S -> X VP : VP(X)\nVP -> <v>", "X is used, but no rule makes it; if it is a class of words, add e.g. X -> <n>"),
    ("S -> NP : NP\nNP -> N : N\nN -> NP : NP", "3: the rules NP -> N -> NP lead in a circle"),
    ("S -> S : S", "the rules S -> S lead in a circle"),
    ("S -> NP S : S\nNP -> <n>", "S never comes down to words"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), WRONG)
def test_wrong_texts_are_refused_with_line_and_column(text, reason):
    with pytest.raises(CompositaError, match=reason) as caught:
        Grammar.parse(text, "my.grammar")
    assert str(caught.value).startswith("my.grammar")
    assert "\n" not in str(caught.value)


def test_left_recursion_is_legal():
    grammar = Grammar.parse('start NP\nNP -> NP "and" N : and(NP, N)\nNP -> N : N\nN -> <n>')
    (found,) = grammar.derivations("dog and cat and bird", ["dog-n", "cat-n", "bird-n"])
    assert str(found.phrase) == "and(dog-n, cat-n, bird-n)"


def test_files(tmp_path):
    path = tmp_path / "own.grammar"
    path.write_text("\ufeffS -> NP VP : VP(NP)\n", encoding="utf-8")
    assert Grammar.load(path).start == ("S",)
    assert Grammar.load(str(path)).name == str(path)
    path.write_bytes(b"S -> N\xe9 : N\xe9")
    with pytest.raises(CompositaError, match="own.grammar: expected UTF-8, found the byte 0xe9"):
        Grammar.load(path)
    path.write_text("S -> NP VP : VP(NX)")
    with pytest.raises(CompositaError, match=r"own.grammar:1: column 17: 'NX'"):
        Grammar.load(path)
    path.write_text("# much\n" * 200_000)
    with pytest.raises(CompositaError, match="at most 1,000,000 bytes"):
        Grammar.load(path)
    with pytest.raises(CompositaError, match="no grammar 'englisch'; did you mean english"):
        Grammar.load("englisch")
    with pytest.raises(CompositaError, match="cannot read"):
        Grammar.load(tmp_path)


def test_many_rules_are_refused():
    with pytest.raises(CompositaError, match="at most 5,000 rules"):
        Grammar.parse("\n".join(f"S -> N{i} : N{i}" for i in range(6000)))
