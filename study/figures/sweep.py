"""What alpha does: InfoFair's figures in DVC's experiments."""

from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter

from infofair.data.prepared import INTERSECTION
from study.figures import style
from study.figures.style import Picture
from study.labels import attribute_name
from study.tables.summary import datasets_of, settings_of

SWEPT = {"micro_f1": "micro F1", "imparity": "imparity", "reduction": "reduction (%)"}
SETTING_LOOKS = [
    ("#0072b2", "o"),
    ("#e69f00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    (style.DARK, "v"),
]
RING: dict[str, Any] = {
    "marker": "o", "markersize": 6.5, "markerfacecolor": "none", "markeredgecolor": style.DARK,
    "markeredgewidth": 0.5, "linestyle": "",
}  # fmt: skip

HOLLOW: dict[str, Any] = {"linestyle": "", "markerfacecolor": "none", "markeredgewidth": 0.6}


def sweep(frame: pd.DataFrame) -> Picture:
    """InfoFair's figures against alpha, from `compare.infofair`: one line per setting.

    The last commit's figures are ringed. Experiments in which another parameter differs, too, are
    hollow and on no line.
    """
    names = datasets_of(frame)
    labels: dict[int, list[str]] = {}  # a line's colour is by its setting's place in the dataset
    with style.styled():
        figure, grid = style.panels(
            "sweep", [0.9] * max(len(names), 1), len(SWEPT), left=0.5, gaps=(0.27, 0.42), top=0.2,
            bottom=0.72,
        )  # fmt: skip
        for axes, title in zip(grid[0], SWEPT.values(), strict=True):
            axes.set_title(title)
        for row, dataset in zip(grid, names, strict=False):
            own = frame[frame["dataset"] == dataset]
            settings = settings_of(frame, dataset)
            for i, setting in enumerate(settings):
                both = setting == INTERSECTION and len(settings) == 3
                name = attribute_name(setting)
                labels.setdefault(i, []).append("both" if both else name)
            for axes, metric in zip(row, SWEPT, strict=True):
                _lines(axes, own, metric, settings)
                axes.set_xlabel("alpha")
            style.row_title(row[0], dataset, 31)
        if not names:
            figure.text(0.5, 0.5, "no figures of InfoFair", ha="center")
        lines = [
            style.key(" / ".join(dict.fromkeys(labels[i])), color=colour, marker=mark, markersize=3)
            for i, (colour, mark) in zip(labels, cycle(SETTING_LOOKS), strict=False)
        ]
        hollow = HOLLOW | {"marker": "o", "markersize": 3}
        others = [
            style.key("last commit", **RING),
            style.key("differs in more than alpha", **hollow),
            style.key("Vanilla", **style.VANILLA),
        ]
        style.legend(figure, lines, 0.3, columns=len(SETTING_LOOKS))
        style.legend(figure, others, 0.16, columns=3)
    return figure


def _lines(axes: Axes, rows: pd.DataFrame, metric: str, settings: list[str]) -> None:
    rows = rows.dropna(subset=["alpha", metric]).sort_values("alpha", kind="stable")
    for (colour, mark), setting in zip(cycle(SETTING_LOOKS), settings, strict=False):
        own = rows[rows["setting"] == setting]
        base, alone = own[own["baseline"]], own["changed"] == ""
        look: dict[str, Any] = {"marker": mark, "markersize": 3, "color": colour}
        axes.plot(own["alpha"][alone], own[metric][alone], **look)
        axes.plot(own["alpha"][~alone], own[metric][~alone], **look | HOLLOW)
        axes.plot(base["alpha"], base[metric], zorder=1.9, **RING)
        for level in [0] if metric == "reduction" else base[f"vanilla_{metric}"].dropna():
            shade = colour if metric == "imparity" else "black"  # else all settings' is the same
            axes.axhline(level, zorder=1, **style.VANILLA | {"color": shade})
    alphas = sorted({float(alpha) for alpha in rows["alpha"]})
    positive = [alpha for alpha in alphas if alpha > 0]
    if len(positive) > 1 and positive[-1] > 5 * positive[0]:
        if alphas[0] > 0:
            axes.set_xscale("log")
        else:
            axes.set_xscale("symlog", linthresh=positive[0])
    axes.margins(x=0.12, y=0.12)
    axes.minorticks_off()
    shown = alphas if len(alphas) <= 4 else [alphas[0], alphas[len(alphas) // 2], alphas[-1]]
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda alpha, _: style.brief(f"{alpha:g}")))
    style.ticks(axes.yaxis, *axes.get_ylim(), most=4, factor=100 if metric == "reduction" else 1)
    axes.grid(visible=True, axis="y")
