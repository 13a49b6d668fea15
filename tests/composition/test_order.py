"""Word order, models, and the commands."""

import json

import numpy as np
import pytest

from composita.cli.main import main
from composita.composition.ground import Ground
from composita.composition.methods import METHODS, methods_named
from composita.composition.model import Model, open_model
from composita.composition.nearest import nearest
from composita.composition.order import attested_sentences, swap, word_order
from composita.functions.learn import learn
from composita.functions.onestep import OneStep
from composita.grammar.derivation import phrase_of
from composita.grammar.phrase import Phrase
from composita.grammar.terms import parse_term
from composita.store.errors import NotFoundError, UsageError
from tests.composition.helpers import tiny_lexicon, tiny_space


@pytest.fixture(scope="module")
def lexicon():
    return learn(tiny_space(dimensions=8), learner=OneStep(), min_nonzero=0)


# ---------------------------------------------------------------- word order


def test_swapping():
    assert str(swap(Phrase.parse("give-v(book-n, girl-n, boy-n)"))) == "give-v(boy-n, girl-n, book-n)"
    with pytest.raises(UsageError, match="no two arguments"):
        swap(Phrase.parse("sleep-v(cat-n)"))


def test_attested_sentences(lexicon):
    found = attested_sentences(lexicon, count=7, per_head=3, min_frequency=2)
    space = lexicon.space
    frequency = [space.frequency[space.find(str(phrase))] for phrase in found]
    assert len(found) == 7
    assert frequency == sorted(frequency, reverse=True)
    assert max(np.unique([p.head for p in found], return_counts=True)[1]) <= 3
    for phrase, count in zip(found, frequency, strict=True):
        other = str(swap(phrase))
        assert phrase.arguments[0] != phrase.arguments[1]
        assert other not in space or space.frequency[space.find(other)] < count
    with pytest.raises(UsageError, match="choose an, sv, svo, vo"):
        attested_sentences(lexicon, pattern="svoo")


def test_who_knows_word_order(lexicon):
    sentences = attested_sentences(lexicon, count=20)
    methods = methods_named("verb,add,multiply,kronecker,weighted-add,learned")
    found = word_order(lexicon, sentences, methods)
    rows = {row.method: row for row in found.rows}
    for name in ("verb", "add", "multiply"):
        assert rows[name].gap == pytest.approx(0, abs=1e-6), name
        assert rows[name].right == 0.5, name
    assert rows["learned"].gap > 0.01
    assert rows["learned"].compared == len(sentences)
    assert rows["kronecker"].gap > 0
    assert rows["kronecker"].right is None
    assert "matrices" in rows["kronecker"].note
    low, high = rows["learned"].interval
    assert low <= rows["learned"].right <= high


def test_the_true_order_is_nearer_by_a_naive_count(lexicon):
    sentences = attested_sentences(lexicon, count=10)
    space = lexicon.space
    rows = [space.find(str(phrase)) for phrase in sentences]
    ground = Ground(lexicon, rows)
    right = []
    for phrase, row in zip(sentences, rows, strict=True):
        true, other = METHODS["learned"].compose(ground, [phrase, swap(phrase)]).vectors
        y = space.array[row]
        right.append(np.dot(true, y) / np.linalg.norm(true) > np.dot(other, y) / np.linalg.norm(other))
    assert word_order(lexicon, sentences, [METHODS["learned"]]).rows[0].right == np.mean(right)
    # What was learned from knows the answer.
    known = word_order(lexicon, sentences, [METHODS["learned"]], hold_out=False).rows[0]
    assert known.right > np.mean(right)


def test_sentences_that_are_not_attested_have_a_gap_only(lexicon):
    found = word_order(lexicon, [Phrase.parse("rare-v(cat-n, dog-n)")], methods_named("add,learned"))
    assert [row.right for row in found.rows] == [None, None]
    assert found.rows[0].note == "none is attested"
    with pytest.raises(UsageError, match="no sentences"):
        word_order(lexicon, [], methods_named("add"))


# ---------------------------------------------------------------- models


def test_opening(lexicon, tmp_path):
    lexicon.space.save(tmp_path / "space")
    from composita.spaces.space import Space

    space = Space.open(tmp_path / "space")
    learned = learn(space, learner=OneStep(), min_nonzero=0, out=tmp_path / "lexicon")
    assert len(learned)
    model = open_model(tmp_path / "lexicon")
    assert (model.name, model.default_method.name) == ("lexicon", "learned")
    bare = open_model(tmp_path / "space")
    assert (bare.name, bare.default_method.name) == ("space", "add")
    text = "chase-v(cat-n, dog-n)"
    expected = METHODS["learned"].compose(lexicon, [Phrase.parse(text)])
    assert model.compose([text]).similarity(expected)[0] == pytest.approx(1, abs=1e-5)
    with pytest.raises(NotFoundError):
        open_model(tmp_path)


def test_sentences_are_read():
    from dataclasses import replace

    model = Model(tiny_lexicon(), "tiny", "paper")
    assert str(model.phrase("angry dog chase furry cat")) == "chase-v(furry-a(cat-n), angry-a(dog-n))"
    assert str(model.phrase("dog-n")) == "dog-n"
    reading = model.read("dog chase cat")
    assert (reading.term, reading.derivations) == ("chase-v(cat-n)(dog-n)", 1)
    assert model.types(Phrase.parse("chase-v(furry-a(cat-n), dog-n)")) == {
        "cat-n": "N", "furry-a": "N -> N", "dog-n": "N", "chase-v": "N -> N -> S",
    }  # fmt: skip
    with pytest.raises(UsageError, match="unicorn"):
        model.phrase("unicorn chase cat")
    with pytest.raises(UsageError, match="nowhere"):
        replace(model, grammar_name="nowhere").phrase("dog chase cat")


def test_types_of_a_derivation_are_those_of_its_grammar():
    model = Model(tiny_lexicon(), "tiny", "english")
    found = model.types(model.read("dog that chase cat sleep and sing"))
    assert found["chase-v"] == "N -> N -> S"
    assert found["and"] == "S -> S -> S"
    assert found["that"] == "N -> S -> N"
    assert model.types(Phrase.parse("and(sleep-v(dog-n), sing-v(kid-n))"))["and"] == "S -> S -> S"


def test_names_are_arguments_outside_the_core():
    from dataclasses import replace

    from composita.functions.lexicon import Lexicon

    space = tiny_space()
    core = np.asarray(space.core).copy()
    core[space.find("dog-n")] = core[space.find("new-a")] = False
    ground = Ground.of(lexicon := Lexicon.from_space(replace(space, core=core)))
    assert ground.names == {"dog-n"}
    assert Ground.of(lexicon) is ground
    assert Ground.of(Lexicon.from_vectors({"dog-n": np.ones(2)})).names == frozenset()


def test_meanings_as_phrases():
    found = phrase_of(parse_term("and(sing-v(kid-n), and(sleep-v(cat-n), sleep-v(dog-n)))"))
    assert str(found) == "and(sing-v(kid-n), sleep-v(cat-n), sleep-v(dog-n))"
    assert found.display() == "kid sing and cat sleep and dog sleep"
    assert phrase_of(parse_term(r"\x. sleep-v(x)")) is None
    assert phrase_of(parse_term(r"dog-n(\x. x)")) is None


def test_nearest(lexicon):
    meanings = METHODS["learned"].compose(lexicon, [Phrase.parse("chase-v(cat-n, dog-n)"), Phrase.parse("x-v(y-n)")])
    first, second = nearest(lexicon.space, meanings, 3)
    vector, space = meanings.vector(0), lexicon.space
    rows = space.rows("word")
    cosines = space.array[rows] @ vector / np.linalg.norm(space.array[rows], axis=1) / np.linalg.norm(vector)
    best = rows[np.argsort(-cosines)[:3]]
    assert [near.label for near in first.words] == space.labels(best)
    assert len(first.phrases) == 3
    assert "chase-v(cat-n, dog-n)" not in [near.label for near in first.phrases]
    assert (second.words, second.phrases) == ([], [])


# ---------------------------------------------------------------- commands


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    from composita.spaces.space import Space

    folder = tmp_path_factory.mktemp("commands")
    tiny_space(dimensions=8).save(folder / "space")
    learn(Space.open(folder / "space"), learner=OneStep(), min_nonzero=0, out=folder / "lexicon")
    return folder


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_compose_command(run_folder, capsys):
    command = ["compose", run_folder / "lexicon", "--grammar", "paper"]
    code, out, _ = run(capsys, *command, "angry dog chase furry cat", "-n", "2")
    assert code == 0
    assert "chase-v(furry-a(cat-n))(angry-a(dog-n))" in out
    assert "chase-v : N -> N -> S" in out
    assert "near phrases" in out
    code, out, _ = run(capsys, *command, "dog chase cat", "chase-v(unicorn-n, dog-n)", "--json", "--method", "add")
    first, second = json.loads(out)
    assert code == 0
    assert first["result"] == "vector"
    assert len(first["words"]) == 5
    assert second["reason"] == "unicorn-n has no vector"
    code, out, _ = run(capsys, *command, "rare-v(cat-n, dog-n)", "--no-back-off")
    assert code == 1
    assert "rare-v has no function" in out
    code, _, err = run(capsys, *command)
    assert code == 2
    assert "expected a sentence" in err


CONLLU = """1\tDogs\tdog\tNOUN\tNNS\t_\t3\tnsubj\t_\t_
2\toften\toften\tADV\tRB\t_\t3\tadvmod\t_\t_
3\tchase\tchase\tVERB\tVBP\t_\t0\troot\t_\t_
4\tfurry\tfurry\tADJ\tJJ\t_\t5\tamod\t_\t_
5\tcats\tcat\tNOUN\tNNS\t_\t3\tobj\t_\t_

1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

1\tNo\tno\tDET\tDT\t_\t2\tdet\t_\t_
2\tkids\tkid\tNOUN\tNNS\t_\t3\tnsubj\t_\t_
3\tsing\tsing\tVERB\tVBP\t_\t0\troot\t_\t_

"""


def test_parsed_text_is_composed(run_folder, capsys, tmp_path):
    (tmp_path / "parsed.conllu").write_text(CONLLU)
    command = ["compose", run_folder / "lexicon", "--parsed", tmp_path / "parsed.conllu"]
    code, out, _ = run(capsys, *command, "--json", "--vectors", "-n", "1")
    first, second, third = json.loads(out)
    assert code == 0
    assert (first["phrase"], first["left_out"]) == ("chase-v(furry-a(cat-n), dog-n)", ["often"])
    assert first["types"]["chase-v"] == "N -> N -> S"
    expected = open_model(run_folder / "lexicon").compose(["chase-v(furry-a(cat-n), dog-n)"]).vector(0)
    np.testing.assert_allclose(first["vector"], expected, rtol=1e-5)
    assert second == {"text": "Yes", "method": "learned", "reason": "no verb in the main clause"}
    assert "'no' is refused: negation" in third["reason"]
    code, out, _ = run(capsys, *command, "dog chase cat")
    assert code == 0
    assert "left out" in out
    assert "not composed  no verb in the main clause" in out
    assert out.index("dog chase cat") < out.index("Dogs often chase")
    code, _, err = run(capsys, *command, "--labels", "mine")
    assert code == 2
    assert "mine" in err
    strange = CONLLU.replace("advmod", "hub").replace("amod", "spoke").replace("det", "rim")
    (tmp_path / "parsed.conllu").write_text(strange)
    code, _, err = run(capsys, *command)
    assert code == 2
    assert "pass --labels" in err
    assert run(capsys, *command, "--labels", "ud", "--tags", "upos")[0] == 0
    assert run(capsys, "compose", run_folder / "lexicon", "--parsed", tmp_path / "none.conllu")[0] == 1


def test_derivations_are_shown_chosen_and_drawn(run_folder, capsys, tmp_path):
    command = ["compose", run_folder / "lexicon", "--grammar", "english", "-n", "1"]
    sentence, picture = "angry cat and dog chase mouse", tmp_path / "picture.svg"
    code, out, _ = run(capsys, *command, sentence, "--tree", "--svg", picture)
    assert code == 0
    assert "chase-v(mouse-n)(and(angry-a(cat-n))(dog-n))" in out
    assert "Vt[fin] : N -> N -> S chase-v" in out
    assert "T_chase × and(T_angry × cat, dog)" in out or "(T_chase × mouse) × and(T_angry × cat, dog)" in out
    assert "T_angry  N⊗N (8 × 8)" in out
    assert picture.read_text().startswith("<svg")
    ambiguous = "cat sing and sleep and chase mouse"
    code, out, _ = run(capsys, *command, ambiguous, "--json")
    (first,) = json.loads(out)
    if first["derivations"] > 1:
        code, out, _ = run(capsys, *command, ambiguous, "--derivation", "2", "--tree")
        assert code == 0
        assert "2  " in out
    code, _, err = run(capsys, *command, sentence, "--derivation", "99")
    assert code == 2
    assert "expected one of them, got 99" in err
    code, _, err = run(capsys, *command, "chase-v(cat-n, dog-n)", "--svg", picture)
    assert code == 2
    assert "no derivation to draw" in err
    code, _, err = run(capsys, *command, sentence, "--svg", tmp_path / "none" / "picture.svg")
    assert code == 2
    assert "cannot write" in err


def test_of_many_sentences_those_that_cannot_be_read_are_told(run_folder, capsys, tmp_path):
    command = [run_folder / "lexicon", "--grammar", "english"]
    many = tmp_path / "many.txt"
    many.write_text("dog chase cat\nno dog chase cat\nkid sing\n")
    code, out, _ = run(capsys, "compose", *command, "--file", many, "--json")
    said = json.loads(out)
    assert code == 0
    assert [each.get("phrase") for each in said] == ["chase-v(cat-n, dog-n)", None, "sing-v(kid-n)"]
    assert "'no' is refused" in said[1]["reason"]
    code, _, err = run(capsys, "compose", *command, "no dog chase cat")
    assert code == 2
    assert "'no' is refused" in err
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("dog chase cat\tno dog chase cat\nkid sing\tdog sing\n")
    code, out, err = run(capsys, "similar", *command, "--file", pairs, "--json")
    rows = json.loads(out)["pairs"]
    assert code == 0
    assert rows[0]["learned"] is None
    assert rows[1]["learned"] < 1
    pairs.write_text("dog chase cat\tno dog chase cat\nkid sing\tno dog sing\n")
    code, out, err = run(capsys, "similar", *command, "--file", pairs)
    assert code == 1
    assert "not read: 'no dog chase cat'" in err
    code, out, err = run(capsys, "neighbours", *command, "kid sing", "no kid sing", "-n", "2", "--json")
    assert code == 0
    assert ["words" in each for each in json.loads(out)] == [True, False]
    code, out, err = run(capsys, "neighbours", *command, "kid sing", "no kid sing", "-n", "2")
    assert "'no' is refused" in err
    many.write_text("dog chase cat\nno dog chase cat\n")
    code, out, err = run(capsys, "order", *command, many, "--json", "--methods", "add")
    assert json.loads(out)["rows"][0]["sentences"] == 1
    assert "'no' is refused" in err


def test_similar_command(run_folder, capsys, tmp_path):
    command = ["similar", run_folder / "lexicon", "--grammar", "paper"]
    code, out, err = run(capsys, *command, "kid sing", "kid sing song", "song sing kid", "--methods", "all")
    assert code == 0
    assert "2)  kid sing / song sing kid" in out
    assert "kronecker makes a vector" in err
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("# pairs\ndog chase cat\tcat chase dog\n\nkid sing\tdog sing\n")
    code, out, _ = run(capsys, *command, "--file", pairs, "--methods", "add,learned", "--json")
    found = json.loads(out)["pairs"]
    assert found[0]["add"] == pytest.approx(1)
    assert found[0]["learned"] < 1
    code, out, _ = run(capsys, *command, "--file", pairs)
    assert out.splitlines()[1].split() == ["pair", "learned"]
    pairs.write_text("no tab here\n")
    code, _, err = run(capsys, *command, "--file", pairs)
    assert code == 1
    assert "expected two sentences with a tab" in err
    assert run(capsys, *command, "kid sing")[0] == 2


def test_explain_and_neighbours_commands(run_folder, capsys):
    command = [run_folder / "lexicon", "--grammar", "paper"]
    code, out, _ = run(capsys, "explain", *command, "kid sing song", "-n", "3")
    assert code == 0
    assert " sing " in out
    code, out, _ = run(capsys, "explain", *command, "kid sing song", "-m", "add", "--json")
    assert [part["text"] for part in json.loads(out)["rows"]]
    code, _, err = run(capsys, "explain", *command, "kid sing song", "-m", "multiply")
    assert code == 2
    assert "no parts to show" in err
    code, out, _ = run(capsys, "neighbours", *command, "dog-n", "kid sing", "--of", "both", "-n", "3")
    assert code == 0
    assert "phrases near 'kid sing'" in out
    code, out, _ = run(capsys, "neighbours", *command, "dog-n", "--json")
    assert "dog-n" not in [near["label"] for near in json.loads(out)[0]["words"]]
    code, _, err = run(capsys, "neighbours", *command, "dog-n", "--of", "verbs")
    assert "choose words or phrases" in err
    code, _, err = run(capsys, "compose", run_folder / "space", "dog-n", "-m", "learned")
    assert code == 2
    assert "composita learn" in err


def test_order_command(run_folder, capsys, tmp_path):
    command = ["order", run_folder / "lexicon", "--grammar", "paper"]
    code, out, _ = run(capsys, *command, "--from", "corpus", "-n", "10", "--methods", "add,learned")
    assert code == 0
    assert "left out of what is learned from" in out
    assert "0.500" in out
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("panda eat bamboo\nchase-v(cat-n, dog-n)\n")
    code, out, _ = run(capsys, *command, sentences, "--json", "--methods", "add")
    assert json.loads(out)["rows"][0]["sentences"] == 2
    assert run(capsys, *command)[0] == 2
    sentences.write_bytes(b"\xff\xfe\x00")
    code, _, err = run(capsys, *command, sentences)
    assert code == 1
    assert "UTF-8" in err


def test_one_meaning(lexicon):
    model = Model(lexicon, "tiny", "paper")
    meaning, other = model.meaning("dog chase cat"), model.meaning("cat chase dog")
    assert repr(meaning) == "Meaning('dog chase cat': chase-v(cat-n, dog-n) by learned)"
    assert meaning._repr_svg_().startswith("<svg")
    assert meaning.similarity(meaning) == pytest.approx(1)
    assert meaning.similarity(other) < 1
    assert len(meaning.nearest(4).words) == 4
    assert meaning.explain().rows
    assert meaning.notes == ()
    assert model.meaning("dog-n").derivation is None
    assert model.meaning("dog-n")._repr_svg_() is None
    with pytest.raises(UsageError, match="cannot be composed by learned"):
        model.meaning("rare-v(dog-n)", back_off=False)
    with pytest.raises(UsageError, match="a matrix here"):
        model.meaning("dog chase cat", "kronecker").vector  # noqa: B018
