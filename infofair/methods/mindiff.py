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

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from infofair.methods.base import Penalty, Stacked, knob

DIRECT = 256  # rows up to which the kernel is written out, rows × rows
LANES = 64  # a whole number of registers


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
        if len(p) > DIRECT:
            weight, m = (torch.tensor(of, dtype=p.dtype, device=p.device) for of in self._series())
            angle = m[:, None] * p
            return (weight * ((angle.cos() @ c).square() + (angle.sin() @ c).square())).sum()
        kernel = ((p[:, None] - p).square() / -(self.kernel_length**2)).exp()
        return c @ kernel @ c

    def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
        """∂MMD²/∂pᵢ = −4/ℓ² cᵢ Σⱼ cⱼ (pᵢ − pⱼ) k(pᵢ, pⱼ)."""
        negative = batch.y[:, 0] == 0
        members = [negative & (batch.s[:, 0] == group) for group in (0, 1)]
        zero, one = [m / m.sum(1, keepdim=True).clamp(min=1) for m in members]
        both = members[0].any(1, keepdim=True) & members[1].any(1, keepdim=True)
        c = (one - zero) * both
        if p.shape[1] > DIRECT:
            return self._by_frequencies(p, c)
        gap = p[:, :, None] - p[:, None, :]
        kernel = gap.square().mul_(-1 / self.kernel_length**2).exp_()
        by_p = c * kernel.mul_(c[:, None, :]).mul_(gap).sum(2)
        return by_p.mul_(-4 / self.kernel_length**2)

    def _series(self) -> tuple[list[float], list[float]]:
        """On [−1, 1] the kernel is a cosine series, k(u, v) = Σ a cos(m (u − v)): all a and m.

        Its period is so long that the kernel's copies do not meet; what is cut off is below 1e-12.
        """
        period = 1 + 6 * self.kernel_length
        scale = math.pi * self.kernel_length / period
        numbers = range(math.ceil(5.5 / scale) + 1)
        weights = [2 * scale / math.sqrt(math.pi) * math.exp(-((n * scale) ** 2)) for n in numbers]
        weights[0] /= 2
        return weights, [2 * math.pi * n / period for n in numbers]

    def _by_frequencies(self, p: Tensor, c: Tensor) -> Tensor:
        """The same for many rows, without their pairs: rows × frequencies in place of rows × rows.

        MMD² = Σ a (C² + S²) over the series, with C = Σᵢ cᵢ cos(m pᵢ) and S likewise.
        """
        weights, frequencies = self._series()
        rows = p.shape[1]
        # filled up: the last few of an array would be rounded otherwise
        angle = F.pad(p * frequencies[1], (0, -rows % LANES))
        cos, sin = angle.cos()[:, :rows], angle.sin()[:, :rows]
        re, im, by_p = cos, sin, p.new_zeros(p.shape)
        for weight, frequency in zip(weights[1:], frequencies[1:], strict=True):
            C, S = (c * re).sum(1, keepdim=True), (c * im).sum(1, keepdim=True)
            by_p += 2 * weight * frequency * (S * re - C * im)
            re, im = re * cos - im * sin, re * sin + im * cos  # of the next frequency
        return by_p.mul_(c)
