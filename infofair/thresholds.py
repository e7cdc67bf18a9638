"""Group thresholds: the best rule on given scores that is fair to within a tolerance.

Hardt, Price and Srebro, "Equality of Opportunity in Supervised Learning", NeurIPS 2016, with a
tolerance. A rule has a mixture of thresholds for every group g: a row with score v is selected with
probability Σᵢ wᵢ 1[v > tᵢ]. Whatever the mixture, its false and true positive rates (f_g, t_g) are
a point of the convex hull of the group's ROC points, and all such points can be had. Hence the rule
with fewest errors whose groups differ by at most ε is a linear programme,

    maximise    Σ_g  P_g t_g − N_g f_g                    P_g positives and N_g negatives of group g
    subject to  low_m ≤ m_g ≤ low_m + ε,  |w_g| = 1       for every group g and moment m,

over the corners' weights w and the bounds low. The moments are

    parity        the selection rate
    opportunity   the true positive rate
    odds          the true and the false positive rate

Groups without the rows that a moment is of (no positives, say) are not bound by it. The rule is
random for rows between two thresholds of a group. Where that is not wanted, and the notion has one
moment, each group gets the one threshold whose moment is nearest to its optimal one; groups then
differ by more than the tolerance by a row or two of theirs (by more where many rows share a score).
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, QhullError

from infofair.errors import Problem

NOTIONS = {"parity": ("rate",), "opportunity": ("tpr",), "odds": ("tpr", "fpr")}
NEVER = np.inf  # the threshold that nothing is above


@dataclass(frozen=True)
class Curve:
    """A group's ROC points, by falling threshold, and which of them are corners of their hull."""

    thresholds: np.ndarray
    fpr: np.ndarray
    tpr: np.ndarray
    positives: int
    negatives: int
    corners: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, y: np.ndarray) -> "Curve":
        """Rows of one score are selected together or not at all."""
        values = np.unique(scores)[::-1]
        # above the highest nothing is; then one more score is selected at a time
        place = np.searchsorted(-values, -scores)
        chosen = [
            np.concatenate([[0], np.cumsum(np.bincount(place[y == c], minlength=len(values)))])
            for c in (0, 1)
        ]
        between = values[:-1] + np.diff(values) / 2  # not a score: rounding cannot matter
        thresholds = np.array([NEVER, *between, -np.inf])
        fpr, tpr = (of / max(of[-1], 1) for of in chosen)
        negatives, positives = (int(of[-1]) for of in chosen)
        return cls(thresholds, fpr, tpr, positives, negatives, _hull(np.column_stack([fpr, tpr])))

    @property
    def gain(self) -> np.ndarray:
        """Correct rows at each point, but for a constant."""
        return self.positives * self.tpr - self.negatives * self.fpr

    def moment(self, name: str) -> np.ndarray | None:
        """What a notion compares, at each point; None if the group has no such rows."""
        if name == "rate":
            rows = self.positives + self.negatives
            return (self.positives * self.tpr + self.negatives * self.fpr) / rows
        of, rows = (self.tpr, self.positives) if name == "tpr" else (self.fpr, self.negatives)
        return of if rows else None

    def nearest(self, weights: np.ndarray, name: str) -> np.ndarray:
        """The point nearest to a mixture of corners in a moment; of equals the most correct."""
        of = self.moment(name)
        if of is None:
            of = self.gain
        off = np.abs(of - weights @ of[self.corners]).round(12)
        return np.lexsort((-self.gain, off))[:1]


def _hull(points: np.ndarray) -> np.ndarray:
    """The numbers of the corners of some points, in order."""
    try:
        found = ConvexHull(points).vertices
    except QhullError:  # all on one line: its ends, which are the first and the last
        found = np.array([0, len(points) - 1])
    return np.unique(np.concatenate([[0, len(points) - 1], found]))


@dataclass(frozen=True)
class Rule:
    """For every group some thresholds, and with which probability each of them is used."""

    thresholds: list[np.ndarray]
    weights: list[np.ndarray]

    @property
    def random(self) -> bool:
        return any(len(of) > 1 for of in self.weights)

    def probability(self, scores: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Of being selected, for every row; a group that the rule has not seen has threshold ½."""
        found = (scores > 0.5).astype(float)
        for g, (thresholds, weights) in enumerate(zip(self.thresholds, self.weights, strict=True)):
            rows = group == g
            if len(thresholds):
                found[rows] = (scores[rows, None] > thresholds) @ weights
        return found

    def decide(self, scores: np.ndarray, group: np.ndarray, seed: int) -> np.ndarray:
        """0 or 1 for every row; where the rule is random, drawn with the seed."""
        chance = self.probability(scores, group)
        return (np.random.default_rng(seed).random(len(chance)) < chance).astype(np.int8)


@dataclass(frozen=True)
class Curves:
    """Every group's curve, of which any number of rules are made."""

    each: list[Curve | None]  # None for a group without rows

    @classmethod
    def of(cls, scores: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int) -> "Curves":
        """scores: of class 1, any scale (½ is the threshold of groups without rows); y: 0 or 1."""
        members = [group == g for g in range(groups)]
        scores = scores.astype(float)
        return cls([Curve.of(scores[rows], y[rows]) if rows.any() else None for rows in members])

    def rule(self, notion: str, tolerance: float, *, random: bool = True) -> Rule:
        """With fewest errors on these rows, of those that are fair to the tolerance.

        random: whether it may be; equalised odds cannot be had otherwise.
        """
        if notion not in NOTIONS:
            raise Problem(f"no notion {notion!r}; there are {', '.join(NOTIONS)}")
        if not 0 <= tolerance <= 1:
            raise Problem(f"tolerance = {tolerance}: expected a number between 0 and 1")
        moments = NOTIONS[notion]
        if not random and len(moments) > 1:
            raise Problem(f"{notion}: groups that differ by {tolerance} take a random rule")
        present = [own for own in self.each if own is not None]
        found = iter(_optimum(present, moments, tolerance))
        rule = Rule([], [])
        for own in self.each:
            thresholds, weights = np.empty(0), np.empty(0)
            if own is not None:
                weights = next(found)
                points = own.corners[weights > 0] if random else own.nearest(weights, moments[0])
                thresholds = own.thresholds[points]
                weights = weights[weights > 0] if random else np.ones(1)
            rule.thresholds.append(thresholds)
            rule.weights.append(weights)
        return rule


def _optimum(each: list[Curve], moments: tuple[str, ...], tolerance: float) -> list[np.ndarray]:
    """The corners' weights of each group."""
    sizes = [len(own.corners) for own in each]
    ends = np.cumsum(sizes)
    columns = int(ends[-1]) + len(moments)  # the weights, then the bounds
    gain = np.concatenate([own.gain[own.corners] for own in each] + [[0.0] * len(moments)])
    rows, limits = [], []
    one = np.zeros((len(each), columns))
    for g, (own, end, size) in enumerate(zip(each, ends, sizes, strict=True)):
        here = slice(end - size, end)
        one[g, here] = 1
        for m, name in enumerate(moments):
            of = own.moment(name)
            if of is None:
                continue
            row = np.zeros(columns)
            row[here], row[ends[-1] + m] = of[own.corners], -1
            rows += [row, -row]
            limits += [tolerance, 0.0]
    total = sum(own.positives + own.negatives for own in each)
    found = linprog(
        -gain / total,
        A_ub=np.array(rows) if rows else None,
        b_ub=limits if rows else None,
        A_eq=one,
        b_eq=np.ones(len(each)),
        bounds=(0, 1),
        method="highs-ds",  # a corner of the solutions: few groups are random
    )
    if found.status != 0:  # saying no to everyone is fair to any tolerance
        raise RuntimeError(f"no group thresholds: {found.message}")
    cleaned = np.where(found.x < 1e-9, 0, found.x)
    parts = [cleaned[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    return [part / part.sum() for part in parts]
