"""Held-out prediction, against doing it by hand."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.functions import learn as learning
from composita.functions.describe import describe
from composita.functions.examples import Examples
from composita.functions.heldout import (
    HELDOUT,
    Prediction,
    cross_validate,
    folds,
    keep,
    measures,
    overall,
    predict,
    ranks,
)
from composita.functions.leaning import Towards, Unseen, without_own
from composita.functions.learn import learn
from composita.functions.lexicon import Lexicon
from composita.functions.multistep import MultiStep
from composita.functions.onestep import OneStep
from composita.store.engine import Engine
from composita.store.errors import TooFewError, UsageError
from composita.store.folder import Folder
from tests.functions.worlds import miniature_space


@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), st.integers(2, 6), st.integers(0, 3))
@settings(max_examples=50, deadline=None)
def test_folds(ids, count, seed):
    ids = np.array(ids)
    fold = folds(ids, count, seed)
    distinct = np.unique(ids)
    for value in distinct:
        assert len(set(fold[ids == value].tolist())) == 1
    assert set(fold.tolist()) == set(range(min(count, len(distinct))))
    assert np.array_equal(fold, folds(ids, count, seed))
    sizes = np.bincount(fold)
    assert sizes.max() - sizes.min() <= np.bincount(ids).max()


def test_ranks_against_counting():
    rng = np.random.default_rng(0)
    near, true = rng.integers(0, 5, (20, 7)) / 5, rng.integers(0, 7, 20)
    for row, place, found in zip(near, true, ranks(near, true), strict=True):
        others = np.delete(row, place)
        assert found == pytest.approx(((others > row[place]).sum() + 0.5 * (others == row[place]).sum()) / 6)
    assert ranks(np.ones((2, 1)), np.zeros(2, int)).tolist() == [0.5, 0.5]


def planted_examples(noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    vectors, tensor = rng.normal(size=(20, 4)), rng.normal(size=(5, 4, 4))
    ids = np.unique(rng.integers(0, 20, (80, 2)), axis=0)
    outputs = np.einsum("qba,na,nb->nq", tensor, vectors[ids[:, 0]], vectors[ids[:, 1]])
    return Examples.from_arrays((vectors, vectors), ids, outputs + noise * rng.normal(size=outputs.shape))


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b) if a.any() and b.any() else 0.0


@pytest.mark.parametrize("argument", [0, 1])
def test_prediction_by_hand(argument):
    examples, learner = planted_examples(), OneStep(kernel="product")
    fold = folds(examples.ids[:, argument], 3)
    found = {
        name: []
        for name in (
            "rank", "rank_centred", "rank_all", "cosine", "centred", "centroid_rank", "centroid_rank_all",
            "centroid_cosine",
        )
    }  # fmt: skip
    outputs = examples.outputs
    for row in range(len(examples)):
        rest = fold != fold[row]
        assert not set(examples.ids[rest, argument]) & {examples.ids[row, argument]}
        function, mean = learner.learn(examples.select(rest)), outputs[rest].mean(axis=0)
        made = function(examples.inputs(0)[row])(examples.inputs(1)[row])
        own, place = cosine(made, outputs[row]), [i for i in np.flatnonzero(~rest) if i != row]
        others = np.array([cosine(made, y) for i, y in enumerate(outputs) if i != row])
        same = np.array([cosine(made, outputs[i]) for i in place])
        central = np.array([cosine(mean, outputs[i]) for i in place])
        away = np.array([cosine(made - mean, outputs[i] - mean) for i in place])
        found["rank"].append((same > own).mean())
        found["rank_centred"].append((away > cosine(made - mean, outputs[row] - mean)).mean())
        found["rank_all"].append((others > own).mean())
        found["cosine"].append(own)
        found["centred"].append(cosine(made - mean, outputs[row] - mean))
        found["centroid_rank"].append((central > cosine(mean, outputs[row])).mean())
        every = np.array([cosine(mean, y) for i, y in enumerate(outputs) if i != row])
        found["centroid_rank_all"].append((every > cosine(mean, outputs[row])).mean())
        found["centroid_cosine"].append(cosine(mean, outputs[row]))
    made = predict(examples, learner, argument=argument, count=3)
    for name, values in found.items():
        assert getattr(made, name) == pytest.approx(np.mean(values), abs=1e-6), name
    assert made.argument == examples.names[argument] and made.foretold == made.examples == len(examples)
    assert made.rank < 0.1 and made.centroid_rank == pytest.approx(0.5)


def test_noise_cannot_be_foretold():
    examples = planted_examples()
    shuffled = np.random.default_rng(1).permutation(len(examples))
    random = Examples.from_arrays(examples.vectors, examples.ids, examples.outputs[shuffled])
    made = predict(random, OneStep(kernel="product"), count=4)
    assert made.rank > 0.35


def test_what_cannot_be_divided():
    examples = planted_examples()
    few = examples.select(np.isin(examples.ids[:, 0], np.unique(examples.ids[:, 0])[:3]))
    assert predict(few, OneStep()) is None
    assert predict(few, OneStep(), argument=1, count=2).foretold == len(few)


def test_folds_that_leave_too_little_are_not_foretold():
    examples = planted_examples()
    made = predict(examples, MultiStep(min_examples=5), count=4)
    assert made is None or made.foretold < len(examples)
    assert predict(examples, MultiStep(min_examples=50), count=4) is None


def test_the_mean_itself_has_no_centred_cosine():
    examples = planted_examples()
    mean = examples.outputs.mean(axis=0)
    made = np.tile(mean, (len(examples), 1))
    truth = examples.outputs / np.linalg.norm(examples.outputs, axis=1, keepdims=True)
    found = measures(made, mean, examples.outputs, truth, np.arange(len(examples)))
    assert np.allclose(found["rank"], found["centroid_rank"])
    assert np.allclose(found["centred"], 0)


# ---------------------------------------------------------------- of a lexicon


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("heldout") / "l"
    learn(miniature_space(), patterns="sv,svo", max_examples=25, out=path)
    return path


LEARNERS = {
    "one": OneStep(),
    "two": MultiStep(),
    "leaning": Towards(lean="shared", learner=OneStep(), strengths=(0.5,)),
}


def test_cross_validation(folder):
    lexicon = Lexicon.open(folder)
    found = cross_validate(lexicon, LEARNERS, count=3)
    words = len(lexicon.heads("sv"))
    rows = overall(found)
    assert {(row["learner"], row["pattern"], row["argument"]) for row in rows} == {
        (name, *rest) for name in LEARNERS for rest in (("sv", "subject"), ("svo", "object"), ("svo", "subject"))
    }
    one = next(row for row in rows if (row["learner"], row["pattern"]) == ("one", "sv"))
    assert one["words"] == words
    assert one["rank"] < one["centroid_rank"]
    assert one["rank"] == pytest.approx(np.mean([p.rank for p in found if (p.learner, p.pattern) == ("one", "sv")]))
    assert found == cross_validate(lexicon, LEARNERS, count=3, engine=Engine(3))
    some = cross_validate(lexicon, {"one": OneStep()}, words=[lexicon.heads()[0]], patterns=["sv"], count=3)
    assert [(p.word, p.pattern) for p in some] == [(lexicon.heads()[0], "sv")]
    with pytest.raises(UsageError, match="expected at least 2 folds"):
        cross_validate(lexicon, LEARNERS, count=1)


def test_bits_do_not_depend_on_who_foretells(folder, monkeypatch):
    lexicon = Lexicon.open(folder)
    few = {"words": lexicon.heads("svo")[:3], "patterns": ["svo"], "count": 3}
    here = cross_validate(lexicon, LEARNERS, **few)
    asked = [(word, argument, name) for word in lexicon.heads("svo")[:3] for argument in ("object", "subject")
             for name in LEARNERS]  # fmt: skip
    found = [(p.word, p.argument, p.learner) for p in here]
    assert found == [trial for trial in asked if trial in found]  # of few phrases two steps cannot foretell all
    assert {trial for trial in asked if trial[2] != "two"} <= set(found)
    monkeypatch.setattr(learning, "CHUNK_SECONDS", 0.0)  # a task for each trial
    assert cross_validate(lexicon, LEARNERS, **few, engine=Engine(3)) == here
    assert cross_validate(lexicon.in_memory(), LEARNERS, **few) == here
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        engine = Engine(2, executor=pool)
        assert cross_validate(lexicon, LEARNERS, **few, engine=engine) == here
        assert cross_validate(lexicon.in_memory(), LEARNERS, **few, engine=engine) == here


def test_a_lexicon_travels_without_what_it_keeps(folder):
    lexicon = replace(Lexicon.open(folder).in_memory(), loaded_space=miniature_space())
    lexicon.function(lexicon.heads()[0], 1)
    lexicon.cache["known"] = lambda: None
    state = lexicon.__getstate__()
    assert set(state) == {field.name for field in fields(Lexicon)} and state["loaded_space"] is None


def test_the_shared_function_alone(folder):
    lexicon = Lexicon.open(folder)
    word = lexicon.heads("svo")[0]
    shared = Unseen()(lexicon, word, "svo")
    examples = lexicon.examples(word, "svo")
    assert shared.learn(examples) is shared.learn(examples.select(np.arange(3)))
    assert shared.learn(examples) is without_own(lexicon, word, "svo")
    made = cross_validate(lexicon, {"shared": Unseen()}, patterns=["svo"], count=3)
    assert overall(made)[0]["rank"] < 0.5


def test_where_no_other_word_is_known(tmp_path):
    lexicon = learn(miniature_space(), patterns="svo", heads={"give-v"}, max_examples=25)
    leaning = Towards(lean="shared", learner=OneStep())
    assert leaning(lexicon, "give-v", "svo") is leaning.learner
    with pytest.raises(TooFewError, match="no word but 'give-v'"):
        Unseen()(lexicon, "give-v", "svo").learn(lexicon.examples("give-v"))
    assert cross_validate(lexicon, {"shared": Unseen()}, count=3) == []


def made(learner, word, argument="object", rank=0.25):
    return Prediction(word, "svo", argument, learner, 9, 9, *[rank] * 8)


def test_means_over_words_that_all_could_foretell():
    rows = [made("a", "x"), made("a", "y", rank=0.75), made("b", "y", rank=0.5), made("a", "z", "subject")]
    assert [(row["learner"], row["argument"], row["words"], row["rank"]) for row in overall(rows)] == [
        ("a", "object", 2, 0.5), ("b", "object", 1, 0.5), ("a", "subject", 1, 0.25)
    ]  # fmt: skip
    common = overall([row.to_dict() for row in rows], common=True)
    assert [(row["learner"], row["argument"], row["words"], row["rank"]) for row in common] == [
        ("a", "object", 1, 0.75), ("b", "object", 1, 0.5), ("a", "subject", 1, 0.25)
    ]  # fmt: skip
    assert overall([made("a", "x"), made("b", "y")], common=True) == []


def test_predictions_are_kept_with_the_lexicon(folder):
    lexicon = Lexicon.open(folder)
    before = lexicon.fingerprint
    found = cross_validate(lexicon, {"one": OneStep()}, patterns=["sv"], count=3)
    keep(folder, found)
    keep(folder, found)
    again = Lexicon.open(folder)
    assert again.fingerprint == before and again.entries == lexicon.entries
    assert [row["rank"] for row in describe(folder).heldout] == [p.rank for p in found]
    assert sum(name.startswith("heldout") for name in Folder.open(folder, "lexicon").files) == 1
    assert HELDOUT in Folder.open(folder, "lexicon").files
