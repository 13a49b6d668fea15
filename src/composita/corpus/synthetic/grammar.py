"""Random sentences as trees with open places: the structures of synthetic text, before any word is chosen.

A little phrase grammar draws trees with the relations of Universal Dependencies and the tags of the Penn
treebank. Function words are English, because rules look at them (*by*, *be*, *to*); nouns, verbs, adjectives,
adverbs and names are left open, with the inflection that the sentence asks for.

>>> sentence = Grammar(seed=5).sentence()
>>> [(slot.head, slot.relation) for slot in sentence if slot.head == 0]
[(0, 'root')]
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

Choices = Sequence[tuple[float, str]]

OPEN_CLASSES = ("NOUN", "VERB", "ADJ", "ADV", "PROPN")
"""Parts of speech whose words are made up; a slot without a form is one of them."""

DETERMINERS: Choices = (
    (0.56, "the"),
    (0.24, "a"),
    (0.08, "this"),
    (0.04, "some"),
    (0.04, "no"),
    (0.04, "each"),
)
PREPOSITIONS: Choices = (
    (0.34, "of"), (0.24, "in"), (0.09, "for"), (0.09, "on"), (0.08, "with"), (0.06, "from"), (0.05, "at"),
    (0.03, "between"), (0.02, "through"),
)  # fmt: skip
CONJUNCTIONS: Choices = ((0.8, "and"), (0.12, "or"), (0.08, "but"))
SUBORDINATORS: Choices = ((0.4, "because"), (0.35, "although"), (0.25, "while"))
MODALS: Choices = ((0.4, "will"), (0.3, "can"), (0.3, "may"))
RELATIVES: Choices = ((0.5, "that"), (0.3, "which"), (0.2, "who"))
FRAMES: Choices = (
    (0.19, "intransitive"), (0.38, "transitive"), (0.05, "ditransitive"), (0.03, "dative"), (0.11, "passive"),
    (0.06, "agent"), (0.11, "copula"), (0.04, "infinitive"), (0.03, "complement"),
)  # fmt: skip

# Subject form, object form, possessive, and whether it takes the verb of the plural.
PRONOUNS = (
    ("it", "it", "its", False),
    ("he", "him", "his", False),
    ("she", "her", "her", False),
    ("they", "them", "their", True),
    ("we", "us", "our", True),
    ("you", "you", "your", True),
)


@dataclass(frozen=True)
class Slot:
    """One place of a sentence; ``form`` and ``lemma`` are empty where a word of class ``upos`` is to come."""

    form: str
    lemma: str
    upos: str
    xpos: str
    head: int  # counted from 1; 0 is the root
    relation: str


@dataclass
class Node:
    """A word with its dependents to the left and to the right."""

    upos: str
    xpos: str
    relation: str
    form: str = ""
    lemma: str = ""
    plural: bool = False
    left: list[Node] = field(default_factory=list)
    right: list[Node] = field(default_factory=list)


def linear(root: Node) -> list[Slot]:
    """Write a tree as a sentence: left dependents, the word, right dependents."""
    order: list[tuple[Node, Node | None]] = []

    def visit(node: Node, head: Node | None) -> None:
        for child in node.left:
            visit(child, node)
        order.append((node, head))
        for child in node.right:
            visit(child, node)

    visit(root, None)
    # Where two marks meet, the comma gives way: `..., who slept,` before `, and` or the full stop.
    order = [
        (node, head)
        for (node, head), (following, _) in zip(order, [*order[1:], (root, None)], strict=True)
        if not (node.form == "," and following.upos == "PUNCT")
    ]
    place = {id(node): i for i, (node, _) in enumerate(order, 1)}
    slots = [Slot(n.form, n.lemma, n.upos, n.xpos, place[id(head)] if head else 0, n.relation) for n, head in order]
    if slots[0].form:
        slots[0] = replace(slots[0], form=slots[0].form.capitalize())
    return slots


def closed(form: str, upos: str, xpos: str, relation: str, lemma: str | None = None) -> Node:
    """Make a function word or a sign."""
    return Node(upos, xpos, relation, form, form if lemma is None else lemma)


def be(xpos: str, relation: str, *, plural: bool = False) -> Node:
    """Make a form of *be*."""
    forms = {"VBZ": "is", "VBP": "are", "VBD": "were" if plural else "was", "VBN": "been", "VB": "be"}
    return closed(forms[xpos], "AUX", xpos, relation, "be")


class Grammar:
    """Draws sentences, by ``random()`` alone: the one method whose numbers Python promises."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        """Say yes with a probability."""
        return self._random() < probability

    def pick(self, choices: Choices) -> str:
        """One of the choices, each with its weight."""
        left = self._random() * sum(weight for weight, _ in choices)
        for weight, choice in choices:
            left -= weight
            if left < 0:
                return choice
        return choices[-1][1]

    def sentence(self) -> list[Slot]:
        """Draw a whole sentence, with its full stop."""
        root = self.clause("root", depth=0)
        if self.chance(0.17):
            fronted = self.prepositional("obl", 1) if self.chance(0.6) else self.subordinate()
            root.left[:0] = [fronted, closed(",", "PUNCT", ",", "punct")]
        if self.chance(0.27):
            other = self.clause("conj", depth=1)
            other.left[:0] = [
                closed(",", "PUNCT", ",", "punct"),
                closed(self.pick(CONJUNCTIONS), "CCONJ", "CC", "cc"),
            ]
            root.right.append(other)
        root.right.append(closed(".", "PUNCT", ".", "punct"))
        return linear(root)

    # Nouns

    def noun_phrase(self, relation: str, depth: int, *, subject: bool = False) -> Node:
        """Draw a pronoun, a name or a common noun with what belongs to it."""
        if self.chance(0.24 if subject else 0.06):
            return self.pronoun(relation, subject=subject)
        node = self.name(relation) if self.chance(0.2) else self.common_noun(relation)
        if depth < 4 and self.chance(0.46 - 0.08 * depth):
            node.right.append(self.prepositional("nmod", depth + 1))
        if depth < 3 and self.chance(0.07):
            node.right.append(self.relative(node, depth + 1))
        elif depth < 3 and self.chance(0.1):
            other = self.noun_phrase("conj", 4)
            other.left.insert(0, closed("and", "CCONJ", "CC", "cc"))
            node.right.append(other)
            node.plural = True
        elif self.chance(0.05):
            node.right += self.apposition()
        return node

    def pronoun(self, relation: str, *, subject: bool) -> Node:
        """Draw a personal pronoun in the right case."""
        form, oblique, _, plural = PRONOUNS[int(self._random() * len(PRONOUNS))]
        node = closed(form if subject else oblique, "PRON", "PRP", relation, form)
        node.plural = plural
        return node

    def name(self, relation: str) -> Node:
        """Draw a name of one or two words, headed by the last."""
        node = Node("PROPN", "NNP", relation)
        if self.chance(0.45):
            node.left.append(Node("PROPN", "NNP", "compound"))
        return node

    def common_noun(self, relation: str) -> Node:
        """Draw a noun with determiner, number, adjectives and a noun before it."""
        plural = self.chance(0.29)
        node = Node("NOUN", "NNS" if plural else "NN", relation, plural=plural)
        node.left += self.determiner(plural=plural)
        while len(node.left) < 5 and self.chance(0.3):
            adjective = Node("ADJ", self.pick(((0.95, "JJ"), (0.03, "JJR"), (0.02, "JJS"))), "amod")
            if self.chance(0.06):
                adjective.left.append(Node("ADV", "RB", "advmod"))
            node.left.append(adjective)
        if self.chance(0.13):
            node.left.append(Node("NOUN", "NN", "compound"))
        return node

    def determiner(self, *, plural: bool) -> list[Node]:
        """Draw what opens a noun phrase, if anything does."""
        if self.chance(0.09):
            pronoun = PRONOUNS[int(self._random() * len(PRONOUNS))]
            return [closed(pronoun[2], "PRON", "PRP$", "nmod:poss")]
        if plural:
            if self.chance(0.13):
                share = self._random()
                number = 2 + int(share * share * share * 2000)  # small numbers are the most frequent
                return [closed(str(number), "NUM", "CD", "nummod")]
            return [closed("the", "DET", "DT", "det")] if self.chance(0.35) else []
        return [closed(self.pick(DETERMINERS), "DET", "DT", "det")] if self.chance(0.8) else []

    def prepositional(self, relation: str, depth: int, preposition: str = "") -> Node:
        """Draw a noun phrase behind a preposition, which UD makes a dependent of the noun."""
        node = self.noun_phrase(relation, depth)
        xpos = "TO" if preposition == "to" else "IN"
        node.left.insert(0, closed(preposition or self.pick(PREPOSITIONS), "ADP", xpos, "case"))
        return node

    def apposition(self) -> list[Node]:
        """Another name or noun between commas or brackets."""
        other = self.name("appos") if self.chance(0.6) else self.common_noun("appos")
        brackets = self.chance(0.4)
        before, after = ("(", ")") if brackets else (",", ",")
        other.left.insert(0, closed(before, "PUNCT", "-LRB-" if brackets else ",", "punct"))
        other.right.append(closed(after, "PUNCT", "-RRB-" if brackets else ",", "punct"))
        return [other]

    def relative(self, noun: Node, depth: int) -> Node:
        """Draw a relative clause; its pronoun is the subject (*who chased it*) or object (*that it hid*)."""
        if self.chance(0.7):
            pronoun = closed(self.pick(RELATIVES), "PRON", "WDT", "nsubj")
            pronoun.plural = noun.plural
            return self.clause("acl:relcl", depth, subject=pronoun)
        verb = self.simple_verb("acl:relcl", self.noun_phrase("nsubj", 4, subject=True))
        verb.left.insert(0, closed("that", "PRON", "WDT", "obj"))
        return verb

    # Clauses

    def clause(self, relation: str, depth: int, subject: Node | None = None) -> Node:
        """Draw a verb with its subject, what its frame asks for, and modifiers."""
        frame = self.pick(FRAMES)
        subject = subject or self.noun_phrase("nsubj", depth + 1, subject=True)
        if frame == "copula":
            verb = self.copula(relation, subject, depth)
        elif frame in ("passive", "agent"):
            verb = self.passive(relation, subject, depth, agent=frame == "agent")
        else:
            verb = self.simple_verb(relation, subject)
            verb.right += self.complements(frame, depth)
        self.modify(verb, depth)
        return verb

    def complements(self, frame: str, depth: int) -> list[Node]:
        """Draw what follows an active verb."""

        def noun(relation: str) -> Node:
            return self.noun_phrase(relation, depth + 1)

        after: dict[str, Callable[[], list[Node]]] = {
            "intransitive": list,
            "transitive": lambda: [noun("obj")],
            "ditransitive": lambda: [self.noun_phrase("iobj", 4), noun("obj")],
            "dative": lambda: [self.noun_phrase("obj", 4), self.prepositional("obl", depth + 1, "to")],
            "infinitive": lambda: [self.infinitive(depth)],
            "complement": lambda: [self.that_clause(depth)],
        }
        return after[frame]()

    def simple_verb(self, relation: str, subject: Node) -> Node:
        """Draw an active verb in some tense, with auxiliaries and its subject."""
        finite = "VBP" if subject.plural else "VBZ"
        tense = self.pick(((0.5, "past"), (0.25, "present"), (0.12, "modal"), (0.08, "perfect"), (0.05, "continuous")))
        xpos = {"past": "VBD", "present": finite, "modal": "VB", "perfect": "VBN", "continuous": "VBG"}[tense]
        verb = Node("VERB", xpos, relation, left=[subject])
        if tense == "modal":
            verb.left.append(closed(self.pick(MODALS), "AUX", "MD", "aux"))
        elif tense == "perfect":
            verb.left.append(closed("have" if finite == "VBP" else "has", "AUX", finite, "aux", "have"))
        elif tense == "continuous":
            verb.left.append(be("VBD", "aux", plural=subject.plural))
        return verb

    def passive(self, relation: str, subject: Node, depth: int, *, agent: bool) -> Node:
        """Draw a participle under *be*, with or without its by-agent."""
        subject.relation = "nsubj:pass"
        verb = Node("VERB", "VBN", relation, left=[subject])
        if self.chance(0.2):
            verb.left += [closed(self.pick(MODALS), "AUX", "MD", "aux"), be("VB", "aux:pass")]
        else:
            present = self.chance(0.3)
            tense = ("VBP" if subject.plural else "VBZ") if present else "VBD"
            verb.left.append(be(tense, "aux:pass", plural=subject.plural))
        if agent:
            verb.right.append(self.prepositional("obl:agent", depth + 1, "by"))
        return verb

    def copula(self, relation: str, subject: Node, depth: int) -> Node:
        """Draw an adjective or a noun under *be*; UD makes the predicate the head."""
        tense = ("VBP" if subject.plural else "VBZ") if self.chance(0.5) else "VBD"
        before = [subject, be(tense, "cop", plural=subject.plural)]
        if self.chance(0.5):
            return Node("ADJ", "JJ", relation, left=before)
        noun = self.common_noun(relation)
        noun.left[:0] = before
        if self.chance(0.4):
            noun.right.append(self.prepositional("nmod", depth + 1))
        return noun

    def modify(self, verb: Node, depth: int) -> None:
        """Add adverbs and prepositional phrases to a clause."""
        if self.chance(0.17):
            adverb = Node("ADV", "RB", "advmod")
            if self.chance(0.5):
                verb.left.append(adverb)
            else:
                verb.right.append(adverb)
        while len(verb.right) < 4 and self.chance(0.41 if depth < 2 else 0.2):
            verb.right.append(self.prepositional("obl", depth + 1))
        if depth == 0 and self.chance(0.06):
            verb.right.append(self.subordinate())

    def infinitive(self, depth: int) -> Node:
        """Draw what is like *to chase the cat*."""
        verb = Node("VERB", "VB", "xcomp", left=[closed("to", "PART", "TO", "mark")])
        verb.right.append(self.noun_phrase("obj", depth + 1))
        return verb

    def that_clause(self, depth: int) -> Node:
        """Draw what is like *that the dog chased the cat*."""
        verb = self.simple_verb("ccomp", self.noun_phrase("nsubj", depth + 1, subject=True))
        verb.left.insert(0, closed("that", "SCONJ", "IN", "mark"))
        verb.right.append(self.noun_phrase("obj", depth + 1))
        return verb

    def subordinate(self) -> Node:
        """Draw what is like *because the dog chased the cat*."""
        verb = self.simple_verb("advcl", self.noun_phrase("nsubj", 3, subject=True))
        verb.left.insert(0, closed(self.pick(SUBORDINATORS), "SCONJ", "IN", "mark"))
        verb.right.append(self.noun_phrase("obj", 3))
        return verb
