"""How the strengths were chosen: the ends of every method's grid, from results/grids.csv."""

from typing import Any

import numpy as np
import pandas as pd

from study import labels
from study.comparison.measured import split_name, vanilla_of
from study.page.compared import Found
from study.page.grid import Grid, figures, texts
from study.page.words import short
from study.params import Params
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
            "unfinished": unfinished(
                chosen, found.tables["fronts"], found.params.comparison.budget
            ),
            "critics": critics(found.params),
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


def unfinished(chosen: pd.DataFrame, fronts: pd.DataFrame, budget: float) -> dict[str, Any]:
    """Methods whose grid ends above the tightest budget: in how many cells, of all.

    Of the strongest strength in a cell, which is constant in no split, by mean validation imparity.
    A form without a look of its own has the grid of its method.
    """
    ends = chosen.groupby(["dataset", "method"], sort=False)["strength"].agg(["first", "last"])
    falls = (ends["last"] < ends["first"]).to_dict()  # a tolerance: the least is the strongest
    counts: dict[str, tuple[int, int]] = {}
    for (dataset, _, name), of in fronts[fronts["notion"] == ""].groupby(CELL, sort=False):
        method = str(name)
        own = (str(dataset), method)
        own = own if own in falls else (own[0], split_name(method)[0])
        if own not in falls:
            continue  # it has no strength
        row = of.sort_values("strength", ascending=not falls[own]).iloc[-1]
        above = row["constant"] == 0 and row["validation_imparity"] > budget
        count, all_ = counts.get(method, (0, 0))
        counts[method] = count + bool(above), all_ + 1
    return {
        "cells": sum(count for count, _ in counts.values()),
        "of": sum(all_ for _, all_ in counts.values()),
        "methods": {m: counts[m] for m in labels.in_order(counts) if counts[m][0]},
    }


def critics(params: Params) -> dict[str, dict[str, float]]:
    """The knobs that were set by hand of methods with a critic: all but the learning rate, which
    is the split's."""
    knobs = {method: params.knobs(method).model_dump() for method in params.beyond.trained}
    return {
        method: {name: value for name, value in own.items() if name != "learning_rate"}
        for method, own in knobs.items()
        if "critic_steps" in own
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
