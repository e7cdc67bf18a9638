"""Train the models of a job: shares of them to workers, each share one batched pass.

Models are spread over the GPUs, or over INFOFAIR_WORKERS processes (default: one per core), or over
the Dask cluster at INFOFAIR_SCHEDULER; that changes no number on the same kind of processor.
"""

import ctypes
import os
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from infofair.data.prepared import Prepared
from infofair.errors import Problem
from infofair.methods.base import Network, handled
from infofair.parallel import workers
from infofair.parallel.progress import Progress
from infofair.training import model, plan
from infofair.training.model import Key
from infofair.training.plan import Job, Model, Trained, Training, Variant


class Run(NamedTuple):
    """Models of one job on one dataset."""

    job: Job
    data: Prepared
    models: list[Model]

    @classmethod
    def of(cls, job: Job, data: Prepared, strengths: list[float], seeds: list[int]) -> "Run":
        """Every setting, strength and seed."""
        settings = handled(job.method, data)
        variants = [Variant(setting, strength) for setting in settings for strength in strengths]
        return cls(job, data, plan.models(job, seeds, variants))

    @property
    def cost(self) -> float:
        """Rows that its models see, if none stops early."""
        return len(self.models) * self.job.training.epochs * len(self.data.split["train"])


def train(
    job: Job, data: Prepared, strengths: list[float], seeds: list[int], title: str
) -> tuple[list[Trained], float]:
    """Every setting, strength and seed; and the seconds it took."""
    (found,), seconds = train_all([Run.of(job, data, strengths, seeds)], title)
    return found, seconds


def devices() -> list[str]:
    """The devices to spread models over: INFOFAIR_DEVICE, or every visible GPU, or the CPU."""
    asked = os.environ.get("INFOFAIR_DEVICE")
    if asked and asked != "cuda":
        return [asked]
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:  # no driver: torch, slow to load, need not be asked
        return [asked or "cpu"]
    import torch

    return [f"cuda:{i}" for i in range(torch.cuda.device_count())] or [asked or "cpu"]


def train_all(runs: Sequence[Run], title: str) -> tuple[list[list[Trained]], float]:
    """Every model of every run, dealt out to the workers at once, each share one batched pass; and
    the seconds it took."""
    remote = workers.scheduler() is not None
    on = [None] if remote else devices()  # a cluster's worker knows its own device
    gpus = on[0] is not None and on[0].startswith("cuda")
    count = len(on) if gpus else workers.count()
    shares = plan.dealt([run.models for run in runs], [run.cost for run in runs], count)
    with TemporaryDirectory() as folder:
        # where everything is trained at once, on this machine, epochs are shown; else, shares
        board = None
        if not remote and len(shares) <= count:
            board = Progress.new_board(Path(folder) / "board", [len(share) for _, share in shares])
        calls = [
            (
                runs[run].job,
                runs[run].data,
                share,
                on[i % len(on)],
                Progress(board, i, len(shares), runs[run].job.training.epochs, title),
            )
            for i, (run, share) in enumerate(shares)
        ]
        done = workers.run(
            work,
            calls,
            names=[_name(share) for _, share in shares],
            title=title,
            unit="share",
            shared=list({id(run.data): run.data for run in runs}.values()),
            at_most=count,
            copies=not gpus,  # CUDA does not survive a fork
            bar=board is None,
        )
    found: list[list[Trained]] = [[] for _ in runs]
    for (run, _), (trained, _) in zip(shares, done, strict=True):  # a run's shares in their order
        found[run] += trained
    spent = [seconds for _, seconds in done]
    return found, max([sum(spent) / count, *spent])


def _name(share: list[Model]) -> str:
    seeds = sorted({seed for seed, _ in share})
    return f"{len(share)} models of seeds {', '.join(map(str, seeds))}"


def work(
    job: Job, data: Prepared, share: list[Model], device: str | None, progress: Progress
) -> tuple[list[Trained], float]:
    """Train one share of the models, on this device or on whichever the worker has.

    Also gives the seconds it took, without those of loading torch.
    """
    from infofair.training import batched

    start = time.perf_counter()
    on = batched.device(device)
    trained = batched.train(job, data, share, on, progress, progress.title)
    return trained, time.perf_counter() - start


def fit(
    method: Network,
    data: Prepared,
    *,
    strengths: Sequence[float] = (1.0,),
    seeds: Sequence[int] = (0,),
    hidden: Sequence[int] = (32,),
    training: Training | None = None,
) -> dict[Key, model.Model]:
    """Networks of a method on prepared data, by setting, strength and seed."""
    if not isinstance(method, Network):
        raise Problem(f"{type(method).__name__} is fitted by infofair.training.solve.solve")
    job = Job(method, list(hidden), training or Training())
    found, _ = train(job, data, list(strengths), list(seeds), type(method).__name__)
    return {
        (m.variant.setting, m.variant.alpha, m.seed): model.Model(m.parameters, data.features)
        for m in found
    }
