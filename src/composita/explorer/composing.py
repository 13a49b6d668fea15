"""Questions about sentences: what one means and why, how near several are, and where a phrase was found."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from composita.composition.explain import explain
from composita.composition.learned import find
from composita.composition.methods import METHODS, method_named
from composita.composition.nearest import Near, nearest
from composita.composition.order import swap
from composita.explorer.view import PATIENCE, LearningError, learner_of
from composita.grammar.phrase import OPERATIONS, Phrase
from composita.grammar.types import WORD, Type, shape_of, space_of
from composita.store.errors import CancelledError, CompositaError, NotFoundError, UsageError, plural
from composita.store.progress import check

if TYPE_CHECKING:
    from composita.composition.meanings import Meanings
    from composita.composition.method import Method
    from composita.composition.model import Model
    from composita.explorer.endpoints import Answer, Given
    from composita.explorer.view import View
    from composita.grammar.derivation import Derivation, Tree
    from composita.spaces.space import Space

NEAR = 12
NEAR_STEPS = 3
PARTS = 15
READINGS = 20
READING_SECONDS = 12.0
LEARNING_SECONDS = 3.0
"""So long a comparison waits for methods that have to learn something for it; they are there when it is asked again."""


# ---------------------------------------------------------------- one sentence


def compose(view: View, given: Given) -> Answer:
    """Compose a sentence: its derivations, step by step what its vector is made by, and what lies near."""
    method, read, chosen = _read(view, given)
    phrase = read.phrase(chosen)
    answer: Answer = {
        "sentence": given["s"], "method": method.name, "title": method.title, "formula": method.formula,
        "readings": read.listed(), "reading": chosen, "term": read.term(chosen), "type": read.type(chosen),
        "tree": read.tree(chosen), "steps": [], "notes": [], "words": [], "phrases": [], "swapped": [], "attested": 0,
    }  # fmt: skip
    if phrase is None:
        answer["notes"] = ["This meaning is not made of words applied to words: it can be drawn, not composed."]
        return answer
    answer["swapped"] = _swapped(phrase, read.derivation(chosen))
    steps = list(_steps(read.model, phrase, method))
    inner = list(dict.fromkeys(step.phrase for step in steps if step.phrase not in (None, phrase)))
    meanings = view.compose(method, [phrase, *(one for one in inner if one is not None)])
    if meanings is None:
        raise LearningError(method)
    if 0 in meanings.reasons:
        raise UsageError(f"{given['s']!r} cannot be composed by {method.title}: {meanings.reasons[0]}")
    answer["notes"] = [*meanings.warnings, *meanings.notes.get(0, ())]
    with view.alone() as model:
        near = _add_neighbours(model, meanings.take([0]), answer)
        found = {} if near is None else _near_steps(near, meanings)
    answer["steps"] = [
        {"text": step.text, "type": step.type, "shape": step.shape, "nearest": found.get(step.phrase, [])}
        for step in steps
    ]
    return answer


def explanation(view: View, given: Given) -> Answer:
    """Say of which attested phrases the vector of a sentence is made, with their weights."""
    method, read, chosen = _read(view, given)
    phrase = read.phrase(chosen)
    answer: Answer = {"explanation": [], "explained": "", "unexplained": ""}
    if phrase is None:
        return answer
    key = ("explain", method.name, phrase)
    where = view.learning if view.learns(method) else view.explaining
    found: Answer | None = view.recall(key) or where.ask(
        key, lambda: view.remember(key, lambda: _explained(read.model, phrase, method)), PATIENCE
    )
    if found is None:
        raise LearningError(method)
    return answer | found


def _read(view: View, given: Given) -> tuple[Method, _Readings, int]:
    """Read the sentence, the method and which of its readings is meant."""
    with view.alone() as model:
        method = method_named(given["method"]) if given["method"] else model.default_method
        read = _Readings(model, given["s"])
        return method, read, read.choose(given["reading"])


class _Readings:
    """What a text can mean: derivations of a sentence, or a phrase that was written as one."""

    def __init__(self, model: Model, text: str) -> None:
        self.model = model
        written = "(" in text or text in model.lexicon.ids
        self.written = Phrase.parse(text) if written else None
        self.found: list[Derivation] = [] if written else model.derivations(text)[:READINGS]

    def choose(self, number: int) -> int:
        if not 0 <= number < max(1, len(self.found)):
            raise UsageError(f"there are {len(self.found)} readings: expected a number below that, got {number}")
        return number

    def derivation(self, number: int) -> Derivation | None:
        return self.found[number] if self.found else None

    def phrase(self, number: int) -> Phrase | None:
        return self.written or self.found[number].phrase

    def term(self, number: int) -> str:
        return str(self.written or self.found[number].term)

    def type(self, number: int) -> str:
        return "" if self.written else str(self.found[number].type)

    def listed(self) -> list[Answer]:
        return [{"term": str(d.term), "type": str(d.type), "likelihood": d.likelihood} for d in self.found]

    def tree(self, number: int) -> Answer | None:
        if not self.found:
            return None
        size = self.model.lexicon.dimensions
        return _drawn(self.found[number].root, size)


def _drawn(tree: Tree, size: int) -> Answer:
    """Tell a tree for drawing; steps that change only the category are passed over."""
    inner = tree
    while len(inner.parts) == 1 and inner.parts[0].meaning == tree.meaning:
        inner = inner.parts[0]
    meaning = str(inner.meaning)
    word = f"{inner.form} : {meaning}" if inner.form and meaning != inner.form and "λ" not in meaning else inner.form
    return {
        "category": tree.category, "type": str(tree.type), "shape": _shape(tree.type, size), "word": word,
        "children": [_drawn(part, size) for part in inner.parts],
    }  # fmt: skip


def _shape(kind: Type, size: int) -> str:
    """Write the shape of a tensor, all basic types having the dimensions of the one space of the lexicon."""
    if kind == WORD:
        return ""
    axes = space_of(kind).split("⊗")
    with suppress(CompositaError):
        return " × ".join(map(str, shape_of(kind, dict.fromkeys(axes, size))))
    return ""


class _Step(NamedTuple):
    """One step of a contraction; what is a vector then is the meaning of a phrase."""

    text: str
    type: str
    shape: str
    phrase: Phrase | None = None


def _steps(model: Model, phrase: Phrase, method: Method) -> Iterator[_Step]:
    """Tell from the inside out what a method does: a function takes one argument at a time."""
    size, learner = model.lexicon.dimensions, learner_of(method)
    for argument in phrase.arguments:
        if argument.arguments:
            yield from _steps(model, argument, method)
    if not phrase.arguments:
        return
    result = "N" if phrase.head[-1] in "an" or phrase.head in OPERATIONS else "S"
    found = None if learner is None or phrase.head in OPERATIONS else find(model.ground, phrase.head, phrase.arity, "")
    if found is None or found.arity != phrase.arity:
        yield _Step(str(phrase), result, "" if method.result == "matrix" else str(size), phrase)
        return
    said = phrase.head
    for place, argument in enumerate(phrase.arguments, start=1):
        left = phrase.arity - place
        said = f"{said}({argument})"
        shape = " × ".join([str(size)] * (left + 1))
        yield _Step(said, " -> ".join([*["N"] * left, result]), shape, None if left else phrase)


def _near_steps(space: Space, meanings: Meanings) -> dict[Phrase | None, list[str]]:
    """Give the words nearest to each vector on the way."""
    found = nearest(space, meanings, NEAR_STEPS, kinds=("words",))
    return {phrase: [near.label for near in one.words] for phrase, one in zip(meanings.phrases, found, strict=True)}


def _swapped(phrase: Phrase, derivation: Derivation | None) -> list[str]:
    """Give the text with the first and the last argument exchanged, if there are two."""
    if phrase.arity < 2 or phrase.head in OPERATIONS or phrase.arguments[0] == phrase.arguments[-1]:
        return []
    other = swap(phrase)
    if derivation is None:
        return [str(other)]
    spans = [_span(derivation, argument) for argument in (phrase.arguments[0], phrase.arguments[-1])]
    if None in spans:
        return [str(other)]
    (a, b), (c, d) = sorted(span for span in spans if span is not None)
    words = derivation.words
    text = " ".join([*words[:a], *words[c:d], *words[b:c], *words[a:b], *words[d:]])
    return [text if b <= c else str(other)]


def _span(derivation: Derivation, argument: Phrase) -> tuple[int, int] | None:
    """Find the largest part of a sentence that means an argument: its first word, and that behind it."""
    from composita.grammar.derivation import phrase_of

    place = 0

    def look(tree: Tree) -> tuple[int, int] | None:
        nonlocal place
        start = place
        if phrase_of(tree.meaning) == argument:
            size = sum(1 for _ in tree.leaves())
            place += size
            return start, start + size
        if not tree.parts:
            place += 1
            return None
        found = None
        for part in tree.parts:
            inside = look(part)
            found = found or inside
        return found

    return look(derivation.root)


def _near(found: list[Near]) -> list[Answer]:
    return [{"label": near.label, "display": near.text, "similarity": float(near.similarity)} for near in found]


def _add_neighbours(model: Model, meanings: Meanings, answer: Answer) -> Space | None:
    """Say what lies near, and give the space that it was looked for in."""
    try:
        space = model.space
    except NotFoundError as error:
        answer["notes"].append(str(error))
        return None
    found = nearest(space, meanings, NEAR)[0]
    answer["words"], answer["phrases"] = _near(found.words), _near(found.phrases)
    row = model.ground.row_of(meanings.phrases[0])
    answer["attested"] = int(space.frequency[row]) if row >= 0 else 0
    if row >= 0:
        times = plural(answer["attested"], "time")
        answer["notes"].append(f"This very phrase was found {times} in the corpus.")
    return space


def _explained(model: Model, phrase: Phrase, method: Method) -> Answer:
    try:
        found = explain(model.lexicon, phrase, method)
    except UsageError as error:
        return {"unexplained": str(error)}
    parts = []
    for part in found.rows[:PARTS]:
        row = -1
        with suppress(CompositaError):
            row = model.ground.row_of(Phrase.parse(part.label))
        parts.append({
            "label": part.label, "display": part.text, "weight": float(part.weight), "share": float(part.share),
            "frequency": int(model.space.frequency[row]) if row >= 0 else None,
        })  # fmt: skip
    said = (
        f"The vector is a weighted sum of {plural(found.parts, 'vector')}: of attested phrases, of words, and of what "
        "a function that all words share gives. The share says how much of the result each of them makes, along the "
        "result's direction; all shares sum to 1."
    )
    return {"explanation": parts, "explained": said}


# ---------------------------------------------------------------- several sentences


def compare(view: View, given: Given) -> Answer:
    """Compare sentences: the cosine of each pair by each method, or by one."""
    texts: list[str] = given["s"]
    sentences: list[Answer] = []
    phrases: list[Phrase] = []
    places: dict[int, int] = {}
    with view.alone() as model:
        for number, text in enumerate(texts):
            about: Answer = {"text": text, "phrase": "", "error": "", "swapped": []}
            try:
                reading = model.read(text)
            except UsageError as error:
                about["error"] = str(error)
            else:
                about["phrase"], about["swapped"] = (
                    str(reading.phrase),
                    _swapped(reading.phrase, reading.derivation),
                )
                places[number] = len(phrases)
                phrases.append(reading.phrase)
            sentences.append(about)
    if len(phrases) < 2:
        reasons = "; ".join(about["error"] for about in sentences if about["error"])
        raise UsageError(f"there are no two sentences to compare: {reasons or 'give at least two'}")
    chosen = [method_named(given["method"])] if given["method"] else list(METHODS.values())
    found: dict[str, Answer] = {}
    ends = time.monotonic() + LEARNING_SECONDS
    # What learns, in the background, begins before the others are asked; what takes longest to learn comes last.
    for method in sorted(chosen, key=lambda method: (not view.learns(method), learner_of(method) == "plsr")):
        if view.learns(method):
            view.compose(method, phrases, patience=0.0)
    for method in sorted(chosen, key=view.learns):
        check(view.cancel)
        meanings = view.compose(method, phrases, patience=max(0.0, ends - time.monotonic()))
        found[method.name] = _compared(method, meanings, places, len(texts))
    return {
        "sentences": sentences, "methods": [found[method.name] for method in chosen],
        "waiting": any(one["waiting"] for one in found.values()),
    }  # fmt: skip


def _compared(method: Method, meanings: Meanings | None, places: dict[int, int], size: int) -> Answer:
    """Compare all pairs by one method; None where it cannot compose or compare them."""
    matrix: list[list[float | None]] = [[None] * size for _ in range(size)]
    said = ["Still learning functions for these words."]
    if meanings is not None:
        pairs = [(i, j) for i in places for j in places]
        left, right = (meanings.take([places[pair[side]] for pair in pairs]) for side in (0, 1))
        for (i, j), value in zip(pairs, left.similarity(right).tolist(), strict=True):
            matrix[i][j] = value if math.isfinite(value) else None
        said = [*meanings.warnings, *(note for notes in meanings.notes.values() for note in notes)]
        said += [*meanings.reasons.values(), *left.obstacles(right).values()]
    return {
        "name": method.name, "title": method.title, "formula": method.formula, "matrix": matrix,
        "notes": list(dict.fromkeys(said))[:4], "waiting": meanings is None,
    }  # fmt: skip


# ---------------------------------------------------------------- the corpus


def concordance(view: View, given: Given) -> Answer:
    """Find sentences of the corpus in which a phrase was found."""
    phrase = Phrase.parse(given["phrase"].split(":", 1)[-1])
    if any(argument.arguments for argument in phrase.arguments):
        raise UsageError("expected a word with words as arguments, such as chase-v(cat-n, dog-n)")
    arguments = [argument.head for argument in phrase.arguments if argument.head != "_"]
    ends = time.monotonic() + READING_SECONDS
    lines, more = [], ""
    try:
        for place in view.corpus.together(_head(phrase.head), arguments, limit=given["n"], cancel=view.cancel):
            roles = {place.head: "head"} | dict.fromkeys(place.arguments, "argument")
            lines.append({
                "shard": place.shard, "sentence": place.sentence,
                "tokens": [{"text": form, "role": roles.get(n, "")} for n, form in enumerate(place.forms)],
            })  # fmt: skip
            if time.monotonic() > ends:
                more = "The search was stopped here, for it takes long; composita sentences finds all."
                break
    except CancelledError:
        more = "The search was stopped here, for it takes long; composita sentences finds all."
    if len(lines) == given["n"]:
        more = f"The first {given['n']} are shown; composita sentences --phrase finds all."
    return {"phrase": str(phrase), "display": phrase.display(), "lines": lines, "more": more}


def _head(head: str) -> str:
    """Leave out what is joined to a head, as in ``live_in-v``: the corpus has the verb."""
    lemma, _, letter = head.rpartition("-")
    return f"{lemma.split('_')[0]}-{letter}"
