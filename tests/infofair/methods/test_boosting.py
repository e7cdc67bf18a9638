"""Boosted trees by what follows from their definition."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from infofair.methods.boosting import Boosting
from infofair.training.solve import task_of
from tests.simulated import prepared

TASK = task_of(prepared(600), "gender")
X, Y = TASK.X["train"], TASK.y["train"]


def predicted(**knobs: float) -> np.ndarray:
    return Boosting(**knobs).fit(TASK, 0).predict(X)  # type: ignore[arg-type]


@pytest.mark.parametrize("leaves", [2, 4])
def test_one_tree_has_as_many_values_as_leaves(leaves: int) -> None:
    assert len(np.unique(predicted(rounds=1, leaves=leaves))) == leaves


def test_without_a_step_everybody_has_the_base_rate() -> None:
    assert predicted(rounds=1, shrinkage=1e-12) == pytest.approx(Y.mean())


def test_every_round_fits_the_training_rows_better() -> None:
    losses = [log_loss(Y, predicted(rounds=rounds)) for rounds in (1, 5, 20)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.8 * losses[0]
