"""What reports/compare.html says: experiments beside a commit, cell by cell.

A figure is a mean over seeds, on test rows. It has moved if it changed by more than its spread: the
larger of its two standard deviations over seeds, before and after. A single fit (a solver that
draws nothing, or one seed) has no spread; that it changed is said, and no more.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from study import figures, labels, paths, results
from study.figures.style import Picture
from study.page.cells import Place, attributes_of
from study.page.grid import TEXT, Column, Grid
from study.page.render import HERE, environment
from study.page.words import NONE, listed
from study.revisions import FIGURES, Compared, Revision
from study.tables.layout import markdown, markdown_row, number, percent

Cell = tuple[str, str, str]  # dataset, setting, method
HEADINGS = {"micro_f1": "Micro F1", "imparity": "Imparity", "reduction": "Reduction"}
WORSE_IF_MORE = "imparity"
MARKS = {  # of what a figure did: its mark, and what it says
    "up": ("▲", "rose by more than its spread"),
    "down": ("▼", "fell by more than its spread"),
    "alone": ("◇", "changed; a single fit has no spread"),
}
HOW_TO = (
    "There are no experiments yet on this commit. To see what alpha does, run for instance\n\n"
    "    dvc exp run -S alpha=0.01\n"
    "    dvc exp run -S alpha=0.5\n"
    "    dvc exp run -S alpha=1\n\n"
    "(each trains only what reads alpha) and then this again.\n"
)


# -- what moved -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One figure of a cell, in the commit and in an experiment; NaN where it is not there."""

    figure: str
    before: float
    after: float
    deviations: tuple[float, float]  # over seeds, before and after; NaN of a single fit

    @property
    def spread(self) -> float:
        return max((of for of in self.deviations if not np.isnan(of)), default=np.nan)

    @property
    def kind(self) -> str:
        """One of MARKS; or `within` its spread, the `same`, or `missing` on one side."""
        if np.isnan(self.before) or np.isnan(self.after):
            return "missing"
        difference = round(self.after - self.before, 10)
        if not difference:
            return "same"
        if np.isnan(self.spread):
            return "alone"
        if round(abs(difference) - self.spread, 10) <= 0:
            return "within"
        return "up" if difference > 0 else "down"

    @property
    def moved(self) -> bool:
        return self.kind in ("up", "down")

    @property
    def judged(self) -> str:
        """A class for the style sheet: whether the move is for the better."""
        if not self.moved:
            return ""
        more = self.kind == "up"
        return "worse" if more == (self.figure == WORSE_IF_MORE) else "better"

    @property
    def mark(self) -> str:
        return MARKS[self.kind][0] if self.kind in MARKS else ""

    @property
    def said(self) -> str:
        """The mark, in words."""
        return MARKS[self.kind][1] if self.kind in MARKS else ""

    def text(self, value: float) -> str:
        return percent(value) if self.figure == "reduction" else number(value)

    @property
    def way(self) -> str:
        if self.kind == "same":
            return self.text(self.after)
        return f"{self.text(self.before)} → {self.text(self.after)}"

    @property
    def start(self) -> tuple[str, str]:
        """Mean and deviation in the commit."""
        return self.text(self.before), self.text(self.deviations[0])

    @property
    def end(self) -> tuple[str, str]:
        return self.text(self.after), self.text(self.deviations[1])


@dataclass(frozen=True)
class Line:
    """One cell in one experiment, beside the commit."""

    cell: Cell
    place: int  # of the experiment among all, from 1
    name: str
    changes: list[Change]

    @property
    def moved(self) -> bool:
        return any(change.moved for change in self.changes)

    @property
    def same(self) -> bool:
        return all(change.kind == "same" for change in self.changes)

    @property
    def absent(self) -> str:
        """On which side the cell is not there at all."""
        sides = {"the commit": "before", "the experiment": "after"}
        gone = [of for of, side in sides.items()
                if all(np.isnan(getattr(change, side)) for change in self.changes)]  # fmt: skip
        return listed(gone) if gone else ""


Means = dict[Cell, dict[str, tuple[float, float]]]  # cell -> figure -> mean and deviation


def _means(summary: pd.DataFrame) -> Means:
    found: dict[str, dict[Cell, results.Row]] = {"mean": {}, "std": {}}
    for row in summary[summary["protocol"].isin(found)].to_dict("records"):
        found[row["protocol"]][row["dataset"], row["setting"], row["method"]] = row
    return {
        cell: {figure: (mean[figure], found["std"][cell][figure]) for figure in FIGURES}
        for cell, mean in found["mean"].items()
    }


@dataclass(frozen=True, eq=False)
class Comparison:
    """The experiments of a commit, or the workspace, beside it."""

    compared: Compared

    @property
    def base(self) -> Revision:
        return self.compared.base

    @property
    def others(self) -> list[Revision]:
        return self.compared.others

    @cached_property
    def all(self) -> list[Revision]:
        return [self.base, *self.others]

    @cached_property
    def attributes(self) -> dict[Place, str]:
        """Every dataset and setting, and what the setting is called."""
        tables = [revision.summary[results.PLACE] for revision in self.all]
        return attributes_of(pd.concat(tables))

    @cached_property
    def lines(self) -> list[Line]:
        """By dataset and setting, method, and experiment."""
        means = [_means(revision.summary) for revision in self.all]
        methods = labels.in_order(method for of in means for _, _, method in of)
        nothing = dict.fromkeys(FIGURES, (np.nan, np.nan))
        found = []
        for place in self.attributes:
            for method in methods:
                cell = (*place, method)
                before = means[0].get(cell, nothing)
                for i, (other, of) in enumerate(zip(self.others, means[1:], strict=True), 1):
                    if cell in means[0] or cell in of:
                        changes = _changes(before, of.get(cell, nothing))
                        found.append(Line(cell, i, other.name, changes))
        return found

    def moved(self, place: int) -> dict[Place, list[Line]]:
        """The cells of an experiment that did, by dataset and setting."""
        found: dict[Place, list[Line]] = {}
        for line in self.lines:
            if line.place == place and line.moved:
                found.setdefault(line.cell[:2], []).append(line)
        return found

    def names(self, cell: Cell) -> list[str]:
        """Dataset, setting and method as a reader knows them."""
        dataset, setting, method = cell
        attributes = self.attributes[dataset, setting]
        return [labels.dataset_name(dataset), attributes, labels.full_method_name(method)]

    def counted(self, place: int) -> str:
        """How many cells of an experiment moved."""
        lines = [line for line in self.lines if line.place == place]
        there = [line for line in lines if not line.absent]
        moved = sum(line.moved for line in there)
        said = f"{moved} of {len(there)} cells moved by more than their spread"
        ways = Counter((c.figure, c.kind) for line in there for c in line.changes if c.moved)
        parts = [
            f"{labels.measured_name(figure)} {word} in {ways[figure, kind]}"
            for figure in FIGURES
            for kind, word in (("up", "rose"), ("down", "fell"))
            if ways[figure, kind]
        ]
        said += f" ({', '.join(parts)})" if parts else ""
        alone = sum(any(c.kind == "alone" for c in line.changes) for line in there)
        said += f"; {alone} changed in a single fit, which has no spread" if alone else ""
        absent = len(lines) - len(there)
        return f"{said}; {absent} on one side only" if absent else said

    @property
    def other_data(self) -> list[str]:
        """The experiments some of whose datasets have other data or another split."""
        keys = ["dataset", *results.MARKS]
        of_base = self.base.summary[keys].drop_duplicates().set_index("dataset")
        found = []
        for other in self.others:
            own = other.summary[keys].drop_duplicates().set_index("dataset")
            both = own.index.intersection(of_base.index)
            if not own.loc[both].equals(of_base.loc[both]):
                found.append(other.name)
        return found


def _changes(
    before: dict[str, tuple[float, float]], after: dict[str, tuple[float, float]]
) -> list[Change]:
    found = []
    for figure in FIGURES:
        (old, old_deviation), (new, new_deviation) = before[figure], after[figure]
        found.append(Change(figure, old, new, (old_deviation, new_deviation)))
    return found


# -- what differs ---------------------------------------------------------------------------------


def differing(contents: Iterable[dict[str, Any]]) -> list[str]:
    """The keys that do not have the same value everywhere, in the order of the first content."""
    contents = list(contents)
    keys = dict.fromkeys(key for content in contents for key in content)
    return [key for key in keys if any(c.get(key) != contents[0].get(key) for c in contents)]


def shown(value: object) -> str:
    """A value of params.yaml or of the headline."""
    if value is None:
        return NONE
    if isinstance(value, list):
        return ", ".join(map(shown, value)) or NONE
    if isinstance(value, bool | str):
        return str(value).lower() if isinstance(value, bool) else value
    return f"{value:g}".replace("-", "−") if isinstance(value, int | float) else str(value)


def differences(of: Comparison) -> Grid:
    """The parameters, and the headline figures, that are not the same in all."""
    params = differing(revision.params for revision in of.all)
    headline = differing(revision.headline for revision in of.all)
    columns = [Column("Experiment", TEXT)]
    columns += [Column(key, TEXT, "Parameters") for key in params]
    columns += [Column(key, group="Headline figures") for key in headline]
    rows = []
    for i, revision in enumerate(of.all):
        name = f"{i}: {revision.name}" if i else f"{revision.name} (the commit)"
        values = [shown(revision.params.get(key)) for key in params]
        rows.append([name, *values, *(shown(revision.headline.get(key)) for key in headline)])
    caption = "Parameters and headline figures that are not the same in all."
    return Grid("What differs", caption, columns, rows)


# -- the picture ----------------------------------------------------------------------------------


def picture(of: Comparison) -> Picture | None:
    """InfoFair's place in each revision, beside the fronts; None if none has run it."""
    rows = []
    for i, revision in enumerate(of.all):
        table = revision.summary
        own = table[(table["method"] == "infofair") & (table["protocol"] == "mean")]
        rows.append(own.assign(place=i, name=revision.name))
    points = pd.concat(rows, ignore_index=True).dropna(subset=["micro_f1", "imparity"])
    if points.empty:
        return None
    path = paths.table("frontier")
    fronts = results.read("frontier") if path.exists() else results.frame([], "frontier")
    return figures.positions(points, fronts)


# -- the page, and its tables as Markdown ---------------------------------------------------------


def page(of: Comparison, drawn: Picture | None) -> str:
    """Complete: it needs no other file, no network and no script."""
    by_place: dict[Place, dict[str, list[Line]]] = {}
    for line in of.lines:
        dataset, setting, method = line.cell
        by_place.setdefault((dataset, setting), {}).setdefault(method, []).append(line)
    made = environment([Path(HERE)])
    return made.get_template("compare.html").render(
        of=of,
        how_to=HOW_TO,
        headings=HEADINGS,
        differences=differences(of),
        by_place=by_place,
        marks=MARKS,
        drawing=Markup(figures.svg(drawn)) if drawn else "",
        css=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        own_css=Markup((HERE / "compare.css").read_text(encoding="utf-8")),
    )


def to_markdown(of: Comparison) -> str:
    """What differs, and which cells moved."""
    grid = differences(of)
    parts = [f"## What differs from {markdown(of.base.name)}", ""]
    if len(grid.columns) > 1:
        rule = "|".join("---" if column.kind == TEXT else "---:" for column in grid.columns)
        heads = markdown_row(markdown(column.heading) for column in grid.columns)
        parts += [heads, f"|{rule}|", *(markdown_row(map(markdown, row)) for row in grid.rows)]
    else:
        parts.append("Neither a parameter nor a headline figure.")
    parts += ["", "## Which cells moved by more than their spread over seeds", ""]
    for name in of.other_data:
        parts += [f"> **{markdown(name)} has other data, or another split, than the commit.**", ""]
    for place, other in enumerate(of.others, 1):
        parts += [f"**{markdown(other.name)}**: {of.counted(place)}.", ""]
        if moved := of.moved(place):
            parts += [markdown_row(["Dataset", "Setting", "Method", *HEADINGS.values()])]
            parts += ["|---" * 3 + "|---:" * len(FIGURES) + "|"]
            for line in (line for lines in moved.values() for line in lines):
                ways = [f"{change.way} {change.mark}".strip() for change in line.changes]
                parts.append(markdown_row([*map(markdown, of.names(line.cell)), *ways]))
            parts.append("")
    return "\n".join(
        [*parts, "; ".join(f"{mark} {said}" for mark, said in MARKS.values()) + ".", ""]
    )
