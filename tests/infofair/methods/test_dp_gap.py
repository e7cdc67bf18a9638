"""The parity gap against loops over pairs, the metric it stands for, autograd and a plain loop."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from infofair.methods.dp_gap import ParityGap
from infofair.metrics import imparity
from tests import steps
from tests.steps import minibatch, value_and_gradient

METHOD = ParityGap(learning_rate=1e-3)
seeds = st.integers(0, 1000)


def average_gap(p: Tensor, y: Tensor, s: Tensor) -> Tensor:
    """The mean of (m_g − m_h)² − v_g / n_g − v_h / n_h over pairs of groups with two rows or more.

    v is the sample variance: that of a mean of n rows is v / n.
    """
    members = [p[s == group] for group in s.unique() if (s == group).sum() > 1]
    gaps = [
        (a.mean() - b.mean()) ** 2 - a.var() / len(a) - b.var() / len(b)
        for a, b in combinations(members, 2)
    ]
    return torch.stack(gaps).mean() if gaps else p.sum() * 0


@given(seeds, st.integers(2, 6))
@settings(max_examples=25)
def test_the_value_is_that_of_a_loop_over_pairs_of_groups_and_rows(seed: int, groups: int) -> None:
    logits, batch = minibatch(seed, groups, rows=10)  # few rows: groups are often absent
    p = logits.softmax(1)[:, 1]
    found, _ = value_and_gradient(METHOD, p, batch)
    for value, scores, s in zip(found.tolist(), p.tolist(), batch.s[:, 0].tolist(), strict=True):
        members = [[q for q, g in zip(scores, s, strict=True) if g == group] for group in set(s)]
        gaps = []
        for a, b in combinations([rows for rows in members if len(rows) > 1], 2):
            within = [np.mean([x * y for x, y in permutations(rows, 2)]) for rows in (a, b)]
            gaps.append(sum(within) - 2 * np.mean([x * y for x in a for y in b]))
        assert value == pytest.approx(np.mean(gaps) if gaps else 0, abs=1e-12)


def test_over_minibatches_it_is_the_squared_gap_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    scores = {0: rng.random(6), 1: rng.random(5) ** 2, 2: rng.random(4) / 2}
    means = [rows.mean() for rows in scores.values()]
    expected = np.mean([(a - b) ** 2 for a, b in combinations(means, 2)])
    # every minibatch of two rows of each group, drawn with replacement
    drawn = [list(product(rows, repeat=2)) for rows in scores.values()]
    p = torch.tensor([[*a, *b, *c] for a, b, c in product(*drawn)], dtype=torch.float64)
    _, batch = minibatch(0, groups=3, rows=6, models=1)
    batch.s = torch.tensor([0, 0, 1, 1, 2, 2]).expand(len(p), 1, 6)
    batch.y = batch.y.expand(len(p), 1, 6)
    found, _ = value_and_gradient(METHOD, p, batch)
    assert float(found.mean()) == pytest.approx(expected, abs=1e-12)
    plain = [
        np.mean([(x - y) ** 2 for x, y in combinations(q.reshape(3, 2).mean(1), 2)]) for q in p
    ]
    assert np.mean(plain) > expected + 0.02  # which the noise of the means adds


@given(seeds)
@settings(max_examples=10)
def test_of_many_decisions_it_is_nearly_the_papers_imparity_squared(seed: int) -> None:
    logits, batch = minibatch(seed, groups=2, rows=4000)
    decided = (logits[:, 1] > logits[:, 0] - batch.s[:, 0]).double()
    found, _ = value_and_gradient(METHOD, decided, batch)
    for value, predicted, s in zip(found, decided.numpy(), batch.s[:, 0].numpy(), strict=True):
        assert float(value) == pytest.approx(imparity(predicted, s, 2) ** 2, abs=1e-3)


@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("rows", [1, 3, 12])
def test_objective_and_gradient_are_those_of_the_formula(groups: int, rows: int) -> None:
    for seed in range(5):
        steps.assert_objective_is(METHOD, average_gap, *minibatch(seed, groups, rows))


@given(seeds)
@settings(max_examples=5)
def test_the_gradient_agrees_with_finite_differences(seed: int) -> None:
    logits, batch = minibatch(seed, groups=3, rows=8)
    p, step = logits.softmax(1)[:, 1], 1e-5
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
    steps.assert_trains_as_plainly(METHOD, average_gap)
