"""From dependency trees straight to derivations, by the patterns of counting: parsed text needs no grammar.

Each main verb is applied to the arguments that the patterns find, nouns with their adjectives; several obliques,
conjoined arguments and conjoined verbs are coordinated as the English grammar does it. What the patterns pass over is
named, and words that a grammar refuses are refused here, too.

>>> sentence = [
...     ("Angry", "angry", "ADJ", "JJ", 2, "amod"),
...     ("dogs", "dog", "NOUN", "NNS", 4, "nsubj"),
...     ("often", "often", "ADV", "RB", 4, "advmod"),
...     ("chase", "chase", "VERB", "VBP", 0, "root"),
...     ("cats", "cat", "NOUN", "NNS", 4, "obj"),
... ]
>>> (found,) = derive(Tokens.from_sentences([sentence]), labels="ud", tags="upos")
>>> found.derivation
Derivation('Angry dogs often chase cats': chase-v(cat-n)(angry-a(dog-n)))
>>> found.left_out
('often',)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.corpus.columns import STRING_COLUMNS, Column, Token, Tokens, words
from composita.corpus.corpus import Corpus, Shard
from composita.corpus.labels import Role, Scheme
from composita.corpus.reading import read_tokens
from composita.corpus.tags import LETTERS, Tagset
from composita.counting.contexts import Context
from composita.counting.job import Job, Switches
from composita.counting.keys import unpack
from composita.counting.patterns import Pattern, load_patterns
from composita.counting.phrases import find_phrases
from composita.counting.vocabulary import Choice, Vocabulary
from composita.counting.words import order_of
from composita.grammar.derivation import Derivation, Tree
from composita.grammar.terms import Const, Term, apply
from composita.grammar.types import Basic, Type, arrow

if TYPE_CHECKING:
    from composita.grammar.grammar import Grammar

PATTERNS = "sv,svo,svoo,svpo,an"
BLOCK = 10_000
"""So many sentences are worked on at a time."""
N, S = Basic("N"), Basic("S")


@dataclass(frozen=True)
class Found:
    """What a sentence gave.

    Parameters
    ----------
    words
        Its words.
    derivation
        How its meaning is made; None where there is none.
    left_out
        The words that add nothing to it; articles, auxiliaries, prepositions of obliques and signs are not named.
    reason
        Why there is no derivation.

    """

    words: tuple[str, ...]
    derivation: Derivation | None
    left_out: tuple[str, ...] = ()
    reason: str = ""


def derive(
    tokens: Tokens,
    *,
    labels: str | Scheme = "auto",
    tags: str | Tagset = "auto",
    patterns: str = PATTERNS,
    grammar: Grammar | None = None,
) -> list[Found]:
    """Give the derivation of each sentence.

    Parameters
    ----------
    tokens
        Parsed sentences.
    labels, tags
        The scheme of their labels and the tagset, as in `Corpus.build`; ``auto`` tells them from the sentences.
    patterns
        The patterns of counting, as in `count`. Of those that fit a verb the one with most arguments is taken.
    grammar
        The grammar whose refused words are refused; by default the English one.

    """
    if grammar is None:
        from composita.grammar.grammar import Grammar

        grammar = Grammar.load("english")
    if not len(tokens):
        return []
    scheme, tagset, wanted = _scheme_of(tokens, labels), _tagset_of(tokens, tags), load_patterns(patterns)
    found: list[Found] = []
    for block in _blocks(tokens):
        text = _Text.read(block, scheme, tagset, wanted)
        found += [_Sentence(text, number, list(rows), grammar).found() for number, rows in enumerate(block)]
    return found


def derive_file(path: str | Path, **options: Any) -> list[Found]:  # noqa: ANN401 - those of `derive`
    """Give the derivation of each sentence of a parsed text; the options are those of `derive`."""
    return derive(read_tokens(path), **options)


def derive_corpus(corpus: Corpus, **options: Any) -> Iterator[Found]:  # noqa: ANN401 - those of `derive`
    """Go through an encoded corpus, a block at a time; labels and tags are those of its shards."""
    for shard in corpus.shards():
        for block in _blocks(shard.load()):
            yield from derive(block, labels=shard.scheme, tags=shard.tagset, **options)


def _scheme_of(tokens: Tokens, labels: str | Scheme) -> Scheme:
    if isinstance(labels, Scheme):
        return labels
    return Scheme.guess(Counter(tokens.relation.strings())) if labels == "auto" else Scheme.load(labels)


def _tagset_of(tokens: Tokens, tags: str | Tagset) -> Tagset:
    if isinstance(tags, Tagset):
        return tags
    if tags != "auto":
        return Tagset.load(tags)
    return Tagset.guess(Counter(tokens.xpos.strings()), Counter(tokens.upos.strings()))


def _blocks(tokens: Tokens) -> Iterator[Tokens]:
    """Divide sentences into blocks, each with the strings that it needs, so that memory stays small."""
    for begin in range(0, tokens.sentences, BLOCK):
        starts = tokens.starts[begin : begin + BLOCK + 1]
        part = slice(int(starts[0]), int(starts[-1]))
        columns = {name: _needed(getattr(tokens, name), part) for name in STRING_COLUMNS}
        yield Tokens(starts - starts[0], tokens.head[part], **columns)


def _needed(column: Column, part: slice) -> Column:
    known, codes = np.unique(column.codes[part], return_inverse=True)
    return Column(codes.reshape(-1).astype(np.int32), column.values.take(known))


@dataclass(frozen=True)
class _Text:
    """What is known of all tokens: their words, and what patterns found, by the token of the head."""

    tokens: Tokens
    labels: list[str]  # "" for tokens that are no words
    patterns: tuple[Pattern, ...]
    occurrences: dict[int, list[tuple[int, list[int], str]]]  # pattern, arguments, what is joined
    modifiers: dict[int, set[int]]  # adjectives, and other words that patterns apply to a noun alone
    auxiliaries: dict[int, list[int]]
    particles: set[int]
    main: dict[int, list[int]]  # the verbs of each sentence's main clauses

    @classmethod
    def read(cls, tokens: Tokens, scheme: Scheme, tagset: Tagset, patterns: tuple[Pattern, ...]) -> _Text:
        shard = Shard(Path(), tokens.sentences, len(tokens), scheme, tagset)
        lemmas, kinds = words(tokens).strings(), shard.classes(tokens)
        labels = [f"{w}-{LETTERS[k]}" if LETTERS[k] else "" for w, k in zip(lemmas, kinds.tolist(), strict=True)]
        roles = shard.roles(tokens)
        links = roles.links()
        found = _occurrences(shard, tokens, labels, patterns)
        auxiliaries: dict[int, list[int]] = {}
        for link in links:
            if link.role == Role.AUXILIARY:
                auxiliaries.setdefault(link.predicate, []).append(link.argument)
        main: dict[int, list[int]] = {}
        sentence = np.searchsorted(tokens.starts, np.arange(len(tokens)), side="right") - 1
        for token in np.flatnonzero((roles.governor < 0) | (roles.role == Role.CONJUNCT)).tolist():
            first = int(roles.first[token]) if roles.role[token] == Role.CONJUNCT else token
            if labels[token].endswith("-v") and labels[first].endswith("-v") and roles.governor[first] < 0:
                main.setdefault(int(sentence[token]), []).append(token)
        modifiers: dict[int, set[int]] = {}
        for head, occurrences in found.items():
            for pattern, arguments, _ in occurrences:
                if patterns[pattern].head in "an" and len(arguments) == 1:
                    modifiers.setdefault(arguments[0], set()).add(head)
        particles = set(np.flatnonzero(roles.role == Role.PARTICLE).tolist())
        return cls(tokens, labels, patterns, found, modifiers, auxiliaries, particles, main)


def _occurrences(
    shard: Shard, tokens: Tokens, labels: Sequence[str], patterns: tuple[Pattern, ...]
) -> dict[int, list[tuple[int, list[int], str]]]:
    """Find the phrases of all words, as counting finds them."""
    listed = sorted({label for label in labels if label}, key=order_of)
    if not listed:
        return {}
    ones = (1,) * len(listed)
    vocabulary = Vocabulary(
        tuple(listed), ones, (True,) * len(listed), (), (), Choice(proper="nouns", pronouns="nouns")
    )
    job = Job(vocabulary, patterns, None, Context(), Switches(), True, 1, "")
    roles = shard.roles(tokens)
    number = {label: place for place, label in enumerate(listed)}
    target: npt.NDArray[np.int32] = np.array([number.get(label, -1) for label in labels], np.int32)
    phrases = find_phrases(job, tokens, roles, roles.links(), target, target)
    fields = unpack(phrases.upper, phrases.lower)
    found: dict[int, list[tuple[int, list[int], str]]] = {}
    for pattern, own, joint in zip(fields.pattern.tolist(), phrases.own.tolist(), fields.joint.tolist(), strict=True):
        size = len(patterns[pattern - 1].arguments)
        joined = phrases.joints[joint - 1] if joint else ""
        found.setdefault(own[0], []).append((pattern - 1, own[1 : 1 + size], joined))
    return found


@dataclass
class _Sentence:
    """One sentence on its way to a derivation."""

    text: _Text
    number: int
    rows: list[Token]
    grammar: Grammar
    used: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.first = int(self.text.tokens.starts[self.number])

    def found(self) -> Found:
        """Make the derivation, or say why there is none."""
        said = tuple(row.form for row in self.rows)
        verbs = self.text.main.get(self.number, [])
        clauses = [clause for verb in verbs if (clause := self._clause(verb)) is not None]
        if not clauses:
            return Found(said, None, reason=self._lacking(verbs))
        if (refused := self._refused()) is not None:
            return Found(said, None, reason=refused)
        root = _coordinated(clauses, S, "S")
        left_out = tuple(self.rows[place].form for place in self._left_out())
        return Found(said, Derivation(said, root), left_out)

    def _lacking(self, verbs: Sequence[int]) -> str:
        """Say why no pattern fits."""
        if not verbs:
            return "no verb in the main clause"
        verb = self.rows[verbs[0] - self.first].form
        names = ", ".join(p.name for p in self.text.patterns if p.head == "v")
        return (
            f"{verb!r} has not the arguments of a pattern ({names}); "
            "an imperative has no subject, nor has a passive without an agent"
        )

    # ------------------------------------------------------------ building

    def _clause(self, verb: int) -> Tree | None:
        """Apply a verb to the arguments of the longest pattern, and coordinate that with its other obliques."""
        kept = [o for o in self.text.occurrences.get(verb, []) if self.text.patterns[o[0]].head == "v"]
        if not kept:
            return None
        plain = [o for o in kept if not o[2]]
        longest = max((len(o[1]) for o in plain), default=0)
        joined = sorted({o[2] for o in kept if o[2]})
        whole = [o for o in plain if len(o[1]) == longest]
        # A verb with an oblique and no object is live_in-v: its subject is counted there.
        groups = [whole] if whole and (longest > 1 or not joined) else []
        groups += [[o for o in kept if o[2] == joint] for joint in joined]
        return _coordinated([self._applied(verb, group) for group in groups], S, "S")

    def _applied(self, head: int, group: list[tuple[int, list[int], str]]) -> Tree:
        """Apply a word to its arguments; in each place stand all the conjuncts that were found there."""
        pattern = self.text.patterns[group[0][0]]
        self.used.add(head)
        arguments = []
        for place in range(len(pattern.arguments)):
            tokens = sorted({o[1][place] for o in group if o[0] == group[0][0] and o[1][place] >= 0})
            arguments.append(_coordinated([self._noun(token) for token in tokens], N, "NP"))
        given = arrow(*[N] * len(arguments), S)
        word = self._word(head, given, "V", group[0][2])
        meaning = apply(word.meaning, *(argument.meaning for argument in arguments))
        return Tree("S", S, meaning, tuple(sorted([word, *arguments], key=_place)), rule=pattern.name)

    def _noun(self, token: int) -> Tree:
        """Give a noun with its adjectives, the nearest applied first."""
        self.used.add(token)
        tree = self._word(token, N, "N")
        for modifier in sorted(self.text.modifiers.get(token, ()), key=lambda m: abs(m - token)):
            self.used.add(modifier)
            word = self._word(modifier, arrow(N, N), "ADJ")
            parts = tuple(sorted([word, tree], key=_place))
            tree = Tree("NP", N, apply(word.meaning, tree.meaning), parts, rule="an")
        return tree

    def _word(self, token: int, kind: Type, category: str, joint: str = "") -> Tree:
        label = self.text.labels[token]
        name = f"{label[:-2]}_{joint}{label[-2:]}" if joint else label
        word = Const(name, kind)
        place = token - self.first
        leaf = Tree("", kind, word, form=self.rows[place].form, place=place)
        return Tree(category, kind, word, (leaf,), rule=category)

    # ------------------------------------------------------------ what is not in it

    def _near(self) -> set[int]:
        """The places of the words that are in the meaning, of their auxiliaries, and of what depends on either."""
        kept = {token - self.first for token in self.used}
        kept |= {a - self.first for token in self.used for a in self.text.auxiliaries.get(token, [])}
        return kept | {place for place, row in enumerate(self.rows) if row.head - 1 in kept}

    def _refused(self) -> str | None:
        if self.rows[-1].form == "?":
            return "questions have no meaning here; expected a statement"
        for place in sorted(self._near()):
            form = self.rows[place].form.lower()
            if (refusal := self.grammar.refusal(form)) is not None:
                return f"word {place + 1}: {form!r} is refused: {refusal.reason}"
        return None

    def _left_out(self) -> list[int]:
        helping = {a - self.first for token in self.used for a in self.text.auxiliaries.get(token, [])}
        used = {token - self.first for token in self.used}
        return [
            place
            for place in range(len(self.rows))
            if place not in used | helping
            and (self.text.labels[self.first + place] or self.first + place in self.text.particles)
        ]


def _place(tree: Tree) -> int:
    return min(leaf.place for leaf in tree.leaves())


def _coordinated(trees: Sequence[Tree], kind: Type, category: str) -> Tree:
    """Coordinate what stands in one place."""
    if len(trees) == 1:
        return trees[0]
    meaning: Term = trees[-1].meaning
    operation = Const("and", arrow(kind, kind, kind))
    for tree in reversed(trees[:-1]):
        meaning = apply(operation, tree.meaning, meaning)
    return Tree(category, kind, meaning, tuple(trees), rule="and")
