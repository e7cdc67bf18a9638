"""Fair scores: every group's distribution becomes their Wasserstein barycentre.

Jiang et al., "Wasserstein Fair Classification", UAI 2020; Chzhen et al., "Fair Regression with
Wasserstein Barycenters", NeurIPS 2020, for the estimate by quantiles; Chzhen and Schreuder, "A
minimax framework for quantifying risk-fairness trade-off in regression", Annals of Statistics 2022,
for going part of the way. A score v of group g becomes

    fair(v) = Σ_h share_h Q_h(F_g(v)),     F distribution and Q quantile functions,

the scores with equal distributions in all groups that are nearest to the given ones in mean square:
in one dimension the barycentre's quantiles are the mean of the groups' quantiles. With `amount` a
the score is (1 − a) v + a fair(v), which is optimal, too: groups are then (1 − a) as far apart in
W₂ as before, and no scores as close to one another are nearer to the given ones.

F_g has a fitted score's mid-rank, (rows below + half the rows that have it) / rows, is 0 at the
least score there can be and 1 at the largest, which of probabilities are 0 and 1, and is linear in
between; Q_g is its inverse. So groups that are alike are left alone, the
order within a group stays, there is no noise, and new scores need not be among the fitted ones. On
the fitted rows two groups differ in KS by at most half a row of each; rows of a group that share a
score move together, and count as one.
"""

from dataclasses import dataclass

import numpy as np

from infofair.errors import Problem


@dataclass(frozen=True)
class Barycentre:
    """For every group its scores and their ranks (none without rows), and its share of the rows."""

    values: list[np.ndarray]
    ranks: list[np.ndarray]
    shares: np.ndarray

    @classmethod
    def of(
        cls, scores: np.ndarray, group: np.ndarray, groups: int, *,
        between: tuple[float, float] = (0.0, 1.0),
    ) -> "Barycentre":  # fmt: skip
        """Of these rows, validation rows say; scores are within `between`."""
        scores = np.asarray(scores, float)
        low, high = between
        if not ((scores >= low) & (scores <= high)).all():
            found = f"{scores.min()} to {scores.max()}"
            raise Problem(f"scores: expected numbers between {low:g} and {high:g}, found {found}")
        each = [_ranked(scores[group == g], between) for g in range(groups)]
        sizes = np.bincount(group, minlength=groups)
        shares = sizes / max(sizes.sum(), 1)
        return cls([values for values, _ in each], [ranks for _, ranks in each], shares)

    def transform(self, scores: np.ndarray, group: np.ndarray, amount: float = 1.0) -> np.ndarray:
        """Fair scores, or `amount` of the way; unchanged in a group without fitted ones."""
        if not 0 <= amount <= 1:
            raise Problem(f"amount = {amount}: expected a number between 0 and 1")
        scores = np.asarray(scores, float)
        fair = scores.copy()
        for g in np.flatnonzero(self.shares):
            rows = group == g
            fair[rows] = self._quantile(np.interp(scores[rows], self.values[g], self.ranks[g]))
        return (1 - amount) * scores + amount * fair

    def _quantile(self, ranks: np.ndarray) -> np.ndarray:
        """Σ_h share_h Q_h of some ranks."""
        found = np.zeros(len(ranks))
        for h in np.flatnonzero(self.shares):
            found += self.shares[h] * np.interp(ranks, self.ranks[h], self.values[h])
        return found


def _ranked(scores: np.ndarray, between: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Distinct scores, rising, and their mid-ranks between 0 and 1; with both ends."""
    if not len(scores):
        return np.empty(0), np.empty(0)
    values, counts = np.unique(scores, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2) / len(scores)
    # a score that is an end itself has half its rows beyond it: nothing to add there
    low = [(between[0], 0.0)] if values[0] > between[0] else []
    high = [(between[1], 1.0)] if values[-1] < between[1] else []
    ends = np.array([*low, *zip(values, ranks, strict=True), *high])
    return ends[:, 0], ends[:, 1]
