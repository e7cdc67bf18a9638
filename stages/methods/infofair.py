"""InfoFair: minimise the task loss and a variational form of the mutual information I(z; s).

Kang, Xie, Wu, Maciejewski and Tong, "InfoFair: Information-Theoretic Intersectional Fairness",
IEEE BigData 2022. For every distribution q (the paper's lemma 3; z is its "learning outcome" ỹ,
the output of the feature extractor),

    I(z; s) = H(s) + E[log q(s|z)] + E[log p(z, s) / (p(z) q(s|z))],

and with the log ratio modelled as w₁ᵀz + w₂ᵀs, the objective is (its Eq. for J)

    J = T + S + D
    T = E[−log ỹ[y]]                       target predictor
    S = α E[log q(s|z)]                    sensitive feature predictor, q = softmax of a linear map
    D = α E[w₁ᵀz + w₂ᵀs]                   density ratio estimator, over (z, s) and (z, s̃)

s is one one-hot vector over the groups of the setting (over all combinations for several
attributes). s̃ ~ q(·|z) is drawn by Gumbel-Softmax, s̃ = softmax((log q + g) / τ), and the
temperature τ is halved every `halve_temperature_every` epochs. D is the mean over true and drawn
pairs in equal parts.

As printed and as released, *all* parameters minimise J. So the sensitive feature predictor is
trained to be wrong rather than to estimate q, w₁ and w₂ are trained to be small rather than to
estimate a ratio, and J has no lower bound: only weight decay holds it.
"""

from typing import TYPE_CHECKING

from pydantic import Field

from stages.methods import (
    CLASSES,
    GROUPS,
    Batch,
    Network,
    Outputs,
    add_at,
    mean_log_likelihood,
    task_gradient,
    task_loss,
)
from stages.params import Strict

if TYPE_CHECKING:
    from torch import Tensor


class Knobs(Strict):
    learning_rate: float = Field(gt=0)
    temperature: float = Field(gt=0)
    halve_temperature_every: int = Field(ge=1)


def gumbel_softmax(log_q: "Tensor", noise: "Tensor", temperature: float) -> "Tensor":
    """A nearly one-hot draw from q over dimension 1: one-hot as τ → 0, uniform as τ → ∞."""
    logits = log_q + noise
    return (logits if temperature == 1 else logits.div_(temperature)).softmax(1)


class InfoFair(Network):
    """T, plus S and D where `terms` names them."""

    uses_alpha = True

    def __init__(self, *terms: str) -> None:
        self.terms = terms
        self.uses_noise = "D" in terms
        self.heads = {"target": CLASSES, "sensitive": GROUPS} | ({"w1": 1} if "D" in terms else {})
        self.free = {"w2": (1, GROUPS)} if "D" in terms else {}

    def objective(self, out: Outputs, batch: Batch, knobs: Knobs) -> "dict[str, Tensor]":
        terms = {"T": task_loss(out, batch)}
        if "S" in self.terms:
            terms["S"] = batch.alpha * mean_log_likelihood(out["sensitive"], batch.s)
        if "D" in self.terms:
            both = pairs(self.draw(out, batch, knobs), batch)
            w2 = (out["w2"][:, 0] * both).sum(1) / (2 * batch.s.shape[2])
            terms["D"] = batch.alpha * (out["w1"].mean((1, 2)) + w2)
        return terms

    def temperature(self, batch: Batch, knobs: Knobs) -> float:
        return knobs.temperature / 2 ** (batch.epoch // knobs.halve_temperature_every)

    def draw(self, out: Outputs, batch: Batch, knobs: Knobs) -> "Tensor":
        """s̃, R × groups × B.

        log q and the logits it is made from differ by a constant that softmax ignores.
        """
        assert batch.noise is not None
        return gumbel_softmax(out["sensitive"], batch.noise, self.temperature(batch, knobs))

    def gradients(self, out: Outputs, batch: Batch, knobs: Knobs) -> "dict[str, Tensor]":
        """In closed form, in half of autograd's time.

        With o the sensitive predictor's logits: ∂S/∂o = α (s − q) / B,
        ∂D/∂o = α s̃ ⊙ (w₂ − w₂ᵀs̃) / (2τB), ∂D/∂w₁ᵀz = α / B, ∂D/∂w₂ = α Σ (s + s̃) / 2B.
        """
        gradients = {"target": task_gradient(out, batch)}
        if "S" in self.terms:
            sensitive = add_at(out["sensitive"].softmax(1).neg_(), batch.s, 1)  # s − q
        if "D" in self.terms:
            drawn = self.draw(out, batch, knobs)
            from_mean = out["w2"].transpose(1, 2) - out["w2"].bmm(drawn)  # w₂ − w₂ᵀs̃
            through = from_mean.mul_(drawn).mul_(0.5 / self.temperature(batch, knobs))
            sensitive = sensitive.add_(through) if "S" in self.terms else through
            gradients["w2"] = (pairs(drawn, batch)[:, None] * batch.weight).div_(2)
            gradients["w1"] = batch.weight
        gradients["sensitive"] = sensitive.mul_(batch.weight)
        return gradients


def pairs(drawn: "Tensor", batch: Batch) -> "Tensor":
    """Σ (s + s̃) over the rows, R × groups: how often each group is in a true or a drawn pair."""
    return add_at(drawn.sum(2), batch.s[:, 0], 1)


METHOD = InfoFair("T", "S", "D")
