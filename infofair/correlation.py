"""How strongly two numbers depend on each other, in whatever way: their maximal correlation.

Hirschfeld, Gebelein and Rényi's: the largest correlation of a function of the one with a function
of the other,

    HGR(x; y) = max corr(f(x), g(y)),

0 if they are independent and only then, 1 if one is a function of the other, |ρ| if they are
normal. Of numbers in cells it is the second singular value of p(a, b) / √(p(a) p(b)), the first
being 1 (Witsenhausen, "On Sequences of Pairs of Dependent Random Variables", SIAM J. Appl. Math.
1975). Here the cells are quantiles, so f and g are any steps, and nothing is fitted by descent.
"""

import numpy as np

MOST = 16  # cells of each


def cells(values: np.ndarray, count: int) -> np.ndarray:
    """Which of `count` quantile cells every number is in; fewer where many are the same."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, count + 1)[1:-1]))
    return np.unique(np.searchsorted(edges, values), return_inverse=True)[1].reshape(-1)


def maximal(x: np.ndarray, y: np.ndarray) -> float:
    """HGR(x; y) of some rows, too large by their noise: compare it with y permuted.

    As many cells as the cube root of the rows, up to MOST: with more, noise is all there is.
    """
    count = min(round(len(x) ** (1 / 3)), MOST)
    a, b = cells(x, count), cells(y, count)
    joint = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(joint, (a, b), 1 / len(x))
    if min(joint.shape) < 2:
        return 0.0
    scaled = joint / np.sqrt(np.outer(joint.sum(1), joint.sum(0)))
    return float(np.linalg.svd(scaled, compute_uv=False)[1])
