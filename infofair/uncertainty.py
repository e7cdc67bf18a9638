"""How far a figure may be chance: bootstrap intervals, fair predictors, permutation tests.

Imparity is a sum of absolute values, so chance raises it: it is above 0 for an exactly fair
predictor, and higher still in a resample. Intervals correct for that; the noise floor, the null
quantile and the permutation test say what chance alone does.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from scipy.special import bdtr
from scipy.stats import binom

from infofair.metrics import average_gap, average_gap_released, sum_of_gaps

REPLICATES = 1000  # the 2.5 % beyond each end of an interval are then good to ± 0.5 %
DRAWS = 10_000  # of a fair predictor: a p of 0.05 is good to ± 0.002, and none is below 0.0001
BATCH = 1000  # permutations at a time,
ENOUGH = 500  # until so many have as much imparity: a p below 0.05 is of all of them
SEED = 0  # one stream: all models that are tested on the same rows see the same resamples
CHUNK = 50  # replicates at a time: 50 × rows counts are in memory, not 1000 × rows
MORE = 2  # rows of each class that a group is resampled with
LEVELS = (2.5, 97.5)  # percentiles: a 95 % interval
SIGNIFICANT = 0.05
DIGITS = 4  # of a rate, in the null quantiles of largest gaps: nearby rates share theirs
HALVINGS = 20  # of 0 to 1: such a quantile is at most 1e-6 too high

# -- bootstrap intervals --------------------------------------------------------------------------


def resamples(group: int, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """How often each of a group's rows is drawn in each replicate, and rows of neither.

    Chunks of (replicates × size, replicates × 2), float32. `size` draws from the rows, two more
    that every model refuses and two more that every model selects. Products with 0/1 columns count
    exactly: float32 holds every integer up to 16 million.
    """
    rng = np.random.default_rng([SEED, group])
    rows = size + 2 * MORE
    for start in range(0, REPLICATES, CHUNK):
        chunk = min(CHUNK, REPLICATES - start)
        drawn = rng.integers(0, rows, (chunk, size)) + rows * np.arange(chunk)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=chunk * rows).reshape(chunk, rows)
        more = counts[:, size:].reshape(chunk, 2, MORE).sum(axis=2)
        yield counts[:, :size].astype(np.float32), more.astype(np.float32)


def bootstrap(
    predicted: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int
) -> dict[str, np.ndarray]:
    """The error of micro F1 and of imparity in each resample: metric -> replicates × models.

    `predicted` is 0/1, models × rows. Rows are drawn with replacement within their group, the same
    for all models, so that errors of different models may be averaged or subtracted replicate by
    replicate. A group of n rows, c of them selected, is drawn with rate (c + 2) / (n + 4), "plus
    four" (Agresti and Coull 1998): a group of which nobody is selected might have had somebody. An
    error is the figure of the resample − the figure of what it is drawn from. Micro F1 is the share
    of correct rows, as each row has one class; the four have no label and take no part in it.
    """
    present = [rows for g in range(groups) if len(rows := np.flatnonzero(group == g))]
    rates = np.empty((REPLICATES, len(predicted), len(present)))
    drawn_from = np.empty((len(predicted), len(present)))
    correct, drawn = np.zeros((REPLICATES, len(predicted))), np.zeros((REPLICATES, 1))
    for g, rows in enumerate(present):
        selected = predicted[:, rows].T.astype(np.float32)  # rows × models
        right = (predicted[:, rows] == y[rows]).T.astype(np.float32)
        drawn_from[:, g] = (predicted[:, rows].sum(axis=1) + MORE) / (len(rows) + 2 * MORE)
        start = 0
        for weights, more in resamples(g, len(rows)):
            part = slice(start, start + len(weights))
            rates[part, :, g] = (weights @ selected + more[:, 1:]).astype(float) / len(rows)
            correct[part] += weights @ right
            drawn[part] += weights.sum(axis=1, keepdims=True)
            start += len(weights)
    return {
        "micro_f1": correct / np.maximum(drawn, 1) - np.mean(predicted == y, axis=1),
        "imparity": average_gap(sum_of_gaps(rates), len(present))
        - average_gap(sum_of_gaps(drawn_from), len(present)),
    }


def interval(observed: float, errors: np.ndarray, *, fair: bool = False) -> tuple[float, float]:
    """A 95 % interval of a share or an imparity, from its errors e in resamples: a bootstrap
    percentile interval whose lower end is corrected for bias,

        [observed + e(2.5 %) − 2b,  observed + e(97.5 %)],  b = mean e,

    within 0 and 1. A resample is above what is observed by b, and what is observed is above the
    truth by about as much: the lower end is corrected for both. The upper end is not: where groups
    are told apart better than it seems, what is observed is not above the truth. With `fair`, an
    exactly fair predictor is not ruled out, and the interval starts at 0.

    In simulated tests of 600 models (tests/infofair/test_uncertainty.py) it holds the truth in 91
    to 99 %: most often for Adult's intersection, least often for COMPAS' race, one of whose groups
    has three rows.
    """
    low, high = observed + np.percentile(errors, LEVELS)
    least = 0.0 if fair else low - 2 * errors.mean()
    return float(np.clip(least, 0, 1)), float(np.clip(high, 0, 1))


# -- an exactly fair predictor --------------------------------------------------------------------


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


def null_quantile(rate: float, sizes: np.ndarray) -> tuple[float, float]:
    """The 95 % quantiles of both imparities of such a predictor, by simulation.

    The floor is what to expect of it; below this quantile, one model cannot be told from it.
    """
    present = sizes[sizes > 0]
    rng = np.random.default_rng(SEED)
    totals = sum_of_gaps(rng.binomial(present, rate, (DRAWS, len(present))) / present)
    total, m = np.quantile(totals, 1 - SIGNIFICANT), len(present)
    return float(average_gap(total, m)), float(average_gap_released(total, m, len(sizes)))


def null_largest_gap(rate: float, sizes: np.ndarray) -> float:
    """The 95 % quantile of max A − min A if A = Binomial(n, rate) / n in each group of n rows.

    The demographic parity difference of an exactly fair predictor; with the true positive rate and
    the groups' positives, its equal opportunity difference. Groups of no rows take no part; 0 if
    fewer than two are left. Computed, not drawn, for the rate to four digits: the least gap that is
    exceeded in at most 5 %, or up to 1e-6 more, so that this gap itself is not above.
    """
    return _null_gap((_null(rate, sizes),))


def null_odds_gap(tpr: float, fpr: float, positives: np.ndarray, negatives: np.ndarray) -> float:
    """The same for equalised odds: of the larger of both gaps, of true and false positive rates.

    Whatever the group, ŷ ~ Bernoulli(tpr) where y = 1 and Bernoulli(fpr) where y = 0. The gaps are
    of different rows, hence independent: P(the larger ≤ d) is the product of theirs.
    """
    return _null_gap((_null(tpr, positives), _null(fpr, negatives)))


def _null(rate: float, sizes: np.ndarray) -> tuple[float, tuple[int, ...]]:
    """A key: groups in another order, or empty ones, make no difference."""
    return round(float(rate), DIGITS), tuple(sorted(int(n) for n in sizes if n > 0))


@lru_cache(maxsize=4096)
def _null_gap(each: tuple[tuple[float, tuple[int, ...]], ...]) -> float:
    """The quantile of the largest of some independent gaps, by halving."""
    gaps = [_gap_distribution(rate, sizes) for rate, sizes in each if len(sizes) > 1]

    def enough(d: float) -> bool:
        return bool(np.prod([at_most(d) for at_most in gaps]) >= 1 - SIGNIFICANT)

    low, high = 0.0, 1.0
    if enough(low):
        return low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _gap_distribution(rate: float, sizes: tuple[int, ...]) -> Callable[[float], float]:
    """d -> P(max A − min A ≤ d) over groups of A = Binomial(n, rate) / n.

    If a is the lowest then all are in [a, a + d], but not all above a:

        P(gap ≤ d) = Σ_a  Π_g P(a ≤ A_g ≤ a + d)  −  Π_g P(a < A_g ≤ a + d)

    over the values a that any A has, but for those further than six standard deviations and twelve
    rows from the mean, which have less than 1e-8.
    """
    n = np.array(sizes)[:, None]
    reach = 6 * np.sqrt(n * rate * (1 - rate)) + 12
    least, most = np.maximum(n * rate - reach, 0).astype(int), np.minimum(n * rate + reach, n)
    counts = least + np.arange(int((most - least).max()) + 2) - 1  # from below the least
    F = np.where(counts < 0, 0.0, bdtr(counts.clip(0, n), n, rate))
    starts = F.shape[1] * np.arange(len(F))[:, None]
    a = np.unique((counts / n)[(counts >= least) & (counts <= most)])

    def up_to(selected: np.ndarray) -> np.ndarray:
        """F_g of a number of rows that may be off by a rounding error: groups × a."""
        places = (np.floor(selected + 1e-9).astype(int) - least + 1).clip(0, F.shape[1] - 1)
        return F.ravel()[starts + places]

    not_above, below = up_to(n * a), up_to(n * a - 2e-9)

    def at_most(d: float) -> float:
        end = up_to(n * (a + d))
        return float(np.sum(np.prod(end - below, axis=0) - np.prod(end - not_above, axis=0)))

    return at_most


def permutation_test(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """p of the models' mean imparity if the groups are permuted over the rows: is there any bias?

    `predicted` is 0/1, models × rows. Every permutation leaves each row's predictions together, so
    the test is exact for one model and for the mean over seeds, however alike the seeds are.
    p = (1 + the permutations with as much imparity or more) / (1 + all), of 10,000 or of as many as
    it takes to find 500 (Besag and Clifford 1991). Rows of which all models say the same are
    alike, so a permutation is a table of such patterns by groups with given sums: the patterns are
    dealt to the groups one after another, each hypergeometric. Both imparities have the same p, one
    being an increasing linear function of the other.
    """
    patterns, which, counts = np.unique(
        predicted.T.astype(np.int8), axis=0, return_inverse=True, return_counts=True
    )  # patterns × models
    sizes = np.bincount(group, minlength=groups)
    table = np.bincount(which.ravel() * groups + group, minlength=len(patterns) * groups)
    selected = patterns.T @ table.reshape(len(patterns), groups)[:, sizes > 0]
    sizes = sizes[sizes > 0]
    observed = sum_of_gaps(selected / sizes).mean()
    rng = np.random.default_rng(SEED)
    drawn = as_much = 0
    while drawn < DRAWS and as_much < ENOUGH:
        batch = min(BATCH, DRAWS - drawn)
        permuted = permuted_tables(rng, patterns, counts, np.tile(sizes, (batch, 1)))
        found = sum_of_gaps(permuted / sizes).mean(axis=1)
        as_much += int(np.sum(found >= observed - 1e-12))
        drawn += batch
    return (1 + as_much) / (1 + drawn)


def permuted_tables(
    rng: np.random.Generator, patterns: np.ndarray, counts: np.ndarray, left: np.ndarray
) -> np.ndarray:
    """How many of each group each model selects, with `left` places: draws × models × groups."""
    selected = np.zeros((len(left), patterns.shape[1], left.shape[1]), np.int64)
    order = np.argsort(counts, kind="stable")  # small ones are dealt fast, the largest is the rest
    for pattern in order[:-1]:
        dealt = deal(rng, int(counts[pattern]), left)
        left = left - dealt
        selected[:, patterns[pattern] == 1] += dealt[:, None]
    selected[:, patterns[order[-1]] == 1] += left[:, None]
    return selected


def deal(rng: np.random.Generator, rows: int, left: np.ndarray) -> np.ndarray:
    """Rows to places of groups, at random: draws × groups, of as many places `left`."""
    dealt = np.zeros_like(left)
    others, remaining = left.sum(axis=1), np.full(len(left), rows)
    for g in range(left.shape[1]):
        others = others - left[:, g]
        dealt[:, g] = rng.hypergeometric(left[:, g], others, remaining)
        remaining = remaining - dealt[:, g]
    return dealt


def holm(p: np.ndarray) -> np.ndarray:
    """p corrected for being one of a family (Holm 1979): no more than 5 % of families have any
    false one below 0.05.

    The i-th lowest of m becomes the largest of (m − j + 1) p₍ⱼ₎ over j ≤ i, at most 1. NaN is no
    member.
    """
    p = np.asarray(p, float)
    corrected = np.full(p.shape, np.nan)
    members = np.flatnonzero(~np.isnan(p))
    order = members[np.argsort(p[members], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return corrected
