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

from typing import TYPE_CHECKING

from pydantic import Field

from stages.methods import Batch, Penalised
from stages.params import Strict

if TYPE_CHECKING:
    from torch import Tensor


class Knobs(Strict):
    learning_rate: float = Field(gt=0)
    kernel_length: float = Field(gt=0)


class MinDiff(Penalised):
    block = 512  # a block's kernel matrix has block² entries; early stopping watches their mean
    finding = (
        "The MMD in the authors' repository takes the kernel between the groups for the joint one "
        "and cuts it into blocks that are not the groups'; its gradients are about 1e-4, at this "
        "weight a thousandth of the task's, so that training with it gives the vanilla model. Ours "
        "is Prost's."
    )

    def handles(self, groups: int) -> bool:
        return groups == 2

    def penalty(self, p: "Tensor", batch: Batch, knobs: Knobs) -> "tuple[Tensor, Tensor]":
        """∂MMD²/∂pᵢ = −4/ℓ² cᵢ Σⱼ cⱼ (pᵢ − pⱼ) k(pᵢ, pⱼ)."""
        negative = batch.y[:, 0] == 0
        members = [negative & (batch.s[:, 0] == group) for group in (0, 1)]
        zero, one = [m / m.sum(1, keepdim=True).clamp(min=1) for m in members]
        both = members[0].any(1, keepdim=True) & members[1].any(1, keepdim=True)
        c = (one - zero) * both
        gap = p[:, :, None] - p[:, None, :]
        kernel = gap.square().mul_(-1 / knobs.kernel_length**2).exp_()
        kernel.mul_(c[:, None, :])  # cⱼ k(pᵢ, pⱼ)
        value = (c * kernel.sum(2)).sum(1)
        by_p = c * kernel.mul_(gap).sum(2)
        return value, by_p.mul_(-4 / knobs.kernel_length**2)


METHOD = MinDiff()
