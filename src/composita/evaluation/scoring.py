r"""Scores: how well methods predict ratings, with intervals, beside what people agree on and what chance gives.

There are two conventions, and they are never mixed: `rho_individual` correlates predictions with every single rating,
as the paper does; `rho_mean` with the mean rating of each item, as most later work does. The second is higher for the
same predictions. Intervals come from resampling items; differences between methods are paired, on the items that both
score.

>>> benchmark = Benchmark.from_text(
...     "sentence1\tsentence2\tannotator\trating\n" + "".join(
...         f"{a}-n\t{b}-n\t{who}\t{rating}\n" for who in "xy" for a, b, rating in (
...             ("dog", "cat", 6), ("dog", "car", 1), ("cat", "lion", 5), ("car", "lion", 2))))
>>> scores = score(benchmark, {"good": [0.9, 0.1, 0.7, 0.2], "poor": [0.1, 0.3, 0.2, 0.9]}, bootstrap=100)
>>> [(row.method, round(row.rho_mean, 3), row.covered) for row in scores.rows]
[('good', 1.0, 4), ('poor', -0.8, 4)]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.evaluation.agreement import Agreement, Ratings, agreement
from composita.evaluation.benchmarks import Benchmark
from composita.evaluation.statistics import (
    RESAMPLES,
    BoolArray,
    FloatArray,
    Observations,
    area_under_curve,
    average_precision,
    correlations,
    interval,
    kendall,
    resamples,
    step_down,
    two_sided,
)
from composita.store.engine import one_blas_thread
from composita.store.errors import UsageError
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent

if TYPE_CHECKING:
    from composita.composition.method import Method
    from composita.composition.model import Model
    from composita.evaluation.prediction import Prediction
    from composita.functions.lexicon import Lexicon
    from composita.spaces.space import Space

METHODS = ("verb", "add", "multiply", "kronecker", "relational", "learned")
SHUFFLES = 1000

Interval = tuple[float, float]


@dataclass(frozen=True)
class Score:
    """How well one method predicts the ratings of a benchmark; NaN for what cannot be said.

    Parameters
    ----------
    benchmark, method, space
        Whose score it is.
    items, covered
        How many items there are, and how many the method scores.
    rho_individual, rho_mean
        Spearman's correlation with single ratings, and with the mean rating of each item.
    rho_individual_interval, rho_mean_interval
        Their 95% intervals over items.
    rho_individual_common, rho_mean_common, common
        The same on the items that all methods score, and how many these are.
    pearson_individual, pearson_mean, kendall_individual, kendall_mean
        Other correlations.
    high, low, separation
        The mean prediction for items that the designers expect to be high, to be low, and how often a high one is
        predicted to be more alike than a low one (0.5 is chance).
    mean_average_precision, mean_average_precision_interval
        For a ranking: how early the right descriptions of a term stand, and its interval over terms.
    backed_off
        How many items were composed with less than the method asks for.
    warnings
        What is doubtful about the predictions.

    """

    benchmark: str
    method: str
    space: str
    items: int
    covered: int
    rho_individual: float = float("nan")
    rho_individual_interval: Interval = (float("nan"), float("nan"))
    rho_mean: float = float("nan")
    rho_mean_interval: Interval = (float("nan"), float("nan"))
    rho_individual_common: float = float("nan")
    rho_mean_common: float = float("nan")
    common: int = 0
    pearson_individual: float = float("nan")
    pearson_mean: float = float("nan")
    kendall_individual: float = float("nan")
    kendall_mean: float = float("nan")
    high: float = float("nan")
    low: float = float("nan")
    separation: float = float("nan")
    mean_average_precision: float = float("nan")
    mean_average_precision_interval: Interval = (float("nan"), float("nan"))
    backed_off: int = 0
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Give the score as JSON has it: None for what cannot be said."""
        return {name: plain(value) for name, value in vars(self).items()}


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever a score holds
    """Put None for NaN, and lists for pairs.

    >>> plain((0.5, 1.0)), plain(float("nan")), plain((float("nan"), float("nan")))
    ([0.5, 1.0], None, None)
    """
    if isinstance(value, float):
        return None if isnan(value) else value
    if isinstance(value, tuple):
        values = [plain(each) for each in value]
        return None if values and all(each is None for each in values) else values
    return value


@dataclass(frozen=True)
class Difference:
    """How much better the first method is than the second on the items that both score.

    ``p`` is two-sided, from resampled items; ``corrected`` is corrected for all pairs of methods
    (`composita.evaluation.statistics.step_down`).
    """

    first: str
    second: str
    convention: str
    items: int
    difference: float
    interval: Interval
    p: float
    corrected: float


@dataclass(frozen=True)
class GroupScore:
    """How well one method does on one group of items, such as those of one verb."""

    group: str
    method: str
    items: int
    rho_individual: float
    rho_mean: float
    separation: float
    mean_average_precision: float = float("nan")


@dataclass(frozen=True)
class Scores:
    """The scores of several methods on one benchmark, and everything to see them in the right light.

    Parameters
    ----------
    benchmark
        The benchmark as it was scored, perhaps with exchanged words.
    space
        The name of the space.
    rows
        One score for each method.
    predictions
        For each method its prediction for each item; in a ranking the average precision of each term.
    reasons
        For each method the items that it cannot score, and why.
    differences
        Between each two methods, by each convention.
    humans
        How far people agree.
    floor
        By each convention what shuffled predictions get: mean and 95% interval.
    groups
        The scores of each group of items.
    exchanged
        The words that were exchanged for others because the lexicon lacks them.
    seed, bootstrap
        How the resampling was done.

    """

    benchmark: Benchmark
    space: str
    rows: tuple[Score, ...]
    predictions: Mapping[str, FloatArray]
    reasons: Mapping[str, Mapping[int, str]]
    differences: tuple[Difference, ...]
    humans: Agreement
    floor: Mapping[str, tuple[float, Interval]]
    groups: tuple[GroupScore, ...] = ()
    exchanged: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    bootstrap: int = RESAMPLES

    def __getitem__(self, method: str) -> Score:
        """Give the score of one method."""
        for row in self.rows:
            if row.method == method:
                return row
        raise UsageError(f"{method!r} was not scored: choose {', '.join(row.method for row in self.rows)}")

    def reference(self) -> dict[str, Any]:
        """Give what frames the scores: people above, the oracle as ceiling, shuffled predictions as floor."""
        h = self.humans
        definitions = ("pairwise", "pairwise_without_ties", "leave_one_out", "split_half", "alpha")
        return {
            "benchmark": self.benchmark.name, "items": h.items, "ratings": h.ratings, "participants": h.participants,
            "humans": {"rho_individual": plain(h.pairwise), "rho_mean": plain(h.leave_one_out)},
            "ceiling": {"rho_individual": plain(h.ceiling), "rho_mean": None},
            "floor": {name: plain(mean) for name, (mean, _) in self.floor.items()},
            "agreement": {name: getattr(h, name) for name in definitions if not isnan(getattr(h, name))},
        }  # fmt: skip

    def items(self) -> list[dict[str, Any]]:
        """Describe each item: its name, group, label, mean rating, and what each method predicts or why it does not."""
        if self.benchmark.kind == "ranking":
            return [
                {"term": term, **{method: plain(float(values[n])) for method, values in self.predictions.items()}}
                for n, term in enumerate(self.benchmark.groups)
            ]
        ratings = self.benchmark.ratings
        counts = np.bincount(ratings.item, minlength=ratings.items)
        return [
            {
                "item": item.name, "group": item.group, "label": item.label, "ratings": int(counts[n]),
                "rating": plain(float(ratings.means[n])),
                **{method: plain(float(values[n])) for method, values in self.predictions.items()},
                "missing": {m: reasons[n] for m, reasons in self.reasons.items() if n in reasons},
            }
            for n, item in enumerate(self.benchmark.items)
        ]  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Give everything as JSON has it."""
        return {
            "benchmark": self.benchmark.name, "space": self.space, "seed": self.seed, "bootstrap": self.bootstrap,
            "scores": [row.to_json() for row in self.rows],
            "reference": self.reference(),
            "floor": {name: {"mean": plain(m), "interval": plain(i)} for name, (m, i) in self.floor.items()},
            "differences": [{k: plain(v) for k, v in vars(each).items()} for each in self.differences],
            "groups": [{k: plain(v) for k, v in vars(each).items()} for each in self.groups],
            "exchanged": dict(self.exchanged), "remarks": list(self.benchmark.remarks),
        }  # fmt: skip


# ------------------------------------------------------------ evaluating a lexicon


@one_blas_thread
def evaluate(
    lexicon: Lexicon | Model | Space, benchmark: Benchmark | str, methods: str | Sequence[str | Method] = METHODS, *,
    space: str = "", bootstrap: int = RESAMPLES, seed: int = 0, back_off: bool = True,
    spelling: bool | Mapping[str, str] = False, progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Scores:  # fmt: skip
    """Score methods on a benchmark.

    Parameters
    ----------
    lexicon
        Vectors and functions: a lexicon, a model, or a space for methods without functions.
    benchmark
        The benchmark, its file, or its name.
    methods
        Their names; ``all`` for all.
    space
        What the space is called in the results.
    bootstrap, seed
        How many times items are resampled, and the seed of this.
    back_off
        Whether a method may do less than it asks for, which is counted and shown.
    spelling
        Whether words that the lexicon lacks are exchanged for other spellings and lemmas of them that it has; or a
        table of such words.

    >>> from composita.functions.lexicon import Lexicon
    >>> lines = "verb noun landmark input", "stray dog roam 7", "stray eye roam 2"
    >>> text = chr(10).join(f"{who} {line} hilo" for who, line in zip(("participant", "p1", "p1"), lines, strict=True))
    >>> words = {"dog-n": [3.0, 1, 0], "eye-n": [0.0, 0, 2], "stray-v": [1.0, 1, 0], "roam-v": [2.0, 0, 1]}
    >>> lexicon = Lexicon.from_vectors({word: np.array(vector) for word, vector in words.items()})
    >>> evaluate(lexicon, Benchmark.from_text(text), "add", bootstrap=0).rows[0].covered
    2

    """
    from composita.evaluation.prediction import predict, predict_ranking, read_sentences, unread_reasons

    found = Benchmark.load(benchmark) if isinstance(benchmark, str) else benchmark
    model, chosen = _model(lexicon), _methods(methods)
    unread: dict[str, str] = {}
    if found.has_text:
        found, unread = read_sentences(found, model.phrase)
    exchanged: dict[str, str] = {}
    if spelling is not False:
        from composita.evaluation.spelling import exchange, respelled

        table = None if spelling is True else spelling
        exchanged = exchange(found.words, model.lexicon.ids, table)
        found = found.map_phrases(respelled(exchanged))
    predictions: dict[str, Prediction] = {}
    for number, method in enumerate(chosen):
        check(cancel)
        progress(Progress(f"scoring {found.name}", number, len(chosen), "methods"))
        if found.kind == "ranking":
            predictions[method.name] = predict_ranking(method, model.lexicon, found, back_off=back_off)
        else:
            made = predict(method, model.lexicon, found.items, back_off=back_off)
            made.reasons.update(unread_reasons(found.items, unread))
            predictions[method.name] = made
    progress(Progress(f"scoring {found.name}", len(chosen), len(chosen), "methods"))
    return _score(found, predictions, space, bootstrap, seed, exchanged)


def _model(lexicon: Lexicon | Model | Space) -> Model:
    from composita.composition.model import Model
    from composita.functions.lexicon import Lexicon

    if isinstance(lexicon, Model):
        return lexicon
    return Model(lexicon if isinstance(lexicon, Lexicon) else Lexicon.from_space(lexicon), "lexicon")


def _methods(methods: str | Sequence[str | Method]) -> list[Method]:
    from composita.composition.methods import methods_named

    if isinstance(methods, str):
        return methods_named(methods)
    found = [method for each in methods for method in (methods_named(each) if isinstance(each, str) else [each])]
    return list({method.name: method for method in found}.values())


def score(
    benchmark: Benchmark, predictions: Mapping[str, npt.ArrayLike], *, space: str = "", bootstrap: int = RESAMPLES,
    seed: int = 0,
) -> Scores:  # fmt: skip
    """Score predictions that came from anywhere: for each method one number an item, NaN where there is none.

    In a ranking it is one row of numbers for each term, in the order of ``benchmark.groups``.
    """
    from composita.evaluation.prediction import Prediction

    shape = (len(benchmark),) if benchmark.kind == "pairs" else (len(benchmark.groups), len(benchmark))
    made = {}
    for method, values in predictions.items():
        array = np.asarray(values, np.float64)
        if array.shape != shape:
            raise UsageError(f"{method}: expected predictions of shape {shape}, got {array.shape}")
        made[method] = Prediction(array)
    return _score(benchmark, made, space, bootstrap, seed, {})


def _score(
    benchmark: Benchmark, predictions: Mapping[str, Prediction], space: str, bootstrap: int, seed: int,
    exchanged: Mapping[str, str],
) -> Scores:  # fmt: skip
    if not predictions:
        raise UsageError("expected one method at least")
    if bootstrap < 0:
        raise UsageError(f"the number of resamples is {bootstrap}, expected 0 or more")
    humans = agreement(benchmark.ratings, seed)
    reasons = {method: made.reasons for method, made in predictions.items()}
    if benchmark.kind == "ranking":
        rows, values, differences, groups = _ranking(benchmark, predictions, space, bootstrap, seed)
        return Scores(
            benchmark, space, rows, values, reasons, differences, humans, {}, groups, exchanged, seed, bootstrap
        )
    values = {method: made.similarity for method, made in predictions.items()}
    rows, differences = _pairs(benchmark, predictions, space, bootstrap, seed)
    return Scores(
        benchmark, space, rows, values, reasons, differences, humans, shuffled(benchmark.ratings, seed),
        _groups(benchmark, values), exchanged, seed, bootstrap,
    )  # fmt: skip


# ------------------------------------------------------------ pairs


def _conventions(ratings: Ratings) -> dict[str, Any]:
    """Give the observations of each convention; where only means are known, there is but one."""
    found = {"rho_mean": ratings.mean_observations}
    return {"rho_individual": ratings.observations} | found if ratings.individual else found


def _pairs(
    benchmark: Benchmark, predictions: Mapping[str, Prediction], space: str, bootstrap: int, seed: int
) -> tuple[tuple[Score, ...], tuple[Difference, ...]]:
    """Score each method, and each two methods against each other."""
    names, ratings = list(predictions), benchmark.ratings
    values = np.stack([predictions[name].similarity for name in names])  # (methods, items)
    scored = ~np.isnan(values)
    some: BoolArray = np.logical_or.reduce(scored, axis=1)
    common = (np.isnan(values[some]).sum(axis=0) == 0) & some.any()  # (items,)
    on_common = np.where(common, values, np.nan)
    weights = resamples(len(benchmark), bootstrap, [seed, 1]) if bootstrap else np.zeros((0, len(benchmark)))
    figures: dict[str, dict[str, Any]] = {name: {} for name in names}
    differences: list[Difference] = []
    for convention, observed in _conventions(ratings).items():
        whole, samples = correlations(values, observed)[:, 0], correlations(values, observed, weights)
        shared = correlations(on_common, observed)[:, 0]
        linear = correlations(values, observed, ranked=False)[:, 0]
        for row, name in enumerate(names):
            figures[name] |= {
                convention: float(whole[row]), f"{convention}_interval": interval(samples[row]),
                f"{convention}_common": float(shared[row]) if some[row] else float("nan"),
                convention.replace("rho", "pearson"): float(linear[row]),
            }  # fmt: skip
        differences += each_two(convention, names, values, observed, weights, samples)
    rows = []
    for row, name in enumerate(names):
        made, mask = predictions[name], scored[row]
        figures[name] |= _separation(benchmark, values[row]) | _kendall(values[row], ratings)
        rows.append(Score(
            benchmark.name, name, space, len(benchmark), int(mask.sum()), common=int(common.sum()),
            backed_off=len(made.notes), warnings=made.warnings,
            **figures[name],
        ))  # fmt: skip
    return tuple(rows), tuple(differences)


def _kendall(values: FloatArray, ratings: Ratings) -> dict[str, float]:
    both = ~np.isnan(values) & ~np.isnan(ratings.means)
    if both.sum() < 2:
        return {}
    found = {"kendall_mean": kendall(values[both], ratings.means[both])}
    if ratings.individual:
        single = both[ratings.item]
        found["kendall_individual"] = kendall(values[ratings.item[single]], ratings.rating[single])
    return found


def _separation(benchmark: Benchmark, values: FloatArray) -> dict[str, float]:
    """Compare items that the designers expect to be high with those that they expect to be low."""
    labels = np.array([item.label for item in benchmark.items])
    high, low = (~np.isnan(values) & (labels == label) for label in ("high", "low"))
    if not high.any() or not low.any():
        return {}
    both = high | low
    return {
        "high": float(values[high].mean()),
        "low": float(values[low].mean()),
        "separation": area_under_curve(values[both], high[both]),
    }


def each_two(
    convention: str, names: Sequence[str], values: FloatArray, observed: Observations, weights: FloatArray,
    samples: FloatArray,
) -> list[Difference]:  # fmt: skip
    """Compare each two methods on the items that both score, corrected for there being many pairs.

    Parameters
    ----------
    convention, names
        By what they are scored, and what they are called.
    values
        What they predict, (methods, items), NaN for nothing.
    observed
        The ratings.
    weights, samples
        The resamples of items, (resamples, items), and the scores on them, (methods, resamples).

    """
    scored = ~np.isnan(values)
    # A method's score on all its items, and on those that it shares with others, each computed once.
    whole = correlations(values, observed)[:, 0]
    known = {(row, scored[row].tobytes()): (float(whole[row]), samples[row]) for row in range(len(names))}

    def on(both: BoolArray, row: int) -> tuple[float, FloatArray]:
        key = row, both.tobytes()
        if key not in known:
            shared = np.where(both, values[[row]], np.nan)
            known[key] = float(correlations(shared, observed)[0, 0]), correlations(shared, observed, weights)[0]
        return known[key]

    found: list[Difference] = []
    resampled: list[FloatArray] = []
    for first, second in combinations(range(len(names)), 2):
        both: BoolArray = np.logical_and(scored[first], scored[second])
        if both.sum() < 3:
            continue
        (mine, drawn), (theirs, others) = on(both, first), on(both, second)
        gaps = drawn - others
        p = two_sided(gaps) if len(gaps) else float("nan")
        found.append(Difference(
            names[first], names[second], convention, int(both.sum()), mine - theirs, interval(gaps), p, p
        ))  # fmt: skip
        resampled.append(gaps)
    return _corrected(found, resampled)


def _corrected(found: list[Difference], resampled: list[FloatArray]) -> list[Difference]:
    """Correct p for there being many pairs; it never becomes smaller."""
    if not found:
        return []
    together = step_down([each.difference for each in found], np.stack(resampled))
    return [replace(each, corrected=max(each.p, float(p))) for each, p in zip(found, together, strict=True)]


def shuffled(ratings: Ratings, seed: int = 0) -> dict[str, tuple[float, Interval]]:
    """Score shuffled predictions: by each convention the mean, and the interval in which chance alone moves."""
    random = np.random.default_rng([seed, 2])
    predictions = random.permuted(np.tile(np.arange(ratings.items, dtype=float), (SHUFFLES, 1)), axis=1)
    found = {}
    for convention, observed in _conventions(ratings).items():
        drawn = correlations(predictions, observed)[:, 0]
        found[convention] = float(np.nanmean(drawn)) if not np.isnan(drawn).all() else float("nan"), interval(drawn)
    return found


def _groups(benchmark: Benchmark, values: Mapping[str, FloatArray]) -> tuple[GroupScore, ...]:
    """Score each group of items by itself."""
    groups = np.array([item.group for item in benchmark.items])
    names, found = list(values), []
    table = np.stack([values[name] for name in names])
    for group in benchmark.groups if len(benchmark.groups) > 1 else ():
        mine = groups == group
        kept = np.where(mine, table, np.nan)
        rho = {c: correlations(kept, observed)[:, 0] for c, observed in _conventions(benchmark.ratings).items()}
        for row, name in enumerate(names):
            found.append(GroupScore(
                group, name, int((~np.isnan(kept[row])).sum()),
                float(rho["rho_individual"][row]) if "rho_individual" in rho else float("nan"),
                float(rho["rho_mean"][row]), _separation(benchmark, kept[row]).get("separation", float("nan")),
            ))  # fmt: skip
    return tuple(found)


# ------------------------------------------------------------ rankings


def _ranking(
    benchmark: Benchmark, predictions: Mapping[str, Prediction], space: str, bootstrap: int, seed: int
) -> tuple[tuple[Score, ...], dict[str, FloatArray], tuple[Difference, ...], tuple[GroupScore, ...]]:
    """Score how early the right descriptions of each term stand among all."""
    terms = benchmark.groups
    relevant = np.array([[item.group == term for item in benchmark.items] for term in terms])
    weights = resamples(len(terms), bootstrap, [seed, 1]) if bootstrap else np.zeros((0, len(terms)))
    values, rows, groups = {}, [], []
    for name, made in predictions.items():
        scored = ~np.isnan(made.similarity)
        precision = np.array([average_precision(*pair) for pair in zip(made.similarity, relevant, strict=True)])
        if not scored.any():
            precision[:] = np.nan
        values[name] = precision
        rows.append(Score(
            benchmark.name, name, space, len(benchmark), int(scored.any(axis=0).sum()),
            mean_average_precision=float(precision.mean()),
            mean_average_precision_interval=interval(weights @ precision / len(terms)),
            backed_off=len(made.notes), warnings=made.warnings,
        ))  # fmt: skip
        groups += [
            GroupScore(
                term, name, int(relevant[n].sum()), float("nan"), float("nan"), float("nan"), float(precision[n])
            )
            for n, term in enumerate(terms)
        ]
    differences, resampled = [], []
    for first, second in combinations(values, 2):
        gaps = values[first] - values[second]
        drawn = weights @ gaps / len(terms)
        p = two_sided(drawn) if len(drawn) else float("nan")
        differences.append(Difference(
            first, second, "mean_average_precision", len(terms), float(gaps.mean()), interval(drawn), p, p
        ))  # fmt: skip
        resampled.append(drawn)
    return tuple(rows), values, tuple(_corrected(differences, resampled)), tuple(groups)
