"""What every method has to offer within a budget of a gap, from the committed tables alone.

For budgets of results/best.csv each split's own validation rows chose the strength there. For any
other there are only the means over splits of results/fronts.csv to choose by, and validation rows
of one split are test rows of another: what is chosen so looks slightly better on test rows than it
is. Either gives one row for each method, with the columns COLUMNS.
"""

import math

import pandas as pd

from study.comparison.dominance import baselines
from study.comparison.measured import AIMS, GAPS, TAKING_PART, is_base, needs_s, split_name
from study.results import Row

# `score` is micro F1 or the AUC, `gap` that of the notion, `chance` the gap that an exactly fair
# predictor exceeds in 5 % of samples; `within` and `kept` are shares of splits, of means 0 or 1.
COLUMNS = [
    "method", "strength", "validation_score", "validation_gap", "score", "score_width", "gap",
    "gap_width", "chance", "worst_accuracy", "within", "kept", "constant", "dominated_by",
]  # fmt: skip
RULES = ("thresholds", "blind", "barycentre")  # on the scores of an unconstrained model


def kind(method: str) -> str:
    """A `base`, a `rule` on a base's scores, or `trained` for fairness."""
    if is_base(method):
        return "base"
    return "rule" if split_name(method)[1] in RULES else "trained"


def is_random(method: str, notion: str) -> bool:
    """Whether a seed draws about some rows: only so groups' odds are equal (study/measure.py)."""
    return notion == "odds" and split_name(method)[1] == "thresholds"


# -- budgets that splits have chosen for ----------------------------------------------------------


def has_budget(best: pd.DataFrame, notion: str, budget: float) -> bool:
    asked = best.loc[best["notion"] == notion, "budget"]
    return any(math.isclose(one, budget, abs_tol=1e-9) for one in asked.unique())


def of_splits(best: pd.DataFrame, notion: str, budget: float) -> pd.DataFrame:
    """From the rows of one dataset and setting in best.csv; in its order."""
    own = of_budgets(best, notion)
    return own.loc[(own["budget"] - budget).abs() <= 1e-9, COLUMNS].reset_index(drop=True)


def of_budgets(best: pd.DataFrame, notion: str) -> pd.DataFrame:
    """The same for every `budget` that best.csv has."""
    score = AIMS[notion]
    names = {score: "score", f"{score}_width": "score_width", "gap_null": "chance"}
    return best[best["notion"] == notion].rename(columns=names)[[*COLUMNS, "budget"]]


# -- any budget -----------------------------------------------------------------------------------


def of_means(fronts: pd.DataFrame, notion: str, budget: float) -> pd.DataFrame:
    """From the rows of one dataset and setting in fronts.csv; in its order.

    Of the strengths whose mean validation gap is within the budget the one with the highest mean
    validation score; if there is none, the one with the smallest gap. Of equals the better one by
    the other figure, then the lower strength.
    """
    figures = _figures(fronts, notion)
    usable: dict[str, list[Row]] = {method: [] for method in figures["method"]}
    known = figures[figures["score"].notna()]
    for row in records(known.sort_values("strength", kind="stable")):
        usable[row["method"]].append(row)
    rows = []
    for method, own in usable.items():
        inside = [row for row in own if row["validation_gap"] <= budget]
        chosen = best_of(inside) or fairest(own) or {"method": method}
        rows.append(chosen | {"within": float(len(inside) > 0)})
    found = pd.DataFrame(rows, columns=COLUMNS)
    found["kept"] = ((found["within"] == 1) & (found["gap"] <= budget)).astype(float)
    found["dominated_by"] = [_dominated_by(row, usable, notion) for row in records(found)]
    return found


def _figures(fronts: pd.DataFrame, notion: str) -> pd.DataFrame:
    """Every strength that competes under the notion; what has no validation figures has none."""
    score, gap = AIMS[notion], GAPS[notion]
    own = fronts[fronts["notion"].isin(TAKING_PART[notion])]
    figures = {
        "score": score, "score_width": f"{score}_width", "validation_score": f"validation_{score}",
        "gap": gap, "gap_width": f"{gap}_width", "validation_gap": f"validation_{gap}",
        "chance": f"{gap}_null",
    }  # fmt: skip
    found = own[["method", "strength", "worst_accuracy", "constant"]].copy()
    for name, of in figures.items():
        found[name] = own.get(of, math.nan)  # of the AUC no width
    lost = found[["score", "gap", "validation_score", "validation_gap"]].isna().any(axis=1)
    return found.assign(score=found["score"].mask(lost))


def _dominated_by(row: Row, usable: dict[str, list[Row]], notion: str) -> str:
    """As in study/comparison/dominance.py, but of means; only the gap and score are compared."""
    found = []
    for baseline in baselines(notion, needs_s(row["method"])):
        rules = usable.get(baseline, [])
        rival = best_of([one for one in rules if one["validation_gap"] <= row["validation_gap"]])
        if rival is None or baseline == row["method"]:
            continue
        if rival["score"] >= row["score"] and rival["gap"] <= row["gap"]:
            found.append(baseline)
    return ",".join(found)


# -- the best of them -----------------------------------------------------------------------------


def records(rows: pd.DataFrame) -> list[Row]:
    return rows.to_dict("records")


def ranked(offers: list[Row]) -> list[Row]:
    """By validation score; of equals the one with the smaller validation gap comes first."""
    return sorted(offers, key=lambda row: (-row["validation_score"], row["validation_gap"]))


def best_of(offers: list[Row]) -> Row | None:
    return next(iter(ranked(offers)), None)


def fairest(offers: list[Row]) -> Row | None:
    """That with the smallest validation gap; of equals the better one, as above."""
    return min(ranked(offers), key=lambda row: row["validation_gap"], default=None)


def recommended(offers: list[Row]) -> Row | None:
    """The best of those within the budget in every split, or else in most; None if in none."""
    most = max((row["within"] for row in offers), default=0)
    return best_of([row for row in offers if row["within"] == most]) if most > 0 else None
