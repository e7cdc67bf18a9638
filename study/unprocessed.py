"""The same thresholds on every method's scores: what did training add beyond its base?

Cruz and Hardt, "Unprocessing Seven Years of Algorithmic Fairness", ICLR 2024: methods differ in
their base models as much as in what they do about fairness, so they are compared on equal terms
when group thresholds are put on the scores of each of them. Here they are put on those of every
model of the honest table (infofair/thresholds.py), for three notions and several tolerances.
Nothing is trained. A rule is found on a model's validation rows and reported on its test rows; that
for equalised odds is random, and the model's seed draws.

Those for parity are also put on the unconstrained models of the fronts, for `choose`.
"""

from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
import pandas as pd

from infofair import metrics
from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.parallel import workers
from infofair.thresholds import NOTIONS, Curves
from study import honest, swept
from study.dominance import COMPARED, GAPS, WITH_THRESHOLDS
from study.evaluation import headline
from study.results import CELL, TABLES, Row

TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
FIGURES = [*COMPARED, *GAPS.values(), "random"]
KEYS = [*CELL, "notion", "tolerance"]
COLUMNS = [*KEYS, "split", "seed", "part", "overlap", *FIGURES]  # of every model and rule


def models(run: swept.Run) -> Iterator[tuple[str, int, dict[str, np.ndarray]]]:
    """Each model's scores in each setting it is evaluated in: setting, seed, part -> rows."""
    found = run.predictions
    for strength in found.strengths:
        for trained in found.settings:
            for setting in run.data.settings if trained == ALL else [trained]:
                for seed in found.seeds:
                    if model := found.model(trained, strength, seed):
                        yield setting, seed, model


def decisions(
    data: Prepared, setting: str, seed: int, model: dict[str, np.ndarray], notions: Iterable[str]
) -> Iterator[tuple[str, float, bool, dict[str, np.ndarray]]]:
    """With every rule: notion, tolerance, whether it is random, part -> 0/1, rows."""
    members = {part: data.members(setting, part) for part in PARTS}
    y = data.y[data.split["validation"]].astype(int)
    curves = Curves.of(model["validation"], y, *members["validation"])
    for notion in notions:
        for tolerance in TOLERANCES:
            rule = curves.rule(notion, tolerance, random=notion == "odds")
            decided = {part: rule.decide(model[part], members[part][0], seed) for part in PARTS}
            yield notion, tolerance, rule.random, decided


# -- the honest table -----------------------------------------------------------------------------


def of_run(run: swept.Run) -> list[Row]:
    """Every model with every rule, on validation and test rows."""
    rows: list[Row] = []
    for setting, seed, model in models(run):
        found = decisions(run.data, setting, seed, model, NOTIONS)
        for notion, tolerance, random, decided in found:
            for part in PARTS:
                group, groups = run.data.members(setting, part)
                y, of = run.data.y[run.data.split[part]].astype(int), decided[part]
                rows.append(
                    {
                        "setting": setting, "split": run.name, "seed": seed, "notion": notion,
                        "tolerance": tolerance, "part": part, "random": float(random),
                        "micro_f1": float((of == y).mean()),
                        "imparity": metrics.imparity(of, group, groups),
                        "largest_gap": metrics.largest_gap(of, group, groups),
                        "opportunity_gap": metrics.opportunity_gap(of, y, group, groups),
                        "odds_gap": metrics.odds_gap(of, y, group, groups),
                    }
                )  # fmt: skip
    return rows


def everything(datasets: list[str], methods: list[str]) -> pd.DataFrame:
    """One row per dataset, setting, method, notion and tolerance: means over splits and seeds.

    Of test rows, with half the width of a 95 % interval over splits (study/honest.py), and of
    validation rows, by which tolerances are chosen. `random` is the share of models whose rule is.
    """
    places = [(dataset, method) for dataset in datasets for method in methods]
    asked = [(*place, run) for place in places for run in swept.runs("honest", *place)]
    names = [f"{method} on {dataset}, {run.name}" for dataset, method, run in asked]
    found = workers.run(
        of_run, [(run,) for *_, run in asked], names=names, title="thresholds", unit="split"
    )
    rows = [
        {"dataset": dataset, "method": method, "overlap": overlap(run)} | row
        for (dataset, method, run), of in zip(asked, found, strict=True)
        for row in of
    ]
    return summarize(pd.DataFrame(rows, columns=COLUMNS))


def overlap(run: swept.Run) -> float:
    """Test rows for each training row."""
    return len(run.data.split["test"]) / len(run.data.split["train"])


def summarize(rows: pd.DataFrame) -> pd.DataFrame:
    """From every model and rule to means; a split counts as one, however many seeds it has."""
    by_split = rows.groupby([*KEYS, "part", "split"], sort=False)[[*FIGURES, "overlap"]].mean()
    found = []
    for key, of in by_split.groupby(KEYS, sort=False):
        test, chosen = (of.xs(part, level="part") for part in ("test", "validation"))
        row: Row = dict(zip(KEYS, key, strict=True)) | {"splits": len(test)}
        row |= {f"validation_{name}": chosen[name].mean() for name in COMPARED}
        row |= {name: test[name].mean() for name in FIGURES}
        for name in COMPARED:
            row[f"{name}_width"] = honest.half_width(test[name], test["overlap"].max())
        found.append(row)
    return pd.DataFrame(found, columns=TABLES["unprocessed"])


# -- the fronts -----------------------------------------------------------------------------------


def fronts_of_bases(datasets: list[str], bases: list[str]) -> list[Row]:
    """As in results/frontier.csv: bases with thresholds for parity, the tolerance as strength."""
    rows: list[Row] = []
    for dataset, base in product(datasets, bases):
        for run in swept.runs("fronts", dataset, base):
            marks = {"dataset": run.name, "method": f"{base}{WITH_THRESHOLDS}"}
            marks |= {"data": run.data.data, "partition": run.data.partition}
            for setting, seed, model in models(run):
                found = decisions(run.data, setting, seed, model, ["parity"])
                for _, tolerance, _, decided in found:
                    for part in PARTS:
                        cell = {"setting": setting, "strength": tolerance, "seed": seed}
                        figures = headline(run.data, part, decided[part], setting)
                        rows.append(marks | cell | {"split": part} | figures)
    return rows
