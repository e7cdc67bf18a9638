"""R networks side by side: where they start, padding, and who sits where when some leave."""

import numpy as np
import pytest
import torch

from infofair.methods.infofair import InfoFair
from infofair.methods.vanilla import Vanilla
from infofair.training.batched import Pass
from infofair.training.layout import aligned
from infofair.training.networks import Networks, Seat
from infofair.training.plan import Job, Trained, Variant
from infofair.training.streams import Own
from tests.plain import CPU
from tests.simulated import prepared
from tests.steps import SETTINGS, training

METHOD = InfoFair(learning_rate=1e-3, halve_temperature_every=2)
SIZES = {  # of a network of 11 features, a layer of 8 units and 3 groups
    "layer0": (8, 11), "target": (2, 8), "sensitive": (3, 8), "w1": (1, 8), "w2": (1, 3)
}  # fmt: skip


def pass_of(seeds: tuple[int, ...], settings: tuple[str, ...]) -> Pass:
    """InfoFair's models of these seeds and settings, untrained."""
    models = [Trained(seed, Variant(setting, 0.1)) for seed in seeds for setting in settings]
    return Pass(Job(METHOD, [8], training()), prepared(), models, CPU)


@pytest.mark.parametrize("groups", [3, 6])
def test_a_network_starts_from_its_seed_whatever_it_is_padded_to(groups: int) -> None:
    five, zero = Own(5, CPU), Own(0, CPU)
    seats = [Seat(five, five, 3), Seat(zero, zero, 2), Seat(zero, zero, 3)]
    networks = Networks(METHOD, [11, 8], 2, groups, seats, CPU)
    for r, streams in ((0, five), (2, zero)):
        expected = streams.initial(SIZES)
        found = networks.parameters_of(r)
        assert found.keys() == expected.keys()
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values.numpy())
    assert networks.parameters_of(1)["sensitive"].shape == (2, 8)


def test_it_starts_as_an_ordinary_linear_layer_does() -> None:
    """U(−1/√inputs, 1/√inputs), weights and bias: torch.nn.Linear's default."""
    drawn = Own(0, CPU).initial({"layer0": (2000, 9)})["layer0"]
    bound = torch.nn.Linear(9, 2000).weight.detach().abs().max()
    for part in (drawn[:, :-1], drawn[:, -1]):
        assert float(part.abs().max()) == pytest.approx(float(bound), rel=1e-2)
        assert abs(float(part.mean())) < 0.01


def test_forward_is_that_of_the_network_alone() -> None:
    zero, one = Own(0, CPU), Own(1, CPU)
    seats = [Seat(zero, zero, 2), Seat(zero, zero, 6), Seat(one, one, 3)]
    networks = Networks(METHOD, [11, 8, 6], 2, 6, seats, CPU)
    inputs = aligned(12, 8)
    X = torch.zeros(2, 20, inputs)
    X[:, :, :11], X[:, :, 11] = torch.rand(2, 20, 11), 1
    out = networks.forward(X, networks.sheet(20))
    for r, seed in ((0, 0), (1, 0), (2, 1)):
        own = {name: torch.from_numpy(p) for name, p in networks.parameters_of(r).items()}
        z = X[seed, :, :11]
        for name in ("layer0", "layer1"):
            z = torch.relu(z @ own[name][:, :-1].T + own[name][:, -1])
        for head in METHOD.heads:
            groups = len(own[head])
            torch.testing.assert_close(out[head][r, :groups], own[head] @ z.T)
            assert (out[head][r, groups:] == -torch.inf).all()  # none of the setting's
        torch.testing.assert_close(out["w2"][r, :, : networks.seats[r].groups], own["w2"])


@pytest.mark.parametrize("method", [Vanilla(learning_rate=1e-2)])
def test_steps_are_those_of_torchs_adam(method: Vanilla) -> None:
    seats = [Seat(own, own, 1) for own in (Own(0, CPU), Own(1, CPU))]
    networks = Networks(method, [11, 8], 2, 1, seats, CPU)
    expected = {n: torch.nn.Parameter(p.clone()) for n, p in networks.parameters.items()}
    optimiser = torch.optim.Adam(expected.values(), lr=1e-2, weight_decay=0.01)
    generator = torch.Generator().manual_seed(0)
    for step in range(1, 6):
        for name, gradient in networks.gradients.items():
            gradient.copy_(torch.randn(gradient.shape, generator=generator))
            expected[name].grad = gradient.clone()
        networks.adam(list(networks.parameters), torch.tensor(float(step)), 1e-2, 0.01)
        optimiser.step()
    for name, parameter in networks.parameters.items():
        torch.testing.assert_close(parameter, expected[name].data)


def test_stopped_models_leave_the_batch() -> None:
    batched = pass_of((0, 1, 2, 3), SETTINGS)
    batched.train_epoch(0)
    kept = {
        (m.seed, m.variant.setting): parameters.clone()
        for m, parameters in zip(batched.models, batched.networks.parameters["heads"], strict=True)
    }
    staying = [(1, "race"), (2, "gender"), (2, "intersection"), (3, "intersection")]
    for model in batched.models:
        model.running = (model.seed, model.variant.setting) in staying
    batched.compact()
    # seeds with equally many models are neighbours: their first layers are one product
    assert [(b.E, b.K) for b in batched.networks.blocks] == [(1, 2), (2, 1)]
    assert [order.seed for order in batched.orders] == [2, 1, 3]
    found = [(m.seed, m.variant.setting) for m in batched.models]
    assert found == [*staying[1:3], staying[0], staying[3]]
    for name, parameters in zip(found, batched.networks.parameters["heads"], strict=True):
        assert torch.equal(parameters, kept[name])
    batched.train_epoch(1)


def test_groups_a_setting_does_not_have_play_no_part() -> None:
    batched = pass_of((0,), ("gender", "intersection"))
    batched.train_epoch(0)
    # rows of the heads: 2 classes, 6 groups, w1; gender has two groups only
    parameters = batched.networks.parameters
    assert not parameters["heads"][0, 4:8].any()
    assert not parameters["w2"][0, 0, 2:].any()
    assert parameters["heads"][1, :9].any(1).all()
