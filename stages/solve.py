"""Fit every model of one method that has a solver of its own, on one dataset.

Writes results/predictions/<dataset>/<method>.npz, the probability of class 1 of every validation
and test row for each setting and seed, and results/fits/<dataset>/<method>.csv, what the solver did
and which value of a grid was chosen. Fits are spread over INFOFAIR_WORKERS processes (default: one
per core), or over the Dask cluster at INFOFAIR_SCHEDULER; that changes no number.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from stages import cli, files, methods, predictions, workers
from stages.methods import Solver, Task
from stages.params import load
from stages.processed import Processed


def task_of(data: Processed, setting: str) -> Task:
    """The setting's rows by split."""
    one_hot = np.hstack(
        [np.eye(len(data.group_names[a]))[data.groups[a]] for a in data.attributes(setting)]
    )
    group = data.groups[setting].astype(int)
    return Task(
        X={part: data.X[rows].astype(np.float64) for part, rows in data.split.items()},
        y={part: data.y[rows].astype(int) for part, rows in data.split.items()},
        s={part: group[rows] for part, rows in data.split.items()},
        groups=len(data.group_names[setting]),
        attributes={part: one_hot[rows] for part, rows in data.split.items()},
    )


@dataclass(frozen=True)
class Fitted:
    """A fitted model, and how it did on the validation rows."""

    probabilities: dict[str, np.ndarray]
    log: list[dict[str, float]]
    score: float


@contextmanager
def one_thread() -> Iterator[None]:
    """More threads would change the last bits, and on small matrices they only fight."""
    import scipy.linalg  # noqa: F401 (the limit reaches only a BLAS that is already loaded)

    with threadpool_limits(1):
        yield


def work(method: Solver, task: Task, shared: Any, seeds: list[int], point: Any) -> list[Fitted]:
    """The models of these seeds: one, or several of a method that draws from one fit."""
    # Once a large block was freed, glibc keeps what is freed later instead of returning it to the
    # system and faulting it in again for the next array: half the time of a fit.
    np.empty(2**24, np.uint8)
    with one_thread():
        fit = method.fit(shared, seeds[0], point)
        probabilities = {part: fit.predict(task.X[part]) for part in predictions.PARTS}
    score = method.score(probabilities["validation"], task.y["validation"], task.s["validation"])
    if not method.draws:
        return [Fitted(probabilities, fit.log, score)]
    return [Fitted(drawn(probabilities, seed), fit.log, score) for seed in seeds]


def drawn(probabilities: dict[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """0 or 1 for every row."""
    return {
        part: (np.random.default_rng(seed).random(len(p)) < p).astype(float)
        for part, p in probabilities.items()
    }


def solve_all(
    method: Solver, grid: list[Any], data: Processed, seeds: list[int], title: str
) -> dict[tuple[str, int], list[Fitted]]:
    """(setting, seed) -> a model for each point of the grid; the fits are dealt out to workers."""
    tasks = {setting: task_of(data, setting) for setting in predictions.handled(method, data)}
    with one_thread():
        shared = {setting: method.prepare(task) for setting, task in tasks.items()}
    together = [seeds] if method.draws else [[seed] for seed in seeds]
    asked = [(setting, of, point) for setting in tasks for of in together for point in grid]
    found = workers.run(
        work,
        [(method, tasks[setting], shared[setting], of, point) for setting, of, point in asked],
        names=[f"{setting}, seed {of[0]}, {point}" for setting, of, point in asked],
        title=title,
        unit="fit",
        shared=[*tasks.values(), *shared.values()],
    )
    fitted: dict[tuple[str, int], list[Fitted]] = {}
    for (setting, of, _), models in zip(asked, found, strict=True):
        for seed, model in zip(of, models, strict=True):
            fitted.setdefault((setting, seed), []).append(model)
    return fitted


def main(dataset: str, method: str) -> None:
    params = load(dataset, method, Solver)
    data = Processed.load(dataset)
    solver: Solver = methods.load(method)
    start = time.perf_counter()
    seeds = params.seeds if solver.random else [0]
    grid = solver.grid(params.knobs(method))
    fitted = solve_all(solver, grid, data, seeds, f"{method} on {dataset}")
    best = {key: max(models, key=lambda model: model.score) for key, models in fitted.items()}
    predictions.save(dataset, method, data, {key: m.probabilities for key, m in best.items()})
    rows = [
        {"setting": setting, "seed": seed, **row}
        | ({"score": model.score, "chosen": model is best[setting, seed]} if grid[1:] else {})
        for (setting, seed), models in fitted.items()
        for model in models
        for row in model.log
    ]
    files.write_rows(files.fits(dataset, method), rows, list(rows[0]) if rows else ["setting"])
    drawn = f"{len(seeds)} seeds" if solver.random else "no randomness, so once for all seeds"
    print(
        f"{method} on {dataset} ({data.data} data): {len(fitted) * len(grid)} fits, "
        f"{drawn}, {time.perf_counter() - start:.1f} s of fitting",
        file=sys.stderr,
    )


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset", "method")
