"""The smallest gap that a sample could show, and the rows it takes to show a given one.

One group's rate is moved away from that of all others, who have a common one. The audit says
"evidence" of it if any measure of this rate has a joint p ≤ 0.05 / (questions of the audit): Holm's
first step.
Both worlds, the fair one and this one, are drawn; what is announced is the gap, or the number of
rows, at which four of five audits find it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from infofair.auditing.chance import DECIMALS
from infofair.auditing.figures import Shares
from infofair.auditing.measures import LOWER_IS_WORSE, SELECTION, Measure, largest_gap
from infofair.uncertainty import SIGNIFICANT

GAP = 0.05  # that rows are counted for
SMALL_EFFECT = 0.2  # and of means, in standard deviations (Cohen's "small")
POWER = 0.8
NULL_DRAWS = 9_999
DRAWS = 2_000  # of the unfair world: its share that is found is good to ± 0.01
CLOSE = 0.008  # shares nearer to POWER than this are it
STEPS = 6
MOST_ROWS = 10**9


@dataclass(frozen=True)
class Sample:
    """Groups of so many trials, one of which has another rate than all others."""

    rate: float
    trials: np.ndarray
    group: int
    level: float  # of each question
    measures: Mapping[str, Measure]
    seed: int

    @property
    def most(self) -> float:
        """The largest gap there can be."""
        return max(self.rate, 1 - self.rate)

    @property
    def deviation(self) -> float:
        """Of one trial."""
        return float(np.sqrt(max(self.rate * (1 - self.rate), 0.01)))

    def draw(
        self, rng: np.random.Generator, rates: np.ndarray | float, trials: np.ndarray, draws: int
    ) -> np.ndarray:
        """What groups with these rates show: draws × groups."""
        return rng.binomial(trials, rates, (draws, len(trials))) / trials

    def found(self, gap: float, times: float = 1.0) -> float:
        """The share of audits that find such a gap, with so many times the rows."""
        rng = np.random.default_rng(self.seed)
        trials = np.maximum(np.rint(self.trials * times).astype(np.int64), 2)
        parts = trials / trials.sum()
        rates = np.full(len(trials), self.rate)
        rates[self.group] += gap if self.rate <= 0.5 else -gap
        unfair = self.draw(rng, np.clip(rates, *self.between), trials, DRAWS)
        fair = self.draw(rng, float(rates @ parts), trials, NULL_DRAWS)
        lowest, of_fair = np.ones(DRAWS), np.ones(NULL_DRAWS)
        for name, measure in self.measures.items():
            sign = -1 if name in LOWER_IS_WORSE else 1
            null = np.round(sign * measure(fair, trials, parts), DECIMALS)
            seen = np.round(sign * measure(unfair, trials, parts), DECIMALS)
            rising = np.sort(null)
            for values, least in ((seen, lowest), (null, of_fair)):
                beyond = NULL_DRAWS - np.searchsorted(rising, values, side="left")
                np.minimum(least, (1 + beyond) / (1 + NULL_DRAWS), out=least)
        as_low = np.searchsorted(np.sort(of_fair), lowest + 1e-12, side="right")
        return float(np.mean((1 + as_low) / (1 + NULL_DRAWS) <= self.level))

    between = (0.0, 1.0)  # where rates are

    def smallest_gap(self) -> float | None:
        """None if even the largest is not found."""
        if self.found(self.most) < POWER:
            return None
        return _where(self.found, _guess(self), self.most, self.level)

    def times_for(self, gap: float) -> float | None:
        """How many times the rows; None if such a gap cannot be, or it takes a billion."""
        times = (_guess(self) / gap) ** 2
        total = float(self.trials.sum())
        if gap >= self.most or times * total > MOST_ROWS:
            return None
        # like the gap, the root of the rows is what power depends on
        start, end = float(np.sqrt(times)), float(np.sqrt(MOST_ROWS / total))
        return _where(lambda x: self.found(gap, x * x), start, end, self.level) ** 2


class Means(Sample):
    """The same of means, in units of their rows' standard deviation."""

    between = (-np.inf, np.inf)
    most = 10.0
    deviation = 1.0

    def draw(
        self, rng: np.random.Generator, rates: np.ndarray | float, trials: np.ndarray, draws: int
    ) -> np.ndarray:
        return rates + rng.standard_t(trials - 1, (draws, len(trials))) / np.sqrt(trials)


def _guess(sample: Sample) -> float:
    """By the normal distribution, for two groups: this one and all others."""
    own = float(sample.trials[sample.group])
    others = float(sample.trials.sum()) - own
    deviation = sample.deviation * np.sqrt(1 / own + 1 / others)
    wanted = float(-ndtri(sample.level / 2) + ndtri(POWER)) * deviation
    return float(min(wanted, 0.9 * sample.most))


def _where(found: Callable[[float], float], start: float, end: float, level: float) -> float:
    """Where a rising share reaches POWER.

    It is about Φ(a x − c), c being the quantile that the level asks for, so that each share tells a
    and with it the next x.
    """
    critical, wanted = float(-ndtri(level / 2)), float(ndtri(POWER))
    best, nearest, x = end, 1.0, min(start, end)
    for _ in range(STEPS):
        share = found(x)
        if abs(share - POWER) < nearest:
            best, nearest = x, abs(share - POWER)
        if nearest < CLOSE:
            break
        reached = critical + float(ndtri(np.clip(share, 1e-3, 1 - 1e-3)))
        x = min(x * float(np.clip((critical + wanted) / max(reached, 0.1), 0.5, 2)), end)
    return best


def _places(trials: np.ndarray) -> list[int]:
    """The group whose gaps are seen best, having nearest to half of all rows, and the smallest."""
    best = int(np.argmin(np.abs(2 * trials - trials.sum())))
    return list(dict.fromkeys([best, int(np.argmin(trials))]))


def of_shares(
    name: str, shares: Shares, groups: list[str], rows: int, asked: int, seed: int
) -> list[dict[str, Any]]:
    measures = SELECTION if name == "selection_rate" else {"opportunity_gap": largest_gap}
    return [
        _announced(
            Sample(shares.overall, shares.trials, place, SIGNIFICANT / asked, measures, seed),
            name, groups[place], rows, GAP, 1.0,
        )
        for place in _places(shares.trials)
    ]  # fmt: skip


def of_means(
    deviation: float, trials: np.ndarray, groups: list[str], rows: int, asked: int, seed: int
) -> list[dict[str, Any]]:
    """deviation: of one row's prediction."""
    measures = {name: SELECTION[name] for name in ("imparity", "largest_gap")}
    return [
        _announced(
            Means(0.0, trials, place, SIGNIFICANT / asked, measures, seed),
            "mean_prediction", groups[place], rows, SMALL_EFFECT, deviation,
        )
        for place in _places(trials)
    ]  # fmt: skip


def _announced(
    sample: Sample, name: str, group: str, rows: int, gap: float, unit: float
) -> dict[str, Any]:
    least, times = sample.smallest_gap(), sample.times_for(gap)
    return {
        "rate": name,
        "group": group,
        "smallest_gap": None if least is None else least * unit,
        "gap": gap * unit,
        "rows_for_gap": None if times is None else int(float(f"{rows * times:.2g}")),
    }
