"""Fairness metrics: small pure functions of 0/1 predictions and group numbers."""

import numpy as np


def selection_rates(predicted: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """Pr(ŷ = 1 | g) for each of `groups` groups; NaN for a group without members."""
    members = np.bincount(group, minlength=groups)
    selected = np.bincount(group, weights=predicted, minlength=groups)
    return np.divide(selected, members, out=np.full(groups, np.nan), where=members > 0)


def imparity(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """The paper's average statistical imparity, as its text defines it.

    avg |Pr(ŷ = c | g₁) − Pr(ŷ = c | g₂)| over classes c and pairs of different groups. Groups
    without members have no rate and take no part; 0 if fewer than two groups have members. Both
    classes give the same gap, so class 1 is enough.
    """
    rates = selection_rates(predicted, group, groups)
    rates = rates[~np.isnan(rates)]
    if len(rates) < 2:
        return 0.0
    gaps = np.abs(rates[:, None] - rates[None, :])
    return float(gaps.sum() / (len(rates) * (len(rates) - 1)))


def imparity_released(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """Imparity as the authors' released code computes it, and as their table prints it.

    The average is over the k(k+1)/2 pairs that include a group with itself (gap 0), and a group
    without members has rate 0 for every class. With k groups, none of them empty, it is
    (k−1)/(k+1) of the text's definition.
    """
    rates = selection_rates(predicted, group, groups)
    empty = np.isnan(rates)
    by_class = np.stack([np.where(empty, 0, 1 - rates), np.where(empty, 0, rates)])
    first, second = np.triu_indices(groups)  # pairs, with repetition
    return float(np.abs(by_class[:, first] - by_class[:, second]).mean())
