"""Label schemes: paths, guessing, and what is said of bad tables."""

import itertools

import numpy as np
import pytest

from composita.corpus.labels import Function, Role, Scheme
from composita.corpus.paths import CLASSES, Automaton, Path
from composita.corpus.rulefiles import built_in
from composita.store.errors import UsageError


def test_functions_begin_with_the_roles():
    assert [f.name for f in Function][: len(Role)] == [r.name for r in Role]


@pytest.mark.parametrize("name", sorted(built_in("schemes")))
def test_tables_hold_together(name):
    scheme = Scheme.load(name)
    assert Scheme.from_table(scheme.to_table()) == scheme
    assert not set(scheme.relations) & set(scheme.others)


@pytest.mark.parametrize(
    ("text", "governor", "steps", "marker"),
    [
        ("obj", 8, [(("obj",), 8, 2)], 0),
        ("prep > pobj", 8, [(("prep",), 8, 2), (("pobj",), 8, 2)], 1),
        ("prep > conj@ > pobj", 8, [(("prep",), 8, 2), (("conj",), 8, 2), (("pobj",), 8, 2)], 1),
        ("prep > prep > pobj", 8, [(("prep",), 8, 2), (("prep",), 8, 2), (("pobj",), 8, 2)], 2),
        ("[nominal] > NMOD[adjective before]", 3, [(("NMOD",), 1, 1)], 0),
        ("ADV|LOC[!verb !auxiliary]", 8, [(("ADV", "LOC"), 6, 2)], 0),
        ("nsubj:pass", 8, [(("nsubj:pass",), 8, 2)], 0),
    ],
)
def test_paths(text, governor, steps, marker):
    path = Path.parse(text)
    assert len(path.governor) == governor
    assert [(s.relations, len(s.classes), len(s.sides)) for s in path.steps] == steps
    assert path.marker == marker


@pytest.mark.parametrize("text", ["", "a >", "[noun]", "a > [noun]", "a > b > c > d > e", "a b", "a[noun", "a[nouns]"])
def test_bad_paths(text):
    with pytest.raises(ValueError, match=r"in path|expected"):
        Path.parse(text)


def test_automaton_agrees_with_paths():
    """Every chain of up to three relations: the longest path that fits, then the first."""
    rules = [
        (1, "a"),
        (2, "b > a"),
        (3, "[verb] > b > a"),
        (4, "a[noun]"),
        (5, "a > b > a"),
        (6, "[!noun] > b[verb after]"),
    ]
    parsed = [(code, Path.parse(text)) for code, text in rules]
    automaton = Automaton.build(parsed, ["a", "b"])
    kinds = (0, 1, 3)
    for length in (1, 2, 3):
        for chain in itertools.product(itertools.product((0, 1, 2), kinds, (0, 1)), repeat=length):
            for top in kinds:
                assert follow(automaton, chain, top) == fitting(parsed, chain, top)


def follow(automaton, chain, top):
    """Read a chain (relation, class, side) from the word up, and give what the last accepting state found."""
    state, found = 0, 0
    for place, (relation, kind, side) in enumerate(chain):
        state = automaton.step[state, (relation * CLASSES + kind) * 2 + side]
        if state < 0:
            break
        governor = chain[place + 1][1] if place + 1 < len(chain) else top
        found = automaton.accept[state, governor] or found
    return found


def fitting(rules, chain, top):
    best = (0, 0)
    for code, path in rules:
        size = len(path.steps)
        if size > len(chain):
            continue
        governor = chain[size][1] if size < len(chain) else top
        fits = governor in path.governor and all(
            "_ab"[relation] in step.relations and kind in step.classes and side in step.sides
            for step, (relation, kind, side) in zip(reversed(path.steps), chain, strict=False)
        )
        if fits and size > best[0]:
            best = size, code
    return best[1]


def test_numbers():
    scheme = Scheme.load("ud")
    numbers = scheme.numbers(["nsubj", "nsubj:caus", "obl:unmarked", "punct", "oops", "nsubj:pass"])
    assert numbers.dtype == np.int32
    assert numbers[0] == numbers[1] > 0
    assert not numbers[2:5].any()
    assert numbers[5] not in (0, numbers[0])


@pytest.mark.parametrize(
    ("counts", "name"),
    [
        ({"nsubj": 2, "obj": 1, "case": 2, "obl": 2, "obl:odd": 1, "root": 1}, "ud"),
        ({"nsubj": 2, "dobj": 1, "prep": 2, "pobj": 2, "det": 3, "ROOT": 1}, "clear"),
        ({"SBJ": 2, "OBJ": 1, "NMOD": 5, "PMOD": 2, "ROOT": 1}, "malt"),
        ({"nsubj": 2, "amod": 1}, "ud"),  # a tie
    ],
)
def test_guess(counts, name):
    assert Scheme.guess(counts).name == name


def test_guess_fails():
    with pytest.raises(UsageError, match=r"ud, knows 50%.*'subj' \(2\).*--labels.*ud, clear, malt"):
        Scheme.guess({"subj": 2, "det": 2})


OWN = """
name = "own"
[paths]
subject = ["subj"]
object = ["obj", "pp > comp"]
[rules]
copula = false
[words]
be = ["sein"]
"""


def test_own_table(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN, encoding="utf-8")
    scheme = Scheme.load(path)
    assert scheme.rules == frozenset()
    assert scheme.paths["object"] == ("obj", "pp > comp")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("subject =", "subjekt =", r"own.toml: unknown key 'paths.subjekt'; allowed are subject, object"),
        ("copula", "cop", r"own.toml: unknown key 'rules.cop'; allowed are passive_chain"),
        ("false", '"no"', r"own.toml: 'rules.copula' is 'no', expected true or false"),
        ("be =", "bee =", r"own.toml: unknown key 'words.bee'; allowed are be, agent"),
        (
            "pp > comp",
            "pp[x] > comp",
            r"own.toml: 'paths.object': 'x' in path 'pp\[x\] > comp'; allowed in brackets",
        ),
        ("[paths]", "[path]", r"own.toml: unknown key 'path'; allowed are name, subtypes, paths"),
        ("name =", "nam =", r"own.toml: unknown key 'nam'"),
    ],
)
def test_bad_table(tmp_path, old, new, message):
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        Scheme.load(path)


def test_empty_table():
    with pytest.raises(UsageError, match="expected paths under"):
        Scheme.from_table({"name": "x"})
