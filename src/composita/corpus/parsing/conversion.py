"""What parsers return, as CoNLL-U: sentences of `Word`, written and numbered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NamedTuple

from composita.corpus.parsing.chunks import Chunk, clean

SUFFIXES = (".bz2", ".gz", ".text", ".txt", ".xz", ".zst")


class Word(NamedTuple):
    """One line of CoNLL-U; ``number`` is an id or a range of ids."""

    number: str
    form: str
    lemma: str = ""
    upos: str = ""
    xpos: str = ""
    feats: str = ""
    head: str = ""
    relation: str = ""
    misc: str = ""


def field(text: str | None) -> str:
    r"""Write a value as a field: no white space but single spaces, and an underscore for nothing.

    >>> field("New\tYork"), field(None), field(" ")
    ('New York', '_', '_')
    """
    return " ".join((text or "").split()) or "_"


def write_sentence(words: Iterable[Word], text: str, *, opens_paragraph: bool = False) -> str:
    """Write a sentence in CoNLL-U, with its text as a comment.

    >>> word = Word("1", "Go", "go", "VERB", "VB", "", "0", "root", "SpaceAfter=No")
    >>> print(write_sentence([word], "Go"), end="")
    # text = Go
    1	Go	go	VERB	VB	_	0	root	_	SpaceAfter=No
    <BLANKLINE>
    """
    lines = ["# newpar"] if opens_paragraph else []
    lines.append(f"# text = {field(text)}")
    for word in words:
        *fields, misc = map(field, word)
        lines.append("\t".join([*fields, "_", misc]))
    return "\n".join(lines) + "\n\n"


def from_spacy(doc: Any) -> str:  # noqa: ANN401 - a spacy.tokens.Doc, whose package may be absent
    """Write the sentences of a spaCy ``Doc``, a paragraph, in CoNLL-U, with the labels that the model has.

    Tokens of white space alone are left out, and what depended on one is given to the next word upwards.
    Where that leaves several roots, the first is the root and the others depend on it.
    """
    sentences: list[str] = []
    for sentence in doc.sents:
        tokens = [token for token in sentence if not token.is_space]
        place = {token.i: number for number, token in enumerate(tokens, 1)}
        words = []
        heads = [_head(token, place) for token in tokens]
        root = heads.index(0) + 1 if 0 in heads else 0
        for token, head in zip(tokens, heads, strict=True):
            number = place[token.i]
            if number == root:
                relation = "root"
            else:
                head = head or root
                relation = "dep" if token.dep_ in ("", "ROOT") else token.dep_
            space = "" if token.whitespace_ else "SpaceAfter=No"
            morph = str(token.morph)
            words.append(
                Word(str(number), token.text, token.lemma_ or token.text, token.pos_, token.tag_, morph,
                     str(head), relation, space)
            )  # fmt: skip
        if words:
            sentences.append(write_sentence(words, sentence.text, opens_paragraph=not sentences))
    return "".join(sentences)


def _head(token: Any, place: dict[int, int]) -> int:  # noqa: ANN401 - a spacy.tokens.Token
    """Find the number of a token's head in its sentence, 0 where there is none."""
    head = token.head
    while head.is_space and head.head.i != head.i:
        head = head.head
    return 0 if head.i == token.i else place.get(head.i, 0)


def from_stanza(document: Any) -> str:  # noqa: ANN401 - a stanza Document, whose package may be absent
    """Write the sentences of a Stanza ``Document`` in CoNLL-U, with ranges for tokens of several words."""
    sentences = []
    for sentence in document.sentences:
        words = []
        for token in sentence.tokens:
            space = "SpaceAfter=No" if token.spaces_after == "" else ""
            several = len(token.words) > 1
            if several:
                words.append(Word("-".join(str(end) for end in (token.id[0], token.id[-1])), token.text, misc=space))
            words += [
                Word(str(w.id), w.text, w.lemma or w.text, w.upos, w.xpos, w.feats, str(w.head), w.deprel,
                     "" if several else space)
                for w in token.words
            ]  # fmt: skip
        sentences.append(write_sentence(words, sentence.text))
    return "".join(sentences)


def from_udpipe(conllu: str) -> str:
    """Clean what UDPipe writes: it lets some kinds of white space into words."""
    sentences = []
    for block in conllu.split("\n\n"):
        lines = block.strip("\n").split("\n")
        comments = [line for line in lines if line.startswith("# ")]
        rows = [line.split("\t") for line in lines if line[:1].isdigit()]
        words = [Word._make([*row[:8], row[9]]) for row in rows]
        if words:
            text = next((line[9:] for line in comments if line.startswith("# text = ")), "")
            sentences.append(write_sentence(words, text, opens_paragraph="# newpar" in comments))
    return "".join(sentences)


@dataclass(frozen=True)
class Parsed:
    """How much was parsed."""

    sentences: int = 0
    tokens: int = 0
    chunks: int = 0

    def __add__(self, other: Parsed) -> Parsed:
        return Parsed(self.sentences + other.sentences, self.tokens + other.tokens, self.chunks + other.chunks)


_WORD_LINES = re.compile(r"^\d+\t", re.MULTILINE)


def number_sentences(conllu: str, chunk: Chunk) -> tuple[str, Parsed]:
    r"""Put the number of the chunk and of the sentence in front of each sentence, and count.

    >>> chunk = Chunk(12, "texts/my dogs.txt", "Go!", 3, True, False)
    >>> print(number_sentences("# newpar\n# text = Go!\n1\tGo!\n\n", chunk)[0])
    # newdoc id = my_dogs
    # sent_id = my_dogs-000012-1
    # text = Go!
    1	Go!
    <BLANKLINE>
    <BLANKLINE>
    """
    name = source_name(chunk.source)
    sentences = [block for block in conllu.split("\n\n") if block]
    if not chunk.opens_paragraph and sentences:
        sentences[0] = sentences[0].removeprefix("# newpar\n")
    heads = [f"# sent_id = {name}-{chunk.number:06d}-{i}\n" for i in range(1, len(sentences) + 1)]
    if chunk.opens_source and heads:
        heads[0] = f"# newdoc id = {name}\n{heads[0]}"
    numbered = "".join(f"{head}{block}\n\n" for head, block in zip(heads, sentences, strict=True))
    return numbered, Parsed(len(sentences), len(_WORD_LINES.findall(conllu)), 1)


def source_name(source: str) -> str:
    """Make a name for the sentences of a file: without folder, usual suffixes and spaces.

    >>> source_name("a/b/my text.v2.txt.gz"), source_name("-")
    ('my_text.v2', '-')
    """
    path = PurePath(source)
    while path.suffix in SUFFIXES:
        path = path.with_suffix("")
    # Names of files may hold bytes that are no characters.
    name = path.name.encode(errors="replace").decode()
    return "_".join(clean(name).split()) or "text"
