"""The same questions for predicted numbers: do groups differ in what is predicted for them, and in
how wrong it is?

A group's mean has its own standard deviation, and a mean of n rows is Student's t with n − 1
degrees of freedom away from the truth: so are the intervals, and so is what chance gives.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import entr
from scipy.stats import t as student

from infofair.auditing.chance import DRAWS, Binned, Seen, Test, judged, score_draws, score_tests
from infofair.auditing.figures import mean
from infofair.auditing.groups import Setting
from infofair.auditing.measures import imparity, largest_gap
from infofair.auditing.rows import Rows

BINS = 16  # of equally many rows: the bits that a prediction tells about the group
QUESTIONS = 5  # means, errors, absolute errors, bits, scores


@dataclass(frozen=True)
class Means:
    """A figure of every group: its mean, the rows' deviation, and how many rows it is of."""

    means: np.ndarray
    deviations: np.ndarray
    trials: np.ndarray

    @classmethod
    def of(
        cls, values: np.ndarray, group: np.ndarray, groups: int, weights: np.ndarray | None
    ) -> "Means":
        w = np.ones(len(values)) if weights is None else weights
        found = mean(values, group, groups, weights)
        sums, squares = np.bincount(group, w, groups), np.bincount(group, w**2, groups)
        trials = sums**2 / squares
        spread = np.bincount(group, w * (values - found[group]) ** 2, groups) / sums
        deviations = np.sqrt(spread * trials / np.maximum(trials - 1, 1))
        return cls(found, deviations, trials)

    @property
    def errors(self) -> np.ndarray:
        """Standard errors."""
        return self.deviations / np.sqrt(self.trials)

    def intervals(self) -> np.ndarray:
        half = student.ppf(0.975, np.maximum(self.trials - 1, 1)) * self.errors
        return np.column_stack([self.means - half, self.means + half])

    def fair(self, rng: np.random.Generator) -> np.ndarray:
        """Means of groups that have the same truth: draws × groups."""
        freedom = np.maximum(self.trials - 1, 1)
        return rng.standard_t(freedom, (DRAWS, len(freedom))) * self.errors


@dataclass(frozen=True)
class Figures:
    """What is known of every group of a setting, in a regression."""

    rows: np.ndarray
    prediction: Means
    label: Means
    error: Means  # prediction − label
    absolute_error: Means

    @classmethod
    def of(cls, rows: Rows, setting: Setting) -> "Figures":
        assert rows.score is not None
        off = rows.score - rows.y
        made = [
            Means.of(values, setting.group, setting.groups, rows.weights)
            for values in (rows.score, rows.y, off, np.abs(off))
        ]
        return cls(np.bincount(setting.group, minlength=setting.groups), *made)


def tests(
    rng: np.random.Generator, rows: Rows, setting: Setting, figures: Figures, asked: int
) -> list[Test]:
    """Of means, of errors, and of the distributions of what is predicted."""
    assert rows.score is not None
    nothing = np.empty(0)  # these measures see rates alone

    def seen(name: str, of: Means, fair: np.ndarray) -> Seen:
        measure = imparity if name == "imparity" else largest_gap
        value = float(measure(of.means, nothing, nothing))
        return Seen(name, value, measure(fair, nothing, nothing))

    fair = figures.prediction.fair(rng)
    means = [seen(name, figures.prediction, fair) for name in ("imparity", "largest_gap")]
    found = judged("means", means)
    for name, of in (
        ("error_gap", figures.error),
        ("absolute_error_gap", figures.absolute_error),
    ):
        found += judged(name, [seen(name, of, of.fair(rng))])
    binned = Binned.of(rows.score, setting.group, setting.groups, rows.weights, BINS)
    null = bits(np.stack(list(binned.dealt(rng, score_draws(asked))), axis=1))
    found += judged("bits", [Seen("mutual_information", float(bits(binned.table)), null)])
    return found + score_tests(rng, rows.score, setting.group, setting.groups, rows.weights, asked)


def bits(table: np.ndarray) -> np.ndarray:
    """I(bin; group) of counts, … × bins × groups."""
    p = table / table.sum(axis=(-2, -1), keepdims=True)
    by_bin, by_group = entr(p.sum(axis=-1)).sum(axis=-1), entr(p.sum(axis=-2)).sum(axis=-1)
    return np.maximum(by_bin + by_group - entr(p).sum(axis=(-2, -1)), 0) / np.log(2)
