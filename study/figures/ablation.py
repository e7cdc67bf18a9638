"""InfoFair beside its ablations."""

import textwrap
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from study.figures import style
from study.figures.style import Link, Picture
from study.labels import VARIANT_LOOKS, VARIANTS
from study.results import CELL
from study.tables.layout import number, percent, spread
from study.tables.summary import datasets_of, settings_of

ABLATED = {"micro_f1": "micro F1", "macro_f1": "macro F1", "reduction_released": "reduction (%)"}
SELECTED: dict[str, Any] = {
    "marker": "d", "markersize": 3.2, "markerfacecolor": "white", "markeredgecolor": style.DARK,
    "markeredgewidth": 0.5, "linestyle": "",
}  # fmt: skip


def ablation(summary: pd.DataFrame) -> Picture:
    """Bars for T+S+D, T+S and T+D: means over seeds, drawn from vanilla's; higher is better.

    In the SVG a bar has the id `ablation-bar-<dataset>-<setting>-<method>-<figure>` and leads to
    `row-<dataset>-<setting>-<method>`.
    """
    names = datasets_of(summary)
    settings = {name: settings_of(summary, name) for name in names}
    labels = {
        name: [_label(style.marked(summary, name, s)) for s in of] for name, of in settings.items()
    }
    heights = [  # of each setting, 0.32 or what its label needs
        len(of) * max(0.32, *(0.11 * (label.count("\n") + 1) for label in of))
        for of in labels.values()
    ]
    with style.styled():
        figure, grid = style.panels(
            "ablation", heights, len(ABLATED), left=0.72, gaps=(0.15, 0.29),
            top=0.2 + 0.12 * len(style.warnings(summary)), bottom=0.52,
        )  # fmt: skip
        for axes, title in zip(grid[0], ABLATED.values(), strict=True):
            axes.set_title(title)
        for row, dataset in zip(grid, names, strict=True):
            own = summary[summary["dataset"] == dataset]
            for axes, metric in zip(row, ABLATED, strict=True):
                _bars(axes, own, metric, settings[dataset])
            row[0].set_yticks(range(len(labels[dataset])), labels[dataset])
            style.row_title(row[0], dataset, 46)
        style.warn(figure, summary)
        bars = [
            Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0,
                  label=VARIANTS[variant] + " (InfoFair)" * (variant == "infofair"))
            for variant, (colour, hatch) in VARIANT_LOOKS.items()
        ]  # fmt: skip
        start = style.key("Vanilla: where bars start", **style.VANILLA)
        selected = style.key("selected (paper's protocol)", **SELECTED)
        style.legend(figure, [*bars, start], 0.29, columns=4)
        style.legend(figure, [style.key("mean ± std over seeds"), selected], 0.15, columns=2)
    figure.links = _links(summary)
    return figure


def _links(summary: pd.DataFrame) -> dict[str, Link]:
    """From the bars to their rows, with their figures."""
    found = {}
    of = summary.set_index([*CELL, "protocol"])[list(ABLATED)].to_dict("index")
    places = [(d, settings_of(summary, d)) for d in datasets_of(summary)]
    for dataset, settings, setting, method in (
        (d, of_d, s, method) for d, of_d in places for s in of_d for method in VARIANTS
    ):
        if (dataset, setting, method, "mean") in of:
            selected, mean, std = (
                of[dataset, setting, method, p] for p in ("paper", "mean", "std")
            )
            name = style.full_name(dataset, setting, settings, method)
            row = f"{dataset}-{setting}-{method}"
            for figure, heading in ABLATED.items():
                form = percent if "reduction" in figure else number
                heading = heading.removesuffix(" (%)")
                text = f"mean {heading} {spread(mean[figure], std[figure], form)}"
                text += f", selected {form(selected[figure])}"
                found[f"bar-{row}-{figure}"] = Link(f"row-{row}", f"{name}: {text}")
    return found


def _label(setting: str) -> str:
    """One attribute a line, and none wider than the margin."""
    parts = setting.replace(" & ", "\n& ").split("\n")
    return "\n".join(line for part in parts for line in textwrap.wrap(part, 15))


def _bars(axes: Axes, rows: pd.DataFrame, metric: str, settings: list[str]) -> None:
    of = rows.set_index(["setting", "method", "protocol"])[metric].dropna().to_dict()
    dataset = rows["dataset"].iloc[0]
    ends = []
    for place, setting in enumerate(settings):
        base = of.get((setting, "vanilla", "mean"), 0.0)
        axes.plot([base, base], [place - 0.45, place + 0.45], zorder=3, **style.VANILLA)
        for i, (variant, (colour, hatch)) in enumerate(VARIANT_LOOKS.items()):
            if (setting, variant, "mean") not in of:
                continue
            mean = of[setting, variant, "mean"]
            # none where the selected vanilla's imparity, which a reduction is a share of, is 0
            selected = [of[key] for key in [(setting, variant, "paper")] if key in of]
            std = of.get((setting, variant, "std"), 0.0)
            y = place + 0.26 * (i - 1)
            axes.barh(
                y, mean - base, 0.22, left=base, color=colour, hatch=hatch, edgecolor="white",
                linewidth=0, zorder=2, gid=f"bar-{dataset}-{setting}-{variant}-{metric}",
            )  # fmt: skip
            axes.plot([mean - std, mean + std], [y, y], color=style.DARK, zorder=4)
            axes.plot(selected, [y] * len(selected), zorder=5, **SELECTED)
            ends += [base, mean - std, mean + std, *selected]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    pad = 0.06 * (high - low) or 0.01
    axes.set(xlim=(low - pad, high + pad), ylim=(len(settings) - 0.5, -0.5), yticks=[])
    axes.tick_params(axis="y", length=0)
    style.ticks(axes.xaxis, low, high, most=3, factor=100 if "reduction" in metric else 1)
    axes.grid(visible=True, axis="x")
    style.watermark(axes, rows)
