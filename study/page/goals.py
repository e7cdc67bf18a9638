"""Against the paper's table: the same rule for every method, on the authors' data and split."""

from typing import Any

import numpy as np
import pandas as pd

from study import labels
from study.labels import FITTED, is_rule
from study.page.compared import Found
from study.page.grid import Grid, figures, texts
from study.page.words import NONE, short
from study.results import Row
from study.tables.layout import number


def facts(found: Found) -> dict[str, Any]:
    table = found.tables["goal"]
    there = [place in found.attributes for place in _places(table)]
    table = table[np.array(there, dtype=bool)]
    holds = table["holds"] == "yes"
    counts = {
        str(method): (int(holds[of.index].sum()), len(of))
        for method, of in table.groupby("method", sort=False)
    }
    ordered = sorted(labels.in_order(counts), key=lambda method: -counts[method][0])
    return {
        "goal": {
            "counts": {method: counts[method] for method in ordered},
            "asked": max((of for _, of in counts.values()), default=0),
            "own": {m: counts[m] for m in (FITTED, "infofair") if m in counts},
            "some": sum(held > 0 for held, _ in counts.values()),
            "rules": {
                "asked": len(rules := [m for m in counts if is_rule(m)]),
                "some": sum(counts[m][0] > 0 for m in rules),
            },
            "by_method": by_method(counts, ordered),
            "grid": found.by_method(
                table, text, "The goal",
                "Micro F1 / imparity as released, means over seeds on test rows, of the strength "
                "with the least mean imparity on validation rows of those that keep the F1 there, "
                f"in brackets the strength. ✓: the goal holds; {NONE}: no strength keeps the F1.",
            ),
        }
    }  # fmt: skip


def _places(table: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(table["dataset"], table["setting"], strict=True))


def text(row: Row) -> str:
    if pd.isna(row["micro_f1"]):
        return NONE
    shown = f"{number(row['micro_f1'])} / {number(row['imparity_released'])}"
    return f"{shown} ({short(row['strength'])}){' ✓' * (row['holds'] == 'yes')}"


def by_method(counts: dict[str, tuple[int, int]], ordered: list[str]) -> Grid:
    rows = [[labels.full_method_name(m), str(counts[m][0]), str(counts[m][1])] for m in ordered]
    return Grid(
        "The goal, by method",
        "In how many cells of the paper’s table the goal holds, of those that the method can run "
        "in.",
        [*texts("Method"), *figures("Holds", "Cells")],
        rows,
    )
