"""Gaps of true (and false) positive rates, and thresholds by group, which are the rival to beat.

Rates are compared over groups with at least FEWEST positives (or negatives) among the test rows.
Thresholds for equalised odds are random between two thresholds of a group, as no others can have
both rates: what they decide is drawn once for all rows.
"""

import numpy as np

from infofair import metrics
from infofair.framework.sensitive import Part
from infofair.thresholds import Curves
from study.general.study import Figures, Measured, Outputs, Rows, Rule

FEWEST = 20
TOLERANCES = (0.1, 0.03, 0.0)  # of thresholds


class Thresholds:
    """By group, with the tolerance for gaps of the notion's rates; random if they have to be."""

    def __init__(self, notion: str, *, random: bool = False) -> None:
        self.notion, self.random = notion, random

    def __call__(self, outputs: Outputs, rows: Rows, tolerance: float) -> Outputs:
        (fitted,), y = rows.s("validation"), rows.at("validation")
        curves = Curves.of(outputs["validation"], y, fitted.g, fitted.groups)
        rule = curves.rule(self.notion, tolerance, random=self.random)
        found = {}
        for seed, part in enumerate(("validation", "test")):
            (asked,) = rows.s(part)
            found[part] = rule.decide(outputs[part], asked.g, seed).astype(float)
        return found


def rates(decided: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
    """The share of rows that are selected, of every group with enough of them."""
    members = np.bincount(group, minlength=count)
    kept = members >= FEWEST
    return np.bincount(group, decided, count)[kept] / members[kept]


def gap(rates: np.ndarray) -> float:
    return float(np.ptp(rates)) if len(rates) else 0.0


def mean_gap(rates: np.ndarray) -> float:
    """Over pairs: it does not grow with the number of groups, as the largest gap does."""
    return float(metrics.average_gap(metrics.sum_of_gaps(rates), len(rates)))


def figures(outputs: Outputs, rows: Rows) -> Figures:
    return {"micro_f1": float(((outputs["test"] > 0.5) == rows.at("test")).mean())}


def gaps(outputs: Outputs, rows: Rows, parts: list[Part]) -> Figures:
    (part,) = parts
    y, decided = rows.at("test"), (outputs["test"] > 0.5).astype(int)
    tpr, fpr = (rates(decided[y == c], part.g[y == c], part.groups) for c in (1, 0))
    return {
        "opportunity_gap": gap(tpr),
        "opportunity_mean_gap": mean_gap(tpr),
        "opportunity_sd": float(tpr.std()) if len(tpr) else 0.0,
        "odds_gap": max(gap(tpr), gap(fpr)),
        "imparity": metrics.imparity(decided, part.g, part.groups),
    }


MEASURED = Measured(
    figures,
    gaps,
    rules={
        "thresholds_opportunity": Rule(Thresholds("opportunity"), TOLERANCES),
        "thresholds_odds": Rule(Thresholds("odds", random=True), TOLERANCES),
    },
)
