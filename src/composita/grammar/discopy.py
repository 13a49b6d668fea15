"""Diagrams of discopy: types as pregroup types, meanings as diagrams, a lexicon as a functor to tensors.

A function type ``N -> S`` is ``S @ N.l``, and applying is a cup: the diagram of *dogs chase cats* is
``chase @ cat @ dog`` with cups from the arguments to the verb's, in the order of application, whatever the order of the
words. So it is the same for all sentences of one meaning. They are pregroup diagrams of words and cups, as
``lambeq.backend.converters.discopy.from_discopy`` takes them.

>>> from composita.grammar.grammar import Grammar
>>> words = {"dogs": "dog-n", "chase": "chase-v", "cats": "cat-n"}
>>> derivation = Grammar.load("paper").derivations("dogs chase cats", words)[0]
>>> diagram = derivation.to_discopy()
>>> print(diagram.dom, diagram.cod, *(box.name for box in diagram.boxes))
Ty() S chase-v cat-n Cup(N.l, N) dog-n Cup(N.l, N)
>>> import numpy as np
>>> tensors = {"dog-n": [1, 0], "cat-n": [0, 1], "chase-v": np.arange(12).reshape(3, 2, 2)}
>>> evaluate(diagram, {"N": 2, "S": 3}, lambda word: tensors[word])
array([1., 5., 9.])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from composita.grammar.terms import Const, Term, spine
from composita.grammar.types import Arrow, Type
from composita.store.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from composita.functions.lexicon import Lexicon
    from composita.grammar.derivation import Derivation


def _module(name: str) -> Any:  # noqa: ANN401 - discopy ships no types
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("drawing diagrams with discopy", package="discopy", extra="diagrams") from None


def type_of(kind: Type) -> Any:  # noqa: ANN401
    """Give a type as a pregroup type of discopy.

    >>> from composita.grammar.types import parse_type
    >>> print(type_of(parse_type("N -> N -> S")))
    S @ N.l @ N.l
    """
    if isinstance(kind, Arrow):
        return type_of(kind.result) @ type_of(kind.argument).l
    return _module("discopy.grammar.pregroup").Ty(str(kind))


def diagram_of(derivation: Derivation) -> Any:  # noqa: ANN401
    """Give the meaning of a derivation as a diagram.

    Only meanings that are words applied to words are diagrams: coordination and relative clauses scale their sum to
    length 1, which no linear map does.
    """
    if not derivation.is_contraction:
        raise UsageError(
            f"{derivation.term} is more than words applied to words, and no diagram of linear maps: "
            "expected a sentence without coordination, relative clauses and adverbs"
        )
    return _diagram(derivation.term)


def _diagram(term: Term) -> Any:  # noqa: ANN401
    pregroup = _module("discopy.grammar.pregroup")
    head, arguments = spine(term)
    assert isinstance(head, Const)
    assert head.type is not None
    kind, diagram = head.type, pregroup.Word(head.name, type_of(head.type))
    for argument in arguments:
        assert isinstance(kind, Arrow)
        inner = _diagram(argument)
        diagram = diagram @ inner >> type_of(kind.result) @ pregroup.Cup(inner.cod.l, inner.cod)
        kind = kind.result
    return diagram


def functor(diagram: Any, dimensions: Mapping[str, int], tensor: Callable[[str], Any]) -> Any:  # noqa: ANN401
    """Make the functor that takes the words of a diagram to their tensors.

    Parameters
    ----------
    diagram
        A diagram, as of `Derivation.to_discopy`.
    dimensions
        For each basic type the dimension of its space.
    tensor
        For each word its array, axes as in `composita.grammar.types.axes_of`: for a verb sentence, subject, object.

    """
    import numpy as np

    return _functor(diagram, dimensions, lambda word: np.asarray(tensor(word.name), dtype=float))


def functor_of(lexicon: Lexicon, diagram: Any) -> Any:  # noqa: ANN401
    """Make the functor of a lexicon: nouns to their vectors, words of other types to their functions as tensors.

    Vectors have length 1 if the functions take them so. Where functions are affine, the spaces of their arguments have
    one dimension more, the homogeneous coordinate, which is 1. Composed arguments are brought to length 1 by the
    methods of composition, which no functor can do: so a diagram gives what the method ``learned`` does where nothing
    is nested, or else, with linear functions, the same direction.
    """
    import numpy as np

    words = _words(diagram)
    functions = {word: lexicon.function(word.name, len(word.cod) - 1) for word in words if len(word.cod) > 1}
    lifted = _lifted({tuple(_names(word)): tuple(reversed(f.affine)) for word, f in functions.items()})
    sizes = {name: lexicon.dimensions + (name in lifted) for word in words for name in _names(word)}

    def tensor(word: Any) -> Any:  # noqa: ANN401
        names = _names(word)
        if word not in functions:
            return np.append(lexicon.argument(word.name), [1.0] * (names[0] in lifted))
        dense = functions[word].dense(homogeneous=any(functions[word].affine))
        full = np.zeros([sizes[name] for name in names])
        full[tuple(map(slice, dense.shape))] = dense
        if names[0] in lifted:
            full[(-1,) * full.ndim] = 1
        return full

    return _functor(diagram, sizes, tensor)


def _lifted(affine: Mapping[tuple[str, ...], tuple[bool, ...]]) -> set[str]:
    """Find the basic types whose spaces need a homogeneous coordinate; what is made for them is made of such ones."""
    lifted = {name for (_, *names), ones in affine.items() for name, one in zip(names, ones, strict=True) if one}
    while more := {name for result, *names in affine if result in lifted for name in names} - lifted:
        lifted |= more
    return lifted


def _words(diagram: Any) -> set[Any]:  # noqa: ANN401
    pregroup = _module("discopy.grammar.pregroup")
    return {box for box in diagram.boxes if isinstance(box, pregroup.Word)}


def _names(word: Any) -> list[str]:  # noqa: ANN401
    """Give the basic type of each axis of a word's tensor."""
    return [str(part).removesuffix(".l") for part in word.cod]


def _functor(diagram: Any, dimensions: Mapping[str, int], tensor: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    pregroup, tensors = _module("discopy.grammar.pregroup"), _module("discopy.tensor")
    words = _words(diagram)
    types = {name for word in words for name in _names(word)}
    if missing := sorted(types - set(dimensions)):
        raise UsageError(f"no dimension is given for the basic type {missing[0]}: expected e.g. {missing[0]}=300")
    return tensors.Functor(
        ob={pregroup.Ty(name): tensors.Dim(dimensions[name]) for name in types},
        ar={word: tensor(word) for word in words},
        dom=pregroup.Category(),
        dtype=float,
    )


def evaluate(diagram: Any, dimensions: Mapping[str, int], tensor: Callable[[str], Any]) -> Any:  # noqa: ANN401
    """Evaluate a diagram with the tensors of its words; see `functor`."""
    return contract(functor(diagram, dimensions, tensor), diagram)


def contract(functor: Any, diagram: Any) -> Any:  # noqa: ANN401
    """Evaluate a diagram of words and cups as one sum of products.

    It is what ``functor(diagram).array`` gives. But that multiplies all tensors before it contracts them, so that a
    transitive verb with two nouns takes d^4 numbers; here it takes those of the verb.
    """
    import numpy as np

    pregroup = _module("discopy.grammar.pregroup")
    wires: list[int] = []
    same: dict[int, int] = {}  # what cups tie together
    operands: list[tuple[Any, list[int]]] = []
    made = 0
    for box, offset in zip(diagram.boxes, diagram.offsets, strict=True):
        if isinstance(box, pregroup.Cup):
            left, right = wires[offset : offset + 2]
            same[right] = left
            del wires[offset : offset + 2]
        else:
            new = list(range(made, made + len(box.cod)))
            made += len(new)
            wires[offset:offset] = new
            operands.append((functor(box).array, new))
    arguments: list[Any] = []
    for array, axes in operands:
        arguments += [array, [same.get(axis, axis) for axis in axes]]
    return np.einsum(*arguments, wires, optimize="greedy")
