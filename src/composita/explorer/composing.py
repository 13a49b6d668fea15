"""Questions about sentences: what one means and why, how near several are, and where a phrase was found."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from composita.composition.explain import explain
from composita.composition.methods import METHODS, method_named
from composita.composition.nearest import Near, nearest
from composita.composition.order import swap
from composita.grammar.phrase import OPERATIONS, Phrase
from composita.grammar.types import WORD, Type, shape_of, space_of
from composita.store.errors import CancelledError, CompositaError, NotFoundError, UsageError

if TYPE_CHECKING:
    from composita.composition.method import Method
    from composita.composition.model import Model
    from composita.explorer.endpoints import Answer, Given
    from composita.explorer.view import View
    from composita.grammar.derivation import Derivation, Tree

NEAR = 12
PARTS = 15
READINGS = 20
READING_SECONDS = 12.0


# ---------------------------------------------------------------- one sentence


def compose(view: View, given: Given) -> Answer:
    """Compose a sentence: its derivations, its vector's neighbours, and what the vector is made of."""
    with view.alone() as model:
        method = method_named(given["method"]) if given["method"] else model.default_method
        read = _Readings(model, given["s"])
        chosen = read.choose(given["reading"])
        phrase = read.phrase(chosen)
        answer: Answer = {
            "sentence": given["s"], "method": method.name, "readings": read.listed(), "reading": chosen,
            "term": read.term(chosen), "type": read.type(chosen), "tree": read.tree(chosen), "steps": [],
            "notes": [], "words": [], "phrases": [], "explanation": [], "explained": "", "unexplained": "",
            "swapped": [], "attested": 0,
        }  # fmt: skip
        if phrase is None:
            answer["notes"] = ["This meaning is not made of words applied to words: it can be drawn, not composed."]
            return answer
        dimensions = model.lexicon.dimensions
        answer["steps"] = list(_steps(phrase, dimensions))
        answer["swapped"] = _swapped(phrase, read.derivation(chosen))
        meanings = method.compose(model.lexicon, [phrase])
        if meanings.reasons:
            raise UsageError(f"{given['s']!r} cannot be composed by {method.title}: {meanings.reasons[0]}")
        answer["notes"] = [*meanings.warnings, *meanings.notes.get(0, ())]
        _add_neighbours(view, model, meanings, answer)
        _add_explanation(model, phrase, method, answer)
    return answer


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


def _steps(phrase: Phrase, size: int) -> Iterator[Answer]:
    """Tell the contraction from the inside out, one argument at a time."""
    for argument in phrase.arguments:
        yield from _steps(argument, size)
    if phrase.head in OPERATIONS:
        yield {"text": str(phrase), "type": "", "shape": str(size)}
        return
    result = "N" if phrase.head[-1] in "an" else "S"
    said = phrase.head
    for place, argument in enumerate(phrase.arguments):
        said = f"{said}({argument})"
        left = phrase.arity - place - 1
        yield {
            "text": said,
            "type": " -> ".join([*["N"] * left, result]),
            "shape": " × ".join([str(size)] * (left + 1)),
        }


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
    from composita.composition.model import phrase_of

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


def _add_neighbours(view: View, model: Model, meanings: Any, answer: Answer) -> None:  # noqa: ANN401 - Meanings
    try:
        space = model.space
    except NotFoundError as error:
        answer["notes"].append(str(error))
        return
    found = nearest(space, meanings, NEAR)[0]
    answer["words"], answer["phrases"] = _near(found.words), _near(found.phrases)
    row = model.ground.row_of(meanings.phrases[0])
    answer["attested"] = int(space.frequency[row]) if row >= 0 else 0
    if row >= 0:
        answer["notes"].append(f"This very phrase was found {answer['attested']:,} times in the corpus.")


def _add_explanation(model: Model, phrase: Phrase, method: Method, answer: Answer) -> None:
    try:
        found = explain(model.lexicon, phrase, method)
    except UsageError as error:
        answer["unexplained"] = str(error)
        return
    answer["explained"] = (
        f"The vector is a weighted sum of the vectors of {found.parts:,} attested phrases or words; the share says how "
        "much of the result each of them makes, along the result's direction, and all shares sum to 1."
    )
    for part in found.rows[:PARTS]:
        row = -1
        with suppress(CompositaError):
            row = model.ground.row_of(Phrase.parse(part.label))
        answer["explanation"].append({
            "label": part.label, "display": part.text, "weight": float(part.weight), "share": float(part.share),
            "frequency": int(model.space.frequency[row]) if row >= 0 else None,
        })  # fmt: skip


# ---------------------------------------------------------------- several sentences


def compare(view: View, given: Given) -> Answer:
    """Compare sentences: the cosine of each pair by each method, or by one."""
    texts: list[str] = given["s"]
    with view.alone() as model:
        sentences: list[Answer] = []
        phrases: list[Phrase] = []
        places: dict[int, int] = {}
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
        methods = []
        for method in chosen:
            if view.cancel is not None:
                view.cancel.check()
            methods.append(
                _compared(model, method, phrases, places, len(texts))
                if view.is_ready(method.name)
                else _waiting(method, len(texts))
            )
    return {"sentences": sentences, "methods": methods}


def _compared(model: Model, method: Method, phrases: list[Phrase], places: dict[int, int], size: int) -> Answer:
    """Compare all pairs by one method; None where it cannot compose or compare them."""
    matrix: list[list[float | None]] = [[None] * size for _ in range(size)]
    meanings = method.compose(model.lexicon, phrases)
    pairs = [(i, j) for i in places for j in places]
    left, right = (meanings.take([places[pair[side]] for pair in pairs]) for side in (0, 1))
    for (i, j), value in zip(pairs, left.similarity(right).tolist(), strict=True):
        matrix[i][j] = value if math.isfinite(value) else None
    said = [*meanings.warnings, *(note for notes in meanings.notes.values() for note in notes)]
    said += [*meanings.reasons.values(), *left.obstacles(right).values()]
    return {
        "name": method.name, "title": method.title, "formula": method.formula, "matrix": matrix,
        "notes": list(dict.fromkeys(said))[:4],
    }  # fmt: skip


def _waiting(method: Method, size: int) -> Answer:
    return {
        "name": method.name, "title": method.title, "formula": method.formula, "matrix": [[None] * size] * size,
        "notes": ["Still learning from all phrases: ask again in a moment."],
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
