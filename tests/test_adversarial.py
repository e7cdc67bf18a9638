"""Adversarial against projections by hand, autograd, and a plain loop with two optimisers."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from stages import methods
from stages.jobs import Job, Trained, Variant
from stages.methods import ALL, Batch
from stages.methods.adversarial import METHOD, Knobs
from stages.params import Training
from stages.processed import Processed
from stages.trainer import Pass
from tests import steps
from tests.plain import CPU, Plain
from tests.simulated import processed
from tests.steps import minibatch, run, training

KNOBS = Knobs(learning_rate=1e-3)
SETTINGS = ("gender", "race", "intersection")


# -- what both gradients come to ----------------------------------------------------------------


def gradients(seed: int) -> dict[str, Tensor]:
    """Of 6 models, as the trainer keeps them."""
    generator = torch.Generator().manual_seed(seed)
    shapes = {
        "layer0": (4, 5),
        "layer1": (3, 5),
        "heads": (2, 3),
        "bias": (1, 16),
        "slope": (1, 16),
    }
    return {
        name: torch.randn(6, *shape, generator=generator, dtype=torch.float64)
        for name, shape in shapes.items()
    }


def flat(gradients: dict[str, Tensor], r: int) -> np.ndarray:
    """The predictor's part of one model."""
    return torch.cat([gradients[n][r].ravel() for n in ("layer0", "layer1", "heads")]).numpy()


@given(st.integers(0, 1000), st.floats(0, 10))
@settings(max_examples=25)
def test_the_predictor_gets_its_gradient_less_the_projection_and_the_adversarys(
    seed: int, alpha: float
) -> None:
    own, theirs = gradients(seed), gradients(seed + 1)
    settled = {name: g.clone() for name, g in own.items()}
    alphas = torch.tensor([0.0, 0.1, alpha, 1.0, alpha, 2.0], dtype=torch.float64)
    METHOD.settle(settled, theirs, alphas)
    for r in range(6):
        g, a, found = flat(own, r), flat(theirs, r), flat(settled, r)
        unit = a / np.sqrt(a @ a)
        projection = np.outer(unit, unit) @ g
        strength = float(alphas[r])
        np.testing.assert_allclose(found, g - projection - strength * a, atol=1e-6)
        assert found @ a == pytest.approx(-strength * (a @ a), abs=1e-6)


def test_the_adversary_gets_its_own_gradient() -> None:
    settled, theirs = gradients(0), gradients(1)
    METHOD.settle(settled, theirs, torch.ones(6))
    for name in ("bias", "slope"):
        assert torch.equal(settled[name], theirs[name])
    assert torch.equal(theirs["heads"], gradients(1)["heads"])


def test_an_adversary_without_a_gradient_leaves_the_predictors_as_it_is() -> None:
    own, settled, theirs = gradients(0), gradients(0), gradients(1)
    for name in ("layer0", "layer1", "heads"):
        theirs[name][5] = 0
    METHOD.settle(settled, theirs, torch.ones(6))
    assert np.array_equal(flat(settled, 5), flat(own, 5))
    assert not np.array_equal(flat(settled, 4), flat(own, 4))


# -- the adversary ------------------------------------------------------------------------------


def adversary_loss(logits: Tensor, bias: Tensor, slope: Tensor, s: Tensor) -> Tensor:
    """L_A of one model; logits are rows × classes, bias and slope have an entry per group."""
    prediction = logits.softmax(1)[:, 1]
    centred = prediction - prediction.mean()
    return F.cross_entropy(bias + slope * centred[:, None], s)


def players(seed: int) -> tuple[dict[str, Tensor], Batch, tuple[int, ...]]:
    """Three models, of settings with 2, 3 and 4 groups."""
    counts = (2, 3, 4)
    logits, batch = minibatch(seed, groups=4)
    generator = torch.Generator().manual_seed(seed)
    batch.s %= torch.tensor(counts)[:, None, None]
    out = {"target": logits}
    for name in ("bias", "slope"):
        out[name] = torch.randn(3, 4, 1, generator=generator, dtype=torch.float64)
    absent = torch.arange(4) >= torch.tensor(counts)[:, None]
    batch.mask = torch.zeros(3, 4, 1).masked_fill(absent[..., None], -math.inf)
    return out, batch, counts


@pytest.mark.parametrize("seed", range(5))
def test_the_opponents_gradient_is_autograds(seed: int) -> None:
    out, batch, counts = players(seed)
    found = METHOD.opponent(out, batch, KNOBS)
    for r, groups in enumerate(counts):
        logits = out["target"][r].T.clone().requires_grad_()
        bias, slope = (out[n][r, :groups, 0].clone().requires_grad_() for n in ("bias", "slope"))
        adversary_loss(logits, bias, slope, batch.s[r, 0]).backward()
        torch.testing.assert_close(found["target"][r], logits.grad.T)
        for name, leaf in (("bias", bias), ("slope", slope)):
            torch.testing.assert_close(found[name][r, :groups, 0], leaf.grad)
            assert not found[name][r, groups:].any()


@pytest.mark.parametrize("seed", range(5))
def test_the_terms_are_both_players_losses_and_the_gradient_the_first_ones(seed: int) -> None:
    out, batch, counts = players(seed)
    terms, by = METHOD.objective(out, batch, KNOBS), METHOD.gradients(out, batch, KNOBS)
    assert set(by) == {"target"}
    for r, groups in enumerate(counts):
        logits = out["target"][r].T.clone().requires_grad_()
        task = F.cross_entropy(logits, batch.y[r, 0])
        task.backward()
        bias, slope = (out[name][r, :groups, 0] for name in ("bias", "slope"))
        adversary = adversary_loss(logits.detach(), bias, slope, batch.s[r, 0])
        torch.testing.assert_close(terms["T"][r], task.detach())
        torch.testing.assert_close(terms["A"][r], -batch.alpha[r] * adversary)
        torch.testing.assert_close(by["target"][r], logits.grad.T)


def test_early_stopping_watches_the_first_players_loss_alone() -> None:
    out, batch, _ = players(0)
    terms = METHOD.objective(out, batch, KNOBS)
    assert torch.equal(METHOD.watched(terms), terms["T"])


def test_the_adversary_starts_at_zero_and_the_predictor_where_vanilla_does() -> None:
    def start(method: str, setting: str) -> Pass:
        job = Job(methods.load(method), KNOBS, [8, 6], training())
        models = [Trained(seed, Variant(setting, 0.1)) for seed in (0, 1)]
        return Pass(job, processed(), models, CPU)

    ours, vanilla = start("adversarial", "race"), start("vanilla", ALL)
    for name, parameter in ours.parameters.items():
        if name in METHOD.free:
            assert not parameter.any()
        else:
            assert torch.equal(parameter, vanilla.parameters[name])
    ours.train_epoch(0)
    for name in METHOD.free:  # three groups and padding
        assert ours.parameters[name][..., :3].all()
        assert not ours.parameters[name][..., 3:].any()


# -- whole runs ---------------------------------------------------------------------------------


def train_plain(
    data: Processed, setting: str, seed: int, alpha: float, hidden: tuple[int, ...], how: Training
) -> tuple[Plain, list[float]]:
    """Zhang's algorithm, with the projection over the flattened predictor; and validation's L_P."""
    model = steps.plain(data, seed, hidden)
    W = steps.predictor(model)
    groups = len(data.group_names[setting])
    U = [torch.zeros(groups, requires_grad=True) for _ in range(2)]
    optimisers = [steps.adam(player, KNOBS.learning_rate, how) for player in (W, U)]
    Xv, yv, _ = steps.rows_of(data, setting, "validation")
    history = []
    for minibatches in steps.epochs(data, setting, seed, how):
        for X, y, s in minibatches:
            logits = steps.scores(model, X)
            g = torch.autograd.grad(F.cross_entropy(logits, y), W, retain_graph=True)
            a = torch.autograd.grad(adversary_loss(logits, *U, s), [*W, *U])
            a, of_adversary = a[: len(W)], a[len(W) :]
            whole_g, whole_a = (torch.cat([part.ravel() for part in x]) for x in (g, a))
            square = whole_a @ whole_a
            share = whole_g @ whole_a / square if square > 0 else 0.0
            for parameter, own, their in zip(W, g, a, strict=True):
                parameter.grad = own - share * their - alpha * their
            for parameter, own in zip(U, of_adversary, strict=True):
                parameter.grad = own
            for optimiser in optimisers:
                optimiser.step()
        with torch.no_grad():
            history.append(float(F.cross_entropy(steps.scores(model, Xv), yv)))
    return model, history


@pytest.mark.parametrize("hidden", [(8,), (8, 6)])
def test_the_batched_pass_agrees_with_the_plain_loop(hidden: tuple[int, ...]) -> None:
    data, how = processed(), training(epochs=4)
    found = run(METHOD, KNOBS, SETTINGS, hidden=hidden, data=data, epochs=4, alphas=(0.1, 1.0))
    for (seed, setting, alpha), model in found.items():
        expected, history = train_plain(data, setting, seed, alpha, hidden, how)
        steps.assert_predicts(model, expected, data)
        watched = [row["validation"] for row in model.curves]
        np.testing.assert_allclose(watched, history, rtol=1e-4, atol=1e-5)


def test_a_model_is_unaffected_by_its_neighbours() -> None:
    steps.assert_unaffected_by_neighbours(METHOD, KNOBS, SETTINGS)


def test_a_model_is_unaffected_by_who_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    hasty = Knobs(learning_rate=0.1)
    steps.assert_unaffected_by_who_leaves(METHOD, hasty, SETTINGS, monkeypatch)
