"""Generalisations as points of a trade-off."""

import math

import numpy as np
import pytest

from study import general
from study.tables.general import STUDIES, Figure, Point, cells, to_markdown
from tests import generalised


def test_every_study_has_an_entry() -> None:
    assert tuple(STUDIES) == general.NAMES


def point(quality: float, gap: float, metric: str = "micro_f1") -> Point:
    figures = Figure(metric, quality, 0.01, 5), Figure("imparity", gap, 0.02, 5, 0.01, 0.03)
    return Point("fitted", 1.0, True, *figures)


def test_a_difference_is_counted_in_standard_errors() -> None:
    one, other = Figure("ks", 0.3, 0.03, 9), Figure("ks", 0.2, 0.04, 4)
    assert one.above(other) == pytest.approx(0.1 / math.sqrt(0.03**2 / 9 + 0.04**2 / 4))
    assert other.above(one) == -one.above(other)
    assert Figure("ks", 0.3, math.nan, 1).above(other) == 0  # nothing can be told
    assert Figure("ks", 0.3, 0.0, 5).above(Figure("ks", 0.2, 0.0, 5)) == math.inf
    assert Figure("ks", 0.3, 0.0, 5).above(Figure("ks", 0.3, 0.0, 5)) == 0


def test_a_point_is_no_worse_if_neither_figure_is() -> None:
    assert point(0.8, 0.1).no_worse(point(0.8, 0.1))
    assert point(0.9, 0.1).no_worse(point(0.8, 0.2))
    assert not point(0.9, 0.3).no_worse(point(0.8, 0.2))
    assert not point(0.7, 0.1).no_worse(point(0.8, 0.2))
    assert point(0.7, 0.1, "rmse").no_worse(point(0.8, 0.2, "rmse"))
    assert point(0.7, 0.1, "rmse").better(point(0.8, 0.2, "rmse")) > 0


def test_a_gap_is_by_chance_below_its_quantile() -> None:
    assert point(0.8, 0.03).gap.by_chance
    assert not point(0.8, 0.031).gap.by_chance
    assert not Figure("ks", 0.0, 0.0, 5).by_chance  # no quantile, no word on chance


def test_a_cell_takes_the_first_figure_that_it_has() -> None:
    found = cells(generalised.table("continuous"), "continuous")
    of = {cell.dataset: cell.vanilla.quality.metric for cell in found}
    assert of == {"adult": "micro_f1", "compas": "micro_f1", "crime": "r2"}
    assert [cell.attributes for cell in found][1] == "age & gender"


def test_vanilla_is_first_and_what_lacks_a_figure_is_left_out() -> None:
    table = generalised.table("graph")
    assert [c.methods[0] for c in cells(table.iloc[::-1], "graph")] == ["vanilla"] * 3
    assert cells(table[table["metric"] != "imparity"], "graph") == []


def test_methods_of_equalised_odds_are_beside_vanilla_by_themselves() -> None:
    """With the gap that they are about; whoever asks for one gap has all methods in it."""
    table = generalised.table("equal_opportunity")
    found = cells(table, "equal_opportunity")
    assert [cell.notion for cell in found] == ["", "odds"] * 2
    for cell in found:
        odds = {m for m in cell.methods if m.endswith("_odds")}
        assert {p.gap.metric for p in cell.points} == {
            "odds_gap" if cell.notion else "opportunity_gap"
        }
        expected = {"fitted_odds", "gap_odds", "thresholds_odds"} if cell.notion else set()
        assert odds == expected
        assert (set(cell.methods) == {"vanilla", *odds}) is bool(cell.notion)
        assert cell.place.endswith(", equalised odds") is bool(cell.notion)
    together = cells(table, "equal_opportunity", "odds_gap")
    assert [set(cell.methods) for cell in together] == [set(table["method"])] * 2
    without = table[~table["method"].str.endswith("_odds")]
    assert [cell.notion for cell in cells(without, "equal_opportunity")] == ["", ""]


def test_the_markdown_has_a_line_for_every_point() -> None:
    table = generalised.table("regression")
    text = to_markdown(table, "regression")
    lines = [line for line in text.splitlines() if line.startswith("| ") and "Method" not in line]
    found = cells(table, "regression")
    assert len(lines) == sum(len(cell.points) for cell in found)
    assert text.count(r"\*") == sum(len(cell.chosen) for cell in found)
    assert not np.isin(["nan", "None"], text.split()).any()
