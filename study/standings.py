"""How a method stands against the others in the fronts, and against the paper."""

import numpy as np
import pandas as pd

from study import fronts
from study.results import PLACE, Row


def ahead(best: pd.DataFrame, method: str) -> list[Row]:
    """Who is ahead of this method's front, in which cell and at which budget of imparity.

    A rival is ahead if on test rows it has a micro F1 that is higher by more than both standard
    deviations together (0 where there is a single fit), and no higher imparity. So is one that has
    a strength within a budget in which the method has none, unless some of its seeds are constant.
    A method is on or above the front of all the others where none is ahead of it.
    """
    found = []
    for (dataset, setting, budget), rows in best.groupby([*PLACE, "budget"], sort=False):
        of = rows.fillna({"micro_f1_std": 0.0}).set_index("method").to_dict("index")
        if (mine := of.pop(method, None)) is None:
            continue  # not run here
        cell = {"dataset": dataset, "setting": setting, "budget": budget}
        for name, row in of.items():
            if np.isnan(mine["strength"]):
                is_ahead = row["constant"] == 0  # NaN if it has none, either
            else:
                gain = row["micro_f1"] - mine["micro_f1"]
                noise = row["micro_f1_std"] + mine["micro_f1_std"]
                is_ahead = gain > noise and row["imparity"] <= mine["imparity"]
            if is_ahead:
                found.append(cell | {"rival": name})
    return found


def standings(areas: pd.DataFrame, method: str) -> list[Row]:
    """For each dataset and setting, who has the largest figure, and this method's and its rank.

    `hypervolume_first` and so on; vanilla, against which all are measured, takes no part. The rank
    is NaN if the method has no figure there, the first is empty if no method has.
    """
    found = []
    for (dataset, setting), rows in areas.groupby(PLACE, sort=False):
        row: Row = {"dataset": dataset, "setting": setting}
        for figure in ("hypervolume", "above_chord"):
            of = rows[rows["method"] != "vanilla"].set_index("method")[figure].dropna()
            mine = float(of.get(method, float("nan")))
            row |= {
                f"{figure}_first": of.idxmax() if len(of) else "",
                f"{figure}_most": of.max(),
                f"{figure}_own": mine,
                f"{figure}_rank": float("nan") if np.isnan(mine) else 1 + int((of > mine).sum()),
                f"{figure}_of": len(of),
            }
        found.append(row)
    return found


def would_hold(summary: pd.DataFrame, paper: pd.DataFrame) -> dict[tuple[str, str], list[float]]:
    """The strengths with which infofair_fitted meets the goal on test rows, chosen by nobody.

    (dataset, setting) -> strengths. Where the goal is missed although there are some, it is the
    validation rows that chose another; where there are none, it is out of reach.
    """
    found: dict[tuple[str, str], list[float]] = {}
    own = summary[summary["method"] == "infofair_fitted"]
    for (dataset, setting), rows in own.groupby(PLACE, sort=False):
        for strength in dict.fromkeys(rows["strength"]):
            alone = fronts.goal(
                _seen_in_advance(rows[rows["strength"] == strength]),
                paper[(paper["dataset"] == dataset) & (paper["setting"] == setting)],
            )
            if (alone["holds"] == "yes").any():
                found.setdefault((str(dataset), str(setting)), []).append(float(strength))
    return found


def _seen_in_advance(rows: pd.DataFrame) -> pd.DataFrame:
    """The test figures in the place of those on validation rows."""
    test = rows[rows["split"] == "test"]
    return pd.concat([test.assign(split="validation"), test])
