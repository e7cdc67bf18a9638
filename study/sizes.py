"""How many rows every group of a dataset has, of all that were validated; null if it is hidden."""

from typing import Any

import numpy as np
import pandas as pd

from infofair.data.dataset import Dataset
from infofair.data.prepare import groups
from study.people import covered


def sizes(frame: pd.DataFrame, dataset: Dataset) -> dict[str, Any]:
    """By setting and group; an attribute that is a number has no groups."""
    numbers, names = groups(frame, dict(dataset.sensitive))
    counts = {s: np.bincount(of, minlength=len(names[s])).tolist() for s, of in numbers.items()}
    covers = covered(counts)
    found = {
        setting: [None if c else n for n, c in zip(of, covers[setting], strict=True)]
        for setting, of in counts.items()
    }
    return {
        "rows": len(frame),
        "groups": {s: dict(zip(names[s], of, strict=True)) for s, of in found.items()},
    }
