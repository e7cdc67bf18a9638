"""How many models lie side by side in memory: what a batched pass writes to, and views of it."""

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from infofair.methods.base import LANES

if TYPE_CHECKING:
    from infofair.training.networks import Networks


def aligned(rows: int, columns: int) -> int:
    """The least number of rows, at least `rows`, whose rows × columns fill whole vector registers.

    Adam's kernel rounds differently in the remainder that does not, which would make a model's bits
    depend on where in the stack it lies.
    """
    return next(n for n in range(rows, rows + LANES) if n * columns % LANES == 0)


def pad(matrix: Tensor, rows: int | None = None, columns: int | None = None) -> Tensor:
    """The matrix with zeros below and to the right."""
    below = (rows or matrix.shape[0]) - matrix.shape[0]
    right = (columns or matrix.shape[1]) - matrix.shape[1]
    return torch.nn.functional.pad(matrix, (0, right, 0, below))


def relu_backward(gradient: Tensor, output: Tensor) -> None:
    """In place: the gradient is zero where the output is."""
    torch.ops.aten.threshold_backward.grad_input(gradient, output, 0, grad_input=gradient)


class Block(NamedTuple):
    """Neighbouring orders of rows with equally many models: E × K of them, from these places on."""

    order: int
    slot: int
    E: int
    K: int

    def wide(self, stacked: Tensor) -> Tensor:
        """The block's part of R × units × anything as E × (K·units) × anything."""
        own = stacked[self.slot : self.slot + self.E * self.K]
        return own.view(self.E, -1, own.shape[2])

    def of_orders(self, X: Tensor) -> Tensor:
        return X[self.order : self.order + self.E]


class Gradients(dict[str, Tensor]):
    """The gradient by each parameter, and views of some that every step writes to."""

    def __init__(self, owner: "Networks") -> None:
        super().__init__({name: torch.zeros_like(p) for name, p in owner.parameters.items()})
        self.first = [block.wide(self[owner.layers[0]]) for block in owner.blocks]
        self.free = owner.free(self)


class Sheet:
    """What steps over so many rows compute, and views of it: made once, written over and over.

    The heads' outputs of several steps are kept, the rest is the last step's.
    """

    def __init__(self, owner: "Networks", rows: int, steps: int) -> None:
        R, on = len(owner), owner.on
        heads = owner.parameters["heads"].shape[1]
        # each layer's output, R × units × rows, and the gradient by it
        self.layers = [torch.zeros(R, units, rows, device=on) for units in owner.widths[1:]]
        self.by_layers = [torch.zeros_like(layer) for layer in self.layers]
        self.first = [block.wide(self.layers[0]) for block in owner.blocks]
        self.by_first = [block.wide(self.by_layers[0]) for block in owner.blocks]
        # the heads' outputs, steps × R × heads × rows, and the gradient by one step's
        self.heads = torch.zeros(steps, R, heads, rows, device=on)
        self.by_heads = torch.zeros(R, heads, rows, device=on)
        free = owner.free(owner.parameters)
        self.out = [owner.split(step) | free for step in self.heads]
        self.by = owner.split(self.by_heads)
