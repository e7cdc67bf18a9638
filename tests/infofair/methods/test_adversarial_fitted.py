"""The fitted adversary against projections by hand, InfoFair's T+S, and a plain loop."""

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
from infofair.methods.adversarial_fitted import AdversarialFitted
from infofair.methods.infofair_fitted import Fitted
from infofair.training.streams import Own
from tests import steps
from tests.simulated import prepared
from tests.steps import SETTINGS, outputs, run, training

METHOD = AdversarialFitted(
    learning_rate=1e-3, critic_learning_rate=1e-2, critic_steps=2, warm_up=1, sharpness=3.0
)
SAME = Fitted(
    learning_rate=1e-3, critic_learning_rate=1e-2, critic_steps=2, warm_up=1, sharpness=3.0,
    terms=("T", "S"),
)  # fmt: skip
PREDICTOR = ("layer0", "heads")


def gradients(seed: int) -> dict[str, Tensor]:
    """Of one model."""
    generator = torch.Generator().manual_seed(seed)
    shapes = {"layer0": (4, 5), "heads": (2, 4), "bias": (1, 16)}
    return {
        name: torch.randn(shape, generator=generator, dtype=torch.float64)
        for name, shape in shapes.items()
    }


def flat(gradients: dict[str, Tensor]) -> np.ndarray:
    return torch.cat([gradients[name].ravel() for name in PREDICTOR]).numpy()


@given(st.integers(0, 1000), st.floats(0, 10))
@settings(max_examples=25)
def test_the_predictor_gets_its_gradient_less_the_projection_and_the_adversarys(
    seed: int, strength: float
) -> None:
    own, theirs = gradients(seed), gradients(seed + 1)
    settled = METHOD.settle(
        own, theirs, torch.tensor(strength, dtype=torch.float64), torch.tensor(1.0)
    )
    assert set(settled) == set(PREDICTOR)  # the adversary has had its steps
    g, a, found = flat(own), flat(theirs), flat(settled)
    np.testing.assert_allclose(found, g - (g @ a) / (a @ a) * a - strength * a, atol=1e-9)
    still = {name: torch.zeros_like(part) for name, part in theirs.items()}
    untold = METHOD.settle(own, still, torch.tensor(strength), torch.tensor(1.0))
    assert np.array_equal(flat(untold), g)


@given(st.integers(0, 1000), st.sampled_from([0, 9]))
@settings(max_examples=25, deadline=None)
def test_but_for_the_projection_it_is_infofair_fitted_without_its_ratio(
    seed: int, epoch: int
) -> None:
    out, batch = outputs(METHOD, seed, (3, 4, 4))
    batch.epoch = epoch
    same = {f"g_{part}": out[part] for part in METHOD.free} | {"target": out["target"]}
    found, expected = METHOD.values(out, batch), SAME.values(same, batch)
    torch.testing.assert_close(found["A"], expected["S"])
    by_critic = SAME.critic_gradients(same, batch)
    for part, gradient in METHOD.critic_gradients(out, batch).items():
        torch.testing.assert_close(gradient, by_critic[f"g_{part}"])
    task = METHOD.gradients(out, batch)["target"]
    theirs = METHOD.adversary_gradients(out, batch)["target"]
    together = task - batch.alpha[:, None, None] * theirs
    torch.testing.assert_close(together, SAME.gradients(same, batch)["target"])


def test_with_a_sharpness_of_one_the_adversary_sees_the_probability() -> None:
    out, batch = outputs(METHOD, 0, (3,))
    method = METHOD.with_knobs(sharpness=1.0)
    z = 2 * out["target"][0].softmax(0)[1] - 1
    expected = F.cross_entropy(network(z, {n: out[n][0] for n in method.free}), batch.s[0, 0])
    batch.epoch = 9
    torch.testing.assert_close(-method.values(out, batch)["A"][0] / batch.alpha[0], expected)


# -- the pass -------------------------------------------------------------------------------------


def network(z: Tensor, parts: dict[str, Tensor]) -> Tensor:
    """The adversary, written down again: rows × groups of one model, from its z."""
    hidden = torch.tanh(F.linear(z[:, None], parts["in"], parts["in_bias"][:, 0]))
    return F.linear(hidden, parts["out"]) + F.linear(
        z[:, None], parts["slope"], parts["bias"][:, 0]
    )


def train_plainly(
    data: Prepared, setting: str, seed: int, alpha: float, hidden: tuple[int, ...], epochs: int
) -> steps.Plain:
    """An ordinary loop with two optimisers, autograd, and the projection by hand."""
    how = training(epochs=epochs, batch_size=50)
    model = steps.plain(data, seed, hidden)
    groups = len(data.group_names[setting])
    sizes = {name: (groups if a == "groups" else a, b) for name, (a, b) in METHOD.free.items()}
    parts = {n: p.requires_grad_() for n, p in Own(seed, steps.CPU).initial(sizes).items()}
    with torch.no_grad():
        for name in METHOD.zeros:
            parts[name].zero_()
    weights = steps.predictor(model)
    predictor = steps.adam(weights, METHOD.learning_rate, how)
    own = steps.adam(list(parts.values()), METHOD.critic_learning_rate, training(weight_decay=0.0))
    for epoch, minibatches in enumerate(steps.epochs(data, setting, seed, how)):
        for X, y, s in minibatches:
            logits = steps.scores(model, X)
            z = 2 * torch.sigmoid(METHOD.sharpness * (logits[:, 1] - logits[:, 0])) - 1
            ends = np.linspace(0, len(s), METHOD.critic_steps + 1).round().astype(int)
            for start, end in pairwise(ends):  # a part of the minibatch each
                own.zero_grad()
                F.cross_entropy(network(z.detach()[start:end], parts), s[start:end]).backward()
                own.step()
            g = torch.autograd.grad(F.cross_entropy(logits, y), weights, retain_graph=True)
            if epoch >= METHOD.warm_up:
                a = torch.autograd.grad(F.cross_entropy(network(z, parts), s), weights)
                inner = sum((one * other).sum() for one, other in zip(g, a, strict=True))
                scale = inner / sum(one.square().sum() for one in a) + alpha
                g = tuple(one - scale * other for one, other in zip(g, a, strict=True))
            for weight, gradient in zip(weights, g, strict=True):
                weight.grad = gradient
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
    """What the paper's adversary does not do: there the gap grows with alpha."""
    data = prepared(rows=3000)
    method = METHOD.with_knobs(learning_rate=3e-3, critic_learning_rate=3e-2)
    found = run(
        method, ("gender",), alphas=(0.0, 3.0, 30.0), data=data, epochs=40, patience=40,
        batch_size=256, weight_decay=0.0,
    )  # fmt: skip
    free = run(
        SAME.with_knobs(learning_rate=3e-3), ("gender",), alphas=(0.0,), data=data, epochs=40,
        patience=40, batch_size=256, weight_decay=0.0,
    )  # fmt: skip
    group = data.groups["gender"][data.split["validation"]]

    def gap(probability: np.ndarray) -> float:
        selected = probability > 0.5
        assert 0.1 < selected.mean() < 0.9  # no collapse
        return float(abs(selected[group == 1].mean() - selected[group == 0].mean()))

    for (seed, _, alpha), model in found.items():
        assert all(math.isfinite(value) for row in model.curves for value in row.values())
        vanilla = gap(free[seed, "gender", 0.0].probabilities["validation"])
        if alpha > 0:
            assert gap(model.probabilities["validation"]) < vanilla / 2
