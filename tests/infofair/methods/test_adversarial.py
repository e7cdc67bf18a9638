"""Adversarial against projections by hand, autograd, and a plain loop with two optimisers."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from infofair.data.prepared import ALL, Prepared
from infofair.methods.adversarial import Adversarial
from infofair.methods.base import Network
from infofair.methods.vanilla import Vanilla
from infofair.training.batched import Pass
from infofair.training.plan import Job, Trained, Training, Variant
from tests import steps
from tests.plain import CPU, Plain
from tests.simulated import prepared
from tests.steps import SETTINGS, outputs, run, training

METHOD = Adversarial(learning_rate=1e-3)
FIRST = torch.tensor(1.0)  # the number of a step


# -- what both gradients come to ----------------------------------------------------------------


def gradients(seed: int) -> dict[str, Tensor]:
    """Of one model."""
    generator = torch.Generator().manual_seed(seed)
    shapes = {
        "layer0": (4, 5),
        "layer1": (3, 5),
        "heads": (2, 3),
        "bias": (1, 16),
        "slope": (1, 16),
    }
    return {
        name: torch.randn(shape, generator=generator, dtype=torch.float64)
        for name, shape in shapes.items()
    }


def flat(gradients: dict[str, Tensor]) -> np.ndarray:
    """The predictor's part."""
    return torch.cat([gradients[n].ravel() for n in ("layer0", "layer1", "heads")]).numpy()


@given(st.integers(0, 1000), st.floats(0, 10))
@settings(max_examples=25)
def test_the_predictor_gets_its_gradient_less_the_projection_and_the_adversarys(
    seed: int, strength: float
) -> None:
    own, theirs = gradients(seed), gradients(seed + 1)
    settled = METHOD.settle(own, theirs, torch.tensor(strength, dtype=torch.float64), FIRST)
    g, a, found = flat(own), flat(theirs), flat(settled)
    unit = a / np.sqrt(a @ a)
    projection = np.outer(unit, unit) @ g
    np.testing.assert_allclose(found, g - projection - strength * a, atol=1e-6)
    assert found @ a == pytest.approx(-strength * (a @ a), abs=1e-6)


def test_the_adversary_gets_its_own_gradient() -> None:
    own, theirs = gradients(0), gradients(1)
    settled = METHOD.settle(own, theirs, torch.tensor(1.0), FIRST)
    for name in ("bias", "slope"):
        assert torch.equal(settled[name], theirs[name])
    assert np.array_equal(flat(own), flat(gradients(0)))  # nothing is changed in place
    assert np.array_equal(flat(theirs), flat(gradients(1)))


def test_an_adversary_without_a_gradient_leaves_the_predictors_as_it_is() -> None:
    own, theirs = gradients(0), gradients(1)
    still = {name: torch.zeros_like(g) for name, g in theirs.items()}
    assert np.array_equal(flat(METHOD.settle(own, still, torch.tensor(1.0), FIRST)), flat(own))
    assert not np.array_equal(flat(METHOD.settle(own, theirs, torch.tensor(1.0), FIRST)), flat(own))


# -- the adversary ------------------------------------------------------------------------------


def adversary_loss(logits: Tensor, bias: Tensor, slope: Tensor, s: Tensor) -> Tensor:
    """L_A of one model; logits are rows × classes, bias and slope have an entry per group."""
    prediction = logits.softmax(1)[:, 1]
    centred = prediction - prediction.mean()
    return F.cross_entropy(bias + slope * centred[:, None], s)


COUNTS = (2, 3, 4)  # groups of each model's setting


@pytest.mark.parametrize("seed", range(5))
def test_the_opponents_gradient_is_that_of_its_loss(seed: int) -> None:
    out, batch = outputs(METHOD, seed, COUNTS)
    found = METHOD.adversary_gradients(out, batch)
    for r, groups in enumerate(COUNTS):
        logits = out["target"][r].T.clone().requires_grad_()
        bias, slope = (out[n][r, :groups, 0].clone().requires_grad_() for n in ("bias", "slope"))
        adversary_loss(logits, bias, slope, batch.s[r, 0]).backward()
        torch.testing.assert_close(found["target"][r], logits.grad.T)
        for name, leaf in (("bias", bias), ("slope", slope)):
            torch.testing.assert_close(found[name][r, :groups, 0], leaf.grad)
            assert not found[name][r, groups:].any()


@pytest.mark.parametrize("seed", range(5))
def test_the_terms_are_both_players_losses_and_the_gradient_the_first_ones(seed: int) -> None:
    out, batch = outputs(METHOD, seed, COUNTS)
    terms, by = METHOD.values(out, batch), METHOD.gradients(out, batch)
    assert set(by) == {"target"}
    for r, groups in enumerate(COUNTS):
        logits = out["target"][r].T.clone().requires_grad_()
        task = F.cross_entropy(logits, batch.y[r, 0])
        task.backward()
        bias, slope = (out[name][r, :groups, 0] for name in ("bias", "slope"))
        adversary = adversary_loss(logits.detach(), bias, slope, batch.s[r, 0])
        torch.testing.assert_close(terms["T"][r], task.detach())
        torch.testing.assert_close(terms["A"][r], -batch.alpha[r] * adversary)
        torch.testing.assert_close(by["target"][r], logits.grad.T)


def test_early_stopping_watches_the_first_players_loss_alone() -> None:
    terms = METHOD.values(*outputs(METHOD, 0))
    assert torch.equal(METHOD.watched(terms), terms["T"])


def test_the_adversary_starts_at_zero_and_the_predictor_where_vanilla_does() -> None:
    def start(method: Network, setting: str) -> Pass:
        models = [Trained(seed, Variant(setting, 0.1)) for seed in (0, 1)]
        return Pass(Job(method, [8, 6], training()), prepared(), models, CPU)

    ours, vanilla = start(METHOD, "race"), start(Vanilla(), ALL)
    for name, parameter in ours.networks.parameters.items():
        if name in METHOD.free:
            assert not parameter.any()
        else:
            assert torch.equal(parameter, vanilla.networks.parameters[name])
    ours.train_epoch(0)
    for name in METHOD.free:  # three groups and padding
        assert ours.networks.parameters[name][..., :3].all()
        assert not ours.networks.parameters[name][..., 3:].any()


# -- whole runs ---------------------------------------------------------------------------------


def train_plain(
    data: Prepared, setting: str, seed: int, alpha: float, hidden: tuple[int, ...], how: Training
) -> tuple[Plain, list[float]]:
    """Zhang's algorithm, with the projection over the flattened predictor; and validation's L_P."""
    model = steps.plain(data, seed, hidden)
    W = steps.predictor(model)
    groups = len(data.group_names[setting])
    U = [torch.zeros(groups, requires_grad=True) for _ in range(2)]
    optimisers = [steps.adam(player, METHOD.learning_rate, how) for player in (W, U)]
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
    data, how = prepared(), training(epochs=4, batch_size=50)
    found = run(
        METHOD, SETTINGS, hidden=hidden, data=data, epochs=4, alphas=(0.1, 1.0), batch_size=50
    )
    for (seed, setting, alpha), model in found.items():
        expected, history = train_plain(data, setting, seed, alpha, hidden, how)
        steps.assert_predicts(model, expected, data)
        watched = [row["validation"] for row in model.curves]
        np.testing.assert_allclose(watched, history, rtol=1e-4, atol=1e-5)
