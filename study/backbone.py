"""How fast the comparison's networks learn: one rate for all of a dataset, by validation rows.

Vanilla is trained at each rate that params.yaml names, with one seed on the first split, as the
strengths are looked at (study/sweep.py). The rate with most validation micro F1 is taken, of equals
the first. Nobody's fairness has a say in it, and nobody has a rate of their own.
"""

import sys
from pathlib import Path
from typing import Any

from infofair import methods
from infofair.data.prepared import Prepared
from infofair.methods.base import Network
from infofair.storage import write_json
from infofair.training import fit
from infofair.training.plan import Job
from study.sweep import trainer


def run(plan: dict[str, Any]) -> None:
    data = Prepared.load(Path(plan["data"]))
    runs = []
    for rate in plan["learning_rates"]:
        vanilla = methods.make("vanilla", learning_rate=rate)
        method, training = trainer(vanilla, plan["training"], data)
        assert isinstance(method, Network)
        job = Job(method, plan["hidden"], training, may_diverge=True, curves=False)
        runs.append(fit.Run.of(job, data, [0.0], [plan["seed"]]))
    found, _ = fit.train_all(runs, plan["title"])
    y = data.y[data.split["validation"]]
    seen = [
        0.0 if model.diverged else float(((model.probabilities["validation"] > 0.5) == y).mean())
        for (model,) in found
    ]
    chosen = {
        "learning_rate": plan["learning_rates"][seen.index(max(seen))],
        "tried": plan["learning_rates"],
        "validation_micro_f1": seen,
    }
    write_json(Path(plan["written"]), chosen)
    print(f"{plan['title']}: learning rate {chosen['learning_rate']:g}", file=sys.stderr)
