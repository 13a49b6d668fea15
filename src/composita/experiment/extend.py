"""Adding text to a run that is finished: what it has is kept, and only what is new, or changed by it, is made.

The words of the run, its weights and its dimensions stay as they are; otherwise every number would change with every
sentence. New text is encoded and counted by itself, and the counts are added up. Phrases that it attests are given new
vectors, and functions that have such a phrase among their examples are learned again. The result is a run of its own,
which can be extended in its turn.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from composita.experiment.cache import Cache, Stage, Work
from composita.experiment.config import CorpusPart, Experiment, LearnPart, SpacePart
from composita.experiment.run import STAGES, Run, carry_out
from composita.experiment.stages import EXTENDS, VERSIONS, Plan, Planner, learn_stage
from composita.store.engine import HERE, Engine
from composita.store.errors import UsageError
from composita.store.progress import Cancellation, ProgressCallback, silent

if TYPE_CHECKING:
    from composita.corpus.corpus import Corpus

EARLIER = "earlier_corpora"
"""The key of ``meta.json`` that names the corpora whose counts a run took over, in the order in which they came."""


def extend(
    run: Run,
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    folder: str | Path | None = None,
    engine: Engine = HERE,
    memory: int | str = "4G",
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Run:
    """Add text to a finished run, and give the run that results.

    Parameters
    ----------
    run
        The finished run; it is not changed, and must stay where it is as long as the new one is made.
    sources
        Files of the new text, in the format and with the labels of the run's text.
    out
        The folder of the new run.
    folder
        What paths in the experiment of the run are relative to; by default the folder that the run lies in.
    engine, memory, progress, cancel
        As in `composita.experiment.run.run`.

    """
    if run.meta["corpus"] is None or not any(stage["stage"] == "vocabulary" for stage in run.meta["stages"]):
        raise UsageError(f"{run.path} was made of counts from elsewhere: add to those, and run the experiment again")
    before = (*map(run.place, run.meta.get(EARLIER, ())), run.place(run.meta["corpus"]))
    least = run.configuration["count"]["min_frequency"]
    if least > 1:
        raise UsageError(
            f"{run.path} left out phrases that occur less than {least} times, and so cannot be added to: run the "
            "experiment again with all of the text, or with min_frequency = 1"
        )
    place = run.path.absolute().parent if folder is None else Path(folder).absolute()
    experiment = Experiment.from_table(run.configuration, name=run.name, folder=place)
    texts = tuple(str(Path(source).absolute()) for source in sources)
    experiment = replace(experiment, corpus=replace(experiment.corpus, sources=texts, path=None, tokens=None))
    kept = Path(out) / STAGES

    def plan() -> Plan:
        return _Extender(experiment, kept, progress, cancel, run, before).plan()

    said = {EXTENDS: str(run.path.absolute()), EARLIER: [str(path.absolute()) for path in before]}
    return carry_out(plan, Path(out), Cache(kept, engine, memory, progress, cancel), said)


@dataclass(frozen=True)
class _Extender(Planner):
    """Plans stages that add to those of a run."""

    run: Run
    before: tuple[Path, ...]

    def stage_of(self, name: str) -> tuple[Path, str]:
        """Give the folder and the fingerprint of a stage of the run."""
        for stage in self.run.meta["stages"]:
            if stage["id"] == name:
                return self.run.place(stage["path"]), str(stage["fingerprint"])
        raise UsageError(f"{self.run.path} has no stage {name!r}: run the experiment again")

    def extending(self, stage: Stage, make: Callable[[Path, Path, Work], None]) -> Stage:
        """Let a stage add to the one that the run has by the same name."""
        path, mark = self.stage_of(stage.id)
        return replace(stage, parameters={**stage.parameters, EXTENDS: mark}, make=partial(make, path))

    def corpus(self, part: CorpusPart) -> Stage | None:
        """Plan the new text, which must not be there already."""
        stage = super().corpus(part)
        assert stage is not None
        assert stage.make is not None
        return replace(stage, make=partial(_encode_new, stage.make, self.before))

    def vocabulary(self, corpus: Stage | None) -> Stage:
        """Take the words of the run."""
        path, mark = self.stage_of("vocabulary")
        return Stage("vocabulary", "vocabulary", VERSIONS["vocabulary"], {"fingerprint": mark}, given=path)

    def counts(self, corpus: Stage | None, vocabulary: Stage | None) -> Stage:
        """Plan the sum of the counts."""
        stage = super().counts(corpus, vocabulary)
        assert stage.make is not None
        return replace(self.extending(stage, partial(_add_counts, stage.make)), resumes=False)

    def space(self, part: SpacePart, counts: Stage) -> Stage:
        """Plan a space with the phrases of the new text."""
        return self.extending(super().space(part, counts), _extend_space)

    def lexicon(self, space: SpacePart, part: LearnPart, made: Stage) -> Stage:
        """Plan a lexicon in which only what has changed is learned."""
        return self.extending(super().lexicon(space, part, made), _learn_since)


# ---------------------------------------------------------------- making


def _encode_new(make: Callable[[Path, Work], None], before: Sequence[Path], out: Path, work: Work) -> None:
    from composita.corpus.corpus import Corpus

    make(out, work)
    known = {text for path in before for text in _texts(Corpus.open(path))}
    for text, source in _texts(Corpus.open(out)).items():
        if text in known:
            raise UsageError(f"a part of {source} is in the run already: name only text that is new")


def _texts(corpus: Corpus) -> dict[str, str]:
    """Give the checksum of each segment of text with its source."""
    return {part["sha256"]: part["source"] for shard in corpus.meta["shards"] for part in shard["segments"]}


def _add_counts(make: Callable[[Path, Work], None], before: Path, out: Path, work: Work) -> None:
    """Count the new text, and add up."""
    from composita.counting.counts import Counts

    with tempfile.TemporaryDirectory(prefix="new-", dir=out.parent) as folder:
        new = Path(folder, "counts")
        make(new, work)
        (Counts.open(before) + Counts.open(new)).save(out)


def _extend_space(before: Path, out: Path, work: Work) -> None:
    from composita.counting.counts import Counts
    from composita.spaces.extending import extend_space
    from composita.spaces.space import Space

    extend_space(
        Space.open(before), Counts.open(work.paths[0]), out=out, engine=work.engine, progress=work.progress,
        cancel=work.cancel,
    )  # fmt: skip


def _learn_since(before: Path, out: Path, work: Work) -> None:
    learn_stage(out, work, since=before)
