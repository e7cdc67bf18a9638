"""What is counted over the cells of the summary."""

import numpy as np

from study.page import cells as counted
from tests.study.page.inputs import summary


def test_cells_are_in_the_papers_order_with_a_method_of_ones_own_before_infofair() -> None:
    found = counted.cells(summary(["infofair", "infofair_ts", "mine", "vanilla"]))
    assert [cell.method for cell in found[:4]] == ["vanilla", "mine", "infofair", "infofair_ts"]
    assert found[2].printed and not found[1].printed
    assert found[8].attributes == "gender & race"


def test_better_is_better_in_both_figures_and_in_the_same_setting() -> None:
    table = summary(["infofair", "gdp", "fcfc"])
    table[["micro_f1", "imparity"]] = 0.5
    here = (table["dataset"] == "adult") & (table["setting"] == "race")
    table.loc[here & (table["method"] == "gdp"), ["micro_f1", "imparity"]] = 0.6, 0.4
    table.loc[here & (table["method"] == "fcfc"), ["micro_f1", "imparity"]] = 0.6, 0.6
    found = counted.cells(table)
    beaten = {cell.id: counted.better(cell, found) for cell in found if cell.method == "infofair"}
    assert {key: by for key, by in beaten.items() if by} == {"adult-race-infofair": ["gdp"]}


def test_clearly_below_is_by_more_than_both_deviations() -> None:
    table = summary(["vanilla", "infofair"], {"adult": ["gender"]})
    for protocol, method, gap in (
        ("mean", "vanilla", 0.5), ("mean", "infofair", 0.4), ("std", "vanilla", 0.05),
    ):  # fmt: skip
        chosen = (table["protocol"] == protocol) & (table["method"] == method)
        table.loc[chosen, "imparity"] = gap
    for std, clearly in ((0.04, 1), (0.06, 0)):
        chosen = (table["protocol"] == "std") & (table["method"] == "infofair")
        table.loc[chosen, "imparity"] = std
        vanilla, infofair = counted.cells(table)
        found = counted.below([infofair], {vanilla.key: vanilla})
        assert (len(found["at all"]), len(found["clearly"])) == (1, clearly)


def test_the_fairest_of_each_setting_is_counted_by_method() -> None:
    table = summary(["vanilla", "gdp"])
    table["imparity_released"] = np.where(table["method"] == "gdp", 0.2, 0.3)
    lost = (table["dataset"] == "adult") & (table["method"] == "gdp")
    table.loc[lost, "imparity_released"] = 0.3  # a tie is the first's
    found = counted.fairest(counted.cells(table))
    assert {method: len(of) for method, of in found.items()} == {"gdp": 3, "vanilla": 2}


def test_a_change_is_in_parentheses_where_nothing_says_there_is_bias() -> None:
    table = summary(["infofair"], {"adult": ["gender", "race"]})
    table.loc[table["setting"] == "race", "evidence"] = "no"
    gender, race = counted.cells(table)
    assert [cell.change(0.123) for cell in (gender, race)] == ["12.3%", "(12.3%)"]
    assert [cell.change(float("nan")) for cell in (gender, race)] == ["–", "–"]
