import gzip
import hashlib
from collections import Counter
from itertools import pairwise

import conllu
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.corpus.synthetic import FORMATS, synthetic_blocks, write_synthetic
from composita.corpus.synthetic.grammar import OPEN_CLASSES, Grammar, Slot
from composita.corpus.synthetic.malt import to_malt
from composita.corpus.synthetic.words import ENDINGS, INFLECTIONS, LONGEST_WORD, ranks, spell
from composita.store.errors import CancelledError, UsageError
from composita.store.progress import Cancellation


def text(tokens, seed=0, layout="conllu"):
    return b"".join(synthetic_blocks(tokens, seed, layout)).decode()


def sentences(conllu_text):
    """Rows of fields, sentence by sentence."""
    blocks = (block.split("\n") for block in conllu_text.split("\n\n"))
    rows = ([line.split("\t") for line in block if line and line[0] != "#"] for block in blocks)
    return [sentence for sentence in rows if sentence]


def wacky_sentences(wacky):
    inside = [block.split("</s>\n")[0] for block in wacky.split("<s>\n")[1:]]
    return [[line.split("\t") for line in block.splitlines()] for block in inside]


def assert_is_tree(heads):
    """One root, and every word reaches it."""
    assert heads.count(0) == 1
    for word in range(1, len(heads) + 1):
        steps = 0
        while word:
            assert 0 <= heads[word - 1] <= len(heads)
            word = heads[word - 1]
            steps += 1
            assert steps <= len(heads)


@pytest.fixture(scope="module")
def million():
    return sentences(text(1_000_000))


# Validity


@pytest.mark.parametrize("layout", ["conllu", "conllx"])
def test_sentences_are_valid(layout):
    for sentence in sentences(text(30_000, 4, layout)):
        assert {len(row) for row in sentence} == {10}
        assert [row[0] for row in sentence] == [str(i) for i in range(1, len(sentence) + 1)]
        assert all(all(row) for row in sentence)
        assert_is_tree([int(row[6]) for row in sentence])
        roots = [row[7] for row in sentence if row[6] == "0"]
        assert roots == ["root" if layout == "conllu" else "ROOT"]


def test_wacky_is_valid():
    wacky = text(30_000, 4, "wacky")
    assert wacky.startswith('<text id="synthetic:0">\n<s>\n')
    assert wacky.endswith("</s>\n</text>\n")
    assert wacky.count("<text ") == wacky.count("</text>")
    for sentence in wacky_sentences(wacky):
        assert {len(row) for row in sentence} == {6}
        assert [row[3] for row in sentence] == [str(i) for i in range(1, len(sentence) + 1)]
        assert_is_tree([int(row[4]) for row in sentence])


def test_the_conllu_package_reads_it():
    parsed = conllu.parse(text(5000))
    assert sum(map(len, parsed)) >= 5000
    assert len({sentence.metadata["sent_id"] for sentence in parsed}) == len(parsed)
    for sentence in parsed:
        sentence.to_tree()


def test_no_two_marks_meet():
    for sentence in sentences(text(30_000)):
        for (_, first, *_), (_, second, *_) in pairwise(sentence):
            assert not (first == "," and second in {",", ".", ")"})


def test_formats_have_the_same_sentences():
    words = [[row[1:3] for row in s] for s in sentences(text(5000))]
    malt = sentences(text(5000, 0, "conllx"))
    wacky = wacky_sentences(text(5000, 0, "wacky"))
    assert [[row[1] for row in s] for s in malt] == [[row[0] for row in s] for s in words]
    assert [[row[1:3] + row[4:5] + row[6:8] for row in s] for s in malt] == [
        [row[:3] + row[4:] for row in s] for s in wacky
    ]


# Determinism


def test_every_machine_makes_the_same_bytes():
    digests = {layout: hashlib.sha256(text(50_000, 7, layout).encode()).hexdigest()[:16] for layout in FORMATS}
    assert digests == GOLDEN


def test_a_longer_text_begins_with_the_shorter():
    assert text(40_000, 3).startswith(text(1000, 3))


def test_seeds_differ():
    assert len({text(100, seed) for seed in (0, 1, 2, -1, 2**70)}) == 5


@given(st.integers(0, 3000), st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_it_stops_at_the_sentence_that_completes_the_tokens(tokens, seed):
    lengths = [len(sentence) for sentence in sentences(text(tokens, seed))]
    assert sum(lengths) >= tokens
    assert sum(lengths[:-1]) < max(tokens, 1)


# Likeness to natural text


def test_frequencies_follow_zipf(million):
    counts = np.array(sorted(Counter(row[2] for s in million for row in s).values(), reverse=True))
    rank = np.arange(20, 3000)
    exponent = -np.polyfit(np.log(rank), np.log(counts[rank - 1]), 1)[0]
    assert 0.8 < exponent < 1.2
    assert 60_000 < len(counts) < 90_000
    assert 0.04 < counts[0] / counts.sum() < 0.09


def test_the_vocabulary_grows_as_heaps_says(million):
    seen, sizes, tokens = set(), [], 0
    for sentence in million:
        tokens += len(sentence)
        seen.update(row[2] for row in sentence)
        sizes.append((tokens, len(seen)))
    chosen = np.log(np.array(sizes[len(sizes) // 10 :: len(sizes) // 10], float))
    exponent = np.polyfit(chosen[:, 0], chosen[:, 1], 1)[0]
    assert 0.5 < exponent < 0.75


def test_lengths_are_spread_as_in_natural_text(million):
    lengths = np.array([len(s) for s in million])
    assert 18 < lengths.mean() < 22
    assert 9 < lengths.std() < 14
    lines = sum(len("\t".join(row)) + 1 for s in million for row in s) / lengths.sum()
    assert 34 < lines < 46


def test_structures_have_their_share(million):
    relations = Counter(row[7] for s in million for row in s)
    total = sum(relations.values())
    shares = {
        "nsubj": (0.05, 0.09), "obj": (0.03, 0.07), "iobj": (0.002, 0.01), "nsubj:pass": (0.008, 0.02),
        "obl:agent": (0.002, 0.01), "amod": (0.05, 0.11), "case": (0.1, 0.16), "acl:relcl": (0.008, 0.02),
        "punct": (0.07, 0.15), "det": (0.08, 0.14), "compound": (0.03, 0.08), "conj": (0.02, 0.05),
    }  # fmt: skip
    for relation, (least, most) in shares.items():
        assert least < relations[relation] / total < most, relation
    inflected = sum(row[1].lower() != row[2].lower() for s in million for row in s)
    assert 0.12 < inflected / total < 0.25
    tags = Counter(row[3] for s in million for row in s)
    assert tags["PRON"] / total > 0.03
    assert tags["PROPN"] / total > 0.05


def test_every_agent_belongs_to_a_passive(million):
    for sentence in million[:5000]:
        passive = {row[6] for row in sentence if row[7] == "nsubj:pass"}
        for row in sentence:
            if row[7] == "obl:agent":
                assert row[6] in passive
                assert any(case[6] == row[0] and case[1:3] == ["by", "by"] for case in sentence)


# Words


@given(st.sampled_from(OPEN_CLASSES), st.integers(0, 2**31), st.sampled_from(OPEN_CLASSES), st.integers(0, 2**31))
@settings(max_examples=300, deadline=None)
def test_different_words_are_spelled_differently(word, rank, other_word, other_rank):
    first, second = spell(word, rank), spell(other_word, other_rank)
    assert (first == second) == ((word, rank) == (other_word, other_rank))
    assert first.lower().endswith(ENDINGS[word])
    assert all(len(spell(word, rank, tag)) < LONGEST_WORD for tag in INFLECTIONS)


def test_all_frequent_words_differ():
    words = [spell(word, rank) for word in OPEN_CLASSES for rank in range(50_000)]
    assert len(set(words)) == len(words)


def test_a_lemma_has_one_class(million):
    classes = {}
    for sentence in million[:20_000]:
        for row in sentence:
            if row[3] in OPEN_CLASSES:
                assert classes.setdefault(row[2], row[3]) == row[3]


def test_alias_tables_keep_the_frequencies():
    table = ranks()
    cells = table.threshold.shape[1]
    keep = table.threshold.astype(float) / 2**32
    for word in range(len(OPEN_CLASSES)):
        share = keep[word].copy()
        np.add.at(share, table.alias[word], 1 - keep[word])
        share /= cells
        frequency = share / table.width
        assert share.sum() == pytest.approx(1)
        assert (np.diff(frequency) < 0).all()


# MaltParser's scheme


def malt(*slots):
    sentence = [Slot(form, lemma, "VERB", tag, head, rel) for form, lemma, tag, head, rel in slots]
    return [(s.form, s.xpos, s.head, s.relation) for s in to_malt(sentence)]


def test_the_subject_hangs_on_the_finite_auxiliary():
    assert malt(
        ("it", "it", "PRP", 4, "nsubj:pass"),
        ("will", "will", "MD", 4, "aux"),
        ("be", "be", "VB", 4, "aux:pass"),
        ("seen", "see", "VBN", 0, "root"),
        (".", ".", ".", 4, "punct"),
    ) == [
        ("it", "PP", 2, "SBJ"),
        ("will", "MD", 0, "ROOT"),
        ("be", "VB", 2, "VC"),
        ("seen", "VVN", 3, "VC"),
        (".", "SENT", 2, "P"),
    ]


def test_a_copula_has_a_predicate():
    assert malt(
        ("it", "it", "PRP", 4, "nsubj"),
        ("is", "be", "VBZ", 4, "cop"),
        ("a", "a", "DT", 4, "det"),
        ("dog", "dog", "NN", 0, "root"),
    ) == [("it", "PP", 2, "SBJ"), ("is", "VBZ", 0, "ROOT"), ("a", "DT", 4, "NMOD"), ("dog", "NN", 2, "PRD")]


def test_malt_keeps_trees():
    grammar = Grammar(seed=11)
    for _ in range(1000):
        assert_is_tree([slot.head for slot in to_malt(grammar.sentence())])


# Files


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_files_hold_the_blocks(tmp_path, suffix):
    steps = []
    path = tmp_path / f"text.conllu{suffix}"
    made = write_synthetic(path, 30_000, 5, progress=steps.append)
    packed = path.read_bytes()
    data = {
        "": lambda: packed,
        ".gz": lambda: gzip.decompress(packed),
        ".zst": lambda: pa.input_stream(str(path), compression="zstd").read(),
    }[suffix]()
    assert data.decode() == text(30_000, 5)
    assert made.bytes == len(data)
    assert made.sentences == data.count(b"\n\n")
    assert made.tokens == steps[-1].done
    write_synthetic(path, 30_000, 5)
    assert path.read_bytes() == packed
    assert list(tmp_path.iterdir()) == [path]


def test_cancelling_leaves_no_file(tmp_path):
    cancel = Cancellation()
    with pytest.raises(CancelledError):
        write_synthetic(tmp_path / "a.conllu", 10**9, progress=lambda step: cancel.cancel(), cancel=cancel)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((10, 0, "conll"), "unknown format of synthetic text 'conll': expected one of conllu, conllx, wacky"),
        ((-1,), "the number of tokens is -1, expected 0 or more"),
    ],
)
def test_wrong_use_is_said(arguments, reason):
    with pytest.raises(UsageError, match=reason):
        list(synthetic_blocks(*arguments))


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(UsageError, match="make it first"):
        write_synthetic(tmp_path / "none" / "a.conllu", 10)
    with pytest.raises(UsageError, match="is a folder"):
        write_synthetic(tmp_path, 10)


GOLDEN = {"conllu": "274ce4443c86936d", "conllx": "1c90ffbc897f3355", "wacky": "1b08ff1d1ca2bb10"}
