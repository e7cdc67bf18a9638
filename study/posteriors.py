"""Of which group a row may be, where that is not known: P(s = g | x, y), for blind thresholds.

Gradient boosting, the same for every base, on the features without the sensitive columns and the
label: at y = 0 and at y = 1 it gives both posteriors of a row. Fitted on the training rows of each
honest split; validation and test rows are predicted.
"""

from pathlib import Path

import numpy as np

from infofair.data.prepared import PARTS, Prepared
from infofair.parallel import workers
from infofair.storage import load_arrays, save_arrays
from infofair.training.solve import one_thread
from study import paths
from study.files import need
from study.sweep import without

ROWS = 50_000  # training rows at most; of more, so many are drawn: the paper's data has fewer
ROUNDS = 50  # trees for every group; a group is harder to tell than the label, and overfits sooner


def path(dataset: str, split: str) -> Path:
    return paths.beyond("posteriors", dataset, split) / "posteriors.npz"


def fitted(data: Prepared, setting: str) -> dict[str, np.ndarray]:
    """Part -> rows × groups × 2, float32: P(s = g | x, y = c)."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    train = data.split["train"]
    if len(train) > ROWS:
        train = np.random.default_rng(0).choice(train, ROWS, replace=False)
    group = data.groups[setting].astype(int)
    model = HistGradientBoostingClassifier(max_iter=ROUNDS, early_stopping=False, random_state=0)
    with one_thread():
        model.fit(np.column_stack([data.X[train], data.y[train]]), group[train])
        found = {}
        for part in PARTS:
            X = data.X[data.split[part]]
            chance = np.zeros((len(X), len(data.group_names[setting]), 2), np.float32)
            for c in (0, 1):
                given = np.column_stack([X, np.full(len(X), c)])
                chance[:, model.classes_, c] = model.predict_proba(given)
            found[part] = chance
    return found


def write(dataset: str, splits: dict[str, str], columns: list[str]) -> None:
    """splits: name -> file of the honest split. columns: the sensitive ones."""
    given = {name: without(Prepared.load(Path(file)), columns) for name, file in splits.items()}
    asked = [(name, setting) for name, data in given.items() for setting in data.settings]
    found = workers.run(
        fitted,
        [(given[name], setting) for name, setting in asked],
        names=[f"{name}, {setting}" for name, setting in asked],
        title=f"posteriors of {dataset}",
        unit="fit",
        shared=list(given.values()),
    )
    arrays: dict[str, dict[str, np.ndarray]] = {name: {} for name in given}
    for (name, setting), parts in zip(asked, found, strict=True):
        arrays[name] |= {f"{setting}.{part}": chance for part, chance in parts.items()}
    for name, of in arrays.items():
        save_arrays(path(dataset, name), of)


def read(dataset: str, split: str, setting: str) -> dict[str, np.ndarray]:
    """Part -> rows × groups × 2."""
    arrays = load_arrays(need(path(dataset, split), paths.PIPELINE_BEYOND))
    return {part: arrays[f"{setting}.{part}"] for part in PARTS}
