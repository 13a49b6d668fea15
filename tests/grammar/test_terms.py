"""Terms: the laws of substitution and reduction, and what terms are in numbers."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from composita import CompositaError
from composita.grammar.evaluation import evaluate
from composita.grammar.terms import App, Const, Lam, Var, apply, parse_term, reduce, same, spine, substitute
from composita.grammar.types import Arrow
from tests.grammar.typed_terms import CONSTANTS, TYPES, N, innermost, nameless, terms

open_terms = terms(N, (("x", N), ("y", N)), 3)


@given(terms())
def test_what_is_written_is_read(term):
    assert nameless(parse_term(str(term))) == nameless(term)


@settings(max_examples=60)
@given(st.sampled_from(TYPES).flatmap(terms))
def test_reduction_ends_in_the_same_term_by_any_way(term):
    normal = reduce(term)
    assert nameless(normal) == innermost(nameless(term))
    assert same(reduce(normal), normal)
    assert normal.free == term.free == frozenset()


@given(terms(N, (("x", N),), 3), terms())
def test_applying_is_substituting(body, value):
    assert same(reduce(App(Lam("x", body), value)), reduce(substitute(body, {"x": value})))


@given(open_terms, open_terms, terms(N, (("y", N),), 2))
def test_the_law_of_substitution(term, one, other):
    assume("x" not in other.free)
    left = substitute(substitute(term, {"x": one}), {"y": other})
    right = substitute(substitute(term, {"y": other}), {"x": substitute(one, {"y": other})})
    assert same(left, right)


@given(open_terms)
def test_substituting_a_variable_for_itself_changes_nothing(term):
    assert same(substitute(term, {"x": Var("x"), "y": Var("y")}), term)


@given(open_terms)
def test_substitution_is_at_once(term):
    swapped = substitute(term, {"x": Var("y"), "y": Var("x")})
    assert same(substitute(swapped, {"x": Var("y"), "y": Var("x")}), term)


@given(terms())
def test_names_of_bound_variables_do_not_matter(term):
    def renamed(t, depth=0):
        if isinstance(t, Lam):
            name = f"v{depth}"
            return Lam(name, renamed(substitute(t.body, {t.name: Var(name)}), depth + 1))
        return App(renamed(t.function, depth), renamed(t.argument, depth)) if isinstance(t, App) else t

    assert same(renamed(term), term)
    assert same(reduce(renamed(term)), reduce(term))


def test_what_is_not_the_same():
    for one, other in ((r"\x y. x(y)", r"\x y. y(x)"), (r"\x. y", r"\y. y"), (r"\x. x", r"\x. y"), ("a", "b")):
        assert not same(parse_term(one), parse_term(other))
        assert not same(parse_term(other), parse_term(one))


def test_capture_is_avoided():
    assert str(substitute(parse_term(r"\x. f(x)(y)"), {"y": Var("x")})) == "λx1. f(x1)(x)"
    assert str(reduce(parse_term(r"(\x y. x)(y)"))) == "λy1. y"


# ---------------------------------------------------------------- values


def tensors(seed=0):
    random = np.random.default_rng(seed)
    return {name: random.normal(size=(3,) * str(kind).count("N")) for name, kind in CONSTANTS.items()}


VALUES = tensors()


def contract(word, arguments):
    value = VALUES[word.name]
    for argument in arguments:
        if callable(argument):  # a function of vectors as a matrix: what it makes of the basis
            argument = np.stack([argument(row) for row in np.eye(3)], axis=-1)
        value = np.tensordot(value, argument, argument.ndim)
    return value


@settings(max_examples=60)
@given(terms())
def test_reduction_keeps_the_value(term):
    # Functions of the random terms are linear only in what they use once: compare where the value is a vector.
    if "let-v" in str(term):
        return
    np.testing.assert_allclose(evaluate(term, contract), evaluate(reduce(term), contract), atol=1e-9)


@given(terms(Arrow(N, N)), terms())
def test_currying(function, argument):
    if "let-v" in str(App(function, argument)):
        return
    value = evaluate(argument, contract)
    np.testing.assert_allclose(evaluate(function, contract)(value), evaluate(App(function, argument), contract))


def test_missing_arguments_are_waited_for():
    chase = Const("chase-v", CONSTANTS["chase-v"])
    partly = evaluate(App(chase, Const("cat-n", N)), contract)
    whole = evaluate(apply(chase, Const("cat-n", N), Const("dog-n", N)), contract)
    np.testing.assert_allclose(partly(VALUES["dog-n"]), whole)
    np.testing.assert_allclose(evaluate(chase, contract)(VALUES["cat-n"])(VALUES["dog-n"]), whole)


def test_coordination_in_numbers():
    def unit(v):
        return v / np.linalg.norm(v)

    dog, cat = VALUES["dog-n"], VALUES["cat-n"]
    expected = unit(unit(dog) + unit(cat) + unit(cat))
    nested = parse_term("and(dog-n, and(cat-n, cat-n))")
    np.testing.assert_allclose(evaluate(nested, contract), expected)
    np.testing.assert_allclose(evaluate(parse_term("and(and(dog-n, cat-n), cat-n)"), contract), expected)
    curried = evaluate(parse_term(r"and(dog-n)"), contract)
    np.testing.assert_allclose(curried(cat), unit(unit(dog) + unit(cat)))
    np.testing.assert_allclose(evaluate(Const("and"), contract)(dog)(cat), unit(unit(dog) + unit(cat)))
    batch = {"dog-n": np.stack([dog, cat, 0 * dog]), "cat-n": np.stack([cat, cat, 0 * dog])}
    together = evaluate(parse_term("that(dog-n, cat-n)"), lambda word, _: batch[word.name])
    np.testing.assert_allclose(together, [unit(unit(dog) + unit(cat)), unit(cat), 0 * dog])


def test_spaces_that_do_not_fit():
    sizes = {"dog-n": np.ones(3), "bark-v": np.ones(2)}
    with pytest.raises(CompositaError, match="cannot add vectors of 2 and 3 dimensions"):
        evaluate(parse_term("that(dog-n, bark-v)"), lambda word, _: sizes[word.name])


def test_wrong_terms():
    with pytest.raises(CompositaError, match="the variable x stands for nothing"):
        evaluate(parse_term("f-v(x)"), contract)
    with pytest.raises(CompositaError, match="applied to 2 arguments, but its type N -> N takes 1"):
        evaluate(apply(Const("old-a", CONSTANTS["old-a"]), Const("dog-n", N), Const("cat-n", N)), contract)
    with pytest.raises(CompositaError, match="join needs a word and a preposition"):
        evaluate(parse_term("join(live-v)(x-n)(y-n)"), contract)


# ---------------------------------------------------------------- limits


def test_terms_without_an_end_are_stopped():
    omega = parse_term(r"(\x. x(x))(\x. x(x))")
    with pytest.raises(CompositaError, match="a meaning grows too large"):
        reduce(omega)
    with pytest.raises(CompositaError, match="a meaning (grows too large|is nested too deeply)"):
        reduce(parse_term(r"(\x. x(x)(x))(\x. x(x)(x))"))


def test_deep_terms_are_refused():
    with pytest.raises(CompositaError, match="at most 100 levels"):
        parse_term("f(" * 500 + "x" + ")" * 500)
    deep = Const("dog-n", N)
    for _ in range(5000):
        deep = App(Const("old-a", CONSTANTS["old-a"]), deep)
    with pytest.raises(CompositaError, match="nested too deeply"):
        evaluate(deep, contract)
    with pytest.raises(CompositaError, match="nested too deeply"):
        reduce(deep)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a meaning such as"),
        (r"\. x", "expected a variable such as x"),
        (r"\x x", "expected a full stop behind the variable"),
        ("f(x", "column 4: expected a closing parenthesis"),
        ("f(x))", "column 5: expected the end"),
        ("f()", "column 3: expected a meaning"),
        ("f(x)(", "expected a meaning"),
        ("f $ x", r"column 3: expected a name, found '\$'"),
    ],
)
def test_broken_text_is_refused(text, reason):
    with pytest.raises(CompositaError, match=reason):
        parse_term(text)


def test_verbs_and_prepositions_are_joined():
    assert str(reduce(parse_term(r"(\v p x. join(v)(p)(x))(live-v)"))) == "λp x. join(live-v)(p)(x)"
    joined = reduce(App(App(Const("join"), Const("live-v")), Const("in")))
    assert joined == Const("live_in-v")
    assert spine(parse_term("f(a, b)(c)"))[1] == (Var("a"), Var("b"), Var("c"))
