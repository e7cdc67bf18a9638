"""Generalisation A: equal opportunity and equalised odds.

I(z; s | y = 1), and Σ p(y) I(z; s | y), in place of I(z; s). The critics, and the term that α
weighs, are of the rows of a class. The paper prints E[log q] over all rows, though its derivation
two lines above asks for the positives: the derivation is followed.

`joint` is the paper's form as it is printed, in which everybody minimises J: its critics are
trained to be wrong. What its weight decay does without them, `vanilla_decay` shows.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from infofair import grids
from infofair.data.prepared import INTERSECTION
from infofair.framework import notions
from study.general import networks
from study.general.penalties import parity_gap
from study.general.rows import of_setting
from study.general.study import VANILLA, Key, Method, Models, Outputs, Rows

# -- methods --------------------------------------------------------------------------------------


def vanilla(
    splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
) -> dict[Key, Outputs]:
    return networks.fitted(splits, strengths, steps, aware=False)


def vanilla_decay(
    splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
) -> dict[Key, Outputs]:
    return networks.fitted(splits, strengths, steps, aware=False, weight_decay=networks.DECAY)


def joint(splits: Mapping[int, Rows], strengths: Sequence[float], steps: int) -> dict[Key, Outputs]:
    return networks.printed(splits, strengths, steps, fair=notions.OPPORTUNITY)


class Fitted:
    """InfoFair's fitted form, or in its place a penalty on the same z, of a notion."""

    def __init__(self, fair: str, *, penalised: bool = False) -> None:
        self.fair, self.penalised = fair, penalised

    def __call__(
        self, splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
    ) -> dict[Key, Outputs]:
        (parts, *_) = (own.parts for own in splits.values())
        penalty = parity_gap(parts) if self.penalised else None
        return networks.fitted(splits, strengths, steps, fair=self.fair, penalty=penalty)


# -- what the rule of the grids sees ---------------------------------------------------------------


class Look:
    """The rule's micro F1 and constant; in place of imparity, that of the rates of some classes.

    Of true positive rates for the positives alone; of two classes, the larger one.
    """

    def __init__(self, *classes: int) -> None:
        self.classes = classes

    def __call__(self, outputs: Outputs, rows: Rows) -> grids.Row:
        (part,) = rows.s("validation")
        y, decided = rows.at("validation"), outputs["validation"] > 0.5
        found = grids.look(outputs["validation"], y, part.g)
        gaps = [apart(decided[y == own], part.g[y == own]) for own in self.classes]
        return found | {"imparity": max(gaps)}


def apart(decided: np.ndarray, group: np.ndarray) -> float:
    """How far apart the rates of two rows' groups are, on average over rows of different groups.

    The largest gap is a small group's: on the validation rows of one split it is noise, and the
    strengths that it chooses are, too.
    """
    members = np.bincount(group)
    rates = np.bincount(group, decided) / np.maximum(members, 1)
    pairs = np.outer(members, members)
    np.fill_diagonal(pairs, 0)
    return float((np.abs(rates[:, None] - rates) * pairs).sum() / max(pairs.sum(), 1))


MODELS = Models(
    settings={
        "compas": (INTERSECTION,),
        "adult": (INTERSECTION, "gender"),
        "dutch": (INTERSECTION,),
    },
    rows=of_setting,
    methods={
        VANILLA: Method(vanilla, strength=False),
        "vanilla_decay": Method(vanilla_decay, strength=False),
        "fitted_opportunity": Method(Fitted(notions.OPPORTUNITY)),
        "fitted_odds": Method(Fitted(notions.ODDS)),
        "fitted_parity": Method(Fitted(notions.PARITY)),
        "gap_opportunity": Method(Fitted(notions.OPPORTUNITY, penalised=True)),
        "gap_odds": Method(Fitted(notions.ODDS, penalised=True)),
        "joint": Method(joint),
    },
    look=Look(1),
    looks=dict.fromkeys(("fitted_odds", "gap_odds", "thresholds_odds"), Look(1, 0)),
    few={"fitted_parity": (INTERSECTION,)},
)
