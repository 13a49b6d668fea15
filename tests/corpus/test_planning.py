"""What sources are: told of each, though most of one folder are alike."""

import pytest

from composita import Corpus
from composita.corpus.planning import make_plan
from composita.store.errors import InputError, UsageError
from tests.corpus.texts import CONLLU, CONLLX, WACKY, sentence

UD = (
    b"1\tCats\tcat\tNOUN\tNNS\t_\t3\tnsubj:pass\t_\t_\n"
    b"2\twere\tbe\tAUX\tVBD\t_\t3\taux:pass\t_\t_\n"
    b"3\tchased\tchase\tVERB\tVBN\t_\t0\troot\t_\t_\n"
    b"4\tby\tby\tADP\tIN\t_\t5\tcase\t_\t_\n"
    b"5\tdogs\tdog\tNOUN\tNNS\t_\t3\tobl:agent\t_\t_\n\n"
)

CLEAR = (
    b"1\tCats\tcat\tNOUN\tNNS\t_\t3\tnsubjpass\t_\t_\n"
    b"2\twere\tbe\tVERB\tVBD\t_\t3\tauxpass\t_\t_\n"
    b"3\tchased\tchase\tVERB\tVBN\t_\t0\troot\t_\t_\n"
    b"4\tby\tby\tADP\tIN\t_\t3\tagent\t_\t_\n"
    b"5\tdogs\tdog\tNOUN\tNNS\t_\t4\tpobj\t_\t_\n\n"
)

LATIN = WACKY.decode().encode("latin-1")
PLAIN = b"<s>\nDogs\tdog\tNNS\t1\t2\tSBJ\nbark\tbark\tVBP\t2\t0\tROOT\n</s>\n"
STRAY = 10 * WACKY + b"<s>\nna\xefve\tnaive\tJJ\t1\t0\tROOT\n</s>\n"


@pytest.fixture
def plan(tmp_path):
    """Plan texts that lie in one folder, with one ending; give the kind of each."""

    def make(*texts, labels="auto", tags="auto", encoding="auto", form="auto"):
        for number, text in enumerate(texts):
            (tmp_path / f"{number}.txt").write_bytes(text)
        made = make_plan([tmp_path / f"{number}.txt" for number in range(len(texts))], form, labels, tags, encoding)
        kinds = {piece.source.name: made.kinds[task.kind] for task in made.tasks for piece in task.pieces}
        return [kinds[f"{number}.txt"] for number in range(len(texts))]

    return make


@pytest.mark.parametrize("texts", [(UD, CLEAR), (CLEAR, UD), (UD, UD, CLEAR, UD), (5 * CLEAR, UD, 5 * CLEAR)])
def test_labels_of_each_source(texts, plan):
    assert [kind.labels for kind in plan(*texts)] == ["clear" if text.startswith(CLEAR) else "ud" for text in texts]


def test_formats_tags_and_encodings_of_each_source(plan):
    kinds = plan(CONLLU, CONLLX, WACKY, LATIN, tags="penn")
    assert [kind.format for kind in kinds] == ["conllu", "conllx", "wacky", "wacky"]
    assert [kind.encoding for kind in kinds] == ["utf-8", "utf-8", "utf-8", "latin-1"]
    tagged = [UD, UD.replace(b"NOUN", b"_").replace(b"VERB", b"_").replace(b"AUX", b"_").replace(b"ADP", b"_")]
    assert [kind.tags for kind in plan(*tagged)] == ["upos", "penn"]


def test_what_can_be_either_is_as_the_others_are(plan):
    either = sentence("Yes")  # any scheme has a root
    assert [kind.labels for kind in plan(CLEAR, either)] == ["clear", "clear"]
    assert [kind.labels for kind in plan(UD, either)] == ["ud", "ud"]
    assert [kind.encoding for kind in plan(LATIN, PLAIN, tags="penn")] == ["latin-1", "latin-1"]
    strange = UD.replace(b"nsubj:pass", b"odd").replace(b"case", b"odder")  # no scheme knows enough of it
    assert {kind.labels for kind in plan(3 * UD, 3 * UD, 3 * UD, 3 * UD, 3 * UD, strange)} == {"ud"}
    garbage = b"this is no parsed text\n"  # which the reader will say, with the line
    assert {kind.format for kind in plan(UD, garbage)} == {"conllu"}


def test_what_is_asked_holds_for_all(plan):
    assert {kind.labels for kind in plan(UD, CLEAR, labels="malt")} == {"malt"}
    assert {kind.format for kind in plan(UD, CONLLX, form="conllx", tags="penn", labels="ud")} == {"conllx"}
    assert {kind.encoding for kind in plan(WACKY, LATIN, encoding="utf-8", tags="penn")} == {"utf-8"}


def test_a_stray_byte_does_not_make_a_text_latin_1(plan):
    assert [kind.encoding for kind in plan(STRAY, tags="penn")] == ["utf-8"]


def test_nobody_can_tell(plan):
    with pytest.raises(UsageError, match=r"cannot tell which label scheme .* pass --labels"):
        plan(UD.replace(b"nsubj:pass", b"odd"), UD.replace(b"case", b"odd"))
    with pytest.raises(InputError, match=r"0.txt:1: this is not a format"):
        plan(b"no parsed text\n", UD)


def test_joined_corpora_say_the_same(tmp_path):
    for name, text in (("a.conllu", UD), ("b.conllu", CLEAR)):
        (tmp_path / name).write_bytes(text)
    corpus = Corpus.build([f"{tmp_path}/*.conllu"], tmp_path / "out")
    found = [str(occurrence) for occurrence in corpus.sentences(lemma="chase", pos="v")]
    assert found == ["[Cats]object were *chased* by [dogs]subject:by"] * 2
