"""Where a method wins: the cells of results/best.csv in which it is the one to take.

A cell is a dataset, a setting, a notion and a budget. The one to take is what study.commands.choose
names: of those that keep the budget on validation rows in most splits, the one with most micro F1
there (of scores: AUC); of equals, the one with the smaller gap. So test rows choose nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from study import labels
from study.labels import needs_s
from study.page.answer import AIMS, NOTIONS
from study.page.cells import Place
from study.page.compared import of_methods
from study.page.grid import Column, Grid, changes, texts
from study.page.words import short
from study.results import PLACE

CELL = [*PLACE, "notion", "budget"]
BY = {"within": False, "validation_score": False, "validation_gap": True}  # ascending?


@dataclass(frozen=True)
class Win:
    method: str
    place: Place
    notion: str
    budget: float


def of(best: pd.DataFrame, known: bool) -> list[Win]:
    """Who wins each cell, if anything is within its budget; without s, of what needs none."""
    rows = best if known else of_methods(best, lambda method: not needs_s(method))
    aim = rows["notion"].map(AIMS)
    there = rows["micro_f1"].where(aim != "auc", rows["auc"]).notna() & (rows["within"] > 0)
    ordered = rows[there].sort_values([*BY], ascending=[*BY.values()], kind="stable")
    first = ordered.drop_duplicates(CELL).sort_index()
    return [
        Win(row["method"], (row["dataset"], row["setting"]), row["notion"], row["budget"])
        for row in first.to_dict("records")
    ]


def grid(won: dict[bool, list[Win]], title: str, attributes: dict[Place, str]) -> Grid:
    """A line for each setting and notion, with the budgets."""
    budgets: dict[tuple[Place, str, bool, str], list[float]] = {}
    for known, of_side in won.items():
        for win in of_side:
            budgets.setdefault((win.place, win.notion, known, win.method), []).append(win.budget)
    rows = [
        [
            labels.dataset_name(place[0]), attributes[place], NOTIONS[notion],
            "known" if known else "not known", labels.full_method_name(method), _listed(of_line),
        ]
        for (place, notion, known, method), of_line in sorted(
            budgets.items(), key=lambda item: _order(item[0], attributes)
        )
    ]  # fmt: skip
    return Grid(
        f"Where {title} wins",
        "Budgets of the notion’s gap for which it is the one to take; s: whether the sensitive "
        "attribute is known when deciding.",
        [*texts("Dataset", "Setting", "Notion", "s", "As"), Column("Budgets", "text")],
        rows,
        changes(row[0] for row in rows),
    )


def _order(key: tuple[Place, str, bool, str], attributes: dict[Place, str]) -> tuple[int, int, int]:
    place, notion, known, _ = key
    return [*attributes].index(place), [*NOTIONS].index(notion), not known


def _listed(budgets: Iterable[float]) -> str:
    return ", ".join(map(short, budgets))
