"""LFR: learning fair representations. Every row becomes a mixture of K prototypes.

Zemel, Wu, Swersky, Pitassi and Dwork, "Learning Fair Representations", ICML 2013, in the form of
AIF360. With prototypes v_k and w_k in [0, 1],

    M_nk = softmax_k(−‖x_n − v_k‖₂),      x̂_n = Σ_k M_nk v_k,      ŷ_n = Σ_k M_nk w_k

    L = A_x L_x + A_y L_y + A_z L_z
    L_x = mean over the rows and features of group 0 of (x − x̂)², plus the same of group 1
    L_y = mean over rows of −y log ŷ − (1 − y) log(1 − ŷ)
    L_z = mean over k of |mean of M_k over group 0 − mean of M_k over group 1|

minimised over v and w by L-BFGS-B from a start drawn from U(0, 1). A_x and K are fixed, A_y and A_z
are chosen from a grid, for each seed, by Zemel's criterion: the largest validation accuracy −
discrimination, the latter the gap between the groups' selection rates. (Zemel's other criterion,
the least discrimination, always takes a constant predictor where the grid has one.)

Gradients are exact here. AIF360 takes finite differences, and its 5,000 evaluations are used up
after 2 to 10 steps. The optimiser may stall at the kinks of L_z, which is part of the spread over
seeds. Two groups only, as in the paper.

Rows with the same features, label and group are one row with a weight, features are kept sparse
(most are one-hot), and Σ(x − x̂)² is expanded, so that nothing of the size rows × features is made:
an evaluation is two sparse products and some arrays of K × rows, in single precision.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from infofair.methods.base import Fit, Solver, Task, knob

CLOSE = 1e-12  # smallest squared distance: the gradient of a distance of 0 is undefined
GRID = (0.1, 0.5, 1.0, 5.0, 10.0)


@dataclass(frozen=True)
class Point:
    """One value of the grid."""

    A_x: float
    A_y: float
    A_z: float
    K: int


@dataclass(frozen=True)
class Rows:
    """The distinct training rows; the weights make sums over them the loss's means over all."""

    X: Any  # scipy.sparse.csr_array, rows × features
    square: np.ndarray  # ‖x‖²
    y: np.ndarray  # bool
    mean: np.ndarray  # 1/N for L_y
    reconstruction: np.ndarray  # 1/(rows of the group · features) for L_x
    parity: np.ndarray  # 1/(rows of group 1), −1/(rows of group 0) for L_z

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, s: np.ndarray, kind: type = np.float32) -> "Rows":
        distinct, count = np.unique(np.column_stack([X, y, s]), axis=0, return_counts=True)
        X, y, s = distinct[:, :-2], distinct[:, -2] > 0, distinct[:, -1].astype(int)
        share = count / np.bincount(s, count, minlength=2)[s]  # of the row in its group
        return cls(
            X=csr_array(X.astype(kind)),
            square=(X**2).sum(1).astype(kind),
            y=y,
            mean=(count / count.sum()).astype(kind),
            reconstruction=(share / X.shape[1]).astype(kind),
            parity=np.where(s == 1, share, -share).astype(kind),
        )


def memberships(
    X: Any, square: np.ndarray, V: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M and the distances, K × rows, and V Xᵀ."""
    XV = np.ascontiguousarray((X @ V.T).T)
    distance = np.sqrt(np.maximum(square - 2 * XV + (V**2).sum(1)[:, None], CLOSE))
    M = np.exp(distance.min(0) - distance)
    M /= M.sum(0)
    return M, distance, XV


def loss(parameters: np.ndarray, rows: Rows, point: Point) -> tuple[float, np.ndarray]:
    """L and its gradient; parameters: w, then the prototypes one after the other."""
    parameters = parameters.astype(rows.X.dtype)
    eps = np.finfo(rows.X.dtype).eps  # AIF360 keeps ŷ this far from 0 and 1
    w, V = parameters[: point.K], parameters[point.K :].reshape(point.K, -1)
    M, distance, XV = memberships(rows.X, rows.square, V)
    VV = V @ V.T

    weighted = M * rows.reconstruction
    MM = weighted @ M.T
    inside = (w @ M).clip(eps, 1 - eps)
    right = np.where(rows.y, inside, 1 - inside)  # the probability of the row's own label
    gap = M @ rows.parity

    # as if ŷ were not kept from 0 and 1, so that w finds its way back from there
    by_y = point.A_y * rows.mean * np.where(rows.y, -1 / right, 1 / right)
    by_M = 2 * point.A_x * (VV @ weighted - XV * rows.reconstruction)
    by_M += w[:, None] * by_y
    by_M += (point.A_z / point.K * np.sign(gap))[:, None] * rows.parity
    # through the softmax, then ∂‖x − v‖/∂v = (v − x) / ‖x − v‖
    by_M -= (by_M * M).sum(0)
    by_M *= M
    by_M /= -distance
    MX, DX = np.split((rows.X.T @ np.vstack([weighted, by_M]).T).T, 2)

    L_x = rows.reconstruction @ rows.square + (MM * VV).sum() - 2 * (MX * V).sum()
    L_y = -rows.mean @ np.log(right)
    L_z = np.abs(gap).mean()
    by_V = by_M.sum(1)[:, None] * V - DX + 2 * point.A_x * (MM @ V - MX)
    value = point.A_x * L_x + point.A_y * L_y + point.A_z * L_z
    return float(value), np.concatenate([M @ by_y, by_V.ravel()]).astype(float)


class LFR(Solver):
    prototypes: int = knob(10, ge=2, source="K; Zemel 2013 (AIF360: 5)")
    reconstruction: float = knob(0.01, ge=0, source="A_x; Zemel 2013 and AIF360")
    prediction: tuple[float, ...] = knob(GRID, ge=0, source="A_y to try; Zemel 2013 (AIF360: 1)")
    parity: tuple[float, ...] = knob(GRID, ge=0, source="A_z to try; Zemel 2013 (AIF360: 50)")
    iterations: int = knob(80, ge=1, source="of L-BFGS at most; ours")

    random = True
    strength = "parity"

    def handles(self, groups: int) -> bool:
        return groups == 2

    def grid(self) -> list[Self]:
        return [
            self.with_knobs(prediction=(A_y,), parity=(A_z,))
            for A_y, A_z in product(self.prediction, self.parity)
        ]

    def prepare(self, task: Task) -> Rows:
        return Rows.of(task.X["train"], task.y["train"], task.s["train"])

    def start(self, seed: int, size: int) -> np.ndarray:
        return np.random.default_rng(seed).uniform(size=size)

    def minimise(self, rows: Rows, point: Point, start: np.ndarray, bounds: list[Any]) -> Any:
        """scipy's OptimizeResult."""
        return minimize(
            loss,
            start,
            args=(rows, point),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": self.iterations},
        )

    def fit(self, task: Rows, seed: int) -> Fit:
        (A_y,), (A_z,), K = self.prediction, self.parity, self.prototypes
        point, features = Point(self.reconstruction, A_y, A_z, K), task.X.shape[1]
        start = self.start(seed, K * (1 + features))
        bounds = [(0, 1)] * K + [(None, None)] * (K * features)
        found = self.minimise(task, point, start, bounds)
        w, V = found.x[:K], found.x[K:].reshape(K, features)

        def predict(X: np.ndarray) -> np.ndarray:
            M, _, _ = memberships(X, (X**2).sum(1), V)
            return w @ M

        return Fit(predict, [{"A_y": A_y, "A_z": A_z, "iterations": found.nit, "loss": found.fun}])

    def score(self, probability: np.ndarray, y: np.ndarray, s: np.ndarray) -> float:
        """Accuracy − discrimination; of a group without validation rows nothing is known."""
        predicted = probability > 0.5
        rates = [predicted[s == group].mean() for group in (0, 1) if (s == group).any()]
        return float((predicted == y).mean() - (max(rates) - min(rates)))
