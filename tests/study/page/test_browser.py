"""The pages in Chromium: quiet, narrow, sorted, filtered, by keyboard, in the dark, on paper."""

import re
import time
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from study import labels, paths
from study.page import render
from tests.study.page.inputs import summary

pytestmark = pytest.mark.browser


@pytest.fixture
def browser(chromium: Any, site: Path) -> Any:
    """The paper's page, freshly loaded on a wide screen."""
    look(chromium)
    chromium.get((site / paths.INDEX).as_uri())
    return chromium


ALL = [
    pytest.param(path, marks=() if path == paths.INDEX else pytest.mark.slow)
    for _, path in render.PAGES.values()
]


@pytest.fixture(params=ALL, ids=str)
def each(request: pytest.FixtureRequest, chromium: Any, site: Path) -> Any:
    """One page after the other."""
    look(chromium)
    chromium.get((site / request.param).as_uri())
    return chromium


def look(driver: Any, width: int = 1200, scheme: str = "light", media: str = "") -> None:
    """On a screen this wide, in light or dark, or as printed."""
    screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def column(browser: Any, place: int) -> list[str]:
    """The texts of one column of the long table, in the rows that are shown."""
    return browser.execute_script(
        """return [...document.querySelectorAll("#all tbody tr")].filter((row) => !row.hidden)
           .map((row) => row.cells[arguments[0]].textContent)""",
        place,
    )


def head(browser: Any, place: int) -> Any:
    return browser.find_element("css selector", f'#all th[data-column="{place}"]')


def keys() -> Any:
    return pytest.importorskip("selenium.webdriver.common.keys").Keys


# -- every page -----------------------------------------------------------------------------------


def test_it_loads_quietly(each: Any) -> None:
    """On a slow machine, too: what is painted early would move as more comes."""
    for times in (10, 1):
        each.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": times})
        each.refresh()
        assert_quiet(each)


def assert_quiet(each: Any) -> None:
    assert each.get_log("browser") == []
    assert each.execute_script("return performance.getEntriesByType('resource').length") == 0
    moved = each.execute_async_script(
        """const done = arguments[0];
           new PerformanceObserver((list) => done(list.getEntries().map((e) => e.value)))
             .observe({ type: "layout-shift", buffered: true });
           setTimeout(() => done([]), 300);"""
    )
    assert sum(moved) == 0


def test_nothing_overflows_at_any_width(each: Any) -> None:
    for box in each.find_elements("css selector", "#results fieldset input"):
        box.click()  # every column
    each.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    for width in (320, 360, 768, 1280):
        look(each, width)
        size = each.execute_script(
            "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
        )
        assert size[0] <= size[1], width


def test_text_stands_out_from_its_ground(each: Any) -> None:
    for scheme in ("light", "dark"):
        look(each, scheme=scheme)
        colours = each.execute_script(
            """const there = (of) => document.querySelector(of);
               const states = ["explained", "guessed", "not-explained", "impossible"];
               const inks = {
                 color: ["body", ".lead", "caption", ".far", "main a", ".made", ".bar a",
                   ".search input", ".muted", "summary", ".sheet p", ".sheet a",
                   ...states.map((of) => `.run .${of} .mark`)],
                 fill: [".picture text", ...states.map((of) => `.picture .${of} .mark`)],
               };
               const colours = Object.entries(inks).flatMap(([property, places]) =>
                 places.filter(there).map((of) => getComputedStyle(there(of))[property]));
               return [...colours, getComputedStyle(document.body).backgroundColor];"""
        )
        *inks, ground = [[int(part) for part in re.findall(r"\d+", c)[:3]] for c in colours]
        assert (sum(ground) < 150) == (scheme == "dark")
        contrasts = [contrast(ink, ground) for ink in inks]
        assert contrasts[0] >= 12
        assert min(contrasts) >= 4.5  # WCAG 2, level AA


def contrast(first: list[int], second: list[int]) -> float:
    """WCAG 2: (L₁ + 0.05) / (L₂ + 0.05), L₁ the lighter of both relative luminances."""
    lights = []
    for colour in (first, second):
        c = np.array(colour) / 255
        linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        lights.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_every_page_leads_to_all_others(each: Any) -> None:
    here = each.current_url
    found = set()
    for place in range(len(render.PAGES) - 1):
        each.find_elements("css selector", ".bar a:not([aria-current])")[place].click()
        assert each.find_elements("css selector", "main section")
        found.add(each.current_url.rpartition("/")[2])
        each.get(here)
    assert {here.rpartition("/")[2], *found} == {path.name for _, path in render.PAGES.values()}
    assert len(found) == len(render.PAGES) - 1


def test_the_search_is_used_by_keyboard(browser: Any) -> None:
    box = browser.find_element("css selector", ".search input")
    links = ".search li a"
    box.send_keys("adult race")
    shown = [link.text for link in browser.find_elements("css selector", links)]
    assert "Adult Income, race: the paper’s cells" in shown
    assert browser.find_element("id", "search-found").text == f"{len(shown)} found"
    box.send_keys(keys().ARROW_DOWN)
    assert browser.switch_to.active_element.text == shown[0]
    browser.switch_to.active_element.send_keys(keys().ESCAPE)
    assert browser.find_elements("css selector", ".search ul:not([hidden])") == []
    box.send_keys("adult race cells", keys().ENTER)
    assert browser.current_url.endswith("index.html#cells-adult-race")
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert set(column(browser, 1)) == {"Adult Income"}
    assert set(column(browser, 2)) <= {"race", "race ‡"}
    box.clear()
    box.send_keys("nowhere at all")
    assert browser.find_element("id", "search-found").text == "nothing found"


def test_the_tab_key_goes_from_the_bar_to_the_search_to_the_page(each: Any) -> None:
    found = []
    for _ in range(len(render.PAGES) + 3):
        each.switch_to.active_element.send_keys(keys().TAB)
        found.append(each.switch_to.active_element.get_attribute("href") or "search")
    assert found[0].endswith("#content")  # skips the bar
    assert found[1].endswith("index.html")
    assert "search" in found


def test_paper_has_no_controls_and_nothing_folded(each: Any) -> None:
    look(each, scheme="dark", media="print")
    frame = "requestAnimationFrame(() => setTimeout(arguments[0]))"
    each.execute_async_script(frame)
    for gone in (".bar", ".controls", ".readout", "nav"):
        assert not any(e.is_displayed() for e in each.find_elements("css selector", gone)), gone
    folds = "return [...document.querySelectorAll('details')].filter((d) => !d.open).length"
    assert each.execute_script(folds) == 0
    look(each)
    each.execute_async_script(frame)
    assert each.execute_script(folds) > 0


# What is left of A4 between the margins, in pixels of 1/96 inch: upright, and of what page.css puts
# across.
PAPER, ACROSS = 703, 1032


def test_nothing_is_wider_than_the_paper(each: Any) -> None:
    """Chromium would make all of a page smaller, or cut it off."""
    each.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    for width in (PAPER, ACROSS):
        look(each, width, media="print")
        cut_off = each.execute_script(
            """const across = (of) => getComputedStyle(of).page === "wide";
               const wide = (of) => of && (across(of) || wide(of.parentElement));
               const parts = "main :is(table, pre, code, figure, svg, p, ul)";
               return [...document.querySelectorAll(parts)]
                 .filter((of) => of.getBoundingClientRect().right > arguments[0] + 1)
                 .filter((of) => Boolean(wide(of)) === arguments[1])
                 .map((of) => `${of.closest("section").id}: ${of.textContent.slice(0, 60)}`)""",
            width,
            width == ACROSS,
        )
        assert cut_off == []
    printed = each.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert b64decode(printed["data"]).startswith(b"%PDF-")


def test_without_a_script_further_columns_can_be_shown(chromium: Any, site: Path) -> None:
    look(chromium)
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        chromium.get("about:blank")
        chromium.get((site / paths.INDEX).as_uri())
        for gone in (".controls select", ".controls button", ".search"):
            assert not chromium.find_element("css selector", gone).is_displayed()
        macro = chromium.find_element("css selector", "#all th.macro")
        assert not macro.is_displayed()
        chromium.find_element("id", "show-macro").click()
        assert macro.is_displayed()
    finally:
        chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_first_screen_has_the_question_the_answer_and_the_picture(browser: Any) -> None:
    look(browser, 1280)  # 800 high
    for part in (".question", ".count", ".count ~ p", ".count ~ p ~ p", ".picture svg"):
        box = browser.find_element("css selector", part).rect
        assert box["y"] + box["height"] <= 800, part


# -- the long table -------------------------------------------------------------------------------


def test_a_click_sorts_upwards_then_downwards_then_not_at_all(browser: Any) -> None:
    place = 3  # the selected model's micro F1
    original = column(browser, place)
    button = head(browser, place).find_element("css selector", "button")
    shown = []
    for _ in range(3):
        button.click()
        shown.append((head(browser, place).get_attribute("aria-sort"), column(browser, place)))
    upwards = sorted(original, key=float)
    assert shown == [
        ("ascending", upwards),
        ("descending", upwards[::-1]),
        ("none", original),
    ]


def test_a_keyboard_sorts(browser: Any) -> None:
    button = head(browser, 0).find_element("css selector", "button")
    for key, direction in ((keys().ENTER, "ascending"), (keys().SPACE, "descending")):
        button.send_keys(key)
        assert head(browser, 0).get_attribute("aria-sort") == direction
        names = column(browser, 0)
        assert names == sorted(names, reverse=direction == "descending")
    # one column at a time
    head(browser, 1).find_element("css selector", "button").send_keys(keys().ENTER)
    assert head(browser, 0).get_attribute("aria-sort") == "none"


def test_negative_numbers_sort_as_numbers_and_what_is_missing_last(browser: Any) -> None:
    place = 7  # the difference in micro F1, which cells that are not printed do not have
    button = head(browser, place).find_element("css selector", "button")
    for downwards in (False, True):
        button.click()
        shown = column(browser, place)
        there = [float(text.replace("−", "-")) for text in shown if text != "–"]
        assert there == sorted(there, reverse=downwards)
        assert shown[len(there) :] == ["–"] * (len(shown) - len(there))
        assert min(there) < 0 < len(shown) - len(there)


def reset(browser: Any) -> None:
    """The page's rows follow a moment after the form."""
    count = browser.find_element("css selector", ".controls output")
    browser.find_element("css selector", ".controls [type=reset]").click()
    end = time.monotonic() + 10
    while not re.fullmatch(r"(\d+) of \1 rows", count.text):
        assert time.monotonic() < end, count.text


def test_filters_combine_and_reset(browser: Any) -> None:
    everything = column(browser, 0)
    count = browser.find_element("css selector", ".controls output")
    for name, value in (("dataset", "compas"), ("method", "infofair")):
        option = f'.controls select[name="{name}"] option[value="{value}"]'
        browser.find_element("css selector", option).click()
    assert column(browser, 0) == ["InfoFair"] * 3
    assert set(column(browser, 1)) == {"COMPAS"}
    assert count.text == f"3 of {len(everything)} rows"
    reset(browser)
    browser.find_element("id", "far").click()
    differences = [column(browser, place) for place in (7, 11, 16)]
    for row in zip(*differences, strict=True):
        assert max(abs(float(text.replace("−", "-"))) for text in row) >= 0.02
    reset(browser)
    assert column(browser, 0) == everything
    assert count.text == f"{len(everything)} of {len(everything)} rows"


def test_print_shows_every_row(browser: Any) -> None:
    look(browser, scheme="dark", media="print")
    hidden = browser.execute_script(
        "const w = document.querySelector('.window'); return w.scrollHeight - w.clientHeight"
    )
    assert hidden <= 0
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )


# -- the figures ----------------------------------------------------------------------------------


def test_every_one_of_our_points_says_its_figures_and_leads_to_its_row(browser: Any) -> None:
    table = summary()
    ablations = set(labels.VARIANTS) - {"infofair"}
    shown = table[(table["protocol"] == "mean") & ~table["method"].isin(ablations)]
    ids = [f"{r.dataset}-{r.setting}-{r.method}" for r in shown.itertuples()]
    titles = browser.execute_script(
        """return arguments[0].map((id) => document.getElementById(`tradeoff-point-${id}`)
           .closest("a").querySelector("title").textContent)""",
        ids,
    )
    for title, row in zip(titles, shown.itertuples(), strict=True):
        assert f"mean micro F1 {row.micro_f1:.3f}" in title
    bars = browser.find_elements("css selector", "#ablation a > title")
    assert len(bars) == 2 * 5 * 3  # InfoFair and one ablation, settings, figures
    # by keyboard, with the row filtered away
    browser.find_element("css selector", '.controls option[value="gdp"]').click()
    readout = browser.find_element("css selector", "#trade-off .readout")
    hint = readout.text
    point = f'#trade-off a[href="#row-{ids[0]}"]'
    browser.execute_script("document.querySelector(arguments[0]).focus()", point)
    assert readout.text == titles[0]
    browser.switch_to.active_element.send_keys(keys().ENTER)
    row = browser.find_element("css selector", "tr:target")
    assert row.get_attribute("id") == f"row-{ids[0]}"
    assert row.is_displayed()
    browser.execute_script("document.activeElement.blur()")
    assert readout.text == hint


def test_a_line_of_the_fronts_leads_to_its_hypervolume_which_is_unfolded(
    chromium: Any, site: Path
) -> None:
    look(chromium)
    chromium.get((site / paths.BEYOND).as_uri())
    line = '#fronts a[href="#area-adult-race-gdp"]'
    chromium.execute_script("document.querySelector(arguments[0]).focus()", line)
    readout = chromium.find_element("css selector", "#fronts .readout")
    assert readout.text.startswith("Adult Income, race, GDP: micro F1 / imparity 0.")
    chromium.switch_to.active_element.send_keys(keys().ENTER)
    cell = chromium.find_element("css selector", "td:target")
    assert cell.is_displayed()
