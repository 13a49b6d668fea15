"""The stages of an experiment: from its description to what is to be made, with every fingerprint, and how.

    corpus -> vocabulary -> counts -> spaces -> lexicons -> scores

Everything is planned before anything runs: sources and benchmarks are read for their checksums, and the fingerprint of
each stage follows. What is changed in the description changes the stages that it bears on and those after them, so a
new grid of lambdas learns and scores anew, and counts nothing again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from composita.counting.words import read_words, split_label
from composita.experiment.cache import Stage, Work
from composita.experiment.config import CorpusPart, Experiment, LearnPart, SpacePart
from composita.store.errors import UsageError
from composita.store.folder import write_file
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent
from composita.store.strict_json import dump_json, parse_json

if TYPE_CHECKING:
    from composita.corpus.corpus import Corpus
    from composita.counting.vocabulary import Vocabulary
    from composita.evaluation.benchmarks import Benchmark

VERSIONS = {"corpus": 1, "vocabulary": 1, "counts": 1, "space": 1, "lexicon": 1, "scores": 2, "order": 1}
"""Raised by hand when a stage makes something else of the same inputs."""

LEARNED = {"regression": "multistep", "one-step": "onestep", "lexical-function": "plsr"}
"""Methods that are a learner's own, and which; each has a sister that keeps the head's vector, ``regression+head``."""
EXTENDS = "extends"
"""The parameter that names the fingerprint of a stage that this one adds to."""
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Scoring:
    """Some methods on one benchmark in one space, upon a lexicon or, where nothing is learned, the space itself."""

    stage: Stage
    benchmark: str
    space: str
    learner: str | None


@dataclass(frozen=True)
class Plan:
    """All stages of an experiment, in order."""

    experiment: Experiment
    corpus: Stage | None
    vocabulary: Stage | None
    counts: Stage
    spaces: Mapping[str, Stage]
    lexicons: Mapping[tuple[str, str], Stage]
    scorings: tuple[Scoring, ...]
    orders: Mapping[tuple[str, str], Stage]
    benchmarks: Mapping[str, Benchmark]

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """All stages, each after those that it needs; a space's lexicons and scores before the next space."""
        found: dict[str, Stage] = {}
        for stage in (self.counts, *(scoring.stage for scoring in self.scorings), *self.lexicons.values(),
                      *self.orders.values(), *self.spaces.values()):  # fmt: skip
            found |= {needed.id: needed for needed in stage.with_inputs()}
        order = {"corpus": 0, "vocabulary": 1, "counts": 2}
        return tuple(sorted(found.values(), key=lambda stage: order.get(stage.kind, 3)))


# ---------------------------------------------------------------- checksums


def checksum(path: Path, cancel: Cancellation | None = None) -> str:
    """Compute the SHA-256 of a file."""
    digest, block = hashlib.sha256(), bytearray(_BLOCK)
    try:
        with path.open("rb") as file:
            while count := file.readinto(block):
                check(cancel)
                digest.update(memoryview(block)[:count])
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    return digest.hexdigest()


def source_checksums(
    paths: Sequence[Path], memory: Path, progress: ProgressCallback = silent, cancel: Cancellation | None = None
) -> list[str]:
    """Compute the checksums of sources, remembering those of files that have not been touched since."""
    try:
        known = parse_json(memory.read_bytes())
    except (OSError, ValueError):
        known = {}
    found: dict[str, Any] = {}
    done, total = 0, sum(path.stat().st_size for path in paths)
    for path in paths:
        status = path.stat()
        mark = [status.st_size, status.st_mtime_ns]
        before = known.get(str(path)) if isinstance(known, dict) else None
        same = isinstance(before, dict) and before.get("mark") == mark and isinstance(before.get("sha256"), str)
        found[str(path)] = {"mark": mark, "sha256": before["sha256"] if same and before else checksum(path, cancel)}
        done += status.st_size
        progress(Progress("checksums", done, total, "bytes"))
    if found != known:
        memory.parent.mkdir(parents=True, exist_ok=True)
        with write_file(memory) as new:
            new.path.write_bytes(dump_json(found))
    return [found[str(path)]["sha256"] for path in paths]


# ---------------------------------------------------------------- planning


def make_plan(
    experiment: Experiment,
    folder: Path,
    *,
    progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> Plan:
    """Plan all stages; ``folder`` is where checksums of sources are remembered."""
    return Planner(experiment, folder, progress, cancel).plan()


@dataclass(frozen=True)
class Planner:
    """Plans the stages of an experiment, one by one."""

    experiment: Experiment
    folder: Path
    progress: ProgressCallback
    cancel: Cancellation | None

    def plan(self) -> Plan:
        """Plan all stages."""
        experiment = self.experiment
        self.check_names()
        corpus = self.corpus(experiment.corpus)
        vocabulary = None if experiment.count.path else self.vocabulary(corpus)
        counts = self.counts(corpus, vocabulary)
        spaces = {space.name: self.space(space, counts) for space in experiment.spaces}
        lexicons = {
            (space.name, learner.name): self.lexicon(space, learner, spaces[space.name])
            for space in experiment.spaces
            for learner in experiment.learners_of(space)
        }
        scorings = tuple(
            scoring
            for space in experiment.spaces
            for benchmark in self.benchmarks.values()
            for scoring in self.scorings(space, benchmark, spaces, lexicons)
        )
        orders = self.orders(lexicons)
        return Plan(experiment, corpus, vocabulary, counts, spaces, lexicons, scorings, orders, self.benchmarks)

    def check_names(self) -> None:
        """Refuse names and options that only the rooms know, before anything is run."""
        from composita.composition.methods import method_named
        from composita.functions.learners import make_learner
        from composita.spaces.weighting import check_weighting

        def said(where: str, check: Callable[[], object]) -> None:
            try:
                check()
            except UsageError as error:
                raise UsageError(f"{where}: {error}") from None

        for space in self.experiment.spaces:
            said(f"[spaces.{space.name}] weighting",
                 partial(check_weighting, space.weighting, smoothing=space.smoothing, shift=space.shift))  # fmt: skip
            for method in space.without:
                said(f"[spaces.{space.name}] without", partial(method_named, method))
        for learner in self.experiment.learners:
            said(f"[learners.{learner.name}]", partial(make_learner, learner.learner, plain_options(learner.options)))
        for method in self.experiment.evaluate.methods:
            said("[evaluate] methods", partial(method_named, method))

    def place(self, text: str) -> Path:
        """Give a path of the description, relative to its folder."""
        return Path(self.experiment.folder, Path(text).expanduser())

    def located(self, text: str) -> str:
        """Give a value that is a name or a file: a file by its whole path."""
        path = self.place(text)
        return str(path) if path.is_file() else text

    def content(self, text: str) -> str:
        """Give what stands for a value that is a name or a file: the name, or the file's checksum."""
        path = self.place(text)
        return f"sha256:{checksum(path, self.cancel)}" if path.is_file() else text

    @cached_property
    def benchmarks(self) -> dict[str, Benchmark]:
        """The benchmarks by name."""
        from composita.evaluation.benchmarks import Benchmark

        found: dict[str, Benchmark] = {}
        for text in self.experiment.evaluate.benchmarks:
            path = self.place(text)
            benchmark = Benchmark.load(path if path.exists() else text)
            if benchmark.name in found:
                raise UsageError(f"[evaluate] benchmarks: {text} is {benchmark.name}, which is there already")
            found[benchmark.name] = benchmark
        return found

    @cached_property
    def benchmark_phrases(self) -> list[Any]:
        """All phrases of the benchmarks."""
        return [phrase for b in self.benchmarks.values() for item in b.items for phrase in (item.left, item.right)]

    # ------------------------------------------------------------ stage by stage

    def corpus(self, part: CorpusPart) -> Stage | None:
        """Plan the corpus: one that exists, or one to be encoded."""
        from composita.corpus.corpus import Corpus

        if part.path:
            path = self.place(part.path)
            return Stage(
                "corpus", "corpus", VERSIONS["corpus"], {"fingerprint": Corpus.open(path).fingerprint}, given=path
            )
        if not part.sources:
            if self.experiment.count.path:
                return None
            raise UsageError("[corpus] sources is not given: say which files are to be read, or [corpus] path")
        from composita.corpus.sources import find_sources

        patterns = [str(self.place(text)) for text in part.sources]
        paths = [Path(source.path) for source in find_sources(patterns)]
        parameters = {
            "sources": source_checksums(paths, self.folder / "sources.json", self.progress, self.cancel),
            "format": part.format, "labels": self.content(part.labels), "tags": self.content(part.tags),
            "encoding": part.encoding, "on_error": part.on_error, "dedupe": part.dedupe,
        }  # fmt: skip
        if part.format == "text":
            parameters |= {"parser": part.parser, "model": part.model and self.content(part.model)}
        located = replace(
            part, labels=self.located(part.labels), tags=self.located(part.tags),
            model=None if part.model is None else self.located(part.model),
        )  # fmt: skip
        make = partial(_encode, [str(path) for path in paths], located)
        return Stage("corpus", "corpus", VERSIONS["corpus"], parameters, make=make, resumes=True)

    def vocabulary(self, corpus: Stage | None) -> Stage:
        """Plan the vocabulary."""
        part = self.experiment.vocabulary
        if corpus is None:
            raise UsageError("[count] needs a corpus: give [corpus] sources or [corpus] path")
        include = {word for text in part.include for word in read_words(self.place(text))}
        if part.benchmarks:
            include |= {word for b in self.benchmarks.values() for word in b.words if split_label(word)}
        stop_words = sorted(set(read_words(self.place(part.stop_list), bare="*"))) if part.stop_list else []
        choice = asdict(part)
        for key in ("include", "benchmarks", "stop_list"):
            del choice[key]
        parameters = {
            "choice": choice, "include": sorted(include), "stop_words": stop_words,
            "tokens": self.experiment.corpus.tokens,
        }  # fmt: skip
        return Stage("vocabulary", "vocabulary", VERSIONS["vocabulary"], parameters, (corpus,), _choose_vocabulary)

    def counts(self, corpus: Stage | None, vocabulary: Stage | None) -> Stage:
        """Plan the counts: some that exist, or those of the vocabulary."""
        from composita.counting.counts import Counts
        from composita.counting.patterns import load_patterns

        part = self.experiment.count
        if part.path:
            path = self.place(part.path)
            Counts.open(path)
            from composita.store.folder import Folder

            mark = Folder.open(path, "counts").meta.get("fingerprint")
            return Stage("counts", "counts", VERSIONS["counts"], {"fingerprint": mark}, given=path)
        if corpus is None or vocabulary is None:
            raise UsageError("[count] needs a corpus: give [corpus] sources or [corpus] path")
        switches = {
            key: getattr(part, key)
            for key in ("passives", "conjuncts", "shared_subjects", "relatives", "join_particles", "sv_without_object")
        }
        names = [str(self.place(n)) if self.place(n).is_file() else n for n in part.phrases]
        patterns = load_patterns(names, sv_without_object=part.sv_without_object)
        parameters = {
            "patterns": {pattern.name: pattern.to_table() for pattern in patterns}, "heads": self.heads(),
            "context": part.context, "min_frequency": part.min_frequency, "tokens": self.experiment.corpus.tokens,
            **switches,
        }  # fmt: skip
        make = partial(_count, names)
        return Stage("counts", "counts", VERSIONS["counts"], parameters, (corpus, vocabulary), make, resumes=True)

    def heads(self) -> list[str] | None:
        """Give the words that head phrases, None for all."""
        asked = self.experiment.count.heads
        if asked == "all":
            return None
        if asked == "benchmarks":
            heads = {p.head for phrase in self.benchmark_phrases for p in _inner(phrase) if p.arguments}
            return sorted(head for head in heads if split_label(head)) or None
        return sorted(set(read_words(self.place(asked), bare="v", columns="va")))

    def space(self, part: SpacePart, counts: Stage) -> Stage:
        """Plan a space."""
        parameters = asdict(part) | {"seed": self.experiment.seed}
        for key in ("name", "without", "learners"):
            del parameters[key]
        if part.reduce == "none":
            del parameters["dimensions"]
        if part.reduce != "svd":
            del parameters["power"], parameters["drop"]
        return Stage(f"space-{part.name}", "space", VERSIONS["space"], parameters, (counts,), _make_space)

    def lexicon(self, space: SpacePart, part: LearnPart, made: Stage) -> Stage:
        """Plan what a learner learns in a space."""
        parameters = asdict(part)
        del parameters["name"], parameters["preset"]
        return Stage(
            f"lexicon-{space.name}-{part.name}",
            "lexicon",
            VERSIONS["lexicon"],
            parameters,
            (made,),
            learn_stage,
            resumes=True,
        )

    def scorings(
        self,
        space: SpacePart,
        benchmark: Benchmark,
        spaces: Mapping[str, Stage],
        lexicons: Mapping[tuple[str, str], Stage],
    ) -> list[Scoring]:
        """Plan the scores on a benchmark in a space: for each learner the methods that it serves."""
        learners = self.experiment.learners_of(space)
        found = []
        for learner, methods in share_methods(self.experiment.evaluate.methods, space, learners).items():
            stage = spaces[space.name] if learner is None else lexicons[space.name, learner]
            part = self.experiment.evaluate
            parameters = {
                "benchmark": benchmark.name, "content": benchmark.checksum, "methods": methods,
                "bootstrap": part.bootstrap, "spelling": part.spelling, "back_off": part.back_off,
                "seed": self.experiment.seed,
            }  # fmt: skip
            name = "-".join(filter(None, ("scores", re.sub(r"[^\w.-]", "_", benchmark.name, flags=re.ASCII), space.name,
                                          learner)))  # fmt: skip
            scores = Stage(name, "scores", VERSIONS["scores"], parameters, (stage,), partial(_score, benchmark))
            found.append(Scoring(scores, benchmark.name, space.name, learner))
        return found

    def orders(self, lexicons: Mapping[tuple[str, str], Stage]) -> dict[tuple[str, str], Stage]:
        """Plan, for each space with learners, which methods notice that a sentence is turned round."""
        number = self.experiment.evaluate.word_order
        if not number or "svo" not in self.experiment.count.phrases:
            return {}
        found = {}
        for space in self.experiment.spaces:
            shared = share_methods(self.experiment.evaluate.methods, space, self.experiment.learners_of(space))
            for learner, methods in shared.items():
                if learner is not None:
                    parameters = {"sentences": number, "methods": methods, "seed": self.experiment.seed}
                    name = f"order-{space.name}-{learner}"
                    needed = (lexicons[space.name, learner],)
                    found[space.name, learner] = Stage(
                        name, "order", VERSIONS["order"], parameters, needed, _turn_round
                    )
        return found


def _inner(phrase: Any) -> list[Any]:  # noqa: ANN401 - a phrase
    """Give a phrase and all phrases in it."""
    return [phrase, *(inner for argument in phrase.arguments for inner in _inner(argument))]


def share_methods(
    methods: Sequence[str], space: SpacePart, learners: Sequence[LearnPart]
) -> dict[str | None, list[str]]:
    """Say which learner's lexicon serves which methods; None stands for the space itself.

    A method that is a learner's own goes to the lexicon of that learner, ``learned`` to all lexicons, and what learns
    nothing, or learns by itself, to the first.
    """
    first = learners[0].name if learners else None
    found: dict[str | None, list[str]] = {}
    for method in methods:
        if method in space.without:
            continue
        stem = method.partition("+")[0]
        if stem == "learned":
            serving: list[str | None] = [learner.name for learner in learners]
        elif stem in LEARNED:
            serving = [next((x.name for x in learners if x.learner == LEARNED[stem]), first)] if learners else []
        else:
            serving = [first]
        for name in serving:
            found.setdefault(name, []).append(method)
    return found


# ---------------------------------------------------------------- making


def _encode(paths: Sequence[str], part: CorpusPart, out: Path, work: Work) -> None:
    from composita.corpus.corpus import Corpus
    from composita.corpus.encoding import Options, encode
    from composita.store.errors import NotFoundError

    try:
        Corpus.open(out)  # it was committed, and only the receipt is missing
    except NotFoundError:
        names = ("format", "labels", "tags", "encoding", "on_error", "dedupe", "parser", "model")
        options = Options(**{name: getattr(part, name) for name in names})
        encode(paths, out, options, engine=work.engine, progress=work.progress, cancel=work.cancel)


def first_part(corpus: Corpus, tokens: int | None) -> Corpus:
    """Give the first shards of a corpus, as many as come nearest to so many tokens, at least one; None for all."""
    from composita.corpus.corpus import Corpus
    from composita.store.folder import Folder, fingerprint

    shards = corpus.meta["shards"]
    if tokens is None or tokens >= corpus.token_count or len(shards) < 2:
        return corpus
    ends = list(accumulate(shard["tokens"] for shard in shards))
    number = 1 + min(range(len(ends)), key=lambda n: abs(ends[n] - tokens))
    kept = shards[:number]
    meta = corpus.meta | {
        "shards": kept, "tokens": ends[number - 1], "sentences": sum(shard["sentences"] for shard in kept),
        "fingerprint": fingerprint("first shards", corpus.fingerprint, number),
    }  # fmt: skip
    return Corpus(Folder(corpus.path, meta))


def _choose_vocabulary(out: Path, work: Work) -> None:
    from composita.corpus.corpus import Corpus
    from composita.counting.vocabulary import Vocabulary

    said = work.stage.parameters
    corpus = first_part(Corpus.open(work.paths[0]), said["tokens"])
    Vocabulary.from_corpus(
        corpus, **said["choice"], include=said["include"], stop_words=said["stop_words"],
        engine=work.engine, progress=work.progress, cancel=work.cancel,
    ).save(out)  # fmt: skip


def _count(names: Sequence[str], out: Path, work: Work) -> None:
    from composita.corpus.corpus import Corpus
    from composita.counting.count import count
    from composita.counting.vocabulary import Vocabulary

    said = {key: value for key, value in work.stage.parameters.items() if key not in ("patterns", EXTENDS)}
    corpus = first_part(Corpus.open(work.paths[0]), said.pop("tokens"))
    vocabulary = Vocabulary.open(work.paths[1])
    heads = said.pop("heads")
    known = None if heads is None else [word for word in heads if word in vocabulary.ids]
    phrases = _with_heads(names, known, vocabulary, said["sv_without_object"])
    count(
        corpus, vocabulary, phrases=phrases, heads=known, **said, out=out, memory=work.memory,
        engine=work.engine, progress=work.progress, cancel=work.cancel,
    )  # fmt: skip


def _with_heads(
    names: Sequence[str], heads: Sequence[str] | None, vocabulary: Vocabulary, sv_without_object: bool
) -> list[str]:
    """Leave out patterns that no word can head, such as adjectives where there are none."""
    from composita.counting.patterns import load_patterns

    letters = {word[-1] for word in (vocabulary.words if heads is None else heads)}
    patterns = [load_patterns([name], sv_without_object=sv_without_object) for name in names]
    return [name for name, (pattern,) in zip(names, patterns, strict=True) if pattern.head in letters]


def _make_space(out: Path, work: Work) -> None:
    from composita.counting.counts import Counts
    from composita.spaces.space import Space

    said = dict(work.stage.parameters)
    options = said.pop("options")
    Space.from_counts(
        Counts.open(work.paths[0]), **said, **options, out=out, engine=work.engine, progress=work.progress,
        cancel=work.cancel,
    )  # fmt: skip


def learn_stage(out: Path, work: Work, since: Path | None = None) -> None:
    """Learn what a stage says; functions of an earlier lexicon whose examples are the same are taken from there."""
    from composita.functions.learn import learn
    from composita.functions.learners import make_learner
    from composita.functions.lexicon import Lexicon
    from composita.functions.selection import Selection
    from composita.spaces.space import Space

    said = {key: value for key, value in work.stage.parameters.items() if key != EXTENDS}
    learner = make_learner(said.pop("learner"), plain_options(said.pop("options")))
    patterns, lean, shared = (said.pop(key) for key in ("patterns", "lean", "shared"))
    learn(
        Space.open(work.paths[0]), learner=learner, patterns=patterns, selection=Selection(**said), lean=lean,
        shared=shared, since=None if since is None else Lexicon.open(since), out=out,
        engine=work.engine, progress=work.progress, cancel=work.cancel,
    )  # fmt: skip


def _score(benchmark: Benchmark, out: Path, work: Work) -> None:
    from composita.experiment.scores import score

    _by_a_worker(partial(score, benchmark), out, work)


def _by_a_worker(make: Callable[[Path, Work], None], out: Path, work: Work) -> None:
    """Make a stage that is one piece of work: on a cluster a worker does it."""
    if work.engine.executor is None:
        make(out, work)
        return
    from composita.store.engine import Task, run_tasks

    plain = replace(work.stage, inputs=(), make=None)
    task = Task(work.stage.id, _made, (make, out, plain, work.paths))
    for _ in run_tasks([task], engine=work.engine, progress=work.progress, stage="scoring", cancel=work.cancel):
        pass


def _made(make: Callable[[Path, Work], None], out: Path, stage: Stage, paths: tuple[Path, ...]) -> None:
    make(out, Work(stage, paths))


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give options of a learner as it takes them: lists as tuples."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}


def _turn_round(out: Path, work: Work) -> None:
    from composita.experiment.scores import turn_round

    _by_a_worker(turn_round, out, work)
