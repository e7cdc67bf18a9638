"""What the page beyond the paper says."""

import html
import re
from pathlib import Path

import pandas as pd
import pytest

from stages import document, page
from study import fronts, paths, results
from study.page import luck
from study.tables import layout
from tests.conftest import ROOT
from tests.study.page import inputs
from tests.study.page.inputs import text_of


def made(folder: Path, places: inputs.Places, methods: tuple[str, ...]) -> str:
    """The page of these, and its document, in the current folder."""
    inputs.write_beyond(folder, places, methods)
    page.main("beyond")
    document.main("results-beyond")
    return paths.BEYOND.read_text(encoding="utf-8")


def test_the_page_says_where_the_goal_holds_and_why_not(site: Path, beyond: str) -> None:
    swept = results.read("frontier_summary", site / paths.table("frontier_summary"))
    goal = fronts.goal(swept, pd.read_csv(ROOT / paths.PAPER))
    holds = goal["holds"] == "yes"
    assert 0 < holds.sum() < len(goal)
    assert f"<strong>{holds.sum()}</strong> of {len(goal)} cells" in beyond
    for why in goal.loc[~holds, "why"]:
        assert f">{why}</td>" in html.unescape(beyond)


def test_the_page_says_who_is_ahead_and_which_estimates_differ(beyond: str) -> None:
    text = text_of(beyond)
    for name, count in (("of the datasets as they are", 5), ("without leak", 3)):
        assert re.search(rf"in \d of {count} cells {name}", text)
        assert re.search(rf"among the first three in \d of {count} cells {name}", text)
    assert "They are 0.125 bits apart on average" in text
    assert "the running one is the lower in 0 of 32 cells" in text
    choose = "python -m study.commands.choose --dataset compas_without_leak --setting intersection"
    assert choose in text


def test_the_page_says_how_many_fitted_models_are_constant_or_diverged(
    copy: Path, beyond: str
) -> None:
    said = "Of the 96 models of InfoFair, fitted, with alpha from 0.1 to 8, {} diverged and {}"
    assert said.format("none", "none is constant.") in text_of(beyond)
    runs = results.read("frontier")
    own = runs.index[(runs["method"] == "infofair_fitted") & (runs["split"] == "test")]
    runs.loc[own[0], "note"] = "diverged"
    runs.loc[own[1:3], "note"] = "constant"
    results.write(runs, "frontier")
    page.main("beyond")
    where = "(COMPAS, gender, alpha 0.1)"
    text = text_of(paths.BEYOND.read_text(encoding="utf-8"))
    assert said.format("1", f"2 are constant {where}.") in text


def test_lines_of_the_fronts_lead_to_their_hypervolumes(beyond: str) -> None:
    link = re.search(r'<a href="#(area-adult-race-gdp)"><title>(.*?)</title>', beyond)
    assert link is not None
    assert f'id="{link[1]}"' in beyond
    assert link[2].startswith("Adult Income, race, GDP: micro F1 / imparity 0.")


def test_the_page_says_how_lucky_the_printed_figures_are(site: Path, beyond: str) -> None:
    table = results.read("luck_summary", site / paths.table("luck_summary"))
    own = table[(table["figure"] == "imparity") & (table["method"] == "infofair")]
    lowest, rarely = own["printed"] < own["low"].round(3), own["as_low"] < 0.05
    assert 0 < lowest.sum() < len(own)
    text = text_of(beyond)
    said = f"below the 5 % quantile of the seeds in {lowest.sum()} of {len(own)} cells (COMPAS, gen"
    assert said in text
    least, most = (layout.percent(share) for share in (own["as_low"].min(), own["as_low"].max()))
    assert f"{least} to {most} would be as low as printed" in text
    assert f"fewer than 5% in {rarely.sum()} cells" in text
    above = own["expected"].round(3) > own["printed"]
    more = layout.number((own["expected"] - own["printed"]).mean(), sign="+")
    assert f"in {above.sum()} of {len(own)} cells; the mean difference is {more}." in text
    (row,) = own[(own["dataset"] == "adult") & (own["setting"] == "race")].to_dict("records")
    expected = layout.number(row["expected"])
    link = re.search(r'<a href="#(seeds-adult-race-infofair)"><title>(.*?)</title>', beyond)
    assert link is not None
    assert f"best of five to expect {expected}" in link[2]
    line = beyond.split(f'id="{link[1]}"')[1].split("</tr>")[0]
    assert f"<td>{expected} ± " in line


def test_a_figure_that_rounds_to_the_printed_one_is_not_lucky() -> None:
    same = {"dataset": "compas", "setting": "gender", "printed": 0.05, "low": 0.0503}
    found = luck.counted([same | {"expected": 0.0503, "as_low": 1.0}])
    assert (found["lowest"], found["above"], found["rarely"]) == ([], [], [])
    low = same | {"low": 0.0511, "expected": 0.06, "as_low": 0.01}
    found = luck.counted([low])
    assert found["lowest"] == found["above"] == found["rarely"] == [("compas", "gender")]


def test_the_page_compares_the_printed_reduction_with_the_one_to_expect(
    site: Path, beyond: str
) -> None:
    table = results.read("luck_summary", site / paths.table("luck_summary")).query(
        "figure == 'imparity'"
    )
    own, vanilla = (
        table[table["method"] == method].set_index(results.PLACE)
        for method in ("infofair", "vanilla")
    )
    for figure in ("printed", "expected"):
        share = 1 - own[figure] / vanilla[figure]
        found = rf"in {(share > 0).sum()}( of {len(own)} cells)?, on average by (\S+%)"
        said = re.findall(found, text_of(beyond))
        assert layout.percent(share.mean()) in [percent for _, percent in said]


@pytest.mark.parametrize(
    ("methods", "settings"),
    [
        (("vanilla",), ["gender"]),
        (("vanilla", "infofair"), ["gender", "race", "intersection"]),
        (("vanilla", "infofair_fitted"), ["gender"]),
        (("vanilla", "gdp", "mine"), ["race"]),
    ],
)
def test_few_methods_have_a_page_too(
    copy: Path, methods: tuple[str, ...], settings: list[str]
) -> None:
    text = made(copy, {"adult": settings}, methods)
    assert ("nothing to judge" in text) == ("infofair" not in methods)
    fitted = "infofair_fitted" in methods
    assert ("Rank of InfoFair, fitted" in text) == fitted
    assert ('id="goal"' in text) == fitted
    assert ('id="area-adult-race-mine"' in text) == ("mine" in methods)
    shown = re.sub(r"<(script|style)>.*?</\1>", "", text, flags=re.DOTALL)
    shown += paths.BEYOND_DOCUMENT.read_text(encoding="utf-8")
    assert not re.search(r"\bnan\b", shown)


def test_datasets_that_are_not_the_papers_are_not_judged(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from infofair import datasets

    monkeypatch.setattr(datasets, "__path__", [*datasets.__path__, str(ROOT / "examples")])
    places = {"loans": ["gender", "age_group", "intersection"]}
    text = made(copy, places, inputs.SWEPT_METHODS)
    assert "nothing to judge" in text
    assert 'id="goal"' not in text
    assert "in 0 of 0" not in text
    assert ">gender &amp; age group</td>" in text


def test_data_that_is_not_the_papers_is_said_at_the_top(copy: Path, beyond: str) -> None:
    assert 'class="banner"' not in beyond
    swept = results.read("frontier_summary").assign(data="simulated", partition="random")
    results.write(swept, "frontier_summary")
    page.main("beyond")
    banner = paths.BEYOND.read_text(encoding="utf-8").split('<p class="banner"')[1].split("</p>")[0]
    assert "COMPAS is simulated, split at random" in " ".join(banner.split())


def test_the_page_says_what_was_tried_and_how_near_it_came(site: Path, beyond: str) -> None:
    table = results.read("tried", site / paths.table("tried")).query("dataset != 'compas'")
    near = table[table["within"] == "yes"]
    text = " ".join(text_of(beyond).split())
    assert f"{table['variant'].nunique()} readings were tried" in text
    assert f"Of {len(table)} pairs" in text
    assert f"{len(near)} come out within 0.002" in text
    assert f"no reading gives more than {near['variant'].value_counts().max()}." in text
    assert "near the truth" in text


def test_the_page_counts_whom_thresholds_dominate(site: Path, beyond: str) -> None:
    table = results.read("dominated", site / paths.table("dominated"))
    fair = table[~table["method"].isin(["vanilla", "logistic", "boosting"])]
    count = int((fair["dominated"] == "yes").sum())
    assert 0 < count < len(fair) and set(fair["base"]) == {"vanilla"}
    assert f"with Vanilla as base {count} of {len(fair)}." in text_of(beyond)
    here = fair.query("dataset == 'adult' and setting == 'race'")
    kept = (here["dominated"] == "no").sum()
    assert f"{len(here) - kept} of {len(here)}" in text_of(beyond)
