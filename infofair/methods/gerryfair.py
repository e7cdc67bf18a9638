"""GerryFair: similar false positive rates in every group that a linear threshold can cut out.

Kearns, Neel, Roth and Wu, "Preventing Fairness Gerrymandering: Auditing and Learning for Subgroup
Fairness", ICML 2018; FairFictPlay, for false positives. A randomised classifier D, with
FP(D) = E[D(x) | y = 0], is γ-fair if no group g of the sensitive attributes has a

    violation  α_FP(g) β_FP(g, D) = Pr[g(x) = 1, y = 0] · |FP(D) − FP(D, g)|  above γ.

Learner and Auditor play a zero-sum game. In round t each answers the average of the other so far:

    Learner   h_t minimises Σᵢ cᵢ h(xᵢ), the costs of saying 1:  cᵢ = −1/n for a positive,
              cᵢ = 1/n + 1/n avg_{τ<t} λ_τ (Pr[g_τ | y = 0] − g_τ(xᵢ)) for a negative
    Auditor   g_t has the largest violation it can find for D_t = avg_{τ≤t} h_τ;
              λ_t = C if that is at least γ, else 0

Both answer by linear regression: of the costs on the features, h_t(x) = 1 where the fit is below 0;
and, on the negatives, of D_t(x) − FP(D_t) on the attributes, g_t(x) = 1 where the fit is below 0,
which is a group with few false positives. (The released code also fits FP(D_t) − D_t(x). That is
the complement of g_t. Deviations from the mean sum to zero, so it has the same violation, and with
λ's sign reversed the same costs; which of the two is reported there is decided by rounding.)

The model is D_T, the share of rounds that say 1. T = `rounds`, or less: as in the released code,
play stops after a round t ≥ 5 with violation < γ and exactly the error (of D_t, E|D_t(x) − y|) or
the violation of the round before. The released code says 1 where D_T ≥ 1/2, our evaluation where
D_T > 1/2; that differs on ties, which an even T has and an odd one, as by default, has not. Either
way it is D_T that is made fair, not the classifier cut from it.

The official code (also in AIF360) has a mistake here put right: the Auditor's update of the costs
resets its counter of negatives in every pass of the loop, so that all negatives get the first
negative's g_t(x), and the result depends on the order of the rows.
"""

from typing import ClassVar

import numpy as np
from scipy.linalg import pinv

from infofair.methods.base import Fit, Problem, Solver, Task, knob

FEWEST_ROUNDS = 5  # before play may stop


class Regression:
    """Linear regression on the same rows X for one target after another."""

    def __init__(self, X: np.ndarray) -> None:
        self.centre = X.mean(0)
        self.inverse = pinv(X - self.centre)  # one-hot columns: not of full rank

    def fit(self, target: np.ndarray) -> tuple[np.ndarray, float]:
        """Weights, the smallest that fit best, and intercept."""
        mean = target.mean()
        weights = self.inverse @ (target - mean)
        return weights, float(mean - self.centre @ weights)


def below(X: np.ndarray, fitted: tuple[np.ndarray, float]) -> np.ndarray:
    """Where the fit is below 0: whom a classifier says 1 to, who is a group's member."""
    weights, intercept = fitted
    return X @ weights + intercept < 0


def audit(D: np.ndarray, attributes: np.ndarray, regression: Regression) -> np.ndarray:
    """g, the group: which of the negatives, whose D and attributes these are, are its members."""
    return below(attributes, regression.fit(D - D.mean()))


def violation(D: np.ndarray, members: np.ndarray, n: int) -> float:
    """α β of the group, from the negatives' D: |Σ_{i ∈ g} D(xᵢ) − FP(D)| / n."""
    return float(abs((D - D.mean())[members].sum()) / n)


def costs(negative: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """c, given the average of λ (Pr[g | y = 0] − g(xᵢ)) for each negative."""
    c = np.where(negative, 1.0, -1.0)
    c[negative] += penalty
    return c / len(c)


class GerryFair(Solver):
    C: float = knob(10.0, gt=0, source="bound on the auditor's dual variables; released default")
    gamma: float = knob(0.01, ge=0, source="violation that is tolerated; released default")
    rounds: int = knob(9, ge=1, source="at most; released default: max_iters=10, which is 9")

    random = False
    strength = "gamma"
    regression: ClassVar[type[Regression]] = Regression  # of both players

    def pull(self, members: np.ndarray) -> np.ndarray:
        """Pr[g | y = 0] − g(xᵢ) for each negative."""
        return members.mean() - members

    def fit(self, task: Task, seed: int) -> Fit:
        X, y = task.X["train"], task.y["train"]
        n, negative = len(y), y == 0
        if not negative.any():
            raise Problem(
                "GerryFair: no training row of class 0, whose false positives it compares"
            )
        attributes = task.attributes["train"][negative]
        learner, auditor = self.regression(X), self.regression(attributes)
        votes, penalty = np.zeros(n), np.zeros(len(attributes))
        classifiers, log = [], []
        for t in range(1, self.rounds + 1):
            classifiers.append(learner.fit(costs(negative, penalty)))
            votes += below(X, classifiers[-1])
            D = votes / t
            members = audit(D[negative], attributes, auditor)
            found = violation(D[negative], members, n)
            row = {
                "round": t,
                "error": float(np.abs(votes - t * y).sum() / (t * n)),  # whole numbers: exact
                "violation": found,
                "group_size": float(members.sum() / n),
            }
            log.append(row)
            multiplier = self.C if found >= self.gamma else 0.0
            penalty += (multiplier * self.pull(members) - penalty) / t
            if t >= FEWEST_ROUNDS and found < self.gamma:
                before = log[-2]
                if row["error"] == before["error"] or found == before["violation"]:
                    break
        return Fit(lambda rows: np.mean([below(rows, h) for h in classifiers], axis=0), log)
