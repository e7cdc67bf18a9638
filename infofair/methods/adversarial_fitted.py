"""Adversarial debiasing whose adversary is fitted: a hidden layer, and ahead of the predictor.

Zhang, Lemoine and Mitchell, "Mitigating Unwanted Biases with Adversarial Learning", AIES 2018, for
demographic parity: the adversary sees the prediction alone. With L_P = T = E[−log ỹ[y]] the
predictor's loss and L_A = E[−log q(s|z)] the adversary's, q = softmax(g(z)), the predictor W
follows the negative of

    ∇_W L_P − proj_{∇_W L_A} ∇_W L_P − α ∇_W L_A,

the gradient of T − α L_A less the part of the task's that would help or hinder the adversary.

infofair/methods/adversarial.py is what the paper compares with: a linear adversary that takes one
step for one of the predictor's, at the predictor's learning rate. It lags behind, so that the
predictor is pushed by what was once true, and imparity rises with α. Here the adversary is as good
as the critic of infofair/methods/infofair_fitted.py, and is that critic: the same layers, `in`,
`out` and a slope, on the same z = tanh(κ/2 · log-odds), `critic_steps` at its own learning rate
before each step of the predictor, and `warm_up` epochs before the predictor listens. With κ = 1, z
is the probability of class 1 but for scale, which is what Zhang's adversary sees; the larger κ, the
more it is the decision, which parity is about.

−α L_A is InfoFair's S. So without the projection this would be, to the letter, InfoFair, fitted,
without its density ratio (T+S), and the projection is all that is between the two. It is kept
because it is what Zhang's method adds to a plain min-max game. Also at α = 0 it takes from the
task's gradient what tells of s: that is not vanilla, and the same α asks for more than in T+S.
"""

import torch
from torch import Tensor

from infofair.methods.base import (
    GROUPS,
    Batch,
    Network,
    Outputs,
    Parameters,
    Stacked,
    add_at,
    knob,
    log_likelihood,
    task_gradient,
    task_loss,
)

UNITS = 16  # of the adversary's hidden layer
TINY = 1e-30


class AdversarialFitted(Network):
    learning_rate: float = knob(0.003, gt=0, source="of the predictor; the backbone's")
    critic_learning_rate: float = knob(0.02, gt=0, source="of the adversary; validation")
    critic_steps: int = knob(8, ge=1, source="before each step of the others; infofair_fitted's")
    warm_up: int = knob(5, ge=0, unit="epochs", source="before it counts; infofair_fitted's")
    sharpness: float = knob(4.0, gt=0, source="κ in z = tanh(κ/2 · log-odds); validation")

    terms = ("T", "A")  # A = −α L_A
    free = {
        "in": (UNITS, 1), "in_bias": (UNITS, 1), "out": (GROUPS, UNITS), "slope": (GROUPS, 1),
        "bias": (GROUPS, 1),
    }  # fmt: skip
    critics = tuple(free)
    zeros = ("out", "slope", "bias")  # at first no z tells anything of s

    def critic(self, out: Outputs, batch: Batch) -> Tensor:
        """L_A."""
        z = ((out["target"][:, 1:] - out["target"][:, :1]) * (self.sharpness / 2)).tanh()
        hidden = (z @ out["in"].T + out["in_bias"].T).tanh()
        g = hidden @ out["out"].T + z @ out["slope"].T + out["bias"].T
        return -log_likelihood(torch.where(batch.present, g, -torch.inf), batch.s)

    def adversary(self, out: Outputs, batch: Batch) -> Tensor:
        """The same, as the predictor sees it: nothing before the end of the warm-up."""
        return self.critic(out, batch) * (batch.epoch >= self.warm_up)

    def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
        return {"T": task_loss(out, batch), "A": -batch.alpha * self.adversary(out, batch)}

    def settle(
        self, mine: Parameters, theirs: Parameters, alpha: Tensor, step: Tensor
    ) -> dict[str, Tensor]:
        """With a = ∇_W L_A: W gets ∇_W L_P − (⟨∇_W L_P, a⟩ / ⟨a, a⟩ + α) a.

        The adversary has had its steps.
        """
        W = [name for name in mine if name not in self.free]
        inner = sum((mine[name] * theirs[name]).sum() for name in W)
        square = sum(theirs[name].square().sum() for name in W)
        scale = inner / (square + TINY) + alpha  # a gradient of zero has no direction
        return {name: mine[name].addcmul(scale, theirs[name], value=-1) for name in W}

    # -- closed forms -----------------------------------------------------------------------------

    def gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """Of L_P alone: `settle` has the rest."""
        return {"target": task_gradient(out, batch)}

    def critic_gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        return self.backwards(out, batch)[0]

    def adversary_gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        if batch.epoch < self.warm_up:
            return {name: torch.zeros_like(part) for name, part in out.items()}
        own, by_odds = self.backwards(out, batch)
        return own | {"target": torch.cat([-by_odds, by_odds], 1)}

    def backwards(self, out: Outputs, batch: Stacked) -> tuple[dict[str, Tensor], Tensor]:
        """The gradient of L_A by the adversary's parts and by the log-odds, R × 1 × B.

        ∂L_A/∂g = (q − s) / B, and from there back through tanh, twice.
        """
        z = ((out["target"][:, 1:] - out["target"][:, :1]) * (self.sharpness / 2)).tanh()
        hidden = (out["in"] * z).add_(out["in_bias"]).tanh_()  # R × units × B
        g = out["out"].bmm(hidden).addcmul_(out["slope"], z).add_(out["bias"])
        g = g if batch.mask is None else g.add_(batch.mask)
        by_g = add_at(g.softmax(1), batch.s, -1).mul_(1 / batch.s.shape[2])
        by_hidden = out["out"].transpose(1, 2).bmm(by_g)
        by_hidden.addcmul_(by_hidden * hidden, hidden, value=-1)
        own = {
            "in": (by_hidden * z).sum(2, keepdim=True),
            "in_bias": by_hidden.sum(2, keepdim=True),
            "out": by_g.bmm(hidden.transpose(1, 2)),
            "slope": (by_g * z).sum(2, keepdim=True),
            "bias": by_g.sum(2, keepdim=True),
        }
        by_z = out["in"].transpose(1, 2).bmm(by_hidden).add_(out["slope"].transpose(1, 2).bmm(by_g))
        return own, by_z.mul_(1 - z.square()).mul_(self.sharpness / 2)
