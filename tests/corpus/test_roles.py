"""Roles: the same links in three schemes, and agreement with an oracle on real and random trees."""

import io
import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.corpus import role_kernels
from composita.corpus.columns import Token, Tokens
from composita.corpus.labels import Role, Scheme
from composita.corpus.roles import Via, resolve
from composita.corpus.tags import Tagset
from tests.corpus.annotated_sentences import SENTENCES
from tests.corpus.roles_oracle import FIELDS
from tests.corpus.roles_oracle import roles as expected_roles
from tests.data import shared

SHOWN = set(Role) - {Role.NONE, Role.AUXILIARY, Role.CONJUNCT}
COMBINATIONS = [
    ("ud", "upos", "penn"),
    ("ud", "penn", "penn"),
    ("clear", "upos", "penn"),
    ("clear", "penn", "penn"),
    ("malt", "treetagger", "treetagger"),
    ("malt", "penn", "penn"),
]


def resolved(sentences, scheme, tagset):
    return resolve(Tokens.from_sentences(sentences), Scheme.load(scheme), Tagset.load(tagset))


def links_of(sentence, scheme, tagset):
    roles = resolved([sentence], scheme, tagset)
    lemma = [token[1] for token in sentence]
    links = set()
    for link in roles.links():
        if link.role in SHOWN:
            marker = [lemma[link.marker]] if link.marker >= 0 else []
            links.add(" ".join([lemma[link.predicate], link.role.name, lemma[link.argument], *marker]))
    return links, {lemma[i] for i in roles.passive.nonzero()[0]}


@pytest.mark.parametrize(("scheme", "tagset", "tags"), COMBINATIONS)
@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda s: s.text)
def test_three_schemes_give_the_same_links(sentence, scheme, tagset, tags):
    links, passive = links_of(sentence.tokens(scheme, tags), scheme, tagset)
    assert links == sentence.links
    assert passive == sentence.passive


@pytest.mark.parametrize("scheme", ["ud", "clear"])
@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda s: s.text)
def test_without_treebank_tags(sentence, scheme):
    """UPOS alone does not tell participles: what a bare one says is missed, and nothing else."""
    links, passive = links_of(sentence.tokens(scheme, "none"), scheme, "upos")
    assert passive <= sentence.passive
    if not sentence.text.startswith(("reduced", "conjoined participles", "a clause that a participle")):
        assert links == sentence.links
        assert passive == sentence.passive


def test_links_say_how_they_were_found():
    found = {}
    for sentence in SENTENCES:
        tokens = sentence.tokens("ud")
        for link in resolved([tokens], "ud", "upos").links():
            found.setdefault(link.via, set()).add(f"{tokens[link.predicate][1]} {tokens[link.argument][1]}")
    assert set(found) == set(Via)
    assert {"chase wolf", "dog furry"} <= found[Via.CONJUNCT]
    assert found[Via.SHARED] == {"chase cat", "eat cat"}
    assert "live house" in found[Via.RELATIVE] & found[Via.REDUCED]


def test_lemmas_may_be_missing():
    rows = next(s for s in SENTENCES if s.text == "passive with agent, in a treebank without obl:agent").tokens("ud")
    rows = [(form, "_", *rest) for form, _, *rest in rows]
    assert resolved([rows], "ud", "upos").role.tolist()[-1] == Role.SUBJECT


def test_one_agent_and_none_of_time():
    """Cats are chased by Monday by dogs by cars: the first that can be an agent is."""
    rows = [("cats", "cat", "NOUN", "NNS", 3, "nsubj:pass"), ("are", "be", "AUX", "VBP", 3, "aux:pass")]
    rows.append(("chased", "chase", "VERB", "VBN", 0, "root"))
    for place, (lemma, upos) in enumerate([("monday", "PROPN"), ("dog", "NOUN"), ("car", "NOUN")]):
        rows.append(("by", "by", "ADP", "IN", 5 + 2 * place, "case"))
        rows.append((lemma, lemma, upos, "NN", 3, "obl"))
    roles = resolved([rows], "ud", "upos")
    assert roles.role[[4, 6, 8]].tolist() == [Role.OBLIQUE, Role.SUBJECT, Role.OBLIQUE]


def test_no_tokens():
    roles = resolved([], "ud", "upos")
    assert len(roles.links()) == len(roles.role) == 0


# Agreement with the oracle.


def check(sentences, scheme, tagset):
    """Compare every array token by token."""
    tokens = Tokens.from_sentences(sentences)
    roles = resolve(tokens, Scheme.load(scheme), Tagset.load(tagset))
    for start, sentence in zip(tokens.starts.tolist(), sentences, strict=False):
        expected = expected_roles([Token(*row) for row in sentence], scheme, tagset)
        for name in FIELDS:
            part = getattr(roles, name)[start : start + len(sentence)]
            if name in ("governor", "marker", "antecedent", "first", "shared"):
                part = np.where(part < 0, part, part - start)
            assert part.tolist() == expected[name], (name, sentence)


def read_conllu(lines):
    for _, group in itertools.groupby(lines, lambda line: line.strip() != ""):
        rows = [line.rstrip("\n").split("\t") for line in group]
        rows = [row for row in rows if len(row) == 10 and row[0].isdigit()]
        if rows:
            yield [(r[1], r[2], r[3], r[4], int(r[6]), r[7]) for r in rows]


def read_wacky(lines):
    rows = []
    for line in lines:
        fields = line.rstrip("\r\n").split("\t")
        if len(fields) == 6:
            rows.append(fields)
        elif line.startswith("</s>") and rows:
            place = {row[3]: i for i, row in enumerate(rows, 1)}
            yield [(r[0], r[1], "_", r[2], place.get(r[4], 0), r[5]) for r in rows]
            rows = []


@pytest.mark.parametrize("tagset", ["upos", "penn"])
def test_oracle_on_universal_dependencies(tagset):
    with shared("corpora/ud_english_ewt-dev.conllu").open(encoding="utf-8") as lines:
        check(list(read_conllu(lines)), "ud", tagset)


@pytest.mark.parametrize("tagset", ["upos", "penn"])
def test_oracle_on_wikipedia(tagset):
    with pa.input_stream(str(shared("corpora/enwiki-0000.conllu.zst")), compression="zstd") as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8")
        check(list(itertools.islice(read_conllu(lines), 3000)), "clear", tagset)


def test_oracle_on_ukwac():
    with shared("corpora/ukwac_sample_wacky.txt").open(encoding="latin-1") as lines:
        check(list(read_wacky(lines)), "malt", "treetagger")


def words(scheme):
    """Random words: any relation of the scheme, and words and tags that the rules look at."""
    table = Scheme.load(scheme)
    relations = [*table.relations, *table.relations, "punct", "nsubj:odd", "nonsense"]
    lemmas = ["dog", "time", "by", "to", "be", "give", "that", "who", "'s", "_"]
    tags = {"ud": PENN, "clear": PENN, "malt": TREETAGGER}[scheme]
    return st.tuples(st.sampled_from(lemmas), st.sampled_from(tags), st.sampled_from(relations), st.integers(0, 12))


PENN = ["NN", "NNP", "VBD", "VBN", "VBG", "MD", "JJ", "RB", "PRP", "WDT", "WP", "IN", "CD", "_"]
TREETAGGER = ["NN", "NP", "VVD", "VVN", "VVG", "VHN", "VB", "VBN", "MD", "JJ", "RB", "PP", "WDT", "IN", "CD"]
UPOS = {
    "NN": "NOUN",
    "NNP": "PROPN",
    "MD": "AUX",
    "JJ": "ADJ",
    "RB": "ADV",
    "PRP": "PRON",
    "WP": "PRON",
    "_": "VERB",
}


def sentence_of(drawn):
    """Turn drawn words into tokens; heads may make cycles and several roots."""
    size = len(drawn)
    return [
        (lemma, lemma, UPOS.get(tag, "VERB" if tag[0] == "V" else "X"), tag, head % (size + 1), relation)
        for lemma, tag, relation, head in drawn
    ]


@pytest.mark.parametrize(("scheme", "tagset"), [("ud", "upos"), ("clear", "upos"), ("malt", "treetagger")])
def test_oracle_on_random_graphs(scheme, tagset):
    @settings(max_examples=300, deadline=None, derandomize=True)
    @given(st.lists(st.lists(words(scheme), min_size=1, max_size=12), min_size=1, max_size=3))
    def agrees(drawn):
        check([sentence_of(d) for d in drawn], scheme, tagset)

    agrees()


# Loops as plain Python: NumPy refuses what lies outside, and what is negative is told here.


class Guarded(np.ndarray):
    """An array that refuses negative positions."""

    def __getitem__(self, key):
        assert not isinstance(key, int | np.integer) or key >= 0
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        assert not isinstance(key, int | np.integer) or key >= 0
        super().__setitem__(key, value)


@pytest.mark.parametrize("scheme", ["ud", "clear", "malt"])
def test_no_loop_leaves_its_arrays(scheme, monkeypatch):
    compiled = {name: loop for name, loop in vars(role_kernels).items() if hasattr(loop, "py_func")}
    assert len(compiled) > 10

    def guarded(loop):
        def run(*arguments):
            return loop(*(a.view(Guarded) if isinstance(a, np.ndarray) else a for a in arguments))

        return run

    generator = np.random.default_rng(7)
    relations = [*Scheme.load(scheme).relations, "nonsense"]
    sentences = []
    for size in generator.integers(1, 30, 150).tolist():
        tags = generator.choice(TREETAGGER, size).tolist()
        names = generator.choice(relations, size).tolist()
        lemmas = generator.choice(["dog", "by", "to", "be", "give", "who", "'s"], size).tolist()
        heads = generator.integers(0, size + 1, size).tolist()
        sentences.append([(w, w, "X", t, h, r) for w, t, h, r in zip(lemmas, tags, heads, names, strict=True)])
    tokens = Tokens.from_sentences(sentences)
    tokens.head[::17] += 40  # outside of the sentence
    tokens.head[::19] -= 40
    arguments = tokens, Scheme.load(scheme), Tagset.load("treetagger")
    fast = resolve(*arguments)
    for name, loop in compiled.items():
        monkeypatch.setattr(role_kernels, name, guarded(loop.py_func))
    slow = resolve(*arguments)
    for name in FIELDS:
        assert np.array_equal(getattr(fast, name), getattr(slow, name)), name
