"""Made-up tables of the honest data, and of thresholds on it, for tests of what shows them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from study import dominance, honest, labels, results, unprocessed

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
    test = pd.concat(parts, ignore_index=True)
    results.write(honest.summarize(test), "honest_summary")
    both = pd.concat([test, test.assign(split="validation")])
    found = rules(test)
    results.write(found, "unprocessed")
    results.write(dominance.dominated(found, both), "dominated")


def rules(runs: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Thresholds on the scores of these models that do as well as they, and are fairer."""
    rng = np.random.default_rng(seed)
    cell = ["dataset", "setting", "method", "partition_seed", "seed"]
    rows = []
    for key in runs[[*cell, "micro_f1", "imparity"]].to_dict("records"):
        for notion in unprocessed.NOTIONS:
            for tolerance in unprocessed.TOLERANCES:
                for part in ("validation", "test"):
                    row = {name: key[name] for name in cell if name != "partition_seed"}
                    row |= {"split": f"split{key['partition_seed']}", "part": part}
                    row |= {"notion": notion, "tolerance": tolerance, "overlap": 0.1}
                    row |= {"micro_f1": key["micro_f1"] - rng.uniform(0, 0.01)}
                    row |= dict.fromkeys(unprocessed.FIGURES[1:-1], tolerance)
                    row |= {"imparity": min(tolerance, key["imparity"]) + rng.uniform(0, 0.01)}
                    rows.append(row | {"random": float(notion == "odds")})
    return unprocessed.summarize(pd.DataFrame(rows))
