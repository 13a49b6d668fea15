"""The miniature world: what is planted, that the text is parsed as meant, and that learning finds what was planted."""

import hashlib
from collections import Counter
from itertools import groupby

import numpy as np
import pytest

from composita.corpus.corpus import Corpus
from composita.corpus.miniature import plant, recovery, write_miniature
from composita.corpus.miniature.sentences import Noun, nominal, verbal
from composita.corpus.miniature.words import (
    ADJECTIVES,
    DITRANSITIVE,
    INTRANSITIVE,
    NOISE,
    NOUNS,
    TOPICS,
    TRANSITIVE,
    topic_numbers,
)
from composita.counting.count import count
from composita.counting.vocabulary import Vocabulary
from composita.evaluation.benchmarks import Benchmark
from composita.evaluation.scoring import evaluate
from composita.functions.learn import learn
from composita.spaces.space import Space
from composita.store.errors import UsageError


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_miniature(tmp_path_factory.mktemp("miniature"))


@pytest.fixture(scope="module")
def counts(world, tmp_path_factory):
    corpus = Corpus.build([world.text], tmp_path_factory.mktemp("made") / "corpus")
    vocabulary = Vocabulary.from_corpus(corpus, nouns=400, verbs=100, adjectives=20, contexts=400, stop=0)
    return count(corpus, vocabulary, phrases="sv,svo,vo,an,svoo", sv_without_object=True)


@pytest.fixture(scope="module", params=["svd", "nmf"])
def lexicon(request, counts):
    space = Space.from_counts(counts, reduce=request.param, dimensions=25, seed=0)
    return learn(space, patterns=("sv", "svo", "svoo", "an"))


def test_words_are_distinct():
    contexts = [word for line in (*TOPICS.values(), *NOISE.values()) for word in line.split()]
    nouns = [pair.split(":")[0] for line in NOUNS.values() for pair in line.split()]
    every = [*contexts, *nouns, *ADJECTIVES, *INTRANSITIVE, *TRANSITIVE, *DITRANSITIVE]
    assert [word for word, times in Counter(every).items() if times > 1] == []
    assert {len(line.split()) for line in TOPICS.values()} == {16}
    for verbs in (INTRANSITIVE, TRANSITIVE):
        for verb in verbs.values():
            topics = [set(topic_numbers(selectors)) for _, selectors in verb.senses]
            assert all(landmark in verbs for landmark, _ in verb.senses)
            assert not topics or not topics[0] & topics[1]


def test_what_is_planted_is_a_distribution():
    truth = plant(seed=3)
    for vector in truth.nouns.values():
        assert vector.sum() == pytest.approx(1) and (vector >= 0).all()
    for (word, arity), tensor in truth.tensors.items():
        assert tensor.shape == (10,) * (arity + 1), word
        np.testing.assert_allclose(tensor.sum(axis=0), 1)
        assert (tensor >= 0).all()
    assert len(truth.tensors) == len(INTRANSITIVE) + len(TRANSITIVE) + len(DITRANSITIVE) + len(ADJECTIVES)


def test_same_seed_same_world(world, tmp_path):
    def digests(folder):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.*"))}

    again, other = write_miniature(tmp_path / "again"), write_miniature(tmp_path / "other", seed=1)
    assert digests(world.folder) == digests(again.folder)
    assert all(digests(other.folder)[name] != digest for name, digest in digests(world.folder).items())


def test_trees_are_trees(world):
    lines = world.text.read_text().splitlines()
    sentences = [list(group) for blank, group in groupby(lines, key=lambda line: not line) if not blank]
    assert len(sentences) == world.sentences and sum(map(len, sentences)) == world.tokens
    for sentence in sentences[:500]:
        heads = [int(line.split("\t")[6]) for line in sentence]
        assert heads.count(0) == 1
        for place in range(1, len(heads) + 1):
            steps = 0
            while place:
                place, steps = heads[place - 1], steps + 1
                assert steps <= len(heads)


def test_sentences_as_they_are_said():
    def say(sentence):
        return " ".join(token.form for token in sentence)

    boy, book, girl = Noun("boy"), Noun("book", "old"), Noun("girl")
    assert say(verbal(("give", "gave"), [book, girl, boy])) == "The boy gave the girl the old book ."
    assert say(verbal(("give", "gave"), [book, girl, boy], with_to=True)) == "The boy gave the old book to the girl ."
    assert say(verbal(("eat", "eaten"), [book, boy], passive=True)) == "The old book was eaten by the boy ."
    assert say(nominal(boy, list("abcde"))) == "The boy near a and b with c , d and e ."
    assert say(nominal(boy)) == "The boy ."


def test_counted_phrases_are_those_that_were_written(counts, world):
    """Actives, passives, both forms of ditransitives and adjectives are all found in the parsed text."""
    names = {"svo": 2, "sv": 1, "svoo": 3, "an": 1}
    found = {}
    for pattern, arity in names.items():
        for label in counts.labels(counts.rows(pattern)):
            head, _, rest = label[:-1].partition("(")
            found.setdefault((head, arity), set()).add(tuple(rest.split(", ")))
    for key, attested in world.truth.attested.items():
        # Adjectives stand with further nouns, the arguments of verbs.
        assert found[key] >= attested if key[0].endswith("-a") else found[key] == attested, key


def test_benchmarks_are_read(world):
    for name, path in world.benchmarks.items():
        benchmark = Benchmark.load(path)
        assert benchmark.format == name and len(benchmark.ratings.participants) == 24
        assert set(benchmark.words) <= {*world.truth.nouns, *(word for word, _ in world.truth.tensors)}


def test_learning_finds_what_was_planted(world, lexicon):
    rows = recovery(lexicon, world.truth)
    assert len(rows) == len(world.truth.tensors)
    mean = {arity: np.mean([row.cosine for row in rows if row.arity == arity]) for arity in (1, 2, 3)}
    assert mean[1] > 0.75 and mean[2] > 0.65 and mean[3] > 0.4
    assert abs(np.mean([row.floor for row in rows])) < 0.1
    assert all(row.unseen > 0 and row.attested > 0 for row in rows)
    baseline = np.mean([row.cosine for row in recovery(lexicon, world.truth, "add")])
    assert np.mean([row.cosine for row in rows]) > baseline + 0.1
    with pytest.raises(UsageError, match="the truth that write_miniature returns"):
        recovery(lexicon, plant())
    with pytest.raises(UsageError, match="kronecker gives matrices"):
        recovery(lexicon, world.truth, "kronecker")


def test_methods_differ_as_theory_says(world, lexicon):
    """Learned functions see senses and word order; what ignores arguments, or their order, cannot."""
    scores = evaluate(lexicon, str(world.benchmarks["gs2011"]), "verb,add,learned", bootstrap=200)
    learned, add = scores["learned"], scores["add"]
    assert learned.rho_mean > 0.6 and learned.separation > 0.85 and learned.covered == 160
    assert learned.rho_individual_interval[0] > add.rho_individual_interval[1] > 0
    assert scores["verb"].separation == pytest.approx(0.5, abs=0.02)
    assert evaluate(lexicon, str(world.benchmarks["ml2008"]), "learned", bootstrap=0)["learned"].rho_mean > 0.7
