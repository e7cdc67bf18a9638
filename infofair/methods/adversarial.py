"""Adversarial: a second player reads the group off the prediction, the first takes that from it.

Zhang, Lemoine and Mitchell, "Mitigating Unwanted Biases with Adversarial Learning", AIES 2018. The
predictor W (here feature extractor and target predictor) has the loss L_P, the adversary U the loss
L_A. U follows −∇_U L_A; W follows the negative of

    ∇_W L_P − proj_{∇_W L_A} ∇_W L_P − α ∇_W L_A,

the projection taken over all of W at once: what W does for its own loss then neither helps nor
hinders the adversary, and the last term hinders it. For demographic parity the adversary sees the
prediction alone:

    L_P = T = E[−log ỹ[y]],      L_A = E[−log softmax(b + u (ŷ − E ŷ))[s]],

with ŷ the probability of class 1, E ŷ its mean over the minibatch, s one of k groups and U = (b, u)
a bias and a slope for each of them: InfoFair's sensitive feature predictor, a linear map, as the
InfoFair paper has it, with ŷ in place of z. Both players take Adam's steps at the same learning
rate. Early stopping watches L_P.

Two choices of ours keep the k-way adversary honest; on Adult's validation rows the imparity for
race is 0.14 without them, twice vanilla's. U starts at zero: a random U is wrong about the groups,
and at this learning rate W exploits that for dozens of epochs. And ŷ is centred, which b makes up
for: otherwise u helps to learn how common the groups are, and W is pushed about by that.
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
    log_likelihood,
    task_gradient,
    task_loss,
    through_softmax,
)

TINY = 1e-30


class Adversarial(Network):
    terms = ("T", "A")  # A = −α L_A, which the second player's part stands for
    free = {"bias": (GROUPS, 1), "slope": (GROUPS, 1)}  # b, u
    zeros = ("bias", "slope")

    def adversary(self, out: Outputs, batch: Batch) -> Tensor:
        """L_A."""
        prediction = out["target"].softmax(1)[:, 1:]  # B × 1
        logits = out["bias"].T + (prediction - prediction.mean()) * out["slope"].T
        return -log_likelihood(torch.where(batch.present, logits, -torch.inf), batch.s)

    def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
        return {"T": task_loss(out, batch), "A": -batch.alpha * self.adversary(out, batch)}

    def gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """Of L_P alone: `settle` has the rest."""
        return {"target": task_gradient(out, batch)}

    def adversary_gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        prediction = out["target"].softmax(1)
        centred = prediction[:, 1:] - prediction[:, 1:].mean(2, keepdim=True)
        logits = out["bias"] + out["slope"] * centred
        logits = logits if batch.mask is None else logits + batch.mask
        by_logits = add_at(logits.softmax(1), batch.s, -1).mul_(1 / batch.s.shape[2])
        by_centred = (out["slope"] * by_logits).sum(1)
        by_prediction = by_centred - by_centred.mean(1, keepdim=True)
        return {
            "target": through_softmax(by_prediction, prediction),
            "bias": by_logits.sum(2, keepdim=True),
            "slope": (by_logits * centred).sum(2, keepdim=True),
        }

    def watched(self, terms: dict[str, Tensor]) -> Tensor:
        return terms["T"]

    def settle(
        self, mine: Parameters, theirs: Parameters, alpha: Tensor, step: Tensor
    ) -> dict[str, Tensor]:
        """With a = ∇_W L_A: W gets ∇_W L_P − (⟨∇_W L_P, a⟩ / ⟨a, a⟩ + α) a, U gets ∇_U L_A."""
        W = [name for name in mine if name not in self.free]
        inner = sum((mine[name] * theirs[name]).sum() for name in W)
        square = sum(theirs[name].square().sum() for name in W)
        scale = inner / (square + TINY) + alpha  # a gradient of zero has no direction
        settled = {name: mine[name].addcmul(scale, theirs[name], value=-1) for name in W}
        return settled | {name: theirs[name] for name in self.free}
