"""The figure of the fronts."""

from pathlib import Path

import pandas as pd
import pytest

from study import figures, labels
from study.figures.frontier import best_penalty
from tests.study.figures.drawn import by_gid, fronts

DRAWN = {
    "lfr", "fcfc", "gdp", "dp_gap", "fermi", "infofair", "infofair_fitted", "logistic", "boosting",
    "boosting_thresholds", "vanilla_thresholds", "boosting_blind", "vanilla_blind",
}  # fmt: skip


def naive_front(rows: pd.DataFrame) -> list[tuple[float, float]]:
    """Test figures of the strengths that no other strength beats on validation rows."""
    on = ["validation_micro_f1", "validation_imparity", "micro_f1", "imparity"]
    points = list(rows[on].itertuples(index=False, name=None))
    return sorted(
        (imparity, f1)
        for of1, gap, f1, imparity in points
        if not any(
            a >= of1 and b <= gap and (a, b) != (of1, gap) for a, b, *_ in points
        )
    )  # fmt: skip


def test_a_line_leads_through_a_methods_front_at_its_test_figures() -> None:
    table, areas = fronts()
    figure = figures.frontier(table, areas)
    lines = by_gid(figure)
    parity = table[table["notion"].isin(["", "parity"])]
    cells = {
        tuple(map(str, key)): rows
        for key, rows in parity.groupby(["dataset", "setting", "method"], sort=False)
        if key[2] in DRAWN
    }
    assert set(lines) == {f"front-{'-'.join(key)}" for key in cells}
    for key, rows in cells.items():
        line = lines[f"front-{'-'.join(key)}"]
        shown = list(zip(line.get_xdata(), line.get_ydata(), strict=True))
        assert shown == naive_front(rows)


def test_the_band_of_a_strong_line_is_the_interval_of_its_f1() -> None:
    table, areas = fronts(("adult",))
    figure = figures.frontier(table, areas)
    bands = {
        str(c.get_gid()): c for axes in figure.axes for c in axes.collections if c.get_gid()
    }  # fmt: skip
    strong = {gid.rsplit("-", 1)[-1] for gid in bands}
    assert strong == {
        "infofair", "infofair_fitted", "boosting_thresholds", "boosting_blind", *best_penalty(areas)
    }  # fmt: skip
    line = by_gid(figure)["front-adult-gender-infofair"]
    own = table.query("setting == 'gender' and method == 'infofair'").set_index("imparity")
    corners = bands["band-adult-gender-infofair"].get_paths()[0].vertices
    highest = own.loc[list(line.get_xdata()), ["micro_f1", "micro_f1_width"]].sum(axis=1).max()
    assert corners[:, 1].max() == pytest.approx(highest)


def test_the_best_penalty_is_the_one_that_ranks_first_over_cells() -> None:
    rows = [("gdp", 2.0), ("gdp", 4.0), ("fermi", 1.0), ("fermi", 4.0), ("vanilla", 0.0)]
    assert best_penalty(pd.DataFrame(rows, columns=["method", "rank"])) == ["fermi"]
    assert best_penalty(pd.DataFrame(rows[-1:], columns=["method", "rank"])) == []


def test_vanilla_the_constant_predictor_and_what_a_fair_one_has_are_marked() -> None:
    table, areas = fronts(("adult",))
    vanilla = areas[areas["method"] == "vanilla"].itertuples()
    null = table[table["method"] == "vanilla"].set_index("setting")["imparity_null"]
    for axes, row in zip(figures.frontier(table, areas).axes, vanilla, strict=True):
        points = {
            (line.get_xdata()[0], line.get_ydata()[0])
            for line in axes.lines
            if len(line.get_xdata()) == 1
        }
        assert (row.vanilla_imparity, row.vanilla_micro_f1) in points
        assert (0, row.constant_micro_f1) in points
        assert any(list(line.get_xdata()) == [null[row.setting]] * 2 for line in axes.lines)
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        assert left < 0 < row.vanilla_imparity < right
        assert low < row.constant_micro_f1 < row.vanilla_micro_f1 < high


def test_every_method_has_a_look_of_its_own_and_dashes_if_it_does_without_s() -> None:
    methods = (*labels.METHODS, "one", "two", "boosting_thresholds", "boosting_blind")
    lines = by_gid(figures.frontier(*fronts(("adult",), methods, ("gender",))))
    assert len(lines) == len(methods) - 1  # vanilla is a point
    assert len({(line.get_color(), line.get_marker()) for line in lines.values()}) == len(lines)
    dashed = {gid for gid, line in lines.items() if line.get_linestyle() == "--"}
    assert dashed == {"front-adult-gender-boosting_blind"}


def test_a_constant_predictor_far_below_the_fronts_is_named_at_the_edge() -> None:
    table, areas = fronts(("adult",), ("vanilla", "gdp", "di"), ("gender",))
    (axes,) = figures.frontier(table, areas.assign(constant_micro_f1=0.1)).axes
    low, high = axes.get_ylim()
    assert low > 0.6
    assert high < 0.9
    assert ".10" in [text.get_text() for text in axes.texts]


def test_fronts_of_few_methods_and_settings_are_drawn_too(tmp_path: Path) -> None:
    for names in (("vanilla",), ("vanilla", "gdp", "mine")):
        figure = figures.frontier(*fronts(("adult", "other"), names, ("gender",)))
        figures.save(figure, tmp_path / "frontier.svg")


def test_what_diverged_is_not_drawn() -> None:
    table, areas = fronts(("adult",), ("vanilla", "gdp"), ("gender",))
    of_gdp = table["method"] == "gdp"
    figure = figures.frontier(table.mask(of_gdp & (table["strength"] > 0.1)), areas)
    assert len(by_gid(figure)["front-adult-gender-gdp"].get_xdata()) == 1


def test_simulated_fronts_are_said_to_be() -> None:
    figure = figures.frontier(*fronts(("adult",), data="simulated"))
    assert [text.get_text() for text in figure.texts] == ["SIMULATED DATA, not the real dataset."]
