"""Train the networks of one method on one dataset, as its plan says (study/plans.py).

All seeds, settings and strengths in batched passes. Writes, for each run of the plan, the
probability of class 1 of every validation and test row (predictions), the terms of the objective
per epoch (curves), and the networks themselves.
"""

import sys
from pathlib import Path

from infofair import methods
from infofair.data.prepared import Prepared
from infofair.methods.base import Network
from infofair.storage import read_json, write_rows
from infofair.training import fit, model
from infofair.training.plan import Job, Trained, Training
from infofair.training.predictions import Predictions
from study import cli


def write(run: dict[str, str], found: list[Trained], method: Network, data: Prepared) -> None:
    models = {(m.variant.setting, m.variant.alpha, m.seed): m for m in found}
    probabilities = {key: m.probabilities for key, m in models.items()}
    Predictions.of(probabilities, data).save(Path(run["predictions"]))
    parameters = {key: m.parameters for key, m in models.items()}
    model.save_models(Path(run["networks"]), parameters, data.features)
    rows = [
        {"setting": setting, "strength": strength, "seed": seed, "epoch": epoch, **values}
        for (setting, strength, seed), m in sorted(models.items())
        for epoch, values in enumerate(m.curves, 1)
    ]
    terms = (*method.terms, *method.reports)
    columns = ["setting", "strength", "seed", "epoch", *terms, "total", "validation"]
    write_rows(Path(run["curves"]), rows, columns)


def main(plan: str) -> None:
    what = read_json(Path(plan))
    method = methods.make(what["method"], **what["knobs"])
    assert isinstance(method, Network)
    training = Training(**what["training"])
    job = Job(method, what["hidden"], training, what["may_diverge"])
    for run in what["runs"]:
        data = Prepared.load(Path(run["data"]))
        found, seconds = fit.train(job, data, run["strengths"], run["seeds"], run["title"])
        write(run, found, method, data)
        lost = sum(m.diverged for m in found)
        said = f"{len(found)} models, {f'{lost} diverged, ' if lost else ''}{seconds:.1f} s"
        print(f"{run['title']} ({data.data} data): {said} of training", file=sys.stderr)


if __name__ == "__main__":
    cli.run(main, __doc__, plan="what to train: a file in data/plans, made by check")
