"""Steps from a graph, with graphs that are replayed here: what CUDA's own would do is not shown."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from infofair import methods
from infofair.data.prepared import ALL
from infofair.methods.base import Network
from infofair.training import graphs
from infofair.training.batched import Pass
from infofair.training.graphs import Graphs
from tests import steps
from tests.plain import CPU

NETWORKS = ["infofair", "infofair_fitted", "adversarial", "adversarial_fitted", "gdp", "vanilla"]


class Pretended:
    """A graph that is its Python: what it gave when it was captured is computed again, in place.

    Of the work that is captured nothing stays done, as on a GPU.
    """

    changed: list[Tensor] = []  # by the work, in place

    def capture(self, work: Callable[[], Any]) -> Any:
        before = [each.clone() for each in self.changed]
        self.work, self.found = work, work()
        for each, own in zip(self.changed, before, strict=True):
            each.copy_(own)
        return self.found

    def replay(self) -> None:
        own = tree_leaves(self.found)
        for place, each in zip(own, tree_leaves(self.work()), strict=True):
            place.copy_(each)


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[Pass]:
    """Passes take their steps from pretended graphs; which pass, for every replay."""
    passes: list[Pass] = []
    found: list[Pass] = []

    class OfThePass(Pretended):
        @property
        def changed(self) -> list[Tensor]:
            networks = passes[-1].networks
            own = [networks.parameters, *networks.moments, networks.gradients, networks.opposing]
            return [part for parts in own for part in parts.values()]

        def replay(self) -> None:
            found.append(passes[-1])
            super().replay()

    arrange = Pass._arrange

    def arranged(self: Pass) -> None:
        passes.append(self)
        arrange(self)

    monkeypatch.setattr(Pass, "_arrange", arranged)
    monkeypatch.setattr(graphs, "wanted", lambda on: True)
    monkeypatch.setattr("infofair.training.batched.Graphs", lambda: Graphs(OfThePass))
    return found


def trained(name: str, **how: Any) -> steps.Found:
    """560 rows: five whole chunks of minibatches an epoch, and one that is smaller."""
    method = methods.make(name, learning_rate=0.3)
    assert isinstance(method, Network)
    settings = steps.SETTINGS[:1] if method.uses_groups else (ALL,)
    return steps.run(method, settings, batch_size=3, seeds=(0, 1, 2), **how)


@pytest.mark.parametrize("name", NETWORKS)
def test_steps_from_a_graph_give_the_same_bits(name: str, request: pytest.FixtureRequest) -> None:
    plain = trained(name)
    replayed = request.getfixturevalue("replayed")
    from_graphs = trained(name)
    assert len(replayed) == 3 * 4  # epochs, chunks but the first and the last
    assert all(steps.same_bits(plain[key], from_graphs[key]) for key in plain)


def test_they_are_made_anew_for_those_who_stay(request: pytest.FixtureRequest) -> None:
    how = {"epochs": 12, "patience": 1}
    plain = trained("vanilla", **how)
    assert len({len(model.curves) for model in plain.values()}) > 1
    replayed = request.getfixturevalue("replayed")
    from_graphs = trained("vanilla", **how)
    assert replayed
    assert all(steps.same_bits(plain[key], from_graphs[key]) for key in plain)


def test_a_graph_serves_one_shape_of_one_epoch() -> None:
    done: list[float] = []

    def work(number: Tensor) -> Tensor:
        done.append(float(number))
        return number * 2

    class Counted(Pretended):
        made = 0

        def __init__(self) -> None:
            type(self).made += 1

    of = Graphs(Counted)
    for number in range(5):
        given = torch.tensor(float(number))
        assert float(of.run(work, [given], "a shape", epoch=0)) == 2 * number
    assert Counted.made == 1 and done[:2] == [0, 1]
    of.run(work, [torch.tensor(5.0)], "another shape", epoch=0)
    of.run(work, [torch.tensor(6.0)], "a shape", epoch=1)  # run as it is: it is the first
    assert Counted.made == 1
    of.forget()
    of.run(work, [torch.tensor(7.0)], "a shape", epoch=1)
    assert Counted.made == 1


def test_they_are_off_unless_asked_for_and_only_where_there_is_cuda(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cuda = torch.device("cuda")
    assert not graphs.wanted(cuda)
    monkeypatch.setenv(graphs.SWITCH, "1")
    assert graphs.wanted(cuda) and not graphs.wanted(CPU)
