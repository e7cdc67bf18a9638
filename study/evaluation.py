"""What the predictions on one dataset come to: metrics, groups, intervals, tests, controls.

Intervals are 95 % bootstrap intervals over rows, drawn within groups and corrected for bias: they
say how much depends on which rows are tested, not on the seed. `p_value` is of the permutation
test of imparity, of one model or of the mean over seeds; where it is above 0.05 an exactly fair
predictor cannot be ruled out, and the interval of imparity holds it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import f1_score

from infofair import metrics
from infofair.data.prepared import ALL, INTERSECTION, PARTS, Prepared
from infofair.data.tabular import source
from infofair.parallel import workers
from infofair.training.predictions import Predictions
from infofair.uncertainty import (
    SIGNIFICANT,
    bootstrap,
    interval,
    noise_floor,
    null_quantile,
    permutation_test,
)
from study import control, paths
from study.files import need
from study.results import CONTROLS, Row


@dataclass(frozen=True, eq=False)  # a model equals itself only, so that it can be a key
class Model:
    method: str
    setting: str  # where it is evaluated
    trained: str  # the setting it was trained for, or ALL
    seed: int
    scores: dict[str, np.ndarray]  # part -> the probability of class 1, rows
    predicted: dict[str, np.ndarray]  # part -> 0/1, rows


def models(dataset: str, methods: list[str], settings: list[str]) -> Iterator[Model]:
    """Every model in every setting it is evaluated in, in the order of the tables."""
    for method in methods:
        path = need(paths.predictions(dataset, method), f"train@{dataset}-{method}")
        stored = Predictions.load(path)
        for setting in settings:
            own = ALL if ALL in stored.settings else setting
            if own not in stored.settings:
                continue  # the method does not handle this setting
            for seed in stored.seeds:
                scores = stored.model(own, stored.strengths[0], seed)
                predicted = {part: p > 0.5 for part, p in scores.items()}
                yield Model(method, setting, own, seed, scores, predicted)


def headline(data: Prepared, part: str, predicted: np.ndarray, setting: str) -> Row:
    """The paper's metrics of one model on the validation or test rows, in one setting."""
    y = data.y[data.split[part]]
    group, groups = data.members(setting, part)
    return {
        "micro_f1": float((predicted == y).mean()),  # the same where a row has one label
        "macro_f1": float(f1_score(y, predicted, average="macro")),
        "imparity": metrics.imparity(predicted, group, groups),
        "imparity_released": metrics.imparity_released(predicted, group, groups),
        "selection_rate": float(predicted.mean()),
        # its imparity is 0 because it tells nobody apart
        "note": "constant" if predicted.min() == predicted.max() else "",
    }


def evaluate(data: Prepared, part: str, predicted: np.ndarray, setting: str) -> Row:
    """Those, and all others."""
    y = data.y[data.split[part]]
    group, groups = data.members(setting, part)
    found = headline(data, part, predicted, setting)
    fair = found["selection_rate"], data.sizes(setting, part)
    floor, floor_released = noise_floor(*fair)
    null_95, null_95_released = null_quantile(*fair)
    return found | {
        "largest_gap": metrics.largest_gap(predicted, group, groups),
        "parity_ratio": metrics.parity_ratio(predicted, group, groups),
        "opportunity_gap": metrics.opportunity_gap(predicted, y, group, groups),
        "odds_gap": metrics.odds_gap(predicted, y, group, groups),
        "mutual_information": metrics.mutual_information(predicted, group, groups),
        "floor": floor,
        "floor_released": floor_released,
        "null_95": null_95,
        "null_95_released": null_95_released,
        "differential_fairness": metrics.differential_fairness(predicted, group, groups),
        "worst_accuracy": metrics.worst_accuracy(predicted, y, group, groups),
        "lowest_rate": metrics.lowest_rate(predicted, group, groups),
        "highest_rate": metrics.highest_rate(predicted, group, groups),
    }


@dataclass(frozen=True)
class Tested:
    """All models of one setting on the same rows."""

    predicted: np.ndarray  # models × rows
    group: np.ndarray
    groups: int
    observed: dict[str, np.ndarray]  # metric -> models
    errors: dict[str, np.ndarray]  # metric -> replicates × models

    @classmethod
    def of(cls, data: Prepared, here: list[Model], part: str) -> "Tested":
        predicted = np.stack([model.predicted[part] for model in here])
        y = data.y[data.split[part]]
        group, groups = data.members(here[0].setting, part)
        observed = {
            "micro_f1": np.mean(predicted == y, axis=1),
            "imparity": np.array([metrics.imparity(p, group, groups) for p in predicted]),
        }
        errors = bootstrap(predicted, y, group, groups)
        return cls(predicted, group, groups, observed, errors)

    def mean(self, chosen: list[int]) -> Row:
        """The p-value and the intervals of the mean over the chosen models."""
        p_value = permutation_test(self.predicted[chosen], self.group, self.groups)
        found: Row = {"p_value": p_value}
        for metric, errors in self.errors.items():
            observed = float(self.observed[metric][chosen].mean())
            fair = metric == "imparity" and p_value > SIGNIFICANT
            low, high = interval(observed, errors[:, chosen].mean(axis=1), fair=fair)
            found |= {f"{metric}_low": low, f"{metric}_high": high}
        for end in ("low", "high"):
            gap = found[f"imparity_{end}"], len(np.unique(self.group)), self.groups
            found[f"imparity_released_{end}"] = metrics.released(*gap)
        return found


def controls(data: Prepared, part: str, here: list[Model]) -> list[Row]:
    """Vanilla with one threshold at each model's selection rate; empty where it is not run.

    Vanilla of the same seed, or where there is none the mean over all of its seeds.
    """
    every = [v for v in here if v.method == "vanilla"]
    found = []
    for model in here if every else ():
        vanilla = [v for v in every if v.seed == model.seed] or every
        moved = [control.moved(v.scores, model.predicted["validation"])[part] for v in vanilla]
        rows = [headline(data, part, predicted, model.setting) for predicted in moved]
        found.append(
            {
                name: float(np.mean([row[name.removeprefix("control_")] for row in rows]))
                for name in CONTROLS
            }
        )
    return found or [{} for _ in here]


def by_group(data: Prepared, part: str, model: Model) -> list[Row]:
    """One row per group of the model's setting."""
    group, groups = data.members(model.setting, part)
    rows = metrics.by_group(model.predicted[part], data.y[data.split[part]], group, groups)
    names = data.group_names[model.setting]
    return [{"group": g, "name": names[g], **row} for g, row in enumerate(rows)]


def on_attributes(data: Prepared, part: str, model: Model) -> list[Row]:
    """The imparity of a model trained on the intersection, on each attribute alone."""
    rows = []
    for attribute in data.attributes(INTERSECTION) if model.trained == INTERSECTION else []:
        case = model.predicted[part], *data.members(attribute, part)
        both = {
            "imparity": metrics.imparity(*case),
            "imparity_released": metrics.imparity_released(*case),
        }
        rows.append({"attribute": attribute, **both})
    return rows


def statistics(data: Prepared) -> list[Row]:
    """The paper's table of dataset statistics, and each setting's groups: one row per setting.

    `features` are the columns of the feature matrix, `attributes` what they encode; the smallest
    group is the smallest that has members.
    """
    whole = {
        "samples": len(data.y),
        "features": data.X.shape[1],
        "attributes": len({source(name) for name in data.features}),
        "classes": len(np.unique(data.y)),
        "positives": float(data.y.mean()),
        **{part: len(members) for part, members in data.split.items()},
    }
    rows = []
    for setting in data.settings:
        train, test = data.sizes(setting, "train"), data.sizes(setting, "test")
        of_groups = {
            "groups": len(test),
            "smallest_train": int(train[train > 0].min()),
            "smallest_test": int(test[test > 0].min()),
            "empty_test": int(np.sum(test == 0)),
        }
        rows.append({"setting": setting, **whole, **of_groups})
    return rows


def of_models(
    data: Prepared, part: str, here: list[Model]
) -> tuple[list[dict[str, list[Row]]], list[Row]]:
    """The rows of each model of one setting, by table, and those of the means over seeds."""
    tested = Tested.of(data, here, part)
    each = []
    for i, (model, beside) in enumerate(zip(here, controls(data, part, here), strict=True)):
        figures = evaluate(data, part, model.predicted[part], model.setting)
        tables = {
            "runs": [figures | tested.mean([i]) | beside],
            "groups": by_group(data, part, model),
            "subsets": on_attributes(data, part, model),
        }
        cell = {
            "setting": model.setting, "method": model.method, "seed": model.seed, "split": part
        }  # fmt: skip
        each.append({name: [cell | row for row in rows] for name, rows in tables.items()})
    means = []
    for method in dict.fromkeys(model.method for model in here):
        seeds = [i for i, model in enumerate(here) if model.method == method]
        cell = {"setting": here[0].setting, "method": method, "split": part}
        means.append(cell | tested.mean(seeds))
    return each, means


def tables(dataset: str, data: Prepared, found: list[Model]) -> dict[str, list[Row]]:
    """The rows of every table of one dataset."""
    settings = {s: [model for model in found if model.setting == s] for s in data.settings}
    calls = [(data, part, here) for here in settings.values() if here for part in PARTS]
    done = workers.run(
        of_models,
        calls,
        names=[f"{here[0].setting}, {part}" for _, part, here in calls],
        title=f"tables of {dataset}",
        unit="part",
    )
    of = {
        (model, part): rows
        for (_, part, here), (each, _) in zip(calls, done, strict=True)
        for model, rows in zip(here, each, strict=True)
    }
    by_model = {
        name: [row for model in found for part in PARTS for row in of[model, part][name]]
        for name in ("runs", "groups", "subsets")
    }
    means = [row for _, rows in done for row in rows]
    return by_model | {"intervals": means, "statistics": statistics(data)}
