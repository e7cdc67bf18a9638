"""MinDiff as released against the slices of the matrix itself, and how little it does."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from infofair.methods.base import Penalty
from study.as_run.mindiff import MinDiffMiscut
from tests import steps
from tests.infofair.methods.test_mindiff import authors_mmd
from tests.steps import minibatch

METHOD = MinDiffMiscut(learning_rate=1e-3)


@given(st.integers(0, 10_000), st.integers(1, 130))
@settings(max_examples=60)
def test_value_and_gradient_are_those_of_the_sliced_matrix(seed: int, rows: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    draw = torch.rand(3, rows, generator=generator)
    p, y, s = draw[0].requires_grad_(), (draw[1] < 0.3).long(), (draw[2] < 0.6).long()
    found = METHOD.penalty(p, y, F.one_hot(s, 2).float())
    expected = authors_mmd(p, y, s)
    assert found.item() == pytest.approx(expected.item(), abs=1e-5)
    by_p, wanted = (torch.autograd.grad(value, p)[0] for value in (found, expected))
    torch.testing.assert_close(by_p, wanted, atol=1e-7, rtol=1e-4)


def test_models_side_by_side_have_the_same_objective() -> None:
    for seed in range(3):
        steps.assert_objective_is(METHOD, authors_mmd, *minibatch(seed))


def test_its_gradient_is_nothing_beside_the_tasks() -> None:
    """128 rows of balanced groups, the paper's α: a thousandth, at any predictions."""
    for seed in range(5):
        logits, batch = minibatch(seed, rows=128)
        task = METHOD.with_knobs(bandwidth=1e9).gradients({"target": logits}, batch)["target"]
        whole = METHOD.gradients({"target": logits}, batch)["target"]
        scale = 0.1 / batch.alpha[:, None, None]
        assert float(((whole - task) * scale).norm() / task.norm()) < 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_the_closed_form_is_autograds(seed: int) -> None:
    logits, batch = minibatch(seed, rows=60)
    p = logits.softmax(1)[:, 1]
    found = METHOD.penalty_gradient(p, batch)
    torch.testing.assert_close(found, Penalty.penalty_gradient(METHOD, p, batch))
    assert found.any()
