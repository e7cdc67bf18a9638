"""Turn the predictions of every method on one dataset into one row per setting, method and seed.

Writes results/runs/<dataset>.csv, for validation and test rows.
"""

import numpy as np
from sklearn.metrics import f1_score

from stages import cli, files
from stages.methods import ALL
from stages.metrics import imparity, imparity_released
from stages.params import load
from stages.processed import Processed, load_arrays

COLUMNS = [
    "dataset", "setting", "method", "seed", "split", "micro_f1", "macro_f1", "imparity",
    "imparity_released", "note", "data", "partition",
]  # fmt: skip


def evaluate(
    data: Processed, part: str, probability: np.ndarray, setting: str
) -> dict[str, float | str]:
    """The metrics of one model on the validation or test rows, in one setting."""
    rows = data.split[part]
    predicted = (probability > 0.5).astype(int)
    group, groups = data.groups[setting][rows].astype(int), len(data.group_names[setting])
    return {
        "micro_f1": float(f1_score(data.y[rows], predicted, average="micro")),
        "macro_f1": float(f1_score(data.y[rows], predicted, average="macro")),
        "imparity": imparity(predicted, group, groups),
        "imparity_released": imparity_released(predicted, group, groups),
        # its imparity is 0 because it tells nobody apart
        "note": "constant" if predicted.min() == predicted.max() else "",
    }


def main(dataset: str) -> None:
    params = load(dataset)
    data = Processed.load(dataset)
    rows = []
    for method in params.method_names:
        path = files.need(files.predictions(dataset, method), params.stage(dataset, method))
        predictions = load_arrays(path)
        trained = predictions["settings"].tolist()
        for setting in data.settings:
            if setting not in trained and ALL not in trained:
                continue  # the method does not handle this setting
            s = trained.index(ALL if ALL in trained else setting)
            for e, seed in enumerate(predictions["seeds"].tolist()):
                for part in ("validation", "test"):
                    rows.append(
                        {
                            "dataset": dataset,
                            "setting": setting,
                            "method": method,
                            "seed": seed,
                            "split": part,
                            **evaluate(data, part, predictions[part][s, e], setting),
                            "data": data.data,
                            "partition": data.partition,
                        }
                    )
    files.keep_only(
        files.predictions(dataset, "").parent, {f"{method}.npz" for method in params.method_names}
    )
    files.write_rows(files.runs(dataset), rows, COLUMNS)


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")
