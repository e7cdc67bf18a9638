"""Every figure of every model of the comparison on one dataset, and of what is put on its scores.

On honest splits all figures, of decisions and of scores, three notions of fairness, each gap with
the 95 % quantile of an exactly fair predictor's; on the paper's split its own figures, and of rules
those for parity. Nothing is trained here. On the scores of the unconstrained models (BASES) are put

    <base>_thresholds    group thresholds, s known (infofair/thresholds.py), on validation rows
    <base>_blind         a rule in score and group posteriors, s unknown (infofair/blind.py), on the
                         scores of the model without the sensitive columns
    <base>_barycentre    fair scores, s known (infofair/barycentre.py)

for every notion and tolerance, or share of the way. Blind rules are put on honest splits only: the
paper's has no posteriors. The columns are in study/comparison.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from infofair import blind, metrics, scores
from infofair.barycentre import Barycentre
from infofair.data.prepared import PARTS, Prepared
from infofair.information import held_out
from infofair.parallel import workers
from infofair.thresholds import NOTIONS, Curves
from infofair.uncertainty import (
    SEED,
    SIGNIFICANT,
    null_largest_gap,
    null_odds_gap,
    null_quantile,
)
from study import evaluation, posteriors, swept
from study.comparison.measured import BASES
from study.comparison.unprocessed import COLUMNS as UNPROCESSED
from study.results import CELL, Row, as_json

AS_IT_IS = "authors"  # the run on the paper's data and split, as study/plans.py calls it
# More would cost nothing, but all have as many as methods have strengths (params.yaml).
TOLERANCES = (0.0, 0.01, 0.03, 0.1, 0.3)
AMOUNTS = (0.2, 0.4, 0.6, 0.8, 1.0)  # of the way to the fair score
PERMUTATIONS = 400  # of the groups, for the null quantile of KS: its level is good to ± 1.1 %


def everything(dataset: str, methods: list[str]) -> list[Row]:
    """Every row of one dataset."""
    asked = [run for method in methods for run in swept.runs(dataset, method)]
    found = workers.run(
        of_run,
        [(dataset, run) for run in asked],
        names=[f"{run.method} on {dataset}, {run.name}" for run in asked],
        title=f"figures of {dataset}",
        unit="run",
    )
    return [row for rows in found for row in rows]


def of_run(dataset: str, run: swept.Run) -> list[Row]:
    """Every model of a run, and of a base also with every rule."""
    marks: Row = {"dataset": dataset, "data": run.data.data, "partition": run.data.partition}
    marks |= {"partition_seed": "" if run.name == AS_IT_IS else _number(run)}
    marks |= {part: len(run.data.split[part]) for part in ("train", "test")}
    rows: list[Row] = []
    for cell, model in swept.models(run.data, run.predictions):
        setting = cell["setting"]
        own = marks | cell | {"groups": len(run.data.group_names[setting])}
        rows += [own | row for row in _of_model(dataset, run, setting, model, cell["seed"])]
    return rows


def _of_model(
    dataset: str, run: swept.Run, setting: str, model: dict[str, np.ndarray], seed: int
) -> Iterator[Row]:
    data, plain = run.data, run.name == AS_IT_IS
    cell: Row = {"method": run.method, "notion": ""}
    for part in PARTS:
        constant = {"constant_micro_f1": _constant(data, part), "split": part}
        figures: Row = {"note": "diverged"}
        if model and plain:
            figures = evaluation.headline(data, part, model[part] > 0.5, setting)
        elif model:
            figures = of_decisions(data, part, model[part] > 0.5, setting)
            figures |= of_scores(data, part, model, setting)
        yield cell | constant | figures
    if not model:
        return
    if run.method in BASES:
        yield from _with_thresholds(data, setting, model, seed, run.method, plain)
        yield from _fair_scores(data, setting, model, run.method, plain)
    elif plain:
        return
    elif (base := run.method.removesuffix("_unaware")) in BASES and base != run.method:
        yield from _blind(dataset, run, setting, model, base)


def _constant(data: Prepared, part: str) -> float:
    """The micro F1 of the class that is commoner among the training rows."""
    commoner = data.y[data.split["train"]].mean() > 0.5
    return float((data.y[data.split[part]] == commoner).mean())


# -- figures --------------------------------------------------------------------------------------


@cache
def _null(rate: float, sizes: tuple[int, ...]) -> float:
    return null_quantile(rate, np.array(sizes))[0]


def of_decisions(data: Prepared, part: str, decided: np.ndarray, setting: str) -> Row:
    """Of 0/1 predictions, with what an exactly fair predictor would have in 95 of 100 cases.

    And on test rows, of every group.
    """
    y = data.y[data.split[part]].astype(int)
    group, groups = data.members(setting, part)
    found = evaluation.headline(data, part, decided, setting)
    sizes = np.bincount(group, minlength=groups)
    positives = np.bincount(group[y == 1], minlength=groups)
    tpr, fpr = (float(decided[y == c].mean()) if (y == c).any() else 0.0 for c in (1, 0))
    rate = round(found["selection_rate"], 2)
    if part == "test":
        rates = metrics.selection_rates(decided, group, groups).round(4).tolist()
        of = zip(data.group_names[setting], rates, sizes, strict=True)
        found["rates"] = as_json({name: rate for name, rate, size in of if size})
    return found | {
        "largest_gap": metrics.largest_gap(decided, group, groups),
        "parity_ratio": metrics.parity_ratio(decided, group, groups),
        "opportunity_gap": metrics.opportunity_gap(decided, y, group, groups),
        "odds_gap": metrics.odds_gap(decided, y, group, groups),
        "differential_fairness": metrics.differential_fairness(decided, group, groups),
        "worst_accuracy": metrics.worst_accuracy(decided, y, group, groups),
        "imparity_null": _null(rate, tuple(sizes.tolist())),
        "largest_gap_null": null_largest_gap(rate, sizes),
        "opportunity_gap_null": null_largest_gap(tpr, positives),
        "odds_gap_null": null_odds_gap(tpr, fpr, positives, sizes - positives),
    }


def of_scores(data: Prepared, part: str, model: dict[str, np.ndarray], setting: str) -> Row:
    """Of the scores; how many bits they tell of the group is fitted on validation rows.

    And on test rows, what KS chance gives.
    """
    group, groups = data.members(setting, part)
    score = model[part].astype(float)
    found: Row = {
        "auc": scores.auc(score, data.y[data.split[part]].astype(int)),
        "ks": scores.ks(score, group, groups),
        "abcc": scores.abcc(score, group, groups),
    }
    if part == "test":
        both = [{"score": model[p].astype(float), "s": data.members(setting, p)[0]} for p in PARTS]
        found["bits"] = held_out(*both)
        found["ks_null"] = null_ks(score, group, groups)
    return found


def null_ks(score: np.ndarray, group: np.ndarray, groups: int) -> float:
    """The 95 % quantile of KS with the groups permuted over the rows, whatever the score tells.

    Exact for scores that rows share, of several groups: over the rows by rising score a permutation
    has a gap after each of them, and KS is the largest after the last row of a score. The gaps
    depend on the groups' sizes alone, so that all models on the same rows have the same.
    """
    sizes = np.bincount(group, minlength=groups)
    if np.count_nonzero(sizes) < 2:
        return 0.0
    ordered = np.sort(score)
    last = np.append(ordered[1:] != ordered[:-1], True)  # of the rows with one score
    largest = _permuted(tuple(sizes[sizes > 0].tolist()))[:, last].max(axis=1)
    return float(np.quantile(largest, 1 - SIGNIFICANT))


@lru_cache(maxsize=4)  # a model's settings; a large dataset's are 50 MB each
def _permuted(sizes: tuple[int, ...]) -> np.ndarray:
    """max F_g − min F_g after each row, for some permutations of the groups: those × rows."""
    rng = np.random.default_rng(SEED)
    labels = np.repeat(np.arange(len(sizes), dtype=np.int16), sizes)
    gaps = np.empty((PERMUTATIONS, len(labels)), np.float32)
    for gap in gaps:  # one at a time: it stays in the processor's cache, five times as fast
        rng.shuffle(labels)
        most, least = np.zeros(len(labels), np.float32), np.ones(len(labels), np.float32)
        for g, size in enumerate(sizes):
            own = np.cumsum(labels == g, dtype=np.float32)  # exact: of whole numbers
            own /= np.float32(size)
            np.maximum(most, own, out=most)
            np.minimum(least, own, out=least)
        np.subtract(most, least, out=gap)
    return gaps


# -- on the scores of unconstrained models --------------------------------------------------------


def _with_thresholds(
    data: Prepared,
    setting: str,
    model: dict[str, np.ndarray],
    seed: int,
    base: str,
    plain: bool,
) -> Iterator[Row]:
    """plain: on the paper's split, whose figures are of parity alone."""
    for notion in ("parity",) if plain else NOTIONS:
        for rule, decided in decisions(data, setting, seed, model, notion):
            cell = {"method": f"{base}_thresholds", "notion": notion}
            cell |= {"strength": rule["tolerance"]}
            yield from _rows(data, setting, cell, decided, plain)


def decisions(
    data: Prepared, setting: str, seed: int, model: dict[str, np.ndarray], notion: str
) -> Iterator[tuple[Row, dict[str, np.ndarray]]]:
    """With every tolerance: that and whether the rule is random, and what it decides by part.

    The rule is found on validation rows; that for equalised odds is random, and the seed draws.
    """
    members = {part: data.members(setting, part) for part in PARTS}
    y = data.y[data.split["validation"]].astype(int)
    curves = Curves.of(model["validation"], y, *members["validation"])
    for tolerance in TOLERANCES:
        rule = curves.rule(notion, tolerance, random=notion == "odds")
        decided = {part: rule.decide(model[part], members[part][0], seed) for part in PARTS}
        yield {"tolerance": tolerance, "random": float(rule.random)}, decided


def _blind(
    dataset: str, run: swept.Run, setting: str, model: dict[str, np.ndarray], base: str
) -> Iterator[Row]:
    chance = posteriors.read(dataset, run.name, setting)
    given = {part: (model[part].astype(float), chance[part].astype(float)) for part in PARTS}
    for notion in NOTIONS:
        for tolerance in TOLERANCES:
            rule = blind.fit(*given["validation"], notion, tolerance)
            decided = {part: rule.decide(*given[part]) for part in PARTS}
            cell = {"method": f"{base}_blind", "notion": notion, "strength": tolerance}
            yield from _rows(run.data, setting, cell, decided)


def _fair_scores(
    data: Prepared, setting: str, model: dict[str, np.ndarray], base: str, plain: bool
) -> Iterator[Row]:
    members = {part: data.members(setting, part) for part in PARTS}
    fair = Barycentre.of(model["validation"].astype(float), *members["validation"])
    for amount in AMOUNTS:
        moved = {p: fair.transform(model[p].astype(float), members[p][0], amount) for p in PARTS}
        decided = {part: of > 0.5 for part, of in moved.items()}
        cell = {"method": f"{base}_barycentre", "notion": "scores", "strength": amount}
        for row in _rows(data, setting, cell, decided, plain):
            yield row if plain else row | of_scores(data, row["split"], moved, setting)


def _rows(
    data: Prepared, setting: str, cell: Row, decided: Any, plain: bool = False
) -> Iterator[Row]:
    of = evaluation.headline if plain else of_decisions
    for part in PARTS:
        constant = {"constant_micro_f1": _constant(data, part), "split": part}
        yield cell | constant | of(data, part, decided[part].astype(bool), setting)


# -- on the scores of every method ----------------------------------------------------------------


def unprocessed(asked: dict[str, list[str]], chosen: pd.DataFrame) -> pd.DataFrame:
    """Every method at the strength that each split chose, with every rule: one row per part."""
    strengths = chosen.set_index([*CELL, "partition_seed"])["strength"].to_dict()
    calls = [
        (dataset, run, {s: strengths.get((dataset, s, run.method, _number(run))) for s in of})
        for dataset, methods in asked.items()
        for method in methods
        for run in swept.runs(dataset, method)
        if run.name != AS_IT_IS and (of := run.data.settings)
    ]
    found = workers.run(
        _with_rules,
        calls,
        names=[f"{run.method} on {dataset}, {run.name}" for dataset, run, _ in calls],
        title="thresholds",
        unit="run",
    )
    return pd.DataFrame([row for rows in found for row in rows], columns=UNPROCESSED)


def _number(run: swept.Run) -> int:
    return int(run.name.removeprefix("split"))


def _with_rules(dataset: str, run: swept.Run, strengths: dict[str, float | None]) -> list[Row]:
    rows: list[Row] = []
    data = run.data
    marks: Row = {"dataset": dataset, "method": run.method, "partition_seed": _number(run)}
    marks |= {part: len(data.split[part]) for part in ("train", "test")}
    for cell, model in swept.models(data, run.predictions):
        setting = cell["setting"]
        wanted = strengths[setting]
        if not model or wanted is None or not np.isclose(cell["strength"], wanted, rtol=1e-5):
            continue
        own = marks | {"setting": setting, "seed": cell["seed"]}
        for notion in NOTIONS:
            for rule, decided in decisions(data, setting, cell["seed"], model, notion):
                for part in PARTS:
                    figures = of_rule(data, part, decided[part], setting)
                    rows.append(own | {"notion": notion, "split": part} | rule | figures)
    return rows


def of_rule(data: Prepared, part: str, decided: np.ndarray, setting: str) -> Row:
    """What thresholds are judged by."""
    y = data.y[data.split[part]].astype(int)
    group, groups = data.members(setting, part)
    return {
        "micro_f1": float((decided == y).mean()),
        "imparity": metrics.imparity(decided, group, groups),
        "largest_gap": metrics.largest_gap(decided, group, groups),
        "opportunity_gap": metrics.opportunity_gap(decided, y, group, groups),
        "odds_gap": metrics.odds_gap(decided, y, group, groups),
    }
