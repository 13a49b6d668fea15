"""Reading the text of a grammar into rules, with errors that name the line and the column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from composita.counting.words import LETTERS, split_label, suggest
from composita.grammar.operations import OPERATIONS
from composita.grammar.rules import Category, Refusal, Rule, Symbol, Word, WordClass
from composita.grammar.signs import Reader, Sign, read_signs, syntax_error
from composita.grammar.terms import Const, Scope, Term, Var, read_term
from composita.grammar.types import WORD, Type, read_type
from composita.store.errors import InputError, UsageError

MOST_RULES = 5_000
MOST_SYMBOLS = 12
KEYWORDS = ("start", "basic", "feature", "refuse", "type")


@dataclass
class Text:
    """What a text says."""

    rules: list[Rule] = field(default_factory=list)
    start: list[str] = field(default_factory=list)
    basic: list[str] = field(default_factory=list)
    features: dict[str, tuple[str, ...]] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    types: dict[str, tuple[Type, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Part:
    """A symbol of the right side as it is written: with its feature, its number, and where it stands."""

    sign: Sign
    symbol: Symbol | None  # None for a category, whose feature may be a variable
    base: str = ""
    feature: str = ""
    number: str = ""


def read_grammar(text: str, source: str | None = None) -> Text:
    """Read all lines of a grammar; a line that begins with a blank goes on with the one before."""
    found = Text()
    for signs in _lines(text, source):
        reader = Reader(signs, source)
        first = reader.next
        follows = signs[1].kind if len(signs) > 1 else "end"
        if first.text in KEYWORDS and follows != "arrow" and (len(signs) < 2 or signs[1].text != "["):
            reader.take()
            _DIRECTIVES[first.text](reader, found)
        else:
            _read_rule(reader, found)
        if len(found.rules) > MOST_RULES:
            raise reader.error(f"expected at most {MOST_RULES:,} rules", first)
    if not found.rules:
        raise InputError("no rules in it: expected lines such as S -> NP VP : VP(NP)", source=source or "grammar")
    return found


def _lines(text: str, source: str | None) -> Iterator[list[Sign]]:
    signs: list[Sign] = []
    for number, line in enumerate(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").split("\n"), 1):
        new = read_signs(line.rstrip("\r"), number, source)
        if not new:
            continue
        if line[0] in " \t" and signs:
            signs += new
            continue
        if signs:
            yield signs
        signs = new
    if signs:
        yield signs


# ---------------------------------------------------------------- directives


def _names(reader: Reader, what: str) -> list[Sign]:
    found = [reader.expect(what, kind="name")]
    while reader.takes(",") or reader.next.kind == "name":
        found.append(reader.expect(what, kind="name"))
    reader.expect_end()
    return found


def _read_start(reader: Reader, found: Text) -> None:
    found.start += [sign.text for sign in _names(reader, "a category such as S")]


def _read_basic(reader: Reader, found: Text) -> None:
    found.basic += [sign.text for sign in _names(reader, "a basic type such as N")]


def _read_feature(reader: Reader, found: Text) -> None:
    name = reader.expect("the name of a feature", kind="name")
    reader.expect("':' and the values of the feature", text=":")
    if name.text in found.features:
        raise reader.error(f"the feature {name.text} is declared twice", name)
    found.features[name.text] = tuple(sign.text for sign in _names(reader, "a value of the feature"))


def _read_refuse(reader: Reader, found: Text) -> None:
    """Read words that are refused, or a construction, and the reason."""
    if reader.next.kind == "name":
        follows = reader.signs[reader.place + 1 : reader.place + 2]
        if not follows or (follows[0].kind != "arrow" and follows[0].text != "["):
            raise reader.unexpected('a word in quotes such as "no", or a construction such as NP -> NP P NP')
        left, alternatives = _read_sides(reader, found)
        if any(len(parts) < 2 for parts in alternatives):
            raise reader.error("expected a construction of two parts or more, such as NP -> NP P NP", left.sign)
        reason = _reason(reader)
        for parts in alternatives:
            found.refusals += [
                Refusal((), reason, Rule(name, right, Const(name), ("",) * len(parts), left.sign.line))
                for name, right in _with_features(left, parts, found)
            ]
        return
    forms = [_word(reader)]
    while reader.takes(",") or reader.next.kind == "word":
        forms.append(_word(reader))
    found.refusals.append(Refusal(tuple(forms), _reason(reader)))


def _word(reader: Reader) -> str:
    return reader.expect('a word such as "no"', kind="word").text[1:-1].lower()


def _reason(reader: Reader) -> str:
    reader.expect("':' and the reason in quotes", text=":")
    reason = reader.expect("the reason in quotes", kind="word").text[1:-1]
    reader.expect_end()
    return reason


def _read_type(reader: Reader, found: Text) -> None:
    sign = reader.expect("a category such as VP", kind="name")
    name = sign.text
    if reader.takes("["):
        name += f"[{reader.expect('a feature', kind='name').text}]"
        reader.expect("a closing bracket", text="]")
    reader.expect("':' and a type such as N -> S", text=":")
    if name in found.types:
        raise reader.error(f"the type of {name} is declared twice", sign)
    found.types[name] = (read_type(reader), sign.line)
    reader.expect_end()


_DIRECTIVES = {
    "start": _read_start,
    "basic": _read_basic,
    "feature": _read_feature,
    "refuse": _read_refuse,
    "type": _read_type,
}


# ---------------------------------------------------------------- rules


def _read_rule(reader: Reader, found: Text) -> None:
    """Read a rule with its alternatives, and make one of each for every value of its features."""
    left, alternatives = _read_sides(reader, found)
    meaning: tuple[int, list[Sign]] | None = None
    if reader.takes(":"):
        meaning = reader.place, reader.signs
    elif reader.next.kind != "end":
        raise reader.unexpected("another symbol, '|', or ':' and the meaning")
    for parts in alternatives:
        names = _numbered(parts, reader)
        term = _meaning_of(parts, names, meaning, reader)
        found.rules += [
            Rule(name, right, term, names, left.sign.line) for name, right in _with_features(left, parts, found)
        ]


def _read_sides(reader: Reader, found: Text) -> tuple[_Part, list[list[_Part]]]:
    """Read a category, and the alternatives that it is made of."""
    left = _read_part(reader, found, "a rule such as S -> NP VP : VP(NP)")
    if left.symbol is not None or left.number:
        raise reader.error(f"expected a category on the left, found {left.sign.text!r}", left.sign)
    reader.expect("'->' behind the category", kind="arrow")
    alternatives = [_read_right(reader, found)]
    while reader.takes("|"):
        alternatives.append(_read_right(reader, found))
    return left, alternatives


def _with_features(left: _Part, parts: Sequence[_Part], found: Text) -> Iterator[tuple[str, tuple[Symbol, ...]]]:
    """Give the sides of a rule for every value of its features."""
    variables = sorted({p.feature for p in (left, *parts) if p.feature in found.features})
    for values in _combinations(variables, found.features):
        yield (
            _filled(left, values),
            tuple(p.symbol if p.symbol is not None else Category(_filled(p, values)) for p in parts),
        )


def _combinations(variables: Sequence[str], features: dict[str, tuple[str, ...]]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = [{}]
    for variable in variables:
        found = [values | {variable: value} for values in found for value in features[variable]]
    return found


def _filled(part: _Part, values: dict[str, str]) -> str:
    return f"{part.base}[{values.get(part.feature, part.feature)}]" if part.feature else part.base


def _read_right(reader: Reader, found: Text) -> list[_Part]:
    parts: list[_Part] = []
    while reader.next.kind in ("name", "word", "class"):
        parts.append(_read_part(reader, found, "a symbol"))
    if not parts:
        raise reader.error(
            f"expected a symbol such as NP, found {reader.next.text!r}: a rule cannot be empty; "
            "write one rule with the part and one without it",
            reader.next,
        )
    if len(parts) > MOST_SYMBOLS:
        raise reader.error(f"expected at most {MOST_SYMBOLS} symbols, got {len(parts)}", parts[MOST_SYMBOLS].sign)
    if len(parts) > 1 and (wrong := next((p for p in parts if isinstance(p.symbol, WordClass)), None)):
        raise reader.error(f"expected {wrong.sign.text} alone: write a rule V -> {wrong.sign.text}", wrong.sign)
    return parts


def _read_part(reader: Reader, found: Text, what: str) -> _Part:
    if reader.next.kind not in ("name", "word", "class"):
        raise reader.unexpected(what)
    sign = reader.take()
    if sign.kind == "word":
        form = sign.text[1:-1].lower()
        if not form or form.split() != [form]:
            raise reader.error(f'expected one word in quotes, got {sign.text}: write "in" "front" "of"', sign)
        return _Part(sign, Word(form))
    if sign.kind == "class":
        return _Part(sign, _word_class(sign, reader))
    base, line, number = sign.text.rpartition("_")
    if not (line and base and number.isdigit()):
        base, number = sign.text, ""
    feature = ""
    if reader.takes("["):
        value = reader.expect("a feature", kind="name")
        feature = value.text
        if feature not in found.features and not any(feature in values for values in found.features.values()):
            known = [*found.features, *(v for values in found.features.values() for v in values)]
            raise reader.error(
                f"{feature!r} is no feature{suggest(feature, known)}; declare it above: feature f : {feature}, ...",
                value,
            )
        reader.expect("a closing bracket", text="]")
    return _Part(sign, None, base, feature, number)


def _word_class(sign: Sign, reader: Reader) -> WordClass:
    pieces = sign.text[1:-1].replace(",", " ").split()
    letters = tuple(piece for piece in pieces if len(piece) == 1 and piece in LETTERS)
    forms = [piece for piece in pieces if piece not in letters]
    all_or_none = len({form.startswith("!") for form in forms}) < 2
    if not letters or not all_or_none or any("*" not in form and not form.startswith("!") for form in forms):
        raise reader.error(
            f"expected letters of {' '.join(LETTERS)} and perhaps forms such as *ing or !*ing or !who, got {sign.text}",
            sign,
        )
    fits = not any(form.startswith("!") for form in forms)
    return WordClass(letters, tuple(form.removeprefix("!").lower() for form in forms), fits)


def _numbered(parts: Sequence[_Part], reader: Reader) -> tuple[str, ...]:
    """Say what the meaning calls each part: its category, with a number where there are several."""
    bases = [part.base for part in parts if part.symbol is None]
    names: list[str] = []
    for place, part in enumerate(parts):
        if part.symbol is not None:
            names.append("")
            continue
        before = sum(p.base == part.base and p.symbol is None for p in parts[:place])
        name = part.base
        if part.number or bases.count(part.base) > 1:
            name = f"{part.base}_{part.number or before + 1}"
        if name in names:
            raise reader.error(f"two parts are called {name}", part.sign)
        names.append(name)
    return tuple(names)


def _meaning_of(
    parts: Sequence[_Part], names: tuple[str, ...], meaning: tuple[int, list[Sign]] | None, reader: Reader
) -> Term:
    first = parts[0].symbol
    if isinstance(first, WordClass):
        if meaning is not None:
            raise reader.error(
                f"the meaning of {parts[0].sign.text} is the word itself: expected no other", meaning[1][meaning[0] - 1]
            )
        return Var("")
    if meaning is not None:
        there = Reader(meaning[1], reader.source)
        there.place = meaning[0]
        term = read_term(there, _Names(names))
        there.expect_end()
        return term
    if all(isinstance(part.symbol, Word) for part in parts):
        return Const("_".join(part.symbol.form for part in parts if isinstance(part.symbol, Word)), WORD)
    last = reader.signs[-1]
    known = [name for name in names if name]
    example = known[0] if len(known) == 1 else f"{known[-1]}({known[0]})"
    raise syntax_error(
        f"expected ':' and the meaning, such as : {example}", last.line, last.column + len(last.text), reader.source
    )


class _Names(Scope):
    """The names that the meaning of a rule may use."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def name(self, sign: Sign, reader: Reader) -> Term:
        """Give a part, an operation or a word, or say what there is."""
        if sign.text in self.names:
            return Var(sign.text)
        if sign.text in OPERATIONS:
            return Const(sign.text)
        if split_label(sign.text) is not None:
            return Const(sign.text.lower())
        known = [*(name for name in self.names if name), *OPERATIONS]
        several = [name for name in self.names if name.rpartition("_")[0] == sign.text]
        hint = f"; say which: {' or '.join(several)}" if several else suggest(sign.text, known)
        hint = hint or f": expected one of {', '.join(known)}, or a word such as chase-v"
        raise reader.error(f"{sign.text!r} is unknown in this meaning{hint}", sign)


# ---------------------------------------------------------------- what rules must be together


def check_rules(found: Text, source: str | None) -> None:
    """Refuse grammars that cannot be used: unknown categories, units in a circle, categories without an end."""
    made = {rule.left for rule in found.rules}
    bases = {name.partition("[")[0] for name in made}
    used = {symbol.name: rule.line for rule in reversed(found.rules) for symbol in _categories(rule)}
    has_words = any(not isinstance(symbol, Category) for rule in found.rules for symbol in rule.right)
    for name, line in used.items():
        if name not in made and has_words:
            hint = suggest(name, made) or f"; if it is a class of words, add e.g. {name} -> <n>"
            raise InputError(f"{name} is used, but no rule makes it{hint}", source=source or "grammar", line=line)
    for names, what in ((found.start, "start"), (found.types, "type")):
        for name in names:
            if name not in made | used.keys() | bases:
                raise InputError(
                    f"{what} {name}: there is no such category{suggest(name, made | used.keys())}",
                    source=source or "grammar",
                )
    for refusal in found.refusals:
        for name in () if refusal.rule is None else [refusal.rule.left, *(c.name for c in _categories(refusal.rule))]:
            if name not in made:
                raise InputError(
                    f"refuse {refusal.rule}: no rule makes {name}{suggest(name, made)}",
                    source=source or "grammar",
                    line=None if refusal.rule is None else refusal.rule.line,
                )
    _check_circles(found, source)
    if has_words:
        _check_ends(found, source)


def _categories(rule: Rule) -> Iterator[Category]:
    return (symbol for symbol in rule.right if isinstance(symbol, Category))


def _check_circles(found: Text, source: str | None) -> None:
    """Units that lead back to where they began would give a sentence endlessly many derivations."""
    units: dict[str, dict[str, int]] = {}
    for rule in found.rules:
        if len(rule.right) == 1 and isinstance(rule.right[0], Category):
            units.setdefault(rule.left, {}).setdefault(rule.right[0].name, rule.line)
    done: set[str] = set()
    for start in units:
        trail, stack = [start], [iter(units.get(start, {}))]
        while stack:
            following = next(stack[-1], None)
            if following is None:
                done.add(trail.pop())
                stack.pop()
            elif following in trail:
                circle = [*trail[trail.index(following) :], following]
                raise InputError(
                    f"the rules {' -> '.join(circle)} lead in a circle, so that a sentence would have endlessly many "
                    "derivations; drop one of them",
                    source=source or "grammar",
                    line=units[circle[-2]][circle[-1]],
                )
            elif following not in done:
                trail.append(following)
                stack.append(iter(units.get(following, {})))


def _check_ends(found: Text, source: str | None) -> None:
    """Name categories that never come down to words."""
    ending: set[str] = set()
    while True:
        more = {r.left for r in found.rules if all(c.name in ending for c in _categories(r))} - ending
        if not more:
            break
        ending |= more
    for rule in found.rules:
        if rule.left not in ending:
            raise InputError(
                f"{rule.left} never comes down to words: each of its rules needs it again; add one that does not",
                source=source or "grammar",
                line=rule.line,
            )


def covered(name: str, categories: Iterable[str]) -> list[str]:
    """Give the categories that a name stands for: itself, or itself with each of its features."""
    return [category for category in categories if name in (category, category.partition("[")[0])]


def starts(names: Sequence[str], categories: Sequence[str]) -> tuple[str, ...]:
    """Give the categories in which derivations may end, or say that there is none of a name."""
    for name in names:
        if not covered(name, categories):
            raise UsageError(f"{name!r} is no category of the grammar{suggest(name, categories)}")
    return tuple(category for name in names for category in covered(name, categories))
