"""MinDiff with the MMD of the authors' repository, which is none: J = T + α F, and F does nothing.

Written from a description of that file, not from its code. An unbiased MMD² of the scores p of m
negatives a of group 0 and n negatives b of group 1 needs the (m + n) × (m + n) kernel matrix of all
of them with all. The released one makes the m × n matrix between the groups,

    k_ij = exp(−(d²_ij + 10⁻⁵) / 100),      d_ij = aᵢ − bⱼ,

and cuts that into the blocks [:m, :m], [m:, m:] and [:m, m:] as if it were the joint one. The
second is empty, and the others are both parts of the same matrix:

    F = Σ_{i ≠ j < m} k_ij / (m (m − 1))  −  2 Σ_{j ≥ m} k_ij / (m n).

At a bandwidth of 100 every k of two probabilities is 1 to a hundredth, so that F is a number that
depends on m and n, and hardly on p. Trained with it, a network is vanilla's. With fewer than two
negatives in a group F = 0.
"""

from torch import Tensor

from infofair.methods.base import Penalty, knob

JITTER = 1e-5  # added to every squared distance


class MinDiffMiscut(Penalty):
    bandwidth: float = knob(100.0, gt=0, source="the released MMD's")

    block = 512  # as MinDiff's

    def handles(self, groups: int) -> bool:
        return groups == 2

    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        negatives = s[:, :2] * (y == 0)[:, None]  # of each group
        (a, b), (m, n) = negatives.T, negatives.sum(0)
        row, column = negatives.cumsum(0).T - 1  # i and j, where a and b are 1
        kernel = (((p[:, None] - p).square() + JITTER) / -self.bandwidth).exp()
        kernel = kernel * a[:, None] * b  # m × n numbers of it are not 0
        left = kernel * (column < m)
        first = (left * (row[:, None] != column)).sum() / (m * (m - 1)).clamp(min=1)
        across = (kernel - left).sum() / (m * n).clamp(min=1)
        return (first - 2 * across) * (m > 1) * (n > 1)
