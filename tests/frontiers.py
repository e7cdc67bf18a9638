"""A made-up results/frontier.csv, and what is measured beside it, for tests of fronts."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from study import fronts, labels, paths, results
from study.results import PLACE, Row
from tests.conftest import ROOT

SETTINGS = ("gender", "race", "intersection")
METHODS = labels.PAPER
STRENGTHS = (0.1, 0.5, 2.0, 8.0)


def runs(
    datasets: tuple[str, ...] = ("adult", "compas_without_leak"),
    methods: tuple[str, ...] = METHODS,
    settings: tuple[str, ...] = SETTINGS,
    seed: int = 0,
) -> pd.DataFrame:
    """Less imparity and less F1 the higher the strength, with noise; FCFC has one seed."""
    rng = np.random.default_rng(seed)
    rows = []
    for dataset in datasets:
        for setting in settings:
            for method in methods:
                if method == "lfr" and setting != "gender":
                    continue
                cost = rng.uniform(0.02, 0.1)
                for strength in (0.0,) if method == "vanilla" else STRENGTHS:
                    fair = strength / (1 + strength)
                    for e in range(1 if method == "fcfc" else 3):
                        for split in ("validation", "test"):
                            f1 = 0.85 - cost * fair**2 + rng.normal(0, 0.003)
                            gap = 0.15 * (1 - fair) + rng.uniform(0, 0.02)
                            row = {"dataset": dataset, "setting": setting, "method": method}
                            row |= {"strength": strength, "seed": e, "split": split}
                            row |= {"micro_f1": f1, "macro_f1": f1 - 0.1, "imparity": gap}
                            row |= {"imparity_released": gap / 2, "selection_rate": 0.25}
                            marks = {"note": "", "data": "real", "partition": "authors"}
                            rows.append(row | marks)
    return pd.DataFrame(rows)


def references(table: pd.DataFrame) -> list[Row]:
    places = table[PLACE].drop_duplicates().to_dict("records")
    return [place | {"constant_micro_f1": 0.75, "floor": 0.03} for place in places]


def frontier(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The summary and the hypervolumes of these runs."""
    summary = fronts.summarize(table)
    return summary, fronts.hypervolumes(table, summary, references(table))


def write(
    places: Mapping[str, list[str]], methods: tuple[str, ...] = (*METHODS, "infofair_fitted")
) -> None:
    """What `frontier` and `information` write, into the current folder; places: its settings."""
    parts = [runs((dataset,), methods, tuple(of)) for dataset, of in places.items()]
    table = pd.concat(parts, ignore_index=True)
    summary, areas = frontier(table)
    of_fitted = table[(table["method"] == "infofair_fitted") & (table["split"] == "test")]
    information = of_fitted.assign(running=0.25, held_out=0.125, held_out_score=0.5)
    for name, content in {
        "frontier": table,
        "frontier_summary": summary,
        "hypervolume": areas,
        "best": fronts.best(summary),
        "goal": fronts.goal(summary, pd.read_csv(ROOT / paths.PAPER)),
        "information": information,
    }.items():
        results.write(content, name)
