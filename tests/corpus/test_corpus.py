"""The encoded corpus from Python: shards, frequencies, sentences and description, against loops over token lists."""

from collections import Counter
from statistics import mean, median

import duckdb
import numpy as np
import polars as pl
import pytest

from composita import Corpus
from composita.corpus.columns import Tokens, words
from composita.corpus.describe import describe
from composita.corpus.labels import Role
from composita.corpus.shards import read_shard, write_shard
from composita.corpus.synthetic import write_synthetic
from composita.corpus.tags import LETTERS, Class
from composita.store.errors import UsageError
from tests.corpus import reader_oracle
from tests.corpus.texts import CONLLU, WACKY
from tests.data import shared

UPOS = {
    "NOUN": "noun", "PROPN": "proper", "VERB": "verb", "ADJ": "adjective", "ADV": "adverb", "PRON": "pronoun",
    "AUX": "auxiliary",
}  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    for seed in (1, 2):
        write_synthetic(folder / f"{seed}.conllu", 8000, seed)
        Corpus.build([folder / f"{seed}.conllu"], folder / "corpus")
    read = [reader_oracle.read((folder / f"{seed}.conllu").read_bytes(), "conllu")[0] for seed in (1, 2)]
    return Corpus.open(folder / "corpus"), read[0] + read[1]


def test_frequencies(built):
    corpus, sentences = built
    expected = Counter((t[1].lower(), UPOS.get(t[2], "other")) for s in sentences for t in s)
    table = corpus.frequencies(workers=2)
    names = [kind.name.lower() for kind in Class]
    found = {(row["word"], names[row["class"]]): row["count"] for row in table.to_pylist()}
    assert found == expected
    keys = [(-row["count"], row["word"].encode(), row["class"]) for row in table.to_pylist()]
    assert keys == sorted(keys)


def test_description(built):
    corpus, sentences = built
    found = describe(corpus, workers=2)
    tokens = [t for s in sentences for t in s]
    lengths = [len(s) for s in sentences]
    assert (
        (found.tokens, found.sentences) == (len(tokens), len(sentences)) == (corpus.token_count, corpus.sentence_count)
    )
    assert found.forms == len({t[0] for t in tokens})
    assert found.words == len({(t[1].lower(), UPOS.get(t[2])) for t in tokens})
    assert found.sentence_length == {
        "mean": round(mean(lengths), 2),
        "median": median(lengths),
        "longest": max(lengths),
    }
    assert found.lengths == Counter(lengths)
    assert found.relations == Counter(t[5] for t in tokens)
    assert found.classes == Counter(UPOS.get(t[2], "other") for t in tokens)
    assert found.bytes == sum(path.stat().st_size for path in corpus.path.glob("*.parquet"))
    subject, both = set(), set()
    for shard in corpus.shards():
        columns = shard.load()
        roles = shard.roles(columns)
        for number, (start, end) in enumerate(zip(columns.starts[:-1], columns.starts[1:], strict=True)):
            args = {}
            for link in roles.links():
                if start <= link.predicate < end and roles.kind[link.predicate] == Class.VERB:
                    args.setdefault(link.predicate, set()).add(link.role)
            for found_roles in args.values():
                if Role.SUBJECT in found_roles:
                    subject.add((shard.path, number))
                    if Role.OBJECT in found_roles:
                        both.add((shard.path, number))
        break  # the loop over links is slow; the first shard is enough
    first = describe(_first(corpus))
    assert first.with_subject == pytest.approx(len(subject) / first.sentences)
    assert first.with_both == pytest.approx(len(both) / first.sentences)


def _first(corpus):
    """The corpus with its first shard only."""
    from composita.store.folder import Folder

    rows = corpus.meta["shards"][:1]
    return Corpus(Folder(corpus.path, {**corpus.meta, "shards": rows, "sentences": rows[0]["sentences"]}))


def test_sentences(built):
    corpus, sentences = built
    lemma = Counter(t[1] for s in sentences for t in s if t[2] == "VERB").most_common(1)[0][0]
    expected = [
        ([t[0] for t in s], place) for s in sentences for place, t in enumerate(s) if t[1] == lemma and t[2] == "VERB"
    ]
    found = list(corpus.sentences(lemma=lemma.upper(), pos="v", limit=None))
    assert [([t.form for t in o.tokens], o.position) for o in found] == expected
    assert list(corpus.sentences(lemma=lemma, pos="v", limit=3)) == found[:3]
    assert list(corpus.sentences(lemma="there is no such word")) == []
    roots = list(corpus.sentences(relation="root", pos="v", limit=50))
    assert len(roots) == 50 and all(o.tokens[o.position].relation == "root" for o in roots)
    for wrong in ({"pos": "q"}, {"limit": -1}):
        with pytest.raises(UsageError):
            list(corpus.sentences(lemma="a", **wrong))


def test_shards_are_columns_without_copies(built):
    corpus, sentences = built
    read = [[tuple(token) for token in s] for shard in corpus.shards() for s in shard.load()]
    assert read == [[tuple(token) for token in s] for s in sentences]
    tokens = next(corpus.shards()).load()
    assert tokens.lemma.codes.dtype == np.int32 and not tokens.lemma.codes.flags.owndata
    counts = np.bincount(tokens.form.codes)
    assert (np.diff(counts) <= 0).all(), "frequent words have small codes"


def test_other_programs_read_the_shards(built):
    corpus, sentences = built
    pattern = str(corpus.path / "*.parquet")
    expected = Counter(t[1] for s in sentences for t in s if t[2] == "VERB").most_common(1)[0]
    query = f"select lemma, count(*) n from '{pattern}' where upos = 'VERB' group by 1 order by 2 desc limit 1"
    assert duckdb.sql(query).fetchall() == [expected]
    frame = pl.read_parquet(pattern)
    assert frame.filter(pl.col("upos").cast(pl.String) == "VERB").height == sum(
        t[2] == "VERB" for s in sentences for t in s
    )
    first = frame.head(len(sentences[0]))
    heads = [h and place + h for place, h in enumerate(first["head"].to_list(), 1)]
    assert heads == [t[4] for t in sentences[0]]


def test_a_shard_holds_any_tokens(tmp_path):
    for sentences in (
        [],
        [[("a", "_", "_", "_", 0, "_")]],
        [[("ß", "\U0001f600", "x", "y", 2, "z")] * 1 + [("b",) * 4 + (0, "r")]] * 3,
    ):
        tokens = Tokens.from_sentences(sentences)
        write_shard(tmp_path / "x.parquet", tokens, {"a": 1})
        read = read_shard(tmp_path / "x.parquet")
        assert [list(s) for s in read] == [list(s) for s in tokens]
        assert read.starts.tolist() == tokens.starts.tolist()


def test_words_are_lower_case_lemmas_or_forms():
    rows = [("Dogs", "Dog", "X", "X", 0, "r"), ("ÉTÉ", "_", "X", "X", 1, "x"), ("Abc", "<unknown>", "X", "X", 1, "x"),
            ("abc", "DOG", "X", "X", 1, "x")]  # fmt: skip
    column = words(Tokens.from_sentences([rows]))
    assert column.strings() == ["dog", "été", "abc", "dog"]
    assert len(set(column.values.to_pylist())) == len(column.values)


def test_letters_of_classes():
    assert dict(zip((kind.name for kind in Class), LETTERS, strict=True)) == {
        "OTHER": "", "NOUN": "n", "PROPER": "n", "VERB": "v", "ADJECTIVE": "a", "ADVERB": "r", "PRONOUN": "p",
        "AUXILIARY": "",
    }  # fmt: skip


def test_repr_and_python_use(tmp_path):
    (tmp_path / "a.conllu").write_bytes(CONLLU)
    (tmp_path / "b.xml").write_bytes(WACKY)
    corpus = Corpus.build([tmp_path / "a.conllu", tmp_path / "b.xml"], tmp_path / "c", tags="penn")
    assert repr(corpus) == "Corpus(18 tokens, 4 sentences, 2 shards)"
    assert corpus.verify() == []


def test_the_golden_corpus_still_opens():
    from pathlib import Path

    corpus = Corpus.open(Path(__file__).parent / "golden" / "corpus")
    assert repr(corpus) == "Corpus(18 tokens, 4 sentences, 2 shards)"
    (found,) = corpus.sentences(lemma="chase")
    assert str(found) == "The [dogs]subject do n't *chase* \" [cafés]object #"
    assert corpus.verify() == []


def test_the_golden_corpus_is_what_is_written_today(tmp_path):
    import json
    from pathlib import Path

    (tmp_path / "a.conllu").write_bytes(CONLLU)
    (tmp_path / "b.xml").write_bytes(WACKY)
    Corpus.build([tmp_path / "a.conllu", tmp_path / "b.xml"], tmp_path / "c", tags="penn")
    golden = json.loads((Path(__file__).parent / "golden" / "corpus" / "meta.json").read_text())
    today = json.loads((tmp_path / "c" / "meta.json").read_text())
    # The bytes of Parquet depend on the version of pyarrow, and with them size and checksum.
    for meta in (golden, today):
        meta["files"] = sorted(meta["files"])
    assert today == golden


def test_words_of_the_real_corpus(tmp_path):
    corpus = Corpus.build([shared("corpora/ud_english_ewt-dev.conllu")], tmp_path / "c")
    sentences, _ = reader_oracle.read(shared("corpora/ud_english_ewt-dev.conllu").read_bytes(), "conllu")
    expected = Counter(((t[0] if t[1] == "_" else t[1]).lower(), UPOS.get(t[2], "other")) for s in sentences for t in s)
    names = [kind.name.lower() for kind in Class]
    assert {(r["word"], names[r["class"]]): r["count"] for r in corpus.frequencies().to_pylist()} == expected
