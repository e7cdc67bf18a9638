"""The trade-off figure."""

import itertools
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from study import figures, labels
from study.figures import style
from study.tables.summary import front
from tests.study.figures.drawn import by_gid, committed, panel
from tests.summaries import SETTINGS, summary


def test_what_the_paper_does_not_print_has_no_key_in_the_legend() -> None:
    def keys(table: pd.DataFrame) -> list[str]:
        legends = figures.tradeoff(table).legends
        return [text.get_text() for legend in legends for text in legend.get_texts()]

    assert "paper" in keys(summary())
    assert "paper" not in keys(summary().assign(paper_micro_f1=np.nan))


def test_each_column_of_panels_says_what_its_axis_is() -> None:
    table = pd.concat([summary(("adult",)), summary(("loans",), settings=("gender",))])
    labels = [axes.get_xlabel() for axes in figures.tradeoff(table).axes]
    assert labels == ["", "micro F1", "micro F1", "micro F1"]


def test_infofair_is_a_red_star() -> None:
    star = by_gid(figures.tradeoff(summary()))["point-adult-race-infofair"]
    assert star.get_marker() == "*"
    red, green, blue = to_rgb(star.get_markerfacecolor())
    assert red > 0.8
    assert max(green, blue) < 0.2


def test_every_point_of_the_table_has_an_id_in_the_svg(tmp_path: Path) -> None:
    table = summary(methods=("mine", *labels.PAPER, "infofair_ts"))
    figures.save(figures.tradeoff(table), tmp_path / "figure.svg")
    ids = [e.get("id") for e in ElementTree.parse(tmp_path / "figure.svg").iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    mean = table[(table["protocol"] == "mean") & (table["method"] != "infofair_ts")]
    rows = mean[["dataset", "setting", "method"]].agg("-".join, axis=1)
    for kind, of in (("point", rows), ("paper", rows[mean["paper_micro_f1"].notna()])):
        found = {i for i in ids if str(i).startswith(f"tradeoff-{kind}-")}
        assert found == {f"tradeoff-{kind}-{row}" for row in of}


def test_points_lie_at_the_mean_and_the_papers_where_it_prints_them() -> None:
    table = committed()
    lines = by_gid(figures.tradeoff(table))
    seen = 0
    for row in table[table["protocol"] == "mean"].itertuples():
        key = f"{row.dataset}-{row.setting}-{row.method}"
        for kind, x, y in (
            ("point", row.micro_f1, row.imparity_released),
            ("paper", row.paper_micro_f1, row.paper_imparity),
        ):
            line = lines.get(f"{kind}-{key}")
            if line is None:
                continue
            axes = line.axes
            low = axes.get_yticks().min()
            (left, right), high = axes.get_xlim(), axes.get_ylim()[1]
            if left <= x <= right and low <= y <= high:
                assert (line.get_xdata()[0], line.get_ydata()[0]) == (x, y)
                seen += 1
    assert seen > 60


def test_a_dashed_line_marks_vanillas_imparity_and_a_dotted_one_what_is_not_told_from_fair() -> (
    None
):
    table = summary()
    figure = figures.tradeoff(table)
    mean = table[(table["protocol"] == "mean") & (table["method"] == "vanilla")]
    for axes, row in zip(figure.axes, mean.itertuples(), strict=True):
        levels = {
            line.get_ydata()[0]: line.get_linestyle()
            for line in axes.lines
            if line.get_linestyle() != "-" and list(line.get_xdata()) == [0, 1]
        }
        assert set(levels) == {row.imparity_released, row.null_95_released}
        grey = [patch for patch in axes.patches if to_rgb(patch.get_facecolor()) != (1, 1, 1)]
        tops = [patch.get_y() + patch.get_height() for patch in grey]
        assert tops == [pytest.approx(row.null_95_released)]


def test_a_line_leads_to_what_a_threshold_alone_does() -> None:
    table = summary(("adult",), ("vanilla", "gdp", "infofair"), ("gender", "race"))
    mean = table["protocol"] == "mean"
    table.loc[mean, ["micro_f1", "imparity_released"]] = 0.8, 0.2
    table.loc[mean & (table["method"] == "gdp"), ["micro_f1", "imparity_released"]] = 0.7, 0.1
    table[["control_micro_f1", "control_imparity_released"]] = 0.75, 0.15
    table.loc[table["setting"] == "race", "control_micro_f1"] = 0.1  # out of the picture
    lines = by_gid(figures.tradeoff(table))
    found = {gid: line for gid, line in lines.items() if gid.startswith("control-")}
    assert set(found) == {"control-adult-gender-gdp", "control-adult-gender-infofair"}
    assert {(*line.get_xdata(), *line.get_ydata()) for line in found.values()} == {(0.75, 0.15)}
    constant = by_gid(figures.tradeoff(table.assign(note="constant")))
    assert not any(gid.startswith("control-") for gid in constant)


def test_a_panel_without_evidence_of_bias_is_marked() -> None:
    table = summary(("adult",))
    table.loc[table["setting"] == "race", "evidence"] = "no"
    figure = figures.tradeoff(table)
    titles = [axes.get_title() for axes in figure.axes]
    assert [title.endswith("‡") for title in titles] == [False, True, False]
    assert "‡" not in "".join(a.get_title() for a in figures.tradeoff(summary()).axes)


def test_the_front_is_a_staircase_through_its_methods() -> None:
    table = summary(("adult",))
    axes = panel(figures.tradeoff(table), 0, 1)
    best = front(table, "adult", "race")
    corners = list(zip(best["micro_f1"], best["imparity_released"], strict=True))
    stairs = [
        list(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for line in axes.lines
        if len(line.get_xdata()) == 2 * len(corners) + 1 and line.get_color() == style.GREY
    ]
    assert len(stairs) == 1
    assert stairs[0][1::2] == corners
    for (x, y), (next_x, next_y) in itertools.pairwise(stairs[0]):
        assert x == next_x or y == next_y
        assert next_x >= x
        assert next_y >= y


def test_what_the_paper_prints_far_away_does_not_squash_the_rest() -> None:
    table = summary(("adult",), ("vanilla", "gdp", "fcfc", "infofair"), ("gender",))
    mean = table["protocol"] == "mean"
    table.loc[mean, "micro_f1"] = [0.83, 0.82, 0.84, 0.81]
    table.loc[mean, "imparity_released"] = [0.06, 0.05, 0.04, 0.05]
    table.loc[table["protocol"] == "std", ["micro_f1", "imparity_released"]] = 0.002
    table["null_95_released"] = 0.01
    printed = {
        "vanilla": (0.83, 0.762, 0.066), "gdp": (0.82, 0.74, 0.215), "fcfc": (0.257, 0.204, 0.0),
        "infofair": (0.816, 0.721, 0.047),
    }  # fmt: skip
    columns = ["paper_micro_f1", "paper_macro_f1", "paper_imparity"]
    for method, values in printed.items():
        table.loc[table["method"] == method, columns] = values
    figure = figures.tradeoff(table)
    axes = figure.axes[0]
    assert axes.get_xlim()[0] > 0.78
    assert axes.get_ylim()[1] < 0.1
    lines = by_gid(figure)
    pixels = {m: lines[f"paper-adult-gender-{m}"].get_window_extent() for m in printed}
    box = axes.bbox
    assert all(box.x0 < p.x0 and p.x1 < box.x1 for p in pixels.values())
    assert all(box.y0 < p.y0 and p.y1 < box.y1 for p in pixels.values())
    texts = [text.get_text() for text in axes.texts]
    assert ".26†" in texts
    assert ".215" in texts


def test_a_constant_predictor_of_ours_is_marked() -> None:
    table = summary(("adult",))
    axes = panel(figures.tradeoff(table), 0, 1)
    assert not any("†" in text.get_text() for text in axes.texts)
    of = (table["method"] == "gdp") & (table["setting"] == "race")
    table.loc[of, "note"] = "constant in 1 of 5 seeds"
    axes = panel(figures.tradeoff(table), 0, 1)
    assert [text.get_text() for text in axes.texts if "†" in text.get_text()] != []


def test_methods_with_the_same_figures_do_not_hide_each_other() -> None:
    table = summary(("adult",), ("vanilla", "di", "gdp", "gerryfair", "infofair"), ("gender",))
    same = (table["method"] != "infofair") & (table["protocol"] == "mean")
    table.loc[same, ["micro_f1", "imparity_released"]] = 0.5, 0.2
    lines = by_gid(figures.tradeoff(table))
    tied = ["vanilla", "di", "gdp", "gerryfair"]
    places = {
        method: line.get_transform().transform((line.get_xdata()[0], line.get_ydata()[0]))
        * 72
        / 100
        for method in labels.PAPER
        if (line := lines.get(f"point-adult-gender-{method}")) is not None
    }
    for one, other in itertools.combinations(tied, 2):
        assert np.hypot(*(places[one] - places[other])) > 4  # points; markers are 4 wide
    alone = lines["point-adult-gender-infofair"]
    there = alone.axes.transData.transform((alone.get_xdata()[0], alone.get_ydata()[0]))
    np.testing.assert_allclose(places["infofair"], there * 72 / 100)


@pytest.mark.parametrize(
    ("methods", "settings"),
    [
        (("infofair",), ("gender",)),
        (("vanilla",), SETTINGS),
        (("fcfc", "gdp"), ("a", "b")),
        (tuple(f"method_{i}" for i in range(9)), ("gender", "more", "most", "intersection")),
    ],
)
def test_smaller_and_larger_runs_are_drawn_too(
    methods: tuple[str, ...], settings: tuple[str, ...], tmp_path: Path
) -> None:
    table = summary(("adult", "other"), methods, settings)
    figures.save(figures.tradeoff(table), tmp_path / "tradeoff.svg")
    figures.save(figures.ablation(table), tmp_path / "ablation.svg")
    lines = by_gid(figures.tradeoff(table))
    assert sum(gid.startswith("point-") for gid in lines) == 2 * len(methods) * len(settings)


def test_where_every_method_is_constant_all_are_shown_and_marked() -> None:
    table = summary(("adult",)).assign(note="constant")
    figure = figures.tradeoff(table)
    assert len([gid for gid in by_gid(figure) if gid.startswith("point-")]) == 9 + 7 + 7
    marks = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert sum("†" in mark for mark in marks) >= 9
