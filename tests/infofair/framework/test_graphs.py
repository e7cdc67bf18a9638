"""A graph convolutional network as extractor: against dense products, eigenvalues, and the MLP."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import vmap

from infofair.framework import modules, stacked
from infofair.framework.graphs import GCN, csr, normalised, times
from infofair.framework.plan import Model, Plan, Replaced
from tests.infofair.framework.plans import CPU, plan

NODES = 12
EDGES = np.random.default_rng(0).integers(0, NODES, (20, 2))


def dense(edges: np.ndarray, nodes: int) -> np.ndarray:
    """Â as it is written."""
    A = np.eye(nodes)
    for i, j in edges:
        A[i, j] = A[j, i] = 1
    D = np.diag(A.sum(1) ** -0.5)
    return D @ A @ D


def test_it_is_normalised_as_it_is_written() -> None:
    twice = np.concatenate([EDGES, EDGES[:, ::-1]])  # both ways, with loops: still an edge each
    for edges in (EDGES, twice):
        np.testing.assert_allclose(
            normalised(edges, NODES).to_dense(), dense(EDGES, NODES), rtol=1e-6
        )


def test_its_largest_eigenvalue_is_one() -> None:
    values = torch.linalg.eigvalsh(normalised(EDGES, NODES).to_dense().double())
    assert values.max() == pytest.approx(1, abs=1e-6) and values.min() > -1


def test_without_edges_it_is_the_identity() -> None:
    assert torch.equal(normalised([], 5).to_dense(), torch.eye(5))


@pytest.mark.parametrize("edges", [[(0, 5)], [(-1, 2)], [(0.5, 1.0)]])
def test_edges_that_are_none_are_named(edges: list[Any]) -> None:
    with pytest.raises(ValueError, match="edge"):
        normalised(edges, 5)


# -- the sparse product ---------------------------------------------------------------------------


def test_a_sparse_product_and_its_gradient_are_the_dense_ones() -> None:
    A = normalised(EDGES, NODES).to(torch.float64)
    H = torch.randn(NODES, 3, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(times(A, H), A.to_dense() @ H)
    assert torch.autograd.gradcheck(lambda H: times(A, H), H)
    assert torch.autograd.gradgradcheck(lambda H: times(A, H), H)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_so_they_are_under_vmap(place: int) -> None:
    A = normalised(EDGES, NODES).to(torch.float64)
    shape = [NODES, 3]
    shape.insert(place, 4)
    H = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    found = vmap(lambda H: times(A, H), place)(H)
    torch.testing.assert_close(found, A.to_dense() @ H.movedim(place, 0))
    assert torch.autograd.gradcheck(lambda H: vmap(lambda H: times(A, H), place)(H), H)


def test_a_product_that_is_not_symmetric_is_given_its_transpose() -> None:
    import scipy.sparse

    wide = scipy.sparse.random_array((7, 5), density=0.5, rng=np.random.default_rng(0)).tocsr()
    A, transposed = csr(wide), csr(wide.T.tocsr())
    H = torch.randn(4, 5, 2, dtype=torch.float64, requires_grad=True)

    def product(H: Tensor) -> Tensor:
        return vmap(lambda own: times(A, own, transposed))(H)

    torch.testing.assert_close(product(H), A.to_dense() @ H)
    assert torch.autograd.gradcheck(product, H)


# -- the network ----------------------------------------------------------------------------------


def trained(own: Plan, models: list[Model]) -> dict[Model, stacked.Fitted]:
    return stacked.train(own, models, CPU, lambda *_: None)


def on_nodes(own: Plan, edges: Any, **given: Any) -> Plan:
    """The plan with its rows as nodes."""
    A, X = normalised(edges, len(own.y)), torch.from_numpy(own.X)
    target = nn.Identity() if given else None
    return replace(
        own, X=np.arange(len(own.y), dtype=np.float32)[:, None],
        replaced=Replaced(extractor=lambda _: GCN(A, X, **given), target_predictor=target),
    )  # fmt: skip


def test_it_is_what_the_paper_writes() -> None:
    X = torch.randn(NODES, 4)
    network = GCN(normalised(EDGES, NODES), X)
    A = torch.from_numpy(dense(EDGES, NODES)).float()
    Z = A @ torch.relu(A @ X @ network.first.weight.T + network.first.bias)
    torch.testing.assert_close(network(torch.tensor([[7.0], [3.0]])), Z[[7, 3]])


def test_the_linear_head_may_come_before_the_product() -> None:
    A, X = normalised(EDGES, NODES), torch.randn(NODES, 4)
    network, inside = GCN(A, X), GCN(A, X, outputs=2)
    inside.first.load_state_dict(network.first.state_dict())
    nodes = torch.arange(NODES)[:, None]
    assert inside.last is not None
    torch.testing.assert_close(inside(nodes), inside.last(network(nodes)))


def test_copies_share_the_graph_and_nothing_else() -> None:
    network = GCN(normalised(EDGES, NODES), torch.randn(NODES, 4))
    copied = copy.deepcopy(network)
    assert copied.known is network.known
    assert copied.first.weight is not network.first.weight
    nodes = torch.arange(NODES)[:, None]
    assert torch.equal(copied(nodes), network(nodes))


@pytest.mark.parametrize("given", [{}, {"outputs": 2}])
def test_a_graphs_bits_do_not_depend_on_who_shares_its_pass(given: dict[str, int]) -> None:
    own = on_nodes(plan(n=160, batch_size=128), [(i, i + 1) for i in range(159)], **given)
    assert stacked.batches(own, CPU)
    models = [Model(seed, alpha) for seed in range(2) for alpha in (0.5, 2.0)]
    together = trained(own, models)
    for few in (models[1:2], models[1:3], models[:3]):
        alone = trained(own, few)
        for model in few:
            mine, theirs = (of[model].predictor.state_dict() for of in (alone, together))
            assert all(torch.equal(mine[name], theirs[name]) for name in mine)


class OfNodes(nn.Module):
    """The MLP of all nodes; then those that are asked for."""

    def __init__(self, X: Tensor) -> None:
        super().__init__()
        self.known, self.mlp = (X,), modules.extractor(X.shape[1], (16,))

    def forward(self, numbers: Tensor) -> Tensor:
        Z = self.mlp(self.known[0])
        return Z.gather(0, numbers.long().expand(-1, Z.shape[1]))


def test_without_edges_it_is_the_mlp_to_the_bit() -> None:
    usual = plan(n=160, batch_size=128)
    own, X = on_nodes(usual, []), torch.from_numpy(usual.X)
    mlp = replace(own, replaced=Replaced(extractor=lambda _: OfNodes(X)))
    models = [Model(0, 1.0), Model(1, 3.0)]
    found, expected = trained(own, models), trained(mlp, models)
    for model in models:
        mine, theirs = (of[model].predictor for of in (found, expected))
        pairs = zip(mine.state_dict().values(), theirs.state_dict().values(), strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)
        with torch.no_grad():  # and that of the rows themselves
            nodes = torch.from_numpy(own.X)
            assert torch.equal(mine(nodes).output, mine.target(theirs.extractor.mlp(X)))  # type: ignore[union-attr,operator]
    rounded = trained(
        replace(usual, replaced=Replaced(hidden=(16,))), models
    )  # sums in an order of its own
    for model in models:
        a, b = (of[model].predictor.state_dict().values() for of in (found, rounded))
        for one, other in zip(a, b, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
