"""What a method is: one file and one class, ordinary PyTorch for one model and one minibatch.

Its fields, made with `knob`, are what a user may set, and a section of params.yaml. Methods are of
two kinds. A `Network` is trained by gradients: it gives its objective, or, as a `Penalty`, only the
term that it adds to the task's loss. infofair/training owns data, optimiser, early stopping and
numerics, and trains many models of a method at once: `vmap` runs what is written for one model for
all of them, autograd differentiates it by the outputs of the heads, linear maps of the extractor's
output z. A `Solver` fits one model by an algorithm of its own.

A network may add a closed form of a gradient where `make bench` shows that it pays, for all R
models of a pass (`Stacked`, rows innermost). It must be of the same class as the loss that it is
the gradient of, or of a class below that: whoever overrides the loss and inherits somebody else's
closed form would train something else, and is refused when it is defined.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from infofair.data.prepared import ALL, Prepared
from infofair.errors import Problem
from infofair.knobs import knob, knobs_of, wrong

CLASSES, GROUPS = "classes", "groups"  # sizes that the dataset and the setting decide

# -- any method -----------------------------------------------------------------------------------

# a loss -> the closed form of its gradient
CLOSED_FORMS = {
    "objective": "gradients",
    "penalty": "penalty_gradient",
    "critic": "critic_gradients",
    "adversary": "adversary_gradients",
}


def by_autograd(function: Any) -> Any:
    """Marks what finds the gradient of any loss: no closed form."""
    function.by_autograd = True
    return function


def _refuse_foreign_closed_forms(cls: type) -> None:
    def definer(name: str) -> int | None:
        return next((i for i, c in enumerate(cls.__mro__) if name in vars(c)), None)

    for loss, closed in CLOSED_FORMS.items():
        of_loss, of_closed = definer(loss), definer(closed)
        if of_loss is None or of_closed is None or of_closed <= of_loss:
            continue
        other = cls.__mro__[of_closed]
        if not getattr(vars(other)[closed], "by_autograd", False):
            raise TypeError(
                f"{cls.__name__} has its own {loss} but inherits {other.__name__}.{closed}, "
                f"the gradient of another one: write {closed} too, or inherit from a class "
                "that has none (Network, Penalty), whose gradient is found by autograd"
            )


def closed_forms(method: type) -> dict[str, str]:
    """Which losses of a method have a closed form of their gradient: loss -> closed form."""
    return {
        loss: form
        for loss, form in CLOSED_FORMS.items()
        if hasattr(method, form) and not getattr(getattr(method, form), "by_autograd", False)
    }


class Method(ABC):  # noqa: B024 (its two kinds have them)
    """What every method says of itself."""

    uses_alpha: ClassVar[bool] = True
    uses_groups: ClassVar[bool] = True  # False: one model per seed serves every setting

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _refuse_foreign_closed_forms(cls)
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for own in knobs_of(self):
            if problem := wrong(own, getattr(self, own.name)):
                raise Problem(f"{type(self).__name__}: {problem}")

    def handles(self, groups: int) -> bool:
        """Whether it is defined for a setting of so many groups; N/A in the tables if not."""
        return True

    def with_knobs(self, **changes: Any) -> Self:
        return replace(self, **changes)  # type: ignore[type-var]


def handled(method: Method, data: Prepared) -> list[str]:
    """The settings of the dataset that it has models for: those that it is defined for, or ALL."""
    if not method.uses_groups:
        return [ALL] if data.settings else []
    return [s for s in data.settings if method.handles(len(data.group_names[s]))]


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
    random: ClassVar[bool]  # False: nothing is drawn, so one fit, seed 0, stands for all seeds
    # True: the fit is the same for all seeds, which draw each row's decision with its probability
    draws: ClassVar[bool] = False
    strength: ClassVar[str] = ""  # the knob that the fronts vary, if there is one

    def grid(self) -> list[Self]:
        """The values to try; each is fitted and the best validation `score` is kept."""
        return [self]

    def prepare(self, task: Task) -> Any:
        """What all fits of a setting share, whatever the strength; `fit` gets it, not the task."""
        return task

    @abstractmethod
    def fit(self, task: Any, seed: int) -> Fit:
        """One model."""

    def score(self, probability: np.ndarray, y: np.ndarray, s: np.ndarray) -> float:
        """How good validation predictions are; only a method with a grid has a say in this."""
        return 0.0

    def at_strength(self, strength: float) -> Self:
        if not self.strength:
            return self
        several = isinstance(getattr(self, self.strength), tuple)
        return self.with_knobs(**{self.strength: (strength,) if several else strength})


# -- methods trained by gradients -----------------------------------------------------------------


class Batch(NamedTuple):
    """What one model sees of a minibatch of B rows."""

    y: Tensor  # (B,), the class of each row
    s: Tensor  # (B, groups), its group in the model's setting, one-hot
    alpha: Tensor  # (), the strength
    noise: Tensor | None  # (B, groups), Gumbel(0, 1), for methods that ask for it
    shares: Tensor  # (groups, classes), of the training rows
    present: Tensor  # (groups,), False for groups that the setting lacks (settings share a pass)
    epoch: int  # from 0


@dataclass
class Stacked:
    """The minibatches of R models, as closed forms see them; the rows are innermost."""

    y: Tensor  # R × 1 × B, the class of each row
    s: Tensor  # R × 1 × B, the group of each row in the model's setting
    groups: int  # of the setting with most groups
    noise: Tensor | None  # R × groups × B
    # R × groups × 1: −inf for groups that a model's setting does not have; None if all have all
    mask: Tensor | None
    alpha: Tensor  # R
    epoch: int
    shares: Tensor  # R × groups × classes
    # R × 1 × 1: α / B, what a row counts for in α times a mean; follows if it is not given
    weight: Tensor = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.weight is None:
            self.weight = self.alpha[:, None, None] / self.y.shape[2]

    def one_hot(self) -> Tensor:
        """R × groups × B."""
        numbers = torch.arange(self.groups, device=self.s.device)[:, None]
        return (self.s == numbers).to(self.alpha.dtype)

    def present(self) -> Tensor:
        """R × groups."""
        if self.mask is None:
            return self.alpha.new_ones(len(self.alpha), self.groups, dtype=torch.bool)
        return self.mask[:, :, 0] == 0


LANES = 16  # floats that a processor's kernels take at a time


def for_each(function: Callable[..., Any], *stacked: Any) -> Any:
    """`vmap` of a function of one model, in the same bits whoever else is in the stack.

    Kernels take the last few numbers of an array one by one, which rounds some functions otherwise,
    and a single matrix product is not one of a batch of one. So the stack is filled up to whole
    registers, and nobody is last or alone.
    """
    parts = list(stacked)
    R = next(len(part) for part in parts if isinstance(part, Tensor))
    missing = -R % LANES

    def filled(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: filled(own) for name, own in part.items()}
        return (
            part if part is None else torch.cat([part, part[-1:].expand(missing, *part.shape[1:])])
        )

    if missing:
        parts = [filled(part) for part in parts]
    where = tuple(None if part is None else 0 for part in parts)
    found = torch.vmap(function, in_dims=where)(*parts)
    return {n: of[:R] for n, of in found.items()} if isinstance(found, dict) else found[:R]


Outputs = Mapping[str, Tensor]  # heads: (B, outputs), of R models R × outputs × B; free maps
Parameters = Mapping[str, Tensor]  # a model's, or their gradients


class Network(Method):
    """Feature extractor, heads on its output z, an objective."""

    learning_rate: float = knob(1e-4, gt=0, source="of Adam; InfoFair's")

    uses_noise: ClassVar[bool] = False
    terms: ClassVar[tuple[str, ...]]  # the objective is their sum; T, the task loss, comes first
    heads: ClassVar[Mapping[str, str | int]] = {"target": CLASSES}  # linear maps of z: outputs
    # name -> (outputs, inputs) of a linear map of something else, without bias
    free: ClassVar[Mapping[str, tuple[str | int, str | int]]] = {}
    zeros: ClassVar[tuple[str, ...]] = ()  # the free maps that start at zero, not at random
    # The free maps that have a loss (`critic`) and an optimiser of their own. Before each step of
    # the others they take `critic_steps` at `critic_learning_rate` (the method's knobs), without
    # decay, each on a part of the minibatch.
    critics: ClassVar[tuple[str, ...]] = ()
    if TYPE_CHECKING:
        critic_steps: int
        critic_learning_rate: float
    reports: ClassVar[tuple[str, ...]] = ()  # what `objective` gives besides the terms, for curves
    block: ClassVar[int] = 4096  # validation rows that the objective sees at a time
    repairs: ClassVar[bool] = False  # True: `repair` gives each setting features of its own

    def repair(self, data: Prepared, setting: str, alpha: float) -> np.ndarray:
        """The features of all rows, repaired for this setting."""
        raise NotImplementedError

    # -- for one model ----------------------------------------------------------------------------

    @abstractmethod
    def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
        """Each term, and what is reported. Outputs of heads for groups a setting lacks are −inf."""

    def watched(self, terms: dict[str, Tensor]) -> Tensor:
        """What early stopping watches on the validation rows."""
        return sum(terms[name] for name in self.terms)  # type: ignore[return-value]

    def critic(self, out: Outputs, batch: Batch) -> Tensor:
        """The critics' loss; what the heads put out is given."""
        raise NotImplementedError

    # A second player who moves at the same time: its loss, by the heads' outputs and the free maps,
    # and what both players' gradients come to.
    adversary: ClassVar[Callable[..., Tensor] | None] = None

    def settle(
        self, mine: Parameters, theirs: Parameters, alpha: Tensor, step: Tensor
    ) -> dict[str, Tensor]:
        """step: its number, from 1 on."""
        raise NotImplementedError

    # -- for all models of a pass -----------------------------------------------------------------

    def each(self, function: Callable[..., Any], out: Outputs, batch: Stacked) -> Any:
        """`function(out, batch)` for every model: a tensor of R, or several by name."""

        def one(out: Outputs, y: Tensor, s: Tensor, noise: Tensor | None, *others: Tensor) -> Any:
            alpha, shares, present = others
            own = {name: part.T if name in self.heads else part for name, part in out.items()}
            drawn = None if noise is None else noise.T
            return function(own, Batch(y, s.T, alpha, drawn, shares, present, batch.epoch))

        return for_each(
            one, dict(out), batch.y[:, 0], batch.one_hot(), batch.noise, batch.alpha, batch.shares,
            batch.present(),
        )  # fmt: skip

    def values(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """Each term and report of every model, R."""
        return self.each(self.objective, out, batch)

    def _differentiate(
        self, loss: Callable[..., Tensor], out: Outputs, batch: Stacked, by: tuple[str, ...]
    ) -> dict[str, Tensor]:
        """The gradient of every model's loss by some of what it sees."""
        with torch.enable_grad():
            leaves = {name: out[name].detach().requires_grad_() for name in by}
            total = self.each(loss, {**out, **leaves}, batch).sum()
        found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
        return {
            name: torch.zeros_like(leaf) if gradient is None else gradient
            for (name, leaf), gradient in zip(leaves.items(), found, strict=True)
        }

    @by_autograd
    def gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """The gradient of the terms' sum by each of `out`; critics are given, and so is a second
        player's part."""

        def loss(out: Outputs, batch: Batch) -> Tensor:
            found = self.objective(out, batch)
            return sum(found[name] for name in self.terms)  # type: ignore[return-value]

        given = self.free if self.adversary else self.critics
        return self._differentiate(loss, out, batch, tuple(n for n in out if n not in given))

    @by_autograd
    def critic_gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """The gradient of the critics' loss by each of them."""
        return self._differentiate(self.critic, out, batch, self.critics)

    @by_autograd
    def adversary_gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        """The gradient of the second player's loss by each of `out`."""
        assert self.adversary is not None
        return self._differentiate(self.adversary, out, batch, tuple(out))


class Classifier(Network):
    """Feature extractor and target predictor: J = T = E[−log ỹ[y]]."""

    terms = ("T",)

    def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
        return {"T": task_loss(out, batch)}

    def gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        return {"target": task_gradient(out, batch)}


class Penalty(Network):
    """J = T + α F, with F a function of the probabilities p of class 1."""

    terms = ("T", "F")

    @abstractmethod
    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """F of one model; p, y: (B,); s: (B, groups), one-hot."""

    def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
        p = out["target"].softmax(1)[:, 1]
        return {
            "T": task_loss(out, batch),
            "F": batch.alpha * self.penalty(p, batch.y, batch.s),
        }

    def gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        prediction = out["target"].softmax(1)
        by_p = self.penalty_gradient(prediction[:, 1], batch)
        through = through_softmax(batch.alpha[:, None] * by_p, prediction)
        return {"target": task_gradient(out, batch) + through}

    @by_autograd
    def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
        """The gradient of F by p, R × B."""
        with torch.enable_grad():
            leaf = p.detach().requires_grad_()
            total = for_each(
                lambda p, y, s: self.penalty(p, y, s.T), leaf, batch.y[:, 0], batch.one_hot()
            ).sum()
        (found,) = torch.autograd.grad(total, [leaf], allow_unused=True)
        return torch.zeros_like(p) if found is None else found


# -- what methods share ---------------------------------------------------------------------------


def task_loss(out: Outputs, batch: Batch) -> Tensor:
    """T = E[−log ỹ[y]] of one model."""
    return F.cross_entropy(out["target"], batch.y)


def log_likelihood(logits: Tensor, s: Tensor) -> Tensor:
    """E[log softmax(logits)[s]] of one model; logits, s: (B, groups), s one-hot."""
    return torch.where(s > 0, logits.log_softmax(1), 0).sum(1).mean()


def task_gradient(out: Outputs, batch: Stacked) -> Tensor:
    """The gradient of T by the target predictor's logits: (softmax − one-hot) / B."""
    return add_at(out["target"].softmax(1), batch.y, -1).mul_(1 / batch.y.shape[2])


def through_softmax(by_p: Tensor, prediction: Tensor) -> Tensor:
    """From the gradient by p = softmax(o)₁, R × B, to that by the logits o: ∂p/∂o = p (e₁ − ỹ)."""
    scaled = (by_p * prediction[:, 1])[:, None]
    gradient = -scaled * prediction
    gradient[:, 1:] += scaled
    return gradient


def add_at(tensor: Tensor, label: Tensor, value: float) -> Tensor:
    """In place: `value` more at every label, an index into dimension 1."""
    constant = _constant(value, tensor.dtype, tensor.device)
    return tensor.scatter_add_(1, label, constant.expand(label.shape))


@cache
def _constant(value: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Made once: a new tensor takes longer than what a step does with it."""
    return torch.tensor(value, dtype=dtype, device=device)
