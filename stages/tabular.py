"""What the dataset files share: reading text strictly, encoding columns, drawing values."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa

from stages.files import Problem


def read_lines(path: Path) -> list[str]:
    """The lines of a text file that is UTF-8, has no NUL byte and is not empty."""
    content = path.read_bytes()
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


def parse(path: Path, lines: Sequence[str], columns: Sequence[str], first: int) -> pd.DataFrame:
    """Rows of text, one per non-blank line; the index says where each stands, as file:line.

    `first` is the number of the first of these lines in the file. Every row must have one field
    per column.
    """
    reader = csv.reader(lines, skipinitialspace=True, strict=True)
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


def one_of(values: Iterable[object]) -> pa.Column:
    return pa.Column(str, pa.Check.isin([str(v) for v in values]))


def matching(pattern: str) -> pa.Column:
    return pa.Column(str, pa.Check.str_matches(pattern))


# Encoding. Every feature is a named column of integers: "age", or "race=White" for one value.


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
