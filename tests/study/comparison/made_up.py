"""A made-up `measured`: less gap and less F1 the higher the strength, with noise."""

from collections.abc import Iterator
from functools import cache
from zlib import crc32

import numpy as np
import pandas as pd

from study.comparison.measured import BASES, COLUMNS, is_base, split_name
from study.results import FIGURES, Row, as_json

STRENGTHS = (0.1, 0.5, 2.0, 8.0)
METHODS = (
    "vanilla", "logistic", "boosting", "vanilla_unaware", "vanilla_paper", "infofair",
    "infofair_fitted", "infofair_fitted_ts", "infofair_paper", "gdp", "gdp_unaware", "lfr",
    "boosting_thresholds", "vanilla_thresholds", "boosting_blind", "boosting_barycentre",
)  # fmt: skip
NOTIONS = {
    "thresholds": ("parity", "opportunity", "odds"),
    "blind": ("parity", "opportunity", "odds"),
    "barycentre": ("scores",),
}
PLACES = (("compas", "gender"), ("compas", "race"), ("kdd", "gender"))
OF_AUTHORS = ("compas",)


def measured(
    methods: tuple[str, ...] = METHODS,
    places: tuple[tuple[str, str], ...] = PLACES,
    splits: int = 4,
    seed: int = 0,
    strengths: tuple[float, ...] = STRENGTHS,
) -> pd.DataFrame:
    """LFR handles two groups only (gender); the authors' split has rules for parity, none blind."""
    return _measured(methods, places, splits, seed, strengths).copy()


@cache
def _measured(
    methods: tuple[str, ...],
    places: tuple[tuple[str, str], ...],
    splits: int,
    seed: int,
    strengths: tuple[float, ...],
) -> pd.DataFrame:
    rows = [
        row
        for dataset, setting in places
        for method in methods
        if method != "lfr" or setting == "gender"
        for row in _of_method(
            _rng(seed, dataset, setting, method), dataset, setting, method, splits, strengths
        )
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _rng(seed: int, *cell: str) -> np.random.Generator:
    """One for each cell, so that another method changes nobody's figures."""
    return np.random.default_rng([seed, crc32("/".join(cell).encode())])


def _of_method(
    rng: np.random.Generator,
    dataset: str,
    setting: str,
    method: str,
    splits: int,
    strengths: tuple[float, ...],
) -> Iterator[Row]:
    cost, notions = rng.uniform(0.01, 0.1), NOTIONS.get(split_name(method)[1], ("",))
    honest: list[tuple[float, int]] = [(float(split), 0) for split in range(splits)]
    authors = [(float("nan"), seed) for seed in range(3)] * (dataset in OF_AUTHORS)
    authors *= split_name(method)[1] != "blind"
    for notion in notions:
        parts = honest + authors * (notion in ("", "parity", "scores"))
        for strength in (0.0,) if is_base(method) else strengths:
            for partition_seed, seed in parts:
                for part in ("validation", "test"):
                    row: Row = {"dataset": dataset, "setting": setting, "method": method}
                    row |= {"notion": notion, "strength": strength, "split": part, "seed": seed}
                    row |= {"partition_seed": partition_seed, "note": "", "data": "real"}
                    row |= {"groups": 2 if setting == "gender" else 4, "train": 800, "test": 100}
                    row |= {"partition": "authors" if np.isnan(partition_seed) else "random"}
                    figures = _figures(rng, method, notion, strength, cost, part)
                    if part == "test" and not np.isnan(partition_seed):
                        figures["rates"] = _rates(figures["imparity"], row["groups"])
                    yield row | figures


def _rates(gap: float, groups: int) -> str:
    """Of groups that are this far apart in all."""
    return as_json({f"group {g}": 0.3 + gap * g / (groups - 1) for g in range(groups)})


def _figures(
    rng: np.random.Generator, method: str, notion: str, strength: float, cost: float, part: str
) -> Row:
    fair = strength / (1 + strength)
    row = dict(zip(FIGURES, rng.uniform(0, 0.2, len(FIGURES)), strict=True))
    better = 0.01 * BASES.index(split_name(method)[0]) if split_name(method)[0] in BASES else 0.0
    f1 = 0.84 + better - cost * fair**2 + rng.normal(0, 0.003)
    row |= {"micro_f1": f1, "macro_f1": f1 - 0.1, "auc": f1 + 0.02, "constant_micro_f1": 0.75}
    for gap in ("imparity", "opportunity_gap", "odds_gap", "ks"):
        row[gap] = 0.15 * (1 - fair) + rng.uniform(0, 0.02)
    row["imparity_released"] = row["imparity"] / 2
    if part == "validation":
        row["bits"] = float("nan")
    if notion in ("parity", "opportunity", "odds"):
        row |= dict.fromkeys(("auc", "ks", "abcc", "bits", "ks_null"), float("nan"))
    return row


def alike(table: pd.DataFrame, other: pd.DataFrame, keys: list[str]) -> None:
    """Whatever the order of their rows."""
    tables = (of.sort_values(keys).reset_index(drop=True) for of in (table, other))
    pd.testing.assert_frame_equal(*tables, check_dtype=False, rtol=1e-9, atol=1e-12)
