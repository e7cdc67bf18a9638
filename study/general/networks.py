"""Many models of several splits in one pass of infofair/framework.

Splits have scales and rows of their own. Their rows are put below each other, and a model of split
i trains on the rows of its own, so that all strengths and splits share a pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from infofair.framework import modules, notions, outcomes, recipe, stacked
from infofair.framework.plan import Model, Penalty, Plan, Replaced
from infofair.framework.players import DIMENSIONS, Predictor
from infofair.training import batched
from infofair.training.streams import stream
from study.general.study import Key, Outputs, Rows

DRAWS = 8  # of a representation, averaged when predicting
DECAY = 0.01  # the paper's weight decay
LINEAR = Replaced(  # the critics as the paper has them
    sensitive_predictor=modules.linear_predictor, density_ratio=modules.LinearRatio
)


def printed(
    splits: Mapping[int, Rows], strengths: Sequence[float], steps: int, **given: Any
) -> dict[Key, Outputs]:
    """The paper's form as it is printed, of what `fitted` takes.

    z is what the extractor gives, q and f are linear, everybody minimises T + α (E[log q] + E[f])
    with the paper's weight decay, and the critics take no steps of their own.
    """
    usual: dict[str, Any] = {"outcome": recipe.EXTRACTED, "replaced": LINEAR, "weight_decay": DECAY}
    usual |= {"epochs": recipe.Training.epochs}  # of a decision's: as long as rivals
    return fitted(splits, strengths, steps, joint=True, **(usual | given))


def fitted(
    splits: Mapping[int, Rows], strengths: Sequence[float], steps: int, *,
    outcome: str = recipe.DECISION, fair: str = notions.PARITY, classes: int = 2,
    penalty: Penalty | None = None, joint: bool = False, replaced: Replaced | None = None,
    aware: bool = True, with_z: bool = False, **knobs: Any,
) -> dict[Key, Outputs]:  # fmt: skip
    """What models of each strength on each split predict.

    aware: whether s is known to training; with_z: whether z of the test rows is kept; steps:
    minibatches of a model at most; knobs: of the recipe, where they are others than its own.
    """
    plan = planned(
        splits, steps, outcome=outcome, fair=fair, classes=classes, penalty=penalty, joint=joint,
        replaced=replaced or Replaced(), aware=aware, **knobs,
    )  # fmt: skip
    models = [Model(seed, float(strength)) for seed in splits for strength in strengths]
    trained = stacked.train(plan, models, batched.device(None), lambda epoch, loss: None)
    return {
        (model.alpha, model.seed): predicted(own.predictor, plan, splits[model.seed], with_z=with_z)
        for model, own in trained.items()
    }


def planned(
    splits: Mapping[int, Rows], steps: int, *, outcome: str, fair: str, classes: int,
    penalty: Penalty | None, joint: bool, replaced: Replaced, aware: bool, **knobs: Any,
) -> Plan:  # fmt: skip
    each = list(splits.values())
    starts = dict(zip(splits, np.cumsum([0, *(len(rows.y) for rows in each[:-1])]), strict=True))
    of_seeds = {seed: splits[seed].split["train"] + start for seed, start in starts.items()}
    parts = [
        replace(own[0], g=np.concatenate([p.g for p in own]), c=np.concatenate([p.c for p in own]))
        for own in zip(*(rows.parts for rows in each), strict=True)
    ]
    count = len(each[0].split["train"])
    how = shortened(recipe.training(outcome, parts, count, **knobs), count, steps)
    return Plan(
        np.concatenate([rows.X for rows in each]), np.concatenate([rows.y for rows in each]),
        parts if aware else [], {"train": next(iter(of_seeds.values()))}, classes, fair, 1,
        outcome, how, replaced, penalty, joint, of_seeds,
    )  # fmt: skip


def shortened(how: recipe.Training, rows: int, steps: int) -> recipe.Training:
    """Not more minibatches than `steps`; the warm-up is shortened alike."""
    epochs = min(how.epochs, max(round(steps / -(-rows // how.batch_size)), 2))
    return replace(how, epochs=epochs, warm_up=round(how.warm_up * epochs / how.epochs))


@torch.no_grad()
def predicted(predictor: Predictor, plan: Plan, rows: Rows, *, with_z: bool = False) -> Outputs:
    """Probability of class 1, or the number, of validation and test rows.

    with_z: and what the target predictor sees of the test rows; a draw for each, if it is drawn.
    """
    found: Outputs = {}
    predictor = predictor.double()
    for part in ("validation", "test"):
        X = torch.from_numpy(rows.X[rows.split[part]]).double()
        if predictor.bottleneck is None:
            drawn = [predictor(X)]
        else:
            own = stream(0, part, on=torch.device("cpu"))
            noise = torch.randn(DRAWS, len(X), DIMENSIONS, generator=own).double()
            drawn = [predictor(X, each) for each in noise]
        found[part] = np.mean([_score(each.output, plan) for each in drawn], 0)
        if with_z and part == "test":
            found["z"] = drawn[0].representation.numpy().astype(np.float32)
    return found


def _score(output: torch.Tensor, plan: Plan) -> np.ndarray:
    if not plan.classes:
        return output[:, 0].numpy()
    return outcomes.log_odds(output)[:, 0].sigmoid().numpy()
