"""The paper's figures of a model on real data."""

import numpy as np
from sklearn.metrics import f1_score

from infofair import metrics
from infofair.data.prepared import Prepared


def figures(data: Prepared, setting: str, probability: np.ndarray) -> dict[str, float]:
    """From the probability of class 1 of the test rows."""
    y, predicted = data.y[data.split["test"]], probability > 0.5
    group, groups = data.members(setting, "test")
    return {
        "micro_f1": float((predicted == y).mean()),
        "macro_f1": float(f1_score(y, predicted, average="macro")),
        "imparity": metrics.imparity(predicted, group, groups),
        "imparity_released": metrics.imparity_released(predicted, group, groups),
    }
