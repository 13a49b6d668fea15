"""Diagrams of discopy: types as rigid types, meanings as diagrams, a lexicon as a functor to tensors.

A function type ``N -> S`` is ``S @ N.l``, and applying is a cup: the diagram of *dogs chase cats* is
``chase @ cat @ dog`` with cups from the arguments to the verb's, in the order of application, whatever the order of the
words. So it is the same for all sentences of one meaning. lambeq users can start from there.

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
    from composita.grammar.derivation import Derivation


def _module(name: str) -> Any:  # noqa: ANN401 - discopy ships no types
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("drawing diagrams with discopy", package="discopy", extra="diagrams") from None


def type_of(kind: Type) -> Any:  # noqa: ANN401
    """Give a type as a rigid type of discopy.

    >>> from composita.grammar.types import parse_type
    >>> print(type_of(parse_type("N -> N -> S")))
    S @ N.l @ N.l
    """
    if isinstance(kind, Arrow):
        return type_of(kind.result) @ type_of(kind.argument).l
    return _module("discopy.rigid").Ty(str(kind))


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
    rigid = _module("discopy.rigid")
    head, arguments = spine(term)
    assert isinstance(head, Const)
    assert head.type is not None
    kind, diagram = head.type, rigid.Box(head.name, rigid.Ty(), type_of(head.type))
    for argument in arguments:
        assert isinstance(kind, Arrow)
        inner = _diagram(argument)
        diagram = diagram @ inner >> type_of(kind.result) @ rigid.Cup(inner.cod.l, inner.cod)
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
        For each word its array, axes as in `composita.grammar.types.axes_of`: for a verb sentence, subject, object. Of
        a lexicon this is ``lambda word: lexicon.function(word).dense()`` or a vector.

    """
    import numpy as np

    rigid, tensors = _module("discopy.rigid"), _module("discopy.tensor")
    words = {box for box in diagram.boxes if not isinstance(box, rigid.Cup)}
    types = {name for box in words for name in (str(part).removesuffix(".l") for part in box.cod)}
    if missing := sorted(types - set(dimensions)):
        raise UsageError(f"no dimension is given for the basic type {missing[0]}: expected e.g. {missing[0]}=300")
    return tensors.Functor(
        ob={rigid.Ty(name): tensors.Dim(dimensions[name]) for name in types},
        ar={box: np.asarray(tensor(box.name), dtype=float) for box in words},
        dom=rigid.Category(),
        dtype=float,
    )


def evaluate(diagram: Any, dimensions: Mapping[str, int], tensor: Callable[[str], Any]) -> Any:  # noqa: ANN401
    """Evaluate a diagram with the tensors of its words; see `functor`."""
    return functor(diagram, dimensions, tensor)(diagram).array
