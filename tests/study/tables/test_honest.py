"""The table of the honest profile, in its three formats."""

import re

import numpy as np
import pandas as pd
import pytest

from study import labels
from study.tables import honest
from tests.compared import METHODS, summary
from tests.study.tables.formats import AWKWARD, FORMATS, READ, WRITE, Cells, Page


def written(table: pd.DataFrame, form: str) -> str:
    return WRITE[form](honest.blocks(table), honest.layout(table))


def shown(table: pd.DataFrame, form: str) -> Cells:
    return READ[form](written(table, form))


def naive(row: pd.Series) -> list[str]:
    """What the table must say of a row, computed another way: from the intervals' widths."""
    texts = []
    for name in ("micro_f1", "imparity", "more_imparity"):
        half = (row[f"{name}_high"] - row[f"{name}_low"]) / 2
        texts.append(f"{row[name]:.3f} ± {half:.3f}".replace("-0.000", "0.000").replace("-", "−"))
    if row["p_holm"] < 0.05:
        texts[2] += " ▼" if row["more_imparity"] < 0 else " ▲"
    if row["dominated_by"]:
        texts[0] += " ▣"
    if row["method"] in ("vanilla", "vanilla_paper", "vanilla_unaware"):
        texts[2] = "–"
    return texts


@pytest.mark.parametrize("form", FORMATS)
def test_every_cell_is_the_summarys_figure(form: str) -> None:
    table = summary()
    some = table.index[table["method"] == "gdp"][0]
    more = [f"more_imparity{end}" for end in ("", "_low", "_high")]
    table.loc[some, [*more, "p_holm"]] = 0.05, 0.04, 0.06, 0.001
    wanted: Cells = {}
    for dataset, title in (("compas", "COMPAS"), ("adult", "Adult Income")):
        for method in METHODS:
            name = labels.full_method_name(method)
            known = "no" if method.endswith(("_unaware", "_blind")) else "yes"
            cells = wanted.setdefault((title, name, known), [])
            for setting in ("gender", "race", "intersection"):
                here = (table["dataset"] == dataset) & (table["setting"] == setting)
                own = table[here & (table["method"] == method)]
                cells += ["N/A"] * 3 if own.empty else naive(own.iloc[0])
    assert shown(table, form) == wanted
    marks = "".join(text for texts in wanted.values() for text in texts)
    assert all(mark in marks for mark in "▼▲▣")


@pytest.mark.parametrize(
    ("more", "p", "side"),
    [(-2, 0.01, "▼"), (1, 0.049, "▲"), (-1, 0.05, ""), (1, 0.3, ""), (np.nan, np.nan, "")],
)
def test_a_difference_is_marked_if_the_splits_tell(more: float, p: float, side: str) -> None:
    assert honest.mark(more, p) == side


@pytest.mark.parametrize("form", FORMATS)
def test_a_single_split_has_no_interval_and_no_mark(form: str) -> None:
    text = written(summary(splits=1), form)
    table = text[: text.index("Not as in the paper")]
    assert "▼" not in table
    assert "nan" not in text
    cells = shown(summary(splits=1), form)
    assert all(re.fullmatch(r"−?0\.\d{3}( ▣)?", text) for text in cells["COMPAS", "GDP", "yes"])


@pytest.mark.parametrize("form", FORMATS)
def test_constant_and_diverged_models_are_said(form: str) -> None:
    table = summary()
    here = (table["dataset"] == "adult") & (table["setting"] == "race")
    gdp, fcfc = (here & (table["method"] == name) for name in ("gdp", "fcfc"))
    table.loc[gdp, ["constant", "dominated_by"]] = 0.5, ""
    table.loc[fcfc, table.columns[list(table.columns).index("micro_f1") : -4]] = np.nan
    cells = shown(table.fillna({"dominated_by": ""}), form)
    assert cells["Adult Income", "GDP", "yes"][3].endswith(" †2/4")
    assert cells["Adult Income", "FCFC", "yes"][3:6] == ["diverged", "–", "–"]
    assert sum("†" in text for texts in cells.values() for text in texts) == 1


def test_who_dominates_is_said_where_a_cell_is_pointed_at() -> None:
    table = summary(("adult",), settings=("gender",))
    by = ["boosting_thresholds,vanilla_thresholds" if m == "gdp" else "" for m in table["method"]]
    text = written(table.assign(dominated_by=by), "html")
    assert text.count("▣</td>") == 1
    assert 'title="dominated by Boosting, thresholds; Vanilla, thresholds"' in text


@pytest.mark.parametrize("form", FORMATS)
def test_simulated_data_is_said_loudly(form: str) -> None:
    assert "SIMULATED" not in written(summary(), form)
    table = summary()
    table.loc[table["dataset"] == "compas", "data"] = "simulated"
    text = written(table, form)
    start = text.index("Adult Income")  # whose figures are not
    assert "SIMULATED DATA" in text[:start]
    assert "SIMULATED" not in text[start:]


@pytest.mark.parametrize("form", FORMATS)
def test_the_legend_counts_splits_and_the_head_groups(form: str) -> None:
    text = written(summary(("adult",), settings=("gender", "race")), form)
    assert "over splits (4 of them)" in text
    assert "gender (2 groups)" in text
    assert "race (4 groups)" in text


@pytest.mark.parametrize("form", FORMATS)
def test_names_are_shown_as_they_are(form: str) -> None:
    table = summary((AWKWARD,), ("vanilla", AWKWARD), ("gender", AWKWARD))
    assert (labels.dataset_name(AWKWARD), labels.method_name(AWKWARD), "yes") in shown(table, form)


def test_the_html_has_its_own_ids_and_every_figure_in_full() -> None:
    table = summary(("adult",))
    text = written(table, "html")
    page = Page(text)
    assert 'id="honest-adult"' in text
    assert 'id="results-' not in text
    row = next(row for row in page.tables[0] if row[0][2] == "GDP")
    values = [float(attrs["data-value"] or "") for tag, attrs, _ in row if tag == "td"]
    gdp = table[table["method"] == "gdp"][["micro_f1", "imparity", "more_imparity"]]
    np.testing.assert_allclose(values, gdp.to_numpy().ravel(), rtol=1e-5)


def test_the_latex_names_its_notebook_and_is_plain() -> None:
    text = written(summary(), "latex")
    assert "notebooks/honest_table.ipynb" in text
    assert r"\label{tab:honest-adult}" in text
    assert text.isascii()
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
