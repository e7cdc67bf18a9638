"""A fitted estimator as one file, without pickle: arrays, and what is not an array as JSON.

Rows are not kept, not even those that were held back: a model goes further than its data may.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from infofair.errors import Damaged, Problem
from infofair.storage import load_arrays, save_arrays

FORMAT = 1


def save(
    path: Path, about: dict[str, Any], arrays: dict[str, np.ndarray], module: nn.Module
) -> None:
    text = np.array(json.dumps({"format": FORMAT, **about}, default=_plain))
    state = {f"module/{n}": own.detach().cpu().numpy() for n, own in module.state_dict().items()}
    save_arrays(path, {"about": text} | arrays | state)


def _plain(value: Any) -> Any:
    """NumPy's numbers and pandas' columns as Python's."""
    if not hasattr(value, "tolist"):
        raise Problem(f"{value!r} cannot be saved; expected numbers and strings as parameters")
    return value.tolist()


def load(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, torch.Tensor]]:
    """What was said about it, its arrays, and its module's state."""
    found = load_arrays(path)
    try:
        about = json.loads(str(found.pop("about")))
        if about["format"] != FORMAT:
            raise ValueError(f"format {about['format']}; expected {FORMAT}")
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(path, f"no model of infofair.estimators: {error}") from None
    state = {
        name.removeprefix("module/"): torch.from_numpy(found.pop(name))
        for name in list(found)
        if name.startswith("module/")
    }
    return about, found, state
