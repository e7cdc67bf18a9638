"""Train every model of one method on one dataset: all seeds and settings in one batched pass.

Writes results/predictions/<dataset>/<method>.npz, the probability of class 1 of every validation
and test row for each setting and seed, and results/curves/<dataset>/<method>.csv, the terms of the
objective per epoch. Seeds are spread over INFOFAIR_WORKERS processes (default: one per core); that
changes no number.
"""

import dataclasses
import sys
import time
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib
import torch

from stages import cli, files, methods, predictions
from stages.methods import ALL, Network
from stages.params import Params, load
from stages.processed import Processed
from stages.progress import Progress
from stages.trainer import Job, Trained, Variant, device, train


def knobs_of(method: str, params: Params) -> object:
    """A method's section of params.yaml; the ablations have none and use InfoFair's."""
    return params.knobs("infofair" if method in params.methods.ablations else method)


def jobs(dataset: str, name: str, params: Params, data: Processed) -> list[Job]:
    """One pass for all settings, or one for each if the method repairs their features."""
    method: Network = methods.load(name)
    settings = predictions.handled(method, data) if method.uses_groups else [ALL]
    job = Job(
        method=method,
        knobs=knobs_of(name, params),
        data=data,
        variants=[Variant(setting, params.alpha) for setting in settings],
        hidden=params.knobs(dataset).hidden,
        training=params.training,
    )
    if not method.repairs:
        return [job] if settings else []
    return [
        dataclasses.replace(
            job,
            data=dataclasses.replace(data, X=method.repair(data, v.setting, v.alpha, job.knobs)),
            variants=[v],
        )
        for v in job.variants
    ]


def work(
    job: Job, worker: int, shares: list[list[int]], on: torch.device, board: Path, title: str
) -> list[Trained] | Exception:
    """One worker's pass over its share of the seeds.

    An error is returned, not raised: multiprocessing's pool may hang when it is ended early.
    """
    say = Progress(board, worker, len(shares), job.training.epochs, title)
    try:
        return train(job, shares[worker], on, say, title)
    except Exception as error:
        error.add_note(traceback.format_exc())  # for --debug
        return error


def train_all(job: Job, seeds: list[int], title: str) -> list[Trained]:
    """The seeds dealt out to workers, each one batched pass."""
    on = device()
    count = 1 if on.type == "cuda" else min(predictions.workers(), len(seeds))
    shares = [seeds[i::count] for i in range(count)]
    with TemporaryDirectory() as folder:
        models = [len(share) * len(job.variants) for share in shares]
        board = Progress.new_board(Path(folder) / "board", models)
        # Forked workers share the imports; joblib hands them large arrays as memory maps.
        results = joblib.Parallel(n_jobs=count, backend="multiprocessing")(
            joblib.delayed(work)(job, worker, shares, on, board, title) for worker in range(count)
        )
    for result in results:
        if isinstance(result, Exception):
            raise result
    return [model for models in results for model in models]


def main(dataset: str, method: str) -> None:
    params = load(dataset, method, Network)
    data = Processed.load(dataset)
    start = time.perf_counter()
    models = {
        (model.variant.setting, model.seed): model
        for job in jobs(dataset, method, params, data)
        for model in train_all(job, params.seeds, f"{method} on {dataset}")
    }
    predictions.save(dataset, method, data, {key: m.probabilities for key, m in models.items()})
    rows = [
        {"setting": setting, "seed": seed, "epoch": epoch, **values}
        for (setting, seed), model in sorted(models.items())
        for epoch, values in enumerate(model.curves, 1)
    ]
    terms = methods.load(method).terms
    columns = ["setting", "seed", "epoch", *terms, "total", "validation"]
    files.write_rows(files.curves(dataset, method), rows, columns)
    epochs = [len(model.curves) for model in models.values()] or [0]
    print(
        f"{method} on {dataset} ({data.data} data): {len(models)} models, {min(epochs)} to "
        f"{max(epochs)} epochs, {time.perf_counter() - start:.1f} s of training",
        file=sys.stderr,
    )


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset", "method")
