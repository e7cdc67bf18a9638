"""LFR with AIF360's defaults and its optimiser: a constant predictor.

K = 5, A_x = 0.01, A_y = 1, A_z = 50, no choice by validation, and L-BFGS-B with gradients by
forward differences (h = 1e-5), each of which costs one evaluation per parameter. AIF360 allows
5,000 evaluations, so that the optimiser ends after some ten gradients where the data have a hundred
columns, not far from a start drawn from U(0, 1), with prototypes that are much alike. A_z = 50 does
the rest: ŷ = Σ_k M_k w_k is nearly the same for everybody, and as a rule on one side of 0.5.

The differences are AIF360's, not derivatives, as they look across the kinks of L_z. But a step in
one coordinate of prototype k changes the distances to k alone: with M, the distances and V Xᵀ kept
from the point itself, an evaluation takes K × rows instead of K × rows × features.
"""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from infofair.methods.base import Task, knob
from infofair.methods.lfr import CLOSE, LFR, Point, Rows, memberships

STEP = 1e-5  # AIF360's epsilon
EPS = np.finfo(float).eps


class Differences:
    """L and its forward differences at one point after another."""

    def __init__(self, rows: Rows, point: Point) -> None:
        self.rows, self.point = rows, point
        self.columns = np.ascontiguousarray(rows.X.toarray().T)  # features × rows
        self.constant = float(rows.reconstruction @ rows.square)

    def value(self, M: np.ndarray, XV: np.ndarray, VV: np.ndarray, prediction: np.ndarray) -> float:
        """L, given M and V Xᵀ (K × rows), V Vᵀ and ŷ."""
        rows, point = self.rows, self.point
        weighted = M * rows.reconstruction
        L_x = self.constant + ((weighted @ M.T) * VV).sum() - 2 * np.vdot(weighted, XV)
        inside = prediction.clip(EPS, 1 - EPS)
        L_y = -rows.mean @ np.log(np.where(rows.y, inside, 1 - inside))
        L_z = np.abs(M @ rows.parity).mean()
        return float(point.A_x * L_x + point.A_y * L_y + point.A_z * L_z)

    def __call__(self, parameters: np.ndarray) -> tuple[float, np.ndarray]:
        """L, and the difference quotient in the direction of each parameter."""
        K = self.point.K
        w, V = parameters[:K], parameters[K:].reshape(K, -1)
        M, distance, XV = memberships(self.rows.X, self.rows.square, V)
        VV, prediction = V @ V.T, w @ M
        here = self.value(M, XV, VV, prediction)
        found = np.empty(len(parameters))
        for k in range(K):
            # scipy steps back from the upper bound
            h = STEP if w[k] + STEP <= 1 else -STEP
            h = (w[k] + h) - w[k]  # what floating point makes of it
            found[k] = (self.value(M, XV, VV, prediction + h * M[k]) - here) / h
            for j in range(V.shape[1]):
                moved = V[k].copy()
                moved[j] += STEP
                h = moved[j] - V[k, j]
                there = self.moved(k, moved, j, h, w, V, M, distance[k], XV)
                found[K + k * V.shape[1] + j] = (there - here) / h
        return here, found

    def moved(
        self, k: int, moved: np.ndarray, j: int, h: float, w: np.ndarray, V: np.ndarray,
        M: np.ndarray, distance: np.ndarray, XV: np.ndarray,
    ) -> float:  # fmt: skip
        """L with h more in coordinate j of prototype k, from what it was without."""
        square = distance**2 + h * (moved[j] + V[k, j] - 2 * self.columns[j])
        new = np.exp(distance - np.sqrt(np.maximum(square, CLOSE)))  # e^{−d′} / e^{−d}
        M = M / (1 + M[k] * (new - 1))
        M[k] *= new
        XV = XV.copy()
        XV[k] += h * self.columns[j]
        at = V.copy()
        at[k] = moved
        return self.value(M, XV, at @ at.T, w @ M)


class LFRByAIF360(LFR):
    prototypes: int = knob(5, ge=2, source="K; AIF360's default")
    prediction: tuple[float, ...] = knob((1.0,), ge=0, source="A_y; AIF360's default")
    parity: tuple[float, ...] = knob((50.0,), ge=0, source="A_z; AIF360's default")
    iterations: int = knob(5000, ge=1, source="of L-BFGS at most; AIF360's maxiter")
    evaluations: int = knob(5000, ge=1, source="of L, those for differences too; AIF360's maxfun")

    def prepare(self, task: Task) -> Rows:
        return Rows.of(task.X["train"], task.y["train"], task.s["train"], np.float64)

    def start(self, seed: int, size: int) -> np.ndarray:
        """As AIF360 draws it, from NumPy's old generator."""
        return np.random.RandomState(seed).uniform(size=size)

    def minimise(self, rows: Rows, point: Point, start: np.ndarray, bounds: list[Any]) -> Any:
        """scipy counts a gradient as one evaluation here, which AIF360 has 1 + parameters for."""
        gradients = self.evaluations // (1 + len(start))
        return minimize(
            Differences(rows, point),
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": self.iterations, "maxfun": gradients},
        )
