"""Explanations: of what the meaning of a phrase is made, attested phrases or words, with their weights.

What a learned function gives is a weighted sum of the vectors of attested phrases, and what adds vectors is a sum of
the vectors of words: both are shown. Products have no parts that could be told apart.

>>> import numpy as np
>>> from composita.functions.lexicon import Lexicon
>>> lexicon = Lexicon.from_vectors({"dog-n": np.array([0.0, 3.0]), "bark-v": np.array([1.0, 0.0])})
>>> explain(lexicon, Phrase.parse("bark-v(dog-n)"), "add").rows
[Part(label='bark-v', text='bark', weight=1.0, share=0.5), Part(label='dog-n', text='dog', weight=1.0, share=0.5)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from composita.composition.ground import Ground
from composita.composition.learned import Found, find, fit
from composita.composition.method import Method
from composita.composition.methods import method_named
from composita.composition.rows import FloatArray, dense, unit
from composita.grammar.phrase import OPERATIONS, Phrase
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.functions.lexicon import Lexicon

SHOWN = 200
"""How many parts are kept."""


class Part(NamedTuple):
    """An attested phrase or a word, its weight in the sum, and its share of the result along the result's direction."""

    label: str
    text: str
    weight: float
    share: float


@dataclass(frozen=True)
class Explained:
    """What a meaning is made of: its parts by the size of their shares, which sum to 1 over all parts."""

    phrase: Phrase
    method: str
    rows: list[Part]
    parts: int
    notes: tuple[str, ...] = ()


def explain(lexicon: Lexicon | Ground, phrase: Phrase, method: str | Method = "learned") -> Explained:
    """Explain the meaning of a phrase by a method that adds words or applies learned functions.

    Where the head's own vector is kept it is one of the parts.
    """
    ground, chosen = Ground.of(lexicon), method_named(method) if isinstance(method, str) else method
    meanings = chosen.compose(ground, [phrase])
    if meanings.reasons:
        raise UsageError(f"{phrase.display()} cannot be composed by {chosen.name}: {meanings.reasons[0]}")
    labels, weights, outputs = _parts(ground, phrase, chosen)
    return _explained(phrase, chosen, labels, weights, outputs, meanings.notes.get(0, ()))


def _parts(ground: Ground, phrase: Phrase, method: Method) -> tuple[list[str], FloatArray, FloatArray]:
    """Give the parts of a meaning with their weights: ``weights @ outputs`` is the meaning."""
    if not phrase.arguments:
        return [phrase.head], np.ones(1), np.atleast_2d(method.compose(ground, [phrase]).vector(0))
    if phrase.head in OPERATIONS:
        return _joined(ground, phrase, method)
    if method.name == "weighted-add":
        return _weighted(ground, phrase, method)
    if method.name in ("verb", "add"):
        return _added(ground, Phrase(phrase.head) if method.name == "verb" else phrase, method, scaled=False)
    learner = getattr(method.combine, "keywords", {}).get("learner")
    if learner is None:
        raise UsageError(
            f"what {method.name} makes has no parts to show: explain verb, add, weighted-add or a learned method"
        )
    found = find(ground, phrase.head, phrase.arity, learner)
    if found is None:
        parts = _added(ground, phrase, method, scaled=True)
    else:
        parts = _applied(ground, phrase, method, found, learner)
    return _with_head(ground, phrase, *parts) if method.name.endswith("+head") else parts


def _joined(ground: Ground, phrase: Phrase, method: Method) -> tuple[list[str], FloatArray, FloatArray]:
    """Explain each part of what is coordinated: all of them have length 1 in the sum, and the sum has it, too."""
    labels: list[str] = []
    weights: list[FloatArray] = []
    outputs: list[FloatArray] = []
    for argument in phrase.arguments:
        own, own_weights, own_outputs = _parts(ground, argument, method)
        labels += own
        weights.append(own_weights / (float(np.linalg.norm(own_weights @ own_outputs)) or 1.0))
        outputs.append(own_outputs)
    joint, rows = np.concatenate(weights), np.concatenate(outputs)
    return labels, joint / (float(np.linalg.norm(joint @ rows)) or 1.0), rows


def _applied(
    ground: Ground, phrase: Phrase, method: Method, found: Found, learner: str
) -> tuple[list[str], FloatArray, FloatArray]:
    """Give the attested phrases of which a function makes its value."""
    composed = method.compose(ground, phrase.arguments)
    rows = [composed.vector(n)[None] for n in range(phrase.arity)]
    arguments = tuple(unit(row) for row in rows) if ground.lexicon.normalise else tuple(rows)
    given = [np.atleast_2d(x)[0] for x in fit(ground, found, phrase.head, arguments)]
    function = ground.explainable(phrase.head, found.pattern, learner)
    assert function is not None, "it was found before"
    sums = function.explain(*given)
    return list(sums.labels), sums.weights, np.asarray(sums.outputs)


def _with_head(
    ground: Ground, phrase: Phrase, labels: list[str], weights: FloatArray, outputs: FloatArray
) -> tuple[list[str], FloatArray, FloatArray]:
    """Bring a sum to length 1 and add the head's own vector, where it has one."""
    weights = weights / (float(np.linalg.norm(weights @ outputs)) or 1.0)
    head, missing = ground.vectors([phrase.head])
    if missing:
        return labels, weights, outputs
    return [phrase.head, *labels], np.append(1.0, weights), np.concatenate([dense(unit(head)), outputs])


def _added(ground: Ground, phrase: Phrase, method: Method, *, scaled: bool) -> tuple[list[str], FloatArray, FloatArray]:
    """Give the words of a phrase that are added, and the parts of its arguments, these of length 1 if scaled."""
    word = ground.stem(phrase.head)
    labels = [word]
    weights: list[FloatArray] = [np.ones(1)]
    outputs: list[FloatArray] = [dense(unit(ground.vectors([word])[0]))]
    for argument in phrase.arguments:
        own, own_weights, own_outputs = _parts(ground, argument, method)
        size = float(np.linalg.norm(own_weights @ own_outputs)) if scaled else 1.0
        labels += own
        weights.append(own_weights / (size or 1.0))
        outputs.append(own_outputs)
    return labels, np.concatenate(weights), np.concatenate(outputs)


def _weighted(ground: Ground, phrase: Phrase, method: Method) -> tuple[list[str], FloatArray, FloatArray]:
    """Give the head and the arguments with the weights that they are added with."""
    parts = [Phrase(ground.stem(phrase.head)), *phrase.arguments]
    composed = method.compose(ground, parts)
    outputs = unit(np.array([composed.vector(n) for n in range(len(parts))]))
    total = method.compose(ground, [phrase]).vector(0)
    weights = np.linalg.lstsq(outputs.T, total, rcond=None)[0]
    return [str(part) for part in parts], weights, outputs


def _explained(
    phrase: Phrase, method: Method, labels: list[str], weights: FloatArray, outputs: FloatArray, notes: tuple[str, ...]
) -> Explained:
    outputs = np.asarray(outputs, np.float64)
    total = weights @ outputs
    shares = weights * (outputs @ total) / (float(total @ total) or 1.0)
    order = np.argsort(-np.abs(shares), kind="stable")[:SHOWN].tolist()
    rows = [Part(labels[i], said(labels[i]), float(weights[i]), float(shares[i])) for i in order]
    return Explained(phrase, method.name, rows, len(labels), notes)


def said(label: str) -> str:
    """Write a label as people say it.

    >>> said("chase-v(cat-n, dog-n)"), said("dog-n")
    ('dog chase cat', 'dog')
    """
    try:
        return Phrase.parse(label).display()
    except UsageError:
        return label
