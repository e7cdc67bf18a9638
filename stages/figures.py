"""The figures of the notebooks: functions from tables to matplotlib figures, all in one style.

They are drawn for one column of a two-column page (the fronts for both), where no text is smaller
than 6 points; on a screen they grow. The same table gives the same bytes, as SVG and as PNG.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from matplotlib.transforms import ScaledTranslation, Transform

from stages import files, fronts, tables
from stages.processed import INTERSECTION

STYLE = Path(__file__).parent.parent / "notebooks/infofair.mplstyle"
COLUMN, PAGE = 3.5, 7.16  # inches: one column of a page, and both

RED, DARK, GREY, PALE = "#d4001a", "#333333", "#8a8a8a", "#ececec"
DASHED: Any = (0, (4, 2.5))
DOTTED: Any = (0, (1, 1.5))

# Colour and shape of each method: Okabe and Ito's palette, with olive and violet for its
# vermillion, too near the red star that InfoFair is in the paper, and yellow, too pale when hollow.
LOOKS = {
    "vanilla": ("#000000", "o"),
    "lfr": ("#e69f00", "v"),
    "mindiff": ("#56b4e9", "^"),
    "di": ("#009e73", "s"),
    "adversarial": ("#0072b2", "D"),
    "fcfc": ("#cc79a7", "P"),
    "gerryfair": ("#888844", "X"),
    "gdp": ("#7b2be0", "p"),
    "infofair": (RED, "*"),
    "dp_gap": ("#3c1e69", "<"),
    "plugin_mi": ("#5a0f00", ">"),
    "reweighing": ("#e1b4b4", "d"),
    "expgrad": ("#2d4b4b", "h"),
    "infofair_fitted": ("#0000ec", "H"),
}
SPARE_LOOKS = [("#5f6b6d", "8"), ("#117733", "h"), ("#332288", "8"), ("#aa4499", "h")]
SIZES = {"*": 6.3, "s": 3.3, "D": 3.0}  # points; any other shape: 3.8


@contextmanager
def styled() -> Iterator[None]:
    """The style file on top of matplotlib's defaults, whatever the user has configured."""
    with style.context([STYLE], after_reset=True):
        yield


def save(figure: Figure, path: str | Path) -> None:
    """As SVG or PNG, by the name of the file; without the date, so that bytes repeat."""
    path = Path(path)
    with styled(), files.whole(path) as partial:
        if path.suffix == ".svg":
            figure.savefig(partial, format="svg", metadata={"Date": None})
        else:
            figure.savefig(partial, format=path.suffix.removeprefix("."))


def png(figure: Figure) -> bytes:
    """To show in a notebook what is not saved."""
    with styled():
        figure.savefig(content := BytesIO(), format="png")
    return content.getvalue()


def looks(methods: Iterable[str]) -> dict[str, tuple[str, str]]:
    """A colour and a shape for each method; those that LOOKS does not have get spare ones."""
    methods = list(methods)
    others = [method for method in methods if method not in LOOKS]
    spare = {m: SPARE_LOOKS[i % len(SPARE_LOOKS)] for i, m in enumerate(others)}
    return {method: LOOKS.get(method) or spare[method] for method in methods}


# -- parts of figures ----------------------------------------------------------------------------


def _panels(
    heights: list[float], columns: int, left: float, gaps: tuple[float, float], top: float,
    bottom: float, page: float = COLUMN,
) -> tuple[Figure, list[list[Axes]]]:  # fmt: skip
    """A figure and its grid of axes, all in inches; the gaps are between columns and rows.

    It is as wide as `page` for up to three columns, and grows with more.
    """
    width = max(page, page / 3 * columns)
    total = top + sum(heights) + (len(heights) - 1) * gaps[1] + bottom
    each = (width - left - 0.06 - (columns - 1) * gaps[0]) / columns
    figure = Figure(figsize=(width, total))
    grid = []
    for row, height in enumerate(heights):
        y = total - top - sum(heights[: row + 1]) - row * gaps[1]
        places = [left + column * (each + gaps[0]) for column in range(columns)]
        grid.append(
            [figure.add_axes((x / width, y / total, each / width, height / total)) for x in places]
        )
    return figure, grid


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def _shifted(axes: Axes, place: Transform, x: float, y: float) -> Transform:
    """A place, and from there some points (1/72 inch) to the right and up."""
    return place + ScaledTranslation(x / 72, y / 72, _figure(axes).dpi_scale_trans)


def _brief(number: str) -> str:
    """Without the zero before the point, for want of space, and with a true minus sign."""
    return re.sub(r"^(-?)0\.", r"\1.", number).replace("-", "−")


def _ticks(axis: Axis, low: float, high: float, most: int, factor: float = 1) -> None:
    """At round values of the range, all with the same number of decimals."""
    found = MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(factor * low, factor * high)
    decimals = max(0, -int(np.floor(np.log10(found[1] - found[0]) + 1e-9)))
    axis.set_major_locator(FixedLocator([t / factor for t in found if low <= t / factor <= high]))
    axis.set_major_formatter(FuncFormatter(lambda t, _: _brief(f"{factor * t:z.{decimals}f}")))


def _row_title(axes: Axes, dataset: str, left: float) -> None:
    """A dataset's name beside its row of panels, some points to the left of the first."""
    axes.text(
        0, 0.5, tables.dataset_name(dataset), transform=_shifted(axes, axes.transAxes, -left, 0),
        rotation=90, ha="center", va="center", weight="bold", size=6.5,
    )  # fmt: skip


def _short(setting: str, settings: list[str]) -> str:
    return tables.setting_name(setting, settings).replace(" status", "")


def _warnings(summary: pd.DataFrame) -> list[str]:
    """Lines that say what a reader must know first, and of which datasets."""
    said: dict[str, list[str]] = {}
    names = [str(dataset) for dataset in dict.fromkeys(summary["dataset"])]
    for name in names:
        for warning in tables.warnings(summary[summary["dataset"] == name]):
            said.setdefault(warning, []).append(tables.dataset_name(name))
    texts = [
        warning if len(of) == len(names) else f"{', '.join(of)}: {warning}"
        for warning, of in said.items()
    ]
    return [line for text in texts for line in textwrap.wrap(text, 54)]


def _warn(figure: Figure, summary: pd.DataFrame) -> None:
    """In red, at the top."""
    for i, warning in enumerate(_warnings(summary)):
        y = 1 - (0.02 + 0.11 * i) / figure.get_figheight()
        figure.text(0.5, y, warning, ha="center", va="top", color=RED, weight="bold", size=6.5)


def _watermark(axes: Axes, rows: pd.DataFrame) -> None:
    if (rows["data"] != "real").any():
        axes.text(
            0.5, 0.55, "SIMULATED", transform=axes.transAxes, rotation=35, ha="center",
            va="center", color=RED, alpha=0.22, size=10, weight="bold", zorder=0,
        )  # fmt: skip


def _legend(figure: Figure, entries: list[Any], top: float, columns: int) -> None:
    """Centred, its upper edge that many inches above the bottom of the figure."""
    place = (0.5, top / figure.get_figheight())
    figure.legend(handles=entries, loc="upper center", bbox_to_anchor=place, ncols=columns)


def _columns(labels: list[str], most: int) -> int:
    """How many columns of a legend fit side by side, by a rough measure of its text."""
    for columns in range(min(most, len(labels)), 1, -1):
        widest = [max(map(len, part)) for part in np.array_split(labels, columns)]
        if sum(3.5 * letters + 22 for letters in widest) < 72 * COLUMN + 7:
            return columns
    return 1


def _key(label: str, **look: Any) -> Line2D:
    return Line2D([], [], label=label, **({"color": DARK} | look))


# -- trade-off -----------------------------------------------------------------------------------

REACH = 0.6  # how far, in spans of our points, an axis goes to show one of the paper's
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


def points(summary: pd.DataFrame, dataset: str, setting: str) -> list[Point]:
    found = []
    spread = tables.cell(summary, dataset, setting, "std").to_dict("index")
    for name, mean in tables.cell(summary, dataset, setting).to_dict("index").items():
        method = str(name)
        x, y = mean["micro_f1"], mean["imparity_released"]
        dx, dy = (np.nan_to_num(spread[method][axis]) for axis in ("micro_f1", "imparity_released"))
        found.append(Point(method, x, y, dx, dy, ours=True, constant=mean["note"] != ""))
        x, y = mean["paper_micro_f1"], mean["paper_imparity"]
        if not np.isnan(x):
            constant = tables.constant_in_print(mean)
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


def tradeoff(summary: pd.DataFrame) -> Figure:
    """Micro F1 against imparity, one panel per dataset and setting; the lower right is best.

    In the SVG each of our points is a group with the id `point-<dataset>-<setting>-<method>`, and
    each of the paper's `paper-<dataset>-<setting>-<method>`.
    """
    names = [str(dataset) for dataset in dict.fromkeys(summary["dataset"])]
    settings = {name: tables.settings(summary, name) for name in names}
    methods = tables.methods(summary)
    look = looks(methods)
    labels = [tables.method_name(method) for method in methods]
    columns = _columns(labels, 5)
    lines = -(-len(labels) // columns)  # of the legend
    titles = {
        (name, setting): "\n".join(textwrap.wrap(_short(setting, of), 16))  # over one panel
        for name, of in settings.items()
        for setting in of
    }
    more = 0.12 * max(title.count("\n") for title in titles.values())
    with styled():
        figure, grid = _panels(
            [1.1] * len(names), max(map(len, settings.values())), left=0.52,
            gaps=(0.27, 0.33 + more), top=0.17 + more + 0.12 * len(_warnings(summary)),
            bottom=0.84 + 0.14 * lines,
        )  # fmt: skip
        for row, dataset in zip(grid, names, strict=True):
            of_row = {s: points(summary, dataset, s) for s in settings[dataset]}
            every = [p for own in of_row.values() for p in own]
            for axes, (setting, own) in zip(row, of_row.items(), strict=False):
                _tradeoff_panel(axes, summary, dataset, setting, own, every, look)
                axes.set_title(titles[dataset, setting])
            for axes in row[len(of_row) :]:
                axes.remove()
            row[0].set_ylabel("imparity (lower is better)")
            label = _shifted(row[0], row[0].transAxes, -20, 0)
            row[0].yaxis.set_label_coords(0, 0.5, transform=label)
            _row_title(row[0], dataset, 33)
        for column in zip(*grid, strict=True):
            shown = [axes for axes in column if axes in figure.axes]
            shown[-1].set_xlabel("micro F1")
        _warn(figure, summary)
        entries = [
            _key(label, **_marker(look[m], True)) for label, m in zip(labels, methods, strict=True)
        ]
        _legend(figure, entries, 0.54 + 0.14 * lines, columns)
        _legend(figure, _tradeoff_keys(summary), 0.53, columns=2)
    return figure


def _marker(look: tuple[str, str], ours: bool) -> dict[str, Any]:
    """Ours is filled; the paper's is hollow, and a little larger to show around ours."""
    colour, shape = look
    size = SIZES.get(shape, 3.8)
    own = {"linestyle": "", "marker": shape}
    if ours:
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.25}
        return own | edge | {"markersize": size, "markerfacecolor": colour}
    edge = {"markeredgecolor": colour, "markeredgewidth": 0.6}
    return own | edge | {"markersize": size + 0.9, "markerfacecolor": "none"}


def _tradeoff_keys(summary: pd.DataFrame) -> list[Any]:
    both = ("#333333", "o")
    floor = {"facecolor": PALE, "edgecolor": GREY, "linestyle": DOTTED, "linewidth": 0.7}
    printed = [_key("paper", **_marker(both, False))]
    return [
        _key("ours: mean ± std over seeds", **_marker(both, True) | {"linestyle": "-"}),
        *(printed if summary["paper_micro_f1"].notna().any() else []),
        _key("off the scale, with its value", linestyle="", marker="<", markersize=2.2),
        _key("constant predictor", linestyle="", marker=r"$\dagger$", markersize=3.6),
        _key("Vanilla's imparity", color="black", linestyle=DASHED, linewidth=0.6),
        _key("Pareto front of ours", color=GREY, linewidth=0.8),
        Patch(label="below the noise floor", **floor),
        _key("place of all around it", linestyle="", marker=".", markersize=1.6),
    ]


def _tradeoff_panel(
    axes: Axes, summary: pd.DataFrame, dataset: str, setting: str, own: list[Point],
    row: list[Point], look: dict[str, tuple[str, str]],
) -> None:  # fmt: skip
    rows = tables.cell(summary, dataset, setting)
    vanilla = float(rows["imparity_released"].get("vanilla", float("nan")))
    floor = tables.noise_floor(summary, dataset, setting)
    lines = [line for line in (vanilla, floor) if not np.isnan(line)]
    (left, right), (low, high) = _limits(own, row, lines)
    beside = [p for p in own if not left <= p.x <= right]
    beyond = [p for p in own if p not in beside and not low <= p.y <= high]
    inside = [p for p in own if p not in beside and p not in beyond]

    room = (high - low) * STRIP / (1 - STRIP) if beside else 0
    axes.set(xlim=(left, right), ylim=(low - room, high))
    _ticks(axes.xaxis, left, right, most=4)
    _ticks(axes.yaxis, low, high, most=4)
    axes.grid(visible=True)
    _watermark(axes, rows)
    if not np.isnan(vanilla):
        axes.axhline(vanilla, color="black", linestyle=DASHED, linewidth=0.6, zorder=1.6)
    if not np.isnan(floor):
        axes.axhspan(low, floor, color=PALE, linewidth=0, zorder=0.5)
        axes.axhline(floor, color=GREY, linestyle=DOTTED, linewidth=0.7, zorder=1)
    best = tables.front(summary, dataset, setting)
    if len(best):
        xs, ys = best["micro_f1"].to_numpy(), best["imparity_released"].to_numpy()
        stairs = [left, *np.repeat(xs, 2)], [*np.repeat(ys, 2), high]
        axes.plot(*stairs, color=GREY, linewidth=0.8, zorder=1.5)

    def mark(p: Point, x: float, y: float, place: Transform) -> None:
        gid = f"{'point' if p.ours else 'paper'}-{dataset}-{setting}-{p.method}"
        front = 5 if p.method == "infofair" else 4
        marker = _marker(look[p.method], p.ours)
        axes.plot(x, y, transform=place, clip_on=False, zorder=front, gid=gid, **marker)

    def write(text: str, x: float, y: float, place: Transform) -> None:
        axes.text(x, y, text, transform=place, va="center_baseline", color=DARK, zorder=6)

    offsets = _petals(axes, inside)
    printed = {p.method: p for p in inside if not p.ours}
    for p in inside:
        place = _shifted(axes, axes.transData, *offsets[p.method, p.ours])
        if p.ours:
            bars: dict[str, Any] = {"color": look[p.method][0], "transform": place, "zorder": 3}
            axes.plot([p.x - p.dx, p.x + p.dx], [p.y, p.y], linewidth=0.6, **bars)
            axes.plot([p.x, p.x], [p.y - p.dy, p.y + p.dy], linewidth=0.6, **bars)
            if twin := printed.get(p.method):
                line: dict[str, Any] = {"color": look[p.method][0], "alpha": 0.45, "zorder": 2}
                axes.plot([p.x, twin.x], [p.y, twin.y], linewidth=0.4, **line)
        mark(p, p.x, p.y, place)
        if p.constant:
            write("†", p.x, p.y, _shifted(axes, place, 2.5, 0))

    for p in beyond:  # their imparity is written beside them, at the edge
        place = axes.get_xaxis_transform()
        base = STRIP if beside else 0
        y, edge, arrow = (0.9, 0.975, "^") if p.y > high else (base + 0.1, base + 0.025, "v")
        mark(p, p.x, y, place)
        axes.plot(p.x, edge, arrow, color=DARK, markersize=2.2, transform=place)
        label = _brief(f"{p.y:.3f}") + "†" * p.constant
        write(label, p.x, y, _shifted(axes, place, 4.5, 0))

    if beside:  # their micro F1 is written beside them, in a strip along the bottom
        blank: dict[str, Any] = {"facecolor": "white", "linewidth": 0, "zorder": 1.7}
        axes.add_patch(Rectangle((0, 0), 1, STRIP, transform=axes.transAxes, **blank))
        axes.plot([0, 1], [STRIP, STRIP], transform=axes.transAxes, color="#cccccc", linewidth=0.4)
        at = 3.5  # points from the left
        for arrow, side in (
            ("<", [p for p in beside if p.x < left]),
            (">", [p for p in beside if p.x > right]),
        ):
            groups: dict[str, list[Point]] = {}
            for p in sorted(side, key=lambda p: p.x):
                groups.setdefault(_brief(f"{p.x:.2f}") + "†" * p.constant, []).append(p)
            if side:
                place = _shifted(axes, axes.transAxes, at, 0)
                axes.plot(0, STRIP / 2, arrow, color=DARK, markersize=2.2, transform=place)
            for label, group in groups.items():
                for p in group:
                    at += 5.7
                    mark(p, 0, STRIP / 2, _shifted(axes, axes.transAxes, at, 0))
                write(label, 0, STRIP / 2, _shifted(axes, axes.transAxes, at + 3.7, 0))
                at += 3.6 * len(label) + 4


def _petals(axes: Axes, shown: list[Point]) -> dict[tuple[str, bool], tuple[float, float]]:
    """Offsets, in points, that put methods with nearly the same figures around a dot in the middle.

    The paper's figures of a method go with ours where they coincide, and stay put elsewhere.
    """
    scale = 72 / _figure(axes).dpi
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


# -- fronts --------------------------------------------------------------------------------------

STRONG = ("infofair", "infofair_fitted")  # the others are background


def frontier(summary: pd.DataFrame, areas: pd.DataFrame) -> Figure:
    """Micro F1 against imparity as the strength varies, a line per method; the upper left is best.

    summary, areas: results/frontier_summary.csv and results/hypervolume.csv. In the SVG a line has
    the id `front-<dataset>-<setting>-<method>`, its band `band-…`.
    """
    names = [str(dataset) for dataset in dict.fromkeys(summary["dataset"])]
    settings = {name: tables.settings(summary, name) for name in names}
    methods = [method for method in tables.methods(summary) if method != "vanilla"]
    look = looks(methods)
    entries = [_key(tables.method_name(m), **_front_look(m, look)) for m in methods]
    lines = max(-(-len(entries) // 7), 1)  # of the legend
    columns = max(-(-len(entries) // lines), 1)
    of_cell = dict(fronts.cells(summary))
    beside = {(row["dataset"], row["setting"]): row for row in areas.to_dict("records")}
    with styled():
        figure, grid = _panels(
            [1.45] * len(names), max(map(len, settings.values())), left=0.57, gaps=(0.33, 0.36),
            top=0.2 + 0.12 * len(_warnings(summary)), bottom=0.65 + 0.14 * lines, page=PAGE,
        )  # fmt: skip
        for row, dataset in zip(grid, names, strict=True):
            for axes, setting in zip(row, settings[dataset], strict=False):
                own = {
                    m: of_cell[key] for m in methods if (key := (dataset, setting, m)) in of_cell
                }
                gid = f"{dataset}-{setting}"
                _front_panel(
                    axes,
                    own,
                    of_cell[dataset, setting, "vanilla"],
                    beside[dataset, setting],
                    look,
                    gid,
                )
                axes.set_title(_short(setting, settings[dataset]))
            for axes in row[len(settings[dataset]) :]:
                axes.remove()
            row[0].set_ylabel("micro F1")
            label = _shifted(row[0], row[0].transAxes, -22, 0)
            row[0].yaxis.set_label_coords(0, 0.5, transform=label)
            _row_title(row[0], dataset, 35)
        for axes in grid[-1]:
            axes.set_xlabel("imparity (lower is better)")
        _warn(figure, summary)
        _legend(figure, entries, 0.36 + 0.14 * lines, columns)
        _legend(figure, _front_keys(), 0.33, columns=3)
    return figure


def _front_look(method: str, look: dict[str, tuple[str, str]]) -> dict[str, Any]:
    colour, shape = look[method]
    strong = method in STRONG
    return {
        "color": colour, "marker": shape, "markeredgecolor": "white", "markeredgewidth": 0.25,
        "markersize": SIZES.get(shape, 3.8) - (0 if strong else 0.8),
        "linewidth": 1.3 if strong else 0.7, "alpha": 1 if strong else 0.65,
    }  # fmt: skip


VANILLA: dict[str, Any] = {"color": "black", "marker": "o", "markersize": 4, "linestyle": ""}
CONSTANT: dict[str, Any] = VANILLA | {"marker": "X", "markerfacecolor": GREY, "color": GREY}


def _front_keys() -> list[Any]:
    floor = {"facecolor": PALE, "edgecolor": GREY, "linestyle": DOTTED, "linewidth": 0.7}
    return [
        _key("Vanilla", **VANILLA),
        _key("constant predictor (with its micro F1 if off the scale)", **CONSTANT),
        _key("mixtures of these two", color=GREY, linestyle=DASHED, linewidth=0.6),
        Patch(label="± std of micro F1 over seeds", facecolor=GREY, alpha=0.25, linewidth=0),
        Patch(label="below the noise floor", **floor),
    ]


def _front_panel(
    axes: Axes, own: dict[str, pd.DataFrame], vanilla: pd.DataFrame, beside: dict[Any, Any],
    look: dict[str, tuple[str, str]], gid: str,
) -> None:  # fmt: skip
    """Between the constant predictor and vanilla; what lies outside is cut off.

    Where the fronts keep far above the constant predictor, it is named at the lower edge instead.
    """
    constant, floor = beside["constant_micro_f1"], beside["floor"]
    x, y = beside["vanilla_imparity"], beside["vanilla_micro_f1"]
    chosen = {method: fronts.front(rows).sort_values("imparity") for method, rows in own.items()}
    highest = max([y, *(rows["micro_f1"].max() for rows in chosen.values() if len(rows))])
    found = [f1 for rows in chosen.values() for f1 in rows["micro_f1"] if f1 > constant]
    lowest = float(np.quantile([y, *found], 0.05))  # one bad strength does not squash the rest
    far = highest - constant > 2 * (highest - lowest)
    height = max(highest - (lowest if far else constant), 0.01)
    # a little beyond vanilla, and further for what is not much more unfair
    beyond = [gap for rows in chosen.values() for gap in rows["imparity"] if gap < 1.3 * x]
    right = 1.05 * max([x, 0.01, *beyond])
    left = -0.03 * right
    low, high = highest - (1.3 if far else 1.08) * height, highest + 0.08 * height
    axes.set(xlim=(left, right), ylim=(low, high))
    _ticks(axes.xaxis, 0, right, most=5)
    _ticks(axes.yaxis, low, high, most=5)
    axes.grid(visible=True)
    _watermark(axes, vanilla)
    axes.axvspan(left, floor, color=PALE, linewidth=0, zorder=0.5)
    axes.axvline(floor, color=GREY, linestyle=DOTTED, linewidth=0.7, zorder=1)
    axes.plot([0, x], [constant, y], color=GREY, linestyle=DASHED, linewidth=0.6, zorder=1.5)
    for method, rows in chosen.items():
        front = 4 if method in STRONG else 3
        xs, ys = rows["imparity"].to_numpy(), rows["micro_f1"].to_numpy()
        spread = rows["micro_f1_std"].fillna(0).to_numpy()
        axes.fill_between(
            xs, ys - spread, ys + spread, color=look[method][0], linewidth=0, zorder=front - 1.2,
            alpha=0.15 if method in STRONG else 0.09, gid=f"band-{gid}-{method}",
        )  # fmt: skip
        drawn = _front_look(method, look)
        axes.plot(xs, ys, zorder=front, gid=f"front-{gid}-{method}", **drawn)
    axes.plot(x, y, zorder=5, clip_on=False, **VANILLA)
    if not far:
        axes.plot(0, constant, zorder=5, clip_on=False, **CONSTANT)
        return
    place = _shifted(axes, axes.transData, 0, 4)
    axes.plot(0, low, zorder=5, clip_on=False, transform=place, **CONSTANT)
    value, place = _brief(f"{constant:.2f}"), _shifted(axes, place, 4.5, 0)
    axes.text(0, low, value, transform=place, va="center_baseline", color=DARK, zorder=6)


# -- ablation ------------------------------------------------------------------------------------

VARIANT_LOOKS = {  # colour and hatching
    "infofair": (RED, ""),
    "infofair_ts": ("#56b4e9", "/////"),
    "infofair_td": ("#e69f00", "\\" * 5),
}
ABLATED = {"micro_f1": "micro F1", "macro_f1": "macro F1", "reduction_released": "reduction (%)"}
SELECTED: dict[str, Any] = {
    "marker": "d", "markersize": 3.2, "markerfacecolor": "white", "markeredgecolor": DARK,
    "markeredgewidth": 0.5, "linestyle": "",
}  # fmt: skip


def ablation(summary: pd.DataFrame) -> Figure:
    """Bars for T+S+D, T+S and T+D: means over seeds, drawn from vanilla's; higher is better."""
    names = [str(dataset) for dataset in dict.fromkeys(summary["dataset"])]
    settings = {name: tables.settings(summary, name) for name in names}
    labels = {
        name: [_label(_short(setting, of)) for setting in of] for name, of in settings.items()
    }
    heights = [  # of each setting, 0.32 or what its label needs
        len(of) * max(0.32, *(0.11 * (label.count("\n") + 1) for label in of))
        for of in labels.values()
    ]
    with styled():
        figure, grid = _panels(
            heights, len(ABLATED), left=0.72, gaps=(0.15, 0.29),
            top=0.2 + 0.12 * len(_warnings(summary)), bottom=0.52,
        )  # fmt: skip
        for axes, title in zip(grid[0], ABLATED.values(), strict=True):
            axes.set_title(title)
        for row, dataset in zip(grid, names, strict=True):
            own = summary[summary["dataset"] == dataset]
            for axes, metric in zip(row, ABLATED, strict=True):
                _bars(axes, own, metric, settings[dataset])
            row[0].set_yticks(range(len(labels[dataset])), labels[dataset])
            _row_title(row[0], dataset, 46)
        _warn(figure, summary)
        bars = [
            Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0,
                  label=tables.VARIANTS[variant] + " (InfoFair)" * (variant == "infofair"))
            for variant, (colour, hatch) in VARIANT_LOOKS.items()
        ]  # fmt: skip
        start = _key("Vanilla: where bars start", color="black", linestyle=DASHED, linewidth=0.6)
        selected = _key("selected (paper's protocol)", **SELECTED)
        _legend(figure, [*bars, start], 0.29, columns=4)
        _legend(figure, [_key("mean ± std over seeds"), selected], 0.15, columns=2)
    return figure


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
        line: dict[str, Any] = {"color": "black", "linestyle": DASHED, "linewidth": 0.6}
        axes.plot([base, base], [place - 0.45, place + 0.45], zorder=3, **line)
        for i, variant in enumerate(VARIANT_LOOKS):
            if (setting, variant, "mean") not in of:
                continue
            mean = of[setting, variant, "mean"]
            # none where the selected vanilla's imparity, which a reduction is a share of, is 0
            selected = [of[key] for key in [(setting, variant, "paper")] if key in of]
            std = of.get((setting, variant, "std"), 0.0)
            colour, hatch = VARIANT_LOOKS[variant]
            y = place + 0.26 * (i - 1)
            axes.barh(
                y, mean - base, 0.22, left=base, color=colour, hatch=hatch, edgecolor="white",
                linewidth=0, zorder=2, gid=f"bar-{dataset}-{setting}-{variant}-{metric}",
            )  # fmt: skip
            axes.plot([mean - std, mean + std], [y, y], color=DARK, zorder=4)
            axes.plot(selected, [y] * len(selected), zorder=5, **SELECTED)
            ends += [base, mean - std, mean + std, *selected]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    pad = 0.06 * (high - low) or 0.01
    axes.set(xlim=(low - pad, high + pad), ylim=(len(settings) - 0.5, -0.5), yticks=[])
    axes.tick_params(axis="y", length=0)
    _ticks(axes.xaxis, low, high, most=3, factor=100 if "reduction" in metric else 1)
    axes.grid(visible=True, axis="x")
    _watermark(axes, rows)


# -- experiments ---------------------------------------------------------------------------------

SWEPT = {"micro_f1": "micro F1", "imparity": "imparity", "reduction": "reduction (%)"}
SETTING_LOOKS = [
    ("#0072b2", "o"),
    ("#e69f00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    (DARK, "v"),
]
RING: dict[str, Any] = {
    "marker": "o", "markersize": 6.5, "markerfacecolor": "none", "markeredgecolor": DARK,
    "markeredgewidth": 0.5, "linestyle": "",
}  # fmt: skip

HOLLOW: dict[str, Any] = {"linestyle": "", "markerfacecolor": "none", "markeredgewidth": 0.6}


def sweep(frame: pd.DataFrame) -> Figure:
    """InfoFair's figures against alpha, from `compare.experiments`: one line per setting.

    The last commit's figures are ringed. Experiments in which another parameter differs, too, are
    hollow and on no line.
    """
    names = [str(dataset) for dataset in dict.fromkeys(frame["dataset"])]
    labels: dict[int, list[str]] = {}  # a line's colour is by its setting's place in the dataset
    with styled():
        figure, grid = _panels(
            [0.9] * max(len(names), 1), len(SWEPT), left=0.5, gaps=(0.27, 0.42), top=0.2,
            bottom=0.72,
        )  # fmt: skip
        for axes, title in zip(grid[0], SWEPT.values(), strict=True):
            axes.set_title(title)
        for row, dataset in zip(grid, names, strict=False):
            own = frame[frame["dataset"] == dataset]
            settings = tables.settings(frame, dataset)
            for i, setting in enumerate(settings):
                both = setting == INTERSECTION and len(settings) == 3
                name = tables.attribute_name(setting)
                labels.setdefault(i, []).append("both" if both else name)
            for axes, metric in zip(row, SWEPT, strict=True):
                _lines(axes, own, metric, settings)
                axes.set_xlabel("alpha")
            _row_title(row[0], dataset, 31)
        if not names:
            figure.text(0.5, 0.5, "no figures of InfoFair in results/metrics.json", ha="center")
        lines = [
            _key(" / ".join(dict.fromkeys(labels[i])), color=colour, marker=shape, markersize=3)
            for i, (colour, shape) in zip(labels, cycle(SETTING_LOOKS), strict=False)
        ]
        hollow = HOLLOW | {"marker": "o", "markersize": 3}
        vanilla = _key("Vanilla", color="black", linestyle=DASHED, linewidth=0.6)
        others = [
            _key("last commit", **RING),
            _key("differs in more than alpha", **hollow),
            vanilla,
        ]
        _legend(figure, lines, 0.3, columns=len(SETTING_LOOKS))
        _legend(figure, others, 0.16, columns=3)
    return figure


def _lines(axes: Axes, rows: pd.DataFrame, metric: str, settings: list[str]) -> None:
    rows = rows.dropna(subset=["alpha", metric]).sort_values("alpha", kind="stable")
    for (colour, shape), setting in zip(cycle(SETTING_LOOKS), settings, strict=False):
        own = rows[rows["setting"] == setting]
        base, alone = own[own["baseline"]], own["changed"] == ""
        look: dict[str, Any] = {"marker": shape, "markersize": 3, "color": colour}
        axes.plot(own["alpha"][alone], own[metric][alone], **look)
        axes.plot(own["alpha"][~alone], own[metric][~alone], **look | HOLLOW)
        axes.plot(base["alpha"], base[metric], zorder=1.9, **RING)
        for level in [0] if metric == "reduction" else base[f"vanilla_{metric}"].dropna():
            shade = colour if metric == "imparity" else "black"  # else all settings' is the same
            axes.axhline(level, color=shade, linestyle=DASHED, linewidth=0.6, zorder=1)
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
    axes.xaxis.set_major_formatter(FuncFormatter(lambda alpha, _: _brief(f"{alpha:g}")))
    _ticks(axes.yaxis, *axes.get_ylim(), most=4, factor=100 if metric == "reduction" else 1)
    axes.grid(visible=True, axis="y")
