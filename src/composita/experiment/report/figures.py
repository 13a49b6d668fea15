"""The pictures of a report: intervals, scatters, per-verb results, curves and bars."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from composita.experiment.report.svg import Axis, Figure, band, bar, dot, frame, legend, line, path, room_for, text
from composita.experiment.results import CONVENTIONS, Results

LINE = 18
"""Pixels from one row of an interval plot to the next."""


@dataclass(frozen=True)
class Prediction:
    """What a method predicted for an item, and what people said on average; None where it could not."""

    benchmark: str
    method: str
    space: str
    item: str
    group: str
    rating: float
    predicted: float | None


@dataclass(frozen=True)
class Curve:
    """A line through points, with a band where there are bounds, and words for who points at one of them."""

    name: str
    points: tuple[tuple[float, float], ...]
    bounds: tuple[tuple[float, float], ...] = ()
    said: tuple[str, ...] = ()


def _plain(*names: str) -> str:
    """Make a file name of names.

    >>> _plain("gcv", "svd onestep, sv, (1.0 + <subject>)")
    'gcv-svd_onestep_sv_1_0_subject'
    """
    return "-".join(re.sub(r"[^A-Za-z0-9-]+", "_", name).strip("_") for name in names)


# ---------------------------------------------------------------- scores with intervals


def interval_figure(results: Results, benchmark: str, convention: str) -> Figure:
    """Draw rho of every method in every space with its interval; people and the ceiling are vertical lines."""
    rows = [row for row in results.rows if row.benchmark == benchmark and row.score(convention) is not None]
    frame_of = results.reference(benchmark)
    marks_at = [
        (name, value)
        for name, value in (
            ("humans", frame_of.humans.get(convention) if frame_of else None),
            ("ceiling", frame_of.ceiling.get(convention) if frame_of else None),
        )
        if value is not None and value < 0.999
    ]
    spaces, left, width = results.spaces, room_for((row.method for row in rows), 130), 720
    bounds = [v for row in rows for v in (row.interval(convention) or (row.score(convention),)) if v is not None]
    axis = Axis.around([0.0, *bounds, *(value for _, value in marks_at)], left, width - 20)
    named, low_end = legend(spaces, left, 14, width - 20)
    top = low_end + 20  # where the grid begins
    marks, y = [], top + 10
    drawn: list[str] = []
    for method in dict.fromkeys(row.method for row in rows):
        mine = [row for row in rows if row.method == method]
        drawn.append(text(left - 10, y + 4 + LINE * (len(mine) - 1) / 2, method, "end"))
        for row in mine:
            score, series = row.score(convention), spaces.index(row.space)
            low, high = row.interval(convention) or (score, score)
            if score is None or low is None or high is None:
                continue
            words = f"{method}, {row.space}: {score:.3f} [{low:.3f}, {high:.3f}], {row.covered} of {row.items} items"
            drawn.append(line(axis.place(low), y, axis.place(high), y, f"line k{series}"))
            drawn.append(dot(axis.place(score), y, series, words))
            y += LINE
        y += 8
    bottom = y
    for place, label in axis.labels():
        marks += [line(place, top, place, bottom, "grid"), text(place, bottom + 16, label, "middle soft")]
    marks.append(line(axis.place(0.0), top, axis.place(0.0), bottom))
    for name, value in marks_at:
        marks += [line(axis.place(value), top, axis.place(value), bottom, "mark"),
                  text(axis.place(value), top - 4, name, "middle soft")]  # fmt: skip
    title = f"{benchmark}: {CONVENTIONS[convention]}, with 95% intervals over items"
    return Figure(
        f"figure-{_plain('intervals', benchmark, convention)}", title, width, int(bottom + 30),
        (*named, *marks, *drawn),
    )  # fmt: skip


# ---------------------------------------------------------------- predicted against rated


def scatter_figure(predictions: Sequence[Prediction], note: str = "") -> Figure:
    """Draw what one method predicted against what people said; pointing at an item shows its name."""
    first, known = predictions[0], [p for p in predictions if p.predicted is not None]
    width, height = 320, 290
    across = Axis.around([p.rating for p in predictions], 44, width - 12)
    up = Axis.around([p.predicted for p in known if p.predicted is not None], height - 44, 34)
    title = f"{first.method}, {first.space}"
    marks = [text(44, 14, title, "bold"), text(width - 12, 14, note, "end soft")]
    marks += frame(across, up, x_title="mean rating; upwards: predicted similarity")
    marks += [
        dot(across.place(p.rating), up.place(p.predicted), 0, f"{p.item}: rated {p.rating:.2f}, {p.predicted:.3f}", 3)
        for p in known
        if p.predicted is not None
    ]
    name = f"figure-{_plain('scatter', first.benchmark, first.method, first.space)}"
    return Figure(
        name, f"{first.benchmark}: similarity by {title} against the mean rating", width, height, tuple(marks)
    )


# ---------------------------------------------------------------- curves


def curve_figure(
    name: str,
    title: str,
    curves: Sequence[Curve],
    *,
    x_title: str,
    y_title: str,
    log: bool = False,
    width: int = 720,
    height: int = 340,
) -> Figure:
    """Draw lines through points, with bands where there are bounds, and a legend."""
    xs = [x for curve in curves for x, _ in curve.points]
    ys = [y for curve in curves for _, y in curve.points] + [
        y for curve in curves for pair in curve.bounds for y in pair
    ]
    named, low_end = legend([curve.name for curve in curves], 64, 14, width - 16)
    height += round(low_end) - 14
    across, up = Axis.around(xs, 64, width - 16, log=log), Axis.around(ys, height - 44, low_end + 30)
    marks = [*named, *frame(across, up, x_title=x_title, y_title=y_title)]
    for series, curve in enumerate(curves):
        pairs = list(zip(curve.points, curve.bounds, strict=True)) if curve.bounds else []
        edge = [(x, low) for (x, _), (low, _) in pairs] + [(x, high) for (x, _), (_, high) in reversed(pairs)]
        if edge:
            marks.append(band([(across.place(x), up.place(y)) for x, y in edge], series))
        said = curve.said or [f"{x:g}, {y:.3g}" for x, y in curve.points]
        points = [
            (across.place(x), up.place(y), words)
            for (x, y), words in zip(curve.points, said, strict=True)
            if math.isfinite(y)
        ]
        marks.append(path([(a, b) for a, b, _ in points], series))
        marks += [dot(a, b, series, f"{curve.name}: {words}", 3) for a, b, words in points]
    return Figure(f"figure-{_plain(name)}", title, width, height, tuple(marks))


# ---------------------------------------------------------------- bars


def bar_figure(name: str, title: str, values: Mapping[str, float], said: Mapping[str, str]) -> Figure:
    """Draw one bar for each name, with what is said of it behind the bar."""
    left, width, step = room_for(values, 120), 720, 20
    largest = max(values.values(), default=0.0) or 1.0
    longest = width - left - 110
    marks = []
    for number, (key, value) in enumerate(values.items()):
        y = 6 + step * number
        length = longest * value / largest
        marks += [
            text(left - 8, y + 11, key, "end"), bar(left, y, length, 14, 0, f"{key}: {said[key]}"),
            text(left + length + 6, y + 11, said[key], "soft"),
        ]  # fmt: skip
    return Figure(f"figure-{_plain(name)}", title, width, 12 + step * max(1, len(values)), tuple(marks))
