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
from composita.composition.learned import find, fit
from composita.composition.method import Method
from composita.composition.methods import method_named
from composita.composition.rows import FloatArray, dense, unit
from composita.grammar.phrase import Phrase
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
    if not phrase.arguments:
        return _explained(phrase, chosen, [phrase.head], np.ones(1), np.atleast_2d(meanings.vector(0)), ())
    notes = meanings.notes.get(0, ())
    if chosen.name in ("verb", "add", "weighted-add"):
        return _explained(phrase, chosen, *_words(ground, phrase, chosen), notes)
    learner = getattr(chosen.combine, "keywords", {}).get("learner")
    if learner is None:
        raise UsageError(
            f"what {chosen.name} makes has no parts to show: explain verb, add, weighted-add or a learned method"
        )
    found = find(ground, phrase.head, phrase.arity, learner)
    if found is None:
        return _explained(phrase, chosen, *_words(ground, phrase, method_named("add")), notes)
    unit_arguments = ground.lexicon.normalise
    composed = chosen.compose(ground, phrase.arguments)
    rows = [composed.vector(n)[None] for n in range(phrase.arity)]
    arguments = tuple(unit(row) for row in rows) if unit_arguments else tuple(rows)
    given = [np.atleast_2d(x)[0] for x in fit(ground, found, phrase.head, arguments)]
    function = ground.explainable(phrase.head, found.pattern, learner)
    assert function is not None, "it was found before"
    sums = function.explain(*given)
    labels, weights, outputs = list(sums.labels), sums.weights, np.asarray(sums.outputs)
    if chosen.name.endswith("+head"):
        head, missing = ground.vectors([phrase.head])
        size = float(np.linalg.norm(sums.total)) or 1.0
        weights = weights / size
        if not missing:
            labels = [phrase.head, *labels]
            weights, outputs = np.append(1.0, weights), np.concatenate([dense(unit(head)), outputs])
    return _explained(phrase, chosen, labels, weights, outputs, notes)


def _words(ground: Ground, phrase: Phrase, method: Method) -> tuple[list[str], FloatArray, FloatArray]:
    """Give the words of a phrase with the weights that they are added with."""
    if method.name == "weighted-add":
        parts = [Phrase(phrase.head), *phrase.arguments]
        composed = method.compose(ground, parts)
        rows = np.array([composed.vector(n) for n in range(len(parts))])
        outputs = unit(rows)
        total = method.compose(ground, [phrase]).vector(0)
        weights = np.linalg.lstsq(outputs.T, total, rcond=None)[0]
        return [str(part) for part in parts], weights, outputs
    words = [phrase.head] if method.name == "verb" else list(phrase.words())
    rows, _ = ground.vectors(words)
    return words, np.ones(len(words)), dense(unit(rows))


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
