"""The error of predicted ratings, and what attackers read off z.

gender_above_half and age_above_half are AUC − ½ of cross-validated logistic regressions of gender
and of age ≥ 30 from z, for users whom the fairness term has not seen; …_known for those whom it
has. Attackers of the first fit on the validation users, too. There are 189 users of the first kind:
the null quantile, about .07, is the least that one split can tell, and the floor is 0.
"""

import numpy as np

from infofair.framework.sensitive import Part
from study.general.attackers import above_half
from study.general.study import Figures, Measured, Outputs, Rows


def figures(outputs: Outputs, rows: Rows) -> Figures:
    left = rows.more["test"].left
    wrong = ((outputs["test"] - left) ** 2).mean()
    return {
        "rmse": float(np.sqrt(wrong)),
        "explained": float(1 - wrong / (left**2).mean()),  # of what μ + b_i leaves
    }


def gaps(outputs: Outputs, rows: Rows, parts: list[Part]) -> Figures:
    z, seen = outputs["z.test"], rows.more["seen"]
    found = {}
    for part, more in zip(parts[1:], rows.s("validation")[1:], strict=True):
        others = outputs["z.validation"], more.g
        found[f"{part.name}_above_half"] = above_half(z[~seen], part.g[~seen], others)
        found[f"{part.name}_above_half_known"] = above_half(z[seen], part.g[seen])
    return found


MEASURED = Measured(figures, gaps)
