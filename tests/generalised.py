"""Made-up tables of the generalisations, for tests of what shows them."""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd

from study import results
from study.results import Row
from tests.conftest import paper_params

Places = Mapping[str, Sequence[str]]  # dataset -> settings
STRENGTHS = (0.1, 1.0, 10.0)
# of each study: its places, figures of quality, gaps (of vanilla, and by chance) and methods
PLACES: Mapping[str, Places] = {
    "equal_opportunity": {"compas": ["intersection"], "adult": ["intersection"]},
    "bottleneck": {"adult": ["gender"]},
    "continuous": {"adult": ["age", "age_gender"], "compas": ["age"], "crime": ["black"]},
    "graph": {"bail": ["intersection", "with_leak"], "german": ["intersection"]},
    "regression": {"law": ["intersection", "gender"], "adult": ["gender"]},
    "recommendation": {"ml100k": ["gender"]},
}
QUALITY = {
    "equal_opportunity": {"micro_f1": 0.84},
    "bottleneck": {"micro_f1": 0.84, "auc": 0.9},
    "continuous": {"micro_f1": 0.84},
    "graph": {"micro_f1": 0.66, "auc": 0.67},
    "regression": {"r2": 0.15},
    "recommendation": {"rmse": 0.9},
}
GAPS = {
    "equal_opportunity": {
        "opportunity_gap": (0.14, 0.05), "odds_gap": (0.16, 0.06), "imparity": (0.13, 0.02)
    },
    "bottleneck": {"representation_bits": (0.3, 0.002), "imparity": (0.1, 0.02)},
    "continuous": {"hgr": (0.6, 0.08), "imparity": (0.15, 0.01)},
    "graph": {"imparity": (0.18, 0.03)},
    "regression": {"ks": (0.67, 0.18), "mean_gap": (0.45, 0.1), "w2": (0.3, 0.03)},
    "recommendation": {"gender_above_half": (0.14, 0.0), "gender_above_half_known": (0.2, 0.0)},
}  # fmt: skip
METHODS: Mapping[str, Sequence[str]] = {
    "equal_opportunity": (
        "fitted_opportunity", "fitted_odds", "fitted_parity", "gap_opportunity", "gap_odds",
        "joint_opportunity", "thresholds_opportunity", "thresholds_odds",
    ),
    "bottleneck": ("bottleneck", "deterministic", "gap"),
    "continuous": ("fitted", "fitted_bins", "gdp", "correlation"),
    "graph": ("mlp", "fitted", "gap", "joint"),
    "regression": ("vanilla_decay", "fitted", "gap", "joint", "barycentre"),
    "recommendation": ("fitted", "mean_matching", "something_else"),
}  # fmt: skip
ALONE = ("vanilla", "vanilla_decay", "mlp")  # without a strength


def table(
    study: str, places: Places | None = None, methods: Sequence[str] | None = None,
    splits: int = 5, data: str = "real",
) -> pd.DataFrame:  # fmt: skip
    """results/general/<study>.csv: the stronger, the smaller the gap and the worse the quality."""
    rng = np.random.default_rng(len(study))
    rows: list[Row] = []
    for dataset, settings in (PLACES[study] if places is None else places).items():
        for setting in settings:
            for method in ("vanilla", *(METHODS[study] if methods is None else methods)):
                for strength in (0.0,) if method in ALONE else STRENGTHS:
                    cell = {"dataset": dataset, "setting": setting, "method": method}
                    at = {"strength": strength, "chosen": strength in (0.0, 1.0), "data": data}
                    found = _figures(study, dataset, method, strength, splits, rng)
                    rows += [cell | at | own for own in found]
    return pd.DataFrame(rows, columns=results.GENERAL)


def _figures(
    study: str, dataset: str, method: str, strength: float, splits: int, rng: np.random.Generator
) -> list[Row]:  # fmt: skip
    std = 0.01 if splits > 1 else np.nan
    left = 1 / (1 + 2 * strength)  # of a gap
    left = 1.5 if method.startswith("joint") else left
    found: list[Row] = []
    own = {"r2": 0.6} if dataset == "crime" else QUALITY[study]
    for metric, best in own.items():
        worse = (0.02 * strength / (1 + strength) + rng.normal(0, 0.002)) * best
        mean = best + worse if metric == "rmse" else best - worse
        found.append({"metric": metric, "mean": mean, "std": std, "seeds": splits})
    for metric, (gap, floor) in GAPS[study].items():
        mean = floor + left * (gap - floor) + rng.normal(0, 0.05) * (gap - floor)
        chance = {"floor": floor, "null_95": floor + 0.2 * (gap - floor)}
        found.append({"metric": metric, "mean": mean, "std": std, "seeds": splits} | chance)
    return found


@cache
def tables() -> dict[str, pd.DataFrame]:
    return {study: table(study) for study in paper_params().general.studies}


def write() -> None:
    """All tables, into the current folder."""
    for study, made in tables().items():
        results.write_general(made.to_dict("records"), study)
