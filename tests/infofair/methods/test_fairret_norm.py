"""fairret's NormLoss against the package's own numbers, a loop, autograd and a plain loop."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from infofair.methods.fairret_norm import FairretNorm
from tests import steps
from tests.steps import minibatch, value_and_gradient

METHOD = FairretNorm(learning_rate=1e-3)
seeds = st.integers(0, 1000)

# p, s, groups; value and gradient by p of NormLoss(PositiveRate())(…, pred_as_logit=False) in
# double precision, made with fairret 0.1.3
PACKAGE: list[tuple[list[float], list[int], int, float, list[float]]] = [
    (
        [0.1, 0.9, 0.4, 0.6, 0.35], [0, 0, 1, 1, 1], 2, 0.1063829787234043,
        [1.018560434586, 1.018560434586, -0.754489210804, -0.754489210804, -0.754489210804],
    ),
    (
        [0.2, 0.7, 0.5, 0.3, 0.8, 0.15, 0.45], [2, 0, 1, 1, 0, 2, 2], 3, 1.1881720430107525,
        [-0.813388831079, 1.068331599029, -1.1897329171, -1.1897329171, 1.068331599029,
         -0.813388831079, -0.813388831079],
    ),
    (  # no row of group 1
        [0.2, 0.7, 0.5, 0.3], [0, 2, 2, 0], 3, 1.8235294117647058,
        [-1.660899653979, 0.692041522491, 0.692041522491, -1.660899653979],
    ),
]  # fmt: skip


def norm(p: Tensor, y: Tensor, s: Tensor) -> Tensor:
    """Σ |m_g / m − 1| over the groups that occur."""
    total = p.sum() * 0
    for group in s.unique():
        total = total + (p[s == group].mean() / p.mean() - 1).abs()
    return total


@pytest.mark.parametrize("example", PACKAGE, ids=["two", "three", "one absent"])
def test_value_and_gradient_are_the_packages(
    example: tuple[list[float], list[int], int, float, list[float]],
) -> None:
    p, s, groups, expected, by_p = example
    _, batch = minibatch(0, groups, rows=len(p), models=1)
    batch.s[0, 0] = torch.tensor(s)
    value, found = value_and_gradient(METHOD, torch.tensor([p], dtype=torch.float64), batch)
    absent = groups - len(set(s))  # for which the package adds 1 each
    assert float(value) == pytest.approx(expected - absent, abs=1e-12)
    assert found[0].tolist() == pytest.approx(by_p, abs=1e-11)


@given(seeds, st.integers(2, 6))
@settings(max_examples=25)
def test_the_value_is_that_of_a_loop(seed: int, groups: int) -> None:
    logits, batch = minibatch(seed, groups, rows=10)  # few rows: groups are often absent
    found, _ = value_and_gradient(METHOD, logits.softmax(1)[:, 1], batch)
    for value, scores, s in zip(
        found.tolist(), logits.softmax(1)[:, 1].tolist(), batch.s[:, 0].tolist(), strict=True
    ):
        mean, expected = sum(scores) / 10, 0.0
        for group in set(s):
            members = [q for q, g in zip(scores, s, strict=True) if g == group]
            expected += abs(sum(members) / len(members) / mean - 1)
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("rows", [1, 3, 12])
def test_objective_and_gradient_are_those_of_the_formula(groups: int, rows: int) -> None:
    for seed in range(5):
        steps.assert_objective_is(METHOD, norm, *minibatch(seed, groups, rows))


@given(seeds, st.floats(0.1, 1))
@settings(max_examples=25)
def test_it_is_relative(seed: int, factor: float) -> None:
    logits, batch = minibatch(seed, groups=4)
    p = logits.softmax(1)[:, 1]
    torch.testing.assert_close(
        value_and_gradient(METHOD, p * factor, batch)[0], value_and_gradient(METHOD, p, batch)[0]
    )


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


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_predictions_that_are_all_zero_have_no_infinite_gradient(kind: torch.dtype) -> None:
    _, batch = minibatch(0, groups=3)
    value, by_p = value_and_gradient(METHOD, torch.zeros(3, 24, dtype=kind), batch)
    assert value.isfinite().all()
    assert by_p.isfinite().all()


def test_the_batched_pass_agrees_with_the_plain_loop() -> None:
    steps.assert_trains_as_plainly(METHOD, norm)
