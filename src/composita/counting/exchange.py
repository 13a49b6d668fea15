"""Counts for other programs, and back: Matrix Market, and DISSECT's ``.sm`` with ``.rows`` and ``.cols``.

Labels in these files have no blanks: ``svo:chase-v(cat-n,dog-n)``; a blank within a word is written ``%20``. Neither
format has a place for how often an item occurred: what is read back has the largest cell of its row instead.

>>> import tempfile
>>> small = Counts.from_cells({"dog-n": {"bark-v": 2}, "cat-n": {"tail-n": 3}})
>>> stem = Path(tempfile.mkdtemp(), "small")
>>> write_dissect(small, stem)
>>> print(stem.with_name("small.sm").read_text(), end="")
cat-n tail-n 3
dog-n bark-v 2
>>> read_dissect(stem).row("dog-n")
{'bark-v': 2}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from composita.corpus.output import replacing
from composita.counting.counts import Counts, Segment
from composita.counting.keys import pack
from composita.counting.labels import ABSENT, Names
from composita.counting.patterns import MOST_ARGUMENTS, Pattern, built_in
from composita.counting.words import order_of, split_label
from composita.store.errors import InputError

Int64Array = npt.NDArray[np.int64]
CHUNK = 1 << 20
PHRASE = re.compile(r"([a-z][a-z0-9_-]*):(.+?-[nvarp])\((.*)\)")


# ---------------------------------------------------------------- writing


def write_dissect(counts: Counts, stem: str | Path) -> None:
    """Write ``STEM.sm`` (row, column, count), ``STEM.rows`` and ``STEM.cols``."""
    rows, columns = _write_labels(counts, stem)
    row_strings, column_strings = pa.array(rows, pa.string()), pa.array(columns, pa.string())
    with replacing(_path(stem, "sm")) as write:
        for row, column, value in _cells(counts):
            cells = [row_strings.take(pa.array(row)), column_strings.take(pa.array(column)), pa.array(value)]
            write(_lines(cells))


def write_matrix_market(counts: Counts, stem: str | Path) -> None:
    """Write ``STEM.mtx``, and the labels of its rows and columns in ``STEM.rows`` and ``STEM.cols``."""
    _write_labels(counts, stem)
    kind = "integer" if counts.unit == 1 else "real"
    with replacing(_path(stem, "mtx")) as write:
        write(f"%%MatrixMarket matrix coordinate {kind} general\n".encode())
        write(f"{counts.shape[0]} {counts.shape[1]} {counts.cells}\n".encode())
        for row, column, value in _cells(counts):
            write(_lines([pa.array(row + 1), pa.array(column + 1), pa.array(value)]))


def _path(stem: str | Path, suffix: str) -> Path:
    return Path(f"{stem}.{suffix}")


def _write_labels(counts: Counts, stem: str | Path) -> tuple[list[str], list[str]]:
    patterns = ["", *(f"{pattern.name}:" for pattern in counts.names.patterns)]
    rows = [
        patterns[pattern] + file_label(label.replace(", ", ",") if pattern else label)
        for pattern, label in zip(counts.fields.pattern.tolist(), counts.labels(), strict=True)
    ]
    columns = [file_label(label) for label in counts.columns]
    for suffix, labels in (("rows", rows), ("cols", columns)):
        with replacing(_path(stem, suffix)) as write:
            write("".join(f"{label}\n" for label in labels).encode())
    return rows, columns


def file_label(label: str) -> str:
    """Write blanks, and the sign that announces them, so that they can be read back."""
    return re.sub(r"[\s%\"]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), label)


def _cells(counts: Counts) -> Iterator[tuple[Int64Array, Int64Array, npt.NDArray[Any]]]:
    """Give the cells in pieces: row, column, count."""
    matrix = counts.matrix()
    for start in range(0, len(matrix.indices), CHUNK):
        stop = min(start + CHUNK, len(matrix.indices))
        row = np.searchsorted(matrix.indptr, np.arange(start, stop), side="right") - 1
        value = matrix.data[start:stop]
        yield row, matrix.indices[start:stop].astype(np.int64), value if counts.unit == 1 else value / counts.unit


def _lines(columns: Sequence[pa.Array]) -> bytes:
    """Write columns as lines, divided by blanks."""
    sink = pa.BufferOutputStream()
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    names = [str(number) for number in range(len(columns))]
    pyarrow.csv.write_csv(pa.table(dict(zip(names, columns, strict=True))), sink, options)
    text: bytes = sink.getvalue().to_pybytes()
    return text


# ---------------------------------------------------------------- reading


def read_dissect(stem: str | Path) -> Counts:
    """Read ``STEM.sm`` with ``STEM.rows`` and ``STEM.cols``: whole numbers; cells that come twice are added up."""
    path = _path(stem, "sm")
    rows, columns = read_labels(_path(stem, "rows")), read_labels(_path(stem, "cols"))
    table = _read_columns(path, (pa.string(), pa.string(), pa.float64()), 0)
    places = []
    for number, labels in enumerate((rows, columns)):
        found = pc.index_in(table.column(number), pa.array(labels, pa.string()))
        if found.null_count:
            line = int(np.flatnonzero(pc.is_null(found).to_numpy(zero_copy_only=False))[0]) + 1
            raise InputError(
                f"{table.column(number)[line - 1].as_py()!r} is not in {stem}.{('rows', 'cols')[number]}",
                source=path,
                line=line,
            )
        places.append(found.to_numpy().astype(np.int64))
    return _build(rows, columns, places[0], places[1], table.column(2).to_numpy(), path)


def read_matrix_market(stem: str | Path) -> Counts:
    """Read ``STEM.mtx`` with the labels in ``STEM.rows`` and ``STEM.cols``; whole numbers only."""
    path = _path(stem, "mtx")
    rows, columns = read_labels(_path(stem, "rows")), read_labels(_path(stem, "cols"))
    skipped, size = _read_head(path)
    if size[:2] != (len(rows), len(columns)):
        raise InputError(
            f"expected {len(rows)} rows and {len(columns)} columns, as there are labels, got {size[:2]}", source=path
        )
    if not size[2]:
        none = np.empty(0, np.int64)
        return _build(rows, columns, none, none, none, path)
    table = _read_columns(path, (pa.int64(), pa.int64(), pa.float64()), skipped)
    row, column, value = (table.column(number).to_numpy() for number in range(3))
    if len(row) != size[2]:
        raise InputError(f"expected {size[2]} cells, got {len(row)}", source=path)
    for name, places, most in (("row", row, len(rows)), ("column", column, len(columns))):
        if places.min() < 1 or places.max() > most:
            raise InputError(f"expected {name}s from 1 to {most}, got {places.min()} to {places.max()}", source=path)
    return _build(rows, columns, row - 1, column - 1, value, path)


def _read_head(path: Path) -> tuple[int, tuple[int, int, int]]:
    """Read the head of a Matrix Market file: how many lines it has, and rows, columns and cells."""
    try:
        with path.open(encoding="utf-8") as file:
            first = file.readline()
            fields = first.split()
            if len(fields) != 5 or fields[:3] != ["%%MatrixMarket", "matrix", "coordinate"] or fields[4] != "general":
                raise InputError(
                    f"expected '%%MatrixMarket matrix coordinate integer general', got {first.strip()[:80]!r}",
                    source=path,
                )
            for number, line in enumerate(file, 2):
                if not line.startswith("%"):
                    parts = tuple(int(part) for part in line.split())
                    if len(parts) != 3 or min(parts) < 0:
                        raise ValueError
                    return number, (parts[0], parts[1], parts[2])
        raise ValueError
    except (ValueError, UnicodeDecodeError):
        raise InputError("expected a line with the numbers of rows, columns and cells", source=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=path) from None


def _read_columns(path: Path, types: Sequence[Any], skipped: int) -> pa.Table:
    try:
        with path.open("rb") as file:
            head = [file.readline() for _ in range(skipped + 1)][-1]
        if not head:
            return pa.table({str(number): pa.array([], kind) for number, kind in enumerate(types)})
        tab = b"\t" in head
        names = [str(number) for number in range(len(types))]
        table = pyarrow.csv.read_csv(
            path,
            pyarrow.csv.ReadOptions(column_names=names, skip_rows=skipped),
            pyarrow.csv.ParseOptions(delimiter="\t" if tab else " ", quote_char=False),
            pyarrow.csv.ConvertOptions(column_types=dict(zip(names, types, strict=True)), strings_can_be_null=False),
        )
        if any(column.null_count for column in table.columns):
            raise InputError("expected row, column and count in every line, found one that is missing", source=path)
        return table
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=path) from None
    except pa.ArrowException as error:
        raise InputError(f"expected row, column and count: {' '.join(str(error).split())[:200]}", source=path) from None


def read_labels(path: Path) -> list[str]:
    """Read labels, one a line, each once."""
    try:
        labels = [line.strip() for line in path.read_text(encoding="utf-8").split("\n")]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", source=path) from None
    labels = labels[:-1] if labels and not labels[-1] else labels
    if len(set(labels)) < len(labels):
        raise InputError("expected each label once", source=path)
    return labels


def _build(
    rows: Sequence[str],
    columns: Sequence[str],
    row: Int64Array,
    column: Int64Array,
    value: npt.NDArray[Any],
    path: Path,
) -> Counts:
    """Make counts of labels and cells, in our order."""
    usable = np.isfinite(value) & (np.abs(value) < 1 << 62)
    whole = np.where(usable, value, -1).astype(np.int64)
    if (whole != value).any() or (whole < 0).any():
        raise InputError("expected counts: whole numbers from 0; weighted values belong into a space", source=path)
    labels = [original_label(label) for label in rows]
    names, upper, lower = parse_rows(labels, _path(path.with_suffix(""), "rows"))
    contexts = [original_label(label) for label in columns]
    for number, label in enumerate(contexts, 1):
        if split_label(label) is None:
            raise InputError(
                f"expected a word such as dog-n, got {label!r}", source=path.with_suffix(".cols"), line=number
            )
    row_order = np.lexsort((lower, upper))
    column_order = np.array(sorted(range(len(contexts)), key=lambda i: order_of(contexts[i])), np.int64)
    new_row, new_column = np.empty_like(row_order), np.empty_like(column_order)
    new_row[row_order], new_column[column_order] = np.arange(len(row_order)), np.arange(len(column_order))
    keys = new_row[row] * max(1, len(contexts)) + new_column[column]
    distinct, inverse = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, inverse, whole)
    distinct, sums = distinct[sums > 0], sums[sums > 0]
    place, index = distinct // max(1, len(contexts)), distinct % max(1, len(contexts))
    frequency, totals = np.zeros(len(labels), np.int64), np.zeros(len(contexts), np.int64)
    np.maximum.at(frequency, place, sums)
    np.add.at(totals, index, sums)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=len(labels)))]).astype(np.int64)
    data = sums.astype(np.int32) if sums.max(initial=0) < 1 << 31 else sums
    core = np.array([word[-1] in "nv" for word in names.words], bool)
    return Counts(
        names, core, tuple(contexts[i] for i in column_order.tolist()), totals, np.empty(0, np.int64),
        upper[row_order], lower[row_order], frequency, (Segment(indptr, index.astype(np.int32), data),),
    )  # fmt: skip


def original_label(label: str) -> str:
    """Read back what `file_label` has written."""
    return re.sub(
        r"(?:%[0-9A-F]{2})+", lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), label
    )


def parse_rows(labels: Sequence[str], source: Path) -> tuple[Names, Int64Array, Int64Array]:
    """Read the labels of rows: words, and phrases with the name of a built-in pattern."""
    listed = {label for label in labels if split_label(label)}
    read: list[tuple[str, str, str, list[str]]] = []
    for number, label in enumerate(labels, 1):
        found = PHRASE.fullmatch(label)
        if found and found[1] in built_in():
            head, joint = _parse_head(found[2], listed)
            read.append((found[1], head, joint, found[3].split(",")))
        elif label in listed:
            read.append(("", label, "", []))
        else:
            raise InputError(f"expected dog-n or svo:chase-v(cat-n,dog-n), got {label!r}", source=source, line=number)
        for argument in read[-1][3]:
            if argument != ABSENT and split_label(argument) is None:
                raise InputError(f"{argument!r} in {label!r} is no word such as dog-n", source=source, line=number)
    words = sorted({word for _, head, _, rest in read for word in (head, *rest)} - {ABSENT}, key=order_of)
    patterns: list[Pattern] = [built_in()[name] for name in sorted({row[0] for row in read} - {""})]
    joints = sorted({row[2] for row in read} - {""}, key=str.encode)
    names = Names(tuple(words), tuple(patterns), tuple(joints))
    pattern = {"": 0} | {p.name: i for i, p in enumerate(patterns, 1)}
    joint_of = {"": 0} | {joint: i for i, joint in enumerate(joints, 1)}
    arguments = np.full((len(read), MOST_ARGUMENTS), -1, np.int64)
    for place, (_, _, _, rest) in enumerate(read):
        arguments[place, : len(rest)] = [names.ids.get(word, -1) for word in rest[:MOST_ARGUMENTS]]
    upper, lower = pack(
        np.array([pattern[row[0]] for row in read], np.int64), np.array([names.ids[row[1]] for row in read], np.int64),
        np.array([joint_of[row[2]] for row in read], np.int64), arguments,
    )  # fmt: skip
    return names, upper, lower


def _parse_head(head: str, listed: set[str]) -> tuple[str, str]:
    """Part what is joined from the head: ``live_in-v`` is ``live-v`` with ``in`` where only ``live-v`` is listed."""
    lemma, letter = head[:-2], head[-2:]
    for place in (place for place, sign in enumerate(lemma) if sign == "_"):
        if head not in listed and f"{lemma[:place]}{letter}" in listed:
            return f"{lemma[:place]}{letter}", lemma[place + 1 :]
    return head, ""
