"""Pictures as PDF: the structure that readers rely on, and everything that the SVG shows."""

import re
import zlib
from xml.etree import ElementTree as ET

import pytest

from composita.experiment.report.figures import Curve, curve_figure
from composita.experiment.report.page import figures
from composita.experiment.report.pdf import to_pdf
from composita.experiment.report.svg import Figure, bar, dot, line, text, text_width
from tests.experiment.helpers import story


def objects(data):
    """Read a PDF by its table of places, as a reader does, and check that each object stands where that says."""
    start = int(re.search(rb"startxref\n(\d+)\n%%EOF\n$", data)[1])
    table = data[start:].splitlines()
    assert table[0] == b"xref"
    first, size = map(int, table[1].split())
    found = {}
    for number, entry in enumerate(table[2 : 2 + size], first):
        assert len(entry) == 19  # and a newline: readers count bytes
        if number:
            place = int(entry.split()[0])
            assert data[place:].startswith(b"%d 0 obj\n" % number)
            found[number] = data[place : data.index(b"endobj", place)]
    for content in found.values():
        for reference in re.findall(rb"(\d+) 0 R", content):
            assert int(reference) in found
    return found


def program(data):
    """Give what moves the pen, and check that its length is what is said."""
    content = objects(data)[4]
    length = int(re.search(rb"/Length (\d+)", content)[1])
    body = content[content.index(b"stream\n") + 7 :]
    assert body[length:].startswith(b"\nendstream")
    return zlib.decompress(body[:length]).decode("cp1252")


CURVES = curve_figure(
    "gcv", "curves", [Curve("a", ((1.0, 1.0), (10.0, 2.0)), ((0.5, 1.5), (1.5, 2.5))), Curve("b", ((1.0, 2.0),))],
    x_title="x", y_title="y", log=True,
)  # fmt: skip


MANY = curve_figure(
    "many", "many curves", [Curve(f"method number {n}", ((1.0, n), (2.0, n + 1))) for n in range(9)],
    x_title="x", y_title="y",
)  # fmt: skip


@pytest.mark.parametrize("figure", [*figures(story()), CURVES, MANY], ids=lambda figure: figure.name)
def test_a_pdf_draws_every_mark_of_the_picture(figure):
    drawn = program(to_pdf(figure))
    marks = [mark for mark in ET.fromstring(figure.inline()) if not mark.tag.endswith("title")]
    words = [mark for mark in marks if mark.tag.endswith("text")]
    assert drawn.count(" Tj ET") == len(words)
    assert len(drawn.splitlines()) == 1 + len(marks)
    assert drawn.count("q ") == drawn.count(" Q") == len(marks) - len(words)
    for mark in words:
        escaped = re.sub(r"([\\()])", r"\\\1", " ".join("".join(mark.itertext()).split()))
        assert f"({escaped}) Tj" in drawn
    assert to_pdf(figure) == to_pdf(figure)


def test_words_end_and_centre_where_they_do_in_the_picture():
    figure = Figure("figure-x", "x", 200, 100, (text(150, 10, "WWW", "end"), text(150, 20, "WWW", "middle"),
                                                text(150, 30, "WWW")))  # fmt: skip
    places = [float(x) for x in re.findall(r"1 0 0 -1 (\S+) ", program(to_pdf(figure)))]
    width = 3 * 0.944 * 12
    assert text_width("WWW") == pytest.approx(width)
    assert places == pytest.approx([150 - width, 150 - width / 2, 150], abs=0.05)


def test_what_stands_in_words_cannot_move_the_pen():
    said = ") Tj ET 0 0 m (\\ \n\x07"
    drawn = program(to_pdf(Figure("figure-x", said, 100, 100, (text(0, 0, said),))))
    assert drawn.splitlines()[1].count(" Tj") == 2 and r"(\) Tj ET 0 0 m \(\\)" in drawn


def test_signs_that_the_font_lacks():
    drawn = program(to_pdf(Figure("figure-x", "Žižek", 100, 100, (text(0, 0, "Zürich Plzeň 猫"),))))
    assert "(Zürich Plzen ?)" in drawn
    title = objects(to_pdf(Figure("figure-x", "猫", 100, 100, ())))[7]
    assert b"<FEFF732B>" in title


def test_another_mark_is_refused_rather_than_left_out():
    with pytest.raises(ValueError, match="has no <path>"):
        to_pdf(Figure("figure-x", "x", 10, 10, ("<path class='axis'/>",)))


def test_colours_and_lines():
    drawn = program(
        to_pdf(Figure("figure-x", "x", 10, 10, (line(0, 0, 1, 1, "mark"), dot(1, 1, 5), bar(0, 0, 2, 2, 1))))
    )
    assert "[4 3] 0 d 0 0 m 1 1 l S" in drawn  # broken
    assert drawn.splitlines()[2].endswith("h S Q")  # a ring
    assert "0.706 0.325 0.035 rg 0 0 2 2 re f" in drawn  # #b45309


def test_nine_methods_are_told_apart_within_the_picture():
    kinds = re.findall(r'<polyline class="([^"]*)"', MANY.inline())
    assert len(set(kinds)) == 9 and sum("broken" in kind for kind in kinds) == 3
    assert program(to_pdf(MANY)).count("[6 4] 0 d") == 6  # the lines, and their signs in the legend
    names = [mark for mark in ET.fromstring(MANY.inline()) if "method number" in (mark.text or "")]
    assert len({mark.get("y") for mark in names}) > 1
    assert all(float(mark.get("x")) + text_width(mark.text) < MANY.width for mark in names)
    assert MANY.height > CURVES.height
