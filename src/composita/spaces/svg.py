"""Pictures as SVG, written by hand: a few shapes and text.

>>> drawing = Drawing(100, 50, "a dot")
>>> drawing.dot(10, 20, 3, "#000000", "here")
>>> "<circle" in str(drawing) and "a dot" in str(drawing)
True
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from composita.corpus.output import replacing

FONT = "font-family='system-ui, sans-serif' font-size='13' fill='#222222'"


class Drawing:
    """Shapes on white, with a title for those who cannot see it."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.shapes: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str, thickness: float = 1) -> None:
        """Draw a line."""
        self.shapes.append(
            f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}' "
            f"stroke-width='{thickness:g}'/>"
        )

    def dot(self, x: float, y: float, radius: float, colour: str, said: str = "") -> None:
        """Draw a dot; ``said`` is shown to who points at it."""
        title = f"<title>{escape(said)}</title>" if said else ""
        self.shapes.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:g}' fill='{colour}'>{title}</circle>")

    def text(self, x: float, y: float, text: str, anchor: str = "start") -> None:
        """Write a text."""
        self.shapes.append(f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' {FONT}>{escape(text)}</text>")

    def __str__(self) -> str:
        head = (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {self.width:.0f} {self.height:.0f}' "
            f"width='{self.width:.0f}' height='{self.height:.0f}' role='img' aria-label='{escape(self.title, _QUOTE)}'>"
        )
        ground = f"<rect width='{self.width:.0f}' height='{self.height:.0f}' fill='#ffffff'/>"
        return "\n".join([head, f"<title>{escape(self.title)}</title>", ground, *self.shapes, "</svg>"]) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the picture to a file."""
        with replacing(Path(path)) as write:
            write(str(self).encode())


_QUOTE = {"'": "&#39;"}


def nice_ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Give round numbers from at or above one number to at or below the other.

    >>> nice_ticks(0.0, 0.83)
    [0.0, 0.2, 0.4, 0.6, 0.8]
    """
    step = 10.0 ** int(np.floor(np.log10(max(high - low, 1e-9) / about)))
    step = next(step * factor for factor in (1, 2, 5, 10, 20) if (high - low) / (step * factor) <= about)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [round(number * step, 10) for number in range(first, last + 1)]
