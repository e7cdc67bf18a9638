"""The paper's generalisations: what each study is about, and its table as points of a trade-off.

A table has many figures; one of quality and one gap are drawn and spoken of, the first of those
below that a dataset and setting has.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import copysign, inf, isnan
from typing import Any

import pandas as pd

from study.labels import dataset_name, general_name, measured_name, setting_name
from study.results import PLACE
from study.tables.layout import markdown, markdown_row, number, spread
from study.tables.summary import settings_of

VANILLA = "vanilla"
LOSSES = ("rmse",)  # of the figures of quality: less is better
CLEAR = 2.0  # standard errors


@dataclass(frozen=True)
class Study:
    letter: str  # of the paper's list
    title: str
    quality: tuple[str, ...]
    gap: tuple[str, ...]


STUDIES = {
    "equal_opportunity": Study(
        "A", "Equal opportunity and equalised odds", ("micro_f1",), ("opportunity_gap",)
    ),
    "bottleneck": Study(
        "C", "Fair representations by a bottleneck", ("micro_f1",), ("representation_bits",)
    ),
    "continuous": Study("D", "Attributes that are numbers", ("micro_f1", "r2"), ("hgr",)),
    "graph": Study("E", "Graphs", ("micro_f1",), ("imparity",)),
    "regression": Study("F", "Regression", ("r2",), ("ks",)),
    "recommendation": Study("F", "Recommendation", ("rmse",), ("gender_above_half",)),
}  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """Of one method and strength, over splits."""

    metric: str
    mean: float
    std: float
    splits: int
    floor: float = float("nan")  # of a gap: with s permuted
    null_95: float = float("nan")

    @property
    def text(self) -> str:
        return spread(self.mean, self.std)

    @property
    def by_chance(self) -> bool:
        """Whether a gap is no larger than most are with s permuted."""
        return bool(self.mean <= self.null_95)

    def above(self, other: "Figure") -> float:
        """The difference of the means in standard errors, as if the splits were independent.

        Of one split, 0: nothing can be told.
        """
        more = self.mean - other.mean
        error = (self.std**2 / self.splits + other.std**2 / other.splits) ** 0.5
        if not error:  # both are the same in every split, such as of constant predictors
            return copysign(inf, more) if more else 0.0
        return 0.0 if isnan(error) else more / error


@dataclass(frozen=True)
class Point:
    """A method at one of its strengths."""

    method: str
    strength: float
    chosen: bool  # by validation rows
    quality: Figure
    gap: Figure

    @property
    def name(self) -> str:
        return general_name(self.method)

    def better(self, other: "Point") -> float:
        """By how many standard errors its quality is above the other's."""
        sign = -1 if self.quality.metric in LOSSES else 1
        return sign * self.quality.above(other.quality)

    def no_worse(self, other: "Point") -> bool:
        """Whether its mean quality is no worse and its mean gap no larger."""
        sign = -1 if self.quality.metric in LOSSES else 1
        good = sign * (self.quality.mean - other.quality.mean) >= 0
        return bool(good and self.gap.mean <= other.gap.mean)


@dataclass(frozen=True)
class Cell:
    """A dataset and setting of a study."""

    study: str
    dataset: str
    setting: str
    attributes: str  # the setting as a reader knows it
    points: list[Point]  # vanilla first, then as the study has them

    @property
    def place(self) -> str:
        return f"{dataset_name(self.dataset)}, {self.attributes}"

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(point.method for point in self.points))

    @property
    def vanilla(self) -> Point:
        return next(point for point in self.points if point.method == VANILLA)

    @property
    def chosen(self) -> dict[str, Point]:
        """Each method but vanilla at the strength that validation rows choose."""
        return {p.method: p for p in self.points if p.chosen and p.method != VANILLA}

    def of(self, method: str) -> list[Point]:
        """The strengths of one method, from the weakest."""
        return [point for point in self.points if point.method == method]

    def id(self, method: str) -> str:
        """What its row in a table of the page is called."""
        return identifier(self.study, self.dataset, self.setting, method)


def identifier(*parts: str) -> str:
    return "-".join(re.sub(r"\W+", "_", part) for part in parts)


def cells(table: pd.DataFrame, study: str, gap: str | None = None) -> list[Cell]:
    """results/general/<study>.csv as points; what has not both figures is left out.

    gap: another than the study's own.
    """
    shown, found = STUDIES[study], []
    asked = shown.gap if gap is None else (gap,)
    for (dataset, setting), rows in table.groupby(PLACE, sort=False):
        there = set(rows["metric"])
        figures = (next((m for m in of if m in there), "") for of in (shown.quality, asked))
        points = list(_points(rows, *figures))
        points.sort(key=lambda point: point.method != VANILLA)  # stable
        if any(point.method == VANILLA for point in points):
            name = setting_name(str(setting), settings_of(table, str(dataset)))
            found.append(Cell(study, str(dataset), str(setting), name, points))
    return found


def _points(rows: pd.DataFrame, quality: str, gap: str) -> Iterator[Point]:
    found: dict[tuple[str, float, bool], dict[str, Figure]] = {}
    for row in rows.to_dict("records"):
        at = str(row["method"]), float(row["strength"]), bool(row["chosen"])
        found.setdefault(at, {})[row["metric"]] = figure(row)
    for at, of in found.items():
        if quality in of and gap in of:
            yield Point(*at, of[quality], of[gap])


def figure(row: dict[Any, Any]) -> Figure:
    kept = ("metric", "mean", "std", "floor", "null_95")
    return Figure(**{name: row[name] for name in kept}, splits=int(row["seeds"]))


def warnings(table: pd.DataFrame) -> list[str]:
    """The datasets whose rows are simulated."""
    return list(dict.fromkeys(table.loc[table["data"] != "real", "dataset"]))


def to_markdown(table: pd.DataFrame, study: str) -> str:
    """A line per method and strength, with the figures that are drawn; * is what was chosen."""
    lines: list[str] = []
    for cell in cells(table, study):
        heads = [measured_name(cell.vanilla.quality.metric), measured_name(cell.vanilla.gap.metric)]
        heads = ["Method", "Strength", *heads, "with s permuted", "of which 95 % are below"]
        lines += [f"**{markdown(cell.place)}**", "", markdown_row(map(markdown, heads))]
        lines += ["|---|" + "---:|" * (len(heads) - 1)]
        for point in cell.points:
            star = r"\*" * (point.chosen and point.method != VANILLA)
            strength = "" if point.method == VANILLA else f"{point.strength:g}{star}"
            chance = (number(point.gap.floor), number(point.gap.null_95))
            row = [markdown(point.name), strength, point.quality.text, point.gap.text, *chance]
            lines.append(markdown_row(row))
        lines.append("")
    return "\n".join(lines)
