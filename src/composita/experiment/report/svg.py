"""Pictures as SVG, drawn by hand: axes, points, intervals, lines and bars.

A picture uses classes for its colours, so that the page that holds it can turn dark; as a file of its own it carries
the same style. Everything that comes from data is escaped.

>>> axis = Axis(0.0, 1.0, 0.0, 100.0)
>>> axis.place(0.25), axis.ticks()
(25.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
>>> print(text(1, 2, "a < b"))
<text x="1" y="2">a &lt; b</text>
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

SERIES = 6
"""How many series have a colour and a shape of their own; as many more have broken lines, further ones begin anew."""
BROAD = 500
"""Pictures of more pixels across are not made too small to be read on narrow screens, but moved from side to side."""

LIGHT = {
    "ink": "#1c1917", "faint": "#d6d3d1", "soft": "#57534e",
    "s0": "#0b62a4", "s1": "#b45309", "s2": "#0f766e", "s3": "#7c3aed", "s4": "#be185d", "s5": "#57534e",
}  # fmt: skip
DARK = {
    "ink": "#e7e5e4", "faint": "#44403c", "soft": "#a8a29e",
    "s0": "#6cb2eb", "s1": "#f0a860", "s2": "#5eead4", "s3": "#c4b5fd", "s4": "#f9a8d4", "s5": "#a8a29e",
}  # fmt: skip
"""The colours of a picture on light and on dark paper: words, the grid, what stands back, and the series."""
SIZE = 12
"""The height of letters, in pixels."""
BAND = 0.15
"""How much of its colour a band has."""


def _variables(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


STYLE = f"""
svg.figure {{ {_variables(LIGHT)} font: {SIZE}px system-ui, sans-serif; }}
@media (prefers-color-scheme: dark) {{ svg.figure {{ {_variables(DARK)} }} }}
svg.figure text {{ fill: var(--ink); }} svg.figure .soft {{ fill: var(--soft); }}
svg.figure .grid {{ stroke: var(--faint); stroke-width: 1; }}
svg.figure .axis {{ stroke: var(--soft); stroke-width: 1; }}
svg.figure .mark {{ stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 4 3; }}
svg.figure .line {{ fill: none; stroke-width: 1.75; }} svg.figure .broken {{ stroke-dasharray: 6 4; }}
svg.figure .band {{ stroke: none; fill-opacity: {BAND:g}; }}
svg.figure .end {{ text-anchor: end; }} svg.figure .middle {{ text-anchor: middle; }}
svg.figure .bold {{ font-weight: 600; }}
""" + "".join(
    f"svg.figure .f{n} {{ fill: var(--s{n}); }} svg.figure .k{n} {{ stroke: var(--s{n}); }}\n" for n in range(SERIES)
)
# How wide the signs of Helvetica are, from the blank to the tilde, in thousandths of their height.
_HELVETICA = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584
584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278
278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500
500 334 260 334 584
"""
_WIDTHS = [int(width) for width in _HELVETICA.split()]
_ALONE = (
    "svg.figure .paper { fill: #ffffff; } @media (prefers-color-scheme: dark) { svg.figure .paper { fill: #1c1917; } }"
)


@dataclass(frozen=True)
class Figure:
    """A picture: its file name without suffix, what it shows, its size, and its marks."""

    name: str
    title: str
    width: int
    height: int
    marks: tuple[str, ...]

    def inline(self) -> str:
        """Give the picture for a page that has `STYLE`."""
        return self._wrapped("")

    def alone(self) -> str:
        """Give the picture as a file of its own."""
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + self._wrapped(
            f'<style>{STYLE}{_ALONE}</style><rect class="paper" width="{self.width}" height="{self.height}"/>'
        )

    def _wrapped(self, style: str) -> str:
        kind = "figure broad" if self.width > BROAD else "figure"
        return (
            f'<svg class="{kind}" xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}">'
            f"<title>{escaped(self.title)}</title>{style}{''.join(self.marks)}</svg>\n"
        )


@dataclass(frozen=True)
class Axis:
    """A scale: values from ``low`` to ``high`` lie between two places; by powers of ten if ``log``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float, *, log: bool = False) -> Axis:
        """Make a scale that holds all values, with a little room."""
        finite = [v for v in values if math.isfinite(v) and (v > 0 or not log)] or [1.0 if log else 0.0]
        low, high = min(finite), max(finite)
        if log:
            return cls(low / 1.2, high * 1.2, start, end, log=True)
        room = 0.04 * (high - low) or 0.5
        return cls(low - room, high + room, start, end)

    def place(self, value: float) -> float:
        """Say where a value lies."""
        if self.log:
            share = (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self, about: int = 6) -> list[float]:
        """Choose round values to be written at the scale."""
        if self.log:
            powers = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
            step = max(1, -(-len(powers) // about))
            found = [10.0**n for n in powers if n % step == 0]
            return found if len(found) > 1 else [m * 10.0**n for n in (*powers, powers.stop) for m in (0.2, 0.5, 1.0)
                                                 if self.low <= m * 10.0**n <= self.high]  # fmt: skip
        size = (self.high - self.low) / about
        unit = 10.0 ** math.floor(math.log10(size))
        step_size = unit * min((m for m in (1, 2, 5, 10) if m * unit >= size * 0.999), default=10)
        first, last = math.ceil(self.low / step_size - 1e-9), math.floor(self.high / step_size + 1e-9)
        return [round(n * step_size, 10) + 0.0 for n in range(first, last + 1)]

    def labels(self) -> list[tuple[float, str]]:
        """Give the places of the ticks, and what is written there."""
        return [(self.place(tick), tick_label(tick)) for tick in self.ticks()]


def tick_label(value: float) -> str:
    """Write a round value shortly.

    >>> [tick_label(v) for v in (0.2, 5e6, 20000.0, 1e-06)]
    ['0.2', '5M', '20K', '1e-06']
    """
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "K")):
        if abs(value) >= size:
            return f"{value / (1e3 if suffix == 'K' else size):g}{suffix}"
    return f"{value:g}"


def text_width(words: str) -> float:
    """Measure words as Helvetica sets them, in pixels.

    >>> round(text_width("rho"), 2)
    17.34
    """
    widths = []
    for sign in words:
        place = ord(unicodedata.normalize("NFKD", sign)[0]) - 32
        widths.append(_WIDTHS[place] if 0 <= place < len(_WIDTHS) else 556)
    return SIZE * sum(widths) / 1000


def room_for(names: Iterable[str], least: float) -> int:
    """Say how much room names need at the side of a picture, in letters wider than Helvetica."""
    return round(max([least, *(1.2 * text_width(name) + 16 for name in names)]))


# ---------------------------------------------------------------- marks


_NEVER = dict.fromkeys((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF))


def escaped(words: str) -> str:
    """Write words so that they are words in XML, without the signs that it cannot have at all.

    >>> escaped("a < b" + chr(7))
    'a &lt; b'
    """
    return escape("".join(sign for sign in words if sign >= " " or sign in "\t\n").translate(_NEVER))


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """Write words."""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{named}>{escaped(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> str:
    """Draw a straight line."""
    return f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def path(points: Sequence[tuple[float, float]], series: int) -> str:
    """Draw a line through points."""
    way = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline class="line k{series % SERIES}{_broken(series)}" points="{way}"/>'


def _broken(series: int) -> str:
    """Say whether lines of a series are broken, because another one has its colour."""
    return " broken" if series // SERIES % 2 else ""


def band(points: Sequence[tuple[float, float]], series: int) -> str:
    """Fill what lies within points."""
    way = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polygon class="band f{series % SERIES}" points="{way}"/>'


def bar(x: float, y: float, width: float, height: float, series: int, words: str = "") -> str:
    """Draw a bar, with words that appear when one points at it."""
    inner = f"<title>{escaped(words)}</title>" if words else ""
    place = f'x="{x:g}" y="{y:g}" width="{max(width, 0):g}" height="{height:g}"'
    return f'<rect class="f{series % SERIES}" {place}>{inner}</rect>'


def dot(x: float, y: float, series: int, words: str = "", size: float = 4.0) -> str:
    """Draw a point in the shape and colour of its series, with words that appear when one points at it."""
    inner = f"<title>{escaped(words)}</title>" if words else ""
    kind, r = f"f{series % SERIES}", size
    match series % SERIES:
        case 0:
            return f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="{r:g}">{inner}</circle>'
        case 1:
            return (
                f'<rect class="{kind}" x="{x - r:g}" y="{y - r:g}" width="{2 * r:g}" height="{2 * r:g}">{inner}</rect>'
            )
        case 2:
            corners = ((x, y - 1.2 * r), (x + 1.2 * r, y + r), (x - 1.2 * r, y + r))
        case 3:
            corners = ((x, y - 1.4 * r), (x + 1.4 * r, y), (x, y + 1.4 * r), (x - 1.4 * r, y))  # type: ignore[assignment]
        case 4:
            corners = ((x, y + 1.2 * r), (x + 1.2 * r, y - r), (x - 1.2 * r, y - r))
        case _:
            return f'<circle class="line k{series % SERIES}" cx="{x:g}" cy="{y:g}" r="{r:g}">{inner}</circle>'
    way = " ".join(f"{a:g},{b:g}" for a, b in corners)
    return f'<polygon class="{kind}" points="{way}">{inner}</polygon>'


ROW = 18
"""From one line of a legend to the next, in pixels."""


def legend(names: Sequence[str], x: float, y: float, end: float) -> tuple[list[str], float]:
    """Say which colour, shape and line is which, and how far down this reaches; a single series needs no saying.

    What would go beyond ``end`` goes on in the next line.

    >>> legend(["one"], 0, 14, 100), legend(["one", "other"], 0, 14, 80)[1]
    (([], 14), 32)
    """
    marks: list[str] = []
    place = x
    for series, name in enumerate(names) if len(names) > 1 else ():
        width = 22 + 1.2 * text_width(name)
        if place > x and place + width > end:
            place, y = x, y + ROW
        kind = f"line k{series % SERIES}{_broken(series)}"
        marks += [line(place - 3, y - 4, place + 15, y - 4, kind)] if _broken(series) else []
        marks += [dot(place + 6, y - 4, series), text(place + 18, y, name)]
        place += width + 14
    return marks, y


def frame(across: Axis, up: Axis, *, x_title: str = "", y_title: str = "") -> list[str]:
    """Draw two axes with their ticks, a faint grid, and titles."""
    marks = []
    for place, label in across.labels():
        marks += [line(place, up.start, place, up.end, "grid"), text(place, up.start + 16, label, "middle soft")]
    for place, label in up.labels():
        marks += [
            line(across.start, place, across.end, place, "grid"),
            text(across.start - 6, place + 4, label, "end soft"),
        ]
    marks += [line(across.start, up.start, across.end, up.start), line(across.start, up.start, across.start, up.end)]
    if x_title:
        marks.append(text((across.start + across.end) / 2, up.start + 34, x_title, "middle"))
    if y_title:
        marks.append(text(across.start - 34, up.end - 8, y_title))
    return marks
