"""Forms: which word each form of the text was, counted beside all else."""

from collections import Counter
from dataclasses import replace

import pyarrow.compute as pc
import pytest

from composita.corpus.corpus import Corpus
from composita.corpus.synthetic import write_synthetic
from composita.counting import count as counting
from composita.counting.count import count
from composita.counting.counts import Counts
from composita.counting.job import Limits
from composita.counting.vocabulary import Vocabulary
from composita.store.folder import Folder
from tests.counting.helpers import make_corpus, vocabulary

LETTER = {"NOUN": "n", "PROPN": "n", "VERB": "v", "ADJ": "a", "PRON": "p"}


def as_dictionary(forms):
    return {(row["form"], row["label"]): row["count"] for row in forms.to_pylist()}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    for number in range(3):
        write_synthetic(folder / f"{number}.conllu", 1500, seed=number)
        Corpus.build([folder / f"{number}.conllu"], folder / "corpus")
    return Corpus.open(folder / "corpus")


@pytest.fixture(scope="module")
def words(corpus):
    return Vocabulary.from_corpus(corpus, nouns=60, verbs=30, adjectives=20, contexts=100, stop=5)


def test_forms_are_those_of_the_tokens(corpus, words):
    counts = count(corpus, words, phrases="svo")
    labels = set(counts.names.words)
    expected = Counter(
        (token.form.lower(), label)
        for shard in corpus.shards()
        for sentence in shard.load()
        for token in sentence
        if (label := f"{token.lemma.lower()}-{LETTER.get(token.upos, '')}") in labels
    )
    assert as_dictionary(counts.forms) == expected
    assert len({form for form, _ in expected}) > 100
    column = counts.forms.column("form").to_pylist()
    assert column == sorted(column)


def test_all_tokens_of_a_form_are_known(corpus, words, tmp_path):
    counts = count(corpus, words)
    every = Counter(token.form.lower() for shard in corpus.shards() for sentence in shard.load() for token in sentence)
    rows = counts.forms.to_pylist()
    assert {row["form"]: row["tokens"] for row in rows} == {row["form"]: every[row["form"]] for row in rows}
    assert all(row["count"] <= row["tokens"] for row in rows)
    doubled = (counts + counts).forms.to_pylist()
    assert [row["tokens"] for row in doubled] == [2 * row["tokens"] for row in rows]
    old = counts.forms.drop_columns("tokens")
    assert (counts + replace(counts, forms=old)).forms.column_names == ["form", "label", "count"]
    replace(counts, forms=old).save(tmp_path / "old")
    assert Counts.open(tmp_path / "old").forms == old


def test_names_and_lemmas_that_are_missing(tmp_path):
    sentence = [
        ("Smith", "Smith", "PROPN", "NNP", 2, "nsubj"), ("SAW", "see", "VERB", "VBD", 0, "ROOT"),
        ("saw", "saw", "NOUN", "NN", 2, "dobj"), ("saw", "_", "NOUN", "NN", 2, "dobj"),
        ("him", "he", "PRON", "PRP", 2, "dobj"), ("rarely", "rarely", "ADV", "RB", 2, "advmod"),
    ]  # fmt: skip
    corpus = make_corpus(tmp_path, [sentence, sentence[:2]])
    known = vocabulary(["saw-n", "see-v"], ["smith-n", "he-p"], ["see-v"])
    counts = count(corpus, known)
    expected = {("smith", "smith-n"): 2, ("saw", "see-v"): 2, ("saw", "saw-n"): 2, ("him", "he-p"): 1}
    assert as_dictionary(counts.forms) == expected


def test_slices_and_saving_and_sums(corpus, words, tmp_path, monkeypatch):
    whole = count(corpus, words, out=tmp_path / "whole")
    monkeypatch.setattr(counting, "limits", lambda *_: replace(Limits(), slice_tokens=500, merge_cells=600, fan=2))
    assert count(corpus, words, out=tmp_path / "tight").forms == whole.forms
    assert Folder.open(tmp_path / "tight").files == Folder.open(tmp_path / "whole").files
    some = whole.select(whole.rows("word")[:5])
    assert some.forms == whole.forms
    some.save(tmp_path / "some")
    again = Counts.open(tmp_path / "some")
    assert again.forms == whole.forms
    assert again.in_memory().forms == whole.forms
    total = whole + again
    assert as_dictionary(total.forms) == {key: 2 * n for key, n in as_dictionary(whole.forms).items()}
    assert pc.sum(total.forms.column("count")).as_py() == 2 * pc.sum(whole.forms.column("count")).as_py()


def test_counts_without_forms(corpus, words, tmp_path):
    imported = Counts.from_cells({"dog-n": {"bark-v": 2}})
    assert imported.forms is None
    imported.save(tmp_path / "imported")
    assert Counts.open(tmp_path / "imported").forms is None
    assert (imported + imported).forms is None
    counted = count(corpus, words)
    assert (replace(counted, forms=None) + counted).forms == counted.forms
