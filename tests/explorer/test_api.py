"""The JSON interface, asked over HTTP."""

import asyncio
import importlib.machinery
import json
import random
import shutil
import sys
import threading
import types
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest

from composita.composition.model import open_model
from composita.explorer.app import create_app
from composita.explorer.background import WAITING, Background
from composita.explorer.questions import ENDPOINTS
from composita.explorer.view import Showing
from composita.functions.lexicon import Lexicon
from tests.explorer.conftest import served
from tests.explorer.flood import flood


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
    assert [len(step["nearest"]) for step in found["steps"]] == [3, 3, 0, 3]
    assert found["steps"][-1]["nearest"] == [near["label"] for near in found["words"][:3]]


def test_each_explanation_leads_to_its_sentences(address):
    _, found = ask(address, "api/explain", s="wolf charged castle")
    phrases = [part for part in found["explanation"] if part["frequency"] is not None]
    assert all(part["label"].startswith("charge-v(") for part in phrases)
    others = {part["label"] for part in found["explanation"] if part["frequency"] is None}
    assert others and all(label.endswith(", by the shared function") for label in others)
    part = phrases[0]
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
    assert svo["groups"][0]["examples"] >= svo["groups"][-1]["examples"] > 0
    assert {len(effect["arguments"]) for effect in svo["effects"]} == {2}
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


ANSWERS = {
    "complete": {"q": "ch"}, "compose": {"s": "wolf charged castle"}, "explain": {"s": "wolf charged castle"},
    "compare": {"s": ["wolf charged castle", "castle charged wolf"]}, "concordance": {"phrase": "charge-v(castle-n)"},
    "word": {"w": "charge-v"}, "word/similar": {"w": "charge-v", "pattern": "svo"},
    "map": {"w": ["wolf-n", "castle-n", "wolf charged castle"]},
    "experiment/items": {"benchmark": "miniature-gs2011", "method": "add", "space": "svd"},
}  # fmt: skip


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_answers_are_as_the_document_says(address, endpoint):
    status, answer = ask(address, f"api/{endpoint.name}", **ANSWERS.get(endpoint.name, {}))
    assert status == 200
    assert set(answer) == set(endpoint.gives)


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


def test_requests_that_nobody_should_send(address):
    port = int(address.rpartition(":")[2])
    found = flood(port, 1500, seed=7)
    assert set(found) <= {0, 200, 400, 404, 405, 413, 414, 421, 431}
    assert found[200] > 100 and found[400] > 100 and found[405] > 50 and found[414] > 20 and found[421] > 50
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
    shutil.copytree(run, tmp_path / "run")
    with served(tmp_path / "run", prepare=False) as address:
        for path in (tmp_path / "run").glob("predictions*.parquet"):
            path.write_bytes(b"PAR1")
        given = {"benchmark": "miniature-gs2011", "method": "add", "space": "svd"}
        status, answer = ask(address, "api/experiment/items", **given)
    assert status == 503
    assert "cannot be read" in answer["error"]


def damages(run, step):
    """Give every so many-th file of a run, each with a way to damage it."""
    files = sorted(path.relative_to(run) for path in run.rglob("*") if path.is_file() and path.name != "lock")
    kept = [path for path in files if path.suffix in (".json", ".parquet", ".safetensors")]
    return list(zip(kept, ["half", "empty", "noise", "gone"] * len(kept), strict=False))[::step]


def damage(path, how):
    data = path.read_bytes()
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(
            {"half": data[: len(data) // 2], "empty": b"", "noise": random.Random(1).randbytes(len(data))}[how]
        )


async def within(app, name, given):
    """Ask an application without a server."""
    sent, forever = [], asyncio.Event()

    async def send(message):
        sent.append(message)

    query = urllib.parse.urlencode(given, doseq=True).encode()
    scope = {"type": "http", "method": "GET", "path": f"/api/{name}", "query_string": query, "headers": []}
    await app(scope, forever.wait, send)
    return sent[0]["status"], sent[1]["body"]


def test_a_run_that_is_damaged_anywhere_is_told_in_a_sentence(tmp_path, run):
    refused = 0
    for number, (name, how) in enumerate(damages(run, step=5)):
        place = tmp_path / str(number)
        shutil.copytree(run, place)
        damage(place / name, how)
        app = create_app(Showing(place))
        for asked in ("about", "compose", "word", "concordance", "experiment", "experiment/items"):
            status, body = asyncio.run(within(app, asked, ANSWERS.get(asked, {})))
            assert status in (200, 503, 400), (name, how, asked, body[:300])
            refused += status != 200
        shutil.rmtree(place)
    assert refused > 5


def test_a_run_that_was_made_anew_is_shown_anew(tmp_path, run):
    vectors = {label: np.random.default_rng(n).normal(size=8) for n, label in enumerate(["dog-n", "cat-n"])}
    Lexicon.from_vectors(vectors).save(tmp_path / "shown")
    with served(Showing(tmp_path / "shown")) as address:
        assert ask(address, "api/about")[1]["words"] == 2
        shutil.rmtree(tmp_path / "shown")
        status, answer = ask(address, "api/about")
        assert status == 503 and "cannot be read" in answer["error"]
        Lexicon.from_vectors(vectors | {"bark-v": np.ones(8)}).save(tmp_path / "shown")
        assert ask(address, "api/about")[1]["words"] == 3


def test_umap_where_it_is_installed(monkeypatch, address):
    class Umap:
        def __init__(self, **options):
            assert options["metric"] == "cosine" and options["random_state"] == 0

        def fit_transform(self, rows):
            return rows[:, :2]

    fake = types.ModuleType("umap")
    fake.UMAP = Umap
    fake.__spec__ = importlib.machinery.ModuleSpec("umap", None)
    monkeypatch.setitem(sys.modules, "umap", fake)
    assert ask(address, "api/about")[1]["projections"] == ["pca", "umap"]
    status, found = ask(address, "api/map", w=["wolf-n", "castle-n", "hunter-n"], projection="umap")
    assert status == 200
    assert found["explained"] is None and len(found["points"]) == 3


def test_what_is_being_learned_can_be_asked_for_again():
    background, go = Background(), threading.Event()
    assert background.ask("slow", lambda: go.wait(20), patience=0.01) is None
    assert background.ask("slow", lambda: pytest.fail("it is under way"), patience=0.01) is None
    go.set()
    assert background.ask("next", lambda: 3, patience=20) == 3
    with pytest.raises(ZeroDivisionError):
        background.ask("wrong", lambda: 1 // 0, patience=20)
    waits = threading.Event()
    taken = [background.submit(n, waits.wait) for n in range(WAITING + 1)]
    assert taken[-1] is None and None not in taken[:-1]
    waits.set()


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
