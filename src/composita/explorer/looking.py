"""Questions about words: completion, what is known of one, and maps of many."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.composition.methods import METHODS
from composita.composition.nearest import nearest
from composita.explorer.learned import function_of
from composita.grammar.phrase import Phrase
from composita.store.errors import CompositaError, UsageError

if TYPE_CHECKING:
    from composita.composition.model import Model
    from composita.explorer.endpoints import Answer, Given
    from composita.explorer.view import View
    from composita.functions.lexicon import Lexicon

SHOWN = 12
FloatArray = npt.NDArray[np.floating[Any]]
KINDS = {"n": "noun", "v": "verb", "a": "adjective", "r": "adverb", "p": "pronoun"}


def complete(view: View, given: Given) -> Answer:
    """Complete the beginning of a word."""
    start = given["q"].lower()
    found = view.completion.find(start, given["n"], labels=bool(given["labels"]))
    return {
        "words": [
            {"form": one.form, "label": one.label, "count": one.times, "kind": KINDS.get(one.label[-1:], "")}
            for one in found
        ]
    }


# ---------------------------------------------------------------- one word


def word(view: View, given: Given) -> Answer:
    """Look at a word: neighbours, contexts, phrases, and what its functions are."""
    label: str = given["w"]
    with view.alone() as model:
        lexicon = model.lexicon
        entries = [entry for entry in lexicon.entries if entry.word == label]
        if label not in lexicon.ids and not entries:
            lexicon.find(label)  # says what is like it
        return {
            "label": label,
            "display": label.rpartition("-")[0].replace("_", " "),
            "frequency": int(lexicon.frequency[lexicon.ids[label]]) if label in lexicon.ids else None,
            "forms": _forms(lexicon, label),
            "neighbours": _neighbours(model, label),
            "contexts": _contexts(view, label),
            "phrases": _phrases(view, label),
            "functions": [function_of(model, entry) for entry in entries],
        }


def _forms(lexicon: Lexicon, label: str) -> list[str]:
    if lexicon.forms is None:
        return []
    import pyarrow.compute as pc

    mine = lexicon.forms.filter(pc.equal(lexicon.forms.column("label"), label))
    rows = sorted(zip(*(mine.column(name).to_pylist() for name in ("count", "form")), strict=True), reverse=True)
    return [form for _, form in rows[:8]]


def _neighbours(model: Model, label: str) -> list[Answer]:
    if label not in model.lexicon.ids:
        return []
    with suppress(CompositaError):
        meanings = METHODS["verb"].compose(model.lexicon, [Phrase(label)])
        found = nearest(model.space, meanings, SHOWN, kinds=("words",))[0].words
        return [{"label": near.label, "display": near.text, "similarity": float(near.similarity)} for near in found]
    return []


def _contexts(view: View, label: str) -> list[Answer]:
    """Give the weightiest contexts, where there is a space whose dimensions are contexts."""
    full = view.full
    if full is None or label not in full:
        return []
    weights = np.asarray(full.vector(label))
    if len(weights) != len(full.columns):
        return []
    best = np.argsort(-weights, kind="stable")[:SHOWN].tolist()
    return [{"label": full.columns[i], "weight": float(weights[i])} for i in best if weights[i] > 0]


def _phrases(view: View, label: str) -> list[Answer]:
    space = view.space
    if space is None:
        return []
    try:
        rows = space.rows(head=label)
    except CompositaError:
        return []
    rows = rows[np.asarray(space.items.fields.pattern)[rows] != 0]
    best = rows[np.argsort(-np.asarray(space.frequency)[rows], kind="stable")[:SHOWN]]
    said = zip(space.labels(best), space.display(best), space.frequency[best].tolist(), strict=True)
    return [{"label": a, "display": b, "frequency": int(n)} for a, b, n in said]


# ---------------------------------------------------------------- many


def map_of(view: View, given: Given) -> Answer:
    """Lay words and composed sentences out in two dimensions."""
    texts = list(dict.fromkeys(given["w"]))
    notes, kinds, labels, phrases = [], [], [], []
    with view.alone() as model:
        for text in texts:
            try:
                phrase = model.phrase(text)
            except UsageError as error:
                notes.append(str(error))
                continue
            phrases.append(phrase)
            labels.append(text)
            kinds.append("phrase" if phrase.arguments else "word")
        meanings = model.default_method.compose(model.lexicon, phrases)
        rows, kept = [], []
        for number in range(len(phrases)):
            if number in meanings.reasons:
                notes.append(meanings.reasons[number])
            elif meanings.lengths[number] > 0:
                vector = np.asarray(meanings.vector(number), np.float64)
                rows.append(vector / np.linalg.norm(vector))
                kept.append(number)
        method = model.default_method.title
    if len(rows) < 3:
        raise UsageError("; ".join(["a map needs at least three words or sentences that have vectors", *notes]))
    projection = given["projection"]
    if projection not in view.projections:
        raise UsageError(f"unknown projection {projection!r}: choose {' or '.join(view.projections)}")
    places, explained = _pca(np.array(rows)) if projection == "pca" else _umap(np.array(rows))
    points = [
        {
            "label": labels[number],
            "display": phrases[number].display() if kinds[number] == "phrase" else labels[number].rpartition("-")[0],
            "kind": kinds[number],
            "x": float(x),
            "y": float(y),
        }
        for number, (x, y) in zip(kept, places.tolist(), strict=True)
    ]
    composed = f", sentences composed by {method}" if "phrase" in kinds else ""
    return {
        "points": points,
        "notes": notes,
        "explained": explained,
        "title": f"{projection.upper()} of {len(points)} vectors of length 1{composed}",
    }


def _pca(rows: FloatArray) -> tuple[FloatArray, float]:
    """Project on the two directions in which the rows differ most; their signs are fixed."""
    centred = rows - rows.mean(axis=0)
    _, sizes, right = np.linalg.svd(centred, full_matrices=False)
    right = right[:2] * np.sign(right[:2][np.arange(2), np.abs(right[:2]).argmax(axis=1)])[:, None]
    total = float((sizes**2).sum()) or 1.0
    return centred @ right.T, float((sizes[:2] ** 2).sum() / total)


def _umap(rows: FloatArray) -> tuple[FloatArray, None]:
    from umap import UMAP  # type: ignore[import-not-found]

    near = max(2, min(15, len(rows) - 1))
    init = "spectral" if len(rows) > 8 else "random"
    made = UMAP(n_neighbors=near, metric="cosine", random_state=0, init=init).fit_transform(rows)
    return np.asarray(made), None


def some_words(lexicon: Lexicon, letter: str, most: int) -> Sequence[str]:
    """Give frequent words of a part of speech: those with functions first."""
    with_functions = list(dict.fromkeys(entry.word for entry in lexicon.entries if entry.word.endswith(letter)))
    known = with_functions or [label for label in lexicon.words if label.endswith(letter)]
    frequency = {label: int(lexicon.frequency[lexicon.ids[label]]) for label in known if label in lexicon.ids}
    return sorted(frequency, key=lambda label: (-frequency[label], label))[:most]
