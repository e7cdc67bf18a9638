"""People who could be found: of one to four of them no committed table has a count or a rate.

A table leaves such a figure empty, and figures of so many other groups that it does not follow from
the table's totals; a page says "hidden". Two tables together, or who has the data, may tell more.

Whom a method selects in a group, and whom not, are cells, too: a rate times the group's size tells
how many they are. Whom it is wrong about are none: that is a figure of the method. And samples that
an office made anonymous before it published them have no people who could be found among so few.
"""

import math
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy.optimize import linprog

T = TypeVar("T", bound=Sized)
SMALL = 5  # people
ANONYMOUS = ("adult", "dutch")  # samples of a census


def few(count: float) -> bool:
    return 0 < count < SMALL


def hidden(table: pd.DataFrame, counts: Iterable[str]) -> pd.DataFrame:
    """Without these counts where they are of a few people."""
    table = table.copy()
    for name in counts:
        table[name] = table[name].astype("Int64").mask(table[name].map(few))
    return table


def hidden_groups(table: pd.DataFrame, figures: Sequence[str]) -> pd.DataFrame:
    """Without the `size` of groups of a few people, those that it follows from, and figures."""
    groups = table.drop_duplicates(["dataset", "setting", "group"]).sort_values("group")
    settings = table.drop_duplicates(["dataset", "setting"])
    covers: dict[tuple[str, str, int], bool] = {}
    for dataset, of in settings.groupby("dataset", sort=False)["setting"]:
        own = groups[groups["dataset"] == dataset]
        counts = {name: own.loc[own["setting"] == name, "size"].tolist() for name in of}
        for setting, cover in covered(_crossed_last(counts)).items():
            covers |= {(str(dataset), setting, group): bool(c) for group, c in enumerate(cover)}
    keys = zip(table["dataset"], table["setting"], table["group"], strict=True)
    mask = pd.Series([covers[key] for key in keys], table.index)
    table = table.assign(size=table["size"].astype("Int64").mask(mask))
    return table.assign(**{name: table[name].mask(mask) for name in figures})


def hidden_rates(table: pd.DataFrame, figures: Sequence[str]) -> pd.DataFrame:
    """Without figures of groups of which a method selects a few or all but a few, and those beside.

    As if its models for all settings were the same one: rates would then tell most. What is hidden
    does not follow for those selected and does not for the others.
    """
    mask = pd.Series(False, table.index)
    for (dataset, _), own in table.groupby(["dataset", "method"], sort=False):
        if dataset in ANONYMOUS:
            continue
        settings = {
            str(name): of.sort_values("group") for name, of in own.groupby("setting", sort=False)
        }
        settings = _crossed_last(settings)
        for sign in (1, -1):
            counts = {name: _people(of, sign) for name, of in settings.items()}
            for name, cover in covered(counts).items():
                mask[settings[name].index[cover]] = True
    return table.assign(**{name: table[name].mask(mask) for name in figures})


def _people(groups: pd.DataFrame, sign: int) -> list[int]:
    """How many of each group are selected (1) or not (-1), of a mean over seeds at least one."""
    rate = groups["selection_rate"].fillna(0)  # of an empty group
    counts = groups["size"] * (rate if sign == 1 else 1 - rate)
    return np.ceil(counts.round(6)).astype(int).tolist()


def _crossed_last(settings: Mapping[str, T]) -> dict[str, T]:
    """The attributes in their order, and the intersection, which has most groups."""
    most = max(len(of) for of in settings.values())
    return dict(sorted(settings.items(), key=lambda item: len(item[1]) == most))


def covered(counts: Mapping[str, Sequence[int]]) -> dict[str, np.ndarray]:
    """Which groups are hidden: those of a few people, and others until none of them follows.

    By setting, of which the last crosses the others, if there are several. Totals are known: what a
    setting sums to, and that a group is the sum of the groups that it is crossed into.
    """
    sizes = [len(of) for of in counts.values()]
    cells = np.array([n for of in counts.values() for n in of])
    lines = _lines(sizes)
    small = (cells > 0) & (cells < SMALL)
    cover = small.copy()

    def hide_beside(follow: np.ndarray) -> bool:
        others = _others(lines, cells, cover, follow)
        cover[others[:1]] = True
        return len(others) > 0

    while len(follow := _subtracted(lines, cover, small)) and hide_beside(follow):
        pass
    for cell in np.flatnonzero(small).tolist():  # what is hidden later makes none of them follow
        while _bounded(lines, cells, cover, cell) and hide_beside(np.array([cell])):
            pass
    return dict(zip(counts, np.split(cover, np.cumsum(sizes)), strict=False))  # and an empty rest


def _lines(sizes: Sequence[int]) -> np.ndarray:
    """The known sums of cells, one in each row: every setting, and every group less its parts."""
    starts = np.cumsum([0, *sizes])
    settings = np.zeros((len(sizes), starts[-1]))
    for line, first, size in zip(settings, starts, sizes, strict=False):
        line[first : first + size] = 1
    if len(sizes) < 2 or math.prod(sizes[:-1]) != sizes[-1]:
        return settings
    groups = np.zeros((starts[-2], starts[-1]))
    np.fill_diagonal(groups, 1)
    crossed = np.unravel_index(np.arange(sizes[-1]), sizes[:-1])
    for first, of in zip(starts, crossed, strict=False):
        groups[first + of, starts[-2] + np.arange(sizes[-1])] = -1
    return np.concatenate([settings, groups])


def _others(
    lines: np.ndarray, cells: np.ndarray, cover: np.ndarray, follow: np.ndarray
) -> np.ndarray:
    """What may be hidden beside cells that follow, best first: in most of their sums, and small."""
    theirs = (lines[:, follow] != 0).any(axis=1)
    alone = theirs & ((lines[:, cover] != 0).sum(axis=1) == 1)  # these give one away by themselves
    often = (lines[alone if alone.any() else theirs] != 0).sum(axis=0)
    free = np.flatnonzero(~cover & (cells > 0))
    return free[np.lexsort((cells[free], -often[free]))]


def _subtracted(lines: np.ndarray, cover: np.ndarray, small: np.ndarray) -> np.ndarray:
    """The cells of a few people that the sums give away by subtraction."""
    _, weights, rows = np.linalg.svd(lines[:, cover], full_matrices=False)
    given = np.zeros(len(cover), bool)
    given[cover] = np.square(rows[weights > 1e-9]).sum(axis=0) > 1 - 1e-9
    return np.flatnonzero(given & small)


def _bounded(lines: np.ndarray, cells: np.ndarray, cover: np.ndarray, cell: int) -> bool:
    """Whether one number alone is possible, as nothing hidden is 0: two that sum to 2 are ones."""
    sums = lines[:, cover]
    wanted = (np.flatnonzero(cover) == cell).astype(float)
    least, most = (
        sign * linprog(sign * wanted, A_eq=sums, b_eq=sums @ cells[cover], bounds=(1, None)).fun
        for sign in (1, -1)
    )
    return most - least < 1 - 1e-6


def shown(count: float | None) -> str:
    """On a page, where a hidden one is nothing or NaN."""
    return "hidden" if count is None or math.isnan(count) else f"{count:,.0f}"
