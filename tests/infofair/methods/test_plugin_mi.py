"""The plug-in mutual information against the metric, entropies, autograd and a plain loop."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from infofair.methods.plugin_mi import PluginMI
from infofair.metrics import mutual_information
from tests import steps
from tests.steps import minibatch, value_and_gradient

METHOD = PluginMI(learning_rate=1e-3)
seeds = st.integers(0, 1000)


def information(p: Tensor, y: Tensor, s: Tensor) -> Tensor:
    """Σ p(c, g) log [p(c, g) / (p(c) p(g))] over the classes and the groups that occur."""
    total = p.sum() * 0
    for q in (p, 1 - p):
        for group in s.unique():
            joint = (q * (s == group)).mean()
            total = total + joint * (joint / (q.mean() * (s == group).double().mean())).log()
    return total


def entropy(*shares: float) -> float:
    return -sum(share * math.log(share) for share in shares if share > 0)


@given(seeds, st.integers(2, 6))
@settings(max_examples=25)
def test_of_decisions_it_is_the_metric_in_nats(seed: int, groups: int) -> None:
    logits, batch = minibatch(seed, groups, rows=10)  # few rows: groups of one class, or absent
    decided = logits[:, 1] > logits[:, 0]
    found, by_p = value_and_gradient(METHOD, decided.double(), batch)
    assert by_p.isfinite().all()
    for value, predicted, s in zip(found, decided.numpy(), batch.s[:, 0].numpy(), strict=True):
        expected = mutual_information(predicted, s, groups) * math.log(2)
        assert float(value) == pytest.approx(expected, abs=1e-12)


@given(seeds)
@settings(max_examples=25)
def test_it_is_the_entropy_that_the_group_takes_away(seed: int) -> None:
    # I(ŷ; s) = H(ŷ) − H(ŷ | s)
    logits, batch = minibatch(seed, groups=3)
    p = logits.softmax(1)[:, 1]
    found, _ = value_and_gradient(METHOD, p, batch)
    for value, scores, s in zip(found, p.numpy(), batch.s[:, 0].numpy(), strict=True):
        left = 0.0
        for group in np.unique(s):
            mean = scores[s == group].mean()
            left += (s == group).mean() * entropy(mean, 1 - mean)
        mean = scores.mean()
        assert float(value) == pytest.approx(entropy(mean, 1 - mean) - left, abs=1e-12)


def test_it_is_zero_if_and_only_if_all_groups_have_the_same_mean() -> None:
    _, batch = minibatch(0, groups=3, rows=6, models=2)
    batch.s[:] = torch.tensor([0, 0, 1, 1, 2, 2])
    same, other = [0.1, 0.5, 0.2, 0.4, 0.3, 0.3], [0.1, 0.5, 0.2, 0.4, 0.3, 0.4]
    p = torch.tensor([same, other], dtype=torch.float64)
    value, by_p = value_and_gradient(METHOD, p, batch)
    assert float(value[0]) == pytest.approx(0, abs=1e-12)
    torch.testing.assert_close(by_p[0], torch.zeros_like(by_p[0]), atol=1e-12, rtol=0)
    assert float(value[1]) > 1e-4


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_certain_predictions_have_no_infinite_gradient(certain: float, kind: torch.dtype) -> None:
    _, batch = minibatch(0, groups=3)
    for p in (torch.full((3, 24), certain), (batch.s[:, 0] == 0).float()):
        value, by_p = value_and_gradient(METHOD, p.to(kind), batch)
        assert value.isfinite().all()
        assert by_p.isfinite().all()


@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("rows", [1, 3, 12])
def test_objective_and_gradient_are_those_of_the_formula(groups: int, rows: int) -> None:
    for seed in range(5):
        steps.assert_objective_is(METHOD, information, *minibatch(seed, groups, rows))


@given(seeds, st.permutations(range(4)))
@settings(max_examples=25)
def test_the_names_of_groups_and_classes_do_not_matter(seed: int, names: list[int]) -> None:
    logits, batch = minibatch(seed, groups=4)
    p = logits.softmax(1)[:, 1]
    value, by_p = value_and_gradient(METHOD, p, batch)
    batch.s = torch.tensor(names)[batch.s]
    renamed, by_renamed = value_and_gradient(METHOD, 1 - p, batch)
    torch.testing.assert_close(renamed, value)
    torch.testing.assert_close(by_renamed, -by_p)


def test_it_is_defined_for_any_number_of_groups() -> None:
    assert all(METHOD.handles(groups) for groups in range(2, 20))


def test_the_batched_pass_agrees_with_the_plain_loop() -> None:
    steps.assert_trains_as_plainly(METHOD, information)
