"""The report and the tables: well-formed, escaped, and nothing from elsewhere."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composita.experiment.report.figures import Curve, curve_figure
from composita.experiment.report.page import Story, figures, page, spearman
from composita.experiment.report.svg import Axis
from composita.experiment.results import Results
from composita.experiment.table import FORMATS, score_tables, write_tables
from tests.experiment.helpers import HOSTILE, story

VOID = {"meta", "br", "img", "link", "hr"}


class Checker(HTMLParser):
    """Follows the tags of a page, and remembers what could load or run something."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.words = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            if name in ("src", "href", "xlink:href", "action"):
                assert value.startswith("#"), (tag, name, value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def checked(text):
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    return checker


def test_the_page_is_well_formed_and_runs_nothing():
    text = page(story())
    checker = checked(text)
    assert not checker.seen & {"script", "iframe", "object", "embed", "link", "img", "base", "form"}
    assert "default-src 'none'" in text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "@import" not in text and "url(" not in text
    assert "".join(checker.words).count(HOSTILE) > 20


def test_every_section_is_there():
    text = page(story())
    for title in ("Scores", "A sheet", "Predicted and rated", "Verb by verb", "Coverage", "Choice of lambda",
                  "Time and memory", "Configuration"):  # fmt: skip
        assert f">{title}</h2>" in text, title
    assert "prefers-color-scheme: dark" in text
    assert "<title>&lt;script&gt;" in text


def test_a_page_without_anything_is_still_a_page():
    checked(page(Story("empty", Results(()))))


def test_figures_are_well_formed_with_plain_names():
    found = figures(story())
    assert len(found) >= 6
    for figure in found:
        root = ET.fromstring(figure.alone())
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert re.fullmatch(r"figure-[A-Za-z0-9_.-]+", figure.name), figure.name
        assert not root.findall(".//{http://www.w3.org/2000/svg}script")
    assert len({figure.name for figure in found}) == len(found)


def test_the_two_conventions_never_share_a_table():
    for table in score_tables(story().results):
        assert ("individual" in table.title) != ("mean rating" in table.title)


@pytest.mark.parametrize("form", FORMATS)
def test_tables_in_every_form(form):
    text = write_tables(score_tables(story().results), form)
    assert "0.214" in text and "3/4" in text
    if form == "latex":
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == len(score_tables(story().results))
        assert not re.search(r"(?<!\\)[&%_#$](?=['\"<>])", text.replace(" & ", " "))
    if form == "markdown":
        assert "| --- |" in text
        rows = [line for line in text.splitlines() if line.startswith("|")]
        assert {line.count("|") for line in rows} == {3}
    if form == "text":
        assert re.search(r"^humans +0\.600$", text, re.MULTILINE)
        assert re.search(r"^multiply +-$", text, re.MULTILINE)


def test_left_out_and_not_covered_are_told_apart():
    text = score_tables(story().results)[0].to_text()
    assert "0.320 [ 0.220,  0.410] 3/4" in text


@settings(max_examples=50)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_lie_within_the_scale(low, size):
    axis = Axis(low, low + size, 0, 100)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 13
    assert all(low - 1e-6 * size <= tick <= low + size * (1 + 1e-6) for tick in ticks)


@pytest.mark.parametrize("log", [False, True])
def test_a_curve_of_one_point_or_with_holes(log):
    for points in (((5.0, 1.0),), ((1.0, 1.0), (10.0, float("nan"))), ((2.0, 0.0), (2.0, 0.0))):
        ET.fromstring(curve_figure("c", "c", [Curve("a", points)], x_title="x", y_title="y", log=log).alone())


def test_spearman_within_a_verb():
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert spearman([3, 2, 1], [1, 2, 3]) == pytest.approx(-1)
