"""What the paper's page says."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from infofair.data import dataset as datasets
from infofair.metrics import imparity_released
from stages import document, page
from study import paths, results
from tests.conftest import ROOT
from tests.study.page import inputs
from tests.study.page.inputs import METHODS, SETTINGS, summary, text_of


def made(table: pd.DataFrame | None = None) -> str:
    """The page of this summary, in the current folder."""
    if table is not None:
        results.write(table, "summary")
    page.main("index")
    return paths.INDEX.read_text(encoding="utf-8")


def test_what_no_prediction_can_score_is_what_a_constant_one_does(index: str) -> None:
    text = text_of(index)
    for groups, empty in ((6, 1), (12, 3)):
        present = np.arange(groups - empty)
        constant = imparity_released(np.zeros(len(present), int), present, groups)
        assert f"{constant:.3f} on COMPAS" in text
    # the paper prints 0.000 for FCFC on COMPAS's race and intersection
    assert "The paper prints less in 2 cells" in text


def test_a_method_that_is_better_in_both_figures_is_named_but_not_an_ablation(copy: Path) -> None:
    table = summary()
    table[["micro_f1", "imparity"]] = 0.5
    here = (table["dataset"] == "adult") & (table["setting"] == "race")
    for method in ("gdp", "infofair_ts"):
        table.loc[here & (table["method"] == method), ["micro_f1", "imparity"]] = 0.6, 0.4
    text = text_of(made(table))
    assert "in 1 of 5 settings another method has both" in text
    assert "Adult Income, race: GDP" in text


def test_computed_figures_are_in_the_sentences(index: str) -> None:
    text = text_of(index)
    assert "is_recid alone tells the label with a balanced accuracy of 0.973" in text
    assert "−580 on COMPAS (its task loss T: 0.40)" in text
    assert "it stopped 0 of 2 models before the last epoch" in text
    assert "a “reduction” of 5.0% to 5.0%" in text
    assert "is below vanilla’s in 4 of 4 rows" in text


def test_data_that_is_not_the_papers_is_said_at_the_top(copy: Path, index: str) -> None:
    assert 'class="banner"' not in index
    text = made(summary(data="simulated", partition="random"))
    banner = text.split('<p class="banner"')[1].split("</p>")[0]
    assert "COMPAS is simulated, split at random" in " ".join(banner.split())
    assert text.index('class="banner"') < text.index("<h1")


def test_a_dataset_that_is_not_the_papers_is_kept_apart_from_what_is_compared(
    copy: Path, monkeypatch: pytest.MonkeyPatch, index: str
) -> None:
    from infofair import datasets as folder

    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(ROOT / "examples")])
    places = {**SETTINGS, "loans": ["gender", "age_group", "intersection"]}
    table = summary(places=places)
    own = table["dataset"] == "loans"
    table.loc[own, "partition"] = "random"
    inputs.write_index(copy, table, places)
    assert datasets.load("loans")
    text = made()
    assert 'class="banner"' not in text
    assert "computed again on COMPAS and Adult Income with" in text_of(text)
    assert "Loans is not a dataset of the paper" in text_of(text)
    gains = [
        cells["vanilla"] > cells["infofair"]
        for cells in (
            table[own & (table["setting"] == setting) & (table["protocol"] == "mean")]
            .set_index("method")["imparity"]
            .to_dict()
            for setting in places["loans"]
        )
    ]
    assert f"below vanilla’s in {sum(gains)} of 3 settings" in text_of(text)
    # what is counted of the paper's stays as it is without
    counts = re.compile(r'aria-label="Agreement with the paper".*?</table>', re.DOTALL)
    assert counts.findall(text) == counts.findall(index) != []
    assert ">your own file<" in text


def test_a_method_of_ones_own_is_on_the_page_and_in_the_document(copy: Path) -> None:
    text = made(summary([*METHODS, "fair_forest"]))
    for setting in SETTINGS["compas"]:
        assert f'<tr id="row-compas-{setting}-fair_forest"' in text
    assert '<option value="fair_forest">Fair forest</option>' in text
    assert '<tbody class="method" data-method="fair_forest">' in text
    document.main("results")
    assert "| **Fair forest** | ours, selected |" in paths.DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize("methods", [["vanilla"], ["infofair"], ["gdp", "fcfc"]])
def test_a_smaller_run_has_a_page_too(copy: Path, methods: list[str]) -> None:
    for name in ("subsets", "selection"):  # without vanilla or an intersection: no rows
        results.write(results.read(name).head(0), name)
    text = made(summary(methods))
    for method in METHODS:
        assert (f'data-method="{method}"' in text) == (method in methods)
    document.main("results")
    shown = re.sub(r"<(script|style)>.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r"\bnan\b", shown + paths.DOCUMENT.read_text(encoding="utf-8"))


def test_points_and_bars_lead_to_their_rows(index: str) -> None:
    mean = summary().query("dataset == 'compas' and setting == 'gender' and protocol == 'mean'")
    for figure, method in (("tradeoff", "vanilla"), ("ablation", "infofair")):
        start = re.search(rf'<svg [^>]*id="{figure}"', index)
        assert start is not None
        here = re.compile(rf'<a href="#row-compas-gender-{method}"><title>(.*?)</title>')
        link = here.search(index, start.start())
        assert link is not None
        f1 = mean.set_index("method").loc[method, "micro_f1"]
        assert f"mean micro F1 {f1:.3f} ± " in link[1]
