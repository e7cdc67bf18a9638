"""Which strengths of a method are looked at: one rule for all of them, by validation rows alone.

A first look takes strengths in equal ratios, from one that does nothing to one that does far too
much, one seed, and vanilla: strength 0, or of a solver, whose strength is a tolerance, the loosest.
The grid is then as many strengths as asked for, in equal ratios again,

    from   the strongest up to which every setting is vanilla still: it has kept nine tenths of the
           imparity, and of the lead in micro F1 over the constant predictor (the weakest of all, if
           that one is not vanilla any more),
    to     the weakest by which every setting has reached the budget, or has lost nine tenths of the
           imparity that any strength takes from it; strengths at which it has collapsed, most of
           that lead being lost, do not count.

So the fronts of all methods have equally many strengths, and reach from vanilla to the tightest
budget or to where the method collapses, whatever the unit of its strength is. A method that does
nothing in any setting has a grid over all strengths that were looked at.

It measures imparity itself, in a line: training depends on this file, and must not depend on the
modules that analyse what was trained.
"""

from collections.abc import Mapping, Sequence

import numpy as np

KEPT = 0.9  # of vanilla's imparity and lead: it has not begun to work
DONE = 0.9  # of the imparity that can be taken: more strength only costs
COLLAPSED = 0.25  # of vanilla's lead over the constant predictor: less is left

Row = dict[str, float]


def scan(ends: tuple[float, float], steps: int) -> list[float]:
    """Strengths in equal ratios from the weakest to the strongest, to three digits."""
    return [float(f"{value:.3g}") for value in np.geomspace(*ends, steps)]


def look(probability: np.ndarray, y: np.ndarray, group: np.ndarray) -> Row:
    """What the rule needs to know of one model's validation rows."""
    decided = probability > 0.5
    members = np.bincount(group)
    rates = (np.bincount(group, weights=decided) / np.maximum(members, 1))[members > 0]
    pairs = max(len(rates) * (len(rates) - 1), 1)
    return {
        "micro_f1": float((decided == y).mean()),
        "imparity": float(np.abs(rates[:, None] - rates).sum() / pairs),
        "constant": float(max(y.mean(), 1 - y.mean())),
    }


def grid(
    tried: Sequence[float], seen: Mapping[str, Sequence[Row | None]], count: int, budget: float
) -> list[float]:
    """tried: vanilla first, then from the weakest to the strongest; seen: setting -> `look` of
    each, None if it diverged."""
    strengths = [i for i, strength in enumerate(tried) if strength > 0]  # a tolerance is vanilla's
    first, last = strengths[0], strengths[-1]
    start = min((_start(rows, first) for rows in seen.values()), default=first)
    end = max((_end(rows, first, budget) for rows in seen.values()), default=last)
    if end <= start:
        start, end = first, last
    return scan((tried[start], tried[end]), count)


def _lead(row: Row) -> float:
    return row["micro_f1"] - row["constant"]


def _start(rows: Sequence[Row | None], first: int) -> int:
    """The strongest up to which nothing has happened."""
    vanilla, place = rows[0], first
    for i in range(first, len(rows)):
        row = rows[i]
        if row is None or vanilla is None or row["imparity"] < KEPT * vanilla["imparity"]:
            break
        if _lead(row) < KEPT * _lead(vanilla):
            break
        place = i
    return place


def _end(rows: Sequence[Row | None], first: int, budget: float) -> int:
    """The weakest that does all that can be done."""
    vanilla = rows[0]
    if vanilla is None:
        return first
    alive = {
        i: row["imparity"]
        for i, row in enumerate(rows)
        if i >= first and row is not None and _lead(row) >= COLLAPSED * _lead(vanilla)
    }
    least = min(alive.values(), default=vanilla["imparity"])
    enough = max(budget, vanilla["imparity"] - DONE * (vanilla["imparity"] - least))
    return min((i for i, gap in alive.items() if gap <= enough), default=first)
