"""The threshold control: does a method do more than say yes less often?

Beside every model stands vanilla with one threshold for all, moved so that it selects as large a
share of the validation rows. It knows no group; what it does to imparity is what a selection rate
does. A method does more where it has less imparity than that, at no less micro F1.
"""

import numpy as np
import pandas as pd

from study.results import CELL, PLACE


def threshold(scores: np.ndarray, count: int) -> float:
    """The t nearest to 0.5 for which `count` scores are above t.

    Where tied scores allow no such t, the nearest possible count, and of two as near the lower:
    rows of one score are selected together or not at all.
    """
    values, tied = np.unique(scores, return_counts=True)
    above = np.append(len(scores), len(scores) - np.cumsum(tied))  # below all values, above each
    chosen = int(np.flatnonzero(np.abs(above - count) == np.abs(above - count).min())[-1])
    edges = np.concatenate([[-np.inf], values.astype(float), [np.inf]])
    low, high = edges[chosen], edges[chosen + 1]  # low <= t < high selects the same
    return float(min(max(0.5, low), np.nextafter(high, -np.inf)))


def moved(scores: dict[str, np.ndarray], validation: np.ndarray) -> dict[str, np.ndarray]:
    """What scores predict, by part, if as many validation rows are selected as in `validation`."""
    t = threshold(scores["validation"], int(np.sum(validation)))
    return {part: of.astype(float) > t for part, of in scores.items()}


def verdicts(runs: pd.DataFrame) -> pd.DataFrame:
    """For each cell with a control, whether the method does more: CELL and `more_than_threshold`.

    "yes" if over seeds, on test rows, imparity is below the control's by more than the standard
    error of the mean difference, and micro F1 is not below it by more than its own. A single fit
    has no standard error, and vanilla is its own control: neither is judged.
    """
    test = runs[(runs["split"] == "test") & (runs["method"] != "vanilla")]
    test = test[test["control_imparity"].notna()]
    differences = test[CELL].assign(
        less=test["control_imparity"] - test["imparity"],
        better=test["micro_f1"] - test["control_micro_f1"],
    )
    of_cells = differences.groupby(CELL, sort=False)
    mean, error = of_cells.mean().round(10), of_cells.sem().round(10)
    yes = (mean["less"] > error["less"]) & (mean["better"] >= -error["better"])
    found = yes.map({True: "yes", False: "no"}).where(error["less"].notna(), "")
    return found.rename("more_than_threshold").astype(str).reset_index()


def more_than_a_threshold(summary: pd.DataFrame) -> pd.DataFrame:
    """How many methods do more than a threshold: one row per dataset and setting.

    `judged` methods have a control and several seeds; `more` of them do more, the `names`. Methods
    that differ from their control where there is no evidence of bias are counted all the same:
    `evidence` says which columns those are.
    """
    means = summary[(summary["protocol"] == "mean") & (summary["more_than_threshold"] != "")]
    rows = []
    for (dataset, setting), cell in means.groupby(PLACE, sort=False):
        better = cell.loc[cell["more_than_threshold"] == "yes", "method"]
        rows.append(
            {
                "dataset": dataset, "setting": setting, "judged": len(cell), "more": len(better),
                "names": ", ".join(better), "evidence": cell["evidence"].iloc[0],
            }
        )  # fmt: skip
    columns = [*PLACE, "judged", "more", "names", "evidence"]
    return pd.DataFrame(rows, columns=columns)
