"""Graphs (generalisation E): a graph convolutional network as feature extractor.

    Z = Â ReLU(Â X W + b),      Â = D^−½ (A + I) D^−½

(Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks", ICLR 2017).
Â X never changes and is computed once; one sparse product is left for every forward pass. Rows that
the framework hands over are node numbers: all nodes are computed, and these are returned.

PyTorch cannot vmap a sparse product. `times` can: the models' columns are put beside each other,
nodes × (models · units), and one product serves all of them.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from infofair.framework.checks import Invalid
from infofair.framework.recipe import LANES

UNITS = 16


def normalised(edges: Any, nodes: int) -> Tensor:
    """Â of an undirected graph, sparse. edges: pairs of node numbers, in any order."""
    pairs = np.asarray(edges).reshape(-1, 2)
    if pairs.dtype.kind not in "iu" and pairs.size:
        raise Invalid(f"edges are {pairs.dtype}; expected pairs of node numbers")
    pairs = pairs.astype(np.int64)
    if pairs.size and (pairs.min() < 0 or pairs.max() >= nodes):
        raise Invalid(f"an edge names node {pairs.max()} of {nodes}; expected 0 to {nodes - 1}")
    i, j = pairs.T
    ones = np.ones(len(pairs))
    A = scipy.sparse.coo_array((ones, (i, j)), (nodes, nodes)).tocsr()
    A = ((A + A.T + scipy.sparse.eye_array(nodes, format="csr")) > 0).astype(float)
    scale = scipy.sparse.diags_array(1 / np.sqrt(A.sum(1)))
    return csr((scale @ A @ scale).astype(np.float32))


def csr(matrix: scipy.sparse.csr_array) -> Tensor:
    """A sparse matrix of SciPy's as one of PyTorch's."""
    matrix = matrix.tocsr()
    starts, columns = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    row, column, value = (torch.from_numpy(own) for own in (starts, columns, matrix.data))
    with warnings.catch_warnings():  # PyTorch calls the layout a beta, once
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(row, column, value, size=matrix.shape)


def times(A: Tensor, H: Tensor, transposed: Tensor | None = None) -> Tensor:
    """A H with a gradient by H, also under vmap. A is symmetric, unless Aᵀ is given."""
    return _Product.apply(A, A if transposed is None else transposed, H)


class _Product(torch.autograd.Function):
    generate_vmap_rule = False

    @staticmethod
    def forward(A: Tensor, transposed: Tensor, H: Tensor) -> Tensor:
        return A @ H

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.known = inputs[:2]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, Tensor]:
        A, transposed = ctx.known
        return None, None, _Product.apply(transposed, A, gradient)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[Any, ...], A: Tensor, transposed: Tensor, H: Tensor
    ) -> tuple[Tensor, int]:
        beside = H.movedim(in_dims[2], 1)  # nodes × models × units
        columns = beside.flatten(1)
        # filled up to whole registers: a remainder has another kernel, and other bits
        found = _Product.apply(A, transposed, pad(columns, (0, -columns.shape[1] % LANES)))
        return found[:, : columns.shape[1]].unflatten(1, beside.shape[1:]), 1


class _Known(NamedTuple):
    """What all models share, and copies of them too."""

    A: Tensor
    seen: Tensor  # Â X

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Known":
        return self


class GCN(nn.Module):
    """Node numbers (B, 1) → Z of these nodes, (B, units). X: nodes × features.

    With `outputs`, Z W₂ + b₂, of as many columns, in place of Z: the linear target predictor too.
    Â (ReLU(…) W₂) is the same, and leaves the sparse product a few columns.
    """

    def __init__(self, A: Tensor, X: Tensor, units: int = UNITS, outputs: int = 0) -> None:
        super().__init__()
        self.known = _Known(A, A @ X)  # no buffers: these would be stacked
        self.first = nn.Linear(X.shape[1], units)
        self.last = nn.Linear(units, outputs) if outputs else None

    def forward(self, numbers: Tensor) -> Tensor:
        A, seen = (own.to(self.first.weight) for own in self.known)
        H = self.first(seen).relu()
        Z = times(A, H if self.last is None else H @ self.last.weight.T)
        found = Z.gather(0, numbers[:, :1].long().expand(-1, Z.shape[1]))
        return found if self.last is None else found + self.last.bias
