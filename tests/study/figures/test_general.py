"""The figures of the generalisations."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from study import figures, labels
from study.figures.style import svg
from study.tables.general import STUDIES, cells
from tests import generalised
from tests.study.figures.drawn import by_gid


@pytest.mark.parametrize("study", generalised.PLACES)
def test_a_line_leads_through_a_methods_strengths_at_its_test_figures(study: str) -> None:
    table = generalised.table(study)
    lines = by_gid(figures.general(table, study))
    own = STUDIES[study]
    of: dict[str, tuple[pd.DataFrame, tuple[str, ...]]] = {}  # line -> its rows, and gap
    for (*place, method), rows in table.groupby(["dataset", "setting", "method"], sort=False):
        for notion, gap in {"": own.gap, **{n: (g,) for n, g in own.notions.items()}}.items():
            if method == "vanilla" or own.notion(method) == notion:
                of["-".join(["line", *place, *[notion] * bool(notion), method])] = rows, gap
    assert set(lines) == set(of)
    for name, (rows, gaps) in of.items():
        quality, gap = (
            next(rows[rows["metric"] == m] for m in named if m in set(rows["metric"]))
            for named in (own.quality, gaps)
        )
        line = lines[name]
        assert list(line.get_xdata()) == gap["mean"].tolist()
        assert list(line.get_ydata()) == quality["mean"].tolist()


def test_what_is_chosen_has_a_ring_and_vanilla_its_floor_and_quantile() -> None:
    table = generalised.table("graph")
    figure = figures.general(table, "graph")
    for axes, cell in zip(figure.axes, cells(table, "graph"), strict=True):
        rings = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
        marked = {(x, y) for ring in rings for x, y in ring.get_xydata()}
        assert marked == {(p.gap.mean, p.quality.mean) for p in cell.chosen.values()}
        upright = [line.get_xdata()[0] for line in axes.lines if list(line.get_ydata()) == [0, 1]]
        assert upright == [cell.vanilla.gap.null_95, cell.vanilla.gap.floor]


def test_up_is_better_also_where_less_is() -> None:
    (axes,) = figures.general(generalised.table("recommendation"), "recommendation").axes
    bottom, top = axes.get_ylim()
    assert bottom > top


def test_a_gap_whose_chance_is_far_from_0_is_not_drawn_from_there() -> None:
    table = generalised.table("recommendation")
    table = table.assign(**{name: table[name] + 0.5 for name in ("mean", "floor", "null_95")})
    (axes,) = figures.general(table, "recommendation").axes
    assert axes.get_xlim()[0] > 0.4


def test_every_method_has_a_look_and_a_name_of_its_own() -> None:
    for study, methods in generalised.METHODS.items():
        lines = by_gid(figures.general(generalised.table(study), study))
        looks = {(line.get_color(), line.get_marker()) for line in lines.values()}
        assert len(looks) == len(methods) + 1
        assert len({labels.general_name(method) for method in methods}) == len(methods)


@pytest.mark.parametrize("count", range(1, 8))
def test_any_number_of_panels_and_one_split_are_drawn(count: int, tmp_path: Path) -> None:
    places = {"adult": [f"s{i}" for i in range(count)]}
    table = generalised.table("graph", places, ("fitted", "mine", "yours"), splits=1)
    figure = figures.general(table, "graph")
    assert len(figure.axes) == count
    figures.save(figure, tmp_path / "general.png")


def test_a_strength_far_off_does_not_squash_the_rest() -> None:
    table = generalised.table("regression", {"law": ["gender"]}, ("fitted",))
    bad = (table["metric"] == "r2") & (table["strength"] == 10)
    (axes,) = figures.general(table.assign(mean=table["mean"].mask(bad, -50.0)), "regression").axes
    low, high = axes.get_ylim()
    assert -1 < low < 0.14 < high < 0.3


def test_simulated_data_is_said_to_be_and_the_same_table_gives_the_same_bytes() -> None:
    table = generalised.table("bottleneck", data="simulated")
    figure = figures.general(table, "bottleneck")
    (said,) = [text.get_text() for text in figure.texts]
    assert said == "Adult Income: SIMULATED DATA, not the real dataset."
    assert svg(figure) == svg(figures.general(table, "bottleneck"))


def test_a_gap_without_a_floor_is_drawn_without_one() -> None:
    table = generalised.table("graph").assign(floor=np.nan, null_95=np.nan)
    for axes in figures.general(table, "graph").axes:
        assert not axes.patches
