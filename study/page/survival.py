"""Which conclusions of the paper survive in the honest table: counts over honest_summary.csv."""

from collections.abc import Iterable, Mapping

import pandas as pd

from study import labels
from study.labels import parts, unconstrained
from study.page.cells import Place
from study.results import Row
from study.tables.honest import ALPHA

Rows = dict[str, dict[Place, Row]]  # of the summary, by method and place
LARGE = 0.5  # of vanilla's imparity: a reduction by so much is a large one
FORMS = {  # of InfoFair, each beside a vanilla of the same training
    "infofair": "with the backbone",
    "infofair_paper": "with the paper’s training",
}


def by_method(honest: pd.DataFrame, chosen: Iterable[str]) -> Rows:
    """Of these datasets; without what has no figures, because it diverged."""
    found: Rows = {method: {} for method in labels.in_order(honest["method"])}
    rows = honest[honest["dataset"].isin(list(chosen)) & honest["micro_f1"].notna()]
    for row in rows.to_dict("records"):
        found[row["method"]][row["dataset"], row["setting"]] = row
    return {method: of for method, of in found.items() if of}


def sides(rows: Mapping[Place, Row], figure: str) -> dict[str, list[Place]]:
    """Where a figure is clearly below that of vanilla of the same training, and where above.

    Imparity has a test for all rows together (Holm); of other figures the interval counts. Who
    predicts one class for everybody in some split has not mitigated anything: it is not below.
    """
    found: dict[str, list[Place]] = {"lower": [], "higher": []}
    for place, row in rows.items():
        if figure == "imparity":
            clear = row["p_holm"] < ALPHA and not (row["more_imparity"] < 0 and is_constant(row))
        else:
            clear = row[f"more_{figure}_low"] > 0 or row[f"more_{figure}_high"] < 0
        if clear:
            found["lower" if row[f"more_{figure}"] < 0 else "higher"].append(place)
    return found


def uncorrected(rows: Mapping[Place, Row]) -> dict[str, list[Place]]:
    """The same of imparity before the correction for all rows."""
    return sides(
        {place: row | {"p_holm": row["p_imparity"]} for place, row in rows.items()}, "imparity"
    )


def untold(rows: Mapping[Place, Row]) -> list[Place]:
    """Where imparity is not clearly other than vanilla's, but may well be much lower.

    Its interval, which a correction would make wider, holds a reduction by LARGE of vanilla's. Who
    is constant in some split has not mitigated anything, whatever the interval.
    """
    clear = {place for of in sides(rows, "imparity").values() for place in of}
    return [
        place
        for place, row in rows.items()
        if place not in clear
        and not is_constant(row)
        and row["more_imparity_low"] <= -LARGE * (row["imparity"] - row["more_imparity"])
    ]


def is_constant(row: Row) -> bool:
    """Whether a model that it chose predicts one class for everybody."""
    return bool(row["constant"] > 0)


def matching(rows: Rows, method: str) -> dict[str, Row]:
    """The methods that lower imparity in at least as many settings as this one, and in any.

    Beside the number, the mean change of micro F1 over the settings in which both ran, and whether
    it is no worse than this method's own there. Group thresholds count as a method; what differs
    from one in its training or its terms alone does not.
    """
    lowered = {name: len(sides(of, "imparity")["lower"]) for name, of in rows.items()}
    found = {}
    for name, of in rows.items():
        if unconstrained(name) or name == method or parts(name)[1] not in ("", "thresholds"):
            continue
        shared = [place for place in of if place in rows[method]]
        if shared and lowered[name] >= max(lowered[method], 1):
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


def judged(
    honest: pd.DataFrame, paper: Iterable[str], collapsed: Iterable[str], limit: float
) -> Row | None:
    """What the honest table says of the paper's conclusions; None if InfoFair is not in it.

    paper: the datasets that count. collapsed: the methods that are constant in print. limit: of
    micro F1, what is a small loss.
    """
    rows = by_method(honest, paper)
    forms = {form: judged_form(rows[form], limit) for form in FORMS if form in rows}
    if "infofair" not in forms:
        return None
    return {
        "forms": forms,
        "names": FORMS,
        "matching": matching(rows, "infofair"),
        "collapsed": {m: constant_share(rows[m].values()) for m in collapsed if m in rows},
    }


def judged_form(own: Mapping[Place, Row], limit: float) -> Row:
    """`small`: where the whole interval of micro F1 is above −limit; `untold`: where the splits
    leave open whether imparity is lower, or the loss of micro F1 small."""
    ends = {p: (row["more_micro_f1_low"], row["more_micro_f1_high"]) for p, row in own.items()}
    return {
        "settings": len(own),
        "imparity": sides(own, "imparity"),
        "before": uncorrected(own),
        "micro_f1": sides(own, "micro_f1"),
        "small": [place for place, (low, _) in ends.items() if low >= -limit],
        "untold": {
            "imparity": untold(own),
            "micro_f1": [place for place, (low, high) in ends.items() if low < -limit <= high],
        },
        "changes": [row["more_micro_f1"] for row in own.values()],
        "dominated": [place for place, row in own.items() if row["dominated_by"]],
        "constant": [place for place, row in own.items() if is_constant(row)],
    }
