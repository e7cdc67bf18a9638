"""What is trained, and how it is dealt out: models of one method on one dataset."""

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from infofair.methods.base import Network

# Models of one pass: with more of them a model costs no less, but memory grows, and so does what is
# lost with a worker.
MOST = 64


@dataclass(frozen=True)
class Training:
    """How networks are trained."""

    epochs: int = 100
    patience: int = 5  # epochs without a better validation objective before a model stops
    batch_size: int = 128
    weight_decay: float = 0.01
    streams: str = "own"  # "authors" or "shared": where random numbers come from (streams.py)


@dataclass(frozen=True)
class Variant:
    """What tells models of one seed apart."""

    setting: str
    alpha: float


Model = tuple[int, Variant]  # a seed, and a variant of the method


@dataclass(frozen=True)
class Job:
    """How every model is trained."""

    method: Network
    hidden: list[int]  # units of each layer of the feature extractor
    training: Training
    # whether a model whose objective is not finite ends alone, without predictions, or everything
    may_diverge: bool = False
    # whether the terms of every epoch are wanted: to compute them takes a fifth of a training
    curves: bool = True

    @property
    def watched(self) -> bool:
        """Whether the validation rows are asked after every epoch, or only after the last."""
        return self.curves or self.training.patience < self.training.epochs


@dataclass
class Trained:
    """What one model leaves behind."""

    seed: int
    variant: Variant
    curves: list[dict[str, float]] = field(default_factory=list)  # one row per epoch, if wanted
    # of class 1; split -> rows; empty if the model diverged
    probabilities: dict[str, np.ndarray] = field(default_factory=dict)
    parameters: dict[str, np.ndarray] = field(default_factory=dict)  # by name; empty likewise
    best: float = math.inf  # lowest validation objective so far
    waited: int = 0  # epochs since
    running: bool = True
    diverged: bool = False


def models(job: Job, seeds: list[int], variants: list[Variant]) -> list[Model]:
    """Every model, neighbours being those that gain most from sharing a pass."""
    if job.method.repairs:  # models of one variant have the same features
        return [(seed, variant) for variant in variants for seed in seeds]
    return [(seed, variant) for seed in seeds for variant in variants]  # the same minibatches


def dealt(
    runs: list[list[Model]], costs: list[float], workers: int
) -> list[tuple[int, list[Model]]]:
    """The models of several runs in shares, each with the number of its run, the dearest first.

    costs: of each run. It stays whole, since a large pass costs less a model, unless it is more
    than a worker's part of everything, or of the last that cannot be dealt out evenly.
    """
    order = sorted(range(len(runs)), key=lambda run: -costs[run])
    even, part = len(runs) // workers * workers, sum(costs) / workers
    return [
        (run, share)
        for place, run in enumerate(order)
        for share in shares(runs[run], workers if place >= even or costs[run] > part else 1)
    ]


def shares(models: list[Model], workers: int) -> list[list[Model]]:
    """The models in parts of at most MOST, as equal as can be, that keep all workers busy."""
    rounds = math.ceil(len(models) / (workers * MOST))
    count = min(rounds * workers, len(models))
    bounds = [round(i * len(models) / count) for i in range(count + 1)] if count else []
    return [models[start:end] for start, end in pairwise(bounds)]
