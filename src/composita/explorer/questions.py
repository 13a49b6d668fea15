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
    Endpoint(
        "about",
        "What is shown, and what can be tried.",
        about,
        gives={
            "composita": "the version of the program",
            "name": "of the run, lexicon or space",
            "title": "the same, with its size",
            "words": "how many have vectors",
            "dimensions": "of the vectors",
            "functions": "how many were learned",
            "corpus": "whether sentences of it can be shown",
            "experiment": "whether there are scores",
            "method": "the one that is used where none is named",
            "methods": "those that are possible: name, title and formula",
            "projections": "how a map can be drawn",
            "examples": "attested sentences",
            "pairs": "pairs of them",
            "words_to_try": "frequent words",
            "map_to_try": "words and sentences",
        },
    ),
    Endpoint(
        "complete",
        "Words that begin with some letters, the most frequent first.",
        complete,
        (
            Parameter("q", "The first letters.", most=100),
            Parameter("n", "How many.", "number", default=8, least=1, most=50),
            Parameter("labels", "Anything, to complete labels such as chase-v.", default="", most=10),
        ),
        {"words": "each with its form, likeliest label, count and kind"},
    ),
    Endpoint(
        "compose",
        "A sentence: derivations, the steps of its composition, and neighbours of its vector.",
        compose,
        (_SENTENCE, _METHOD, _READING),
        {
            "sentence": "as it was asked",
            "method": "the name of the method",
            "title": "of the method",
            "formula": "of the method",
            "readings": "all derivations: term, type and likelihood",
            "reading": "the number of the one that is shown",
            "term": "its lambda term",
            "type": "its type",
            "tree": "its tree, or null for a phrase: category, type, shape, word and children of each node",
            "steps": "of the composition: text, type, shape, and the words nearest to what is a vector by then",
            "notes": "remarks",
            "words": "the nearest: label, display and similarity (cosine)",
            "phrases": "the nearest attested ones, likewise",
            "swapped": "the sentence with its arguments exchanged",
            "attested": "how often this very phrase was found",
        },
    ),
    Endpoint(
        "explain",
        "Of which attested phrases the vector of a sentence is made, with their weights.",
        explanation,
        (_SENTENCE, _METHOD, _READING),
        {
            "explanation": "the phrases of the largest shares: label, display, weight, share and frequency",
            "explained": "how to read that",
            "unexplained": "why there is none, for some methods",
        },
    ),
    Endpoint(
        "compare",
        "Sentences: the cosine of each pair, by all methods or by one.",
        compare,
        (Parameter("s", "A sentence; at least two.", "texts", most=500, times=24), _METHOD),
        {
            "sentences": "as they were asked: text, phrase, error, and the text with its arguments exchanged",
            "methods": "each with name, title, formula, notes, the matrix of cosines, and whether it is waited for",
            "waiting": "whether methods are still learning: ask again",
        },
    ),
    Endpoint(
        "concordance",
        "Sentences of the corpus in which a phrase was found.",
        concordance,
        (
            Parameter("phrase", "A phrase such as chase-v(cat-n, dog-n), or a word.", most=300),
            Parameter("n", "How many.", "number", default=20, least=1, most=200),
        ),
        {
            "phrase": "its label",
            "display": "as people say it",
            "lines": "sentences: shard, sentence, and tokens with text and role (head, argument or nothing)",
            "more": "whether there may be others, and how to find them",
        },
    ),
    Endpoint(
        "word",
        "A word: neighbours, contexts, phrases and functions.",
        word,
        (Parameter("w", "A word such as chase-v.", most=200),),
        {
            "label": "of the word",
            "display": "as people say it",
            "frequency": "in the corpus",
            "forms": "in the corpus",
            "neighbours": "label, display and similarity (cosine)",
            "contexts": "the weightiest: label and weight",
            "phrases": "the most frequent with this head: label, display and frequency",
            "functions": "for each pattern: pattern, arity, type, facts, levels (title, text, curve, lambda), groups, "
            "singular values, arguments (typical words of each place), effects on typical arguments, how many others",
        },
    ),
    Endpoint(
        "word/similar",
        "The functions of a pattern that are nearest to that of a word; asked again, it goes on comparing.",
        similar,
        (Parameter("w", "A word such as chase-v.", most=200), Parameter("pattern", "A pattern such as svo.", most=60)),
        {
            "similar": "label and similarity, by the angle between the tensors",
            "compared": "with how many so far",
            "others": "how many there are",
        },
    ),
    Endpoint(
        "map",
        "Words and sentences in two dimensions.",
        map_of,
        (
            Parameter("w", "A word or a sentence; at least three.", "texts", most=500, times=200),
            Parameter("projection", "pca, or umap where it is installed.", default="pca", most=10),
        ),
        {
            "points": "label, display, kind (word or phrase), x and y",
            "notes": "what could not be shown",
            "explained": "the share of the differences that the axes show; null for umap",
            "title": "of the map",
        },
    ),
    Endpoint(
        "experiment",
        "The scores of the run, with their intervals.",
        experiment,
        gives={
            "name": "of the experiment",
            "rows": "benchmark, method, space, items, covered, and for each convention rho, its low and its high end",
            "benchmarks": "name, text, and the ceiling by each convention",
            "notes": "remarks",
        },
    ),
    Endpoint(
        "experiment/items",
        "What a method predicted for each item, and what people said.",
        items,
        _NAMES,
        {
            "title": "of the score",
            "text": "the score",
            "groups": "rho by head: head, items and rho",
            "items": "name, left, right, head, group, predicted and rated",
        },
    ),
)
