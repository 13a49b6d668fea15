"""The report as one page of HTML: no scripts, nothing from elsewhere, light or dark as the reader has it.

Whatever comes from data, from file names to verbs, is escaped where it is put into the page, and the page forbids its
reader's browser to load or run anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from composita.experiment.report.figures import (
    Curve,
    Prediction,
    bar_figure,
    curve_figure,
    interval_figure,
    scatter_figure,
)
from composita.experiment.report.svg import STYLE, Figure
from composita.experiment.results import CONVENTIONS, Results
from composita.experiment.table import number, score_cell

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
FEWEST = 5
"""Items that a verb must have for a correlation of its own."""


@dataclass(frozen=True)
class Timing:
    """What a stage took."""

    stage: str
    seconds: float
    peak_bytes: int
    reused: bool
    fingerprint: str = ""


@dataclass(frozen=True)
class Sheet:
    """A small table of the report: a title, heads and rows, a remark; several of one title stand together.

    One with ``fold`` is shown when the reader opens what is called so.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remark: str = ""
    fold: str = ""


@dataclass(frozen=True)
class Story:
    """Everything that the report tells."""

    name: str
    results: Results
    predictions: Sequence[Prediction] = ()
    timings: Sequence[Timing] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    sheets: Sequence[Sheet] = ()  # training, differences, word order, ...
    pictures: Mapping[str, Sequence[Figure]] = field(default_factory=dict)  # further sections
    curves: Mapping[str, Sequence[Curve]] = field(default_factory=dict)  # GCV, by learner and level
    reasons: Mapping[tuple[str, str, str], str] = field(default_factory=dict)  # why items were not covered
    configuration: str = ""
    resolved: Mapping[str, Any] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def figures(story: Story) -> list[Figure]:
    """Make all pictures of the report, in their order."""
    groups = (*story.pictures.values(), *_figures(story).values())
    return [figure for group in groups for figure in group]


def _figures(story: Story) -> dict[str, list[Figure]]:
    results = story.results
    intervals = [
        interval_figure(results, benchmark, convention)
        for benchmark in results.benchmarks
        for convention in results.conventions(benchmark)
    ]
    gcv = [
        curve_figure(
            f"gcv-{name}", f"Generalised cross-validation: {name}", curves, x_title="lambda / largest eigenvalue",
            y_title="GCV / smallest", log=True, height=280,
        )
        for name, curves in story.curves.items()
    ]  # fmt: skip
    return {
        "intervals": intervals,
        "scatters": [scatter_figure(points, _note(results, points[0])) for points in _by_method(story).values()],
        "gcv": gcv,
        "seconds": _bars(story, "seconds", lambda t: t.seconds, lambda t: _duration(t.seconds)),
        "memory": _bars(story, "peak memory", lambda t: t.peak_bytes, lambda t: f"{t.peak_bytes / 1e6:,.0f} MB"),
    }


def _bars(story: Story, name: str, value: Callable[[Timing], float], said: Callable[[Timing], str]) -> list[Figure]:
    """Draw one bar for each stage."""
    if not story.timings:
        return []
    values, words = {t.stage: value(t) for t in story.timings}, {t.stage: said(t) for t in story.timings}
    return [bar_figure(name, f"{name.capitalize()} of each stage", values, words)]


def _by_method(story: Story) -> dict[tuple[str, str, str], list[Prediction]]:
    """Group predictions, leaving out methods that could predict nothing."""
    groups: dict[tuple[str, str, str], list[Prediction]] = defaultdict(list)
    for prediction in story.predictions:
        groups[prediction.benchmark, prediction.method, prediction.space].append(prediction)
    return {
        key: group
        for key, group in groups.items()
        if any(p.predicted is not None for p in group) and all(p.rating == p.rating for p in group)  # no ranking
    }


def _note(results: Results, first: Prediction) -> str:
    row = results.find(first.benchmark, first.method, first.space)
    return "" if row is None or row.rho_mean is None else f"rho_mean {row.rho_mean:.3f}"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


# ---------------------------------------------------------------- the page


def page(story: Story) -> str:
    """Write the page."""
    drawn = _figures(story)
    sections = {
        "Scores": _scores(story, drawn["intervals"]),
        **{title: "".join(map(_captioned, group)) for title, group in story.pictures.items()},
        **_sheets(story.sheets),
        "Predicted and rated": _scatters(story, drawn["scatters"]),
        "Verb by verb": _verbs(story),
        "Coverage": _coverage(story),
        "Choice of lambda": _penalties(story, drawn["gcv"]),
        "Time and memory": _costs(story, [*drawn["seconds"], *drawn["memory"]]),
        "Configuration": _configuration(story),
    }
    sections = {title: body for title, body in sections.items() if body}
    links = "".join(f'<a href="#{_anchor(title)}">{escape(title)}</a>' for title in sections)
    body = "".join(
        f'<section><h2 id="{_anchor(title)}">{escape(title)}</h2>{inner}</section>\n'
        for title, inner in sections.items()
    )
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(story.name)}</title>\n<style>\n{style}{STYLE}</style>\n</head>\n<body>\n<header>"
        f"<h1>{escape(story.name)}</h1>{_facts(story.facts)}</header>\n<nav>{links}</nav>\n<main>\n{body}</main>\n"
        "</body>\n</html>\n"
    )


def _anchor(title: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in title.lower())


def _facts(facts: Mapping[str, str]) -> str:
    return "".join(f'<p class="soft">{escape(name)}: {escape(value)}</p>' for name, value in facts.items())


def _shown(figure: Figure) -> str:
    return f"<figure>{figure.inline()}</figure>\n"


def _captioned(figure: Figure) -> str:
    return f"<figure><figcaption>{escape(figure.title)}</figcaption>{figure.inline()}</figure>\n"


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, rules: Sequence[int] = ()) -> str:
    """Write a table of text; columns of numbers stand on the right.

    >>> html_table(["a"], [["<b>"]])
    '<div class="wide"><table><thead>...<tr><td>&lt;b&gt;</td></tr></tbody>...'
    """
    rows = list(rows)
    numeric = [_is_numeric(row[place] for row in rows) for place in range(len(heads))]
    kinds = [' class="number"' if right else "" for right in numeric]
    head = "".join(f'<th scope="col"{kind}>{escape(cell)}</th>' for kind, cell in zip(kinds, heads, strict=True))
    lines = []
    for place, row in enumerate(rows):
        rule = ' class="rule"' if place in rules else ""
        cells = "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        lines.append(f"<tr{rule}>{cells}</tr>")
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<div class="wide">{table}</div>\n'


def _is_numeric(cells: Iterable[str]) -> bool:
    """Say whether there are numbers in a column, and nothing else but signs that there is none."""
    bare = [cell.strip(" +-*%").replace(",", "").replace(".", "") for cell in cells]
    return any(bare) and all(cell.isdigit() for cell in bare if cell)


def _sheets(sheets: Sequence[Sheet]) -> dict[str, str]:
    """Put sheets of the same title into one section."""
    found: dict[str, str] = defaultdict(str)
    for sheet in sheets:
        said = f"<p>{escape(sheet.remark)}</p>" if sheet.remark else ""
        table = html_table(sheet.heads, sheet.rows)
        found[sheet.title] += said + (_folded(sheet.fold, table) if sheet.fold else table)
    return found


def _folded(name: str, inner: str, *, opened: bool = False) -> str:
    return f"<details{' open' if opened else ''}><summary>{escape(name)}</summary>{inner}</details>\n"


# ---------------------------------------------------------------- sections


def _scores(story: Story, drawn: Sequence[Figure]) -> str:
    results, parts = story.results, []
    pictures = iter(drawn)
    for benchmark in results.benchmarks:
        parts.append(f"<h3>{escape(benchmark)}</h3>")
        parts += [
            _score_table(results, benchmark, convention) + _shown(next(pictures))
            for convention in results.conventions(benchmark)
        ]
    return "".join(parts)


def _score_table(results: Results, benchmark: str, convention: str) -> str:
    """Write one table; the best score is bold, intervals and coverage are small."""
    frame = results.reference(benchmark)
    rows = [row for row in results.rows if row.benchmark == benchmark]
    spaces = [space for space in results.spaces if any(row.space == space for row in rows)]
    best = max((row.score(convention) or -2.0 for row in rows), default=-2.0)
    lines = []

    def framing(name: str, value: float | None) -> None:
        if value is not None:
            cells = f'<td colspan="{len(spaces)}">{number(value)}</td>'
            lines.append(f'<tr class="rule"><th scope="row">{name}</th>{cells}</tr>')

    if frame:
        framing("humans", frame.humans.get(convention))
    for place, method in enumerate(dict.fromkeys(row.method for row in rows)):
        cells = []
        for space in spaces:
            row = results.find(benchmark, method, space)
            score, _, rest = score_cell(row, convention).strip().replace("[ ", "[").replace(",  ", ", ").partition(" ")
            is_best = row is not None and row.score(convention) == best
            cells.append(f"<td{' class=best' if is_best else ''}>{escape(score)} <small>{escape(rest)}</small></td>")
        kind = ' class="rule"' if not place else ""
        lines.append(f'<tr{kind}><th scope="row">{escape(method)}</th>{"".join(cells)}</tr>')
    if frame:
        framing("ceiling", frame.ceiling.get(convention))
        framing("floor", frame.floor.get(convention))
    items = max((row.items for row in rows), default=0)
    caption = f"{CONVENTIONS[convention]} ({convention}), {items} items, 95% intervals over items"
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("method", *spaces))
    return (
        f'<p class="soft">{escape(caption)}</p><div class="wide"><table aria-label="{escape(benchmark)}, {convention}">'
        f"<thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>\n"
    )


def _scatters(story: Story, drawn: Sequence[Figure]) -> str:
    if not drawn:
        return ""
    parts = ["<p>One point an item; point at it to see which. The scales differ from picture to picture: a method is "
             "judged by the order it gives.</p>"]  # fmt: skip
    pictures = dict(zip(_by_method(story), drawn, strict=True))
    for place, benchmark in enumerate(story.results.benchmarks):
        mine = "".join(_shown(figure) for key, figure in pictures.items() if key[0] == benchmark)
        parts.append(_folded(benchmark, f'<div class="many">{mine}</div>', opened=not place))
    return "".join(parts)


def _verbs(story: Story) -> str:
    """Write rho_mean within the items of each verb, for every method that predicted."""
    parts = []
    for benchmark in story.results.benchmarks:
        groups = {key: found for key, found in _by_method(story).items() if key[0] == benchmark}
        verbs = sorted({p.group for found in groups.values() for p in found if p.group})
        if not verbs:
            continue
        rows = []
        for verb in verbs:
            cells = [_rho_within([p for p in found if p.group == verb]) for found in groups.values()]
            items = max(sum(p.group == verb for p in found) for found in groups.values())
            rows.append((verb, str(items), *cells))
        heads = ("", "items", *(f"{method}, {space}" for _, method, space in groups))
        table = html_table(heads, rows)
        parts.append(_folded(f"{benchmark}: {len(verbs)} verbs", table))
    about = (
        f"<p>Spearman's rho with the mean ratings, within the items of one verb, where it has at least {FEWEST}. "
        "So few items say little; the table is for finding what to look at.</p>"
    )
    return about + "".join(parts) if parts else ""


def _rho_within(found: Sequence[Prediction]) -> str:
    known = [p for p in found if p.predicted is not None]
    if len(known) < FEWEST:
        return "-"
    rho = spearman([p.predicted or 0.0 for p in known], [p.rating for p in known])
    return "-" if rho is None else f"{rho:.2f}"


def spearman(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Compute Spearman's rho, ties at their mean rank; None where one side never changes.

    >>> round(spearman([1, 2, 3, 4], [1, 3, 2, 4]), 3)
    0.8
    """
    from scipy.stats import rankdata

    left, right = (rankdata(values) - (len(values) + 1) / 2 for values in (xs, ys))
    size = float(np.sqrt((left**2).sum() * (right**2).sum()))
    return float((left * right).sum() / size) if size else None


def _coverage(story: Story) -> str:
    rows = [row for row in story.results.rows if row.scored or row.covered < row.items]
    short = [r for r in rows if r.covered < r.items and (r.scored or (r.benchmark, r.method, r.space) in story.reasons)]
    less = [r for r in rows if r.more.get("backed_off")]
    if not rows:
        return ""
    parts = []
    if short:
        cells = [
            (r.benchmark, r.method, r.space, f"{r.covered}", f"{r.items}", f"{r.covered / max(1, r.items):.0%}",
             story.reasons.get((r.benchmark, r.method, r.space), ""))
            for r in short
        ]  # fmt: skip
        heads = ("benchmark", "method", "space", "covered", "items", "share", "most often because")
        parts.append("<p>Where a method could not score all items:</p>" + html_table(heads, cells))
    else:
        parts.append("<p>Every method that was tried scored every item.</p>")
    if less:
        lesser = [(r.benchmark, r.method, r.space, str(r.more["backed_off"]), f"{r.items}") for r in less]
        parts.append(
            "<p>Where something less was done than the method asks for, such as adding the words of a verb that has no "
            "function:</p>" + html_table(("benchmark", "method", "space", "backed off", "items"), lesser)
        )
    return "".join(parts)


def _penalties(story: Story, drawn: Sequence[Figure]) -> str:
    """Show the curves of each learner in each space."""
    groups: dict[str, str] = defaultdict(str)
    for name, figure in zip(story.curves, drawn, strict=True):
        groups[name.partition(",")[0]] += _captioned(figure)
    about = (
        "<p>Generalised cross-validation over the grid of lambda, for the words with most phrases; each word chooses "
        "the place where its curve is lowest. Curves are divided by their lowest value, and cut off at three times "
        "it.</p>"
    )
    folded = [_folded(name, inner, opened=not place) for place, (name, inner) in enumerate(groups.items())]
    return about + "".join(folded) if folded else ""


def _costs(story: Story, drawn: Sequence[Figure]) -> str:
    if not story.timings:
        return ""
    rows = [(t.stage, _duration(t.seconds), f"{t.peak_bytes / 1e6:,.0f} MB") for t in story.timings]
    table = html_table(("stage", "seconds", "peak memory"), rows)
    return (
        "<p>A stage that was taken from an earlier run shows what it took then.</p>"
        + "".join(map(_captioned, drawn)) + _folded("as a table", table)
    )  # fmt: skip


def _configuration(story: Story) -> str:
    parts = []
    if story.configuration:
        parts.append(f"<h3>As it was written</h3><pre>{escape(story.configuration)}</pre>")
    if story.resolved:
        rows = list(flat(story.resolved))
        table = html_table(("key", "value"), rows)
        parts.append(_folded(f"every value, resolved ({len(rows)})", table))
    if story.fingerprints:
        rows = list(story.fingerprints.items())
        parts.append(f"<h3>Fingerprints</h3>{html_table(('stage', 'of its version, parameters and inputs'), rows)}")
    if story.versions:
        parts.append(f"<h3>Made with</h3>{html_table(('program', 'version'), story.versions.items())}")
    return "".join(parts)


def flat(values: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, str]]:
    """Write nested tables as dotted keys with values.

    >>> list(flat({"space": {"dimensions": 300, "drop": []}}))
    [('space.dimensions', '300'), ('space.drop', '[]')]
    """
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{before}{key}.")
        else:
            yield before + key, "none" if value is None else str(value)
