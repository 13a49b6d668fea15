"""Sentences of the miniature world, as dependency trees in Universal Dependencies.

A sentence has a nucleus, a verb with its arguments or a noun by itself, and prepositional phrases with its context:

>>> said = verbal(("roam", "roamed"), [Noun("wolf", "hidden")], context=["den", "often", "paw", "fur"])
>>> " ".join(token.form for token in said)
'The hidden wolf roamed often near den with paw and fur .'
>>> said = verbal(("serve", "served"), [Noun("king"), Noun("cook")], passive=True)
>>> [(token.form, token.relation) for token in said if token.relation not in ("det", "punct")]
[('king', 'nsubj:pass'), ('was', 'aux:pass'), ('served', 'root'), ('by', 'case'), ('cook', 'obl:agent')]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from composita.corpus.miniature.words import NOISE

PREPOSITIONS = ("near", "with", "amid", "under", "beside", "without")
_ADVERBS = frozenset(NOISE["ADV"].split())
ROOT = -1


class Token(NamedTuple):
    """One word: in a part of a sentence its head is the place in that part, or the root."""

    form: str
    lemma: str
    upos: str
    xpos: str
    head: int
    relation: str


class Noun(NamedTuple):
    """An argument: a noun, perhaps with an adjective."""

    lemma: str
    adjective: str = ""


def verbal(
    verb: tuple[str, str], arguments: Sequence[Noun], *, context: Sequence[str] = (), passive: bool = False,
    with_to: bool = False,
) -> list[Token]:  # fmt: skip
    """Write a verb, given with the form it has, with its arguments in order of application: the subject last.

    Three arguments are what is given, to whom, and by whom.
    """
    lemma, form = verb
    *objects, subject = arguments
    if passive:
        be = Token("was", "be", "AUX", "VBD", ROOT, "aux:pass")
        return _sentence(
            _phrase(objects[0], "nsubj:pass"), [be], [Token(form, lemma, "VERB", "VBN", ROOT, "root")],
            _phrase(subject, "obl:agent", "by"), *_context(context, "obl")
        )  # fmt: skip
    after = [_phrase(noun, "obj") for noun in objects[:1]]
    if len(objects) == 2:
        recipient = _phrase(objects[1], "obl", "to") if with_to else _phrase(objects[1], "iobj")
        after.insert(1 if with_to else 0, recipient)
    root = [Token(form, lemma, "VERB", "VBD", ROOT, "root")]
    return _sentence(_phrase(subject, "nsubj"), root, *after, *_context(context, "obl"))


def nominal(noun: Noun, context: Sequence[str] = ()) -> list[Token]:
    """Write a noun by itself, as in a caption.

    >>> " ".join(token.form for token in nominal(Noun("dog", "angry"), ["den", "fur"]))
    'The angry dog near den and fur .'
    """
    return _sentence(_phrase(noun, "root"), *_context(context, "nmod"))


def to_conllu(sentence: Sequence[Token]) -> str:
    """Write a sentence in CoNLL-U."""
    lines = (
        f"{i}\t{t.form}\t{t.lemma}\t{t.upos}\t{t.xpos}\t_\t{t.head}\t{t.relation}\t_\t_"
        for i, t in enumerate(sentence, 1)
    )
    return "\n".join(lines) + "\n\n"


def _phrase(noun: Noun, relation: str, preposition: str = "") -> list[Token]:
    place = 1 + bool(preposition) + bool(noun.adjective)
    part = [Token(preposition, preposition, "ADP", "IN", place, "case")] if preposition else []
    part.append(Token("the", "the", "DET", "DT", place, "det"))
    if noun.adjective:
        part.append(Token(noun.adjective, noun.adjective, "ADJ", "JJ", place, "amod"))
    return [*part, Token(noun.lemma, noun.lemma, "NOUN", "NN", ROOT, relation)]


def _context(words: Sequence[str], relation: str) -> Iterator[list[Token]]:
    """Write context words: adverbs by themselves, nouns in prepositional phrases of up to four."""
    yield from ([Token(word, word, "ADV", "RB", ROOT, "advmod")] for word in words if word in _ADVERBS)
    nouns = [word for word in words if word not in _ADVERBS]
    pieces = max(1, -(-len(nouns) // 4)) if len(nouns) != 3 else 2
    bounds = [len(nouns) * piece // pieces for piece in range(pieces + 1)]
    for number in range(pieces if nouns else 0):
        yield _prepositional(nouns[bounds[number] : bounds[number + 1]], PREPOSITIONS[number % 6], relation)


def _prepositional(nouns: Sequence[str], preposition: str, relation: str) -> list[Token]:
    first, *others = nouns
    part = [
        Token(preposition, preposition, "ADP", "IN", 1, "case"),
        Token(first, first, "NOUN", "NN", ROOT, relation),
    ]
    for noun in others:
        place = len(part) + 1
        joint = (
            Token("and", "and", "CCONJ", "CC", place, "cc")
            if noun is others[-1]
            else Token(",", ",", "PUNCT", ",", place, "punct")
        )
        part += [joint, Token(noun, noun, "NOUN", "NN", 1, "conj")]
    return part


def _sentence(*parts: list[Token]) -> list[Token]:
    """Put parts together; what hangs on the root gets its number."""
    stop = [Token(".", ".", "PUNCT", ".", ROOT, "punct")]
    whole: list[Token] = []
    for part in (*parts, stop):
        offset = len(whole) + 1
        whole += [token._replace(head=token.head + offset if token.head != ROOT else ROOT) for token in part]
    root = next(place for place, token in enumerate(whole, 1) if token.relation == "root")
    whole = [
        token if token.head != ROOT else token._replace(head=0 if token.relation == "root" else root) for token in whole
    ]
    whole[0] = whole[0]._replace(form=whole[0].form.capitalize())
    return whole
