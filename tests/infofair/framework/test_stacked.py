"""Many models in one pass: neighbours, the trunk, modules of one's own, stopping."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from infofair.framework import notions, recipe, stacked, trunk
from infofair.framework.plan import Model, Plan, Replaced
from infofair.framework.players import Critics, Predictor
from infofair.framework.stacked import Fitted
from infofair.training.streams import Own
from tests.infofair.framework.plans import CPU, plan


def trained(own: Plan, models: list[Model]) -> dict[Model, Fitted]:
    return stacked.train(own, models, CPU, lambda *_: None)


def same(one: Fitted, other: Fitted) -> bool:
    assert one.critics is not None and other.critics is not None
    return all(
        torch.equal(a, b)
        for mine, theirs in ((one.predictor, other.predictor), (one.critics, other.critics))
        for a, b in zip(mine.state_dict().values(), theirs.state_dict().values(), strict=True)
    )


CASES: dict[str, dict[str, Any]] = {
    "parity": {},
    "opportunity": {"fair": notions.OPPORTUNITY},
    "odds": {"fair": notions.ODDS},
    "score": {"outcome": recipe.SCORE},
    "representation": {"outcome": recipe.REPRESENTATION},
    "numbers": {"groups": 1, "numbers": 2},
    "mixed": {"groups": 2, "numbers": 1},
}


@pytest.mark.parametrize("case", CASES)
def test_a_models_bits_do_not_depend_on_who_shares_its_pass(case: str) -> None:
    own = plan(**CASES[case])
    first, others = Model(1, 2.0), [Model(0, 0.5), Model(2, 1.0), Model(1, 0.0), Model(0, 3.0)]
    alone = trained(own, [first])[first]
    for models in ([first, others[0]], [*others, first]):
        assert same(trained(own, models)[first], alone)
    assert not same(trained(own, [others[2], first])[others[2]], alone)


def test_those_who_stop_leave_without_disturbing_the_others() -> None:
    own = plan(epochs=6, patience=1, learning_rate=0.1, n=160)
    models = [Model(seed, 3.0) for seed in range(3)]
    found = trained(own, models)
    epochs = {len(fitted.curve) for fitted in found.values()}
    assert min(epochs) < 6 and len(epochs) > 1
    for model in models:
        assert same(trained(own, [model])[model], found[model])


def test_nobody_stops_without_patience() -> None:
    own = plan(epochs=4, learning_rate=0.1)
    assert all(len(f.curve) == 4 for f in trained(own, [Model(0, 1.0), Model(1, 0.0)]).values())


def test_the_seed_leaves_the_generators_of_others_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state(), torch.get_num_threads(), torch.get_deterministic_debug_mode()
    trained(plan(outcome=recipe.REPRESENTATION), [Model(0, 1.0)])
    trunk.train(plan(), [Model(0, 1.0)], CPU, lambda *_: None)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (torch.get_num_threads(), torch.get_deterministic_debug_mode()) == before[1:]


# -- the trunk ------------------------------------------------------------------------------------


class Started(Plan):
    """Starts where the trunk does."""

    def _own(self, seed: int) -> dict[str, np.ndarray]:
        sizes = {"layer0": (8, 4), "target": (2, 8)}
        for name in "gf":
            sizes |= {f"{name}_in": (16, 1), f"{name}_in_bias": (16, 1), f"{name}_out": (3, 16)}
            sizes |= {f"{name}_slope": (3, 1), f"{name}_bias": (3, 1)}
        found = Own(seed, CPU).initial(sizes)
        zero = ("out", "slope", "bias")
        return {n: (0 * p if n[2:] in zero else p).numpy() for n, p in found.items()}

    def predictor(self, seed: int) -> Predictor:
        found = super().predictor(seed)
        own = self._own(seed)
        trunk._set(found.extractor[0], own["layer0"][:, :-1], own["layer0"][:, -1])  # type: ignore[index]
        trunk._set(found.target, own["target"])  # type: ignore[arg-type]
        return found

    def critics(self, seed: int) -> Critics:
        return trunk.critics(self._own(seed))


def test_the_trunk_trains_the_same_models() -> None:
    """The same start and minibatches: torch.func around modules against closed forms."""
    without_bias = Replaced(hidden=(8,), target_predictor=lambda n, m: nn.Linear(n, m, bias=False))
    own = plan(epochs=3, warm_up=1, n=320, batch_size=64, replaced=without_bias)
    started = Started(**{name: getattr(own, name) for name in own.__dataclass_fields__})
    models = [Model(0, 2.0), Model(1, 0.0), Model(1, 5.0)]
    expected = trunk.train(
        replace(own, replaced=Replaced(hidden=(8,))), models, CPU, lambda *_: None
    )
    found = trained(started, models)
    for model in models:
        a, b = (own[model].predictor.state_dict() for own in (found, expected))
        for name in a:
            torch.testing.assert_close(a[name], b[name], rtol=1e-3, atol=2e-4)
        mine, theirs = found[model].critics, expected[model].critics
        assert mine is not None and theirs is not None
        for one, other in zip(mine.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-2, atol=2e-3)
        assert found[model].curve == pytest.approx(expected[model].curve, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "serves"),
    [
        ({}, True),
        ({"fair": notions.ODDS}, False),
        ({"outcome": recipe.SCORE}, False),
        ({"numbers": 1}, False),
        ({"critic_steps": 8}, False),  # parts of eight rows
        ({"replaced": Replaced(extractor=nn.Linear(4, 3))}, False),
    ],
)
def test_the_trunk_serves_what_it_can(changes: dict[str, Any], serves: bool) -> None:
    assert trunk.serves(plan(**changes)) is serves


# -- modules of one's own -------------------------------------------------------------------------


class Twisted(nn.Module):
    """Somebody's extractor: with a shared constant, a buffer and a parameter that is frozen."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(inputs, 6), nn.Linear(6, 5)
        self.second.weight.requires_grad_(False)
        self.register_buffer("shift", torch.ones(6))

    def forward(self, X: Tensor) -> Tensor:
        return self.second(torch.sin(self.first(X)) + self.shift)


def test_any_extractor_is_batched_and_frozen_parameters_stay() -> None:
    own = plan(replaced=Replaced(extractor=Twisted))
    assert stacked.batches(own, CPU)
    models = [Model(0, 1.0), Model(1, 1.0)]
    found = trained(own, models)
    assert same(trained(own, [models[1]])[models[1]], found[models[1]])
    for model in models:
        before, after = own.predictor(model.seed), found[model].predictor
        assert torch.equal(before.extractor.second.weight, after.extractor.second.weight)
        assert not torch.equal(before.extractor.first.weight, after.extractor.first.weight)


def test_a_module_starts_from_the_weights_it_has() -> None:
    given = nn.Linear(4, 5)
    own = plan(replaced=Replaced(extractor=given))
    assert torch.equal(own.predictor(0).extractor.weight, given.weight)
    assert torch.equal(own.predictor(1).extractor.weight, given.weight)
    before = given.weight.clone()
    trained(own, [Model(0, 1.0)])
    assert torch.equal(given.weight, before)


def test_running_statistics_are_each_models_own() -> None:
    def normed(inputs: int) -> nn.Module:
        return nn.Sequential(nn.Linear(inputs, 5), nn.BatchNorm1d(5))

    own = plan(replaced=Replaced(extractor=normed))
    assert stacked.batches(own, CPU)
    found = trained(own, [Model(0, 1.0), Model(1, 1.0)])
    first, second = (fitted.predictor.extractor[1] for fitted in found.values())  # type: ignore[index]
    assert int(first.num_batches_tracked) == 2 * 4  # epochs × minibatches
    assert not torch.equal(first.running_mean, second.running_mean)


class Undecided(nn.Linear):
    """Asks for a number on the way, which vmap cannot give."""

    def forward(self, X: Tensor) -> Tensor:
        return super().forward(X if float(X.mean()) < 100 else -X)


def test_what_vmap_cannot_run_is_trained_one_by_one() -> None:
    own = plan(replaced=Replaced(extractor=lambda n: Undecided(n, 5)))
    assert not stacked.batches(own, CPU)
    usual = plan(replaced=Replaced(extractor=lambda n: nn.Linear(n, 5)))
    models = [Model(0, 1.0), Model(1, 1.0)]
    found, expected = trained(own, models), trained(usual, models)
    assert same(trained(own, [models[1]])[models[1]], found[models[1]])
    for model in models:
        one, other = (of[model].predictor.state_dict() for of in (found, expected))
        for name in one:
            torch.testing.assert_close(one[name], other[name], rtol=1e-3, atol=1e-4)


class Graph(nn.Module):
    """Z = Â ReLU(Â X W): sees row numbers, computes all nodes."""

    def __init__(self, A: Tensor, X: Tensor, units: int) -> None:
        super().__init__()
        self.known = (A, X)  # no buffers: shared by all models
        self.W = nn.Linear(X.shape[1], units)

    def forward(self, numbers: Tensor) -> Tensor:
        A, X = self.known
        return (A @ torch.relu(A @ self.W(X)))[numbers[:, 0].long()]


def test_a_graph_is_an_extractor_that_sees_row_numbers() -> None:
    own = plan(n=160, batch_size=128)
    A = torch.eye(160)
    graph = Replaced(extractor=lambda _: Graph(A, torch.from_numpy(own.X), 6))
    numbers = np.arange(160, dtype=np.float32)[:, None]
    of_graph = replace(own, X=numbers, replaced=graph)
    mlp = replace(
        own, replaced=Replaced(extractor=lambda n: nn.Sequential(nn.Linear(n, 6), nn.ReLU()))
    )
    assert stacked.batches(of_graph, CPU)
    model = Model(0, 1.0)
    found, expected = (trained(of, [model])[model].predictor.state_dict() for of in (of_graph, mlp))
    for one, other in zip(found.values(), expected.values(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)  # Â = I: the MLP


@pytest.mark.parametrize(
    ("replaced", "said"),
    [
        (Replaced(extractor=nn.Linear(9, 3)), "extractor: RuntimeError for rows of shape (2, 4)"),
        (Replaced(extractor=nn.Flatten(0)), "extractor gives (8,) for 2 rows"),
        (
            Replaced(target_predictor=nn.Linear(32, 5)),
            "target_predictor gives 5 outputs; expected 2",
        ),
        (Replaced(extractor=lambda n: "module"), "makes a str; expected a torch.nn.Module"),
    ],
)
def test_a_module_that_does_not_fit_is_named(replaced: Replaced, said: str) -> None:
    with pytest.raises(ValueError) as raised:
        trained(plan(replaced=replaced), [Model(0, 1.0)])
    assert said in str(raised.value)


def test_a_loss_that_is_not_finite_is_named() -> None:
    with pytest.raises(Exception, match=r"seed 3, alpha 1 is not finite in epoch 1; try a smaller"):
        trained(plan(learning_rate=1e30), [Model(3, 1.0)])
