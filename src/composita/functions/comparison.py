"""Learners that are compared by held-out phrases, as they are typed: ``multistep:per=level,plsr:components=50,shared``.

A name is that of a learner, of a preset (its learner: all foretell from the same examples), or one of

- ``shared``: the additive function that all words of the pattern share, learned without the word that it is applied to,
  so that it shows how well a word is foretold of which no phrase is known;
- ``lean-whole``, ``lean-shared``, ``lean-similar``: the learner that was chosen, leaning on the shared function or on
  similar words.

>>> list(compared("plsr:components=5,paper"))
['plsr:components=5', 'paper']
>>> compared("plsr:components=5")["plsr:components=5"].parameters()["components"]
5
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from composita.counting.words import suggest
from composita.functions.leaning import Towards, Unseen
from composita.functions.learners import LEARNERS, make_learner
from composita.functions.presets import PRESETS
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.functions.heldout import LearnerOf
    from composita.functions.learners import Learner

OTHERS = ("shared", "lean-whole", "lean-shared", "lean-similar")


def compared(names: str, chosen: Learner | None = None) -> dict[str, Learner | LearnerOf]:
    """Give the learners of a list, under the names that are typed; none for ``none``."""
    if names.strip() == "none":
        return {}
    found = {}
    for text in (part.strip() for part in names.split(",")):
        name, *options = text.split(":")
        found[text] = _compared(name, read_options(options), chosen)
    return found


def _compared(name: str, options: dict[str, Any], chosen: Learner | None) -> Learner | LearnerOf:
    known = (*LEARNERS, *PRESETS, *OTHERS)
    if name not in known:
        raise UsageError(f"unknown learner {name!r}: choose from {', '.join(known)}, or none{suggest(name, known)}")
    if name in LEARNERS:
        return make_learner(name, options)
    if options:
        raise UsageError(f"{name!r} takes no options: give the learner itself with its options")
    if name in PRESETS:
        return PRESETS[name]
    return (
        Unseen() if name == "shared" else Towards(lean=name.partition("-")[2], learner=chosen or PRESETS["recommended"])
    )


def read_options(given: Iterable[str]) -> dict[str, Any]:
    """Read options such as ``components=20``.

    >>> read_options(["components=20", "per=level", "centre=true"])
    {'components': 20, 'per': 'level', 'centre': True}
    """
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"expected an option NAME=VALUE such as components=20, got {text!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
