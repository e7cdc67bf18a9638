"""What the figures share: their style, how they are saved, and parts of them.

They are drawn for one column of a two-column page (the fronts for both), where no text is smaller
than 6 points; on a screen they grow. The same table gives the same bytes, as SVG and as PNG.
"""

import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
from matplotlib import style as matplotlib_style
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from matplotlib.transforms import ScaledTranslation, Transform

from infofair.storage import whole
from study import paths
from study.labels import METHODS, dataset_name, full_method_name, setting_name
from study.tables import summary as tables

SVG = "http://www.w3.org/2000/svg"
COLUMN, PAGE = 3.5, 7.16  # inches: one column of a page, and both

RED = METHODS["infofair"].look.colour
DARK, GREY, PALE = "#333333", "#8a8a8a", "#ececec"
DASHED: Any = (0, (4, 2.5))
DOTTED: Any = (0, (1, 1.5))
VANILLA: dict[str, Any] = {"color": "black", "linestyle": DASHED, "linewidth": 0.6}  # its level
FLOOR: dict[str, Any] = {  # its key in a legend
    "facecolor": PALE, "edgecolor": GREY, "linestyle": DOTTED, "linewidth": 0.7,
}  # fmt: skip


@dataclass(frozen=True)
class Link:
    target: str  # the id of a row of a table, somewhere on the page
    title: str


@contextmanager
def styled() -> Iterator[None]:
    """The style file on top of matplotlib's defaults, whatever the user has configured."""
    with matplotlib_style.context([paths.STYLE], after_reset=True):
        yield


class Picture(Figure):
    """A figure that can be a part of a page: it has a name, and parts of it lead somewhere."""

    name: str
    links: dict[str, Link]  # of what is drawn with this gid


def save(picture: Picture, path: str | Path) -> None:
    """As SVG or PNG, by the name of the file; the same picture gives the same bytes."""
    content = svg(picture).encode() if Path(path).suffix == ".svg" else png(picture)
    with whole(Path(path)) as partial:
        partial.write_bytes(content)


def png(picture: Picture) -> bytes:
    with styled():
        picture.savefig(content := BytesIO(), format="png")
    return content.getvalue()


def svg(picture: Picture) -> str:
    """To be looked at by itself, or put into a page as it is.

    Its ids begin with its name and its style is of itself alone, so that two pictures in a page do
    not clash. What has a link, by its gid, is one, with a title, which a keyboard reaches.
    """
    with styled():
        picture.savefig(content := BytesIO(), format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(content.getvalue())
    own = f"{picture.name}-"
    for element in list(root.iter()):
        element.tag = element.tag.rpartition("}")[2]  # what <svg> holds is known by its name
        for key in list(element.attrib):
            name = key.rpartition("}")[2]
            value = element.attrib.pop(key).replace("url(#", f"url(#{own}")
            if name == "id" or (name == "href" and value.startswith("#")):
                value = re.sub(r"^#?", rf"\g<0>{own}", value)
            element.set(name, value)
        if element.tag == "style" and element.text:
            element.text = element.text.replace("*{", f"#{picture.name} *{{")
    links = {own + gid: link for gid, link in picture.links.items()}
    for parent in list(root.iter()):
        for place, child in enumerate(list(parent)):
            if child.tag == "metadata":
                parent.remove(child)
            elif link := links.get(child.get("id", "")):
                parent[place] = around = ElementTree.Element("a", {"href": f"#{link.target}"})
                ElementTree.SubElement(around, "title").text = link.title
                around.append(child)
    shape = {name: root.attrib[name] for name in ("width", "height", "viewBox")}
    root.attrib = {"xmlns": SVG, "id": picture.name, **shape, "role": "group"}
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def size(mark: str) -> float:
    """Of a marker, in points, so that all look equally large."""
    return {"*": 6.3, "s": 3.3, "D": 3.0}.get(mark, 4.6 if mark.startswith("$") else 3.8)


# -- parts of figures ----------------------------------------------------------------------------


def panels(
    name: str, heights: list[float], columns: int, left: float, gaps: tuple[float, float],
    top: float, bottom: float, page: float = COLUMN,
) -> tuple[Picture, list[list[Axes]]]:  # fmt: skip
    """A picture and its grid of axes, all in inches; the gaps are between columns and rows.

    It is as wide as `page` for up to three columns, and grows with more.
    """
    width = max(page, page / 3 * columns)
    total = top + sum(heights) + (len(heights) - 1) * gaps[1] + bottom
    each = (width - left - 0.06 - (columns - 1) * gaps[0]) / columns
    picture = Picture(figsize=(width, total))
    picture.name, picture.links = name, {}
    grid = []
    for row, height in enumerate(heights):
        y = total - top - sum(heights[: row + 1]) - row * gaps[1]
        places = [left + column * (each + gaps[0]) for column in range(columns)]
        grid.append(
            [picture.add_axes((x / width, y / total, each / width, height / total)) for x in places]
        )
    return picture, grid


def figure_of(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def shifted(axes: Axes, place: Transform, x: float, y: float) -> Transform:
    """A place, and from there some points (1/72 inch) to the right and up."""
    return place + ScaledTranslation(x / 72, y / 72, figure_of(axes).dpi_scale_trans)


def brief(number: str) -> str:
    """Without the zero before the point, for want of space, and with a true minus sign."""
    return re.sub(r"^(-?)0\.", r"\1.", number).replace("-", "−")


def ticks(axis: Axis, low: float, high: float, most: int, factor: float = 1) -> None:
    """At round values of the range, all with the same number of decimals."""
    found = MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(factor * low, factor * high)
    decimals = max(0, -int(np.floor(np.log10(found[1] - found[0]) + 1e-9)))
    axis.set_major_locator(FixedLocator([t / factor for t in found if low <= t / factor <= high]))
    axis.set_major_formatter(FuncFormatter(lambda t, _: brief(f"{factor * t:z.{decimals}f}")))


def row_title(axes: Axes, dataset: str, left: float) -> None:
    """A dataset's name beside its row of panels, some points to the left of the first."""
    axes.text(
        0, 0.5, dataset_name(dataset), transform=shifted(axes, axes.transAxes, -left, 0),
        rotation=90, ha="center", va="center", weight="bold", size=6.5,
    )  # fmt: skip


def y_label(axes: Axes, text: str, left: float) -> None:
    """At the same place whatever the ticks are, some points to the left of the axes."""
    axes.set_ylabel(text)
    axes.yaxis.set_label_coords(0, 0.5, transform=shifted(axes, axes.transAxes, -left, 0))


def short(setting: str, settings: list[str]) -> str:
    return setting_name(setting, settings).replace(" status", "")


def marked(summary: pd.DataFrame, dataset: str, setting: str) -> str:
    """A setting's short name, with a mark where there is no evidence of bias."""
    name = short(setting, tables.settings_of(summary, dataset))
    return f"{name} ‡" if tables.without_evidence(summary, dataset, setting) else name


def full_name(dataset: str, setting: str, settings: list[str], method: str) -> str:
    """Of what a link leads to."""
    place = f"{dataset_name(dataset)}, {setting_name(setting, settings)}"
    return f"{place}, {full_method_name(method)}"


def warnings(summary: pd.DataFrame) -> list[str]:
    """Lines that say what a reader must know first, and of which datasets."""
    said: dict[str, list[str]] = {}
    names = tables.datasets_of(summary)
    for name in names:
        for warning in tables.warnings(summary[summary["dataset"] == name]):
            said.setdefault(warning, []).append(dataset_name(name))
    texts = [
        warning if len(of) == len(names) else f"{', '.join(of)}: {warning}"
        for warning, of in said.items()
    ]
    return [line for text in texts for line in textwrap.wrap(text, 54)]


def warn(figure: Figure, summary: pd.DataFrame) -> None:
    """In red, at the top."""
    for i, text in enumerate(warnings(summary)):
        warning(figure, i, text)


def warning(figure: Figure, line: int, text: str) -> None:
    y = 1 - (0.02 + 0.11 * line) / figure.get_figheight()
    figure.text(0.5, y, text, ha="center", va="top", color=RED, weight="bold", size=6.5)


def watermark(axes: Axes, rows: pd.DataFrame) -> None:
    if (rows["data"] != "real").any():
        axes.text(
            0.5, 0.55, "SIMULATED", transform=axes.transAxes, rotation=35, ha="center",
            va="center", color=RED, alpha=0.22, size=10, weight="bold", zorder=0,
        )  # fmt: skip


def legend(figure: Figure, entries: list[Any], top: float, columns: int) -> None:
    """Centred, its upper edge that many inches above the bottom of the figure."""
    place = (0.5, top / figure.get_figheight())
    figure.legend(handles=entries, loc="upper center", bbox_to_anchor=place, ncols=columns)


def legend_columns(labels: list[str], most: int) -> int:
    """How many columns of a legend fit side by side, by a rough measure of its text."""
    for columns in range(min(most, len(labels)), 1, -1):
        widest = [max(map(len, part)) for part in np.array_split(labels, columns)]
        if sum(3.5 * letters + 22 for letters in widest) < 72 * COLUMN + 7:
            return columns
    return 1


def key(label: str, **look: Any) -> Line2D:
    return Line2D([], [], label=label, **({"color": DARK} | look))
