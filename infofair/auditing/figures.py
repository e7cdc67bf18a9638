"""Rates of every group, with 95 % intervals; weighted, if rows have weights.

Weights are sampling weights, not counts. What chance does to a weighted rate is judged by Kish's
effective number of rows, (Σ w)² / Σ w²: the rows of equal weight that would tell as much.
"""

from dataclasses import dataclass

import numpy as np

from infofair.auditing.groups import Setting
from infofair.auditing.rows import Rows

Z = 1.959963984540054  # of a 95 % interval


@dataclass(frozen=True)
class Shares:
    """Successes in trials, group by group; of weighted rows, what effective trials would have."""

    rates: np.ndarray
    trials: np.ndarray
    sums: np.ndarray  # of weights: which share of all rows each group is
    weighted: bool

    @classmethod
    def of(
        cls,
        success: np.ndarray,
        group: np.ndarray,
        groups: int,
        weights: np.ndarray | None,
        among: np.ndarray | None = None,
    ) -> "Shares":
        """success: 0/1 of every row; among: the rows that count."""
        kept = slice(None) if among is None else among
        own, here = success[kept], group[kept]
        w = None if weights is None else weights[kept]
        sums = np.bincount(here, w, groups).astype(float)
        hits = np.bincount(here, own if w is None else own * w, groups)
        trials = sums
        if w is not None:
            squares = np.bincount(here, w**2, groups)
            trials = np.divide(sums**2, squares, out=np.zeros(groups), where=squares > 0)
        rates = np.divide(hits, sums, out=np.full(groups, np.nan), where=sums > 0)
        return cls(rates, trials, sums, w is not None)

    @property
    def overall(self) -> float:
        return float(np.nansum(self.rates * self.sums) / self.sums.sum())

    @property
    def parts(self) -> np.ndarray:
        """Each group's part of all rows."""
        return self.sums / self.sums.sum()

    def intervals(self) -> np.ndarray:
        """Wilson's, groups × (low, high): they hold for small groups and rates near 0 and 1."""
        n, p = self.trials, self.rates
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
            half = Z / (1 + Z**2 / n) * np.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
        return np.clip(np.column_stack([middle - half, middle + half]), 0, 1)


@dataclass(frozen=True)
class Figures:
    """What is known of every group of a setting, in a classification."""

    rows: np.ndarray  # how many, whatever their weights
    selection_rate: Shares
    tpr: Shares
    fpr: Shares
    accuracy: Shares
    positives: Shares  # the label's rate
    mean_score: np.ndarray | None

    @classmethod
    def of(cls, rows: Rows, setting: Setting) -> "Figures":
        return cls.among(rows, setting.group, setting.groups)

    @classmethod
    def among(cls, rows: Rows, group: np.ndarray, groups: int) -> "Figures":
        assert rows.decision is not None
        y, d, w = rows.y, rows.decision, rows.weights
        scores = None if rows.score is None else mean(rows.score, group, groups, w)
        return cls(
            rows=np.bincount(group, minlength=groups),
            selection_rate=Shares.of(d, group, groups, w),
            tpr=Shares.of(d, group, groups, w, y == 1),
            fpr=Shares.of(d, group, groups, w, y == 0),
            accuracy=Shares.of(d == y, group, groups, w),
            positives=Shares.of(y, group, groups, w),
            mean_score=scores,
        )

    def calibration(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The label's rate − the mean score, and the interval of that rate moved alike.

        Above 0, a group does better than its scores say. The scores are taken as given; their own
        chance makes the interval of a calibrated score too wide, never too narrow.
        """
        if self.mean_score is None:
            return None
        moved = self.positives.intervals() - self.mean_score[:, None]
        return self.positives.rates - self.mean_score, moved


def mean(
    values: np.ndarray, group: np.ndarray, groups: int, weights: np.ndarray | None
) -> np.ndarray:
    """The (weighted) mean of each group."""
    sums = np.bincount(group, weights, groups)
    total = np.bincount(group, values if weights is None else values * weights, groups)
    return np.divide(total, sums, out=np.full(groups, np.nan), where=sums > 0)
