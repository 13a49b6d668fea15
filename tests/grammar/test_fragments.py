"""The fragments of English and German: what each construction means, and what is refused."""

import pytest

from composita import CompositaError, Grammar

ENGLISH = {
    "boys": "boy-n", "girls": "girl-n", "books": "book-n", "book": "book-n", "dogs": "dog-n", "dog": "dog-n",
    "cats": "cat-n", "cat": "cat-n", "mice": "mouse-n", "houses": "house-n", "they": "they-p", "it": "it-p",
    "angry": "angry-a", "old": "old-a", "furry": "furry-a", "quickly": "quickly-r", "often": "often-r",
    "chase": "chase-v", "chases": "chase-v", "chased": "chase-v", "chasing": "chase-v", "sleep": "sleep-v",
    "slept": "sleep-v", "sleeping": "sleep-v", "live": "live-v", "lived": "live-v", "living": "live-v",
    "give": "give-v", "given": "give-v", "giving": "give-v", "say": "say-v", "sing": "sing-v", "singing": "sing-v",
    "songs": "song-n", "bark": "bark-v", "have": "have-v",
}  # fmt: skip

MEANINGS = [
    # the paper's
    ("dogs sleep", "sleep-v(dog-n)"),
    ("dogs chase cats", "chase-v(cat-n)(dog-n)"),
    ("angry old dogs chase furry cats", "chase-v(furry-a(cat-n))(angry-a(old-a(dog-n)))"),
    # articles and auxiliaries
    ("the dog chases a cat", "chase-v(cat-n)(dog-n)"),
    ("dogs are chasing cats", "chase-v(cat-n)(dog-n)"),
    ("dogs have chased cats", "chase-v(cat-n)(dog-n)"),
    ("dogs have been chasing cats", "chase-v(cat-n)(dog-n)"),
    ("dogs did chase cats", "chase-v(cat-n)(dog-n)"),
    ("they sing", "sing-v(they-p)"),
    ("they are singing songs", "sing-v(song-n)(they-p)"),
    # ditransitives
    ("boys give girls books", "give-v(book-n)(girl-n)(boy-n)"),
    ("boys give the books to old girls", "give-v(book-n)(old-a(girl-n))(boy-n)"),
    # prepositional objects
    ("dogs live in old houses", "live_in-v(old-a(house-n))(dog-n)"),
    ("dogs are living in houses", "live_in-v(house-n)(dog-n)"),
    ("dogs chase cats in houses", "and(chase-v(cat-n)(dog-n))(chase_in-v(house-n)(dog-n))"),
    # adverbs
    ("dogs bark often", "and(bark-v(dog-n))(often-r)"),
    ("dogs quickly chase cats", "and(chase-v(cat-n)(dog-n))(quickly-r)"),
    # relative clauses
    ("dogs that chase cats sleep", "sleep-v(that(dog-n)(chase-v(cat-n)(dog-n)))"),
    ("the dog which chased cats slept", "sleep-v(that(dog-n)(chase-v(cat-n)(dog-n)))"),
    ("cats that dogs chase sleep", "sleep-v(that(cat-n)(chase-v(cat-n)(dog-n)))"),
    ("cats whom dogs have been chasing sleep", "sleep-v(that(cat-n)(chase-v(cat-n)(dog-n)))"),
    ("old houses that dogs live in sleep", "sleep-v(that(old-a(house-n))(live_in-v(old-a(house-n))(dog-n)))"),
    ("books that boys give to girls sleep", "sleep-v(that(book-n)(give-v(book-n)(girl-n)(boy-n)))"),
    ("girls that boys give books to sleep", "sleep-v(that(girl-n)(give-v(book-n)(girl-n)(boy-n)))"),
    ("cats chased by dogs sleep", "sleep-v(that(cat-n)(chase-v(cat-n)(dog-n)))"),
    # sentence complements
    ("boys say that dogs bark", "and(say-v(boy-n))(bark-v(dog-n))"),
    # coordination
    ("dogs and cats sleep", "sleep-v(and(dog-n)(cat-n))"),
    ("dogs, cats, and mice sleep", "sleep-v(and(dog-n)(and(cat-n)(mouse-n)))"),
    ("dogs chase cats and mice", "chase-v(and(cat-n)(mouse-n))(dog-n)"),
    ("dogs bark and chase cats", "and(bark-v(dog-n))(chase-v(cat-n)(dog-n))"),
    ("dogs bark but cats sleep", "and(bark-v(dog-n))(sleep-v(cat-n))"),
    # passives
    ("cats are chased by dogs", "chase-v(cat-n)(dog-n)"),
    ("the cat was often chased by the angry dog", "and(chase-v(cat-n)(angry-a(dog-n)))(often-r)"),
    ("cats have been chased by dogs", "chase-v(cat-n)(dog-n)"),
    ("cats are being chased by dogs", "chase-v(cat-n)(dog-n)"),
    ("houses are lived in by dogs", "live_in-v(house-n)(dog-n)"),
    ("books are given to girls by boys", "give-v(book-n)(girl-n)(boy-n)"),
    ("girls are given books by boys", "give-v(book-n)(girl-n)(boy-n)"),
    # names and labels stand for themselves
    ("dog-n chase-v cat-n", "chase-v(cat-n)(dog-n)"),
    ("old dogs", "old-a(dog-n)"),
]


@pytest.fixture(scope="module")
def english():
    return Grammar.load("english")


@pytest.mark.parametrize(("sentence", "meaning"), MEANINGS)
def test_meanings(english, sentence, meaning):
    found = english.derivations(sentence, ENGLISH)
    assert str(found[0].term) == meaning
    assert found[0].category == ("NP" if sentence == "old dogs" else "S")


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("no dogs chase cats", "'no'"),
        ("dogs do not chase cats", "'not'"),
        ("dogs don't chase cats", '"don\'t"'),
        ("dogs never chase cats", "'never'"),
        ("nobody chases cats", "'nobody'"),
        ("neither dogs nor cats sleep", "'neither'"),
        ("dogs hardly sleep", "'hardly'"),
        ("every dog sleep", "'every'"),
        ("some dogs sleep", "'some'"),
        ("few dogs sleep", "'few'"),
        ("two dogs sleep", "'two'"),
        ("17 dogs sleep", "'17'"),
        ("dogs may chase cats", "'may'"),
        ("dogs can't chase cats", '"can\'t"'),
        ("dogs would chase cats", "'would'"),
        ("dogs or cats sleep", "'or'"),
        ("dogs sleep if cats sleep", "'if'"),
    ],
)
def test_what_has_no_meaning_is_refused(english, sentence, word):
    with pytest.raises(CompositaError, match=f"{word} is refused: .* no meaning in this grammar"):
        english.derivations(sentence, ENGLISH | {"no": "no-a", "some": "some-a", "never": "never-r"})


@pytest.mark.parametrize(
    ("sentence", "part", "reason"),
    [
        ("cats are chased", "are chased", "a passive without an agent"),  # never "cats chase"
        ("cats have been chased", "have been chased", "a passive without an agent"),
        ("houses are lived in", "are lived in", "a passive without an agent"),
        ("dogs are angry", "are angry", "what something is"),
        ("dogs are cats", "are cats", "what something is"),
        ("dogs that are angry sleep", "are angry", "what something is"),
        ("boys say dogs bark", "say dogs bark", "a complement without that"),
        ("boys say to bark", "say to bark", "infinitives"),
        ("her dogs sleep", "her dogs", "possessives"),
        ("dog books sleep", "dog books", "names and compounds"),
        ("cats in houses sleep", "cats in houses", "prepositions behind nouns"),
        ("dogs chasing cats", "dogs chasing cats", "a noun with an -ing form"),
        ("often dogs bark", "often dogs bark", "what stands before the subject"),
        ("in houses , dogs sleep", "in houses , dogs sleep", "what stands before the subject"),
        ("there are dogs", "there are dogs", "there is and there are"),
        ("who chases cats", "who chases cats", "questions"),
        ("which do chase cats", "which do chase cats", "questions"),
    ],
)
def test_constructions_without_a_meaning_are_refused(english, sentence, part, reason):
    with pytest.raises(CompositaError, match=f"{part!r} is refused: .*{reason}") as caught:
        english.derivations(sentence, ENGLISH | {"her": "her-p"})
    assert len(str(caught.value)) < 250


def test_a_construction_is_named_only_where_nothing_else_is_found(english):
    """*In houses* may belong to the verb: that the noun has no such phrase is then no reason to refuse."""
    assert str(english.derivations("dogs chase cats in houses", ENGLISH)[0].term).startswith("and(chase-v")
    with pytest.raises(CompositaError, match="word 2: 'doggs' is unknown; did you mean dogs"):
        english.derivations("angry doggs sleep", ENGLISH)
    # A word that is unknown is named, also where the rest would be refused.
    with pytest.raises(CompositaError, match="word 1: 'katts' is unknown"):
        english.derivations("katts are chased", ENGLISH)


@pytest.mark.parametrize(
    "sentence",
    ["cats are chased in houses", "dogs are chase cats", "chased by dogs", "that dogs bark", "dogs and"],
)
def test_what_has_no_rule_is_no_sentence(english, sentence):
    with pytest.raises(CompositaError, match="is no S or NP of this grammar|unknown"):
        english.derivations(sentence, {k: v for k, v in ENGLISH.items() if k != "have"})


def test_ambiguity_is_kept(english):
    found = english.derivations("old dogs and cats that sleep bark", ENGLISH)
    meanings = {str(derivation.term) for derivation in found}
    assert "bark-v(and(old-a(dog-n))(that(cat-n)(sleep-v(cat-n))))" in meanings
    coordinated = {str(d.term) for d in english.derivations("boys say that dogs bark and cats sleep", ENGLISH)}
    assert len(coordinated) == 2


GERMAN = {
    "hund": "hund-n", "hunde": "hund-n", "katze": "katze-n", "katzen": "katze-n", "jagt": "jagen-v", "jagen": "jagen-v",
    "gejagt": "jagen-v", "schläft": "schlafen-v", "schlafen": "schlafen-v", "junge": "junge-n", "mädchen": "mädchen-n",
    "buch": "buch-n", "gibt": "geben-v", "sagt": "sagen-v", "böse": "böse-a",
}  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "meanings"),
    [
        ("Der Hund jagt die Katze", ["jagen-v(katze-n)(hund-n)"]),
        ("Den Hund jagt die Katze", ["jagen-v(hund-n)(katze-n)"]),
        ("Die Katze jagt der Hund", ["jagen-v(katze-n)(hund-n)"]),
        ("Hunde jagen Katzen", ["jagen-v(katze-n)(hund-n)", "jagen-v(hund-n)(katze-n)"]),
        ("Der Junge gibt dem Mädchen das Buch", ["geben-v(buch-n)(mädchen-n)(junge-n)"]),
        ("Dem Mädchen gibt der Junge das Buch", ["geben-v(buch-n)(mädchen-n)(junge-n)"]),
        ("Das Buch gibt der Junge dem Mädchen", ["geben-v(buch-n)(mädchen-n)(junge-n)"]),
        ("Der Hund hat die Katze gejagt", ["jagen-v(katze-n)(hund-n)"]),
        (
            "Der Junge sagt, dass der Hund die böse Katze jagt",
            ["and(sagen-v(junge-n))(jagen-v(böse-a(katze-n))(hund-n))"],
        ),
        ("Der Hund, den die Katze jagt, schläft", ["schlafen-v(that(hund-n)(jagen-v(hund-n)(katze-n)))"]),
        ("Der Hund, der die Katze jagt, schläft", ["schlafen-v(that(hund-n)(jagen-v(katze-n)(hund-n)))"]),
    ],
)
def test_german_word_order(sentence, meanings):
    found = Grammar.load("german").derivations(sentence, GERMAN)
    assert [str(derivation.term) for derivation in found] == meanings


def test_german_says_no_in_german():
    with pytest.raises(CompositaError, match="'kein' is refused: Verneinung"):
        Grammar.load("german").derivations("Kein Hund jagt die Katze", GERMAN)
    with pytest.raises(CompositaError, match="is no S or NP of this grammar: behind 'der hund' found 'die'"):
        Grammar.load("german").derivations("der Hund die Katze jagt", GERMAN)
