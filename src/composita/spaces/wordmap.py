"""A map of words: their vectors on the two directions in which they differ most (PCA), as a picture.

>>> points, shares = principal_plane(np.array([[0.0, 0, 0], [2, 0, 0], [4, 0, 0]]))
>>> points[:, 0].round(6).tolist(), shares
([-2.0, 0.0, 2.0], (1.0, 0.0))
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from composita.spaces.svg import Drawing
from composita.store.errors import UsageError

if TYPE_CHECKING:
    from composita.spaces.space import Space

Float64Array = npt.NDArray[np.float64]

WIDTH, HEIGHT, MARGIN = 860.0, 620.0, 50.0
_LETTER, _LINE = 7.4, 15.0
_COLOURS = {"n": "#1f5fa8", "v": "#b3541e", "a": "#2f7d4f", "r": "#7a4a9e", "p": "#8a6d00", "": "#444444"}
_KINDS = {"n": "nouns", "v": "verbs", "a": "adjectives", "r": "adverbs", "p": "pronouns", "": "phrases and others"}


def principal_plane(vectors: npt.NDArray[Any]) -> tuple[Float64Array, tuple[float, float]]:
    """Give the places of vectors on their first two principal axes, and the shares of variance that these have."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    u, s, v = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(v[np.arange(len(v)), np.abs(v).argmax(axis=1)])
    points = np.zeros((len(vectors), 2))
    size = min(2, len(s))
    points[:, :size] = (u * s * signs)[:, :size]
    total = float((s**2).sum()) or 1.0
    shares = [*(s[:2] ** 2 / total).tolist(), 0.0, 0.0]
    return points, (float(shares[0]), float(shares[1]))


def draw_map(space: Space, labels: Sequence[str], path: str | Path, *, normalise: bool = True) -> None:
    """Draw some words or phrases of a space, near each other if they are used alike.

    Vectors are first brought to length 1, so that frequency does not decide; labels are moved until none covers
    another.
    """
    if len(labels) < 3:
        raise UsageError(f"expected at least 3 words for a map, got {len(labels)}")
    rows = np.array([space.find(label) for label in labels], np.int64)
    vectors = space.take(rows).astype(np.float64)
    if normalise:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not lengths.all():
            zero = labels[int(np.argmin(lengths))]
            raise UsageError(f"the vector of {zero!r} is 0: it has no place on a map")
        vectors /= lengths
    points, shares = principal_plane(vectors)
    x, y = _on_paper(points)
    said = space.display(rows)
    kinds = [label[-1] if "(" not in label and label[-2:-1] == "-" else "" for label in labels]
    drawing = Drawing(WIDTH, HEIGHT, f"A map of {', '.join(said)}")
    for point, place in enumerate(place_labels(x, y, said)):
        colour = _COLOURS.get(kinds[point], _COLOURS[""])
        drawing.dot(x[point], y[point], 4, colour, labels[point])
        if abs(place[1] - 4 - y[point]) > _LINE:
            drawing.line(x[point], y[point], place[0], place[1] - 4, "#bbbbbb")
        drawing.text(place[0], place[1], said[point])
    for number, kind in enumerate(sorted(set(kinds), key="nvarp".find)):
        drawing.dot(MARGIN + 130 * number, 18, 4, _COLOURS.get(kind, _COLOURS[""]))
        drawing.text(MARGIN + 10 + 130 * number, 22, _KINDS.get(kind, _KINDS[""]))
    drawing.text(WIDTH - 12, HEIGHT - 12, f"first two principal axes: {shares[0]:.0%} and {shares[1]:.0%} of variance",
                 anchor="end")  # fmt: skip
    drawing.save(path)


def _on_paper(points: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Give places on the drawing, both axes at one scale, so that distances can be compared; labels have room."""
    room = np.array([WIDTH - 3 * MARGIN, HEIGHT - 2.5 * MARGIN])
    span = np.ptp(points, axis=0)
    scale = min((room[span > 0] / span[span > 0]).tolist(), default=1.0)
    x, y = ((points - points.min(axis=0)) * scale + (room - span * scale) / 2).T
    return MARGIN + x, HEIGHT - MARGIN - y


def place_labels(x: Float64Array, y: Float64Array, texts: Sequence[str]) -> list[tuple[float, float]]:
    """Give the place of each label: right of its point, or as near as one is free."""
    taken: list[tuple[float, float, float, float]] = [(a - 4, b - 4, a + 4, b + 4) for a, b in zip(x, y, strict=True)]
    places: list[tuple[float, float]] = [(0.0, 0.0)] * len(texts)
    for point in np.argsort(x, kind="stable").tolist():
        width = _LETTER * len(texts[point])
        tries = [
            (x[point] + side, y[point] + 4 + shift)
            for step in range(25)
            for shift in ((0.0,) if not step else (-step * _LINE / 2, step * _LINE / 2))
            for side in (8.0, -8.0 - width)
        ]
        free = [place for place in tries if _is_free(place, width, taken)]
        chosen = free[0] if free else tries[0]
        places[point] = float(chosen[0]), float(chosen[1])
        taken.append((chosen[0], chosen[1] - 11, chosen[0] + width, chosen[1] + 3))
    return places


def _is_free(place: tuple[float, float], width: float, taken: Sequence[tuple[float, float, float, float]]) -> bool:
    left, top, right, bottom = place[0], place[1] - 11, place[0] + width, place[1] + 3
    inside = left >= 2 and right <= WIDTH - 2 and top >= 26 and bottom <= HEIGHT - 26
    return inside and not any(left < c and right > a and top < d and bottom > b for a, b, c, d in taken)
