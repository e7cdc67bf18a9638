"""The paper's figures of a model on real data, and which of them the default run looks at."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
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


def slow_but_for(quick: str, cases: Iterable[Any]) -> list[Any]:
    """Cases that start with a dataset's name; those of all but one dataset are slow."""
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row, marks=[pytest.mark.slow] * (row[0] != quick)) for row in rows]
