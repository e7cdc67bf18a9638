"""GDP against its formula group by group, its closed form for two groups, and a plain loop."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from infofair.methods.gdp import GDP
from tests import steps
from tests.steps import minibatch, value_and_gradient

METHOD = GDP(learning_rate=1e-3)
seeds = st.integers(0, 1000)


def gdp(p: Tensor, y: Tensor, s: Tensor) -> Tensor:
    """Σ_s p(s) |m_s − m| over the groups that occur."""
    gaps = [
        (s == group).double().mean() * (p[s == group].mean() - p.mean()) for group in s.unique()
    ]
    return torch.stack(gaps).abs().sum()


@given(seeds, st.integers(2, 6))
@settings(max_examples=25)
def test_the_value_is_that_of_a_loop_over_groups(seed: int, groups: int) -> None:
    logits, batch = minibatch(seed, groups, rows=10)  # few rows: groups are often absent
    p = logits.softmax(1)[:, 1]
    found, _ = value_and_gradient(METHOD, p, batch)
    for r in range(len(p)):
        members = [[i for i in range(10) if batch.s[r, 0, i] == group] for group in range(groups)]
        mean = sum(p[r].tolist()) / 10
        total = sum(
            len(rows) / 10 * abs(sum(float(p[r, i]) for i in rows) / len(rows) - mean)
            for rows in members
            if rows
        )
        assert float(found[r]) == pytest.approx(total, abs=1e-12)


@given(seeds)
@settings(max_examples=25)
def test_with_two_groups_it_is_the_gap_weighted_by_how_common_they_are(seed: int) -> None:
    logits, batch = minibatch(seed)
    p = logits.softmax(1)[:, 1]
    found, _ = value_and_gradient(METHOD, p, batch)
    for value, scores, s in zip(found, p.numpy(), batch.s[:, 0].numpy(), strict=True):
        gap = scores[s == 1].mean() - scores[s == 0].mean()
        assert float(value) == pytest.approx(2 * s.mean() * (1 - s.mean()) * abs(gap), abs=1e-12)


@pytest.mark.parametrize("groups", [2, 3, 6])
def test_objective_and_gradient_are_those_of_the_formula(groups: int) -> None:
    for seed in range(5):
        steps.assert_objective_is(METHOD, gdp, *minibatch(seed, groups, rows=12))


@given(seeds)
@settings(max_examples=5)
def test_the_gradient_agrees_with_finite_differences(seed: int) -> None:
    logits, batch = minibatch(seed, groups=3, rows=8)
    p, step = logits.softmax(1)[:, 1], 1e-6
    _, by_p = value_and_gradient(METHOD, p, batch)
    for i in range(8):
        moved = torch.zeros_like(p)
        moved[:, i] = step
        up, down = (value_and_gradient(METHOD, p + sign * moved, batch)[0] for sign in (1, -1))
        torch.testing.assert_close(by_p[:, i], (up - down) / (2 * step), atol=1e-7, rtol=1e-6)


def test_a_minibatch_of_one_group_has_no_penalty_and_no_gradient() -> None:
    logits, batch = minibatch(0, groups=3)
    batch.s[:] = 2
    value, by_p = value_and_gradient(METHOD, logits.softmax(1)[:, 1], batch)
    torch.testing.assert_close(value, torch.zeros_like(value))
    torch.testing.assert_close(by_p, torch.zeros_like(by_p))


@given(seeds, st.permutations(range(4)))
@settings(max_examples=25)
def test_the_groups_names_do_not_matter(seed: int, names: list[int]) -> None:
    logits, batch = minibatch(seed, groups=4)
    p = logits.softmax(1)[:, 1]
    value, by_p = value_and_gradient(METHOD, p, batch)
    batch.s = torch.tensor(names)[batch.s]
    renamed, by_renamed = value_and_gradient(METHOD, p, batch)
    torch.testing.assert_close(renamed, value)
    torch.testing.assert_close(by_renamed, by_p)


def test_it_is_defined_for_any_number_of_groups() -> None:
    assert all(METHOD.handles(groups) for groups in range(2, 20))


def test_the_batched_pass_agrees_with_the_plain_loop() -> None:
    steps.assert_trains_as_plainly(METHOD, gdp)
