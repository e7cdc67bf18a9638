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

from typing import TYPE_CHECKING

from pydantic import Field

from stages.methods import Batch, Penalised, add_at
from stages.params import Strict

if TYPE_CHECKING:
    from torch import Tensor


class Knobs(Strict):
    learning_rate: float = Field(gt=0)


class PluginMI(Penalised):
    def penalty(self, p: "Tensor", batch: Batch, knobs: Knobs) -> "tuple[Tensor, Tensor]":
        """∂F/∂pᵢ = (log [m_g / m] − log [(1 − m_g) / (1 − m)]) / B.

        m_g and m are the means of p over the group g of row i and over all B rows.
        """
        import torch

        group, rows = batch.s[:, 0], p.shape[1]
        counts = add_at(p.new_zeros(len(p), batch.groups), group, 1)
        sums = counts.new_zeros(counts.shape).scatter_add_(1, group, p)
        # kept from 0 and 1, whose logarithms are infinite
        eps = torch.finfo(p.dtype).eps
        means = (sums / counts.clamp(min=1)).clamp(eps, 1 - eps)
        mean = p.mean(1, keepdim=True).clamp(eps, 1 - eps)
        # log [p(c, g) / (p(c) p(g))] for c = 1 and c = 0
        one, zero = (means / mean).log(), ((1 - means) / (1 - mean)).log()
        F = (counts * (means * one + (1 - means) * zero)).sum(1) / rows
        return F, (one - zero).gather(1, group) / rows


METHOD = PluginMI()
