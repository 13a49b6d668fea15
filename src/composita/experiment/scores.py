"""Scores of methods on one benchmark upon one lexicon or space: made, written to a folder of kind ``scores``, read."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.experiment.cache import Work
from composita.experiment.differences import Rated
from composita.experiment.results import Reference, Row
from composita.store.errors import UsageError
from composita.store.folder import Folder, open_writer
from composita.store.strict_json import dump_json, parse_json
from composita.store.tables import read_table, write_table

if TYPE_CHECKING:
    from composita.evaluation.benchmarks import Benchmark
    from composita.evaluation.scoring import Scores
    from composita.functions.lexicon import Lexicon

logger = logging.getLogger("composita")

KIND, VERSION = "scores", 1
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scored:
    """The scores of some methods in one space, with what they predicted and what people said."""

    space: str
    rows: tuple[Row, ...]
    reference: Reference
    names: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]  # the two phrases of each item; empty texts where it is not a pair
    groups: tuple[str, ...]
    means: FloatArray  # (items,)
    similarities: dict[str, FloatArray]  # by method, (items,), NaN for what it could not
    rating_items: npt.NDArray[np.int64]
    rating_values: FloatArray
    remarks: tuple[dict[str, Any], ...] = ()

    def predicted(self, method: str) -> FloatArray:
        """Give what a method predicted, (items,); NaN for what it could not."""
        return self.similarities[method]

    def rated(self) -> Rated:
        """Give the ratings."""
        return Rated.of(
            self.reference.benchmark, self.rating_items.tolist(), self.rating_values.tolist(), len(self.names)
        )  # fmt: skip

    def main_reasons(self) -> dict[tuple[str, str, str], str]:
        """Give, for each method that could not score all items, why it most often could not."""
        return {
            (self.reference.benchmark, remark["method"], self.space): max(remark["reasons"], key=remark["reasons"].get)
            for remark in self.remarks
            if remark["reasons"]
        }

    def renamed(self, name: Callable[[str], str]) -> Scored:
        """Give other names to the methods."""
        rows = tuple(replace(row, method=name(row.method)) for row in self.rows)
        remarks = tuple({**remark, "method": name(remark["method"])} for remark in self.remarks)
        similarities = {name(key): value for key, value in self.similarities.items()}
        return replace(self, rows=rows, similarities=similarities, remarks=remarks)


# ---------------------------------------------------------------- scoring


def score(benchmark: Benchmark, out: Path, work: Work) -> None:
    """Score methods on a benchmark, and write what comes of it."""
    from composita.composition.methods import method_named
    from composita.evaluation.scoring import evaluate

    said = work.stage.parameters
    # What a method is called in the experiment, where that is an alias, such as categorical.
    called = {method_named(name).name: name for name in said["methods"]}
    found = evaluate(
        open_lexicon(work.paths[0]), benchmark, list(called), bootstrap=said["bootstrap"], seed=said["seed"],
        back_off=said["back_off"], spelling=said["spelling"], progress=work.progress, cancel=work.cancel,
    )  # fmt: skip
    for word, other in found.exchanged.items():
        logger.info("%s is not in the corpus: %s is taken", word, other)
    write_scored(scored_of(found, called), out, said)


def scored_of(found: Scores, called: Mapping[str, str]) -> Scored:
    """Take over what an evaluation found."""
    benchmark, ratings = found.benchmark, found.benchmark.ratings
    pairs = benchmark.kind == "pairs"
    names = [item.name for item in benchmark.items] if pairs else list(benchmark.groups)
    remarks = tuple(
        {"method": called[row.method], "backed_off": row.backed_off, "warnings": list(row.warnings),
         "reasons": dict(Counter(found.reasons[row.method].values()).most_common(20))}
        for row in found.rows
    )  # fmt: skip
    return Scored(
        "",
        tuple(Row.from_json({**row.to_json(), "method": called[row.method]}) for row in found.rows),
        Reference.from_json(found.reference()),
        tuple(names),
        tuple((str(item.left), str(item.right)) for item in benchmark.items) if pairs else (("", ""),) * len(names),
        tuple(item.group for item in benchmark.items) if pairs else ("",) * len(names),
        ratings.means if pairs else np.full(len(names), np.nan),
        {called[method]: np.asarray(values, np.float64) for method, values in found.predictions.items()},
        ratings.item, ratings.rating, remarks,
    )  # fmt: skip


def open_lexicon(path: Path) -> Lexicon:
    """Open a lexicon, or a space as a lexicon without functions."""
    from composita.functions.lexicon import Lexicon
    from composita.spaces.space import Space

    kind = Folder.open(path, version=None).meta["kind"]
    return Lexicon.from_space(Space.open(path)) if kind == "space" else Lexicon.open(path)


# ---------------------------------------------------------------- on disk


def write_scored(scored: Scored, out: Path, parameters: Any) -> None:  # noqa: ANN401 - what JSON can say
    """Write scores to a folder."""
    with open_writer(out, KIND, VERSION) as writer:
        with writer.new_file("items.parquet") as new:
            write_table(new.path, {
                "name": list(scored.names), "left": [left for left, _ in scored.pairs],
                "right": [right for _, right in scored.pairs], "group": list(scored.groups), "rating": scored.means,
            })  # fmt: skip
        with writer.new_file("ratings.parquet") as new:
            write_table(new.path, {"item": scored.rating_items, "rating": scored.rating_values})
        with writer.new_file("predictions.parquet") as new:
            write_table(new.path, dict(scored.similarities))
        with writer.new_file("rows.json") as new:
            new.path.write_bytes(dump_json({
                "rows": [row.to_json() for row in scored.rows], "reference": scored.reference.to_json(),
                "remarks": list(scored.remarks),
            }))  # fmt: skip
        writer.commit({"parameters": dict(parameters)})
        writer.sweep()


def read_scored(path: Path, space: str) -> Scored:
    """Read scores, under the name that their space has now."""
    folder = Folder.open(path, KIND, VERSION)
    said = parse_json(folder.file("rows.json").read_bytes())
    items = read_table(folder.file("items.parquet"), ["name", "left", "right", "group", "rating"])
    ratings = read_table(folder.file("ratings.parquet"), ["item", "rating"])
    predictions = read_table(folder.file("predictions.parquet"))
    return Scored(
        space,
        tuple(replace(Row.from_json(row), space=space) for row in said["rows"]),
        Reference.from_json(said["reference"]),
        tuple(items.column("name").to_pylist()),
        tuple(zip(items.column("left").to_pylist(), items.column("right").to_pylist(), strict=True)),
        tuple(items.column("group").to_pylist()),
        _numbers(items.column("rating")),
        {name: _numbers(predictions.column(name)) for name in predictions.column_names},
        np.asarray(ratings.column("item").to_numpy(), np.int64), _numbers(ratings.column("rating")),
        tuple(said["remarks"]),
    )  # fmt: skip


def _numbers(column: Any) -> FloatArray:  # noqa: ANN401 - a column of pyarrow
    return np.asarray(column.to_numpy(), np.float64)


# ---------------------------------------------------------------- word order


def turn_round(out: Path, work: Work) -> None:
    """Compose attested sentences and their twins with exchanged arguments; write which methods tell them apart."""
    from composita.composition.methods import method_named
    from composita.composition.order import attested_sentences, word_order
    from composita.functions.lexicon import Lexicon

    said, lexicon = work.stage.parameters, Lexicon.open(work.paths[0])
    try:
        sentences = attested_sentences(lexicon, count=said["sentences"])
    except UsageError:  # no verb with subject and object was counted
        sentences = []
    rows: list[dict[str, Any]] = []
    if sentences:
        methods = {name: method_named(name) for name in said["methods"]}
        usable = {name: method for name, method in methods.items() if not method.impossible(lexicon)}
        found = word_order(
            lexicon, sentences, list(usable.values()), seed=said["seed"], progress=work.progress, cancel=work.cancel
        )
        for name, row in zip(usable, found.rows, strict=True):
            rows.append({
                "method": name, "sentences": row.sentences, "composed": row.composed, "gap": row.gap,
                "compared": row.compared, "right": row.right,
                "interval": None if row.interval is None else list(row.interval), "note": row.note,
            })  # fmt: skip
    with open_writer(out, "order", 1) as writer:
        with writer.new_file("rows.json") as new:
            new.path.write_bytes(dump_json({"rows": rows, "example": [s.display() for s in sentences[:1]]}))
        writer.commit({"parameters": dict(said)})
        writer.sweep()


def read_order(path: Path) -> list[dict[str, Any]]:
    """Read which methods tell sentences from their twins."""
    found: list[dict[str, Any]] = parse_json(Folder.open(path, "order", 1).file("rows.json").read_bytes())["rows"]
    return found
