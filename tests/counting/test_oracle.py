"""Counts agree with the oracle, on trees annotated in three schemes and on random ones."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.corpus.tags import Tagset
from composita.counting import kernels
from tests.corpus.annotated_sentences import SENTENCES
from tests.corpus.test_roles import sentence_of
from tests.counting import oracle
from tests.counting.helpers import count_directly, vocabulary

ALL = "sv,svo,vo,an,nn,svoo,svpo"
LEMMAS = ["dog", "cat", "bird", "give", "run", "be", "time", "by", "to", "in", "up", "who", "that", "furry", "_"]
RELATIONS = {
    "ud": [
        "nsubj",
        "obj",
        "iobj",
        "obl",
        "amod",
        "compound",
        "nsubj:pass",
        "obl:agent",
        "conj",
        "acl:relcl",
        "acl",
        "case",
        "compound:prt",
        "xcomp",
        "root",
    ],
    "clear": [
        "nsubj",
        "dobj",
        "dative",
        "prep",
        "pobj",
        "amod",
        "compound",
        "nsubjpass",
        "agent",
        "conj",
        "relcl",
        "acl",
        "prt",
        "xcomp",
        "ROOT",
        "auxpass",
    ],
    "malt": ["SBJ", "OBJ", "IOBJ", "ADV", "PMOD", "NMOD", "LGS", "VC", "COORD", "PRT", "ROOT", "PRD"],
}
TAGS = ["NN", "NN", "NN", "NNP", "VBD", "VBD", "VBN", "VBG", "JJ", "RB", "PRP", "WDT", "IN", "RP"]
TREETAGGER = ["NN", "NN", "NN", "NP", "VVD", "VVD", "VVN", "VVG", "JJ", "RB", "PP", "WDT", "IN", "RP"]


def random_sentences(scheme):
    """Random graphs, and annotated sentences with other lemmas of which a word may hang elsewhere."""
    tags = TREETAGGER if scheme == "malt" else TAGS
    word = st.tuples(
        st.sampled_from(LEMMAS), st.sampled_from(tags), st.sampled_from(RELATIONS[scheme]), st.integers(0, 12)
    )
    graph = st.lists(word, min_size=1, max_size=12).map(sentence_of)
    annotated = st.sampled_from([s.tokens(scheme, "treetagger" if scheme == "malt" else "penn") for s in SENTENCES])
    changed = st.builds(change, annotated, st.lists(st.sampled_from(LEMMAS[:7]), min_size=12, max_size=12), word)
    return st.lists(st.one_of(graph, changed, changed), min_size=1, max_size=5)


def change(sentence, lemmas, word):
    """Give nouns and verbs other lemmas, and let one word hang elsewhere."""
    lemma, _, relation, place = word
    rows = [
        (form, other if upos in ("NOUN", "VERB") and other != "_" else old, upos, tag, head, label)
        for (form, old, upos, tag, head, label), other in zip(sentence, lemmas, strict=False)
    ]
    if lemma < "d":
        form, old, upos, tag, _, _ = rows[place % len(rows)]
        rows[place % len(rows)] = (form, old, upos, tag, place % (len(rows) + 1), relation)
    return rows


WORDS = sorted({*LEMMAS[:-1], *(row[1] for s in SENTENCES for row in s.words)})
LABELS = [f"{lemma}-{letter}" for lemma in WORDS for letter in "nvar"]
CONTEXTS = ["sentence", "dependency", "window:2", "window:3,0", "window:0,1", "window:3:linear", "window:1,4:harmonic"]
standing = st.sampled_from(["nouns", "arguments", "no"])


def split(left_out, moved, no_contexts, proper, pronouns):
    """Divide the words into a core, others and contexts, but for those that are left out."""
    core = [w for w in LABELS if w[-1] in "nv" and w not in left_out | moved]
    others = [w for w in (*LABELS, *(f"{lemma}-p" for lemma in WORDS)) if w not in left_out and w not in core]
    return core, others, [w for w in LABELS if w not in no_contexts], proper, pronouns


some = st.sets(st.sampled_from(LABELS), max_size=6)
words = st.builds(split, some, some, some, standing, standing)
switches = st.fixed_dictionaries({name: st.booleans() for name in oracle.SWITCHES})


def check(sentences, scheme, tagset, chosen, **options):
    core, others, contexts, proper, pronouns = chosen
    known = oracle.Words(core, others, contexts, proper, pronouns)
    vocab = vocabulary(core, others, contexts, proper=proper, pronouns=pronouns)
    patterns = options.pop("patterns", ALL)
    switch = options.pop("switches", {})
    heads = options.pop("heads", None)
    expected = oracle.count(
        sentences, scheme, tagset, known, [p for p in patterns.split(",") if p], heads, switches=switch, **options
    )
    heads = None if heads is None else tuple(sorted(heads))
    assert count_directly(sentences, scheme, tagset, vocab, patterns, heads, **options, **switch) == expected
    return expected


@pytest.mark.parametrize(
    ("scheme", "tagset"), [("ud", "upos"), ("clear", "upos"), ("clear", "penn"), ("malt", "treetagger")]
)
def test_agrees_on_random_trees(scheme, tagset):
    seen = {}

    @settings(max_examples=250, deadline=None, derandomize=True)
    @given(random_sentences(scheme), words, switches, st.sampled_from(CONTEXTS), st.booleans(), st.booleans())
    def agrees(sentences, chosen, switch, context, no_object, some_heads):
        heads = {w for w in chosen[0] if w[0] in "bdgrf"} if some_heads else None
        _, frequency = check(
            sentences, scheme, tagset, chosen, switches=switch, context=context, no_object=no_object, heads=heads
        )
        for pattern, _ in frequency:
            seen[pattern] = seen.get(pattern, 0) + 1

    agrees()
    assert set(seen) >= {"word", "sv", "svo", "vo", "an", "svpo"}, seen


EVERYTHING = sorted({f"{row[1]}-{letter}" for s in SENTENCES for row in s.words for letter in "nvarp"})
CHOSEN = (
    [w for w in EVERYTHING if w[-1] in "nv"],
    [w for w in EVERYTHING if w[-1] in "arp"],
    EVERYTHING,
    "arguments",
    "arguments",
)


@pytest.mark.parametrize("context", CONTEXTS)
def test_agrees_on_annotated_sentences(context):
    for scheme, tagset in (("ud", "penn"), ("clear", "penn"), ("malt", "treetagger")):
        tags = "treetagger" if scheme == "malt" else "penn"
        check([s.tokens(scheme, tags) for s in SENTENCES], scheme, tagset, CHOSEN, context=context)


def test_three_schemes_give_the_same_phrases():
    results = []
    for scheme, tagset, tags in (
        ("ud", "penn", "penn"),
        ("clear", "penn", "penn"),
        ("malt", "treetagger", "treetagger"),
    ):
        vocab = vocabulary(*CHOSEN[:3])
        results.append(count_directly([s.tokens(scheme, tags) for s in SENTENCES], scheme, tagset, vocab, ALL)[1])
    phrases = [
        {item: n for item, n in result.items() if item[0] != "word" and not item[1].startswith("be-")}
        for result in results
    ]
    assert phrases[0] == phrases[1] == phrases[2]
    assert phrases[0]["svo", "chase-v(cat-n, dog-n)"] > 5
    assert phrases[0]["svoo", "give-v(book-n, girl-n, boy-n)"] >= 3
    assert phrases[0]["svpo", "live_in-v(house-n, dog-n)"] >= 3
    assert phrases[0]["an", "furry-a(dog-n)"] >= 1
    assert phrases[0]["nn", "guard-n(dog-n)"] >= 1


@pytest.mark.parametrize("context", CONTEXTS)
def test_loops_as_plain_python(context, monkeypatch):
    """NumPy refuses what lies outside of the arrays."""
    compiled = {name: loop for name, loop in vars(kernels).items() if hasattr(loop, "py_func")}
    assert len(compiled) > 10
    for name, loop in compiled.items():
        monkeypatch.setattr(kernels, name, loop.py_func)
    monkeypatch.setattr(kernels, "_trailing_zeros", lambda bits: np.uint64((int(bits) & -int(bits)).bit_length() - 1))
    with np.errstate(over="ignore"):
        check([s.tokens("clear") for s in SENTENCES[:12]], "clear", "penn", CHOSEN, context=context)


@pytest.mark.parametrize("tags", ["penn", "none"])
@pytest.mark.parametrize("relative", [True, False])
def test_picking_sentences_changes_nothing(tags, relative, monkeypatch):
    """Few sentences have a head, so that only these are looked at; with and without tags of relative words."""
    tagset = Tagset.load("upos")
    tagset = tagset if relative else replace(tagset, relative=())
    monkeypatch.setattr(Tagset, "load", lambda _: tagset)
    sentences = [s.tokens("clear", tags) for s in SENTENCES]
    for heads in (("live-v",), ("chase-v",)):
        found = []
        for whole in (0.0, 1.1):
            monkeypatch.setattr("composita.counting.slices.WHOLE", whole)
            found.append(count_directly(sentences, "clear", "upos", vocabulary(*CHOSEN[:3]), "sv,svo,svpo", heads))
        assert found[0] == found[1]
        assert any(item[0] == "sv" for item in found[0][1])


def test_the_picture_shows_what_is_found():
    drawing = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "draw_patterns.py"))
    assert {example[0] for example in drawing["EXAMPLES"]} == set(ALL.split(","))
    for pattern, text, label, _ in drawing["EXAMPLES"]:
        sentence = drawing["read"](text)
        words = {f"{row[1]}-{letter}" for row in sentence for letter in "nva"}
        found = count_directly([sentence], "ud", "penn", vocabulary(words, [], ["dog-n"]), pattern)[1]
        assert found[pattern, label] == 1
    svg = Path(__file__).parents[2] / "docs" / "patterns.svg"
    assert svg.read_text(encoding="utf-8") == drawing["draw"]()
