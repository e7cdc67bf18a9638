"""How fast the comparison's networks learn: one rate for all of a run, by its validation rows.

Vanilla is trained at each rate that params.yaml names, with one seed on the data of each run: the
random splits, and the paper's. The rate with most validation micro F1 is taken, of equals the
first. Nobody's fairness has a say in it, and nobody has a rate of their own. Each run chooses for
itself, because its validation rows are test rows of others.
"""

import sys
from pathlib import Path
from typing import Any

from infofair import methods
from infofair.data.prepared import Prepared
from infofair.methods.base import Network
from infofair.storage import write_json
from infofair.training import fit
from infofair.training.plan import Job, Trained
from study.sweep import trainer

Plan = dict[str, Any]


def run(plan: Plan) -> None:
    """All rates of all runs are trained in one go."""
    rates, runs = plan["learning_rates"], plan["runs"]
    data = [Prepared.load(Path(own["data"])) for own in runs]
    asked = [
        _vanilla(rate, plan, own, on) for own, on in zip(runs, data, strict=True) for rate in rates
    ]
    models = iter(model for (model,) in fit.train_all(asked, plan["title"])[0])
    chosen = {}
    for own, on in zip(runs, data, strict=True):
        seen = [_micro_f1(next(models), on) for _ in rates]
        rate = rates[seen.index(max(seen))]
        chosen[own["name"]] = {"learning_rate": rate, "validation_micro_f1": seen}
        print(f"{plan['title']}, {own['name']}: learning rate {rate:g}", file=sys.stderr)
    write_json(Path(plan["written"]), {"tried": rates, "runs": chosen})


def _vanilla(rate: float, plan: Plan, own: Plan, data: Prepared) -> fit.Run:
    vanilla = methods.make("vanilla", learning_rate=rate)
    method, training = trainer(vanilla, plan["training"], data)
    assert isinstance(method, Network)
    job = Job(method, plan["hidden"], training, may_diverge=True, curves=False)
    return fit.Run.of(job, data, [0.0], own["seeds"][:1])


def _micro_f1(model: Trained, data: Prepared) -> float:
    """On validation rows; of a model that diverged none."""
    if model.diverged:
        return 0.0
    right = (model.probabilities["validation"] > 0.5) == data.y[data.split["validation"]]
    return float(right.mean())
