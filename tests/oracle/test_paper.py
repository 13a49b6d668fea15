"""The whole pipeline, from text to Spearman, against the paper said again in plain Python."""

import math
import random
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from composita.corpus.corpus import Corpus
from composita.counting.count import count
from composita.counting.vocabulary import Vocabulary
from composita.evaluation.benchmarks import Benchmark
from composita.evaluation.scoring import evaluate
from composita.functions.learn import learn
from composita.functions.multistep import MultiStep
from composita.functions.penalty import relative_grid
from composita.spaces.space import Space
from tests.oracle import paper

NOUNS, VERBS, CONTEXTS, STOP, DIMENSIONS, LEAST, NONZERO = 11, 3, 14, 2, 5, 3, 4
METHODS = "verb,add,multiply,regression"


@pytest.fixture(scope="module")
def text():
    """Sentences in which nouns and verbs have kinds, and each kind its own words beside it."""
    rng = random.Random(11)
    kinds = ["ash", "elm", "oak", "yew", "cod", "eel", "ray"]
    verbs, beside = ["chase", "meet", "see"], [f"thing{letter}" for letter in "abcdefghijkl"]
    blocks = []
    for _ in range(1500):
        subject, object_ = rng.choices(range(7), [7, 6, 5, 4, 3, 2, 2], k=2)
        verb = rng.choices(range(3), [4, 3, 2])[0]
        passive, without = rng.random() < 0.2, rng.random() < 0.15
        places = [(3 * subject + 2 * verb + rng.randrange(3)) % 12, (5 * object_ + verb + rng.randrange(4)) % 12]
        places.append(min(int(rng.expovariate(0.4)), 11))
        rows = [(kinds[subject], "NOUN", 2, "obl:agent" if passive else "nsubj"), (verbs[verb], "VERB", 0, "root")]
        if not without:
            rows.append((kinds[object_], "NOUN", 2, "nsubj:pass" if passive else "obj"))
        rows += [(beside[place], "ADV" if place % 3 else "NOUN", 2, "dep") for place in places]
        lines = (f"{i}\t{w}\t{w}\t{tag}\t_\t_\t{head}\t{rel}\t_\t_" for i, (w, tag, head, rel) in enumerate(rows, 1))
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


@pytest.fixture(scope="module")
def ratings():
    """Pairs of transitive sentences, each rated by three people."""
    rng = random.Random(5)
    lines = ["participant verb subject object landmark input hilo"]
    nouns = ["ash", "elm", "oak", "yew", "cod"]
    for verb, landmark in (("chase", "meet"), ("chase", "see"), ("meet", "see")):
        # Never a pair and its reverse, which a sum cannot tell apart but for rounding.
        for object_, subject in rng.sample(list(combinations(nouns, 2)), 6):
            mean = rng.randrange(2, 7)
            lines += [
                f"p{p} {verb} {subject} {object_} {landmark} {mean + rng.randrange(-1, 2)} HIGH" for p in range(3)
            ]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- the two pipelines


@pytest.fixture(scope="module")
def ours(text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    (folder / "text.conllu").write_text(text)
    corpus = Corpus.build([folder / "text.conllu"], folder / "corpus")
    vocabulary = Vocabulary.from_corpus(
        corpus, nouns=NOUNS, verbs=VERBS, contexts=CONTEXTS, stop=STOP, proper="no", pronouns="no"
    )
    counts = count(corpus, vocabulary, phrases="sv,svo")
    space = Space.from_counts(counts, weighting="ppmi", reduce="svd", dimensions=DIMENSIONS)
    lexicon = learn(space, learner=MultiStep(min_examples=LEAST), min_examples=LEAST, min_nonzero=NONZERO)
    return counts, space, lexicon


@pytest.fixture(scope="module")
def theirs(text):
    sentences = paper.read(text)
    counts = paper.Counter(word for sentence in sentences for word, _, _ in sentence if word)
    words = {*paper.ranked(counts, "n")[:NOUNS], *paper.ranked(counts, "v")[:VERBS]}
    contexts = paper.ranked(counts, "nvar")[STOP : STOP + CONTEXTS]
    cells = paper.count(sentences, words, contexts)
    weighted = paper.ppmi(cells, sorted(words), contexts)
    right = paper.right_vectors([weighted[word] for word in sorted(words)], DIMENSIONS)
    vectors = {item: [paper.dot(row, v) for v in right] for item, row in weighted.items()}
    nonzero = {item: sum(x > 0 for x in row) for item, row in weighted.items()}
    return words, contexts, cells, vectors, nonzero


def grid(inputs):
    """Give the lambdas that are tried: multiples of the largest eigenvalue of the kernel."""
    largest = paper.eigen([[paper.dot(x, z) for z in inputs] for x in inputs])[0][0]
    return [largest * step for step in relative_grid().tolist()]


@pytest.fixture(scope="module")
def functions(theirs):
    """Learn the tensor and the matrix of each verb."""
    words, _, _, vectors, nonzero = theirs
    unit = {item: paper.normalised(x) for item, x in vectors.items() if any(x)}
    found = {}
    for verb in (w for w in words if w[-1] == "v"):
        phrases = sorted(i for i in unit if i.startswith(f"{verb}(") and nonzero[i] >= NONZERO)
        pairs = [(i[len(verb) + 1 : -1].split(", "), unit[i]) for i in phrases]
        twos = [(unit[a[0]], unit[a[1]], y) for a, y in pairs if len(a) == 2]
        ones = [(unit[a[0]], y) for a, y in pairs if len(a) == 1]
        found[verb, 2] = paper.two_step(twos, grid, LEAST)
        found[verb, 1] = paper.ridge([x for x, _ in ones], [y for _, y in ones], grid)
    return found


# ---------------------------------------------------------------- stage by stage


def test_counts(ours, theirs):
    counts, (words, contexts, cells, _, _) = ours[0], theirs
    assert sorted(counts.contexts) == sorted(contexts)
    assert {label for label, core in zip(counts.names.words, counts.core, strict=True) if core} == words
    labels = counts.labels()
    assert sorted(labels) == sorted(cells)
    matrix = counts.matrix()
    for label, first, last in zip(labels, matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        row = {counts.contexts[c]: n for c, n in zip(matrix.indices[first:last], matrix.data[first:last], strict=True)}
        assert row == {c: n for c, n in cells[label].items() if n}


def test_vectors(ours, theirs):
    space, vectors = ours[1], theirs[3]
    for label, row in zip(space.labels(), space.array, strict=True):
        np.testing.assert_allclose(row, vectors[label], atol=1e-6)


def test_functions(ours, functions):
    lexicon = ours[2]
    assert {(head, arity) for arity in (1, 2) for head in lexicon.heads(arity)} == set(functions)
    for (verb, arity), matrix in functions.items():
        dense = lexicon.function(verb, arity).dense()
        expected = np.array(matrix).reshape((DIMENSIONS,) * (arity + 1))  # sentence, subject, object
        np.testing.assert_allclose(dense, expected, atol=1e-5 * np.abs(expected).max())


def test_scores(ours, theirs, functions, ratings):
    vectors = theirs[3]
    benchmark = Benchmark.from_text(ratings)
    scores = evaluate(ours[2], benchmark, METHODS, bootstrap=10)

    @cache
    def composed(method, verb, subject, object_):
        v, s, o = (vectors[label] for label in (verb, subject, object_))
        if method == "verb":
            return v
        if method == "add":
            return [sum(xs) for xs in zip(*map(paper.normalised, (v, o, s)), strict=True)]
        if method == "multiply":
            return [math.prod(xs) for xs in zip(v, o, s, strict=True)]
        return paper.apply_two(functions[verb, 2], paper.normalised(o), paper.normalised(s))

    rows = [line.split() for line in ratings.splitlines()[1:]]
    items = sorted({tuple(row[1:5]) for row in rows})
    means = {i: [float(row[5]) for row in rows if tuple(row[1:5]) == i] for i in items}
    for method in METHODS.split(","):
        cosines = {
            (v, s, o, w): paper.cosine(*(composed(method, f"{x}-v", f"{s}-n", f"{o}-n") for x in (v, w)))
            for v, s, o, w in items
        }
        individual = paper.spearman([cosines[tuple(r[1:5])] for r in rows], [float(r[5]) for r in rows])
        mean = paper.spearman([cosines[i] for i in items], [math.fsum(means[i]) / len(means[i]) for i in items])
        found = scores[method]
        assert found.items == found.covered == len(items)
        assert found.rho_individual == pytest.approx(individual, abs=1e-6), method
        assert found.rho_mean == pytest.approx(mean, abs=1e-6), method
