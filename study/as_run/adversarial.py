"""Adversarial with a strength that grows, at a learning rate that does not fall.

Zhang, Lemoine and Mitchell let α = √t in step t, and the learning rate fall as 1/t, so that their
product vanishes. At the InfoFair paper's constant rate it grows without bound: W follows

    −∇_W L_P + proj_{∇_W L_A} ∇_W L_P + α √t ∇_W L_A.

The adversary is the plain one, L_A = E[−log softmax(b + u ŷ)[s]], from a random start. Tried as an
explanation of the paper's constant rows; study/as_run/__init__.py says what became of it.

A method is told the epoch, not the step: √t is √(steps per epoch · epochs begun), a staircase whose
top step is Zhang's. It is a factor of L_A, which the projection does not notice; nor does U, whose
Adam steps do not depend on the scale of its gradient (but for the weight decay, which counts less).
"""

import math
from typing import ClassVar

import torch
from torch import Tensor

from infofair.methods.adversarial import Adversarial
from infofair.methods.base import Batch, Network, Outputs, knob, log_likelihood


class AdversarialGrowing(Adversarial):
    steps: int = knob(1, ge=1, source="of an epoch: t counts steps; 1: t counts epochs")

    zeros: ClassVar[tuple[str, ...]] = ()  # type: ignore[assignment]
    adversary_gradients = Network.adversary_gradients

    def adversary(self, out: Outputs, batch: Batch) -> Tensor:
        """√t L_A."""
        logits = out["bias"].T + out["target"].softmax(1)[:, 1:] * out["slope"].T
        loss = -log_likelihood(torch.where(batch.present, logits, -torch.inf), batch.s)
        return loss * math.sqrt(self.steps * (batch.epoch + 1))
