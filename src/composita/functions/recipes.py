"""Recipes: a preset's learner, with the choice of examples that belongs to it, and on what words lean.

``paper`` is what Grefenstette, Dinu, Zhang, Sadrzadeh & Baroni (2013) did: multi-step ridge regression, lambda by
generalised cross-validation for each matrix and tensor, at least 3 examples a regression, phrases with at least 10
non-zero dimensions, vectors of length 1, no intercept.

``recommended`` was chosen by foretelling held-out phrases of the verbs of GS2011 and ML2008 on a small corpus, never by
their ratings: each word begins from the function that all words share, and one-step regression adds what its own
phrases tell beyond that. docs/lexicon.md has the figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from composita.functions.learners import Learner, make_learner
from composita.functions.presets import preset
from composita.functions.selection import Selection
from composita.store.errors import UsageError


@dataclass(frozen=True)
class Recipe:
    """A learner by its name, its options, which phrases are examples, and on what words lean."""

    learner: str
    options: Mapping[str, Any] = field(default_factory=dict)
    selection: Selection = field(default_factory=Selection)
    lean: str = "none"
    shared: str | None = None

    def make(self) -> Learner:
        """Make the learner."""
        return make_learner(self.learner, self.options)

    def changed(
        self, learner: str | None, options: Mapping[str, Any], selection: Mapping[str, Any], lean: str | None = None,
        shared: str | None = None,
    ) -> Recipe:  # fmt: skip
        """Give the recipe with some things changed; another learner begins with its own options.

        >>> recipe("paper").changed(None, {"per": "level"}, {"min_nonzero": 1}).options["per"]
        'level'
        """
        kept = dict(self.options) if learner in (None, self.learner) else {}
        return Recipe(
            learner or self.learner, kept | dict(options), replace(self.selection, **selection), lean or self.lean,
            self.shared if shared is None else None if shared == "none" else shared,
        )  # fmt: skip


SELECTIONS = {
    "paper": Selection(min_examples=3, min_nonzero=10, arguments=("nouns", "names")),
    "recommended": Selection(min_examples=3, min_nonzero=1),
}
LEANS = {"paper": "none", "recommended": "whole"}


def recipe(name: str) -> Recipe:
    """Give a recipe by the name of its preset.

    >>> recipe("paper").learner, recipe("paper").selection.min_nonzero
    ('multistep', 10)
    """
    if name not in SELECTIONS:
        raise UsageError(f"unknown preset {name!r}: choose {' or '.join(SELECTIONS)}")
    options = preset(name).parameters()
    return Recipe(options.pop("learner"), options, SELECTIONS[name], LEANS[name])
