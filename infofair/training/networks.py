"""R networks of one method side by side: their parameters, forward and backward, and Adam.

The parameters are stacked, and a step is one forward and backward for all of them. Networks that
take the rows in the same order see the same minibatches, so their first layers are one wide
product, and so are those of all orders with equally many networks (a block):

    E orders × (K·units) × features   @   E orders × features × B rows

Activations keep the rows innermost (networks × units × B): the wide product then reshapes to
networks for free, and every softmax reduces over an outer dimension, which vectorises. The layers
are differentiated by hand. No operation here mixes networks.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from infofair.methods.base import CLASSES, GROUPS, Network, Stacked
from infofair.training.layout import Block, Gradients, Sheet, aligned, pad, relu_backward
from infofair.training.streams import Sizes, Streams


class Seat(NamedTuple):
    """Whose parameters lie in a slot: the streams they start from, those whose order of rows they
    take (their own, or of others that take the same), the groups of the setting."""

    streams: Streams
    order: Streams
    groups: int


class Networks:
    def __init__(
        self, method: Network, widths: list[int], classes: int, groups: int, seats: Sequence[Seat],
        on: torch.device,
    ) -> None:  # fmt: skip
        """widths: of the input and of each layer; groups: all networks are padded to so many.

        Padding to the dataset's most, not to this pass's, keeps every product's shape, and so
        every bit, the same whoever shares the pass.
        """
        self.method, self.widths, self.on = method, widths, on
        self.classes, self.groups = classes, groups
        self.layers = [f"layer{i}" for i in range(len(widths) - 1)]
        stacked = [self._stackable(self._start(seat)) for seat in seats]
        # name -> R networks × outputs × inputs
        self.parameters = {name: torch.stack([own[name] for own in stacked]) for name in stacked[0]}
        self.moments = [
            {name: torch.zeros_like(p) for name, p in self.parameters.items()} for _ in range(2)
        ]
        self._arrange(seats)

    def __len__(self) -> int:
        return len(self.seats)

    # -- parameters -------------------------------------------------------------------------------

    def _size(self, size: str | int, groups: int) -> int:
        return {CLASSES: self.classes, GROUPS: groups}[size] if isinstance(size, str) else size

    def _sizes(self, groups: int) -> Sizes:
        """name -> (outputs, inputs) of the parameters of a network for so many groups."""
        sizes = {n: (self.widths[i + 1], self.widths[i]) for i, n in enumerate(self.layers)}
        for name, size in self.method.heads.items():
            sizes[name] = (self._size(size, groups), self.widths[-1])
        for name in self.method.free:
            sizes[name] = self._shape(name, groups)
        return sizes

    def _shape(self, name: str, groups: int) -> tuple[int, int]:
        """(outputs, inputs) of a free map."""
        outputs, inputs = self.method.free[name]
        return self._size(outputs, groups), self._size(inputs, groups)

    def _start(self, seat: Seat) -> dict[str, Tensor]:
        parameters = seat.streams.initial(self._sizes(seat.groups))
        for name in self.method.zeros:
            parameters[name].zero_()
        return parameters

    def _stackable(self, model: dict[str, Tensor]) -> dict[str, Tensor]:
        """All heads as one matrix, all settings' parameters of one shape, padded with zeros.

        A padded weight has no gradient and stays zero.
        """
        heads = [
            pad(model.pop(name), rows=self._size(size, self.groups))
            for name, size in self.method.heads.items()
        ]
        together = torch.cat(heads)
        model["heads"] = pad(together, rows=aligned(*together.shape))
        for name in self.layers:
            outputs, columns = model[name].shape
            model[name] = pad(model[name], columns=aligned(columns, outputs))
        for name in self.method.free:
            flat = pad(model[name], *self._shape(name, self.groups)).view(1, -1)
            model[name] = pad(flat, columns=aligned(flat.shape[1], 1))
        return model

    def parameters_of(self, r: int) -> dict[str, np.ndarray]:
        """One network's parameters by name, without what pads them."""
        sizes = self._sizes(self.seats[r].groups)
        found = {name: self.parameters[name][r, :, : sizes[name][1] + 1] for name in self.layers}
        found |= {name: part[r] for name, part in self.split(self.parameters["heads"]).items()}
        found |= {name: part[r] for name, part in self.free(self.parameters).items()}
        for name in (*self.method.heads, *self.method.free):
            outputs, inputs = sizes[name]
            found[name] = found[name][:outputs, :inputs]
        return {name: part.cpu().numpy().copy() for name, part in found.items()}

    def keep(self, slots: list[int]) -> None:
        """Those in these slots stay, in this order."""
        index = torch.tensor(slots, device=self.on)
        self.parameters = {name: p[index] for name, p in self.parameters.items()}
        self.moments = [{name: m[index] for name, m in moment.items()} for moment in self.moments]
        self._arrange([self.seats[r] for r in slots])

    def _arrange(self, seats: Sequence[Seat]) -> None:
        """What follows from who sits in which slot."""
        self.seats = list(seats)
        sharing = [len(list(run)) for _, run in groupby(seat.order for seat in seats)]
        self.distinct = len(sharing)  # orders
        self.blocks, slot = [], 0
        for K, run in groupby(range(len(sharing)), key=lambda e: sharing[e]):
            orders = list(run)
            self.blocks.append(Block(orders[0], slot, len(orders), K))
            slot += len(orders) * K
        self.first = [block.wide(self.parameters[self.layers[0]]) for block in self.blocks]
        # weights and bias of the layers after the first
        self.deeper = [
            (self.parameters[name][..., :width], self.parameters[name][..., width : width + 1])
            for name, width in zip(self.layers[1:], self.widths[1:], strict=False)
        ]
        self.sheets: dict[tuple[int, int], Sheet] = {}
        self.gradients, self.opposing = Gradients(self), Gradients(self)
        # −inf for groups that a slot's setting does not have
        counts = torch.tensor([seat.groups for seat in seats])
        absent = torch.arange(self.groups) >= counts[:, None]
        mask = torch.zeros(absent.shape).masked_fill_(absent, -math.inf)[:, :, None].to(self.on)
        self.mask = mask if absent.any() else None
        # the same for all heads, R × heads × 1
        self.masks = None
        if self.mask is not None and GROUPS in self.method.heads.values():
            self.masks = torch.zeros(*self.parameters["heads"].shape[:2], 1, device=self.on)
            for name, part in self.split(self.masks).items():
                if self.method.heads[name] == GROUPS:
                    part.copy_(self.mask)

    # -- forward and backward ---------------------------------------------------------------------

    def sheet(self, rows: int, steps: int = 1) -> Sheet:
        if (rows, steps) not in self.sheets:
            self.sheets[rows, steps] = Sheet(self, rows, steps)
        return self.sheets[rows, steps]

    def split(self, heads: Tensor) -> dict[str, Tensor]:
        """The part of each head."""
        sizes = [self._size(size, self.groups) for size in self.method.heads.values()]
        return dict(zip(self.method.heads, heads[:, : sum(sizes)].split(sizes, 1), strict=True))

    def free(self, parameters: dict[str, Tensor]) -> dict[str, Tensor]:
        """The free maps, or their gradients, as a method wants them: R × outputs × inputs."""
        named = {}
        for name in self.method.free:
            outputs, inputs = self._shape(name, self.groups)
            flat = parameters[name].flatten(1)[:, : outputs * inputs]
            named[name] = flat.unflatten(1, (outputs, inputs))
        return named

    def forward(self, X: Tensor, sheet: Sheet, step: int = 0) -> dict[str, Tensor]:
        """The heads' outputs and the free maps, as an objective wants them.

        X: E × rows × features; E may be 1 where all see the same rows.
        """
        across = X.transpose(1, 2)
        if len(X) < self.distinct:
            across = across.expand(self.distinct, -1, -1)
        for block, weights, wide in zip(self.blocks, self.first, sheet.first, strict=True):
            torch.bmm(weights, block.of_orders(across), out=wide)
        z = sheet.layers[0].relu_()
        for (weights, bias), layer in zip(self.deeper, sheet.layers[1:], strict=True):
            z = torch.baddbmm(bias, weights, z, out=layer).relu_()
        if self.masks is None:
            torch.bmm(self.parameters["heads"], z, out=sheet.heads[step])
        else:
            torch.baddbmm(self.masks, self.parameters["heads"], z, out=sheet.heads[step])
        return sheet.out[step]

    def backward(self, X: Tensor, sheet: Sheet, by: dict[str, Tensor], into: Gradients) -> None:
        """From the gradients by the heads' outputs and the free maps to those of all parameters."""
        for name, gradient in into.free.items():
            if name in by:
                gradient.copy_(by[name])
        for name, gradient in sheet.by.items():
            gradient.copy_(by[name])
        torch.bmm(sheet.by_heads, sheet.layers[-1].transpose(1, 2), out=into["heads"])
        gradient = sheet.by_layers[-1]
        torch.bmm(self.parameters["heads"].transpose(1, 2), sheet.by_heads, out=gradient)
        for i in reversed(range(1, len(self.layers))):
            name, width = self.layers[i], self.widths[i]
            relu_backward(gradient, sheet.layers[i])
            into[name][..., :width] = torch.bmm(gradient, sheet.layers[i - 1].transpose(1, 2))
            into[name][..., width] = gradient.sum(2)
            weights, _ = self.deeper[i - 1]
            gradient = torch.bmm(weights.transpose(1, 2), gradient, out=sheet.by_layers[i - 1])
        relu_backward(gradient, sheet.layers[0])
        for block, wide, weights in zip(self.blocks, sheet.by_first, into.first, strict=True):
            torch.bmm(wide, block.of_orders(X), out=weights)

    # -- steps ------------------------------------------------------------------------------------

    def advise(self, out: dict[str, Tensor], batch: Stacked, step: Tensor) -> None:
        """Let the critics learn from the heads' outputs before the others follow them.

        Each of their steps is on a part of the minibatch of its own.
        """
        critics, times = list(self.method.critics), self.method.critic_steps
        bounds = torch.linspace(0, batch.s.shape[2], times + 1).round().long().tolist()
        for i, rows in enumerate(slice(*ends) for ends in pairwise(bounds)):
            if rows.start == rows.stop:  # fewer rows than steps
                continue
            seen = {
                name: part if name in critics else part[..., rows] for name, part in out.items()
            }
            own = replace(batch, y=batch.y[..., rows], s=batch.s[..., rows])
            for name, gradient in self.method.critic_gradients(seen, own).items():
                self.gradients.free[name].copy_(gradient)
            number = (step - 1) * times + i + 1
            self.adam(critics, number, self.method.critic_learning_rate, weight_decay=0.0)

    def settle(self, alpha: Tensor, step: Tensor) -> None:
        """What both players' gradients come to, in the place of the first's."""
        each = torch.vmap(self.method.settle, in_dims=(0, 0, 0, None))
        settled = each(dict(self.gradients), dict(self.opposing), alpha, step)
        for name, gradient in settled.items():
            self.gradients[name].copy_(gradient)

    def adam(self, names: list[str], step: Tensor, rate: float, weight_decay: float) -> None:
        """One step of Adam on these parameters, in one fused kernel. step: its number.

        torch.optim.Adam(fused=True) calls the same kernel, behind 0.15 ms of bookkeeping a step.
        """
        torch._fused_adam_(
            [self.parameters[name] for name in names],
            [self.gradients[name] for name in names],
            [self.moments[0][name] for name in names],
            [self.moments[1][name] for name in names],
            [],
            [step] * len(names),
            lr=rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=weight_decay,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )
