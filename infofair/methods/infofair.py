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

from typing import Any

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
    log_likelihood,
    task_gradient,
    task_loss,
)


class InfoFair(Network):
    """T, plus S and D where `terms` names them: without one of them it is an ablation."""

    learning_rate: float = knob(1e-4, gt=0, source="of Adam; the paper's appendix")
    temperature: float = knob(1.0, gt=0, source="of the Gumbel-Softmax at first; the appendix")
    halve_temperature_every: int = knob(50, ge=1, unit="epochs", source="the paper's appendix")
    terms: tuple[str, ...] = ("T", "S", "D")  # type: ignore[misc]

    @property
    def uses_noise(self) -> bool:  # type: ignore[override]
        return "D" in self.terms

    @property
    def heads(self) -> dict[str, str | int]:  # type: ignore[override]
        """Target predictor, sensitive feature predictor, and w₁ of the density ratio estimator."""
        return {"target": CLASSES, "sensitive": GROUPS} | ({"w1": 1} if "D" in self.terms else {})

    @property
    def free(self) -> dict[str, Any]:  # type: ignore[override]
        return {"w2": (1, GROUPS)} if "D" in self.terms else {}

    def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
        terms = {"T": task_loss(out, batch)}
        if "S" in self.terms:
            terms["S"] = batch.alpha * log_likelihood(out["sensitive"], batch.s)
        if "D" in self.terms:
            assert batch.noise is not None
            # log q and the logits it is made from differ by a constant that softmax ignores
            drawn = gumbel_softmax(out["sensitive"], batch.noise, self.tau(batch.epoch))
            both = (batch.s + drawn) / 2  # true and drawn pairs in equal parts
            terms["D"] = batch.alpha * (out["w1"] + both @ out["w2"].T).mean()
        return terms

    def tau(self, epoch: int) -> float:
        return self.temperature / 2 ** (epoch // self.halve_temperature_every)

    def gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """With o the sensitive predictor's logits: ∂S/∂o = α (s − q) / B,
        ∂D/∂o = α s̃ ⊙ (w₂ − w₂ᵀs̃) / (2τB), ∂D/∂w₁ᵀz = α / B, ∂D/∂w₂ = α Σ (s + s̃) / 2B."""
        gradients = {"target": task_gradient(out, batch)}
        if "S" in self.terms:
            sensitive = add_at(out["sensitive"].softmax(1).neg_(), batch.s, 1)  # s − q
        if "D" in self.terms:
            assert batch.noise is not None
            tau = self.tau(batch.epoch)
            drawn = gumbel_softmax(out["sensitive"], batch.noise, tau)
            from_mean = out["w2"].transpose(1, 2) - out["w2"].bmm(drawn)  # w₂ − w₂ᵀs̃
            through = from_mean.mul_(drawn).mul_(0.5 / tau)
            sensitive = sensitive.add_(through) if "S" in self.terms else through
            both = add_at(drawn.sum(2), batch.s[:, 0], 1)  # Σ (s + s̃)
            gradients["w2"] = (both[:, None] * batch.weight).div_(2)
            gradients["w1"] = batch.weight
        gradients["sensitive"] = sensitive.mul_(batch.weight)
        return gradients


def gumbel_softmax(log_q: Tensor, noise: Tensor, temperature: float) -> Tensor:
    """A nearly one-hot draw from q over dimension 1: one-hot as τ → 0, uniform as τ → ∞."""
    logits = log_q + noise
    return (logits if temperature == 1 else logits / temperature).softmax(1)
