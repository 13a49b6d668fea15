"""Full disks, read-only places, damaged files, short memory, two runs at once, clocks that jump, Ctrl-C."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

from composita.corpus.corpus import Corpus
from composita.counting.counts import Counts
from composita.counting.vocabulary import Vocabulary
from composita.experiment.run import Run
from composita.functions.lexicon import Lexicon
from composita.spaces.space import Space
from composita.store.errors import CompositaError, CorruptError
from composita.store.folder import Folder
from tests.faults.stages import STAGES, content

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs fork and /proc")
OPEN = {
    "encode": Corpus.open, "choose": Vocabulary.open, "count": Counts.open, "space": Space.open, "learn": Lexicon.open,
    "run": Run.open,
}  # fmt: skip


def again(nursery, stage, out, expected):
    """Run undisturbed where a run came to grief, and compare."""
    error, message = nursery.start(stage, out).end()
    assert not error, message
    assert content(out) == expected[stage]


# ---------------------------------------------------------------- places


@pytest.mark.parametrize("room", [60, 1500])
@pytest.mark.parametrize("stage", STAGES)
def test_no_room(stage, room, nursery, expected, tmp_path):
    """A limit on the size of files stands for a full disk: the error is ours, and nothing half done stays behind."""
    out = tmp_path / "out"
    error, message = nursery.start(stage, out, room=room).end()
    assert error == "StoreError", (error, message)
    assert "no room for" in message
    assert not list(out.rglob("*.partial"))
    again(nursery, stage, out, expected)


@contextmanager
def read_only(folder):
    """Make a folder that nobody can write to, not even root."""
    folder.mkdir()
    if os.geteuid():
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)
        return
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "none", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("root may write everywhere, and cannot mount here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("stage", STAGES)
def test_read_only(stage, nursery, tmp_path):
    with read_only(tmp_path / "fixed") as folder:
        error, message = nursery.start(stage, folder / "out").end()
        assert error == "StoreError", message
        assert str(folder) in message
        assert "ead-only" in message or "ermission" in message


# ---------------------------------------------------------------- two at once


@pytest.mark.parametrize("stage", STAGES)
def test_two_runs_in_one_folder(stage, nursery, expected, tmp_path):
    """One does the work; the other waits for it, or says who has the folder."""
    out, signal_ = tmp_path / "out", tmp_path / "now"
    children = [nursery.start(stage, out, at_once=str(signal_)) for _ in range(2)]
    time.sleep(0.05)
    signal_.touch()
    ends = [child.end() for child in children]
    assert [error for error, _ in ends if error] in ([], ["LockedError"]), ends
    assert content(out) == expected[stage]


# ---------------------------------------------------------------- damage


def damaged(path, out):
    """Make copies of a folder, each with one file damaged; give the copy, the file and what was done."""
    for number, name in enumerate(sorted(Folder.open(path, version=None).files)):
        for what in ("cut", "flipped", "missing"):
            copy = out / f"{number}-{what}"
            shutil.copytree(path, copy)
            file = copy / name
            data = bytearray(file.read_bytes())
            if what == "missing" or not data:
                file.unlink()
                what = "missing"
            elif what == "cut":
                file.write_bytes(data[: len(data) // 2])
            else:
                data[len(data) // 2] ^= 16
                file.write_bytes(data)
            yield copy, name, what
            shutil.rmtree(copy)


@pytest.mark.parametrize("stage", STAGES)
def test_damage_is_found_and_named(stage, artefacts, tmp_path):
    """Cut and missing files are seen at opening; a flipped bit by reading all, and never as another kind of error."""
    for copy, name, what in damaged(artefacts / stage, tmp_path):
        if what == "flipped":
            (problem,) = Folder.open(copy, version=None).verify()
            assert name in problem and "expected SHA-256" in problem
            with_error_of_ours(OPEN[stage], copy)
        else:
            with pytest.raises(CorruptError) as found:
                OPEN[stage](copy)
            assert name in str(found.value)


def with_error_of_ours(function, *arguments):
    """Call what may fail, but only so."""
    with suppress(CompositaError):
        function(*arguments)


# ---------------------------------------------------------------- circumstances


@pytest.mark.parametrize("stage", STAGES)
def test_a_clock_that_jumps(stage, nursery, expected, tmp_path):
    error, message = nursery.start(stage, tmp_path / "out", clock=True).end()
    assert not error, message
    assert content(tmp_path / "out") == expected[stage]


@pytest.mark.parametrize("megabytes", [2, 40])
@pytest.mark.parametrize("stage", STAGES)
def test_little_memory(stage, megabytes, nursery, expected, tmp_path):
    """It may fail as it likes, even by a crash in a library, if only nothing that is half done looks whole."""
    out = tmp_path / "out"
    error, _ = nursery.start(stage, out, memory=megabytes << 20).end()
    if not error:
        assert content(out) == expected[stage]
    elif (out / "meta.json").exists():
        folder = Folder.open(out, version=None)
        assert folder.meta.get("unfinished") or not folder.verify()
    again(nursery, stage, out, expected)


def test_ctrl_c(artefacts, expected, tmp_path):
    """One line that says how to go on, the exit code of an interruption, and a run that can be taken up."""
    command = [sys.executable, "-m", "composita", "encode", *sorted(artefacts.glob("text-*.conllu"))]
    out = tmp_path / "out"
    with subprocess.Popen([*command, "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        end = time.monotonic() + 60
        while not out.exists() and time.monotonic() < end:
            time.sleep(0.002)
        run.send_signal(signal.SIGINT)
        said = run.communicate(timeout=60)[1]
    if run.returncode:  # it may have been done already
        assert run.returncode == 130
        assert said.strip().endswith("stopped; run the same command again to go on where it was")
    assert subprocess.run([*command, "--out", out, "-q"], check=False).returncode == 0
    assert content(out)
