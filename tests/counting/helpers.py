"""Counts as dictionaries, and corpora made of sentences."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from composita.corpus.columns import Tokens
from composita.corpus.corpus import Corpus, Shard
from composita.corpus.labels import Scheme
from composita.corpus.tags import Tagset
from composita.counting.contexts import Context
from composita.counting.counts import Counts
from composita.counting.job import Job, Switches
from composita.counting.labels import Names, column_labels
from composita.counting.patterns import load_patterns
from composita.counting.slices import count_sentences
from composita.counting.vocabulary import Choice, Vocabulary
from composita.counting.words import order_of


def vocabulary(core, others, contexts, **choice):
    words = sorted({*core, *others}, key=order_of)
    columns = sorted(set(contexts), key=order_of)
    return Vocabulary(
        tuple(words),
        (1,) * len(words),
        tuple(w in core for w in words),
        tuple(columns),
        (1,) * len(columns),
        Choice(**choice),
    )


def count_directly(
    sentences, scheme, tagset, words, patterns="", heads=None, context="sentence", no_object=False, **switches
):
    """Count sentences without a corpus on disk, as the oracle does."""
    chosen = load_patterns(patterns, sv_without_object=no_object)
    job = Job(words, chosen, heads, Context.parse(context), Switches(**switches), True, 1, "")
    tokens = Tokens.from_sentences(sentences)
    shard = Shard(Path("none"), len(sentences), len(tokens), Scheme.load(scheme), Tagset.load(tagset))
    part = count_sentences(job, shard, tokens)
    names = Names(words.words, chosen, part.joints)
    columns = column_labels(part.column_keys, words.contexts, part.joints) if len(part.column_keys) else words.contexts
    return as_dictionaries(
        names, columns, part.upper, part.lower, part.frequency, part.ends, part.columns, part.values, job.context.unit
    )


def as_dictionaries(names, columns, upper, lower, frequency, ends, indices, values, unit):
    patterns = ["word", *(p.name for p in names.patterns)]
    items = [(patterns[u >> 57], label) for u, label in zip(upper.tolist(), names.labels(upper, lower), strict=True)]
    assert len(set(items)) == len(items)
    cells, start = {}, 0
    for item, end in zip(items, ends.tolist(), strict=True):
        assert (indices[start + 1 : end] > indices[start : end - 1]).all() if end > start else True
        row = zip(indices[start:end].tolist(), values[start:end].tolist(), strict=True)
        cells[item] = {columns[i]: Fraction(v, unit) for i, v in row}
        start = end
    return {i: row for i, row in cells.items() if row}, {
        i: n for i, n in zip(items, frequency.tolist(), strict=True) if n
    }


def dictionaries(counts: Counts):
    m = counts.matrix()
    return as_dictionaries(
        counts.names,
        counts.columns,
        counts.upper,
        counts.lower,
        counts.frequency,
        m.indptr[1:],
        m.indices,
        m.data,
        counts.unit,
    )


def conllu(sentences):
    blocks = []
    for sentence in sentences:
        rows = [
            "\t".join([str(i), form, lemma, upos, xpos, "_", str(head), relation, "_", "_"])
            for i, (form, lemma, upos, xpos, head, relation) in enumerate(sentence, 1)
        ]
        blocks.append("\n".join(rows) + "\n\n")
    return "".join(blocks)


def make_corpus(folder: Path, *files, labels="clear", tags="upos", name="corpus"):
    """Encode lists of sentences, a file each."""
    sources = []
    for number, sentences in enumerate(files):
        sources.append(folder / f"{name}-{number}.conllu")
        sources[-1].write_text(conllu(sentences), encoding="utf-8")
    return Corpus.build(sources, folder / name, labels=labels, tags=tags, force=True)
