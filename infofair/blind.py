"""Thresholds where the group is not known: the best rule on a score and the groups' posteriors.

LinearPost's form (Xian and Zhao, "A Unified Post-Processing Framework for Group Fairness in
Classification", 2024), written from its mathematics. Of a row x are known r(x) = P(y = 1 | x) and
P(s = g | x, y), but not s. A rule h(x) in [0, 1] is then right and fair in expectation only: its
moments are

    m_g = E[h(x) w_g(x)] / E[w_g(x)]     with w_g(x) =
    parity        P(s = g | x)        = Σ_c P(y = c | x) P(s = g | x, y = c)
    opportunity   P(s = g, y = 1 | x) = r(x) P(s = g | x, y = 1)
    odds          that, and P(s = g, y = 0 | x) = (1 − r(x)) P(s = g | x, y = 0)

and the rule with fewest expected errors whose groups differ by at most ε is a linear programme,

    maximise    Σ_x (2r − 1) h
    subject to  low_m ≤ m_g ≤ low_m + ε      for every moment m and every group g that has mass,

over h and the bounds low, as in infofair/thresholds.py. With ν, the dual variables of the moments,
its optimum is a threshold of a function that is linear in the products of score and posteriors,

    h(x) = 1   if   2 r(x) − 1 > Σ_m Σ_g ν_mg w_mg(x),

so ν is all that a rule is, and rows that it was not fitted on can be decided. No label is needed.
HiGHS's dual simplex solves the programme itself: it has a row for every moment of a group (at most
24 here) and a bounded column for every row of data, which is what it is good at, and its answer is
a corner: exact, the same every time, and at most one row of data a moment is on the boundary.

The price of a row. A group that hardly shows in the posteriors, that has a fraction of an expected
row, or that shares few distinct rows with many others, could only be bound by a ν so large that the
rule is about it alone, and noise where it was not fitted. So |ν| is at most PRICE: the tolerance is
kept unless an expected row of a group within it would cost more than that many errors.
`Rule.given_up` says whether it did.

Rows on the boundary. Where many rows are alike (few distinct x) the best rule selects a share of
them. To that end 2r − 1 gets noise that is uniform within ± JITTER and drawn from SEED in the order
of the rows, so a threshold within the noise selects any share; the moments have no noise. A rule is
thus the same for the same table, but of rows that are alike it may select one and not another, and
it costs at most JITTER of expected accuracy. The few rows that are still on the boundary go where
most of their share is. Each moves a moment by at most half its weight: on the fitted rows, groups
differ by no more than the tolerance and, of each of two groups, half a row per moment of a group.
A rule that needs no ν, as the Bayes rule is fair enough, has no noise either: it is r > ½.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from infofair.errors import Problem
from infofair.thresholds import NOTIONS

JITTER = 1e-5  # far above what the solver cannot tell apart, far below what a score is good to
SEED = 0
LEAST = 1e-6  # expected rows of a group that has mass
ROUNDING = 1e-6  # what a float32 probability may be outside of 0 and 1
PRICE = 1000.0  # errors that an expected row beyond the tolerance is worth: the bound of ν
EXACT = 1e-10  # a share or a margin as small is none
# the second where the first cannot be as exact, and says so
SOLVERS: list[tuple[str, dict[str, float]]] = [
    ("highs-ds", {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}),
    ("highs-ds", {}),
]


def weights(score: np.ndarray, posterior: np.ndarray, name: str) -> np.ndarray:
    """w_g(x) of a moment (rate, tpr or fpr): rows × groups, the mass each group has in a row."""
    negative = (1 - score)[:, None] * posterior[:, :, 0]
    positive = score[:, None] * posterior[:, :, 1]
    return {"rate": negative + positive, "tpr": positive, "fpr": negative}[name]


def moments(
    chosen: np.ndarray, score: np.ndarray, posterior: np.ndarray, notion: str
) -> dict[str, np.ndarray]:
    """What a notion compares, in expectation, for every group: name -> groups; NaN without mass.

    `chosen` is 0/1 or a probability, for every row.
    """
    found = {}
    for name in NOTIONS[notion]:
        w = weights(score, posterior, name)
        mass = w.sum(0)
        found[name] = np.divide(
            chosen @ w, mass, out=np.full(len(mass), np.nan), where=mass >= LEAST
        )
    return found


@dataclass(frozen=True)
class Rule:
    """A threshold of a linear function: ν of every moment and group."""

    notion: str
    nu: np.ndarray  # moments × groups

    @property
    def given_up(self) -> bool:
        """Whether some group is beyond the tolerance, as the price of a row was reached."""
        return bool(np.abs(self.nu).max() > PRICE * (1 - 1e-6))

    def margin(self, score: np.ndarray, posterior: np.ndarray) -> np.ndarray:
        """2r − 1 − Σ ν w for every row, with the noise that tells equal rows apart."""
        score, posterior = _checked(score, posterior)
        if posterior.shape[1] != self.nu.shape[1]:
            raise Problem(f"posterior: {posterior.shape[1]} groups, the rule's {self.nu.shape[1]}")
        gain = 2 * score - 1
        if not self.nu.any():
            return gain
        names = NOTIONS[self.notion]
        asked = [weights(score, posterior, m) @ nu for m, nu in zip(names, self.nu, strict=True)]
        return gain + _noise(len(gain)) - np.sum(asked, axis=0)

    def decide(self, score: np.ndarray, posterior: np.ndarray) -> np.ndarray:
        """0 or 1 for every row (int8)."""
        return (self.margin(score, posterior) > 0).astype(np.int8)


def fit(score: np.ndarray, posterior: np.ndarray, notion: str, tolerance: float) -> Rule:
    """The rule with fewest expected errors on these rows of those that are fair to the tolerance.

    score: P(y = 1 | x) of every row; posterior: rows × groups × 2, P(s = g | x, y = c).
    """
    if notion not in NOTIONS:
        raise Problem(f"no notion {notion!r}; there are {', '.join(NOTIONS)}")
    if not 0 <= tolerance <= 1:
        raise Problem(f"tolerance = {tolerance}: expected a number between 0 and 1")
    score, posterior = _checked(score, posterior)
    nu = np.zeros((len(NOTIONS[notion]), posterior.shape[1]))
    bayes = moments(score > 0.5, score, posterior, notion)
    if all(np.nanmax(of) - np.nanmin(of) <= tolerance for of in bayes.values() if _known(of)):
        return Rule(notion, nu)
    w = np.hstack([weights(score, posterior, name) for name in NOTIONS[notion]])
    bound = w.sum(0) >= LEAST
    moment = np.repeat(np.arange(len(nu)), nu.shape[1])[bound]
    gain = 2 * score - 1 + _noise(len(score))
    nu.ravel()[bound] = _dual(gain, w[:, bound], moment, tolerance)
    return Rule(notion, nu)


def _dual(gain: np.ndarray, w: np.ndarray, moment: np.ndarray, tolerance: float) -> np.ndarray:
    """ν of every column of `w`, whose moments are numbered by `moment`.

    The programme in expected rows, w h − mass low − slack + under − over = 0 with slack within
    [0, ε mass], and a price for under and over, which is the bound of ν: entries are at most 1
    however small a group is, and a range is one constraint.
    """
    rows, columns = w.shape
    mass = w.sum(0)
    bounds = moment.max() + 1
    low = np.where(moment[:, None] == np.arange(bounds), -mass[:, None], 0)
    one = np.eye(columns)
    free = np.full(2 * columns, np.inf)
    most = np.concatenate([np.ones(rows), np.ones(bounds), tolerance * mass, free])
    prices = np.concatenate([-gain, np.zeros(bounds + columns), np.full(2 * columns, PRICE)])
    for method, options in SOLVERS:
        found = linprog(
            prices,
            A_eq=np.hstack([w.T, low, -one, one, -one]),
            b_eq=np.zeros(columns),
            bounds=np.column_stack([np.zeros(len(most)), most]),
            method=method,
            options=options,
        )
        if found.status == 0:
            return _settled(-found.eqlin.marginals, found.x[:rows], gain, w)
    # saying no to everyone is fair to any tolerance
    raise RuntimeError(f"no blind thresholds: {found.message}")


def _settled(nu: np.ndarray, h: np.ndarray, gain: np.ndarray, w: np.ndarray) -> np.ndarray:
    """ν moved by so little that only rows on the boundary change sides, each to its nearer one.

    Otherwise rounding would decide them, and not the same way on every machine. Their w are
    linearly independent, being columns of a basis, so that any margins can be had: first 0, for the
    solver's are but nearly, then as much to either side as changes no other row's.
    """
    share = (h > EXACT) & (h < 1 - EXACT)
    nu = nu + np.linalg.lstsq(w[share], (gain - w @ nu)[share], rcond=None)[0]
    margin = gain - w @ nu
    edge = share | (np.abs(margin) <= EXACT)
    if not edge.any():
        return nu
    step = np.linalg.lstsq(w[edge], np.where(h[edge] > 0.5, -1.0, 1.0), rcond=None)[0]
    moved = np.abs(w[~edge] @ step)
    room = np.abs(margin[~edge])[moved > 0] / moved[moved > 0]
    return nu + step * min(room.min(initial=1.0) / 2, JITTER)


def _noise(rows: int) -> np.ndarray:
    return JITTER * (2 * np.random.default_rng(SEED).random(rows) - 1)


def _known(values: np.ndarray) -> bool:
    return not np.isnan(values).all()


def _checked(score: np.ndarray, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As floats within 0 and 1; what is no probability is said."""
    score, posterior = np.asarray(score, float), np.asarray(posterior, float)
    expected = (len(score), posterior.shape[1] if posterior.ndim == 3 else 1, 2)
    if score.ndim != 1 or posterior.shape != expected:
        raise Problem(
            f"score {score.shape}, posterior {posterior.shape}: expected (rows,) and "
            "(rows, groups, 2)"
        )
    for name, of in (("score", score), ("posterior", posterior)):
        if not ((of >= -ROUNDING) & (of <= 1 + ROUNDING)).all():
            raise Problem(f"{name}: expected probabilities, found {of.min()} to {of.max()}")
    return score.clip(0, 1), posterior.clip(0, 1)
