"""What is trained: rows, modules and numbers, the same for all models of a pass."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from infofair.framework import modules, notions, outcomes
from infofair.framework.checks import Invalid
from infofair.framework.players import DIMENSIONS, Critics, Pair, Predicted, Predictor
from infofair.framework.recipe import EXTRACTED, PREDICTION, REPRESENTATION, SCORE, Training
from infofair.framework.sensitive import Part
from infofair.training.streams import stream

# Of one model: what is predicted, z, the groups and numbers of each part of s, and which rows are
# of which condition, (conditions, B).
Penalty = Callable[[Predicted, Tensor, "list[tuple[Tensor, Tensor]]", Tensor], Tensor]


class Model(NamedTuple):
    """What tells models of a pass apart."""

    seed: int
    alpha: float


@dataclass(frozen=True)
class Replaced:
    """Modules, or functions that make them, in place of the default ones (None)."""

    extractor: Any = None
    target_predictor: Any = None
    sensitive_predictor: Any = None
    density_ratio: Any = None
    hidden: tuple[int, ...] = (32,)

    @property
    def any(self) -> bool:
        own = (self.extractor, self.target_predictor, self.sensitive_predictor, self.density_ratio)
        return any(part is not None for part in own)


@dataclass(frozen=True)
class Plan:
    X: np.ndarray  # float32, rows × …
    y: np.ndarray  # int64 classes, or float32 standardised numbers
    parts: list[Part]  # of s; empty if it is not known
    split: dict[str, np.ndarray]  # "train", "validation": row numbers
    classes: int  # 0: y is a number
    fair: str
    positive: int
    outcome: str
    training: Training
    replaced: Replaced
    penalty: Penalty | None = None  # in place of the critics
    joint: bool = False  # the critics minimise what the predictor does
    # seed -> its own training rows, equally many of each: models of several splits in one pass
    of_seeds: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def outputs(self) -> int:
        return self.classes or 1

    @property
    def criticised(self) -> bool:
        """Whether there are critics."""
        return bool(self.parts) and self.penalty is None

    def train_rows(self, seed: int) -> np.ndarray:
        return self.of_seeds.get(seed, self.split["train"])

    # -- modules ----------------------------------------------------------------------------------

    def predictor(self, seed: int) -> Predictor:
        """Feature extractor and target predictor, as a seed starts them."""
        own, inputs = self.replaced, self.X.shape[1] if self.X.ndim > 1 else 1
        with seeded(seed, "predictor"):
            extractor = _made(own.extractor, lambda n: modules.extractor(n, own.hidden), inputs)
            width = _width("extractor", extractor, torch.from_numpy(self.X[:2]))
            bottleneck = None
            if self.outcome == REPRESENTATION:
                bottleneck, width = nn.Linear(width, 2 * DIMENSIONS), DIMENSIONS
            target = _made(own.target_predictor, nn.Linear, width, self.outputs)
        found = _width("target_predictor", target, torch.zeros(2, width))
        if found != self.outputs:
            raise Invalid(f"target_predictor gives {found} outputs; expected {self.outputs}")
        return Predictor(extractor, target, bottleneck)

    def critics(self, seed: int) -> Critics:
        """A pair for every part of s and every condition, as a seed starts them."""
        own, d = self.replaced, self.dimensions
        count = self.classes if self.fair == notions.ODDS else 1
        with seeded(seed, "critics"):
            return Critics([
                [
                    Pair(
                        _made(own.sensitive_predictor, modules.sensitive_predictor, *sizes),
                        _made(own.density_ratio, modules.density_ratio, *sizes),
                        part.numbers,
                        union=self.joint,
                    )
                    for _ in range(count)
                ]
                for part in self.parts
                for sizes in [(d, part.groups, part.numbers)]
            ])  # fmt: skip

    @property
    def dimensions(self) -> int:
        """Of z."""
        if self.outcome == REPRESENTATION:
            return DIMENSIONS
        if self.outcome == EXTRACTED:
            return _width("extractor", self.predictor(0).extractor, torch.from_numpy(self.X[:2]))
        odds = 1 if self.classes <= 2 else self.classes
        return odds * (len(outcomes.THRESHOLDS) if self.outcome == SCORE else 1)

    # -- for one model ----------------------------------------------------------------------------

    def task_loss(self, output: Tensor, y: Tensor) -> Tensor:
        """T: cross-entropy, or the squared error of a number."""
        if self.classes:
            return nn.functional.cross_entropy(output, y)
        return (output[:, 0] - y).square().mean()

    def z(self, predicted: Predicted) -> Tensor:
        """What is to be fair, (B, d)."""
        if self.outcome in (REPRESENTATION, EXTRACTED):
            return predicted.representation
        if self.outcome == PREDICTION:
            return outcomes.prediction(predicted.output)
        if self.outcome == SCORE:
            return outcomes.score(predicted.output)
        return outcomes.decision(predicted.output, self.training.sharpness)

    def conditions(self, y: Tensor) -> Tensor:
        return notions.conditions(self.fair, y, self.classes, self.positive)


def _width(name: str, module: nn.Module, few: Tensor) -> int:
    """How many numbers a module gives for each of a few rows; a clear word if it does not."""
    training = module.training
    try:
        with torch.no_grad():
            found = module.train(False)(few)
    except Exception as error:  # whatever somebody's module raises
        raise Invalid(
            f"{name}: {type(error).__name__} for rows of shape {tuple(few.shape)}: {error}"
        ) from error
    module.train(training)
    if not isinstance(found, Tensor) or found.ndim != 2 or len(found) != len(few):
        shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise Invalid(f"{name} gives {shape} for {len(few)} rows; expected (rows, width)")
    return found.shape[1]


def _made(given: Any, default: Callable[..., nn.Module], *sizes: int) -> nn.Module:
    if isinstance(given, nn.Module):
        return copy.deepcopy(given)
    found = (given or default)(*sizes)
    if not isinstance(found, nn.Module):
        raise Invalid(f"{given!r} makes a {type(found).__name__}; expected a torch.nn.Module")
    return found


@contextmanager
def seeded(seed: int, purpose: str) -> Iterator[None]:
    """PyTorch's generator is a seed's within the block, and as it was after it."""
    with torch.random.fork_rng():
        torch.manual_seed(stream(seed, purpose, on=torch.device("cpu")).initial_seed())
        yield
