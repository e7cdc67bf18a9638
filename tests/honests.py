"""A made-up results/honest_summary.csv for tests of its table, its notebook and the page."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from study import honest, labels, results

SETTINGS = ("gender", "race", "intersection")
METHODS = tuple(labels.METHODS)
GROUPS = {"gender": 2, "race": 4}


def runs(
    datasets: tuple[str, ...] = ("compas", "adult"),
    methods: tuple[str, ...] = METHODS,
    settings: tuple[str, ...] = SETTINGS,
    splits: int = 3,
    seed: int = 0,
) -> pd.DataFrame:
    """Random figures of test rows. LFR and MinDiff are for two groups only; FCFC has one seed."""
    rng = np.random.default_rng(seed)
    rows = []
    for dataset in datasets:
        for setting in settings:
            for method in methods:
                if method in ("lfr", "mindiff") and setting != "gender":
                    continue
                f1, gap = rng.uniform(0.7, 0.9), rng.uniform(0.05, 0.2)
                for split in range(splits):
                    for e in range(1 if method == "fcfc" else 2):
                        row = {"dataset": dataset, "setting": setting, "method": method}
                        row |= {"strength": 0.1, "partition_seed": split, "seed": e}
                        row |= {"split": "test", "groups": GROUPS.get(setting, 6)}
                        figures = f1, f1 - 0.1, gap, gap / 2
                        noise = rng.normal(0, 0.01, 4)
                        row |= dict(zip(results.METRICS, figures + noise, strict=True))
                        rows.append(row | {"train": 800, "test": 100, "note": "", "data": "real"})
    return pd.DataFrame(rows)


def summary(
    datasets: tuple[str, ...] = ("compas", "adult"),
    methods: tuple[str, ...] = METHODS,
    settings: tuple[str, ...] = SETTINGS,
    splits: int = 3,
) -> pd.DataFrame:
    return honest.summarize(runs(datasets, methods, settings, splits))


def write(places: Mapping[str, list[str]], methods: tuple[str, ...] = METHODS) -> None:
    """The summary, into the current folder; places: dataset -> settings."""
    parts = [runs((dataset,), methods, tuple(of)) for dataset, of in places.items()]
    results.write(honest.summarize(pd.concat(parts, ignore_index=True)), "honest_summary")
