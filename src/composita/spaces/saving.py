"""Spaces on disk: a folder of kind ``space``; the format is told in docs/formats-spaces.md."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from composita.counting.counts import Counts, Matrix
from composita.counting.keys import pack
from composita.counting.labels import ABSENT, Names
from composita.counting.patterns import MOST_ARGUMENTS, Pattern
from composita.spaces import building
from composita.spaces.cells import check_cells, check_pointers
from composita.spaces.items import Items
from composita.spaces.steps import STEPS, Chain, Rows, is_sparse
from composita.store.arrays import read_arrays, reserve_array, write_arrays
from composita.store.errors import CorruptError, UsageError
from composita.store.folder import Folder, FolderWriter, fingerprint, open_writer
from composita.store.progress import Cancellation, ProgressCallback
from composita.store.tables import read_table, write_table

if TYPE_CHECKING:
    from composita.spaces.space import Space
    from composita.store.engine import Engine

KIND, VERSION = "space", 1

Int64Array = npt.NDArray[np.int64]
_PLACES = [f"argument_{place + 1}" for place in range(MOST_ARGUMENTS)]


# ---------------------------------------------------------------- writing


def write(space: Space, path: Path) -> None:
    """Write a space to a folder."""
    with open_writer(path, KIND, VERSION) as writer:
        _write_rows(writer, space.rows_data)
        _write_frame(writer, space, space.nonzeros)
        _commit(writer, space, space.shape)


def write_projected(
    space: Space,
    counts: Counts,
    rows: Int64Array | None,
    path: Path,
    *,
    engine: Engine | None,
    progress: ProgressCallback,
    cancel: Cancellation | None,
) -> None:
    """Write a space whose rows are yet to be computed from counts, piece by piece where they are dense."""
    shape = len(space.items), building.dimensions_of(space.chain, counts)
    with open_writer(path, KIND, VERSION) as writer:
        if is_sparse(space.chain):
            data, nonzeros = building.project_rows(
                counts, rows, space.chain, engine=engine, progress=progress, cancel=cancel
            )  # fmt: skip
            _write_rows(writer, data)
        else:
            with writer.new_file("vectors.safetensors", needed=4 * shape[0] * shape[1]) as new:
                begin, lock = reserve_array(new.path, "vectors", np.float32, shape), threading.Lock()
                with new.path.open("r+b") as file:

                    def put(first: int, block: npt.NDArray[np.float32]) -> None:
                        with lock:
                            file.seek(begin + 4 * shape[1] * first)
                            file.write(np.ascontiguousarray(block, "<f4").data)

                    _, nonzeros = building.project_rows(
                        counts, rows, space.chain, write=put, engine=engine, progress=progress, cancel=cancel
                    )  # fmt: skip
        _write_frame(writer, space, nonzeros)
        _commit(writer, space, shape)


def write_stream(
    path: Path, shape: tuple[int, int], blocks: Iterator[npt.NDArray[np.float32]], items: Callable[[], Items]
) -> None:
    """Write a space of vectors that come in blocks; what they are is asked for when the last has come."""
    from composita.spaces.space import Space

    nonzeros, first, digest = np.empty(shape[0], np.int32), 0, hashlib.sha256()
    with open_writer(path, KIND, VERSION) as writer:
        with writer.new_file("vectors.safetensors", needed=4 * shape[0] * shape[1]) as new:
            begin = reserve_array(new.path, "vectors", np.float32, shape)
            with new.path.open("r+b") as file:
                file.seek(begin)
                for block in blocks:
                    data = np.ascontiguousarray(block, "<f4")
                    file.write(data.data)
                    digest.update(data.data)
                    nonzeros[first : first + len(block)] = np.count_nonzero(block, axis=1)
                    first += len(block)
        found = items()
        space = Space(
            found, np.empty((0, shape[1]), np.float32), np.ones(shape[0], bool), np.zeros(shape[0], np.int64), nonzeros,
            source="vectors", source_fingerprint=fingerprint("vectors", found.labels(), [digest.hexdigest()]),
        )  # fmt: skip
        _write_frame(writer, space, nonzeros)
        _commit(writer, space, shape)


def _write_rows(writer: FolderWriter, rows: Rows) -> None:
    if isinstance(rows, Matrix):
        arrays: dict[str, Any] = {
            "indptr": rows.indptr, "indices": rows.indices, "data": rows.data.astype(np.float32, copy=False),
        }  # fmt: skip
        with writer.new_file("cells.safetensors") as new:
            write_arrays(new.path, arrays)
        return
    with writer.new_file("vectors.safetensors", needed=rows.nbytes) as new:
        write_arrays(new.path, {"vectors": rows})


def _write_frame(writer: FolderWriter, space: Space, nonzeros: npt.NDArray[np.int32]) -> None:
    """Write what the rows are, the columns of the counts, the steps, and the forms."""
    items = space.items
    columns: dict[str, Any] = {"label": items.label_array()}
    if items.plain is None:
        fields = items.fields
        patterns = pa.array(["word", *items.patterns], pa.string())
        joints = pa.array([ABSENT, *items.names.joints], pa.string())
        columns["pattern"] = pa.DictionaryArray.from_arrays(pa.array(fields.pattern.astype(np.int8)), patterns)
        columns["head"] = fields.head.astype(np.int32)
        columns["joint"] = pa.DictionaryArray.from_arrays(pa.array(fields.joint.astype(np.int32)), joints)
        for place, name in enumerate(_PLACES):
            columns[name] = fields.arguments[:, place].astype(np.int32)
        words = list(items.words)
        with writer.new_file("words.parquet") as new:
            write_table(new.path, {
                "label": words, "lemma": [w[:-2] for w in words], "pos": [w[-1] for w in words],
                "row": items.word_rows,
            })  # fmt: skip
    columns |= {"core": space.core, "frequency": space.frequency, "nonzeros": nonzeros.astype(np.int32)}
    with writer.new_file("items.parquet") as new:
        write_table(new.path, columns)
    if space.columns:
        with writer.new_file("columns.parquet") as new:
            write_table(new.path, {"label": list(space.columns)})
    if space.chain:
        with writer.new_file("steps.safetensors") as new:
            write_arrays(new.path, {
                f"{number}.{name}": array
                for number, step in enumerate(space.chain)
                for name, array in step.arrays().items()
            })  # fmt: skip
    if space.forms is not None:
        with writer.new_file("forms.parquet") as new:
            write_table(new.path, {
                name: space.forms.column(name).combine_chunks() for name in space.forms.column_names
            })  # fmt: skip


def _commit(writer: FolderWriter, space: Space, shape: tuple[int, int]) -> None:
    names = space.items.names
    meta = {
        "parameters": {"patterns": {p.name: p.to_table() for p in names.patterns}},
        "plain": space.items.plain is not None,
        "joints": list(names.joints),
        "shape": list(shape),
        "sparse": is_sparse(space.chain) if space.source == "counts" else space.is_sparse,
        "source": space.source,
        "steps": [{"kind": step.kind, "parameters": step.parameters()} for step in space.chain],
        "history": space.history,
        "fingerprint": space.fingerprint,
        "fingerprints": {space.source: space.source_fingerprint},
    }
    writer.commit(meta, keep=())
    writer.sweep()


# ---------------------------------------------------------------- reading


def read(path: Path) -> Space:
    """Open a space; its vectors are mapped, not read."""
    folder = Folder.open(path, KIND, VERSION)
    try:
        return _read(folder)
    except (KeyError, TypeError, ValueError, IndexError, UsageError, pa.ArrowException) as error:
        raise CorruptError(f"{folder.path}: not a space that can be read: {error}; make it again") from None


def _read(folder: Folder) -> Space:
    from composita.spaces.space import Space

    meta = folder.meta
    table = read_table(folder.file("items.parquet"), _columns_of(meta))
    items = _read_items(folder, table)
    size, dimensions = meta["shape"]
    data = _read_rows(folder, (size, dimensions))
    if not len(items) == size == data.shape[0] or data.shape[1] != dimensions:
        raise ValueError(f"{len(items)} items and vectors of the shape {tuple(data.shape)} are not of {meta['shape']}")
    has = {name.partition(".")[0] for name in folder.files}
    columns = read_table(folder.file("columns.parquet")).column("label").to_pylist() if "columns" in has else []
    return Space(
        items, data, table.column("core").to_numpy(), table.column("frequency").to_numpy(),
        table.column("nonzeros").to_numpy(), _read_chain(folder, "steps" in has), tuple(columns), meta["source"],
        meta["fingerprints"][meta["source"]],
        read_table(folder.file("forms.parquet")) if "forms" in has else None, folder.path,
    )  # fmt: skip


def _columns_of(meta: dict[str, Any]) -> list[str]:
    keys = ["label"] if meta["plain"] else ["pattern", "head", "joint", *_PLACES]
    return [*keys, "core", "frequency", "nonzeros"]


def _read_items(folder: Folder, table: pa.Table) -> Items:
    meta = folder.meta
    if meta["plain"]:
        return Items.from_labels(table.column("label").to_pylist())
    tables = meta["parameters"]["patterns"]
    patterns = tuple(Pattern.from_table(name, tables[name]) for name in sorted(tables))
    words = read_table(folder.file("words.parquet"), ["label"]).column("label").to_pylist()
    names = Names(tuple(words), patterns, tuple(meta["joints"]))
    pattern = _numbers(table.column("pattern"), ["word", *(p.name for p in patterns)])
    joint = _numbers(table.column("joint"), [ABSENT, *names.joints])
    arguments = np.column_stack([table.column(place).to_numpy() for place in _PLACES])
    head = table.column("head").to_numpy()
    if len(head) and (max(head.max(), arguments.max()) >= len(words) or head.min() < 0):
        raise ValueError("items have numbers of words that are not there")
    return Items(names, *pack(pattern, head, joint, arguments))


def _numbers(column: pa.ChunkedArray, strings: list[str]) -> Int64Array:
    """Give the place of each string of a column in a list."""
    place = {string: number for number, string in enumerate(strings)}
    whole = column.unify_dictionaries().combine_chunks() if column.num_chunks else column
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    numbers = np.array([place[string] for string in whole.dictionary.to_pylist()], np.int64)
    found: Int64Array = numbers[whole.indices.to_numpy()] if len(whole) else np.empty(0, np.int64)
    return found


def _read_rows(folder: Folder, shape: tuple[int, int]) -> Rows:
    if not folder.meta["sparse"]:
        vectors: Rows = read_arrays(folder.file("vectors.safetensors"))["vectors"]
        return vectors
    cells = read_arrays(folder.file("cells.safetensors"))
    indptr, indices, data = cells["indptr"], cells["indices"], cells["data"]
    rows = Matrix(indptr, indices, data, shape)
    check_pointers(rows, folder.path)
    check_cells(rows, folder.path)
    return rows


def _read_chain(folder: Folder, has_arrays: bool) -> Chain:
    arrays = read_arrays(folder.file("steps.safetensors")) if has_arrays else {}
    chain = []
    for number, said in enumerate(folder.meta["steps"]):
        if said["kind"] not in STEPS:
            raise ValueError(f"unknown step {said['kind']!r}")
        mine = {
            name.partition(".")[2]: array for name, array in arrays.items() if name.partition(".")[0] == str(number)
        }
        chain.append(STEPS[said["kind"]].restore(said["parameters"], mine))
    return tuple(chain)
