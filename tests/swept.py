"""Made-up models of the fronts and the honest table, where their plans say that they are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from infofair import methods
from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.methods.base import handled
from infofair.storage import write_rows
from infofair.training.predictions import Predictions
from study import files, paths

DIVERGED = 1e39  # models of this strength have no predictions


def write(what: str, dataset: str, method: str, data: Mapping[str, Prepared]) -> None:
    """Random predictions, and curves that name bits; data: by the path that a run names."""
    loaded = methods.make(method)
    seeds_of_its_own = getattr(loaded, "random", True)
    for run in files.needed_json(paths.plan(what, dataset, method), "check")["runs"]:
        rows = data[run["data"]]
        rng = np.random.default_rng(len(method))
        settings = handled(loaded, rows)
        if not loaded.uses_groups and settings:
            settings = [ALL]
        models: dict[Any, dict[str, np.ndarray]] = {
            (setting, strength, seed): {}
            if strength == DIVERGED
            else {part: rng.random(len(rows.split[part])) for part in PARTS}
            for setting in settings
            for strength in run["strengths"]
            for seed in (run["seeds"] if seeds_of_its_own else [0])
        }
        Predictions.of(models, rows).save(Path(run["predictions"]))
        if "curves" in run:
            keys = ("setting", "strength", "seed")
            curves = [
                dict(zip(keys, key, strict=True)) | {"epoch": epoch, "bits": epoch / 8}
                for key in models
                for epoch in (1, 2)
            ]
            write_rows(Path(run["curves"]), curves, [*keys, "epoch", "bits"])
