"""An independent account of roles: plain Python, one sentence at a time, by each scheme's manual.

It shares only the word lists with the program. A sentence is a list of `Token`; positions count from 0, -1 is
nothing.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import composita.corpus

HERE = Path(composita.corpus.__file__).parent / "schemes"
WORDS = {name: tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))["words"] for name in ("ud", "clear", "malt")}
NOMINAL = ("noun", "proper", "pronoun")
ADVERBIAL_MALT = ("ADV", "VMOD", "AMOD", "LOC", "DIR", "TMP", "MNR", "EXT", "PRP")
FIELDS = (
    "kind",
    "governor",
    "role",
    "marker",
    "passive",
    "antecedent",
    "gap",
    "first",
    "shared",
    "shared_role",
)
KINDS = ("other", "noun", "proper", "verb", "adjective", "adverb", "pronoun", "auxiliary")
ROLES = (
    "", "SUBJECT", "OBJECT", "RECIPIENT", "OBLIQUE", "MODIFIER", "COMPOUND", "POSSESSOR", "PREDICATIVE",
    "COMPLEMENT", "RELATIVE", "ADVERBIAL", "PARTICLE", "CONJUNCT", "AUXILIARY",
)  # fmt: skip
UD = {
    "nsubj": "SUBJECT", "nsubj:outer": "SUBJECT", "nsubj:pass": "PASSIVE_SUBJECT", "obj": "OBJECT",
    "iobj": "RECIPIENT", "obl:agent": "AGENT", "obl": "OBLIQUE", "nmod": "OBLIQUE", "amod": "MODIFIER",
    "compound": "COMPOUND", "nmod:poss": "POSSESSOR", "ccomp": "COMPLEMENT", "xcomp": "COMPLEMENT",
    "acl:relcl": "RELATIVE", "acl": "ADNOMINAL", "advmod": "ADVERBIAL", "advcl": "ADVERBIAL",
    "compound:prt": "PARTICLE", "conj": "CONJUNCT", "aux": "AUXILIARY", "cop": "AUXILIARY",
    "aux:pass": "PASSIVE_AUXILIARY", "case": "MARKER", "mark": "SUBORDINATOR",
}  # fmt: skip
UD_NOTHING = (
    "obl:unmarked",
    "obl:tmod",
    "obl:npmod",
    "nmod:unmarked",
    "nmod:tmod",
    "nmod:npmod",
    "nmod:desc",
)
CLEAR = {
    "nsubj": "SUBJECT", "nsubjpass": "PASSIVE_SUBJECT", "dobj": "OBJECT", "iobj": "RECIPIENT",
    "amod": "MODIFIER", "compound": "COMPOUND", "nn": "COMPOUND", "poss": "POSSESSOR",
    "acomp": "PREDICATIVE", "attr": "PREDICATIVE", "oprd": "PREDICATIVE", "ccomp": "COMPLEMENT",
    "xcomp": "COMPLEMENT", "relcl": "RELATIVE", "acl": "ADNOMINAL", "advmod": "ADVERBIAL",
    "neg": "ADVERBIAL", "advcl": "ADVERBIAL", "prt": "PARTICLE", "conj": "CONJUNCT",
    "auxpass": "PASSIVE_AUXILIARY", "mark": "SUBORDINATOR", "prep": "PREPOSITION",
}  # fmt: skip


class Sentence:
    """A sentence: what its tags say, and the (function, governor, marker) on its surface of each word."""

    def __init__(self, tokens, scheme, tagset):
        self.scheme = scheme
        self.words = WORDS[scheme]
        self.relation = [t.relation for t in tokens]
        self.up = [t.head - 1 if 1 <= t.head <= len(tokens) and t.head - 1 != i else -1 for i, t in enumerate(tokens)]
        self.lemma = [(t.form if t.lemma == "_" else t.lemma).lower() for t in tokens]
        self.form = [t.form.lower() for t in tokens]
        self.kind = [kind_of(t, tagset) for t in tokens]
        self.tag = [t.xpos for t in tokens]
        self.size = len(tokens)
        read = {"ud": ud, "clear": clear, "malt": malt}[scheme]
        self.surface = [read(self, i) if self.up[i] >= 0 else ("", -1, -1) for i in range(self.size)]

    def says(self, i, words):
        return i >= 0 and self.lemma[i] in self.words.get(words, ())

    def participle(self, i):
        return self.tag[i] in ("VBN", "VVN", "VDN", "VHN")

    def predicate(self, i):
        return self.kind[i] == "verb" or self.participle(i)

    def relative(self, i):
        if self.tag[i] == "_":
            return self.form[i] in self.words["relative"]
        return self.tag[i] in ("WDT", "WP", "WP$", "WRB")


def kind_of(token, tagset):
    if tagset == "upos":
        names = {"NOUN": 1, "PROPN": 2, "VERB": 3, "ADJ": 4, "ADV": 5, "PRON": 6, "AUX": 7}
        return KINDS[names.get(token.upos, 0)]
    tag = token.xpos
    names = ("NP", "NPS", "PP") if tagset == "treetagger" else ("NNP", "NNPS", "PRP")
    if tag == "MD" or (tagset == "treetagger" and tag in ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ")):
        return "auxiliary"
    if tag in ("RB", "RBR", "RBS", "WRB"):
        return "adverb"
    if tag in ("NN", "NNS"):
        return "noun"
    if tag in names[:2]:
        return "proper"
    if tag in (names[2], "WP"):
        return "pronoun"
    if tag in ("JJ", "JJR", "JJS"):
        return "adjective"
    return "verb" if tag[:2] in ("VB", "VV", "VH", "VD") else "other"


def ud(s, i):
    """Universal Dependencies: everything is said on the word itself; a subtype counts as its relation."""
    relation, up = s.relation[i], s.up[i]
    if relation in UD_NOTHING:
        return "", -1, -1
    if relation == "xcomp" and s.kind[i] in ("adjective", "noun", "proper"):
        return "PREDICATIVE", up, -1
    function = UD.get(relation) or UD.get(relation.split(":")[0], "")
    return function, up if function else -1, -1


def clear(s, i):
    """ClearNLP: nouns hang on their prepositions."""
    relation, up = s.relation[i], s.up[i]
    above = s.relation[up]
    high = s.up[up]
    if relation == "pobj" and high >= 0:
        top = s.up[high]
        if above == "prep" and s.relation[high] == "prep" and top >= 0:
            return "OBLIQUE", top, high
        if above == "conj" and s.relation[high] in ("prep", "agent") and top >= 0:
            return "OBLIQUE", top, up
        found = {"agent": "AGENT", "dative": "RECIPIENT", "prep": "OBLIQUE"}.get(above)
        return (found, high, up) if found else ("", -1, -1)
    if relation == "dative":
        function = "RECIPIENT" if s.kind[i] in NOMINAL else "PREPOSITION" if s.kind[i] == "other" else ""
    elif relation == "aux":
        function = "SUBORDINATOR" if s.kind[i] == "other" else "AUXILIARY"
    elif relation == "nmod":
        function = "COMPOUND" if s.kind[i] in ("noun", "proper") and s.kind[up] in NOMINAL else ""
    else:
        function = CLEAR.get(relation, "")
    return function, up if function else -1, -1


def malt(s, i):
    """Penn2Malt: few relations, told apart by tags."""
    relation, up, kind = s.relation[i], s.up[i], s.kind[i]
    above, head = s.relation[up], s.kind[up]
    high = s.up[up]
    if relation == "PMOD" and high >= 0:
        if above == "DTV":
            return "RECIPIENT", high, up
        if kind not in ("verb", "auxiliary"):
            if above == "LGS":
                return "AGENT", high, up
            prepositional = (*ADVERBIAL_MALT, "NMOD", "PRD", "BNF", "PUT", "CLR", "APPO")
            if above in prepositional and s.kind[up] == "other":
                return "OBLIQUE", high, up
    function = {"VC": "CHAIN", "IM": "CHAIN", "SBJ": "SUBJECT", "IOBJ": "RECIPIENT", "PRT": "PARTICLE"}.get(
        relation, ""
    )
    if relation in ("COORD", "CONJ"):
        function = "CONJUNCT"
    elif relation == "DTV" and kind in NOMINAL:
        function = "RECIPIENT"
    elif relation in ("OBJ", "PRD", "OPRD"):
        function = malt_complement(relation, kind)
    elif relation in ("NMOD", "APPO"):
        function = malt_of_noun(relation, kind, head, i < up)
    elif relation in (*ADVERBIAL_MALT, "CLR"):
        function = malt_adverbial(relation, kind, head, i < up)
    return function, up if function else -1, -1


def malt_complement(relation, kind):
    if kind in ("verb", "auxiliary"):
        return "COMPLEMENT"
    if relation == "OBJ":
        return "OBJECT"
    if kind != "other":
        return "PREDICATIVE"
    return "COMPLEMENT" if relation == "OPRD" else ""


def malt_of_noun(relation, kind, head, before):
    if kind in ("verb", "auxiliary"):
        return "RELATIVE" if not before and head not in ("verb", "auxiliary", "adverb") else ""
    if relation == "APPO" or not before or head not in NOMINAL:
        return ""
    return {"adjective": "MODIFIER", "pronoun": "POSSESSOR", "noun": "COMPOUND", "proper": "COMPOUND"}.get(kind, "")


def malt_adverbial(relation, kind, head, before):
    if kind == "adverb" and relation != "CLR":
        return "ADVERBIAL"
    if kind in ("verb", "auxiliary") and relation in ("ADV", "VMOD", "LOC", "TMP", "MNR", "PRP"):
        return "ADVERBIAL"
    if kind == "other" and relation == "VMOD" and before and head in ("verb", "auxiliary"):
        return "SUBORDINATOR"
    return "PREPOSITION" if kind == "other" and relation in ("ADV", "VMOD", "LOC", "DIR", "TMP", "MNR", "CLR") else ""


def chains(s):
    """The word below each word of a chain: has > been > chased, is > furry."""
    below = {}
    for i, (function, up, _) in enumerate(s.surface):
        if function == "CHAIN":
            below.setdefault(up, i)
    if s.scheme != "ud":
        for i, (function, up, _) in enumerate(s.surface):
            if function == "PREDICATIVE" and s.says(up, "be"):
                below.setdefault(up, i)
    return below


def bottom(below, i):
    for _ in range(8):
        i = below.get(i, i)
    return i


def roles(tokens, scheme, tagset):
    """The arrays of `composita.corpus.roles.Roles`, as lists."""
    s = Sentence(tokens, scheme, tagset)
    below = chains(s)
    function, governor, marker = {}, {}, {}
    auxiliary, passive = set(), set()
    for i in range(s.size):
        top = i
        for _ in range(8):
            up = s.surface[top][1]
            if up >= 0 and below.get(up) == top:
                top = up
        found, up, mark = s.surface[top]
        if i in below:
            found, up, mark = "AUXILIARY", i, s.surface[i][2]
        elif top != i:
            auxiliary.add(i)
            direct, link = s.surface[i][1], s.surface[i][0]
            if scheme == "malt" and link == "CHAIN" and s.participle(i) and s.says(direct, "be"):
                passive.add(i)
        elif found == "CHAIN":
            found = ""
        up = bottom(below, up) if up >= 0 else -1
        if found and up >= 0 and up != i:
            function[i], governor[i] = found, up
        marker[i] = mark
    return deep(s, below, function, governor, marker, auxiliary, passive)


def deep(s, below, function, governor, marker, auxiliary, signs):
    clauses = Clauses(s, function, governor, auxiliary, signs)
    role = [""] * s.size
    stranded = {}
    for i in range(s.size):
        cases = clauses.having(i, "MARKER")
        if cases and marker[i] < 0:
            marker[i] = cases[0]
    for i in range(s.size):
        f, g = function.get(i, ""), governor.get(i, -1)
        lone = (f == "PREPOSITION" or (f == "OBLIQUE" and s.kind[i] == "other")) and i in clauses.childless
        if lone:
            stranded[g] = i
        r = "" if lone and marker[i] < 0 else clauses.role(i, f, g, marker[i])
        role[i] = r if r in ROLES else ""
        if not role[i]:
            governor[i] = -1
        if not role[i] or f not in ("AGENT", "OBLIQUE", "RECIPIENT", "CONJUNCT"):
            marker[i] = -1
    antecedent, expressed = antecedents(s, below, governor, role)
    gap = [""] * s.size
    for i in range(s.size):
        if role[i] == "RELATIVE" and i not in expressed and not clauses.having(i, "SUBORDINATOR"):
            gap[i] = clauses.gap(i, governor[i], i in stranded)
            if gap[i] and clauses.subjects[i]:
                marker[i] = stranded.get(i, -1)
    first, shared, shared_role = coordinations(s, clauses, role, governor)
    return {
        "kind": [KINDS.index(k) for k in s.kind],
        "governor": [governor.get(i, -1) for i in range(s.size)],
        "role": [ROLES.index(r) for r in role],
        "marker": [marker[i] for i in range(s.size)],
        "passive": clauses.passive,
        "antecedent": antecedent,
        "gap": [ROLES.index(r) for r in gap],
        "first": first,
        "shared": shared,
        "shared_role": [ROLES.index(r) for r in shared_role],
    }


class Clauses:
    """What depends on what once chains are followed, and the voice of each clause."""

    def __init__(self, s, function, governor, auxiliary, signs):
        self.s, self.function = s, function
        self.dependents = {i: [j for j in sorted(governor) if governor[j] == i] for i in range(s.size)}
        self.childless = set(range(s.size)) - set(s.up)
        self.agents = {g for g in range(s.size) if self.having(g, "AGENT") and s.predicate(g)}
        helped = {g for g in range(s.size) if self.having(g, "AUXILIARY", "PASSIVE_AUXILIARY")}
        self.auxiliary = auxiliary | helped
        self.subjects = {g: self.having(g, "SUBJECT", "PASSIVE_SUBJECT") for g in range(s.size)}
        self.objects = {g: self.having(g, "OBJECT") for g in range(s.size)}
        self.passive = []
        for i in range(s.size):
            sign = i in signs or i in self.agents or bool(self.having(i, "PASSIVE_AUXILIARY", "PASSIVE_SUBJECT"))
            self.passive.append(sign or self.bare_passive(i, governor.get(i, -1)))

    def having(self, g, *functions):
        return [i for i in self.dependents[g] if self.function[i] in functions]

    def bare_passive(self, i, g):
        if not self.s.participle(i) or self.subjects[i] or i in self.auxiliary:
            return False
        if self.function.get(i) in ("RELATIVE", "ADNOMINAL", "ADVERBIAL"):
            return not self.objects[i] or self.s.says(i, "give")
        if self.function.get(i) == "CONJUNCT" and g < i:
            return self.passive[g] or (g in self.auxiliary and not self.s.predicate(g))
        return False

    def subject_role(self, g, f="SUBJECT"):
        if self.passive[g] or f == "PASSIVE_SUBJECT":
            return "RECIPIENT" if self.objects[g] else "OBJECT"
        return "SUBJECT"

    def role(self, i, f, g, marker):
        if f in ("SUBJECT", "PASSIVE_SUBJECT"):
            return self.subject_role(g, f)
        if f == "AGENT":
            return "SUBJECT" if self.s.predicate(g) else "OBLIQUE"
        if f == "OBLIQUE":
            return self.oblique_role(i, g, marker)
        if f == "OBJECT" and self.s.scheme == "malt" and len(self.objects[g]) > 1:
            return "RECIPIENT" if i == min([o for o in self.objects[g] if o > g], default=-1) else "OBJECT"
        if f == "COMPOUND" and any(up == i and self.s.says(j, "genitive") for j, up in enumerate(self.s.up)):
            return "POSSESSOR"
        return {"ADNOMINAL": "RELATIVE", "PASSIVE_AUXILIARY": "AUXILIARY"}.get(f, f)

    def oblique_role(self, i, g, marker):
        s = self.s
        by = s.says(marker, "agent") and not s.says(i, "adjunct") and s.kind[i] in NOMINAL
        if s.scheme == "ud" and by and self.passive[g] and g not in self.agents:
            self.agents.add(g)
            return "SUBJECT"
        given = self.objects[g] or self.passive[g] or self.function.get(g) == "RELATIVE"
        return "RECIPIENT" if s.says(marker, "recipient") and s.says(g, "give") and given else "OBLIQUE"

    def gap(self, i, noun, stranded):
        if not self.subjects[i]:
            gerund = self.s.tag[i] in ("VBG", "VVG", "VDG", "VHG")
            return self.subject_role(i) if self.passive[i] else "SUBJECT" if gerund else ""
        full = self.function[i] == "RELATIVE" and self.s.kind[i] == "verb" and not self.passive[i]
        if not full or self.having(i, "OBJECT", "COMPLEMENT", "PREDICATIVE") or self.s.says(noun, "adjunct"):
            return ""
        return "OBLIQUE" if stranded else "OBJECT"


def coordinations(s, clauses, role, governor):
    first, shared, shared_role = [-1] * s.size, [-1] * s.size, [""] * s.size
    for i in range(s.size):
        if role[i] != "CONJUNCT":
            continue
        g = governor[i]
        first[i] = first[g] if g < i and first[g] >= 0 else g
        candidates = clauses.subjects[first[i]]
        if s.kind[i] == "verb" and not clauses.subjects[i] and candidates and candidates[0] < i:
            shared[i], shared_role[i] = candidates[0], clauses.subject_role(i)
    return first, shared, shared_role


def antecedents(s, below, governor, role):
    """For each relative word, climb to the nearest clause that modifies a noun."""
    antecedent, expressed = [-1] * s.size, set()
    for i in range(s.size):
        node = s.up[i] if s.relative(i) else -1
        for _ in range(16):
            if node < 0:
                break
            verb = bottom(below, node)
            if role[verb] == "RELATIVE":
                clause_of = governor[verb] < i < verb
                expressed |= {verb} if clause_of else set()
                antecedent[i] = governor[verb] if clause_of and role[i] else -1
                break
            node = s.up[node]
    return antecedent, expressed
