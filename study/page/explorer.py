"""What the explorer of the fronts is given (explorer.js): the rows of results/fronts.csv, and what
results/best.csv chose for its budgets.

For any other budget explorer.js applies the rule of study/offers.py to the former, so that it says
what `python -m study.commands.choose` says; both need the figures with all of their digits.
"""

import json
import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from study import labels, offers, paths
from study.comparison.measured import AIMS, BUDGETS, GAPS, TAKING_PART, needs_s
from study.page.cells import Place
from study.page.compared import Found, places_of
from study.page.words import as_json
from study.results import ON_VALIDATION, PLACE, WITH_WIDTH, Row

NOTIONS = {notion: labels.OF.get(notion, "fair scores") for notion in GAPS}
SCORES = {"micro_f1": "micro F1", "macro_f1": "macro F1", "auc": "AUC"}
UNFAIR = {
    "imparity": "imparity", "largest_gap": "largest gap", "differential_fairness": "ε",
    "ks": "KS", "opportunity_gap": "opportunity gap", "odds_gap": "odds gap",
}  # fmt: skip
NULLS = [f"{gap}_null" for gap in UNFAIR if gap != "differential_fairness"]
COLUMNS = [
    *SCORES, *UNFAIR, *NULLS, *(f"{name}_width" for name in WITH_WIDTH),
    *(f"validation_{name}" for name in ON_VALIDATION), "constant", "selection_rate",
    "parity_ratio", "worst_accuracy",
]  # fmt: skip
RATES = "rates"  # of every group
# of an offer that may be taken, and of one that is only listed
TAKEN = [name for name in offers.COLUMNS if name not in ("worst_accuracy", "kept", "dominated_by")]
LISTED = ["method", "strength", "within", "validation_score", "validation_gap", "score", "gap"]
# drawn until others are asked for
USUAL = ("vanilla", "infofair", labels.FITTED, "dp_gap", "boosting_thresholds", "boosting_blind")
# matplotlib's marks as characters; what is between dollars is one already
MARKS = {
    "o": "●", "v": "▼", "^": "▲", "s": "■", "D": "◆", "P": "✚", "X": "✖", "p": "⬟", "*": "★",
    "H": "⬢", "<": "◀", ">": "▶", "d": "♦", "h": "⬣",
}  # fmt: skip


def facts(found: Found) -> dict[str, Any]:
    """`explorer`, what its controls offer; and `explorer_data`, JSON for its script."""
    fronts = found.tables["fronts"]
    places = places_of(fronts)
    methods = labels.in_order(fronts["method"])
    controls = {
        "places": by_dataset(places, found.attributes),
        "notions": NOTIONS, "scores": SCORES, "unfair": UNFAIR, "methods": methods,
        "usual": [m for m in methods if m in USUAL], "budgets": sorted(BUDGETS),
    }  # fmt: skip
    number = {method: i for i, method in enumerate(methods)}
    data: dict[str, Any] = {
        "methods": described(methods),
        "notions": {
            notion: {"gap": GAPS[notion], "score": AIMS[notion], "rows": TAKING_PART[notion]}
            for notion in NOTIONS
        },
        "names": SCORES | UNFAIR, "columns": [*COLUMNS, RATES], "taken": TAKEN, "listed": LISTED,
        "budgets": list(BUDGETS), "places": {},
    }  # fmt: skip
    by_place = dict(iter(fronts.groupby(PLACE, sort=False)))
    chosen = dict(iter(found.tables["best"].groupby(PLACE, sort=False)))
    for place in places:
        own = offers.records(by_place[place])
        rates = [json.loads(row[RATES] or "{}") for row in own]
        groups = sorted({group for of in rates for group in of})
        data["places"]["/".join(place)] = {
            "name": f"{labels.dataset_name(place[0])}, {found.attributes[place]}",
            "groups": groups,
            "more": groups_at(place) if place[0] in found.params.datasets else "",
            "rows": [
                [*_row(row, number), [of.get(group) for group in groups] if of else None]
                for row, of in zip(own, rates, strict=True)
            ],
            "chosen": {n: _chosen(chosen[place], n, number) for n in NOTIONS},
        }
    return {"explorer": controls, "explorer_data": as_json(data)}


def by_dataset(places: Iterable[Place], attributes: dict[Place, str]) -> dict[str, dict[str, str]]:
    """The settings of each dataset, by the address of a view."""
    shown: dict[str, dict[str, str]] = {}
    for place in places:
        shown.setdefault(place[0], {})["/".join(place)] = attributes[place]
    return shown


def groups_at(place: Place) -> str:
    """Where the rates of every group are, of the models of the paper's table."""
    return f"{paths.INDEX.name}#groups-{place[0]}-{place[1]}"


def described(methods: list[str]) -> list[dict[str, Any]]:
    looks = labels.looks(methods)
    return [
        {
            "id": method, "name": labels.full_method_name(method), "kind": offers.kind(method),
            "s": needs_s(method),
            "random": [notion for notion in NOTIONS if offers.is_random(method, notion)],
            "colour": looks[method].colour,
            "mark": MARKS.get(looks[method].mark) or looks[method].mark.strip("$"),
        }
        for method in methods
    ]  # fmt: skip


def _number(value: float) -> float | int | None:
    if math.isnan(value):
        return None
    return int(value) if value == int(value) else float(value)


def _row(row: Row, number: dict[str, int]) -> list[Any]:
    return [
        number[row["method"]], row["notion"], f"{row['strength']:g}",
        *(_number(row[name]) for name in COLUMNS),
    ]  # fmt: skip


# -- budgets that splits have chosen for ----------------------------------------------------------


def _chosen(best: pd.DataFrame, notion: str, number: dict[str, int]) -> list[dict[str, Any]]:
    """For each of BUDGETS, what may be taken, and what is listed."""
    rows = []
    found = offers.of_budgets(best, notion)
    known = offers.records(found[found["score"].notna()])
    for budget in BUDGETS:
        there = [row for row in known if math.isclose(row["budget"], budget, abs_tol=1e-9)]
        inside = offers.ranked([row for row in there if row["within"] > 0])
        rows.append(
            {
                "taken": [_offer(row, number) for row in candidates(there)],
                "listed": [_listed(row, number) for row in inside],
            }
        )
    return rows


def candidates(there: list[Row]) -> list[Row]:
    """All that `choose` can name, in the order of the table, which has a row for each method.

    Of everything and of what does without s: the best, the best that is trained for fairness, the
    best that is not; or, if nothing is within the budget, the fairest.
    """
    named: set[str] = set()
    for known in (there, [row for row in there if not needs_s(row["method"])]):
        trained = [row for row in known if offers.kind(row["method"]) == "trained"]
        others = [row for row in known if offers.kind(row["method"]) != "trained"]
        found = [*map(offers.recommended, (known, trained, others)), offers.fairest(known)]
        named |= {row["method"] for row in found if row}
    return [row for row in there if row["method"] in named]


def _offer(row: Row, number: dict[str, int]) -> list[Any]:
    figures = [_number(row[name]) for name in TAKEN[2:]]
    return [number[row["method"]], f"{row['strength']:g}", *figures]


def _listed(row: Row, number: dict[str, int]) -> list[Any]:
    figures = [_number(round(row[name], 3)) for name in LISTED[2:]]
    return [number[row["method"]], f"{row['strength']:g}", *figures]
