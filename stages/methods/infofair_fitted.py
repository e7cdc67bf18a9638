"""InfoFair as its mathematics asks: both estimators are fitted, and only the predictor minimises.

For every distribution q (lemma 3 of the paper),

    I(z; s) = H(s) + E[log q(s|z)] + E[log p(z, s) / (p(z) q(s|z))],

so a minimiser needs an estimate of both expectations. stages/methods/infofair.py lets all
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

The curves report the running estimate of I(z; s) in bits, `bits`: H(s) of the training rows, and
both expectations over the epoch's minibatches. It is no bound: where f and g lag behind, it is too
low. results/information.csv has two estimates of a fresh classifier on held-out rows beside it: of
z as finely as f and g can tell it, and of the score, whatever its resolution. Where tanh is flat,
they are blind: what certain predictions tell about s beyond the decision stays.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pydantic import Field

from stages.methods import (
    GROUPS,
    Batch,
    Classifier,
    Outputs,
    add_at,
    mean_log_likelihood,
    task_gradient,
    task_loss,
)
from stages.params import Strict

if TYPE_CHECKING:
    from torch import Tensor

UNITS = 16  # of each critic's hidden layer
# name -> (outputs, inputs) of a critic's parts
SHAPES: dict[str, tuple[str | int, str | int]] = {
    "in": (UNITS, 1), "in_bias": (UNITS, 1), "out": (GROUPS, UNITS), "slope": (GROUPS, 1),
    "bias": (GROUPS, 1),
}  # fmt: skip
PARTS = tuple(SHAPES)


class Knobs(Strict):
    learning_rate: float = Field(gt=0)
    critic_learning_rate: float = Field(gt=0)
    critic_steps: int = Field(ge=1)
    warm_up: int = Field(ge=0)
    sharpness: float = Field(gt=0)


class Critic(NamedTuple):
    """From z, R × 1 × B, to a number for every group: slope z + bias + out tanh(in z + in_bias).

    The slope keeps it alive: a hidden layer of ReLUs alone may die, and then nobody criticises.
    """

    name: str
    hidden: "Tensor"  # R × units × B, its hidden layer's output
    groups: "Tensor"  # R × groups × B

    @classmethod
    def of(cls, name: str, z: "Tensor", out: Outputs) -> "Critic":
        entry, entry_bias, exit, slope, bias = (out[f"{name}_{part}"] for part in PARTS)
        hidden = (entry * z).add_(entry_bias).tanh_()
        return cls(name, hidden, exit.bmm(hidden).addcmul_(slope, z).add_(bias))

    def into_hidden(self, by_groups: "Tensor", out: Outputs) -> "Tensor":
        """From the gradient by `groups` to that by the hidden layer before its tanh."""
        by_hidden = out[f"{self.name}_out"].transpose(1, 2).bmm(by_groups)
        return by_hidden.addcmul_(by_hidden * self.hidden, self.hidden, value=-1)

    def gradients(self, z: "Tensor", by_groups: "Tensor", out: Outputs) -> "dict[str, Tensor]":
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

    def by_input(self, by_groups: "Tensor", out: Outputs) -> "Tensor":
        """By z, R × 1 × B."""
        by_hidden = self.into_hidden(by_groups, out)
        entry, slope = (out[f"{self.name}_{part}"].transpose(1, 2) for part in ("in", "slope"))
        return entry.bmm(by_hidden).add_(slope.bmm(by_groups))


class Fitted(Classifier):
    uses_alpha = True
    terms = ("T", "S", "D")
    reports = ("bits",)
    free = {f"{name}_{part}": shape for name in "gf" for part, shape in SHAPES.items()}
    critics = tuple(free)
    # at first no z tells anything of s, and true pairs are as likely as drawn ones
    zeros = tuple(f"{name}_{part}" for name in "gf" for part in ("out", "slope", "bias"))

    def outcome(self, out: Outputs, knobs: Knobs) -> "Tensor":
        """z, R × 1 × B."""
        odds = out["target"][:, 1:] - out["target"][:, :1]
        return (odds * (knobs.sharpness / 2)).tanh()

    def outcomes(self, probability: np.ndarray, knobs: Knobs) -> np.ndarray:
        """z from the probabilities of class 1, which are σ(o): (pᵏ − qᵏ) / (pᵏ + qᵏ), q = 1 − p."""
        p = probability.astype(float)
        mine, other = p**knobs.sharpness, (1 - p) ** knobs.sharpness
        return (mine - other) / (mine + other)

    def estimators(self, z: "Tensor", out: Outputs, batch: Batch) -> tuple[Critic, Critic]:
        g, f = Critic.of("g", z, out), Critic.of("f", z, out)
        if batch.mask is not None:
            g.groups.add_(batch.mask)
        return g, f

    def objective(self, out: Outputs, batch: Batch, knobs: Knobs) -> "dict[str, Tensor]":
        g, f = self.estimators(self.outcome(out, knobs), out, batch)
        log_q = mean_log_likelihood(g.groups, batch.s)
        log_ratio = f.groups.gather(1, batch.s).mean((1, 2))
        share = batch.shares.sum(2)
        entropy = -(share * share.clamp_min(1e-30).log()).sum(1)
        return {
            "T": task_loss(out, batch),
            "S": batch.alpha * log_q,
            "D": batch.alpha * log_ratio,
            "bits": (entropy + log_q + log_ratio) / math.log(2),
        }

    def criticise(self, out: Outputs, batch: Batch, knobs: Knobs) -> "dict[str, Tensor]":
        """With σ the logistic function and s one-hot: ∂/∂g = (q − s) / B of the one's loss,
        ∂/∂f = (σ(f) (q + s) − s) / B of the other's."""
        z = self.outcome(out, knobs)
        g, f = self.estimators(z, out, batch)
        rows = batch.s.shape[2]
        q = g.groups.softmax(1)
        both = add_at(q.clone(), batch.s, 1)  # q + s
        by_f = add_at(f.groups.sigmoid().mul_(both), batch.s, -1).div_(rows)
        by_g = add_at(q, batch.s, -1).div_(rows)
        return g.gradients(z, by_g, out) | f.gradients(z, by_f, out)

    def gradients(self, out: Outputs, batch: Batch, knobs: Knobs) -> "dict[str, Tensor]":
        """By the target predictor's logits: ∂S/∂g = α (s − q) / B, ∂D/∂f = α s / B, through z."""
        by_target = task_gradient(out, batch)
        if batch.epoch >= knobs.warm_up:
            z = self.outcome(out, knobs)
            g, f = self.estimators(z, out, batch)
            by_g = add_at(g.groups.softmax(1).neg_(), batch.s, 1)
            by_f = add_at(f.groups.new_zeros(f.groups.shape), batch.s, 1)
            by_z = g.by_input(by_g, out).add_(f.by_input(by_f, out)).mul_(batch.weight)
            by_odds = by_z.mul_(1 - z.square()).mul_(knobs.sharpness / 2)
            by_target[:, 1:] += by_odds
            by_target[:, :1] -= by_odds
        return {"target": by_target}


METHOD = Fitted()
