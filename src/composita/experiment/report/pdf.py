"""A picture as PDF, for papers: what `composita.experiment.report.svg` draws, and no other SVG.

A page of PDF is a small program that moves a pen, so that the lines, bands, dots and words of a picture need no
library. Words are set in Helvetica, which every reader of PDF has, and which has the letters of western Europe: others
lose their accents, or stand as ``?``. The picture as SVG has them all. There is no date in the file: the same picture
is the same bytes.

>>> from composita.experiment.report.svg import Figure, dot, text
>>> page = to_pdf(Figure("figure-dot", "a dot", 100, 50, (dot(10, 20, 0), text(20, 24, "here"))))
>>> page[:8], page.count(b"endobj"), b"MediaBox [0 0 75 37.5]" in page
(b'%PDF-1.4', 7, True)
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from composita.experiment.report.svg import BAND, LIGHT, SIZE, Figure, text_width

POINTS = 0.75
"""Points of a page in one pixel of a picture."""
_ROUND = 0.5523
"""Where the handles of a quarter of a circle stand, in radii."""
_SVG = "{http://www.w3.org/2000/svg}"


def to_pdf(figure: Figure) -> bytes:
    """Write a picture as a PDF of one page."""
    root = ET.fromstring(figure.inline())
    width, height = (f"{POINTS * size:g}" for size in (figure.width, figure.height))
    # From here on places are those of the picture: pixels, counted from the top.
    pen = [f"{POINTS:g} 0 0 {-POINTS:g} 0 {height} cm"]
    for mark in root:
        pen += _drawn(mark)
    program = zlib.compress("\n".join(pen).encode("cp1252"), 9)
    fonts = [f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode()
             for name in ("Helvetica", "Helvetica-Bold")]  # fmt: skip
    return _file([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R /Resources "
        f"<< /Font << /F0 5 0 R /F1 6 0 R >> /ExtGState << /G0 << /ca {BAND:g} >> >> >> >>".encode(),
        f"<< /Length {len(program)} /Filter /FlateDecode >>\nstream\n".encode() + program + b"\nendstream",
        *fonts,
        b"<< /Title <FEFF" + figure.title.encode("utf-16-be").hex().upper().encode() + b"> /Producer (composita) >>",
    ])  # fmt: skip


def _file(objects: list[bytes]) -> bytes:
    """Put objects into a file, the catalogue first and what the file is called last, with a table of their places."""
    data, places = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    table = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, len(objects))
    return bytes(data + b"startxref\n%d\n%%%%EOF\n" % table)


# ---------------------------------------------------------------- marks


def _drawn(mark: ET.Element) -> Iterator[str]:
    """Draw one mark with the colours and lines of its classes."""
    kinds = mark.get("class", "").split()
    tag = mark.tag.removeprefix(_SVG)
    at = {name: float(value) for name, value in mark.attrib.items() if name not in ("class", "points")}
    match tag:
        case "title":
            return
        case "text":
            yield _text(at["x"], at["y"], "".join(mark.itertext()), kinds)
            return
        case "line":
            way = [f"{at['x1']:g} {at['y1']:g} m {at['x2']:g} {at['y2']:g} l"]
        case "polyline" | "polygon":
            points = [pair.replace(",", " ") for pair in mark.get("points", "").split()]
            way = [f"{point} {'l' if place else 'm'}" for place, point in enumerate(points)]
            way += ["h"] if tag == "polygon" else []
        case "rect":
            way = [f"{at['x']:g} {at['y']:g} {at['width']:g} {at['height']:g} re"]
        case "circle":
            way = list(_circle(at["cx"], at["cy"], at["r"]))
        case _:
            raise ValueError(f"a picture has no <{tag}>")
    if way:
        yield f"q {_manner(kinds)} {' '.join(way)} {'S' if _stroked(kinds) else 'f'} Q"


def _stroked(kinds: list[str]) -> bool:
    return any(kind in ("axis", "grid", "mark", "line") for kind in kinds)


def _manner(kinds: list[str]) -> str:
    """Choose the pen: its colour, how thick it is, and whether it is lifted at times."""
    series = next((f"s{kind[1:]}" for kind in kinds if kind[0] in "fk" and kind[1:].isdigit()), None)
    if not _stroked(kinds):
        return f"{_colour(series or 'ink')} rg" + (" /G0 gs" if "band" in kinds else "")
    pens = {"grid": ("faint", "1 w"), "axis": ("soft", "1 w"), "mark": ("soft", "1.5 w [4 3] 0 d"),
            "line": ("ink", "1.75 w 1 j")}  # fmt: skip
    colour, pen = pens[next(kind for kind in kinds if kind in pens)]
    pen += " [6 4] 0 d" if "broken" in kinds else ""
    return f"{_colour(series or colour)} RG {pen}"


def _colour(name: str) -> str:
    code = LIGHT[name]
    return " ".join(f"{int(code[place : place + 2], 16) / 255:.3f}" for place in (1, 3, 5))


def _circle(x: float, y: float, r: float) -> Iterator[str]:
    h = _ROUND * r
    yield f"{x + r:g} {y:g} m"
    quarters = (
        ((r, h), (h, r), (0, r)), ((-h, r), (-r, h), (-r, 0)),
        ((-r, -h), (-h, -r), (0, -r)), ((h, -r), (r, -h), (r, 0)),
    )  # fmt: skip
    for (a, b), (c, d), (e, f) in quarters:
        yield f"{x + a:g} {y + b:g} {x + c:g} {y + d:g} {x + e:g} {y + f:g} c"
    yield "h"


def _text(x: float, y: float, words: str, kinds: list[str]) -> str:
    said = plain_text(words)
    x -= text_width(said) * {"end": 1.0, "middle": 0.5}.get(next((k for k in kinds if k in ("end", "middle")), ""), 0.0)
    escaped = said.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    colour, font = _colour("soft" if "soft" in kinds else "ink"), "F1" if "bold" in kinds else "F0"
    return f"BT {colour} rg /{font} {SIZE} Tf 1 0 0 -1 {x:.4g} {y:g} Tm ({escaped}) Tj ET"


def plain_text(words: str) -> str:
    """Keep the signs that Helvetica has; others lose their accents, or stand as ``?``.

    >>> plain_text("Zürich, Plzeň, Москва")
    'Zürich, Plzen, ??????'
    """
    found = []
    for sign in " ".join(unicodedata.normalize("NFC", words).split()):
        bare = "".join(part for part in unicodedata.normalize("NFKD", sign) if not unicodedata.combining(part))
        found.append(next((one for one in (sign, bare) if _has(one)), "?"))
    return "".join(found)


def _has(signs: str) -> bool:
    try:
        return bool(signs.encode("cp1252")) and signs.isprintable()
    except UnicodeEncodeError:
        return False
