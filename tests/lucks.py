"""Made-up results/luck.csv and results/tried.csv."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from study import luck, paths, results
from tests.conftest import ROOT

SETTINGS = ("gender", "race", "intersection")
PLACES = {
    "compas": SETTINGS,
    "adult": SETTINGS,
    "dutch": ("gender", "marital", "intersection"),
}
METHODS = ("vanilla", "infofair")


def runs(
    places: Mapping[str, tuple[str, ...] | list[str]] = PLACES,
    methods: tuple[str, ...] = METHODS,
    seeds: int = 40,
) -> pd.DataFrame:
    """Imparities about as high as printed; InfoFair's spread more widely than vanilla's."""
    rng = np.random.default_rng(0)
    rows = []
    for dataset, settings in places.items():
        for place, setting in enumerate(settings):
            for method in methods:
                wide = 0.002 if method == "vanilla" else 0.012
                for seed in range(seeds):
                    for split in ("validation", "test"):
                        gap = 0.06 + 0.03 * place + abs(rng.normal(0.01, wide))
                        f1 = 0.83 + rng.normal(0, 0.003)
                        row = {"dataset": dataset, "setting": setting, "method": method}
                        row |= {"seed": seed, "split": split, "micro_f1": f1}
                        row |= {"macro_f1": f1 - 0.1, "imparity": 3 * gap}
                        row |= {"imparity_released": gap, "selection_rate": 0.2, "note": ""}
                        rows.append(row | {"data": "real", "partition": "authors"})
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    return luck.summarize(table, pd.read_csv(ROOT / paths.PAPER))


def write(places: Mapping[str, list[str]], methods: tuple[str, ...] = METHODS) -> None:
    """What `luck_table` writes, into the current folder; places: its settings."""
    table = runs(places, methods)
    results.write(table, "luck")
    results.write(summary(table), "luck_summary")


def write_tried(places: Mapping[str, list[str]]) -> None:
    """What `tried_table` writes, into the current folder: two readings of DI."""
    paper = pd.read_csv(ROOT / paths.PAPER).query("method == 'di'")
    rows = []
    for cell in paper[paper["dataset"].isin(places)].to_dict("records"):
        if cell["setting"] not in places[cell["dataset"]]:
            continue
        for off, name in ((0.001, "near"), (0.05, "far")):
            row = {name: cell[name] for name in ("dataset", "setting", "method")}
            row |= {f"paper_{f}": cell[f] for f in ("micro_f1", "macro_f1", "imparity")}
            row |= {f: cell[f] + off for f in ("micro_f1", "macro_f1")}
            row |= {"imparity_released": cell["imparity"] + off, "distance": off, "seed": 0}
            row |= {"variant": f"di_{name}", "what": f"{name} the truth"}
            row |= {"within": "yes" if off < 0.002 else "no"}
            rows.append(row | {"data": "real", "partition": "authors"})
    results.write(results.frame(rows, "tried"), "tried")
