"""What an exactly fair model has by chance: null quantiles, p-values, verdicts.

Rows without weights are permuted: who is selected stays, who belongs to which group is dealt anew,
for true and false positive rates among the rows of one label. A permutation is a table of counts
with given sums, so it is dealt as counts (hypergeometric), and a million rows cost what a thousand
do. Such a test is exact: whatever the sizes of the groups, a fair model has p ≤ 0.05 in at most
5 %. Weighted rows are not alike and cannot be dealt as counts: there, every group draws its
effective number of rows from all rows' shares.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from infofair.auditing.figures import Figures, Shares
from infofair.auditing.measures import (
    LOWER_IS_WORSE,
    SELECTION,
    Curves,
    largest_gap,
    of_shares,
    score_gaps,
)
from infofair.metrics import average_gap
from infofair.uncertainty import SIGNIFICANT, deal, holm

DRAWS = 9_999  # of counts: no p is below 0.0001
SCORE_DRAWS = 1_999  # of scores' distributions, at least
PER_TEST = 50  # and so many for every test of the family, so that one can be evidence
BINS = 128  # of equally many rows, that the scores are dealt in
CLOSE = 1e-12  # values nearer than this are the same but for rounding


@dataclass(frozen=True)
class Test:
    """A measure beside chance."""

    __test__ = False  # to pytest: no test of ours
    measure: str
    value: float
    null_95: float  # what a fair model exceeds in 5 % (falls below, of the parity ratio)
    p_value: float
    p_holm: float = float("nan")  # among all tests of the audit

    @property
    def evidence(self) -> bool:
        return self.p_holm <= SIGNIFICANT

    @property
    def verdict(self) -> str:
        return "evidence" if self.evidence else "noise"


def judged(measure: str, value: float, null: np.ndarray, tested: float | None = None) -> Test:
    """tested: the value as the draws have it, if they see less than the value does."""
    own = value if tested is None else tested
    if measure in LOWER_IS_WORSE:
        beyond, quantile = null <= own + CLOSE, SIGNIFICANT
    else:
        beyond, quantile = null >= own - CLOSE, 1 - SIGNIFICANT
    p = (1 + int(beyond.sum())) / (1 + len(null))
    return Test(measure, value, float(np.quantile(null, quantile)), p)


def family(tests: list[list[Test]]) -> list[list[Test]]:
    """All tests of an audit with Holm's correction: no more than 5 % of fair models have any
    evidence."""
    flat = [test for of in tests for test in of]
    corrected = iter(holm(np.array([test.p_value for test in flat])))
    return [
        [
            Test(t.measure, t.value, t.null_95, t.p_value, float(next(corrected)))
            for t in of
        ]
        for of in tests
    ]  # fmt: skip


# -- decisions ------------------------------------------------------------------------------------


def fair_rates(rng: np.random.Generator, shares: Shares, draws: int = DRAWS) -> np.ndarray:
    """Rates of all groups if membership does not matter: draws × groups."""
    trials = np.maximum(np.rint(shares.trials).astype(np.int64), 1)
    if shares.weighted:
        return rng.binomial(trials, shares.overall, (draws, len(trials))) / trials
    selected = round(shares.overall * float(trials.sum()))
    return deal(rng, selected, np.tile(trials, (draws, 1))) / trials


def decision_tests(rng: np.random.Generator, figures: Figures) -> list[Test]:
    """Of selection rates, of true positive rates, and of both error rates together."""
    shares = figures.selection_rate
    rates = fair_rates(rng, shares)
    found = [
        judged(name, of_shares(measure, shares), measure(rates, shares.trials, shares.parts))
        for name, measure in SELECTION.items()
    ]
    gaps, nulls = [], []
    for own in (figures.tpr, figures.fpr):
        gaps.append(of_shares(largest_gap, own))
        nulls.append(largest_gap(fair_rates(rng, own), own.trials, own.parts))
    found.append(judged("opportunity_gap", gaps[0], nulls[0]))
    found.append(judged("odds_gap", max(gaps), np.maximum(*nulls)))
    return found


# -- scores ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Binned:
    """Scores in bins of equally many rows: how many rows of each group are in which."""

    table: np.ndarray  # bins × groups; of weighted rows, of their effective numbers
    widths: np.ndarray  # from a bin's mean score to the next one's
    weighted: bool

    @classmethod
    def of(
        cls,
        score: np.ndarray,
        group: np.ndarray,
        groups: int,
        weights: np.ndarray | None,
        bins: int,
    ) -> "Binned":
        edges = np.unique(np.quantile(score, np.linspace(0, 1, bins + 1)[1:-1]))
        place = np.searchsorted(edges, score, side="left")
        used, place = np.unique(place, return_inverse=True)
        cells = place * groups + group
        table = np.bincount(cells, weights, len(used) * groups).reshape(-1, groups).astype(float)
        if weights is not None:
            effective = table.sum(axis=0) ** 2 / np.bincount(group, weights**2, groups)
            table *= effective / table.sum(axis=0)
        means = np.bincount(place, score) / np.bincount(place)
        return cls(table, np.append(np.diff(means), 0.0), weights is not None)

    @property
    def trials(self) -> np.ndarray:
        return self.table.sum(axis=0)

    def observed(self) -> Curves:
        return self._curves(1, iter(self.table[:, None]), self.trials)

    def fair(self, rng: np.random.Generator, draws: int) -> Curves:
        """The same of groups that are dealt anew, so many times."""
        return self._curves(draws, self.dealt(rng, draws), self._whole)

    def _curves(self, draws: int, bins: Iterator[np.ndarray], trials: np.ndarray) -> Curves:
        found = Curves.of(draws)
        below = np.zeros((draws, len(trials)))
        for rows, width in zip(bins, self.widths, strict=True):
            below += rows
            found.pass_by(below / trials, width)
        return found

    @property
    def _whole(self) -> np.ndarray:
        return np.maximum(np.rint(self.trials).astype(np.int64), 1)

    def dealt(self, rng: np.random.Generator, draws: int) -> Iterator[np.ndarray]:
        """The rows of each group in one bin after the other: draws × groups."""
        left = np.tile(self._whole, (draws, 1))
        rest = self.table.sum()
        for row in self.table:
            if self.weighted:  # each group's rows fall into this bin, or into one after it
                share = min(row.sum() / rest, 1.0) if rest > CLOSE else 1.0
                rows = rng.binomial(left, share)
            else:
                rows = deal(rng, round(float(row.sum())), left)
            left = left - rows
            rest -= row.sum()
            yield rows


def score_draws(tests: int) -> int:
    """For a family of so many tests."""
    return max(SCORE_DRAWS, PER_TEST * tests)


def score_tests(
    rng: np.random.Generator,
    score: np.ndarray,
    group: np.ndarray,
    groups: int,
    weights: np.ndarray | None,
    tests: int,
) -> list[Test]:
    """KS and ABCC of the score, or of a regression's prediction.

    The values are exact; chance is judged in bins of equally many rows.
    """
    binned = Binned.of(score, group, groups, weights, BINS)
    seen = binned.observed()
    null = binned.fair(rng, score_draws(tests))
    ks, abcc = score_gaps(score, group, groups, weights)

    def mean(area: np.ndarray) -> np.ndarray:
        return average_gap(area, groups)

    return [
        judged("ks", ks, null.highest, float(seen.highest[0])),
        judged("abcc", abcc, mean(null.area), float(mean(seen.area)[0])),
    ]


def unpooled_imparity(
    rng: np.random.Generator, decision: np.ndarray, group: np.ndarray, weights: np.ndarray | None
) -> Mapping[str, float | int | bool]:
    """The paper's imparity of all groups as they are, tiny ones included, and what chance gives.

    Tiny groups have rates that chance moves far, so that this figure often says little; it stands
    by itself, not in the family of tests.
    """
    names, own = np.unique(group, return_inverse=True)
    shares = Shares.of(decision, own, len(names), weights)
    rates, imparity = fair_rates(rng, shares), SELECTION["imparity"]
    null = imparity(rates, shares.trials, shares.parts)
    test = judged("imparity", of_shares(imparity, shares), null)
    return {
        "groups": len(names),
        "value": test.value,
        "null_95": test.null_95,
        "p_value": test.p_value,
        "above_chance": test.p_value <= SIGNIFICANT,
    }
