"""The cards of the methods: one each, with the figures of the tables, and links that lead on."""

import hashlib
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jinja2 import Template

from infofair import methods as library
from infofair.knobs import knobs_of
from infofair.storage import write_json
from stages import page
from study import labels, offers, params, paths, results
from study.page import methods, places, wins
from study.tables.layout import number
from tests.conftest import ROOT, edit_params
from tests.documents import blocks
from tests.study.page.inputs import Page, text_of
from tests.study.page.test_browser import contrast, look
from tests.study.page.test_pages import HOSTILE

(HSIC,) = blocks("docs/your-own-method.md", "python")


def cards(text: str) -> dict[str, str]:
    """The text of every card, by its id."""
    return dict(re.findall(r'<article class="sheet" id="([^"]+)"(.*?)</article>', text, re.DOTALL))


@pytest.fixture(scope="module")
def shown(methods_page: str) -> dict[str, str]:
    return {name: text_of(f"<p{of}") for name, of in cards(methods_page).items()}


@pytest.fixture(scope="module")
def tables(site: Path) -> dict[str, pd.DataFrame]:
    return {name: results.read(name, site / paths.table(name)) for name in methods.TABLES}


# -- who has a card -------------------------------------------------------------------------------


def listed() -> list[str]:
    asked = params.load()
    return [*asked.method_names, *asked.beyond.trained, *asked.beyond.solved]


def test_every_method_of_params_and_every_rule_has_exactly_one_card(
    methods_page: str, shown: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    expected = [f"method-{name}" for name in (*listed(), *methods.RULES)]
    assert sorted(re.findall('<article class="sheet" id="([^"]+)"', methods_page)) == sorted(
        expected
    )
    for name in listed():
        assert shown[f"method-{name}"].lstrip("> ").startswith(labels.full_method_name(name))


def test_whatever_is_compared_is_on_one_card(tables: dict[str, pd.DataFrame]) -> None:
    every = [*library.names(), *library.ABLATIONS]
    found = methods.Tables(tables, every)
    compared = set(tables["honest_summary"]["method"])
    assert {found.owner(name) for name in compared} <= {*every, *methods.RULES}
    assert found.owner("infofair_fitted_ts") == "infofair_fitted"
    assert found.owner("infofair_ts") == "infofair_ts"
    assert found.owner("boosting_blind") == "blind"


def test_a_made_up_method_gets_a_card_by_a_file_and_a_line(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy / "added"
    folder.mkdir()
    (folder / "hsic.py").write_text(HSIC, encoding="utf-8")
    monkeypatch.setattr(library, "__path__", [*library.__path__, str(folder)])
    lists = params.load().methods.model_dump()
    edit_params(methods=lists | {"trained": [*lists["trained"], "hsic"]})
    try:
        page.main("methods")
    finally:
        sys.modules.pop("infofair.methods.hsic", None)
    made = cards(places.METHODS.read_text(encoding="utf-8"))["method-hsic"]
    said = text_of(f"<p{made}")
    assert "HSIC: the Hilbert-Schmidt independence criterion of predictions and groups" in said
    assert "J = T + α HSIC(p, s), by the mean of K ∘ L" in said
    assert "width 0.1 0.1 > 0, probability ours" in said
    assert "No table has figures of it." in said
    assert "tests/infofair/methods/test_conformance.py" in said
    assert "test_hsic" not in said


# -- what its file says ---------------------------------------------------------------------------


def test_idea_formula_and_the_rest_are_the_docstring(methods_page: str) -> None:
    for name in library.names():
        module = sys.modules[library.load(name).__module__]
        own = cards(methods_page)[f"method-{name}"]
        assert "".join(text_of(f"<p{own}").split()).count(_first_words(module)) == 1
        for word in (module.__doc__ or "").replace("`", "").split():
            assert word.lstrip("-") in text_of(f"<p{own}"), name


def _first_words(module: ModuleType) -> str:
    """The first paragraph, without spaces."""
    return "".join((module.__doc__ or "").split("\n\n")[0].split())


def test_knobs_are_those_of_params(shown: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    asked = params.load()
    for name in library.names():
        for knob in knobs_of(library.load(name)):
            value = getattr(asked.knobs(name), knob.name)
            values = value if isinstance(value, list) else [value]
            text = ", ".join(f"{v:g}" for v in values)
            assert f" {knob.name} {text} " in shown[f"method-{name}"], (name, knob.name)
    assert methods.bounds({"ge": 0, "lt": 1}, "") == "≥ 0, < 1"
    assert methods.bounds({}, "epochs") == "epochs"


# -- what was found -------------------------------------------------------------------------------


def test_figures_beside_vanilla_are_those_of_the_honest_table(
    shown: dict[str, str], tables: dict[str, pd.DataFrame]
) -> None:
    honest = tables["honest_summary"]
    for card, name in (
        ("infofair", "infofair_unaware"),
        ("gdp", "gdp"),
        ("blind", "boosting_blind"),
    ):
        below = above = less = more = dominated = 0
        ranks = []
        for row in honest[honest["method"] == name].to_dict("records"):
            below += row["more_imparity_high"] < 0 and row["constant"] == 0
            above += row["more_imparity_low"] > 0
            less += row["more_micro_f1_high"] < 0
            more += row["more_micro_f1_low"] > 0
            dominated += row["dominated_by"] != ""
        for row in tables["hypervolume"].to_dict("records"):
            if row["method"] == name and not np.isnan(row["rank"]):
                ranks.append(row["rank"])
        text = re.sub(r" \([^()]*\)", "", shown[f"method-{card}"].split("Found")[1])
        text = re.sub(r"\s+([,.;])", r"\1", text)
        said = text.split(f"{labels.full_method_name(name)}, ")[1].split(".")[0]
        assert said.startswith(f"{(honest['method'] == name).sum()} cells:")
        assert f"imparity is below vanilla’s in {below}, above it in {above};" in said
        assert f"micro F1 is below vanilla’s in {less}, above it in {more};" in said
        assert f"thresholds or another rule dominate it in {dominated};" in said
        rank = number(np.mean(ranks), 1).split(".")[0]
        assert f"its mean rank by hypervolume, over its own cells, is {rank}" in said


def test_a_mean_rank_says_among_how_many() -> None:
    areas = pd.DataFrame(
        [("adult", "race", m, r) for m, r in (("a", 1), ("b", 2), ("c", 3))]
        + [("adult", "gender", m, r) for m, r in (("a", 1), ("b", 2), ("c", float("nan")))],
        columns=["dataset", "setting", "method", "rank"],
    )
    assert methods.among("a", areas) == (2, 3) and methods.among("c", areas) == (3, 3)
    assert methods.among("d", areas) == (0, 0)


def test_the_card_of_infofair_fitted_says_what_its_count_is_worth(methods_page: str) -> None:
    goals = [part for part in methods_page.split("<li>") if "micro F1 printed for InfoFair" in part]
    said = [" ".join(part.split()) for part in goals]
    assert len(said) > 2 and sum("were in sight" in part for part in said) == 1
    card = methods_page.split('id="method-infofair_fitted"')[1].split("</article>")[0]
    assert "its count is no evidence that it is better than others" in " ".join(card.split())
    rule = methods_page.split('id="method-thresholds"')[1].split("</article>")[0]
    assert "Boosting, thresholds has at least the micro F1" in " ".join(rule.split())


def test_ranks_are_those_of_the_table(
    shown: dict[str, str], tables: dict[str, pd.DataFrame]
) -> None:
    ranks = tables["ranks"].query("cells == 'all'").reset_index(drop=True)
    for place, row in ranks.iterrows():
        found = methods.found(row["method"], tables, {})
        assert found is not None and found.rank is not None
        assert found.rank["place"] == int(str(place)) + 1
    first = ranks.iloc[0]
    said = f"number 1 of the {first['methods']} with figures in all {first['blocks']} cells"
    assert sum(said in text for text in shown.values()) == 1


def test_methods_of_the_paper_lead_to_what_comes_out_of_their_rows(shown: dict[str, str]) -> None:
    """Tables of the paper are not shown: the comparison must not wait for its models."""
    assert "The paper’s pipeline runs it, too" in shown["method-gdp"]
    assert "The paper’s pipeline runs it, too" not in shown["method-dp_gap"]


def test_an_ablation_says_its_terms_and_leads_to_its_figure(
    methods_page: str, shown: dict[str, str]
) -> None:
    for name, terms in library.ABLATIONS.items():
        said, own = shown[f"method-{name}"], cards(methods_page)[f"method-{name}"]
        assert f"Its terms are {terms[0]} and {terms[1]};" in said
        assert f"J = {terms[0]} + {terms[1]}\n{terms[0]} = " in own
        for term in "TSD":
            assert (f" {term} = " in said) == (term in terms)
        assert 'href="index.html#without"' in own
        assert "No table has figures of it." not in said


def test_knobs_are_from_params_by_its_hash(site: Path, methods_page: str) -> None:
    md5 = hashlib.md5((site / paths.PARAMS).read_bytes()).hexdigest()
    line = f'<a href="#out-params.yaml">params.yaml</a> (md5 <span class="hash">{md5}</span>)'
    assert line in methods_page
    assert methods_page.count('id="out-params.yaml"') == 1


# -- where it wins --------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False])
def test_the_one_to_take_is_what_choose_takes(known: bool, tables: dict[str, pd.DataFrame]) -> None:
    best = tables["best"]
    found = {(*w.place, w.notion, w.budget): w.method for w in wins.of(best, known)}
    for (dataset, setting, notion, budget), cell in best.groupby(wins.CELL, sort=False):
        offered = offers.of_splits(cell, str(notion), float(budget))
        if not known:
            offered = offered[[not labels.needs_s(m) for m in offered["method"]]]
        chosen = offers.recommended(offers.records(offered[offered["score"].notna()]))
        expected = None if chosen is None else chosen["method"]
        assert found.pop((dataset, setting, notion, budget), None) == expected
    assert found == {}


def test_wins_are_counted_and_listed(
    methods_page: str, shown: dict[str, str], tables: dict[str, pd.DataFrame]
) -> None:
    won = wins.of(tables["best"], True)
    own = [win for win in won if labels.parts(win.method)[1] == "thresholds"]
    assert own
    said = re.sub(r"\s+", " ", shown["method-thresholds"])
    assert f"It is the one to take in {len(own)} of {len(won)} cells" in said
    folded = cards(methods_page)["method-thresholds"].split("These cells")[1]
    budgets = re.findall(r'<td class="text">([\d., ]+)</td></tr>', folded)
    assert sum(len(text.split(",")) for text in budgets) == len(own)


def test_a_missing_table_is_named_and_nothing_fails(copy: Path) -> None:
    for name in ("ranks", "best"):
        paths.table(name).unlink()
    page.main("methods")
    text = text_of(places.METHODS.read_text(encoding="utf-8"))
    assert "results/ranks.csv" in text and "dvc repro beyond/dvc.yaml:comparison" in text
    assert "Nothing is known of budgets yet." in text
    for name in methods.TABLES:
        paths.table(name).unlink(missing_ok=True)
    page.main("methods")
    text = places.METHODS.read_text(encoding="utf-8")
    assert len(cards(text)) == len(listed()) + len(methods.RULES)
    others = len(cards(text)) - len(library.ABLATIONS)  # whose figures are the paper's page's
    assert text.count("No table has figures of it.") == others


def test_strings_from_data_cannot_become_markup(copy: Path) -> None:
    for name in methods.TABLES:
        table = pd.read_csv(paths.table(name), keep_default_na=False).replace("race", HOSTILE)
        table.to_csv(paths.table(name), index=False)
    report = paths.validation_report("adult")
    quoted = json.dumps(HOSTILE)[1:-1]
    text = report.read_text().replace("arrested within 30 days", quoted).replace("is_recid", quoted)
    report.write_text(text)
    write_json(places.sizes("adult"), {"rows": 1, "groups": {HOSTILE: {HOSTILE: 1}}})
    escaped = Template("{{ text | e }}").render(text=HOSTILE)
    for name in ("methods", "data"):
        page.main(name)
        made = page.WRITTEN[name].read_text(encoding="utf-8")
        assert escaped in made
        found = Page(made)
        assert len(found.all("script")) == 3  # the page's, what is searched, and the filter's
        assert not found.all("img")


# -- links, and a browser -------------------------------------------------------------------------


def test_links_into_the_repository_exist(methods_page: str) -> None:
    links = [a["href"] or "" for _, a, _ in Page(methods_page).all("a")]
    inside = [link for link in links if link.startswith("../")]
    assert [link for link in inside if not (ROOT / "reports" / link).resolve().is_file()] == []
    for text in cards(methods_page).values():
        assert re.search(r'href="\.\./infofair/', text)
        assert re.search(r'href="\.\./tests/infofair/', text)


@pytest.fixture(params=[places.METHODS, places.DATA], ids=str)
def each(request: pytest.FixtureRequest, chromium: Any, site: Path) -> Any:
    look(chromium)
    chromium.get((site / request.param).as_uri())
    return chromium


@pytest.mark.browser
def test_cards_load_quietly_and_fit_every_width_light_and_dark(each: Any) -> None:
    assert each.get_log("browser") == []
    assert each.execute_script("return performance.getEntriesByType('resource').length") == 0
    each.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    for width in (320, 360, 768, 1280):
        look(each, width)
        size = each.execute_script(
            "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
        )
        assert size[0] <= size[1], width
    for scheme in ("light", "dark"):
        look(each, scheme=scheme)
        colours = each.execute_script(
            """const of = (s) => getComputedStyle(document.querySelector(s));
               return [".sheet p", ".sheet .muted", ".sheet a", ".sheet caption", ".sheet summary"]
                 .map((s) => of(s).color).concat(of("body").backgroundColor)"""
        )
        *inks, ground = [[int(part) for part in re.findall(r"\d+", c)[:3]] for c in colours]
        assert min(contrast(ink, ground) for ink in inks) >= 4.5


@pytest.mark.browser
def test_words_filter_the_cards_and_a_link_brings_one_back(each: Any) -> None:
    def visible() -> list[str]:
        return each.execute_script(
            "return [...document.querySelectorAll('.sheet')].filter((c) => !c.hidden)"
            ".map((c) => c.id)"
        )

    every = visible()
    box = each.find_element("css selector", "#filter input")
    box.send_keys("census")
    some = visible()
    assert 0 < len(some) < len(every)
    assert each.find_element("css selector", "#filter output").text.startswith(
        f"{len(some)} of {len(every)} "
    )
    hidden = next(name for name in every if name not in some)
    each.execute_script("location.hash = arguments[0]", hidden)
    each.execute_async_script("setTimeout(arguments[0], 50)")
    assert visible() == every
    assert box.get_attribute("value") == ""


@pytest.mark.browser
def test_print_shows_cards_without_the_box(each: Any) -> None:
    look(each, scheme="dark", media="print")
    assert not each.find_element("id", "filter").is_displayed()
    assert each.execute_script("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
