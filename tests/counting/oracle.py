"""An independent account of counting: dictionaries and loops over lists of tokens, one sentence at a time.

It shares nothing with the program but the oracle of roles. Items are ``(pattern, label)``, with ``word`` for words.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from fractions import Fraction

from composita.corpus.columns import Token
from tests.corpus.roles_oracle import KINDS, ROLES, roles

LETTER = {"noun": "n", "proper": "n", "verb": "v", "adjective": "a", "adverb": "r", "pronoun": "p"}
PATTERNS = {
    "sv": ("v", [("SUBJECT",)]),
    "svo": ("v", [("OBJECT",), ("SUBJECT",)]),
    "vo": ("v", [("OBJECT",)]),
    "an": ("a", [("MODIFIER-of",)]),
    "nn": ("n", [("COMPOUND-of",)]),
    "svoo": ("v", [("OBJECT",), ("RECIPIENT",), ("SUBJECT",)]),
    "svpo": ("v", [("OBLIQUE",), ("SUBJECT",)]),
}
SWITCHES = {"passives": True, "conjuncts": True, "shared_subjects": True, "relatives": True, "join_particles": False}


class Words:
    """Which words are counted, can be arguments and are contexts."""

    def __init__(self, core, others, contexts, proper="arguments", pronouns="arguments"):
        self.core, self.others, self.contexts = set(core), set(others), set(contexts)
        self.proper, self.pronouns = proper, pronouns

    def target(self, word, kind):
        if kind == "proper" and word in self.core and self.proper != "nouns":
            return None
        return self.argument(word, kind)

    def argument(self, word, kind):
        if kind == "proper" and word in self.core and self.proper == "no":
            return None
        if kind == "pronoun" and self.pronouns == "no":
            return None
        return word if word in self.core | self.others else None

    def context(self, word, kind):
        if kind == "pronoun" or (kind == "proper" and self.proper != "nouns"):
            return None
        return word if word in self.contexts else None


def count(
    sentences, scheme, tagset, words, patterns=(), heads=None, context="sentence", switches=None, no_object=False
):
    """Count; give cells and frequencies by item, cells as fractions."""
    cells, frequency = defaultdict(Counter), Counter()
    for sentence in sentences:
        tokens = [Token(*token) for token in sentence]
        found = roles(tokens, scheme, tagset)
        kinds = [KINDS[kind] for kind in found["kind"]]
        lemmas = [(t.form if t.lemma in ("_", "<unknown>") else t.lemma).lower() for t in tokens]
        labels = [f"{lemma}-{LETTER.get(kind, '')}" for lemma, kind in zip(lemmas, kinds, strict=True)]
        pairs = list(zip(labels, kinds, strict=True))
        target, argument, beside = (
            [f(*pair) if pair[1] in LETTER else None for pair in pairs]
            for f in (words.target, words.argument, words.context)
        )
        links = all_links(found, lemmas, SWITCHES | (switches or {}))
        items = [(("word", word), {place}) for place, word in enumerate(target) if word]
        for name in patterns:
            items += phrases(
                name, target, argument, kinds, links, found, lemmas, words, heads, switches or {}, no_object
            )
        for item, own in items:
            frequency[item] += 1
            for label, amount in contexts_of(own, beside, links, lemmas, context):
                cells[item][label] += amount
    return {item: {c: n for c, n in row.items() if n} for item, row in cells.items() if any(row.values())}, dict(
        frequency
    )


def all_links(found, lemmas, switches):
    """Give (predicate, role, argument, marker, whether the switches admit it)."""
    links = []
    nominal = ("noun", "proper", "pronoun")
    kinds = [KINDS[kind] for kind in found["kind"]]
    names = {field: [ROLES[r] for r in found[field]] for field in ("role", "gap", "shared_role")}
    meant = [a if a >= 0 else i for i, a in enumerate(found["antecedent"])]
    size = len(lemmas)
    for i in range(size):
        if role := names["role"][i]:
            marker = -1 if role == "RELATIVE" else found["marker"][i]
            links.append((found["governor"][i], role, meant[i], marker, meant[i] == i or switches["relatives"]))
    gaps = [i for i in range(size) if names["gap"][i]]
    links += [(i, names["gap"][i], found["governor"][i], found["marker"][i], switches["relatives"]) for i in gaps]
    for i in range(size):
        first = found["first"][i]
        if first < 0:
            continue
        alike = kinds[i] == kinds[first] or (kinds[i] in nominal and kinds[first] in nominal)
        role = names["role"][first]
        if alike and role in ROLES[1:9]:
            marker = found["marker"][i] if found["marker"][i] >= 0 else found["marker"][first]
            links.append((found["governor"][first], role, i, marker, switches["conjuncts"]))
    verbs = [i for i in range(size) if names["shared_role"][i]]
    links += [(i, names["shared_role"][i], meant[found["shared"][i]], -1, switches["shared_subjects"]) for i in verbs]
    return links


def phrases(name, target, argument, kinds, links, found, lemmas, words, heads, switches, no_object):
    """Find the phrases of one pattern: items with the places of their tokens."""
    letter, places = PATTERNS[name]
    result = []
    for h, head in enumerate(target):
        if head is None or head[-1] != letter or (head not in heads if heads is not None else not wanted(head, words)):
            continue
        if not switches.get("passives", True) and found["passive"][h]:
            continue
        mine = [(role, other, marker, ok) for p, role, other, marker, ok in links if p == h]
        mine += [(f"{role}-of", p, marker, ok) for p, role, other, marker, ok in links if other == h]
        if name == "sv" and no_object and any(role == "OBJECT" for role, *_ in mine):
            continue
        options = []
        for (role,) in places:
            fillers = {}
            for r, other, marker, ok in mine:
                fits = (
                    r == role
                    and ok
                    and kinds[other] in ("noun", "proper", "pronoun")
                    and argument[other]
                    and other != h
                )
                if fits and (name != "svpo" or role != "OBLIQUE" or marker >= 0):
                    fillers.setdefault(other, marker)
            options.append(list(fillers.items()))
        particle = next((other for role, other, _, _ in mine if role == "PARTICLE"), None)
        for chosen in itertools.product(*options):
            others = [other for other, _ in chosen]
            if len(set(others)) < len(others):
                continue
            joined, own = [], {h, *others}
            if switches.get("join_particles") and particle is not None:
                joined.append(particle)
            if name == "svpo":
                joined.append(chosen[0][1])
            label = "_".join([head[:-2], *(lemmas[j] for j in joined)]) + head[-2:]
            label += f"({', '.join(argument[other] for other in others)})"
            result.append(((name, label), own | set(joined)))
    return result


def wanted(head, words):
    return head in words.core or head[-1] in "ar"


def contexts_of(own, beside, links, lemmas, context):
    """Give the contexts of an occurrence, each with what it counts."""
    if context == "sentence":
        return [(label, 1) for place, label in enumerate(beside) if label and place not in own]
    if context == "dependency":
        return dependents(own, beside, links, lemmas)
    _, sides, *weights = context.split(":")
    left, right = (sides.split(",") * 2)[:2]
    result = []
    for place, label in enumerate(beside):
        if not label or place in own:
            continue
        distances = [o - place for o in own if 0 < o - place <= int(left)] + [
            place - o for o in own if 0 < place - o <= int(right)
        ]
        if distances:
            d, widest = min(distances), max(int(left), int(right))
            amount = {"linear": Fraction(widest - d + 1, widest), "harmonic": Fraction(1, d)}
            result.append((label, amount[weights[0]] if weights else Fraction(1)))
    return result


def dependents(own, beside, links, lemmas):
    result = []
    for predicate, role, other, marker, ok in links:
        if role in ("CONJUNCT", "AUXILIARY") or not ok:
            continue
        name = role.lower() + (f"_{lemmas[marker]}" if role == "OBLIQUE" and marker >= 0 else "")
        if predicate in own and other not in own and beside[other]:
            result.append((f"{name}:{beside[other]}", 1))
        if other in own and predicate not in own and beside[predicate]:
            result.append((f"{name}-of:{beside[predicate]}", 1))
    return result
