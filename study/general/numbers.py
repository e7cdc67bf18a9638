"""What is said of predicted numbers: y has mean 0 and standard deviation 1 on the training rows."""

from itertools import combinations

import numpy as np

FEWEST = 15  # rows of a group whose predictions are compared


def r2(predicted: np.ndarray, y: np.ndarray) -> float:
    """1 − Σ (y − ŷ)² / Σ (y − E[y])²: 0 for the best constant."""
    return float(1 - np.square(y - predicted).sum() / np.square(y - y.mean()).sum())


def kept(group: np.ndarray) -> np.ndarray:
    """The rows of groups that are compared."""
    return np.bincount(group)[group] >= FEWEST


def mean_ks(predicted: np.ndarray, group: np.ndarray) -> float:
    """max |F_g(t) − F_h(t)| over t, averaged over pairs of groups, as imparity averages gaps; 0 if
    there is no pair.

    The largest of all pairs would be that of the smallest groups, and their noise. (Written here,
    and not on infofair/scores.py: training must not depend on what analyses it.)
    """
    order = np.argsort(predicted)
    values, own = predicted[order], group[order]
    last = np.append(values[1:] != values[:-1], True)  # of the rows with one value
    curves = [np.cumsum(own == g)[last] / (own == g).sum() for g in np.unique(own)]
    found = [np.abs(a - b).max() for a, b in combinations(curves, 2)]
    return float(np.mean(found)) if found else 0.0
