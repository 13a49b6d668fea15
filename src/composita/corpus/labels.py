"""Label schemes: which path in a dependency tree means which role.

Treebanks disagree about names (``obj``, ``dobj``, ``OBJ``) and about shapes (the by-agent is ``obl:agent``,
or the ``pobj`` of an ``agent``, or the ``PMOD`` of an ``LGS``). A scheme says it in a table of paths and a
few rules: see ``docs/labels.md`` and the tables in ``schemes/``.

>>> scheme = Scheme.load("clear")
>>> scheme.paths["agent"]
('agent > pobj',)
>>> scheme.number("dobj") > 0, scheme.number("nonsense")
(True, 0)
>>> Scheme.guess({"SBJ": 3, "NMOD": 5, "PMOD": 2, "nonsense": 1}).name
'malt'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache, cached_property
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import numpy.typing as npt

from composita.corpus.paths import Automaton, Path
from composita.corpus.rulefiles import MISSING, best_covered, check_keys, read_table, section, string, strings
from composita.store.errors import UsageError


class Role(IntEnum):
    """What a word is to its governor in meaning: a passive subject is an OBJECT, a by-agent a SUBJECT."""

    NONE = 0
    SUBJECT = 1
    OBJECT = 2
    RECIPIENT = 3  # the girl in: give the girl a book, give a book to the girl
    OBLIQUE = 4  # with a preposition, of a verb, a noun or an adjective
    MODIFIER = 5  # an adjective of a noun
    COMPOUND = 6  # a noun of a noun
    POSSESSOR = 7  # the dog's tail
    PREDICATIVE = 8  # seem nice, become a teacher
    COMPLEMENT = 9  # a clause that is an argument
    RELATIVE = 10  # the verb of a clause that modifies a noun
    ADVERBIAL = 11  # an adverb, or the verb of an adverbial clause
    PARTICLE = 12  # give up
    CONJUNCT = 13  # a further member of a coordination
    AUXILIARY = 14  # has, been, will; and the copula


class Function(IntEnum):
    """What a path says about a word: a role as it stands in the tree, or a help to find others."""

    NONE = 0
    SUBJECT = 1
    OBJECT = 2
    RECIPIENT = 3
    OBLIQUE = 4
    MODIFIER = 5
    COMPOUND = 6
    POSSESSOR = 7
    PREDICATIVE = 8
    COMPLEMENT = 9
    RELATIVE = 10
    ADVERBIAL = 11
    PARTICLE = 12
    CONJUNCT = 13
    AUXILIARY = 14
    PASSIVE_SUBJECT = 15
    PASSIVE_AUXILIARY = 16
    AGENT = 17
    ADNOMINAL = 18  # as RELATIVE, but only a participle has the noun as an argument
    CHAIN = 19  # the step from an auxiliary down to its verb
    MARKER = 20  # a preposition that depends on its noun
    SUBORDINATOR = 21  # that, if, to: its clause is not a relative one
    PREPOSITION = 22  # stranded where nothing depends on it


class Word(IntEnum):
    """Lists of words that the tree rules ask for."""

    BE = 0
    AGENT = 1
    RECIPIENT = 2
    GIVE = 3
    ADJUNCT = 4
    GENITIVE = 5
    RELATIVE = 6


AUTO = ("ud", "clear", "malt")
"""The order in which `Scheme.guess` resolves ties."""

RULES = {
    "passive_chain": "a past participle that is chained to a form of be is passive",
    "passive_participle": "a bare past participle that modifies a noun or a clause is passive",
    "copula": "the predicative of be is the predicate of its clause",
    "two_objects": "of two objects, the one next after the verb is the recipient",
    "agent_phrase": "an oblique with an agent word (by) of a passive verb is its agent, if no path found one",
    "zero_relative": "a relative clause with a subject, but no object and no relative word, lacks its object",
}
"""The tree rules that a scheme switches on."""

_FUNCTIONS = {function.name.lower(): function for function in Function if function}
_WORDS = {word.name.lower(): word for word in Word}
_KEYS = ("name", "subtypes", "paths", "rules", "words", "others")


@dataclass(frozen=True)
class Scheme:
    """The table of one label scheme.

    Parameters
    ----------
    name
        What it is called.
    paths
        For each function (a name of `Function` in lower case) the paths that lead to a word of this function.
        Where several paths fit, the longest counts, then the first.
    rules
        The tree rules (keys of `RULES`) that are on.
    words
        For each name of `Word` in lower case the lemmas that it means.
    others
        Relations that mean nothing to us, listed so that the scheme can be recognised.
    subtypes
        What separates a subtype from its relation (``:`` in UD); a subtype that is not listed counts as the
        relation itself.

    """

    name: str
    paths: Mapping[str, tuple[str, ...]]
    rules: frozenset[str] = frozenset()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    subtypes: str = ""

    @classmethod
    def load(cls, name_or_path: str | FilePath) -> Scheme:
        """Read a built-in scheme by name, or one's own from a TOML file of the same format."""
        return cls.from_table(*read_table(name_or_path, "schemes", "--labels"))

    @classmethod
    def from_table(cls, table: Mapping[str, Any], source: str = "scheme") -> Scheme:
        """Check a table, as read from TOML or made by `to_table`."""
        check_keys(table, _KEYS, source)
        paths, rules, words = (section(table, key, source) for key in ("paths", "rules", "words"))
        check_keys(paths, _FUNCTIONS, source, "paths.")
        check_keys(rules, RULES, source, "rules.")
        check_keys(words, _WORDS, source, "words.")
        for key, value in rules.items():
            if not isinstance(value, bool):
                raise UsageError(f"{source}: 'rules.{key}' is {value!r}, expected true or false")
        scheme = cls(
            name=string(table, "name", source),
            paths={key: strings(paths, key, source, "paths.") for key in paths},
            rules=frozenset(key for key, value in rules.items() if value),
            words={key: strings(words, key, source, "words.") for key in words},
            others=strings(table, "others", source),
            subtypes=string(table, "subtypes", source) if "subtypes" in table else "",
        )
        for key, texts in scheme.paths.items():
            for text in texts:
                try:
                    Path.parse(text)
                except ValueError as error:
                    raise UsageError(f"{source}: 'paths.{key}': {error}") from None
        if not scheme.relations:
            raise UsageError(f"{source}: expected paths under [paths], in lists named {', '.join(_FUNCTIONS)}")
        return scheme

    def to_table(self) -> dict[str, Any]:
        """Give the table as plain lists and strings, to be kept with a corpus.

        >>> scheme = Scheme.load("malt")
        >>> Scheme.from_table(scheme.to_table()) == scheme
        True
        """
        table: dict[str, Any] = {
            "name": self.name,
            "paths": {key: list(texts) for key, texts in self.paths.items()},
            "rules": dict.fromkeys(sorted(self.rules), True),
            "words": {key: list(lemmas) for key, lemmas in self.words.items()},
            "others": list(self.others),
        }
        return table | ({"subtypes": self.subtypes} if self.subtypes else {})

    @cached_property
    def compiled(self) -> list[tuple[int, Path]]:
        """Every path with its function, in the order of the table."""
        return [(_FUNCTIONS[key], Path.parse(text)) for key, texts in self.paths.items() for text in texts]

    @cached_property
    def relations(self) -> dict[str, int]:
        """The relations that occur in paths, each with its number from 1."""
        names = dict.fromkeys(name for _, path in self.compiled for step in path.steps for name in step.relations)
        return {name: number for number, name in enumerate(names, 1)}

    @cached_property
    def automaton(self) -> Automaton:
        """The automaton that reads the paths."""
        return Automaton.build(self.compiled, list(self.relations))

    def listed(self, relation: str) -> str | None:
        """Give the relation as the scheme knows it, perhaps without its subtype; None for an unknown one."""
        if relation in self.relations or relation in self.others:
            return relation
        base = relation.split(self.subtypes)[0] if self.subtypes else relation
        return base if base in self.relations or base in self.others else None

    def number(self, relation: str) -> int:
        """Give the number of a relation, 0 for one that occurs in no path.

        >>> ud = Scheme.load("ud")
        >>> ud.number("obj:lvc") == ud.number("obj"), ud.number("obl:tmod")
        (True, 0)
        """
        return self.relations.get(self.listed(relation) or "", 0)

    def numbers(self, values: Sequence[str]) -> npt.NDArray[np.int32]:
        """Give the number of each relation."""
        return np.array([self.number(value) for value in values], np.int32)

    def lemmas(self, word: Word) -> frozenset[str]:
        """Give the words of a list, in lower case."""
        return frozenset(lemma.lower() for lemma in self.words.get(word.name.lower(), ()))

    @staticmethod
    def guess(relations: Mapping[str, int], usual: str | None = None) -> Scheme:
        """Give the built-in scheme that knows most of the relations, given how often each occurs.

        Ties (to a per cent) go to UD, ClearNLP, MaltParser, in this order; where a ``usual`` scheme is named, it is
        given unless another one knows more.

        >>> Scheme.guess({"oops": 3})
        Traceback (most recent call last):
        composita.store.errors.UsageError: cannot tell which label scheme this is: the nearest, ud, knows 0%
        ... pass --labels ...
        """
        coverage, unknown = {}, {}
        counts = {relation: count for relation, count in relations.items() if relation != MISSING}
        total = sum(counts.values())
        for name in AUTO:
            scheme = _built_in(name)
            unknown[name] = {r: count for r, count in counts.items() if scheme.listed(r) is None}
            coverage[name] = total - sum(unknown[name].values()), total
        return _built_in(best_covered(coverage, unknown, "label scheme", "--labels", usual))


@cache
def _built_in(name: str) -> Scheme:
    return Scheme.load(name)
