"""Derivations: how the meaning of a sentence is made of the meanings of its words.

>>> from composita.grammar.grammar import Grammar
>>> words = {"angry": "angry-a", "dogs": "dog-n", "chase": "chase-v", "furry": "furry-a", "cats": "cat-n"}
>>> derivation = Grammar.load("paper").derivations("angry dogs chase furry cats", words)[0]
>>> print(derivation.term)
chase-v(furry-a(cat-n))(angry-a(dog-n))
>>> print(derivation.phrase)
chase-v(furry-a(cat-n), angry-a(dog-n))
>>> print(derivation.contraction())
(T_chase × (T_furry × cat)) × (T_angry × dog)
>>> print(derivation.tree())
S
├─ NP
│  ├─ ADJ angry-a
│  └─ NP
│     └─ N dog-n (dogs)
└─ VP
   ├─ Vt chase-v
   └─ NP
      ├─ ADJ furry-a
      └─ NP
         └─ N cat-n (cats)

"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from composita.grammar.phrase import OPERATIONS, Phrase
from composita.grammar.terms import App, Const, Lam, Term, constants, spine
from composita.grammar.types import Type, arity, axes_of, shape_of, space_of
from composita.store.errors import UsageError


@dataclass(frozen=True)
class Tree:
    """A part of a sentence: its category, its type, its meaning, and its parts; a leaf has a form instead.

    Parameters
    ----------
    category
        The category; for a function word as it stands in a rule, the word.
    type
        What its meaning is.
    meaning
        The term, in normal form.
    parts
        What it is made of.
    form
        The word, as it stands in the sentence.
    rule
        The rule, as it is written.
    place
        Of a leaf: which word of the sentence it is, from 0.

    """

    category: str
    type: Type
    meaning: Term
    parts: tuple[Tree, ...] = ()
    form: str = ""
    rule: str = ""
    place: int = 0

    def leaves(self) -> Iterator[Tree]:
        """Go through the words."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()

    def compact(self) -> Tree:
        """Leave out categories that are made of one other category alone: NP, NC, NB, N becomes NP, N."""
        tree = self
        while len(tree.parts) == 1 and tree.parts[0].parts and tree.parts[0].parts[0].parts:
            tree = replace(tree, parts=tree.parts[0].parts)
        return replace(tree, parts=tuple(part.compact() for part in tree.parts))


@dataclass(frozen=True, repr=False)
class Derivation:
    """One way to make a sentence and its meaning.

    Parameters
    ----------
    words
        The words of the sentence.
    root
        How they are put together.
    likelihood
        The probability of its choice of words, each form by itself being what it is in the corpus.

    """

    words: tuple[str, ...]
    root: Tree
    likelihood: float = 1.0

    @property
    def category(self) -> str:
        """What the whole is: ``S``, ``NP``."""
        return self.root.category

    @property
    def type(self) -> Type:
        """The type of the meaning."""
        return self.root.type

    @property
    def term(self) -> Term:
        """The meaning, in normal form."""
        return self.root.meaning

    @cached_property
    def phrase(self) -> Phrase | None:
        """The meaning as a phrase: words and operations with all their arguments; None where it is a function."""
        return phrase_of(self.term)

    @property
    def is_contraction(self) -> bool:
        """Whether the meaning is words applied to words, without operations: one contraction of tensors."""
        return self.phrase is not None and all(word.is_word for word in self.constants)

    @property
    def constants(self) -> tuple[Const, ...]:
        """The words and operations of the meaning, from left to right, each with its type."""
        return tuple(constants(self.term))

    def __str__(self) -> str:
        return str(self.term)

    def __repr__(self) -> str:
        return f"Derivation({' '.join(self.words)!r}: {self.term})"

    # ------------------------------------------------------------ ways to write it

    def tree(self, *, types: bool = False, compact: bool = False) -> str:
        """Draw the tree with letters, with types if wanted, and if wanted without what is made of one part alone."""
        return "\n".join(_draw(self.root.compact() if compact else self.root, "", types=types))

    def contraction(self, dimensions: Mapping[str, int] | None = None) -> str:
        """Write the meaning as contractions of tensors, and below, with dimensions, the shape of each tensor."""
        lines = [_contracted(self.term)]
        if dimensions is not None:
            shapes = {
                _tensor(c): f"{space_of(c.type)} ({' × '.join(map(str, shape_of(c.type, dimensions)))})"
                for c in self.constants
                if c.is_word and c.type is not None
            }
            width = max(map(len, shapes), default=0)
            lines += [f"{name:{width}}  {shape}" for name, shape in shapes.items()]
        return "\n".join(lines)

    def einsum(self) -> tuple[str, tuple[Const, ...]]:
        """Write the meaning as subscripts for `numpy.einsum`, with the words whose tensors are its operands.

        Only meanings that are words applied to words are one sum of products.
        """
        if not self.is_contraction:
            raise UsageError(f"{self.term} is more than words applied to words: no one contraction of tensors")
        letters = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" * 4)
        operands: list[tuple[str, Const]] = []
        out = _subscripts(self.term, letters, operands)
        if len({sign for axes, _ in operands for sign in axes}) > 52:
            raise UsageError("a sentence of so many words has more indices than einsum has letters")
        return f"{','.join(axes for axes, _ in operands)}->{out}", tuple(word for _, word in operands)

    def svg(self, *, compact: bool = True) -> str:
        """Draw the tree, with types, as an SVG picture; without what is made of one part alone, unless wanted."""
        from composita.grammar.draw import draw

        return draw(self, self.root.compact() if compact else self.root)

    def _repr_svg_(self) -> str:
        return self.svg()

    def to_discopy(self) -> Any:  # noqa: ANN401 - discopy ships no types
        """Give the meaning as a diagram of discopy, if it is words applied to words."""
        from composita.grammar.discopy import diagram_of

        return diagram_of(self)


def phrase_of(term: Term) -> Phrase | None:
    """Give a term as a phrase, if it is words and operations, each with as many arguments as its type asks for.

    >>> from composita.grammar.terms import parse_term
    >>> print(phrase_of(parse_term("bark-v(and(dog-n, and(cat-n, mouse-n)))")))
    bark-v(and(dog-n, cat-n, mouse-n))
    """
    head, arguments = spine(term)
    if not isinstance(head, Const) or not (head.is_word or head.name in OPERATIONS):
        return None
    if (head.type is not None and arity(head.type) != len(arguments)) or not (head.is_word or arguments):
        return None
    parts: list[Phrase] = []
    for argument in arguments:
        part = phrase_of(argument)
        if part is None:
            return None
        # Coordination of coordinations is one: all parts weigh the same.
        parts.extend(part.arguments if part.head == head.name == "and" else (part,))
    return Phrase(head.name, tuple(parts))


def _draw(tree: Tree, lead: str, *, types: bool) -> Iterator[str]:
    kind = f" : {tree.type}" if types and tree.category else ""
    if len(tree.parts) == 1 and not tree.parts[0].parts:
        yield f"{tree.category}{kind} {_word(tree)}"
        return
    yield f"{tree.category}{kind}" if tree.parts else f"{tree.form}"
    for place, part in enumerate(tree.parts):
        last = place == len(tree.parts) - 1
        for line, text in enumerate(_draw(part, "", types=types)):
            branch = ("└─ " if last else "├─ ") if line == 0 else ("   " if last else "│  ")
            yield lead + branch + text


def _word(tree: Tree) -> str:
    """Write the word of a lexical category: what it is, and how it is written where that differs."""
    form = tree.parts[0].form
    said = str(tree.meaning)
    return form if said in (form, "") else said if said[:-2] == form else f"{said} ({form})"


def _tensor(word: Const) -> str:
    lemma = word.name[:-2] if word.is_word else word.name
    return f"T_{lemma}" if word.type is not None and arity(word.type) else lemma


def _contracted(term: Term) -> str:
    head, arguments = spine(term)
    if isinstance(head, Const) and not head.is_word:
        return f"{head.name}({', '.join(map(_contracted, arguments))})"
    if isinstance(head, Lam):
        written = f"λ{head.name}. {_contracted(head.body)}"  # in normal form it is applied to nothing
    else:
        written = _tensor(head) if isinstance(head, Const) else str(head)
    for place, argument in enumerate(arguments):
        inner = _contracted(argument)
        one = isinstance(argument, App | Lam) and not inner.startswith(("and(", "that("))
        written = f"{f'({written})' if place else written} × {f'({inner})' if one else inner}"
    return written


def _subscripts(term: Term, letters: Iterator[str], operands: list[tuple[str, Const]]) -> str:
    """Give a letter to each axis; what is applied shares those of its argument."""
    head, arguments = spine(term)
    assert isinstance(head, Const)
    assert head.type is not None
    axes = [next(letters) for _ in axes_of(head.type)]
    place = len(operands)
    operands.append(("", head))
    free = len(axes)
    for argument in arguments:
        inside = _subscripts(argument, letters, operands)
        axes[free - len(inside) : free] = inside
        free -= len(inside)
    operands[place] = ("".join(axes), head)
    return "".join(axes[:free])
