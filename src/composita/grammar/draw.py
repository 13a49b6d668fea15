"""Drawing derivations: a tree with categories, types and words, as SVG that fits to light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from composita.grammar.types import WORD

if TYPE_CHECKING:
    from composita.grammar.derivation import Derivation, Tree

LETTER = 8.0
"""The width of a letter, on average."""
LEVEL = 56
GAP = 22
MARGIN = 16
FONT = "font-family:system-ui,sans-serif"


@dataclass(frozen=True)
class _Placed:
    """A part with the place of its middle, its depth, and where the leaves below it end."""

    tree: Tree
    x: float
    depth: int
    parts: tuple[_Placed, ...]

    def __iter__(self) -> Iterator[_Placed]:
        yield self
        for part in self.parts:
            yield from part


def draw(derivation: Derivation, root: Tree) -> str:
    """Draw a derivation: categories, below them types, and at the foot the words with what they are."""
    placed, width = _place(root, 0, float(MARGIN))
    deepest = max(part.depth for part in placed)
    height = MARGIN + deepest * LEVEL + 52 + 24
    lines, texts = [], []
    for part in placed:
        y = _y(part, deepest)
        lines += [
            f'<path d="M{part.x:.1f} {y + 22:.1f}L{below.x:.1f} {_y(below, deepest) - 16:.1f}"/>'
            for below in part.parts
        ]
        texts += _labels(part, y)
    meaning = str(derivation.term)
    width = max(width, len(meaning) * LETTER + 2 * MARGIN)
    title = f"Derivation of: {' '.join(derivation.words)}"
    return "".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" ',
        f'height="{height:.0f}" role="img" style="max-width:100%;height:auto;{FONT}" fill="currentColor">',
        f"<title>{escape(title)}</title><desc>{escape(meaning)}</desc>",
        f'<g stroke="currentColor" stroke-opacity=".45" fill="none">{"".join(lines)}</g>',
        *texts,
        f'<text x="{MARGIN}" y="{height - 8:.1f}" font-size="13" font-family="monospace">{escape(meaning)}</text>',
        "</svg>",
    ])  # fmt: skip


def _y(part: _Placed, deepest: int) -> float:
    """Words stand at the foot, whatever their depth."""
    return MARGIN + 14 + (part.depth if part.parts else deepest) * LEVEL


def _labels(part: _Placed, y: float) -> list[str]:
    tree, x = part.tree, part.x
    if part.parts:
        return [_text(x, y, tree.category, "bold"), _text(x, y + 16, str(tree.type), small=True)]
    word = str(tree.meaning)
    below = [] if tree.type == WORD or word == tree.form else [_text(x, y + 16, word, small=True)]
    return [_text(x, y, tree.form, style="italic"), *below]


def _text(x: float, y: float, text: str, weight: str = "normal", style: str = "normal", *, small: bool = False) -> str:
    look = ' fill-opacity=".7"' if small else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="{12 if small else 15}" '
        f'font-weight="{weight}" font-style="{style}"{look}>{escape(text)}</text>'
    )


def _place(tree: Tree, depth: int, left: float) -> tuple[_Placed, float]:
    """Give each part its place, from a left edge on; and where the right edge is."""
    own = max(
        len(tree.category), len(str(tree.type)) * 0.8, len(tree.form), len(str(tree.meaning)) * 0.8 * (not tree.parts)
    )
    width = own * LETTER
    parts, right = [], left
    for part in tree.parts:
        placed, right = _place(part, depth + 1, right)
        parts.append(placed)
    if not parts:
        return _Placed(tree, left + width / 2, depth, ()), left + width + GAP
    middle = (parts[0].x + parts[-1].x) / 2
    # A label that is wider than what stands below it moves everything to the right.
    if (short := left + width / 2 - middle) > 0:
        parts = [_moved(part, short) for part in parts]
        middle, right = middle + short, right + short
    return _Placed(tree, middle, depth, tuple(parts)), max(right, middle + width / 2 + GAP)


def _moved(part: _Placed, by: float) -> _Placed:
    return _Placed(part.tree, part.x + by, part.depth, tuple(_moved(inner, by) for inner in part.parts))
