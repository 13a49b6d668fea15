"""Adding text to a finished run: nothing that is there already is made again, and what comes of it is the same."""

import logging

import numpy as np
import pytest

from composita.cli.main import main
from composita.corpus.corpus import Corpus
from composita.counting import count as counting
from composita.counting.count import count
from composita.counting.vocabulary import Vocabulary
from composita.experiment.config import Experiment
from composita.experiment.extend import extend
from composita.experiment.run import Run
from composita.functions.learn import learn
from composita.functions.learners import make_learner
from composita.functions.selection import Selection
from composita.spaces.extending import extend_space
from composita.spaces.space import Space
from composita.store.errors import UsageError
from tests.experiment.helpers import write_small


def tensor(function):
    return function.dense(homogeneous=any(function.affine))


def sentences_with(text, verb, count):
    """Choose sentences of one verb only, so that no other gets new phrases."""
    blocks = [block for block in text.split("\n\n") if f"\t{verb}\tVERB" in block and block.count("\tVERB\t") == 1]
    return "\n\n".join(blocks[:count]) + "\n\n"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    description = write_small(folder)
    plain = description.read_text()
    for learner in ("onestep", "multistep"):  # whatever the preset has, neither leans on other words
        plain = plain.replace(f'learner = "{learner}"\n', f'learner = "{learner}"\nlean = "none"\n')
    description.write_text(plain)
    text = next(path for path in (folder / "text").glob("*.conllu") if path.name != "small.conllu").read_text()
    rest = text[len((folder / "text" / "small.conllu").read_text()) :]
    base = Experiment.load(description).run(folder / "base")
    verb = max(base.lexicon("svd", "onestep").heads("svo"), key=lambda v: rest.count(f"\t{v[:-2]}\tVERB"))
    (folder / "more.conllu").write_text(sentences_with(rest, verb[:-2], 40))
    return folder, base, verb


@pytest.fixture(scope="module")
def extended(world):
    """Extend the run, and note which shards were counted and which functions were learned."""
    folder, base, _ = world
    counted, said = [], []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    with pytest.MonkeyPatch.context() as patch:
        whole = counting.count_shard
        patch.setattr(counting, "count_shard", lambda job, n, shard: counted.append(shard) or whole(job, n, shard))
        logger = logging.getLogger("composita")
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        made = extend(base, [folder / "more.conllu"], folder / "larger")
        logger.removeHandler(handler)
        logger.setLevel(level)
    return made, counted, said


def test_only_new_shards_are_counted(world, extended):
    made, counted, _ = extended
    new = Corpus.open(made.place(made.meta["corpus"]))
    assert sum(shard.token_count for shard in counted) == new.token_count < world[1].corpus.token_count / 5


def test_counts_are_those_of_all_text_with_the_same_words(world, extended, tmp_path):
    folder, base, _ = world
    corpus = Corpus.build([folder / "text" / "small.conllu", folder / "more.conllu"], tmp_path / "corpus")
    vocabulary = Vocabulary.open(next((folder / "base" / "stages").glob("vocabulary-*[0-9a-f]")))
    expected = count(corpus, vocabulary, phrases="sv,svo", heads=base.counts.parameters["heads"])
    found = extended[0].counts
    assert found.labels() == expected.labels() and found.tokens == expected.tokens
    np.testing.assert_array_equal(found.frequency, expected.frequency)
    for ours, theirs in zip(found.matrix(), expected.matrix(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["svd", "full"])
def test_words_and_phrases_that_are_not_new_keep_their_vectors(world, extended, name):
    before, after = world[1].space(name), extended[0].space(name)
    matrices = [space.matrix.toarray() if space.is_sparse else np.asarray(space.array) for space in (before, after)]
    labels = after.labels()
    own = world[2]
    changed = set()
    for label, row in zip(before.labels(), matrices[0], strict=True):
        if not np.array_equal(row, matrices[1][labels.index(label)]):
            changed.add(label)
    assert all(label.startswith(f"{own}(") for label in changed)
    assert len(after) > len(before)
    projected = before.project(extended[0].counts)
    again = projected.matrix.toarray() if projected.is_sparse else np.asarray(projected.array)
    phrases = after.rows("svo")
    np.testing.assert_allclose(matrices[1][phrases], again[phrases], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("learner", ["onestep", "multistep"])
def test_only_functions_with_new_examples_are_learned(world, extended, learner):
    verb, (made, _, said) = world[2], extended
    lexicon, before = made.lexicon("svd", learner), world[1].lexicon("svd", learner)
    told = [line for line in said if "learned anew" in line]
    assert len(told) == 2
    assert all(1 <= int(line.split()[0]) <= 2 for line in told), told  # of two patterns
    assert all(int(line.split(",")[1].split()[0]) > 10 for line in told), told
    said = lexicon.parameters
    selection = Selection(**{**said["selection"], "arguments": tuple(said["selection"]["arguments"])})
    options = {key: value for key, value in said["learner"].items() if key != "learner"}
    anew = learn(made.space("svd"), learner=make_learner(learner, options), selection=selection)
    assert [e[:3] for e in lexicon.entries] == [e[:3] for e in anew.entries]
    for entry in lexicon.entries:
        key = entry.word, entry.pattern
        np.testing.assert_array_equal(tensor(lexicon.function(*key)), tensor(anew.function(*key)))
        np.testing.assert_array_equal(lexicon.attested(entry.pattern, entry.word), anew.attested(key[1], key[0]))
        assert list(lexicon.examples(*key).labels) == list(anew.examples(*key).labels)
        if entry.word != verb:
            np.testing.assert_array_equal(tensor(lexicon.function(*key)), tensor(before.function(*key)))
    assert not np.array_equal(tensor(lexicon.function(verb, "svo")), tensor(before.function(verb, "svo")))


def test_other_words_or_another_way_keep_nothing(world, extended, caplog):
    space, before = extended[0].space("svd"), world[1].lexicon("svd", "onestep")
    caplog.set_level(logging.INFO, "composita")
    learn(space, learner="onestep", since=before, min_examples=5)
    assert caplog.messages[-1].endswith(", 0 are kept")


def test_a_run_that_was_extended_can_be_extended_and_text_comes_once(world, extended, tmp_path):
    folder, (made, _, _) = world[0], extended
    with pytest.raises(UsageError, match="is in the run already"):
        extend(made, [folder / "more.conllu"], tmp_path / "twice", folder=folder)
    with pytest.raises(UsageError, match="is in the run already"):
        extend(made, [folder / "text" / "small.conllu"], tmp_path / "thrice", folder=folder)
    text = (folder / "more.conllu").read_text().split("\n\n")
    (tmp_path / "still.conllu").write_text("\n\n".join(text[:3]) + "\n\n")
    again = extend(made, [tmp_path / "still.conllu"], tmp_path / "again", folder=folder)
    assert again.counts.tokens > made.counts.tokens
    assert len(again.meta["earlier_corpora"]) == 2


def test_the_command(world, tmp_path, capsys):
    folder = world[0]
    command = ["extend", str(folder / "base"), str(folder / "more.conllu"), "--out", str(tmp_path / "new"), "-q"]
    assert main(command) == 0
    assert "miniature-gs2011" in capsys.readouterr().out
    assert main(command) == 0  # nothing is left to do
    assert str(Run.open(tmp_path / "new"))


def test_what_cannot_be_extended(world, extended):
    run, space = world[1], world[1].space("svd")
    with pytest.raises(UsageError, match="vectors from elsewhere"):
        extend_space(Space.from_vectors(["dog-n"], np.eye(1)), run.counts)
    with pytest.raises(UsageError, match="contexts"):
        extend_space(space, run.counts.select(None, run.counts.columns[:-1]))
