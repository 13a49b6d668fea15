"""Methods: every way to get the meaning of a phrase from the meanings of its words, by name.

To add one, write a function of a `composita.composition.method.Batch` and give it an entry here.

>>> import numpy as np
>>> from composita.functions.lexicon import Lexicon
>>> from composita.grammar.phrase import Phrase
>>> lexicon = Lexicon.from_vectors({"dog-n": np.array([0.0, 3.0]), "bark-v": np.array([1.0, 0.0])})
>>> meanings = METHODS["add"].compose(lexicon, [Phrase.parse("bark-v(dog-n)")])
>>> meanings, meanings.vectors.tolist()
(Meanings(1 of 1 phrases by add, vectors), [[1.0, 1.0]])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from composita.composition.method import Method
from composita.store.errors import UsageError


def _table() -> dict[str, Method]:
    """Make the table of methods; each entry is a function of a batch, and what is to be known of it."""
    from composita.composition import additive, learned, products, relational

    gs11 = "Grefenstette & Sadrzadeh 2011"
    ksp12 = "Kartsaklis, Sadrzadeh & Pulman 2012"
    ml10 = "Mitchell & Lapata 2010"
    bz10 = "Baroni & Zamparelli 2010"
    gs13 = "Grefenstette, Dinu, Zhang, Sadrzadeh & Baroni 2013"
    ml08 = "Mitchell & Lapata 2008"
    ks14 = "Kartsaklis & Sadrzadeh 2014"
    copied: dict[str, Any] = {"products": True, "needs": "phrases", "unit": False}
    methods = [
        Method("verb", "Verb", "v", additive.verb, ignores_arguments=True),
        Method("add", "Add", "v/|v| + o/|o| + s/|s|", additive.add, reference=ml08, renew=False),
        Method("weighted-add", "Weighted Add", "a v + b o + c s", additive.weighted_add, reference=ml10),
        Method("multiply", "Multiply", "v * o * s", products.multiply, products=True, reference=ml08),
        Method("kronecker", "Kronecker", "(v (x) v) * (o (x) s)", products.kronecker, "matrix", products=True,
               reference="Grefenstette & Sadrzadeh 2011b"),
        Method("relational", "Relational", "R * (o (x) s)", relational.relational, "matrix", gs11, **copied),
        Method("copy-subject", "Copy subject", "s * (R^T o)", relational.copy_subject, reference=ksp12, **copied),
        Method("copy-object", "Copy object", "o * (R s)", relational.copy_object, reference=ksp12, **copied),
        Method("frobenius-add", "Frobenius add", "s * (R^T o) + o * (R s)", relational.frobenius_add,
               reference=ks14, **copied),
        Method("frobenius-multiply", "Frobenius multiply", "(s * (R^T o)) * (o * (R s))", relational.frobenius_multiply,
               reference=ks14, **copied),
        Method("frobenius-outer", "Frobenius outer", "(o * (R s)) (x) (s * (R^T o))", relational.frobenius_outer,
               "matrix", ks14, **copied),
        Method("dilation", "Dilation", "(x . x) v + (lambda - 1) (x . v) x", additive.dilation, reference=ml10),
        Method("full-additive", "Full additive", "A v + B o + C s", additive.full_additive, dense=True,
               needs="phrases", reference="Guevara 2010; Zanzotto et al. 2010"),
        Method("practical", "Practical lexical function", "v + V_o o + V_s s", learned.practical, dense=True,
               needs="phrases", reference="Paperno, Pham & Baroni 2014"),
        *learned.family("lexical-function", "Lexical function", "plsr", bz10),
        *learned.family("regression", "Regression", "multistep", gs13),
        *learned.family("one-step", "One-step", "onestep", "docs/functions.md"),
        *learned.family("learned", "Learned", "", "the lexicon's own learner"),
    ]  # fmt: skip
    return {method.name: method for method in methods}


METHODS: Mapping[str, Method] = _table()
"""All methods, by name."""

ALIASES = {"categorical": "relational", "multi-step": "regression", "multistep": "regression", "onestep": "one-step",
           "plf": "practical", "lexfunc": "lexical-function"}  # fmt: skip


def method_named(name: str) -> Method:
    """Find a method by its name, or suggest others.

    >>> method_named("categorical").title
    'Relational'
    """
    from difflib import get_close_matches

    wanted = name.strip().lower().replace("_", "-")
    found = METHODS.get(ALIASES.get(wanted, wanted))
    if found is None:
        near = get_close_matches(wanted, [*METHODS, *ALIASES], 1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose {', '.join(METHODS)}"
        raise UsageError(f"no method is called {name!r}: {hint}")
    return found


def methods_named(names: str | Sequence[str]) -> list[Method]:
    """Find methods by their names, separated by commas; ``all`` for all."""
    asked = names.split(",") if isinstance(names, str) else list(names)
    if [name.strip() for name in asked] == ["all"]:
        return list(METHODS.values())
    return list({method.name: method for method in map(method_named, asked)}.values())
