"""What the dataset files share: reading text strictly, encoding columns, drawing values.

`csv_dataset` puts it together for a CSV of the user's own.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa

from infofair.data.dataset import Attribute, Dataset, RawFile
from infofair.errors import Problem


def read_lines(path: Path) -> list[str]:
    """The lines of a text file that is UTF-8, has no NUL byte and is not empty."""
    return lines_of(path, path.read_bytes())


def lines_of(path: Path, content: bytes) -> list[str]:
    """The same, of what the file holds."""
    if not content.strip():
        raise Problem(f"{path}: the file is empty")
    if b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        raise Problem(f"{path}: line {line} holds a NUL byte; expected text")
    try:
        return content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Problem(f"{path}: line {line} is not UTF-8 text") from None


def parse(
    path: Path, lines: Sequence[str], columns: Sequence[str], first: int, between: str = ","
) -> pd.DataFrame:
    """Rows of text, one per non-blank line; the index says where each stands, as file:line.

    `first` is the number of the first of these lines in the file. Every row must have one field
    per column. `between` them is a comma, or another character.
    """
    reader = csv.reader(lines, delimiter=between, skipinitialspace=True, strict=True)
    rows, places = [], []
    try:
        for fields in reader:
            if fields:
                if len(fields) != len(columns):
                    raise Problem(
                        f"{path}: line {reader.line_num + first - 1} has {len(fields)} fields; "
                        f"expected {len(columns)} ({columns[0]} … {columns[-1]})"
                    )
                rows.append(fields)
                places.append(f"{path.name}:{reader.line_num + first - 1}")
    except csv.Error as error:
        raise Problem(f"{path}: line {reader.line_num + first - 1}: {error}") from None
    if not rows:
        raise Problem(f"{path}: no data rows")
    return pd.DataFrame(rows, columns=list(columns), index=pd.Index(places, name="row"), dtype=str)


# Schema. Text is coerced to the type of its column, and a failed coercion is a failure case.


def whole_number(low: int, high: int, **options: Any) -> pa.Column:
    return pa.Column("int64", pa.Check.in_range(low, high), coerce=True, **options)


def decimal(low: float, high: float) -> pa.Column:
    return pa.Column("float64", pa.Check.in_range(low, high), coerce=True)


def one_of(values: Iterable[object]) -> pa.Column:
    return pa.Column(str, pa.Check.isin([str(v) for v in values]))


def matching(pattern: str) -> pa.Column:
    return pa.Column(str, pa.Check.str_matches(pattern))


# Encoding. Every feature is a named column of numbers: "age", or "race=White" for one value.


def number(frame: pd.DataFrame, column: str) -> dict[str, np.ndarray]:
    return {column: frame[column].to_numpy(np.int32)}


def binary(frame: pd.DataFrame, column: str, one: object) -> dict[str, np.ndarray]:
    """One column that is 1 where the value is `one`."""
    return {f"{column}={one}": (frame[column] == one).to_numpy(np.int32)}


def one_hot(values: pd.Series, column: str, levels: Iterable[object]) -> dict[str, np.ndarray]:
    """One column per level, in this order; a level that never occurs gives zeros."""
    return {f"{column}={level}": (values == level).to_numpy(np.int32) for level in levels}


def source(feature: str) -> str:
    """The validated column a feature comes from."""
    return feature.split("=", 1)[0]


# Simulation.


def draw(rng: np.random.Generator, shares: Mapping[str, float], rows: int) -> np.ndarray:
    """Values drawn with (unnormalised) shares."""
    weights = np.array(list(shares.values()), float)
    return rng.choice(np.array(list(shares)), rows, p=weights / weights.sum())


def label_with(rng: np.random.Generator, score: np.ndarray, share: float) -> np.ndarray:
    """0/1 labels from a logistic model of the score, with about `share` ones."""
    score = 2 * (score - score.mean()) / score.std()
    noisy = score + rng.logistic(size=len(score))
    return (noisy > np.quantile(noisy, 1 - share)).astype(int)


def written(numbers: np.ndarray, digits: int) -> np.ndarray:
    """Numbers as text, with at most so many digits after the point."""
    rounded = np.round(numbers, digits) + 0.0  # no -0
    return np.array([f"{x:.{digits}f}".rstrip("0").rstrip(".") for x in rounded])


# A CSV of the user's own.


@dataclass(frozen=True)
class Numbers:
    """A column of whole numbers, or of any, from `low` to `high`."""

    low: float
    high: float
    whole: bool = True

    @property
    def schema(self) -> pa.Column:
        dtype = "int64" if self.whole else "float64"
        return pa.Column(dtype, pa.Check.in_range(self.low, self.high), coerce=True)


def ranges(column: str, *cuts: float) -> Attribute:
    """Groups of a column of numbers: ranges("age", 25, 60) are under 25, 25 to under 60, 60 up."""
    if not cuts or list(cuts) != sorted(set(cuts)):
        raise Problem(f"ranges({column!r}, …): cuts {cuts}; expected one or more, rising")
    between = [f"{low:g} to under {high:g}" for low, high in pairwise(cuts)]
    names = [f"under {cuts[0]:g}", *between, f"{cuts[-1]:g} and over"]
    return Attribute(column, dict(enumerate(names)), cuts)


def read_csv(path: Path) -> pd.DataFrame:
    """Rows of text under the names in the first line."""
    return parse_csv(path, read_lines(path))


def parse_csv(path: Path, lines: list[str]) -> pd.DataFrame:
    """The same, of its lines."""
    lines[0] = lines[0].removeprefix("\ufeff")  # which spreadsheets put there
    try:
        header = next(csv.reader(lines[:1], skipinitialspace=True, strict=True))
    except csv.Error:
        header = []
    if not header:
        raise Problem(f"{path}: line 1 is {lines[0][:80]!r}; expected column names")
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        raise Problem(f"{path}: line 1 is {lines[0][:80]!r}; expected commas between columns")
    if repeated := [name for name in header if header.count(name) > 1]:
        raise Problem(f"{path}: line 1 names {repeated[0]!r} twice; expected each column once")
    return parse(path, lines[1:], header, first=2)


def csv_dataset(
    file: str,
    columns: Mapping[str, Sequence[str] | Numbers],
    label: str,
    sensitive: Mapping[str, str | Attribute],
    classes: tuple[str, str] = ("0", "1"),
    left_out: Iterable[str] = (),
) -> Dataset:
    """A dataset of one CSV with a header, data/own/<dataset>/<file>.

    `columns` says what each column but the label may hold: a list of values, in the order of their
    one-hot features and of their groups, or Numbers. `sensitive` names the columns of values that
    are sensitive, or has `ranges` of a column of numbers. `classes` are the label's values for 0
    and 1. The values of `left_out` columns are not looked at, not shown and go no further.
    """
    values = {name: list(kind) for name, kind in columns.items() if not isinstance(kind, Numbers)}
    unused = frozenset(left_out)
    for name in columns:
        if name == label or name in unused:
            raise Problem(f"columns names {name!r}, which is the label or left out")
        if "=" in name:
            raise Problem(f"columns names {name!r}; expected a name without =")
    attributes = {}
    for setting, of in sensitive.items():
        if isinstance(of, str):
            if of not in values:
                raise Problem(
                    f"sensitive attribute {setting}: {of!r} is no column of values; expected one "
                    f"of {list(values)}, or ranges(…) of a column of numbers"
                )
            of = Attribute(of, {value: value for value in values[of]})
        elif of.column not in columns:
            raise Problem(f"sensitive attribute {setting}: {of.column!r} is not among columns")
        attributes[setting] = of
    schema = {
        name: kind.schema if isinstance(kind, Numbers) else one_of(kind)
        for name, kind in columns.items()
    }
    schema |= {label: one_of(classes)} | {name: pa.Column(str) for name in unused}

    def clean(frame: pd.DataFrame) -> pd.DataFrame:
        types = {name: pd.CategoricalDtype(levels) for name, levels in values.items()}
        ones = (frame[label] == classes[1]).astype("int8")
        return frame[list(columns)].astype(types).assign(**{label: ones})

    def encode(frame: pd.DataFrame) -> dict[str, np.ndarray]:
        encoded: dict[str, np.ndarray] = {}
        for name in columns:
            if name not in values:
                encoded[name] = frame[name].to_numpy()
            elif len(values[name]) == 2:
                encoded |= binary(frame, name, values[name][1])
            else:
                encoded |= one_hot(frame[name], name, values[name])
        return encoded

    return Dataset(
        files=(RawFile(file),),
        sensitive=attributes,
        label=label,
        read=lambda folder: read_csv(folder / file),
        schema=pa.DataFrameSchema(schema, strict=True),
        clean=clean,
        encode=encode,
        identifying=unused,
    )
