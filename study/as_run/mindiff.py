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

from infofair.methods.base import Penalty, Stacked, knob

JITTER = 1e-5  # added to every squared distance


class MinDiffMiscut(Penalty):
    bandwidth: float = knob(100.0, gt=0, source="the released MMD's")

    block = 512  # as MinDiff's

    def handles(self, groups: int) -> bool:
        return groups == 2

    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        negatives = s[:, :2] * (y == 0)[:, None]  # of each group
        gap = p[:, None] - p
        return (weights(*negatives.T) * self.kernel(gap)).sum()

    def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
        """∂F/∂pᵢ = −2/100 (Σⱼ wᵢⱼ kᵢⱼ (pᵢ − pⱼ) − Σⱼ wⱼᵢ kⱼᵢ (pⱼ − pᵢ))."""
        negative = batch.y[:, 0] == 0
        a, b = ((negative & (batch.s[:, 0] == group)).to(p.dtype) for group in (0, 1))
        gap = p[:, :, None] - p[:, None, :]
        each = self.kernel(gap).mul_(weights(a, b)).mul_(gap)
        return (each.sum(2) - each.sum(1)).mul_(-2 / self.bandwidth)

    def kernel(self, gap: Tensor) -> Tensor:
        return ((gap.square() + JITTER) / -self.bandwidth).exp()


def weights(a: Tensor, b: Tensor) -> Tensor:
    """wᵢⱼ in F = Σ wᵢⱼ kᵢⱼ over all rows i, j, from who is a negative of which group (… × B)."""
    m, n = (members.sum(-1)[..., None, None] for members in (a, b))
    row, column = (a.cumsum(-1) - 1)[..., :, None], (b.cumsum(-1) - 1)[..., None, :]
    first = (column < m) * (row != column) / (m * (m - 1)).clamp(min=1)
    across = (column >= m) * -2 / (m * n).clamp(min=1)
    return a[..., :, None] * b[..., None, :] * (first + across) * (m > 1) * (n > 1)
