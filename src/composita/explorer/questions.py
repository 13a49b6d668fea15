"""All questions that can be asked, with their parameters; the pages ask nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import composita
from composita.composition.methods import METHODS
from composita.explorer.composing import compare, compose, concordance, explanation
from composita.explorer.endpoints import Answer, Endpoint, Given, Parameter
from composita.explorer.learned import similar
from composita.explorer.looking import complete, map_of, some_words, word
from composita.explorer.scores import experiment, items

if TYPE_CHECKING:
    from composita.explorer.view import View

TRIES = 6


def about(view: View, given: Given) -> Answer:
    """Say what is shown: its name, its size, its methods, and what may be tried."""
    with view.alone() as model:
        lexicon = model.lexicon
        verbs, nouns = some_words(lexicon, "v", TRIES), some_words(lexicon, "n", 24)
        examples = example_sentences(view)
        default = model.default_method.name
    possible = set(view.methods)
    return {
        "composita": composita.__version__, "name": model.name, "words": len(lexicon.words),
        "dimensions": lexicon.dimensions, "functions": len(lexicon),
        "title": f"{model.name}: {len(lexicon.words):,} words, {len(lexicon):,} functions",
        "corpus": view.has_corpus, "experiment": view.run is not None, "method": default,
        "methods": [
            {"name": m.name, "title": m.title, "formula": m.formula} for m in METHODS.values() if m.name in possible
        ],
        "projections": view.projections, "examples": examples, "pairs": _pairs(view, examples),
        "words_to_try": [*verbs, *nouns[:TRIES]], "map_to_try": [*nouns, *examples[:TRIES]],
    }  # fmt: skip


def example_sentences(view: View) -> list[str]:
    """Give attested sentences to try: the most frequent of several verbs, by their labels or as people say them."""
    with view.lock:
        if "examples" not in view.kept:
            view.kept["examples"] = _find_examples(view)
        return view.kept["examples"]  # type: ignore[return-value]


def _find_examples(view: View) -> list[str]:
    if view.space is None:
        return []
    from composita.composition.order import attested_sentences

    for pattern in ("svo", "sv"):
        try:
            found = attested_sentences(view.model.lexicon, pattern=pattern, count=TRIES, per_head=1, min_frequency=2)
        except composita.CompositaError:
            continue
        if found:
            return [_written(view, phrase.display(), str(phrase)) for phrase in found]
    return []


def _written(view: View, text: str, label: str) -> str:
    """Give a sentence as people say it, if it is read as what it is; otherwise its label."""
    try:
        return text if str(view.model.phrase(text)) == label else label
    except composita.CompositaError:
        return label


def _pairs(view: View, examples: list[str]) -> list[list[str]]:
    return [list(pair) for pair in zip(examples[::2], examples[1::2], strict=False)]


_SENTENCE = Parameter("s", "A sentence, 'dogs chase cats', or a phrase, 'chase-v(cat-n, dog-n)'.", most=500)
_READING = Parameter("reading", "Which derivation, from 0.", "number", default=0, most=1000)
_METHOD = Parameter("method", "A method of composition; by default the lexicon's own.", default="", most=60)
_NAMES = tuple(
    Parameter(name, f"The {name}, as in the table.", most=200) for name in ("benchmark", "method", "space")
)  # fmt: skip

ENDPOINTS = (
    Endpoint("about", "What is shown, and what can be tried.", about),
    Endpoint(
        "complete",
        "Words that begin with some letters, the most frequent first.",
        complete,
        (
            Parameter("q", "The first letters.", most=100),
            Parameter("n", "How many.", "number", default=8, least=1, most=50),
            Parameter("labels", "Anything, to complete labels such as chase-v.", default="", most=10),
        ),
    ),
    Endpoint(
        "compose",
        "A sentence: derivations, the steps of its composition, and neighbours of its vector.",
        compose,
        (_SENTENCE, _METHOD, _READING),
    ),
    Endpoint(
        "explain",
        "Of which attested phrases the vector of a sentence is made, with their weights.",
        explanation,
        (_SENTENCE, _METHOD, _READING),
    ),
    Endpoint(
        "compare",
        "Sentences: the cosine of each pair, by all methods or by one.",
        compare,
        (Parameter("s", "A sentence; at least two.", "texts", most=500, times=24), _METHOD),
    ),
    Endpoint(
        "concordance",
        "Sentences of the corpus in which a phrase was found.",
        concordance,
        (
            Parameter("phrase", "A phrase such as chase-v(cat-n, dog-n), or a word.", most=300),
            Parameter("n", "How many.", "number", default=20, least=1, most=200),
        ),
    ),
    Endpoint(
        "word",
        "A word: neighbours, contexts, phrases and functions.",
        word,
        (Parameter("w", "A word such as chase-v.", most=200),),
    ),
    Endpoint(
        "word/similar",
        "The functions of a pattern that are nearest to that of a word; asked again, it goes on comparing.",
        similar,
        (Parameter("w", "A word such as chase-v.", most=200), Parameter("pattern", "A pattern such as svo.", most=60)),
    ),
    Endpoint(
        "map",
        "Words and sentences in two dimensions.",
        map_of,
        (
            Parameter("w", "A word or a sentence; at least three.", "texts", most=500, times=200),
            Parameter("projection", "pca, or umap where it is installed.", default="pca", most=10),
        ),
    ),
    Endpoint("experiment", "The scores of the run, with their intervals.", experiment),
    Endpoint("experiment/items", "What a method predicted for each item, and what people said.", items, _NAMES),
)
