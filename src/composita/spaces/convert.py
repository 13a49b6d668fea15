"""Converting vectors from any format to any other, by way of a space."""

from __future__ import annotations

import tempfile
from pathlib import Path

from composita.spaces.exchange import FORMATS, format_of, read_space, write_space
from composita.spaces.space import Space
from composita.store.errors import UsageError
from composita.store.folder import META


def convert(
    source: str | Path,
    target: str | Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    pos: str | None = None,
    rows: str | None = None,
) -> tuple[int, int]:
    """Convert a file or space into another, and say how many rows and dimensions it has; see ``composita convert``."""
    source, target = Path(source), Path(target)
    to_space = _is_space(target, target_format)
    if (source / META).is_file():
        if source_format not in (None, "space") or pos is not None:
            raise UsageError(f"{source} is a space, which has its format and letters already")
        return _write(_picked(Space.open(source), rows), target, to_space, target_format)
    if source.is_dir() or not source.exists():
        raise UsageError(f"cannot read {source}: expected a file of vectors, or a space")
    if to_space and rows is None:
        made = read_space(source, file_format=source_format, pos=pos, out=target)
        return made.shape
    # By way of a folder beside the target, because vectors may not fit into memory.
    with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".convert-") as folder:
        made = read_space(source, file_format=source_format, pos=pos, out=Path(folder) / "space")
        return _write(_picked(made, rows), target, to_space, target_format)


def _is_space(path: Path, named: str | None) -> bool:
    """Whether a folder is to be made, rather than a file."""
    if named is not None:
        if named != "space" and named not in FORMATS:
            raise UsageError(f"unknown format {named!r}: choose space, {', '.join(FORMATS)}")
        return named == "space"
    try:
        format_of(path)
    except UsageError:
        return not path.suffix or path.is_dir() or _unknown(path)
    return False


def _unknown(path: Path) -> bool:
    """Refuse names with a suffix that is nearly, but not quite, a format."""
    raise UsageError(f"no format is written to {path.suffix} files: say --to, or give a folder's name without a dot")


def _picked(space: Space, rows: str | None) -> Space:
    return space if rows is None else space.select(space.rows("word" if rows == "words" else rows))


def _write(space: Space, target: Path, to_space: bool, target_format: str | None) -> tuple[int, int]:
    if to_space:
        space.save(target)
    else:
        write_space(space, target, file_format=target_format)
    return space.shape
