"""Stages and their receipts: what has been made is not made again.

A stage makes one folder out of parameters and the folders of earlier stages. Its fingerprint is made of its version,
its parameters and the fingerprints of its inputs, so it is known before anything runs, and a change of one value
changes exactly the stages that it bears on. The folder is named after the fingerprint; beside it a receipt is written
when the stage is done, and only then.

>>> import tempfile
>>> def write(path, task):
...     with open_writer(path, "note") as writer:
...         writer.commit({"says": task.stage.parameters["says"]})
>>> with tempfile.TemporaryDirectory() as folder:
...     cache = Cache(Path(folder))
...     hello = Stage("note", "note", 1, {"says": "hello"}, make=write)
...     [cache.run(hello).reused, cache.run(hello).reused]
[False, True]
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from composita.experiment.measure import Meter
from composita.store.engine import HERE, Engine
from composita.store.errors import CompositaError, NotFoundError
from composita.store.folder import Folder, fingerprint, open_writer, write_file
from composita.store.progress import Cancellation, ProgressCallback, check, silent
from composita.store.strict_json import dump_json, parse_json

logger = logging.getLogger("composita")

__all__ = ["Cache", "Receipt", "Stage", "Work", "open_writer"]


@dataclass(frozen=True)
class Stage:
    """One step of an experiment.

    Parameters
    ----------
    id
        Its name within the experiment, such as ``space-svd``; plain, for it begins the folder's name.
    kind
        The kind of folder it makes.
    version
        Raised by hand when what is made of the same inputs changes.
    parameters
        All that bears on the result beside the inputs; what JSON can say.
    inputs
        The stages whose folders are read.
    make
        Writes the folder.
    given
        Where the folder is, if it was made before and elsewhere.
    resumes
        Whether what a killed ``make`` left is taken up by the next.

    """

    id: str
    kind: str
    version: int
    parameters: Mapping[str, Any]
    inputs: tuple[Stage, ...] = ()
    make: Callable[[Path, Work], None] | None = field(default=None, compare=False, repr=False)
    given: Path | None = field(default=None, compare=False)
    resumes: bool = False

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that bears on the result."""
        return fingerprint(self.kind, self.version, dict(self.parameters), [s.fingerprint for s in self.inputs])

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.id}-{self.fingerprint[:12]}"

    def with_inputs(self) -> Iterator[Stage]:
        """Give all stages that this one needs, and itself last."""
        for stage in self.inputs:
            yield from stage.with_inputs()
        yield self


@dataclass(frozen=True)
class Receipt:
    """What is known of a stage that is done."""

    stage: Stage
    path: Path
    seconds: float
    peak_bytes: int
    reused: bool


@dataclass(frozen=True)
class Work:
    """What a stage has at hand: itself, where its inputs lie, and how to work."""

    stage: Stage
    paths: tuple[Path, ...]
    engine: Engine = HERE
    memory: int | str = "4G"
    progress: ProgressCallback = silent
    cancel: Cancellation | None = None


@dataclass(frozen=True)
class Cache:
    """A folder of stages."""

    folder: Path
    engine: Engine = HERE
    memory: int | str = "4G"
    progress: ProgressCallback = silent
    cancel: Cancellation | None = None

    def path(self, stage: Stage) -> Path:
        """Give the folder of a stage, whether it exists or not."""
        return stage.given if stage.given is not None else self.folder / stage.name

    def find(self, stage: Stage) -> Receipt | None:
        """Give the receipt of a stage that is done and whole."""
        path = self.path(stage)
        if stage.given is not None:
            Folder.open(path, stage.kind, None)
            return Receipt(stage, path, 0.0, 0, reused=True)
        try:
            said = parse_json(self._receipt_path(stage).read_bytes())
            if said["fingerprint"] != stage.fingerprint:
                return None
            Folder.open(path, stage.kind, None)
            return Receipt(stage, path, float(said["seconds"]), int(said["peak_bytes"]), reused=True)
        except (OSError, ValueError, KeyError, TypeError, CompositaError):
            return None

    def run(self, stage: Stage) -> Receipt:
        """Give the receipt of a stage, after making its folder if need be; its inputs must be there."""
        check(self.cancel)
        if found := self.find(stage):
            return found
        path = self.path(stage)
        if stage.make is None:
            raise NotFoundError(f"{path}: expected a folder of kind {stage.kind!r}, found nothing")
        if not stage.resumes and path.exists():
            shutil.rmtree(path)
        self.folder.mkdir(parents=True, exist_ok=True)
        paths = tuple(self.path(needed) for needed in stage.inputs)
        work = Work(stage, paths, self.engine, self.memory, self.progress, self.cancel)
        with Meter() as meter:
            stage.make(path, work)
        Folder.open(path, stage.kind, None)
        receipt = Receipt(stage, path, meter.seconds, meter.peak_bytes, reused=False)
        self._write(receipt)
        return receipt

    def _receipt_path(self, stage: Stage) -> Path:
        return self.folder / f"{stage.name}.json"

    def _write(self, receipt: Receipt) -> None:
        stage = receipt.stage
        said = {
            "stage": stage.kind, "version": stage.version, "fingerprint": stage.fingerprint,
            "parameters": dict(stage.parameters), "seconds": round(receipt.seconds, 3),
            "peak_bytes": receipt.peak_bytes,
        }  # fmt: skip
        with write_file(self._receipt_path(stage)) as new:
            new.path.write_bytes(dump_json(said))


def tidy(folder: Path, keep: Collection[str]) -> list[str]:
    """Remove the folders and receipts of all stages but those named, and give the names of what is gone."""
    gone = []
    for receipt in sorted(folder.glob("*.json")):
        if receipt.stem not in keep and _is_receipt(receipt):
            receipt.unlink()
            with suppress(OSError):
                shutil.rmtree(folder / receipt.stem)
            gone.append(receipt.stem)
    return gone


def _is_receipt(path: Path) -> bool:
    try:
        said = parse_json(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(said, dict) and {"stage", "fingerprint", "version"} <= said.keys()
