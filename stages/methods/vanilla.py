"""Vanilla: the classifier without fairness. J = T = E[−log ỹ[y]]

Feature extractor and target predictor of InfoFair and nothing else, so the sensitive attributes
play no part: one model per seed is evaluated in every setting. The paper does not print its
learning rate; params.yaml gives it InfoFair's.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from stages.methods import CLASSES, Batch, Method, Outputs, task_loss
from stages.params import Strict

if TYPE_CHECKING:
    from torch import Tensor


class Knobs(Strict):
    learning_rate: float = Field(gt=0)


class Vanilla(Method):
    uses_alpha = False
    uses_groups = False
    uses_noise = False
    terms = ("T",)
    heads: Mapping[str, str | int] = {"target": CLASSES}
    vectors: Mapping[str, str | int] = {}

    def objective(self, out: Outputs, batch: Batch, knobs: Knobs) -> "dict[str, Tensor]":
        return {"T": task_loss(out, batch)}


METHOD = Vanilla()
