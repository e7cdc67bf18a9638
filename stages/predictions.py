"""What `train` and `solve` share: which settings a method handles, and the file they write."""

from collections.abc import Mapping

import numpy as np

from stages import files
from stages.methods import Method
from stages.processed import Processed, save_arrays

PARTS = ("validation", "test")


def handled(method: Method, data: Processed) -> list[str]:
    """The settings of the dataset that the method is defined for."""
    return [s for s in data.settings if method.handles(len(data.group_names[s]))]


def save(
    dataset: str,
    method: str,
    data: Processed,
    models: Mapping[tuple[str, int], Mapping[str, np.ndarray]],
) -> None:
    """models: (setting, seed) -> part -> probability of class 1 of every row."""
    settings = list(dict.fromkeys(setting for setting, _ in models))
    seeds = sorted({seed for _, seed in models})
    arrays: dict[str, np.ndarray] = {"settings": np.array(settings, str), "seeds": np.array(seeds)}
    for part in PARTS:
        shape = (len(settings), len(seeds), len(data.split[part]))  # no setting: an empty array
        each = [models[setting, seed][part] for setting in settings for seed in seeds]
        arrays[part] = np.array(each, np.float32).reshape(shape)
    save_arrays(files.predictions(dataset, method), arrays)
