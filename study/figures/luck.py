"""Luck: the imparity of many seeds, the five of the table among them, and the printed one."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from study.figures import style
from study.figures.style import Link, Picture
from study.labels import Look, in_order, looks, method_name
from study.results import Row
from study.tables.layout import number, percent
from study.tables.luck import SEEDS
from study.tables.summary import datasets_of, settings_of

Cell = tuple[str, str, str]  # dataset, setting, method
FIGURE = "imparity_released"  # what the paper prints as imparity
PRINTED: dict[str, Any] = {
    "marker": "v", "markersize": 4.4, "color": "black", "markeredgewidth": 0, "linestyle": "",
}  # fmt: skip
EXPECTED: dict[str, Any] = {
    "marker": "^", "markersize": 4, "color": "black", "markerfacecolor": "white",
    "markeredgewidth": 0.6, "linestyle": "",
}  # fmt: skip
MIDDLE: dict[str, Any] = {"color": style.GREY, "linewidth": 0.6}  # from 5 % to 95 %


def luck(runs: pd.DataFrame, summary: pd.DataFrame) -> Picture:
    """A strip per cell, a stroke per seed; further to the left is fairer.

    runs, summary: results/luck.csv and results/luck_summary.csv. In the SVG the strokes of a cell
    have the id `luck-strip-<dataset>-<setting>-<method>` and lead to `seeds-<dataset>-…`.
    """
    test = runs[runs["split"] == "test"].dropna(subset=[FIGURE])
    names = datasets_of(test)
    settings = {name: settings_of(test, name) for name in names}
    methods = in_order(test["method"])
    look = looks(methods)
    printed = {
        (row["dataset"], row["setting"], row["method"]): row
        for row in summary[summary["figure"] == "imparity"].to_dict("records")
    }
    with style.styled():
        figure, grid = style.panels(
            "luck", [0.36 * len(methods)] * len(names), max(map(len, settings.values())), left=0.75,
            gaps=(0.2, 0.36), top=0.2 + 0.12 * len(style.warnings(test)), bottom=0.66,
            page=style.PAGE,
        )  # fmt: skip
        for row, dataset in zip(grid, names, strict=True):
            for axes, setting in zip(row, settings[dataset], strict=False):
                own = test[(test["dataset"] == dataset) & (test["setting"] == setting)]
                _draw(axes, own, printed, look)
                style.watermark(axes, own)
                axes.set_title(style.short(setting, settings[dataset]))
            for axes in row[1:]:
                axes.tick_params(labelleft=False)
            for axes in row[len(settings[dataset]) :]:
                axes.remove()
            style.row_title(row[0], dataset, 45)
        for axes in grid[-1]:
            axes.set_xlabel("imparity (as released)")
        style.warn(figure, test)
        style.legend(figure, _keys(), 0.33, columns=3)
    figure.links = _links(printed, settings)
    return figure


def _links(printed: dict[Cell, Row], settings: dict[str, list[str]]) -> dict[str, Link]:
    """From the strips to their rows, with what these say."""
    found = {}
    for (dataset, setting, method), row in printed.items():
        name = style.full_name(dataset, setting, settings[dataset], method)
        cell = f"{dataset}-{setting}-{method}"
        found[f"strip-{cell}"] = Link(f"seeds-{cell}", f"{name}: {_said(row)}")
    return found


def _said(row: Row) -> str:
    return (
        f"imparity printed {number(row['printed'])}, mean of {row['seeds']} seeds "
        f"{number(row['mean'])}, best of five to expect {number(row['expected'])}, "
        f"as low as printed in {percent(row['as_low'])} of draws of five"
    )


def _keys() -> list[Any]:
    stroke: dict[str, Any] = {"marker": "|", "markersize": 8, "linestyle": "", "alpha": 0.5}
    five = {"marker": "o", "markersize": 3.4, "linestyle": ""}
    return [
        style.key("printed", **PRINTED),
        style.key("best of five seeds to expect, by the protocol", **EXPECTED),
        style.key("a seed", **stroke),
        style.key(f"a seed of the table, {SEEDS[0]} to {SEEDS[-1]}", **five),
        style.key("from the 5 % to the 95 % quantile", **MIDDLE),
    ]


def _draw(axes: Axes, own: pd.DataFrame, printed: dict[Cell, Row], look: dict[str, Look]) -> None:
    """One panel: the strips of a dataset and setting, from the top in the order of methods."""
    shown = list(own[FIGURE])
    for place, (method, of_look) in enumerate(look.items()):
        rows, y = own[own["method"] == method], len(look) - 1 - place
        if rows.empty:
            continue
        cell = (str(rows["dataset"].iloc[0]), str(rows["setting"].iloc[0]), method)
        seeds, five = rows[FIGURE], rows.loc[rows["seed"].isin(SEEDS), FIGURE]
        look_of: dict[str, Any] = {"color": of_look.colour, "linestyle": ""}
        axes.plot(
            seeds, [y] * len(seeds), marker="|", markersize=9, markeredgewidth=0.6, alpha=0.45,
            zorder=2, gid="strip-" + "-".join(cell), **look_of,
        )  # fmt: skip
        axes.plot(
            five, [y] * len(five), marker="o", markersize=3.6, markeredgecolor="white",
            markeredgewidth=0.4, zorder=3, clip_on=False, **look_of,
        )  # fmt: skip
        if row := printed.get(cell):
            shown += [row["printed"], row["expected"]]
            axes.plot([row["low"], row["high"]], [y - 0.3] * 2, zorder=1.5, **MIDDLE)
            axes.plot(row["printed"], y + 0.36, zorder=4, clip_on=False, **PRINTED)
            axes.plot(row["expected"], y - 0.32, zorder=4, clip_on=False, **EXPECTED)
    room = 0.04 * max(max(shown) - min(shown), 0.01)
    low, high = min(shown) - room, max(shown) + room
    axes.set(xlim=(low, high), ylim=(-0.6, len(look) - 0.4))
    style.ticks(axes.xaxis, low, high, most=5)
    axes.set_yticks(range(len(look)), [method_name(m) for m in reversed(look)])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
