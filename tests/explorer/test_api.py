"""The JSON interface, asked over HTTP."""

import json
import random
import string
import threading
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest

from composita.composition.model import open_model
from composita.explorer.questions import ENDPOINTS
from composita.functions.lexicon import Lexicon
from tests.explorer.conftest import served


def ask(address, path, **given):
    """Ask and give status and answer."""
    query = urllib.parse.urlencode([(k, v) for k, vs in given.items() for v in (vs if isinstance(vs, list) else [vs])])
    return fetch(f"{address}/{path}?{query}")


def fetch(url, headers=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_about(address):
    status, found = ask(address, "api/about")
    assert status == 200
    assert found["corpus"]
    assert found["experiment"]
    assert {"add", "learned"} <= {method["name"] for method in found["methods"]}
    assert len(found["examples"]) > 2


def test_a_sentence(address, run):
    status, found = ask(address, "api/compose", s="the angry wolf charged the royal castle")
    assert status == 200
    assert found["term"] == "charge-v(royal-a(castle-n))(angry-a(wolf-n))"
    assert found["type"] == "S"
    assert [step["shape"] for step in found["steps"]] == ["16", "16", "16 × 16", "16"]
    assert found["swapped"] == ["the royal castle charged the angry wolf"]
    model = open_model(run)
    vector = model.compose(["the angry wolf charged the royal castle"]).vectors[0]
    near = found["words"][0]
    other = model.space.vector(near["label"])
    assert near["similarity"] == pytest.approx(
        vector @ other / np.linalg.norm(vector) / np.linalg.norm(other), abs=1e-5
    )
    assert [n["similarity"] for n in found["words"]] == sorted((n["similarity"] for n in found["words"]), reverse=True)
    assert found["explanation"][0]["label"].startswith("charge-v(")


def test_each_explanation_leads_to_its_sentences(address):
    _, found = ask(address, "api/compose", s="wolf charged castle")
    part = found["explanation"][0]
    status, lines = ask(address, "api/concordance", phrase=part["label"], n=50)
    assert status == 200
    assert len(lines["lines"]) == part["frequency"]
    roles = [{t["role"] for t in line["tokens"]} for line in lines["lines"]]
    assert all({"head", "argument"} <= role for role in roles)


def test_methods_side_by_side(address):
    status, found = ask(address, "api/compare", s=["wolf charged castle", "castle charged wolf", "chased nonsense xyz"])
    assert status == 200
    assert "xyz" in found["sentences"][2]["error"]
    by_name = {method["name"]: method["matrix"] for method in found["methods"]}
    assert by_name["add"][0][1] == pytest.approx(1)
    assert by_name["one-step"][0][1] < 0.999
    assert by_name["add"][0][2] is None


def test_a_verb(address):
    status, found = ask(address, "api/word", w="charge-v")
    assert status == 200
    assert "charged" in found["forms"]
    assert {function["pattern"] for function in found["functions"]} == {"sv", "svo", "vo"}
    svo = next(function for function in found["functions"] if function["pattern"] == "svo")
    assert [place["name"] for place in svo["arguments"]] == ["object", "subject"]
    assert svo["similar"][0]["similarity"] >= svo["similar"][-1]["similarity"]
    assert len(svo["levels"][0]["curve"]) > 10
    assert found["contexts"][0]["weight"] > 0


def test_a_map_is_that_of_the_vectors(address, run):
    words = ["wolf-n", "castle-n", "hunter-n", "horse-n", "river-n"]
    status, found = ask(address, "api/map", w=words)
    assert status == 200
    rows = np.array([open_model(run).lexicon.argument(w) for w in words], float)
    centred = rows - rows.mean(axis=0)
    sizes = np.linalg.svd(centred, compute_uv=False)
    assert found["explained"] == pytest.approx((sizes[:2] ** 2).sum() / (sizes**2).sum())
    places = np.array([[p["x"], p["y"]] for p in found["points"]])
    assert (places**2).sum() == pytest.approx((sizes[:2] ** 2).sum())


def test_scores_are_those_of_the_run(address, run):
    _, found = ask(address, "api/experiment")
    rows = json.loads((run / "results.json").read_bytes()) if (run / "results.json").exists() else None
    assert {row["method"] for row in found["rows"]} == {"verb", "add", "one-step"}
    if rows is not None:
        assert [r["rho_individual"] for r in found["rows"]] == [r["rho_individual"] for r in rows]
    best = next(r for r in found["rows"] if r["method"] == "one-step" and r["space"] == "svd")
    status, items = ask(address, "api/experiment/items", benchmark=best["benchmark"], method="one-step", space="svd")
    assert status == 200
    assert len(items["items"]) == best["items"]
    assert sum(group["items"] for group in items["groups"]) == best["items"]
    assert ask(address, "api/compare", s=[items["items"][0]["left"], items["items"][0]["right"]])[0] == 200


def test_the_document_covers_every_question(address):
    status, document = ask(address, "openapi.json")
    assert status == 200
    assert set(document["paths"]) == {f"/api/{endpoint.name}" for endpoint in ENDPOINTS}
    assert document["openapi"].startswith("3.1")


@pytest.mark.parametrize(
    ("path", "given", "status", "reason"),
    [
        ("api/compose", {}, 400, "s is missing"),
        ("api/compose", {"s": "xyzzy charged castle"}, 400, "xyzzy"),
        ("api/compose", {"s": "charged"}, 400, ""),
        ("api/compose", {"s": "chase-v(" * 60}, 400, "at most"),
        ("api/compose", {"s": "wolf charged castle", "method": "magic"}, 400, "no method is called"),
        ("api/compose", {"s": "wolf charged castle", "reading": "99"}, 400, "readings"),
        ("api/compose", {"s": "no wolf charged castle"}, 400, "no"),
        ("api/compare", {"s": "wolf charged castle"}, 400, "two"),
        ("api/word", {"w": "chrge-v"}, 400, "did you mean charge-v"),
        ("api/map", {"w": ["wolf-n", "castle-n"]}, 400, "at least three"),
        ("api/map", {"w": ["wolf-n", "castle-n", "hunter-n"], "projection": "tsne"}, 400, "choose pca"),
        ("api/concordance", {"phrase": "charge-v(a-a(b-n))"}, 400, "words as arguments"),
        ("api/concordance", {"phrase": "charge"}, 400, "such as chase-v"),
        ("api/experiment/items", {"benchmark": "x", "method": "y", "space": "z"}, 400, "no predictions"),
        ("api/nothing", {}, 404, "nothing at this address"),
        ("static/../app.py", {}, 404, "nothing"),
        ("static/%2e%2e/app.py", {}, 404, "nothing"),
    ],
)
def test_errors_are_sentences(address, path, given, status, reason):
    found, answer = ask(address, path, **given)
    assert found == status
    assert reason in answer["error"]
    assert "Traceback" not in answer["error"]


def test_hostile_requests_by_the_hundred(address):
    draw = random.Random(7)
    letters = string.printable + "é\u202e\U0001f600<>&\"'\x00"
    for _ in range(150):
        endpoint = draw.choice(ENDPOINTS)
        given = {
            p.name: ["".join(draw.choices(letters, k=draw.randrange(80))) for _ in range(draw.randrange(3))]
            for p in endpoint.parameters
        }
        status, answer = ask(address, f"api/{endpoint.name}", **given)
        assert status in (200, 400, 413, 414), (endpoint.name, given, answer)
    assert ask(address, "api/about")[0] == 200


def test_many_at_once(address):
    found = []

    def compose(verb):
        found.append(ask(address, "api/compose", s=f"wolf {verb} castle")[0])

    verbs = ["charged", "stormed", "attracted", "drew"] * 5
    threads = [threading.Thread(target=compose, args=(verb,)) for verb in verbs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200] * 20


def test_what_takes_too_long_is_refused(run):
    with served(run, seconds=0.0, prepare=False) as address:
        status, answer = ask(address, "api/word", w="charge-v")
    assert status == 503
    assert "longer than 0 seconds" in answer["error"]


def test_a_token_is_asked_for(run):
    with served(run, token="secret", prepare=False) as address:
        assert ask(address, "api/about")[0] == 401
        assert ask(address, "api/about", token="secret")[0] == 200
        assert fetch(f"{address}/api/about", {"X-Token": "secret"})[0] == 200
        assert fetch(f"{address}/api/about", {"X-Token": "wrong"})[0] == 401


def test_a_run_that_is_damaged_while_it_is_shown(tmp_path, run):
    import shutil

    shutil.copytree(run, tmp_path / "run")
    with served(tmp_path / "run", prepare=False) as address:
        for path in (tmp_path / "run").glob("predictions*.parquet"):
            path.write_bytes(b"PAR1")
        given = {"benchmark": "miniature-gs2011", "method": "add", "space": "svd"}
        status, answer = ask(address, "api/experiment/items", **given)
    assert status == 503
    assert "cannot be read" in answer["error"]


def test_a_lexicon_without_run_or_corpus(tmp_path):
    vectors = {label: np.random.default_rng(n).normal(size=8) for n, label in enumerate(["dog-n", "cat-n", "chase-v"])}
    Lexicon.from_vectors(vectors).save(tmp_path / "lexicon")
    with served(tmp_path / "lexicon", prepare=False) as address:
        assert ask(address, "api/about")[1]["experiment"] is False
        status, found = ask(address, "api/compose", s="chase-v(cat-n, dog-n)", method="add")
        assert status == 200
        assert found["words"] == []
        assert ask(address, "api/concordance", phrase="chase-v(cat-n)")[0] == 503
        assert "no run" in ask(address, "api/experiment")[1]["error"]
