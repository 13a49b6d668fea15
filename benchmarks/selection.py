"""Which space, which phrases and which learner foretell held-out phrases best: how the preset was chosen.

No rating of people is read. The words of the files given are the heads (they may be benchmarks, of which only the verbs
are taken); their phrases are divided into folds by one argument, so that its fillers are new to what is learned, and
what is foretold for a phrase is compared with the phrases that were held out together with it:

- ``rank``: the share of the verb's own phrases of the fold that are nearer than the true one: are the arguments in it?
- ``any``: the same among the phrases of all verbs of the fold: are the verb and its arguments in it?
- ``any + head``: the same when the verb's own vector is added, both of length 1;
- ``verb``: the share of all verbs for which, with the same arguments, a vector nearer to the phrase is foretold than
  for its own: is the verb in it?
- ``verb + head``: the same with the verbs' own vectors added.

0 is perfect, 0.5 is chance, and chance is what phrases count as that cannot be foretold. Only phrases of nouns are
foretold, whatever is learned from. Each verb counts once for each argument. Differences are from the first trial of the
table, with their standard error over verbs and arguments.

    python -m benchmarks.selection COUNTS --heads GS2011data.txt ML2008.txt --trials learners
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from composita.counting.counts import Counts
from composita.counting.words import read_words
from composita.functions.examples import Examples
from composita.functions.function import Function
from composita.functions.heldout import apply_ids, ranks
from composita.functions.leaning import TowardsFunction
from composita.functions.learners import Learner, make_learner
from composita.functions.lexicon import own_word, unit_rows, words_of
from composita.functions.selection import Plan, Selection, plan
from composita.functions.shared import Additive, joined_with_heads
from composita.spaces.space import Space
from composita.spaces.steps import Svd
from composita.store.engine import one_blas_thread
from composita.store.errors import TooFewError

Array = npt.NDArray[Any]
EVERY = Selection(min_nonzero=1, min_examples=6)
FOLDS = 4
MEASURES = ("rank", "any", "any + head", "verb", "verb + head")
ASKED = 20
"""Of so many phrases of each verb and fold it is asked which verb they have."""


@dataclass(frozen=True)
class Trial:
    """A space, a choice of phrases, and a learner.

    Parameters
    ----------
    name
        What it is called in the table.
    space
        Options of `Space.from_counts`; a smaller number of dimensions or another power needs no new decomposition.
    learner, options
        As `make_learner` takes them; ``add`` for the sum of the words' vectors, each of length 1, ``verb`` for that of
        the verb alone, ``shared`` for the shared function alone.
    least
        How many dimensions of a phrase must not be 0 for it to be learned from.
    arguments
        What may be an argument of phrases that are learned from.
    lean
        ``whole`` if all verbs begin from the function that they share, which is learned from the same phrases.
    raw
        Whether outputs, or arguments, keep their lengths.

    """

    name: str
    space: Mapping[str, Any] = field(default_factory=dict)
    learner: str = "onestep"
    options: Mapping[str, Any] = field(default_factory=dict)
    least: int = 1
    arguments: tuple[str, ...] = ("nouns", "names", "pronouns")
    lean: str = "none"
    raw: tuple[str, ...] = ()


# ---------------------------------------------------------------- what is tried

CENTRED = {"kernel": "affine", "centre": True}
UNSEEN = {"criterion": "arguments"}
SHARED: dict[str, Any] = {"options": {"kernel": "product"} | UNSEEN, "lean": "whole"}


def one_step(name: str, **options: Any) -> Trial:  # noqa: ANN401
    """Give a trial of one-step regression."""
    return Trial(name, options={"kernel": "affine"} | options)


TRIALS: dict[str, list[Trial]] = {
    "presets": [
        Trial("Add", learner="add"),
        Trial("Verb", learner="verb"),
        Trial("multi-step, the paper's", learner="multistep", least=10, arguments=("nouns", "names")),
        one_step("one-step, affine, centred", centre=True),
        one_step("one-step, affine, centred, for new arguments", centre=True, **UNSEEN),
        Trial("shared function", learner="shared", lean="whole"),
        Trial("shared, and the rest by product", options={"kernel": "product"}, lean="whole"),
        Trial("shared, and the rest by product, for new arguments", **SHARED),
        Trial("shared, and the rest by affine", options={"kernel": "affine"}, lean="whole"),
        Trial("shared, and the rest by affine, centred", options=CENTRED, lean="whole"),
    ],
    "learners": [
        one_step("one-step, affine, centred", centre=True),
        Trial("Add", learner="add"),
        Trial("multi-step, the paper's", learner="multistep", least=10, arguments=("nouns", "names")),
        Trial("multi-step, all phrases", learner="multistep"),
        Trial("multi-step, pooled", learner="multistep", options={"per": "level"}),
        Trial("multi-step, pooled, centred", learner="multistep", options={"per": "level", "centre": True}),
        Trial("multi-step, pooled, centred, from 2 examples", learner="multistep",
              options={"per": "level", "centre": True, "min_examples": 2}),
        Trial("multi-step, pooled, intercept", learner="multistep", options={"per": "level", "intercept": True}),
        Trial("partial least squares, stepwise", learner="plsr"),
        one_step("one-step, product", kernel="product"),
        one_step("one-step, product, centred", kernel="product", centre=True),
        one_step("one-step, affine"),
        one_step("one-step, affine, intercept", intercept=True),
        one_step("one-step, affine, constants 0.3, centred", constants=0.3, centre=True),
        one_step("one-step, affine, constants 3, centred", constants=3.0, centre=True),
        one_step("one-step, affine, constants 10, centred", constants=10.0, centre=True),
        one_step("one-step, additive, centred", kernel="additive", centre=True),
        one_step("one-step, affine, centred, deviations 1", centre=True, deviations=1.0),
        one_step("one-step, affine, centred, weights", centre=True, weights=True),
    ],
    "spaces": [
        Trial(f"{dimensions} dimensions, power {power:g}", {"dimensions": dimensions, "power": power}, **SHARED)
        for dimensions, power in (
            (300, 1.0), (300, 0.5), (300, 0.0), (100, 1.0), (100, 0.5), (100, 0.0), (500, 1.0), (500, 0.5), (500, 0.0),
        )
    ],
    "weighting": [
        Trial("PPMI", options=CENTRED),
        Trial("PPMI, smoothing 0.75", {"smoothing": 0.75}, options=CENTRED),
        Trial("PPMI, rows of length 1", {"normalise": "l2"}, options=CENTRED),
        Trial("PPMI, shift ln 5", {"shift": float(np.log(5))}, options=CENTRED),
    ],
    "phrases": [
        Trial("all phrases", options=CENTRED),
        Trial("no pronouns", options=CENTRED, arguments=("nouns", "names")),
        Trial("no names, no pronouns", options=CENTRED, arguments=("nouns",)),
        Trial("from 3 dimensions that are not 0", options=CENTRED, least=3),
        Trial("from 10 dimensions that are not 0", options=CENTRED, least=10),
        Trial("outputs not of length 1", options=CENTRED, raw=("outputs",)),
        Trial("arguments not of length 1", options=CENTRED, raw=("arguments",)),
    ],
    "leaning": [
        Trial("alone", options=CENTRED),
        Trial("Add", learner="add"),
        Trial("the shared function alone", learner="shared", lean="whole"),
        Trial("shared, and the rest by additive", options={"kernel": "additive"}, lean="whole"),
        Trial("shared, and the rest by affine", options={"kernel": "affine"}, lean="whole"),
        Trial("shared, and the rest by product", options={"kernel": "product"}, lean="whole"),
        Trial("shared, and the rest by affine, centred", options=CENTRED, lean="whole"),
    ],
}  # fmt: skip


# ---------------------------------------------------------------- spaces and their phrases


@dataclass(frozen=True)
class Phrases:
    """The phrases of one verb in a space."""

    word: str
    examples: Examples
    head: Array  # the verb's own vector, of length 1
    nouns: Array  # which phrases have nouns alone as arguments
    pronouns: Array  # which have a pronoun
    nonzeros: Array
    row: int  # of the verb among the words, or -1
    words: Array

    def allowed(self, trial: Trial) -> Array:
        """Say which phrases may be learned from."""
        allowed = self.nonzeros >= trial.least
        if "pronouns" not in trial.arguments:
            allowed = allowed & ~self.pronouns
        if "names" not in trial.arguments:
            allowed = allowed & self.nouns
        return np.asarray(allowed)


@dataclass
class Room:
    """Counts, the words whose phrases are foretold, and the spaces made so far."""

    counts: Counts
    heads: Mapping[str, Sequence[str]]
    most: int
    spaces: dict[str, Space] = field(default_factory=dict)
    dimensions: int = 500

    def space(self, **options: Any) -> Space:  # noqa: ANN401
        """Make a space; of one decomposition there are all smaller numbers of dimensions and all powers."""
        dimensions, power = options.pop("dimensions", 300), options.pop("power", 1.0)
        key = repr(sorted(options.items()))
        if key not in self.spaces:
            self.spaces.clear()
            self.spaces[key] = Space.from_counts(
                self.counts, rows=self.rows, dimensions=max(self.dimensions, dimensions), **options
            )
        whole = self.spaces[key]
        values = next(step for step in whole.chain if isinstance(step, Svd)).values[:dimensions]
        return replace(whole, rows_data=(whole.array[:, :dimensions] * values ** (power - 1)).astype(np.float32))

    @cached_property
    def rows(self) -> Array:
        """The rows of words, and of the phrases of the patterns asked for."""
        return np.concatenate([self.counts.rows(kind) for kind in ("word", *self.heads)])

    def phrases(self, space: Space, trial: Trial) -> dict[str, list[Phrases]]:
        """Give the phrases of all verbs by pattern; of more than ``most`` so many, drawn at random."""
        names, rows = words_of(space)
        own = {name: place for place, name in enumerate(names)}
        vectors = np.asarray(space.array[rows])
        units = unit_rows(vectors)
        arguments = vectors if "arguments" in trial.raw else units
        found: dict[str, list[Phrases]] = {}
        for pattern, heads in self.heads.items():
            every = plan(space, pattern, EVERY, heads)
            nouns = rows_of(plan(space, pattern, replace(EVERY, arguments=("nouns",), min_examples=1), heads))
            plain = rows_of(plan(space, pattern, replace(EVERY, arguments=("nouns", "names"), min_examples=1), heads))
            found[pattern] = []
            for head in every.heads:
                some = np.arange(len(head.rows))
                if len(some) > self.most:
                    some = np.sort(np.random.default_rng(0).choice(some, self.most, replace=False))
                outputs = np.asarray(space.array[head.rows[some]])
                examples = Examples.from_arrays(
                    (arguments,) * len(every.names), head.ids[some],
                    outputs if "outputs" in trial.raw else unit_rows(outputs),
                    frequency=head.frequency[some], names=every.names,
                )  # fmt: skip
                row = own.get(own_word(head.word, own))
                vector = np.zeros(vectors.shape[1]) if row is None else units[row]
                found[pattern].append(Phrases(
                    head.word, examples, vector, np.isin(head.rows[some], nouns), ~np.isin(head.rows[some], plain),
                    np.asarray(space.nonzeros)[head.rows[some]], -1 if row is None else row, units,
                ))  # fmt: skip
        return found


def rows_of(chosen: Plan) -> Array:
    """Give the rows of all examples of a plan."""
    return np.concatenate([head.rows for head in chosen.heads]) if chosen.heads else np.empty(0, np.int64)


# ---------------------------------------------------------------- foretelling


@dataclass(frozen=True)
class Verbs:
    """The verbs of a pattern, and how their phrases are foretold."""

    every: Sequence[Phrases]
    trial: Trial
    learner: Learner | None

    def learned(self, kept: Sequence[Array]) -> list[Function | None]:
        """Learn the function of each verb from some of its phrases; None where there are too few."""
        trains = [some.examples.select(rows) for some, rows in zip(self.every, kept, strict=True)]
        shared = self._shared(trains) if self.trial.lean == "whole" else None
        return [self._function(some, train, shared) for some, train in zip(self.every, trains, strict=True)]

    def _shared(self, trains: Sequence[Examples]) -> Function:
        some = [(own, train) for own, train in zip(self.every, trains, strict=True) if own.row >= 0 and len(train)]
        words = self.every[0].words
        return Additive().learn(joined_with_heads(words, [own.row for own, _ in some], [train for _, train in some]))

    def _function(self, some: Phrases, train: Examples, shared: Function | None) -> Function | None:
        prior = shared(some.head.astype(np.float32)) if shared is not None and some.row >= 0 else None
        learner = self.learner
        if learner is None:
            return prior
        if prior is not None:
            learner = TowardsFunction(learner=learner, prior=prior, strengths=(1.0,))
        try:
            return learner.learn(train)
        except TooFewError:
            return prior

    def foretell(self, verb: int, function: Function | None, examples: Examples, rows: Array) -> Array | None:
        """Foretell phrases of a verb with the arguments of some examples, of length 1; None where nothing can be."""
        head = self.every[verb].head
        if self.trial.learner in ("add", "verb"):
            words = [unit_rows(v[examples.ids[rows, i]]) for i, v in enumerate(examples.vectors)]
            made = head + (0 if self.trial.learner == "verb" else 1) * sum(words)
            return unit_rows(np.asarray(made, np.float64))
        return None if function is None else unit_rows(np.asarray(apply_ids(function, examples, rows), np.float64))

    def with_head(self, verb: int, rows: Array) -> Array:
        """Add the verb's own vector, where it is not in the method already."""
        return rows if self.trial.learner in ("add", "verb") else unit_rows(rows + self.every[verb].head)

    def compared(self, place: int) -> Array:
        """Give the ranks of each verb, in the order of `MEASURES`, an argument being new to all: (verbs, 5)."""
        fold_of = np.random.default_rng(0).permutation(len(self.every[0].words)) % FOLDS
        sums, counts = np.zeros((len(self.every), len(MEASURES))), np.zeros((len(self.every), 1))
        for number in range(FOLDS):
            inside = [fold_of[some.examples.ids[:, place]] == number for some in self.every]
            kept = [
                np.flatnonzero(~held & some.allowed(self.trial))
                for some, held in zip(self.every, inside, strict=True)
            ]  # fmt: skip
            tested = [np.flatnonzero(held & some.nouns) for some, held in zip(self.every, inside, strict=True)]
            self._rank(self.learned(kept), tested, sums, counts)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def _rank(self, functions: Sequence[Function | None], tested: Sequence[Array], sums: Array, counts: Array) -> None:
        """Add the ranks of the phrases of one fold to the sums of their verbs."""
        truth = [
            unit_rows(np.asarray(some.examples.outputs[rows], np.float64))
            for some, rows in zip(self.every, tested, strict=True)
        ]  # fmt: skip
        pool, first = np.concatenate(truth), 0
        for verb, (some, rows) in enumerate(zip(self.every, tested, strict=True)):
            last = first + len(rows)
            counts[verb] += len(rows)
            made = self.foretell(verb, functions[verb], some.examples, rows) if len(rows) else None
            if made is None:
                sums[verb] += 0.5 * len(rows)
            else:
                true, kept = np.arange(first, last), self.with_head(verb, made)
                sums[verb, 0] += ranks(made @ pool[first:last].T, true - first).sum()
                sums[verb, 1] += ranks(made @ pool.T, true).sum()
                sums[verb, 2] += ranks(kept @ pool.T, true).sum()
                sums[verb, 3:] += len(rows) * self._which(verb, functions, rows[:ASKED], truth[verb][:ASKED])
            first = last

    def _which(self, verb: int, functions: Sequence[Function | None], rows: Array, truth: Array) -> Array:
        """Give the rank of the true verb among all, given arguments and phrase; without and with the verbs' vectors."""
        examples, near = self.every[verb].examples, []
        for other, function in enumerate(functions):
            made = self.foretell(other, function, examples, rows)
            if made is not None:
                kept = self.with_head(other, made)
                near.append(np.stack([(made * truth).sum(axis=1), (kept * truth).sum(axis=1)]))
            if other == verb:
                own = len(near) - 1
        alike = np.stack(near)  # (verbs, 2, B)
        nearer = (alike > alike[own]).sum(axis=0) + 0.5 * ((alike == alike[own]).sum(axis=0) - 1)
        found: Array = (nearer / max(len(near) - 1, 1)).mean(axis=1)
        return found


def run(trial: Trial, room: Room) -> dict[tuple[str, int], Array]:
    """Try: the ranks of each verb by pattern and argument."""
    space = room.space(**trial.space)
    learner = None if trial.learner in ("add", "verb", "shared") else make_learner(trial.learner, trial.options)
    found = {}
    for pattern, every in room.phrases(space, trial).items():
        for place in range(every[0].examples.arity):
            found[pattern, place] = Verbs(every, trial, learner).compared(place)
    return found


# ---------------------------------------------------------------- telling


def line(trial: Trial, found: Mapping[tuple[str, int], Array], first: Mapping[tuple[str, int], Array]) -> str:
    """Write a row of the table: the means of the patterns and arguments, and the difference from the first trial."""
    parts = [f"{np.nanmean(found[key][:, 0]):.3f}" for key in found]
    whole, base = (np.stack([np.nanmean(one[key], axis=0) for key in one]).mean(axis=0) for one in (found, first))
    cells = []
    for measure in range(len(MEASURES)):
        # The mean of the means of patterns and arguments, whose errors add up.
        gaps = [found[key][:, measure] - first[key][:, measure] for key in found]
        error = np.sqrt(sum(np.nanvar(gap, ddof=1) / np.isfinite(gap).sum() for gap in gaps)) / len(gaps)
        said = "" if found is first else f" ({whole[measure] - base[measure]:+.3f} ± {error:.3f})"
        cells.append(f"{whole[measure]:.3f}{said}")
    return "| " + " | ".join([trial.name, *parts, *cells]) + " |"


def main() -> None:
    """Try what is asked for, and print a table."""
    parser = argparse.ArgumentParser(description="Choose spaces and learners by held-out phrases.")
    parser.add_argument("counts")
    parser.add_argument("--heads", nargs="+", required=True, help="files: transitive verbs, then intransitive ones")
    parser.add_argument("--trials", default="learners", choices=sorted(TRIALS))
    parser.add_argument("--most", type=int, default=800, help="how many phrases of a verb are used at most")
    parser.add_argument("--space", default="", help="options of all spaces: dimensions=300,power=0.5")
    asked = parser.parse_args()
    words = [sorted(set(read_words(path, bare="v", columns="va"))) for path in asked.heads]
    heads = {"svo": words[0], "sv": words[-1]}
    common = {key: float(value) for key, value in (part.split("=") for part in asked.space.split(",") if part)}
    if "dimensions" in common:
        common["dimensions"] = int(common["dimensions"])
    room = Room(Counts.open(asked.counts), heads, asked.most)
    first = None
    for trial in TRIALS[asked.trials]:
        started = time.process_time()
        with one_blas_thread:
            found = run(replace(trial, space=common | dict(trial.space)), room)
        if first is None:
            first = found
            print("| trial | " + " | ".join(f"{p} {place}" for p, place in found) + " | " + " | ".join(MEASURES) + " |")
            print("|---" * (1 + len(found) + len(MEASURES)) + "|")
        print(line(trial, found, first), flush=True)
        print(f"{trial.name}: {time.process_time() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
