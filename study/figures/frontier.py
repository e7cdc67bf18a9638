"""The fronts: what every method does as its strength varies."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from study import fronts
from study.figures import style
from study.figures.style import Link, Picture
from study.labels import Look, looks, method_name
from study.results import Row
from study.tables.layout import number
from study.tables.summary import datasets_of, settings_of, swept_methods

Cells = dict[tuple[str, str, str], pd.DataFrame]  # of fronts.cells
STRONG = ("infofair", "infofair_fitted")  # the others are background


def frontier(summary: pd.DataFrame, areas: pd.DataFrame) -> Picture:
    """Micro F1 against imparity as the strength varies, a line per method; the upper left is best.

    summary, areas: results/frontier_summary.csv and results/hypervolume.csv. In the SVG a line has
    the id `frontier-front-<dataset>-<setting>-<method>` and leads to `area-<dataset>-…`, and its
    band is `frontier-band-…`.
    """
    names = datasets_of(summary)
    settings = {name: settings_of(summary, name) for name in names}
    methods = [method for method in swept_methods(summary) if method != "vanilla"]
    look = looks(methods)
    entries = [style.key(method_name(m), **_line(m, look[m])) for m in methods]
    lines = max(-(-len(entries) // 7), 1)  # of the legend
    columns = max(-(-len(entries) // lines), 1)
    of_cell = dict(fronts.cells(summary))
    beside = {(row["dataset"], row["setting"]): row for row in areas.to_dict("records")}
    with style.styled():
        figure, grid = style.panels(
            "frontier", [1.45] * len(names), max(map(len, settings.values())), left=0.57,
            gaps=(0.33, 0.36), top=0.2 + 0.12 * len(style.warnings(summary)),
            bottom=0.65 + 0.14 * lines, page=style.PAGE,
        )  # fmt: skip
        for row, dataset in zip(grid, names, strict=True):
            for axes, setting in zip(row, settings[dataset], strict=False):
                place = dataset, setting
                own = {m: of_cell[*place, m] for m in methods if (*place, m) in of_cell}
                _draw(axes, own, beside[place], look)
                style.watermark(axes, of_cell[*place, "vanilla"])
                axes.set_title(style.short(setting, settings[dataset]))
            for axes in row[len(settings[dataset]) :]:
                axes.remove()
            style.y_label(row[0], "micro F1", 22)
            style.row_title(row[0], dataset, 35)
        for axes in grid[-1]:
            axes.set_xlabel("imparity (lower is better)")
        style.warn(figure, summary)
        style.legend(figure, entries, 0.36 + 0.14 * lines, columns)
        style.legend(figure, _keys(), 0.33, columns=3)
    figure.links = _links(of_cell, settings)
    return figure


def _links(of_cell: Cells, settings: dict[str, list[str]]) -> dict[str, Link]:
    """From the lines to their areas, with the figures of their points."""
    found = {}
    for (dataset, setting, method), rows in of_cell.items():
        said = [
            f"{number(row['micro_f1'])} / {number(row['imparity'])} at {row['strength']:g}"
            for row in fronts.front(rows).to_dict("records")
        ]
        name = style.full_name(dataset, setting, settings[dataset], method)
        cell = f"{dataset}-{setting}-{method}"
        text = f"{name}: micro F1 / imparity {', '.join(said)}"
        found[f"front-{cell}"] = Link(f"area-{cell}", text)
    return found


def _line(method: str, look: Look) -> dict[str, Any]:
    strong = method in STRONG
    return {
        "color": look.colour, "marker": look.mark, "markeredgecolor": "white",
        "markeredgewidth": 0.25, "markersize": style.size(look.mark) - (0 if strong else 0.8),
        "linewidth": 1.3 if strong else 0.7, "alpha": 1 if strong else 0.65,
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
        Patch(label="± std of micro F1 over seeds", facecolor=style.GREY, alpha=0.25, linewidth=0),
        Patch(label="below the noise floor", **style.FLOOR),
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


def _draw(axes: Axes, own: dict[str, pd.DataFrame], beside: Row, look: dict[str, Look]) -> None:
    """One panel; `beside` is a row of areas, with what all methods of a setting share."""
    constant, floor = beside["constant_micro_f1"], beside["floor"]
    x, y = beside["vanilla_imparity"], beside["vanilla_micro_f1"]
    chosen = {method: fronts.front(rows).sort_values("imparity") for method, rows in own.items()}
    shown = _range(list(chosen.values()), beside)
    axes.set(xlim=(shown.left, shown.right), ylim=(shown.low, shown.high))
    style.ticks(axes.xaxis, 0, shown.right, most=5)
    style.ticks(axes.yaxis, shown.low, shown.high, most=5)
    axes.grid(visible=True)
    axes.axvspan(shown.left, floor, color=style.PALE, linewidth=0, zorder=0.5)
    axes.axvline(floor, color=style.GREY, linestyle=style.DOTTED, linewidth=0.7, zorder=1)
    axes.plot([0, x], [constant, y], zorder=1.5, **MIXTURES)
    for method, rows in chosen.items():
        gid = f"{beside['dataset']}-{beside['setting']}-{method}"
        front = 4 if method in STRONG else 3
        xs, ys = rows["imparity"].to_numpy(), rows["micro_f1"].to_numpy()
        spread = rows["micro_f1_std"].fillna(0).to_numpy()
        axes.fill_between(
            xs, ys - spread, ys + spread, color=look[method].colour, linewidth=0,
            zorder=front - 1.2, alpha=0.15 if method in STRONG else 0.09, gid=f"band-{gid}",
        )  # fmt: skip
        axes.plot(xs, ys, zorder=front, gid=f"front-{gid}", **_line(method, look[method]))
    axes.plot(x, y, zorder=5, clip_on=False, **VANILLA)
    if not shown.far:
        axes.plot(0, constant, zorder=5, clip_on=False, **CONSTANT)
        return
    place = style.shifted(axes, axes.transData, 0, 4)  # at the lower edge, with its value
    axes.plot(0, shown.low, zorder=5, clip_on=False, transform=place, **CONSTANT)
    value, place = style.brief(f"{constant:.2f}"), style.shifted(axes, place, 4.5, 0)
    own_text: dict[str, Any] = {"va": "center_baseline", "color": style.DARK, "zorder": 6}
    axes.text(0, shown.low, value, transform=place, **own_text)
