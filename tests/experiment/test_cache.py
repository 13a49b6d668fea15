"""Stages: made once, made again when something changed or was lost, never half."""

import pytest

from composita.experiment.cache import Cache, Stage, tidy
from composita.experiment.stages import source_checksums
from composita.store.errors import CancelledError, NotFoundError
from composita.store.folder import Folder, open_writer
from composita.store.progress import Cancellation

made = []


def write(path, work):
    made.append(work.stage.id)
    with open_writer(path, "note") as writer:
        with writer.new_file("text.bin") as new:
            new.path.write_bytes(b"".join((p / "text.bin").read_bytes() for p in work.paths) + work.stage.id.encode())
        writer.commit({})


def note(name, *inputs, version=1, **parameters):
    return Stage(name, "note", version, parameters, inputs, make=write)


@pytest.fixture
def cache(tmp_path):
    made.clear()
    return Cache(tmp_path / "stages")


def run(cache, *stages):
    made.clear()
    for stage in stages:
        cache.run(stage)
    return list(made)


def test_what_has_been_made_is_reused(cache):
    first, second = note("first", x=1), note("second", note("first", x=1))
    assert run(cache, first, second) == ["first", "second"]
    assert run(cache, first, second) == []
    assert cache.find(second).reused
    assert (cache.path(second) / "text.bin").read_bytes() == b"firstsecond"


def test_a_change_changes_what_comes_after_and_nothing_else(cache):
    base = note("base")
    left, right = note("left", base, x=1), note("right", base)
    run(cache, base, left, right)
    changed = note("left", base, x=2)
    end = note("end", changed)
    assert run(cache, base, changed, right, end) == ["left", "end"]
    assert run(cache, base, left, right) == [], "what was made for other values is still there"


@pytest.mark.parametrize("change", [{"version": 2}, {"x": 2}])
def test_fingerprints(change):
    assert note("a", x=1).fingerprint == note("a", x=1).fingerprint == note("b", x=1).fingerprint
    assert note("a", **{"x": 1} | change).fingerprint != note("a", x=1).fingerprint
    assert note("a", note("c"), x=1).fingerprint != note("a", x=1).fingerprint


@pytest.mark.parametrize("harm", ["receipt", "folder", "file", "cut", "other receipt"])
def test_what_was_lost_is_made_again(cache, harm):
    stage = note("one")
    run(cache, stage)
    receipt = cache.folder / f"{stage.name}.json"
    if harm == "receipt":
        receipt.unlink()
    elif harm == "folder":
        (cache.path(stage) / "meta.json").unlink()
    elif harm == "file":
        (cache.path(stage) / "text.bin").unlink()
    elif harm == "cut":
        (cache.path(stage) / "text.bin").write_bytes(b"o")
    else:
        receipt.write_text('{"fingerprint": 3')
    assert run(cache, stage) == ["one"]
    assert Folder.open(cache.path(stage)).verify() == []


def test_a_stage_that_fails_leaves_no_receipt(cache):
    def fail(path, work):
        write(path, work)
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        cache.run(Stage("one", "note", 1, {}, make=fail))
    assert run(cache, note("one")) == ["one"]


def test_given_folders_are_only_opened(cache, tmp_path):
    with open_writer(tmp_path / "given", "note") as writer:
        writer.commit({})
    assert cache.run(Stage("g", "note", 1, {}, given=tmp_path / "given")).reused
    with pytest.raises(NotFoundError):
        cache.run(Stage("g", "note", 1, {}, given=tmp_path / "absent"))


def test_cancelling(cache):
    cancel = Cancellation()
    cancel.cancel()
    with pytest.raises(CancelledError):
        Cache(cache.folder, cancel=cancel).run(note("one"))


def test_tidy_removes_only_what_is_ours_and_not_named(cache):
    one, two = note("one"), note("two")
    run(cache, one, two)
    (cache.folder / "sources.json").write_text("{}")
    (cache.folder / "mine.json").write_text('{"a": 1}')
    assert tidy(cache.folder, {one.name}) == [two.name]
    assert sorted(p.name for p in cache.folder.iterdir()) == sorted(
        [one.name, f"{one.name}.json", "mine.json", "sources.json"]
    )


def test_checksums_are_remembered_while_a_file_is_untouched(tmp_path, monkeypatch):
    import composita.experiment.stages as stages

    path, memory, read = tmp_path / "a", tmp_path / "stages" / "sources.json", []
    path.write_bytes(b"one")
    real = stages.checksum
    monkeypatch.setattr(stages, "checksum", lambda path, cancel=None: read.append(path) or real(path))
    first = source_checksums([path], memory)
    assert source_checksums([path], memory) == first and len(read) == 1
    path.write_bytes(b"other")
    assert source_checksums([path], memory) != first and len(read) == 2
    memory.write_text("nonsense")
    source_checksums([path], memory)
    assert len(read) == 3
