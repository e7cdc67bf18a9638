"""The models of a study.

A first look at validation rows of the first split chooses each method's strengths, by the rule of
the comparison (infofair/grids.py); then all are trained on every split.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from infofair import grids
from infofair.errors import Damaged, Problem
from infofair.parallel import workers
from infofair.storage import load_arrays, save_arrays, write_json
from study import general
from study.general.study import Key, Models, Outputs, Rows


class Of(NamedTuple):
    """What is trained in one go: a method of a study in a setting."""

    setting: str
    method: str


Trained = dict[Of, dict[Key, Outputs]]


def train(
    name: str, dataset: str, frame: pd.DataFrame, asked: Mapping[str, Any]
) -> tuple[Trained, dict[str, Any]]:
    """Every model, and how the strengths were chosen."""
    study = general.models_of(name)
    if dataset not in study.settings:
        raise Problem(f"--dataset {dataset}: {name} has {', '.join(study.settings)}")
    splits = {
        setting: {seed: study.rows(dataset, setting, frame, seed) for seed in asked["splits"]}
        for setting in study.settings[dataset]
    }
    first = asked["splits"][0]
    cells = list(_cells(study, dataset))
    varied = [of for of in cells if study.methods[of.method].strength]
    looked = {of: [0.0, *_scan(study, of, asked)] for of in varied}
    title = f"{name} on {dataset}"
    seen = _together(
        name,
        {of: ({first: splits[of.setting][first]}, tried) for of, tried in looked.items()},
        asked["steps"],
        f"{title}, first look",
    )
    strengths: dict[Of, list[float]] = {of: [0.0] for of in cells}
    chosen: dict[str, Any] = {}
    for of, tried in looked.items():
        look, rows = study.look_of(of.method), splits[of.setting][first]
        looks = [look(seen[of][each, first], rows) for each in tried]
        strengths[of] = grids.grid(tried, {of.setting: looks}, asked["strengths"], asked["budget"])
        chosen[f"{of.setting}/{of.method}"] = {
            "tried": tried, "seen": looks, "strengths": strengths[of],
        }  # fmt: skip
    everything = {of: (splits[of.setting], strengths[of]) for of in cells}
    found = _together(name, everything, asked["steps"], title)
    return found, chosen


def _cells(study: Models, dataset: str) -> Iterator[Of]:
    for setting in study.settings[dataset]:
        for method in study.methods:
            if study.has(method, setting):
                yield Of(setting, method)


def _scan(study: Models, of: Of, asked: Mapping[str, Any]) -> list[float]:
    ends = study.methods[of.method].ends or tuple(asked["between"])
    return grids.scan(ends, asked["look"])


def _together(
    name: str, calls: Mapping[Of, tuple[Mapping[int, Rows], Sequence[float]]], steps: int,
    title: str,
) -> Trained:  # fmt: skip
    """Dealt out to processes, each share one pass: whole methods, but for the last, whose splits go
    to all processes, so that none is left with the dearest at the end."""
    count = workers.count()
    shares = [
        (of, {seed: splits[seed] for seed in seeds}, strengths)
        for number, (of, (splits, strengths)) in enumerate(calls.items())
        for seeds in _dealt(list(splits), count if number >= len(calls) - count else 1)
    ]
    done = workers.run(
        work,
        [(name, of.method, splits, strengths, steps) for of, splits, strengths in shares],
        names=[f"{of.method} ({of.setting}), splits {[*splits]}" for of, splits, _ in shares],
        title=title,
        unit="share",
    )
    found: Trained = {of: {} for of in calls}
    for (of, *_), models in zip(shares, done, strict=True):
        found[of] |= models
    return {of: dict(sorted(models.items())) for of, models in found.items()}


def _dealt(seeds: list[int], count: int) -> list[list[int]]:
    return [seeds[i::count] for i in range(min(count, len(seeds)))]


def work(
    name: str, method: str, splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
) -> dict[Key, Outputs]:
    import torch

    torch.set_num_threads(1)  # processes share the machine, and bits do not depend on its cores
    return general.models_of(name).methods[method].train(splits, strengths, steps)


def write(folder: Path, trained: Trained, chosen: dict[str, Any]) -> None:
    arrays = {
        json.dumps([*of, strength, seed, what]): values
        for of, models in trained.items()
        for (strength, seed), outputs in models.items()
        for what, values in outputs.items()
    }
    save_arrays(folder / "outputs.npz", arrays)
    write_json(folder / "grids.json", chosen)


def read(folder: Path) -> Trained:
    found: Trained = {}
    path = folder / "outputs.npz"
    try:
        for key, values in load_arrays(path).items():
            setting, method, strength, seed, what = json.loads(key)
            models = found.setdefault(Of(setting, method), {})
            models.setdefault((strength, seed), {})[what] = values
    except (ValueError, TypeError) as error:
        raise Damaged(path, error) from None
    return found
