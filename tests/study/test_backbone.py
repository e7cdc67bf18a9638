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
from study.measure import AS_IT_IS
from tests.conftest import compared, paper_params
from tests.simulated import prepared

RATES = [1e-6, 0.03, 1e30]
TRAINING: dict[str, Any] = {"epochs": 4, "patience": 4, "batch_size": 64, "weight_decay": 0.0}
SEEDS = {"split0": 0, "split1": 1, AS_IT_IS: 7}  # of each run's data, and of its models


@pytest.fixture
def chosen(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    asked = paper_params(
        backbone=TRAINING | {"steps": 1000, "learning_rates": RATES},
        comparison=compared(splits=[0, 1], seeds=[7, 8]),
    )
    path = paths.plan("backbone", "compas")
    plan = dict(plans.everything(asked))[path] | {"hidden": [8]}
    for own in plan["runs"]:
        prepared(seed=SEEDS[own["name"]]).save(Path(own["data"]))
    write_json(path, plan)
    door.main("compas")
    found: dict[str, Any] = read_json(paths.backbone("compas"))
    return found


@pytest.mark.parametrize(("run", "seed"), SEEDS.items())
def test_the_rate_is_the_one_with_most_validation_micro_f1(
    chosen: dict[str, Any], run: str, seed: int
) -> None:
    """Against the library's own networks, one after the other; nobody looks at test rows."""
    data = prepared(seed=seed)
    rows = data.split["validation"]
    own = chosen["runs"][run]
    for rate, seen in zip(RATES[:2], own["validation_micro_f1"], strict=False):
        vanilla = methods.make("vanilla", learning_rate=rate)
        assert isinstance(vanilla, Network)
        (model,) = fit(
            vanilla, data, strengths=[0.0], seeds=[seed], hidden=[8], training=Training(**TRAINING)
        ).values()
        assert seen == pytest.approx((model.predict(data.X[rows]) == data.y[rows]).mean())
    assert chosen["tried"] == RATES
    best = own["validation_micro_f1"].index(max(own["validation_micro_f1"]))
    assert own["learning_rate"] == RATES[best]


def test_every_run_has_its_own_rate(chosen: dict[str, Any]) -> None:
    assert list(chosen["runs"]) == list(SEEDS)
    assert len({own["learning_rate"] for own in chosen["runs"].values()}) == 2  # of these data


def test_a_rate_at_which_training_diverges_is_not_taken(chosen: dict[str, Any]) -> None:
    assert [own["validation_micro_f1"][2] for own in chosen["runs"].values()] == [0, 0, 0]
