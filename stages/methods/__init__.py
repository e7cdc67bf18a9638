"""The methods: one file each, `stages/methods/<name>.py`, that defines `METHOD` and `Knobs`.

`Knobs` is the method's section of params.yaml. `METHOD` of a gradient-trained method names the
linear maps it puts on the extractor's output z and gives its objective; stages/trainer.py owns
data, optimiser, early stopping and numerics, and trains many models of it at once.

Every stage checks params.yaml against the `Knobs` here, so method files stay quick to import: they
use tensors' own methods and leave `import torch` to the trainer.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

CLASSES, GROUPS = "classes", "groups"  # sizes that the dataset and the setting decide
ALL = "all"  # the setting of models that do not depend on one


@dataclass
class Batch:
    """What an objective sees of R models' minibatches of B rows; the rows are innermost."""

    y: "Tensor"  # R × 1 × B, the class of each row
    s: "Tensor"  # R × 1 × B, the group of each row in the model's setting
    noise: "Tensor | None"  # R × groups × B, Gumbel(0, 1), for methods that ask for it
    alpha: "Tensor"  # R
    epoch: int  # from 0


Outputs = Mapping[str, "Tensor"]  # heads: R × outputs × B; vectors: R × length


class Method(ABC):
    """A gradient-trained method. R models share a pass; each must see only its own row of R."""

    uses_alpha: bool  # True: listed under methods.regularized or .ablations in params.yaml
    uses_groups: bool  # False: one model per seed serves every setting
    uses_noise: bool
    terms: tuple[str, ...]  # the objective is their sum; T, the task loss, comes first
    heads: Mapping[str, str | int]  # name -> outputs of a linear map of z, without bias
    vectors: Mapping[str, str | int]  # name -> length of a free parameter vector

    @abstractmethod
    def objective(self, out: Outputs, batch: Batch, knobs: Any) -> "dict[str, Tensor]":
        """Each term for each model (R).

        Outputs for groups a setting does not have (settings share one pass) are −inf.
        """

    def gradients(
        self, out: Outputs, batch: Batch, knobs: Any
    ) -> "tuple[dict[str, Tensor], dict[str, Tensor]]":
        """The terms, and the gradient of their sum by each of `out`.

        By autograd; a method overrides it where a closed form is worth the speed.
        """
        leaves = {name: tensor.detach().requires_grad_() for name, tensor in out.items()}
        terms = self.objective(leaves, batch, knobs)
        sum(term.sum() for term in terms.values()).backward()  # type: ignore[union-attr]
        gradients = {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None}
        return {name: term.detach() for name, term in terms.items()}, gradients


def load(name: str) -> Method:
    return import_module(f"stages.methods.{name}").METHOD


def task_loss(out: Outputs, batch: Batch) -> "Tensor":
    """T = E[−log ỹ[y]] for each model."""
    return -mean_log_likelihood(out["target"], batch.y)


def mean_log_likelihood(logits: "Tensor", label: "Tensor") -> "Tensor":
    """E[log softmax(logits)[label]] over the rows, R."""
    return logits.log_softmax(1).gather(1, label).mean((1, 2))


def likelihood_gradient(logits: "Tensor", label: "Tensor") -> "Tensor":
    """The gradient of `mean_log_likelihood` by the logits: (one-hot − softmax) / B."""
    gradient = logits.softmax(1).neg_()
    rows = label.shape[2]
    one = gradient.new_ones(()).expand(label.shape)
    return gradient.scatter_add_(1, label, one).div_(rows)
