"""What s is: columns of any kind, to groups and numbers.

A column is a category or a number. Strings, categories and booleans are categories, and so are
numbers with at most MOST_CATEGORIES distinct values; other numbers are continuous. `continuous`
names those that are, if that is not what was meant.

Numbers are standardised; very skewed ones (|skewness| above SKEWED) become normal scores instead.
Mutual information is the same for every rising function of s, so this changes only how well a
mixture of a few Gaussians can follow them. Whole numbers, such as years of age, get U(0, 1) added
first: a density of theirs would otherwise be spikes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import rankdata, skew

from infofair.framework.checks import Invalid, among

MOST_CATEGORIES = 20
SKEWED = 2.0
INTERSECTION, PARALLEL = HOW = ("intersection", "parallel")


@dataclass(frozen=True)
class Attribute:
    """One column: groups or numbers."""

    name: str
    groups: np.ndarray | None  # int64, rows: the number of the value
    values: list[str]  # readable, of groups
    numbers: np.ndarray | None  # float32, rows: standardised

    def at(self, rows: np.ndarray) -> "Attribute":
        """Of these rows only."""
        groups, numbers = (
            None if own is None else own[rows] for own in (self.groups, self.numbers)
        )
        return replace(self, groups=groups, numbers=numbers)


@dataclass(frozen=True)
class Part:
    """What one pair of critics is about: a group, and any number of numbers, for every row."""

    name: str
    groups: int  # 1 if there are only numbers
    g: np.ndarray  # int64, rows
    c: np.ndarray  # float32, rows × numbers

    @property
    def numbers(self) -> int:
        return self.c.shape[1]

    def at(self, rows: np.ndarray) -> "Part":
        """Of these rows only."""
        return replace(self, g=self.g[rows], c=self.c[rows])

    @property
    def constant(self) -> bool:
        return self.groups == 1 and not self.numbers


def frame(given: Any, rows: int) -> pd.DataFrame:
    """Columns with names, from a Series, DataFrame, dictionary, array or list."""
    if hasattr(given, "to_pandas"):  # polars, pyarrow
        given = given.to_pandas()
    if isinstance(given, pd.Series):
        found = given.to_frame(_name(0) if given.name is None else given.name)
    elif isinstance(given, pd.DataFrame):
        found = given.copy()
    elif isinstance(given, Mapping):
        try:
            found = pd.DataFrame(dict(given))
        except ValueError as error:
            raise Invalid(f"sensitive_features: {error}") from None
    else:
        found = _unnamed(given)
    found.columns = [str(name) for name in found.columns]
    if len(found) != rows:
        raise Invalid(f"sensitive_features has {len(found)} rows; expected {rows}, as X has")
    if not found.shape[1]:
        raise Invalid("sensitive_features has no column; expected at least one")
    if twice := [name for name in found.columns if list(found.columns).count(name) > 1]:
        raise Invalid(f"sensitive_features has two columns {twice[0]!r}; expected different names")
    return found.reset_index(drop=True).infer_objects()


def _name(place: int) -> str:
    return f"sensitive_feature_{place}"


def _unnamed(given: Any) -> pd.DataFrame:
    try:
        found = pd.DataFrame(given if isinstance(given, list | np.ndarray) else list(given))
    except (TypeError, ValueError) as error:
        raise Invalid(
            f"sensitive_features is a {type(given).__name__} ({error}); expected a Series, "
            "DataFrame, array or list, a row for each of X"
        ) from None
    return found.rename(columns=_name)


def read(given: Any, rows: int, continuous: str | Iterable[str] = "auto") -> list[Attribute]:
    """The attributes; `continuous` names those that are numbers, or "auto" asks the columns."""
    columns = frame(given, rows)
    names = [str(name) for name in columns]
    if isinstance(continuous, str):
        among("continuous", continuous, ("auto",))
        named = None
    else:
        named = {str(name) for name in continuous}
        if lost := named - set(names):
            raise Invalid(
                f"continuous names {min(lost)!r}; sensitive_features has {', '.join(names)}"
            )
    found = [
        _attribute(name, columns[name], None if named is None else name in named) for name in names
    ]
    if all(own.groups is not None and len(own.values) < 2 for own in found):
        raise Invalid("sensitive_features: every row has the same values; expected two groups")
    return found


def _attribute(name: str, column: pd.Series, continuous: bool | None) -> Attribute:
    if column.isna().any():
        row = int(np.flatnonzero(column.isna())[0])
        raise Invalid(
            f"sensitive_features: {name!r} is missing (NaN) in row {row}; leave such rows out, or "
            "give them a value of their own"
        )
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if continuous and not numeric:
        raise Invalid(f"continuous names {name!r}, which holds {column.iloc[0]!r}: no number")
    if continuous is None:
        continuous = numeric and column.nunique() > MOST_CATEGORIES
    if continuous:
        return Attribute(name, None, [], _scores(name, column.to_numpy(float)))
    values, groups = np.unique(column.astype(str).to_numpy(str), return_inverse=True)
    return Attribute(name, groups.astype(np.int64), [str(v) for v in values], None)


def _scores(name: str, values: np.ndarray) -> np.ndarray:
    if not np.isfinite(values).all():
        raise Invalid(f"sensitive_features: {name!r} is infinite in a row; expected numbers")
    if np.ptp(values) == 0:
        raise Invalid(f"sensitive_features: {name!r} is {values[0]:g} in every row")
    if (values == np.round(values)).all():
        values = values + np.random.default_rng(0).random(len(values))
    scores = (values - values.mean()) / values.std()
    if abs(skew(scores)) > SKEWED:
        scores = ndtri((rankdata(values) - 0.5) / len(values))
    return scores.astype(np.float32)


def parts(attributes: Sequence[Attribute], how: str) -> list[Part]:
    """What critics are about: all attributes together, or each by itself.

    Groups of the intersection are the combinations that occur. Parts without information are left
    out.
    """
    among("attributes", how, HOW)
    if not attributes:
        return []
    together = [list(attributes)] if how == INTERSECTION else [[own] for own in attributes]
    return [part for own in together if not (part := _part(own)).constant]


def _part(attributes: list[Attribute]) -> Part:
    grouped = [own.groups for own in attributes if own.groups is not None]
    numbers = [own.numbers for own in attributes if own.numbers is not None]
    rows = len((grouped or numbers)[0])
    g, count = np.zeros(rows, np.int64), 1
    if grouped:
        found, g = np.unique(np.stack(grouped, 1), axis=0, return_inverse=True)
        g, count = g.reshape(-1).astype(np.int64), len(found)
    c = np.stack(numbers, 1) if numbers else np.zeros((rows, 0), np.float32)
    return Part(" & ".join(own.name for own in attributes), count, g, c)
