"""What an exactly fair model has by chance: null quantiles, p-values, verdicts.

Rows without weights are permuted: who is selected stays, who belongs to which group is dealt anew,
for true and false positive rates among the rows of one label. A permutation is a table of counts
with given sums, so it is dealt as counts (hypergeometric), and a million rows cost what a thousand
do. Such a test is exact: whatever the sizes of the groups, a fair model has p ≤ 0.05 in at most
5 %. Weighted rows are not alike and cannot be dealt as counts: there, every group draws its
effective number of rows from all rows' shares.

Several measures ask the same question: whether selection rates, error rates or scores depend on the
group. They see the same draws, and are corrected for one another by them (Westfall and Young 1993:
how often is the lowest of their p-values as low?), so that asking in five ways costs little; the
questions, of all settings, are corrected by Holm.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

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
from infofair.uncertainty import SIGNIFICANT, deal

DRAWS = 9_999  # of counts: no p is below 0.0001
SCORE_DRAWS = 1_999  # of scores' distributions, at least
PER_QUESTION = 50  # and so many for every question of the family, so that one can be evidence
BINS = 128  # of equally many rows, that the scores are dealt in
MOST_UNPOOLED = 500  # groups
CLOSE = 1e-12  # values nearer than this are the same but for rounding,
DECIMALS = 12  # and so are those with the same decimals


@dataclass(frozen=True)
class Test:
    """A measure beside chance."""

    __test__ = False  # to pytest: no test of ours
    measure: str
    question: str
    value: float
    null_95: float  # what a fair model exceeds in 5 % (falls below, of the parity ratio)
    p_value: float  # by itself
    p_joint: float  # among the measures that ask the same
    p_holm: float = float("nan")  # among all tests of the audit

    @property
    def evidence(self) -> bool:
        return self.p_holm <= SIGNIFICANT

    @property
    def verdict(self) -> str:
        return "evidence" if self.evidence else "noise"


class Seen(NamedTuple):
    """A measure's value, and those of a fair model in all draws."""

    measure: str
    value: float
    null: np.ndarray
    tested: float | None = None  # the value as the draws have it, if they see less than it does


def judged(question: str, seen: list[Seen]) -> list[Test]:
    """p = (1 + the draws that are as extreme) / (1 + all); jointly, the draws any of whose own
    p-values is as low."""
    ranks = np.column_stack([p_values(of) for of in seen])  # the last row is what was observed
    lowest = ranks.min(axis=1)
    found = []
    for of, p in zip(seen, ranks[-1], strict=True):
        level = SIGNIFICANT if of.measure in LOWER_IS_WORSE else 1 - SIGNIFICANT
        joint = float(np.mean(lowest <= p + CLOSE))
        quantile = float(np.quantile(of.null, level))
        found.append(Test(of.measure, question, of.value, quantile, float(p), joint))
    return found


def p_values(seen: Seen) -> np.ndarray:
    """Of every draw among all of them, and last of what was observed."""
    own = seen.value if seen.tested is None else seen.tested
    sign = -1 if seen.measure in LOWER_IS_WORSE else 1
    pool = np.round(sign * np.append(seen.null, own), DECIMALS)
    return (len(pool) - np.searchsorted(np.sort(pool), pool, side="left")) / len(pool)


def questions(tests: list[list[Test]]) -> int:
    """What Holm's correction is over: the questions of every setting."""
    return sum(len({test.question for test in of}) for of in tests)


def family(tests: list[list[Test]]) -> list[list[Test]]:
    """All tests of an audit, setting by setting, with Holm's correction over their questions: no
    more than 5 % of fair models have any evidence."""
    lowest: dict[tuple[int, str], float] = {}
    for place, of in enumerate(tests):
        for test in of:
            key = place, test.question
            lowest[key] = min(lowest.get(key, 1.0), test.p_joint)
    ordered = sorted(lowest, key=lambda key: lowest[key])  # stable: of equals the first
    before, floor, times = 0.0, {}, {}
    for rank, key in enumerate(ordered):
        floor[key], times[key] = before, len(ordered) - rank
        before = max(before, times[key] * lowest[key])
    return [
        [
            replace(t, p_holm=min(max(floor[i, t.question], times[i, t.question] * t.p_joint), 1.0))
            for t in of
        ]
        for i, of in enumerate(tests)
    ]


# -- decisions ------------------------------------------------------------------------------------


def fair_rates(rng: np.random.Generator, shares: Shares, draws: int = DRAWS) -> np.ndarray:
    """Rates of all groups if membership does not matter: draws × groups."""
    trials = np.maximum(np.rint(shares.trials).astype(np.int64), 1)
    if shares.weighted:
        return rng.binomial(trials, shares.overall, (draws, len(trials))) / trials
    selected = round(shares.overall * float(trials.sum()))
    return deal(rng, selected, np.tile(trials, (draws, 1))) / trials


def decision_tests(rng: np.random.Generator, figures: Figures) -> list[Test]:
    """Of selection rates; of true positive rates, and of both error rates together."""
    shares = figures.selection_rate
    rates = fair_rates(rng, shares)
    selected = [
        Seen(name, of_shares(measure, shares), measure(rates, shares.trials, shares.parts))
        for name, measure in SELECTION.items()
    ]
    gaps, nulls = [], []
    for own in (figures.tpr, figures.fpr):
        gaps.append(of_shares(largest_gap, own))
        nulls.append(largest_gap(fair_rates(rng, own), own.trials, own.parts))
    wrong = [
        Seen("opportunity_gap", gaps[0], nulls[0]),
        Seen("odds_gap", max(gaps), np.maximum(*nulls)),
    ]
    return judged("selection", selected) + judged("errors", wrong)


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


def score_draws(asked: int) -> int:
    """For a family of so many questions."""
    return max(SCORE_DRAWS, PER_QUESTION * asked)


def score_tests(
    rng: np.random.Generator,
    score: np.ndarray,
    group: np.ndarray,
    groups: int,
    weights: np.ndarray | None,
    asked: int,
) -> list[Test]:
    """KS and ABCC of the score, or of a regression's prediction.

    The values are exact; chance is judged in bins of equally many rows.
    """
    binned = Binned.of(score, group, groups, weights, BINS)
    seen = binned.observed()
    null = binned.fair(rng, score_draws(asked))
    ks, abcc = score_gaps(score, group, groups, weights)

    def mean(area: np.ndarray) -> np.ndarray:
        return average_gap(area, groups)

    return judged(
        "score",
        [
            Seen("ks", ks, null.highest, float(seen.highest[0])),
            Seen("abcc", abcc, mean(null.area), float(mean(seen.area)[0])),
        ],
    )


def unpooled_imparity(
    rng: np.random.Generator, decision: np.ndarray, group: np.ndarray, weights: np.ndarray | None
) -> Mapping[str, float | int | bool] | None:
    """The paper's imparity of all groups as they are, tiny ones included, and what chance gives.

    Tiny groups have rates that chance moves far, so that this figure often says little; it stands
    by itself, not in the family of tests. None if there are too many groups for it to say anything.
    """
    names, own = np.unique(group, return_inverse=True)
    if len(names) > MOST_UNPOOLED:
        return None
    shares = Shares.of(decision, own, len(names), weights)
    rates, imparity = fair_rates(rng, shares), SELECTION["imparity"]
    null = imparity(rates, shares.trials, shares.parts)
    [test] = judged("selection", [Seen("imparity", of_shares(imparity, shares), null)])
    return {
        "groups": len(names),
        "value": test.value,
        "null_95": test.null_95,
        "p_value": test.p_value,
        "above_chance": test.p_value <= SIGNIFICANT,
    }
