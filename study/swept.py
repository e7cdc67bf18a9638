"""Reading the models of the comparison: what was trained, and how it does.

A plan (study/plans.py) names the forms of a method on a dataset, and the runs of each; a run is one
split of the dataset, with all strengths and seeds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.training.predictions import Predictions
from study import evaluation, paths
from study.files import need, needed_json
from study.results import Row


@dataclass(frozen=True)
class Run:
    """One form of a method on one split of a dataset."""

    method: str  # the form's name: infofair, infofair_paper, …
    name: str  # of the split: split0, …, or authors
    data: Prepared
    predictions: Predictions


def runs(dataset: str, method: str) -> Iterator[Run]:
    """Every form and run of a method in the comparison."""
    folder = paths.beyond("sweep", dataset, method)
    for form in needed_json(paths.plan("sweep", dataset, method), "check")["forms"]:
        for run in form["runs"]:
            here = folder / form["name"] / run["name"]
            found = Predictions.load(need(here / "predictions.npz", paths.PIPELINE_BEYOND))
            yield Run(form["name"], run["name"], _data(run["data"]), found)


_loaded: dict[str, Prepared] = {}


def _data(path: str) -> Prepared:
    """Read once: all methods have the same."""
    if path not in _loaded:
        _loaded[path] = Prepared.load(need(Path(path), paths.PIPELINE_BEYOND))
    return _loaded[path]


def models(data: Prepared, found: Predictions) -> Iterator[tuple[Row, dict[str, np.ndarray]]]:
    """Each model in each setting it is evaluated in: setting, strength, seed; its scores by part.

    The scores are empty if the model diverged.
    """
    for strength in found.strengths:
        for seed in found.seeds:
            for trained in found.settings:
                model = found.model(trained, strength, seed)
                for setting in data.settings if trained == ALL else [trained]:
                    yield {"setting": setting, "strength": strength, "seed": seed}, model


def evaluated(data: Prepared, found: Predictions) -> Iterator[Row]:
    """The paper's figures: one row per strength, seed, setting that a model is for, and part."""
    for cell, model in models(data, found):
        for part in PARTS:
            figures: Row = {"note": "diverged"}
            if model:
                figures = evaluation.headline(data, part, model[part] > 0.5, cell["setting"])
            yield cell | {"split": part} | figures
