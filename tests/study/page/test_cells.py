"""What is counted over the cells of the summary."""

import numpy as np
import pytest

from study.page import cells as counted
from study.page.cells import TOLERANCES
from study.results import PRINTED
from tests.study.page.inputs import summary, with_differences


def test_cells_near_the_papers_are_counted_up_to_the_edge() -> None:
    table = summary()
    chosen = (table["protocol"] == "paper") & table["paper_micro_f1"].notna()
    edges = np.resize([0.0, 0.01, -0.01, 0.02, 0.0201, -0.02, 0.5], chosen.sum())
    expected = {}
    for name, ours in PRINTED.items():
        table.loc[chosen, ours] = table.loc[chosen, f"paper_{name}"] + edges
        expected[name] = [int((np.abs(edges) <= limit).sum()) for limit in TOLERANCES]
        edges = np.roll(edges, 1)
    printed = [cell for cell in counted.cells(with_differences(table)) if cell.printed]
    found = counted.agreement(printed)
    assert found.pop("cells") == chosen.sum()
    assert found == {
        heading: expected[name]
        for heading, name in counted.COMPARED.items()
    }  # fmt: skip


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


@pytest.mark.parametrize(("limit", "near"), [(0.02, ["vanilla"]), (0.5, ["vanilla", "gdp"])])
def test_a_method_is_near_if_all_of_its_figures_are(limit: float, near: list[str]) -> None:
    table = summary(["vanilla", "gdp"], {"adult": ["gender", "race"]})
    for name, ours in PRINTED.items():
        table[ours] = table[f"paper_{name}"]
    far = (table["method"] == "gdp") & (table["setting"] == "race")
    table.loc[far, "macro_f1"] += 0.3
    assert counted.within(limit, counted.cells(with_differences(table))) == near
