"""Presets: learners with their options, by name.

``paper`` is what Grefenstette et al. (2013) did: multi-step ridge regression, lambda for each regression by itself,
at least three examples in each, no intercept. ``recommended`` predicts held-out phrases of a real corpus better, with
words that begin from the function they share; the figures are in docs/lexicon.md.

>>> preset("paper")
MultiStep(per='group', min_examples=3, intercept=False, centre=False, weights=False, penalty=None, storage='auto')
>>> preset("recommended").kernel
'product'
"""

from __future__ import annotations

from composita.functions.multistep import MultiStep
from composita.functions.onestep import OneStep
from composita.store.errors import UsageError

PRESETS: dict[str, MultiStep | OneStep] = {
    "paper": MultiStep(per="group", min_examples=3, intercept=False, centre=False, weights=False),
    "recommended": OneStep(kernel="product"),
}


def preset(name: str) -> MultiStep | OneStep:
    """Give the learner of a preset."""
    if name not in PRESETS:
        raise UsageError(f"no preset is called {name!r}: choose from {', '.join(PRESETS)}")
    return PRESETS[name]
