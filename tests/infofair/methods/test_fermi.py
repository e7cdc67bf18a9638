"""FERMI against the χ² information of counts, its optimum, autograd, and a plain loop."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from infofair.data.prepared import Prepared
from infofair.methods.base import Stacked
from infofair.methods.fermi import FERMI, inverse_root
from infofair.methods.plugin_mi import PluginMI
from tests import steps
from tests.simulated import prepared
from tests.steps import SETTINGS, minibatch, outputs, run, training, value_and_gradient

METHOD = FERMI(learning_rate=1e-3, critic_learning_rate=1e-2, critic_steps=2)
seeds = st.integers(0, 1000)


def information(p: np.ndarray, s: np.ndarray) -> float:
    """Σ p(c, g)² / (p(c) p(g)) − 1 over the classes and the groups that occur."""
    total = -1.0
    for q in (p, 1 - p):
        for group in np.unique(s):
            joint = (q * (s == group)).mean()
            if joint > 0:
                total += joint**2 / (q.mean() * (s == group).mean())
    return total


def with_own_shares(batch: Stacked) -> Stacked:
    """The minibatch is all there is: its shares are the training rows'."""
    counts = batch.one_hot().double().mean(2)
    batch.shares = torch.stack([counts, counts], 2) / 2
    return batch


def best_map(p: Tensor, batch: Stacked) -> Tensor:
    """√p(g) p(c | g) / p(c), R × groups × classes; any number where there is no row."""
    W = torch.full((len(p), batch.groups, 2), 0.7, dtype=torch.float64)
    for r, g in np.ndindex(len(p), batch.groups):
        mine = batch.s[r, 0] == g
        if mine.any():
            one, all_one = p[r][mine].mean(), p[r].mean()
            ratio = torch.stack([(1 - one) / (1 - all_one), one / all_one])
            W[r, g] = mine.double().mean().sqrt() * ratio
    return W


def psi(logits: Tensor, W: Tensor, batch: Stacked) -> Tensor:
    """Ψ of every model."""
    return METHOD.values({"target": logits, "W": W}, batch)["F"] / batch.alpha


# -- what it measures -----------------------------------------------------------------------------


@given(seeds, st.integers(2, 6))
@settings(max_examples=25)
def test_at_the_best_map_it_is_the_chi_squared_information(seed: int, groups: int) -> None:
    logits, batch = minibatch(seed, groups, rows=10)  # few rows: groups are often absent
    batch = with_own_shares(batch)
    p = logits.softmax(1)[:, 1]
    W = best_map(p, batch)
    found = psi(logits, W, batch)
    shannon, _ = value_and_gradient(PluginMI(), p, batch)
    for value, least, scores, s in zip(found, shannon, p, batch.s[:, 0], strict=True):
        assert float(value) == pytest.approx(information(scores.numpy(), s.numpy()), abs=1e-12)
        assert float(value) >= float(least) - 1e-12
    flat = METHOD.critic_gradients({"target": logits, "W": W}, batch)["W"]
    torch.testing.assert_close(flat, torch.zeros_like(flat), atol=1e-12, rtol=0)


@given(seeds, st.integers(2, 6), st.floats(0.01, 3))
@settings(max_examples=25)
def test_no_other_map_gives_more(seed: int, groups: int, size: float) -> None:
    logits, batch = minibatch(seed, groups)
    batch = with_own_shares(batch)
    best = best_map(logits.softmax(1)[:, 1], batch)
    other = best + size * torch.randn(best.shape, generator=torch.Generator().manual_seed(seed))
    assert (psi(logits, other, batch) <= psi(logits, best, batch)).all()


@given(seeds)
@settings(max_examples=10)
def test_it_is_zero_if_predictions_do_not_depend_on_the_group(seed: int) -> None:
    logits, batch = minibatch(seed, groups=3)
    logits[:] = logits[..., :1]
    batch = with_own_shares(batch)
    W = best_map(logits.softmax(1)[:, 1], batch)
    found = psi(logits, W, batch)
    torch.testing.assert_close(found, torch.zeros_like(found), atol=1e-12, rtol=0)
    # and then it asks nothing of the predictor
    by = METHOD.gradients({"target": logits, "W": W}, batch)["target"]
    batch.weight = batch.weight * 0
    torch.testing.assert_close(by, METHOD.gradients({"target": logits, "W": W}, batch)["target"])


def test_minibatches_do_not_bias_it() -> None:
    """The mean over minibatches of Ψ at a given W, and of its gradient by W, are those of all."""
    logits, batch = minibatch(3, groups=3, rows=24)
    batch = with_own_shares(batch)
    out = {"target": logits, "W": best_map(logits.softmax(1)[:, 1], batch) + 0.1}
    whole, by_whole = psi(logits, out["W"], batch), METHOD.critic_gradients(out, batch)["W"]
    values, gradients = [], []
    for rows in torch.arange(24).split(4):
        part = Stacked(
            batch.y[..., rows], batch.s[..., rows], 3, None, None, batch.alpha, 0, batch.shares
        )
        values.append(psi(logits[..., rows], out["W"], part))
        seen = {"target": logits[..., rows], "W": out["W"]}
        gradients.append(METHOD.critic_gradients(seen, part)["W"])
    torch.testing.assert_close(torch.stack(values).mean(0), whole)
    torch.testing.assert_close(torch.stack(gradients).mean(0), by_whole)


def test_adam_finds_the_best_map() -> None:
    logits, batch = minibatch(1, groups=3, rows=60, models=1)
    batch = with_own_shares(batch)
    W = torch.zeros(1, 3, 2, dtype=torch.float64)
    optimiser = torch.optim.Adam([W], lr=0.01)
    for _ in range(2000):
        W.grad = METHOD.critic_gradients({"target": logits, "W": W}, batch)["W"]
        optimiser.step()
    torch.testing.assert_close(W, best_map(logits.softmax(1)[:, 1], batch), atol=1e-4, rtol=0)


# -- gradients ------------------------------------------------------------------------------------


@given(seeds)
@settings(max_examples=5)
def test_the_gradients_agree_with_finite_differences(seed: int) -> None:
    out, batch = outputs(METHOD, seed, (2, 3, 4), rows=8)
    found = METHOD.gradients(out, batch)["target"], METHOD.critic_gradients(out, batch)["W"]
    step = 1e-5

    def differences(name: str, r: int, *at: int) -> tuple[float, float]:
        """Of the objective and of −Ψ."""
        ends = []
        for sign in (1, -1):
            moved = {n: t.clone() for n, t in out.items()}
            moved[name][r, *at] += sign * step
            terms = METHOD.values(moved, batch)
            ends.append((float(terms["T"][r] + terms["F"][r]), -float(terms["F"][r])))
        (up, critic_up), (down, critic_down) = ends
        return (up - down) / (2 * step), (critic_up - critic_down) / (2 * step)

    for r in range(3):
        for at in np.ndindex(2, 8):
            expected, _ = differences("target", r, *at)
            assert float(found[0][r, *at]) == pytest.approx(expected, abs=1e-7)
        for at in np.ndindex(4, 2):
            _, expected = differences("W", r, *at)
            assert float(found[1][r, *at] * batch.alpha[r]) == pytest.approx(expected, abs=1e-7)


def test_a_group_without_training_rows_has_no_part() -> None:
    logits, batch = minibatch(0, groups=3)
    batch.shares[:, 1] = 0
    batch.shares /= batch.shares.sum((1, 2), keepdim=True)
    assert not inverse_root(batch.shares)[:, 1].any()
    W = torch.rand(3, 3, 2, dtype=torch.float64)
    other = W.clone()
    other[:, 1] = 7.0
    torch.testing.assert_close(psi(logits, W, batch), psi(logits, other, batch))
    assert not METHOD.critic_gradients({"target": logits, "W": W}, batch)["W"][:, 1].any()


# -- the pass -------------------------------------------------------------------------------------


def train_plainly(
    data: Prepared, setting: str, seed: int, alpha: float, hidden: tuple[int, ...], epochs: int
) -> steps.Plain:
    """An ordinary loop with two optimisers and autograd."""
    how = training(epochs=epochs, batch_size=50)
    model = steps.plain(data, seed, hidden)
    groups = len(data.group_names[setting])
    of_rows = np.bincount(data.groups[setting][data.split["train"]], minlength=groups)
    root = torch.from_numpy(of_rows / of_rows.sum()).float().sqrt()
    W = torch.zeros(groups, 2, requires_grad=True)
    predictor = steps.adam(steps.predictor(model), METHOD.learning_rate, how)
    own = steps.adam([W], METHOD.critic_learning_rate, training(weight_decay=0.0))

    def value(p: Tensor, s: Tensor) -> Tensor:
        """Written with the matrices of the paper."""
        P_y, P_ys = torch.diag(p.mean(0)), p.T @ F.one_hot(s, groups).float() / len(s)
        return -torch.trace(W @ P_y @ W.T) + 2 * torch.trace(W @ P_ys @ torch.diag(1 / root)) - 1

    for minibatches in steps.epochs(data, setting, seed, how):
        for X, y, s in minibatches:
            logits = steps.scores(model, X)
            p = logits.softmax(1)
            ends = np.linspace(0, len(s), METHOD.critic_steps + 1).round().astype(int)
            for start, end in pairwise(ends):  # a part of the minibatch each
                own.zero_grad()
                (-value(p.detach()[start:end], s[start:end])).backward()
                own.step()
            predictor.zero_grad()
            (F.cross_entropy(logits, y) + alpha * value(p, s)).backward()
            predictor.step()
    return model


@pytest.mark.parametrize("hidden", [(8,), (8, 6)])
def test_the_pass_agrees_with_a_plain_loop_with_two_optimisers(hidden: tuple[int, ...]) -> None:
    data = prepared()
    found = run(METHOD, SETTINGS, hidden=hidden, data=data, epochs=3, batch_size=50)
    for (seed, setting, alpha), model in found.items():
        expected = train_plainly(data, setting, seed, alpha, hidden, epochs=3)
        steps.assert_predicts(model, expected, data)


def test_the_gap_shrinks_with_alpha_and_nothing_diverges() -> None:
    data = prepared(rows=3000)
    found = run(
        METHOD.with_knobs(learning_rate=3e-3), ("gender",), alphas=(0.0, 1.0, 10.0), data=data,
        epochs=40, patience=40, batch_size=256, weight_decay=0.0,
    )  # fmt: skip
    group = data.groups["gender"][data.split["validation"]]
    gaps = {}
    for (seed, _, alpha), model in found.items():
        assert all(math.isfinite(value) for row in model.curves for value in row.values())
        selected = model.probabilities["validation"] > 0.5
        assert 0.1 < selected.mean() < 0.9  # no collapse
        gaps[seed, alpha] = abs(selected[group == 1].mean() - selected[group == 0].mean())
    for seed in (0, 1):
        assert gaps[seed, 1.0] < gaps[seed, 0.0]
        assert gaps[seed, 10.0] < gaps[seed, 0.0] / 2
