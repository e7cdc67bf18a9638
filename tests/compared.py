"""Made-up tables of the comparison, for tests of what shows them.

The figures of every model are made up; what follows from them is computed as the pipeline does. It
takes two seconds for all tables, so who needs one or two asks for these.
"""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd

from study import paths, results
from study.comparison import areas, choices
from study.comparison import tables as comparison
from study.comparison import unprocessed as rules
from study.labels import unconstrained
from tests.conftest import ROOT
from tests.study.comparison.made_up import STRENGTHS, measured

SETTINGS = ("gender", "race", "intersection")
METHODS = (
    "vanilla", "logistic", "boosting", "vanilla_unaware", "vanilla_paper", "lfr", "fcfc", "gdp",
    "dp_gap", "fermi", "infofair", "infofair_paper", "infofair_unaware", "infofair_fitted",
    "infofair_fitted_ts", "infofair_fitted_td", "boosting_thresholds", "vanilla_thresholds",
    "boosting_blind", "vanilla_blind", "boosting_barycentre", "infofair_fitted_held",
)  # fmt: skip
TOLERANCES = (0.0, 0.05, 0.1)
Places = Mapping[str, Sequence[str]]  # dataset -> settings


def tables(
    places: Places, methods: Sequence[str] = METHODS, splits: int = 4, data: str = "real"
) -> dict[str, pd.DataFrame]:
    """Every table that the comparison's page is made from."""
    pairs = tuple((dataset, setting) for dataset, of in places.items() for setting in of)
    return {name: of.copy() for name, of in _tables(pairs, tuple(methods), splits, data).items()}


def table(
    name: str,
    places: Places,
    methods: Sequence[str] = METHODS,
    splits: int = 4,
    data: str = "real",
) -> pd.DataFrame:
    """The same as `tables` has it, by itself: honest_summary, fronts or hypervolume."""
    pairs = tuple((dataset, setting) for dataset, of in places.items() for setting in of)
    return _table(name, pairs, tuple(methods), splits, data).copy()


ALONE = {
    "honest_summary": lambda rows: choices.operating(rows)[0],
    "fronts": choices.fronts,
    "hypervolume": areas.hypervolumes,
}


@cache
def _table(
    name: str,
    places: tuple[tuple[str, str], ...],
    methods: tuple[str, ...],
    splits: int,
    data: str,
) -> pd.DataFrame:
    return ALONE[name](measured(methods, places, splits).assign(data=data))


@cache
def _tables(
    places: tuple[tuple[str, str], ...], methods: tuple[str, ...], splits: int, data: str
) -> dict[str, pd.DataFrame]:
    rows = measured(methods, places, splits).assign(data=data)
    found, _ = comparison.tables(rows, pd.read_csv(ROOT / paths.PAPER))
    return found | {"grids": grids(rows), "unprocessed": rules.unprocessed(on_scores(rows))}


def summary(
    datasets: Sequence[str] = ("compas", "adult"),
    methods: Sequence[str] = METHODS,
    settings: Sequence[str] = SETTINGS,
    splits: int = 4,
) -> pd.DataFrame:
    """results/honest_summary.csv."""
    return table("honest_summary", dict.fromkeys(datasets, tuple(settings)), methods, splits)


def write(places: Places, methods: Sequence[str] = METHODS) -> None:
    """All tables, into the current folder."""
    for name, made in tables(places, methods).items():
        results.write(made, name)


def grids(rows: pd.DataFrame) -> pd.DataFrame:
    """Three strengths looked at in every setting, and those of the rows chosen."""
    found = []
    cells = rows.loc[rows["notion"] == "", ["dataset", "method"]].drop_duplicates()
    for dataset, method in cells.itertuples(index=False):
        if unconstrained(method):
            continue
        key = {"dataset": dataset, "method": method, "constant": 0.75}
        for strength in (0.01, 1.0, 100.0):
            seen = {"setting": "gender", "strength": strength, "micro_f1": 0.8, "imparity": 0.1}
            found.append(key | seen)
        found += [key | {"setting": "", "strength": s} for s in STRENGTHS]
    return results.frame(found, "grids")


def on_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Thresholds on the scores of each method that do about as well as it does."""
    rng = np.random.default_rng(0)
    own = rows[(rows["notion"] == "") & rows["partition_seed"].notna()]
    own = own.drop_duplicates([*results.CELL, "partition_seed", "seed", "split"])
    found = []
    for notion in ("parity", "opportunity", "odds"):
        for tolerance in TOLERANCES:
            noise = rng.normal(0, 0.005, len(own))
            gap = tolerance / 2 + rng.uniform(0, 0.02, len(own))
            found.append(
                own.assign(
                    notion=notion, tolerance=tolerance, micro_f1=own["micro_f1"] + noise,
                    imparity=gap, largest_gap=gap, opportunity_gap=gap, odds_gap=gap,
                    random=float(notion == "odds"),
                )
            )  # fmt: skip
    return pd.concat(found, ignore_index=True)[rules.COLUMNS]
