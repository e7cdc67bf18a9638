"""Whom an unconstrained model with group thresholds dominates (study/unprocessed.py has them).

A method is `dominated` by a base with thresholds if of the base's tolerances, that with the highest
validation micro F1 among those with no more validation imparity than the method, has on test rows
no less micro F1 and no more imparity: means over splits and seeds, no margin for anybody. If no
tolerance has so little validation imparity, the method is not dominated.
"""

import numpy as np
import pandas as pd

from study import fronts
from study.results import CELL, TABLES, Row

BASES = ("vanilla", "logistic", "boosting")  # unconstrained, the strongest last
WITH_THRESHOLDS = "_thresholds"  # ends the name of a base that has them
COMPARED = ["micro_f1", "imparity"]
# the gap that a notion is about, on decisions
GAPS = {"parity": "largest_gap", "opportunity": "opportunity_gap", "odds": "odds_gap"}


def dominated(unprocessed: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Every row of the honest table beside each base with thresholds for parity."""
    test, validation = (_means(runs, part) for part in ("test", "validation"))
    parity = unprocessed[unprocessed["notion"] == "parity"]
    rules = dict(iter(parity.groupby(CELL, sort=False)))
    found = []
    for cell, own in test.items():
        dataset, setting, method = cell
        for base in BASES:
            of_base = rules.get((dataset, setting, base))
            if base == method or of_base is None or np.isnan(own["micro_f1"]):
                continue
            row: Row = own | {"base": base, "dominated": "no"}
            if rule := fronts.pick(of_base, validation[cell]["imparity"], "tolerance"):
                row |= {f"base_{name}": rule[name] for name in ("tolerance", *COMPARED)}
                wins = rule["micro_f1"] >= own["micro_f1"] and rule["imparity"] <= own["imparity"]
                row["dominated"] = "yes" if wins else "no"
            found.append(row)
    return pd.DataFrame(found, columns=TABLES["dominated"])


def _means(runs: pd.DataFrame, part: str) -> dict[tuple[str, ...], Row]:
    """Over splits and seeds, by cell."""
    grouped = runs[runs["split"] == part].groupby(CELL, sort=False)[COMPARED]
    rows = grouped.mean().reset_index().to_dict("records")
    return {tuple(row[name] for name in CELL): row for row in rows}
