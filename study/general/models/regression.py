"""Generalisation F: numbers to predict.

The paper, of ratings: a target predictor that "minimizes the mean squared error (MSE)". So T is the
squared error; z is the prediction, standardised within the minibatch.

Law school: the first year's average grade; race × gender are 16 groups, White or not × gender four.
Adult: the hours worked in a week, gender × race. Income is no feature there: it is the label of the
other task, and hours come before it, not after.

Rivals: the squared gaps of the predictions' means between groups; and of the four groups the
paper's form as it is printed, `joint`, beside what its weight decay does alone, `vanilla_decay`.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from infofair import grids
from infofair.data import dataset as datasets
from infofair.data.prepare import groups
from infofair.data.prepared import INTERSECTION
from infofair.framework import recipe
from study.general import networks
from study.general.numbers import kept, mean_ks, r2
from study.general.penalties import parity_gap
from study.general.rows import encoded, split_at_random
from study.general.study import VANILLA, Key, Method, Models, Outputs, Rows

WHITE = "white_gender"
TARGETS = {"law": "ZFYA", "adult": "hours-per-week"}


def rows(dataset: str, setting: str, frame: pd.DataFrame, seed: int) -> Rows:
    target = TARGETS[dataset]
    if setting == WHITE:
        s = pd.DataFrame({"white": frame["race"] == "White", "gender": frame["sex"]})
    else:
        numbers, _ = groups(frame, dict(datasets.load(dataset).sensitive))
        s = pd.DataFrame({setting: numbers[setting].astype(str)})
    X = encoded(dataset, frame, without={target})
    return split_at_random(X, frame[target].to_numpy(float), s, seed)


# -- methods --------------------------------------------------------------------------------------


class Fitted:
    """InfoFair's fitted form, or in its place a penalty on the same z."""

    def __init__(
        self, *, penalised: bool = False, aware: bool = True, weight_decay: float = 0.0
    ) -> None:
        self.penalised, self.aware, self.weight_decay = penalised, aware, weight_decay

    def __call__(
        self, splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
    ) -> dict[Key, Outputs]:
        (parts, *_) = (own.parts for own in splits.values())
        return networks.fitted(
            splits, strengths, steps, outcome=recipe.PREDICTION, classes=0,
            penalty=parity_gap(parts) if self.penalised else None, aware=self.aware,
            weight_decay=self.weight_decay,
        )  # fmt: skip


def joint(splits: Mapping[int, Rows], strengths: Sequence[float], steps: int) -> dict[Key, Outputs]:
    usual = recipe.DEFAULTS[recipe.PREDICTION]  # trained as long, and on minibatches as large
    same = {name: usual[name] for name in ("epochs", "batch_size")}
    return networks.printed(splits, strengths, steps, classes=0, **same)


# -- what the rule of the grids sees ---------------------------------------------------------------


def look(outputs: Outputs, rows: Rows) -> grids.Row:
    """R² for the rule's micro F1; in place of imparity, how far apart groups' distributions are."""
    (part,) = rows.s("validation")
    predicted, of = outputs["validation"], kept(part.g)
    return {
        "micro_f1": r2(predicted, rows.at("validation")),
        "imparity": mean_ks(predicted[of], part.g[of]),
        "constant": 0.0,
    }


MODELS = Models(
    settings={"law": (INTERSECTION, WHITE), "adult": (INTERSECTION,)},
    rows=rows,
    methods={
        VANILLA: Method(Fitted(aware=False), strength=False),
        "vanilla_decay": Method(Fitted(aware=False, weight_decay=networks.DECAY), strength=False),
        "fitted": Method(Fitted()),
        "gap": Method(Fitted(penalised=True)),
        "joint": Method(joint),
    },
    look=look,
    few=dict.fromkeys(("vanilla_decay", "joint"), (WHITE,)),
)
