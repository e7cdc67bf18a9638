"""How far a figure may be chance: bootstrap intervals, and the imparity of a fair predictor."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import binom

from infofair.metrics import average_gap, average_gap_released, sum_of_gaps

REPLICATES = 1000  # the 2.5 % beyond each end of an interval are then good to ± 0.5 %
SEED = 0  # one stream: all models that are tested on the same rows see the same resamples
CHUNK = 50  # replicates at a time: 50 × rows counts are in memory, not 1000 × rows
SLICE = 10  # of these at a time, their pairs of groups: hundreds of groups have 10,000s of pairs
LEVELS = (2.5, 97.5)  # percentiles: a 95 % interval


def resamples(rows: int) -> Iterator[np.ndarray]:
    """How often each row is drawn in each replicate: chunks of replicates × rows, float32.

    Products with 0/1 columns count exactly: float32 holds every integer up to 16 million.
    """
    rng = np.random.default_rng(SEED)
    for start in range(0, REPLICATES, CHUNK):
        size = min(CHUNK, REPLICATES - start)
        drawn = rng.integers(0, rows, (size, rows)) + rows * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * rows)
        yield counts.reshape(size, rows).astype(np.float32)


def bootstrap(
    predicted: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int
) -> dict[str, np.ndarray]:
    """Micro F1 and both imparities of each model in each resample: metric -> replicates × models.

    `predicted` is 0/1, models × rows. Rows are drawn with replacement, the same for all models,
    so that figures of different models may be averaged or subtracted replicate by replicate.
    Micro F1 is the share of correct rows, as each row has one class. A group that a resample
    misses is treated as the metric treats a group without members.
    """
    correct = (predicted == y).T.astype(np.float32)  # rows × models
    selected = predicted.T.astype(np.float32)
    members = [np.flatnonzero(group == g) for g in range(groups)]
    found: dict[str, list[np.ndarray]] = {"micro_f1": [], "imparity": [], "imparity_released": []}
    for weights in resamples(len(y)):
        rates = np.full((len(weights), len(predicted), groups), np.nan)
        for g, of_group in enumerate(members):
            drawn = weights[:, of_group]
            size = drawn.sum(axis=1, keepdims=True)
            chosen = drawn @ selected[of_group]
            np.divide(chosen, size, out=rates[:, :, g], where=size > 0, dtype=float)
        slices = [rates[start : start + SLICE] for start in range(0, len(rates), SLICE)]
        total = np.concatenate([sum_of_gaps(part) for part in slices])
        present = np.sum(~np.isnan(rates), axis=-1)
        found["micro_f1"].append((weights @ correct).astype(float) / len(y))
        found["imparity"].append(average_gap(total, present))
        found["imparity_released"].append(average_gap_released(total, present, groups))
    return {metric: np.concatenate(chunks) for metric, chunks in found.items()}


def interval(replicates: np.ndarray) -> tuple[float, float]:
    """The 95 % percentile interval of one figure's replicates."""
    low, high = np.percentile(replicates, LEVELS)
    return float(low), float(high)


def noise_floor(rate: float, sizes: np.ndarray) -> tuple[float, float]:
    """E[imparity] and E[imparity_released] if ŷ ~ Bernoulli(rate) whatever the group.

    Such a predictor is exactly fair, yet groups of n rows have rates A = Binomial(n, rate) / n
    that differ by chance. For independent A and B with distribution functions F and G,

        E|A − B| = ∫ F(1 − G) + G(1 − F) dt,

    and with S = Σ F and Q = Σ F² over the m groups that have members, the sum over their pairs is
    ∫ (m − 1) S − S² + Q dt. The functions are steps, so the integral is an exact sum.
    """
    present = sizes[sizes > 0]
    steps = [np.arange(n + 1) / n for n in present]  # where F jumps
    t = np.unique(np.concatenate(steps))
    S, Q = np.zeros(len(t)), np.zeros(len(t))
    for n, own in zip(present, steps, strict=True):
        F = np.cumsum(binom.pmf(np.arange(n + 1), n, rate))[np.searchsorted(own, t, "right") - 1]
        S += F
        Q += F**2
    m = len(present)
    total = ((m - 1) * S - S**2 + Q)[:-1] @ np.diff(t)
    return float(average_gap(total, m)), float(average_gap_released(total, m, len(sizes)))
