"""Methods that apply learned functions: lexical functions, multi-step and one-step regression, and practical ones.

A function is that of the lexicon where the lexicon was learned in this way, and otherwise learned now, from the same
examples. Each comes twice: alone, ``f(o)(s)``, and with the head's own vector kept, ``f(o)(s)/|f(o)(s)| + v/|v|``.

What is done where there is no function of so many arguments, if backing off is allowed, and always noted:

- there is one of fewer: it is applied to the subject and to the first of the others, and the rest is left out (*sing*,
  learned from *kids sing*, in *kids sing songs*);
- there is one of more: the arguments that lack are the mean of those it was learned with (*chase* in *dogs chase*);
- there is none: the vectors of the words are added, each of length 1; *live_in* without a vector is *live*.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from composita.composition.meanings import Vectors
from composita.composition.method import Batch, Method
from composita.composition.rows import FloatArray, IntArray, unit
from composita.functions.examples import names_of
from composita.store.errors import plural

if TYPE_CHECKING:
    from composita.composition.ground import Ground
    from composita.functions.function import Function


VERB_PHRASE = "vo"


class Found(NamedTuple):
    """A function for a head, and how it is used."""

    function: Function
    arity: int
    pattern: str


def family(name: str, title: str, learner: str, reference: str) -> list[Method]:
    """Give the two methods of a learner: its functions alone, and with the head's own vector kept."""
    alone = partial(apply, learner=learner)
    needs = "phrases" if learner else "functions"
    return [
        Method(name, title, "f(o)(s)", alone, reference=reference, unit=None, needs=needs, dense=True),
        Method(
            f"{name}+head", f"{title} + head", "f(o)(s)/|f(o)(s)| + v/|v|", partial(keep_head, learner=learner),
            reference=reference, unit=None, needs=needs, dense=True,
        ),
    ]  # fmt: skip


def apply(batch: Batch, learner: str) -> Vectors:
    """Apply the function of each head to its arguments: ``f(o)(s)``."""
    total = np.zeros((len(batch), batch.ground.lexicon.dimensions), np.float32)
    for head, places in batch.by_head.items():
        found = find(batch.ground, head, batch.arity, learner)
        if found is None:
            _add_words(batch, head, places, total)
            continue
        if found.arity != batch.arity or found.pattern == VERB_PHRASE:
            batch.note(places, _used_otherwise(batch, head, found))
        total[places] = found.function.apply_all(*fit(batch.ground, found, head, batch.part(places)))
    return Vectors(total)


def keep_head(batch: Batch, learner: str) -> Vectors:
    """Add the head's own vector to what its function makes, both of length 1."""
    values = apply(batch, learner)
    return Vectors(unit(values.rows) + head_rows(batch))


def head_rows(batch: Batch) -> FloatArray:
    """Give the heads' own vectors with length 1; one that has none, such as *live_in-v*, adds nothing and is noted."""
    heads = list(batch.by_head)
    rows, missing = batch.ground.vectors(heads)
    rows = unit(rows)
    total = np.zeros((len(batch), rows.shape[1]), np.float32)
    for number, head in enumerate(heads):
        if number in missing:
            batch.note(batch.by_head[head], f"{missing[number]}: only its function is used")
        else:
            total[batch.by_head[head]] = rows[number]
    return total


def find(ground: Ground, head: str, arity: int, learner: str) -> Found | None:
    """Find the function of a head for so many arguments, or the one of the nearest number of arguments."""
    for other in sorted(range(1, 5), key=lambda n: (abs(n - arity), n)):
        for pattern in ground.function_patterns(head, other):
            function = ground.function(head, pattern, learner)
            if function is not None:
                return Found(function, other, pattern)
    # A verb phrase applies to an object, while the last argument of a sentence is the subject.
    function = ground.function(head, VERB_PHRASE, learner) if arity == 1 else None
    return None if function is None else Found(function, 1, VERB_PHRASE)


def fit(ground: Ground, found: Found, head: str, arguments: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
    """Give a function as many arguments as it takes: the subject, which is the last, and of the others the first ones.

    So *give*, of three, is given the book and the boy where it was learned with these two alone. For those that lack
    there are means.
    """
    *others, last = arguments
    lacking = found.arity - len(arguments)
    if lacking <= 0:
        return (*others[: found.arity - 1], last)
    means = ground.trained(("means", found.pattern, head), lambda: _means(ground, found, head))
    return (*others, *means[len(others) : found.arity - 1], last)


def _means(ground: Ground, found: Found, head: str) -> tuple[FloatArray, ...]:
    examples = ground.examples(head, found.pattern)
    assert examples is not None, "a function was learned from examples"
    return tuple(examples.inputs(place).mean(axis=0) for place in range(examples.arity))


def _used_otherwise(batch: Batch, head: str, found: Found) -> str:
    if found.pattern == VERB_PHRASE:
        return f"{head} has a function for an object only: its argument is taken as that"
    known = f"{head} has no function of {plural(batch.arity, 'argument')}"
    less, more = sorted((found.arity, batch.arity))
    names = (found.function.names if found.arity == more else names_of(more))[less - 1 : more - 1]
    if found.arity > batch.arity:
        return (
            f"{known}: that of {found.arity} was applied, to the mean of the {' and '.join(names)} it was learned with"
        )
    return f"{known}: that of {found.arity} was applied, and {' and '.join(f'the {name}' for name in names)} left out"


def _add_words(batch: Batch, head: str, places: IntArray, total: FloatArray) -> None:
    """Add the words of phrases whose head has no function."""
    word = batch.ground.stem(head)
    rows, missing = batch.ground.vectors([word])
    if missing:
        for place in places.tolist():
            batch.fail(place, f"{head} has no function, and {missing[0]}")
        return
    of = "" if word == head else f", with the vector of {word}"
    batch.note(places, f"{head} has no function: the words were added{of}")
    total[places] = unit(rows) + sum(unit(argument) for argument in batch.part(places))


# ---------------------------------------------------------------- practical lexical functions


def practical(batch: Batch) -> Vectors:
    """Add to the head's vector what its matrix for each place makes of the argument there: ``v + V_o o + V_s s``."""
    total = np.array(batch.head_vectors, np.float32)
    for head, places in batch.by_head.items():
        for place in range(batch.arity):
            matrix = place_function(batch.ground, head, batch.arity, place)
            rows = batch.arguments[place][places]
            if matrix is None:
                batch.note(places, f"{head} has no matrix for argument {place + 1}: the argument itself was added")
            total[places] += rows if matrix is None else matrix.apply_all(rows)
    return Vectors(total)


def place_function(ground: Ground, head: str, arity: int, place: int) -> Function | None:
    """Give the function of one place of a head, learned from phrases of that argument alone where they were counted.

    So a subject's matrix is learned from ``sv`` and an object's from ``vo``; else from the phrases of all arguments.
    """
    pattern = ground.pattern_of(head, arity)
    role = None if pattern is None else ground.patterns[pattern].arguments[place].name
    for name, known in ground.patterns.items():
        if len(known.arguments) == 1 and known.head == head[-1:] and known.arguments[0].name == role:
            function = ground.function(head, name, "multistep")
            if function is not None:
                return function
    if pattern is None or arity == 1:
        return None
    return ground.trained(("place", head, pattern, place), lambda: _from_column(ground, head, pattern, place))


def _from_column(ground: Ground, head: str, pattern: str, place: int) -> Function | None:
    from dataclasses import replace

    examples = ground.examples(head, pattern)
    if examples is None or len(examples) < ground.least:
        return None
    alone = replace(
        examples, vectors=(examples.vectors[place],), ids=examples.ids[:, place : place + 1],
        names=(examples.names[place],),
    )  # fmt: skip
    return ground.learn(alone, "multistep")
