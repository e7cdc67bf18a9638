"""Reweighing: training rows count as much as they would if class and group were independent.

Kamiran and Calders, "Data preprocessing techniques for classification without discrimination",
Knowledge and Information Systems 33, 2012. With p the shares of the training rows,

    J = T = E[w(s, y)^α (−log ỹ[y])],          w(s, y) = p(s) p(y) / p(s, y).

α = 1 is the original and α = 0 the vanilla model; between and beyond them α is our measure of
strength. A group and class that no training row has has weight 1: it can occur only in validation
rows, where early stopping looks.
"""

import torch
from torch import Tensor

from infofair.methods.base import Batch, Classifier, Outputs, Stacked, task_gradient


def weights(shares: Tensor, alpha: Tensor) -> Tensor:
    """w(s, y)^α of each group and class; shares: … × groups × classes, alpha: …"""
    independent = shares.sum(-1, keepdim=True) * shares.sum(-2, keepdim=True)
    w = torch.where(shares == 0, 1, independent / shares)
    return w ** alpha[..., None, None]


class Reweighing(Classifier):
    def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
        log_y = out["target"].log_softmax(1).gather(1, batch.y[:, None])[:, 0]
        of_row = (batch.s @ weights(batch.shares, batch.alpha)).gather(1, batch.y[:, None])[:, 0]
        return {"T": -(of_row * log_y).mean()}

    def gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """Of vanilla's, each row's part times its weight."""
        w = weights(batch.shares, batch.alpha)
        cell = batch.s * w.shape[2] + batch.y
        of_row = w.flatten(1)[:, None].gather(2, cell)
        return {"target": task_gradient(out, batch).mul_(of_row)}
