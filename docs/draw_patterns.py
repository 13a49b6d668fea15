"""Draws patterns.svg, what each built-in pattern finds in a dependency tree: python docs/draw_patterns.py.

The table below is also counted in the tests, so that the picture shows what is really found.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

# Pattern; words as form/lemma/UPOS/Penn tag/head/UD relation; the phrase; how it is displayed.
EXAMPLES = [
    ("svo", "dogs/dog/NOUN/NNS/2/nsubj chase/chase/VERB/VBP/0/root cats/cat/NOUN/NNS/2/obj",
     "chase-v(cat-n, dog-n)", "dog chase cat"),
    ("svo", "cats/cat/NOUN/NNS/3/nsubj:pass are/be/AUX/VBP/3/aux:pass chased/chase/VERB/VBN/0/root by/by/ADP/IN/5/case "
     "dogs/dog/NOUN/NNS/3/obl:agent", "chase-v(cat-n, dog-n)", "dog chase cat"),
    ("svo", "dogs/dog/NOUN/NNS/0/root that/that/PRON/WDT/3/nsubj chase/chase/VERB/VBP/1/acl:relcl "
     "cats/cat/NOUN/NNS/3/obj", "chase-v(cat-n, dog-n)", "dog chase cat"),
    ("sv", "dogs/dog/NOUN/NNS/2/nsubj bark/bark/VERB/VBP/0/root loudly/loudly/ADV/RB/2/advmod",
     "bark-v(dog-n)", "dog bark"),
    ("vo", "feed/feed/VERB/VB/0/root the/the/DET/DT/3/det cats/cat/NOUN/NNS/1/obj", "feed-v(cat-n)", "feed cat"),
    ("an", "very/very/ADV/RB/2/advmod furry/furry/ADJ/JJ/3/amod cats/cat/NOUN/NNS/0/root",
     "furry-a(cat-n)", "furry cat"),
    ("nn", "a/a/DET/DT/3/det guard/guard/NOUN/NN/3/compound dog/dog/NOUN/NN/0/root", "guard-n(dog-n)", "guard dog"),
    ("svoo", "boys/boy/NOUN/NNS/2/nsubj give/give/VERB/VBP/0/root girls/girl/NOUN/NNS/2/iobj books/book/NOUN/NNS/2/obj",
     "give-v(book-n, girl-n, boy-n)", "boy give girl book"),
    ("svpo", "dogs/dog/NOUN/NNS/2/nsubj live/live/VERB/VBP/0/root in/in/ADP/IN/4/case houses/house/NOUN/NNS/2/obl",
     "live_in-v(house-n, dog-n)", "dog live in house"),
]  # fmt: skip

COLUMNS, WIDTH, HEIGHT = 3, 440, 190
HEAD, ARGUMENT, PLAIN = "#b3261e", "#1a5fb4", "#777777"


def read(text: str) -> list[tuple[str, str, str, str, int, str]]:
    """Read the words of an example, as `Tokens.from_sentences` takes them."""
    rows = [word.split("/") for word in text.split()]
    return [(form, lemma, upos, xpos, int(head), relation) for form, lemma, upos, xpos, head, relation in rows]


def draw_example(example: tuple[str, str, str, str], x: float, y: float) -> list[str]:
    """Draw one tree with its phrase below."""
    pattern, text, label, shown = example
    words = read(text)
    step = (WIDTH - 40) / len(words)
    centres = [x + 20 + step * (place + 0.5) for place in range(len(words))]
    inside = label[:-1].split("(")
    arguments, head = set(inside[1].split(", ")), inside[0].split("_")[0].split("-")[0]
    parts = [f'<text x="{x + 20:.0f}" y="{y + 22:.0f}" class="name">{pattern}</text>']
    for place, (form, lemma, upos, _, up, relation) in enumerate(words):
        colour = HEAD if lemma == head else ARGUMENT if any(a[:-2] == lemma for a in arguments) else PLAIN
        colour = HEAD if f"_{lemma}-" in inside[0] else colour
        parts.append(
            f'<text x="{centres[place]:.0f}" y="{y + 130:.0f}" fill="{colour}" class="word">{escape(form)}</text>'
        )
        if up:
            taken = HEAD if {colour} <= {HEAD, ARGUMENT} and upos != "PRON" else PLAIN
            parts += draw_arc(centres[up - 1], centres[place], y + 112, relation, taken)
    parts.append(f'<text x="{x + WIDTH / 2:.0f}" y="{y + 156:.0f}" class="label">{escape(label)}</text>')
    parts.append(f'<text x="{x + WIDTH / 2:.0f}" y="{y + 174:.0f}" class="shown">{escape(shown)}</text>')
    return parts


def draw_arc(start: float, end: float, base: float, relation: str, colour: str) -> list[str]:
    """Draw an arrow from a governor to a dependent, with the relation on it."""
    height = 22 + 0.13 * abs(end - start)
    aim = end + (8 if start > end else -8) * 0.5
    bend = base - height * 1.3
    path = f"M{start:.0f},{base:.0f} C{start:.0f},{bend:.0f} {aim:.0f},{bend:.0f} {aim:.0f},{base:.0f}"
    middle, top = (start + end) / 2, base - height - 3
    return [
        f'<path d="{path}" stroke="{colour}" marker-end="url(#tip)"/>',
        f'<text x="{middle:.0f}" y="{top:.0f}" fill="{colour}" class="relation">{escape(relation)}</text>',
    ]


def draw() -> str:
    """Draw all examples in a grid."""
    rows = -(-len(EXAMPLES) // COLUMNS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * WIDTH} {rows * HEIGHT}" '
        'font-family="sans-serif">',
        "<title>What the built-in patterns find in dependency trees</title>",
        "<style>path{fill:none;stroke-width:1.4}text{text-anchor:middle}.word{font-size:17px}"
        ".name{font-size:16px;font-weight:bold;text-anchor:start;fill:#333}.relation{font-size:11px}"
        ".label{font-size:14px;font-family:monospace;fill:#222}.shown{font-size:13px;font-style:italic;fill:#555}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" style="fill:#777;stroke:none"/></marker></defs>',
        f'<rect width="{COLUMNS * WIDTH}" height="{rows * HEIGHT}" fill="#ffffff"/>',
    ]
    for number, example in enumerate(EXAMPLES):
        parts += draw_example(example, number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT)
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    Path(__file__).with_name("patterns.svg").write_text(draw(), encoding="utf-8")
