"""MinDiff against the golden value, double loops, autograd, a plain loop, and the authors' MMD."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from infofair.data.prepared import ALL, Prepared
from infofair.methods.base import Network, Outputs, Penalty, Stacked
from infofair.methods.mindiff import MinDiff
from infofair.methods.vanilla import Vanilla
from tests import steps
from tests.steps import minibatch, run, value_and_gradient

METHOD = MinDiff(learning_rate=1e-3, kernel_length=0.1)
GENDER = ("gender",)


def mmd(p: Tensor, y: Tensor, s: Tensor, length: float = METHOD.kernel_length) -> Tensor:
    """MMD² of the scores of both groups' negatives, mean by mean."""
    a, b = (p[(y == 0) & (s == group)] for group in (0, 1))
    if not len(a) or not len(b):
        return p.sum() * 0

    def kernel(u: Tensor, v: Tensor) -> Tensor:
        return torch.exp(-((u[:, None] - v[None, :]) ** 2) / length**2).mean()

    return kernel(a, a) + kernel(b, b) - 2 * kernel(a, b)


def test_the_value_is_tensorflow_model_remediations() -> None:
    rng = np.random.default_rng(0)
    p = torch.from_numpy(rng.random((40, 1)).astype(np.float32)).T
    s = torch.from_numpy((rng.random((40, 1)) < 0.4).astype(np.int64)).T[None]
    batch = Stacked(torch.zeros_like(s), s, 2, None, None, torch.ones(1), 0, torch.zeros(1, 2, 2))
    value, _ = value_and_gradient(METHOD, p, batch)
    assert float(value) == pytest.approx(0.0982497, abs=1e-6)


@given(st.integers(0, 1000), st.floats(0.02, 2))
@settings(max_examples=25)
def test_the_value_is_that_of_a_double_loop_over_negatives(seed: int, length: float) -> None:
    logits, batch = minibatch(seed, rows=12)
    p = logits.softmax(1)[:, 1]
    found, _ = value_and_gradient(MinDiff(kernel_length=length), p, batch)
    for r in range(len(p)):
        rows = [i for i in range(12) if batch.y[r, 0, i] == 0]
        sizes = [sum(int(batch.s[r, 0, i]) == group for i in rows) for group in (0, 1)]
        total = 0.0
        for i in rows if all(sizes) else []:
            for j in rows:
                groups = int(batch.s[r, 0, i]), int(batch.s[r, 0, j])
                sign = 1 if groups[0] == groups[1] else -1
                kernel = np.exp(-((float(p[r, i]) - float(p[r, j])) ** 2) / length**2)
                total += sign * kernel / (sizes[groups[0]] * sizes[groups[1]])
        assert float(found[r]) == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_objective_and_gradient_are_those_of_the_formula(seed: int) -> None:
    steps.assert_objective_is(METHOD, mmd, *minibatch(seed))


@pytest.mark.parametrize("absent", [0, 1])
def test_a_minibatch_without_a_groups_negatives_has_no_penalty_and_no_gradient(absent: int) -> None:
    logits, batch = minibatch(0)
    batch.y[1, 0, batch.s[1, 0] == absent] = 1
    p = logits.softmax(1)[:, 1]
    value, by_p = value_and_gradient(METHOD, p, batch)
    assert value[1] == 0
    assert not by_p[1].any()
    assert value[0] > 0 < value[2]
    steps.assert_objective_is(METHOD, mmd, logits, batch)


def test_positives_have_no_gradient() -> None:
    logits, batch = minibatch(1)
    _, by_p = value_and_gradient(METHOD, logits.softmax(1)[:, 1], batch)
    assert not by_p[batch.y[:, 0] == 1].any()
    assert by_p[batch.y[:, 0] == 0].all()


def test_it_is_defined_for_two_groups_only() -> None:
    assert [groups for groups in range(1, 7) if METHOD.handles(groups)] == [2]


@pytest.mark.parametrize("block", [METHOD.block, 32])
def test_the_batched_pass_agrees_with_the_plain_loop(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MinDiff, "block", block)  # 70 validation rows: one block, or three
    steps.assert_trains_as_plainly(METHOD, mmd, GENDER)


# -- the authors' MMD ---------------------------------------------------------------------------


def authors_mmd(p: Tensor, y: Tensor, s: Tensor) -> Tensor:
    """The unbiased MMD² of a joint kernel matrix, given the n₀ × n₁ one between the groups."""
    a, b = (p[(y == 0) & (s == group)] for group in (0, 1))
    m, n = len(a), len(b)
    if m < 2 or n < 2:
        return p.sum() * 0
    kernel = torch.exp(-(1e-5 + (a[:, None] - b[None, :]) ** 2) / 100)
    first, second, across = kernel[:m, :m], kernel[m:, m:], kernel[:m, m:]
    within = (first.sum() - first.diagonal().sum()) / (m * (m - 1))
    within = within + (second.sum() - second.diagonal().sum()) / (n * (n - 1))
    return within - 2 * across.sum() / (m * n)


class Authors(Penalty):
    """Their penalty; model by model, as its shapes depend on the rows."""

    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        raise NotImplementedError

    def values(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        return Vanilla().values(out, batch) | {"F": torch.zeros_like(batch.alpha)}

    def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
        with torch.enable_grad():
            leaf = p.detach().requires_grad_()
            rows = zip(leaf, batch.y[:, 0], batch.s[:, 0], strict=True)
            total = torch.stack([authors_mmd(*row) for row in rows]).sum()
            (by_p,) = torch.autograd.grad(total, leaf)
        return by_p


@pytest.mark.real
@pytest.mark.slow
def test_with_the_authors_mmd_training_is_vanillas(
    real_data: Callable[[str], Prepared],
) -> None:
    data = real_data("adult")

    def trained(method: Network, setting: str) -> list[np.ndarray]:
        found = run(method, (setting,), alphas=(0.1,), hidden=(32,), data=data, batch_size=128)
        return [model.probabilities["test"] for model in found.values()]

    vanilla = trained(Vanilla(learning_rate=1e-3), ALL)
    ours, authors = (trained(m, "gender") for m in (METHOD, Authors(learning_rate=1e-3)))
    for mine, theirs, without in zip(ours, authors, vanilla, strict=True):
        assert np.abs(theirs - without).max() < 0.005
        assert np.abs(mine - without).max() > 0.05


@given(st.integers(0, 1000), st.floats(0.02, 2), st.integers(300, 700))
@settings(max_examples=15, deadline=None)
def test_many_rows_have_the_gradient_of_their_pairs(seed: int, length: float, rows: int) -> None:
    # more rows than the kernel is written out for: a cosine series in its place
    logits, batch = minibatch(seed, rows=rows)
    p = logits.softmax(1)[:, 1]
    method = MinDiff(kernel_length=length)
    found = method.penalty_gradient(p, batch)
    for r in range(len(p)):
        own = p[r].clone().requires_grad_()
        mmd(own, batch.y[r, 0], batch.s[r, 0], length).backward()
        assert own.grad is not None
        assert torch.allclose(found[r], own.grad, atol=1e-8)  # a group's share is float32
