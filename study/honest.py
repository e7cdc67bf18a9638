"""The paper's comparison on honest data. What is different:

    leak      columns that give the label away are left out (COMPAS: is_recid, is_violent_recid)
    scaling   by the training rows alone
    split     several random ones, stratified by group and label, in place of the authors' one
    training  `backbone` in params.yaml, as in the fronts, with their exceptions
    groups    none with fewer than `smallest_group` test rows: see study/variants.py
    figures   means with 95 % intervals over splits and seeds; imparity as in the paper's text

Methods of the paper have its strengths, others the one their authors or libraries give, or 1.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from infofair.data import dataset as datasets
from study import swept
from study.results import CELL, METRICS, TABLES, Row

COMPARED = ["micro_f1", "imparity"]
LEVEL = 0.95


def rows(dataset: str, methods: list[str], splits: dict[str, int]) -> list[Row]:
    """Every model on one dataset, by setting and method; none if its groups are too small.

    splits: the seed of each split, by the name of the dataset's form.
    """
    found = [row for method in methods for row in _of_method(dataset, method, splits)]
    # the intersection is no attribute, and comes last
    place = {setting: i for i, setting in enumerate(datasets.load(dataset).sensitive)}
    last = len(place)
    return sorted(
        found,
        key=lambda row: (place.get(row["setting"], last), methods.index(row["method"])),
    )


def _of_method(dataset: str, method: str, splits: dict[str, int]) -> Iterator[Row]:
    for run in swept.runs("honest", dataset, method):
        marks: Row = {"dataset": dataset, "method": method, "data": run.data.data}
        marks |= {"partition_seed": splits[run.name]}
        marks |= {part: len(run.data.split[part]) for part in ("train", "test")}
        for row in swept.evaluated(run):
            yield marks | {"groups": len(run.data.group_names[row["setting"]])} | row


def half_width(of_splits: pd.Series, overlap: float) -> float:
    """Half of the 95 % interval of a mean over random splits of the same rows.

    The splits share rows, so the variance of their mean is not s²/J but about s² (1/J + overlap),
    overlap = test rows / training rows (Nadeau and Bengio 2003). NaN for a single split.
    """
    count = len(of_splits)
    if count < 2:
        return float("nan")
    factor = student.ppf((1 + LEVEL) / 2, count - 1)
    return float(factor * of_splits.std() * np.sqrt(1 / count + overlap))


def summarize(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per dataset, setting and method, on test rows.

    A split's figure is the mean over its seeds. `<metric>_low` and `_high` bound the mean over
    splits, `_seeds` is the standard deviation over seeds within a split; `more_<metric>` is the
    mean difference from vanilla, split by split, with its own interval. No figures if a model
    diverged.
    """
    test = runs[runs["split"] == "test"]
    by_split = {
        key: own.groupby("partition_seed")[METRICS].agg(["mean", "std"])
        for key, own in test.groupby(CELL, sort=False)
    }
    found = []
    for (dataset, setting, method), own in test.groupby(CELL, sort=False):
        overlap = own["test"].max() / own["train"].max()
        row: dict[str, Any] = {"dataset": dataset, "setting": setting, "method": method}
        row |= {name: own[name].iloc[0] for name in ("strength", "groups", "data")}
        row |= {"splits": own["partition_seed"].nunique(), "seeds": own["seed"].nunique()}
        row |= {note: float((own["note"] == note).mean()) for note in ("constant", "diverged")}
        if not row["diverged"]:
            here = by_split[dataset, setting, method]
            vanilla = by_split[dataset, setting, "vanilla"]
            for metric in METRICS:
                of_splits, of_seeds = here[metric, "mean"], here[metric, "std"]
                width = half_width(of_splits, overlap)
                row |= {metric: of_splits.mean(), f"{metric}_seeds": of_seeds.mean()}
                row |= {f"{metric}_low": row[metric] - width, f"{metric}_high": row[metric] + width}
            for metric in COMPARED:
                more = here[metric, "mean"] - vanilla[metric, "mean"]
                width, name = half_width(more, overlap), f"more_{metric}"
                row |= {name: more.mean()}
                row |= {f"{name}_low": row[name] - width, f"{name}_high": row[name] + width}
        found.append(row)
    return pd.DataFrame(found).reindex(columns=TABLES["honest_summary"])
