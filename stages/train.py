"""Train every model of one method on one dataset: all seeds and settings in batched passes.

Writes results/predictions/<dataset>/<method>.npz, the probability of class 1 of every validation
and test row for each setting and seed, and results/curves/<dataset>/<method>.csv, the terms of the
objective per epoch. Models are spread over the GPUs, or over INFOFAIR_WORKERS processes (default:
one per core), or over the Dask cluster at INFOFAIR_SCHEDULER; that changes no number on the same
kind of processor.
"""

import ctypes
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from stages import cli, files, jobs, methods, predictions, workers
from stages.jobs import Job, Model, Trained, Variant
from stages.methods import ALL, Network
from stages.params import Params, load
from stages.processed import Processed
from stages.progress import Progress


def knobs_of(method: str, params: Params) -> object:
    """A method's section of params.yaml; the ablations have none and use InfoFair's."""
    return params.knobs("infofair" if method in params.methods.ablations else method)


def variants(method: Network, data: Processed, alpha: float) -> list[Variant]:
    """One for each setting, or a single one for a method that does not look at groups."""
    settings = predictions.handled(method, data) if method.uses_groups else [ALL]
    return [Variant(setting, alpha) for setting in settings]


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


def train_all(
    job: Job, data: Processed, models: list[Model], title: str
) -> tuple[list[Trained], float]:
    """Every model, dealt out to the workers, each share one batched pass; and the seconds."""
    remote = workers.scheduler() is not None
    on = [None] if remote else devices()  # a cluster's worker knows its own device
    gpus = on[0] is not None and on[0].startswith("cuda")
    count = len(on) if gpus else workers.count()
    shares = jobs.shares(models, count)
    with TemporaryDirectory() as folder:
        # where everything is trained at once, on this machine, epochs are shown; else, shares
        board = None
        if not remote and len(shares) <= count:
            board = Progress.new_board(Path(folder) / "board", [len(share) for share in shares])
        calls = [
            (
                job,
                data,
                share,
                on[i % len(on)],
                Progress(board, i, len(shares), job.training.epochs, title),
            )
            for i, share in enumerate(shares)
        ]
        found = workers.run(
            jobs.work,
            calls,
            names=[_name(share) for share in shares],
            title=title,
            unit="share",
            shared=[data],
            at_most=count,
            bar=board is None,
        )
    seconds = max((seconds for _, seconds in found), default=0.0)
    return [model for trained, _ in found for model in trained], seconds


def _name(share: list[Model]) -> str:
    seeds = sorted({seed for seed, _ in share})
    return f"{len(share)} models of seeds {', '.join(map(str, seeds))}"


def main(dataset: str, method: str) -> None:
    params = load(dataset, method, Network)
    data = Processed.load(dataset)
    network: Network = methods.load(method)
    job = Job(network, knobs_of(method, params), params.knobs(dataset).hidden, params.training)
    asked = jobs.models(job, params.seeds, variants(network, data, params.alpha))
    trained, seconds = train_all(job, data, asked, f"{method} on {dataset}")
    models = {(model.variant.setting, model.seed): model for model in trained}
    predictions.save(dataset, method, data, {key: m.probabilities for key, m in models.items()})
    rows = [
        {"setting": setting, "seed": seed, "epoch": epoch, **values}
        for (setting, seed), model in sorted(models.items())
        for epoch, values in enumerate(model.curves, 1)
    ]
    columns = ["setting", "seed", "epoch", *network.terms, *network.reports, "total", "validation"]
    files.write_rows(files.curves(dataset, method), rows, columns)
    epochs = [len(model.curves) for model in models.values()] or [0]
    print(
        f"{method} on {dataset} ({data.data} data): {len(models)} models, {min(epochs)} to "
        f"{max(epochs)} epochs, {seconds:.1f} s of training",
        file=sys.stderr,
    )


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset", "method")
