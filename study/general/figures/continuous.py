"""Gaps in age, or in a share: between bins of it, and of the whole score.

Decisions can be equal in six bins while scores still tell the age, so there are three: the mean gap
of rates between bins, the maximal correlation of score and number (infofair/correlation.py), and
the bits that the score tells of it on held-out rows (infofair/framework/estimate.py).
"""

from infofair import metrics
from infofair.correlation import maximal
from infofair.framework.estimate import bits, cells
from infofair.framework.sensitive import Part
from study.general.models.continuous import BINS, bins
from study.general.numbers import r2
from study.general.study import Figures, Measured, Outputs, Rows


def figures(outputs: Outputs, rows: Rows) -> Figures:
    predicted, y = outputs["test"], rows.at("test")
    if y.dtype.kind == "f":
        return {"r2": r2(predicted, y)}
    return {"micro_f1": float(((predicted > 0.5) == y).mean())}


def gaps(outputs: Outputs, rows: Rows, parts: list[Part]) -> Figures:
    """Of s as it is given; bits are of all of it, gender included where that is part of it."""
    (part,) = parts
    predicted, bin = outputs["test"], bins(rows, part.c)
    found = {
        "hgr": maximal(predicted, part.c[:, 0]),
        "bits": bits(predicted[:, None], cells(part)),
    }
    if rows.y.dtype.kind == "f":
        return {"mean_gap": metrics.largest_gap(predicted, bin, BINS)} | found
    decided = (predicted > 0.5).astype(int)
    found = {"imparity": metrics.imparity(decided, bin, BINS)} | found
    if part.groups > 1:
        found["gender_gap"] = metrics.largest_gap(decided, part.g, part.groups)
    return found


MEASURED = Measured(figures, gaps)
