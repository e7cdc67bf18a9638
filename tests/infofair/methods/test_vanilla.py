"""Vanilla against scikit-learn's log loss, and without any say of the groups."""

import dataclasses

import numpy as np
import pytest
from sklearn.metrics import log_loss

from infofair.data.prepared import ALL
from infofair.methods.vanilla import Vanilla
from tests.simulated import prepared
from tests.steps import minibatch, run, same_bits


@pytest.mark.parametrize("seed", range(3))
def test_the_objective_is_the_log_loss(seed: int) -> None:
    logits, batch = minibatch(seed)
    values = Vanilla().values({"target": logits}, batch)
    assert list(values) == ["T"]
    for model, probability in enumerate(logits.softmax(1)[:, 1].numpy()):
        expected = log_loss(batch.y[model, 0].numpy(), probability, labels=[0, 1])
        assert float(values["T"][model]) == pytest.approx(expected, rel=1e-12)


def test_neither_groups_nor_strength_play_a_part() -> None:
    data = prepared(200)
    shuffled = {
        setting: np.random.default_rng(0).permutation(of) for setting, of in data.groups.items()
    }
    other = dataclasses.replace(data, groups=shuffled)
    one = run(Vanilla(), (ALL,), seeds=(0,), alphas=(0.0,), data=data)
    same = run(Vanilla(), (ALL,), seeds=(0,), alphas=(5.0,), data=other)
    assert same_bits(one[0, ALL, 0.0], same[0, ALL, 5.0])
