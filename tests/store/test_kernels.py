"""Compiled loops: kept where they should be, never stale, and announced once."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from composita.store import kernels
from composita.store.kernels import cache_home, kernel, source_hash

posix = pytest.mark.skipif(os.name != "posix", reason="needs permissions of POSIX")

MODULE = """
from composita.store.kernels import kernel

@kernel
def add(a, b):
    return a + b

@kernel
def twice(a):
    return add(a, a)
"""
SCRIPT = """
import logging, sys
logging.basicConfig(level="INFO", format="%(levelname)s %(message)s", stream=sys.stdout)
import numba
@numba.njit
def of_the_user(a):
    return a
of_the_user(1)
from sums import add, twice
assert twice(2) == 4 and add(1.5, 1.5) == 3.0 and add(1, 2) == 3
print(sum(add.stats.cache_hits.values()) + sum(twice.stats.cache_hits.values()))
"""


@pytest.fixture
def run(tmp_path):
    """Run the script in a new process with a cache folder, and give its lines."""
    (tmp_path / "sums.py").write_text(MODULE)

    def run_once(cache):
        environment = os.environ | {"COMPOSITA_CACHE": str(cache), "PYTHONPATH": str(tmp_path)}
        command = [sys.executable, "-W", "error", "-c", SCRIPT]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()

    return run_once


def test_compiled_in_one_process_and_loaded_in_the_next(run, tmp_path):
    first = run(tmp_path / "cache")
    assert first == ["INFO compiling (once): the first use on this machine takes some seconds", "0"]
    second = run(tmp_path / "cache")
    assert len(second) == 1
    assert int(second[0]) >= 3
    (folder,) = (tmp_path / "cache/kernels").iterdir()
    assert folder.name == source_hash(Path(kernels.__file__).parents[1])
    if os.name == "posix":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.rglob("*.nb[ci]"):  # a damaged cache costs time, not the run, and heals
        path.write_bytes(path.read_bytes()[:50])
    assert [line.split()[0] for line in run(tmp_path / "cache")][:-1] == ["WARNING", "INFO"]
    run(tmp_path / "cache")
    assert len(run(tmp_path / "cache")) == 1


def test_where_nothing_can_be_kept_it_works_with_one_warning(run, tmp_path):
    (tmp_path / "file").touch()
    lines = run(tmp_path / "file")
    assert [line.split()[0] for line in lines] == ["WARNING", "INFO", "0"]
    assert "set COMPOSITA_CACHE to a folder of your own" in lines[0]


@pytest.fixture
def forgetful(monkeypatch, tmp_path):
    """Forget what this process has said and made."""
    monkeypatch.setattr(kernels, "_said", set())
    monkeypatch.setenv("COMPOSITA_CACHE", str(tmp_path / "cache"))
    kernels.kernel_folder.cache_clear()
    yield tmp_path / "cache"
    kernels.kernel_folder.cache_clear()


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
def test_a_folder_where_others_may_write_is_not_used(forgetful, caplog, mode):
    folder = kernels.kernel_folder()
    folder.chmod(mode)
    kernels.kernel_folder.cache_clear()
    assert kernels.kernel_folder() is None
    assert kernels.kernel_folder() is None
    assert len(caplog.records) == 1
    assert "others may write" in caplog.text

    def double(a):
        return 2 * a

    assert kernel(double)(4) == 8
    assert list(folder.iterdir()) == []


@posix
def test_nor_one_that_others_may_exchange(forgetful, caplog):
    forgetful.mkdir()
    forgetful.chmod(0o777)
    assert kernels.kernel_folder() is None
    forgetful.chmod(0o1777)
    kernels.kernel_folder.cache_clear()
    assert kernels.kernel_folder() is not None


@posix
def test_a_read_only_folder_is_not_used(forgetful, caplog, monkeypatch):
    kernels.kernel_folder()
    kernels.kernel_folder.cache_clear()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    assert kernels.kernel_folder() is None
    assert "read-only" in caplog.text


def test_a_full_disk_costs_time_only(forgetful, caplog, monkeypatch):
    def no_room(*arguments):
        raise OSError(28, "No space left on device")

    compiled = kernel(square)
    monkeypatch.setattr(type(compiled._cache._cache_file), "save", no_room)
    assert compiled(3) == 9
    assert compiled(1.5) == 2.25
    assert [record.levelname for record in caplog.records if record.levelname == "WARNING"] == ["WARNING"]


def square(a):
    return a * a


def test_a_kernel_is_the_same_loop_in_python(forgetful):
    compiled = kernel(square)
    assert compiled(7) == compiled.py_func(7) == 49
    assert compiled.targetoptions["nogil"]


def test_the_hash_sees_every_edit(tmp_path):
    seen = {source_hash(tmp_path)}
    (tmp_path / "a.py").write_text("x = 1")
    seen.add(source_hash(tmp_path))
    (tmp_path / "a.py").write_text("x = 2")
    seen.add(source_hash(tmp_path))
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    seen.add(source_hash(tmp_path))
    (tmp_path / "room").mkdir()
    (tmp_path / "room/c.py").write_text("")
    seen.add(source_hash(tmp_path))
    assert len(seen) == 5
    (tmp_path / "notes.txt").write_text("no source")
    assert source_hash(tmp_path) in seen


def test_a_room_is_not_compiled_anew_for_an_edit_to_its_right(tmp_path):
    for room in ("corpus", "counting"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "a.py").write_text("x = 1")
    before = [source_hash(tmp_path, rooms) for rooms in (("corpus",), ("corpus", "counting"))]
    (tmp_path / "counting" / "a.py").write_text("x = 2")
    after = [source_hash(tmp_path, rooms) for rooms in (("corpus",), ("corpus", "counting"))]
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_the_cache_is_at_home_in_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("COMPOSITA_CACHE", str(tmp_path))
    assert cache_home() == tmp_path
    monkeypatch.delenv("COMPOSITA_CACHE")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert cache_home() == tmp_path / "composita"
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert cache_home() == Path.home() / ".cache/composita"
