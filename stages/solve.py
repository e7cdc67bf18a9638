"""Fit the models of one method that has a solver of its own, as its plan says (study/plans.py).

Writes, for each run of the plan, the probability of class 1 of every validation and test row
(predictions), and what the solver did and which value of a grid was chosen (fits).
"""

import sys
import time
from pathlib import Path

from infofair import methods
from infofair.data.prepared import Prepared
from infofair.methods.base import Solver
from infofair.storage import read_json, write_rows
from infofair.training.predictions import Predictions
from infofair.training.solve import Solved, solve
from study import cli


def write(run: dict[str, str], found: list[Solved], data: Prepared) -> None:
    models = {(m.setting, m.strength, m.seed): m.best.probabilities for m in found}
    Predictions.of(models, data).save(Path(run["predictions"]))
    rows = [
        {"setting": m.setting, "strength": m.strength, "seed": m.seed, **row}
        | ({"score": tried.score, "chosen": tried is m.best} if m.tried[1:] else {})
        for m in found
        for tried in m.tried
        for row in tried.log
    ]
    write_rows(Path(run["fits"]), rows, list(rows[0]) if rows else ["setting"])


def main(plan: str) -> None:
    what = read_json(Path(plan))
    method = methods.make(what["method"], **what["knobs"])
    assert isinstance(method, Solver)
    for run in what["runs"]:
        data = Prepared.load(Path(run["data"]))
        start = time.perf_counter()
        found = solve(method, data, run["strengths"], run["seeds"], run["title"])
        write(run, found, data)
        said = f"{sum(len(m.tried) for m in found)} fits, {time.perf_counter() - start:.1f} s"
        print(f"{run['title']} ({data.data} data): {said} of fitting", file=sys.stderr)


if __name__ == "__main__":
    cli.run(main, __doc__, plan="what to fit: a file in data/plans, made by check")
