"""Disparities between groups, of one audit or of many draws at a time.

Rates come as … × groups, all groups having rows; infofair.metrics has the same for rows. A measure
of selection rates also sees the groups' trials (ε smooths by them) and parts of all rows (bits).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from infofair.auditing.figures import Shares
from infofair.metrics import SMOOTHING, average_gap, sum_of_gaps

FOUR_FIFTHS = 0.8
CHUNK = 1 << 21  # scores × groups at a time

Measure = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # rates, trials, parts


def imparity(rates: np.ndarray, trials: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """The paper's: the mean |r₁ − r₂| over pairs of groups."""
    return average_gap(sum_of_gaps(rates), rates.shape[-1])


def largest_gap(rates: np.ndarray, trials: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """max r − min r."""
    return np.ptp(rates, axis=-1)


def parity_ratio(rates: np.ndarray, trials: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """min r / max r; 1 if nobody is selected."""
    highest = rates.max(axis=-1)
    found = np.ones_like(highest)
    return np.divide(rates.min(axis=-1), highest, out=found, where=highest > 0)


def differential_fairness(rates: np.ndarray, trials: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """ε in nats, of rates that are smoothed by one more row of each class in every group."""
    logs = [np.log((r * trials + SMOOTHING) / (trials + 2 * SMOOTHING)) for r in (rates, 1 - rates)]
    return np.maximum(*(np.ptp(of, axis=-1) for of in logs))


def mutual_information(rates: np.ndarray, trials: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """I(ŷ; s) = H(ŷ) − H(ŷ | s) in bits."""

    def entropy(r: np.ndarray) -> np.ndarray:
        return entr(r) + entr(np.maximum(1 - r, 0))

    nats = entropy(np.minimum(rates @ parts, 1)) - entropy(rates) @ parts
    return np.maximum(nats, 0) / np.log(2)


# what is measured of selection rates; the lower parity ratio is the worse one, of others the higher
SELECTION: dict[str, Measure] = {
    "imparity": imparity,
    "largest_gap": largest_gap,
    "parity_ratio": parity_ratio,
    "differential_fairness": differential_fairness,
    "mutual_information": mutual_information,
}
LOWER_IS_WORSE = ("parity_ratio",)


def of_shares(measure: Measure, shares: Shares) -> float:
    return float(measure(shares.rates, shares.trials, shares.parts))


# -- scores ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curves:
    """KS and ABCC, gathered while a threshold rises from one score to the next."""

    highest: np.ndarray  # the largest gap so far, of each draw
    area: np.ndarray  # ∫ Σ |F_g − F_h| dt so far

    @classmethod
    def of(cls, draws: int) -> "Curves":
        return cls(np.zeros(draws), np.zeros(draws))

    def pass_by(self, below: np.ndarray, width: float) -> None:
        """below: draws × groups, F_g between this score and the next, which is so far away."""
        np.maximum(self.highest, np.ptp(below, axis=-1), out=self.highest)
        self.area[:] += sum_of_gaps(below) * width


def score_gaps(
    score: np.ndarray, group: np.ndarray, groups: int, weights: np.ndarray | None = None
) -> tuple[float, float]:
    """KS: max |F_g(t) − F_h(t)| over thresholds and pairs; ABCC: its mean area over pairs.

    As infofair.scores has them, for weighted rows, too, and for a million rows of a hundred groups:
    chunk by chunk of the sorted scores.
    """
    order = np.argsort(score, kind="stable")
    values, own = score[order], group[order]
    w = np.ones(len(score)) if weights is None else weights[order]
    total = np.bincount(own, w, groups)
    last = np.append(values[1:] != values[:-1], True)  # of the rows with one score
    width = np.append(np.diff(values), 0.0)
    ks = area = 0.0
    below = np.zeros(groups)
    for part in _chunks(len(score), groups):
        counted = np.zeros((len(values[part]), groups))
        counted[np.arange(len(counted)), own[part]] = w[part]
        counted = np.cumsum(counted, axis=0) + below
        below = counted[-1]
        curves = counted[last[part]] / total
        if len(curves):
            ks = max(ks, float(np.ptp(curves, axis=1).max()))
            area += float(sum_of_gaps(curves) @ width[part][last[part]])
    return ks, float(average_gap(area, groups))


def _chunks(rows: int, groups: int) -> Iterator[slice]:
    step = max(CHUNK // groups, 1)
    return (slice(start, start + step) for start in range(0, rows, step))
