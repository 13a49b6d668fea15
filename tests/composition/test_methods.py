"""Each method against its formula, written naively: dense arrays, loops and einsum."""

import numpy as np
import pytest

from composita.composition.methods import METHODS, method_named, methods_named
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
    names = space.names
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
