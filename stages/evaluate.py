"""Turn the predictions of every method on one dataset into tables.

Writes results/evaluation/<dataset>/, on validation and test rows:

    runs.csv        every metric of each setting, method and seed; its noise floor (the imparity to
                    expect of an exactly fair predictor that selects as many), and bootstrap
                    intervals
    groups.csv      size, selection rate and accuracy of each group, of each of these models
    subsets.csv     the imparity, on each attribute alone, of models trained on the intersection
    intervals.csv   bootstrap intervals of the means over seeds

and statistics.csv, what the dataset holds. Intervals are 95 % percentile intervals over rows: they
say how much depends on which rows are tested, not on the seed. Resampling adds noise of its own to
the rates of small groups, so that intervals of imparity lie high there: read them with the floor.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from stages import cli, files, metrics
from stages.methods import ALL
from stages.params import Params, load
from stages.processed import INTERSECTION, Processed, load_arrays
from stages.tabular import source
from stages.uncertainty import bootstrap, interval, noise_floor

PARTS = ("validation", "test")
MARKS = ["data", "partition"]
BOUNDS = [
    "micro_f1_low", "micro_f1_high", "imparity_low", "imparity_high", "imparity_released_low",
    "imparity_released_high",
]  # fmt: skip
COLUMNS = {
    "runs": [
        "dataset", "setting", "method", "seed", "split", "micro_f1", "macro_f1", "imparity",
        "imparity_released", "largest_gap", "parity_ratio", "opportunity_gap", "odds_gap",
        "mutual_information", "selection_rate", "floor", "floor_released", *BOUNDS, "note", *MARKS,
    ],
    "groups": [
        "dataset", "setting", "method", "seed", "split", "group", "name", "size",
        "selection_rate", "accuracy", *MARKS,
    ],
    "subsets": [
        "dataset", "setting", "attribute", "method", "seed", "split", "imparity",
        "imparity_released", *MARKS,
    ],
    "intervals": ["dataset", "setting", "method", "split", *BOUNDS, *MARKS],
    "statistics": [
        "dataset", "setting", "samples", "features", "attributes", "classes", "positives", "train",
        "validation", "test", "groups", "smallest_train", "smallest_test", "empty_test", *MARKS,
    ],
}  # fmt: skip

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)  # a model equals itself only, so that it can be a key
class Model:
    method: str
    setting: str  # where it is evaluated
    trained: str  # the setting it was trained for, or ALL
    seed: int
    predicted: dict[str, np.ndarray]  # part -> 0/1, rows


def models(dataset: str, params: Params, settings: list[str]) -> Iterator[Model]:
    """Every model in every setting it is evaluated in, in the order of the tables."""
    for method in params.method_names:
        path = files.need(files.predictions(dataset, method), params.stage(dataset, method))
        stored = load_arrays(path)
        if missing := {"settings", "seeds", *PARTS} - stored.keys():
            raise files.damaged(path, f"no array {min(missing)!r}")
        trained = stored["settings"].tolist()
        for setting in settings:
            own = ALL if ALL in trained else setting
            if own not in trained:
                continue  # the method does not handle this setting
            for e, seed in enumerate(stored["seeds"].tolist()):
                predicted = {p: stored[p][trained.index(own), e] > 0.5 for p in PARTS}
                yield Model(method, setting, own, seed, predicted)


def groups_of(data: Processed, setting: str, part: str) -> tuple[np.ndarray, int]:
    """The group of each row, and the number of groups."""
    return data.groups[setting][data.split[part]].astype(int), len(data.group_names[setting])


def sizes(data: Processed, setting: str, part: str) -> np.ndarray:
    """The number of rows of each group."""
    group, groups = groups_of(data, setting, part)
    return np.bincount(group, minlength=groups)


def headline(data: Processed, part: str, predicted: np.ndarray, setting: str) -> Row:
    """The paper's metrics of one model on the validation or test rows, in one setting."""
    y = data.y[data.split[part]]
    group, groups = groups_of(data, setting, part)
    return {
        "micro_f1": float((predicted == y).mean()),  # the same where a row has one label
        "macro_f1": float(f1_score(y, predicted, average="macro")),
        "imparity": metrics.imparity(predicted, group, groups),
        "imparity_released": metrics.imparity_released(predicted, group, groups),
        "selection_rate": float(predicted.mean()),
        # its imparity is 0 because it tells nobody apart
        "note": "constant" if predicted.min() == predicted.max() else "",
    }


def evaluate(data: Processed, part: str, predicted: np.ndarray, setting: str) -> Row:
    """Those, and all others."""
    y = data.y[data.split[part]]
    group, groups = groups_of(data, setting, part)
    found = headline(data, part, predicted, setting)
    floor, floor_released = noise_floor(found["selection_rate"], sizes(data, setting, part))
    return found | {
        "largest_gap": metrics.largest_gap(predicted, group, groups),
        "parity_ratio": metrics.parity_ratio(predicted, group, groups),
        "opportunity_gap": metrics.opportunity_gap(predicted, y, group, groups),
        "odds_gap": metrics.odds_gap(predicted, y, group, groups),
        "mutual_information": metrics.mutual_information(predicted, group, groups),
        "floor": floor,
        "floor_released": floor_released,
    }


def bounds(replicates: dict[str, np.ndarray], chosen: list[int]) -> Row:
    """The intervals of the mean over the chosen models."""
    found: Row = {}
    for metric, values in replicates.items():  # replicates × models
        low, high = interval(values[:, chosen].mean(axis=1))
        found |= {f"{metric}_low": low, f"{metric}_high": high}
    return found


def intervals(
    data: Processed, found: list[Model]
) -> tuple[dict[tuple[Model, str], Row], list[Row]]:
    """The bootstrap intervals of each model and part, and rows with those of means over seeds."""
    each: dict[tuple[Model, str], Row] = {}
    means = []
    for setting in data.settings:
        here = [model for model in found if model.setting == setting]
        for part in PARTS if here else ():
            predicted = np.stack([model.predicted[part] for model in here])
            y = data.y[data.split[part]]
            replicates = bootstrap(predicted, y, *groups_of(data, setting, part))
            each |= {(model, part): bounds(replicates, [i]) for i, model in enumerate(here)}
            for method in dict.fromkeys(model.method for model in here):
                seeds = [i for i, model in enumerate(here) if model.method == method]
                cell = {"setting": setting, "method": method, "split": part}
                means.append(cell | bounds(replicates, seeds))
    return each, means


def by_group(data: Processed, part: str, model: Model) -> list[Row]:
    """One row per group of the model's setting."""
    group, groups = groups_of(data, model.setting, part)
    rows = metrics.by_group(model.predicted[part], data.y[data.split[part]], group, groups)
    names = data.group_names[model.setting]
    return [{"group": g, "name": names[g], **row} for g, row in enumerate(rows)]


def on_attributes(data: Processed, part: str, model: Model) -> list[Row]:
    """The imparity of a model trained on the intersection, on each attribute alone."""
    rows = []
    for attribute in data.attributes(INTERSECTION) if model.trained == INTERSECTION else []:
        case = model.predicted[part], *groups_of(data, attribute, part)
        both = {
            "imparity": metrics.imparity(*case),
            "imparity_released": metrics.imparity_released(*case),
        }
        rows.append({"attribute": attribute, **both})
    return rows


def statistics(data: Processed) -> list[Row]:
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
        train, test = sizes(data, setting, "train"), sizes(data, setting, "test")
        of_groups = {
            "groups": len(test),
            "smallest_train": int(train[train > 0].min()),
            "smallest_test": int(test[test > 0].min()),
            "empty_test": int(np.sum(test == 0)),
        }
        rows.append({"setting": setting, **whole, **of_groups})
    return rows


def main(dataset: str) -> None:
    params = load(dataset)
    data = Processed.load(dataset)
    found = list(models(dataset, params, data.settings))
    bounds_of, means = intervals(data, found)
    runs, groups, subsets = [], [], []
    for model in found:
        for part in PARTS:
            cell = {
                "setting": model.setting, "method": model.method, "seed": model.seed, "split": part
            }  # fmt: skip
            metrics_of = evaluate(data, part, model.predicted[part], model.setting)
            runs.append(cell | metrics_of | bounds_of[model, part])
            groups += [cell | row for row in by_group(data, part, model)]
            subsets += [cell | row for row in on_attributes(data, part, model)]
    tables = {
        "runs": runs, "groups": groups, "subsets": subsets, "intervals": means,
        "statistics": statistics(data),
    }  # fmt: skip
    marks = {"dataset": dataset, "data": data.data, "partition": data.partition}
    folder = files.evaluation(dataset)
    for name, rows in tables.items():
        files.write_rows(folder / f"{name}.csv", [marks | row for row in rows], COLUMNS[name])
    files.keep_only(folder, {f"{name}.csv" for name in tables})
    files.keep_only(
        files.predictions(dataset, "").parent, {f"{method}.npz" for method in params.method_names}
    )


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")
