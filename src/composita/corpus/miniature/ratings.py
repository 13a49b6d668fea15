"""Benchmarks of the miniature world: simulated annotators rate pairs of phrases by their true similarity, with noise.

The files have the formats of the real ones (GS2011, ML2008, GS2012), so that they are read as those are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from composita.corpus.miniature.planting import FloatArray, Truth, cosine
from composita.corpus.miniature.words import ADJECTIVES, INTRANSITIVE, NOUNS, TRANSITIVE, Verb, topic_numbers

ANNOTATORS, RATERS = 24, 12  # how many there are, and how many of them rate an item
LENIENCE, NOISE = 0.6, 1.6  # standard deviations of an annotator's habit and of one rating, on the scale of 1 to 7
NOUNS_OF_A_SENSE = 6

_HOMES = {pair.split(":")[0]: number for number, line in enumerate(NOUNS.values()) for pair in line.split()}

Row = Callable[[str, int], str]
"""Writes a line, given the annotator and the rating."""


def gs2011(truth: Truth) -> str:
    """Write transitive verbs beside their landmarks, with the same arguments, also the other way round.

    >>> from composita.corpus.miniature.planting import plant
    >>> print(gs2011(plant(seed=0)))
    participant verb subject object landmark input hilo
    participant... charge ...
    """
    random = np.random.default_rng([truth.seed, 3])
    return "participant verb subject object landmark input hilo\n" + _rated(_gs2011(truth, random), random)


def _gs2011(truth: Truth, random: np.random.Generator) -> Iterator[tuple[Row, float]]:
    for name, verb in TRANSITIVE.items():
        for pair in _pairs(verb, random):
            for subject, object_ in (pair, pair[::-1]):
                for landmark, selectors in verb.senses:
                    selecting = subject if verb.selector == "subject" else object_
                    hilo = "HIGH" if _HOMES[selecting] in topic_numbers(selectors) else "LOW"
                    line = f"{name} {subject} {object_} {landmark}"
                    left, right = (truth.compose(f"{v}-v", f"{object_}-n", f"{subject}-n") for v in (name, landmark))
                    yield _writer(f"participant{{who}} {line} {{rating}} {hilo}"), cosine(left, right)


def ml2008(truth: Truth) -> str:
    """Write intransitive verbs beside their landmarks, with the same noun."""
    random = np.random.default_rng([truth.seed, 4])
    return "participant verb noun landmark input hilo\n" + _rated(_ml2008(truth, random), random)


def _ml2008(truth: Truth, random: np.random.Generator) -> Iterator[tuple[Row, float]]:
    for name, verb in INTRANSITIVE.items():
        for noun in (noun for _, selectors in verb.senses for noun in _of_sense(selectors, NOUNS_OF_A_SENSE, random)):
            for landmark, selectors in verb.senses:
                hilo = "high" if _HOMES[noun] in topic_numbers(selectors) else "low"
                left, right = (truth.compose(f"{v}-v", f"{noun}-n") for v in (name, landmark))
                yield _writer(f"participant{{who}} {name} {noun} {landmark} {{rating}} {hilo}"), cosine(left, right)


def gs2012(truth: Truth) -> str:
    """Write transitive verbs beside their landmarks, with arguments that have adjectives."""
    random = np.random.default_rng([truth.seed, 5])
    head = "sentence_id annotator_id adj_subj subj landmark verb adj_obj obj annotator_score\n"
    return head + _rated(_gs2012(truth, random), random)


def _gs2012(truth: Truth, random: np.random.Generator) -> Iterator[tuple[Row, float]]:
    number = 0
    for name, verb in TRANSITIVE.items():
        for subject, object_ in _pairs(verb, random):
            ours, theirs = (ADJECTIVES[i] for i in random.integers(len(ADJECTIVES), size=2))
            for landmark, _ in verb.senses:
                number += 1
                line = f"{ours} {subject} {name} {landmark} {theirs} {object_}"
                meanings = truth.compose(f"{theirs}-a", f"{object_}-n"), truth.compose(f"{ours}-a", f"{subject}-n")
                left, right = (truth.compose(f"{v}-v", *meanings) for v in (name, landmark))
                yield _writer(f"{number} {{who}} {line} {{rating}}"), cosine(left, right)


def _writer(template: str) -> Row:
    return lambda who, rating: template.format(who=who, rating=rating)


def _pairs(verb: Verb, random: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Draw pairs of nouns: of one sense each, so that their order decides which sense is meant, or both of the same."""
    if verb.senses:
        first, second = (_of_sense(selectors, 4, random) for _, selectors in verb.senses)
        yield from zip(first, second, strict=True)
        for _, selectors in verb.senses:
            nouns = _of_sense(selectors, 4, random)
            yield from zip(nouns[:2], nouns[2:], strict=True)


def _of_sense(selectors: str, wanted: int, random: np.random.Generator) -> list[str]:
    """Draw nouns of the topics that select a sense."""
    topics = topic_numbers(selectors)
    nouns = [noun for noun, home in _HOMES.items() if home in topics]
    return [nouns[i] for i in random.permutation(len(nouns))[:wanted]]


def _rated(rows: Iterator[tuple[Row, float]], random: np.random.Generator) -> str:
    """Let annotators rate each row, from 1 to 7, each annotator's ratings together as in the real files."""
    found = list(rows)
    similarity: FloatArray = np.array([s for _, s in found])
    # People use the whole scale for what they are shown, whatever else there may be.
    low, high = np.quantile(similarity, [0.05, 0.95])
    similarity = np.clip((similarity - low) / (high - low), 0, 1)
    lenience = random.normal(0, LENIENCE, ANNOTATORS)
    chosen = np.argsort(random.random((len(found), ANNOTATORS)), axis=1)[:, :RATERS]  # (items, raters)
    noise = random.normal(0, NOISE, chosen.shape)
    ratings = np.clip(np.rint(1 + 6 * similarity[:, None] + lenience[chosen] + noise), 1, 7).astype(int)
    lines = [
        (int(who), place, found[place][0](str(who + 1), int(rating)))
        for place in range(len(found))
        for who, rating in zip(chosen[place], ratings[place], strict=True)
    ]
    return "".join(f"{line}\n" for _, _, line in sorted(lines))
