"""What was tried to explain printed rows, in vain: counts over results/tried.csv."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from study import labels
from study.page.cells import Place
from study.page.grid import Grid, figures, texts
from study.results import CELL
from study.tables.layout import number

OURS = ("micro_f1", "macro_f1", "imparity_released")
PRINTED = ("paper_micro_f1", "paper_macro_f1", "paper_imparity")


def facts(table: pd.DataFrame, row: Callable[[Place], list[str]]) -> dict[str, Any]:
    """row: the first two cells of a place's row."""
    # COMPAS's rows come out anyway, by a column that is the label, and GerryFair's but for Adult's
    explained = (table["dataset"] == "compas") | (
        (table["method"] == "gerryfair") & (table["dataset"] != "adult")
    )
    open_cells = table[~explained]
    near = open_cells.loc[open_cells["within"] == "yes", "variant"]
    return {
        "pairs": len(open_cells),
        "readings": open_cells["variant"].nunique(),
        "within": len(near),
        "most": max(near.value_counts(), default=0),
        "grid": grid(open_cells, row),
    }


def grid(table: pd.DataFrame, row: Callable[[Place], list[str]]) -> Grid:
    """Every cell and reading, the nearest first."""
    rows = []
    for _, of in table.groupby(CELL, sort=False):
        for reading in of.sort_values("distance", kind="stable").to_dict("records"):
            shown = (" / ".join(number(reading[f]) for f in names) for names in (PRINTED, OURS))
            place = row((reading["dataset"], reading["setting"]))
            named = [*place, labels.method_name(reading["method"]), reading["what"]]
            rows.append([*named, *shown, number(reading["distance"])])
    return Grid(
        "What was tried",
        "Micro F1 / macro F1 / imparity as released, of the seed that the protocol chooses; and "
        "how far off the furthest figure is.",
        [
            *texts("Dataset", "Setting", "Method", "Reading"),
            *figures("Printed", "As tried", "Most off"),
        ],
        rows,
    )
