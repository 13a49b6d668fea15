"""Tagsets: the coarse class of a part-of-speech tag, and which tags are participles and relative pronouns.

Tagsets collide (``VB`` is any base verb in Penn and only *be* in TreeTagger; ``PRP`` is a pronoun in Penn and
a preposition in CLAWS), so each has a table of its own, in ``tagsets/``, and a corpus uses exactly one.

>>> [Class(code).name for code in Tagset.load("penn").classify(["NNS", "VB", "PRP", "MD"])]
['NOUN', 'VERB', 'PRONOUN', 'AUXILIARY']
>>> [Class(code).name for code in Tagset.load("treetagger").classify(["VB", "VV"])]
['AUXILIARY', 'VERB']
>>> [Class(code).name for code in Tagset.load("claws").classify(["PRP", "NN1-VVB", "RR21"])]
['OTHER', 'NOUN', 'ADVERB']

Auxiliaries are not content words. A tag that can be either is a verb: Penn's ``VB*``, and ``VH*`` and ``VD*``
(*have*, *do*) elsewhere, for in a third of their uses these are the only verb of their clause; which of them are
auxiliaries the tree knows better (`Role.AUXILIARY`). TreeTagger's and CLAWS' ``VB*`` is always *be*, copula or
auxiliary, and UPOS calls both AUX: so it is an auxiliary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from composita.corpus.rulefiles import MISSING, best_covered, check_keys, read_table, section, string, strings
from composita.store.errors import UsageError


class Class(IntEnum):
    """The coarse class of a word."""

    OTHER = 0
    NOUN = 1
    PROPER = 2
    VERB = 3
    ADJECTIVE = 4
    ADVERB = 5
    PRONOUN = 6
    AUXILIARY = 7


LETTERS = ("", "n", "n", "v", "a", "r", "p", "")
"""The letter of each class in labels such as ``dog-n``; empty where a word of the class is never an item."""

AUTO = ("upos", "penn", "treetagger", "claws")
"""The order in which `Tagset.guess` resolves ties: UPOS first, because it tells auxiliaries from verbs."""

_CLASSES = {kind.name.lower(): kind for kind in Class}
_FORMS = ("participle", "gerund", "relative")
_KEYS = ("name", "column", "ambiguity", "classes", "form_column", *_FORMS)


@dataclass(frozen=True)
class Tagset:
    """The table of one tagset.

    Parameters
    ----------
    name
        What it is called.
    column
        ``"upos"`` or ``"xpos"``: the column that is classified.
    rules
        The class of each tag; a tag that ends in ``*`` stands for all that begin so. An exact tag is
        stronger, then the longest.
    ambiguity
        What joins the two tags of a word that was left ambiguous (``-`` in CLAWS: ``NN1-VVB``); the first
        counts.
    form_column
        The column in which the next three are found: UPOS has no tags for them, the treebank's own tags
        beside it may.
    participle, gerund, relative
        Tags of past participles (*chased*), of present participles (*chasing*), of relative words (*who*,
        *which*, *where*).

    """

    name: str
    column: str
    rules: Mapping[str, Class]
    ambiguity: str = ""
    form_column: str = ""
    participle: tuple[str, ...] = ()
    gerund: tuple[str, ...] = ()
    relative: tuple[str, ...] = ()
    _prefixes: tuple[tuple[str, Class], ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        prefixes = [(tag[:-1], kind) for tag, kind in self.rules.items() if len(tag) > 1 and tag.endswith("*")]
        object.__setattr__(self, "_prefixes", tuple(sorted(prefixes, key=lambda item: -len(item[0]))))
        object.__setattr__(self, "form_column", self.form_column or self.column)

    @classmethod
    def load(cls, name_or_path: str | Path) -> Tagset:
        """Read a built-in tagset by name, or one's own from a TOML file of the same format."""
        return cls.from_table(*read_table(name_or_path, "tagsets", "--tags"))

    @classmethod
    def from_table(cls, table: Mapping[str, Any], source: str = "tagset") -> Tagset:
        """Check a table, as read from TOML or made by `to_table`."""
        check_keys(table, _KEYS, source)
        classes = section(table, "classes", source)
        check_keys(classes, _CLASSES, source, "classes.")
        rules: dict[str, Class] = {}
        for key in classes:
            for tag in strings(classes, key, source, "classes."):
                if tag in rules:
                    raise UsageError(
                        f"{source}: 'classes.{key}' has '{tag}', which is already under "
                        f"'classes.{rules[tag].name.lower()}'; "
                        "expected each tag once"
                    )
                rules[tag] = _CLASSES[key]
        if not rules:
            raise UsageError(f"{source}: expected tags under [classes], in lists named {', '.join(_CLASSES)}")
        column = string(table, "column", source, ("upos", "xpos"))
        return cls(
            name=string(table, "name", source),
            column=column,
            rules=rules,
            ambiguity=string(table, "ambiguity", source) if "ambiguity" in table else "",
            form_column=string(table, "form_column", source, ("upos", "xpos"), default=column),
            participle=strings(table, "participle", source),
            gerund=strings(table, "gerund", source),
            relative=strings(table, "relative", source),
        )

    def to_table(self) -> dict[str, Any]:
        """Give the table as plain lists and strings, to be kept with a corpus.

        >>> tagset = Tagset.load("claws")
        >>> Tagset.from_table(tagset.to_table()) == tagset
        True
        """
        classes: dict[str, list[str]] = {}
        for tag, kind in self.rules.items():
            classes.setdefault(kind.name.lower(), []).append(tag)
        table: dict[str, Any] = {
            "name": self.name,
            "column": self.column,
            "classes": classes,
            "form_column": self.form_column,
        }
        table |= {key: list(getattr(self, key)) for key in _FORMS}
        return table | ({"ambiguity": self.ambiguity} if self.ambiguity else {})

    def first(self, tag: str) -> str:
        """Give the tag that counts in an ambiguity tag, and any other tag as it is.

        >>> Tagset.load("claws").first("VVD-VVN"), Tagset.load("claws").first("-")
        ('VVD', '-')
        """
        return (self.ambiguity and tag.split(self.ambiguity)[0]) or tag

    def lookup(self, tag: str) -> Class | None:
        """Give the class of a tag, or None for a tag that the table does not know."""
        tag = self.first(tag)
        if (kind := self.rules.get(tag)) is not None:
            return kind
        return next((kind for prefix, kind in self._prefixes if tag.startswith(prefix)), None)

    def classify(self, values: Sequence[str]) -> npt.NDArray[np.uint8]:
        """Give the class of every tag; OTHER for an unknown one."""
        return np.array([self.lookup(tag) or Class.OTHER for tag in values], np.uint8)

    @staticmethod
    def guess(xpos: Mapping[str, int], upos: Mapping[str, int], usual: str | None = None) -> Tagset:
        """Choose the built-in tagset that knows most of the tags, by how often each occurs in either column.

        Ties (to a per cent) go to UPOS, Penn, TreeTagger, CLAWS, in this order; where a ``usual`` tagset is named, it
        is chosen unless another one knows more.

        >>> Tagset.guess({"VVZ": 2, "NP": 3, "SENT": 1}, {"_": 6}).name
        'treetagger'
        >>> Tagset.guess({"XY": 2}, {})
        Traceback (most recent call last):
        composita.store.errors.UsageError: cannot tell which tagset this is: the nearest, upos, knows 0% ...
        """
        coverage, unknown = {}, {}
        for name in AUTO:
            tagset = _built_in(name)
            column = upos if tagset.column == "upos" else xpos
            counts = {tag: count for tag, count in column.items() if tag != MISSING}
            unknown[name] = {tag: count for tag, count in counts.items() if tagset.lookup(tag) is None}
            total = sum(counts.values())
            coverage[name] = total - sum(unknown[name].values()), total
        return _built_in(best_covered(coverage, unknown, "tagset", "--tags", usual))


@cache
def _built_in(name: str) -> Tagset:
    return Tagset.load(name)
