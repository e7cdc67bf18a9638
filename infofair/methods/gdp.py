"""GDP: generalised demographic parity. J = T + α ΔGDP

Jiang, Han, Fan, Yang, Mostafavi and Hu, "Generalized Demographic Parity for Group Fairness", ICLR
2022. With m(s) = E[ŷ | S = s] the local and m = E[ŷ] the global average prediction,

    ΔGDP = ∫ |m(s) − m| p(s) ds,

the total variation of the local average, weighted by how common s is. The official code smooths
m(s) with a kernel of bandwidth (3n/4)^(−1/5), for a continuous attribute. For groups the integral
is a sum and needs no kernel,

    ΔGDP = Σ_s p(s) |m_s − m|          (two groups: 2 p (1 − p) |m₁ − m₀|),

with p(s), m_s and m those of the minibatch. On a minibatch of 128 rows the official kernel
oversmooths: at an attribute of 0 and 1 its bandwidth is 0.4.
"""

from torch import Tensor

from infofair.methods.base import Penalty, Stacked, add_at, knob


class GDP(Penalty):
    learning_rate: float = knob(1e-4, gt=0, source="of Adam; not printed, InfoFair's")

    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        shares = s.mean(0)
        # p(s) (m_s − m); zero for a group without rows here
        return (s.T @ p / len(p) - shares * p.mean()).abs().sum()

    def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
        """∂ΔGDP/∂pᵢ = (σ(sᵢ) − Σ_s p(s) σ(s)) / B with σ(s) the sign of m_s − m."""
        group, rows = batch.s[:, 0], p.shape[1]
        counts = add_at(p.new_zeros(len(p), batch.groups), group, 1)
        sums = counts.new_zeros(counts.shape).scatter_add_(1, group, p)
        shares = counts / rows
        signs = (sums / rows - shares * p.mean(1, keepdim=True)).sign()
        return (signs.gather(1, group) - (shares * signs).sum(1, keepdim=True)) / rows
