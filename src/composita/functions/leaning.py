"""Leaning on others: how a word with few examples learns better.

It starts from what others do: from a function f_0, such as the shared one of its category applied to it, or with the
examples of similar words. In the first case ridge shrinks towards s f_0 instead of 0,

    f = s f_0 + ridge(x -> y - s f_0(x))

in the second the examples of similar words are added with the weight s times their similarity, their mean moved to the
word's. The strength s is chosen, for each word, by the error on the word's own phrases with new arguments; 0 leaves the
word to itself.

>>> from composita.functions.onestep import OneStep
>>> rng = np.random.default_rng(0)
>>> known, x = Function.from_dense(rng.normal(size=(3, 3))), rng.normal(size=(5, 3))
>>> f = TowardsFunction(learner=OneStep(kernel="product"), prior=known).fit(x, known(x))
>>> np.allclose(f(np.ones(3)), known(np.ones(3)))
True
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from composita.functions.examples import Examples
from composita.functions.function import Function
from composita.functions.heldout import apply_ids, folds
from composita.functions.learners import Learner
from composita.functions.lexicon import Lexicon, leaned, own_word, unit_rows
from composita.functions.shared import Additive, Sums, joined_columns, joined_with_heads
from composita.store.errors import TooFewError, UsageError

Array = npt.NDArray[Any]

STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
BORROWING = (0.0, 0.03, 0.1, 0.3, 1.0)
SIMILAR = 10
"""How many similar words' examples a word may borrow."""
BORROWED = 1000
"""How many of them, all together."""


@dataclass(frozen=True)
class Leaning:
    """How much a word leans on others, and what that does to the error on new arguments.

    Parameters
    ----------
    strength
        The strength chosen.
    strengths, errors
        Those tried, with the held-out error of each as a share of the error of foretelling nothing.

    """

    strength: float
    strengths: tuple[float, ...]
    errors: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the fields by name."""
        return {"strength": self.strength, "strengths": list(self.strengths), "errors": list(self.errors)}


@dataclass(frozen=True, kw_only=True)
class TowardsFunction:
    """Learn a function that is shrunk towards another.

    Parameters
    ----------
    learner
        Learns what the other leaves unexplained.
    prior
        The other function, of the same arguments.
    trial
        The one to choose the strength with; it should not have been learned from the examples that are to be foretold.
        None for ``prior`` itself.
    strengths, folds
        The strengths to choose from, by so many folds of the first argument.

    """

    learner: Learner
    prior: Function
    trial: Function | None = None
    strengths: Sequence[float] = STRENGTHS
    folds: int = 4

    def parameters(self) -> dict[str, Any]:
        """Give name and options, as JSON can say them."""
        return {"learner": "towards a function", "strengths": list(self.strengths)} | {"of": self.learner.parameters()}

    def fit(self, *arrays: Any) -> Function:  # noqa: ANN401 - arrays
        """Learn from one array for each argument and one of outputs."""
        return self.learn(Examples.from_arrays(*arrays))

    def learn(self, examples: Examples) -> Function:
        """Learn the whole function."""
        part, leaning = self.learn_part(examples)
        return leaned(part, self.prior, leaning.strength)

    def learn_part(self, examples: Examples) -> tuple[Function, Leaning]:
        """Learn what is to be added to ``strength`` times the prior."""
        trial = self.prior if self.trial is None else self.trial

        def errors(strength: float, fold: Array) -> float:
            return _error(_rest(examples, trial, strength), self.learner, fold)

        leaning = _choose_strength(examples, self.strengths, errors, self.folds)
        function = self.learner.learn(_rest(examples, self.prior, leaning.strength))
        if function.output is not None:  # the outputs it was learned from are not those of the examples
            function = replace(function, output=replace(function.output, source=None))
        return function, leaning


def _rest(examples: Examples, prior: Function, strength: float) -> Examples:
    """Take off what another function foretells."""
    foretold = np.asarray(apply_ids(prior, examples, np.arange(len(examples))), np.float64)
    return replace(examples, outputs=(examples.outputs - strength * foretold).astype(examples.outputs.dtype))


@dataclass(frozen=True, kw_only=True)
class WithOthers:
    """Learn from a word's own examples and, with less weight, from those of similar words.

    Parameters
    ----------
    learner
        What learns from all of them.
    borrowed
        The examples of the others; their weights say how similar they are.
    heads
        For each of them which word it is of, by its row.
    strengths, folds
        The strengths to choose from, by so many folds of the first argument.

    """

    learner: Learner
    borrowed: Examples
    heads: Array
    strengths: Sequence[float] = BORROWING
    folds: int = 4

    def parameters(self) -> dict[str, Any]:
        """Give name and options, as JSON can say them."""
        return {"learner": "with similar words", "strengths": list(self.strengths)} | {"of": self.learner.parameters()}

    def fit(self, *arrays: Any) -> Function:  # noqa: ANN401 - arrays
        """Learn from one array for each argument and one of outputs."""
        return self.learn(Examples.from_arrays(*arrays))

    def learn(self, examples: Examples) -> Function:
        """Learn the function."""
        return self.learn_part(examples)[0]

    def learn_part(self, examples: Examples) -> tuple[Function, Leaning]:
        """Learn the function, and tell how much it leans."""

        def errors(strength: float, fold: Array) -> float:
            return _error(examples, self.learner, fold, (self.borrowed, strength))

        leaning = _choose_strength(examples, self.strengths, errors, self.folds)
        function = learn_joined(self.learner, examples, self.borrowed, leaning.strength)
        if function.output is not None and leaning.strength:
            function = replace(function, output=replace(function.output, source=None))
        return function, leaning

    def used(self, leaning: Leaning) -> Array | None:
        """Give the word and the arguments of each example that was borrowed."""
        return np.column_stack([self.heads, self.borrowed.ids]).astype(np.int32) if leaning.strength else None


def learn_joined(learner: Learner, examples: Examples, borrowed: Examples, strength: float) -> Function:
    """Learn with borrowed examples, by the lambda of the word's own.

    Generalised cross-validation takes a small weight for a large error to be expected. Borrowed examples are foretold
    no worse than others, so lambda would come out much too small.
    """
    own = learner.learn(examples) if strength == 0 or _has_penalty(learner) else None
    if own is not None and strength == 0:
        return own
    every = joined(examples, borrowed, strength)
    if own is not None and len(own.training.levels) == 1 and len(every) > len(examples):
        (penalty,) = own.training.levels[0].penalty["lambda"]
        # Learners divide weights by their mean, so lambda is to be divided too.
        return replace(learner, penalty=penalty / float(np.mean(every.weights))).learn(every)  # type: ignore
    return learner.learn(every)


def _has_penalty(learner: Learner) -> bool:
    return getattr(learner, "penalty", 0.0) is None


def joined(examples: Examples, borrowed: Examples, strength: float) -> Examples:
    """Add borrowed examples with their weights times a strength; none with strength 0.

    Borrowed ones with the arguments of a word's own are left out.
    """
    if strength == 0 or not len(borrowed):
        return examples
    own = {tuple(row) for row in examples.ids.tolist()}
    kept = borrowed.select(np.array([tuple(row) not in own for row in borrowed.ids.tolist()], bool))
    ours = np.ones(len(examples)) if examples.weights is None else np.asarray(examples.weights, np.float64)
    weights = np.concatenate([ours, strength * np.asarray(kept.weights)])
    labels = None if examples.labels is None or kept.labels is None else [*examples.labels, *kept.labels]
    return replace(
        examples, ids=np.concatenate([examples.ids, kept.ids]), weights=weights,
        outputs=np.concatenate([examples.outputs, kept.outputs]),
        frequency=joined_columns([examples.frequency, kept.frequency]), labels=labels,
    )  # fmt: skip


def borrow(
    examples: Examples, others: Sequence[tuple[float, Examples]], most: int, heads: Sequence[int]
) -> tuple[Examples, Array] | None:
    """Make examples to be borrowed of those of similar words, given with their similarity; and say whose each is.

    Their outputs are moved so that each word's mean is that of the word who borrows. At most ``most`` are taken, as
    many of each word, the most frequent; where two words have the same arguments, those of the more similar one.
    """
    own = np.asarray(examples.outputs, np.float64).mean(axis=0)
    seen: set[tuple[int, ...]] = set()
    parts: list[Examples] = []
    whose: list[int] = []
    for (similarity, some), head in zip(others, heads, strict=True):
        frequency = np.zeros(len(some)) if some.frequency is None else some.frequency
        order = np.argsort(-frequency, kind="stable")[: max(1, most // len(others))].tolist()
        fresh = [row for row in order if tuple(some.ids[row].tolist()) not in seen]
        seen |= {tuple(some.ids[row].tolist()) for row in fresh}
        mean = np.asarray(some.outputs, np.float64).mean(axis=0)
        part = some.select(np.array(fresh, np.int64))
        moved = (part.outputs - mean + own).astype(examples.outputs.dtype)
        parts.append(replace(part, outputs=moved, weights=np.full(len(fresh), similarity)))
        whose += [head] * len(fresh)
    if not whose:
        return None
    first = parts[0]
    return replace(
        first, ids=np.concatenate([part.ids for part in parts]),
        outputs=np.concatenate([part.outputs for part in parts]),
        weights=np.concatenate([np.asarray(part.weights) for part in parts]),
        frequency=joined_columns([part.frequency for part in parts]),
        labels=[str(-1 - number) for number in range(len(whose))],
    ), np.array(whose, np.int64)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Towards:
    """Makes, for each word of a lexicon, the learner that leans on others; for held-out prediction.

    Parameters
    ----------
    lean
        ``whole``, ``shared`` or ``similar``, as `composita.functions.learn.learn` takes them.
    learner
        What learns.
    strengths
        The strengths to choose from; None for the usual ones.

    """

    lean: str
    learner: Learner
    strengths: Sequence[float] | None = None

    def __call__(self, lexicon: Lexicon, word: str, pattern: str) -> Learner:
        """Give the learner of a word. What it leans on was learned without the word's own examples."""
        own = own_word(word, lexicon.ids)
        if own not in lexicon.ids:
            return self.learner
        if self.lean in ("whole", "shared"):
            try:
                prior = without_own(lexicon, word, pattern)
            except TooFewError:
                return self.learner  # there is no other word to lean on
            usual = (1.0,) if self.lean == "whole" else STRENGTHS
            strengths = usual if self.strengths is None else self.strengths
            return TowardsFunction(learner=self.learner, prior=prior, strengths=strengths)
        near = similar_words(lexicon, word, pattern)
        heads = [lexicon.find(own_word(head, lexicon.ids)) for _, head in near]
        others = [(similarity, lexicon.examples(head, pattern)) for similarity, head in near]
        found = borrow(lexicon.examples(word, pattern), others, BORROWED, heads)
        strengths = BORROWING if self.strengths is None else self.strengths
        if found is None:
            return self.learner
        return WithOthers(learner=self.learner, borrowed=found[0], heads=found[1], strengths=strengths)


@dataclass(frozen=True)
class Unseen:
    """Makes, for each word of a lexicon, what foretells its phrases as if none of them were known.

    It is the additive function that all other words of the pattern share; for held-out prediction.
    """

    def __call__(self, lexicon: Lexicon, word: str, pattern: str) -> Learner:
        """Give what stands for the word's own function."""
        try:
            return Given(function=without_own(lexicon, word, pattern))
        except (TooFewError, UsageError) as error:
            return Given(reason=str(error))


@dataclass(frozen=True, kw_only=True)
class Given:
    """Learns nothing: gives a function that is there already, or the reason why there is none."""

    function: Function | None = None
    reason: str = ""

    def parameters(self) -> dict[str, Any]:
        """Give the name, as JSON can say it."""
        return {"learner": "given"}

    def fit(self, *arrays: Any) -> Function:  # noqa: ANN401 - arrays
        """Give the function."""
        return self.learn(Examples.from_arrays(*arrays))

    def learn(self, examples: Examples) -> Function:
        """Give the function."""
        if self.function is None:
            raise TooFewError(self.reason)
        return self.function


def similar_words(lexicon: Lexicon, word: str, pattern: str) -> list[tuple[float, str]]:
    """Find the words of a pattern whose own vectors are nearest, with their cosines."""
    heads = [h for h in lexicon.heads(pattern) if h != word and own_word(h, lexicon.ids) in lexicon.ids]
    if not heads:
        return []
    rows = unit_rows(lexicon.vectors_of([own_word(head, lexicon.ids) for head in [word, *heads]]).astype(np.float64))
    near = rows[1:] @ rows[0]
    order = np.argsort(-near, kind="stable")[:SIMILAR]
    return [(float(near[k]), heads[k]) for k in order.tolist() if near[k] > 0]


def without_own(lexicon: Lexicon, word: str, pattern: str) -> Function:
    """Give the additive shared function of a pattern, learned without a word's own examples, applied to the word."""
    made = f"without {pattern} {word}"
    if made not in lexicon.cache:
        lexicon.cache[made] = _solved_without(lexicon, word, pattern)
    found: Function = lexicon.cache[made]
    return found


def _solved_without(lexicon: Lexicon, word: str, pattern: str) -> Function:
    key = f"sums {pattern}"
    if key not in lexicon.cache:
        parts = (_sums_of(lexicon, head, pattern) for head in lexicon.heads(pattern))
        lexicon.cache[key] = reduce(operator.add, (part for part in parts if part is not None))
    own = lexicon.find(own_word(word, lexicon.ids))
    names = ("word", *lexicon.examples(word, pattern).names)
    sums = lexicon.cache[key] - _sums_of(lexicon, word, pattern)
    if sums.total < 1:
        raise TooFewError(f"no word but {word!r} has phrases of the pattern {pattern} and a vector of its own")
    function = Additive().solve(sums, [lexicon.dimensions] * len(names), names, np.float32)
    applied: Function = function(lexicon.argument(lexicon.words[own]))
    return applied


def _sums_of(lexicon: Lexicon, word: str, pattern: str) -> Any:  # noqa: ANN401 - sums, or None without a vector
    own = own_word(word, lexicon.ids)
    if own not in lexicon.ids:
        return None
    row = lexicon.find(own)
    return Sums.of(joined_with_heads(lexicon.prepared, [row], [lexicon.examples(word, pattern)]))


def _choose_strength(
    examples: Examples, strengths: Sequence[float], errors: Callable[[float, Array], float], count: int
) -> Leaning:
    """Try all strengths on the same folds; the smallest error wins, among equals the least leaning."""
    if len(strengths) == 1:
        return Leaning(strengths[0], tuple(strengths), ())
    fold = folds(examples.ids[:, 0], count)
    nothing = float((np.asarray(examples.outputs, np.float64) ** 2).sum()) or 1.0
    if fold.max(initial=0) == 0:  # one argument only: nothing can be held out, so the others are believed
        return Leaning(max(strengths), tuple(strengths), ())
    found = tuple(errors(strength, fold) / nothing for strength in strengths)
    return Leaning(strengths[int(np.argmin(found))], tuple(strengths), found)


def _error(examples: Examples, learner: Learner, fold: Array, borrowed: tuple[Examples, float] | None = None) -> float:
    """Give the squared error on held-out examples, summed over folds; what cannot be learned foretells nothing."""
    total = 0.0
    for number in range(int(fold.max()) + 1):
        inside = fold == number
        truth = np.asarray(examples.outputs[inside], np.float64)
        rest = examples.select(~inside)
        try:
            function = learner.learn(rest) if borrowed is None else learn_joined(learner, rest, *borrowed)
        except TooFewError:
            total += float((truth**2).sum())
            continue
        made = apply_ids(function, examples, np.flatnonzero(inside))
        total += float(((made - truth) ** 2).sum())
    return total
