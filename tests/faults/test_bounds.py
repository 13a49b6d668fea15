"""Input that is small and becomes large, that claims to be large, or that leads out of its folder."""

import gzip
import io
import json
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from composita.composition.model import open_model
from composita.corpus.corpus import Corpus
from composita.counting.counts import Counts
from composita.evaluation.download import unzipped
from composita.experiment.run import Run
from composita.functions.lexicon import Lexicon
from composita.spaces.exchange import read_space
from composita.store.arrays import read_arrays
from composita.store.errors import CompositaError, CorruptError, InputError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs limits of Linux")
READ = (
    "import sys; from composita.cli.main import main; code = main(sys.argv[1:]); "
    "print(open('/proc/self/status').read()); sys.exit(code)"
)


def zeros_npy(count):
    """Begin an array of zeros of a file of NumPy's, as a stream would give it."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": (1, count)})
    return head.getvalue()


def test_an_archive_of_zeros_is_refused_before_it_is_unpacked(tmp_path):
    path, zeros = tmp_path / "bomb.npz", bytes(1 << 24)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("vectors.npy", "w") as file:
        file.write(zeros_npy(80 << 20))
        for _ in range(20):
            file.write(zeros)
    assert path.stat().st_size < 1 << 20
    with pytest.raises(InputError, match=r"vectors\.npy would become 1,0.. times as large as it is"):
        read_space(path)


@pytest.mark.parametrize("claim", [(1 << 40, 1 << 20), (1 << 62, 4), (-1, 3)])
def test_an_array_that_claims_to_be_huge(tmp_path, claim):
    path, head = tmp_path / "huge.npz", io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": claim})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vectors.npy", head.getvalue() + b"1234")
    with pytest.raises((CompositaError, MemoryError)):
        read_space(path)


@pytest.mark.parametrize("size", [1 << 20, (1 << 63) - 1, (1 << 64) - 1])
def test_a_header_that_claims_to_be_huge(tmp_path, size):
    path = tmp_path / "huge.safetensors"
    path.write_bytes(size.to_bytes(8, "little") + b"{}")
    with pytest.raises(CorruptError):
        read_arrays(path)


def test_text_that_becomes_large_takes_little_memory(tmp_path):
    """Empty lines, one line, or sentences that are none, a thousand times as many as their file has bytes."""
    kinds = (("lines", b"\n" * (1 << 20), 256), ("line", b"x" * (1 << 20), 256), ("junk", b"a b\n\n" * (1 << 18), 8))
    for name, block, times in kinds:
        with gzip.open(tmp_path / f"{name}.conllu.gz", "wb", 1) as file:
            for _ in range(times):
                file.write(block)
    how = ["--format", "conllu", "--labels", "ud", "--tags", "upos", "--on-error", "skip", "-q"]
    command = [sys.executable, "-c", READ, "encode", *map(str, tmp_path.glob("*.gz")), "--out", str(tmp_path / "out")]
    done = subprocess.run([*command, *how], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 1 and "no sentence could be read" in done.stderr, done.stderr
    # What the system counts for a child begins with the size of who started it; this is of the program alone.
    peak = next(line.split() for line in done.stdout.splitlines() if line.startswith("VmHWM"))
    assert int(peak[1]) < 1 << 20  # kilobytes; half of it are libraries


def zipped(**changes):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ratings.txt", "sun moon 3\n" * 100)
    data = bytearray(made.getvalue())
    for place, value in changes.values():
        data[place] = value
    return bytes(data)


@pytest.mark.parametrize("change", [(8, 99), (6, 1), (45, 0xFF), (50, 0)])
def test_archives_that_are_broken_or_unusual_are_refused(change):
    """Another compression, encryption, damaged data."""
    data = bytearray(zipped())
    place, value = change
    data[place] = value
    if place in (6, 8):  # the directory must say the same
        data[data.index(b"PK\x01\x02") + place + 2] = value
    with pytest.raises(InputError, match="archive"):
        unzipped(bytes(data), "ratings.txt")


# ---------------------------------------------------------------- ways out of a folder

OUTSIDE = ["../../elsewhere", "../secret.safetensors", "/etc/passwd", "a/../../b", "", "x\0y"]


def changed(path, copy, change):
    """Copy an artefact and change what its manifest says."""
    shutil.copytree(path, copy)
    meta = json.loads((copy / "meta.json").read_bytes())
    change(meta)
    (copy / "meta.json").write_text(json.dumps(meta))
    return copy


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize(
    ("stage", "open_it", "key"),
    [
        ("count", Counts.open, ("segments", "counts")),
        ("count", Counts.open, ("segments", "items")),
        ("learn", Lexicon.open, ("chunks", "functions")),
        ("learn", Lexicon.open, ("chunks", "examples")),
        ("learn", Lexicon.open, ("chunks", "reports")),
        ("encode", Corpus.open, ("shards", "file")),
    ],
)
def test_files_of_an_artefact_lie_in_its_folder(artefacts, tmp_path, name, stage, open_it, key):
    def change(meta):
        meta[key[0]][0][key[1]] = name

    (tmp_path / "secret.safetensors").write_bytes(b"secret")
    with pytest.raises(CorruptError):
        open_it(changed(artefacts / stage, tmp_path / "copy", change))


@pytest.mark.parametrize("name", ["../../elsewhere", "a/../../b", "", "x\0y", 7, None])
def test_folders_of_a_run_lie_in_it_or_beside_it(artefacts, tmp_path, name):
    def change(meta):
        meta["lexicon"] = meta["counts"] = meta["lexicons"][0]["path"] = name

    copy = changed(artefacts / "run", tmp_path / "copy", change)
    run = Run.open(copy)
    for use in (lambda: run.counts, run.lexicon, lambda: open_model(copy)):
        with pytest.raises(CompositaError):
            use()
