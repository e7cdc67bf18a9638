"""The fronts: what every method does as its strength varies, on honest splits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from infofair.pareto import pareto
from study.figures import style
from study.figures.style import Link, Picture
from study.labels import FITTED, PENALTIES, Look, full_method_name, in_order, looks, needs_s, parts
from study.results import CELL, Row
from study.tables.layout import number
from study.tables.summary import datasets_of, settings_of

Cells = dict[tuple[str, str, str], pd.DataFrame]  # dataset, setting, method -> its front
STRONG = ("infofair", FITTED, "boosting_thresholds", "boosting_blind")  # and the best penalty
DRAWN = ("", "thresholds", "blind")  # ends of names; others are in the tables only


def frontier(fronts: pd.DataFrame, areas: pd.DataFrame) -> Picture:
    """Micro F1 against imparity as the strength varies, a line per method; the upper left is best.

    fronts, areas: results/fronts.csv and results/hypervolume.csv. In the SVG a line has the id
    `frontier-front-<dataset>-<setting>-<method>` and leads to `area-<dataset>-…`, and its band is
    `frontier-band-…`. Methods that differ in their training or their terms alone are left out.
    """
    names = datasets_of(areas)
    settings = {name: settings_of(areas, name) for name in names}
    of_cell = front_of_cells(fronts)
    methods = in_order(method for _, _, method in of_cell if method != "vanilla")
    look = looks(methods)
    strong = {*STRONG, *best_penalty(areas)}
    entries = [style.key(full_method_name(m), **_line(m, look[m], m in strong)) for m in methods]
    lines = max(-(-len(entries) // 6), 1)  # of the legend
    beside = {(row["dataset"], row["setting"]): row for row in areas.to_dict("records")}
    vanilla = fronts[fronts["method"] == "vanilla"].set_index(["dataset", "setting"])
    with style.styled():
        figure, grid = style.panels(
            "frontier", [1.45] * len(names), max(map(len, settings.values())), left=0.57,
            gaps=(0.33, 0.36), top=0.2 + 0.12 * len(warnings(fronts)),
            bottom=0.65 + 0.14 * lines, page=style.PAGE,
        )  # fmt: skip
        for row, dataset in zip(grid, names, strict=True):
            for axes, setting in zip(row, settings[dataset], strict=False):
                place = dataset, setting
                own = {m: of_cell[*place, m] for m in methods if (*place, m) in of_cell}
                null = float(vanilla["imparity_null"].get(place, float("nan")))
                _draw(axes, own, beside[place] | {"null": null}, look, strong)
                style.watermark(axes, fronts[fronts["dataset"] == dataset])
                axes.set_title(style.short(setting, settings[dataset]))
            for axes in row[len(settings[dataset]) :]:
                axes.remove()
            style.y_label(row[0], "micro F1", 22)
            style.row_title(row[0], dataset, 35)
        for axes in grid[-1]:
            axes.set_xlabel("imparity (lower is better)")
        for i, warning in enumerate(warnings(fronts)):
            style.warning(figure, i, warning)
        style.legend(figure, entries, 0.36 + 0.14 * lines, max(-(-len(entries) // lines), 1))
        style.legend(figure, _keys(), 0.33, columns=3)
    figure.links = _links(of_cell, settings)
    return figure


def front_of_cells(fronts: pd.DataFrame) -> Cells:
    """The strengths of each method that are Pareto-optimal by their mean validation figures.

    By imparity. Rules take part with those for parity; what diverged has no figures.
    """
    rows = fronts[fronts["notion"].isin(["", "parity"]) & fronts["micro_f1"].notna()]
    found: Cells = {}
    for (dataset, setting, method), of in rows.groupby(CELL, sort=False):
        if parts(str(method))[1] in DRAWN:
            best = pareto(
                of["validation_micro_f1"].to_numpy(), of["validation_imparity"].to_numpy()
            )
            front = of[best].sort_values(["imparity", "micro_f1"], kind="stable")
            found[str(dataset), str(setting), str(method)] = front
    return found


def best_penalty(areas: pd.DataFrame) -> list[str]:
    """The penalty with the best mean rank over cells; none if none was run."""
    ranks = areas[areas["method"].isin(PENALTIES)].groupby("method", sort=False)["rank"].mean()
    return [] if ranks.isna().all() else [str(ranks.idxmin())]


def warnings(fronts: pd.DataFrame) -> list[str]:
    """The splits are random here on purpose."""
    return style.warnings(fronts.assign(partition="authors"))


def _links(of_cell: Cells, settings: dict[str, list[str]]) -> dict[str, Link]:
    """From the lines to their areas, with the figures of their points."""
    found = {}
    for (dataset, setting, method), front in of_cell.items():
        said = [
            f"{number(row['micro_f1'])} / {number(row['imparity'])} at {row['strength']:g}"
            for row in front.to_dict("records")
        ]
        name = style.full_name(dataset, setting, settings[dataset], method)
        cell = f"{dataset}-{setting}-{method}"
        text = f"{name}: micro F1 / imparity {', '.join(said)}"
        found[f"front-{cell}"] = Link(f"area-{cell}", text)
    return found


def _line(method: str, look: Look, strong: bool) -> dict[str, Any]:
    return {
        "color": look.colour, "marker": look.mark, "markeredgecolor": "white",
        "markeredgewidth": 0.25, "markersize": style.size(look.mark) - (0 if strong else 1.4),
        "linewidth": 1.3 if strong else 0.5, "alpha": 1 if strong else 0.5,
        "linestyle": "-" if needs_s(method) else style.DASHED,
    }  # fmt: skip


VANILLA: dict[str, Any] = {"color": "black", "marker": "o", "markersize": 4, "linestyle": ""}
CONSTANT: dict[str, Any] = VANILLA | {
    "marker": "X", "markerfacecolor": style.GREY, "color": style.GREY,
}  # fmt: skip
MIXTURES: dict[str, Any] = {"color": style.GREY, "linestyle": style.DASHED, "linewidth": 0.6}


def _keys() -> list[Any]:
    return [
        style.key("Vanilla", **VANILLA),
        style.key("constant predictor (with its micro F1 if off the scale)", **CONSTANT),
        style.key("mixtures of these two", **MIXTURES),
        Patch(label="95 % interval of micro F1", facecolor=style.GREY, alpha=0.25, linewidth=0),
        Patch(label="where 95 % of exactly fair predictors are", **style.FLOOR),
    ]


@dataclass(frozen=True)
class Range:
    """Of a panel: between the constant predictor and vanilla; what lies outside is cut off."""

    right: float
    low: float
    high: float
    far: bool  # whether the fronts keep far above the constant predictor, which is left out then

    @property
    def left(self) -> float:
        return -0.03 * self.right


def _range(chosen: list[pd.DataFrame], beside: Row) -> Range:
    x, y, constant = (
        beside[name] for name in ("vanilla_imparity", "vanilla_micro_f1", "constant_micro_f1")
    )
    f1s = [f1 for rows in chosen for f1 in rows["micro_f1"]]
    highest = max([y, *f1s])
    # one bad strength does not squash the rest
    lowest = float(np.quantile([y, *(f1 for f1 in f1s if f1 > constant)], 0.05))
    far = highest - constant > 2 * (highest - lowest)
    height = max(highest - (lowest if far else constant), 0.01)
    # a little beyond vanilla, and further for what is not much more unfair
    beyond = [gap for rows in chosen for gap in rows["imparity"] if gap < 1.3 * x]
    right = 1.05 * max([x, 0.01, *beyond])
    return Range(right, highest - (1.3 if far else 1.08) * height, highest + 0.08 * height, far)


def _draw(
    axes: Axes,
    own: dict[str, pd.DataFrame],
    beside: Row,
    look: dict[str, Look],
    strong: set[str],
) -> None:
    """One panel; `beside` is a row of areas, with what all methods of a setting share."""
    constant, null = beside["constant_micro_f1"], beside["null"]
    x, y = beside["vanilla_imparity"], beside["vanilla_micro_f1"]
    shown = _range(list(own.values()), beside)
    axes.set(xlim=(shown.left, shown.right), ylim=(shown.low, shown.high))
    style.ticks(axes.xaxis, 0, shown.right, most=5)
    style.ticks(axes.yaxis, shown.low, shown.high, most=5)
    axes.grid(visible=True)
    if not np.isnan(null):
        axes.axvspan(shown.left, null, color=style.PALE, linewidth=0, zorder=0.5)
        axes.axvline(null, color=style.GREY, linestyle=style.DOTTED, linewidth=0.7, zorder=1)
    axes.plot([0, x], [constant, y], zorder=1.5, **MIXTURES)
    for method, rows in own.items():
        gid = f"{beside['dataset']}-{beside['setting']}-{method}"
        front = 4 if method in strong else 3
        xs, ys = rows["imparity"].to_numpy(), rows["micro_f1"].to_numpy()
        if method in strong:
            spread = rows["micro_f1_width"].fillna(0).to_numpy()
            axes.fill_between(
                xs, ys - spread, ys + spread, color=look[method].colour, linewidth=0,
                zorder=front - 1.2, alpha=0.12, gid=f"band-{gid}",
            )  # fmt: skip
        line = _line(method, look[method], method in strong)
        axes.plot(xs, ys, zorder=front, gid=f"front-{gid}", **line)
    axes.plot(x, y, zorder=5, clip_on=False, **VANILLA)
    if not shown.far:
        axes.plot(0, constant, zorder=5, clip_on=False, **CONSTANT)
        return
    place = style.shifted(axes, axes.transData, 0, 4)  # at the lower edge, with its value
    axes.plot(0, shown.low, zorder=5, clip_on=False, transform=place, **CONSTANT)
    value, place = style.brief(f"{constant:.2f}"), style.shifted(axes, place, 4.5, 0)
    own_text: dict[str, Any] = {"va": "center_baseline", "color": style.DARK, "zorder": 6}
    axes.text(0, shown.low, value, transform=place, **own_text)
