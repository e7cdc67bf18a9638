"""The explorer of the fronts in Chromium: it says what `choose` says, and can be sent and used."""

import json
import random
import re
import shutil
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from stages import page
from study import labels, params, paths, results
from study.commands import choose
from study.comparison.measured import BUDGETS
from study.page.compared import TABLES
from study.page.explorer import NOTIONS
from tests.conftest import ROOT
from tests.study.page import inputs
from tests.study.page.test_browser import contrast, keys, look

pytestmark = pytest.mark.browser

SET = """
const form = document.getElementById("explorer");
for (const [name, value] of Object.entries(arguments[0])) {
  form.elements[name].value = value;
  const own = form.elements[name];
  const at = own instanceof RadioNodeList ? own[0] : own;
  for (const kind of ["input", "change"]) at.dispatchEvent(new Event(kind, { bubbles: true }));
}
const said = ["take", "rest"].map((part) => form.querySelector(`.explorer-${part}`).textContent);
return [form.dataset.method, form.dataset.strength, said.join(" ").trim()];
"""


@pytest.fixture
def browser(chromium: Any, site: Path) -> Any:
    look(chromium)
    chromium.get("about:blank")  # else only the hash may change, and nothing is loaded
    chromium.get((site / paths.BEYOND).as_uri())
    return chromium


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the results in git."""
    folder = tmp_path_factory.mktemp("committed")
    for name in (paths.PARAMS, paths.PROJECT, paths.LOCKS[1], *map(paths.table, TABLES)):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for room in (paths.PAPER.parent, paths.FIGURES, paths.general("").parent):
        shutil.copytree(ROOT / room, folder / room)
    with chdir(folder):
        inputs.write_sources({dataset: [] for dataset in params.load().datasets}, {})
        page.main("beyond")
    return folder


def asked(view: dict[str, str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of `choose`, with methods called as the page calls them."""
    dataset, setting = view["place"].split("/")
    scores = view["notion"] == choose.SCORES
    notion = None if scores else view["notion"]
    choose.main(dataset, setting, view["budget"], notion=notion, s_at_test=view["s"], scores=scores)
    return capsys.readouterr().out.splitlines()


def named(line: str, methods: list[str]) -> str:
    ids = "|".join(sorted(map(re.escape, methods), key=len, reverse=True))
    return re.sub(rf"\b({ids})\b", lambda found: labels.full_method_name(found[1]), line)


STARTS = (
    "Take ", "But ", "Its test ", "Nothing has ", "Only training ", "Training for fairness ",
    "No training ",
)  # fmt: skip


def answer(lines: list[str], methods: list[str]) -> str:
    """What is said below the table, but for who dominates whom."""
    said = [
        line for line in lines
        if line.startswith(STARTS) or "the group at test time" in line or "The group need" in line
    ]  # fmt: skip
    return " ".join(named(line, methods) for line in said)


def views(chosen: list[str]) -> Iterator[dict[str, str]]:
    """Twenty random budgets, of all notions; then those that splits have chosen for."""
    rng = random.Random(20)
    budgets = [f"{rng.uniform(0, 0.3):.3f}" for _ in range(20)] + [str(b) for b in BUDGETS]
    for i, budget in enumerate(budgets):
        yield {
            "place": rng.choice(chosen), "notion": list(NOTIONS)[i % len(NOTIONS)],
            "s": ("yes", "no")[i // len(NOTIONS) % 2], "budget": f"{float(budget):g}",
        }  # fmt: skip


def compare(browser: Any, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with chdir(folder):
        table = results.read("fronts")
        places = sorted({f"{d}/{s}" for d, s in table[results.PLACE].itertuples(index=False)})
        methods = list(dict.fromkeys(table["method"]))
        for view in views(places):
            method, strength, said = browser.execute_script(SET, view)
            lines = asked(view, capsys)
            assert said == answer(lines, methods), view
            take = next((line for line in lines if line.startswith("Take ")), None)
            if take:
                assert take.startswith(f"Take {method} at strength {strength} ("), view
            else:
                assert method == "", view


def test_it_says_what_choose_says_for_any_budget(
    browser: Any, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare(browser, site, capsys)


@pytest.mark.slow
def test_so_it_does_for_the_committed_results(
    chromium: Any, committed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print(f"{(committed / paths.BEYOND).stat().st_size:,} bytes")
    assert (committed / paths.BEYOND).stat().st_size < 3_000_000
    chromium.get("about:blank")
    chromium.get((committed / paths.BEYOND).as_uri())
    compare(chromium, committed, capsys)


@pytest.mark.slow
def test_a_newcomers_question_is_answered(chromium: Any, committed: Path) -> None:
    """Adult, gender & race, at most 0.05 imparity, without s: from the search to a sentence."""
    chromium.get("about:blank")
    chromium.get((committed / paths.BEYOND).as_uri())
    box = chromium.find_element("css selector", ".search input")
    box.send_keys("adult gender race which", keys().ENTER)
    view = {"place": "adult/intersection", "notion": "parity", "budget": "0.05", "s": "no"}
    chromium.find_element("css selector", '[name=s][value="no"]').click()
    assert chromium.find_element("name", "place").get_attribute("value") == view["place"]
    shown = chromium.find_element("css selector", ".explorer-take").text
    method, _, said = chromium.execute_script(SET, view)
    assert said.startswith(shown)
    assert not labels.needs_s(method)


def test_a_view_can_be_sent(browser: Any) -> None:
    view = {"place": "adult/race", "notion": "odds", "s": "no", "budget": "0.123"}
    first = browser.execute_script(SET, view)
    browser.find_element("css selector", ".explorer-choice summary").click()
    browser.find_element("css selector", '[name=method][value="gdp"]').click()
    address = browser.current_url
    assert address.endswith(".html#explore?" + address.partition("#explore?")[2])
    assert "place=adult/race" in address
    browser.get("about:blank")
    browser.get(address)
    assert browser.execute_script(SET, {}) == first
    assert browser.find_element("css selector", '[name=method][value="gdp"]').is_selected()
    top = "return document.getElementById('explore').getBoundingClientRect().top"
    assert abs(browser.execute_script(top)) < 100
    # what nobody could have meant changes nothing
    browser.get("about:blank")
    browser.get(address.split("?")[0] + "?place=moon/gender&budget=lots&x=height")
    assert browser.execute_script(SET, {})[2]
    assert browser.get_log("browser") == []


def test_the_notion_brings_its_axes_and_others_can_be_had(browser: Any) -> None:
    label = "return document.querySelector('.explorer-plot svg').getAttribute('aria-label')"
    browser.execute_script(SET, {"notion": "scores"})
    assert browser.execute_script(label).startswith("AUC against KS on ")
    browser.execute_script(SET, {"notion": "parity", "y": "macro_f1", "x": "differential_fairness"})
    assert browser.execute_script(label).startswith("macro F1 against ε on ")


def test_a_point_is_reached_and_pressed_by_keyboard(browser: Any, site: Path) -> None:
    browser.execute_script(SET, {"place": "adult/race"})
    stops = "return [...document.querySelectorAll('.explorer-plot [tabindex=\"0\"]')].length"
    assert browser.execute_script(stops) == 1
    browser.execute_script("document.querySelector('.explorer-plot .point').focus()")
    browser.switch_to.active_element.send_keys(keys().ARROW_RIGHT)
    point = browser.switch_to.active_element
    label = point.get_attribute("aria-label")
    point.send_keys(keys().ENTER)
    shown = browser.find_element("css selector", ".explorer-point").text
    name, strength = re.match(r"(.*) at strength (\S+):", label).groups()  # type: ignore[union-attr]
    assert shown.startswith(f"{name} at strength {strength} on Adult Income, race.")
    assert "the worst group’s accuracy is 0." in shown
    assert browser.execute_script(stops) == 1
    # the figures are the table's
    with chdir(site):
        table = results.read("fronts")
    own = table[(table["dataset"] == "adult") & (table["setting"] == "race")]
    own = own[own["method"].map(labels.full_method_name) == name]
    figures = own[own["strength"].map(lambda s: f"{s:g}") == strength]
    assert any(f"micro F1 {f1:.3f}" in shown for f1 in figures["micro_f1"])
    said = [
        ", ".join(f"{g} {r:.3f}" for g, r in sorted(json.loads(own).items(), key=lambda p: p[1]))
        for own in figures["rates"]
    ]
    assert any(f"Selected in each group\n{own}\n" in shown for own in said)


def test_what_is_chosen_is_marked_and_what_chance_gives_is_shaded(browser: Any) -> None:
    browser.execute_script(SET, {"place": "adult/race", "notion": "parity", "budget": "0.3"})
    rings = browser.find_elements("css selector", ".explorer-plot .chosen")
    assert rings
    assert all("chosen for the budget" in ring.get_attribute("aria-label") for ring in rings)
    assert len(browser.find_elements("css selector", ".explorer-plot .ring.best")) == 1
    assert browser.find_elements("css selector", ".explorer-plot .band")
    assert browser.find_elements("css selector", ".explorer-plot .shade")
    browser.execute_script(SET, {"x": "ks"})
    assert browser.find_elements("css selector", ".explorer-plot .shade")
    browser.execute_script(SET, {"x": "differential_fairness"})  # of which there is no null
    assert not browser.find_elements("css selector", ".explorer-plot .shade")


GROUNDS = {  # of texts
    ".explorer-take": ".explorer-answer", ".explorer-basis": ".explorer-answer",
    ".explorer-point": ".explorer-point", ".explorer-key": "body", ".made": "body",
    ".bar [aria-current]": "body", ".bar li:last-child a": "body",
    ".explorer-legend li": "#explorer .card",
}  # fmt: skip


def test_it_fits_and_can_be_read_at_any_width_in_light_and_dark(browser: Any) -> None:
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    browser.find_element("css selector", "[data-show=all]").click()
    for width in (360, 768, 1280):
        for scheme in ("light", "dark"):
            look(browser, width, scheme)
            size = browser.execute_script(
                "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
            )
            assert size[0] <= size[1], width
            for text, ground in GROUNDS.items():
                found = browser.execute_script(
                    """const style = (of) => getComputedStyle(document.querySelector(of));
                       return [style(arguments[0]).color, style(arguments[1]).backgroundColor]""",
                    text,
                    ground,
                )
                colours = [[int(c) for c in re.findall(r"\d+", one)[:3]] for one in found]
                assert contrast(*colours) >= 4.5, (text, width, scheme)
    assert browser.get_log("browser") == []


def test_every_control_has_a_name_and_tab_goes_through_them_in_order(browser: Any) -> None:
    unnamed = browser.execute_script(
        """return [...document.querySelectorAll("#explorer :is(input, select, button)")]
           .filter((c) => !(c.labels?.length || c.ariaLabel || c.textContent.trim())).length"""
    )
    assert unnamed == 0
    browser.execute_script("document.querySelector('#explorer [name=place]').focus()")
    found = []
    for _ in range(7):
        found.append(browser.switch_to.active_element.get_attribute("name"))
        browser.switch_to.active_element.send_keys(keys().TAB)
    assert found == ["place", "notion", "s", "budget", "slider", "y", "x"]
    assert "point" in browser.switch_to.active_element.get_attribute("class")


def test_without_a_script_the_figure_and_the_tables_are_there(browser: Any, site: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get("about:blank")
        browser.get((site / paths.BEYOND).as_uri())
        hidden = ("#explorer", ".search")
        assert not any(browser.find_element("css selector", of).is_displayed() for of in hidden)
        for there in (".bar nav", "#explore noscript p", "#fronts svg", "#budgets"):
            assert browser.find_element("css selector", there).is_displayed(), there
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
