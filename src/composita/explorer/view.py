"""What is shown: a model, the run that it came from and its corpus, opened once and asked by many at a time."""

from __future__ import annotations

import logging
import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from composita.composition.methods import METHODS
from composita.composition.model import Model, open_model
from composita.explorer.background import Background
from composita.store.errors import CompositaError, NotFoundError
from composita.store.folder import META, Folder
from composita.store.progress import Cancellation, check

if TYPE_CHECKING:
    from composita.composition.meanings import Meanings
    from composita.composition.method import Method
    from composita.corpus.corpus import Corpus
    from composita.experiment.run import Run
    from composita.grammar.phrase import Phrase
    from composita.spaces.space import Space


logger = logging.getLogger("composita")
_T = TypeVar("_T")

REMEMBERED = 256
"""So many answers that took long are kept."""
POOLED = ("weighted-add", "dilation", "full-additive")
"""Methods that learn once, from all phrases; afterwards they answer at once."""
EACH = ("practical",)
"""Methods that learn something for each verb, beside those that apply another learner than the lexicon's."""
PATIENCE = 12.0
"""So many seconds a question waits for what has to be learned before it can be answered."""


class LearningError(CompositaError):
    """What was asked for has to be learned first, which goes on: it can be asked again in a moment."""

    def __init__(self, method: Method) -> None:
        super().__init__(f"{method.title} is still learning what it needs for this sentence: ask again in a moment")


class Known(NamedTuple):
    """A form that can be completed: as it is written, the likeliest word, how often it was found."""

    form: str
    label: str
    times: int


def learner_of(method: Method) -> str | None:
    """Give the name of the learner whose functions a method applies, empty for the lexicon's; None for other methods.

    >>> [learner_of(METHODS[name]) for name in ("add", "regression", "learned+head")]
    [None, 'multistep', '']
    """
    found: str | None = getattr(method.combine, "keywords", {}).get("learner")
    return found


@dataclass(frozen=True)
class View:
    """A model to be shown, with its run and its corpus where there are such.

    Parameters
    ----------
    path
        The folder that was named.
    model
        The lexicon with its grammar.
    run
        The run, if the folder holds one.
    cancel
        Asks a long answer to stop.
    lock
        What a lexicon keeps in memory changes while it is used, so that one question is answered at a time.
    kept
        What was found out once for all questions.
    learning
        Where methods learn what they lack.
    explaining
        Where meanings are explained, so that this waits for no learning.
    ready
        The methods that have learned from all phrases.
    answers
        The last answers that took long.

    """

    path: Path
    model: Model
    run: Run | None = None
    cancel: Cancellation | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    kept: dict[str, object] = field(default_factory=dict)
    learning: Background = field(default_factory=Background)
    explaining: Background = field(default_factory=Background)
    ready: set[str] = field(default_factory=set)
    answers: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    answers_lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, path: str | Path) -> View:
        """Open a run, a lexicon or a space."""
        path = Path(path)
        run = None
        if Folder.open(path, version=None).meta["kind"] == "run":
            from composita.experiment.run import Run

            run = Run.open(path)
        return cls(path, open_model(path), run)

    def within(self, cancel: Cancellation) -> View:
        """Give the same view for one answer, which can be asked to stop."""
        return replace(self, cancel=cancel)

    @contextmanager
    def alone(self) -> Iterator[Model]:
        """Give the model to one question at a time; a question that nobody waits for any more leaves the queue."""
        while not self.lock.acquire(timeout=0.25):
            check(self.cancel)
        try:
            check(self.cancel)
            yield self.model
        finally:
            self.lock.release()

    def compose(self, method: Method, phrases: Sequence[Phrase], patience: float = PATIENCE) -> Meanings | None:
        """Compose phrases; None where a method has to learn longer for them than somebody has patience for.

        Methods that learn a function for each verb that is asked for do so in the background, where it can be asked
        for again; all others answer at once.
        """
        if not self.learns(method):
            with self.alone() as model:
                return method.compose(model.lexicon, phrases)
        key = ("compose", method.name, tuple(phrases))
        known: Meanings | None = self.recall(key)
        if known is not None:
            return known
        return self.learning.ask(
            key, lambda: self.remember(key, lambda: method.compose(self.model.lexicon, phrases)), patience
        )

    def learns(self, method: Method) -> bool:
        """Whether a method may have to learn what the lexicon does not have, before it can compose."""
        other = learner_of(method) not in (None, "", self.model.ground.own)
        waits = method.name in EACH or (method.name in POOLED and method.name not in self.ready)
        return (other or waits) and not method.impossible(self.model.lexicon)

    def recall(self, key: Hashable) -> Any:  # noqa: ANN401 - whatever was kept under the key
        """Give what was found before, if it is one of the last; otherwise None."""
        with self.answers_lock:
            if key in self.answers:
                self.answers.move_to_end(key)
            return self.answers.get(key)

    def remember(self, key: Hashable, find: Callable[[], _T]) -> _T:
        """Give what was found before, or find it now and keep it."""
        known: _T | None = self.recall(key)
        if known is not None:
            return known
        found = find()
        with self.answers_lock:
            self.answers[key] = found
            if len(self.answers) > REMEMBERED:
                self.answers.popitem(last=False)
        return found

    def prepare(self, texts: Sequence[str]) -> None:
        """Let methods learn, in the background, what they learn from all phrases before they can compose any."""
        with self.alone() as model:
            phrases = model.phrases(texts)
        for name in self.methods:
            # Methods that make no sense here learn nothing, and would only say so.
            if name not in EACH and not METHODS[name].doubtful(self.model.lexicon):
                self.learning.submit(("prepare", name), partial(self._prepare, METHODS[name], phrases))

    def _prepare(self, method: Method, phrases: Sequence[Phrase]) -> None:
        try:
            if method.name in POOLED:
                # Many threads may learn at once; the others, who wait for no learning, go on being answered.
                method.compose(self.model.lexicon, phrases)
                self.ready.add(method.name)
            elif not self.learns(method):
                self.compose(method, phrases)
        except CompositaError as error:
            logger.warning("explorer: %s: %s", method.name, error)

    # ------------------------------------------------------------ what is there beside the lexicon

    @property
    def corpus(self) -> Corpus:
        """The corpus, or why there is none."""
        from composita.corpus.corpus import Corpus

        if self.model.corpus is None:
            raise NotFoundError("this folder does not say which corpus it came from: explore a run to read sentences")
        with self.lock:
            if "corpus" not in self.kept:
                self.kept["corpus"] = Corpus.open(self.model.corpus)
            corpus = self.kept["corpus"]
        assert isinstance(corpus, Corpus)
        return corpus

    @property
    def has_corpus(self) -> bool:
        """Whether sentences can be shown."""
        with suppress(CompositaError):
            return bool(self.corpus)
        return False

    @property
    def space(self) -> Space | None:
        """The space with the attested phrases, where it is still there."""
        with suppress(CompositaError), self.lock:
            return self.model.space
        return None

    @property
    def full(self) -> Space | None:
        """The space whose dimensions are contexts, if the run has it or it is the one that is shown."""
        with self.lock:
            if "full" not in self.kept:
                self.kept["full"] = self._find_full()
            return self.kept["full"]  # type: ignore[return-value]

    def _find_full(self) -> Space | None:
        if self.space is not None and self.space.is_sparse:
            return self.space
        for name in () if self.run is None else self.run.meta["spaces"]:
            with suppress(CompositaError):
                space = self.run.space(name) if self.run is not None else None
                if space is not None and space.is_sparse:
                    return space
        return None

    # ------------------------------------------------------------ words

    @property
    def completion(self) -> Completion:
        """All forms and words, ready to be completed."""
        with self.lock:
            if "completion" not in self.kept:
                self.kept["completion"] = Completion.of(self.model)
            found = self.kept["completion"]
        assert isinstance(found, Completion)
        return found

    @property
    def projections(self) -> list[str]:
        """How a map can be drawn: UMAP only where it is installed."""
        return ["pca", *(["umap"] if find_spec("umap") else [])]

    @cached_property
    def methods(self) -> list[str]:
        """The methods that the lexicon allows at all."""
        with self.lock:
            return [name for name, method in METHODS.items() if not method.impossible(self.model.lexicon)]


@dataclass
class Showing:
    """What is shown at a path, opened when it is asked for: as long as that fails, each question is told why.

    A run that is still being made is shown as soon as it is finished, and one that was made anew as it is now.
    """

    path: Path
    opened: View | None = None
    prepare: Callable[[View], None] = lambda view: None
    lock: threading.Lock = field(default_factory=threading.Lock)
    stamp: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Remember which state of the folder was opened."""
        if self.opened is not None:
            self.stamp = self._stamp()

    def view(self) -> View:
        """Give the view, or say why it cannot be opened."""
        with self.lock:
            now = self._stamp()
            if self.opened is None or now != self.stamp:
                self.opened = None
                found = View.open(self.path)
                self.prepare(found)
                self.opened, self.stamp = found, now
            return self.opened

    def _stamp(self) -> tuple[int, ...]:
        """Tell one state of the folder from another: whatever changes it replaces its ``meta.json``."""
        try:
            found = (self.path / META).stat()
        except OSError:
            return ()
        return found.st_ino, found.st_mtime_ns, found.st_size


@dataclass(frozen=True)
class Completion:
    """Forms and labels in the order of the alphabet, with how often each was found."""

    forms: tuple[Known, ...]
    labels: tuple[Known, ...]

    @classmethod
    def of(cls, model: Model) -> Completion:
        """Gather the forms of the words of a model; without a table of forms its lemmas."""
        lexicon = model.lexicon
        count = dict(zip(lexicon.words, np.asarray(lexicon.frequency).tolist(), strict=True))
        best: dict[str, Known] = {}
        totals: dict[str, int] = {}
        if lexicon.forms is not None:
            columns = (lexicon.forms.column(name).to_pylist() for name in ("form", "label", "count"))
            for form, label, times in zip(*columns, strict=True):
                totals[form] = totals.get(form, 0) + times
                if form not in best or times > best[form].times:
                    best[form] = Known(form, label, times)
        else:
            for label, times in count.items():
                form = label.rpartition("-")[0] or label
                totals[form] = totals.get(form, 0) + times
                if form not in best or times > best[form].times:
                    best[form] = Known(form, label, times)
        forms = sorted(known._replace(times=totals[form]) for form, known in best.items())
        return cls(tuple(forms), tuple(sorted(Known(label, label, times) for label, times in count.items())))

    def find(self, start: str, n: int, *, labels: bool) -> list[Known]:
        """Find the most frequent that begin with some letters."""
        known = self.labels if labels else self.forms
        first = bisect_left(known, (start,))
        last = bisect_left(known, (start + "\U0010ffff",))
        return sorted(known[first:last], key=lambda one: (-one.times, one.form))[:n]
