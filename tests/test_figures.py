import itertools
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from stages import figures, fronts, tables
from tests import frontiers
from tests.conftest import ROOT
from tests.summaries import SETTINGS, summary


def committed() -> pd.DataFrame:
    path = ROOT / "results/summary.csv"
    if not path.exists():
        pytest.skip("results/summary.csv is not there: run dvc repro")
    table = tables.read(path)
    if set(table["dataset"]) != set(tables.DATASETS) or (table["data"] != "real").any():
        pytest.skip("the results in this workspace are not of the paper's three datasets")
    return table


def experiments() -> pd.DataFrame:
    """Four values of alpha, one of them twice, with another number of seeds."""
    rows = []
    runs = [(0.1, ""), (0.01, ""), (0.5, ""), (1.0, ""), (0.5, "seeds")]
    for (alpha, changed), dataset, setting in itertools.product(runs, ("adult", "dutch"), SETTINGS):
        place = SETTINGS.index(setting)
        rows.append(
            {
                "experiment": f"{alpha} {changed}", "baseline": alpha == 0.1, "alpha": alpha,
                "changed": changed, "dataset": dataset, "setting": setting,
                "micro_f1": 0.83 - 0.02 * alpha - 0.001 * place,
                "imparity": 0.1 * (1 + place) - 0.03 * alpha, "reduction": 0.1 * alpha,
                "vanilla_micro_f1": 0.83, "vanilla_imparity": 0.1 * (1 + place),
                "vanilla_reduction": np.nan,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


@cache
def drawn(name: str) -> Figure:
    if name == "sweep":
        return figures.sweep(experiments())
    if name == "frontier":
        return figures.frontier(*frontiers.frontier(frontiers.runs()))
    return getattr(figures, name)(committed())


def by_gid(figure: Figure) -> dict[str, Line2D]:
    lines = [line for axes in figure.axes for line in axes.lines if line.get_gid()]
    found = {str(line.get_gid()): line for line in lines}
    assert len(found) == len(lines)
    return found


def panel(figure: Figure, row: int, column: int) -> Axes:
    return figure.axes[3 * row + column]


NAMES = ["tradeoff", "ablation", "frontier", "sweep"]


# -- all figures ---------------------------------------------------------------------------------


def assert_readable(figure: Figure) -> None:
    """No text is small or cut off, and none lies on another."""
    with figures.styled():
        figure.draw_without_rendering()
        texts = [
            text for text in figure.findobj(Text)
            if text.get_text().strip() and text.get_visible() and text.get_text() != "SIMULATED"
        ]  # fmt: skip
        boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    assert len(boxes) > 15
    assert min(text.get_fontsize() for text in texts) >= 6
    page = figure.bbox
    for text, box in boxes:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, text
        assert page.y0 <= box.y0 < box.y1 <= page.y1, text
    for (a, one), (b, other) in itertools.combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert width < 0.5 or height < 0.5, f"{a!r} lies on {b!r}"


@pytest.mark.parametrize("name", NAMES)
def test_all_text_of_the_papers_figures_is_readable(name: str) -> None:
    assert_readable(drawn(name))


@pytest.mark.parametrize("name", ["tradeoff", "ablation"])
@pytest.mark.parametrize(
    "attributes",
    [
        ["gender"],
        ["gender", "region", "age_group"],
        ["gender", "age_group", "country_of_birth", "marital_status"],
    ],
)
def test_all_text_of_any_number_of_attributes_is_readable(name: str, attributes: list[str]) -> None:
    settings = (*attributes, *["intersection"] * (len(attributes) > 1))
    # on one spot, because what is written beside points is not what this is about
    figures_of = {
        "micro_f1": 0.8,
        "macro_f1": 0.7,
        "imparity_released": 0.1,
        "paper_micro_f1": np.nan,
    }
    own = summary(("loan_offers",), ("vanilla", "infofair", "infofair_ts"), settings)
    assert_readable(getattr(figures, name)(own.assign(**figures_of)))


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


def test_a_selected_model_without_a_reduction_has_a_bar_all_the_same() -> None:
    table = summary(("adult",))
    table.loc[table["protocol"] == "paper", "reduction_released"] = np.nan  # vanilla's imparity: 0
    bars = [patch for axes in figures.ablation(table).axes for patch in axes.patches]
    assert len([bar for bar in bars if bar.get_gid()]) == 3 * 3 * 3


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_as_wide_as_their_place_and_fit_on_a_page(name: str) -> None:
    width, height = drawn(name).get_size_inches()
    assert width == (figures.PAGE if name == "frontier" else 3.5)
    assert height < 6


@pytest.mark.parametrize("name", NAMES)
def test_the_same_table_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    figure = drawn(name)
    with matplotlib.rc_context({"font.size": 20, "lines.markersize": 9, "svg.fonttype": "none"}):
        other = drawn.__wrapped__(name)  # whatever a user has configured
        for kind in ("svg", "png"):
            figures.save(figure, tmp_path / f"first.{kind}")
            figures.save(other, tmp_path / f"other.{kind}")
    figures.save(figure, tmp_path / "again.svg")
    content = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert content["first.svg"] == content["other.svg"] == content["again.svg"]
    assert content["first.png"] == content["other.png"]
    assert len(content) == 5  # nothing half-written


def test_another_process_draws_the_same_bytes(tmp_path: Path) -> None:
    figures.save(figures.tradeoff(summary()), tmp_path / "here.svg")
    code = (
        "from stages import figures; from tests.summaries import summary; "
        f"figures.save(figures.tradeoff(summary()), {str(tmp_path / 'there.svg')!r})"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=tmp_path)
    assert (tmp_path / "here.svg").read_bytes() == (tmp_path / "there.svg").read_bytes()


def test_svg_needs_no_font_and_says_no_date(tmp_path: Path) -> None:
    figures.save(figures.tradeoff(summary()), tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text("utf-8")
    assert "<text" not in text
    assert "dc:date" not in text


@pytest.mark.parametrize("name", ["tradeoff", "ablation"])
def test_simulated_data_is_said_at_the_top_and_in_its_panels(name: str) -> None:
    table = summary()
    assert not any("SIMULATED" in t.get_text() for t in getattr(figures, name)(table).findobj(Text))
    table.loc[table["dataset"] == "adult", "data"] = "simulated"
    figure = getattr(figures, name)(table)
    top = [text.get_text() for text in figure.texts]
    assert "Adult Income: SIMULATED DATA, not the real dataset." in top
    for row in (0, 1):
        for column in range(3):
            marks = [text.get_text() for text in panel(figure, row, column).texts]
            assert ("SIMULATED" in marks) == (row == 0)


# -- trade-off -----------------------------------------------------------------------------------

# Machado, Oliveira and Fernandes 2009, severity 1; linear RGB to linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def lab(colour: str, deficiency: str) -> np.ndarray:
    """A colour as it is seen, in CIELAB."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ linear / [0.95047, 1, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_methods_differ_in_shape_and_in_colour_for_every_eye(deficiency: str) -> None:
    assert set(figures.LOOKS) == set(tables.METHODS | tables.MORE_METHODS)
    assert len({shape for _, shape in figures.LOOKS.values()}) == len(figures.LOOKS)
    colours = [lab(colour, deficiency) for colour, _ in figures.LOOKS.values()]
    for one, other in itertools.combinations(colours, 2):
        assert np.linalg.norm(one - other) > 15  # about 2 can just be told apart


def test_infofair_is_a_red_star() -> None:
    star = by_gid(figures.tradeoff(summary()))["point-adult-race-infofair"]
    assert star.get_marker() == "*"
    red, green, blue = to_rgb(star.get_markerfacecolor())
    assert red > 0.8
    assert max(green, blue) < 0.2


def test_every_point_of_the_table_has_an_id_in_the_svg(tmp_path: Path) -> None:
    table = summary(methods=("mine", *tables.METHODS, "infofair_ts"))
    figures.save(figures.tradeoff(table), tmp_path / "figure.svg")
    ids = [e.get("id") for e in ElementTree.parse(tmp_path / "figure.svg").iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    mean = table[(table["protocol"] == "mean") & (table["method"] != "infofair_ts")]
    rows = mean[["dataset", "setting", "method"]].agg("-".join, axis=1)
    assert {i for i in ids if i.startswith("point-")} == {f"point-{row}" for row in rows}
    printed = rows[mean["paper_micro_f1"].notna()]
    assert {i for i in ids if i.startswith("paper-")} == {f"paper-{row}" for row in printed}


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


def test_a_dashed_line_marks_vanillas_imparity_and_a_dotted_one_the_noise_floor() -> None:
    table = summary()
    figure = figures.tradeoff(table)
    mean = table[(table["protocol"] == "mean") & (table["method"] == "vanilla")]
    for axes, row in zip(figure.axes, mean.itertuples(), strict=True):
        levels = {
            line.get_ydata()[0]: line.get_linestyle()
            for line in axes.lines
            if line.get_linestyle() != "-" and len(line.get_xdata()) == 2
        }
        assert set(levels) == {row.imparity_released, row.floor_released}
        grey = [patch for patch in axes.patches if to_rgb(patch.get_facecolor()) != (1, 1, 1)]
        tops = [patch.get_y() + patch.get_height() for patch in grey]
        assert tops == [pytest.approx(row.floor_released)]


def test_the_front_is_a_staircase_through_its_methods() -> None:
    table = summary(("adult",))
    axes = panel(figures.tradeoff(table), 0, 1)
    best = tables.front(table, "adult", "race")
    corners = list(zip(best["micro_f1"], best["imparity_released"], strict=True))
    stairs = [
        list(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for line in axes.lines
        if len(line.get_xdata()) == 2 * len(corners) + 1 and line.get_color() == figures.GREY
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
    table["floor_released"] = 0.01
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
        for method in tables.METHODS
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


def test_methods_that_are_not_ours_get_looks_of_their_own() -> None:
    look = figures.looks(["vanilla", "one", "two", "infofair"])
    assert len({colour for colour, _ in look.values()}) == 4
    assert len({shape for _, shape in look.values()}) == 4


# -- fronts --------------------------------------------------------------------------------------


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
        figures.frontier(*frontiers.frontier(frontiers.runs(("adult",), (*tables.METHODS, *more))))
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


# -- ablation ------------------------------------------------------------------------------------


def test_bars_lead_from_vanilla_to_the_mean_with_the_spread_across() -> None:
    table = summary()
    figure = figures.ablation(table)
    of = table.set_index(["dataset", "setting", "method", "protocol"])
    bars = {
        patch.get_gid(): patch for axes in figure.axes for patch in axes.patches if patch.get_gid()
    }
    assert len(bars) == 2 * 3 * 3 * 3  # datasets, settings, variants, metrics
    for gid, bar in bars.items():
        dataset, setting, variant, metric = str(gid).removeprefix("bar-").split("-")
        vanilla = of.loc[(dataset, setting, "vanilla", "mean"), metric]
        mean, std, chosen = (
            of.loc[(dataset, setting, variant, p), metric] for p in ("mean", "std", "paper")
        )
        assert bar.get_x() == pytest.approx(vanilla)
        assert bar.get_x() + bar.get_width() == pytest.approx(mean)
        y = bar.get_y() + bar.get_height() / 2
        across = [line.get_xdata() for line in bar.axes.lines if np.allclose(line.get_ydata(), y)]
        wanted = [[mean - std, mean + std], [chosen]]
        assert [list(map(float, x)) for x in across] == [pytest.approx(x) for x in wanted]


def test_variants_differ_in_colour_and_in_hatching() -> None:
    assert set(figures.VARIANT_LOOKS) == set(tables.VARIANTS)
    colours, hatches = zip(*figures.VARIANT_LOOKS.values(), strict=True)
    assert len(set(colours)) == len(set(hatches)) == 3


# -- experiments ---------------------------------------------------------------------------------


def test_lines_follow_alpha_and_leave_out_what_differs_in_more() -> None:
    frame = experiments()
    axes = panel(figures.sweep(frame), 1, 0)
    lines = [
        line for line in axes.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 2
    ]
    alone = frame[(frame["dataset"] == "dutch") & (frame["changed"] == "")].sort_values("alpha")
    for line, setting in zip(lines, SETTINGS, strict=True):
        assert list(line.get_xdata()) == [0.01, 0.1, 0.5, 1]
        wanted = alone.loc[alone["setting"] == setting, "micro_f1"]
        assert list(line.get_ydata()) == wanted.tolist()


@pytest.mark.parametrize(
    "alphas", [[], [0.1], [0.1, 0.2], [0, 0.1, 1], [0.01, 0.1, 0.3, 0.5, 1, 2]]
)
def test_any_number_of_experiments_is_drawn(alphas: list[float]) -> None:
    frame = experiments().iloc[:1]
    rows = [frame.assign(alpha=alpha, baseline=i == 0) for i, alpha in enumerate(alphas)]
    picture = figures.png(figures.sweep(pd.concat(rows) if rows else frame.iloc[:0]))
    assert picture.startswith(b"\x89PNG")
