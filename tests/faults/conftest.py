"""A folder with every artefact, made once, and a nursery of processes that can be ended in any way."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.stages import STAGES, content, make_inputs, smaller_steps

PATIENCE = 120  # seconds


@dataclass
class Child:
    """A process that does one stage."""

    nursery: "Nursery"
    number: int
    report: Path

    def kill(self, after):
        """End it after some seconds, whatever it is doing."""
        time.sleep(after)
        os.kill(self.number, signal.SIGKILL)  # even if it is done already, nobody has waited for it
        return self.nursery.ask(wait=self.number)["status"]

    def end(self):
        """Wait for it; give the name of the error that it met, and its message."""
        status = self.nursery.ask(wait=self.number)["status"]
        if not self.report.exists():
            return f"exit {status}", ""
        said = json.loads(self.report.read_text())
        return said["error"], said["message"]


class Nursery:
    """The process whose children do the stages."""

    def __init__(self, inputs, folder):
        self.inputs, self.folder, self.count = inputs, folder, 0
        self.log = (folder / "log").open("w")
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.faults.stages"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
            cwd=Path(__file__).parents[2], env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        self.process.stdout.readline()

    def ask(self, **asked):
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def start(self, stage, out, **circumstances):
        self.count += 1
        report = self.folder / f"report-{self.count}.json"
        asked = {"stage": stage, "inputs": str(self.inputs), "out": str(out), "report": str(report), **circumstances}
        return Child(self, self.ask(**asked)["child"], report)

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.log.close()


@pytest.fixture(scope="session")
def artefacts(tmp_path_factory):
    """Every stage done once, undisturbed, in a folder by its name."""
    folder = tmp_path_factory.mktemp("artefacts")
    with pytest.MonkeyPatch.context() as patch:
        smaller_steps(patch.setattr)
        make_inputs(folder)
    return folder


@pytest.fixture(scope="session")
def expected(artefacts):
    return {stage: content(artefacts / stage) for stage in STAGES}


@pytest.fixture(scope="session")
def nursery(artefacts, tmp_path_factory):
    made = Nursery(artefacts, tmp_path_factory.mktemp("nursery"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def seconds(nursery, tmp_path_factory):
    """How long each stage takes a child."""
    found = {}
    for stage in STAGES:
        out = tmp_path_factory.mktemp("undisturbed") / stage
        begin = time.perf_counter()
        error, message = nursery.start(stage, out).end()
        found[stage] = time.perf_counter() - begin
        assert not error, message
    return found
