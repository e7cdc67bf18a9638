"""DI: train on features whose distributions the groups share. Repair the input, then J = T

Feldman, Friedler, Moeller, Scheidegger and Venkatasubramanian, "Certifying and Removing Disparate
Impact", KDD 2015: the partial repair of the combinatorial kind, which moves values along the ranks
of the values that occur. For each feature,

1. each group's distinct values are cut into as many buckets as the group with fewest has values;
2. a bucket's target is the median over groups of the median of their values in it (the left one of
   two, so that it is a value that occurs);
3. a value moves towards its bucket's target by λ of the distance, counted in ranks among all
   distinct values and rounded.

λ is set by (1 − λ)/λ = 1/α (the InfoFair paper): λ = α/(1 + α). A 0/1 column stays as it is unless
a group lacks one of its values, and even then it changes only from λ > 1/2.

Our rules where the original is silent:
- Buckets, targets and ranks come from the training rows; on these the repair is BlackBoxAuditing's,
  value for value. A value that does not occur there takes the bucket of the next lower one of its
  group and the rank of the next lower one of all, and stays itself if that rank does not move.
- Several attributes: one group per combination. Groups with fewer than `smallest_group` training
  rows take no part and stay as they are: two rows would leave two buckets to everyone.
- A column that is constant within every group is the protected attribute itself and stays.
"""

import numpy as np

from infofair.methods.base import Classifier, Prepared, knob


def left_median(ordered: np.ndarray) -> float:
    return ordered[(len(ordered) - 1) // 2]


def repair_column(
    column: np.ndarray, train: list[np.ndarray], every: list[np.ndarray], level: float
) -> np.ndarray:
    """The column repaired; train, every: each group's rows, of the training rows and of all."""
    values = np.unique(column[np.concatenate(train)])
    own = [np.unique(column[rows]) for rows in train]  # each group's distinct values
    buckets = min(map(len, own))
    if max(map(len, own)) == 1 or buckets == len(values):
        return column  # the protected attribute itself; or every group has all values
    # The running sum and the rounding to even are BlackBoxAuditing's.
    shares = np.concatenate([[0.0], np.cumsum(np.full(buckets, 1.0 / buckets))])
    starts = [np.rint(shares * len(distinct)).astype(int) for distinct in own]
    targets = []
    for bucket in range(buckets):
        medians = [
            left_median(distinct[start[bucket] : start[bucket + 1]])
            for distinct, start in zip(own, starts, strict=True)
        ]
        targets.append(left_median(np.sort(medians)))
    rank_of_target = np.searchsorted(values, targets)
    repaired = column.copy()
    for distinct, start, rows in zip(own, starts, every, strict=True):
        place = np.searchsorted(distinct, column[rows], "right") - 1
        bucket = np.searchsorted(start, place.clip(0), "right") - 1
        rank = (np.searchsorted(values, column[rows], "right") - 1).clip(0)
        step = np.rint((rank_of_target[bucket] - rank) * level).astype(int)
        repaired[rows] = np.where(step == 0, column[rows], values[rank + step])
    return repaired


class DI(Classifier):
    learning_rate: float = knob(1e-3, gt=0, source="of Adam; the InfoFair paper's appendix")
    smallest_group: int = knob(20, ge=1, unit="training rows", source="ours")

    repairs = True

    def repair(self, data: Prepared, setting: str, alpha: float) -> np.ndarray:
        group = data.groups[setting]
        train = [data.split["train"][group[data.split["train"]] == g] for g in np.unique(group)]
        every = [np.flatnonzero(group == g) for g in np.unique(group)]
        taking_part = [len(rows) >= self.smallest_group for rows in train]
        train = [rows for rows, part in zip(train, taking_part, strict=True) if part]
        every = [rows for rows, part in zip(every, taking_part, strict=True) if part]
        if len(train) < 2:
            return data.X  # nobody to be made alike
        level = alpha / (1 + alpha)
        columns = [repair_column(column, train, every, level) for column in data.X.T]
        return np.stack(columns, 1)
