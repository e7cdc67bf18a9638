"""Made-up experiments: what a commit and its experiments have in params.yaml and results."""

from typing import Any

import numpy as np
import pandas as pd

from study.results import frame
from study.revisions import Compared, Revision

METHODS = ("vanilla", "fcfc", "infofair")
SETTINGS = ("gender", "race", "intersection")
PARAMS = {"alpha": 0.1, "seeds": [0, 1], "training.epochs": 100}


def summary(
    seed: int = 0,
    datasets: tuple[str, ...] = ("adult",),
    methods: tuple[str, ...] = METHODS,
    size: float = 0.01,
    data: str = "real",
) -> pd.DataFrame:
    """Figures near the same ones for every seed, some changed by about `size`; FCFC is one fit."""
    same, other = np.random.default_rng(7), np.random.default_rng(seed)
    rows = []
    for dataset in datasets:
        for setting in SETTINGS:
            for method in methods:
                means = dict(zip(("micro_f1", "imparity", "reduction"), same.uniform(0.1, 0.9, 3),
                                 strict=True))  # fmt: skip
                spread = dict.fromkeys(means, np.nan if method == "fcfc" else 0.005)
                if seed and method != "vanilla":
                    means = {k: round(v + size * other.normal(), 6) for k, v in means.items()}
                about = {"dataset": dataset, "setting": setting, "method": method, "data": data}
                about["partition"] = "authors"
                rows += [about | {"protocol": "mean"} | means, about | {"protocol": "std"} | spread]
    return frame(rows, "summary")


def revision(
    name: str, seed: int = 0, table: pd.DataFrame | None = None, **changes: Any
) -> Revision:
    params = PARAMS | changes
    own = summary(seed) if table is None else table
    return Revision(name, params, {"adult_micro_f1": 0.8 + seed / 100, "simulated": 0}, own)


def compared(*others: Revision, without: tuple[str, ...] = ()) -> Compared:
    return Compared(revision("main"), list(others), list(without))
