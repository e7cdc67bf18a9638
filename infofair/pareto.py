"""Trade-offs between two figures: who is dominated, and how much a front covers."""

from collections.abc import Iterable

import numpy as np

Point = tuple[float, float]  # imparity, micro F1


def pareto(f1: np.ndarray, imparity: np.ndarray) -> np.ndarray:
    """Which points no other dominates, by being at least as good in both and better in one."""
    no_worse = (f1[:, None] >= f1) & (imparity[:, None] <= imparity)
    better = (f1[:, None] > f1) | (imparity[:, None] < imparity)
    return np.logical_not((no_worse & better).any(axis=0))


def staircase(points: Iterable[Point], vanilla: Point, constant: float) -> float:
    """The area that points dominate, as a share of the rectangle between two free predictors.

    A point (imparity i, micro F1 f) dominates what has at least its imparity and at most its F1.
    Counted is what lies below vanilla's imparity and above the F1 of the constant predictor, whose
    imparity is 0, and the unit is the rectangle with these two as corners. So both of them
    dominate nothing, 0 says that a method has nothing to add to them, and 1 is vanilla's F1 without
    any imparity. More than 1 takes a higher F1 than vanilla's. NaN if the rectangle is empty.
    """
    width, height = vanilla[0], vanilla[1] - constant
    if width <= 0 or height <= 0:
        return float("nan")
    area, top = 0.0, constant
    for imparity, f1 in sorted(points):
        if imparity < width and f1 > top:
            area += (width - imparity) * (f1 - top)
            top = f1
    return area / (width * height)


def above_chord(points: Iterable[Point], vanilla: Point, constant: float) -> float:
    """The area of the points' hull above the line from constant to vanilla, as a share of its half.

    Who follows vanilla with probability λ and says the commoner class otherwise has λ times
    vanilla's imparity, and the F1 in between: every point of that line is free, and so is every
    point between two models. This figure gives no credit for that: 0 says that no mixture is
    better than one of the two, 1 is again vanilla's F1 without any imparity.
    """
    width, height = vanilla[0], vanilla[1] - constant
    if width <= 0 or height <= 0:
        return float("nan")
    hull: list[Point] = []
    inside = [p for p in points if 0 <= p[0] < width and p[1] > constant]
    for x, y in sorted([(0.0, constant), *inside, vanilla]):
        # the upper hull: from left to right, turning right
        while len(hull) > 1 and _turn(hull[-2], hull[-1], (x, y)) >= 0:
            hull.pop()
        hull.append((x, y))
    xs, ys = np.array(hull).T
    under = float(np.sum(np.diff(xs) * ((ys[1:] + ys[:-1]) / 2 - constant)))
    return 2 * under / (width * height) - 1


def _turn(a: Point, b: Point, c: Point) -> float:
    """Above 0 if the way from a over b to c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
