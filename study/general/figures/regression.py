"""Gaps of predictions between groups, and the barycentre, the reference that no method may beat.

With the group known at prediction, the barycentre of the groups' distributions is the best there is
under parity (Chzhen et al. 2020), and the way to it the best at any distance of the groups from it
(Chzhen and Schreuder 2022): of the regression that it is given, and in its own distance, `w2`,
where a group counts by its rows. KS has no such theorem, and counts every pair of groups alike: by
KS methods do get ahead of it. (`w2` was added after test figures had shown that. Nothing is chosen
by it.)

Means and KS are of groups with at least FEWEST test rows (study/general/numbers.py).
"""

import numpy as np

from infofair import metrics
from infofair.barycentre import Barycentre
from infofair.framework.sensitive import Part
from study.general.numbers import kept, mean_ks, r2
from study.general.study import Figures, Measured, Outputs, Rows, Rule

AMOUNTS = (0.25, 0.5, 0.75, 1.0)  # of the way to the barycentre


def barycentre(outputs: Outputs, rows: Rows, amount: float) -> Outputs:
    """Fitted on validation rows' predictions, which need no y."""
    (known,), (asked,) = rows.s("validation"), rows.s("test")
    given = np.concatenate([outputs["validation"], outputs["test"]])
    centre = Barycentre.of(
        outputs["validation"], known.g, known.groups, between=(given.min(), given.max())
    )
    return {
        "validation": centre.transform(outputs["validation"], known.g, amount),
        "test": centre.transform(outputs["test"], asked.g, amount),
    }


def figures(outputs: Outputs, rows: Rows) -> Figures:
    return {"r2": r2(outputs["test"], rows.at("test"))}


def gaps(outputs: Outputs, rows: Rows, parts: list[Part]) -> Figures:
    """The difference of groups' means, in standard deviations of y, the largest and the mean over
    pairs; how far apart the distributions of two groups are; and how far they all are from their
    barycentre."""
    (part,) = parts
    of = kept(part.g)
    predicted, group = outputs["test"][of], part.g[of]
    return {
        "mean_gap": metrics.largest_gap(predicted, group, part.groups),
        "mean_gap_pairs": metrics.imparity(predicted, group, part.groups),  # of means, as of rates
        "ks": mean_ks(predicted, group),
        "w2": distance(outputs["test"], part),
    }


def distance(predicted: np.ndarray, part: Part) -> float:
    """√ Σ_g share_g W₂²(g, barycentre), in standard deviations of y: how far predictions move."""
    ends = (predicted.min(), predicted.max())
    fair = Barycentre.of(predicted, part.g, part.groups, between=ends).transform(predicted, part.g)
    return float(np.sqrt(np.square(fair - predicted).mean()))


MEASURED = Measured(figures, gaps, rules={"barycentre": Rule(barycentre, AMOUNTS)})
