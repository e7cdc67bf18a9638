"""Train every method at a grid of strengths, and see which trade-offs it reaches.

A strength is a network's alpha, or the knob of a solver that its file calls its strength. All
networks are trained alike, by `backbone` in params.yaml, so that they differ by their objective
alone. A dataset whose label leaks takes part a second time, as <dataset>_without_leak. Writes

    results/frontier.csv           every model: dataset, setting, method, strength, seed, split
    results/frontier_summary.csv   means and standard deviations over seeds
    results/hypervolume.csv        each method's front as one figure
    results/best.csv               the best micro F1 for a budget of imparity
    results/goal.csv               infofair_fitted against the paper's table
    results/information.csv        infofair_fitted's estimate of I(z; s), and one on held-out rows

stages/fronts.py says how all but the last follow from the first. A model whose objective was not
finite is listed with the note "diverged" and without figures.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stages import (
    cli,
    datasets,
    evaluate,
    files,
    fronts,
    jobs,
    methods,
    predictions,
    solve,
    train,
)
from stages.files import Problem
from stages.information import held_out
from stages.jobs import Job, Variant
from stages.methods import ALL, Network, Solver
from stages.methods.infofair_fitted import Fitted
from stages.params import Params, load
from stages.processed import Processed
from stages.tabular import source
from stages.uncertainty import noise_floor

Row = dict[str, Any]


@dataclass(frozen=True)
class Model:
    setting: str  # it was trained for, or ALL
    strength: float
    seed: int
    probabilities: dict[str, np.ndarray]  # of class 1; part -> rows; empty if it diverged
    bits: float = float("nan")  # the running estimate of I(z; s) in its last epoch, if it has one


def without_leak(dataset: str, data: Processed) -> Processed | None:
    """The data without the columns that give the label away, if there are such columns in it.

    Columns are scaled one by one, so this is what preprocess makes with drop_leaking_columns.
    """
    leaking = datasets.load(dataset).leaking
    kept = [i for i, name in enumerate(data.features) if source(name) not in leaking]
    if len(kept) == len(data.features):
        return None
    return replace(data, X=data.X[:, kept].copy("C"), features=[data.features[i] for i in kept])


def trained(
    job: Job, data: Processed, strengths: list[float], seeds: list[int], title: str
) -> Iterator[Model]:
    """Every strength and seed, in batched passes."""
    settings = predictions.handled(job.method, data) if job.method.uses_groups else [ALL]
    variants = [Variant(setting, strength) for setting in settings for strength in strengths]
    found, _ = train.train_all(job, data, jobs.models(job, seeds, variants), title)
    for model in found:
        bits = model.curves[-1].get("bits", float("nan")) if model.curves else float("nan")
        key = model.variant.setting, model.variant.alpha, model.seed
        yield Model(*key, model.probabilities, bits)


def solved(
    solver: Solver, knobs: Any, data: Processed, strengths: list[float], seeds: list[int],
    title: str,
) -> Iterator[Model]:  # fmt: skip
    """Every strength and seed; where another knob has several values, validation chooses."""
    for strength in strengths:
        if solver.strength:
            several = isinstance(getattr(knobs, solver.strength), list)
            value = [strength] if several else strength
            knobs = knobs.model_copy(update={solver.strength: value})
        named, own = f"{title} at {strength:g}", seeds if solver.random else [0]
        found = solve.solve_all(solver, solver.grid(knobs), data, own, named)
        for (setting, seed), fitted in found.items():
            best = max(fitted, key=lambda model: model.score)
            yield Model(setting, strength, seed, best.probabilities)


def evaluated(model: Model, data: Processed) -> Iterator[Row]:
    """One row per setting that the model is for, and part."""
    for setting in data.settings if model.setting == ALL else [model.setting]:
        for part in predictions.PARTS:
            cell = {"setting": setting, "strength": model.strength, "seed": model.seed}
            figures: Row = {"note": "diverged"}
            if model.probabilities:
                predicted = model.probabilities[part] > 0.5
                figures = evaluate.headline(data, part, predicted, setting)
            yield cell | {"split": part} | figures


def models(
    method: str, dataset: str, data: Processed, params: Params, strengths: list[float],
    seeds: list[int], title: str,
) -> list[Model]:  # fmt: skip
    """Every model of one method on one dataset, by strength and seed."""
    knobs, training = params.well_trained(method)
    loaded = methods.load(method)
    if isinstance(loaded, Network):
        job = Job(loaded, knobs, params.knobs(dataset).hidden, training, may_diverge=True)
        found = trained(job, data, strengths, seeds, title)
    else:
        found = solved(loaded, knobs, data, strengths, seeds, title)
    return sorted(found, key=lambda model: (model.strength, model.seed))


def information(method: Fitted, knobs: Any, found: list[Model], data: Processed) -> list[Row]:
    """Its running estimate of I(z; s), and two of a fresh classifier, all in bits.

    The classifier is fitted on the validation rows, and counts on the test rows. `held_out` is by
    bins of z that are equally wide, `held_out_score` by those of the prediction that have equally
    many rows: that one also finds what is left where z hardly differs.
    """
    rows = []
    for model in found:
        if model.probabilities:
            of_z, of_score = (
                [
                    {
                        "score": score(model.probabilities[part]),
                        "s": evaluate.groups_of(data, model.setting, part)[0],
                    }
                    for part in predictions.PARTS
                ]
                for score in (lambda p: method.outcomes(p, knobs), lambda p: p)
            )
            cell = {"setting": model.setting, "strength": model.strength, "seed": model.seed}
            bits = {"running": model.bits, "held_out": held_out(*of_z, between=(-1.0, 1.0))}
            rows.append(cell | bits | {"held_out_score": held_out(*of_score)})
    return rows


def references(data: Processed, vanilla: list[Row]) -> list[Row]:
    """What the fronts of each setting are measured against, on the test rows.

    The micro F1 of predicting the commoner class of the training rows for everyone, and the
    imparity to expect of an exactly fair predictor that selects as many as vanilla.
    """
    if any(row["note"] == "diverged" for row in vanilla):
        raise Problem("params.yaml: backbone: vanilla diverged; try a smaller learning_rate")
    commoner = data.y[data.split["train"]].mean() > 0.5
    constant = float((data.y[data.split["test"]] == commoner).mean())
    rate = float(np.mean([row["selection_rate"] for row in vanilla if row["split"] == "test"]))
    floors = {s: noise_floor(rate, evaluate.sizes(data, s, "test"))[0] for s in data.settings}
    return [
        {"setting": setting, "constant_micro_f1": constant, "floor": floor}
        for setting, floor in floors.items()
    ]


def of_dataset(name: str, dataset: str, data: Processed, params: Params) -> tuple[list[Row], ...]:
    """Every row on one dataset, called `name`, what its fronts are measured against, and bits."""
    marks = {"dataset": name, "data": data.data, "partition": data.partition}
    rows: list[Row] = []
    beside: list[Row] = []
    bits: list[Row] = []
    for method in params.frontier.strengths:
        start = time.perf_counter()
        strengths, seeds = params.frontier.strengths[method], params.frontier.seeds
        of_method = models(method, dataset, data, params, strengths, seeds, f"{method} on {name}")
        found = [row for model in of_method for row in evaluated(model, data)]
        lost = sum(row["note"] == "diverged" and row["split"] == "test" for row in found)
        print(
            f"{method} on {name} ({data.data} data): {len(found) // 2} models in their settings, "
            f"{f'{lost} diverged, ' if lost else ''}{time.perf_counter() - start:.1f} s",
            file=sys.stderr,
        )
        rows += [marks | {"method": method} | row for row in found]
        if isinstance(loaded := methods.load(method), Fitted):
            own = information(loaded, params.well_trained(method)[0], of_method, data)
            bits += [marks | {"method": method} | row for row in own]
        if method == "vanilla":
            beside = [marks | row for row in references(data, found)]
    places = {setting: place for place, setting in enumerate(data.settings)}
    return sorted(rows, key=lambda row: places[row["setting"]]), beside, bits


def write(path: Path, table: pd.DataFrame) -> None:
    with files.whole(path) as partial:
        table.to_csv(partial, index=False, float_format="%.6g", lineterminator="\n")


def main() -> None:
    params = load()
    rows, beside, bits = [], [], []
    for dataset in params.datasets:
        data = Processed.load(dataset)
        named = {dataset: data, f"{dataset}{fronts.WITHOUT_LEAK}": without_leak(dataset, data)}
        for name, own in named.items():
            if own is not None:
                of_models, of_settings, of_bits = of_dataset(name, dataset, own, params)
                rows += of_models
                beside += of_settings
                bits += of_bits
    runs = pd.DataFrame(rows)[fronts.COLUMNS]
    summary = fronts.summarize(runs)
    write(fronts.RUNS, runs)
    write(fronts.SUMMARY, summary)
    write(fronts.HYPERVOLUME, fronts.hypervolumes(runs, summary, beside))
    write(fronts.BEST, fronts.best(summary))
    write(fronts.GOAL, fronts.goal(summary, pd.read_csv(fronts.PAPER)))
    columns = [*fronts.PLACE, "method", "strength", "seed", "running", "held_out"]
    columns += ["held_out_score", *fronts.MARKS]
    write(fronts.INFORMATION, pd.DataFrame(bits, columns=columns))


if __name__ == "__main__":
    cli.run(main, __doc__)
