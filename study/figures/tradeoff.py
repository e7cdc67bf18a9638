"""The paper's trade-off figure: micro F1 against imparity."""

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import Transform

from study.figures import style
from study.figures.style import Link, Picture
from study.labels import Look, looks, method_name
from study.tables.layout import number, spread
from study.tables.summary import (
    cell,
    constant_in_print,
    datasets_of,
    front,
    methods_of,
    of_vanilla,
    settings_of,
    threshold_control,
)

REACH = 0.6  # how far, in spans of our points, an axis goes to show one of the paper's
CONTROL: dict[str, Any] = {"linestyle": style.DOTTED, "linewidth": 0.6}
END: dict[str, Any] = {"marker": "o", "markersize": 1.5, "markeredgewidth": 0.4}
STRIP = 0.15  # share of a panel's height for what is off its scale


@dataclass(frozen=True)
class Point:
    """A method's place in a panel, with its spread: ours, or as the paper prints it."""

    method: str
    x: float
    y: float
    dx: float
    dy: float
    ours: bool
    constant: bool
    control: tuple[float, float] | None = None  # of vanilla's threshold at its selection rate


def points(summary: pd.DataFrame, dataset: str, setting: str) -> list[Point]:
    found = []
    spread = cell(summary, dataset, setting, "std").to_dict("index")
    for name, mean in cell(summary, dataset, setting).to_dict("index").items():
        method = str(name)
        x, y = mean["micro_f1"], mean["imparity_released"]
        dx, dy = (np.nan_to_num(spread[method][axis]) for axis in ("micro_f1", "imparity_released"))
        control = (mean["control_micro_f1"], mean["control_imparity_released"])
        moved = control if threshold_control({"method": method, **mean}) else None
        constant = mean["note"] != ""
        found.append(Point(method, x, y, dx, dy, True, constant, None if constant else moved))
        x, y = mean["paper_micro_f1"], mean["paper_imparity"]
        if not np.isnan(x):
            constant = constant_in_print(mean)
            found.append(Point(method, x, y, 0, 0, ours=False, constant=constant))
    return found


def _range(low: list[float], high: list[float], others: list[float]) -> tuple[float, float]:
    """Of our points, and of those others that are not too far away; at least 0.01."""
    start, end = min(low), max(high)
    reach = REACH * max(end - start, 0.05)
    near = [x for x in others if start - reach <= x <= end + reach]
    start, end = min([start, *near]), max([end, *near])
    short = max(0.01 - (end - start), 0) / 2
    return start - short, end + short


def _limits(
    own: list[Point], row: list[Point], lines: list[float]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Of x, the same for a row of panels, and of y. Constant predictors do not count."""
    base = [p for p in row if p.ours and not p.constant] or row
    printed = [p.x for p in row if not p.ours and not p.constant]
    left, right = _range([p.x - p.dx for p in base], [p.x + p.dx for p in base], printed)
    base = [p for p in own if p.ours and not p.constant] or own
    printed = [p.y for p in own if not p.ours and not p.constant]
    ends = [max(p.y - p.dy, 0) for p in base] + lines, [p.y + p.dy for p in base] + lines
    low, high = _range(*ends, printed)
    x, y = 0.09 * (right - left), 0.08 * (high - low)
    low = 0 if low < 4 * y else low - y
    return (left - x, right + x), (low, high + y)


def tradeoff(summary: pd.DataFrame) -> Picture:
    """Micro F1 against imparity, one panel per dataset and setting; the lower right is best.

    In the SVG each of our points is a group with the id
    `tradeoff-point-<dataset>-<setting>-<method>` and leads to `row-<dataset>-…`; the paper's are
    `tradeoff-paper-…`, and `tradeoff-control-…` what a threshold alone does.
    """
    names = datasets_of(summary)
    settings = {name: settings_of(summary, name) for name in names}
    methods = methods_of(summary)
    look = looks(methods)
    labels = [method_name(method) for method in methods]
    columns = style.legend_columns(labels, 5)
    lines = -(-len(labels) // columns)  # of the legend
    titles = {
        (name, setting): "\n".join(
            textwrap.wrap(style.marked(summary, name, setting), 16)
        )  # of a panel
        for name, of in settings.items()
        for setting in of
    }
    more = 0.12 * max(title.count("\n") for title in titles.values())
    with style.styled():
        figure, grid = style.panels(
            "tradeoff", [1.1] * len(names), max(map(len, settings.values())), left=0.52,
            gaps=(0.27, 0.33 + more), top=0.17 + more + 0.12 * len(style.warnings(summary)),
            bottom=0.98 + 0.14 * lines,
        )  # fmt: skip
        for row, dataset in zip(grid, names, strict=True):
            of_row = {s: points(summary, dataset, s) for s in settings[dataset]}
            every = [p for own in of_row.values() for p in own]
            for axes, (setting, own) in zip(row, of_row.items(), strict=False):
                _draw(axes, summary, dataset, setting, own, every, look)
                axes.set_title(titles[dataset, setting])
            for axes in row[len(of_row) :]:
                axes.remove()
            style.y_label(row[0], "imparity (lower is better)", 20)
            style.row_title(row[0], dataset, 33)
        for column in zip(*grid, strict=True):
            shown = [axes for axes in column if axes in figure.axes]
            shown[-1].set_xlabel("micro F1")
        style.warn(figure, summary)
        entries = [
            style.key(label, **_marker(of, True))
            for label, of in zip(labels, look.values(), strict=True)
        ]
        style.legend(figure, entries, 0.68 + 0.14 * lines, columns)
        style.legend(figure, _keys(summary), 0.67, columns=2)
    figure.links = _links(summary)
    return figure


def _links(summary: pd.DataFrame) -> dict[str, Link]:
    """From our points to their rows, with their figures."""
    found = {}
    for dataset in datasets_of(summary):
        for setting in (settings := settings_of(summary, dataset)):
            selected, mean, std = (
                cell(summary, dataset, setting, protocol).to_dict("index")
                for protocol in ("paper", "mean", "std")
            )
            for method, own in mean.items():
                said = []
                for heading, ours, paper in (
                    ("micro F1", "micro_f1", "paper_micro_f1"),
                    ("imparity", "imparity_released", "paper_imparity"),
                ):
                    text = f"mean {heading} {spread(own[ours], std[method][ours])}"
                    text += f", selected {number(selected[method][ours])}"
                    printed = not np.isnan(own["paper_micro_f1"])
                    said.append(text + f", paper {number(own[paper])}" * printed)
                if threshold_control({"method": method, **own}):
                    f1, gap = own["control_micro_f1"], own["control_imparity_released"]
                    said.append(f"threshold control {number(f1)} / {number(gap)}")
                name = style.full_name(dataset, setting, settings, str(method))
                row = f"{dataset}-{setting}-{method}"
                found[f"point-{row}"] = Link(f"row-{row}", f"{name}: {'; '.join(said)}")
    return found


def _marker(look: Look, ours: bool) -> dict[str, Any]:
    """Ours is filled; the paper's is hollow, and a little larger to show around ours."""
    size = style.size(look.mark)
    own = {"linestyle": "", "marker": look.mark}
    if ours:
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.25}
        return own | edge | {"markersize": size, "markerfacecolor": look.colour}
    edge = {"markeredgecolor": look.colour, "markeredgewidth": 0.6}
    return own | edge | {"markersize": size + 0.9, "markerfacecolor": "none"}


def _keys(summary: pd.DataFrame) -> list[Any]:
    both = Look(style.DARK, "o")
    printed = [style.key("paper", **_marker(both, False))]
    doubt = style.key("no evidence of bias", linestyle="", marker=r"$\ddagger$", markersize=3.6)
    return [
        style.key("ours: mean ± std over seeds", **_marker(both, True) | {"linestyle": "-"}),
        *(printed if summary["paper_micro_f1"].notna().any() else []),
        style.key("off the scale, with its value", linestyle="", marker="<", markersize=2.2),
        style.key("constant predictor", linestyle="", marker=r"$\dagger$", markersize=3.6),
        style.key("Vanilla's imparity", **style.VANILLA),
        style.key("Pareto front of ours", color=style.GREY, linewidth=0.8),
        Patch(label="not to be told from fair", **style.FLOOR),
        style.key("to its threshold control", markerfacecolor="white", **CONTROL, **END),
        *([doubt] if (summary["evidence"] == "no").any() else []),
        style.key("place of all around it", linestyle="", marker=".", markersize=1.6),
    ]


@dataclass(frozen=True)
class Panel:
    """The points of one dataset and setting, in the range from `left` to `right`, `low` to `high`.

    Those that are not in it are shown at its edge: `beyond` are above or below, `beside` are to the
    left or right, where they have a strip along the bottom.
    """

    axes: Axes
    name: str  # <dataset>-<setting>
    look: dict[str, Look]
    left: float
    right: float
    low: float
    high: float
    points: list[Point]

    @property
    def beside(self) -> list[Point]:
        return [p for p in self.points if not self.left <= p.x <= self.right]

    @property
    def beyond(self) -> list[Point]:
        beside = self.beside
        return [p for p in self.points if p not in beside and not self.low <= p.y <= self.high]

    @property
    def inside(self) -> list[Point]:
        away = self.beside + self.beyond
        return [p for p in self.points if p not in away]

    def mark(self, p: Point, x: float, y: float, place: Transform) -> None:
        self.axes.plot(
            x, y, transform=place, clip_on=False, zorder=5 if p.method == "infofair" else 4,
            gid=f"{'point' if p.ours else 'paper'}-{self.name}-{p.method}",
            **_marker(self.look[p.method], p.ours),
        )  # fmt: skip

    def write(self, text: str, x: float, y: float, place: Transform) -> None:
        own: dict[str, Any] = {"va": "center_baseline", "color": style.DARK, "zorder": 6}
        self.axes.text(x, y, text, transform=place, **own)

    def draw_background(self, vanilla: float, fair: float, best: pd.DataFrame) -> None:
        """Vanilla's imparity, what fair predictors stay below, and the front as a staircase."""
        axes = self.axes
        room = (self.high - self.low) * STRIP / (1 - STRIP) if self.beside else 0
        axes.set(xlim=(self.left, self.right), ylim=(self.low - room, self.high))
        style.ticks(axes.xaxis, self.left, self.right, most=4)
        style.ticks(axes.yaxis, self.low, self.high, most=4)
        axes.grid(visible=True)
        if not np.isnan(vanilla):
            axes.axhline(vanilla, zorder=1.6, **style.VANILLA)
        if not np.isnan(fair):
            axes.axhspan(self.low, fair, color=style.PALE, linewidth=0, zorder=0.5)
            axes.axhline(fair, color=style.GREY, linestyle=style.DOTTED, linewidth=0.7, zorder=1)
        if len(best):
            xs, ys = best["micro_f1"].to_numpy(), best["imparity_released"].to_numpy()
            stairs = [self.left, *np.repeat(xs, 2)], [*np.repeat(ys, 2), self.high]
            axes.plot(*stairs, color=style.GREY, linewidth=0.8, zorder=1.5)

    def draw_inside(self) -> None:
        """Each with its spread, and a thin line from ours to the paper's."""
        axes, inside = self.axes, self.inside
        offsets = _petals(axes, inside)
        printed = {p.method: p for p in inside if not p.ours}
        for p in inside:
            place = style.shifted(axes, axes.transData, *offsets[p.method, p.ours])
            colour = self.look[p.method].colour
            if p.ours:
                bars: dict[str, Any] = {"color": colour, "transform": place, "zorder": 3}
                axes.plot([p.x - p.dx, p.x + p.dx], [p.y, p.y], linewidth=0.6, **bars)
                axes.plot([p.x, p.x], [p.y - p.dy, p.y + p.dy], linewidth=0.6, **bars)
                if twin := printed.get(p.method):
                    line: dict[str, Any] = {"color": colour, "alpha": 0.45, "zorder": 2}
                    axes.plot([p.x, twin.x], [p.y, twin.y], linewidth=0.4, **line)
            self.mark(p, p.x, p.y, place)
            if p.constant:
                self.write("†", p.x, p.y, style.shifted(axes, place, 2.5, 0))

    def draw_controls(self) -> None:
        """From each of our points, a thin line to vanilla's threshold at its selection rate."""
        for p in self.inside:
            if p.control is None or not self.within(*p.control):
                continue
            x, y = p.control
            colour = self.look[p.method].colour
            own: dict[str, Any] = {"color": colour, "zorder": 2.5}
            gid = f"control-{self.name}-{p.method}"
            self.axes.plot([p.x, x], [p.y, y], **CONTROL, **own)
            self.axes.plot(x, y, gid=gid, markerfacecolor="white", **END, **own)

    def within(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.low <= y <= self.high

    def draw_beyond(self) -> None:
        """Their imparity is written beside them, at the edge."""
        axes, place = self.axes, self.axes.get_xaxis_transform()
        base = STRIP if self.beside else 0
        for p in self.beyond:
            above = p.y > self.high
            y, edge, arrow = (0.9, 0.975, "^") if above else (base + 0.1, base + 0.025, "v")
            self.mark(p, p.x, y, place)
            axes.plot(p.x, edge, arrow, color=style.DARK, markersize=2.2, transform=place)
            label = style.brief(f"{p.y:.3f}") + "†" * p.constant
            self.write(label, p.x, y, style.shifted(axes, place, 4.5, 0))

    def draw_beside(self) -> None:
        """Their micro F1 is written beside them, in a strip along the bottom."""
        axes, place = self.axes, self.axes.transAxes
        if not self.beside:
            return
        blank: dict[str, Any] = {"facecolor": "white", "linewidth": 0, "zorder": 1.7}
        axes.add_patch(Rectangle((0, 0), 1, STRIP, transform=place, **blank))
        axes.plot([0, 1], [STRIP, STRIP], transform=place, color="#cccccc", linewidth=0.4)
        at = 3.5  # points from the left
        for arrow, side in (
            ("<", [p for p in self.beside if p.x < self.left]),
            (">", [p for p in self.beside if p.x > self.right]),
        ):
            groups: dict[str, list[Point]] = {}
            for p in sorted(side, key=lambda p: p.x):
                groups.setdefault(style.brief(f"{p.x:.2f}") + "†" * p.constant, []).append(p)
            if side:
                start = style.shifted(axes, place, at, 0)
                axes.plot(0, STRIP / 2, arrow, color=style.DARK, markersize=2.2, transform=start)
            for label, group in groups.items():
                for p in group:
                    at += 5.7
                    self.mark(p, 0, STRIP / 2, style.shifted(axes, place, at, 0))
                self.write(label, 0, STRIP / 2, style.shifted(axes, place, at + 3.7, 0))
                at += 3.6 * len(label) + 4


def _draw(
    axes: Axes, summary: pd.DataFrame, dataset: str, setting: str, own: list[Point],
    row: list[Point], look: dict[str, Look],
) -> None:  # fmt: skip
    """One panel; its x axis is that of all points of its row."""
    rows = cell(summary, dataset, setting)
    vanilla = float(rows["imparity_released"].get("vanilla", float("nan")))
    fair = of_vanilla(summary, dataset, setting, "null_95_released")
    lines = [line for line in (vanilla, fair) if not np.isnan(line)]
    (left, right), (low, high) = _limits(own, row, lines)
    panel = Panel(axes, f"{dataset}-{setting}", look, left, right, low, high, own)
    style.watermark(axes, rows)
    panel.draw_background(vanilla, fair, front(summary, dataset, setting))
    panel.draw_controls()
    panel.draw_inside()
    panel.draw_beyond()
    panel.draw_beside()


def _petals(axes: Axes, shown: list[Point]) -> dict[tuple[str, bool], tuple[float, float]]:
    """Offsets, in points, that put methods with nearly the same figures around a dot in the middle.

    The paper's figures of a method go with ours where they coincide, and stay put elsewhere.
    """
    scale = 72 / style.figure_of(axes).dpi
    pixels = axes.transData.transform([(p.x, p.y) for p in shown])
    places = {(p.method, p.ours): at * scale for p, at in zip(shown, pixels, strict=True)}

    def hidden(a: tuple[str, bool], b: tuple[str, bool]) -> bool:
        return bool(np.hypot(*(places[a] - places[b])) < 1.5)

    offsets = dict.fromkeys(places, (0.0, 0.0))
    left = [key for key in places if key[1]]
    while left:
        group: list[tuple[str, bool]] = []
        near = left[:1]
        while near != group:  # whatever would hide one of the group belongs to it
            group = near
            near = [key for key in left if any(hidden(key, other) for other in group)]
        left = [key for key in left if key not in group]
        n = len(group)
        if n == 1:
            continue
        centre = np.mean([places[key] for key in group], axis=0)
        x, y = axes.transData.inverted().transform(centre / scale)
        axes.plot(x, y, ".", color="black", markersize=1.2, zorder=6, clip_on=False)
        # in the order in which they already lie around it; where they are equal, in the table's
        angles = {key: np.arctan2(*(places[key] - centre).round(1)[::-1]) for key in group}
        order = sorted(group, key=lambda key: -angles[key])
        start = np.pi / 2 if n > 2 else angles[order[0]]
        radius = 4.6 / (2 * np.sin(np.pi / n))
        for i, key in enumerate(order):
            angle = start - 2 * np.pi * i / n
            offsets[key] = float(radius * np.cos(angle)), float(radius * np.sin(angle))
    for method, ours in places:
        if not ours and (method, True) in places and hidden((method, True), (method, False)):
            offsets[method, False] = offsets[method, True]
    return offsets
