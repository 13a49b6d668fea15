"""Parsers that users may have, behind one method: text in, CoNLL-U out."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from composita.corpus.parsing.chunks import paragraphs
from composita.corpus.parsing.conversion import from_spacy, from_stanza, from_udpipe
from composita.store.errors import InputError, MissingExtraError, UsageError


class Parser(Protocol):
    """Tokenises, tags, lemmatises and parses."""

    def parse(self, text: str) -> str:
        """Give the sentences of cleaned text in CoNLL-U, without their ids."""
        ...


def load_parser(parser: str, model: str) -> Parser:
    """Load a parser with its model.

    >>> load_parser("maltparser", "english.mco")
    Traceback (most recent call last):
        ...
    composita.store.errors.UsageError: unknown parser 'maltparser': expected one of udpipe, spacy, stanza
    """
    return _loader(parser)(model)


@lru_cache(maxsize=1)
def cached_parser(parser: str, model: str) -> Parser:
    """Load a parser unless this process has it already: models take seconds to load."""
    return load_parser(parser, model)


def check_parser(parser: str, model: str) -> None:
    """Raise an error where a parser cannot be had, before any worker is started."""
    _loader(parser)
    if parser == "udpipe":
        check_udpipe_model(model)
    else:
        cached_parser(parser, model)


def _loader(parser: str) -> Callable[[str], Parser]:
    if parser not in PARSERS:
        raise UsageError(f"unknown parser {parser!r}: expected one of {', '.join(PARSERS)}")
    return PARSERS[parser]


# UDPipe


class UdpipeParser:
    """UDPipe 1 with a model file."""

    def __init__(self, model: str) -> None:
        udpipe = _import_udpipe()
        _check_udpipe_head(model)
        self._model = udpipe.Model.load(model)
        if self._model is None:
            raise _bad_udpipe_model(model)
        options = ("tokenizer=normalized_spaces", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.DEFAULT, "conllu")
        self._pipeline = udpipe.Pipeline(self._model, *options)
        self._new_error = udpipe.ProcessingError

    def parse(self, text: str) -> str:
        """Parse a text with all its paragraphs."""
        error = self._new_error()
        conllu = self._pipeline.process(text, error)
        if error.occurred():
            raise InputError(f"UDPipe cannot parse with this model: {' '.join(error.message.split())}")
        return from_udpipe(conllu)


def _import_udpipe() -> Any:  # noqa: ANN401 - the module has no types
    try:
        with warnings.catch_warnings():
            # The types that SWIG generates lack an attribute that newer Pythons ask for.
            warnings.filterwarnings("ignore", "builtin type .* has no __module__", DeprecationWarning)
            import ufal.udpipe
    except ImportError:
        raise MissingExtraError("parsing with UDPipe", package="ufal.udpipe", extra="parse") from None
    return ufal.udpipe


_UDPIPE_HEAD = b"\x12morphodita_parsito"


def _bad_udpipe_model(model: str) -> InputError:
    return InputError(
        "expected a model of UDPipe 1, but the file is none or is damaged: download it again", source=model
    )


def _check_udpipe_head(model: str) -> None:
    try:
        with Path(model).open("rb") as file:
            head = file.read(len(_UDPIPE_HEAD))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"cannot read this model of UDPipe ({reason}): expected a file", source=model) from None
    if head != _UDPIPE_HEAD:
        raise _bad_udpipe_model(model)


def check_udpipe_model(model: str) -> None:
    """Try to load a model in a process of its own: a damaged file can end the process that loads it."""
    _import_udpipe()
    _check_udpipe_head(model)
    status = Path(model).stat()
    if not _loads_in_udpipe(str(Path(model).resolve()), status.st_size, status.st_mtime_ns):
        raise _bad_udpipe_model(model)


@lru_cache
def _loads_in_udpipe(model: str, size: int, modified: int) -> bool:  # the last two tell a replaced file
    code = "import sys, ufal.udpipe; sys.exit(ufal.udpipe.Model.load(sys.argv[1]) is None)"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, model],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    return run.returncode == 0


# spaCy


class SpacyParser:
    """spaCy with an installed pipeline or a folder that has one."""

    def __init__(self, model: str) -> None:
        try:
            import spacy
        except ImportError:
            raise MissingExtraError("parsing with spaCy", package="spacy", extra="spacy") from None
        try:
            self._pipeline = spacy.load(model, exclude=["ner"])
        except (OSError, ValueError, ImportError) as error:
            raise _cannot_load(
                "spaCy", model, error, "a folder, or a name installed by python -m spacy download NAME"
            ) from None

    def parse(self, text: str) -> str:
        """Parse paragraph by paragraph, so that no sentence goes beyond one."""
        sentences = []
        for doc in self._pipeline.pipe(paragraphs(text)):
            if not doc.has_annotation("DEP"):
                raise InputError("this pipeline of spaCy has no dependency parser: choose one that has")
            sentences.append(from_spacy(doc))
        return "".join(sentences)


# Stanza


class StanzaParser:
    """Stanza with models that are on this machine: ``en``, or a folder ``.../stanza_resources/en``."""

    def __init__(self, model: str) -> None:
        try:
            import stanza

            torch = import_module("torch")
        except ImportError:
            raise MissingExtraError("parsing with Stanza", package="stanza", extra="stanza") from None
        # Sums have one order, and several workers do not fight for the cores.
        torch.set_num_threads(1)
        path = Path(model)
        place = {"dir": str(path.parent)} if path.is_dir() else {}
        try:
            self._pipeline = stanza.Pipeline(
                path.name,
                **place,
                processors="tokenize,mwt,pos,lemma,depparse",
                download_method=None,
                verbose=False,
            )
        except Exception as error:  # its loading raises whatever the model's parts raise
            advice = "a folder of Stanza's, or a language fetched by stanza.download(LANGUAGE)"
            raise _cannot_load("Stanza", model, error, advice) from None

    def parse(self, text: str) -> str:
        """Parse a text; Stanza itself ends sentences at blank lines."""
        return from_stanza(self._pipeline("\n\n".join(paragraphs(text))))


def _cannot_load(parser: str, model: str, error: Exception, expected: str) -> InputError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return InputError(f"{parser} cannot load this model ({reason}): expected {expected}", source=model)


PARSERS: dict[str, Callable[[str], Parser]] = {
    "udpipe": UdpipeParser,
    "spacy": SpacyParser,
    "stanza": StanzaParser,
}
"""The parsers by name."""
