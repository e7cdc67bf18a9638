"""How many bits z tells about s, by a fresh estimate on rows that were held back.

The critics' own running estimate, H(s) + E[log q] + E[f], is not shown: where they lag behind what
they criticise, it is off by its own size and more. Here a fresh classifier of s from z is fitted on
some of the held-back rows and asked about the others, each fold of them in turn:

    I(z; s) = E[log p(s|z) / p(s)]

Whatever it cannot tell it cannot count, so on average this is at most the truth, and below 0 where
there is nothing to find. z of one dimension has its bins (infofair/information.py), others a small
boosted classifier. Numbers of s are cut at their quantiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from infofair.framework.notions import ODDS, OPPORTUNITY
from infofair.framework.recipe import DECISION
from infofair.framework.sensitive import Attribute, Part, parts
from infofair.information import LEAST, held_out

FOLDS = 5
FEWEST = 40  # rows of a condition: with fewer nothing can be told
CELLS = 8  # that numbers of s are cut into at most
DOUBT = 0.02  # share of the groups' own shares in what the classifier says


@dataclass(frozen=True)
class Information:
    """Bits that z tells about s on held-back rows; NaN where there are too few of them."""

    bits: float  # of all that the critics are about
    attributes: dict[str, float] = field(default_factory=dict)  # each by itself
    outcome: str = ""  # what z is
    fair: str = ""  # on which rows
    rows: int = 0  # that were held back

    def __float__(self) -> float:
        return self.bits


def information(
    z: np.ndarray, y: np.ndarray, attributes: Sequence[Attribute], about: Sequence[Part], *,
    outcome: str, fair: str, positive: int,
) -> Information:  # fmt: skip
    """z: rows × dimensions, of the held-back rows, as are y, attributes and parts."""

    # a decision as finely as critics can tell it; other bins follow the score wherever it is
    between = (-1.0, 1.0) if outcome == DECISION else None

    def told(part: Part) -> float:
        return conditional(z, cells(part), y, fair, positive, between)

    alone = parts(attributes, "parallel")
    each = {part.name: told(part) for part in alone}
    total = sum(each[p.name] if p.name in each else told(p) for p in about)
    return Information(float(total), each, outcome, fair, len(z))


def conditional(
    z: np.ndarray, s: np.ndarray, y: np.ndarray, fair: str, positive: int = 1,
    between: tuple[float, float] | None = None,
) -> float:  # fmt: skip
    """I(z; s), I(z; s | y = 1) or Σ p(y) I(z; s | y = y), in bits."""
    if fair == OPPORTUNITY:
        return bits(z[y == positive], s[y == positive], between)
    if fair != ODDS:
        return bits(z, s, between)
    classes, counts = np.unique(y, return_counts=True)
    own = [bits(z[y == of], s[y == of], between) for of in classes]
    return float(np.average(own, weights=counts))


def bits(z: np.ndarray, s: np.ndarray, between: tuple[float, float] | None = None) -> float:
    """Every fold is asked about by the others; z: rows × dimensions, s: rows."""
    if len(z) < FEWEST:
        return float("nan")
    fold = np.random.default_rng(0).permutation(len(z)) % FOLDS
    found = []
    for asked in (fold == own for own in range(FOLDS)):
        if z.shape[1] == 1:
            fitted, tested = ({"score": z[own, 0], "s": s[own]} for own in (~asked, asked))
            found.append(held_out(fitted, tested, between=between))
        else:
            found.append(_boosted(z[~asked], s[~asked], z[asked], s[asked]))
    return float(np.mean(found))


def _boosted(z: np.ndarray, s: np.ndarray, asked: np.ndarray, truth: np.ndarray) -> float:
    """E[log p(s|z) / p(s)] in bits over the rows that are asked about."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    known = np.flatnonzero(np.bincount(s) >= LEAST)
    rows, others = np.isin(s, known), np.isin(truth, known)
    if len(known) < 2 or not others.any():
        return 0.0
    # few leaves and early stopping: with more it learns small samples by heart, and finds less
    fresh = HistGradientBoostingClassifier(
        learning_rate=0.05,
        max_leaf_nodes=4,
        min_samples_leaf=50,
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=5,
        random_state=0,
    ).fit(z[rows], s[rows])
    shares = np.bincount(np.searchsorted(known, s[rows])) / rows.sum()
    said = (1 - DOUBT) * fresh.predict_proba(asked[others]) + DOUBT * shares
    place = np.searchsorted(known, truth[others])
    ratio = said[np.arange(len(place)), place] / shares[place]
    return float(np.log2(ratio).mean())


def cells(part: Part) -> np.ndarray:
    """The group of every row, numbers cut at their quantiles: CELLS parts of one, fewer of more."""
    found = part.g.astype(np.int64)
    if part.numbers:
        each = max(2, round(CELLS ** (1 / part.numbers)))
        for values in part.c.T:
            edges = np.quantile(values, np.linspace(0, 1, each + 1)[1:-1])
            found = found * each + np.searchsorted(edges, values)
    return np.unique(found, return_inverse=True)[1].reshape(-1)
