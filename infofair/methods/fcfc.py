"""FCFC: logistic regression whose scores do not vary with the group.

Zafar, Valera, Gomez Rodriguez and Gummadi, "Fairness Constraints: Mechanisms for Fair
Classification", AISTATS 2017. With labels y ∈ {−1, +1}, an intercept among the features x and no
other penalty,

    minimise    1/N Σᵢ log(1 + exp(−yᵢ wᵀxᵢ))
    subject to  |1/N Σᵢ (sᵢₖ − s̄ₖ) wᵀxᵢ| ≤ c    for each group k,

with sₖ the indicator of group k: the covariance of group and signed distance from the boundary
stands in for the disparate impact, which is not convex. Several attributes: one group per
combination.

The constraints are linear, |A w| ≤ c. For c = 0 they are eliminated: w = B v, with the columns of B
a basis of the null space of A, and v is free. The optimiser is SLSQP, as in the released code.

As there, no indicator is dropped. They sum to one and so their covariances to zero, which makes one
of them redundant for c = 0 and for two groups; elsewhere, leaving one out would let that group's
covariance grow to the others' sum. Groups without training rows have no covariance.

The minimum may not exist: a feature (COMPAS: is_recid) or a rare category that almost separates the
classes has a weight that grows for ever. The optimiser starts at w = 0 and stops once a step
changes the loss by less than 10⁻⁹; weights still on their way then are those of rows that are
already certain.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit

from infofair.methods.base import Fit, Problem, Solver, Task, knob

TOLERANCE = 1e-9  # of the loss, at most log 2 = 0.69 at the start
MAX_ITERATIONS = 10_000
# Singular values of A below this share of the largest are rounding: one row among 10⁵ gives 10⁻⁵.
RANK_TOLERANCE = 1e-10


def with_intercept(X: np.ndarray) -> np.ndarray:
    return np.hstack([X, np.ones((len(X), 1))])


def constraints(X: np.ndarray, s: np.ndarray) -> np.ndarray:
    """A, groups that have rows × features: A w is the covariance of each indicator and Xw."""
    indicators = s[:, None] == np.unique(s)
    return (indicators - indicators.mean(0)).T @ X / len(X)


def loss(w: np.ndarray, X: Any, y: np.ndarray) -> tuple[float, np.ndarray]:
    """1/N Σ log(1 + exp(−y wᵀx)) and its gradient."""
    margin = y * (X @ w)
    return float(np.logaddexp(0, -margin).mean()), -(y * expit(-margin)) @ X / len(y)


class Minimum(NamedTuple):
    w: np.ndarray
    loss: float
    iterations: int


def minimise(X: np.ndarray, y: np.ndarray, A: np.ndarray, c: float) -> Minimum:
    """The loss's minimum where |A w| ≤ c."""
    if c == 0:
        basis = null_space(A, rcond=RANK_TOLERANCE)
        rows, bounds = X @ basis, []
    else:
        # most features are one-hot, and a fit with sparse rows takes a quarter of the time
        basis, rows, both = np.eye(A.shape[1]), csr_array(X), np.vstack([A, -A])
        bounds = [{"type": "ineq", "fun": lambda w: c - both @ w, "jac": lambda w: -both}]
    found = minimize(
        loss,
        np.zeros(basis.shape[1]),
        (rows, y),
        method="SLSQP",
        jac=True,
        constraints=bounds,
        options={"ftol": TOLERANCE, "maxiter": MAX_ITERATIONS},
    )
    if not found.success:
        raise Problem(f"fcfc: no minimum after {found.nit} iterations of SLSQP: {found.message}")
    return Minimum(basis @ found.x, float(found.fun), int(found.nit))


class FCFC(Solver):
    covariance: float = knob(
        0.0, ge=0, source="largest |cov(group, w·x)| allowed; Zafar 2017, released demonstration"
    )

    random = False
    strength = "covariance"

    def labels(self, y: np.ndarray) -> np.ndarray:
        """−1 or +1, from classes 0 and 1."""
        return 2 * y - 1

    def fit(self, task: Task, seed: int) -> Fit:
        X, s = with_intercept(task.X["train"]), task.s["train"]
        A = constraints(X, s)
        found = minimise(X, self.labels(task.y["train"]), A, self.covariance)

        def predict(rows: np.ndarray) -> np.ndarray:
            return expit(with_intercept(rows) @ found.w)

        row = {
            "iterations": found.iterations,
            "loss": found.loss,
            "covariance": float(np.abs(A @ found.w).max()),
        }
        return Fit(predict, [row])
