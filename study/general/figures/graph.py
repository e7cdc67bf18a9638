"""Quality and gaps of decisions about nodes.

`constant` is the micro F1 of the more frequent class for everybody: a network that has no more has
learnt no decision, and its gaps say nothing.
"""

from sklearn.metrics import roc_auc_score

from infofair import metrics
from infofair.framework.sensitive import Part
from study.general.study import Figures, Measured, Outputs, Rows


def figures(outputs: Outputs, rows: Rows) -> Figures:
    y, score = rows.at("test"), outputs["test"]
    return {
        "micro_f1": float(((score > 0.5) == y).mean()),
        "constant": float(max(y.mean(), 1 - y.mean())),
        "auc": float(roc_auc_score(y, score)),
    }


def gaps(outputs: Outputs, rows: Rows, parts: list[Part]) -> Figures:
    (part,) = parts
    decided = (outputs["test"] > 0.5).astype(int)
    return {
        "imparity": metrics.imparity(decided, part.g, part.groups),
        "largest_gap": metrics.largest_gap(decided, part.g, part.groups),
    }


MEASURED = Measured(figures, gaps)
