"""Validated rows to features, targets and attributes, split at random."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from infofair.data import dataset as datasets
from infofair.data.prepare import RandomSplit, groups, random_split
from infofair.data.tabular import source
from infofair.framework import sensitive
from infofair.framework.rows import Scale
from study.general.study import Rows

SHARES = {"train": 0.6, "validation": 0.2}  # of all rows; the test rows are the rest
QUANTILES = 4  # that numbers are cut into, to keep their shares in every split


def encoded(dataset: str, frame: pd.DataFrame, without: Collection[str] = ()) -> pd.DataFrame:
    """The features by name, without columns that leak and those that are named."""
    found = datasets.load(dataset)
    dropped = {*found.leaking, *without}
    columns = found.encode(frame)
    return pd.DataFrame({n: x for n, x in columns.items() if source(n) not in dropped})


def of_setting(dataset: str, setting: str, frame: pd.DataFrame, seed: int) -> Rows:
    """Of a dataset of the comparison, with the groups of one of its settings."""
    found = datasets.load(dataset)
    numbers, _ = groups(frame, dict(found.sensitive))
    s = pd.DataFrame({setting: numbers[setting].astype(str)})
    return split_at_random(encoded(dataset, frame), frame[found.label].to_numpy(int), s, seed)


def strata(*columns: np.ndarray) -> np.ndarray:
    """A number for each combination; numbers are cut at their quantiles."""
    cells = []
    for column in columns:
        if column.dtype.kind == "f":
            edges = np.quantile(column, np.linspace(0, 1, QUANTILES + 1)[1:-1])
            column = np.searchsorted(edges, column)
        cells.append(column)
    return np.unique(np.stack(cells, 1), axis=0, return_inverse=True)[1].reshape(-1)


def split_at_random(
    X: pd.DataFrame | np.ndarray, y: np.ndarray, s: pd.DataFrame, seed: int, *,
    how: str = sensitive.INTERSECTION,
) -> Rows:  # fmt: skip
    """Rows in the shares above, stratified by y and s; scaled by the training rows.

    s: the sensitive columns, as `sensitive_features` of the estimators. y: whole numbers are
    classes, others are standardised.
    """
    attributes = sensitive.read(s, len(s))
    parts = sensitive.parts(attributes, how)
    columns = [own.g if not own.numbers else own.c[:, 0] for own in parts]
    split = random_split(strata(y, *columns), RandomSplit(seed, **SHARES))
    values = np.asarray(X, float)
    if y.dtype.kind == "f":
        known = y[split["train"]]
        y = ((y - known.mean()) / known.std()).astype(np.float32)
    scaled = Scale.of(values[split["train"]])(values).astype(np.float32)
    return Rows(scaled, y if y.dtype == np.float32 else y.astype(np.int64), parts, split)
