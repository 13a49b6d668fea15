"""Derivations: the paper's sentence in numbers, and the ways in which a derivation is written and drawn."""

from itertools import pairwise
from xml.etree import ElementTree as ET
from zlib import crc32

import numpy as np
import pytest

from composita import CompositaError, Grammar
from composita.composition.methods import METHODS
from composita.functions.function import Function
from composita.functions.learn import learn
from composita.functions.onestep import OneStep
from composita.grammar import discopy as diagrams
from composita.grammar.evaluation import evaluate
from composita.grammar.types import axes_of
from tests.composition.helpers import tiny_space

WORDS = {"angry": "angry-a", "dogs": "dog-n", "chase": "chase-v", "furry": "furry-a", "cats": "cat-n", "bark": "bark-v"}
SIZES = {"N": 3, "S": 2}


@pytest.fixture(scope="module")
def paper():
    return Grammar.load("paper")


@pytest.fixture(scope="module")
def derivation(paper):
    (found,) = paper.derivations("Angry dogs chase furry cats.", WORDS)
    return found


def tensor(word):
    """A random tensor, the same for the same word."""
    shape = [SIZES[axis] for axis in axes_of(word.type)]
    return np.random.default_rng(crc32(word.name.encode())).normal(size=shape)


def contract(word, arguments):
    value = tensor(word)
    for argument in arguments:
        value = value @ argument
    return value


def test_the_sentence_of_the_paper(derivation):
    assert str(derivation) == "chase-v(furry-a(cat-n))(angry-a(dog-n))"
    assert str(derivation.phrase) == "chase-v(furry-a(cat-n), angry-a(dog-n))"
    assert derivation.contraction() == "(T_chase × (T_furry × cat)) × (T_angry × dog)"
    chase, furry, cat, angry, dog = map(tensor, derivation.constants)
    expected = np.einsum("sab,bc,c,ad,d->s", chase, furry, cat, angry, dog)
    np.testing.assert_allclose((chase @ (furry @ cat)) @ (angry @ dog), expected)
    np.testing.assert_allclose(evaluate(derivation.term, contract), expected)
    subscripts, words = derivation.einsum()
    assert [word.name for word in words] == ["chase-v", "furry-a", "cat-n", "angry-a", "dog-n"]
    np.testing.assert_allclose(np.einsum(subscripts, *map(tensor, words)), expected)


def test_with_learned_functions(derivation):
    def apply(word, arguments):
        if not arguments:
            return tensor(word)
        value = Function.from_dense(tensor(word))
        for argument in arguments:
            value = value(argument)
        return value

    np.testing.assert_allclose(evaluate(derivation.term, apply), evaluate(derivation.term, contract), rtol=1e-5)


def test_as_discopy_diagram(derivation, paper):
    pytest.importorskip("discopy")
    tensors = {word.name: tensor(word) for word in derivation.constants}
    expected = evaluate(derivation.term, contract)
    diagram = derivation.to_discopy()
    assert str(diagram.cod) == "S"
    assert not diagram.dom
    np.testing.assert_allclose(diagrams.evaluate(diagram, SIZES, tensors.__getitem__), expected)
    (partly,) = paper.derivations("chase cats", WORDS, start="VP")
    with pytest.raises(CompositaError, match="more than words applied to words"):
        partly.to_discopy()
    with pytest.raises(CompositaError, match="no dimension is given for the basic type S"):
        diagrams.evaluate(diagram, {"N": 3}, tensors.__getitem__)
    (coordinated,) = Grammar.load("english").derivations("dogs and cats bark", WORDS)
    with pytest.raises(CompositaError, match="no diagram of linear maps"):
        coordinated.to_discopy()
    modifying = Grammar.parse(
        "type ADV : (N -> S) -> N -> S\nS -> NP VP : VP(NP)\nVP -> V ADV : ADV(V)\n"
        'NP -> "a" : a-n\nV -> "b" : b-v\nADV -> "c" : c-r'
    )
    with pytest.raises(CompositaError, match="no diagram of linear maps"):
        modifying.derivations("a b c")[0].to_discopy()


def test_one_sum_of_products_is_what_the_functor_makes(derivation):
    """`contract` multiplies no more than it must; discopy's own evaluation is the slow way."""
    pytest.importorskip("discopy")
    tensors = {word.name: tensor(word) for word in derivation.constants}
    diagram = derivation.to_discopy()
    functor = diagrams.functor(diagram, SIZES, tensors.__getitem__)
    np.testing.assert_allclose(diagrams.contract(functor, diagram), functor(diagram).array)


@pytest.mark.parametrize("kernel", ["product", "affine", "additive"])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_functor_of_a_lexicon(paper, kernel, intercept):
    """The diagram of a sentence of bare words gives what the method gives, also where functions are affine."""
    pytest.importorskip("discopy")
    lexicon = learn(tiny_space(), learner=OneStep(kernel=kernel, intercept=intercept), min_nonzero=0)
    words = {"dogs": "dog-n", "chase": "chase-v", "cats": "cat-n", "furry": "furry-a", "sleep": "sleep-v"}
    for sentence in ("dogs chase cats", "dogs sleep", "furry cats"):
        (found,) = paper.derivations(sentence, words)
        diagram = found.to_discopy()
        made = diagrams.contract(diagrams.functor_of(lexicon, diagram), diagram)
        expected = METHODS["learned"].compose(lexicon, [found.phrase]).vector(0)
        assert len(made) in (lexicon.dimensions, lexicon.dimensions + 1)
        np.testing.assert_allclose(made[: lexicon.dimensions], expected, rtol=1e-4, atol=1e-5)


def test_the_functor_of_a_lexicon_and_composed_arguments(paper):
    """Linear functions give the direction that the method gives, whatever the lengths of the arguments."""
    pytest.importorskip("discopy")
    lexicon = learn(tiny_space(), learner=OneStep(kernel="product", intercept=False), min_nonzero=0)
    (found,) = paper.derivations("angry dogs chase furry cats", WORDS)
    diagram = found.to_discopy()
    made = diagrams.contract(diagrams.functor_of(lexicon, diagram), diagram)
    expected = METHODS["learned"].compose(lexicon, [found.phrase]).vector(0)
    np.testing.assert_allclose(made / np.linalg.norm(made), expected / np.linalg.norm(expected), rtol=1e-4, atol=1e-5)


def test_ditransitives_in_numbers():
    english = Grammar.load("english")
    words = WORDS | {"boys": "boy-n", "give": "give-v", "girls": "girl-n", "books": "book-n", "given": "give-v"}
    sentences = [
        "boys give girls books",
        "boys give books to girls",
        "books are given to girls by boys",
        "girls are given books by boys",
    ]
    first, *others = [english.derivations(sentence, words)[0] for sentence in sentences]
    give, book, girl, boy = map(tensor, first.constants)
    assert give.shape == (2, 3, 3, 3)
    expected = np.einsum("sabc,c,b,a->s", give, book, girl, boy)
    subscripts, operands = first.einsum()
    np.testing.assert_allclose(np.einsum(subscripts, *map(tensor, operands)), expected)
    np.testing.assert_allclose(evaluate(first.term, contract), expected)
    assert all(other.term == first.term for other in others)


def test_trees_and_shapes(derivation):
    assert derivation.tree().splitlines()[:4] == ["S", "├─ NP", "│  ├─ ADJ angry-a", "│  └─ NP"]
    assert "Vt : N -> N -> S chase-v" in derivation.tree(types=True)
    assert derivation.contraction({"N": 300, "S": 100}).splitlines()[1:] == [
        "T_chase  S⊗N⊗N (100 × 300 × 300)",
        "T_furry  N⊗N (300 × 300)",
        "cat      N (300)",
        "T_angry  N⊗N (300 × 300)",
        "dog      N (300)",
    ]
    assert [leaf.place for leaf in derivation.root.leaves()] == [0, 1, 2, 3, 4]
    assert (derivation.category, str(derivation.type)) == ("S", "S")
    assert repr(derivation).startswith("Derivation('angry dogs chase furry cats': chase-v(")


def test_compact_trees():
    """What is made of one category alone is left out, words and all else stay."""
    (found, *_) = Grammar.load("english").derivations("the dogs that chase furry cats bark", WORDS)
    full, compact = found.root, found.root.compact()
    assert [leaf.form for leaf in compact.leaves()] == [leaf.form for leaf in full.leaves()]
    assert (compact.meaning, compact.category) == (full.meaning, full.category)

    def parts(tree):
        return [tree, *(inner for part in tree.parts for inner in parts(part))]

    assert all(len(part.parts) != 1 or not part.parts[0].parts or not part.parts[0].parts[0].parts
               for part in parts(compact))  # fmt: skip
    assert len(parts(compact)) < len(parts(full))
    assert compact.compact() == compact
    assert len(found.tree(compact=True).splitlines()) < len(found.tree().splitlines())
    assert found.svg().count("<text") < found.svg(compact=False).count("<text")


def test_contractions_of_other_meanings():
    english = Grammar.load("english")
    (found,) = english.derivations("dogs and cats bark", WORDS)
    assert found.contraction() == "T_bark × and(dog, cat)"
    assert str(found.phrase) == "bark-v(and(dog-n, cat-n))"
    (partly,) = english.derivations("bark and chase cats", WORDS, start="VP[fin]")
    assert partly.phrase is None
    assert partly.contraction() == "λx. and(T_bark × x, (T_chase × cat) × x)"
    with pytest.raises(CompositaError, match="no one contraction"):
        found.einsum()


def test_pictures(derivation):
    svg = derivation.svg()
    root = ET.fromstring(svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    for said in ("angry", "dogs", "chase", "S", "NP", "Vt", "N -> N -> S", "cat-n", str(derivation.term)):
        assert said in texts
    assert derivation._repr_svg_() == svg
    width = float(root.get("width"))
    places = sorted(
        {float(e.get("x")) for e in root.iter("{http://www.w3.org/2000/svg}text") if e.get("font-style") == "italic"}
    )
    assert len(places) == 5
    assert all(after - before > 40 for before, after in pairwise(places))
    assert places[-1] < width


def test_pictures_of_strange_words():
    grammar = Grammar.parse('S -> "<b>" NP : NP\nNP -> "a&b" : x-n\nNP -> NP NP : and(NP_1, NP_2)')
    svg = grammar.derivations(["<b>", "a&b", "a&b"])[0].svg()
    assert "&lt;b&gt;" in svg
    assert ET.fromstring(svg) is not None
