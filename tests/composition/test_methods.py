"""Each method against its formula, written naively: dense arrays, loops and einsum."""

import numpy as np
import pytest

from composita.composition.methods import METHODS, method_named, methods_named
from composita.functions.lexicon import Lexicon
from composita.grammar.phrase import Phrase
from composita.store.errors import UsageError
from tests.composition.helpers import NOUNS, tiny_lexicon

SVO = [Phrase.parse(text) for text in (
    "chase-v(cat-n, dog-n)", "eat-v(bamboo-n, panda-n)", "chase-v(dog-n, cat-n)", "sing-v(song-n, kid-n)",
)]  # fmt: skip
SV = [Phrase.parse(text) for text in ("sleep-v(cat-n)", "chase-v(dog-n)", "sing-v(kid-n)", "sleep-v(dog-n)")]
AN = [Phrase.parse("furry-a(cat-n)"), Phrase.parse("angry-a(dog-n)")]


@pytest.fixture(scope="module", params=[False, True], ids=["dense", "sparse"])
def lexicon(request):
    return tiny_lexicon(sparse_rows=request.param)


def vector(lexicon, word, length=True):
    x = lexicon.vector(word).astype(np.float64)
    return x / np.linalg.norm(x) if length else x


def parts(lexicon, phrase, length=True):
    """Give the vectors of verb, subject and object (None for an intransitive verb)."""
    v, *arguments = (vector(lexicon, word, length) for word in phrase.words())
    return (v, arguments[-1], arguments[0] if len(arguments) > 1 else None)


def relation(lexicon, head, arity):
    """Sum the outer products, or the vectors, of a head's attested arguments: objects by subjects."""
    space, total = lexicon.space, 0.0
    names = space.items.names
    found = space.phrases({2: "svo", 1: "sv" if head.endswith("v") else "an"}[arity])
    for number, arguments, frequency in zip(found.heads, found.arguments, found.frequency, strict=True):
        if names.words[number] == head:
            rows = [vector(lexicon, names.words[a], length=False) for a in arguments]
            total = total + frequency * (np.outer(*rows) if arity == 2 else rows[0])
    return total


def add(lexicon, phrase):
    return sum(vector(lexicon, word) for word in phrase.words())


def multiply(lexicon, phrase):
    return np.prod([vector(lexicon, word) for word in phrase.words()], axis=0)


def kronecker(lexicon, phrase):
    v, s, o = parts(lexicon, phrase)
    return v * s if o is None else np.einsum("i,j,i,j->ij", v, v, o, s)


def relational(lexicon, phrase):
    _, s, o = parts(lexicon, phrase, length=False)
    r = relation(lexicon, phrase.head, phrase.arity)
    return r * s if o is None else r * np.outer(o, s)


def copies(lexicon, phrase):
    _, s, o = parts(lexicon, phrase, length=False)
    r = relation(lexicon, phrase.head, phrase.arity)
    return (r * s, r * s) if o is None else (s * np.einsum("os,o->s", r, o), o * np.einsum("os,s->o", r, s))


def joined(join):
    def formula(lexicon, phrase):
        subject, object_ = copies(lexicon, phrase)
        return subject if phrase.arity == 1 else join(subject, object_)

    return formula


FORMULAS = {
    "verb": lambda lexicon, phrase: vector(lexicon, phrase.head),
    "add": add,
    "multiply": multiply,
    "kronecker": kronecker,
    "relational": relational,
    "copy-subject": joined(lambda s, o: s),
    "copy-object": joined(lambda s, o: o),
    "frobenius-add": joined(lambda s, o: s + o),
    "frobenius-multiply": joined(lambda s, o: s * o),
    "frobenius-outer": joined(lambda s, o: np.outer(o, s)),
}


def cosine(x, y):
    return (x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum())


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("phrases", [SVO, SV, AN], ids=["svo", "sv", "an"])
def test_formulas(lexicon, name, phrases):
    meanings = METHODS[name].compose(lexicon, phrases)
    expected = [FORMULAS[name](lexicon, phrase) for phrase in phrases]
    assert not meanings.reasons
    assert not meanings.notes
    turned = meanings.take(np.roll(np.arange(len(phrases)), 1))
    similarity = meanings.similarity(turned)
    for n, x in enumerate(expected):
        assert similarity[n] == pytest.approx(cosine(x, expected[n - 1]), abs=2e-6), phrases[n]
        assert meanings.lengths[n] == pytest.approx(np.sqrt((x * x).sum()), rel=1e-5)
    if all(x.ndim == 1 for x in expected):
        np.testing.assert_allclose(meanings.vectors, expected, rtol=1e-4, atol=1e-5)


def test_names():
    assert method_named("Categorical") is METHODS["relational"]
    assert [m.name for m in methods_named("add,multiply,add")] == ["add", "multiply"]
    assert methods_named("all") == list(METHODS.values())
    with pytest.raises(UsageError, match="did you mean 'multiply'"):
        method_named("multipli")
    with pytest.raises(UsageError, match="choose verb, add"):
        method_named("xyzzy")
    assert NOUNS


# ---------------------------------------------------------------- what is fitted to all phrases of a pattern


def pooled(lexicon, pattern):
    """Give verb, arguments and phrase of every attested phrase, each of length 1: a list of arrays (m, d)."""
    space = lexicon.space
    found, words = space.phrases(pattern), space.words
    columns = [[words[i] for i in column] for column in (found.heads, *found.arguments.T)]
    x = [np.array([vector(lexicon, word) for word in column]) for column in columns]
    y = space.take(found.rows).astype(np.float64)
    return [*x, y / np.linalg.norm(y, axis=1, keepdims=True)]


@pytest.mark.parametrize("phrases", [SVO, SV, AN], ids=["svo", "sv", "an"])
def test_weighted_add(lexicon, phrases):
    *x, y = pooled(lexicon, {2: "svo", 1: "sv" if phrases is SV else "an"}[phrases[0].arity])
    weights = np.linalg.lstsq(np.stack([rows.ravel() for rows in x], axis=1), y.ravel(), rcond=None)[0]
    expected = [
        sum(w * vector(lexicon, word) for w, word in zip(weights, p.words(), strict=True)) for p in phrases
    ]  # fmt: skip
    meanings = METHODS["weighted-add"].compose(lexicon, phrases)
    assert not meanings.notes
    np.testing.assert_allclose(meanings.vectors, expected, atol=1e-5)


def test_dilation(lexicon):
    """Each place has its own lambda, fitted in turn; for one argument it is Mitchell and Lapata's formula."""
    v, x, y = pooled(lexicon, "sv")
    shadow = np.einsum("nd,nd->n", v, x)[:, None] * x
    straight, along = np.linalg.lstsq(np.stack([v.ravel(), shadow.ravel()], axis=1), y.ravel(), rcond=None)[0]
    stretch = 1 + along / straight
    expected = []
    for phrase in SV:
        v, s, _ = parts(lexicon, phrase)
        expected.append((s @ s) * v + (stretch - 1) * (s @ v) * s)
    np.testing.assert_allclose(METHODS["dilation"].compose(lexicon, SV).vectors, expected, atol=1e-4)
    assert not METHODS["dilation"].compose(lexicon, SVO).reasons


def test_dilation_without_phrases_takes_two():
    bare = Lexicon.from_vectors({"run-v": np.array([1.0, 0.0]), "dog-n": np.array([0.6, 0.8])})
    meanings = METHODS["dilation"].compose(bare, [Phrase.parse("run-v(dog-n)")])
    np.testing.assert_allclose(meanings.vectors[0], [1 + 0.36, 0.48], atol=1e-6)
    assert "lambda is 2" in meanings.notes[0][0]


def test_full_additive():
    lexicon = tiny_lexicon(dimensions=3)
    *x, y = pooled(lexicon, "svo")
    x = np.concatenate(x, axis=1)
    largest = np.linalg.eigvalsh(x.T @ x)[-1]

    def gcv(strength):
        hat = x @ np.linalg.solve(x.T @ x + strength * np.eye(x.shape[1]), x.T)
        return ((y - hat @ y) ** 2).sum() / np.trace(np.eye(len(x)) - hat) ** 2

    best = min(largest * np.logspace(-6, 3, 46), key=gcv)
    matrices = np.linalg.solve(x.T @ x + best * np.eye(x.shape[1]), x.T @ y)
    expected = [np.concatenate([vector(lexicon, word) for word in p.words()]) @ matrices for p in SVO]
    meanings = METHODS["full-additive"].compose(lexicon, SVO)
    np.testing.assert_allclose(meanings.vectors, expected, atol=1e-5)


# ---------------------------------------------------------------- where something is missing


def test_missing_words_are_reasons_never_zeros(lexicon):
    phrases = [Phrase.parse(text) for text in ("chase-v(unicorn-n, dog-n)", "chase-v(cat-n, dog-n)", "gyre-v(dog-n)")]
    for name in ("add", "multiply", "kronecker", "relational", "copy-subject", "weighted-add", "dilation"):
        meanings = METHODS[name].compose(lexicon, phrases)
        assert meanings.reasons[0] == "unicorn-n has no vector", name
        assert meanings.reasons[2] == "gyre-v has no vector", name
        assert np.isnan(meanings.similarity(meanings)).tolist() == [True, False, True]
        assert meanings.obstacles(meanings)[2].startswith("dog gyre: gyre-v has no vector")
        assert meanings.composed.tolist() == [False, True, False]
        with pytest.raises(UsageError, match="has no vector"):
            METHODS["add"].compose(lexicon, phrases).vector(0)
    verb = METHODS["verb"].compose(lexicon, phrases)
    assert sorted(verb.reasons) == [2], "the verb alone needs no arguments"


def test_zero_meanings_cannot_be_compared():
    bare = Lexicon.from_vectors({"run-v": np.array([1.0, 0.0]), "dog-n": np.array([0.0, 1.0])})
    meanings = METHODS["multiply"].compose(bare, [Phrase.parse("run-v(dog-n)")])
    assert np.isnan(meanings.similarity(meanings)[0])
    assert meanings.obstacles(meanings)[0] == "dog run: its meaning is zero in every dimension"


def test_forms_that_cannot_be_compared(lexicon):
    left = METHODS["kronecker"].compose(lexicon, [SVO[0], SVO[0]])
    right = METHODS["kronecker"].compose(lexicon, [SV[0], SVO[1]])
    assert np.isnan(left.similarity(right)).tolist() == [True, False]
    assert left.obstacles(right) == {
        0: "kronecker makes a matrix of 6 x 6 of one and a vector of 6 numbers of the other"
    }
    with pytest.raises(UsageError, match="gives matrices"):
        left.vectors  # noqa: B018
    with pytest.raises(UsageError, match="a matrix here"):
        left.vector(0)
    with pytest.raises(UsageError, match="as many meanings"):
        left.similarity(right.take([0]))


def test_relations_that_were_never_seen_are_the_verbs_own_product(lexicon):
    phrase = Phrase.parse("rare-v(cat-n, dog-n)")
    meanings = METHODS["relational"].compose(lexicon, [phrase])
    assert meanings.notes[0] == ("rare-v was never seen with 2 arguments: its own vector stands for them",)
    v, s, o = parts(lexicon, phrase, length=False)
    other = METHODS["relational"].compose(lexicon, [SVO[0]])
    expected = cosine(np.outer(v, v) * np.outer(o, s), relational(lexicon, SVO[0]))
    assert meanings.similarity(other)[0] == pytest.approx(expected, abs=1e-6)
    strict = METHODS["relational"].compose(lexicon, [phrase], back_off=False)
    assert strict.reasons[0].startswith("rare-v was never seen")
    assert not strict.notes


def test_negative_vectors_are_warned_of(caplog):
    lexicon = tiny_lexicon(positive=False)
    meanings = METHODS["multiply"].compose(lexicon, SVO)
    assert "negative" in meanings.warnings[0]
    METHODS["kronecker"].compose(lexicon, SVO)
    assert len(caplog.records) == 1, "one warning for a lexicon"
    assert not METHODS["add"].compose(lexicon, SVO).warnings
    assert METHODS["kronecker"].doubtful(lexicon)
    assert not METHODS["kronecker"].doubtful(tiny_lexicon())


def test_methods_that_cannot_be_used_say_why():
    sparse, bare = tiny_lexicon(sparse_rows=True), Lexicon.from_vectors({"dog-n": np.ones(2), "run-v": np.ones(2)})
    assert "needs a reduced space" in METHODS["full-additive"].compose(sparse, SVO).reasons[0]
    assert "needs attested phrases" in METHODS["relational"].impossible(bare)
    assert "needs functions" in METHODS["learned"].impossible(bare)
    assert not METHODS["add"].impossible(bare)


# ---------------------------------------------------------------- nested phrases, operations


def test_nested_phrases(lexicon):
    """Add is flat; what is trained takes composed arguments of length 1, as it was trained on."""
    phrase = Phrase.parse("chase-v(furry-a(cat-n), angry-a(dog-n))")
    assert METHODS["add"].compose(lexicon, [phrase]).vectors[0] == pytest.approx(add(lexicon, phrase), abs=1e-5)
    w2 = np.linalg.lstsq(*_stacked(pooled(lexicon, "svo")), rcond=None)[0]
    w1 = np.linalg.lstsq(*_stacked(pooled(lexicon, "an")), rcond=None)[0]
    inner = []
    for argument in phrase.arguments:
        x = sum(w * vector(lexicon, word) for w, word in zip(w1, argument.words(), strict=True))
        inner.append(x / np.linalg.norm(x))
    expected = w2[0] * vector(lexicon, "chase-v") + w2[1] * inner[0] + w2[2] * inner[1]
    assert METHODS["weighted-add"].compose(lexicon, [phrase]).vectors[0] == pytest.approx(expected, abs=1e-5)


def _stacked(found):
    *x, y = found
    return np.stack([rows.ravel() for rows in x], axis=1), y.ravel()


@pytest.mark.parametrize("name", ["verb", "add", "multiply", "copy-subject"])
def test_coordination_is_a_normalised_sum(lexicon, name):
    phrase = Phrase.parse("and(sleep-v(cat-n), sleep-v(dog-n), chase-v(cat-n, dog-n))")
    parts = METHODS[name].compose(lexicon, phrase.arguments).vectors.astype(np.float64)
    expected = (parts / np.linalg.norm(parts, axis=1, keepdims=True)).sum(axis=0)
    found = METHODS[name].compose(lexicon, [phrase]).vectors[0]
    assert found == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)


def test_a_matrix_is_no_argument(lexicon):
    phrase = Phrase.parse("and(chase-v(cat-n, dog-n), sleep-v(dog-n))")
    assert "cannot be an argument" in METHODS["kronecker"].compose(lexicon, [phrase]).reasons[0]
    assert METHODS["kronecker"].compose(lexicon, [Phrase("sleep-v", (Phrase.parse("furry-a(cat-n)"),))]).composed.all()


def test_the_order_and_the_batch_do_not_matter(lexicon):
    together = [*SVO, *SV, *AN, *SVO[::-1], Phrase("dog-n")]
    for name in ("add", "relational", "frobenius-add", "weighted-add"):
        method = METHODS[name]
        whole = method.compose(lexicon, together)
        for n, phrase in enumerate(together):
            assert whole.take([n]).similarity(method.compose(lexicon, [phrase]))[0] == pytest.approx(1, abs=1e-6)
        assert method.compose(lexicon, []).similarity(method.compose(lexicon, [])).shape == (0,)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_matrices_that_are_too_large_to_be_formed_compare_as_those_that_are(monkeypatch, sparse_rows):
    pairs = [(SVO[i], SVO[j]) for i in range(len(SVO)) for j in range(len(SVO))]
    left, right = zip(*pairs, strict=True)

    def similarities():
        lexicon = tiny_lexicon(sparse_rows=sparse_rows)  # a new one, that remembers nothing
        return METHODS["relational"].compose(lexicon, left).similarity(METHODS["relational"].compose(lexicon, right))

    whole = similarities()
    monkeypatch.setattr("composita.composition.relations.FORMED", 0)
    assert np.isfinite(whole).any()
    np.testing.assert_allclose(similarities(), whole, rtol=1e-5)
