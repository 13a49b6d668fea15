"""What was learned of a verb or adjective: its functions, what they were learned from, and what they do."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.grammar.phrase import Phrase
from composita.store.errors import CompositaError, UsageError
from composita.store.progress import check

if TYPE_CHECKING:
    from composita.composition.model import Model
    from composita.explorer.endpoints import Answer, Given
    from composita.explorer.view import View
    from composita.functions.function import Function
    from composita.functions.lexicon import Entry, Lexicon

TYPICAL = 10
EFFECTS = 6
NEAR = 5
VALUES = 60
SHOWN = 12
COMPARING_SECONDS = 10.0
"""So long a function is compared with others at a time; asked again, it goes on with those that are left."""


def function_of(model: Model, entry: Entry) -> Answer:
    """Tell what a function was learned from, what it is, and what it does."""
    lexicon = model.lexicon
    function = lexicon.function(entry.word, entry.pattern)
    report = lexicon.report(entry.word, entry.pattern)
    training = report.get("training") or {}
    return {
        "pattern": entry.pattern, "arity": entry.arity, "type": function.type, "facts": _facts(entry, function, report),
        "levels": [_level(level) for level in training.get("levels") or ()],
        "groups": _groups(lexicon, entry, function), "singular": _singular(function),
        "arguments": _typical(lexicon, entry, function), "effects": _effects(model, entry, function),
        "others": sum(other.pattern == entry.pattern for other in lexicon.entries) - 1,
    }  # fmt: skip


def _facts(entry: Entry, function: Function, report: Answer) -> list[tuple[str, str]]:
    training = report.get("training") or {}
    dropped = ", ".join(f"{count:,} {why}" for why, count in (training.get("dropped") or {}).items())
    groups = ""
    if entry.arity > 1 and report.get("first_arguments"):
        groups = (
            f"{report['groups_of_three']:,} of {report['first_arguments']:,} {function.names[0]}s have three examples "
            f"or more, {report['examples_in_groups_of_three']:,} in all"
        )
    return [
        ("pattern", f"{entry.pattern}, arity {entry.arity}"),
        ("shape", " × ".join(map(str, function.shape)) + (", affine" if any(function.affine) else "")),
        ("kept as", "a dense tensor" if function.is_dense else f"{function.terms:,} terms of rank one"),
        ("examples", f"{training.get('used', 0):,} of {training.get('found', 0):,} phrases that were found"),
        ("dropped", dropped),
        ("groups", groups),
        ("effective rank", f"{report['effective_rank']:.1f}" if report.get("effective_rank") else ""),
        ("remarks", "; ".join(training.get("notes") or ())),
    ]  # fmt: skip


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
    name = str(level.get("name", "")).replace("1.0", "1").replace(" * ", " ⊗ ")
    return {"title": f"Regression over {name}", "text": ", ".join(said) + ".", "curve": curve, "lambda": middle}


def _groups(lexicon: Lexicon, entry: Entry, function: Function) -> list[Answer]:
    """Give the first arguments that were seen with most others: *book*, which many write."""
    if entry.arity < 2:
        return []
    ids = _examples(lexicon, entry)[0]
    words, counts = np.unique(ids[:, 0], return_counts=True)
    best = np.lexsort((words, -counts))[:TYPICAL]
    return [
        {"label": lexicon.words[word], "examples": int(count)}
        for word, count in zip(words[best].tolist(), counts[best].tolist(), strict=True)
    ]


def _singular(function: Function) -> list[float]:
    if function.arity != 1:
        return []
    with suppress(CompositaError):
        return [float(value) for value in function.singular_values()[:VALUES]]
    return []


def _examples(lexicon: Lexicon, entry: Entry) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    examples = lexicon.examples(entry.word, entry.pattern)
    frequency = examples.frequency if examples.frequency is not None else np.ones(len(examples.ids))
    return np.asarray(examples.ids), np.asarray(frequency)


def _typical(lexicon: Lexicon, entry: Entry, function: Function) -> list[Answer]:
    """Give the words that fill each place most often."""
    ids, frequency = _examples(lexicon, entry)
    found = []
    for place, name in enumerate(function.names):
        totals = np.bincount(ids[:, place], frequency, len(lexicon.words))
        best = [i for i in np.argsort(-totals, kind="stable")[:TYPICAL].tolist() if totals[i] > 0]
        found.append({
            "name": name, "typical": [{"label": lexicon.words[i], "frequency": int(totals[i])} for i in best],
        })  # fmt: skip
    return found


def _effects(model: Model, entry: Entry, function: Function) -> list[Answer]:
    """Apply the function to its most frequent arguments: how far it moves them, and what is near then."""
    lexicon = model.lexicon
    ids, frequency = _examples(lexicon, entry)
    rows = ids[np.argsort(-frequency, kind="stable")[:EFFECTS]]
    if not len(rows):
        return []
    inputs = [np.asarray(lexicon.prepared[rows[:, place]], np.float64) for place in range(entry.arity)]
    outputs = np.asarray(function.apply_all(*(rows.astype(np.float32) for rows in inputs)), np.float64)
    found: list[Answer] = []
    for number, row in enumerate(rows.tolist()):
        phrase = Phrase(entry.word, tuple(Phrase(lexicon.words[i]) for i in row))
        found.append({
            "label": f"{entry.pattern}:{phrase}", "display": phrase.display(), "nearest": [],
            "arguments": [
                {"name": name, "label": lexicon.words[i], "similarity": _cosine(x[number], outputs[number])}
                for name, i, x in zip(function.names, row, inputs, strict=True)
            ],
        })  # fmt: skip
    with suppress(CompositaError):
        space = model.space
        near = space.nearest(outputs.astype(np.float32), NEAR, rows=space.rows("word"))
        for one, mine in zip(found, near, strict=True):
            labels = space.labels(np.array([row for row, _ in mine], np.int64))
            one["nearest"] = [
                {"label": label, "similarity": float(value)} for label, (_, value) in zip(labels, mine, strict=True)
            ]
    return found


def _cosine(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float | None:
    sizes = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / sizes if sizes else None


def similar(view: View, given: Given) -> Answer:
    """Find the functions of the same pattern that are nearest by the angle between the tensors."""
    word, pattern = given["w"], given["pattern"]
    lexicon = view.model.lexicon
    if (word, pattern) not in lexicon:
        known = [entry.pattern for entry in lexicon.entries if entry.word == word]
        raise UsageError(
            f"{word!r} has no function of the pattern {pattern!r}: "
            + (f"choose {', '.join(known)}" if known else "it has none at all")
        )
    others = [other for other in lexicon.heads(pattern) if other != word]
    known_cosines: dict[str, float] = view.remember(("similar", word, pattern), dict)
    ends = time.monotonic() + COMPARING_SECONDS
    for other in others:
        if other in known_cosines:
            continue
        # One pair at a time, so that other questions come in between.
        with view.alone():
            own = lexicon.function(word, pattern)
            known_cosines[other] = float(own.cosine(lexicon.function(other, pattern)))
        check(view.cancel)
        if time.monotonic() > ends:
            break
    with view.alone():
        best = sorted(known_cosines.items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN]
    return {
        "similar": [{"label": other, "similarity": cosine} for other, cosine in best],
        "compared": len(known_cosines), "others": len(others),
    }  # fmt: skip
