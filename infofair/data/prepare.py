"""Encode, scale and split the validated rows of a dataset."""

import itertools
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from infofair.data.dataset import Attribute, Dataset
from infofair.data.prepared import INTERSECTION, Prepared
from infofair.data.tabular import source as source_column
from infofair.errors import Damaged, Problem

MOST_GROUPS = np.iinfo(np.int16).max


@dataclass(frozen=True)
class RandomSplit:
    seed: int = 0
    train: float = 0.8  # share of all rows
    validation: float = 0.1  # the test rows are the rest


@dataclass(frozen=True)
class Preparation:
    """How rows become features, and which of them are for training."""

    split: str = "authors"  # "authors" or "random"
    random_split: RandomSplit = field(default_factory=RandomSplit)
    scale: str = "all_rows"  # "all_rows" or "train_rows"
    sensitive_as_input: bool = True
    drop_leaking_columns: bool = False


def features(frame: pd.DataFrame, dataset: Dataset, how: Preparation) -> dict[str, np.ndarray]:
    """The features to be scaled, in their order, without the columns that are to be left out."""
    if how.drop_leaking_columns and not dataset.leaking:
        raise Problem("drop_leaking_columns is true, but no column is known to leak")
    dropped = set(dataset.leaking) if how.drop_leaking_columns else set()
    if not how.sensitive_as_input:
        dropped |= {attribute.column for attribute in dataset.sensitive.values()}
    encoded = dataset.encode(frame)
    return {name: x for name, x in encoded.items() if source_column(name) not in dropped}


def scaled(numbers: np.ndarray, rows: np.ndarray | slice) -> np.ndarray:
    """Each column divided by its largest |value| over these rows (a column of zeros by 1)."""
    largest = np.abs(numbers[rows]).max(axis=0)
    return (numbers / np.where(largest == 0, 1, largest)).astype(np.float32)


def groups(
    frame: pd.DataFrame, sensitive: dict[str, Attribute]
) -> tuple[dict[str, np.ndarray], dict[str, list[str]]]:
    """The group of every row, and the groups' names: per attribute, and for their intersection.

    The intersection of attributes A, B, C is numbered (A·n_B + B)·n_C + C. An attribute that is a
    number has no groups and is left out.
    """
    numbers, names = {}, {}
    sensitive = {setting: a for setting, a in sensitive.items() if not a.number}
    for setting, attribute in sensitive.items():
        column = frame[attribute.column]
        if attribute.cuts:
            column = pd.Series(np.searchsorted(attribute.cuts, column, "right"), frame.index)
        order = {value: i for i, value in enumerate(attribute.values)}
        number = column.astype(object).map(order)
        if number.isna().any():
            value = column[number.isna()].iloc[0]
            raise Problem(
                f"sensitive attribute {setting}: {attribute.column} is {value!r} in some row, "
                f"which has no group; expected one of {list(attribute.values)}"
            )
        numbers[setting] = number.to_numpy(np.int16)
        names[setting] = list(attribute.values.values())
    if len(sensitive) > 1:
        sizes = [len(names[setting]) for setting in sensitive]
        if math.prod(sizes) > MOST_GROUPS:
            raise Problem(
                f"sensitive attributes {', '.join(sensitive)}: {math.prod(sizes)} combinations of "
                f"their values; expected {MOST_GROUPS} at most"
            )
        parts = [numbers[setting].astype(int) for setting in sensitive]
        joint = np.ravel_multi_index(parts, sizes).astype(np.int16)
        combined = [" & ".join(n) for n in itertools.product(*(names[s] for s in sensitive))]
        numbers[INTERSECTION], names[INTERSECTION] = joint, combined
    return numbers, names


def row_numbers(path: Path) -> np.ndarray:
    try:
        # Unlike np.load it reads nothing but an array, and no more than the file holds.
        rows = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # numpy raises a dozen kinds on wrong bytes
        raise Damaged(path, error) from None
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise Problem(
            f"{path}: found {rows.ndim} dimensions of {rows.dtype}; expected one of integers"
        )
    return np.array(rows)


def authors_split(paths: list[Path], rows: int) -> dict[str, np.ndarray]:
    """The released row numbers; validation is the first half of their test rows."""
    train, test = (row_numbers(path) for path in paths)
    middle = len(test) // 2
    split = {"train": train, "validation": test[:middle], "test": test[middle:]}
    if sorted(itertools.chain(*split.values())) != list(range(rows)):
        raise Problem(f"{paths[0].parent}: the split does not name each of {rows} rows once")
    # Only now: a number that does not fit would become another one.
    return {name: numbers.astype(np.int32) for name, numbers in split.items()}


def random_split(strata: np.ndarray, knobs: RandomSplit) -> dict[str, np.ndarray]:
    """A seeded split that keeps each stratum's proportions as far as its count allows.

    Rows are sorted by stratum, shuffled within it, and dealt out like cards: every share gets its
    part of each stratum to within one row, and strata too small for that share with the next.
    """
    rng = np.random.default_rng(knobs.seed)
    order = np.lexsort((rng.random(len(strata)), strata))

    def dealt(rows: np.ndarray, share: float) -> np.ndarray:
        turns = np.floor(np.arange(len(rows) + 1) * share + 0.5)
        return np.diff(turns) > 0

    in_train = dealt(order, knobs.train)
    rest = order[~in_train]
    in_validation = dealt(rest, knobs.validation / (1 - knobs.train))
    split = {"train": order[in_train], "validation": rest[in_validation]}
    split["test"] = rest[~in_validation]
    return {name: np.sort(rows).astype(np.int32) for name, rows in split.items()}


def prepare(
    frame: pd.DataFrame, dataset: Dataset, how: Preparation, *, folder: Path, data: str
) -> Prepared:
    """The validated rows, ready for training.

    folder: of the raw files, where the authors' split is. data: "real" or "simulated".
    """
    if dataset.number:
        raise Problem(f"the label {dataset.label} is a number; expected one of 0 and 1")
    columns = features(frame, dataset, how)
    y = frame[dataset.label].to_numpy(np.int8)
    numbers, names = groups(frame, dict(dataset.sensitive))
    if not numbers:
        raise Problem("no sensitive attribute has groups; expected at least one")
    if how.split == "random":
        joint = numbers[list(numbers)[-1]].astype(int)
        rows = random_split(joint * 2 + y, how.random_split)
    else:
        rows = authors_split([folder / file.name for file in dataset.split], len(frame))
    empty = [part for part, members in rows.items() if len(members) == 0]
    if empty:
        place = "random_split" if how.split == "random" else f"{folder}: the split"
        raise Problem(f"{place} leaves no {empty[0]} rows of {len(frame)}")
    return Prepared(
        X=scaled(
            np.column_stack(list(columns.values())),
            slice(None) if how.scale == "all_rows" else rows["train"],
        ),
        y=y,
        features=list(columns),
        groups=numbers,
        group_names=names,
        split=rows,
        data=data,
        partition=how.split,
    )
