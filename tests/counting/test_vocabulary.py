"""The vocabulary: what is chosen, in which order, and what is refused."""

import logging

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.corpus.tags import Class
from composita.counting.vocabulary import Choice, Vocabulary
from composita.counting.words import read_words
from composita.store.errors import CorruptError, InputError, UsageError
from composita.store.folder import open_writer
from tests.data import shared

KINDS = {
    "n": Class.NOUN,
    "N": Class.PROPER,
    "v": Class.VERB,
    "a": Class.ADJECTIVE,
    "r": Class.ADVERB,
    "p": Class.PRONOUN,
}


def table(text):
    """Read ``dog-n 5`` and so on; ``N`` marks names."""
    rows = [line.split() for line in text.strip().split(";")]
    return pa.table({
        "word": [word[:-2] for word, _ in rows],
        "class": pa.array([int(KINDS[word[-1]]) for word, _ in rows], pa.uint8()),
        "count": [int(count) for _, count in rows],
    })  # fmt: skip


WORDS = table(
    "year-n 9; dog-n 5; cat-n 5; bird-n 4; éclair-n 4; zoo-n 1; london-N 6; dog-N 3; york-N 4; rome-N 3; run-v 8;"
    "bark-v 2;"
    "see-v 2; big-a 7; red-a 2; soon-r 3; he-p 20; thee-p 1; %-n 30; don't-v 4; x9-n 9; well-known-a 1; u.s.-N 9"
)


def test_default_standing():
    found = Vocabulary.from_frequencies(WORDS, nouns=4, verbs=2, contexts=5, stop=2)
    assert found.words == (
        "bird-n",
        "cat-n",
        "dog-n",
        "london-n",
        "u.s.-n",
        "year-n",
        "york-n",
        "don't-v",
        "run-v",
        "he-p",
    )
    core = [w for w, c in zip(found.words, found.core, strict=True) if c]
    assert core == ["bird-n", "cat-n", "dog-n", "year-n", "don't-v", "run-v"]
    # After year 9 and run 8: big 7, cat 5, dog 5, then bird, don't and éclair with 4, of which the first two in bytes.
    assert found.contexts == ("bird-n", "cat-n", "dog-n", "don't-v", "big-a")
    assert dict(zip(found.words, found.frequencies, strict=True))["dog-n"] == 5


def test_names_and_pronouns():
    nouns = Vocabulary.from_frequencies(WORDS, nouns=3, verbs=0, contexts=3, stop=1, proper="nouns", pronouns="nouns")
    assert nouns.words == ("dog-n", "u.s.-n", "year-n", "he-p")
    assert all(nouns.core)
    assert dict(zip(nouns.words, nouns.frequencies, strict=True))["dog-n"] == 8
    assert nouns.contexts == ("dog-n", "year-n", "run-v")  # u.s. is stopped: 9 like year, and before it
    none = Vocabulary.from_frequencies(WORDS, nouns=None, verbs=None, proper="no", pronouns="no", stop=0)
    assert "london-n" not in none.words + none.contexts
    assert "he-p" not in none.words
    assert len(none.words) == 6 + 4


def test_thresholds_filters_and_lists(caplog):
    frequent = Vocabulary.from_frequencies(WORDS, nouns=None, verbs=None, min_frequency=5, proper="no", pronouns="no")
    assert frequent.words == ("cat-n", "dog-n", "year-n", "run-v")
    assert "%-n" in Vocabulary.from_frequencies(WORDS, nouns=1, alphabetic=".+").words
    some = Vocabulary.from_frequencies(WORDS, nouns=2, verbs=1, adjectives=1, adverbs=1, stop_words=["year", "run-v"])
    assert [w for w in some.words if w[-1] != "p" and w not in ("london-n", "u.s.-n")] == [
        "cat-n",
        "dog-n",
        "don't-v",
        "big-a",
        "soon-r",
    ]
    assert "year-n" not in some.contexts
    with caplog.at_level(logging.WARNING, "composita"):
        more = Vocabulary.from_frequencies(WORDS, nouns=1, verbs=1, include=["zoo-n", "red-a", "zebra-n"])
    assert {"zoo-n", "red-a"} <= set(more.words)
    assert not dict(zip(more.words, more.core, strict=True))["red-a"]
    assert "not in the corpus, and left out: zebra-n" in caplog.text


def test_tables_tell_tokens_apart():
    found = Vocabulary.from_frequencies(WORDS, nouns=4, verbs=2, contexts=5, stop=2)
    tables = found.tables
    rows = {lemma: i for i, lemma in enumerate(tables.lemmas.to_pylist(), 1)}
    words = (*found.words, None)

    def is_word(which, lemma, kind):
        return words[(tables.argument if which == "argument" else tables.both[:, :, 0])[rows[lemma], kind]]

    assert is_word("target", "dog", Class.NOUN) == "dog-n"
    assert is_word("target", "dog", Class.PROPER) is None
    assert is_word("argument", "dog", Class.PROPER) == "dog-n"
    assert is_word("target", "london", Class.PROPER) == "london-n"
    assert tables.both[rows["dog"], Class.PROPER, 1] == -1
    assert (tables.both[0] == -1).all()


@settings(deadline=None, derandomize=True)
@given(
    st.dictionaries(
        st.tuples(st.text("abcé'-.1", min_size=1, max_size=4), st.sampled_from(sorted(KINDS))),
        st.integers(1, 4), min_size=1,
    ),
    st.integers(0, 4), st.integers(0, 4), st.integers(0, 6), st.integers(0, 3), st.sampled_from(["nouns", "arguments",
    "no"]),
)  # fmt: skip
def test_choice_is_that_of_a_plain_sort(words, nouns, verbs, contexts, stop, proper):
    text = pa.table({
        "word": [w for w, _ in words], "class": [int(KINDS[k]) for _, k in words], "count": list(words.values()),
    })  # fmt: skip
    found = Vocabulary.from_frequencies(
        text, nouns=nouns, verbs=verbs, contexts=contexts, stop=stop, proper=proper, alphabetic=".+"
    )
    merged = {}
    for (lemma, kind), count in words.items():
        if kind in "nvar" or (kind == "N" and proper == "nouns"):
            label = lemma, kind.lower()
            merged[label] = merged.get(label, 0) + count
    ranked = sorted(merged, key=lambda w: (-merged[w], w[0].encode(), w[1]))
    core = {
        f"{w}-{k}"
        for letter, size in (("n", nouns), ("v", verbs))
        for w, k in [x for x in ranked if x[1] == letter][:size]
    }
    assert {w for w, c in zip(found.words, found.core, strict=True) if c} == core
    assert set(found.contexts) == {f"{w}-{k}" for w, k in ranked[stop : stop + contexts]}


def test_saved_and_shown(tmp_path):
    found = Vocabulary.from_frequencies(WORDS, nouns=4, verbs=2, adjectives=1, contexts=5, stop=2, pronouns="no")
    found.save(tmp_path / "v")
    again = Vocabulary.open(tmp_path / "v")
    assert again == found
    assert again.fingerprint == found.fingerprint
    assert repr(found) == "Vocabulary(7 n, 2 v, 1 a, 5 contexts)"
    assert str(found).split("\n")[1].split() == ["u.s.-n", "9", "word"]
    assert found.table().column("label").to_pylist()[:3] == ["u.s.-n", "year-n", "run-v"]
    with open_writer(tmp_path / "v", "vocabulary") as writer:
        writer.commit({"parameters": {"nonsense": 1}})
    with pytest.raises(CorruptError, match="not a vocabulary"):
        Vocabulary.open(tmp_path / "v")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nouns": -1}, "expected nouns from 0, got -1"),
        ({"proper": "yes"}, "unknown proper 'yes': choose nouns, arguments or no"),
        ({"alphabetic": "("}, "is not a regular expression"),
        ({"include": ["dog"]}, "expected a word such as dog-n or chase-v, got 'dog'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(UsageError, match=message):
        Vocabulary.from_frequencies(WORDS, **options)


def test_wrong_vocabularies():
    with pytest.raises(UsageError, match="each word once, in the order"):
        Vocabulary(("dog-n", "cat-n"), (1, 1), (True, True), (), (), Choice())
    with pytest.raises(UsageError, match="one frequency a word"):
        Vocabulary(("cat-n", "dog-n"), (1,), (True, True), (), (), Choice())
    with pytest.raises(UsageError, match=r"'chsae-v' is not in the vocabulary; did you mean chase-v\?"):
        Vocabulary(("chase-v",), (1,), (True,), (), (), Choice()).id("chsae-v")


def test_lists_of_words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"# verbs\r\nChase\r\n\r\nbark-v\ndog-n\n")
    assert read_words(path, bare="v") == ["dog-n", "bark-v", "chase-v"]
    for text, message in (
        ("chase cats\n", ":1: expected one word such as chase-v, got 'chase cats'"),
        ("\n# none\n", ": no words in it"),
        ("x verb object\na b c\nd\n", ":3: expected at least 3 columns, got 1"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_words(path, bare="v")
    path.write_bytes(b"caf\xe9\n")
    with pytest.raises(InputError, match="expected UTF-8, found the byte 0xe9"):
        read_words(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_words(tmp_path)


def test_words_of_benchmarks():
    verbs = {
        w for name in ("GS2011data.txt", "ML2008.txt") for w in read_words(shared(f"benchmarks/{name}"), columns="v")
    }
    assert len(verbs) == 72
    assert "chase-v" not in verbs
    assert {"provide-v", "stray-v", "digress-v"} <= verbs
    words = read_words(shared("benchmarks/GS2012data.txt"))
    assert {"statistical-a", "table-n", "show-v"} <= set(words)
