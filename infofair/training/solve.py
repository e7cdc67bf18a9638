"""Fit the models of a method that has a solver of its own.

Fits are spread over INFOFAIR_WORKERS processes (default: one per core), or over the Dask cluster at
INFOFAIR_SCHEDULER; that changes no number.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.methods.base import Solver, Task, handled
from infofair.parallel import workers


def task_of(data: Prepared, setting: str) -> Task:
    """The setting's rows by split; for a method that does not look at groups, all are of one."""
    group, groups, one_hot = np.zeros(len(data.y), int), 1, np.empty((len(data.y), 0))
    if setting != ALL:
        group, groups = data.groups[setting].astype(int), len(data.group_names[setting])
        attributes = data.attributes(setting)
        one_hot = np.hstack([np.eye(len(data.group_names[a]))[data.groups[a]] for a in attributes])
    return Task(
        X={part: data.X[rows].astype(np.float64) for part, rows in data.split.items()},
        y={part: data.y[rows].astype(int) for part, rows in data.split.items()},
        s={part: group[rows] for part, rows in data.split.items()},
        groups=groups,
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


def work(method: Solver, task: Task, shared: Any, seeds: list[int]) -> list[Fitted]:
    """The models of these seeds: one, or several of a method that draws from one fit."""
    # Once a large block was freed, glibc keeps what is freed later instead of returning it to the
    # system and faulting it in again for the next array: half the time of a fit.
    np.empty(2**24, np.uint8)
    with one_thread():
        fit = method.fit(shared, seeds[0])
        probabilities = {part: fit.predict(task.X[part]) for part in PARTS}
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


@dataclass(frozen=True)
class Solved:
    """The models of one setting, strength and seed: one for each point of the grid."""

    setting: str
    strength: float
    seed: int
    tried: list[Fitted]

    @property
    def best(self) -> Fitted:
        return max(self.tried, key=lambda model: model.score)


def solve(
    method: Solver, data: Prepared, strengths: list[float], seeds: list[int], title: str
) -> list[Solved]:
    """Every setting, strength and seed; where another knob has several values, validation chooses.

    Without strengths, the knobs are taken as they are, and the strength is called 0.
    """
    (found,) = solve_all(method, [(data, seeds)], strengths, title)
    return found


def solve_all(
    method: Solver, runs: Sequence[tuple[Prepared, list[int]]], strengths: list[float], title: str
) -> list[list[Solved]]:
    """The same for several data, each with its seeds; all fits are dealt out to workers at once."""
    tasks = {
        (run, setting): task_of(data, setting)
        for run, (data, _) in enumerate(runs)
        for setting in handled(method, data)
    }
    with one_thread():  # the strength has no part in it
        shared = {place: method.prepare(task) for place, task in tasks.items()}
    asked = [
        (place, strength, of, tried)
        for place in tasks
        for strength in strengths or [0.0]
        for of in _together(method, runs[place[0]][1])
        for tried in (method.at_strength(strength) if strengths else method).grid()
    ]
    fits = workers.run(
        work,
        [(tried, tasks[place], shared[place], of) for place, _, of, tried in asked],
        names=[f"{setting}, seed {of[0]}, {tried}" for (_, setting), _, of, tried in asked],
        title=title,
        unit="fit",
        shared=[*tasks.values(), *shared.values()],
    )
    found: list[dict[tuple[float, str, int], list[Fitted]]] = [{} for _ in runs]
    for ((run, setting), strength, of, _), models in zip(asked, fits, strict=True):
        for seed, model in zip(of, models, strict=True):
            found[run].setdefault((strength, setting, seed), []).append(model)
    return [
        [Solved(setting, strength, seed, of) for (strength, setting, seed), of in own.items()]
        for own in found
    ]


def _together(method: Solver, seeds: list[int]) -> list[list[int]]:
    """The seeds of each fit."""
    own = seeds if method.random else [0]
    return [own] if method.draws else [[seed] for seed in own]
