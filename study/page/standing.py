"""Fronts as figures: hypervolumes, ranks over cells, and the best within each budget."""

from typing import Any

import pandas as pd

from infofair.data.prepared import INTERSECTION
from study import labels
from study.labels import FITTED
from study.offers import is_random
from study.page.answer import AIMS, GAPS, NOTIONS
from study.page.compared import Found
from study.page.grid import Grid, figures, texts
from study.page.words import NONE, p_value
from study.results import AGAINST, RIVALS, Row
from study.tables.honest import ALPHA
from study.tables.layout import number, spread

CELLS = {
    "paper": "The paper’s datasets", "all": "All cells", "two groups": "Two groups",
    "more groups": "More than two groups",
}  # fmt: skip


def facts(found: Found) -> dict[str, Any]:
    areas, ranks, best = (found.tables[name] for name in ("hypervolume", "ranks", "best"))
    among = " of the paper’s datasets" if (ranks["cells"] == "paper").any() else ""
    # the explorer opens with it: Adult, which readers know best, if it is there
    place = max(found.attributes, key=lambda place: (place[1] == INTERSECTION, place[0] == "adult"))
    return {
        "fitted": FITTED,
        "example": {"dataset": place[0], "setting": place[1], "budget": best["budget"].min()},
        # few methods are run on datasets that the paper lacks: what counts is its own
        "ranking": ranking(ranks, "paper") or ranking(ranks, "all"),
        "ranking_of_all": ranking(ranks, "all") if among else None,
        "rank_grids": {
            CELLS[str(cells)]: rank_grid(str(cells), of, among)
            for cells, of in ranks.groupby("cells", sort=False)
        },
        "areas": found.by_method(
            areas,
            area_text,
            "Hypervolumes",
            "Hypervolume above the chord, in brackets the whole; means over splits, ± half of a "
            "95 % interval of the first.",
            "area",
        ),
        "budgets": {
            name: {
                budget: budget_grid(found, notion, budget, of[of["budget"] == budget])
                for budget in dict.fromkeys(of["budget"].tolist())
            }
            for notion, name in NOTIONS.items()
            if len(of := best[best["notion"] == notion])
        },
    }


def area_text(row: Row) -> str:
    if pd.isna(row["above_chord"]):
        return NONE
    shown = spread(row["above_chord"], row["above_chord_width"])
    return f"{shown} ({number(row['hypervolume'])})"


# -- ranks ----------------------------------------------------------------------------------------


def ranking(ranks: pd.DataFrame, cells: str) -> dict[str, Any] | None:
    """Of the methods that have a figure in each of these cells; the best first."""
    rows = ranks[ranks["cells"] == cells].to_dict("records")
    if not rows:
        return None
    return {
        "of_paper": cells == "paper",
        "cells": int(rows[0]["blocks"]),
        "methods": int(rows[0]["methods"]),
        "friedman_p": rows[0]["friedman_p"],
        "first": rows[:3],
        "own": [(n, r) for n, r in enumerate(rows, 1) if r["method"] in ("infofair", FITTED)],
        "beside": {
            name: {family: told(rows, name, family) for family in ("holm", "few")}
            for name in AGAINST
            if any(r["method"] == name for r in rows)
        },
    }


def told(rows: list[Row], name: str, family: str) -> dict[str, Any]:
    """Who differs clearly from this one, of the methods that are tested at once, and whether any
    could: `least` is the smallest p that there can be."""
    tested = [row for row in rows if not pd.isna(row[f"{name}_{family}"])]
    cells = int(rows[0]["blocks"])
    return {
        "better": [r["method"] for r in tested if _side(r, name, family) > 0],
        "worse": [r["method"] for r in tested if _side(r, name, family) < 0],
        "tested": [r["method"] for r in tested],
        "of": len(tested),
        "least": (least := least_p(cells, len(tested))),
        "can": least < ALPHA,
    }


def least_p(cells: int, tests: int) -> float:
    """Of Wilcoxon's two-sided test, if one method is ahead in every cell, after Holm's correction
    for so many tests at once."""
    return min(1.0, max(tests, 1) * 2.0 ** (1 - cells))


def _side(row: Row, name: str, family: str) -> int:
    """Whether a method has clearly more than this one above the chord (1), or clearly less."""
    if not row[f"{name}_{family}"] < ALPHA:
        return 0
    return 1 if row[f"{name}_more"] > 0 else -1


def rank_grid(cells: str, ranks: pd.DataFrame, among: str) -> Grid:
    """among: of which datasets the cells are that are told apart by their number of groups."""
    among = among if cells in ("two groups", "more groups") else ""
    rows = []
    for row in ranks.to_dict("records"):
        beside = []
        for name in AGAINST:
            beside.append(number(row[f"{name}_more"], sign="+"))
            beside += [p_value(row[f"{name}_{family}"]) for family in ("holm", "few")]
        shown = [number(row["rank"], 1), number(row["above_chord"]), *beside]
        rows.append([labels.full_method_name(row["method"]), row["s_at_test"], *shown])
    columns = [*texts("Method", "s when deciding"), *figures("Mean rank", "Above the chord")]
    for name in AGAINST:
        columns += figures("more", "p", "p of few", group=f"Against {labels.method_name(name)}")
    blocks, methods, p = (ranks[name].iloc[0] for name in ("blocks", "methods", "friedman_p"))
    few = set(RIVALS) & set(ranks["method"])
    friedman = "" if pd.isna(p) else f" Friedman’s test that all are alike: p {_sign(p)}."
    return Grid(
        f"Ranks, {CELLS[cells].lower()}",
        f"{CELLS[cells]}{among} ({blocks}): mean rank by hypervolume above the chord among the "
        f"{methods} methods that have a figure in each, and Wilcoxon’s signed ranks over cells: p "
        f"with Holm’s correction for all methods, which cannot be below "
        f"{p_value(least_p(blocks, methods - 1))} over so few cells, and p of few, with that for "
        f"{len(few)} rivals alone, one of a family, which cannot be below "
        f"{p_value(least_p(blocks, len(few)))}.{friedman} Cells of one dataset share rows, so p is "
        "too small rather than too large.",
        columns,
        rows,
    )


def _sign(p: float) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"


# -- budgets --------------------------------------------------------------------------------------


def budget_grid(found: Found, notion: str, budget: float, rows: pd.DataFrame) -> Grid:
    aim, gap = AIMS[notion], GAPS[notion]
    name = {"micro_f1": "micro F1", "auc": "AUC"}[aim]

    def text(row: Row) -> str:
        if row["within"] == 0 or pd.isna(row[aim]):
            return NONE
        marks = "*" * (row["gap"] > budget) + "°" * (row["within"] < 1)
        marks += "†" * (row["constant"] > 0) + "‡" * is_random(row["method"], notion)
        return f"{number(row[aim])} / {number(row['gap'])}{marks}"

    return found.by_method(
        rows,
        text,
        f"{NOTIONS[notion]}, budget {budget:g}",
        f"{NOTIONS[notion]}, {gap} at most {budget:g}: {name} / {gap}.",
        known=True,
    )
