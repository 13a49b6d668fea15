"""The pages in a real browser: each one's main task as a person would do it, in light and dark, large and small."""

import json
import shutil

import numpy as np
import pytest

from composita.explorer.view import Showing
from composita.functions.lexicon import Lexicon
from tests.explorer.conftest import Tab, served

PAGES = [
    "/", "/compose?s=wolf+charged+castle", "/compare?s=wolf+charged+castle&s=castle+charged+wolf",
    "/compare?s=wolf+charged+castle&s=castle+charged+wolf&s=hunter+stormed+castle", "/word?w=charge-v", "/map",
    "/sentences?phrase=charge-v(_)", "/experiment",
    "/experiment?benchmark=miniature-gs2011&method=one-step&space=svd&head=charge-v", "/compose?s=xyzzy",
]  # fmt: skip


def saved(page, button):
    """Press a button that saves, and give the text of the file."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).first.click()
    return waiting.value.suggested_filename, waiting.value.path().read_text(encoding="utf-8")


def test_compose_a_sentence_with_completion(tab):
    page = tab.open("/")
    field = page.get_by_role("combobox", name="Sentence")
    field.type("wolf charged cas")
    page.get_by_role("option", name="castle").first.wait_for()
    assert field.get_attribute("aria-expanded") == "true"
    field.press("ArrowDown")
    field.press("Enter")
    assert field.input_value().startswith("wolf charged cas")
    field.fill("wolf charged castle")
    page.get_by_role("button", name="Compose").click()
    tab.wait("/compose")
    assert "s=wolf+charged+castle" in page.url
    assert page.get_by_text("charge-v(castle-n)(wolf-n) : S").is_visible()
    assert page.locator("svg.drawing", has_text="NP").is_visible()
    name, svg = saved(page, "Save SVG")
    assert name == "derivation.svg"
    assert svg.startswith("<svg")
    assert "var(" not in svg
    name, text = saved(page, "Save CSV")
    assert (name, text.splitlines()[0]) == ("derivation.csv", "text,type,shape,nearest")
    assert page.title() == "wolf charged castle – Compose – composita"
    step = page.get_by_role("row", name="charge-v(castle-n)(wolf-n) S 16")
    assert step.get_by_role("link").count() == 3


def test_an_explanation_leads_to_the_corpus(tab):
    page = tab.open("/compose?s=wolf+charged+castle")
    why = page.get_by_role("region", name="the weightiest first")
    why.get_by_role("link").first.click()
    tab.wait("/sentences")
    assert page.locator("mark.head").count() == page.locator(".concordance li").count() >= 1
    name, text = saved(page, "Save CSV")
    assert (name, text.splitlines()[0]) == ("sentences.csv", "sentence,text,shard,head,arguments")
    page.go_back()
    tab.wait("/compose")
    assert page.get_by_role("combobox", name="Sentence").input_value() == "wolf charged castle"


def test_readings_are_switched(tab):
    page = tab.open("/compose?s=wolf+that+charged+castle+and+hunter+stormed+river")
    readings = page.get_by_role("group", name="readings").get_by_role("button")
    assert readings.count() > 1
    before = page.locator("p.term").inner_text()
    readings.nth(1).click()
    page.get_by_role("button", pressed=True).get_by_text("2:").wait_for()
    assert "reading=1" in page.url
    assert page.locator("p.term").inner_text() != before


def test_another_method_is_chosen_by_keys(tab):
    page = tab.open("/compose?s=wolf+charged+castle")
    method = page.get_by_role("combobox", name="Method")
    method.focus()
    method.select_option("add")
    tab.wait("/compose")
    page.get_by_text("by Add: v/|v|").wait_for()
    assert page.evaluate("document.activeElement.name") == "method"


def test_swap_arguments_with_one_click(tab):
    page = tab.open("/compare?s=wolf+charged+castle&s=hunter+charged+castle")
    page.get_by_role("link", name="wolf charged castle ⇄ castle charged wolf").click()
    tab.wait("/compare")
    page.get_by_role("row", name="One-step 0").first.wait_for()
    add = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Add", exact=True))
    assert "1.000" in add.inner_text()
    page.go_back()
    tab.wait("/compare")
    assert "hunter" in page.url


def test_three_sentences_make_heat_maps(tab):
    page = tab.open("/compare?s=wolf+charged+castle&s=castle+charged+wolf&s=hunter+stormed+castle")
    assert page.get_by_role("img", name="Add: all pairs", exact=True).is_visible()
    name, text = saved(page, "Save SVG")
    assert name == "compare-verb.svg" and "castle charged wolf" in text
    page.get_by_role("button", name="Another sentence").click()
    assert page.get_by_role("combobox").count() == 4


def test_from_a_word_to_its_neighbour(tab):
    page = tab.open("/word?w=charge-v")
    assert page.get_by_role("heading", name="As a function of type N -> N -> S").is_visible()
    assert page.get_by_role("img", name="generalised cross-validation").count() == 3
    assert page.get_by_role("img", name="singular values").count() == 2
    for heading in ("Largest groups", "Typical objects", "What it does to its typical arguments"):
        assert page.get_by_role("heading", name=heading).count() >= 1
    page.get_by_role("button", name="Compare with the").first.click()
    page.get_by_role("region", name="by the angle between the tensors").wait_for()
    first = page.get_by_role("region", name="nearest first").get_by_role("link").first
    label = first.inner_text()
    first.press("Enter")
    tab.wait("/word")
    assert page.get_by_role("heading", name=label, exact=True).is_visible()


def test_the_map_is_moved_by_keys_and_buttons(tab):
    page = tab.open("/map?w=wolf-n&w=castle-n&w=hunter-n&w=wolf+charged+castle")
    drawing = page.get_by_role("group", name="map of the words")
    assert drawing.locator("text").all_text_contents() == ["wolf", "castle", "hunter", "wolf charge castle"]
    place = drawing.locator("circle").first.get_attribute("cx")
    drawing.focus()
    page.keyboard.press("ArrowLeft")
    assert drawing.locator("circle").first.get_attribute("cx") != place
    page.keyboard.press("0")
    assert drawing.locator("circle").first.get_attribute("cx") == place
    page.get_by_role("button", name="nearer").click()
    assert drawing.locator("circle").first.get_attribute("cx") != place


def test_the_map_is_dragged_without_going_anywhere(tab):
    page = tab.open("/map?w=wolf-n&w=castle-n&w=hunter-n&w=wolf+charged+castle")
    dot = page.get_by_role("group", name="map of the words").locator("circle").first
    before = dot.get_attribute("cx")
    box = dot.bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 30, steps=5)
    page.mouse.up()
    assert "/map" in page.url and dot.get_attribute("cx") != before
    dot.click()
    tab.wait("/word")


def test_labels_on_the_map_cover_no_other(tab):
    page = tab.open("/map")
    boxes = [label.bounding_box() for label in page.locator("svg.map text").all()]
    assert len(boxes) > 20
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            wide = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
            high = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
            assert min(wide, high) <= 4


def test_from_a_score_to_an_item(tab):
    page = tab.open("/experiment")
    page.get_by_role("link", name="one-step", exact=True).first.click()
    tab.wait("/experiment")
    item = page.locator("svg a").first
    item.hover()
    assert item.get_attribute("aria-label") == page.locator("p.reading").inner_text()
    page.get_by_role("link", name="charge-v", exact=True).click()
    tab.wait("/experiment")
    assert 0 < page.locator("svg .dot.other").count() < page.locator("svg .dot.pale").count()
    page.locator("svg a").first.focus()
    page.keyboard.press("Enter")
    tab.wait("/compare")
    assert page.get_by_role("combobox").count() == 2
    page.get_by_role("row", name="One-step 0").first.wait_for()
    tab.open("/experiment?rho=mean")
    assert tab.page.get_by_role("heading", name="miniature-gs2011, rho_mean").is_visible()


def test_json_is_saved_as_shown(tab):
    page = tab.open("/word?w=charge-v")
    _, text = saved(page, "Save JSON")
    assert json.loads(text)["label"] == "charge-v"


def test_errors_are_sentences(chromium, address):
    found = Tab(chromium, address)
    page = found.open("/compose?s=xyzzy+charged+castle")
    assert "xyzzy" in page.get_by_role("alert").inner_text()
    page = found.open("/word?w=chrge-v")
    assert "did you mean charge-v" in page.get_by_role("alert").inner_text()
    found.context.close()


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 390)], ids=["light", "dark", "phone"]
)
def test_every_page_is_open_to_all(chromium, address, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = Tab(chromium, address, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    for place in PAGES:
        page = found.open(place)
        page.locator("[aria-busy=true]").wait_for(state="detached")
        serious = [
            (place, one["id"], one["nodes"][0]["html"])
            for one in axe.run(page).response["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == []
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{place} is {wide} wide"
    found.context.close()
    assert [said for said in found.complaints if "400" not in said] == []


HOSTILE = [
    "<script>window.hurt=1</script>-n", "<img/src=x/onerror=window.hurt=1>-n", '"onmouseover="window.hurt=1-n',
    "'--><b>-n", "\u202eevil\u202c-n", "long" * 200 + "-n", "javascript:window.hurt=1-n",
    "${window.hurt=1}-n", "=1+1-n",
]  # fmt: skip


def test_hostile_words_are_only_words(chromium, tmp_path):
    rng = np.random.default_rng(1)
    Lexicon.from_vectors({label: rng.normal(size=6) for label in HOSTILE}).save(tmp_path / "lexicon")
    with served(tmp_path / "lexicon", prepare=False) as address:
        found = Tab(chromium, address, viewport={"width": 390, "height": 800})
        for label in HOSTILE[:4]:
            page = found.open("/")
            page.evaluate("label => { location.href = '/word?w=' + encodeURIComponent(label) }", label)
            page.wait_for_selector("#page[data-ready^='/word']")
            assert page.locator("h2", has_text=label[:8]).count() == 1
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert page.evaluate("window.hurt") is None
            assert page.locator("main script, main b, main img").count() == 0
        found.context.close()


def test_a_page_cannot_be_framed_or_load_from_elsewhere(tab):
    page = tab.open("/")
    answer = page.request.get(tab.address)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    tab.wait()
    assert asked
    assert all(url.startswith((tab.address, "blob:")) for url in asked)


def test_a_half_written_run_is_shown_as_soon_as_it_is_there(chromium, run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "meta.json").rename(tmp_path / "aside.json")
    with served(Showing(tmp_path / "run")) as address:
        found = Tab(chromium, address)
        page = found.open("/")
        assert page.get_by_role("heading", name="Nothing can be shown now").is_visible()
        assert "the run cannot be read" in page.get_by_role("alert").inner_text()
        (tmp_path / "aside.json").rename(tmp_path / "run" / "meta.json")
        page.get_by_role("heading", name="Compose a meaning").wait_for()
        found.context.close()


def test_the_token_does_not_stay_in_the_address(chromium, run):
    with served(run, token="secret", prepare=False) as address:
        found = Tab(chromium, address)
        page = found.page
        page.goto(address)
        assert "expected the access token" in page.inner_text("p")
        page.goto(f"{address}/?token=secret")
        page.get_by_role("heading", name="Compose a meaning").wait_for()
        assert page.url == f"{address}/"
        found.open("/word?w=charge-v")
        found.context.close()
