"""MinDiff: the same scores for both groups' negatives. J = T + α MMD²

Prost, Qian, Chen, Chi, Chen and Beutel, "Toward a better trade-off between performance and fairness
with kernel-based distribution matching", 2019. To make false positive rates equal, the scores p of
the two groups' rows with y = 0 are pulled together by their maximum mean discrepancy,

    MMD² = mean k(a, a′) + mean k(b, b′) − 2 mean k(a, b),      k(u, v) = exp(−(u − v)² / ℓ²),

over all pairs, a row with itself included, and without a root. With cᵢ = 1/n₁ for a negative of
group 1, −1/n₀ for one of group 0 and 0 for any positive, that is Σᵢⱼ cᵢ cⱼ k(pᵢ, pⱼ). A minibatch
that lacks negatives of a group has MMD² = 0.

The kernel and ℓ = 0.1 are those of TensorFlow Model Remediation, by the same authors. Two groups
only, as in the paper.
"""

from torch import Tensor

from infofair.methods.base import Penalty, Stacked, knob


class MinDiff(Penalty):
    kernel_length: float = knob(
        0.1, gt=0, unit="probability", source="ℓ; TensorFlow Model Remediation"
    )

    block = 512  # a block's kernel matrix has block² entries; early stopping watches their mean

    def handles(self, groups: int) -> bool:
        return groups == 2

    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        negatives = s * (y == 0)[:, None]  # of each group
        n = negatives.sum(0)
        c = negatives / n.clamp(min=1)
        c = (c[:, 1] - c[:, 0]) * (n[:2] > 0).all()
        kernel = ((p[:, None] - p).square() / -(self.kernel_length**2)).exp()
        return c @ kernel @ c

    def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
        """∂MMD²/∂pᵢ = −4/ℓ² cᵢ Σⱼ cⱼ (pᵢ − pⱼ) k(pᵢ, pⱼ)."""
        negative = batch.y[:, 0] == 0
        members = [negative & (batch.s[:, 0] == group) for group in (0, 1)]
        zero, one = [m / m.sum(1, keepdim=True).clamp(min=1) for m in members]
        both = members[0].any(1, keepdim=True) & members[1].any(1, keepdim=True)
        c = (one - zero) * both
        gap = p[:, :, None] - p[:, None, :]
        kernel = gap.square().mul_(-1 / self.kernel_length**2).exp_()
        by_p = c * kernel.mul_(c[:, None, :]).mul_(gap).sum(2)
        return by_p.mul_(-4 / self.kernel_length**2)
