"""FERMI: the χ² information of prediction and group, in a form that minibatches do not bias.

Lowy, Baharlouei, Pavan, Razaviyayn and Beirami, "A Stochastic Optimization Framework for Fair Risk
Minimization", TMLR 2022; here for demographic parity. Their measure, the exponential Rényi mutual
information, is

    D_R(ŷ; s) = Σ_{c, g} p(c, g)² / (p(c) p(g)) − 1 = E[p(ŷ, s) / (p(ŷ) p(s))] − 1,

at least the Shannon information of `plugin_mi` (in nats), and zero where that is zero. Of the few
rows of a minibatch it would come out too large, as that does: a ratio of means is no mean of
ratios. They make it the maximum of a mean over rows, which any minibatch estimates without bias:

    D_R(ŷ; s) = max over W of Ψ(W),
    Ψ(W) = −Tr(W P_ŷ Wᵀ) + 2 Tr(W P_{ŷ,s} P_s^{−1/2}) − 1
         = E[Σ_c p_c (2 W_{s,c} / √p(s) − Σ_g W_{g,c}²)] − 1,

W being groups × classes, p_c the row's probability of class c, and p(s) from all training rows. The
maximum is at W_{g,c} = √p(g) p(c | g) / p(c). The predictor minimises, with W given,

    J = T + α Ψ.

W starts at zero, where Ψ has no gradient by the predictor. In the original each step of the
predictor has one of plain gradient ascent, in a ball that holds the optimum; here W takes a few of
Adam's before each step of the predictor, on a part of the minibatch each, as all critics of this
repository do. A group that no training row has, or that the setting lacks, has no part in Ψ.

A W that moves fast is noisy where groups are small: on Adult's validation rows (gender & race,
three seeds) imparity at α = 1, 3 and 10 is 0.084, 0.071 and 0.080 with W's learning rate at 0.01,
and 0.075, 0.066 and 0.054 with 0.003.
"""

import torch
from torch import Tensor

from infofair.methods.base import (
    CLASSES,
    GROUPS,
    Batch,
    Network,
    Outputs,
    Stacked,
    add_at,
    knob,
    task_gradient,
    task_loss,
    through_softmax,
)


def inverse_root(shares: Tensor) -> Tensor:
    """p(s)^(−1/2) from … × groups × classes: … × groups; 0 for a group without training rows."""
    p = shares.sum(-1)
    return (p > 0) / torch.where(p > 0, p, 1).sqrt()


class FERMI(Network):
    learning_rate: float = knob(0.003, gt=0, source="of extractor and target predictor; backbone's")
    critic_learning_rate: float = knob(0.003, gt=0, source="of W; validation")
    critic_steps: int = knob(8, ge=1, source="of W before each of the others; infofair_fitted's")

    terms = ("T", "F")  # F = α Ψ
    free = {"W": (GROUPS, CLASSES)}
    critics = ("W",)
    zeros = ("W",)

    def information(self, out: Outputs, batch: Batch) -> Tensor:
        """Ψ(W)."""
        root = inverse_root(batch.shares)
        W = torch.where((batch.present & (root > 0))[:, None], out["W"], 0)
        of_group = 2 * W * root[:, None] - W.square().sum(0)  # groups × classes
        return (out["target"].softmax(1) * (batch.s @ of_group)).sum(1).mean() - 1

    def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
        return {
            "T": task_loss(out, batch),
            "F": batch.alpha * self.information(out, batch),
        }

    def critic(self, out: Outputs, batch: Batch) -> Tensor:
        """−Ψ, which W minimises."""
        return -self.information(out, batch)

    # -- closed forms -----------------------------------------------------------------------------

    def gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """∂Ψ/∂p_c of a row of group g is (2 W_{g,c} / √p(g) − Σ_h W_{h,c}²) / B; p₀ = 1 − p₁."""
        root, W = self.stacked(out, batch)
        of_group = 2 * W * root - W.square().sum(1, keepdim=True)
        by_p = (of_group[:, :, 1] - of_group[:, :, 0]).gather(1, batch.s[:, 0])
        through = through_softmax(by_p * batch.weight[:, 0], out["target"].softmax(1))
        return {"target": task_gradient(out, batch).add_(through)}

    def critic_gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """∂(−Ψ)/∂W_{g,c} = 2 (W_{g,c} p(c) − p(c, g) / √p(g))."""
        root, W = self.stacked(out, batch)
        group, p = batch.s[:, 0], out["target"].softmax(1)[:, 1]
        counts = add_at(p.new_zeros(len(p), batch.groups), group, 1)
        ones = p.new_zeros(counts.shape).scatter_add_(1, group, p)
        joint = torch.stack([counts - ones, ones], 2).div_(p.shape[1])  # R × groups × classes
        marginal = joint.sum(1, keepdim=True)
        return {"W": (W * marginal).addcmul_(joint, root, value=-1).mul_(2)}

    def stacked(self, out: Outputs, batch: Stacked) -> tuple[Tensor, Tensor]:
        """p(s)^(−1/2), R × groups × 1, and W of R models, without groups that have no rows."""
        root = inverse_root(batch.shares)[:, :, None]
        return root, out["W"] * ((root > 0) & batch.present()[:, :, None])
