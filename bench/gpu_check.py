"""Whether a GPU's models are the CPU's, how fast it trains them, and in how much memory.

    make gpu-check          (a few minutes; DEVICE=cuda:1 for another one, DEVICE=cpu to try it)

On rows of the paper's pipeline, COMPAS and Adult, it trains vanilla, GDP and InfoFair with the
paper's seeds, on the device and on the CPU, and prints, and writes to gpu-check.json,

    one epoch    the largest difference of a probability after one epoch of vanilla: rounding alone
    again        whether the device, asked twice, gives the same bits
    figures      the largest difference of a mean over seeds from the committed results/runs.csv, in
                 micro F1 and imparity, and how many of those seeds' standard deviations that is
    speed        milliseconds a model and epoch, there and here
    graphs       whether the bits are the same with INFOFAIR_GRAPHS=1, and the speed with it
    memory       megabytes at most on the device

InfoFair's noise is drawn on the device, so its models are others, as those of other seeds are.
Attach gpu-check.json to an issue: nobody has run this on a GPU yet.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import torch

from infofair import methods
from infofair.data.prepared import Prepared
from infofair.methods.base import Network, handled
from infofair.storage import read_json, write_json
from infofair.training import batched, graphs
from infofair.training.plan import Job, Model, Trained, Training, Variant
from study import evaluation, paths, results

DATASETS = ("compas", "adult")
METHODS = ("vanilla", "gdp", "infofair")
FIGURES = ("micro_f1", "imparity")
WRITTEN = Path("gpu-check.json")


def planned(dataset: str, name: str) -> tuple[Job, Prepared, list[Model]]:
    """As stages/train.py trains it."""
    what = read_json(paths.plan("train", dataset, name))
    method = methods.make(name, **what["knobs"])
    assert isinstance(method, Network)
    (run,) = what["runs"]
    data = Prepared.load(Path(run["data"]))
    variants = [Variant(s, alpha) for s in handled(method, data) for alpha in run["strengths"]]
    job = Job(method, what["hidden"], Training(**what["training"]))
    return job, data, [(seed, variant) for seed in run["seeds"] for variant in variants]


def timed(
    job: Job, data: Prepared, models: list[Model], on: torch.device
) -> tuple[list[Trained], float]:
    """The models, and milliseconds a model and epoch."""
    start = time.perf_counter()
    found = batched.train(job, data, models, on)
    if on.type == "cuda":
        torch.cuda.synchronize(on)
    epochs = sum(len(model.curves) for model in found)
    return found, 1000 * (time.perf_counter() - start) / epochs


def furthest(one: list[Trained], other: list[Trained]) -> float:
    """The largest difference of a test row's probability."""
    pairs = zip(one, other, strict=True)
    return max(
        float(np.abs(a.probabilities["test"] - b.probabilities["test"]).max()) for a, b in pairs
    )


def figures(dataset: str, name: str, data: Prepared, found: list[Trained]) -> dict[str, Any]:
    """Means over seeds against the committed ones."""
    rows = [
        {"setting": setting}
        | evaluation.headline(data, "test", m.probabilities["test"] > 0.5, setting)
        for m in found
        for setting in (
            [m.variant.setting] if m.variant.setting in data.settings else data.settings
        )
    ]
    committed = results.read("runs").query(
        "dataset == @dataset and method == @name and split == 'test'"
    )
    expected, own = (of.groupby("setting")[[*FIGURES]] for of in (committed, pd.DataFrame(rows)))
    apart = (own.mean() - expected.mean()).abs()
    spread = expected.std().clip(lower=1e-4)
    return {
        f"{figure}_{what}": float(value)
        for figure in FIGURES
        for what, value in (
            ("apart", apart[figure].max()),
            ("stds", (apart / spread)[figure].max()),
        )
    }


def checked(dataset: str, name: str, on: torch.device) -> dict[str, Any]:
    job, data, models = planned(dataset, name)
    cpu = torch.device("cpu")
    short = replace(job, training=replace(job.training, epochs=1))
    if on.type == "cuda":
        torch.cuda.reset_peak_memory_stats(on)
    once, again = (batched.train(short, data, models, on) for _ in range(2))
    there, fast = timed(job, data, models, on)
    _, plain = timed(job, data, models, cpu)
    found: dict[str, Any] = {"models": len(models), "same_bits_again": furthest(once, again) == 0}
    if not job.method.uses_noise:
        found["one_epoch"] = furthest(once, batched.train(short, data, models, cpu))
    found |= figures(dataset, name, data, there)
    found |= {"milliseconds": fast, "milliseconds_cpu": plain}
    if on.type == "cuda":
        found["megabytes"] = torch.cuda.max_memory_allocated(on) / 2**20
        with mock.patch.dict(os.environ, {graphs.SWITCH: "1"}):
            from_graphs, spent = timed(job, data, models, on)
        found |= {"graphs_apart": furthest(there, from_graphs), "milliseconds_graphs": spent}
    return found


def machine(on: torch.device) -> dict[str, str]:
    name = torch.cuda.get_device_name(on) if on.type == "cuda" else platform.processor()
    return {
        "device": str(on), "name": name, "torch": torch.__version__,
        "cuda": str(torch.version.cuda), "python": platform.python_version(),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, … (cpu to try it)")
    asked = parser.parse_args()
    on = batched.device(asked.device)
    stages = [f"preprocess@{dataset}" for dataset in DATASETS]
    subprocess.run([sys.executable, "-m", "study.commands.quick", "repro", *stages], check=True)
    found = {
        f"{name} on {dataset}": checked(dataset, name, on)
        for dataset in DATASETS
        for name in METHODS
    }
    write_json(WRITTEN, {"machine": machine(on), "checks": found})
    for name, own in found.items():
        print(f"{name}: {', '.join(f'{what} {value:.3g}' for what, value in own.items())}")
    print(f"{json.dumps(machine(on))}\nwritten to {WRITTEN}; please attach it to an issue")


if __name__ == "__main__":
    main()
