"""Parsing: from words to all derivations of a grammar, kept together in a chart, and the best of them.

The parser is Earley's, without empty rules: its items are rules read up to some part, and one that is there proves
that the words before are the beginning of a sentence. So it knows how far it got. Derivations are not written out but
packed: for each category over each stretch of words it is noted how it can be made; from there the cheapest ones are
taken, and all are counted, in time that does not depend on their number.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

from composita.grammar.forms import Forms, Reading
from composita.grammar.rules import Category, Refusal, Rule, Symbol, Word, WordClass
from composita.store.errors import UsageError

MOST_WORDS = 200
MOST_ITEMS = 300_000
"""How many items a chart may have: some seconds of work."""
MOST_DERIVATIONS = 100
SHOWN = 8
RARELY = 100
"""So much less likely are words of the grammar as words of a lexicon, and names in small letters."""

CLASSES = {"n": "noun", "v": "verb", "a": "adjective", "r": "adverb", "p": "pronoun"}

_TOKEN = re.compile(r"\w+(?:['.&-]\w+)*|[^\w\s]")
SCALE = 1_000_000
"""Costs are whole numbers, so that their sum does not depend on the order."""


class Cost(NamedTuple):
    """What makes a derivation unlikely: rare words first, then many rules, then late ones."""

    words: int = 0
    rules: int = 0
    order: int = 0


class Leaf(NamedTuple):
    """A word of the sentence; and for words of a lexicon, which."""

    place: int
    reading: Reading | None = None


class Made(NamedTuple):
    """A derivation: the number of its rule, and what the parts are made of."""

    cost: Cost
    rule: int
    parts: tuple[Leaf | Made, ...]


class Parse(NamedTuple):
    """What parsing found: the cheapest derivations, how many there are, and the category that they are of."""

    category: str
    derivations: list[Made]
    number: int


# ---------------------------------------------------------------- words


def split_words(sentence: str) -> list[str]:
    """Split a sentence into words and signs; full stops and exclamation marks at the end are dropped.

    >>> split_words("Angry dogs chase Tom.")
    ['Angry', 'dogs', 'chase', 'Tom']
    """
    text = unicodedata.normalize("NFC", sentence).replace("’", "'")
    found = _TOKEN.findall(text)
    while found and found[-1] in ".!":
        found.pop()
    if found and found[-1] == "?":
        raise UsageError(f"{shorten(found)!r}: questions have no meaning here; expected a statement")
    return found


def shorten(words: Sequence[str]) -> str:
    """Write words in a message, not too many."""
    return " ".join(words[:12]) + (" ..." if len(words) > 12 else "")


# ---------------------------------------------------------------- the grammar, prepared


class Compiled:
    """A grammar in the form in which the parser goes through it."""

    def __init__(self, rules: Sequence[Rule], refusals: Sequence[Refusal]) -> None:
        self.rules, self.refusals = tuple(rules), tuple(refusals)
        self.constructions = tuple(refusal for refusal in refusals if refusal.rule is not None)
        self.made_by: dict[str, list[int]] = {}
        for number, rule in enumerate(self.rules):
            self.made_by.setdefault(rule.left, []).append(number)
        terminals = dict.fromkeys(s for rule in self.rules for s in rule.right if not isinstance(s, Category))
        self.bit: dict[Symbol, int] = {symbol: 1 << place for place, symbol in enumerate(terminals)}
        self.classes = [symbol for symbol in terminals if isinstance(symbol, WordClass)]
        self.begins = self._beginnings()
        self.rule_begins = [self.begins_of(rule.right[0]) for rule in self.rules]
        self.level = self._levels()

    @cached_property
    def wider(self) -> Compiled:
        """The grammar with the constructions that it refuses as further rules, so that they can be named."""
        return Compiled([*self.rules, *(refusal.rule for refusal in self.constructions if refusal.rule)], ())

    def begins_of(self, symbol: Symbol) -> int:
        """The terminals with which a symbol can begin, as bits."""
        return self.begins.get(symbol.name, 0) if isinstance(symbol, Category) else self.bit[symbol]

    def _beginnings(self) -> dict[str, int]:
        begins = dict.fromkeys(self.made_by, 0)
        changed = True
        while changed:
            changed = False
            for rule in self.rules:
                first = rule.right[0]
                bits = begins.get(first.name, 0) if isinstance(first, Category) else self.bit[first]
                if bits | begins[rule.left] != begins[rule.left]:
                    begins[rule.left] |= bits
                    changed = True
        return begins

    def _levels(self) -> dict[str, int]:
        """Order the categories so that a rule with one part goes upwards; there are no circles."""
        level: dict[str, int] = dict.fromkeys(self.made_by, 0)
        units = [
            (r.left, r.right[0].name) for r in self.rules if len(r.right) == 1 and isinstance(r.right[0], Category)
        ]
        for _ in range(len(level)):
            changed = False
            for left, part in units:
                if level[left] <= level.get(part, 0):
                    level[left] = level.get(part, 0) + 1
                    changed = True
            if not changed:
                break
        return level

    def read(self, written: Sequence[str], forms: Forms) -> list[_Token]:
        """Look up every word; one that is unknown can be no terminal. Say which words are refused."""
        words = [word.lower() for word in written]
        for place, word in enumerate(words):
            for refusal in self.refusals:
                if refusal.covers(word):
                    raise UsageError(f"{shorten(words)!r}, word {place + 1}: {word!r} is refused: {refusal.reason}")
        return [self._token(n, word, forms, small=written[n] == word) for n, word in enumerate(words)]

    def _token(self, place: int, word: str, forms: Forms, *, small: bool) -> _Token:
        readings = forms.find(word) if self.classes else []
        own = Word(word) in self.bit  # a word of the grammar itself is hardly ever one of a lexicon as well
        rare = [own or (small and reading.label in forms.names) for reading in readings]
        readings = [
            replace(r, share=r.share / RARELY) if seldom else r for r, seldom in zip(readings, rare, strict=True)
        ]
        admitted = {
            symbol: fitting
            for symbol in self.classes
            if (fitting := [reading for reading in readings if symbol.admits(word, reading.label)])
        }
        bits = self.bit.get(Word(word), 0)
        for symbol in admitted:
            bits |= self.bit[symbol]
        return _Token(place, word, bits, admitted)

    def unknown(self, token: _Token, forms: Forms) -> str:
        """Say why a word can be no terminal."""
        where = f"word {token.place + 1}"
        if readings := forms.find(token.form):
            labels = " or ".join(reading.label for reading in readings[:3])
            return f"{where}: {token.form!r} is {labels}, and the grammar has no place for such a word"
        if not token.form[0].isalnum() or token.form in forms:
            return f"{where}: the grammar has no place for {token.form!r}"
        own = [symbol.form for symbol in self.bit if isinstance(symbol, Word)]
        near = forms.suggest(token.form) or Forms(labels=[f"{form}-n" for form in own]).suggest(token.form)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        if not len(forms) and self.classes:
            hint = "; no word forms are known: give the forms of a corpus, or write words such as dog-n"
        return f"{where}: {token.form!r} is unknown{hint}"


@dataclass(frozen=True)
class _Token:
    place: int
    form: str
    bits: int  # the terminals that it can be
    admitted: dict[WordClass, list[Reading]]


# ---------------------------------------------------------------- the chart

Item: TypeAlias = tuple[int, int, int]
"""A rule, how many of its parts are read, and where it began; it stands at the place where it ends."""
Node: TypeAlias = tuple[str, int, int]
"""A category over a stretch of words."""


class _Chart:
    """All items, with the ways in which each came about: the item before its last part, and that part."""

    def __init__(self, grammar: Compiled, tokens: Sequence[_Token], start: Sequence[str]) -> None:
        self.grammar, self.tokens, self.start = grammar, tokens, start
        size = len(tokens) + 1
        self.ways: list[dict[Item, list[tuple[int, Node | None]]]] = [{} for _ in range(size)]
        self.waiting: list[dict[str, list[Item]]] = [{} for _ in range(size)]
        self.nodes: list[dict[Node, list[Item]]] = [{} for _ in range(size)]
        self.items = 0
        for place in range(size):
            self._fill(place)
            if not self.ways[place] and place:
                break

    def _fill(self, place: int) -> None:
        """Complete and predict at a place, and read the word that follows."""
        rules, ways = self.grammar.rules, self.ways[place]
        agenda: list[Item] = list(ways)
        token = self.tokens[place] if place < len(self.tokens) else None
        predicted: set[str] = set()
        if place == 0:
            for category in self.start:
                self._predict(category, place, token, predicted, agenda)
        while agenda:
            item = agenda.pop()
            number, read, begin = item
            rule = rules[number]
            if read == len(rule.right):
                self._complete(rule.left, item, place, agenda)
                continue
            symbol = rule.right[read]
            if isinstance(symbol, Category):
                self.waiting[place].setdefault(symbol.name, []).append(item)
                if symbol.name not in predicted:
                    self._predict(symbol.name, place, token, predicted, agenda)
            elif token is not None and self.grammar.bit[symbol] & token.bits:
                self.ways[place + 1].setdefault((number, read + 1, begin), []).append((place, None))
        self.items += len(ways) + sum(map(len, self.waiting[place].values()))
        if self.items > MOST_ITEMS:
            words = [t.form for t in self.tokens]
            raise UsageError(
                f"{shorten(words)!r}: too ambiguous to be parsed: gave up at word {place} of {len(words)}, "
                f"after {MOST_ITEMS:,} steps; use a shorter sentence"
            )

    def _predict(
        self, category: str, place: int, token: _Token | None, predicted: set[str], agenda: list[Item]
    ) -> None:
        """Expect what can begin with the word that follows."""
        predicted.add(category)
        if token is None:
            return
        begins = self.grammar.rule_begins
        agenda += [
            (number, 0, place) for number in self.grammar.made_by.get(category, ()) if begins[number] & token.bits
        ]

    def _complete(self, category: str, item: Item, place: int, agenda: list[Item]) -> None:
        """Note a way to make a category, and the first time go on with all that wait for it."""
        begin = item[2]
        node = (category, begin, place)
        made = self.nodes[place].get(node)
        if made is not None:
            made.append(item)
            return
        self.nodes[place][node] = [item]
        ways = self.ways[place]
        for number, read, origin in self.waiting[begin].get(category, ()):
            further = (number, read + 1, origin)
            if further in ways:
                ways[further].append((begin, node))
            else:
                ways[further] = [(begin, node)]
                agenda.append(further)

    # ------------------------------------------------------------ what was found

    @property
    def reached(self) -> int:
        """How many words are the beginning of a sentence."""
        return max(place for place, ways in enumerate(self.ways) if ways or place == 0)

    def expected(self, place: int) -> list[str]:
        """What could have come at a place: words of a lexicon, with their categories, and words of the grammar."""
        bits = 0
        waiting = [
            self.grammar.rules[n].right[r] for n, r, _ in self.ways[place] if r < len(self.grammar.rules[n].right)
        ]
        symbols: list[Symbol] = [*waiting] if place else [Category(name) for name in self.start]
        for symbol in symbols:
            bits |= self.grammar.begins_of(symbol)
        classes: dict[str, dict[str, None]] = {}
        for rule in self.grammar.rules:
            first = rule.right[0]
            if isinstance(first, WordClass) and self.grammar.bit[first] & bits:
                classes.setdefault(_class_name(first), {})[rule.left.partition("[")[0]] = None
        words = [str(symbol) for symbol, bit in self.grammar.bit.items() if bit & bits and isinstance(symbol, Word)]
        return [*(f"{name} ({' '.join(categories)})" for name, categories in classes.items()), *words]


def _class_name(symbol: WordClass) -> str:
    """Name a class of words: *a noun or pronoun*."""
    names = " or ".join(CLASSES[letter] for letter in symbol.letters if letter in CLASSES)
    return f"{'an' if names[:1] in 'aeiou' else 'a'} {names}"


# ---------------------------------------------------------------- derivations

Best: TypeAlias = list[tuple[Cost, tuple[Leaf | Made, ...]]]


class _Forest:
    """The cheapest derivations of everything in a chart, short stretches first."""

    def __init__(self, chart: _Chart, most: int) -> None:
        self.chart, self.most = chart, most
        self.best: dict[Node, list[Made]] = {}
        self.number: dict[Node, int] = {}
        self.items: dict[tuple[Item, int], tuple[Best, int]] = {}
        by_stretch: dict[tuple[int, int], list[Item]] = {}
        for end, ways in enumerate(chart.ways):
            for item in ways:
                by_stretch.setdefault((end - item[2], end), []).append(item)
        level = chart.grammar.level
        for length, end in sorted(by_stretch):
            items = by_stretch[length, end]
            nodes = sorted(
                (node for node in chart.nodes[end] if node[1] == end - length), key=lambda node: level[node[0]]
            )
            for item in items:
                if item[1] > 1 or not isinstance(self._right(item)[0], Category):
                    self._read_item(item, end)
            for node in nodes:
                self._read_node(node)
            for item in items:
                if (item, end) not in self.items:
                    self._read_item(item, end)

    def _right(self, item: Item) -> tuple[Symbol, ...]:
        return self.chart.grammar.rules[item[0]].right

    def _read_node(self, node: Node) -> None:
        """Collect the ways to make a node; those that read another node of its stretch are read now."""
        found: list[Made] = []
        number = 0
        for item in self.chart.nodes[node[2]][node]:
            if (item, node[2]) not in self.items:
                self._read_item(item, node[2])
            ways, count = self.items[item, node[2]]
            number += count
            rule = item[0]
            found += [Made(Cost(c.words, c.rules + 1, c.order + rule), rule, parts) for c, parts in ways]
        found.sort(key=lambda made: made.cost)
        self.best[node], self.number[node] = found[: self.most], number

    def _read_item(self, item: Item, end: int) -> None:
        """Combine the ways to come to an item with those to make its last part."""
        number, read, begin = item
        found: Best = []
        total = 0
        for middle, node in self.chart.ways[end][item]:
            before: tuple[Best, int] = ([(Cost(), ())], 1)
            if read > 1:
                before = self.items[(number, read - 1, begin), middle]
            last, count = self._last_parts(item, middle, node)
            total += before[1] * count
            for i, (cost, parts) in enumerate(before[0]):
                for own, part in last[: -(-self.most // (i + 1))]:
                    joint = Cost(cost.words + own.words, cost.rules + own.rules, cost.order + own.order)
                    found.append((joint, (*parts, part)))
        found.sort(key=lambda way: way[0])
        self.items[item, end] = found[: self.most], total

    def _last_parts(self, item: Item, middle: int, node: Node | None) -> tuple[list[tuple[Cost, Leaf | Made]], int]:
        if node is not None:
            return [(made.cost, made) for made in self.best[node]], self.number[node]
        symbol = self._right(item)[item[1] - 1]
        if not isinstance(symbol, WordClass):
            return [(Cost(), Leaf(middle))], 1
        readings = self.chart.tokens[middle].admitted[symbol]
        return [(Cost(round(-math.log(r.share) * SCALE)), Leaf(middle, r)) for r in readings], len(readings)


def parse(
    grammar: Compiled, written: Sequence[str], forms: Forms, start: Sequence[str], most: int = MOST_DERIVATIONS
) -> Parse:
    """Find the cheapest derivations of some words, of the first of the categories that has any.

    A sentence without a derivation is an error that says how far it was understood.
    """
    words = [word.lower() for word in written]
    if not words:
        raise UsageError("expected a sentence, got no words")
    if len(words) > MOST_WORDS:
        raise UsageError(f"{shorten(words)!r}: expected at most {MOST_WORDS} words, got {len(words)}")
    tokens = grammar.read(written, forms)
    unknown = [token for token in tokens if not token.bits]
    chart = None if unknown else _Chart(grammar, tokens, start)
    found = None if chart is None else _best(chart, len(words), start, most)
    if found is not None:
        return found
    if (reason := _refused(grammar, written, forms, start)) is not None:
        raise UsageError(reason)
    if chart is None:
        raise UsageError(f"{shorten(words)!r}: {'; '.join(grammar.unknown(t, forms) for t in unknown[:5])}")
    raise UsageError(_failure(chart, words, start))


def _best(chart: _Chart, end: int, start: Sequence[str], most: int) -> Parse | None:
    """Give the derivations of the first of the categories that has any."""
    for category in start:
        node = (category, 0, end)
        if node in chart.nodes[-1]:
            forest = _Forest(chart, most)
            return Parse(category, forest.best[node], forest.number[node])
    return None


def _refused(grammar: Compiled, written: Sequence[str], forms: Forms, start: Sequence[str]) -> str | None:
    """Say why a sentence is refused, if it would be one with a construction that the grammar refuses."""
    if not grammar.constructions:
        return None
    wider = grammar.wider
    tokens, words = wider.read(written, forms), [word.lower() for word in written]
    if not all(token.bits for token in tokens):
        return None
    try:
        found = _best(_Chart(wider, tokens, start), len(words), start, 1)
    except UsageError:  # too ambiguous
        return None
    if found is None:
        return None
    made = _first_above(found.derivations[0], len(grammar.rules))
    assert made is not None, "without a refused construction the sentence would have been derived"
    places = list(_places(made))
    part = shorten(words[min(places) : max(places) + 1])
    reason = grammar.constructions[made.rule - len(grammar.rules)].reason
    return f"{shorten(words)!r}: {part!r} is refused: {reason}"


def _first_above(made: Made, rules: int) -> Made | None:
    """Find the outermost part that is made by one of the rules from a number on."""
    if made.rule >= rules:
        return made
    inside = (_first_above(part, rules) for part in made.parts if isinstance(part, Made))
    return next((part for part in inside if part is not None), None)


def _places(made: Made) -> Iterator[int]:
    for part in made.parts:
        if isinstance(part, Leaf):
            yield part.place
        else:
            yield from _places(part)


def _failure(chart: _Chart, words: Sequence[str], start: Sequence[str]) -> str:
    reached = chart.reached
    expected = chart.expected(reached)
    shown = ", ".join(expected[:SHOWN]) + (" or others" if len(expected) > SHOWN else "")
    names = dict.fromkeys(category.partition("[")[0] for category in start)
    whole = f"{shorten(words)!r} is no {' or '.join(names)} of this grammar"
    if reached == len(words):
        return f"{whole}: the end came too soon, expected {shown}"
    before = f"behind {' '.join(words[max(0, reached - 4) : reached])!r}" if reached else "at the beginning"
    found = f"found {words[reached]!r} (word {reached + 1})"
    return f"{whole}: {before} {found}, expected {shown or 'the end'}"
