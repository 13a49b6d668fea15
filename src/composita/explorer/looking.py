"""Questions about words: completion, what is known of one, and maps of many."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.composition.methods import METHODS
from composita.composition.nearest import nearest
from composita.grammar.phrase import Phrase
from composita.store.errors import CompositaError, UsageError

if TYPE_CHECKING:
    from composita.composition.model import Model
    from composita.explorer.endpoints import Answer, Given
    from composita.explorer.view import View
    from composita.functions.function import Function
    from composita.functions.lexicon import Entry, Lexicon

SHOWN = 12
TYPICAL = 10
EFFECTS = 5
SIMILAR = 400
"""With so many functions of its pattern at most a function is compared."""

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
            "functions": [_function(model, entry) for entry in entries],
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
    rows = np.setdiff1d(rows, space.rows("word"))
    best = rows[np.argsort(-np.asarray(space.frequency)[rows], kind="stable")[:SHOWN]]
    said = zip(space.labels(best), space.display(best), space.frequency[best].tolist(), strict=True)
    return [{"label": a, "display": b, "frequency": int(n)} for a, b, n in said]


def _function(model: Model, entry: Entry) -> Answer:
    """Tell what a function was learned from, what it does, and which others are like it."""
    lexicon = model.lexicon
    function = lexicon.function(entry.word, entry.pattern)
    report = lexicon.report(entry.word, entry.pattern)
    training = report.get("training") or {}
    dropped = ", ".join(f"{count:,} {why}" for why, count in (training.get("dropped") or {}).items())
    facts = [
        ("pattern", f"{entry.pattern}, arity {entry.arity}"),
        ("shape", " × ".join(map(str, function.shape)) + (", affine" if any(function.affine) else "")),
        ("kept as", "a dense tensor" if function.is_dense else f"{function.terms:,} terms of rank one"),
        ("examples", f"{training.get('used', 0):,} of {training.get('found', 0):,}"),
        ("dropped", dropped),
        ("effective rank", f"{report['effective_rank']:.1f}" if report.get("effective_rank") else ""),
        ("remarks", "; ".join(training.get("notes") or ())),
    ]
    return {
        "pattern": entry.pattern, "arity": entry.arity, "type": function.type, "facts": facts,
        "levels": [_level(level) for level in training.get("levels") or ()],
        "singular": _singular(function), "arguments": _typical(lexicon, entry, function),
        "effects": _effects(model, entry, function), "similar": _similar(lexicon, entry, function),
    }  # fmt: skip


def _level(level: Answer) -> Answer:
    """Tell how a regression chose its penalty."""
    penalty = level.get("penalty") or {}
    lambdas = [value for value in penalty.get("lambda") or () if value is not None]
    middle = lambdas[len(lambdas) // 2] if lambdas else None
    curve = [
        [x, y] for x, y in zip(penalty.get("grid") or (), penalty.get("curve") or (), strict=False) if y is not None
    ]
    said = [f"{level.get('regressions', 0):,} regression" + "s" * (level.get("regressions") != 1)]
    if middle is not None:
        said.append(f"λ = {middle:.3g}" + (" (median)" if len(lambdas) > 1 else ""))
    if penalty.get("gcv") is not None and penalty.get("gcv_without"):
        said.append(f"error {penalty['gcv'] / penalty['gcv_without']:.1%} of that of predicting nothing")
    verdicts = penalty.get("verdicts") or {}
    said += [f"{name}: {count}" for name, count in verdicts.items() if count]
    return {
        "title": f"Regression over {level.get('name', '')}", "text": ", ".join(said) + ".", "curve": curve,
        "lambda": middle,
    }  # fmt: skip


def _singular(function: Function) -> list[float]:
    if function.arity != 1:
        return []
    with suppress(CompositaError):
        return [float(value) for value in function.singular_values()[:60]]
    return []


def _ids(lexicon: Lexicon, entry: Entry) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    examples = lexicon.examples(entry.word, entry.pattern)
    frequency = examples.frequency if examples.frequency is not None else np.ones(len(examples.ids))
    return np.asarray(examples.ids), np.asarray(frequency)


def _typical(lexicon: Lexicon, entry: Entry, function: Function) -> list[Answer]:
    ids, frequency = _ids(lexicon, entry)
    found = []
    for place, name in enumerate(function.names):
        totals = np.bincount(ids[:, place], frequency, len(lexicon.words))
        best = [i for i in np.argsort(-totals, kind="stable")[:TYPICAL].tolist() if totals[i] > 0]
        found.append({
            "name": name, "typical": [{"label": lexicon.words[i], "frequency": int(totals[i])} for i in best],
        })  # fmt: skip
    return found


def _effects(model: Model, entry: Entry, function: Function) -> list[Answer]:
    """Apply the function to its most frequent arguments, and see what is near."""
    lexicon = model.lexicon
    ids, frequency = _ids(lexicon, entry)
    best = np.argsort(-frequency, kind="stable")[:EFFECTS]
    phrases = [
        Phrase(entry.word, tuple(Phrase(lexicon.words[i]) for i in row)) for row in ids[best].tolist()
    ]  # fmt: skip
    meanings = model.default_method.compose(lexicon, phrases)
    with suppress(CompositaError):
        found = nearest(model.space, meanings, 6, kinds=("words",))
        return [
            {
                "label": str(phrase),
                "display": phrase.display(),
                "nearest": [{"label": near.label, "similarity": float(near.similarity)} for near in one.words],
            }
            for phrase, one in zip(phrases, found, strict=True)
        ]
    return []


def _similar(lexicon: Lexicon, entry: Entry, function: Function) -> list[Answer]:
    """Find functions of the same pattern by the angle between the tensors."""
    others = [other for other in lexicon.heads(entry.pattern) if other != entry.word][:SIMILAR]
    found = []
    for other in others:
        with suppress(CompositaError):
            found.append((float(function.cosine(lexicon.function(other, entry.pattern))), other))
    return [{"label": other, "similarity": cosine} for cosine, other in sorted(found, reverse=True)[:SHOWN]]


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
