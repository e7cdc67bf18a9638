"""How the strengths were chosen: the ends of every method's grid, from results/grids.csv."""

from typing import Any

import numpy as np
import pandas as pd

from study import labels
from study.comparison.measured import vanilla_of
from study.page.compared import Found
from study.page.grid import Grid, figures, texts
from study.page.words import short
from study.results import CELL, PLACE

KEPT = 0.9  # of vanilla's imparity: it has not begun to work (infofair/grids.py)


def facts(found: Found) -> dict[str, Any]:
    table = found.tables["grids"]
    chosen = table[table["setting"].isna()]
    counts = chosen.groupby(["dataset", "method"], sort=False)["strength"].nunique()
    seen = table[table["setting"].notna()].groupby(["dataset", "method"], sort=False)["strength"]
    return {
        "strengths": {
            "grids": len(counts),
            "counts": sorted(set(counts.tolist())),
            "looked": sorted(set(seen.nunique().tolist())),
            "collapsed": collapsed(table[table["setting"].notna()]),
            "begun": begun(chosen, found.tables["fronts"]),
            "kept": KEPT,
            "grid": grid(chosen),
        }
    }


def collapsed(seen: pd.DataFrame) -> dict[str, list[str]]:
    """Methods whose weakest strength is no better than the constant predictor; and the datasets.

    In some setting, on validation rows. The weakest strength is looked at first.
    """
    first = seen.drop_duplicates(["dataset", "method", "setting"])
    lost = first[~(first["micro_f1"] > first["constant"])]
    return {
        method: list(dict.fromkeys(lost.loc[lost["method"] == method, "dataset"]))
        for method in labels.in_order(lost["method"])
    }


def begun(chosen: pd.DataFrame, fronts: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Methods whose grid begins where they are not vanilla any more: in how many cells, of all.

    By mean validation imparity, against vanilla of the same training.
    """
    if chosen.empty:  # its columns are of no kind
        return {}
    weakest = chosen.drop_duplicates(["dataset", "method"])[["dataset", "method", "strength"]]
    gap = fronts.loc[fronts["notion"] == "", [*CELL, "strength", "validation_imparity"]]
    theirs = gap.rename(columns={"method": "vanilla", "validation_imparity": "whole"})
    own = gap.merge(weakest, on=["dataset", "method"], suffixes=("", "_weakest"))
    own = own[np.isclose(own["strength"], own["strength_weakest"], rtol=1e-5)]
    own = own.assign(vanilla=own["method"].map(vanilla_of))
    both = own.merge(theirs.drop(columns="strength"), on=[*PLACE, "vanilla"])
    less = both["validation_imparity"] < KEPT * both["whole"]
    counts = {
        str(method): (int(of.sum()), len(of))
        for method, of in less.groupby(both["method"], sort=False)
    }
    return {method: counts[method] for method in labels.in_order(counts) if counts[method][0]}


def grid(chosen: pd.DataFrame) -> Grid:
    """A line per method, a column per dataset."""
    datasets = list(dict.fromkeys(chosen["dataset"]))
    ends = {
        (str(method), str(dataset)): f"{short(of.iloc[0])} to {short(of.iloc[-1])}"
        for (method, dataset), of in chosen.groupby(["method", "dataset"], sort=False)["strength"]
    }
    rows = [
        [labels.full_method_name(method), *(ends.get((method, d), "") for d in datasets)]
        for method in labels.in_order(chosen["method"])
    ]
    return Grid(
        "Strengths",
        "The weakest and the strongest strength of each method’s grid, which is in equal ratios. A "
        "strength may be a tolerance, which is the stronger the smaller it is.",
        [*texts("Method"), *figures(*map(labels.dataset_name, datasets))],
        rows,
    )
