"""Running an experiment: all its stages into one folder, what is there already reused, and the result read back.

A run can be stopped at any moment, and the same call goes on where it was. Two runs of the same experiment give the
same results to the byte.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from composita.experiment.cache import Cache, Receipt
from composita.experiment.config import Experiment
from composita.experiment.results import Results
from composita.experiment.stages import Plan, make_plan
from composita.experiment.table import Table, score_tables, write_tables
from composita.store.engine import HERE, Engine
from composita.store.errors import CorruptError, NotFoundError, StoreError, UsageError
from composita.store.folder import LOCK, META, Folder, FolderWriter, fingerprint, open_writer
from composita.store.lock import hold_lock
from composita.store.progress import Cancellation, ProgressCallback, check, silent
from composita.store.strict_json import parse_json

if TYPE_CHECKING:
    import pyarrow as pa

    from composita.corpus.corpus import Corpus
    from composita.counting.counts import Counts
    from composita.functions.lexicon import Lexicon
    from composita.spaces.space import Space

KIND, VERSION = "run", 1
STAGES = "stages"
REPORT = 2
"""The version of the report, raised by hand when it shows something else of the same results."""

logger = logging.getLogger("composita")


@dataclass(frozen=True)
class Run:
    """What an experiment made: scores, and the way to everything that they were made of."""

    folder: Folder

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Open the folder of a run that was finished."""
        folder = Folder.open(path, KIND, VERSION)
        if folder.meta.get("unfinished"):
            raise NotFoundError(f"{path}: the run is not finished; run the experiment again, it goes on where it was")
        for key in ("name", "experiment", "stages", "lexicons", "spaces"):
            if key not in folder.meta:
                raise CorruptError(f"{path}: expected {key} in meta.json, found none; run the experiment again")
        return cls(folder)

    @property
    def path(self) -> Path:
        """The folder."""
        return self.folder.path

    @property
    def meta(self) -> dict[str, Any]:
        """What ``meta.json`` says."""
        return self.folder.meta

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return str(self.meta["name"])

    @property
    def configuration(self) -> dict[str, Any]:
        """Every value of the experiment, resolved."""
        found: dict[str, Any] = self.meta["experiment"]
        return found

    def json(self, name: str) -> Any:  # noqa: ANN401 - JSON is any of its types
        """Read one of the run's JSON files."""
        try:
            return parse_json(self.folder.file(name).read_bytes())
        except (OSError, ValueError) as error:
            raise CorruptError(f"{self.path / name}: not as it was written: {error}") from None

    @cached_property
    def results(self) -> Results:
        """The scores, and what people and oracles reach."""
        return Results.from_json(self.json("results.json"), self.json("humans.json"))

    @cached_property
    def timings(self) -> list[dict[str, Any]]:
        """What each stage took."""
        found: list[dict[str, Any]] = self.json("timings.json")
        return found

    @cached_property
    def word_order(self) -> list[dict[str, Any]]:
        """Which methods tell attested sentences from what they are with their arguments exchanged."""
        found: list[dict[str, Any]] = self.json("order.json")
        return found

    @cached_property
    def predictions(self) -> pa.Table:
        """What each method predicted for each item."""
        from composita.store.tables import read_table

        return read_table(self.folder.file("predictions.parquet"))

    @property
    def report(self) -> Path:
        """The page to read."""
        return self.folder.file("report.html")

    def tables(self, *, intervals: bool = True) -> list[Table]:
        """Give the tables of the paper."""
        return score_tables(self.results, intervals=intervals)

    def __str__(self) -> str:
        return write_tables(self.tables()).rstrip()

    def __repr__(self) -> str:
        benchmarks = ", ".join(self.results.benchmarks) or "no benchmark"
        return f"Run({self.name}: {benchmarks}; spaces {', '.join(self.meta['spaces'])})"

    # ------------------------------------------------------------ what it was made of

    def place(self, text: str) -> Path:
        """Give a folder that ``meta.json`` names."""
        return self.folder.other(text)

    @cached_property
    def corpus(self) -> Corpus | None:
        """The encoded corpus, if the run had one."""
        from composita.corpus.corpus import Corpus

        return None if self.meta["corpus"] is None else Corpus.open(self.place(self.meta["corpus"]))

    @cached_property
    def counts(self) -> Counts:
        """The counts."""
        from composita.counting.counts import Counts

        return Counts.open(self.place(self.meta["counts"]))

    def space(self, name: str) -> Space:
        """Give one of the spaces."""
        from composita.spaces.space import Space

        if name not in self.meta["spaces"]:
            raise UsageError(f"{self.path} has no space {name!r}: choose {', '.join(self.meta['spaces'])}")
        return Space.open(self.place(self.meta["spaces"][name]))

    def lexicon(self, space: str | None = None, learner: str | None = None) -> Lexicon:
        """Give a lexicon: the first, or that of a space, or of a learner."""
        from composita.functions.lexicon import Lexicon

        known = [one for one in self.meta["lexicons"]
                 if space in (None, one["space"]) and learner in (None, one["learner"])]  # fmt: skip
        if not known:
            names = ", ".join(f"{one['space']} {one['learner']}" for one in self.meta["lexicons"])
            raise UsageError(f"{self.path} has no lexicon {space or ''} {learner or ''}: choose {names or 'a space'}")
        return Lexicon.open(self.place(known[0]["path"]))


# ---------------------------------------------------------------- running


def run(
    experiment: Experiment,
    out: str | Path,
    *,
    engine: Engine = HERE,
    memory: int | str = "4G",
    stages: str | Path | None = None,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Run:
    """Run what has not been done yet, and give the result.

    Parameters
    ----------
    experiment
        What is to be done; one without ``[sweep]``, for which there is `composita.experiment.sweep.run_sweep`.
    out
        The folder of the run.
    engine, memory
        Where the work is done, and how much memory counting may take.
    stages
        Where the stages are kept; by default in the folder of the run.
    progress, cancel
        See `composita.store.progress`.

    """
    if experiment.sweep:
        raise UsageError("the experiment is a sweep: use run_sweep of composita.experiment.sweep, or `composita run`")
    kept = Path(out) / STAGES if stages is None else Path(stages)
    cache = Cache(kept, engine, memory, progress, cancel)
    return carry_out(partial(make_plan, experiment, kept, progress=progress, cancel=cancel), Path(out), cache)


def carry_out(make: Callable[[], Plan], out: Path, cache: Cache, more: Mapping[str, Any] = MappingProxyType({})) -> Run:
    """Make a plan and run it into a folder, which then says also what is in ``more``."""
    progress, cancel = cache.progress, cache.cancel
    check(cancel)
    _mend(out)
    with open_writer(out, KIND, VERSION, cancel=cancel) as writer:
        plan = make()
        receipts = run_stages(plan, cache)
        experiment = plan.experiment
        mark = fingerprint("run", REPORT, _marked(experiment), [stage.fingerprint for stage in plan.stages])
        if writer.meta is None or writer.meta.get("fingerprint") != mark or writer.meta.get("unfinished"):
            from composita.experiment.telling import tell

            files = tell(plan, receipts, progress=progress, cancel=cancel)
            write_run(writer, files, {**describe(plan, receipts, out), **more, "fingerprint": mark})
    return Run.open(out)


def _mend(out: Path) -> None:
    """Take a run that lost files, or has others in their places, as unfinished: its stages make them again."""
    try:
        Folder.open(out, None, None)
    except CorruptError as error:
        with suppress(OSError, ValueError):
            if parse_json((out / META).read_bytes()).get("kind") == KIND:
                logger.info("%s; the report is made again", error)
                with hold_lock(out / LOCK):
                    (out / META).unlink()
    except StoreError:
        pass


def _marked(experiment: Experiment) -> dict[str, Any]:
    """Give what bears on results and report: all values but paths, for which contents stand in the stages."""
    said = experiment.to_table()
    said["corpus"] = {key: v for key, v in said["corpus"].items() if key not in ("sources", "path")}
    said["count"] = {key: v for key, v in said["count"].items() if key != "path"}
    said["evaluate"] = {key: v for key, v in said["evaluate"].items() if key != "benchmarks"}
    return said


def run_stages(plan: Plan, cache: Cache) -> dict[str, Receipt]:
    """Run the stages of a plan in order, saying of each whether it was reused."""
    found = {}
    for stage in plan.stages:
        known = cache.find(stage)
        if known is None:
            logger.info("%-34s ...", stage.id)
        receipt = known or cache.run(stage)
        found[stage.id] = receipt
        if stage.given is not None:
            logger.info("%-34s given: %s", stage.id, stage.given)
        elif receipt.reused:
            logger.info("%-34s reused", stage.id)
        else:
            logger.info("%-34s %.1f s, %.0f MB", stage.id, receipt.seconds, receipt.peak_bytes / 1e6)
    return found


def describe(plan: Plan, receipts: Mapping[str, Receipt], out: Path) -> dict[str, Any]:
    """Give what ``meta.json`` says of a run."""

    def place(stage_id: str) -> str:
        receipt = receipts[stage_id]
        given = receipt.stage.given is not None
        return receipt.path.absolute().as_posix() if given else relative_to(receipt.path, out)

    lexicons = [
        {"name": f"{space} {learner}", "space": space, "learner": learner, "path": place(stage.id)}
        for (space, learner), stage in plan.lexicons.items()
    ]
    experiment = plan.experiment
    return {
        "name": experiment.name,
        "experiment": experiment.to_table(),
        "stages": [
            {"id": stage.id, "stage": stage.kind, "path": place(stage.id), "fingerprint": stage.fingerprint,
             "inputs": [needed.id for needed in stage.inputs]}
            for stage in plan.stages
        ],
        "corpus": None if plan.corpus is None else place(plan.corpus.id),
        "counts": place(plan.counts.id),
        "spaces": {name: place(stage.id) for name, stage in plan.spaces.items()},
        "lexicons": lexicons,
        "lexicon": lexicons[0]["path"] if lexicons else None,
        "grammar": _grammar(experiment),
        "unfinished": False,
    }  # fmt: skip


def _grammar(experiment: Experiment) -> str:
    path = Path(experiment.folder, experiment.grammar)
    return str(path.absolute()) if path.is_file() else experiment.grammar


Writer = Callable[[Path], Any]


def write_run(writer: FolderWriter, files: Mapping[str, bytes | Writer], meta: Mapping[str, Any]) -> None:
    """Make files, given as bytes or as what writes them, the whole of a run, under names that never change.

    A file that is committed is never overwritten, so the run is first said to be unfinished, with no files.
    """
    if writer.meta is not None:
        writer.commit({**meta, "fingerprint": "", "unfinished": True}, keep=())
    for name, content in files.items():
        with writer.new_file(name) as new:
            if isinstance(content, bytes):
                new.path.write_bytes(content)
            else:
                content(new.path)
    writer.commit(meta, keep=())
    writer.sweep()


def relative_to(path: Path, folder: Path) -> str:
    """Write a path as it is seen from a folder; one that lies neither there nor beside it, as it is."""
    seen = Path(os.path.relpath(path.absolute(), folder.absolute()))
    return (path.absolute() if seen.parts.count(os.pardir) > 1 else seen).as_posix()


def tidy_stages(made: Run) -> list[str]:
    """Remove what stages made for earlier configurations of a run, and give the names of what is gone."""
    from composita.experiment.cache import tidy

    keep = {Path(stage["path"]).name for stage in made.meta["stages"]}
    with open_writer(made.path, KIND, VERSION):
        return tidy(made.path / STAGES, keep)
