"""``composita types``."""

import json

import pytest

from composita.cli.main import main


def test_types(capsys):
    assert main(["types", "paper", "--dimensions", "N=300,S=100"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["category", "type", "space", "shape"]
    assert "Vt        N -> N -> S  S⊗N⊗N  100 × 300 × 300  <v>" in lines


def test_json(capsys):
    assert main(["types", "english", "--json", "--dimensions", "50"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["basic"] == ["N", "S"]
    entries = {entry["category"]: entry for entry in found["categories"]}
    assert entries["Vd[f]"] == {
        "category": "Vd[f]", "type": "N -> N -> N -> S", "space": "S⊗N⊗N⊗N", "shape": [50, 50, 50, 50],
        "lexical": True, "words": "<v !*ing> <v *ing>",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nothing"], "no grammar 'nothing': choose paper, english, german, or a file that is there"),
        (["paper", "--dimensions", "N=3"], "no dimension is given for the basic type S"),
        (["paper", "--dimensions", "N=3,N=4"], "once, as in N=300,S=100"),
        (["paper", "--dimensions", "N=3,S=4,M=5"], "'M' is no basic type"),
        (["paper", "--dimensions", "many"], "expected a whole number"),
        (["paper", "--dimensions", "N=,S=2"], "expected dimensions from 1"),
    ],
)
def test_wrong_use(capsys, arguments, reason):
    assert main(["types", *arguments]) == 2
    assert reason in capsys.readouterr().err


def test_a_wrong_file(capsys, tmp_path):
    path = tmp_path / "own.grammar"
    path.write_text("S -> NP VP : VP(NPP)\n")
    assert main(["types", str(path)]) == 1
    assert f"{path}:1: column 17: 'NPP' is unknown in this meaning; did you mean NP" in capsys.readouterr().err
