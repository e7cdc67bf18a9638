"""How many rows every group of a dataset has, of all that were validated; of a few people, null."""

from typing import Any

import numpy as np
import pandas as pd

from infofair.data.dataset import Dataset
from infofair.data.prepare import groups
from study.people import few


def sizes(frame: pd.DataFrame, dataset: Dataset) -> dict[str, Any]:
    """By setting and group; an attribute that is a number has no groups."""
    numbers, names = groups(frame, dict(dataset.sensitive))
    counted = {
        setting: [
            None if few(n) else n for n in np.bincount(of, minlength=len(names[setting])).tolist()
        ]
        for setting, of in numbers.items()
    }
    return {
        "rows": len(frame),
        "groups": {s: dict(zip(names[s], of, strict=True)) for s, of in counted.items()},
    }
