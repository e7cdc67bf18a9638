"""What follows from results/frontier.csv: means over seeds, fronts, hypervolumes, best choices.

Functions from tables to tables. Validation rows choose, test rows report: a method's front is the
Pareto set of its strengths' mean validation figures, and what is drawn, measured and printed are
their figures on test rows. Imparity is that of the paper's text. A strength of which a seed
diverged has no mean figures, so that nothing chooses it.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from infofair.pareto import Point, above_chord, pareto, staircase
from study import paths
from study.results import CELL, MARKS, METRICS, PLACE, TABLES, Row

WITHOUT_LEAK = f"_{paths.WITHOUT_LEAK}"  # ends the name of a dataset without its leaking columns
BUDGETS = (0.20, 0.10, 0.05, 0.02)  # of imparity


def summarize(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per dataset, setting, method, strength and split: means and spreads over seeds.

    `constant` and `diverged` are shares of the seeds. The figures are empty if one diverged; the
    standard deviations, of a sample, also if there is a single seed.
    """
    keys = [*PLACE, "method", "strength", "split", *MARKS]
    notes = {note: runs["note"] == note for note in ("constant", "diverged")}
    grouped = runs.assign(**notes).groupby(keys, sort=False)
    shares = grouped[list(notes)].mean()
    mean, std = grouped[METRICS].mean(), grouped[METRICS].std().add_suffix("_std")
    for figures in (mean, std):
        figures.loc[shares["diverged"] > 0] = np.nan
    table = pd.concat([grouped.size().rename("seeds"), mean, std, shares], axis=1).reset_index()
    return table[[*keys[:-2], "seeds", *mean, *std, *shares, *MARKS]]


def cells(summary: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Each (dataset, setting, method), and its strengths with their figures on both splits.

    Those on validation rows are called validation_…, those on test rows by their own names.
    """
    keys = [*PLACE, "method"]
    parts = {part: rows.drop(columns="split") for part, rows in summary.groupby("split")}
    same = [*keys, "strength", "seeds", "diverged", *MARKS]
    others = {n: f"validation_{n}" for n in parts["validation"] if n not in same}
    both = parts["test"].merge(parts["validation"].rename(columns=others), on=same)
    for (dataset, setting, method), rows in both.groupby(keys, sort=False):
        yield (str(dataset), str(setting), str(method)), rows.reset_index(drop=True)


# -- choices -------------------------------------------------------------------------------------


def front(rows: pd.DataFrame) -> pd.DataFrame:
    """The strengths on a method's front, from the least validation imparity to the most."""
    rows = rows[rows["diverged"] == 0]
    f1, imparity = (rows[f"validation_{name}"].to_numpy() for name in ("micro_f1", "imparity"))
    return rows[pareto(f1, imparity)].sort_values("validation_imparity", kind="stable")


def pick(rows: pd.DataFrame, budget: float, knob: str = "strength") -> Row | None:
    """The strength of most mean validation F1 whose mean validation imparity is in the budget.

    Of equals the one with less imparity, then the lower strength. None if none is in the budget.
    knob: the column of the strengths.
    """
    rows = rows[rows["validation_imparity"] <= budget]  # never true of one that diverged
    order = {"validation_micro_f1": False, "validation_imparity": True, knob: True}
    rows = rows.sort_values(list(order), ascending=list(order.values()))
    return next(iter(rows.to_dict("records")), None)


def best(summary: pd.DataFrame) -> pd.DataFrame:
    """What `pick` takes of each method for each budget; empty where there is nothing to take."""
    figures = TABLES["best"][len(CELL) + 1 :]
    found = []
    for (dataset, setting, method), rows in cells(summary):
        for budget in BUDGETS:
            row = pick(rows, budget)
            cell = {"dataset": dataset, "setting": setting, "method": method, "budget": budget}
            found.append(cell | ({} if row is None else {name: row[name] for name in figures}))
    return pd.DataFrame(found, columns=TABLES["best"])


def goal(summary: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Whether infofair_fitted beats the paper's table, for each dataset and setting in it.

    Of the strengths whose mean validation micro F1 is at least that of the paper's InfoFair, the
    one with the lowest mean validation imparity. It holds if, on test rows, its mean micro F1 is
    also at least that, and its mean imparity below that of every row of the paper that has no
    higher micro F1. The imparity is the released one, which the paper prints; rows with none are
    constant.
    """
    of_cell = dict(cells(summary))
    found = []
    for (dataset, setting), printed in paper.groupby(PLACE, sort=False):
        rows = of_cell.get((str(dataset), str(setting), "infofair_fitted"))
        if rows is None:
            continue
        asked = printed.set_index("method").loc["infofair", "micro_f1"]
        kept = rows[rows["validation_micro_f1"] >= asked]
        row: Row = {"dataset": dataset, "setting": setting, "asked_micro_f1": asked}
        if kept.empty:
            found.append(
                row | {"holds": "no", "why": "no strength keeps the F1 on validation rows"}
            )
            continue
        order = ["validation_imparity_released", "strength"]
        chosen = kept.sort_values(order).iloc[0]
        f1, imparity = chosen["micro_f1"], chosen["imparity_released"]
        rivals = printed[(printed["imparity"] > 0) & (printed["micro_f1"] <= f1)]
        row |= {name: chosen[name] for name in ("strength", "validation_micro_f1", order[0])}
        row |= {"micro_f1": f1, "imparity_released": imparity}
        why = ["its micro F1 is below that of the paper's InfoFair"] if f1 < asked else []
        if not rivals.empty:
            fairest = rivals.loc[rivals["imparity"].idxmin()]
            row |= {"rival": fairest["method"], "rival_imparity": fairest["imparity"]}
            if imparity >= fairest["imparity"]:
                why.append(f"its imparity is not below that of the paper's {fairest['method']}")
        found.append(row | {"holds": "no" if why else "yes", "why": "; ".join(why)})
    return pd.DataFrame(found, columns=TABLES["goal"])


# -- hypervolume ---------------------------------------------------------------------------------


def hypervolumes(runs: pd.DataFrame, summary: pd.DataFrame, references: list[Row]) -> pd.DataFrame:
    """Each method's front on test rows as one figure: by steps, and above the chord.

    Of the mean figures; and the standard deviation over seeds of what each seed's own figures come
    to, at the same strengths and against the same references: vanilla's means, and for each dataset
    and setting the constant predictor's micro F1 and the noise floor.
    """
    test = runs[runs["split"] == "test"].set_index([*PLACE, "method", "strength"]).sort_index()
    beside = {(row["dataset"], row["setting"]): row for row in references}
    of_cell = dict(cells(summary))
    found = []
    for (dataset, setting, method), rows in of_cell.items():
        vanilla = _points(of_cell[dataset, setting, "vanilla"])[0]
        floor, constant = (beside[dataset, setting][n] for n in ("floor", "constant_micro_f1"))
        chosen = front(rows)
        keys = [(dataset, setting, method, strength) for strength in chosen["strength"]]
        of_seeds = [_points(own) for _, own in test.loc[keys].groupby("seed")]
        row: Row = {"dataset": dataset, "setting": setting, "method": method}
        for name, area in {"hypervolume": staircase, "above_chord": above_chord}.items():
            spread = [area(points, vanilla, constant) for points in of_seeds]
            row[name] = area(_points(chosen), vanilla, constant)
            row[f"{name}_std"] = float(np.std(spread, ddof=1)) if spread[1:] else float("nan")
        row |= {"strengths": len(chosen), "vanilla_imparity": vanilla[0]}
        row |= {"vanilla_micro_f1": vanilla[1], "constant_micro_f1": constant, "floor": floor}
        found.append(row)
    return pd.DataFrame(found)


def _points(rows: pd.DataFrame) -> list[Point]:
    return list(zip(rows["imparity"], rows["micro_f1"], strict=True))
