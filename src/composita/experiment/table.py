"""The table of the paper: methods by spaces, people on top, the ceiling below; as text, Markdown and LaTeX.

There is one table for each benchmark and each convention, so that the two conventions never share a column.

>>> from composita.experiment.results import Results, Row
>>> rows = (
...     Row("gs2011", "add", "svd", 0.214, (0.12, 0.3), 0.28, (0.15, 0.4), 199, 199),
...     Row("gs2011", "regression", "svd", 0.32, (0.22, 0.41), 0.43, (0.3, 0.55), 199, 190),
...     Row.left_out("gs2011", "multiply", "svd", 199),
... )
>>> print(score_tables(Results(rows))[0].to_text())
gs2011: Spearman's rho with individual ratings (199 items, 95% intervals)
method      svd
add         0.214 [ 0.120, 0.300]
regression  0.320 [ 0.220, 0.410] 190/199
multiply    -
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from composita.experiment.results import CONVENTIONS, Reference, Results, Row

LEFT_OUT = "-"
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A table of text: heads, rows of cells, and the numbers of the rows before which a line is drawn."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    rules: tuple[int, ...] = ()

    def to_text(self) -> str:
        """Write it for a terminal."""
        widths = [max(map(len, column)) for column in zip(self.heads, *self.rows, strict=True)]
        lines = [self.title, _aligned(self.heads, widths)]
        for number, row in enumerate(self.rows):
            if number in self.rules:
                lines.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
            lines.append(_aligned(row, widths))
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """Write it as Markdown."""
        rows = [self.heads, ("---",) * len(self.heads), *self.rows]
        lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
        return "\n".join([f"**{self.title}**", "", *lines])

    def to_latex(self) -> str:
        """Write it as LaTeX, with the rules of the package booktabs."""
        lines = [
            r"\begin{table}", rf"\caption{{{escape_latex(self.title)}}}",
            rf"\begin{{tabular}}{{{'l' * len(self.heads)}}}", r"\toprule", _latex_row(self.heads), r"\midrule",
        ]  # fmt: skip
        for number, row in enumerate(self.rows):
            if number in self.rules:
                lines.append(r"\midrule")
            lines.append(_latex_row(row))
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"])


FORMATS = {"text": Table.to_text, "markdown": Table.to_markdown, "latex": Table.to_latex}
"""How tables can be written."""


def write_tables(tables: Sequence[Table], form: str = "text") -> str:
    """Write several tables in a form of `FORMATS`, with an empty line between two."""
    return "\n\n".join(FORMATS[form](table) for table in tables) + "\n"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(escape_latex, cells)) + r" \\"


def escape_latex(text: str) -> str:
    """Write text so that LaTeX shows it.

    >>> escape_latex("95%") == chr(92).join(["95", "%"])
    True
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)


# ---------------------------------------------------------------- scores


def score_tables(results: Results, *, intervals: bool = True) -> list[Table]:
    """Make the tables of all benchmarks, each by both conventions."""
    return [
        _score_table(results, benchmark, convention, intervals)
        for benchmark in results.benchmarks
        for convention in results.conventions(benchmark)
    ]


def _score_table(results: Results, benchmark: str, convention: str, intervals: bool) -> Table:
    rows = [row for row in results.rows if row.benchmark == benchmark]
    spaces = tuple(space for space in results.spaces if any(row.space == space for row in rows))
    methods = tuple(method for method in results.methods if any(row.method == method for row in rows))
    frame = results.reference(benchmark)
    body = [
        (method, *(score_cell(results.find(benchmark, method, space), convention, intervals) for space in spaces))
        for method in methods
    ]
    above, below = _framing(frame, convention, len(spaces))
    items = max((row.items for row in rows), default=0)
    title = f"{benchmark}: {CONVENTIONS[convention]} ({items:,} items"
    return Table(
        f"{title}, 95% intervals)" if intervals else f"{title})",
        ("method", *spaces),
        (*above, *body, *below),
        tuple(n for n, given in ((len(above), above), (len(above) + len(body), below)) if given),
    )


def _framing(
    frame: Reference | None, convention: str, columns: int
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Give the rows of people, and those of the ceiling and the floor; they are the same in every space."""
    if frame is None:
        return [], []

    def line(name: str, value: float | None) -> list[tuple[str, ...]]:
        return [] if value is None else [(name, *(number(value),) * columns)]

    below = line("ceiling", frame.ceiling.get(convention)) + line("floor", frame.floor.get(convention))
    return line("humans", frame.humans.get(convention)), below


def score_cell(row: Row | None, convention: str, intervals: bool = True) -> str:
    """Write a score with its interval, and its coverage where it is not full."""
    score = None if row is None else row.score(convention)
    if row is None or score is None:
        return LEFT_OUT if row is None or not row.covered else f"{LEFT_OUT} {row.covered}/{row.items}"
    cell, bounds = number(score), row.interval(convention)
    if intervals and bounds is not None:
        cell += f" [{number(bounds[0])}, {number(bounds[1])}]"
    return cell if row.covered == row.items else f"{cell} {row.covered}/{row.items}"


def number(value: float) -> str:
    """Write a correlation, as wide with as without a sign.

    >>> number(0.25), number(-0.25)
    (' 0.250', '-0.250')
    """
    return f"{value: .3f}" if abs(value) >= 0.0005 else " 0.000"
