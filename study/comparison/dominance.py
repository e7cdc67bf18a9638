"""Whom an unconstrained model with a rule on its scores dominates.

The rival to beat is a base that was trained without a word about fairness, and then given one
threshold for each group (A. Cruz and M. Hardt, "Unprocessing Seven Years of Algorithmic Fairness",
ICLR 2024). Who does without the sensitive attribute when deciding is compared with rules that do.
"""

import numpy as np
import pandas as pd

from study.comparison.measured import AIMS, GAPS, TAKING_PART, needs_s
from study.comparison.picking import ROUNDING

STRONGEST_FIRST = ("boosting", "logistic", "vanilla")
_SPLIT = ["dataset", "setting", "partition_seed"]


def baselines(notion: str, with_s: bool) -> list[str]:
    """Those with which a method is compared, by whether it needs the sensitive attribute.

    Fair scores have been made with it only.
    """
    if notion == "scores":
        return [f"{base}_barycentre" for base in STRONGEST_FIRST] if with_s else []
    return [f"{base}_{'thresholds' if with_s else 'blind'}" for base in STRONGEST_FIRST]


def dominated_by(
    chosen: pd.DataFrame, trials: pd.DataFrame, by: list[str], notion: str = "parity"
) -> pd.Series:
    """The baselines that dominate each group of `by`, with commas between.

    chosen: one row for each split, with figures on both parts. In each split a baseline has the
    tolerance with most validation micro F1 among those with no more validation imparity than the
    method has there (of equals that with less, then the lower tolerance). It dominates if, in means
    over splits, it has on test rows no less micro F1 and no more imparity; there is no margin for
    anybody. It does not if in some split it has no tolerance with so little validation imparity, or
    the method no figures. Nobody dominates itself. Under another notion its gap takes the place of
    imparity, the rules are those for it, and of scores the AUC is what F1 is of decisions.
    """
    gap, aim = GAPS[notion], AIMS[notion]
    own = chosen.groupby(by, sort=False)[[aim, gap]].mean(skipna=False)
    found = pd.Series("", own.index)
    methods = own.index.get_level_values("method")
    rules = trials[trials["notion"].isin(TAKING_PART[notion])]
    for with_s in (True, False):
        compared = chosen[chosen["method"].map(needs_s) == with_s]
        for baseline in baselines(notion, with_s):
            of_baseline = rules[rules["method"] == baseline]
            if of_baseline.empty:
                continue
            rival = _rival(compared, of_baseline, by, gap, aim).reindex(own.index)
            wins = (rival[aim] >= own[aim] - ROUNDING) & (rival[gap] <= own[gap] + ROUNDING)
            wins &= methods != baseline
            comma = np.where(found == "", "", ",")
            found = found.mask(wins, found + comma + baseline)
    return found


def _rival(
    chosen: pd.DataFrame, rules: pd.DataFrame, by: list[str], gap: str, aim: str
) -> pd.DataFrame:
    """A baseline's mean test figures beside each group; NaN if it lacks a rule in some split."""
    asked = chosen[[*_SPLIT, *(name for name in by if name not in _SPLIT)]].assign(
        row=np.arange(len(chosen)), limit=chosen[f"validation_{gap}"]
    )
    columns = [*_SPLIT, "strength", aim, gap, f"validation_{aim}", f"validation_{gap}"]
    both = asked.merge(rules[columns], on=_SPLIT)
    both = both[both[f"validation_{gap}"] <= both["limit"] + ROUNDING]
    keys = [both["strength"], both[f"validation_{gap}"], -both[f"validation_{aim}"], both["row"]]
    best = both.iloc[np.lexsort(keys)].drop_duplicates("row").groupby(by, sort=False)
    splits = chosen.groupby(by, sort=False).size()
    mean = best[[aim, gap]].mean()
    return mean.where(best.size() == splits.reindex(mean.index))
