"""Reweighing: training rows count as much as they would if class and group were independent.

Kamiran and Calders, "Data preprocessing techniques for classification without discrimination",
Knowledge and Information Systems 33, 2012. With p the shares of the training rows,

    J = T = E[w(s, y)^α (−log ỹ[y])],          w(s, y) = p(s) p(y) / p(s, y).

α = 1 is the original and α = 0 the vanilla model; between and beyond them α is our measure of
strength. A group and class that no training row has has weight 1: it can occur only in validation
rows, where early stopping looks.
"""

from typing import TYPE_CHECKING

from pydantic import Field

from stages.methods import Batch, Classifier, Outputs, task_gradient
from stages.params import Strict

if TYPE_CHECKING:
    from torch import Tensor


class Knobs(Strict):
    learning_rate: float = Field(gt=0)


def weights(batch: Batch) -> "Tensor":
    """w(s, y)^α of each row, R × 1 × B."""
    joint = batch.shares
    independent = joint.sum(2, keepdim=True) * joint.sum(1, keepdim=True)
    w = (independent / joint).masked_fill_(joint == 0, 1) ** batch.alpha[:, None, None]
    cell = batch.s * joint.shape[2] + batch.y
    return w.flatten(1)[:, None].gather(2, cell)


class Reweighing(Classifier):
    uses_alpha = True

    def objective(self, out: Outputs, batch: Batch, knobs: Knobs) -> "dict[str, Tensor]":
        log_likelihood = out["target"].log_softmax(1).gather(1, batch.y)
        return {"T": -(weights(batch) * log_likelihood).mean((1, 2))}

    def gradients(self, out: Outputs, batch: Batch, knobs: Knobs) -> "dict[str, Tensor]":
        return {"target": task_gradient(out, batch).mul_(weights(batch))}


METHOD = Reweighing()
