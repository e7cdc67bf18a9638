"""The table of the honest profile, in its three formats."""

import re

import numpy as np
import pandas as pd
import pytest

from study import labels
from study.honest import summarize
from study.tables import honest
from tests.honests import METHODS, runs, summary
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
    if row["more_imparity_low"] * row["more_imparity_high"] > 0:
        texts[2] += " ▼" if row["more_imparity"] < 0 else " ▲"
    if row["method"] == "vanilla":
        texts[2] = "–"
    return texts


@pytest.mark.parametrize("form", FORMATS)
def test_every_cell_is_the_summarys_figure(form: str) -> None:
    table = summary()
    wanted: Cells = {}
    for dataset, title in (("compas", "COMPAS"), ("adult", "Adult Income")):
        for method in METHODS:
            name = labels.method_name(method)
            cells = wanted.setdefault((title, name, "–" if method == "vanilla" else "0.1"), [])
            for setting in ("gender", "race", "intersection"):
                here = (table["dataset"] == dataset) & (table["setting"] == setting)
                own = table[here & (table["method"] == method)]
                cells += ["N/A"] * 3 if own.empty else naive(own.iloc[0])
    assert shown(table, form) == wanted
    marks = "".join(text for texts in wanted.values() for text in texts)
    assert "▼" in marks
    assert "▲" in marks


@pytest.mark.parametrize(
    ("low", "high", "side"),
    [(-2, -1, "▼"), (1, 2, "▲"), (-1, 1, ""), (0, 0, ""), (np.nan, np.nan, "")],
)
def test_an_interval_is_marked_if_all_of_it_is_on_one_side(
    low: float, high: float, side: str
) -> None:
    assert honest.mark(low, high) == side


@pytest.mark.parametrize("form", FORMATS)
def test_a_single_split_has_no_interval_and_no_mark(form: str) -> None:
    text = written(summary(splits=1), form)
    table = text[: text.index("Not as in the paper")]
    assert "▼" not in table
    assert "nan" not in text
    cells = shown(summary(splits=1), form)
    assert all(re.fullmatch(r"−?0\.\d{3}", text) for text in cells["COMPAS", "GDP", "0.1"])


@pytest.mark.parametrize("form", FORMATS)
def test_constant_and_diverged_models_are_said(form: str) -> None:
    table = runs()
    here = (table["dataset"] == "adult") & (table["setting"] == "race")
    of_gdp, of_di = (table.index[here & (table["method"] == name)] for name in ("gdp", "di"))
    table.loc[of_gdp[:2], "note"] = "constant"
    table.loc[of_di[:1], "note"] = "diverged"
    cells = shown(summarize(table), form)
    assert cells["Adult Income", "GDP", "0.1"][3].endswith(" †2/6")
    assert cells["Adult Income", "DI", "0.1"][3:6] == ["diverged", "–", "–"]
    assert sum("†" in text for texts in cells.values() for text in texts) == 1


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
def test_the_legend_counts_splits_and_seeds_and_the_head_groups(form: str) -> None:
    text = written(summary(("adult",), settings=("gender", "race")), form)
    assert "over splits (3 of them)" in text
    assert "its seeds (2 at most)" in text
    assert "gender (2 groups)" in text
    assert "race (4 groups)" in text


@pytest.mark.parametrize("form", FORMATS)
def test_names_are_shown_as_they_are(form: str) -> None:
    table = summary((AWKWARD,), ("vanilla", AWKWARD), ("gender", AWKWARD))
    assert (labels.dataset_name(AWKWARD), labels.method_name(AWKWARD), "0.1") in shown(table, form)


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
