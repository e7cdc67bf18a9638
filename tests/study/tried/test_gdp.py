"""GDP by the official kernel against the kernel regression row by row, and what its grid sees."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from infofair.training.streams import Authors
from study.tried.gdp import GDPByKernel, GDPInInfoFair
from tests import steps
from tests.plain import CPU
from tests.steps import minibatch, value_and_gradient

METHOD = GDPByKernel(learning_rate=1e-3, step=0.05)
COARSE = GDPByKernel(step=0.25)
seeds = st.integers(0, 1000)


def regression(p: Tensor, s: Tensor, points: tuple[float, ...]) -> float:
    """Σ_x |ŷ(x) − p̄| q(x) / Σ_x q(x), in loops."""
    rows = range(len(p))
    h = (3 * len(p) / 4) ** (-0.2)
    mean = sum(float(p[i]) for i in rows) / len(p)
    above, below = 0.0, 0.0
    for x in points:
        k = [math.exp(-((x - int(s[i])) ** 2) / h**2 / 2) for i in rows]
        local = sum(k[i] * float(p[i]) for i in rows) / sum(k)
        above, below = above + abs(local - mean) * sum(k), below + sum(k)
    return above / below


@pytest.mark.parametrize("method", [METHOD, COARSE])
@given(seed=seeds, groups=st.integers(2, 5))
@settings(max_examples=20)
def test_the_value_is_that_of_a_loop_over_grid_and_rows(
    method: GDPByKernel, seed: int, groups: int
) -> None:
    logits, batch = minibatch(seed, groups, rows=10)
    p = logits.softmax(1)[:, 1]
    found, _ = value_and_gradient(method, p, batch)
    for value, scores, s in zip(found, p, batch.s[:, 0], strict=True):
        expected = regression(scores, s, method.points(groups))
        assert float(value) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("method", [METHOD, COARSE])
@pytest.mark.parametrize("groups", [2, 3, 6])
def test_the_closed_form_is_the_gradient(method: GDPByKernel, groups: int) -> None:
    for seed in range(5):
        logits, batch = minibatch(seed, groups, rows=12)
        p = logits.softmax(1)[:, 1]
        _, expected = value_and_gradient(method, p, batch)
        torch.testing.assert_close(method.penalty_gradient(p, batch), expected)


def test_the_official_grid_hardly_sees_a_fourth_group() -> None:
    """128 rows: groups that are far apart count less the further from the grid they are."""
    s = torch.arange(128) % 4
    one_hot = torch.nn.functional.one_hot(s, 4).double()
    near, far = (
        torch.tensor(means, dtype=torch.float64)[s]
        for means in ([0.1, 0.9, 0.5, 0.5], [0.5, 0.5, 0.1, 0.9])
    )
    value = {
        name: float(GDPByKernel().penalty(p, s, one_hot))
        for name, p in (("near", near), ("far", far))
    }
    assert value["far"] < 0.5 * value["near"]


def test_heads_that_are_not_used_change_the_order_of_rows_alone() -> None:
    """The extractor and the target predictor start alike; what is drawn next differs."""
    found = []
    for method in (METHOD, GDPInInfoFair()):
        streams = Authors(3, CPU)
        sizes = {"layer0": (8, 5), "target": (2, 8)}
        if "sensitive" in method.heads:
            sizes |= {"sensitive": (2, 8), "w1": (1, 8), "w2": (1, 2)}
        found.append((streams.initial(sizes), streams.order(50)))
    (plain, order), (whole, other) = found
    for name in plain:
        assert torch.equal(plain[name], whole[name])
    assert not torch.equal(order, other)


def test_models_in_the_whole_module_are_trained_by_the_same_objective() -> None:
    """With our own streams, where each layer has its own, they are the same models."""
    data = {"settings": ("gender",), "seeds": (0,)}
    plain, whole = (steps.run(method, **data) for method in (GDPByKernel(), GDPInInfoFair()))
    for key, model in plain.items():
        for part, probabilities in model.probabilities.items():
            assert probabilities == pytest.approx(whole[key].probabilities[part], abs=1e-5)
