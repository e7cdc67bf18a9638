"""Which strength the validation rows of a split choose, in that split.

Validation rows of one split are test rows of another, so each split chooses by its own alone: a
mean over splits must not choose. A strength that has diverged, or lacks a figure that the choice is
made by, is never chosen; a split that has no other has no figures.
"""

import numpy as np
import pandas as pd

from study.comparison.measured import IN_SPLIT
from study.results import FIGURES

F1_GIVEN_UP = 0.02  # of vanilla's micro F1 at most, at the operating point,
LEAD_GIVEN_UP = 0.25  # and of its lead over the constant predictor: where positives are rare, that
# predictor is within 0.02 of vanilla, and would be the fairest of all
ROUNDING = 1e-12  # 0.85 - 0.83 is not 0.02


def within_budget(trials: pd.DataFrame, gap: str, budget: float, aim: str) -> pd.DataFrame:
    """In each split the strength with most `aim` among those whose `gap` is within the budget.

    If there is none, the one with the smallest gap. Of equals the better one by the other figure,
    then the lower strength. `within` says whether there was one.
    """
    gaps, aims = (trials[f"validation_{name}"].to_numpy() for name in (gap, aim))
    return _first(trials, gaps <= budget, (-aims, gaps), (gaps, -aims))


def operating_points(trials: pd.DataFrame) -> pd.DataFrame:
    """In each split the fairest strength that costs little, so that all are compared at equal cost.

    Of the strengths whose validation micro F1 is at most F1_GIVEN_UP, and LEAD_GIVEN_UP of the lead
    over the constant predictor, below that of vanilla on the same rows, the one with the least
    validation imparity; if there is none, the one with the highest validation micro F1. Of equals
    as above.
    """
    split = ["dataset", "setting", "partition_seed"]
    figures = ["validation_micro_f1", "validation_constant_micro_f1"]
    vanilla = trials.loc[trials["method"] == "vanilla", [*split, *figures]]
    beside = trials[split].merge(vanilla, on=split, how="left", validate="many_to_one")
    theirs, constant = (beside[name].to_numpy() for name in figures)
    lead = np.maximum(theirs - constant, 0)
    asked = theirs - np.minimum(F1_GIVEN_UP, LEAD_GIVEN_UP * lead) - ROUNDING
    gaps, f1 = (trials[f"validation_{name}"].to_numpy() for name in ("imparity", "micro_f1"))
    return _first(trials, f1 >= asked, (gaps, -f1), (-f1, gaps))


def _first(
    trials: pd.DataFrame,
    within: np.ndarray,
    inside: tuple[np.ndarray, np.ndarray],
    outside: tuple[np.ndarray, np.ndarray],
) -> pd.DataFrame:
    """In each split the first of those `within`, by these keys, or of the others by those."""
    usable = ~np.isnan(inside[0] + inside[1])
    within = within & usable
    keys = [np.where(within, a, b) for a, b in zip(inside, outside, strict=True)]
    ranked = np.lexsort((trials["strength"], keys[1], keys[0], ~within, ~usable))
    found = trials.assign(within=within, usable=usable).iloc[ranked].drop_duplicates(IN_SPLIT)
    found = found.sort_index()  # as they were
    figures = ["strength", *FIGURES, *(f"validation_{name}" for name in FIGURES)]
    found[figures] = found[figures].where(found["usable"])
    return found
