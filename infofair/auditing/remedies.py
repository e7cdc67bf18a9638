"""What thresholds by group would do to these scores, on rows that they were not chosen on.

The rules of infofair.thresholds: fewest errors among those whose groups differ by at most a
tolerance. They are chosen on all splits but one and tried on that one; without a column of splits,
on five random parts. Rules may be random near a threshold, so what is reported is what to expect.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from infofair.auditing.figures import mean
from infofair.auditing.groups import Setting
from infofair.auditing.rows import Rows
from infofair.metrics import average_gap, spread, sum_of_gaps
from infofair.thresholds import NOTIONS, Curves

TOLERANCES = (0.0, 0.02, 0.05, 0.1, 0.2)
CHOSEN = 0.05  # what the page looks at more closely
FOLDS = 5
LEVELS = 1_000  # thresholds that are tried, at most


@dataclass(frozen=True)
class Outcome:
    """What decisions, or chances of being selected, amount to."""

    rates: dict[str, np.ndarray]  # rate, tpr, fpr -> of each group
    accuracies: np.ndarray  # of each group
    accuracy: float
    selection_rate: float

    @classmethod
    def of(cls, chance: np.ndarray, rows: Rows, setting: Setting) -> "Outcome":
        right = np.where(rows.y == 1, chance, 1 - chance)
        groups, w = setting.groups, rows.weights

        def by_group(values: np.ndarray, among: np.ndarray) -> np.ndarray:
            own = None if w is None else w[among]
            return mean(values[among], setting.group[among], groups, own)

        everyone = np.ones(len(chance), bool)
        return cls(
            rates={
                "rate": by_group(chance, everyone),
                "tpr": by_group(chance, rows.y == 1),
                "fpr": by_group(chance, rows.y == 0),
            },
            accuracies=by_group(right, everyone),
            accuracy=float(np.average(right, weights=w)),
            selection_rate=float(np.average(chance, weights=w)),
        )

    def gap(self, notion: str) -> float:
        """The largest gap of what a notion compares."""
        return max(spread(self.rates[moment]) for moment in NOTIONS[notion])

    def described(self, notion: str) -> dict[str, float]:
        rates = self.rates["rate"]
        return {
            "gap": self.gap(notion),
            "accuracy": self.accuracy,
            "imparity": float(average_gap(sum_of_gaps(rates), len(rates))),
            "selection_rate": self.selection_rate,
        }


def remedy(rows: Rows, setting: Setting, notion: str, seed: int) -> dict[str, Any]:
    """The model as it is, thresholds at every tolerance, and the groups before and after."""
    assert rows.score is not None and rows.decision is not None
    before = Outcome.of(rows.decision.astype(float), rows, setting)
    after = {
        tolerance: Outcome.of(chance, rows, setting)
        for tolerance, chance in _cross_validated(rows, setting, notion, seed).items()
    }
    chosen = after[CHOSEN]
    moment = NOTIONS[notion][0]
    groups = [
        {
            "name": name,
            "rate_before": float(before.rates[moment][g]),
            "rate_after": float(chosen.rates[moment][g]),
            "accuracy_before": float(before.accuracies[g]),
            "accuracy_after": float(chosen.accuracies[g]),
        }
        for g, name in enumerate(setting.names)
    ]
    return {
        "notion": notion,
        "compared": moment,
        "before": before.described(notion),
        "front": [{"tolerance": t, **of.described(notion)} for t, of in after.items()],
        "chosen": CHOSEN,
        "cost_in_accuracy": before.accuracy - chosen.accuracy,
        "groups": groups,
        "extremes": {
            key: _extremes(groups, key)
            for key in ("rate_before", "rate_after", "accuracy_before", "accuracy_after")
        },
    }


def _extremes(groups: list[dict[str, Any]], key: str) -> dict[str, Any]:
    ordered = sorted(groups, key=lambda group: group[key])
    return {
        "worst": ordered[0]["name"],
        "worst_value": ordered[0][key],
        "best": ordered[-1]["name"],
        "best_value": ordered[-1][key],
    }


def _cross_validated(
    rows: Rows, setting: Setting, notion: str, seed: int
) -> dict[float, np.ndarray]:
    """Tolerance -> every row's chance of being selected, by a rule that has not seen it."""
    assert rows.score is not None
    score, group = _levels(rows.score), setting.group
    folds = rows.splits
    if folds is None:
        folds = np.random.default_rng(seed).permutation(len(score)) % FOLDS
    found = {tolerance: np.empty(len(score)) for tolerance in TOLERANCES}
    for fold in np.unique(folds):
        own = folds == fold
        curves = Curves.of(score[~own], rows.y[~own], group[~own], setting.groups)
        for tolerance, chance in found.items():
            rule = curves.rule(notion, tolerance)
            chance[own] = rule.probability(score[own], group[own])
    return found


def _levels(score: np.ndarray) -> np.ndarray:
    """Scores, many different ones as their quantiles: as many thresholds as are of use."""
    distinct = np.unique(score)
    if len(distinct) <= LEVELS:
        return score
    grid = np.unique(np.quantile(score, np.linspace(0, 1, LEVELS)))
    return grid[np.searchsorted(grid, score, side="right") - 1]
