"""The figure of the fronts."""

from pathlib import Path

import pytest

from study import figures, fronts, labels
from tests import frontiers
from tests.study.figures.drawn import by_gid


def test_a_line_leads_through_a_methods_front_at_its_test_figures() -> None:
    table = frontiers.runs()
    summary, areas = frontiers.frontier(table)
    figure = figures.frontier(summary, areas)
    lines = by_gid(figure)
    bands = {
        str(c.get_gid()): c for axes in figure.axes for c in axes.collections if c.get_gid()
    }  # fmt: skip
    cells = {key: rows for key, rows in fronts.cells(summary) if key[2] != "vanilla"}
    assert set(lines) == {f"front-{'-'.join(key)}" for key in cells}
    for key, rows in cells.items():
        chosen = fronts.front(rows).sort_values("imparity")
        line, band = lines[f"front-{'-'.join(key)}"], bands[f"band-{'-'.join(key)}"]
        assert list(line.get_xdata()) == chosen["imparity"].tolist()
        assert list(line.get_ydata()) == chosen["micro_f1"].tolist()
        corners = band.get_paths()[0].vertices
        spread = chosen["micro_f1_std"].fillna(0)
        assert corners[:, 1].max() == pytest.approx((chosen["micro_f1"] + spread).max())
        assert corners[:, 1].min() == pytest.approx((chosen["micro_f1"] - spread).min())


def test_vanilla_the_constant_predictor_and_the_noise_floor_are_marked() -> None:
    summary, areas = frontiers.frontier(frontiers.runs(("adult",)))
    vanilla = areas[areas["method"] == "vanilla"].itertuples()
    for axes, row in zip(figures.frontier(summary, areas).axes, vanilla, strict=True):
        points = {
            (line.get_xdata()[0], line.get_ydata()[0])
            for line in axes.lines
            if len(line.get_xdata()) == 1
        }
        assert (row.vanilla_imparity, row.vanilla_micro_f1) in points
        assert (0, row.constant_micro_f1) in points
        assert any(list(line.get_xdata()) == [row.floor] * 2 for line in axes.lines)
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        assert left < 0 < row.vanilla_imparity < right
        assert low < row.constant_micro_f1 < row.vanilla_micro_f1 < high


def test_infofair_stands_out_and_every_other_method_has_a_look_of_its_own() -> None:
    more = ("infofair_fitted", "one", "two", "three", "four")
    lines = by_gid(
        figures.frontier(*frontiers.frontier(frontiers.runs(("adult",), (*labels.PAPER, *more))))
    )
    of_panel = {gid: line for gid, line in lines.items() if gid.startswith("front-adult-gender-")}
    assert len(of_panel) == 13
    assert len({(line.get_color(), line.get_marker()) for line in of_panel.values()}) == 13
    strong = {gid.split("-")[-1] for gid, line in of_panel.items() if line.get_linewidth() > 1}
    assert strong == {"infofair", "infofair_fitted"}


def test_a_constant_predictor_far_below_the_fronts_is_named_at_the_edge() -> None:
    table = frontiers.runs(("adult",), ("vanilla", "gdp", "di"), ("gender",))
    summary, areas = frontiers.frontier(table)
    (axes,) = figures.frontier(summary, areas.assign(constant_micro_f1=0.1)).axes
    low, high = axes.get_ylim()
    assert low > 0.6
    assert high < 0.9
    assert ".10" in [text.get_text() for text in axes.texts]


def test_fronts_of_few_methods_and_settings_are_drawn_too(tmp_path: Path) -> None:
    for names in (("vanilla",), ("vanilla", "gdp", "mine")):
        table = frontiers.runs(("adult", "other"), names, ("gender",))
        figures.save(figures.frontier(*frontiers.frontier(table)), tmp_path / "frontier.svg")


def test_simulated_fronts_are_said_to_be() -> None:
    table = frontiers.runs(("adult",)).assign(data="simulated")
    figure = figures.frontier(*frontiers.frontier(table))
    assert "SIMULATED DATA, not the real dataset." in [text.get_text() for text in figure.texts]
