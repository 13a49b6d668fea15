"""Held-out prediction: how well functions foretell phrases they were not learned from. No human rating is needed.

The examples of a word are divided into folds by one of their arguments, so that a fold's objects (or subjects) are
nowhere in what is learned from: the question is what the word does with an argument it was never seen with. What is
foretold is compared with the attested phrases of the word that were held out together: the *rank* of the true one is
the share of the others that are nearer to what was foretold, so 0 is perfect and 0.5 is chance. Phrases that were
learned from are no fair competitors: whatever resembles their mean resembles them more than it does a new one, so that
foretelling the mean alone comes out worse than chance. Among all phrases of the word it is ``rank_all``.

Phrases near the mean of a word's phrases are near to whatever is foretold; ``rank_centred`` compares what is left when
that mean is taken from all vectors. Cosines are given beside the ranks; across spaces only ranks can be compared.

The baseline foretells the mean of the phrases learned from, whatever the arguments: its rank is 0.5, and its rank among
all phrases, ``centroid_rank_all``, is what a learner's ``rank_all`` is to be held against.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.linalg  # noqa: F401 - loaded before tasks start, so that it is kept to one thread, too

from composita.functions.examples import Examples
from composita.functions.lexicon import ANY, unit_rows
from composita.store.engine import Engine, Task, run_tasks
from composita.store.errors import TooFewError, UsageError
from composita.store.folder import open_writer
from composita.store.progress import Cancellation, ProgressCallback, silent
from composita.store.tables import write_table

if TYPE_CHECKING:
    from composita.functions.learners import Learner
    from composita.functions.lexicon import Entry, Lexicon

    LearnerOf: TypeAlias = Callable[[Lexicon, str, str], Learner]

Array = npt.NDArray[Any]

HELDOUT = "heldout.parquet"
"""The table in the folder of a lexicon that says how well held-out phrases were foretold."""
LEAST = 4
"""Fewer distinct arguments than this cannot be divided."""
MEASURES = (
    "rank", "rank_centred", "rank_all", "cosine", "centred", "centroid_rank", "centroid_rank_all", "centroid_cosine",
)  # fmt: skip


@dataclass(frozen=True)
class Prediction:
    """How well the phrases of one word were foretold when one of its arguments was new.

    Parameters
    ----------
    word, pattern, argument, learner
        Whose phrases, which argument was new, and what learned.
    examples, foretold
        How many phrases the word has, and how many of them were foretold.
    rank
        The mean share of the phrases held out together that are nearer than the true one.
    rank_centred
        The same, when the mean of the phrases learned from is taken from all vectors.
    rank_all
        The same as the first among all phrases of the word, also those learned from.
    cosine, centred
        The mean cosine with the true phrase; and when that mean is taken from both.
    centroid_rank, centroid_rank_all, centroid_cosine
        What foretelling that mean itself reaches.

    """

    word: str
    pattern: str
    argument: str
    learner: str
    examples: int
    foretold: int
    rank: float
    rank_centred: float
    rank_all: float
    cosine: float
    centred: float
    centroid_rank: float
    centroid_rank_all: float
    centroid_cosine: float

    def to_dict(self) -> dict[str, Any]:
        """Give the fields by name."""
        return asdict(self)


def folds(ids: Array, count: int, seed: int = 0) -> npt.NDArray[np.int64]:
    """Divide examples into folds by an argument: equal arguments are in one fold, folds are of like size.

    >>> folds(np.array([7, 7, 8, 9, 9, 9]), 3).tolist()
    [1, 1, 2, 0, 0, 0]
    """
    values, inverse, sizes = np.unique(ids, return_inverse=True, return_counts=True)
    shuffled = np.random.default_rng(seed).permutation(len(values))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    filled = np.zeros(min(count, len(values)), np.int64)
    fold = np.zeros(len(values), np.int64)
    for value in order.tolist():
        fold[value] = np.argmin(filled)
        filled[fold[value]] += sizes[value]
    found: npt.NDArray[np.int64] = fold[inverse.reshape(-1)]
    return found


def predict(
    examples: Examples, learner: Learner, *, argument: int = 0, count: int = 5, seed: int = 0, word: str = "",
    pattern: str = "", name: str = "",
) -> Prediction | None:  # fmt: skip
    """Foretell the phrases of one word, with new fillers of one argument; None where they are too few to be divided."""
    fold = folds(examples.ids[:, argument], count, seed)
    if len(np.unique(examples.ids[:, argument])) < LEAST:
        return None
    truth = unit_rows(np.asarray(examples.outputs, np.float64))
    sums = dict.fromkeys(MEASURES, 0.0)
    foretold = 0
    for number in range(fold.max() + 1):
        inside = fold == number
        try:
            function = learner.learn(examples.select(~inside))
        except TooFewError:
            continue  # what is left is too little for this learner; the phrases of this fold are not foretold
        tested = np.flatnonzero(inside)
        made = np.asarray(apply_ids(function, examples, tested), np.float64)
        mean = np.asarray(examples.outputs[~inside], np.float64).mean(axis=0)
        for measure, values in measures(made, mean, examples.outputs, truth, tested).items():
            sums[measure] += float(values.sum())
        foretold += len(tested)
    if not foretold:
        return None
    means = {measure: total / foretold for measure, total in sums.items()}
    return Prediction(word, pattern, examples.names[argument], name, len(examples), foretold, **means)


def apply_ids(function: Any, examples: Examples, rows: Array) -> Array:  # noqa: ANN401 - a Function
    """Apply a function to the arguments of some examples."""
    inputs = [examples.vectors[place][examples.ids[rows, place]] for place in range(examples.arity)]
    made: Array = function.apply_all(*inputs)
    return made


def measures(made: Array, mean: Array, outputs: Array, truth: Array, tested: Array) -> dict[str, Array]:
    """Compare what was foretold with the truth: for each measure one number a phrase."""
    near = unit_rows(made) @ truth.T  # (B, N)
    central = np.broadcast_to(unit_rows(mean[None]) @ truth.T, near.shape)
    centred = unit_rows(made - mean) @ unit_rows(np.asarray(outputs[tested], np.float64) - mean).T  # (B, B)
    own = np.arange(len(tested))
    return {
        "rank": ranks(near[:, tested], own), "rank_centred": ranks(centred, own), "rank_all": ranks(near, tested),
        "cosine": near[own, tested], "centred": centred[own, own], "centroid_rank": ranks(central[:, tested], own),
        "centroid_rank_all": ranks(central, tested), "centroid_cosine": central[own, tested],
    }  # fmt: skip


def ranks(near: Array, true: Array) -> Array:
    """Give the share of candidates that are nearer than the true one; those as near count half.

    >>> ranks(np.array([[0.9, 0.5, 0.1], [0.0, 0.0, 0.0]]), np.array([1, 2]))
    array([0.5, 0.5])
    """
    own = near[np.arange(len(true)), true][:, None]
    nearer = (near > own).sum(axis=1) + 0.5 * ((near == own).sum(axis=1) - 1)
    found: Array = np.where(near.shape[1] > 1, nearer / max(1, near.shape[1] - 1), 0.5)
    return found


# ---------------------------------------------------------------- many words, many learners


def cross_validate(
    lexicon: Lexicon,
    learners: Mapping[str, Learner | LearnerOf],
    *,
    words: Collection[str] | None = None,
    patterns: Sequence[str] | None = None,
    count: int = 5,
    seed: int = 0,
    engine: Engine | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> list[Prediction]:
    """Foretell the attested phrases of a lexicon's words with each learner, each argument being new in turn.

    Parameters
    ----------
    lexicon
        Whose examples are used.
    learners
        The learners, by the name they get in the result; or what makes one for a lexicon, a word and a pattern, such as
        `composita.functions.leaning.Towards`.
    words, patterns
        Whose phrases; None for all.
    count, seed
        How many folds, and how they are drawn.
    engine, progress, cancel
        See `composita.store`.

    """
    if count < 2:
        raise UsageError(f"expected at least 2 folds, got {count}")
    some = [
        entry
        for entry in lexicon.entries
        if entry.word != ANY
        and (words is None or entry.word in words)
        and (patterns is None or entry.pattern in patterns)
    ]
    source = _Source(lexicon if lexicon.path is None else None, str(lexicon.path), lexicon.fingerprint)
    tasks = [
        Task(
            f"{trials[0].pattern} {trials[0].word}", _predict_words, (source, dict(learners), trials, count, seed),
            float(sum(trial.size for trial in trials)),
        )
        for trials in _chunks(some, list(learners), lexicon.dimensions, count)
    ]  # fmt: skip
    run = run_tasks(
        tasks, engine=engine or Engine(), progress=progress, stage="foretelling", unit="examples", cancel=cancel
    )  # fmt: skip
    found = {task.arguments[2][0].number: made for task, made in run}
    return [made for number in sorted(found) for made in found[number] if made is not None]


class _Trial(NamedTuple):
    """Phrases of one word that one learner foretells, one argument being new."""

    number: int
    word: str
    pattern: str
    argument: int
    learner: str
    size: int


class _Source(NamedTuple):
    """A lexicon for tasks: one that is in memory itself, else where it lies."""

    lexicon: Lexicon | None
    path: str
    fingerprint: str

    def open(self) -> Lexicon:
        return _opened(self.path, self.fingerprint) if self.lexicon is None else self.lexicon


@lru_cache(maxsize=1)
def _opened(path: str, fingerprint: str) -> Lexicon:
    """Open a lexicon once in each process; its fingerprint tells it from another that was there before."""
    from composita.functions.lexicon import Lexicon

    return Lexicon.open(path)


def _chunks(
    entries: Sequence[Entry], learners: Sequence[str], dimensions: int, folds: int
) -> Iterator[tuple[_Trial, ...]]:
    """Divide the trials into tasks of about a second, by the data alone."""
    from composita.functions.learn import CHUNK_SECONDS, RATE, cost

    chunk: list[_Trial] = []
    seconds, number = 0.0, 0
    for entry in entries:
        size = entry.last - entry.first
        for place in range(entry.arity):
            for name in learners:
                chunk.append(_Trial(number, entry.word, entry.pattern, place, name, size))
                number, seconds = number + 1, seconds + folds * cost(size, dimensions) / RATE
                if seconds >= CHUNK_SECONDS:
                    yield tuple(chunk)
                    chunk, seconds = [], 0.0
    if chunk:
        yield tuple(chunk)


def _predict_words(
    source: _Source, learners: Mapping[str, Learner | LearnerOf], trials: Sequence[_Trial], count: int, seed: int
) -> list[Prediction | None]:
    lexicon, found = source.open(), []
    for trial in trials:
        learner = learners[trial.learner]
        made = learner(lexicon, trial.word, trial.pattern) if callable(learner) else learner
        examples = lexicon.examples(trial.word, trial.pattern)
        found.append(
            predict(
                examples, made, argument=trial.argument, count=count, seed=seed, word=trial.word,
                pattern=trial.pattern, name=trial.learner,
            )
        )  # fmt: skip
    return found


def keep(path: str | Path, predictions: Sequence[Prediction]) -> None:
    """Add the table of predictions to the folder of a lexicon."""
    from composita.functions.lexicon import KIND, VERSION

    rows = [made.to_dict() for made in predictions]
    names = list(Prediction.__dataclass_fields__)
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in names[:4]}
    columns |= {name: np.array([row[name] for row in rows], np.int64) for name in names[4:6]}
    columns |= {name: np.array([row[name] for row in rows], np.float64) for name in names[6:]}
    with open_writer(path, KIND, VERSION) as writer:
        with writer.new_file(HELDOUT) as new:
            write_table(new.path, columns)
        said = writer.meta or {}
        writer.commit({key: value for key, value in said.items() if key not in ("kind", "format", "files")})
        writer.sweep()


def overall(predictions: Sequence[Prediction | Mapping[str, Any]], *, common: bool = False) -> list[dict[str, Any]]:
    """Average over words, each word counting once: a row for each learner, pattern and argument that was new.

    With ``common`` only over the words that all these learners could foretell.
    """
    rows = [made.to_dict() if isinstance(made, Prediction) else made for made in predictions]
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["learner"], row["pattern"], row["argument"]), []).append(row)
    if common:
        shared: dict[tuple[str, str], set[str]] = {}
        for (_, *what), some in groups.items():
            known = {row["word"] for row in some}
            shared[what[0], what[1]] = shared.get((what[0], what[1]), known) & known
        groups = {key: [row for row in some if row["word"] in shared[key[1:]]] for key, some in groups.items()}
    return [dict(_averaged(key, some)) for key, some in groups.items() if some]


def _averaged(key: tuple[str, str, str], some: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    yield from zip(("learner", "pattern", "argument"), key, strict=True)
    yield "words", len(some)
    yield "foretold", sum(row["foretold"] for row in some)
    for measure in MEASURES:
        yield measure, float(np.mean([row[measure] for row in some]))
