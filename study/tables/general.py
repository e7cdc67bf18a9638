"""The paper's generalisations: what each study is about, and its table as points of a trade-off.

A table has many figures; one of quality and one gap are drawn and spoken of, the first of those
below that a dataset and setting has. Methods of another notion, by their names, have its gap, and
are drawn and spoken of by themselves, beside vanilla.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import copysign, inf, isnan
from typing import Any

import pandas as pd

from study.labels import OF, dataset_name, family, general_name, measured_name, setting_name
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
    # another notion, as the names of its methods end -> its gap
    notions: Mapping[str, str] = field(default_factory=dict)

    def notion(self, method: str) -> str:
        """Of a method, if it is one of these."""
        (_, rest) = family(method)
        return rest if rest in self.notions else ""


STUDIES = {
    "equal_opportunity": Study(
        "A", "Equal opportunity and equalised odds", ("micro_f1",), ("opportunity_gap",),
        {"odds": "odds_gap"},
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
    notion: str = ""  # whose methods these are, if it is another than the study's own

    @property
    def place(self) -> str:
        return f"{dataset_name(self.dataset)}, {self.of_what}"

    @property
    def of_what(self) -> str:
        return ", ".join(filter(None, (self.attributes, OF.get(self.notion, self.notion))))

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

    gap: another than the study's own, of all methods.
    """
    shown, found = STUDIES[study], []
    asked = {"": shown.gap} | {notion: (own,) for notion, own in shown.notions.items()}
    asked = asked if gap is None else {"": (gap,)}
    for (dataset, setting), rows in table.groupby(PLACE, sort=False):
        name = setting_name(str(setting), settings_of(table, str(dataset)))
        there = set(rows["metric"])
        of = {m: shown.notion(m) if gap is None else "" for m in rows["method"]}
        for notion, gaps in asked.items():
            if notion not in of.values():
                continue  # nobody is of it
            own = rows[rows["method"].isin({VANILLA, *(m for m in of if of[m] == notion)})]
            figures = (
                next((m for m in any_of if m in there), "") for any_of in (shown.quality, gaps)
            )
            points = list(_points(own, *figures))
            points.sort(key=lambda point: point.method != VANILLA)  # stable
            if any(point.method == VANILLA for point in points):
                found.append(Cell(study, str(dataset), str(setting), name, points, notion))
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
