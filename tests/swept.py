"""Made-up models of the comparison, where their plans say that they are."""

from pathlib import Path

import numpy as np

from infofair import methods
from infofair.data.prepared import PARTS, Prepared
from infofair.methods.base import handled
from infofair.storage import save_arrays
from infofair.training.predictions import Predictions
from study import files, paths, posteriors

STRENGTHS = (0.1, 1.0)  # of a method that has one
DIVERGED = 1e39  # models of this strength have no predictions


def write(dataset: str, method: str, strengths: tuple[float, ...] = STRENGTHS) -> None:
    """Predictions that tell of the label and the group, of every form and run of a method."""
    loaded, plan = methods.make(method), files.needed_json(paths.plan("sweep", dataset, method), "")
    for form in plan["forms"]:
        for run in form["runs"]:
            data = Prepared.load(Path(run["data"]))
            rng = np.random.default_rng(len(form["name"]))
            models = {
                (setting, strength, seed): {}
                if strength == DIVERGED
                else {part: _scores(rng, data, part) for part in PARTS}
                for setting in handled(loaded, data)
                for strength in (strengths if plan["strengths"] else (0.0,))
                for seed in (run["seeds"] if getattr(loaded, "random", True) else [0])
            }
            folder = Path(plan["folder"]) / form["name"] / run["name"]
            Predictions.of(models, data).save(folder / "predictions.npz")


def _scores(rng: np.random.Generator, data: Prepared, part: str) -> np.ndarray:
    rows = data.split[part]
    told = data.y[rows] + data.groups[data.settings[0]][rows] - 1
    return 1 / (1 + np.exp(-told - rng.normal(size=len(rows))))


def write_posteriors(dataset: str) -> None:
    """Of which group a row may be, as if something knew more than nothing of it."""
    rng = np.random.default_rng(0)
    plan = files.needed_json(paths.plan("posteriors", dataset), "")
    for split, path in plan["splits"].items():
        data = Prepared.load(Path(path))
        found = {}
        for setting in data.settings:
            for part in PARTS:
                group, groups = data.members(setting, part)
                chance = rng.random((len(group), groups, 2)) + 2 * np.eye(groups)[group][:, :, None]
                found[f"{setting}.{part}"] = (chance / chance.sum(1, keepdims=True)).astype("f4")
        save_arrays(posteriors.path(dataset, split), found)
