"""Adversarial: a reading that gives the paper's constant rows, and one that does not.

In print Adversarial predicts class 0 for every row of every dataset and setting, and its imparity
is 0.000 even where the released metric gives a constant predictor more.
"""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from infofair.methods.adversarial import Adversarial
from infofair.methods.base import (
    Batch,
    Fit,
    Network,
    Outputs,
    Parameters,
    Solver,
    Task,
    log_likelihood,
)


class OneOutputByArgmax(Solver):
    """A predictor with one output, read as if it had one for each class.

    Zhang's predictor, and those of AIF360 and fairlearn, put out one number, the score of class 1.
    The released evaluation takes the largest of a row's outputs for its class; the largest of one
    is the first, so that everybody gets class 0, whatever was trained. That is why nothing is
    trained here: the score is any column.
    """

    random = False

    def fit(self, task: Task, seed: int) -> Fit:
        def predict(X: np.ndarray) -> np.ndarray:
            scores = X[:, :1]  # rows × 1 output
            return np.argmax(scores, axis=1).astype(float)  # here is the mistake

        return Fit(predict)


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
