"""Compositional distributional semantics: from a parsed corpus to the meaning of sentences."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from composita.corpus.corpus import Corpus
    from composita.counting.count import count, count_phrases
    from composita.counting.counts import Counts
    from composita.counting.vocabulary import Vocabulary
    from composita.evaluation.benchmarks import Benchmark
    from composita.evaluation.scoring import evaluate
    from composita.experiment.config import Experiment
    from composita.functions.function import Function
    from composita.functions.learn import learn
    from composita.functions.lexicon import Lexicon
    from composita.functions.multistep import MultiStep
    from composita.functions.onestep import OneStep
    from composita.functions.ridge import ridge
    from composita.grammar.grammar import Grammar
    from composita.spaces.space import Space
    from composita.store.errors import CompositaError

__all__ = [
    "Benchmark",
    "CompositaError",
    "Corpus",
    "Counts",
    "Experiment",
    "Function",
    "Grammar",
    "Lexicon",
    "MultiStep",
    "OneStep",
    "Space",
    "Vocabulary",
    "__version__",
    "count",
    "count_phrases",
    "evaluate",
    "learn",
    "ridge",
]

__version__ = "0.1.0"

# Public names are found where they are made when they are first asked for, so that ``import composita`` is quick and
# loads no library that the task at hand does not need.
_HOMES = {
    "Benchmark": "composita.evaluation.benchmarks",
    "CompositaError": "composita.store.errors",
    "Corpus": "composita.corpus.corpus",
    "Counts": "composita.counting.counts",
    "Experiment": "composita.experiment.config",
    "Function": "composita.functions.function",
    "Grammar": "composita.grammar.grammar",
    "Lexicon": "composita.functions.lexicon",
    "MultiStep": "composita.functions.multistep",
    "OneStep": "composita.functions.onestep",
    "Space": "composita.spaces.space",
    "Vocabulary": "composita.counting.vocabulary",
    "count": "composita.counting.count",
    "count_phrases": "composita.counting.count",
    "evaluate": "composita.evaluation.scoring",
    "learn": "composita.functions.learn",
    "ridge": "composita.functions.ridge",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'composita' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
