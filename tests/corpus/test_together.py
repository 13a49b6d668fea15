"""Sentences with a phrase, against a search through all links of all sentences."""

import pytest

from composita import Corpus
from composita.cli.main import main
from composita.corpus.synthetic import write_synthetic
from composita.corpus.tags import LETTERS
from composita.store.errors import CancelledError, UsageError
from composita.store.progress import Cancellation


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    for seed in (1, 2):
        write_synthetic(folder / f"{seed}.conllu", 3000, seed)
        Corpus.build([folder / f"{seed}.conllu"], folder / "corpus")
    return Corpus.open(folder / "corpus")


def all_pairs(corpus):
    """Give every (shard, sentence, head's place, head, argument's place, argument) that is linked, both ways."""
    for shard in corpus.shards():
        tokens = shard.load()
        letters = [LETTERS[kind] for kind in shard.classes(tokens)]
        lemmas = [lemma.lower() for lemma in tokens.lemma.strings()]
        starts = tokens.starts.tolist()
        sentence_of = [n for n in range(len(starts) - 1) for _ in range(starts[n], starts[n + 1])]
        for link in shard.roles(tokens).links():
            for a, b in ((link.predicate, link.argument), (link.argument, link.predicate)):
                if letters[a] and letters[b]:
                    number = sentence_of[a]
                    yield (
                        shard.path.name, number, a - starts[number], f"{lemmas[a]}-{letters[a]}",
                        f"{lemmas[b]}-{letters[b]}",
                    )  # fmt: skip


def test_everything_that_is_linked_is_found(corpus):
    pairs = list(all_pairs(corpus))
    for _, _, _, head, argument in pairs[:: len(pairs) // 25]:
        expected = sorted({(s, n, h) for s, n, h, a, b in pairs if (a, b) == (head, argument)})
        found = sorted((t.shard, t.sentence, t.head) for t in corpus.together(head, [argument], limit=None))
        assert found == expected


def test_two_arguments_are_two_words(corpus):
    by_head = {}
    for shard, number, place, head, argument in all_pairs(corpus):
        by_head.setdefault((shard, number, place, head), []).append(argument)
    (_, _, _, head), arguments = next((k, v) for k, v in by_head.items() if k[3].endswith("v") and len(set(v)) > 1)
    first, second = sorted(set(arguments))[:2]
    (found, *_) = corpus.together(head, [first, second])
    assert len({found.head, *found.arguments}) == 3
    assert str(found).count("[") == 2
    assert len(list(corpus.together(head, [first], limit=1))) == 1


def test_nothing_and_nonsense(corpus):
    assert list(corpus.together("nowhere-v", ["dog-n"])) == []
    with pytest.raises(UsageError, match="such as chase-v"):
        list(corpus.together("chase", ["dog-n"]))
    stop = Cancellation()
    stop.cancel()
    with pytest.raises(CancelledError):
        list(corpus.together("nowhere-v", ["dog-n"], cancel=stop))


def test_the_command(corpus, capsys):
    _, _, _, head, argument = next(p for p in all_pairs(corpus) if p[3].endswith("v"))
    assert main(["sentences", str(corpus.path), "--phrase", f"{head}({argument})", "-n", "2"]) == 0
    assert "*" in capsys.readouterr().out
    for wrong in (["--phrase", "dog-n"], ["--phrase", "a-v(b-n)", "--lemma", "x"], ["--phrase", "a-v(b-a(c-n))"]):
        assert main(["sentences", str(corpus.path), *wrong]) == 2
