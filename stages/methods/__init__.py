"""The methods: one file each, `stages/methods/<name>.py`, that defines `METHOD` and `Knobs`.

`Knobs` is the method's section of params.yaml. `METHOD` is of one of two kinds. A `Network` is
trained by gradients: it names the linear maps it puts on the extractor's output z and gives its
objective; stages/trainer.py owns data, optimiser, early stopping and numerics, and trains many
models of it at once. A `Solver` fits one model by an algorithm of its own; stages/solve.py spreads
the fits over processes.

Every stage checks params.yaml against the `Knobs` here, so method files stay quick to import: they
use tensors' own methods and leave torch, scipy and scikit-learn to the functions that need them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from stages.processed import Processed

CLASSES, GROUPS = "classes", "groups"  # sizes that the dataset and the setting decide
ALL = "all"  # the setting of models that do not depend on one


class Method(ABC):
    """What every method says of itself."""

    uses_alpha: bool
    uses_groups: bool = True  # False: one model per seed serves every setting
    finding: str = ""  # what the paper's row of this method turned out to be, for the report

    def handles(self, groups: int) -> bool:
        """Whether it is defined for a setting of so many groups; N/A in the tables if not."""
        return True


def load(name: str) -> Any:
    return import_module(f"stages.methods.{name}").METHOD


# -- methods with a solver of their own -----------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """One setting of a dataset as a solver sees it: split ("train", …) -> rows."""

    X: Mapping[str, np.ndarray]  # float64, rows × features
    y: Mapping[str, np.ndarray]  # int, rows: 0 or 1
    s: Mapping[str, np.ndarray]  # int, rows: the group
    groups: int
    # float64, rows × values: each attribute of the setting one-hot, side by side
    attributes: Mapping[str, np.ndarray]


@dataclass
class Fit:
    """A fitted model and what its solver did."""

    predict: Callable[[np.ndarray], np.ndarray]  # features -> probability of class 1
    log: list[dict[str, float]] = field(default_factory=list)  # rows for results/fits


class Solver(Method):
    uses_alpha = False
    random: bool  # False: nothing is drawn, so one fit, recorded as seed 0, stands for all seeds
    # True: the fit is the same for all seeds, which draw each row's decision with its probability
    draws: bool = False
    strength: str = ""  # the knob that the fronts vary, if there is one

    def grid(self, knobs: Any) -> list[Any]:
        """The values to try; each is fitted and the best validation `score` is kept."""
        return [knobs]

    def prepare(self, task: Task) -> Any:
        """What all fits of a setting share, computed once; `fit` gets it in place of the task."""
        return task

    @abstractmethod
    def fit(self, task: Any, seed: int, knobs: Any) -> Fit:
        """One model, for one value of the grid."""

    def score(self, probability: np.ndarray, y: np.ndarray, s: np.ndarray) -> float:
        """How good validation predictions are; only a method with a grid has a say in this."""
        return 0.0


# -- methods trained by gradients -----------------------------------------------------------------


@dataclass
class Batch:
    """What an objective sees of R models' minibatches of B rows; the rows are innermost."""

    y: "Tensor"  # R × 1 × B, the class of each row
    s: "Tensor"  # R × 1 × B, the group of each row in the model's setting
    groups: int  # of the setting with most groups
    noise: "Tensor | None"  # R × groups × B, Gumbel(0, 1), for methods that ask for it
    # R × groups × 1: −inf for groups that a model's setting does not have (settings share a pass);
    # None if all have all
    mask: "Tensor | None"
    alpha: "Tensor"  # R
    epoch: int  # from 0
    # R × groups × classes: the share of the training rows of each group and class in the model's
    # setting
    shares: "Tensor"
    # R × 1 × 1: α / B, what a row counts for in α times a mean; follows if it is not given
    weight: "Tensor" = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.weight is None:
            self.weight = self.alpha[:, None, None] / self.y.shape[2]


Outputs = Mapping[str, "Tensor"]  # heads: R × outputs × B; free: R × outputs × inputs
Parameters = Mapping[str, "Tensor"]  # of all models, or their gradients


class Network(Method):
    """Feature extractor, heads, an objective. R models share a pass; each sees its own row of R."""

    uses_noise: bool = False
    terms: tuple[str, ...]  # the objective is their sum; T, the task loss, comes first
    heads: Mapping[str, str | int]  # name -> outputs of a linear map of z, without bias
    # name -> (outputs, inputs) of a linear map of something else, without bias
    free: Mapping[str, tuple[str | int, str | int]] = {}
    zeros: tuple[str, ...] = ()  # the free maps that start at zero instead of at random
    # The free maps that have a loss and an optimiser of their own. Before each step of the others
    # they take `critic_steps` at `critic_learning_rate` (the method's knobs), without decay, each
    # on a part of the minibatch.
    critics: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()  # what `objective` gives besides the terms, for the curves
    block: int = 4096  # validation rows that the objective sees at a time
    repairs: bool = False  # True: `repair` gives each setting's models features of their own

    def repair(self, data: "Processed", setting: str, alpha: float, knobs: Any) -> np.ndarray:
        """The features of all rows, repaired for this setting."""
        raise NotImplementedError

    @abstractmethod
    def objective(self, out: Outputs, batch: Batch, knobs: Any) -> "dict[str, Tensor]":
        """Each term, and what is reported, for each model (R).

        Heads' outputs for groups a setting lacks are −inf.
        """

    def gradients(self, out: Outputs, batch: Batch, knobs: Any) -> "dict[str, Tensor]":
        """The gradient of the terms' sum by each of `out`, with an opponent by the heads alone.

        By autograd; a method overrides it where a closed form is worth the speed.
        """
        import torch

        with torch.enable_grad():
            leaves = {name: tensor.detach().requires_grad_() for name, tensor in out.items()}
            terms = self.objective(leaves, batch, knobs)
            sum(terms[name].sum() for name in self.terms).backward()  # type: ignore[union-attr]
        return {
            name: torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
            for name, leaf in leaves.items()
        }

    def watched(self, terms: "dict[str, Tensor]") -> "Tensor":
        """What early stopping watches on the validation rows."""
        return sum(terms[name] for name in self.terms)  # type: ignore[return-value]

    def criticise(self, out: Outputs, batch: Batch, knobs: Any) -> "dict[str, Tensor]":
        """The gradient of the critics' losses by each of them; the heads' outputs are given."""
        raise NotImplementedError

    def opponent(self, out: Outputs, batch: Batch, knobs: Any) -> "dict[str, Tensor] | None":
        """The gradient of a second player's loss by each of `out`, if there is a second player."""
        return None

    def settle(self, mine: Parameters, theirs: Parameters, alpha: "Tensor") -> None:
        """What both players' gradients come to, into `mine`: R × outputs × inputs."""
        raise NotImplementedError


class Classifier(Network):
    """Feature extractor and target predictor: J = T = E[−log ỹ[y]]."""

    terms: tuple[str, ...] = ("T",)
    heads: Mapping[str, str | int] = {"target": CLASSES}

    def objective(self, out: Outputs, batch: Batch, knobs: Any) -> "dict[str, Tensor]":
        return {"T": task_loss(out, batch)}

    def gradients(self, out: Outputs, batch: Batch, knobs: Any) -> "dict[str, Tensor]":
        return {"target": task_gradient(out, batch)}


class Penalised(Classifier):
    """J = T + α F, with F a function of the probabilities p of class 1."""

    uses_alpha = True
    terms = ("T", "F")

    @abstractmethod
    def penalty(self, p: "Tensor", batch: Batch, knobs: Any) -> "tuple[Tensor, Tensor]":
        """F (R) and its gradient by p (R × B)."""

    def objective(self, out: Outputs, batch: Batch, knobs: Any) -> "dict[str, Tensor]":
        F, _ = self.penalty(out["target"].softmax(1)[:, 1], batch, knobs)
        return super().objective(out, batch, knobs) | {"F": batch.alpha * F}

    def gradients(self, out: Outputs, batch: Batch, knobs: Any) -> "dict[str, Tensor]":
        prediction = out["target"].softmax(1)
        _, by_p = self.penalty(prediction[:, 1], batch, knobs)
        through = through_softmax(batch.alpha[:, None] * by_p, prediction)
        return {"target": task_gradient(out, batch) + through}


def through_softmax(by_p: "Tensor", prediction: "Tensor") -> "Tensor":
    """From the gradient by p = softmax(o)₁, R × B, to that by the logits o: ∂p/∂o = p (e₁ − ỹ)."""
    scaled = (by_p * prediction[:, 1])[:, None]
    gradient = -scaled * prediction
    gradient[:, 1:] += scaled
    return gradient


def task_loss(out: Outputs, batch: Batch) -> "Tensor":
    """T = E[−log ỹ[y]] for each model."""
    return -mean_log_likelihood(out["target"], batch.y)


def task_gradient(out: Outputs, batch: Batch) -> "Tensor":
    """The gradient of T by the target predictor's logits: (softmax − one-hot) / B."""
    return add_at(out["target"].softmax(1), batch.y, -1).mul_(1 / batch.y.shape[2])


def mean_log_likelihood(logits: "Tensor", label: "Tensor") -> "Tensor":
    """E[log softmax(logits)[label]] over the rows, R."""
    return logits.log_softmax(1).gather(1, label).mean((1, 2))


def add_at(tensor: "Tensor", label: "Tensor", value: float) -> "Tensor":
    """In place: `value` more at every label, an index into dimension 1."""
    constant = _constant(value, tensor.dtype, tensor.device)
    return tensor.scatter_add_(1, label, constant.expand(label.shape))


@cache
def _constant(value: float, dtype: Any, device: Any) -> "Tensor":
    """Made once: a new tensor takes longer than what a step does with it."""
    import torch

    return torch.tensor(value, dtype=dtype, device=device)
