"""fairret, norm: how far the groups' rates are from the rate of all, relative to that. J = T + α F

Buyl, Defrance and De Bie, "fairret: a Framework for Differentiable Fairness Regularization Terms",
ICLR 2024: their NormLoss, as the package has it by default (the 1-norm), of the statistic that
demographic parity is about, the positive rate. With m_g the mean probability of class 1 in group g
and m that of all rows of the minibatch,

    F = Σ_g |m_g / m − 1|.

Both m_g and m are differentiated. Every group counts the same, however few rows it has here, and a
mean over few rows is noisy: see `dp_gap` for what an absolute gap does then. On Adult's validation
rows (gender & race) nobody is selected any more at α = 1, on gender alone all is well there. A
group without rows adds nothing; the package takes its rate for 0, which adds a constant 1. Where
every probability is 0 the package stops; here m is kept from 0.
"""

import torch
from torch import Tensor

from infofair.methods.base import Penalty, Stacked, add_at


class FairretNorm(Penalty):
    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        n = s.sum(0)
        mean = p.mean().clamp(min=torch.finfo(p.dtype).eps)
        violations = (s.T @ p / n.clamp(min=1) / mean - 1).abs()
        return torch.where(n > 0, violations, 0).sum()

    def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
        """∂F/∂pᵢ = v_g / (n_g m) − Σ_h v_h m_h / (B m²), v_h = sign(m_h − m), g the row's group."""
        group = batch.s[:, 0]
        n = add_at(p.new_zeros(len(p), batch.groups), group, 1)
        means = n.new_zeros(n.shape).scatter_add_(1, group, p) / n.clamp(min=1)
        eps = torch.finfo(p.dtype).eps
        mean = p.mean(1, keepdim=True)
        kept, mean = mean >= eps, mean.clamp(min=eps)
        signs = (means / mean - 1).sign() * (n > 0)
        through_all = (signs * means).sum(1, keepdim=True) / (mean.square() * p.shape[1]) * kept
        return (signs / (n.clamp(min=1) * mean)).gather(1, group) - through_all
