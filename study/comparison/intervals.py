"""Means over random splits of the same rows: their intervals, their tests, and many tests at once.

The splits share rows, so the variance of a mean over J of them is not s²/J but about
s² (1/J + overlap), overlap = test rows / training rows (C. Nadeau and Y. Bengio, "Inference for the
Generalization Error", Machine Learning 52, 2003). A difference is taken split by split, so that
what makes a split easy for everybody cancels.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t as student

LEVEL = 0.95


@dataclass(frozen=True)
class Means:
    """Over splits, by group and figure: mean, its standard error, and how many splits had one."""

    mean: pd.DataFrame
    error: pd.DataFrame  # NaN for a single split
    count: pd.DataFrame

    @property
    def width(self) -> pd.DataFrame:
        """Half of the 95 % interval."""
        factor = student.ppf((1 + LEVEL) / 2, np.maximum(self.count - 1, 1))
        return self.error * factor

    @property
    def p(self) -> pd.DataFrame:
        """Two-sided, of the mean being 0: 1 if every figure is 0, although they have no spread."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = self.mean.abs() / self.error
        found = pd.DataFrame(
            2 * student.sf(t, np.maximum(self.count - 1, 1)), t.index, columns=t.columns
        )
        return found.mask((self.mean == 0) & (self.error == 0), 1.0)


def over_splits(rows: pd.DataFrame, by: list[str], figures: list[str]) -> Means:
    """rows: one for each split of a group, with the numbers of its `train` and `test` rows."""
    grouped = rows.groupby(by, sort=False)
    overlap = grouped["test"].max() / grouped["train"].max()
    mean, std, count = (getattr(grouped[figures], of)() for of in ("mean", "std", "count"))
    variance = 1 / count.where(count > 0) + overlap.to_numpy()[:, None]
    return Means(mean, std * np.sqrt(variance), count)


def half_width(of_splits: pd.Series, overlap: float) -> float:
    """Half of the 95 % interval of one mean. NaN for a single split."""
    return float(_alone(of_splits, overlap).width["figure"].item())


def p_value(differences: pd.Series, overlap: float) -> float:
    """Of the paired t test, two-sided. NaN for a single split."""
    return float(_alone(differences, overlap).p["figure"].item())


def _alone(figures: pd.Series, overlap: float) -> Means:
    rows = pd.DataFrame({"of": 0, "figure": figures, "train": 1.0, "test": overlap})
    return over_splits(rows, ["of"], ["figure"])


def holm(p: pd.Series) -> pd.Series:
    """p values for all of them together (S. Holm, 1979); those that are NaN are no tests.

    The k-th smallest of n, from 0, is multiplied by n − k, and none is below the one before it.
    """
    ordered = p.dropna().sort_values(kind="stable")
    factors = np.arange(len(ordered), 0, -1)
    found = np.maximum.accumulate(np.minimum(1.0, ordered.to_numpy() * factors))
    return pd.Series(found, ordered.index, dtype=float).reindex(p.index)
