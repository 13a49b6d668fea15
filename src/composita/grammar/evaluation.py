r"""Evaluation: the value of a meaning, once it is known what words applied to values are.

A method of composition says what a word applied to the values of its arguments is; operations and abstractions are the
same for all methods.

>>> import numpy as np
>>> from composita.grammar.terms import parse_term
>>> vectors = {"dog-n": np.array([1.0, 0.0]), "cat-n": np.array([0.0, 2.0]), "bark-v": np.array([0.0, 1.0])}
>>> def product(word, arguments):
...     return np.prod([vectors[word.name], *arguments], axis=0)
>>> evaluate(parse_term("bark-v(and(dog-n, cat-n))"), product)
array([0.        , 0.70710678])
>>> evaluate(parse_term(r"(\x. bark-v(x))(cat-n)"), product)
array([0., 2.])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from composita.grammar.operations import OPERATIONS
from composita.grammar.terms import App, Const, Lam, Term, Var, spine
from composita.grammar.types import arity
from composita.store.errors import UsageError

Apply: TypeAlias = Callable[[Const, tuple[Any, ...]], Any]
"""What a word is when it is applied to as many values as its type asks for; none for a word that is a vector."""

BINARY = 2


def evaluate(term: Term, apply: Apply) -> Any:  # noqa: ANN401 - whatever the method makes
    """Give the value of a term: a vector, or a function of values where its type is one.

    Parameters
    ----------
    term
        The meaning, such as `Derivation.term`.
    apply
        What a word applied to values is: ``apply(word, arguments)``, arguments in order of application.

    """
    try:
        return _Evaluation(apply).value(term, {})
    except RecursionError:
        raise UsageError("a meaning is nested too deeply to be worked out: use a shorter sentence") from None


class _Evaluation:
    def __init__(self, apply: Apply) -> None:
        self.apply = apply
        self.done: dict[int, tuple[Term, Any]] = {}  # values of closed parts, which reduction may have copied

    def value(self, term: Term, bound: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if term.free:
            return self._value(term, bound)
        if id(term) not in self.done:
            self.done[id(term)] = term, self._value(term, bound)
        return self.done[id(term)][1]

    def _value(self, term: Term, bound: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if isinstance(term, Lam):
            return lambda x: self.value(term.body, {**bound, term.name: x})
        if isinstance(term, Var):
            if term.name not in bound:
                raise UsageError(f"the variable {term.name} stands for nothing: expected a closed meaning")
            return bound[term.name]
        head, arguments = spine(term)
        if isinstance(head, Const):
            if head.name in OPERATIONS:
                return self._operation(head, term, arguments, bound)
            values = [self.value(argument, bound) for argument in arguments]
            return self._word(head, values)
        assert isinstance(term, App)
        return self.value(term.function, bound)(self.value(term.argument, bound))

    def _word(self, word: Const, values: Sequence[Any]) -> Any:  # noqa: ANN401
        """Apply a word, or wait for the arguments that are missing."""
        wanted = len(values) if word.type is None else arity(word.type)
        if len(values) > wanted:
            raise UsageError(f"{word} is applied to {len(values)} arguments, but its type {word.type} takes {wanted}")
        return self.apply(word, tuple(values)) if len(values) == wanted else lambda x: self._word(word, [*values, x])

    def _operation(self, head: Const, term: Term, arguments: Sequence[Term], bound: Mapping[str, Any]) -> Any:  # noqa: ANN401
        combine = OPERATIONS[head.name].combine
        if combine is None:
            raise UsageError(f"{term}: {head.name} needs a word and a preposition that are there when it is applied")
        if len(arguments) < BINARY:
            first = [self.value(argument, bound) for argument in arguments]
            if first:
                return lambda y: combine([*first, y])
            return lambda x: lambda y: combine([x, y])
        # Coordination of coordinations is one: all parts weigh the same.
        parts = _coordinated(head, term) if head.name == "and" else list(arguments)
        return combine([self.value(part, bound) for part in parts])


def _coordinated(head: Const, term: Term) -> list[Term]:
    inner, arguments = spine(term)
    if isinstance(inner, Const) and inner.name == head.name and len(arguments) == BINARY:
        return [part for argument in arguments for part in _coordinated(head, argument)]
    return [term]
