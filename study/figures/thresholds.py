"""Thresholds: unconstrained models with thresholds by group, beside what was trained to be fair."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from study.dominance import BASES
from study.figures import style
from study.figures.style import Link, Picture
from study.labels import Look, in_order, looks, method_name
from study.results import Row
from study.tables.layout import number
from study.tables.summary import datasets_of, settings_of


def thresholds(rules: pd.DataFrame, summary: pd.DataFrame) -> Picture:
    """Micro F1 against imparity on honest data: a line per base, a mark per method.

    rules, summary: results/unprocessed.csv and results/honest_summary.csv. The upper left is best.
    In the SVG a line has the id `thresholds-rule-<dataset>-<setting>-<base>` and leads to
    `dominated-<dataset>-<setting>`.
    """
    parity = rules[rules["notion"] == "parity"]
    summary = summary[summary["diverged"] == 0]
    names = datasets_of(summary)
    settings = {name: settings_of(summary, name) for name in names}
    methods = in_order([*summary["method"], *parity["method"]])
    look = looks(methods)
    bases = [method for method in methods if method in BASES]
    others = [method for method in methods if method not in BASES]
    entries = [style.key(f"{method_name(b)}, thresholds", **_line(look[b])) for b in bases]
    entries += [style.key(method_name(m), **_mark(look[m])) for m in others]
    lines = max(-(-len(entries) // 6), 1)  # of the legend
    with style.styled():
        figure, grid = style.panels(
            "thresholds", [1.3] * len(names), max(map(len, settings.values())), left=0.57,
            gaps=(0.33, 0.36), top=0.2, bottom=0.37 + 0.14 * lines, page=style.PAGE,
        )  # fmt: skip
        for row, dataset in zip(grid, names, strict=True):
            for axes, setting in zip(row, settings[dataset], strict=False):
                of_rules, of_methods = (
                    table[(table["dataset"] == dataset) & (table["setting"] == setting)]
                    for table in (parity, summary)
                )
                _draw(axes, of_rules, of_methods, look)
                style.watermark(axes, of_methods)
                axes.set_title(style.short(setting, settings[dataset]))
            for axes in row[len(settings[dataset]) :]:
                axes.remove()
            style.y_label(row[0], "micro F1", 22)
            style.row_title(row[0], dataset, 35)
        for axes in grid[-1]:
            axes.set_xlabel("imparity (lower is better)")
        style.legend(figure, entries, 0.08 + 0.14 * lines, columns=-(-len(entries) // lines))
    figure.links = _links(parity[parity["method"].isin(BASES)], settings)
    return figure


def _links(rules: pd.DataFrame, settings: dict[str, list[str]]) -> dict[str, Link]:
    """From the lines to the rows that say whom they dominate, with the figures of their points."""
    found = {}
    for (dataset, setting, base), of in rules.groupby(["dataset", "setting", "method"], sort=False):
        said = ", ".join(_said(row) for row in of.to_dict("records"))
        name = style.full_name(str(dataset), str(setting), settings[str(dataset)], str(base))
        text = f"{name} with thresholds: micro F1 / imparity {said}"
        found[f"rule-{dataset}-{setting}-{base}"] = Link(f"dominated-{dataset}-{setting}", text)
    return found


def _said(row: Row) -> str:
    return f"{number(row['micro_f1'])} / {number(row['imparity'])} at {row['tolerance']:g}"


def _line(look: Look) -> dict[str, Any]:
    return {
        "color": look.colour, "marker": "o", "markersize": 2.2, "linewidth": 1.1,
        "markeredgewidth": 0,
    }  # fmt: skip


def _mark(look: Look) -> dict[str, Any]:
    return {
        "color": look.colour, "marker": look.mark, "markersize": style.size(look.mark),
        "markeredgecolor": "white", "markeredgewidth": 0.25, "linestyle": "",
    }  # fmt: skip


def _draw(axes: Axes, rules: pd.DataFrame, methods: pd.DataFrame, look: dict[str, Look]) -> None:
    """One panel; what is far below all others is cut off."""
    lines = rules[rules["method"].isin(BASES)]
    others = methods[~methods["method"].isin(BASES)]
    f1s = np.concatenate([lines["micro_f1"], others["micro_f1"]])
    gaps = np.concatenate([lines["imparity"], others["imparity"]])
    high, low = f1s.max(), np.quantile(f1s, 0.05)
    room = 0.08 * max(high - low, 0.01)
    axes.set(xlim=(-0.03 * gaps.max(), 1.05 * max(gaps.max(), 0.01)))
    axes.set(ylim=(low - 2 * room, high + room))
    style.ticks(axes.xaxis, *axes.get_xlim(), most=5)
    style.ticks(axes.yaxis, *axes.get_ylim(), most=5)
    axes.grid(visible=True)
    place = "-".join(map(str, methods[["dataset", "setting"]].iloc[0]))
    for base, of in lines.groupby("method", sort=False):
        own = of.sort_values("tolerance")
        axes.plot(
            own["imparity"], own["micro_f1"], zorder=3, gid=f"rule-{place}-{base}",
            **_line(look[str(base)]),
        )  # fmt: skip
    for row in others.to_dict("records"):
        axes.plot(row["imparity"], row["micro_f1"], zorder=4, **_mark(look[row["method"]]))
