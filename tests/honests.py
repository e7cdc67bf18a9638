"""A made-up results/honest_summary.csv for tests of its table, its notebook and the page."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from stages import honest, honest_table, tables

SETTINGS = ("gender", "race", "intersection")
METHODS = (*tables.METHODS, *tables.MORE_METHODS)
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
                        row |= dict(zip(honest.METRICS, figures + noise, strict=True))
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
    """The summary and its table, into the current folder; places: dataset -> settings."""
    parts = [runs((dataset,), methods, tuple(of)) for dataset, of in places.items()]
    table = honest.summarize(pd.concat(parts, ignore_index=True))
    Path("results/figures").mkdir(parents=True, exist_ok=True)
    table.to_csv(honest_table.SUMMARY, index=False)
    Path("results/figures/honest_table.html").write_text(
        tables.to_html(honest_table.blocks(table), honest_table.layout(table)), "utf-8"
    )
