"""What the page on luck says."""

import re
from pathlib import Path

import pytest

from stages import document, page
from study import paths, results
from study.page import seeds
from study.tables import layout
from tests.conftest import ROOT
from tests.study.page import inputs
from tests.study.page.inputs import text_of


def test_the_page_says_how_lucky_the_printed_figures_are(site: Path, luck: str) -> None:
    table = results.read("luck_summary", site / paths.table("luck_summary"))
    own = table[(table["figure"] == "imparity") & (table["method"] == "infofair")]
    lowest, rarely = own["printed"] < own["low"].round(3), own["as_low"] < 0.05
    assert 0 < lowest.sum() < len(own)
    text = text_of(luck)
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
    link = re.search(r'<a href="#(seeds-adult-race-infofair)"><title>(.*?)</title>', luck)
    assert link is not None
    assert f"best of five to expect {expected}" in link[2]
    line = luck.split(f'id="{link[1]}"')[1].split("</tr>")[0]
    assert f"<td>{expected} ± " in line


def test_a_figure_that_rounds_to_the_printed_one_is_not_lucky() -> None:
    same = {"dataset": "compas", "setting": "gender", "printed": 0.05, "low": 0.0503}
    found = seeds.counted([same | {"expected": 0.0503, "as_low": 1.0}])
    assert (found["lowest"], found["above"], found["rarely"]) == ([], [], [])
    low = same | {"low": 0.0511, "expected": 0.06, "as_low": 0.01}
    found = seeds.counted([low])
    assert found["lowest"] == found["above"] == found["rarely"] == [("compas", "gender")]


def test_the_page_compares_the_printed_reduction_with_the_one_to_expect(
    site: Path, luck: str
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
        said = re.findall(found, text_of(luck))
        assert layout.percent(share.mean()) in [percent for _, percent in said]


def test_the_page_says_what_was_tried_and_how_near_it_came(site: Path, luck: str) -> None:
    table = results.read("tried", site / paths.table("tried")).query("dataset != 'compas'")
    near = table[table["within"] == "yes"]
    text = " ".join(text_of(luck).split())
    assert f"{table['variant'].nunique()} readings were tried" in text
    assert f"Of {len(table)} pairs" in text
    assert f"{len(near)} come out within 0.002" in text
    assert f"no reading gives more than {near['variant'].value_counts().max()}." in text
    assert "near the truth" in text


def test_data_that_is_not_the_papers_is_said_at_the_top(copy: Path, luck: str) -> None:
    assert 'class="banner"' not in luck
    readings = results.read("tried").assign(data="simulated", partition="random")
    results.write(readings, "tried")
    page.main("luck")
    banner = paths.LUCK.read_text(encoding="utf-8").split('<p class="banner"')[1].split("</p>")[0]
    assert "COMPAS is simulated, split at random" in " ".join(banner.split())


def test_what_is_not_printed_has_a_page_too(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from infofair import datasets

    monkeypatch.setattr(datasets, "__path__", [*datasets.__path__, str(ROOT / "examples")])
    inputs.write_luck(copy, {"loans": ["gender", "age_group"]})
    page.main("luck")
    document.main("results-luck")
    text = paths.LUCK.read_text(encoding="utf-8")
    assert "The paper prints none of these cells." in text
    assert 'id="tried"' not in text
