"""Saved things: folders of immutable data files, with one small file that says what is true.

A folder holds ``meta.json`` (kind, format version, whatever the writer wants to say, and the list of the data
files with their sizes and checksums), the data files, and a ``lock``. A data file gets its name only when it
is whole, and never changes afterwards; replacing ``meta.json`` is the only commit. So a reader sees the last
commit, whatever a writer does or whenever it is killed, and files that no commit lists are debris.

>>> import tempfile
>>> place = Path(tempfile.mkdtemp(), "numbers")
>>> with open_writer(place, "numbers", 1) as writer:
...     with writer.new_file("data.bin") as new:
...         _ = new.path.write_bytes(b"123")
...     writer.commit({"parameters": {"largest": 3}})
>>> folder = Folder.open(place, "numbers")
>>> folder.meta["parameters"], folder.file("data.bin").read_bytes(), folder.verify()
({'largest': 3}, b'123', [])
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from composita.store.errors import CorruptError, NotFoundError, StoreError, UsageError, VersionError
from composita.store.lock import hold_lock, is_marked
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent
from composita.store.strict_json import dump_json, parse_json, shown

META = "meta.json"
LOCK = "lock"
PARTIAL = ".partial"
DATA_SUFFIXES = (".parquet", ".safetensors")
META_LIMIT = 64 << 20  # bytes; half a million files can be listed in that

# Plain names mean the same on every file system, and nothing to a shell.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_CHECKSUM = re.compile(r"[0-9a-f]{64}")
_GENERATION = re.compile(r"(.*?)(?:\.v[0-9]+)?(\.[^.]*)?")
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_BLOCK = 1 << 20


# ---------------------------------------------------------------- what a folder holds


@dataclass(frozen=True)
class FileEntry:
    """What the manifest says of one data file."""

    name: str
    bytes: int
    sha256: str


def fingerprint(*parts: object) -> str:
    """Compute the SHA-256 of content and parameters: equal exactly when the parts are.

    Parts are what JSON can say: text, numbers, booleans, None, lists, and dictionaries with text as keys.
    Give the checksums of contents, the parameters, and the version of the stage; never paths, times or tool
    versions.

    >>> fingerprint({"a": 1, "b": [2]}, "count-1") == fingerprint({"b": [2], "a": 1}, "count-1")
    True
    >>> fingerprint(1) == fingerprint("1")
    False
    """
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Folder:
    """A saved folder as its last commit left it."""

    path: Path
    meta: dict[str, Any]

    @classmethod
    def open(cls, path: str | Path, kind: str | None = None, version: int | None = 1) -> Folder:
        """Open a folder of a kind (or of any), in any format up to ``version`` (None: in any).

        All data files must be there with the right sizes; `verify` also looks into them.
        """
        path = Path(path)
        meta = _read_meta(path, kind)
        if kind is not None and meta["kind"] != kind:
            raise NotFoundError(f"{path} holds {shown(meta['kind'])}, expected {kind!r}")
        if version is not None and meta["format"] > version:
            raise VersionError(
                f"{path} is written in format {shown(meta['format'])} of {shown(meta['kind'])}, "
                f"this program knows up to {version}: upgrade composita"
            )
        folder = cls(path, meta)
        try:
            for entry in folder.files.values():
                _check_size(path, entry)
        except CorruptError:
            # A writer may have committed anew and swept the old files while we looked.
            if _read_meta(path, kind) != meta:
                return cls.open(path, kind, version)
            raise
        return folder

    @cached_property
    def files(self) -> dict[str, FileEntry]:
        """The manifest: the data files by name."""
        return _parse_files(self.path, self.meta.get("files"))

    def file(self, name: str) -> Path:
        """Give the path of a data file, by its name or by its name without the generation.

        Files are never overwritten, so a ``counts.parquet`` that was written anew is called
        ``counts.v2.parquet``; it is found by either name.
        """
        if name in self.files:
            return self.path / name
        others = [listed for listed in self.files if without_generation(listed) == name]
        if len(others) != 1:
            raise CorruptError(f"{self.path}: {META} lists no file {name!r}")
        return self.path / others[0]

    def other(self, name: object) -> Path:
        """Give another folder that ``meta.json`` names: within this one, beside it, or by an absolute path.

        A relative path that leads elsewhere is refused: nothing that we write has one.
        """
        if not isinstance(name, str) or not name or "\0" in name or Path(name).parts.count(os.pardir) > 1:
            raise CorruptError(f"{self.path / META}: expected a folder here or beside, found {shown(name)}")
        return self.path / name

    def verify(self, progress: ProgressCallback = silent, cancel: Cancellation | None = None) -> list[str]:
        """Read all data files and list what is wrong with them, one line a problem; empty is good."""
        total = sum(entry.bytes for entry in self.files.values())
        done, problems = 0, []
        for name, entry in sorted(self.files.items()):
            try:
                _check_size(self.path, entry)
                with (self.path / name).open("rb") as file:
                    found = _sha256(file, cancel)
            except (OSError, CorruptError) as error:
                problems.append(str(error))
            else:
                if found != entry.sha256:
                    problems.append(f"{self.path / name}: expected SHA-256 {entry.sha256}, found {found}")
            done += entry.bytes
            progress(Progress("checking", done, total, "bytes"))
        return problems


def without_generation(name: str) -> str:
    """Give the name that a file had before it was written anew.

    >>> without_generation("counts.v2.parquet"), without_generation("counts.parquet")
    ('counts.parquet', 'counts.parquet')
    """
    found = _GENERATION.fullmatch(name)
    return name if found is None else found[1] + (found[2] or "")


def _read_meta(path: Path, kind: str | None) -> dict[str, Any]:
    """Read and check ``meta.json``, all but the list of files, whose form may depend on the format."""
    wanted = "a folder of composita" if kind is None else f"a folder of kind {kind!r}"
    try:
        data = _read_small(path / META)
    except (FileNotFoundError, NotADirectoryError):
        found = "a file" if path.is_file() else "nothing"
        if path.is_dir():
            found = f"no {META} in it; if composita was stopped while writing it, run it again"
        raise NotFoundError(f"{path}: expected {wanted}, found {found}") from None
    except OSError as error:
        raise StoreError(f"cannot read {path / META}: {error.strerror}") from error
    try:
        meta = parse_json(data)
    except ValueError as error:
        raise CorruptError(f"{path / META}: not the JSON that composita writes: {error}") from None
    if not isinstance(meta, dict):
        raise CorruptError(f"{path / META}: expected an object, found {shown(meta)}")
    if not isinstance(meta.get("kind"), str):
        raise CorruptError(f"{path / META}: expected a kind, found {shown(meta.get('kind'))}")
    if type(meta.get("format")) is not int or meta["format"] < 1:
        raise CorruptError(f"{path / META}: expected a format from 1, found {shown(meta.get('format'))}")
    return meta


def _read_small(path: Path) -> bytes:
    """Read a regular file of bounded size; a pipe of this name would keep us waiting for ever."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise CorruptError(f"{path}: expected a file")
    if status.st_size > META_LIMIT:
        raise CorruptError(f"{path}: expected at most {META_LIMIT} bytes, found {status.st_size}")
    with path.open("rb") as file:
        return file.read(META_LIMIT)


def _parse_files(path: Path, files: object) -> dict[str, FileEntry]:
    """Turn the manifest into entries, trusting neither names nor numbers."""
    if not isinstance(files, dict):
        raise CorruptError(f"{path / META}: expected a list of files by name, found {shown(files)}")
    entries = {}
    for name, entry in files.items():
        if not is_plain(name):
            raise CorruptError(f"{path / META}: {shown(name)} is not a plain file name")
        size, sha256 = (entry.get("bytes"), entry.get("sha256")) if isinstance(entry, dict) else (None, None)
        if type(size) is not int or size < 0:
            raise CorruptError(f"{path / META}: expected the size of {name}, found {shown(size)}")
        if not isinstance(sha256, str) or not _CHECKSUM.fullmatch(sha256):
            raise CorruptError(f"{path / META}: expected the SHA-256 of {name}, found {shown(sha256)}")
        entries[name] = FileEntry(name, size, sha256)
    return entries


def is_plain(name: str) -> bool:
    """Whether a data file may have this name: ASCII letters, digits, ``_ . -``, and none of our own names.

    >>> [is_plain(name) for name in ("part-001.parquet", "../x", "a/b", "meta.json", "x.partial")]
    [True, False, False, False, False]
    """
    plain = _NAME.fullmatch(name) is not None and ".." not in name and not name.endswith((".", PARTIAL))
    return plain and name.casefold() not in (META, LOCK)


def _check_name(name: str) -> None:
    if not is_plain(name):
        raise UsageError(f"{name!r} cannot name a data file: expected a few letters, digits and _ . - only")


def _check_size(folder: Path, entry: FileEntry) -> None:
    path = folder / entry.name
    try:
        status = path.stat()
    except OSError as error:
        raise CorruptError(f"{path}: expected {entry.bytes} bytes, found no file: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        raise CorruptError(f"{path}: expected {entry.bytes} bytes, found something that is not a file")
    if status.st_size != entry.bytes:
        raise CorruptError(f"{path}: expected {entry.bytes} bytes, found {status.st_size}; make it again")


def _sha256(file: BinaryIO, cancel: Cancellation | None = None) -> str:
    digest, block = hashlib.sha256(), bytearray(_BLOCK)
    while count := file.readinto(block):  # type: ignore[attr-defined]
        check(cancel)
        digest.update(memoryview(block)[:count])
    return digest.hexdigest()


# ---------------------------------------------------------------- writing files


class NewFile:
    """A data file in the making: write to ``path``; after the block ``entry`` says what was written.

    It can be given to whatever takes a path.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entry: FileEntry | None = None

    def __fspath__(self) -> str:
        return str(self.path)

    @property
    def entry(self) -> FileEntry:
        """Name, size and checksum, once the file is whole."""
        if self._entry is None:
            raise UsageError(f"{self.path.name} is not finished: ask for its entry after the block")
        return self._entry

    def finish(self, entry: FileEntry) -> None:
        """Note what was written."""
        self._entry = entry


@contextmanager
def write_file(path: str | Path, *, needed: int | None = None) -> Iterator[NewFile]:
    """Write one data file from a task that does not hold the folder's lock, to be added by who does.

    The file gets its name only when it is whole; an error leaves nothing behind. ``needed`` is its size,
    where known, for the message when there is no room.

    >>> import tempfile
    >>> with write_file(Path(tempfile.mkdtemp(), "part.bin")) as new:
    ...     _ = new.path.write_bytes(b"abc")
    >>> new.entry.name, new.entry.bytes
    ('part.bin', 3)
    """
    path = Path(path)
    with _partial(path, needed) as new:
        yield new
        entry = _seal(new.path, path.name)
        new.path.replace(path)
        new.finish(entry)


@contextmanager
def write_scratch(path: str | Path) -> Iterator[Path]:
    """Write a file that lives no longer than the run: whole or not there, as `write_file`, but without a checksum.

    >>> import tempfile
    >>> with write_scratch(Path(tempfile.mkdtemp(), "part.bin")) as new:
    ...     _ = new.write_bytes(b"abc")
    """
    path = Path(path)
    with _partial(path, None) as new:
        yield new.path
        with _blaming(new.path), new.path.open("r+b") as file:
            os.fsync(file.fileno())
        new.path.replace(path)


@contextmanager
def _partial(path: Path, needed: int | None) -> Iterator[NewFile]:
    """Offer a temporary name beside ``path``, removed after an error, and say plainly when there is no room.

    Each attempt has a name of its own: a task may be repeated while its first worker is still alive.
    """
    _check_name(path.name)
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}{PARTIAL}")
    try:
        yield NewFile(partial)
    except BaseException as error:
        written = partial.stat().st_size if partial.exists() else 0
        with suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and (error.errno in _NO_ROOM or str(error.filename) == str(partial)):
            raise _write_error(path, error, needed, written) from error
        raise


def _write_error(path: Path, error: OSError, needed: int | None, written: int) -> StoreError:
    """Say in one line why a file cannot be written."""
    if error.errno not in _NO_ROOM:
        return StoreError(f"cannot write {path}: {error.strerror}")
    if error.errno == errno.EFBIG:
        return StoreError(
            f"no room for {path}: files may not become so large here (see ulimit -f); choose another place"
        )
    wanted = f"{needed} bytes needed, " if needed is not None else f"{written} bytes written, " if written else ""
    with suppress(OSError):
        free = shutil.disk_usage(path.parent).free
        return StoreError(f"no room for {path}: {wanted}{free} bytes free; make room or choose another place")
    return StoreError(f"no room for {path}: make room or choose another place")


def _seal(partial: Path, name: str) -> FileEntry:
    """Bring a finished file to the disk for good, and take its size and checksum."""
    with _blaming(partial), partial.open("r+b") as file:
        os.fsync(file.fileno())
        return FileEntry(name, os.fstat(file.fileno()).st_size, _sha256(file))


@contextmanager
def _blaming(partial: Path) -> Iterator[None]:
    """Say of an error that the writing failed, not something that the caller's block read."""
    try:
        yield
    except OSError as error:
        error.filename = str(partial)
        raise


def _sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk; Windows does so by itself and cannot be asked."""
    if os.name != "nt":
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class FolderWriter:
    """The one who may change a folder: made by `open_writer`, valid within its block."""

    def __init__(self, path: Path, kind: str, version: int, committed: Folder | None) -> None:
        self.path = path
        self._kind = kind
        self._version = version
        self._committed = committed
        self._added: dict[str, FileEntry] = {}
        self._dropped: set[str] = set()

    @property
    def meta(self) -> dict[str, Any] | None:
        """What the last commit said, or None before the first."""
        return None if self._committed is None else self._committed.meta

    @property
    def files(self) -> dict[str, FileEntry]:
        """The data files of the last commit."""
        return {} if self._committed is None else self._committed.files

    def fresh_name(self, name: str) -> str:
        """Give the name under which a file can be written without touching one that is committed.

        That is ``name`` itself, or ``counts.v2.parquet`` where ``counts.parquet`` is taken, and so on.
        """
        taken = self.files.keys() | self._added.keys()
        stem, dot, suffix = name.rpartition(".")
        number, fresh = 1, name
        while fresh in taken:
            number += 1
            fresh = f"{stem}.v{number}.{suffix}" if dot else f"{name}.v{number}"
        _check_name(fresh)
        return fresh

    @contextmanager
    def new_file(self, name: str, *, needed: int | None = None) -> Iterator[NewFile]:
        """Write a data file of the next commit; ``needed`` is its size, where known, in case of no room.

        Where the last commit lists a file of this name, that one stays if the new one is the same, and
        otherwise the new one gets the `fresh_name`.
        """
        _check_name(name)
        if name in self._added:
            raise UsageError(f"{name} was already written in this commit")
        with _partial(self.path / name, needed) as new:
            yield new
            entry = _seal(new.path, name)
            if old := self._same(entry):
                new.path.unlink()
                entry = old
            else:
                entry = replace(entry, name=self.fresh_name(name))
                new.path.replace(self.path / entry.name)
            self._added[entry.name] = entry
            new.finish(entry)

    def _same(self, entry: FileEntry) -> FileEntry | None:
        """Find the committed generation of a file that has the same content."""
        for old in self.files.values():
            if without_generation(old.name) == entry.name and replace(old, name=entry.name) == entry:
                return old
        return None

    def add(self, entry: FileEntry) -> None:
        """Add a file that a task wrote with `write_file`, by the entry it reported."""
        _check_name(entry.name)
        if self.files.get(entry.name, entry) != entry:
            raise UsageError(f"{entry.name} is already part of {self.path}: write it under its fresh_name()")
        _check_size(self.path, entry)
        self._added[entry.name] = entry

    def commit(self, meta: Mapping[str, Any], *, keep: Collection[str] | None = None) -> None:
        """Make ``meta``, the added files and those kept from the last commit the truth, all at once.

        ``keep`` names the files to keep; by default all, but those written anew under a fresh name.
        """
        added = {without_generation(name) for name in self._added}
        kept = {
            name: entry
            for name, entry in self.files.items()
            if (name in keep if keep is not None else without_generation(name) not in added)
        }
        files = kept | self._added
        manifest = {name: {"bytes": entry.bytes, "sha256": entry.sha256} for name, entry in files.items()}
        whole = {**meta, "kind": self._kind, "format": self._version, "files": manifest}
        try:
            data = dump_json(whole)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{META} can only hold what JSON can say: {error}") from error
        if len(data) > META_LIMIT:
            raise UsageError(f"{META} would have {len(data)} bytes, expected at most {META_LIMIT}")
        self._replace_meta(data)
        self._dropped |= self.files.keys() - files.keys()
        self._committed = Folder(self.path, parse_json(data))
        self._added = {}

    def _replace_meta(self, data: bytes) -> None:
        partial = self.path / f"{META}.{secrets.token_hex(4)}{PARTIAL}"
        try:
            # The names of the data files must be on the disk before the manifest that lists them.
            _sync_folder(self.path)
            with partial.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(self.path / META)
            _sync_folder(self.path)
        except OSError as error:
            with suppress(OSError):
                partial.unlink()
            raise _write_error(self.path / META, error, len(data), 0) from error

    def sweep(self, keep: Collection[str] = ()) -> list[str]:
        """Remove what killed runs and earlier commits left behind, and give the names removed.

        Only files that are surely ours: unfinished ones (``.partial``), Parquet and safetensors files that
        neither the last commit nor this one nor ``keep`` lists, and what the commits of this writer dropped.
        Anything else in the folder, notes or pictures, is the user's. Sweep while no task is writing.
        """
        listed = {META, LOCK, *self.files, *self._added, *keep}
        removed = []
        for path in sorted(self.path.iterdir()):
            ours = path.name.endswith((PARTIAL, *DATA_SUFFIXES)) or path.name in self._dropped
            if ours and path.name not in listed and (path.is_symlink() or path.is_file()):
                # On Windows a file that somebody reads cannot be removed; the next sweep will.
                with suppress(OSError):
                    path.unlink()
                    removed.append(path.name)
        return removed


@contextmanager
def open_writer(
    path: str | Path, kind: str, version: int = 1, *, wait: float = 0.0, cancel: Cancellation | None = None
) -> Iterator[FolderWriter]:
    """Open a folder for writing, making it where there is none, and lock it while the block runs.

    Another writer is waited for at most ``wait`` seconds. Folders of another kind or of somebody else, and
    files, are refused before anything in them is touched.
    """
    path = Path(path)
    _check_place(path, kind, version)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {path}: {error.strerror}") from error
    with hold_lock(path / LOCK, wait=wait, cancel=cancel):
        yield FolderWriter(path, kind, version, _check_place(path, kind, version))


def _check_place(path: Path, kind: str, version: int) -> Folder | None:
    """Open what is committed at a place, or None where a new folder can be made."""
    try:
        return Folder.open(path, kind, version)
    except NotFoundError as error:
        if (path / META).exists():
            raise StoreError(f"{error}; choose another place to write to") from None
    if not path.is_dir():
        if path.exists() or path.is_symlink():
            raise StoreError(f"{path} is not a folder; choose another place to write to")
        return None
    lock = path / LOCK
    try:
        names = {entry.name for entry in path.iterdir()}
        # A writer killed in its first moments leaves an empty lock, or one that bears our mark.
        ours = not names or is_marked(lock) or (names == {LOCK} and lock.read_bytes() == b"")
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    if not ours:
        raise StoreError(f"{path} is neither empty nor ours; choose another place to write to")
    return None
