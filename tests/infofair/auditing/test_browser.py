"""The page in Chromium: quiet, narrow, dark, by keyboard, on paper."""

import re
from pathlib import Path
from typing import Any

import pytest

import infofair
from tests.infofair.auditing.people import loans, quick
from tests.study.page.test_browser import contrast, keys, look

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    frame = loans(2500)
    frame["race"] = frame["race"].replace("c", "a name that is much too long for a narrow screen")
    with quick():
        return infofair.audit(
            frame["y"], score=frame["p"], sensitive_features=frame[["sex", "race", "age"]],
            features=frame[["p"]], splits=frame["age"] % 3, names={"file": "loans.csv"},
        ).write(tmp_path_factory.mktemp("audit"))  # fmt: skip


@pytest.fixture
def browser(chromium: Any, written: Path) -> Any:
    look(chromium)
    chromium.get(written.as_uri())
    return chromium


def test_it_loads_quietly(browser: Any) -> None:
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_nothing_overflows_and_charts_can_be_read(browser: Any, width: int) -> None:
    look(browser, width)
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    wide, shown = browser.execute_script(
        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
    )
    assert wide <= shown
    heights = browser.execute_script(
        """return [...document.querySelectorAll("svg text")]
           .map((text) => text.getBoundingClientRect().height)"""
    )
    assert min(heights) >= 8  # pixels: no smaller than 8 at 320


def test_no_text_of_a_chart_leaves_it(browser: Any) -> None:
    for width in (360, 1280):
        look(browser, width)
        out = browser.execute_script(
            """return [...document.querySelectorAll("svg text")].filter((text) => {
                 const own = text.getBoundingClientRect();
                 const svg = text.closest("svg").getBoundingClientRect();
                 return own.left < svg.left - 6 || own.right > svg.right + 6;
               }).map((text) => text.textContent)"""
        )
        assert out == []


def test_text_stands_out_from_its_ground(browser: Any) -> None:
    for scheme in ("light", "dark"):
        look(browser, scheme=scheme)
        colours = browser.execute_script(
            """const of = (at, what) => getComputedStyle(document.querySelector(at))[what];
               return [of("body", "color"), of(".lead", "color"), of("caption", "color"),
                       of("b.evidence", "color"), of("b.noise", "color"), of("nav a", "color"),
                       of("svg .name", "fill"), of("svg .tick", "fill"),
                       of("body", "backgroundColor")]"""
        )
        *inks, ground = [[int(part) for part in re.findall(r"\d+", c)[:3]] for c in colours]
        assert (sum(ground) < 150) == (scheme == "dark")
        assert contrast(inks[0], ground) >= 12
        assert min(contrast(ink, ground) for ink in inks) >= 4.5  # WCAG 2, level AA


def test_a_keyboard_reaches_the_findings_and_unfolds_tables(browser: Any) -> None:
    browser.execute_script("document.body.focus()")
    browser.find_element("css selector", "body").send_keys(keys().TAB)
    assert browser.switch_to.active_element.text == "To what was found"
    browser.switch_to.active_element.send_keys(keys().ENTER)
    assert browser.current_url.endswith("#found")
    summary = browser.find_element("css selector", "figure summary")
    assert not browser.find_element("css selector", "figure table").is_displayed()
    summary.send_keys(keys().ENTER)
    assert browser.find_element("css selector", "figure table").is_displayed()


def test_a_screen_reader_is_told_what_a_chart_shows(browser: Any) -> None:
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    images = [
        node["name"]["value"]
        for node in tree
        if node.get("role", {}).get("value") in ("image", "img")
    ]
    charts = browser.find_elements("css selector", "svg")
    assert len(images) == len(charts) > 10
    assert all(len(name) > 20 for name in images)


def test_paper_is_white_and_has_every_section(browser: Any) -> None:
    look(browser, scheme="dark", media="print")
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    assert not browser.find_element("css selector", "nav").is_displayed()
    hidden = browser.execute_script(
        """return [...document.querySelectorAll(".scroll")]
           .filter((e) => getComputedStyle(e).overflowX !== "visible").length"""
    )
    assert hidden == 0
