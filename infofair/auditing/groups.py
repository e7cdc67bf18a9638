"""Values of sensitive columns to groups, by rules that the report states.

- A column of numbers with more than 10 different values becomes four ranges, cut at its quartiles.
- The intersection has a group for every combination of values that occurs.
- A group is tiny if it has fewer than 20 rows, or fewer than 5 of either label. All tiny groups of
  a setting are pooled into one; if that is still tiny, the smallest of the others joins it. Nothing
  is dropped. Beyond 100 groups the smallest are pooled, too.

So every rate that is compared is of 5 people at least: selection rates and accuracies of 20, true
and false positive rates of 5.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from infofair.auditing.rows import Rows
from infofair.errors import Problem

NUMERIC = 10  # different numbers that are still values, not ranges
SMALLEST = 20  # rows of a group that stands alone
SMALLEST_CLASS = 5  # rows of either label in it
MOST = 100  # groups of a setting
TIMES = " × "


@dataclass(frozen=True)
class Attribute:
    """A sensitive column as groups."""

    name: str
    group: np.ndarray  # int64, rows
    values: list[str]
    cuts: tuple[float, ...] = ()  # of a column of numbers


@dataclass(frozen=True)
class Setting:
    """One attribute, or the intersection of all: who is compared with whom."""

    name: str
    attributes: tuple[str, ...]
    group: np.ndarray  # int64, rows
    names: list[str]
    pooled: dict[str, int]  # tiny groups that the last group is made of, and their rows
    unpooled: np.ndarray  # the groups before that
    cuts: Mapping[str, tuple[float, ...]]

    @property
    def groups(self) -> int:
        return len(self.names)


def attribute(name: str, values: pd.Series) -> Attribute:
    """Values in order; a column of many numbers in ranges."""
    found = pd.to_numeric(values, errors="coerce") if _textual(values) else values
    wrong = found.isna().to_numpy()
    if 0 < wrong.sum() < len(wrong) / 2:
        first = int(np.argmax(wrong))
        raise Problem(
            f"{name}: {int(wrong.sum())} of its values are no numbers (first: "
            f"{str(values.iloc[first])[:40]!r}, in row {first + 1}), the others are"
        )
    if not wrong.any() and pd.api.types.is_numeric_dtype(found.dtype):
        numbers = found.to_numpy(float)
        if not np.isfinite(numbers).all():
            raise Problem(f"{name}: holds an infinite number in row {_infinite(numbers)}")
        distinct = np.unique(numbers)
        if len(distinct) > NUMERIC and not pd.api.types.is_bool_dtype(found.dtype):
            return _ranges(name, numbers)
        return Attribute(name, np.searchsorted(distinct, numbers), [f"{v:g}" for v in distinct])
    texts = values.map(str)
    codes, labels = pd.factorize(texts, sort=True)
    return Attribute(name, codes.astype(np.int64), [str(value) for value in labels])


def _textual(values: pd.Series) -> bool:
    kind = values.dtype
    return not (pd.api.types.is_numeric_dtype(kind) or isinstance(kind, pd.CategoricalDtype))


def _infinite(numbers: np.ndarray) -> int:
    return int(np.argmax(~np.isfinite(numbers))) + 1


def _ranges(name: str, numbers: np.ndarray) -> Attribute:
    """Under the first quartile, from it to the second, and so on."""
    quartiles = np.quantile(numbers, [0.25, 0.5, 0.75], method="closest_observation")
    cuts = np.unique(quartiles)
    cuts = cuts[cuts > numbers.min()]
    if not len(cuts):  # more than three quarters of the rows hold the least
        cuts = np.unique(numbers)[1:2]
    between = [f"{low:g} to under {high:g}" for low, high in pairwise(cuts)]
    names = [f"under {cuts[0]:g}", *between, f"{cuts[-1]:g} and over"]
    group = np.searchsorted(cuts, numbers, side="right")
    return Attribute(name, group, names, tuple(float(cut) for cut in cuts))


def settings(rows: Rows) -> tuple[list[Setting], list[str]]:
    """Every attribute and, of several, their intersection; and what there is to say about it."""
    each = [attribute(name, values) for name, values in rows.sensitive.items()]
    for own in each:
        if len(own.values) < 2:
            raise Problem(
                f"{own.name}: every row holds {own.values[0][:40]!r}; an audit compares at least "
                "two groups"
            )
    found = [_setting((own,), own.group, own.values, rows) for own in each]
    for setting in found:
        if setting.groups < 2:
            raise Problem(
                f"{setting.name}: fewer than two groups have {_enough(rows)}, so that there is "
                "nothing to compare; give more rows, or leave this column out"
            )
    notes = []
    if len(each) > 1:
        both = _setting(tuple(each), *_intersection(each), rows)
        if both.groups > 1:
            found.append(both)
        else:
            notes.append(
                f"The intersection {both.name} is not compared: fewer than two of its groups have "
                f"{_enough(rows)}."
            )
    return found, notes


def _enough(rows: Rows) -> str:
    own = f", {SMALLEST_CLASS} of them of each label" if rows.task == "classification" else ""
    return f"{SMALLEST} rows{own}"


def _intersection(each: list[Attribute]) -> tuple[np.ndarray, list[str]]:
    """The combinations that occur, in order of their values."""
    sizes = [len(own.values) for own in each]
    if np.prod([float(size) for size in sizes]) > 2**62:
        raise Problem("the sensitive columns have too many combinations of values")
    code = np.zeros(len(each[0].group), np.int64)
    for own, size in zip(each, sizes, strict=True):
        code = code * size + own.group
    kept, group = np.unique(code, return_inverse=True)
    places = np.unravel_index(kept, sizes)
    columns = [[own.values[i] for i in of] for own, of in zip(each, places, strict=True)]
    return group, [TIMES.join(parts) for parts in zip(*columns, strict=True)]


def _setting(
    each: tuple[Attribute, ...], group: np.ndarray, names: list[str], rows: Rows
) -> Setting:
    kept, together = _kept(group, len(names), rows)
    place = np.full(len(names), len(kept))  # the pooled groups come last
    place[kept] = np.arange(len(kept))
    sizes = np.bincount(group, minlength=len(names))
    shown = [names[g] for g in kept]
    if len(together):
        shown.append(f"{len(together)} groups pooled")
    return Setting(
        name=TIMES.join(own.name for own in each),
        attributes=tuple(own.name for own in each),
        group=place[group],
        names=shown,
        pooled={names[g]: int(sizes[g]) for g in together},
        unpooled=group,
        cuts={own.name: own.cuts for own in each if own.cuts},
    )


def _kept(group: np.ndarray, groups: int, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The groups that stand alone, and those that are pooled."""
    sizes = np.bincount(group, minlength=groups)
    ones = np.zeros(groups, int)
    least = 0
    if rows.task == "classification":
        ones, least = np.bincount(group[rows.y == 1], minlength=groups), SMALLEST_CLASS

    def tiny(size: np.ndarray, of_them: np.ndarray) -> np.ndarray:
        short = (of_them < least) | (size - of_them < least)
        return (size < SMALLEST) | (short if least else False)

    order = np.argsort(-sizes, kind="stable")  # largest first
    together = tiny(sizes, ones)
    alone = order[~together[order]]
    together[alone[MOST - 1 :]] |= len(alone) + bool(together.any()) > MOST
    while together.any() and not together.all():
        pool = np.flatnonzero(together)
        if len(pool) > 1 and not tiny(sizes[pool].sum(), ones[pool].sum()):
            break
        together[order[~together[order]][-1]] = True
    return np.flatnonzero(~together), np.flatnonzero(together)
