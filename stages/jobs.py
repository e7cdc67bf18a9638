"""What is trained, and how it is dealt out: models of one method on one dataset.

No torch here: the process that deals out the work does without it, and the workers load it at the
same time.
"""

import math
import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from stages.methods import Network
from stages.params import Training
from stages.processed import Processed
from stages.progress import Progress

# Models of one pass: with more of them a model costs no less, but memory grows, and so does what is
# lost with a worker.
MOST = 64


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
    knobs: Any  # the method's `Knobs`
    hidden: list[int]  # units of each layer of the feature extractor
    training: Training
    # whether a model whose objective is not finite ends alone, without predictions, or everything
    may_diverge: bool = False


@dataclass
class Trained:
    """What one model leaves behind."""

    seed: int
    variant: Variant
    curves: list[dict[str, float]] = field(default_factory=list)  # one row per epoch
    # of class 1; split -> rows; empty if the model diverged
    probabilities: dict[str, np.ndarray] = field(default_factory=dict)
    best: float = math.inf  # lowest validation objective so far
    waited: int = 0  # epochs since
    running: bool = True
    diverged: bool = False


def models(job: Job, seeds: list[int], variants: list[Variant]) -> list[Model]:
    """Every model, neighbours being those that gain most from sharing a pass."""
    if job.method.repairs:  # models of one variant have the same features
        return [(seed, variant) for variant in variants for seed in seeds]
    return [(seed, variant) for seed in seeds for variant in variants]  # the same minibatches


def shares(models: list[Model], workers: int) -> list[list[Model]]:
    """The models in parts of at most MOST, as equal as can be, that keep all workers busy."""
    rounds = math.ceil(len(models) / (workers * MOST))
    count = min(rounds * workers, len(models))
    bounds = [round(i * len(models) / count) for i in range(count + 1)] if count else []
    return [models[start:end] for start, end in pairwise(bounds)]


def work(
    job: Job, data: Processed, share: list[Model], device: str | None, progress: Progress
) -> tuple[list[Trained], float]:
    """Train one share of the models, on this device or on whichever the worker has.

    Also gives the seconds it took, without those of loading torch.
    """
    from stages import trainer

    start = time.perf_counter()
    on = trainer.device(device)
    trained = trainer.train(job, data, share, on, progress, progress.title)
    return trained, time.perf_counter() - start
