"""Reading the models of the fronts and the honest table: what was trained, and how it does.

A plan (study/plans.py) names the runs of a method on a dataset; a run is one form of the dataset,
with all strengths and seeds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.errors import Problem
from infofair.information import held_out
from infofair.training.predictions import Predictions
from infofair.uncertainty import noise_floor
from study import evaluation, paths
from study.files import need, needed_json
from study.results import Row


@dataclass(frozen=True)
class Run:
    """One method's models on one form of a dataset."""

    name: str  # of the form: adult, compas_without_leak, split0, …
    data: Prepared
    predictions: Predictions
    plan: dict[str, Any]


def runs(what: str, dataset: str, method: str) -> Iterator[Run]:
    """what: "fronts" or "honest"."""
    for plan in needed_json(paths.plan(what, dataset, method), "check")["runs"]:
        path = need(Path(plan["predictions"]), f"{paths.PIPELINE_BEYOND}:{what}@{dataset}-{method}")
        yield Run(path.parent.name, _data(plan["data"]), Predictions.load(path), plan)


_loaded: dict[str, Prepared] = {}


def _data(path: str) -> Prepared:
    """Read once: all methods have the same."""
    if path not in _loaded:
        _loaded[path] = Prepared.load(need(Path(path), paths.PIPELINE_BEYOND))
    return _loaded[path]


def evaluated(run: Run) -> Iterator[Row]:
    """One row per strength, seed, setting that a model is for, and part."""
    found = run.predictions
    for strength in found.strengths:
        for seed in found.seeds:
            for trained in found.settings:
                model = found.model(trained, strength, seed)
                for setting in run.data.settings if trained == ALL else [trained]:
                    cell = {"setting": setting, "strength": strength, "seed": seed}
                    for part in PARTS:
                        figures: Row = {"note": "diverged"}
                        if model:
                            predicted = model[part] > 0.5
                            figures = evaluation.headline(run.data, part, predicted, setting)
                        yield cell | {"split": part} | figures


def references(data: Prepared, vanilla: list[Row]) -> list[Row]:
    """What the fronts of each setting are measured against, on the test rows.

    The micro F1 of predicting the commoner class of the training rows for everyone, and the
    imparity to expect of an exactly fair predictor that selects as many as vanilla.
    """
    if any(row["note"] == "diverged" for row in vanilla):
        raise Problem("params.yaml: backbone: vanilla diverged; try a smaller learning_rate")
    commoner = data.y[data.split["train"]].mean() > 0.5
    constant = float((data.y[data.split["test"]] == commoner).mean())
    rate = float(np.mean([row["selection_rate"] for row in vanilla if row["split"] == "test"]))
    floors = {s: noise_floor(rate, data.sizes(s, "test"))[0] for s in data.settings}
    return [
        {"setting": setting, "constant_micro_f1": constant, "floor": floor}
        for setting, floor in floors.items()
    ]


def information(run: Run, outcome: Any) -> list[Row]:
    """A method's running estimate of I(z; s), and two of a fresh classifier, all in bits.

    outcome: from probabilities to z. The classifier is fitted on the validation rows, and counts
    on the test rows. `held_out` is by bins of z that are equally wide, `held_out_score` by those of
    the prediction that have equally many rows: that one also finds what is left where z hardly
    differs.
    """
    curves = pd.read_csv(need(Path(run.plan["curves"]), paths.PIPELINE_BEYOND))
    last = curves.groupby(["setting", "strength", "seed"])["bits"].last()
    found, rows = run.predictions, []
    for strength in found.strengths:
        for seed in found.seeds:
            for setting in found.settings:
                model = found.model(setting, strength, seed)
                if not model:
                    continue
                groups = {part: run.data.members(setting, part)[0] for part in PARTS}
                of_z, of_score = (
                    [{"score": score(model[part]), "s": groups[part]} for part in PARTS]
                    for score in (outcome, lambda p: p)
                )
                cell = {"setting": setting, "strength": strength, "seed": seed}
                bits = {
                    "running": last[setting, strength, seed],
                    "held_out": held_out(*of_z, between=(-1.0, 1.0)),
                    "held_out_score": held_out(*of_score),
                }
                rows.append(cell | bits)
    return rows
