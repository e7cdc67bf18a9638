"""What is left of the groups in decisions, in the score, and in the representation itself.

Bits are those a fresh classifier finds on held-back test rows (infofair/framework/estimate.py): of
the score by its bins, of z by boosting, so its floor, what it finds where there is nothing, is
about 0 or below. z is one draw, and the score the mean over several: it may tell more than z does.
Boosting is slow, so there are few permutations: their 95 % quantile is nearly their largest.
"""

from infofair import metrics, scores
from infofair.framework import estimate
from infofair.framework.sensitive import Part
from study.general.study import Figures, Measured, Outputs, Rows

PERMUTATIONS = 3


def figures(outputs: Outputs, rows: Rows) -> Figures:
    y, score = rows.at("test"), outputs["test"]
    return {"micro_f1": float(((score > 0.5) == y).mean()), "auc": scores.auc(score, y)}


def gaps(outputs: Outputs, rows: Rows, parts: list[Part]) -> Figures:
    (part,) = parts
    score = outputs["test"]
    return {
        "imparity": metrics.imparity((score > 0.5).astype(int), part.g, part.groups),
        "score_bits": estimate.bits(score[:, None], part.g),
        "representation_bits": estimate.bits(outputs["z"], part.g),
    }


MEASURED = Measured(figures, gaps, permutations=PERMUTATIONS)
