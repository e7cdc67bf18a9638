"""The paper's comparison again, on data and with training that one can trust: the honest profile.

What it changes against the paper, all at once:

    label     no column that gives it away is a feature (COMPAS: is_recid and is_violent_recid)
    scaling   by the training rows alone
    split     several random ones, stratified by group and label, in place of the authors' one
    training  `backbone` in params.yaml, as in the fronts, with their exceptions
    groups    none with fewer than `smallest_group` test rows: see `pooled`
    figures   means with 95 % intervals over splits and seeds; imparity as in the paper's text

Methods of the paper have its strengths, others the one their authors or libraries give, or 1.
Writes

    results/honest.csv           every model on validation and test rows
    results/honest_summary.csv   means, intervals, and differences from vanilla on the same splits
"""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from stages import cli, datasets, files, frontier, preprocess
from stages.params import Params, load
from stages.processed import Processed

RUNS = Path("results/honest.csv")
SUMMARY = Path("results/honest_summary.csv")
METRICS = ["micro_f1", "macro_f1", "imparity", "imparity_released"]
COMPARED = ["micro_f1", "imparity"]
CELL = ["dataset", "setting", "method"]
COLUMNS = [
    *CELL, "strength", "partition_seed", "seed", "split", *METRICS, "groups", "train", "test",
    "note", "data",
]  # fmt: skip
LEVEL = 0.95


# -- the data ------------------------------------------------------------------------------------


def pooled(data: Processed, smallest: int) -> Processed:
    """The data without groups that have fewer than so many test rows.

    A group that has, or by its share of all rows would have, fewer is pooled with the others of
    the setting that do, and while they have fewer together, with the next larger group. A setting
    that is left with a single group is left out.
    """
    share = len(data.split["test"]) / len(data.y)
    groups, names = {}, {}
    for setting, number in data.groups.items():
        sizes = np.bincount(number, minlength=len(data.group_names[setting]))
        order = np.argsort(sizes, kind="stable")
        count = int(np.sum(sizes * share < smallest))
        while count and count < len(order) and sizes[order[:count]].sum() * share < smallest:
            count += 1
        together, kept = sorted(order[:count]), sorted(order[count:])
        place = np.full(len(order), len(kept))
        place[kept] = np.arange(len(kept))
        named = [data.group_names[setting][g] for g in kept]
        if members := [data.group_names[setting][g] for g in together if sizes[g]]:
            named.append(" or ".join(members))
        if len(named) > 1:
            groups[setting], names[setting] = place[number].astype(np.int16), named
    return replace(data, groups=groups, group_names=names)


def prepared(dataset: str, split: int, params: Params) -> Processed:
    """The dataset in the honest form, split at random by this seed."""
    knobs = params.knobs(dataset)
    leaks = bool(datasets.load(dataset).leaking)
    changed = params.model_copy(
        update={
            "split": "random",
            "random_split": params.random_split.model_copy(update={"seed": split}),
            "scale": "train_rows",
            dataset: knobs.model_copy(update={"drop_leaking_columns": leaks}),
        }
    )
    frame = preprocess.validated_rows(dataset)
    source = files.raw_source(dataset)
    data = preprocess.process(frame, dataset, source["data"], "random", changed)
    return pooled(data, params.honest.smallest_group)


# -- the models ----------------------------------------------------------------------------------


def of_dataset(dataset: str, params: Params) -> list[dict[str, Any]]:
    """Every row on one dataset; none if its groups are too small."""
    rows: list[dict[str, Any]] = []
    for split in params.honest.splits:
        start = time.perf_counter()
        data = prepared(dataset, split, params)
        if not data.settings:
            least = params.honest.smallest_group
            said = f"no setting has two groups of {least} test rows (honest.smallest_group)"
            print(f"{dataset} is left out: {said}", file=sys.stderr)
            return []
        marks = {"dataset": dataset, "partition_seed": split, "data": data.data}
        marks |= {part: len(data.split[part]) for part in ("train", "test")}
        for method, strength in params.honest.strengths.items():
            title = f"{method} on {dataset}, split {split}"
            models = frontier.models(
                method, dataset, data, params, [strength], params.honest.seeds, title
            )
            rows += [
                marks | {"method": method, "groups": len(data.group_names[row["setting"]])} | row
                for model in models
                for row in frontier.evaluated(model, data)
            ]
        seconds = time.perf_counter() - start
        print(f"{dataset}, split {split}: {seconds:.0f} s", file=sys.stderr)
    places = {setting: place for place, setting in enumerate(datasets.load(dataset).sensitive)}
    named = list(params.honest.strengths)
    return sorted(
        rows, key=lambda row: (places.get(row["setting"], len(places)), named.index(row["method"]))
    )


# -- what they come to ---------------------------------------------------------------------------


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
    figures = [f"{m}{end}" for m in METRICS for end in ("", "_low", "_high", "_seeds")]
    figures += [f"more_{m}{end}" for m in COMPARED for end in ("", "_low", "_high")]
    columns = [*CELL, "strength", "groups", "splits", "seeds", *figures, "constant", "diverged"]
    return pd.DataFrame(found).reindex(columns=[*columns, "data"])


def main() -> None:
    params = load()
    rows = [row for name in params.datasets for row in of_dataset(name, params)]
    runs = pd.DataFrame(rows, columns=COLUMNS)
    frontier.write(RUNS, runs)
    frontier.write(SUMMARY, summarize(runs))


if __name__ == "__main__":
    cli.run(main, __doc__)
