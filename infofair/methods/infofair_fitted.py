"""InfoFair as its mathematics asks: both estimators are fitted, and only the predictor minimises.

For every distribution q (lemma 3 of the paper),

    I(z; s) = H(s) + E[log q(s|z)] + E[log p(z, s) / (p(z) q(s|z))],

so a minimiser needs an estimate of both expectations. infofair/methods/infofair.py lets all
parameters minimise them, which trains the estimators to be wrong. Here each has a loss of its own:

    sensitive feature predictor   q = softmax(g(z))       minimises E[−log q(s|z)]
    density ratio estimator       log ratio = f(z)ₛ       classifies true pairs (z, s) against
                                                          drawn ones (z, s̃), s̃ ~ q(·|z)

and the feature extractor and target predictor alone minimise, with both of them given,

    J = T + S + D,    T = E[−log ỹ[y]],    S = α E[log q(s|z)],    D = α E[f(z)ₛ].

What differs from the released form, and why:

- z is what is to be fair: the prediction, as tanh(κ o / 2) with o its log-odds and κ the
  `sharpness`. Parity is a statement about decisions (the paper's lemma 1). The extractor's outputs
  tell at least as much of s as the prediction does, so that to take it from them all gives up more
  than parity asks. The larger κ, the more z is the decision itself.
- f and g have a hidden layer and an output for every group: z and s interact. As w₁ᵀz + w₂ᵀs, the
  log ratio could not tell a group for which z is high from one for which it is low.
- The loss of f takes the mean over s̃ instead of a draw: E[softplus(−f(z)ₛ) + Σ q(s̃|z)
  softplus(f(z)ₛ̃)]. It is what the mean of many draws tends to, and needs no noise.
- f and g are ahead of what they criticise: they take `critic_steps` at their own learning rate
  before each step of the predictor, each on a part of the minibatch, and α counts only after
  `warm_up` epochs, when they have something to say.

Two ablations have fewer `terms`, and fit only what theirs need. T+S has no f: it is adversarial
debiasing with g as its adversary, without a projection (infofair/methods/adversarial_fitted.py).
T+D keeps g, from whose q the pairs (z, s̃) are drawn that f tells from true ones, but only f's
ratio is minimised: the better q is fitted, the nearer to 1 that ratio is, and the less D says.

`held`: what the ratio is worth where q is held back as far as can be. There is no g, q is the same
for every group whatever z is, and all of I(z; s) is left to f. S is a constant then: T+S with
`held` would be vanilla.

The curves report the running estimate of I(z; s) in bits, `bits`: H(s) of the training rows, and
both expectations over the epoch's minibatches, whether they are minimised or not; T+S, which has no
ratio, takes it for 1. It is no bound: where f and g lag behind, it is too low. Beside it belong
estimates of a fresh classifier on held-out rows: of z as finely as f and g can tell it, and of the
score, whatever its resolution. Where tanh is flat, they are blind: what certain predictions tell
about s beyond the decision stays.
"""

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from infofair.methods.base import (
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

UNITS = 16  # of each critic's hidden layer
# name -> (outputs, inputs) of a critic's parts
SHAPES: dict[str, tuple[str | int, str | int]] = {
    "in": (UNITS, 1), "in_bias": (UNITS, 1), "out": (GROUPS, UNITS), "slope": (GROUPS, 1),
    "bias": (GROUPS, 1),
}  # fmt: skip
PARTS = tuple(SHAPES)


def estimate(name: str, z: Tensor, out: Outputs) -> Tensor:
    """A critic of one model: from z, (B, 1), to a number for every group, (B, groups).

    out tanh(in z + in_bias) + slope z + bias. The slope keeps it alive: a hidden layer of ReLUs
    alone may die, and then nobody criticises.
    """
    entry, entry_bias, exit, slope, bias = (out[f"{name}_{part}"].T for part in PARTS)
    return (z @ entry + entry_bias).tanh() @ exit + z @ slope + bias


class Fitted(Network):
    """T, plus S and D where `terms` names them: without one of them it is an ablation."""

    learning_rate: float = knob(0.003, gt=0, source="of extractor and target predictor; validation")
    critic_learning_rate: float = knob(0.02, gt=0, source="of q(s|z) and the ratio; validation")
    critic_steps: int = knob(8, ge=1, source="before each step of the others; validation")
    warm_up: int = knob(5, ge=0, unit="epochs", source="before alpha counts; validation")
    sharpness: float = knob(4.0, gt=0, source="κ in z = tanh(κ/2 · log-odds); validation")

    terms: tuple[str, ...] = ("T", "S", "D")  # type: ignore[misc]
    held: bool = False
    reports = ("bits",)

    @property
    def names(self) -> str:
        """g, unless it is held back, and f where the objective has its ratio."""
        return "g" * (not self.held) + "f" * ("D" in self.terms)

    @property
    def free(self) -> dict[str, Any]:  # type: ignore[override]
        return {f"{name}_{part}": shape for name in self.names for part, shape in SHAPES.items()}

    @property
    def critics(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.free)

    @property
    def zeros(self) -> tuple[str, ...]:  # type: ignore[override]
        """At first no z tells anything of s, and true pairs are as likely as drawn ones."""
        return tuple(f"{name}_{part}" for name in self.names for part in ("out", "slope", "bias"))

    def outcome(self, logits: Tensor) -> Tensor:
        """z from the target predictor's logits, (B, 2): (B, 1)."""
        return ((logits[:, 1:] - logits[:, :1]) * (self.sharpness / 2)).tanh()

    def outcomes(self, probability: np.ndarray) -> np.ndarray:
        """z from the probabilities of class 1, which are σ(o): (pᵏ − qᵏ) / (pᵏ + qᵏ), q = 1 − p."""
        p = probability.astype(float)
        mine, other = p**self.sharpness, (1 - p) ** self.sharpness
        return (mine - other) / (mine + other)

    def estimators(self, out: Outputs, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """g, whose softmax is q(s|z), and f, the log ratio; (B, groups) each."""
        z = self.outcome(out["target"])
        g = torch.zeros_like(batch.s) if self.held else estimate("g", z, out)
        g = torch.where(batch.present, g, -torch.inf)
        return g, estimate("f", z, out) if "f" in self.names else None

    def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
        g, f = self.estimators(out, batch)
        log_q = log_likelihood(g, batch.s)
        share = batch.shares.sum(1)
        entropy = -(share * share.clamp_min(1e-30).log()).sum()
        alpha = batch.alpha * (batch.epoch >= self.warm_up)
        found = {"T": task_loss(out, batch), "S": alpha * log_q}
        nats = entropy + log_q
        if f is not None:
            log_ratio = (f * batch.s).sum(1).mean()
            found["D"] = alpha * log_ratio
            nats = nats + log_ratio
        return {name: found[name] for name in self.terms} | {"bits": nats / math.log(2)}

    def critic(self, out: Outputs, batch: Batch) -> Tensor:
        """g's loss and f's; each of their parameters has a part in one of them only."""
        g, f = self.estimators(out, batch)
        if f is None:
            return -log_likelihood(g, batch.s)
        q = g.softmax(1).detach()
        told_apart = (batch.s * F.softplus(-f) + q * F.softplus(f)).sum(1).mean()
        return told_apart if self.held else told_apart - log_likelihood(g, batch.s)

    # -- closed forms -----------------------------------------------------------------------------

    def gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """By the target predictor's logits: ∂S/∂g = α (s − q) / B, ∂D/∂f = α s / B, through z."""
        by_target = task_gradient(out, batch)
        if batch.epoch >= self.warm_up:
            z, g, f = self.stacked(out, batch)
            parts = []
            if g is not None and "S" in self.terms:
                parts.append(g.by_input(add_at(g.groups.softmax(1).neg_(), batch.s, 1), out))
            if f is not None:
                by_f = add_at(f.groups.new_zeros(f.groups.shape), batch.s, 1)
                parts.append(f.by_input(by_f, out))
            if not parts:  # a constant
                return {"target": by_target}
            by_z = parts[0] if len(parts) == 1 else parts[0].add_(parts[1])
            by_odds = by_z.mul_(batch.weight).mul_(1 - z.square()).mul_(self.sharpness / 2)
            by_target[:, 1:] += by_odds
            by_target[:, :1] -= by_odds
        return {"target": by_target}

    def critic_gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """With σ the logistic function and s one-hot: ∂/∂g = (q − s) / B of the one's loss,
        ∂/∂f = (σ(f) (q + s) − s) / B of the other's."""
        z, g, f = self.stacked(out, batch)
        rows = batch.s.shape[2]
        if g is None:
            assert f is not None
            absent = 0 if batch.mask is None else batch.mask
            q = torch.zeros_like(f.groups).add_(absent).softmax(1)
        else:
            q = g.groups.softmax(1)
        if f is None:
            assert g is not None
            return g.gradients(z, add_at(q, batch.s, -1).div_(rows), out)
        both = add_at(q.clone(), batch.s, 1)  # q + s
        # σ(f) by tanh, which unlike sigmoid rounds the same wherever in an array it is
        sigma = (f.groups / 2).tanh_().add_(1).div_(2)
        by_f = add_at(sigma.mul_(both), batch.s, -1).div_(rows)
        found = f.gradients(z, by_f, out)
        if g is not None:
            found |= g.gradients(z, add_at(q, batch.s, -1).div_(rows), out)
        return found

    def stacked(
        self, out: Outputs, batch: Stacked
    ) -> "tuple[Tensor, Critic | None, Critic | None]":
        """z, R × 1 × B, and the critics of R models, g and f."""
        odds = out["target"][:, 1:] - out["target"][:, :1]
        z = (odds * (self.sharpness / 2)).tanh()
        g, f = (Critic(name, z, out) if name in self.names else None for name in "gf")
        if g is not None and batch.mask is not None:
            g.groups.add_(batch.mask)
        return z, g, f


class Critic:
    """`estimate` for R models, and its derivatives."""

    def __init__(self, name: str, z: Tensor, out: Outputs) -> None:
        self.name = name
        entry, entry_bias, exit, slope, bias = (out[f"{name}_{part}"] for part in PARTS)
        self.hidden = (entry * z).add_(entry_bias).tanh_()  # R × units × B
        self.groups = exit.bmm(self.hidden).addcmul_(slope, z).add_(bias)  # R × groups × B

    def into_hidden(self, by_groups: Tensor, out: Outputs) -> Tensor:
        """From the gradient by `groups` to that by the hidden layer before its tanh."""
        by_hidden = out[f"{self.name}_out"].transpose(1, 2).bmm(by_groups)
        return by_hidden.addcmul_(by_hidden * self.hidden, self.hidden, value=-1)

    def gradients(self, z: Tensor, by_groups: Tensor, out: Outputs) -> dict[str, Tensor]:
        """By its own parameters."""
        by_hidden = self.into_hidden(by_groups, out)
        found = (
            (by_hidden * z).sum(2, keepdim=True),
            by_hidden.sum(2, keepdim=True),
            by_groups.bmm(self.hidden.transpose(1, 2)),
            (by_groups * z).sum(2, keepdim=True),
            by_groups.sum(2, keepdim=True),
        )
        return {f"{self.name}_{part}": g for part, g in zip(PARTS, found, strict=True)}

    def by_input(self, by_groups: Tensor, out: Outputs) -> Tensor:
        """By z, R × 1 × B."""
        by_hidden = self.into_hidden(by_groups, out)
        entry, slope = (out[f"{self.name}_{part}"].transpose(1, 2) for part in ("in", "slope"))
        return entry.bmm(by_hidden).add_(slope.bmm(by_groups))
