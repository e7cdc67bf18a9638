"""Plug-in MI: the mutual information of prediction and group, from counts. J = T + α F

The prejudice remover of Kamishima, Akaho, Asoh and Sakuma, "Fairness-Aware Classifier with
Prejudice Remover Regularizer", ECML PKDD 2012, for any number of groups. Its prejudice index is

    F = Î(ŷ; s) = Σ_{c, g} p(c, g) log [p(c, g) / (p(c) p(g))]          (in nats),

with p(c, g) the share of group g in the minibatch times the mean probability of class c over its
rows. Kamishima takes the model's Pr(c | g) from all training rows, which a minibatch stands in for
here.

InfoFair bounds the same information with a predictor of s and a density ratio; this one needs
neither, because ŷ and s take few values. It is the control that shows what these add.
"""

import torch
from torch import Tensor

from infofair.methods.base import Penalty, Stacked, add_at


class PluginMI(Penalty):
    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        counts = s.sum(0)
        # m_g and m, kept from 0 and 1, whose logarithms are infinite
        eps = torch.finfo(p.dtype).eps
        means = (s.T @ p / counts.clamp(min=1)).clamp(eps, 1 - eps)
        mean = p.mean().clamp(eps, 1 - eps)
        # log [p(c, g) / (p(c) p(g))] for c = 1 and c = 0
        one, zero = (means / mean).log(), ((1 - means) / (1 - mean)).log()
        return (counts * (means * one + (1 - means) * zero)).sum() / len(p)

    def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
        """∂F/∂pᵢ = (log [m_g / m] − log [(1 − m_g) / (1 − m)]) / B, with g the group of row i."""
        group, rows = batch.s[:, 0], p.shape[1]
        counts = add_at(p.new_zeros(len(p), batch.groups), group, 1)
        sums = counts.new_zeros(counts.shape).scatter_add_(1, group, p)
        eps = torch.finfo(p.dtype).eps
        means = (sums / counts.clamp(min=1)).clamp(eps, 1 - eps)
        mean = p.mean(1, keepdim=True).clamp(eps, 1 - eps)
        one, zero = (means / mean).log(), ((1 - means) / (1 - mean)).log()
        return (one - zero).gather(1, group) / rows
