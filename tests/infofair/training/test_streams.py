"""The authors' random streams against PyTorch's own modules and loaders; and who shares what."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from infofair.methods.infofair import InfoFair
from infofair.methods.vanilla import Vanilla
from infofair.training.streams import Authors, Own, Shared
from tests import steps
from tests.plain import CPU, train_plain
from tests.simulated import prepared
from tests.steps import same_bits

METHOD = InfoFair(learning_rate=1e-3, halve_temperature_every=2)


def released(seed: int, features: int, groups: int, rows: int) -> tuple[list[nn.Linear], Any]:
    """Modules and epochs as the released code makes them: one seed, then whatever PyTorch draws."""
    torch.manual_seed(seed)
    modules = [
        nn.Linear(features, 8), nn.Linear(8, 6),  # extractor
        nn.Linear(6, 2, bias=False), nn.Linear(6, groups, bias=False),
        nn.Linear(6, 1, bias=False), nn.Linear(groups, 1, bias=False),  # density ratio
    ]  # fmt: skip
    numbers = TensorDataset(torch.arange(rows))
    train = DataLoader(numbers, batch_size=16, shuffle=True)
    validation = DataLoader(numbers, batch_size=16, shuffle=False)

    def epochs(count: int) -> Any:
        for _ in range(count):
            yield torch.cat([of_batch for (of_batch,) in train])
            for loader in (train, validation):  # the epoch's evaluation
                for _ in loader:
                    pass

    return modules, epochs


@given(
    seed=st.integers(0, 2**31), groups=st.integers(2, 12), rows=st.integers(17, 300),
)  # fmt: skip
def test_the_authors_streams_are_those_of_ordinary_modules_and_loaders(
    seed: int, groups: int, rows: int
) -> None:
    sizes = {
        "layer0": (8, 11), "layer1": (6, 8), "target": (2, 6), "sensitive": (groups, 6),
        "w1": (1, 6), "w2": (1, groups),
    }  # fmt: skip
    with torch.random.fork_rng():
        modules, epochs = released(seed, 11, groups, rows)
        orders = list(epochs(3))
    streams = Authors(seed, CPU)
    for module, drawn in zip(modules, streams.initial(sizes).values(), strict=True):
        inputs = module.in_features
        assert torch.equal(drawn[:, :inputs], module.weight)
        assert module.bias is None or torch.equal(drawn[:, inputs], module.bias)
    assert all(torch.equal(streams.order(rows), order) for order in orders)


def test_noise_does_not_draw_from_the_authors_generator() -> None:
    state = torch.random.get_rng_state()
    steps.run(METHOD, streams="authors")
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("hidden", [(8,), (8, 6)])
def test_with_the_authors_streams_the_pass_agrees_with_the_plain_loop(
    hidden: tuple[int, ...],
) -> None:
    how = {"epochs": 3, "batch_size": 50, "streams": "authors"}
    for (seed, setting, alpha), model in steps.run(METHOD, hidden=hidden, **how).items():
        plain, history = train_plain(
            prepared(), setting, seed, hidden=list(hidden), alpha=alpha,
            training=steps.training(**how), learning_rate=1e-3, halve_every=2,
        )  # fmt: skip
        found = [row["validation"] for row in model.curves]
        np.testing.assert_allclose(found, history, rtol=1e-4, atol=1e-5)
        steps.assert_predicts(model, plain, prepared())


@pytest.mark.parametrize("streams", ["authors", "shared"])
@pytest.mark.parametrize("batch_size", [16, 300])
def test_a_model_is_unaffected_by_its_neighbours(streams: str, batch_size: int) -> None:
    """Also where some of them share its streams, other strengths, and some do not."""
    alphas = (0.1, 0.5, 2.0)
    how = {"streams": streams, "batch_size": batch_size, "hidden": (32,)}
    together = steps.run(METHOD, seeds=tuple(range(7)), alphas=alphas, **how)
    for key in ((0, "gender", 0.5), (2, "intersection", 2.0), (6, "race", 0.1)):
        seed, setting, alpha = key
        alone = steps.run(METHOD, (setting,), seeds=(seed,), alphas=(alpha,), **how)
        assert same_bits(alone[key], together[key])


def test_where_streams_are_shared_models_may_leave() -> None:
    """The others go on with the same rows, whoever was the first."""
    hasty = Vanilla(learning_rate=0.3)
    how = {"epochs": 30, "patience": 1, "streams": "shared"}
    together = steps.run(hasty, ("all",), seeds=tuple(range(6)), **how)
    assert len({len(model.curves) for model in together.values()}) > 2
    for key, model in together.items():
        assert same_bits(steps.run(hasty, ("all",), seeds=key[:1], **how)[key], model)


def test_seeds_that_share_streams_start_apart_and_see_the_same_rows() -> None:
    sizes = {"layer0": (8, 11)}
    one, two = Shared(1, CPU), Shared(2, CPU)
    for _ in range(3):
        assert torch.equal(one.order(100), two.order(100))
    assert not torch.equal(one.order(100), one.order(100))
    assert not torch.equal(one.initial(sizes)["layer0"], two.initial(sizes)["layer0"])
    own = Own(1, CPU)
    assert torch.equal(own.initial(sizes)["layer0"], one.initial(sizes)["layer0"])
    assert not torch.equal(own.order(100), one.order(100))


@pytest.mark.parametrize("streams", ["own", "shared"])
def test_with_shared_streams_too_the_pass_agrees_with_the_plain_loop(streams: str) -> None:
    how = {"epochs": 3, "batch_size": 50, "streams": streams}
    for (seed, setting, alpha), model in steps.run(METHOD, **how).items():
        plain, _ = train_plain(
            prepared(), setting, seed, hidden=[8], alpha=alpha, training=steps.training(**how),
            learning_rate=1e-3, halve_every=2,
        )  # fmt: skip
        steps.assert_predicts(model, plain, prepared())


def test_settings_of_a_seed_share_minibatches_only_in_our_own_streams() -> None:
    few, many = {"layer0": (8, 11), "sensitive": (2, 8)}, {"layer0": (8, 11), "sensitive": (9, 8)}
    for kind, same in ((Own, True), (Authors, False)):
        orders = []
        for sizes in (few, many):
            streams = kind(0, CPU)
            streams.initial(sizes)
            orders.append(streams.order(100))
        assert torch.equal(*orders) == same == (not kind.of_setting)


def test_a_method_without_groups_has_one_model_for_all_settings() -> None:
    found = steps.run(Vanilla(learning_rate=1e-3), ("all",), streams="authors")
    assert {setting for _, setting, _ in found} == {"all"}
