"""Where experiments are: InfoFair's micro F1 and imparity in each, beside the fronts."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from infofair.pareto import pareto
from study.figures import style
from study.figures.style import Link, Picture
from study.labels import FITTED, Look, full_method_name, in_order, looks
from study.results import CELL
from study.tables.layout import number
from study.tables.summary import datasets_of, settings_of

AXES = ["micro_f1", "imparity"]
STRONG = ("infofair", FITTED)
COMMIT: dict[str, Any] = {
    "marker": "*", "markersize": 9, "color": style.RED, "markeredgecolor": "black",
    "markeredgewidth": 0.5, "linestyle": "",
}  # fmt: skip
EXPERIMENT: dict[str, Any] = {
    "marker": "o", "markersize": 8, "markerfacecolor": "white", "markeredgecolor": style.RED,
    "markeredgewidth": 0.8, "linestyle": "",
}  # fmt: skip
ALONE: dict[str, Any] = {  # a method that has no strength
    "markersize": 4.5, "linestyle": "", "markeredgecolor": "white", "markeredgewidth": 0.25,
}  # fmt: skip


def positions(points: pd.DataFrame, frontier: pd.DataFrame) -> Picture:
    """Micro F1 against imparity: the upper left is best.

    points: a row per dataset, setting and revision, of which `place` is the number and `name` what
    it is called; 0 is the commit. frontier: results/frontier.csv, maybe without rows. In the SVG a
    point has the id `positions-point-<dataset>-<setting>-<place>` and leads to `cells-<dataset>-…`.
    """
    names = datasets_of(points)
    settings = {name: settings_of(points, name) for name in names}
    fronts = front_of_cells(frontier[frontier["dataset"].isin(names)])
    methods = in_order(method for _, _, method in fronts)
    look = looks(methods)
    entries = [style.key(full_method_name(m), **_line(look[m], m in STRONG)) for m in methods]
    lines = max(-(-len(entries) // 6), 1)  # of the legend
    with style.styled():
        figure, grid = style.panels(
            "positions", [1.5] * len(names), max(map(len, settings.values())), left=0.57,
            gaps=(0.33, 0.36), top=0.2, bottom=0.68 + 0.14 * lines, page=style.PAGE,
        )  # fmt: skip
        for row, dataset in zip(grid, names, strict=True):
            for axes, setting in zip(row, settings[dataset], strict=False):
                own = {m: fronts[dataset, setting, m] for m in methods
                       if (dataset, setting, m) in fronts}  # fmt: skip
                of = (points["dataset"] == dataset) & (points["setting"] == setting)
                _draw(axes, points[of], own, look)
                axes.set_title(style.short(setting, settings[dataset]))
                style.watermark(axes, points[of])
            for axes in row[len(settings[dataset]) :]:
                axes.remove()
            style.y_label(row[0], "micro F1", 22)
            style.row_title(row[0], dataset, 35)
        for axes in grid[-1]:
            axes.set_xlabel("imparity (lower is better)")
        style.legend(figure, entries, 0.3 + 0.14 * lines, max(-(-len(entries) // lines), 1))
        marks = [
            style.key("InfoFair in the commit", **COMMIT),
            style.key("in an experiment, by its number", **EXPERIMENT),
        ]
        style.legend(figure, marks, 0.26, columns=2)
    figure.links = _links(points, settings)
    return figure


def front_of_cells(frontier: pd.DataFrame) -> dict[tuple[str, str, str], pd.DataFrame]:
    """On test rows, the strengths of each method that are Pareto-optimal on validation rows.

    Means over seeds, by imparity; a strength of which a seed diverged has no figures.
    """
    means = frontier.groupby(["split", *CELL, "strength"], sort=False)[AXES].mean()
    before = means[means.index.get_level_values("split") == "validation"].droplevel("split")
    after = means[means.index.get_level_values("split") == "test"].droplevel("split")
    both = after.join(before.add_prefix("validation_"), how="inner").dropna()
    found = {}
    for cell, of in both.groupby(CELL, sort=False):
        best = pareto(*(of[f"validation_{name}"].to_numpy() for name in AXES))
        dataset, setting, method = map(str, cell)
        front = of.loc[best, AXES]
        found[dataset, setting, method] = front.sort_values(AXES[::-1], kind="stable")
    return found


def _line(look: Look, strong: bool) -> dict[str, Any]:
    return {
        "color": look.colour, "marker": look.mark, "markeredgecolor": "white",
        "markeredgewidth": 0.25, "markersize": style.size(look.mark) - (0.6 if strong else 1.4),
        "linewidth": 1.1 if strong else 0.5, "alpha": 1 if strong else 0.55,
    }  # fmt: skip


def _draw(
    axes: Axes, points: pd.DataFrame, own: dict[str, pd.DataFrame], look: dict[str, Look]
) -> None:
    """One panel, wide enough for all points; what of the fronts lies far away is cut off."""
    rows = pd.concat([points[AXES], *(front[AXES] for front in own.values())])
    vanilla = own["vanilla"]["imparity"].max() if "vanilla" in own else 0
    right = 1.08 * max(points["imparity"].max(), vanilla, 0.01)
    shown = rows.loc[rows["imparity"] <= right, "micro_f1"]
    low = min(points["micro_f1"].min(), shown.quantile(0.1))
    height = max(shown.max() - low, 0.01)
    axes.set(xlim=(-0.04 * right, right), ylim=(low - 0.12 * height, shown.max() + 0.12 * height))
    style.ticks(axes.xaxis, 0, right, most=5)
    style.ticks(axes.yaxis, *axes.get_ylim(), most=5)
    axes.grid(visible=True)
    for method, front in own.items():
        drawn = _line(look[method], method in STRONG)
        drawn |= ALONE if len(front) == 1 else {}
        axes.plot(
            front["imparity"], front["micro_f1"], zorder=3 if method in STRONG else 2, **drawn
        )
    place = f"{points['dataset'].iloc[0]}-{points['setting'].iloc[0]}"
    commit = points[points["place"] == 0]
    # the commit last: what did not move is under it
    for row in points.sort_values("place", ascending=False, kind="stable").to_dict("records"):
        x, y, gid = row["imparity"], row["micro_f1"], f"point-{place}-{row['place']}"
        if row["place"] == 0:
            axes.plot(x, y, zorder=6, gid=gid, clip_on=False, **COMMIT)
            continue
        if len(commit):
            way = [commit["imparity"].iloc[0], x], [commit["micro_f1"].iloc[0], y]
            axes.plot(*way, color=style.RED, linestyle=style.DOTTED, linewidth=0.7, zorder=4)
        axes.plot(x, y, zorder=5, gid=gid, clip_on=False, **EXPERIMENT)
        axes.text(
            x, y, str(row["place"]), ha="center", va="center_baseline", size=6, zorder=5.1,
            color=style.DARK, clip_on=False,
        )  # fmt: skip


def _links(points: pd.DataFrame, settings: dict[str, list[str]]) -> dict[str, Link]:
    found = {}
    for row in points.to_dict("records"):
        dataset, setting = row["dataset"], row["setting"]
        name = style.full_name(dataset, setting, settings[dataset], "infofair")
        figures = f"micro F1 {number(row['micro_f1'])}, imparity {number(row['imparity'])}"
        place = f"{dataset}-{setting}"
        text = f"{name}, {row['name']}: {figures}"
        found[f"point-{place}-{row['place']}"] = Link(f"cells-{place}", text)
    return found
