"""Damaged files of every kind that people bring: each is read, or refused with one line that is ours.

``COMPOSITA_FUZZ=10000`` tries so many of each kind instead of a few.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from composita.composition.order import read_sentences
from composita.corpus.labels import Scheme
from composita.corpus.reading import read_tokens
from composita.corpus.tags import Tagset
from composita.counting.contexts import Context
from composita.counting.exchange import parse_rows, read_dissect, read_matrix_market
from composita.counting.patterns import load_patterns
from composita.counting.words import read_words
from composita.evaluation import testsets
from composita.evaluation.benchmarks import Benchmark
from composita.evaluation.spelling import read_table
from composita.experiment.config import Experiment
from composita.grammar.grammar import Grammar
from composita.grammar.phrase import Phrase
from composita.grammar.terms import parse_term
from composita.grammar.types import parse_type
from composita.spaces.exchange import read_space
from composita.spaces.wordpairs import WordPairs
from composita.store.errors import CompositaError
from composita.store.strict_json import parse_json
from tests.corpus.texts import TEXTS
from tests.faults.mutations import damaged

SOURCE = Path(__file__).parents[2] / "src" / "composita"
EXAMPLES = int(os.environ.get("COMPOSITA_FUZZ", "25"))
some = settings(
    max_examples=EXAMPLES, deadline=None, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip


def packaged(*names):
    return [(SOURCE / name).read_bytes() for name in names]


def beside(path, suffix, text):
    path.with_suffix(suffix).write_text(text)
    return path


LABELS = "dog-n\ncat-n\n"
GLOVE = b"dog-n 1 2.5\ncat-n -3e-2 4\n"
BINARY = b"2 2\ndog-n \x00\x00\x80?\x00\x00\x00@\ncat-n \x00\x00\x00@\x00\x00\x80?\n"
CELLS = {
    "number": "1", "kind": "order", "band": "high", "group": "", "phrase1": "chase-v(cat-n, dog-n)",
    "phrase2": "chase-v(dog-n, cat-n)", "sentence1": "dogs chase cats", "sentence2": "cats chase dogs",
    "frequency": "7", "rating": "5",
}  # fmt: skip


def sheet(columns):
    return "\n".join(["\t".join(columns), "\t".join(CELLS.get(column, "x") for column in columns), ""]).encode()


KEY, FORM = sheet(testsets._KEY_COLUMNS), sheet(testsets._FORM_COLUMNS)
BENCHMARKS = [
    b"participant verb subject object landmark input hilo\np1 provide family home supply 4 HIGH\n",
    b"participant verb noun landmark input hilo\r\nparticipant20 stray thought roam 7 low\r\n",
    b"sentence1\tsentence2\tannotator\trating\nchase-v(cat-n, dog-n)\tfollow-v(cat-n, dog-n)\tann\t6\n",
    b"sentence1\tsentence2\tannotator\trating\ndogs chase cats\tcats chase dogs\tann\t6\n",
    b"annotator_id adj_subj subj landmark verb adj_obj obj annotator_score\n1 a b c d e f 3\n",
    b"p1 verbobjects 2 knowledge use influence exert 5\n",
    b"OBJ garrison_N: organization_N that army_N install_V\n",
    b"sun-n sunlight-n 50.0\n",
]

FILES = {
    "grammar": (
        Grammar.load,
        [*packaged("grammar/grammars/paper.grammar", "grammar/grammars/german.grammar")],
        ".grammar",
    ),
    "experiment": (
        Experiment.load,
        [*packaged("experiment/presets/paper.toml"), b'[sweep]\n"space.reduce" = ["svd", "nmf"]\n'],
        ".toml",
    ),
    "patterns": (lambda path: load_patterns([str(path)]), packaged("counting/patterns.toml"), ".toml"),
    "labels": (
        lambda path: Scheme.load(str(path)),
        packaged("corpus/schemes/ud.toml", "corpus/schemes/malt.toml"),
        ".toml",
    ),
    "tags": (lambda path: Tagset.load(str(path)), packaged("corpus/tagsets/penn.toml"), ".toml"),
    "words": (read_words, [b"chase-v\ndog-n\n# no\n", BENCHMARKS[0]], ".txt"),
    "spelling": (read_table, [b"behaviour-n\tbehavior-n\npapers-n paper-n\n"], ".tsv"),
    "benchmark": (Benchmark.load, BENCHMARKS, ".txt"),
    "pairs": (WordPairs.read, [b"sun-n sunlight-n 50.0\n", b"word1\tword2\tPOS\tscore\nold\tnew\tA\t1.58\n"], ".txt"),
    "key": (testsets.read_key, [KEY], ".tsv"),
    "form": (
        lambda path: testsets.read_forms(beside(path, ".key", KEY.decode()).with_suffix(".key"), [path]),
        [FORM],
        ".tsv",
    ),
    "sentences": (read_sentences, [b"dogs chase cats\n\nmen sleep\n"], ".txt"),
    "glove": (read_space, [GLOVE, b"2 2\n" + GLOVE], ".txt"),
    "word2vec": (read_space, [BINARY], ".bin"),
    "tsv": (read_space, [b"dog-n\t1\t2\ncat-n\t3\t4\n"], ".tsv"),
    "dm": (read_space, [b"dog-n\t1\t2\ncat-n\t3\t4\n"], ".dm"),
    "sm": (
        lambda path: read_space(beside(beside(path, ".rows", LABELS), ".cols", "a\nb\n")),
        [b"dog-n a 1\ncat-n b 2.5\n", b"dog-n\ta\t1\n"],
        ".sm",
    ),
    "dissect counts": (
        lambda path: read_dissect(beside(beside(path, ".rows", LABELS), ".cols", "a-n\nb-n\n").with_suffix("")),
        [b"dog-n a-n 1\ncat-n b-n 2\n"],
        ".sm",
    ),
    "matrix market": (
        lambda path: read_matrix_market(beside(beside(path, ".rows", LABELS), ".cols", "a-n\nb-n\n").with_suffix("")),
        [b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 3\n2 2 4\n"],
        ".mtx",
    ),
    "parsed text": (read_tokens, list(TEXTS.values()), ".conllu"),
}  # fmt: skip


def refused_or_read(function, *arguments):
    """Call a reader; the only error it may raise is ours, in one line, and it may not take long."""
    try:
        function(*arguments)
    except CompositaError as error:
        said = str(error)
        assert said and "\n" not in said and len(said) < 2000, said
        return said
    return ""


@pytest.mark.parametrize("kind", FILES)
def test_files(kind, tmp_path):
    read, seeds, suffix = FILES[kind]
    path = tmp_path / f"file{suffix}"
    for seed in seeds:
        path.write_bytes(seed)
        assert not refused_or_read(read, path)

    @some
    @given(damaged(seeds))
    def fuzz(data):
        path.write_bytes(data)
        refused_or_read(read, path)

    fuzz()


FOUND = [  # by longer runs than these
    ("benchmark", b"\x00\rparticipant verb subject object landmark input hilo\np1 provide family home supply 4 HIGH\n"),
    ("form", FORM.replace(b"\n", b"\r\r\n x \r ")),
    ("pairs", b'a\t"' + b"b" * 200_000 + b'"\t1\n'),
    ("dissect counts", b"dog-n a-n "),
    ("dissect counts", b"dog-n a-n 1e300\n"),
    ("matrix market", b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 \n2 2 4\n"),
    ("matrix market", b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n 1 3\n2 2 4\n"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data"), FOUND, ids=[f"{kind} {number}" for number, (kind, _) in enumerate(FOUND)])
def test_what_fuzzing_found(kind, data, tmp_path):
    read, _, suffix = FILES[kind]
    path = tmp_path / f"file{suffix}"
    path.write_bytes(data)
    refused_or_read(read, path)


TEXTS_OF_USERS = {
    "phrase": (Phrase.parse, ["chase-v(cat-n, dog-n)", "furry-a(dog-n)", "live_in-v(house-n, dog-n)"]),
    "term": (parse_term, [r"\x. chase x y", "chase (furry cat) dog"]),
    "type": (parse_type, ["N -> N -> S", "(N -> S) -> N"]),
    "context": (Context.parse, ["window:2,0:harmonic", "sentence", "dependency"]),
    "rows": (lambda text: parse_rows([text], Path("x")), ["chase-v(cat-n, dog-n)", "dog-n"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", TEXTS_OF_USERS)
def test_texts(kind):
    read, seeds = TEXTS_OF_USERS[kind]

    @some
    @given(damaged([seed.encode() for seed in seeds]))
    def fuzz(data):
        refused_or_read(read, data.decode(errors="replace"))

    fuzz()


@some
@given(
    damaged([b'{"kind": "corpus", "format": 1, "files": {}, "x": [1.5e3, null, "\\u00e9"]}']) | st.binary(max_size=80)
)
def test_json(data):
    try:
        parse_json(data)
    except ValueError:
        return
