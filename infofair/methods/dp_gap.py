"""Parity gap: the demographic-parity gap itself as a penalty. J = T + α F

The direct way to statistical parity, for two groups a baseline of Han, Chi, Chen, Wang, Zhao, Zou
and Hu, "FFB: A Fair Fairness Benchmark for In-Processing Group Fairness Methods", ICLR 2024
(DiffDP). With μ_g = E[p | g] the mean probability of class 1 in group g,

    F = average over pairs of groups of (μ_g − μ_h)²,

the paper's imparity with probabilities in place of decisions, squared. Every pair counts the same,
as in the metric; weighted by how common the groups are it would be much like GDP.

The rows of a minibatch give the estimate. Its plain gap (m_g − m_h)², or |m_g − m_h|, of means over
n_g and n_h rows is too large by the noise of these means, about var(p | g) / n_g, and that is what
training then reduces in a small group: all its probabilities become the same, below 1/2, and no
member is selected. So a mean's square is taken over pairs of different rows, which makes F unbiased
(and now and then slightly negative),

    F = 1 / (k (k − 1)) Σ_{g ≠ h} (A_g + A_h − 2 m_g m_h),      A_g = mean of pᵢ pⱼ over i ≠ j in g,

with k the number of groups that have two rows or more here; 0 if fewer than two have. On Dutch
Census's validation rows (gender & marital status, minibatches of 2048) imparity goes down with it,
from 0.13 at α = 1 to 0.08 at α = 10; with |m_g − m_h| it went up, from 0.13 at α = 0.3 to 0.16 at
α = 3. On Adult's (gender & race) the two give about the same front.
"""

import torch
from torch import Tensor

from infofair.methods.base import Penalty, Stacked, add_at


class ParityGap(Penalty):
    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        n, sums, squares = s.sum(0), s.T @ p, s.T @ p.square()
        counted = (n > 1) & ((n > 1).sum() > 1)
        k = counted.sum().clamp(min=2)
        n = n.clamp(min=2)  # groups with fewer do not count
        m = torch.where(counted, sums / n, 0)
        A = (sums.square() - squares) / (n * (n - 1))
        others = (m.sum() - m) / (k - 1)  # the mean of m_h over h ≠ g
        return torch.where(counted, A - m * others, 0).sum() * 2 / k

    def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
        """∂F/∂pᵢ = 4 / (k n_g) (mean of p over g's other rows − mean of m_h over the other groups).

        g is the group of row i.
        """
        group = batch.s[:, 0]
        n = add_at(p.new_zeros(len(p), batch.groups), group, 1)
        sums = n.new_zeros(n.shape).scatter_add_(1, group, p)
        counted = n > 1
        counted &= counted.sum(1, keepdim=True) > 1
        k = counted.sum(1, keepdim=True, dtype=p.dtype).clamp(min=2)
        n = n.clamp(min=2)
        m = sums / n * counted
        others = (m.sum(1, keepdim=True) - m) / (k - 1)
        weight = 2 / k * counted
        by_p = (sums.gather(1, group) - p) / (n - 1).gather(1, group) - others.gather(1, group)
        return by_p * (2 * weight / n).gather(1, group)
