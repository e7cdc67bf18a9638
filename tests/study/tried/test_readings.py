"""What was tried: readings can be run, are told apart, and are what they say."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from infofair.methods.adversarial import Adversarial
from infofair.methods.base import Network
from infofair.training.solve import task_of
from study.as_run import VARIANTS
from study.tried import OF_GERRYFAIR, READINGS, WHAT
from study.tried.adversarial import AdversarialGrowing
from study.tried.gerryfair import Reading, readings
from tests.simulated import prepared
from tests.steps import minibatch, run, same_bits


def test_no_name_stands_for_two_readings() -> None:
    assert WHAT.keys() == READINGS.keys() | OF_GERRYFAIR.keys()
    assert not WHAT.keys() & VARIANTS.keys()
    tried = [(repr(reading.method), reading.strength) for reading in READINGS.values()]
    assert len(set(tried)) == len(tried)


@pytest.mark.parametrize("name", READINGS)
def test_every_reading_trains_with_the_authors_streams(name: str) -> None:
    reading = READINGS[name]
    assert isinstance(reading.method, Network)
    how = {"alphas": (reading.strength,), "epochs": 1, "batch_size": 128, "streams": "authors"}
    for model in run(reading.method, seeds=(0,), **how).values():
        assert np.isfinite(model.probabilities["test"]).all()


def test_the_growing_adversary_has_the_plain_loss_and_the_root_of_t_in_its_strength() -> None:
    method = AdversarialGrowing()
    logits, batch = minibatch(0, groups=3)
    generator = torch.Generator().manual_seed(0)
    b, u = torch.randn(2, 3, 3, 1, generator=generator, dtype=torch.float64)
    found = method.each(method.adversary, {"target": logits, "bias": b, "slope": u}, batch)
    for r in range(3):
        p = logits[r].softmax(0)[1]
        loss = F.cross_entropy((b[r] + u[r] * p).T, batch.s[r, 0])
        assert float(found[r]) == pytest.approx(float(loss), rel=1e-9)
    mine, theirs = (
        {name: torch.randn(2, 3, generator=generator) for name in ("layer0", "heads", *method.free)}
        for _ in range(2)
    )
    late = method.settle(mine, theirs, torch.tensor(0.5), torch.tensor(49.0))
    usual = Adversarial().settle(mine, theirs, torch.tensor(3.5), torch.tensor(1.0))
    for name, gradient in usual.items():
        torch.testing.assert_close(late[name], gradient)


@pytest.mark.parametrize("reading", list(readings()), ids=lambda reading: reading.what)
def test_a_reading_of_gerryfair_says_0_or_1(reading: Reading) -> None:
    task = task_of(prepared(), "intersection")
    found = reading.predict(task)
    for part in ("validation", "test"):
        assert found[part].shape == task.y[part].shape
        assert np.isin(found[part], (0, 1)).all()


def test_the_readings_have_names_of_their_own() -> None:
    names = [reading.what for reading in readings()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", READINGS)
def test_a_readings_models_are_unaffected_by_their_neighbours(name: str) -> None:
    """Whoever shares a pass, so that results do not depend on the number of workers."""
    reading, data = READINGS[name], prepared(1500, 40, 5)
    how: dict[str, Any] = {
        "alphas": (reading.strength,), "epochs": 1, "batch_size": 128, "streams": "authors",
        "data": data, "hidden": (32,),
    }  # fmt: skip
    together = run(reading.method, tuple(data.settings), seeds=(0, 1), **how)
    for key in ((0, "gender", reading.strength), (1, "race", reading.strength)):
        alone = run(reading.method, (key[1],), seeds=(key[0],), **how)
        assert same_bits(alone[key], together[key])
