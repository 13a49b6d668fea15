"""The description of an experiment: one TOML file, read into plain values, every one checked.

>>> experiment = Experiment.from_toml('''
... name = "mine"
... preset = "paper"
... [corpus]
... sources = "texts/*.conllu"
... [space]
... reduce = "svd"
... dimensions = 100
... ''')
>>> experiment.spaces[0].name, experiment.spaces[0].dimensions, experiment.vocabulary.nouns
('svd', 100, 8000)
>>> Experiment.from_table({"space": {"dimension": 100}})
Traceback (most recent call last):
    ...
composita.store.errors.UsageError: experiment.toml: unknown key 'dimension' in [space]; did you mean dimensions?
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from composita.experiment.checks import (
    Flag,
    Number,
    Table,
    Text,
    Texts,
    Whole,
    check_keys,
    described,
    option,
    options_of,
    read_part,
)
from composita.store.errors import UsageError
from composita.store.folder import is_plain
from composita.store.strict_json import shown

if TYPE_CHECKING:
    from composita.experiment.run import Run
    from composita.store.engine import Engine
    from composita.store.progress import Cancellation, ProgressCallback

PRESETS = ("recommended", "paper")
STANDINGS = ("nouns", "arguments", "no")
SECTIONS = ("corpus", "vocabulary", "count", "space", "spaces", "learn", "learners", "evaluate", "sweep")
MOST_VARIATIONS = 1000


# ---------------------------------------------------------------- the parts


@dataclass(frozen=True)
class CorpusPart:
    """Where the text is, and how it is to be read; the options of `composita encode`."""

    sources: tuple[str, ...] = option(
        Texts(what="a list of files or patterns"), (), about="parsed text: files, patterns"
    )
    path: str | None = option(Text(what="a folder"), None, about="an encoded corpus, in place of sources")
    format: str = option(Text(("auto", "conllu", "conllx", "wacky", "text")), "auto", about="the format of the sources")
    labels: str = option(Text(what="a label scheme or a TOML file"), "auto", about="what relations mean")
    tags: str = option(Text(what="a tagset or a TOML file"), "auto", about="what tags mean")
    encoding: str = option(Text(("auto", "utf-8", "latin-1")), "auto", about="the encoding of the sources")
    on_error: str | None = option(Text(("stop", "skip")), None, about="what becomes of broken sentences")
    dedupe: bool = option(Flag(), False, about="keep only the first of sentences with the same words")
    parser: str = option(Text(("udpipe", "spacy", "stanza")), "udpipe", about="for raw text")
    model: str | None = option(Text(what="a model"), None, about="for raw text: the parser's model")
    tokens: int | None = option(Whole(1, or_all=True), None, about="how much of the corpus is used, its first shards")


@dataclass(frozen=True)
class VocabularyPart:
    """Which words are counted, and beside which; the options of `Vocabulary.from_corpus`."""

    nouns: int | None = option(Whole(or_all=True), 8000, about="how many nouns, the most frequent")
    verbs: int | None = option(Whole(or_all=True), 4000, about="how many verbs")
    adjectives: int | None = option(Whole(or_all=True), 0, about="how many adjectives, outside the core")
    adverbs: int | None = option(Whole(or_all=True), 0, about="how many adverbs, outside the core")
    contexts: int | None = option(Whole(1, or_all=True), 10_000, about="how many content words are contexts")
    stop: int = option(Whole(), 300, about="how many still more frequent ones are skipped")
    min_frequency: int = option(Whole(), 1, about="how often a word must occur")
    proper: str = option(Text(STANDINGS), "arguments", about="names: as nouns, as arguments of phrases only, or not")
    pronouns: str = option(Text(STANDINGS), "arguments", about="pronouns: likewise")
    include: tuple[str, ...] = option(Texts(what="a list of files"), (), about="files of words that must be in")
    benchmarks: bool = option(Flag(), True, about="whether the words of the benchmarks must be in")
    stop_list: str | None = option(Text(what="a file"), None, about="a file of words that must not be in")


@dataclass(frozen=True)
class CountPart:
    """What is counted; the options of `composita count`."""

    path: str | None = option(Text(what="a folder"), None, about="counts that exist, in place of counting")
    phrases: tuple[str, ...] = option(Texts(what="a list of patterns"), ("sv", "svo", "vo", "an"), about="patterns")
    heads: str = option(
        Text(what='"benchmarks", "all" or a file of words'), "benchmarks", about="the words that head phrases"
    )
    context: str = option(Text(what="a kind of context"), "sentence", about="sentence, window:5, dependency, ...")
    min_frequency: int = option(Whole(1), 1, about="how often a phrase must occur")
    passives: bool = option(Flag(), True, about="whether passive clauses count")
    conjuncts: bool = option(Flag(), True, about="whether further conjuncts are arguments")
    shared_subjects: bool = option(Flag(), True, about="whether conjoined verbs share a subject")
    relatives: bool = option(Flag(), True, about="whether the noun is an argument in its relative clause")
    join_particles: bool = option(Flag(), False, about="whether a particle is joined to its verb")
    sv_without_object: bool = option(Flag(), False, about="whether sv asks for a verb without an object")


@dataclass(frozen=True)
class SpacePart:
    """A space; the options of `Space.from_counts`, and which methods stay out of it."""

    name: str
    weighting: str = option(Text(what="a weighting"), "ppmi", about="ppmi, lmi, ...")
    smoothing: float = option(Number(), 1.0, about="the power of the contexts' frequencies in the weighting")
    shift: float = option(Number(), 0.0, about="what is subtracted from PMI")
    min_count: float = option(Number(), 0.0, about="contexts with fewer counts in the core are dropped")
    columns: int | None = option(Whole(1, or_all=True), None, about="how many contexts are kept after weighting")
    reduce: str = option(Text(("svd", "nmf", "none")), "svd", about="how dimensions are reduced")
    dimensions: int = option(Whole(1), 300, about="how many dimensions are kept")
    power: float = option(Number(), 1.0, about="the power of the singular values, for svd")
    drop: int = option(Whole(), 0, about="how many first dimensions are dropped, for svd")
    normalise: str | None = option(Text(("l2", "l1"), or_none=True), None, about="whether rows are normalised")
    options: dict[str, Any] = field(
        default_factory=dict, metadata=described(Table(), "further options of the reduction, such as the solver")
    )
    without: tuple[str, ...] = option(Texts(what="a list of methods"), (), about="methods that are left out here: -")
    learners: tuple[str, ...] | None = option(
        Texts(what="a list of learners"), None, about="which learners work here; by default all, none in a full space"
    )


@dataclass(frozen=True)
class LearnPart:
    """A learner; the options of `learn`, those not given as in a recipe of `composita.functions.recipes`."""

    name: str
    preset: str = option(
        Text(PRESETS), "recommended", about="whose values the others have; by default the experiment's"
    )
    learner: str = option(Text(what="a learner"), "onestep", about="multistep, onestep, ...")
    patterns: tuple[str, ...] | None = option(
        Texts(what="a list of patterns"), None, about="which phrases are learned from; by default all that were counted"
    )
    min_examples: int = option(Whole(1), 3, about="how many examples a word needs")
    min_nonzero: int = option(Whole(), 10, about="how many non-zero dimensions a phrase needs before reduction")
    min_frequency: int = option(Whole(1), 1, about="how often a phrase must occur")
    max_examples: int | None = option(Whole(1, or_all=True), None, about="of more phrases, the most frequent")
    arguments: tuple[str, ...] = option(
        Texts(("nouns", "names", "pronouns"), least=1), ("nouns", "names", "pronouns"), about="what may be an argument"
    )
    normalise: bool = option(Flag(), True, about="whether arguments are normalised")
    normalise_outputs: bool = option(Flag(), True, about="whether the vectors of phrases are")
    lean: str = option(
        Text(("none", "whole", "shared", "similar")), "none", about="on what words with few phrases lean"
    )
    shared: str | None = option(
        Text(("additive", "product"), or_none=True), None, about="a function for all words of a pattern, and its kernel"
    )
    options: dict[str, Any] = field(default_factory=dict, metadata=described(Table(), "further options of the learner"))


@dataclass(frozen=True)
class EvaluatePart:
    """What the meanings are measured by."""

    benchmarks: tuple[str, ...] = option(Texts(what="a list of benchmarks or files"), (), about="ratings")
    methods: tuple[str, ...] = option(
        Texts(what="a list of methods", least=1),
        ("verb", "add", "multiply", "kronecker", "categorical", "regression"),
        about="methods of composition",
    )
    bootstrap: int = option(Whole(0, 1_000_000), 2000, about="how often items are drawn for intervals")
    spelling: bool = option(Flag(), False, about="whether words that the corpus lacks may be spelt otherwise")
    back_off: bool = option(Flag(), True, about="whether a method may do less where what it asks for is missing")
    word_order: int = option(Whole(), 500, about="how many attested sentences are turned round, to see who notices")


# ---------------------------------------------------------------- the whole


@dataclass(frozen=True)
class Experiment:
    """One experiment, from text to table.

    Examples
    --------
    >>> experiment = Experiment.from_table({"preset": "paper", "corpus": {"sources": "wiki/*.conllu.zst"}})
    >>> [space.name for space in experiment.spaces]
    ['full', 'svd', 'nmf']

    """

    name: str
    about: str
    preset: str
    seed: int
    grammar: str
    corpus: CorpusPart
    vocabulary: VocabularyPart
    count: CountPart
    spaces: tuple[SpacePart, ...]
    learners: tuple[LearnPart, ...]
    evaluate: EvaluatePart
    sweep: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    given: str = ""  # the file as it was written, for variations and for the report
    folder: str = "."  # what paths in it are relative to

    @classmethod
    def load(cls, path: str | Path) -> Experiment:
        """Read an experiment from a file; paths in it are relative to the file's folder."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}; expected an experiment in TOML") from None
        except UnicodeDecodeError:
            raise UsageError(f"{path}: expected an experiment in TOML, in UTF-8") from None
        return cls.from_toml(text, name=path.stem, folder=path.absolute().parent, source=str(path))

    @classmethod
    def from_toml(
        cls, text: str, *, name: str = "experiment", folder: str | Path = ".", source: str = "experiment.toml"
    ) -> Experiment:
        """Read an experiment from text."""
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"{source}: not a TOML file: {error}") from None
        return cls.from_table(table, name=name, folder=folder, source=source, given=text)

    @classmethod
    def from_table(
        cls,
        table: Mapping[str, Any],
        *,
        name: str = "experiment",
        folder: str | Path = ".",
        source: str = "experiment.toml",
        given: str = "",
    ) -> Experiment:
        """Make an experiment from tables, as TOML gives them."""
        return _Reader(source, Path(folder)).read(table, name, given)

    # ------------------------------------------------------------ looking

    def to_table(self) -> dict[str, Any]:
        """Give every value, resolved, as tables: what `from_table` takes, but for defaults of spaces and learners."""
        whole = asdict(self)
        whole["spaces"] = {space.pop("name"): space for space in whole["spaces"]}
        whole["learners"] = {learner.pop("name"): learner for learner in whole["learners"]}
        whole["sweep"] = {key: list(values) for key, values in self.sweep}
        del whole["given"], whole["folder"]
        return {key: _plain(value) for key, value in whole.items()}

    def learners_of(self, space: SpacePart) -> tuple[LearnPart, ...]:
        """Give the learners that work in a space."""
        if space.learners is None:
            return () if space.reduce == "none" else self.learners
        return tuple(learner for learner in self.learners if learner.name in space.learners)

    def variations(self) -> list[tuple[dict[str, Any], Experiment]]:
        """Give the experiments of a sweep: all combinations of the values, each with what was chosen."""
        keys = [key for key, _ in self.sweep]
        table = {key: value for key, value in tomllib.loads(self.given).items() if key != "sweep"}
        found = []
        for values in product(*(values for _, values in self.sweep)):
            chosen = dict(zip(keys, values, strict=True))
            title = ", ".join(f"{key} = {_said(value)}" for key, value in chosen.items())
            changed = _changed(table, chosen)
            found.append((chosen, _Reader(f"[sweep] {title}", Path(self.folder)).read(changed, self.name, self.given)))
        return found

    # ------------------------------------------------------------ running

    def run(
        self,
        out: str | Path,
        *,
        engine: Engine | None = None,
        workers: int = 1,
        memory: int | str = "4G",
        progress: ProgressCallback | None = None,
        cancel: Cancellation | None = None,
    ) -> Run:
        """Run all stages that are not done yet, into a folder, and give the result; see `composita.experiment.run`."""
        from composita.experiment.run import run
        from composita.store.engine import Engine
        from composita.store.progress import silent

        return run(
            self, out, engine=engine or Engine(workers), memory=memory, progress=progress or silent, cancel=cancel
        )


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Turn tuples into lists, all the way down, as JSON and TOML have them."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _said(value: object) -> str:
    return value if isinstance(value, str) else str(_plain(value))


def _changed(table: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Put values under dotted keys, ``space.reduce``, leaving the table that was given as it is."""
    changed = {key: dict(value) if isinstance(value, Mapping) else value for key, value in table.items()}
    for key, value in chosen.items():
        *way, last = key.split(".")
        place = changed
        for name in way:
            inner = place.get(name, {})
            place[name] = dict(inner) if isinstance(inner, Mapping) else {}
            place = place[name]
        place[last] = value
    return changed


# ---------------------------------------------------------------- reading


def preset(name: str) -> dict[str, Any]:
    """Give the tables of a preset.

    >>> preset("paper")["vocabulary"]["nouns"]
    8000
    """
    return tomllib.loads(files(__package__).joinpath("presets", f"{name}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class _Reader:
    """What is being read, for messages, and where it lies."""

    source: str
    folder: Path

    def read(self, table: Mapping[str, Any], name: str, given: str) -> Experiment:
        """Check everything, the user's own tables before they are joined with those of the preset."""
        known = ("name", "about", "preset", "seed", "grammar", *SECTIONS)
        check_keys(table, known, "", self.source)
        chosen = self._value(Text(PRESETS), table, "preset", "recommended")
        whole = _joined(preset(chosen), {key: self._table(table, key) for key in SECTIONS if key in table})
        spaces = self._named(SpacePart, whole, "space", "spaces")
        experiment = Experiment(
            self._value(Text(what="a name"), table, "name", name),
            "" if table.get("about") == "" else self._value(Text(or_none=True), table, "about", "none") or "",
            chosen,
            self._value(Whole(0, 2**31 - 1), table, "seed", 0),
            self._value(Text(what="a grammar or a file"), table, "grammar", "english"),
            read_part(CorpusPart, whole.get("corpus", {}), "[corpus]", self.source),
            read_part(VocabularyPart, whole.get("vocabulary", {}), "[vocabulary]", self.source),
            read_part(CountPart, whole.get("count", {}), "[count]", self.source),
            spaces,
            self._named(LearnPart, whole, "learn", "learners", partial(self._from_recipe, chosen)),
            read_part(EvaluatePart, whole.get("evaluate", {}), "[evaluate]", self.source),
            self._sweep(whole.get("sweep", {})),
            given,
            str(self.folder),
        )
        self._check_whole(experiment)
        return experiment

    def _value(self, check: Text | Whole, table: Mapping[str, Any], key: str, default: Any) -> Any:  # noqa: ANN401
        try:
            return check.read(table.get(key, default), key)
        except UsageError as error:
            raise UsageError(f"{self.source}: {error}") from None

    def _table(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = table[key]
        if not isinstance(value, Mapping):
            raise UsageError(f"{self.source}: '{key}' is {shown(value)}, expected a table: [{key}]")
        return value

    def _from_recipe(self, chosen: str, table: Mapping[str, Any]) -> dict[str, Any]:
        """Give a learner what its table does not say as the recipe has it; another learner has its own options."""
        from composita.functions.recipes import recipe

        said = recipe(str(table.get("preset", chosen)))
        named = table.get("learner", said.learner)
        known = {
            "preset": chosen, "learner": said.learner, "lean": said.lean, "shared": said.shared or "none",
            **said.selection.parameters(),
        }  # fmt: skip
        known["max_examples"] = known["max_examples"] or "all"
        options = dict(said.options) if named == said.learner else {}
        return {**known, **table, "options": {**options, **table.get("options", {})}}

    def _named(
        self,
        kind: type[Any],
        whole: Mapping[str, Any],
        common: str,
        several: str,
        filled: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict,
    ) -> tuple[Any, ...]:
        """Read ``[spaces.NAME]``, where ``[space]`` says what one does not say itself; or ``[space]`` alone."""
        shared = whole.get(common, {})
        named = whole.get(several) or {}
        read_part(kind, shared, f"[{common}]", self.source, name="")
        if not named:
            alone = read_part(kind, filled(shared), f"[{common}]", self.source, name="")
            name = {"space": getattr(alone, "reduce", ""), "learn": getattr(alone, "learner", "")}[common]
            return (replace(alone, name={"none": "full"}.get(name, name)),)
        found = []
        for name, table in named.items():
            where = f"[{several}.{name}]"
            if not is_plain(name) or len(name) > 40:
                raise UsageError(f"{self.source}: {where}: expected a name of letters, digits, - and _")
            if not isinstance(table, Mapping):
                raise UsageError(f"{self.source}: {several}.{name} is {shown(table)}, expected a table: {where}")
            read_part(kind, table, where, self.source, name=name)
            found.append(read_part(kind, filled({**shared, **table}), where, self.source, name=name))
        return tuple(found)

    def _sweep(self, table: Mapping[str, Any]) -> tuple[tuple[str, tuple[Any, ...]], ...]:
        """Read ``[sweep]``: dotted keys with the values that each takes in turn."""
        found = []
        for key, values in _flat(table).items():
            if not isinstance(values, list) or not values:
                raise UsageError(f"{self.source}: [sweep] {key} is {shown(values)}, expected a list of values")
            found.append((key, tuple(values)))
        variations = 1
        for _, values in found:
            variations *= len(values)
        if variations > MOST_VARIATIONS:
            raise UsageError(f"{self.source}: [sweep] has {variations} variations, expected at most {MOST_VARIATIONS}")
        return tuple(found)

    def _check_whole(self, experiment: Experiment) -> None:
        """Check what only several values together can get wrong."""
        corpus, learners = experiment.corpus, [learner.name for learner in experiment.learners]
        if corpus.path and corpus.sources:
            raise UsageError(f"{self.source}: [corpus] has both sources and path, expected one of them")
        for space in experiment.spaces:
            for name in space.learners or ():
                if name not in learners:
                    raise UsageError(
                        f"{self.source}: [spaces.{space.name}] learners has {name!r}, expected some of "
                        f"{', '.join(learners)}"
                    )
        for key, _ in experiment.sweep:
            if key.split(".")[0] not in (*SECTIONS[:-1], "seed", "preset", "grammar"):
                raise UsageError(f"{self.source}: [sweep] {key}: expected a key of the experiment such as space.reduce")
        if experiment.sweep:
            experiment.variations()


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Turn tables in tables into dotted keys."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {before + key: value}
    return found


def _joined(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Join the tables of a preset with those that were given.

    Named spaces and learners that are given replace those of the preset; so does one space that is described by
    ``[space] reduce``, and one learner that is described by ``[learn] learner``.
    """
    joined = dict(under)
    for one, several, key in (("space", "spaces", "reduce"), ("learn", "learners", "learner")):
        if several in over or key in over.get(one, {}):
            joined.pop(several, None)
    for section, table in over.items():
        joined[section] = {**joined.get(section, {}), **table}
    return joined


def describe_options() -> list[tuple[str, str, str, str]]:
    """List all options: section, key, what is allowed, what it means; for the documentation."""
    parts = {
        "corpus": CorpusPart, "vocabulary": VocabularyPart, "count": CountPart, "space": SpacePart,
        "learn": LearnPart, "evaluate": EvaluatePart,
    }  # fmt: skip
    return [
        (section, f.name, options_of(kind)[f.name].allowed, f.metadata["about"])
        for section, kind in parts.items()
        for f in fields(kind)
        if "about" in f.metadata
    ]
