"""What methods stand on: vectors of words, attested phrases, and what was learned from them, kept beside a lexicon.

A method that must be trained learns from the lexicon's own examples when it is first asked, and what it learned is
kept for as long as the lexicon lives: the last `KEPT` of them. Nothing is drawn at random, so the same lexicon gives
the same meanings. ``Ground(lexicon, without=...)`` stands on everything but some attested phrases, for honest tests on
them.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from composita.composition.relations import Relations, attested_relation
from composita.composition.rows import IntArray, Rows, is_sparse, lengths, stack, unit, zeros
from composita.functions.lexicon import ANY, Labels, make_examples
from composita.functions.selection import Head, Selection, plan
from composita.store.errors import NotFoundError, TooFewError, UsageError

if TYPE_CHECKING:
    from composita.counting.patterns import Pattern
    from composita.functions.examples import Examples
    from composita.functions.function import Function
    from composita.functions.lexicon import Lexicon
    from composita.grammar.phrase import Phrase
    from composita.spaces.space import Space

KEPT = 2048
"""How many trained things are kept for a lexicon."""
POOLED = 200_000
"""A model of a whole category is trained on at most so many phrases, evenly chosen."""
PREFERRED = {("v", 1): "sv", ("v", 2): "svo", ("v", 3): "svoo", ("a", 1): "an", ("n", 1): "nn"}
"""The pattern that is meant where a head has several of one arity."""

_T = TypeVar("_T")
_grounds: weakref.WeakKeyDictionary[Any, Ground] = weakref.WeakKeyDictionary()
_lock = threading.RLock()


class Ground:
    """What methods stand on.

    Parameters
    ----------
    lexicon
        Vectors, examples and functions.
    without
        Rows of the space, attested phrases that nothing may be learned from. Functions of their heads are learned anew.

    """

    def __init__(self, lexicon: Lexicon, without: Collection[int] = ()) -> None:
        self._lexicon = weakref.ref(lexicon) if not without else (lambda: lexicon)
        self.without = frozenset(without)
        self._done: set[Hashable] = set()
        self._trained: OrderedDict[Hashable, Any] = OrderedDict()
        self._gates: dict[Hashable, threading.RLock] = {}

    @classmethod
    def of(cls, lexicon: Lexicon | Ground) -> Ground:
        """Give the ground of a lexicon, always the same one."""
        if isinstance(lexicon, Ground):
            return lexicon
        with _lock:
            if lexicon not in _grounds:
                _grounds[lexicon] = cls(lexicon)
            return _grounds[lexicon]

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon."""
        found = self._lexicon()
        assert found is not None, "a ground is used only as long as its lexicon"
        return found

    @property
    def space(self) -> Space:
        """The space of the lexicon."""
        return self.lexicon.space

    def trained(self, key: Hashable, train: Callable[[], _T]) -> _T:
        """Give what was learned under this key, learning it now if it has not been; who asks meanwhile, waits."""
        while True:
            with _lock:
                if key in self._trained:
                    self._trained.move_to_end(key)
                    known: _T = self._trained[key]
                    return known
                gate = self._gates.setdefault(key, threading.RLock())
            # Others learn other things meanwhile: some take a minute.
            with gate:
                if key not in self._trained and self._gates.get(key) is gate:
                    found = train()
                    with _lock:
                        self._trained[key] = found
                        self._gates.pop(key, None)
                        if len(self._trained) > KEPT:
                            self._trained.popitem(last=False)
                    return found

    def once(self, key: Hashable, do: Callable[[], None]) -> None:
        """Do something the first time only."""
        with _lock:
            if key not in self._done:
                self._done.add(key)
                do()

    # ------------------------------------------------------------ words

    @cached_property
    def negative(self) -> bool:
        """Whether words have negative numbers, which make products meaningless."""
        rows = self.lexicon.vectors
        blocks = (rows[begin : begin + 4096] for begin in range(0, rows.shape[0], 4096))
        return any((block.data if is_sparse(block) else block).min(initial=0) < 0 for block in blocks)

    def vectors(self, words: Sequence[str]) -> tuple[Rows, dict[int, str]]:
        """Give the vectors of words as they are in the space, and for each that has none or only zeros the reason."""
        lexicon = self.lexicon
        rows = np.array([lexicon.ids.get(word, -1) for word in words], np.int64)
        missing = {n: f"{words[n]} has no vector" for n in np.flatnonzero(rows < 0).tolist()}
        if not lexicon.vectors.shape[0]:
            return zeros(len(words), lexicon.vectors), missing
        found = lexicon.vectors[np.maximum(rows, 0)]
        for n in np.flatnonzero((lengths(found) == 0) & (rows >= 0)).tolist():
            missing[n] = f"the vector of {words[n]} is zero in every dimension"
        return found, missing

    def stem(self, word: str) -> str:
        """Give the verb of a joined word without a vector of its own: *live* for *live_in*; other words as they are."""
        verb = f"{word[:-2].partition('_')[0]}{word[-2:]}"
        return verb if word not in self.lexicon.ids and verb in self.lexicon.ids else word

    @cached_property
    def names(self) -> frozenset[str]:
        """The nouns that are only arguments and not in the core of the space: proper names."""
        if not self.has_space:
            return frozenset()
        core = np.asarray(self.space.core)
        places = zip(self.space.words, self.space.word_rows.tolist(), strict=True)
        return frozenset(word for word, row in places if row >= 0 and word.endswith("-n") and not core[row])

    @cached_property
    def rows_of_space(self) -> Rows:
        """All rows of the space, words first."""
        return self.space.matrix if self.space.is_sparse else self.space.array

    def row_of(self, phrase: Phrase) -> int:
        """Give the row of an attested phrase or word in the space, -1 where it is none; ``vo`` is no sentence."""
        if any(argument.arguments for argument in phrase.arguments) or not self.has_space:
            return -1
        rows = [row for pattern, row in self.space.items.candidates(str(phrase)) if pattern != "vo"]
        return rows[0] if rows else -1

    # ------------------------------------------------------------ attested phrases

    @cached_property
    def patterns(self) -> dict[str, Pattern]:
        """The patterns of which the space has phrases; none where the lexicon has no space."""
        if not self.has_space:
            return {}
        return {p.name: p for p in self.space.items.names.patterns if len(self.space.phrases(p.name).rows)}

    @cached_property
    def has_space(self) -> bool:
        """Whether the lexicon's space, with its phrases, is at hand."""
        try:
            return self.space is not None
        except NotFoundError:
            return False

    def _patterns(self, head: str, arity: int) -> list[str]:
        """Give patterns by arity, the usual one first; ``vo`` is a verb phrase and never stands for a sentence."""
        letter = head[-1:]
        known = [p.name for p in self.patterns.values() if len(p.arguments) == arity and p.head == letter]
        usual = PREFERRED.get((letter, arity))
        return sorted((name for name in known if name != "vo"), key=lambda name: name != usual)

    def pattern(self, head: str, arity: int) -> str | None:
        """Give the pattern in which a head was seen with so many arguments."""
        return next((name for name in self._patterns(head, arity) if head in self.attested(name)), None)

    def pattern_of(self, head: str, arity: int) -> str | None:
        """Give the pattern in which a head was seen with so many arguments, or else words like it."""
        return self.pattern(head, arity) or next(iter(self._patterns(head, arity)), None)

    @cached_property
    def selection(self) -> Selection:
        """Which phrases are examples: those that the lexicon was learned from, of all heads."""
        known = {field.name for field in fields(Selection)}
        asked = self.lexicon.parameters.get("selection", {})
        said = {name: value for name, value in asked.items() if name in known}
        if "arguments" in said:
            said["arguments"] = tuple(said["arguments"])
        return replace(Selection(**said), min_examples=1, max_examples=None)

    def attested(self, pattern: str, *, seen: bool = True) -> dict[str, Head]:
        """Give the phrases of each head whose arguments have vectors: all that were seen, or those that are examples.

        A phrase that was seen beside few words is no example, but it was seen with its arguments.
        """
        return self.trained(("attested", pattern, seen), lambda: self._attested(pattern, seen))

    def _attested(self, pattern: str, seen: bool) -> dict[str, Head]:
        if pattern not in self.patterns:
            return {}
        chosen = replace(self.selection, min_nonzero=0, min_frequency=1) if seen else self.selection
        found = {head.word: head for head in plan(self.space, pattern, chosen).heads}
        return {word: self._left(head) for word, head in found.items()} if self.without else found

    def _left(self, head: Head) -> Head:
        kept = ~np.isin(head.rows, np.fromiter(self.without, np.int64))
        return replace(head, rows=head.rows[kept], ids=head.ids[kept], frequency=head.frequency[kept])

    def relations(self, arity: int) -> Relations:
        """Give the relations of heads with so many arguments."""
        return self.trained(("relations", arity), lambda: Relations(arity))

    def relation(self, head: str, arity: int) -> int:
        """Give the number of a head's relation, the weighted arguments that it was seen with; -1 where it never was."""
        relations = self.relations(arity)
        if head not in relations.numbers:
            pattern = self.pattern(head, arity)
            found = None if pattern is None else self.attested(pattern)[head]
            if found is None or not len(found.rows):
                return -1
            relations.add(head, attested_relation(self.lexicon.vectors, found.ids, found.frequency))
        return relations.numbers[head]

    def pooled(self, pattern: str, limit: int = POOLED) -> Pooled | None:
        """Give examples of all heads of a pattern together; None where there are none."""
        known = self.lexicon.ids
        parts = [
            np.column_stack([np.full(len(head.rows), known[word]), head.ids, head.rows])
            for word, head in self.attested(pattern, seen=False).items()
            if word in known
        ]
        ids = np.concatenate(parts) if parts else np.empty((0, 0), np.int64)
        if not len(ids):
            return None
        if len(ids) > limit:
            ids = ids[np.linspace(0, len(ids) - 1, limit).astype(np.int64)]
        return Pooled(self.lexicon.vectors, self.rows_of_space, ids)

    # ------------------------------------------------------------ functions

    def examples(self, head: str, pattern: str) -> Examples | None:
        """Give the examples of a head, those of the lexicon or, where it has no function, of its space."""
        lexicon = self.lexicon
        if (head, pattern) in lexicon:
            examples, rows = lexicon.examples(head, pattern), lexicon.attested(pattern, head)
            if self.without:
                examples = examples.select(~np.isin(rows, np.fromiter(self.without, np.int64)))
            return examples if len(examples) else None
        found = self.attested(pattern, seen=False).get(head)
        if found is None or not len(found.rows):
            return None
        outputs = np.asarray(self.rows_of_space[found.rows])
        part = {
            "ids": found.ids, "frequency": found.frequency,
            "outputs": unit(outputs) if self.selection.normalise_outputs else outputs,
        }  # fmt: skip
        names = tuple(argument.name for argument in self.patterns[pattern].arguments)
        return make_examples(lexicon.prepared, part, names, Labels(head, lexicon.words, found.ids))

    def function_patterns(self, head: str, arity: int) -> list[str]:
        """Give the patterns in which a head has, or may be given, a function of so many arguments."""
        own = [pattern for pattern, count in self._entries.get(head, ()) if count == arity and pattern != "vo"]
        return list(dict.fromkeys([*self._patterns(head, arity), *own]))

    @cached_property
    def _entries(self) -> dict[str, list[tuple[str, int]]]:
        """The patterns and arities in which each word has a function of the lexicon."""
        found: dict[str, list[tuple[str, int]]] = {}
        for entry in self.lexicon.entries:
            found.setdefault(entry.word, []).append((entry.pattern, entry.arity))
        return found

    def function(self, head: str, pattern: str, learner: str = "") -> Function | None:
        """Give the function of a head in a pattern: that of the lexicon, or one learned now by a learner that is named.

        A word without one of its own has the one that all words share, if there is such a function. None where there is
        none, or too little to learn it from.
        """
        held, name = (head, pattern) in self.lexicon, learner or self.own
        if not learner and not held:
            return self.shared(head, pattern)
        if name == self.own and held and not self.without:
            return self.lexicon.function(head, pattern)
        return self.trained((name, pattern, head), lambda: self._learn(head, pattern, name))

    def _learn(self, head: str, pattern: str, learner: str) -> Function | None:
        examples = self.examples(head, pattern)
        prior = self.shared(head, pattern) if learner == self.own else None
        if examples is None or len(examples) < self.least:
            return prior
        return self.learn(examples, learner, prior=prior if self.lean in ("whole", "shared") else None)

    def shared(self, head: str, pattern: str) -> Function | None:
        """Give the function that all words of a pattern share, applied to a word; None where there is none."""
        if (ANY, pattern) not in self.lexicon or self.stem(head) not in self.lexicon.ids:
            return None

        def applied() -> Function:
            function = self.lexicon.shared(pattern, self.stem(head))
            return replace(function, parts=((1.0, function),))

        return self.trained(("shared", pattern, head), applied)

    @property
    def lean(self) -> str:
        """On what the words of the lexicon lean."""
        return str(self.lexicon.parameters.get("lean", "none"))

    @property
    def own(self) -> str:
        """The name of the learner of the lexicon; empty where it has no functions."""
        return str(self.lexicon.parameters.get("learner", {}).get("learner", ""))

    @property
    def least(self) -> int:
        """From how many examples a function is learned."""
        return int(self.lexicon.parameters.get("selection", {}).get("min_examples", Selection().min_examples))

    def explainable(self, head: str, pattern: str, learner: str = "") -> Function | None:
        """Give a function held as terms, which can be explained, learning it anew where it is a dense tensor."""
        found = self.function(head, pattern, learner)
        if found is None or not found.is_dense:
            return found
        examples = self.examples(head, pattern)
        if examples is None:
            return found
        name = learner or self.own
        leans = name == self.own and self.lean in ("whole", "shared")
        return self.learn(examples, name, terms=True, prior=self.shared(head, pattern) if leans else None)

    def learn(
        self, examples: Examples, learner: str, *, terms: bool = False, prior: Function | None = None
    ) -> Function | None:
        """Learn a function, with a prior one that begins from it; None where there is too little to learn from."""
        from composita.functions.leaning import STRENGTHS, TowardsFunction
        from composita.functions.learners import make_learner

        options = dict(self.lexicon.parameters.get("learner", {})) if learner == self.own else {}
        options.pop("learner", None)
        made = make_learner(learner, options | ({"storage": "terms"} if terms else {}))
        if prior is not None:
            strengths = (1.0,) if self.lean == "whole" else STRENGTHS
            made = TowardsFunction(learner=made, prior=prior, strengths=strengths)
        try:
            return made.learn(examples)
        except (TooFewError, UsageError):
            return None


class Pooled(NamedTuple):
    """Examples of many heads: rows of the space for the head, its arguments and the phrase."""

    words: Rows
    space: Rows
    ids: IntArray  # (m, 1 + n + 1) rows of the lexicon for head and arguments, and of the space for the phrase

    def blocks(self, size: int = 8192) -> Iterator[tuple[Rows, ...]]:
        """Give the vectors in blocks, each as rows of the head, the arguments, the phrase, all of length 1."""
        for begin in range(0, len(self.ids), size):
            *words, phrases = self.ids[begin : begin + size].T
            yield (*(unit(self.words[column]) for column in words), unit(self.space[phrases]))


def assemble(parts: Sequence[tuple[IntArray, Rows]], count: int) -> Rows:
    """Put rows that come in parts, each with its places, into one table."""
    if len(parts) == 1 and len(parts[0][0]) == count:
        ids, rows = parts[0]
        return rows[np.argsort(ids)] if not np.array_equal(ids, np.arange(count)) else rows
    together, places = stack([rows for _, rows in parts]), np.concatenate([ids for ids, _ in parts])
    if len(places) == count:
        return together[np.argsort(places)]
    filler = zeros(count - len(places), together)
    absent = np.setdiff1d(np.arange(count), places)
    return stack([together, filler])[np.argsort(np.concatenate([places, absent]))]
