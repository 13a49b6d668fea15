"""From dependency trees to derivations."""

import pytest

from composita import CompositaError, Grammar
from composita.corpus.columns import Tokens
from composita.corpus.corpus import Corpus
from composita.corpus.labels import Scheme
from composita.corpus.tags import Tagset
from composita.grammar import dependencies
from composita.grammar.dependencies import derive, derive_corpus, derive_file
from tests.counting.helpers import conllu


def sentence(*rows):
    """Write a sentence of words such as ``Dogs/dog/NOUN/2/nsubj``."""
    cells = [row.split("/") for row in rows]
    return [(form, lemma, upos, "_", int(head), relation) for form, lemma, upos, head, relation in cells]


CHASE = ("Dogs/dog/NOUN/2/nsubj", "chase/chase/VERB/0/root", "cats/cat/NOUN/2/obj")
CASES = [
    (CHASE, "chase-v(cat-n)(dog-n)", ()),
    (("Dogs/dog/NOUN/2/nsubj", "sleep/sleep/VERB/0/root"), "sleep-v(dog-n)", ()),
    (
        ("Big/big/ADJ/3/amod", "old/old/ADJ/3/amod", "dogs/dog/NOUN/4/nsubj", "sleep/sleep/VERB/0/root",
         "././PUNCT/4/punct"),
        "sleep-v(big-a(old-a(dog-n)))",
        (),
    ),
    (
        ("Cats/cat/NOUN/3/nsubj:pass", "are/be/AUX/3/aux:pass", "chased/chase/VERB/0/root", "by/by/ADP/5/case",
         "dogs/dog/NOUN/3/obl:agent"),
        "chase-v(cat-n)(dog-n)",
        (),
    ),
    (
        ("Boys/boy/NOUN/2/nsubj", "give/give/VERB/0/root", "girls/girl/NOUN/2/iobj", "books/book/NOUN/2/obj"),
        "give-v(book-n)(girl-n)(boy-n)",
        (),
    ),
    (
        ("Dogs/dog/NOUN/2/nsubj", "live/live/VERB/0/root", "in/in/ADP/4/case", "houses/house/NOUN/2/obl"),
        "live_in-v(house-n)(dog-n)",
        (),
    ),
    (
        (*CHASE, "in/in/ADP/5/case", "houses/house/NOUN/2/obl", "often/often/ADV/2/advmod"),
        "and(chase-v(cat-n)(dog-n))(chase_in-v(house-n)(dog-n))",
        ("often",),
    ),
    (
        ("Dogs/dog/NOUN/4/nsubj", "and/and/CCONJ/3/cc", "mice/mouse/NOUN/1/conj", "sleep/sleep/VERB/0/root"),
        "sleep-v(and(dog-n)(mouse-n))",
        (),
    ),
    (
        ("Dogs/dog/NOUN/2/nsubj", "bark/bark/VERB/0/root", "and/and/CCONJ/4/cc", "chase/chase/VERB/2/conj",
         "cats/cat/NOUN/4/obj"),
        "and(bark-v(dog-n))(chase-v(cat-n)(dog-n))",
        (),
    ),
    (
        ("Dogs/dog/NOUN/2/nsubj", "grow/grow/VERB/0/root", "up/up/ADP/2/compound:prt"),
        "grow-v(dog-n)",
        ("up",),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "meaning", "left_out"), CASES)
def test_meanings(rows, meaning, left_out):
    (found,) = derive(Tokens.from_sentences([sentence(*rows)]))
    assert (str(found.derivation.term), found.left_out) == (meaning, left_out)
    assert all(word.type is not None for word in found.derivation.constants)


REFUSED = [
    ("no/no/DET/2/det", "Dogs/dog/NOUN/3/nsubj", "chase/chase/VERB/0/root", "cats/cat/NOUN/3/obj"),
    ("Dogs/dog/NOUN/4/nsubj", "do/do/AUX/4/aux", "not/not/PART/4/advmod", "chase/chase/VERB/0/root"),
    ("Dogs/dog/NOUN/3/nsubj", "may/may/AUX/3/aux", "chase/chase/VERB/0/root", "cats/cat/NOUN/3/obj"),
    ("Nobody/nobody/PRON/2/nsubj", "chases/chase/VERB/0/root", "cats/cat/NOUN/2/obj"),
    ("Dogs/dog/NOUN/2/nsubj", "chase/chase/VERB/0/root", "all/all/DET/4/det", "cats/cat/NOUN/2/obj"),
    ("Dogs/dog/NOUN/4/nsubj", "or/or/CCONJ/3/cc", "mice/mouse/NOUN/1/conj", "sleep/sleep/VERB/0/root"),
]  # fmt: skip


@pytest.mark.parametrize("rows", REFUSED)
def test_what_has_no_meaning_is_refused(rows):
    (found,) = derive(Tokens.from_sentences([sentence(*rows)]))
    assert found.derivation is None
    assert "is refused" in found.reason


def test_other_labels_and_files(tmp_path):
    clear = [
        ("Cats", "cat", "NOUN", "NNS", 3, "nsubjpass"), ("were", "be", "VERB", "VBD", 3, "auxpass"),
        ("chased", "chase", "VERB", "VBN", 0, "ROOT"), ("by", "by", "ADP", "IN", 3, "agent"),
        ("dogs", "dog", "NOUN", "NNS", 4, "pobj"),
    ]  # fmt: skip
    (tmp_path / "text.conllu").write_text(conllu([clear, sentence(*CHASE)]))
    first, _ = derive_file(tmp_path / "text.conllu", labels="clear", tags="penn")
    assert str(first.derivation.term) == "chase-v(cat-n)(dog-n)"
    question = sentence(*CHASE, "?/?/PUNCT/2/punct")
    none = sentence("Yes/yes/INTJ/0/root")
    passive = sentence("Cats/cat/NOUN/3/nsubj:pass", "are/be/AUX/3/aux:pass", "chased/chase/VERB/0/root")
    asked, nothing, lacking = derive(Tokens.from_sentences([question, none, passive]))
    assert "questions" in asked.reason
    assert nothing.reason == "no verb in the main clause"
    assert lacking.reason.startswith("'chased' has not the arguments of a pattern (sv, svo, svoo, svpo); ")
    assert lacking.reason.endswith("nor has a passive without an agent")
    assert derive(Tokens.from_sentences([])) == []


def test_labels_and_tags_are_told_from_the_text():
    clear = [
        ("Cats", "cat", "NOUN", "NNS", 3, "nsubjpass"), ("were", "be", "AUX", "VBD", 3, "auxpass"),
        ("chased", "chase", "VERB", "VBN", 0, "ROOT"), ("by", "by", "ADP", "IN", 3, "agent"),
        ("dogs", "dog", "NOUN", "NNS", 4, "pobj"),
    ]  # fmt: skip
    for rows, meaning in ((clear, "chase-v(cat-n)(dog-n)"), (sentence(*CASES[3][0]), "chase-v(cat-n)(dog-n)")):
        (found,) = derive(Tokens.from_sentences([rows]))
        assert str(found.derivation.term) == meaning
    strange = [("x", "x", "NN", "QQ", 0, "hub"), ("y", "y", "NN", "QQ", 1, "spoke")]
    with pytest.raises(CompositaError, match="cannot tell which label scheme this is: .*--labels"):
        derive(Tokens.from_sentences([strange]))
    tagset, scheme = Tagset.load("penn"), Scheme.load("clear")
    (found,) = derive(Tokens.from_sentences([clear]), labels=scheme, tags=tagset)
    assert str(found.derivation.term) == "chase-v(cat-n)(dog-n)"


def test_blocks_give_what_the_whole_gives(monkeypatch):
    sentences = [sentence(*rows) for rows, *_ in CASES] + [sentence(*rows) for rows in REFUSED]
    whole = derive(Tokens.from_sentences(sentences))
    monkeypatch.setattr(dependencies, "BLOCK", 3)
    assert derive(Tokens.from_sentences(sentences)) == whole
    assert len(whole) == len(sentences)
    for each in whole:
        leaves = [] if each.derivation is None else list(each.derivation.root.leaves())
        assert all(each.words[leaf.place] == leaf.form for leaf in leaves)


def test_a_corpus_is_derived_wholesale(tmp_path, monkeypatch):
    """Each shard by its own labels and tags, in the order of the corpus."""
    (tmp_path / "one.conllu").write_text(conllu([sentence(*rows) for rows, *_ in CASES]))
    clear = [
        ("Cats", "cat", "NOUN", "NNS", 3, "nsubjpass"), ("were", "be", "AUX", "VBD", 3, "auxpass"),
        ("chased", "chase", "VERB", "VBN", 0, "ROOT"), ("by", "by", "ADP", "IN", 3, "agent"),
        ("dogs", "dog", "NOUN", "NNS", 4, "pobj"),
    ]  # fmt: skip
    (tmp_path / "two.conllu").write_text(conllu([clear] * 4))
    corpus = Corpus.build([tmp_path / "one.conllu", tmp_path / "two.conllu"], tmp_path / "corpus")
    monkeypatch.setattr(dependencies, "BLOCK", 3)
    found = list(derive_corpus(corpus))
    expected = [meaning for _, meaning, _ in CASES] + ["chase-v(cat-n)(dog-n)"] * 4
    assert [str(each.derivation.term) for each in found] == expected
    assert [each.left_out for each in found[: len(CASES)]] == [left_out for *_, left_out in CASES]


def test_own_refusals():
    grammar = Grammar.parse('S -> "x" : x-n\nrefuse "cats" : "they are no dogs"')
    (found,) = derive(Tokens.from_sentences([sentence(*CHASE)]), grammar=grammar)
    assert found.reason == "word 3: 'cats' is refused: they are no dogs"
    assert (grammar.refusal("cats").reason, grammar.refusal("dogs")) == ("they are no dogs", None)


def test_the_same_as_by_the_grammar():
    english = Grammar.load("english")
    words = {"dogs": "dog-n", "chase": "chase-v", "cats": "cat-n", "live": "live-v", "houses": "house-n"}
    for rows, said in ((CHASE, "dogs chase cats"), (CASES[5][0], "dogs live in houses")):
        (found,) = derive(Tokens.from_sentences([sentence(*rows)]))
        assert found.derivation.phrase == english.derivations(said, words)[0].phrase
        assert "<svg" in found.derivation.svg()
    with pytest.raises(CompositaError, match="unknown pattern"):
        derive(Tokens.from_sentences([sentence(*CHASE)]), patterns="svx")
