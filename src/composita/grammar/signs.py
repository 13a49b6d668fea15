"""Signs: the text of a grammar taken apart, each piece with its line and column, so that errors can point at it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from composita.store.errors import InputError

_SIGN = re.compile(
    r"""
      (?P<blank>\s+)
    | (?P<comment>\#.*)
    | (?P<arrow>->|→)
    | (?P<word>"[^"]*")
    | (?P<class><[^<>]*>)
    | (?P<lambda>\\|λ(?=\s*\w+(?:\s+\w+)*\s*\.))
    | (?P<name>[^\W\d_][\w'’]*(?:-(?!>)[\w'’]+)*)
    | (?P<mark>[.:,|()\[\]])
    """,
    re.VERBOSE,
)
END = "the end of the line"


@dataclass(frozen=True)
class Sign:
    """A piece of text: its kind (arrow, word, class, name, mark, end), and where it stands, from 1."""

    kind: str
    text: str
    line: int
    column: int


def read_signs(text: str, line: int, source: str | None = None) -> list[Sign]:
    """Take one line apart; blanks and comments are passed over.

    >>> [sign.text for sign in read_signs('VP -> Vt "the" NP : Vt(NP)  # transitive', 1)]
    ['VP', '->', 'Vt', '"the"', 'NP', ':', 'Vt', '(', 'NP', ')']
    """
    signs, place = [], 0
    while place < len(text):
        found = _SIGN.match(text, place)
        if found is None:
            raise syntax_error(f"expected a name, found {text[place]!r}{_hint(text[place])}", line, place + 1, source)
        if found.lastgroup not in ("blank", "comment"):
            signs.append(Sign(str(found.lastgroup), found[0], line, place + 1))
        place = found.end()
    return signs


def _hint(sign: str) -> str:
    if sign == '"':
        return ', which is never closed: a word is written "the"'
    return ", which is never closed: a class of words is written <n>" if sign == "<" else ""


def syntax_error(reason: str, line: int, column: int, source: str | None) -> InputError:
    """Say what is wrong, and where."""
    return InputError(f"column {column}: {reason}", source=source or "grammar", line=line)


class Reader:
    """The signs of a line, read from left to right."""

    def __init__(self, signs: list[Sign], source: str | None = None) -> None:
        self.signs, self.place, self.source = signs, 0, source
        last = signs[-1] if signs else Sign("end", "", 1, 1)
        self._end = Sign("end", END, last.line, last.column + len(last.text))

    @property
    def next(self) -> Sign:
        """The sign that comes next; at the end one of the kind ``end``."""
        return self.signs[self.place] if self.place < len(self.signs) else self._end

    def take(self) -> Sign:
        """Read a sign."""
        sign = self.next
        self.place += 1
        return sign

    def takes(self, text: str) -> bool:
        """Read a sign if it is this one."""
        if self.next.kind != "end" and self.next.text == text:
            self.place += 1
            return True
        return False

    def expect(self, what: str, *, kind: str = "", text: str = "") -> Sign:
        """Read a sign of a kind or with a text, or say that something else was expected."""
        sign = self.next
        if (kind and sign.kind != kind) or (text and (sign.text != text or sign.kind == "end")):
            raise self.unexpected(what)
        return self.take()

    def expect_end(self) -> None:
        """Say so where more follows."""
        if self.next.kind != "end":
            raise self.unexpected(END)

    def unexpected(self, what: str) -> InputError:
        """Say what was expected instead of the next sign."""
        sign = self.next
        return self.error(f"expected {what}, found {sign.text if sign.kind == 'end' else repr(sign.text)}", sign)

    def error(self, reason: str, sign: Sign) -> InputError:
        """Say what is wrong with a sign."""
        return syntax_error(reason, sign.line, sign.column, self.source)
