"""Types found by unification: the paper's, and what is said where they clash or stay open."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita import CompositaError, Grammar
from composita.grammar.inference import ClashError, Unifier
from composita.grammar.types import Arrow, Basic, Open, parse_type

PAPER = {
    "S": "S", "NP": "N", "N": "N", "ADJ": "N -> N", "VP": "N -> S", "Vi": "N -> S", "Vt": "N -> N -> S"
}  # fmt: skip


def test_types_of_the_paper():
    types = Grammar.load("paper").types()
    assert {category: str(kind) for category, kind in types.items()} == PAPER
    assert types.basic == ("S", "N")
    entries = {entry.category: entry for entry in Grammar.load("paper").types({"N": 300, "S": 100}).entries}
    assert (entries["Vt"].space, entries["Vt"].shape) == ("S⊗N⊗N", (100, 300, 300))
    assert (entries["ADJ"].space, entries["ADJ"].shape) == ("N⊗N", (300, 300))
    assert {c for c, e in entries.items() if e.lexical} == {"N", "ADJ", "Vt", "Vi"}


def test_rules_alone_are_enough():
    grammar = Grammar.parse(
        "S -> NP VP : VP(NP)\nNP -> ADJ NP : ADJ(NP)\nNP -> N : N\nVP -> Vt NP : Vt(NP)\nVP -> Vi : Vi"
    )
    assert {category: str(kind) for category, kind in grammar.types().items()} == PAPER


def test_types_of_the_english_fragment():
    types = Grammar.load("english").types()
    expected = {
        "Vd[f]": "N -> N -> N -> S", "Vt[f]": "N -> N -> S", "Vp[f]": "N -> N -> S", "Vi[f]": "N -> S",
        "Vs[f]": "N -> S", "ADV": "S", "ADJ": "N -> N", "N": "N", "GAP[f]": "N -> N -> S", "BYP": "N -> S", "RC": "N",
    }  # fmt: skip
    assert {category: str(types[category]) for category in expected} == expected
    assert types.basic == ("N", "S")


def test_several_noun_spaces():
    grammar = Grammar.parse(
        "basic PERSON, THING, S\nS -> NP VP : VP(NP)\nVP -> V OBJ : V(OBJ)\nNP -> PERSON : PERSON\nOBJ -> THING : THING"
    )
    types = grammar.types({"PERSON": 3, "THING": 4, "S": 2})
    assert str(types["V"]) == "THING -> PERSON -> S"
    assert {e.category: e.shape for e in types.entries}["V"] == (2, 3, 4)


def test_declared_types_and_functions_of_functions():
    grammar = Grammar.parse(
        "type ADV : (N -> S) -> N -> S\nS -> NP VP : VP(NP)\nVP -> VP ADV : ADV(VP)\nVP -> Vi : Vi\nNP -> N : N"
    )
    assert str(grammar.types()["ADV"]) == "(N -> S) -> N -> S"
    assert grammar.types()["Vi"] == parse_type("N -> S")


CLASHES = [
    # applied the wrong way round
    (
        "S -> NP VP : VP(NP)\nVP -> Vt NP : Vt(NP)\nS -> NP VP : NP(VP)",
        r"3: in S -> NP VP : NP\(VP\): cannot apply NP : NP to VP : NP -> S; did you mean VP\(NP\)\?",
    ),
    # one verb with and without an object
    (
        "basic N, S\nS -> NP VP : VP(NP)\nNP -> N : N\nVP -> V NP : V(NP)\nVP -> V : V",
        r"5: in VP -> V : V: the meaning is of type N -> N -> S, but VP of N -> S; line 4 made VP|an argument seems",
    ),
    (
        "basic N, S\nS -> NP VP : VP(NP)\nNP -> N : N\nVP -> N : N",
        r"the meaning is of type N, but VP of N -> S; .*too many",
    ),
    # an argument of another type, with where that was fixed
    (
        "basic N, S\nS -> NP VP : VP(NP)\nNP -> N : N\nVP -> Vs S : Vs(S)\nVP -> Vs NP : Vs(NP)",
        r"5: in VP -> Vs NP : Vs\(NP\): cannot apply Vs : S -> N -> S to NP : N; line 3 made NP N and line 4 made Vs",
    ),
    # itself
    ("S -> NP VP : VP(NP)\nX -> VP VP : VP_1(VP_1)\n", r"cannot apply VP_1 : .* to VP_1"),
    (r"S -> X : \x. x(x)", r"cannot apply x : a to x : a; nothing can be applied to itself"),
    # a function word
    (
        'S -> NP VP : VP(NP)\nVP -> V P NP : V(P)(NP)\nP -> "in"\nV -> <v>\nNP -> <n>',
        "V : word -> NP -> NP -> S is applied to a function word without a meaning",
    ),
    # coordination of functions
    (
        "basic N, S\nS -> NP VP : VP(NP)\nVP -> VP VP : and(VP_1, VP_2)\nNP -> N : N\nVP -> V : V",
        r"3: in VP -> .*: 'and' joins vectors, and N -> S is a type of functions; apply them first, as in .x. and",
    ),
    # open
    (
        "S -> NP VP : VP(NP)\nS -> A : A(\\x. x)",
        r"2: the type of A stays open: \(a -> a\) -> S; declare it above, as in: type A : \(",
    ),
    ("basic S\nS -> NP VP : VP(NP)", r"types stay open: NP : NP, VP : NP -> S; the basic types are S: add one"),
    # declarations against each other
    ("basic N, S\ntype N : S -> S\nS -> N : N", "N is declared both basic and S -> S"),
    ("basic N, S\ntype V : N -> M\nS -> N V : V(N)", "2: M is no basic type of the grammar"),
]


@pytest.mark.parametrize(("text", "reason"), CLASHES)
def test_clashes_name_the_rule_both_types_and_a_hint(text, reason):
    with pytest.raises(CompositaError, match=reason):
        Grammar.parse(text)


def test_dimensions_of_unknown_types():
    with pytest.raises(CompositaError, match="'M' is no basic type of the grammar: expected S, N"):
        Grammar.load("paper").types({"M": 3})
    with pytest.raises(CompositaError, match="no dimension is given for the basic type S"):
        Grammar.load("paper").types({"N": 3})
    with pytest.raises(KeyError, match="no category 'VT'"):
        Grammar.load("paper").types()["VT"]


# ---------------------------------------------------------------- unification by itself

types = st.recursive(
    st.sampled_from([Basic("N"), Basic("S"), *map(Open, range(4))]),
    lambda inner: st.builds(Arrow, inner, inner),
    max_leaves=6,
)


def put(kind, values):
    if isinstance(kind, Open):
        return values[kind.number]
    return Arrow(put(kind.argument, values), put(kind.result, values)) if isinstance(kind, Arrow) else kind


@given(types, types)
def test_unified_types_are_equal(one, other):
    unifier = Unifier()
    possible = unifier.can(one, other)
    assert possible == unifier.can(other, one)
    assert not unifier.known
    if not possible:
        with pytest.raises(ClashError):
            unifier.unify(one, other)
        return
    unifier.unify(one, other)
    assert unifier.resolve(one) == unifier.resolve(other)
    assert unifier.resolve(unifier.resolve(one)) == unifier.resolve(one)


closed = st.recursive(
    st.sampled_from([Basic("N"), Basic("S")]), lambda inner: st.builds(Arrow, inner, inner), max_leaves=3
)


@settings(max_examples=50)
@given(types, st.lists(closed, min_size=4, max_size=4))
def test_types_with_a_common_instance_unify_and_no_more_than_needed_is_fixed(kind, values):
    instance = put(kind, values)
    unifier = Unifier()
    unifier.unify(kind, instance)
    assert unifier.resolve(kind) == instance
