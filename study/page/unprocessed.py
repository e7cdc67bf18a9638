"""Group thresholds on everybody's scores: counts over results/unprocessed.csv and dominated.csv."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from study import fronts, labels
from study.dominance import BASES, GAPS
from study.page.cells import Place
from study.page.grid import TEXT, Column, Grid, by_place, figures
from study.page.words import NONE
from study.results import PLACE
from study.tables.layout import number

BUDGETS = (0.1, 0.05, 0.02)  # of imparity
SHOWN = 0.02  # the tolerance of the other notions that is shown
FirstCells = Callable[[Place], list[str]]


def facts(rules: pd.DataFrame, dominated: pd.DataFrame, row: FirstCells) -> dict[str, Any]:
    """row: the first two cells of a place's row."""
    fair = dominated[~dominated["method"].isin(BASES)]  # what does something about fairness
    bases = [base for base in BASES if base in set(rules["method"])]
    strongest = bases[-1] if bases else ""
    standing = ahead(rules, strongest)
    return {
        "bases": {
            base: (int((of["dominated"] == "yes").sum()), len(of))
            for base, of in fair.groupby("base", sort=False)
        },
        "strongest": strongest,
        "ahead": [places for places in standing if places["ahead"]],
        "compared": len(standing),
        "dominance": dominance(fair, bases, row),
        "budgets": budgets(rules, bases, row),
        "notions": notions(rules, bases, row),
    }


def dominance(fair: pd.DataFrame, bases: list[str], row: FirstCells) -> Grid:
    rows: list[list[str]] = []
    ids = {}
    for place, of in fair.groupby(PLACE, sort=False):
        shown: list[str] = []
        for base in bases:
            own = of[of["base"] == base]
            kept = own.loc[own["dominated"] == "no", "method"]
            names = ", ".join(map(labels.method_name, labels.in_order(kept)))
            shown += [f"{len(own) - len(kept)} of {len(own)}", names or NONE]
        ids[len(rows), 2] = f"dominated-{place[0]}-{place[1]}"
        rows.append([*row((str(place[0]), str(place[1]))), *shown])
    columns = [
        column
        for base in bases
        for column in (
            Column("Dominated", group=f"Thresholds on {labels.method_name(base)}"),
            Column("Not dominated", TEXT, f"Thresholds on {labels.method_name(base)}"),
        )
    ]
    return by_place(
        "Dominated by thresholds",
        "Methods of the honest table that an unconstrained model with group thresholds dominates: "
        "no less micro F1 and no more imparity on test rows, means over splits and seeds.",
        columns,
        rows,
        ids,
    )


def chosen(rules: pd.DataFrame, budget: float) -> dict[str, dict[str, Any]]:
    """Of one place: what each method's best rule for parity within the budget does on test rows."""
    parity = rules[rules["notion"] == "parity"]
    picked = {
        str(m): fronts.pick(of, budget, "tolerance")
        for m, of in parity.groupby("method", sort=False)
    }
    return {method: found for method, found in picked.items() if found}


def best_other(found: dict[str, dict[str, Any]]) -> str | None:
    """The method of most validation micro F1 among those that do something about fairness."""
    others = [method for method in found if method not in BASES]
    return max(others, key=lambda m: found[m]["validation_micro_f1"]) if others else None


def ahead(rules: pd.DataFrame, base: str) -> list[dict[str, Any]]:
    """Places and budgets in which both have a rule: is the best other ahead of the base?

    Ahead: more micro F1 and no more imparity, or less imparity and no less micro F1.
    """
    standing = []
    for place, of in rules.groupby(PLACE, sort=False):
        for budget in BUDGETS:
            found = chosen(of, budget)
            other = best_other(found)
            if other is None or base not in found:
                continue
            f1, gap = (found[other][n] - found[base][n] for n in ("micro_f1", "imparity"))
            better = f1 >= 0 and gap <= 0 and (f1 > 0 or gap < 0)
            standing.append({"place": place, "budget": budget, "other": other, "ahead": better})
    return standing


def budgets(rules: pd.DataFrame, bases: list[str], row: FirstCells) -> Grid:
    rows = []
    for place, of in rules.groupby(PLACE, sort=False):
        for budget in BUDGETS:
            found = chosen(of, budget)
            other = best_other(found)
            shown = [_point(found.get(base)) for base in bases]
            name = labels.method_name(other) if other else NONE
            first = row((str(place[0]), str(place[1])))
            rows.append([*first, number(budget), *shown, _point(found.get(other or "")), name])
    return by_place(
        "Thresholds for a budget",
        "Micro F1 / imparity on test rows, of group thresholds for parity whose tolerance the "
        "validation rows choose within a budget of imparity; for the bases, and for the other "
        "method whose scores with thresholds have most micro F1 on validation rows.",
        [
            *figures("Budget", *map(labels.method_name, bases), "Best other"),
            Column("which is", TEXT),
        ],
        rows,
    )


def notions(rules: pd.DataFrame, bases: list[str], row: FirstCells) -> Grid:
    kept = rules[rules["tolerance"] == SHOWN].set_index([*PLACE, "method", "notion"])
    rows = []
    for place in dict.fromkeys(map(tuple, rules[PLACE].to_numpy())):
        shown = []
        for notion in ("opportunity", "odds"):
            for base in bases:
                key = (*place, base, notion)
                there = key in kept.index
                gap = GAPS[notion]
                shown.append(_point(kept.loc[key].to_dict(), gap) if there else NONE)
        rows.append([*row((str(place[0]), str(place[1]))), *shown])
    names = [labels.method_name(base) for base in bases]
    return by_place(
        "Equal opportunity and equalised odds",
        f"Micro F1 / largest gap on test rows, of group thresholds with a tolerance of {SHOWN} on "
        "validation rows; those for equalised odds are random.",
        [*figures(*names, group="Equal opportunity"), *figures(*names, group="Equalised odds")],
        rows,
    )


def _point(row: dict[str, Any] | None, gap: str = "imparity") -> str:
    return f"{number(row['micro_f1'])} / {number(row[gap])}" if row else NONE
