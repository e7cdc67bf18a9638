"""A generalisation of the paper: quality against a gap as the strength varies."""

from math import isnan
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from study.figures import style
from study.figures.style import Link, Picture
from study.labels import Look, dataset_name, family, general_looks, general_name, measured_name
from study.tables.general import LOSSES, VANILLA, Cell, Point, cells, identifier, warnings
from study.tables.layout import number
from study.tables.summary import SIMULATED

COLUMNS = 3  # of panels
FAR = 2.5  # times what validation rows choose: further away it is cut off
LINES: tuple[Any, ...] = ("-", style.DASHED, style.DOTTED)  # of a family's first method, second, …
POINT: dict[str, Any] = {"color": "black", "marker": "o", "markersize": 4, "linestyle": ""}
FLOOR: dict[str, Any] = {"color": style.GREY, "linestyle": style.DASHED, "linewidth": 0.6}
CHOSEN: dict[str, Any] = {
    "marker": "o", "markersize": 8, "markerfacecolor": "none", "markeredgecolor": style.DARK,
    "markeredgewidth": 0.6, "linestyle": "",
}  # fmt: skip


def general(table: pd.DataFrame, study: str) -> Picture:
    """A panel per dataset and setting, a line per method; the upper left is best.

    table: results/general/<study>.csv. In the SVG a line has the id
    `general-<study>-line-<dataset>-<setting>-<method>` and leads to `<study>-<dataset>-…`. Another
    notion has a panel of its own to the right, and its name before the method's.
    """
    shown = cells(table, study)
    methods = [m for m in dict.fromkeys(m for cell in shown for m in cell.methods) if m != VANILLA]
    look, lines = general_looks(methods), _lines(methods)
    entries = [style.key(general_name(m), **_look(look[m], lines[m])) for m in methods]
    paired = any(cell.notion for cell in shown)
    columns = 2 if len(shown) == 4 or paired else min(COLUMNS, len(shown))
    page = style.COLUMN if columns == 1 else style.PAGE
    across = 2 if columns == 1 else 4  # in the legends
    keys = _keys()
    high, low = (0.14 * -(-len(of) // across) for of in (entries, keys))
    simulated = warnings(table)
    with style.styled():
        figure, grid = style.panels(
            f"general-{study}", [1.7] * -(-len(shown) // columns), columns, left=0.44,
            gaps=(0.44, 0.55), top=0.2 + 0.12 * bool(simulated), bottom=0.4 + high + low,
            page=page,
        )  # fmt: skip
        panels = [axes for row in grid for axes in row]
        for axes, cell in zip(panels, shown, strict=False):
            _draw(axes, cell, look, lines)
            style.watermark(axes, table[table["dataset"] == cell.dataset])
        for axes in panels[len(shown) :]:
            axes.remove()
        if simulated:
            style.warning(figure, 0, f"{', '.join(map(dataset_name, simulated))}: {SIMULATED}")
        style.legend(figure, entries, 0.07 + high + low, across)
        style.legend(figure, keys, 0.04 + low, across)
    figure.links = {f"line-{_id(c, m)}": _link(c, m) for c in shown for m in c.methods}
    return figure


def _id(cell: Cell, method: str) -> str:
    return identifier(cell.dataset, cell.setting, *filter(None, [cell.notion]), method)


def _link(cell: Cell, method: str) -> Link:
    """To the method's rows, with the figures of its points."""
    points = cell.of(method)
    names = [measured_name(f.metric) for f in (points[0].quality, points[0].gap)]
    said = [f"{number(p.quality.mean)} / {number(p.gap.mean)} at {p.strength:g}" for p in points]
    title = f"{cell.place}, {general_name(method)}: {' / '.join(names)} {', '.join(said)}"
    return Link(cell.id(method), title)


def _lines(methods: list[str]) -> dict[str, Any]:
    """Solid for the first method of a family, and others for the next."""
    found: dict[str, list[str]] = {}
    for method in methods:
        found.setdefault(family(method)[0], []).append(method)
    return {m: LINES[i % len(LINES)] for of in found.values() for i, m in enumerate(of)}


def _look(look: Look, line: Any) -> dict[str, Any]:
    return {
        "color": look.colour, "marker": look.mark, "markeredgecolor": "white",
        "markeredgewidth": 0.25, "markersize": style.size(look.mark), "linewidth": 0.9,
        "linestyle": line,
    }  # fmt: skip


def _keys() -> list[Any]:
    return [
        style.key("Vanilla", **POINT),
        style.key("chosen by validation rows", **CHOSEN),
        style.key("the gap with s permuted", **FLOOR),
        Patch(label="where 95 % of these are", **style.FLOOR),
    ]


def _range(points: list[Point]) -> tuple[float, float, float]:
    """Of a panel: the largest gap, the worst and the best quality; what is far off is cut off."""
    chosen = [p for p in points if p.chosen or p.method == VANILLA]
    right = max(p.gap.mean + _finite(p.gap.std) for p in points)
    right = min(
        right, FAR * max([0.01, *(max(p.gap.mean, _finite(p.gap.null_95)) for p in chosen)])
    )
    sign = -1 if points[0].quality.metric in LOSSES else 1
    good = [sign * p.quality.mean for p in points]
    best = max(sign * p.quality.mean + _finite(p.quality.std) for p in points)
    worst = min(sign * p.quality.mean - _finite(p.quality.std) for p in chosen)
    worst = max(min([*good, worst]), best - FAR * max(best - worst, 0.005))
    return right, sign * worst, sign * best


def _finite(value: float, otherwise: float = 0.0) -> float:
    """One split has no spread, and what is no gap has no floor."""
    return otherwise if isnan(value) else value


def _draw(axes: Axes, cell: Cell, look: dict[str, Look], lines: dict[str, Any]) -> None:
    """One panel."""
    vanilla = cell.vanilla
    right, worst, best = _range(cell.points)
    room = 0.05 * (best - worst)  # below 0 where less is better: up is good everywhere
    least = min([_finite(vanilla.gap.floor, right), *(p.gap.mean for p in cell.points)])
    least = least if least > 0.5 * right else min(0.0, least)  # an AUC of chance is no 0
    left, right = least - 0.04 * (right - least), right + 0.05 * (right - least)
    low, high = sorted((worst - room, best + room))
    axes.set(xlim=(left, right), ylim=(worst - room, best + room))
    style.ticks(axes.xaxis, left, right, most=5)
    style.ticks(axes.yaxis, low, high, most=5)
    axes.grid(visible=True)
    if not isnan(null := vanilla.gap.null_95):
        axes.axvspan(left, null, color=style.PALE, linewidth=0, zorder=0.5)
        axes.axvline(null, color=style.GREY, linestyle=style.DOTTED, linewidth=0.7, zorder=1)
        axes.axvline(vanilla.gap.floor, zorder=1, **FLOOR)
    for method in cell.methods:
        points = cell.of(method)
        x, y = [p.gap.mean for p in points], [p.quality.mean for p in points]
        plain = method == VANILLA
        own = POINT if plain else _look(look[method], lines[method])
        wide, tall = [_finite(p.gap.std) for p in points], [_finite(p.quality.std) for p in points]
        axes.errorbar(
            x, y, tall, wide, fmt="none", ecolor=own["color"], elinewidth=0.5,
            alpha=0.45, zorder=2,
        )  # fmt: skip
        axes.plot(x, y, zorder=5 if plain else 3, gid=f"line-{_id(cell, method)}", **own)
        chosen = [p for p in points if p.chosen and not plain]
        axes.plot(
            [p.gap.mean for p in chosen], [p.quality.mean for p in chosen], zorder=4, **CHOSEN
        )
    axes.set_title(f"{dataset_name(cell.dataset)}: {cell.of_what}")
    axes.set_xlabel(f"{measured_name(vanilla.gap.metric)} (lower is better)")
    less = " (lower is better)" * (vanilla.quality.metric in LOSSES)
    style.y_label(axes, measured_name(vanilla.quality.metric) + less, 21)
