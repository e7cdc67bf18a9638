"""The figures that the comparison starts from: one row per model, setting and part.

`measured` is a frame with the columns COLUMNS, of all datasets. Its honest rows are those of random
splits, numbered by `partition_seed`; where that is empty the row is of the authors' split.

A method's name says how it came about: `gdp` was trained with the backbone, `gdp_paper` as in the
paper, `gdp_unaware` without the sensitive columns as inputs; `boosting_thresholds` is what group
thresholds make of the scores of `boosting`, and so on (SUFFIXES).
"""

import numpy as np
import pandas as pd

from study.results import CELL, FIGURES, MEASURED

KEYS = [*CELL, "notion", "strength", "partition_seed", "seed", "split"]
COLUMNS = MEASURED
TRIAL = [*CELL, "notion", "strength", "partition_seed"]  # a strength in a split
IN_SPLIT = [*CELL, "partition_seed"]  # all its strengths, of which validation rows choose one

# What a notion of fairness is about, and what is given up for it.
GAPS = {
    "parity": "imparity", "opportunity": "opportunity_gap", "odds": "odds_gap", "scores": "ks",
}  # fmt: skip
AIMS = dict.fromkeys(GAPS, "micro_f1") | {"scores": "auc"}
BUDGETS = (0.20, 0.10, 0.05, 0.02)  # of a gap
# Which rows of `measured` compete under a notion, by their own. What was trained has none and does
# so under each; rules are found for one; fair scores, cut at one threshold, have parity as well.
TAKING_PART = {
    "parity": ["", "parity", "scores"],
    "opportunity": ["", "opportunity"],
    "odds": ["", "odds"],
    "scores": ["", "scores"],
}

# -- names ---------------------------------------------------------------------------------------

BASES = ("vanilla", "logistic", "boosting")  # unconstrained
SUFFIXES = ("paper", "unaware", "ts", "td", "held", "thresholds", "blind", "barycentre")
WITHOUT_S = ("unaware", "blind")
TRAININGS = ("paper", "unaware")  # with a vanilla of their own


def split_name(method: str) -> tuple[str, str]:
    """`infofair_fitted_ts` is infofair_fitted and ts; what is not derived has no suffix."""
    stem, _, suffix = method.rpartition("_")
    return (stem, suffix) if stem and suffix in SUFFIXES else (method, "")


def needs_s(method: str) -> bool:
    """Whether it must know the sensitive attribute of those it decides about."""
    return split_name(method)[1] not in WITHOUT_S


def is_base(method: str) -> bool:
    """Whether it does nothing about fairness: a base, with or without the sensitive columns."""
    stem, suffix = split_name(method)
    return stem in BASES and suffix in ("", *TRAININGS)


def vanilla_of(method: str) -> str:
    """The vanilla of the same training, so that what differs is the method."""
    suffix = split_name(method)[1]
    return f"vanilla_{suffix}" if suffix in TRAININGS else "vanilla"


# -- rows ----------------------------------------------------------------------------------------


def honest(rows: pd.DataFrame) -> pd.DataFrame:
    """Those of random splits."""
    return _of(rows, True)


def authors(rows: pd.DataFrame) -> pd.DataFrame:
    """Those of the authors' split."""
    return _of(rows, False)


def _of(rows: pd.DataFrame, random: bool) -> pd.DataFrame:
    """With `notion` and `note` "" where they are empty, and no figures of what diverged."""
    numbers = pd.to_numeric(rows["partition_seed"], errors="coerce")
    rows = rows.assign(partition_seed=numbers)[numbers.notna() == random]
    if random:
        rows = rows.astype({"partition_seed": int})
    texts = ("notion", "note")  # read from a file, a column without any is of numbers
    rows = rows.astype(dict.fromkeys(texts, "str")).fillna(dict.fromkeys(texts, ""))
    return rows.assign(
        **{name: rows[name].where(rows["note"] != "diverged").astype(float) for name in FIGURES}
    )


def trials(rows: pd.DataFrame) -> pd.DataFrame:
    """Honest rows, one for each strength in a split: figures on test rows, and `validation_…`.

    Means over a split's seeds; no figures if one of them diverged. `diverged` and `constant` (on
    test rows) are shares of the seeds.
    """
    rows = honest(rows)
    notes = {note: (rows["note"] == note).astype(float) for note in ("constant", "diverged")}
    grouped = rows.assign(**notes).groupby([*TRIAL, "split"], sort=False)
    figures = grouped[FIGURES].mean()
    shares = grouped[list(notes)].mean()
    figures = figures.where(shares["diverged"] == 0)
    about = grouped[["constant_micro_f1", "groups", "train", "test", "data"]].first()
    found = pd.concat([figures, shares, about, grouped.size().rename("seeds")], axis=1)
    found = found.reset_index("split")
    test = found[found["split"] == "test"].drop(columns="split")
    chosen_by = found.loc[found["split"] == "validation", [*FIGURES, "constant_micro_f1"]]
    chosen_by = chosen_by.add_prefix("validation_")
    return test.join(chosen_by, how="inner").reset_index()


def order(rows: pd.DataFrame, table: pd.DataFrame, then: list[str]) -> pd.DataFrame:
    """A table with the cells in the order in which rows have them; within one as `then` says."""
    places = pd.MultiIndex.from_frame(rows[CELL].drop_duplicates())
    at = places.get_indexer(pd.MultiIndex.from_frame(table[CELL]))
    keys = [pd.factorize(table[name], sort=True)[0] for name in reversed(then)]
    return table.iloc[np.lexsort([*keys, at])].reset_index(drop=True)
