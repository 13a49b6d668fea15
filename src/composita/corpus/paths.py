"""Paths in a dependency tree, and the automaton that finds them.

A path is written from the governor down to the word, one relation a step:

    dobj                       the word is the dobj of its governor
    agent > pobj               it is the pobj of the agent of its governor; the agent is the marker
    prep > conj@ > pobj        @ says which word is the marker, otherwise it is the first of several steps
    ADV|LOC > PMOD             either relation
    [nominal] > NMOD[adjective]    the governor is a nominal, the word an adjective
    NMOD[verb after]           the word is a verb and stands after its own head
    OBJ[!verb]                 the word is anything but a verb

The automaton reads symbols upward from the word, each a relation, a class and a side of the head at once, so
that a token costs one table lookup a step whatever the number of paths. A path is finite, hence so is every
climb.

>>> rules = [(5, Path.parse("agent > pobj")), (2, Path.parse("dobj"))]
>>> automaton = Automaton.build(rules, ["agent", "pobj", "dobj"])
>>> automaton.step.shape      # (states, symbols): three relations and the unknown one, 8 classes, 2 sides
(4, 64)
>>> Path.parse("OBJ[verbs]")
Traceback (most recent call last):
ValueError: 'verbs' in path 'OBJ[verbs]'; allowed in brackets are other, noun, proper, verb, ..., nominal,
before, after
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from composita.corpus.tags import Class

CLASSES = len(Class)
NOMINAL = (Class.NOUN, Class.PROPER, Class.PRONOUN)
LONGEST = 4
"""The most steps of a path: every climb of the automaton is shorter."""

_NAMES = {kind.name.lower(): frozenset({int(kind)}) for kind in Class} | {"nominal": frozenset(map(int, NOMINAL))}
_STEP = re.compile(r"([^\s\[\]@>]*)\s*(?:\[([^\[\]]*)\])?\s*(@?)")


@dataclass(frozen=True)
class Step:
    """One relation of a path, and what is asked of the word that bears it."""

    relations: tuple[str, ...]
    classes: frozenset[int]
    sides: frozenset[int]  # 0: before its head, 1: after
    marker: bool

    @classmethod
    def parse(cls, text: str, path: str) -> Step:
        """Read ``OBJ|IOBJ[noun after]@``."""
        match = _STEP.fullmatch(text.strip())
        if not match:
            raise ValueError(f"'{text.strip()}' in path '{path}'; expected a relation such as OBJ or OBJ[noun after]")
        relations = tuple(name for name in match[1].split("|") if name)
        classes: set[int] = set()
        excluded: set[int] = set()
        sides: set[int] = set()
        for word in (match[2] or "").split():
            if word in ("before", "after"):
                sides.add(int(word == "after"))
            elif word.removeprefix("!") in _NAMES:
                (excluded if word.startswith("!") else classes).update(_NAMES[word.removeprefix("!")])
            else:
                allowed = ", ".join([*_NAMES, "before", "after"])
                raise ValueError(f"'{word}' in path '{path}'; allowed in brackets are {allowed}")
        wanted = (classes or set(range(CLASSES))) - excluded
        return cls(relations, frozenset(wanted), frozenset(sides or {0, 1}), bool(match[3]))


@dataclass(frozen=True)
class Path:
    """The steps from a governor down to a word."""

    text: str
    governor: frozenset[int]
    steps: tuple[Step, ...]

    @classmethod
    def parse(cls, text: str) -> Path:
        """Read a path; a first step without a relation says what the governor must be."""
        first, *rest = [Step.parse(part, text) for part in text.split(">")]
        steps, governor = ([first, *rest], frozenset(range(CLASSES))) if first.relations else (rest, first.classes)
        if not steps or len(steps) > LONGEST or not all(step.relations for step in steps):
            raise ValueError(f"path '{text}'; expected 1 to {LONGEST} relations joined by '>'")
        return cls(text, governor, tuple(steps))

    @property
    def marker(self) -> int:
        """How many steps above the word its marker is; 0 for none."""
        marked = [i for i, step in enumerate(self.steps) if step.marker]
        place = marked[0] if marked else 0
        return len(self.steps) - 1 - place


@dataclass(frozen=True)
class Automaton:
    """A table of states; reading starts in state 0, and state -1 is the end."""

    step: npt.NDArray[np.int16]  # (states, symbols)
    accept: npt.NDArray[np.uint8]  # (states, classes of the governor): what was found, 0 for nothing
    marker: npt.NDArray[np.uint8]  # (states, classes of the governor): how far up the marker is

    @classmethod
    def build(cls, rules: Sequence[tuple[int, Path]], relations: Sequence[str]) -> Automaton:
        """Compile paths, the stronger first; a relation's symbol is its place in the list plus 1."""
        number = {name: i for i, name in enumerate(relations, 1)}
        size = (len(relations) + 1) * CLASSES * 2
        start = frozenset((rule, 0) for rule in range(len(rules)))
        numbers = {start: 0}
        order = [start]
        rows: list[npt.NDArray[np.int16]] = []
        for state in order:  # grows while it is walked
            targets: dict[int, set[tuple[int, int]]] = {}
            for rule, read in state:
                steps = rules[rule][1].steps
                for symbol in _symbols(steps[-1 - read], number) if read < len(steps) else ():
                    targets.setdefault(symbol, set()).add((rule, read + 1))
            row = np.full(size, -1, np.int16)
            for symbol, target in sorted(targets.items()):
                frozen = frozenset(target)
                if frozen not in numbers:
                    numbers[frozen] = len(order)
                    order.append(frozen)
                row[symbol] = numbers[frozen]
            rows.append(row)
        accept = np.zeros((len(order), CLASSES), np.uint8)
        marker = np.zeros_like(accept)
        for place, state in enumerate(order):
            for rule, read in sorted(state, reverse=True):  # the first rule is written last, over the others
                found, path = rules[rule]
                if read == len(path.steps):
                    accept[place, list(path.governor)] = found
                    marker[place, list(path.governor)] = path.marker
        return cls(np.stack(rows), accept, marker)


def _symbols(step: Step, number: dict[str, int]) -> list[int]:
    return [
        (number[relation] * CLASSES + kind) * 2 + side
        for relation in step.relations
        for kind in step.classes
        for side in step.sides
    ]
