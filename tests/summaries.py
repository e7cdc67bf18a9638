"""A made-up results/summary.csv for tests of tables, figures and notebooks."""

import numpy as np
import pandas as pd

from study import labels
from study.results import frame

SETTINGS = ("gender", "race", "intersection")
CONTROLS = ("control_micro_f1", "control_macro_f1", "control_imparity_released")
FIGURES = ("micro_f1", "macro_f1", "imparity_released", "reduction_released")


def summary(
    datasets: tuple[str, ...] = ("adult", "dutch"),
    methods: tuple[str, ...] = (*labels.PAPER, "infofair_ts", "infofair_td"),
    settings: tuple[str, ...] = SETTINGS,
    seed: int = 0,
) -> pd.DataFrame:
    """Random figures. LFR and MinDiff are for two groups only; FCFC has one seed, so no spread."""
    rng, made_up = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    rows = []
    for dataset in datasets:
        for setting in settings:
            for method in methods:
                if method in ("lfr", "mindiff") and setting != "gender":
                    continue
                printed = dict(zip(FIGURES, rng.uniform(0.1, 0.9, 4).round(3), strict=True))
                for protocol in ("paper", "mean", "std"):
                    figures = dict(zip(FIGURES, rng.uniform(0.1, 0.9, 4), strict=True))
                    figures["reduction_released"] -= 0.5
                    if protocol == "std":
                        figures = {k: v / 50 for k, v in figures.items()}
                        if method == "fcfc":
                            figures = dict.fromkeys(figures, np.nan)
                    row = {"dataset": dataset, "setting": setting, "method": method}
                    row |= {"protocol": protocol, "note": "", "data": "real"}
                    row |= {"partition": "authors", "floor_released": 0.05, **figures}
                    row |= {"null_95_released": 0.08, "evidence": "yes", "levelling_down": "no"}
                    row |= {"more_than_threshold": "" if method in ("vanilla", "fcfc") else "no"}
                    row |= dict(zip(CONTROLS, made_up.uniform(0.1, 0.9, 3), strict=True))
                    for name, value in printed.items():
                        known = method in labels.PAPER
                        name = f"paper_{name.removesuffix('_released')}"
                        row[name] = value if known else np.nan
                    rows.append(row)
    return frame(rows, "summary")
