"""The table "as run": beside each printed cell, the run that its authors evidently made.

Candidates for a row of the paper's table are the method as it is here and the variants of
study/as_run that stand for it (what else was tried, in vain, is in study/tried). Each is chosen a
seed for by the paper's protocol, and the row is given to the candidate that brings most of its
printed cells within 0.002 in micro F1, macro F1 and released imparity at once (if several do, to
the one that is nearest on average): print decides, which is what the table is for, and nothing else
uses it. Figures are compared as they are printed, with three digits; `distance` has all of them.
`should_*` are of the method as it is, means over seeds with their spread: how it should be
run.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from infofair.metrics import average_gap_released
from study.protocol import selected
from study.results import CELL, PLACE, PRINTED, TABLES, Row

TOLERANCE = 0.002
# what the paper prints -> which of our figures it is
FIGURES = {name: ours for name, ours in PRINTED.items() if name != "reduction"}
DIGITS = 3  # that are printed
HALF = 0.0005  # a printed figure may be off by so much
GUESSES = ("adversarial_argmax",)  # they give the printed cells, but so would other runs

# What explains the row of the candidate: a variant of study/as_run, or the method as it is.
EXPLANATIONS = {
    "vanilla": "Ten times InfoFair's learning rate; the seed with the best validation macro F1.",
    "infofair": "The authors' random streams; of five seeds the fairest on validation rows.",
    "gerryfair": "The auditor finds nothing to do, so this is plain linear regression.",
    "gerryfair_miscounted": "The official auditor counts every negative into one group.",
    "di": "Repaired by λ = 0.0909; of five seeds the fairest on validation rows.",
    "gdp": "The exact parity term for groups; of five seeds the fairest on validation rows.",
    "lfr": "With exact gradients and a grid, which does not collapse.",
    "lfr_aif360": "AIF360's defaults: A_z = 50, and 5,000 evaluations for finite differences.",
    "mindiff": "With an MMD that works.",
    "mindiff_miscut": "The released MMD has no gradient to speak of: this is vanilla at InfoFair's "
    "learning rate, and of its five seeds the fairest.",
    "fcfc": "With labels −1 and 1.",
    "fcfc_labels01": "Labels left in {0, 1}: only positives are learnt, and all get class 1.",
    "adversarial": "With an adversary that is fitted.",
    "adversarial_argmax": "All get class 0, as from any predictor with one output whose class is "
    "read off by an argmax over outputs; that this is what happened cannot be shown.",
}


def candidates(runs: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Every candidate for every printed cell: the chosen seed's test figures, and how far off.

    runs: as in runs.csv, of methods as they are or, with a name in `variant`, of others that stand
    for them. `distance` is the largest of the three differences.
    """
    printed = paper.dropna(subset=["micro_f1"]).set_index(CELL).add_prefix("paper_").reset_index()
    if runs.empty:
        return pd.DataFrame(columns=TABLES["as_run_tried"])
    chosen = [selected(own) for _, own in runs.groupby("variant", sort=False)]
    table = pd.concat(chosen).merge(printed, on=CELL)
    table["distance"] = farthest(table)
    table["within"] = np.where(farthest(table, DIGITS) <= TOLERANCE, "yes", "no")
    place = {cell: i for i, cell in enumerate(map(tuple, paper[CELL].to_numpy()))}
    order = [place[tuple(cell)] for cell in table[CELL].to_numpy()]
    return table.iloc[np.argsort(order, kind="stable")][TABLES["as_run_tried"]]


def farthest(table: pd.DataFrame, digits: int = 9) -> pd.Series:
    """The largest difference from print among a row's figures, of so many digits."""
    off = [table[ours].round(digits) - table[f"paper_{name}"] for name, ours in FIGURES.items()]
    return pd.concat(off, axis=1).abs().max(axis=1).round(9)


def chosen(tried: pd.DataFrame) -> dict[str, str]:
    """method -> the candidate that explains its row best."""
    of_candidates = (
        tried.assign(hits=tried["within"] == "yes")
        .groupby(["method", "variant"], sort=False)
        .agg(hits=("hits", "sum"), distance=("distance", "mean"))
        .reset_index()
        .sort_values(["hits", "distance"], ascending=[False, True], kind="stable")
    )
    best = of_candidates.drop_duplicates("method").set_index("method")["variant"]
    return {str(method): str(variant) for method, variant in best.items()}


def least_released(groups: int, empty: int) -> float:
    """The least released imparity that predictions can have: that of equal rates."""
    return float(average_gap_released(0.0, groups - empty, groups))


def as_run(tried: pd.DataFrame, summary: pd.DataFrame, statistics: pd.DataFrame) -> pd.DataFrame:
    """One row per printed cell: as run, as it should be, and what explains the difference."""
    rows = tried["variant"] == tried["method"].map(chosen(tried))
    columns = {ours: f"should_{ours}" for ours in FIGURES.values()}
    table = tried[rows]
    for protocol, end in (("mean", ""), ("std", "_std")):
        own = summary.loc[summary["protocol"] == protocol, [*CELL, *columns]]
        named = {old: f"{new}{end}" for old, new in columns.items()}
        table = table.merge(own.rename(columns=named), how="left", on=CELL)
    sizes = statistics.set_index(PLACE)[["groups", "empty_test"]]
    least = [
        least_released(*sizes.loc[tuple(cell)].astype(int)) for cell in table[PLACE].to_numpy()
    ]
    table["guessed"] = np.where(table["variant"].isin(GUESSES), "yes", "no")
    table["possible"] = np.where(table["paper_imparity"] + HALF < least, "no", "yes")
    nearest = tried.loc[tried.groupby(CELL, sort=False)["distance"].idxmin()].set_index(CELL)
    table["explanation"] = [
        explain(row, low, nearest.loc[tuple(row[name] for name in CELL)])
        for row, low in zip(table.to_dict("records"), least, strict=True)
    ]
    return table[TABLES["as_run"]]


def explain(row: Row, least: float, nearest: pd.Series) -> str:
    """What explains a cell, or what comes nearest to it."""
    said = EXPLANATIONS[row["variant"]]
    if row["possible"] == "no":
        impossible = f"the released metric gives {least:.3f} to a constant predictor here"
        return f"{said} The printed imparity cannot be had: {impossible}."
    if row["within"] == "yes":
        return said
    figures = "/".join(f"{nearest[ours]:.3f}" for ours in FIGURES.values())
    return f"Not explained. Nearest of what was tried: {nearest['variant']}, {figures}."


def rows_of(variant: str, stands_for: str, found: Iterable[Row], marks: Row) -> list[Row]:
    """A variant's rows, as if they were those of the method that it stands for."""
    return [marks | {"method": stands_for, "variant": variant} | row for row in found]
