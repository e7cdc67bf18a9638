"""GerryFair, read in every way that may have led to its printed cell of Adult, gender & race."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lstsq

from infofair.methods.base import Task
from infofair.methods.gerryfair import GerryFair, Regression
from study.as_run.gerryfair import GerryFairMiscounted


class RegressionOfItsDay(Regression):
    """As scikit-learn solved it before 1.7: singular values count from the machine's precision on.

    One-hot columns are not of full rank. Of the values that should be 0, rounding leaves some above
    that limit, and weights in the thousands that ought to cancel leave what single precision has
    lost of them: rows near the boundary change sides.
    """

    def __init__(self, X: np.ndarray) -> None:
        X = X.astype(np.float32)
        self.centre = X.mean(0)
        self.centred = X - self.centre

    def fit(self, target: np.ndarray) -> tuple[np.ndarray, float]:
        target = target.astype(np.float32)
        mean = target.mean()
        weights = lstsq(self.centred, target - mean)[0]
        return weights, mean - self.centre @ weights


class GerryFairOfItsDay(GerryFair):
    """The right auditor, and linear regressions in single precision by an older scikit-learn.

    For scale, not for the table: which rows change sides depends on LAPACK and on the order of
    sums, and moves Adult's imparity for race between 0.067 and 0.074 (printed 0.067).
    """

    regression = RegressionOfItsDay


def in_order(task: Task) -> Task:
    return task


def coded(task: Task) -> Task:
    """One column of attributes: the number of the group."""
    return replace(task, attributes={part: s[:, None] * 1.0 for part, s in task.s.items()})


def joined(task: Task) -> Task:
    """One column for each combination of the attributes."""
    groups = np.eye(task.groups)
    return replace(task, attributes={part: groups[s] for part, s in task.s.items()})


def other_first(task: Task) -> Task:
    """The training rows backwards, so that another negative is the first."""

    def turned(rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {part: of[::-1] if part == "train" else of for part, of in rows.items()}

    X, y, s, attributes = (turned(dict(of)) for of in (task.X, task.y, task.s, task.attributes))
    return Task(X, y, s, task.groups, attributes)


@dataclass(frozen=True)
class Reading:
    """A way in which the row of the table may have come about."""

    what: str
    method: GerryFair
    of: Callable[[Task], Task] = in_order
    last: bool = False  # the last round's classifier in place of the mixture
    ties: bool = False  # 1 where half of the rounds say 1, as the official code has it

    def predict(self, task: Task) -> dict[str, np.ndarray]:
        """part -> 0 or 1 for every row."""
        own, T = self.of(task), self.method.rounds

        def votes(rounds: int) -> dict[str, np.ndarray]:
            fit = self.method.with_knobs(rounds=rounds).fit(own, 0)
            return {part: fit.predict(task.X[part]) * rounds for part in ("validation", "test")}

        found = votes(T)
        if self.last:
            before = votes(T - 1) if T > 1 else dict.fromkeys(found, np.array(0.0))
            return {part: np.rint(found[part] - before[part]) for part in found}
        half = T / 2 - (1e-9 if self.ties else -1e-9)
        return {part: (of > half) * 1.0 for part, of in found.items()}


def readings() -> Iterator[Reading]:
    """What was tried for Adult, gender & race: printed 0.797 / 0.710, imparity 0.215."""
    yield Reading("official auditor, 9 rounds", GerryFairMiscounted())
    yield Reading("official auditor, rows backwards", GerryFairMiscounted(), other_first)
    yield Reading("single precision, 9 rounds", GerryFairOfItsDay())
    for T in (1, 3, 4, 5, 6, 9):
        yield Reading(f"auditor put right, {T} rounds", GerryFair().with_knobs(rounds=T))
    for T in (4, 6):
        yield Reading(
            f"auditor put right, {T} rounds, ties say 1",
            GerryFair().with_knobs(rounds=T),
            ties=True,
        )
    yield Reading("a column per combination, 9 rounds", GerryFair(), joined)
    yield Reading("groups by number, 9 rounds", GerryFair(), coded)
    weaker = GerryFair().with_knobs(C=5.0, rounds=3)
    yield Reading("C = 5, a column per combination, round 3 alone", weaker, joined, last=True)
    for T in (3, 9, 15):
        never = GerryFair().with_knobs(gamma=0.0, rounds=T)
        yield Reading(f"gamma = 0, round {T} alone", never, last=True)
