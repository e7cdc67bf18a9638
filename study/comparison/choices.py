"""Fronts, the best within a budget, and the operating point: means over honest splits.

Validation rows choose (study/comparison/picking.py), test rows report. A method that in some split
has nothing to choose from, because all its strengths diverged there, has no figures: a mean over
the splits that went well would flatter it.
"""

import json
from statistics import fmean

import numpy as np
import pandas as pd

from study.comparison.dominance import dominated_by
from study.comparison.intervals import holm, over_splits
from study.comparison.measured import (
    AIMS,
    BUDGETS,
    GAPS,
    IN_SPLIT,
    TAKING_PART,
    honest,
    is_base,
    needs_s,
    order,
    trials,
    vanilla_of,
)
from study.comparison.picking import operating_points, within_budget
from study.results import CELL, FIGURES, ON_VALIDATION, TABLES, WITH_WIDTH, as_json

_FRONT = [*CELL, "notion", "strength"]


def fronts(rows: pd.DataFrame) -> pd.DataFrame:
    """Every strength of every method; nothing is chosen. No figures if it diverged in a split."""
    of = trials(rows)
    before = [f"validation_{name}" for name in ON_VALIDATION]
    means = over_splits(of, _FRONT, [*FIGURES, *before])
    grouped = of.groupby(_FRONT, sort=False)
    shares = grouped[["constant", "diverged"]].mean()
    figures = [means.mean, means.width[WITH_WIDTH].add_suffix("_width")]
    kept = [table.where(shares["diverged"] == 0) for table in figures]
    about = [grouped.size().rename("splits"), grouped["data"].first()]
    rates = _rates(rows).where(shares["diverged"] == 0, "")
    found = pd.concat([*kept, shares, *about, rates], axis=1)
    return order(of, found.reset_index(), ["notion", "strength"])[TABLES["fronts"]]


def _rates(rows: pd.DataFrame) -> pd.Series:
    """Of every group the mean selection rate on test rows, over the splits that have it."""

    def mean(texts: pd.Series) -> str:
        found: dict[str, list[float]] = {}
        for text in filter(None, texts.fillna("")):
            for group, rate in json.loads(text).items():
                found.setdefault(group, []).append(rate)
        return as_json({group: round(fmean(own), 3) for group, own in found.items()})

    of = honest(rows)
    return of[of["split"] == "test"].groupby(_FRONT, sort=False)["rates"].agg(mean)


# -- within a budget -----------------------------------------------------------------------------


def best(rows: pd.DataFrame) -> pd.DataFrame:
    """What each method has to offer within each budget of each notion's gap.

    `within` is the share of splits in which a strength was in the budget on validation rows, `kept`
    of those in which it was, and the test rows agreed. `validation_score` is what was chosen by,
    micro F1 or of scores the AUC, and `gap_null` the gap's null quantile.
    """
    of = trials(rows)
    found = [_best(of, notion).assign(place=place) for place, notion in enumerate(GAPS)]
    table = pd.concat(found, ignore_index=True).assign(tightness=lambda of: -of["budget"])
    return order(of, table, ["place", "tightness"])[TABLES["best"]]


def _best(of: pd.DataFrame, notion: str) -> pd.DataFrame:
    """Of one notion, with all budgets."""
    gap, by = GAPS[notion], [*CELL, "budget"]
    of = of[of["notion"].isin(TAKING_PART[notion])].reset_index(drop=True)
    parts = [within_budget(of, gap, limit, AIMS[notion]).assign(budget=limit) for limit in BUDGETS]
    chosen = pd.concat(parts, ignore_index=True)
    chosen["kept"] = chosen["within"] & (chosen[gap] <= chosen["budget"])
    chosen["gap"], chosen["gap_null"] = chosen[gap], chosen[f"{gap}_null"]
    chosen["validation_score"] = chosen[f"validation_{AIMS[notion]}"]
    chosen["validation_gap"] = chosen[f"validation_{gap}"]
    figures = [
        "validation_score", "validation_gap", "micro_f1", "macro_f1", "auc", "gap", "gap_null",
        "imparity", "worst_accuracy",
    ]  # fmt: skip
    means = over_splits(chosen, by, figures)
    grouped = chosen.groupby(by, sort=False)
    widths = means.width[["micro_f1", "auc", "gap"]].add_suffix("_width")
    reported = pd.concat([grouped["strength"].median(), means.mean, widths], axis=1)
    reported = reported.where(grouped["usable"].all())
    reported[["constant", "within", "kept"]] = grouped[["constant", "within", "kept"]].mean()
    reported["dominated_by"] = dominated_by(chosen, of, by, notion)
    return reported.reset_index().assign(notion=notion)


# -- the operating point -------------------------------------------------------------------------


def operating(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The honest summary, and the strengths that it chose.

    One row for each dataset, setting and method at its operating points. `<figure>_low` and `_high`
    bound the mean over splits; `more_…` is the mean difference, split by split, from vanilla of the
    same training, `p_imparity` its paired test and `p_holm` that for all methods that do something
    about fairness, everywhere, at once. `constant` is of the models chosen, `diverged` of all.

    The second table has the strength of every method that was trained or solved, in each split.
    """
    of = trials(rows)
    of = of[of["notion"].isin(TAKING_PART["parity"])].reset_index(drop=True)
    chosen = operating_points(of)
    grouped = chosen.groupby(CELL, sort=False)
    found = pd.concat([grouped["strength"].median(), _bounded(chosen), _compared(chosen)], axis=1)
    found = found.where(grouped["usable"].all())
    methods = found.index.get_level_values("method")
    fair = ~methods.map(is_base).to_numpy(dtype=bool)
    found["p_holm"] = holm(found["p_imparity"].where(fair))
    found["dominated_by"] = dominated_by(chosen, of, CELL)
    found["s_at_test"] = np.where(methods.map(needs_s).to_numpy(dtype=bool), "yes", "no")
    found[["groups", "seeds"]] = grouped[["groups", "seeds"]].max()
    found[["splits", "data"]] = grouped.agg({"partition_seed": "nunique", "data": "first"})
    found["constant"] = grouped["constant"].mean()
    found["diverged"] = of.groupby(CELL, sort=False)["diverged"].mean()
    strengths = chosen.loc[(chosen["notion"] == "") & chosen["usable"], [*IN_SPLIT, "strength"]]
    table = order(of, found.reset_index(), [])[TABLES["honest_summary"]]
    return table, strengths.reset_index(drop=True)


def _bounded(chosen: pd.DataFrame) -> pd.DataFrame:
    """Means with their bounds."""
    means = over_splits(chosen, CELL, FIGURES)
    low, high = means.mean - means.width, means.mean + means.width
    return pd.concat([means.mean, low.add_suffix("_low"), high.add_suffix("_high")], axis=1)


def _compared(chosen: pd.DataFrame) -> pd.DataFrame:
    """The differences from vanilla of the same training; NaN where there is none."""
    beside = [*IN_SPLIT, *WITH_WIDTH]
    vanilla = chosen[beside].rename(columns={"method": "vanilla"})
    own = chosen[[*beside, "train", "test"]].assign(vanilla=chosen["method"].map(vanilla_of))
    keys = ["dataset", "setting", "partition_seed", "vanilla"]
    both = own.merge(vanilla, on=keys, how="left", suffixes=("", "_vanilla"))
    for name in WITH_WIDTH:
        both[f"more_{name}"] = both[name] - both[f"{name}_vanilla"]
    means = over_splits(both, CELL, [f"more_{name}" for name in WITH_WIDTH])
    low, high = means.mean - means.width, means.mean + means.width
    p = means.p["more_imparity"].rename("p_imparity")
    return pd.concat([means.mean, low.add_suffix("_low"), high.add_suffix("_high"), p], axis=1)
