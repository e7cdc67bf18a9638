"""Fair scores, not decisions: AUC, KS, ABCC and held-out bits at the operating points."""

from typing import Any

import pandas as pd

from study import labels
from study.labels import FITTED, needs_s, parts, trained_to_be_fair
from study.page.cells import Place
from study.page.compared import Found, of_methods
from study.page.grid import Grid
from study.page.words import NONE
from study.results import Row
from study.tables.layout import number

SHOWN = {
    "AUC / KS": ("auc", "ks"),
    "ABCC / bits": ("abcc", "bits"),
}


def facts(found: Found) -> dict[str, Any]:
    of = found.honest[found.honest["ks"].notna()]
    chance = of[of["ks"] <= of["ks_null"]]
    own = of_methods(of, lambda method: trained_to_be_fair(method) and needs_s(method))
    fair = of_methods(of, lambda method: parts(method)[1] == "barycentre")
    bits = of.groupby("method", sort=False)["bits"].median()
    beside: dict[Place, list[Row]] = {}
    for row in fair.to_dict("records"):
        beside.setdefault((row["dataset"], row["setting"]), []).append(row)
    named = ("vanilla", "infofair", FITTED, *labels.in_order(fair["method"]))
    return {
        "scores": {
            "rows": len(own),
            "dominated": sum(_dominated(row, beside) for row in own.to_dict("records")),
            "dominating": sum(_dominating(row, beside) for row in own.to_dict("records")),
            "fair": len(fair),
            "tested": int(of["ks_null"].notna().sum()),
            "by_chance": list(chance["method"]),
            "chance_of": _counted(chance["method"]),
            "bits": {m: float(bits[m]) for m in named if m in bits and not pd.isna(bits[m])},
            "grids": {name: grid(found, of, name, *names) for name, names in SHOWN.items()},
        }
    }


def _dominated(row: Row, fair: dict[Place, list[Row]]) -> bool:
    """Whether a barycentre of the cell has no less AUC and no more KS on test rows."""
    others = fair.get((row["dataset"], row["setting"]), [])
    return any(of["auc"] >= row["auc"] and of["ks"] <= row["ks"] for of in others)


def _dominating(row: Row, fair: dict[Place, list[Row]]) -> bool:
    """Whether it has more AUC and less KS than one of them."""
    others = fair.get((row["dataset"], row["setting"]), [])
    return any(of["auc"] < row["auc"] and of["ks"] > row["ks"] for of in others)


def _counted(names: "pd.Series[str]") -> str:
    """How many rows of each method."""
    counts = names.value_counts()
    return ", ".join(f"{labels.full_method_name(m)} {counts[m]}" for m in labels.in_order(names))


def grid(found: Found, of: pd.DataFrame, name: str, first: str, second: str) -> Grid:
    def text(row: Row) -> str:
        shown = [number(row[figure]) for figure in (first, second)]
        mark = "≈" * (second == "ks" and row["ks"] <= row["ks_null"])
        return NONE if shown == [NONE, NONE] else " / ".join(shown) + mark

    said = {
        "ks": "KS: the largest distance, over groups, of the distributions of their scores. "
        "≈: no more than 95 of 100 permutations of the groups have, which is chance",
        "bits": "ABCC: the area between these distributions. Bits: what the score tells of the "
        "group, by a classifier that was fitted on validation rows; at most the truth on average, "
        "and it may be below 0",
    }[second]
    return found.by_method(
        of,
        text,
        f"Scores, {name}",
        f"{name} of the scores on test rows, at the operating points, means over splits. {said}.",
    )
