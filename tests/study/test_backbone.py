"""The learning rate of a dataset's networks: who chooses it, and by what."""

from pathlib import Path
from typing import Any

import pytest

from infofair import fit, methods
from infofair.methods.base import Network
from infofair.storage import read_json, write_json
from infofair.training.plan import Training
from stages import backbone as door
from study import paths, plans
from tests.conftest import paper_params
from tests.simulated import prepared

RATES = [1e-6, 0.03, 1e30]
TRAINING: dict[str, Any] = {"epochs": 4, "patience": 4, "batch_size": 64, "weight_decay": 0.0}


@pytest.fixture
def chosen(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    prepared().save(paths.variant("compas", "split0"))
    backbone = TRAINING | {"steps": 1000, "learning_rates": RATES}
    plan = dict(plans.everything(paper_params(backbone=backbone)))
    path = paths.plan("backbone", "compas")
    write_json(path, plan[path] | {"hidden": [8]})
    door.main("compas")
    found: dict[str, Any] = read_json(paths.backbone("compas"))
    return found


def test_the_rate_is_the_one_with_most_validation_micro_f1(chosen: dict[str, Any]) -> None:
    """Against the library's own networks, one after the other; nobody looks at test rows."""
    data = prepared()
    rows = data.split["validation"]
    for rate, seen in zip(RATES[:2], chosen["validation_micro_f1"], strict=False):
        vanilla = methods.make("vanilla", learning_rate=rate)
        assert isinstance(vanilla, Network)
        (model,) = fit(
            vanilla, data, strengths=[0.0], seeds=[0], hidden=[8], training=Training(**TRAINING)
        ).values()
        assert seen == pytest.approx((model.predict(data.X[rows]) == data.y[rows]).mean())
    assert chosen["tried"] == RATES
    assert (
        chosen["learning_rate"]
        == 0.03
        == RATES[chosen["validation_micro_f1"].index(max(chosen["validation_micro_f1"]))]
    )


def test_a_rate_at_which_training_diverges_is_not_taken(chosen: dict[str, Any]) -> None:
    assert chosen["validation_micro_f1"][2] == 0
