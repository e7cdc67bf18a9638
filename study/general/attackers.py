"""Who reads s off a representation: logistic regression, asked about rows it was not fitted on."""

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata

FOLDS = 5
NEWTON = 8  # steps: to more digits than an AUC shows


def above_half(
    z: np.ndarray, s: np.ndarray, more: tuple[np.ndarray, np.ndarray] | None = None
) -> float:
    """AUC − ½ of attackers, on average over folds, each asked of those fitted on the others.

    z: rows × dimensions; s: rows, 0 or 1; more: z and s of other rows to fit on besides. Below 0
    they do worse than chance: what they learnt does not hold where they are asked.
    """
    if np.bincount(s, minlength=2).min() < FOLDS:  # hardly anybody to tell
        return 0.0
    order = np.random.default_rng(0).permutation(len(s))
    fold = np.empty(len(s), int)
    fold[order[np.argsort(s[order], kind="stable")]] = np.arange(len(s)) % FOLDS
    found = []
    for own in range(FOLDS):
        known, truth = z[fold != own], s[fold != own]
        if more is not None:
            known, truth = np.concatenate([known, more[0]]), np.concatenate([truth, more[1]])
        shift, scale = known.mean(0), known.std(0) + 1e-6
        w = logistic((known - shift) / scale, truth)
        found.append(auc((z[fold == own] - shift) / scale @ w[:-1], s[fold == own]))
    return float(np.mean(found)) - 0.5


def logistic(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Weights, the intercept last, that minimise Σ log loss + ½ ‖w‖², by Newton's method.

    scikit-learn's, which tests compare it with, without its checks: thousands are fitted here.
    """
    X = np.column_stack([x, np.ones(len(x))]).astype(float)
    ridge = np.diag([*np.ones(x.shape[1]), 0.0])
    w = np.zeros(X.shape[1])
    for _ in range(NEWTON):
        p = expit(X @ w)
        curvature = (X * (p * (1 - p))[:, None]).T @ X + ridge
        w -= np.linalg.solve(curvature, X.T @ (p - s) + ridge @ w)
    return w


def auc(score: np.ndarray, s: np.ndarray) -> float:
    """Pr(a row with s = 1 has the higher score), ties counting half."""
    ones = int(s.sum())
    ranks = rankdata(score)[s == 1].sum() - ones * (ones + 1) / 2
    return float(ranks / (ones * (len(s) - ones)))
