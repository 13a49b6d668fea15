"""Tagsets: classes of real tags, guessing, and what is said of bad tables."""

import pytest

from composita.corpus.rulefiles import built_in
from composita.corpus.tags import LETTERS, Class, Tagset
from composita.store.errors import UsageError

CASES = [
    # tagset, tags, class
    ("upos", "NOUN", Class.NOUN),
    ("upos", "PROPN", Class.PROPER),
    ("upos", "VERB", Class.VERB),
    ("upos", "AUX", Class.AUXILIARY),
    ("upos", "ADJ", Class.ADJECTIVE),
    ("upos", "ADV", Class.ADVERB),
    ("upos", "PRON", Class.PRONOUN),
    ("upos", "DET NUM ADP PUNCT X", Class.OTHER),
    ("penn", "NN NNS", Class.NOUN),
    ("penn", "NNP NNPS", Class.PROPER),
    ("penn", "VB VBD VBG VBN VBP VBZ", Class.VERB),
    ("penn", "MD", Class.AUXILIARY),
    ("penn", "PRP WP", Class.PRONOUN),
    ("penn", "WDT PRP$ WP$ DT RP IN CD NP PP VV", Class.OTHER),
    ("treetagger", "NP NPS", Class.PROPER),
    ("treetagger", "VV VVD VH VHZ VD VDD", Class.VERB),
    ("treetagger", "MD VB VBZ VBN", Class.AUXILIARY),
    ("treetagger", "PP WP", Class.PRONOUN),
    ("treetagger", "PP$ IN/that SENT PRP NNP", Class.OTHER),
    # CLAWS 5
    ("claws", "NN0 NN1 NN2 NN1-VVB", Class.NOUN),
    ("claws", "NP0 NP0-NN1", Class.PROPER),
    ("claws", "VVB VVD VVN VVZ VDB VHN VVD-VVN", Class.VERB),
    ("claws", "VM0 VBB VBZ", Class.AUXILIARY),
    ("claws", "AJ0 AJC AJ0-NN1", Class.ADJECTIVE),
    ("claws", "AV0 AVQ", Class.ADVERB),
    ("claws", "PNP PNI PNQ PNX", Class.PRONOUN),
    ("claws", "PRP PRF AVP DTQ DPS CJT POS XX0 -", Class.OTHER),
    # CLAWS 7
    ("claws", "NN NNT1 NNL2 NN121", Class.NOUN),
    ("claws", "NP1 NPD1", Class.PROPER),
    ("claws", "VV0 VVGK VHD VD0", Class.VERB),
    ("claws", "VM VMK VBDZ VB0", Class.AUXILIARY),
    ("claws", "JJ JJR JK", Class.ADJECTIVE),
    ("claws", "RR RR21 RGQ", Class.ADVERB),
    ("claws", "PPH1 PPHS2 PPIO1 PN1 PNQS", Class.PRONOUN),
    ("claws", "APPGE MD RP II22 CST DD1 MC", Class.OTHER),
]  # fmt: skip


@pytest.mark.parametrize(("name", "tags", "kind"), CASES)
def test_class_of_tags(name, tags, kind):
    codes = Tagset.load(name).classify(tags.split())
    assert codes.dtype == "uint8"
    assert set(codes.tolist()) == {kind}


def test_letters():
    assert "".join(LETTERS[kind] or "." for kind in Class) == ".nnvarp."


@pytest.mark.parametrize("name", sorted(built_in("tagsets")))
def test_tables_hold_together(name):
    tagset = Tagset.load(name)
    assert Tagset.from_table(tagset.to_table()) == tagset
    if tagset.form_column == tagset.column:
        assert None not in map(tagset.lookup, [*tagset.participle, *tagset.gerund, *tagset.relative])


PENN = {"NN": 50, "NNP": 20, "VBD": 10, "DT": 20, "JJ": 10}
TREETAGGER = {"NN": 50, "NP": 20, "VVD": 10, "DT": 20, "JJ": 10, "SENT": 5}
CLAWS = {"NN1": 50, "NP0": 20, "VVD": 10, "AT0": 20, "AJ0": 10, "NN1-VVB": 3}
UPOS = {"NOUN": 50, "PROPN": 20, "VERB": 10, "DET": 20}


@pytest.mark.parametrize(
    ("xpos", "upos", "name"),
    [
        (PENN, UPOS, "upos"),  # a tie: UPOS tells auxiliaries
        (PENN, {}, "penn"),
        (PENN, {"_": 110}, "penn"),
        (TREETAGGER, {"_": 115}, "treetagger"),
        (CLAWS, {}, "claws"),
        ({"ADJA": 10, "VVFIN": 5}, UPOS, "upos"),
        ({**PENN, "ODD": 5}, {}, "penn"),  # 95%
        ({"NN": 5, "DT": 2}, {}, "penn"),  # a tie of Penn and TreeTagger
    ],
)
def test_guess(xpos, upos, name):
    assert Tagset.guess(xpos, upos).name == name


def test_guess_fails():
    with pytest.raises(UsageError, match=r"penn.*knows 84%.*'ODD' \(20\).*--tags"):
        Tagset.guess({**PENN, "ODD": 20}, {})
    with pytest.raises(UsageError, match="none at all"):
        Tagset.guess({}, {"_": 3})


GERMAN = """
name = "stts"
column = "xpos"
participle = ["VVPP"]
[classes]
noun = ["NN"]
verb = ["VV*"]
auxiliary = ["VA*", "VM*"]
"""


def test_own_table(tmp_path):
    path = tmp_path / "stts.toml"
    path.write_text(GERMAN, encoding="utf-8")
    tagset = Tagset.load(path)
    assert tagset.classify(["NN", "VVFIN", "VAFIN", "ADJA"]).tolist() == [1, 3, 7, 0]
    assert tagset.participle == ("VVPP",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("column", "colum", r"stts.toml: unknown key 'colum'; allowed are name, column"),
        ('"xpos"', '"pos"', r"stts.toml: 'column' is 'pos', expected one of upos, xpos"),
        ("noun =", "nouns =", r"stts.toml: unknown key 'classes.nouns'; allowed are other, noun"),
        ('["NN"]', '"NN"', r"stts.toml: 'classes.noun' is 'NN', expected a list"),
        ('["NN"]', '["VV*"]', r"stts.toml: 'classes.verb' has 'VV\*', which is already under 'classes.noun'"),
        ("[classes]", "[classes", r"stts.toml: not a TOML file"),
        ('name = "stts"', "", r"stts.toml: 'name' is '', expected a non-empty string"),
    ],
)
def test_bad_table(tmp_path, old, new, message):
    path = tmp_path / "stts.toml"
    path.write_text(GERMAN.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        Tagset.load(path)


def test_no_such_table(tmp_path):
    with pytest.raises(UsageError, match="--tags pen: expected one of claws, penn, treetagger, upos or a TOML file"):
        Tagset.load("pen")
    with pytest.raises(UsageError, match="expected tags under"):
        Tagset.from_table({"name": "x", "column": "xpos"})
    with pytest.raises(UsageError, match="expected a table"):
        Tagset.from_table({"name": "x", "column": "xpos", "classes": 3})
