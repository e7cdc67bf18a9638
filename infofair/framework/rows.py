"""Rows: which are held back, and how their columns are scaled."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 20  # rows: of fewer none are held back


def held_back(strata: Sequence[np.ndarray], fraction: float) -> dict[str, np.ndarray]:
    """Row numbers by "train" and "validation", with the same shares of all strata.

    They do not depend on a seed, so that models of several seeds can be compared. Of very few rows
    none are held back: both are all of them.
    """
    rows = len(strata[0])
    every = np.arange(rows)
    if rows < FEWEST or rows * fraction < 1:
        return {"train": every, "validation": every}
    order = np.random.default_rng(0).permutation(rows)
    order = order[np.lexsort([own[order] for own in reversed(strata)])]
    taken = np.diff(np.floor(np.arange(rows + 1) * fraction)) > 0
    return {"train": np.sort(order[~taken]), "validation": np.sort(order[taken])}


@dataclass(frozen=True)
class Scale:
    """Columns of two values become 0 and 1, others have mean 0 and standard deviation 1."""

    shift: np.ndarray  # columns
    factor: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> "Scale":
        low, high = X.min(0), X.max(0)
        two = ((low == X) | (high == X)).all(0)
        factor = np.where(two, high - low, X.std(0))
        return cls(np.where(two, low, X.mean(0)), np.where(factor > 0, factor, 1.0))

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return (X - self.shift) / self.factor
