"""Columns that give the label away: if one of them predicts it almost alone, look where it comes
from before you look at fairness."""

from typing import Any

import numpy as np
import pandas as pd

LEAK = 0.9  # balanced accuracy from which a column gives the label away, as in infofair.data.checks
MOST = 20  # columns that are told, the best


def leaks(features: pd.DataFrame, y: np.ndarray, seed: int) -> list[dict[str, Any]]:
    """How well the best rule on each column alone predicts the label, best first.

    Balanced accuracy (1 + max |TPR − FPR|) / 2 over thresholds on a number. A category's values are
    put in order by the label's rate in one half of the rows and tried on the other, and the other
    way round: else a column of names, each of which occurs once, would seem to know everything.
    """
    halves = np.random.default_rng([seed, len(y)]).integers(0, 2, len(y))
    found: list[dict[str, Any]] = []
    for place, name in enumerate(features.columns):
        values = features.iloc[:, place]
        known = values.notna().to_numpy()
        if not known.any() or len(np.unique(y[known])) < 2:
            continue
        own, label, half = values[known], y[known], halves[known]
        if pd.api.types.is_numeric_dtype(own.dtype):
            found_gap = _gap(np.unique(own.to_numpy(float), return_inverse=True)[1], label)
        else:
            found_gap = _category(own, label, half)
        accuracy = (1 + found_gap) / 2
        found.append(
            {
                "column": str(name),
                "balanced_accuracy": accuracy,
                "gives_label_away": bool(accuracy >= LEAK),
            }
        )
    return sorted(found, key=lambda entry: -entry["balanced_accuracy"])[:MOST]


def _gap(place: np.ndarray, y: np.ndarray) -> float:
    """max |TPR − FPR| over thresholds on the place."""
    ones, zeros = (np.bincount(place[y == c], minlength=place.max() + 1) for c in (1, 0))
    if not (ones.any() and zeros.any()):
        return 0.0
    return float(np.abs(np.cumsum(ones) / ones.sum() - np.cumsum(zeros) / zeros.sum()).max())


def _category(values: pd.Series, y: np.ndarray, half: np.ndarray) -> float:
    codes, distinct = pd.factorize(values.map(str))
    gaps = []
    for fitted in (0, 1):
        seen = half == fitted
        rows = np.bincount(codes[seen], minlength=len(distinct))
        ones = np.bincount(codes[seen], y[seen], len(distinct))
        rate = np.divide(ones, rows, out=np.full(len(distinct), float(y.mean())), where=rows > 0)
        place = np.unique(rate, return_inverse=True)[1][codes[~seen]]
        gaps.append(_gap(place, y[~seen]) if len(place) else 0.0)
    return float(np.mean(gaps))
