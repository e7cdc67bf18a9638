"""How much of the printed table is luck: counts over results/luck_summary.csv."""

from collections.abc import Callable
from statistics import median
from typing import Any

import pandas as pd

from study import labels
from study.page.cells import Place
from study.page.grid import Grid, by_place, figures, texts
from study.results import Row
from study.tables.luck import HEADS, NAMES, cells

RARE = 0.05  # a share of draws of five seeds below which print was lucky


def facts(summary: pd.DataFrame, row: Callable[[Place], list[str]]) -> dict[str, Any]:
    """row: the first two cells of a place's row."""
    of_figure = {
        figure: summary[summary["figure"] == figure].to_dict("records") for figure in NAMES
    }
    imparity = of_figure["imparity"]
    methods = labels.in_order(r["method"] for r in imparity)
    return {
        "rare": RARE,
        "of": {m: counted([r for r in imparity if r["method"] == m]) for m in methods},
        "reduced": reduced(imparity),
        "grids": {
            NAMES[figure]: grid(figure, rows, row) for figure, rows in of_figure.items() if rows
        },
    }


def place(row: Row) -> Place:
    return row["dataset"], row["setting"]


def counted(rows: list[Row]) -> dict[str, Any]:
    """Of a method's printed imparities: which are low among the seeds, and how often they come.

    With printed digits: a figure that rounds to the printed one is not above it.
    """
    shares = [row["as_low"] for row in rows]
    return {
        "cells": len(rows),
        "lowest": [place(row) for row in rows if row["printed"] < round(row["low"], 3)],
        "rarely": [place(row) for row in rows if row["as_low"] < RARE],
        "shares": (min(shares), median(shares), max(shares)),
        "above": [place(row) for row in rows if round(row["expected"], 3) > row["printed"]],
        "more": sum(row["expected"] - row["printed"] for row in rows) / len(rows),
    }


def reduced(rows: list[Row]) -> dict[str, Any] | None:
    """InfoFair's imparity against vanilla's: as printed, and as to expect of five seeds."""
    vanilla = {place(row): row for row in rows if row["method"] == "vanilla"}
    pairs = [
        (row, vanilla[place(row)])
        for row in rows
        if row["method"] == "infofair" and place(row) in vanilla
    ]
    if not pairs:
        return None
    found: dict[str, Any] = {"cells": len(pairs)}
    for figure in ("printed", "expected"):
        shares = [1 - own[figure] / other[figure] for own, other in pairs]
        found[figure] = {"lower": sum(s > 0 for s in shares), "mean": sum(shares) / len(shares)}
    return found


def grid(figure: str, rows: list[Row], of_place: Callable[[Place], list[str]]) -> Grid:
    ids = {}
    if figure == "imparity":  # where the strips of the figure lead
        ids = {
            (i, 2): f"seeds-{r['dataset']}-{r['setting']}-{r['method']}" for i, r in enumerate(rows)
        }
    name = NAMES[figure]
    return by_place(
        f"Luck, {name}",
        f"{name} on test rows: as printed, of all seeds (mean, standard deviation, and quantiles), "
        "and the share of seeds below print; then what to expect of the protocol’s choice among "
        "five seeds, and how likely that is at most the printed figure.",
        [*texts("Method"), *figures(*HEADS)],
        [[*of_place(place(r)), labels.method_name(r["method"]), *cells(r)] for r in rows],
        ids,
    )
