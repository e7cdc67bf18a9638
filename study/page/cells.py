"""The cells of results/summary.csv, and what is counted over them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from study import labels
from study.tables.layout import number, percent, spread
from study.tables.summary import constant_in_print

Place = tuple[str, str]  # dataset, setting
COMPARED = {"Micro F1": "micro_f1", "Macro F1": "macro_f1", "Imparity": "imparity"}
FAR = 0.02  # from here on a difference is marked


@dataclass(frozen=True, eq=False)
class Cell:
    """One dataset, setting and method: its rows of results/summary.csv."""

    dataset: str
    setting: str
    method: str
    attributes: str  # the setting as a reader knows it
    selected: dict[str, Any]  # the paper's protocol
    mean: dict[str, Any]
    std: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.dataset}-{self.setting}-{self.method}"

    @property
    def key(self) -> Place:
        return self.dataset, self.setting

    @property
    def place(self) -> str:
        return f"{labels.dataset_name(self.dataset)}, {self.attributes}"

    @property
    def printed(self) -> bool:
        """Whether the paper's table has it."""
        return not pd.isna(self.selected["paper_micro_f1"])

    @property
    def constant_in_print(self) -> bool:
        return constant_in_print(self.selected)

    @property
    def gaps(self) -> list[float]:
        """|ours − the paper's|, in the order of COMPARED."""
        return [abs(self.selected[f"difference_{figure}"]) for figure in COMPARED.values()]

    @property
    def far(self) -> bool:
        return any(gap > FAR for gap in self.gaps)

    @property
    def note(self) -> str:
        """Of the selected model, and of the seeds."""
        return "; ".join(dict.fromkeys(filter(None, (self.selected["note"], self.mean["note"]))))

    @property
    def without_evidence(self) -> bool:
        """Whether nothing says that there is bias to reduce here."""
        return bool(self.mean["evidence"] == "no")

    def change(self, value: float) -> str:
        """A reduction; or, in parentheses, what is none for want of bias."""
        text = percent(value)
        return f"({text})" if self.without_evidence and text != "–" else text

    def over_seeds(self, figure: str) -> str:
        """The mean, and the standard deviation if there is more than one seed."""
        form = percent if figure.startswith("reduction") else number
        return spread(self.mean[figure], self.std[figure], form)


def cells(summary: pd.DataFrame) -> list[Cell]:
    """In the order of the datasets and settings, and the paper's of methods."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in summary.to_dict("records"):
        found.setdefault((row["dataset"], row["setting"], row["method"]), {})[row["protocol"]] = row
    ordered = labels.in_order(summary["method"])
    return [
        Cell(*place, method, attributes, of["paper"], of["mean"], of["std"])
        for place, attributes in attributes_of(summary).items()
        for method in ordered
        if (of := found.get((*place, method)))
    ]


def attributes_of(table: pd.DataFrame) -> dict[Place, str]:
    """The settings of each dataset as a reader knows them."""
    named = {
        str(dataset): list(dict.fromkeys(rows["setting"]))
        for dataset, rows in table.groupby("dataset", sort=False)
    }
    return {(d, s): labels.setting_name(s, of) for d, of in named.items() for s in of}


# -- one method ------------------------------------------------------------------------------------


def forms(printed: list[Cell]) -> dict[str, float]:
    """How far the two forms of imparity are, at most, from the printed figure."""
    rows = [cell.selected for cell in printed]
    names = ("imparity", "imparity_released")
    return {n: max(abs(row[n] - row["paper_imparity"]) for row in rows) for n in names if rows}


# -- one method beside another --------------------------------------------------------------------


def below(ours: Iterable[Cell], base: Mapping[Place, Cell]) -> dict[str, list[Cell]]:
    """Where a method's mean imparity is below the base's; where by more than both deviations."""
    compared = [(cell, base[cell.key]) for cell in ours]
    gain = {c: b.mean["imparity"] - c.mean["imparity"] for c, b in compared}
    noise = {c: b.std["imparity"] + c.std["imparity"] for c, b in compared}
    return {
        "in print": [cell for cell in gain if cell.selected["paper_reduction"] > 0],
        "at all": [cell for cell in gain if gain[cell] > 0],
        "clearly": [cell for cell in gain if gain[cell] > noise[cell]],
    }


def better(cell: Cell, rivals: Iterable[Cell]) -> list[str]:
    """The methods with a higher mean micro F1 and a lower mean imparity in the same setting."""
    return [
        rival.method
        for rival in rivals
        if rival.key == cell.key
        and rival.mean["micro_f1"] > cell.mean["micro_f1"]
        and rival.mean["imparity"] < cell.mean["imparity"]
    ]


def fairest(rivals: Iterable[Cell]) -> dict[str, list[Cell]]:
    """The cell of least mean imparity in each setting, by method, the most frequent first."""
    least: dict[Place, Cell] = {}
    for cell in rivals:
        other = least.setdefault(cell.key, cell)
        if cell.mean["imparity_released"] < other.mean["imparity_released"]:
            least[cell.key] = cell
    found: dict[str, list[Cell]] = {}
    for cell in least.values():
        found.setdefault(cell.method, []).append(cell)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))
