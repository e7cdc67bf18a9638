"""Adversarial with a strength that grows: tried as an explanation of the paper's constant rows."""

from typing import ClassVar

import torch
from torch import Tensor

from infofair.methods.adversarial import Adversarial
from infofair.methods.base import Batch, Network, Outputs, Parameters, log_likelihood


class AdversarialGrowing(Adversarial):
    """A strength that grows, at a learning rate that does not fall.

    Zhang, Lemoine and Mitchell let α = √t in step t, and the learning rate fall as 1/t, so that
    their product vanishes. At the InfoFair paper's constant rate it grows without bound: W follows

        −∇_W L_P + proj_{∇_W L_A} ∇_W L_P + α √t ∇_W L_A.

    The adversary is the plain one, L_A = E[−log softmax(b + u ŷ)[s]], from a random start.
    """

    zeros: ClassVar[tuple[str, ...]] = ()  # type: ignore[assignment]
    adversary_gradients = Network.adversary_gradients

    def adversary(self, out: Outputs, batch: Batch) -> Tensor:
        """L_A."""
        logits = out["bias"].T + out["target"].softmax(1)[:, 1:] * out["slope"].T
        return -log_likelihood(torch.where(batch.present, logits, -torch.inf), batch.s)

    def settle(
        self, mine: Parameters, theirs: Parameters, alpha: Tensor, step: Tensor
    ) -> dict[str, Tensor]:
        return super().settle(mine, theirs, alpha * step.sqrt(), step)
