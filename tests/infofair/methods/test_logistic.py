"""Logistic regression against a minimiser that knows nothing of scikit-learn."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from infofair.methods.logistic import Logistic
from infofair.training.solve import task_of
from tests.simulated import prepared


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_it_minimises_the_penalised_likelihood(C: float) -> None:
    task = task_of(prepared(300), "gender")
    X, sign = task.X["train"], 2.0 * task.y["train"] - 1

    def objective(w: np.ndarray) -> float:
        """C Σ log(1 + exp(−y (wᵀx + b))) + ‖w‖² / 2; the intercept, last, has no penalty."""
        margin = sign * (X @ w[:-1] + w[-1])
        return float(C * np.logaddexp(0, -margin).sum() + w[:-1] @ w[:-1] / 2)

    w = minimize(objective, np.zeros(X.shape[1] + 1), method="BFGS", options={"gtol": 1e-7}).x
    fit = Logistic(C=C).fit(task, 0)
    for rows in task.X.values():
        assert fit.predict(rows) == pytest.approx(expit(rows @ w[:-1] + w[-1]), abs=2e-5)
