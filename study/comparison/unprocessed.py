"""The same thresholds on every method's scores: what did training add beyond its base?

Methods differ in their base models as much as in what they do about fairness, so they are compared
on equal terms when group thresholds are put on the scores of each of them, at its operating point
(A. Cruz and M. Hardt, ICLR 2024). Rules are found on validation rows and reported on test rows.
"""

import pandas as pd

from study.comparison.intervals import over_splits
from study.comparison.measured import order
from study.results import CELL, TABLES

_RULE = [*CELL, "notion", "tolerance"]
_GAPS = ["imparity", "opportunity_gap", "odds_gap"]
_FIGURES = ["micro_f1", *_GAPS, "largest_gap", "random"]
COLUMNS = [*_RULE, "partition_seed", "seed", "split", *_FIGURES, "train", "test"]


def unprocessed(rows: pd.DataFrame) -> pd.DataFrame:
    """From every model and rule (COLUMNS, `split` as in `measured`) to means over splits.

    A split counts as one, however many seeds it has. `random` is the share of models whose rule is.
    """
    grouped = rows.groupby([*_RULE, "partition_seed", "split"], sort=False)
    by_split = grouped[[*_FIGURES, "train", "test"]].mean().reset_index()
    test, before = (by_split[by_split["split"] == part] for part in ("test", "validation"))
    means = over_splits(test, _RULE, _FIGURES)
    found = means.mean.assign(micro_f1_width=means.width["micro_f1"])
    chosen_by = before.groupby(_RULE, sort=False)[["micro_f1", *_GAPS]].mean()
    found = found.join(chosen_by.add_prefix("validation_"))
    return order(rows, found.reset_index(), ["notion", "tolerance"])[TABLES["unprocessed"]]
