"""Test sets of one's own: what is drawn, how it is said, forms there and back, and twins."""

import csv
import re

import numpy as np
import pytest

from composita.cli.main import main
from composita.composition.methods import methods_named
from composita.corpus.corpus import Corpus
from composita.corpus.miniature import write_miniature
from composita.counting.count import count
from composita.counting.counts import Counts
from composita.counting.vocabulary import Vocabulary
from composita.evaluation.benchmarks import Benchmark
from composita.evaluation.english import noun_phrase, participle, present, say
from composita.evaluation.testsets import (
    BANDS,
    english_sayer,
    lemma_sayer,
    make_pairs,
    read_forms,
    read_key,
    twins,
    write_forms,
)
from composita.functions.learn import learn
from composita.grammar.phrase import Phrase
from composita.spaces.space import Space
from composita.store.errors import InputError, UsageError

SAID = [
    ("sing-v(kid-n)", "The kid sings.", None),
    ("sing-v(song-n, kid-n)", "The kid sings the song.", "The song is sung by the kid."),
    ("give-v(book-n, girl-n, boy-n)", "The boy gives the girl the book.", "The book is given to the girl by the boy."),
    ("carry_out-v(bad-a(plan-n), angry-a(old-a(man-n)))", "The angry old man carries out the bad plan.",
     "The bad plan is carried out by the angry old man."),
    ("push-v(people-n, police-n)", "The police push the people.", "The people are pushed by the police."),
    ("fix-v(guard-n(dog-n), ice_cream-n)", "The ice cream fixes the guard dog.",
     "The guard dog is fixed by the ice cream."),
]  # fmt: skip


@pytest.mark.parametrize(("phrase", "active", "passive"), SAID)
def test_english(phrase, active, passive):
    assert say(Phrase.parse(phrase)) == active
    if passive:
        assert say(Phrase.parse(phrase), passive=True) == passive
    else:
        with pytest.raises(UsageError, match="expected an object"):
            say(Phrase.parse(phrase), passive=True)


def test_english_words():
    assert [present(verb) for verb in ("kiss", "fix", "do", "say", "try")] == [
        "kisses",
        "fixes",
        "does",
        "says",
        "tries",
    ]
    said = {"plan": "planned", "open": "opened", "show": "shown", "play": "played", "marry": "married", "stop":
            "stopped", "look": "looked", "tie": "tied", "put": "put"}  # fmt: skip
    assert {verb: participle(verb) for verb in said} == said
    assert participle("cancel", {"cancelled": 1}) == "cancelled" and participle("cancel", {"x": 1}) == "canceled"
    assert noun_phrase(Phrase("dog-n")) == "the dog"
    with pytest.raises(UsageError, match="expected a verb"):
        say(Phrase("dog-n"))


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    world = write_miniature(folder)
    vocabulary = Vocabulary.from_corpus(
        Corpus.build([world.text], folder / "corpus"), nouns=400, verbs=100, contexts=400, stop=0
    )
    count(Corpus.open(folder / "corpus"), vocabulary, phrases="sv,svo", out=folder / "counts")
    return Counts.open(folder / "counts")


@pytest.fixture(scope="module")
def pairs(counts):
    return make_pairs(counts, ["swapped", "passives"], number=12, per_verb=3, sayer=english_sayer(counts))


def test_pairs(counts, pairs):
    attested = set(counts.labels(counts.rows("svo")))
    kinds = {kind: [pair for pair in pairs if pair.kind == kind] for kind in ("swapped", "passives")}
    for kind, mine in kinds.items():
        assert len(mine) == 12
        assert [[pair.band for pair in mine].count(band) for band in BANDS] == [4, 4, 4]
        assert max([pair.group for pair in mine].count(verb) for verb in {pair.group for pair in mine}) <= 3
        for pair in mine:
            assert str(pair.first) in attested and pair.frequency >= 2
            exchanged = Phrase(pair.first.head, pair.first.arguments[::-1])
            assert str(exchanged) not in attested
            assert pair.second in ({exchanged} if kind == "swapped" else {exchanged, pair.first})
    assert 2 <= sum(pair.first == pair.second for pair in kinds["passives"]) <= 10
    assert all(" by the " in pair.said[1] for pair in kinds["passives"])
    # The words of the bands are of different frequency.
    words = dict(zip(counts.labels(), counts.frequency.tolist(), strict=True))
    mean = [np.mean([words[w] for p in pairs if p.band == band for w in p.first.words()]) for band in BANDS]
    assert mean == sorted(mean)


def test_pairs_are_seeded(counts, pairs):
    again = make_pairs(counts, ["swapped", "passives"], number=12, per_verb=3, sayer=english_sayer(counts))
    assert again == pairs and again != make_pairs(counts, ["swapped", "passives"], number=12, per_verb=3, seed=1)


def test_shorter_twins():
    """Pairs with different numbers of arguments need verbs that were seen with both."""
    cells = {word: {"a-n": 1} for word in ("kid-n", "song-n", "sing-v")}
    with pytest.raises(UsageError, match="expected counts with phrases of the pattern svo"):
        make_pairs(Counts.from_cells(cells), ["arguments"])


CONLLU = """1 kids kid NOUN NNS _ 2 nsubj _ _
2 sing sing VERB VBP _ 0 root _ _

1 kids kid NOUN NNS _ 2 nsubj _ _
2 sing sing VERB VBP _ 0 root _ _
3 songs song NOUN NNS _ 2 obj _ _

"""


def test_arguments(tmp_path):
    (tmp_path / "kids.conllu").write_text((CONLLU * 2).replace(" ", "\t"))
    corpus = Corpus.build([tmp_path / "kids.conllu"], tmp_path / "corpus")
    counts = count(
        corpus, Vocabulary.from_corpus(corpus, stop=0, contexts=10), phrases="sv,svo", sv_without_object=True
    )
    for pair in make_pairs(counts, ["arguments"], sayer=lemma_sayer):
        assert pair.said == ("kid sing song", "kid sing")
        assert (str(pair.first), str(pair.second)) == ("sing-v(song-n, kid-n)", "sing-v(kid-n)")
    with pytest.raises(UsageError, match="unknown kind of pairs 'x': choose swapped"):
        make_pairs(counts, ["x"])
    with pytest.raises(UsageError, match="no phrases for such pairs"):
        make_pairs(counts, ["swapped"], min_frequency=9)


def filled(path, rate):
    with path.open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    for row in rows[1:]:
        row[3] = rate(int(row[0]))
    path.write_text("\n".join("\t".join(row) for row in rows) + "\n", encoding="utf-8")


def test_forms_there_and_back(pairs, tmp_path):
    written = write_forms(pairs, tmp_path, forms=2, scale=5)
    assert [path.name for path in written] == ["key.tsv", "form-1.tsv", "form-1.html", "form-2.tsv", "form-2.html"]
    assert read_key(written[0]) == pairs
    assert written[1].read_text() != written[3].read_text()
    page = written[2].read_text()
    assert page.count("<li>") == len(pairs) and pairs[0].said[0] in page and "1 if they mean" in page
    assert not re.search(r"<script|https?:", page) and page.count("<span>5</span>") == len(pairs)
    filled(written[1], lambda number: str(1 + number % 5))
    filled(written[3], lambda number: "" if number == 1 else "2,5")
    (tmp_path / "ratings.tsv").write_text(read_forms(written[0], [written[1], written[3]], scale=5))
    benchmark = Benchmark.load(tmp_path / "ratings.tsv")
    assert benchmark.ratings.participants == ("form-1", "form-2") and len(benchmark.ratings) == 2 * len(pairs) - 1
    by_item = {(item.left, item.right): n for n, item in enumerate(benchmark.items)}
    number = by_item[pairs[3].first, pairs[3].second]
    mine = (benchmark.ratings.item == number) & (benchmark.ratings.participant == 0)
    assert benchmark.ratings.rating[mine].tolist() == [1 + 4 % 5]
    assert set(benchmark.groups) == {"swapped", "passives"}


def test_broken_forms(pairs, tmp_path):
    key, form, *_ = write_forms(pairs[:3], tmp_path)
    with pytest.raises(InputError, match="no ratings in any of the forms"):
        read_forms(key, [form])
    filled(form, lambda number: "8")
    with pytest.raises(InputError, match="form-1.tsv:2: expected a rating from 1 to 7, got '8'"):
        read_forms(key, [form])
    form.write_text("number\tsentence1\tsentence2\trating\n77\ta\tb\t3\n")
    with pytest.raises(InputError, match="form-1.tsv:2: there is no pair '77'"):
        read_forms(key, [form])
    form.write_text("number\tsentence1\n1\ta\n")
    with pytest.raises(InputError, match="expected columns .*; sentence2 is missing"):
        read_forms(key, [form])
    form.write_text("number;sentence1;sentence2;rating\r\n1;a;b;3\r\n")
    assert read_forms(key, [form]).endswith("form-1\t3\tswapped\t\n")
    key.write_text(key.read_text().replace("-v(", "-v(("))
    with pytest.raises(InputError, match="key.tsv:2"):
        read_key(key)
    with pytest.raises(UsageError, match="cannot read"):
        read_key(tmp_path / "nothing")


def test_twins(counts):
    lexicon = learn(Space.from_counts(counts, reduce="svd", dimensions=20, seed=0), patterns=("sv", "svo"))
    pairs = make_pairs(counts, ["swapped", "passives"], number=300, per_verb=40)
    found = {
        (t.method, t.kind): t for t in twins(lexicon, pairs, methods_named("add,kronecker,learned"), bootstrap=100)
    }
    assert found["add", "swapped"].right == 0.5 and found["add", "swapped"].compared == 300
    assert found["kronecker", "swapped"].compared == 0 and np.isnan(found["kronecker", "swapped"].right)
    assert found["learned", "swapped"].right > 0.58
    same = sum(pair.first == pair.second for pair in pairs)
    assert found["learned", "passives"].pairs == 300 - same


def test_commands(counts, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Space.from_counts(counts, reduce="svd", dimensions=10, seed=0).save("space")
    assert main(["testset", "make", str(counts.path), "--out", "set", "--kinds", "swapped", "-n", "6"]) == 0
    assert "swapped      6" in capsys.readouterr().out
    filled(tmp_path / "set" / "form-1.tsv", str)
    assert main(["testset", "read", "set/key.tsv", "set/form-1.tsv"]) == 0
    assert "ratings.tsv: 6 items, 6 ratings by 1 annotator" in capsys.readouterr().out
    assert main(["testset", "twins", "space", "set/key.tsv", "--methods", "add,verb", "--bootstrap", "20"]) == 0
    assert "add, swapped" in capsys.readouterr().out
    assert main(["testset", "make", str(counts.path), "--out", "set", "--kinds", "other"]) == 2
    assert "unknown kind of pairs 'other'" in capsys.readouterr().err
    assert main(["testset", "make", str(counts.path), "--out", "set", "--json", "-n", "3", "--lemmas"]) == 2
    assert "is there already, perhaps with ratings" in capsys.readouterr().err
    assert main(["testset", "make", str(counts.path), "--out", "other", "--json", "-n", "3", "--lemmas"]) == 0
    assert '"pairs"' in capsys.readouterr().out
    assert main(["testset", "make", str(counts.path), "--out", "few", "--kinds", "swapped", "--per-verb", "1"]) == 0
    assert "of the 30 pairs of the kind swapped that were asked for" in capsys.readouterr().err
