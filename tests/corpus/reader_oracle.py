"""A reader of parsed text in plain Python, slow and obvious, written from the formats' descriptions alone."""

import re
import unicodedata

LONGEST_LINE, LONGEST_SENTENCE = 1 << 20, 10_000

CONLL = {"index": 0, "form": 1, "lemma": 2, "upos": 3, "xpos": 4, "head": 6, "relation": 7}
COLUMNS = {
    "conllu": (CONLL, range(10, 11)),
    "conllx": (CONLL, range(8, 11)),
    "wacky": ({"form": 0, "lemma": 1, "xpos": 2, "index": 3, "head": 4, "relation": 5}, range(6, 7)),
}


class BadLineError(Exception):
    pass


def read(text, form):
    """Return the sentences, lists of (form, lemma, upos, xpos, head, relation), and the drops, (line, reason)."""
    sentences, drops = [], []
    rows, fault = [], None
    lines = text.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for number, line in enumerate([*lines, b""], 1):
        line = line.rstrip(b"\r")
        if line == b"" or (form == "wacky" and re.fullmatch(rb"</?(s|text)([ >][^\t]*)?", line)):
            if fault is None and rows:
                fault = check_tree(rows)
            if fault is not None:
                drops.append(fault)
            elif rows:
                sentences.append([row[:-1] for row in rows])
            rows, fault = [], None
        elif fault is None and not (form == "conllu" and line.startswith(b"#")):
            try:
                row = read_token(line, form, len(rows) + 1)
                rows += [(*row, number)] if row else []
            except BadLineError as error:
                fault = number, str(error)
    return sentences, drops


def read_token(line, form, expected):
    where, widths = COLUMNS[form]
    if len(line) > LONGEST_LINE:
        raise BadLineError("line too long")
    fields = line.split(b"\t")
    if len(fields) not in widths:
        raise BadLineError("wrong column count")
    index = fields[where["index"]]
    if not (re.fullmatch(rb"[0-9]{1,7}", index) and int(index) == expected):
        if form == "conllu" and re.fullmatch(rb"[0-9]{1,7}[-.][0-9]{1,7}", index):
            return None
        raise BadLineError("token number out of sequence")
    if expected > LONGEST_SENTENCE:
        raise BadLineError("sentence too long")
    head = fields[where["head"]]
    if not re.fullmatch(rb"[0-9]{1,7}", head):
        raise BadLineError("head is not a number")
    strings = {}
    for name in ("form", "lemma", "upos", "xpos", "relation"):
        strings[name] = clean(fields[where[name]]) if name in where else "_"
    return strings["form"], strings["lemma"], strings["upos"], strings["xpos"], int(head), strings["relation"]


def clean(field):
    if not field:
        raise BadLineError("empty field")
    # The first thing wrong counts, so look at one character after the other.
    at = 0
    while at < len(field):
        if field[at] < 0x20 or field[at] == 0x7F:
            raise BadLineError("control character")
        for width in (1, 2, 3, 4):
            try:
                if len(field[at : at + width].decode()) == 1:
                    break
            except UnicodeDecodeError:
                pass
        else:
            raise BadLineError("not valid UTF-8")
        at += width
    return unicodedata.normalize("NFC", field.decode())


def check_tree(rows):
    heads = [row[4] for row in rows]
    for row, head in zip(rows, heads, strict=True):
        if head > len(rows):
            return row[-1], "head out of range"
    if 0 not in heads:
        return rows[0][-1], "no root"
    for row, head in zip(rows, heads, strict=True):
        steps = 0
        while head and steps <= len(rows):
            head, steps = heads[head - 1], steps + 1
        if head:
            return row[-1], "cycle of heads"
    return None
