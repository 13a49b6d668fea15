"""Folders: whole or absent whatever happens, one writer at a time, and nothing believed."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from composita.store.arrays import read_arrays, write_arrays
from composita.store.errors import (
    CancelledError,
    CompositaError,
    CorruptError,
    LockedError,
    NotFoundError,
    StoreError,
    UsageError,
    VersionError,
)
from composita.store.folder import FileEntry, Folder, fingerprint, open_writer, without_generation, write_file
from composita.store.lock import hold_lock
from composita.store.progress import Cancellation
from composita.store.tables import read_table, write_table

GOLDEN = Path(__file__).parent / "golden"
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits of POSIX")


def write(path, text, kind="notes", version=1, **meta):
    """Commit one file of text."""
    with open_writer(path, kind, version) as writer:
        with writer.new_file("text.txt") as new:
            new.path.write_text(text)
        writer.commit({"parameters": meta})
    return new.entry


def text_of(path):
    return Folder.open(path, "notes").file("text.txt").read_text()


def names(path):
    return sorted(entry.name for entry in path.iterdir())


@pytest.fixture
def place(tmp_path):
    return tmp_path / "deep" / "notes"


# ---------------------------------------------------------------- the life of a folder


def test_what_was_committed_is_read(place):
    entry = write(place, "hello", size=5)
    folder = Folder.open(str(place), "notes")
    assert folder.meta == {
        "kind": "notes",
        "format": 1,
        "parameters": {"size": 5},
        "files": {"text.txt": {"bytes": 5, "sha256": entry.sha256}},
    }
    assert folder.files == {"text.txt": entry}
    assert folder.verify() == []
    assert Folder.open(place) == folder
    assert names(place) == ["lock", "meta.json", "text.txt"]


def test_the_meta_file_is_sorted_plain_and_the_same_every_time(tmp_path):
    for name in ("one", "two"):
        write(tmp_path / name, "x", ü="é", a=[1, 2.5, None])
    raw = (tmp_path / "one/meta.json").read_bytes()
    assert raw == (tmp_path / "two/meta.json").read_bytes()
    assert raw.endswith(b"}\n")
    assert "é" in raw.decode()
    assert list(json.loads(raw)) == ["files", "format", "kind", "parameters"]
    assert str(tmp_path).encode() not in raw


def test_nothing_is_true_before_the_commit(place):
    with open_writer(place, "notes") as writer:
        assert writer.meta is None
        with writer.new_file("text.txt") as new:
            new.path.write_text("x")
        with pytest.raises(NotFoundError, match="run it again"):
            Folder.open(place)
    write(place, "y")  # a folder that was never committed can be taken up again
    assert text_of(place) == "y"


def test_a_folder_grows(place):
    for number in range(3):
        with open_writer(place, "notes") as writer:
            with writer.new_file(f"part-{number}.txt") as new:
                new.path.write_text(str(number))
            writer.commit({})
    assert sorted(Folder.open(place).files) == ["part-0.txt", "part-1.txt", "part-2.txt"]
    with open_writer(place, "notes") as writer:
        writer.commit({}, keep=["part-1.txt"])
        assert writer.sweep() == ["part-0.txt", "part-2.txt"]
    assert names(place) == ["lock", "meta.json", "part-1.txt"]


def test_a_file_written_anew_gets_another_name_and_the_old_reader_keeps_the_old_one(place):
    write(place, "old")
    before = Folder.open(place)
    write(place, "new")
    assert before.file("text.txt").read_text() == "old"
    assert text_of(place) == "new"
    assert sorted(Folder.open(place).files) == ["text.v2.txt"]
    write(place, "newer")
    assert text_of(place) == "newer"


def test_writing_the_same_again_changes_nothing(place):
    write(place, "old")
    write(place, "same")
    raw, listing = (place / "meta.json").read_bytes(), names(place)
    entry = write(place, "same")
    assert (place / "meta.json").read_bytes() == raw
    assert names(place) == listing
    assert entry.name == "text.v2.txt"


@pytest.mark.parametrize(
    ("name", "base"),
    [("a.v2.txt", "a.txt"), ("a.v2", "a"), ("a.b.v13.txt", "a.b.txt"), ("a.txt", "a.txt"), ("a", "a")],
)
def test_generations(name, base):
    assert without_generation(name) == base


def test_tasks_write_and_the_writer_adds(place):
    with open_writer(place, "notes") as writer:
        with write_file(place / "part.txt") as new:
            assert new.path.name != "part.txt"
            assert os.fspath(new) == str(new.path)
            with pytest.raises(UsageError, match="after the block"):
                _ = new.entry
            new.path.write_text("x")
        writer.add(new.entry)
        with pytest.raises(CorruptError, match="expected 2 bytes, found 1"):
            writer.add(FileEntry("part.txt", 2, "0" * 64))
        with pytest.raises(CorruptError, match=r"other.txt: expected 1 bytes, found no file"):
            writer.add(FileEntry("other.txt", 1, "0" * 64))
        writer.commit({})
        with pytest.raises(UsageError, match="fresh_name"):
            writer.add(FileEntry("part.txt", 1, "0" * 64))
    assert Folder.open(place).files == {"part.txt": new.entry}


def test_an_error_while_writing_leaves_nothing(place):
    with open_writer(place, "notes") as writer:
        with pytest.raises(TypeError), writer.new_file("a.txt") as new:
            new.path.write_text(new.path.write_text("written, but that is a number"))
        with pytest.raises(StoreError, match=r"cannot write .*b.txt"), writer.new_file("b.txt"):
            pass  # wrote nothing
    assert names(place) == ["lock"]


def test_sweep_leaves_what_may_be_the_users(place):
    write(place, "x")
    for name in ("README.md", "old.parquet", "cut.safetensors.0123.partial", "next.parquet", "mine.txt"):
        (place / name).touch()
    (place / "pictures").mkdir()
    with open_writer(place, "notes") as writer:
        assert writer.sweep(keep=["next.parquet"]) == ["cut.safetensors.0123.partial", "old.parquet"]
    assert names(place) == [
        "README.md",
        "lock",
        "meta.json",
        "mine.txt",
        "next.parquet",
        "pictures",
        "text.txt",
    ]


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../a", "a/b", "a\\b", "a\0b", ".hidden", "meta.json", "LOCK", "a.partial", "é", "a\n"],
)
def test_names_that_no_data_file_may_have(place, name):
    with open_writer(place, "notes") as writer, pytest.raises(UsageError), writer.new_file(name) as new:
        new.path.touch()


def test_meta_that_json_cannot_say(place):
    with open_writer(place, "notes") as writer:
        for value in (np.float32(1), {1, 2}, float("nan"), "\ud800"):
            with pytest.raises(UsageError, match="JSON"):
                writer.commit({"value": value})
    assert names(place) == ["lock"]


def test_fingerprints_see_content_and_types():
    parts = [
        (),
        ("",),
        (1,),
        (1.0,),
        ("1",),
        (True,),
        (None,),
        ([1],),
        ("a", "b"),
        (["a", "b"],),
        ({"a": 1},),
    ]
    assert len({fingerprint(*part) for part in parts}) == len(parts)
    assert fingerprint((1, 2)) == fingerprint([1, 2])
    with pytest.raises(TypeError):
        fingerprint(Path("/a"))


# ---------------------------------------------------------------- what is refused


def test_places_that_are_not_ours(tmp_path, place):
    file = tmp_path / "file"
    file.write_text("x")
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter.tex").write_text("x")
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / "meta.json").write_text("{}")
    for path, reason in [
        (file, "not a folder"),
        (thesis, "neither empty nor ours"),
        (file / "x", "cannot make|not a folder"),
    ]:
        with pytest.raises(StoreError, match=reason), open_writer(path, "notes"):
            pass
        with pytest.raises(NotFoundError):
            Folder.open(path)
    with pytest.raises(CorruptError, match="expected a kind"), open_writer(stranger, "notes"):
        pass
    write(place, "x")
    with pytest.raises(StoreError, match="holds 'notes', expected 'space'; choose another place"):
        write(place, "y", kind="space")
    assert (names(thesis), names(stranger), text_of(place)) == (["chapter.tex"], ["meta.json"], "x")
    empty = tmp_path / "empty"
    empty.mkdir()
    write(empty, "x")


def test_kind_and_version(place):
    write(place, "x", version=3)
    assert Folder.open(place, "notes", 3).meta["format"] == 3
    assert Folder.open(place, version=None).meta["format"] == 3
    with pytest.raises(VersionError, match=r"format 3 of 'notes', this program knows up to 2: upgrade"):
        Folder.open(place, "notes", 2)
    with pytest.raises(VersionError):
        write(place, "x", version=2)
    with pytest.raises(NotFoundError, match="holds 'notes', expected 'space'"):
        Folder.open(place, "space")
    with pytest.raises(CorruptError, match=r"lists no file 'other.txt'"):
        Folder.open(place, version=3).file("other.txt")


def test_cut_missing_and_altered_files(place):
    write(place, "hello")
    file = place / "text.txt"
    file.write_text("hellO")
    problems = Folder.open(place).verify()
    assert len(problems) == 1
    assert "text.txt: expected SHA-256 2cf24dba" in problems[0]
    folder = Folder.open(place)
    file.write_text("hell")
    with pytest.raises(CorruptError, match=r"text.txt: expected 5 bytes, found 4"):
        Folder.open(place)
    assert "expected 5 bytes, found 4" in folder.verify()[0]
    file.unlink()
    with pytest.raises(CorruptError, match=r"text.txt: expected 5 bytes, found no file"):
        Folder.open(place)
    file.mkdir()
    with pytest.raises(CorruptError, match="not a file"):
        Folder.open(place)


def test_verify_reports_progress_and_stops(place):
    write(place, "hello")
    heard, stop = [], Cancellation()
    Folder.open(place).verify(heard.append)
    assert [(step.done, step.total, step.unit) for step in heard] == [(5, 5, "bytes")]
    stop.cancel()
    with pytest.raises(CancelledError):
        Folder.open(place).verify(cancel=stop)


HOSTILE = [
    b"",
    b"\xff\xfe",
    b"[]",
    b"null",
    b"{}",
    b"[" * 100_000,
    b'{"kind": 1, "format": 1, "files": {}}',
    b'{"kind": "\\ud800", "format": 1, "files": {}}',
    b'{"kind": "notes", "kind": "notes", "format": 1, "files": {}}',
    b'{"kind": "notes", "format": true, "files": {}}',
    b'{"kind": "notes", "format": 0, "files": {}}',
    b'{"kind": "notes", "format": 1e0, "files": {}}',
    b'{"kind": "notes", "format": 1, "x": NaN, "files": {}}',
    b'{"kind": "notes", "format": 1, "x": ' + b"9" * 5000 + b', "files": {}}',
    b'{"kind": "notes", "format": 1}',
    b'{"kind": "notes", "format": 1, "files": []}',
    b'{"kind": "notes", "format": 1, "files": {"a": 1}}',
    b'{"kind": "notes", "format": 1, "files": {"a": {"bytes": -1, "sha256": ""}}}',
    b'{"kind": "notes", "format": 1, "files": {"a": {"bytes": 1.0, "sha256": ""}}}',
    b'{"kind": "notes", "format": 1, "files": {"a": {"bytes": true, "sha256": ""}}}',
    b'{"kind": "notes", "format": 1, "files": {"a": {"bytes": 1, "sha256": "x"}}}',
]
ENTRY = {"bytes": 0, "sha256": "0" * 64}
BAD_NAMES = [
    "../a",
    "/etc/passwd",
    "a/b",
    "..",
    "a\0",
    "",
    "a\\b",
    "C:a",
    "meta.json",
    "lock",
    "a.partial",
    "é",
]
HOSTILE += [json.dumps({"kind": "k", "format": 1, "files": {name: ENTRY}}).encode() for name in BAD_NAMES]


@pytest.mark.parametrize("data", HOSTILE)
def test_hostile_meta(tmp_path, data):
    (tmp_path / "meta.json").write_bytes(data)
    for attempt in (lambda: Folder.open(tmp_path), lambda: open_writer(tmp_path, "k").__enter__()):
        with pytest.raises(CompositaError) as caught:
            attempt()
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400 + len(str(tmp_path))
    assert names(tmp_path) == ["meta.json"]


def test_meta_that_is_huge_or_no_file(tmp_path):
    with (tmp_path / "meta.json").open("wb") as file:
        file.truncate(1 << 40)  # a hole, no bytes on the disk
    with pytest.raises(CorruptError, match="at most"):
        Folder.open(tmp_path)
    (tmp_path / "meta.json").unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "meta.json")
        with pytest.raises(CorruptError, match="expected a file"):
            Folder.open(tmp_path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_mutated_meta_never_raises_anything_else(tmp_path, data):
    raw = bytearray((GOLDEN / "meta.json").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        where = data.draw(st.integers(0, len(raw) - 1))
        raw[where : where + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    for name in ("arrays.safetensors", "words.parquet"):
        (tmp_path / name).write_bytes((GOLDEN / name).read_bytes())
    (tmp_path / "meta.json").write_bytes(raw)
    with suppress(CompositaError):
        Folder.open(tmp_path, "golden").verify()


@posix
def test_a_lock_that_links_elsewhere_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("x")
    write(tmp_path / "f", "x")
    (tmp_path / "f/lock").unlink()
    (tmp_path / "f/lock").symlink_to(precious)
    with pytest.raises(StoreError, match="cannot write"):
        write(tmp_path / "f", "y")
    assert precious.read_text() == "x"


# ---------------------------------------------------------------- two writers


@contextmanager
def run_python(code, *arguments):
    """Run a program beside the block, and never longer, so that a failure is not a wait."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


HOLDER = """
import sys, time
from composita.store.folder import open_writer
with open_writer(sys.argv[1], "notes"):
    print("ready", flush=True)
    time.sleep(60)
"""


@posix
def test_another_process_is_named_and_its_death_frees_the_folder(place):
    with run_python(HOLDER, place) as holder:
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(LockedError, match=rf"another process \(number {holder.pid}\) is writing to"):
            write(place, "x")
        start = time.monotonic()
        with pytest.raises(LockedError), open_writer(place, "notes", wait=0.2):
            pass
        assert time.monotonic() - start >= 0.2
        stop = Cancellation()
        stop.cancel()
        with pytest.raises(CancelledError), open_writer(place, "notes", wait=60, cancel=stop):
            pass
        holder.kill()
    write(place, "x")
    assert text_of(place) == "x"


def test_waiting_for_the_lock(tmp_path):
    held, release = threading.Event(), threading.Event()

    def hold():
        with hold_lock(tmp_path / "lock"):
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    threading.Timer(0.1, release.set).start()
    with hold_lock(tmp_path / "lock", wait=10):
        assert release.is_set()
    thread.join()


# ---------------------------------------------------------------- killed writers

GENERATIONS = """
import sys
from pathlib import Path
from composita.store.folder import open_writer, write_file
def generation(writer, number):
    with writer.new_file("a.bin") as new:
        new.path.write_bytes(b"%d" % number * 5000)
    with write_file(writer.path / writer.fresh_name("b.bin")) as other:
        other.path.write_bytes(b"%d" % -number)
    writer.add(other.entry)
    writer.commit({"number": number})
    writer.sweep()
"""
ENDLESS = (
    GENERATIONS
    + """
with open_writer(sys.argv[1], "notes") as writer:
    print("ready", flush=True)
    number = (writer.meta or {}).get("number", 0)
    while True:
        number += 1
        generation(writer, number)
"""
)
LONG = ENDLESS.replace('{"number": number}', '{"number": number, "long": "x" * 99_999}')
# The writer ends without ceremony just before its n-th step in the file system, for n = 0, 1, 2 ...
STEPWISE = (
    GENERATIONS
    + """
import os, shutil
root = Path(sys.argv[1])
step = 0
while True:
    place, left = root / f"step-{step}", step
    if sys.argv[2] == "new":
        pass
    else:
        with open_writer(place, "notes") as writer:
            generation(writer, 1)
    child = os.fork()
    if not child:
        def hook(event, arguments):
            global left
            if event in ("open", "os.rename", "os.remove", "os.mkdir") and str(place) in str(arguments[0]):
                left -= 1
                if left < 0:
                    os._exit(9)
        sys.addaudithook(hook)
        with open_writer(place, "notes") as writer:
            generation(writer, 2)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
    step += 1
print(step)
"""
)


def check_generation(place):
    """Whatever the writer did: absent or whole."""
    try:
        folder = Folder.open(place, "notes")
    except NotFoundError:
        return 0
    assert folder.verify() == []
    number = folder.meta["number"]
    assert folder.file("a.bin").read_bytes() == b"%d" % number * 5000
    assert folder.file("b.bin").read_bytes() == b"%d" % -number
    return number


@posix
def test_killed_at_random_moments(place):
    rng, last = random.Random(7), 0
    for _ in range(10):
        with run_python(ENDLESS, place) as writer:
            assert writer.stdout.readline() == "ready\n"
            time.sleep(rng.uniform(0, 0.05))
            writer.send_signal(signal.SIGKILL)
        number = check_generation(place)
        assert number >= last
        last = number
    assert last > 0
    with open_writer(place, "notes") as writer:
        writer.sweep()
    assert not [name for name in names(place) if name.endswith(".partial")]


@posix
@pytest.mark.parametrize("before", ["new", "old"])
def test_killed_before_every_single_step(tmp_path, before):
    with run_python(STEPWISE, tmp_path, before) as writer:
        steps = int(writer.stdout.read())
    assert steps > 10
    seen = [check_generation(tmp_path / f"step-{step}") for step in range(steps + 1)]
    assert seen == sorted(seen)
    assert set(seen) == ({0, 2} if before == "new" else {1, 2})
    for step in range(steps + 1):
        write(tmp_path / f"step-{step}", "can be taken up")


@posix
def test_a_reader_beside_a_busy_writer_never_sees_a_half(place):
    write(place, "first")
    opened, end = set(), time.monotonic() + 1
    with run_python(LONG, place) as writer:
        assert writer.stdout.readline() == "ready\n"
        while time.monotonic() < end:
            opened.add(Folder.open(place, "notes").meta.get("number"))
        writer.kill()
    assert len(opened) > 10


# ---------------------------------------------------------------- no room

FULL = """
import resource, sys
import numpy as np
from composita.store.arrays import write_arrays
from composita.store.errors import StoreError
from composita.store.folder import open_writer
from composita.store.tables import write_table
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
data = np.random.default_rng(1).random(100_000)
with open_writer(sys.argv[1], "notes") as writer:
    for name, write in [
        ("a.bin", lambda path: path.write_bytes(bytes(200_000))),
        ("a.safetensors", lambda path: write_arrays(path, {"a": data})),
        ("a.parquet", lambda path: write_table(path, {"a": data})),
    ]:
        try:
            with writer.new_file(name, needed=data.nbytes) as new:
                write(new.path)
        except StoreError as error:
            print(error)
    try:
        writer.commit({"long": "x" * 200_000})
    except StoreError as error:
        print(error)
"""


@posix
def test_a_full_disk_is_one_line_and_no_debris(place):
    write(place, "before")
    with run_python(FULL, place) as writer:
        lines = writer.stdout.read().splitlines()
    for name, line in zip(("a.bin", "a.safetensors", "a.parquet", "meta.json"), lines, strict=True):
        assert line.startswith(f"no room for {place / name}: ")
        assert "files may not become so large here (see ulimit -f)" in line
    assert text_of(place) == "before"
    assert names(place) == ["lock", "meta.json", "text.txt"]


@pytest.mark.parametrize(("needed", "said"), [(800, "800 bytes needed, "), (None, "3 bytes written, ")])
def test_no_room_says_how_much_is_wanted_and_free(tmp_path, needed, said):
    def fill():
        with write_file(tmp_path / "a.bin", needed=needed) as new:
            new.path.write_bytes(b"abc")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StoreError, match=rf"no room for .*a\.bin: {said}\d+ bytes free; make room"):
        fill()
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- golden files


def write_golden(path):
    with open_writer(path, "golden") as writer:
        with writer.new_file("arrays.safetensors") as new:
            arrays = {
                "V": np.arange(6, dtype=np.float32).reshape(2, 3) / 4,
                "ids": np.array([3, -1], np.int64),
                "mask": np.array([True, False, True]),
                "none": np.zeros((0, 2), np.float16),
                "scalar": np.array(0.5),
            }
            write_arrays(new.path, arrays, {"rows": "words", "note": "zweistufig é"})
        with writer.new_file("words.parquet") as new:
            write_table(new.path, {"word": ["dog-n", "chat-n", "быть-v"], "count": np.array([5, 3, 2])})
        parameters = {"dimensions": 3, "weighting": "ppmi", "note": "é"}
        writer.commit({"parameters": parameters, "fingerprints": {"corpus": fingerprint("corpus", 1)}})
    return arrays


def test_golden_files_open():
    folder = Folder.open(GOLDEN, "golden")
    assert folder.verify() == []
    arrays = read_arrays(folder.file("arrays.safetensors"))
    assert arrays["V"].tolist() == [[0, 0.25, 0.5], [0.75, 1, 1.25]]
    assert (arrays["ids"].tolist(), arrays["mask"].tolist()) == ([3, -1], [True, False, True])
    assert (arrays["none"].shape, float(arrays["scalar"])) == ((0, 2), 0.5)
    table = read_table(folder.file("words.parquet"))
    assert table.to_pydict() == {"word": ["dog-n", "chat-n", "быть-v"], "count": [5, 3, 2]}


def test_golden_files_are_written_the_same(tmp_path):
    """Parquet files name the library that wrote them, so theirs is not compared."""
    write_golden(tmp_path / "golden")
    written, golden = tmp_path / "golden", GOLDEN
    assert (written / "arrays.safetensors").read_bytes() == (golden / "arrays.safetensors").read_bytes()
    ours, theirs = ((folder / "meta.json").read_text() for folder in (written, golden))
    for text, folder in ((ours, written), (theirs, golden)):
        entry = json.loads(text)["files"]["words.parquet"]
        assert entry["bytes"] == (folder / "words.parquet").stat().st_size
    tables = [json.loads(text)["files"]["words.parquet"] for text in (ours, theirs)]
    ours = ours.replace(tables[0]["sha256"], tables[1]["sha256"])
    assert ours.replace(f'"bytes": {tables[0]["bytes"]}', f'"bytes": {tables[1]["bytes"]}') == theirs
