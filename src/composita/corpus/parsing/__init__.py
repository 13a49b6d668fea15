"""Raw text to CoNLL-U, by parsers that users have: UDPipe, spaCy or Stanza."""

from composita.corpus.parsing.chunks import CHUNK_BYTES
from composita.corpus.parsing.conversion import Parsed
from composita.corpus.parsing.parsers import PARSERS, Parser, check_parser, load_parser
from composita.corpus.parsing.run import parse_text, parsed_blocks, parsed_chunks

__all__ = [
    "CHUNK_BYTES",
    "PARSERS",
    "Parsed",
    "Parser",
    "check_parser",
    "load_parser",
    "parse_text",
    "parsed_blocks",
    "parsed_chunks",
]
