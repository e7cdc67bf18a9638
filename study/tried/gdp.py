"""GDP with the kernel of its official code, which was made for an attribute from 0 to 1.

The local average ŷ(x) is a kernel regression of the predictions p on the attribute, whose density
q(x) is estimated with the same kernel, and ΔGDP is an average over a grid of x:

    ŷ(x) = Σᵢ k(x − sᵢ) pᵢ / Σᵢ k(x − sᵢ),      q(x) = Σᵢ k(x − sᵢ),
    ΔGDP = Σ_x |ŷ(x) − p̄| q(x) / Σ_x q(x),      k(d) = exp(−d² / 2h²),  h = (3n/4)^(−1/5),

with n the rows of the minibatch. A group is its number 0, 1, 2 …, and the official grid, 0.001 to
0.998, lies between the first two: at 128 rows, where h = 0.4, it hardly sees groups from the fourth
on.
"""

from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor

from infofair.methods.base import (
    CLASSES,
    GROUPS,
    LANES,
    Outputs,
    Penalty,
    Stacked,
    add_at,
    knob,
)


@cache
def kernel(points: tuple[float, ...], groups: int, rows: int, like: torch.dtype) -> Tensor:
    """k(x − s), points × groups."""
    x = torch.tensor(points, dtype=like)[:, None]
    h = (3 * rows / 4) ** (-1 / 5)
    return (-((x - torch.arange(groups, dtype=like)) ** 2) / (2 * h**2)).exp()


class GDPByKernel(Penalty):
    step: float = knob(1e-3, gt=0, lt=0.5, source="of the grid; the official code")

    block = 2**20  # the bandwidth is that of all validation rows

    def points(self, groups: int) -> tuple[float, ...]:
        """The grid."""
        return tuple(torch.arange(self.step, 1 - self.step, self.step).tolist())

    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        k = kernel(self.points(s.shape[1]), s.shape[1], len(p), p.dtype).to(p.device)
        density = (k * s.sum(0)).sum(1)  # no product of matrices: on Intel's processors
        # it depends on where in the stack a model is
        # |ŷ − p̄| q without a division
        return ((k * (s.T @ p)).sum(1) - p.mean() * density).abs().sum() / density.sum()

    def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
        """∂ΔGDP/∂pᵢ = Σ_x σ(x) (k(x − sᵢ) − q(x)/n) / Σ_x q(x) with σ(x) the sign of ŷ(x) − p̄."""
        R, rows = p.shape
        # filled up to whole stacks, so that a product's kernel does not depend on who shares it
        fill = (0, 0, 0, -R % LANES)
        p, group = F.pad(p, fill), F.pad(batch.s[:, 0], fill)
        k = kernel(self.points(batch.groups), batch.groups, rows, p.dtype).to(p.device)
        counts = add_at(p.new_zeros(len(p), batch.groups), group, 1)
        sums = counts.new_zeros(counts.shape).scatter_add_(1, group, p)
        density = counts @ k.T  # R × points
        signs = (sums @ k.T - p.mean(1, keepdim=True) * density).sign()
        by_row = (signs @ k).gather(1, group) - (signs * density).sum(1, keepdim=True) / rows
        return (by_row / density.sum(1, keepdim=True))[:R]


class GDPInInfoFair(GDPByKernel):
    """Trained in InfoFair's whole module: its other heads are built, and not used.

    They draw from the authors' streams before the first minibatch does, so that rows come in
    another order, which depends on the number of groups.
    """

    heads = {"target": CLASSES, "sensitive": GROUPS, "w1": 1}
    free = {"w2": (1, GROUPS)}

    def gradients(self, out: Outputs, batch: Stacked) -> dict[str, Tensor]:
        unused = {name: torch.zeros_like(out[name]) for name in ("sensitive", "w1", "w2")}
        return super().gradients(out, batch) | unused
