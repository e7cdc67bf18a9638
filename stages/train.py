"""Train every model of one method on one dataset: all seeds and settings in one batched pass.

Writes results/predictions/<dataset>/<method>.npz, the probability of class 1 of every validation
and test row for each setting and seed, and results/curves/<dataset>/<method>.csv, the terms of the
objective per epoch. Seeds are spread over INFOFAIR_WORKERS processes (default: one per core); that
changes no number.
"""

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib
import numpy as np
import torch

from stages import cli, files, methods
from stages.files import Problem
from stages.methods import ALL
from stages.params import Params, load
from stages.processed import Processed, save_arrays
from stages.progress import Progress
from stages.trainer import Job, Trained, Variant, device, train


def workers() -> int:
    text = os.environ.get("INFOFAIR_WORKERS") or str(joblib.cpu_count())
    if not text.isdecimal() or int(text) < 1:
        raise Problem(f"INFOFAIR_WORKERS={text}: expected a whole number from 1 up")
    return int(text)


def knobs_of(method: str, params: Params) -> object:
    """A method's section of params.yaml; the ablations have none and use InfoFair's."""
    return params.knobs("infofair" if method in params.methods.ablations else method)


def work(
    job: Job, worker: int, shares: list[list[int]], on: torch.device, board: Path, title: str
) -> list[Trained]:
    """One worker's pass over its share of the seeds."""
    say = Progress(board, worker, len(shares), job.training.epochs, title)
    return train(job, shares[worker], on, say, title)


def train_all(dataset: str, method: str, params: Params, data: Processed) -> list[Trained]:
    """The seeds dealt out to workers, each one batched pass."""
    settings = data.settings if methods.load(method).uses_groups else [ALL]
    job = Job(
        method=methods.load(method),
        knobs=knobs_of(method, params),
        data=data,
        variants=[Variant(setting, params.alpha) for setting in settings],
        hidden=params.knobs(dataset).hidden,
        training=params.training,
    )
    on = device()
    count = 1 if on.type == "cuda" else min(workers(), len(params.seeds))
    shares = [params.seeds[i::count] for i in range(count)]
    with TemporaryDirectory() as folder:
        models = [len(share) * len(settings) for share in shares]
        board = Progress.new_board(Path(folder) / "board", models)
        # Forked workers share the imports; joblib hands them large arrays as memory maps.
        results = joblib.Parallel(n_jobs=count, backend="multiprocessing")(
            joblib.delayed(work)(job, worker, shares, on, board, f"{method} on {dataset}")
            for worker in range(count)
        )
    return [model for models in results for model in models]


def save(dataset: str, method: str, models: list[Trained]) -> None:
    settings = list(dict.fromkeys(model.variant.setting for model in models))
    seeds = sorted({model.seed for model in models})
    by_key = {(model.variant.setting, model.seed): model for model in models}
    arrays = {
        part: np.stack([[by_key[s, e].probabilities[part] for e in seeds] for s in settings])
        for part in ("validation", "test")
    }  # settings × seeds × rows
    path = files.predictions(dataset, method)
    save_arrays(path, arrays | {"settings": np.array(settings), "seeds": np.array(seeds)})
    rows = [
        {"setting": setting, "seed": seed, "epoch": epoch, **values}
        for (setting, seed), model in sorted(by_key.items())
        for epoch, values in enumerate(model.curves, 1)
    ]
    files.write_rows(files.curves(dataset, method), rows, list(rows[0]))


def main(dataset: str, method: str) -> None:
    params = load(dataset, method)
    data = Processed.load(dataset)
    start = time.perf_counter()
    models = train_all(dataset, method, params, data)
    save(dataset, method, models)
    epochs = [len(model.curves) for model in models]
    print(
        f"{method} on {dataset} ({data.data} data): {len(models)} models, {min(epochs)} to "
        f"{max(epochs)} epochs, {time.perf_counter() - start:.1f} s of training",
        file=sys.stderr,
    )


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset", "method")
