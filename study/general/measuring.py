"""Every figure of a study's models; nothing is trained."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from infofair import grids
from infofair.parallel import workers
from infofair.training.solve import one_thread
from study import general
from study.general.study import VANILLA, Figures, Key, Measured, Outputs, Rows, Rule
from study.general.training import Trained

LOSS = 0.25  # of vanilla's lead over the constant predictor: what a chosen strength may cost
QUANTILE = 0.95


def measure(name: str, dataset: str, frame: pd.DataFrame, trained: Trained) -> list[dict[str, Any]]:
    """Every figure of every method and strength: mean and spread over the splits, and its floor."""
    study, rules = general.models_of(name), general.figures_of(name).rules
    cells, calls = [], []
    for setting in study.settings[dataset]:
        own = {of.method: models for of, models in trained.items() if of.setting == setting}
        seeds = sorted({seed for models in own.values() for _, seed in models})
        splits = {seed: study.rows(dataset, setting, frame, seed) for seed in seeds}
        for method, rule in rules.items():
            if rule.of in own and study.has(method, setting):
                own[method] = _ruled(rule, own[rule.of], splits)
        lead = _looked(study.look, own[VANILLA], splits)
        for method, models in own.items():
            cell = {"dataset": dataset, "setting": setting, "method": method}
            chosen = _chosen(_looked(study.look_of(method), models, splits), lead)
            for strength in sorted({strength for strength, _ in models}):
                cells.append(cell | {"strength": strength, "chosen": strength == chosen})
                calls.append((name, {seed: models[strength, seed] for seed in seeds}, splits))
    found = workers.run(
        work,
        calls,
        names=[f"{cell['method']} ({cell['setting']}), {cell['strength']:g}" for cell in cells],
        title=f"{name} on {dataset}, figures",
        unit="point",
    )
    return [cell | row for cell, rows in zip(cells, found, strict=True) for row in rows]


def work(
    name: str, outputs: Mapping[int, Outputs], splits: Mapping[int, Rows]
) -> list[dict[str, Any]]:
    with one_thread():
        return list(_figures(general.figures_of(name), outputs, splits))


def _ruled(
    rule: Rule, models: dict[Key, Outputs], splits: Mapping[int, Rows]
) -> dict[Key, Outputs]:
    """A rule on the models of a method without strengths."""
    return {
        (float(strength), seed): rule.apply(outputs, splits[seed], strength)
        for (_, seed), outputs in models.items()
        for strength in rule.strengths
    }


def _looked(
    look: Callable[[Outputs, Rows], grids.Row],
    models: dict[Key, Outputs],
    splits: Mapping[int, Rows],
) -> dict[float, grids.Row]:
    """Strength -> what validation rows say of it, on average over splits."""
    found: dict[float, list[grids.Row]] = {}
    for (strength, seed), outputs in models.items():
        found.setdefault(strength, []).append(look(outputs, splits[seed]))
    return {
        strength: {what: float(np.mean([row[what] for row in rows])) for what in rows[0]}
        for strength, rows in found.items()
    }


def _chosen(seen: dict[float, grids.Row], vanilla: dict[float, grids.Row]) -> float:
    """The strength with the least gap among those that cost at most LOSS of vanilla's lead; the one
    that costs least if none does."""
    (plain,) = vanilla.values()
    least = plain["micro_f1"] - LOSS * (plain["micro_f1"] - plain["constant"])
    good = {strength: row["imparity"] for strength, row in seen.items() if row["micro_f1"] >= least}
    if good:
        return min(good, key=lambda strength: good[strength])
    return max(seen, key=lambda strength: seen[strength]["micro_f1"])


def _figures(
    study: Measured, outputs: Mapping[int, Outputs], splits: Mapping[int, Rows]
) -> Iterator[dict[str, Any]]:
    """A row for every figure of one method and strength."""
    quality = [study.figures(own, splits[seed]) for seed, own in outputs.items()]
    gaps = [study.gaps(own, splits[seed], splits[seed].s("test")) for seed, own in outputs.items()]
    nulls = [_nulls(study, own, splits[seed], seed) for seed, own in outputs.items()]
    for what in quality[0]:
        yield _row(what, [own[what] for own in quality], None)
    for what in gaps[0]:
        null = [[own[what] for own in drawn] for drawn in nulls]
        yield _row(what, [own[what] for own in gaps], null)


def _row(what: str, values: list[float], null: list[list[float]] | None) -> dict[str, Any]:
    """A gap has a floor: its mean, and the mean over splits of its quantile, were s random."""
    return {
        "metric": what,
        "mean": np.mean(values),
        "std": np.std(values, ddof=1) if len(values) > 1 else np.nan,
        "seeds": len(values),
        "floor": np.nan if null is None else np.mean(null),
        "null_95": np.nan
        if null is None
        else np.mean([np.quantile(drawn, QUANTILE) for drawn in null]),
    }


def _nulls(study: Measured, outputs: Outputs, rows: Rows, seed: int) -> list[Figures]:
    """The gaps with s permuted among the test rows, all its columns together."""
    rng = np.random.default_rng(seed)
    parts = rows.s("test")
    drawn = []
    for _ in range(study.permutations):
        order = rng.permutation(len(rows.split["test"]))
        drawn.append(study.gaps(outputs, rows, [own.at(order) for own in parts]))
    return drawn
