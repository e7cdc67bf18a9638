"""How the strengths were chosen: the ends of every method's grid, from results/grids.csv."""

from typing import Any

import pandas as pd

from study import labels
from study.page.compared import Found
from study.page.grid import Grid, figures, texts
from study.page.words import short


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
