"""Which conclusions of the paper survive in the honest table: counts over honest_summary.csv."""

from collections.abc import Iterable, Mapping

import pandas as pd

from study import labels
from study.page.cells import Place
from study.results import Row

Rows = dict[str, dict[Place, Row]]  # of the summary, by method and place
FITTED = "infofair_fitted"


def by_method(honest: pd.DataFrame, chosen: Iterable[str]) -> Rows:
    """Of these datasets; without what diverged."""
    found: Rows = {method: {} for method in labels.in_order(honest["method"])}
    rows = honest[honest["dataset"].isin(list(chosen)) & (honest["diverged"] == 0)]
    for row in rows.to_dict("records"):
        found[row["method"]][row["dataset"], row["setting"]] = row
    return {method: of for method, of in found.items() if of}


def sides(rows: Mapping[Place, Row], figure: str) -> dict[str, list[Place]]:
    """Where the whole interval of a figure's difference from vanilla is below 0, where above."""
    ends = {p: (row[f"more_{figure}_low"], row[f"more_{figure}_high"]) for p, row in rows.items()}
    return {
        "lower": [place for place, (_, high) in ends.items() if high < 0],
        "higher": [place for place, (low, _) in ends.items() if low > 0],
    }


def matching(rows: Rows, method: str) -> dict[str, Row]:
    """The methods that lower imparity in at least as many settings as this one, and in any.

    Beside the number, the mean change of micro F1 over the settings in which both ran, and whether
    it is no worse than this method's own there.
    """
    lowered = {name: len(sides(of, "imparity")["lower"]) for name, of in rows.items()}
    found = {}
    for name, of in rows.items():
        shared = [place for place in of if place in rows[method]]
        if name not in ("vanilla", method) and shared and lowered[name] >= max(lowered[method], 1):
            mean, own = (
                sum(rows[m][place]["more_micro_f1"] for place in shared) / len(shared)
                for m in (name, method)
            )
            found[name] = {
                "lowered": lowered[name], "settings": len(of), "more_micro_f1": mean,
                "no_dearer": mean >= own,
            }  # fmt: skip
    return found


def constant_share(rows: Iterable[Row]) -> float:
    """Of all models, of every split and seed."""
    models = [(row["splits"] * row["seeds"], row["constant"]) for row in rows]
    return sum(n * share for n, share in models) / sum(n for n, _ in models)


def beside(rows: Rows, method: str, other: str) -> list[Row]:
    """One method against another in each setting that both have.

    `better`: lower mean imparity at no lower mean micro F1; `clearly`: the intervals of their
    differences from vanilla in imparity do not overlap, and its own is the lower.
    """
    found = []
    for place, row in rows.get(method, {}).items():
        if theirs := rows.get(other, {}).get(place):
            lower = row["imparity"] < theirs["imparity"]
            found.append(
                {
                    "place": place, "row": row, "other": theirs, "lower": lower,
                    "better": lower and row["micro_f1"] >= theirs["micro_f1"],
                    "clearly": row["more_imparity_high"] < theirs["more_imparity_low"],
                }
            )  # fmt: skip
    return found


def judged(honest: pd.DataFrame, paper: Iterable[str], collapsed: Iterable[str]) -> Row | None:
    """What the honest table says of the paper's conclusions; None if InfoFair is not in it.

    paper: the datasets that count. collapsed: the methods that are constant in print.
    """
    rows = by_method(honest, paper)
    if not (own := rows.get("infofair")):
        return None
    return {
        "settings": len(own),
        "imparity": sides(own, "imparity"),
        "micro_f1": sides(own, "micro_f1"),
        "changes": [row["more_micro_f1"] for row in own.values()],
        "matching": matching(rows, "infofair"),
        "collapsed": {m: constant_share(rows[m].values()) for m in collapsed if m in rows},
        "fitted": beside(rows, FITTED, "infofair"),
        "fitted_lower": len(sides(rows.get(FITTED, {}), "imparity")["lower"]),
    }
