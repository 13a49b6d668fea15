"""The same sentences with MaltParser's heads and labels and TreeTagger's tags, as WaCky corpora have them.

The scheme differs in more than names: the subject hangs on the finite auxiliary and the lexical verb is
reached through VC; a preposition heads its noun (PMOD); the by-agent is the PMOD child of LGS; the
conjunction hangs on the first conjunct.

>>> from composita.corpus.synthetic.grammar import Slot
>>> passive = [Slot("it", "it", "PRON", "PRP", 3, "nsubj:pass"),
...            Slot("was", "be", "AUX", "VBD", 3, "aux:pass"),
...            Slot("seen", "see", "VERB", "VBN", 0, "root"), Slot("by", "by", "ADP", "IN", 5, "case"),
...            Slot("him", "he", "PRON", "PRP", 3, "obl:agent")]
>>> [f"{slot.form}/{slot.xpos} {slot.head} {slot.relation}" for slot in to_malt(passive)]
['it/PP 2 SBJ', 'was/VBD 0 ROOT', 'seen/VVN 2 VC', 'by/IN 3 LGS', 'him/PP 4 PMOD']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from composita.corpus.synthetic.grammar import Slot

AUXILIARIES = ("aux", "aux:pass", "cop")
ON_FINITE_VERB = ("nsubj", "nsubj:pass", "punct", "cc", "conj", "mark", "advcl")
"""Dependents of a clause that hang on its first auxiliary where there is one."""

LABELS = {
    "nsubj": "SBJ", "nsubj:pass": "SBJ", "obj": "OBJ", "iobj": "IOBJ", "xcomp": "OBJ", "ccomp": "OBJ",
    "obl": "ADV", "obl:agent": "LGS", "advcl": "ADV", "advmod": "ADV", "mark": "VMOD", "punct": "P",
    "cc": "CC", "conj": "COORD", "root": "ROOT",
}  # fmt: skip
"""All other relations are modifiers of nouns, NMOD."""

TAGS = {"NNP": "NP", "PRP": "PP", "PRP$": "PP$", ".": "SENT", "-LRB-": "(", "-RRB-": ")"}


def to_malt(sentence: Sequence[Slot]) -> list[Slot]:
    """Convert a sentence from UD relations and Penn tags."""
    auxiliaries: dict[int, list[int]] = {}
    case: dict[int, int] = {}
    for i, slot in enumerate(sentence, 1):
        if slot.relation in AUXILIARIES:
            auxiliaries.setdefault(slot.head, []).append(i)
        elif slot.relation == "case":
            case[slot.head] = i
    heads: dict[int, tuple[int, str]] = {}
    for i, slot in enumerate(sentence, 1):
        if slot.relation in AUXILIARIES or slot.relation == "case":
            continue  # placed together with the word that they belong to
        # UD hangs the conjunction on the second conjunct.
        head = sentence[slot.head - 1].head if slot.relation == "cc" else slot.head
        if slot.relation in ON_FINITE_VERB and head in auxiliaries:
            head = auxiliaries[head][0]
        outside = (head, _label(slot, sentence))
        if i in case:
            heads[case[i]], heads[i] = outside, (case[i], "PMOD")
        elif i in auxiliaries:
            chain = [*auxiliaries[i], i]
            heads[chain[0]] = outside
            for upper, lower in pairwise(chain):
                heads[lower] = (upper, "VC")
            if sentence[chain[-2] - 1].relation == "cop":
                heads[i] = (chain[-2], "PRD")
        else:
            heads[i] = outside
    return [
        replace(slot, xpos=treetagger(slot), head=heads[i][0], relation=heads[i][1])
        for i, slot in enumerate(sentence, 1)
    ]


def _label(slot: Slot, sentence: Sequence[Slot]) -> str:
    if slot.relation == "advmod" and sentence[slot.head - 1].upos == "ADJ":
        return "AMOD"
    return LABELS.get(slot.relation, "NMOD")


def treetagger(slot: Slot) -> str:
    """Give the tag of TreeTagger's English tagset, which tells *be*, *have* and other verbs apart.

    >>> treetagger(Slot("has", "have", "AUX", "VBZ", 2, "aux"))
    'VHZ'
    """
    if slot.xpos.startswith("VB"):
        kind = {"be": "B", "have": "H"}.get(slot.lemma, "V")
        return "V" + kind + slot.xpos[2:]
    if slot.form.lower() == "that" and slot.xpos == "IN":
        return "IN/that"
    return TAGS.get(slot.xpos, slot.xpos)
