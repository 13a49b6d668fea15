"""Methods that apply learned functions, against einsum over dense tensors; what is done where one is missing."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from composita.composition.explain import _parts, explain
from composita.composition.ground import Ground
from composita.composition.learned import Found, fit
from composita.composition.methods import METHODS
from composita.functions.learn import learn
from composita.functions.lexicon import Lexicon
from composita.functions.multistep import MultiStep
from composita.functions.onestep import OneStep
from composita.grammar.phrase import Phrase
from composita.store.errors import UsageError
from tests.composition.helpers import tiny_lexicon, tiny_space

SENTENCE = Phrase.parse("chase-v(furry-a(cat-n), angry-a(dog-n))")
PLAIN = Phrase.parse("chase-v(cat-n, dog-n)")


def learned_lexicon(learner, space=None, **options):
    return learn(space or tiny_space(), learner=learner, min_nonzero=0, **options)


@pytest.fixture(scope="module")
def multistep():
    return learned_lexicon(MultiStep())


@pytest.fixture(scope="module")
def onestep():
    return learned_lexicon(OneStep(kernel="product"))


@pytest.fixture(scope="module", params=["multistep", "onestep"])
def lexicon(request):
    return request.getfixturevalue(request.param)


def unit(x):
    return x / np.linalg.norm(x)


def word(lexicon, label):
    return unit(lexicon.vector(label).astype(np.float64))


def tensor(lexicon, label, arity):
    return lexicon.function(label, arity).dense().astype(np.float64)


def test_the_sentence_of_the_paper(lexicon):
    """(T_chase x (T_furry x cats)) x (T_angry x dogs), arguments of length 1 as in training."""
    furry_cats = unit(tensor(lexicon, "furry-a", 1) @ word(lexicon, "cat-n"))
    angry_dogs = unit(tensor(lexicon, "angry-a", 1) @ word(lexicon, "dog-n"))
    expected = np.einsum("sjo,o,j->s", tensor(lexicon, "chase-v", 2), furry_cats, angry_dogs)
    name = {"multistep": "regression", "onestep": "one-step"}[lexicon.parameters["learner"]["learner"]]
    for method in ("learned", name):
        meanings = METHODS[method].compose(lexicon, [SENTENCE])
        assert not meanings.notes
        np.testing.assert_allclose(meanings.vector(0), expected, rtol=1e-4, atol=1e-5)
        kept = METHODS[f"{method}+head"].compose(lexicon, [SENTENCE]).vector(0)
        furry_cats = unit(unit(tensor(lexicon, "furry-a", 1) @ word(lexicon, "cat-n")) + word(lexicon, "furry-a"))
        angry_dogs = unit(unit(tensor(lexicon, "angry-a", 1) @ word(lexicon, "dog-n")) + word(lexicon, "angry-a"))
        whole = np.einsum("sjo,o,j->s", tensor(lexicon, "chase-v", 2), furry_cats, angry_dogs)
        np.testing.assert_allclose(kept, unit(whole) + word(lexicon, "chase-v"), rtol=1e-4, atol=1e-4)


def test_all_sentences_share_a_space(lexicon):
    """*Kids sing* and *kids sing songs* can be compared."""
    phrases = [Phrase.parse(text) for text in ("sing-v(kid-n)", "sing-v(song-n, kid-n)")]
    meanings = METHODS["learned"].compose(lexicon, phrases)
    assert meanings.vectors.shape == (2, 6)
    assert np.isfinite(meanings.take([0]).similarity(meanings.take([1])))[0]


def test_other_learners_learn_from_the_same_examples(multistep, onestep):
    for lexicon, method, other in [(multistep, "one-step", OneStep()), (onestep, "regression", MultiStep())]:
        function = other.learn(lexicon.examples("chase-v", "svo"))
        expected = function.apply_all(*(word(lexicon, str(a))[None] for a in PLAIN.arguments))[0]
        found = METHODS[method].compose(lexicon, [PLAIN]).vector(0)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_lexical_functions_are_partial_least_squares(multistep):
    from composita.functions.learners import make_learner

    phrase = Phrase.parse("furry-a(dog-n)")
    function = make_learner("plsr").learn(multistep.examples("furry-a", "an"))
    expected = function(word(multistep, "dog-n"))
    np.testing.assert_allclose(
        METHODS["lexical-function"].compose(multistep, [phrase]).vector(0), expected, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("patterns", ["sv,svo,vo,an", "svo,an"])
def test_practical_lexical_functions(patterns):
    """Matrices from subjects and from objects alone; where these phrases were not counted, from whole sentences."""
    lexicon = learned_lexicon(MultiStep(), tiny_space(patterns=patterns))
    expected = word(lexicon, "chase-v")
    for place, (pattern, noun) in enumerate([("vo", "cat-n"), ("sv", "dog-n")]):
        if pattern in patterns.split(","):
            matrix = lexicon.function("chase-v", pattern)
        else:
            examples = lexicon.examples("chase-v", "svo")
            matrix = MultiStep().fit(examples.inputs(place), examples.outputs)
        expected = expected + matrix(word(lexicon, noun))
    found = METHODS["practical"].compose(lexicon, [PLAIN])
    assert not found.notes
    np.testing.assert_allclose(found.vector(0), expected, rtol=1e-3, atol=1e-3)


# ---------------------------------------------------------------- where something is missing


def test_a_function_of_fewer_arguments_takes_the_subject(multistep):
    sleep = Phrase.parse("sleep-v(song-n, kid-n)")
    meanings = METHODS["learned"].compose(multistep, [sleep])
    assert meanings.notes[0] == (
        "sleep-v has no function of 2 arguments: that of 1 was applied, and the object left out",
    )
    expected = tensor(multistep, "sleep-v", 1) @ word(multistep, "kid-n")
    np.testing.assert_allclose(meanings.vector(0), expected, rtol=1e-4, atol=1e-5)
    strict = METHODS["learned"].compose(multistep, [sleep], back_off=False)
    assert strict.reasons[0].startswith("sleep-v has no function of 2 arguments")


def test_a_function_of_more_arguments_takes_their_mean(onestep):
    eats = Phrase.parse("eat-v(panda-n)")
    meanings = METHODS["learned"].compose(onestep, [eats])
    assert "to the mean of the object it was learned with" in meanings.notes[0][0]
    mean = onestep.examples("eat-v", "svo").inputs(0).mean(axis=0)
    expected = np.einsum("sjo,o,j->s", tensor(onestep, "eat-v", 2), mean, word(onestep, "panda-n"))
    np.testing.assert_allclose(meanings.vector(0), expected, rtol=1e-4, atol=1e-5)


def test_a_function_for_an_object_only_is_said():
    lexicon = learned_lexicon(OneStep(), patterns="vo")
    meanings = METHODS["learned"].compose(lexicon, [Phrase.parse("eat-v(panda-n)")])
    assert meanings.notes[0] == ("eat-v has a function for an object only: its argument is taken as that",)
    both = METHODS["learned"].compose(lexicon, [Phrase.parse("eat-v(bamboo-n, panda-n)")])
    assert both.notes[0] == ("eat-v has no function: the words were added",)


def test_without_a_function_words_are_added(multistep):
    phrases = [Phrase.parse("rare-v(cat-n, dog-n)"), Phrase.parse("chase-v(new-a(cat-n), dog-n)")]
    meanings = METHODS["learned"].compose(multistep, phrases)
    assert meanings.notes[0] == ("rare-v has no function: the words were added",)
    assert meanings.notes[1] == ("new-a has no function: the words were added",)
    expected = sum(word(multistep, label) for label in ("rare-v", "cat-n", "dog-n"))
    np.testing.assert_allclose(meanings.vector(0), expected, rtol=1e-5)
    strict = METHODS["learned"].compose(multistep, phrases, back_off=False)
    assert sorted(strict.reasons) == [0, 1]


def test_a_head_without_a_vector(multistep):
    """What has a function but no vector, such as *live_in-v*, is composed by the function alone."""
    from dataclasses import replace

    kept = [place for place, label in enumerate(multistep.words) if label != "chase-v"]
    bare = replace(
        multistep, words=tuple(multistep.words[i] for i in kept), vectors=multistep.vectors[kept],
        frequency=multistep.frequency[kept],
    )  # fmt: skip
    meanings = METHODS["learned+head"].compose(bare, [PLAIN])
    assert meanings.notes[0] == ("chase-v has no vector: only its function is used",)
    assert meanings.similarity(METHODS["learned"].compose(bare, [PLAIN]))[0] == pytest.approx(1)


def test_a_lexicon_of_a_bare_space_learns_when_asked():
    lexicon = tiny_lexicon()
    assert METHODS["learned"].impossible(lexicon)
    found = METHODS["regression"].compose(lexicon, [SENTENCE])
    stored = METHODS["regression"].compose(learned_lexicon(MultiStep()), [SENTENCE])
    assert found.similarity(stored)[0] == pytest.approx(1, abs=1e-5)


def test_of_too_many_arguments_the_subject_and_the_first_others_are_kept(multistep):
    """*Give*, learned as give(book)(boy), in give(book)(girl)(boy): the girl is left out, not the book."""
    phrases = [Phrase.parse("chase-v(cat-n, mouse-n, dog-n)"), PLAIN]
    meanings = METHODS["learned"].compose(multistep, phrases)
    assert meanings.notes[0] == (
        "chase-v has no function of 3 arguments: that of 2 was applied, and the recipient left out",
    )
    np.testing.assert_allclose(meanings.vector(0), meanings.vector(1), rtol=1e-6)
    one = METHODS["learned"].compose(multistep, [Phrase.parse("sleep-v(cat-n, mouse-n, dog-n)")])
    assert "the theme and the recipient left out" in one.notes[0][0]
    expected = tensor(multistep, "sleep-v", 1) @ word(multistep, "dog-n")
    np.testing.assert_allclose(one.vector(0), expected, rtol=1e-4, atol=1e-5)


def test_what_lacks_is_put_between_the_others_and_the_subject():
    """The subject stays last; the means stand where the arguments that lack would."""
    lexicon = learned_lexicon(OneStep(), tiny_space())
    ground = Ground.of(lexicon)
    function = lexicon.function("chase-v", 2)
    rows = tuple(np.full((1, 6), value) for value in (1.0, 2.0))
    assert [x[0, 0] for x in fit(ground, Found(function, 2, "svo"), "chase-v", rows)] == [1.0, 2.0]
    mean, last = fit(ground, Found(function, 2, "svo"), "chase-v", rows[1:])
    assert last[0, 0] == 2.0
    np.testing.assert_allclose(mean.reshape(-1), lexicon.examples("chase-v", "svo").inputs(0).mean(axis=0), rtol=1e-5)
    three = (*rows, np.full((1, 6), 3.0))
    assert [x[0, 0] for x in fit(ground, Found(function, 2, "svo"), "chase-v", three)] == [1.0, 3.0]
    assert [x[0, 0] for x in fit(ground, Found(function, 1, "sv"), "chase-v", three)] == [3.0]


@pytest.mark.parametrize("name", ["verb", "add", "multiply", "relational", "learned", "learned+head", "practical"])
def test_a_joined_verb_without_a_vector_is_its_verb(multistep, name):
    """*Live_in* has rarely a vector: that of *live* is taken, and it is said."""
    phrases = [Phrase.parse("rare_up-v(cat-n, dog-n)"), Phrase.parse("rare-v(cat-n, dog-n)")]
    meanings = METHODS[name].compose(multistep, phrases)
    assert not meanings.reasons
    assert any("rare-v" in note and "rare_up-v" in note for note in meanings.notes[0])
    assert not any("that of rare-v was taken" in note for note in meanings.notes.get(1, ()))
    strict = METHODS[name].compose(multistep, phrases, back_off=False)
    assert "rare_up-v" in strict.reasons[0]
    if name in ("verb", "add", "multiply", "learned"):
        assert meanings.similarity(meanings.take([1, 0]))[0] == pytest.approx(1)
    unknown = METHODS[name].compose(multistep, [Phrase.parse("nowhere_up-v(cat-n, dog-n)")])
    assert "nowhere_up-v has no vector" in unknown.reasons[0]
    with pytest.raises(UsageError):
        explain(multistep, Phrase.parse("nowhere_up-v(cat-n, dog-n)"), "add")


# ---------------------------------------------------------------- what is kept, what is left out, what explains


def test_what_is_learned_once_is_learned_by_one_while_others_go_on():
    """Who asks for the same waits for it; who asks for something else does not."""
    ground, started, leave, calls = Ground(tiny_lexicon()), threading.Event(), threading.Event(), []

    def slow():
        calls.append("slow")
        started.set()
        assert leave.wait(60)
        return "slow"

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ground.trained, "a", slow) for _ in range(3)]
        assert started.wait(60)
        assert pool.submit(ground.trained, "b", lambda: "quick").result(60) == "quick"
        assert not any(future.done() for future in asked)
        leave.set()
        assert [future.result(60) for future in asked] == ["slow"] * 3
    assert calls == ["slow"]


def test_what_could_not_be_learned_is_tried_again():
    ground = Ground(tiny_lexicon())

    def fail():
        raise ValueError("too little")

    with pytest.raises(ValueError, match="too little"):
        ground.trained("a", fail)
    assert ground.trained("a", lambda: "learned") == "learned"
    assert ground.trained("a", fail) == "learned"


def test_what_was_learned_is_kept_and_left_out(multistep):
    ground = Ground.of(multistep)
    assert Ground.of(multistep) is ground
    first = ground.function("chase-v", "svo", "onestep")
    assert ground.function("chase-v", "svo", "onestep") is first
    rows = multistep.attested("svo", "chase-v")
    without = Ground(multistep, rows[:3].tolist())
    assert len(without.examples("chase-v", "svo")) == len(rows) - 3
    assert len(without.attested("svo")["chase-v"].rows) == len(ground.attested("svo")["chase-v"].rows) - 3
    changed = without.function("chase-v", "svo")
    expected = MultiStep().learn(multistep.examples("chase-v", "svo").select(np.arange(3, len(rows))))
    np.testing.assert_allclose(changed.dense(), expected.dense(), atol=1e-5)


def test_meanings_do_not_depend_on_what_was_asked_before():
    phrases = [SENTENCE, PLAIN, Phrase.parse("sing-v(song-n, kid-n)")]
    for name in ("one-step", "practical", "full-additive", "weighted-add", "dilation", "lexical-function"):
        one, other = learned_lexicon(MultiStep()), learned_lexicon(MultiStep())
        METHODS[name].compose(other, phrases[::-1])
        first, second = (METHODS[name].compose(lexicon, phrases).vectors for lexicon in (one, other))
        np.testing.assert_array_equal(first, second)


DEEP = [
    SENTENCE,
    Phrase.parse("and(chase-v(cat-n, dog-n), sleep-v(kid-n))"),
    Phrase.parse("chase-v(and(cat-n, mouse-n), angry-a(dog-n))"),
    Phrase.parse("sleep-v(that(dog-n, chase-v(cat-n, dog-n)))"),
    Phrase.parse("rare-v(furry-a(cat-n), and(dog-n, kid-n))"),
    Phrase.parse("eat-v(furry-a(panda-n))"),
]


@pytest.mark.parametrize(
    "name", ["learned", "learned+head", "regression", "one-step+head", "add", "verb", "weighted-add"]
)
@pytest.mark.parametrize("phrase", DEEP, ids=str)
def test_parts_with_their_weights_are_the_meaning(lexicon, name, phrase):
    """Whatever is nested: coordination, relative clauses, arguments that are composed, back-off."""
    method = METHODS[name]
    labels, weights, outputs = _parts(Ground.of(lexicon), phrase, method)
    assert len(labels) == len(weights) == len(outputs)
    expected = method.compose(lexicon, [phrase]).vector(0)
    np.testing.assert_allclose(weights @ outputs, expected, rtol=1e-3, atol=1e-4)
    found = explain(lexicon, phrase, method)
    assert found.parts == len(labels)
    if found.parts <= len(found.rows):
        assert sum(part.share for part in found.rows) == pytest.approx(1, abs=1e-3)


def test_what_is_coordinated_is_explained_part_by_part(multistep):
    found = explain(multistep, DEEP[1], "learned")
    assert {part.text.split()[1] for part in found.rows} == {"chase", "sleep"}
    by_words = explain(multistep, Phrase.parse("chase-v(and(cat-n, mouse-n), dog-n)"), "add")
    assert {part.label: round(part.weight, 4) for part in by_words.rows}.keys() == {
        "chase-v", "cat-n", "mouse-n", "dog-n",
    }  # fmt: skip
    with pytest.raises(UsageError, match="has no parts to show"):
        explain(multistep, DEEP[1], "multiply")


@pytest.mark.parametrize("name", ["learned", "learned+head", "add", "verb", "weighted-add"])
def test_explanations_sum_to_the_meaning(lexicon, name):
    found = explain(lexicon, SENTENCE, name)
    assert sum(part.share for part in found.rows) == pytest.approx(1, abs=1e-3)
    assert found.parts == len(found.rows)
    if name == "learned":
        labels = {f"chase-v({o}, {s})" for o, s in ((p, q) for p in lexicon.words for q in lexicon.words)}
        assert {part.label for part in found.rows} <= labels
        assert found.rows[0].text.split()[1] == "chase"
    if name == "learned+head":
        assert "chase-v" in {part.label for part in found.rows}


def test_products_have_no_parts(lexicon):
    with pytest.raises(UsageError, match="has no parts to show"):
        explain(lexicon, SENTENCE, "multiply")
    with pytest.raises(UsageError, match="cannot be composed"):
        explain(lexicon, Phrase.parse("chase-v(unicorn-n, dog-n)"), "learned")
    assert explain(lexicon, Phrase("dog-n"), "learned").rows[0].share == pytest.approx(1)
    assert explain(Lexicon.from_space(tiny_space()), PLAIN, "add").rows[0].weight == 1


# ---------------------------------------------------------------- words that begin from a shared function


@pytest.fixture(scope="module")
def whole():
    return learned_lexicon(OneStep(kernel="product", criterion="arguments", storage="terms"), lean="whole")


def test_a_function_is_the_shared_one_and_what_the_word_adds(whole):
    examples = whole.examples("chase-v", "svo")
    inputs = examples.inputs(0), examples.inputs(1)
    shared = whole.shared("svo", "chase-v").apply_all(*inputs)
    alone = OneStep(kernel="product", criterion="arguments").fit(*inputs, examples.outputs - shared)
    given = whole.function("chase-v", "svo").apply_all(*inputs)
    np.testing.assert_allclose(given, shared + alone.apply_all(*inputs), atol=1e-4)
    composed = METHODS["one-step"].compose(whole, [PLAIN]).vector(0)
    arguments = word(whole, "cat-n"), word(whole, "dog-n")
    np.testing.assert_allclose(composed, whole.function("chase-v", "svo").apply_all(*arguments)[0], atol=1e-5)


def test_a_word_never_seen_with_arguments_has_the_shared_function(whole):
    phrase = Phrase.parse("rare-v(cat-n, dog-n)")
    found = METHODS["learned"].compose(whole, [phrase], back_off=False)
    expected = whole.shared("svo", "rare-v").apply_all(word(whole, "cat-n"), word(whole, "dog-n"))
    np.testing.assert_allclose(found.vector(0), expected[0], atol=1e-5)


def test_what_leans_is_explained_in_full(whole):
    attested = whole.examples("chase-v", "svo").labels
    for phrase in (PLAIN, Phrase.parse("rare-v(cat-n, dog-n)")):
        labels, weights, outputs = _parts(Ground.of(whole), phrase, METHODS["learned"])
        made = METHODS["learned"].compose(whole, [phrase]).vector(0)
        assert len(labels) == len(weights)
        assert {f"{part}, by the shared function" for part in ("the word", "the object", "the subject")} < set(labels)
        assert ("chase-v(cat-n, dog-n)" in labels) == (phrase is PLAIN and ("chase-v(cat-n, dog-n)" in attested))
        np.testing.assert_allclose(weights @ outputs, made, atol=1e-4)


def test_what_is_learned_again_without_some_phrases_leans_too(whole):
    rows = whole.attested("svo", "chase-v")
    arguments = word(whole, "cat-n"), word(whole, "dog-n")
    grounds = Ground.of(whole), Ground(whole, without=rows[:1].tolist()), Ground(whole, without=rows.tolist())
    kept, less, nothing = (g.function("chase-v", "svo").apply_all(*arguments) for g in grounds)
    assert 0 < np.linalg.norm(kept - less) < np.linalg.norm(kept)
    np.testing.assert_allclose(nothing, whole.shared("svo", "chase-v").apply_all(*arguments), atol=1e-5)
