"""The same thresholds on every method's scores: what training added beyond its base.

Methods are compared at the same tolerance, with means on test rows; nothing is chosen.
"""

from typing import Any

import pandas as pd

from study import labels
from study.labels import trained_to_be_fair
from study.page.compared import Found, of_methods
from study.page.grid import Grid, figures, texts
from study.results import PLACE, Row
from study.tables.layout import number

AGAINST = ("vanilla", "boosting")  # the networks' base, and the strongest
SHOWN = 0.05  # the tolerance of the table by cell
ANY = ("ahead", "behind", "neither")


def facts(found: Found) -> dict[str, Any]:
    rules = found.tables["unprocessed"]
    parity = rules[rules["notion"] == "parity"]
    tolerances = sorted(set(parity["tolerance"]))
    shown = min(tolerances, key=lambda t: abs(t - SHOWN)) if tolerances else SHOWN
    counts = {base: standing(parity, base) for base in AGAINST}
    return {
        "rules": {
            "tolerances": tolerances,
            "totals": {base: totals(of) for base, of in counts.items() if of},
            "standing": standing_grid(counts),
            "grids": {
                name: found.by_method(
                    rules[(rules["notion"] == notion) & (rules["tolerance"] == shown)],
                    _text(gap),
                    f"Thresholds on every method’s scores, {name}",
                    f"{name[0].upper()}{name[1:]}: micro F1 / {said} on test rows, means over "
                    f"splits, of group thresholds with a tolerance of {shown:g} on validation "
                    "rows, on the scores of every method at its operating point.",
                )
                for notion, name, gap, said in (
                    ("parity", "statistical parity", "imparity", "imparity"),
                    ("opportunity", "equal opportunity", "opportunity_gap", "opportunity gap"),
                    ("odds", "equalised odds", "odds_gap", "odds gap"),
                )
            },
        }
    }


def _text(gap: str) -> Any:
    def text(row: Row) -> str:
        return f"{number(row['micro_f1'])} / {number(row[gap])}"

    return text


def standing(parity: pd.DataFrame, base: str) -> dict[str, dict[str, int]]:
    """Of each method that was trained to be fair, over cells and tolerances: how it stands.

    Ahead of the base with the same thresholds: no less micro F1 and no more imparity, and one of
    both strictly; behind: the other way round.
    """
    keys = [*PLACE, "tolerance"]
    theirs = parity.loc[parity["method"] == base, [*keys, "micro_f1", "imparity"]]
    both = parity.merge(theirs, on=keys, suffixes=("", "_base"))
    both = of_methods(both, trained_to_be_fair)
    f1, gap = (both[name] - both[f"{name}_base"] for name in ("micro_f1", "imparity"))
    same = (f1 == 0) & (gap == 0)
    sides = pd.Series("neither", both.index)
    sides = sides.mask((f1 >= 0) & (gap <= 0) & ~same, "ahead")
    sides = sides.mask((f1 <= 0) & (gap >= 0) & ~same, "behind")
    counts: dict[str, dict[str, int]] = {}
    for method, of in sides.groupby(both["method"], sort=False):
        counts[str(method)] = {kind: int((of == kind).sum()) for kind in ANY}
    return counts


def totals(counts: dict[str, dict[str, int]]) -> dict[str, int]:
    return {kind: sum(of[kind] for of in counts.values()) for kind in ANY}


def standing_grid(counts: dict[str, dict[str, dict[str, int]]]) -> Grid:
    columns = texts("Method")
    for base in AGAINST:
        columns += figures(*ANY, group=f"Against {labels.method_name(base)}")
    rows = []
    for method in labels.in_order(m for of in counts.values() for m in of):
        cells = []
        for base in AGAINST:
            of = counts[base].get(method)
            cells += [str(of[kind]) if of else "" for kind in ANY]
        rows.append([labels.full_method_name(method), *cells])
    return Grid(
        "What training added",
        "Cells and tolerances in which a method’s scores with group thresholds have no less micro "
        "F1 and no more imparity on test rows than a base’s with the same tolerance (ahead), the "
        "other way round (behind), or neither.",
        columns,
        rows,
    )
