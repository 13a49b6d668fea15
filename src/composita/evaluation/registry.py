"""The registry: which benchmarks there are, where they were published, and where the user keeps them.

No benchmark is shipped with composita: most state no licence. `fetch` downloads one from where its authors published
it, `add` takes a file that is there already; both know a file by its checksum, or else by its structure. They are kept
in the user's data folder, ``$COMPOSITA_DATA_HOME`` or where the system keeps data.

>>> registered("gs2011").citation
'Grefenstette & Sadrzadeh 2011, ...'
>>> registered("gs2001")
Traceback (most recent call last):
composita.store.errors.UsageError: no benchmark is called 'gs2001'; did you mean gs2012 or gs2011?
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from composita.counting.words import suggest
from composita.store.errors import InputError, NotFoundError, StoreError, UsageError
from composita.store.progress import Cancellation, ProgressCallback, silent

CHECK = 1 << 20


@dataclass(frozen=True)
class Registered:
    """What is known of a published benchmark.

    Parameters
    ----------
    name, title
        What it is called here, and what it holds.
    citation
        Who published it.
    urls
        Where; the first that answers is taken. A page where one has to look for oneself is not among them.
    page
        The page that tells of it.
    file
        The name of its file.
    checksums
        The SHA-256 of the file in its known editions.
    format
        The format of its file, see `composita.evaluation.formats`.
    items, ratings, participants
        Its structure, where known; 0 otherwise.
    licence
        What its authors say.
    member
        Where what is published is a ZIP archive: the end of the name of the file in it.

    """

    name: str
    title: str
    citation: str
    urls: tuple[str, ...]
    file: str
    format: str
    page: str = ""
    checksums: tuple[str, ...] = ()
    items: int = 0
    ratings: int = 0
    participants: int = 0
    licence: str = "not stated"
    member: str = ""


_ACL = "https://aclanthology.org/"
_QMUL = "http://compling.eecs.qmul.ac.uk/wp-content/uploads/2015/07/"
_OXFORD = "http://www.cs.ox.ac.uk/activities/compdistmeaning/"
_ELLIPSIS = "https://raw.githubusercontent.com/gijswijnholds/compdisteval-ellipsis/master/datasets/"

REGISTRY: tuple[Registered, ...] = (
    Registered(
        "gs2011", "transitive verbs in context: draw line / attract line",
        "Grefenstette & Sadrzadeh 2011, Experimental support for a categorical compositional distributional model of "
        "meaning, EMNLP",
        ("https://arxiv.org/src/1106.4058v1/anc/GS2011data.txt", _OXFORD + "GS2011data.txt"), "GS2011data.txt",
        "gs2011", _ACL + "D11-1129", ("e733f60f0a10d9bd6feabe76470445f8baf2aa2c07e804eac9ea26cf8537e961",),
        199, 2500, 25,
    ),
    Registered(
        "ml2008", "intransitive verbs in context: fire glowed / fire beamed",
        "Mitchell & Lapata 2008, Vector-based models of semantic composition, ACL", (), "ML2008.txt", "ml2008",
        "http://homepages.inf.ed.ac.uk/s0453356/",
        ("37cdf7e426dd8337caf4931c5d8ceba79a75614d0c881ed1e81944eb7b71f553",
         "fb1028e418d1601adb1e4bdb7a8fb4a0845bc4d2f691da5a6ce8e656250f5cc8"), 120, 3600, 60,
    ),
    Registered(
        "gs2012", "transitive verbs in context, with adjectives: statistical table show good result / express",
        "Grefenstette & Sadrzadeh 2015, Concrete models and empirical evaluations for the categorical compositional "
        "distributional model of meaning, Computational Linguistics 41",
        (_OXFORD + "GS2012data.txt",), "GS2012data.txt", "gs2012", _ACL + "J15-1004",
        ("5803a23a3a2690d7f256424343c814183268e31e972dd08f788de92c9fdd3d38",), 194, 9700, 50,
    ),
    Registered(
        "ks2013", "transitive verbs in context, with adjectives",
        "Kartsaklis, Sadrzadeh & Pulman 2013, Separating disambiguation from composition in distributional semantics, "
        "CoNLL", (_QMUL + "KS2013-CoNLL.txt",), "KS2013-CoNLL.txt", "gs2012", _ACL + "W13-3513",
    ),
    Registered(
        "ks2013-emnlp", "pairs of transitive sentences",
        "Kartsaklis & Sadrzadeh 2013, Prior disambiguation of word tensors for constructing sentence vectors, EMNLP",
        (_QMUL + "KS2013-EMNLP.txt",), "KS2013-EMNLP.txt", "ks2014", _ACL + "D13-1166",
    ),
    Registered(
        "ks2014", "pairs of transitive sentences: project present problem / programme face difficulty",
        "Kartsaklis & Sadrzadeh 2014, A study of entanglement in a categorical framework of natural language, QPL",
        (_QMUL + "KS2014.txt",), "KS2014.txt", "ks2014", "https://arxiv.org/abs/1405.2874", items=108,
    ),
    Registered(
        "ml2010", "pairs of short phrases: vast amount / large quantity",
        "Mitchell & Lapata 2010, Composition in distributional models of semantics, Cognitive Science 34", (),
        "ML2010.txt", "ml2010", "http://homepages.inf.ed.ac.uk/s0453356/", items=324, ratings=5832,
    ),
    Registered(
        "relpron", "terms and relative clauses that describe them: garrison / organization that army installs",
        "Rimell, Maillard, Polajnar & Clark 2016, RELPRON: a relative clause evaluation data set for compositional "
        "distributional semantics, Computational Linguistics 42", (), "relpron.all", "relpron",
        "https://www.repository.cam.ac.uk/handle/1810/256438", items=1087,
    ),
    Registered(
        "elldis", "ellipsis with verbs in context: man draw sword and artist does too / man depict ...",
        "Wijnholds & Sadrzadeh 2019, Evaluating composition models for verb phrase elliptical sentence embeddings, "
        "NAACL",
        (_ELLIPSIS + "ELLDIS.txt",), "ELLDIS.txt", "ellipsis", _ACL + "N19-1023",
    ),
    Registered(
        "ellsim", "pairs of sentences with ellipsis",
        "Wijnholds & Sadrzadeh 2019, Evaluating composition models for verb phrase elliptical sentence embeddings, "
        "NAACL",
        (_ELLIPSIS + "ELLSIM.txt",), "ELLSIM.txt", "ellipsis", _ACL + "N19-1023",
    ),
    Registered(
        "sick", "pairs of sentences of running text",
        "Marelli, Menini, Baroni, Bentivogli, Bernardi & Zamparelli 2014, A SICK cure for the evaluation of "
        "compositional distributional semantic models, LREC",
        ("https://zenodo.org/records/2787612/files/SICK.zip",), "SICK.txt", "sick",
        "https://zenodo.org/records/2787612", items=9840, licence="CC BY-NC-SA 3.0", member="SICK.txt",
    ),
    Registered(
        "men", "how related two words are",
        "Bruni, Tran & Baroni 2014, Multimodal distributional semantics, JAIR 49", (), "MEN_dataset_lemma_form_full",
        "men", "http://clic.cimec.unitn.it/~elia.bruni/MEN",
        ("d13c9c666691944c29aa4bdee7128fa69eb5f9734603f8c6048d1bc2ca08465a",), 3000, licence="CC BY 2.0",
    ),
    Registered(
        "simlex", "how alike two words are",
        "Hill, Reichart & Korhonen 2015, SimLex-999: evaluating semantic models with (genuine) similarity estimation, "
        "Computational Linguistics 41", ("https://fh295.github.io/SimLex-999.zip",), "SimLex-999.txt", "simlex",
        "https://fh295.github.io/simlex.html",
        ("ca00ff8515a36cde32d13c2b83def23f5a167b67db93ebfcfb7dae039ba22c0b",), 999, member="SimLex-999.txt",
    ),
    Registered(
        "simverb", "how alike two verbs are",
        "Gerz, Vulić, Hill, Reichart & Korhonen 2016, SimVerb-3500: a large-scale evaluation set of verb similarity, "
        "EMNLP", (), "SimVerb-3500.txt", "simverb", "http://people.ds.cam.ac.uk/dsg40/simverb.html", items=3500,
    ),
    Registered(
        "wordsim", "how related two words are",
        "Finkelstein et al. 2002, Placing search in context: the concept revisited, ACM TOIS 20", (), "combined.csv",
        "wordsim", "http://www.cs.technion.ac.il/~gabr/resources/data/wordsim353/", items=353,
    ),
)  # fmt: skip
"""What is known. No address is known where ``urls`` is empty: then the page says where to look."""


@dataclass(frozen=True)
class Kept:
    """A benchmark as it is kept, or not, in the user's data folder."""

    name: str
    path: Path | None
    checksum: str = ""
    known: bool = False  # whether the checksum is one of the registry's
    remarks: tuple[str, ...] = field(default=())


def data_home() -> Path:
    """Give the user's folder for benchmarks: ``$COMPOSITA_DATA_HOME``, or where the system keeps data."""
    if chosen := os.environ.get("COMPOSITA_DATA_HOME"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "composita" / "data"
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/composita"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "composita"


def registered(name: str) -> Registered:
    """Find a benchmark by its name."""
    for entry in REGISTRY:
        if entry.name == name.lower():
            return entry
    names = [entry.name for entry in REGISTRY]
    hint = suggest(name.lower(), names) or f": choose {', '.join(names)}"
    raise UsageError(f"no benchmark is called {name!r}{hint}")


def known_by_checksum(checksum: str) -> Registered | None:
    """Find the benchmark that has a file of this checksum."""
    return next((entry for entry in REGISTRY if checksum in entry.checksums), None)


def local_file(name: str) -> Path:
    """Give the file of a benchmark that is kept in the user's data folder."""
    folder = data_home() / "benchmarks"
    found = sorted((folder / name.lower()).glob("*")) if (folder / name.lower()).is_dir() else []
    files = [path for path in found if path.is_file() and not path.name.endswith(".partial")]
    if files:
        return files[0]
    entry = registered(name)
    way = f"composita data fetch {entry.name}" if entry.urls else f"get {entry.file} from {entry.page}"
    raise NotFoundError(
        f"{entry.name} is not in {folder}: {way}, or, if you have the file: composita data add {entry.file}"
    )


def listed() -> list[tuple[Registered | None, Kept]]:
    """List what is registered and what is kept, the registered ones first."""
    folder = data_home() / "benchmarks"
    names = [entry.name for entry in REGISTRY]
    own = sorted(p.name for p in folder.iterdir() if p.is_dir() and p.name not in names) if folder.is_dir() else []
    return [(entry, _kept(entry.name)) for entry in REGISTRY] + [(None, _kept(name)) for name in own]


def _kept(name: str) -> Kept:
    folder = data_home() / "benchmarks" / name
    files = sorted(folder.glob("*")) if folder.is_dir() else []
    files = [path for path in files if path.is_file() and not path.name.endswith(".partial")]
    if not files:
        return Kept(name, None)
    checksum = checksum_of(files[0])
    return Kept(name, files[0], checksum, known=known_by_checksum(checksum) is not None)


def checksum_of(path: Path) -> str:
    """Compute the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(CHECK):
            digest.update(block)
    return digest.hexdigest()


def add(path: str | Path, name: str | None = None) -> Kept:
    """Copy a file into the user's data folder, under the name of the benchmark that it is.

    A file is known by its checksum; otherwise by its structure: the format, and the numbers of items and ratings. One's
    own ratings are kept under the file's name, or under ``name``.
    """
    from composita.evaluation.benchmarks import Benchmark

    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    benchmark = Benchmark.load(path)
    known = known_by_checksum(benchmark.checksum)
    if known is None and name is None:
        known = _by_structure(benchmark.format, len(benchmark), len(benchmark.ratings), path.name)
    chosen = (name or (known.name if known else path.stem)).lower().replace(" ", "-")
    if not chosen.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise UsageError(f"expected a name of letters, digits and dashes, got {chosen!r}: pass --name")
    remarks = list(benchmark.remarks)
    entry = next((entry for entry in REGISTRY if entry.name == chosen), None)
    if entry and entry.checksums and benchmark.checksum not in entry.checksums:
        remarks.insert(0, f"its checksum is none of those known for {chosen}: another edition, or a changed file")
    target = _store(chosen, path.name, path.read_bytes())
    return Kept(chosen, target, benchmark.checksum, known_by_checksum(benchmark.checksum) is not None, tuple(remarks))


def _by_structure(form: str, items: int, ratings: int, file: str) -> Registered | None:
    """Find the benchmark of this format and size; where sizes are not known, the name of the file decides."""
    alike = [entry for entry in REGISTRY if entry.format == form]
    for entry in alike:
        if entry.items == items and entry.ratings in (0, ratings):
            return entry
    return next((entry for entry in alike if entry.file.lower() == file.lower()), None)


def _store(name: str, file: str, data: bytes) -> Path:
    """Put a file in its place, all at once; an earlier one of this benchmark goes."""
    folder = data_home() / "benchmarks" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / file
        partial = folder / f"{file}.new.partial"
        partial.write_bytes(data)
        partial.replace(target)
        for other in folder.iterdir():
            if other.is_file() and other != target:
                other.unlink()
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror}; set COMPOSITA_DATA_HOME") from None
    return target


def fetch(
    name: str, *, urls: Sequence[str] = (), timeout: float = 30.0, progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Kept:  # fmt: skip
    """Download a benchmark from where it was published, and check that it is what it should be.

    An interrupted download goes on where it was. ``urls`` are tried instead of those of the registry.
    """
    from composita.evaluation.benchmarks import Benchmark
    from composita.evaluation.download import download, unzipped

    entry = registered(name)
    places = tuple(urls) or entry.urls
    if not places:
        raise NotFoundError(
            f"{entry.name} has no address of its own: get {entry.file} from {entry.page}, then: "
            f"composita data add {entry.file}"
        )
    folder = data_home() / "benchmarks" / entry.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make {folder}: {error.strerror}; set COMPOSITA_DATA_HOME") from None
    data = download(places, folder / f"{entry.file}.partial", timeout=timeout, progress=progress, cancel=cancel)
    if data[:4] == b"PK\x03\x04":
        data = unzipped(data, entry.member or entry.file)
    checksum = hashlib.sha256(data).hexdigest()
    if entry.checksums and checksum not in entry.checksums:
        raise InputError(
            f"what was downloaded has the SHA-256 {checksum}, expected {' or '.join(entry.checksums)}: it was not "
            f"kept; if you trust it, download it yourself and: composita data add FILE --name {entry.name}",
            source=places[0],
        )
    benchmark = Benchmark.from_text(data.decode("utf-8-sig", "replace"), entry.name, entry.file, checksum)
    remarks = benchmark.remarks
    if entry.items and len(benchmark) != entry.items:
        remarks = (f"it has {len(benchmark):,} items, expected {entry.items:,}", *remarks)
    return Kept(entry.name, _store(entry.name, entry.file, data), checksum, checksum in entry.checksums, remarks)
