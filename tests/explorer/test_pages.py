"""The pages in a real browser: each one's main task as a person would do it, in light and dark, large and small."""

import json

import numpy as np
import pytest

from composita.functions.lexicon import Lexicon
from tests.explorer.conftest import Tab, served

PAGES = [
    "/", "/compose?s=wolf+charged+castle", "/compare?s=wolf+charged+castle&s=castle+charged+wolf", "/word?w=charge-v",
    "/map", "/experiment", "/experiment?benchmark=miniature-gs2011&method=one-step&space=svd",
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
    page.get_by_role("option").first.wait_for()
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
    assert text.startswith("label,display,similarity\r\n")


def test_an_explanation_leads_to_the_corpus(tab):
    page = tab.open("/compose?s=wolf+charged+castle")
    page.get_by_role("region", name="the weightiest first").get_by_role("button").first.click()
    dialog = page.get_by_role("dialog")
    dialog.locator("mark.head").first.wait_for()
    assert dialog.locator("li").count() >= 1
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0


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
    page.get_by_role("button", name="Another sentence").click()
    assert page.get_by_role("combobox").count() == 4


def test_from_a_word_to_its_neighbour(tab):
    page = tab.open("/word?w=charge-v")
    assert page.get_by_role("heading", name="As a function of type N -> N -> S").is_visible()
    assert page.get_by_role("img", name="generalised cross-validation").count() == 3
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


def test_from_a_score_to_an_item(tab):
    page = tab.open("/experiment")
    page.get_by_role("link", name="one-step", exact=True).first.click()
    tab.wait("/experiment")
    page.locator("svg a").first.focus()
    page.keyboard.press("Enter")
    tab.wait("/compare")
    assert page.get_by_role("combobox").count() == 2
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
        serious = [
            (place, one["id"], one["nodes"][0]["html"])
            for one in axe.run(page).response["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == []
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{place} is {wide} wide"
    found.context.close()
    assert found.complaints == []


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
